//! Schedules under which values live as short as before, but fewer readers have to read in the very next
//! cycle: those stand beside what they read, others are reached by a route or wait on its PE.

use super::dfg::{Dfg, Grid};
use super::random::Random;

/// Moves for each operation.
const MOVES: usize = 40;
/// What a cycle of a life costs, in readers of the next cycle.
const LIFE: i64 = 4;

/// Moves operations by a cycle as long as nothing gets worse. Dependences, orders and slots are kept.
pub fn loosen(dfg: &Dfg, grid: &Grid, ii: i64, time: &mut [i64], random: &mut Random) {
    let ports = i64::from(grid.array.memory_ports);
    let mut used = vec![[0i64; 2]; ii as usize];
    let slot = |time: i64| time.rem_euclid(ii) as usize;
    for (op, &time) in time.iter().enumerate() {
        used[slot(time)][0] += 1;
        used[slot(time)][1] += i64::from(dfg.is_memory[op]);
    }
    for _ in 0..MOVES * dfg.len() {
        let op = random.below(dfg.len());
        let by = if random.chance(128) { 1 } else { -1 };
        let (from, to) = (slot(time[op]), slot(time[op] + by));
        let is_memory = i64::from(dfg.is_memory[op]);
        let is_full = used[to][0] >= grid.pes as i64 || used[to][1] + is_memory > ports;
        if from != to && is_full {
            continue;
        }
        let before = cost(dfg, ii, time, op);
        time[op] += by;
        if keeps(dfg, ii, time, op) && cost(dfg, ii, time, op) <= before {
            used[from] = [used[from][0] - 1, used[from][1] - is_memory];
            used[to] = [used[to][0] + 1, used[to][1] + is_memory];
        } else {
            time[op] -= by;
        }
    }
}

/// Whether all that has to do with an operation comes in order.
fn keeps(dfg: &Dfg, ii: i64, time: &[i64], op: usize) -> bool {
    let edges = dfg.out[op].iter().chain(&dfg.into[op]).map(|&e| &dfg.edges[e]);
    let orders = dfg.orders_out[op].iter().chain(&dfg.orders_into[op]).map(|&o| &dfg.orders[o]);
    edges.chain(orders).all(|e| time[e.to] + e.distance * ii > time[e.from])
}

/// What the lives of an operation's value and of those that it reads cost, and its tight edges.
fn cost(dfg: &Dfg, ii: i64, time: &[i64], op: usize) -> i64 {
    let sources = dfg.into[op].iter().map(|&e| dfg.edges[e].from).filter(|&value| value != op);
    let mut values: Vec<usize> = sources.chain([op]).collect();
    values.sort_unstable();
    values.dedup();
    let life = |&value: &usize| {
        let cycles = dfg.out[value].iter().map(|&e| dfg.slack(e, time, ii));
        cycles.max().unwrap_or(0)
    };
    let lives: i64 = values.iter().map(life).sum();
    let edges = dfg.out[op].iter().chain(&dfg.into[op]);
    LIFE * lives + edges.filter(|&&e| dfg.slack(e, time, ii) == 1).count() as i64
}
