//! One warp goes ahead: instruction after instruction for the threads of its current path, until
//! it has used up its turn, waits, or threads of it end.

use nbcc_isa::Imm;
use nbcc_isa_mpu::operands::{
    Access, ApproxDivOp, ApproxWideOp, AtomOp, AtomType, Base, Format as IsaFormat, NumType, Order,
    Sign, Source, Space, Special, SpecialWide, SyncMode,
};
use nbcc_isa_mpu::{INSTRUCTION_BYTES, Kernel, NO_RECONVERGENCE, Op, PhysReg, Program};
use nbcc_sim_simt::approx;
use nbcc_sim_simt::convert::convert;
use nbcc_sim_simt::float as arithmetic;
use nbcc_sim_simt::format::Format;
use nbcc_sim_simt::integer;
use nbcc_sim_simt::memory::Memory;
use nbcc_sim_simt::paths::NEVER;
use nbcc_sim_simt::{LANES, Mask, Words, lanes_of, simd};

use crate::access::{
    self, LaneFault, MOST, Shape, Spaces, atomic_operation, atomic_result, atomic_type,
    atomic_wide_type,
};
use crate::alu::{self, extend, map, map2, map3, test2, truncate};
use crate::collective::{self, Pending};
use crate::fault::FaultKind;
use crate::float;
use crate::printf;
use crate::statistics::Counters;
use crate::warp::{Warp, Wides};

/// What all blocks of a launch share.
pub struct Context<'a> {
    /// The program.
    pub program: &'a Program,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Where its data objects lie.
    pub objects: &'a [u64],
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Parameters.
    pub params: &'a [u8],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The number of the launch.
    pub number: u64,
}

/// What a launch changes.
pub struct State<'a> {
    /// Memory of the machine.
    pub memory: &'a mut Memory,
    /// What is counted.
    pub counters: &'a mut Counters,
    /// What the program prints.
    pub output: &'a mut Vec<u8>,
    /// The allocation that was used last.
    pub near: usize,
}

/// The block of a warp.
pub struct Place<'a> {
    /// Its position in the grid.
    pub index: [u32; 3],
    /// The core.
    pub core: u32,
    /// Its shared memory.
    pub shared: &'a mut [u8],
}

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its turn is over.
    Paused,
    /// All its paths wait, or it has ended.
    Idle,
    /// Threads of it ended.
    Exited,
    /// The path of these lanes waits at the barrier instruction.
    Barrier {
        /// The instruction.
        pc: u32,
        /// The lanes.
        lanes: Mask,
    },
}

/// A fault: what, at which instruction, in which lane.
pub struct Stopped {
    /// What happened.
    pub kind: FaultKind,
    /// The instruction.
    pub pc: u32,
    /// The lane.
    pub lane: usize,
}

fn target(imm: Imm) -> u32 {
    match imm {
        Imm::Value(NO_RECONVERGENCE) => NEVER,
        Imm::Value(bytes) => bytes as u32 / INSTRUCTION_BYTES,
        Imm::Label(label) => panic!("label {label} in a program that was loaded"),
    }
}

fn first(mask: Mask) -> usize {
    mask.trailing_zeros() as usize % LANES
}

/// Runs a warp for at most `budget` instructions, which is counted down.
pub fn run_warp(
    warp: &mut Warp,
    place: &mut Place<'_>,
    context: &Context<'_>,
    state: &mut State<'_>,
    budget: &mut u64,
) -> Result<Event, Stopped> {
    let text = &context.program.text[..];
    loop {
        let Some((mut pc, mask, reconverge)) = warp.paths.current() else {
            return Ok(Event::Idle);
        };
        loop {
            if *budget == 0 {
                warp.paths.go(pc);
                return Ok(Event::Paused);
            }
            *budget -= 1;
            let inst = &text[pc as usize];
            let act = warp.guarded(&inst.guard, mask);
            state.counters.issue(pc, act);
            let mut next = pc + 1;
            match &inst.op {
                Op::Bra { target: to, reconverge: meet } => {
                    if act == mask {
                        next = target(*to);
                    } else if act != 0 {
                        state.counters.divergent += 1;
                        warp.paths.branch(act, target(*to), next, target(*meet));
                        break;
                    }
                }
                _ if act == 0 => {}
                Op::Exit {} => {
                    warp.paths.exit(act);
                    if act != mask {
                        warp.paths.go(next);
                    }
                    release_pending(warp, context);
                    return Ok(Event::Exited);
                }
                Op::Trap { message } => {
                    let text = context.program.messages[*message as usize].clone();
                    return Err(Stopped { kind: FaultKind::Trap(text), pc, lane: first(act) });
                }
                Op::Brkpt {} => {
                    return Err(Stopped { kind: FaultKind::Breakpoint, pc, lane: first(act) });
                }
                Op::Bar { .. } | Op::BarArrive { .. } | Op::BarPopc { .. } | Op::BarRed { .. } => {
                    if act != mask {
                        warp.paths.split(act, next);
                    }
                    warp.paths.block(next);
                    return Ok(Event::Barrier { pc, lanes: act });
                }
                Op::Shfl { .. }
                | Op::Vote { .. }
                | Op::Ballot { .. }
                | Op::MatchAny { .. }
                | Op::MatchAnyWide { .. }
                | Op::MatchAll { .. }
                | Op::MatchAllWide { .. }
                | Op::Redux { .. }
                | Op::WarpSync { .. } => {
                    if !together(warp, context, &inst.op, pc, act, mask) {
                        break;
                    }
                }
                Op::ActiveMask { dst } => warp.set_word(*dst, act, &[act; LANES]),
                Op::Nanosleep { .. } | Op::Fence { .. } => {}
                op => {
                    let spent = state.counters.cores[place.core as usize];
                    let done = compute(warp, op, act, context, place, spent)
                        || memory(warp, op, act, context, place, state)
                            .map_err(|(lane, kind)| Stopped { kind, pc, lane })?;
                    assert!(done, "`{inst}` has no meaning");
                }
            }
            pc = next;
            if pc == reconverge {
                warp.paths.go(pc);
                break;
            }
        }
    }
}

/// An operation among lanes: done at once where all are here, which is told; else the path waits.
fn together(
    warp: &mut Warp,
    context: &Context<'_>,
    op: &Op<PhysReg>,
    pc: u32,
    act: Mask,
    mask: Mask,
) -> bool {
    let text = &context.program.text;
    let op_at = |pc: u32| &text[pc as usize].op;
    let Some((key, named)) = collective::key(op) else { return true };
    let legacy = matches!(
        op,
        Op::Shfl { sync: SyncMode::Legacy, .. }
            | Op::Vote { sync: SyncMode::Legacy, .. }
            | Op::Ballot { sync: SyncMode::Legacy, .. }
    );
    if legacy {
        collective::perform(warp, key, &[(act, pc)], op_at);
        return true;
    }
    let words = warp.source(named);
    let named = words[first(act)];
    let same = lanes_of(act).filter(|lane| words[*lane] == named).fold(0, |m, l| m | 1 << l);
    let waiting = warp.pending.iter().position(|p| p.named == named && p.key == key);
    if same == act && waiting.is_none() && named & warp.paths.live() & !act == 0 {
        collective::perform(warp, key, &[(act, pc)], op_at);
        return true;
    }
    if same != act {
        // Lanes with other masks, and those whose guard does not hold, try it again.
        warp.paths.split(same, pc);
    } else if act != mask {
        warp.paths.split(same, pc + 1);
    }
    warp.paths.block(pc + 1);
    match waiting {
        Some(index) => warp.pending[index].parts.push((same, pc)),
        None => warp.pending.push(Pending { named, key, parts: vec![(same, pc)] }),
    }
    release_pending(warp, context);
    false
}

/// Does what waits for lanes that are all there by now.
fn release_pending(warp: &mut Warp, context: &Context<'_>) {
    let mut index = 0;
    while index < warp.pending.len() {
        let pending = &warp.pending[index];
        if pending.named & warp.paths.live() & !pending.arrived() == 0 {
            let pending = warp.pending.remove(index);
            let text = &context.program.text;
            collective::perform(warp, pending.key, &pending.parts, |pc| &text[pc as usize].op);
            warp.paths.wake(pending.arrived());
        } else {
            index += 1;
        }
    }
}

/// Executes what depends on registers and the place of the thread only; tells whether it is that.
#[inline(always)]
fn compute(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    context: &Context<'_>,
    place: &Place<'_>,
    spent: u64,
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
            let value = special_register(*special, warp.number, context, place, spent);
            warp.set_word(*dst, act, &value);
        }
        Op::SregWide { special, dst } => {
            let value = match special {
                // A cycle takes a nanosecond.
                SpecialWide::Clock | SpecialWide::Globaltimer => spent,
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
        op => return compute_float(warp, op, act),
    }
    true
}

fn bfi(bits: u32, a: &Wides, b: &Wides, position: &Words, length: &Words) -> Wides {
    std::array::from_fn(|lane| integer::bfi(bits, a[lane], b[lane], position[lane], length[lane]))
}

/// Executes float arithmetic; tells whether it is that.
fn compute_float(warp: &mut Warp, op: &Op<PhysReg>, act: Mask) -> bool {
    match op {
        Op::Float { op, format, mods, dst, a, b } => {
            let b = warp.source(b);
            let value = arithmetic::binary_lanes(
                float::packing(*format),
                float::binary(*op),
                float::mode(mods),
                warp.word(*a),
                &b,
            );
            warp.set_word(*dst, act, &value);
        }
        Op::FloatWide { op, mods, dst, a, b } => {
            let (op, mode) = (float::binary(*op), float::mode(mods));
            let value = map2(&warp.wide(*a), &warp.double_source(b), |a, b| {
                arithmetic::binary(Format::F64, op, mode, a, b)
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::Fma { format, mods, dst, a, b, c } => {
            let c = warp.source(c);
            let value = arithmetic::fma_lanes(
                float::packing(*format),
                float::mode(mods),
                warp.word(*a),
                warp.word(*b),
                &c,
            );
            warp.set_word(*dst, act, &value);
        }
        Op::FmaWide { mods, dst, a, b, c } => {
            let mode = float::mode(mods);
            let value = map3(&warp.wide(*a), &warp.wide(*b), &warp.double_source(c), |a, b, c| {
                arithmetic::fma(Format::F64, mode, a, b, c)
            });
            warp.set_wide(*dst, act, &value);
        }
        Op::FloatUnary { op, format, mods, dst, a } => {
            let value = arithmetic::unary_lanes(
                float::packing(*format),
                float::unary(*op),
                float::mode(mods),
                warp.word(*a),
            );
            warp.set_word(*dst, act, &value);
        }
        Op::FloatUnaryWide { op, mods, dst, a } => {
            let (op, mode) = (float::unary(*op), float::mode(mods));
            let value = map(&warp.wide(*a), |a| arithmetic::unary(Format::F64, op, mode, a));
            warp.set_wide(*dst, act, &value);
        }
        Op::Approx { op, mods, dst, a } => {
            let (function, packing) = (float::function(*op), float::packing(mods.format));
            let ftz = mods.ftz;
            let value = map(warp.word(*a), |a| {
                packing.map([a], |[a]| approx::approx(packing.format, function, ftz, a))
            });
            warp.set_word(*dst, act, &value);
        }
        Op::ApproxWide { op, dst, a, .. } => {
            let function = match op {
                ApproxWideOp::Rcp => approx::Function::Rcp,
                ApproxWideOp::Rsqrt => approx::Function::Rsqrt,
            };
            let value = map(&warp.wide(*a), |a| approx::approx_wide(function, a));
            warp.set_wide(*dst, act, &value);
        }
        Op::ApproxDiv { op, mods, dst, a, b } => {
            let (full, ftz) = (*op == ApproxDivOp::Full, mods.ftz);
            let value = map2(warp.word(*a), &warp.source(b), |a, b| {
                approx::divide(full, ftz, a.into(), b.into()) as u32
            });
            warp.set_word(*dst, act, &value);
        }
        Op::FloatCmp { test, mods, dst, a, b } => {
            let (test, format) = (float::test(*test), float::packing(mods.format).format);
            let cut = if format == Format::F32 { u32::MAX } else { 0xffff };
            let ftz = mods.ftz;
            let value = test2(warp.word(*a), &warp.source(b), |a, b| {
                arithmetic::compare(format, test, ftz, (a & cut).into(), (b & cut).into())
            });
            warp.set_predicate(*dst, act, value);
        }
        Op::FloatCmpWide { test, dst, a, b } => {
            let test = float::test(*test);
            let value = test2(&warp.wide(*a), &warp.double_source(b), |a, b| {
                test.holds(f64::from_bits(a), f64::from_bits(b))
            });
            warp.set_predicate(*dst, act, value);
        }
        Op::FloatCmpPacked { test, mods, low, high, a, b } => {
            let (test, format) = (float::test(*test), float::packing(mods.format).format);
            let ftz = mods.ftz;
            let (a, b) = (*warp.word(*a), warp.source(b));
            for (dst, shift) in [(low, 0), (high, 16)] {
                let value = test2(&a, &b, |a, b| {
                    let half = |x: u32| u64::from(x >> shift & 0xffff);
                    arithmetic::compare(format, test, ftz, half(a), half(b))
                });
                warp.set_predicate(*dst, act, value);
            }
        }
        Op::Copysign { dst, a, b } => {
            let sign = 1 << 31;
            let value = map2(warp.word(*a), &warp.source(b), |a, b| a & sign | b & !sign);
            warp.set_word(*dst, act, &value);
        }
        Op::CopysignWide { dst, a, b } => {
            let sign = 1 << 63;
            let value = map2(&warp.wide(*a), &warp.double_source(b), |a, b| a & sign | b & !sign);
            warp.set_wide(*dst, act, &value);
        }
        Op::Testp { property, dst, a } => {
            let property = float::property(*property);
            let a = warp.word(*a);
            let value =
                test2(a, a, |a, _| arithmetic::has_property(Format::F32, property, a.into()));
            warp.set_predicate(*dst, act, value);
        }
        Op::TestpWide { property, dst, a } => {
            let property = float::property(*property);
            let a = warp.wide(*a);
            let value = test2(&a, &a, |a, _| arithmetic::has_property(Format::F64, property, a));
            warp.set_predicate(*dst, act, value);
        }
        Op::Cvt { to, from, mods, dst, src } => {
            let (conversion, from) = (float::conversion(*to, *from, mods), *from);
            let value = map(warp.word(*src), |x| {
                convert(&conversion, float::operand(from, x.into())) as u32
            });
            warp.set_word(*dst, act, &value);
        }
        Op::CvtWiden { to, from, mods, dst, src } => {
            let (conversion, from) = (float::conversion(*to, *from, mods), *from);
            let value =
                map(warp.word(*src), |x| convert(&conversion, float::operand(from, x.into())));
            warp.set_wide(*dst, act, &value);
        }
        Op::CvtNarrow { to, from, mods, dst, src } => {
            let conversion = float::conversion(*to, *from, mods);
            let value = map(&warp.wide(*src), |x| convert(&conversion, x) as u32);
            warp.set_word(*dst, act, &value);
        }
        Op::CvtWide { to, from, mods, dst, src } => {
            let conversion = float::conversion(*to, *from, mods);
            let value = map(&warp.wide(*src), |x| convert(&conversion, x));
            warp.set_wide(*dst, act, &value);
        }
        Op::CvtPack { to, mods, dst, a, b } => {
            let to = match to {
                IsaFormat::Bf16 | IsaFormat::Bf16x2 => NumType::Bf16,
                IsaFormat::F16 | IsaFormat::F16x2 | IsaFormat::F32 => NumType::F16,
            };
            let conversion = float::conversion(to, NumType::F32, mods);
            let value = map2(warp.word(*a), &warp.source(b), |a, b| {
                let half = |x: u32| convert(&conversion, x.into()) as u32 & 0xffff;
                half(a) << 16 | half(b)
            });
            warp.set_word(*dst, act, &value);
        }
        _ => return false,
    }
    true
}

fn special_register(
    special: Special,
    warp: usize,
    context: &Context<'_>,
    place: &Place<'_>,
    spent: u64,
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
        Special::Nwarpid => same(machine.core_warps()),
        Special::Smid => same(place.core),
        Special::Nsmid => same(machine.cores()),
        Special::LanemaskEq => lanes(&|lane| 1 << lane),
        Special::LanemaskLe => lanes(&|lane| u32::MAX >> (31 - lane)),
        Special::LanemaskLt => lanes(&|lane| (1 << lane) - 1),
        Special::LanemaskGe => lanes(&|lane| u32::MAX << lane),
        Special::LanemaskGt => lanes(&|lane| (u32::MAX - 1) << lane),
        Special::Clock | Special::GlobaltimerLo => same(spent as u32),
        Special::ClockHi | Special::GlobaltimerHi => same((spent >> 32) as u32),
        Special::TotalSmemSize => same(place.shared.len() as u32),
        Special::DynamicSmemSize => same(context.dynamic_shared),
        Special::GrididLo => same(context.number as u32),
        Special::Zero => same(0),
    }
}

/// The registers and the shape of a load or store.
fn shape(access: Access, count: usize) -> Shape {
    let signed = matches!(access, Access::S8 | Access::S16);
    Shape { unit: access.bytes() as usize, count, signed }
}

const fn words(count: usize) -> Shape {
    Shape { unit: 4, count, signed: false }
}

/// Executes loads, stores, atomic operations and calls of the host; tells whether it is that.
fn memory(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    context: &Context<'_>,
    place: &mut Place<'_>,
    state: &mut State<'_>,
) -> Result<bool, LaneFault> {
    // Local memory is taken out so that registers and memory can be seen together.
    let mut local = std::mem::take(&mut warp.local);
    let mut spaces = Spaces {
        memory: state.memory,
        shared: place.shared,
        local: &mut local,
        params: context.params,
        near: &mut state.near,
    };
    let result = access_memory(warp, op, act, &mut spaces, state.output);
    warp.local = local;
    result
}

/// Whether a loop of such accesses may wait for other threads.
fn polls(op: &Op<PhysReg>) -> bool {
    match op {
        Op::Ld { order, .. } | Op::LdWide { order, .. } => *order != Order::Weak,
        Op::Atom { .. } | Op::AtomWide { .. } | Op::AtomCas { .. } | Op::AtomCasWide { .. } => true,
        _ => false,
    }
}

fn access_memory(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    spaces: &mut Spaces<'_>,
    output: &mut Vec<u8>,
) -> Result<bool, LaneFault> {
    warp.polls |= polls(op);
    match op {
        Op::Ld { space, access, dst, base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            load(warp, spaces, *space, *access, &addresses, act, [*dst])?;
        }
        Op::Ld2 { space, access, dst0, dst1, base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            load(warp, spaces, *space, *access, &addresses, act, [*dst0, *dst1])?;
        }
        Op::Ld4 { space, access, dst0, dst1, dst2, dst3, base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            let dsts = [*dst0, *dst1, *dst2, *dst3];
            load(warp, spaces, *space, *access, &addresses, act, dsts)?;
        }
        Op::Ld8 { space, access, dst0, dst1, dst2, dst3, dst4, dst5, dst6, dst7, base, offset } => {
            let addresses = warp.addresses(base, offset.0);
            let dsts = [*dst0, *dst1, *dst2, *dst3, *dst4, *dst5, *dst6, *dst7];
            load(warp, spaces, *space, *access, &addresses, act, dsts)?;
        }
        Op::LdWide { space, dst, base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            load_wide(warp, spaces, *space, &addresses, act, [*dst])?;
        }
        Op::LdWide2 { space, dst0, dst1, base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            load_wide(warp, spaces, *space, &addresses, act, [*dst0, *dst1])?;
        }
        Op::LdWide4 { space, dst0, dst1, dst2, dst3, base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            let dsts = [*dst0, *dst1, *dst2, *dst3];
            load_wide(warp, spaces, *space, &addresses, act, dsts)?;
        }
        Op::St { space, access, base, offset, src, .. } => {
            let addresses = warp.addresses(base, offset.0);
            store(warp, spaces, *space, *access, &addresses, act, [*src])?;
        }
        Op::St2 { space, access, base, offset, src0, src1, .. } => {
            let addresses = warp.addresses(base, offset.0);
            store(warp, spaces, *space, *access, &addresses, act, [*src0, *src1])?;
        }
        Op::St4 { space, access, base, offset, src0, src1, src2, src3, .. } => {
            let addresses = warp.addresses(base, offset.0);
            let sources = [*src0, *src1, *src2, *src3];
            store(warp, spaces, *space, *access, &addresses, act, sources)?;
        }
        Op::St8 { space, access, base, offset, src0, src1, src2, src3, src4, src5, src6, src7 } => {
            let addresses = warp.addresses(base, offset.0);
            let sources = [*src0, *src1, *src2, *src3, *src4, *src5, *src6, *src7];
            store(warp, spaces, *space, *access, &addresses, act, sources)?;
        }
        Op::StWide { space, base, offset, src, .. } => {
            let addresses = warp.addresses(base, offset.0);
            store_wide(warp, spaces, *space, &addresses, act, [*src])?;
        }
        Op::StWide2 { space, base, offset, src0, src1, .. } => {
            let addresses = warp.addresses(base, offset.0);
            store_wide(warp, spaces, *space, &addresses, act, [*src0, *src1])?;
        }
        Op::StWide4 { space, base, offset, src0, src1, src2, src3, .. } => {
            let addresses = warp.addresses(base, offset.0);
            let sources = [*src0, *src1, *src2, *src3];
            store_wide(warp, spaces, *space, &addresses, act, sources)?;
        }
        Op::Atom { op, ty, space, dst, base, offset, src, .. } => {
            let old = change(warp, spaces, (*op, *ty, *space), base, offset.0, act, *src)?;
            warp.set_word(*dst, act, &truncate(&old));
        }
        Op::Red { op, ty, space, base, offset, src, .. } => {
            change(warp, spaces, (*op, *ty, *space), base, offset.0, act, *src)?;
        }
        Op::AtomWide { op, ty, space, dst, base, offset, src, .. } => {
            let (op, ty) = (atomic_operation(*op), atomic_wide_type(*ty));
            let addresses = warp.addresses(base, offset.0);
            let operand = warp.wide(*src);
            let old = spaces.atomic(*space, 8, &addresses, act, |lane, global, old| {
                atomic_result(op, ty, global, old, operand[lane])
            })?;
            warp.set_wide(*dst, act, &old);
        }
        Op::RedWide { op, ty, space, base, offset, src, .. } => {
            let (op, ty) = (atomic_operation(*op), atomic_wide_type(*ty));
            let addresses = warp.addresses(base, offset.0);
            let operand = warp.wide(*src);
            spaces.atomic(*space, 8, &addresses, act, |lane, global, old| {
                atomic_result(op, ty, global, old, operand[lane])
            })?;
        }
        Op::AtomCas { ty, space, dst, base, offset, expected, new, .. } => {
            let bytes = ty.bytes() as usize;
            let cut = u64::MAX >> (64 - 8 * bytes);
            let addresses = warp.addresses(base, offset.0);
            let (expected, new) = (*warp.word(*expected), *warp.word(*new));
            let old = spaces.atomic(*space, bytes, &addresses, act, |lane, _, old| {
                if old == u64::from(expected[lane]) & cut { new[lane].into() } else { old }
            })?;
            warp.set_word(*dst, act, &truncate(&old));
        }
        Op::AtomCasWide { space, dst, base, offset, expected, new, .. } => {
            let addresses = warp.addresses(base, offset.0);
            let (expected, new) = (warp.wide(*expected), warp.wide(*new));
            let old = spaces.atomic(*space, 8, &addresses, act, |lane, _, old| {
                if old == expected[lane] { new[lane] } else { old }
            })?;
            warp.set_wide(*dst, act, &old);
        }
        Op::IsSpace { space, dst, src } => {
            let addresses = warp.wide(*src);
            let value = lanes_of(act).fold(0, |mask, lane| {
                let (found, address) = access::resolve(addresses[lane]);
                let holds = match space {
                    Space::Generic => true,
                    Space::Const => found == Space::Global && spaces.memory.is_read_only(address),
                    Space::Global => found == Space::Global && !spaces.memory.is_read_only(address),
                    other => found == *other,
                };
                mask | Mask::from(holds) << lane
            });
            warp.set_predicate(*dst, act, value);
        }
        Op::Vprintf { dst, format, arguments } => {
            let (formats, arguments) = (warp.wide(*format), warp.wide(*arguments));
            let mut value = [0; LANES];
            for lane in lanes_of(act) {
                let count = printf::print(spaces, lane, formats[lane], arguments[lane], output)
                    .map_err(|kind| (lane, kind))?;
                value[lane] = count;
            }
            warp.set_word(*dst, act, &value);
        }
        Op::AssertFail { message, file, line, function } => {
            let lane = first(act);
            let [message, file, function] = [message, file, function].map(|reg| {
                let address = warp.wide(*reg)[lane];
                let text = spaces.text(lane, address).unwrap_or_else(|_| b"?".to_vec());
                String::from_utf8_lossy(&text).into_owned()
            });
            let line = warp.word(*line)[lane];
            return Err((lane, FaultKind::Assertion { message, file, line, function }));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn load<const N: usize>(
    warp: &mut Warp,
    spaces: &mut Spaces<'_>,
    space: Space,
    access: Access,
    addresses: &Wides,
    act: Mask,
    dsts: [PhysReg; N],
) -> Result<(), LaneFault> {
    let mut out = [[0; LANES]; N];
    spaces.load(space, shape(access, N), addresses, act, &mut out)?;
    for (dst, value) in dsts.iter().zip(&out) {
        warp.set_word(*dst, act, value);
    }
    Ok(())
}

fn load_wide<const N: usize>(
    warp: &mut Warp,
    spaces: &mut Spaces<'_>,
    space: Space,
    addresses: &Wides,
    act: Mask,
    dsts: [PhysReg; N],
) -> Result<(), LaneFault> {
    let mut out = [[[0; LANES]; 2]; N];
    spaces.load(space, words(2 * N), addresses, act, out.as_flattened_mut())?;
    for (dst, [low, high]) in dsts.iter().zip(&out) {
        let value = map2(low, high, |low, high| u64::from(low) | u64::from(high) << 32);
        warp.set_wide(*dst, act, &value);
    }
    Ok(())
}

fn store<const N: usize>(
    warp: &Warp,
    spaces: &mut Spaces<'_>,
    space: Space,
    access: Access,
    addresses: &Wides,
    act: Mask,
    sources: [PhysReg; N],
) -> Result<(), LaneFault> {
    let values = sources.map(|src| warp.word(src));
    spaces.store(space, shape(access, N), addresses, act, &values)
}

fn store_wide<const N: usize>(
    warp: &Warp,
    spaces: &mut Spaces<'_>,
    space: Space,
    addresses: &Wides,
    act: Mask,
    sources: [PhysReg; N],
) -> Result<(), LaneFault> {
    let halves = sources.map(|src| {
        let value = warp.wide(src);
        [truncate(&value), map(&value, |value| (value >> 32) as u32)]
    });
    let mut values = [&halves[0][0]; MOST];
    for (value, half) in values.iter_mut().zip(halves.as_flattened()) {
        *value = half;
    }
    spaces.store(space, words(2 * N), addresses, act, &values[..2 * N])
}

fn change(
    warp: &Warp,
    spaces: &mut Spaces<'_>,
    (op, ty, space): (AtomOp, AtomType, Space),
    base: &Base<PhysReg>,
    offset: i32,
    act: Mask,
    src: PhysReg,
) -> Result<Wides, LaneFault> {
    let bytes = ty.bytes() as usize;
    let cut = u64::MAX >> (64 - 8 * bytes);
    let (op, ty) = (atomic_operation(op), atomic_type(ty));
    let addresses = warp.addresses(base, offset);
    let operand = warp.word(src);
    spaces.atomic(space, bytes, &addresses, act, |lane, global, old| {
        atomic_result(op, ty, global, old, u64::from(operand[lane]) & cut)
    })
}
