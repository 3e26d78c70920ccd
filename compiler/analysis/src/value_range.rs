//! The least and the greatest value that an integer can have, as a signed number: intervals
//! (Harrison, "Compiler Analysis of the Value Ranges for Variables", TSE 1977), found from
//! definitions, from the branches on the way to where ways meet, and from the tests of counted loops,
//! without iteration. Words are taken as sums of other values, too: what cancels there has no part in
//! the range.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use nbcc_ir::{
    BinaryOp, Block, Cfg, ConvertOp, Function, IntCond, IntrinsicCall, Op, Scalar, Terminator,
    Type, UnaryOp, Value, ValueDef,
};

use crate::{AffineForms, sign_extend};

/// Operations followed from a value at most.
const MAX_FOLLOWED: u32 = 48;

/// Branches looked at on the way to a block at most.
const BRANCHES: usize = 8;

/// The least and the greatest value.
pub type ValueRange = (i64, i64);

/// What a target knows of the results of its intrinsics.
pub type IntrinsicRanges<'a> = &'a dyn Fn(&IntrinsicCall) -> Option<ValueRange>;

/// Ranges of the scalar integers of a function, computed as they are asked for.
pub struct ValueRanges<'a> {
    func: &'a Function,
    ways: Rc<Ways>,
    known: RefCell<HashMap<Value, ValueRange>>,
    intrinsics: Option<IntrinsicRanges<'a>>,
}

/// How values get where they are, whatever is known of their ranges.
struct Ways {
    /// What leads to each parameter of a block, from where, and as which way out of there.
    args: BTreeMap<Value, Vec<(Block, usize, Value)>>,
    cfg: Cfg,
    /// For what counts the rounds of a loop: a comparison with another value that holds for it on
    /// the way back to the header.
    tests: BTreeMap<Value, (IntCond, Value)>,
    forms: OnceCell<AffineForms>,
}

impl std::fmt::Debug for ValueRanges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValueRanges").field("known", &self.known).finish_non_exhaustive()
    }
}

fn all(scalar: Scalar) -> ValueRange {
    match scalar.bits() {
        64.. => (i64::MIN, i64::MAX),
        bits => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

impl<'a> ValueRanges<'a> {
    /// Nothing is known yet.
    pub fn new(func: &'a Function) -> ValueRanges<'a> {
        let mut args: BTreeMap<Value, Vec<(Block, usize, Value)>> = BTreeMap::new();
        let mut tests = BTreeMap::new();
        let cfg = Cfg::new(func);
        for block in cfg.reverse_postorder() {
            let terminator = func.terminator(block);
            for (way, to) in terminator.successors().into_iter().enumerate() {
                for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                    args.entry(param).or_default().push((block, way, arg));
                }
            }
            let Terminator::Branch(condition, then, other) = terminator else { continue };
            let Some(&Op::Icmp(cond, a, b)) = func.def_op(*condition) else { continue };
            if then.block == other.block {
                continue;
            }
            for (to, cond) in [(then, cond), (other, cond.negated())] {
                for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                    if arg == a && is_next(func, arg, param) {
                        tests.insert(param, (cond, b));
                    }
                }
            }
        }
        let ways = Rc::new(Ways { args, cfg, tests, forms: OnceCell::new() });
        ValueRanges { func, ways, known: RefCell::default(), intrinsics: None }
    }

    /// Ranges of the same function of which nothing is known yet, without another look at its blocks:
    /// how narrow a range is found to be depends on what was asked before.
    pub fn anew(&self) -> ValueRanges<'a> {
        ValueRanges { ways: self.ways.clone(), known: RefCell::default(), ..*self }
    }

    /// The same, where a target knows the ranges of results of its intrinsics.
    pub fn with_intrinsics(func: &'a Function, intrinsics: IntrinsicRanges<'a>) -> ValueRanges<'a> {
        ValueRanges { intrinsics: Some(intrinsics), ..ValueRanges::new(func) }
    }

    /// The range of a scalar integer; that of its type where nothing more is known.
    pub fn of(&self, value: Value) -> ValueRange {
        self.within(value, MAX_FOLLOWED)
    }

    /// Whether a value is within limits.
    pub fn fits(&self, value: Value, least: i64, most: i64) -> bool {
        let (low, high) = self.of(value);
        low >= least && high <= most
    }

    fn within(&self, value: Value, depth: u32) -> ValueRange {
        if let Some(&known) = self.known.borrow().get(&value) {
            return known;
        }
        let ty = self.func.ty(value);
        let whole = all(ty.scalar);
        if depth == 0 || ty.is_float() || ty.is_vector() {
            return whole;
        }
        let range = self.compute(value, depth - 1);
        let range = range.filter(|r| r.0 >= whole.0 && r.1 <= whole.1).unwrap_or(whole);
        self.known.borrow_mut().insert(value, range);
        range
    }

    fn compute(&self, value: Value, depth: u32) -> Option<ValueRange> {
        let func = self.func;
        let scalar = func.ty(value).scalar;
        let of = |value: Value| self.within(value, depth);
        if let ValueDef::Param(block, _) = func.values[value].def {
            let info = func.blocks[block].loop_info.as_ref();
            let counter = info.and_then(|info| info.counter).filter(|of| of.value == value);
            return match (info, counter) {
                (Some(info), Some(counter)) => self.counted(value, counter.step, info.trips, depth),
                _ => self.meeting(value, depth),
            };
        }
        Some(match func.def_op(value)? {
            Op::Const(..) => {
                let number = sign_extend(scalar, func.splat_constant(value)?);
                (number, number)
            }
            &Op::Unary(UnaryOp::Ineg, a) => {
                let (low, high) = of(a);
                (high.checked_neg()?, low.checked_neg()?)
            }
            &Op::Convert(ConvertOp::SignExtend | ConvertOp::Truncate, a, _) => of(a),
            &Op::Convert(ConvertOp::ZeroExtend, a, _) => match of(a) {
                (low, high) if low >= 0 => (low, high),
                _ => (0, (1_i64 << func.ty(a).scalar.bits().min(62)) - 1),
            },
            &Op::Select(cond, a, b) => {
                let a = self.under(cond, true, a, of(a), depth);
                let b = self.under(cond, false, b, of(b), depth);
                (a.0.min(b.0), a.1.max(b.1))
            }
            &Op::Binary(op, a, b) => {
                let amount = func.splat_constant(b).filter(|&n| n < u64::from(scalar.bits()));
                let direct = binary(op, of(a), of(b), amount, scalar);
                match op {
                    BinaryOp::Iadd | BinaryOp::Isub => self.of_sum(value, direct, depth)?,
                    _ => direct?,
                }
            }
            Op::Intrinsic(call) => self.intrinsics?(call)?,
            _ => return None,
        })
    }

    /// The range of a value where a block runs: that of all values, and what branches on the way say.
    pub fn at(&self, value: Value, block: Block) -> ValueRange {
        self.behind(value, self.of(value), block, MAX_FOLLOWED)
    }

    /// The range of a value where control goes from a block on the way of that number: that of all values,
    /// and what the branch there and those before it say.
    pub fn on_way(&self, value: Value, block: Block, way: usize) -> ValueRange {
        self.arriving(&(block, way, value), MAX_FOLLOWED)
    }

    /// The range of a parameter of a block where ways meet. What comes back to itself may be anything.
    fn meeting(&self, value: Value, depth: u32) -> Option<ValueRange> {
        let args = self.ways.args.get(&value)?;
        self.known.borrow_mut().insert(value, all(self.func.ty(value).scalar));
        let others = args.iter().filter(|&&(.., arg)| arg != value);
        others.map(|way| self.arriving(way, depth)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The range of what comes to a parameter of a block on one way, with what branches on it say.
    fn arriving(&self, &(from, way, arg): &(Block, usize, Value), depth: u32) -> ValueRange {
        let whole = self.within(arg, depth);
        let range = match self.func.terminator(from) {
            Terminator::Branch(cond, ..) => self.under(*cond, way == 0, arg, whole, depth),
            _ => whole,
        };
        self.behind(arg, range, from, depth)
    }

    /// A range of a value, and what branches say that lead to a block alone.
    fn behind(&self, value: Value, range: ValueRange, block: Block, depth: u32) -> ValueRange {
        let (mut range, mut block) = (range, block);
        for _ in 0..BRANCHES {
            let &[from] = self.ways.cfg.predecessors(block) else { break };
            range = match self.func.terminator(from) {
                Terminator::Branch(cond, then, other) if then.block != other.block => {
                    self.under(*cond, then.block == block, value, range, depth)
                }
                _ => range,
            };
            block = from;
        }
        range
    }

    /// A range of a value where a condition holds, or does not.
    fn under(
        &self,
        cond: Value,
        holds: bool,
        value: Value,
        range: ValueRange,
        depth: u32,
    ) -> ValueRange {
        let Some(&Op::Icmp(cond, a, b)) = self.func.def_op(cond) else { return range };
        let cond = if holds { cond } else { cond.negated() };
        let (cond, other) = match (a == value, b == value) {
            (true, false) => (cond, b),
            (false, true) => (cond.swapped(), a),
            _ => return range,
        };
        if depth == 0 || self.func.ty(value).is_vector() {
            return range;
        }
        let limited = limited(cond, range, self.within(other, depth - 1));
        // Nothing runs where no value is left.
        if limited.0 <= limited.1 { limited } else { range }
    }

    /// The range of a word as a sum, where that says more than `direct`. A sum modulo 2^32 is the exact
    /// one if that fits.
    fn of_sum(&self, value: Value, direct: Option<ValueRange>, depth: u32) -> Option<ValueRange> {
        if self.func.ty(value) != Type::I32 {
            return direct;
        }
        let form =
            self.ways.forms.get_or_init(|| AffineForms::new(self.func, &Cfg::new(self.func)));
        let form = form.get(value);
        if form.coefficient(value) != 0 {
            return direct;
        }
        let start = i64::from(form.constant);
        let sum = form.terms.iter().try_fold((start, start), |(low, high), &(term, factor)| {
            let (least, most) = self.within(term, depth);
            let ends = [least, most].map(|end| end.checked_mul(factor.into()));
            let (a, b) = (ends[0]?, ends[1]?);
            Some((low.checked_add(a.min(b))?, high.checked_add(a.max(b))?))
        });
        let whole = all(Scalar::I32);
        let fits = |range: &ValueRange| range.0 >= whole.0 && range.1 <= whole.1;
        match (direct.filter(fits), sum.filter(fits)) {
            (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.min(b.1))),
            (a, b) => a.or(b),
        }
    }

    /// The range of a value that counts the rounds of a loop: from where it starts to where it is in
    /// the last of so many `trips`, or to the bound that the branch back tests.
    fn counted(
        &self,
        value: Value,
        step: i64,
        trips: Option<u64>,
        depth: u32,
    ) -> Option<ValueRange> {
        let args = self.ways.args.get(&value)?;
        let whole = all(self.func.ty(value).scalar);
        // The test is that of the one branch back.
        let is_back = |arg: Value| is_next(self.func, arg, value);
        if args.iter().filter(|(.., arg)| is_back(*arg)).count() != 1 {
            return None;
        }
        let starts = || args.iter().filter(|&&(.., arg)| arg != value && !is_back(arg));
        let join = |a: ValueRange, b: ValueRange| (a.0.min(b.0), a.1.max(b.1));
        let mut first = starts().map(|(.., arg)| self.within(*arg, depth)).reduce(join)?;
        if let Some(trips) = trips.and_then(|trips| i64::try_from(trips).ok()) {
            let way = step.checked_mul(trips - 1)?;
            return Some((first.0.checked_add(way.min(0))?, first.1.checked_add(way.max(0))?));
        }
        let &(cond, bound) = self.ways.tests.get(&value)?;
        if self.func.ty(bound) != self.func.ty(value) {
            return None;
        }
        let bound = self.within(bound, depth);
        let size = step.checked_abs()?;
        if bound.1.checked_add(size - 1)? > whole.1 || bound.0.checked_sub(size - 1)? < whole.0 {
            // The counter may wrap before the test fails.
            return None;
        }
        // The first step is taken whatever the bound is, if no test in front of the loop says more.
        let wraps = |first: ValueRange| {
            let next = if step > 0 { first.1 } else { first.0 }.checked_add(step);
            next.is_none_or(|next| next < whole.0 || next > whole.1)
        };
        if wraps(first) {
            self.known.borrow_mut().insert(value, whole);
            first = starts().map(|way| self.arriving(way, depth)).reduce(join)?;
            if wraps(first) {
                return None;
            }
        }
        let exact = bound.0 == bound.1 && first.0 == first.1;
        match (cond, step.signum()) {
            (IntCond::Slt, 1) => Some((first.0, first.1.max(bound.1.checked_sub(1)?))),
            (IntCond::Sle, 1) if bound.1.checked_add(size)? <= whole.1 => {
                Some((first.0, first.1.max(bound.1)))
            }
            (IntCond::Ult, 1) if bound.0 >= 0 && first.0 >= 0 => {
                Some((first.0, first.1.max(bound.1 - 1)))
            }
            (IntCond::Sgt, -1) => Some((first.0.min(bound.0.checked_add(1)?), first.1)),
            (IntCond::Sge, -1) if bound.0.checked_sub(size)? >= whole.0 => {
                Some((first.0.min(bound.0), first.1))
            }
            (IntCond::Ne, 1) if exact && bound.0 > first.0 => {
                let distance = bound.0.checked_sub(first.0)?;
                (distance % step == 0).then(|| (first.0, bound.0 - step))
            }
            _ => None,
        }
    }
}

/// Whether a value is another one plus or minus something.
fn is_next(func: &Function, arg: Value, value: Value) -> bool {
    match func.def_op(arg) {
        Some(Op::Binary(BinaryOp::Iadd | BinaryOp::Isub, a, b)) => *a == value || *b == value,
        _ => false,
    }
}

/// The values of a range that stand in a relation to one of another range.
fn limited(cond: IntCond, (least, most): ValueRange, other: ValueRange) -> ValueRange {
    let positive = least >= 0 && other.0 >= 0;
    match cond {
        IntCond::Eq => (least.max(other.0), most.min(other.1)),
        IntCond::Slt => (least, most.min(other.1.saturating_sub(1))),
        IntCond::Sle => (least, most.min(other.1)),
        IntCond::Sgt => (least.max(other.0.saturating_add(1)), most),
        IntCond::Sge => (least.max(other.0), most),
        // Without signs, negative numbers are greater than all others.
        IntCond::Ult if other.0 >= 0 => (least.max(0), most.min(other.1.saturating_sub(1))),
        IntCond::Ule if other.0 >= 0 => (least.max(0), most.min(other.1)),
        IntCond::Ugt if positive => (least.max(other.0.saturating_add(1)), most),
        IntCond::Uge if positive => (least.max(other.0), most),
        _ => (least, most),
    }
}

/// The range of an operation on two ranges; `amount` is that of a shift by a constant.
fn binary(
    op: BinaryOp,
    a: ValueRange,
    b: ValueRange,
    amount: Option<u64>,
    scalar: Scalar,
) -> Option<ValueRange> {
    let positive = a.0 >= 0 && b.0 >= 0;
    Some(match op {
        BinaryOp::Iadd => (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?),
        BinaryOp::Isub => (a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?),
        BinaryOp::Imul => {
            let products = [
                a.0.checked_mul(b.0),
                a.0.checked_mul(b.1),
                a.1.checked_mul(b.0),
                a.1.checked_mul(b.1),
            ];
            let products: Option<Vec<i64>> = products.into_iter().collect();
            let products = products?;
            (*products.iter().min()?, *products.iter().max()?)
        }
        BinaryOp::And if b.0 >= 0 => (0, if a.0 >= 0 { a.1.min(b.1) } else { b.1 }),
        BinaryOp::And if a.0 >= 0 => (0, a.1),
        BinaryOp::Or | BinaryOp::Xor if positive => (0, ones(a.1).max(ones(b.1))),
        BinaryOp::Shl => {
            let by = 1_i64.checked_shl(amount? as u32).filter(|&by| by > 0)?;
            (a.0.checked_mul(by)?, a.1.checked_mul(by)?)
        }
        BinaryOp::Ashr => (a.0 >> amount?, a.1 >> amount?),
        BinaryOp::Lshr if a.0 >= 0 => (a.0 >> amount.unwrap_or(63), a.1 >> amount.unwrap_or(0)),
        BinaryOp::Lshr => {
            let amount = amount.filter(|&amount| amount > 0)?;
            (0, (u64::MAX >> (64 - scalar.bits()) >> amount) as i64)
        }
        BinaryOp::Smin => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Smax => (a.0.max(b.0), a.1.max(b.1)),
        BinaryOp::Umin if positive => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Umin if b.0 >= 0 => (0, b.1),
        BinaryOp::Umin if a.0 >= 0 => (0, a.1),
        BinaryOp::Umax if positive => (a.0.max(b.0), a.1.max(b.1)),
        BinaryOp::Urem if b.0 > 0 => (0, b.1 - 1),
        BinaryOp::Srem if b.0 > 0 => {
            (if a.0 >= 0 { 0 } else { 1 - b.1 }, if a.1 <= 0 { 0 } else { b.1 - 1 })
        }
        BinaryOp::Sdiv if a.0 >= 0 && b.0 > 0 => (0, a.1),
        _ => return None,
    })
}

/// The greatest number of as many bits.
fn ones(number: i64) -> i64 {
    match 64 - number.leading_zeros() {
        bits @ ..63 => (1 << bits) - 1,
        _ => i64::MAX,
    }
}
