//! Mappings that were made before. Where a pass begins again with a loop less, or a loop stands in a
//! program twice, the same graphs are asked for again.

use std::sync::{Mutex, PoisonError};

use nbcc_isa_sdpnm::{Array, Graph};

use super::budget::Work;
use super::{Effort, Known, NoMapping, Outcome, Request, map_within};

/// What was asked for and what came of it.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    answers: Vec<(Asked, Result<Outcome, NoMapping>)>,
    work: Work,
}

/// What a mapping depends on where no clock counts.
#[derive(Debug, PartialEq)]
struct Asked {
    graph: Graph,
    known: Known,
    array: Array,
    max_ii: u32,
    effort: Effort,
    mapper: &'static str,
}

impl Asked {
    /// Whether the same was asked, at other banks maybe.
    fn is_like(&self, graph: &Graph, request: &Request<'_>, known: &Known) -> bool {
        self.graph == *graph
            && self.known.orders == known.orders
            && self.known.least == known.least
            && self.array == *request.array
            && self.mapper == request.mapper.name
    }
}

impl Memory {
    /// Maps a graph, or remembers what came of it.
    ///
    /// # Errors
    /// Why there is no mapping.
    pub fn map(
        &self,
        graph: &Graph,
        request: &Request<'_>,
        known: Known,
    ) -> Result<Outcome, NoMapping> {
        let asked = Asked {
            graph: graph.clone(),
            known: known.clone(),
            array: request.array.clone(),
            max_ii: request.max_ii,
            effort: request.effort,
            mapper: request.mapper.name,
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = all.answers.iter().find(|(other, _)| *other == asked) {
            return answer.clone();
        }
        // What was not found for the same operations, at other banks, would hardly be found now.
        let found = all.answers.iter().filter(|(asked, _)| asked.is_like(graph, request, &known));
        let found = found.filter_map(|(_, of)| Some(of.as_ref().ok()?.mapping.ii)).min();
        let least = found.map_or(known.least, |ii| known.least.max(ii.min(request.max_ii)));
        let answer = map_within(graph, request, Known { least, ..known }, &all.work);
        // A clock decided that, or the machine's load.
        if !matches!(answer, Err(NoMapping::TimeOver(_))) {
            all.answers.push((asked, answer.clone()));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use nbcc_isa_sdpnm::{Machine, Node};

    use super::super::mappers::Mapper;
    use super::super::problem::Problem;
    use super::super::{placement, search};
    use super::*;

    static ASKED: AtomicU32 = AtomicU32::new(0);

    fn counted(problem: &Problem<'_>) -> placement::Answer {
        ASKED.fetch_add(1, Ordering::Relaxed);
        search::place(problem)
    }

    static COUNTING: Mapper = Mapper { name: "counting", about: "", place: counted };

    #[test]
    fn the_same_graph_is_mapped_once() {
        let machine = Machine::built_in("sdpnm");
        let node = |number: usize| Node { id: format!("n{number}"), op: "add".into() };
        let graph = |count| Graph {
            name: "g".into(),
            nodes: (0..count).map(node).collect(),
            edges: vec![],
        };
        let request = Request {
            array: &machine.array,
            max_ii: 8,
            time_limit: Duration::from_secs(60),
            effort: Effort::Rounds(2),
            mapper: &COUNTING,
        };
        let memory = Memory::default();
        let map = |count| memory.map(&graph(count), &request, Known::default()).unwrap().mapping;
        let first = map(5);
        assert_eq!(map(5), first);
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
        assert_ne!(map(6), first);
        assert_eq!(ASKED.load(Ordering::Relaxed), 2);
    }
}
