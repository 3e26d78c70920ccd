//! The table of candidates and their markers, from a kernel to its binary.

mod support;

use nbcc_isa::Imm;
use nbcc_isa_simt::{Op, Program};
use nbcc_isa_tom::offload::{OffloadTable, SECTION, check};
use nbcc_pipeline::OptLevel;
use nbcc_placement::Remark;
use support::compile_text;

/// Two loops: x[i] = a * x[i] + x[i] with a stride of 64, and a count that comes to memory once.
const KERNEL: &str = "\
define grid @k() {
  kernel
  param %n: u32 size 4 align 4 at 0
  param %a: f32 size 4 align 4 at 4
  param %x: u64 size 8 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v2: f32 = load param [v0 + 4]
  v3: i64 = load param [v0 + 8]
  v4: i32 = simt \"special.tid_x\"()
  v5: i1 = icmp ult v4, v1
  branch v5, block1(v4), block2
block1(v7: i32): loop i
  v8: i64 = zero_extend v7
  v9: i64 = const 4
  v10: i64 = imul v8, v9
  v11: i64 = iadd v3, v10
  v12: f32 = load global [v11]
  v13: f32 = simt \"fma.rn.f32\"(v12, v2, v12)
  store global [v11], v13
  v15: i32 = const 64
  v16: i32 = iadd v7, v15
  v17: i1 = icmp ult v16, v1
  branch v17, block1(v16), block2
block2:
  v20: i32 = const 0
  v21: i32 = const 1
  jump block3(v20)
block3(v22: i32): loop j
  v23: i32 = iadd v22, v21
  v24: i1 = icmp ult v23, v1
  branch v24, block3(v23), block4
block4:
  return
}
";

fn compile(machine: usize, level: OptLevel, set: &[(&str, &str)]) -> (Program, Vec<Remark>) {
    compile_text(KERNEL, machine, level, set)
}

fn markers(program: &Program) -> Vec<u32> {
    let text = program.code.text.iter().enumerate();
    text.filter(|(_, inst)| matches!(inst.op, Op::Region { .. })).map(|(at, _)| at as u32).collect()
}

#[test]
fn a_loop_is_marked_and_listed() {
    let (program, remarks) = compile(0, OptLevel::O2, &[]);
    check(&program).unwrap();
    let table = OffloadTable::of(&program).unwrap();
    let [entry] = &table.entries[..] else { panic!("{table:?}") };
    assert_eq!(markers(&program), [entry.marker()]);
    // The loop goes back past the marker, and by the branch that leaves it.
    let latch = &program.code.text[entry.end as usize - 1];
    assert!(latch.guard.is_some(), "{latch}");
    let Op::Bra { target: Imm::Value(target), .. } = latch.op else { panic!("{latch}") };
    assert_eq!(target as u32, 16 * entry.begin);
    // n, a, x, i: 128 words, and 49.75 saved a trip; x is two registers of the machine.
    assert_eq!((entry.live_in.count(), entry.live_out.count(), entry.inputs), (5, 0, 0));
    let condition = entry.condition.unwrap();
    assert_eq!((condition.threshold, entry.trips), (3, 3));
    let value = |n: u64| move |reg| if reg == condition.initial { 0 } else { n };
    assert_eq!(condition.trips(value(64 * 5)), Some(5));
    assert!(condition.holds(value(64 * 3)) && !condition.holds(value(64 * 2)));

    let names: Vec<&str> = remarks.iter().map(|remark| remark.name).collect();
    assert_eq!(names, ["Rejected", "Candidate"]);
    let terms = |number: usize| {
        let terms = remarks[number].all_terms();
        terms.map(|term| format!("{} {}", term.name, term.value)).collect::<Vec<_>>()
    };
    assert!(terms(0).contains(&"Reason no-benefit".to_string()), "{:?}", terms(0));
    assert!(terms(0).contains(&"Flips an access of memory in it".to_string()), "{:?}", terms(0));
    let sum = "ToMemory 4 registers x 32 - (1 load x 0.5 + 1 store x 33) x 3 trips = +27.5 words";
    assert!(terms(1).contains(&sum.to_string()), "{:?}", terms(1));
    assert!(terms(1).contains(&"Flips 1 live-in more".to_string()), "{:?}", terms(1));
}

#[test]
fn tables_are_proven_at_every_level() {
    for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2] {
        for words in ["1", "4", "32"] {
            let (program, _) = compile(0, level, &[("cost.warp_words", words)]);
            check(&program).unwrap();
            let entries = OffloadTable::of(&program).unwrap().entries;
            assert_eq!(markers(&program).len(), entries.len());
            assert!(level == OptLevel::O0 || !entries.is_empty(), "{level:?} {words}");
        }
    }
}

#[test]
fn what_does_not_fit_is_left_out_with_a_remark() {
    let (program, remarks) = compile(0, OptLevel::O2, &[("offload.entries", "0")]);
    assert!(markers(&program).is_empty());
    assert!(OffloadTable::of(&program).unwrap().entries.is_empty());
    assert!(remarks.iter().any(|remark| remark.name == "LeftOut"));
}

/// There is nothing beside memory that could run it.
#[test]
fn the_baseline_has_no_table() {
    let (program, _) = compile(1, OptLevel::O2, &[]);
    assert!(markers(&program).is_empty());
    assert!(program.sections.iter().all(|(name, _)| name != SECTION));
}

/// Loops without end: at the end of a kernel, and before code that another way leads to, which reads
/// what the loop writes for itself.
#[test]
fn loops_without_end_leave_nothing() {
    let last = "\
define grid @k() {
  kernel
  param %x: u64 size 8 align 8 at 0
block0:
  v0: i64 = const 0
  v1: i64 = load param [v0]
  jump block1
block1:
  store global [v1], v0
  store global [v1 + 8], v0
  jump block1
}
";
    let before = "\
define grid @k() {
  kernel
  param %x: u64 size 8 align 8 at 0
block0:
  v0: i64 = const 0
  v1: i64 = load param [v0]
  v2: i32 = simt \"special.tid_x\"()
  v3: i32 = const 5
  v4: i1 = icmp ult v2, v3
  branch v4, block1(v2), block2
block1(v5: i32):
  v6: i32 = iadd v5, v3
  store global [v1], v6
  store global [v1 + 4], v6
  store global [v1 + 8], v6
  jump block1(v6)
block2:
  v7: i32 = imul v2, v3
  store global [v1], v7
  store global [v1 + 4], v2
  return
}
";
    for text in [last, before] {
        for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2] {
            let (program, _) = compile_text(text, 0, level, &[]);
            check(&program).unwrap();
            let table = OffloadTable::of(&program).unwrap();
            let endless = |entry: &&nbcc_isa_tom::offload::Entry| {
                let latch = &program.code.text[entry.end as usize - 1];
                matches!(latch.op, Op::Bra { .. }) && latch.guard.is_none()
            };
            let entry = table.entries.iter().find(endless).expect("the loop is a candidate");
            assert_eq!(entry.live_out.count(), 0, "{level:?}");
        }
    }
}
