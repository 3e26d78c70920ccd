//! What each operation computes: words in, a word and a bit out. The only statement of it; machine,
//! legalisation and their tests call it.
//!
//! A complex word has its real part in the low half, the imaginary one in the high half, both signed.
//! All sums and products wrap at 32 bits. The bit that goes out is the carry of `add`, "no borrow" of
//! `sub`, "in1 was taken" of `cmp`, the bit that came in of a `pass` with one, and whether the result is
//! zero of all others. `cmp` takes in1 where it is strictly smaller, or, of the larger ones, where it is
//! not smaller: so the four orders of two words are each the bit of one `cmp`.

use std::sync::LazyLock;

use super::opcode::{Opcode, Options, Part};

/// What a context keeps from one iteration in which it runs to the next. It starts as zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// in1 of the iteration before.
    pub last: u32,
    /// The accumulator, or its real part.
    pub re: i32,
    /// The imaginary part of the accumulator.
    pub im: i32,
}

/// Both halves as signed numbers: (low, high).
fn halves(word: u32) -> (i32, i32) {
    (i32::from(word as i16), i32::from((word >> 16) as i16))
}

fn pack(low: i32, high: i32) -> u32 {
    (low as u32 & 0xffff) | (high as u32) << 16
}

/// A half as it stands, zeros above.
fn half(word: u32, high: bool) -> u32 {
    if high { word >> 16 } else { word & 0xffff }
}

fn half_as(word: u32, high: bool, unsigned: bool) -> i32 {
    let half = half(word, high);
    if unsigned { half as i32 } else { i32::from(half as i16) }
}

/// The complex product, of the conjugate of `b` on request.
fn complex(a: u32, b: u32, conjugate: bool) -> (i32, i32) {
    let ((ar, ai), (br, mut bi)) = (halves(a), halves(b));
    if conjugate {
        bi = -bi;
    }
    let re = ar.wrapping_mul(br).wrapping_sub(ai.wrapping_mul(bi));
    let im = ar.wrapping_mul(bi).wrapping_add(ai.wrapping_mul(br));
    (re, im)
}

/// What of a complex number goes out.
fn put(options: &Options, re: i32, im: i32) -> u32 {
    let shift = |part: i32| part >> (options.scale & 31);
    match options.part {
        Part::Packed => pack(shift(re), shift(im)),
        Part::Real => shift(re) as u32,
        Part::Imaginary => shift(im) as u32,
    }
}

/// Sines of a whole turn in 2^16 steps, times 32767, rounded to the nearest.
static SINES: LazyLock<Vec<i16>> = LazyLock::new(|| {
    let turn = |phase: u32| f64::from(phase) / 65536.0 * std::f64::consts::TAU;
    (0..1 << 16).map(|phase| (32767.0 * turn(phase).sin()).round() as i16).collect()
});

/// The sine of a phase in 2^-16 turns, times 32767, rounded to the nearest.
pub fn sine(phase: u16) -> i16 {
    SINES[usize::from(phase)]
}

/// The cosine of a phase in 2^-16 turns, as [`sine`].
pub fn cosine(phase: u16) -> i16 {
    sine(phase.wrapping_add(1 << 14))
}

impl Opcode {
    /// What one run of the operation puts out, and what it leaves in its context's state. `in3` is
    /// `None` where no bit is connected. Of loads and stores, that is the address and the word to
    /// store: the memory is the machine's.
    #[inline]
    pub fn evaluate(
        self,
        options: &Options,
        in1: u32,
        in2: u32,
        in3: Option<bool>,
        state: &mut State,
    ) -> (u32, bool) {
        let before = std::mem::replace(&mut state.last, in1);
        let scale = u32::from(options.scale & 31);
        let mut accumulate = |(re, im): (i32, i32), subtract: bool| {
            if options.begin || in3 == Some(true) {
                (state.re, state.im) = (0, 0);
            }
            let sum = |sum: i32, more: i32| match subtract {
                false => sum.wrapping_add(more),
                true => sum.wrapping_sub(more),
            };
            (state.re, state.im) = (sum(state.re, re), sum(state.im, im));
            put(options, state.re, state.im)
        };
        let value = match self {
            Opcode::Load => in1,
            Opcode::Store => in2,
            Opcode::Pass => return (in1, in3.unwrap_or(in1 == 0)),
            Opcode::Add => {
                let sum = u64::from(in1) + u64::from(in2) + u64::from(in3 == Some(true));
                return (sum as u32, sum >> 32 != 0);
            }
            Opcode::Sub => {
                // in1 - in2 - 1 + no borrow.
                let one = u64::from(in3 != Some(false));
                let sum = u64::from(in1) + u64::from(!in2) + one;
                return (sum as u32, sum >> 32 != 0);
            }
            Opcode::And => in1 & in2,
            Opcode::Or => in1 | in2,
            Opcode::Xor => in1 ^ in2,
            Opcode::Mux => match in3 {
                Some(false) => in2,
                Some(true) | None => in1,
            },
            Opcode::Lls => in1 << (in2 & 31),
            Opcode::Lrs => in1 >> (in2 & 31),
            Opcode::Cmp => {
                let smaller = match options.unsigned1 {
                    true => in1 < in2,
                    false => (in1 as i32) < (in2 as i32),
                };
                let taken = smaller != options.larger;
                return (if taken { in1 } else { in2 }, taken);
            }
            Opcode::Bitrev => ((u64::from(in1.reverse_bits()) << scale) >> 32) as u32,
            Opcode::Cat => half(in1, options.high1) | half(in2, options.high2) << 16,
            Opcode::RSftS if options.halves => {
                let (low, high) = halves(in1);
                pack(low >> (in2 & 15), high >> (in2 & 15))
            }
            Opcode::RSftS => ((in1 as i32) >> (in2 & 31)) as u32,
            Opcode::LSftS if options.halves => {
                let (low, high) = halves(in1);
                pack(low << (in2 & 15), high << (in2 & 15))
            }
            Opcode::LSftS => in1 << (in2 & 31),
            Opcode::AddSpl | Opcode::SubSpl => {
                let ((ar, ai), (mut br, mut bi)) = (halves(in1), halves(in2));
                if options.halves {
                    (br, bi) = (-bi, br);
                }
                if self == Opcode::SubSpl {
                    (br, bi) = (-br, -bi);
                }
                pack(ar + br, ai + bi)
            }
            Opcode::Square => {
                let number = half_as(in1, options.high1, false);
                ((number * number) >> scale) as u32
            }
            Opcode::MultS => {
                let a = i64::from(half_as(in1, options.high1, options.unsigned1));
                let b = i64::from(half_as(in2, options.high2, options.unsigned2));
                ((a * b) >> scale) as u32
            }
            Opcode::RFa if options.halves => {
                let ((ar, ai), (sr, si)) = (halves(in1), halves(in2));
                let (by, _) = halves(options.coefficient);
                pack(sr + ((ar * by) >> scale), si + ((ai * by) >> scale))
            }
            Opcode::RFa => {
                let (by, _) = halves(options.coefficient);
                let product = half_as(in1, options.high1, false) * by;
                in2.wrapping_add((product >> scale) as u32)
            }
            Opcode::RFb => {
                let ((ar, ai), (br, bi)) = (halves(in1), halves(in2));
                let (by, _) = halves(options.coefficient);
                accumulate(((ar + br).wrapping_mul(by), (ai + bi).wrapping_mul(by)), false)
            }
            Opcode::CFa => {
                let (re, im) = complex(in1, options.coefficient, false);
                let (sr, si) = halves(in2);
                pack(sr.wrapping_add(re >> scale), si.wrapping_add(im >> scale))
            }
            Opcode::CFb => {
                let ((ar, ai), (br, bi)) = (halves(in1), halves(in2));
                let sum = pack(ar + br, ai + bi);
                accumulate(complex(sum, options.coefficient, false), false)
            }
            Opcode::CMult | Opcode::Mcc => {
                let (re, im) = complex(in1, in2, self == Opcode::Mcc);
                put(options, re, im)
            }
            Opcode::Cmac => accumulate(complex(in1, in2, false), false),
            Opcode::Cmsub => accumulate(complex(in1, in2, false), true),
            Opcode::Mcca => accumulate(complex(in1, in2, true), false),
            Opcode::Mccs => accumulate(complex(in1, in2, true), true),
            Opcode::Diff => in1.wrapping_sub(before),
            Opcode::Sine | Opcode::Cosine => {
                let phase = (in1 >> 16) as u16;
                let by = if self == Opcode::Sine { sine(phase) } else { cosine(phase) };
                ((halves(in1).0 * i32::from(by)) >> scale) as u32
            }
            Opcode::GainDiff => (in1 << scale).wrapping_sub(before),
            Opcode::DiffGain => in1.wrapping_sub(before) << scale,
            Opcode::SumGain => in1.wrapping_add(before) << scale,
            Opcode::GainAdd => (in1 << scale).wrapping_add(in2),
        };
        (value, value == 0)
    }
}

#[cfg(test)]
mod tests;
