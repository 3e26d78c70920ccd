//! Loops on arrays (paper 003, section 3): which loops, as which operations, where and when.
//!
//! A loop is looked at by itself (`shape`), its iteration becomes operations of PEs (`build`, `words`,
//! with `evolution` for what is known of words, `access` for memory), or several do (`jam`), a mapper
//! places those of one of the ways to do that (`choose`, `place`), and the function gets a second
//! version of the loop that starts the array (`version`).

pub mod access;
mod accumulate;
mod addresses;
mod again;
mod ahead;
mod bands;
mod beside;
pub mod body;
mod borders;
pub mod build;
mod chain;
mod choose;
mod coalesce;
pub mod collapse;
mod collect;
mod conditions;
mod contents;
pub mod ddg;
pub mod decision;
pub mod divisions;
pub mod divisors;
pub mod evolution;
pub mod fates;
pub mod flatten;
mod follow;
mod forms;
mod fuse;
mod gates;
mod interchange;
mod jam;
mod keep;
mod lines;
mod loads;
mod located;
mod long_divisions;
pub mod merge;
mod nest;
mod pairs;
pub mod place;
mod poly;
mod quotients;
mod readers;
mod reassociate;
pub mod remarks;
mod reuse;
mod rounds;
mod rows;
pub mod shape;
pub mod sources;
mod split;
mod spread;
mod stages;
mod streams;
mod sums;
mod thresholds;
mod truth;
mod turns;
pub mod version;
mod walks;
mod watch;
mod wide;
mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::LoopForest;
use nbcc_base::{SourceMap, Span};
use nbcc_ir::{
    Block, BlockCall, Cfg, Dominators, Function, Inst, Mem, Module, Op, Storage, Terminator,
};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{ArrayKind, Package};
use nbcc_isa_sdpnm::core::arrays::MAX_HOMES;
use nbcc_opt::{params, promote, unreachable};

use crate::map::mappers::Mapper;
use crate::map::memory::Memory;
use bands::Bands;
use build::{Facts, Terms};
use choose::{Candidate, Chosen, FOLLOWERS};
use collapse::Made;
pub use decision::{At, Decision, Notes, OnArray, Shortened};
use place::Mapped;
use shape::{Shape, Trips};
use sources::{Site, Sources, Wishes};
use split::Parts;
use version::Use;

/// What loops on arrays need beside the code of the core.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// The configurations, by their numbers.
    pub packages: Vec<Package>,
    /// The memory objects that live in a shared memory, and in which array's.
    pub homes: Vec<(Mem, u8)>,
    /// What has a twin: its place among the homes, the other array, whether its contents are there too.
    pub twins: BTreeMap<(u32, u8), bool>,
}

/// What loops are put on arrays with.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Who maps loops.
    pub mapper: &'static Mapper,
    /// What was mapped before.
    pub memory: &'a Memory,
    /// The files that lines are of.
    pub sources: &'a SourceMap,
    /// Whether several arrays may share a loop.
    pub splits: bool,
    /// Whether loops with control flow inside may be on arrays.
    pub hyperblocks: bool,
    /// Whether recurrences of sums are made shorter.
    pub reassociates: bool,
    /// Whether several iterations of a loop may be one.
    pub jams: bool,
    /// The loops that were made of nests.
    pub nests: &'a [Made],
    /// Whether nests get versions that are one loop.
    pub chains: bool,
    /// The loops of the source.
    pub loops: &'a Sources,
    /// What is asked for the loop that it is about.
    pub wishes: Wishes,
    /// What is found out about it on the way.
    pub notes: &'a RefCell<Notes>,
}

/// Gives loops of a function second versions on arrays; what became of each loop.
pub fn run(
    module: &mut Module,
    func: nbcc_ir::Func,
    tools: Tools<'_>,
    arrays: &mut Arrays,
) -> Vec<Decision> {
    let mut decisions = Vec::new();
    let own = forgotten(module, func);
    let chains = match tools.chains {
        true => chain::run(&mut module.functions[func], |func, header, depth| {
            chained(func, (header, depth), &own, tools)
        }),
        false => vec![],
    };
    let headers: Vec<Block> = {
        let func = &module.functions[func];
        let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
        let headers = forest.loops.values().map(|data| data.header);
        // What runs seldom stays on the core.
        let mut headers: Vec<Block> = headers.filter(|&header| !func.blocks[header].cold).collect();
        // What is asked to be on some arrays takes its objects there.
        let asks = |header: Block| {
            let blocks = forest.headed_by(header).map(|l| forest.blocks(l));
            blocks.is_some_and(|blocks| tools.loops.wishes(func, &blocks).site.is_some())
        };
        headers.sort_by_cached_key(|&header| !asks(header));
        headers
    };
    // Of nests the version that is one loop comes first.
    let of_chain = |header: &Block| chains.iter().find(|chain| chain.header == *header);
    let (first, others): (Vec<Block>, Vec<Block>) =
        headers.into_iter().partition(|header| of_chain(header).is_some());
    // What runs where a nest does not run as one loop.
    let mut spare = BTreeSet::new();
    for header in first.into_iter().chain(others) {
        let chain = of_chain(&header);
        let cfg = Cfg::new(&module.functions[func]);
        let forest = LoopForest::new(&cfg, &Dominators::new(&module.functions[func]));
        let Some(l) = forest.headed_by(header) else { continue };
        let depth = forest.loops[l].depth;
        if forest.loops[l].inner.is_empty() {
            let inside = |block| forest.contains(l, block);
            module.functions[func].preheader(&cfg, header, inside);
            // What a new block only hands on keeps its name.
            params::run(&mut module.functions[func]);
        }
        let function = &module.functions[func];
        let cfg = Cfg::new(function);
        let forest = LoopForest::new(&cfg, &Dominators::new(function));
        let Some(l) = forest.headed_by(header) else { continue };
        let blocks = forest.blocks(l);
        let of_core = match chain.and_then(|chain| forest.headed_by(chain.nest[0])) {
            Some(innermost) => forest.blocks(innermost),
            None => blocks.clone(),
        };
        let core_cycles = of_core.iter().map(|&block| cycles(function, tools.machine, block)).sum();
        let span = span_of(function, header, &blocks);
        let is_innermost = forest.loops[l].inner.is_empty();
        let parts =
            if is_innermost { tools.loops.parts(function, &blocks) } else { BTreeSet::new() };
        let latch = forest.loops[l].latches.first().and_then(|&latch| function.blocks[latch].span);
        let own = latch.filter(|_| !is_innermost).or(span);
        let own = own.and_then(|span| tools.loops.innermost(span));
        // What is first in the header of a loop around others may be one of theirs.
        let head = own.filter(|_| !is_innermost).map(|n| tools.loops.loops[n].span);
        let span = head.map(|span| Span { end: span.start + 1, ..span }).or(span);
        let wishes = tools.loops.wishes(function, &blocks);
        let notes = RefCell::default();
        let tools = Tools { wishes, notes: &notes, ..tools };
        let of = Asked {
            core_cycles,
            span,
            is_nest: chain.is_some(),
            instead: chain.map(|chain| (chain.header, chain.instead)),
            is_spare: spare.contains(&header),
        };
        let attempt = match Shape::new(function, &cfg, &forest, l) {
            Ok(_) if wishes.site == Some(Site::Core) => Err(ASKED_FOR_CORE.to_string()),
            Ok(shape) if !tools.hyperblocks && shape.has_branches(function) => {
                Err("there is control flow inside it, and hyperblocks are off".to_string())
            }
            Ok(shape) => attempt_as_asked(module, func, &shape, of, tools, arrays),
            Err(why) if chain.is_some() || !tools.hyperblocks => Err(why),
            Err(why) => ahead_of(module, func, header, of, tools, arrays).unwrap_or(Err(why)),
        };
        if let Some(chain) = chain {
            let function = &mut module.functions[func];
            if attempt.is_err() {
                let to = BlockCall { block: chain.instead, args: vec![] };
                function.blocks[chain.from].terminator = Some(Terminator::Jump(to));
            }
            unreachable::run(function);
            if attempt.is_err() {
                continue;
            }
            spare.insert(chain.nest[0]);
        }
        let notes = notes.into_inner();
        let place = attempt;
        decisions.push(Decision { header, span, depth, core_cycles, place, own, parts, notes });
    }
    chain::close(&mut module.functions[func]);
    decisions
}

/// Why a loop stays on the core for which that is asked.
pub const ASKED_FOR_CORE: &str = "`#pragma nbcc array(none)` asks for that";

/// Puts a loop on an array of the kind that is asked for, or where it cannot be there, on any.
fn attempt_as_asked(
    module: &mut Module,
    func: nbcc_ir::Func,
    shape: &Shape,
    of: Asked,
    tools: Tools<'_>,
    arrays: &mut Arrays,
) -> Result<OnArray, String> {
    let Some(Site::Array(_)) = tools.wishes.site else {
        return attempt(module, func, shape, of, tools, arrays);
    };
    let before = (module.functions[func].clone(), arrays.clone());
    match attempt(module, func, shape, of, tools, arrays) {
        Ok(done) => Ok(done),
        Err(why) => {
            (module.functions[func], *arrays) = before;
            tools.notes.borrow_mut().unmet.insert("array", why);
            let tools = Tools { wishes: Wishes { site: None, ..tools.wishes }, ..tools };
            attempt(module, func, shape, of, tools, arrays)
        }
    }
}

/// Lets an array do iterations ahead of a loop that is left in its middle, where one may. The function is as
/// it was where none gains.
fn ahead_of(
    module: &mut Module,
    func: nbcc_ir::Func,
    header: Block,
    of: Asked,
    tools: Tools<'_>,
    arrays: &mut Arrays,
) -> Option<Result<OnArray, String>> {
    let mut trial = module.functions[func].clone();
    let ahead = ahead::put(&mut trial, header)?;
    let cfg = Cfg::new(&trial);
    let forest = LoopForest::new(&cfg, &Dominators::new(&trial));
    let shape = Shape::new(&trial, &cfg, &forest, forest.headed_by(ahead.header)?).ok()?;
    let old = std::mem::replace(&mut module.functions[func], trial);
    let of = Asked { instead: Some((ahead.header, ahead.instead)), ..of };
    let done = attempt_as_asked(module, func, &shape, of, tools, arrays);
    match &done {
        Ok(on_array) => {
            let function = &mut module.functions[func];
            let stretch = on_array.least.saturating_mul(of.core_cycles) / (2 * on_array.ii);
            ahead.tune(function, on_array.least, stretch);
            unreachable::run(function);
        }
        Err(_) => module.functions[func] = old,
    }
    Some(done)
}

/// What the loop around a loop computes each time, or everything where there is none.
fn fresh(func: &Function, shape: &Shape) -> BTreeSet<Inst> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let around = forest.headed_by(shape.header).and_then(|l| forest.loops[l].parent);
    let is_around = |block: &&Block| around.is_none_or(|around| forest.contains(around, **block));
    func.layout
        .iter()
        .filter(is_around)
        .flat_map(|&b| func.blocks[b].insts.iter().copied())
        .collect()
}

/// Where a loop is in the source.
fn span_of(func: &Function, header: Block, blocks: &[Block]) -> Option<Span> {
    let data = &func.blocks[header];
    let insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let first = insts.filter_map(|&inst| func.insts[inst].span).next();
    data.insts.iter().filter_map(|&inst| func.insts[inst].span).next_back().or(data.span).or(first)
}

/// What the core takes for a block, in cycles: about, since instructions are not selected yet.
fn cycles(func: &Function, machine: &Machine, block: Block) -> u32 {
    let core = &machine.core;
    let of = |inst: &Inst| {
        let op = &func.insts[*inst].op;
        match op {
            // A check, an address, the access.
            Op::Load(..) => 4 + core.load_cycles,
            Op::Store(..) => 5,
            Op::Binary(nbcc_ir::BinaryOp::Imul, ..) => core.multiply_cycles,
            Op::Const(..) | Op::Convert(..) => 0,
            _ => 1,
        }
    };
    func.blocks[block].insts.iter().map(of).sum::<u32>() + core.taken_branch_cycles
}

/// The first array with filter operations.
fn filtering(machine: &Machine) -> Option<u8> {
    let array = machine.arrays.kinds.iter().position(|&kind| kind == ArrayKind::Fpea);
    array.map(|array| array as u8)
}

/// The array for a loop: of the kind that is asked for, or one that has its objects already.
fn array_for(
    func: &Function,
    shape: &Shape,
    wishes: Wishes,
    arrays: &Arrays,
    machine: &Machine,
) -> Result<u8, String> {
    let kinds = &machine.arrays.kinds;
    let insts = shape.blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let mems = insts.filter_map(|&inst| match &func.insts[inst].op {
        Op::Load(_, mem, _) | Op::Store(mem, ..) => Some(*mem),
        _ => None,
    });
    let home = |mem: Mem| arrays.homes.iter().find(|home| home.0 == mem).map(|home| home.1);
    let mut homes = mems.filter_map(home);
    match wishes.site {
        Some(Site::Array(kind)) => {
            let known = homes.find(|&array| kinds[usize::from(array)] == kind);
            let first = kinds.iter().position(|&other| other == kind).map(|array| array as u8);
            known.or(first).ok_or_else(|| format!("the machine has no {}", kind.name()))
        }
        _ => {
            let known = homes.next().or(filtering(machine));
            known.ok_or_else(|| "the machine has no array for filters".into())
        }
    }
}

/// What is known of a loop for which an array is asked.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// What the core takes for an iteration, in cycles.
    core_cycles: u32,
    /// Where it is in the source.
    span: Option<Span>,
    /// Whether it was made of a nest.
    is_nest: bool,
    /// Its header, and what stands in another place instead of it for the core.
    instead: Option<(Block, Block)>,
    /// Whether it only runs where another version of it does not.
    is_spare: bool,
}

/// Puts a loop on an array.
fn attempt(
    module: &mut Module,
    func: nbcc_ir::Func,
    shape: &Shape,
    Asked { core_cycles, span, is_nest, instead, is_spare }: Asked,
    tools: Tools<'_>,
    arrays: &mut Arrays,
) -> Result<OnArray, String> {
    let machine = tools.machine;
    let array = array_for(&module.functions[func], shape, tools.wishes, arrays, machine)?;
    let made = tools.nests.iter().find(|made| made.header == shape.header);
    let (rows, before) = (made.and_then(|made| made.rows), made.and_then(|made| made.before));
    let is_nest = made.is_some() || is_nest;
    let shape = shape.clone();
    let of = Candidate { shape, core_cycles, span, array, times: 1, is_nest, is_spare };
    let (of, chosen) = jam::choose(module, func, of, tools, arrays)?;
    let Chosen { built, mapped, apart, shortened } = chosen;
    let (shape, built, core_cycles) = (&of.shape, &built, of.core_cycles);
    let homes = homes(module, func, built, arrays, (array, machine))?;
    let least = match tools.wishes.insists() {
        true => 2,
        false => worthwhile(built, &mapped, core_cycles, machine),
    };
    if let Trips::Known(trips) = shape.trips
        && trips < least
    {
        return Err(format!(
            "it has {trips} iterations, and an array is worth starting from {least} on"
        ));
    }
    let package = arrays.packages.len() as u32;
    let numbers = homes.iter().map(|home| {
        let known = arrays.homes.iter().position(|other| other.0 == *home);
        let number = known.unwrap_or_else(|| {
            arrays.homes.push((*home, array));
            arrays.homes.len() - 1
        });
        (*home, number as u32)
    });
    let homes: BTreeMap<Mem, u32> = numbers.collect();
    let rows = rows.filter(|rows| rows % of.times == 0).map(|rows| rows / of.times);
    let parts = Parts::new(&module.functions[func], shape, built, rows).filter(|_| tools.splits);
    let parts = parts.map(|parts| parts.paced(&mapped, machine));
    let mut all = split::arrays(machine, array);
    if let Some(Site::Array(kind)) = tools.wishes.site {
        all.retain(|&array| machine.arrays.kinds[usize::from(array)] == kind);
    }
    let shared = match &parts {
        Some(parts) => parts.best(&mapped, &all, machine).to_vec(),
        None => vec![array],
    };
    let parts = parts.filter(|_| {
        let function = &module.functions[func];
        let is_filled = |mem| split::is_never_stored(function, mem);
        shared.len() > 1 && twins(arrays, &homes, &shared, is_filled)
    });
    let ii = u32::from(mapped.package.ii);
    let bands = Bands::new(&module.functions[func], shape, built, ii).filter(|_| tools.splits);
    let bands = bands.filter(|bands| {
        let function = &module.functions[func];
        let is_filled = |mem| bands.changed.contains(&mem) || split::is_never_stored(function, mem);
        all.len() > 1 && twins(arrays, &homes, &all, is_filled)
    });
    let shared = match (&parts, &bands) {
        (Some(_), _) => shared,
        (None, Some(_)) => all,
        (None, None) => vec![array],
    };
    // What a mapping takes is known now.
    let trips = f64::from(built.trips.unwrap_or(0));
    let cycles = mapped.cycles * trips / shared.len() as f64;
    if before.is_some_and(|before| cycles > before as f64) && !tools.wishes.insists() {
        return Err("as one they take longer than one by one".into());
    }
    let apart = apart.filter(|_| shared.len() == 1);
    let if_apart = apart.as_ref().map(|_| package + 1);
    let used = Use { array, package, if_apart, homes, least, parts, bands, arrays: shared.clone() };
    let Mapped { package, mii, routes, instead: is_by_other, is_proved, places, .. } = mapped;
    let node = |&node: &usize| (built.body.nodes[node].op, built.body.nodes[node].span);
    let on_array = OnArray {
        arrays: shared,
        ii: package.ii.into(),
        times: of.times,
        operations: built.body.nodes.len(),
        shortened,
        instead: is_by_other,
        routes,
        least: least.saturating_mul(of.times),
        cycle: mii.cycle.iter().map(node).collect(),
        is_private: {
            let mut edges = built.body.edges().into_iter();
            edges.all(|e| !mii.cycle.contains(&e.from) || mii.cycle.contains(&e.to))
        },
        mii,
        least_ii: tools.wishes.ii.unwrap_or(1),
        is_proved,
        places,
    };
    for &array in &on_array.arrays {
        arrays.packages.push(Package { array, ..package.clone() });
    }
    arrays.packages.extend(apart.map(|mapped| mapped.package));
    version::add(&mut module.functions[func], shape, built, &used, instead);
    Ok(on_array)
}

/// What is known of a loop of which the cycles are estimated.
#[derive(Clone, Copy, Debug)]
pub struct Guess<'a> {
    /// Its header.
    pub header: Block,
    /// Its rows, as of [`Made`].
    pub rows: Option<u32>,
    /// Operations that it has at most.
    pub most: usize,
    /// As of [`forgotten`].
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
    let interval = |body: &body::Body| place::bounds(body, array).mii;
    let cycles = |(reuse, shortens): (Option<usize>, bool)| {
        let terms = Terms {
            globals: machine.control.globals as usize,
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
fn chained(
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
        own,
        reuse: None,
        array: None,
        iterations: choose::USUAL_TRIPS,
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
fn handing(built: &build::Built, machine: &Machine) -> u64 {
    let exports = built.results.len() as u64;
    let globals = built.body.globals.len() as u64;
    10 + 5 * globals + (3 + u64::from(machine.core.load_cycles)) * exports
}

/// From how many iterations on an array takes less time than the core.
fn worthwhile(built: &build::Built, mapped: &Mapped, core_cycles: u32, machine: &Machine) -> u32 {
    // Bounds are compared in 64 bits; control words have addresses of their own.
    let checks = built.accesses.len() as u64 * 10 + built.limits.len() as u64 * 14 + 12;
    let load = u64::from(machine.array.rows * machine.control.load_row_cycles * 2);
    let overhead = handing(built, machine) + checks + load + mapped.depth;
    let saved = u64::from(core_cycles - u32::from(mapped.package.ii));
    u32::try_from(overhead / saved + 1).unwrap_or(u32::MAX).max(2)
}

/// The objects of a loop, which all fit a shared memory as far as that is known.
fn homes(
    module: &Module,
    func: nbcc_ir::Func,
    built: &build::Built,
    arrays: &Arrays,
    (array, machine): (u8, &Machine),
) -> Result<Vec<Mem>, String> {
    let function = &module.functions[func];
    let mut wanted: Vec<Mem> = built.accesses.iter().map(|access| access.mem).collect();
    wanted.sort();
    wanted.dedup();
    let object = |mem: Mem| match function.mems[mem].storage {
        Storage::Object(object) => Some(object),
        _ => None,
    };
    for &mem in &wanted {
        let twin =
            |other: Mem| other != mem && object(mem).is_some() && object(other) == object(mem);
        if function.mems.keys().any(twin) {
            return Err(format!("`{}` has several names", function.mems[mem].name));
        }
    }
    let other = |&&(mem, other): &&(Mem, u8)| other != array && wanted.contains(&mem);
    if let Some(&(mem, other)) = arrays.homes.iter().find(other) {
        return Err(format!(
            "another loop needs `{}` in the shared memory of {}",
            function.mems[mem].name,
            machine.array_name(other.into())
        ));
    }
    if arrays.twins.keys().any(|&(_, other)| other == array) {
        return Err(format!(
            "the shared memory of {} has copies for a loop that several arrays share",
            machine.array_name(array.into())
        ));
    }
    let bytes = |mem: Mem| -> Option<u64> {
        let data = &function.mems[mem];
        match data.storage {
            Storage::Object(object) => Some(module.objects[object].size),
            _ => {
                let extents = data.fixed_extents()?;
                let count = extents.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
                Some(count.saturating_mul(data.element.bytes().into()))
            }
        }
    };
    let is_new = |mem: &&Mem| !arrays.homes.iter().any(|home| home.0 == **mem);
    let known = arrays.homes.iter().map(|home| home.0);
    let fixed = known.chain(wanted.iter().filter(is_new).copied()).filter_map(bytes);
    let alignment = u64::from(machine.home_alignment());
    let all = fixed.map(|bytes| bytes.next_multiple_of(alignment)).sum::<u64>();
    if all > u64::from(machine.shared_bytes()) {
        let message = "its arrays are larger than the shared memory of an array";
        return Err(message.into());
    }
    let taken = arrays.homes.len() + arrays.twins.len();
    if wanted.iter().filter(is_new).count() + taken > MAX_HOMES {
        return Err("too many arrays are used by other loops".into());
    }
    Ok(wanted)
}

/// Gives the homes of a loop twins in the arrays that share it, as far as there is room in the table of
/// homes; whether there is.
fn twins(
    arrays: &mut Arrays,
    homes: &BTreeMap<Mem, u32>,
    shared: &[u8],
    is_filled: impl Fn(Mem) -> bool,
) -> bool {
    // Twins are where homes are, which are those of one array then.
    let is_apart = |&(_, array): &(Mem, u8)| shared[1..].contains(&array);
    let of = |&(home, _): &(u32, u8)| arrays.homes[home as usize].1;
    if arrays.homes.iter().any(is_apart) || arrays.twins.keys().any(|key| of(key) != shared[0]) {
        return false;
    }
    let mut all = arrays.twins.clone();
    for (&mem, &home) in homes {
        let is_filled = is_filled(mem);
        for &array in &shared[1..] {
            *all.entry((home, array)).or_default() |= is_filled;
        }
    }
    let fits = arrays.homes.len() + all.len() <= MAX_HOMES;
    if fits {
        arrays.twins = all;
    }
    fits
}

/// The objects of which nobody knows the contents behind a function that is called once.
pub fn forgotten(module: &Module, func: nbcc_ir::Func) -> BTreeSet<Mem> {
    let locals = module.functions[func].mems.iter();
    let locals = locals.filter(|(_, data)| data.storage == Storage::Own).map(|(mem, _)| mem);
    promote::own_objects(module, func).into_keys().chain(locals).collect()
}
