//! TOM: a GPU with 3D-stacked memories that compute (paper 002). What its programs are made of is the
//! instruction set that SIMT machines share; here are its machines.

pub mod address;
pub mod machine;

use nbcc_isa_simt::Isa;

pub use machine::Machine;

/// TOM's instruction set.
pub static ISA: Isa = Isa {
    name: "tom",
    title: "TOM",
    number: 4,
    version: 1,
    optional: &[],
    hints: &[],
    sections: &[],
    check: |_| Ok(()),
    machines: machine::BUILT_IN,
    read: |text, overrides| Ok(Machine::from_toml(text, overrides)?.as_simt()),
};
