//! Instructions that access memory or call the host.

use crate::{LANES, Mask, lanes_of};
use nbcc_isa_simt::operands::{Access, AtomOp, AtomType, Base, Order, Space};
use nbcc_isa_simt::{Op, PhysReg};

use crate::machine::access::{
    self, LaneFault, Shape, Spaces, atomic_operation, atomic_result, atomic_type, atomic_wide_type,
};
use crate::machine::ahead::Change;
use crate::machine::alu::{map, map2, truncate};
use crate::machine::context::{Context, Place, State, first};
use crate::machine::fault::FaultKind;
use crate::machine::printf;
use crate::machine::warp::{MAX_REGISTERS, Warp, Wides};

/// The registers and the shape of a load or store.
fn shape(access: Access, count: usize) -> Shape {
    let signed = matches!(access, Access::S8 | Access::S16);
    Shape { unit: access.bytes() as usize, count, signed }
}

const fn words(count: usize) -> Shape {
    Shape { unit: 4, count, signed: false }
}

/// Executes loads, stores, atomic operations and calls of the host; tells whether it is that.
pub fn transfer(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    context: &Context<'_>,
    place: &mut Place<'_>,
    state: &mut State<'_>,
) -> Result<bool, LaneFault> {
    with_spaces(warp, context, place, state, |warp, spaces, output| {
        access_memory(warp, op, act, spaces, output)
    })
}

/// Executes a load again whose addresses are known: its registers get what is there now.
pub fn load_again(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    addresses: &Wides,
    context: &Context<'_>,
    place: &mut Place<'_>,
    state: &mut State<'_>,
) -> Result<(), LaneFault> {
    with_spaces(warp, context, place, state, |warp, spaces, _| {
        load_from(warp, op, act, spaces, addresses)
    })
}

/// Gives the memories that a warp sees.
#[inline(always)]
fn with_spaces<T>(
    warp: &mut Warp,
    context: &Context<'_>,
    place: &mut Place<'_>,
    state: &mut State<'_>,
    access: impl FnOnce(&mut Warp, &mut Spaces<'_>, &mut Vec<u8>) -> T,
) -> T {
    // Local memory is taken out so that registers and memory can be seen together.
    let mut local = std::mem::take(&mut warp.local);
    let mut spaces = Spaces {
        memory: state.memory.again(),
        shared: place.shared,
        local: &mut local,
        local_bytes: context.kernel.local_bytes,
        params: context.params,
        near: &mut state.near,
    };
    let result = access(warp, &mut spaces, state.output);
    warp.local = local;
    result
}

/// Whether a loop of such accesses may wait for other threads.
pub fn polls(op: &Op<PhysReg>) -> bool {
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
        Op::Ld { base, offset, .. }
        | Op::Ld2 { base, offset, .. }
        | Op::Ld4 { base, offset, .. }
        | Op::Ld8 { base, offset, .. }
        | Op::LdWide { base, offset, .. }
        | Op::LdWide2 { base, offset, .. }
        | Op::LdWide4 { base, offset, .. } => {
            let addresses = warp.addresses(base, offset.0);
            load_from(warp, op, act, spaces, &addresses)?;
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
        Op::Atom { .. }
        | Op::Red { .. }
        | Op::AtomWide { .. }
        | Op::RedWide { .. }
        | Op::AtomCas { .. }
        | Op::AtomCasWide { .. } => atomic(warp, op, act, spaces)?,
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

/// Executes an atomic operation.
fn atomic(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    spaces: &mut Spaces<'_>,
) -> Result<(), LaneFault> {
    match op {
        Op::Atom { op, ty, space, dst, base, offset, src, .. } => {
            let old = change(warp, spaces, (*op, *ty, *space), base, offset.0, act, *src)?;
            warp.set_word(*dst, act, &truncate(&old));
        }
        Op::Red { op, ty, space, base, offset, src, .. } => {
            let (bytes, op, ty) = (ty.bytes() as usize, atomic_operation(*op), atomic_type(*ty));
            let addresses = warp.addresses(base, offset.0);
            let operand = warp.word(*src);
            let cut = u64::MAX >> (64 - 8 * bytes);
            spaces.reduce(*space, &addresses, act, |lane| Change {
                op,
                ty,
                bytes,
                operand: u64::from(operand[lane]) & cut,
            })?;
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
            spaces.reduce(*space, &addresses, act, |lane| Change {
                op,
                ty,
                bytes: 8,
                operand: operand[lane],
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
        op => panic!("`{op}` is no atomic operation"),
    }
    Ok(())
}

/// Executes a load with its addresses.
fn load_from(
    warp: &mut Warp,
    op: &Op<PhysReg>,
    act: Mask,
    spaces: &mut Spaces<'_>,
    addresses: &Wides,
) -> Result<(), LaneFault> {
    match op {
        Op::Ld { space, access, dst, .. } => {
            load(warp, spaces, *space, *access, addresses, act, [*dst])?;
        }
        Op::Ld2 { space, access, dst0, dst1, .. } => {
            load(warp, spaces, *space, *access, addresses, act, [*dst0, *dst1])?;
        }
        Op::Ld4 { space, access, dst0, dst1, dst2, dst3, .. } => {
            let dsts = [*dst0, *dst1, *dst2, *dst3];
            load(warp, spaces, *space, *access, addresses, act, dsts)?;
        }
        Op::Ld8 { space, access, dst0, dst1, dst2, dst3, dst4, dst5, dst6, dst7, .. } => {
            let dsts = [*dst0, *dst1, *dst2, *dst3, *dst4, *dst5, *dst6, *dst7];
            load(warp, spaces, *space, *access, addresses, act, dsts)?;
        }
        Op::LdWide { space, dst, .. } => {
            load_wide(warp, spaces, *space, addresses, act, [*dst])?;
        }
        Op::LdWide2 { space, dst0, dst1, .. } => {
            load_wide(warp, spaces, *space, addresses, act, [*dst0, *dst1])?;
        }
        Op::LdWide4 { space, dst0, dst1, dst2, dst3, .. } => {
            let dsts = [*dst0, *dst1, *dst2, *dst3];
            load_wide(warp, spaces, *space, addresses, act, dsts)?;
        }
        op => panic!("`{op}` is no load"),
    }
    Ok(())
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
    let mut values = [&halves[0][0]; MAX_REGISTERS];
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
