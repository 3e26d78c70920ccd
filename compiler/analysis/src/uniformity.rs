//! Values that are equal in all threads or engines that compute them together: Coutinho, Sampaio,
//! Pereira, Meira, "Divergence Analysis and Optimizations" (PACT 2011), with the joins of divergent
//! branches as `joins` finds them, and the cycles that threads leave apart as `cycles` does.
//!
//! A value diverges where its instruction makes it so (a thread's number), where an operand
//! diverges, where it is a parameter of a block at which paths from a divergent branch meet with
//! different arguments, or where threads carry it out of a loop after different numbers of
//! iterations. Threads run together from a divergent branch again at its immediate
//! post-dominator.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{
    Block, Cfg, Function, Inst, Op, Positions, SimtOp, Space, SpecialReg, Terminator, Value,
    ValueDef, cfg::successors,
};

use crate::cycles::{Cycle, Cycles};
use crate::joins::Joins;
use crate::min_tree::MinTree;
use crate::postdominators::PostDominators;

/// Which values and branches diverge. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct Uniformity {
    divergent: SecondaryMap<Value, bool>,
    branches: BTreeSet<Block>,
    steps: u64,
}

impl Uniformity {
    /// The values of a verified function. `is_source` says which instructions give each thread a
    /// result of its own, whatever their operands: a thread's number, a load from its own memory.
    /// Results of calls always count as that. `params` are the function's parameters that differ
    /// between threads.
    pub fn new(
        func: &Function,
        cfg: &Cfg,
        is_source: impl Fn(Inst) -> bool,
        params: &[Value],
    ) -> Uniformity {
        let post = PostDominators::new(func);
        let cycles = Cycles::new(func, &post);
        let users = users(func);
        let mut solver = Solver {
            func,
            cfg,
            joins: Joins::new(func, cfg, &post, &cycles),
            escapes: Escapes::new(func, &cycles, &users),
            cycles: &cycles,
            users,
            found: Uniformity {
                divergent: SecondaryMap::new(),
                branches: BTreeSet::new(),
                steps: 0,
            },
            seen: BTreeSet::new(),
            joined: SecondaryMap::new(),
            parted: BTreeSet::new(),
            work: Vec::new(),
        };
        for &param in params {
            solver.diverge(param);
        }
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                if matches!(data.op, Op::Call(..)) || is_source(inst) {
                    for &result in &data.results {
                        solver.diverge(result);
                    }
                }
            }
        }
        solver.run();
        solver.found.steps += solver.joins.steps + cycles.steps;
        solver.found
    }

    /// Whether a value is equal in all threads that compute it together.
    pub fn is_uniform(&self, value: Value) -> bool {
        !self.divergent[value]
    }

    /// The blocks whose terminator may send threads that run together to different blocks.
    pub fn divergent_branches(&self) -> impl Iterator<Item = Block> {
        self.branches.iter().copied()
    }

    /// How many uses of values and blocks were looked at: a measure of the time that does not
    /// depend on the machine.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// Whether an operation gives each thread of a warp a result of its own, whatever its operands:
/// for [`Uniformity::new`] of functions of the model `grid`. Threads that load from one address
/// together read the same, unless the memory is their own.
pub fn is_grid_source(op: &Op) -> bool {
    match op {
        Op::LoadRaw(_, space, ..) => matches!(space, Space::Local | Space::Generic),
        Op::Simt(op, _) => match op {
            SimtOp::Special(reg) => {
                !(reg.is_uniform() || matches!(reg, SpecialReg::Warpid)) || reg.is_volatile()
            }
            SimtOp::Load(access) => matches!(access.space, Space::Local | Space::Generic),
            SimtOp::Atom(_) | SimtOp::Shfl(..) | SimtOp::Match(..) | SimtOp::Vprintf => true,
            _ => false,
        },
        Op::Call(..) | Op::Intrinsic(_) => true,
        _ => false,
    }
}

/// What uses a value.
#[derive(Clone, Copy)]
pub(crate) enum User {
    Inst(Inst),
    /// The terminator of a block decides by it.
    Condition(Block),
    /// The terminator of a block gives it to a parameter.
    Argument(Block, Value),
    /// The terminator of a block returns it.
    Returned(Block),
}

/// What uses each value.
pub(crate) fn users(func: &Function) -> SecondaryMap<Value, Vec<User>> {
    let mut users: SecondaryMap<Value, Vec<User>> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(|value| users[value].push(User::Inst(inst)));
        }
        let terminator = func.terminator(block);
        if let Terminator::Branch(condition, ..) | Terminator::Switch(condition, ..) = terminator {
            users[*condition].push(User::Condition(block));
        }
        if let Terminator::Return(values) = terminator {
            values.iter().for_each(|&value| users[value].push(User::Returned(block)));
        }
        for to in terminator.successors() {
            for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                users[arg].push(User::Argument(block, param));
            }
        }
    }
    users
}

/// What threads carry out of cycles: values of blocks in a cycle that are used outside, and
/// parameters of blocks outside to which values of the cycle are given.
struct Escapes {
    /// In the order of the places of the blocks that define the values.
    values: Vec<Value>,
    places: Vec<usize>,
    /// The number of cycles around each that do not count, the outermost: those that its use is in.
    common: MinTree,
}

impl Escapes {
    fn new(func: &Function, cycles: &Cycles, users: &SecondaryMap<Value, Vec<User>>) -> Escapes {
        let positions = Positions::new(func);
        let mut all: Vec<(usize, Value, u32)> = Vec::new();
        for &home in func.layout.iter().filter(|&&block| cycles.depth_of(block) > 0) {
            let place = cycles.place(home);
            let data = &func.blocks[home];
            let results = data.insts.iter().flat_map(|&inst| &func.insts[inst].results);
            for &value in data.params.iter().chain(results) {
                let mut least = cycles.depth_of(home);
                for user in &users[value] {
                    let block = match *user {
                        User::Inst(inst) => positions.of(inst).map(|(block, _)| block),
                        User::Condition(block)
                        | User::Argument(block, _)
                        | User::Returned(block) => Some(block),
                    };
                    if let Some(block) = block {
                        least = least.min(cycles.common_depth(home, block));
                    }
                    if let User::Argument(_, param) = *user
                        && let ValueDef::Param(to, _) = func.values[param].def
                    {
                        all.push((place, param, cycles.common_depth(home, to)));
                    }
                }
                all.push((place, value, least));
            }
        }
        all.sort();
        let common: Vec<u32> = all.iter().map(|&(.., common)| common).collect();
        let (places, values) = all.into_iter().map(|(place, value, _)| (place, value)).unzip();
        Escapes { values, places, common: MinTree::new(&common) }
    }

    /// What is carried out of a cycle, but for what was asked for before.
    fn take(&mut self, cycles: &Cycles, cycle: Cycle) -> Vec<Value> {
        let blocks = cycles.places(cycle);
        let [first, end] =
            [blocks.start, blocks.end].map(|to| self.places.partition_point(|&place| place < to));
        let found = self.common.below(first..end, cycles.depth(cycle));
        found.iter().for_each(|&place| self.common.remove(place));
        found.into_iter().map(|place| self.values[place]).collect()
    }
}

struct Solver<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    joins: Joins<'a>,
    cycles: &'a Cycles,
    escapes: Escapes,
    users: SecondaryMap<Value, Vec<User>>,
    found: Uniformity,
    /// Blocks whose terminator's condition diverges.
    seen: BTreeSet<Block>,
    /// Blocks whose parameters were looked at by `join`.
    joined: SecondaryMap<Block, bool>,
    /// Reachable blocks of `seen` whose joins are to be found. The last in reverse postorder come
    /// first: what lies ahead of others is then known.
    parted: BTreeSet<(Option<u32>, Block)>,
    work: Vec<Value>,
}

impl Solver<'_> {
    fn diverge(&mut self, value: Value) {
        if !std::mem::replace(&mut self.found.divergent[value], true) {
            self.work.push(value);
        }
    }

    fn run(&mut self) {
        loop {
            while let Some(value) = self.work.pop() {
                for number in 0..self.users[value].len() {
                    self.found.steps += 1;
                    match self.users[value][number] {
                        User::Inst(inst) => {
                            for &result in &self.func.insts[inst].results {
                                self.diverge(result);
                            }
                        }
                        User::Argument(_, param) => self.diverge(param),
                        User::Condition(block) => self.branch(block),
                        User::Returned(_) => {}
                    }
                }
            }
            let Some((_, branch)) = self.parted.pop_last() else { return };
            for block in self.joins.of(branch) {
                self.join(block);
            }
            // A divergent branch comes back to itself: threads may leave that cycle after different
            // numbers of iterations, and take its values with them.
            if let Some(cycle) = self.cycles.through(branch) {
                for value in self.escapes.take(self.cycles, cycle) {
                    self.found.steps += 1;
                    self.diverge(value);
                }
            }
        }
    }

    /// Threads that run together may leave a block by different edges.
    fn branch(&mut self, branch: Block) {
        if !self.seen.insert(branch) {
            return;
        }
        let to = successors(self.func, branch);
        if to.iter().any(|&b| b != to[0]) {
            self.found.branches.insert(branch);
        }
        if self.cfg.is_reachable(branch) {
            self.parted.insert((self.cfg.position(branch), branch));
        }
    }

    /// The parameters of a block where threads meet, but for those with one argument on all ways.
    fn join(&mut self, block: Block) {
        if std::mem::replace(&mut self.joined[block], true) {
            return;
        }
        for (number, &param) in self.func.blocks[block].params.iter().enumerate() {
            let mut same = None;
            let mut differ = false;
            let mut from = self.cfg.predecessors(block).to_vec();
            from.dedup();
            for from in from {
                for to in self.func.terminator(from).successors() {
                    if to.block == block {
                        let arg = to.args[number];
                        differ |= same.is_some_and(|other| other != arg);
                        same = Some(arg);
                    }
                }
            }
            if differ {
                self.diverge(param);
            }
        }
    }
}
