//! In which cycles operations can run at all in any mapping: a search over all of them is exhaustive.

use std::ops::Range;

use super::dfg::{Dfg, Grid};

/// The cycles of each operation, for one operation of each connected part fixed to an iteration.
/// `None` where there is no mapping for want of cells, or the cycles are too many to be counted.
///
/// A holder keeps a value in a register for at most registers x II cycles, and a value has at most
/// as many holders as there are cells without an operation, and one. At II 1, where a PE runs one
/// thing, only the producer itself reads late.
pub fn all(dfg: &Dfg, grid: &Grid, ii: i64) -> Option<Vec<Range<i64>>> {
    let n = dfg.len();
    let free = grid.pes as i64 * ii - n as i64;
    if free < 0 {
        return None;
    }
    let hold = if ii == 1 { 1 } else { (i64::from(grid.array.registers) * ii).max(1) };
    let longest = (free + 1).checked_mul(hold)?;
    let mut window: Vec<Option<Range<i64>>> = vec![None; n];
    for root in 0..n {
        if window[root].is_some() {
            continue;
        }
        let latest = distances(dfg, root, |d| (longest - ii * d, ii * d - 1))?;
        let earliest = distances(dfg, root, |d| (ii * d - 1, longest - ii * d))?;
        // All parts but the first may begin in any slot.
        let slots = if root == 0 { 1 } else { ii };
        for op in 0..n {
            if let (Some(latest), Some(earliest)) = (latest[op], earliest[op]) {
                window[op] = Some(-earliest..latest + slots);
            }
        }
    }
    window.into_iter().collect()
}

/// Shortest paths from `root`, where an edge of the given distance has the given lengths forth and
/// back, by Bellman and Ford's algorithm; `None` for what is not connected. The outer `None` where
/// paths have no shortest or become too long.
fn distances(
    dfg: &Dfg,
    root: usize,
    length: impl Fn(i64) -> (i64, i64),
) -> Option<Vec<Option<i64>>> {
    const TOO_LONG: i64 = 1 << 20;
    let n = dfg.len();
    let mut distance = vec![None; n];
    distance[root] = Some(0i64);
    for _ in 0..=n {
        let mut changed = false;
        for e in &dfg.edges {
            if e.from == e.to {
                continue;
            }
            let (forth, back) = length(e.distance);
            for (from, to, by) in [(e.from, e.to, forth), (e.to, e.from, back)] {
                let Some(known) = distance[from] else { continue };
                let path = known + by;
                if distance[to].is_none_or(|old| path < old) {
                    distance[to] = Some(path);
                    changed = true;
                }
            }
        }
        if !changed {
            let too_long = distance.iter().flatten().any(|d| d.abs() > TOO_LONG);
            return (!too_long).then_some(distance);
        }
    }
    None
}
