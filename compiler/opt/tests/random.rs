//! Every transform on random functions: the verifier accepts the result, and the interpreter finds
//! the same results, the same memory and the same calls of writing intrinsics as before.

use std::collections::BTreeMap;

use nbcc_analysis::{Lanes, Loop, LoopForest, is_nan};
use nbcc_interp::function::{
    Answer, Execution, IntrinsicContext, Memory, Options, Program, Step, Trap, run,
};
use nbcc_ir::{Cfg, Counter, Dominators, Function, verify_function};
use nbcc_opt::PASSES;
use nbcc_testing::{Rng, dense_function, graph_function, structured_function};

/// What can be seen of a run.
struct Outcome {
    results: Result<Vec<Lanes>, Trap>,
    memory: Memory,
    log: Vec<u64>,
}

fn outcome(func: &Function, seed: u64) -> Outcome {
    let mut rng = Rng::new(seed);
    let mut memory = Memory::for_function(func);
    for name in ["a", "b", "c"] {
        let array = memory.get_mut(name).expect("every function has these");
        for word in &mut array.data {
            *word = if array.element.is_float() {
                u64::from((rng.below(64) as f32 / 8.0 - 4.0).to_bits())
            } else {
                rng.below(20)
            };
        }
    }
    let mut log = Vec::new();
    let mut intrinsics = |context: &mut IntrinsicContext<'_>| {
        let args = context.args.iter().map(|arg| arg.lane(0));
        let mix = |sum: u64, arg| sum.wrapping_mul(31).wrapping_add(arg);
        let mixed = args.fold(context.call.imms.first().map_or(7, |&imm| imm as u64), mix);
        if context.call.name == "test.log" {
            log.push(mixed);
        }
        Ok(Answer::Done(context.call.result.map(|ty| Lanes::splat(ty, mixed))))
    };
    let args = [
        Lanes::i32(rng.below(9) as i32 - 2),
        Lanes::i32(rng.bits() as i32),
        Lanes::f32(rng.below(99) as f32 / 4.0),
        Lanes::f32s(&[1.0, -0.0, f32::INFINITY, 1e-40]),
    ];
    // A function that ends takes few steps before and not many more after.
    let options = Options { step_limit: 20_000, ..Options::default() };
    let results = run(Program::function(func), &args, &mut memory, &mut intrinsics, &options);
    Outcome { results, memory, log }
}

fn same_memory(a: &Memory, b: &Memory) -> bool {
    ["a", "b", "c"].iter().all(|name| {
        let (a, b) = (a.get(name).unwrap(), b.get(name).unwrap());
        let nan = |word: &u64| is_nan(a.element, *word);
        let same = a.data.iter().zip(&b.data).all(|(x, y)| x == y || (nan(x) && nan(y)));
        a.written == b.written && same
    })
}

/// Runs a function and counts how often each loop's header runs from an entry to an exit: that is
/// its trip count, where it has one. What counts its rounds grows by its step in each.
fn check_trips(func: &Function, seed: u64) -> usize {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let mut memory = Memory::for_function(func);
    let mut intrinsics = |context: &mut IntrinsicContext<'_>| {
        Ok(Answer::Done(context.call.result.map(|ty| Lanes::splat(ty, seed))))
    };
    let args = [Lanes::i32(3), Lanes::i32(seed as i32), Lanes::f32(0.5), Lanes::f32s(&[1.0; 4])];
    let options = Options { step_limit: 5000, ..Options::default() };
    let mut run = Execution::start(Program::function(func), &args, &mut memory, &options).unwrap();
    let mut counts: BTreeMap<Loop, u64> = BTreeMap::new();
    let mut counted: BTreeMap<Loop, i64> = BTreeMap::new();
    let mut left = Vec::new();
    loop {
        let (from, next) = run.at();
        let at_end = next == func.blocks[from].insts.len();
        match run.step(&mut memory, &mut intrinsics) {
            Ok(Step::Ran) if at_end => {}
            Ok(Step::Ran) => continue,
            Ok(Step::Returned(_)) => break,
            // On its way to a trap a run may have left a loop early.
            _ => return 0,
        }
        let to = run.at().0;
        let mut at = forest.innermost(from);
        while let Some(l) = at.filter(|&l| !forest.contains(l, to)) {
            let data = &forest.loops[l];
            if let Some(trips) = func.blocks[data.header].loop_info.as_ref().and_then(|i| i.trips) {
                left.push((data.header, counts[&l], trips));
            }
            at = data.parent;
        }
        if let Some(l) = forest.headed_by(to) {
            let count = counts.entry(l).or_default();
            *count = if forest.contains(l, from) { *count + 1 } else { 1 };
            let counter = func.blocks[to].loop_info.as_ref().and_then(|info| info.counter);
            if let Some(Counter { value, step }) = counter {
                let now = run.value(value).as_i64();
                if *count > 1 {
                    assert_eq!(Some(&(now - step)), counted.get(&l), "seed {seed}: {to}\n{func}");
                }
                counted.insert(l, now);
            }
        }
    }
    for &(header, count, trips) in &left {
        assert_eq!(count, trips, "seed {seed}: {header}\n{func}");
    }
    left.len()
}

/// Runs the passes and checks after each. A run that ended in a trap says nothing: the trap may
/// have gone with the computation.
fn check(original: &Function, passes: &[usize], seed: u64) -> (usize, Vec<bool>) {
    let before: Vec<Outcome> = (0..3)
        .map(|n| outcome(original, seed * 3 + n))
        .take_while(|outcome| outcome.results.is_ok())
        .collect();
    let mut func = original.clone();
    let mut changes = Vec::new();
    for &number in passes {
        let (name, pass) = PASSES[number];
        let text = func.to_string();
        let changed = pass(&mut func);
        changes.push(changed);
        let what = || format!("seed {seed}, {name} of {passes:?}\n{text}\nbecame\n{func}");
        assert_eq!(verify_function(&func, None), [], "{}", what());
        assert!(changed || func.to_string() == text, "unnoticed change: {}", what());
        for (n, before) in before.iter().enumerate() {
            let after = outcome(&func, seed * 3 + n as u64);
            let (Ok(x), Ok(y)) = (&before.results, &after.results) else {
                panic!("{:?}: {}", after.results, what())
            };
            let same = x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.same(y));
            assert!(same, "{x:?} became {y:?}: {}", what());
            assert_eq!(before.log, after.log, "{}", what());
            assert!(same_memory(&before.memory, &after.memory), "memory: {}", what());
        }
    }
    (before.len(), changes)
}

#[test]
fn each_transform_keeps_what_functions_do() {
    let mut runs = 0;
    let mut changed = vec![0; PASSES.len()];
    for seed in 0..250 {
        for func in [structured_function(seed), graph_function(seed)] {
            for (number, changed) in changed.iter_mut().enumerate() {
                let (count, changes) = check(&func, &[number], seed);
                runs += count;
                *changed += usize::from(changes[0]);
            }
        }
    }
    assert!(runs > 5_000, "{runs}");
    // Random functions have no local arrays of constant subscripts, no narrow counters, hardly a narrow sum, and
    // few loops with constants.
    let rare = ["accumulators", "choices", "promote", "trip-counts", "unroll-left", "widen"];
    let counts = PASSES.iter().zip(&changed).filter(|((name, _), _)| !rare.contains(name));
    assert!(counts.into_iter().all(|(_, &n)| n > 40), "{changed:?}");
}

#[test]
fn each_transform_keeps_what_dense_functions_do() {
    for seed in 0..1500 {
        let func = dense_function(seed);
        assert_eq!(verify_function(&func, None), [], "{func}");
        for number in 0..PASSES.len() {
            check(&func, &[number], seed);
        }
    }
}

#[test]
fn transforms_in_any_order_keep_what_functions_do() {
    let mut trips = 0;
    for seed in 1000..1300 {
        let mut rng = Rng::new(seed);
        let passes: Vec<usize> = (0..10).map(|_| rng.below(PASSES.len() as u64) as usize).collect();
        check(&structured_function(seed), &passes, seed);
        check(&graph_function(seed), &passes, seed);
        let mut func = structured_function(seed);
        for &number in &passes {
            PASSES[number].1(&mut func);
        }
        trips += check_trips(&func, seed);
    }
    assert!(trips > 100, "{trips}");
}

#[test]
fn source_locations_stay() {
    for seed in 0..300 {
        let mut func = structured_function(seed);
        let span = nbcc_base::Span::new(nbcc_base::SourceId(0), 3, 4);
        for data in func.insts.values_mut() {
            data.span = Some(span);
        }
        for data in func.blocks.values_mut() {
            data.span = Some(span);
        }
        for (name, pass) in PASSES {
            pass(&mut func);
            for &block in &func.layout {
                let data = &func.blocks[block];
                let all = data.insts.iter().all(|&inst| func.insts[inst].span.is_some());
                assert!(all && data.span.is_some(), "seed {seed}: {name} lost one in {block}");
            }
        }
    }
}

#[test]
fn repeated_transforms_come_to_an_end() {
    for seed in 0..200 {
        let mut func = structured_function(seed);
        let mut rounds = 0;
        while PASSES.iter().fold(false, |changed, (_, pass)| pass(&mut func) | changed) {
            rounds += 1;
            assert!(rounds < 30, "seed {seed}\n{func}");
        }
    }
}
