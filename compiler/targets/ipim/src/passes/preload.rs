//! Software pipelining of loads (Lam, "Software Pipelining: An Effective Scheduling Technique for VLIW
//! Machines", PLDI 1988, with loads alone in a stage of their own): where a loop is one block, a round
//! loads of banks what the next one computes with. Loads then wait for what is computed, not the
//! other way round.
//!
//! The last round loads what nothing uses, a step behind the last element: only where that is certainly
//! in the bank.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::sum::sum_of;
use nbcc_ir::{
    Block, Cfg, Effect, Function, Inst, Mem, Op, Replacements, Terminator, Value, ValueDef,
};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, Machine, Memory};

use super::unroll::banks_limit;
use crate::backend::provenance::access;
use crate::intrinsics::{LD_RF, RD_PGSM, ST_PGSM, ST_RF, extents};
use crate::kernel::{Kernel, KernelCall};

/// Of the registers for vectors, the part that may hold what is loaded a round ahead.
const PART: u32 = 8;

/// A loop of fewer rounds is left alone: loads in front of it are waited for, and the last round loads
/// once too often.
const MIN_ROUNDS: u64 = 6;

/// The most operations that an address is made of.
const MAX_ADDRESS_OPERATIONS: usize = 24;

/// The most operations that an address is looked through.
const BUDGET: u32 = 128;

/// Makes loads a round ahead; returns how many. `calls` has the addresses that are arguments.
pub fn run(kernel: &mut Kernel, calls: &[&KernelCall], machine: &Machine) -> usize {
    let most = (machine.registers.data / PART) as usize;
    let mut made = 0;
    for block in kernel.func.layout.clone() {
        let loads = ahead(kernel, calls, machine, block, most);
        if !loads.is_empty() {
            made += loads.len();
            move_ahead(&mut kernel.func, block, &loads);
        }
    }
    made
}

/// A load that can be made a round ahead.
struct Ahead {
    inst: Inst,
    /// What makes its address, in order.
    address: Vec<Inst>,
}

/// The first loads of a loop of one block that can be made a round ahead.
fn ahead(
    kernel: &Kernel,
    calls: &[&KernelCall],
    machine: &Machine,
    block: Block,
    most: usize,
) -> Vec<Ahead> {
    let func = &kernel.func;
    let Some(again) = again(func, block) else { return vec![] };
    let trips = func.blocks[block].loop_info.as_ref().and_then(|info| info.trips);
    // Where windows are read, there is work while loads are under way.
    if trips.is_some_and(|trips| trips < MIN_ROUNDS)
        || reads_windows(kernel, block)
        || banks_limit(func, &[block], machine.hierarchy.pes)
    {
        return vec![];
    }
    let params = &func.blocks[block].params;
    let results = func.blocks[block].insts.iter().flat_map(|&inst| &func.insts[inst].results);
    let own: BTreeSet<Value> = results.copied().collect();
    // How much further an address is in the next round.
    let step = |address: Value| -> Option<u32> {
        let mut step = 0u32;
        for (value, factor) in sum_of(func, address, BUDGET, |_| None).terms {
            if let Some(place) = params.iter().position(|&param| param == value) {
                let next = sum_of(func, again[place], BUDGET, |_| None);
                if next.terms != [(value, 1)] {
                    return None;
                }
                step = step.wrapping_add(factor.wrapping_mul(next.constant));
            } else if own.contains(&value) {
                return None;
            }
        }
        Some(step)
    };
    let mut found = Vec::new();
    let mut written = Vec::new();
    for &inst in &func.blocks[block].insts {
        let Op::Intrinsic(call) = &func.insts[inst].op else { continue };
        let at = || access(kernel, Memory::Bank, call.mems.first().copied(), call.args[0]);
        if [ST_RF, ST_PGSM].contains(&call.name) {
            written.push(at());
        }
        let (LD_RF, Some(&mem)) = (call.name, call.mems.first()) else { continue };
        // A round before, what is written in front of it would come too late.
        let loaded = at();
        if written.iter().any(|written| !written.is_disjoint_from(&loaded)) {
            continue;
        }
        let Some(address) = making(func, block, call.args[0]) else { continue };
        let step = step(call.args[0]).map(|step| step as i32);
        if step.is_some_and(|step| stays_inside(kernel, calls, machine, mem, step)) {
            found.push(Ahead { inst, address });
        }
        if found.len() == most {
            break;
        }
    }
    found
}

/// Whether a block reads more of the scratchpad than what each engine has of it for itself.
fn reads_windows(kernel: &Kernel, block: Block) -> bool {
    kernel.func.blocks[block].insts.iter().any(|&inst| match &kernel.func.insts[inst].op {
        Op::Intrinsic(call) if call.name == RD_PGSM => {
            !call.mems.first().is_some_and(|mem| kernel.scratch.contains(mem))
        }
        _ => false,
    })
}

/// The arguments with which a block goes back to itself, if it does so in one way and nothing else
/// is in the loop.
fn again(func: &Function, block: Block) -> Option<&[Value]> {
    let Terminator::Branch(_, a, b) = func.terminator(block) else { return None };
    match (a.block == block, b.block == block) {
        (true, false) => Some(&a.args),
        (false, true) => Some(&b.args),
        _ => None,
    }
}

/// The instructions of a block that make a value, in order; `None` where memory takes part.
fn making(func: &Function, block: Block, value: Value) -> Option<Vec<Inst>> {
    let own: BTreeMap<Value, Inst> = func.blocks[block]
        .insts
        .iter()
        .flat_map(|&inst| func.insts[inst].results.iter().map(move |&value| (value, inst)))
        .collect();
    let mut needed = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        let Some(&inst) = own.get(&value) else { continue };
        if needed.contains(&inst) {
            continue;
        }
        if func.insts[inst].op.effect() != Effect::Pure || needed.len() == MAX_ADDRESS_OPERATIONS {
            return None;
        }
        needed.push(inst);
        func.insts[inst].op.for_each_arg(|arg| left.push(arg));
    }
    let order = func.blocks[block].insts.iter().copied();
    Some(order.filter(|inst| needed.contains(inst)).collect())
}

/// Whether the bank holds what is `step` bytes from each element of an object.
fn stays_inside(
    kernel: &Kernel,
    calls: &[&KernelCall],
    machine: &Machine,
    mem: Mem,
    step: i32,
) -> bool {
    let words: u64 = extents(&kernel.func.mems[mem]).into_iter().map(u64::from).product();
    let bytes = (words * u64::from(ELEMENT_BYTES)).next_multiple_of(ATOM_BYTES.into()) as i64;
    let inside = |base: u32| {
        let first = i64::from(base) + i64::from(step.min(0));
        let end = i64::from(base) + bytes + i64::from(step.max(0));
        first >= 0 && end <= i64::from(machine.memory.bank_bytes)
    };
    let args = kernel.args.as_deref().unwrap_or_default();
    match args.iter().position(|&arg| arg == mem) {
        Some(arg) => calls.iter().all(|call| call.bases.get(arg).is_some_and(|&base| inside(base))),
        None => inside(kernel.mem_base[mem]),
    }
}

/// Makes loads of a loop in front of it, and for the next round at its end.
fn move_ahead(func: &mut Function, block: Block, loads: &[Ahead]) {
    let cfg = Cfg::new(func);
    let Some(preheader) = func.preheader(&cfg, block, |from| from == block) else { return };
    let mut replacements = Replacements::new();
    for load in loads {
        let loaded = func.insts[load.inst].results[0];
        let ty = func.ty(loaded);
        let param = func.add_param_with_args(block, ty, &[], |_, param| param);
        for from in [preheader, block] {
            let value = copy(func, from, block, load);
            for to in func.blocks[from].terminator.iter_mut().flat_map(Terminator::successors_mut) {
                if to.block == block {
                    to.args.push(value);
                }
            }
        }
        replacements.replace(loaded, param);
    }
    let moved = |inst: &Inst| loads.iter().any(|load| load.inst == *inst);
    func.blocks[block].insts.retain(|inst| !moved(inst));
    replacements.apply(func);
}

/// A copy of a load and what makes its address at the end of a block, for the round of a loop that
/// the block goes to.
fn copy(func: &mut Function, at: Block, header: Block, load: &Ahead) -> Value {
    let to = func.terminator(at).successors().into_iter().find(|to| to.block == header);
    let args = to.map(|to| to.args.clone()).unwrap_or_default();
    let mut copies: BTreeMap<Value, Value> = BTreeMap::new();
    for &inst in load.address.iter().chain([&load.inst]) {
        let mut data = func.insts[inst].clone();
        data.op.for_each_arg_mut(|arg| {
            *arg = match func.values[*arg].def {
                ValueDef::Param(block, number) if block == header => args[number as usize],
                _ => copies.get(arg).copied().unwrap_or(*arg),
            };
        });
        let types: Vec<_> = data.results.iter().map(|&value| func.ty(value)).collect();
        let new = func.make_inst(data.op, &types, data.span);
        copies.extend(data.results.iter().copied().zip(func.insts[new].results.clone()));
        func.blocks[at].insts.push(new);
    }
    copies[&func.insts[load.inst].results[0]]
}
