//! Loops that are left in their middle: random ones against the interpreter, left early, late and not at all,
//! and which of them arrays run ahead.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 300;

const ARRAYS: [(&str, char, u32); 5] = [
    ("const int32_t", 's', 32),
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
];

fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        let leaf = [
            "i",
            "t",
            "u",
            "m",
            "a0[i]",
            "a1[i]",
            "a2[i]",
            "a3[i]",
            "a4[i]",
            "a1[i + 1]",
            "a2[u & 31]",
        ];
        return leaf[rng.below(leaf.len() as u64) as usize].into();
    }
    let (one, two) = (value(rng, depth - 1), value(rng, depth - 1));
    match rng.below(7) {
        0 => format!("({one} ^ {two})"),
        1 => format!("({one} * {two})"),
        2 => format!("({one} > {two} ? {one} : {two})"),
        3 => format!("({one} >> {})", 1 + rng.below(7)),
        4 => format!("({one} - {two})"),
        _ => format!("({one} + {two})"),
    }
}

/// What seldom holds, or holds late.
fn condition(rng: &mut Rng) -> String {
    let depth = rng.below(3) as u32;
    let one = value(rng, depth);
    match rng.below(6) {
        0 => format!("({one} & 255) == m"),
        1 => format!("({one} & 127) == {}", rng.below(128)),
        2 => format!("a2[i] == (m & 255) && {one} > 0"),
        3 => "i == m + 20".to_string(),
        4 => format!("t > 100000 || ({one} & 1023) == 5"),
        _ => format!("a1[i] == {}", rng.below(1000)),
    }
}

fn statement(rng: &mut Rng) -> String {
    let depth = rng.below(3) as u32;
    let value = value(rng, depth);
    match rng.below(10) {
        0 => format!("t += {value};"),
        1 => format!("t = {value};"),
        2 => format!("u = {value};"),
        3 => format!("if ({value} > t) t = {value};"),
        4 => format!("a3[i] = {value};"),
        5 => format!("a4[i] += {value};"),
        6 => format!("if ({value} & 1) a3[i + 1] = t;"),
        7 => format!("if ({value} & 1) continue;"),
        8 => format!("w += {value};"),
        _ => format!("if ({value} & 4) {{ u++; if ({}) break; }}", condition(rng)),
    }
}

/// A function of loops that are left in several ways.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int m");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 0, u = 0, i; int64_t w = 0;\n";
    for _ in 0..1 + rng.below(2) {
        let (head, step) = match rng.below(7) {
            0 => ("for (i = n - 1; i >= 0; i--)", ""),
            1 => ("for (i = 0; i < n; i += 2)", ""),
            2 => ("for (unsigned k = i = 0; k < (unsigned)n; k++, i++)", ""),
            3 => ("i = 0; while (i != n)", "i++;"),
            4 => ("i = 0; while (i < n && a1[i] != m)", "i++;"),
            _ => ("for (i = 0; i < n; i++)", ""),
        };
        let _ = writeln!(text, "{head} {{");
        for _ in 0..rng.below(3) {
            let statement = statement(rng);
            let skips = !step.is_empty() && statement.contains("continue");
            if !skips {
                let _ = writeln!(text, "{statement}");
            }
        }
        let out = ["break;", "return t + i;", "{ t = u; break; }"][rng.below(3) as usize];
        let _ = writeln!(text, "if ({}) {out}", condition(rng));
        if rng.below(2) == 0 {
            let statement = statement(rng).replace("continue", "break");
            let _ = writeln!(text, "{statement}");
        }
        let _ = writeln!(text, "{step}\n}}\nt += i;");
    }
    text + "return t + u * 3 + (int)w + (int)(w >> 32);\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let scalars = [[0, 3], [1, 1], [2, 5], [60, 77], [150, 300], [299, 200], [298, 9], [301, 4]];
    agreed_for(source, scalars, &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_loops_that_are_left_in_their_middle_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// Arrays run ahead where a programmer looks for something, and the first that is found counts.
#[test]
fn arrays_look_for_the_first() {
    for body in [
        "for (i = 0; i < n; i++) if (a1[i] == m) break;",
        "while (i < n && a2[i] != 7) i++;",
        "for (i = n - 1; i >= 0; i--) if (a0[i] == m) return i;",
        "for (i = 0; i < n; i++) { t += a1[i]; if (t > 1 << 28) break; }",
        "for (i = 0; i < n; i++) { a3[i] = a0[i]; if (a0[i] == m) break; }",
        "for (i = 0; i < n; i++) { if (a0[i] == m) break; a3[i] += a1[i]; }",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint f(int n, int m{parameters}) {{ int t = 0, i = 0; {body} return t + i; }}"
        );
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let mut arrays = filled(&ARRAYS, ELEMENTS, 2);
        for array in &mut arrays[..3] {
            array.bytes.iter_mut().for_each(|byte| *byte &= 3);
        }
        let ran = run(&program, &[290, 1 << 20], &arrays);
        assert!(ran.expect("it runs").statistics.count("arrays.starts") > 0, "{source}");
    }
}

/// What an iteration that leaves has changed before is not changed twice.
#[test]
fn an_iteration_that_leaves_is_not_done_twice() {
    let parameters = parameters(&ARRAYS, ELEMENTS);
    let source = format!(
        "#include <stdint.h>\nint f(int n, int m{parameters}) {{ int c = 0; for (int i = 0; i < n; i++) {{ \
         a4[i] = a4[i] * 3 + c; if (a4[i] == c) break; c++; }} return c; }}"
    );
    agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
}

/// Wherever a stretch ends: one iteration before the last, at the last, behind it.
#[test]
fn stretches_end_anywhere() {
    let parameters = parameters(&ARRAYS, ELEMENTS);
    for head in [
        "for (i = n - 1; i >= 1; i--)",
        "for (i = 1; i <= n - 1; i++)",
        "for (unsigned k = i = 1; k <= (unsigned)n; k++, i++)",
        "for (i = n; i > 0; i -= 3)",
        "for (i = 2; i <= n; i += 2)",
        "for (i = 0; i != n; i++)",
    ] {
        let source = format!(
            "#include <stdint.h>\nint f(int n, int m{parameters}) {{ int i, t = 0; {head} {{ t += m; \
             if (a2[m & 15] > 255 + m) return 7; }} return t + i; }}"
        );
        let scalars: Vec<[u64; 2]> = (0..90).map(|n| [n, n & 1]).collect();
        agreed_for(&source, scalars, &filled(&ARRAYS, ELEMENTS, 3))
            .unwrap_or_else(|what| panic!("{what}\n{source}"));
    }
}
