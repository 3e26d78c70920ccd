//! Loads, stores and atomic operations.

use crate::support::{Bench, stored};

#[test]
fn widths_and_vectors() {
    let mut bench = Bench::new(
        "
    addr D4, 0, 0
    ld64.param.weak D2, [0x0], 0
    ld.const.s8.weak R10, [D4], 7
    ld2.global.u16.weak R11, R12, [D4], 4
    ld4.generic.u8.weak R13, R14, R15, R16, [D4], 4
    ld64.global.weak D20, [D4], 0
    st.global.b32.weak [D2], 0, R10
    st2.global.b32.weak [D2], 8, R11, R12
    st4.global.u8.weak [D2], 16, R16, R15, R14, R13
    st64.global.weak [D2], 24, D20
    st.global.u16.weak [D2], 32, R11
    exit
",
    );
    bench.run(1, 1);
    let expected = [7, 0, 0x0504, 0x0706, 0x0405_0607, 0, 0x0302_0100, 0x0706_0504, 0x0504];
    assert_eq!(bench.words(9), expected);
}

/// Shared memory reversed over two warps, through generic addresses as well.
#[test]
fn shared_memory_and_barriers() {
    let mut bench = Bench::new(&stored(
        "
    sreg.tid_x R5
    mul_wide.u D6, R5, 4
    st.shared.b32.weak [D6], 0, R0
    bar.aligned 0, 0
    mov R8, 63
    int.sub R8, R8, R5
    mul_wide.u D6, R8, 4
    to_generic.shared D6, D6
    ld.generic.b32.weak R10, [D6], 0
",
    ));
    let counters = bench.run(2, 64);
    let expected: Vec<u32> = (0..128).map(|i: u32| if i < 64 { 63 - i } else { 191 - i }).collect();
    assert_eq!(bench.words(128), expected);
    // Two blocks on two cores, each of two warps with 17 instructions.
    assert_eq!((counters.instructions(), counters.cycles), (4 * 17, 2 * 17));
}

#[test]
fn local_memory_is_a_threads_own() {
    let mut bench = Bench::new(&stored(
        "
    st.local.b32.weak [0x0], 60, R0
    mov R10, 0
    ld.local.b32.weak R10, [0x0], 60
",
    ));
    bench.run(1, 33);
    assert_eq!(bench.words(33), (0..33).collect::<Vec<u32>>());
}

/// A histogram of eight bins, in shared memory and then in global memory.
#[test]
fn atomics() {
    let mut bench = Bench::new(
        "
    ld64.param.weak D2, [0x0], 0
    sreg.tid_x R0
    int.and R1, R0, 7
    mul_wide.u D4, R1, 4
    mov R6, 1
    red.add.u32.shared.relaxed [D4], 0, R6
    bar.aligned 0, 0
    cmp.ge_u P0, R0, 8
    if P0 exit
    ld.shared.b32.weak R7, [D4], 0
    int64.add D8, D2, D4
    atom.add.u32.global.relaxed R11, [D8], 0, R7
    mov R12, 100
    atom.max.s32.global.relaxed R11, [D2], 64, R0
    cas.u32.global.relaxed R11, [D2], 68, R11, R12
    atom.inc.u32.global.relaxed R11, [D2], 72, R12
    exit
",
    );
    bench.run(3, 256);
    let words = bench.words(19);
    assert_eq!(words[..8], [96; 8]);
    assert_eq!((words[16], words[18]), (7, 24));
}

/// Sums of binary32 in global memory flush subnormal numbers, in shared memory they do not.
#[test]
fn float_atomics_flush_in_global_memory() {
    let mut bench = Bench::new(
        "
    ld64.param.weak D2, [0x0], 0
    mov R0, 3
    red.add.f32.global.relaxed [D2], 0, R0
    red.add.f32.shared.relaxed [0x0], 0, R0
    movi64 D4, x7f00000000000004
    red.add.f32.generic.relaxed [D4], 0, R0
    ld64.shared.weak D6, [0x0], 0
    st64.global.weak [D2], 8, D6
    exit
",
    );
    bench.run(1, 1);
    assert_eq!(bench.words(4), [0, 0, 3, 3]);
}

#[test]
fn spaces_of_generic_addresses() {
    let mut bench = Bench::new(&stored(
        "
    movi64 D20, x7f00000000000010
    is_space.shared P0, D20
    is_space.global P1, D20
    is_space.global P2, D2
    addr D22, 0, 4
    is_space.const P3, D22
    is_space.global P4, D22
    movi64 D24, x0000000000000008
    to_generic.local D24, D24
    is_space.local P5, D24
    p2r R10, P0
    p2r R11, P1
    int.shl R11, R11, 1
    int.or R10, R10, R11
    p2r R11, P2
    int.shl R11, R11, 2
    int.or R10, R10, R11
    p2r R11, P3
    int.shl R11, R11, 3
    int.or R10, R10, R11
    p2r R11, P4
    int.shl R11, R11, 4
    int.or R10, R10, R11
    p2r R11, P5
    int.shl R11, R11, 5
    int.or R10, R10, R11
",
    ));
    bench.run(1, 1);
    assert_eq!(bench.words(1), [0b10_1101]);
}
