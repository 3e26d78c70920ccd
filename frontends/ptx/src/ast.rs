//! The syntax tree: what the file says, names not yet looked up.
//!
//! A body is a flat list of statements; `{` and `}` are statements of their own, so that no depth
//! of nesting reaches anyone's stack. `resolve` turns the tree into what
//! `resolved.rs` defines, which is what checking and lowering read; the types that both
//! share (types, state spaces, forms) stand here.

use std::collections::BTreeSet;
use std::ops::Range;

use cranelift_entity::{PrimaryMap, entity_impl};
use nbcc_base::Span;

use crate::names::{Names, Symbol};

/// A name where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Which.
    pub symbol: Symbol,
    /// Where.
    pub span: Span,
}

/// An opcode with its modifiers (`ld.global.v4.f32`). Each distinct one of a file is one entity,
/// so that what is worked out for it is worked out once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormId(u32);
entity_impl!(FormId, "form");

/// What a [`FormId`] stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The opcode: `ld`.
    pub opcode: Symbol,
    /// The modifiers in order, without their dots: `global`, `v4`, `f32`; `shared::cta` is one.
    pub modifiers: Vec<Symbol>,
}

/// The fundamental types, and the opaque ones that are named to be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum ScalarType {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    B8,
    B16,
    B32,
    B64,
    B128,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F32x2,
    F64,
    Pred,
    Texref,
    Samplerref,
    Surfref,
}

impl ScalarType {
    /// Every type with its name, without the dot.
    pub const ALL: [(&'static str, ScalarType); 24] = [
        ("u8", ScalarType::U8),
        ("u16", ScalarType::U16),
        ("u32", ScalarType::U32),
        ("u64", ScalarType::U64),
        ("s8", ScalarType::S8),
        ("s16", ScalarType::S16),
        ("s32", ScalarType::S32),
        ("s64", ScalarType::S64),
        ("b8", ScalarType::B8),
        ("b16", ScalarType::B16),
        ("b32", ScalarType::B32),
        ("b64", ScalarType::B64),
        ("b128", ScalarType::B128),
        ("f16", ScalarType::F16),
        ("f16x2", ScalarType::F16x2),
        ("bf16", ScalarType::Bf16),
        ("bf16x2", ScalarType::Bf16x2),
        ("f32", ScalarType::F32),
        ("f32x2", ScalarType::F32x2),
        ("f64", ScalarType::F64),
        ("pred", ScalarType::Pred),
        ("texref", ScalarType::Texref),
        ("samplerref", ScalarType::Samplerref),
        ("surfref", ScalarType::Surfref),
    ];

    /// The type of a name without its dot.
    pub fn parse(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.iter().find(|(n, _)| *n == name).map(|&(_, ty)| ty)
    }

    /// Its name, without the dot.
    pub fn name(self) -> &'static str {
        ScalarType::ALL[self as usize].0
    }

    /// Bytes in memory; a predicate and the opaque types have none.
    pub fn bytes(self) -> Option<u32> {
        use ScalarType::*;
        match self {
            U8 | S8 | B8 => Some(1),
            U16 | S16 | B16 | F16 | Bf16 => Some(2),
            U32 | S32 | B32 | F16x2 | Bf16x2 | F32 => Some(4),
            U64 | S64 | B64 | F32x2 | F64 => Some(8),
            B128 => Some(16),
            Pred | Texref | Samplerref | Surfref => None,
        }
    }
}

/// State spaces of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum StateSpace {
    Reg,
    Param,
    Global,
    Const,
    Shared,
    Local,
    Tex,
}

impl StateSpace {
    /// Its name, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            StateSpace::Reg => "reg",
            StateSpace::Param => "param",
            StateSpace::Global => "global",
            StateSpace::Const => "const",
            StateSpace::Shared => "shared",
            StateSpace::Local => "local",
            StateSpace::Tex => "tex",
        }
    }
}

/// Who sees a name from outside the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Linkage {
    /// Nobody.
    #[default]
    Internal,
    /// Everybody.
    Visible,
    /// Defined elsewhere.
    Extern,
    /// Defined here unless elsewhere too.
    Weak,
    /// Shared by all modules that define it.
    Common,
}

/// A number as written, after constant expressions are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// An integer: its 64 bits, and whether its type is `.u64` (written with `U`, or too large for
    /// `.s64`) rather than `.s64`.
    Int {
        /// Two's complement.
        bits: u64,
        /// Whether it is unsigned.
        unsigned: bool,
    },
    /// `0f3F800000`: the bits of a binary32.
    F32(u32),
    /// `0d3FF0000000000000`, or a decimal number with a point or exponent: the bits of a binary64.
    F64(u64),
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What.
    pub kind: OperandKind,
    /// Where.
    pub span: Span,
}

/// The kinds of operands.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandKind {
    /// A register, variable, function, label or special register; `r.x` has a component.
    Name {
        /// The name before the dot.
        name: Symbol,
        /// What follows the dot.
        component: Option<Symbol>,
    },
    /// A number.
    Constant(Constant),
    /// `name + number`, outside brackets.
    Sum {
        /// The name.
        name: Symbol,
        /// What is added.
        offset: i64,
    },
    /// `[base + offset]`.
    Address {
        /// A register or a variable; nothing for a plain number.
        base: Option<Name>,
        /// What is added, in bytes.
        offset: i64,
    },
    /// `name[offset]`: an element of a variable, in bytes; old compilers write addresses so.
    Index {
        /// The name.
        name: Symbol,
        /// What stands in the brackets.
        offset: i64,
    },
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `a|b`.
    Pair(Box<[Operand; 2]>),
    /// `!p`.
    Not(Box<Operand>),
    /// `-r`: some instructions may negate a source.
    Negated(Box<Operand>),
    /// `_`.
    Sink,
    /// `[a, {x, y}]`: the address of a texture, surface or tensor.
    Texture(Vec<Operand>),
    /// `(a, b)`, in calls.
    List(Vec<Operand>),
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The register.
    pub name: Name,
    /// Whether `!` stands before it.
    pub negated: bool,
}

/// An instruction. A call is one, too: `(returns), callee, (arguments), targets`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The predicate that it runs under.
    pub guard: Option<Guard>,
    /// Opcode and modifiers.
    pub form: FormId,
    /// Where opcode and modifiers stand.
    pub form_span: Span,
    /// The operands.
    pub operands: Vec<Operand>,
    /// From guard to semicolon.
    pub span: Span,
}

/// How a type is laid out: scalar, vector length, dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableType {
    /// The element type.
    pub scalar: ScalarType,
    /// Where it is written.
    pub scalar_span: Span,
    /// 1, or the length of `.v2`, `.v4`, `.v8`.
    pub vector: u8,
}

/// One variable of a declaration, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// Its name; parameters of prototypes may be `_`.
    pub name: Name,
    /// `%r<5>`: how many registers of that name there are.
    pub range: Option<u64>,
    /// Array dimensions, `None` for `[]`.
    pub dimensions: Vec<(Option<u64>, Span)>,
    /// What stands behind `=`.
    pub initializer: Option<Initializer>,
    /// From name to initializer.
    pub span: Span,
}

/// An initialiser: a flat list in which braces are items of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initializer {
    /// Values and braces in order.
    pub items: Vec<InitItem>,
    /// Where it stands.
    pub span: Span,
}

/// A part of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitItem {
    /// `{`.
    Open(Span),
    /// `}`.
    Close(Span),
    /// A number.
    Constant(Constant, Span),
    /// `symbol + offset`, perhaps in `generic( )`, perhaps under a `mask( )` operator.
    Address(InitAddress),
}

/// The address of a variable or function in an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitAddress {
    /// Of what.
    pub name: Name,
    /// Whether the generic address is meant.
    pub generic: bool,
    /// What is added.
    pub offset: i64,
    /// `0xFF00(symbol)`: the byte that is taken out of the address.
    pub mask: Option<u64>,
    /// The whole.
    pub span: Span,
}

/// A declaration of variables or registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The linkage directive, and where it stands.
    pub linkage: (Linkage, Span),
    /// The space.
    pub space: StateSpace,
    /// Where the space is written.
    pub space_span: Span,
    /// `.const[3]`: a bank of old versions.
    pub bank: Option<u64>,
    /// `.align`.
    pub align: Option<(u64, Span)>,
    /// The type.
    pub ty: VariableType,
    /// `.attribute(.managed)`.
    pub managed: bool,
    /// `.ptr`: what a kernel parameter points to.
    pub pointer: Option<Pointer>,
    /// The names.
    pub declarators: Vec<Declarator>,
    /// The whole.
    pub span: Span,
}

/// What `.ptr` says of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Where the pointer points, if said.
    pub space: Option<StateSpace>,
    /// The alignment of what is pointed to, in bytes.
    pub align: u64,
}

/// What a function does for its launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid`.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.noreturn`.
    pub noreturn: bool,
    /// Cluster directives, which are not supported; named where they stand.
    pub cluster: Option<Span>,
}

/// A signature: results and parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    /// Results; PTX allows several in the abstract ABI.
    pub returns: Vec<Declaration>,
    /// Parameters.
    pub params: Vec<Declaration>,
    /// Where the parameter list stands.
    pub span: Span,
}

/// A kernel or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionItem {
    /// The linkage directive, and where it stands.
    pub linkage: (Linkage, Span),
    /// Whether it is an `.entry`.
    pub entry: bool,
    /// Its name.
    pub name: Name,
    /// Results and parameters.
    pub signature: Signature,
    /// Performance directives.
    pub bounds: LaunchBounds,
    /// The statements between its braces, as a range of [`Ast::statements`]; `None` for a
    /// declaration.
    pub body: Option<Range<usize>>,
    /// The head.
    pub span: Span,
}

/// `.loc`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loc {
    /// The number of a `.file`.
    pub file: u64,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where unknown.
    pub column: u32,
    /// The function that was inlined, as a label of the debug strings plus an offset.
    pub function_name: Option<(Symbol, u64)>,
    /// File, line and column of the call that was inlined.
    pub inlined_at: Option<(u64, u32, u32)>,
    /// The directive.
    pub span: Span,
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// An instruction.
    Instruction(Instruction),
    /// `name:`.
    Label(Name),
    /// `{`.
    Open(Span),
    /// `}`.
    Close(Span),
    /// `.reg`, `.local`, `.param`, `.shared` and so on.
    Declaration(Box<Declaration>),
    /// `.loc`.
    Loc(Box<Loc>),
    /// `name: .callprototype (...) _ (...);`.
    Prototype(Name, Box<Signature>, bool),
    /// `name: .calltargets f, g;`.
    CallTargets(Name, Vec<Name>),
    /// `name: .branchtargets A, B;`.
    BranchTargets(Name, Vec<BranchTarget>),
}

/// An item of `.branchtargets`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchTarget {
    /// The label, or the stem of a range of labels.
    pub name: Name,
    /// `L<4>`: the labels `L0` to `L3`.
    pub range: Option<u64>,
}

/// An item of the module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Variables.
    Declaration(Declaration),
    /// A kernel or function.
    Function(Box<FunctionItem>),
    /// `.alias new, old;`.
    Alias(Name, Name),
    /// `.file number "name"`.
    File {
        /// The number that `.loc` speaks of.
        number: u64,
        /// The name with its quotes.
        name: Span,
        /// The directive.
        span: Span,
    },
    /// `.section`: its name, and where labels stand in its bytes.
    Section(DebugSection),
}

/// A section of debug data. Only `.debug_str` is kept, for the names of inlined functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DebugSection {
    /// Its name, with the dot.
    pub name: String,
    /// Labels and the offsets at which they stand.
    pub labels: Vec<(Symbol, usize)>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// `.version`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Before the point.
    pub major: u32,
    /// Behind the point.
    pub minor: u32,
}

/// `.target`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetInfo {
    /// The number behind `sm_`.
    pub sm: u32,
    /// `a` or `f`, as in `sm_90a`.
    pub suffix: Option<char>,
    /// `debug`.
    pub debug: bool,
    /// `texmode_independent`.
    pub texmode_independent: bool,
    /// Where `sm_..` stands.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Ast<'a> {
    /// The names.
    pub names: Names<'a>,
    /// The forms of instructions.
    pub forms: PrimaryMap<FormId, Form>,
    /// `.version`.
    pub version: Version,
    /// `.target`.
    pub target: TargetInfo,
    /// The items in order.
    pub items: Vec<Item>,
    /// The statements of all bodies.
    pub statements: Vec<Statement>,
    /// Whether something was left out because of an error.
    pub incomplete: bool,
    /// The names in what was left out, which may have been declared there.
    pub doubtful: BTreeSet<Symbol>,
}
