//! Ranges of values against runs: whatever a value is while a random function runs, it is within
//! its range, and where it is read, within the range that it has there. Here, not beside the analysis, since runs need the interpreter.

use nbcc_analysis::{Lanes, ValueRanges};
use nbcc_interp::function::{Answer, Execution, IntrinsicContext, Memory, Options, Program, Step};
use nbcc_ir::{Block, Function, IntrinsicCall, Scalar, Value, parse_module};
use nbcc_opt::{fold, params, ranges, simplify_cfg};
use nbcc_testing::{Rng, dense_function, graph_function, structured_function};

/// Runs a function; how many values were looked at, and how many of them had a range less than that
/// of their type.
fn check(func: &Function, args: &[Lanes], seed: u64) -> (u64, u64) {
    let ranges = ValueRanges::new(func);
    let mut memory = Memory::for_function(func);
    let mut rng = Rng::new(seed);
    let mut intrinsics = |context: &mut IntrinsicContext<'_>| {
        let bits = rng.bits();
        Ok(Answer::Done(context.call.result.map(|ty| Lanes::splat(ty, bits))))
    };
    let options = Options { step_limit: 20_000, ..Options::default() };
    let program = Program::function(func);
    let Ok(mut run) = Execution::start(program, args, &mut memory, &options) else { return (0, 0) };
    let (mut seen, mut narrow) = (0, 0);
    let mut look = |run: &Execution<'_>, value: Value, at: Option<Block>| {
        let ty = func.ty(value);
        if ty.is_vector() || ty.is_float() || ty.scalar == Scalar::I1 {
            return;
        }
        let (low, high) = at.map_or_else(|| ranges.of(value), |block| ranges.at(value, block));
        let is = run.value(value).as_i64();
        let is = nbcc_analysis::sign_extend(ty.scalar, is as u64);
        assert!(
            (low..=high).contains(&is),
            "seed {seed}: {value} is {is}, not {low}..{high}\n{func}"
        );
        seen += 1;
        let bits = ty.scalar.bits();
        narrow += u64::from(bits < 64 && high - low < (1 << bits) - 1);
    };
    loop {
        let (block, next) = run.at();
        if next == 0 && run.depth() == 1 {
            func.blocks[block].params.iter().for_each(|&param| look(&run, param, None));
        }
        let inst = func.blocks[block].insts.get(next).copied();
        if let Some(inst) = inst.filter(|_| run.depth() == 1) {
            func.insts[inst].op.for_each_arg(|arg| look(&run, arg, Some(block)));
        }
        match run.step(&mut memory, &mut intrinsics) {
            Ok(Step::Ran) => {}
            _ => return (seen, narrow),
        }
        if let Some(result) = inst.and_then(|inst| func.result(inst)) {
            look(&run, result, None);
        }
    }
}

#[test]
fn values_are_within_their_ranges() {
    let (mut seen, mut narrow) = (0, 0);
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let args = [
            Lanes::i32(rng.below(9) as i32 - 2),
            Lanes::i32(rng.bits() as i32),
            Lanes::f32(0.5),
            Lanes::f32s(&[1.0; 4]),
        ];
        for mut func in [structured_function(seed), graph_function(seed), dense_function(seed)] {
            for _ in 0..2 {
                let (all, less) = check(&func, &args, seed);
                (seen, narrow) = (seen + all, narrow + less);
                fold::run(&mut func);
                params::run(&mut func);
                simplify_cfg::run(&mut func);
            }
        }
    }
    assert!(seen > 300_000 && narrow > seen / 20, "{narrow} of {seen}");
}

#[test]
fn ranges_made_anew_are_those_of_a_first_look() {
    for seed in 0..100 {
        let func = graph_function(seed);
        let used = ValueRanges::new(&func);
        for value in func.values.keys().rev() {
            used.of(value);
        }
        let (anew, first) = (used.anew(), ValueRanges::new(&func));
        for value in func.values.keys() {
            assert_eq!(anew.of(value), first.of(value), "seed {seed}: {value}\n{func}");
        }
    }
}

/// The range of the last value of a function of the text form.
fn last(text: &str) -> (i64, i64) {
    let mut diagnostics = nbcc_base::Diagnostics::default();
    let module = parse_module(nbcc_base::SourceId(0), text, &[], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{:?}", diagnostics.take()));
    let func = module.functions.values().next().expect("a function");
    let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    let value = insts.filter_map(|&inst| func.result(inst)).next_back().expect("a value");
    ValueRanges::new(func).of(value)
}

#[test]
fn counters_end_at_the_bound_that_the_way_back_tests() {
    let text = |first: i32, step: i32, test: &str, bound: i32| {
        format!(
            "define sequential @f(v0: i32) {{\nblock0:\n  v1: i32 = const {first}\n  \
             v2: i32 = const {step}\n  v3: i32 = const {bound}\n  jump block1(v1)\n\
             block1(v5: i32): loop i, v5 by {step}\n  v6: i32 = iadd v5, v2\n  \
             v7: i1 = icmp {test} v6, v3\n  branch v7, block1(v6), block2\nblock2:\n  \
             v8: i32 = const 0\n  v9: i32 = iadd v5, v8\n  return\n}}\n"
        )
    };
    assert_eq!(last(&text(0, 1, "slt", 10)), (0, 9));
    assert_eq!(last(&text(3, 2, "sle", 10)), (3, 10));
    assert_eq!(last(&text(9, -1, "sgt", -1)), (0, 9));
    assert_eq!(last(&text(9, -3, "sge", 0)), (0, 9));
    assert_eq!(last(&text(0, 4, "ne", 16)), (0, 12));
    assert_eq!(last(&text(0, 1, "ult", 7)), (0, 6));
    let all = (i32::MIN.into(), i32::MAX.into());
    // A step may jump over the bound, or past the end of the numbers.
    assert_eq!(last(&text(0, 3, "ne", 16)), all);
    assert_eq!(last(&text(0, 5, "sle", i32::MAX - 2)), all);
}

/// Where ways meet, a value is what branches say of it on each.
#[test]
fn branches_limit_what_meets() {
    let text = |least: i32, test: &str, most: i32| {
        format!(
            "define sequential @f(v0: i32) {{\nblock0:\n  v1: i32 = const {least}\n  \
             v2: i32 = const {most}\n  v3: i1 = icmp sgt v0, v2\n  branch v3, block3(v2), block1\n\
             block1:\n  v4: i1 = icmp {test} v0, v1\n  branch v4, block2, block3(v0)\n\
             block2:\n  jump block3(v1)\nblock3(v5: i32):\n  v6: i32 = const 0\n  \
             v7: i32 = iadd v5, v6\n  return\n}}\n"
        )
    };
    assert_eq!(last(&text(-32768, "slt", 32767)), (-32768, 32767));
    assert_eq!(last(&text(5, "sle", 9)), (5, 9));
    assert_eq!(last(&text(0, "uge", 9)), (i32::MIN.into(), 9));
    assert_eq!(last(&text(3, "ne", 9)), (3, 9));
}

/// What is stored back in each round may be anything, but what is limited then.
#[test]
fn what_comes_back_limited_is() {
    let text = "define sequential @f(v0: i32, v1: i32) {\nblock0:\n  v2: i32 = const 7\n  \
                jump block1(v2)\nblock1(v3: i32): loop i\n  v4: i32 = imul v3, v0\n  \
                v5: i32 = const 15\n  v6: i1 = icmp ugt v4, v5\n  branch v6, block2(v5), block2(v4)\n\
                block2(v7: i32):\n  v8: i1 = icmp slt v7, v1\n  branch v8, block1(v7), block3\n\
                block3:\n  v9: i32 = const 0\n  v10: i32 = iadd v3, v9\n  return\n}\n";
    assert_eq!(last(text), (0, 15));
}

#[test]
fn what_cancels_in_a_sum_has_no_part_in_its_range() {
    let text = "define sequential @f(v0: i32, v1: i32) {\nblock0:\n  v2: i32 = const 3\n  \
                v3: i32 = imul v0, v2\n  v4: i32 = iadd v3, v1\n  v5: i32 = const 15\n  \
                v6: i32 = and v1, v5\n  v7: i32 = iadd v4, v6\n  v8: i32 = isub v7, v3\n  \
                v9: i32 = isub v8, v1\n  return\n}\n";
    assert_eq!(last(text), (0, 15));
}

#[test]
fn counters_of_known_trips_need_no_test() {
    let text = |step: i32| {
        format!(
            "define sequential @f(v0: i1) {{\nblock0:\n  v1: i32 = const 5\n  \
             v2: i32 = const {step}\n  v3: i32 = const {}\n  jump block1(v1)\n\
             block1(v5: i32): loop i, 8 trips, v5 by {step}\n  v6: i32 = iadd v5, v2\n  \
             v7: i1 = icmp eq v5, v3\n  branch v7, block2, block1(v6)\nblock2:\n  \
             v8: i32 = const 1\n  v9: i32 = iadd v5, v8\n  return\n}}\n",
            5 + 7 * step
        )
    };
    assert_eq!(last(&text(16)), (6, 118));
    assert_eq!(last(&text(-2)), (-8, 6));
}

#[test]
fn targets_know_the_results_of_their_intrinsics() {
    let text = "define engines @f() {\nblock0:\n  v0: i32 = intrinsic \"ipim.pe\"() pure\n  \
                v1: i32 = const -1\n  v2: i32 = iadd v0, v1\n  v3: i32 = const 31\n  \
                v4: i32 = ashr v0, v3\n  v5: i32 = not v4\n  v6: i32 = and v2, v5\n  \
                v7: i32 = imul v6, v6\n  return\n}\n";
    let mut diagnostics = nbcc_base::Diagnostics::default();
    let module = parse_module(nbcc_base::SourceId(0), text, &["ipim.pe"], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{:?}", diagnostics.take()));
    let mut func = module.functions.values().next().expect("a function").clone();
    let of_four = |call: &IntrinsicCall| (call.name == "ipim.pe").then_some((0, 3));
    assert!(ranges::run_where(&mut func, &of_four, |_| true));
    fold::run(&mut func);
    let left = func.to_string();
    assert!(!left.contains("ashr") && left.contains("imul v2, v2"), "{left}");
}
