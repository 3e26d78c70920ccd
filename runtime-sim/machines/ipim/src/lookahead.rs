//! How soon a control core can reach its next message to another vault.
//!
//! Vaults are simulated apart from each other for as long as nothing can reach them:
//! a conservative parallel simulation (Chandy and Misra, 1979) whose lookahead is the
//! least number of instructions to the next `req` or `sync`, each of which takes a
//! cycle at least, and the least latency of the network.

use std::collections::VecDeque;

use nbcc_isa_ipim::Inst;

use crate::code::{Code, Step};
use crate::jumps::{self, Targets};

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
    for (index, step) in code.steps.iter().enumerate() {
        if !matches!(step, Step::Run(Inst::Jump { .. }) | Step::Fault(_)) {
            of[index + 1].push(index as u32);
        }
    }
    for (index, targets) in jumps::targets(code) {
        match targets {
            Targets::Known(targets) => {
                targets.iter().for_each(|target| of[*target as usize].push(index as u32));
            }
            Targets::Anywhere => of_all.push(index as u32),
        }
    }
    Predecessors { of, of_all }
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
        let text = text.replace("\njump C4", "\nhere2:\njump C4").replace("C7, here", "C7, here2");
        assert_eq!(of(&text).message[3], NEVER, "nobody jumps there");
        let text = text.replace("\nseti_crf C4, far", "\ncjump C6, C7\nseti_crf C4, far");
        assert_eq!(of(&text).message[4], 1);
    }

    /// What is set to a register behind a long loop has nothing to do with the loop.
    #[test]
    fn a_loop_longer_than_its_surroundings_keeps_to_itself() {
        let body = "reset D1, simb=0x1\n".repeat(1000);
        let text = format!(
            "seti_crf C4, first\nfirst:\nreq 0, 0, 0, 0, 0, 0\ncjump C5, C4\n\
             seti_crf C4, second\nsecond:\n{body}cjump C5, C4\nreset D1, simb=0x1"
        );
        let found = of(&text);
        assert_eq!(found.request[..3], [1, 0, 1]);
        assert!(found.request[3..].iter().all(|distance| *distance == NEVER));
    }
}
