//! Addresses that follow from constants alone, like those of a table that a phase of a known step goes
//! through: iteration by iteration, as the operations of a body compute them.

use nbcc_isa_sdpnm::config::State;

use super::body::{Body, Global, Node, Operand};

/// What operations put out that follow from constants, in so many iterations, and an object begins at 0.
pub fn sequences(body: &Body, iterations: usize) -> Vec<Option<Vec<u32>>> {
    let n = body.nodes.len();
    let is_known = known(body);
    let mut values: Vec<Option<Vec<u32>>> =
        is_known.iter().map(|is_known| is_known.then(|| Vec::with_capacity(iterations))).collect();
    let order = order(body, &is_known);
    for iteration in 0..iterations {
        for &number in &order {
            let node = &body.nodes[number];
            let [in1, in2] = [node.in1, node.in2].map(|operand| match operand {
                Operand::Node { node: from, distance } => {
                    let at = iteration.checked_sub(distance as usize);
                    let value = |at: usize| values[from].as_ref().map_or(0, |values| values[at]);
                    at.map_or_else(|| first(body, &body.nodes[from]), value)
                }
                Operand::Global(number) => constant(&body.globals[number]).unwrap_or(0),
                Operand::Immediate(value) => value as u32,
                Operand::None | Operand::Carried(_) => 0,
            });
            let (value, _) = node.op.evaluate(&node.options, in1, in2, None, &mut State::default());
            if let Some(values) = &mut values[number] {
                values.push(value);
            }
        }
    }
    debug_assert_eq!(values.len(), n);
    values
}

/// The constant that a global register holds, up to where an object begins.
fn constant(global: &Global) -> Option<u32> {
    match global {
        Global::Constant(value) => Some(*value as u32),
        Global::Address(_, index, bytes) => {
            index.as_constant().map(|index| (index as u32).wrapping_mul(*bytes))
        }
        _ => None,
    }
}

/// What an operation puts out before the first iteration.
fn first(body: &Body, node: &Node) -> u32 {
    node.initial.and_then(|number| constant(&body.globals[number])).unwrap_or(0)
}

/// The operations that follow from constants.
fn known(body: &Body) -> Vec<bool> {
    let is_simple = |node: &Node| {
        let is_pure = !node.op.is_memory() && !node.op.accumulates();
        let is_first_known =
            node.initial.is_none_or(|number| constant(&body.globals[number]).is_some());
        let is_plain = node.in3.is_none() && node.condition.is_none() && node.ahead == 0;
        // What else keeps something from one iteration to the next is of arrays without multipliers.
        is_pure && is_first_known && is_plain && node.op.on_fpea()
    };
    let mut is_known: Vec<bool> = body.nodes.iter().map(is_simple).collect();
    loop {
        let is_fine = |operand: Operand| match operand {
            Operand::Node { node, .. } => is_known[node],
            Operand::Global(number) => constant(&body.globals[number]).is_some(),
            Operand::Carried(_) => false,
            Operand::None | Operand::Immediate(_) => true,
        };
        let unknown = (0..is_known.len()).filter(|&number| {
            let node = &body.nodes[number];
            is_known[number] && !(is_fine(node.in1) && is_fine(node.in2))
        });
        let unknown: Vec<usize> = unknown.collect();
        if unknown.is_empty() {
            return is_known;
        }
        unknown.into_iter().for_each(|number| is_known[number] = false);
    }
}

/// The operations that are known, each behind those of its iteration that it reads.
fn order(body: &Body, is_known: &[bool]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_done = vec![false; is_known.len()];
    let mut work: Vec<(usize, bool)> =
        (0..is_known.len()).filter(|&number| is_known[number]).map(|n| (n, false)).collect();
    while let Some((number, is_ready)) = work.pop() {
        if is_done[number] {
            continue;
        }
        if is_ready {
            is_done[number] = true;
            order.push(number);
            continue;
        }
        work.push((number, true));
        for operand in [body.nodes[number].in1, body.nodes[number].in2] {
            if let Operand::Node { node, distance: 0 } = operand {
                work.push((node, false));
            }
        }
    }
    order
}

/// The register with the beginning of the only object that an address is computed of.
pub fn base(body: &Body, address: Operand) -> Option<usize> {
    let mut found = None;
    let mut seen = vec![false; body.nodes.len()];
    let mut work = vec![address];
    while let Some(operand) = work.pop() {
        match operand {
            Operand::Global(number) if matches!(body.globals[number], Global::Address(..)) => {
                if found.is_some_and(|other| other != number) {
                    return None;
                }
                found = Some(number);
            }
            Operand::Node { node, .. } if !std::mem::replace(&mut seen[node], true) => {
                work.extend([body.nodes[node].in1, body.nodes[node].in2]);
            }
            _ => {}
        }
    }
    found
}
