//! Graphs to map: kernels, and graphs with a planted mapping.

mod kernels;
mod planted;

pub use kernels::kernels;
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
        })
    };
    kinds.into_iter().enumerate().flat_map(of_kind).collect()
}
