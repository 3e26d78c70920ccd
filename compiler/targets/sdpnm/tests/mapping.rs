//! The mapper on kernels and on graphs with a planted mapping: every mapping passes the checker, the
//! checker finds faults, and exact mappers agree with the search where they can.

#[path = "graphs/mod.rs"]
mod graphs;
#[path = "graphs/run.rs"]
mod run;

use std::time::Duration;

use graphs::{Plan, kernels, plans, planted, random_plan};
use nbcc_isa_sdpnm::{Array, Edge, Graph, Links, Mapping, Node, check};
use nbcc_target_sdpnm::map::dfg::{Dep, Dfg, Grid};
use nbcc_target_sdpnm::map::mappers::{MAPPERS, find};
use nbcc_target_sdpnm::map::random::Random;
use nbcc_target_sdpnm::map::{Effort, Known, Outcome, Request, map_with, mii, windows};
use run::{array, checked, run};

#[test]
fn kernels_reach_their_mii() {
    let mut missed = Vec::new();
    let all = kernels();
    for graph in &all {
        let outcome = run(graph, &array(8, 8, Links::Sdpnm), "search").expect("a mapping");
        if outcome.mapping.ii != outcome.mii.mii && !outcome.is_proved {
            missed.push(graph.name.clone());
        }
    }
    assert!(missed.len() * 20 <= all.len(), "{missed:?}");
}

/// Maps planted graphs; all but a share of them must reach their MII.
fn reach_mii(plans: impl Iterator<Item = Plan>, links: Links, one_in: usize) {
    let array = array(8, 8, links);
    let (mut count, mut missed) = (0, Vec::new());
    for plan in plans {
        let graph = planted(&plan, &array);
        let outcome = run(&graph, &array, "search").expect("a mapping");
        count += 1;
        if outcome.mapping.ii != outcome.mii.mii {
            missed.push(graph.name);
        }
    }
    assert!(count >= 10 && missed.len() * one_in <= count, "{missed:?} of {count}");
}

#[test]
fn planted_graphs_reach_their_mii() {
    let plans = plans();
    assert!(plans.len() + kernels().len() >= 150);
    // Some of each kind; examples/table.rs runs all of them.
    let plans = plans.into_iter().filter(|plan| plan.seed % 5 == 0 && plan.nodes <= 50);
    reach_mii(plans, Links::Sdpnm, 10);
}

#[test]
fn graphs_planted_at_random_reach_their_mii() {
    reach_mii((0..60).map(random_plan), Links::Sdpnm, 20);
}

/// Of one cycle and many operations, so that few schedules can be placed.
#[test]
fn graphs_planted_on_a_mesh_reach_their_mii() {
    let tight = |plan: &Plan| plan.ii == 1 && plan.nodes >= 20;
    reach_mii((0..160).map(random_plan).filter(tight), Links::Mesh, 20);
}

/// On a mesh, at an interval of 1, a value changes colours as on a chess board with each cycle: what it
/// comes to by two ways must be as far by both, but for an even number of cycles.
#[test]
fn values_that_come_by_an_odd_cycle_do_not_fit_a_mesh_at_an_interval_of_one() {
    let nodes = |count| (0..count).map(|n| Node { id: format!("n{n}"), op: "add".into() });
    let ring = |count: usize, distance: u32| {
        let way = |n| Edge { from: n, to: n + 1, distance: 0 };
        let other = Edge { from: 0, to: count - 1, distance };
        let edges = (0..count - 1).map(way).chain([other]).collect();
        Graph { name: format!("ring{count}_{distance}"), nodes: nodes(count).collect(), edges }
    };
    for (count, distance) in [(2, 1), (3, 1), (3, 3), (2, 2), (3, 2), (4, 2)] {
        let graph = ring(count, distance);
        let outcome = run(&graph, &array(8, 8, Links::Mesh), "search").unwrap();
        assert_eq!(outcome.mapping.ii, 1 + distance % 2, "{}", graph.name);
        assert!(outcome.is_proved, "{}", graph.name);
        if distance % 2 == 1 {
            // SAT is told no colours where these contradict each other.
            let small = run(&graph, &array(2, 3, Links::Mesh), "sat").unwrap();
            assert!(small.mapping.ii > 1, "{}", graph.name);
        }
        let near = run(&graph, &array(8, 8, Links::Sdpnm), "search").unwrap();
        assert_eq!(near.mapping.ii, 1, "{}", graph.name);
    }
}

#[test]
fn every_size_and_kind_of_array_is_mapped_on() {
    let graph = kernels().into_iter().find(|g| g.name == "biquad2_direct").expect("a kernel");
    for (rows, columns) in [(2, 2), (2, 5), (3, 3), (4, 4), (16, 2), (16, 16)] {
        for (_, links) in Links::ALL {
            let array = Array { registers: 4, memory_ports: 2, ..array(rows, columns, links) };
            run(&graph, &array, "search").expect("a mapping");
        }
    }
}

/// Who waits longer gets no longer interval.
#[test]
fn patience_is_worth_something() {
    let array = array(8, 8, Links::Mesh);
    for plan in (0..300).map(random_plan).filter(|plan| plan.ii == 1 && plan.nodes >= 50) {
        let graph = planted(&plan, &array);
        let usual = run(&graph, &array, "search").expect("a mapping");
        let (max_ii, time_limit) = (usual.mapping.ii, Duration::from_secs(20));
        let mapper = find("search").expect("a mapper");
        let request =
            Request { array: &array, max_ii, time_limit, effort: Effort::Patient, mapper };
        checked(&graph, &request).unwrap_or_else(|why| panic!("{}: {why:?}", graph.name));
    }
}

#[test]
fn the_same_graph_gives_the_same_mapping() {
    let graph = planted(&plans()[3], &array(8, 8, Links::Sdpnm));
    let [a, b] = [(); 2].map(|()| run(&graph, &array(8, 8, Links::Sdpnm), "search").unwrap());
    assert_eq!(a.mapping, b.mapping);
}

/// A graph of a few random operations.
fn small(seed: u64) -> Graph {
    let mut random = Random::new(seed);
    let n = 2 + random.below(4);
    let ops = ["add", "load", "store", "mul"];
    let nodes = (0..n).map(|i| Node { id: format!("{i}"), op: ops[random.below(4)].into() });
    let mut graph = Graph { name: format!("small{seed}"), nodes: nodes.collect(), edges: vec![] };
    for _ in 0..n + random.below(n) {
        let (from, to) = (random.below(n), random.below(n));
        let distance = u32::from(from >= to) + random.below(2) as u32;
        graph.edges.push(Edge { from, to, distance });
    }
    graph
}

#[test]
fn exact_mappers_agree_with_the_search() {
    let array = Array { registers: 2, ..array(2, 2, Links::Mesh) };
    let mut proved = 0;
    for seed in 0..12 {
        let graph = small(seed);
        let search = run(&graph, &array, "search").expect("a mapping");
        let sat = run(&graph, &array, "sat").expect("a mapping");
        if sat.is_proved {
            proved += 1;
            assert!(search.mapping.ii >= sat.mapping.ii, "{}", graph.name);
            assert_eq!(search.mapping.ii, sat.mapping.ii, "{}", graph.name);
        }
        // The program places one schedule only, so that it may need a longer interval.
        let ilp = run(&graph, &array, "ilp").expect("a mapping");
        assert!(!search.is_proved || ilp.mapping.ii >= search.mapping.ii, "{}", graph.name);
    }
    assert!(proved >= 6, "{proved}");
}

/// On an array where a chain has more schedules than can be looked at.
#[test]
fn every_mapper_maps_a_chain() {
    let nodes = (0..4).map(|n| Node { id: format!("n{n}"), op: "add".into() }).collect();
    let edges = (0..3).map(|n| Edge { from: n, to: n + 1, distance: 0 }).collect();
    let chain = Graph { name: "chain".into(), nodes, edges };
    for mapper in MAPPERS {
        let outcome = run(&chain, &array(8, 8, Links::Sdpnm), mapper.name).expect("a mapping");
        assert_eq!(outcome.mapping.ii, 1, "{}", mapper.name);
    }
}

#[test]
fn windows_hold_every_mapping() {
    let array = Array { registers: 2, ..array(2, 2, Links::Sdpnm) };
    for seed in 0..30 {
        let graph = small(seed);
        let outcome = run(&graph, &array, "search").expect("a mapping");
        let dfg = Dfg::new(&graph);
        let ii = i64::from(outcome.mapping.ii);
        let Some(windows) = windows::all(&dfg, &Grid::new(&array), ii) else { continue };
        let time = |op: usize| outcome.mapping.spots[dfg.node[op]].unwrap().cycle as i64;
        // Parts are fixed to an iteration by one operation each: widths say what holds of all.
        for e in &dfg.edges {
            let apart = time(e.to) - time(e.from);
            let (from, to) = (&windows[e.from], &windows[e.to]);
            assert!(apart < to.end - from.start && apart > to.start - from.end, "{}", graph.name);
        }
    }
}

/// RecMII by trying all cycles.
fn rec_by_force(dfg: &Dfg) -> u32 {
    fn walk(dfg: &Dfg, first: usize, at: usize, path: &mut Vec<usize>, best: &mut u32) {
        for &e in &dfg.out[at] {
            let to = dfg.edges[e].to;
            path.push(e);
            if to == first {
                let distance: i64 = path.iter().map(|&e| dfg.edges[e].distance).sum();
                *best = (*best).max((path.len() as u64).div_ceil(distance as u64) as u32);
            } else if to > first && !path[..path.len() - 1].iter().any(|&p| dfg.edges[p].to == to) {
                walk(dfg, first, to, path, best);
            }
            path.pop();
        }
    }
    let mut best = 0;
    for first in 0..dfg.len() {
        walk(dfg, first, first, &mut Vec::new(), &mut best);
    }
    best
}

#[test]
fn rec_mii_is_that_of_the_worst_cycle() {
    let array = array(8, 8, Links::Sdpnm);
    for seed in 0..300 {
        let graph = small(seed);
        let dfg = Dfg::new(&graph);
        let mii = mii::mii(&dfg, &array);
        assert_eq!(mii.rec, rec_by_force(&dfg), "{}", graph.name);
        let length = mii.cycle.len() as u64;
        if length > 0 {
            assert_eq!(length.div_ceil(mii.cycle_distance) as u32, mii.rec);
        }
        for (at, &op) in mii.cycle.iter().enumerate() {
            let next = mii.cycle[(at + 1) % mii.cycle.len()];
            assert!(dfg.out[op].iter().any(|&e| dfg.edges[e].to == next), "{}", graph.name);
        }
    }
}

/// The edges of a graph of which every third is an order instead, and these orders.
fn split(graph: &Graph) -> (Graph, Vec<Dep>) {
    let (mut edges, mut orders) = (Vec::new(), Vec::new());
    for (number, e) in graph.edges.iter().enumerate() {
        match number % 3 {
            0 => orders.push(Dep { from: e.from, to: e.to, distance: e.distance.into(), edge: 0 }),
            _ => edges.push(*e),
        }
    }
    (Graph { edges, ..graph.clone() }, orders)
}

#[test]
fn orders_bound_intervals_as_values_do() {
    let array = array(8, 8, Links::Sdpnm);
    for seed in 0..300 {
        let graph = small(seed);
        let (fewer, orders) = split(&graph);
        let dfg = Dfg::new(&fewer).ordered(orders);
        assert_eq!(mii::mii(&dfg, &array).rec, rec_by_force(&Dfg::new(&graph)), "{}", graph.name);
    }
}

/// Maps a graph whose operations also come in order, and looks whether they do.
fn run_in_order(graph: &Graph, array: &Array, orders: &[Dep]) -> Outcome {
    let request = Request {
        array,
        max_ii: 64,
        time_limit: Duration::from_secs(60),
        effort: Effort::Rounds(4),
        mapper: find("search").expect("a mapper"),
    };
    let known = Known { orders: orders.to_vec(), ..Known::default() };
    let outcome = map_with(graph, &request, known).expect("a mapping");
    assert_eq!(check(graph, array, &outcome.mapping), Ok(()), "{}", graph.name);
    let cycle = |node: usize| outcome.mapping.spots[node].unwrap().cycle as i64;
    let ii = i64::from(outcome.mapping.ii);
    let holds = |o: &Dep| cycle(o.to) + o.distance * ii > cycle(o.from);
    assert!(orders.iter().all(holds), "{}", graph.name);
    outcome
}

#[test]
fn operations_come_in_order() {
    // Small ones are searched by who does not look at orders first.
    for array in [array(2, 2, Links::Sdpnm), array(8, 8, Links::Sdpnm)] {
        for seed in 0..60 {
            let (graph, orders) = split(&small(seed));
            run_in_order(&graph, &array, &orders);
        }
    }
}

#[test]
fn orders_take_no_routes() {
    let store = |number: usize| Node { id: format!("s{number}"), op: "store".into() };
    let nodes = (0..48).map(store).collect();
    let graph = Graph { name: "stores".into(), nodes, edges: vec![] };
    let pairs = (0..48).flat_map(|to| (0..to).map(move |from| (from, to)));
    let within = pairs.map(|(from, to)| Dep { from, to, distance: 0, edge: 0 });
    let orders: Vec<Dep> = within.chain([Dep { from: 47, to: 0, distance: 8, edge: 0 }]).collect();
    let outcome = run_in_order(&graph, &array(8, 8, Links::Sdpnm), &orders);
    assert_eq!((outcome.mapping.ii, outcome.mapping.routes.len()), (6, 0));
}

/// Changes one thing; `None` where that is no fault.
fn damage(
    graph: &Graph,
    array: &Array,
    mapping: &Mapping,
    random: &mut Random,
) -> Option<(Mapping, Array)> {
    let (mut bad, mut array) = (mapping.clone(), array.clone());
    let placed: Vec<usize> = (0..bad.spots.len()).filter(|&n| bad.spots[n].is_some()).collect();
    let node = placed[random.below(placed.len())];
    match random.below(5) {
        0 => {
            // Onto the cell of another.
            let other = placed[random.below(placed.len())];
            let spot = bad.spots[other]?;
            bad.spots[node].as_mut()?.pe = spot.pe;
            bad.spots[node].as_mut()?.cycle = spot.cycle;
            (other != node).then_some((bad, array))
        }
        1 => {
            // Before what it reads.
            let edge =
                graph.edges.iter().find(|e| e.to == node && e.from != node && e.distance == 0)?;
            bad.spots[edge.from]?;
            bad.spots[node].as_mut()?.cycle = bad.spots[edge.from]?.cycle;
            Some((bad, array))
        }
        2 => {
            // Out of reach of what it reads, in the far corner.
            let edge = (0..graph.edges.len())
                .find(|&e| graph.edges[e].to == node && bad.via[e].is_some())?;
            let spot = bad.spots[node]?;
            let (row, column) = array.position(spot.pe);
            let far = array.pe((row + 4) % array.rows, (column + 4) % array.columns);
            bad.spots[node].as_mut()?.pe = far;
            (graph.edges[edge].from != node).then_some((bad, array))
        }
        3 => {
            array.memory_ports = 0;
            placed.iter().any(|&n| graph.nodes[n].is_memory()).then_some((bad, array))
        }
        _ => {
            // A value that waits without a register.
            array.registers = 0;
            let waits = graph.edges.iter().zip(&bad.via).any(|(edge, via)| {
                let Some(via) = via else { return false };
                let held = match via {
                    nbcc_isa_sdpnm::Holder::Producer => bad.spots[edge.from].unwrap().cycle,
                    nbcc_isa_sdpnm::Holder::Route(r) => bad.routes[*r].spot.cycle,
                };
                let read = bad.spots[edge.to].unwrap().cycle
                    + u64::from(edge.distance) * u64::from(bad.ii);
                read > held + 1
            });
            waits.then_some((bad, array))
        }
    }
}

#[test]
fn the_checker_finds_a_planted_fault() {
    let array = array(8, 8, Links::Sdpnm);
    let mut random = Random::new(5);
    let mut found = [0; 2];
    for graph in kernels().iter().step_by(2) {
        let good = run(graph, &array, "search").expect("a mapping").mapping;
        for _ in 0..40 {
            if let Some((bad, array)) = damage(graph, &array, &good, &mut random) {
                let wrong = check(graph, &array, &bad).is_err();
                found[usize::from(wrong)] += 1;
                assert!(wrong, "{}: {bad:?}", graph.name);
            }
        }
    }
    assert!(found[1] > 200, "{found:?}");
}

#[test]
fn mappers_have_names_of_their_own() {
    for mapper in MAPPERS {
        assert!(std::ptr::eq(find(mapper.name).expect("a mapper"), mapper));
    }
}
