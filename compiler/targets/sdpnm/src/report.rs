//! Mappings for others: the report in JSON whose keys docs/mapping.md states, and a picture of each
//! slot.

use std::fmt::Write as _;

use nbcc_isa_sdpnm::{Array, Graph, Holder};
use serde_json::{Value, json};

use crate::map::Outcome;
use crate::map::mii::{Limit, Mii, Resource};

/// The ids of the routes: `route0` and so on, with as many underscores before as keep them apart from
/// the ids of nodes.
fn route_prefix(graph: &Graph) -> String {
    let mut prefix = "route".to_owned();
    while graph.nodes.iter().any(|node| node.id.starts_with(&prefix)) {
        prefix.insert(0, '_');
    }
    prefix
}

/// The report.
pub fn json(graph: &Graph, array: &Array, outcome: &Outcome) -> Value {
    let mapping = &outcome.mapping;
    let prefix = route_prefix(graph);
    let id = |node: usize| graph.nodes[node].id.as_str();
    let holder = |value: usize, holder: Holder| match holder {
        Holder::Producer => id(value).to_owned(),
        Holder::Route(number) => format!("{prefix}{number}"),
    };
    let pe = |pe: usize| {
        let (row, column) = array.position(pe);
        json!([row, column])
    };
    let nodes = mapping.spots.iter().enumerate().filter_map(|(node, spot)| {
        let spot = spot.as_ref()?;
        Some(json!({ "id": id(node), "pe": pe(spot.pe), "cycle": spot.cycle }))
    });
    let routes = mapping.routes.iter().enumerate().map(|(number, route)| {
        json!({
            "id": format!("{prefix}{number}"),
            "value": id(route.value),
            "from": holder(route.value, route.from),
            "pe": pe(route.spot.pe),
            "cycle": route.spot.cycle,
        })
    });
    let edges = graph.edges.iter().zip(&mapping.via).filter_map(|(edge, via)| {
        Some(json!({
            "from": id(edge.from),
            "to": id(edge.to),
            "dist": edge.distance,
            "via": holder(edge.from, (*via)?),
        }))
    });
    let Limit { resource, uses, capacity } = outcome.mii.limit;
    json!({
        "name": graph.name,
        "array": [array.rows, array.columns],
        "links": array.links.name(),
        "registers": array.registers,
        "mem_ports": array.memory_ports,
        "ii": mapping.ii,
        "mii": outcome.mii.mii,
        "rec_mii": outcome.mii.rec,
        "res_mii": outcome.mii.res,
        "proved": outcome.is_proved,
        "time_s": outcome.time.as_secs_f64(),
        "rec_cycle": outcome.mii.cycle.iter().map(|&op| id(outcome.dfg.node[op])).collect::<Vec<_>>(),
        "res_limit": { "resource": resource.name(), "uses": uses, "capacity": capacity },
        "nodes": nodes.collect::<Vec<_>>(),
        "routes": routes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

/// Intervals and what they come from, in a few lines.
pub fn summary(graph: &Graph, array: &Array, outcome: &Outcome) -> String {
    let (mapping, mii) = (&outcome.mapping, &outcome.mii);
    let mut text = String::new();
    let proof = match outcome.is_proved {
        true if mapping.ii == mii.mii => "the least: it is the MII",
        true => "the least: smaller ones are proved impossible",
        false => "smaller ones were not found",
    };
    let _ = writeln!(text, "II    {:>4}  {proof}", mapping.ii);
    let _ = writeln!(text, "MII   {:>4}", mii.mii);
    if mii.rec > 0 {
        let name = |op: &usize| graph.nodes[outcome.dfg.node[*op]].id.as_str();
        let mut cycle: Vec<&str> = mii.cycle.iter().take(16).map(name).collect();
        cycle.push(if mii.cycle.len() > 16 { "..." } else { cycle[0] });
        let _ = writeln!(
            text,
            "  rec {:>4}  a cycle of length {} and distance {}: {}",
            mii.rec,
            mii.cycle.len(),
            mii.cycle_distance,
            cycle.join(" -> ")
        );
    }
    let Limit { resource, uses, capacity } = mii.limit;
    let what = match resource {
        Resource::Pe => "operations on PEs",
        Resource::Memory => "loads and stores on memory ports",
    };
    let _ = writeln!(text, "  res {:>4}  {uses} {what}, of which there are {capacity}", mii.res);
    if let Some(lower) = lower(mii) {
        let _ = writeln!(text, "  {lower}");
    }
    let _ = writeln!(
        text,
        "{} operations, {} routes on {}x{} PEs ({} links), in {:.3} s",
        outcome.dfg.len(),
        mapping.routes.len(),
        array.rows,
        array.columns,
        array.links.name(),
        outcome.time.as_secs_f64()
    );
    text
}

/// What must be otherwise before the bounds allow a shorter interval, in words.
pub fn lower(mii: &Mii) -> Option<String> {
    let lower = mii.lower()?;
    let of_cycle = lower.cycle.map(|(length, distance)| {
        format!("that cycle to be at most {length} long, or of distance {distance}")
    });
    let of_limits = lower.limits.iter().map(|&(resource, uses, capacity)| {
        let [takes, what] = resource.words();
        format!("at most {uses} {takes}, or {capacity} {what}")
    });
    let all: Vec<String> = of_cycle.into_iter().chain(of_limits).collect();
    Some(format!("an interval of {} needs {}", lower.ii, all.join("; and ")))
}

/// Widest cell of a picture, in characters.
const CELL: usize = 10;

/// The array in each slot: nodes by their ids, routes as `>` and the id of their value.
pub fn picture(graph: &Graph, array: &Array, outcome: &Outcome) -> String {
    let mapping = &outcome.mapping;
    let slot = |cycle: u64| (cycle % u64::from(mapping.ii)) as usize;
    let mut cells = vec![vec![String::new(); array.pes()]; mapping.ii as usize];
    for (node, spot) in graph.nodes.iter().zip(&mapping.spots) {
        if let Some(spot) = spot {
            cells[slot(spot.cycle)][spot.pe] = shown(&node.id);
        }
    }
    for route in &mapping.routes {
        let id = format!(">{}", graph.nodes[route.value].id);
        cells[slot(route.spot.cycle)][route.spot.pe] = shown(&id);
    }
    let widest = cells.iter().flatten().map(|cell| cell.chars().count()).max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (number, slot) in cells.iter().enumerate() {
        let _ = writeln!(text, "slot {number}");
        for row in slot.chunks(array.columns as usize) {
            let row: Vec<String> = row
                .iter()
                .map(|cell| if cell.is_empty() { "." } else { cell })
                .map(|cell| format!("{cell:<widest$}"))
                .collect();
            let _ = writeln!(text, "  {}", row.join(" ").trim_end());
        }
    }
    text
}

/// The beginning of an id that fits a cell, without what would disturb a terminal.
fn shown(id: &str) -> String {
    let printable = id.chars().map(|c| if c.is_control() || c.is_whitespace() { '_' } else { c });
    let mut shown: String = printable.clone().take(CELL).collect();
    if printable.count() > CELL {
        shown.pop();
        shown.push('~');
    }
    shown
}
