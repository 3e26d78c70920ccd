//! Live values at the borders of blocks, from the uses backwards: Brandner, Boissinot, Darte, de
//! Dinechin, Rastello, "Computing Liveness Sets for SSA-Form Programs" (INRIA RR-7503, 2011),
//! section 4.3. The time is linear in the uses and in the size of the result.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Block, Cfg, Function, Positions, Value, cfg::successors};

/// The live values of a function. A snapshot: it does not follow later changes.
#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: SecondaryMap<Block, Vec<Value>>,
    live_out: SecondaryMap<Block, Vec<Value>>,
}

impl Liveness {
    /// The live values of a verified function.
    pub fn new(func: &Function, cfg: &Cfg) -> Liveness {
        let positions = Positions::new(func);
        // The blocks that use each value, but for the one that defines it.
        let mut users: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
        let mut used = Vec::new();
        for &block in &func.layout {
            let mut add = |value: Value| {
                let users = &mut users[value];
                if users.last() == Some(&block) {
                    return;
                }
                if positions.defining_block(func, value) != Some(block) {
                    if users.is_empty() {
                        used.push(value);
                    }
                    users.push(block);
                }
            };
            for &inst in &func.blocks[block].insts {
                func.insts[inst].op.for_each_arg(&mut add);
            }
            func.terminator(block).for_each_arg(&mut add);
        }
        used.sort();

        let mut live = Liveness { live_in: SecondaryMap::new(), live_out: SecondaryMap::new() };
        for value in used {
            let home = positions.defining_block(func, value);
            let mut work = std::mem::take(&mut users[value]);
            while let Some(block) = work.pop() {
                if live.live_in[block].last() == Some(&value) {
                    continue;
                }
                live.live_in[block].push(value);
                let from = cfg.predecessors(block).iter().copied();
                work.extend(from.filter(|&from| Some(from) != home));
            }
        }
        for &block in &func.layout {
            let mut out: Vec<Value> = Vec::new();
            let mut to = successors(func, block);
            to.sort();
            to.dedup();
            for to in to {
                out.extend(&live.live_in[to]);
            }
            out.sort();
            out.dedup();
            live.live_out[block] = out;
        }
        live
    }

    /// The values from other blocks that are needed at the start of a block or later, in order.
    /// Its own parameters are not among them.
    pub fn live_in(&self, block: Block) -> &[Value] {
        &self.live_in[block]
    }

    /// The values that are live-in in any successor, in order. Arguments of edges are used by the
    /// block's terminator, so they are not among them for that use alone.
    pub fn live_out(&self, block: Block) -> &[Value] {
        &self.live_out[block]
    }
}
