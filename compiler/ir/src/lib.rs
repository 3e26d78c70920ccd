//! The shared SSA intermediate representation.
//!
//! A [`Module`] holds functions; a [`Function`] is a control-flow graph of blocks with parameters
//! and explicit terminators. Two kinds of memory exist: raw addresses in a space, and declared
//! memory objects with one subscript a dimension. What belongs to one target only (reaching into a
//! neighbour's bank, say) is an [`Op::Intrinsic`], so that no target's name stands in this crate.

mod builder;
mod entities;
mod function;
mod inst;
mod types;

pub use builder::Builder;
pub use entities::{Block, Func, Inst, Mem, Value};
pub use function::{
    BlockData, ExecutionModel, Function, InstData, LoopInfo, MemData, Module, ValueData, ValueDef,
};
pub use inst::{
    BinaryOp, BlockCall, Constant, ConvertOp, Effect, FloatCond, IntCond, IntrinsicCall, Op,
    Terminator, UnaryOp,
};
pub use types::{Scalar, Space, Type};
