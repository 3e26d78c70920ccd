//! What loops on arrays need of the core: the control words of arrays, and extents of objects
//! ([`crate::arrays::versions::version`]).

use nbcc_ir::{IntrinsicCall, Value};
use nbcc_isa_sdpnm::core::arrays::{FROM, HOST, MOVE as MOVE_BYTES, TO};
use nbcc_isa_sdpnm::core::{I12, Inst};
use nbcc_mach::VReg;

use super::{Selecting, Selector};
use crate::arrays::loops::strips::MOVE;
use crate::arrays::versions::version::{COUNT, READ, STATUS, WRITE};

impl Selector<'_> {
    pub(super) fn intrinsic(
        &mut self,
        call: &IntrinsicCall,
        result: Option<Value>,
    ) -> Selecting<()> {
        let made = match (call.name, &call.mems[..], &call.imms[..], &call.args[..]) {
            (COUNT, &[mem], &[dimension], []) => self.count(mem, dimension as usize),
            (STATUS | READ, [], &[address], []) => {
                let (base, offset) = self.control_word(address);
                self.made(|dst| Inst::Lw { dst, offset, base })
            }
            (WRITE, [], &[address], &[value]) => {
                let src = self.reg(value);
                let (base, offset) = self.control_word(address);
                self.emit(Inst::Sw { src, offset, base });
                return Ok(());
            }
            (MOVE, &[from, to], [], &[first, place, bytes]) => {
                let addresses = [(FROM, from, first), (TO, to, place)];
                for (offset, mem, index) in addresses {
                    let (base, more) = self.address(mem, &[index])?;
                    let src = match more {
                        0 => base,
                        more => self.made(|dst| Inst::Addi { dst, a: base, imm: I12(more) }),
                    };
                    let (base, offset) = self.control_word((HOST + offset).into());
                    self.emit(Inst::Sw { src, offset, base });
                }
                let src = self.reg(bytes);
                let (base, offset) = self.control_word((HOST + MOVE_BYTES).into());
                self.emit(Inst::Sw { src, offset, base });
                return Ok(());
            }
            _ => return self.refuse(format!("the operation \"{}\"", call.name)),
        };
        if let Some(result) = result {
            self.set(result, made);
        }
        Ok(())
    }

    /// A register and an offset that reach a control word.
    fn control_word(&mut self, address: i64) -> (VReg, I12) {
        let address = address as u32;
        let page = address.wrapping_add(0x800) & !0xfff;
        (self.word(page as i32), I12(address.wrapping_sub(page) as i32))
    }
}
