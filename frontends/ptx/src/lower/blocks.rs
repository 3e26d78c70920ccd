//! The basic blocks of a body. Blocks end at branches, returns and exits and begin at labels; calls,
//! and what else a guard makes conditional, stand inside of them.

use crate::check::Forms;
use crate::forms::Meaning;
use crate::resolved::{Body, BodyItem, Instruction, LabelId, OperandKind, TableKind};

/// A basic block: some items, the last of which may be its terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// The first item.
    pub start: usize,
    /// One past the last item that is not the terminator.
    pub end: usize,
    /// How it ends.
    pub end_kind: End,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on in the next block (or leaves the function, if it is the last one).
    Fall,
    /// With the instruction of that index, perhaps guarded.
    Instruction(usize),
}

/// The blocks of a body and their edges.
#[derive(Debug)]
pub struct Graph {
    /// The blocks in order; at least one.
    pub blocks: Vec<BasicBlock>,
    /// Edges, by index. The last node may be an entry of its own, where block 0 is a target.
    pub successors: Vec<Vec<u32>>,
    /// The node that is entered first.
    pub root: u32,
    /// The block that a label begins.
    pub label_block: Vec<u32>,
}

/// More edges than this make a function too large.
const EDGES: usize = 1 << 23;

/// The meaning of an instruction that passed the checks.
pub fn meaning(forms: &Forms, inst: &Instruction) -> Meaning {
    match &forms[inst.form] {
        Some(matched) => matched.pattern.row.meaning,
        None => panic!("{} was not checked", inst.form),
    }
}

/// Whether control does not simply go on behind an instruction.
fn ends_block(meaning: Meaning) -> bool {
    use Meaning::*;
    matches!(meaning, Bra | Brx | Ret | Exit | Trap)
}

/// Splits a body. None where it has too many edges.
pub fn split(body: &Body, forms: &Forms) -> Option<Graph> {
    let mut blocks = Vec::new();
    let mut label_block = vec![0; body.labels.len()];
    let mut start = 0;
    // Labels that follow each other, and one at the very start, begin one block.
    let mut only_labels = true;
    for (number, item) in body.items.iter().enumerate() {
        match item {
            BodyItem::Label(label) => {
                if !only_labels {
                    blocks.push(BasicBlock { start, end: number, end_kind: End::Fall });
                    start = number;
                    only_labels = true;
                }
                label_block[label.as_u32() as usize] = blocks.len() as u32;
            }
            BodyItem::Instruction(inst) if ends_block(meaning(forms, inst)) => {
                let end_kind = End::Instruction(number);
                blocks.push(BasicBlock { start, end: number, end_kind });
                start = number + 1;
                only_labels = true;
            }
            BodyItem::Instruction(_) | BodyItem::Call(_) => only_labels = false,
        }
    }
    blocks.push(BasicBlock { start, end: body.items.len(), end_kind: End::Fall });
    edges(body, forms, blocks, label_block)
}

fn edges(
    body: &Body,
    forms: &Forms,
    blocks: Vec<BasicBlock>,
    label_block: Vec<u32>,
) -> Option<Graph> {
    let to = |label: LabelId| label_block[label.as_u32() as usize];
    let mut successors = Vec::with_capacity(blocks.len() + 1);
    let mut count = 0;
    for (number, block) in blocks.iter().enumerate() {
        let next = (number + 1 < blocks.len()).then_some(number as u32 + 1);
        let list: Vec<u32> = match block.end_kind {
            End::Fall => next.into_iter().collect(),
            End::Instruction(at) => {
                let BodyItem::Instruction(inst) = &body.items[at] else {
                    panic!("item {at} is no instruction")
                };
                let mut list = match meaning(forms, inst) {
                    Meaning::Bra => match inst.operands[0].kind {
                        OperandKind::Label(label) => vec![to(label)],
                        _ => panic!("a branch without a label"),
                    },
                    Meaning::Brx => targets(body, inst).iter().map(|&label| to(label)).collect(),
                    _ => vec![],
                };
                if inst.guard.is_some() {
                    list.extend(next);
                }
                list
            }
        };
        count += list.len();
        if count > EDGES {
            return None;
        }
        successors.push(list);
    }
    let mut root = 0;
    if successors.iter().flatten().any(|&to| to == 0) {
        root = successors.len() as u32;
        successors.push(vec![0]);
    }
    Some(Graph { blocks, successors, root, label_block })
}

/// The labels that an indexed branch may go to.
pub fn targets(body: &Body, inst: &Instruction) -> Vec<LabelId> {
    match inst.operands.get(1).map(|operand| &operand.kind) {
        Some(OperandKind::Table(table)) => match &body.tables[*table].kind {
            TableKind::BranchTargets(labels) => labels.iter().map(|&(label, _)| label).collect(),
            _ => panic!("{table} holds no labels"),
        },
        _ => panic!("an indexed branch without targets"),
    }
}
