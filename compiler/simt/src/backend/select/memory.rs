//! Loads and stores: vectors of 2, 4 or 8 registers, addresses split into base and offset.

use nbcc_ir::{BinaryOp, Ordering, Scalar, Space, Type, Value};
use nbcc_isa_simt::operands::{self, Access, Base, Offset, Order};
use nbcc_isa_simt::{Guard, Inst, Op as MachOp};
use nbcc_mach::VReg;

use super::{Result, Selector};
use crate::backend::space::space;

fn order(ordering: Ordering) -> Order {
    match ordering {
        Ordering::Weak => Order::Weak,
        Ordering::Volatile => Order::Volatile,
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
    }
}

fn access(scalar: Scalar) -> Result<Access> {
    match scalar.bits() {
        8 => Ok(Access::U8),
        16 => Ok(Access::U16),
        32 => Ok(Access::B32),
        _ => Err(format!("{scalar} in memory")),
    }
}

impl Selector<'_> {
    /// Base and offset of an address.
    pub(super) fn address(&mut self, address: Value, offset: i64) -> (Base<VReg>, Offset) {
        let (mut at, mut total) = (address, offset);
        let fits = |total: i64| i32::try_from(total).ok().map(Offset);
        loop {
            if let Some(bits) = self.constant(at, 0) {
                if let Some(offset) = fits((bits as i64).wrapping_add(total)) {
                    return (Base::Imm(0), offset);
                }
                break;
            }
            // What a loop goes on with takes the register of what it went on with before, if that is
            // needed no more.
            if self.increments.contains(&at) {
                break;
            }
            let Some(&nbcc_ir::Op::Binary(BinaryOp::Iadd, a, b)) = self.ir.def_op(at) else {
                break;
            };
            let (inner, number) = match (self.constant(a, 0), self.constant(b, 0)) {
                (_, Some(number)) => (a, number),
                (Some(number), _) => (b, number),
                _ => break,
            };
            let Some(sum) = total.checked_add(number as i64) else { break };
            if fits(sum).is_none() {
                break;
            }
            (at, total) = (inner, sum);
        }
        match fits(total) {
            Some(offset) => (Base::Reg(self.reg(at)), offset),
            None => {
                let base = self.reg(at);
                let number = self.materialize(nbcc_isa_simt::RegClass::Wide, total as u64);
                let dst = self.wide();
                let op = operands::WideOp::Add;
                let b = operands::Source::Reg(number);
                self.push(MachOp::IntWide { op, dst, a: base, b });
                (Base::Reg(dst), Offset(0))
            }
        }
    }

    /// A load; `guard` with the value where it is false.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn load(
        &mut self,
        ty: Type,
        from: Space,
        address: Value,
        offset: i64,
        ordering: Option<Ordering>,
        guard: Option<(Value, Value)>,
        result: Value,
    ) -> Result<()> {
        let (base, offset) = self.address(address, offset);
        let guard = guard.map(|(guard, old)| (self.guard(guard), old));
        let mut dst = Vec::new();
        for lane in 0..usize::from(ty.lanes) {
            let reg = self.result(result);
            if let Some((_, old)) = guard {
                self.copy_lane(reg, old, lane);
            }
            dst.push(reg);
        }
        let (space, order) = (space(from), order(ordering.unwrap_or(Ordering::Weak)));
        let op = if ty.scalar.bits() == 64 {
            match dst[..] {
                [dst] => MachOp::LdWide { space, order, dst, base, offset },
                [dst0, dst1] => MachOp::LdWide2 { space, order, dst0, dst1, base, offset },
                [dst0, dst1, dst2, dst3] => {
                    MachOp::LdWide4 { space, order, dst0, dst1, dst2, dst3, base, offset }
                }
                _ => return Err(format!("a load of {ty}")),
            }
        } else {
            let access = access(ty.scalar)?;
            match dst[..] {
                [dst] => MachOp::Ld { space, access, order, dst, base, offset },
                [dst0, dst1] => MachOp::Ld2 { space, access, order, dst0, dst1, base, offset },
                [dst0, dst1, dst2, dst3] => {
                    MachOp::Ld4 { space, access, order, dst0, dst1, dst2, dst3, base, offset }
                }
                [dst0, dst1, dst2, dst3, dst4, dst5, dst6, dst7] if order == Order::Weak => {
                    MachOp::Ld8 {
                        space,
                        access,
                        dst0,
                        dst1,
                        dst2,
                        dst3,
                        dst4,
                        dst5,
                        dst6,
                        dst7,
                        base,
                        offset,
                    }
                }
                _ => return Err(format!("a load of {ty}")),
            }
        };
        self.push_guarded(op, guard.map(|(guard, _)| guard));
        Ok(())
    }

    /// A store.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn store(
        &mut self,
        to: Space,
        address: Value,
        offset: i64,
        value: Value,
        ordering: Option<Ordering>,
        guard: Option<Value>,
    ) -> Result<()> {
        let (base, offset) = self.address(address, offset);
        let guard = guard.map(|guard| self.guard(guard));
        let src = self.lanes(value);
        let ty = self.ir.ty(value);
        let (space, order) = (space(to), order(ordering.unwrap_or(Ordering::Weak)));
        let op = if ty.scalar.bits() == 64 {
            match src[..] {
                [src] => MachOp::StWide { space, order, src, base, offset },
                [src0, src1] => MachOp::StWide2 { space, order, src0, src1, base, offset },
                [src0, src1, src2, src3] => {
                    MachOp::StWide4 { space, order, src0, src1, src2, src3, base, offset }
                }
                _ => return Err(format!("a store of {ty}")),
            }
        } else {
            let access = access(ty.scalar)?;
            match src[..] {
                [src] => MachOp::St { space, access, order, src, base, offset },
                [src0, src1] => MachOp::St2 { space, access, order, src0, src1, base, offset },
                [src0, src1, src2, src3] => {
                    MachOp::St4 { space, access, order, src0, src1, src2, src3, base, offset }
                }
                [src0, src1, src2, src3, src4, src5, src6, src7] if order == Order::Weak => {
                    MachOp::St8 {
                        space,
                        access,
                        src0,
                        src1,
                        src2,
                        src3,
                        src4,
                        src5,
                        src6,
                        src7,
                        base,
                        offset,
                    }
                }
                _ => return Err(format!("a store of {ty}")),
            }
        };
        self.push_guarded(op, guard);
        Ok(())
    }

    pub(super) fn push_guarded(&mut self, op: MachOp<VReg>, guard: Option<(VReg, bool)>) {
        let guard = guard.map(|(reg, negated)| Guard { reg, negated });
        self.push_inst(Inst { guard, ..Inst::from(op) });
    }

    /// Copies a lane to a register of its class.
    pub(super) fn copy_lane(&mut self, dst: VReg, value: Value, lane: usize) {
        match self.constant(value, lane) {
            Some(bits) => {
                let class = self.out.vregs[dst].class;
                self.set(class, dst, bits);
            }
            None => {
                let src = self.regs[value][lane];
                self.copy(dst, src);
            }
        }
    }
}
