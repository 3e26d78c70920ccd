//! The table of docs/performance-compiling.md: every kernel and every planted graph on 8x8 PEs with II, MII
//! and time. `cargo run --release -p nbcc-target-sdpnm --example table`; with the word `all` a line a graph,
//! with `mesh` the links of a mesh, with `random FIRST COUNT` graphs planted at random from those seeds
//! instead.

#[path = "../tests/graphs/mod.rs"]
mod graphs;

use std::time::{Duration, Instant};

use nbcc_isa_sdpnm::{Array, Graph, Links, Machine, check};
use nbcc_target_sdpnm::map::mappers::MAPPERS;
use nbcc_target_sdpnm::map::{Effort, Request, map};

/// What is summed up of the graphs of a kind.
#[derive(Default)]
struct Row {
    graphs: usize,
    reached: usize,
    seconds: Vec<f64>,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut has = |word: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != word);
        arguments.len() < before
    };
    let (all, mesh) = (has("all"), has("mesh"));
    let links = if mesh { Links::Mesh } else { Links::Sdpnm };
    let array = Array { links, ..Machine::built_in("sdpnm").array };
    let graphs = match &arguments[..] {
        [random, first, count] if random == "random" => {
            let [first, count] = [first, count].map(|n| n.parse::<u64>().expect("a number"));
            let planted = |seed| graphs::planted(&graphs::random_plan(seed), &array);
            (first..first + count).map(|seed| ("random".to_string(), planted(seed))).collect()
        }
        _ => own(&array),
    };
    let rows = measure(&array, graphs, all);
    println!("| graphs | count | II = MII | within 1 s | median s | slowest s |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (kind, mut row) in rows {
        row.seconds.sort_by(f64::total_cmp);
        let (median, slowest) = (row.seconds[row.graphs / 2], row.seconds[row.graphs - 1]);
        let quick = row.seconds.iter().filter(|&&seconds| seconds <= 1.0).count();
        let Row { graphs, reached, .. } = row;
        println!("| {kind} | {graphs} | {reached} | {quick} | {median:.3} | {slowest:.3} |");
    }
}

/// Kernels and planted graphs, each with its kind.
fn own(array: &Array) -> Vec<(String, Graph)> {
    let mut graphs: Vec<(String, Graph)> =
        graphs::kernels().into_iter().map(|g| ("kernels".into(), g)).collect();
    for plan in graphs::plans() {
        let kind = format!(
            "{} nodes, {}/16 edges, {} routes, {} memory, recurrence {}, interval {}",
            plan.nodes, plan.density, plan.routes, plan.memory, plan.recurrence, plan.ii
        );
        graphs.push((kind, graphs::planted(&plan, array)));
    }
    graphs
}

/// Maps graphs; a row for each kind.
fn measure(array: &Array, graphs: Vec<(String, Graph)>, all: bool) -> Vec<(String, Row)> {
    let mut rows: Vec<(String, Row)> = Vec::new();
    for (kind, graph) in graphs {
        let request = Request {
            array,
            max_ii: 64,
            time_limit: Duration::from_secs(60),
            effort: Effort::Usual,
            mapper: &MAPPERS[0],
        };
        let begin = Instant::now();
        let outcome = map(&graph, &request).expect("a mapping");
        let seconds = begin.elapsed().as_secs_f64();
        check(&graph, array, &outcome.mapping).expect("a right mapping");
        let (ii, mii) = (outcome.mapping.ii, outcome.mii.mii);
        if all {
            let nodes = outcome.dfg.len();
            let edges = outcome.dfg.edges.len();
            let proved = if outcome.is_proved { "proved" } else { "" };
            println!(
                "| {} | {nodes} | {edges} | {mii} | {ii} | {proved} | {seconds:.3} |",
                graph.name
            );
        }
        if rows.last().is_none_or(|(last, _)| *last != kind) {
            rows.push((kind, Row::default()));
        }
        let row = &mut rows.last_mut().expect("a row").1;
        row.graphs += 1;
        row.reached += usize::from(ii == mii);
        row.seconds.push(seconds);
    }
    rows
}
