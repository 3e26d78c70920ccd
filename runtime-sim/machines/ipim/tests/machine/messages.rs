//! Requests between vaults and cubes, and barriers: data arrives, in time and once.

use nbcc_isa_ipim::{Coordinate, Machine, Patch, Program};
use nbcc_sim_ipim::simulation::RunOptions;

use crate::support::{program, simulation, small_cubes, try_time};

/// Every vault stores its column and row, waits for the others, fetches the atoms of
/// the vault that `target` computes from C0 to C3, and keeps them.
fn exchange(machine: &Machine, target: &str) -> Program {
    let text = format!(
        "seti_crf C0, 0\nseti_crf C1, 0\nseti_crf C2, 0\nseti_crf C3, 0\n\
         mov_drf A2, D1, simb=0xf\nst_rf [256], D1, simb=0xf\n\
         mov_drf A3, D2, simb=0xf\nst_rf [272], D2, simb=0xf\nsync 1\n\
         seti_crf C6, 1\n{target}\n\
         req C4, C5, 1, 0, 256, 0\nreq C4, C5, 0, 1, 272, 16\n\
         rd_vsm [0], D3, simb=0xf\nrd_vsm [16], D4, simb=0xf\nsync 2"
    );
    let mut program = program(machine, &text);
    let coordinates = [Coordinate::Chip, Coordinate::Vault, Coordinate::Column, Coordinate::Row];
    program.prologue = coordinates
        .into_iter()
        .zip(0..)
        .map(|(coordinate, index)| Patch { index, coordinate })
        .collect();
    program
}

#[test]
fn neighbours_and_other_cubes_are_read() {
    let machine = small_cubes(2);
    // The vault with the same number in the other cube; the neighbour in the same row.
    let other_cube = "calc_crf.xor C4, C0, C6\nseti_crf C7, 0\ncalc_crf.or C5, C1, C7";
    let neighbour = "seti_crf C7, 0\ncalc_crf.or C4, C0, C7\ncalc_crf.xor C5, C1, C6";
    let mut lengths = Vec::new();
    for (target, chip, vault) in [(other_cube, 1, 0), (neighbour, 0, 1)] {
        let program = exchange(&machine, target);
        let mut timed = simulation(&program, &[]);
        let timing = timed.run_timed(&mut RunOptions::default()).unwrap();
        lengths.push(timing.cycles);
        assert_eq!(timing.statistics.count("dram.remote"), 16);
        for state in timed.vaults() {
            let [own_chip, own_vault] = [state.id / 4, state.id % 4];
            assert_eq!(state.data[3][0], own_vault ^ vault, "vault {}", state.id);
            assert_eq!(state.data[4][0], own_chip ^ chip, "vault {}", state.id);
        }
        let serial = timing.statistics.count("bytes.serdes") > 16 * 16;
        assert_eq!(serial, chip == 1);
    }
    assert!(lengths[0] > lengths[1], "other cubes are farther away: {lengths:?}");
}

#[test]
fn global_coordinates_count_over_cubes() {
    let machine = small_cubes(2);
    let program = exchange(&machine, "calc_crf.or C4, C0, C0\ncalc_crf.or C5, C1, C1");
    let mut run = simulation(&program, &[]);
    run.run_functional(&mut RunOptions::default()).unwrap();
    let places: Vec<&[u32]> = run.vaults().iter().map(|vault| &vault.ctrl[..4]).collect();
    assert_eq!(places[3], [0, 3, 1, 1]);
    assert_eq!(places[6], [1, 2, 2, 1]);
}

#[test]
fn banks_that_many_ask_for_serve_them_all() {
    let machine = small_cubes(2);
    let mut text = String::new();
    for i in 0..24 {
        text += &format!("req 0, 1, {}, {}, {}, {}\n", i % 2, i / 2 % 2, 16 * i, 16 * i);
    }
    text += "rd_vsm [368], D1, simb=0xf\n";
    let program = program(&machine, &text);
    let words: Vec<u32> = (0..200).collect();
    let mut timed = simulation(&program, &words);
    let timing = timed.run_timed(&mut RunOptions::default()).unwrap();
    for vault in timed.vaults() {
        assert_eq!(vault.vsm[..96], words[..96], "vault {}", vault.id);
        assert_eq!(vault.data[1][..4], words[92..96]);
    }
    // 192 atoms come up the TSVs of one vault, in slots of their own.
    assert_eq!(timing.statistics.count("tsv.data_slots"), 192 + 8);
    assert!(timing.cycles > 192);
}

#[test]
fn uneven_vaults_wait_for_the_slowest() {
    // C1, the vault's number, times around a loop.
    let text = "seti_crf C1, 0\nseti_crf C4, top\nseti_crf C6, 1\ncalc_crf.add C1, C1, C6\ntop:\n\
                comp.mac.f32.vv D1, D2, D3, vec=0xf, simb=0xf\ncalc_crf.sub C1, C1, C6\ncjump C1, C4\n\
                sync 5\nsync 6";
    let mut program = program(&small_cubes(1), text);
    program.prologue.push(Patch { index: 0, coordinate: Coordinate::Vault });
    let timing = try_time(&program, &mut RunOptions::default()).unwrap();
    let slowest = 4 + 3 * 10 + 10;
    assert!(timing.cycles > slowest && timing.cycles < slowest + 40, "{}", timing.cycles);
    assert_eq!(timing.statistics.count("issued.sync"), 8);
}

/// A message on its way to a barrier may be older than what other vaults have run by the time one
/// of them asks for data.
#[test]
fn a_late_request_overtakes_nothing_on_its_way_to_a_barrier() {
    // Vault 0 comes to the barrier at once, the others run for a while first.
    let wait = "reset D1, simb=0x1\n".repeat(100);
    let text = format!(
        "seti_crf C1, 0\nseti_crf C4, others\ncjump C1, C4\nseti_crf C4, end\njump C4\n\
         others:\n{wait}req 0, 0, 0, 0, 0, 0\nend:\nsync 1"
    );
    let mut program = program(&small_cubes(1), &text);
    program.prologue.push(Patch { index: 0, coordinate: Coordinate::Vault });
    let timing = try_time(&program, &mut RunOptions::default()).unwrap();
    // Each `reset` waits for the one before it: two cycles.
    assert!(timing.cycles > 200 && timing.cycles < 300, "{}", timing.cycles);
}
