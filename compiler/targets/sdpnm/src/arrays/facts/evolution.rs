//! How words of a loop grow: as `start + step * iteration`, modulo 2^32, with forms over values that
//! the loop does not change (Bachmann, Wang, Zima, "Chains of Recurrences", ISSAC 1994, first order
//! only). Values of 64 bits have the evolution of their low word.
//!
//! In a loop that was made of a nest, words grow with the loops that it was made of as well: by
//! quotients of the iteration ([`Evolution::quotients`]).

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use nbcc_analysis::{Affine, AffineForms};
use nbcc_ir::{BinaryOp, ConvertOp, Function, Op, Scalar, Type, UnaryOp, Value, ValueDef};

use super::shape::Shape;
use crate::arrays::iteration::turns::Walk;
use crate::arrays::loops::flatten::trips;

/// `start + step * iteration`, and of each quotient `factor * (iteration / period)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evolution {
    /// The value in the first iteration.
    pub start: Affine,
    /// What each iteration adds.
    pub step: Affine,
    /// Factors by periods. No factor is 0, no period less than 2.
    pub quotients: BTreeMap<u32, i32>,
    /// The walk and the constant that it is, then with a step of 0 and without quotients.
    pub walk: Option<(Box<Walk>, i32)>,
}

/// What a word grows by with one of the loops that a loop was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// With each of its iterations.
    pub factor: i64,
    /// Its iterations.
    pub count: i64,
}

impl Evolution {
    /// What stays as it is.
    pub fn fixed(start: Affine) -> Evolution {
        Evolution { start, step: Affine::default(), quotients: BTreeMap::new(), walk: None }
    }

    /// Whether it grows by as much in each iteration.
    pub fn is_linear(&self) -> bool {
        self.quotients.is_empty() && self.walk.is_none()
    }

    /// Whether it is the same in each iteration.
    fn is_fixed(&self) -> bool {
        self.step == Affine::default() && self.is_linear()
    }

    /// A sum with another one times a factor.
    pub(crate) fn plus(&self, other: &Evolution, factor: i32) -> Evolution {
        let mut quotients = self.quotients.clone();
        for (&period, &more) in &other.quotients {
            let own = quotients.entry(period).or_default();
            *own = own.wrapping_add(more.wrapping_mul(factor));
        }
        quotients.retain(|_, factor| *factor != 0);
        Evolution {
            start: self.start.plus(&other.start, factor),
            step: self.step.plus(&other.step, factor),
            quotients,
            walk: None,
        }
    }

    fn times(&self, factor: i32) -> Evolution {
        let mut quotients = self.quotients.clone();
        quotients.values_mut().for_each(|own| *own = own.wrapping_mul(factor));
        quotients.retain(|_, factor| *factor != 0);
        let (start, step) = (self.start.times(factor), self.step.times(factor));
        Evolution { start, step, quotients, walk: None }
    }

    /// A quotient of which nothing is left over, where all that it is made of are constants.
    fn divided(&self, by: i32) -> Option<Evolution> {
        let divided = |number: i32| (number % by == 0).then_some(number / by);
        let constant = |form: &Affine| divided(form.as_constant()?).map(Affine::constant);
        let quotients = self.quotients.iter();
        let quotients = quotients.map(|(&period, &factor)| Some((period, divided(factor)?)));
        Some(Evolution {
            start: constant(&self.start)?,
            step: constant(&self.step)?,
            quotients: quotients.collect::<Option<_>>()?,
            walk: None,
        })
    }

    /// The iteration as a number of several digits, the lowest first: each period divides the next
    /// one, and each digit adds to the word what it is times a factor. `None` where periods or steps
    /// are not of that kind.
    pub fn digits(&self, trips: u32) -> Option<Vec<Digit>> {
        let step = i64::from(self.step.as_constant().filter(|_| self.walk.is_none())?);
        let periods: Vec<u32> = [1].into_iter().chain(self.quotients.keys().copied()).collect();
        let digit = |(number, &period): (usize, &u32)| {
            let count = match periods.get(number + 1) {
                Some(next) if next % period != 0 => return None,
                Some(next) => next / period,
                None => trips.div_ceil(period),
            };
            let below = self.quotients.range(..=period);
            let parts = below.map(|(&p, &factor)| i64::from(factor) * i64::from(period / p));
            let factor = step * i64::from(period) + parts.sum::<i64>();
            Some(Digit { factor, count: count.into() })
        };
        periods.iter().enumerate().map(digit).collect()
    }

    /// Bits of which no other is set in as many iterations; `None` where sums may carry.
    fn bits(&self, trips: u32) -> Option<u32> {
        let start = u32::try_from(self.start.as_constant()?).ok()?;
        let mut digits = self.digits(trips)?;
        digits.retain(|digit| digit.factor != 0 && digit.count > 1);
        digits.iter().try_fold(start, |bits, digit| {
            let factor =
                u32::try_from(digit.factor).ok().filter(|factor| factor.is_power_of_two())?;
            let count = u32::try_from(digit.count).ok()?.checked_next_power_of_two()?;
            let own = (count - 1).checked_mul(factor)?;
            (bits & own == 0).then_some(bits | own)
        })
    }

    /// The least and the greatest that is added to the start, in as many iterations.
    pub fn reach(&self, trips: u32) -> Option<(i64, i64)> {
        let ends = self.digits(trips)?.into_iter().map(|digit| digit.factor * (digit.count - 1));
        Some(ends.fold((0, 0), |(least, most), end| (least + end.min(0), most + end.max(0))))
    }
}

/// What a number is multiplied with and shifted right by for its quotient by a period: exact for all
/// numbers below `count`, with numbers of 15 bits and factors of 16 (Granlund, Montgomery, "Division by invariant
/// integers using multiplication", PLDI 1994).
pub fn reciprocal(period: u32, count: u32) -> Option<(u32, u32)> {
    if period.is_power_of_two() {
        return Some((1, period.trailing_zeros()));
    }
    (8..31).find_map(|amount| {
        let by = (1 << amount) / period + 1;
        (by <= FACTOR && count <= HALF + 1 && divides(by, amount, period, count))
            .then_some((by, amount))
    })
}

/// The greatest number of 16 bits with a sign.
const HALF: u32 = (1 << 15) - 1;

/// The greatest one without.
const FACTOR: u32 = (1 << 16) - 1;

fn divides(by: u32, amount: u32, period: u32, count: u32) -> bool {
    // Quotients grow with numbers: wrong ones are found at the ends of periods.
    let is_right = |n: u32| (u64::from(n) * u64::from(by)) >> amount == u64::from(n / period);
    (1..=count.div_ceil(period)).all(|k| {
        let end = (k * period).min(count) - 1;
        is_right(end) && (k * period >= count || is_right(k * period))
    })
}

/// What was assumed of an evolution: that it stays within limits, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What stays.
    pub of: Evolution,
    /// The lower limit, if there is one.
    pub least: Option<i32>,
    /// The upper limit.
    pub most: i32,
    /// Whether that is asked of sums of 64 bits, of which the evolution has the low words.
    pub is_long: bool,
}

/// Whether a constant of 64 bits is a word with its sign.
pub fn is_word(func: &Function, value: Value) -> bool {
    func.splat_constant(value).is_some_and(|bits| i32::try_from(bits as i64).is_ok())
}

/// Terms of a form, and their factors, at most, of which sums of 64 bits are made: none wraps.
const LONG_TERMS: usize = 8;
const LONG_FACTOR: u32 = 1 << 20;

/// The word with a sign that is nearest to a number.
pub(crate) fn nearest_word(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// The words that the smaller or larger one of a value and a constant leaves as they are.
pub fn bounds(op: BinaryOp, bound: i64) -> Option<(i32, i32)> {
    let word = nearest_word(bound);
    match op {
        BinaryOp::Smin => Some((i32::MIN, word)),
        BinaryOp::Smax => Some((word, i32::MAX)),
        BinaryOp::Umin if bound >= 0 => Some((0, word)),
        _ => None,
    }
}

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 40;

/// The evolutions of the values of one loop.
#[derive(Debug)]
pub struct Evolutions<'a> {
    func: &'a Function,
    shape: &'a Shape,
    forms: &'a AffineForms,
    limits: RefCell<Vec<Limit>>,
    known: RefCell<BTreeMap<Value, Option<Evolution>>>,
    trips: OnceCell<Option<u32>>,
}

impl<'a> Evolutions<'a> {
    /// Those of a loop.
    pub fn new(func: &'a Function, shape: &'a Shape, forms: &'a AffineForms) -> Evolutions<'a> {
        let (limits, known) = Default::default();
        Evolutions { func, shape, forms, limits, known, trips: OnceCell::new() }
    }

    /// What the evolutions that were given hold under.
    pub fn limits(&self) -> Vec<Limit> {
        self.limits.borrow().clone()
    }

    /// How a value evolves, if it does so linearly.
    pub fn of(&self, value: Value) -> Option<Evolution> {
        self.in_nest(value).filter(Evolution::is_linear)
    }

    /// How a value evolves, be it with quotients.
    pub fn in_nest(&self, value: Value) -> Option<Evolution> {
        self.within(value, MAX_FOLLOWED)
    }

    /// How often the loop runs, where that is constant.
    pub fn trips(&self) -> Option<u32> {
        let find = || trips(self.func, self.shape, self.forms).and_then(|n| u32::try_from(n).ok());
        *self.trips.get_or_init(find)
    }

    /// A value that the loop does not change, as a form.
    pub fn fixed(&self, value: Value) -> Affine {
        if self.func.ty(value) == Type::I32 {
            return self.forms.get(value);
        }
        match self.func.def_op(value) {
            Some(Op::Const(..)) => {
                Affine::constant(self.func.splat_constant(value).unwrap_or(0) as u32 as i32)
            }
            Some(Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, from, _))
                if self.func.ty(*from) == Type::I32 =>
            {
                self.forms.get(*from)
            }
            _ => Affine::symbol(value),
        }
    }

    fn within(&self, value: Value, depth: u32) -> Option<Evolution> {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let found = self.find(value, depth);
        self.known.borrow_mut().insert(value, found.clone());
        found
    }

    fn find(&self, value: Value, depth: u32) -> Option<Evolution> {
        let func = self.func;
        if !matches!(func.ty(value), Type::I32 | Type::I64) || depth == 0 {
            return None;
        }
        if !self.shape.defines(func, value) {
            return Some(Evolution::fixed(self.fixed(value)));
        }
        let inst = match func.values[value].def {
            ValueDef::Param(block, number) => {
                if block != self.shape.header {
                    return None;
                }
                let first = self.shape.entry_args[number as usize];
                let next = self.shape.back_args[number as usize];
                let step = self.growth(next, value, depth - 1)?;
                let first = self.within(first, depth - 1)?;
                return Some(Evolution { step, ..first });
            }
            ValueDef::Result(inst, _) => inst,
        };
        // Of walks there are no sums.
        let of = |value: Value| self.within(value, depth - 1).filter(|of| of.walk.is_none());
        match func.insts[inst].op {
            Op::Const(..) => Some(Evolution::fixed(self.fixed(value))),
            Op::Intrinsic(_) => {
                let (walk, constant) = Walk::of(func, value)?;
                let start = self.fixed(walk.start).plus(&Affine::constant(constant), 1);
                Some(Evolution {
                    walk: Some((Box::new(walk), constant)),
                    ..Evolution::fixed(start)
                })
            }
            Op::Unary(UnaryOp::Ineg, a) => Some(of(a)?.times(-1)),
            Op::Binary(BinaryOp::Iadd, a, b) => Some(of(a)?.plus(&of(b)?, 1)),
            Op::Binary(BinaryOp::Isub, a, b) => Some(of(a)?.plus(&of(b)?, -1)),
            // Of what has no bit in common it is the sum.
            Op::Binary(BinaryOp::Or | BinaryOp::Xor, a, b) if func.ty(value) == Type::I32 => {
                let (a, b) = (of(a)?, of(b)?);
                let trips = self.trips()?;
                (a.bits(trips)? & b.bits(trips)? == 0).then(|| a.plus(&b, 1))
            }
            Op::Binary(BinaryOp::Imul, a, b) => product(&of(a)?, &of(b)?),
            Op::Binary(BinaryOp::Shl, a, b) => {
                let amount = func.splat_constant(b).filter(|&amount| amount < 32)?;
                Some(of(a)?.times(1i32 << amount))
            }
            // What has a quotient is not negative, so that both shifts are one.
            Op::Binary(BinaryOp::Lshr | BinaryOp::Ashr, a, b) if func.ty(value) == Type::I32 => {
                let amount = func.splat_constant(b).filter(|&amount| amount < 32)? as u32;
                let factor = |value: Value| {
                    let by = func.splat_constant(value)? as u32;
                    (by <= FACTOR).then_some(by)
                };
                if let Some(&Op::Binary(BinaryOp::Imul, x, y)) = func.def_op(a)
                    && let Some(by) = factor(y)
                {
                    return self.quotient(&of(x)?, by, amount);
                }
                self.quotient(&of(a)?, 1, amount)
            }
            // Neighbouring bits: the multiples of one power of two but those of a greater one.
            Op::Binary(BinaryOp::And, a, b) if func.ty(value) == Type::I32 => {
                let mask = func.splat_constant(b).filter(|&mask| mask < u64::from(HALF))? as u32;
                let (low, a) = (mask.trailing_zeros(), of(a)?);
                let period = mask.checked_add(1u32.checked_shl(low)?)?;
                if !period.is_power_of_two() {
                    return None;
                }
                let quotient = self.quotient(&a, 1, period.trailing_zeros())?;
                let all = match low {
                    0 => a,
                    _ => self.quotient(&a, 1, low)?.times(1 << low),
                };
                Some(all.plus(&quotient, -(period as i32)))
            }
            // A frontend may keep subscripts from wrapping in that way.
            Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b)
                if func.ty(value) == Type::I32 =>
            {
                let bound = func.splat_constant(b)? as u32 as i32;
                let of = of(a)?;
                let (least, most) = match op {
                    BinaryOp::Smax => (Some(bound), i32::MAX),
                    BinaryOp::Umin if bound >= 0 => (Some(0), bound),
                    BinaryOp::Smin => (None, bound),
                    _ => return None,
                };
                if !of.is_linear() {
                    return self.is_within(&of, least.unwrap_or(i32::MIN), most).then_some(of);
                }
                self.limit(Limit { of: of.clone(), least, most, is_long: false });
                Some(of)
            }
            Op::Binary(op @ (BinaryOp::Smin | BinaryOp::Smax | BinaryOp::Umin), a, b)
                if func.ty(value) == Type::I64 =>
            {
                let (least, most) = bounds(op, func.splat_constant(b)? as i64)?;
                self.is_exact(a, depth - 1).then_some(())?;
                self.limit_long(of(a)?, least, most)
            }
            Op::Convert(ConvertOp::Truncate, a, Type::I32) => of(a),
            Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, a, Type::I64)
                if func.ty(a).scalar == Scalar::I32 =>
            {
                of(a)
            }
            _ => None,
        }
    }

    /// A number times a factor and shifted right, where that is its quotient by a period, and the
    /// number is the iteration, what steps of a divisor of that period lead through, without multiples
    /// of it, a quotient of the iteration, or a sum of multiples of the period.
    fn quotient(&self, of: &Evolution, by: u32, amount: u32) -> Option<Evolution> {
        if let Some((&turn, &1)) = of.quotients.first_key_value()
            && *of == (Evolution { quotients: of.quotients.clone(), ..Evolution::default() })
            && of.quotients.len() == 1
        {
            let period = (1u32 << amount).div_ceil(by);
            let count = self.trips()?.div_ceil(turn);
            let is_it = by > 0 && period > 1 && divides(by, amount, period, count);
            let quotients = [(turn.checked_mul(period)?, 1)].into();
            return is_it.then(|| Evolution { quotients, ..Evolution::default() });
        }
        if by == 1 && self.is_within(of, 0, i32::MAX) {
            let whole = 1i32.checked_shl(amount).filter(|whole| *whole > 0);
            if let Some(exact) = whole.and_then(|whole| of.divided(whole)) {
                return Some(exact);
            }
        }
        let start = u32::try_from(of.start.as_constant()?).ok()?;
        let step = u32::try_from(of.step.as_constant()?).ok().filter(|&step| start < step)?;
        let (0, greatest) = of.reach(self.trips().filter(|_| by > 0)?)? else { return None };
        let greatest = u32::try_from(greatest).ok()?.checked_add(start)?;
        let count = Some(greatest).filter(|&greatest| greatest <= HALF)? + 1;
        let period = (1u32 << amount).div_ceil(by);
        // In iterations.
        let turn = period / step;
        let is_whole = |(&p, &factor): (&u32, &i32)| {
            p % turn == 0 && factor % i32::try_from(period).unwrap_or(i32::MAX) == 0
        };
        if period < 2
            || turn * step != period
            || !divides(by, amount, period, count)
            || !of.quotients.iter().all(is_whole)
        {
            return None;
        }
        let mut quotients = of.quotients.clone();
        quotients.values_mut().for_each(|factor| *factor /= period as i32);
        let mut found = Evolution::default();
        if turn == 1 {
            found.step = Affine::constant(1);
        } else {
            *quotients.entry(turn).or_default() += 1;
        }
        quotients.retain(|_, factor| *factor != 0);
        Some(Evolution { quotients, ..found })
    }

    /// Whether a word is within limits in all iterations, where that is known.
    fn is_within(&self, of: &Evolution, least: i32, most: i32) -> bool {
        let reach = self.trips().and_then(|trips| of.reach(trips)).zip(of.start.as_constant());
        reach.is_some_and(|((below, above), start)| {
            let start = i64::from(start);
            start + below >= i64::from(least) && start + above <= i64::from(most)
        })
    }

    /// Whether a value of 64 bits is a sum of what the loop does not change and of words that are exact:
    /// notes what these hold under.
    fn is_exact(&self, value: Value, depth: u32) -> bool {
        let func = self.func;
        if depth == 0 {
            return false;
        }
        let is_fixed = !self.shape.defines(func, value);
        let Some(op) = func.def_op(value) else { return is_fixed || self.counts(value, depth) };
        let is_exact = |value: Value| self.is_exact(value, depth - 1);
        match *op {
            Op::Convert(extend @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), a, _)
                if func.ty(a) == Type::I32 =>
            {
                let least = if extend == ConvertOp::SignExtend { i32::MIN } else { 0 };
                let of = self.within(a, depth - 1);
                of.and_then(|of| self.limit_long(of, least, i32::MAX)).is_some()
            }
            Op::Const(..) => is_word(func, value),
            // What the loop does not change is one value.
            _ if is_fixed => true,
            Op::Unary(UnaryOp::Ineg, a) => is_exact(a),
            Op::Binary(BinaryOp::Iadd | BinaryOp::Isub | BinaryOp::Imul, a, b) => {
                is_exact(a) && is_exact(b)
            }
            Op::Binary(BinaryOp::Shl, a, b) => func.splat_constant(b).is_some() && is_exact(a),
            _ => false,
        }
    }

    /// Whether a value grows by a constant from what is exact on.
    fn counts(&self, value: Value, depth: u32) -> bool {
        let ValueDef::Param(block, number) = self.func.values[value].def else { return false };
        block == self.shape.header
            && self.within(value, depth).is_some_and(|of| of.is_linear())
            && self.shape.growth(self.func, number as usize).is_some()
            && self.is_exact(self.shape.entry_args[number as usize], depth - 1)
    }

    /// Notes that an evolution has no more in 64 bits than in its low words, and stays within limits.
    fn limit_long(&self, of: Evolution, least: i32, most: i32) -> Option<Evolution> {
        let is_small = |form: &Affine| {
            let fits = |&(_, factor): &(Value, i32)| factor.unsigned_abs() <= LONG_FACTOR;
            form.terms.len() <= LONG_TERMS && form.terms.iter().all(fits)
        };
        if !of.is_linear() || !is_small(&of.start) || !is_small(&of.step) {
            return None;
        }
        self.limit(Limit { of: of.clone(), least: Some(least), most, is_long: true });
        Some(of)
    }

    /// Notes what an evolution holds under.
    fn limit(&self, limit: Limit) {
        let mut limits = self.limits.borrow_mut();
        match limits
            .iter_mut()
            .find(|other| (&other.of, other.is_long) == (&limit.of, limit.is_long))
        {
            Some(known) => {
                known.least = known.least.max(limit.least);
                known.most = known.most.min(limit.most);
            }
            None => limits.push(limit),
        }
    }

    /// What is added to a parameter of the header to get this value.
    fn growth(&self, value: Value, param: Value, depth: u32) -> Option<Affine> {
        if value == param {
            return Some(Affine::default());
        }
        if depth == 0 || !self.shape.defines(self.func, value) {
            return None;
        }
        let fixed = |value: Value| {
            let is_constant = matches!(self.func.def_op(value), Some(Op::Const(..)));
            let fixed = is_constant || !self.shape.defines(self.func, value);
            fixed.then(|| self.fixed(value))
        };
        match *self.func.def_op(value)? {
            Op::Binary(BinaryOp::Iadd, a, b) => match (fixed(a), fixed(b)) {
                (_, Some(more)) => Some(self.growth(a, param, depth - 1)?.plus(&more, 1)),
                (Some(more), _) => Some(self.growth(b, param, depth - 1)?.plus(&more, 1)),
                _ => None,
            },
            Op::Binary(BinaryOp::Isub, a, b) => {
                Some(self.growth(a, param, depth - 1)?.plus(&fixed(b)?, -1))
            }
            _ => None,
        }
    }
}

/// A product, where one factor is fixed: a constant, or a single value where the other starts and
/// grows by constants.
fn product(a: &Evolution, b: &Evolution) -> Option<Evolution> {
    let (moving, fixed) = match (a.is_fixed(), b.is_fixed()) {
        (_, true) => (a, &b.start),
        (true, false) => (b, &a.start),
        _ => return None,
    };
    if let Some(factor) = fixed.as_constant() {
        return Some(moving.times(factor));
    }
    match (moving.start.as_constant(), moving.step.as_constant()) {
        (Some(start), Some(step)) if moving.is_linear() => {
            let step = fixed.times(step);
            Some(Evolution { step, ..Evolution::fixed(fixed.times(start)) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use nbcc_analysis::{Lanes, LoopForest, evaluate};
    use nbcc_ir::{Builder, Cfg, Dominators, ExecutionModel};

    use super::*;
    use crate::map::random::Random;

    /// A word of an evolution, whose forms are constants, in one iteration.
    fn word(of: &Evolution, iteration: u32) -> Option<i32> {
        let by = |factor: i32, number: u32| factor.wrapping_mul(number as i32);
        let (start, step) = (of.start.as_constant()?, of.step.as_constant()?);
        let quotients = of.quotients.iter().map(|(period, &by_one)| by(by_one, iteration / period));
        Some(quotients.fold(start.wrapping_add(by(step, iteration)), i32::wrapping_add))
    }

    /// Random sums, shifts and masks of what counts a loop are in each iteration what is said of them.
    #[test]
    fn words_evolve_as_is_said() {
        let (mut known, mut nested) = (0, 0);
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let trips = 1 + random.below(200) as u32;
            let mut func = Function::new("f", ExecutionModel::Sequential);
            let entry = func.entry();
            let mut b = Builder::at(&mut func, entry);
            let mut made = Vec::new();
            b.carried_loop("i", trips.max(2), vec![], |b, counter, _| {
                made.push(counter);
                for _ in 0..14 {
                    let at = |random: &mut Random| made.len() - 1 - random.below(made.len().min(5));
                    let (x, y) = (made[at(&mut random)], made[at(&mut random)]);
                    let amount = b.i32(random.below(6) as i32);
                    let mask = b.i32(((1 << random.below(6)) - 1) << random.below(5));
                    let some = b.i32(random.below(9) as i32);
                    let (op, y) = match random.below(9) {
                        0 => (BinaryOp::Iadd, y),
                        1 => (BinaryOp::Isub, y),
                        2 => (BinaryOp::Or, y),
                        3 => (BinaryOp::Xor, y),
                        4 => (BinaryOp::And, mask),
                        5 => (BinaryOp::Lshr, amount),
                        6 => (BinaryOp::Ashr, amount),
                        7 => (BinaryOp::Shl, amount),
                        _ => (BinaryOp::Imul, some),
                    };
                    made.push(b.value(Op::Binary(op, x, y)));
                }
                vec![]
            });
            b.terminate(nbcc_ir::Terminator::Return(vec![]));
            let cfg = Cfg::new(&func);
            let forest = LoopForest::new(&cfg, &Dominators::new(&func));
            let l = forest.loops.keys().next().expect("there is a loop");
            let shape = Shape::new(&func, &cfg, &forest, l).expect("it is for arrays");
            let forms = AffineForms::new(&func, &cfg);
            let evolutions = Evolutions::new(&func, &shape, &forms);
            for iteration in 0..trips.max(2) {
                let mut values: BTreeMap<Value, Lanes> =
                    [(made[0], Lanes::splat(Type::I32, iteration.into()))].into();
                for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
                    let result = evaluate(&func.insts[inst].op, |value| values[&value]);
                    let lanes = result.and_then(Result::ok).expect("it is arithmetic");
                    values.extend(func.result(inst).map(|value| (value, lanes)));
                }
                for &value in &made {
                    let Some(of) = evolutions.in_nest(value) else { continue };
                    let is = values[&value].lane(0) as u32 as i32;
                    assert_eq!(
                        word(&of, iteration),
                        Some(is),
                        "{seed} {iteration} {of:?}\n{func:?}"
                    );
                    known += 1;
                    nested += u32::from(!of.is_linear());
                }
            }
        }
        assert!(known > 100_000 && nested > 10_000, "{known} {nested}");
    }
}
