//! Compares the schedule that the iPIM target chooses for a pipeline without one with others: the
//! simple rule, everything computed whole, the author's. Every reference case up to a size is
//! compiled and simulated on each machine.
//!
//!     cargo run --release -p nbcc-tests --example default_schedules -- \
//!         [--machines ipim-vault,ipim-cube] [--cases NAME,NAME] [--most ELEMENTS] [--scale N] \
//!         [--ways model,simple,root,author] [--kernels]
//!
//! `--scale` makes the first two dimensions of inputs and outputs N times as large, where the
//! source does not say how large they are. `--cases` takes those whose names hold any of the words.
//!
//! Prints a line for each case and machine, the estimate over the cycles behind each measurement;
//! then geometric means, the worst cases, how far estimates are from what was measured, that of the
//! plan and that of its code, and their rank correlation. `--kernels` lists what each stage was estimated to take, and what each function
//! of the program took.

use std::collections::BTreeMap;

use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_host::{Image as HostImage, RunOptions};
use nbcc_isa_ipim::{Element, Program};
use nbcc_pipeline::ParseOptions;
use nbcc_pipeline::{Artifact, Context, NoObserver, PassOptions, Request, Target};
use nbcc_target_ipim::IPIM;
use nbcc_target_ipim::plan::schedule::defaults::unscheduled;
use nbcc_tests::reference::{Case, cases, input_image};

/// Cycles of a run that is waited for.
const MAX_CYCLES: u64 = 20_000_000;

/// The ways to schedule that are compared; the first is what the others are compared with.
const WAYS: [&str; 4] = ["model", "simple", "root", "author"];

/// A schedule's cycles: estimated, measured.
type Cycles = (u64, u64);

/// What estimates are of.
const ESTIMATES: [&str; 2] = ["plans", "code"];

/// An estimate within this of what was measured, as a factor either way, counts as near.
const NEAR: f64 = 1.3;

/// What a program took.
struct Measured {
    cycles: Cycles,
    /// The estimate of its code, and what was measured.
    code: Cycles,
    /// What the stages and functions of the program took, as text.
    kernels: Vec<String>,
}

/// Makes the first two dimensions of a case's data `scale` times as large.
fn enlarge(case: &mut Case, scale: u32) {
    let inputs = case.inputs.iter_mut().map(|i| &mut i.extent);
    for extent in inputs.chain(case.size.as_mut()) {
        extent.iter_mut().take(2).for_each(|n| *n *= scale);
    }
}

/// Compiles and runs a case; `None` where it does not compile or takes too long.
fn run(case: &Case, machine: &str, way: &str) -> Option<Measured> {
    let text = std::fs::read_to_string(nbcc_tests::root().join(&case.halide)).ok()?;
    let mut sources = SourceMap::default();
    let id = sources.add(SourceFile::new(case.halide.clone(), text));
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: IPIM.directives(), ..ParseOptions::default() };
    let mut pipeline =
        nbcc_frontend_halide::parse(id, sources.get(id), &options, &mut diagnostics).ok()?;
    let machine = IPIM.machines().iter().find(|m| m.name == machine)?;
    let mut request = Request {
        machine: machine.text.to_string(),
        machine_name: machine.name.to_string(),
        input_extents: case.inputs.iter().map(|i| (i.name.clone(), i.extent.clone())).collect(),
        size: case.size.clone().unwrap_or_default(),
        ..Request::default()
    };
    if way != "author" {
        pipeline = unscheduled(pipeline);
        request.choices.insert("schedule".to_string(), way.to_string());
    }
    let mut remarks = vec![];
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &PassOptions::default(),
        observer: &mut NoObserver,
    };
    let made = IPIM.compile(nbcc_pipeline::Program::Stages(pipeline), &request, &mut cx);
    let Ok(Artifact::Binary(bytes)) = made else { return None };
    let program = Program::from_elf(&bytes).ok()?;
    let mut inputs = BTreeMap::new();
    for spec in &case.inputs {
        if let Some(buffer) = program.buffers.iter().find(|b| b.name == spec.name) {
            let image = input_image(spec);
            let words =
                HostImage { element: buffer.element, extent: image.extent, words: image.data };
            inputs.insert(spec.name.clone(), words);
        }
    }
    let mut params = BTreeMap::new();
    for (name, value) in &case.params {
        let param = program.params.iter().find(|p| p.name == *name)?;
        let word = match param.element {
            Element::F32 => (value.as_f64()? as f32).to_bits(),
            Element::Bool => u32::from(value.as_bool().unwrap_or(value.as_i64() != Some(0))),
            _ => value.as_i64()? as u32,
        };
        let image = HostImage { element: param.element, extent: vec![], words: vec![word] };
        params.insert(name.clone(), image);
    }
    let mut options = RunOptions { timing: true, max_cycles: MAX_CYCLES, ..RunOptions::default() };
    let result = nbcc_host::run(&program, &inputs, &params, &mut options).ok()?;
    let number = |remark: &nbcc_placement::Remark, name: &str| {
        let term = remark.terms.iter().find(|term| term.name == name);
        term.and_then(|term| term.value.parse::<u64>().ok()).unwrap_or(0)
    };
    let stages: Vec<_> = remarks.iter().filter(|remark| remark.name == "Kernel").collect();
    let codes: Vec<_> = remarks.iter().filter(|remark| remark.name == "Code").collect();
    let code = codes.iter().map(|remark| number(remark, "EstimatedCycles")).sum();
    let step = |remark: &&nbcc_placement::Remark| {
        let parts = ["EstimatedCycles", "Issue", "Banks", "Tsvs"].map(|name| number(remark, name));
        let [all, issue, banks, tsvs] = parts;
        format!(
            "of code   {all:>10} of which {issue:>10} issue   {} (banks {banks}, TSVs {tsvs})",
            remark.function
        )
    };
    let estimate = stages.iter().map(|remark| number(remark, "EstimatedCycles")).sum();
    let stage = |remark: &&nbcc_placement::Remark| {
        let [all, moves] =
            ["EstimatedCycles", "EstimatedMoveCycles"].map(|name| number(remark, name));
        format!("estimated {:>10} of which {moves:>10} moving  {}", all, remark.function)
    };
    let vaults = u64::from(machine_vaults(&request));
    let function = |f: &nbcc_host::ProfileFunction| {
        let (issued, all) = (f.cost.issued / vaults, (f.cost.issued + f.cost.stalled) / vaults);
        let name = f.name.as_deref().unwrap_or("(no function)");
        format!("measured  {all:>10} of which {issued:>10} issue   {name}")
    };
    let measured = result.profile.functions.iter().map(function);
    let kernels = stages.iter().map(stage).chain(codes.iter().map(step)).chain(measured);
    Some(Measured {
        cycles: (estimate, result.cycles),
        code: (code, result.cycles),
        kernels: kernels.collect(),
    })
}

/// The vaults of a machine.
fn machine_vaults(request: &Request) -> u32 {
    nbcc_isa_ipim::Machine::from_toml(&request.machine, &[]).map_or(1, |machine| machine.vaults())
}

fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

/// Spearman's rank correlation.
fn correlation(pairs: &[Cycles]) -> f64 {
    let ranks = |values: Vec<u64>| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&k| values[k]);
        let mut ranks = vec![0.0; values.len()];
        order.iter().enumerate().for_each(|(rank, &k)| ranks[k] = rank as f64);
        ranks
    };
    let a = ranks(pairs.iter().map(|p| p.0).collect());
    let b = ranks(pairs.iter().map(|p| p.1).collect());
    let n = pairs.len() as f64;
    let distance: f64 = a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum();
    1.0 - 6.0 * distance / (n * (n * n - 1.0))
}

fn argument(name: &str) -> Option<String> {
    let mut arguments = std::env::args();
    arguments.find(|a| a == name)?;
    arguments.next()
}

fn main() {
    let machines = argument("--machines").unwrap_or("ipim-vault,ipim-cube".to_string());
    let wanted = argument("--cases").unwrap_or_default();
    let most: u64 = argument("--most").and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let scale: u32 = argument("--scale").and_then(|n| n.parse().ok()).unwrap_or(1);
    let kernels = std::env::args().any(|argument| argument == "--kernels");
    let ways: Vec<String> = match argument("--ways") {
        Some(list) => list.split(',').map(str::to_string).collect(),
        None => WAYS.map(str::to_string).to_vec(),
    };
    for machine in machines.split(',') {
        println!("{machine}: cycles by schedule");
        println!("{:42} {}", "case", ways.iter().map(|w| format!("{w:>18}")).collect::<String>());
        let mut ratios: BTreeMap<&str, Vec<(f64, String)>> = BTreeMap::new();
        let (mut pairs, mut code) = (Vec::new(), Vec::new());
        let mut within = Vec::new();
        for mut case in cases() {
            enlarge(&mut case, scale);
            let elements: u64 = case
                .outputs
                .iter()
                .map(|o| o.extent.iter().map(|&n| u64::from(n)).product::<u64>())
                .sum();
            if elements > most || !wanted.split(',').any(|word| case.name.contains(word)) {
                continue;
            }
            let ran: Vec<Option<Measured>> = ways.iter().map(|w| run(&case, machine, w)).collect();
            let found: Vec<Option<Cycles>> =
                ran.iter().map(|ran| ran.as_ref().map(|ran| ran.cycles)).collect();
            let text = |c: &Option<Cycles>| {
                c.map_or("-".to_string(), |c| format!("{} {:5.2}", c.1, c.0 as f64 / c.1 as f64))
            };
            code.extend(ran.iter().flatten().map(|ran| ran.code));
            println!(
                "{:42} {}",
                case.name,
                found.iter().map(|c| format!("{:>18}", text(c))).collect::<String>()
            );
            for ran in ran.iter().flatten().filter(|_| kernels) {
                ran.kernels.iter().for_each(|line| println!("    {line}"));
            }
            pairs.extend(found.iter().flatten().copied());
            for (k, way) in ways.iter().enumerate().skip(1) {
                if let (Some(first), Some(other)) = (found[0], found[k]) {
                    let ratio = first.1 as f64 / other.1 as f64;
                    ratios.entry(way).or_default().push((ratio, case.name.clone()));
                    if first.1 != other.1 {
                        within.push((first.0 < other.0) == (first.1 < other.1));
                    }
                }
            }
        }
        println!();
        for (way, list) in &mut ratios {
            list.sort_by(|a, b| b.0.total_cmp(&a.0));
            let all: Vec<f64> = list.iter().map(|r| r.0).collect();
            println!("{} / {way}: geometric mean {:.3} of {}", ways[0], mean(&all), all.len());
            for (ratio, name) in list.iter().take(8).filter(|r| r.0 > 1.0) {
                println!("  worst {ratio:.3} {name}");
            }
            for (ratio, name) in list.iter().rev().take(4) {
                println!("  best  {ratio:.3} {name}");
            }
        }
        let right = within.iter().filter(|&&r| r).count();
        for (of, pairs) in ESTIMATES.iter().zip([&pairs, &code]) {
            let off: Vec<f64> = pairs.iter().map(|&(e, m)| e as f64 / m as f64).collect();
            let far: Vec<f64> = off.iter().map(|r| r.max(1.0 / r)).collect();
            let near = far.iter().filter(|&&r| r <= NEAR).count();
            println!(
                "estimates of {of}: {:.2} of what was measured, off by a factor of {:.2} \
                 (geometric means)",
                mean(&off),
                mean(&far)
            );
            println!("           within {:.0} %: {near} of {}", (NEAR - 1.0) * 100.0, far.len());
            println!("           rank correlation {:.3}", correlation(pairs));
        }
        println!("           of two schedules of a case, the faster: {right} of {}", within.len());
        println!();
    }
}
