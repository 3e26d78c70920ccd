//! What many operations read is handed on from one group of them to the next, each of which begins a cycle
//! later: an operation has twelve neighbours, and what reads several such values must be close to each of
//! them. So several sums go through an array as through a systolic one (Kung, "Why systolic
//! architectures?", Computer, 1982).

use nbcc_isa_sdpnm::config::Opcode;

use super::body::{Body, Node, Operand};

/// Readers of a value from which on it is handed on.
const MIN_READERS: usize = 6;
/// Readers of a group at least.
const MIN_GROUP: usize = 3;

/// Lets what many read be handed on through so many groups at most.
pub fn run(body: &mut Body, groups: usize) {
    for number in 0..body.nodes.len() {
        let reads = |node: &Node| {
            let word = Operand::node(number);
            let bits = [node.in3, node.condition];
            node.in1 == word || node.in2 == word || bits.contains(&Some(number))
        };
        let others = (0..body.nodes.len()).filter(|&reader| reader != number);
        let readers: Vec<usize> = others.filter(|&reader| reads(&body.nodes[reader])).collect();
        let groups = groups.min(readers.len() / MIN_GROUP);
        if readers.len() < MIN_READERS || groups < 2 || body.nodes[number].op == Opcode::Store {
            continue;
        }
        let is_bit = readers.iter().any(|&reader| {
            let node = &body.nodes[reader];
            [node.in3, node.condition].contains(&Some(number))
        });
        let mut from = number;
        for group in 1..groups {
            let copy = body.nodes.len();
            body.nodes.push(Node {
                in1: Operand::node(from),
                in3: is_bit.then_some(from),
                name: format!("{}_{group}", body.nodes[number].name),
                span: body.nodes[number].span,
                ..Node::new(Opcode::Pass)
            });
            let (first, end) =
                (group * readers.len() / groups, (group + 1) * readers.len() / groups);
            for &reader in &readers[first..end] {
                let node = &mut body.nodes[reader];
                for word in [&mut node.in1, &mut node.in2] {
                    if *word == Operand::node(number) {
                        *word = Operand::node(copy);
                    }
                }
                for bit in node.in3.iter_mut().chain(&mut node.condition) {
                    if *bit == number {
                        *bit = copy;
                    }
                }
            }
            from = copy;
        }
    }
}
