//! MPU: its machine, and what it makes of the instruction set that SIMT machines share. The source
//! is the paper on MPU (a near-bank SIMT processor), which compiles PTX to an instruction set that
//! it does not give (section V-B); the location hint is that of section IV-B1.

pub mod files;
pub mod layout;
pub mod location;
pub mod machine;

use nbcc_isa::Instruction;
use nbcc_isa_simt::{Hint, Inst, Isa, Op, Unit};

pub use machine::Machine;

/// MPU's instruction set.
pub static ISA: Isa = Isa {
    name: "mpu",
    title: "MPU",
    number: 2,
    version: 1,
    optional: &[],
    hints: &[Hint::Near, Hint::Far],
    sections: &[files::SECTION],
    check: files::check,
    machines: machine::BUILT_IN,
    read: |text, overrides| Ok(Machine::from_toml(text, overrides)?.as_simt()),
};

/// Whether an instruction executes far whatever its hint says: control flow, barriers, special
/// functions, conversion of address spaces, and the address part of accesses (paper, section
/// IV-B1, and the authors' model).
pub fn must_be_far<R>(inst: &Inst<R>) -> bool {
    match inst.op.unit() {
        Unit::Control | Unit::Sync | Unit::Sfu | Unit::Host | Unit::Lsu | Unit::Lanes => true,
        Unit::Alu => {
            matches!(inst.op, Op::ToGeneric { .. } | Op::FromGeneric { .. } | Op::IsSpace { .. })
        }
    }
}
