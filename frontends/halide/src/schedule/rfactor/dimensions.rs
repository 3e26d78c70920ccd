//! The loops over a domain after the directives given so far.

use std::collections::HashMap;

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, DirectiveKind, ElementType};

use super::Original;
use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{Node, NodeKind, PendingDirective};

/// A loop over (a part of) a reduction variable.
#[derive(Clone)]
pub(super) struct Dimension {
    pub(super) name: String,
    pub(super) min: Node,
    pub(super) extent: Node,
}

/// The loops over a domain, and what they make of it.
pub(super) struct Dimensions {
    /// The loops, innermost first.
    pub(super) loops: Vec<Dimension>,
    /// The domain's variables in terms of the loops: loop `n` is written as variable `n` of the
    /// domain.
    pub(super) variables: Vec<Node>,
    /// Conditions where a split does not divide.
    pub(super) guards: Vec<Node>,
    /// The numbers of the directives that are not consumed by this.
    pub(super) schedule: Vec<usize>,
}

/// A directive that made loops of others.
enum Step {
    Split {
        old: Dimension,
        outer: String,
        inner: String,
        factor: Node,
        /// The factor does not divide, or is not known to.
        guarded: bool,
    },
    Fuse {
        inner: Dimension,
        outer: Dimension,
        fused: String,
    },
}

/// Puts the loops that `order` names into its order; tells whether it names no others.
fn reorder(loops: &mut [Dimension], order: &[String]) -> bool {
    let places: Vec<usize> = (0..loops.len()).filter(|&p| order.contains(&loops[p].name)).collect();
    let named: Vec<Dimension> =
        order.iter().filter_map(|o| loops.iter().find(|l| l.name == *o).cloned()).collect();
    let all = named.len() == order.len();
    for (place, dimension) in places.into_iter().zip(named) {
        loops[place] = dimension;
    }
    all
}

impl Elab<'_> {
    /// The loops over the update's domain as scheduled so far.
    pub(super) fn dimensions_of(&mut self, original: &Original) -> Result<Dimensions> {
        let &Original { func, number, rdom, span, .. } = original;
        let bounds = self.hir.rdoms[rdom].dims.clone();
        let mut loops: Vec<Dimension> = Vec::new();
        for (n, &(min, extent)) in bounds.iter().enumerate() {
            loops.push(Dimension { name: self.rvar_name(rdom, n as u32), min, extent });
        }
        let directives: Vec<DirectiveKind> = self.hir.funcs[func].updates[number as usize]
            .schedule
            .iter()
            .map(|d| match &d.kind {
                PendingDirective::Ready(kind) => kind.clone(),
                _ => DirectiveKind::ComputeInline,
            })
            .collect();
        let mut steps = Vec::new();
        let mut schedule = Vec::new();
        for (i, kind) in directives.iter().enumerate() {
            let step = match kind {
                DirectiveKind::Split { old, outer, inner, factor } => {
                    self.split_dimension(&mut loops, old, [outer, inner], *factor, span)
                }
                DirectiveKind::Fuse { inner, outer, fused } => {
                    self.fuse_dimensions(&mut loops, [inner, outer], fused, span)
                }
                DirectiveKind::Reorder(order) if reorder(&mut loops, order) => continue,
                _ => None,
            };
            match step {
                Some(step) => steps.push(step),
                None => schedule.push(i),
            }
        }
        if loops.len() > 4 {
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("`rfactor` of {} loops", loops.len()),
                )
                .at(span, "at most 4 loops over an RDom are supported")
                .help("fuse some of them, or leave out a `split`"),
            );
        }
        let mut known: HashMap<String, Node> = HashMap::new();
        for (n, l) in loops.iter().enumerate() {
            let kind = NodeKind::RVar(rdom, n as u32);
            known.insert(l.name.clone(), self.hir.push(kind, ElementType::I32, span));
        }
        // Steps are undone in reverse to express variables by the loops that are left.
        let mut guards = Vec::new();
        for step in steps.iter().rev() {
            guards.extend(self.undo(step, &mut known, span));
        }
        let variables = (0..bounds.len() as u32).map(|n| known[&self.rvar_name(rdom, n)]).collect();
        Ok(Dimensions { loops, variables, guards, schedule })
    }

    /// Splits the loop `old` if it is there.
    fn split_dimension(
        &mut self,
        loops: &mut Vec<Dimension>,
        old: &str,
        [outer, inner]: [&String; 2],
        factor: i64,
        span: Span,
    ) -> Option<Step> {
        let n = loops.iter().position(|l| l.name == old)?;
        let old = loops[n].clone();
        let zero = self.hir.int(0, ElementType::I32, span);
        let size = self.hir.int(factor, ElementType::I32, span);
        let known = self.hir.constant(old.extent);
        let blocks = match known {
            Some(e) => self.hir.int((e + factor - 1).div_euclid(factor), ElementType::I32, span),
            None => {
                let more = self.hir.int(factor - 1, ElementType::I32, span);
                let sum = self.op(BinaryOp::Add, old.extent, more, span);
                self.op(BinaryOp::Div, sum, size, span)
            }
        };
        loops[n] = Dimension { name: outer.clone(), min: zero, extent: blocks };
        loops.insert(n, Dimension { name: inner.clone(), min: zero, extent: size });
        let guarded = known.is_none_or(|e| e % factor != 0);
        Some(Step::Split { old, outer: outer.clone(), inner: inner.clone(), factor: size, guarded })
    }

    /// Fuses two loops if both are there.
    fn fuse_dimensions(
        &mut self,
        loops: &mut Vec<Dimension>,
        [inner, outer]: [&String; 2],
        fused: &str,
        span: Span,
    ) -> Option<Step> {
        let a = loops.iter().position(|l| l.name == *inner)?;
        let b = loops.iter().position(|l| l.name == *outer)?;
        let (inner, outer) = (loops[a].clone(), loops[b].clone());
        let zero = self.hir.int(0, ElementType::I32, span);
        let extent = self.op(BinaryOp::Mul, inner.extent, outer.extent, span);
        loops[a] = Dimension { name: fused.to_owned(), min: zero, extent };
        loops.remove(b);
        Some(Step::Fuse { inner, outer, fused: fused.to_owned() })
    }

    /// Expresses the loops that a step took away by those that it made; gives the guard of a split
    /// that does not divide.
    fn undo(&mut self, step: &Step, known: &mut HashMap<String, Node>, span: Span) -> Option<Node> {
        match step {
            Step::Split { old, outer, inner, factor, guarded } => {
                let base = self.op(BinaryOp::Mul, known[outer], *factor, span);
                let mut value = self.op(BinaryOp::Add, base, known[inner], span);
                if self.hir.constant(old.min) != Some(0) {
                    value = self.op(BinaryOp::Add, value, old.min, span);
                }
                let mut guard = None;
                if *guarded {
                    let end = self.op(BinaryOp::Add, old.min, old.extent, span);
                    guard = Some(self.compare(CompareOp::Lt, value, end, span));
                    // What the rounds beyond the domain read counts as much as what others
                    // read, though nothing comes of it: they read the last point.
                    let one = self.hir.int(1, ElementType::I32, span);
                    let last = self.op(BinaryOp::Sub, end, one, span);
                    value = self.op(BinaryOp::Min, value, last, span);
                }
                known.insert(old.name.clone(), value);
                guard
            }
            Step::Fuse { inner, outer, fused } => {
                let both = known[fused];
                let mut x = self.op(BinaryOp::Mod, both, inner.extent, span);
                let mut y = self.op(BinaryOp::Div, both, inner.extent, span);
                if self.hir.constant(inner.min) != Some(0) {
                    x = self.op(BinaryOp::Add, x, inner.min, span);
                }
                if self.hir.constant(outer.min) != Some(0) {
                    y = self.op(BinaryOp::Add, y, outer.min, span);
                }
                known.insert(inner.name.clone(), x);
                known.insert(outer.name.clone(), y);
                None
            }
        }
    }
}
