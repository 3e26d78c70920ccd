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
mod file;
mod graph;
mod known;
mod merged;
mod pressure;
mod spill;

use cranelift_entity::EntitySet;
use nbcc_isa::Instruction;

use crate::liveness::Liveness;
use crate::{Function, VReg};

pub use check::{Slots, Transfer, check};
pub use file::{Allocation, Policy, Pressure, RegisterFile, Shortage};
pub use spill::{Home, Insertion, Spiller};

use color::Colors;
use graph::Graph;
use merged::Merged;

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
