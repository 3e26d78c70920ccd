//! Random kernels with divergence, loops, shared memory, barriers, operations of warps and atomics
//! that commute: what they leave in memory on the oracle and, compiled, on the simulated machine
//! must be equal bit for bit. So must they be with the instructions of each block in another order
//! that keeps the dependences between them. `NBCC_KERNELS=N` runs N kernels.

mod generator;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use nbcc_base::{Diagnostics, Failed, SourceMap};
use nbcc_interp::grid;
use nbcc_ir::{Func, Module, verify_module};
use nbcc_isa::Override;
use nbcc_isa_mpu::{ISA, machine::BUILT_IN};
use nbcc_isa_simt::Program;
use nbcc_pipeline::{
    Artifact, Context, NoObserver, OptLevel, PassOptions, Program as Source, Request, Target, pass,
};
use nbcc_sim_simt::{Device, Launch, RunOptions};
use nbcc_simt::backend::dependence;
use nbcc_simt::{Compilation, Simt, passes};
use nbcc_target_mpu::MPU;
use nbcc_target_mpu::location::{CHOICE, LOCATION};

use generator::{BLOCK, COUNTERS, GRID, INPUT, OUTPUT};

/// MPU with a pass that shuffles instructions.
static SHUFFLED: Simt<Shuffles> = Simt {
    isa: &ISA,
    about: "",
    machines: &[],
    choices: &[],
    reports: &[],
    passes: &[
        passes::inline(),
        passes::unreachable(),
        passes::objects(),
        passes::fold(),
        passes::cse(),
        passes::licm(),
        passes::clean(),
        passes::select(),
        pass("shuffle", "put instructions in another order", shuffle, &[passes::MACHINE], &[]),
        passes::allocate(),
        passes::layout(),
        passes::emit(),
    ],
    uses_profiles: false,
    codes: &[],
};

/// How many instructions have left their places.
#[derive(Default)]
struct Shuffles(usize);

/// Takes of the instructions that may come next any one, more often a late one.
fn shuffle(state: &mut Compilation<Shuffles>, _: &mut Context<'_>) -> Result<(), Failed> {
    let size = state.module.to_string().len() as u64;
    let mut rng = nbcc_testing::Rng::new(size);
    for selected in state.kernels.iter_mut().filter_map(|kernel| kernel.selected.as_mut()) {
        for block in selected.func.blocks.keys().collect::<Vec<_>>() {
            let graph = dependence::graph(&selected.func, block);
            let mut waits_for = graph.in_degrees();
            let mut ready: Vec<usize> =
                (0..waits_for.len()).filter(|&n| waits_for[n] == 0).collect();
            let mut order = Vec::new();
            while !ready.is_empty() {
                ready.sort_unstable();
                let last = ready.len() - 1;
                let chosen =
                    if rng.below(2) == 0 { last } else { rng.below(ready.len() as u64) as usize };
                let next = ready.remove(chosen);
                for edge in &graph.successors[next] {
                    waits_for[edge.to] -= 1;
                    if waits_for[edge.to] == 0 {
                        ready.push(edge.to);
                    }
                }
                state.own.0 += usize::from(next != order.len());
                order.push(next);
            }
            let insts = &mut selected.func.blocks[block].insts;
            assert_eq!(order.len(), insts.len(), "dependences go forward");
            *insts = order.iter().map(|&at| insts[at].clone()).collect();
        }
    }
    MOVED.fetch_add(state.own.0, Relaxed);
    Ok(())
}

/// Instructions that have left their places in all kernels.
static MOVED: AtomicUsize = AtomicUsize::new(0);

fn compile(
    target: &dyn Target,
    module: &Module,
    level: OptLevel,
    words: Option<u32>,
    location: &str,
) -> Program {
    let sources = SourceMap::default();
    let mut diagnostics = Diagnostics::default();
    let passes = PassOptions { level, disabled: vec![], verify_each: true };
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut vec![],
        passes: &passes,
        observer: &mut NoObserver,
    };
    let words =
        words.map(|words| Override { key: "registers.words".into(), value: words.to_string() });
    let request = Request {
        machine: BUILT_IN[0].1.to_string(),
        overrides: words.into_iter().collect(),
        choices: BTreeMap::from([(LOCATION.to_string(), location.to_string())]),
        ..Request::default()
    };
    match target.compile(Source::Grids(module.clone().into()), &request, &mut cx) {
        Ok(Artifact::Binary(bytes)) => Program::from_elf(&ISA, &bytes).unwrap(),
        other => panic!("{other:?}: {diagnostics:?}\n{module}"),
    }
}

/// The bytes that a kernel reads.
fn input(seed: u64) -> Vec<u8> {
    let mut rng = nbcc_testing::Rng::new(seed ^ 0xabcdef);
    let word = |rng: &mut nbcc_testing::Rng| match rng.below(4) {
        0 => rng.below(64) as u32,
        1 => (rng.below(200) as f32 / 8.0 - 10.0).to_bits(),
        2 => *rng.pick(&[0, 0x8000_0000, 0x7f80_0000, 0xffff_ffff, 1, 0x7fff_ffff, 0x3f80_0000]),
        _ => rng.bits() as u32,
    };
    (0..INPUT / 4).flat_map(|_| word(&mut rng).to_le_bytes()).collect()
}

fn interpret(module: &Module, input: &[u8]) -> Vec<u8> {
    let mut memory = grid::GridMemory::new(module).unwrap();
    let from = memory.allocate_with(input.to_vec());
    let to = memory.allocate(OUTPUT + COUNTERS);
    let params = [from, to].map(u64::to_le_bytes).concat();
    let launch = grid::Launch { grid: GRID, block: BLOCK, dynamic_shared_bytes: 0, params };
    let limits = grid::Limits { steps: 50_000_000, ..grid::Limits::default() };
    let done = grid::launch(module, Func::from_u32(0), &launch, &mut memory, &limits, &mut |_| {});
    done.unwrap_or_else(|fault| panic!("{fault}\n{module}"));
    memory.bytes(to).to_vec()
}

fn simulate(program: Program, input: &[u8]) -> Result<Vec<u8>, String> {
    let machine = program.machine.clone();
    let mut device = Device::new(machine, 1 << 30);
    let module = device.load(Arc::new(program)).map_err(|e| e.to_string())?;
    let from = device.memory().allocate(input.len() as u64, false).map_err(|e| format!("{e:?}"))?;
    let bytes = OUTPUT + COUNTERS;
    let to = device.memory().allocate(bytes as u64, false).map_err(|e| format!("{e:?}"))?;
    device.write(from, input).map_err(|e| format!("{e:?}"))?;
    device.write(to, &vec![0; bytes]).map_err(|e| format!("{e:?}"))?;
    let params = [from, to].map(u64::to_le_bytes).concat();
    let launch =
        Launch { kernel: "main", grid: GRID, block: BLOCK, dynamic_shared: 0, params: &params };
    let options = RunOptions { max_cycles: 50_000_000, ..RunOptions::default() };
    device.launch(&module, &launch, &options, &mut Vec::new()).map_err(|e| e.to_string())?;
    let mut out = vec![0; bytes];
    device.read(to, &mut out).map_err(|e| format!("{e:?}"))?;
    Ok(out)
}

fn run(target: &dyn Target, seed: u64) {
    let module = generator::module(seed);
    assert_eq!(verify_module(&module), [], "seed {seed}\n{module}");
    let input = input(seed);
    let wanted = interpret(&module, &input);
    // Each policy with and without optimisation and with few registers, on one kernel or another.
    for (number, (level, words)) in
        [(OptLevel::O0, None), (OptLevel::O2, None), (OptLevel::O2, Some(28))]
            .into_iter()
            .enumerate()
    {
        let policies = CHOICE.values;
        let location = policies[(seed as usize + number) % policies.len()];
        let program = compile(target, &module, level, words, location);
        let found = simulate(program, &input).unwrap_or_else(|error| {
            panic!("seed {seed} at {level:?}, {location}: {error}\n{module}")
        });
        let differs = (0..found.len() / 4).find(|&n| found[4 * n..][..4] != wanted[4 * n..][..4]);
        if let Some(n) = differs {
            let (f, w) = (&found[4 * n..][..4], &wanted[4 * n..][..4]);
            let dump = std::env::temp_dir().join(format!("differential-{seed}.nbir"));
            let _ = std::fs::write(&dump, module.to_string());
            panic!(
                "seed {seed} at {level:?}, {location}, words {words:?}: word {n} is {f:x?}, not {w:x?}; see {dump:?}"
            );
        }
    }
}

#[test]
fn random_kernels_leave_what_the_oracle_leaves() {
    run_all(&MPU);
}

#[test]
fn so_do_those_whose_instructions_are_shuffled() {
    run_all(&SHUFFLED);
    assert!(MOVED.load(Relaxed) > 1000, "{MOVED:?}");
}

fn run_all(target: &dyn Target) {
    let count = std::env::var("NBCC_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let first = std::env::var("NBCC_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in first..first + count {
        run(target, seed);
    }
}
