//! The uniformity analysis against what threads do: values that it calls uniform are equal in all
//! threads that reach their definition in the same iterations of the loops around it.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Lanes, LoopForest, Uniformity};
use nbcc_interp::function::{Answer, Execution, IntrinsicContext, Memory, Options, Program, Step};
use nbcc_ir::{Block, Cfg, Dominators, Function, Inst, Op, Positions, Terminator, Value};
use nbcc_testing::{graph_function, structured_function};

/// What one thread computes: each value, and each block gone to, by the iterations it is in.
#[derive(Default)]
struct Trace {
    values: BTreeMap<(Value, Vec<u32>), Lanes>,
    ways: BTreeMap<(Block, Vec<u32>), Block>,
}

fn trace(func: &Function, forest: &LoopForest, thread: u64) -> Trace {
    let mut memory = Memory::for_function(func);
    for name in ["a", "b", "c"] {
        let array = memory.get_mut(name).unwrap();
        for (i, word) in array.data.iter_mut().enumerate() {
            *word = thread * 37 + i as u64;
        }
    }
    let mut intrinsics = |context: &mut IntrinsicContext<'_>| {
        let result = match context.call.name {
            "test.id" => thread,
            _ => context.args.iter().fold(3, |sum, arg| sum * 5 + arg.lane(0)),
        };
        Ok(Answer::Done(context.call.result.map(|ty| Lanes::splat(ty, result))))
    };
    let args = [Lanes::i32(6), Lanes::i32(3), Lanes::f32(1.5), Lanes::f32s(&[0.0, 1.0, 2.0, 3.0])];
    let options = Options { step_limit: 3000, ..Options::default() };
    let program = Program::function(func);
    let mut run = Execution::start(program, &args, &mut memory, &options).unwrap();
    let mut trace = Trace::default();
    let mut iteration: BTreeMap<_, u32> = BTreeMap::new();
    let mut before = None;
    loop {
        let (block, next) = run.at();
        if next == 0
            && before.is_none_or(|(b, n)| b != block || n != 0)
            && let Some(l) = forest.headed_by(block)
        {
            let from_inside = before.is_some_and(|(b, _)| forest.contains(l, b));
            let count = iteration.entry(l).or_default();
            *count = if from_inside { *count + 1 } else { 0 };
        }
        let key = |block: Block| {
            let mut key = Vec::new();
            let mut at = forest.innermost(block);
            while let Some(l) = at {
                key.push(iteration[&l]);
                at = forest.loops[l].parent;
            }
            key
        };
        if next == 0 {
            for &param in &func.blocks[block].params {
                trace.values.insert((param, key(block)), run.value(param));
            }
        }
        let Ok(step) = run.step(&mut memory, &mut intrinsics) else { return trace };
        if let Step::Returned(_) = step {
            return trace;
        }
        before = Some((block, next));
        match func.blocks[block].insts.get(next) {
            Some(&inst) => {
                if let Some(value) = func.result(inst) {
                    trace.values.insert((value, key(block)), run.value(value));
                }
            }
            None => {
                trace.ways.insert((block, key(block)), run.at().0);
                // A block that jumps to itself starts again.
                before = Some((block, usize::MAX));
            }
        }
    }
}

#[test]
fn uniform_values_are_equal_in_all_threads() {
    let (mut uniform, mut divergent, mut temporal) = (0, 0, 0);
    for seed in 0..500 {
        for func in [structured_function(seed), graph_function(seed)] {
            let (cfg, dominators) = (Cfg::new(&func), Dominators::new(&func));
            let forest = LoopForest::new(&cfg, &dominators);
            if !forest.irreducible.is_empty() {
                continue;
            }
            let is_source = |inst: Inst| match &func.insts[inst].op {
                Op::Load(..) => true,
                Op::Intrinsic(call) => call.name == "test.id",
                _ => false,
            };
            let facts = Uniformity::new(&func, &cfg, is_source, &[]);
            let branches: BTreeSet<Block> = facts.divergent_branches().collect();
            let traces: Vec<Trace> = (0..4).map(|id| trace(&func, &forest, id)).collect();
            let mut values: BTreeMap<&(Value, Vec<u32>), Lanes> = BTreeMap::new();
            for (key, value) in traces.iter().flat_map(|t| &t.values) {
                let first = *values.entry(key).or_insert(*value);
                if facts.is_uniform(key.0) {
                    assert!(first.same(value), "seed {seed}: {key:?} {first} {value}\n{func}");
                    uniform += 1;
                } else {
                    divergent += 1;
                }
            }
            let mut ways: BTreeMap<&(Block, Vec<u32>), Block> = BTreeMap::new();
            for (key, way) in traces.iter().flat_map(|t| &t.ways) {
                let first = *ways.entry(key).or_insert(*way);
                assert!(first == *way || branches.contains(&key.0), "seed {seed}: {key:?}\n{func}");
            }
            // Loops that threads leave one after the other.
            let positions = Positions::new(&func);
            for &block in &branches {
                let cond = match func.terminator(block) {
                    Terminator::Branch(cond, ..) => *cond,
                    _ => continue,
                };
                assert!(positions.defining_block(&func, cond).is_some());
                let l = forest.innermost(block);
                temporal += usize::from(l.is_some_and(|l| {
                    forest.exits(&func, l).iter().any(|(from, _)| *from == block)
                }));
            }
        }
    }
    assert!(uniform > 5_000 && divergent > 5_000, "{uniform} {divergent}");
    assert!(temporal > 50, "{temporal}");
}
