//! Arrays on which a PE reads those beside it alone, as chess boards: at an interval of 1, where a PE
//! runs one thing and so keeps nothing for others, a value comes to a PE of the other colour with each
//! cycle. When an operation runs says then which colour it stands on, as seen from another one that
//! edges connect it with; and where these say both, there is no mapping.

use super::dfg::{Dfg, Grid};

/// Whether values change colours with each cycle.
pub fn alternate(grid: &Grid, ii: i64) -> bool {
    ii == 1 && grid.radius == 1
}

/// The colour of a PE.
pub fn of_pe(grid: &Grid, pe: usize) -> usize {
    let (row, column) = grid.array.position(pe);
    (row + column) as usize % 2
}

/// PEs of either colour.
fn fields(grid: &Grid) -> [i64; 2] {
    let black = (0..grid.pes).filter(|&pe| of_pe(grid, pe) == 1).count();
    [(grid.pes - black) as i64, black as i64]
}

/// The colours that a schedule asks for.
#[derive(Clone, Debug)]
pub struct Painted {
    colours: Colours,
    exchanged: Vec<bool>,
    fields: [i64; 2],
}

impl Painted {
    /// Those of the operations of a graph, at their cycles, where values change colours at all.
    pub fn new(dfg: &Dfg, grid: &Grid, ii: i64, time: &[i64]) -> Option<Painted> {
        let colours = Colours::of(dfg, grid, ii)?;
        let fields = fields(grid);
        let exchanged = colours.exchanged(&colours.demand(dfg, time), fields);
        Some(Painted { colours, exchanged, fields })
    }

    /// The colour of what holds an operation's value first at a cycle.
    pub fn colour(&self, op: usize, time: i64) -> usize {
        self.colours.colour(op, time) ^ usize::from(self.exchanged[self.colours.part(op)])
    }

    /// PEs of either colour that a schedule asks for beyond those that there are.
    pub fn lacking(&self, dfg: &Dfg, time: &[i64]) -> [i64; 2] {
        let mut lacking = [-self.fields[0], -self.fields[1]];
        for (demand, &is_exchanged) in self.colours.demand(dfg, time).iter().zip(&self.exchanged) {
            lacking[usize::from(is_exchanged)] += demand[0];
            lacking[usize::from(!is_exchanged)] += demand[1];
        }
        lacking.map(|lacking| lacking.max(0))
    }
}

/// Which operations are of a colour when they run in the same cycle.
#[derive(Clone, Debug)]
pub struct Colours {
    /// The part that edges connect each operation with, and how many cycles it is from its first one.
    at: Vec<(usize, i64)>,
    parts: usize,
}

impl Colours {
    /// Those of a graph on an array, where values change colours and edges do not contradict each other.
    pub fn of(dfg: &Dfg, grid: &Grid, ii: i64) -> Option<Colours> {
        alternate(grid, ii).then(|| Colours::new(dfg)).flatten()
    }

    /// Those of a graph; `None` where edges contradict each other.
    pub fn new(dfg: &Dfg) -> Option<Colours> {
        let mut at: Vec<Option<(usize, i64)>> = vec![None; dfg.len()];
        let mut parts = 0;
        for root in 0..dfg.len() {
            if at[root].is_some() {
                continue;
            }
            at[root] = Some((parts, 0));
            let mut todo = vec![(root, 0)];
            while let Some((op, cycles)) = todo.pop() {
                let out = dfg.out[op].iter().map(|&e| (dfg.edges[e].to, dfg.edges[e].distance));
                let into = dfg.into[op].iter().map(|&e| (dfg.edges[e].from, dfg.edges[e].distance));
                // Its own value an operation also reads where it is.
                for (other, distance) in out.chain(into).filter(|&(other, _)| other != op) {
                    let cycles = (cycles + distance) % 2;
                    match at[other] {
                        Some((_, known)) if known != cycles => return None,
                        Some(_) => {}
                        None => {
                            at[other] = Some((parts, cycles));
                            todo.push((other, cycles));
                        }
                    }
                }
            }
            parts += 1;
        }
        Some(Colours { at: at.into_iter().flatten().collect(), parts })
    }

    /// How many parts there are, each of which may exchange the colours.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The part of an operation.
    pub fn part(&self, op: usize) -> usize {
        self.at[op].0
    }

    /// The colour at a cycle, where its part does not exchange them, of what holds an operation's value
    /// first then.
    pub fn colour(&self, op: usize, time: i64) -> usize {
        (self.at[op].1 + time).rem_euclid(2) as usize
    }

    /// PEs of either colour that operations and their routes take at least, part by part where none
    /// exchanges colours.
    fn demand(&self, dfg: &Dfg, time: &[i64]) -> Vec<[i64; 2]> {
        let mut demand = vec![[0; 2]; self.parts];
        for op in 0..dfg.len() {
            let others = dfg.out[op].iter().filter(|&&e| dfg.edges[e].to != op);
            let life = others.map(|&e| dfg.slack(e, time, 1)).max().unwrap_or(1).max(1);
            let first = self.colour(op, time[op]);
            let demand = &mut demand[self.part(op)];
            demand[first] += (life + 1) / 2;
            demand[1 - first] += life / 2;
        }
        demand
    }

    /// Which parts exchange the colours so that neither is asked for too often, as far as one part
    /// after the other finds out.
    fn exchanged(&self, demand: &[[i64; 2]], fields: [i64; 2]) -> Vec<bool> {
        let mut parts: Vec<usize> = (0..self.parts).collect();
        parts.sort_by_key(|&part| -(demand[part][0] - demand[part][1]).abs());
        let mut exchanged = vec![false; self.parts];
        let mut left = fields;
        for part in parts {
            let [a, b] = demand[part];
            exchanged[part] = (left[0] - b).min(left[1] - a) > (left[0] - a).min(left[1] - b);
            let taken = if exchanged[part] { [b, a] } else { [a, b] };
            left = [left[0] - taken[0], left[1] - taken[1]];
        }
        exchanged
    }
}
