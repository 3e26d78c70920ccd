//! Liveness of registers over the basic blocks of a listing. A write that keeps the old value in
//! part does not end its life, and does not begin one.

use super::{Flow, Line, Listing, Reg};

/// Where registers are live.
#[derive(Debug)]
pub struct Live {
    /// The registers that are live where each block begins, ascending.
    pub at_start: Vec<Vec<Reg>>,
    /// The blocks at the end of which each register is live, ascending.
    pub ends: Vec<Vec<u32>>,
}

impl Live {
    /// The liveness of a listing: from each read that no write of its block precedes backward to the
    /// writes (Boissinot et al., "Fast liveness checking for SSA-form programs", the sets by use).
    pub fn new(listing: &Listing, flow: &Flow) -> Live {
        let registers = listing.registers as usize;
        let mut exposed: Vec<Vec<u32>> = vec![Vec::new(); registers];
        let mut kills: Vec<Vec<u32>> = vec![Vec::new(); registers];
        for block in 0..flow.blocks() as u32 {
            for line in &listing.code[flow.range(block)] {
                for reg in &line.reads {
                    let at = reg.as_u32() as usize;
                    if kills[at].last() != Some(&block) && exposed[at].last() != Some(&block) {
                        exposed[at].push(block);
                    }
                }
                for reg in line.writes.iter().filter(|_| !line.keeps) {
                    let kills = &mut kills[reg.as_u32() as usize];
                    if kills.last() != Some(&block) {
                        kills.push(block);
                    }
                }
            }
        }
        let mut at_start = vec![Vec::new(); flow.blocks()];
        let mut ends = vec![Vec::new(); registers];
        let mut live_in = vec![u32::MAX; flow.blocks()];
        let mut live_out = vec![u32::MAX; flow.blocks()];
        for register in 0..listing.registers {
            let (reg, at) = (Reg::from_u32(register), register as usize);
            let mut stack = exposed[at].clone();
            while let Some(block) = stack.pop() {
                if live_in[block as usize] == register {
                    continue;
                }
                live_in[block as usize] = register;
                at_start[block as usize].push(reg);
                for &from in &flow.predecessors[flow.starts[block as usize] as usize] {
                    let before = flow.block[from as usize];
                    if live_out[before as usize] == register {
                        continue;
                    }
                    live_out[before as usize] = register;
                    ends[at].push(before);
                    if kills[at].binary_search(&before).is_err() {
                        stack.push(before);
                    }
                }
            }
            ends[at].sort_unstable();
        }
        Live { at_start, ends }
    }

    /// Whether a register is live where a block ends.
    pub fn at_end(&self, reg: Reg, block: u32) -> bool {
        self.ends[reg.as_u32() as usize].binary_search(&block).is_ok()
    }

    /// The registers that are live before an instruction, ascending; behind the last none is.
    pub fn before(&self, listing: &Listing, flow: &Flow, at: u32) -> Vec<Reg> {
        let Some(&block) = flow.block.get(at as usize) else { return Vec::new() };
        let range = flow.range(block);
        let mut live: std::collections::BTreeSet<Reg> = std::collections::BTreeSet::new();
        for &next in &flow.successors[range.end - 1] {
            live.extend(&self.at_start[flow.block[next as usize] as usize]);
        }
        for line in listing.code[at as usize..range.end].iter().rev() {
            step_back(line, &mut live);
        }
        live.into_iter().collect()
    }
}

/// From what is live behind an instruction to what is live before it.
pub(super) fn step_back(line: &Line, live: &mut std::collections::BTreeSet<Reg>) {
    if !line.keeps {
        line.writes.iter().for_each(|reg| {
            live.remove(reg);
        });
    }
    live.extend(&line.reads);
}
