//! Grid operations on floats.

use nbcc_ir::{
    ApproxOp, Conversion, FloatArith, FloatCompare, FloatFormat, FloatOp, FloatProperty, IntType,
    NumType, Value,
};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{
    self as isa, ApproxDivOp, ApproxWideOp, ConvertMods, FloatMods, FloatUnaryOp, Format,
    FormatMods, Source,
};
use nbcc_mach::VReg;

use super::{Selector, same_name};

fn format(format: FloatFormat) -> Format {
    match format {
        FloatFormat::F16 => Format::F16,
        FloatFormat::Bf16 => Format::Bf16,
        FloatFormat::F16x2 => Format::F16x2,
        FloatFormat::Bf16x2 => Format::Bf16x2,
        // Operations on binary64 have rows of their own.
        FloatFormat::F32 | FloatFormat::F64 => Format::F32,
    }
}

fn number(ty: NumType) -> isa::NumType {
    use isa::NumType as To;
    match ty {
        NumType::Int(IntType::U8) => To::U8,
        NumType::Int(IntType::S8) => To::S8,
        NumType::Int(IntType::U16) => To::U16,
        NumType::Int(IntType::S16) => To::S16,
        NumType::Int(IntType::U32) => To::U32,
        NumType::Int(IntType::S32) => To::S32,
        NumType::Int(IntType::U64) => To::U64,
        NumType::Int(IntType::S64) => To::S64,
        NumType::Float(FloatFormat::F16 | FloatFormat::F16x2) => To::F16,
        NumType::Float(FloatFormat::Bf16 | FloatFormat::Bf16x2) => To::Bf16,
        NumType::Float(FloatFormat::F32) => To::F32,
        NumType::Float(FloatFormat::F64) => To::F64,
    }
}

same_name! {
    rounding: nbcc_ir::Rounding => isa::Rounding;
    convert_rounding: nbcc_ir::ConvertRounding => isa::ConvertRounding;
    float_test: nbcc_ir::FloatTest => isa::FloatTest;
    property: FloatProperty => isa::FloatProperty;
}

impl Selector<'_> {
    /// An operand of a float operation. A number is one float, so that packed ones need a register.
    fn float_source(&mut self, value: Value, format: FloatFormat) -> Source<VReg> {
        if format.is_packed() { Source::Reg(self.reg(value)) } else { self.source(value, 0) }
    }

    pub(super) fn float(&mut self, arith: FloatArith, args: &[Value], result: Value) {
        let FloatArith { op, format: of, ftz, sat, nan, xorsign_abs, relu, .. } = arith;
        let rounding = rounding(arith.rounding);
        let mods = FloatMods { rounding, ftz, sat, relu, nan, xorsign_abs };
        let wide = of == FloatFormat::F64;
        let format = format(of);
        let a = self.reg(args[0]);
        let binary = match op {
            FloatOp::Add => isa::FloatOp::Add,
            FloatOp::Sub => isa::FloatOp::Sub,
            FloatOp::Mul => isa::FloatOp::Mul,
            FloatOp::Div => isa::FloatOp::Div,
            FloatOp::Min => isa::FloatOp::Min,
            FloatOp::Max => isa::FloatOp::Max,
            FloatOp::Fma => {
                let (b, c) = (self.reg(args[1]), self.float_source(args[2], of));
                let dst = self.result(result);
                self.push(match wide {
                    true => MachOp::FmaWide { mods, dst, a, b, c },
                    false => MachOp::Fma { format, mods, dst, a, b, c },
                });
                return;
            }
            FloatOp::Rcp | FloatOp::Sqrt | FloatOp::Abs | FloatOp::Neg => {
                let op = match op {
                    FloatOp::Rcp => FloatUnaryOp::Rcp,
                    FloatOp::Sqrt => FloatUnaryOp::Sqrt,
                    FloatOp::Abs => FloatUnaryOp::Abs,
                    _ => FloatUnaryOp::Neg,
                };
                let dst = self.result(result);
                self.push(match wide {
                    true => MachOp::FloatUnaryWide { op, mods, dst, a },
                    false => MachOp::FloatUnary { op, format, mods, dst, a },
                });
                return;
            }
        };
        let b = self.float_source(args[1], of);
        let dst = self.result(result);
        self.push(match wide {
            true => MachOp::FloatWide { op: binary, mods, dst, a, b },
            false => MachOp::Float { op: binary, format, mods, dst, a, b },
        });
    }

    pub(super) fn approx(
        &mut self,
        op: ApproxOp,
        of: FloatFormat,
        ftz: bool,
        args: &[Value],
        result: Value,
    ) {
        let mods = FormatMods { ftz, ..FormatMods::plain(format(of)) };
        let a = self.reg(args[0]);
        if let ApproxOp::Div | ApproxOp::DivFull = op {
            let op = if op == ApproxOp::Div { ApproxDivOp::Div } else { ApproxDivOp::Full };
            let b = self.source(args[1], 0);
            let dst = self.result(result);
            self.push(MachOp::ApproxDiv { op, mods, dst, a, b });
            return;
        }
        let dst = self.result(result);
        if of == FloatFormat::F64 {
            let op = if op == ApproxOp::Rcp { ApproxWideOp::Rcp } else { ApproxWideOp::Rsqrt };
            self.push(MachOp::ApproxWide { op, mods, dst, a });
            return;
        }
        let op = match op {
            ApproxOp::Rcp => isa::ApproxOp::Rcp,
            ApproxOp::Sqrt => isa::ApproxOp::Sqrt,
            ApproxOp::Rsqrt => isa::ApproxOp::Rsqrt,
            ApproxOp::Sin => isa::ApproxOp::Sin,
            ApproxOp::Cos => isa::ApproxOp::Cos,
            ApproxOp::Lg2 => isa::ApproxOp::Lg2,
            ApproxOp::Ex2 => isa::ApproxOp::Ex2,
            ApproxOp::Tanh | ApproxOp::Div | ApproxOp::DivFull => isa::ApproxOp::Tanh,
        };
        self.push(MachOp::Approx { op, mods, dst, a });
    }

    pub(super) fn compare(&mut self, compare: FloatCompare, args: &[Value], results: &[Value]) {
        let test = float_test(compare.test);
        let (a, b) = (self.reg(args[0]), self.float_source(args[1], compare.format));
        let mods = FormatMods { ftz: compare.ftz, ..FormatMods::plain(format(compare.format)) };
        let dst = self.result(results[0]);
        if compare.format.is_packed() {
            let high = self.result(results[1]);
            self.push(MachOp::FloatCmpPacked { test, mods, low: dst, high, a, b });
        } else if compare.format == FloatFormat::F64 {
            self.push(MachOp::FloatCmpWide { test, dst, a, b });
        } else {
            self.push(MachOp::FloatCmp { test, mods, dst, a, b });
        }
    }

    pub(super) fn copysign(&mut self, of: FloatFormat, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.source(args[1], 0));
        let dst = self.result(result);
        self.push(match of {
            FloatFormat::F64 => MachOp::CopysignWide { dst, a, b },
            _ => MachOp::Copysign { dst, a, b },
        });
    }

    pub(super) fn testp(
        &mut self,
        of: FloatProperty,
        format: FloatFormat,
        args: &[Value],
        result: Value,
    ) {
        let (property, a) = (property(of), self.reg(args[0]));
        let dst = self.result(result);
        self.push(match format {
            FloatFormat::F64 => MachOp::TestpWide { property, dst, a },
            _ => MachOp::Testp { property, dst, a },
        });
    }

    pub(super) fn number(&mut self, conversion: Conversion, args: &[Value], result: Value) {
        let Conversion { dst: to, src: from, ftz, sat, relu, .. } = conversion;
        let rounding = convert_rounding(conversion.rounding);
        let mods = ConvertMods { rounding, ftz, sat, relu };
        let a = self.reg(args[0]);
        if let NumType::Float(packed) = to
            && packed.is_packed()
        {
            let b = self.source(args[1], 0);
            let dst = self.result(result);
            self.push(MachOp::CvtPack { to: format(packed), mods, dst, a, b });
            return;
        }
        let dst = self.result(result);
        self.number_convert(number(from), number(to), mods, a, dst);
    }
}
