//! Instructions as the simulator runs them: registers as plain numbers, checked
//! once against the machine.

use nbcc_isa::{Instruction, RegisterClass};
use nbcc_isa_ipim::{Inst, Machine, PhysReg, RESERVED_ADDR_REGS, RegClass};

use crate::fault::FaultKind;

/// An instruction, or the fault of running it.
pub type Decoded = Result<Inst<u8>, FaultKind>;

/// Checks an instruction against a machine.
///
/// # Errors
/// The fault that running it is: a register or an engine that the machine has not, a
/// write to a reserved register.
pub fn decode(inst: &Inst<PhysReg>, machine: &Machine) -> Decoded {
    let mut fault = None;
    let decoded = inst.map_regs(|operand| {
        let PhysReg { class, index } = *operand.reg;
        let entries = match class {
            RegClass::Ctrl => machine.registers.ctrl,
            RegClass::Addr => machine.registers.addr,
            RegClass::Data => machine.registers.data,
        };
        let kind = if u32::from(index) >= entries || index > u16::from(u8::MAX) {
            let register = format!("{}{index}", class.prefix());
            Some(FaultKind::NoSuchRegister { register, entries })
        } else if class == RegClass::Addr && operand.role.writes() && index < RESERVED_ADDR_REGS {
            Some(FaultKind::ReservedRegister { index })
        } else {
            None
        };
        fault = fault.take().or(kind);
        index as u8
    });
    if let Some(mask) = inst.simb_mask()
        && mask.0 & !machine.full_mask() != 0
    {
        let engines = machine.engines();
        fault = fault.or(Some(FaultKind::NoSuchEngine { mask: mask.0, engines }));
    }
    match fault {
        Some(fault) => Err(fault),
        None => Ok(decoded),
    }
}
