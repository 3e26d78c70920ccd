//! Far instructions: latency chains, issue rates, branches, barriers, shared memory.
//!
//! An instruction that issues at t has its operands at t + 2, is in its unit for the cycles of its
//! class, and writes a cycle later: what needs it issues 3 cycles and those of the class after it.

use crate::support::{Bench, alone, more};

/// `count` instructions, with `n` for their numbers.
fn repeat(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

/// Cycles that each link of a chain of such instructions takes.
fn link(line: &str) -> u64 {
    let chain = |count| format!("mov R0, 3\n{}\nexit", repeat(count, |_| line.into()));
    let difference = alone(&chain(12)) - alone(&chain(2));
    assert_eq!(difference % 10, 0, "links of `{line}` are of one length");
    difference / 10
}

#[test]
fn a_dependent_instruction_waits_for_collection_unit_and_register() {
    assert_eq!(link("far int.add R0, R0, 1"), 3 + 1);
    assert_eq!(link("far int.mul R0, R0, R0"), 3 + 1);
    assert_eq!(link("far int.div_u R0, R0, 3"), 3 + 120);
    assert_eq!(link("far int.rem_u R0, R0, 3"), 3 + 118);
    assert_eq!(link("far float.add.f32.rn R0, R0, R0"), 3 + 1);
    assert_eq!(link("approx.rcp.f32 R0, R0"), 3 + 57);
    assert_eq!(link("approx.ex2.f32 R0, R0"), 3 + 19);
}

/// Registers of one bank of the file are read one after another.
#[test]
fn registers_of_one_bank_are_read_one_by_one() {
    assert_eq!(link("far int3.mad R0, R0, R1, R2"), 3 + 1);
    assert_eq!(link("far int3.mad R0, R0, R4, R1"), 4 + 1);
    assert_eq!(link("far int3.mad R0, R0, R4, R8"), 5 + 1);
}

/// What depends on nothing issues a cycle after another.
#[test]
fn a_warp_issues_an_instruction_a_cycle() {
    let text = |count| format!("{}\nexit", repeat(count, |n| format!("far mov R{}, 1", n % 8)));
    assert_eq!(more(&text(8), &text(48)), 40);
}

/// Two ports of a subcore, but one far ALU: warps together issue to it one a cycle.
#[test]
fn warps_of_a_subcore_share_its_alu() {
    let text = |count| format!("{}\nexit", repeat(count, |n| format!("far mov R{}, 1", n % 8)));
    let cycles = |count| Bench::new("mpu-core", &text(count)).cycles(1, 256);
    // Two warps on each of four subcores.
    assert_eq!(cycles(48) - cycles(8), 2 * 40);
    // One far, one near: both ALUs are busy, until the TSVs have no more room.
    let mixed = |count| {
        let line = |n| format!("far mov R{}, 1\nnear mov R{}, 1", n % 4, 8 + n % 4);
        format!("{}\nexit", repeat(count, line))
    };
    let cycles = |count| Bench::new("mpu-core", &mixed(count)).cycles(2, 32);
    assert_eq!(cycles(30) - cycles(10), 2 * 20);
}

/// A branch is resolved two cycles after its issue; what it goes to is fetched and decoded.
#[test]
fn branches() {
    let jumps = |count| {
        let line = |n| format!("bra L{n}, -1\nL{n}:");
        format!("{}\nexit", repeat(count, line))
    };
    // Not taken as far as the front end sees: the target comes next.
    assert_eq!(more(&jumps(2), &jumps(12)), 10);
    let loops = |count| {
        format!(
            "mov R0, {count}\nL0:\nint.sub R0, R0, 1\ncmp.ne P0, R0, 0\n\
             if P0 bra L0, -1\nexit"
        )
    };
    // Two dependences, the branch resolved in 2 behind its issue, fetch and decode.
    assert_eq!(more(&loops(2), &loops(12)), 10 * (4 + 4 + 1 + 2 + 2));
}

#[test]
fn barriers_wait_for_the_last_warp() {
    // The first warp divides, the others wait.
    let text = |divisions| {
        format!(
            "sreg.tid_x R0\ncmp.ge_u P0, R0, 32\nif P0 bra L0, -1\nmov R1, 7\n{}\nL0:\n\
             bar.aligned 0, 0\nexit",
            repeat(divisions, |_| "far int.div_u R1, R1, 3".into())
        )
    };
    let cycles = |divisions| Bench::new("mpu-core", &text(divisions)).cycles(1, 128);
    assert_eq!(cycles(5) - cycles(1), 4 * 123);
}

/// One request every two cycles, a cycle until it answers; conflicts of banks one after another.
#[test]
fn shared_memory_serves_conflicts_one_after_another() {
    let text = |stride: u32, loads| {
        let line = |n| format!("ld.shared.b32.weak R{}, [D2], 0", 8 + n % 4);
        format!(
            "sreg.laneid R0\nmul_wide.u D2, R0, {stride}\nnear ld.shared.b32.weak R8, [D2], 0\n{}\n\
             near mov R9, R8\nexit",
            repeat(loads, line)
        )
    };
    let cycles = |stride, loads| Bench::new("mpu-core", &text(stride, loads)).cycles(1, 32);
    for (stride, passes) in [(4, 1), (8, 2), (16, 4), (128, 32), (0, 1), (132, 1)] {
        assert_eq!(cycles(stride, 24) - cycles(stride, 4), 20 * 2 * passes, "stride {stride}");
    }
}
