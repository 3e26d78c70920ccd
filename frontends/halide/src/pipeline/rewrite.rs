//! Rewriting expressions: reduction variables replaced by other expressions, and comparison of
//! expressions by what they compute.

use std::collections::HashMap;

use nbcc_base::Span;

use crate::elab::{Elab, Result};
use crate::pipeline::hir::{Node, NodeKind, RDomId};

/// What replaces a reduction variable.
pub(crate) type Replacement = HashMap<(RDomId, u32), Node>;

impl Elab<'_> {
    /// The expression with reduction variables replaced. Parts without any are shared.
    pub(crate) fn replace(&mut self, root: Node, with: &Replacement, at: Span) -> Result<Node> {
        let mut below = Vec::new();
        self.walk(&[root], at, |_, n| {
            below.push(n);
            Ok(())
        })?;
        below.sort_unstable();
        let mut new: HashMap<Node, Node> = HashMap::new();
        for n in below {
            let data = &self.hir.nodes[n];
            let copy = match data.kind {
                NodeKind::RVar(r, k) => with.get(&(r, k)).copied().unwrap_or(n),
                _ => {
                    let mut changed = false;
                    data.operands(|o| changed |= new[&o] != o);
                    if changed {
                        let copy = data.map(|o| new[&o]);
                        self.hir.nodes.push(copy)
                    } else {
                        n
                    }
                }
            };
            new.insert(n, copy);
        }
        Ok(new[&root])
    }

    /// Whether two expressions are the same, literals and structure.
    pub(crate) fn same(&mut self, a: Node, b: Node, at: Span) -> Result<bool> {
        let mut stack = vec![(a, b)];
        while let Some((a, b)) = stack.pop() {
            if a == b {
                continue;
            }
            self.work(1, at)?;
            let (x, y) = (&self.hir.nodes[a], &self.hir.nodes[b]);
            if x.ty != y.ty {
                return Ok(false);
            }
            let heads = match (&x.kind, &y.kind) {
                (NodeKind::Literal(p), NodeKind::Literal(q)) => p == q,
                (NodeKind::Var(p), NodeKind::Var(q)) => p == q,
                (NodeKind::RVar(p, i), NodeKind::RVar(q, j)) => (p, i) == (q, j),
                (NodeKind::Param(p), NodeKind::Param(q)) => p == q,
                (NodeKind::InputExtent(p, i), NodeKind::InputExtent(q, j)) => (p, i) == (q, j),
                (NodeKind::Load(p, _), NodeKind::Load(q, _)) => p == q,
                (NodeKind::Call(p, i, _), NodeKind::Call(q, j, _)) => (p, i) == (q, j),
                (NodeKind::Unary(p, _), NodeKind::Unary(q, _)) => p == q,
                (NodeKind::Binary(p, _, _), NodeKind::Binary(q, _, _)) => p == q,
                (NodeKind::Compare(p, _, _), NodeKind::Compare(q, _, _)) => p == q,
                (NodeKind::Intrinsic(p, _), NodeKind::Intrinsic(q, _)) => p == q,
                (NodeKind::Select(..), NodeKind::Select(..))
                | (NodeKind::Cast(_), NodeKind::Cast(_))
                | (NodeKind::Reinterpret(_), NodeKind::Reinterpret(_)) => true,
                _ => false,
            };
            if !heads {
                return Ok(false);
            }
            let (mut left, mut right) = (Vec::new(), Vec::new());
            x.operands(|n| left.push(n));
            y.operands(|n| right.push(n));
            if left.len() != right.len() {
                return Ok(false);
            }
            stack.extend(left.into_iter().zip(right));
        }
        Ok(true)
    }

    /// Whether a variable of the domain occurs in the expression.
    pub(crate) fn mentions(&mut self, root: Node, rdom: RDomId, at: Span) -> Result<bool> {
        let mut found = false;
        self.walk(&[root], at, |e, n| {
            found |= matches!(e.hir.nodes[n].kind, NodeKind::RVar(r, _) if r == rdom);
            Ok(())
        })?;
        Ok(found)
    }
}
