//! Pragmas before loops: whatever they ask for, a program does what the interpreter does; and what can be
//! followed is.

use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, random_programs};
use crate::machine::compile;

/// Elements of each array.
const ELEMENTS: u32 = 300;

/// The arrays: type, sign and bits. What is stored goes to the last ones.
const ARRAYS: [(&str, char, u32); 6] = [
    ("const int16_t", 's', 16),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
    ("int32_t", 's', 32),
    ("uint8_t", 'u', 8),
];

fn pragma(rng: &mut Rng) -> String {
    match rng.below(9) {
        0 => "#pragma nbcc array(none)\n".into(),
        1 => "#pragma nbcc array(NPEA)\n".into(),
        2 => "#pragma nbcc array(FPEA)\n".into(),
        3 | 4 => "#pragma nbcc array(SPEA)\n".into(),
        5 => format!("#pragma nbcc unroll({})\n", 1 + rng.below(9)),
        6 => format!("#pragma nbcc ii({})\n", 1 + rng.below(6)),
        7 => format!("{}{}", pragma(rng), pragma(rng)),
        _ => String::new(),
    }
}

fn value(rng: &mut Rng) -> String {
    let array = rng.below(6);
    let of = match rng.below(3) {
        0 => format!("a{array}[i + {}]", rng.below(4)),
        _ => format!("a{array}[i]"),
    };
    match rng.below(5) {
        0 => format!("{of} + {}", rng.below(99)),
        1 => format!("{of} * {}", rng.below(99)),
        2 => format!("{of} ^ s"),
        3 => format!("{of} + a{}[i]", rng.below(6)),
        _ => of,
    }
}

/// A function of several loops, some of them nests, each with what is asked for it.
fn source(rng: &mut Rng) -> String {
    let arrays = parameters(&ARRAYS, ELEMENTS);
    let mut text = format!("#include <stdint.h>\nint f(int n{arrays})\n{{\n    int s = n;\n");
    for _ in 0..2 + rng.below(4) {
        let body = match rng.below(3) {
            0 => format!("s += {};", value(rng)),
            1 => format!("a{}[i] = {}; s ^= {};", 2 + rng.below(4), value(rng), value(rng)),
            _ => format!("a{}[i] = {};", 2 + rng.below(4), value(rng)),
        };
        let trips = [24, 32, 96, 250][rng.below(4) as usize];
        text.push_str(&pragma(rng));
        let _ = match rng.below(4) {
            0 => {
                let columns = 4 + rng.below(20);
                let inner = pragma(rng);
                writeln!(
                    text,
                    "    for (int r = 0; r < 9; r++) {{\n{inner}        \
                     for (int i = 9 * r; i < 9 * r + {columns}; i++) {{ {body} }}\n    }}"
                )
            }
            1 => writeln!(text, "    for (int i = 0; i < 4 * n; i++) {{ {body} }}"),
            _ => writeln!(text, "    for (int i = 0; i < {trips}; i++) {{ {body} }}"),
        };
    }
    text + "    return s;\n}\n"
}

/// The program of a function, which does what the interpreter does.
fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let (module, func) = common::compile(Path::new("pragmas.c"), source, Some("f"))?;
    let program = compile(&module, func, OptLevel::O2)?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    compared((&module, func), &program, &[seed % 45], &arrays)?;
    Ok(program)
}

#[test]
fn random_pragmas_change_no_result() {
    random_programs(source, agreed, 4);
}

/// Arrays by their numbers, and intervals, of the packages of a function of one statement.
fn packages(pragmas: &str, body: &str) -> Vec<(u8, u16)> {
    let arrays = parameters(&ARRAYS, ELEMENTS);
    let source = format!(
        "#include <stdint.h>\nvoid f(int n{arrays})\n{{\n{pragmas}\n    for (int i = 0; i < 96; i++) {body}\n}}\n"
    );
    let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
    program.packages.iter().map(|package| (package.array, package.ii)).collect()
}

#[test]
fn pragmas_are_followed() {
    let sum = "a4[i] = a2[i] + 5;";
    // NPEA is the first array, SPEA the last.
    assert_eq!(packages("#pragma nbcc array(none)", sum), []);
    assert!(packages("#pragma nbcc array(NPEA)", sum).iter().all(|of| of.0 == 0));
    assert!(!packages("#pragma nbcc array(NPEA)", sum).is_empty());
    assert!(packages("#pragma nbcc array(SPEA)", sum).iter().all(|of| of.0 == 4));
    assert!(!packages("#pragma nbcc array(SPEA)", sum).is_empty());
    // Only some arrays have bitwise operations: then it runs on another one.
    let bits = packages("#pragma nbcc array(NPEA)", "a4[i] = a2[i] ^ 5;");
    assert!(!bits.is_empty() && bits.iter().all(|of| of.0 != 0));
    assert!(packages("#pragma nbcc ii(5)", sum).iter().all(|of| of.1 == 5));
    // Less than is possible.
    let carried = "a4[0] = (a4[0] ^ a2[i]) + a3[i];";
    assert!(packages("#pragma nbcc ii(1)", carried).iter().all(|of| of.1 > 1));
}
