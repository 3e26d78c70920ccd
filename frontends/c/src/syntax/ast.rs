//! The syntax tree: what the grammar makes, names not yet looked up.

use nbcc_base::Span;

use crate::literal::Integer;
use crate::names::Name;

/// A name and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ident {
    pub(crate) name: Name,
    pub(crate) span: Span,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogAnd,
    LogOr,
}

impl Op {
    /// How tightly it binds.
    pub(crate) fn precedence(self) -> u32 {
        match self {
            Op::Mul | Op::Div | Op::Rem => 10,
            Op::Add | Op::Sub => 9,
            Op::Shl | Op::Shr => 8,
            Op::Lt | Op::Gt | Op::Le | Op::Ge => 7,
            Op::Eq | Op::Ne => 6,
            Op::And => 5,
            Op::Xor => 4,
            Op::Or => 3,
            Op::LogAnd => 2,
            Op::LogOr => 1,
        }
    }
}

/// Unary operators without side effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Complement,
    Not,
    Deref,
    Address,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// Levels of expressions from here on.
    pub(crate) depth: u32,
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum ExprKind {
    /// One that was reported already.
    Bad,
    Name(Name),
    Int(Integer),
    Char(i32),
    Text(Vec<u8>),
    Unary(UnaryOp, Box<Expr>),
    Step {
        up: bool,
        prefix: bool,
        place: Box<Expr>,
    },
    Binary(Op, Span, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Assign(Option<Op>, Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member(Box<Expr>, Ident),
    Arrow(Box<Expr>, Ident),
    Cast(Box<TypeName>, Box<Expr>),
    SizeofExpr(Box<Expr>),
    SizeofType(Box<TypeName>),
    Alignof(Box<TypeName>),
    Compound(Box<TypeName>, Box<Init>),
    Offsetof(Box<TypeName>, Vec<Ident>),
}

/// A type without a name that has it.
#[derive(Debug)]
pub(crate) struct TypeName {
    pub(crate) specs: Specs,
    pub(crate) declarator: Declarator,
}

/// Words that make a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Void,
    Bool,
    Char,
    Short,
    Int,
    Long,
    Signed,
    Unsigned,
}

/// Storage classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Typedef,
    Static,
    Extern,
    Register,
    Auto,
}

/// What stands before a declarator.
#[derive(Debug)]
pub(crate) enum SpecItem {
    Word(Word),
    Storage(Storage),
    Const,
    Restrict,
    /// `inline` and the like: they change nothing.
    Nothing,
    Named(Ident),
    Struct(Option<Ident>, Option<Vec<MemberDecl>>),
    Enum(Option<Ident>, Option<Vec<(Ident, Option<Expr>)>>),
}

/// The specifiers of a declaration.
#[derive(Debug)]
pub(crate) struct Specs {
    pub(crate) items: Vec<(SpecItem, Span)>,
    pub(crate) span: Span,
}

/// A declaration of members of a structure.
#[derive(Debug)]
pub(crate) struct MemberDecl {
    pub(crate) specs: Specs,
    pub(crate) members: Vec<Declarator>,
}

/// A declarator: its parts from the name outwards.
#[derive(Debug, Default)]
pub(crate) struct Declarator {
    pub(crate) name: Option<Ident>,
    pub(crate) parts: Vec<Part>,
}

/// What stands behind the `*` of a pointer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Qualifiers {
    pub(crate) is_const: bool,
    pub(crate) is_restrict: bool,
}

/// What stands between the brackets of an array.
#[derive(Debug)]
pub(crate) enum Length {
    Unsaid,
    /// `*`: some, which the prototype does not say.
    Any,
    Value(Box<Expr>),
}

/// A part of a declarator.
#[derive(Debug)]
pub(crate) enum Part {
    Pointer(Qualifiers),
    Array { length: Length, is_restrict: bool, span: Span },
    Function { params: Vec<ParamDecl>, variadic: bool, names_only: bool, span: Span },
}

/// A parameter of a function.
#[derive(Debug)]
pub(crate) struct ParamDecl {
    pub(crate) specs: Specs,
    pub(crate) declarator: Declarator,
    pub(crate) span: Span,
}

/// An initialiser.
#[derive(Debug)]
pub(crate) enum Init {
    Expr(Expr),
    List(Vec<(Vec<Designator>, Init)>, Span),
}

/// What an initialiser says of its place.
#[derive(Debug)]
pub(crate) enum Designator {
    Index(Expr),
    Member(Ident),
}

/// A declaration.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) specs: Specs,
    pub(crate) items: Vec<(Declarator, Option<Init>)>,
    pub(crate) span: Span,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
    /// Levels of statements from here on.
    pub(crate) depth: u32,
}

/// What a statement is.
#[derive(Debug)]
pub(crate) enum StmtKind {
    Empty,
    Expr(Expr),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    Loop(Box<Loop>),
    Switch(Expr, Box<Stmt>),
    Case(Expr, Box<Stmt>),
    Default(Box<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>),
    Decl(Declaration),
    StaticAssert(Expr, Vec<u8>),
    /// The words behind `#pragma nbcc`, where they stand, and what they are for.
    Pragma(Name, Span, Box<Stmt>),
}

/// A `for`, `while` or `do`.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) init: Option<Stmt>,
    pub(crate) condition: Option<Expr>,
    pub(crate) step: Option<Expr>,
    pub(crate) body: Stmt,
    /// Whether the body runs once before the condition is asked.
    pub(crate) body_first: bool,
}

/// A declaration outside of functions.
#[derive(Debug)]
pub(crate) enum Item {
    Function { specs: Specs, declarator: Declarator, body: Stmt, span: Span },
    Declaration(Declaration),
    StaticAssert(Expr, Vec<u8>, Span),
}
