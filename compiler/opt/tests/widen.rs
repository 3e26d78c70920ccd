//! Counters of 8 bits that go on in all ways: what becomes of them does as they did, wherever they begin.

use nbcc_analysis::Lanes;
use nbcc_base::{Diagnostics, SourceId};
use nbcc_interp::function::{Answer, IntrinsicContext, Memory, Options, Program, run};
use nbcc_ir::{Function, parse_module, verify_function};
use nbcc_testing::INTRINSICS;

const FIRSTS: [i32; 14] = [0, 1, 2, 3, 7, 100, 126, 127, 128, 129, 200, 253, 254, 255];

/// Steps of the interpreter at most: several times what a loop takes that goes through all numbers.
const STEPS: u64 = 12_000;

fn function(text: &str) -> Function {
    let module = parse_module(SourceId(0), text, INTRINSICS, &mut Diagnostics::default());
    let mut module = module.unwrap_or_else(|_| panic!("{text}"));
    module.functions.values_mut().next().expect("one function").clone()
}

/// What a function returns; nothing where it goes on for ever.
fn result(func: &Function, first: i32, bound: i32) -> Option<i64> {
    let mut none = |_: &mut IntrinsicContext<'_>| Ok(Answer::Done(None));
    let args = [Lanes::i32(first), Lanes::i32(bound)];
    let options = Options { step_limit: STEPS, ..Options::default() };
    let mut memory = Memory::for_function(func);
    let results = run(Program::function(func), &args, &mut memory, &mut none, &options);
    results.ok().map(|results| results[0].as_i64())
}

/// A loop that is entered with the low bits of `v0`, and tests the counter or the next one against a
/// constant, or else the low bits of `v1`; behind the same test, or not.
fn text(
    extend: &str,
    step: i32,
    tested: &str,
    cond: &str,
    bound: Option<i32>,
    guard: bool,
) -> String {
    let is_word = tested.starts_with("word");
    let ty = if is_word { "i32" } else { "i8" };
    let bound = match (bound, is_word) {
        (Some(number), _) => format!("v10: {ty} = const {number}"),
        (None, true) => format!("v9: i8 = truncate v1\n  v10: i32 = {extend} v9"),
        (None, false) => "v10: i8 = truncate v1".to_string(),
    };
    let enter = match (guard, is_word) {
        (false, _) => "jump block1(v2, v4)".to_string(),
        (true, true) => format!(
            "v11: i32 = {extend} v2\n  v12: i1 = icmp {cond} v11, v10\n  branch v12, block1(v2, v4), block2(v4, v2)"
        ),
        (true, false) => {
            format!("v12: i1 = icmp {cond} v2, v10\n  branch v12, block1(v2, v4), block2(v4, v2)")
        }
    };
    let of = match tested {
        "word" => "v22",
        "word of next" => "v26",
        "narrow" => "v20",
        _ => "v25",
    };
    format!(
        "define sequential @f(v0: i32, v1: i32) -> i32 {{
block0:
  v2: i8 = truncate v0
  v3: i32 = const {step}
  v4: i32 = const 0
  v5: i32 = const 3
  {bound}
  {enter}
block1(v20: i8, v21: i32): loop while
  v22: i32 = {extend} v20
  v23: i32 = imul v21, v5
  v28: i32 = iadd v23, v22
  v24: i32 = iadd v22, v3
  v25: i8 = truncate v24
  v26: i32 = {extend} v25
  v27: i1 = icmp {cond} {of}, v10
  branch v27, block1(v25, v28), block2(v28, v25)
block2(v30: i32, v31: i8):
  v32: i32 = sign_extend v31
  v33: i32 = imul v30, v5
  v34: i32 = iadd v33, v32
  return v34
}}
"
    )
}

#[test]
fn counters_go_on_as_they_did() {
    let conds = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    let bounds = [-128, -127, -1, 0, 1, 3, 100, 126, 127, 128, 253, 254, 255, 256];
    let bounds: Vec<Option<i32>> = bounds.into_iter().map(Some).chain([None]).collect();
    let (mut widened, mut all) = (0, 0);
    for extend in ["zero_extend", "sign_extend"] {
        for step in [1, -1, 2, -3, 5] {
            for tested in ["word", "word of next", "narrow", "narrow next"] {
                let is_word = tested.starts_with("word");
                for cond in &conds[..if is_word { conds.len() } else { 2 }] {
                    for &bound in &bounds {
                        let is_narrow = bound.is_none_or(|bound| i8::try_from(bound).is_ok());
                        if !is_word && !is_narrow {
                            continue;
                        }
                        for guard in [false, true] {
                            let text = text(extend, step, tested, cond, bound, guard);
                            let func = function(&text);
                            let mut after = func.clone();
                            all += 1;
                            if !nbcc_opt::widen::run(&mut after) {
                                continue;
                            }
                            widened += 1;
                            assert_eq!(verify_function(&after, None), [], "{after}");
                            for first in FIRSTS {
                                for limit in [0, 1, 127, 128, 200, 255] {
                                    let of = |func: &Function| result(func, first, limit);
                                    assert_eq!(
                                        of(&func),
                                        of(&after),
                                        "{first} {limit}\n{text}{after}"
                                    );
                                    if bound.is_some() {
                                        break;
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(widened > 300, "{widened} of {all}");
}
