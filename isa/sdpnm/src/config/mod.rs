//! Configurations of the arrays: what each PE does in each cycle of a loop (paper, sections 2 and
//! 3.4). A [`Package`] is one loop on one array, a [`Context`] what a PE does in one slot of it.

pub mod check;
pub mod context;
pub mod encode;
pub mod evaluate;
pub mod opcode;
pub mod package;
pub mod sections;
pub mod text;

pub use check::Fault;
pub use context::{Bit, Context, Control, Memory, Source, Width};
pub use evaluate::State;
pub use opcode::{Opcode, Options, Part};
pub use package::{ArrayKind, Package, Placed};
