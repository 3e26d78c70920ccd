//! Binaries are hostile until proven otherwise: whatever their bytes are, loading and running them
//! ends in an error or a result.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use nbcc::kinds::images::ImageRequest;
use nbcc::kinds::{RunError, RunOptions};
use nbcc::registry::{BUILT_IN, Runner};
use nbcc_isa::load;
use nbcc_stages::Image;
use nbcc_tests::{command, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

fn nbcc(line: &str, folder: &Path) -> command::Outcome {
    command::run(command::command(NBCC, line, folder)).expect("nbcc runs")
}

/// A small program with a parameter, for the smallest machine.
fn small_binary() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "ImageParam in(Float(32), 2);\nParam<float> gain = 2.0f;\n\
                  Func out(x, y) = in(x, y) * gain;\n";
    std::fs::write(folder.path().join("small.halide"), source).expect("a source");
    let outcome = nbcc("nbcc small.halide --size 5x3 --machine ipim-vault", folder.path());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    std::fs::read(folder.path().join("small.nbx")).expect("a binary")
}

/// Describes a binary and runs it on zeros, if it lets itself be described.
fn load_and_run(binary: &[u8]) -> Result<(), String> {
    let Some(Runner::Images(runner)) = BUILT_IN.targets.first().map(|entry| &entry.runner) else {
        panic!("the first target runs image pipelines");
    };
    let described = (runner.describe)(binary).map_err(|error| error.to_string())?;
    let mut inputs = BTreeMap::new();
    for input in described.inputs {
        let extent = input.extent.unwrap_or_default();
        let count = extent.iter().fold(1u64, |n, &e| n.saturating_mul(u64::from(e)));
        if count > 1 << 20 {
            return Err("an input larger than the test gives".into());
        }
        inputs.insert(input.name, Image::zeros(input.ty, &extent));
    }
    let request = ImageRequest {
        inputs,
        params: BTreeMap::new(),
        options: RunOptions {
            fast: false,
            max_cycles: Some(20_000),
            trace: false,
            threads: 1,
            progress: &mut |_| {},
        },
    };
    match (runner.run)(binary, request) {
        Ok(_) => Ok(()),
        Err(RunError::Binary(error)) => Err(error.to_string()),
        Err(
            RunError::Refused(why)
            | RunError::Memory(why)
            | RunError::Launch(why, _)
            | RunError::Endless(why, _)
            | RunError::OutOfCycles(why, _)
            | RunError::Fault(why, _),
        ) => Err(why),
        Err(RunError::Trap(trap, _)) => Err(format!("{trap:?}")),
        Err(RunError::Symbol(name, _)) => Err(name),
    }
}

#[test]
fn a_flipped_byte_is_found_by_the_digest() {
    let binary = small_binary();
    assert_eq!(load_and_run(&binary), Ok(()));
    for at in 0..binary.len() {
        let mut damaged = binary.clone();
        damaged[at] ^= 0x55;
        assert!(load_and_run(&damaged).is_err(), "byte {at:#x} is not covered");
    }
}

#[test]
fn a_flipped_byte_behind_a_right_digest_is_no_panic() {
    let binary = small_binary();
    for at in 0..binary.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = binary.clone();
            damaged[at] ^= flip;
            if load::seal(&mut damaged).is_err() {
                continue;
            }
            let ended = catch_unwind(AssertUnwindSafe(|| load_and_run(&damaged)));
            assert!(ended.is_ok(), "byte {at:#x} flipped by {flip:#x}");
        }
    }
}

#[test]
fn a_cut_binary_is_no_panic() {
    let binary = small_binary();
    for length in 0..binary.len() {
        assert!(load_and_run(&binary[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn a_program_that_faults() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = ".isa simb 1\n.machine ipim-vault\n.section .text\n    ld_rf [0x8], D0, \
                simb=0xffffffff\n";
    std::fs::write(folder.path().join("fault.s"), text).expect("assembly");
    let assembled = nbcc("nbcc as fault.s", folder.path());
    assert_eq!(assembled.code, Some(0), "{}", assembled.stderr);
    let outcome = nbcc("nbcc run fault.nbx", folder.path());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("[E4202] error: vault 0, pc 0x0"), "{}", outcome.stderr);
}

#[test]
fn code_and_data_survive_the_assembler() {
    let folder = tempfile::tempdir().expect("a folder");
    let example = root().join("examples/ipim/brighten.halide");
    let line = format!("nbcc {} --size 40x30 -o a.nbx", example.display());
    for line in
        [&line, "nbcc objdump a.nbx -o a.s", "nbcc as a.s -o b.nbx", "nbcc objdump b.nbx -o b.s"]
    {
        let outcome = nbcc(line, folder.path());
        assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(read("a.s"), read("b.s"));
}
