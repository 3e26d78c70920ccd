//! How the 32-bit registers of a thread are divided: each value is in one bank, and banks have their
//! entries in one store or in several, each of which has so many for a thread. A machine whose
//! register file is one has one bank in one store.

use std::ops::Range;

use nbcc_isa_simt::{Hint, Inst, RegClass};
use nbcc_mach::VReg;
use nbcc_mach::liveness::Liveness;

use super::select::MachFunction;

/// Entries that the largest instruction needs of a bank where values are spilled.
const MIN_ENTRIES: u16 = 8;

/// The most entries that instructions can name.
const NAMES: u32 = 256;

/// Something that holds entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The banks whose values take an entry of it.
    pub banks: Vec<u8>,
    /// How many it has for a thread.
    pub entries: u32,
    /// How many of these leave room for as many warps as there can be; 0 where that is not to be had.
    pub spare: u32,
}

/// The banks of a machine; a value that may be anywhere is in the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banks {
    /// What holds the entries. The last bank is in every store.
    pub stores: Vec<Store>,
    /// For each bank, how what moves its values to memory and back is to be executed.
    pub hints: Vec<Hint>,
}

impl Banks {
    /// One register file.
    pub fn one(entries: u32) -> Banks {
        Banks { stores: vec![Store { banks: vec![0], entries, spare: 0 }], hints: vec![Hint::None] }
    }

    /// The last bank.
    pub fn last(&self) -> u8 {
        self.hints.len() as u8 - 1
    }

    /// How what moves the values of a bank is to be executed.
    pub fn hint(&self, bank: u8) -> Hint {
        self.hints.get(usize::from(bank)).copied().unwrap_or_default()
    }

    /// Quotas that give all entries to the last bank.
    pub fn only_last(&self) -> Vec<u16> {
        let most = self.stores.iter().map(|store| store.entries).min().unwrap_or(0).min(NAMES);
        let mut quotas = vec![0; self.hints.len()];
        quotas[usize::from(self.last())] = most as u16;
        quotas
    }

    /// The entries of each bank that a function wants: what it needs at once and a pair, but none of a bank
    /// without values. Predicates are spilled to the first bank.
    pub fn wanted(&self, func: &MachFunction) -> Vec<u16> {
        let wanted = |(bank, need): (usize, u32)| match need {
            0 if bank > 0 => 0,
            _ => u16::try_from(need.next_multiple_of(2) + 2).unwrap_or(u16::MAX - 1),
        };
        pressure(func, self.hints.len()).into_iter().enumerate().map(wanted).collect()
    }

    /// The entries that each bank may take, of which a function wants as many as `wanted`; `None`
    /// where a store is too small for all of its banks.
    pub fn quotas(&self, wanted: &[u16]) -> Option<Vec<u16>> {
        if self.hints.len() == 1 {
            return Some(self.only_last());
        }
        let least = |&wanted: &u16| if wanted > 0 { MIN_ENTRIES } else { 0 };
        let least: Vec<u16> = wanted.iter().map(least).collect();
        let mut quotas: Vec<u16> = wanted.iter().zip(&least).map(|(&w, &l)| w.max(l)).collect();
        for store in &self.stores {
            while taken(&quotas, store) > store.entries {
                let largest = store
                    .banks
                    .iter()
                    .map(|&bank| usize::from(bank))
                    .filter(|&bank| quotas[bank] >= least[bank] + 2)
                    .max_by_key(|&bank| (quotas[bank], bank))?;
                quotas[largest] -= 2;
            }
        }
        // What is left goes where it is wanted.
        for bank in 0..quotas.len() {
            let has = |store: &&Store| store.banks.contains(&(bank as u8));
            let free = self.stores.iter().filter(has);
            let free = free.map(|store| store.entries - taken(&quotas, store)).min().unwrap_or(0);
            if quotas[bank] > 0 {
                quotas[bank] += free.min(NAMES) as u16 & !1;
            }
        }
        Some(quotas)
    }

    /// The entries that each bank may take such that no warp finds less room than if there were as few
    /// as `wanted`: what stores can spare goes to their banks in turn. `None` for banks of which a
    /// store has no more than is wanted.
    pub fn roomy(&self, wanted: &[u16]) -> Vec<Option<u16>> {
        let mut quotas = wanted.to_vec();
        let fits = |bank: usize, quotas: &[u16]| {
            self.stores
                .iter()
                .filter(|store| store.banks.contains(&(bank as u8)))
                .all(|store| taken(quotas, store) <= store.spare)
        };
        let can: Vec<bool> = (0..quotas.len()).map(|bank| fits(bank, wanted)).collect();
        let grows = |&bank: &usize| can[bank] && wanted[bank] > 0;
        let mut growing: Vec<usize> = (0..quotas.len()).filter(grows).collect();
        while !growing.is_empty() {
            growing.retain(|&bank| {
                quotas[bank] += 2;
                let fits = fits(bank, &quotas);
                quotas[bank] -= if fits { 0 } else { 2 };
                fits
            });
        }
        quotas.iter().zip(can).map(|(&quota, can)| can.then_some(quota)).collect()
    }

    /// Checks that banks share no entry and that each store has enough.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, ranges: &[Range<u16>]) -> Result<(), String> {
        if ranges.len() != self.hints.len() {
            return Err(format!("there are {} banks of {}", ranges.len(), self.hints.len()));
        }
        for (k, a) in ranges.iter().enumerate() {
            for b in ranges[..k].iter().filter(|b| !b.is_empty()) {
                if a.start < b.end && b.start < a.end {
                    return Err(format!("banks share entries: {a:?} and {b:?}"));
                }
            }
        }
        for store in &self.stores {
            let words = store.banks.iter().map(|&bank| ranges[usize::from(bank)].len() as u32);
            let words: u32 = words.sum();
            if words > store.entries {
                return Err(format!("{words} entries in a store of {}", store.entries));
            }
        }
        Ok(())
    }
}

/// The entries of a store that banks take.
fn taken(quotas: &[u16], store: &Store) -> u32 {
    store.banks.iter().map(|&bank| u32::from(quotas[usize::from(bank)])).sum()
}

/// The most entries of each bank that are needed at once.
fn pressure(func: &MachFunction, banks: usize) -> Vec<u32> {
    let live = Liveness::new(func);
    let width = |vreg: VReg| match func.vregs[vreg].class {
        RegClass::Pred => 0,
        RegClass::Word => 1,
        RegClass::Wide => 2,
    };
    let mut most = vec![0; banks];
    let mut at: Vec<u32> = vec![u32::MAX; func.vregs.len()];
    for (block, data) in &func.blocks {
        let stamp = block.as_u32();
        let mut now = vec![0u32; banks];
        let enter = |vreg: VReg, now: &mut Vec<u32>, at: &mut Vec<u32>| {
            let slot = &mut at[vreg.as_u32() as usize];
            if std::mem::replace(slot, stamp) != stamp {
                now[usize::from(func.vregs[vreg].bank)] += width(vreg);
            }
        };
        for &vreg in &live.live_out[block] {
            enter(vreg, &mut now, &mut at);
        }
        let mut note = |now: &[u32]| {
            for (most, &now) in most.iter_mut().zip(now) {
                *most = now.max(*most);
            }
        };
        note(&now);
        for inst in data.insts.iter().rev() {
            let (uses, defs) = reads_and_writes(&inst.inst);
            defs.iter().for_each(|&vreg| enter(vreg, &mut now, &mut at));
            note(&now);
            for vreg in defs {
                if std::mem::replace(&mut at[vreg.as_u32() as usize], u32::MAX) == stamp {
                    now[usize::from(func.vregs[vreg].bank)] -= width(vreg);
                }
            }
            uses.iter().for_each(|&vreg| enter(vreg, &mut now, &mut at));
            note(&now);
        }
    }
    most
}

fn reads_and_writes(inst: &Inst<VReg>) -> (Vec<VReg>, Vec<VReg>) {
    MachFunction::uses_and_defs(inst)
}
