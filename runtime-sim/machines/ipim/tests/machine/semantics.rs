//! What single instructions do, at the ends of their ranges: values worked out by hand.

use nbcc_sim_ipim::simulation::Simulation;

use crate::support::{run, small_vault};

/// Loads a splatted word for each register D10.. and A10.., then runs the text.
fn with(words: &[u32], text: &str) -> Simulation {
    let mut load = String::new();
    let mut image = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let reg = 10 + index;
        load += &format!(
            "ld_rf [{}], D{reg}, simb=0xf\nmov_arf A{reg}, D{reg}, simb=0xf\n",
            16 * index
        );
        image.extend([*word; 4]);
    }
    run(&small_vault(), &(load + text), &image)
}

fn data(simulation: &Simulation, reg: usize, engine: usize) -> [u32; 4] {
    *simulation.vaults()[0].data[reg][4 * engine..].first_chunk().unwrap()
}

/// An integer operation in all three places that have it.
fn int(op: &str, a: u32, b: u32) -> u32 {
    let (signed_a, signed_b) = (a as i32, b as i32);
    let text = format!(
        "comp.{op}.i32.vv D1, D10, D11, vec=0xf, simb=0xf\ncalc_arf.{op} A5, A10, A11, simb=0xf\n\
         seti_crf C1, {signed_a}\nseti_crf C2, {signed_b}\ncalc_crf.{op} C3, C1, C2"
    );
    let simulation = with(&[a, b], &text);
    let value = data(&simulation, 1, 3);
    assert_eq!(value, [value[0]; 4]);
    assert_eq!(simulation.vaults()[0].addr[5][2], value[0], "calc_arf.{op}");
    assert_eq!(simulation.vaults()[0].ctrl[3], value[0], "calc_crf.{op}");
    value[0]
}

#[test]
fn integers_wrap_and_shift_to_their_ends() {
    let min = 0x8000_0000;
    assert_eq!(int("add", 0x7fff_ffff, 1), min);
    assert_eq!(int("sub", min, 1), 0x7fff_ffff);
    assert_eq!(int("mul", 0x10001, 0x10001), 0x0002_0001);
    assert_eq!(int("mac", 3, 5), 15);
    for (n, expected) in [(0, 0x8000_0001), (1, 2), (31, min), (32, 0), (33, 0), (u32::MAX, 0)] {
        assert_eq!(int("shl", 0x8000_0001, n), expected, "shl {n}");
    }
    for (n, expected) in [(0, min), (1, 0x4000_0000), (31, 1), (32, 0), (u32::MAX, 0)] {
        assert_eq!(int("shr", min, n), expected, "shr {n}");
    }
    for (n, expected) in
        [(0, min), (1, 0xc000_0000), (31, u32::MAX), (32, u32::MAX), (u32::MAX, u32::MAX)]
    {
        assert_eq!(int("sra", min, n), expected, "sra {n}");
    }
    assert_eq!(int("sra", 0x7fff_ffff, 40), 0);
    for (n, expected) in
        [(0, 0), (1, 1), (9, 0x1ff), (31, 0x7fff_ffff), (32, u32::MAX), (u32::MAX, u32::MAX)]
    {
        assert_eq!(int("croplsb", u32::MAX, n), expected, "croplsb {n}");
    }
    for (n, expected) in [
        (0, 0),
        (1, min),
        (9, 0xff80_0000),
        (31, 0xffff_fffe),
        (32, u32::MAX),
        (u32::MAX, u32::MAX),
    ] {
        assert_eq!(int("cropmsb", u32::MAX, n), expected, "cropmsb {n}");
    }
    assert_eq!(int("and", 0b1100, 0b1010), 0b1000);
    assert_eq!(int("or", 0b1100, 0b1010), 0b1110);
    assert_eq!(int("xor", 0b1100, 0b1010), 0b0110);
}

fn float(op: &str, old: f32, a: f32, b: f32) -> u32 {
    let words = [old, a, b].map(f32::to_bits);
    let text = format!(
        "reset D0, simb=0xf\ncomp.or.i32.vv D1, D10, D0, vec=0xf, simb=0xf\n\
         comp.{op}.f32.vv D1, D11, D12, vec=0xf, simb=0xf"
    );
    data(&with(&words, &text), 1, 0)[2]
}

#[test]
fn floats_round_once_an_operation_and_keep_subnormals() {
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: rounded to even after the product, so the
    // difference below is 0; fused it would be 2^-24.
    let x = 1.0 + f32::powi(2.0, -12);
    let square = 1.0 + f32::powi(2.0, -11);
    assert_eq!(float("mac", -square, x, x), 0.0_f32.to_bits());
    let least = f32::from_bits(1);
    assert_eq!(float("add", 0.0, least, least), 2);
    assert_eq!(float("mul", 0.0, f32::MIN_POSITIVE, 0.5), 0x0040_0000);
    assert_eq!(float("sub", 0.0, 0.0, 0.0), 0);
    assert_eq!(float("mul", 0.0, -1.0, 0.0), 0x8000_0000);
    assert_eq!(float("add", 0.0, 16_777_216.0, 1.0), 16_777_216.0_f32.to_bits());
    assert_eq!(float("add", 0.0, f32::MAX, f32::MAX), f32::INFINITY.to_bits());
    // NaNs are all the same.
    assert_eq!(float("sub", 0.0, f32::INFINITY, f32::INFINITY), 0x7fc0_0000);
    assert_eq!(float("add", 0.0, f32::from_bits(0xffc1_2345), 1.0), 0x7fc0_0000);
}

#[test]
fn lanes_and_engines_that_are_masked_keep_their_values() {
    let text = "reset D1, simb=0xf\ncomp.add.i32.vv D1, D10, D11, vec=0x6, simb=0x9";
    let simulation = with(&[5, 6], text);
    assert_eq!(data(&simulation, 1, 0), [0, 11, 11, 0]);
    assert_eq!(data(&simulation, 1, 1), [0; 4]);
    assert_eq!(data(&simulation, 1, 3), [0, 11, 11, 0]);
}

#[test]
fn scalar_mode_takes_lane_zero_of_the_first_source() {
    // Lanes of engine e are 1 + e .. 4 + e by reading the bank four bytes at a time.
    let image = [1, 2, 3, 4, 10, 20, 30, 40];
    let text = "ld_rf [0], D1, simb=0xf\nld_rf [16], D2, simb=0xf\n\
                comp.sub.i32.sv D3, D2, D1, vec=0xf, simb=0xf\n\
                comp.sub.i32.sv D1, D1, D2, vec=0xe, simb=0xf";
    let simulation = run(&small_vault(), text, &image);
    assert_eq!(data(&simulation, 3, 2), [9, 8, 7, 6]);
    assert_eq!(data(&simulation, 1, 2), [1, 1 - 20, 1 - 30, 1 - 40].map(|x: i32| x as u32));
}

#[test]
fn moves_take_lane_zero_and_write_all_lanes() {
    let text = "ld_rf [0], D1, simb=0xf\nmov_arf A5, D1, simb=0xf\nmov_drf A1, D2, simb=0xf";
    let simulation = run(&small_vault(), text, &[7, 8, 9, 10]);
    assert_eq!(simulation.vaults()[0].addr[5][..4], [7; 4]);
    // A1 holds the group.
    assert_eq!(data(&simulation, 2, 1), [0; 4]);
    assert_eq!(data(&simulation, 2, 2), [1; 4]);
}

#[test]
fn scratchpads_are_read_at_any_word() {
    let text = "ld_pgsm [0], [4], simb=0x5\nld_pgsm [16], [20], simb=0x5\n\
                rd_pgsm [12], D1, simb=0xf\nwr_pgsm [28], D1, simb=0x1\nrd_pgsm [20], D2, simb=0xf\n\
                wr_vsm [36], D1, simb=0x1\nrd_vsm [40], D3, simb=0xf\nseti_vsm 40, -1\nrd_vsm [36], D4, simb=0xf";
    let simulation = run(&small_vault(), text, &[1, 2, 3, 4, 5, 6, 7, 8]);
    // From 4 on the scratchpads hold 1 to 8.
    assert_eq!(data(&simulation, 1, 1), [3, 4, 5, 6]);
    assert_eq!(data(&simulation, 2, 1), [5, 6, 3, 4]);
    assert_eq!(data(&simulation, 2, 3), [5, 6, 7, 8], "the other group has its own");
    assert_eq!(data(&simulation, 3, 2), [4, 5, 6, 0]);
    assert_eq!(data(&simulation, 4, 2), [3, u32::MAX, 5, 6]);
}

#[test]
fn the_last_engine_wins() {
    let text = "mov_drf A0, D1, simb=0xf\nwr_pgsm [0], D1, simb=0xf\nwr_vsm [0], D1, simb=0x7\n\
                rd_pgsm [0], D2, simb=0xf\nrd_vsm [0], D3, simb=0xf";
    let simulation = run(&small_vault(), text, &[]);
    // Engines 0 and 1 of each group have the ids 0 and 1; engine 2 is the third in the vault.
    assert_eq!(data(&simulation, 2, 0), [1; 4]);
    assert_eq!(data(&simulation, 3, 0), [0; 4]);
}

#[test]
fn ids_are_in_place() {
    let mut machine = crate::support::small_cubes(2);
    machine.hierarchy.vaults = 4;
    let simulation = run(&machine, "", &[]);
    let vault = &simulation.vaults()[6];
    let ids: Vec<u32> = (0..4).map(|entry| vault.addr[entry][3]).collect();
    assert_eq!(ids, [1, 1, 2, 1]);
}

#[test]
fn pgsm_is_copied_back_to_banks() {
    let text = "ld_pgsm [0], [8], simb=0x1\nst_pgsm [64], [12], simb=0x3";
    let simulation = run(&small_vault(), text, &[1, 2, 3, 4]);
    for engine in 0..2 {
        assert_eq!(simulation.vaults()[0].banks.read(engine, 64), [2, 3, 4, 0]);
    }
    assert_eq!(simulation.vaults()[0].banks.read(2, 64), [0; 4]);
}
