//! Loops whose first iterations do otherwise, as many as a parameter says: random ones against the interpreter, and
//! which of them arrays run.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 160;

const ARRAYS: [(&str, char, u32); 3] =
    [("const int16_t", 's', 16), ("int32_t", 's', 32), ("int16_t", 's', 16)];

/// A function of a loop with such a question.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int d, int s");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 0, u = s, i = s;\n";
    let is_nest = rng.below(4) == 0;
    if is_nest {
        text += "for (int j = 0; j < 3; j++, d += a0[j] & 7) {\n";
    }
    text += match rng.below(6) {
        0 => "do {\n",
        1 => "for (i = 0; i < n; i++) {\n",
        2 => "for (int i = 3; i < 90; i++) {\n",
        _ => "for (int i = s; i < n; i++) {\n",
    };
    let is_do = text.ends_with("do {\n");
    for _ in 0..1 + rng.below(2) {
        let cond = ["i >= d", "i >= d", "d <= i", "i < d", "i > d", "i >= 21", "i - d >= 0"];
        let (cond, array) = (cond[rng.below(7) as usize], 1 + rng.below(2));
        let way = format!("a{array}[i - {}]", ["d", "d", "21", "1"][rng.below(4) as usize]);
        let not = if cond == "i < d" { "!" } else { "" };
        let _ = match rng.below(6) {
            0 => writeln!(text, "a{array}[i] = {not}({cond}) ? {way} + a0[i] : a0[i];"),
            1 => writeln!(text, "if ({not}({cond})) t += {way}; a{array}[i] += t;"),
            2 => writeln!(text, "if ({not}({cond})) u = {way} ^ i; else u++; a{array}[i] = u;"),
            3 => writeln!(text, "if ({not}({cond}) && a0[i] > 0) a{array}[i] = {way};"),
            _ => writeln!(
                text,
                "{{ int v = a0[i]; if ({not}({cond})) v += {way} * 5 >> 3; a{array}[i] = v; }}"
            ),
        };
    }
    text += if is_do { "} while (++i < n);\n" } else { "}\n" };
    if is_nest {
        text += "}\n";
    }
    text + "return t + 7 * u + i;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let word = |word: i32| u64::from(word as u32);
    let scalars = [
        [0, 3, 0],
        [1, 1, 0],
        [60, 0, 0],
        [60, -5, 0],
        [70, 20, 3],
        [70, 70, 0],
        [70, 71, 0],
        [70, 69, 0],
        [50, 30, 40],
        [20, 30, 40],
        [60, i32::MAX, 2],
        [60, i32::MIN, 2],
        [100, 40, 1],
    ];
    agreed_for(source, scalars.map(|all| all.map(word)), &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_thresholds_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// Iterations from the threshold on run on an array.
#[test]
fn arrays_run_what_comes_behind_a_threshold() {
    for body in [
        "for (int i = 0; i < n; i++) { int v = a0[i]; if (i >= d) v += a2[i - d] * 9 >> 5; a2[i] = v; }",
        "for (int i = 0; i < n; i++) a1[i] = i < d ? a0[i] : a0[i] + a1[i - d];",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint f(int n, int d, int s{parameters}) {{ {body} return n; }}"
        );
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[150, 12, 0], &filled(&ARRAYS, ELEMENTS, 2)).expect("it runs");
        assert!(ran.statistics.count("arrays.starts") > 0, "{source}");
        assert!(ran.statistics.count("cycles") < 900, "{source}");
    }
}
