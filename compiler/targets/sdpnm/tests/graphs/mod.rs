//! Graphs to map: kernels, and graphs with a planted mapping.

mod kernels;
mod planted;

pub use kernels::kernels;
use nbcc_target_sdpnm::map::random::Random;
pub use planted::{Plan, planted};

/// The planted graphs on 8x8 PEs, ten of each kind: sparse and dense, with the array nearly full or
/// room for routes, with recurrences, with memory as the limit.
pub fn plans() -> Vec<Plan> {
    // operations, interval, edges for 16 operations, routes, memory, recurrence
    let kinds = [
        (12, 1, 20, 6, 4, 0),
        (30, 1, 24, 20, 8, 0),
        (40, 1, 32, 16, 16, 0),
        (50, 1, 24, 10, 10, 0),
        (60, 1, 20, 4, 12, 0),
        (60, 1, 24, 2, 16, 0),
        (40, 2, 28, 20, 30, 0),
        (60, 2, 24, 30, 32, 0),
        (50, 3, 24, 20, 10, 9),
        (60, 4, 32, 30, 20, 16),
        (60, 2, 36, 40, 12, 8),
    ];
    let of_kind = |(kind, shape): (usize, (usize, u32, usize, usize, usize, usize))| {
        let (nodes, ii, density, routes, memory, recurrence) = shape;
        (0..10).map(move |number| Plan {
            seed: 10 * kind as u64 + number,
            nodes,
            ii,
            density,
            routes,
            memory,
            recurrence,
            stages: 2,
            hot: 0,
        })
    };
    kinds.into_iter().enumerate().flat_map(of_kind).collect()
}

/// A planted graph of random size, density, recurrence and use of memory on 8x8 PEs: up to 64
/// operations, intervals up to 4.
pub fn random_plan(seed: u64) -> Plan {
    let mut random = Random::new(seed);
    let ii = 1 + random.below(4) as u32;
    let nodes = 8 + random.below(57);
    let recurrence = if random.chance(128) { 0 } else { 1 + random.below(8) };
    Plan {
        seed,
        nodes,
        ii,
        density: 12 + random.below(29),
        routes: random.below(1 + nodes / 2).min((64 * ii as usize - nodes) / 2),
        memory: random.below(17),
        recurrence: recurrence.min(nodes),
        stages: random.below(3) as u32,
        hot: 0,
    }
}
