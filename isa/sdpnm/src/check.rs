//! Replays a mapping by the rules of the array (docs/mapping.md, rules (a) to (d)). It knows nothing
//! of how mappings are made.

use std::collections::BTreeMap;

use crate::array::Array;
use crate::graph::{Graph, Holder, Mapping, Spot};

/// What is wrong with a mapping, in words that name nodes, PEs and cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

/// Checks every rule.
///
/// # Errors
/// All faults that were found, never an empty list.
pub fn check(graph: &Graph, array: &Array, mapping: &Mapping) -> Result<(), Vec<Fault>> {
    let mut check = Check { graph, array, mapping, faults: Vec::new() };
    if check.has_its_shape() {
        check.one_operation_a_pe_and_slot();
        check.memory_ports();
        check.readers();
    }
    if check.faults.is_empty() { Ok(()) } else { Err(check.faults) }
}

struct Check<'a> {
    graph: &'a Graph,
    array: &'a Array,
    mapping: &'a Mapping,
    faults: Vec<Fault>,
}

/// A value at a PE: the node, and the holder.
type Held = (usize, Holder);

impl Check<'_> {
    fn fault(&mut self, text: String) {
        self.faults.push(Fault(text));
    }

    /// Lists of the right length, numbers that mean something.
    fn has_its_shape(&mut self) -> bool {
        let (graph, mapping) = (self.graph, self.mapping);
        if mapping.ii == 0 {
            self.fault("the initiation interval is 0".into());
        }
        if mapping.spots.len() != graph.nodes.len() || mapping.via.len() != graph.edges.len() {
            self.fault("the mapping is one of another graph".into());
            return false;
        }
        for (node, spot) in graph.nodes.iter().zip(&mapping.spots) {
            if node.is_placed() != spot.is_some() {
                self.fault(format!("`{}` is placed, or not, against its kind", node.id));
            }
        }
        for (edge, via) in graph.edges.iter().zip(&mapping.via) {
            if graph.is_routed(edge) != via.is_some() {
                let (from, to) = (&graph.nodes[edge.from].id, &graph.nodes[edge.to].id);
                self.fault(format!(
                    "the edge from `{from}` to `{to}` is read, or not, unlike it is"
                ));
            }
        }
        let spots = mapping.spots.iter().flatten().chain(mapping.routes.iter().map(|r| &r.spot));
        let outside = spots.filter(|spot| spot.pe >= self.array.pes()).count();
        if outside > 0 {
            self.fault(format!("{outside} spots are outside the array"));
        }
        for (number, route) in mapping.routes.iter().enumerate() {
            let known = mapping.spots.get(route.value).is_some_and(Option::is_some);
            if !known || !self.carries(route.from, route.value) {
                self.fault(format!("route {number} carries no value, or reads another one"));
            }
        }
        for (edge, via) in graph.edges.iter().zip(&mapping.via) {
            if via.is_some_and(|via| !self.carries(via, edge.from)) {
                let (from, to) = (&graph.nodes[edge.from].id, &graph.nodes[edge.to].id);
                self.fault(format!("`{to}` reads another value than that of `{from}`"));
            }
        }
        self.faults.is_empty()
    }

    fn carries(&self, holder: Holder, value: usize) -> bool {
        match holder {
            Holder::Producer => true,
            Holder::Route(route) => {
                self.mapping.routes.get(route).is_some_and(|route| route.value == value)
            }
        }
    }

    fn spot(&self, (value, holder): Held) -> Spot {
        match holder {
            Holder::Producer => self.mapping.spots[value].expect("a placed producer"),
            Holder::Route(route) => self.mapping.routes[route].spot,
        }
    }

    fn name(&self, (value, holder): Held) -> String {
        match holder {
            Holder::Producer => format!("`{}`", self.graph.nodes[value].id),
            Holder::Route(route) => format!("route {route} of `{}`", self.graph.nodes[value].id),
        }
    }

    fn slot(&self, cycle: u64) -> u64 {
        cycle % u64::from(self.mapping.ii)
    }

    /// Everything that takes a PE.
    fn operations(&self) -> Vec<Held> {
        let nodes = self.mapping.spots.iter().enumerate().filter(|(_, spot)| spot.is_some());
        let routes = self.mapping.routes.iter().enumerate();
        nodes
            .map(|(node, _)| (node, Holder::Producer))
            .chain(routes.map(|(number, route)| (route.value, Holder::Route(number))))
            .collect()
    }

    /// Rule (a).
    fn one_operation_a_pe_and_slot(&mut self) {
        let mut taken: BTreeMap<(usize, u64), Held> = BTreeMap::new();
        for operation in self.operations() {
            let spot = self.spot(operation);
            let slot = self.slot(spot.cycle);
            if let Some(other) = taken.insert((spot.pe, slot), operation) {
                let (one, other) = (self.name(other), self.name(operation));
                let (row, column) = self.array.position(spot.pe);
                self.fault(format!("{one} and {other} both take PE {row},{column} in slot {slot}"));
            }
        }
    }

    /// Rule (d).
    fn memory_ports(&mut self) {
        let mut uses: BTreeMap<u64, u32> = BTreeMap::new();
        for (node, spot) in self.graph.nodes.iter().zip(&self.mapping.spots) {
            if let (true, Some(spot)) = (node.is_memory(), spot) {
                *uses.entry(self.slot(spot.cycle)).or_default() += 1;
            }
        }
        for (slot, uses) in uses {
            if uses > self.array.memory_ports {
                let ports = self.array.memory_ports;
                self.fault(format!("{uses} accesses to memory in slot {slot}, which has {ports}"));
            }
        }
    }

    /// Rules (b) and (c).
    fn readers(&mut self) {
        let mut last_wait: BTreeMap<Held, u64> = BTreeMap::new();
        for (number, route) in self.mapping.routes.iter().enumerate() {
            let reader = self.name((route.value, Holder::Route(number)));
            let from = (route.value, route.from);
            self.read(&reader, route.spot.pe, route.spot.cycle, from, &mut last_wait);
        }
        for (edge, via) in self.graph.edges.iter().zip(&self.mapping.via) {
            let Some(via) = *via else { continue };
            let reader = self.mapping.spots[edge.to].expect("a placed consumer");
            let cycle = reader.cycle + u64::from(edge.distance) * u64::from(self.mapping.ii);
            let name = format!("`{}`", self.graph.nodes[edge.to].id);
            self.read(&name, reader.pe, cycle, (edge.from, via), &mut last_wait);
        }
        self.registers(&last_wait);
    }

    /// Rule (b) for one reader. A reader later than the next cycle is noted in `last_wait`.
    fn read(
        &mut self,
        reader: &str,
        pe: usize,
        cycle: u64,
        from: Held,
        last_wait: &mut BTreeMap<Held, u64>,
    ) {
        let holder = self.spot(from);
        let name = self.name(from);
        if cycle <= holder.cycle {
            self.fault(format!("{reader} reads {name} in cycle {cycle}, before it is there"));
        } else if cycle == holder.cycle + 1 {
            if !self.array.reads(pe, holder.pe) {
                self.fault(format!("{reader} reads {name}, which is out of reach"));
            }
        } else if pe != holder.pe {
            self.fault(format!("{reader} reads a register of another PE, that of {name}"));
        } else {
            let last = last_wait.entry(from).or_default();
            *last = cycle.max(*last);
        }
    }

    /// Rule (c), given the last cycle in which each value is read from a register.
    fn registers(&mut self, last_wait: &BTreeMap<Held, u64>) {
        let ii = u64::from(self.mapping.ii);
        let mut used: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for (&held, &last) in last_wait {
            let holder = self.spot(held);
            let cycles = last - holder.cycle;
            for slot in 0..ii {
                // Of the cycles holder + 1 ..= last, those of this slot.
                let ahead = (slot + ii - self.slot(holder.cycle + 1)) % ii;
                let values = (cycles + ii - 1 - ahead) / ii;
                if values > 0 {
                    *used.entry((holder.pe, slot)).or_default() += values;
                }
            }
        }
        for ((pe, slot), used) in used {
            if used > u64::from(self.array.registers) {
                let (row, column) = self.array.position(pe);
                let registers = self.array.registers;
                self.fault(format!(
                    "PE {row},{column} keeps {used} values in slot {slot} and has {registers} registers"
                ));
            }
        }
    }
}
