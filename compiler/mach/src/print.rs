//! The text of a function over virtual registers, for dumps.

use std::collections::BTreeMap;
use std::fmt::Write;

use nbcc_base::text::symbol;
use nbcc_isa::{Instruction, MachineInstruction, PhysReg, RegisterClass};

use crate::{Function, VReg};

impl<I: Instruction<Reg = VReg>> Function<I> {
    /// The text of the function. Virtual registers are written as entries of their file whose
    /// numbers are those of the virtual registers; `entry_of` gives other numbers.
    pub fn text(&self, entry_of: impl Fn(VReg) -> u16) -> String
    where
        I::With<PhysReg<I::Class>>: MachineInstruction,
        I::Class: RegisterClass,
    {
        self.text_with(entry_of, |_| None)
    }

    /// The same, with what `note` says of the registers that an instruction writes behind it.
    pub fn text_with(
        &self,
        entry_of: impl Fn(VReg) -> u16,
        note: impl Fn(VReg) -> Option<String>,
    ) -> String
    where
        I::With<PhysReg<I::Class>>: MachineInstruction,
        I::Class: RegisterClass,
    {
        let mut out = format!("define machine @{}() {{\n", symbol(&self.name));
        let labels: BTreeMap<u32, String> =
            self.blocks.keys().map(|block| (block.as_u32(), block.to_string())).collect();
        for (block, data) in self.blocks.iter() {
            let depth = match data.loop_depth {
                0 => String::new(),
                n => format!("  ; depth {n}"),
            };
            let _ = writeln!(out, "{block}:{depth}");
            for inst in &data.insts {
                let physical = inst.inst.map_regs(|operand| {
                    let fixed = self.vregs[*operand.reg].fixed;
                    PhysReg::new(operand.class, fixed.unwrap_or_else(|| entry_of(*operand.reg)))
                });
                out.push_str("    ");
                let _ = physical.write_text(&mut out, &labels);
                let mut before = "  ; ";
                inst.inst.for_each_operand(|operand| {
                    if operand.role.writes()
                        && let Some(note) = note(*operand.reg)
                    {
                        out.push_str(before);
                        out.push_str(&note);
                        before = ", ";
                    }
                });
                out.push('\n');
            }
        }
        out.push_str("}\n");
        out
    }
}
