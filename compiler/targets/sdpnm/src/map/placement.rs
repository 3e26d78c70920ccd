//! What the steps of mapping hand to each other: operations and routes with their PEs and times, in
//! the numbers of the [`Dfg`]; and how it becomes a [`Mapping`] of the graph.

use std::collections::BTreeMap;

use nbcc_isa_sdpnm::{Graph, Holder, Mapping, Route, Spot};

use super::dfg::{Dfg, Grid};

/// What is known of an interval after a search.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A mapping.
    Placed(Placement),
    /// There is none.
    Impossible,
    /// Time, effort or memory ran out.
    Unknown,
    /// It takes more work than is left for the program, at longer intervals as well.
    TooMuch,
}

/// Where a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hop {
    /// Where it was computed.
    Producer,
    /// At a carrier, by its number.
    Carrier(usize),
}

/// A route of a value.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    /// The operation whose value it is.
    pub value: usize,
    /// Its PE.
    pub pe: usize,
    /// Its cycle in the value's iteration.
    pub time: i64,
    /// Where it reads.
    pub from: Hop,
}

/// A graph on an array at an interval.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The initiation interval.
    pub ii: i64,
    /// The cycle of each operation in iteration 0.
    pub time: Vec<i64>,
    /// The PE of each operation.
    pub pe: Vec<usize>,
    /// All routes.
    pub carriers: Vec<Carrier>,
    /// Where the consumer of each edge reads.
    pub via: Vec<Hop>,
}

impl Placement {
    /// Finds for every reader a holder that it can read: of several the latest, so that values wait
    /// shortly. Carriers that nothing reads are left out.
    ///
    /// # Panics
    /// A reader has no holder in reach.
    pub fn connect(
        dfg: &Dfg,
        grid: &Grid,
        ii: i64,
        time: Vec<i64>,
        pe: Vec<usize>,
        carriers: Vec<Carrier>,
    ) -> Placement {
        let mut of_value: Vec<Vec<usize>> = vec![Vec::new(); dfg.len()];
        for (number, carrier) in carriers.iter().enumerate() {
            of_value[carrier.value].push(number);
        }
        let find = |value: usize, at: usize, when: i64| {
            let readable = |held_pe: usize, held: i64| {
                (when == held + 1 && grid.distance(held_pe, at) <= grid.radius)
                    || (when > held + 1 && held_pe == at)
            };
            let latest = of_value[value]
                .iter()
                .filter(|&&c| readable(carriers[c].pe, carriers[c].time))
                .max_by_key(|&&c| (carriers[c].time, c));
            match latest {
                Some(&carrier) => Hop::Carrier(carrier),
                None => {
                    assert!(
                        readable(pe[value], time[value]),
                        "operation {value} has a reader out of reach"
                    );
                    Hop::Producer
                }
            }
        };
        let via: Vec<Hop> = dfg
            .edges
            .iter()
            .map(|e| find(e.from, pe[e.to], time[e.to] + e.distance * ii))
            .collect();
        // Only what readers lead to is kept.
        let mut from: BTreeMap<usize, Hop> = BTreeMap::new();
        let mut todo: Vec<Hop> = via.clone();
        while let Some(hop) = todo.pop() {
            if let Hop::Carrier(number) = hop
                && !from.contains_key(&number)
            {
                let c = &carriers[number];
                let next = find(c.value, c.pe, c.time);
                from.insert(number, next);
                todo.push(next);
            }
        }
        let kept: BTreeMap<usize, usize> =
            from.keys().enumerate().map(|(new, &old)| (old, new)).collect();
        let renumber = |hop: Hop| match hop {
            Hop::Producer => Hop::Producer,
            Hop::Carrier(old) => Hop::Carrier(kept[&old]),
        };
        let carriers = from
            .iter()
            .map(|(&number, &hop)| Carrier { from: renumber(hop), ..carriers[number] })
            .collect();
        let via = via.into_iter().map(renumber).collect();
        Placement { ii, time, pe, carriers, via }
    }

    /// The mapping of `graph`, from which `dfg` was made. Times move so that none is negative.
    pub fn mapping(&self, graph: &Graph, dfg: &Dfg) -> Mapping {
        let first = self.time.iter().copied().min().unwrap_or(0);
        let spot = |pe: usize, time: i64| Spot { pe, cycle: (time - first) as u64 };
        let holder = |hop: Hop| match hop {
            Hop::Producer => Holder::Producer,
            Hop::Carrier(number) => Holder::Route(number),
        };
        let mut spots = vec![None; graph.nodes.len()];
        for (op, &node) in dfg.node.iter().enumerate() {
            spots[node] = Some(spot(self.pe[op], self.time[op]));
        }
        let mut via = vec![None; graph.edges.len()];
        for (edge, &hop) in dfg.edges.iter().zip(&self.via) {
            via[edge.edge] = Some(holder(hop));
        }
        let routes = self
            .carriers
            .iter()
            .map(|c| Route {
                value: dfg.node[c.value],
                from: holder(c.from),
                spot: spot(c.pe, c.time),
            })
            .collect();
        Mapping { ii: self.ii as u32, spots, routes, via }
    }
}
