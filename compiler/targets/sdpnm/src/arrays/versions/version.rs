//! A loop in two versions: one that an array runs, and the core's. Which of them runs is decided each
//! time the loop is entered: the array takes it where there are enough iterations, where what it works
//! on lies in the array's memory, and where no access will be outside, so that only the core's version
//! ends the run, as it always did.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::Affine;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, ConvertOp, Effect, Extent, Function, Inst, IntCond,
    IntrinsicCall, Mem, Op, Scalar, Terminator, Type, Value,
};
use nbcc_isa_sdpnm::core::arrays::{
    CONTROL, CONTROL_BYTES, COPY, COPY_AT, COPY_BYTES, FIRST, GLOBALS, GROUP, ITERATIONS, MEMBERS,
    PLACES, START,
};

use super::again;
use super::conditions::{all_of, filled, inside, is_apart, limits, present};
use super::forms::{form, word};
use crate::arrays::facts::shape::{Shape, Trips};
use crate::arrays::iteration::body::{Global, Operand, Part};
use crate::arrays::iteration::build::{Built, Outcome};
use crate::arrays::iteration::collect;
use crate::arrays::iteration::turns::{BANDS, REQUIRED, tag};
use crate::arrays::placing::bands::{self, Bands};
use crate::arrays::placing::split::Parts;

/// The extent of an object in a dimension.
pub const COUNT: &str = "sdpnm.count";
/// A control word that does not change while the function runs.
pub const STATUS: &str = "sdpnm.status";
/// A control word.
pub const READ: &str = "sdpnm.read";
/// Writes a control word.
pub const WRITE: &str = "sdpnm.write";

/// What of an array a loop uses.
#[derive(Clone, Debug)]
pub struct Use {
    /// The number of the array.
    pub array: u8,
    /// The number of the package; those of the parts behind the first are behind it.
    pub package: u32,
    /// The number of the one that runs where accesses are as far apart as is asked ([`Built::apart`]).
    pub if_apart: Option<u32>,
    /// The objects that must have their homes in it, and the numbers of these.
    pub homes: BTreeMap<Mem, u32>,
    /// The object with the words that the core leaves for it ([`Built::spilled`]).
    pub spills: Option<Mem>,
    /// From so many iterations on it is worth it.
    pub least: u32,
    /// How it is shared, where several arrays do.
    pub parts: Option<Parts>,
    /// The same of a nest whose trips are known at run time only.
    pub bands: Option<Bands>,
    /// The arrays that share it.
    pub arrays: Vec<u8>,
}

/// Iterations behind the first must be fewer.
pub(crate) const MAX_ITERATIONS: u64 = 1 << 24;

/// The address of a control word.
pub(crate) fn control(array: u8, offset: u32) -> i64 {
    i64::from(CONTROL + u32::from(array) * CONTROL_BYTES + offset)
}

/// A call of one of these operations.
pub(crate) fn call(
    name: &'static str,
    effect: Effect,
    args: Vec<Value>,
    mems: Vec<Mem>,
    imms: Vec<i64>,
) -> Op {
    let result = (name != WRITE).then_some(Type::I32);
    Op::Intrinsic(IntrinsicCall { name, effect, args, mems, imms, result })
}

/// The values of a loop that are used outside of it.
pub fn results(func: &Function, shape: &Shape) -> Vec<Value> {
    let mut found = BTreeSet::new();
    let mut note = |value: Value| {
        if shape.defines(func, value) {
            found.insert(value);
        }
    };
    for &block in func.layout.iter().filter(|&&block| !shape.contains(block)) {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(&mut note);
        }
        func.terminator(block).for_each_arg(&mut note);
    }
    shape.exit.args.iter().copied().for_each(note);
    found.into_iter().collect()
}

/// Whether the number of iterations can be computed before the loop.
pub fn can_count(func: &Function, shape: &Shape) -> bool {
    let Trips::While { value, step, .. } = shape.trips else { return true };
    let divides = func.ty(value) == Type::I64 && !step.unsigned_abs().is_power_of_two();
    shape.slice(func, value).is_some() && !divides
}

/// Adds the version for the array. The core's is the loop itself, or what stands in another place
/// instead of it, so that nothing leads to the loop any more: then with the header that the loop had.
///
/// # Panics
/// The number of iterations cannot be computed ([`can_count`]).
pub fn add(
    func: &mut Function,
    shape: &Shape,
    built: &Built,
    used: &Use,
    instead: Option<(Block, Block)>,
) {
    let [on_core, look, on_array, join] = [(); 4].map(|()| func.add_block());
    let shared = used.bands.as_ref().map(|_| [(); 3].map(|()| func.add_block()));
    let is_asked = shared.is_none() && !built.watches.is_empty();
    let ended = is_asked.then(|| func.add_block());
    let own: Vec<Block> =
        [look, on_array].into_iter().chain(ended).chain(shared.into_iter().flatten()).collect();
    // Where nobody knows whether there are enough iterations, the core's version may be the usual one: it
    // gets the registers.
    let is_rare = shape.usual_trips(func).is_none();
    for &block in &own {
        func.blocks[block].cold = is_rare;
    }
    let mut b = Builder::at(func, shape.preheader);
    b.set_span(shape.span);
    let least = used.least.max(built.least_trips);
    let (trips, mut conditions) = iterations(&mut b, shape, least);
    present(&mut b, used, &mut conditions);
    if let Some((header, _)) = instead {
        conditions.extend(required(b.func, header));
    }
    let to = |block| BlockCall { block, args: vec![] };
    // Where there are too few iterations, the rest is not looked at.
    if let Some(all) = all_of(&mut b, std::mem::take(&mut conditions)) {
        b.terminate(Terminator::Branch(all, to(look), to(on_core)));
    } else {
        b.jump(look, vec![]);
    }
    b.switch_to(look);
    let one = b.i32(1);
    let last = b.binary(BinaryOp::Isub, trips, one);
    let is_short = !matches!(shape.trips, Trips::Known(trips) if u64::from(trips) > MAX_ITERATIONS);
    inside(&mut b, built, (last, is_short), &mut conditions);
    filled(&mut b, built, &mut conditions);
    for &count in &built.counts {
        let few = b.i32(collect::MIN_INNER_ITERATIONS as i32);
        conditions.push(b.value(Op::Icmp(IntCond::Sge, count, few)));
    }
    limits(&mut b, built, last, &mut conditions);
    match all_of(&mut b, conditions) {
        Some(all) => b.terminate(Terminator::Branch(all, to(on_array), to(on_core))),
        None => b.jump(on_array, vec![]),
    }
    b.switch_to(on_core);
    match instead {
        Some((_, other)) => b.jump(other, vec![]),
        None => b.jump(shape.header, shape.entry_args.clone()),
    }

    b.switch_to(on_array);
    let of_loop = again::of_loop(b.func, shape, on_core);
    match (&used.bands, shared) {
        (Some(bands), Some([several, one, behind])) => {
            let is_worth = bands.is_worth(&mut b, trips, used.arrays.len());
            b.terminate(Terminator::Branch(is_worth, to(several), to(one)));
            b.switch_to(several);
            bands::share(&mut b, built, used, bands, trips);
            leave(&mut b, built, &used.arrays, (behind, on_core));
            b.switch_to(one);
            start(&mut b, &of_loop, built, used, trips);
            leave(&mut b, built, &[used.array], (behind, on_core));
            b.switch_to(behind);
        }
        _ => {
            start(&mut b, &of_loop, built, used, trips);
            if let Some(ended) = ended {
                leave(&mut b, built, &used.arrays, (ended, on_core));
                b.switch_to(ended);
            }
        }
    }
    let mut args = Vec::new();
    for (value, outcome) in &built.results {
        args.push(result(&mut b, *value, outcome, used.array, last));
    }
    b.jump(join, args);
    meet(func, shape, built, join, &own);
    if instead.is_none() {
        again::sink(func, shape, on_core);
    }
}

/// Lets both versions meet in a block behind the loop, in which what the loop leaves is that of either;
/// `own` are the blocks of the array's.
fn meet(func: &mut Function, shape: &Shape, built: &Built, join: Block, own: &[Block]) {
    let mut replacements = BTreeMap::new();
    for (value, _) in &built.results {
        let ty = func.ty(*value);
        replacements.insert(*value, func.add_param(join, ty));
    }
    let rename = |value: &mut Value| {
        if let Some(&new) = replacements.get(value) {
            *value = new;
        }
    };
    let inside: BTreeSet<Block> = shape.blocks.iter().copied().collect();
    for &block in func.layout.clone().iter().filter(|block| !inside.contains(block)) {
        if !own.contains(&block) {
            func.rename_in(block, rename);
        }
    }
    let mut exit = shape.exit.clone();
    exit.args.iter_mut().for_each(rename);
    func.blocks[join].terminator = Some(Terminator::Jump(exit));
    func.blocks[join].span = shape.span;
    let values: Vec<Value> = built.results.iter().map(|(value, _)| *value).collect();
    if let Some(terminator) = &mut func.blocks[shape.latch].terminator {
        for way in terminator.successors_mut() {
            if way.block != shape.header {
                *way = BlockCall { block: join, args: values.clone() };
            }
        }
    }
}

/// Goes on behind a loop that arrays run, if all subscripts that are watched were inside; else elsewhere.
fn leave(b: &mut Builder<'_>, built: &Built, arrays: &[u8], (behind, other): (Block, Block)) {
    let watches = built.watches.iter().flat_map(|of| arrays.iter().map(move |&array| (of, array)));
    let asked = watches.map(|(&(mem, number), array)| {
        let greatest = exported(b, number, array);
        let count = match mem.map(|mem| (mem, b.func.mems[mem].extents[0].clone())) {
            None => b.i32(1),
            Some((_, Extent::Fixed(count))) => b.i32(count as i32),
            Some((mem, _)) => b.value(call(COUNT, Effect::Pure, vec![], vec![mem], vec![0])),
        };
        b.value(Op::Icmp(IntCond::Ult, greatest, count))
    });
    let asked = asked.collect();
    let to = |block| BlockCall { block, args: vec![] };
    match all_of(b, asked) {
        Some(fine) => b.terminate(Terminator::Branch(fine, to(behind), to(other))),
        None => b.jump(behind, vec![]),
    }
}

/// What the array left in a global register.
fn exported(b: &mut Builder<'_>, number: usize, array: u8) -> Value {
    let at = control(array, GLOBALS + 4 * number as u32);
    b.value(call(READ, Effect::Write, vec![], vec![], vec![at]))
}

/// What must hold for a loop, as [`REQUIRED`] says: neither that nor [`BANDS`] is said any more.
fn required(func: &mut Function, header: Block) -> Vec<Value> {
    let mut found = Vec::new();
    for block in func.layout.clone() {
        let insts = &func.insts;
        func.blocks[block].insts.retain(|&inst| match &insts[inst].op {
            Op::Intrinsic(call) if call.name == REQUIRED && call.imms == [tag(header)] => {
                found.extend(&call.args);
                false
            }
            Op::Intrinsic(call) if call.name == BANDS => call.imms != [tag(header)],
            _ => true,
        });
    }
    found
}

/// The number of iterations, and when it is that and at least so many.
pub(crate) fn iterations(b: &mut Builder<'_>, shape: &Shape, least: u32) -> (Value, Vec<Value>) {
    let (cond, value, step, limit) = match shape.trips {
        Trips::Known(trips) => return (b.i32(trips as i32), vec![]),
        Trips::While { cond, value, step, limit } => (cond, value, step, limit),
    };
    let first = copy(b, shape, value);
    let limit = copy(b, shape, limit);
    let ty = b.func.ty(value);
    let number = |b: &mut Builder<'_>, n: u64| b.constant(ty, n);
    let bits = ty.scalar.bits();
    let mask = u64::MAX >> (64 - bits);
    let by = u64::from(step.unsigned_abs());
    let (is_signed, is_equal, up) = match cond {
        IntCond::Slt => (true, false, true),
        IntCond::Sle => (true, true, true),
        IntCond::Sgt => (true, false, false),
        IntCond::Sge => (true, true, false),
        IntCond::Ult => (false, false, true),
        IntCond::Ule => (false, true, true),
        IntCond::Ugt => (false, false, false),
        IntCond::Uge => (false, true, false),
        _ => (false, false, step > 0),
    };
    let mut conditions = Vec::new();
    // From a small constant on, a limit on the wrong side gives more iterations than are allowed.
    let known = shape.first(b.func).filter(|first| first.unsigned_abs() < MAX_ITERATIONS / 4);
    let is_clear = is_signed || (up && known.is_some_and(|first| first >= 0));
    if known.is_none() || by > 1 || !is_clear {
        conditions.push(b.value(Op::Icmp(cond, first, limit)));
    }
    let apart = match up {
        true => b.binary(BinaryOp::Isub, limit, first),
        false => b.binary(BinaryOp::Isub, first, limit),
    };
    // The counter must not wrap before it gets there.
    let room = if is_equal { by } else { by - 1 };
    if room > 0 && cond != IntCond::Ne {
        let (greatest, least) = match is_signed {
            true => (mask >> 1, (mask >> 1) + 1),
            false => (mask, 0),
        };
        let (cond, bound) = match (up, is_signed) {
            (true, true) => (IntCond::Sle, greatest - room),
            (true, false) => (IntCond::Ule, greatest - room),
            (false, true) => (IntCond::Sge, (least + room) & mask),
            (false, false) => (IntCond::Uge, least + room),
        };
        let bound = number(b, bound);
        conditions.push(b.value(Op::Icmp(cond, limit, bound)));
    }
    let divided = |b: &mut Builder<'_>, value: Value| match by {
        1 => value,
        by if by.is_power_of_two() => {
            let amount = b.constant(ty, u64::from(by.trailing_zeros()));
            b.binary(BinaryOp::Lshr, value, amount)
        }
        by => {
            let by = b.constant(ty, by);
            b.binary(BinaryOp::Udiv, value, by)
        }
    };
    let more = if is_equal {
        let whole = divided(b, apart);
        let one = number(b, 1);
        b.binary(BinaryOp::Iadd, whole, one)
    } else {
        let up = number(b, by - 1);
        let up = if by == 1 { apart } else { b.binary(BinaryOp::Iadd, apart, up) };
        divided(b, up)
    };
    // At least as many as are worth it, at most as many as subscripts bear: one comparison.
    let least = u64::from(least.max(1) - 1).min(MAX_ITERATIONS - 1);
    let (low, room) = (number(b, least), number(b, MAX_ITERATIONS - least));
    let above = b.binary(BinaryOp::Isub, more, low);
    conditions.push(b.value(Op::Icmp(IntCond::Ult, above, room)));
    let more = match bits {
        64 => b.convert(ConvertOp::Truncate, more, Type::I32),
        _ => more,
    };
    (b.iadd_imm(more, 1), conditions)
}

/// What a value of the loop is in the first iteration, made before it.
pub(crate) fn copy(b: &mut Builder<'_>, shape: &Shape, value: Value) -> Value {
    let slice = shape.slice(b.func, value).expect("a loop whose iterations can be counted");
    let mut made: BTreeMap<Value, Value> = BTreeMap::new();
    let params = b.func.blocks[shape.header].params.clone();
    made.extend(params.into_iter().zip(shape.entry_args.iter().copied()));
    for inst in slice {
        let data = b.func.insts[inst].clone();
        let op = data.op.map_args(|arg| made.get(&arg).copied().unwrap_or(arg));
        let new = b.value(op);
        made.insert(data.results[0], new);
    }
    made.get(&value).copied().unwrap_or(value)
}

/// The address of an element in the shared memory.
pub(crate) fn address(b: &mut Builder<'_>, used: &Use, mem: Mem, index: &Affine) -> Value {
    let bytes = b.func.mems[mem].element.bytes() as i32;
    let home = used.homes.get(&mem).copied().unwrap_or(0);
    let at = control(used.array, PLACES + 4 * home);
    let base = b.value(call(STATUS, Effect::Pure, vec![], vec![], vec![at]));
    if index.as_constant() == Some(0) {
        return base;
    }
    let offset = form(b, &index.times(bytes));
    b.iadd(base, offset)
}

/// Writes a control word.
pub(crate) fn write(b: &mut Builder<'_>, at: i64, value: Value) {
    b.op(call(WRITE, Effect::Write, vec![value], vec![], vec![at]));
}

/// What the core writes to a global register; nothing where the array does.
pub(crate) fn global(
    b: &mut Builder<'_>,
    of_loop: &BTreeSet<Inst>,
    used: &Use,
    global: &Global,
) -> Option<Value> {
    Some(match global {
        Global::Export => return None,
        Global::Value(value) => {
            let value = again::again(b, of_loop, *value);
            word(b, value)
        }
        Global::Constant(constant) => b.i32(*constant),
        Global::High(value) => {
            let value = again::again(b, of_loop, *value);
            high(b, value)
        }
        Global::Last(mem) => {
            let count = b.value(call(COUNT, Effect::Pure, vec![], vec![*mem], vec![0]));
            b.iadd_imm(count, -1)
        }
        Global::Pair(low, high) => {
            let [low, high] = [*low, *high].map(|half| {
                let half = again::again(b, of_loop, half);
                word(b, half)
            });
            let mask = b.i32(0xffff);
            let low = b.binary(BinaryOp::And, low, mask);
            let amount = b.i32(16);
            let high = b.binary(BinaryOp::Shl, high, amount);
            b.binary(BinaryOp::Or, low, high)
        }
        Global::Spilled => address(b, used, used.spills?, &Affine::default()),
        Global::Form(affine, factor) => form(b, &affine.times(*factor)),
        Global::Address(mem, index, _) => address(b, used, *mem, index),
        Global::Element(mem, index, part) => {
            let value = element(b, *mem, index);
            match part {
                Part::Signed => word(b, value),
                Part::Unsigned => b.convert(ConvertOp::ZeroExtend, value, Type::I32),
                Part::High => high(b, value),
            }
        }
    })
}

/// What an element holds.
fn element(b: &mut Builder<'_>, mem: Mem, index: &Affine) -> Value {
    let ty = Type { scalar: b.func.mems[mem].element, ..Type::I32 };
    let index = form(b, index);
    b.load(ty, mem, vec![index])
}

/// The high word of a value of 64 bits.
fn high(b: &mut Builder<'_>, value: Value) -> Value {
    let amount = b.constant(Type::I64, 32);
    let high = b.binary(BinaryOp::Lshr, value, amount);
    b.convert(ConvertOp::Truncate, high, Type::I32)
}

/// Leaves what finds no global register in the shared memory of the arrays of a loop.
pub(crate) fn spill(
    b: &mut Builder<'_>,
    of_loop: &BTreeSet<Inst>,
    built: &Built,
    used: &Use,
    arrays: &[u8],
) {
    let Some(mem) = used.spills.filter(|_| !built.spilled.is_empty()) else { return };
    for (word, of) in built.spilled.iter().enumerate() {
        if let Some(value) = global(b, of_loop, used, of) {
            let index = b.i32(word as i32);
            b.store(mem, vec![index], value);
        }
    }
    let (at, bytes) = (address(b, used, mem, &Affine::default()), 4 * built.spilled.len());
    for &array in arrays.iter().filter(|&&array| array != used.array) {
        let (bytes, from) = (b.i32(bytes as i32), b.i32(used.array.into()));
        for (offset, word) in [(COPY_AT, at), (COPY_BYTES, bytes), (COPY, from)] {
            write(b, control(array, offset), word);
        }
    }
}

/// Hands globals to the array and starts it. Whoever reads what it makes waits for it.
fn start(b: &mut Builder<'_>, of_loop: &BTreeSet<Inst>, built: &Built, used: &Use, trips: Value) {
    if let Some(parts) = &used.parts {
        return share(b, of_loop, built, used, parts);
    }
    spill(b, of_loop, built, used, &[]);
    for (number, of) in built.body.globals.iter().enumerate() {
        if let Some(value) = global(b, of_loop, used, of) {
            write(b, control(used.array, GLOBALS + 4 * number as u32), value);
        }
    }
    write(b, control(used.array, ITERATIONS), trips);
    let mut package = b.i32(used.package as i32);
    if let Some(other) = used.if_apart {
        let asked = built.apart.iter().map(|of| is_apart(b, of)).collect();
        if let Some(all) = all_of(b, asked) {
            let other = b.i32(other as i32);
            package = b.value(Op::Select(all, other, package));
        }
    }
    write(b, control(used.array, START), package);
}

/// Starts a loop on several arrays, each with its part, and copies what they store to its home.
fn share(b: &mut Builder<'_>, of_loop: &BTreeSet<Inst>, built: &Built, used: &Use, parts: &Parts) {
    spill(b, of_loop, built, used, &used.arrays);
    let members = used.arrays.iter().fold(0, |mask, &array| mask | 1 << array);
    let members = b.i32(members);
    write(b, i64::from(GROUP + MEMBERS), members);
    let ranges = parts.of(&used.arrays);
    for (number, of) in built.body.globals.iter().enumerate() {
        let Some(value) = global(b, of_loop, used, of) else { continue };
        let offset = GLOBALS + 4 * number as u32;
        let Some(step) = parts.counters.get(&number) else {
            write(b, i64::from(GROUP + offset), value);
            continue;
        };
        let step = match *step {
            Operand::Immediate(step) => b.i32(step),
            Operand::Global(number) => {
                let step = global(b, of_loop, used, &built.body.globals[number]);
                step.unwrap_or_else(|| b.i32(0))
            }
            _ => b.i32(0),
        };
        for &(array, first, _) in &ranges {
            let way = b.imul_imm(step, first as i32);
            let own = b.iadd(value, way);
            write(b, control(array, offset), own);
        }
    }
    for (number, &(array, first, count)) in ranges.iter().enumerate() {
        let words = [(FIRST, first), (ITERATIONS, count), (START, used.package + number as u32)];
        for (offset, word) in words.into_iter().filter(|word| *word != (FIRST, 0)) {
            let word = b.i32(word as i32);
            write(b, control(array, offset), word);
        }
    }
    for &(array, first, count) in &ranges[1..] {
        for stretch in &parts.stretches {
            let (first, count) = (first / parts.period, count / parts.period);
            let lowest = if stretch.step > 0 { first } else { first + count - 1 };
            let mut element = stretch.start.clone();
            let way = stretch.step.wrapping_mul(lowest as i32);
            element.constant = element.constant.wrapping_add(way);
            let at = address(b, used, stretch.mem, &element);
            let bytes = count * stretch.step.unsigned_abs() * stretch.bytes;
            let (bytes, from) = (b.i32(bytes as i32), b.i32(array.into()));
            for (offset, word) in [(COPY_AT, at), (COPY_BYTES, bytes), (COPY, from)] {
                write(b, control(used.array, offset), word);
            }
        }
    }
}

/// What a value of the loop is behind it.
fn result(b: &mut Builder<'_>, value: Value, outcome: &Outcome, array: u8, last: Value) -> Value {
    let ty = b.func.ty(value);
    let word = match outcome {
        Outcome::Export(number) => exported(b, *number, array),
        Outcome::Wide(low, high) => {
            let [low, high] = [*low, *high].map(|number| {
                let word = exported(b, number, array);
                b.convert(ConvertOp::ZeroExtend, word, Type::I64)
            });
            let amount = b.constant(Type::I64, 32);
            let high = b.binary(BinaryOp::Shl, high, amount);
            return b.binary(BinaryOp::Or, low, high);
        }
        Outcome::Last(evolution) => {
            let start = form(b, &evolution.start);
            if evolution.step == Affine::default() {
                return start;
            }
            let step = form(b, &evolution.step);
            let way = b.imul(step, last);
            return b.iadd(start, way);
        }
    };
    match ty.scalar {
        Scalar::I32 => word,
        Scalar::I64 => b.convert(ConvertOp::SignExtend, word, Type::I64),
        Scalar::I1 => {
            let zero = b.i32(0);
            b.value(Op::Icmp(IntCond::Ne, word, zero))
        }
        _ => b.convert(ConvertOp::Truncate, word, ty),
    }
}
