//! Expressions, with Halide's meaning. They live in the arena of their [`crate::Pipeline`], so an
//! expression used twice is stored once and depth costs no stack.
//!
//! Operands are already promoted: the two operands of a binary operation or comparison have the
//! same type (for shifts, the same width; the amount may differ in sign).

use nbcc_base::Span;

use crate::entities::{Expr, Func, Input, Param, RDom};
use crate::types::{ElementType, Literal};

/// An expression, its type and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExprData {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: ElementType,
    /// The source text, the offending part of it where something is wrong.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A literal of the expression's type.
    Literal(Literal),
    /// The coordinate along dimension `n` of the Func being defined: the value of the Var that
    /// stands at position `n` of the definition's left side. Always `I32`.
    Dim(u32),
    /// The `n`th variable of a reduction domain. Always `I32`.
    RVar(RDom, u32),
    /// A scalar parameter.
    Param(Param),
    /// The extent of an input along a dimension, known once extents are fixed. Always `I32`.
    InputExtent(Input, u32),
    /// An element of an input image. Coordinates are `I32`.
    Load(Input, Vec<Expr>),
    /// An element of a Func: which value of its tuple (0 for a Func of one value), coordinates.
    Call(Func, u32, Vec<Expr>),
    /// One operand.
    Unary(UnaryOp, Expr),
    /// Two operands of the same type.
    Binary(BinaryOp, Expr, Expr),
    /// A comparison: a `Bool` from two operands of the same type.
    Compare(CompareOp, Expr, Expr),
    /// `select(condition, then, else)`; both values are computed.
    Select(Expr, Expr, Expr),
    /// Conversion to the expression's type: integers wrap, floats truncate toward zero (a float
    /// out of range gives an unspecified integer), to Bool means `!= 0`.
    Cast(Expr),
    /// The bits of the operand as the expression's type of the same width.
    Reinterpret(Expr),
    /// A function of the language, applied to operands of the expression's type.
    Intrinsic(Intrinsic, Vec<Expr>),
}

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// Zero minus the operand, as Halide negates: no zero becomes negative. Integers wrap.
    Neg,
    /// Logical not of a Bool.
    Not,
    /// Bitwise not.
    BitNot,
    /// Absolute value. The result of a signed integer is unsigned of the same width.
    Abs,
}

/// Operations of two operands of the same type. Integers wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient. Integers: Euclidean, as Halide's (toward negative infinity for a positive
    /// divisor); by zero it is zero; the least integer by -1 is itself.
    Div,
    /// Remainder. Integers: Euclidean, never negative; by zero it is zero.
    Mod,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Bitwise and; of Bools, logical.
    And,
    /// Bitwise or; of Bools, logical.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left; by a negative amount, right.
    Shl,
    /// Shift right, arithmetic where the left operand is signed; by a negative amount, left.
    Shr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompareOp {
    /// Equal.
    Eq,
    /// Not equal.
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

/// Functions on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrinsic {
    /// Toward negative infinity.
    Floor,
    /// Toward positive infinity.
    Ceil,
    /// To the nearest integer, halves to even.
    Round,
    /// Toward zero.
    Trunc,
    /// Square root.
    Sqrt,
    /// e to the operand.
    Exp,
    /// Natural logarithm.
    Log,
    /// First operand to the second.
    Pow,
    /// Sine of radians.
    Sin,
    /// Cosine of radians.
    Cos,
    /// Tangent of radians.
    Tan,
    /// Arcus sine.
    Asin,
    /// Arcus cosine.
    Acos,
    /// Arcus tangent.
    Atan,
    /// Arcus tangent of first over second operand, in all quadrants.
    Atan2,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Approximate `Exp`.
    FastExp,
    /// Approximate `Log`.
    FastLog,
    /// Approximate `Pow`.
    FastPow,
    /// Approximate reciprocal.
    FastInverse,
    /// Approximate reciprocal square root.
    FastInverseSqrt,
}
