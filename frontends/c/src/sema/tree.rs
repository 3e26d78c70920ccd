//! The typed tree: what checking makes of the syntax tree. Conversions are written out, names are
//! looked up, arrays have become pointers where C makes them so.

use std::collections::BTreeMap;

use nbcc_base::{Diagnostic, Span};

use crate::names::Name;
use crate::types::Ty;

/// A checked program.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Function>,
    pub(crate) globals: Vec<Global>,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) is_static: bool,
    pub(crate) result: Ty,
    pub(crate) params: Vec<Param>,
    /// Whether nothing is said of its parameters, as by `int f();`: any arguments may be given. A body
    /// says that there are none, and those that are given are lost.
    pub(crate) open: bool,
    /// `None` where it is only declared.
    pub(crate) body: Option<Vec<Stmt>>,
    pub(crate) locals: Vec<Local>,
    /// The extents of parameters that are no constants, as the types of parameters name them.
    pub(crate) extents: Vec<(u32, Expr)>,
    /// Functions that it calls, and where.
    pub(crate) calls: Vec<(usize, Span)>,
    /// Calls that are made where it is inlined with everything that it calls.
    pub(crate) inlined_calls: u64,
    /// Whether it has a `return` with a value.
    pub(crate) returns_value: bool,
    /// Whether a way leads to the end of its body.
    pub(crate) ends: bool,
    /// Errors where a host calls it, whose arrays are as long as the parameters say: a function of the file
    /// may give it longer ones.
    pub(crate) beyond: Vec<Diagnostic>,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: Option<Name>,
    pub(crate) span: Span,
    pub(crate) ty: Ty,
    /// Its variable, where the function has a body.
    pub(crate) local: u32,
    /// Where it is declared as an array: the first extent.
    pub(crate) extent: Option<Extent>,
}

/// An extent that a parameter declares.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    Fixed(u64),
    /// What that variable holds.
    Var(u32),
}

/// A variable of a function.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: Name,
    pub(crate) ty: Ty,
    /// Whether it must lie in memory: its address is taken, or it is an array.
    pub(crate) in_memory: bool,
    /// How often it gets a value, its declaration included.
    pub(crate) written: u32,
    pub(crate) is_const: bool,
    /// Whether it is a pointer that promises that nothing else reaches what it reaches.
    pub(crate) is_restrict: bool,
    pub(crate) span: Span,
}

/// How far a variable is defined by the declarations that were read (6.9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Defined {
    No,
    Tentatively,
    Wholly,
}

/// A variable that lives as long as the program.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) name: Name,
    pub(crate) ty: Ty,
    pub(crate) is_const: bool,
    pub(crate) is_restrict: bool,
    pub(crate) in_memory: bool,
    pub(crate) written: bool,
    pub(crate) defined: Defined,
    /// The scalars that are not zero, by their number.
    pub(crate) values: BTreeMap<u64, i64>,
    /// What a pointer holds at the start.
    pub(crate) pointer: Option<Expr>,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

/// What a statement is.
#[derive(Debug)]
pub(crate) enum StmtKind {
    Expr(Expr),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    Loop(Box<Loop>),
    /// The value, the values of its cases by number of their label, whether it has a default.
    Switch(Expr, Vec<(i64, u32)>, Option<u32>, Box<Stmt>),
    /// Label of a case, within the innermost switch.
    Label(u32, Box<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>),
    /// A variable comes into being.
    Local(u32, Option<Init>),
}

/// A loop.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) init: Vec<Stmt>,
    pub(crate) condition: Option<Expr>,
    pub(crate) step: Option<Expr>,
    pub(crate) body: Stmt,
    /// Whether the body comes before the first test.
    pub(crate) body_first: bool,
    /// What counts its rounds: a variable and what the step adds to it, if nothing else writes it.
    pub(crate) counter: Option<(u32, i64)>,
    /// Whether a case label of an outer switch stands in it.
    pub(crate) entered: bool,
    /// What pragmas before it ask for: names and values.
    pub(crate) wishes: Vec<(String, String)>,
}

/// An initialiser of a variable: values for scalars by their number, or for structures from the
/// first of their scalars on. What is not there is zero.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) values: BTreeMap<u64, Expr>,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

/// Operations on two integers of the result's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    And,
    Xor,
    Or,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
}

/// Functions that are provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Abs,
    Memcpy,
    Memmove,
    Memset,
    Memcmp,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// One that was reported already.
    Bad,
    /// An integer, in the bits of its type, extended.
    Const(i64),
    /// The null pointer.
    Null,
    /// The value of a scalar or structure.
    Value(Box<Place>),
    /// A pointer to a place, or to the first element of an array.
    Address(Box<Place>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    /// `!`: an `int`.
    Not(Box<Expr>),
    /// The operands have the result's type; the amount of a shift has its own.
    Arith(Arith, Box<Expr>, Box<Expr>),
    /// Integers of one type: an `int`.
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// Pointers: an `int`.
    ComparePointers(Compare, Box<Expr>, Box<Expr>),
    /// An integer as another one.
    Convert(Box<Expr>),
    /// Whether a pointer is not null: an `int`.
    IsSet(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// Stores; the value is that of the place afterwards.
    Assign(Box<Place>, Box<Expr>),
    /// Stores the result of an operation of the type given; the value is that of the place
    /// afterwards, or before where `post` is set.
    Update {
        place: Box<Place>,
        op: Arith,
        by: Box<Expr>,
        compute: Ty,
        post: bool,
    },
    /// The same with a pointer: elements are added.
    Move {
        place: Box<Place>,
        by: Box<Expr>,
        minus: bool,
        post: bool,
    },
    /// A pointer so many elements on, or back.
    Offset(Box<Expr>, Box<Expr>, bool),
    /// The elements between two pointers.
    Distance(Box<Expr>, Box<Expr>),
    Call(usize, Vec<Expr>),
    Library(Library, Vec<Expr>),
    /// `assert` that failed.
    AssertFail(String),
    /// A pointer as one to another type: `void *`, or with `const`.
    Repoint(Box<Expr>),
}

/// A place that holds a value.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) kind: PlaceKind,
    pub(crate) ty: Ty,
    pub(crate) is_const: bool,
    pub(crate) span: Span,
}

/// What a place is.
#[derive(Clone, Debug)]
pub(crate) enum PlaceKind {
    Bad,
    Local(u32),
    Global(usize),
    Deref(Expr),
    /// An element of an array.
    Index(Box<Place>, Expr),
    /// A member, by its number.
    Member(Box<Place>, usize),
    /// A compound literal: its variable and what it holds.
    Literal(u32, std::rc::Rc<Init>),
    /// The value of a structure, kept for a while in that variable.
    Temporary(u32, Box<Expr>),
}
