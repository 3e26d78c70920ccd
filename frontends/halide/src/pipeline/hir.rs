//! The program while it is elaborated: typed expressions that still name their Vars, and Funcs
//! that may still grow, until `finish` turns it into a stage graph.

use std::collections::BTreeMap;

use cranelift_entity::{PrimaryMap, entity_impl};
use nbcc_base::Span;
use nbcc_stages::{
    BinaryOp, CompareOp, DirectiveKind, ElementType, Input, InputData, Intrinsic, Literal, Param,
    ParamData, UnaryOp,
};

use crate::syntax::ast::Symbol;

/// A typed expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node(u32);
entity_impl!(Node, "node");

/// A Func under construction; a handle in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FuncId(u32);
entity_impl!(FuncId, "f");

/// A reduction domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RDomId(u32);
entity_impl!(RDomId, "r");

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Literal(Literal),
    /// A Var, by its name: two Vars of one name are the same, as in Halide.
    Var(Symbol),
    RVar(RDomId, u32),
    Param(Param),
    InputExtent(Input, u32),
    Load(Input, Box<[Node]>),
    Call(FuncId, u32, Box<[Node]>),
    Unary(UnaryOp, Node),
    Binary(BinaryOp, Node, Node),
    Compare(CompareOp, Node, Node),
    Select(Node, Node, Node),
    Cast(Node),
    Reinterpret(Node),
    Intrinsic(Intrinsic, Box<[Node]>),
}

#[derive(Clone, Debug)]
pub(crate) struct NodeData {
    pub(crate) kind: NodeKind,
    pub(crate) ty: ElementType,
    pub(crate) span: Span,
}

impl NodeData {
    /// Calls `visit` on each operand.
    pub(crate) fn operands(&self, mut visit: impl FnMut(Node)) {
        match &self.kind {
            NodeKind::Literal(_)
            | NodeKind::Var(_)
            | NodeKind::RVar(..)
            | NodeKind::Param(_)
            | NodeKind::InputExtent(..) => {}
            NodeKind::Load(_, args) | NodeKind::Call(_, _, args) | NodeKind::Intrinsic(_, args) => {
                args.iter().for_each(|&a| visit(a));
            }
            NodeKind::Unary(_, a) | NodeKind::Cast(a) | NodeKind::Reinterpret(a) => visit(*a),
            NodeKind::Binary(_, a, b) | NodeKind::Compare(_, a, b) => {
                visit(*a);
                visit(*b);
            }
            NodeKind::Select(a, b, c) => {
                visit(*a);
                visit(*b);
                visit(*c);
            }
        }
    }

    /// The same with each operand replaced.
    pub(crate) fn map(&self, mut f: impl FnMut(Node) -> Node) -> NodeData {
        let mut all = |args: &[Node]| args.iter().map(|&a| f(a)).collect::<Box<[Node]>>();
        let kind = match &self.kind {
            NodeKind::Literal(_)
            | NodeKind::Var(_)
            | NodeKind::RVar(..)
            | NodeKind::Param(_)
            | NodeKind::InputExtent(..) => self.kind.clone(),
            NodeKind::Load(input, args) => NodeKind::Load(*input, all(args)),
            NodeKind::Call(func, value, args) => NodeKind::Call(*func, *value, all(args)),
            NodeKind::Intrinsic(op, args) => NodeKind::Intrinsic(*op, all(args)),
            NodeKind::Unary(op, a) => NodeKind::Unary(*op, f(*a)),
            NodeKind::Cast(a) => NodeKind::Cast(f(*a)),
            NodeKind::Reinterpret(a) => NodeKind::Reinterpret(f(*a)),
            NodeKind::Binary(op, a, b) => NodeKind::Binary(*op, f(*a), f(*b)),
            NodeKind::Compare(op, a, b) => NodeKind::Compare(*op, f(*a), f(*b)),
            NodeKind::Select(a, b, c) => NodeKind::Select(f(*a), f(*b), f(*c)),
        };
        NodeData { kind, ty: self.ty, span: self.span }
    }
}

/// A reduction domain.
pub(crate) struct RDomInfo {
    pub(crate) name: String,
    /// Minimum and extent.
    pub(crate) dims: Vec<(Node, Node)>,
    pub(crate) predicates: Vec<Node>,
    pub(crate) span: Span,
    /// The update that uses it: from then on it takes no further conditions.
    pub(crate) used: Option<Span>,
}

/// One definition: of a Func at every point, or an update.
pub(crate) struct DefinitionInfo {
    /// Coordinates on the left; of a pure definition, its Vars.
    pub(crate) args: Vec<Node>,
    pub(crate) values: Vec<Node>,
    pub(crate) rdom: Option<RDomId>,
    pub(crate) span: Span,
    pub(crate) schedule: Vec<DirectiveInfo>,
    /// The loops over it at this point of its schedule, for checking names.
    pub(crate) loops: Vec<String>,
    /// Loops that the source knows by another name, after `rfactor` made a domain of its own.
    pub(crate) aliases: BTreeMap<String, String>,
}

/// A directive that may name Funcs and expressions of the elaborated program.
pub(crate) struct DirectiveInfo {
    pub(crate) kind: PendingDirective,
    pub(crate) span: Span,
}

pub(crate) enum PendingDirective {
    Ready(DirectiveKind),
    ComputeAt(FuncId, String),
    StoreAt(FuncId, String),
    Bound { var: String, min: Node, extent: Node, estimate: bool },
}

/// What an `Output` declaration fixes.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    /// `None` leaves it to the definition.
    pub(crate) ty: Option<ElementType>,
    /// 0 leaves it to the definition.
    pub(crate) dims: u32,
    pub(crate) span: Span,
}

/// A Func.
pub(crate) struct FuncInfo {
    pub(crate) name: String,
    /// Where it is declared, then where it is first defined.
    pub(crate) span: Span,
    /// Its Vars, once it is defined.
    pub(crate) vars: Vec<Symbol>,
    pub(crate) types: Vec<ElementType>,
    pub(crate) pure: Option<DefinitionInfo>,
    pub(crate) updates: Vec<DefinitionInfo>,
    /// The definition of another Func that calls it: from then on it takes no updates.
    pub(crate) frozen: Option<Span>,
    /// The numbers of its first and last definition among all definitions of the program.
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) declared: Option<Declared>,
    /// A definition of it was faulty: what is said about it later would be noise.
    pub(crate) poisoned: bool,
    /// Made by the frontend itself: a reduction, a boundary condition.
    pub(crate) anonymous: bool,
    /// Made in a loop or a function, where it is normal that not all are used.
    pub(crate) local: bool,
}

/// Everything elaborated so far.
#[derive(Default)]
pub(crate) struct Hir {
    pub(crate) nodes: PrimaryMap<Node, NodeData>,
    pub(crate) rdoms: PrimaryMap<RDomId, RDomInfo>,
    pub(crate) funcs: PrimaryMap<FuncId, FuncInfo>,
    pub(crate) inputs: PrimaryMap<Input, InputData>,
    pub(crate) params: PrimaryMap<Param, ParamData>,
    /// The Funcs declared as outputs, in order.
    pub(crate) outputs: Vec<FuncId>,
}

impl Hir {
    pub(crate) fn push(&mut self, kind: NodeKind, ty: ElementType, span: Span) -> Node {
        self.nodes.push(NodeData { kind, ty, span })
    }

    pub(crate) fn ty(&self, node: Node) -> ElementType {
        self.nodes[node].ty
    }

    pub(crate) fn int(&mut self, value: i64, ty: ElementType, span: Span) -> Node {
        let literal =
            if ty.is_float() { Literal::float(value as f32) } else { Literal::Int(ty.wrap(value)) };
        self.push(NodeKind::Literal(literal), ty, span)
    }

    pub(crate) fn float(&mut self, value: f32, span: Span) -> Node {
        self.push(NodeKind::Literal(Literal::float(value)), ElementType::F32, span)
    }

    /// The value of a literal node.
    pub(crate) fn literal(&self, node: Node) -> Option<Literal> {
        match self.nodes[node].kind {
            NodeKind::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The value of a literal of integer type.
    pub(crate) fn constant(&self, node: Node) -> Option<i64> {
        match self.literal(node)? {
            Literal::Int(value) => Some(value),
            Literal::Float(_) => None,
        }
    }
}
