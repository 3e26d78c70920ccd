//! The syntax tree: nodes in two arenas (expressions and statements) that refer to each other by
//! number, so that building and dropping a deep tree costs no stack. Children come before their
//! parents.

use std::collections::HashMap;

use cranelift_entity::{PrimaryMap, entity_impl};
use nbcc_base::Span;

/// An expression of the syntax tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExprId(u32);
entity_impl!(ExprId, "expr");

/// A statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StmtId(u32);
entity_impl!(StmtId, "stmt");

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol(u32);
entity_impl!(Symbol, "name");

/// A name and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ident {
    pub(crate) name: Symbol,
    pub(crate) span: Span,
}

/// The words that start a declaration and can be called like functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeWord {
    Func,
    Var,
    RVar,
    Expr,
    RDom,
    Tuple,
    ImageParam,
    /// A type of elements as a value.
    Type,
    Target,
    /// `std::string`.
    Text,
    /// What only tools of Halide's look at.
    Unfollowed,
    Void,
    Auto,
    /// A parameter of a template, whose type each call gives.
    Parameter,
    /// A C type, spelled as in the source.
    C,
}

/// The operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

impl Op {
    /// How tightly it binds, as in C++: the higher the tighter. All associate to the left.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Op::Mul | Op::Div | Op::Mod => 10,
            Op::Add | Op::Sub => 9,
            Op::Shl | Op::Shr => 8,
            Op::Lt | Op::Le | Op::Gt | Op::Ge => 7,
            Op::Eq | Op::Ne => 6,
            Op::And => 5,
            Op::Xor => 4,
            Op::Or => 3,
            Op::LogicalAnd => 2,
            Op::LogicalOr => 1,
        }
    }

    /// Its spelling.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Op::Mul => "*",
            Op::Div => "/",
            Op::Mod => "%",
            Op::Add => "+",
            Op::Sub => "-",
            Op::Shl => "<<",
            Op::Shr => ">>",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::And => "&",
            Op::Xor => "^",
            Op::Or => "|",
            Op::LogicalAnd => "&&",
            Op::LogicalOr => "||",
        }
    }
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    Minus,
    Plus,
    Not,
    BitNot,
    /// `(float)`: conversion of a compile-time number.
    CCast,
}

/// The conversions that name a type in angle brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CastKind {
    Cast,
    Saturating,
    Reinterpret,
    /// `static_cast`: of a compile-time number.
    Static,
}

/// A type as written: its word and the span from which a C type is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeName {
    pub(crate) word: TypeWord,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct ExprNode {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// How deeply expressions nest below it, counting left operands, callees and indexed values
    /// at their parent's level (they are walked in a loop).
    pub(crate) depth: u32,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    /// A number or text that is read from its span.
    Int,
    Float,
    Double,
    Text,
    Bool(bool),
    /// A name; of a qualified name (`BoundaryConditions::repeat_edge`) the last part.
    Name(Symbol),
    /// Operators before the operand, outermost first.
    Unary(Box<[(Prefix, Span)]>, ExprId),
    Binary(Op, Span, ExprId, ExprId),
    Ternary(ExprId, ExprId, ExprId),
    Call(ExprId, Box<[ExprId]>),
    Index(ExprId, ExprId),
    Member(ExprId, Ident),
    /// `cast<T>(e)` and its like; without a type in `<>` the first argument is the type.
    Cast(CastKind, Option<Box<TypeName>>, Box<[ExprId]>),
    /// `Target::Name`: what a target is compared with.
    TargetName,
    /// A type as a value: of a call with a type, as in `undef<float>()`, the first argument.
    Type(Box<TypeName>),
    /// A type word called like a function: `float(e)`, `Tuple(a, b)`.
    Construct(Box<TypeName>, Box<[ExprId]>),
    /// `{a, b}`.
    List(Box<[ExprId]>),
    /// `sizeof(T)`.
    Sizeof(TypeName),
    /// `[](Expr x) { return x + 1; }`.
    Lambda(Box<Lambda>),
}

/// What a declaration declares.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeclKind {
    /// A plain type word.
    Plain(TypeName),
    /// `Param<T>` or `Input<T>`.
    Scalar(TypeName),
    /// `GeneratorParam<T>`.
    GeneratorParam(TypeName),
    /// `vector<T>`.
    Vector(TypeName),
    /// `Input<Buffer<T, n>>`; what is left out is an argument.
    InputBuffer(Option<TypeName>, Option<ExprId>),
    /// `Output<Buffer<T, n>>`.
    OutputBuffer(Option<TypeName>, Option<ExprId>),
    /// `Output<T>` for another T: `Output<Func>`.
    Output(TypeName),
}

/// How a declared name is initialised.
#[derive(Debug)]
pub(crate) enum Init {
    None,
    /// `= value`.
    Assign(ExprId),
    /// `(args)` or `{args}`.
    Args(Vec<ExprId>),
    /// `(args) = value`.
    Definition(Vec<ExprId>, ExprId),
}

/// One name of a declaration.
#[derive(Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Ident,
    /// `[n]`, as many as there are; `[]` takes its length from the initialiser.
    pub(crate) lengths: Vec<Option<ExprId>>,
    pub(crate) init: Init,
    /// The whole declarator.
    pub(crate) span: Span,
}

/// A parameter of a function.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) ty: TypeName,
    pub(crate) is_const: bool,
    /// `&`.
    pub(crate) by_reference: bool,
    pub(crate) name: Ident,
    /// `[]` or `[n]`, or a `vector`.
    pub(crate) is_array: bool,
    /// The value where a call gives none.
    pub(crate) default: Option<ExprId>,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) result: DeclKind,
    pub(crate) name: Ident,
    /// The parameters of its template.
    pub(crate) types: Vec<Ident>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: StmtId,
}

/// A function without a name.
#[derive(Debug)]
pub(crate) struct Lambda {
    /// Whether it keeps the values that the names around it have where it stands, but for the names
    /// in `references`.
    pub(crate) by_value: bool,
    pub(crate) references: Vec<Symbol>,
    pub(crate) function: Function,
}

/// A part of a `switch`.
#[derive(Debug)]
pub(crate) enum Arm {
    /// `case value:`, or `default:`.
    Label(Option<ExprId>),
    Statement(StmtId),
}

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: Ident,
    /// The class that it is derived from.
    pub(crate) base: Option<Ident>,
    /// Its declarations and functions, in order.
    pub(crate) members: Box<[StmtId]>,
}

/// A `for` over the elements of an array or a list.
#[derive(Debug)]
pub(crate) struct RangeHead {
    pub(crate) kind: DeclKind,
    pub(crate) name: Ident,
    pub(crate) list: ExprId,
}

/// A declaration.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) is_const: bool,
    pub(crate) kind: DeclKind,
    /// `&`.
    pub(crate) reference: Option<Span>,
    pub(crate) declarators: Vec<Declarator>,
}

/// The part of a `for` before its body.
#[derive(Debug)]
pub(crate) struct ForHead {
    pub(crate) init: Option<StmtId>,
    pub(crate) condition: Option<ExprId>,
    pub(crate) steps: Vec<StmtId>,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    Empty,
    Expr(ExprId),
    /// `target = value`, or `target op= value`.
    Assign(Option<Op>, ExprId, ExprId),
    /// `++` or `--`, on either side.
    Step(Op, ExprId),
    Decl(Box<Declaration>),
    If(ExprId, StmtId, Option<StmtId>),
    For(Box<ForHead>, StmtId),
    ForEach(Box<RangeHead>, StmtId),
    Block(Box<[StmtId]>),
    Switch(ExprId, Box<[Arm]>),
    Break,
    Continue,
    Return(Option<ExprId>),
    /// Constants with their values, where they are given.
    Enum(Box<[(Ident, Option<ExprId>)]>),
    Function(Box<Function>),
    Class(Box<Class>),
}

/// A statement.
#[derive(Debug)]
pub(crate) struct StmtNode {
    pub(crate) kind: StmtKind,
    /// The whole statement; of a `for` and an `if`, the head.
    pub(crate) span: Span,
    /// How deeply statements nest below it; an `else` counts at its `if`'s level.
    pub(crate) depth: u32,
}

/// The syntax tree of one file.
#[derive(Default)]
pub(crate) struct Ast {
    pub(crate) exprs: PrimaryMap<ExprId, ExprNode>,
    pub(crate) stmts: PrimaryMap<StmtId, StmtNode>,
    /// The statements and functions at file level, in order.
    pub(crate) items: Vec<StmtId>,
}

/// The names of a program.
#[derive(Default)]
pub(crate) struct Names {
    names: PrimaryMap<Symbol, String>,
    numbers: HashMap<String, Symbol>,
}

impl Names {
    /// The number of a name.
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(text) {
            return symbol;
        }
        let symbol = self.names.push(text.to_owned());
        self.numbers.insert(text.to_owned(), symbol);
        symbol
    }

    /// The number of a name that stands in the source.
    pub(crate) fn known(&self, text: &str) -> Option<Symbol> {
        self.numbers.get(text).copied()
    }

    /// The spelling of a name.
    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        &self.names[symbol]
    }
}

impl Ast {
    fn depth_of(&self, exprs: &[ExprId]) -> u32 {
        exprs.iter().map(|&e| self.exprs[e].depth).max().unwrap_or(0)
    }

    /// Adds an expression.
    pub(crate) fn expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let depth = match &kind {
            ExprKind::Int
            | ExprKind::Float
            | ExprKind::Double
            | ExprKind::Text
            | ExprKind::Bool(_)
            | ExprKind::Type(_)
            | ExprKind::TargetName
            | ExprKind::Sizeof(_)
            | ExprKind::Name(_) => 0,
            ExprKind::Lambda(lambda) => self.stmts[lambda.function.body].depth + 1,
            ExprKind::Unary(_, e) => self.exprs[*e].depth + 1,
            ExprKind::Binary(_, _, a, b) | ExprKind::Index(a, b) => {
                self.exprs[*a].depth.max(self.exprs[*b].depth + 1)
            }
            ExprKind::Ternary(a, b, c) => self.depth_of(&[*a, *b, *c]) + 1,
            ExprKind::Call(f, args) => self.exprs[*f].depth.max(self.depth_of(args) + 1),
            ExprKind::Member(e, _) => self.exprs[*e].depth,
            ExprKind::Cast(_, _, args) | ExprKind::Construct(_, args) | ExprKind::List(args) => {
                self.depth_of(args) + 1
            }
        };
        self.exprs.push(ExprNode { kind, span, depth })
    }

    /// Adds a statement.
    pub(crate) fn stmt(&mut self, kind: StmtKind, span: Span) -> StmtId {
        let depth = match &kind {
            StmtKind::If(_, yes, no) => {
                let no = no.map_or(0, |no| match self.stmts[no].kind {
                    StmtKind::If(..) => self.stmts[no].depth,
                    _ => self.stmts[no].depth + 1,
                });
                no.max(self.stmts[*yes].depth + 1)
            }
            StmtKind::For(_, body) | StmtKind::ForEach(_, body) => self.stmts[*body].depth + 1,
            StmtKind::Block(list) => {
                list.iter().map(|&s| self.stmts[s].depth).max().unwrap_or(0) + 1
            }
            StmtKind::Switch(_, arms) => {
                let depth = |arm: &Arm| match arm {
                    Arm::Label(_) => 0,
                    Arm::Statement(s) => self.stmts[*s].depth,
                };
                arms.iter().map(depth).max().unwrap_or(0) + 1
            }
            StmtKind::Function(f) => self.stmts[f.body].depth + 1,
            StmtKind::Class(class) => {
                class.members.iter().map(|&s| self.stmts[s].depth).max().unwrap_or(0) + 1
            }
            _ => 0,
        };
        self.stmts.push(StmtNode { kind, span, depth })
    }
}
