//! The package of a mapping (SDPNM paper, section 3.4): what each PE does in each slot of the interval, and the
//! rings of registers in which values wait.

use std::collections::BTreeMap;

use nbcc_isa_sdpnm::config::context::{Bit, Control, Source};
use nbcc_isa_sdpnm::config::{Context, Opcode, Package, Placed};
use nbcc_isa_sdpnm::{Array, Holder, Mapping, Spot};

use super::place::How;
use crate::arrays::iteration::body::{Body, Edge, Operand, Port};
use crate::map::Outcome;

/// Where a value is held: by the operation that computed it, or by one that handed it on.
type Held = (usize, Holder);

fn spot(mapping: &Mapping, held: Held) -> Spot {
    match held.1 {
        Holder::Producer => mapping.spots[held.0].expect("operations are placed"),
        Holder::Route(route) => mapping.routes[route].spot,
    }
}

/// What is read from registers.
struct Waits {
    /// The registers that each value takes where it is held.
    registers: BTreeMap<Held, u64>,
    /// Whether each route hands a value to somebody: those that only orders asked for need not run.
    is_used: Vec<bool>,
}

impl Waits {
    fn new(mapping: &Mapping, edges: &[Edge]) -> Waits {
        let ii = u64::from(mapping.ii);
        let is_used = vec![false; mapping.routes.len()];
        let mut waits = Waits { registers: BTreeMap::new(), is_used };
        let mut work = Vec::new();
        for (edge, via) in edges.iter().zip(&mapping.via) {
            let (Some(via), true) = (*via, edge.port != Port::Order) else { continue };
            let reader = spot(mapping, (edge.to, Holder::Producer));
            let at = reader.cycle + u64::from(edge.distance) * ii;
            waits.note(mapping, (edge.from, via), at, edge.distance);
            work.push(via);
        }
        while let Some(holder) = work.pop() {
            let Holder::Route(route) = holder else { continue };
            if !std::mem::replace(&mut waits.is_used[route], true) {
                let data = &mapping.routes[route];
                waits.note(mapping, (data.value, data.from), data.spot.cycle, 0);
                work.push(data.from);
            }
        }
        waits
    }

    /// Somebody reads a value in a cycle, that of as many iterations before.
    fn note(&mut self, mapping: &Mapping, held: Held, at: u64, ago: u32) {
        let since = at - spot(mapping, held).cycle;
        if since > 1 {
            // A register for each iteration that begins meanwhile.
            let most = self.registers.entry(held).or_default();
            *most = since.div_ceil(mapping.ii.into()).max(u64::from(ago) + 1).max(*most);
        }
    }
}

/// Rings of registers.
struct Rings {
    /// The registers of each ring, PE by PE.
    sizes: BTreeMap<u16, Vec<u8>>,
    /// The ring of each value that waits, by its number on the PE.
    of: BTreeMap<Held, u8>,
}

impl Rings {
    /// A ring for each value; `None` where those of a PE have more registers than there are.
    fn new(mapping: &Mapping, waits: &Waits, array: &Array) -> Option<Rings> {
        let mut rings = Rings { sizes: BTreeMap::new(), of: BTreeMap::new() };
        for (&held, &registers) in &waits.registers {
            let of_pe = rings.sizes.entry(spot(mapping, held).pe as u16).or_default();
            rings.of.insert(held, u8::try_from(of_pe.len()).ok()?);
            of_pe.push(u8::try_from(registers).ok()?);
        }
        let registers = |ring: &Vec<u8>| ring.iter().map(|&n| u32::from(n)).sum::<u32>();
        rings.sizes.values().all(|ring| registers(ring) <= array.registers).then_some(rings)
    }
}

/// Whether each route carries the bit as well: somebody reads it.
fn with_bits(mapping: &Mapping, edges: &[Edge]) -> Vec<bool> {
    let mut is_bit = vec![false; mapping.routes.len()];
    let mut bits: Vec<Holder> = edges
        .iter()
        .zip(&mapping.via)
        .filter(|(edge, _)| matches!(edge.port, Port::In3 | Port::Condition))
        .filter_map(|(_, via)| *via)
        .collect();
    while let Some(holder) = bits.pop() {
        if let Holder::Route(route) = holder
            && !std::mem::replace(&mut is_bit[route], true)
        {
            bits.push(mapping.routes[route].from);
        }
    }
    is_bit
}

/// A mapping with its rings.
struct Packing<'a> {
    body: &'a Body,
    edges: &'a [Edge],
    mapping: &'a Mapping,
    rings: &'a Rings,
    how: &'a How<'a>,
}

impl Packing<'_> {
    /// How a PE reads a value in a cycle, that of as many iterations before.
    fn read(&self, held: Held, pe: usize, at: u64, ago: u32) -> (Source, Bit) {
        let holder = spot(self.mapping, held);
        if at == holder.cycle + 1 {
            let array = &self.how.machine.array;
            let (r, h) = (array.position(pe), array.position(holder.pe));
            let (row, column) = ((h.0 as i32 - r.0 as i32) as i8, (h.1 as i32 - r.1 as i32) as i8);
            return (Source::Output(row, column), Bit::Output(row, column));
        }
        let (ring, ago) = (self.rings.of[&held], ago as u8);
        (Source::Register { ring, ago }, Bit::Register { ring, ago })
    }

    /// What an operation does.
    fn operation(&self, number: usize) -> Placed {
        let node = &self.body.nodes[number];
        let ii = u64::from(self.mapping.ii);
        let own = spot(self.mapping, (number, Holder::Producer));
        let of = |port: Port| -> Option<(Source, Bit)> {
            let mut found = self.edges.iter().zip(&self.mapping.via);
            let (edge, via) = found.find(|(e, _)| e.to == number && e.port == port)?;
            let at = own.cycle + u64::from(edge.distance) * ii;
            Some(self.read((edge.from, (*via)?), own.pe, at, edge.distance))
        };
        let word = |operand: Operand, port: Port| match operand {
            Operand::None | Operand::Carried(_) => Source::None,
            Operand::Node { .. } => of(port).map_or(Source::None, |(source, _)| source),
            Operand::Global(number) => Source::Global(number as u8),
            Operand::Immediate(value) => Source::Immediate(value),
        };
        let bit = |is_there: bool, port: Port| match is_there {
            true => of(port).map_or(Bit::None, |(_, bit)| bit),
            false => Bit::None,
        };
        Placed {
            pe: own.pe as u16,
            slot: (own.cycle % ii) as u16,
            context: Context {
                op: node.op,
                options: node.options,
                in1: word(node.in1, Port::In1),
                in2: word(node.in2, Port::In2),
                in3: bit(node.in3.is_some(), Port::In3),
                memory: node.memory,
                control: Control {
                    stage: (own.cycle / ii) as u16,
                    ahead: node.ahead,
                    initial: node.initial.map(|global| global as u8),
                    keep: self.rings.of.get(&(number, Holder::Producer)).copied(),
                    export: node.export.map(|global| global as u8),
                    condition: bit(node.condition.is_some(), Port::Condition),
                },
            },
            line: self.how.line(node.span),
        }
    }

    /// What hands a value on, with its bit or without.
    fn route(&self, number: usize, is_bit: bool) -> Placed {
        let route = &self.mapping.routes[number];
        let ii = u64::from(self.mapping.ii);
        let value = &self.body.nodes[route.value];
        let (in1, in3) = self.read((route.value, route.from), route.spot.pe, route.spot.cycle, 0);
        Placed {
            pe: route.spot.pe as u16,
            slot: (route.spot.cycle % ii) as u16,
            context: Context {
                op: Opcode::Pass,
                options: Default::default(),
                in1,
                in2: Source::None,
                in3: if is_bit { in3 } else { Bit::None },
                memory: Default::default(),
                control: Control {
                    stage: (route.spot.cycle / ii) as u16,
                    ahead: value.ahead,
                    initial: value.initial.map(|global| global as u8),
                    keep: self.rings.of.get(&(route.value, Holder::Route(number))).copied(),
                    export: None,
                    condition: Bit::None,
                },
            },
            line: self.how.line(value.span),
        }
    }
}

/// The package of a mapping; `None` where the rings of a PE have more registers than there are.
pub(super) fn package(
    body: &Body,
    edges: &[Edge],
    outcome: &Outcome,
    how: &How<'_>,
) -> Option<Package> {
    let mapping = &outcome.mapping;
    let waits = Waits::new(mapping, edges);
    let rings = Rings::new(mapping, &waits, &how.machine.array)?;
    let is_bit = with_bits(mapping, edges);
    let packing = Packing { body, edges, mapping, rings: &rings, how };
    let operations = (0..body.nodes.len()).map(|number| packing.operation(number));
    let routes = (0..mapping.routes.len()).filter(|&number| waits.is_used[number]);
    let routes = routes.map(|number| packing.route(number, is_bit[number]));
    let mut contexts: Vec<Placed> = operations.chain(routes).collect();
    contexts.sort_by_key(|placed| (placed.pe, placed.slot));
    // Nothing runs before the array starts.
    let late =
        contexts.iter().map(|p| p.context.control.ahead.saturating_sub(p.context.control.stage));
    let late = late.max().unwrap_or(0);
    for placed in &mut contexts {
        placed.context.control.stage += late;
    }
    let package = Package {
        name: how.name.to_string(),
        array: how.number,
        ii: mapping.ii as u16,
        mii: outcome.mii.mii as u16,
        rings: rings.sizes.into_iter().collect(),
        contexts,
    };
    // Results that come in one cycle are found behind this.
    let mut without = package.clone();
    without.contexts.iter_mut().for_each(|placed| placed.context.control.export = None);
    without.check(how.machine).is_ok().then_some(package)
}
