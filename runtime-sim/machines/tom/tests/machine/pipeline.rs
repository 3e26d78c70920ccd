//! What needs no memory: latency chains, issue rates, units, branches, barriers, shared memory.
//!
//! An instruction that issues at t has its operands at t + 1, is in its unit for the cycles of its
//! class, and writes a cycle later: what needs it issues 2 cycles and those of the class after it.

use crate::support::{Bench, alone, repeat};

/// Cycles that each link of a chain of such instructions takes.
fn link(line: &str) -> u64 {
    let chain = |count| format!("mov R0, 3\n{}\nexit", repeat(count, |_| line.into()));
    let difference = alone(&chain(12)) - alone(&chain(2));
    assert_eq!(difference % 10, 0, "links of `{line}` are of one length");
    difference / 10
}

#[test]
fn a_dependent_instruction_waits_for_collection_unit_and_register() {
    assert_eq!(link("int.add R0, R0, 1"), 2 + 4);
    assert_eq!(link("int.mul R0, R0, R0"), 2 + 5);
    assert_eq!(link("int.div_u R0, R0, 3"), 2 + 145);
    assert_eq!(link("float.add.f32.rn R0, R0, R0"), 2 + 4);
    assert_eq!(link("float.div.f32.rn R0, R0, R0"), 2 + 39);
    assert_eq!(link("approx.rcp.f32 R0, R0"), 2 + 19);
    assert_eq!(link("float64.add.rn D0, D0, D0"), 2 + 8);
}

/// Registers of one of 16 banks of the file are read one after another.
#[test]
fn registers_of_one_bank_are_read_one_by_one() {
    assert_eq!(link("int3.mad R0, R0, R1, R2"), 2 + 5);
    assert_eq!(link("int3.mad R0, R0, R16, R1"), 3 + 5);
}

/// Two schedulers issue an instruction a cycle each.
#[test]
fn schedulers_issue_an_instruction_a_cycle() {
    let text = |count| format!("{}\nexit", repeat(count, |n| format!("mov R{}, 1", n % 8)));
    let cycles = |block, count| Bench::new(&text(count)).cycles(1, block);
    for (warps, each) in [(1, 1), (2, 1), (4, 2), (16, 8)] {
        // Dependences between instructions 8 apart are over by then.
        assert_eq!(cycles(32 * warps, 48) - cycles(32 * warps, 8), 40 * each, "{warps} warps");
    }
}

/// Each scheduler has units of its own for arithmetic; the special function unit is shared.
#[test]
fn units_take_an_instruction_an_interval() {
    let per = |line: fn(u32) -> String| {
        let text = |count| format!("{}\nexit", repeat(count, line));
        let cycles = |count| Bench::new(&text(count)).cycles(1, 256);
        let (one, more) = (cycles(8), cycles(48));
        (more - one) as f64 / (40.0 * 8.0)
    };
    assert_eq!(per(|n| format!("int.mul R{}, R9, R10", n % 8)), 2.0 / 2.0);
    assert_eq!(per(|n| format!("float64.add.rn D{}, D20, D22", n % 8 * 2)), 8.0 / 2.0);
    assert_eq!(per(|n| format!("approx.ex2.f32 R{}, R9", n % 8)), 8.0);
}

/// What a branch goes to is fetched and decoded.
#[test]
fn branches() {
    let jumps = |count| {
        let line = |n| format!("bra L{n}, -1\nL{n}:");
        format!("{}\nexit", repeat(count, line))
    };
    assert_eq!(alone(&jumps(12)) - alone(&jumps(2)), 10);
    let loops = |count| {
        format!(
            "mov R0, {count}\nL0:\nint.sub R0, R0, 1\ncmp.ne P0, R0, 0\n\
             if P0 bra L0, -1\nexit"
        )
    };
    // Two dependences, the branch, fetch and decode.
    assert_eq!(alone(&loops(12)) - alone(&loops(2)), 10 * (6 + 6 + 1 + 2));
}

#[test]
fn barriers_wait_for_the_last_warp() {
    // The first warp divides, the others wait.
    let text = |divisions| {
        format!(
            "sreg.tid_x R0\ncmp.ge_u P0, R0, 32\nif P0 bra L0, -1\nmov R1, 7\n{}\nL0:\n\
             bar.aligned 0, 0\nexit",
            repeat(divisions, |_| "int.div_u R1, R1, 3".into())
        )
    };
    let cycles = |divisions| Bench::new(&text(divisions)).cycles(1, 128);
    assert_eq!(cycles(5) - cycles(1), 4 * 147);
}

/// One pass a cycle; conflicts of banks one after another.
#[test]
fn shared_memory_serves_conflicts_one_after_another() {
    let text = |stride: u32, loads| {
        let line = |n| format!("ld.shared.b32.weak R{}, [D2], 0", 8 + n % 16);
        format!(
            "sreg.laneid R0\nmul_wide.u D2, R0, {stride}\nld.shared.b32.weak R7, [D2], 0\n\
             mov R6, R7\n{}\nexit",
            repeat(loads, line)
        )
    };
    let cycles = |stride, loads| Bench::new(&text(stride, loads)).cycles(1, 32);
    for (stride, passes) in [(8, 2), (16, 4), (128, 32)] {
        assert_eq!(cycles(stride, 40) - cycles(stride, 24), 16 * passes, "stride {stride}");
    }
    // An answer comes 24 cycles behind the pass, and is written in one more.
    let chain = |count| {
        let line = |_| "ld.shared.b32.weak R2, [D2], 0".to_string();
        format!("mov R2, 0\nmov R3, 0\n{}\nexit", repeat(count, line))
    };
    assert_eq!(alone(&chain(12)) - alone(&chain(2)), 10 * (1 + 24 + 1));
}

/// Blocks wait for registers, places and shared memory.
#[test]
fn blocks_take_a_part_of_a_multiprocessor() {
    let text = "mov R0, 9\nint.div_u R0, R0, 3\nint.div_u R0, R0, 3\nexit";
    let blocks = |block, changes: &[(&str, &str)]| {
        let mut bench = Bench::with("tom-baseline", changes, text);
        bench.run(1, block).measures.occupancy
    };
    // 16 KiB of shared memory each.
    assert_eq!(blocks(32, &[]), (3, "shared memory"));
    assert_eq!(blocks(512, &[]), (2, "registers"));
    assert_eq!(blocks(32, &[("sm.blocks", "2")]), (2, "blocks"));
    assert_eq!(blocks(1024, &[]), (1, "warps"));
    // 68 multiprocessors take three blocks each; one more waits for the first to leave.
    let cycles = |grid| Bench::new(text).cycles(grid, 32);
    let full = cycles(68 * 3);
    assert!(full < cycles(1) + 20 && cycles(68 * 3 + 1) > full + 280);
}
