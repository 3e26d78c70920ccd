//! Loops that several arrays share: random ones whose iterations mostly do not depend on each other,
//! against the interpreter. Many must come to run in parts, and a fault in a part must be seen.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::core::{CoreProgram, Homed};
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, setting};
use crate::machine::{compile, compile_without};

/// Elements of each array.
const ELEMENTS: u32 = 720;

/// The arrays: type, sign and bits. The first ones are read, of the others some are never const.
const ARRAYS: [(&str, char, u32); 6] = [
    ("const int16_t", 's', 16),
    ("const int32_t", 's', 32),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
    ("uint8_t", 'u', 8),
];

fn input(rng: &mut Rng) -> String {
    let array = match rng.below(12) {
        0 => 3 + rng.below(3),
        other => other % 3,
    };
    match rng.below(9) {
        0 => format!("a{array}[{}]", rng.below(ELEMENTS.into())),
        1 => format!("a{array}[2 * i + {}]", rng.below(4)),
        2 => format!("a{array}[{} - i]", 700 - rng.below(9)),
        3 => format!("a{array}[(a0[i] >> 3) & 255]"),
        _ => format!("a{array}[i + {}]", rng.below(6)),
    }
}

fn value(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return match rng.below(9) {
            0 => "i".into(),
            1 => "n".into(),
            2 => "(int)(p >> 3)".into(),
            3 => format!("{}", rng.below(400) as i64 - 200),
            _ => input(rng),
        };
    }
    let (a, b) = (value(rng, depth - 1), value(rng, depth - 1));
    match rng.below(8) {
        0 => format!("((int16_t)({a}) * (int16_t)({b}))"),
        1 => format!("({a} > {b} ? {a} : {b})"),
        2 => format!("({a} >> {})", rng.below(12)),
        3 => format!("({a} ^ {b})"),
        4 => format!("({a} - {b})"),
        _ => format!("({a} + {b})"),
    }
}

/// Statements that store one stretch an iteration, or mostly.
fn store(rng: &mut Rng, array: u64, start: u64) -> String {
    let (one, two) = (value(rng, 2), value(rng, 1));
    let to = format!("a{array}");
    match rng.below(14) {
        0 | 1 => format!("{to}[2 * i + {start}] = {one}; {to}[2 * i + {}] = {two};", start + 1),
        2 => format!("{to}[{} - i] = {one};", 719 - start),
        3 => format!("{to}[2 * i] = {one};"),
        4 => format!("if ({two} > 0) {to}[i + {start}] = {one};"),
        5 => format!("s += {two}; {to}[i] = s;"),
        6 => format!("{to}[i] = {one}; {to}[i + 1] = {two};"),
        7 => format!("{to}[i + {start}] = {one}; {to}[i + {start}] += {two};"),
        _ => format!("{to}[i + {start}] = {one};"),
    }
}

/// A function of two loops, the second of which reads what the first made.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text.push_str(")\n{\n    int32_t s = n;\n    uint32_t p = 77u * n;\n");
    for _ in 0..1 + rng.below(2) {
        let trips = 90 + rng.below(220);
        let first = rng.below(4);
        let array = 3 + rng.below(3);
        match rng.below(4) {
            0 => {
                let (rows, columns) = (8 + rng.below(8), 9 + rng.below(12));
                let width = columns + rng.below(2) * rng.below(3);
                let of = value(rng, 2);
                let _ = writeln!(
                    text,
                    "    for (int k = 0; k < {rows}; k++)\n        for (int i = 0; i < {columns}; i++)\n            \
                     a{array}[k * {width} + i] = {of} + a1[k * 3];"
                );
            }
            _ => {
                let _ = writeln!(text, "    for (int i = {first}; i < {}; i++) {{", first + trips);
                let shift = rng.below(20);
                let _ = writeln!(text, "        {}", store(rng, array, shift));
                if rng.below(3) == 0 {
                    let (other, shift) = (3 + rng.below(3), rng.below(5));
                    let _ = writeln!(text, "        {}", store(rng, other, shift));
                }
                let step = if rng.below(2) == 0 { "n" } else { "12345" };
                let _ = writeln!(text, "        p += {step};\n    }}");
            }
        }
    }
    text + "    return s ^ (int)p;\n}\n"
}

fn compiled(source: &str) -> Result<CoreProgram, String> {
    let (module, func) = common::compile(Path::new("parts.c"), source, Some("f"))?;
    compile(&module, func, OptLevel::O2)
}

fn agrees(source: &str, program: &CoreProgram, seed: u64) -> Result<(), String> {
    let (module, func) = common::compile(Path::new("parts.c"), source, Some("f"))?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    compared((&module, func), program, &[seed % 45], &arrays)
}

fn arrays_of(program: &CoreProgram) -> usize {
    program.packages.iter().map(|package| package.array).collect::<BTreeSet<u8>>().len()
}

#[test]
fn random_loops_in_parts_do_what_they_mean() {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 40));
    let mut shared = 0;
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        let program = compiled(&source).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        if let Err(what) = agrees(&source, &program, seed) {
            panic!("seed {seed}: {what}\n{source}");
        }
        shared += u64::from(arrays_of(&program) > 1);
    }
    assert!(shared >= cases / 5, "only {shared} of {cases} run in parts");
}

const SUMS: &str = "#include <stdint.h>
void f(int n, const int16_t a0[720], const int32_t a1[720], const uint8_t a2[720],
       int32_t a3[720], int16_t a4[720], uint8_t a5[720])
{
    for (int i = 0; i < 700; i++) {
        a3[i] = a1[i] + a1[i + 1] + i * n;
        a4[719 - i] = a0[i];
    }
}
";

/// Without the contents of one part's copies, the elements of that part are others.
#[test]
fn a_part_without_its_contents_is_seen() {
    // With several iterations at a time one array alone is as fast.
    let (module, func) = common::compile(Path::new("parts.c"), SUMS, Some("f")).unwrap();
    let program = compile_without("jam", &module, func).unwrap();
    assert_eq!(arrays_of(&program), 4);
    agrees(SUMS, &program, 5).unwrap();
    let filled =
        |home: &nbcc_isa_sdpnm::core::Home| matches!(home.what, Homed::Twin { filled: true, .. });
    let twins: Vec<usize> =
        (0..program.homes.len()).filter(|&n| filled(&program.homes[n])).collect();
    assert_eq!(twins.len(), 6, "two arrays are read, by three parts beside the first");
    for number in twins {
        let mut broken = program.clone();
        let Homed::Twin { filled, .. } = &mut broken.homes[number].what else { unreachable!() };
        *filled = false;
        assert!(agrees(SUMS, &broken, 5).is_err(), "home {number}");
    }
}

/// Parts that began elsewhere, or packages on one array only, would not do.
#[test]
fn parts_end_where_the_next_begin() {
    // From 128 iterations on parts differ.
    for trips in [97, 127, 128, 150, 151, 152, 153] {
        let source = SUMS.replace("700", &trips.to_string());
        agrees(&source, &compiled(&source).unwrap(), 9).unwrap();
    }
}
