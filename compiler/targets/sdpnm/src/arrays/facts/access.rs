//! Loads and stores of a loop: which elements they touch, and at which distances the same ones.

use nbcc_analysis::Affine;
use nbcc_ir::{Block, Inst, Mem, Value};

use super::evolution::{Digit, Evolution};
use crate::arrays::iteration::follow::Followed;
use crate::arrays::iteration::rounds::Limits;

/// A load or a store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The instruction.
    pub inst: Inst,
    /// Its block.
    pub block: Block,
    /// The memory object.
    pub mem: Mem,
    /// The element.
    pub subscript: Subscript,
    /// Bytes of an element.
    pub bytes: u32,
    /// Whether it is that of the high word of an element of 64 bits, which has an access of its own.
    pub is_high: bool,
    /// Whether it is a store.
    pub is_store: bool,
    /// The operation that it became.
    pub node: Option<usize>,
}

/// The number of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// It grows by as much in each iteration, or with the loops that the loop was made of.
    Linear(Evolution),
    /// It is never outside, whatever it is.
    Inside(Value),
    /// It stays within limits.
    Limited(Value, Limits),
    /// Whether it was outside shows behind the loop: of what nobody stores to meanwhile.
    Watched(Value),
    /// It goes from one element that the loop loads to another.
    Followed(Followed),
}

/// In which iterations two accesses touch the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// In none.
    Never,
    /// In any.
    Any,
    /// In all, since both stay where they are.
    Always,
    /// The second as many iterations after the first.
    After(i64),
}

impl Access {
    /// Where another access to the same memory object meets this one.
    pub fn distance_to(&self, other: &Access) -> Distance {
        match self.is_high == other.is_high {
            true => distance_between(&self.subscript, &other.subscript),
            false => Distance::Never,
        }
    }
}

/// Where two accesses to one memory object meet, of which the elements are inside in each iteration,
/// so that differences of subscripts are less than 2^31.
pub fn distance_between(a: &Subscript, b: &Subscript) -> Distance {
    let (Subscript::Linear(a), Subscript::Linear(b)) = (a, b) else { return Distance::Any };
    let apart = b.start.plus(&a.start, -1).as_constant();
    let is_same = a.step == b.step && a.quotients == b.quotients;
    // Elements of one walk, of which all strides are multiples.
    if let (Some((one, x)), Some((other, y))) = (&a.walk, &b.walk)
        && one == other
        && x.wrapping_sub(*y) % one.unit != 0
    {
        return Distance::Never;
    }
    let is_walk = a.walk.is_some() || b.walk.is_some();
    let (Some(apart), true) = (apart, is_same && !is_walk) else { return Distance::Any };
    if !a.is_linear() {
        let Some(mut digits) = a.digits(MAX_NEST_ITERATIONS) else { return Distance::Any };
        digits.sort_unstable_by_key(|digit| digit.factor.abs());
        return match ways(&digits, apart.into()) {
            0 => Distance::Never,
            1 if apart == 0 => Distance::After(0),
            // As many iterations later in some iterations, but not in all.
            _ => Distance::Any,
        };
    }
    match a.step.as_constant() {
        None => Distance::Any,
        Some(0) if apart == 0 => Distance::Always,
        Some(0) => Distance::Never,
        Some(step) => {
            let (apart, step) = (i64::from(apart), i64::from(step));
            // b at iteration j is where a is at i: apart + step * j = step * i.
            match apart % step {
                0 => Distance::After(-apart / step),
                _ => Distance::Never,
            }
        }
    }
}

/// A form over what a loop does not change that must be less than 1, or so much at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// What is asked.
    pub form: Affine,
    /// What it must be at least.
    pub least: i32,
}

/// When the first of two accesses to a memory object does not touch what the second one did less than so many
/// iterations before, where only values from before the loop say how far apart they are.
pub fn apart(a: &Subscript, b: &Subscript, iterations: u32) -> Option<Apart> {
    let (Subscript::Linear(a), Subscript::Linear(b)) = (a, b) else { return None };
    let step = a.step.as_constant().filter(|step| *step != 0 && a.step == b.step)?;
    // b at iteration i is where a is at j: apart = step * (j - i).
    let form = b.start.plus(&a.start, -1).times(step.signum());
    let least = i32::try_from(step.unsigned_abs().checked_mul(iterations)?).ok()?;
    let is_asked = a.is_linear() && b.is_linear() && form.as_constant().is_none();
    is_asked.then_some(Apart { form, least })
}

/// Iterations of a nest at most ([`Evolution::quotients`]).
const MAX_NEST_ITERATIONS: u32 = 1 << 15;

/// In how many ways digits of two iterations can differ so that their words are so far apart; more
/// than one way is 2. The digit of the greatest factor is the last.
fn ways(digits: &[Digit], apart: i64) -> u32 {
    let Some((digit, below)) = digits.split_last() else { return u32::from(apart == 0) };
    let reach: i64 = below.iter().map(|digit| digit.factor.abs() * (digit.count - 1)).sum();
    if digit.factor == 0 {
        // All factors are.
        let is_alone = digits.iter().all(|digit| digit.count == 1);
        return if apart != 0 { 0 } else { 2 - u32::from(is_alone) };
    }
    let size = digit.factor.abs();
    let most = digit.count - 1;
    let (first, last) = ((apart - reach).div_euclid(size), (apart + reach).div_euclid(size));
    let mut found = 0;
    for times in first.max(-most)..=last.min(most) {
        found += ways(below, apart - times * size);
        if found > 1 {
            return 2;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where two subscripts of a nest of `counts[1]` times `counts[0]` iterations meet, by trying.
    fn tried(counts: [i32; 2], factors: [i32; 2], apart: i32) -> Distance {
        let mut found = Vec::new();
        let at = |n: i32| factors[0] * (n % counts[0]) + factors[1] * (n / counts[0]);
        let all = counts[0] * counts[1];
        for i in 0..all {
            found.extend((0..all).filter(|&j| at(j) + apart == at(i)).map(|j| j - i));
        }
        match &found[..] {
            [] => Distance::Never,
            found if found.len() == all as usize && found.iter().all(|&later| later == 0) => {
                Distance::After(0)
            }
            _ => Distance::Any,
        }
    }

    #[test]
    fn subscripts_of_nests_meet_where_they_are_said_to() {
        for (counts, factors) in [
            ([5, 3], [1, 7]),
            ([5, 3], [1, 4]),
            ([5, 3], [3, 1]),
            ([4, 6], [-2, 8]),
            ([4, 6], [0, 1]),
            ([3, 3], [6, 2]),
        ] {
            let quotient = factors[1] - factors[0] * counts[0];
            let of = |start: i32| {
                Subscript::Linear(Evolution {
                    step: Affine::constant(factors[0]),
                    quotients: [(counts[0] as u32, quotient)].into(),
                    ..Evolution::fixed(Affine::constant(start))
                })
            };
            for apart in -40..40 {
                let said = distance_between(&of(3), &of(3 + apart));
                let is = tried(counts, factors, apart);
                // How often the outer loop runs is not known.
                let is_fine = said == is || said == Distance::Any;
                assert!(is_fine, "{counts:?} {factors:?} {apart}: {said:?}, not {is:?}");
            }
            if factors[1].abs() > factors[0].abs() {
                let own = distance_between(&of(0), &of(0));
                assert_eq!(own, tried(counts, factors, 0), "{counts:?} {factors:?}");
            }
        }
    }
}
