//! Accesses that are apart by what is known at run time only: random loops against the interpreter, at many
//! distances, and in which of two ways an array runs them.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 160;

const ARRAYS: [(&str, char, u32); 4] =
    [("const int16_t", 's', 16), ("int32_t", 's', 32), ("int16_t", 's', 16), ("int64_t", 's', 64)];

/// An element at a distance of the counter.
fn element(rng: &mut Rng) -> String {
    let at = ["i", "i + d", "i - d", "i + e", "i - e + d", "i + 1", "i - 2 * d", "2 * i + d"];
    format!("a{}[{}]", 1 + rng.below(3), at[rng.below(8) as usize])
}

fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return match rng.below(6) {
            0 => "a0[i]".into(),
            1 => "t".into(),
            _ => element(rng),
        };
    }
    let (one, two) = (value(rng, depth - 1), value(rng, depth - 1));
    match rng.below(6) {
        0 => format!("({one} * {two})"),
        1 => format!("({one} > {two} ? {one} : {two})"),
        2 => format!("({one} - {two})"),
        3 => format!("(int16_t)({one})"),
        _ => format!("({one} + {two})"),
    }
}

/// A function of a loop, inside of another one that changes how far accesses are apart.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int d, int e");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 0;\n";
    let is_nest = rng.below(3) == 0;
    if is_nest {
        text += "for (int j = 0; j < 3; j++, d += a0[j] & 7) {\n";
    }
    text += match rng.below(5) {
        0 => "for (int i = n - 1; i >= d; i--) {\n",
        1 => "for (int i = d; i < n; i += 2) {\n",
        2 => "for (int i = 40; i < 40 + n; i++) {\n",
        3 => "for (int i = n; i >= 40; i -= 3) {\n",
        _ => "for (int i = d; i < n; i++) {\n",
    };
    for _ in 0..1 + rng.below(3) {
        let depth = 1 + rng.below(2) as u32;
        let value = value(rng, depth);
        let _ = match rng.below(5) {
            0 => writeln!(text, "t += {value};"),
            1 => writeln!(text, "if ({value} > 0) {} = {value};", element(rng)),
            2 => writeln!(text, "{} += {value};", element(rng)),
            _ => writeln!(text, "{} = {value};", element(rng)),
        };
    }
    text += if is_nest { "}\n}\n" } else { "}\n" };
    text + "return t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let word = |word: i32| u64::from(word as u32);
    let distances = [
        [0, 0],
        [1, -1],
        [2, 7],
        [7, 3],
        [8, 16],
        [9, -9],
        [16, 8],
        [30, 24],
        [39, 15],
        [-1, 8],
        [-8, 40],
        [-20, 12],
    ];
    let scalars = distances.into_iter().enumerate().map(|(number, [d, e])| {
        let n = [60, 70, 45, 100, 0, 41][number % 6];
        [n, word(d), word(e)]
    });
    agreed_for(source, scalars, &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_loops_whose_accesses_are_apart_do_what_they_mean() {
    random_programs(source, agreed, 2);
}

/// What is far enough apart runs at a shorter interval, what is not at a longer one, both on an array.
#[test]
fn what_is_far_apart_takes_fewer_cycles() {
    for body in [
        "for (int i = 40; i < n; i++) a2[i] = a2[i] + (a2[i - d] * 9 >> 5);",
        "for (int i = n; i >= d; i--) { int u = a1[i - d] + e; if (u > a1[i]) a1[i] = u; }",
        "for (int i = 0; i < n; i++) { int x = a1[i], y = a1[i + d]; a1[i] = x + y; a1[i + d] = x - y; }",
        "for (int i = 40; i < n; i++) a3[i] += a3[i - d];",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint f(int n, int d, int e{parameters}) {{ int t = 0; {body} return t; }}"
        );
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let arrays = filled(&ARRAYS, ELEMENTS, 2);
        let cycles = |d: u64| {
            let ran = run(&program, &[120, d, 5], &arrays).expect("it runs").statistics;
            assert_eq!(ran.count("arrays.starts"), 1, "{source}");
            ran.count("cycles")
        };
        let far = cycles(30);
        assert!(program.packages.len() == 2, "{source}");
        assert!(program.packages[1].ii < program.packages[0].ii, "{source}");
        if !body.contains(">= d") {
            assert!(far + 80 < cycles(3), "{far} for {} {source}", cycles(3));
        }
    }
}
