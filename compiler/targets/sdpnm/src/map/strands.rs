//! A schedule at an interval of 1 as a net to embed: a PE does one thing there, so that a value goes to its
//! readers in strands of routes, one or more for each cycle it lives, and every operation and route stands
//! beside one that holds its value in the cycle before. Where the net has an embedding (`embed.rs`) it is a
//! mapping.

use super::broadcast::{Surroundings, distinct_readers};
use super::colours::{self, Painted};
use super::dfg::{Dfg, Grid};
use super::embed::Net;
use super::placement::{Carrier, Hop, Placement};
use super::random::Random;

/// Operations, and behind them routes, with who must be beside whom.
pub struct Strands {
    /// The net of them.
    pub net: Net,
    time: Vec<i64>,
    /// Value and time of each route.
    routes: Vec<(usize, i64)>,
    /// The vertex that the consumer of each edge reads, or one of them; `None` where that says nothing.
    read: Vec<Option<usize>>,
}

/// How readers are shared out among several routes of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each has its route.
    Fixed,
    /// It depends on the embedding.
    Open,
}

impl Strands {
    /// The strands of a schedule. `spare` are routes, beyond the fewest, of which some are taken where a value
    /// has several dependents.
    pub fn new(
        dfg: &Dfg,
        grid: &Grid,
        time: Vec<i64>,
        spare: i64,
        sharing: Sharing,
        random: &mut Random,
    ) -> Strands {
        let net = Net { neighbours: vec![Vec::new(); dfg.len()], ..Net::default() };
        let read = vec![None; dfg.edges.len()];
        let mut strands = Strands { net, time, routes: Vec::new(), read };
        let mut spare = spare;
        for value in 0..dfg.len() {
            strands.hand_on(dfg, grid, value, &mut spare, sharing, random);
        }
        strands.paint(dfg, grid);
        strands
    }

    /// Adds the routes of a value.
    fn hand_on(
        &mut self,
        dfg: &Dfg,
        grid: &Grid,
        value: usize,
        spare: &mut i64,
        sharing: Sharing,
        random: &mut Random,
    ) {
        let edges = distinct_readers(dfg, value);
        let cycles: Vec<i64> = edges.iter().map(|&e| dfg.slack(e, &self.time, 1)).collect();
        let around = Surroundings::new(dfg, grid, value);
        let copies = copies(&cycles, around, spare, random);
        // Who holds the value in a cycle, and beside how many more each may be.
        let mut holders = vec![(value, around.seats)];
        for (cycle, &copies) in (1..).zip(&copies) {
            let routes: Vec<(usize, i64)> =
                (self.net.neighbours.len()..).take(copies).map(|r| (r, around.of_route)).collect();
            for &(route, _) in &routes {
                self.routes.push((value, self.time[value] + cycle));
                self.net.neighbours.push(Vec::new());
                self.read_one_of(&mut holders, route, sharing, random);
            }
            for (&e, _) in edges.iter().zip(&cycles).filter(|&(_, &read)| read == cycle) {
                let from = self.read_one_of(&mut holders, dfg.edges[e].to, sharing, random);
                self.read[e] = Some(from);
            }
            holders = routes;
        }
    }

    /// Puts a reader beside one of those who hold its value, mostly the one that has most room.
    fn read_one_of(
        &mut self,
        holders: &mut [(usize, i64)],
        reader: usize,
        sharing: Sharing,
        random: &mut Random,
    ) -> usize {
        let count = holders.len();
        if count > 1 && sharing == Sharing::Open {
            self.net.either.push((reader, holders.iter().map(|holder| holder.0).collect()));
            return holders[0].0;
        }
        let start = random.below(count);
        let order = (0..count).map(|i| (i + start) % count);
        let at = order.max_by_key(|&i| holders[i].1).unwrap_or(0);
        holders[at].1 -= 1;
        let holder = holders[at].0;
        if holder != reader && !self.net.neighbours[holder].contains(&reader) {
            self.net.neighbours[holder].push(reader);
            self.net.neighbours[reader].push(holder);
        }
        holder
    }

    /// Says on which PEs each vertex may stand: those of its colour where they have colours.
    fn paint(&mut self, dfg: &Dfg, grid: &Grid) {
        let painted = Painted::new(dfg, grid, 1, &self.time);
        let operations = self.time.iter().copied().enumerate();
        self.net.allowed = operations
            .chain(self.routes.iter().copied())
            .map(|(value, time)| {
                let is_right = |&pe: &usize| {
                    let colour = painted.as_ref().map(|painted| painted.colour(value, time));
                    colour.is_none_or(|colour| colour == colours::of_pe(grid, pe))
                };
                (0..grid.pes).filter(is_right).collect()
            })
            .collect();
    }

    /// How often what has to do with an edge found no PE, given that of each vertex.
    pub fn blame(&self, dfg: &Dfg, edge: usize, weights: &[u32]) -> u32 {
        let e = &dfg.edges[edge];
        let of = |vertex: usize| weights[vertex];
        if e.from == e.to { 0 } else { of(e.from) + of(e.to) + self.read[edge].map_or(0, of) }
    }

    /// The mapping that an embedding of the net is.
    pub fn placement(&self, dfg: &Dfg, grid: &Grid, pes: &[usize]) -> Placement {
        let n = dfg.len();
        let routes = self.routes.iter().zip(&pes[n..]);
        let carriers = routes
            .map(|(&(value, time), &pe)| Carrier { value, pe, time, from: Hop::Producer })
            .collect();
        Placement::connect(dfg, grid, 1, self.time.clone(), pes[..n].to_vec(), carriers)
    }
}

/// Routes of a value for each cycle of its life, the last of which has none, given after how many cycles
/// it is read: the fewest, and some of those to spare.
fn copies(
    cycles: &[i64],
    around: Surroundings,
    spare: &mut i64,
    random: &mut Random,
) -> Vec<usize> {
    let life = cycles.iter().copied().max().unwrap_or(0).max(0) as usize;
    let readers = |cycle: usize| cycles.iter().filter(|&&c| c as usize == cycle).count() as i64;
    let mut copies = vec![0i64; life + 2];
    let next = |copies: &[i64], cycle: usize| readers(cycle + 1) + copies[cycle + 1];
    for cycle in (1..life).rev() {
        let fan = around.of_new_route.max(1);
        copies[cycle] = ((next(&copies, cycle) + fan - 1) / fan).max(1);
    }
    for cycle in 1..life {
        let seats = if cycle == 1 { around.seats } else { copies[cycle - 1] * around.of_route };
        let is_room = seats > readers(cycle) + copies[cycle];
        if *spare > 0 && is_room && next(&copies, cycle) > copies[cycle] && random.chance(64) {
            copies[cycle] += 1;
            *spare -= 1;
        }
    }
    (1..=life).map(|cycle| copies[cycle] as usize).collect()
}
