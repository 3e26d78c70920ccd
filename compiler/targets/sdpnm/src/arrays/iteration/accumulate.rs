//! Sums that begin at zero where a bit says so are kept in accumulators (Table 1 of the SDPNM paper: complex
//! multiply and accumulate): of `s = (first ? 0 : s') + x * y`, with `s'` of the iteration before, one
//! operation is left, which nothing waits for.

use nbcc_isa_sdpnm::config::{Opcode, Options, Part, Width};

use super::body::{Body, Global, Node, Numbers, Operand};
use super::readers::{Readers, is_bare};

/// A sum with the choice that it begins with.
#[derive(Debug)]
struct Sum {
    choice: usize,
    whole: usize,
    /// What is added, and whether it is subtracted.
    terms: Vec<(Operand, bool)>,
}

/// Lets what is left of such sums go on from iteration to iteration: what they were where they should have
/// begun is kept, and subtracted. Then nothing waits for the choice, and sums take a cycle.
pub fn differ(body: &mut Body) {
    let choices: Vec<usize> =
        (0..body.nodes.len()).filter(|&number| body.nodes[number].op == Opcode::Mux).collect();
    for choice in choices {
        let readers = Readers::new(body);
        let Some(Sum { whole, .. }) = sum(body, &readers, choice) else { continue };
        let before = Operand::Node { node: whole, distance: 1 };
        let others = |&(reader, distance): &(usize, u32)| distance == 0 && reader != choice;
        let others: Vec<usize> =
            readers.words[whole].iter().filter(|r| others(r)).map(|&(reader, _)| reader).collect();
        for node in &mut body.nodes {
            for word in [&mut node.in1, &mut node.in2] {
                if *word == Operand::node(choice) {
                    *word = before;
                }
            }
        }
        let initial = body.nodes[whole].initial;
        let kept = &mut body.nodes[choice];
        (kept.in1, kept.initial) = (before, initial);
        kept.in2 = Operand::Node { node: choice, distance: 1 };
        let number = body.nodes.len();
        let (in1, in2) = (Operand::node(whole), Operand::node(choice));
        let (name, span) = (format!("sub{number}"), body.nodes[whole].span);
        body.nodes.push(Node { in1, in2, name, span, ..Node::new(Opcode::Sub) });
        for reader in others {
            let node = &mut body.nodes[reader];
            for word in [&mut node.in1, &mut node.in2] {
                if *word == Operand::node(whole) {
                    *word = Operand::node(number);
                }
            }
        }
    }
}

/// Keeps sums in accumulators.
pub fn run(body: &mut Body) -> Numbers {
    let choices: Vec<usize> =
        (0..body.nodes.len()).filter(|&number| body.nodes[number].op == Opcode::Mux).collect();
    for choice in choices {
        let readers = Readers::new(body);
        if let Some(sum) = sum(body, &readers, choice) {
            accumulate(body, &readers, &sum);
        }
    }
    body.sweep()
}

fn is_sum(node: &Node) -> bool {
    matches!(node.op, Opcode::Add | Opcode::Sub)
        && node.in3.is_none()
        && node.condition.is_none()
        && node.ahead == 0
}

/// The sum that begins with a choice of zero or what it was an iteration before.
fn sum(body: &Body, readers: &Readers, choice: usize) -> Option<Sum> {
    let node = &body.nodes[choice];
    let Operand::Node { node: whole, distance: 1 } = node.in2 else { return None };
    let is_plain = node.in1 == Operand::None
        && is_bare(&Node { in3: None, ..node.clone() })
        && readers.is_read_once(choice);
    let end = &body.nodes[whole];
    let is_zero = end.initial.is_some_and(|first| body.globals[first] == Global::Constant(0));
    let is_end = is_sum(end) && end.export.is_none() && is_zero && !readers.has_bit[whole];
    let is_fine = |&(reader, distance): &(usize, u32)| distance == 0 || reader == choice;
    if !is_plain || node.in3.is_none() || !is_end || !readers.words[whole].iter().all(is_fine) {
        return None;
    }
    let mut terms = Vec::new();
    let mut found = false;
    let mut work = vec![(Operand::node(whole), false)];
    while let Some((operand, is_negative)) = work.pop() {
        let Operand::Node { node, distance: 0 } = operand else {
            terms.push((operand, is_negative));
            continue;
        };
        let data = &body.nodes[node];
        let is_part =
            node == whole || (is_sum(data) && is_bare(data) && readers.is_read_once(node));
        if node == choice {
            if is_negative {
                return None;
            }
            found = true;
        } else if is_part {
            work.push((data.in2, is_negative != (data.op == Opcode::Sub)));
            work.push((data.in1, is_negative));
        } else {
            terms.push((operand, is_negative));
        }
    }
    terms.retain(|(operand, _)| *operand != Operand::None);
    found.then_some(Sum { choice, whole, terms })
}

/// The operation that adds a product to its accumulator: of which words, and what of the result.
fn product(
    body: &mut Body,
    readers: &Readers,
    (operand, is_negative): (Operand, bool),
) -> Option<usize> {
    let Operand::Node { node: number, distance: 0 } = operand else { return None };
    let node = &body.nodes[number];
    if !is_bare(node) || !readers.is_read_once(number) || node.options.scale != 0 {
        return None;
    }
    let op = match (node.op, is_negative) {
        (Opcode::Mcc, false) => Opcode::Mcca,
        (Opcode::Mcc, true) => Opcode::Mccs,
        (Opcode::CMult, false) => Opcode::Cmac,
        (Opcode::CMult, true) => Opcode::Cmsub,
        // Above one of the factors there are zeros, so that one product is left.
        (Opcode::MultS, _) if node.options == Options::default() => {
            let load = [node.in1, node.in2].into_iter().find_map(|operand| {
                let Operand::Node { node, .. } = operand else { return None };
                let load = &body.nodes[node];
                let is_alone = readers.words[node].len() == 1 && !readers.has_bit[node];
                let is_free = load.op == Opcode::Load
                    && load.initial.is_none()
                    && load.export.is_none()
                    && load.condition.is_none();
                let is_narrow = match load.memory.width {
                    Width::I16 | Width::U16 => is_alone,
                    Width::U8 => true,
                    _ => false,
                };
                (is_free && is_narrow).then_some(node)
            })?;
            if body.nodes[load].memory.width == Width::I16 {
                body.nodes[load].memory.width = Width::U16;
            }
            body.nodes[number].options.part = Part::Real;
            if is_negative { Opcode::Mccs } else { Opcode::Mcca }
        }
        _ => return None,
    };
    if body.nodes[number].options.part == Part::Packed {
        return None;
    }
    body.nodes[number].op = op;
    Some(number)
}

/// Puts the products of a sum into accumulators, and what comes out of these together.
fn accumulate(body: &mut Body, readers: &Readers, sum: &Sum) {
    let mut kept: Vec<usize> = Vec::new();
    let mut others: Vec<(Operand, bool)> = Vec::new();
    for &term in &sum.terms {
        match product(body, readers, term) {
            Some(number) => kept.push(number),
            None => others.push(term),
        }
    }
    if kept.is_empty() {
        return;
    }
    let first = body.nodes[sum.choice].in3;
    for &number in &kept {
        let node = &mut body.nodes[number];
        node.in3 = first;
        node.name = format!("{}{number}", node.op.mnemonic());
    }
    let model = Node { initial: None, ..body.nodes[sum.whole].clone() };
    let add = |body: &mut Body, op: Opcode, in1: Operand, in2: Operand| {
        let number = body.nodes.len();
        let name = format!("{}{number}", op.mnemonic());
        body.nodes.push(Node { op, in1, in2, name, ..model.clone() });
        Operand::node(number)
    };
    let mut parts: Vec<Operand> = kept.into_iter().map(Operand::node).collect();
    // What is no product goes on from iteration to iteration.
    if !others.is_empty() {
        others.sort_by_key(|&(_, is_negative)| is_negative);
        let mut rest = Operand::node(sum.choice);
        let (mut more, is_negative) = others[0];
        for &(term, negative) in &others[1..] {
            let op = if negative == is_negative { Opcode::Add } else { Opcode::Sub };
            more = add(body, op, more, term);
        }
        let op = if is_negative { Opcode::Sub } else { Opcode::Add };
        rest = add(body, op, rest, more);
        let Operand::Node { node, .. } = rest else { unreachable!("it was added") };
        body.nodes[node].initial = body.nodes[sum.whole].initial;
        body.nodes[sum.choice].in2 = Operand::Node { node, distance: 1 };
        parts.push(rest);
    }
    while parts.len() > 2 {
        let pairs: Vec<Vec<Operand>> = parts.chunks(2).map(<[Operand]>::to_vec).collect();
        parts = pairs
            .into_iter()
            .map(|pair| match pair[..] {
                [one, two] => add(body, Opcode::Add, one, two),
                _ => pair[0],
            })
            .collect();
    }
    let whole = Operand::node(sum.whole);
    match parts[..] {
        [only] => {
            for node in &mut body.nodes {
                for word in [&mut node.in1, &mut node.in2] {
                    if *word == whole {
                        *word = only;
                    }
                }
            }
            // Only the choice reads it, which nobody reads.
            body.nodes[sum.whole].initial = None;
        }
        _ => {
            let node = &mut body.nodes[sum.whole];
            (node.op, node.in1, node.in2, node.initial) = (Opcode::Add, parts[0], parts[1], None);
        }
    }
}
