//! Common subexpression elimination over the dominator tree (Briggs, Cooper, Simpson, "Value
//! Numbering", SPE 1997, section 3.3). Loads and reading intrinsics are shared within a block,
//! while nothing in between may write what they read; so is what a sequential function stores and loads
//! again. What such a function never writes is shared like what is computed, and what it has read in a
//! block is known in those that are only reached from there.

use cranelift_entity::SecondaryMap;
use foldhash::{HashMap, HashMapExt};
use nbcc_ir::{
    BinaryOp, Block, Cfg, Dominators, Effect, ExecutionModel, Function, Inst, Mem, Op,
    Replacements, Space, Storage, Value, cfg::successors,
};

/// Replaces an instruction by an equal one that runs before it.
pub fn run(func: &mut Function) -> bool {
    run_where(func, |_, _| true)
}

/// The same for those of which `only` holds.
pub fn run_where(func: &mut Function, only: impl Fn(&Function, Inst) -> bool) -> bool {
    let dominators = Dominators::new(func);
    let blocks: Vec<Block> = dominators.preorder().collect();
    // The results of equal operations. Behind the subtree of a block its entries are never of use
    // again: they are on top then, and go when they are met.
    let mut known: HashMap<Op, Vec<(Value, Block)>> = HashMap::new();
    let mut replacements = Replacements::new();
    let is_written = written(func);
    let cfg = Cfg::new(func);
    let mut ends: SecondaryMap<Block, Option<Reads>> = SecondaryMap::new();
    for block in blocks {
        let mut insts = std::mem::take(&mut func.blocks[block].insts);
        let mut reads = match cfg.predecessors(block) {
            &[before] => ends[before].clone().unwrap_or_default(),
            _ => Reads::default(),
        };
        insts.retain(|&inst| {
            func.insts[inst].op.for_each_arg_mut(|v| *v = replacements.resolve(*v));
            let op = &func.insts[inst].op;
            let single = func.insts[inst].results.len() == 1 && only(func, inst);
            let Some(value) = func.result(inst).filter(|_| single) else {
                reads.pass(func, op);
                if let Op::Store(mem, subscripts, value) = op
                    && func.model == ExecutionModel::Sequential
                    && !func.ty(*value).is_vector()
                {
                    let load = Op::Load(func.ty(*value), *mem, subscripts.clone());
                    reads.find(load, *value);
                }
                return true;
            };
            let key = canonical(op);
            let equal = if is_pure(func, op, &is_written) {
                let entries = known.entry(key).or_default();
                while entries.last().is_some_and(|&(_, b)| !dominators.dominates(b, block)) {
                    entries.pop();
                }
                let equal = entries.last().map(|&(value, _)| value);
                if equal.is_none() {
                    entries.push((value, block));
                }
                equal
            } else if op.effect() == Effect::Read {
                reads.find(key, value)
            } else {
                reads.pass(func, op);
                None
            };
            if let Some(equal) = equal {
                replacements.replace(value, equal);
            }
            equal.is_none()
        });
        func.blocks[block].insts = insts;
        let leads = |to: &Block| matches!(cfg.predecessors(*to), &[before] if before == block);
        let is_kept = func.model == ExecutionModel::Sequential && reads.known.len() <= MOST_READS;
        if is_kept && successors(func, block).iter().any(leads) {
            ends[block] = Some(reads);
        }
    }
    replacements.apply(func);
    !replacements.is_empty()
}

/// Whether an operation gives the same result wherever it runs with the same operands. A division
/// that would trap has done so when it runs for the second time.
fn is_pure(func: &Function, op: &Op, is_written: &SecondaryMap<Mem, bool>) -> bool {
    match op {
        Op::Binary(..) => true,
        Op::Load(_, mem, _) => {
            matches!(func.mems[*mem].space, Space::Param | Space::Const) || !is_written[*mem]
        }
        Op::LoadRaw(_, space, ..) => matches!(space, Space::Param | Space::Const),
        _ => op.effect() == Effect::Pure,
    }
}

/// The memory objects that anything may write while the function runs.
fn written(func: &Function) -> SecondaryMap<Mem, bool> {
    let unknown = || SecondaryMap::with_default(true);
    if func.model != ExecutionModel::Sequential {
        return unknown();
    }
    let mut is_written = SecondaryMap::new();
    for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
        match &func.insts[inst].op {
            Op::Store(mem, ..) => is_written[*mem] = true,
            Op::Binary(..) => {}
            op if op.effect() == Effect::Write => return unknown(),
            _ => {}
        }
    }
    // An object may have several names.
    let storage = |mem: Mem| func.mems[mem].storage;
    let stored: Vec<Mem> = func.mems.keys().filter(|&mem| is_written[mem]).collect();
    for mem in func.mems.keys() {
        let is_named = |&other: &Mem| {
            storage(other) == storage(mem) && matches!(storage(mem), Storage::Object(_))
        };
        is_written[mem] |= stored.iter().any(is_named);
    }
    is_written
}

/// The operation with operands that may change places in order.
fn canonical(op: &Op) -> Op {
    match op {
        Op::Binary(op, a, b) if op.is_commutative() && b < a => Op::Binary(*op, *b, *a),
        Op::Icmp(cond, a, b) if b < a => Op::Icmp(cond.swapped(), *b, *a),
        Op::Fcmp(cond, a, b) if b < a => Op::Fcmp(cond.swapped(), *b, *a),
        Op::Fma(a, b, c) if b < a => Op::Fma(*b, *a, *c),
        Op::MulAdd(a, b, c) if b < a => Op::MulAdd(*b, *a, *c),
        _ => op.clone(),
    }
}

/// What is known at most behind a block that others are only reached from.
const MOST_READS: usize = 64;

/// What was read in a block, with how often its memory had been written by then.
#[derive(Clone, Default)]
struct Reads {
    known: HashMap<Op, (Value, [u32; 3])>,
    /// Writes to each memory object, to raw memory, by anything that may write all, and in total.
    objects: SecondaryMap<Mem, u32>,
    raw: u32,
    all: u32,
    total: u32,
}

impl Reads {
    fn version(&self, op: &Op) -> [u32; 3] {
        match op {
            Op::Load(_, mem, _) => [self.all, self.objects[*mem], 0],
            Op::LoadRaw(..) => [self.all, 0, self.raw],
            _ => [self.total; 3],
        }
    }

    fn find(&mut self, key: Op, value: Value) -> Option<Value> {
        let version = self.version(&key);
        match self.known.get(&key) {
            Some(&(equal, at)) if at == version => Some(equal),
            _ => {
                self.known.insert(key, (value, version));
                None
            }
        }
    }

    /// Notes what an instruction writes.
    fn pass(&mut self, func: &Function, op: &Op) {
        let counter = match op {
            Op::Store(mem, ..) => {
                // An object may have several names.
                let storage = func.mems[*mem].storage;
                if matches!(storage, Storage::Object(_)) {
                    let is_same =
                        |other: &Mem| other != mem && func.mems[*other].storage == storage;
                    for other in func.mems.keys().filter(is_same) {
                        self.objects[other] += 1;
                    }
                }
                &mut self.objects[*mem]
            }
            Op::StoreRaw(..) => &mut self.raw,
            Op::Binary(BinaryOp::Sdiv | BinaryOp::Udiv | BinaryOp::Srem | BinaryOp::Urem, ..) => {
                return;
            }
            _ if op.effect() == Effect::Write => &mut self.all,
            _ => return,
        };
        *counter += 1;
        self.total += 1;
    }
}
