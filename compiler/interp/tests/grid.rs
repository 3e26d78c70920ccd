//! Launches of small kernels on the oracle of grids.

use nbcc_base::{Diagnostics, SourceId};
use nbcc_interp::grid::{FaultKind, GridMemory, Launch, Limits, launch};
use nbcc_ir::{Func, Module, parse_module, verify_module};

fn read(text: &str) -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, &[], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"));
    assert_eq!(verify_module(&module), []);
    module
}

/// A kernel whose parameter is the address of a buffer of words.
fn kernel(objects: &str, body: &str) -> String {
    format!(
        "{objects}
define grid @main() {{
  kernel
  param %out: u64 size 8 align 8 at 0
block0:
  v0: i64 = const 0
  v1: i64 = load param [v0]
  v2: i32 = simt \"special.tid_x\"()
  v3: i32 = simt \"special.ctaid_x\"()
  v4: i32 = simt \"special.ntid_x\"()
  v5: i32 = imul v3, v4
  v6: i32 = iadd v5, v2
  v7: i64 = zero_extend v6
  v8: i64 = const 4
  v9: i64 = imul v7, v8
  v10: i64 = iadd v1, v9
{body}}}
"
    )
}

type Run = (Result<Vec<u32>, FaultKind>, Vec<u8>);

fn run_shape(text: &str, grid: u32, block: [u32; 3], words: usize) -> Run {
    run_within(text, grid, block, words, Limits { steps: 1_000_000, ..Limits::default() })
}

fn run_within(text: &str, grid: u32, block: [u32; 3], words: usize, limits: Limits) -> Run {
    let module = read(text);
    let mut memory = GridMemory::new(&module).unwrap();
    let address = memory.allocate(words * 4);
    let shape = Launch {
        grid: [grid, 1, 1],
        block,
        dynamic_shared_bytes: 64,
        params: address.to_le_bytes().to_vec(),
    };
    let mut printed = Vec::new();
    let mut print = |bytes: &[u8]| printed.extend_from_slice(bytes);
    let done = launch(&module, Func::from_u32(0), &shape, &mut memory, &limits, &mut print);
    let words = memory.bytes(address).chunks(4);
    let words = words.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
    (done.map(|()| words).map_err(|fault| *fault.kind), printed)
}

fn run(text: &str, grid: u32, block: u32) -> Result<Vec<u32>, FaultKind> {
    run_shape(text, grid, [block, 1, 1], (grid * block) as usize).0
}

#[test]
fn threads_know_where_they_are() {
    let text = kernel("", "  store global [v10], v6\n  return\n");
    assert_eq!(run(&text, 3, 40), Ok((0..120).collect()));
}

#[test]
fn barriers_order_shared_memory() {
    let text = kernel(
        "object @tile: shared size 256 align 4\n",
        "  v11: i64 = address @tile
  v12: i64 = zero_extend v2
  v13: i64 = imul v12, v8
  v14: i64 = iadd v11, v13
  store shared [v14], v6
  v15: i32 = const 0
  simt \"barrier.sync.aligned\"(v15)
  v16: i32 = const 63
  v17: i32 = isub v16, v2
  v18: i64 = zero_extend v17
  v19: i64 = imul v18, v8
  v20: i64 = iadd v11, v19
  v21: i32 = load shared [v20]
  store global [v10], v21
  return
",
    );
    let wanted = (0..2).flat_map(|block| (0..64).rev().map(move |n| block * 64 + n)).collect();
    assert_eq!(run(&text, 2, 64), Ok(wanted));
}

#[test]
fn lanes_of_a_mask_wait_for_each_other() {
    // Odd lanes come later, by another way, and all shuffle together.
    let text = kernel(
        "",
        "  v11: i32 = const 1
  v12: i32 = and v2, v11
  v13: i1 = icmp eq v12, v11
  branch v13, block1, block2
block1:
  jump block2
block2:
  v14: i32 = const 31
  v15: i32 = const -1
  v16: i32, v17: i1 = simt \"shfl.bfly\"(v6, v11, v14, v15)
  v18: i32 = simt \"vote.ballot\"(v13, v15)
  v19: i32 = simt \"redux.add.u32\"(v2, v15)
  v20: i32 = iadd v16, v18
  v21: i32 = iadd v20, v19
  store global [v10], v21
  return
",
    );
    let sum = 496u32;
    let wanted = (0..32u32).map(|n| (n ^ 1).wrapping_add(0xaaaa_aaaa).wrapping_add(sum)).collect();
    assert_eq!(run(&text, 1, 32), Ok(wanted));
}

#[test]
fn old_votes_take_those_who_are_there() {
    let text = kernel(
        "",
        "  v11: i32 = const 4
  v12: i1 = icmp ult v2, v11
  branch v12, block1, block2
block1:
  v13: i32 = simt \"activemask\"()
  jump block3(v13)
block2:
  v14: i32 = simt \"vote.old.ballot\"(v12)
  jump block3(v14)
block3(v15: i32):
  v16: i32 = simt \"activemask\"()
  v17: i32 = iadd v15, v16
  store global [v10], v17
  return
",
    );
    let wanted = (0..8).map(|n| if n < 4 { 0xf + 0xff } else { 0xff }).collect();
    assert_eq!(run(&text, 1, 8), Ok(wanted));
}

#[test]
fn atomics_and_guards() {
    let text = kernel(
        "object @count: global size 4 align 4 data \"0a000000\"\n",
        "  v11: i64 = address @count
  v12: i32 = const 1
  v13: i32 = const 20
  v14: i1 = icmp ult v2, v13
  v15: i32 = const 77
  v16: i32 = simt \"atom.add.guarded.global.u32\"(v11, v12, v14, v15)
  simt \"store.weak.guarded.global.i32\"(v10, v16, v14)
  v17: i32 = simt \"load.weak.guarded.global.i32\"(v11, v14, v15)
  return
",
    );
    let wanted = (0..32).map(|n| if n < 20 { n + 10 } else { 0 }).collect();
    assert_eq!(run(&text, 1, 32), Ok(wanted));
}

#[test]
fn calls_return_values_and_exits_end_threads() {
    let text = kernel(
        "object @slot: local size 8 align 8\n",
        "  v11: i64 = address @slot
  store local [v11], v6
  v12: i64 = simt \"togeneric.local\"(v11)
  v13: i32 = call @twice(v12)
  store global [v10], v13
  return
",
    ) + "
define grid @twice(v0: i64) -> i32 {
block0:
  v1: i32 = load generic [v0]
  v2: i32 = const 5
  v3: i1 = icmp eq v1, v2
  branch v3, block1, block2
block1:
  exit
block2:
  v4: i32 = iadd v1, v1
  return v4
}
";
    let wanted = (0..8).map(|n| if n == 5 { 0 } else { 2 * n }).collect();
    assert_eq!(run(&text, 1, 8), Ok(wanted));
}

#[test]
fn faults_are_found() {
    let deadlock = kernel(
        "",
        "  v11: i32 = const 0
  v12: i32 = const 64
  v13: i1 = icmp eq v2, v11
  branch v13, block1, block2
block1:
  simt \"barrier.sync.counted\"(v11, v12)
  jump block2
block2:
  return
",
    );
    assert!(matches!(run(&deadlock, 1, 64), Err(FaultKind::Deadlock(_))));
    let outside = kernel("", "  store global [v10 + 4], v6\n  return\n");
    assert!(matches!(run(&outside, 1, 4), Err(FaultKind::OutOfBounds { bytes: 4, .. })));
    let crooked = kernel("", "  store global [v10 + 2], v6\n  return\n");
    assert!(matches!(run(&crooked, 1, 4), Err(FaultKind::Misaligned { bytes: 4, .. })));
    let constant = kernel(
        "object @k: const size 4 align 4\n",
        "  v11: i64 = address @k\n  store generic [v11], v2\n  return\n",
    );
    assert!(matches!(run(&constant, 1, 1), Err(FaultKind::ReadOnly { .. })));
    let endless = kernel("", "  jump block1\nblock1:\n  jump block1\n");
    assert!(matches!(run(&endless, 1, 2), Err(FaultKind::StepLimit(_))));
    let trap = kernel("", "  trap \"no\"\n");
    assert_eq!(run(&trap, 1, 1), Err(FaultKind::Trap("no".into())));
}

#[test]
fn prints_as_c_does() {
    // "%d %5.2f|%-4s|%#x\n", with the arguments -3, 2.5, "ab" and 255 in the thread's memory.
    let text = kernel(
        "object @format: global size 24 align 1 data \"256420 25352e3266 7c252d3473 7c2523780a00\"
object @ab: global size 3 align 1 data \"6162\"
object @args: local size 32 align 8\n",
        "  v11: i64 = address @args
  v12: i32 = const -3
  store local [v11], v12
  v13: f64 = const 2.5
  store local [v11 + 8], v13
  v14: i64 = address @ab
  store local [v11 + 16], v14
  v15: i32 = const 255
  store local [v11 + 24], v15
  v16: i64 = address @format
  v17: i64 = simt \"togeneric.local\"(v11)
  v18: i32 = simt \"vprintf\"(v16, v17)
  store global [v10], v18
  return
",
    )
    .replace("256420 25352e3266 7c252d3473 7c2523780a00", "25642025352e32667c252d34737c2523780a00");
    let (words, printed) = run_shape(&text, 1, [1, 1, 1], 1);
    assert_eq!(words, Ok(vec![4]));
    assert_eq!(printed, b"-3  2.50|ab  |0xff\n");
}

#[test]
fn prints_bytes() {
    // A byte that is no text, "%hhd|%c|%", with the arguments 300 and 233.
    let text = kernel(
        "object @format: global size 11 align 1 data \"ff256868647c25637c2500\"
object @args: local size 8 align 8\n",
        "  v11: i64 = address @args
  v12: i32 = const 300
  store local [v11], v12
  v13: i32 = const 233
  store local [v11 + 4], v13
  v14: i64 = address @format
  v15: i64 = simt \"togeneric.local\"(v11)
  v16: i32 = simt \"vprintf\"(v14, v15)
  store global [v10], v16
  return
",
    );
    let (words, printed) = run_shape(&text, 1, [1, 1, 1], 1);
    assert_eq!(words, Ok(vec![2]));
    assert_eq!(printed, b"\xff44|\xe9|%");
}

#[test]
fn a_part_of_a_block_waits_at_a_counted_barrier() {
    // Warp 0 arrives, warp 1 waits for it: the value is there.
    let text = kernel(
        "object @box: shared size 4 align 4\n",
        "  v11: i64 = address @box
  v12: i32 = const 32
  v13: i32 = const 1
  v14: i32 = const 64
  v15: i1 = icmp ult v2, v12
  branch v15, block1, block2
block1:
  store shared [v11], v14
  simt \"barrier.arrive.aligned.counted\"(v13, v14)
  return
block2:
  simt \"barrier.sync.aligned.counted\"(v13, v14)
  v16: i32 = load shared [v11]
  store global [v10], v16
  return
",
    );
    let wanted = (0..64).map(|n| if n < 32 { 0 } else { 64 }).collect();
    assert_eq!(run(&text, 1, 64), Ok(wanted));
}

/// Block n of three waits for the word of block n + 1: each turn of one that spins must end, and the
/// blocks behind it begin.
#[test]
fn blocks_may_wait_for_those_behind_them() {
    let text = kernel(
        "",
        "  v11: i32 = const 2
  v12: i1 = icmp slt v3, v11
  branch v12, block1, block2
block1:
  v13: i64 = const 128
  v14: i64 = iadd v10, v13
  jump block3
block3:
  v15: i32 = simt \"load.volatile.global.i32\"(v14)
  v16: i32 = const 0
  v17: i1 = icmp eq v15, v16
  branch v17, block3, block2
block2:
  v18: i32 = const 1
  v19: i32 = iadd v6, v18
  store global [v10], v19
  return
",
    );
    let steps = 20_000_000;
    for running_bytes in [1 << 30, 0] {
        let limits = Limits { steps, running_bytes, ..Limits::default() };
        let done = run_within(&text, 3, [32, 1, 1], 96, limits).0;
        match running_bytes {
            0 => assert_eq!(done, Err(FaultKind::StepLimit(steps))),
            _ => assert_eq!(done, Ok((1..97).collect())),
        }
    }
}
