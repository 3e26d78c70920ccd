//! Which register file a value lives in: the placement of iPIM (iPIM paper, section IV-B and IV-E).
//!
//! Vectors and floats live in DataRF. A scalar integer can live in AddrRF, where addresses are
//! taken from, if it is computed from constants, ids and loop counters; in CtrlRF, where branches
//! and `req` take theirs from, if it is the same in the whole vault. There is no way from CtrlRF to
//! AddrRF: what both need is computed in both.

use std::fmt;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_ir::{BinaryOp, Block, Effect, Function, Inst, Op, Scalar, Terminator, Value, ValueDef};
use nbcc_isa::RegisterClass;
use nbcc_isa_ipim::RegClass::{self, Addr, Ctrl, Data};
use nbcc_placement::{Move, Origin, Placement, Read, Remark, RemarkKind, Summary};

use super::frequency::block_runs;
use crate::intrinsics::{
    ARG, CHIP, PASSED, PE, PG, REQ, ST_RF, VAULT, VAULT_COLUMN, VAULT_ROW, WR_PGSM, WR_VSM,
};
use crate::kernel::Kernel;

/// The register files that values live in.
pub type Places = Placement<Value, RegClass>;

/// What reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// An instruction.
    Inst(Inst),
    /// The end of a block.
    End(Block),
    /// A parameter of a block.
    Param(Value),
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reader::Inst(inst) => write!(f, "{inst}"),
            Reader::End(block) => write!(f, "the end of {block}"),
            Reader::Param(value) => write!(f, "{value}"),
        }
    }
}

/// A set of register files.
#[derive(Clone, Copy, Default)]
struct Files([bool; 3]);

impl Files {
    /// Adds a file; false where it was there.
    fn insert(&mut self, file: RegClass) -> bool {
        !std::mem::replace(&mut self.0[file as usize], true)
    }

    fn contains(self, file: RegClass) -> bool {
        self.0[file as usize]
    }
}

/// Decides where every value that is wanted lives. Panics where control flow depends on data: the
/// front half makes no such kernel.
pub fn place(func: &Function) -> Places {
    let (uniform, mut scalar) = capabilities(func);
    add_address_sums(func, &mut scalar);
    let home = |value: Value| if scalar.contains(value) { Addr } else { Data };
    let mut wanted: SecondaryMap<Value, Files> = SecondaryMap::new();
    let mut work: Vec<(Value, RegClass)> = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            if op.effect() != Effect::Pure {
                for (k, arg) in op.args().into_iter().enumerate() {
                    if !immediate(func, op, k, arg) {
                        work.push((arg, operand_place(op, k, || home(arg))));
                    }
                }
                if let Some(result) = func.result(inst) {
                    work.push((result, Data));
                }
            }
        }
        match func.terminator(block) {
            Terminator::Branch(condition, ..) => {
                let Some(Op::Icmp(_, x, y)) = func.def_op(*condition) else {
                    panic!("{block} of {} branches on no comparison", func.name)
                };
                work.push((*x, Ctrl));
                work.push((*y, Ctrl));
            }
            Terminator::Jump(_) | Terminator::Return(_) => {}
            other => panic!("{block} of {} ends in {other:?}", func.name),
        }
    }
    while let Some((value, place)) = work.pop() {
        if !wanted[value].insert(place) {
            continue;
        }
        assert!(
            place != Ctrl || uniform.contains(value),
            "{value} of {} is wanted by the control core but differs between engines",
            func.name
        );
        // On engines a value is computed at home, and copied from there.
        let at = if place == Ctrl { Ctrl } else { home(value) };
        if at != place && !wanted[value].insert(at) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                let op = &func.insts[inst].op;
                if op.effect() != Effect::Pure {
                    continue;
                }
                for (k, arg) in op.args().into_iter().enumerate() {
                    let read = if at == Data { operand_place(op, k, || home(arg)) } else { at };
                    work.push((arg, read));
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
    let mut places = Places::new();
    for (value, wanted) in wanted.iter() {
        let on_engines = wanted.contains(Addr) || wanted.contains(Data);
        if !on_engines && !wanted.contains(Ctrl) {
            continue;
        }
        let home = if on_engines { home(value) } else { Ctrl };
        places.set(value, home);
        for &place in RegClass::ALL.iter().filter(|&&f| f != home && wanted.contains(f)) {
            let origin = if place == Ctrl { Origin::Computed } else { Origin::Copied };
            places.add(value, place, origin);
        }
    }
    places
}

/// Checks that every operand has a register where its user reads it.
///
/// # Errors
/// The first operand that has none.
pub fn verify(func: &Function, places: &Places) -> Result<(), String> {
    let on_engines = |from, to| [from, to] == [Addr, Data] || [from, to] == [Data, Addr];
    nbcc_placement::verify(places, reads(func, places, None), on_engines)
        .map_err(|what| format!("{}: {what}", func.name))
}

/// What is read where: operands of effects, of comparisons that branches decide by, and of whatever
/// has a home, once for each place at which it is computed; or what instructions and edges read of
/// one value only.
fn reads(
    func: &Function,
    places: &Places,
    only: Option<Value>,
) -> Vec<Read<Reader, Value, RegClass>> {
    let mut reads = Vec::new();
    let computed = |value: Value| {
        let all = places.all(value).filter(|&(_, origin)| origin == Origin::Computed);
        all.map(|(place, _)| place).collect::<Vec<_>>()
    };
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            if let Some(only) = only {
                let mut found = false;
                op.for_each_arg(|arg| found |= arg == only);
                if !found {
                    continue;
                }
            }
            let at = match (op.effect(), func.result(inst)) {
                (Effect::Pure, Some(value)) => computed(value),
                _ => vec![Data],
            };
            for place in at {
                for (k, arg) in op.args().into_iter().enumerate() {
                    if immediate(func, op, k, arg) {
                        continue;
                    }
                    let home = || if places.home(arg) == Some(Addr) { Addr } else { Data };
                    let place = if place == Data { operand_place(op, k, home) } else { place };
                    reads.push(Read { by: Reader::Inst(inst), entity: arg, place });
                }
            }
        }
        let terminator = func.terminator(block);
        if let Terminator::Branch(condition, ..) = terminator
            && let Some(Op::Icmp(_, x, y)) = func.def_op(*condition)
        {
            let by = Reader::End(block);
            reads.extend([*x, *y].map(|entity| Read { by, entity, place: Ctrl }));
        }
        for to in terminator.successors() {
            let args = func.blocks[to.block].params.iter().zip(&to.args);
            for (&param, &entity) in args.filter(|&(_, &arg)| only.is_none_or(|v| v == arg)) {
                let by = Reader::Param(param);
                reads.extend(computed(param).into_iter().map(|place| Read { by, entity, place }));
            }
        }
    }
    reads
}

/// What `explain` and remarks say of a kernel: how many values live where, what is copied, and how
/// often that is while the kernel runs once.
pub fn remark(kernel: &Kernel, places: &Places) -> Remark {
    let func = &kernel.func;
    let runs = block_runs(func);
    let mut made: SecondaryMap<Value, u64> = SecondaryMap::new();
    for &block in &func.layout {
        let data = &func.blocks[block];
        let results = data.insts.iter().filter_map(|&inst| func.result(inst));
        results.chain(data.params.iter().copied()).for_each(|value| made[value] = runs[block]);
    }
    let weight = |value: Value| made[value];
    let served = |m: &Move<Value, RegClass>| {
        let reads = reads(func, places, Some(m.entity)).into_iter();
        reads.filter(|read| (read.entity, read.place) == (m.entity, m.to)).count() as u64
    };
    let summary = Summary::of(places, weight, served);
    Remark {
        kind: RemarkKind::Analysis,
        pass: "place",
        name: "Places",
        function: func.name.clone(),
        span: func.first_span().or(kernel.place),
        message: summary.message(RegClass::name),
        terms: summary.terms(RegClass::name),
    }
}

/// Whether an operand stands in the instruction itself: a constant address or field of `req`.
pub fn immediate(func: &Function, op: &Op, k: usize, arg: Value) -> bool {
    let Op::Intrinsic(call) = op else { return false };
    let data = [ST_RF, WR_PGSM, WR_VSM].contains(&call.name) && k == 1;
    !data && func.splat_constant(arg).is_some()
}

/// Where an operation that runs on engines reads an operand, whose home is that.
fn operand_place(op: &Op, k: usize, home: impl Fn() -> RegClass) -> RegClass {
    match op {
        Op::Intrinsic(call) if call.name == REQ => Ctrl,
        Op::Intrinsic(call) if [ST_RF, WR_PGSM, WR_VSM].contains(&call.name) && k == 1 => Data,
        Op::Intrinsic(_) => Addr,
        Op::Splat(..) => home(),
        _ => Data,
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

/// Adds what is computed of data and of something in AddrRF, and only to be an address: then the data
/// is copied to AddrRF, once for all that is computed of it, instead of each result.
fn add_address_sums(func: &Function, scalar: &mut EntitySet<Value>) {
    let mut elsewhere: EntitySet<Value> = EntitySet::new();
    let mut sums: Vec<(Value, Value, Value)> = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            match (op, func.result(inst)) {
                (&Op::Binary(op, x, y), Some(result)) if integer(op) => {
                    let ty = func.ty(result);
                    match ty.scalar == Scalar::I32 && !ty.is_vector() {
                        true => sums.push((result, x, y)),
                        false => elsewhere.extend([x, y]),
                    }
                }
                _ => {
                    let pure = op.effect() == Effect::Pure;
                    for (k, arg) in op.args().into_iter().enumerate() {
                        if pure || operand_place(op, k, || Data) != Addr {
                            elsewhere.insert(arg);
                        }
                    }
                }
            }
        }
        func.terminator(block).for_each_arg(|arg| {
            elsewhere.insert(arg);
        });
    }
    // Operands come before what is computed of them, but where blocks are laid out otherwise.
    for &(result, x, y) in sums.iter().rev() {
        if elsewhere.contains(result) {
            elsewhere.extend([x, y]);
        }
    }
    for &(result, x, y) in &sums {
        if !elsewhere.contains(result) && (scalar.contains(x) || scalar.contains(y)) {
            scalar.insert(result);
        }
    }
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
