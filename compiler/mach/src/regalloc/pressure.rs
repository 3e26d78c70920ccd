//! How many entries of a file are needed at once, and which registers to spill where those are too
//! many.

use std::collections::BTreeSet;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_isa::Instruction;

use super::file::RegisterFile;
use super::graph::{Accesses, LiveSet};
use super::spill::{Spiller, costs};
use crate::liveness::Liveness;
use crate::{Function, VReg};

/// Registers whose spilling brings the pressure down to what the file allows, counting nothing for
/// the accesses to them: at each point where more are live than may be, the cheapest of those for
/// each instruction across which they live. What is used at once frees nothing elsewhere. None
/// where the file has entries enough, or where nothing may be spilled. `round` is how often that was
/// done before: each time leaves more free for the accesses.
pub fn victims<I, S>(
    func: &Function<I>,
    file: &RegisterFile<I::Class>,
    live: &Liveness,
    spiller: &S,
    temporaries: &EntitySet<VReg>,
    round: u32,
) -> Vec<VReg>
where
    I: Instruction<Reg = VReg>,
    S: Spiller<I>,
{
    let Some(pressure) = file.pressure else { return Vec::new() };
    let mut most = 0;
    walk(func, file, live, |_| None, |point| most = most.max(point.units));
    if most <= pressure.limit {
        return Vec::new();
    }
    let wanted = pressure.limit.saturating_sub(round).max(pressure.relieved);
    let cost = costs(func, spiller);
    let length = lengths(func, live);
    let may =
        |v| func.vregs[v].fixed.is_none() && !temporaries.contains(v) && spiller.spills(func, v);
    // Costs are not negative: their bits are in their order.
    let key = |v, width| {
        may(v).then(|| (cost[v] / (f64::from(width) * f64::from(length[v].max(1)))).to_bits())
    };
    let mut chosen = Vec::new();
    walk(
        func,
        file,
        live,
        |v| key(v, file.width_of(func, v).unwrap_or(1)),
        |point| {
            if point.units <= pressure.limit {
                return;
            }
            while point.units > wanted
                && let Some((_, vreg)) = point.candidates.pop_first()
            {
                point.leave(vreg, None);
                point.gone.insert(vreg);
                chosen.push(vreg);
            }
        },
    );
    chosen
}

/// Across how many instructions each register lives.
fn lengths<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    live: &Liveness,
) -> SecondaryMap<VReg, u32> {
    let mut length: SecondaryMap<VReg, u32> = SecondaryMap::new();
    // Where each register that is live at the point at hand was last seen to be used; later ones first.
    let mut end: SecondaryMap<VReg, Option<u32>> = SecondaryMap::new();
    let mut accesses = Accesses::default();
    for (block, data) in &func.blocks {
        let mut at = data.insts.len() as u32;
        let mut open = live.live_out[block].to_vec();
        for &vreg in &open {
            end[vreg] = Some(at);
        }
        for inst in data.insts.iter().rev() {
            at -= 1;
            accesses.of(&inst.inst, |_| true);
            for &def in &accesses.defs {
                if let Some(end) = end[def].take() {
                    length[def] += end - at;
                }
            }
            for &used in &accesses.uses {
                if end[used].is_none() {
                    end[used] = Some(at);
                    open.push(used);
                }
            }
        }
        for vreg in open {
            if let Some(end) = end[vreg].take() {
                length[vreg] += end;
            }
        }
    }
    length
}

/// What is live at a point.
struct Point<'a> {
    width: &'a dyn Fn(VReg) -> u16,
    live: LiveSet,
    /// Entries taken.
    units: u32,
    /// What may be spilled, the cheapest first.
    candidates: BTreeSet<(u64, VReg)>,
    gone: EntitySet<VReg>,
}

impl Point<'_> {
    fn enter(&mut self, vreg: VReg, key: Option<u64>) {
        if !self.gone.contains(vreg) && self.live.insert(vreg) {
            self.units += u32::from((self.width)(vreg));
            self.candidates.extend(key.map(|key| (key, vreg)));
        }
    }

    fn leave(&mut self, vreg: VReg, key: Option<u64>) {
        if self.live.remove(vreg) {
            self.units -= u32::from((self.width)(vreg));
            if let Some(key) = key {
                self.candidates.remove(&(key, vreg));
            }
        }
    }
}

/// Visits each point of each block: behind it, and from its last instruction to its first, where
/// its results have entries and where its operands have them.
fn walk<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    file: &RegisterFile<I::Class>,
    live: &Liveness,
    key: impl Fn(VReg) -> Option<u64>,
    mut visit: impl FnMut(&mut Point<'_>),
) {
    let width = |vreg| file.width_of(func, vreg).unwrap_or(0);
    let mut point = Point {
        width: &width,
        live: LiveSet::new(func.vregs.len()),
        units: 0,
        candidates: BTreeSet::new(),
        gone: EntitySet::new(),
    };
    let mut accesses = Accesses::default();
    for (block, data) in &func.blocks {
        point.live.clear();
        point.candidates.clear();
        point.units = 0;
        for &vreg in live.live_out[block].iter().filter(|&&v| width(v) > 0) {
            point.enter(vreg, key(vreg));
        }
        visit(&mut point);
        for inst in data.insts.iter().rev() {
            accesses.of(&inst.inst, |vreg| width(vreg) > 0);
            for &def in &accesses.defs {
                point.enter(def, key(def));
            }
            visit(&mut point);
            for &def in &accesses.defs {
                point.leave(def, key(def));
            }
            for &used in &accesses.uses {
                point.enter(used, key(used));
            }
            visit(&mut point);
        }
    }
}
