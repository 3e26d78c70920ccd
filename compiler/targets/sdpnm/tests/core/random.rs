//! Random C functions on the core, at two levels, and on the interpreter: results, arrays and traps
//! are equal. Where there is a C compiler, some are run by it as well. `NBCC_FUZZ_SEED` and
//! `NBCC_FUZZ_CASES` choose others and more.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use nbcc_interp::function::{self, Given};
use nbcc_ir::IntType;
use nbcc_ir::testing::Rng;
use nbcc_sim_sdpnm::Fault;

use crate::common;
use crate::common::runs::{Array, Random};
use crate::generator::{ELEMENTS, TYPES, function};
use crate::machine::{LEVELS, compile, run};

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Arrays for a function of the generator.
fn arrays(seed: u64) -> Vec<Array> {
    let array = |(number, (ty, bits)): (usize, &(&str, u32))| {
        let (sign, bytes) = (if ty.starts_with('u') { 'u' } else { 's' }, bits / 8);
        let mut random = Random(seed + number as u64);
        Array {
            name: format!("a{number}"),
            ty: IntType::from_name(&format!("{sign}{bits}")).expect("a type"),
            extents: vec![ELEMENTS],
            bytes: random.fill(ELEMENTS.into(), bytes as usize, sign == 's', -1),
        }
    };
    TYPES.iter().enumerate().map(array).collect()
}

/// What a call leaves behind: the result, and what arrays hold.
type Left = (Option<u64>, Vec<Vec<u8>>);

/// What a function leaves behind on the interpreter, which the core must agree with.
fn agreed(source: &str, seed: u64) -> Result<Left, String> {
    let (module, func) = common::compile(Path::new("random.c"), source, Some("f"))?;
    let (scalars, arrays) = ([seed & 0xffff_ffff], arrays(seed));
    let given: Vec<Given<'_>> = arrays
        .iter()
        .map(|array| Given { extents: array.extents.clone(), bytes: &array.bytes })
        .collect();
    let should = function::call(&module, func, &scalars, &given, &Default::default());
    let should = should.map_err(|trap| format!("the interpreter: {trap}"))?;
    let should = (should.result, should.arrays);
    for level in LEVELS {
        let program = compile(&module, func, level)?;
        let ran = run(&program, &scalars, &arrays);
        let ran = ran.map_err(|fault: Fault| format!("{level:?}: {fault:?}"))?;
        let is = (ran.returned.result, ran.returned.arrays);
        if is != should {
            let number = is.1.iter().zip(&should.1).position(|(is, should)| is != should);
            return Err(format!("{level:?}: {:x?} for {:x?}, array {number:?}", is.0, should.0));
        }
    }
    Ok(should)
}

#[test]
fn random_functions_do_what_they_mean() {
    let first = setting("NBCC_FUZZ_SEED", 1);
    for seed in first..first + setting("NBCC_FUZZ_CASES", 60) {
        let source = function(&mut Rng::new(seed));
        if let Err(what) = agreed(&source, seed) {
            panic!("seed {seed}: {what}\n{source}");
        }
    }
}

/// A C program that calls the function and prints the result and the arrays as bytes.
fn program(source: &str, seed: u64) -> String {
    let mut text = format!("{source}\n#include <stdio.h>\n");
    let mut names = String::new();
    for array in arrays(seed) {
        let bytes: Vec<String> = array.bytes.iter().map(u8::to_string).collect();
        let (name, bytes) = (&array.name, bytes.join(","));
        let _ = writeln!(text, "static _Alignas(8) unsigned char {name}[] = {{{bytes}}};");
        let _ = write!(names, ", (void *){name}");
    }
    let _ = write!(
        text,
        "int main(void) {{\n    printf(\"%lld\\n\", (long long)f((int32_t){}u{names}));\n",
        seed & 0xffff_ffff
    );
    for number in 0..TYPES.len() {
        let _ = writeln!(
            text,
            "    for (unsigned i = 0; i < sizeof a{number}; i++) printf(\"%02x\", a{number}[i]);\n    \
             printf(\"\\n\");"
        );
    }
    text + "}\n"
}

#[test]
fn random_functions_do_what_gcc_makes_them_do() {
    let first = setting("NBCC_FUZZ_SEED", 1);
    for seed in first..first + setting("NBCC_FUZZ_CASES", 4) {
        let source = function(&mut Rng::new(seed));
        let (result, contents) = agreed(&source, seed).expect("the other test's");
        let mut should = format!("{}\n", result.unwrap_or_default() as i64);
        for bytes in contents {
            bytes.iter().for_each(|byte| {
                let _ = write!(should, "{byte:02x}");
            });
            should.push('\n');
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (text, binary) = (folder.path().join("f.c"), folder.path().join("f"));
        std::fs::write(&text, program(&source, seed)).expect("a file");
        let compiled = Command::new("cc")
            .args(["-std=c11", "-fwrapv", "-w", "-O1", "-fno-strict-aliasing", "-o"])
            .args([&binary, &text])
            .status();
        let Ok(status) = compiled else { return };
        assert!(status.success(), "seed {seed} does not compile\n{source}");
        let out = Command::new(&binary).output().expect("the program runs");
        let is = String::from_utf8_lossy(&out.stdout);
        assert_eq!(is, should, "seed {seed}: left is gcc's\n{source}");
    }
}
