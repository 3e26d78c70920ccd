//! Iterations that look at nothing before them stand before their loop (loop peeling: Bacon, Graham,
//! Sharp, "Compiler transformations for high-performance computing", ACM Computing Surveys, 1994,
//! section 6.2): of `o[y] = y > 0 ? o[y - 1] + x[y] : x[y]` all others know that what they load is
//! inside, so that an array may run them.

use std::collections::BTreeSet;

use nbcc_analysis::{Loop, LoopForest, icmp, sign_extend};
use nbcc_ir::{
    BinaryOp, Block, Cfg, Dominators, Function, Inst, IntCond, Mem, Op, Terminator, Value, ValueDef,
};
use nbcc_opt::{cse, dce, fold, params, ranges, simplify_cfg, unroll};

/// Operations of a loop at most: they stand twice.
const MAX_OPERATIONS: usize = 200;

/// Lets first iterations stand before their loops where that says that loads are inside.
pub fn run(func: &mut Function) -> bool {
    let mut done = BTreeSet::new();
    let mut changed = false;
    while let Some(header) = next(func, &mut done) {
        if unroll::peel(func, header) {
            params::run(func);
            for clean in [fold::run, ranges::run, fold::run, cse::run, simplify_cfg::run, dce::run]
            {
                clean(func);
            }
            params::run(func);
            changed = true;
        }
    }
    changed
}

/// The header of a loop whose first iteration does not load what others stored, as those behind it do.
fn next(func: &Function, done: &mut BTreeSet<Block>) -> Option<Block> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let mut loops = forest.loops.keys();
    loops.find_map(|l| {
        let header = forest.loops[l].header;
        let is_new = done.insert(header) && !func.blocks[header].cold;
        (is_new && begins_otherwise(func, &cfg, &forest, l)).then_some(header)
    })
}

/// What counts the iterations of a loop: what it begins with, and by what it grows.
struct Counter {
    param: Value,
    first: i64,
    step: i64,
}

fn counter(func: &Function, forest: &LoopForest, l: Loop, number: usize) -> Option<Counter> {
    let header = forest.loops[l].header;
    let param = *func.blocks[header].params.get(number)?;
    let constant =
        |value: Value| Some(sign_extend(func.ty(value).scalar, func.splat_constant(value)?));
    let (mut first, mut step) = (None, None);
    for &block in &func.layout {
        for to in func.terminator(block).successors().iter().filter(|to| to.block == header) {
            let arg = to.args[number];
            if forest.contains(l, block) {
                let Some(&Op::Binary(BinaryOp::Iadd, a, b)) = func.def_op(arg) else { return None };
                step = (a == param).then(|| constant(b))?;
            } else {
                // All ways into the loop begin with the same.
                let begin = constant(arg)?;
                if *first.get_or_insert(begin) != begin {
                    return None;
                }
            }
        }
    }
    Some(Counter { param, first: first?, step: step? })
}

/// The memory objects that instructions store to.
pub(super) fn stored_to<'a>(
    func: &Function,
    insts: impl Iterator<Item = &'a Inst>,
) -> BTreeSet<Mem> {
    let stored = insts.filter_map(|&inst| match func.insts[inst].op {
        Op::Store(mem, ..) => Some(mem),
        _ => None,
    });
    stored.collect()
}

fn begins_otherwise(func: &Function, cfg: &Cfg, forest: &LoopForest, l: Loop) -> bool {
    let blocks = forest.blocks(l);
    let insts = || blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    if insts().count() > MAX_OPERATIONS {
        return false;
    }
    let stored = stored_to(func, insts());
    // Whether a way leads to such a load only.
    let loads_stored = |block: Block| {
        let is_it = |op: &Op| matches!(op, Op::Load(_, mem, _) if stored.contains(mem));
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            if blocks.contains(&block) && cfg.predecessors(block).len() == 1 {
                if func.blocks[block].insts.iter().any(|&inst| is_it(&func.insts[inst].op)) {
                    return true;
                }
                work.extend(func.terminator(block).successors().iter().map(|to| to.block));
            }
        }
        false
    };
    let params = func.blocks[forest.loops[l].header].params.len();
    let counters: Vec<Counter> =
        (0..params).filter_map(|number| counter(func, forest, l, number)).collect();
    let header = forest.loops[l].header;
    // The loop goes on behind its first iteration.
    let goes_on = |&latch: &Block| {
        let Terminator::Branch(asked, then, _) = func.terminator(latch) else { return false };
        let Some(&Op::Icmp(cond, a, b)) = func.def_op(*asked) else { return false };
        let says = counters.iter().find_map(|counter| outcomes(func, counter, cond, a, b));
        says.is_some_and(|[first, ..]| first == (then.block == header))
    };
    let goes_on = forest.loops[l].latches.iter().all(goes_on);
    goes_on
        && blocks.iter().any(|&block| {
            let Terminator::Branch(asked, then, other) = func.terminator(block) else {
                return false;
            };
            let Some(&Op::Icmp(cond, a, b)) = func.def_op(*asked) else { return false };
            counters.iter().any(|counter| {
                let Some([first, second, third]) = outcomes(func, counter, cond, a, b) else {
                    return false;
                };
                let later = if second { then.block } else { other.block };
                first != second && second == third && loads_stored(later)
            })
        })
}

/// What a comparison with a constant says in the first three iterations.
fn outcomes(
    func: &Function,
    counter: &Counter,
    cond: IntCond,
    a: Value,
    b: Value,
) -> Option<[bool; 3]> {
    let limit = func.splat_constant(b)?;
    let scalar = func.ty(b).scalar;
    let plus = match func.values[a].def {
        ValueDef::Param(..) if a == counter.param => 0,
        _ => match *func.def_op(a)? {
            Op::Binary(BinaryOp::Iadd, word, constant) if word == counter.param => {
                sign_extend(scalar, func.splat_constant(constant)?)
            }
            _ => return None,
        },
    };
    let asks = |iteration: i64| {
        let word = counter.first.wrapping_add(counter.step.wrapping_mul(iteration));
        let bits = word.wrapping_add(plus) as u64 & (u64::MAX >> (64 - scalar.bits()));
        icmp(cond, scalar, bits, limit)
    };
    Some([0, 1, 2].map(asks))
}
