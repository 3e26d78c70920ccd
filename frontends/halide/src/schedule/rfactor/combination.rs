//! How an update combines old and new values, and expressions that do so.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{FuncId, Node, NodeKind};

/// How the values of an update combine.
pub(super) enum Combination {
    /// Each by an operation of its own with a new value.
    Separate(Vec<(BinaryOp, Node)>),
    /// All at once, where the value at `key` is better: `select(e cmp f[key], new, f)`.
    Best { op: CompareOp, key: usize, values: Vec<Node> },
}

impl Elab<'_> {
    /// How the update combines old and new values; an error unless that is associative.
    pub(super) fn combination(
        &mut self,
        func: FuncId,
        args: &[Node],
        values: &[Node],
        at: Span,
        span: Span,
    ) -> Result<Combination> {
        let mut separate = Vec::new();
        for (k, &value) in values.iter().enumerate() {
            let NodeKind::Binary(op, a, b) = self.hir.nodes[value].kind else { break };
            let associative = matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Mul
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
            );
            if !associative {
                break;
            }
            let new = if self.is_own(func, k, args, a, at)? {
                b
            } else if self.is_own(func, k, args, b, at)? {
                a
            } else {
                break;
            };
            if self.calls_own(func, new, at)? {
                break;
            }
            separate.push((op, new));
        }
        if separate.len() == values.len() {
            return Ok(Combination::Separate(separate));
        }
        if let Some(best) = self.best(func, args, values, at)? {
            return Ok(best);
        }
        self.fail(
            Diagnostic::error(&codes::NOT_REDUCTION, "`rfactor` needs an associative update")
                .at(span, "the order of this reduction cannot be changed")
                .and(at, "the update")
                .help("sums, products, `min`, `max`, `&`, `|`, `^` of the Func and a value that does not refer to it"),
        )
    }

    /// Whether a node is the Func's value `k` at the coordinates of the left side.
    fn is_own(&mut self, func: FuncId, k: usize, args: &[Node], n: Node, at: Span) -> Result<bool> {
        let NodeKind::Call(f, value, own) = &self.hir.nodes[n].kind else { return Ok(false) };
        if *f != func || *value as usize != k {
            return Ok(false);
        }
        let own = own.clone();
        for (&a, &b) in own.iter().zip(args) {
            if !self.same(a, b, at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn calls_own(&mut self, func: FuncId, root: Node, at: Span) -> Result<bool> {
        let mut found = false;
        self.walk(&[root], at, |e, n| {
            found |= matches!(e.hir.nodes[n].kind, NodeKind::Call(f, _, _) if f == func);
            Ok(())
        })?;
        Ok(found)
    }

    /// `select(e > f[key], new, f)` for every value, with `e` the new value at `key`: what
    /// `argmax` and `argmin` do.
    fn best(
        &mut self,
        func: FuncId,
        args: &[Node],
        values: &[Node],
        at: Span,
    ) -> Result<Option<Combination>> {
        let mut new = Vec::new();
        let mut condition = None;
        for (k, &value) in values.iter().enumerate() {
            let NodeKind::Select(c, yes, no) = self.hir.nodes[value].kind else { return Ok(None) };
            if !self.is_own(func, k, args, no, at)? || self.calls_own(func, yes, at)? {
                return Ok(None);
            }
            match condition {
                Some(first) if !self.same(first, c, at)? => return Ok(None),
                _ => condition = Some(c),
            }
            new.push(yes);
        }
        let Some(condition) = condition else { return Ok(None) };
        let NodeKind::Compare(op, a, b) = self.hir.nodes[condition].kind else { return Ok(None) };
        for (k, &e) in new.iter().enumerate() {
            let (left, right) =
                (self.is_own(func, k, args, b, at)?, self.is_own(func, k, args, a, at)?);
            let (other, op) = match (left, right, op) {
                (true, _, CompareOp::Lt | CompareOp::Gt) => (a, op),
                (_, true, CompareOp::Lt) => (b, CompareOp::Gt),
                (_, true, CompareOp::Gt) => (b, CompareOp::Lt),
                _ => continue,
            };
            if self.same(e, other, at)? {
                return Ok(Some(Combination::Best { op, key: k, values: new }));
            }
        }
        Ok(None)
    }

    pub(super) fn identities(
        &mut self,
        c: &Combination,
        types: &[ElementType],
        span: Span,
    ) -> Vec<Node> {
        types
            .iter()
            .enumerate()
            .map(|(k, &ty)| match c {
                Combination::Separate(list) => match list[k].0 {
                    BinaryOp::Mul => self.hir.int(1, ty, span),
                    BinaryOp::Min => self.greatest(ty, span),
                    BinaryOp::Max => self.least(ty, span),
                    // All bits set; for Bool, true.
                    BinaryOp::And if ty.is_signed() => self.hir.int(-1, ty, span),
                    BinaryOp::And => self.greatest(ty, span),
                    _ => self.hir.int(0, ty, span),
                },
                Combination::Best { op: CompareOp::Gt, key, .. } if *key == k => {
                    self.least(ty, span)
                }
                Combination::Best { key, .. } if *key == k => self.greatest(ty, span),
                Combination::Best { .. } => self.hir.int(0, ty, span),
            })
            .collect()
    }

    fn own_values(
        &mut self,
        func: FuncId,
        args: &[Node],
        types: &[ElementType],
        at: Span,
    ) -> Vec<Node> {
        types
            .iter()
            .enumerate()
            .map(|(k, &ty)| self.hir.push(NodeKind::Call(func, k as u32, args.into()), ty, at))
            .collect()
    }

    /// The values of `func` at `args` combined with new ones.
    pub(super) fn combine(
        &mut self,
        c: &Combination,
        func: FuncId,
        args: &[Node],
        new: &[Node],
        types: &[ElementType],
        at: Span,
    ) -> Vec<Node> {
        let own = self.own_values(func, args, types, at);
        match c {
            Combination::Separate(list) => list
                .iter()
                .zip(own.iter().zip(new))
                .map(|((op, _), (&a, &b))| self.op(*op, a, b, at))
                .collect(),
            Combination::Best { op, key, .. } => {
                let better = self.compare(*op, new[*key], own[*key], at);
                own.iter().zip(new).map(|(&a, &b)| self.choose(better, b, a, at)).collect()
            }
        }
    }

    pub(super) fn guarded(
        &mut self,
        func: FuncId,
        args: &[Node],
        values: Vec<Node>,
        conditions: &[Node],
        types: &[ElementType],
        at: Span,
    ) -> Vec<Node> {
        let Some((&first, rest)) = conditions.split_first() else { return values };
        let mut condition = first;
        for &c in rest {
            condition = self.op(BinaryOp::And, condition, c, at);
        }
        let own = self.own_values(func, args, types, at);
        values.into_iter().zip(own).map(|(v, o)| self.choose(condition, v, o, at)).collect()
    }
}
