//! Loops that need more values from before them than an array has global registers: random ones against the
//! interpreter, and which of them arrays run.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs, with_body};
use crate::machine::run;

const ELEMENTS: u32 = 80;

const ARRAYS: [(&str, char, u32); 6] = [
    ("const int32_t", 's', 32),
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
    ("int32_t", 's', 32),
];

/// Scalars that arrays are asked with: iterations, and of a loop around.
const SCALARS: [[u64; 2]; 6] = [[0, 3], [1, 2], [2, 1], [7, 2], [40, 3], [64, 1]];

/// A function of a loop that does not change up to 24 values that are no constants, and hands on up to eight.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int m");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\n";
    let (fixed, carried) = (8 + rng.below(17), rng.below(9));
    // What is stored to is no coefficient that could be loaded again.
    for k in 0..fixed {
        let _ = match rng.below(5) {
            0 => writeln!(text, "int32_t k{k} = a3[{k}] * 5 + n;"),
            1 if k > 0 => writeln!(text, "int32_t k{k} = k{} + {};", k - 1, 3 + k),
            2 => writeln!(text, "int32_t k{k} = m * {} - 900;", 7 + k),
            _ => writeln!(text, "int16_t k{k} = a4[{k}];"),
        };
    }
    for s in 0..carried {
        let _ = writeln!(text, "int32_t s{s} = a5[{s}];");
    }
    let is_nest = rng.below(2) == 0;
    if is_nest {
        text += "for (int j = 0; j < m; j++)\n";
    }
    text += "for (int i = 0; i < n; i++) {\nint32_t x = a1[i], t = a0[i];\n";
    for k in 0..fixed {
        let _ = match rng.below(6) {
            0 => writeln!(text, "if (t < k{k}) t = k{k};"),
            1 => writeln!(text, "t ^= x + k{k};"),
            2 => writeln!(text, "t -= a2[i + {}] * (int16_t)k{k};", rng.below(8)),
            3 => writeln!(text, "x += (int16_t)(x >> 3) * (int16_t)k{k} >> 9;"),
            _ => writeln!(text, "t += a1[i + {}] * (int16_t)k{k};", rng.below(12)),
        };
    }
    for s in 0..carried {
        let _ = match rng.below(3) {
            0 if s > 0 => writeln!(text, "t += s{s}; s{s} = s{}; s{} = x;", s - 1, s - 1),
            1 => writeln!(text, "s{s} += t; x -= s{s};"),
            _ => writeln!(text, "s{s} = (s{s} >> 1) + x; t += s{s};"),
        };
    }
    let row = ["", "j * 8 + "][usize::from(is_nest && rng.below(2) == 0)];
    let _ = writeln!(text, "a{}[{row}i] = t + x;", 3 + rng.below(2));
    text += "}\n";
    for s in 0..carried {
        let _ = writeln!(text, "a5[{s}] = s{s};");
    }
    text + "return n;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    agreed_for(source, SCALARS, &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_loops_with_many_values_from_before_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// Coefficients that are written in the function, states that go on, clamps, and both.
#[test]
fn loops_with_more_values_than_registers_run_on_arrays() {
    let coefficients = |count: usize| -> String {
        (0..count).map(|k| format!("int32_t k{k} = a3[{k}] * 3 + m;")).collect()
    };
    let sum = |count: usize| -> String {
        let terms: Vec<String> = (0..count).map(|k| format!("(a1[i] ^ k{k})")).collect();
        terms.join(" + ")
    };
    let states: String = (0..8).map(|k| format!("int32_t s{k} = a5[{k}];")).collect();
    let steps: String =
        (0..8).map(|k| format!("s{k} = (s{k} ^ a0[i]) + {k}; t ^= s{k};")).collect();
    let kept: String = (0..8).map(|k| format!("a5[{k}] = s{k};")).collect();
    for body in [
        format!("{} for (int i = 0; i < n; i++) a4[i] = {};", coefficients(20), sum(20)),
        format!("{} for (int i = 0; i < n; i++) a4[i] = {};", coefficients(24), sum(24)),
        format!("{states} for (int i = 0; i < n; i++) {{ {steps} }} {kept}"),
        format!(
            "{states} {} for (int i = 0; i < n; i++) {{ {steps} a4[i] = {}; }} {kept}",
            coefficients(14),
            sum(14)
        ),
    ] {
        let source = with_body(&ARRAYS, ELEMENTS, &body);
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[64, 6], &filled(&ARRAYS, ELEMENTS, 2)).expect("it runs");
        assert_eq!(ran.statistics.count("arrays.starts"), 1, "{source}");
    }
}

/// Each of the arrays that share a loop finds what has no register.
#[test]
fn arrays_that_share_a_loop_find_what_has_no_register() {
    let types = [("const int16_t", 's', 16), ("int32_t", 's', 32), ("int16_t", 's', 16)];
    let list = parameters(&types, 960);
    let coefficients: String =
        (0..18).map(|k| format!("int32_t k{k} = a1[{k}] * 3 + m;")).collect();
    let terms: Vec<String> = (0..18).map(|k| format!("(a0[i] ^ k{k})")).collect();
    let source = format!(
        "#include <stdint.h>\nvoid f(int m{list}) {{ {coefficients}
         for (int i = 0; i < 960; i++) a2[i] = {}; }}",
        terms.join(" + ")
    );
    let arrays = filled(&types, 960, 1);
    let program = agreed_for(&source, [[5]], &arrays).unwrap();
    let ran = run(&program, &[5], &arrays).expect("it runs").statistics;
    assert!(ran.count("arrays.starts") > 1, "{source}");
}
