//! Orders of dimensions for what is long and narrow. Engines of a group stand side by side along the first
//! place and each computes vectors along it, so that a column of points, or of sums, leaves most of them idle
//! if its short dimension comes first.

use nbcc_isa_ipim::{LANES, Machine};
use nbcc_stages::bounds::{Bounds, Interval, points};
use nbcc_stages::{Func, Pipeline};

use super::access::{Source, accesses_of};
use super::modes::reduction;
use super::order::{Gain, Order, asked, is_plain, largest_two, with_first};
use super::prepared::pays_in_parts;

/// A dimension of so many vectors for each so many engines is enough to distribute a Func along it alone.
const ALONE: u64 = 8;

/// Elements of a row that a group computes at once.
fn across(machine: &Machine) -> u32 {
    LANES as u32 * machine.hierarchy.pes
}

/// Elements that all engines compute at once.
fn at_once(machine: &Machine) -> u64 {
    u64::from(machine.engines()) * u64::from(machine.vaults()) * LANES as u64
}

/// Whether groups take twice the rounds for what is `short` wide and `long` high than for what lies on its side.
fn is_narrow(machine: &Machine, short: u32, long: u32) -> bool {
    let rounds = |row: u32, rows: u32| u64::from(row.div_ceil(across(machine))) * u64::from(rows);
    long > across(machine) && rounds(long, short) * 2 <= rounds(short, long)
}

/// Orders for the Func with the most points if it is narrow: the longest dimension first, and of three
/// dimensions or more the longest alone, whose others are whole in a bank then.
pub(super) fn longest_first(
    pipeline: &Pipeline,
    bounds: &Bounds,
    machine: &Machine,
) -> Vec<(Func, Order)> {
    let all = bounds.needed(pipeline).map(|(func, _)| func);
    let sized = all.filter_map(|func| Some((points(bounds.region(func)?), func)));
    let Some((_, func)) = sized.max() else { return vec![] };
    let extent = |d: usize| bounds.region(func).map_or(1, |region| region[d].extent());
    let dims = pipeline.funcs[func].vars.len();
    let Some([long, short]) = largest_two(pipeline, bounds, func) else { return vec![] };
    if !is_narrow(machine, extent(short), extent(long)) {
        return vec![];
    }
    let mut orders = vec![with_first(&[long, short], dims)];
    if dims > 2 && u64::from(extent(long)) * ALONE >= at_once(machine) {
        orders.push(with_first(&[long], dims));
    }
    orders.retain(|order| !is_plain(order));
    orders.into_iter().map(|order| (func, order)).collect()
}

/// The orders in which what a Func reads meets the nests of its updates that are reduced in parts, with the
/// larger of their first two dimensions first where the other one would leave engines idle.
pub(super) fn of_reductions(
    pipeline: &Pipeline,
    bounds: &Bounds,
    machine: &Machine,
    func: Func,
) -> Vec<(Source, Order, Gain)> {
    // Where there are enough elements, they keep the engines busy themselves.
    let few = |region: &[Interval]| points(region) * 2 <= at_once(machine);
    let mut all = vec![];
    let updates = 0..pipeline.funcs[func].updates.len();
    for k in
        updates.filter(|&k| bounds.region(func).is_some_and(few) && pays_in_parts(bounds, func, k))
    {
        let mut pipeline = pipeline.clone();
        let Some(reduction) = reduction(&mut pipeline, func, k) else { continue };
        let Some(region) = reduction.region(bounds, func, k) else { continue };
        let mut first: Vec<usize> = (0..region.len().min(2)).collect();
        let in_domain = region.len() - reduction.along.len();
        // Lanes that contribute to different elements would take turns.
        if let [x, y, ..] = &region[..]
            && in_domain > 1
            && is_narrow(machine, x.extent(), y.extent())
        {
            first.reverse();
        }
        let nest = with_first(&first, region.len());
        let gain = if reduction.along.is_empty() { Gain::Third } else { Gain::Most };
        let roots = reduction.args.iter().chain([&reduction.value]).chain(&reduction.predicates);
        for access in accesses_of(&pipeline, roots.copied()) {
            let order = asked(&pipeline, &access, &nest);
            all.extend(order.map(|order| (access.source, order, gain)));
        }
    }
    all
}
