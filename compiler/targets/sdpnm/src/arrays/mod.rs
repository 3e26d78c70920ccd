//! Loops on arrays (SDPNM paper, section 3): which loops, as which operations, where and when.
//!
//! Loops of the source become loops that arrays can run ([`loops`]). Such a loop is looked at by itself
//! ([`facts`]), its iteration becomes operations of PEs ([`iteration`]), or several do, a mapper places those
//! of one of the ways to do that ([`placing`]), and the function gets a second version of the loop that starts
//! the array ([`versions`]).

pub mod estimates;
pub mod facts;
pub mod homes;
pub mod iteration;
pub mod loops;
pub mod placing;
pub mod reports;
pub mod versions;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::LoopForest;
use nbcc_base::{SourceMap, Span};
use nbcc_ir::{Block, BlockCall, Cfg, Dominators, Function, Mem, Module, Op, Terminator};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::Package;
use nbcc_isa_sdpnm::core::arrays::{CONTROL_BYTES, START};
use nbcc_opt::{params, unreachable};

use crate::map::mappers::Mapper;
use crate::map::memory::Memory;
use estimates::{chained, cycles, worthwhile};
use facts::shape::{Shape, Trips};
use facts::sources::{Site, Sources, Wishes};
use homes::{array_for, forgotten, homes, twins};
use iteration::build::Built;
use iteration::registers;
use loops::collapse::Made;
use loops::{ahead, chain};
use placing::bands::Bands;
use placing::choose::{Candidate, Chosen};
use placing::jam;
use placing::place::Mapped;
use placing::split::{self, Parts};
pub use reports::decision::{At, Decision, Notes, OnArray, Shortened};
use versions::version::{self, Use, WRITE};

/// What loops on arrays need beside the code of the core.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// The configurations, by their numbers.
    pub packages: Vec<Package>,
    /// The memory objects that live in a shared memory, and in which array's.
    pub homes: Vec<(Mem, u8)>,
    /// The windows on objects that are too large for one.
    pub windows: BTreeSet<Mem>,
    /// What has a twin: its place among the homes, the other array, whether its contents are there too.
    pub twins: BTreeMap<(u32, u8), bool>,
    /// The words in shared memories for what finds no global register, by the arrays.
    pub spills: BTreeMap<u8, Mem>,
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
    /// Loops with others inside that are unrolled and need not be: rolled they take fewer registers, so that
    /// nothing is spilled before that is tried.
    pub rollable: &'a BTreeSet<Block>,
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

/// Finds the loops for which no array is ever started, since what is asked before is never so, now that loops around
/// have answered it: they stay on the core.
pub fn look_again(func: &Function, decisions: &mut [Decision]) {
    let mut started = BTreeSet::new();
    for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
        let Op::Intrinsic(call) = &func.insts[inst].op else { continue };
        if call.name == WRITE
            && call.imms.iter().any(|&at| at % i64::from(CONTROL_BYTES) == i64::from(START))
        {
            // Of two packages one is chosen on the way.
            let Some(number) = func.splat_constant(call.args[0]) else { return };
            started.insert(number as u32);
        }
    }
    for decision in decisions {
        if let Ok(on_array) = &decision.place
            && !on_array.packages.clone().any(|number| started.contains(&number))
        {
            decision.place = Err(NEVER_STARTED.to_string());
        }
    }
}

/// Why a loop stays on the core that an array could run.
const NEVER_STARTED: &str =
    "its accesses can never be shown to be inside, which is asked before an array takes it";

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

/// Where a loop is in the source.
fn span_of(func: &Function, header: Block, blocks: &[Block]) -> Option<Span> {
    let data = &func.blocks[header];
    let insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    let first = insts.filter_map(|&inst| func.insts[inst].span).next();
    data.insts.iter().filter_map(|&inst| func.insts[inst].span).next_back().or(data.span).or(first)
}

/// How many iterations begin until the first one ends, where results take the registers of what is read before
/// the first iteration.
fn until_read(built: &Built, mapped: &Mapped, apart: Option<&Mapped>) -> u32 {
    let begin = |mapped: &Mapped| mapped.depth.div_ceil(mapped.package.ii.into()) as u32;
    match registers::shares(&built.body) {
        true => begin(mapped).max(apart.map_or(0, begin)),
        false => 0,
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
    let least = least.max(until_read(built, &mapped, apart.as_ref()));
    if let Trips::Known(trips) = shape.trips
        && trips < least
    {
        return Err(format!(
            "it has {trips} iterations, and an array is worth starting from {least} on"
        ));
    }
    let package = arrays.packages.len() as u32;
    let spills = match built.spilled.is_empty() {
        true => None,
        false => Some(homes::spills(&mut module.functions[func], arrays, array)),
    };
    let homes = homes.into_iter().chain(spills);
    let numbers = homes.map(|home| {
        let known = arrays.homes.iter().position(|other| other.0 == home);
        let number = known.unwrap_or_else(|| {
            arrays.homes.push((home, array));
            arrays.homes.len() - 1
        });
        (home, number as u32)
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
    let used = Use {
        array,
        package,
        if_apart,
        homes,
        spills,
        least,
        parts,
        bands,
        arrays: shared.clone(),
    };
    let Mapped { package: placed, mii, routes, instead: is_by_other, is_proved, places, .. } =
        mapped;
    let node = |&node: &usize| (built.body.nodes[node].op, built.body.nodes[node].span);
    let others = u32::from(apart.is_some());
    let on_array = OnArray {
        packages: package..package + shared.len() as u32 + others,
        arrays: shared,
        ii: placed.ii.into(),
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
        arrays.packages.push(Package { array, ..placed.clone() });
    }
    arrays.packages.extend(apart.map(|mapped| mapped.package));
    version::add(&mut module.functions[func], shape, built, &used, instead);
    Ok(on_array)
}
