//! Grid operations on integers and their bits.

use nbcc_ir::{Direction, EdgeMode, IntType, PrmtMode, Simd, Value, Width};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{
    self as isa, CountOp, IntOp, Sign, SimdMods, Source, TernaryOp, UnaryOp, WideOp,
};

use super::Selector;

pub(super) fn prmt(mode: PrmtMode) -> TernaryOp {
    match mode {
        PrmtMode::Index => TernaryOp::PrmtIdx,
        PrmtMode::F4e => TernaryOp::PrmtF4e,
        PrmtMode::B4e => TernaryOp::PrmtB4e,
        PrmtMode::Rc8 => TernaryOp::PrmtRc8,
        PrmtMode::Ecl => TernaryOp::PrmtEcl,
        PrmtMode::Ecr => TernaryOp::PrmtEcr,
        PrmtMode::Rc16 => TernaryOp::PrmtRc16,
    }
}

pub(super) fn dot(lo_hi: Option<bool>, a: bool, b: bool) -> TernaryOp {
    use TernaryOp::*;
    let [uu, us, su, ss] = match lo_hi {
        None => [Dp4aUU, Dp4aUS, Dp4aSU, Dp4aSS],
        Some(false) => [Dp2aLoUU, Dp2aLoUS, Dp2aLoSU, Dp2aLoSS],
        Some(true) => [Dp2aHiUU, Dp2aHiUS, Dp2aHiSU, Dp2aHiSS],
    };
    match (a, b) {
        (false, false) => uu,
        (false, true) => us,
        (true, false) => su,
        (true, true) => ss,
    }
}

fn simd_op(op: nbcc_ir::SimdOp) -> isa::SimdOp {
    use nbcc_ir::SimdOp as From;
    match op {
        From::Add => isa::SimdOp::Add,
        From::Sub => isa::SimdOp::Sub,
        From::Avrg => isa::SimdOp::Avrg,
        From::Absdiff => isa::SimdOp::Absdiff,
        From::Min => isa::SimdOp::Min,
        From::Max => isa::SimdOp::Max,
        From::SetEq => isa::SimdOp::SetEq,
        From::SetNe => isa::SimdOp::SetNe,
        From::SetLt => isa::SimdOp::SetLt,
        From::SetLe => isa::SimdOp::SetLe,
        From::SetGt => isa::SimdOp::SetGt,
        From::SetGe => isa::SimdOp::SetGe,
    }
}

impl Selector<'_> {
    pub(super) fn int(&mut self, op: IntOp, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.source(args[1], 0));
        let dst = self.result(result);
        self.push(MachOp::Int { op, dst, a, b });
    }

    pub(super) fn ternary(&mut self, op: TernaryOp, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.small_source(args[1], 16));
        let c = self.source(args[2], 0);
        let dst = self.result(result);
        self.push(MachOp::Ternary { op, dst, a, b, c });
    }

    pub(super) fn count(&mut self, op: CountOp, width: Width, a: Value, result: Value) {
        let a = self.reg(a);
        let dst = self.result(result);
        self.push(match width {
            Width::B64 => MachOp::CountWide { op, dst, a },
            Width::B32 => MachOp::Count { op, dst, a },
        });
    }

    /// An operation of both signs and widths; narrow operands are extended.
    pub(super) fn divide(
        &mut self,
        ty: IntType,
        [unsigned, signed]: [IntOp; 2],
        [wide_unsigned, wide_signed]: [WideOp; 2],
        args: &[Value],
        result: Value,
    ) {
        if ty.bits() == 64 {
            let (a, b) = (self.reg(args[0]), self.source(args[1], 0));
            let dst = self.result(result);
            let op = if ty.is_signed() { wide_signed } else { wide_unsigned };
            self.push(MachOp::IntWide { op, dst, a, b });
            return;
        }
        let a = self.extended(args[0], 0, ty.is_signed());
        let b = self.extended(args[1], 0, ty.is_signed());
        let dst = self.result(result);
        let op = if ty.is_signed() { signed } else { unsigned };
        self.push(MachOp::Int { op, dst, a, b: Source::Reg(b) });
    }

    pub(super) fn mul_high_16(&mut self, ty: IntType, args: &[Value], result: Value) {
        let a = self.extended(args[0], 0, ty.is_signed());
        let b = self.extended(args[1], 0, ty.is_signed());
        let product = self.word();
        self.push(MachOp::Int { op: IntOp::Mul, dst: product, a, b: Source::Reg(b) });
        let dst = self.result(result);
        self.push(MachOp::Int { op: IntOp::Shr, dst, a: product, b: Source::Imm(16) });
    }

    pub(super) fn bfind(&mut self, ty: IntType, amount: bool, args: &[Value], result: Value) {
        let op = match (ty.is_signed(), amount) {
            (true, false) => CountOp::BfindS,
            (false, false) => CountOp::BfindU,
            (true, true) => CountOp::BfindShiftS,
            (false, true) => CountOp::BfindShiftU,
        };
        let width = if ty.bits() == 64 { Width::B64 } else { Width::B32 };
        self.count(op, width, args[0], result);
    }

    pub(super) fn brev(&mut self, width: Width, args: &[Value], result: Value) {
        let a = self.reg(args[0]);
        let dst = self.result(result);
        let op = UnaryOp::Brev;
        self.push(match width {
            Width::B64 => MachOp::IntUnaryWide { op, dst, a },
            Width::B32 => MachOp::IntUnary { op, dst, a },
        });
    }

    pub(super) fn bfe(&mut self, ty: IntType, args: &[Value], result: Value) {
        let a = self.reg(args[0]);
        let (position, length) = (self.small_source(args[1], 16), self.source(args[2], 0));
        let dst = self.result(result);
        if ty.bits() == 64 {
            let sign = if ty.is_signed() { Sign::Signed } else { Sign::Unsigned };
            self.push(MachOp::BfeWide { sign, dst, a, position, length });
        } else {
            let op = if ty.is_signed() { TernaryOp::BfeS } else { TernaryOp::BfeU };
            self.push(MachOp::Ternary { op, dst, a, b: position, c: length });
        }
    }

    pub(super) fn bfi(&mut self, width: Width, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.reg(args[1]));
        let (position, length) = (self.small_source(args[2], 16), self.source(args[3], 0));
        let dst = self.result(result);
        self.push(match width {
            Width::B64 => MachOp::BfiWide { dst, a, b, position, length },
            Width::B32 => MachOp::Bfi { dst, a, b, position, length },
        });
    }

    pub(super) fn bmsk(&mut self, mode: EdgeMode, args: &[Value], result: Value) {
        let op = match mode {
            EdgeMode::Clamp => IntOp::BmskClamp,
            EdgeMode::Wrap => IntOp::BmskWrap,
        };
        self.int(op, args, result);
    }

    pub(super) fn szext(&mut self, signed: bool, mode: EdgeMode, args: &[Value], result: Value) {
        let op = match (mode, signed) {
            (EdgeMode::Clamp, true) => IntOp::SzextClampS,
            (EdgeMode::Clamp, false) => IntOp::SzextClampU,
            (EdgeMode::Wrap, true) => IntOp::SzextWrapS,
            (EdgeMode::Wrap, false) => IntOp::SzextWrapU,
        };
        self.int(op, args, result);
    }

    pub(super) fn lop3(&mut self, table: u8, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.reg(args[1]));
        let c = self.source(args[2], 0);
        let dst = self.result(result);
        self.push(MachOp::Lop3 { dst, a, b, c, table: table.into() });
    }

    pub(super) fn shf(
        &mut self,
        direction: Direction,
        mode: EdgeMode,
        args: &[Value],
        result: Value,
    ) {
        let op = match (direction, mode) {
            (Direction::Left, EdgeMode::Clamp) => TernaryOp::ShfLClamp,
            (Direction::Left, EdgeMode::Wrap) => TernaryOp::ShfLWrap,
            (Direction::Right, EdgeMode::Clamp) => TernaryOp::ShfRClamp,
            (Direction::Right, EdgeMode::Wrap) => TernaryOp::ShfRWrap,
        };
        self.ternary(op, args, result);
    }

    pub(super) fn simd(&mut self, simd: Simd, args: &[Value], result: Value) {
        let [a, b, c] = [args[0], args[1], args[2]].map(|value| self.reg(value));
        let op = SimdMods {
            op: simd_op(simd.op),
            halves: simd.lanes == 2,
            a_signed: simd.a_signed,
            b_signed: simd.b_signed,
            signed: simd.dst_signed,
            sat: simd.sat,
            add: simd.add,
        };
        let dst = self.result(result);
        self.push(MachOp::Simd { op, dst, a, b, c, mask: simd.mask.into() });
    }
}
