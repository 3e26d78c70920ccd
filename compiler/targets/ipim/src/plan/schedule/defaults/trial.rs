//! What a choice of directives costs: the plan it leads to, estimated.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa_ipim::Machine;
use nbcc_stages::bounds::{Bounds, Extents, ParamValues, infer};
use nbcc_stages::{DirectiveKind, Func, Pipeline};

use super::directives::{direct, direct_tile, staging_directive};
use super::sites::Site;
use crate::memory;
use crate::outputs::crop_outputs;
use crate::plan::schedule::scheduled_tile;
use crate::plan::{Plan, Step, cost, make_plan};

/// Decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Whether the Funcs of each site are computed whole.
    pub root: Vec<bool>,
    /// Whether they stage all that they read.
    pub staged: Vec<bool>,
    /// The tiles of Funcs.
    pub tiles: BTreeMap<Func, [u32; 2]>,
}

impl Choice {
    /// The pipeline with the directives that say so. The sites are those that the choice is about.
    pub fn apply(&self, pipeline: &Pipeline, sites: &[Site]) -> Pipeline {
        let mut new = pipeline.clone();
        self.levels(&mut new, sites);
        self.tiles(&mut new, sites);
        new
    }

    /// Adds the directives that say where Funcs are computed.
    fn levels(&self, pipeline: &mut Pipeline, sites: &[Site]) {
        for (site, &root) in sites.iter().zip(&self.root) {
            for &func in &site.funcs {
                let kind = match root {
                    true => DirectiveKind::ComputeRoot,
                    false => DirectiveKind::ComputeInline,
                };
                direct(pipeline, func, kind);
            }
        }
    }

    /// Adds the directives of Funcs with loops.
    fn tiles(&self, pipeline: &mut Pipeline, sites: &[Site]) {
        for (&func, &tile) in &self.tiles {
            direct_tile(pipeline, func, tile);
        }
        for (k, site) in sites.iter().enumerate().filter(|&(k, _)| self.staged[k]) {
            for &func in site.funcs.iter().filter(|_| self.root[k]) {
                let kind = staging_directive(&pipeline.funcs[func]);
                direct(pipeline, func, kind);
            }
        }
    }
}

/// A pipeline whose Funcs have their places: inlined, its bounds known.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Where the Funcs of each site are computed.
    root: Vec<bool>,
    pipeline: Pipeline,
    bounds: Bounds,
}

/// What choices are tried on.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The pipeline, extents known.
    pub pipeline: &'a Pipeline,
    /// The extents.
    pub extents: &'a Extents,
    /// The machine.
    pub machine: &'a Machine,
    /// The places that are decided about.
    pub sites: &'a [Site],
}

/// What a trial found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Estimated cycles, more where the code does not fit.
    pub cycles: u64,
    /// Instructions, estimated.
    pub code: u64,
    /// Funcs whose tiles nobody asked for.
    pub founders: Vec<Func>,
    /// Funcs computed tile by tile that read their own bank directly.
    pub direct: Vec<Func>,
    /// The tiles of each Func that is computed tile by tile, in its first two places.
    pub tiles: BTreeMap<Func, [u32; 2]>,
    /// For each of these, the first coordinate and the one behind the last along both that its tiles and
    /// those of all that is cut alike hold, in its own elements.
    pub covered: BTreeMap<Func, [[i64; 2]; 2]>,
    /// Those whose first two dimensions change places.
    pub turned: BTreeSet<Func>,
    /// Estimated cycles in which Funcs are computed tile by tile: those whose tiles are open, and those
    /// whose tiles the source gives.
    pub tiled: [u64; 2],
    /// Expressions looked at: what the trial cost.
    pub work: u64,
}

impl Outcome {
    /// What a directive says of a Func's first two dimensions, of its first two places instead; and the other
    /// way.
    pub fn placed(&self, func: Func, [a, b]: [u32; 2]) -> [u32; 2] {
        if self.turned.contains(&func) { [b, a] } else { [a, b] }
    }
}

/// Inlining that makes more expressions than this is not looked at any further.
const MAX_EXPRESSIONS: usize = 40_000;

/// What a trial costs beyond its expressions.
const BASE_WORK: u64 = 200;

impl Trial<'_> {
    /// Makes and estimates the plan of a choice. The error is what it cost to find that there is
    /// none. `placed` keeps what choices that differ in tiles only have in common.
    pub fn run(&self, choice: &Choice, placed: &mut Option<Placed>) -> Result<Outcome, u64> {
        let mut work = BASE_WORK;
        if placed.as_ref().is_none_or(|placed| placed.root != choice.root) {
            let new = self.place(choice)?;
            work += self.pipeline.exprs.len() as u64 + new.1;
            *placed = Some(new.0);
        }
        let Some(placed) = placed else { return Err(work) };
        work += placed.pipeline.exprs.len() as u64;
        let plan = self.plan(choice, placed).ok_or(work)?;
        let costs = cost::costs(&plan, self.machine);
        let cost = cost::sum(&costs);
        let room = u64::from(memory::code_room(self.machine));
        // Code that does not fit is made smaller, and slower.
        let beyond = cost.code.saturating_sub(room * 3 / 4);
        let factor = |n: u64| (u128::from(n) * u128::from(room + beyond) / u128::from(room)) as u64;
        let mut outcome = Outcome {
            cycles: factor(cost.cycles()),
            code: cost.code,
            founders: plan.founders.clone(),
            direct: vec![],
            tiles: BTreeMap::new(),
            covered: BTreeMap::new(),
            turned: BTreeSet::new(),
            tiled: [0; 2],
            work,
        };
        let given = |func: Func| {
            self.pipeline.funcs.is_valid(func) && scheduled_tile(self.pipeline, func).is_some()
        };
        for (step, cost) in plan.steps.iter().zip(&costs) {
            let Step::Tiles(step) = step else { continue };
            let cycles = &mut outcome.tiled[usize::from(given(step.func))];
            *cycles = cycles.saturating_add(cost.cycles());
            outcome.tiles.insert(step.func, step.nest.tiles.tile);
            outcome.covered.insert(step.func, plan.covered(&step.nest.tiles));
            if plan.is_turned(step.func) {
                outcome.turned.insert(step.func);
            }
            if step.nest.reads.iter().any(|read| read.window.is_none())
                && !outcome.direct.contains(&step.func)
            {
                outcome.direct.push(step.func);
            }
        }
        Ok(outcome)
    }

    /// Inlines and infers bounds, with what that cost.
    fn place(&self, choice: &Choice) -> Result<(Placed, u64), u64> {
        let mut scheduled = self.pipeline.clone();
        choice.levels(&mut scheduled, self.sites);
        let base = self.pipeline.exprs.len() as u64;
        let pipeline = nbcc_stages::inline(&scheduled).map_err(|_| base * 16)?;
        let work = pipeline.exprs.len() as u64;
        if pipeline.exprs.len() > MAX_EXPRESSIONS {
            return Err(work);
        }
        let bounds = infer(&pipeline, self.extents, &ParamValues::new()).map_err(|_| work)?;
        let work = 2 * work + bounds.evaluated as u64 / 3;
        Ok((Placed { root: choice.root.clone(), pipeline, bounds }, work))
    }

    fn plan(&self, choice: &Choice, placed: &Placed) -> Option<Plan> {
        let mut pipeline = placed.pipeline.clone();
        let mut bounds = placed.bounds.clone();
        choice.tiles(&mut pipeline, self.sites);
        if let Some(cropped) = crop_outputs(&pipeline, self.extents, &bounds) {
            pipeline = cropped;
            bounds = infer(&pipeline, self.extents, &ParamValues::new()).ok()?;
        }
        make_plan(pipeline, self.extents, bounds, self.machine).ok()
    }
}
