//! Counters that are narrower than words become words where they never wrap while their loop goes on
//! (induction variable widening, as compilers to machines with wide registers do it): C computes with
//! them as words and cuts them off again in each iteration, so that nothing says of them that they grow
//! by a constant.
//!
//! Let `lo` and `hi` be the least and the greatest number of the narrow type. A counter `p` goes on as
//! `x = p + step`, cut off. It is a word where `lo <= x <= hi` whenever the loop goes on: by the test of
//! that, which compares `x` or `p`, and by what the counter begins with. Only the first addition may
//! wrap where `x` is compared, as in `do ... while (--n)`: the word then begins `step` before what `x` is
//! first, cut off. What else grows by constants is a word where the loop runs a known number of times and
//! no sum wraps. A counter that may wrap later, as in `for (uint8_t i = 0; i < 300; i++)`, stays as it is.

use nbcc_analysis::{Loop, LoopForest, ValueRange, ValueRanges, sign_extend};
use nbcc_ir::{
    BinaryOp, Block, Cfg, Constant, ConvertOp, Counter, Dominators, Function, Inst, IntCond, Op,
    Positions, Replacements, Terminator, Type, Value,
};

/// A counter that becomes a word.
struct Narrow {
    header: Block,
    entering: Block,
    latch: Block,
    number: usize,
    param: Value,
    /// How it is made a word.
    extend: ConvertOp,
    /// The word that it goes on as.
    next: Value,
    /// Narrow values that fit in all iterations, and the words that are cut off to them.
    cuts: Vec<(Value, Value)>,
    /// What is added to it, where the first addition may wrap: the word then begins so much before what
    /// the addition comes to.
    wraps_first: Option<i64>,
    /// A comparison of the narrow counter itself that decides whether the loop goes on.
    test: Option<Inst>,
}

/// Makes words of them.
pub fn run(func: &mut Function) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let positions = Positions::new(func);
    let found: Vec<Narrow> = {
        let ranges = ValueRanges::new(func);
        let loops = forest.loops.keys();
        let each = loops.flat_map(|l| {
            let way = Way::new(func, &cfg, &forest, l)?;
            let mut all = narrow(func, &way, (&forest, l), &positions, &ranges);
            for other in stepping(func, &way, &ranges) {
                if all.iter().all(|of| of.param != other.param) {
                    all.push(other);
                }
            }
            // The last first, so that the numbers of the others stay.
            all.sort_by_key(|of| std::cmp::Reverse(of.number));
            Some(all)
        });
        each.flatten().collect()
    };
    for narrow in &found {
        widen(func, narrow);
    }
    !found.is_empty()
}

/// How control comes to a loop, and back to where it begins.
struct Way<'a> {
    header: Block,
    latch: Block,
    entering: Block,
    /// The number of the way from there.
    number: usize,
    entry: &'a [Value],
    back: &'a [Value],
    /// The condition of the latch, and whether the loop goes on where it holds.
    test: Option<(Value, bool)>,
}

impl<'a> Way<'a> {
    /// The one way into a loop and the one way back.
    fn new(func: &'a Function, cfg: &Cfg, forest: &LoopForest, l: Loop) -> Option<Way<'a>> {
        let data = &forest.loops[l];
        let (&[latch], header) = (&data.latches[..], data.header) else { return None };
        let outside: Vec<Block> =
            cfg.predecessors(header).iter().copied().filter(|&block| block != latch).collect();
        let &[entering] = &outside[..] else { return None };
        let entries = func.terminator(entering).successors().into_iter().enumerate();
        let mut entries = entries.filter(|(_, to)| to.block == header);
        let (Some((number, entry)), None) = (entries.next(), entries.next()) else { return None };
        let (back, test) = match func.terminator(latch) {
            Terminator::Branch(cond, then, other) => {
                match [then, other].map(|to| to.block == header) {
                    [true, false] => (then, Some((*cond, true))),
                    [false, true] => (other, Some((*cond, false))),
                    _ => return None,
                }
            }
            Terminator::Jump(back) => (back, None),
            _ => return None,
        };
        let (entry, back) = (&entry.args[..], &back.args[..]);
        Some(Way { header, latch, entering, number, entry, back, test })
    }
}

/// The least and the greatest number of a narrow type.
fn limits(ty: Type, extend: ConvertOp) -> ValueRange {
    let bits = ty.scalar.bits();
    match extend {
        ConvertOp::SignExtend => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        _ => (0, (1i64 << bits) - 1),
    }
}

/// What else grows by constants in a loop that runs a known number of times, as `o` in `d[o++] = ...`,
/// where it stays within its limits all the time.
fn stepping(func: &Function, way: &Way<'_>, ranges: &ValueRanges<'_>) -> Vec<Narrow> {
    let info = func.blocks[way.header].loop_info.as_ref();
    let trips = info.and_then(|info| info.trips).filter(|&trips| (1..1 << 16).contains(&trips));
    let Some(trips) = trips.map(|trips| trips as i64) else { return vec![] };
    let candidate = |(number, &param): (usize, &Value)| {
        let ty = func.ty(param);
        if !matches!(ty, Type::I8 | Type::I16) {
            return None;
        }
        // From the last sum to the first.
        let mut sums: Vec<(Value, Value, i64)> = vec![];
        let (mut value, mut kind) = (*way.back.get(number)?, None);
        while value != param {
            let &Op::Convert(ConvertOp::Truncate, next, _) = func.def_op(value)? else {
                return None;
            };
            let (extend, of, more) = sum(func, next)?;
            let fine = func.ty(next) == Type::I32 && more.unsigned_abs() < 1 << 16;
            if !fine || *kind.get_or_insert(extend) != extend || sums.len() >= 16 {
                return None;
            }
            sums.push((value, next, more));
            value = of;
        }
        let extend = kind?;
        let (lo, hi) = limits(ty, extend);
        let from = (way.entering, way.number);
        let first =
            Enters { func, ranges, extend, limits: (lo, hi), from }.range(way.entry[number]);
        let (mut step, mut least, mut most) = (0, 0, 0);
        for &(.., more) in sums.iter().rev() {
            step += more;
            least = step.min(least);
            most = step.max(most);
        }
        let others = step * (trips - 1);
        let fits = first.0 + least + others.min(0) >= lo && first.1 + most + others.max(0) <= hi;
        fits.then(|| Narrow {
            header: way.header,
            entering: way.entering,
            latch: way.latch,
            number,
            param,
            extend,
            next: sums[0].1,
            cuts: sums.iter().map(|&(cut, next, _)| (cut, next)).collect(),
            wraps_first: None,
            test: None,
        })
    };
    func.blocks[way.header].params.iter().enumerate().filter_map(candidate).collect()
}

/// What decides whether a loop goes on, where that compares a narrow counter.
struct Tested {
    test: Inst,
    /// Under which it goes on.
    cond: IntCond,
    bound: Value,
    /// How what is compared was made a word.
    extended_by: Option<ConvertOp>,
    /// The counter, of this iteration or of the next.
    narrow: Value,
    /// How much more than the counter is compared.
    more: i64,
}

impl Tested {
    fn new(
        func: &Function,
        way: &Way<'_>,
        (forest, l): (&LoopForest, Loop),
        positions: &Positions,
    ) -> Option<Tested> {
        let (cond, again) = way.test?;
        let test = func.def_inst(cond)?;
        let Op::Icmp(cond, a, b) = func.insts[test].op else { return None };
        let cond = if again { cond } else { cond.negated() };
        let is_fixed = |value: Value| {
            let home = positions.defining_block(func, value);
            func.splat_constant(value).is_some()
                || home.is_some_and(|block| !forest.contains(l, block))
        };
        let (cond, tested, bound) = match (is_fixed(a), is_fixed(b)) {
            (false, true) => (cond, a, b),
            (true, false) => (cond.swapped(), b, a),
            _ => return None,
        };
        // Equal is equal, whatever it is extended with. What a sum with a constant is compared with, as in
        // `x + 1 < w`, is as much more than what the counter is.
        let is_signed = matches!(cond, IntCond::Slt | IntCond::Sle | IntCond::Sgt | IntCond::Sge);
        let (extended_by, tested, more) = match func.def_op(tested) {
            Some(&Op::Convert(kind @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), of, _)) => {
                (Some(kind), of, 0)
            }
            Some(Op::Binary(..))
                if let Some((kind, of, more)) = sum(func, tested)
                    && func.ty(tested) == Type::I32
                    && more.unsigned_abs() < 1 << 16
                    && (is_signed || more >= 0) =>
            {
                (Some(kind), of, more)
            }
            _ if matches!(cond, IntCond::Eq | IntCond::Ne)
                && func.blocks[way.latch].insts.contains(&test) =>
            {
                (None, tested, 0)
            }
            _ => return None,
        };
        Some(Tested { test, cond, bound, extended_by, narrow: tested, more })
    }
}

/// What must hold of a word before a loop, that a narrow counter of the loop can be one.
pub struct Question {
    /// The word.
    pub bound: Value,
    /// What it is compared with.
    pub limit: i32,
    /// How.
    pub cond: IntCond,
}

/// What must hold that a loop that may not end for its narrow counter, as one with `i <= n`, has words of
/// counters.
pub fn question(func: &Function, header: Block) -> Option<Question> {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    let l = forest.headed_by(header)?;
    let way = Way::new(func, &cfg, &forest, l)?;
    let positions = Positions::new(func);
    let of = Tested::new(func, &way, (&forest, l), &positions)?;
    if of.extended_by.is_none() || func.ty(of.bound) != Type::I32 {
        return None;
    }
    let ranges = ValueRanges::new(func);
    if !narrow(func, &way, (&forest, l), &positions, &ranges).is_empty() {
        return None;
    }
    let back = way.back.iter().zip(&func.blocks[header].params);
    let sums = back.filter_map(|(&cut, &param)| {
        let &Op::Convert(ConvertOp::Truncate, next, _) = func.def_op(cut)? else { return None };
        let (extend, from, step) = sum(func, next)?;
        (from == param && (of.narrow == cut || of.narrow == param)).then_some((extend, param, step))
    });
    let [(extend, param, step)] = sums.collect::<Vec<_>>()[..] else { return None };
    let (lo, hi) = limits(func.ty(param), extend);
    let (limit, cond) = match (of.cond, step.signum()) {
        (IntCond::Slt | IntCond::Ult, 1) => (hi - step + 1, IntCond::Sle),
        (IntCond::Sle | IntCond::Ule, 1) => (hi - step, IntCond::Sle),
        (IntCond::Sgt | IntCond::Ugt, -1) => (lo - step - 1, IntCond::Sge),
        (IntCond::Sge | IntCond::Uge, -1) => (lo - step, IntCond::Sge),
        _ => return None,
    };
    let limit = i32::try_from(limit + of.more).ok()?;
    // Whether that is enough.
    let (least, most) = ranges.on_way(of.bound, way.entering, way.number);
    let asked = match cond {
        IntCond::Sle => (least, most.min(limit.into())),
        _ => (least.max(limit.into()), most),
    };
    (asked.0 <= asked.1).then_some(Question { bound: of.bound, limit, cond })
}

/// The counters of a loop that can be words by what decides whether it goes on.
fn narrow(
    func: &Function,
    way: &Way<'_>,
    (forest, l): (&LoopForest, Loop),
    positions: &Positions,
    ranges: &ValueRanges<'_>,
) -> Vec<Narrow> {
    let Some(tested) = Tested::new(func, way, (forest, l), positions) else { return vec![] };
    let &Way { header, latch, entering, entry, back, .. } = way;
    let Tested { test, cond, bound, extended_by, narrow: tested, more } = tested;
    let candidate = |(number, &param): (usize, &Value)| {
        let ty = func.ty(param);
        let cut = *back.get(number)?;
        let &Op::Convert(ConvertOp::Truncate, next, _) = func.def_op(cut)? else { return None };
        let (extend, step) = sum(func, next).filter(|of| of.1 == param).map(|of| (of.0, of.2))?;
        let narrow = matches!(ty, Type::I8 | Type::I16) && func.ty(next) == Type::I32;
        if !narrow || tested != cut && tested != param || extended_by.is_some_and(|by| by != extend)
        {
            return None;
        }
        let (lo, hi) = limits(ty, extend);
        let enters =
            Enters { func, ranges, extend, limits: (lo, hi), from: (entering, way.number) };
        let first = enters.range(entry[number]);
        let tests_next = tested == cut;
        let bound = match extended_by {
            Some(_) => {
                let (least, most) = ranges.on_way(bound, entering, way.number);
                (least.saturating_sub(more), most.saturating_sub(more))
            }
            None => enters.range(bound),
        };
        let goes_on = Goes { cond, bound, step, first, tests_next, is_signed: lo < 0 };
        let wraps_first = match goes_on.without_wrapping((lo, hi)) {
            true => None,
            // What is tested first is what the addition comes to, and that is narrow.
            false if tests_next => {
                let first = (lo - step, hi - step);
                let later = Goes { first, ..goes_on };
                Some(later.without_wrapping((lo, hi)).then_some(step)?)
            }
            false => return None,
        };
        Some(Narrow {
            header,
            entering,
            latch,
            number,
            param,
            extend,
            next,
            // In the iteration that leaves it fits only if it is what is tested.
            cuts: if tests_next { vec![(cut, next)] } else { vec![] },
            wraps_first,
            test: extended_by.is_none().then_some(test),
        })
    };
    func.blocks[header].params.iter().enumerate().filter_map(candidate).collect()
}

/// The way into a loop, and how narrow values are made words.
struct Enters<'a> {
    func: &'a Function,
    ranges: &'a ValueRanges<'a>,
    extend: ConvertOp,
    /// The least and the greatest number.
    limits: ValueRange,
    from: (Block, usize),
}

impl Enters<'_> {
    /// The range of what a narrow value is as a word, with what is asked about it before the loop, as it
    /// is or made a word.
    fn range(&self, narrow: Value) -> ValueRange {
        let &Enters { func, ranges, extend, limits: (lo, hi), from: (entering, way) } = self;
        let fits = |&(least, most): &ValueRange| least >= lo && most <= hi;
        let own = Some(ranges.on_way(narrow, entering, way)).filter(fits).unwrap_or((lo, hi));
        let is_word = |value: Value| matches!(func.def_op(value), Some(&Op::Convert(kind, from, _)) if kind == extend && from == narrow);
        let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
        let words = insts.flat_map(|&inst| &func.insts[inst].results).filter(|&&v| is_word(v));
        let words = words.map(|&word| ranges.on_way(word, entering, way)).filter(fits);
        let (mut least, mut most) = words.fold(own, |a, b| (a.0.max(b.0), a.1.min(b.1)));
        // What it is not, where the loop is entered, says something if that is an end.
        if let Terminator::Branch(cond, ..) = func.terminator(entering)
            && let Some(&Op::Icmp(cond, a, b)) = func.def_op(*cond)
            && (if way == 0 { cond } else { cond.negated() }) == IntCond::Ne
            && (a == narrow || is_word(a))
            && let Some(bits) = func.splat_constant(b)
        {
            let not = match extend {
                ConvertOp::SignExtend => sign_extend(func.ty(b).scalar, bits),
                _ => bits as i64,
            };
            least += i64::from(least == not);
            most -= i64::from(most == not);
        }
        if least <= most { (least, most) } else { (lo, hi) }
    }
}

/// The narrow value that a word is more than, how that is made a word, and how much more.
fn sum(func: &Function, word: Value) -> Option<(ConvertOp, Value, i64)> {
    let &Op::Binary(op, a, b) = func.def_op(word)? else { return None };
    let extended = |value: Value| match func.def_op(value) {
        Some(&Op::Convert(kind @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), of, _)) => {
            Some((kind, of))
        }
        _ => None,
    };
    let constant =
        |value: Value| Some(sign_extend(func.ty(value).scalar, func.splat_constant(value)?));
    let ((extend, of), more) = match op {
        BinaryOp::Iadd => match (constant(b), constant(a)) {
            (Some(more), _) => (extended(a)?, more),
            (None, more) => (extended(b)?, more?),
        },
        BinaryOp::Isub => (extended(a)?, -constant(b)?),
        _ => return None,
    };
    Some((extend, of, more))
}

/// When a loop goes on.
struct Goes {
    cond: IntCond,
    bound: ValueRange,
    step: i64,
    /// What the counter is in the first iteration.
    first: ValueRange,
    /// Whether the test compares what the counter is in the next iteration, or what it is in this one.
    tests_next: bool,
    is_signed: bool,
}

impl Goes {
    /// Whether the counter stays within limits by as much as it grows: where the test compares the next
    /// counter, in all iterations, else in those after which the loop goes on.
    fn without_wrapping(&self, (lo, hi): ValueRange) -> bool {
        let &Goes { bound, step, first, tests_next, .. } = self;
        if step.unsigned_abs() > 1 << 20 {
            return false;
        }
        // Without signs it is the same where there are none.
        let cond = match (self.cond, self.is_signed || bound.0 < 0) {
            (IntCond::Ult, false) => IntCond::Slt,
            (IntCond::Ule, false) => IntCond::Sle,
            (IntCond::Ugt, false) => IntCond::Sgt,
            (IntCond::Uge, false) => IntCond::Sge,
            (cond, _) => cond,
        };
        // The greatest counter, or the least, from which it goes on.
        let last = match (cond, step.signum()) {
            (IntCond::Slt, 1) => bound.1.saturating_sub(1),
            (IntCond::Sle, 1) => bound.1,
            (IntCond::Sgt, -1) => bound.0.saturating_add(1),
            (IntCond::Sge, -1) => bound.0,
            // It meets the bound, which is not behind where it begins.
            (IntCond::Ne, 1) if step == 1 && first.1 + i64::from(tests_next) <= bound.0 => {
                bound.1.saturating_sub(1)
            }
            (IntCond::Ne, -1) if step == -1 && first.0 - i64::from(tests_next) >= bound.1 => {
                bound.0.saturating_add(1)
            }
            _ => return false,
        };
        let fits = |counter: i64| counter.checked_add(step).is_some_and(|x| x >= lo && x <= hi);
        let first = if step > 0 { first.1 } else { first.0 };
        fits(last) && (!tests_next || fits(first))
    }
}

/// Makes a word of a counter.
fn widen(func: &mut Function, narrow: &Narrow) {
    let &Narrow { header, entering, latch, number, param, extend, next, .. } = narrow;
    let ty = func.ty(param);
    let span = func.blocks[header].span;
    let mut entries = func.terminator(entering).successors().into_iter();
    let Some(entry) = entries.find(|to| to.block == header) else { return };
    let first = entry.args[number];
    let known = func.splat_constant(first);
    let extended = |number: i64| match extend {
        ConvertOp::SignExtend => sign_extend(ty.scalar, number as u64),
        _ => number & ((1 << ty.scalar.bits()) - 1),
    };
    let mut before = |op: Op| {
        let ty = if matches!(op, Op::Convert(ConvertOp::Truncate, ..)) { ty } else { Type::I32 };
        let inst = func.make_inst(op, &[ty], span);
        func.blocks[entering].insts.push(inst);
        func.insts[inst].results[0]
    };
    let bits = |number: i64| Constant::Splat(number as u64 & u64::from(u32::MAX));
    let first = match (known, narrow.wraps_first) {
        // What counts the loop's rounds later asks for a constant.
        (Some(first), None) => before(Op::Const(Type::I32, bits(extended(first as i64)))),
        (Some(first), Some(step)) => {
            let then = extended(extended(first as i64) + step);
            before(Op::Const(Type::I32, bits(then - step)))
        }
        (None, None) => before(Op::Convert(extend, first, Type::I32)),
        (None, Some(step)) => {
            let step = before(Op::Const(Type::I32, bits(step)));
            let first = before(Op::Convert(extend, first, Type::I32));
            let then = before(Op::Binary(BinaryOp::Iadd, first, step));
            let then = before(Op::Convert(ConvertOp::Truncate, then, ty));
            let then = before(Op::Convert(extend, then, Type::I32));
            before(Op::Binary(BinaryOp::Isub, then, step))
        }
    };
    let word = func.add_param_with_args(header, Type::I32, &[entering, latch], |from, _| {
        if from == latch { next } else { first }
    });
    let inst = func.make_inst(Op::Convert(ConvertOp::Truncate, word, ty), &[ty], span);
    func.blocks[header].insts.insert(0, inst);
    let narrowed = func.insts[inst].results[0];
    if let Some(info) = &mut func.blocks[header].loop_info
        && let Some(Counter { value, .. }) = &mut info.counter
        && *value == param
    {
        *value = word;
    }
    let mut replacements = Replacements::new();
    let mut sources = narrow.cuts.clone();
    match (narrow.wraps_first, func.def_inst(next)) {
        // Others than the addition read the narrow value.
        (Some(_), Some(adds)) => {
            let words: Vec<Value> = func.insts[adds].op.args();
            let is_of = |&word: &Value| matches!(func.def_op(word), Some(&Op::Convert(_, from, _)) if from == param);
            let read = words.into_iter().find(is_of);
            func.insts[adds].op.for_each_arg_mut(|arg| {
                if Some(*arg) == read {
                    *arg = word;
                }
            });
        }
        _ => sources.push((param, word)),
    }
    if let Some(test) = narrow.test
        && let Op::Icmp(cond, a, b) = func.insts[test].op
    {
        let is_cut = |value: Value| matches!(func.def_op(value), Some(&Op::Convert(ConvertOp::Truncate, of, _)) if of == next);
        let (counts, bound) = if a == param || is_cut(a) { (a, b) } else { (b, a) };
        let inst = func.make_inst(Op::Convert(extend, bound, Type::I32), &[Type::I32], span);
        let bound = func.insts[inst].results[0];
        let insts = &mut func.blocks[latch].insts;
        let at = insts.iter().position(|&other| other == test).unwrap_or(insts.len());
        insts.insert(at, inst);
        let counts = if counts == param { word } else { next };
        func.insts[test].op = Op::Icmp(cond, counts, bound);
    }
    for block in func.layout.clone() {
        for inst in func.blocks[block].insts.clone() {
            let Op::Convert(kind, from, to) = func.insts[inst].op else { continue };
            let source = sources.iter().find(|&&(narrow, _)| narrow == from);
            let Some(&(_, source)) = source.filter(|_| kind == extend) else { continue };
            match to {
                Type::I32 => replacements.replace(func.insts[inst].results[0], source),
                Type::I64 => func.insts[inst].op = Op::Convert(ConvertOp::SignExtend, source, to),
                _ => {}
            }
        }
    }
    replacements.replace(param, narrowed);
    replacements.apply(func);
    func.remove_params(|value| value == param);
}
