//! Operands and results of the grid operations, and which combinations of modifiers there are.

use super::*;
use crate::{Scalar, Type};

/// The types of operands and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Types of the operands, in order.
    pub operands: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}

fn signature(operands: &[Type], results: &[Type]) -> Signature {
    Signature { operands: operands.to_vec(), results: results.to_vec() }
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message.to_string()) }
}

const I1: Type = Type::I1;
const I32: Type = Type::I32;
const I64: Type = Type::I64;

impl SimtOp {
    /// Operands and results, or what is wrong with the modifiers.
    pub fn signature(&self) -> Result<Signature, String> {
        let all = |ty: Type, n: usize| signature(&vec![ty; n], &[ty]);
        Ok(match *self {
            SimtOp::Float(arith) => arith.signature()?,
            SimtOp::Approx(op, format, ftz) => approx(op, format, ftz)?,
            SimtOp::Convert(conversion) => conversion.signature()?,
            SimtOp::Compare(FloatCompare { format, ftz, .. }) => {
                ensure(!ftz || flushes(format), "bf16 and f64 are never flushed")?;
                let results: &[Type] = if format.is_packed() { &[I1, I1] } else { &[I1] };
                signature(&[format.ty(); 2], results)
            }
            SimtOp::Copysign(format) => {
                ensure(!format.is_half(), "copysign is on f32 and f64")?;
                all(format.ty(), 2)
            }
            SimtOp::Testp(_, format) => {
                ensure(!format.is_half(), "testp is on f32 and f64")?;
                signature(&[format.ty()], &[I1])
            }
            SimtOp::MulHigh(int) | SimtOp::IntDiv(int) | SimtOp::IntRem(int) => {
                ensure(int.bits() > 8, "the operation is on 16 bits and more")?;
                all(int.ty(), 2)
            }
            SimtOp::AddSat | SimtOp::SubSat => all(I32, 2),
            SimtOp::MadHighSat => all(I32, 3),
            SimtOp::Popc(width) | SimtOp::Clz(width) => signature(&[width.ty()], &[I32]),
            SimtOp::Bfind(int, _) => {
                wide(int)?;
                signature(&[int.ty()], &[I32])
            }
            SimtOp::Brev(width) => all(width.ty(), 1),
            SimtOp::Bfe(int) => {
                wide(int)?;
                signature(&[int.ty(), I32, I32], &[int.ty()])
            }
            SimtOp::Bfi(width) => signature(&[width.ty(), width.ty(), I32, I32], &[width.ty()]),
            SimtOp::Bmsk(_) | SimtOp::Szext(..) => all(I32, 2),
            SimtOp::Fns | SimtOp::Prmt(_) | SimtOp::Lop3(_) | SimtOp::Shf(..) => all(I32, 3),
            SimtOp::Dp4a(..) | SimtOp::Dp2a(..) => all(I32, 3),
            SimtOp::Simd(simd) => {
                ensure(matches!(simd.lanes, 2 | 4), "the lanes are 2 or 4")?;
                ensure(simd.mask >> simd.lanes == 0, "the mask names lanes there are not")?;
                all(I32, 3)
            }
            SimtOp::Special(reg) => {
                let n = match reg {
                    SpecialReg::Tid(d)
                    | SpecialReg::Ntid(d)
                    | SpecialReg::Ctaid(d)
                    | SpecialReg::Nctaid(d) => d < 3,
                    SpecialReg::Pm(n) | SpecialReg::Pm64(n) => n < 8,
                    SpecialReg::Envreg(n) => n < 32,
                    _ => true,
                };
                ensure(n, "there is no special register of that number")?;
                signature(&[], &[reg.ty()])
            }
            SimtOp::Load(access) => {
                access.check()?;
                let operands = [I64, I1, access.ty];
                signature(&operands[..if access.guarded { 3 } else { 1 }], &[access.ty])
            }
            SimtOp::Store(access) => {
                access.check()?;
                ensure(
                    !matches!(access.space, Space::Param | Space::Const),
                    "the space is only read",
                )?;
                let operands = [I64, access.ty, I1];
                signature(&operands[..if access.guarded { 3 } else { 2 }], &[])
            }
            SimtOp::Atom(atomic) => atomic.signature(true)?,
            SimtOp::Red(atomic) => {
                let swaps = matches!(atomic.op, AtomOp::Cas | AtomOp::Exch);
                ensure(!swaps, "a reduction does not exchange")?;
                atomic.signature(false)?
            }
            SimtOp::Shfl(_, legacy) => {
                signature(&[I32; 4][..if legacy { 3 } else { 4 }], &[I32, I1])
            }
            SimtOp::Vote(mode, legacy) => {
                let result = if mode == VoteMode::Ballot { I32 } else { I1 };
                signature(&[I1, I32][..if legacy { 1 } else { 2 }], &[result])
            }
            SimtOp::Match(all, width) => {
                signature(&[width.ty(), I32], &[I32, I1][..if all { 2 } else { 1 }])
            }
            SimtOp::Redux(op, int) => {
                ensure(int.bits() == 32, "redux is on 32 bits")?;
                let bitwise = matches!(op, ReduxOp::And | ReduxOp::Or | ReduxOp::Xor);
                ensure(!bitwise || !int.is_signed(), "bitwise reductions are unsigned")?;
                all(I32, 2)
            }
            SimtOp::Activemask => signature(&[], &[I32]),
            SimtOp::Barrier(barrier) => {
                let mut operands = vec![I32];
                if barrier.counted {
                    operands.push(I32);
                }
                let results: &[Type] = match barrier.kind {
                    BarrierKind::Sync | BarrierKind::Arrive => &[],
                    BarrierKind::RedPopc => &[I32],
                    BarrierKind::RedAnd | BarrierKind::RedOr => &[I1],
                };
                if !results.is_empty() {
                    operands.push(I1);
                }
                let arrive = barrier.kind == BarrierKind::Arrive;
                ensure(!arrive || barrier.counted, "an arrival says the number of threads")?;
                signature(&operands, results)
            }
            SimtOp::WarpBarrier | SimtOp::Nanosleep => signature(&[I32], &[]),
            SimtOp::Fence(_) | SimtOp::Brkpt => signature(&[], &[]),
            SimtOp::ToGeneric(space) | SimtOp::FromGeneric(space) => {
                ensure(space != Space::Generic, "a generic address is one already")?;
                all(I64, 1)
            }
            SimtOp::IsSpace(space) => {
                ensure(space != Space::Generic, "every address is generic")?;
                signature(&[I64], &[I1])
            }
            SimtOp::Address(_) => signature(&[], &[I64]),
            SimtOp::Vprintf => signature(&[I64, I64], &[I32]),
            SimtOp::AssertFail => signature(&[I64, I64, I32, I64, I64], &[]),
        })
    }
}

/// Whether `.ftz` exists for a format.
fn flushes(format: FloatFormat) -> bool {
    matches!(format, FloatFormat::F32 | FloatFormat::F16 | FloatFormat::F16x2)
}

fn wide(int: IntType) -> Result<(), String> {
    ensure(int.bits() >= 32, "the operation is on 32 or 64 bits")
}

impl FloatArith {
    fn signature(self) -> Result<Signature, String> {
        use FloatOp::*;
        let FloatArith { op, format, rounding, ftz, sat, nan, xorsign_abs, relu } = self;
        let operands = match op {
            Fma => 3,
            Add | Sub | Mul | Div | Min | Max => 2,
            Rcp | Sqrt | Abs | Neg => 1,
        };
        let extremum = matches!(op, Min | Max);
        ensure(
            !matches!(op, Div | Rcp | Sqrt) || !format.is_half(),
            "the operation is on f32 and f64",
        )?;
        let rounds = matches!(op, Add | Sub | Mul | Fma | Div | Rcp | Sqrt);
        let nearest = rounding == Rounding::Rn;
        ensure(nearest || (rounds && !format.is_half()), "the operation has no such rounding")?;
        ensure(!ftz || flushes(format), "bf16 and f64 are never flushed")?;
        let saturates = matches!(op, Add | Sub | Mul | Fma);
        ensure(!sat || (saturates && format != FloatFormat::F64), "the operation has no `sat`")?;
        ensure(!nan || (extremum && format != FloatFormat::F64), "the operation has no `nan`")?;
        ensure(
            !xorsign_abs || (extremum && format != FloatFormat::F64),
            "the operation has no `xorsign`",
        )?;
        ensure(!relu || (op == Fma && format.is_half()), "the operation has no `relu`")?;
        Ok(signature(&[format.ty(); 3][..operands], &[format.ty()]))
    }
}

fn approx(op: ApproxOp, format: FloatFormat, ftz: bool) -> Result<Signature, String> {
    use ApproxOp::*;
    let formats: &[FloatFormat] = match op {
        Div | DivFull | Sqrt | Sin | Cos | Lg2 => &[FloatFormat::F32],
        Rcp | Rsqrt => &[FloatFormat::F32, FloatFormat::F64],
        Ex2 | Tanh => {
            use FloatFormat::*;
            &[F32, F16, F16x2, Bf16, Bf16x2]
        }
    };
    ensure(formats.contains(&format), "the operation has no such format")?;
    // Both forms on f64 flush.
    ensure(!ftz || op != Tanh, "tanh never flushes")?;
    let operands = if matches!(op, Div | DivFull) { 2 } else { 1 };
    Ok(signature(&[format.ty(); 2][..operands], &[format.ty()]))
}

impl Conversion {
    fn signature(self) -> Result<Signature, String> {
        use ConvertRounding::*;
        let Conversion { dst, src, rounding, ftz, relu, .. } = self;
        let to_integer = matches!(rounding, Rni | Rzi | Rmi | Rpi);
        let is_f32 = |ty| ty == NumType::Float(FloatFormat::F32);
        match (dst, src) {
            (NumType::Int(_), NumType::Int(_)) => {
                ensure(rounding == Exact, "integers are not rounded")?;
            }
            (NumType::Int(_), NumType::Float(from)) => {
                ensure(!from.is_packed(), "packed floats do not become integers")?;
                ensure(to_integer, "the rounding is not one to integers")?;
            }
            (NumType::Float(to), NumType::Int(_)) => {
                ensure(!to.is_packed(), "integers do not become packed floats")?;
                let known = matches!(rounding, Rn | Rz | Rm | Rp);
                ensure(known, "the rounding is not one to floats")?;
            }
            (NumType::Float(to), NumType::Float(from)) => {
                ensure(!from.is_packed(), "packed floats are not converted")?;
                ensure(!to.is_packed() || is_f32(src), "packed floats come from f32")?;
                if to_integer {
                    ensure(to == from, "rounding to an integer keeps the format")?;
                }
            }
        }
        ensure(!ftz || is_f32(dst) || is_f32(src), "only f32 is flushed")?;
        let half = matches!(dst, NumType::Float(to) if to.is_half());
        ensure(!relu || half, "the conversion has no `relu`")?;
        let packed = matches!(dst, NumType::Float(to) if to.is_packed());
        Ok(signature(&[src.ty(); 2][..if packed { 2 } else { 1 }], &[dst.ty()]))
    }
}

impl Access {
    fn check(self) -> Result<(), String> {
        ensure(self.ty.scalar != Scalar::I1, "truth values have no place in memory")
    }
}

impl Atomic {
    fn signature(self, result: bool) -> Result<Signature, String> {
        use AtomOp::*;
        let Atomic { op, ty, space, guarded, .. } = self;
        ensure(
            matches!(space, Space::Global | Space::Shared | Space::Generic),
            "atomic operations are on global, shared and generic memory",
        )?;
        let exists = match ty {
            NumType::Int(int) => match int.bits() {
                8 => false,
                16 => matches!(op, Cas),
                _ => match op {
                    Inc | Dec => int == IntType::U32,
                    And | Or | Xor | Exch | Cas => !int.is_signed(),
                    Add | Min | Max => true,
                },
            },
            NumType::Float(format) => match op {
                Add => true,
                Min | Max => format.is_half(),
                _ => false,
            },
        };
        ensure(exists, "there is no such atomic operation")?;
        let mut operands = vec![Type::I64, ty.ty()];
        if op == Cas {
            operands.push(ty.ty());
        }
        if guarded {
            operands.push(I1);
            if result {
                operands.push(ty.ty());
            }
        }
        let results: &[Type] = if result { &[ty.ty()] } else { &[] };
        Ok(signature(&operands, results))
    }
}
