//! Float arithmetic and conversions.

use nbcc_ir::{
    ApproxOp, BinaryOp, Conversion, ConvertRounding, FloatArith, FloatFormat, FloatOp,
    FloatProperty, IntCond, NumType, Rounding, SimtOp, Type, Value,
};

use super::context::Lowerer;
use super::types::{float_format, num_type, register_type};
use crate::ast::ScalarType;
use crate::check::is_signed;
use crate::forms::{Matched, Meaning, Modifier};
use crate::resolved::{Instruction, Operand};

fn float_op(opcode: &str) -> FloatOp {
    match opcode {
        "add" => FloatOp::Add,
        "sub" => FloatOp::Sub,
        "mul" => FloatOp::Mul,
        // On the architectures that are accepted `mad` is rounded once.
        "fma" | "mad" => FloatOp::Fma,
        "div" => FloatOp::Div,
        "rcp" => FloatOp::Rcp,
        "sqrt" => FloatOp::Sqrt,
        "min" => FloatOp::Min,
        "max" => FloatOp::Max,
        "abs" => FloatOp::Abs,
        "neg" => FloatOp::Neg,
        other => panic!("`{other}` is no float arithmetic"),
    }
}

fn approx_op(opcode: &str, full: bool) -> ApproxOp {
    match opcode {
        "div" if full => ApproxOp::DivFull,
        "div" => ApproxOp::Div,
        "rcp" => ApproxOp::Rcp,
        "sqrt" => ApproxOp::Sqrt,
        "rsqrt" => ApproxOp::Rsqrt,
        "sin" => ApproxOp::Sin,
        "cos" => ApproxOp::Cos,
        "lg2" => ApproxOp::Lg2,
        "ex2" => ApproxOp::Ex2,
        "tanh" => ApproxOp::Tanh,
        other => panic!("`{other}` has no approximation"),
    }
}

fn convert_rounding(matched: &Matched) -> ConvertRounding {
    use ConvertRounding::*;
    matched
        .modifiers
        .pick(&[
            (Modifier::Rn, Rn),
            (Modifier::Rz, Rz),
            (Modifier::Rm, Rm),
            (Modifier::Rp, Rp),
            (Modifier::Rni, Rni),
            (Modifier::Rzi, Rzi),
            (Modifier::Rmi, Rmi),
            (Modifier::Rpi, Rpi),
        ])
        .unwrap_or(Exact)
}

impl Lowerer<'_> {
    /// Arithmetic with one right result.
    pub(super) fn float(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let has = |modifier| matched.modifiers.has(modifier);
        let rounding = matched.modifiers.pick(&[
            (Modifier::Rz, Rounding::Rz),
            (Modifier::Rm, Rounding::Rm),
            (Modifier::Rp, Rounding::Rp),
        ]);
        let arith = FloatArith {
            op: float_op(matched.pattern.opcode),
            format: float_format(ty),
            rounding: rounding.unwrap_or(Rounding::Rn),
            ftz: has(Modifier::Ftz),
            sat: has(Modifier::Sat),
            nan: has(Modifier::NaN),
            xorsign_abs: has(Modifier::Xorsign),
            relu: has(Modifier::Relu),
        };
        let narrow = matches!(matched.types[1], ScalarType::F16 | ScalarType::Bf16);
        let last = inst.operands.len() - 1;
        let args: Vec<Value> = (1..=last)
            .map(|number| match &inst.operands[number] {
                operand if narrow && number < last => self.widened(operand, matched.types[1]),
                operand => self.read(operand, ty),
            })
            .collect();
        let value = match (arith.op, args.as_slice()) {
            _ if ty == ScalarType::F32x2 => self.float_pair(arith, &args),
            (FloatOp::Min | FloatOp::Max, &[a, b, c]) => {
                let [a, b, c] =
                    [a, b, c].map(|v| if has(Modifier::Abs) { self.magnitude(v) } else { v });
                let two = self.simt(SimtOp::Float(arith), vec![a, b], Type::F32);
                self.simt(SimtOp::Float(arith), vec![two, c], Type::F32)
            }
            _ => self.simt(SimtOp::Float(arith), args, register_type(ty)),
        };
        self.write(&inst.operands[0], ty, value);
    }

    /// A 16-bit float as the binary32 of its value.
    fn widened(&mut self, operand: &Operand, ty: ScalarType) -> Value {
        let value = self.read(operand, ty);
        let conversion = Conversion {
            dst: NumType::Float(FloatFormat::F32),
            src: num_type(ty),
            rounding: ConvertRounding::Exact,
            ftz: false,
            sat: false,
            relu: false,
        };
        self.simt(SimtOp::Convert(conversion), vec![value], Type::F32)
    }

    /// Arithmetic on each of two binary32 that stand in 64 bits.
    fn float_pair(&mut self, arith: FloatArith, args: &[Value]) -> Value {
        let parts = [0, 1].map(|number| {
            let args = args.iter().map(|&whole| self.part(whole, number, Type::F32)).collect();
            self.simt(SimtOp::Float(arith), args, Type::F32)
        });
        self.join(&parts, Type::I64)
    }

    /// A binary32 without its sign.
    fn magnitude(&mut self, value: Value) -> Value {
        let arith = FloatArith {
            op: FloatOp::Abs,
            format: FloatFormat::F32,
            rounding: Rounding::Rn,
            ftz: false,
            sat: false,
            nan: false,
            xorsign_abs: false,
            relu: false,
        };
        self.simt(SimtOp::Float(arith), vec![value], Type::F32)
    }

    /// Arithmetic within an error bound.
    pub(super) fn approximate(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let op = approx_op(matched.pattern.opcode, matched.modifiers.has(Modifier::Full));
        let ftz = matched.modifiers.has(Modifier::Ftz);
        let args = inst.operands[1..].iter().map(|operand| self.read(operand, ty)).collect();
        let op = SimtOp::Approx(op, float_format(ty), ftz);
        let value = self.simt(op, args, register_type(ty));
        self.write(&inst.operands[0], ty, value);
    }

    pub(super) fn copysign(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let a = self.read(&inst.operands[1], ty);
        let b = self.read(&inst.operands[2], ty);
        let op = SimtOp::Copysign(float_format(ty));
        let value = self.simt(op, vec![a, b], register_type(ty));
        self.write(&inst.operands[0], ty, value);
    }

    pub(super) fn testp(&mut self, inst: &Instruction, matched: &Matched) {
        let ty = matched.types[0];
        let property = matched.modifiers.pick(&[
            (Modifier::Finite, FloatProperty::Finite),
            (Modifier::Infinite, FloatProperty::Infinite),
            (Modifier::Number, FloatProperty::Number),
            (Modifier::NotANumber, FloatProperty::NotANumber),
            (Modifier::Normal, FloatProperty::Normal),
            (Modifier::Subnormal, FloatProperty::Subnormal),
        ]);
        let a = self.read(&inst.operands[1], ty);
        let op = SimtOp::Testp(property.expect("a property"), float_format(ty));
        let value = self.simt(op, vec![a], Type::I1);
        self.write_predicate(&inst.operands[0], value);
    }

    /// `cvt` of one value.
    pub(super) fn convert(&mut self, inst: &Instruction, matched: &Matched) {
        let (to, from) = (matched.types[0], matched.types[1]);
        let a = self.read(&inst.operands[1], from);
        let has = |modifier| matched.modifiers.has(modifier);
        let integers = matched.pattern.row.meaning == Meaning::CvtInt;
        let value = if integers && !has(Modifier::Sat) {
            self.fit(a, register_type(to), is_signed(from))
        } else if !integers && to == from && matched.modifiers == Default::default() {
            a
        } else {
            let conversion = Conversion {
                dst: num_type(to),
                src: num_type(from),
                rounding: convert_rounding(matched),
                ftz: has(Modifier::Ftz),
                sat: has(Modifier::Sat),
                relu: has(Modifier::Relu),
            };
            let value = self.simt(SimtOp::Convert(conversion), vec![a], register_type(to));
            if has(Modifier::Satfinite) { self.finite(value, to) } else { value }
        };
        self.write(&inst.operands[0], to, value);
    }

    /// The greatest finite number of the same sign in place of an infinity, of 16-bit floats.
    fn finite(&mut self, value: Value, ty: ScalarType) -> Value {
        let infinity = if ty == ScalarType::F16 { 0x7c00 } else { 0x7f80 };
        let mask = self.constant(Type::I16, 0x7fff);
        let magnitude = self.binary(BinaryOp::And, value, mask);
        let infinity = self.constant(Type::I16, infinity);
        let infinite = self.icmp(IntCond::Eq, magnitude, infinity);
        let one = self.constant(Type::I16, 1);
        let below = self.binary(BinaryOp::Isub, value, one);
        self.select(infinite, below, value)
    }

    /// `cvt.rn.f16x2.f32`: the first source goes into the upper half.
    pub(super) fn convert_pair(&mut self, inst: &Instruction, matched: &Matched) {
        let (to, from) = (matched.types[0], matched.types[1]);
        let high = self.read(&inst.operands[1], from);
        let low = self.read(&inst.operands[2], from);
        let has = |modifier| matched.modifiers.has(modifier);
        let conversion = |dst| Conversion {
            dst: NumType::Float(dst),
            src: NumType::Float(FloatFormat::F32),
            rounding: convert_rounding(matched),
            ftz: false,
            sat: false,
            relu: has(Modifier::Relu),
        };
        let format = float_format(to);
        let value = if has(Modifier::Satfinite) {
            let element = if to == ScalarType::F16x2 { ScalarType::F16 } else { ScalarType::Bf16 };
            let op = SimtOp::Convert(conversion(format.element()));
            let low = self.simt(op, vec![low], Type::I16);
            let high = self.simt(op, vec![high], Type::I16);
            let (low, high) = (self.finite(low, element), self.finite(high, element));
            self.join_halves(low, high)
        } else {
            self.simt(SimtOp::Convert(conversion(format)), vec![high, low], Type::I32)
        };
        self.write(&inst.operands[0], to, value);
    }

    /// `cvt.tf32.f32`: a binary32 of which the upper 19 bits count. The bits are rounded as an
    /// integer, which carries into the exponent as it should.
    pub(super) fn convert_tf32(&mut self, inst: &Instruction, matched: &Matched) {
        let has = |modifier| matched.modifiers.has(modifier);
        let float = self.read(&inst.operands[1], ScalarType::F32);
        let bits = self.fit(float, Type::I32, false);
        let mut rounded = bits;
        if has(Modifier::Rna) {
            let half = self.i32(0x1000);
            rounded = self.binary(BinaryOp::Iadd, bits, half);
        } else if has(Modifier::Rn) {
            let (thirteen, one, below) = (self.i32(13), self.i32(1), self.i32(0xfff));
            let last = self.binary(BinaryOp::Lshr, bits, thirteen);
            let odd = self.binary(BinaryOp::And, last, one);
            let sum = self.binary(BinaryOp::Iadd, bits, below);
            rounded = self.binary(BinaryOp::Iadd, sum, odd);
        }
        let mask = self.i32(0xffff_e000);
        let mut value = self.binary(BinaryOp::And, rounded, mask);
        let infinity = SimtOp::Testp(FloatProperty::Infinite, FloatFormat::F32);
        if has(Modifier::Satfinite) {
            let (whole, greatest) = (self.i32(0x7f80_0000), self.i32(0x7f7f_e000));
            let magnitude = self.binary(BinaryOp::And, value, whole);
            let infinite = self.icmp(IntCond::Eq, magnitude, whole);
            let top = self.i32(0x8000_0000);
            let sign = self.binary(BinaryOp::And, value, top);
            let most = self.binary(BinaryOp::Or, sign, greatest);
            value = self.select(infinite, most, value);
        } else {
            let infinite = self.simt(infinity, vec![float], Type::I1);
            value = self.select(infinite, bits, value);
        }
        if has(Modifier::Relu) {
            let zero = self.i32(0);
            value = self.binary(BinaryOp::Smax, value, zero);
        }
        let nan = SimtOp::Testp(FloatProperty::NotANumber, FloatFormat::F32);
        let nan = self.simt(nan, vec![float], Type::I1);
        let canonical = self.i32(0x7fff_ffff);
        let value = self.select(nan, canonical, value);
        self.write(&inst.operands[0], ScalarType::B32, value);
    }

    /// `cvt.pack.sat`: two clamped integers side by side, above them what was packed before.
    pub(super) fn convert_pack(&mut self, inst: &Instruction, matched: &Matched) {
        let has = |modifier| matched.modifiers.has(modifier);
        let (width, signed) = match matched.types[0] {
            ScalarType::U16 => (16, false),
            ScalarType::S16 => (16, true),
            ScalarType::U8 => (8, false),
            ScalarType::S8 => (8, true),
            _ if has(Modifier::U4) => (4, false),
            _ if has(Modifier::S4) => (4, true),
            _ if has(Modifier::U2) => (2, false),
            _ => (2, true),
        };
        let (least, greatest): (i32, i32) = match signed {
            true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            false => (0, (1 << width) - 1),
        };
        let mut parts = [Value::from_u32(0); 2];
        for (part, operand) in parts.iter_mut().zip(&inst.operands[1..3]) {
            let value = self.read(operand, ScalarType::S32);
            let (least, greatest) = (self.i32(least as u32), self.i32(greatest as u32));
            let value = self.binary(BinaryOp::Smax, value, least);
            let value = self.binary(BinaryOp::Smin, value, greatest);
            let mask = self.i32((1u32 << width) - 1);
            *part = self.binary(BinaryOp::And, value, mask);
        }
        let by = self.i32(width);
        let high = self.binary(BinaryOp::Shl, parts[0], by);
        let mut value = self.binary(BinaryOp::Or, high, parts[1]);
        if let Some(c) = inst.operands.get(3) {
            let c = self.read(c, ScalarType::B32);
            let by = self.i32(2 * width);
            let above = self.binary(BinaryOp::Shl, c, by);
            value = self.binary(BinaryOp::Or, above, value);
        }
        self.write(&inst.operands[0], ScalarType::U32, value);
    }
}
