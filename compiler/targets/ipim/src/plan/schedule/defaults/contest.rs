//! The contest of schedules. What the estimate of plans takes for the best schedule need not be it, since it
//! knows neither how loops are unrolled nor in which order instructions are issued. So promising schedules are
//! compiled, and the one is kept whose code is estimated to take least: from the best so far, one decision is
//! changed at a time, what the estimate of plans thinks most of first (a hill climb with two judges, the
//! cheap one for the order).

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa_ipim::LANES;
use nbcc_stages::bounds::points;
use nbcc_stages::{Func, Pipeline};

use super::search::Found;
use super::trial::{Choice, Outcome, Placed, Trial};
use crate::plan::fitted;
use crate::plan::schedule::scheduled_tile;

/// A schedule that was compiled.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    /// Cycles of the program, by the estimate of its code.
    pub cycles: u64,
    /// Instructions of the program.
    pub instructions: u64,
}

/// What the contest decided.
#[derive(Clone, Debug)]
pub struct Won {
    /// The choice that is kept.
    pub choice: Choice,
    /// Its cycles, by the estimate of its code.
    pub cycles: u64,
    /// Those of the one that is the best by the estimate of plans.
    pub first: u64,
    /// How many were compiled.
    pub count: usize,
}

/// Instructions that all programs of a contest may have together, which keeps compilation short.
const INSTRUCTIONS: u64 = 80_000;

/// An instruction for so many cycles that vaults take for the first program, all of them together that
/// have enough to do: what is over soon is not worth a long contest.
const CYCLES: u64 = 4;

/// A contest with room for fewer programs than this, by the estimate of plans, is not begun.
const MIN_PROGRAMS: u64 = 3;

/// After so many changes of the best, one after the other, that made nothing better, a contest is over.
const PATIENCE: usize = 4;

/// Expressions that plans of choices may look at, see [`INSTRUCTIONS`].
const WORK: u64 = 60_000;

/// Where the source says what is computed whole, only tiles are open, for which programs of more
/// instructions, as estimated, are not compiled several times.
const MAX_TILED_INSTRUCTIONS: u64 = 4_000;

/// Where the source gives the tiles of so many times the cycles of those that are open, a contest has room
/// for the least number of programs only.
const GIVEN: u64 = 16;

/// So many choices of what is computed whole are compiled beside the best by the estimate of plans.
const RIVALS: usize = 2;

/// What is estimated to take so many times what the best takes, by the estimate of plans, is not compiled.
const MAX_COST_RATIO: u64 = 2;

/// Tiles of about these sizes are compiled before others, where they take at most four thirds of the cycles by
/// the estimate of plans: it does not know that loops are unrolled, and takes wider ones for better than they
/// are.
const STARTS: [[u32; 2]; 3] = [[8, 8], [16, 8], [4, 16]];

/// By what the width and the height of tiles are multiplied and divided to get others.
const SHAPES: [([u32; 2], [u32; 2]); 7] = [
    ([1, 2], [2, 1]),
    ([1, 1], [4, 1]),
    ([1, 1], [2, 1]),
    ([1, 2], [1, 1]),
    ([1, 4], [1, 1]),
    ([2, 1], [1, 1]),
    ([2, 1], [1, 2]),
];

struct Contest<'a, F> {
    trial: &'a Trial<'a>,
    placed: Option<Placed>,
    compile: F,
    /// What is left of [`WORK`].
    work: u64,
    /// The most instructions that may be compiled, those that were, and how many programs that is.
    most: u64,
    spent: u64,
    count: usize,
    /// Plans that were compiled or are not worth it, by what tells them apart.
    seen: BTreeSet<Key>,
    best: Champion,
}

/// The best so far.
struct Champion {
    choice: Choice,
    plan: Outcome,
    compiled: Compiled,
}

/// What tells plans apart: the estimate, and the tiles of what is computed tile by tile.
type Key = (u64, BTreeMap<Func, [u32; 2]>);

fn key(plan: &Outcome) -> Key {
    (plan.cycles, plan.tiles.clone())
}

impl<F: FnMut(&Pipeline) -> Option<Compiled>> Contest<'_, F> {
    /// Compiles the choices that the estimate of plans thinks most of, so many, until one is better than the
    /// best; whether there is one.
    fn round(&mut self, choices: Vec<Choice>, most: usize) -> bool {
        let mut plans = vec![];
        for choice in choices {
            if self.work == 0 {
                break;
            }
            let run = self.trial.run(&choice, &mut self.placed);
            let (Ok(work) | Err(work)) = run.as_ref().map(|plan| plan.work).map_err(|&work| work);
            self.work = self.work.saturating_sub(work);
            let Ok(plan) = run else { continue };
            if plan.cycles / MAX_COST_RATIO < self.best.plan.cycles && self.seen.insert(key(&plan))
            {
                plans.push((choice, plan));
            }
        }
        plans.sort_by_key(|(_, plan)| plan.cycles);
        // The estimate of plans compares tiles with tiles better than reads that are staged with reads that
        // are not: both kinds take turns.
        let mut so_far = [0; 2];
        let turn = |(choice, plan): (Choice, Outcome)| {
            let kind = usize::from(choice.staged != self.best.choice.staged);
            so_far[kind] += 1;
            (so_far[kind], choice, plan)
        };
        let mut plans: Vec<_> = plans.into_iter().map(turn).collect();
        plans.sort_by_key(|&(turn, ..)| turn);
        for (_, choice, plan) in plans.into_iter().take(most) {
            let room = self.most.saturating_sub(self.spent);
            if self.best.compiled.instructions > room {
                return false;
            }
            self.count += 1;
            let program = (self.compile)(&choice.apply(self.trial.pipeline, self.trial.sites));
            let Some(compiled) = program else {
                self.spent += self.best.compiled.instructions;
                continue;
            };
            self.spent += compiled.instructions;
            if compiled.cycles < self.best.compiled.cycles {
                self.best = Champion { choice, plan, compiled };
                return true;
            }
        }
        false
    }

    /// Changes the best until nothing that is next to it is better.
    fn climb(&mut self) {
        while self.round(self.neighbours(false), PATIENCE)
            || self.round(self.neighbours(true), PATIENCE)
        {}
    }

    /// A choice with tiles of about the sizes of [`STARTS`].
    fn starts(&mut self, choice: &Choice) -> Vec<Choice> {
        let Ok(plan) = self.trial.run(choice, &mut self.placed) else { return vec![] };
        let (decided, _) = tiled(self.trial, choice, &plan);
        let start = |tile: [u32; 2]| {
            let mut new = choice.clone();
            for &func in &decided {
                let tile = fitting(self.trial, &plan, func, tile);
                new.tiles.insert(func, plan.placed(func, tile));
            }
            let near = |start: Outcome| start.cycles / 4 <= plan.cycles / 3;
            self.trial.run(&new, &mut self.placed).is_ok_and(near).then_some(new)
        };
        STARTS.into_iter().filter_map(start).collect()
    }

    /// The best choice with one decision changed: tiles of other shapes, `fit` or not, and reads that are
    /// staged or not.
    fn neighbours(&self, fit: bool) -> Vec<Choice> {
        let Champion { choice, plan, .. } = &self.best;
        let pipeline = self.trial.pipeline;
        let (founders, followers) = tiled(self.trial, choice, plan);
        let mut groups = vec![founders.clone()];
        groups.extend(founders.iter().filter(|_| founders.len() > 1).map(|&func| vec![func]));
        // Tiles that follow from those of consumers: all of a size at once.
        let sizes: BTreeSet<[u32; 2]> = followers.iter().map(|func| plan.tiles[func]).collect();
        for size in sizes {
            groups.push(followers.iter().copied().filter(|f| plan.tiles[f] == size).collect());
        }
        let mut all = vec![];
        for group in groups {
            let as_it_is = ([1, 1], [1, 1]);
            for (times, parts) in SHAPES.into_iter().chain([as_it_is]) {
                let mut new = choice.clone();
                for &func in &group {
                    let tile = plan.tiles[&func];
                    let [width, mut height] = [0, 1].map(|k| tile[k] * times[k] / parts[k]);
                    if pipeline.funcs[func].vars.len() < 2 {
                        height = 1;
                    }
                    if super::search::is_tile([width, height]) {
                        let tile = [width, height];
                        let tile = if fit { fitting(self.trial, plan, func, tile) } else { tile };
                        new.tiles.insert(func, plan.placed(func, tile));
                    }
                }
                all.push(new);
            }
        }
        let whole: Vec<usize> = (0..choice.root.len()).filter(|&k| choice.root[k]).collect();
        let mut flips = vec![whole.clone()];
        flips.extend(whole.iter().filter(|_| whole.len() > 1).map(|&k| vec![k]));
        for flip in flips {
            let mut new = choice.clone();
            let staged = flip.iter().any(|&k| choice.staged[k]);
            flip.iter().for_each(|&k| new.staged[k] = !staged);
            all.push(new);
        }
        all
    }
}

/// Funcs computed tile by tile whose tiles the source leaves open: those that are decided about, and those
/// whose tiles follow from them.
fn tiled(trial: &Trial<'_>, choice: &Choice, plan: &Outcome) -> (Vec<Func>, Vec<Func>) {
    let pipeline = trial.pipeline;
    let free =
        |func: &Func| pipeline.funcs.is_valid(*func) && scheduled_tile(pipeline, *func).is_none();
    let decides = |func: &Func| plan.founders.contains(func) || choice.tiles.contains_key(func);
    plan.tiles.keys().copied().filter(free).partition(decides)
}

/// Tiles of about that size for a Func of a plan, as large as the number of engines asks.
fn fitting(trial: &Trial<'_>, plan: &Outcome, func: Func, [width, height]: [u32; 2]) -> [u32; 2] {
    let height = if trial.pipeline.funcs[func].vars.len() < 2 { 1 } else { height };
    fitted(trial.machine, plan.covered[&func], [width, height])
}

/// The vaults that may have a vector or more for each of their engines.
fn busy(trial: &Trial<'_>) -> u64 {
    let Trial { extents, machine, .. } = trial;
    let inputs = extents.inputs.values().map(|input| input.iter().map(|&n| u64::from(n)).product());
    let outputs = extents.outputs.iter().map(|region| points(region));
    let elements: u64 = inputs.chain(outputs).max().unwrap_or(0);
    let each = u64::from(machine.engines()) * LANES as u64;
    (elements / each).clamp(1, u64::from(machine.vaults()))
}

/// Compiles promising schedules, beginning with the one that was found. `compile` gives what a pipeline
/// becomes; nothing where it does not fit the machine. Nothing where the first one does not,
/// or where it is not worth the time.
pub fn contest(
    found: &Found,
    trial: &Trial<'_>,
    mut compile: impl FnMut(&Pipeline) -> Option<Compiled>,
) -> Option<Won> {
    let choice = found.choice.clone();
    let mut placed = None;
    let plan = trial.run(&choice, &mut placed).ok()?;
    if trial.sites.is_empty() && plan.code > MAX_TILED_INSTRUCTIONS {
        return None;
    }
    let budget = |cycles: u64| (cycles.saturating_mul(busy(trial)) / CYCLES).min(INSTRUCTIONS);
    if budget(plan.cycles) / MIN_PROGRAMS < plan.code {
        return None;
    }
    let compiled = compile(&choice.apply(trial.pipeline, trial.sites))?;
    let [open, given] = plan.tiled;
    let most = match given / GIVEN > open {
        true => budget(compiled.cycles).min(MIN_PROGRAMS * compiled.instructions),
        false => budget(compiled.cycles),
    };
    let seen = BTreeSet::from([key(&plan)]);
    let (spent, count) = (compiled.instructions, 1);
    let best = Champion { choice, plan, compiled };
    let mut contest =
        Contest { trial, placed, compile, work: WORK, most, spent, count, seen, best };
    for start in contest.starts(&found.choice) {
        contest.round(vec![start], 1);
    }
    let (near, far) = found.rivals.split_at(found.rivals.len().min(RIVALS));
    // Code that computes most at each use gains most by loops that are unrolled.
    let whole = |(_, rival): &&(u64, Choice)| rival.root.iter().filter(|&&whole| whole).count();
    for (_, rival) in near.iter().chain(far.iter().min_by_key(whole)) {
        let mut choices = contest.starts(rival);
        choices.push(rival.clone());
        contest.round(choices, 1);
    }
    contest.climb();
    let Champion { choice, compiled: Compiled { cycles, .. }, .. } = contest.best;
    Some(Won { choice, cycles, first: compiled.cycles, count: contest.count })
}
