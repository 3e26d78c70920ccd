//! Conversions of the core operations.

use nbcc_ir::{BinaryOp, ConvertOp, Op, Scalar, Type, Value};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{
    ConvertMods, ConvertRounding, IntOp, IntTest, NumType, Source, UnaryOp as MachUnary,
};
use nbcc_mach::VReg;

use super::{Result, Selector, class_of};

/// The type of an integer or float with that sign.
fn number(scalar: Scalar, signed: bool) -> Result<NumType> {
    Ok(match (scalar, signed) {
        (Scalar::I8, false) => NumType::U8,
        (Scalar::I8, true) => NumType::S8,
        (Scalar::I16, false) => NumType::U16,
        (Scalar::I16, true) => NumType::S16,
        (Scalar::I32, false) => NumType::U32,
        (Scalar::I32, true) => NumType::S32,
        (Scalar::I64, false) => NumType::U64,
        (Scalar::I64, true) => NumType::S64,
        (Scalar::F16, _) => NumType::F16,
        (Scalar::F32, _) => NumType::F32,
        (Scalar::F64, _) => NumType::F64,
        (Scalar::I1, _) => return Err("a conversion of a truth value".to_string()),
    })
}

impl Selector<'_> {
    pub(super) fn convert(
        &mut self,
        op: ConvertOp,
        a: Value,
        lane: usize,
        to: Type,
        result: Value,
    ) -> Result<()> {
        let (from, into) = (self.ir.ty(a).scalar, to.scalar);
        match op {
            ConvertOp::Bitcast => {
                let reg = self.lane(a, lane);
                self.regs[result].push(reg);
            }
            ConvertOp::Truncate => self.truncate(a, lane, from, into, result),
            ConvertOp::ZeroExtend | ConvertOp::SignExtend => {
                self.extend(op == ConvertOp::SignExtend, a, lane, from, into, result);
            }
            // What these give out of range is not what `cvt` does, which kernels have as it is.
            ConvertOp::FloatToSigned | ConvertOp::FloatToUnsigned => {
                return Err(format!("{} outside `cvt`", op.name()));
            }
            ConvertOp::SignedToFloat | ConvertOp::UnsignedToFloat => {
                let from = number(from, op == ConvertOp::SignedToFloat)?;
                self.cast(from, number(into, false)?, ConvertRounding::Rn, a, lane, result);
            }
            ConvertOp::FloatToFloat => {
                let exact = into.bits() > from.bits();
                let rounding = if exact { ConvertRounding::Exact } else { ConvertRounding::Rn };
                let (from, into) = (number(from, false)?, number(into, false)?);
                self.cast(from, into, rounding, a, lane, result);
            }
        }
        Ok(())
    }

    fn cast(
        &mut self,
        from: NumType,
        to: NumType,
        rounding: ConvertRounding,
        a: Value,
        lane: usize,
        result: Value,
    ) {
        let src = self.lane(a, lane);
        let dst = self.result(result);
        self.number_convert(from, to, ConvertMods::plain(rounding), src, dst);
    }

    /// A conversion between numbers in registers of their classes.
    pub(super) fn number_convert(
        &mut self,
        from: NumType,
        to: NumType,
        mods: ConvertMods,
        src: VReg,
        dst: VReg,
    ) {
        self.push(match (from.bits() == 64, to.bits() == 64) {
            (false, false) => MachOp::Cvt { to, from, mods, dst, src },
            (false, true) => MachOp::CvtWiden { to, from, mods, dst, src },
            (true, false) => MachOp::CvtNarrow { to, from, mods, dst, src },
            (true, true) => MachOp::CvtWide { to, from, mods, dst, src },
        });
    }

    fn truncate(&mut self, a: Value, lane: usize, from: Scalar, into: Scalar, result: Value) {
        // The upper half of 64 bits.
        if let Some(&Op::Binary(BinaryOp::Lshr, x, by)) = self.ir.def_op(a)
            && from.bits() == 64
            && into.bits() > 1
            && self.constant(by, lane) == Some(32)
        {
            let src = self.lane(x, lane);
            let dst = self.result(result);
            self.push(MachOp::High { dst, src });
            return;
        }
        let src = self.lane(a, lane);
        let word = match from.bits() {
            64 => {
                let dst = self.word();
                self.push(MachOp::Low { dst, src });
                dst
            }
            _ => src,
        };
        if into.bits() > 1 {
            self.regs[result].push(word);
            return;
        }
        let bit = self.word();
        self.push(MachOp::Int { op: IntOp::And, dst: bit, a: word, b: Source::Imm(1) });
        let dst = self.result(result);
        self.push(MachOp::Cmp { test: IntTest::Ne, dst, a: bit, b: Source::Imm(0) });
    }

    fn extend(
        &mut self,
        signed: bool,
        a: Value,
        lane: usize,
        from: Scalar,
        into: Scalar,
        result: Value,
    ) {
        let word = if from.bits() == 1 {
            let src = self.lane(a, lane);
            let mut dst = self.word();
            self.push(MachOp::PredWord { dst, src });
            if signed {
                let a = std::mem::replace(&mut dst, self.out.vreg(class_of(Scalar::I32)));
                self.push(MachOp::IntUnary { op: MachUnary::Neg, dst, a });
            }
            dst
        } else {
            self.extended(a, lane, signed)
        };
        if into.bits() < 64 {
            self.regs[result].push(word);
            return;
        }
        let dst = self.result(result);
        if signed {
            let mods = ConvertMods::plain(ConvertRounding::Exact);
            self.number_convert(NumType::S32, NumType::S64, mods, word, dst);
        } else {
            self.push(MachOp::Pack { dst, low: word, high: Source::Imm(0) });
        }
    }
}
