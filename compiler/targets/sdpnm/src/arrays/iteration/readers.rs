//! Who reads what operations of a body put out.

use super::body::{Body, Node, Operand};

/// The readers of each operation.
#[derive(Debug)]
pub(super) struct Readers {
    /// Those of its word, and of as many iterations before.
    pub words: Vec<Vec<(usize, u32)>>,
    /// Whether somebody reads its bit.
    pub has_bit: Vec<bool>,
}

impl Readers {
    /// The readers in a body.
    pub fn new(body: &Body) -> Readers {
        let n = body.nodes.len();
        let mut readers = Readers { words: vec![Vec::new(); n], has_bit: vec![false; n] };
        for (reader, node) in body.nodes.iter().enumerate() {
            for operand in [node.in1, node.in2] {
                if let Operand::Node { node, distance } = operand {
                    readers.words[node].push((reader, distance));
                }
            }
            for bit in [node.in3, node.condition].into_iter().flatten() {
                readers.has_bit[bit] = true;
            }
        }
        readers
    }

    /// Whether nobody but that operation reads another one, once and in the same iteration.
    pub fn is_only(&self, number: usize, reader: usize) -> bool {
        self.words[number] == [(reader, 0)] && !self.has_bit[number]
    }

    /// Whether one operation reads it, once and in the same iteration.
    pub fn is_read_once(&self, number: usize) -> bool {
        matches!(self.words[number][..], [(_, 0)]) && !self.has_bit[number]
    }
}

/// Whether an operation runs in each iteration and never before, and nothing leads out of the loop.
pub(super) fn is_bare(node: &Node) -> bool {
    node.in3.is_none()
        && node.condition.is_none()
        && node.initial.is_none()
        && node.export.is_none()
        && node.ahead == 0
}
