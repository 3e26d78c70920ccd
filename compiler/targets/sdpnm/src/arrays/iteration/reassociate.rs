//! Recurrences of sums get shorter (reassociation of linear recurrences: Kogge, Stone, "A parallel
//! algorithm for the efficient solution of a general class of recurrence equations", IEEE Transactions
//! on Computers, 1973). Of `s1 = s0 + x1`, `s2 = s1 + x2`, `s3 = s2 + x3` the last becomes
//! `s3 = s0 + ((x1 + x2) + x3)`: what is added does not wait for `s0`, so that two operations leave the
//! cycle of dependences, at the price of two others; none where nobody else reads `s1` and `s2`. Words
//! wrap, so that nothing changes but the carry, which nobody may read. The same holds of bitwise
//! operations and of the smaller or larger one of two words.
//!
//! As few operations move as bring the interval to what recurrences of other operations and resources
//! allow.

use std::ops::Range;

use nbcc_isa_sdpnm::Array;
use nbcc_isa_sdpnm::config::Opcode;

use super::body::{Body, Node, Numbers, Operand};
use super::fuse;
use super::gates;
use super::lines;
use crate::arrays::placing::place::bounds;

/// Operations of a body that one is added for at least.
const SHARE: usize = 2;

/// Of so many operations there is about one more that hands a value on.
const OPERATIONS_A_ROUTE: usize = 6;

/// Intervals that are tried at most.
const TARGETS: usize = 12;

/// Shortens the recurrences of a body where that lowers the bound of its interval on `array`: the body
/// then, with what it needs beside, and the new numbers of what stays.
pub fn run(body: &Body, array: &Array) -> Option<(Body, Numbers)> {
    let mut fused = body.clone();
    fuse::run(&mut fused);
    let before = bounds(&fused, array);
    let least = before.res.max(1);
    let mut best = Best { price: (before.mii, 0), found: None };
    if before.rec > least {
        best.look_for(body, array, least..before.rec);
        if let Some(opened) = gates::opened(body) {
            best.look_for(&opened, array, least..before.rec);
        }
    }
    best.found
}

/// The best body that was found.
struct Best {
    /// Its interval and its operations.
    price: (u32, usize),
    found: Option<(Body, Numbers)>,
}

impl Best {
    /// Looks for a better one that a body becomes, for intervals from the first on.
    fn look_for(&mut self, body: &Body, array: &Array, targets: Range<u32>) {
        let step = targets.len().div_ceil(TARGETS).max(1);
        for target in targets.step_by(step) {
            let mut trial = body.clone();
            let shortened = shorten(&mut trial, array, target);
            let is_cut = shortened.is_some();
            let numbers = shortened.unwrap_or_else(|| body.numbers()).then(&fuse::run(&mut trial));
            if bounds(&trial, array).mii > 1 {
                lines::run(&mut trial);
            }
            let operations = trial.nodes.len();
            let room = (operations + operations / OPERATIONS_A_ROUTE).div_ceil(array.pes());
            let price = (bounds(&trial, array).mii.max(room as u32), operations);
            if price < self.price {
                *self = Best { price, found: Some((trial, numbers)) };
            }
            // What cannot be cut for the shortest interval cannot for longer ones: the same trial again.
            // Nor do longer ones than were found count any more.
            if !is_cut || self.found.is_some() && self.price.0 <= target {
                break;
            }
        }
    }
}

/// Chains that are cut at most: what is added may depend on the chain itself, so that what leaves one
/// cycle of dependences comes to another one.
const CUTS: usize = 64;

/// Shortens recurrences until an interval is `target` as far as they say, or none can be shorter;
/// `None` where nothing is cut.
fn shorten(body: &mut Body, array: &Array, target: u32) -> Option<Numbers> {
    let mut numbers = body.numbers();
    let mut is_cut = false;
    let most = body.nodes.len() + body.nodes.len() / SHARE;
    for _ in 0..CUTS {
        let bounds = bounds(body, array);
        if bounds.rec <= target || body.nodes.len() > most {
            break;
        }
        let allowed = u64::from(target) * bounds.cycle_distance;
        let surplus = bounds.cycle.len() - allowed as usize;
        let Some(chain) = cheapest(body, &bounds.cycle, surplus) else { break };
        cut(body, &chain);
        numbers = numbers.then(&body.sweep());
        is_cut = true;
    }
    is_cut.then_some(numbers)
}

/// How operations that stand one behind the other may be put together otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Law {
    /// Sums and differences.
    Sum,
    /// One operation, whichever of its operands is the first.
    Same(Opcode, bool, bool),
}

fn law(node: &Node) -> Option<Law> {
    let is_bare = node.in3.is_none() && node.condition.is_none() && node.ahead == 0;
    let law = match node.op {
        Opcode::Add | Opcode::Sub => Law::Sum,
        Opcode::And | Opcode::Or | Opcode::Xor => Law::Same(node.op, false, false),
        Opcode::Cmp => Law::Same(node.op, node.options.unsigned1, node.options.larger),
        _ => return None,
    };
    is_bare.then_some(law)
}

/// An operation of a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    node: usize,
    /// What the chain brings.
    from: Operand,
    /// What is added.
    with: Operand,
    is_negative: bool,
}

/// An operation as one that the chain reaches from another one.
fn link(body: &Body, from: usize, to: usize) -> Option<Link> {
    let node = &body.nodes[to];
    law(node)?;
    let is_it = |operand: Operand| matches!(operand, Operand::Node { node, .. } if node == from);
    let is_negative = node.op == Opcode::Sub;
    match (is_it(node.in1), is_it(node.in2)) {
        (true, false) => Some(Link { node: to, from: node.in1, with: node.in2, is_negative }),
        (false, true) if !is_negative => {
            Some(Link { node: to, from: node.in2, with: node.in1, is_negative })
        }
        _ => None,
    }
}

/// The operations of a cycle of dependences that leave it at the least price, so that it is `surplus`
/// operations shorter or as much as possible: a chain of which the last one stays.
fn cheapest(body: &Body, cycle: &[usize], surplus: usize) -> Option<Vec<Link>> {
    let n = cycle.len();
    let readers = readers(body);
    let mut best: Option<(usize, i64, Vec<Link>)> = None;
    for first in 0..n {
        let mut chain: Vec<Link> = Vec::new();
        for at in first..first + n.min(surplus + 1) {
            let Some(link) = link(body, cycle[(at + n - 1) % n], cycle[at % n]) else { break };
            let is_next = chain.last().is_none_or(|before| {
                link.from == Operand::node(before.node)
                    && law(&body.nodes[before.node]) == law(&body.nodes[link.node])
            });
            if !is_next {
                break;
            }
            chain.push(link);
        }
        // The carry of the last one becomes another one.
        while chain.last().is_some_and(|link| readers[link.node].has_bit) {
            chain.pop();
        }
        let Some(saved) = chain.len().checked_sub(1).filter(|&saved| saved > 0) else { continue };
        let price = saved as i64 - unneeded(body, &readers, &chain) as i64;
        let is_better = best.as_ref().is_none_or(|&(most, least, _)| {
            (saved, std::cmp::Reverse(price)) > (most, std::cmp::Reverse(least))
        });
        if is_better {
            best = Some((saved, price, chain));
        }
    }
    best.map(|(_, _, chain)| chain)
}

/// Who reads an operation.
#[derive(Clone, Debug, Default)]
struct Readers {
    /// How many operands are its word.
    words: usize,
    /// Whose the last of them is.
    last: usize,
    has_bit: bool,
}

fn readers(body: &Body) -> Vec<Readers> {
    let mut readers = vec![Readers::default(); body.nodes.len()];
    for (reader, node) in body.nodes.iter().enumerate() {
        for operand in [node.in1, node.in2] {
            if let Operand::Node { node, .. } = operand {
                readers[node].words += 1;
                readers[node].last = reader;
            }
        }
        for bit in [node.in3, node.condition].into_iter().flatten() {
            readers[bit].has_bit = true;
        }
    }
    readers
}

/// How many operations of a chain only lead to the last one.
fn unneeded(body: &Body, readers: &[Readers], chain: &[Link]) -> usize {
    let inner = chain[..chain.len() - 1].iter().rev();
    let is_alone = |(next, link): &(&Link, &Link)| {
        let of = &readers[link.node];
        let is_exported = body.nodes[link.node].export.is_some();
        (of.words, of.last) == (1, next.node) && !of.has_bit && !is_exported
    };
    chain[1..].iter().rev().zip(inner).take_while(is_alone).count()
}

/// Lets the last operation of a chain take what the others add at once.
fn cut(body: &mut Body, chain: &[Link]) {
    let last = chain[chain.len() - 1];
    // A difference begins with what is added.
    let mut terms: Vec<(Operand, bool)> =
        chain.iter().map(|link| (link.with, link.is_negative)).collect();
    let is_negative = terms.iter().all(|&(_, is_negative)| is_negative);
    if is_negative {
        terms.iter_mut().for_each(|(_, is_negative)| *is_negative = false);
    } else if let Some(first) = terms.iter().position(|&(_, is_negative)| !is_negative) {
        terms.swap(0, first);
    }
    let model = body.nodes[last.node].clone();
    let mut sum = terms[0].0;
    for &(term, is_negative) in &terms[1..] {
        sum = put_together(body, &model, sum, term, is_negative);
    }
    let node = &mut body.nodes[last.node];
    (node.in1, node.in2) = (chain[0].from, sum);
    if law(&model) == Some(Law::Sum) {
        node.op = if is_negative { Opcode::Sub } else { Opcode::Add };
    }
}

/// Two terms as one.
fn put_together(
    body: &mut Body,
    model: &Node,
    in1: Operand,
    in2: Operand,
    is_negative: bool,
) -> Operand {
    let op = match (law(model), is_negative) {
        (Some(Law::Sum), true) => Opcode::Sub,
        (Some(Law::Sum), false) => Opcode::Add,
        _ => model.op,
    };
    let word = |operand: Operand| match operand {
        Operand::Immediate(value) => Some(value as u32),
        Operand::None => Some(0),
        _ => None,
    };
    // A context has one constant.
    if let (Some(a), Some(b)) = (word(in1), word(in2)) {
        let (value, _) = op.evaluate(&model.options, a, b, None, &mut Default::default());
        return if value == 0 { Operand::None } else { Operand::Immediate(value as i32) };
    }
    let number = body.nodes.len();
    body.nodes.push(Node {
        op,
        in1,
        in2,
        initial: None,
        export: None,
        name: format!("{}{number}", op.mnemonic()),
        ..model.clone()
    });
    Operand::node(number)
}
