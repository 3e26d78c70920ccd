//! What is added on some ways only, `s = c ? s + x : s`, is a sum of what may be nothing: `s + (c ? x : 0)`.
//! The choice then waits for no sum before it, so that a recurrence through many of them is one of sums
//! alone, which gets shorter (`reassociate.rs`). The same holds of differences and bitwise operations.

use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::body::{Body, Node, Operand};
use super::readers::{Readers, is_bare};

/// The body where choices between a word and its sum are sums of a choice; `None` where there are none.
pub fn opened(body: &Body) -> Option<Body> {
    let mut opened = body.clone();
    let has_bit = Readers::new(body).has_bit;
    let mut is_changed = false;
    // A choice around another one comes behind it, but may stand before it.
    while (0..body.nodes.len()).filter(|&n| !has_bit[n] && open(&mut opened, n)).count() > 0 {
        is_changed = true;
    }
    is_changed.then_some(opened)
}

/// Makes a choice a sum, where it is one.
fn open(body: &mut Body, number: usize) -> bool {
    let choice = &body.nodes[number];
    if choice.op != Opcode::Mux || choice.condition.is_some() || choice.ahead > 0 {
        return false;
    }
    let (in1, in2) = (choice.in1, choice.in2);
    let ways = [(in1, in2, true), (in2, in1, false)];
    let found = ways.into_iter().find_map(|(sum, word, is_first)| {
        let Operand::Node { node, distance: 0 } = sum else { return None };
        let (sum, with) = (&body.nodes[node], added(&body.nodes[node], word)?);
        Some((sum.op, sum.options, word, with, is_first))
    });
    let Some((op, options, word, with, is_first)) = found else { return false };
    let nothing = if op == Opcode::And { Operand::Immediate(-1) } else { Operand::None };
    // A context has one constant.
    if op == Opcode::And && matches!(with, Operand::Immediate(_)) {
        return false;
    }
    let (then, other) = if is_first { (with, nothing) } else { (nothing, with) };
    let maybe = body.nodes.len();
    let gate = Node {
        in1: then,
        in2: other,
        initial: None,
        export: None,
        name: format!("{}{maybe}", Opcode::Mux.mnemonic()),
        ..body.nodes[number].clone()
    };
    body.nodes.push(gate);
    let sum = &mut body.nodes[number];
    (sum.op, sum.options, sum.in3) = (op, options, None);
    (sum.in1, sum.in2) = (word, Operand::node(maybe));
    sum.name = format!("{}{number}", op.mnemonic());
    true
}

/// What an operation adds to a word, or takes from it.
fn added(sum: &Node, word: Operand) -> Option<Operand> {
    if !is_bare(sum) || sum.options != Options::default() || !matches!(word, Operand::Node { .. }) {
        return None;
    }
    match sum.op {
        Opcode::Add | Opcode::And | Opcode::Or | Opcode::Xor if sum.in2 == word => Some(sum.in1),
        Opcode::Add | Opcode::Sub | Opcode::And | Opcode::Or | Opcode::Xor if sum.in1 == word => {
            Some(sum.in2)
        }
        _ => None,
    }
}
