//! Near instructions: offload, commit, moves of registers, the three policies.

use crate::support::{Bench, alone, more};

fn repeat(count: u32, line: &str) -> String {
    vec![line; count as usize].join("\n")
}

/// Down over the TSVs in a cycle, and up in another: two more than far.
#[test]
fn a_near_chain_goes_down_and_up() {
    let chain =
        |count| format!("near mov R0, 3\n{}\nexit", repeat(count, "near int.add R0, R0, 1"));
    assert_eq!(more(&chain(2), &chain(12)), 10 * (4 + 2));
}

/// A register of 128 bytes is 8 cycles on the TSVs. To the near side: a cycle in the offload engine,
/// one to read it, 8 on the way, one to write it; then the instruction goes.
#[test]
fn moves_to_the_near_side() {
    let text = |side: &str| format!("far mov R0, 3\n{side} int.add R1, R0, 1\nexit");
    // Issue to result: far 4; near behind the move 1 + 8 + 1 later, and down and up.
    assert_eq!(alone(&text("near")) - alone(&text("far")), 1 + 8 + 1 + 2);
    // The copy is valid on both sides: no second move.
    let twice = format!("{}\nnear int.add R2, R0, 1\nexit", text("near").replace("exit", ""));
    let mut bench = Bench::new("mpu-core", &twice);
    assert_eq!(bench.run(1, 32).measures.counts.words_near, 1);
}

/// To the far side the near register move engine is asked first.
#[test]
fn moves_to_the_far_side() {
    let text = |side: &str| format!("near mov R0, 3\n{side} int.add R1, R0, 1\nexit");
    // A cycle to ask, one to read, 8 up, one to write; near has the way down and up instead.
    assert_eq!(alone(&text("far")) - alone(&text("near")), 1 + 1 + 8 + 1 - 2);
}

/// Moves of four subcores share the TSVs of their core: 16 ticks each.
#[test]
fn moves_are_bound_by_the_tsvs() {
    let text = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|n| format!("far mov R{n}, 3\nnear int.add R{}, R{n}, 1", 16 + n % 8))
            .collect();
        format!("{}\nexit", lines.join("\n"))
    };
    let cycles = |count| Bench::new("mpu-core", &text(count)).cycles(1, 512);
    // 16 warps a core, 10 registers more each: 160 moves of 8 cycles, and as many instructions of
    // half a cycle.
    let spent = cycles(12) - cycles(2);
    let bound = 160 * 8 + 160 / 2;
    assert!((bound..bound + 16).contains(&spent), "{spent}, bound {bound}");
}

/// Where no hint decides, an instruction goes where all its sources are.
#[test]
fn hardware_decides_by_the_track_table() {
    let near = |text: &str| {
        let mut bench = Bench::new("mpu-core", text);
        bench.run(1, 32).measures.profile.near
    };
    // A copy near and far; then of two near registers; of a far one; no source at all.
    let text = "near mov R0, 1\nint.add R1, R0, 1\nint.add R2, R1, R0\nfar mov R3, 1\n\
                int.add R4, R3, R2\nmov R5, 1\nexit";
    assert_eq!(near(text), [1, 1, 1, 0, 0, 0, 0]);
    // The operation decides before the hint.
    assert_eq!(near("near mov R0, 1\nnear approx.rcp.f32 R1, R0\nexit"), [1, 0, 0]);
}

/// Lanes that are left out keep what the destination held, so that it has to be there.
#[test]
fn partial_writes_move_their_destination() {
    let text = "far mov R1, 1\nsreg.laneid R0\ncmp.lt_u P0, R0, 5\nnear mov R2, 4\n\
                if P0 near int.add R1, R2, 1\nexit";
    assert_eq!(Bench::new("mpu-core", text).run(1, 32).measures.counts.words_near, 1);
    let whole = text.replace("if P0 ", "");
    assert_eq!(Bench::new("mpu-core", &whole).run(1, 32).measures.counts.words_near, 0);
}

/// Local memory is stored from and loaded to the side that the hint says: where all else is far no
/// register is moved, and no near-bank unit does the access by itself.
#[test]
fn hints_say_on_which_side_local_memory_is_used() {
    let counts = |side: &str| {
        let text = format!(
            "far mov R0, 3\n{side} st.local.b32.weak [0x0], 0, R0\n\
             {side} ld.local.b32.weak R1, [0x0], 0\nfar int.add R2, R1, 1\nexit"
        );
        let counts = Bench::new("mpu-core", &text).run(1, 32).measures.counts;
        (counts.words_near, counts.words_far, counts.whole)
    };
    assert_eq!(counts("far"), (0, 0, 0));
    assert_eq!(counts("near"), (1, 1, 2));
    assert_eq!(counts(""), counts("near"));
}

/// Predicates are 32 bytes: two cycles.
#[test]
fn predicates_move_too() {
    let text = |side: &str| {
        format!("near mov R0, 3\nnear cmp.lt_u P0, R0, 5\n{side} sel R1, R0, 7, P0\nexit")
    };
    let mut bench = Bench::new("mpu-core", &text("far"));
    let counts = bench.run(1, 32).measures.counts;
    assert_eq!((counts.words_far, counts.predicates_far), (1, 1));
    let counts = Bench::new("mpu-core", &text("near")).run(1, 32).measures.counts;
    assert_eq!((counts.words_far, counts.predicates_far), (0, 0));
}

/// On the base die everything is far, whatever hints say.
#[test]
fn the_base_die_has_no_near_side() {
    let text = "near mov R0, 3\nnear int.add R1, R0, 1\nexit";
    let mut bench = Bench::new("mpu-base-die", text);
    let timing = bench.run(1, 32);
    assert_eq!(timing.measures.profile.near, [0; 3]);
    assert_eq!(timing.measures.tsv, [0; 8]);
}
