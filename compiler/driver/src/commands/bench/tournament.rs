//! `nbcc bench SUITE --tournament`: policies of offloading against the best choice that there is. For each
//! program a few candidates, each offloaded for none to all of its instances by quarters, under each mapping
//! of addresses to stacks: all of that is run, and the fewest cycles are what every policy is compared with.

use std::fmt::Write;

use nbcc_base::Diagnostic;
use nbcc_sim_engine::Progress;
use serde_json::{Value, json};

use super::job::{How, Job, Prepared, Source};
use super::suite::{Checked, MEAN, Size, Variant};
use super::workers;
use crate::kinds::RunOptions;
use crate::kinds::grids::{GridRan, GridRequest};
use crate::registry::{POLICIES, STACKED, stack_mappings, tournament};
use crate::session::{Session, Stop};
use crate::style::BOLD;
use crate::{codes, console, machine};

/// What is to be played.
pub struct Tournament<'a> {
    /// The suite.
    pub checked: &'a Checked,
    /// The sources of its programs; those without are left out.
    pub sources: &'a [Option<Source>],
    /// Two candidates a program at most, else three.
    pub quick: bool,
    /// Threads to simulate with.
    pub threads: usize,
}

/// What was found out of a program.
struct Played {
    name: String,
    candidates: usize,
    best: Cell,
    /// Cycles by contestant.
    cycles: Vec<u64>,
}

/// A choice and what it takes.
#[derive(Clone)]
struct Cell {
    bits: Option<[u32; 2]>,
    quarters: Vec<u8>,
    cycles: u64,
}

/// A policy with a mapping.
fn contestants() -> Vec<(&'static str, &'static str)> {
    let policies = POLICIES.iter().filter(|name| !matches!(**name, "ideal" | "forced"));
    policies.flat_map(|name| [(*name, "baseline"), (*name, "transparent")]).collect()
}

/// Plays it: the tables, and all that is known.
pub fn run(session: &mut Session, asked: &Tournament<'_>) -> Result<(String, Value), Stop> {
    let suite = &asked.checked.suite;
    let offloads = |variant: &&Variant| variant.choices.contains_key("offload");
    let Some(variant) = suite.variants.iter().find(offloads) else {
        let message = "no variant of the suite has policies of offloading".to_string();
        let error = Diagnostic::error(&codes::COMMAND_LINE, message);
        return Err(session.usage(error.help("take a suite with a variant that chooses `offload`")));
    };
    let mut played = Vec::new();
    for (program, source) in suite.programs.iter().zip(asked.sources) {
        let Some(source) = source else { continue };
        let file = session.sources.get(asked.checked.source).clone();
        let job = Job {
            checked: asked.checked,
            file: &file,
            program,
            source,
            how: How::Interpreted,
            size: Size::Small,
            threads: 1,
        };
        let mut own = session.another();
        let result = play(&mut own, asked, &job, variant);
        own.flush();
        played.extend(result?);
    }
    Ok((tables(&played), all(&played, &suite.variants)))
}

/// A program, unless nothing of it can be offloaded.
fn play(
    session: &mut Session,
    asked: &Tournament<'_>,
    job: &Job<'_>,
    variant: &Variant,
) -> Result<Option<Played>, Stop> {
    let choose = |policy: &str, map: &str| {
        let mut variant = variant.clone();
        variant.choices.insert("offload".into(), policy.into());
        variant.choices.insert("map".into(), map.into());
        variant
    };
    job.open(session);
    let machine = machine::resolve(session, &STACKED, variant.machine.as_deref(), &[])?;
    let Ok((mappings, _)) = stack_mappings(&machine.text, &machine.overrides) else {
        let message = format!("machine `{}` has no stacks to choose from", machine.name);
        return Err(session.fail(Diagnostic::error(&codes::BROKEN_MACHINE, message)));
    };
    let plain = job.prepared(session, &choose("always", "baseline"))?;
    let (ran, known) = tournament::watch(&plain.binary, plain.request(&mut |_| ()));
    ended(session, &ran)?;
    let ran = tournament::run(&plain.binary, plain.request(&mut |_| ()));
    let all = ended(session, &ran)?;
    let busiest = busiest(&all.considered, if asked.quick { 2 } else { 3 });
    if busiest.is_empty() {
        return Ok(None);
    }
    // Every choice, then every policy.
    let mut cells = Vec::new();
    for bits in std::iter::once(None).chain(mappings.iter().copied().map(Some)) {
        for number in 0..5_usize.pow(busiest.len() as u32) {
            let mut quarters = vec![0; all.considered.len()];
            for (place, candidate) in busiest.iter().enumerate() {
                quarters[*candidate] = (number / 5_usize.pow(place as u32) % 5) as u8;
            }
            cells.push((bits, quarters));
        }
    }
    let mut policies = Vec::new();
    for (policy, map) in contestants() {
        policies.push(job.prepared(session, &choose(policy, map))?);
    }
    let runs = workers::map(asked.threads, cells.len() + policies.len(), |index| {
        match (cells.get(index), index.checked_sub(cells.len())) {
            (Some((bits, quarters)), _) => {
                let progress: &mut dyn FnMut(Progress) = &mut |_| ();
                let request = plain.request(progress);
                tournament::assigned(&plain.binary, request, &known, *bits, quarters.clone())
            }
            (None, at) => {
                let policy = &policies[at.unwrap_or_default()];
                tournament::run(&policy.binary, policy.request(&mut |_| ()))
            }
        }
    });
    let mut cycles = Vec::new();
    for ran in &runs {
        cycles.push(ended(session, ran)?.cycles);
    }
    let best = cells.iter().zip(&cycles).min_by_key(|(_, cycles)| **cycles);
    let ((bits, quarters), least) = best.expect("there is a choice");
    let quarters = busiest.iter().map(|candidate| quarters[*candidate]).collect();
    Ok(Some(Played {
        name: job.program.name.clone(),
        candidates: busiest.len(),
        best: Cell { bits: bits.map(|bits| bits.pair()), quarters, cycles: *least },
        cycles: cycles[cells.len()..].to_vec(),
    }))
}

/// What is looked at of a run.
struct Looked {
    cycles: u64,
    /// Instances by candidate.
    considered: Vec<u64>,
}

/// What is looked at of a run that came to its end.
fn ended(session: &mut Session, ran: &GridRan) -> Result<Looked, Stop> {
    if let Some(error) = &ran.failure {
        let message = format!("a run of the tournament did not come to its end: {error:?}");
        return Err(session.fail(Diagnostic::error(&codes::CHECK_FAILED, message)));
    }
    let statistics = ran.measured.statistics.as_ref().expect("a run in time");
    let considered = match statistics.get("candidate.considered") {
        Some(nbcc_sim_engine::Value::List(all)) => {
            let count = |value: &nbcc_sim_engine::Value| match value {
                nbcc_sim_engine::Value::Count(count) => *count,
                _ => 0,
            };
            all.iter().map(count).collect()
        }
        _ => Vec::new(),
    };
    Ok(Looked { cycles: statistics.count("cycles"), considered })
}

/// The candidates with most instances, at most so many, in their order.
fn busiest(considered: &[u64], most: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..considered.len()).filter(|&n| considered[n] > 0).collect();
    numbers.sort_by_key(|&number| std::cmp::Reverse(considered[number]));
    numbers.truncate(most);
    numbers.sort_unstable();
    numbers
}

/// More cycles than the best choice takes, as a share of these.
fn regret(played: &Played, contestant: usize) -> f64 {
    played.cycles[contestant] as f64 / played.best.cycles.max(1) as f64 - 1.0
}

/// Mean and worst regret of a contestant, and where the latter is.
fn summary(played: &[Played], contestant: usize) -> Option<(f64, f64, &str)> {
    let of = |played: &Played| regret(played, contestant);
    let mean = played.iter().map(of).sum::<f64>() / played.len() as f64;
    let worst = played.iter().max_by(|a, b| of(a).total_cmp(&of(b)))?;
    Some((mean, of(worst), &worst.name))
}

fn tables(played: &[Played]) -> String {
    let mut text = format!(
        "{BOLD}{:8}  {:>10}  {:>10}  {:>6}  of four{BOLD:#}\n",
        "program", "candidates", "cycles", "bits"
    );
    for one in played {
        let Cell { bits, quarters, cycles } = &one.best;
        let bits = bits.map_or("-".to_string(), |[low, high]| format!("{low}:{high}"));
        let quarters: Vec<String> = quarters.iter().map(u8::to_string).collect();
        let quarters = quarters.join(" ");
        let line =
            format!("{:8}  {:>10}  {cycles:>10}  {bits:>6}  {quarters}", one.name, one.candidates);
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(
        text,
        "\n{BOLD}{:12}  {:12}  {:>11}  {:>12}{BOLD:#}",
        "policy", "map", "mean regret", "worst regret"
    );
    for (number, (policy, map)) in contestants().into_iter().enumerate() {
        let Some((mean, worst, name)) = summary(played, number) else { continue };
        let line = format!("{policy:12}  {map:12}  {mean:>11.3}  {worst:>12.3}  {name}");
        let _ = writeln!(text, "{line}");
    }
    text
}

/// How many more cycles policies of a suite's variants take than the best choice: each program's, and the
/// mean.
fn figures(played: &[Played], variants: &[Variant]) -> Vec<Value> {
    let mut all = Vec::new();
    for variant in variants {
        let Some(figure) = &variant.regret else { continue };
        let chosen = |key: &str| variant.choices.get(key).map(String::as_str);
        let is_it = |&(policy, map): &(&str, &str)| {
            (chosen("offload"), chosen("map")) == (Some(policy), Some(map))
        };
        let Some(number) = contestants().iter().position(is_it) else { continue };
        let mut row = |workload: &str, measured: f64| {
            all.push(json!({ "figure": figure, "workload": workload, "measured": measured }));
        };
        played.iter().for_each(|one| row(&one.name, regret(one, number)));
        if let Some((mean, ..)) = summary(played, number) {
            row(MEAN, mean);
        }
    }
    all
}

/// All that is known, for scripts.
fn all(played: &[Played], variants: &[Variant]) -> Value {
    let programs = played.iter().map(|one| {
        let Cell { bits, quarters, cycles } = &one.best;
        json!({
            "workload": one.name,
            "candidates": one.candidates,
            "oracle": { "bits": bits, "quarters": quarters, "cycles": cycles },
        })
    });
    let rows = contestants().into_iter().enumerate().map(|(number, (policy, map))| {
        let each = played.iter().map(|one| {
            let regret = regret(one, number);
            json!({ "workload": one.name, "cycles": one.cycles[number], "regret": regret })
        });
        let summary = summary(played, number);
        json!({
            "policy": policy,
            "map": map,
            "mean_regret": summary.map(|(mean, ..)| mean),
            "worst_regret": summary.map(|(_, worst, _)| worst),
            "programs": each.collect::<Vec<_>>(),
        })
    });
    json!({
        "schema_version": 1,
        "programs": programs.collect::<Vec<_>>(),
        "policies": rows.collect::<Vec<_>>(),
        "figures": figures(played, variants),
    })
}

/// Shows what a tournament said.
pub fn show(text: &str, data: &Value, as_json: bool) {
    match as_json {
        true => console::print(&format!("{data:#}\n")),
        false => console::print(text),
    }
}

impl Prepared {
    /// What is asked of a simulator.
    fn request<'a>(&self, progress: &'a mut dyn FnMut(Progress)) -> GridRequest<'a> {
        GridRequest {
            symbols: self.symbols.clone(),
            buffers: self.buffers.clone(),
            launches: self.launches.clone(),
            options: RunOptions {
                fast: false,
                max_cycles: None,
                trace: false,
                threads: 1,
                progress,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_candidates_are_played() {
        assert_eq!(busiest(&[5, 0, 9, 7], 2), [2, 3]);
        assert_eq!(busiest(&[5, 0, 9, 7], 5), [0, 2, 3]);
        assert!(busiest(&[0, 0], 3).is_empty());
    }

    #[test]
    fn regret_is_more_cycles_than_the_best_choice() {
        let best = Cell { bits: None, quarters: vec![4], cycles: 200 };
        let one = |name: &str, cycles| Played {
            name: name.into(),
            candidates: 1,
            best: best.clone(),
            cycles: vec![cycles; contestants().len()],
        };
        let both = [one("a", 220), one("b", 260)];
        let (mean, worst, name) = summary(&both, 0).expect("two");
        assert!((mean - 0.2).abs() < 1e-9 && (worst - 0.3).abs() < 1e-9);
        assert_eq!(name, "b");
        assert!(summary(&[], 0).is_none());
    }
}
