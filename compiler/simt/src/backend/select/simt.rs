//! Grid operations: each has its instruction.

use nbcc_ir::{
    ApproxOp, AtomOp, Atomic, Barrier, BarrierKind, Conversion, Direction, EdgeMode, FloatArith,
    FloatFormat, FloatOp, IntType, NumType, PrmtMode, ReduxOp, Scope, SimtOp, Space, SpecialReg,
    Value, VoteMode, Width,
};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{
    self as isa, Alignment, ApproxDivOp, ApproxWideOp, AtomType, AtomWideType, BarrierReduction,
    ConvertMods, CountOp, FloatMods, FloatUnaryOp, Format, FormatMods, IntOp, Order, Sign,
    SimdMods, Source, Special, SpecialWide, SyncMode, TernaryOp, UnaryOp, WideOp,
};
use nbcc_mach::VReg;

use super::{Result, Selector};
use crate::backend::space::space;

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

/// A field of the machine with the name that the IR gives it.
macro_rules! same_name {
    ($($function:ident: $from:ty => $to:ty;)*) => {
        $(fn $function(from: $from) -> $to {
            let found = <$to>::ALL.iter().copied().find(|to| to.name() == from.name());
            found.unwrap_or_else(|| panic!("the machine has no {}", from.name()))
        })*
    };
}

same_name! {
    rounding: nbcc_ir::Rounding => isa::Rounding;
    convert_rounding: nbcc_ir::ConvertRounding => isa::ConvertRounding;
    float_test: nbcc_ir::FloatTest => isa::FloatTest;
    property: nbcc_ir::FloatProperty => isa::FloatProperty;
    shfl_mode: nbcc_ir::ShflMode => isa::ShflMode;
}

/// The type in memory of an atomic operation on up to 32 bits.
fn atom_type(ty: NumType) -> AtomType {
    match ty {
        NumType::Int(int) if int.bits() == 16 => AtomType::B16,
        NumType::Int(int) if int.is_signed() => AtomType::S32,
        NumType::Int(_) => AtomType::U32,
        NumType::Float(FloatFormat::F16) => AtomType::F16,
        NumType::Float(FloatFormat::Bf16) => AtomType::Bf16,
        NumType::Float(FloatFormat::F16x2) => AtomType::F16x2,
        NumType::Float(FloatFormat::Bf16x2) => AtomType::Bf16x2,
        NumType::Float(FloatFormat::F32 | FloatFormat::F64) => AtomType::F32,
    }
}

fn atom_wide_type(ty: NumType) -> AtomWideType {
    match ty {
        NumType::Int(int) if int.is_signed() => AtomWideType::S64,
        NumType::Int(_) => AtomWideType::U64,
        NumType::Float(_) => AtomWideType::F64,
    }
}

/// The machine's operation; `cas` has rows of its own.
fn atom_op(op: AtomOp) -> Option<isa::AtomOp> {
    Some(match op {
        AtomOp::And => isa::AtomOp::And,
        AtomOp::Or => isa::AtomOp::Or,
        AtomOp::Xor => isa::AtomOp::Xor,
        AtomOp::Exch => isa::AtomOp::Exch,
        AtomOp::Add => isa::AtomOp::Add,
        AtomOp::Inc => isa::AtomOp::Inc,
        AtomOp::Dec => isa::AtomOp::Dec,
        AtomOp::Min => isa::AtomOp::Min,
        AtomOp::Max => isa::AtomOp::Max,
        AtomOp::Cas => return None,
    })
}

fn special(reg: SpecialReg) -> std::result::Result<Special, SpecialWide> {
    let dim = |d: u8, xyz: [Special; 3]| Ok(xyz[usize::from(d).min(2)]);
    use SpecialReg as From;
    match reg {
        From::Tid(d) => dim(d, [Special::TidX, Special::TidY, Special::TidZ]),
        From::Ntid(d) => dim(d, [Special::NtidX, Special::NtidY, Special::NtidZ]),
        From::Ctaid(d) => dim(d, [Special::CtaidX, Special::CtaidY, Special::CtaidZ]),
        From::Nctaid(d) => dim(d, [Special::NctaidX, Special::NctaidY, Special::NctaidZ]),
        From::Laneid => Ok(Special::Laneid),
        From::Warpid => Ok(Special::Warpid),
        From::Nwarpid => Ok(Special::Nwarpid),
        From::Smid => Ok(Special::Smid),
        From::Nsmid => Ok(Special::Nsmid),
        From::Gridid => Err(SpecialWide::Gridid),
        From::LanemaskEq => Ok(Special::LanemaskEq),
        From::LanemaskLe => Ok(Special::LanemaskLe),
        From::LanemaskLt => Ok(Special::LanemaskLt),
        From::LanemaskGe => Ok(Special::LanemaskGe),
        From::LanemaskGt => Ok(Special::LanemaskGt),
        From::Clock => Ok(Special::Clock),
        From::ClockHi => Ok(Special::ClockHi),
        From::Clock64 => Err(SpecialWide::Clock),
        From::Globaltimer => Err(SpecialWide::Globaltimer),
        From::GlobaltimerLo => Ok(Special::GlobaltimerLo),
        From::GlobaltimerHi => Ok(Special::GlobaltimerHi),
        From::Pm(_) | From::Envreg(_) => Ok(Special::Zero),
        From::Pm64(_) => Err(SpecialWide::Zero),
        From::TotalSmemSize => Ok(Special::TotalSmemSize),
        From::DynamicSmemSize => Ok(Special::DynamicSmemSize),
    }
}

fn prmt(mode: PrmtMode) -> TernaryOp {
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

fn dot(lo_hi: Option<bool>, a: bool, b: bool) -> TernaryOp {
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

/// Whether only the lanes of a mask take part, or those who are there.
fn sync(legacy: bool) -> SyncMode {
    if legacy { SyncMode::Legacy } else { SyncMode::Sync }
}

impl Selector<'_> {
    pub(super) fn simt(&mut self, op: &SimtOp, args: &[Value], results: &[Value]) -> Result<()> {
        match *op {
            SimtOp::Float(arith) => self.float(arith, args, results[0]),
            SimtOp::Approx(op, of, ftz) => self.approx(op, of, ftz, args, results[0]),
            SimtOp::Convert(conversion) => self.number(conversion, args, results[0]),
            SimtOp::Compare(compare) => {
                let test = float_test(compare.test);
                let (a, b) = (self.reg(args[0]), self.float_source(args[1], compare.format));
                let mods =
                    FormatMods { ftz: compare.ftz, ..FormatMods::plain(format(compare.format)) };
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
            SimtOp::Copysign(of) => {
                let (a, b) = (self.reg(args[0]), self.source(args[1], 0));
                let dst = self.result(results[0]);
                self.push(match of {
                    FloatFormat::F64 => MachOp::CopysignWide { dst, a, b },
                    _ => MachOp::Copysign { dst, a, b },
                });
            }
            SimtOp::Testp(of, format) => {
                let (property, a) = (property(of), self.reg(args[0]));
                let dst = self.result(results[0]);
                self.push(match format {
                    FloatFormat::F64 => MachOp::TestpWide { property, dst, a },
                    _ => MachOp::Testp { property, dst, a },
                });
            }
            SimtOp::MulHigh(ty) if ty.bits() == 16 => self.mul_high_16(ty, args, results[0]),
            SimtOp::MulHigh(ty) => {
                let ops = [IntOp::MulHiU, IntOp::MulHiS];
                self.divide(ty, ops, [WideOp::MulHiU, WideOp::MulHiS], args, results[0]);
            }
            SimtOp::IntDiv(ty) => {
                let ops = [IntOp::DivU, IntOp::DivS];
                self.divide(ty, ops, [WideOp::DivU, WideOp::DivS], args, results[0]);
            }
            SimtOp::IntRem(ty) => {
                let ops = [IntOp::RemU, IntOp::RemS];
                self.divide(ty, ops, [WideOp::RemU, WideOp::RemS], args, results[0]);
            }
            SimtOp::AddSat => self.int(IntOp::AddSat, args, results[0]),
            SimtOp::SubSat => self.int(IntOp::SubSat, args, results[0]),
            SimtOp::MadHighSat => self.ternary(TernaryOp::MadHiSat, args, results[0]),
            SimtOp::Popc(width) => self.count(CountOp::Popc, width, args[0], results[0]),
            SimtOp::Clz(width) => self.count(CountOp::Clz, width, args[0], results[0]),
            SimtOp::Bfind(ty, amount) => {
                let op = match (ty.is_signed(), amount) {
                    (true, false) => CountOp::BfindS,
                    (false, false) => CountOp::BfindU,
                    (true, true) => CountOp::BfindShiftS,
                    (false, true) => CountOp::BfindShiftU,
                };
                let width = if ty.bits() == 64 { Width::B64 } else { Width::B32 };
                self.count(op, width, args[0], results[0]);
            }
            SimtOp::Brev(width) => {
                let a = self.reg(args[0]);
                let dst = self.result(results[0]);
                let op = UnaryOp::Brev;
                self.push(match width {
                    Width::B64 => MachOp::IntUnaryWide { op, dst, a },
                    Width::B32 => MachOp::IntUnary { op, dst, a },
                });
            }
            SimtOp::Fns => self.ternary(TernaryOp::Fns, args, results[0]),
            SimtOp::Bfe(ty) => self.bfe(ty, args, results[0]),
            SimtOp::Bfi(width) => {
                let (a, b) = (self.reg(args[0]), self.reg(args[1]));
                let (position, length) = (self.small_source(args[2], 16), self.source(args[3], 0));
                let dst = self.result(results[0]);
                self.push(match width {
                    Width::B64 => MachOp::BfiWide { dst, a, b, position, length },
                    Width::B32 => MachOp::Bfi { dst, a, b, position, length },
                });
            }
            SimtOp::Bmsk(mode) => {
                let op = match mode {
                    EdgeMode::Clamp => IntOp::BmskClamp,
                    EdgeMode::Wrap => IntOp::BmskWrap,
                };
                self.int(op, args, results[0]);
            }
            SimtOp::Szext(signed, mode) => {
                let op = match (mode, signed) {
                    (EdgeMode::Clamp, true) => IntOp::SzextClampS,
                    (EdgeMode::Clamp, false) => IntOp::SzextClampU,
                    (EdgeMode::Wrap, true) => IntOp::SzextWrapS,
                    (EdgeMode::Wrap, false) => IntOp::SzextWrapU,
                };
                self.int(op, args, results[0]);
            }
            SimtOp::Prmt(mode) => self.ternary(prmt(mode), args, results[0]),
            SimtOp::Lop3(table) => {
                let (a, b) = (self.reg(args[0]), self.reg(args[1]));
                let c = self.source(args[2], 0);
                let dst = self.result(results[0]);
                self.push(MachOp::Lop3 { dst, a, b, c, table: table.into() });
            }
            SimtOp::Shf(direction, mode) => {
                let op = match (direction, mode) {
                    (Direction::Left, EdgeMode::Clamp) => TernaryOp::ShfLClamp,
                    (Direction::Left, EdgeMode::Wrap) => TernaryOp::ShfLWrap,
                    (Direction::Right, EdgeMode::Clamp) => TernaryOp::ShfRClamp,
                    (Direction::Right, EdgeMode::Wrap) => TernaryOp::ShfRWrap,
                };
                self.ternary(op, args, results[0]);
            }
            SimtOp::Dp4a(a, b) => self.ternary(dot(None, a, b), args, results[0]),
            SimtOp::Dp2a(a, b, high) => self.ternary(dot(Some(high), a, b), args, results[0]),
            SimtOp::Simd(simd) => {
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
                let dst = self.result(results[0]);
                self.push(MachOp::Simd { op, dst, a, b, c, mask: simd.mask.into() });
            }
            SimtOp::Special(reg) => {
                let dst = self.result(results[0]);
                self.push(match special(reg) {
                    Ok(special) => MachOp::Sreg { special, dst },
                    Err(special) => MachOp::SregWide { special, dst },
                });
            }
            SimtOp::Load(access) => {
                let guard = access.guarded.then(|| (args[1], args[2]));
                let ordering = Some(access.ordering);
                let (ty, space) = (access.ty, access.space);
                return self.load(ty, space, args[0], access.offset, ordering, guard, results[0]);
            }
            SimtOp::Store(access) => {
                let guard = access.guarded.then(|| args[2]);
                let ordering = Some(access.ordering);
                let (space, offset) = (access.space, access.offset);
                return self.store(space, args[0], offset, args[1], ordering, guard);
            }
            SimtOp::Atom(atomic) => {
                // Where nobody looks at what was there, no answer has to come back.
                let needs_answer = matches!(atomic.op, AtomOp::Cas | AtomOp::Exch);
                let is_read = needs_answer || self.uses[results[0]] > 0;
                self.atomic(atomic, args, is_read.then_some(results[0]))
            }
            SimtOp::Red(atomic) => self.atomic(atomic, args, None),
            SimtOp::Shfl(mode, legacy) => {
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
            SimtOp::Vote(mode, legacy) => {
                let src = self.reg(args[0]);
                let mask = match legacy {
                    true => Source::Imm(u32::MAX),
                    false => self.source(args[1], 0),
                };
                let (sync, dst) = (sync(legacy), self.result(results[0]));
                let mode = match mode {
                    VoteMode::All => isa::VoteMode::All,
                    VoteMode::Any => isa::VoteMode::Any,
                    VoteMode::Uni => isa::VoteMode::Uni,
                    VoteMode::Ballot => {
                        self.push(MachOp::Ballot { sync, dst, src, mask });
                        return Ok(());
                    }
                };
                self.push(MachOp::Vote { mode, sync, dst, src, mask });
            }
            SimtOp::Match(all, width) => {
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
            SimtOp::Redux(op, ty) => {
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
                let dst = self.result(results[0]);
                self.push(MachOp::Redux { op, dst, src, mask });
            }
            SimtOp::Activemask => {
                let dst = self.result(results[0]);
                self.push(MachOp::ActiveMask { dst });
            }
            SimtOp::Barrier(barrier) => self.barrier(barrier, args, results),
            SimtOp::WarpBarrier => {
                let mask = self.source(args[0], 0);
                self.push(MachOp::WarpSync { mask });
            }
            SimtOp::Fence(scope) => {
                let scope = match scope {
                    Scope::Cta => isa::Scope::Cta,
                    Scope::Gpu => isa::Scope::Gpu,
                    Scope::Sys => isa::Scope::Sys,
                };
                self.push(MachOp::Fence { scope });
            }
            SimtOp::ToGeneric(of) => {
                let (space, src) = (space(of), self.reg(args[0]));
                let dst = self.result(results[0]);
                self.push(MachOp::ToGeneric { space, dst, src });
            }
            SimtOp::FromGeneric(of) => {
                let (space, src) = (space(of), self.reg(args[0]));
                let dst = self.result(results[0]);
                self.push(MachOp::FromGeneric { space, dst, src });
            }
            SimtOp::IsSpace(of) => {
                let (space, src) = (space(of), self.reg(args[0]));
                let dst = self.result(results[0]);
                self.push(MachOp::IsSpace { space, dst, src });
            }
            SimtOp::Address(object) => {
                let home = self.module.objects[object].space;
                if !matches!(home, Space::Global | Space::Const) {
                    return Err(format!("the address of {object}, which has no place yet"));
                }
                let dst = self.result(results[0]);
                let offset = isa::Offset(0);
                self.push(MachOp::Addr { dst, object: self.numbers[object], offset });
            }
            SimtOp::Vprintf => {
                let (format, arguments) = (self.reg(args[0]), self.reg(args[1]));
                let dst = self.result(results[0]);
                self.push(MachOp::Vprintf { dst, format, arguments });
            }
            SimtOp::AssertFail => {
                let [message, file, line, function] =
                    [args[0], args[1], args[2], args[3]].map(|value| self.reg(value));
                self.push(MachOp::AssertFail { message, file, line, function });
            }
            SimtOp::Nanosleep => {
                let time = self.source(args[0], 0);
                self.push(MachOp::Nanosleep { time });
            }
            SimtOp::Brkpt => self.push(MachOp::Brkpt {}),
        }
        Ok(())
    }

    /// An operand of a float operation. A number is one float, so that packed ones need a register.
    fn float_source(&mut self, value: Value, format: FloatFormat) -> Source<VReg> {
        if format.is_packed() { Source::Reg(self.reg(value)) } else { self.source(value, 0) }
    }

    fn int(&mut self, op: IntOp, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.source(args[1], 0));
        let dst = self.result(result);
        self.push(MachOp::Int { op, dst, a, b });
    }

    fn ternary(&mut self, op: TernaryOp, args: &[Value], result: Value) {
        let (a, b) = (self.reg(args[0]), self.small_source(args[1], 16));
        let c = self.source(args[2], 0);
        let dst = self.result(result);
        self.push(MachOp::Ternary { op, dst, a, b, c });
    }

    fn count(&mut self, op: CountOp, width: Width, a: Value, result: Value) {
        let a = self.reg(a);
        let dst = self.result(result);
        self.push(match width {
            Width::B64 => MachOp::CountWide { op, dst, a },
            Width::B32 => MachOp::Count { op, dst, a },
        });
    }

    /// An operation of both signs and widths; narrow operands are extended.
    fn divide(
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

    fn mul_high_16(&mut self, ty: IntType, args: &[Value], result: Value) {
        let a = self.extended(args[0], 0, ty.is_signed());
        let b = self.extended(args[1], 0, ty.is_signed());
        let product = self.word();
        self.push(MachOp::Int { op: IntOp::Mul, dst: product, a, b: Source::Reg(b) });
        let dst = self.result(result);
        self.push(MachOp::Int { op: IntOp::Shr, dst, a: product, b: Source::Imm(16) });
    }

    fn bfe(&mut self, ty: IntType, args: &[Value], result: Value) {
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

    fn float(&mut self, arith: FloatArith, args: &[Value], result: Value) {
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

    fn approx(&mut self, op: ApproxOp, of: FloatFormat, ftz: bool, args: &[Value], result: Value) {
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

    fn number(&mut self, conversion: Conversion, args: &[Value], result: Value) {
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

    fn atomic(&mut self, atomic: Atomic, args: &[Value], result: Option<Value>) {
        let values = if atomic.op == AtomOp::Cas { 2 } else { 1 };
        let (base, offset) = self.address(args[0], atomic.offset);
        let src = self.reg(args[1]);
        let new = if values == 2 { self.reg(args[2]) } else { src };
        let guard = atomic.guarded.then(|| self.guard(args[1 + values]));
        let (space, order) = (space(atomic.space), Order::Relaxed);
        let wide = atomic.ty.ty().scalar.bits() == 64;
        let (ty, wide_ty) = (atom_type(atomic.ty), atom_wide_type(atomic.ty));
        let Some(result) = result else {
            let Some(op) = atom_op(atomic.op) else { return };
            let op = match wide {
                true => MachOp::RedWide { op, ty: wide_ty, space, order, base, offset, src },
                false => MachOp::Red { op, ty, space, order, base, offset, src },
            };
            self.push_guarded(op, guard);
            return;
        };
        let dst = self.result(result);
        if guard.is_some() {
            self.copy_lane(dst, args[2 + values], 0);
        }
        let op = match (atom_op(atomic.op), wide) {
            (Some(op), true) => {
                MachOp::AtomWide { op, ty: wide_ty, space, order, dst, base, offset, src }
            }
            (Some(op), false) => MachOp::Atom { op, ty, space, order, dst, base, offset, src },
            (None, true) => {
                let expected = src;
                MachOp::AtomCasWide { space, order, dst, base, offset, expected, new }
            }
            (None, false) => {
                let expected = src;
                MachOp::AtomCas { ty, space, order, dst, base, offset, expected, new }
            }
        };
        self.push_guarded(op, guard);
    }

    fn barrier(&mut self, barrier: Barrier, args: &[Value], results: &[Value]) {
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
