//! Operations of PEs that cover several (legalisation, SDPNM paper, section 3.3): `rfa` adds a product
//! with a constant, be it a scaled subscript, a coefficient or the 1 by which a half is extended;
//! `cmsub` from nothing is a product that is negated and shifted.

use nbcc_isa_sdpnm::config::{Opcode, Options, Part, Width};

use super::body::{Body, Node, Numbers, Operand};
use super::readers::{Readers, is_bare};

/// Who takes only the low half of a word takes it as it was before it was extended.
pub fn shorten(body: &mut Body) {
    for number in 0..body.nodes.len() {
        let (op, options) = (body.nodes[number].op, body.nodes[number].options);
        let is_low = |is_high: bool, is_unsigned: bool| {
            matches!(op, Opcode::MultS | Opcode::Cat) && !is_high && !is_unsigned
        };
        let low1 = is_low(options.high1, options.unsigned1);
        let low2 = is_low(options.high2, options.unsigned2);
        // An extension is such a product itself.
        for is_second in [false, true] {
            let node = &body.nodes[number];
            let operand = if is_second { node.in2 } else { node.in1 };
            let Operand::Node { node: from, distance: 0 } = operand else { continue };
            let word = if is_extension(body, from) { body.nodes[from].in1 } else { continue };
            if matches!(word, Operand::Node { .. }) && if is_second { low2 } else { low1 } {
                let node = &mut body.nodes[number];
                *(if is_second { &mut node.in2 } else { &mut node.in1 }) = word;
            }
        }
    }
}

/// Whether an operation gives the low half of its first word, its sign above.
fn is_extension(body: &Body, number: usize) -> bool {
    let node = &body.nodes[number];
    node.op == Opcode::MultS
        && node.options == Options::default()
        && node.in2 == Operand::Immediate(1)
        && is_bare(node)
}

/// Makes one operation of several; the new numbers of those that stay.
pub fn run(body: &mut Body) -> Numbers {
    let readers = Readers::new(body);
    for number in 0..body.nodes.len() {
        negated(body, &readers, number);
    }
    let readers = Readers::new(body);
    for number in 0..body.nodes.len() {
        added(body, &readers, number);
    }
    body.sweep()
}

/// The operation of a word of the same iteration that only `reader` reads.
fn only(body: &Body, readers: &Readers, operand: Operand, reader: usize) -> Option<usize> {
    let Operand::Node { node, distance: 0 } = operand else { return None };
    (readers.is_only(node, reader) && is_bare(&body.nodes[node])).then_some(node)
}

/// A sum with a product of a constant.
fn added(body: &mut Body, readers: &Readers, number: usize) {
    let node = &body.nodes[number];
    let is_sum = matches!(node.op, Opcode::Add | Opcode::Sub)
        && node.in3.is_none()
        && node.condition.is_none()
        && !readers.has_bit[number];
    if !is_sum {
        return;
    }
    let is_negative = node.op == Opcode::Sub;
    let ways = [(node.in2, node.in1), (node.in1, node.in2)];
    let ways = &ways[..if is_negative { 1 } else { 2 }];
    let found = ways.iter().find_map(|&(product, rest)| {
        let of = only(body, readers, product, number)?;
        let (word, high1, by) = scaled(body, of)?;
        let by = if is_negative { by.checked_neg()? } else { by };
        Some((word, rest, high1, by))
    });
    let Some((word, rest, high1, by)) = found else { return };
    let node = &mut body.nodes[number];
    (node.in1, node.in2) = (word, rest);
    node.op = Opcode::RFa;
    node.name = format!("{}{number}", Opcode::RFa.mnemonic());
    node.options = Options { high1, coefficient: u32::from(by as u16), ..Options::default() };
}

/// A product of a half and a constant of 16 bits: the word, whether its high half, the constant.
fn scaled(body: &Body, number: usize) -> Option<(Operand, bool, i16)> {
    let node = &body.nodes[number];
    let Operand::Immediate(by) = node.in2 else { return None };
    let is_word = matches!(node.in1, Operand::Node { .. });
    match node.op {
        Opcode::MultS if is_word => {
            let high1 = node.options.high1;
            let is_plain = node.options == Options { high1, ..Options::default() };
            // Of the constant the low half counts.
            is_plain.then_some((node.in1, high1, by as i16))
        }
        Opcode::LSftS if is_word && !node.options.halves && (0..15).contains(&by) => {
            let Operand::Node { node: word, .. } = node.in1 else { return None };
            is_half(body, word).then_some((node.in1, false, 1 << by))
        }
        _ => None,
    }
}

/// Whether what an operation puts out is its low half, signed.
fn is_half(body: &Body, number: usize) -> bool {
    let node = &body.nodes[number];
    let constant = match node.in2 {
        Operand::Immediate(constant) => Some(constant),
        _ => None,
    };
    // Before its first iteration it puts out something else.
    let is_known = node.initial.is_none() && node.in3.is_none();
    is_known
        && match (node.op, constant) {
            (Opcode::And, Some(mask)) => (0..1 << 15).contains(&mask),
            (Opcode::Lrs, Some(amount)) => (17..32).contains(&amount),
            (Opcode::RSftS, Some(amount)) => (16..32).contains(&amount) && !node.options.halves,
            (Opcode::Load, _) => {
                matches!(node.memory.width, Width::I16 | Width::I8 | Width::U8)
            }
            _ => is_extension(body, number),
        }
}

/// A product that is subtracted from nothing, and shifted then, maybe.
fn negated(body: &mut Body, readers: &Readers, number: usize) {
    let is_negation = |node: &Node| {
        node.op == Opcode::Sub
            && node.in1 == Operand::None
            && node.in3.is_none()
            && node.condition.is_none()
    };
    let node = &body.nodes[number];
    if readers.has_bit[number] || node.condition.is_some() {
        return;
    }
    let shifted = match (node.op, node.in2) {
        (Opcode::RSftS, Operand::Immediate(amount)) if !node.options.halves => {
            let of = only(body, readers, node.in1, number);
            of.filter(|&of| is_negation(&body.nodes[of])).map(|of| (of, amount & 31))
        }
        _ => is_negation(node).then_some((number, 0)),
    };
    let Some((negation, scale)) = shifted else { return };
    let Some(product) = only(body, readers, body.nodes[negation].in2, negation) else { return };
    let Node { op, options, in1, in2, .. } = body.nodes[product].clone();
    let Options { high1, high2, .. } = options;
    if op != Opcode::MultS || options != (Options { high1, high2, ..Options::default() }) {
        return;
    }
    // Above one of the factors there are zeros, so that one product of both parts is left.
    let zeros = |operand: Operand| {
        let Operand::Node { node, .. } = operand else { return None };
        let load = &body.nodes[node];
        let is_alone = readers.words[node].len() == 1 && !readers.has_bit[node];
        let is_free = load.op == Opcode::Load && is_alone && load.initial.is_none();
        let fits = is_free && load.export.is_none() && load.condition.is_none();
        (fits && matches!(load.memory.width, Width::I16 | Width::U16)).then_some(node)
    };
    let found = match (zeros(in1).filter(|_| !high1), zeros(in2).filter(|_| !high2)) {
        (_, Some(load)) => Some((load, in1, in2, high1)),
        (Some(load), None) => Some((load, in2, in1, high2)),
        _ => None,
    };
    let Some((load, word, narrow, is_high)) = found else { return };
    body.nodes[load].memory.width = Width::U16;
    let node = &mut body.nodes[number];
    node.op = Opcode::Cmsub;
    (node.in1, node.in2) = (word, narrow);
    node.name = format!("{}{number}", Opcode::Cmsub.mnemonic());
    let part = if is_high { Part::Imaginary } else { Part::Real };
    node.options = Options { scale: scale as u8, begin: true, part, ..Options::default() };
}
