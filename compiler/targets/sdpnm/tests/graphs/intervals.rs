//! Which graphs reach their MII, and whether they do so in the same way each time.

use std::time::Duration;

use nbcc_isa_sdpnm::{Array, Graph};
use nbcc_target_sdpnm::map::mappers::MAPPERS;
use nbcc_target_sdpnm::map::{Effort, Request};

use super::run::{checked, run};

/// The names of graphs that are mapped at more than their MII.
pub fn above_mii(graphs: impl IntoIterator<Item = Graph>, array: &Array) -> Vec<String> {
    let above = |graph: Graph| {
        let outcome = run(&graph, array, "search").expect("a mapping");
        (outcome.mapping.ii != outcome.mii.mii).then_some(graph.name)
    };
    graphs.into_iter().filter_map(above).collect()
}

/// Maps a graph twice, by a search that no clock ends, and compares the mappings.
pub fn is_mapped_alike(graph: &Graph, array: &Array) {
    let request = Request {
        array,
        max_ii: 64,
        time_limit: Duration::from_secs(3600),
        effort: Effort::Patient,
        mapper: &MAPPERS[0],
    };
    let map = || checked(graph, &request).expect("a mapping").mapping;
    assert_eq!(map(), map(), "{}", graph.name);
}
