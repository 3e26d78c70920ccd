//! The constants in which merged kernels differ, and how each call gives its own.

use std::collections::HashMap;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_ir::{
    BinaryOp, Block, Constant, Effect, Function, Inst, IntrinsicCall, Op, Terminator, Type, Value,
    ValueDef,
};

use super::shape::Site;
use crate::intrinsics::{PASSED, REQ};

/// Constants that go together through all kernels of a group.
pub struct Constants {
    /// Their value in each kernel.
    pub values: Vec<[u32; 4]>,
    /// Where they are made.
    pub insts: Vec<Inst>,
    /// How they are had.
    pub source: Source,
}

/// How a merged kernel has a constant that differs from call to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// As that parameter.
    Passed(usize),
    /// From that parameter: `parameter * factor + offset`.
    Derived { parameter: usize, factor: i32, offset: i32 },
}

/// The constants that are not the same in all kernels. The control core has a register for each
/// parameter that it reads; where these are more than `most`, those that are linear in another are
/// computed from it.
pub fn differing(
    func: &Function,
    control: &EntitySet<Value>,
    lists: &[&[Site]],
    most: usize,
) -> Vec<Constants> {
    let mut found: Vec<Constants> = Vec::new();
    let mut known: HashMap<Vec<[u32; 4]>, usize> = HashMap::new();
    for (k, first) in lists[0].iter().enumerate() {
        if lists.iter().all(|list| list[k].atom == first.atom) {
            continue;
        }
        let values: Vec<[u32; 4]> = lists.iter().map(|list| list[k].atom).collect();
        let next = found.len();
        let place = *known.entry(values.clone()).or_insert(next);
        if place == next {
            let source = Source::Passed(next);
            found.push(Constants { values, insts: Vec::new(), source });
        }
        found[place].insts.push(first.inst);
    }
    if found.iter().filter(|constants| is_read(func, control, constants)).count() > most {
        derive(func, control, &mut found);
    }
    found
}

/// How many parameters there are, and how many of them the control core reads.
pub fn counts(func: &Function, control: &EntitySet<Value>, all: &[Constants]) -> (usize, usize) {
    let passed = || all.iter().filter(|c| matches!(c.source, Source::Passed(_)));
    (passed().count(), passed().filter(|c| is_read(func, control, c)).count())
}

fn is_read(func: &Function, control: &EntitySet<Value>, constants: &Constants) -> bool {
    let read = |&inst: &Inst| func.result(inst).is_some_and(|v| control.contains(v));
    constants.insts.iter().any(read)
}

/// Finds which of the constants that the control core reads are linear in others, small ones
/// first, and counts the parameters.
fn derive(func: &Function, control: &EntitySet<Value>, all: &mut [Constants]) {
    let scalar = |c: &Constants| {
        let is = |&inst: &Inst| matches!(func.insts[inst].op, Op::Const(ty, _) if ty == Type::I32);
        c.insts.iter().all(is) && is_read(func, control, c)
    };
    let size = |c: &Constants| c.values.iter().map(|v| (v[0] as i32).unsigned_abs()).max();
    let mut order: Vec<usize> = (0..all.len()).filter(|&n| scalar(&all[n])).collect();
    order.sort_by_key(|&n| (size(&all[n]), n));
    let mut bases: Vec<usize> = Vec::new();
    let mut derived: Vec<(usize, usize, i32, i32)> = Vec::new();
    for n in order {
        let of = |&base: &usize| {
            let (factor, offset) = linear(&all[base].values, &all[n].values)?;
            Some((n, base, factor, offset))
        };
        match bases.iter().find_map(of) {
            Some(found) => derived.push(found),
            None => bases.push(n),
        }
    }
    let passed = all.iter_mut().enumerate().filter(|(n, _)| derived.iter().all(|d| d.0 != *n));
    for (parameter, (_, constants)) in passed.enumerate() {
        constants.source = Source::Passed(parameter);
    }
    for (n, base, factor, offset) in derived {
        let Source::Passed(parameter) = all[base].source else {
            panic!("constants {base} are passed")
        };
        all[n].source = Source::Derived { parameter, factor, offset };
    }
}

/// `factor` and `offset` with which `y = x * factor + offset` holds everywhere.
fn linear(x: &[[u32; 4]], y: &[[u32; 4]]) -> Option<(i32, i32)> {
    let word = |v: &[u32; 4]| i64::from(v[0] as i32);
    let (x0, y0) = (word(&x[0]), word(&y[0]));
    let other = x.iter().position(|v| word(v) != x0)?;
    let (dx, dy) = (word(&x[other]) - x0, word(&y[other]) - y0);
    if dy % dx != 0 {
        return None;
    }
    let factor = dy / dx;
    let offset = y0 - x0.checked_mul(factor)?;
    let holds = |(x, y): (&[u32; 4], &[u32; 4])| {
        word(x).checked_mul(factor).is_some_and(|product| product + offset == word(y))
    };
    let holds = x.iter().zip(y).all(holds);
    Some((i32::try_from(factor).ok()?, i32::try_from(offset).ok()?)).filter(|_| holds)
}

/// Puts parameters in the place of constants.
pub fn replace(func: &mut Function, all: &[Constants]) {
    let mut source_of: HashMap<Inst, Source> = HashMap::new();
    for constants in all {
        source_of.extend(constants.insts.iter().map(|&inst| (inst, constants.source)));
    }
    let passed = |parameter: usize, ty: Type| {
        Op::Intrinsic(IntrinsicCall {
            name: PASSED,
            effect: Effect::Pure,
            args: vec![],
            mems: vec![],
            imms: vec![parameter as i64],
            result: Some(ty),
        })
    };
    for block in func.layout.clone() {
        for inst in std::mem::take(&mut func.blocks[block].insts) {
            let ty = match func.insts[inst].op {
                Op::Const(ty, _) => ty,
                _ => Type::I32,
            };
            match source_of.get(&inst) {
                None => {}
                Some(&Source::Passed(parameter)) => func.insts[inst].op = passed(parameter, ty),
                Some(&Source::Derived { parameter, factor, offset }) => {
                    let mut value = |op: Op| {
                        let made = func.make_inst(op, &[ty], None);
                        func.blocks[block].insts.push(made);
                        func.result(made).expect("it has a result")
                    };
                    let constant = |n: i32| Op::Const(ty, Constant::Splat(u64::from(n as u32)));
                    let parameter = value(passed(parameter, ty));
                    let factor = value(constant(factor));
                    let product = value(Op::Binary(BinaryOp::Imul, parameter, factor));
                    let offset = value(constant(offset));
                    func.insts[inst].op = Op::Binary(BinaryOp::Iadd, product, offset);
                }
            }
            func.blocks[block].insts.push(inst);
        }
    }
}

/// What branches and requests depend on.
pub fn control_values(func: &Function) -> EntitySet<Value> {
    let mut found = EntitySet::new();
    let mut work: Vec<Value> = Vec::new();
    let mut edges: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &block in &func.layout {
        let requests = func.blocks[block].insts.iter().map(|&inst| &func.insts[inst].op);
        work.extend(
            requests
                .filter_map(|op| match op {
                    Op::Intrinsic(call) if call.name == REQ => Some(call.args.clone()),
                    _ => None,
                })
                .flatten(),
        );
        let terminator = func.terminator(block);
        if let Terminator::Branch(condition, ..) = terminator {
            work.push(*condition);
        }
        for to in terminator.successors() {
            edges[to.block].push(block);
        }
    }
    while let Some(value) = work.pop() {
        if !found.insert(value) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) => func.insts[inst].op.for_each_arg(|arg| work.push(arg)),
            ValueDef::Param(block, number) => {
                for &from in &edges[block] {
                    let to = func.terminator(from).successors();
                    let to = to.into_iter().filter(|to| to.block == block);
                    work.extend(to.map(|to| to.args[number as usize]));
                }
            }
        }
    }
    found
}
