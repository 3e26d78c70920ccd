//! What registers are given of, and what comes of it: files, policies, allocations.

use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;

use crate::{Block, Function, VReg};

/// How an entry is chosen among those that are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The lowest, so that as few as possible are used.
    Min,
    /// The next one in a round, so that a register is reused as late as possible (iPIM, section
    /// V-C: reuse of a register stalls an in-order core).
    Spread,
}

/// When values are spilled before the graph is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressure {
    /// The most entries that may be needed at once. Where more are, so many are left at first.
    pub limit: u32,
    /// The instructions that reload and store need registers of their own, for which more is spilled
    /// where they find none: in each round one entry more is left free, until so many are needed.
    pub relieved: u32,
}

/// A register file.
#[derive(Clone, Debug)]
pub struct RegisterFile<C: 'static> {
    /// Its classes, and how many entries a value of each takes: a power of two, 8 at most, aligned
    /// to itself.
    pub classes: &'static [(C, u16)],
    /// The bank of the registers that live in it (`VRegData::bank`).
    pub bank: u8,
    /// The entries that may be given.
    pub entries: Range<u16>,
    /// How they are chosen.
    pub policy: Policy,
    /// When values are spilled for their number alone; `None`: only where colouring fails.
    pub pressure: Option<Pressure>,
}

impl<C: Copy + PartialEq> RegisterFile<C> {
    /// How many entries a value of a class takes; `None` where it lives elsewhere.
    pub fn width(&self, class: C) -> Option<u16> {
        self.classes.iter().find(|(c, _)| *c == class).map(|&(_, width)| width)
    }

    /// The entries that a register takes part in the allocation with: `None` for one of another
    /// file, and for one that is fixed to an entry which is not given to others.
    pub(super) fn width_of<I>(&self, func: &Function<I>, vreg: VReg) -> Option<u16>
    where
        I: Instruction<Reg = VReg, Class = C>,
    {
        let data = &func.vregs[vreg];
        let width = self.width(data.class).filter(|_| data.bank == self.bank)?;
        let shared = |entry: u16| entry < self.entries.end && entry + width > self.entries.start;
        data.fixed.is_none_or(shared).then_some(width)
    }

    /// The first entries of the groups that a value of this width may take.
    pub(super) fn groups(&self, width: u16) -> impl Iterator<Item = u16> + use<C> {
        let first = self.entries.start.next_multiple_of(width);
        let end = self.entries.end;
        (first..end).step_by(width.into()).take_while(move |at| at + width <= end)
    }
}

/// The registers of a function, and what they cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// The first entry of each register.
    pub entries: SecondaryMap<VReg, u16>,
    /// The end of the entries given, by file.
    pub used: Vec<u32>,
    /// Values kept in memory.
    pub spilled: u32,
    /// Values kept in registers of another file.
    pub moved: u32,
    /// Values rematerialised at each use.
    pub rematerialised: u32,
    /// Copies that went away.
    pub coalesced: u32,
    /// For each instruction of each block, its place in the block before allocation; `None` for
    /// those that were inserted.
    pub origins: SecondaryMap<Block, Vec<Option<u32>>>,
}

impl Allocation {
    pub(super) fn of<I: Instruction<Reg = VReg>>(func: &Function<I>, files: usize) -> Allocation {
        let mut origins = SecondaryMap::new();
        for (block, data) in &func.blocks {
            origins[block] = (0..data.insts.len() as u32).map(Some).collect();
        }
        let mut entries = SecondaryMap::new();
        for (vreg, data) in &func.vregs {
            entries[vreg] = data.fixed.unwrap_or_default();
        }
        Allocation {
            entries,
            used: vec![0; files],
            spilled: 0,
            moved: 0,
            rematerialised: 0,
            coalesced: 0,
            origins,
        }
    }
}

/// Why a function gets no registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// A file, by its number, has too few entries whatever is spilled.
    Registers(usize),
    /// There is no room for what is spilled.
    Memory,
}
