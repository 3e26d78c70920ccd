//! Random loops that are left in their middle and run a few times at most: unrolled wholly they give what they gave.

use std::fmt::Write;

use nbcc_analysis::Lanes;
use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_interp::function::{Answer, IntrinsicContext, Memory, Options, Program, run};
use nbcc_ir::{Function, parse_module, verify_function};
use nbcc_opt::{fold, unroll_left};
use nbcc_testing::{INTRINSICS, Rng};

/// What counts, from a constant or from an argument on, and the test that ends it, of the counter or of the next one.
/// Another test may come before or behind it.
fn source(rng: &mut Rng) -> String {
    let (limit, by) = (rng.below(12) as i64, 1 + rng.below(3) as i64);
    let (ty, first, step, cond, limit) = match rng.below(7) {
        0 => ("i32", "k0".to_string(), format!("iadd v20, {by}"), "slt", limit),
        1 => ("i32", format!("k{limit}"), format!("isub v20, {by}"), "sgt", 0),
        2 => ("i32", "k0".into(), "iadd v20, 1".into(), "ne", limit),
        3 => ("i64", "k1".into(), "iadd v20, 2".into(), "ule", limit),
        4 => ("i32", "small".into(), format!("lshr v20, {by}"), "ne", 0),
        5 => ("i32", "small".into(), "udiv v20, 3".into(), "sgt", 0),
        _ => ("i32", "small".into(), "lowest".into(), "ugt", 0),
    };
    let is_narrow = first == "small" && rng.below(2) == 0;
    let mut text = String::from("define sequential @f(v0: i32, v1: i32) -> i32 {\nblock0:\n");
    let number = |first: &str| first.strip_prefix('k').map_or("0".into(), str::to_string);
    let _ = writeln!(text, "  v2: {ty} = const {}", number(&first));
    let _ = writeln!(text, "  v3: i32 = const 255\n  v4: i32 = and v0, v3");
    let begin = match (first.as_str(), is_narrow) {
        ("small", true) => "  v5: i8 = truncate v4\n  jump block1(v5, v1, v0)\n",
        ("small", false) => "  jump block1(v4, v1, v0)\n",
        _ => "  jump block1(v2, v1, v0)\n",
    };
    text.push_str(begin);
    let own = if is_narrow { "i8" } else { ty };
    let param = if is_narrow { "v19" } else { "v20" };
    let _ = writeln!(text, "block1({param}: {own}, v21: i32, v22: i32): loop k");
    if is_narrow {
        text.push_str("  v20: i32 = zero_extend v19\n");
    }
    let _ =
        writeln!(text, "  v6: i32 = const 3\n  v7: i32 = imul v21, v6\n  v8: i32 = iadd v7, v22");
    // What may leave before.
    let mask = 1 + rng.below(6);
    let other = |text: &mut String, at: u32, goes_on: u32, value: &str| {
        let _ =
            writeln!(text, "  v{at}: i32 = const {mask}\n  v{}: i32 = and {value}, v{at}", at + 1);
        let _ = writeln!(text, "  v{}: i1 = icmp eq v{}, v{at}", at + 2, at + 1);
        let _ = writeln!(text, "  branch v{}, block9({value}), block{goes_on}", at + 2);
    };
    let ways = rng.below(3);
    if ways == 0 {
        other(&mut text, 30, 2, "v8");
    } else {
        text.push_str("  jump block2\n");
    }
    text.push_str("block2:\n");
    let next = match step.rsplit_once(", ") {
        Some((op, by)) => format!("  v40: {ty} = const {by}\n  v41: {ty} = {op}, v40\n"),
        None => {
            "  v40: i32 = const -1\n  v42: i32 = iadd v20, v40\n  v41: i32 = and v20, v42\n".into()
        }
    };
    text.push_str(&next);
    let _ = writeln!(text, "  v43: i32 = ixor v8, v1");
    let narrow = if is_narrow { "  v44: i8 = truncate v41\n" } else { "" };
    text.push_str(narrow);
    let back = if is_narrow { "v44" } else { "v41" };
    let asked = if rng.below(2) == 0 { param } else { back };
    let _ = writeln!(text, "  v45: {own} = const {limit}\n  v46: i1 = icmp {cond} {asked}, v45");
    let behind = if rng.below(2) == 0 { "block9(v43)" } else { "block8" };
    // The loop goes back from its test, or behind it.
    if ways == 2 {
        let _ = writeln!(text, "  branch v46, block1({back}, v8, v43), {behind}");
    } else {
        let _ = writeln!(text, "  branch v46, block3, {behind}\nblock3:");
        match ways {
            1 => other(&mut text, 50, 4, "v43"),
            _ => text.push_str("  jump block4\n"),
        }
        let _ = writeln!(text, "block4:\n  jump block1({back}, v8, v43)");
    }
    let _ = writeln!(text, "block8:\n  v60: i32 = iadd v43, v8\n  jump block9(v60)");
    text.push_str("block9(v70: i32):\n  v71: i32 = iadd v70, v0\n  return v71\n}\n");
    text.replace("ixor", "xor")
}

fn result(func: &Function, args: [i32; 2]) -> Option<Vec<Lanes>> {
    let args = args.map(Lanes::i32);
    let mut memory = Memory::for_function(func);
    let mut intrinsics = |_: &mut IntrinsicContext<'_>| Ok(Answer::Done(None));
    let options = Options { step_limit: 20_000, ..Options::default() };
    run(Program::function(func), &args, &mut memory, &mut intrinsics, &options).ok()
}

#[test]
fn loops_that_are_left_give_what_they_gave() {
    let (mut unrolled, mut ended) = (0, 0);
    for seed in 0..3000 {
        let text = source(&mut Rng::new(seed));
        let mut sources = SourceMap::default();
        let id = sources.add(SourceFile::new("left.nbir", &text));
        let mut diagnostics = Diagnostics::default();
        let parsed = parse_module(id, &text, INTRINSICS, &mut diagnostics);
        let module = parsed.unwrap_or_else(|_| panic!("{:?}\n{text}", diagnostics.take()));
        let func = module.functions.values().next().expect("a function");
        assert_eq!(verify_function(func, None), [], "{text}");
        let mut other = func.clone();
        unrolled += u32::from(unroll_left::run_where(&mut other, |_, _| true));
        assert_eq!(verify_function(&other, None), [], "seed {seed}\n{text}\nbecame\n{other}");
        fold::run(&mut other);
        let mut rng = Rng::new(seed);
        for _ in 0..8 {
            let args = [rng.bits() as i32, rng.bits() as i32];
            let Some(before) = result(func, args) else { continue };
            let after = result(&other, args);
            let is_same = after.is_some_and(|after| after[0].same(&before[0]));
            assert!(is_same, "seed {seed}, {args:?}\n{text}\nbecame\n{other}");
            ended += 1;
        }
    }
    assert!(unrolled > 1500 && ended > 15_000, "{unrolled} of 3000, {ended} runs");
}
