//! About how long a loop takes on an array and on the core, before it is mapped, and from how many iterations
//! on an array is worth starting.

use std::collections::BTreeSet;

use nbcc_analysis::LoopForest;
use nbcc_ir::{BinaryOp, Block, Cfg, Dominators, Function, Inst, Mem, Op};
use nbcc_isa_sdpnm::Machine;

use super::Tools;
use super::facts::shape::{Shape, fresh};
use super::homes::filtering;
use super::iteration::body::Body;
use super::iteration::build::{self, Built};
use super::iteration::streams;
use super::iteration::terms::{Facts, Terms};
use super::placing::choose::{FOLLOWERS, USUAL_TRIPS};
use super::placing::place::{self, Mapped};
use super::placing::split::{self, Parts};
use super::versions::version;

/// What the core takes for a block, in cycles: about, since instructions are not selected yet.
pub(super) fn cycles(func: &Function, machine: &Machine, block: Block) -> u32 {
    let core = &machine.core;
    let of = |inst: &Inst| {
        let op = &func.insts[*inst].op;
        match op {
            // A check, an address, the access.
            Op::Load(..) => 4 + core.load_cycles,
            Op::Store(..) => 5,
            Op::Binary(BinaryOp::Imul, ..) => core.multiply_cycles,
            Op::Const(..) | Op::Convert(..) => 0,
            _ => 1,
        }
    };
    func.blocks[block].insts.iter().map(of).sum::<u32>() + core.taken_branch_cycles
}

/// What is known of a loop of which the cycles are estimated.
#[derive(Clone, Copy, Debug)]
pub struct Guess<'a> {
    /// Its header.
    pub header: Block,
    /// Its rows, as of [`super::loops::collapse::Made`].
    pub rows: Option<u32>,
    /// Operations that it has at most.
    pub most: usize,
    /// As of [`super::homes::forgotten`].
    pub own: &'a BTreeSet<Mem>,
    /// Whether several arrays may share it.
    pub splits: bool,
    /// Whether control flow may stand inside.
    pub hyperblocks: bool,
}

/// About the cycles of arrays for a loop each time that it is started, with what the core does for it.
/// `None` where an array cannot run it, it has too many operations, or nobody knows how often it runs.
pub fn estimate(func: &Function, of: Guess<'_>, machine: &Machine) -> Option<u64> {
    let Guess { header, rows, most, own, splits, hyperblocks } = of;
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let shape = Shape::new(func, &cfg, &forest, forest.headed_by(header)?).ok()?;
    if !hyperblocks && shape.has_branches(func) {
        return None;
    }
    let trips = shape.usual_trips(func).filter(|_| version::can_count(func, &shape))?;
    let facts = Facts::new(func);
    let results = version::results(func, &shape);
    let fresh = fresh(func, &shape);
    let array = &machine.array;
    let arrays = split::arrays(machine, filtering(machine)?).len() as u64;
    let interval = |body: &Body| place::bounds(body, array).mii;
    let cycles = |(reuse, shortens): (Option<usize>, bool)| {
        let terms = Terms {
            globals: machine.control.globals as usize,
            spills: true,
            own,
            reuse,
            array: shortens.then_some(array),
            iterations: trips,
            groups: None,
            interval: &interval,
            is_fresh: &|value| func.def_inst(value).is_none_or(|inst| fresh.contains(&inst)),
            is_zero: &|_, _, _, _| false,
        };
        let built = build::build(func, &shape, &facts, &results, terms).ok()?;
        let size = built.body.nodes.len();
        if size > most {
            return None;
        }
        let bounds = place::bounds(&built.body, array);
        let filled = (size + size / ROUTED).div_ceil(array.pes()) as u32;
        let interval = bounds.mii.max(filled);
        let each = f64::from(interval).max(streams::busiest(&built.body, machine, trips));
        let started = handing(&built, machine) + u64::from(2 * interval);
        let parts = if splits { Parts::new(func, &shape, &built, rows) } else { None };
        let count = parts.map_or(1, |_| arrays);
        let cost = (each * f64::from(trips)) as u64 / count + started + (count - 1) * SHARED;
        Some((cost, bounds.rec > 1 && bounds.rec > bounds.res.max(filled)))
    };
    let mut least = None;
    for reuse in [None, Some(FOLLOWERS[0])] {
        let Some((cost, is_recurrence)) = cycles((reuse, false)) else { continue };
        let shorter = if is_recurrence { cycles((reuse, true)) } else { None };
        least = [least, Some(cost), shorter.map(|(cost, _)| cost)].into_iter().flatten().min();
    }
    least
}

/// The interval, and about the cycles of an array for an iteration of the innermost loop, of a loop that is
/// made of so many, which are supposed to run [`FEW_TRIPS`] times each; `None` where an array cannot run it.
pub(super) fn chained(
    func: &Function,
    (header, depth): (Block, usize),
    own: &BTreeSet<Mem>,
    tools: Tools<'_>,
) -> Option<(f64, f64)> {
    let Tools { machine, splits, hyperblocks, nests, .. } = tools;
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let mut parts = tools.loops.parts(func, &forest.blocks(forest.headed_by(header)?)).into_iter();
    if depth > 1 && parts.any(|n| tools.loops.own(n).is_alone()) {
        return None;
    }
    let shape = Shape::new(func, &cfg, &forest, forest.headed_by(header)?).ok()?;
    if !version::can_count(func, &shape) || !hyperblocks && shape.has_branches(func) {
        return None;
    }
    // Of loops whose trips are known, several iterations may be one, and arrays may share them.
    if let Some(trips) = shape.usual_trips(func).filter(|_| depth == 1) {
        let rows = nests.iter().find(|made| made.header == header).and_then(|made| made.rows);
        let most = usize::MAX;
        let guess = Guess { header, rows, most, own, splits, hyperblocks };
        let cycles = estimate(func, guess, machine)?;
        let cycles = cycles as f64 / f64::from(trips);
        return Some((cycles, cycles));
    }
    let facts = Facts::new(func);
    let results = version::results(func, &shape);
    let fresh = fresh(func, &shape);
    let array = &machine.array;
    let terms = Terms {
        globals: machine.control.globals as usize,
        spills: true,
        own,
        reuse: None,
        array: None,
        iterations: USUAL_TRIPS,
        groups: None,
        interval: &|body| place::bounds(body, array).mii,
        is_fresh: &|value| func.def_inst(value).is_none_or(|inst| fresh.contains(&inst)),
        is_zero: &|_, _, _, _| false,
    };
    let built = build::build(func, &shape, &facts, &results, terms).ok()?;
    let size = built.body.nodes.len();
    let filled = (size + size / ROUTED).div_ceil(array.pes()) as u32;
    let interval = place::bounds(&built.body, array).mii.max(filled);
    let started = handing(&built, machine) + 10 * built.accesses.len() as u64 + 40;
    let interval = f64::from(interval);
    Some((interval, interval + started as f64 / FEW_TRIPS.powi(depth as i32)))
}

/// How often a loop runs of which nothing is known, at least.
const FEW_TRIPS: f64 = 8.0;

/// What the core takes to let another array share a loop, and to wait for its results, in cycles.
const SHARED: u64 = 30;

/// Of so many operations there is about one more that hands a value on.
const ROUTED: usize = 4;

/// What the core takes to hand values to an array, to start it and to take results, in cycles.
fn handing(built: &Built, machine: &Machine) -> u64 {
    let exports = built.results.len() as u64;
    let globals = (built.body.globals.len() + built.spilled.len()) as u64;
    10 + 5 * globals + (3 + u64::from(machine.core.load_cycles)) * exports
}

/// From how many iterations on an array takes less time than the core.
pub(super) fn worthwhile(
    built: &Built,
    mapped: &Mapped,
    core_cycles: u32,
    machine: &Machine,
) -> u32 {
    // Bounds are compared in 64 bits; control words have addresses of their own.
    let checks = built.accesses.len() as u64 * 10 + built.limits.len() as u64 * 14 + 12;
    let load = u64::from(machine.array.rows * machine.control.load_row_cycles * 2);
    let overhead = handing(built, machine) + checks + load + mapped.depth;
    let saved = u64::from(core_cycles - u32::from(mapped.package.ii));
    u32::try_from(overhead / saved + 1).unwrap_or(u32::MAX).max(2)
}
