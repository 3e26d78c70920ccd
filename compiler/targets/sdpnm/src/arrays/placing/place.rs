//! A body on an array: the graph that a mapper is given, and what is made of its answer (SDPNM paper, section
//! 3.4).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nbcc_base::{SourceMap, Span};
use nbcc_isa::SourceLine;
use nbcc_isa_sdpnm::config::{Opcode, Package, Placed};
use nbcc_isa_sdpnm::{Array, Edge as GraphEdge, Graph, Machine, Mapping, Node as GraphNode, Spot};
use nbcc_mach::emit::source_place;

use super::package::package;
use crate::arrays::iteration::body::{Body, Edge, Node, Operand, Order, Port};
use crate::arrays::iteration::streams::banks;
use crate::arrays::reports::decision::At;
use crate::map::banks::{Banks, STALL};
use crate::map::dfg::Dep;
use crate::map::mappers::{MAPPERS, Mapper};
use crate::map::memory::Memory;
use crate::map::mii::{self, Mii};
use crate::map::{Effort, Known, NoMapping, Outcome, Request};

/// A body on an array.
#[derive(Debug)]
pub struct Mapped {
    /// Its configuration.
    pub package: Package,
    /// The bounds of its interval.
    pub mii: Mii,
    /// Operations that only hand values on.
    pub routes: usize,
    /// Cycles from the beginning of an iteration to its end.
    pub depth: u64,
    /// Cycles of an iteration, with those in which accesses wait for banks, about.
    pub cycles: f64,
    /// Whether no shorter interval exists.
    pub is_proved: bool,
    /// Whether another mapper did it than was asked.
    pub instead: bool,
    /// Where and when each operation runs, by PEs and slots.
    pub places: Vec<At>,
    /// Operations of which results are exported, and their cycles.
    exports: Vec<(usize, u64)>,
}

/// What is known of a body that has a package.
fn mapped(body: &Body, package: Package, outcome: Outcome, banks: &Banks, array: &Array) -> Mapped {
    let places = places(body, &package, &outcome.mapping, array);
    let Outcome { mapping, mii, is_proved, .. } = outcome;
    let cycle = |node: usize| mapping.spots[node].map_or(0, |spot| spot.cycle);
    let exporting = (0..body.nodes.len()).filter(|&node| body.nodes[node].export.is_some());
    let depth = package.cycles(1);
    let exports = exporting.map(|node| (node, cycle(node))).collect();
    let cycles = f64::from(mapping.ii) + waits(&mapping, banks);
    let routes = mapping.routes.len();
    Mapped { package, mii, cycles, routes, depth, is_proved, instead: false, places, exports }
}

/// Where and when each operation of a package runs.
fn places(body: &Body, package: &Package, mapping: &Mapping, array: &Array) -> Vec<At> {
    let ii = u64::from(mapping.ii);
    let cell = |spot: &Spot| (spot.pe as u16, (spot.cycle % ii) as u16);
    let mut of: BTreeMap<(u16, u16), (Option<Opcode>, Option<Span>)> = BTreeMap::new();
    for (spot, node) in mapping.spots.iter().zip(&body.nodes) {
        of.extend(spot.iter().map(|spot| (cell(spot), (Some(node.op), node.span))));
    }
    for route in &mapping.routes {
        of.insert(cell(&route.spot), (None, body.nodes[route.value].span));
    }
    let at = |placed: &Placed| {
        let (op, span) = of.get(&(placed.pe, placed.slot)).copied()?;
        let pe = array.position(placed.pe.into());
        Some(At { op, span, pe, slot: placed.slot, stage: placed.context.control.stage })
    };
    package.contexts.iter().filter_map(at).collect()
}

/// Cycles of an iteration in which accesses wait for banks, about.
fn waits(mapping: &Mapping, banks: &Banks) -> f64 {
    let ii = u64::from(mapping.ii);
    let mut slots: Vec<Vec<(usize, i64)>> = vec![Vec::new(); mapping.ii as usize];
    for (node, spot) in mapping.spots.iter().enumerate() {
        if let (Some(spot), Some(_)) = (spot, banks.streams[node]) {
            slots[(spot.cycle % ii) as usize].push((node, (spot.cycle / ii) as i64));
        }
    }
    let stalls: i64 = slots.iter().map(|accesses| banks.stalls(accesses)).sum();
    stalls as f64 / STALL as f64
}

/// The graph of a body with those of its orders that are `kept`.
fn graph(body: &Body, kept: impl Fn(&Order) -> bool) -> (Graph, Vec<Edge>) {
    let word = |op: Opcode| match op {
        Opcode::Load => "load",
        Opcode::Store => "store",
        other => other.mnemonic(),
    };
    let nodes = body.nodes.iter().enumerate().map(|(number, node)| GraphNode {
        id: format!("n{number}"),
        op: word(node.op).to_string(),
    });
    let is_kept = |edge: &Edge| {
        let order = Order { from: edge.from, to: edge.to, distance: edge.distance, more: 0 };
        edge.port != Port::Order || kept(&order)
    };
    let edges: Vec<Edge> = body.edges().into_iter().filter(is_kept).collect();
    let graph_edges =
        edges.iter().map(|e| GraphEdge { from: e.from, to: e.to, distance: e.distance }).collect();
    (Graph { name: "loop".into(), nodes: nodes.collect(), edges: graph_edges }, edges)
}

/// Iterations between accesses of which the order is told a mapper at once.
const MAX_ORDERED_DISTANCE: u32 = 1;

/// The bounds of the interval of a body.
pub fn bounds(body: &Body, array: &Array) -> Mii {
    let edges = body.edges();
    let is_counted =
        |edge: &&Edge| edge.port != Port::Order || edge.distance <= MAX_ORDERED_DISTANCE;
    let deps = edges.iter().filter(is_counted).map(|e| dep(e.from, e.to, e.distance));
    let is_memory = |node: &&Node| matches!(node.op, Opcode::Load | Opcode::Store);
    let accesses = body.nodes.iter().filter(is_memory).count();
    mii::of(body.nodes.len(), accesses, deps, array)
}

fn dep(from: usize, to: usize, distance: u32) -> Dep {
    Dep { from, to, distance: distance.into(), edge: 0 }
}

/// After which mapping is given up: far beyond what rounds take, so that a program is the same on a
/// busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// How a body is mapped.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The number of the array.
    pub number: u8,
    /// The files that lines are of.
    pub sources: &'a SourceMap,
    /// Who maps.
    pub mapper: &'static Mapper,
    /// What was mapped before.
    pub memory: &'a Memory,
    /// The longest interval that is worth it.
    pub max_ii: u32,
    /// The shortest that is asked for.
    pub least_ii: u32,
    /// Iterations that it runs at a time, about.
    pub iterations: u32,
    /// Rounds of the search at the least interval.
    pub rounds: u32,
    /// What assembly text calls it.
    pub name: &'a str,
}

impl How<'_> {
    pub(super) fn line(&self, span: Option<Span>) -> Option<SourceLine> {
        span.and_then(|span| line(self.sources, span))
    }
}

/// Where a span begins. The number of its file is that of the source, until the program has a table
/// of files.
pub fn line(sources: &SourceMap, span: Span) -> Option<SourceLine> {
    let place = source_place(sources, span)?;
    Some(SourceLine { file: span.source.0, line: place.line, column: place.column })
}

/// Maps a body.
///
/// # Errors
/// Why there is no mapping, in words.
pub fn place(body: &Body, how: &How<'_>) -> Result<Mapped, String> {
    let mut body = body.clone();
    body.orders.iter_mut().for_each(|order| order.more = 0);
    loop {
        let mapped = map_body(&body, how)?;
        // One global register is written a cycle: of results that come at once, one waits.
        let mut cycles = BTreeMap::new();
        let clash =
            mapped.exports.iter().find(|(node, cycle)| cycles.insert(*cycle, *node).is_some());
        let Some(&(node, _)) = clash else { return Ok(mapped) };
        if body.nodes.len() > MOST_NODES {
            return Err("it has too many results at once".into());
        }
        let export = body.nodes[node].export.take();
        body.nodes.push(Node {
            in1: Operand::node(node),
            export,
            name: format!("{}_late", body.nodes[node].name),
            span: body.nodes[node].span,
            ..Node::new(Opcode::Pass)
        });
    }
}

/// Operations of a body at most, with those that let results wait.
pub(crate) const MOST_NODES: usize = 450;

/// Maps a body whose results come in different cycles, or not.
fn map_body(body: &Body, how: &How<'_>) -> Result<Mapped, String> {
    // What is in order for memory's sake mostly holds by itself over several iterations: only what
    // turns out wrong is told. Where a mapper does not look at it, it is an edge, which takes routes.
    let mut told: BTreeSet<Order> =
        body.orders.iter().copied().filter(|o| o.distance <= MAX_ORDERED_DISTANCE).collect();
    let mut kept: BTreeSet<Order> = BTreeSet::new();
    let banks = banks(body, how.machine, how.iterations);
    loop {
        let (graph, edges) = graph(body, |order| kept.contains(order));
        let known = Known {
            banks: Some(banks.clone()),
            orders: told.iter().map(|o| dep(o.from, o.to, o.distance)).collect(),
            least: how.least_ii,
        };
        let asked = ask(&graph, &how.machine.array, known, how);
        let (outcome, instead) = asked.map_err(|error| match error {
            NoMapping::MiiTooLong(mii) => {
                format!(
                    "an iteration takes {mii} cycles at least on an array, more than it is worth"
                )
            }
            NoMapping::MaxIi | NoMapping::TooMuch => {
                "no mapping was found at an interval that is worth it".to_string()
            }
            NoMapping::TimeOver(ii) => {
                format!("no mapping was found in time, up to an interval of {ii}")
            }
        })?;
        if let Err(faults) = nbcc_isa_sdpnm::check(&graph, &how.machine.array, &outcome.mapping) {
            return Err(format!("its mapping is wrong: {}", faults[0].0));
        }
        let wrong: Vec<Order> =
            body.orders.iter().copied().filter(|o| !holds(o, &outcome.mapping)).collect();
        if !wrong.is_empty() {
            if wrong.iter().all(|o| kept.contains(o)) {
                return Err("no mapping keeps the order of its accesses to memory".into());
            }
            kept.extend(wrong.iter().filter(|o| told.contains(o)));
            told.extend(wrong);
            continue;
        }
        match package(body, &edges, &outcome, how) {
            Some(package) => {
                return Ok(Mapped {
                    instead,
                    ..mapped(body, package, outcome, &banks, &how.machine.array)
                });
            }
            // Rings are as long as whole intervals, which the mapper does not know.
            None => return relaxed(body, how),
        }
    }
}

/// The same for an array that claims fewer registers, so that rings fit.
fn relaxed(body: &Body, how: &How<'_>) -> Result<Mapped, String> {
    let registers = how.machine.array.registers / 2;
    if registers == 0 {
        return Err("values wait longer than registers allow".into());
    }
    let array = Array { registers, ..how.machine.array.clone() };
    let (graph, edges) = graph(body, |_| false);
    let banks = banks(body, how.machine, how.iterations);
    let gave_up = || "values wait longer than registers allow".to_string();
    let orders = body.orders.iter().map(|o| dep(o.from, o.to, o.distance)).collect();
    let known = Known { banks: Some(banks.clone()), orders, least: how.least_ii };
    let (outcome, instead) = ask(&graph, &array, known, how).map_err(|_| gave_up())?;
    if nbcc_isa_sdpnm::check(&graph, &array, &outcome.mapping).is_err()
        || body.orders.iter().any(|o| !holds(o, &outcome.mapping))
    {
        return Err(gave_up());
    }
    let package = package(body, &edges, &outcome, how).ok_or_else(gave_up)?;
    Ok(Mapped { instead, ..mapped(body, package, outcome, &banks, &array) })
}

/// Asks the mapper, and the usual one where that would take too much work; whether it was that one.
fn ask(
    graph: &Graph,
    array: &Array,
    known: Known,
    how: &How<'_>,
) -> Result<(Outcome, bool), NoMapping> {
    let request = |mapper| Request {
        array,
        max_ii: how.max_ii.max(how.least_ii),
        time_limit: TIME_LIMIT,
        effort: Effort::Rounds(how.rounds),
        mapper,
    };
    match how.memory.map(graph, &request(how.mapper), known.clone()) {
        Err(NoMapping::TooMuch) => {
            how.memory.map(graph, &request(&MAPPERS[0]), known).map(|outcome| (outcome, true))
        }
        answer => answer.map(|outcome| (outcome, false)),
    }
}

/// Whether a mapping keeps two accesses in order.
fn holds(order: &Order, mapping: &Mapping) -> bool {
    let cycle = |node: usize| mapping.spots[node].map_or(0, |spot| spot.cycle);
    let later = u64::from(order.distance).saturating_mul(mapping.ii.into());
    cycle(order.to).saturating_add(later) > cycle(order.from)
}
