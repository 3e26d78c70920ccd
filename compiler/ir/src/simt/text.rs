//! The text form of grid operations: words joined by dots, modifiers in a fixed order, as in
//! `fma.rz.ftz.f32`, `load.volatile.guarded.global.i32+4`. Reading gives back what was written.

use std::fmt;
use std::str::FromStr;

use cranelift_entity::EntityRef;

use super::*;
use crate::{Object, Scalar};

/// A text that names no grid operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSimtOp;

impl fmt::Display for UnknownSimtOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown grid operation")
    }
}

impl std::error::Error for UnknownSimtOp {}

struct Flag(bool, &'static str);

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 { write!(f, ".{}", self.1) } else { Ok(()) }
    }
}

struct Offset(i64);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, "{:+}", self.0) }
    }
}

fn sign(signed: bool) -> &'static str {
    if signed { "s" } else { "u" }
}

fn rounds(op: FloatOp) -> bool {
    !matches!(op, FloatOp::Min | FloatOp::Max | FloatOp::Abs | FloatOp::Neg)
}

impl fmt::Display for SimtOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SimtOp::Float(FloatArith {
                op,
                format,
                rounding,
                ftz,
                sat,
                nan,
                xorsign_abs,
                relu,
            }) => {
                write!(f, "{}{}", op.name(), Flag(rounds(op), rounding.name()))?;
                write!(f, "{}{}", Flag(ftz, "ftz"), Flag(sat, "sat"))?;
                write!(f, "{}{}", Flag(nan, "nan"), Flag(xorsign_abs, "xorsign"))?;
                write!(f, "{}.{}", Flag(relu, "relu"), format.name())
            }
            SimtOp::Approx(op, format, ftz) => {
                write!(f, "{}{}.{}", op.name(), Flag(ftz, "ftz"), format.name())
            }
            SimtOp::Convert(Conversion { dst, src, rounding, ftz, sat, relu }) => {
                write!(f, "cvt.{}{}", rounding.name(), Flag(ftz, "ftz"))?;
                write!(f, "{}{}", Flag(sat, "sat"), Flag(relu, "relu"))?;
                write!(f, ".{}.{}", dst.name(), src.name())
            }
            SimtOp::Compare(FloatCompare { test, format, ftz }) => {
                write!(f, "setp.{}{}.{}", test.name(), Flag(ftz, "ftz"), format.name())
            }
            SimtOp::Copysign(format) => write!(f, "copysign.{}", format.name()),
            SimtOp::Testp(property, format) => {
                write!(f, "testp.{}.{}", property.name(), format.name())
            }
            SimtOp::MulHigh(int) => write!(f, "mulhi.{}", int.name()),
            SimtOp::IntDiv(int) => write!(f, "idiv.{}", int.name()),
            SimtOp::IntRem(int) => write!(f, "irem.{}", int.name()),
            SimtOp::AddSat => f.write_str("addsat"),
            SimtOp::SubSat => f.write_str("subsat"),
            SimtOp::MadHighSat => f.write_str("madhisat"),
            SimtOp::Popc(width) => write!(f, "popc.{}", width.name()),
            SimtOp::Clz(width) => write!(f, "clz.{}", width.name()),
            SimtOp::Bfind(int, amount) => {
                write!(f, "bfind{}.{}", Flag(amount, "shiftamt"), int.name())
            }
            SimtOp::Brev(width) => write!(f, "brev.{}", width.name()),
            SimtOp::Fns => f.write_str("fns"),
            SimtOp::Bfe(int) => write!(f, "bfe.{}", int.name()),
            SimtOp::Bfi(width) => write!(f, "bfi.{}", width.name()),
            SimtOp::Bmsk(mode) => write!(f, "bmsk.{}", mode.name()),
            SimtOp::Szext(signed, mode) => write!(f, "szext.{}.{}", mode.name(), sign(signed)),
            SimtOp::Prmt(mode) => write!(f, "prmt.{}", mode.name()),
            SimtOp::Lop3(table) => write!(f, "lop3.{table}"),
            SimtOp::Shf(direction, mode) => write!(f, "shf.{}.{}", direction.name(), mode.name()),
            SimtOp::Dp4a(a, b) => write!(f, "dp4a.{}.{}", sign(a), sign(b)),
            SimtOp::Dp2a(a, b, high) => {
                write!(f, "dp2a.{}.{}.{}", if high { "hi" } else { "lo" }, sign(a), sign(b))
            }
            SimtOp::Simd(simd) => {
                write!(f, "{}.x{}", simd.op.name(), simd.lanes)?;
                let signs = [simd.dst_signed, simd.a_signed, simd.b_signed].map(sign);
                write!(f, ".{}.{}.{}", signs[0], signs[1], signs[2])?;
                write!(f, "{}{}.{}", Flag(simd.sat, "sat"), Flag(simd.add, "add"), simd.mask)
            }
            SimtOp::Special(reg) => write!(f, "special.{reg}"),
            SimtOp::Load(access) => write!(f, "load.{access}"),
            SimtOp::Store(access) => write!(f, "store.{access}"),
            SimtOp::Atom(atomic) => write!(f, "atom.{atomic}"),
            SimtOp::Red(atomic) => write!(f, "red.{atomic}"),
            SimtOp::Shfl(mode, legacy) => write!(f, "shfl{}.{}", synced(legacy), mode.name()),
            SimtOp::Vote(mode, legacy) => write!(f, "vote{}.{}", synced(legacy), mode.name()),
            SimtOp::Match(all, width) => {
                write!(f, "match.{}.{}", if all { "all" } else { "any" }, width.name())
            }
            SimtOp::Redux(op, int) => write!(f, "redux.{}.{}", op.name(), int.name()),
            SimtOp::Activemask => f.write_str("activemask"),
            SimtOp::Barrier(Barrier { kind, aligned, counted }) => {
                write!(f, "barrier.{}", kind.name())?;
                write!(f, "{}{}", Flag(aligned, "aligned"), Flag(counted, "counted"))
            }
            SimtOp::WarpBarrier => f.write_str("warpbarrier"),
            SimtOp::Fence(scope) => write!(f, "fence.{}", scope.name()),
            SimtOp::ToGeneric(space) => write!(f, "togeneric.{space}"),
            SimtOp::FromGeneric(space) => write!(f, "fromgeneric.{space}"),
            SimtOp::IsSpace(space) => write!(f, "isspace.{space}"),
            SimtOp::Address(object) => write!(f, "address.{object}"),
            SimtOp::Vprintf => f.write_str("vprintf"),
            SimtOp::AssertFail => f.write_str("assertfail"),
            SimtOp::Nanosleep => f.write_str("nanosleep"),
            SimtOp::Brkpt => f.write_str("brkpt"),
        }
    }
}

fn synced(legacy: bool) -> &'static str {
    if legacy { ".old" } else { "" }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ordering.name(), Flag(self.guarded, "guarded"))?;
        write!(f, ".{}.{}{}", self.space, self.ty, Offset(self.offset))
    }
}

impl fmt::Display for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.op.name(), Flag(self.guarded, "guarded"))?;
        write!(f, ".{}.{}{}", self.space, self.ty.name(), Offset(self.offset))
    }
}

/// The words of an operation that are still to be read.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    fn flag(&mut self, word: &str) -> bool {
        let found = self.0.first() == Some(&word);
        if found {
            self.0.remove(0);
        }
        found
    }

    fn take<T>(&mut self, from: impl Fn(&str) -> Option<T>) -> Option<T> {
        from(self.next()?)
    }

    /// One of two words; whether it is the second.
    fn either(&mut self, no: &str, yes: &str) -> Option<bool> {
        let word = self.next()?;
        if word == yes { Some(true) } else { (word == no).then_some(false) }
    }

    fn signed(&mut self) -> Option<bool> {
        self.either("u", "s")
    }
}

/// A number as it is printed.
fn canonical<T: FromStr + fmt::Display>(word: &str) -> Option<T> {
    word.parse().ok().filter(|n: &T| n.to_string() == word)
}

fn with_offset(word: &str) -> Option<(&str, i64)> {
    match word.find(['+', '-']) {
        None => Some((word, 0)),
        Some(at) => {
            let offset: i64 = word[at..].parse().ok()?;
            (Offset(offset).to_string() == word[at..]).then_some((&word[..at], offset))
        }
    }
}

fn access(words: &mut Words<'_>) -> Option<Access> {
    let ordering = words.take(Ordering::from_name)?;
    let guarded = words.flag("guarded");
    let space = words.take(Space::from_name)?;
    let (ty, offset) = with_offset(words.next()?)?;
    Some(Access { ty: Type::from_name(ty)?, space, offset, ordering, guarded })
}

fn atomic(words: &mut Words<'_>) -> Option<Atomic> {
    let op = words.take(AtomOp::from_name)?;
    let guarded = words.flag("guarded");
    let space = words.take(Space::from_name)?;
    let (ty, offset) = with_offset(words.next()?)?;
    Some(Atomic { op, ty: NumType::from_name(ty)?, space, offset, guarded })
}

impl Type {
    /// The type of that word.
    pub fn from_name(word: &str) -> Option<Type> {
        let (scalar, lanes) = match word.split_once('x') {
            Some((scalar, lanes)) => (scalar, canonical(lanes).filter(|&n| n > 1)?),
            None => (word, 1),
        };
        Some(Type { scalar: Scalar::from_name(scalar)?, lanes })
    }
}

impl FromStr for SimtOp {
    type Err = UnknownSimtOp;

    fn from_str(text: &str) -> Result<SimtOp, UnknownSimtOp> {
        let mut words = Words(text.split('.').collect());
        let op = read(&mut words).ok_or(UnknownSimtOp)?;
        if words.0.is_empty() { Ok(op) } else { Err(UnknownSimtOp) }
    }
}

fn read(words: &mut Words<'_>) -> Option<SimtOp> {
    let word = words.next()?;
    if let Some(op) = FloatOp::from_name(word) {
        let rounding = if rounds(op) { words.take(Rounding::from_name)? } else { Rounding::Rn };
        let (ftz, sat) = (words.flag("ftz"), words.flag("sat"));
        let (nan, xorsign_abs) = (words.flag("nan"), words.flag("xorsign"));
        let relu = words.flag("relu");
        let format = words.take(FloatFormat::from_name)?;
        return Some(SimtOp::Float(FloatArith {
            op,
            format,
            rounding,
            ftz,
            sat,
            nan,
            xorsign_abs,
            relu,
        }));
    }
    if let Some(op) = ApproxOp::from_name(word) {
        let ftz = words.flag("ftz");
        return Some(SimtOp::Approx(op, words.take(FloatFormat::from_name)?, ftz));
    }
    let int = IntType::from_name;
    let width = Width::from_name;
    Some(match word {
        "cvt" => {
            let rounding = words.take(ConvertRounding::from_name)?;
            let (ftz, sat, relu) = (words.flag("ftz"), words.flag("sat"), words.flag("relu"));
            let (dst, src) = (words.take(NumType::from_name)?, words.take(NumType::from_name)?);
            SimtOp::Convert(Conversion { dst, src, rounding, ftz, sat, relu })
        }
        "setp" => {
            let test = words.take(FloatTest::from_name)?;
            let ftz = words.flag("ftz");
            let format = words.take(FloatFormat::from_name)?;
            SimtOp::Compare(FloatCompare { test, format, ftz })
        }
        "copysign" => SimtOp::Copysign(words.take(FloatFormat::from_name)?),
        "testp" => {
            let property = words.take(FloatProperty::from_name)?;
            SimtOp::Testp(property, words.take(FloatFormat::from_name)?)
        }
        "mulhi" => SimtOp::MulHigh(words.take(int)?),
        "idiv" => SimtOp::IntDiv(words.take(int)?),
        "irem" => SimtOp::IntRem(words.take(int)?),
        "addsat" => SimtOp::AddSat,
        "subsat" => SimtOp::SubSat,
        "madhisat" => SimtOp::MadHighSat,
        "popc" => SimtOp::Popc(words.take(width)?),
        "clz" => SimtOp::Clz(words.take(width)?),
        "bfind" => {
            let amount = words.flag("shiftamt");
            SimtOp::Bfind(words.take(int)?, amount)
        }
        "brev" => SimtOp::Brev(words.take(width)?),
        "fns" => SimtOp::Fns,
        "bfe" => SimtOp::Bfe(words.take(int)?),
        "bfi" => SimtOp::Bfi(words.take(width)?),
        "bmsk" => SimtOp::Bmsk(words.take(EdgeMode::from_name)?),
        "szext" => {
            let mode = words.take(EdgeMode::from_name)?;
            SimtOp::Szext(words.signed()?, mode)
        }
        "prmt" => SimtOp::Prmt(words.take(PrmtMode::from_name)?),
        "lop3" => SimtOp::Lop3(words.take(canonical)?),
        "shf" => {
            let direction = words.take(Direction::from_name)?;
            SimtOp::Shf(direction, words.take(EdgeMode::from_name)?)
        }
        "dp4a" => SimtOp::Dp4a(words.signed()?, words.signed()?),
        "dp2a" => {
            let high = words.either("lo", "hi")?;
            SimtOp::Dp2a(words.signed()?, words.signed()?, high)
        }
        _ if word.starts_with('v') && SimdOp::ALL.iter().any(|op| starts(op.name(), word)) => {
            let op = if word == "vset" {
                let test = words.next()?;
                SimdOp::from_name(&format!("vset.{test}"))?
            } else {
                SimdOp::from_name(word)?
            };
            let lanes = words.take(|word| canonical(word.strip_prefix('x')?))?;
            let (dst_signed, a_signed, b_signed) =
                (words.signed()?, words.signed()?, words.signed()?);
            let (sat, add) = (words.flag("sat"), words.flag("add"));
            let mask = words.take(canonical)?;
            SimtOp::Simd(Simd { op, lanes, dst_signed, a_signed, b_signed, sat, add, mask })
        }
        "special" => SimtOp::Special(words.take(SpecialReg::from_name)?),
        "load" => SimtOp::Load(access(words)?),
        "store" => SimtOp::Store(access(words)?),
        "atom" => SimtOp::Atom(atomic(words)?),
        "red" => SimtOp::Red(atomic(words)?),
        "shfl" => {
            let legacy = words.flag("old");
            SimtOp::Shfl(words.take(ShflMode::from_name)?, legacy)
        }
        "vote" => {
            let legacy = words.flag("old");
            SimtOp::Vote(words.take(VoteMode::from_name)?, legacy)
        }
        "match" => {
            let all = words.either("any", "all")?;
            SimtOp::Match(all, words.take(width)?)
        }
        "redux" => {
            let op = words.take(ReduxOp::from_name)?;
            SimtOp::Redux(op, words.take(int)?)
        }
        "activemask" => SimtOp::Activemask,
        "barrier" => {
            let kind = words.take(BarrierKind::from_name)?;
            let (aligned, counted) = (words.flag("aligned"), words.flag("counted"));
            SimtOp::Barrier(Barrier { kind, aligned, counted })
        }
        "warpbarrier" => SimtOp::WarpBarrier,
        "fence" => SimtOp::Fence(words.take(Scope::from_name)?),
        "togeneric" => SimtOp::ToGeneric(words.take(Space::from_name)?),
        "fromgeneric" => SimtOp::FromGeneric(words.take(Space::from_name)?),
        "isspace" => SimtOp::IsSpace(words.take(Space::from_name)?),
        "address" => {
            let number: u32 = words.take(|word| canonical(word.strip_prefix("object")?))?;
            if number == u32::MAX {
                return None;
            }
            SimtOp::Address(Object::new(number as usize))
        }
        "vprintf" => SimtOp::Vprintf,
        "assertfail" => SimtOp::AssertFail,
        "nanosleep" => SimtOp::Nanosleep,
        "brkpt" => SimtOp::Brkpt,
        _ => return None,
    })
}

/// Whether a word is the first of a name.
fn starts(name: &str, word: &str) -> bool {
    name.split('.').next() == Some(word)
}
