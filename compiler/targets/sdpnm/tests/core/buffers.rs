//! Loops through pointers that are of one array in one round and of another one in the next: random ones against the
//! interpreter, and how few instructions of the core are left.

use std::fmt::Write;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_testing::Rng;

use crate::loops::{agreed_for, filled, parameters, random_programs};
use crate::machine::run;

const ELEMENTS: u32 = 64;

const ARRAYS: [(&str, char, u32); 4] =
    [("const int16_t", 's', 16), ("int16_t", 's', 16), ("int16_t", 's', 16), ("int16_t", 's', 16)];

/// A function of rounds, after each of which pointers are others.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int m");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text += ")\n{\nint t = 0;\nint16_t *p = a1, *q = a2, *r = a3, *s;\nconst int16_t *from = a0;\n";
    text += "for (int k = 0; k < m; k++) {\nfor (int i = 1; i < n - 1; i++) {\n";
    for _ in 0..1 + rng.below(2) {
        let mut of = || ["from", "p", "q", "r"][rng.below(4) as usize];
        let (one, other, third) = (of(), of(), of());
        let to = ["p", "q", "r"][rng.below(3) as usize];
        let _ = match rng.below(4) {
            0 => writeln!(text, "t += {one}[i] - {other}[i - 1];"),
            1 => writeln!(text, "if ({one}[i] > k) {to}[i] = {other}[i + 1];"),
            _ => writeln!(text, "{to}[i] = ({one}[i - 1] + {other}[i] + {third}[i + 1]) >> 1;"),
        };
    }
    text += "}\n";
    text += [
        "from = p;\n",
        "s = p; p = q; q = s;\n",
        "s = p; p = q; q = r; r = s;\n",
        "if (t & 1) { s = p; p = r; r = s; }\n",
        "from = k & 1 ? a0 : q;\n",
        "p = p == a1 ? a2 : a1;\n",
    ][rng.below(6) as usize];
    text + "}\nreturn t;\n}\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    agreed_for(source, [[0, 3], [3, 1], [20, 5], [30, 2], [64, 4], [65, 2]], &arrays)
}

#[test]
fn random_exchanges_do_what_they_mean() {
    random_programs(source, agreed, 3);
}

/// A loop for each array that a pointer can be of.
#[test]
fn rounds_through_exchanged_buffers_run_on_arrays() {
    let parameters = parameters(&ARRAYS, ELEMENTS);
    let source = format!(
        "#include <stdint.h>\nint f(int n, int m{parameters}) {{
         int16_t *p = a1, *q = a2, *s; for (int k = 0; k < m; k++) {{
         for (int i = 1; i < n - 1; i++) q[i] = (p[i - 1] + p[i + 1]) >> 1;
         s = p; p = q; q = s; }} return 0; }}"
    );
    let program = agreed(&source, 2).unwrap_or_else(|what| panic!("{what}\n{source}"));
    let arrays = filled(&ARRAYS, ELEMENTS, 2);
    let ran = run(&program, &[60, 6], &arrays).expect("it runs").statistics;
    assert!(ran.count("arrays.starts") >= 6 && program.packages.len() >= 2, "{source}");
}
