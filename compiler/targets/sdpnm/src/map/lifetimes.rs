//! Times of operations under which values live shortest: minimise the sum over values of weight times
//! lifetime, subject to the dependences (Ning and Gao, "A novel framework of register allocation for
//! software pipelining", POPL 1993). It is the dual of a network flow and is solved by the network
//! simplex method as layered drawing uses it (Gansner, Koutsofios, North and Vo, "A technique for
//! drawing directed graphs", 1993, section 2.3).

use super::budget::Budget;
use super::dfg::Dfg;
use super::random::Random;

/// `time[to] >= time[from] + least`.
#[derive(Clone, Copy, Debug)]
struct Constraint {
    from: usize,
    to: usize,
    least: i64,
}

/// What times must fulfil, and what they are chosen by.
pub struct Lifetimes<'a> {
    /// The operations.
    pub dfg: &'a Dfg,
    /// The initiation interval.
    pub ii: i64,
    /// For each edge, the least number of cycles from producer to consumer.
    pub least: &'a [i64],
    /// For each operation, what a cycle of its value's life costs.
    pub weight: &'a [i64],
    /// When to give up.
    pub budget: &'a Budget,
}

const NONE: usize = usize::MAX;

impl Lifetimes<'_> {
    /// Times that fulfil all dependences, and whether none cost less: the method ends early where it
    /// goes around in circles. `None` where there are no such times, or time is over. Which of several best ones
    /// `random` decides.
    pub fn solve(&self, random: &mut Random) -> Option<(Vec<i64>, bool)> {
        let simplex = Simplex::new(self, random)?;
        simplex.run(self.budget, random)
    }

    /// The dependences, and for each value a variable for its last read, numbered after the
    /// operations. A value that only its own producer reads has none: its life is given.
    fn constraints(&self) -> Vec<Constraint> {
        let n = self.dfg.len();
        let mut all = Vec::new();
        for (number, e) in self.dfg.edges.iter().enumerate() {
            if e.from == e.to {
                continue;
            }
            let at = e.distance * self.ii;
            all.push(Constraint { from: e.from, to: e.to, least: self.least[number] - at });
            all.push(Constraint { from: e.to, to: n + e.from, least: at });
        }
        for o in self.dfg.orders.iter().filter(|o| o.from != o.to) {
            all.push(Constraint { from: o.from, to: o.to, least: 1 - o.distance * self.ii });
        }
        all
    }
}

/// The state of the method: a feasible solution and a spanning forest of tight constraints.
struct Simplex {
    constraints: Vec<Constraint>,
    /// For each variable, the constraints that touch it.
    touching: Vec<Vec<usize>>,
    /// What the objective gains when a variable grows by one.
    cost: Vec<i64>,
    time: Vec<i64>,
    operations: usize,
    /// The constraint that ties a variable to its parent in the forest; `NONE` for roots.
    tie: Vec<usize>,
    /// Variables, parents before children.
    order: Vec<usize>,
}

impl Simplex {
    fn new(problem: &Lifetimes<'_>, random: &mut Random) -> Option<Simplex> {
        let operations = problem.dfg.len();
        let constraints = problem.constraints();
        let variables = 2 * operations;
        let mut touching = vec![Vec::new(); variables];
        let mut cost = vec![0; variables];
        for (number, c) in constraints.iter().enumerate() {
            touching[c.from].push(number);
            touching[c.to].push(number);
        }
        for op in 0..operations {
            if !touching[operations + op].is_empty() {
                cost[operations + op] += problem.weight[op];
                cost[op] -= problem.weight[op];
            }
        }
        let time = earliest(variables, &constraints)?;
        let mut simplex = Simplex {
            constraints,
            touching,
            cost,
            time,
            operations,
            tie: vec![NONE; variables],
            order: Vec::new(),
        };
        simplex.span(problem.budget, random).then_some(simplex)
    }

    fn slack(&self, constraint: usize) -> i64 {
        let c = &self.constraints[constraint];
        self.time[c.to] - self.time[c.from] - c.least
    }

    /// Makes constraints tight until they span each component. False where time is over.
    fn span(&mut self, budget: &Budget, random: &mut Random) -> bool {
        let variables = self.time.len();
        let mut inside = vec![false; variables];
        let first = random.below(variables.max(1));
        for root in (0..variables).map(|v| (v + first) % variables) {
            if inside[root] {
                continue;
            }
            let begin = self.order.len();
            inside[root] = true;
            self.order.push(root);
            loop {
                if budget.is_over() {
                    return false;
                }
                self.grow(begin, &mut inside);
                // The closest variable outside is pulled in with everything inside.
                let crossing = self.order[begin..].iter().flat_map(|&v| &self.touching[v]).copied();
                let closest = crossing
                    .filter(|&c| {
                        let c = &self.constraints[c];
                        inside[c.from] != inside[c.to]
                    })
                    .min_by_key(|&c| (self.slack(c), c));
                let Some(closest) = closest else { break };
                let slack = self.slack(closest);
                let shift = if inside[self.constraints[closest].from] { slack } else { -slack };
                for position in begin..self.order.len() {
                    let v = self.order[position];
                    self.time[v] += shift;
                }
            }
        }
        true
    }

    /// Adds everything that tight constraints join to the tree that begins at `begin`.
    fn grow(&mut self, begin: usize, inside: &mut [bool]) {
        let mut position = begin;
        while position < self.order.len() {
            let v = self.order[position];
            position += 1;
            for t in 0..self.touching[v].len() {
                let number = self.touching[v][t];
                let c = self.constraints[number];
                let other = if c.from == v { c.to } else { c.from };
                if !inside[other] && self.slack(number) == 0 {
                    inside[other] = true;
                    self.tie[other] = number;
                    self.order.push(other);
                }
            }
        }
    }

    fn parent(&self, v: usize) -> Option<usize> {
        let c = self.constraints.get(self.tie[v])?;
        Some(if c.from == v { c.to } else { c.from })
    }

    /// Exchanges constraints of the forest until no exchange pays. `None` where time is over.
    fn run(mut self, budget: &Budget, random: &mut Random) -> Option<(Vec<i64>, bool)> {
        let variables = self.time.len();
        // A bound against cycling among solutions of the same cost; the times are feasible
        // whenever it ends.
        let mut is_best = false;
        for _ in 0..20 * variables + 100 {
            if budget.is_over() {
                return None;
            }
            let Some(leaving) = self.leaving(random) else {
                is_best = true;
                break;
            };
            if !self.exchange(leaving) {
                break;
            }
        }
        self.time.truncate(self.operations);
        let first = self.time.iter().copied().min().unwrap_or(0);
        Some((self.time.iter().map(|t| t - first).collect(), is_best))
    }

    /// A variable whose tie to its parent should break: moving its subtree away from the parent
    /// lowers the cost.
    fn leaving(&self, random: &mut Random) -> Option<usize> {
        let mut sum = self.cost.clone();
        let mut best: Option<usize> = None;
        let mut count = 0;
        for &v in self.order.iter().rev() {
            let Some(parent) = self.parent(v) else { continue };
            let below = sum[v];
            sum[parent] += below;
            // The flow of a tie is the cost on the side of its `to` end.
            let flow = if self.constraints[self.tie[v]].to == v { below } else { -below };
            if flow < 0 {
                count += 1;
                if random.below(count) == 0 {
                    best = Some(v);
                }
            }
        }
        best
    }

    /// Moves the subtree of `root` away from its parent until another constraint is tight, which
    /// becomes its tie. False where nothing stops it.
    fn exchange(&mut self, root: usize) -> bool {
        let mut below = vec![false; self.time.len()];
        below[root] = true;
        for &v in &self.order {
            if let Some(parent) = self.parent(v)
                && below[parent]
            {
                below[v] = true;
            }
        }
        let later = self.constraints[self.tie[root]].to == root;
        let stops = |c: &Constraint| {
            let (ahead, behind) = if later { (c.to, c.from) } else { (c.from, c.to) };
            below[behind] && !below[ahead]
        };
        let entering = (0..self.constraints.len())
            .filter(|&c| stops(&self.constraints[c]))
            .min_by_key(|&c| self.slack(c));
        let Some(entering) = entering else { return false };
        let slack = self.slack(entering);
        let shift = if later { slack } else { -slack };
        for (v, _) in below.iter().enumerate().filter(|&(_, is_below)| *is_below) {
            self.time[v] += shift;
        }
        // The subtree hangs by the entering constraint now: ties on the way from there to the old
        // root turn around.
        let c = self.constraints[entering];
        let mut v = if below[c.from] { c.from } else { c.to };
        let mut tie = entering;
        loop {
            let parent = self.parent(v);
            let old = std::mem::replace(&mut self.tie[v], tie);
            if v == root {
                break;
            }
            tie = old;
            v = parent.expect("a way to the root of the subtree");
        }
        self.reorder();
        true
    }

    /// Puts parents before children again.
    fn reorder(&mut self) {
        let mut children = vec![Vec::new(); self.time.len()];
        let mut order = Vec::with_capacity(self.time.len());
        for v in 0..self.time.len() {
            match self.parent(v) {
                Some(parent) => children[parent].push(v),
                None => order.push(v),
            }
        }
        let mut position = 0;
        while position < order.len() {
            order.extend(&children[order[position]]);
            position += 1;
        }
        self.order = order;
    }
}

/// The earliest times at or after 0, by Bellman and Ford's algorithm. `None` where the constraints
/// contradict each other.
fn earliest(variables: usize, constraints: &[Constraint]) -> Option<Vec<i64>> {
    let mut time = vec![0i64; variables];
    for _ in 0..=variables {
        let mut changed = false;
        for c in constraints {
            let earliest = time[c.from] + c.least;
            if earliest > time[c.to] {
                time[c.to] = earliest;
                changed = true;
            }
        }
        if !changed {
            return Some(time);
        }
    }
    None
}
