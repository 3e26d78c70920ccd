//! Where jumps can go: the immediates that the register of a jump may hold when a control core comes to
//! it. What reaches a jump decides where control flows, and that decides what reaches the next, so both
//! are found together, as constants are in the presence of branches (Wegman and Zadeck, TOPLAS 1991),
//! with sets of immediates in the place of constants.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa::Imm;
use nbcc_isa_ipim::{INSTRUCTION_BYTES, Inst};

use crate::code::{Code, Step};

/// A jump with more targets than this can go anywhere.
const MAX_TARGETS: usize = 64;

/// Looks at a stretch of code, on average, before all jumps are taken to go anywhere: those of compiled
/// programs settle in three at most, and what does not settle soon is made to cost time.
const MAX_LOOKS: usize = 16;

/// The instructions that a register may hold the address of, the end of the program among them. What
/// is no address of an instruction leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// These, in ascending order.
    Known(Vec<u32>),
    /// Any.
    Anywhere,
}

/// What each register that a jump goes through may hold, by its place among them.
type State = Vec<Targets>;

impl Targets {
    /// Adds those of another; true if there were new ones.
    fn join(&mut self, other: &Targets) -> bool {
        let Targets::Known(known) = self else { return false };
        if let Targets::Known(others) = other {
            let before = known.len();
            known.extend(others);
            known.sort_unstable();
            known.dedup();
            if known.len() <= MAX_TARGETS {
                return known.len() > before;
            }
        }
        *self = Targets::Anywhere;
        true
    }
}

/// The targets of each jump that is reached, by its index.
pub fn targets(code: &Code) -> BTreeMap<usize, Targets> {
    let registers = registers_of_jumps(code);
    let place = |register: u8| registers.binary_search(&register).ok();
    let mut leaders = leaders(code, &registers);
    let mut found = BTreeMap::new();
    // Registers start as zero, the address of the first instruction.
    let start = vec![Targets::Known(vec![0]); registers.len()];
    leaders.insert(0, Some(start));
    let mut work = BTreeSet::from([0]);
    let mut looks = 0;
    while let Some(leader) = work.pop_first() {
        looks += 1;
        if looks > MAX_LOOKS * leaders.len() {
            return anywhere(code);
        }
        let Some(mut state) = leaders.get(&leader).cloned().flatten() else { continue };
        let mut flow = |leaders: &mut BTreeMap<usize, Option<State>>, to: usize, state: &State| {
            let Some(there) = leaders.get_mut(&to) else { return };
            let changed = match there {
                Some(there) => {
                    let joined = there.iter_mut().zip(state).map(|(there, new)| there.join(new));
                    joined.fold(false, |changed, new| changed | new)
                }
                None => {
                    *there = Some(state.clone());
                    true
                }
            };
            if changed {
                work.insert(to);
            }
        };
        for (at, step) in code.steps.iter().enumerate().skip(leader) {
            if at > leader && leaders.contains_key(&at) {
                flow(&mut leaders, at, &state);
                break;
            }
            match step {
                Step::Run(Inst::SetiCrf { dst, imm }) => {
                    if let Some(place) = place(*dst) {
                        let target = address_of(imm, code.steps.len());
                        state[place] = Targets::Known(target.into_iter().collect());
                    }
                }
                Step::Run(Inst::CalcCrf { dst, .. }) | Step::Place { dst, .. } => {
                    if let Some(place) = place(*dst) {
                        state[place] = Targets::Anywhere;
                    }
                }
                Step::Run(Inst::Jump { target } | Inst::CJump { target, .. }) => {
                    let Some(place) = place(*target) else { continue };
                    let Targets::Known(known) = &state[place] else {
                        return anywhere(code);
                    };
                    known.iter().for_each(|to| flow(&mut leaders, *to as usize, &state));
                    found.insert(at, state[place].clone());
                    if matches!(step, Step::Run(Inst::Jump { .. })) {
                        break;
                    }
                }
                Step::Fault(_) => break,
                Step::Run(_) => {}
            }
        }
    }
    found
}

/// All jumps may go anywhere: one of them does, so that whatever is set may reach any other, or nobody
/// knows.
fn anywhere(code: &Code) -> BTreeMap<usize, Targets> {
    let jumps = code
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| matches!(step, Step::Run(Inst::Jump { .. } | Inst::CJump { .. })));
    jumps.map(|(at, _)| (at, Targets::Anywhere)).collect()
}

/// The registers that jumps go through, in ascending order.
fn registers_of_jumps(code: &Code) -> Vec<u8> {
    let mut registers: Vec<u8> = code
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Run(Inst::Jump { target } | Inst::CJump { target, .. }) => Some(*target),
            _ => None,
        })
        .collect();
    registers.sort_unstable();
    registers.dedup();
    registers
}

/// Where control may come to by a jump, or go on behind one; nothing is known of any yet.
fn leaders(code: &Code, registers: &[u8]) -> BTreeMap<usize, Option<State>> {
    let mut leaders = BTreeMap::from([(0, None)]);
    for (at, step) in code.steps.iter().enumerate() {
        match step {
            Step::Run(Inst::SetiCrf { dst, imm }) if registers.binary_search(dst).is_ok() => {
                let target = address_of(imm, code.steps.len());
                leaders.extend(target.map(|target| (target as usize, None)));
            }
            Step::Run(Inst::Jump { .. } | Inst::CJump { .. }) => {
                leaders.insert(at + 1, None);
            }
            _ => {}
        }
    }
    leaders
}

/// The instruction that an immediate is the address of.
fn address_of(imm: &Imm, count: usize) -> Option<u32> {
    let Imm::Value(value) = imm else { return None };
    let value = *value as u32;
    let index = value / INSTRUCTION_BYTES;
    (value.is_multiple_of(INSTRUCTION_BYTES) && index as usize <= count).then_some(index)
}

#[cfg(test)]
mod tests {
    use nbcc_isa_ipim::asm::assemble;

    use super::*;

    /// Many registers that may each lead to many places are not followed to the end.
    #[test]
    fn what_does_not_settle_may_go_anywhere() {
        let all = |lines: u32| -> bool {
            // Multiplicative hashing spreads what follows over registers and places.
            let pick = |at: u32, of: u32| (at.wrapping_mul(2_654_435_761) >> 16) % of;
            let line = |at: u32| match pick(at, 2) {
                0 => format!("l{at}:\ncjump C0, C{}\n", 4 + pick(at + lines, 50)),
                _ => format!(
                    "l{at}:\nseti_crf C{}, l{}\n",
                    4 + pick(at + lines, 50),
                    pick(at + 2 * lines, lines.min(60))
                ),
            };
            let text: String = (0..lines).map(line).collect();
            let text = format!(".isa simb 1\n.machine ipim-vault\n.section .text\n{text}sync 1\n");
            let program = assemble(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
            let found = targets(&Code::new(&program));
            found.values().all(|targets| *targets == Targets::Anywhere)
        };
        assert!(!all(20), "what settles is known");
        assert!(all(4000));
    }
}
