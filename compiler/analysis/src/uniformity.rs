//! Values that are equal in all threads or engines that compute them together: Coutinho, Sampaio,
//! Pereira, Meira, "Divergence Analysis and Optimizations" (PACT 2011), with the joins of divergent
//! branches found by labels as in Rosemann, Moll, Hack, "An Abstract Interpretation for SPMD
//! Divergence" (POPL 2021), section 4.
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
    cfg::successors,
};

use crate::postdominators::PostDominators;

/// Which values and branches diverge. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct Uniformity {
    divergent: SecondaryMap<Value, bool>,
    branches: BTreeSet<Block>,
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
        let mut solver = Solver {
            func,
            cfg,
            post: PostDominators::new(func),
            positions: Positions::new(func),
            users: users(func),
            found: Uniformity { divergent: SecondaryMap::new(), branches: BTreeSet::new() },
            seen: BTreeSet::new(),
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
enum User {
    Inst(Inst),
    Terminator(Block),
}

fn users(func: &Function) -> SecondaryMap<Value, Vec<User>> {
    let mut users: SecondaryMap<Value, Vec<User>> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(|value| users[value].push(User::Inst(inst)));
        }
        let terminator = func.terminator(block);
        terminator.for_each_arg(|value| users[value].push(User::Terminator(block)));
    }
    users
}

/// A label for each block that a divergent branch reaches: the arm it is reached by, or one of
/// its own where arms meet.
#[derive(Default)]
struct Labels {
    of: SecondaryMap<Block, Option<Label>>,
    joins: BTreeSet<Block>,
    /// Blocks whose label changed. They are taken in reverse postorder, so that labels are mostly
    /// final when they are handed on; one that changes later makes a join too many, never one too
    /// few.
    work: BTreeSet<(Option<u32>, Block)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Arm(usize),
    Join(Block),
}

struct Solver<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    post: PostDominators,
    positions: Positions,
    users: SecondaryMap<Value, Vec<User>>,
    found: Uniformity,
    /// Blocks whose terminator's condition diverges.
    seen: BTreeSet<Block>,
    work: Vec<Value>,
}

impl Labels {
    fn arrive(&mut self, cfg: &Cfg, block: Block, label: Label) {
        match self.of[block] {
            None => self.of[block] = Some(label),
            Some(old) if old == label || !self.joins.insert(block) => return,
            Some(_) => self.of[block] = Some(Label::Join(block)),
        }
        self.work.insert((cfg.position(block), block));
    }
}

impl Solver<'_> {
    fn diverge(&mut self, value: Value) {
        if !std::mem::replace(&mut self.found.divergent[value], true) {
            self.work.push(value);
        }
    }

    fn run(&mut self) {
        while let Some(value) = self.work.pop() {
            for number in 0..self.users[value].len() {
                match self.users[value][number] {
                    User::Inst(inst) => {
                        for &result in &self.func.insts[inst].results {
                            self.diverge(result);
                        }
                    }
                    User::Terminator(block) => self.terminator(block, value),
                }
            }
        }
    }

    /// A terminator uses a divergent value: as an argument, as its condition, or both.
    fn terminator(&mut self, block: Block, value: Value) {
        let terminator = self.func.terminator(block);
        let mut params = Vec::new();
        for to in terminator.successors() {
            let all = &self.func.blocks[to.block].params;
            let given = to.args.iter().zip(all).filter(|(arg, _)| **arg == value);
            params.extend(given.map(|(_, &param)| param));
        }
        for param in params {
            self.diverge(param);
        }
        let condition = match terminator {
            Terminator::Branch(condition, ..) | Terminator::Switch(condition, ..) => *condition,
            _ => return,
        };
        if condition == value && self.seen.insert(block) {
            let to = successors(self.func, block);
            if to.iter().any(|&b| b != to[0]) {
                self.found.branches.insert(block);
            }
            self.branch(block);
        }
    }

    /// The parameters of a block where threads meet, but for those with one argument on all ways.
    fn join(&mut self, block: Block) {
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

    /// Follows the paths from a divergent branch up to its immediate post-dominator.
    fn branch(&mut self, branch: Block) {
        let end = self.post.immediate(branch);
        let arms = successors(self.func, branch);
        let mut labels = Labels::default();
        for (arm, &block) in arms.iter().enumerate() {
            labels.arrive(self.cfg, block, Label::Arm(arm));
        }
        let goes_on = |block: Block| Some(block) != end && block != branch;
        while let Some((_, block)) = labels.work.pop_first() {
            let Some(label) = labels.of[block].filter(|_| goes_on(block)) else { continue };
            for to in successors(self.func, block) {
                labels.arrive(self.cfg, to, label);
            }
        }
        for &block in &labels.joins {
            self.join(block);
        }
        if labels.of[branch].is_some() && Some(branch) != end {
            self.leave_cycle(branch, |block| labels.of[block].is_some() && Some(block) != end);
        }
    }

    /// A divergent branch comes back to itself within its region: threads may leave that cycle
    /// after different numbers of iterations, and take its values with them.
    fn leave_cycle(&mut self, branch: Block, in_region: impl Fn(Block) -> bool) {
        let mut cycle = BTreeSet::from([branch]);
        let mut work = vec![branch];
        while let Some(block) = work.pop() {
            for &from in self.cfg.predecessors(block) {
                if in_region(from) && cycle.insert(from) {
                    work.push(from);
                }
            }
        }
        let mut found = Vec::new();
        for &block in &cycle {
            let data = &self.func.blocks[block];
            let results = data.insts.iter().flat_map(|&inst| &self.func.insts[inst].results);
            for &value in data.params.iter().chain(results) {
                let escapes = self.users[value].iter().any(|user| {
                    let block = match *user {
                        User::Inst(inst) => self.positions.of(inst).map(|(block, _)| block),
                        User::Terminator(block) => Some(block),
                    };
                    block.is_some_and(|block| !cycle.contains(&block))
                });
                if escapes {
                    found.push(value);
                }
            }
            for to in self.func.terminator(block).successors() {
                if cycle.contains(&to.block) {
                    continue;
                }
                for (&arg, &param) in to.args.iter().zip(&self.func.blocks[to.block].params) {
                    let home = self.positions.defining_block(self.func, arg);
                    if home.is_some_and(|home| cycle.contains(&home)) {
                        found.push(param);
                    }
                }
            }
        }
        for value in found {
            self.diverge(value);
        }
    }
}
