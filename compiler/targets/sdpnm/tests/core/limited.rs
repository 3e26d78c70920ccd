//! Subscripts that grow in some iterations, and those that begin again at an end: random ones against the
//! interpreter, inside and outside.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 64;

const ARRAYS: [(&str, char, u32); 4] = [
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
];

/// A statement that moves a subscript.
fn step(rng: &mut Rng) -> String {
    let cond = ["a0[i] > 0", "a1[i] & 1", "i != d", "a0[i] > a1[i] * 9"][rng.below(4) as usize];
    match rng.below(13) {
        0 => format!("if ({cond}) k++;"),
        1 => format!("if ({cond}) k += 2; else k++;"),
        2 => format!("k += {cond};"),
        3 => format!("if ({cond}) k--;"),
        4 => "if (++k == d) k = 0;".into(),
        5 => "k++; if (k >= d) k = 0;".into(),
        6 => "k = k + 1 > d ? 0 : k + 1;".into(),
        7 => "k = k == 0 ? d - 1 : k - 1;".into(),
        8 => "if (--k < 0) k = d;".into(),
        9 => "k += 3; if (k >= d) k = 0;".into(),
        10 => "k = k == d - 1 ? 0 : k + 1;".into(),
        11 => format!("if ({cond}) {{ k++; if (k == 20) k = 0; }}"),
        _ => format!("if ({cond}) k += a1[i] & 1; else k = 3;"),
    }
}

/// A loop that stores at such a place.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int d, int s");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 0, k = s;\nfor (int i = 0; i < n; i++) {\n";
    for _ in 0..1 + rng.below(3) {
        let at = ["k", "k + 1", "k", "k - 1", "k++"][rng.below(5) as usize];
        let _ = match rng.below(5) {
            0 => writeln!(text, "a2[{at}] = a0[i] + i;"),
            1 => writeln!(text, "t += a2[k]; a2[k] = a0[i] - t;"),
            2 => writeln!(text, "if (a0[i] > 99) a3[{at}] = i;"),
            3 => writeln!(text, "a3[k] += a1[i];"),
            _ => writeln!(text, "{}", step(rng)),
        };
    }
    let last = step(rng);
    text + &last + "\n}\nreturn t + k;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let scalars = [
        [0, 3, 0],
        [1, 1, 0],
        [9, 5, 0],
        [40, 7, 3],
        [30, 64, 0],
        [40, 65, 60],
        [20, 5, 6],
        [20, 0, 0],
        [20, 0xffff_fffe, 0],
        [20, 9, 0xffff_ffff],
        [12, 63, 40],
        [20, 30, 29],
    ];
    agreed_for(source, scalars, &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_subscripts_within_limits_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// Lists that some iterations add to, and rings of samples, run on an array.
#[test]
fn lists_and_rings_run_on_arrays() {
    for body in [
        "for (int i = 0; i < n; i++) if (a0[i] > 9) a2[k++] = i;",
        "for (int i = 0; i < n; i++) if (a0[i] > 9) { a2[k++] = i; a2[k++] = a0[i]; }",
        "int m = 63; for (int i = 0; i < n; i++) if (a1[i] & 1) a3[k++] = i; else a3[m--] = i;",
        "for (int i = 0; i < n; i++) { a2[k] = i; k += a0[i] > 3; }",
        "for (int i = 0; i < n; i++) { int old = a3[k]; a3[k] = a0[i] + (old >> 1); a2[i] = old;
         if (++k == d) k = 0; }",
        "for (int i = 0; i < n; i++) { int old = a3[k]; a3[k] = a0[i]; a2[i] = old;
         k = k == 0 ? d - 1 : k - 1; }",
        "for (int i = 0; i < n; i++) { a3[k] += a0[i]; k += 2; if (k > 36) k = 0; }",
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint f(int n, int d, int k{parameters}) {{ {body} return k; }}"
        );
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[30, 20, 1], &filled(&ARRAYS, ELEMENTS, 2)).expect("it runs");
        assert_eq!(ran.statistics.count("arrays.starts"), 1, "{source}");
    }
}
