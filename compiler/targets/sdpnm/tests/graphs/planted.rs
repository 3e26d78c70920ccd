//! Graphs read off a mapping that was planted first, so that their interval is known to be
//! reachable: operations and routes on random cells, then edges between what reaches what.

use nbcc_isa_sdpnm::{Array, Edge, Graph, Node};
use nbcc_target_sdpnm::map::random::Random;

/// What a planted graph is like.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// Operations.
    pub nodes: usize,
    /// The interval.
    pub ii: u32,
    /// Edges for each 16 operations.
    pub density: usize,
    /// Routes.
    pub routes: usize,
    /// Loads and stores.
    pub memory: usize,
    /// Operations on a planted recurrence as tight as the interval allows; 0 for none.
    pub recurrence: usize,
    /// Later iterations that operations may lie in, and distances that follow.
    pub stages: u32,
    /// The first so many operations have about half of all routes and edges.
    pub hot: usize,
}

#[derive(Clone, Copy)]
struct Cell {
    pe: usize,
    time: i64,
    value: usize,
}

/// The graph of a plan on an array.
pub fn planted(plan: &Plan, array: &Array) -> Graph {
    let mut random = Random::new(plan.seed);
    let ii = i64::from(plan.ii);
    let mut free = vec![true; array.pes() * plan.ii as usize];
    let mut cells: Vec<Cell> = Vec::new();
    let mut edges: Vec<Edge> = Vec::new();
    let take = |free: &mut Vec<bool>, pe: usize, time: i64| {
        let cell = time.rem_euclid(ii) as usize * array.pes() + pe;
        std::mem::replace(&mut free[cell], false)
    };
    // A closed walk of neighbours, a cycle a step.
    for _ in 0..1000 {
        if plan.recurrence == 0 || !cells.is_empty() {
            break;
        }
        let mut tried = free.clone();
        let mut walk: Vec<Cell> = Vec::new();
        let mut pe = random.below(array.pes());
        for step in 0..plan.recurrence {
            if !take(&mut tried, pe, step as i64) {
                walk.clear();
                break;
            }
            walk.push(Cell { pe, time: step as i64, value: step });
            let near: Vec<usize> = array.sources(pe).collect();
            pe = near[random.below(near.len())];
        }
        if walk.last().is_some_and(|last| array.reads(walk[0].pe, last.pe)) {
            free = tried;
            let length = walk.len();
            for from in 0..length {
                let to = (from + 1) % length;
                let distance = if to == 0 { (length as u32).div_ceil(plan.ii) } else { 0 };
                edges.push(Edge { from, to, distance });
            }
            // Where the length is no multiple of the interval, the last step waits on its PE.
            if length as i64 % ii != 0 && walk[0].pe != walk[length - 1].pe {
                edges.pop();
            }
            cells = walk;
        }
    }
    while cells.len() < plan.nodes {
        let pe = random.below(array.pes());
        let time = random.below((ii * i64::from(plan.stages + 1)) as usize) as i64;
        if take(&mut free, pe, time) {
            cells.push(Cell { pe, time, value: cells.len() });
        }
    }
    let source = |cells: &[Cell], random: &mut Random| {
        let hot: Vec<Cell> = match plan.hot > 0 && random.chance(128) {
            true => cells.iter().copied().filter(|cell| cell.value < plan.hot).collect(),
            false => Vec::new(),
        };
        let among = if hot.is_empty() { cells } else { &hot };
        among[random.below(among.len())]
    };
    let mut routes = 0;
    for _ in 0..plan.routes * 50 {
        if routes == plan.routes {
            break;
        }
        let from = source(&cells, &mut random);
        let near: Vec<usize> = array.sources(from.pe).collect();
        let pe = near[random.below(near.len())];
        if take(&mut free, pe, from.time + 1) {
            cells.push(Cell { pe, time: from.time + 1, value: from.value });
            routes += 1;
        }
    }
    let wanted = plan.nodes * plan.density / 16 + edges.len();
    for _ in 0..wanted * 200 {
        if edges.len() >= wanted {
            break;
        }
        let from = source(&cells, &mut random);
        let to = random.below(plan.nodes);
        let reader = cells[to];
        // Read in the next cycle, or on the same PE later.
        let wait = from.time + 1 - reader.time;
        let next = wait.rem_euclid(ii) == 0 && array.reads(reader.pe, from.pe);
        let distance = if next {
            wait.div_euclid(ii)
        } else if reader.pe == from.pe {
            wait.div_euclid(ii) + 1
        } else {
            continue;
        };
        if distance < 0 {
            continue;
        }
        let edge = Edge { from: from.value, to, distance: distance as u32 };
        if !edges.contains(&edge) && (edge.from != to || plan.ii > 1) {
            edges.push(edge);
        }
    }
    let nodes = (0..plan.nodes)
        .map(|n| Node { id: format!("n{n}"), op: if n % 2 == 0 { "add" } else { "mul" }.into() })
        .collect();
    let mut graph = Graph { name: format!("planted{}", plan.seed), nodes, edges };
    let mut used = vec![0; plan.ii as usize];
    let mut memory = 0;
    for n in 0..plan.nodes {
        let node = plan.nodes - 1 - n;
        let slot = cells[node].time.rem_euclid(ii) as usize;
        if memory < plan.memory && used[slot] < array.memory_ports {
            used[slot] += 1;
            memory += 1;
            graph.nodes[node].op = "load".into();
        }
    }
    graph
}
