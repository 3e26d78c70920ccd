//! Maps graphs; every mapping passes the checker.

use std::time::Duration;

use nbcc_isa_sdpnm::{Array, Graph, Links, Machine, check};
use nbcc_target_sdpnm::map::mappers::find;
use nbcc_target_sdpnm::map::{Effort, NoMapping, Outcome, Request, map};

pub fn array(rows: u32, columns: u32, links: Links) -> Array {
    Array { rows, columns, links, ..Machine::built_in("sdpnm").array }
}

pub fn run(graph: &Graph, array: &Array, mapper: &str) -> Result<Outcome, NoMapping> {
    run_up_to(graph, array, mapper, 64)
}

/// The same at intervals up to `max_ii`.
pub fn run_up_to(
    graph: &Graph,
    array: &Array,
    mapper: &str,
    max_ii: u32,
) -> Result<Outcome, NoMapping> {
    let (time_limit, effort) = (Duration::from_secs(60), Effort::Usual);
    let mapper = find(mapper).expect("a mapper");
    checked(graph, &Request { array, max_ii, time_limit, effort, mapper })
}

/// The same with all that is asked for.
pub fn checked(graph: &Graph, request: &Request<'_>) -> Result<Outcome, NoMapping> {
    let array = request.array;
    let outcome = map(graph, request)?;
    assert_eq!(check(graph, array, &outcome.mapping), Ok(()), "{}", graph.name);
    assert!(outcome.mapping.ii >= outcome.mii.mii, "{}", graph.name);
    Ok(outcome)
}
