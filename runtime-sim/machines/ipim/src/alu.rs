//! What the operations compute, on one word and on the lanes of a vault's engines.
//!
//! The lanes of all engines lie side by side, so that one operation is one loop that
//! the compiler vectorises. Floats are IEEE binary32 as the host computes them, with
//! one exception: a NaN result is always the same NaN, since the host's choice among
//! NaNs depends on how the loop was compiled.

use std::ops::{Deref, DerefMut};

use nbcc_isa_ipim::{CompOp, FloatOp, IntOp, LANES};

/// Engines of a vault: bits of the engine mask.
pub const ENGINES: usize = 32;
/// Lanes of a vault: lane `l` of engine `e` is `e * LANES + l`.
pub const VAULT_LANES: usize = ENGINES * LANES;

/// A DataRF entry of every engine, where the widest registers of hosts find it in whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Lanes(pub [u32; VAULT_LANES]);

impl Lanes {
    /// Zero everywhere.
    pub const ZERO: Lanes = Lanes([0; VAULT_LANES]);
}

impl Deref for Lanes {
    type Target = [u32; VAULT_LANES];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Lanes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
/// An AddrRF entry of every engine.
pub type Words = [u32; ENGINES];

/// The NaN that computations yield.
const NAN: u32 = 0x7fc0_0000;

/// Each engine's first lane in all its lanes.
#[inline(always)]
pub fn first_lanes(lanes: &Lanes) -> Lanes {
    let mut out = Lanes::ZERO;
    for (out, lanes) in out.as_chunks_mut().0.iter_mut().zip(lanes.as_chunks::<LANES>().0) {
        *out = [lanes[0]; LANES];
    }
    out
}

/// `a` with all but its `n` least significant bits cleared.
#[inline(always)]
fn crop_lsb(a: u32, n: u32) -> u32 {
    a & 1_u32.checked_shl(n).map_or(u32::MAX, |bit| bit - 1)
}

/// `a` with all but its `n` most significant bits cleared.
#[inline(always)]
fn crop_msb(a: u32, n: u32) -> u32 {
    a & !u32::MAX.checked_shr(n).unwrap_or(0)
}

#[inline(always)]
fn shl(a: u32, n: u32) -> u32 {
    a.checked_shl(n).unwrap_or(0)
}

#[inline(always)]
fn shr(a: u32, n: u32) -> u32 {
    a.checked_shr(n).unwrap_or(0)
}

#[inline(always)]
fn sra(a: u32, n: u32) -> u32 {
    ((a as i32) >> n.min(31)) as u32
}

#[inline(always)]
fn float(f: impl Fn(f32, f32) -> f32) -> impl Fn(u32, u32) -> u32 {
    move |a, b| canonical(f(f32::from_bits(a), f32::from_bits(b)))
}

#[inline(always)]
fn canonical(value: f32) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

/// An integer operation on one word; `old` is what the destination held.
#[inline]
pub fn int_op(op: IntOp, old: u32, a: u32, b: u32) -> u32 {
    match op {
        IntOp::Add => a.wrapping_add(b),
        IntOp::Sub => a.wrapping_sub(b),
        IntOp::Mul => a.wrapping_mul(b),
        IntOp::Mac => old.wrapping_add(a.wrapping_mul(b)),
        IntOp::Shl => shl(a, b),
        IntOp::Shr => shr(a, b),
        IntOp::Sra => sra(a, b),
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::CropLsb => crop_lsb(a, b),
        IntOp::CropMsb => crop_msb(a, b),
    }
}

/// Lanes that are computed together: as many as the widest registers of a host hold. They are read
/// before any is written, so that the compiler need not know whether the three are one.
const TOGETHER: usize = 16;

#[inline(always)]
fn map3<const N: usize>(
    out: &mut [u32; N],
    a: &[u32; N],
    b: &[u32; N],
    f: impl Fn(u32, u32, u32) -> u32,
) {
    let (a, b) = (a.as_chunks::<TOGETHER>().0, b.as_chunks::<TOGETHER>().0);
    for (out, (a, b)) in out.as_chunks_mut::<TOGETHER>().0.iter_mut().zip(a.iter().zip(b)) {
        let (old, a, b) = (*out, *a, *b);
        for lane in 0..TOGETHER {
            out[lane] = f(old[lane], a[lane], b[lane]);
        }
    }
}

#[inline(always)]
fn map<const N: usize>(
    out: &mut [u32; N],
    a: &[u32; N],
    b: &[u32; N],
    f: impl Fn(u32, u32) -> u32,
) {
    map3(out, a, b, |_, a, b| f(a, b));
}

/// As `map`, for operations whose second operand the host can only take from a
/// scalar: nearly always all lanes agree on it.
#[inline(always)]
fn map_amount<const N: usize>(
    out: &mut [u32; N],
    a: &[u32; N],
    b: &[u32; N],
    f: impl Fn(u32, u32) -> u32,
) {
    let amount = b[0];
    let mut difference = 0;
    for lane in b {
        difference |= lane ^ amount;
    }
    if difference != 0 {
        return map(out, a, b, f);
    }
    map(out, a, b, |a, _| f(a, amount));
}

/// An integer operation on all lanes; `out` holds what the destination held.
#[inline(always)]
pub fn int_lanes<const N: usize>(op: IntOp, out: &mut [u32; N], a: &[u32; N], b: &[u32; N]) {
    match op {
        IntOp::Add => map(out, a, b, u32::wrapping_add),
        IntOp::Sub => map(out, a, b, u32::wrapping_sub),
        IntOp::Mul => map(out, a, b, u32::wrapping_mul),
        IntOp::Mac => map3(out, a, b, |old, a, b| old.wrapping_add(a.wrapping_mul(b))),
        IntOp::Shl => map_amount(out, a, b, shl),
        IntOp::Shr => map_amount(out, a, b, shr),
        IntOp::Sra => map_amount(out, a, b, sra),
        IntOp::And => map(out, a, b, |a, b| a & b),
        IntOp::Or => map(out, a, b, |a, b| a | b),
        IntOp::Xor => map(out, a, b, |a, b| a ^ b),
        IntOp::CropLsb => map_amount(out, a, b, crop_lsb),
        IntOp::CropMsb => map_amount(out, a, b, crop_msb),
    }
}

/// An operation of `comp` on all lanes; `out` holds what the destination held.
#[inline(always)]
pub fn comp_lanes(op: CompOp, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    match op {
        CompOp::Int(op) => int_lanes(op, out, a, b),
        CompOp::Float(FloatOp::Add) => map(out, a, b, float(|a, b| a + b)),
        CompOp::Float(FloatOp::Sub) => map(out, a, b, float(|a, b| a - b)),
        CompOp::Float(FloatOp::Mul) => map(out, a, b, float(|a, b| a * b)),
        CompOp::Float(FloatOp::Mac) => map3(out, a, b, |old, a, b| {
            let product = f32::from_bits(a) * f32::from_bits(b);
            canonical(f32::from_bits(old) + product)
        }),
    }
}

/// By set of lanes, the bits that an operation on these lanes keeps.
static KEPT: [Lanes; 1 << LANES] = {
    let mut kept = [Lanes::ZERO; 1 << LANES];
    let mut at = 0;
    while at < VAULT_LANES << LANES {
        let (lanes, lane) = (at / VAULT_LANES, at % VAULT_LANES);
        kept[lanes].0[lane] = if lanes >> (lane % LANES) & 1 != 0 { 0 } else { u32::MAX };
        at += 1;
    }
    kept
};

/// Puts into `out` what `old` has in the lanes of every engine that are not among `lanes`.
#[inline(always)]
pub fn keep_lanes(out: &mut Lanes, old: &Lanes, lanes: u8) {
    let kept = &KEPT[usize::from(lanes)];
    map3(out, old, kept, |new, old, kept| new & !kept | old & kept);
}
