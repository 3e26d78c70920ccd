//! What a compile-time expression can evaluate to.

pub(crate) mod constant;
mod convert;
pub(crate) mod types;

use std::collections::HashMap;
use std::rc::Rc;

use nbcc_base::Span;
use nbcc_stages::{ElementType, Input};

use crate::pipeline::hir::{FuncId, Node, RDomId};
use crate::syntax::ast::{ExprId, Symbol};

/// An array of Funcs, Exprs or numbers, by its number in the elaborator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayId(pub(crate) u32);

/// A value of the compile-time language.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Of a `void` function.
    Void,
    /// Something went wrong while it was computed, and was reported.
    Poison,
    /// A C integer: an `int`, or a `long` where it does not fit one.
    Int(i64),
    Float(f32),
    Double(f64),
    Bool(bool),
    Text(Rc<str>),
    /// `Float(32)`, `UInt(8)`.
    Type(ElementType),
    /// `get_target()`.
    Target,
    /// What a directive leads to that is not followed: directives on it change nothing either.
    Unfollowed,
    /// An expression of the pipeline.
    Expr(Node),
    /// `Expr()`: no expression.
    NoExpr,
    Tuple(Rc<[Node]>),
    Var(Symbol),
    /// A declared `RVar`: a name for loops over parts of a reduction variable.
    RVarName(Symbol),
    /// `r.x`.
    RVar(RDomId, u32),
    RDom(RDomId),
    Func(FuncId),
    /// The pure definition's schedule (`None`) or that of an update.
    Stage(FuncId, u32),
    Input(Input),
    /// `in.dim(k)`.
    InputDim(Input, u32),
    /// `f.dim(k)`.
    FuncDim(FuncId, u32),
    Array(ArrayId),
    /// `{a, b}`.
    List(Rc<[(Value, Span)]>),
    Lambda(Rc<Closure>),
}

/// A function without a name, with the variables around it.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) id: ExprId,
    pub(crate) scope: HashMap<Symbol, usize>,
}

impl Value {
    /// What it is, for messages.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Value::Void => "nothing",
            Value::Poison => "a faulty value",
            Value::Int(_) => "an int",
            Value::Float(_) => "a float",
            Value::Double(_) => "a double",
            Value::Bool(_) => "a bool",
            Value::Text(_) => "a text",
            Value::Type(_) => "a type",
            Value::Target => "a target",
            Value::Unfollowed => "a schedule that is not followed",
            Value::Expr(_) => "an Expr",
            Value::NoExpr => "an undefined Expr",
            Value::Tuple(_) => "a Tuple",
            Value::Var(_) => "a Var",
            Value::RVarName(_) => "an RVar",
            Value::RVar(..) => "a reduction variable",
            Value::RDom(_) => "an RDom",
            Value::Func(_) => "a Func",
            Value::Stage(..) => "a stage of a Func",
            Value::Input(_) => "an input image",
            Value::InputDim(..) => "a dimension of an input image",
            Value::FuncDim(..) => "a dimension of a Func",
            Value::Array(_) => "an array",
            Value::List(_) => "a list",
            Value::Lambda(_) => "a function",
        }
    }

    /// Whether it is a number that is known while the program is elaborated.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Bool(_))
    }
}
