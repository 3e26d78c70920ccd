//! Threads that part and meet: branches, loops, barriers, operations among lanes.

use crate::support::{Bench, PLACE, stored};

/// Each thread goes around as often as its lane says; those that are done wait for the others.
#[test]
fn loops_of_different_length() {
    let mut bench = Bench::new(&stored(
        "
    sreg.laneid R5
    mov R10, 0
    mov R6, 0
head:
    cmp.ge_u P0, R6, R5
    if P0 bra done, done
    int.add R10, R10, R6
    int.add R6, R6, 1
    bra head, -1
done:
    activemask R7
    int.add R10, R10, R7
",
    ));
    let counters = bench.run(1, 32);
    let expected: Vec<u32> = (0..32_u32).map(|n| (n * n - n.min(n * n)) / 2).collect();
    let expected: Vec<u32> = expected.iter().map(|n| n.wrapping_sub(1)).collect();
    assert_eq!(bench.words(32), expected);
    // 31 times a lane leaves, then all that are left do.
    assert_eq!(counters.divergent, 31);
}

/// Both sides of a nested branch; all meet at its end.
#[test]
fn nested_branches() {
    let mut bench = Bench::new(&stored(
        "
    sreg.laneid R5
    cmp.lt_u P0, R5, 16
    cmp.lt_u P1, R5, 8
    if P0 bra low, join
    mov R10, 3
    bra join, -1
low:
    if P1 bra lowest, inner
    mov R10, 2
    bra inner, -1
lowest:
    mov R10, 1
inner:
    activemask R6
    count.popc R6, R6
    int3.mad R10, R6, 100, R10
join:
    activemask R6
    count.popc R6, R6
    int3.mad R10, R6, 10000, R10
",
    ));
    bench.run(1, 32);
    let words = bench.words(32);
    assert_eq!((words[0], words[8], words[31]), (321_601, 321_602, 320_003));
}

/// Two paths come to shuffles at different instructions; lanes read across.
#[test]
fn shuffles_under_divergence() {
    let mut bench = Bench::new(&stored(
        "
    sreg.laneid R5
    cmp.lt_u P0, R5, 16
    if P0 bra low, join
    int.add R6, R5, 100
    shfl.bfly.sync R10, P1, R6, 16, 31, 0xffffffff
    bra join, -1
low:
    int.add R6, R5, 200
    shfl.bfly.sync R10, P1, R6, 16, 31, 0xffffffff
join:
    redux.add R7, R10, 0xffffffff
    st.global.b32.weak [D2], 128, R7
",
    ));
    bench.run(1, 32);
    let words = bench.words(64);
    assert_eq!((words[0], words[15], words[16], words[31]), (116, 131, 200, 215));
    let sum: u32 = words[..32].iter().sum();
    assert_eq!(words[32..], [sum; 32]);
}

/// The upper half ends; a vote with the full mask is for those that are left.
#[test]
fn votes_after_the_end_of_threads() {
    let mut bench = Bench::new(&stored(
        "
    sreg.laneid R5
    cmp.ge_u P0, R5, 16
    if P0 exit
    cmp.lt_u P1, R5, 3
    ballot.sync R10, P1, 0xffffffff
    vote.any.sync P2, P1, 0xffffffff
    vote.all.sync P3, P1, 0xffffffff
    vote.uni.legacy P4, P1, 0
    p2r R6, P2
    int3.mad R10, R6, 256, R10
    p2r R6, P3
    int3.mad R10, R6, 512, R10
    p2r R6, P4
    int3.mad R10, R6, 1024, R10
    match_any R7, R5, 0xffff
    int3.mad R10, R7, 4096, R10
",
    ));
    bench.run(1, 32);
    let words = bench.words(32);
    assert_eq!(words[2], 256 + 7 + 4096 * 4);
    assert_eq!(words[16..], [0; 16]);
}

/// Lanes name different masks in one instruction.
#[test]
fn shuffles_of_several_groups() {
    let mut bench = Bench::new(&stored(
        "
    sreg.laneid R5
    int.shr R6, R5, 3
    int.shl R6, R6, 3
    mov R7, 0xff
    int.shl R7, R7, R6
    shfl.idx.sync R10, P0, R5, 0, 0x181f, R7
    redux.add R8, R5, R7
    int3.mad R10, R8, 100, R10
",
    ));
    bench.run(1, 32);
    let words = bench.words(32);
    assert_eq!((words[0], words[9], words[31]), (2800, 9208, 22024));
}

/// Half a warp waits at a barrier before the other half comes to the next instruction of it.
#[test]
fn barriers_in_divergent_code() {
    let mut bench = Bench::new(&stored(
        "
    sreg.tid_x R5
    cmp.lt_u P0, R5, 16
    if P0 bra low, join
    bar.any 0, 0
    bra join, -1
low:
    mov R6, 77
    st.shared.b32.weak [0x0], 0, R6
    bar.any 0, 0
join:
    ld.shared.b32.weak R10, [0x0], 0
",
    ));
    bench.run(1, 48);
    assert_eq!(bench.words(48), [77; 48]);
}

#[test]
fn barriers_that_count() {
    let mut bench = Bench::new(&stored(
        "
    cmp.lt_u P0, R0, 40
    bar_popc.aligned R10, 1, 0, P0
    bar_red.and.aligned P1, 2, 0, P0
    bar_red.or.aligned P2, 3, 64, P0
    p2r R6, P1
    int3.mad R10, R6, 100, R10
    p2r R6, P2
    int3.mad R10, R6, 1000, R10
",
    ));
    bench.run(1, 64);
    assert_eq!(bench.words(64), [1040; 64]);
}

/// Even lanes of both warps meet at one barrier, odd ones at another.
#[test]
fn lanes_name_different_barriers() {
    let mut bench = Bench::new(&stored(
        "
    sreg.tid_x R5
    sreg.laneid R6
    int.and R6, R6, 1
    mul_wide.u D8, R6, 4
    mov R7, 5
    cmp.ge_u P0, R5, 32
    if P0 red.add.u32.shared.relaxed [D8], 0, R7
    int.add R6, R6, 1
    bar.any R6, 32
    ld.shared.b32.weak R10, [D8], 0
",
    ));
    bench.run(1, 64);
    assert_eq!(bench.words(64), [80; 64]);
}

/// The first warp produces and goes on, the second waits for it.
#[test]
fn producers_and_consumers() {
    let mut bench = Bench::new(&format!(
        "{PLACE}
    sreg.warpid R5
    cmp.eq P0, R5, 0
    if P0 bra produce, -1
    bar.aligned 5, 64
    ld.shared.b32.weak R10, [0x0], 4
    st.global.b32.weak [D2], 0, R10
    exit
produce:
    mov R6, 9
    st.shared.b32.weak [0x0], 4, R6
    bar_arrive.aligned 5, 64
    exit
"
    ));
    bench.run(1, 64);
    assert_eq!(bench.words(64)[31..34], [0, 9, 9]);
}

/// A lock that each thread takes in turn: the holder goes ahead though the others spin.
#[test]
fn locks_within_a_warp() {
    let mut bench = Bench::new(&stored(
        "
    mov R5, 0
    mov R6, 1
spin:
    cas.u32.shared.acquire R7, [0x0], 0, R5, R6
    cmp.ne P0, R7, 0
    if P0 bra spin, held
held:
    ld.shared.b32.volatile R10, [0x0], 4
    int.add R10, R10, 1
    st.shared.b32.volatile [0x0], 4, R10
    atom.exch.u32.shared.release R7, [0x0], 0, R5
",
    ));
    bench.max_cycles = 100_000_000;
    bench.run(1, 64);
    let mut words = bench.words(64);
    words.sort_unstable();
    assert_eq!(words, (1..=64).collect::<Vec<u32>>());
}

/// Every block waits until all have come.
#[test]
fn blocks_wait_for_each_other() {
    let mut bench = Bench::new(
        "
    ld64.param.weak D2, [0x0], 0
    mov R6, 1
    red.add.u32.global.relaxed [D2], 0, R6
spin:
    ld.global.b32.volatile R7, [D2], 0
    cmp.lt_u P0, R7, 6
    if P0 bra spin, go
go:
    red.add.u32.global.relaxed [D2], 4, R7
    exit
",
    );
    bench.max_cycles = 100_000_000;
    bench.run(6, 1);
    assert_eq!(bench.words(2), [6, 36]);
}

/// The same launch twice: the same memory and the same counts.
#[test]
fn runs_are_the_same() {
    let text = stored(
        "
    sreg.laneid R5
    ld64.param.weak D8, [0x0], 0
    int.and R6, R5, 3
    cmp.eq P0, R6, 1
    if P0 atom.add.u32.global.relaxed R10, [D8], 2048, R5
    bar.aligned 0, 0
    if !P0 atom.exch.u32.global.relaxed R10, [D8], 2052, R0
",
    );
    let run = || {
        let mut bench = Bench::new(&text);
        let counters = bench.run(5, 100);
        (bench.words(1024), counters)
    };
    assert_eq!(run(), run());
}
