//! The constants that registers hold on every way to a place: copies of numbers, and copies of those.

use std::collections::BTreeMap;

use super::{Flow, Line, Listing, Live, Meaning, Number, Operand, Reg};

type Known = BTreeMap<Reg, Number>;

/// What live registers hold where blocks begin. What a register holds that nobody reads is nobody's
/// question, and would be remembered at each block behind it.
#[derive(Debug)]
pub struct Constants {
    /// `None` for a block that nothing reaches.
    at_start: Vec<Option<Known>>,
    /// What is held behind copies of registers that some threads make, by instruction: following them
    /// back would be following two registers each.
    behind: BTreeMap<(u32, Reg), Number>,
    /// Whether any instruction copies into each register: others never hold one.
    copied: Vec<bool>,
}

impl Constants {
    /// The constants of a listing: the greatest solution, by a work list in the order of the text.
    pub fn new(listing: &Listing, flow: &Flow, live: &Live) -> Constants {
        let mut at_start: Vec<Option<Known>> = vec![None; flow.blocks()];
        at_start[0] = Some(Known::new());
        let mut waiting: std::collections::BTreeSet<u32> = [0].into();
        while let Some(block) = waiting.pop_first() {
            let mut known = at_start[block as usize].clone().unwrap_or_default();
            let range = flow.range(block);
            listing.code[range.clone()].iter().for_each(|line| step(line, &mut known));
            for &next in &flow.successors[range.end - 1] {
                let to = flow.block[next as usize];
                let changed = match &mut at_start[to as usize] {
                    Some(before) => {
                        let size = before.len();
                        before.retain(|reg, number| known.get(reg) == Some(number));
                        before.len() != size
                    }
                    none => {
                        let wanted = &live.at_start[to as usize];
                        let held = |reg: &Reg| Some((*reg, *known.get(reg)?));
                        *none = Some(wanted.iter().filter_map(held).collect());
                        true
                    }
                };
                if changed {
                    waiting.insert(to);
                }
            }
        }
        let mut copied = vec![false; listing.registers as usize];
        let copies = listing.code.iter().filter(|line| matches!(line.meaning, Meaning::Copy(_)));
        for reg in copies.flat_map(|line| &line.writes) {
            copied[reg.as_u32() as usize] = true;
        }
        let mut behind = BTreeMap::new();
        for (block, known) in (0..).zip(&at_start) {
            let mut known = known.clone().unwrap_or_default();
            for at in flow.range(block) {
                let line = &listing.code[at];
                step(line, &mut known);
                if line.keeps && matches!(line.meaning, Meaning::Copy(Operand::Reg(_))) {
                    let held = |reg: &Reg| Some(((at as u32, *reg), *known.get(reg)?));
                    behind.extend(line.writes.iter().filter_map(held));
                }
            }
        }
        Constants { at_start, behind, copied }
    }

    /// What a register that is live there holds before an instruction. Within a block only the last
    /// write before it counts, and copies of registers that hold constants.
    pub fn number(&self, listing: &Listing, flow: &Flow, reg: Reg, at: u32) -> Option<Number> {
        if !self.copied[reg.as_u32() as usize] {
            return None;
        }
        let block = flow.block[at as usize];
        let from = flow.starts[block as usize] as usize;
        let (mut reg, mut kept) = (reg, None);
        let lines = (from..at as usize).zip(&listing.code[from..at as usize]);
        for (place, line) in lines.rev() {
            if !line.writes.contains(&reg) {
                continue;
            }
            let number = match line.meaning {
                Meaning::Copy(Operand::Number(number)) => number,
                Meaning::Copy(Operand::Reg(copied)) if !line.keeps => {
                    reg = copied;
                    continue;
                }
                Meaning::Copy(Operand::Reg(_)) => {
                    let held = self.behind.get(&(place as u32, reg)).copied();
                    return held.filter(|held| kept.is_none_or(|kept| kept == *held));
                }
                _ => return None,
            };
            // Threads that do not copy must hold the number already.
            if kept.is_some_and(|kept| kept != number) {
                return None;
            }
            if !line.keeps {
                return Some(number);
            }
            kept = Some(number);
        }
        let known = self.at_start[block as usize].as_ref()?.get(&reg).copied();
        known.filter(|number| kept.is_none_or(|kept| kept == *number))
    }

    /// What registers that are live there hold before an instruction, and maybe others.
    pub fn before(&self, listing: &Listing, flow: &Flow, at: u32) -> BTreeMap<Reg, Number> {
        let block = flow.block[at as usize];
        let mut known = self.at_start[block as usize].clone().unwrap_or_default();
        let from = flow.starts[block as usize] as usize;
        listing.code[from..at as usize].iter().for_each(|line| step(line, &mut known));
        known
    }
}

/// From what is known before an instruction to what is known behind it.
pub(super) fn step(line: &Line, known: &mut Known) {
    let number = match line.meaning {
        Meaning::Copy(Operand::Number(number)) => Some(number),
        Meaning::Copy(Operand::Reg(from)) => known.get(&from).copied(),
        _ => None,
    };
    for reg in &line.writes {
        match number {
            // Where only some threads copy, all hold it if they did so before.
            Some(number) if !line.keeps || known.get(reg) == Some(&number) => {
                known.insert(*reg, number);
            }
            _ => {
                known.remove(reg);
            }
        }
    }
}
