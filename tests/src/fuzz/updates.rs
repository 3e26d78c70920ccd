//! Random updates.

use nbcc_stages::ElementType;

use super::generate::{Generator, Scope};
use super::model::{Node, Op, Stage, Update, VARS};

impl Generator {
    /// `new = old op e`, in the operations that an update has.
    fn combine(&mut self, own: Node, value: Node) -> Node {
        let ty = own.ty;
        match ty {
            ElementType::Bool => Node::infix(self.random.pick(&["||", "&&"]), ty, own, value),
            _ if self.random.percent(25) => {
                Node::function(self.random.pick(&["min", "max"]), ty, vec![own, value])
            }
            ElementType::F32 => Node::infix(self.random.pick(&["+", "-"]), ty, own, value),
            _ => {
                let op = self.random.pick(&["+", "+", "+", "-", "^", "|", "*"]);
                Node::infix(op, ty, own, value)
            }
        }
    }

    fn wheres(&mut self, domain: usize, scope: &Scope) {
        if self.random.percent(25) {
            let scope = Scope { own: None, reduce: false, ..scope.clone() };
            let condition = if self.random.percent(50) {
                let (a, b) = (self.variable(&scope), self.variable(&scope));
                let b = Node::infix("+", ElementType::I32, b, Node::int(1));
                Node::infix(self.random.pick(&["<", "!=", ">="]), ElementType::Bool, a, b)
            } else {
                self.condition(&scope, 1)
            };
            self.case.domains[domain].wheres.push(condition);
        }
    }

    pub(super) fn update(&mut self, stage: &Stage, extent: &[u32]) -> Update {
        let vars: Vec<Option<&'static str>> = VARS[..stage.dims].iter().map(|&v| Some(v)).collect();
        let pure: Vec<Node> = vars.iter().flatten().map(|v| Node::name(v)).collect();
        let plain = Scope { inexact: self.inexact, ..Scope::default() };
        let d = self.random.below(stage.dims);
        let n = i64::from(extent[d]);
        match self.random.below(10) {
            // A sum over a stencil.
            0..=2 => {
                let dims = (0..1 + self.random.below(2))
                    .map(|_| (self.random.between(-2, 1), self.random.between(1, 4)))
                    .collect();
                let (domain, rvars) = self.domain(dims);
                let scope = Scope { vars, rvars, ..plain };
                self.wheres(domain, &scope);
                self.finish(stage, pure, &scope, true)
            }
            // In place.
            3 => self.finish(stage, pure, &Scope { vars, ..plain }, true),
            // A row or column.
            4 => {
                let mut args = pure;
                args[d] = Node::int(self.random.between(0, n - 1));
                let mut scope = Scope { vars, ..plain };
                scope.vars[d] = None;
                let combined = self.random.percent(50);
                self.finish(stage, args, &scope, combined)
            }
            // A scan, upward or downward.
            5 | 6 => {
                let (domain, rvars) = self.domain(vec![(1, (n - 1).max(1))]);
                let r = Node::name(&format!("r{domain}.x"));
                let ty = ElementType::I32;
                let (at, before) = if self.random.percent(70) {
                    let before = Node::infix("-", ty, r.clone(), Node::int(1));
                    (r, before)
                } else {
                    let at = Node::infix("-", ty, Node::int(n - 1), r.clone());
                    let before = Node::infix("-", ty, Node::int(n), r);
                    (at, before)
                };
                let mut scope = Scope { vars, rvars, ..plain };
                scope.vars[d] = None;
                self.wheres(domain, &scope);
                let mut args = pure;
                args[d] = before;
                let owns = self.owns(stage, &args);
                args[d] = at;
                let values = owns.into_iter().map(|own| {
                    let value = self.value(own.ty, &scope, 1);
                    self.combine(own, value)
                });
                let values = values.collect();
                Update { args, values, ..Update::default() }
            }
            // A histogram, or another scatter, over a domain as large as a source.
            _ => {
                let source = self.sources[self.random.below(self.sources.len())].extent.clone();
                let dims: Vec<(i64, i64)> = source.iter().map(|&e| (0, i64::from(e))).collect();
                let dims = dims.into_iter().take(2).collect();
                let (domain, rvars) = self.domain(dims);
                let all = self.random.percent(60);
                let mut scope = Scope { vars, rvars, ..plain };
                for k in 0..stage.dims {
                    if all || k == d {
                        scope.vars[k] = None;
                    }
                }
                self.wheres(domain, &scope);
                let args = (0..stage.dims).map(|k| {
                    if scope.vars[k].is_some() {
                        return pure[k].clone();
                    }
                    let value = match self.random.below(3) {
                        0 => self.variable(&scope),
                        _ => self.value(ElementType::I32, &scope, 1),
                    };
                    let limits = [Node::int(0), Node::int(i64::from(extent[k]) - 1)];
                    let kids = std::iter::once(value).chain(limits).collect();
                    Node::function("clamp", ElementType::I32, kids)
                });
                let args: Vec<Node> = args.collect();
                let combined = self.random.percent(70);
                self.finish(stage, args, &scope, combined)
            }
        }
    }

    /// What a stage is at a place: a node for each value.
    fn owns(&self, stage: &Stage, args: &[Node]) -> Vec<Node> {
        let count = stage.types.len();
        let own = |(k, &ty): (usize, &ElementType)| Node {
            ty,
            op: Op::Read(stage.name.clone(), (count > 1).then_some(k)),
            kids: args.to_vec(),
        };
        stage.types.iter().enumerate().map(own).collect()
    }

    fn finish(&mut self, stage: &Stage, args: Vec<Node>, scope: &Scope, combined: bool) -> Update {
        let owns = self.owns(stage, &args);
        let values = owns.into_iter().map(|own| {
            let scope = Scope { own: Some(own.clone()), ..scope.clone() };
            if combined && self.random.percent(80) {
                let plain = Scope { own: None, ..scope };
                let value = self.value(own.ty, &plain, 1);
                self.combine(own, value)
            } else {
                self.value(own.ty, &scope, 2)
            }
        });
        let values = values.collect();
        Update { args, values, ..Update::default() }
    }
}
