//! Operations among lanes that wait for each other: shuffles, votes, matches, reductions and warp
//! barriers with a mask. Lanes may come on different paths, even at different instructions of one
//! kind; the operation is done once all lanes of the mask that have not ended are there (PTX ISA,
//! section 9.7.9.6).

use crate::lanes::{self, Reduction, Shuffle};
use crate::{LANES, Mask, Words, lanes_of};
use nbcc_isa_simt::operands::{ReduxOp, ShflMode, Source, VoteMode};
use nbcc_isa_simt::{Op, PhysReg};

use crate::machine::pending::{Key, Part};
use crate::machine::warp::Warp;

/// What kind of operation it is, and its mask.
pub fn key(op: &Op<PhysReg>) -> Option<(Key, &Source<PhysReg>)> {
    Some(match op {
        Op::Shfl { mode, mask, .. } => (Key::Shuffle(*mode), mask),
        Op::Vote { mode, mask, .. } => (Key::Vote(*mode), mask),
        Op::Ballot { mask, .. } => (Key::Ballot, mask),
        Op::MatchAny { mask, .. } => (Key::MatchAny(false), mask),
        Op::MatchAnyWide { mask, .. } => (Key::MatchAny(true), mask),
        Op::MatchAll { mask, .. } => (Key::MatchAll(false), mask),
        Op::MatchAllWide { mask, .. } => (Key::MatchAll(true), mask),
        Op::Redux { op, mask, .. } => (Key::Reduce(*op), mask),
        Op::WarpSync { mask } => (Key::Barrier, mask),
        _ => return None,
    })
}

/// The masks that the lanes of `act` name, each with those that name it, by the first lane.
pub fn groups(named: &Words, act: Mask) -> Vec<(Mask, Mask)> {
    let mut groups: Vec<(Mask, Mask)> = Vec::new();
    for lane in lanes_of(act) {
        match groups.iter_mut().find(|(mask, _)| *mask == named[lane]) {
            Some((_, lanes)) => *lanes |= 1 << lane,
            None => groups.push((named[lane], 1 << lane)),
        }
    }
    groups
}

/// Does the operation for all parts together; `op_at` gives the instruction of one.
pub fn perform<'a>(
    warp: &mut Warp,
    key: Key,
    parts: &[Part],
    op_at: impl Fn(u32) -> &'a Op<PhysReg>,
) {
    let all = parts.iter().fold(0, |all, (lanes, _)| all | lanes);
    let mut values = [0_u64; LANES];
    let mut holds = 0;
    let mut operand = [0; LANES];
    let mut clamp = [0; LANES];
    for &(part, pc) in parts {
        let op = op_at(pc);
        match op {
            Op::Vote { src, .. } | Op::Ballot { src, .. } => holds |= warp.predicate(*src) & part,
            Op::Shfl { src, lane: b, clamp: c, .. } => {
                let (src, b, c) = (*warp.word(*src), warp.source(b), warp.source(c));
                for lane in lanes_of(part) {
                    (values[lane], operand[lane], clamp[lane]) =
                        (src[lane].into(), b[lane], c[lane]);
                }
            }
            Op::MatchAny { src, .. } | Op::MatchAll { src, .. } | Op::Redux { src, .. } => {
                let src = warp.word(*src);
                lanes_of(part).for_each(|lane| values[lane] = src[lane].into());
            }
            Op::MatchAnyWide { src, .. } | Op::MatchAllWide { src, .. } => {
                let src = warp.wide(*src);
                lanes_of(part).for_each(|lane| values[lane] = src[lane]);
            }
            _ => {}
        }
    }
    let words = values.map(|value| value as u32);
    let (result, flags) = match key {
        Key::Shuffle(mode) => {
            let mode = match mode {
                ShflMode::Up => Shuffle::Up,
                ShflMode::Down => Shuffle::Down,
                ShflMode::Bfly => Shuffle::Butterfly,
                ShflMode::Idx => Shuffle::Index,
            };
            lanes::shuffle(mode, all, &words, &operand, &clamp)
        }
        Key::Vote(mode) => {
            let holds = match mode {
                VoteMode::All => holds == all,
                VoteMode::Any => holds != 0,
                VoteMode::Uni => holds == all || holds == 0,
            };
            ([0; LANES], if holds { all } else { 0 })
        }
        Key::Ballot => ([holds; LANES], 0),
        Key::MatchAny(_) => (lanes::match_any(all, &values), 0),
        Key::MatchAll(_) => {
            let same = if lanes::match_all(all, &values) { all } else { 0 };
            ([same; LANES], same)
        }
        Key::Reduce(op) => {
            let reduction = match op {
                ReduxOp::Add => Reduction::Add,
                ReduxOp::MinS => Reduction::MinSigned,
                ReduxOp::MinU => Reduction::MinUnsigned,
                ReduxOp::MaxS => Reduction::MaxSigned,
                ReduxOp::MaxU => Reduction::MaxUnsigned,
                ReduxOp::And => Reduction::And,
                ReduxOp::Or => Reduction::Or,
                ReduxOp::Xor => Reduction::Xor,
            };
            ([lanes::reduce(reduction, all, &words); LANES], 0)
        }
        Key::Barrier => return,
    };
    for &(part, pc) in parts {
        match op_at(pc) {
            Op::Shfl { dst, valid, .. } => {
                warp.set_word(*dst, part, &result);
                warp.set_predicate(*valid, part, flags);
            }
            Op::Vote { dst, .. } => warp.set_predicate(*dst, part, flags),
            Op::MatchAll { dst, same, .. } | Op::MatchAllWide { dst, same, .. } => {
                warp.set_word(*dst, part, &result);
                warp.set_predicate(*same, part, flags);
            }
            Op::Ballot { dst, .. }
            | Op::MatchAny { dst, .. }
            | Op::MatchAnyWide { dst, .. }
            | Op::Redux { dst, .. } => warp.set_word(*dst, part, &result),
            _ => {}
        }
    }
}
