//! Loops keep what tells how often they run: a latch that is the branch out, and the step of a counter.

mod support;

use nbcc_isa_simt::Op;
use nbcc_pipeline::OptLevel;
use support::compile_text;

/// Copies n floats twice, with pointers that are needed behind the loop.
const WALKS: &str = "\
define grid @k() {
  kernel
  param %n: u32 size 4 align 4 at 0
  param %x: u64 size 8 align 8 at 8
  param %y: u64 size 8 align 8 at 16
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v2: i64 = load param [v0 + 8]
  v3: i64 = load param [v0 + 16]
  v4: i32 = const 0
  jump block1(v2, v3, v4)
block1(v5: i64, v6: i64, v7: i32): loop i
  v8: f32 = load global [v5]
  store global [v6], v8
  store global [v6 + 4], v8
  v9: i64 = const 4
  v10: i64 = iadd v5, v9
  v11: i64 = iadd v6, v9
  v12: i32 = const 1
  v13: i32 = iadd v7, v12
  v14: i1 = icmp ult v13, v1
  branch v14, block1(v10, v11, v13), block2
block2:
  store global [v11], v1
  store global [v10], v1
  return
}
";

/// x[i] = i from the thread's number on, in steps of n times n.
const STEPS: &str = "\
define grid @k() {
  kernel
  param %n: u32 size 4 align 4 at 0
  param %x: u64 size 8 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v2: i64 = load param [v0 + 8]
  v3: i32 = simt \"special.tid_x\"()
  v4: i32 = imul v1, v1
  jump block1(v3)
block1(v5: i32): loop i
  v6: i64 = sign_extend v5
  v7: i64 = const 4
  v8: i64 = imul v6, v7
  v9: i64 = iadd v2, v8
  store global [v9], v5
  v10: i32 = iadd v5, v4
  v11: i1 = icmp slt v10, v1
  branch v11, block1(v10), block2
block2:
  return
}
";

fn knows_trips(text: &str, level: OptLevel) -> bool {
    let (_, remarks) = compile_text(text, 0, level, &[]);
    let terms = remarks.iter().flat_map(|remark| &remark.terms);
    terms.filter(|term| term.name == "Trips").any(|term| term.value.starts_with("known"))
}

#[test]
fn pointers_that_are_needed_behind_a_loop_walk_in_place() {
    for level in [OptLevel::O1, OptLevel::O2] {
        let (program, _) = compile_text(WALKS, 0, level, &[]);
        let copies = |op: &Op<_>| matches!(op, Op::MovWide { .. });
        assert!(!program.code.text.iter().any(|inst| copies(&inst.op)), "{level:?}");
        assert!(knows_trips(WALKS, level), "{level:?}");
    }
}

#[test]
fn a_step_that_does_not_change_is_added() {
    for level in [OptLevel::O1, OptLevel::O2] {
        assert!(knows_trips(STEPS, level), "{level:?}");
    }
}
