//! Schedules at intervals of more than 1: what makes them easier to place, and graphs that only many of them
//! place soon.

#[path = "graphs/mod.rs"]
mod graphs;
#[path = "graphs/intervals.rs"]
mod intervals;
#[path = "graphs/run.rs"]
mod run;

use std::time::Duration;

use graphs::{Plan, kernels, plans, planted, random_plan};
use intervals::{above_mii, is_mapped_alike};
use nbcc_isa_sdpnm::{Array, Links};
use nbcc_target_sdpnm::map::budget::Budget;
use nbcc_target_sdpnm::map::dfg::{Dfg, Grid};
use nbcc_target_sdpnm::map::loosen::loosen;
use nbcc_target_sdpnm::map::mii::mii;
use nbcc_target_sdpnm::map::random::Random;
use nbcc_target_sdpnm::map::schedule::{Preferences, schedule};
use run::array;

/// Cycles of all lives, and edges whose consumer reads in the next cycle.
fn lives_and_tight(dfg: &Dfg, ii: i64, time: &[i64]) -> (i64, i64) {
    let life = |op: usize| dfg.out[op].iter().map(|&e| dfg.slack(e, time, ii)).max().unwrap_or(0);
    let tight = (0..dfg.edges.len()).filter(|&e| dfg.slack(e, time, ii) == 1).count();
    ((0..dfg.len()).map(life).sum(), tight as i64)
}

#[test]
fn a_loosened_schedule_is_a_schedule_with_fewer_tight_edges() {
    let array = Array { memory_ports: 12, ..array(8, 8, Links::Mesh) };
    let grid = Grid::new(&array);
    let budget = Budget::new(Duration::from_secs(60));
    let plan = |seed| Plan { ii: 3, memory: 10, recurrence: 0, ..random_plan(seed) };
    let random = (0..40).map(|seed| planted(&plan(seed), &array));
    let mut fewer = 0;
    for (seed, graph) in random.chain(kernels()).enumerate() {
        let dfg = Dfg::new(&graph);
        let ii = i64::from(mii(&dfg, &array).mii.max(2));
        let mut random = Random::new(seed as u64);
        let none = Preferences::none(&dfg);
        let time = schedule(&dfg, &grid, ii, &none, &[], &budget, &mut random).expect("a schedule");
        let mut loose = time.clone();
        loosen(&dfg, &grid, ii, &mut loose, &mut random);
        assert!((0..dfg.edges.len()).all(|e| dfg.slack(e, &loose, ii) > 0), "{}", graph.name);
        for slot in 0..ii {
            let there = (0..dfg.len()).filter(|&op| loose[op].rem_euclid(ii) == slot);
            let memory = there.clone().filter(|&op| dfg.is_memory[op]).count();
            assert!(there.count() <= grid.pes && memory <= 12, "{}", graph.name);
        }
        let (before, after) = (lives_and_tight(&dfg, ii, &time), lives_and_tight(&dfg, ii, &loose));
        assert!(4 * after.0 + after.1 <= 4 * before.0 + before.1, "{before:?} {after:?}");
        fewer += usize::from(after.1 < before.1);
    }
    assert!(fewer > 20, "{fewer}");
}

/// Sixty operations that fill half of a mesh, with more than two edges each.
fn dense() -> Vec<Plan> {
    plans().into_iter().filter(|plan| plan.ii == 4).collect()
}

#[test]
fn dense_graphs_on_a_mesh_reach_their_mii() {
    let array = array(8, 8, Links::Mesh);
    let missed = above_mii(dense().iter().map(|plan| planted(plan, &array)), &array);
    assert!(missed.len() <= 1, "{missed:?}");
}

#[test]
fn the_same_graph_has_the_same_mapping() {
    let array = array(8, 8, Links::Mesh);
    for plan in &dense()[..4] {
        is_mapped_alike(&planted(plan, &array), &array);
    }
}
