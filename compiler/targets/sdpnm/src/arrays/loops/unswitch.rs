//! Loops that choose in each iteration between objects, by what they do not change: as a pointer that is of one array
//! in the first round of an outer loop and of another one later, or is exchanged with another pointer after each. Such
//! a loop stands once for each choice, and what is before it decides (loop unswitching: Allen and Cocke, "A catalogue
//! of optimizing transformations", 1972).

use nbcc_analysis::LoopForest;
use nbcc_ir::{Block, Cfg, Dominators, Function, Op, Terminator, Value, ValueDef};
use nbcc_opt::choices::{self, compared};
use nbcc_opt::{cse, dce, fold, params, simplify_cfg, unreachable};

use super::divisors::twice;
use super::merge::enter_by_jump;
use crate::arrays::facts::shape::Shape;

/// Instructions of a loop at most: they stand twice.
const MAX_INSTRUCTIONS: usize = 300;

/// Loops that are made at most.
const MOST_LOOPS: usize = 12;

/// Takes choices out of loops, the outermost loops first; whether there were some.
pub fn run(func: &mut Function) -> bool {
    let mut refused = Vec::new();
    let mut count = 0;
    while count < MOST_LOOPS
        && let Some((header, cond)) = next(func, &refused)
    {
        enter_by_jump(func, header);
        match apart(func, header, cond) {
            Some(()) => count += 1,
            None => refused.push(header),
        }
    }
    count > 0
}

/// A loop, and what it asks.
fn next(func: &Function, refused: &[Block]) -> Option<(Block, Value)> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let mut loops: Vec<_> = forest.loops.keys().collect();
    loops.sort_by_key(|&l| forest.loops[l].depth);
    loops.into_iter().find_map(|l| {
        let (header, blocks) = (forest.loops[l].header, forest.blocks(l));
        let size: usize = blocks.iter().map(|&block| func.blocks[block].insts.len()).sum();
        if func.blocks[header].cold || refused.contains(&header) || size > MAX_INSTRUCTIONS {
            return None;
        }
        // Whether what a branch leads to accesses memory, or is another such question.
        let chooses = |block: Block| {
            let is_access = |op: &Op| matches!(op, Op::Load(..) | Op::Store(..));
            let mut insts = func.blocks[block].insts.iter();
            cfg.predecessors(block).len() == 1 && insts.any(|&inst| is_access(&func.insts[inst].op))
        };
        let is_before = |value: Value| match func.values[value].def {
            ValueDef::Param(block, _) => !forest.contains(l, block),
            ValueDef::Result(inst, _) => {
                !blocks.iter().any(|&block| func.blocks[block].insts.contains(&inst))
            }
        };
        let asked = blocks.iter().find_map(|&block| match func.terminator(block) {
            Terminator::Branch(cond, then, other)
                if then.block != other.block
                    && (chooses(then.block) || chooses(other.block))
                    && is_before(*cond) =>
            {
                compared(func, *cond).filter(|of| is_number(func, of.0)).map(|_| *cond)
            }
            _ => None,
        });
        asked.map(|cond| (header, cond))
    })
}

/// Whether a value is one of some constants, as the number of an object is that a pointer is of; what counts is
/// computed.
fn is_number(func: &Function, value: Value) -> bool {
    let ValueDef::Param(block, number) = func.values[value].def else { return false };
    let ways = func.layout.iter().flat_map(|&from| func.terminator(from).successors());
    let args = ways.filter(|to| to.block == block).map(|to| to.args[number as usize]);
    let mut args: Vec<Value> = args.collect();
    let is_constant = |arg: &Value| func.splat_constant(*arg).is_some();
    let is_some = args.iter().any(is_constant);
    args.retain(|arg| !is_constant(arg));
    is_some && args.iter().all(|&arg| matches!(func.values[arg].def, ValueDef::Param(..)))
}

/// A loop for each answer.
fn apart(func: &mut Function, header: Block, cond: Value) -> Option<()> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let l = forest.headed_by(header)?;
    let outer = Shape::uncounted(func, &cfg, &forest, l).ok()?;
    let blocks = forest.blocks(l);
    let copies = twice(func, &outer, &blocks, |_| cond).blocks;
    for &block in &blocks {
        for (block, way) in [(block, 0), (copies[&block], 1)] {
            if let Terminator::Branch(asked, then, other) = func.terminator(block).clone()
                && asked == cond
            {
                let to = if way == 0 { then } else { other };
                func.blocks[block].terminator = Some(Terminator::Jump(to));
            }
        }
    }
    unreachable::run(func);
    params::run(func);
    for clean in [simplify_cfg::run, choices::run, fold::run, cse::run, simplify_cfg::run, dce::run]
    {
        clean(func);
    }
    params::run(func);
    Some(())
}
