//! Accesses whose subscripts are known on the way only: random ones against the interpreter, inside and outside,
//! and which of them arrays run.

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
    ("int16_t", 's', 16),
];

fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return ["i", "j", "n", "t", "a0[i]", "a1[i + 2]", "a2[j + i]"][rng.below(7) as usize]
            .into();
    }
    let (one, two) = (value(rng, depth - 1), value(rng, depth - 1));
    let array = rng.below(3);
    match rng.below(8) {
        0 => format!("a{array}[({one}) & {}]", [15, 31, 63, 127][rng.below(4) as usize]),
        1 => format!("a{array}[clamp({one}, m)]"),
        2 => format!("a{array}[clamp(i + j - 2, n)]"),
        3 => format!("a{array}[a2[i] >> {}]", 1 + rng.below(5)),
        4 => format!("({one} > {two} ? a{array}[{one}] : {two})"),
        5 => format!("a{array}[(unsigned)({one}) % 50u]"),
        _ => format!("({one} + {two})"),
    }
}

/// A function of a loop or two with loads of which nobody knows the elements before.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from(
        "#include <stdint.h>\nstatic int clamp(int x, int m) { return x < 0 ? 0 : x > m - 1 ? m - 1 : x; }\nint f(int n, int m",
    );
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 0, j = 0;\n";
    if rng.below(2) == 0 {
        text += "for (j = 0; j < m; j++)\n";
    }
    text += "for (int i = 0; i < n; i++) {\n";
    for _ in 0..1 + rng.below(2) {
        let (one, two) = (value(rng, 2), value(rng, 1));
        let _ = match rng.below(6) {
            0 => writeln!(text, "if ({one} > {two}) t = i;"),
            1 => writeln!(text, "if (a1[i] > a1[t]) t = i;"),
            2 => writeln!(text, "if ({two} > 9) a3[i + j] = {one};"),
            3 if rng.below(2) == 0 => match rng.below(2) {
                0 => writeln!(text, "a3[{one}] = {two};"),
                _ => writeln!(text, "if ({two} > 9) a4[{one}] = {two};"),
            },
            3 => writeln!(text, "a4[i] += {one};"),
            4 => writeln!(text, "a3[i] = {one};"),
            _ => writeln!(text, "t += {one};"),
        };
    }
    text + "}\nreturn t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let mut arrays = filled(&ARRAYS, ELEMENTS, seed);
    // Small numbers, so that many subscripts are inside.
    if seed.is_multiple_of(2) {
        for array in &mut arrays[..3] {
            let bytes = array.bytes.len() / ELEMENTS as usize;
            for (at, byte) in array.bytes.iter_mut().enumerate() {
                *byte = if at % bytes == 0 { *byte % 60 } else { 0 };
            }
        }
    }
    agreed_for(source, [[0, 3], [1, 1], [2, 5], [30, 9], [50, 20], [64, 4]], &arrays)
}

#[test]
fn random_subscripts_that_are_known_on_the_way_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// Arrays run what a C programmer writes at borders, at a phase, to find a place, and through a table of places.
#[test]
fn accesses_at_places_that_are_computed_run_on_arrays() {
    for body in [
        "for (int i = 0; i < n; i++) a3[i] = a0[i < 2 ? 0 : i > m - 1 ? m - 1 : i];",
        "unsigned p = 0; for (int i = 0; i < n; i++, p += m * 5000) a3[i] = a1[p >> 16] + a1[(p >> 16) + 1];",
        "for (int i = 1; i < n; i++) if (a1[i] > a1[t]) t = i;",
        "for (int i = 0; i < n; i++) t += a0[a2[i]];",
        "for (int i = 0; i < n; i++) a3[i] = a0[i] + (i ? a0[i - 1] : 1);",
        "for (int i = 0; i < n; i++) a3[a2[i]] = a0[i] + m;",
        "for (int i = 0; i < n; i++) if (a0[i] > m) { a3[a2[i]] = i; a3[a2[i + 1]] = a1[i]; }",
    ] {
        let source = with_body(&ARRAYS, ELEMENTS, body);
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[40, 6], &{
            let mut arrays = filled(&ARRAYS, ELEMENTS, 2);
            arrays[2].bytes.iter_mut().for_each(|byte| *byte %= 60);
            arrays
        });
        assert_eq!(ran.expect("it runs").statistics.count("arrays.starts"), 1, "{source}");
    }
}

/// Parts of a loop begin their greatest subscripts where each of them does: the core runs none of it again.
#[test]
fn parts_look_at_their_own_subscripts() {
    let types = [("const int16_t", 's', 16), ("int16_t", 's', 16)];
    let list = parameters(&types, 720);
    let list = list.trim_start_matches([',', ' ']);
    let source = format!(
        "#include <stdint.h>\nstatic const int16_t w[360] = {{3, 1, 4, 1, 5}};\nvoid f({list}) {{
         for (int i = 0; i < 720; i++) a1[i] = a0[i] * w[i < 719 - i ? i : 719 - i]; }}"
    );
    let arrays = filled(&types, 720, 1);
    let program = agreed_for(&source, [[]], &arrays).unwrap();
    let ran = run(&program, &[], &arrays).expect("it runs").statistics;
    assert!(ran.count("arrays.starts") > 1 && ran.count("instructions") < 200, "{source}");
}

/// What is stored in the meantime is no reason to run again from the start.
#[test]
fn loops_that_change_what_they_load_stay_on_the_core() {
    let parameters = parameters(&ARRAYS, ELEMENTS);
    let source = format!(
        "#include <stdint.h>\nint f(int n, int m{parameters}) {{
         for (int i = 0; i < n; i++) a3[i] += a0[a2[i]]; return m; }}"
    );
    let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
    assert!(program.packages.is_empty());
}
