//! One vector of a stage as the control core issues it: in order, each instruction when its
//! operands are there (docs/machine-ipim.md, "The control core"). Expressions are visited in the
//! order in which `nbcc_stages::lower` writes them.

use std::collections::HashMap;

use nbcc_isa_ipim::LANES;
use nbcc_stages::{Expr, ExprKind, Func, Walker};

use super::operations::{Last, operation};
use super::times::Times;
use crate::plan::{BufferId, Nest, Plan, Spread, spread};

/// What one vector takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    /// Cycles until its last instruction issues.
    pub cycles: u64,
    /// Instructions.
    pub instructions: u64,
    /// Instructions that are the same for a row of vectors.
    pub of_row: u64,
    /// Addresses that differ by constants.
    pub offsets: u64,
    /// Constants of expressions.
    pub literals: u64,
}

/// How often an expression changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Never,
    Row,
    Vector,
}

/// A load: its read, where it begins along x, its other coordinates.
type Load = (usize, (Option<Expr>, i64), Vec<Option<Expr>>);

/// Issues the instructions of a stage.
pub struct Issue<'a> {
    plan: &'a Plan,
    times: &'a Times,
    nest: Option<&'a Nest>,
    /// The Func that is updated, and whether its values are carried in registers.
    own: Option<(Func, bool)>,
    /// The first vector's place in its group.
    x_step: u32,
    change: HashMap<Expr, Change>,
    ready: HashMap<Expr, u64>,
    /// When what was loaded of a read, from a place on, is there.
    loads: HashMap<Load, u64>,
    now: u64,
    last_bank: Option<BufferId>,
    /// What was issued.
    pub body: Body,
}

impl<'a> Issue<'a> {
    /// Starts a vector of a nest, or of a stage computed on one engine.
    pub fn new(
        plan: &'a Plan,
        times: &'a Times,
        nest: Option<&'a Nest>,
        own: Option<(Func, bool)>,
        x_step: u32,
    ) -> Issue<'a> {
        Issue {
            plan,
            times,
            nest,
            own,
            x_step,
            change: HashMap::new(),
            ready: HashMap::new(),
            loads: HashMap::new(),
            now: 0,
            last_bank: None,
            body: Body::default(),
        }
    }

    /// Issues what `roots` need; gives when the last of them is known.
    pub fn values(&mut self, walker: &mut Walker, roots: &[Expr]) -> u64 {
        let pipeline = &self.plan.pipeline;
        for expr in walker.reachable(pipeline, roots.iter().copied()) {
            let kind = &pipeline.exprs[expr].kind;
            let change = match kind {
                ExprKind::Dim(0) | ExprKind::Load(..) | ExprKind::Call(..) => Change::Vector,
                ExprKind::RVar(..) => Change::Vector,
                ExprKind::Dim(_) => Change::Row,
                _ => {
                    let mut change = Change::Never;
                    kind.each_operand(|e| change = change.max(self.change[&e]));
                    change
                }
            };
            self.change.insert(expr, change);
        }
        roots.iter().map(|&root| self.value(root)).max().unwrap_or(0)
    }

    fn value(&mut self, root: Expr) -> u64 {
        let pipeline = &self.plan.pipeline;
        let mut stack = vec![(root, false)];
        while let Some((expr, ready)) = stack.pop() {
            if self.ready.contains_key(&expr) {
                continue;
            }
            let kind = &pipeline.exprs[expr].kind;
            let leaf = matches!(kind, ExprKind::Load(..) | ExprKind::Call(..));
            if ready || leaf {
                let at = self.one(expr);
                self.ready.insert(expr, at);
            } else {
                stack.push((expr, true));
                kind.each_operand(|operand| stack.push((operand, false)));
            }
        }
        self.ready[&root]
    }

    fn one(&mut self, expr: Expr) -> u64 {
        let kind = &self.plan.pipeline.exprs[expr].kind;
        match kind {
            ExprKind::Load(..) | ExprKind::Call(..) => return self.element(expr),
            ExprKind::Literal(_) => {
                self.body.literals += 1;
                return 0;
            }
            ExprKind::Dim(0) => return self.run(3, 0, Last::Add),
            ExprKind::Dim(_) => {
                self.body.of_row += 3;
                return 0;
            }
            ExprKind::RVar(..) => return self.run(1, 0, Last::Logic),
            _ => {}
        }
        let (count, last) = operation(&self.plan.pipeline, expr);
        match self.change[&expr] {
            Change::Never => 0,
            Change::Row => {
                self.body.of_row += count;
                0
            }
            Change::Vector => {
                let mut operands = 0;
                kind.each_operand(|e| operands = operands.max(self.ready[&e]));
                self.run(count, operands, last)
            }
        }
    }

    /// Issues `count` instructions, each of which needs the one before and the first `operands`.
    /// Gives when the result is known.
    pub fn run(&mut self, count: u64, operands: u64, last: Last) -> u64 {
        if count == 0 {
            return operands;
        }
        let t = self.times;
        // Expansions mix bitwise operations with few others, and some do not wait for another.
        let between = (count - 1) * (t.logic + t.add) / 2;
        let start = self.now.max(operands);
        self.now = start + between + 1;
        self.body.instructions += count;
        self.now - 1
            + match last {
                Last::Logic => t.logic,
                Last::Add => t.add,
                Last::Mul => t.mul,
            }
    }

    /// An address and an access that takes `latency`; gives when its result is known.
    fn access(&mut self, latency: u64) -> u64 {
        self.body.offsets += 1;
        self.body.instructions += 2;
        // The access waits for its address.
        self.now += self.times.address + 1;
        self.now - 1 + latency
    }

    /// An access to a bank: one that goes to another row than the last waits for it.
    pub fn bank(&mut self, buffer: BufferId, latency: u64) -> u64 {
        let again = self.last_bank.replace(buffer);
        let switched = again.is_some_and(|last| last != buffer && self.apart(last, buffer));
        let extra = if switched { self.times.row } else { 0 };
        self.access(latency + extra)
    }

    /// Whether two buffers lie in different rows of a bank.
    fn apart(&self, a: BufferId, b: BufferId) -> bool {
        let row = |id: BufferId| self.plan.buffers[id].base / 2048;
        row(a) != row(b)
    }

    fn element(&mut self, expr: Expr) -> u64 {
        let (args, own) = match &self.plan.pipeline.exprs[expr].kind {
            ExprKind::Load(_, args) => (args, None),
            ExprKind::Call(func, _, args) => (args, self.own.filter(|(own, _)| own == func)),
            _ => return 0,
        };
        let Some(nest) = self.nest else { return self.scalar(args) };
        if let Some((func, carried)) = own {
            if carried {
                return 0;
            }
            return self.bank(self.plan.funcs[func][0], self.times.bank);
        }
        let Some(&number) = nest.read_of.get(&expr) else {
            let index = args.iter().map(|&arg| self.value(arg)).max().unwrap_or(0);
            let index = self.run(2 * args.len() as u64 + 2, index, Last::Logic);
            let spread = spread(&self.plan.pipeline, &self.plan.forms, args);
            if nest.copy_of.get(&expr).is_some_and(|id| nest.tables.contains_key(id)) {
                return self.look_up(index, spread);
            }
            let accesses = match spread {
                Spread::Anywhere => LANES as u64,
                Spread::Same | Spread::Consecutive => 1,
            };
            return self.lanes(index, accesses, self.times.bank + self.times.pgsm);
        };
        let read = &nest.reads[number];
        if read.patched {
            let index = args.iter().map(|&arg| self.value(arg)).max().unwrap_or(0);
            let index = self.run(2 * args.len() as u64 + 1, index, Last::Logic);
            let pitch = read.window.as_ref().map_or(0, |window| window.pitch);
            return match self.plan.lanes_apart(expr, pitch) {
                Some(0 | 1) => self.look_up(index, Spread::Consecutive),
                // The lanes' addresses differ by constants.
                Some(_) => self.look_up(index, Spread::Consecutive) + 2 * (LANES as u64 - 1),
                None => self.look_up(index, Spread::Anywhere),
            };
        }
        let places = read.places(args);
        let planes = places.iter().enumerate().skip(2);
        let planes = planes.filter_map(|(place, &arg)| Some((read.dimension(place)?, arg?)));
        let computed = planes.filter(|&(k, arg)| self.plan.inner(read.source, k, arg).is_none());
        let computed: Vec<Expr> = computed.map(|(_, arg)| arg).collect();
        if !computed.is_empty() {
            let index = computed.into_iter().map(|arg| self.value(arg)).max().unwrap_or(0);
            let index = self.run(4, index, Last::Logic);
            let latency = if read.window.is_some() { self.times.pgsm } else { self.times.bank };
            return self.lanes(index, LANES as u64, latency);
        }
        let mut ready = 0;
        for (k, begin) in self.begins(places[0]).into_iter().enumerate() {
            let key = (number, begin, places[1..].to_vec());
            let loaded = match self.loads.get(&key) {
                Some(&loaded) => loaded,
                None => match read.window {
                    Some(_) => self.access(self.times.pgsm),
                    None => self.bank(read.buffer, self.times.bank),
                },
            };
            self.loads.insert(key, loaded);
            ready = if k > 0 { self.run(1, ready.max(loaded), Last::Logic) } else { loaded };
        }
        ready
    }

    /// Where loads begin that put the elements of a vector in place. Equal ones are one load.
    fn begins(&self, first: Option<Expr>) -> Vec<(Option<Expr>, i64)> {
        let index = first.and_then(|arg| self.plan.forms.tiled(&self.plan.pipeline, arg, 0));
        let Some(index) = index else { return vec![(first, 0)] };
        let moving = first.filter(|_| !index.others.is_empty());
        let start = i64::from(self.x_step) * LANES as i64;
        let lanes = [0, 1, 2, 3].map(|l| index.own.at(start + l));
        if lanes.iter().all(|&l| l == lanes[0]) {
            return vec![(moving, lanes[0])];
        }
        let mut begins: Vec<i64> = (0..).zip(lanes).map(|(l, o)| o - l).collect();
        begins.sort_unstable();
        begins.dedup();
        begins.into_iter().map(|begin| (moving, begin)).collect()
    }

    /// Elements at places that lanes give.
    fn lanes(&mut self, index: u64, count: u64, latency: u64) -> u64 {
        let mut ready = index;
        for _ in 0..count {
            // The lane goes to AddrRF through the scratchpad, and becomes an address.
            let lane = self.run(2, index, Last::Logic) + self.times.pgsm + self.times.transfer;
            let address = self.run(3, lane, Last::Add);
            let loaded = self.run(2, address, Last::Logic) + latency;
            ready = self.run(1, loaded, Last::Logic);
        }
        ready
    }

    /// Elements of a table: a lane that becomes an address for each, or one load.
    fn look_up(&mut self, index: u64, spread: Spread) -> u64 {
        let mut ready = index;
        if spread != Spread::Anywhere {
            let address = self.run(1, index, Last::Add);
            return self.run(1, address, Last::Logic) + self.times.pgsm;
        }
        for _ in 0..LANES {
            let lane = self.run(2, index, Last::Logic) + self.times.pgsm + self.times.transfer;
            let address = self.run(1, lane, Last::Add);
            let loaded = self.run(1, address, Last::Logic) + self.times.pgsm;
            ready = self.run(1, loaded, Last::Logic);
        }
        ready
    }

    /// An element that one engine reads by itself.
    fn scalar(&mut self, args: &[Expr]) -> u64 {
        let index = args.iter().map(|&arg| self.value(arg)).max().unwrap_or(0);
        let address = self.run(2 * args.len() as u64 + 3, index, Last::Add);
        let loaded = self.run(3, address, Last::Logic) + self.times.bank;
        self.run(1, loaded, Last::Logic) + self.times.pgsm
    }

    /// Stores a value that is known at `ready` to a bank.
    pub fn store(&mut self, buffer: BufferId, ready: u64) {
        let again = self.last_bank.replace(buffer);
        let switched = again.is_some_and(|last| last != buffer && self.apart(last, buffer));
        self.body.offsets += 1;
        self.body.instructions += 2;
        self.now = (self.now + self.times.address).max(ready) + 1;
        // What follows waits for the row that was read before.
        if switched {
            self.now += self.times.row;
        }
    }

    /// What was issued.
    pub fn end(mut self) -> Body {
        self.body.cycles = self.now;
        self.body
    }
}
