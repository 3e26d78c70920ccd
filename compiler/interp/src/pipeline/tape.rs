//! The expressions of a stage as a list of operations on rows, operands first.

use nbcc_base::Span;
use nbcc_stages::scalar::literal_word;
use nbcc_stages::{ElementType, Expr, ExprKind, Pipeline, Walker};

/// The place of a row of values.
pub(super) type Slot = u32;

/// One expression.
pub(super) struct Op {
    pub kind: ExprKind,
    pub ty: ElementType,
    /// The type of the first operand, where there is one.
    pub from: ElementType,
    /// The type of the second operand, where there is one.
    pub second: ElementType,
    pub span: Span,
    /// The rows of the operands, in order.
    pub operands: Vec<Slot>,
    /// The operands of a load or call, and whether each is uniform.
    pub coordinates: Vec<(Slot, bool)>,
    pub out: Slot,
    /// Whether its value is the same along a row: then only the first lane is computed.
    pub uniform: bool,
    /// Whether an operation that varies along the row reads it: then the first lane is copied to
    /// the others.
    pub spread: bool,
}

/// Operations that compute some expressions.
pub(super) struct Tape {
    pub ops: Vec<Op>,
    /// How many slots it needs.
    pub slots: usize,
    /// Slots that hold a literal throughout.
    pub literals: Vec<(Slot, u32)>,
    /// The slots of the expressions asked for, and whether they are uniform.
    pub results: Vec<(Slot, bool)>,
}

/// Compiles `roots` for rows along dimension `row` (none: every row has one element).
pub(super) fn compile(
    pipeline: &Pipeline,
    walker: &mut Walker,
    roots: &[Expr],
    row: Option<u32>,
) -> Tape {
    let order = walker.reachable(pipeline, roots.iter().copied());
    let at = |e: Expr| match order.binary_search(&e) {
        Ok(index) => index,
        Err(_) => panic!("{e:?} is missing from a tape"),
    };
    let mut last_use = vec![0; order.len()];
    let mut uniform = vec![true; order.len()];
    for (index, &expr) in order.iter().enumerate() {
        let kind = &pipeline.exprs[expr].kind;
        uniform[index] = !matches!(kind, ExprKind::Dim(n) if Some(*n) == row);
        kind.each_operand(|operand| {
            last_use[at(operand)] = index;
            uniform[index] &= uniform[at(operand)];
        });
    }
    for &root in roots {
        last_use[at(root)] = usize::MAX;
    }
    let mut spread = vec![false; order.len()];
    for (index, &expr) in order.iter().enumerate() {
        pipeline.exprs[expr].kind.each_operand(|operand| spread[at(operand)] |= !uniform[index]);
    }

    let mut tape = Tape { ops: Vec::new(), slots: 0, literals: Vec::new(), results: Vec::new() };
    let mut slots: Vec<Slot> = Vec::with_capacity(order.len());
    let mut free: Vec<Slot> = Vec::new();
    for (index, &expr) in order.iter().enumerate() {
        let data = &pipeline.exprs[expr];
        let literal = match data.kind {
            ExprKind::Literal(literal) => Some(literal_word(data.ty, literal)),
            _ => None,
        };
        let recycled = if literal.is_some() { None } else { free.pop() };
        let out = recycled.unwrap_or_else(|| {
            tape.slots += 1;
            tape.slots as Slot - 1
        });
        slots.push(out);
        if let Some(word) = literal {
            tape.literals.push((out, word));
            continue;
        }
        let mut operands = Vec::new();
        data.kind.each_operand(|operand| operands.push(operand));
        let type_of = |n: usize| operands.get(n).map_or(data.ty, |&e| pipeline.ty(e));
        tape.ops.push(Op {
            kind: data.kind.clone(),
            ty: data.ty,
            from: type_of(0),
            second: type_of(1),
            span: data.span,
            operands: operands.iter().map(|&e| slots[at(e)]).collect(),
            coordinates: operands.iter().map(|&e| (slots[at(e)], uniform[at(e)])).collect(),
            out,
            uniform: uniform[index],
            spread: uniform[index] && spread[index],
        });
        operands.sort_unstable();
        operands.dedup();
        for operand in operands {
            let is_literal = matches!(pipeline.exprs[operand].kind, ExprKind::Literal(_));
            if last_use[at(operand)] == index && !is_literal {
                free.push(slots[at(operand)]);
            }
        }
    }
    tape.results = roots.iter().map(|&r| (slots[at(r)], uniform[at(r)])).collect();
    tape
}
