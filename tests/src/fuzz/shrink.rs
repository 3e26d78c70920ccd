//! Cuts a failing case down: one step after another, kept where the case still fails in the same
//! way, until no step helps or the budget of runs is used up.

use super::model::{Body, Case, Node, Op, Schedule};

/// Shrinks a case for which `fails` holds; calls it `budget` times at most.
pub fn shrink(case: Case, budget: usize, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut this = Shrinker { best: case, left: budget, fails };
    loop {
        let before = this.best.clone();
        this.stages();
        this.schedules();
        this.sizes();
        this.nodes();
        this.updates();
        if this.best == before || this.left == 0 {
            return this.best;
        }
    }
}

struct Shrinker<'a> {
    best: Case,
    left: usize,
    fails: &'a mut dyn FnMut(&Case) -> bool,
}

impl Shrinker<'_> {
    /// Keeps what `edit` makes of the best case where that still fails.
    fn attempt(&mut self, edit: &dyn Fn(&mut Case)) -> bool {
        let mut case = self.best.clone();
        edit(&mut case);
        case.drop_unused();
        if self.left == 0 || case == self.best || case.stages.is_empty() {
            return false;
        }
        self.left -= 1;
        let kept = (self.fails)(&case);
        if kept {
            self.best = case;
        }
        kept
    }

    /// Fewer outputs, an earlier stage as the only one.
    fn stages(&mut self) {
        self.attempt(&|case| case.machine = "ipim-vault");
        if self.best.stages.iter().filter(|s| s.output.is_some()).count() > 1 {
            for k in 0..self.best.stages.len() {
                self.attempt(&|case| {
                    if let Some(stage) = case.stages.get_mut(k) {
                        stage.output = None;
                    }
                });
            }
        }
        for k in 0..self.best.stages.len() {
            self.attempt(&|case| {
                let Some(stage) = case.stages.get(k) else { return };
                let (dims, single) = (stage.dims, stage.types.len() == 1);
                if !single || !matches!(stage.body, Body::Values(_)) {
                    return;
                }
                let last = case.stages.last().and_then(|s| s.output.clone()).unwrap_or_default();
                let mut bounds = last;
                bounds.resize(dims, (0, 4));
                case.stages.iter_mut().for_each(|s| s.output = None);
                case.stages[k].output = Some(bounds);
            });
        }
    }

    fn schedules(&mut self) {
        for k in 0..self.best.stages.len() {
            let at = |case: &mut Case, edit: &dyn Fn(&mut Schedule)| {
                if let Some(stage) = case.stages.get_mut(k) {
                    edit(&mut stage.schedule);
                }
            };
            self.attempt(&|case| at(case, &|s| *s = Schedule::default()));
            self.attempt(&|case| at(case, &|s| s.tile = None));
            self.attempt(&|case| at(case, &|s| s.pgsm = false));
            self.attempt(&|case| at(case, &|s| s.vector = false));
            self.attempt(&|case| at(case, &|s| s.at = None));
            for n in (0..8).rev() {
                self.attempt(&|case| {
                    at(case, &|s| {
                        if n < s.loops.len() {
                            s.loops.remove(n);
                        }
                    });
                });
                self.attempt(&|case| {
                    if let Some(update) = case.stages.get_mut(k).and_then(|s| s.updates.get_mut(n))
                    {
                        update.directives.clear();
                    }
                });
                self.attempt(&|case| {
                    if let Some(update) = case.stages.get_mut(k).and_then(|s| s.updates.get_mut(n))
                    {
                        update.rfactor = None;
                    }
                });
            }
            for size in [8, 4, 1] {
                for d in 0..2 {
                    self.attempt(&|case| {
                        at(case, &|s| {
                            if let Some(tile) = &mut s.tile {
                                tile[d] = size;
                            }
                        });
                    });
                }
            }
        }
    }

    fn sizes(&mut self) {
        let smaller = |n: i64| [1, n / 2, n - 1].into_iter().filter(move |&m| m >= 1 && m < n);
        for k in 0..self.best.stages.len() {
            for d in 0..4 {
                loop {
                    let now =
                        self.best.stages.get(k).and_then(|s| s.output.as_ref()?.get(d).copied());
                    let Some((min, extent)) = now else { break };
                    let set = |to: (i64, i64)| {
                        move |case: &mut Case| {
                            if let Some(bounds) =
                                case.stages.get_mut(k).and_then(|s| s.output.as_mut())
                            {
                                bounds[d] = to;
                            }
                        }
                    };
                    if min != 0 {
                        self.attempt(&set((0, extent)));
                    }
                    if !smaller(extent).any(|n| self.attempt(&set((min, n)))) {
                        break;
                    }
                }
            }
        }
        for k in 0..self.best.inputs.len() {
            for d in 0..4 {
                loop {
                    let now = self.best.inputs.get(k).and_then(|i| i.extent.get(d).copied());
                    let Some(extent) = now else { break };
                    let cut = |n: i64| {
                        move |case: &mut Case| {
                            if let Some(input) = case.inputs.get_mut(k) {
                                input.extent[d] = n as u32;
                            }
                        }
                    };
                    if !smaller(extent.into()).any(|n| self.attempt(&cut(n))) {
                        break;
                    }
                }
            }
        }
        for k in 0..self.best.domains.len() {
            for d in 0..self.best.domains[k].dims.len() {
                loop {
                    let (_, extent) = self.best.domains[k].dims[d];
                    let cut = |n: i64| move |case: &mut Case| case.domains[k].dims[d].1 = n;
                    if !smaller(extent).any(|n| self.attempt(&cut(n))) {
                        break;
                    }
                }
            }
        }
    }

    fn updates(&mut self) {
        for k in 0..self.best.stages.len() {
            let mut u = self.best.stages.get(k).map_or(0, |s| s.updates.len());
            while u > 0 {
                u -= 1;
                self.attempt(&|case| {
                    if let Some(stage) = case.stages.get_mut(k)
                        && u < stage.updates.len()
                    {
                        stage.updates.remove(u);
                    }
                });
            }
        }
        for k in 0..self.best.domains.len() {
            self.attempt(&|case| case.domains[k].wheres.clear());
        }
    }

    /// Each expression becomes a literal or one of its operands.
    fn nodes(&mut self) {
        let mut k = 0;
        loop {
            let mut found = None;
            with_node(&mut self.best.clone(), k, &mut |node| found = Some(node.clone()));
            let Some(node) = found else { return };
            let mut kept = false;
            for small in simpler(&node) {
                kept = kept
                    || self.attempt(&|case| {
                        with_node(case, k, &mut |node| *node = small.clone());
                    });
            }
            if !kept {
                k += 1;
            }
        }
    }
}

/// Calls `visit` for node number `k`.
fn with_node(case: &mut Case, k: usize, visit: &mut dyn FnMut(&mut Node)) {
    // Counting goes on below a node that was replaced, which does no harm: nothing matches again.
    let mut count = 0;
    case.each_node_mut(&mut |node| {
        if count == k {
            visit(node);
        }
        count += 1;
    });
}

/// Simpler expressions of the same type.
fn simpler(node: &Node) -> Vec<Node> {
    if matches!(node.op, Op::Literal(0 | 1)) {
        return vec![];
    }
    let ty = node.ty;
    let mut list = vec![Node::leaf(ty, Op::Literal(1))];
    if let Op::Literal(_) = node.op {
        return list;
    }
    list.push(Node::leaf(ty, Op::Literal(0)));
    if let Op::Name(_) = node.op {
        return list;
    }
    for kid in &node.kids {
        if kid.ty == ty {
            list.push(kid.clone());
        }
        // Through a conversion to the operand of an operand.
        list.extend(kid.kids.iter().filter(|grandkid| grandkid.ty == ty).cloned());
    }
    list
}
