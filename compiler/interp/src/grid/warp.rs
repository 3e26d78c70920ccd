//! What the threads of a warp compute together, once all that take part have come.

use nbcc_analysis::reduce;
use nbcc_ir::{ShflMode, SimtOp, VoteMode};

/// The mask of lanes that an operation names; `None` for those that take the lanes which execute
/// them together.
pub(super) fn named_mask(op: &SimtOp, args: &[u64]) -> Option<u32> {
    let at = match op {
        SimtOp::Shfl(_, false) => 3,
        SimtOp::Vote(_, false) | SimtOp::Match(..) | SimtOp::Redux(..) => 1,
        SimtOp::WarpBarrier => 0,
        _ => return None,
    };
    args.get(at).map(|&mask| mask as u32)
}

/// The results of each lane of an operation, given the operands of the lanes that take part.
pub(super) fn together(op: &SimtOp, lanes: &[(u32, Vec<u64>)]) -> Vec<[u64; 2]> {
    let value = |lane: u32, number: usize| {
        lanes.iter().find(|(of, _)| *of == lane).map(|(_, args)| args[number])
    };
    let mask_where = |test: &dyn Fn(&[u64]) -> bool| {
        let chosen = lanes.iter().filter(|(_, args)| test(args));
        chosen.fold(0u64, |mask, (lane, _)| mask | 1 << lane)
    };
    let all = mask_where(&|_| true);
    let result = |lane: u32, args: &[u64]| match *op {
        SimtOp::Shfl(mode, _) => {
            let (source, in_range) = shuffle(mode, lane, args[1] as u32, args[2] as u32);
            match value(source, 0) {
                Some(bits) if in_range => [bits, 1],
                _ => [args[0], u64::from(in_range)],
            }
        }
        SimtOp::Vote(mode, _) => {
            let yes = mask_where(&|args| args[0] != 0);
            match mode {
                VoteMode::All => [u64::from(yes == all), 0],
                VoteMode::Any => [u64::from(yes != 0), 0],
                VoteMode::Uni => [u64::from(yes == all || yes == 0), 0],
                VoteMode::Ballot => [yes, 0],
            }
        }
        SimtOp::Match(of_all, _) => {
            let same = mask_where(&|other| other[0] == args[0]);
            match of_all {
                true => [if same == all { all } else { 0 }, u64::from(same == all)],
                false => [same, 0],
            }
        }
        SimtOp::Redux(op, ty) => {
            let values = lanes.iter().map(|(_, args)| args[0]);
            [values.reduce(|a, b| reduce(op, ty, a, b)).unwrap_or(0), 0]
        }
        SimtOp::Activemask => [all, 0],
        _ => [0, 0],
    };
    lanes.iter().map(|(lane, args)| result(*lane, args)).collect()
}

/// The lane that a shuffle reads, and whether it is in range (PTX ISA manual, `shfl`).
fn shuffle(mode: ShflMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let b = b & 31;
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let highest = (lane & segment) | (clamp & !segment);
    let lowest = lane & segment;
    let (source, in_range) = match mode {
        ShflMode::Up => {
            let source = i64::from(lane) - i64::from(b);
            (source, source >= i64::from(highest))
        }
        ShflMode::Down => {
            let source = i64::from(lane) + i64::from(b);
            (source, source <= i64::from(highest))
        }
        ShflMode::Bfly => {
            let source = i64::from(lane ^ b);
            (source, source <= i64::from(highest))
        }
        ShflMode::Idx => {
            let source = i64::from(lowest | (b & !segment));
            (source, source <= i64::from(highest))
        }
    };
    if in_range { (source as u32, true) } else { (lane, false) }
}
