//! Embeddings of nets in arrays, and schedules at an interval of 1 that they place.

#[path = "graphs/mod.rs"]
mod graphs;
#[path = "graphs/intervals.rs"]
mod intervals;
#[path = "graphs/run.rs"]
mod run;

use std::time::Duration;

use graphs::{Plan, kernels, plans, planted, random_plan};
use intervals::{above_mii, is_mapped_alike};
use nbcc_isa_sdpnm::{Array, Graph, Links};
use nbcc_target_sdpnm::map::budget::Budget;
use nbcc_target_sdpnm::map::dfg::Grid;
use nbcc_target_sdpnm::map::embed::{Embedding, Net, embed};
use nbcc_target_sdpnm::map::mappers::MAPPERS;
use nbcc_target_sdpnm::map::random::Random;
use nbcc_target_sdpnm::map::{Effort, Request};
use run::{array, checked};

/// A net with an embedding: the vertices stand on random PEs, edges and choices join some that are beside
/// each other.
fn planted_net(grid: &Grid, vertices: usize, edges: usize, random: &mut Random) -> Net {
    let mut pes: Vec<usize> = (0..grid.pes).collect();
    for at in 0..vertices {
        pes.swap(at, at + random.below(grid.pes - at));
    }
    let mut net = random_net(grid, vertices, 0, random);
    for _ in 0..edges * 20 {
        let (a, b) = (random.below(vertices), random.below(vertices));
        let is_near = a != b && grid.near[pes[a]].contains(&pes[b]);
        if is_near && random.chance(20) {
            let other = random.below(vertices);
            if other != a && other != b {
                net.either.push((a, vec![b, other]));
            }
        } else if is_near {
            join(&mut net, a, b);
        }
    }
    net
}

fn random_net(grid: &Grid, vertices: usize, edges: usize, random: &mut Random) -> Net {
    let mut net = Net {
        neighbours: vec![Vec::new(); vertices],
        allowed: vec![(0..grid.pes).collect(); vertices],
        either: Vec::new(),
    };
    for _ in 0..edges {
        let (a, b) = (random.below(vertices), random.below(vertices));
        if a != b {
            join(&mut net, a, b);
        }
    }
    net
}

fn join(net: &mut Net, a: usize, b: usize) {
    if !net.neighbours[a].contains(&b) {
        net.neighbours[a].push(b);
        net.neighbours[b].push(a);
    }
}

/// Whether all that is asked of PEs holds for the vertices placed so far.
fn is_right(grid: &Grid, net: &Net, pes: &[usize]) -> bool {
    let beside = |a: usize, b: usize| grid.near[pes[a]].contains(&pes[b]);
    let placed = |v: &usize| *v < pes.len();
    (0..pes.len()).all(|v| {
        let alone = pes[..v].iter().all(|pe| *pe != pes[v]);
        alone && net.neighbours[v].iter().filter(|w| placed(w)).all(|&w| beside(v, w))
    }) && net.either.iter().all(|(v, others)| {
        let known = placed(v) && others.iter().all(&placed);
        !known || others.iter().any(|&other| beside(*v, other))
    })
}

fn exists(grid: &Grid, net: &Net, pes: &mut Vec<usize>) -> bool {
    if pes.len() == net.neighbours.len() {
        return true;
    }
    (0..grid.pes).any(|pe| {
        pes.push(pe);
        let found = is_right(grid, net, pes) && exists(grid, net, pes);
        pes.pop();
        found
    })
}

fn solve(grid: &Grid, net: &Net, steps: u64, random: &mut Random) -> Embedding {
    let (mut steps, mut weights) = (steps, vec![0; net.neighbours.len()]);
    let clock = Budget::new(Duration::from_secs(60)).clock();
    embed(net, &grid.near, &mut steps, &mut weights, &clock, random)
}

#[test]
fn small_nets_are_embedded_where_they_can_be() {
    let mut random = Random::new(3);
    let mut found = [0; 2];
    for links in [Links::Mesh, Links::Sdpnm] {
        for (rows, columns) in [(2, 2), (2, 3), (3, 3)] {
            let grid = Grid::new(&array(rows, columns, links));
            for _ in 0..60 {
                let vertices = 2 + random.below(grid.pes - 1);
                let edges = random.below(5 * vertices);
                let mut net = match random.chance(128) {
                    true => random_net(&grid, vertices, edges, &mut random),
                    false => planted_net(&grid, vertices, edges, &mut random),
                };
                net.allowed[0].retain(|_| random.chance(200));
                let allowed = |pes: &[usize]| net.allowed[0].contains(&pes[0]);
                let can =
                    (0..grid.pes).any(|pe| allowed(&[pe]) && exists(&grid, &net, &mut vec![pe]));
                match solve(&grid, &net, 1_000_000, &mut random) {
                    Embedding::Found(pes) => {
                        assert!(can && is_right(&grid, &net, &pes) && allowed(&pes), "{net:?}");
                    }
                    Embedding::Impossible => assert!(!can, "{net:?}"),
                    Embedding::Unknown => panic!("{net:?}"),
                }
                found[usize::from(can)] += 1;
            }
        }
    }
    assert!(found.iter().all(|&found| found > 40), "{found:?}");
}

#[test]
fn nets_of_large_arrays_are_embedded() {
    let mut random = Random::new(4);
    let mut found = 0;
    for (rows, columns) in [(8, 8), (5, 13), (16, 16)] {
        let grid = Grid::new(&array(rows, columns, Links::Mesh));
        for _ in 0..10 {
            let net = planted_net(&grid, grid.pes * 3 / 4, 100 * grid.pes, &mut random);
            if let Embedding::Found(pes) = solve(&grid, &net, 20_000, &mut random) {
                assert!(is_right(&grid, &net, &pes));
                found += 1;
            }
        }
    }
    assert!(found >= 20, "{found}");
}

/// Graphs that fill a mesh at an interval of 1, as dense as it allows.
#[test]
fn full_meshes_reach_their_mii() {
    let array = array(8, 8, Links::Mesh);
    let plan = |seed| Plan {
        nodes: 60,
        ii: 1,
        density: 34,
        routes: 3,
        recurrence: 0,
        ..random_plan(seed)
    };
    let missed = above_mii((300..330).map(|seed| planted(&plan(seed), &array)), &array);
    assert!(missed.len() <= 2, "{missed:?}");
}

#[test]
fn the_same_graph_has_the_same_mapping() {
    for links in [Links::Mesh, Links::Sdpnm] {
        let array = array(8, 8, links);
        let plans = plans().into_iter().filter(|plan| plan.ii == 1 && plan.nodes == 30);
        let mut graphs: Vec<Graph> = plans.map(|plan| planted(&plan, &array)).collect();
        if links == Links::Sdpnm {
            graphs.extend(kernels().into_iter().filter(|kernel| kernel.nodes.len() <= 16));
        }
        graphs.iter().for_each(|graph| is_mapped_alike(graph, &array));
    }
}

/// On arrays on which nearly nothing stands beside anything, nothing that is looked at at an interval of 1
/// may go wrong.
#[test]
fn small_arrays_take_any_graph() {
    for (rows, columns, links) in
        [(2, 2, Links::Mesh), (2, 3, Links::Mesh), (2, 2, Links::Sdpnm), (3, 3, Links::Mesh)]
    {
        let array = Array { registers: 1, ..array(rows, columns, links) };
        for seed in 0..10 {
            let plan = random_plan(seed);
            let cells = array.pes() * plan.ii as usize;
            let nodes = plan.nodes.min(cells);
            let routes = plan.routes.min(cells - nodes);
            let plan = Plan { nodes, routes, recurrence: 0, memory: 2, ..plan };
            // Whatever comes of it in a short time is right.
            let request = Request {
                array: &array,
                max_ii: 4,
                time_limit: Duration::from_millis(100),
                effort: Effort::Patient,
                mapper: &MAPPERS[0],
            };
            let _ = checked(&planted(&plan, &array), &request);
        }
    }
}
