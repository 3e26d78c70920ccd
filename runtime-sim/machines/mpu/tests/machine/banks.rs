//! Loads and stores of the core's own banks: row hits and misses, coalesced and strided, offloaded
//! whole or word by word.

use crate::support::{Bench, PLACE};

fn cycles(machine: &str, changes: &[(&str, &str)], text: &str, threads: u32) -> u64 {
    let mut all = vec![("dram.refresh", "false")];
    all.extend(changes);
    Bench::with(machine, &all, text).cycles(1, threads)
}

/// A chain of loads: each brings the address of the next (memory is zero, so it stays the same).
fn chain(loads: u32, step: u32) -> String {
    let mut text = format!("{PLACE}\n");
    for number in 0..loads {
        text +=
            &format!("ld.global.b32.weak R11, [D2], {}\nfar int.add R2, R2, R11\n", number * step);
    }
    text + "exit"
}

/// The way of a whole access: collect 1, coalesce 1, down 1, bank, register 1, up 1.
const WAY: u64 = 1 + 1 + 1 + 1 + 1;
/// To the far side: ask 1, read 1, 8 on the way, write 1; and the dependent instruction 4.
const BACK: u64 = 1 + 1 + 8 + 1;

/// Row hits: tCL + tBL behind the command, which comes a cycle after the request; the last of the
/// four words, a command a cycle, 3 cycles later.
#[test]
fn a_row_hit_takes_its_column_command_and_data() {
    let each = (cycles("mpu-core", &[], &chain(12, 512), 32)
        - cycles("mpu-core", &[], &chain(2, 512), 32))
        / 10;
    // Issue to issue of the dependent sum, that and its result.
    let hit = 1 + 2 + 2 + 3;
    assert_eq!(each, 1 + WAY + hit + BACK + 4);
}

/// Another row of the same row buffer: precharge and activate besides. Rows are open for longer than
/// tRAS and tRTP by then.
#[test]
fn a_row_conflict_takes_precharge_and_activate_besides() {
    let row = 512 * 32;
    let step = |changes: &[(&str, &str)], step| {
        (cycles("mpu-core", changes, &chain(8, step), 32)
            - cycles("mpu-core", changes, &chain(4, step), 32))
            / 4
    };
    let hit = step(&[], 512);
    let single = [("memory.row_buffers", "1")];
    // Four banks: precharges, activates and column commands of each follow a cycle apart, activates
    // tRRD = 4 apart, so that the last word comes 3 * 4 after the first, instead of 3.
    assert_eq!(step(&single, row) - hit, 14 + 14 + 3 * 4 - 3);
    // With four row buffers consecutive rows lie in different ones, which are empty at first.
    let first = |rows: u32| cycles("mpu-core", &[], &chain(rows, row), 32);
    assert_eq!(first(4) - first(3), hit + 14 + 3 * 4 - 3);
    // And stay open: with four rows in turn only the first round opens any.
    let mut bench = Bench::new("mpu-core", &chain(4, row));
    let found = bench.run(1, 32).measures.dram.found;
    assert_eq!(found, [0, 16, 0]);
}

/// Words that do not lie side by side: every bank word crosses the TSVs by itself, and the register
/// goes back to the near side.
#[test]
fn strided_loads_cross_the_tsvs_word_by_word() {
    let load = |stride: u32| {
        format!(
            "sreg.tid_x R0\nld64.param.weak D2, [0x0], 0\nmad_wide.u D2, R0, {stride}, D2\n\
             ld.global.b32.weak R10, [D2], 0\nexit"
        )
    };
    for (stride, words) in [(4, 4), (8, 8), (32, 32), (64, 32)] {
        let mut bench = Bench::new("mpu-core", &load(stride));
        let measures = bench.run(1, 32).measures;
        let counts = measures.counts;
        assert_eq!((counts.accesses, counts.words), (1, words), "stride {stride}");
        let whole = stride == 4;
        assert_eq!(counts.whole, u64::from(whole));
        let expected = match whole {
            true => 8 + 8,
            // A request and an answer a word, the register, its commit.
            false => words * (8 + 32) + 128 + 8,
        };
        assert_eq!(measures.tsv.iter().sum::<u64>(), expected, "stride {stride}");
    }
}

/// Words that come one by one are bound by the way up: four ticks each.
#[test]
fn strided_loads_are_bound_by_the_way_up() {
    let text = |loads: u32| {
        let mut text = String::from(
            "sreg.tid_x R0\nld64.param.weak D2, [0x0], 0\nmad_wide.u D2, R0, 32, D2\n",
        );
        for number in 0..loads {
            text += &format!("ld.global.b32.weak R{}, [D2], {}\n", 10 + number % 8, 1024 * number);
        }
        text + "exit"
    };
    let cycles = |loads| Bench::new("mpu-core", &text(loads)).cycles(1, 128);
    let spent = cycles(24) - cycles(4);
    // 20 loads of 4 warps, 32 words of 4 ticks each, half a cycle a tick; and a commit each.
    let bound = 20 * 4 * 32 * 4 / 2;
    assert!((bound..bound + bound / 20).contains(&spent), "{spent}, bound {bound}");
}

/// Misaligned by a word: the access reaches two units and is not offloaded.
#[test]
fn what_is_not_offloaded() {
    let whole = |text: &str, threads| {
        let text = format!("{PLACE}\n{text}\nexit");
        let mut bench = Bench::new("mpu-core", &text);
        bench.run(1, threads).measures.counts.whole
    };
    assert_eq!(whole("ld.global.b32.weak R10, [D2], 0", 32), 1);
    assert_eq!(whole("ld.global.b32.weak R10, [D2], 4", 32), 0, "two units");
    assert_eq!(whole("ld.global.b32.weak R10, [D2], 128", 32), 0, "another unit");
    assert_eq!(whole("ld.global.b32.weak R10, [D2], 512", 32), 1, "the same unit");
    assert_eq!(whole("ld.global.b32.weak R10, [D2], 0", 31), 0, "a lane is missing");
    assert_eq!(whole("st.global.b32.weak [D2], 0, R0", 128), 4, "each warp its own unit");
    let guarded = "cmp.lt_u P0, R0, 7\nif P0 ld.global.b32.weak R10, [D2], 0";
    assert_eq!(whole(guarded, 32), 0, "lanes diverge");
    assert_eq!(whole("far mov R9, 0\nst.local.b32.weak [0x0], 0, R9", 64), 2, "local memory");
}

/// Bandwidth of a unit: a command a cycle, 32 bytes each, where rows are hit. Four warps of one
/// subcore read the same words.
#[test]
fn streams_are_bound_by_the_command_bus() {
    let text = |loads: u32| {
        let mut text =
            String::from("sreg.tid_x R0\nld64.param.weak D2, [0x0], 0\nmad_wide.u D2, R0, 4, D2\n");
        for number in 0..loads {
            text += &format!("ld.global.b32.weak R{}, [D2], {}\n", 10 + number % 16, 512 * number);
        }
        text + "exit"
    };
    let cycles = |loads| {
        let changes = [("dram.refresh", "false"), ("core.near_requests", "32")];
        Bench::with("mpu-core", &changes, &text(loads)).cycles(4, 32)
    };
    let spent = cycles(28) - cycles(12);
    let bound = 16 * 4 * 4;
    assert!((bound..bound + 24).contains(&spent), "{spent}, bound {bound}");
}

/// Every 3900 cycles the banks are refreshed, also those that nobody uses.
#[test]
fn idle_banks_are_refreshed() {
    let text = "mov R0, 400\nL0:\nint.sub R0, R0, 1\ncmp.ne P0, R0, 0\nint.div_u R1, R0, 3\n\
         int.div_u R1, R1, 3\nif P0 bra L0, -1\nexit";
    let mut bench = Bench::with("mpu-core", &[], text);
    let measures = bench.run(1, 32).measures;
    let refreshes = measures.dram.commands[2];
    assert_eq!(refreshes, 4 * (measures.cycles / 3900), "{} cycles", measures.cycles);
    assert!(refreshes > 20);
}

/// Lanes that change one word are served one after another.
#[test]
fn atomic_operations_serve_lanes_in_turn() {
    let text = |stride: u32| {
        format!(
            "sreg.tid_x R0\nld64.param.weak D2, [0x0], 0\nmad_wide.u D2, R0, {stride}, D2\n\
             mov R10, 1\nred.add.u32.global.relaxed [D2], 0, R10\nexit"
        )
    };
    let mut bench = Bench::new("mpu-core", &text(0));
    let timing = bench.run(1, 32);
    assert_eq!(bench.words(1), [32]);
    assert_eq!(timing.measures.dram.requests, [2, 1, 1]);
    assert_eq!(timing.measures.counts.atomic_lanes, 32);
    let mut bench = Bench::new("mpu-core", &text(4));
    assert_eq!(bench.run(1, 32).measures.dram.requests, [8, 4, 4]);
    assert_eq!(bench.words(3), [1; 3]);
}
