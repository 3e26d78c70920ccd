//! Grid operations among the threads of a warp or block.

use nbcc_ir::{Barrier, BarrierKind, IntType, ReduxOp, ShflMode, Value, VoteMode, Width};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{self as isa, Alignment, BarrierReduction, Source, SyncMode};
use nbcc_mach::VReg;

use super::{Selector, same_name};

same_name! {
    shfl_mode: ShflMode => isa::ShflMode;
}

/// Whether only the lanes of a mask take part, or those who are there.
fn sync(legacy: bool) -> SyncMode {
    if legacy { SyncMode::Legacy } else { SyncMode::Sync }
}

impl Selector<'_> {
    pub(super) fn shfl(&mut self, mode: ShflMode, legacy: bool, args: &[Value], results: &[Value]) {
        let src = self.reg(args[0]);
        let lane = self.small_source(args[1], 8);
        let clamp = self.small_source(args[2], 16);
        let mask = match legacy {
            true => Source::Imm(u32::MAX),
            false => self.source(args[3], 0),
        };
        let (mode, sync) = (shfl_mode(mode), sync(legacy));
        let (dst, valid) = (self.result(results[0]), self.result(results[1]));
        self.push(MachOp::Shfl { mode, sync, dst, valid, src, lane, clamp, mask });
    }

    pub(super) fn vote(&mut self, mode: VoteMode, legacy: bool, args: &[Value], result: Value) {
        let src = self.reg(args[0]);
        let mask = match legacy {
            true => Source::Imm(u32::MAX),
            false => self.source(args[1], 0),
        };
        let (sync, dst) = (sync(legacy), self.result(result));
        let mode = match mode {
            VoteMode::All => isa::VoteMode::All,
            VoteMode::Any => isa::VoteMode::Any,
            VoteMode::Uni => isa::VoteMode::Uni,
            VoteMode::Ballot => {
                self.push(MachOp::Ballot { sync, dst, src, mask });
                return;
            }
        };
        self.push(MachOp::Vote { mode, sync, dst, src, mask });
    }

    pub(super) fn matching(&mut self, all: bool, width: Width, args: &[Value], results: &[Value]) {
        let (src, mask) = (self.reg(args[0]), self.source(args[1], 0));
        let dst = self.result(results[0]);
        let op = if all {
            let same = self.result(results[1]);
            match width {
                Width::B32 => MachOp::MatchAll { dst, same, src, mask },
                Width::B64 => MachOp::MatchAllWide { dst, same, src, mask },
            }
        } else {
            match width {
                Width::B32 => MachOp::MatchAny { dst, src, mask },
                Width::B64 => MachOp::MatchAnyWide { dst, src, mask },
            }
        };
        self.push(op);
    }

    pub(super) fn redux(&mut self, op: ReduxOp, ty: IntType, args: &[Value], result: Value) {
        let op = match (op, ty.is_signed()) {
            (ReduxOp::Add, _) => isa::ReduxOp::Add,
            (ReduxOp::Min, true) => isa::ReduxOp::MinS,
            (ReduxOp::Min, false) => isa::ReduxOp::MinU,
            (ReduxOp::Max, true) => isa::ReduxOp::MaxS,
            (ReduxOp::Max, false) => isa::ReduxOp::MaxU,
            (ReduxOp::And, _) => isa::ReduxOp::And,
            (ReduxOp::Or, _) => isa::ReduxOp::Or,
            (ReduxOp::Xor, _) => isa::ReduxOp::Xor,
        };
        let (src, mask) = (self.reg(args[0]), self.source(args[1], 0));
        let dst = self.result(result);
        self.push(MachOp::Redux { op, dst, src, mask });
    }

    pub(super) fn barrier(&mut self, barrier: Barrier, args: &[Value], results: &[Value]) {
        let alignment = if barrier.aligned { Alignment::Aligned } else { Alignment::Unaligned };
        let id: Source<VReg> = self.small_source(args[0], 8);
        let count = if barrier.counted { self.source(args[1], 0) } else { Source::Imm(0) };
        let predicate = args.last().copied();
        match barrier.kind {
            BarrierKind::Sync => self.push(MachOp::Bar { alignment, id, count }),
            BarrierKind::Arrive => self.push(MachOp::BarArrive { alignment, id, count }),
            BarrierKind::RedPopc | BarrierKind::RedAnd | BarrierKind::RedOr => {
                let Some(predicate) = predicate else { return };
                let src = self.reg(predicate);
                let dst = self.result(results[0]);
                let op = match barrier.kind {
                    BarrierKind::RedPopc => {
                        self.push(MachOp::BarPopc { alignment, dst, id, count, src });
                        return;
                    }
                    BarrierKind::RedAnd => BarrierReduction::And,
                    _ => BarrierReduction::Or,
                };
                self.push(MachOp::BarRed { op, alignment, dst, id, count, src });
            }
        }
    }
}
