//! Instructions whose result depends on registers and the place of the thread only.

use crate::{LANES, Mask, Words, integer, simd};
use nbcc_isa_simt::operands::{Sign, Source, Special, SpecialWide};
use nbcc_isa_simt::{Op, PhysReg};

use crate::machine::alu::{self, extend, map, map2, map3, truncate};
use crate::machine::context::{Context, Place};
use crate::machine::warp::{Warp, Wides};
use crate::machine::{access, float};

/// Executes what depends on registers and the place of the thread only; tells whether it is that.
#[inline(always)]
pub fn compute(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    context: &Context<'_>,
    place: &Place<'_>,
) -> bool {
    match op {
        Op::Int { op, dst, a, b } => {
            let value = match b {
                Source::Reg(b) => alu::int(*op, warp.word(*a), warp.word(*b)),
                Source::Imm(b) => alu::int(*op, warp.word(*a), &[*b; LANES]),
            };
            warp.set_word(*dst, act, &value);
        }
        Op::IntWide { op, dst, a, b } => {
            let value = alu::wide(*op, &warp.wide(*a), &warp.wide_source(b));
            warp.set_wide(*dst, act, &value);
        }
        Op::ShiftWide { op, dst, a, amount } => {
            let value = alu::shift(*op, &warp.wide(*a), &warp.source(amount));
            warp.set_wide(*dst, act, &value);
        }
        Op::IntUnary { op, dst, a } => {
            let value = alu::unary(*op, warp.word(*a));
            warp.set_word(*dst, act, &value);
        }
        Op::IntUnaryWide { op, dst, a } => {
            let value = alu::unary_wide(*op, &warp.wide(*a));
            warp.set_wide(*dst, act, &value);
        }
        Op::Count { op, dst, a } => {
            let value = alu::count(*op, 32, &extend(warp.word(*a)));
            warp.set_word(*dst, act, &value);
        }
        Op::CountWide { op, dst, a } => {
            let value = alu::count(*op, 64, &warp.wide(*a));
            warp.set_word(*dst, act, &value);
        }
        Op::Ternary { op, dst, a, b, c } => {
            let value = alu::ternary(*op, warp.word(*a), &warp.source(b), &warp.source(c));
            warp.set_word(*dst, act, &value);
        }
        Op::MadWideWide { dst, a, b, c } => {
            let value = map3(&warp.wide(*a), &warp.wide(*b), &warp.wide_source(c), |a, b, c| {
                a.wrapping_mul(b).wrapping_add(c)
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::MulWide { sign, dst, a, b } => {
            let value = alu::mul_wide(*sign, warp.word(*a), &warp.source(b));
            warp.set_wide(*dst, act, &value);
        }
        Op::MadWide { sign, dst, a, b, c } => {
            let product = alu::mul_wide(*sign, warp.word(*a), &warp.source(b));
            let value = map2(&product, &warp.wide(*c), u64::wrapping_add);
            warp.set_wide(*dst, act, &value);
        }
        Op::SadWide { sign, dst, a, b, c } => {
            let c = warp.wide_source(c);
            let value = alu::sad_wide(*sign, &warp.wide(*a), &warp.wide(*b), &c);
            warp.set_wide(*dst, act, &value);
        }
        Op::BfeWide { sign, dst, a, position, length } => {
            let signed = *sign == Sign::Signed;
            let (position, length) = (warp.source(position), warp.source(length));
            let value = map3(&warp.wide(*a), &position, &length, |a, p, n| {
                integer::bfe(64, signed, a, p, n)
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::Bfi { dst, a, b, position, length } => {
            let value: Words = bfi(
                32,
                &extend(warp.word(*a)),
                &extend(warp.word(*b)),
                &warp.source(position),
                &warp.source(length),
            )
            .map(|value| value as u32);
            warp.set_word(*dst, act, &value);
        }
        Op::BfiWide { dst, a, b, position, length } => {
            let (position, length) = (warp.source(position), warp.source(length));
            let value = bfi(64, &warp.wide(*a), &warp.wide(*b), &position, &length);
            warp.set_wide(*dst, act, &value);
        }
        Op::Lop3 { dst, a, b, c, table } => {
            let table = *table as u8;
            let value = map3(warp.word(*a), warp.word(*b), &warp.source(c), |a, b, c| {
                integer::lop3(table, a, b, c)
            });
            warp.set_word(*dst, act, &value);
        }
        Op::Simd { op, dst, a, b, c, mask } => {
            let op = alu::simd(op, *mask);
            let value = map3(warp.word(*a), warp.word(*b), warp.word(*c), |a, b, c| {
                simd::simd(&op, a, b, c)
            });
            warp.set_word(*dst, act, &value);
        }
        Op::Cmp { test, dst, a, b } => {
            let value = match b {
                Source::Reg(b) => alu::cmp(*test, warp.word(*a), warp.word(*b)),
                Source::Imm(b) => alu::cmp(*test, warp.word(*a), &[*b; LANES]),
            };
            warp.set_predicate(*dst, act, value);
        }
        Op::CmpWide { test, dst, a, b } => {
            let value = alu::cmp_wide(*test, &warp.wide(*a), &warp.wide_source(b));
            warp.set_predicate(*dst, act, value);
        }
        Op::Mov { dst, src } => {
            let value = warp.source(src);
            warp.set_word(*dst, act, &value);
        }
        Op::MovWide { dst, src } => {
            let value = warp.wide(*src);
            warp.set_wide(*dst, act, &value);
        }
        Op::MovBits { dst, bits } => warp.set_wide(*dst, act, &[bits.0; LANES]),
        Op::Pack { dst, low, high } => {
            let value = map2(warp.word(*low), &warp.source(high), |low, high| {
                u64::from(low) | u64::from(high) << 32
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::Low { dst, src } => {
            let value = truncate(&warp.wide(*src));
            warp.set_word(*dst, act, &value);
        }
        Op::High { dst, src } => {
            let value = map(&warp.wide(*src), |value| (value >> 32) as u32);
            warp.set_word(*dst, act, &value);
        }
        Op::Sel { dst, a, b, cond } => {
            let cond = warp.predicate(*cond);
            let (a, b) = (warp.word(*a), warp.source(b));
            let value = map3(a, &b, &alu::spread(cond), |a, b, c| if c != 0 { a } else { b });
            warp.set_word(*dst, act, &value);
        }
        Op::SelWide { dst, a, b, cond } => {
            let cond = warp.predicate(*cond);
            let (a, b) = (warp.wide(*a), warp.wide_source(b));
            let value = map3(&a, &b, &alu::spread(cond), |a, b, c| if c != 0 { a } else { b });
            warp.set_wide(*dst, act, &value);
        }
        Op::Sreg { special, dst } => {
            let value = special_register(*special, warp.number, context, place);
            warp.set_word(*dst, act, &value);
        }
        Op::SregWide { special, dst } => {
            let value = match special {
                // A cycle takes a nanosecond.
                SpecialWide::Clock | SpecialWide::Globaltimer => place.clock,
                SpecialWide::Gridid => context.number,
                SpecialWide::Zero => 0,
            };
            warp.set_wide(*dst, act, &[value; LANES]);
        }
        Op::Addr { dst, object, offset } => {
            let base = context.objects[*object as usize];
            let value = base.wrapping_add(i64::from(offset.0) as u64);
            warp.set_wide(*dst, act, &[value; LANES]);
        }
        Op::ToGeneric { space, dst, src } => {
            let space = *space;
            let value = map(&warp.wide(*src), |address| access::to_generic(space, address));
            warp.set_wide(*dst, act, &value);
        }
        Op::FromGeneric { space, dst, src } => {
            let space = *space;
            let value = map(&warp.wide(*src), |address| access::from_generic(space, address));
            warp.set_wide(*dst, act, &value);
        }
        Op::Pred { op, dst, a, b } => {
            let value = alu::predicate(*op, warp.predicate(*a), warp.predicate(*b));
            warp.set_predicate(*dst, act, value);
        }
        Op::PredSet { dst, value } => {
            warp.set_predicate(*dst, act, if *value != 0 { Mask::MAX } else { 0 });
        }
        Op::PredMov { dst, src } => warp.set_predicate(*dst, act, warp.predicate(*src)),
        Op::PredNot { dst, src } => warp.set_predicate(*dst, act, !warp.predicate(*src)),
        Op::PredSel { dst, a, b, cond } => {
            let cond = warp.predicate(*cond);
            let value = warp.predicate(*a) & cond | warp.predicate(*b) & !cond;
            warp.set_predicate(*dst, act, value);
        }
        Op::PredWord { dst, src } => {
            let value = alu::spread(warp.predicate(*src));
            warp.set_word(*dst, act, &value);
        }
        op => return float::compute(warp, op, act),
    }
    true
}

fn bfi(bits: u32, a: &Wides, b: &Wides, position: &Words, length: &Words) -> Wides {
    std::array::from_fn(|lane| integer::bfi(bits, a[lane], b[lane], position[lane], length[lane]))
}

fn special_register(
    special: Special,
    warp: usize,
    context: &Context<'_>,
    place: &Place<'_>,
) -> Words {
    let machine = &context.program.machine;
    let [x, y, _] = context.block;
    let thread = |lane: usize| (warp * LANES + lane) as u32;
    let lanes = |f: &dyn Fn(usize) -> u32| -> Words { std::array::from_fn(f) };
    let same = |value: u32| [value; LANES];
    match special {
        Special::TidX => lanes(&|lane| thread(lane) % x),
        Special::TidY => lanes(&|lane| thread(lane) / x % y),
        Special::TidZ => lanes(&|lane| thread(lane) / x / y),
        Special::NtidX => same(context.block[0]),
        Special::NtidY => same(context.block[1]),
        Special::NtidZ => same(context.block[2]),
        Special::CtaidX => same(place.index[0]),
        Special::CtaidY => same(place.index[1]),
        Special::CtaidZ => same(place.index[2]),
        Special::NctaidX => same(context.grid[0]),
        Special::NctaidY => same(context.grid[1]),
        Special::NctaidZ => same(context.grid[2]),
        Special::Laneid => lanes(&|lane| lane as u32),
        Special::Warpid => same(warp as u32),
        Special::Nwarpid => same(machine.limits.core_warps),
        Special::Smid => same(place.core),
        Special::Nsmid => same(machine.limits.cores),
        Special::LanemaskEq => lanes(&|lane| 1 << lane),
        Special::LanemaskLe => lanes(&|lane| u32::MAX >> (31 - lane)),
        Special::LanemaskLt => lanes(&|lane| (1 << lane) - 1),
        Special::LanemaskGe => lanes(&|lane| u32::MAX << lane),
        Special::LanemaskGt => lanes(&|lane| (u32::MAX - 1) << lane),
        Special::Clock | Special::GlobaltimerLo => same(place.clock as u32),
        Special::ClockHi | Special::GlobaltimerHi => same((place.clock >> 32) as u32),
        Special::TotalSmemSize => same(place.shared.len() as u32),
        Special::DynamicSmemSize => same(context.dynamic_shared),
        Special::GrididLo => same(context.number as u32),
        Special::Zero => same(0),
    }
}
