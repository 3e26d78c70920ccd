//! Values with more readers than see one output, and operations that read more values than stand
//! around them: the intervals of which a mapping is known are reached, and no bound says too much.

#[path = "graphs/mod.rs"]
mod graphs;
#[path = "graphs/run.rs"]
mod run;

use graphs::{Plan, kernels, plans, planted, random_plan};
use nbcc_isa_sdpnm::{Array, Edge, Graph, Links, Node};
use nbcc_target_sdpnm::map::NoMapping;
use nbcc_target_sdpnm::map::broadcast;
use nbcc_target_sdpnm::map::dfg::{Dfg, Grid};
use run::{array, run, run_up_to};

fn additions(name: String, count: usize, edges: Vec<Edge>) -> Graph {
    let nodes = (0..count).map(|n| Node { id: format!("n{n}"), op: "add".into() }).collect();
    Graph { name, nodes, edges }
}

/// A value and its readers.
fn fan_out(readers: usize) -> Graph {
    let edges = (1..=readers).map(|to| Edge { from: 0, to, distance: 0 }).collect();
    additions(format!("fan_out{readers}"), readers + 1, edges)
}

/// An operation and what it reads.
fn fan_in(producers: usize) -> Graph {
    let edges = (1..=producers).map(|from| Edge { from, to: 0, distance: 0 }).collect();
    additions(format!("fan_in{producers}"), producers + 1, edges)
}

#[test]
fn a_value_is_handed_on_to_any_number_of_readers() {
    // At an interval of 1 the readers and their routes fill the array nearly in the end.
    for (links, at_one, at_two) in [(Links::Sdpnm, 44, &[57, 60, 64][..]), (Links::Mesh, 33, &[44])]
    {
        let array = array(8, 8, links);
        let at_one = (2..=at_one).step_by(3).map(|readers| (readers, 1));
        for (readers, ii) in at_one.chain(at_two.iter().map(|&readers| (readers, 2))) {
            let outcome = run(&fan_out(readers), &array, "search").expect("a mapping");
            let got = (outcome.mapping.ii, outcome.is_proved);
            assert_eq!(got, (ii, true), "{readers} readers, {links:?}");
        }
    }
}

#[test]
fn an_operation_reads_what_stands_around_it() {
    let array = array(8, 8, Links::Sdpnm);
    // From 13 values on, one more waits on the reader's PE in each slot more.
    for (producers, ii) in [(12, 1), (13, 2), (14, 3), (16, 5), (18, 7)] {
        let outcome = run(&fan_in(producers), &array, "search").expect("a mapping");
        assert_eq!((outcome.mapping.ii, outcome.is_proved), (ii, true), "{producers}");
    }
    for producers in [22, 200] {
        let error = run(&fan_in(producers), &array, "search").err();
        assert_eq!(error, Some(NoMapping::MaxIi), "{producers}");
    }
}

/// Of graphs planted with such values nearly all are mapped at the interval they were planted at.
fn planted_graphs_reach_their_mii(links: Links) {
    let array = array(8, 8, links);
    let (mut count, mut crowded, mut missed) = (0, 0, Vec::new());
    for seed in 0..40 {
        let plan = random_plan(seed);
        let routes = plan.routes.max(4).min(64 * plan.ii as usize - plan.nodes);
        let plan = Plan { hot: 1 + seed as usize % 3, nodes: plan.nodes.min(60), routes, ..plan };
        let graph = planted(&plan, &array);
        let readers = |n| graph.edges.iter().filter(|e| e.from == n && e.to != n).count();
        crowded += usize::from((0..plan.hot).any(|n| readers(n) > array.links.offsets().len()));
        let outcome = run(&graph, &array, "search").expect("a mapping");
        count += 1;
        if outcome.mapping.ii > plan.ii.max(outcome.mii.mii) {
            missed.push(graph.name);
        }
    }
    assert!(crowded * 4 >= count, "{crowded} of {count} have values to hand on");
    assert!(missed.len() * 20 <= count, "{missed:?} of {count}");
}

#[test]
fn graphs_planted_with_hot_values_reach_their_mii() {
    planted_graphs_reach_their_mii(Links::Sdpnm);
}

#[test]
fn graphs_planted_with_hot_values_on_a_mesh_reach_their_mii() {
    planted_graphs_reach_their_mii(Links::Mesh);
}

#[test]
fn bounds_hold_for_mappings_that_others_find() {
    let mut found = 0;
    for (rows, columns, links) in
        [(2, 2, Links::Mesh), (2, 3, Links::Mesh), (3, 3, Links::Mesh), (3, 3, Links::Sdpnm)]
    {
        let array = Array { registers: 2, ..array(rows, columns, links) };
        let grid = Grid::new(&array);
        for n in 2..7 {
            for graph in [fan_out(n), fan_in(n)] {
                let search = run(&graph, &array, "search");
                let Ok(sat) = run_up_to(&graph, &array, "sat", 4) else { continue };
                found += 1;
                let search = search.expect("a mapping");
                assert!(search.mapping.ii <= sat.mapping.ii, "{} on {rows}", graph.name);
                let (dfg, ii) = (Dfg::new(&graph), i64::from(sat.mapping.ii));
                let least = broadcast::least_routes(&dfg, &grid, ii);
                let routes = sat.mapping.routes.len();
                assert!(least.is_some_and(|least| least <= routes), "{}", graph.name);
                assert!(!broadcast::reads_too_many(&dfg, &grid, ii), "{}", graph.name);
            }
        }
    }
    assert!(found >= 12, "{found}");
}

#[test]
fn kernels_and_planted_graphs_are_within_the_bounds() {
    let array = array(8, 8, Links::Sdpnm);
    let grid = Grid::new(&array);
    let hot = (0..300).map(|seed| Plan { hot: 2, ..random_plan(seed) });
    for plan in plans().into_iter().chain(hot) {
        let graph = planted(&plan, &array);
        let (dfg, ii) = (Dfg::new(&graph), i64::from(plan.ii));
        let least = broadcast::least_routes(&dfg, &grid, ii);
        assert!(least.is_some_and(|least| least <= plan.routes), "{}", graph.name);
        assert!(!broadcast::reads_too_many(&dfg, &grid, ii), "{}", graph.name);
    }
    assert!(kernels().iter().all(|k| !broadcast::reads_too_many(&Dfg::new(k), &grid, 1)));
}
