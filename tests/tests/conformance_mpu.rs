//! Every vector of `tests/conformance`: by the interpreter, and compiled for the MPU at -O0 and -O2
//! and run on the simulated machine.
//!
//! `NBCC_LEVELS=0,1,2,interp` chooses others than the default.

use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_pipeline::OptLevel;
use nbcc_tests::conformance::{Family, Vector, families};
use nbcc_tests::grids::{self, Launch, Source};

/// Steps or cycles of a launch at most.
const LIMIT: u64 = 100_000_000;

/// A launch of a vector with blocks of that size: input, room for output, number of records.
fn launch(family: &Family, vector: &Vector, block: u32) -> Launch {
    let input = family.part(&vector.input).to_vec();
    let output = vec![0; family.part(&vector.output).len()];
    Launch {
        kernel: vector.kernel.clone(),
        grid: vector.count.div_ceil(block),
        block,
        buffers: vec![input, output],
        scalar: Some(vector.count),
    }
}

fn run(family: &Family, level: Option<OptLevel>) -> Result<(), Failed> {
    let text = std::fs::read_to_string(&family.path)?;
    let source = Source::read(&text)?;
    let binary = level.map(|level| source.compile(level)).transpose()?;
    let mut wrong = Vec::new();
    let mut checked = 0;
    for vector in &family.vectors {
        for &block in &vector.blocks {
            let launch = launch(family, vector, block);
            let result = match &binary {
                Some(binary) => grids::simulate(binary, &launch, LIMIT, false),
                None => source.interpret(&launch, LIMIT),
            };
            let outcome = result.and_then(|buffers| vector.check(family, &buffers[1]));
            checked += 1;
            if let Err(what) = outcome {
                wrong.push(format!("blocks of {block}: {}: {what}", vector.form));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let count = wrong.len();
    wrong.truncate(40);
    Err(format!("{count} of {checked} launches\n{}", wrong.join("\n")).into())
}

fn main() {
    let arguments = Arguments::from_args();
    let levels = std::env::var("NBCC_LEVELS").unwrap_or_else(|_| "0,2,interp".into());
    let mut trials = Vec::new();
    for family in families() {
        let family = Arc::new(family);
        for level in levels.split(',') {
            let stem = family.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let optimisation = match level {
                "interp" => None,
                "0" => Some(OptLevel::O0),
                "1" => Some(OptLevel::O1),
                _ => Some(OptLevel::O2),
            };
            let family = Arc::clone(&family);
            let trial = Trial::test(format!("{stem}::{level}"), move || run(&family, optimisation));
            trials.push(trial);
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
