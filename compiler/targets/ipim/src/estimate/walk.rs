//! The way of a control core through a kernel: blocks in the order in which they run, loops a few times.

use std::cmp::Ordering;
use std::collections::HashMap;

use nbcc_isa::{Imm, Instruction};
use nbcc_isa_ipim::{Addr, Inst, Machine, Unit};
use nbcc_mach::rename::Timing;
use nbcc_mach::{Block, InstData, VReg};

use super::control_core::Core;
use crate::backend::code::MachineKernel;
use crate::backend::times::Times;
use crate::plan::cost::Bounds;

/// Rounds of a loop that are issued; the others take what the last of these took.
const ROUNDS: u64 = 3;

/// More is as much: sums of a few do not leave 64 bits.
const MAX_COUNT: u64 = 1 << 56;

/// Cycles of a kernel by what they are for, and its bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Before loops: positions and constants.
    pub setup: u64,
    /// Filling windows.
    pub windows: u64,
    /// Bringing elements from other banks.
    pub moves: u64,
    /// Everything else.
    pub compute: u64,
    /// Accesses of banks by its own engines.
    pub accesses: u64,
    /// Atoms requested of banks by the vault.
    pub requests: u64,
    /// Instructions of the code.
    pub code: u64,
    /// What no order takes less than.
    pub bounds: Bounds,
}

impl Sums {
    /// All cycles.
    pub fn cycles(&self) -> u64 {
        self.setup + self.windows + self.moves + self.compute
    }

    /// Cycles for which it waits when banks serve nothing for so long: it goes on until the next access,
    /// half the way from one to the next on average.
    pub fn stalled(&self, closed: u64) -> u64 {
        let next = self.cycles().checked_div(2 * self.accesses).unwrap_or(closed);
        closed.saturating_sub(next)
    }

    /// Adds what came between two states, so many times.
    fn repeat(&mut self, before: &Sums, times: u64) {
        self.each(before, |now, was| now.saturating_add((now - was).saturating_mul(times)));
    }

    /// So much of it: `part` of `all`.
    pub fn part(mut self, part: u64, all: u64) -> Sums {
        self.each(&Sums::default(), |n, _| part_of(n, part, all));
        self
    }

    /// Makes each number one of it and that of another sum.
    fn each(&mut self, other: &Sums, make: impl Fn(u64, u64) -> u64) {
        let (bounds, others) = (&mut self.bounds, &other.bounds);
        for (now, other) in [
            (&mut self.setup, other.setup),
            (&mut self.windows, other.windows),
            (&mut self.moves, other.moves),
            (&mut self.compute, other.compute),
            (&mut self.accesses, other.accesses),
            (&mut self.requests, other.requests),
            (&mut bounds.issue, others.issue),
            (&mut bounds.banks, others.banks),
            (&mut bounds.simd, others.simd),
            (&mut bounds.int_alu, others.int_alu),
            (&mut bounds.tsvs, others.tsvs),
        ] {
            *now = make(*now, other).min(MAX_COUNT);
        }
    }
}

/// `part` of `all` of a number.
pub fn part_of(n: u64, part: u64, all: u64) -> u64 {
    let scaled = u128::from(n) * u128::from(part) / u128::from(all.max(1));
    u64::try_from(scaled).unwrap_or(MAX_COUNT).min(MAX_COUNT)
}

/// What a kernel with its registers takes when it runs once.
pub fn kernel(kernel: &MachineKernel, machine: &Machine) -> Sums {
    let blocks = kernel.code.func.blocks.len() as u32;
    let mut walk = Walk {
        kernel,
        machine,
        core: Core::new(machine),
        labels: labels(kernel),
        sums: Sums { code: kernel.code.func.len() as u64, ..Sums::default() },
    };
    if blocks > 0 {
        walk.range(0, blocks - 1, 1, None);
    }
    let issued = walk.core.clock();
    walk.sums.compute += walk.core.end() - issued;
    walk.sums
}

/// The blocks that control registers name, each of which is set to one.
fn labels(kernel: &MachineKernel) -> HashMap<VReg, u32> {
    let insts = kernel.code.func.blocks.values().flat_map(|block| &block.insts);
    let label = |data: &InstData<Inst<VReg>>| match data.inst {
        Inst::SetiCrf { dst, imm: Imm::Label(to) } => Some((dst, to)),
        _ => None,
    };
    insts.filter_map(label).collect()
}

struct Walk<'a> {
    kernel: &'a MachineKernel,
    machine: &'a Machine,
    core: Core<'a>,
    /// The blocks that control registers name.
    labels: HashMap<VReg, u32>,
    sums: Sums,
}

impl Walk<'_> {
    fn successors(&self, block: u32) -> &[Block] {
        &self.kernel.code.func.blocks[Block::from_u32(block)].successors
    }

    fn runs(&self, block: u32) -> u64 {
        self.kernel.code.runs[Block::from_u32(block)]
    }

    /// The last block of the loop that begins at a block, if one does: loops are laid out together, but
    /// for what runs more rarely than the block that it goes back to.
    fn latch(&self, header: u32, last: u32) -> Option<u32> {
        let goes_back = |&block: &u32| {
            let back = self.successors(block).iter().any(|to| to.as_u32() == header);
            back && self.runs(block) >= self.runs(header)
        };
        (header..=last).rev().find(goes_back)
    }

    /// Issues the blocks from one to another that run when it runs once; `inside` is the header of the
    /// loop that they are. `runs` is how often they run.
    fn range(&mut self, first: u32, last: u32, runs: u64, inside: Option<u32>) {
        let mut at = first;
        loop {
            let latch = self.latch(at, last).filter(|_| inside != Some(at));
            let (from, next) = match latch {
                Some(latch) => {
                    let each = self.runs(at);
                    let trips = (each / runs.max(1)).max(1);
                    self.trips(at, latch, trips, each);
                    let after = (at..=latch).flat_map(|block| self.successors(block));
                    (latch, after.map(|to| to.as_u32()).filter(|&to| to > latch).min())
                }
                None => {
                    let next = self.next(at, last);
                    self.block(at, next);
                    (at, next)
                }
            };
            match next {
                Some(next) if next > from && next <= last => at = next,
                _ => return,
            }
        }
    }

    fn trips(&mut self, header: u32, latch: u32, trips: u64, runs: u64) {
        let issued = trips.min(ROUNDS);
        let mut before = self.sums;
        for _ in 0..issued {
            before = self.sums;
            self.range(header, latch, runs, Some(header));
        }
        self.sums.repeat(&before, trips - issued);
    }

    /// The block that comes next: the one that runs more often. Of two arms that meet again the shorter
    /// one is taken, the usual case beside that at an edge; what may be left out is not left out.
    fn next(&self, block: u32, last: u32) -> Option<u32> {
        let mut on: Vec<u32> = self.successors(block).iter().map(|to| to.as_u32()).collect();
        on.retain(|&to| to > block && to <= last);
        on.sort_unstable();
        let (&first, &other) = (on.first()?, on.last()?);
        let insts = |block: u32| self.kernel.code.func.blocks[Block::from_u32(block)].insts.len();
        let usual = match self.runs(first).cmp(&self.runs(other)) {
            Ordering::Less => other,
            Ordering::Greater => first,
            Ordering::Equal if self.reaches(first, other) || insts(first) <= insts(other) => first,
            Ordering::Equal => other,
        };
        Some(usual)
    }

    /// Whether control can go on from one block to another, ahead.
    fn reaches(&self, from: u32, to: u32) -> bool {
        let mut reached = vec![false; (to - from + 1) as usize];
        reached[0] = true;
        for block in from..to {
            if reached[(block - from) as usize] {
                let ahead = self.successors(block).iter().map(|next| next.as_u32());
                ahead.filter(|next| (block..=to).contains(next)).for_each(|next| {
                    reached[(next - from) as usize] = true;
                });
            }
        }
        reached[(to - from) as usize]
    }

    fn block(&mut self, block: u32, next: Option<u32>) {
        let data = &self.kernel.code.func.blocks[Block::from_u32(block)];
        let Some(registers) = &self.kernel.registers else { return };
        for inst in &data.insts {
            let before = self.core.clock();
            self.core.issue(inst, &registers.entries);
            self.count(&inst.inst);
            let mut leaves = false;
            match inst.inst {
                Inst::Jump { .. } => leaves = true,
                Inst::CJump { target, .. } => {
                    let to = self.labels.get(&target).copied();
                    // Loops go back, but for the last time.
                    leaves = to.is_some_and(|to| next.map_or(to <= block, |next| to == next));
                }
                _ => {}
            }
            if leaves {
                self.core.jump();
            }
            let cycles = self.core.clock() - before;
            *self.kind(inst, data.loop_depth) += cycles;
            if leaves {
                return;
            }
        }
    }

    /// What the cycles up to the issue of an instruction are for.
    fn kind(&mut self, data: &InstData<Inst<VReg>>, depth: u32) -> &mut u64 {
        let inst = &data.inst;
        let constant = matches!(inst, Inst::LdRf { dram: Addr::Direct(_), .. });
        match inst.unit() {
            Unit::Control | Unit::IntAlu | Unit::Registers if depth == 0 => &mut self.sums.setup,
            _ if constant && depth == 0 => &mut self.sums.setup,
            Unit::Vsm | Unit::Network => &mut self.sums.moves,
            _ if matches!(inst, Inst::LdPgsm { .. }) => &mut self.sums.windows,
            _ => &mut self.sums.compute,
        }
    }

    fn count(&mut self, inst: &Inst<VReg>) {
        let served = Times(self.machine).served(inst).map_or(0, |(_, cycles)| u64::from(cycles));
        self.sums.accesses += u64::from(inst.unit() == Unit::Bank);
        self.sums.requests += u64::from(matches!(inst, Inst::Req { .. }));
        let bounds = &mut self.sums.bounds;
        bounds.issue += 1;
        bounds.tsvs += u64::from(inst.simb_mask().is_some());
        match inst.unit() {
            Unit::Bank => bounds.banks += served,
            Unit::Vsm => bounds.tsvs += served,
            Unit::Simd => bounds.simd += 1,
            Unit::IntAlu => bounds.int_alu += 1,
            _ => {}
        }
    }
}
