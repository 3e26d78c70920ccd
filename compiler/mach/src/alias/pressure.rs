//! How many entries of a file are needed at once, and which registers to keep elsewhere where those
//! are too many.

use std::collections::BTreeSet;

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_isa::Instruction;

use super::graph::{Accesses, LiveSet};
use super::{File, LiveLists};
use crate::{Function, VReg};

/// The most entries that values take at one point.
pub fn max_pressure<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    file: &File<I::Class>,
    live: &LiveLists,
) -> u32
where
    I::Class: Copy + PartialEq,
{
    let width = |v: VReg| u32::from(file.width(func.vregs[v].class).unwrap_or(0));
    let mut set = LiveSet::new(func.vregs.len());
    let mut accesses = Accesses::default();
    let mut most = 0;
    for (block, data) in &func.blocks {
        set.clear();
        let mut now = 0;
        for &vreg in &live.live_out[block] {
            if width(vreg) > 0 && set.insert(vreg) {
                now += width(vreg);
            }
        }
        most = most.max(now);
        for inst in data.insts.iter().rev() {
            accesses.of(&inst.inst, file);
            for &def in &accesses.defs {
                if set.insert(def) {
                    now += width(def);
                }
            }
            most = most.max(now);
            for &def in &accesses.defs {
                if set.remove(def) {
                    now -= width(def);
                }
            }
            for &used in &accesses.uses {
                if set.insert(used) {
                    now += width(used);
                }
            }
            most = most.max(now);
        }
    }
    most
}

/// Registers whose values are kept elsewhere so that no point needs more than `limit` entries,
/// counting nothing for accesses to them: the cheapest by `cost`, of those that `may` be. Where
/// those are not enough, pressure stays higher.
pub fn over_pressure<I: Instruction<Reg = VReg>>(
    func: &Function<I>,
    file: &File<I::Class>,
    live: &LiveLists,
    limit: u32,
    cost: impl Fn(VReg) -> f64,
    may: impl Fn(VReg) -> bool,
) -> Vec<VReg>
where
    I::Class: Copy + PartialEq,
{
    let width = |v: VReg| u32::from(file.width(func.vregs[v].class).unwrap_or(0));
    let mut gone = vec![false; func.vregs.len()];
    let mut chosen = Vec::new();
    let mut set = LiveSet::new(func.vregs.len());
    let mut accesses = Accesses::default();
    // Costs are not negative: their bits are in their order.
    let mut keys: SecondaryMap<VReg, u64> = SecondaryMap::new();
    for vreg in func.vregs.keys() {
        keys[vreg] = (cost(vreg) / f64::from(width(vreg).max(1))).to_bits();
    }
    for (block, data) in &func.blocks {
        set.clear();
        let mut now = 0;
        let mut candidates: BTreeSet<(u64, VReg)> = BTreeSet::new();
        macro_rules! add {
            ($vreg:expr) => {
                let vreg = $vreg;
                if width(vreg) > 0 && !gone[vreg.index()] && set.insert(vreg) {
                    now += width(vreg);
                    if may(vreg) {
                        candidates.insert((keys[vreg], vreg));
                    }
                }
            };
        }
        macro_rules! relieve {
            () => {
                while now > limit {
                    let Some((_, vreg)) = candidates.pop_first() else { break };
                    set.remove(vreg);
                    now -= width(vreg);
                    gone[vreg.index()] = true;
                    chosen.push(vreg);
                }
            };
        }
        for &vreg in &live.live_out[block] {
            add!(vreg);
        }
        relieve!();
        for inst in data.insts.iter().rev() {
            accesses.of(&inst.inst, file);
            for &def in &accesses.defs {
                add!(def);
            }
            relieve!();
            for &def in &accesses.defs {
                if set.remove(def) {
                    now -= width(def);
                    candidates.remove(&(keys[def], def));
                }
            }
            for &used in &accesses.uses {
                add!(used);
            }
            relieve!();
        }
    }
    chosen
}
