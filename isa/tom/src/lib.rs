//! TOM: a GPU with 3D-stacked memories that compute (TOM paper). What its programs are made of is the
//! instruction set that SIMT machines share, with the marker of what may run beside memory; here are
//! its machines, the cost of offloading ([`cost`]) and the table of what may be offloaded
//! ([`offload`]).

pub mod address;
pub mod cost;
pub mod layout;
pub mod machine;
pub mod offload;
pub mod policy;
pub mod time;

use nbcc_isa_simt::Isa;

pub use machine::Machine;

/// The opcode of `region`, the marker before a candidate.
const REGION: u8 = 0xe0;

/// TOM's instruction set.
pub static ISA: Isa = Isa {
    name: "tom",
    title: "TOM",
    number: 4,
    version: 1,
    optional: &[REGION],
    hints: &[],
    sections: &[offload::SECTION, policy::SECTION],
    check: |program| {
        offload::check(program)?;
        policy::Policy::of(program).map(|_| ())
    },
    machines: machine::BUILT_IN,
    read: |text, overrides| Ok(Machine::from_toml(text, overrides)?.as_simt()),
};
