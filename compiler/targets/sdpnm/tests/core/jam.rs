//! Loops of which arrays do several iterations at a time: random ones against the interpreter, and how
//! many iterations that are.

use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::config::{Opcode, Package};
use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, setting};
use crate::machine::{compile, compile_without, run};

/// Elements of each array.
const ELEMENTS: u32 = 400;

/// The arrays: type, sign and bits. What is stored goes to the last ones.
const ARRAYS: [(&str, char, u32); 5] = [
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
    ("int8_t", 's', 8),
];

fn element(rng: &mut Rng) -> String {
    let array = if rng.below(6) == 0 { 2 + rng.below(3) } else { rng.below(2) };
    match rng.below(8) {
        0 => format!("a{array}[{}]", rng.below(ELEMENTS.into())),
        1 => format!("a{array}[2 * i + {}]", rng.below(4)),
        2 => format!("a{array}[{} - i]", 390 - rng.below(9)),
        3 => format!("a{array}[(a1[i] + {}) & 127]", rng.below(9)),
        _ => format!("a{array}[i + {}]", rng.below(9)),
    }
}

fn value(rng: &mut Rng) -> String {
    let mut text = format!("{}", rng.below(300));
    for _ in 0..1 + rng.below(7) {
        let (one, two) = (element(rng), element(rng));
        let _ = match rng.below(8) {
            0 => write!(text, " + ({one} >> {})", rng.below(9)),
            1 => write!(text, " - ({one} > {two} ? {one} : {two})"),
            2 => write!(text, " + i * {}", rng.below(9)),
            3 => write!(text, " ^ (int)(p >> 9)"),
            4 => write!(text, " - {one}"),
            _ => write!(text, " + (int16_t){one} * (int16_t){two}"),
        };
    }
    text
}

fn statement(rng: &mut Rng) -> String {
    let (value, array) = (value(rng), 2 + rng.below(3));
    let to = format!("a{array}[i + {}]", rng.below(7));
    match rng.below(12) {
        0 => format!("s += {value};"),
        1 => format!("if (({value}) & 1) {to} = {};", element(rng)),
        2 => format!("a{array}[2 * i] = {value}; a{array}[2 * i + 1] = t;"),
        3 => format!("t = {value}; {to} = t - s;"),
        4 => format!("a{array}[390 - i] = {value};"),
        5 => format!("a{array}[a1[i]] = {value};"),
        _ => format!("{to} = {value};"),
    }
}

/// A function of one loop, or of a nest, that runs a number of times with divisors.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text.push_str(")\n{\n    int s = n, t = 3;\n    uint32_t p = n;\n");
    let mut body = String::new();
    for _ in 0..1 + rng.below(3) {
        let _ = writeln!(body, "        {}", statement(rng));
    }
    match rng.below(3) {
        0 => {
            let (rows, columns) = (4 + rng.below(6), 12 + 2 * rng.below(8));
            let width = columns + rng.below(3);
            let _ = writeln!(
                text,
                "    for (int r = 0; r < {rows}; r++) for (int c = 0; c < {columns}; c++) {{\n        \
                 int i = r * {width} + c;\n        i = i < 190 ? i : 190;"
            );
            text.push_str(&body.replace("i + ", &format!("r * {width} + c + ")));
        }
        _ => {
            let trips = [32, 40, 48, 60, 63, 66, 96, 105, 120, 180][rng.below(10) as usize];
            let first = rng.below(4);
            let _ = writeln!(text, "    for (int i = {first}; i < {}; i++) {{", first + trips);
            text.push_str(&body);
        }
    }
    text + "        p += 77777777u;\n    }\n    return s ^ t ^ (int)p;\n}\n"
}

/// How many iterations are one on an array: what a store moves on by, to what it does where they are not.
fn times(packages: &[Package], alone: &[Package]) -> i32 {
    let stride = |packages: &[Package]| {
        let contexts = packages.first().map_or(&[][..], |package| &package.contexts);
        let mut stores = contexts.iter().filter(|placed| placed.context.op == Opcode::Store);
        let stride =
            stores.find_map(|placed| Some(placed.context.memory.stride).filter(|&n| n != 0));
        stride.unwrap_or(1)
    };
    stride(packages) / stride(alone)
}

/// A program of a function that does what the interpreter does, and one that does an iteration at a time.
fn agreed(source: &str, seed: u64) -> Result<[CoreProgram; 2], String> {
    let (module, func) = common::compile(Path::new("jam.c"), source, Some("f"))?;
    let whole = compile(&module, func, OptLevel::O2)?;
    let alone = compile_without("jam", &module, func)?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    for program in [&whole, &alone] {
        compared((&module, func), program, &[seed % 45], &arrays)?;
    }
    Ok([whole, alone])
}

#[test]
fn random_loops_do_several_iterations_at_a_time() {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 40));
    let (mut wrong, mut jammed) = (Vec::new(), 0);
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok([whole, alone]) => {
                jammed += u64::from(times(&whole.packages, &alone.packages) > 1);
            }
            Err(what) => wrong.push(format!("seed {seed}: {what}\n{source}")),
        }
    }
    let shown = wrong[..wrong.len().min(3)].join("\n");
    assert!(wrong.is_empty(), "{} of {cases} are wrong\n{shown}", wrong.len());
    assert!(jammed * 5 >= cases, "{jammed} of {cases} loops do several iterations at a time");
}

fn function(body: &str) -> String {
    let arrays = parameters(&ARRAYS, ELEMENTS);
    format!(
        "#include <stdint.h>\nint f(int n{arrays})\n{{\n    int s = 0;\n    {body}\n    return s;\n}}\n"
    )
}

#[test]
fn as_many_iterations_at_a_time_as_fill_an_array() {
    let taps = "int x = 7; for (int k = 0; k < 32; k++) x += a0[i + k] * a3[k]; a2[i] = x;";
    let long = "int x = a0[c + 50 * r] * a0[c + 50 * r + 51];
                a2[c + 50 * r] = x + a0[c + 50 * r + 20] * a0[c + 50 * r + 3];";
    let nest = format!("for (int r = 0; r < 6; r++) for (int c = 0; c < 48; c++) {{ {long} }}");
    let of = |trips: u32, body: &str| format!("for (int i = 0; i < {trips}; i++) {{ {body} }}");
    for (body, expected) in [
        (of(128, taps), 4),
        // Two or three do not fill cycles better than one, and four are no divisor.
        (of(126, taps), 1),
        (of(127, taps), 1),
        // Sums from iteration to iteration, of which none is to be had sooner.
        (of(120, "s = s * a0[i] + 3; a2[i] = s;"), 1),
        // A divisor of the rows of a nest as well.
        (nest, 4),
    ] {
        let source = function(&body);
        let [whole, alone] = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        assert_eq!(times(&whole.packages, &alone.packages), expected, "{body}");
    }
}

/// Coefficients go to an array one by one: none waits in the frame before.
#[test]
fn coefficients_are_loaded_when_they_are_handed_over() {
    let sum: String = (0..24).map(|k| format!("a0[i + {k}] * a1[{k}] + ")).collect();
    let source = function(&format!("for (int i = 0; i < 96; i++) a2[i] = {sum} n;"));
    let [program, _] = agreed(&source, 3).unwrap();
    let ran = run(&program, &[3], &filled(&ARRAYS, ELEMENTS, 3)).expect("it runs");
    let instructions = ran.statistics.count("instructions");
    assert!(instructions < 6 * 24, "{instructions} instructions");
    // What sums of the array grow by stays in front of both versions.
    agreed(&function("for (int i = 0; i < 96; i++) a2[i] = (i * a0[3]) ^ (a0[3] + a0[i]);"), 3)
        .unwrap();
}
