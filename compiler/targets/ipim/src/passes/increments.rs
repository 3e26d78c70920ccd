//! Addresses as increments: where a kernel has more addresses than AddrRF can hold, or more distances
//! between them, each is made of one that stands a few accesses before it and a distance that many
//! have in common (Allen, Cocke, Kennedy, "Reduction of Operator Strength", 1981, applied along a
//! block). The addresses of an unrolled loop then take a handful of registers, not one each.
//!
//! There are no immediates in `calc_arf`: every distance is a register, too. Nor are there in `calc_crf`:
//! addresses of requests are made of each other in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use nbcc_analysis::sum::sum_of;
use nbcc_ir::{
    BinaryOp, Block, Constant, Dominators, Function, Inst, Mem, Op, Positions, Type, Value,
};

use crate::intrinsics::{LD_PGSM, LD_RF, RD_PGSM, RD_VSM, REQ, ST_PGSM, ST_RF, WR_PGSM, WR_VSM};

/// How many registers for addresses and distances the blocks of a kernel may take from outside before
/// addresses are made of each other.
const MAX_OUTER_REGISTERS: usize = 20;

/// An address is made of one of so many that were used last, of the same object.
const WINDOW: usize = 6;

/// A sum that takes long, but many can be in the making at once: it is better made of one that is so
/// far back.
const MIN_CHAIN_DISTANCE: usize = 4;

/// The most distances of a function.
const DISTANCES: usize = 16;

/// The most operations that an address is looked through.
const BUDGET: u32 = 64;

/// An address that an instruction takes.
struct Use {
    inst: Inst,
    operand: usize,
    value: Value,
}

/// The terms of a sum.
type Terms = Vec<(Value, u32)>;

/// What addresses have in common that are made of each other: terms of their sums, and the object.
type Family = (Terms, Option<Mem>);

/// An address that is there anyway, where others of the same terms can begin.
#[derive(Clone, Copy)]
struct Base {
    constant: u32,
    value: Value,
    block: Option<Block>,
}

/// Makes addresses of each other in the blocks that have many: those that engines take, and those of
/// requests, which the control core takes.
pub fn run(func: &mut Function) {
    for operands in [of_engines, of_requests] {
        run_for(func, operands);
    }
}

/// The operands of an access of engines that are addresses.
fn of_engines(name: &str) -> Range<usize> {
    match name {
        LD_PGSM | ST_PGSM => 0..2,
        LD_RF | ST_RF | RD_PGSM | WR_PGSM | RD_VSM | WR_VSM => 0..1,
        _ => 0..0,
    }
}

/// The operands of a request that are addresses.
fn of_requests(name: &str) -> Range<usize> {
    if name == REQ { 4..6 } else { 0..0 }
}

fn run_for(func: &mut Function, operands: fn(&str) -> Range<usize>) {
    let positions = Positions::new(func);
    let mut distances: BTreeMap<u32, Value> = BTreeMap::new();
    let blocks: Vec<(Block, Vec<Use>)> =
        func.layout.iter().map(|&block| (block, uses(func, block, operands))).collect();
    let mut all = BTreeSet::new();
    for (block, uses) in &blocks {
        held(func, &positions, *block, uses, &mut all);
    }
    if all.len() <= MAX_OUTER_REGISTERS {
        return;
    }
    let dominators = Dominators::new(func);
    let mut bases: BTreeMap<Terms, Vec<Base>> = BTreeMap::new();
    for (block, uses) in &blocks {
        let reaches =
            |base: &Base| base.block.is_some_and(|from| dominators.dominates(from, *block));
        rewrite(func, *block, uses, &mut distances, &mut bases, (&positions, &reaches));
    }
}

/// The addresses that a block takes, in its order.
fn uses(func: &Function, block: Block, operands: fn(&str) -> Range<usize>) -> Vec<Use> {
    let mut uses = Vec::new();
    for &inst in &func.blocks[block].insts {
        let Op::Intrinsic(call) = &func.insts[inst].op else { continue };
        for operand in operands(call.name) {
            let value = call.args[operand];
            if func.splat_constant(value).is_none() && func.ty(value) == Type::I32 {
                uses.push(Use { inst, operand, value });
            }
        }
    }
    uses
}

/// The values from outside that the addresses of a block need: themselves, or what they are sums of;
/// constants by their bits.
fn held(
    func: &Function,
    positions: &Positions,
    block: Block,
    uses: &[Use],
    held: &mut BTreeSet<(bool, u64)>,
) {
    let inside = |value: Value| {
        let inst = func.def_inst(value)?;
        (positions.of(inst)?.0 == block).then_some(inst)
    };
    for used in uses {
        match inside(used.value).map(|inst| &func.insts[inst].op) {
            None => {
                held.insert((false, u64::from(used.value.as_u32())));
            }
            Some(Op::Binary(_, x, y)) => {
                for &value in [x, y] {
                    if let Some(bits) = func.splat_constant(value) {
                        held.insert((true, bits));
                    } else if inside(value).is_none() {
                        held.insert((false, u64::from(value.as_u32())));
                    }
                }
            }
            Some(_) => {}
        }
    }
}

/// The addresses of a family as they come, and the distances between those that are near.
#[derive(Default)]
struct Chain {
    /// Constants of their sums.
    constants: Vec<u32>,
}

fn rewrite(
    func: &mut Function,
    block: Block,
    uses: &[Use],
    distances: &mut BTreeMap<u32, Value>,
    bases: &mut BTreeMap<Terms, Vec<Base>>,
    (positions, reaches): (&Positions, &dyn Fn(&Base) -> bool),
) {
    let sums: Vec<(Family, u32)> = uses
        .iter()
        .map(|used| {
            let sum = sum_of(func, used.value, BUDGET, |_| None);
            let Op::Intrinsic(call) = &func.insts[used.inst].op else { unreachable!("an access") };
            ((sum.terms, call.mems.get(used.operand).copied()), sum.constant)
        })
        .collect();
    let mut chains: BTreeMap<&Family, Chain> = BTreeMap::new();
    for (family, constant) in &sums {
        let chain = chains.entry(family).or_default();
        if !chain.constants.iter().rev().take(WINDOW).any(|known| known == constant) {
            chain.constants.push(*constant);
        }
    }
    // How often addresses near each other have each distance.
    let mut common: BTreeMap<u32, usize> = BTreeMap::new();
    for chain in chains.values() {
        for (k, constant) in chain.constants.iter().enumerate() {
            for before in &chain.constants[k.saturating_sub(WINDOW)..k] {
                *common.entry(constant.wrapping_sub(*before)).or_default() += 1;
            }
        }
    }
    let mut recent: BTreeMap<&Family, Vec<(u32, Value)>> = BTreeMap::new();
    let mut made: BTreeMap<Inst, Vec<Inst>> = BTreeMap::new();
    for (used, (family, constant)) in uses.iter().zip(&sums) {
        let recent = recent.entry(family).or_insert_with(|| {
            let known = bases.get(&family.0).into_iter().flatten().find(|base| reaches(base));
            match (known, &family.0[..]) {
                (Some(base), _) => vec![(base.constant, base.value)],
                // What the addresses are sums of is there anyway.
                (None, &[(value, 1)]) => vec![(0, value)],
                (None, _) => vec![],
            }
        });
        let near = &recent[recent.len().saturating_sub(WINDOW)..];
        let value = match near.iter().rev().find(|(known, _)| known == constant) {
            Some(&(_, value)) => value,
            None => match step(near, *constant, &common, distances) {
                Some((from, distance)) => {
                    let distance = distance_of(func, distances, distance);
                    let span = func.insts[used.inst].span;
                    let sum = Op::Binary(BinaryOp::Iadd, from, distance);
                    let inst = func.make_inst(sum, &[Type::I32], span);
                    made.entry(used.inst).or_default().push(inst);
                    func.insts[inst].results[0]
                }
                None => {
                    let block = positions.defining_block(func, used.value);
                    let base = Base { constant: *constant, value: used.value, block };
                    bases.entry(family.0.clone()).or_default().push(base);
                    used.value
                }
            },
        };
        if recent.last() != Some(&(*constant, value)) {
            recent.push((*constant, value));
        }
        if let Op::Intrinsic(call) = &mut func.insts[used.inst].op {
            call.args[used.operand] = value;
        }
    }
    let insts = std::mem::take(&mut func.blocks[block].insts);
    let with_sums = insts.into_iter().flat_map(|inst| {
        let before = made.remove(&inst).unwrap_or_default();
        before.into_iter().chain([inst])
    });
    func.blocks[block].insts = with_sums.collect();
}

/// The address of those that are near, and the distance to it, that an address is made of.
fn step(
    near: &[(u32, Value)],
    constant: u32,
    common: &BTreeMap<u32, usize>,
    distances: &BTreeMap<u32, Value>,
) -> Option<(Value, u32)> {
    let steps = near.iter().rev().enumerate();
    let steps = steps.map(|(back, &(from, value))| (back + 1, constant.wrapping_sub(from), value));
    let count = |distance: u32| common.get(&distance).copied().unwrap_or(0);
    let known = steps.clone().filter(|(_, distance, _)| distances.contains_key(distance));
    let known = known.max_by_key(|&(back, ..)| back.min(MIN_CHAIN_DISTANCE));
    let room = distances.len() < DISTANCES;
    let new = steps.clone().max_by_key(|&(back, distance, _)| (count(distance), back));
    let is_far = |&(back, distance, _): &(usize, u32, Value)| {
        back >= MIN_CHAIN_DISTANCE && count(distance) > WINDOW
    };
    let far = steps.clone().rfind(is_far);
    match (known, far) {
        (Some((back, ..)), Some((_, distance, value))) if room && back < MIN_CHAIN_DISTANCE => {
            Some((value, distance))
        }
        (Some((_, distance, value)), _) => Some((value, distance)),
        (None, _) if room => new.map(|(_, distance, value)| (value, distance)),
        (None, _) => None,
    }
}

/// A distance in a register: made once, in the entry.
fn distance_of(func: &mut Function, known: &mut BTreeMap<u32, Value>, distance: u32) -> Value {
    if let Some(&value) = known.get(&distance) {
        return value;
    }
    let constant = Op::Const(Type::I32, Constant::Splat(distance.into()));
    let inst = func.make_inst(constant, &[Type::I32], func.first_span());
    let entry = func.entry();
    func.blocks[entry].insts.insert(0, inst);
    let value = func.insts[inst].results[0];
    known.insert(distance, value);
    value
}
