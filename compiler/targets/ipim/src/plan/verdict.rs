//! One line that says what a plan's time goes into, by its estimate.

use nbcc_isa_ipim::layout::Tiled;
use nbcc_stages::bounds::Interval;

use super::cost::Cost;

/// A kernel, with what is moved for it.
pub(super) struct Share<'a> {
    /// The stage that it computes, by name.
    pub(super) stage: &'a str,
    /// What it is estimated to take.
    pub(super) cost: Cost,
    /// The engines that compute it, and those that there are.
    pub(super) engines: (u64, u64),
}

/// What most cycles are for, and the kernel that has most of them; `None` where nothing is done.
pub(super) fn verdict(shares: &[Share<'_>]) -> Option<String> {
    type Of = fn(&Cost) -> u64;
    const KINDS: [(Of, &str); 4] = [
        (|cost| cost.compute, "computing"),
        (|cost| cost.windows, "filling windows"),
        (|cost| cost.moves, "moving between banks"),
        (|cost| cost.setup, "constants and barriers"),
    ];
    let sum = |of: &dyn Fn(&Cost) -> u64| {
        shares.iter().map(|share| of(&share.cost)).fold(0, u64::saturating_add)
    };
    let all = sum(&Cost::cycles);
    // The first of those that are equal.
    let (of, what) = KINDS.iter().rev().max_by_key(|(of, _)| sum(of))?;
    let most = shares.iter().rev().max_by_key(|share| of(&share.cost))?;
    if all == 0 {
        return None;
    }
    let percent = |part: u64, whole: u64| part as f64 / whole as f64 * 100.0;
    let engines = match most.engines {
        (used, there) if used < there && *what == "computing" => {
            format!(", on {used} of {there} engines")
        }
        _ => String::new(),
    };
    Some(format!(
        "{:.0} % of the cycles are {what}, {:.0} % of these for {}{engines}",
        percent(sum(of), all),
        percent(of(&most.cost), sum(of)),
        most.stage,
    ))
}

/// The engines whose banks hold some of a region, and all that tiles go to.
pub(super) fn used_engines(tiles: &Tiled, region: &[Interval]) -> (u64, u64) {
    let grid = &tiles.grid;
    // Tiles of an engine repeat with the strips and stand on top of each other.
    let engines = [(grid.engines, grid.strips), (1, grid.rows)];
    let mut used = 1;
    for (k, (side_by_side, again)) in engines.into_iter().enumerate() {
        let interval = region.get(k).copied().unwrap_or(Interval::new(0, 0));
        let tile_of = |at: i32| {
            (i64::from(at) - i64::from(tiles.origin[k])).div_euclid(i64::from(tiles.tile[k]))
        };
        let (first, last) = (tile_of(interval.min), tile_of(interval.max));
        let (each, block) = (i64::from(side_by_side), i64::from(side_by_side) * i64::from(again));
        let whole = last.div_euclid(block) - first.div_euclid(block) - 1;
        used *= match whole {
            -1 => (last - first + 1).min(each),
            n => {
                let start = block - first.rem_euclid(block);
                start.min(each) + n * each + (last.rem_euclid(block) + 1).min(each)
            }
        };
    }
    let all = grid.tiles()[0] * grid.tiles()[1] / (u64::from(grid.strips) * u64::from(grid.rows));
    (used as u64, all)
}
