//! Runs a kernel by the interpreter and on each machine of kernels, and compares what is in memory afterwards, bit for bit.

use nbcc::registry;
use nbcc_isa::Override;
use nbcc_pipeline::OptLevel;

use super::model::{INPUT_WORDS, RESULT_WORDS};
use crate::builds::Build;
use crate::fuzz::random::Random;
use crate::grids::{self, Launch, Source};
use crate::guard::{Failure, failure, guarded};

/// Steps that the interpreter takes at most.
const STEPS: u64 = 50_000_000;

/// Cycles that the machine takes at most.
const MAX_CYCLES: u64 = 50_000_000;

/// The launch that the first line of a kernel's text states, and its input's seed.
struct Setup {
    grid: u32,
    block: u32,
    seed: u64,
}

fn setup(text: &str) -> Option<Setup> {
    let mut words = text.lines().next()?.strip_prefix("// grid ")?.split(' ');
    let grid = words.next()?.parse().ok()?;
    let block = words.nth(1)?.parse().ok()?;
    let seed = words.nth(1)?.parse().ok()?;
    Some(Setup { grid, block, seed })
}

impl Setup {
    /// The input, room for the results, and counters that begin as the input does.
    fn buffers(&self) -> [Vec<u8>; 3] {
        let mut random = Random::new(self.seed ^ 0x5eed);
        let special = [
            0u32,
            1,
            0x8000_0000,
            0x7fff_ffff,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x0000_8000,
            0x0080_0000,
            0x007f_ffff,
            0x4b80_0000,
            0x3c00_7bff,
            0x7ff0_0000,
            0x3ff0_0000,
            0x5f00_0000,
            0xcf00_0000,
            31,
        ];
        let words = (0..INPUT_WORDS).flat_map(|_| {
            let word = match random.below(4) {
                0 => random.pick(&special),
                1 => random.between(-100, 100) as u32,
                2 => (random.between(-100_000, 100_000) as f32 / 64.0).to_bits(),
                _ => random.between(0, i64::from(u32::MAX)) as u32,
            };
            word.to_le_bytes()
        });
        let input: Vec<u8> = words.collect();
        let results = (RESULT_WORDS + 2) * 4 * self.grid * self.block;
        let mut counters = input.clone();
        counters.resize(256 * (1 + self.grid as usize), 0);
        [input, vec![0; results as usize], counters]
    }
}

/// Runs a kernel in a thread of its own.
pub fn run(text: &str, levels: &[OptLevel]) -> Result<(), Failure> {
    let (text, levels) = (text.to_string(), levels.to_vec());
    guarded(move || run_here(&text, &levels))
}

fn run_here(text: &str, levels: &[OptLevel]) -> Result<(), Failure> {
    let Some(setup) = setup(text) else {
        return Err(failure("text", "the first line states no launch"));
    };
    let source = Source::read(text).map_err(|what| failure("refused", what))?;
    let launch = Launch {
        kernel: "k".into(),
        grid: setup.grid,
        block: setup.block,
        buffers: setup.buffers().to_vec(),
        scalar: None,
    };
    let expected = source.interpret(&launch, STEPS).map_err(|what| failure("interpreter", what))?;
    // Each seed has its policy of locations and its machine.
    let seed = setup.seed as usize;
    let policies = values("mpu", "location");
    let location = [("location", policies[seed % policies.len()])];
    // Registers cost next to nothing there: whatever may run beside memory is a candidate, or what a
    // seed's price leaves of it; each is proven, and every instance of each runs in a stack, by the mapping
    // of its seed.
    let price = ["1", "1", "3", "10"][seed % 4];
    let cheap = Override { key: "cost.warp_words".into(), value: price.into() };
    let maps = values("tom", "map");
    let forced = [("offload", "forced"), ("map", maps[seed / 4 % maps.len()])];
    let only = std::env::var("NBCC_FUZZ_TARGET").ok();
    for &level in levels {
        let mpu = Build::new("mpu", level);
        let tom = Build { overrides: vec![cheap.clone()], ..Build::new("tom", level) };
        let is_timed = level != OptLevel::O0;
        // On TOM the policy of a run is written beside the code, so that one binary does for both runs.
        let forced: &[_] = if is_timed { &forced } else { &[] };
        let builds = [
            (Build { choices: &location, machine: seed / policies.len(), ..mpu }, &[is_timed][..]),
            (Build { choices: forced, ..tom }, if is_timed { &[false, true] } else { &[false] }),
        ];
        let is_asked = |target: &str| only.as_deref().is_none_or(|only| only == target);
        for (build, runs) in builds.into_iter().filter(|(build, _)| is_asked(build.target)) {
            let on = build.choices.first().map_or("", |(_, value)| value);
            let name = build.target;
            let fail = |stage: &'static str| {
                move |what| failure(format!("{name} {on} {stage} {level:?}"), what)
            };
            let binary = source.compile_for(&build, &mut vec![]).map_err(fail("compile"))?;
            for &timed in runs {
                let (fault, wrong) =
                    if timed { ("fault", "wrong") } else { ("fast fault", "fast wrong") };
                let got =
                    grids::simulate(&binary, &launch, MAX_CYCLES, timed).map_err(fail(fault))?;
                compare(&expected, &got).map_err(fail(wrong))?;
            }
        }
    }
    Ok(())
}

/// What a target lets one choose under a key.
fn values(target: &str, key: &str) -> &'static [&'static str] {
    let target = registry::BUILT_IN.target(target).expect("a target of nbcc's own").target;
    let choice = target.choices().iter().find(|choice| choice.key == key);
    choice.expect("a choice of its own").values
}

fn compare(expected: &[Vec<u8>], got: &[Vec<u8>]) -> Result<(), String> {
    let names = ["the input", "the results", "the counters"];
    for ((name, expected), got) in names.iter().zip(expected).zip(got) {
        let words = |bytes: &[u8]| -> Vec<u32> {
            let chunks = bytes.chunks_exact(4);
            chunks.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
        };
        let (expected, got) = (words(expected), words(got));
        if let Some(at) = (0..expected.len()).find(|&at| expected[at] != got[at]) {
            let row = RESULT_WORDS as usize + 2;
            return Err(format!(
                "{name} differ at word {at} (thread {}, word {}): 0x{:08x}, the interpreter has \
                 0x{:08x}",
                at / row,
                at % row,
                got[at],
                expected[at]
            ));
        }
    }
    Ok(())
}
