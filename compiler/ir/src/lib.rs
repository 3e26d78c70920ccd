//! The shared SSA intermediate representation.
//!
//! A [`Module`] holds functions; a [`Function`] is a control-flow graph of blocks with parameters
//! and explicit terminators. Two kinds of memory exist: raw addresses in a space, and declared
//! memory objects with one subscript a dimension. What belongs to one target only (reaching into a
//! neighbour's bank, say) is an [`Op::Intrinsic`], so that no target's name stands in this crate.
//! What a thread of a grid does beyond that is an [`Op::Simt`], with typed modifiers.

mod builder;
pub mod cfg;
pub mod codes;
mod data;
mod dominators;
mod edit;
mod entities;
mod float16;
mod function;
pub mod graph;
mod inst;
mod lex;
mod names;
mod parse;
mod print;
pub mod promise;
mod simt;
mod specialise;
mod types;
mod verify;

pub use builder::Builder;
pub use cfg::Cfg;
pub use data::{
    ArrayParam, DataObject, Interface, InterfaceParam, Kernel, KernelParam, LineMark, LineMarks,
    LinePlace, Relocation, RelocationTarget, SourceLoop, Wish, function_address,
};
pub use dominators::{Dominators, Positions};
pub use edit::Replacements;
pub use entities::{Block, Func, Inst, Mem, Object, Value};
pub use float16::{f16_to_f64, f64_to_f16};
pub use function::{
    BlockData, Counter, ExecutionModel, Extent, Function, InstData, LoopInfo, MemData, Module,
    Storage, ValueData, ValueDef,
};
pub use inst::{
    BinaryOp, BlockCall, Constant, ConvertOp, Effect, FloatCond, IntCond, IntrinsicCall, Op,
    Terminator, UnaryOp,
};
pub use parse::parse_module;
pub use print::{Annotation, Locations, PrintOptions, literal, print_function, print_module};
pub use simt::{
    Access, ApproxOp, AtomOp, Atomic, Barrier, BarrierKind, Conversion, ConvertRounding, Direction,
    EdgeMode, FloatArith, FloatCompare, FloatFormat, FloatOp, FloatProperty, FloatTest, IntType,
    NumType, Ordering, PrmtMode, ReduxOp, Rounding, Scope, ShflMode, Signature, Simd, SimdOp,
    SimtOp, SpecialReg, UnknownSimtOp, VoteMode, Width,
};
pub use specialise::specialise;
pub use types::{Scalar, Space, Type};
pub use verify::{MAX_LANES, VerifierError, verify_function, verify_module};
