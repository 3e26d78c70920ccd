//! What the core asks before an array runs a loop ([`super::version`]).

use std::collections::BTreeMap;

use nbcc_analysis::Affine;
use nbcc_ir::{BinaryOp, Builder, ConvertOp, Effect, Extent, IntCond, Mem, Op, Type, Value};
use nbcc_isa_sdpnm::core::arrays::PRESENT;

use super::forms::{form, is_word, long_form};
use super::version::{COUNT, STATUS, Use, call, control};
use crate::arrays::facts::access::{Apart, Subscript};
use crate::arrays::facts::evolution::nearest_word;
use crate::arrays::iteration::build::Built;
use crate::arrays::iteration::rounds::Limits;
use crate::arrays::iteration::turns::Walk;

/// Elements from one iteration to the next, up or down, up to which words show whether all are inside;
/// all iterations together are then fewer than 2^30 elements.
const MAX_STRIDE: u32 = 1 << 6;

/// Accesses to one object that differ by constants: their form, the least and the greatest constant.
type Spans = BTreeMap<(Mem, Vec<(Value, i32)>, Vec<(Value, i32)>, i32), (i32, i32)>;

/// That objects of which subscripts are watched have elements.
pub(super) fn filled(b: &mut Builder<'_>, built: &Built, conditions: &mut Vec<Value>) {
    let zero = b.i32(0);
    for mem in built.watches.iter().filter_map(|of| of.0) {
        if !matches!(b.func.mems[mem].extents[0], Extent::Fixed(_)) {
            let count = b.value(call(COUNT, Effect::Pure, vec![], vec![mem], vec![0]));
            conditions.push(b.value(Op::Icmp(IntCond::Sgt, count, zero)));
        }
    }
}

/// That the homes are there.
pub(super) fn present(b: &mut Builder<'_>, used: &Use, conditions: &mut Vec<Value>) {
    let mut masks: BTreeMap<u32, u32> = BTreeMap::new();
    for &home in used.homes.values() {
        *masks.entry(home / 32).or_default() |= 1 << (home % 32);
    }
    for (word, mask) in masks {
        let at = control(used.array, PRESENT + 4 * word);
        let bits = b.value(call(STATUS, Effect::Pure, vec![], vec![], vec![at]));
        let mask = b.i32(mask as i32);
        let there = b.binary(BinaryOp::And, bits, mask);
        conditions.push(b.value(Op::Icmp(IntCond::Eq, there, mask)));
    }
}

/// That no access is outside in any iteration, of which `last` is the last; whether that is less than
/// [`super::version::MAX_ITERATIONS`].
pub(super) fn inside(
    b: &mut Builder<'_>,
    built: &Built,
    (last, is_short): (Value, bool),
    conditions: &mut Vec<Value>,
) {
    let mut spans: Spans = BTreeMap::new();
    let mut walks: Vec<(Mem, &Walk, (i32, i32))> = Vec::new();
    for access in &built.accesses {
        let evolution = match &access.subscript {
            Subscript::Linear(evolution) => evolution,
            Subscript::Followed(of) => &of.first,
            Subscript::Limited(_, limits) => {
                match limits {
                    Limits::Grown { start, step, least, most } => {
                        let at = |more: i32| start.constant.saturating_add(more);
                        let key = (access.mem, start.terms.clone(), vec![], *step);
                        let span = spans.entry(key).or_insert((at(*least), at(*most)));
                        *span = (span.0.min(at(*least)), span.1.max(at(*most)));
                    }
                    Limits::Round { start, end } => round(b, access.mem, (start, end), conditions),
                }
                continue;
            }
            _ => continue,
        };
        let (start, step) = (&evolution.start, &evolution.step);
        if let Some((walk, constant)) = &evolution.walk {
            let constant = *constant;
            match walks.iter_mut().find(|other| (other.0, other.1) == (access.mem, walk)) {
                Some((_, _, span)) => *span = (span.0.min(constant), span.1.max(constant)),
                None => walks.push((access.mem, walk, (constant, constant))),
            }
            continue;
        }
        // Words of a nest are lowest and highest in iterations that are known.
        let in_nest = match evolution.is_linear() {
            true => None,
            false => built.trips.and_then(|trips| evolution.reach(trips)),
        };
        let (step, (least, most)) = match in_nest {
            None => (step.clone(), (start.constant, start.constant)),
            Some((least, most)) => {
                let at = |more: i64| nearest_word(i64::from(start.constant) + more);
                (Affine::default(), (at(least), at(most)))
            }
        };
        let key = (access.mem, start.terms.clone(), step.terms, step.constant);
        let span = spans.entry(key).or_insert((least, most));
        *span = (span.0.min(least), span.1.max(most));
    }
    for (mem, walk, span) in walks {
        walked(b, mem, walk, span, conditions);
    }
    for ((mem, terms, step_terms, step_constant), (least, greatest)) in spans {
        let step = Affine { terms: step_terms, constant: step_constant };
        // Elements of the first iteration.
        let low = form(b, &Affine { terms: terms.clone(), constant: least });
        let count = match b.func.mems[mem].extents[0] {
            Extent::Fixed(count) => Ok(count),
            _ => Err(b.value(call(COUNT, Effect::Pure, vec![], vec![mem], vec![0]))),
        };
        let zero = b.i32(0);
        conditions.push(b.value(Op::Icmp(IntCond::Sge, low, zero)));
        let known = step.as_constant();
        let apart = i64::from(greatest) - i64::from(least);
        let is_near = |step: &i32| is_short && step.unsigned_abs() <= MAX_STRIDE && apart < 1 << 30;
        if let Some(step) = known.filter(is_near) {
            // The first element is 0 or more, so that no sum wraps without its sign.
            let way = b.imul_imm(last, step);
            let high = b.iadd_imm(low, apart as i32);
            let (high, lowest) = match step {
                0 => (high, None),
                1.. => (b.iadd(high, way), None),
                _ => (high, Some(b.iadd(low, way))),
            };
            let count = count.map_or_else(|count| count, |count| b.i32(count as i32));
            conditions.push(b.value(Op::Icmp(IntCond::Ult, high, count)));
            if let Some(lowest) = lowest {
                conditions.push(b.value(Op::Icmp(IntCond::Sge, lowest, zero)));
            }
            continue;
        }
        let wide =
            |b: &mut Builder<'_>, value: Value| b.convert(ConvertOp::SignExtend, value, Type::I64);
        let first = wide(b, low);
        let apart = b.constant(Type::I64, apart as u64);
        let high = b.iadd(first, apart);
        let count = match count {
            Ok(count) => b.constant(Type::I64, count.into()),
            Err(count) => wide(b, count),
        };
        let below = |b: &mut Builder<'_>, value: Value, conditions: &mut Vec<Value>| {
            conditions.push(b.value(Op::Icmp(IntCond::Slt, value, count)));
        };
        // `last` is less than 2^32: no product wraps.
        let by = form(b, &step);
        let (by, last) = (wide(b, by), wide(b, last));
        let way = b.imul(by, last);
        if known.is_none_or(|step| step > 0) {
            let end = b.iadd(high, way);
            below(b, end, conditions);
        }
        if known.is_none_or(|step| step < 0) {
            let end = b.iadd(first, way);
            let zero = b.constant(Type::I64, 0);
            conditions.push(b.value(Op::Icmp(IntCond::Sge, end, zero)));
            below(b, high, conditions);
        }
    }
}

/// That no element of a walk is outside, with the least and the greatest constant that is added to it.
/// Loops run less than [`super::version::MAX_ITERATIONS`] times: no product of 64 bits wraps.
fn walked(
    b: &mut Builder<'_>,
    mem: Mem,
    walk: &Walk,
    (least, greatest): (i32, i32),
    conditions: &mut Vec<Value>,
) {
    let wide =
        |b: &mut Builder<'_>, value: Value| b.convert(ConvertOp::SignExtend, value, Type::I64);
    let known = |b: &mut Builder<'_>, value: i64| b.constant(Type::I64, value as u64);
    let start = wide(b, walk.start);
    let (mut low, mut high) = (start, start);
    for (&count, &stride) in walk.counts.iter().zip(&walk.strides) {
        let constant = b.func.splat_constant(stride).map(|stride| stride as u32 as i32);
        if constant == Some(0) {
            continue;
        }
        let last = b.iadd_imm(count, -1);
        let (last, by) = (wide(b, last), wide(b, stride));
        let way = b.imul(by, last);
        let (mut down, mut up) = (way, way);
        if constant.is_none() {
            let zero = known(b, 0);
            let falls = b.value(Op::Icmp(IntCond::Slt, way, zero));
            down = b.value(Op::Select(falls, way, zero));
            up = b.value(Op::Select(falls, zero, way));
        }
        if constant.is_none_or(|stride| stride < 0) {
            low = b.iadd(low, down);
        }
        if constant.is_none_or(|stride| stride > 0) {
            high = b.iadd(high, up);
        }
    }
    let (zero, least, greatest) = (known(b, 0), known(b, least.into()), known(b, greatest.into()));
    let (low, high) = (b.iadd(low, least), b.iadd(high, greatest));
    let count = match b.func.mems[mem].extents[0] {
        Extent::Fixed(count) => known(b, count.into()),
        _ => {
            let count = b.value(call(COUNT, Effect::Pure, vec![], vec![mem], vec![0]));
            wide(b, count)
        }
    };
    conditions.push(b.value(Op::Icmp(IntCond::Sge, low, zero)));
    conditions.push(b.value(Op::Icmp(IntCond::Slt, high, count)));
}

/// That a subscript that begins with a form stays below an end, and that this is inside.
fn round(
    b: &mut Builder<'_>,
    mem: Mem,
    (start, end): (&Affine, &Affine),
    conditions: &mut Vec<Value>,
) {
    let (start, end, zero) = (form(b, start), form(b, end), b.i32(0));
    let count = match b.func.mems[mem].extents[0] {
        Extent::Fixed(count) => b.i32(count.min(i32::MAX as u32) as i32),
        _ => b.value(call(COUNT, Effect::Pure, vec![], vec![mem], vec![0])),
    };
    conditions.push(b.value(Op::Icmp(IntCond::Sgt, end, zero)));
    conditions.push(b.value(Op::Icmp(IntCond::Ult, start, end)));
    conditions.push(b.value(Op::Icmp(IntCond::Sle, end, count)));
}

/// That words stay within the limits that their evolutions were found under.
pub(super) fn limits(b: &mut Builder<'_>, built: &Built, last: Value, conditions: &mut Vec<Value>) {
    for limit in &built.limits {
        let long = |b: &mut Builder<'_>, of: &Affine, conditions: &mut Vec<Value>| {
            if limit.is_long {
                return long_form(b, of, conditions);
            }
            let word = form(b, of);
            b.convert(ConvertOp::SignExtend, word, Type::I64)
        };
        let first = long(b, &limit.of.start, conditions);
        let by = long(b, &limit.of.step, conditions);
        if limit.is_long && limit.of.step.as_constant().is_none() {
            conditions.push(is_word(b, by));
        }
        let wide = b.convert(ConvertOp::SignExtend, last, Type::I64);
        let way = b.imul(by, wide);
        let end = b.iadd(first, way);
        let mut ask = |b: &mut Builder<'_>, cond: IntCond, value: Value, limit: i32| {
            let limit = b.constant(Type::I64, i64::from(limit) as u64);
            conditions.push(b.value(Op::Icmp(cond, value, limit)));
        };
        // It is highest at one of its ends, and lowest at the other.
        for value in [first, end] {
            ask(b, IntCond::Sle, value, limit.most);
            ask(b, IntCond::Sge, value, limit.least.unwrap_or(i32::MIN));
        }
    }
}

/// Whether accesses are as far apart as is asked. Their elements are inside, so that differences are words.
pub(super) fn is_apart(b: &mut Builder<'_>, of: &Apart) -> Value {
    let before = form(b, &of.form.plus(&Affine::constant(1), -1));
    let least = b.i32(of.least - 1);
    b.value(Op::Icmp(IntCond::Uge, before, least))
}

/// All of several conditions, if there are some.
pub(super) fn all_of(b: &mut Builder<'_>, conditions: Vec<Value>) -> Option<Value> {
    conditions.into_iter().reduce(|all, more| b.binary(BinaryOp::And, all, more))
}
