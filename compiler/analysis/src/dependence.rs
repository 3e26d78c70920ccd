//! Which accesses to memory objects touch the same element: within one pass through the code, and
//! between two iterations of a loop.
//!
//! Subscripts are linear forms modulo 2^32. An access that does not trap has subscripts between 0
//! and 2^31, so the difference of two forms, as a signed number, is the true distance between the
//! elements. Two accesses overlap where the distance is 0 in every dimension, or, along the
//! fastest one, less than their lanes.

use nbcc_ir::{Function, Inst, Mem, Op, Value};

use crate::affine::{Affine, AffineForms};

/// A load from or a store to a memory object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The instruction.
    pub inst: Inst,
    /// The memory object.
    pub mem: Mem,
    /// The first element's subscripts, the fastest dimension first.
    pub subscripts: Vec<Affine>,
    /// Elements along the fastest dimension.
    pub lanes: u8,
    /// Whether it is a store.
    pub is_store: bool,
}

impl Access {
    /// An instruction as an access; none where it is neither [`Op::Load`] nor [`Op::Store`].
    pub fn of(func: &Function, forms: &AffineForms, inst: Inst) -> Option<Access> {
        let (mem, subscripts, lanes, is_store) = match &func.insts[inst].op {
            Op::Load(ty, mem, subscripts) => (*mem, subscripts, ty.lanes, false),
            Op::Store(mem, subscripts, value) => (*mem, subscripts, func.ty(*value).lanes, true),
            _ => return None,
        };
        let subscripts = subscripts.iter().map(|&v| forms.get(v)).collect();
        Some(Access { inst, mem, subscripts, lanes, is_store })
    }
}

/// Whether two accesses touch a common element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// They never do.
    Never,
    /// They always do.
    Always,
    /// It is not known.
    Maybe,
}

/// Whether two accesses touch a common element where every value in their subscripts is the same
/// for both, as in one pass through a block. Memory objects do not overlap each other.
pub fn overlap(a: &Access, b: &Access) -> Overlap {
    if a.mem != b.mem {
        return Overlap::Never;
    }
    let mut overlap = Overlap::Always;
    for (dim, (x, y)) in a.subscripts.iter().zip(&b.subscripts).enumerate() {
        let window = window(dim, a, b);
        let difference = y.plus(x, -1);
        match difference.as_constant() {
            Some(distance) if window.contains(&distance) => {}
            Some(_) => return Overlap::Never,
            None if !may_be_in(&difference, &window) => return Overlap::Never,
            None => overlap = Overlap::Maybe,
        }
    }
    overlap
}

/// Between which iterations of a loop two accesses touch a common element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distances {
    /// Between any; nothing is known.
    Any,
    /// Only where the second access runs this many iterations behind the first (before it, where
    /// negative). In order; empty where they never do.
    Only(Vec<i64>),
}

/// Between which iterations of one loop the two accesses may touch a common element.
///
/// `counter` is a header parameter that changes by `step` each iteration. `is_invariant` says
/// which values do not change in the loop. Distances of `within` iterations or more are not looked
/// at: the trip count, where it is known.
pub fn distances(
    a: &Access,
    b: &Access,
    counter: Value,
    step: i32,
    within: u64,
    is_invariant: impl Fn(Value) -> bool,
) -> Distances {
    if a.mem != b.mem {
        return Distances::Only(vec![]);
    }
    let mut all = Distances::Any;
    for (dim, (x, y)) in a.subscripts.iter().zip(&b.subscripts).enumerate() {
        let window = window(dim, a, b);
        let here = along(x, y, counter, step, within, &window, &is_invariant);
        all = match (all, here) {
            (Distances::Any, other) | (other, Distances::Any) => other,
            (Distances::Only(mut list), Distances::Only(other)) => {
                list.retain(|n| other.contains(n));
                Distances::Only(list)
            }
        };
    }
    all
}

/// The distances that one dimension allows.
fn along(
    x: &Affine,
    y: &Affine,
    counter: Value,
    step: i32,
    within: u64,
    window: &std::ops::RangeInclusive<i32>,
    is_invariant: &impl Fn(Value) -> bool,
) -> Distances {
    let (c, d) = (x.coefficient(counter), y.coefficient(counter));
    let (x, y) = (x.without(counter), y.without(counter));
    let is_fixed = |form: &Affine| form.terms.iter().all(|&(v, _)| is_invariant(v));
    if !is_fixed(&x) || !is_fixed(&y) {
        // What changes in another way may be anything that its coefficients allow.
        let mut free = Affine::constant(y.constant.wrapping_sub(x.constant));
        free.terms = [x.terms, y.terms, vec![(counter, c), (counter, d)]].concat();
        return if may_be_in(&free, window) { Distances::Any } else { Distances::Only(vec![]) };
    }
    let difference = y.plus(&x, -1);
    let Some(distance) = difference.as_constant() else {
        let mut free = difference;
        free.terms.extend([(counter, c), (counter, d)]);
        return if may_be_in(&free, window) { Distances::Any } else { Distances::Only(vec![]) };
    };
    if c != d {
        // c * i and d * j in different iterations i and j.
        let free = Affine { terms: vec![(counter, c), (counter, d)], constant: distance };
        return if may_be_in(&free, window) { Distances::Any } else { Distances::Only(vec![]) };
    }
    let stride = c.wrapping_mul(step);
    if stride == 0 {
        let hit = window.contains(&distance);
        return if hit { Distances::Any } else { Distances::Only(vec![]) };
    }
    // distance + stride * n = w modulo 2^32 for each w of the window: the odd part of the stride
    // has an inverse, and n is known modulo 2^(32 - zeros).
    let zeros = stride.trailing_zeros();
    let period = 1i64 << (32 - zeros);
    if within >= period as u64 / 2 {
        return Distances::Any;
    }
    let inverse = inverse_of_odd((stride >> zeros) as u32);
    let mut list = Vec::new();
    for w in window.clone() {
        let rest = w.wrapping_sub(distance) as u32;
        if rest.trailing_zeros() < zeros {
            continue;
        }
        let n = i64::from((rest >> zeros).wrapping_mul(inverse)) & (period - 1);
        let n = if n >= period / 2 { n - period } else { n };
        if n.unsigned_abs() < within {
            list.push(n);
        }
    }
    list.sort_unstable();
    list.dedup();
    Distances::Only(list)
}

/// The distances from `a` to `b` in a dimension at which they overlap.
fn window(dim: usize, a: &Access, b: &Access) -> std::ops::RangeInclusive<i32> {
    if dim == 0 { 1 - i32::from(b.lanes)..=i32::from(a.lanes) - 1 } else { 0..=0 }
}

/// Whether a form over values that may be anything can be in a window: modulo the greatest power
/// of two that divides all coefficients it is its constant.
fn may_be_in(form: &Affine, window: &std::ops::RangeInclusive<i32>) -> bool {
    let zeros = form.terms.iter().map(|&(_, n)| n.trailing_zeros()).min().unwrap_or(32);
    let mask = ((1u64 << zeros) - 1) as u32;
    window.clone().any(|w| (w.wrapping_sub(form.constant) as u32) & mask == 0)
}

/// The inverse of an odd number modulo 2^32, by Newton's iteration: each step doubles the number
/// of right bits, and a number is its own inverse modulo 8.
fn inverse_of_odd(odd: u32) -> u32 {
    let mut inverse = odd;
    for _ in 0..4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}
