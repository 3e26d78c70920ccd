//! Moves: uses of a value where it does not live. A value that several users need at one place
//! moves there once.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_ir::{Block, Function, Inst, Terminator, Value};

use crate::{Place, Placement};

/// Where a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// The operand of that number of an instruction.
    Operand(Inst, usize),
    /// The condition of a branch or switch, or the result of that number of a return.
    Terminator(Block, usize),
    /// An argument on an edge from this block, for this parameter.
    Argument(Block, Value),
}

/// A use of a value in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseSite {
    /// The value.
    pub value: Value,
    /// What uses it.
    pub by: Use,
    /// The block it is used in.
    pub block: Block,
}

/// Every use in a function, in the order of the layout.
pub fn uses(func: &Function) -> Vec<UseSite> {
    let mut uses = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let mut number = 0;
            func.insts[inst].op.for_each_arg(|value| {
                uses.push(UseSite { value, by: Use::Operand(inst, number), block });
                number += 1;
            });
        }
        let terminator = func.terminator(block);
        let own: &[Value] = match terminator {
            Terminator::Branch(value, ..) | Terminator::Switch(value, ..) => {
                std::slice::from_ref(value)
            }
            Terminator::Return(values) => values,
            Terminator::Jump(_) | Terminator::Trap(_) | Terminator::Exit => &[],
        };
        for (number, &value) in own.iter().enumerate() {
            uses.push(UseSite { value, by: Use::Terminator(block, number), block });
        }
        for to in terminator.successors() {
            for (&value, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                uses.push(UseSite { value, by: Use::Argument(block, param), block });
            }
        }
    }
    uses
}

/// A use at another place than the value's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move<P> {
    /// The use.
    pub site: UseSite,
    /// Where the value lives.
    pub from: P,
    /// Where it is used.
    pub to: P,
}

/// The uses at other places, in the order of the layout. `needs` says where a use takes its
/// operand; `None` where any place will do. Values without a place are left out.
pub fn moves<P: Place>(
    func: &Function,
    placement: &Placement<P>,
    needs: impl Fn(Use) -> Option<P>,
) -> Vec<Move<P>> {
    let mut moves = Vec::new();
    for site in uses(func) {
        if let (Some(from), Some(to)) = (placement.get(site.value), needs(site.by))
            && from != to
        {
            moves.push(Move { site, from, to });
        }
    }
    moves
}

/// How many moves lead from one place to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCount {
    /// Uses that need one.
    pub uses: u64,
    /// Different values.
    pub values: u64,
    /// For each value the weight of the block that weighs most among those that need it there.
    pub weight: u64,
}

/// Counts moves by their places. `weight` is how often a block runs, say: a value pays once for
/// each place it is needed at.
pub fn count<P: Place>(
    moves: &[Move<P>],
    weight: impl Fn(Block) -> u64,
) -> BTreeMap<(P, P), MoveCount> {
    let mut counts: BTreeMap<(P, P), MoveCount> = BTreeMap::new();
    let mut heaviest: BTreeMap<(Value, P), (P, u64)> = BTreeMap::new();
    for &Move { site, from, to } in moves {
        counts.entry((from, to)).or_default().uses += 1;
        let entry = heaviest.entry((site.value, to)).or_insert((from, 0));
        entry.1 = entry.1.max(weight(site.block));
    }
    for ((_, to), (from, weight)) in heaviest {
        let count = counts.entry((from, to)).or_default();
        count.values += 1;
        count.weight = count.weight.saturating_add(weight);
    }
    counts
}

/// The values that moves are about, each once, in order.
pub fn moved_values<P: Place>(moves: &[Move<P>]) -> Vec<Value> {
    moves.iter().map(|m| m.site.value).collect::<BTreeSet<_>>().into_iter().collect()
}
