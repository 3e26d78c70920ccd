//! Divisions that arrays do as products: random ones against the interpreter, by constants and by what is known
//! before a loop, 0 as well.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 64;

const ARRAYS: [(&str, char, u32); 5] = [
    ("const int32_t", 's', 32),
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("uint32_t", 'u', 32),
];

/// What `d` and `e` are.
const DIVISORS: [u32; 14] = [
    1,
    2,
    3,
    7,
    10,
    255,
    65_535,
    65_536,
    65_537,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fff9,
    0xffff_ffff,
];

fn divisor(rng: &mut Rng) -> String {
    let constant = DIVISORS[rng.below(14) as usize];
    match rng.below(9) {
        0 => "(unsigned)d".into(),
        1 => "(uint8_t)e".into(),
        2 => "(e | 1)".into(),
        3 => format!("{constant}u"),
        4 => format!("({})", constant as i32 | 1),
        5 => "c".into(),
        6 => "e".into(),
        _ => "d".into(),
    }
}

fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        let leaves = ["i", "n", "t", "a0[i]", "a1[i + 2]", "a2[j + i]", "(uint16_t)a1[i]"];
        return leaves[rng.below(7) as usize].into();
    }
    let (one, two) = (value(rng, depth - 1), value(rng, depth - 1));
    match rng.below(6) {
        0 => format!("({one} / {})", divisor(rng)),
        1 => format!("({one} % {})", divisor(rng)),
        2 => format!("({one} > {two} ? {one} / {} : {two})", divisor(rng)),
        3 => format!("({one} >> 3)"),
        _ => format!("({one} + {two})"),
    }
}

/// A function of a loop or two that divides.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int d, int e");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 1, j = 0, c = 5;\n";
    if rng.below(2) == 0 {
        text += "for (j = 0; j < 3; j++) { c = a1[j] + 5;\n";
    } else {
        text += "{\n";
    }
    text += "for (int i = 0; i < n; i++) {\n";
    for _ in 0..1 + rng.below(2) {
        let one = value(rng, 2);
        let _ = match rng.below(4) {
            0 => writeln!(text, "t ^= {one};"),
            1 => writeln!(text, "a4[i] += {one};"),
            _ => writeln!(text, "a3[i + j] = {one};"),
        };
    }
    text += "}\n";
    if rng.below(2) == 0 {
        let _ = writeln!(text, "t += t / {} + t % {};", divisor(rng), divisor(rng));
    }
    text + "}\nreturn t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let mut arrays = filled(&ARRAYS, ELEMENTS, seed);
    // The ends of the numbers.
    for (at, word) in [i32::MIN, i32::MAX, -1, 0, 1, i32::MIN + 1].into_iter().enumerate() {
        arrays[0].bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        arrays[1].bytes[2 * at..2 * at + 2].copy_from_slice(&(word as i16).to_le_bytes());
    }
    let mut rng = Rng::new(seed);
    let mut some = || match rng.below(12) {
        0 => 0,
        _ => DIVISORS[rng.below(14) as usize],
    };
    let scalars = [0, 1, 2, 30, 60].map(|n| [n, some().into(), some().into()]);
    agreed_for(source, scalars, &arrays)
}

#[test]
fn random_divisions_are_what_they_mean() {
    random_programs(source, agreed, 2);
}

/// What divides by a parameter runs on an array, in nests as well, and where that is 0 the core ends the run.
#[test]
fn divisions_by_what_is_known_before_run_on_arrays() {
    for body in [
        "for (int i = 0; i < n; i++) a3[i] = a0[i] / d + a1[i] % e;",
        "for (int i = 0; i < n; i++) a4[i] = (unsigned)a0[i] / 10u + a0[i] / 641 % 1000003;",
        "for (int y = 0; y < 8; y++) { int s = 0; for (int x = 0; x < n / 8; x++) s += a1[y * 8 + x] / e;
         a3[y] = s / d; }",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source =
            format!("#include <stdint.h>\nint f(int n, int d, int e{parameters}) {{ {body} return d; }}");
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[60, 6, 7], &filled(&ARRAYS, ELEMENTS, 2)).expect("it runs");
        assert_eq!(ran.statistics.count("arrays.starts"), 1, "{source}");
    }
}
