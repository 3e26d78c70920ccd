//! Values of 64 bits on arrays: random ones against the interpreter, and which of them arrays run.

use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, random_programs};
use crate::machine::{compile, run};

const ELEMENTS: u32 = 96;

const ARRAYS: [(&str, char, u32); 5] = [
    ("const int32_t", 's', 32),
    ("const uint32_t", 'u', 32),
    ("const int16_t", 's', 16),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
];

/// A value of 64 bits.
fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        let ty = ["(int64_t)", "(int64_t)", "(uint64_t)"][rng.below(3) as usize];
        let word = ["a0[i]", "a1[i]", "a2[i]", "a0[i + 1]", "a1[i + 3]", "i", "n", "g"];
        let word = word[rng.below(8) as usize];
        let constant = [1, -1, 77, -70000, 1 << 31, 1 << 33, i64::MIN + 1][rng.below(7) as usize];
        return match rng.below(6) {
            0 => format!("{constant}ll"),
            1 => "s".into(),
            _ => format!("{ty}{word}"),
        };
    }
    let (one, two) = (value(rng, depth - 1), value(rng, depth - 1));
    let sign = ["", "", "(uint64_t)"][rng.below(3) as usize];
    let amount = [0, 1, 7, 15, 16, 31, 32, 33, 47, 63][rng.below(10) as usize];
    match rng.below(14) {
        0 | 1 => format!("({one} * {two})"),
        10 => format!("({sign}({one}) >> {})", ["m", "(a2[i] & 63)", "i"][rng.below(3) as usize]),
        11 => format!("({one} << {})", ["m", "(a1[i] & 31)", "a0[i]"][rng.below(3) as usize]),
        2 => format!("({sign}({one}) >> {amount})"),
        3 => format!("({one} << {amount})"),
        4 => format!("({one} {} {two})", ["&", "|", "^"][rng.below(3) as usize]),
        5 => format!("({one} < {two} ? {one} : {two})"),
        6 => {
            let relation = ["<", "<=", ">", ">=", "==", "!="][rng.below(6) as usize];
            format!("({sign}({one}) {relation} {two} ? {two} : a0[i])")
        }
        7 => format!("(int64_t)(int32_t)({one})"),
        8 => format!("({one} - {two})"),
        9 => format!("-({one})"),
        _ => format!("({one} + {two})"),
    }
}

/// A function of a loop that computes with 64 bits.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint64_t f(int n, int m, int64_t g");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint64_t s = g;\n";
    let is_nest = rng.below(3) == 0;
    if is_nest {
        let first = ["0", "1 << 14", "g", "i"][rng.below(4) as usize];
        let _ = writeln!(text, "for (int j = 0; j < m; j++) {{ int i = j; s = {first};");
    }
    text += "for (int i = 0; i < n; i++) {\n";
    let depth = 1 + rng.below(2) as u32;
    let one = value(rng, depth);
    let _ = match rng.below(6) {
        0 => writeln!(text, "if ({one} > {}) s -= {one};", value(rng, 1)),
        1 => writeln!(text, "a3[i] = ({one}) >> {};", rng.below(50)),
        2 => writeln!(text, "s = {one};"),
        _ => writeln!(text, "s += {one};"),
    };
    text += "}\n";
    if is_nest {
        let _ = match rng.below(3) {
            0 => writeln!(text, "a3[j] = s >> {}; }}", rng.below(64)),
            1 => writeln!(text, "a4[j] = s > 32767 ? 32767 : s < -32768 ? -32768 : s; }}"),
            _ => writeln!(text, "a3[j] = s; }}"),
        };
    }
    text + "return s;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let (module, func) = common::compile(Path::new("wide.c"), source, Some("f"))?;
    let program = compile(&module, func, OptLevel::O2)?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    for (n, m) in [(0, 3), (1, 1), (5, 0), (40, 2), (90, 3)] {
        for g in [0, 1 << 31, u64::MAX, 0x8123_4567_89ab_cdef] {
            compared((&module, func), &program, &[n, m, g], &arrays)
                .map_err(|what| format!("{n} {m} {g:x}: {what}"))?;
        }
    }
    Ok(program)
}

#[test]
fn random_values_of_64_bits_do_what_they_mean() {
    random_programs(source, agreed, 2);
}

/// Sums of 64 bits start an array once, with a nest around them as well.
#[test]
fn sums_of_64_bits_run_on_arrays() {
    for body in [
        "for (int i = 0; i < n; i++) s += (int64_t)a0[i] * a0[i + 1];",
        "for (int i = 0; i < n; i++) s += a2[i] * a2[i + 1];",
        "for (int j = 0; j < m; j++) { s = 1 << 14; for (int i = 0; i < n; i++)
         s += (int64_t)a2[i + j] * a0[i]; a4[j] = s >> 15; }",
        "for (int j = 0; j < m; j++) { s = 0; for (int i = 0; i < n; i++) s += a0[i + j];
         a4[j] = s > 32767 ? 32767 : s < -32768 ? -32768 : s; }",
        "for (int i = 0; i < n; i++) a3[i] = ((int64_t)a0[i] * a0[i + 1] + (1 << 30)) >> 31;",
        "for (int i = 0; i < n; i++) a3[i] = ((a0[i] + 0x123456789ll) * (a1[i] - g)) >> 40;",
        "for (int i = 0; i < n; i++) a3[i] = ((int64_t)a0[i] * a0[i + 1]) >> m;",
        "for (int i = 0; i < n; i++) s ^= ((uint64_t)a0[i] << m) >> (a2[i] & 63);",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint64_t f(int n, int m, int64_t g{parameters})
             {{ int64_t s = g; {body} return s; }}"
        );
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[50, 9, 7], &filled(&ARRAYS, ELEMENTS, 3));
        assert_eq!(ran.expect("it runs").statistics.count("arrays.starts"), 1, "{source}");
    }
}
