//! Values with more readers than PEs see one output: routes hand them on as a tree, and readers come in
//! waves, a cycle later for each hop from the root. Such a tree is laid on the array before there is a schedule,
//! so that the schedule knows how many readers find a seat in each wave. What no tree can do, for
//! counting reasons, is said here too.

use super::dfg::{Dfg, Grid};
use super::random::Random;
use super::schedule::Crowd;

/// Seats beyond those that the readers of a value need, in sixteenths of these, round by round.
const SPARE: [usize; 4] = [0, 1, 2, 4];
/// Roots that are tried for a tree.
const ROOTS: usize = 24;

/// A value's way to its readers.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The operation that computes it.
    pub value: usize,
    /// Its PE.
    pub root: usize,
    /// PE and wave of each route; the first wave reads the root.
    pub routes: Vec<(usize, i64)>,
    /// PE and wave of each seat for a reader.
    pub seats: Vec<(usize, i64)>,
}

/// PEs that one output reaches, at most.
fn reach(grid: &Grid) -> usize {
    grid.near.iter().map(Vec::len).max().unwrap_or(0)
}

/// The other operations that read a value, each once.
fn readers(dfg: &Dfg, value: usize) -> usize {
    distinct(dfg.out[value].iter().map(|&e| dfg.edges[e].to), value)
}

/// The other operations that an operation reads, each once.
fn producers(dfg: &Dfg, op: usize) -> usize {
    distinct(dfg.into[op].iter().map(|&e| dfg.edges[e].from), op)
}

fn distinct(ops: impl Iterator<Item = usize>, but: usize) -> usize {
    let mut ops: Vec<usize> = ops.filter(|&op| op != but).collect();
    ops.sort_unstable();
    ops.dedup();
    ops.len()
}

/// Readers that are served by whoever holds a value first, and more of them for each route, at most.
///
/// An output is read in the next cycle from PEs in reach. Later it is read on its own PE, which has a cell
/// for each other slot. At an interval of 1 a PE has a single cell: the holder's own is not one for a
/// reader, and a route, which reads a holder in reach, sees some of the PEs that this one sees.
fn served(grid: &Grid, ii: i64) -> (usize, usize) {
    let reach = reach(grid);
    if ii > 1 {
        let all = reach + ii as usize - 2;
        return (all, all - 1);
    }
    let fresh = |p: usize, q: usize| {
        grid.near[q].iter().filter(|&&pe| grid.distance(p, pe) > grid.radius).count()
    };
    let pairs = (0..grid.pes).flat_map(|p| grid.near[p].iter().map(move |&q| (p, q)));
    let most = pairs.map(|(p, q)| fresh(p, q)).max().unwrap_or(0);
    (reach - 1, most.saturating_sub(1))
}

/// Routes that values take at least because of how many read them; `None` where no number is enough.
pub fn least_routes(dfg: &Dfg, grid: &Grid, ii: i64) -> Option<usize> {
    let (first, more) = served(grid, ii);
    let mut all = 0;
    for value in 0..dfg.len() {
        let missing = readers(dfg, value).saturating_sub(first);
        if missing > 0 {
            all += if more > 0 { missing.div_ceil(more) } else { return None };
        }
    }
    Some(all)
}

/// Whether some operation reads more values than can be where it sees them: each takes a cell, in
/// reach in the cycle before, or on the same PE in another slot and then in a register.
pub fn reads_too_many(dfg: &Dfg, grid: &Grid, ii: i64) -> bool {
    let seen = match ii {
        1 => reach(grid) - 1,
        _ => reach(grid) + (ii as usize - 2).min(grid.array.registers as usize),
    };
    (0..dfg.len()).any(|op| producers(dfg, op) > seen)
}

/// Trees with as many seats to spare as a round has, or with none; without room for these none at all.
pub fn some_trees(dfg: &Dfg, grid: &Grid, ii: i64, round: usize, random: &mut Random) -> Vec<Tree> {
    let mut grow = |spare| trees(dfg, grid, ii, spare, random);
    grow(SPARE[round % SPARE.len()]).or_else(|| grow(0)).unwrap_or_default()
}

/// A tree for each value whose readers, with that many sixteenths of them to spare, find no seats around
/// one output. `None` where the array has no room for them.
pub fn trees(
    dfg: &Dfg,
    grid: &Grid,
    ii: i64,
    spare: usize,
    random: &mut Random,
) -> Option<Vec<Tree>> {
    let around = reach(grid) - usize::from(ii == 1);
    let mut values: Vec<(usize, usize)> = (0..dfg.len())
        .map(|value| {
            let n = readers(dfg, value);
            (n + (n * spare).div_ceil(16), value)
        })
        .filter(|&(seats, _)| seats > around)
        .collect();
    values.sort_unstable_by_key(|&(seats, value)| (std::cmp::Reverse(seats), value));
    let mut taken = vec![false; grid.pes];
    let mut free = (grid.pes * ii as usize).checked_sub(dfg.len())?;
    let mut trees = Vec::new();
    for (seats, value) in values {
        let start = random.below(grid.pes);
        let roots = (0..grid.pes).map(|pe| (pe + start) % grid.pes).filter(|&pe| !taken[pe]);
        let mut best: Option<Tree> = None;
        for root in roots.take(ROOTS) {
            let tree = grow(grid, ii, (value, root), seats, &taken, random);
            if let Some(tree) = tree
                && best.as_ref().is_none_or(|best| tree.routes.len() < best.routes.len())
            {
                best = Some(tree);
            }
        }
        let tree = best?;
        free = free.checked_sub(tree.routes.len())?;
        // At longer intervals it depends on the schedule which slots trees take.
        if ii == 1 {
            taken[tree.root] = true;
            tree.routes.iter().for_each(|&(pe, _)| taken[pe] = true);
            tree.seats.iter().take(seats).for_each(|&(pe, _)| taken[pe] = true);
        }
        trees.push(tree);
    }
    Some(trees)
}

/// Adds the route that shows the value to the most further cells until there are seats enough.
fn grow(
    grid: &Grid,
    ii: i64,
    (value, root): (usize, usize),
    seats: usize,
    taken: &[bool],
    random: &mut Random,
) -> Option<Tree> {
    const UNSEEN: i64 = 0;
    const HELD: i64 = -1;
    let cell = |pe: usize, wave: i64| (wave % ii) as usize * grid.pes + pe;
    // The wave in which each cell sees the value.
    let mut wave_of = vec![UNSEEN; ii as usize * grid.pes];
    for pe in (0..grid.pes).filter(|&pe| ii == 1 && taken[pe]) {
        wave_of[pe] = HELD;
    }
    let mut order: Vec<(usize, i64)> = Vec::new();
    let mut routes: Vec<(usize, i64)> = Vec::new();
    let mut next = Some((root, 0));
    while let Some((pe, wave)) = next {
        wave_of[cell(pe, wave)] = HELD;
        order.retain(|&seat| seat != (pe, wave));
        if wave > 0 {
            routes.push((pe, wave));
        }
        for &q in &grid.near[pe] {
            let seen = &mut wave_of[cell(q, wave + 1)];
            if *seen == UNSEEN {
                *seen = wave + 1;
                order.push((q, wave + 1));
            }
        }
        if order.len() >= seats {
            order.sort_by_key(|&(_, wave)| wave);
            return Some(Tree { value, root, routes, seats: order });
        }
        let gain = |&(pe, wave): &(usize, i64)| {
            let unseen = |&&q: &&usize| wave_of[cell(q, wave + 1)] == UNSEEN;
            grid.near[pe].iter().filter(unseen).count()
        };
        let start = random.below(order.len().max(1));
        let best = (0..order.len()).map(|i| order[(i + start) % order.len()]);
        next = best
            .map(|seat| (gain(&seat), seat))
            .filter(|&(gain, _)| gain > 1)
            .max_by_key(|&(gain, (_, wave))| (gain, -wave))
            .map(|(_, seat)| seat);
    }
    None
}

/// What trees, and operations that read many values, ask of a schedule.
pub fn crowds(dfg: &Dfg, grid: &Grid, ii: i64, trees: &[Tree]) -> Vec<Crowd> {
    let mut crowds = Vec::new();
    for tree in trees {
        let waves = tree.seats.iter().map(|&(_, wave)| wave).max().unwrap_or(1);
        let seats = |wave| tree.seats.iter().filter(|seat| seat.1 == wave).count() as i64;
        let most = (1..=waves).map(seats).collect();
        crowds.push(Crowd { edges: distinct_readers(dfg, tree.value), most });
    }
    for op in 0..dfg.len() {
        // Those that do not stand around the reader wait on its PE, one a slot.
        if producers(dfg, op) > reach(grid) && ii > 1 {
            let edges = dfg.into[op].iter().copied().filter(|&e| dfg.edges[e].from != op);
            crowds.push(Crowd { edges: edges.collect(), most: vec![reach(grid) as i64, 1] });
        }
    }
    crowds
}

/// For how many an operation and its routes have room around them at an interval of 1, where all that it reads
/// and all that reads it next stand on PEs of their own.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Readers and routes beside the operation.
    pub seats: i64,
    /// Those beside a route.
    pub of_route: i64,
    /// Those beside a route that stand beside no other, nor the operation.
    pub of_new_route: i64,
}

impl Surroundings {
    /// Those of an operation.
    pub fn new(dfg: &Dfg, grid: &Grid, op: usize) -> Surroundings {
        let around = reach(grid) as i64 - 1;
        let is_reader = |other: usize| dfg.out[op].iter().any(|&e| dfg.edges[e].to == other);
        let inputs = dfg.into[op].iter().map(|&e| dfg.edges[e].from).filter(|&i| !is_reader(i));
        Surroundings {
            seats: (around - distinct(inputs, op) as i64).max(0),
            of_route: around - 1,
            of_new_route: served(grid, 1).1 as i64 + 1,
        }
    }
}

/// At an interval of 1, which readers come later, because there are too many beside what they read. How much
/// depends on the cycles of routes, which `random` decides.
pub fn neighbours(dfg: &Dfg, grid: &Grid, random: &mut Random) -> Vec<Crowd> {
    let mut crowds = Vec::new();
    for op in 0..dfg.len() {
        let edges = distinct_readers(dfg, op);
        let around = Surroundings::new(dfg, grid, op);
        let mut most = vec![around.seats];
        if edges.len() as i64 <= around.seats {
            continue;
        }
        // A route takes a seat and gives those of the next cycle.
        while most.iter().sum::<i64>() < edges.len() as i64 && around.of_new_route > 1 {
            let start = random.below(most.len());
            let order = (0..most.len()).map(|i| (i + start) % most.len());
            let from = order.into_iter().find(|&at| most[at] > 0).unwrap_or(0);
            most[from] = (most[from] - 1).max(0);
            match most.get_mut(from + 1) {
                Some(seats) => *seats += around.of_new_route,
                None => most.push(around.of_new_route),
            }
        }
        crowds.push(Crowd { edges, most });
    }
    crowds
}

/// An edge for each other operation that reads a value, and each iteration in which it does.
pub fn distinct_readers(dfg: &Dfg, value: usize) -> Vec<usize> {
    let reader = |e: usize| (dfg.edges[e].to, dfg.edges[e].distance);
    let mut edges: Vec<usize> = Vec::new();
    for &e in &dfg.out[value] {
        if dfg.edges[e].to != value && !edges.iter().any(|&f| reader(f) == reader(e)) {
            edges.push(e);
        }
    }
    edges
}

/// The cells on which the root, the routes and the readers of trees stand at these times.
#[derive(Clone, Debug)]
pub struct Seating {
    /// The PE of each operation that has one.
    pub pe: Vec<Option<usize>>,
    /// Value, PE and time of each route.
    pub routes: Vec<(usize, usize, i64)>,
}

/// Seats everybody who comes in time and finds the seat free.
pub fn seat(dfg: &Dfg, grid: &Grid, ii: i64, trees: &[Tree], time: &[i64]) -> Seating {
    let mut seating = Seating { pe: vec![None; dfg.len()], routes: Vec::new() };
    let mut taken = vec![false; grid.pes * ii as usize];
    let mut take = |pe: usize, time: i64| {
        let cell = time.rem_euclid(ii) as usize * grid.pes + pe;
        !std::mem::replace(&mut taken[cell], true)
    };
    for tree in trees {
        let born = time[tree.value];
        if seating.pe[tree.value].is_none() && take(tree.root, born) {
            seating.pe[tree.value] = Some(tree.root);
        }
        for &(pe, wave) in &tree.routes {
            if take(pe, born + wave) {
                seating.routes.push((tree.value, pe, born + wave));
            }
        }
        let mut seats = tree.seats.clone();
        for &e in &dfg.out[tree.value] {
            let wave = dfg.slack(e, time, ii);
            let reader = dfg.edges[e].to;
            while seating.pe[reader].is_none()
                && let Some(at) = seats.iter().position(|seat| seat.1 == wave)
            {
                let (pe, _) = seats.remove(at);
                if take(pe, born + wave) {
                    seating.pe[reader] = Some(pe);
                }
            }
        }
    }
    seating
}
