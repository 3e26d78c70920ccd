//! Elements of 64 bits on arrays: random loops against the interpreter, and which of them arrays run.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 80;

const ARRAYS: [(&str, char, u32); 6] = [
    ("const int64_t", 's', 64),
    ("const uint64_t", 'u', 64),
    ("const int16_t", 's', 16),
    ("int64_t", 's', 64),
    ("uint64_t", 'u', 64),
    ("int32_t", 's', 32),
];

/// An element near that of the counter, of an array.
fn element(rng: &mut Rng, array: u64) -> String {
    match rng.below(8) {
        0 => format!("a{array}[2 * i]"),
        1 => format!("a{array}[{}]", rng.below(ELEMENTS.into())),
        2 => format!("a{array}[n - i]"),
        3 => format!("a{array}[a2[i] & 63]"),
        _ => format!("a{array}[i + {}]", rng.below(4)),
    }
}

fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return match rng.below(7) {
            0 => ["77ll", "-70000ll", "(1ll << 33)", "n", "i", "s"][rng.below(6) as usize].into(),
            _ => {
                let array = rng.below(6);
                element(rng, array)
            }
        };
    }
    let (one, two) = (value(rng, depth - 1), value(rng, depth - 1));
    let amount = [1, 7, 15, 31, 32, 40, 63][rng.below(7) as usize];
    match rng.below(10) {
        0 => format!("({one} * {two})"),
        1 => format!("((int64_t)({one}) >> {amount})"),
        2 => format!("((uint64_t)({one}) >> {amount})"),
        3 => format!("((int64_t)({one}) << {amount})"),
        4 => format!("({one} {} {two})", ["&", "|", "^"][rng.below(3) as usize]),
        5 => format!("({one} < {two} ? {one} : {two})"),
        6 => format!("(int32_t)({one})"),
        7 => format!("({one} - {two})"),
        _ => format!("({one} + {two})"),
    }
}

fn statement(rng: &mut Rng) -> String {
    let depth = 1 + rng.below(2) as u32;
    let value = value(rng, depth);
    let array = 3 + rng.below(3);
    match rng.below(8) {
        0 => format!("s += {value};"),
        1 => format!("s = {value};"),
        2 => format!("if ({value} & 2) {} = s;", element(rng, array)),
        3 => format!("{} += {value};", element(rng, array)),
        4 => format!("if ({value} > s) s = {value};"),
        _ => format!("{} = {value};", element(rng, array)),
    }
}

/// A function of a loop or a nest.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint64_t f(int n, int m");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint64_t s = m;\n";
    let is_nest = rng.below(3) == 0;
    if is_nest {
        text += "for (int j = 0; j < m; j++) { int i = j; s = 0;\n";
    }
    text += match rng.below(4) {
        0 => "for (int i = n - 1; i >= 0; i--) {\n",
        1 => "for (int i = 0; i < 36; i++) {\n",
        _ => "for (int i = 0; i < n; i++) {\n",
    };
    for _ in 0..1 + rng.below(2) {
        let _ = writeln!(text, "{}", statement(rng));
    }
    text += "}\n";
    if is_nest {
        let _ =
            writeln!(text, "{} = s; }}", ["a3[j]", "a4[2 * j]", "a5[j]"][rng.below(3) as usize]);
    }
    text + "return s;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let scalars = [[0, 3], [1, 1], [5, 0], [36, 2], [38, 3], [77, 1], [80, 9]];
    agreed_for(source, scalars, &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_loops_over_elements_of_64_bits_do_what_they_mean() {
    random_programs(source, agreed, 2);
}

/// What a programmer keeps in 64 bits runs on arrays.
#[test]
fn elements_of_64_bits_run_on_arrays() {
    for body in [
        "for (int i = 0; i < n; i++) a3[i] += (int64_t)a5[i] * a2[i];",
        "for (int i = 0; i < n; i++) { s += a5[i]; a3[i] = s; }",
        "for (int i = 0; i < n; i++) s += a0[i] * a2[i];",
        "for (int i = 0; i < n; i++) a5[i] = (a0[i] + (1 << 14)) >> 15;",
        "for (int i = 0; i < n; i++) a4[i] = (a1[i] & a1[i + 1]) ^ (a1[i] >> 3);",
        "for (int i = 1; i < n; i++) a3[i] = a3[i - 1] + a0[i];",
        "for (int i = 0; i < n; i++) if (a0[i] > s) s = a0[i];",
        "for (int j = 0; j < m; j++) { s = 0; for (int i = 0; i < n; i++) s += a2[i + j] * a2[i];
         a3[j] = s; }",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint64_t f(int n, int m{parameters})
             {{ int64_t s = m; {body} return s; }}"
        );
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[60, 9], &filled(&ARRAYS, ELEMENTS, 3));
        assert_eq!(ran.expect("it runs").statistics.count("arrays.starts"), 1, "{source}");
    }
}
