//! Nests with sums inside as one loop: random ones against the interpreter, how often arrays are started,
//! what accumulators do, and which arrays share them.

use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, setting};
use crate::machine::{compile, compile_without, run};

/// Elements of each array.
const ELEMENTS: u32 = 2048;

/// The arrays: type, sign and bits. What is stored goes to the last ones, mostly.
const ARRAYS: [(&str, char, u32); 6] = [
    ("const int16_t", 's', 16),
    ("const int8_t", 's', 8),
    ("const uint8_t", 'u', 8),
    ("const int32_t", 's', 32),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
];

/// A nest of the counters `i`, where there is one, `j` and `k`, and how often they count.
struct Nest {
    trips: [u64; 3],
}

impl Nest {
    /// An element whose number is a sum of the first counters, each times something.
    fn element(&self, rng: &mut Rng, counters: usize) -> String {
        let mut index = format!("{}", rng.below(9));
        let mut most = 8;
        for (name, trips) in ["i", "j", "k"].iter().zip(self.trips).take(counters) {
            let factor = [0, 1, 1, 2, 3, self.trips[2], self.trips[1]][rng.below(7) as usize];
            let end = most + factor * trips;
            if factor > 0 && end < ELEMENTS.into() {
                let _ = write!(index, " + {factor} * {name}");
                most = end;
            }
        }
        let array = if rng.below(30) == 0 { 4 + rng.below(2) } else { rng.below(4) };
        format!("a{array}[{index}]")
    }

    fn value(&self, rng: &mut Rng, counters: usize) -> String {
        let (one, two) = (self.element(rng, counters), self.element(rng, counters));
        match rng.below(9) {
            0 => format!("({one} > {two} ? {one} : {two})"),
            1 => format!("({one} >> {})", rng.below(9)),
            2 => format!("{one} * {two}"),
            3 => one,
            4 => format!("(({one} ^ {two}) & n)"),
            _ => format!("(int16_t){one} * (int16_t){two}"),
        }
    }
}

/// A function of a nest with one to three sums.
fn source(rng: &mut Rng) -> String {
    let trips = || [1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24];
    let mut one = || trips()[rng.below(13) as usize];
    let nest = Nest { trips: [one(), one(), one() + 8] };
    let mut text = function_of_arrays();
    let total = rng.below(4);
    let mut body = String::new();
    let mut behind = String::new();
    let (mut before, mut inner) = (String::new(), String::new());
    let sums = 1 + rng.below(3);
    for sum in 0..sums {
        let first = match rng.below(5) {
            0 => nest.element(rng, 2),
            1 => "n".into(),
            2 => format!("{}", rng.below(500)),
            _ => "0".into(),
        };
        let ty = if rng.below(8) == 0 { "int16_t" } else { "int32_t" };
        let _ = writeln!(before, "        {ty} s{sum} = {first};");
        let more = nest.value(rng, 3);
        if rng.below(8) == 0 {
            let _ = write!(inner, "if ({} > 9) ", nest.element(rng, 3));
        }
        let _ = match rng.below(9) {
            0 => writeln!(inner, "s{sum} -= {more};"),
            1 => writeln!(inner, "s{sum} = s{sum} > {more} ? s{sum} : {more};"),
            2 => writeln!(inner, "s{sum} = (s{sum} >> 1) ^ {more};"),
            _ => writeln!(inner, "s{sum} += {more};"),
        };
        let place = match rng.below(4) {
            0 => format!("j + {}", rng.below(9)),
            _ => format!("(i * {} + j) * {sums} + {sum}", nest.trips[1]),
        };
        let to = format!("a{}[{place}]", 4 + rng.below(2));
        let _ = match rng.below(8) {
            0 => writeln!(behind, "        if (s{sum} & 1) {to} = s{sum};"),
            1 => writeln!(behind, "        {to} += s{sum};"),
            2 => writeln!(behind, "        {to} = s{sum} > 127 ? 127 : s{sum};"),
            _ => writeln!(behind, "        {to} = s{sum} >> {};", rng.below(16)),
        };
    }
    if rng.below(8) == 0 {
        let _ = writeln!(before, "        a4[{}] = i;", nest.trips[1] + rng.below(20));
    }
    match total {
        0 => behind.push_str("        t += s0;\n"),
        1 => behind.push_str("        t = t > s0 ? t : s0;\n"),
        _ => {}
    }
    let [i, j, k] = nest.trips;
    let _ = writeln!(body, "    for (int i = 0; i < {i}; i++) for (int j = 0; j < {j}; j++) {{");
    let _ = write!(
        body,
        "{before}        for (int k = 0; k < {k}; k++) {{\n{inner}        }}\n{behind}    }}\n"
    );
    text.push_str(&body);
    text + "    return t;\n}\n"
}

fn function_of_arrays() -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text + ")\n{\n    int t = n;\n"
}

fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let (module, func) = common::compile(Path::new("nests.c"), source, Some("f"))?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    let program = compile(&module, func, OptLevel::O2)?;
    compared((&module, func), &program, &[seed % 45], &arrays)?;
    if seed.is_multiple_of(8) {
        let alone = compile_without("collapse", &module, func)?;
        compared((&module, func), &alone, &[seed % 45], &arrays)?;
    }
    Ok(program)
}

/// How often arrays are started.
fn starts(program: &CoreProgram) -> u64 {
    let ran = run(program, &[3], &filled(&ARRAYS, ELEMENTS, 3)).expect("it runs");
    ran.statistics.count("arrays.starts")
}

#[test]
fn random_nests_with_sums_do_what_they_mean() {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 12));
    let mut once = 0;
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok(program) => once += u64::from((1..=4).contains(&starts(&program))),
            Err(what) => panic!("seed {seed}: {what}\n{source}"),
        }
    }
    assert!(once * 5 >= cases * 3, "only {once} of {cases} nests start each array once");
}

fn nest(body: &str) -> String {
    format!("{}    {body}\n    return t;\n}}\n", function_of_arrays())
}

/// Matrices of 24 x 24 and what else has sums inside that are too long to be unrolled.
#[test]
fn nests_with_sums_start_each_array_once() {
    let rows = |body: &str| {
        nest(&format!("for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) {{ {body} }}"))
    };
    let long = |body: &str| format!("for (int k = 0; k < 48; k++) {{ {body} }}");
    let product = long("s += a0[i * 48 + k] * a0[k * 24 + j];");
    for (source, expected) in [
        (rows(&format!("int s = 0; {product} a4[i * 24 + j] = s;")), 4),
        (rows(&format!("int s = a3[i]; {product} a5[i * 24 + j] = s >> 15;")), 4),
        (rows(&format!("int s = 5; {product} if (s < 0) s = 0; a4[i * 24 + j] = s;")), 4),
        // Sums in memory are kept as values.
        (rows(&format!("a4[i * 24 + j] = 0; {}", product.replace("s +", "a4[i * 24 + j] +"))), 4),
        // What goes from row to row.
        (rows(&format!("int s = 0; {product} t += s & 15;")), 1),
        // What is stored now and then is no stretch that could be copied.
        (rows(&format!("int s = 0; {product} if (s & 1) a4[i * 24 + j] = s;")), 1),
        // Rows with gaps, of which each is shared.
        (rows(&format!("int s = 0; {product} a4[i * 25 + j] = s;")), 24 * 4),
    ] {
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        assert_eq!(starts(&program), expected, "{source}");
    }
}

/// Products that are added go to accumulators, which begin anew with each row; a part of a loop that
/// began in the middle of a row would be seen.
#[test]
fn sums_are_kept_in_accumulators() {
    let source = nest(
        "for (int i = 0; i < 16; i++) {
        int s = n;
        for (int k = 0; k < 120; k++) s += a0[i * 120 + k] * a0[k];
        a4[i] = s;
    }",
    );
    let program = agreed(&source, 3).unwrap();
    let accumulates = |package: &nbcc_isa_sdpnm::config::Package| {
        package.contexts.iter().any(|placed| placed.context.op.accumulates())
    };
    assert!(!program.packages.is_empty() && program.packages.iter().all(accumulates));
    // What the first iteration begins with counts as well.
    let other = nest(
        "for (int k = 0; k < 400; k++) {
        t = k % 8 == 5 ? 0 : t;
        t += a0[k] * a0[k + 7];
        a4[k] = t;
    }",
    );
    agreed(&other, 3).unwrap();
}

/// Rows that depend on each other are done one after the other.
#[test]
fn rows_stay_in_order_where_they_must() {
    for body in [
        // Each row reads what the one before left.
        "for (int j = 1; j < 30; j++) { int s = 0; for (int k = 0; k < 100; k++) s += a0[k] * a5[j - 1]; a5[j] = s; }",
        "for (int j = 0; j < 30; j++) { int s = 0; for (int k = 0; k < 100; k++) s += a5[k] * a0[j]; a5[j] = s; }",
        "for (int j = 0; j < 30; j++) { int s = t; for (int k = 0; k < 100; k++) s += a0[k + j]; t = s ^ j; a4[j] = t; }",
        "for (int j = 0; j < 30; j++) { int s = a4[j + 1]; for (int k = 0; k < 100; k++) s += a0[k + j]; a4[j] = s; }",
        "for (int j = 0; j < 30; j++) { int s = 0; for (int k = 0; k < 100; k++) s += a0[k + j]; a4[j & 7] = s; }",
        "for (int j = 0; j < 30; j++) { a4[30] = j; int s = 0; for (int k = 0; k < 100; k++) s += a4[k]; a4[j] = s; }",
    ] {
        let source = nest(body);
        agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
    }
}
