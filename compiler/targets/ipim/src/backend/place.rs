//! Which register file a value lives in: the placement of iPIM (paper 001, section IV-B and IV-E).
//!
//! Vectors and floats live in DataRF. A scalar integer can live in AddrRF, where addresses are
//! taken from, if it is computed from constants, ids and loop counters; in CtrlRF, where branches
//! and `req` take theirs from, if it is the same in the whole vault. There is no way from CtrlRF to
//! AddrRF: what both need is computed in both.

use std::collections::BTreeSet;
use std::fmt;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_ir::{BinaryOp, Effect, Function, Op, Scalar, Terminator, Value, ValueDef};

use crate::intrinsics::{
    ARG, CHIP, PASSED, PE, PG, REQ, ST_RF, VAULT, VAULT_COLUMN, VAULT_ROW, WR_PGSM, WR_VSM,
};

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The control core's registers.
    Ctrl,
    /// Each engine's address registers.
    Addr,
    /// Each engine's vector registers.
    Data,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Ctrl => "ctrl",
            Place::Addr => "addr",
            Place::Data => "data",
        })
    }
}

/// Where values are computed and where copies of them are wanted.
#[derive(Clone, Debug)]
pub struct Places {
    /// Values that the control core can compute.
    uniform: EntitySet<Value>,
    /// Values that address registers can hold from the start.
    scalar: EntitySet<Value>,
    /// Where each value is wanted.
    wanted: SecondaryMap<Value, BTreeSet<Place>>,
}

impl Places {
    /// Where a value is computed on engines.
    pub fn home(&self, value: Value) -> Place {
        if self.scalar.contains(value) { Place::Addr } else { Place::Data }
    }

    /// Whether a value is wanted in a register file.
    pub fn wants(&self, value: Value, place: Place) -> bool {
        self.wanted[value].contains(&place)
    }

    /// Whether a value is computed on engines at all.
    pub fn on_engines(&self, value: Value) -> bool {
        self.wants(value, Place::Addr) || self.wants(value, Place::Data)
    }

    /// The register files of a value, for people: its home, then copies and the control core's own.
    pub fn text(&self, value: Value) -> Option<String> {
        let places: Vec<String> = self.of(value).iter().map(Place::to_string).collect();
        (!places.is_empty()).then(|| places.join("+"))
    }

    /// How many copies between register files of engines the kernel makes.
    pub fn moves(&self, func: &Function) -> usize {
        let both = |v: &Value| self.wants(*v, Place::Addr) && self.wants(*v, Place::Data);
        func.values.keys().filter(both).count()
    }

    /// The register files a value has registers in, its home first.
    pub fn of(&self, value: Value) -> Vec<Place> {
        let mut all = Vec::new();
        if self.on_engines(value) {
            all.push(self.home(value));
        }
        all.extend(
            self.wanted[value].iter().filter(|p| !all.contains(p)).copied().collect::<Vec<_>>(),
        );
        all
    }
}

/// Decides where every value lives. Panics where control flow depends on data: the front half
/// makes no such kernel.
pub fn place(func: &Function) -> Places {
    let (uniform, scalar) = capabilities(func);
    let mut places = Places { uniform, scalar, wanted: SecondaryMap::new() };
    let mut work: Vec<(Value, Place)> = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            if op.effect() != Effect::Pure {
                for (k, arg) in op.args().into_iter().enumerate() {
                    if !immediate(func, op, k, arg) {
                        work.push((arg, operand_place(&places, op, k, arg)));
                    }
                }
                if let Some(result) = func.result(inst) {
                    work.push((result, Place::Data));
                }
            }
        }
        match func.terminator(block) {
            Terminator::Branch(condition, ..) => {
                let Some(Op::Icmp(_, x, y)) = func.def_op(*condition) else {
                    panic!("{block} of {} branches on no comparison", func.name)
                };
                work.push((*x, Place::Ctrl));
                work.push((*y, Place::Ctrl));
            }
            Terminator::Jump(_) | Terminator::Return(_) => {}
            other => panic!("{block} of {} ends in {other:?}", func.name),
        }
    }
    while let Some((value, place)) = work.pop() {
        if !places.wanted[value].insert(place) {
            continue;
        }
        assert!(
            place != Place::Ctrl || places.uniform.contains(value),
            "{value} of {} is wanted by the control core but differs between engines",
            func.name
        );
        // On engines a value is computed at home, and copied from there.
        let at = if place == Place::Ctrl { Place::Ctrl } else { places.home(value) };
        if at != place && !places.wanted[value].insert(at) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                let op = &func.insts[inst].op;
                if op.effect() != Effect::Pure {
                    continue;
                }
                for (k, arg) in op.args().into_iter().enumerate() {
                    let wanted =
                        if at == Place::Data { operand_place(&places, op, k, arg) } else { at };
                    work.push((arg, wanted));
                }
            }
            ValueDef::Param(block, number) => {
                for &from in &func.layout {
                    for call in func.terminator(from).successors() {
                        if call.block == block {
                            work.push((call.args[number as usize], at));
                        }
                    }
                }
            }
        }
    }
    places
}

/// Checks that every operand has a register where its user reads it.
///
/// # Errors
/// The first operand that has none.
pub fn verify(func: &Function, places: &Places) -> Result<(), String> {
    let has = |user: String, value: Value, place: Place| match places.of(value).contains(&place) {
        true => Ok(()),
        false => Err(format!("{user} of {} reads {value} in {place}, where it is not", func.name)),
    };
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            let result = func.result(inst);
            let at: Vec<Place> = match (op.effect(), result) {
                (Effect::Pure, Some(value)) => {
                    let home = places.on_engines(value).then(|| places.home(value));
                    let ctrl = places.wants(value, Place::Ctrl).then_some(Place::Ctrl);
                    home.into_iter().chain(ctrl).collect()
                }
                _ => vec![Place::Data],
            };
            for place in at {
                for (k, arg) in op.args().into_iter().enumerate() {
                    if immediate(func, op, k, arg) {
                        continue;
                    }
                    let read = if place == Place::Data {
                        operand_place(places, op, k, arg)
                    } else {
                        place
                    };
                    has(inst.to_string(), arg, read)?;
                }
            }
        }
        let terminator = func.terminator(block);
        if let Terminator::Branch(condition, ..) = terminator
            && let Some(Op::Icmp(_, x, y)) = func.def_op(*condition)
        {
            has(block.to_string(), *x, Place::Ctrl)?;
            has(block.to_string(), *y, Place::Ctrl)?;
        }
        for to in terminator.successors() {
            for (&param, &arg) in func.blocks[to.block].params.iter().zip(&to.args) {
                let home = places.on_engines(param).then(|| places.home(param));
                let ctrl = places.wants(param, Place::Ctrl).then_some(Place::Ctrl);
                for place in home.into_iter().chain(ctrl) {
                    has(to.block.to_string(), arg, place)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether an operand stands in the instruction itself: a constant address or field of `req`.
pub fn immediate(func: &Function, op: &Op, k: usize, arg: Value) -> bool {
    let Op::Intrinsic(call) = op else { return false };
    let data = [ST_RF, WR_PGSM, WR_VSM].contains(&call.name) && k == 1;
    !data && func.splat_constant(arg).is_some()
}

/// Where an operation that runs on engines wants an operand.
fn operand_place(places: &Places, op: &Op, k: usize, arg: Value) -> Place {
    match op {
        Op::Intrinsic(call) if call.name == REQ => Place::Ctrl,
        Op::Intrinsic(call) if [ST_RF, WR_PGSM, WR_VSM].contains(&call.name) && k == 1 => {
            Place::Data
        }
        Op::Intrinsic(_) => Place::Addr,
        Op::Splat(..) => places.home(arg),
        _ => Place::Data,
    }
}

/// Which values can be uniform, and which scalar integers need no data: the greatest sets that are
/// closed under the operations that each register file has.
fn capabilities(func: &Function) -> (EntitySet<Value>, EntitySet<Value>) {
    let mut uniform = EntitySet::new();
    let mut scalar = EntitySet::new();
    for (value, data) in func.values.iter() {
        if data.ty.scalar == Scalar::I32 && !data.ty.is_vector() {
            uniform.insert(value);
            scalar.insert(value);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                let Some(result) = func.result(inst) else { continue };
                let op = &func.insts[inst].op;
                for (set, ids) in [
                    (&mut uniform, &[VAULT, CHIP, VAULT_COLUMN, VAULT_ROW, ARG, PASSED][..]),
                    (&mut scalar, &[PE, PG, VAULT, CHIP, ARG, PASSED][..]),
                ] {
                    if set.contains(result) && !closed(set, op, ids) {
                        set.remove(result);
                        changed = true;
                    }
                }
            }
            for call in func.terminator(block).successors() {
                for (&param, &arg) in func.blocks[call.block].params.iter().zip(&call.args) {
                    for set in [&mut uniform, &mut scalar] {
                        if set.contains(param) && !set.contains(arg) {
                            set.remove(param);
                            changed = true;
                        }
                    }
                }
            }
        }
    }
    (uniform, scalar)
}

fn closed(set: &EntitySet<Value>, op: &Op, ids: &[&str]) -> bool {
    match op {
        Op::Const(..) => true,
        Op::Intrinsic(call) => ids.contains(&call.name),
        Op::Binary(op, x, y) => integer(*op) && set.contains(*x) && set.contains(*y),
        _ => false,
    }
}

/// Whether every register file has the operation.
fn integer(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Iadd
            | BinaryOp::Isub
            | BinaryOp::Imul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Lshr
            | BinaryOp::Ashr
    )
}
