//! Grid operations: each has its instruction.

use nbcc_ir::{AtomOp, Scope, SimtOp, Space, SpecialReg, Value};
use nbcc_isa_simt::Op as MachOp;
use nbcc_isa_simt::operands::{
    self as isa, CountOp, IntOp, Special, SpecialWide, TernaryOp, WideOp,
};

use super::integer::{dot, prmt};
use super::{Result, Selector};
use crate::backend::space::space;

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

impl Selector<'_> {
    pub(super) fn simt(&mut self, op: &SimtOp, args: &[Value], results: &[Value]) -> Result<()> {
        match *op {
            SimtOp::Float(arith) => self.float(arith, args, results[0]),
            SimtOp::Approx(op, of, ftz) => self.approx(op, of, ftz, args, results[0]),
            SimtOp::Convert(conversion) => self.number(conversion, args, results[0]),
            SimtOp::Compare(compare) => self.compare(compare, args, results),
            SimtOp::Copysign(of) => self.copysign(of, args, results[0]),
            SimtOp::Testp(of, format) => self.testp(of, format, args, results[0]),
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
            SimtOp::Bfind(ty, amount) => self.bfind(ty, amount, args, results[0]),
            SimtOp::Brev(width) => self.brev(width, args, results[0]),
            SimtOp::Fns => self.ternary(TernaryOp::Fns, args, results[0]),
            SimtOp::Bfe(ty) => self.bfe(ty, args, results[0]),
            SimtOp::Bfi(width) => self.bfi(width, args, results[0]),
            SimtOp::Bmsk(mode) => self.bmsk(mode, args, results[0]),
            SimtOp::Szext(signed, mode) => self.szext(signed, mode, args, results[0]),
            SimtOp::Prmt(mode) => self.ternary(prmt(mode), args, results[0]),
            SimtOp::Lop3(table) => self.lop3(table, args, results[0]),
            SimtOp::Shf(direction, mode) => self.shf(direction, mode, args, results[0]),
            SimtOp::Dp4a(a, b) => self.ternary(dot(None, a, b), args, results[0]),
            SimtOp::Dp2a(a, b, high) => self.ternary(dot(Some(high), a, b), args, results[0]),
            SimtOp::Simd(simd) => self.simd(simd, args, results[0]),
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
            SimtOp::Shfl(mode, legacy) => self.shfl(mode, legacy, args, results),
            SimtOp::Vote(mode, legacy) => self.vote(mode, legacy, args, results[0]),
            SimtOp::Match(all, width) => self.matching(all, width, args, results),
            SimtOp::Redux(op, ty) => self.redux(op, ty, args, results[0]),
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
}
