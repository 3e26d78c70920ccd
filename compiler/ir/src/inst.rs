//! Instructions and terminators.

use crate::{Block, Func, Mem, SimtOp, Space, Type, Value};

/// A constant: the same bits in every lane, or one value a lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The bits of every lane, in the low bits of the word.
    Splat(u64),
    /// The bits of each lane.
    Lanes(Vec<u64>),
}

/// Operations of one operand, of the result's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// Integer negation, wrapping.
    Ineg,
    /// Bitwise not.
    Not,
    /// Float negation: flips the sign bit.
    Fneg,
    /// Float absolute value: clears the sign bit.
    Fabs,
    /// Square root.
    Sqrt,
    /// Toward negative infinity.
    Floor,
    /// Toward positive infinity.
    Ceil,
    /// To the nearest integer, halves to even.
    Nearest,
    /// Toward zero.
    Trunc,
    /// e to the operand.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arcus sine.
    Asin,
    /// Arcus cosine.
    Acos,
    /// Arcus tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
}

/// Operations of two operands, both of the result's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// Integer sum, wrapping.
    Iadd,
    /// Integer difference, wrapping.
    Isub,
    /// Integer product, low half.
    Imul,
    /// Signed quotient toward zero. By zero, or the least integer by -1: a trap.
    Sdiv,
    /// Unsigned quotient. By zero: a trap.
    Udiv,
    /// Signed remainder with the dividend's sign. By zero: a trap.
    Srem,
    /// Unsigned remainder. By zero: a trap.
    Urem,
    /// Signed Euclidean quotient, as Halide's: by zero it is zero, the least by -1 itself.
    DivEuclid,
    /// Signed Euclidean remainder, as Halide's: never negative, by zero it is zero.
    ModEuclid,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left; an amount (unsigned) of the width or more gives zero.
    Shl,
    /// Logical shift right; an amount of the width or more gives zero.
    Lshr,
    /// Arithmetic shift right; an amount of the width or more gives the sign.
    Ashr,
    /// Signed lesser.
    Smin,
    /// Signed greater.
    Smax,
    /// Unsigned lesser.
    Umin,
    /// Unsigned greater.
    Umax,
    /// Float sum.
    Fadd,
    /// Float difference.
    Fsub,
    /// Float product.
    Fmul,
    /// Float quotient.
    Fdiv,
    /// The first where it is less than the second, else the second.
    Fmin,
    /// The first where it is greater than the second, else the second.
    Fmax,
    /// `a - b * floor(a / b)`.
    Fmod,
    /// First to the power of the second.
    Pow,
    /// Arcus tangent of first over second, in all quadrants.
    Atan2,
}

/// Integer comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntCond {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Signed less.
    Slt,
    /// Signed less or equal.
    Sle,
    /// Signed greater.
    Sgt,
    /// Signed greater or equal.
    Sge,
    /// Unsigned less.
    Ult,
    /// Unsigned less or equal.
    Ule,
    /// Unsigned greater.
    Ugt,
    /// Unsigned greater or equal.
    Uge,
}

/// Float comparisons: false where an operand is a NaN, but for `Ne`, which is then true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatCond {
    /// Equal.
    Eq,
    /// Not equal, or unordered.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// Conversions to the result's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConvertOp {
    /// The low bits of an integer.
    Truncate,
    /// A wider integer, upper bits zero.
    ZeroExtend,
    /// A wider integer, upper bits the sign.
    SignExtend,
    /// Float to signed integer, toward zero; what is out of range, or no number, gives the least
    /// integer, as on x86.
    FloatToSigned,
    /// Float to unsigned integer, toward zero, modulo 2 to the power of its bits; what is not
    /// finite gives 0.
    FloatToUnsigned,
    /// Signed integer to float, to nearest even.
    SignedToFloat,
    /// Unsigned integer to float, to nearest even.
    UnsignedToFloat,
    /// Float to float of another width.
    FloatToFloat,
    /// The same bits as another type of the same width.
    Bitcast,
}

/// What an intrinsic does beside its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing: it may be removed, repeated, merged or moved.
    Pure,
    /// It reads memory.
    Read,
    /// It writes memory, or must stay where it stands for another reason.
    Write,
}

/// A call of an operation that one target defines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntrinsicCall {
    /// Its name, `target.operation`.
    pub name: &'static str,
    /// What it does beside its result.
    pub effect: Effect,
    /// Operands.
    pub args: Vec<Value>,
    /// Memory objects it touches.
    pub mems: Vec<Mem>,
    /// Constants that belong to the instruction.
    pub imms: Vec<i64>,
    /// The type of the result, if it has one.
    pub result: Option<Type>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant of this type.
    Const(Type, Constant),
    /// One operand; the result has its type.
    Unary(UnaryOp, Value),
    /// Two operands of one type, which is the result's.
    Binary(BinaryOp, Value, Value),
    /// Product of the first two plus the third, rounded once.
    Fma(Value, Value, Value),
    /// Product of the first two, rounded, plus the third, rounded.
    MulAdd(Value, Value, Value),
    /// Integer comparison: `i1`, a lane each.
    Icmp(IntCond, Value, Value),
    /// Float comparison: `i1`, a lane each.
    Fcmp(FloatCond, Value, Value),
    /// Lane by lane, the second operand where the first (`i1`) is true, else the third.
    Select(Value, Value, Value),
    /// Conversion to the given type, with as many lanes.
    Convert(ConvertOp, Value, Type),
    /// A vector of that many lanes, each the scalar operand.
    Splat(Value, u8),
    /// One lane of a vector.
    Extract(Value, u8),
    /// The first operand with one lane replaced by the scalar second.
    Insert(Value, Value, u8),
    /// Lanes picked from the lanes of both operands in a row.
    Shuffle(Value, Value, Vec<u8>),
    /// Elements of a memory object. Subscripts are `i32`, the fastest dimension first; a vector
    /// takes consecutive elements along it.
    Load(Type, Mem, Vec<Value>),
    /// Stores the last operand to elements of a memory object.
    Store(Mem, Vec<Value>, Value),
    /// Memory at address plus constant offset, in bytes.
    LoadRaw(Type, Space, Value, i64),
    /// Stores the second operand at address plus constant offset.
    StoreRaw(Space, Value, i64, Value),
    /// A call of a function of the module.
    Call(Func, Vec<Value>),
    /// A call of an operation that one target defines.
    Intrinsic(IntrinsicCall),
    /// An operation of a thread of a grid.
    Simt(SimtOp, Vec<Value>),
}

impl Op {
    /// The operands, in order.
    pub fn args(&self) -> Vec<Value> {
        let mut args = Vec::new();
        self.for_each_arg(|v| args.push(v));
        args
    }

    /// Visits every operand, in order.
    pub fn for_each_arg(&self, mut f: impl FnMut(Value)) {
        match self {
            Op::Const(..) => {}
            Op::Unary(_, a)
            | Op::Convert(_, a, _)
            | Op::Splat(a, _)
            | Op::Extract(a, _)
            | Op::LoadRaw(_, _, a, _) => f(*a),
            Op::Binary(_, a, b)
            | Op::Icmp(_, a, b)
            | Op::Fcmp(_, a, b)
            | Op::Insert(a, b, _)
            | Op::Shuffle(a, b, _)
            | Op::StoreRaw(_, a, _, b) => [*a, *b].into_iter().for_each(f),
            Op::Fma(a, b, c) | Op::MulAdd(a, b, c) | Op::Select(a, b, c) => {
                [*a, *b, *c].into_iter().for_each(f);
            }
            Op::Load(_, _, args) | Op::Call(_, args) | Op::Simt(_, args) => {
                args.iter().copied().for_each(f);
            }
            Op::Intrinsic(call) => call.args.iter().copied().for_each(f),
            Op::Store(_, subscripts, value) => {
                subscripts.iter().copied().for_each(&mut f);
                f(*value);
            }
        }
    }

    /// The same instruction with every operand replaced.
    pub fn map_args(mut self, mut f: impl FnMut(Value) -> Value) -> Op {
        self.for_each_arg_mut(|v| *v = f(*v));
        self
    }

    /// Visits every operand, in order, for change.
    pub fn for_each_arg_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Op::Const(..) => {}
            Op::Unary(_, a)
            | Op::Convert(_, a, _)
            | Op::Splat(a, _)
            | Op::Extract(a, _)
            | Op::LoadRaw(_, _, a, _) => f(a),
            Op::Binary(_, a, b)
            | Op::Icmp(_, a, b)
            | Op::Fcmp(_, a, b)
            | Op::Insert(a, b, _)
            | Op::Shuffle(a, b, _)
            | Op::StoreRaw(_, a, _, b) => {
                f(a);
                f(b);
            }
            Op::Fma(a, b, c) | Op::MulAdd(a, b, c) | Op::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Op::Load(_, _, args) | Op::Call(_, args) | Op::Simt(_, args) => {
                args.iter_mut().for_each(f);
            }
            Op::Intrinsic(call) => call.args.iter_mut().for_each(f),
            Op::Store(_, subscripts, value) => {
                subscripts.iter_mut().for_each(&mut f);
                f(value);
            }
        }
    }

    /// What the instruction does beside its result. Division that may trap counts as a write.
    pub fn effect(&self) -> Effect {
        match self {
            Op::Load(..) | Op::LoadRaw(..) => Effect::Read,
            Op::Store(..) | Op::StoreRaw(..) | Op::Call(..) => Effect::Write,
            Op::Binary(BinaryOp::Sdiv | BinaryOp::Udiv | BinaryOp::Srem | BinaryOp::Urem, ..) => {
                Effect::Write
            }
            Op::Intrinsic(call) => call.effect,
            Op::Simt(op, _) => op.effect(),
            _ => Effect::Pure,
        }
    }
}

/// A block and the arguments for its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockCall {
    /// The block.
    pub block: Block,
    /// A value for each of its parameters.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Terminator {
    /// Goes on in one block.
    Jump(BlockCall),
    /// Goes on in the first where the `i1` is true, else in the second.
    Branch(Value, BlockCall, BlockCall),
    /// Goes on in the case of that number, else in the default.
    Switch(Value, Vec<BlockCall>, BlockCall),
    /// Leaves the function.
    Return(Vec<Value>),
    /// Ends the run with an error.
    Trap(String),
    /// Ends the thread, in whichever function it is.
    Exit,
}

impl Terminator {
    /// The blocks that may come next, with their arguments.
    pub fn successors(&self) -> Vec<&BlockCall> {
        match self {
            Terminator::Jump(to) => vec![to],
            Terminator::Branch(_, then, other) => vec![then, other],
            Terminator::Switch(_, cases, default) => {
                cases.iter().chain(std::iter::once(default)).collect()
            }
            Terminator::Return(_) | Terminator::Trap(_) | Terminator::Exit => vec![],
        }
    }

    /// The blocks that may come next, for change.
    pub fn successors_mut(&mut self) -> Vec<&mut BlockCall> {
        match self {
            Terminator::Jump(to) => vec![to],
            Terminator::Branch(_, then, other) => vec![then, other],
            Terminator::Switch(_, cases, default) => {
                cases.iter_mut().chain(std::iter::once(default)).collect()
            }
            Terminator::Return(_) | Terminator::Trap(_) | Terminator::Exit => vec![],
        }
    }

    /// Visits every value it uses, block arguments included.
    pub fn for_each_arg_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch(value, ..) | Terminator::Switch(value, ..) => f(value),
            Terminator::Return(values) => values.iter_mut().for_each(&mut f),
            Terminator::Jump(_) | Terminator::Trap(_) | Terminator::Exit => {}
        }
        for to in self.successors_mut() {
            to.args.iter_mut().for_each(&mut f);
        }
    }

    /// Every value it uses, block arguments included.
    pub fn args(&self) -> Vec<Value> {
        let mut args = Vec::new();
        self.for_each_arg(|v| args.push(v));
        args
    }

    /// Visits every value it uses, block arguments included.
    pub fn for_each_arg(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::Branch(value, ..) | Terminator::Switch(value, ..) => f(*value),
            Terminator::Return(values) => values.iter().copied().for_each(&mut f),
            Terminator::Jump(_) | Terminator::Trap(_) | Terminator::Exit => {}
        }
        for to in self.successors() {
            to.args.iter().copied().for_each(&mut f);
        }
    }
}
