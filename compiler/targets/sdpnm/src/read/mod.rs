//! Graphs from files: JSON and dot, to the letter of docs/mapping.md, with a diagnostic for what
//! is no graph.

mod cycle;
mod dot;
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, unused_qualifications)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/read/grammar.rs"));
}
mod json;
mod token;

use std::collections::HashMap;

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span, nearest};
use nbcc_isa_sdpnm::{Edge, Graph, Node};

use crate::codes;

/// Nodes of a graph at most: four times what the largest array holds at its longest interval would
/// never be mapped.
const MAX_NODES: usize = 1 << 16;
/// Edges of a graph at most.
const MAX_EDGES: usize = 1 << 18;
/// Bytes of a file at most.
const MAX_BYTES: usize = 64 << 20;
/// The largest distance.
const MAX_DISTANCE: u32 = 65535;

/// Reads a graph: JSON where the name ends in `json`, dot where it ends in `dot` or `gv`, else what
/// the first character says.
///
/// # Errors
/// What is wrong was reported.
pub fn read(
    source: SourceId,
    file: &SourceFile,
    diagnostics: &mut Diagnostics,
) -> Result<Graph, Failed> {
    if file.text.len() > MAX_BYTES {
        let what = format!("{} bytes, of {MAX_BYTES} at most", file.text.len());
        return diagnostics.fail(too_large("the file").at(Span::new(source, 0, 0), what));
    }
    let mut builder = Builder::new(source, diagnostics);
    let is_json = match file.name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("json") => true,
        Some("dot" | "gv") => false,
        _ => file.text.trim_start().starts_with(['{', '[']),
    };
    if is_json {
        json::read(&file.text, &mut builder)
    } else {
        dot::read(&file.text, &mut builder)
    }?;
    builder.finish(&file.text)
}

fn too_large(what: &str) -> Diagnostic {
    Diagnostic::error(&codes::TOO_LARGE, format!("{what} is too large"))
        .help("map its loops one by one")
}

/// A place in the file, in bytes.
pub(crate) type Place = std::ops::Range<usize>;

/// A graph while it is read.
struct Builder<'a> {
    source: SourceId,
    diagnostics: &'a mut Diagnostics,
    graph: Graph,
    /// Where each node was named first, and whether it was declared there or elsewhere.
    nodes: Vec<(Place, bool)>,
    numbers: HashMap<String, usize>,
    /// Where each edge stands.
    edges: Vec<Place>,
}

impl<'a> Builder<'a> {
    fn new(source: SourceId, diagnostics: &'a mut Diagnostics) -> Builder<'a> {
        Builder {
            source,
            diagnostics,
            graph: Graph::default(),
            nodes: Vec::new(),
            numbers: HashMap::new(),
            edges: Vec::new(),
        }
    }

    fn span(&self, place: &Place) -> Span {
        Span::new(self.source, place.start, place.end)
    }

    /// The node of an id, made where there is none.
    fn node(&mut self, id: &str, place: &Place) -> Result<usize, Failed> {
        if let Some(&number) = self.numbers.get(id) {
            return Ok(number);
        }
        let number = self.graph.nodes.len();
        if number == MAX_NODES {
            let error = too_large("the graph").at(self.span(place), format!("node {number}"));
            return self.diagnostics.fail(error);
        }
        self.numbers.insert(id.to_owned(), number);
        self.graph.nodes.push(Node { id: id.to_owned(), op: String::new() });
        self.nodes.push((place.clone(), false));
        Ok(number)
    }

    /// Declares a node.
    fn declare(&mut self, id: &str, op: String, place: &Place) -> Result<(), Failed> {
        let number = self.node(id, place)?;
        if self.nodes[number].1 {
            let message = format!("the node `{}` is there twice", shorten(id));
            let first = self.span(&self.nodes[number].0);
            let error = Diagnostic::error(&codes::DUPLICATE, message)
                .at(self.span(place), "declared again")
                .and(first, "declared first")
                .help("give each node an id of its own");
            self.diagnostics.push(error);
            return Ok(());
        }
        self.nodes[number] = (place.clone(), true);
        self.graph.nodes[number].op = op;
        Ok(())
    }

    /// The node of an id that must be there.
    fn known(&mut self, id: &str, place: &Place) -> Option<usize> {
        let known = self.numbers.get(id).copied();
        if known.is_none() {
            let close = nearest(id, self.graph.nodes.iter().take(10_000).map(|n| n.id.as_str()));
            let help = match close {
                Some(close) => format!("did you mean `{close}`?"),
                None => "declare it in the list of nodes".to_owned(),
            };
            let message = format!("there is no node `{}`", shorten(id));
            let error = Diagnostic::error(&codes::UNKNOWN, message);
            self.diagnostics.push(error.at(self.span(place), "not a node").help(help));
        }
        known
    }

    fn edge(&mut self, from: usize, to: usize, distance: u32, place: &Place) -> Result<(), Failed> {
        if self.edges.len() == MAX_EDGES {
            let error = too_large("the graph").at(self.span(place), format!("edge {MAX_EDGES}"));
            return self.diagnostics.fail(error);
        }
        self.graph.edges.push(Edge { from, to, distance });
        self.edges.push(place.clone());
        Ok(())
    }

    /// A distance from its text. 0 where it was none, after an error.
    fn distance(&mut self, text: &str, place: &Place) -> u32 {
        // Tools write whole numbers as 1.0 as well.
        let digits = text.trim().trim_start_matches('+');
        let digits = match digits.split_once('.') {
            Some((whole, zeros)) if zeros.bytes().all(|b| b == b'0') => whole,
            _ => digits,
        };
        match digits.parse() {
            Ok(distance) if distance <= MAX_DISTANCE => distance,
            _ => {
                let message = format!("`{}` is not a distance", shorten(text));
                let error = Diagnostic::error(&codes::DISTANCE, message)
                    .at(self.span(place), "iterations between producer and consumer")
                    .help(format!("write a whole number from 0 to {MAX_DISTANCE}"));
                self.diagnostics.push(error);
                0
            }
        }
    }

    fn syntax(&self, message: String, place: &Place, label: &str) -> Diagnostic {
        Diagnostic::error(&codes::SYNTAX, message).at(self.span(place), label)
    }

    /// Warns of nodes that only edges name where others are declared.
    fn mentioned(&mut self) {
        if !self.nodes.iter().any(|(_, is_declared)| *is_declared) {
            return;
        }
        let nodes = self.nodes.iter().zip(&self.graph.nodes);
        let mut others = nodes.filter(|((_, is_declared), _)| !is_declared);
        let Some(((place, _), node)) = others.next() else { return };
        let message = match others.count() {
            0 => format!("no statement declares the node `{}`", shorten(&node.id)),
            more => {
                format!("no statement declares the node `{}` and {more} others", shorten(&node.id))
            }
        };
        let known = self.nodes.iter().zip(&self.graph.nodes).take(10_000);
        let known = known.filter(|((_, is_declared), _)| *is_declared);
        let help = match nearest(&node.id, known.map(|(_, other)| other.id.as_str())) {
            Some(close) => format!("did you mean `{close}`? Else it is an operation for any PE"),
            None => "it is taken as an operation for any PE: declare it with an `op`".to_owned(),
        };
        let warning = Diagnostic::warning(&codes::MENTIONED, message);
        self.diagnostics.push(warning.at(self.span(place), "named by an edge").help(help));
    }

    /// The graph, where nothing was wrong with it.
    fn finish(mut self, text: &str) -> Result<Graph, Failed> {
        self.diagnostics.check()?;
        self.mentioned();
        if !self.graph.nodes.iter().any(Node::is_placed) {
            let error = Diagnostic::error(&codes::EMPTY, "the graph has no operations")
                .at(Span::new(self.source, 0, text.len().min(1)), "nothing to place")
                .help("add nodes other than `const` and `input`");
            return self.diagnostics.fail(error);
        }
        if let Some(cycle) = cycle::of_distance_zero(&self.graph) {
            let ids: Vec<String> = cycle
                .iter()
                .take(8)
                .map(|&e| shorten(&self.graph.nodes[self.graph.edges[e].from].id))
                .collect();
            let more = if cycle.len() > ids.len() { " -> ..." } else { "" };
            let message =
                format!("a cycle within one iteration: {}{more} -> {}", ids.join(" -> "), ids[0]);
            let last = self.span(&self.edges[*cycle.last().expect("a cycle has edges")]);
            let error = Diagnostic::error(&codes::CYCLE, message)
                .at(last, "closes the cycle, with distance 0")
                .help("give the edge that goes to the next iteration a `dist` of 1 or more");
            return self.diagnostics.fail(error);
        }
        Ok(self.graph)
    }
}
