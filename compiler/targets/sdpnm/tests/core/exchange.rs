//! Nests that come back to the same elements: random ones against the interpreter, and which of them become sums of
//! their inner loops.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 600;

const ARRAYS: [(&str, char, u32); 5] = [
    ("const int16_t", 's', 16),
    ("const int8_t", 's', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
    ("int64_t", 's', 64),
];

/// A function of a nest of two or three loops.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = n;\n";
    let mut trips = || 1 + rng.below(12);
    let (rows, inner, outer) = (1 + trips() % 3, trips(), trips());
    let _ = writeln!(text, "for (int i = 0; i < {rows}; i++)");
    let _ = match rng.below(3) {
        0 => writeln!(text, "for (int k = {outer}; k >= 1; k--) {{"),
        _ => writeln!(text, "for (int k = 0; k < {outer}; k++) {{"),
    };
    if rng.below(3) == 0 {
        text += ["int16_t u = a0[13 * k];\n", "t ^= k;\n", "a3[k] += t;\n", "a2[13 * i] = k;\n"]
            [rng.below(4) as usize];
    }
    let _ = match rng.below(4) {
        0 => writeln!(text, "for (int j = {inner} - 1; j >= 0; j--) {{"),
        1 => writeln!(text, "for (long j = 0; j < {inner}; j += 2) {{"),
        _ => writeln!(text, "for (int j = 0; j < {inner}; j++) {{"),
    };
    for _ in 0..1 + rng.below(2) {
        let array = 2 + rng.below(3);
        let at =
            ["j", "13 * i + j", "13 * i + j", "2 * j + 1", "j + k", "13 * k + j", "i", "j / 2"]
                [rng.below(8) as usize];
        let place = format!("a{array}[{at}]");
        let factor = ["a0[13 * k + j]", "a0[k]", "a1[j + k]", "a1[13 * j + k]", "(k - j)", "a2[j]"];
        let one = factor[rng.below(6) as usize];
        let two = factor[rng.below(6) as usize];
        let _ = match rng.below(7) {
            0 => writeln!(text, "{place} ^= {one};"),
            1 => writeln!(text, "if ({one} > {two}) {place} += {two};"),
            2 => writeln!(text, "{place} = {one} > {place} ? {one} : {place};"),
            3 => writeln!(text, "{place} = {place} * 3 + {one};"),
            4 => writeln!(text, "{place} = {one};"),
            _ => writeln!(text, "{place} += {one} * {two};"),
        };
    }
    text + "}\n}\nreturn t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    agreed_for(source, [[0], [5]], &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_nests_that_come_back_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// What adds to all outputs tap by tap is as fast as what adds all taps to an output.
#[test]
fn sums_tap_by_tap_store_once() {
    let cycles = |body: &str| {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source =
            format!("#include <stdint.h>\nint f(int n{parameters}) {{ {body} return n; }}");
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[1], &filled(&ARRAYS, ELEMENTS, 2)).expect("it runs");
        ran.statistics.count("cycles")
    };
    let taps = "for (int k = 0; k < 20; k++)";
    let outputs = "for (int j = 0; j < 96; j++)";
    let product = "a2[j] += a0[k] * a0[j + k];";
    let [outer, inner] =
        [[taps, outputs], [outputs, taps]].map(|[one, two]| cycles(&[one, two, product].concat()));
    assert!(outer < inner + inner / 4, "{outer}, {inner}");
}
