//! Divisions by what a loop computes: random ones against the interpreter, also by 0, and which of them arrays run.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs, with_body};
use crate::machine::run;

const ELEMENTS: u32 = 64;

const ARRAYS: [(&str, char, u32); 5] = [
    ("const int32_t", 's', 32),
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("const uint32_t", 'u', 32),
];

fn number(rng: &mut Rng) -> &'static str {
    [
        "a0[i]",
        "a1[i]",
        "a2[i]",
        "a4[i]",
        "n",
        "t",
        "(i - 7)",
        "(a1[i] >> 9)",
        "(a4[i] >> 5)",
        "(a0[i] & 0xfffff)",
        "-a2[i]",
    ][rng.below(11) as usize]
}

fn divisor(rng: &mut Rng) -> String {
    let of = number(rng);
    match rng.below(5) {
        0 => of.into(),
        1 => format!("({of} ? {of} : 3)"),
        2 => format!("(({of} & 63) + 1)"),
        3 => format!("(({of} & 0xfff) - 5000)"),
        _ => format!("({of} | 1)"),
    }
}

/// A function of a loop with divisions.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int m");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 1;\nfor (int i = 0; i < n; i++) {\n";
    for _ in 0..1 + rng.below(2) {
        let op = if rng.below(2) == 0 { '/' } else { '%' };
        let (one, by) = (number(rng), divisor(rng));
        let _ = match rng.below(4) {
            0 => writeln!(text, "if ({} > m) a3[i] = {one} {op} {by};", number(rng)),
            1 => writeln!(text, "t += {one} {op} {by};"),
            _ => writeln!(text, "a3[i] = {one} {op} {by};"),
        };
    }
    text + "}\nreturn t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let mut arrays = filled(&ARRAYS, ELEMENTS, seed);
    // Seldom 0.
    if !seed.is_multiple_of(4) {
        for byte in arrays.iter_mut().flat_map(|array| &mut array.bytes) {
            *byte |= 1;
        }
    }
    agreed_for(source, [[0, 3], [1, 1], [2, 5], [30, 9], [64, 40]], &arrays)
}

#[test]
fn random_divisions_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

#[test]
fn divisions_by_what_is_computed_run_on_arrays() {
    for body in [
        "for (int i = 0; i < n; i++) a3[i] = a0[i] / (a2[i] + 1);",
        "for (int i = 0; i < n; i++) if (a1[i]) a3[i] = a0[i] % a1[i];",
        "for (int i = 0; i < n; i++) a3[i] = a4[i] / (a4[63 - i] | 1);",
        "for (int i = 0; i < n; i++) t += (a1[i] << 8) / a2[i];",
    ] {
        let source = with_body(&ARRAYS, ELEMENTS, body);
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let mut arrays = filled(&ARRAYS, ELEMENTS, 2);
        arrays[2].bytes.iter_mut().for_each(|byte| *byte |= 1);
        let ran = run(&program, &[60, 6], &arrays).expect("it runs").statistics;
        assert_eq!(ran.count("arrays.starts"), 1, "{source}");
        assert!(ran.count("instructions") < 500, "{source}");
    }
}
