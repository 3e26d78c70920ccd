//! A module whose names are resolved: what checking and lowering of instructions read.
//!
//! Registers, variables, labels and functions are entities; scopes are gone. What is already
//! checked here: names exist and are of a kind that may stand in that place, declarations are
//! legal, initialisers are laid out, constants are folded, every body has its braces. What is not:
//! whether an opcode exists, and which operands and types its form takes.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{PrimaryMap, entity_impl};
use nbcc_base::Span;

pub use crate::ast::{
    Constant, Form, FormId, LaunchBounds, Linkage, Pointer, ScalarType, StateSpace, TargetInfo,
    Version,
};
use crate::forms::Product;
use crate::names::{Names, Symbol};

/// A register of a function. Only registers that are used exist, however many are declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegId(u32);
entity_impl!(RegId, "reg");

/// A variable in memory: of the module, of a function, or a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(u32);
entity_impl!(VariableId, "var");

/// A label of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(u32);
entity_impl!(LabelId, "label");

/// A kernel or function. Ids are in order of first declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(u32);
entity_impl!(FunctionId, "function");

/// A `.callprototype`, `.calltargets` or `.branchtargets` of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(u32);
entity_impl!(TableId, "table");

/// A module.
#[derive(Clone, Debug)]
pub struct Resolved<'a> {
    /// The texts of names.
    pub names: Names<'a>,
    /// The forms of instructions.
    pub forms: PrimaryMap<FormId, Form>,
    /// `.version`.
    pub version: Version,
    /// `.target`.
    pub target: TargetInfo,
    /// All variables in memory, also those of functions, and parameters.
    pub variables: PrimaryMap<VariableId, Variable>,
    /// Kernels and functions.
    pub functions: PrimaryMap<FunctionId, Function>,
    /// The names of `.file`, by number.
    pub files: BTreeMap<u64, String>,
    /// Whether something was left out because of an error.
    pub incomplete: bool,
    /// The names of what was left out, and in it: nothing is to be said against their use.
    pub doubtful: BTreeSet<Symbol>,
}

impl Resolved<'_> {
    /// The modifiers of a form, in the order of the text.
    pub fn modifiers(&self, form: FormId) -> Vec<&str> {
        self.forms[form].modifiers.iter().map(|&modifier| self.names.text(modifier)).collect()
    }

    /// The product of matrices that a checked instruction computes, or whose fragments it accesses.
    pub fn product(&self, inst: &Instruction) -> Product {
        let opcode = self.names.text(self.forms[inst.form].opcode);
        Product::read(opcode, &self.modifiers(inst.form))
    }
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Symbol,
    /// Where it is declared.
    pub span: Span,
    /// Never [`StateSpace::Reg`], except for parameters of functions that are registers.
    pub space: StateSpace,
    /// Who sees it.
    pub linkage: Linkage,
    /// The type of elements.
    pub scalar: ScalarType,
    /// 1, 2, 4 or 8: elements of a vector.
    pub vector: u8,
    /// Whether it is declared with brackets.
    pub array: bool,
    /// Bytes; `None` for an array without a size (`.extern .shared .b8 s[];`).
    pub bytes: Option<u64>,
    /// Bytes: what `.align` says, else the natural alignment of the type.
    pub align: u32,
    /// What it holds at the start; `None`: zeros where the space is `.global` or `.const`.
    pub initial: Option<Initial>,
    /// The function that it belongs to.
    pub function: Option<FunctionId>,
    /// `.attribute(.managed)`.
    pub managed: bool,
    /// `.ptr` of a kernel parameter.
    pub pointer: Option<Pointer>,
}

/// Contents of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// As many as the variable has, or fewer: the rest is zero. Little-endian.
    pub bytes: Vec<u8>,
    /// Addresses to be written over the bytes, by ascending offset.
    pub relocations: Vec<Relocation>,
}

/// An address in an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where, in bytes.
    pub offset: u64,
    /// How many bytes: 1, 2, 4 or 8.
    pub width: u32,
    /// Of what.
    pub target: RelocationTarget,
    /// Whether the generic address is meant.
    pub generic: bool,
    /// What is added to the address.
    pub addend: i64,
    /// How far the address is shifted right before its low `width` bytes are taken (`mask()`).
    pub shift: u32,
}

/// What a relocation refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// A variable.
    Variable(VariableId),
    /// A function.
    Function(FunctionId),
}

/// A kernel or function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// Where the name stands in the definition, else in the first declaration.
    pub span: Span,
    /// Whether it is an `.entry`.
    pub entry: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// Results: of space param or reg.
    pub returns: Vec<Parameter>,
    /// Parameters: of space param or reg.
    pub params: Vec<Parameter>,
    /// Performance directives.
    pub bounds: LaunchBounds,
    /// `None`: declared only.
    pub body: Option<Body>,
    /// For `.alias`: the function that this is another name of.
    pub alias: Option<FunctionId>,
}

/// A parameter or result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// In `.param` space.
    Variable(VariableId),
    /// A register (a scalar) of the body. In a function without body, and in a prototype, there
    /// are no registers: the variable tells the type.
    Register(VariableId, Option<RegId>),
}

impl Parameter {
    /// The variable that tells name and type.
    pub fn variable(self) -> VariableId {
        match self {
            Parameter::Variable(v) | Parameter::Register(v, _) => v,
        }
    }
}

/// What a function does.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The registers that are used, in order of their first use.
    pub registers: PrimaryMap<RegId, Register>,
    /// The labels.
    pub labels: PrimaryMap<LabelId, Label>,
    /// Prototypes and tables of targets.
    pub tables: PrimaryMap<TableId, Table>,
    /// Variables declared in the body, those of `.param` space included.
    pub variables: Vec<VariableId>,
    /// Instructions and labels in order.
    pub items: Vec<BodyItem>,
    /// `.loc`: each holds for the items from this index on, up to the next.
    pub locs: Vec<(usize, Location)>,
    /// The closing brace.
    pub end: Span,
}

/// A register.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name.
    pub name: Symbol,
    /// The type of an element.
    pub ty: ScalarType,
    /// 1, or the elements of a vector register.
    pub vector: u8,
    /// Where it is declared.
    pub span: Span,
}

/// A label.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: Symbol,
    /// Where it stands.
    pub span: Span,
    /// The index of its [`BodyItem::Label`].
    pub item: usize,
}

/// A `.callprototype`, `.calltargets` or `.branchtargets`.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its label.
    pub name: Symbol,
    /// Where.
    pub span: Span,
    /// Contents.
    pub kind: TableKind,
}

/// What a table holds.
#[derive(Clone, Debug)]
pub enum TableKind {
    /// A signature; its parameters are variables without names of their own.
    Prototype {
        /// Results.
        returns: Vec<VariableId>,
        /// Parameters.
        params: Vec<VariableId>,
        /// Whether calls do not come back.
        noreturn: bool,
    },
    /// Functions.
    CallTargets(Vec<(FunctionId, Span)>),
    /// Labels, by index.
    BranchTargets(Vec<(LabelId, Span)>),
}

/// What a body is made of.
#[derive(Clone, Debug)]
pub enum BodyItem {
    /// An instruction other than a call.
    Instruction(Instruction),
    /// A call.
    Call(Box<Call>),
    /// A label.
    Label(LabelId),
}

/// A guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A scalar register; that it is a predicate is for the check of the instruction to say.
    pub register: RegId,
    /// Whether `!` stands before it.
    pub negated: bool,
    /// Where the register stands.
    pub span: Span,
}

/// An instruction.
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

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The predicate that it runs under.
    pub guard: Option<Guard>,
    /// `call` with its modifiers (`uni`).
    pub form: FormId,
    /// Where opcode and modifiers stand.
    pub form_span: Span,
    /// Where the results go: variables of `.param` space (offset 0), registers, sinks.
    pub returns: Vec<Operand>,
    /// Whom.
    pub callee: Callee,
    /// Where the callee stands.
    pub callee_span: Span,
    /// The arguments: variables of `.param` space (offset 0), registers, constants.
    pub arguments: Vec<Operand>,
    /// From guard to semicolon.
    pub span: Span,
}

/// Whom a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function.
    Function(FunctionId),
    /// The function whose address is in a register; the table is a prototype or a list of targets.
    Register(RegId, TableId),
}

/// An operand.
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
    /// A register: scalar, or a whole vector.
    Register(RegId),
    /// An element of a vector register, from 0.
    Component(RegId, u8),
    /// Bytes or halves of a scalar register (`r.b0`, `r.h1`, `r.b7531`), for video instructions.
    Selected(RegId, Symbol),
    /// A special register (`%tid`), by its name, with the element of a vector one (`%tid.x` is 0).
    Special(Symbol, Option<u8>),
    /// A number.
    Constant(Constant),
    /// The address of a variable, plus an offset.
    Variable(VariableId, i64),
    /// The address of a function.
    Function(FunctionId),
    /// A label.
    Label(LabelId),
    /// A table of targets or a prototype.
    Table(TableId),
    /// `[base + offset]`, the offset in bytes.
    Address(AddressBase, i64),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `a|b`.
    Pair(Box<[Operand; 2]>),
    /// `!p`.
    Not(Box<Operand>),
    /// `-r`.
    Negated(Box<Operand>),
    /// `_`.
    Sink,
    /// `[a, {x, y}]`, of textures, surfaces and tensors: never supported, the instruction says so.
    Texture(Vec<Operand>),
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register (its type is for the check of the instruction).
    Register(RegId),
    /// A variable.
    Variable(VariableId),
    /// A function: never legal for data, but named so that a check can say so.
    Function(FunctionId),
    /// Nothing: the offset is the address.
    Absolute,
}

/// A place in the file that PTX was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The number of a `.file`; 0 where PTX has none.
    pub file: u64,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where unknown.
    pub column: u32,
    /// The function that this was inlined from.
    pub function: Option<String>,
    /// File, line and column of the inlined call.
    pub inlined_at: Option<(u64, u32, u32)>,
}
