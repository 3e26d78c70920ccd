//! Register allocation by graph colouring, one register file after the other: pressure is brought
//! down, copies are coalesced, registers are coloured, both sides of a copy alike where that costs
//! nothing, and what finds no entry is spilled, until all have one (Chaitin; Briggs, Cooper, Torczon,
//! "Improvements to graph coloring register allocation", TOPLAS 1994).
//!
//! A file has one class of registers or several that alias: a value takes one entry, or an aligned
//! group of several. What a target adds is a [`Spiller`]: which instructions only copy, where a
//! value can be kept, and how it is stored, reloaded or rematerialised.
//!
//! Where more is live at once than a file has entries, the cheapest values are spilled before the
//! interference graph is built, so that no instruction adds more edges than there are entries: time
//! stays near linear in functions of many registers.

mod bias;
mod check;
mod coalesce;
mod color;
mod graph;
mod known;
mod merged;
mod pressure;
mod spill;

use std::ops::Range;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_isa::Instruction;

use crate::liveness::Liveness;
use crate::{Block, Function, VReg};

pub use check::{Slots, Transfer, check};
pub use spill::{Home, Insertion, Spiller};

use color::Colors;
use graph::Graph;
use merged::Merged;

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
    fn width_of<I>(&self, func: &Function<I>, vreg: VReg) -> Option<u16>
    where
        I: Instruction<Reg = VReg, Class = C>,
    {
        let data = &func.vregs[vreg];
        let width = self.width(data.class).filter(|_| data.bank == self.bank)?;
        let shared = |entry: u16| entry < self.entries.end && entry + width > self.entries.start;
        data.fixed.is_none_or(shared).then_some(width)
    }

    /// The first entries of the groups that a value of this width may take.
    fn groups(&self, width: u16) -> impl Iterator<Item = u16> + use<C> {
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
    fn of<I: Instruction<Reg = VReg>>(func: &Function<I>, files: usize) -> Allocation {
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

/// Rounds of spilling after which a file counts as too small.
const ROUNDS: usize = 64;

/// Gives every register of a function an entry of its file. Values of a file may be spilled to
/// registers of files that follow it.
///
/// # Errors
/// A file that is too small for what single instructions need of it, or values that the target has
/// no room for.
pub fn allocate<I, S>(
    func: &mut Function<I>,
    files: &[RegisterFile<I::Class>],
    spiller: &mut S,
    coalescing: bool,
) -> Result<Allocation, Shortage>
where
    I: Instruction<Reg = VReg> + Copy,
    S: Spiller<I>,
{
    let mut done = Allocation::of(func, files.len());
    // Registers that live from a reload to a use, or from a definition to a store.
    let mut temporaries = EntitySet::new();
    for (number, file) in files.iter().enumerate() {
        let mut fresh = coalescing;
        let mut rounds = 0..ROUNDS;
        let mut round = 0;
        loop {
            rounds.next().ok_or(Shortage::Registers(number))?;
            let live = Liveness::new(func);
            spiller.inspect(func);
            let victims = pressure::victims(func, file, &live, spiller, &temporaries, round);
            if !victims.is_empty() {
                round += 1;
                spill::spill(func, &victims, spiller, &mut temporaries, &mut done)?;
                continue;
            }
            let mut graph = Graph::new(func, file, &live, |inst| spiller.copy(inst));
            if std::mem::take(&mut fresh) {
                coalesce::coalesce(func, file, &mut graph, spiller, &mut done);
                spiller.inspect(func);
            }
            let cost = spill::costs(func, spiller);
            let may = |vreg| !temporaries.contains(vreg) && spiller.spills(func, vreg);
            let copies = if coalescing { bias::copies(func, file, spiller) } else { Vec::new() };
            match color::color(func, file, &graph, &bias::partners(&copies), &cost, may) {
                Colors::Found(entries) => {
                    for &node in &graph.nodes {
                        done.entries[node] = entries[node];
                        let end = u32::from(entries[node] + graph.width[node]);
                        done.used[number] = end.max(done.used[number]);
                    }
                    let mut merged = Merged::new(func.vregs.len());
                    let alike = |&(to, from): &(VReg, VReg)| entries[to] == entries[from];
                    for (to, from) in copies.into_iter().filter(alike) {
                        merged.unite(to, from);
                    }
                    merged.rewrite(func, spiller, &mut done);
                    break;
                }
                Colors::Spill(mut victims) => {
                    victims.retain(|&vreg| may(vreg));
                    if victims.is_empty() {
                        return Err(Shortage::Registers(number));
                    }
                    spill::spill(func, &victims, spiller, &mut temporaries, &mut done)?;
                }
            }
        }
    }
    Ok(done)
}
