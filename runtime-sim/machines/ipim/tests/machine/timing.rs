//! Cycles of small programs, worked out by hand from Table III of the iPIM paper and
//! the rules in docs/machine-ipim.md. tTSV is 1: an instruction is at its engines a
//! cycle after its issue.

use nbcc_sim_ipim::simulation::RunOptions;

use crate::support::{cycles, machine, program, simulation, small_cubes, small_vault, try_time};

fn check(cases: &[(&str, u64)]) {
    let machine = small_vault();
    for (text, expected) in cases {
        assert_eq!(cycles(&machine, text), *expected, "{text}");
    }
}

#[test]
fn operations_take_tsv_register_file_and_unit() {
    let comp = |op: &str| format!("comp.{op}.vv D1, D2, D3, vec=0xf, simb=0xf");
    let calc = |op: &str| format!("calc_arf.{op} A8, A9, A10, simb=0xf");
    for (op, unit) in [("add", 4), ("sub", 4), ("mul", 5), ("mac", 8)] {
        check(&[
            (&comp(&format!("{op}.f32")), 1 + 1 + unit),
            (&comp(&format!("{op}.i32")), 1 + 1 + unit),
            (&calc(op), 1 + 1 + unit),
        ]);
    }
    for op in ["shl", "shr", "sra", "and", "or", "xor", "croplsb", "cropmsb"] {
        check(&[(&comp(&format!("{op}.i32")), 1 + 1 + 1), (&calc(op), 1 + 1 + 1)]);
    }
    check(&[
        ("", 0),
        ("mov_drf A8, D1, simb=0xf", 1 + 1 + 1),
        ("mov_arf A8, D1, simb=0xf", 1 + 1 + 1),
        ("reset D1, simb=0xf", 1 + 1),
        ("reset D1, simb=0x0", 1),
        ("seti_crf C1, 5", 1),
        ("seti_vsm 0, 5", 1),
    ]);
}

#[test]
fn one_instruction_issues_a_cycle_unless_it_depends() {
    let add = "comp.add.f32.vv";
    let of =
        |regs: [&str; 2]| regs.map(|regs| format!("{add} {regs}, vec=0xf, simb=0xf\n")).concat();
    check(&[
        // Nothing in common: issue at 0 and 1.
        (&of(["D1, D2, D3", "D4, D5, D6"]), 1 + 6),
        // True dependence: the second issues when the first has retired.
        (&of(["D1, D2, D3", "D4, D1, D6"]), 6 + 6),
        // Output dependence.
        (&of(["D1, D2, D3", "D1, D5, D6"]), 6 + 6),
        // Anti dependence.
        (&of(["D1, D2, D3", "D2, D5, D6"]), 6 + 6),
        // Reading the same register is no dependence.
        (&of(["D1, D2, D3", "D4, D2, D3"]), 1 + 6),
        // A multiply-accumulate reads its destination.
        (
            "comp.mac.f32.vv D1, D2, D3, vec=0xf, simb=0xf\ncomp.mac.f32.vv D1, D2, D3, vec=0xf, simb=0xf",
            20,
        ),
        // Dependences are between registers, whatever engines use them.
        ("reset D1, simb=0x1\nreset D1, simb=0x2", 2 + 2),
        // AddrRF and DataRF are different files.
        (
            "calc_arf.add A8, A9, A10, simb=0xf\ncomp.add.i32.vv D8, D9, D10, vec=0xf, simb=0xf",
            1 + 6,
        ),
        // An address register is read.
        ("calc_arf.and A8, A9, A10, simb=0xf\nrd_pgsm [A8], D1, simb=0xf", 3 + 5),
    ]);
}

#[test]
fn jumps_refill_the_front_end() {
    check(&[
        ("seti_crf C4, end\njump C4\nend:", 2 + 2),
        ("seti_crf C4, end\ncjump C5, C4\nend:", 2),
        // Twice around: three instructions, a refill, and the last time through.
        (
            "seti_crf C4, top\nseti_crf C5, 2\nseti_crf C6, 1\ntop:\ncalc_crf.sub C5, C5, C6\ncjump C5, C4",
            3 + 2 + 2 + 2,
        ),
    ]);
}

#[test]
fn scratchpads() {
    check(&[
        // TSV, scratchpad, bus, register file; and the address register.
        ("rd_pgsm [0], D1, simb=0xf", 4),
        ("rd_pgsm [A8], D1, simb=0xf", 5),
        // Address and data come out of their files together.
        ("wr_pgsm [0], D1, simb=0xf", 4),
        ("wr_pgsm [A8], D1, simb=0xf", 4),
        // A reader waits for the writer, a writer for its own port only.
        ("wr_pgsm [0], D1, simb=0xf\nrd_pgsm [0], D2, simb=0xf", 4 + 4),
        ("rd_pgsm [0], D1, simb=0xf\nwr_pgsm [0], D2, simb=0xf", 1 + 4),
        // Writers of one opcode follow each other.
        ("wr_pgsm [0], D1, simb=0xf\nwr_pgsm [0], D2, simb=0xf", 1 + 4),
        // Direct: read at 1, one slot, down, register file.
        ("rd_vsm [0], D1, simb=0xf", 1 + 1 + 1),
        // Indirect: down, address, up, read, then four slots from 4 on.
        ("rd_vsm [A8], D1, simb=0xf", 4 + 3 + 1 + 1),
        // Down, register file, four slots from 2 on, up, write.
        ("wr_vsm [0], D1, simb=0xf", 2 + 3 + 1 + 1),
        ("wr_vsm [0], D1, simb=0xf\nrd_vsm [0], D2, simb=0xf", 7 + 3),
        ("seti_vsm 0, 1\nrd_vsm [0], D2, simb=0xf", 1 + 3),
        ("rd_vsm [0], D2, simb=0xf\nseti_vsm 0, 1", 3 + 1),
    ]);
}

#[test]
fn engines_read_and_write_their_scratchpad_at_ports_of_their_own() {
    let mut machine = small_vault();
    let read_and_write = "rd_pgsm [0], D1, simb=0x1\nwr_pgsm [0], D2, simb=0x1";
    let load_and_write = "ld_pgsm [0], [0], simb=0x1\nwr_pgsm [0], D2, simb=0x1";
    let write_and_load = "wr_pgsm [0], D2, simb=0x1\nld_pgsm [0], [0], simb=0x1";
    // The store reads at 1 and has its data in the bank at 24.
    let store_and_write = "st_pgsm [0], [0], simb=0x1\nwr_pgsm [0], D2, simb=0x1";
    // A word that is read at 1 to 2 may be written from 2 on; what is loaded is there at 34, and a
    // write takes 3 cycles to its port.
    assert_eq!(cycles(&machine, read_and_write), 1 + 4);
    assert_eq!(cycles(&machine, load_and_write), 31 + 4);
    assert_eq!(cycles(&machine, write_and_load), 1 + 34);
    assert_eq!(cycles(&machine, store_and_write), 24);
    // An address register that takes long: the read is over at 11, and the write, which needs none,
    // would be at its port at 3.
    machine.latency.t_addr_rf = 9;
    let late = "rd_pgsm [A8], D1, simb=0x1\nwr_pgsm [0], D2, simb=0x1";
    assert_eq!(cycles(&machine, late), 13);
    machine.latency.t_addr_rf = 1;
    machine.memory.pgsm_ports = 1;
    assert_eq!(cycles(&machine, read_and_write), 4 + 4);
    assert_eq!(cycles(&machine, load_and_write), 34 + 4);
    assert_eq!(cycles(&machine, write_and_load), 4 + 34);
    assert_eq!(cycles(&machine, store_and_write), 24 + 4);
}

#[test]
fn control_and_data_take_turns_on_the_tsvs() {
    // Transfers of wr_vsm are ready at 2. Resets issue at 1, 2 (control was last), then
    // every second cycle while data waits: slots 3, 5, 7, 9 are data.
    let resets: String = (2..8).map(|d| format!("reset D{d}, simb=0xf\n")).collect();
    let text = format!("wr_vsm [0], D1, simb=0xf\n{resets}");
    // Issues at 0, 1, then data at 2, control 3, data 4, control 5, data 6, control 7,
    // data 8, control 9, 10.
    check(&[(&text, 10 + 2)]);
}

#[test]
fn banks_open_rows_and_hit_them() {
    let one_bank = "ld_rf [0], D1, simb=0x1\n";
    // At the controller at 1, ACT 2, RD 16, data 32, bus, register file.
    check(&[
        (one_bank, 34),
        // A hit: RD a tCCD after the first.
        ("ld_rf [0], D1, simb=0x1\nld_rf [16], D2, simb=0x1", 36),
        // Address from AddrRF: a cycle later.
        ("ld_rf [A8], D1, simb=0x1", 35),
        // Two banks of a group share the command bus and tRRD_L: ACT 2 and 8.
        ("ld_rf [0], D1, simb=0x3", 40),
        // Banks of two groups do not.
        ("ld_rf [0], D1, simb=0x5", 34),
        // Another row: PRE at ACT + tRAS = 35 (RD + tRTP = 20 is earlier), ACT 49, RD 63.
        ("ld_rf [0], D1, simb=0x1\nld_rf [2048], D2, simb=0x1", 63 + 16 + 2),
        // Data out of the register file and over the bus: at the controller at 3, ACT 4,
        // WR 18, data for tCWL + tBL.
        ("st_rf [0], D1, simb=0x1", 24),
        // To the group's scratchpad instead of the register file.
        ("ld_pgsm [0], [0], simb=0x1", 34),
        ("st_pgsm [0], [0], simb=0x1", 24),
        // A load waits for data of a store to the same atom: WR 18, RD after tCWL + tBL
        // + tWTR_L = 14.
        ("st_rf [0], D1, simb=0x1\nld_rf [0], D2, simb=0x1", 32 + 16 + 2),
        // The register that a store reads is free when the store has retired.
        ("st_rf [0], D1, simb=0x1\nreset D1, simb=0x1", 24 + 2),
        ("ld_rf [0], D1, simb=0x1\nst_rf [16], D1, simb=0x1", 34 + 3 + 1 + 6),
    ]);
}

#[test]
fn the_issued_instruction_queue_has_an_end() {
    let mut machine = small_vault();
    machine.control.instruction_queue = 2;
    let text = "ld_rf [0], D1, simb=0x1\nld_rf [16], D2, simb=0x1\nreset D3, simb=0x1";
    // The first load leaves at 34.
    assert_eq!(cycles(&machine, text), 36);
    let text =
        "ld_rf [0], D1, simb=0x1\nreset D2, simb=0x1\nreset D3, simb=0x1\nreset D4, simb=0x1";
    // Resets follow each other through the one free place: 1, 3, 5.
    machine.control.instruction_queue = 2;
    let timing = try_time(&program(&machine, text), &mut RunOptions::default()).unwrap();
    assert_eq!(timing.cycles, 34);
    assert_eq!(timing.statistics.count("stall.queue_full"), 2);
}

#[test]
fn engines_on_the_base_die_share_the_tsvs_for_their_banks() {
    let mut machine = small_vault();
    machine.features.process_on_base_die = true;
    // No broadcast over TSVs, no TSV hop.
    assert_eq!(cycles(&machine, "reset D1, simb=0xf"), 1);
    assert_eq!(cycles(&machine, "rd_pgsm [0], D1, simb=0xf"), 3);
    // Slot 0, at the controller at 1, data at 32, up, bus, register file.
    assert_eq!(cycles(&machine, "ld_rf [0], D1, simb=0x1"), 35);
    // Two groups: slots 0 and 1.
    assert_eq!(cycles(&machine, "ld_rf [0], D1, simb=0x5"), 36);
    let timing =
        try_time(&program(&machine, "ld_rf [0], D1, simb=0xf"), &mut RunOptions::default());
    let statistics = timing.unwrap().statistics;
    assert_eq!(statistics.count("tsv.control_slots"), 0);
    assert_eq!(statistics.count("tsv.data_slots"), 4);
}

#[test]
fn a_request_goes_to_a_bank_and_back() {
    let text = "req 0, 0, 0, 0, 0, 0";
    // Into the network and out: 2. TSV slot 2, at the controller at 3, ACT 4, RD 18,
    // data 34, bus, up, buffered: 37. Two flits back: 40. Written: 41.
    assert_eq!(cycles(&small_vault(), text), 41);
    // From a neighbour: a hop each way. Only vault 1 asks.
    let guarded = |text: &str| {
        format!(
            "seti_crf C4, end\nseti_crf C1, 0\nseti_crf C5, 1\ncalc_crf.xor C1, C1, C5\n\
                 cjump C1, C4\n{text}\nend:"
        )
    };
    let mut neighbour = program(&small_cubes(1), &guarded(text));
    neighbour
        .prologue
        .push(nbcc_isa_ipim::Patch { index: 1, coordinate: nbcc_isa_ipim::Coordinate::Vault });
    let mut options = RunOptions::default();
    let mut run = simulation(&neighbour, &[7; 4]);
    let timing = run.run_timed(&mut options).unwrap();
    assert_eq!(timing.cycles, 5 + 41 + 2);
    assert_eq!(timing.statistics.count("dram.remote"), 1);
    assert_eq!(run.vaults()[1].vsm[..5], [7, 7, 7, 7, 0]);
    assert_eq!(run.vaults()[2].vsm[..4], [0; 4]);
}

#[test]
fn a_barrier_goes_through_the_master() {
    // To the interface and back twice.
    assert_eq!(cycles(&small_vault(), "sync 1"), 2 + 2);
    // Four vaults: arrivals at 2, 3, 4, 5 (one a cycle out of the master's router), and
    // proceeding at 7, 9, 10 and, two hops away and last to enter, 12.
    assert_eq!(cycles(&small_cubes(1), "sync 1"), 12);
    // All instructions before it retire first.
    assert_eq!(cycles(&small_vault(), "ld_rf [0], D1, simb=0x1\nsync 1"), 34 + 4);
}

#[test]
fn refresh_costs_what_it_must() {
    let text: String = (0..128)
        .map(|i| {
            format!(
                "ld_rf [{}], D1, simb=0x1\ncomp.add.f32.vv D1, D1, D1, vec=0xf, simb=0x1\n",
                16 * i
            )
        })
        .collect();
    let quiet = machine("ipim-vault", &[("dram.refresh", "false")]);
    let refreshed = machine("ipim-vault", &[("dram.tREFI", "1000"), ("dram.tRFC", "100")]);
    let (without, with) = (cycles(&quiet, &text), cycles(&refreshed, &text));
    let refreshes = with / 1000;
    assert!(refreshes >= 2, "{with}");
    assert!(with >= without + 100 * refreshes, "{with} cycles with refresh, {without} without");
}

#[test]
fn statistics_keep_their_identities() {
    let mut text = String::from("seti_crf C4, top\nseti_crf C5, 9\nseti_crf C6, 1\ntop:\n");
    for i in 0..6 {
        text += &format!(
            "ld_rf [{}], D{i}, simb=0xf\nld_pgsm [{}], [64], simb=0x7\n",
            16 * i,
            2048 * i
        );
        text += &format!("comp.mac.f32.vv D9, D{i}, D{i}, vec=0xf, simb=0xf\n");
        text += &format!("st_rf [{}], D9, simb=0xf\nrd_pgsm [64], D10, simb=0xf\n", 4096 + 16 * i);
    }
    text += "req 0, 3, 1, 1, 32, 16\nrd_vsm [16], D11, simb=0xf\nwr_vsm [0], D11, simb=0x3\n\
             calc_crf.sub C5, C5, C6\ncjump C5, C4\nsync 3\n";
    for base_die in [false, true] {
        let mut machine = small_cubes(2);
        machine.dram.refresh = true;
        machine.features.process_on_base_die = base_die;
        let program = program(&machine, &text);
        let timing = try_time(&program, &mut RunOptions::default()).unwrap();
        let s = &timing.statistics;
        let count = |key: &str| s.count(key);
        let sum = |section: &str| -> f64 {
            s.iter()
                .filter(|s| s.definition.key.starts_with(section))
                .map(|x| s.real(x.definition.key))
                .sum()
        };
        assert_eq!(count("cycles"), timing.cycles);
        assert_eq!(
            count("dram.hits") + count("dram.misses") + count("dram.conflicts"),
            count("dram.requests")
        );
        assert_eq!(count("dram.reads") + count("dram.writes"), count("dram.requests"));
        assert_eq!(count("core.issue_cycles") + count("core.stall_cycles"), count("core.cycles"));
        assert_eq!(count("core.cycles"), count("cycles") * count("core.count"));
        assert_eq!(sum("stall."), s.real("core.stall_cycles"));
        assert_eq!(sum("category."), s.real("instructions"));
        assert_eq!(sum("issued."), s.real("instructions"));
        assert_eq!(sum("energy."), s.real("energy_pj"));
        // 8 vaults, 9 rounds: what the text says.
        assert_eq!(count("dram.remote"), 8 * 9);
        assert_eq!(count("dram.requests"), 8 * 9 * (6 * (4 + 3 + 4) + 1));
        assert_eq!(count("bytes.bank_read"), 16 * count("dram.reads"));
        assert_eq!(count("engine.simd_operations"), 8 * 9 * 6 * 4);
        assert_eq!(count("issued.sync"), 8);
        assert_eq!(count("network.packets"), 2 * 8 * 9 + 2 * 8);
        let data = 8 * 9 * (1 + 2 + 1);
        let bank = if base_die { 8 * 9 * 6 * 11 } else { 0 };
        let port = if base_die { 8 * 9 * 3 } else { 0 };
        assert_eq!(count("tsv.data_slots"), data + bank - port);
        assert!(s.real("ipc") > 0.0 && s.real("ipc") <= 1.0);
        for statistic in s.iter().filter(|s| s.definition.key.starts_with("utilisation.")) {
            let share = s.real(statistic.definition.key);
            assert!((0.0..=1.0).contains(&share), "{} is {share}", statistic.definition.key);
        }
        let profile = timing.profile.iter().map(|entry| entry.issued + entry.stalled).sum::<u64>();
        assert_eq!(profile + count("stall.finished"), count("core.cycles"));
    }
}

/// Accesses that differ between groups split them, and idle groups come together
/// again: neither shows.
#[test]
fn groups_simulated_once_are_those_simulated_one_by_one() {
    let mut text = String::from("seti_crf C4, top\nseti_crf C5, 40\nseti_crf C6, 1\ntop:\n");
    for i in 0..8 {
        let mask = [0xf, 0x5, 0xc, 0xf, 0x1, 0xf, 0xf, 0x6][i];
        text += &format!(
            "ld_rf [{}], D{i}, simb={mask:#x}\nst_rf [{}], D{i}, simb=0xf\n",
            2048 * i,
            16 * i
        );
    }
    text += "req 0, 1, 1, 0, 64, 0\nsync 1\ncalc_crf.sub C5, C5, C6\ncjump C5, C4\n";
    let mut machine = small_cubes(1);
    machine.dram.refresh = true;
    machine.hierarchy.pgs = 4;
    let program = program(&machine, &text);
    let run = |together| {
        let mut options = RunOptions { together, ..RunOptions::default() };
        let timing = try_time(&program, &mut options).unwrap();
        (timing.cycles, timing.statistics)
    };
    assert_eq!(run(true), run(false));
}
