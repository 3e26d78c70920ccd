//! What a warp asks for together: loads come before what waits for others, from behind branches too.

mod support;

use nbcc_isa::Instruction;
use nbcc_isa_simt::{Op, Program};
use nbcc_isa_tom::offload::check;
use nbcc_pipeline::OptLevel;
use support::compile_text;

/// sum += x[i] * x[i + 64] four times a trip, then sum to memory.
fn products() -> String {
    let mut body = String::new();
    for k in 0..4 {
        body += &format!(
            "  v{0}: f32 = load global [v11 + {2}]\n  v{1}: f32 = load global [v11 + {3}]\n",
            20 + 4 * k,
            21 + 4 * k,
            8 * k,
            8 * k + 4,
        );
        let before = if k == 0 { 8 } else { 19 + 4 * k };
        body += &format!(
            "  v{0}: f32 = simt \"fma.rn.f32\"(v{1}, v{2}, v{3})\n",
            23 + 4 * k,
            20 + 4 * k,
            21 + 4 * k,
            before,
        );
    }
    format!(
        "define grid @k() {{
  kernel
  param %n: u32 size 4 align 4 at 0
  param %x: u64 size 8 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v3: i64 = load param [v0 + 8]
  v4: i32 = simt \"special.tid_x\"()
  v5: f32 = const 0.0
  jump block1(v4, v5)
block1(v7: i32, v8: f32): loop i
  v9: i64 = zero_extend v7
  v10: i64 = const 4
  v12: i64 = imul v9, v10
  v11: i64 = iadd v3, v12
{body}  v15: i32 = const 64
  v16: i32 = iadd v7, v15
  v17: i1 = icmp ult v16, v1
  branch v17, block1(v16, v35), block2
block2:
  store global [v3], v35
  return
}}
"
    )
}

/// sum += x[i], and x[i + 64] where that is below n.
const GUARDED: &str = "\
define grid @k() {
  kernel
  param %n: u32 size 4 align 4 at 0
  param %x: u64 size 8 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v3: i64 = load param [v0 + 8]
  v4: i32 = simt \"special.tid_x\"()
  v5: i32 = const 0
  jump block1(v4, v5)
block1(v7: i32, v8: i32): loop i
  v9: i64 = zero_extend v7
  v10: i64 = const 4
  v12: i64 = imul v9, v10
  v11: i64 = iadd v3, v12
  v13: i32 = load global [v11]
  v14: i32 = iadd v8, v13
  v15: i32 = const 64
  v16: i32 = iadd v7, v15
  v17: i1 = icmp ult v16, v1
  branch v17, block2, block3(v14)
block2:
  v18: i32 = load global [v11 + 256]
  v19: i32 = iadd v14, v18
  jump block3(v19)
block3(v20: i32):
  v21: i32 = iadd v16, v15
  v22: i1 = icmp ult v21, v1
  branch v22, block1(v21, v20), block4
block4:
  store global [v3], v20
  return
}
";

/// Places of loads of global memory and of the first instruction that is not to come before them.
fn order(program: &Program, first: fn(&str) -> bool) -> (Vec<usize>, usize) {
    let text = program.code.text.iter().enumerate();
    let loads = text.clone().filter(|(_, inst)| inst.mnemonic() == "ld");
    let loads = loads.filter(|(_, inst)| inst.op.space() == Some(GLOBAL)).map(|(at, _)| at);
    let other = text.clone().find(|(_, inst)| first(inst.mnemonic())).expect("such an instruction");
    (loads.collect(), other.0)
}

const GLOBAL: nbcc_isa_simt::operands::Space = nbcc_isa_simt::operands::Space::Global;

#[test]
fn loads_of_a_trip_come_before_what_needs_them() {
    let (program, _) = compile_text(&products(), 0, OptLevel::O2, &[]);
    check(&program).unwrap();
    let (loads, other) = order(&program, |name| name == "fma");
    assert_eq!(loads.len(), 8);
    assert!(loads.iter().all(|load| *load < other), "{loads:?} {other}");
    // Not without the pass, or where there are no registers for them.
    let (program, _) = compile_text(&products(), 0, OptLevel::O1, &[]);
    let (loads, other) = order(&program, |name| name == "fma");
    assert!(loads[7] > other);
    let few = [("sm.registers", "8192"), ("sm.thread_registers", "16")];
    let (program, _) = compile_text(&products(), 0, OptLevel::O2, &few);
    check(&program).unwrap();
    let (loads, other) = order(&program, |name| name == "fma");
    assert!(loads[7] > other);
}

#[test]
fn loads_behind_a_branch_are_guarded() {
    let (program, _) = compile_text(GUARDED, 0, OptLevel::O2, &[]);
    check(&program).unwrap();
    let text = &program.code.text;
    let loads = |guarded: bool| {
        let some = text.iter().filter(|inst| inst.op.space() == Some(GLOBAL));
        some.filter(|inst| inst.mnemonic() == "ld" && inst.guard.is_some() == guarded).count()
    };
    assert_eq!((loads(false), loads(true)), (1, 1));
    // The loop is one block.
    let branches = text.iter().filter(|inst| matches!(inst.op, Op::Bra { .. })).count();
    assert_eq!(branches, 1);
}
