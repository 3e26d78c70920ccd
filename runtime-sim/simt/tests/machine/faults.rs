//! Launches that end badly: what is said, and of which thread.

use nbcc_sim_simt::{Launch, RunOptions};

use crate::support::{Bench, PLACE, stored};

fn fault(text: &str, grid: u32, block: u32) -> String {
    Bench::new(text).fault(grid, block)
}

#[test]
fn accesses_out_of_bounds() {
    // The buffer has 1024 words: thread 1024 is the first beyond it.
    let text = format!("{PLACE}\n.loc 1 42 3\n    st.global.b32.weak [D2], 0, R0\n    exit");
    let message = fault(&text, 11, 100);
    assert!(message.contains("out of bounds store of 4 bytes at global address"), "{message}");
    let place = "in kernel `test`, test.cu:42, block (10, 0, 0), thread (24, 0, 0)";
    assert!(message.contains(place), "{message}");
    assert!(message.contains("nearest below: 4096 bytes"), "{message}");

    for (text, expected) in [
        ("ld.global.b32.weak R10, [0x0], 0", "out of bounds load of 4 bytes at global address 0x0"),
        ("ld.global.b32.weak R10, [D2], 2", "misaligned load"),
        ("ld64.global.weak D20, [D2], 4", "misaligned load of 8 bytes"),
        ("ld4.global.b32.weak R10, R11, R12, R13, [D2], 8", "misaligned load of 16 bytes"),
        // Shared memory ends at 1024: behind it would be another block's.
        ("st.shared.b32.weak [0x0], 1024, R0", "out of bounds store of 4 bytes at shared"),
        ("st.shared.b32.weak [0x0], -4, R0", "out of bounds store"),
        ("ld.local.b32.weak R10, [0x0], 64", "out of bounds load of 4 bytes at local"),
        ("ld.param.b32.weak R10, [0x0], 32", "out of bounds load of 4 bytes at param"),
        ("movi64 D4, x7f00000000000400\nld.generic.u8.weak R10, [D4], 0", "at generic address"),
        ("addr D4, 0, 64\nld.const.u8.weak R10, [D4], 0", "out of bounds load of 1 bytes at const"),
        ("addr D4, 0, 0\nst.global.u8.weak [D4], 0, R0", "write to constant data store"),
        ("red.add.u32.global.relaxed [D2], 1, R0", "misaligned atomic operation"),
    ] {
        let message = fault(&stored(text), 1, 1);
        assert!(message.contains(expected), "{message}: expected {expected}");
    }
}

#[test]
fn barriers_that_nobody_completes() {
    let text = "
    sreg.tid_x R0
    cmp.lt_u P0, R0, 32
    if P0 bra other, -1
.loc 1 7 0
    bar.aligned 0, 0
    exit
other:
.loc 1 9 0
    bar.aligned 1, 0
    exit
";
    let message = fault(text, 3, 64);
    assert!(message.contains("deadlock: 64 threads"), "{message}");
    assert!(message.contains("test.cu:9, block (0, 0, 0), thread (0, 0, 0)"), "{message}");

    // A lane that is named never comes: it waits at a barrier for those that name it.
    let text = "
    sreg.laneid R0
    cmp.eq P0, R0, 3
    if P0 bra three, -1
    warpsync 0xffffffff
    bar.any 0, 0
    exit
three:
    bar.any 0, 0
    exit
";
    assert!(fault(text, 1, 32).contains("deadlock: 32 threads"));
    assert!(fault("bar.aligned 0, 33\nexit", 1, 64).contains("no multiple of 32"));
    assert!(fault("mov R0, 16\nbar.aligned R0, 0\nexit", 1, 64).contains("no barrier 16"));
}

#[test]
fn endless_loops_are_given_up() {
    let text = ".loc 1 5 1\nhead:\n    bra head, -1\n    exit";
    let message = fault(text, 1, 1);
    assert!(message.contains("given up after 1000000 cycles"), "{message}");
    assert!(message.contains("test.cu:5"), "{message}");
    // One thread of a warp never ends.
    let text = "
    sreg.laneid R0
    cmp.eq P0, R0, 5
head:
    if P0 bra head, end
end:
    exit
";
    let message = fault(text, 1, 32);
    assert!(message.contains("thread (5, 0, 0)"), "{message}");
}

#[test]
fn traps_assertions_and_breakpoints() {
    assert!(fault("trap 0\nexit", 1, 1).starts_with("trap: no way"));
    assert!(fault("brkpt\nexit", 1, 1).contains("breakpoint"));
    // Texts are put together in shared memory: `x>0`, `a.cu`, `f`.
    let text = "
    sreg.tid_x R9
    mov R0, 0x00303e78
    st.shared.b32.weak [0x0], 0, R0
    mov R0, 0x75632e61
    st.shared.b32.weak [0x0], 8, R0
    mov R0, 0x66
    st.shared.b32.weak [0x0], 16, R0
    mov R0, 0x000a6425
    st.shared.b32.weak [0x0], 24, R0
    movi64 D2, x7f00000000000000
    movi64 D4, x7f00000000000008
    movi64 D6, x7f00000000000010
    movi64 D10, x7f00000000000018
    st.local.b32.weak [0x0], 0, R9
    movi64 D12, x7e00000000000000
    vprintf R8, D10, D12
    cmp.lt_u P0, R9, 2
    if P0 exit
    mov R8, 12
    assert_fail D2, D4, R8, D6
    exit
";
    let mut bench = Bench::new(text);
    let message = bench.fault(1, 4);
    assert!(message.starts_with("a.cu:12: f: assertion `x>0` failed"), "{message}");
    assert!(message.contains("thread (2, 0, 0)"), "{message}");
    // What was printed before is there.
    assert_eq!(bench.output, b"0\n1\n2\n3\n");
}

#[test]
fn launches_that_are_refused() {
    let mut bench = Bench::new("exit");
    let mut refuse = |launch: Launch<'_>, expected: &str| {
        let options = RunOptions::default();
        let error = bench.device.launch(&bench.module, &launch, &options, &mut Vec::new());
        let message = error.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}: expected {expected}");
    };
    let good = Launch {
        kernel: "test",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params: &[0; 32],
    };
    refuse(Launch { kernel: "tets", ..good.clone() }, "there is no kernel `tets`, there is `test`");
    refuse(Launch { grid: [0, 1, 1], ..good.clone() }, "a grid of 0 x 1 x 1");
    refuse(Launch { grid: [1, 70000, 1], ..good.clone() }, "a grid of 1 x 70000 x 1");
    refuse(Launch { block: [1025, 1, 1], ..good.clone() }, "1025 threads, more than the 1024");
    refuse(Launch { block: [u32::MAX; 3], ..good.clone() }, "more than the 1024");
    refuse(Launch { block: [0, 1, 1], ..good.clone() }, "at least 1");
    refuse(Launch { block: [1, 1, 65], ..good.clone() }, "z is at most 64");
    refuse(Launch { dynamic_shared: 65000, ..good.clone() }, "66024 bytes of shared memory");
    refuse(Launch { params: &[0; 31], ..good }, "have 31 bytes, but kernel `test` takes 32");
}
