//! The core operations of the IR, lane by lane, with the few combinations that are one
//! instruction: products of extended factors, sums of products, halves of 64 bits.

use nbcc_ir::{BinaryOp, ConvertOp, FloatCond, IntCond, Op, Scalar, Type, UnaryOp, Value};
use nbcc_isa_simt::operands::{
    FloatMods, FloatOp, FloatTest, FloatUnaryOp, Format, FormatMods, IntOp, IntTest, PredOp,
    Rounding, ShiftOp, Sign, Source, TernaryOp, UnaryOp as MachUnary, WideOp,
};
use nbcc_isa_simt::{Op as MachOp, RegClass};
use nbcc_mach::VReg;

use super::{Result, Selector, class_of};

impl Selector<'_> {
    pub(super) fn plain(&mut self, op: &Op, result: Value) -> Result<()> {
        match op {
            Op::Splat(a, lanes) => {
                let reg = self.reg(*a);
                self.alias(result, vec![reg; usize::from(*lanes)]);
            }
            Op::Extract(a, lane) => {
                let reg = self.lane(*a, usize::from(*lane));
                self.alias(result, vec![reg]);
            }
            Op::Insert(a, b, lane) => {
                let mut regs = self.lanes(*a);
                regs[usize::from(*lane)] = self.reg(*b);
                self.alias(result, regs);
            }
            Op::Shuffle(a, b, lanes) => {
                let mut all = self.lanes(*a);
                all.extend(self.lanes(*b));
                let regs = lanes.iter().map(|&lane| all[usize::from(lane)]).collect();
                self.alias(result, regs);
            }
            Op::Unary(op, a) => {
                for lane in self.each(result) {
                    self.unary(*op, *a, lane, result)?;
                }
            }
            Op::Binary(op, a, b) => {
                for lane in self.each(result) {
                    self.binary(*op, *a, *b, lane, result)?;
                }
            }
            Op::Icmp(cond, a, b) => {
                for lane in self.each(result) {
                    self.icmp(*cond, *a, *b, lane, result);
                }
            }
            Op::Fcmp(cond, a, b) => {
                for lane in self.each(result) {
                    let test = match cond {
                        FloatCond::Eq => FloatTest::Eq,
                        FloatCond::Ne => FloatTest::Neu,
                        FloatCond::Lt => FloatTest::Lt,
                        FloatCond::Le => FloatTest::Le,
                        FloatCond::Gt => FloatTest::Gt,
                        FloatCond::Ge => FloatTest::Ge,
                    };
                    let dst = self.result(result);
                    self.float_test(test, *a, *b, lane, dst)?;
                }
            }
            Op::Select(cond, a, b) => {
                for lane in self.each(result) {
                    self.select_lane(*cond, *a, *b, lane, result);
                }
            }
            Op::Fma(a, b, c) => {
                for lane in self.each(result) {
                    let (x, y) = (self.lane(*a, lane), self.lane(*b, lane));
                    let z = self.source(*c, lane);
                    let dst = self.result(result);
                    let mods = FloatMods::plain(Rounding::Rn);
                    self.push(match self.ir.ty(*a).scalar {
                        Scalar::F64 => MachOp::FmaWide { mods, dst, a: x, b: y, c: z },
                        Scalar::F32 => {
                            MachOp::Fma { format: Format::F32, mods, dst, a: x, b: y, c: z }
                        }
                        other => return Err(format!("fma of {other}")),
                    });
                }
            }
            Op::MulAdd(a, b, c) => {
                for lane in self.each(result) {
                    let x = self.lane(*a, lane);
                    let (y, z) = (self.source(*b, lane), self.source(*c, lane));
                    let scalar = self.ir.ty(*a).scalar;
                    let product = self.out.vreg(class_of(scalar));
                    self.float2(FloatOp::Mul, scalar, product, x, y)?;
                    let dst = self.result(result);
                    self.float2(FloatOp::Add, scalar, dst, product, z)?;
                }
            }
            Op::Convert(op, a, to) => {
                for lane in self.each(result) {
                    self.convert(*op, *a, lane, *to, result)?;
                }
            }
            other => return Err(format!("{other:?}")),
        }
        Ok(())
    }

    fn each(&self, value: Value) -> std::ops::Range<usize> {
        0..usize::from(self.ir.ty(value).lanes)
    }

    /// A lane of an integer with the bits of its register above it zero or its sign.
    pub(super) fn extended(&mut self, value: Value, lane: usize, signed: bool) -> VReg {
        let scalar = self.ir.ty(value).scalar;
        if let Some(bits) = self.constant(value, lane) {
            let up = 64 - scalar.bits();
            let bits = if signed { ((bits << up) as i64 >> up) as u64 } else { bits };
            let mask = if class_of(scalar) == RegClass::Wide { u64::MAX } else { 0xffff_ffff };
            return self.materialize(class_of(scalar), bits & mask);
        }
        let a = self.lane(value, lane);
        let op = match (scalar.bits(), signed) {
            (8, false) => MachUnary::Zext8,
            (8, true) => MachUnary::Sext8,
            (16, false) => MachUnary::Zext16,
            (16, true) => MachUnary::Sext16,
            _ => return a,
        };
        if !signed && matches!(self.ir.def_op(value), Some(Op::LoadRaw(..))) {
            return a;
        }
        let dst = self.word();
        self.push(MachOp::IntUnary { op, dst, a });
        dst
    }

    /// As [`Selector::extended`], as a source.
    fn extended_source(&mut self, value: Value, lane: usize, signed: bool) -> Source<VReg> {
        let scalar = self.ir.ty(value).scalar;
        if let Some(bits) = self.constant(value, lane)
            && scalar.bits() < 32
        {
            let up = 64 - scalar.bits();
            let bits = if signed { ((bits << up) as i64 >> up) as u64 } else { bits };
            return Source::Imm(bits as u32);
        }
        if scalar.bits() >= 32 {
            return self.source(value, lane);
        }
        Source::Reg(self.extended(value, lane, signed))
    }

    fn unary(&mut self, op: UnaryOp, a: Value, lane: usize, result: Value) -> Result<()> {
        let scalar = self.ir.ty(a).scalar;
        let src = self.lane(a, lane);
        let dst = self.result(result);
        let mods = FloatMods::plain(Rounding::Rn);
        self.push(match (op, scalar.bits()) {
            (UnaryOp::Not, 1) => MachOp::PredNot { dst, src },
            // Modulo 2 every number is its own negative.
            (UnaryOp::Ineg, 1) => MachOp::PredMov { dst, src },
            (UnaryOp::Not, 64) => MachOp::IntUnaryWide { op: MachUnary::Not, dst, a: src },
            (UnaryOp::Not, _) => MachOp::IntUnary { op: MachUnary::Not, dst, a: src },
            (UnaryOp::Ineg, 64) => MachOp::IntUnaryWide { op: MachUnary::Neg, dst, a: src },
            (UnaryOp::Ineg, _) => MachOp::IntUnary { op: MachUnary::Neg, dst, a: src },
            (UnaryOp::Fneg | UnaryOp::Fabs | UnaryOp::Sqrt, bits @ (32 | 64)) => {
                let op = match op {
                    UnaryOp::Fneg => FloatUnaryOp::Neg,
                    UnaryOp::Fabs => FloatUnaryOp::Abs,
                    _ => FloatUnaryOp::Sqrt,
                };
                match bits {
                    64 => MachOp::FloatUnaryWide { op, mods, dst, a: src },
                    _ => MachOp::FloatUnary { op, format: Format::F32, mods, dst, a: src },
                }
            }
            _ => return Err(format!("{} of {scalar}", op.name())),
        });
        Ok(())
    }

    fn float2(
        &mut self,
        op: FloatOp,
        scalar: Scalar,
        dst: VReg,
        a: VReg,
        b: Source<VReg>,
    ) -> Result<()> {
        let mods = FloatMods::plain(Rounding::Rn);
        self.push(match scalar {
            Scalar::F32 => MachOp::Float { op, format: Format::F32, mods, dst, a, b },
            Scalar::F64 => MachOp::FloatWide { op, mods, dst, a, b },
            other => return Err(format!("arithmetic of {other}")),
        });
        Ok(())
    }

    fn float_test(
        &mut self,
        test: FloatTest,
        a: Value,
        b: Value,
        lane: usize,
        dst: VReg,
    ) -> Result<()> {
        let (x, y) = (self.lane(a, lane), self.source(b, lane));
        self.push(match self.ir.ty(a).scalar {
            Scalar::F32 => {
                MachOp::FloatCmp { test, mods: FormatMods::plain(Format::F32), dst, a: x, b: y }
            }
            Scalar::F64 => MachOp::FloatCmpWide { test, dst, a: x, b: y },
            other => return Err(format!("a comparison of {other}")),
        });
        Ok(())
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        lane: usize,
        result: Value,
    ) -> Result<()> {
        use BinaryOp::*;
        let scalar = self.ir.ty(a).scalar;
        if op.is_float() {
            let float = match op {
                Fadd => FloatOp::Add,
                Fsub => FloatOp::Sub,
                Fmul => FloatOp::Mul,
                Fdiv => FloatOp::Div,
                Fmin | Fmax => {
                    let test = if op == Fmin { FloatTest::Lt } else { FloatTest::Gt };
                    let cond = self.pred();
                    self.float_test(test, a, b, lane, cond)?;
                    let (x, y) = (self.lane(a, lane), self.bits_source(b, lane));
                    let dst = self.result(result);
                    self.push(match class_of(scalar) {
                        RegClass::Wide => MachOp::SelWide { dst, a: x, b: y, cond },
                        _ => MachOp::Sel { dst, a: x, b: y, cond },
                    });
                    return Ok(());
                }
                _ => return Err(format!("{} of {scalar}", op.name())),
            };
            let (x, y) = (self.lane(a, lane), self.source(b, lane));
            let dst = self.result(result);
            return self.float2(float, scalar, dst, x, y);
        }
        match scalar.bits() {
            1 => self.truth(op, a, b, lane, result),
            64 => self.wide_binary(op, a, b, lane, result),
            _ => self.word_binary(op, a, b, lane, result),
        }
    }

    fn truth(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        lane: usize,
        result: Value,
    ) -> Result<()> {
        use BinaryOp::*;
        // The complement of an operand is part of the operation.
        let inner = |this: &Self, value: Value| match this.ir.def_op(value) {
            Some(&Op::Unary(UnaryOp::Not, inner)) => Some(inner),
            _ => None,
        };
        let (mut a, mut b) = (a, b);
        if matches!(op, And | Or) && inner(self, a).is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let (op, b) = match (op, inner(self, b)) {
            (And, Some(inner)) => (PredOp::AndNot, inner),
            (Or, Some(inner)) => (PredOp::OrNot, inner),
            // Of truth values as numbers of one bit: -1 is less than 0.
            (And | Imul | Smax | Umin, _) => (PredOp::And, b),
            (Or | Smin | Umax, _) => (PredOp::Or, b),
            (Xor | Iadd | Isub, _) => (PredOp::Xor, b),
            (op, _) => return Err(format!("{} of truth values", op.name())),
        };
        let (x, y) = (self.lane(a, lane), self.lane(b, lane));
        let dst = self.result(result);
        self.push(MachOp::Pred { op, dst, a: x, b: y });
        Ok(())
    }

    fn word_binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        lane: usize,
        result: Value,
    ) -> Result<()> {
        use BinaryOp::*;
        let (int, signed) = match op {
            Iadd => (IntOp::Add, None),
            Isub => (IntOp::Sub, None),
            Imul => (IntOp::Mul, None),
            And => (IntOp::And, None),
            Or => (IntOp::Or, None),
            Xor => (IntOp::Xor, None),
            Shl => (IntOp::Shl, None),
            Lshr => (IntOp::Shr, Some(false)),
            Ashr => (IntOp::Sra, Some(true)),
            Smin => (IntOp::MinS, Some(true)),
            Smax => (IntOp::MaxS, Some(true)),
            Umin => (IntOp::MinU, Some(false)),
            Umax => (IntOp::MaxU, Some(false)),
            op => return Err(format!("{}, which may trap", op.name())),
        };
        let scalar = self.ir.ty(a).scalar;
        if op == Iadd && scalar.bits() == 32 && lane == 0 && !self.ir.ty(a).is_vector() {
            for (product, addend) in [(a, b), (b, a)] {
                if let Some(&Op::Binary(Imul, x, y)) = self.ir.def_op(product)
                    && self.is_fused(product)
                {
                    let (x, y) = if self.constant(x, 0).is_some() { (y, x) } else { (x, y) };
                    let (x, y) = (self.reg(x), self.small_source(y, 16));
                    let z = self.source(addend, 0);
                    let dst = self.result(result);
                    let op = TernaryOp::Mad;
                    self.push(MachOp::Ternary { op, dst, a: x, b: y, c: z });
                    return Ok(());
                }
            }
        }
        let (a, b) = self.constant_last(op, a, b, lane);
        let shift = matches!(op, Shl | Lshr | Ashr);
        let x = match signed {
            Some(signed) => self.extended(a, lane, signed),
            None => self.lane(a, lane),
        };
        let y = match signed {
            _ if shift => self.extended_source(b, lane, false),
            Some(signed) => self.extended_source(b, lane, signed),
            None => self.source(b, lane),
        };
        let dst = self.result(result);
        self.push(MachOp::Int { op: int, dst, a: x, b: y });
        Ok(())
    }

    /// The operands with a constant behind, where they may change places.
    fn constant_last(&self, op: BinaryOp, a: Value, b: Value, lane: usize) -> (Value, Value) {
        if op.is_commutative() && self.constant(a, lane).is_some() { (b, a) } else { (a, b) }
    }

    /// The 32-bit value that a 64-bit one extends; a constant counts as either.
    fn narrow(&self, value: Value) -> Option<(Option<bool>, Value)> {
        if let Some(&Op::Convert(op, inner, _)) = self.ir.def_op(value)
            && self.ir.ty(inner) == Type::I32
        {
            return match op {
                ConvertOp::SignExtend => Some((Some(true), inner)),
                ConvertOp::ZeroExtend => Some((Some(false), inner)),
                _ => None,
            };
        }
        self.constant(value, 0).map(|_| (None, value))
    }

    /// Factors of 32 bits whose whole product a value is.
    fn wide_product(&mut self, a: Value, b: Value) -> Option<(Sign, VReg, Source<VReg>)> {
        let ((sign_a, x), (sign_b, y)) = (self.narrow(a)?, self.narrow(b)?);
        let (signed, x, y) = match (sign_a, sign_b) {
            (Some(signed), None) => (signed, x, y),
            (None, Some(signed)) => (signed, y, x),
            (Some(s), Some(t)) if s == t => (s, x, y),
            _ => return None,
        };
        let number = self.constant(y, 0).filter(|_| self.ir.ty(y) != Type::I32);
        let factor = match number {
            None => self.source(y, 0),
            Some(bits) if signed && bits as i32 as i64 as u64 == bits => Source::Imm(bits as u32),
            Some(bits) if !signed && bits >> 32 == 0 => Source::Imm(bits as u32),
            Some(_) => return None,
        };
        let sign = if signed { Sign::Signed } else { Sign::Unsigned };
        Some((sign, self.reg(x), factor))
    }

    fn wide_binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        lane: usize,
        result: Value,
    ) -> Result<()> {
        use BinaryOp::*;
        let scalar = self.ir.ty(a).is_vector();
        if let Shl | Lshr | Ashr = op {
            let op = match op {
                Shl => ShiftOp::Shl,
                Lshr => ShiftOp::Shr,
                _ => ShiftOp::Sra,
            };
            let x = self.lane(a, lane);
            let amount = self.shift_amount(b, lane);
            let dst = self.result(result);
            self.push(MachOp::ShiftWide { op, dst, a: x, amount });
            return Ok(());
        }
        if !scalar
            && op == Imul
            && let Some((sign, x, y)) = self.wide_product(a, b)
        {
            let dst = self.result(result);
            self.push(MachOp::MulWide { sign, dst, a: x, b: y });
            return Ok(());
        }
        if !scalar && op == Iadd {
            for (product, addend) in [(a, b), (b, a)] {
                let Some(&Op::Binary(Imul, x, y)) = self.ir.def_op(product) else { continue };
                if !self.is_fused(product) {
                    continue;
                }
                let wide = self.wide_product(x, y);
                if let Some((sign, x, y)) = wide {
                    let c = self.reg(addend);
                    let dst = self.result(result);
                    self.push(MachOp::MadWide { sign, dst, a: x, b: y, c });
                    return Ok(());
                }
                let (x, y) = (self.reg(x), self.reg(y));
                let c = self.source(addend, 0);
                let dst = self.result(result);
                self.push(MachOp::MadWideWide { dst, a: x, b: y, c });
                return Ok(());
            }
        }
        if !scalar
            && op == Or
            && let Some((low, high)) = self.halves(a, b).or_else(|| self.halves(b, a))
        {
            let (low, high) = (self.extended(low, 0, false), self.extended_source(high, 0, false));
            let dst = self.result(result);
            self.push(MachOp::Pack { dst, low, high });
            return Ok(());
        }
        let wide = match op {
            Iadd => WideOp::Add,
            Isub => WideOp::Sub,
            Imul => WideOp::Mul,
            And => WideOp::And,
            Or => WideOp::Or,
            Xor => WideOp::Xor,
            Smin => WideOp::MinS,
            Smax => WideOp::MaxS,
            Umin => WideOp::MinU,
            Umax => WideOp::MaxU,
            op => return Err(format!("{}, which may trap", op.name())),
        };
        let (a, b) = self.constant_last(op, a, b, lane);
        let (x, y) = (self.lane(a, lane), self.source(b, lane));
        let dst = self.result(result);
        self.push(MachOp::IntWide { op: wide, dst, a: x, b: y });
        Ok(())
    }

    /// The words that `low | high << 32` joins.
    fn halves(&self, low: Value, high: Value) -> Option<(Value, Value)> {
        let word = |value: Value| match self.ir.def_op(value)? {
            &Op::Convert(ConvertOp::ZeroExtend, inner, _) => {
                let bits = self.ir.ty(inner).scalar.bits();
                (bits > 1 && !self.ir.ty(inner).is_vector()).then_some(inner)
            }
            _ => None,
        };
        let &Op::Binary(BinaryOp::Shl, shifted, by) = self.ir.def_op(high)? else { return None };
        (self.constant(by, 0)? == 32).then_some(())?;
        Some((word(low)?, word(shifted)?))
    }

    /// An amount of 64 bits as a word that says as much.
    fn shift_amount(&mut self, amount: Value, lane: usize) -> Source<VReg> {
        if let Some(bits) = self.constant(amount, lane) {
            return Source::Imm(bits.min(64) as u32);
        }
        if let Some(&Op::Convert(ConvertOp::ZeroExtend, inner, _)) = self.ir.def_op(amount)
            && self.ir.ty(inner).scalar.bits() > 1
        {
            return Source::Reg(self.extended(inner, lane, false));
        }
        let a = self.lane(amount, lane);
        let (clamped, dst) = (self.wide(), self.word());
        let op = WideOp::MinU;
        self.push(MachOp::IntWide { op, dst: clamped, a, b: Source::Imm(64) });
        self.push(MachOp::Low { dst, src: clamped });
        Source::Reg(dst)
    }

    fn icmp(&mut self, cond: IntCond, a: Value, b: Value, lane: usize, result: Value) {
        let scalar = self.ir.ty(a).scalar;
        let (cond, a, b) = if self.constant(a, lane).is_some() && self.constant(b, lane).is_none() {
            (cond.swapped(), b, a)
        } else {
            (cond, a, b)
        };
        let (test, signed) = match cond {
            IntCond::Eq => (IntTest::Eq, false),
            IntCond::Ne => (IntTest::Ne, false),
            IntCond::Slt => (IntTest::LtS, true),
            IntCond::Sle => (IntTest::LeS, true),
            IntCond::Sgt => (IntTest::GtS, true),
            IntCond::Sge => (IntTest::GeS, true),
            IntCond::Ult => (IntTest::LtU, false),
            IntCond::Ule => (IntTest::LeU, false),
            IntCond::Ugt => (IntTest::GtU, false),
            IntCond::Uge => (IntTest::GeU, false),
        };
        match scalar.bits() {
            1 => {
                // As numbers of one bit, unsigned: signed order is the other way round.
                let (x, y) = (self.lane(a, lane), self.lane(b, lane));
                let (x, y, cond) = if signed { (y, x, cond) } else { (x, y, cond) };
                let dst = self.result(result);
                let (op, a, b) = match cond {
                    IntCond::Eq => (PredOp::Xnor, x, y),
                    IntCond::Ne => (PredOp::Xor, x, y),
                    IntCond::Slt | IntCond::Ult => (PredOp::AndNot, y, x),
                    IntCond::Sle | IntCond::Ule => (PredOp::OrNot, y, x),
                    IntCond::Sgt | IntCond::Ugt => (PredOp::AndNot, x, y),
                    IntCond::Sge | IntCond::Uge => (PredOp::OrNot, x, y),
                };
                self.push(MachOp::Pred { op, dst, a, b });
            }
            64 => {
                let (x, y) = (self.lane(a, lane), self.source(b, lane));
                let dst = self.result(result);
                self.push(MachOp::CmpWide { test, dst, a: x, b: y });
            }
            _ => {
                let x = self.extended(a, lane, signed);
                let y = self.extended_source(b, lane, signed);
                let dst = self.result(result);
                self.push(MachOp::Cmp { test, dst, a: x, b: y });
            }
        }
    }

    fn select_lane(&mut self, cond: Value, a: Value, b: Value, lane: usize, result: Value) {
        let class = class_of(self.ir.ty(a).scalar);
        let cond = match self.ir.ty(cond).lanes {
            1 => self.lane(cond, 0),
            _ => self.lane(cond, lane),
        };
        let x = self.lane(a, lane);
        match class {
            RegClass::Pred => {
                let y = self.lane(b, lane);
                let dst = self.result(result);
                self.push(MachOp::PredSel { dst, a: x, b: y, cond });
            }
            RegClass::Wide => {
                let y = self.bits_source(b, lane);
                let dst = self.result(result);
                self.push(MachOp::SelWide { dst, a: x, b: y, cond });
            }
            RegClass::Word => {
                let y = self.source(b, lane);
                let dst = self.result(result);
                self.push(MachOp::Sel { dst, a: x, b: y, cond });
            }
        }
    }
}
