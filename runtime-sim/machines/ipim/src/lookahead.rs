//! How soon a control core can reach its next message to another vault.
//!
//! Vaults are simulated apart from each other for as long as nothing can reach them:
//! a conservative parallel simulation (Chandy and Misra, 1979) whose lookahead is the
//! least number of instructions to the next `req` or `sync`, each of which takes a
//! cycle at least, and the least latency of the network.

use std::collections::VecDeque;

use nbcc_isa::Imm;
use nbcc_isa_ipim::{INSTRUCTION_BYTES, Inst};

use crate::code::{Code, Step};

/// No message can be reached.
pub const NEVER: u32 = u32::MAX;

/// For each instruction and the end, the least number of instructions that issue
/// before a message does; 0 at the message itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookahead {
    /// To the next `req`, without passing a `sync`.
    pub request: Vec<u32>,
    /// To the next `req` or `sync`.
    pub message: Vec<u32>,
}

/// Where a jump can go.
#[derive(Clone, Debug)]
enum Targets {
    Known(Vec<u32>),
    Anywhere,
}

/// A jump register with more targets than this can go anywhere.
const MAX_TARGETS: usize = 64;
/// Instructions before a jump among which the last set of its register is looked for.
const MAX_SCAN: usize = 256;

/// Works out the distances of a program.
pub fn lookahead(code: &Code) -> Lookahead {
    let edges = predecessors(code);
    let is = |index: usize, request: bool| match &code.steps[index] {
        Step::Run(Inst::Req { .. }) => request,
        Step::Run(Inst::Sync { .. }) => !request,
        _ => false,
    };
    let requests: Vec<usize> = (0..code.steps.len()).filter(|i| is(*i, true)).collect();
    let syncs: Vec<usize> = (0..code.steps.len()).filter(|i| is(*i, false)).collect();
    Lookahead {
        request: distances(code, &edges, &requests, &syncs),
        message: distances(code, &edges, &[requests.as_slice(), &syncs].concat(), &[]),
    }
}

/// By instruction, which can come right before it; and those that can come before any.
struct Predecessors {
    of: Vec<Vec<u32>>,
    of_all: Vec<u32>,
}

fn predecessors(code: &Code) -> Predecessors {
    let count = code.steps.len();
    let mut of = vec![Vec::new(); count + 1];
    let mut of_all = Vec::new();
    let jumps = Jumps::new(code);
    for (index, step) in code.steps.iter().enumerate() {
        let (target, falls) = match step {
            Step::Run(Inst::Jump { target }) => (Some(*target), false),
            Step::Run(Inst::CJump { target, .. }) => (Some(*target), true),
            Step::Fault(_) => (None, false),
            _ => (None, true),
        };
        if falls {
            of[index + 1].push(index as u32);
        }
        match target.map(|register| jumps.targets(code, index, register)) {
            None => {}
            Some(Targets::Known(targets)) => {
                for target in targets {
                    of[target as usize].push(index as u32);
                }
            }
            Some(Targets::Anywhere) => of_all.push(index as u32),
        }
    }
    Predecessors { of, of_all }
}

/// The instruction that an immediate is the address of.
fn address_of(imm: &Imm, count: usize) -> Option<u32> {
    let Imm::Value(value) = imm else { return None };
    let value = *value as u32;
    let index = value / INSTRUCTION_BYTES;
    (value.is_multiple_of(INSTRUCTION_BYTES) && index as usize <= count).then_some(index)
}

/// What is known of jumps wherever they stand.
struct Jumps {
    /// By CtrlRF entry: what it is ever set to.
    of_register: Vec<Targets>,
    /// By instruction, whether some jump may go there.
    labels: Vec<bool>,
}

impl Jumps {
    fn new(code: &Code) -> Jumps {
        let count = code.steps.len();
        // Registers start as zero.
        let mut of_register = vec![Targets::Known(vec![0]); 256];
        let mut jumps_through = [false; 256];
        for step in &code.steps {
            match step {
                Step::Run(Inst::Jump { target } | Inst::CJump { target, .. }) => {
                    jumps_through[usize::from(*target)] = true;
                }
                Step::Run(Inst::SetiCrf { dst, imm }) => {
                    let targets = &mut of_register[usize::from(*dst)];
                    if let Targets::Known(known) = targets
                        && let Some(target) = address_of(imm, count)
                        && !known.contains(&target)
                    {
                        known.push(target);
                        if known.len() > MAX_TARGETS {
                            *targets = Targets::Anywhere;
                        }
                    }
                }
                Step::Run(Inst::CalcCrf { dst, .. }) | Step::Place { dst, .. } => {
                    of_register[usize::from(*dst)] = Targets::Anywhere;
                }
                _ => {}
            }
        }
        let mut labels = vec![false; count + 1];
        for (targets, through) in of_register.iter().zip(jumps_through) {
            match targets {
                _ if !through => {}
                Targets::Known(known) => known.iter().for_each(|at| labels[*at as usize] = true),
                Targets::Anywhere => labels.fill(true),
            }
        }
        Jumps { of_register, labels }
    }

    /// Where the jump at `index` through `register` can go: the immediate last set on
    /// the way there, or any that the register is ever set to.
    fn targets(&self, code: &Code, index: usize, register: u8) -> Targets {
        for at in (index.saturating_sub(MAX_SCAN)..index).rev() {
            if self.labels[at + 1] {
                break;
            }
            match &code.steps[at] {
                Step::Run(Inst::SetiCrf { dst, imm }) if *dst == register => {
                    let target = address_of(imm, code.steps.len());
                    return Targets::Known(target.into_iter().collect());
                }
                Step::Run(Inst::CalcCrf { dst, .. }) | Step::Place { dst, .. }
                    if *dst == register =>
                {
                    break;
                }
                Step::Run(Inst::Jump { .. }) => break,
                _ => {}
            }
        }
        self.of_register[usize::from(register)].clone()
    }
}

/// Breadth-first distances to `goals`, on ways that pass no instruction of `walls`.
fn distances(
    code: &Code,
    predecessors: &Predecessors,
    goals: &[usize],
    walls: &[usize],
) -> Vec<u32> {
    let mut distance = vec![NEVER; code.steps.len() + 1];
    let mut wall = vec![false; code.steps.len() + 1];
    for at in walls {
        wall[*at] = true;
    }
    let mut queue = VecDeque::new();
    for goal in goals {
        distance[*goal] = 0;
        queue.push_back(*goal);
    }
    // The first to be reached is the nearest, so jumps to anywhere are served once.
    let mut anywhere = predecessors.of_all.as_slice();
    while let Some(at) = queue.pop_front() {
        for from in predecessors.of[at].iter().chain(std::mem::take(&mut anywhere)) {
            let from = *from as usize;
            if distance[from] == NEVER && !wall[from] {
                distance[from] = distance[at] + 1;
                queue.push_back(from);
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use nbcc_isa_ipim::asm::assemble;

    use super::*;

    fn of(text: &str) -> Lookahead {
        let text = format!(".isa simb 1\n.machine ipim-vault\n.section .text\n{text}\n");
        let program = assemble(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        lookahead(&Code::new(&program))
    }

    #[test]
    fn straight_code_counts_down_to_the_next_message() {
        let found = of(
            "reset D1, simb=0x1\nsync 1\nreset D1, simb=0x1\nreq 0, 0, 0, 0, 0, 0\nreset D1, simb=0x1",
        );
        assert_eq!(found.request, [NEVER, NEVER, 1, 0, NEVER, NEVER]);
        assert_eq!(found.message, [1, 0, 1, 0, NEVER, NEVER]);
    }

    #[test]
    fn jumps_take_the_shortest_way() {
        // The loop is left at its end; its target is set before it.
        let text = "seti_crf C4, top\ntop:\nreset D1, simb=0x1\nreset D2, simb=0x1\n\
                    cjump C5, C4\nreset D3, simb=0x1\nreq 0, 0, 0, 0, 0, 0\njump C4";
        let found = of(text);
        assert_eq!(found.request, [5, 4, 3, 2, 1, 0, 5, NEVER]);
    }

    #[test]
    fn computed_targets_may_be_anything() {
        let text =
            "calc_crf.add C4, C5, C6\njump C4\nreset D1, simb=0x1\nreset D1, simb=0x1\nsync 1";
        assert_eq!(of(text).message, [2, 1, 2, 1, 0, NEVER]);
        // So is a coordinate; and a register that is never set is zero.
        assert_eq!(of("reset D1, simb=0x1\nsync 1\njump C9").message, [1, 0, 2, NEVER]);
    }

    /// A register that is set on the way and elsewhere: only a jump that others can
    /// come to must reckon with both.
    #[test]
    fn the_last_immediate_before_a_jump_counts() {
        let text = "seti_crf C4, near\nseti_crf C7, here\nseti_crf C4, far\njump C4\n\
                    near:\nsync 1\nhere:\nreset D1, simb=0x1\nfar:\nreset D1, simb=0x1";
        let found = of(text);
        assert_eq!(found.message, [NEVER, NEVER, NEVER, NEVER, 0, NEVER, NEVER, NEVER]);
        let text = text.replace("\njump C4", "\nhere2:\njump C4").replace("C7, here", "C4, here2");
        assert_eq!(of(&text).message[3], 1);
    }
}
