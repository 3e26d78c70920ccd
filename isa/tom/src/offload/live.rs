//! Liveness and reaching of registers over the basic blocks of a kernel, by work lists over bit
//! vectors (Aho, Lam, Sethi, Ullman, "Compilers", sections 9.2.4 and 9.2.5).

use super::code::KernelCode;
use super::registers::RegisterSet;

/// What is known of the registers of a kernel.
#[derive(Debug)]
pub struct Registers<'a> {
    code: KernelCode<'a>,
    /// The first instruction of each block, and the end of the kernel.
    starts: Vec<u32>,
    /// Live where each block ends.
    live: Vec<RegisterSet>,
    /// Perhaps written where each block begins.
    written: Vec<RegisterSet>,
}

impl<'a> Registers<'a> {
    /// Of a kernel.
    pub fn new(code: KernelCode<'a>) -> Registers<'a> {
        let starts = starts(&code);
        let blocks = starts.len() - 1;
        let block_of = |at: u32| starts.partition_point(|&start| start <= at) - 1;
        let mut successors: Vec<Vec<usize>> = Vec::with_capacity(blocks);
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks];
        for block in 0..blocks {
            let next: Vec<usize> = code.successors(starts[block + 1] - 1).map(block_of).collect();
            next.iter().for_each(|&to| predecessors[to].push(block));
            successors.push(next);
        }
        let mut registers = Registers {
            code,
            starts: starts.clone(),
            live: vec![RegisterSet::default(); blocks],
            written: vec![RegisterSet::default(); blocks],
        };
        // What a block needs of those before it, what it ends, what it writes.
        let summaries: Vec<[RegisterSet; 3]> = (0..blocks)
            .map(|block| {
                let [mut needs, mut kills, mut writes] = [RegisterSet::default(); 3];
                for at in starts[block]..starts[block + 1] {
                    let (reads, written) = code.accesses(at);
                    needs = needs.or(&reads.without(&kills));
                    kills = kills.or(&code.kills(at));
                    writes = writes.or(&written);
                }
                [needs, kills, writes]
            })
            .collect();
        let mut work: Vec<usize> = (0..blocks).collect();
        while let Some(block) = work.pop() {
            let [needs, kills, _] = &summaries[block];
            let before = needs.or(&registers.live[block].without(kills));
            for &from in &predecessors[block] {
                let more = registers.live[from].or(&before);
                if more != registers.live[from] {
                    registers.live[from] = more;
                    work.push(from);
                }
            }
        }
        let mut work: Vec<usize> = (0..blocks).rev().collect();
        while let Some(block) = work.pop() {
            let behind = registers.written[block].or(&summaries[block][2]);
            for &to in &successors[block] {
                let more = registers.written[to].or(&behind);
                if more != registers.written[to] {
                    registers.written[to] = more;
                    work.push(to);
                }
            }
        }
        registers
    }

    /// The first instruction of each basic block, ascending.
    pub fn starts(&self) -> impl Iterator<Item = u32> + '_ {
        self.starts[..self.starts.len() - 1].iter().copied()
    }

    fn block(&self, at: u32) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }

    /// The registers that are live before an instruction; behind the last none are.
    pub fn live_before(&self, at: u32) -> RegisterSet {
        if at == self.code.end {
            return RegisterSet::default();
        }
        let block = self.block(at);
        let mut live = self.live[block];
        for at in (at..self.starts[block + 1]).rev() {
            live = live.without(&self.code.kills(at)).or(&self.code.accesses(at).0);
        }
        live
    }

    /// The registers that something may have written before an instruction. Others hold nothing.
    pub fn written_before(&self, at: u32) -> RegisterSet {
        let block = self.block(at);
        (self.starts[block]..at)
            .fold(self.written[block], |written, at| written.or(&self.code.accesses(at).1))
    }
}

/// The first instructions of basic blocks, and the end of the kernel.
fn starts(code: &KernelCode<'_>) -> Vec<u32> {
    let mut leads = vec![false; (code.end - code.entry) as usize + 1];
    leads[0] = true;
    leads[(code.end - code.entry) as usize] = true;
    for at in code.entry..code.end {
        if code.at(at).is_branch() {
            leads[(at + 1 - code.entry) as usize] = true;
        }
        if let Some(to) = code.target(at).filter(|to| (code.entry..code.end).contains(to)) {
            leads[(to - code.entry) as usize] = true;
        }
    }
    let places = leads.iter().enumerate().filter(|(_, leads)| **leads);
    places.map(|(at, _)| code.entry + at as u32).collect()
}

/// The registers whose values from before a range it needs, so that those of `out` are right behind
/// it: what a way through it reads, or leaves as it was, before it is written (liveness within the
/// range alone).
pub fn needed(code: &KernelCode<'_>, begin: u32, end: u32, out: &RegisterSet) -> RegisterSet {
    let mut live = vec![RegisterSet::default(); (end - begin) as usize + 1];
    live[(end - begin) as usize] = *out;
    let mut entered: Vec<Vec<u32>> = vec![Vec::new(); (end - begin) as usize + 1];
    for at in begin..end {
        for to in code.successors(at).filter(|to| (begin..=end).contains(to)) {
            entered[(to - begin) as usize].push(at);
        }
    }
    let mut work: Vec<u32> = (begin..end).collect();
    while let Some(at) = work.pop() {
        let mut behind = RegisterSet::default();
        for to in code.successors(at).filter(|to| (begin..=end).contains(to)) {
            behind = behind.or(&live[(to - begin) as usize]);
        }
        let before = behind.without(&code.kills(at)).or(&code.accesses(at).0);
        if before != live[(at - begin) as usize] {
            live[(at - begin) as usize] = before;
            work.extend(&entered[(at - begin) as usize]);
        }
    }
    live[0]
}
