//! Loads at a place that goes from element to element, as where the greatest is looked for: random loops against
//! the interpreter, and which of them do without waiting for addresses.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 96;

const ARRAYS: [(&str, char, u32); 6] = [
    ("const int32_t", 's', 32),
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("const uint16_t", 'u', 16),
    ("int32_t", 's', 32),
    ("const int64_t", 's', 64),
];

/// A function that looks for places.
fn source(rng: &mut Rng) -> String {
    let mut text =
        String::from("#include <stdint.h>\n#include <stdlib.h>\nint f(int n, int m, int s");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint p = s, q = 0, t = 0;\n";
    let is_nest = rng.below(3) == 0;
    if is_nest {
        text += "for (int j = 0; j < m; j++) { p = 0;\n";
    }
    let row = if is_nest { "8 * j + " } else { ["", "", "m + "][rng.below(3) as usize] };
    text += match rng.below(4) {
        0 => "for (int i = n - 1; i >= 0; i--) {\n",
        1 => "for (int i = 1; i < n; i += 2) {\n",
        _ => "for (int i = 0; i < n; i++) {\n",
    };
    for _ in 0..1 + rng.below(2) {
        let array = rng.below(6);
        let relation = ["<", "<=", ">", ">="][rng.below(4) as usize];
        let (own, best) = (format!("a{array}[{row}i]"), format!("a{array}[{row}p]"));
        let other = format!("a{array}[{row}q]");
        let next = ["i", "i", "i + 1"][rng.below(3) as usize];
        let _ = match rng.below(8) {
            0 => writeln!(text, "if (abs(a1[{row}i]) {relation} abs(a1[{row}p])) p = i;"),
            1 => writeln!(text, "if ({own} {relation} {best}) {{ q = p; p = {next}; }}"),
            2 => writeln!(
                text,
                "if ({own} {relation} {best}) {{ q = p; p = i; }} else if ({own} {relation} {other}) q = i;"
            ),
            3 => writeln!(text, "p = {own} {relation} {best} ? i : p; t += {best};"),
            4 => writeln!(text, "if ({own} {relation} {best}) p = i; a4[i] = {best};"),
            5 => writeln!(
                text,
                "if (({own} & 3) == 1) p = i; else if ({own} {relation} {best}) p = s;"
            ),
            _ => writeln!(text, "if ({own} {relation} {best}) p = {next};"),
        };
    }
    text += "}\n";
    if is_nest {
        text += "a4[j] = p; }\n";
    }
    text + "return p + 1000 * q + t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let scalars = [
        [0, 3, 0],
        [1, 1, 0],
        [2, 5, 1],
        [30, 9, 0],
        [50, 20, 49],
        [40, 4, 95],
        [40, 3, 96],
        [40, 3, 0xffff_ffff],
        [96, 1, 7],
    ];
    agreed_for(source, scalars, &filled(&ARRAYS, ELEMENTS, seed))
}

#[test]
fn random_places_are_what_they_mean() {
    random_programs(source, agreed, 2);
}

/// An iteration waits for no address.
#[test]
fn the_greatest_is_found_without_loading_it_again() {
    for (body, most) in [
        ("for (int i = 1; i < n; i++) if (a0[i] > a0[p]) p = i;", 1),
        ("for (int i = 0; i < n; i++) if (a1[i] <= a1[p]) p = i;", 1),
        ("for (int i = 0; i < n; i++) if (a2[i] >= a2[p]) p = i;", 2),
        ("for (int i = 0; i < n; i++) if (a1[i + m] < a1[m + p]) p = i;", 1),
    ] {
        let parameters = parameters(&ARRAYS, ELEMENTS);
        let source = format!(
            "#include <stdint.h>\nint f(int n, int m, int s{parameters}) {{ int p = s; {body} return p; }}"
        );
        let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[60, 6, 2], &filled(&ARRAYS, ELEMENTS, 2)).expect("it runs");
        assert_eq!(ran.statistics.count("arrays.starts"), 1, "{source}");
        assert!(program.packages[0].ii <= most, "{} {source}", program.packages[0].ii);
    }
}
