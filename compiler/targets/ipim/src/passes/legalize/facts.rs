//! What is known of values: intervals that hold them in every lane.
//!
//! Facts are about values, wherever they are used. They are computed from the operation that makes
//! a value, or learned when an expansion takes an operation's place. They hold for every operand,
//! NaN included, but for what value ranges say: those are kept by the lanes that hold points only.

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_ir::{BinaryOp, Constant, ConvertOp, Function, Op, Scalar, UnaryOp, Value, ValueDef};

/// Operations looked through at most, one after the other.
const MAX_FOLLOWED: u32 = 8;

/// Integers from `lo` to `hi`, both included, read as signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub lo: i64,
    /// The greatest.
    pub hi: i64,
}

impl Interval {
    /// Every `i32`.
    pub const FULL: Interval = Interval { lo: i32::MIN as i64, hi: i32::MAX as i64 };

    /// An interval, or [`Interval::FULL`] where it leaves the 32 bits.
    pub fn new(lo: i64, hi: i64) -> Interval {
        if lo < Interval::FULL.lo || hi > Interval::FULL.hi {
            return Interval::FULL;
        }
        Interval { lo, hi }
    }

    /// What is in both. The two must meet.
    pub fn meet(self, other: Interval) -> Interval {
        let both = Interval { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) };
        if both.lo > both.hi { self } else { both }
    }

    /// The least interval that holds both.
    pub fn join(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Whether it holds no negative number.
    pub fn is_natural(self) -> bool {
        self.lo >= 0
    }

    /// Whether it holds the number.
    pub fn holds(self, n: i64) -> bool {
        (self.lo..=self.hi).contains(&n)
    }

    fn corners(self, other: Interval, f: impl Fn(i64, i64) -> i64) -> Interval {
        let ends =
            [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)];
        let values = ends.map(|(a, b)| f(a, b));
        let lo = values.iter().copied().min().unwrap_or(Interval::FULL.lo);
        let hi = values.iter().copied().max().unwrap_or(Interval::FULL.hi);
        Interval::new(lo, hi)
    }
}

/// Floats from `lo` to `hi`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floats {
    /// The least.
    pub lo: f32,
    /// The greatest.
    pub hi: f32,
    /// Whether negative zero may be among them.
    pub negative_zero: bool,
    /// Whether it may be no number instead.
    pub nan: bool,
}

impl Floats {
    /// Every float.
    pub const FULL: Floats =
        Floats { lo: f32::NEG_INFINITY, hi: f32::INFINITY, negative_zero: true, nan: true };

    fn new(lo: f32, hi: f32, negative_zero: bool, nan: bool) -> Floats {
        if lo.is_nan() || hi.is_nan() {
            return Floats { negative_zero, ..Floats::FULL };
        }
        Floats { lo, hi, negative_zero: negative_zero && lo <= 0.0 && hi >= 0.0, nan }
    }

    /// Whether it holds no infinity.
    pub fn is_finite(self) -> bool {
        self.lo > f32::NEG_INFINITY && self.hi < f32::INFINITY
    }

    /// The greatest magnitude.
    pub fn magnitude(self) -> f32 {
        self.lo.abs().max(self.hi.abs())
    }

    fn join(self, other: Floats) -> Floats {
        Floats {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            negative_zero: self.negative_zero || other.negative_zero,
            nan: self.nan || other.nan,
        }
    }

    /// Of the lesser: the first where it is less than the second, else the second.
    fn lesser(self, second: Floats) -> Floats {
        let either = self.join(second);
        let lo = self.lo.min(second.lo);
        let hi = if self.nan { second.hi } else { self.hi.min(second.hi) };
        Floats { lo, hi, nan: second.nan, ..either }
    }

    fn opposite(self) -> Floats {
        let negative_zero = self.lo <= 0.0 && self.hi >= 0.0;
        Floats { lo: -self.hi, hi: -self.lo, negative_zero, nan: self.nan }
    }
}

/// What was learned of values.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    integers: SecondaryMap<Value, Option<Interval>>,
    floats: SecondaryMap<Value, Option<Floats>>,
    /// Values whose facts rest on value ranges.
    ranged: EntitySet<Value>,
}

impl Facts {
    /// The facts that loops give about their counters.
    pub fn new(func: &Function) -> Facts {
        let mut facts = Facts::default();
        for &block in &func.layout {
            for (number, &param) in func.blocks[block].params.iter().enumerate() {
                if let Some(interval) = counter(func, block, number) {
                    facts.integers[param] = Some(interval);
                }
            }
        }
        facts
    }

    /// Where an `i32` lies.
    pub fn interval(&self, func: &Function, value: Value) -> Interval {
        self.interval_at(func, value, MAX_FOLLOWED)
    }

    /// Where an `f32` lies.
    pub fn floats(&self, func: &Function, value: Value) -> Floats {
        self.floats_at(func, value, MAX_FOLLOWED)
    }

    /// Keeps the value range of an integer, which holds in the lanes that matter.
    pub fn value_range(&mut self, func: &Function, value: Value, interval: Interval) {
        self.assume(func, value, interval);
        self.ranged.insert(value);
    }

    /// Whether facts about a value rest on value ranges.
    pub fn has_value_range(&self, value: Value) -> bool {
        self.ranged.contains(value)
    }

    /// Keeps what an operation tells about the value that takes its place.
    pub fn learn(&mut self, func: &Function, op: &Op, value: Value) {
        op.for_each_arg(|arg| {
            if self.ranged.contains(arg) {
                self.ranged.insert(value);
            }
        });
        match func.ty(value).scalar {
            Scalar::I32 => {
                let found =
                    self.integer_result(func, op, MAX_FOLLOWED).meet(self.interval(func, value));
                self.integers[value] = Some(found);
            }
            Scalar::F32 if self.floats[value].is_none() => {
                self.floats[value] = Some(self.float_result(func, op, MAX_FOLLOWED));
            }
            _ => {}
        }
    }

    /// Keeps that an integer lies in an interval.
    pub fn assume(&mut self, func: &Function, value: Value, interval: Interval) {
        self.integers[value] = Some(interval.meet(self.interval(func, value)));
    }

    fn interval_at(&self, func: &Function, value: Value, depth: u32) -> Interval {
        if let Some(known) = self.integers[value] {
            return known;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) if depth > 0 => {
                self.integer_result(func, &func.insts[inst].op, depth - 1)
            }
            _ => Interval::FULL,
        }
    }

    fn floats_at(&self, func: &Function, value: Value, depth: u32) -> Floats {
        if let Some(known) = self.floats[value] {
            return known;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) if depth > 0 => {
                self.float_result(func, &func.insts[inst].op, depth - 1)
            }
            _ => Floats::FULL,
        }
    }

    fn integer_result(&self, func: &Function, op: &Op, depth: u32) -> Interval {
        let of = |v: Value| self.interval_at(func, v, depth);
        match op {
            Op::Const(ty, constant) => words(constant)
                .map(|word| i64::from(word as i32))
                // Truth values are masks.
                .map(|n| if ty.scalar == Scalar::I1 { -(n & 1) } else { n })
                .map(|n| Interval { lo: n, hi: n })
                .reduce(Interval::join)
                .unwrap_or(Interval::FULL),
            Op::Unary(UnaryOp::Not, a) => Interval::new(-1 - of(*a).hi, -1 - of(*a).lo),
            Op::Unary(UnaryOp::Ineg, a) => Interval::new(-of(*a).hi, -of(*a).lo),
            Op::Binary(op, a, b) => integer_binary(*op, of(*a), of(*b)),
            Op::Icmp(..) | Op::Fcmp(..) => Interval { lo: -1, hi: 0 },
            Op::Select(_, a, b) => of(*a).join(of(*b)),
            Op::Convert(ConvertOp::ZeroExtend, ..) => Interval { lo: 0, hi: 1 },
            Op::Convert(ConvertOp::FloatToSigned, a, _) => {
                let floats = self.floats_at(func, *a, depth);
                let fits = |x: f32| (-2147483648.0..2147483648.0).contains(&x);
                if !floats.nan && fits(floats.lo) && fits(floats.hi) {
                    Interval { lo: floats.lo as i64, hi: floats.hi as i64 }
                } else {
                    Interval::FULL
                }
            }
            Op::Splat(a, _) | Op::Extract(a, _) => of(*a),
            Op::Insert(a, b, _) | Op::Shuffle(a, b, _) => of(*a).join(of(*b)),
            _ => Interval::FULL,
        }
    }

    fn float_result(&self, func: &Function, op: &Op, depth: u32) -> Floats {
        let of = |v: Value| self.floats_at(func, v, depth);
        let symmetric = |limit: f32, nan: bool| Floats::new(-limit, limit, true, nan);
        let through = |v: Value, f: fn(f32) -> f32| {
            let from = of(v);
            Floats::new(f(from.lo), f(from.hi), true, from.nan)
        };
        match op {
            Op::Const(_, constant) => words(constant)
                .map(f32::from_bits)
                .map(|x| Floats::new(x, x, x.to_bits() == 1 << 31, x.is_nan()))
                .reduce(Floats::join)
                .unwrap_or(Floats::FULL),
            Op::Unary(op, a) => match op {
                UnaryOp::Fneg => of(*a).opposite(),
                UnaryOp::Fabs => Floats::new(0.0, of(*a).magnitude(), false, of(*a).nan),
                UnaryOp::Floor => through(*a, f32::floor),
                UnaryOp::Ceil => through(*a, f32::ceil),
                UnaryOp::Nearest => through(*a, f32::round_ties_even),
                UnaryOp::Trunc => through(*a, f32::trunc),
                UnaryOp::Sqrt if of(*a).lo >= 0.0 => {
                    Floats::new(-0.0, f32::INFINITY, true, of(*a).nan)
                }
                UnaryOp::Exp | UnaryOp::Cosh => Floats::new(0.0, f32::INFINITY, false, of(*a).nan),
                UnaryOp::Sin | UnaryOp::Cos => symmetric(1.01, of(*a).nan || !of(*a).is_finite()),
                UnaryOp::Tanh => symmetric(1.01, of(*a).nan),
                UnaryOp::Asin | UnaryOp::Acos if of(*a).magnitude() <= 1.0 => {
                    symmetric(3.15, of(*a).nan)
                }
                UnaryOp::Atan => symmetric(3.15, of(*a).nan),
                _ => Floats::FULL,
            },
            Op::Binary(op, a, b) => match op {
                BinaryOp::Fadd => sum(of(*a), of(*b)),
                BinaryOp::Fsub => sum(of(*a), of(*b).opposite()),
                BinaryOp::Fmul if a == b => square(of(*a)),
                BinaryOp::Fmul => product(of(*a), of(*b)),
                BinaryOp::Fmin => of(*a).lesser(of(*b)),
                BinaryOp::Fmax => Floats {
                    negative_zero: of(*a).negative_zero || of(*b).negative_zero,
                    ..of(*a).opposite().lesser(of(*b).opposite()).opposite()
                },
                BinaryOp::Atan2 => symmetric(3.15, of(*a).nan || of(*b).nan),
                _ => Floats::FULL,
            },
            Op::MulAdd(a, b, c) if a == b => sum(square(of(*a)), of(*c)),
            Op::MulAdd(a, b, c) => sum(product(of(*a), of(*b)), of(*c)),
            Op::Select(_, a, b) => of(*a).join(of(*b)),
            Op::Convert(ConvertOp::SignedToFloat, a, _) => {
                let from = self.interval_at(func, *a, depth);
                Floats::new(from.lo as f32, from.hi as f32, false, false)
            }
            Op::Convert(ConvertOp::UnsignedToFloat, a, _) => {
                let from = self.interval_at(func, *a, depth);
                if from.is_natural() {
                    Floats::new(from.lo as f32, from.hi as f32, false, false)
                } else {
                    Floats::new(0.0, u32::MAX as f32, false, false)
                }
            }
            Op::Splat(a, _) | Op::Extract(a, _) => of(*a),
            Op::Insert(a, b, _) | Op::Shuffle(a, b, _) => of(*a).join(of(*b)),
            _ => Floats::FULL,
        }
    }
}

fn words(constant: &Constant) -> impl Iterator<Item = u32> {
    let lanes = match constant {
        Constant::Splat(bits) => std::slice::from_ref(bits),
        Constant::Lanes(lanes) => lanes,
    };
    lanes.iter().map(|&bits| bits as u32)
}

fn integer_binary(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    let amount = (b.lo == b.hi && (0..32).contains(&b.lo)).then_some(b.lo as u32);
    // The least 2^k - 1 that no element of a natural interval exceeds.
    let ones = |n: i64| (1i64 << (64 - n.leading_zeros())) - 1;
    match op {
        BinaryOp::Iadd => Interval::new(a.lo + b.lo, a.hi + b.hi),
        BinaryOp::Isub => Interval::new(a.lo - b.hi, a.hi - b.lo),
        BinaryOp::Imul => a.corners(b, |x, y| x * y),
        BinaryOp::And => match (a.is_natural(), b.is_natural()) {
            (true, true) => Interval { lo: 0, hi: a.hi.min(b.hi) },
            (true, false) => Interval { lo: 0, hi: a.hi },
            (false, true) => Interval { lo: 0, hi: b.hi },
            (false, false) => {
                // Both have at least the leading ones of the lesser.
                Interval { lo: -1 - ones((-1 - a.lo.min(b.lo)).max(0)), hi: a.hi.max(b.hi) }
            }
        },
        BinaryOp::Or | BinaryOp::Xor if a.is_natural() && b.is_natural() => {
            Interval { lo: 0, hi: ones(a.hi.max(b.hi)) }
        }
        BinaryOp::Or | BinaryOp::Xor => {
            let reach = |i: Interval| ones(i.hi.max(-1 - i.lo));
            let most = reach(a).max(reach(b));
            Interval { lo: -1 - most, hi: most }
        }
        BinaryOp::Shl => match amount {
            Some(n) => Interval::new(a.lo << n, a.hi << n),
            None => Interval::FULL,
        },
        BinaryOp::Ashr => match amount {
            Some(n) => Interval { lo: a.lo >> n, hi: a.hi >> n },
            None => Interval { lo: a.lo.min(0), hi: a.hi.max(-1) },
        },
        BinaryOp::Lshr => match amount {
            Some(n) if a.is_natural() => Interval { lo: a.lo >> n, hi: a.hi >> n },
            Some(n) if n > 0 => Interval { lo: 0, hi: i64::from(u32::MAX >> n) },
            None if a.is_natural() => Interval { lo: 0, hi: a.hi },
            _ => Interval::FULL,
        },
        BinaryOp::Smin => Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) },
        BinaryOp::Smax => Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) },
        BinaryOp::Umin | BinaryOp::Umax if a.is_natural() && b.is_natural() => a.join(b),
        BinaryOp::Udiv | BinaryOp::DivEuclid if a.is_natural() && b.is_natural() => {
            Interval { lo: 0, hi: a.hi }
        }
        BinaryOp::DivEuclid if b.lo == b.hi && b.lo > 0 => {
            Interval { lo: a.lo.div_euclid(b.lo), hi: a.hi.div_euclid(b.lo) }
        }
        BinaryOp::ModEuclid => {
            let most = (b.lo.abs().max(b.hi.abs()) - 1).max(0);
            let most = if a.is_natural() { most.min(a.hi) } else { most };
            Interval::new(0, most)
        }
        BinaryOp::Urem if a.is_natural() && b.is_natural() => Interval { lo: 0, hi: a.hi },
        _ => Interval::FULL,
    }
}

fn sum(a: Floats, b: Floats) -> Floats {
    // Infinities of both signs make no number.
    let nan = a.nan || b.nan || !(a.is_finite() || b.is_finite());
    Floats::new(a.lo + b.lo, a.hi + b.hi, a.negative_zero && b.negative_zero, nan)
}

fn product(a: Floats, b: Floats) -> Floats {
    let ends = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
    if ends.iter().any(|x| x.is_nan()) {
        return Floats::FULL;
    }
    let lo = ends.iter().copied().fold(f32::INFINITY, f32::min);
    let hi = ends.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    // Zero times infinity is no number.
    let zero = |x: Floats| x.lo <= 0.0 && x.hi >= 0.0;
    let none = (zero(a) && !b.is_finite()) || (zero(b) && !a.is_finite());
    Floats::new(lo, hi, true, a.nan || b.nan || none)
}

fn square(a: Floats) -> Floats {
    Floats::new(0.0, a.magnitude() * a.magnitude(), false, a.nan)
}

/// The values of a loop's counter: a parameter of a header that starts at a constant and is
/// increased by a constant on the way back, as often as the loop's trips say.
fn counter(func: &Function, header: nbcc_ir::Block, number: usize) -> Option<Interval> {
    let trips = func.blocks[header].loop_info.as_ref()?.trips?;
    let param = func.blocks[header].params[number];
    if func.ty(param) != nbcc_ir::Type::I32 {
        return None;
    }
    let (mut start, mut step) = (None, None);
    for &block in &func.layout {
        let terminator = func.terminator(block);
        for to in terminator.successors() {
            if to.block != header {
                continue;
            }
            let arg = to.args[number];
            let constant = func.splat_constant(arg).map(|bits| i64::from(bits as u32 as i32));
            let (slot, n) = match (constant, func.def_op(arg)) {
                (Some(n), _) => (&mut start, n),
                (None, Some(Op::Binary(BinaryOp::Iadd, a, b))) if *a == param => {
                    (&mut step, i64::from(func.splat_constant(*b)? as u32 as i32))
                }
                _ => return None,
            };
            if slot.is_some_and(|known| known != n) {
                return None;
            }
            *slot = Some(n);
        }
    }
    let (start, step) = (start?, step?);
    let last = step.checked_mul(i64::try_from(trips).ok()?.checked_sub(1)?)?.checked_add(start)?;
    Some(Interval::new(start.min(last), start.max(last)))
}
