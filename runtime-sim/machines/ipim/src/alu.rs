//! What the operations compute, on one word and on the lanes of a vault's engines.
//!
//! The lanes of all engines lie side by side, so that one operation is one loop that
//! the compiler vectorises. Floats are IEEE binary32 as the host computes them, with
//! one exception: a NaN result is always the same NaN, since the host's choice among
//! NaNs depends on how the loop was compiled.

use nbcc_isa_ipim::{CompOp, FloatOp, IntOp, LANES};

/// Engines of a vault: bits of the engine mask.
pub const ENGINES: usize = 32;
/// Lanes of a vault: lane `l` of engine `e` is `e * LANES + l`.
pub const VAULT_LANES: usize = ENGINES * LANES;

/// A DataRF entry of every engine.
pub type Lanes = [u32; VAULT_LANES];
/// An AddrRF entry of every engine.
pub type Words = [u32; ENGINES];

/// The NaN that computations yield.
const NAN: u32 = 0x7fc0_0000;

/// Each engine's first lane in all its lanes.
pub fn first_lanes(lanes: &Lanes) -> Lanes {
    let mut out = [0; VAULT_LANES];
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

#[inline(always)]
fn map<const N: usize>(
    out: &mut [u32; N],
    a: &[u32; N],
    b: &[u32; N],
    f: impl Fn(u32, u32) -> u32,
) {
    for lane in 0..N {
        out[lane] = f(a[lane], b[lane]);
    }
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
    for lane in 0..N {
        out[lane] = f(a[lane], amount);
    }
}

/// An integer operation on all lanes; `out` holds what the destination held.
pub fn int_lanes<const N: usize>(op: IntOp, out: &mut [u32; N], a: &[u32; N], b: &[u32; N]) {
    match op {
        IntOp::Add => map(out, a, b, u32::wrapping_add),
        IntOp::Sub => map(out, a, b, u32::wrapping_sub),
        IntOp::Mul => map(out, a, b, u32::wrapping_mul),
        IntOp::Mac => {
            for lane in 0..N {
                out[lane] = out[lane].wrapping_add(a[lane].wrapping_mul(b[lane]));
            }
        }
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
pub fn comp_lanes(op: CompOp, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    match op {
        CompOp::Int(op) => int_lanes(op, out, a, b),
        CompOp::Float(FloatOp::Add) => map(out, a, b, float(|a, b| a + b)),
        CompOp::Float(FloatOp::Sub) => map(out, a, b, float(|a, b| a - b)),
        CompOp::Float(FloatOp::Mul) => map(out, a, b, float(|a, b| a * b)),
        CompOp::Float(FloatOp::Mac) => {
            for lane in 0..VAULT_LANES {
                let product = f32::from_bits(a[lane]) * f32::from_bits(b[lane]);
                out[lane] = canonical(f32::from_bits(out[lane]) + product);
            }
        }
    }
}
