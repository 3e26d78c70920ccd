//! As which body a loop is mapped: with which accesses, with which recurrences.

use nbcc_base::Span;
use nbcc_ir::{Func, Module, Value};
use nbcc_isa_sdpnm::Machine;
use nbcc_opt::promote;

use super::place::{self, How, Mapped};
use crate::arrays::facts::shape::{Shape, fresh};
use crate::arrays::homes::{forgotten, homes};
use crate::arrays::iteration::body;
use crate::arrays::iteration::build::{self, Built};
use crate::arrays::iteration::contents;
use crate::arrays::iteration::terms::{Facts, Terms};
use crate::arrays::versions::version;
use crate::arrays::{Arrays, Shortened, Tools};
use crate::map::mii::Mii;

/// How many loads take the value of one at most: what many operations read is hard to hand to all of
/// them, so that each is tried where the one before fails.
pub(crate) const FOLLOWERS: [usize; 3] = [24, 3, 1];

/// Cycles of an iteration over its least interval with which a mapping is good enough.
const GOOD: f64 = 1.3;

/// Groups of readers that are tried.
const GROUPS: [usize; 2] = [4, 8];

/// Iterations of a loop of which nobody knows how often it runs.
pub(crate) const USUAL_TRIPS: u32 = 32;

/// Rounds of the search for a loop, and where there are other ways to map it.
const ROUNDS: u32 = 4;
const FEW_ROUNDS: u32 = 2;

/// A loop that an array might run.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The loop.
    pub shape: Shape,
    /// What the core takes for an iteration, in cycles.
    pub core_cycles: u32,
    /// Where it is in the source.
    pub span: Option<Span>,
    /// The number of the array.
    pub array: u8,
    /// Iterations of the source that are one.
    pub times: u32,
    /// Whether it was made of a nest.
    pub is_nest: bool,
    /// Whether it only runs where another version of it does not.
    pub is_spare: bool,
}

/// The bodies that a loop may be.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    /// With all accesses.
    pub plain: Built,
    /// The bounds of its interval.
    pub bounds: Mii,
    /// With fewer accesses, the fewest first.
    pub reusing: Vec<Built>,
    /// With shorter recurrences.
    shorter: Vec<Built>,
    /// With values that go from group to group of their readers.
    spread: Vec<Built>,
    iterations: u32,
}

/// A body that has a mapping.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The body.
    pub built: Built,
    /// Where and when.
    pub mapped: Mapped,
    /// The same in fewer cycles, where [`Built::apart`] holds.
    pub apart: Option<Mapped>,
    /// Where recurrences were made shorter.
    pub shortened: Option<Shortened>,
}

/// Whether an array of that kind has all operations.
fn runs_on(built: &Built, of: &Candidate, machine: &Machine) -> Result<(), String> {
    let kind = machine.arrays.kinds[usize::from(of.array)];
    match built.body.nodes.iter().find(|node| !kind.has(node.op)) {
        Some(node) => Err(format!("{} has no operation `{}`", kind.name(), node.op.mnemonic())),
        None => Ok(()),
    }
}

/// The bodies of a loop.
///
/// # Errors
/// Why no array can run it.
pub(crate) fn bodies(
    module: &Module,
    func: Func,
    of: &Candidate,
    tools: Tools<'_>,
) -> Result<Bodies, String> {
    let machine = tools.machine;
    let (function, shape) = (&module.functions[func], &of.shape);
    if !version::can_count(function, shape) {
        return Err("the number of its iterations is no simple difference".into());
    }
    let facts = Facts::new(function);
    let results = version::results(function, shape);
    let globals = machine.control.globals as usize;
    let own = forgotten(module, func);
    let iterations = shape.usual_trips(function).unwrap_or(USUAL_TRIPS);
    let fresh = fresh(function, shape);
    let is_fresh =
        &|value: Value| function.def_inst(value).is_none_or(|inst| fresh.contains(&inst));
    let is_zero = contents::zeros(function, shape, promote::own_objects(module, func));
    let interval = |body: &body::Body| place::bounds(body, &machine.array).mii;
    let build_in = |reuse: Option<usize>, array, groups: Option<usize>| {
        let (interval, own, is_zero) = (&interval, &own, &is_zero);
        let spills = !tools.rollable.contains(&shape.header);
        let terms = Terms {
            globals,
            spills,
            own,
            reuse,
            array,
            iterations,
            groups,
            interval,
            is_fresh,
            is_zero,
        };
        build::build(function, shape, &facts, &results, terms)
    };
    let build = |reuse: Option<usize>, array| build_in(reuse, array, None);
    let plain = build(None, None)?;
    let bounds = place::bounds(&plain.body, &machine.array);
    let size = |built: &Built| built.body.nodes.len();
    let mut reusing: Vec<Built> = Vec::new();
    for most in FOLLOWERS {
        let Ok(built) = build(Some(most), None) else { continue };
        let is_less = built.body.accesses() < plain.body.accesses() && size(&built) <= size(&plain);
        let gains = is_less || interval(&built.body) < bounds.mii;
        let is_new = reusing.last().is_none_or(|last| size(last) < size(&built));
        if gains && is_new {
            reusing.push(built);
        }
    }
    let mut shorter: Vec<Built> = Vec::new();
    // Only where recurrences are longer than what operations need.
    let may_gain = tools.reassociates && bounds.rec == bounds.mii && bounds.mii > 1;
    let ways = FOLLOWERS.into_iter().map(Some).chain([None]).filter(|_| may_gain);
    for built in ways.filter_map(|reuse| build(reuse, Some(&machine.array)).ok()) {
        let gains = interval(&built.body) < bounds.mii;
        if gains && !shorter.iter().any(|other| size(other) == size(&built)) {
            shorter.push(built);
        }
    }
    let mut spread: Vec<Built> = Vec::new();
    for groups in GROUPS.into_iter().filter(|_| of.is_nest) {
        let Ok(built) = build_in(None, None, Some(groups)) else { continue };
        let is_new = |other: &Built| size(other) < size(&built);
        if [&plain].into_iter().chain(spread.last()).all(is_new) {
            spread.push(built);
        }
    }
    Ok(Bodies { plain, bounds, reusing, shorter, spread, iterations })
}

/// Maps one of the bodies of a loop. Where another mapping takes `known` cycles an iteration, less is
/// done for one that takes fewer.
///
/// # Errors
/// Why there is no mapping that is worth it.
pub(crate) fn choose(
    module: &Module,
    func: Func,
    of: &Candidate,
    bodies: &Bodies,
    known: Option<f64>,
    tools: Tools<'_>,
    arrays: &Arrays,
) -> Result<Chosen, String> {
    let Tools { machine, mapper, memory, sources, .. } = tools;
    let Bodies { plain, bounds, reusing, shorter, spread, iterations } = bodies;
    let core_cycles = of.core_cycles;
    homes(module, func, plain, arrays, (of.array, machine))?;
    runs_on(plain, of, machine)?;
    let function = &module.functions[func];
    if known.is_some_and(|known| f64::from(bounds.mii) >= known) {
        return Err("another mapping is as good".into());
    }
    let insists = tools.wishes.insists();
    if bounds.mii >= core_cycles && reusing.is_empty() && !insists {
        return Err(format!(
            "an iteration takes {} cycles at least on an array, and about {core_cycles} on the core",
            bounds.mii
        ));
    }
    let line = of.span.and_then(|span| place::line(sources, span));
    let name = match line {
        Some(line) => format!("{}:{}", function.name, line.line),
        None => format!("{}_{}", function.name, arrays.packages.len()),
    };
    let is_optional = known.is_some() || of.times > 1 || of.is_spare;
    let on_core = if insists { u32::MAX } else { core_cycles.saturating_sub(1) };
    let most = known.map_or(u32::MAX, |known| known as u32).min(on_core);
    let how = How {
        machine,
        sources,
        number: of.array,
        mapper,
        memory,
        max_ii: machine.array.contexts.min(most).max(1),
        least_ii: tools.wishes.ii.unwrap_or(1),
        iterations: *iterations,
        rounds: if is_optional { FEW_ROUNDS } else { ROUNDS },
        name: &name,
    };
    let reused = |max_ii: u32, rounds: u32| {
        let how = How { max_ii: how.max_ii.min(max_ii), rounds, ..how };
        reusing.iter().find_map(|built| Some((built, place::place(&built.body, &how).ok()?)))
    };
    // What is hard to hand to many readers: the best of several ways counts.
    let mut found: Option<(&Built, Mapped)> = None;
    for built in spread.iter().filter(|_| shorter.is_empty()) {
        let best = found.as_ref().map_or(f64::INFINITY, |(_, mapped)| mapped.cycles);
        if best <= f64::from(bounds.mii) * GOOD {
            break;
        }
        let (max_ii, rounds) = match &found {
            Some((_, mapped)) => (how.max_ii.min(u32::from(mapped.package.ii) - 1).max(1), 1),
            None if known.is_some() => (how.max_ii, 1),
            None => (how.max_ii, FEW_ROUNDS),
        };
        let mapped = place::place(&built.body, &How { max_ii, rounds, ..how }).ok();
        found = match (found, mapped.map(|mapped| (built, mapped))) {
            (Some(one), Some(two)) if two.1.cycles < one.1.cycles => Some(two),
            (one, two) => one.or(two),
        };
    }
    if let Some((built, mapped)) =
        found.filter(|(_, mapped)| mapped.cycles < f64::from(core_cycles) || insists)
    {
        return Ok(Chosen { built: built.clone(), mapped, apart: None, shortened: None });
    }
    // Shorter recurrences are worth it where the interval is shorter, waiting for banks included.
    // Where one waits too long, the ones behind it do, which have more accesses.
    let shorter = shorter
        .iter()
        .find_map(|built| {
            let how = How { max_ii: how.max_ii.min(bounds.mii - 1), ..how };
            Some((built, place::place(&built.body, &how).ok()?))
        })
        .filter(|(_, mapped)| mapped.cycles < f64::from(bounds.mii));
    let shortened = shorter
        .as_ref()
        .map(|(built, _)| Shortened { rec_mii: bounds.rec, operations: built.body.nodes.len() });
    // Fewer accesses are worth it where values that wait take no longer interval, or where the others
    // wait for banks as long.
    let (built, mapped) = match shorter.or_else(|| reused(bounds.mii, FEW_ROUNDS)) {
        Some(found) => found,
        None => {
            let mapped = place::place(&plain.body, &how);
            let is_slow = |mapped: &Mapped| mapped.cycles > f64::from(bounds.mii + 1);
            let other = match &mapped {
                Ok(mapped) if !is_slow(mapped) => None,
                _ => reused(bounds.mii + 1, 1),
            };
            match (mapped, other) {
                (Err(_), Some(other)) => other,
                (Ok(mapped), Some(other)) if other.1.cycles < mapped.cycles => other,
                (mapped, _) => (plain, mapped?),
            }
        }
    };
    let apart = built.body.apart();
    let max_ii = u32::from(mapped.package.ii) - 1;
    let is_worth = !built.apart.is_empty()
        && tools.wishes.ii.is_none()
        && place::bounds(&apart, &machine.array).mii <= max_ii;
    let how = How { max_ii, rounds: FEW_ROUNDS, ..how };
    let apart = is_worth.then(|| place::place(&apart, &how).ok()).flatten();
    Ok(Chosen { built: built.clone(), mapped, apart, shortened })
}
