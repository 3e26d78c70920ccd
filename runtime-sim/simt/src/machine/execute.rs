//! One warp goes ahead: instruction after instruction for the threads of its current path, until
//! it has used up its turn, waits, or threads of it end.

use crate::paths::NEVER;
use crate::{LANES, Mask, lanes_of};
use nbcc_isa::Imm;
use nbcc_isa_simt::operands::{Source, SyncMode};
use nbcc_isa_simt::{INSTRUCTION_BYTES, NO_RECONVERGENCE, Op, PhysReg};

use crate::machine::collective;
use crate::machine::compute::compute;
use crate::machine::context::{Context, Place, State, first};
use crate::machine::fault::FaultKind;
use crate::machine::pending::Pending;
use crate::machine::transfer::transfer;
use crate::machine::warp::Warp;

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its turn is over.
    Paused,
    /// All its paths wait, or it has ended.
    Idle,
    /// Threads of it ended.
    Exited,
    /// The path of these lanes waits at the barrier instruction.
    Barrier {
        /// The instruction.
        pc: u32,
        /// The lanes.
        lanes: Mask,
    },
}

/// A fault: what, at which instruction, in which lane.
pub struct Stopped {
    /// What happened.
    pub kind: FaultKind,
    /// The instruction.
    pub pc: u32,
    /// The lane.
    pub lane: usize,
}

fn target(imm: Imm) -> u32 {
    match imm {
        Imm::Value(NO_RECONVERGENCE) => NEVER,
        Imm::Value(bytes) => bytes as u32 / INSTRUCTION_BYTES,
        Imm::Label(label) => panic!("label {label} in a program that was loaded"),
    }
}

/// Runs a warp for at most `budget` instructions, which is counted down.
pub fn run_warp(
    warp: &mut Warp,
    place: &mut Place<'_>,
    context: &Context<'_>,
    state: &mut State<'_>,
    budget: &mut u64,
) -> Result<Event, Stopped> {
    let text = &context.program.code.text[..];
    loop {
        let Some((mut pc, mask, reconverge)) = warp.paths.current() else {
            return Ok(Event::Idle);
        };
        loop {
            if *budget == 0 {
                warp.paths.go(pc);
                return Ok(Event::Paused);
            }
            *budget -= 1;
            let inst = &text[pc as usize];
            let act = warp.guarded(&inst.guard, mask);
            state.counters.issue(pc, act);
            let mut next = pc + 1;
            match &inst.op {
                Op::Bra { target: to, reconverge: meet } => {
                    if act == mask {
                        next = target(*to);
                    } else if act != 0 {
                        state.counters.divergent += 1;
                        warp.paths.branch(act, target(*to), next, target(*meet));
                        break;
                    }
                }
                _ if act == 0 => {}
                Op::Exit {} => {
                    warp.paths.exit(act);
                    if act != mask {
                        warp.paths.go(next);
                    }
                    release_pending(warp, context);
                    return Ok(Event::Exited);
                }
                Op::Trap { message } => {
                    let text = context.program.messages[*message as usize].clone();
                    return Err(Stopped { kind: FaultKind::Trap(text), pc, lane: first(act) });
                }
                Op::Brkpt {} => {
                    return Err(Stopped { kind: FaultKind::Breakpoint, pc, lane: first(act) });
                }
                Op::Bar { id, count, .. }
                | Op::BarArrive { id, count, .. }
                | Op::BarPopc { id, count, .. }
                | Op::BarRed { id, count, .. } => {
                    let lanes = alike(warp, id, act) & alike(warp, count, act);
                    if lanes != act {
                        // Those with another barrier come to theirs behind these.
                        warp.paths.split(lanes, pc);
                    } else if act != mask {
                        warp.paths.split(lanes, next);
                    }
                    warp.paths.block(next);
                    return Ok(Event::Barrier { pc, lanes });
                }
                Op::Shfl { .. }
                | Op::Vote { .. }
                | Op::Ballot { .. }
                | Op::MatchAny { .. }
                | Op::MatchAnyWide { .. }
                | Op::MatchAll { .. }
                | Op::MatchAllWide { .. }
                | Op::Redux { .. }
                | Op::WarpSync { .. } => {
                    if !together(warp, context, &inst.op, pc, act, mask) {
                        break;
                    }
                }
                Op::ActiveMask { dst } => warp.set_word(*dst, act, &[act; LANES]),
                Op::Nanosleep { .. } | Op::Fence { .. } | Op::Region { .. } => {}
                op => {
                    let done = compute(warp, op, act, context, place)
                        || transfer(warp, op, act, context, place, state)
                            .map_err(|(lane, kind)| Stopped { kind, pc, lane })?;
                    assert!(done, "`{inst}` has no meaning");
                }
            }
            pc = next;
            if pc == reconverge {
                warp.paths.go(pc);
                break;
            }
        }
    }
}

/// The lanes of `act` for which a source has the value that it has for the first of them.
fn alike(warp: &Warp, source: &Source<PhysReg>, act: Mask) -> Mask {
    match source {
        Source::Imm(_) => act,
        Source::Reg(reg) => {
            let words = warp.word(*reg);
            let value = words[first(act)];
            lanes_of(act).fold(0, |mask, lane| mask | Mask::from(words[lane] == value) << lane)
        }
    }
}

/// An operation among lanes: done at once where all are here, which is told; else the path waits.
fn together(
    warp: &mut Warp,
    context: &Context<'_>,
    op: &Op<PhysReg>,
    pc: u32,
    act: Mask,
    mask: Mask,
) -> bool {
    let text = &context.program.code.text;
    let op_at = |pc: u32| &text[pc as usize].op;
    let Some((key, named)) = collective::key(op) else { return true };
    let legacy = matches!(
        op,
        Op::Shfl { sync: SyncMode::Legacy, .. }
            | Op::Vote { sync: SyncMode::Legacy, .. }
            | Op::Ballot { sync: SyncMode::Legacy, .. }
    );
    if legacy {
        collective::perform(warp, key, &[(act, pc)], op_at);
        return true;
    }
    let words = warp.source(named);
    let live = warp.paths.live();
    if alike(warp, named, act) == act
        && warp.pending.is_empty()
        && words[first(act)] & live & !act == 0
    {
        collective::perform(warp, key, &[(act, pc)], op_at);
        return true;
    }
    let groups = collective::groups(&words, act);
    let waiting = |named: Mask| warp.pending.iter().position(|p| p.named == named && p.key == key);
    // Lanes that are all there stay together, whatever their masks: tiles of a warp do.
    if groups.iter().all(|&(named, lanes)| waiting(named).is_none() && named & live & !lanes == 0) {
        for (_, lanes) in groups {
            collective::perform(warp, key, &[(lanes, pc)], op_at);
        }
        return true;
    }
    let (named, same) = groups[0];
    let waiting = waiting(named);
    if same != act {
        // Lanes with other masks, and those whose guard does not hold, try it again.
        warp.paths.split(same, pc);
    } else if act != mask {
        warp.paths.split(same, pc + 1);
    }
    warp.paths.block(pc + 1);
    match waiting {
        Some(index) => warp.pending[index].parts.push((same, pc)),
        None => warp.pending.push(Pending { named, key, parts: vec![(same, pc)] }),
    }
    release_pending(warp, context);
    false
}

/// Does what waits for lanes that are all there by now.
fn release_pending(warp: &mut Warp, context: &Context<'_>) {
    let mut index = 0;
    while index < warp.pending.len() {
        let pending = &warp.pending[index];
        if pending.named & warp.paths.live() & !pending.arrived() == 0 {
            let pending = warp.pending.remove(index);
            let text = &context.program.code.text;
            collective::perform(warp, pending.key, &pending.parts, |pc| &text[pc as usize].op);
            warp.paths.wake(pending.arrived());
        } else {
            index += 1;
        }
    }
}
