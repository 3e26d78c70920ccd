//! Loops over what is larger than a shared memory, here of 1 KiB: they go through it in strips, and leave behind what
//! they leave on the interpreter.

use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_isa_sdpnm::machine::BUILT_IN;
use nbcc_pipeline::{Artifact, Emit, OptLevel};
use nbcc_testing::Rng;

use crate::common;
use crate::common::runs::Array;
use crate::loops::{compared, filled, parameters, random_programs};
use crate::machine::{compile_on, run};

/// Elements of each array.
const ELEMENTS: u32 = 900;

const ARRAYS: [(&str, char, u32); 4] =
    [("const int16_t", 's', 16), ("int32_t", 's', 32), ("uint8_t", 'u', 8), ("int64_t", 's', 64)];

fn arrays(seed: u64) -> Vec<Array> {
    filled(&ARRAYS, ELEMENTS, seed)
}

/// The program of a function for a machine with shared memories of 1 KiB, which does what the function does on the
/// interpreter.
fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let machine = BUILT_IN[0].1.replace("kib = 64", "kib = 1");
    let (module, func) = common::compile(Path::new("strips.c"), source, Some("f"))?;
    let binary = compile_on(&machine, &module, func, OptLevel::O2, Emit::Binary)?;
    let Artifact::Binary(binary) = binary else { return Err("a text".into()) };
    let program = CoreProgram::from_elf(&binary).map_err(|error| error.to_string())?;
    compared((&module, func), &program, &[seed], &arrays(seed))?;
    Ok(program)
}

fn function(body: &str) -> String {
    let parameters = parameters(&ARRAYS, ELEMENTS);
    format!(
        "#include <stdint.h>\nint f(int n{parameters})\n{{\n    int s = n;\n    {body}\n    return s;\n}}\n"
    )
}

/// Bytes that went to windows, and back.
fn moved(body: &str) -> (u64, u64) {
    let source = function(body);
    let program = agreed(&source, 7).unwrap_or_else(|what| panic!("{what}\n{source}"));
    let statistics = run(&program, &[7], &arrays(7)).expect("a run").statistics;
    let bytes = |key: &str| statistics.count(&format!("communication.{key}"));
    assert!(statistics.count("arrays.starts") > 0, "no array runs\n{source}");
    (bytes("moved_in"), bytes("moved_out"))
}

#[test]
fn loops_go_through_large_objects_in_strips() {
    for body in [
        "for (int i = 0; i < 900; i++) a1[i] = a0[i] * 3 + n;",
        "for (int i = 0; i < 900; i++) a1[i] = a0[899 - i];",
        "for (int i = 899; i >= 0; i--) a1[i] ^= i;",
        "for (int i = 0; i < 893; i++) { int t = 0; for (int k = 0; k < 8; k++) t += a0[i + k] * (k - 3); a1[i] = t; }",
        "for (int i = 0; i < 900; i++) { s += a0[i]; a1[i] = s; }",
        "for (int i = 1; i < 900; i++) a1[i] += a1[i - 1];",
        "for (int i = 0; i < 300; i++) a1[3 * i] = a0[3 * i + 2];",
        "for (int i = 0; i < 900; i++) if (a2[i] & 1) a1[i] = i;",
        "for (int i = 0; i < 900; i++) { int t = a0[i]; if (i >= 3) t += a0[i - 3]; if (i + 2 < 900) t -= a0[i + 2]; a1[i] = t; }",
        "for (int y = 0; y < 30; y++) for (int x = 0; x < 30; x++) a1[30 * y + x] = a0[30 * y + x] + y * x;",
        "for (int y = 1; y < 29; y++) for (int x = 1; x < 29; x++)
             a1[30 * y + x] = a0[30 * (y - 1) + x] + a0[30 * (y + 1) + x] - a0[30 * y + x - 1] + a0[30 * y + x + 1];",
        "for (int y = 0; y < 30; y++) for (int x = 0; x < 30; x++) {
             int t = a0[30 * y + x]; if (y > 0) t += a0[30 * y - 30 + x]; if (x > 0) t += a0[30 * y + x - 1]; a1[30 * y + x] = t; }",
        "for (int y = 28; y >= 0; y--) for (int x = 29; x >= 0; x--) a1[30 * y + x] += a1[30 * y + 30 + x] >> 1;",
        "for (int r = 0; r < 3; r++) for (int i = 0; i < 900; i++) a1[i] += r;",
        "for (int i = 0; i < 900; i++) a1[i] = a0[i]; for (int i = 0; i < 899; i++) a3[i] = a1[i + 1] * a1[i];",
        "for (int64_t i = 0; i < 890; i++) a3[i + 7] = a0[i] + i;",
        "for (int b = 0; b < 100; b++) { int t[8]; for (int i = 0; i < 8; i++) t[i] = a0[8 * b + i];
             for (int i = 0; i < 8; i++) { int u = 0; for (int j = 0; j < 8; j++) u += t[j] * ((i * j) % 5 - 2); a1[8 * b + i] = u; } }",
    ] {
        assert_ne!(moved(body).0, 0, "{body}");
    }
}

/// What is moved is what iterations touch, once, but for what strips have in common.
#[test]
fn strips_move_what_they_touch() {
    let (to, back) = moved("for (int i = 0; i < 900; i++) a1[i] = a0[i] * 3 + n;");
    assert_eq!((to, back), (900 * 6, 900 * 4));
    // Nobody moves back what did not change.
    let (to, back) = moved("for (int i = 0; i < 900; i++) s += a1[i] ^ i;");
    assert_eq!((to, back), (900 * 4, 0));
    let (to, _) =
        moved("for (int i = 4; i < 900; i++) { int t = a1[i] - a1[i - 4]; if (t > s) s = t; }");
    assert!((900 * 4..950 * 4).contains(&to), "{to}");
}

/// Subscripts that do not slide, or only through far more than is touched, keep a loop on the core.
#[test]
fn what_does_not_slide_is_not_moved() {
    for body in [
        "for (int i = 0; i < 900; i++) a1[a0[i] & 511] += i;",
        "for (int i = 0; i < 30; i++) for (int j = 0; j < 30; j++) a1[30 * j + i] = a3[30 * i + j];",
    ] {
        let source = function(body);
        let program = agreed(&source, 7).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let statistics = run(&program, &[7], &arrays(7)).expect("a run").statistics;
        assert_eq!(statistics.count("communication.moves"), 0, "{body}");
    }
}

/// A random subscript of the counters of a nest that stays inside.
fn subscript(rng: &mut Rng, is_nest: bool) -> String {
    let near = rng.below(7) as i64 - 3;
    match (is_nest, rng.below(5)) {
        (true, 0) => format!("29 * y + x + {}", near + 3),
        (true, 1) => format!("30 * (y + {}) + x", near.rem_euclid(3)),
        (true, 2) => format!("{} - 30 * y - x", 890 + near),
        (true, _) => format!("30 * y + x + {}", near + 4),
        (false, 0) => format!("{} - i", 880 + near),
        (false, 1) => format!("2 * (i / 2) + {}", near + 3),
        (false, 2) => format!("(i > 440 ? i - 5 : i) + {}", near + 8),
        (false, _) => format!("i + {}", near + 8),
    }
}

fn source(rng: &mut Rng) -> String {
    let mut body = String::new();
    for _ in 0..1 + rng.below(2) {
        let is_nest = rng.below(2) == 0;
        let (rows, columns) = (20 + rng.below(8), 20 + rng.below(10));
        let trips = 700 + rng.below(180);
        let _ = match is_nest {
            true => write!(
                body,
                "for (int y = 0; y < {rows}; y++) for (int x = 0; x < {columns}; x++) {{ "
            ),
            false => write!(body, "for (int i = 0; i < {trips}; i++) {{ "),
        };
        let element = |rng: &mut Rng, first: u64| {
            format!("a{}[{}]", first + rng.below(4 - first), subscript(rng, is_nest))
        };
        for _ in 0..1 + rng.below(3) {
            let (to, one, other) = (element(rng, 1), element(rng, 0), element(rng, 0));
            let _ = match rng.below(5) {
                0 => write!(body, "s += {one}; "),
                1 => write!(body, "if ({one} > {other}) {to} = {one}; "),
                2 => write!(body, "{to} += {one} * 3; "),
                _ => write!(body, "{to} = {one} - {other}; "),
            };
        }
        body.push_str("}\n    ");
    }
    function(&body)
}

#[test]
fn random_loops_in_strips_do_what_they_mean() {
    random_programs(source, agreed, 8);
}
