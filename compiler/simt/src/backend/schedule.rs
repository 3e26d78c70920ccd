//! Instruction scheduling of kernels that have registers, for machines that issue the instructions of
//! a warp in order: a list schedule of each block (`nbcc_mach::schedule`) over the dependences of
//! `dependence.rs`, here between entries of register files. How long something takes, a target says.

use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;
use nbcc_isa_simt::{Inst, Memory, RegClass, Unit};
use nbcc_mach::dependence::{Dependence, DependenceGraph, Edge};
use nbcc_mach::schedule::{self, Priority};
use nbcc_mach::{Block, InstData, VReg};

use super::dependence::is_fixed;
use super::regalloc::Registers;
use super::select::MachFunction;

/// More entries than a register file has; those of predicates are numbered from here.
const FILE: u32 = 1 << 16;

/// Instructions that are scheduled together; longer blocks are cut, so that time stays in proportion.
const WINDOW: usize = 1024;

/// The orders of the instructions of blocks, by their places before.
pub type Orders = SecondaryMap<Block, Vec<usize>>;

/// Reorders the instructions of each block. `latency` says how many cycles after an instruction
/// starts its result is there.
pub fn run(
    func: &mut MachFunction,
    registers: &Registers,
    latency: impl Fn(&Inst<VReg>) -> u32,
) -> Orders {
    let mut orders = Orders::new();
    for block in func.blocks.keys().collect::<Vec<_>>() {
        let insts = &func.blocks[block].insts;
        let mut order = Vec::with_capacity(insts.len());
        for (number, window) in insts.chunks(WINDOW).enumerate() {
            let graph = DependenceGraph::new(window, |vreg| unit(func, registers, vreg), is_fixed);
            let latency = |from: usize, edge: &Edge| match edge.kind {
                Dependence::True => latency(&window[from].inst).max(1),
                // What is written again is written later, and accesses keep their order.
                Dependence::Anti | Dependence::Output | Dependence::Memory => 1,
                Dependence::Order | Dependence::Control => 1,
            };
            let found =
                schedule::list_schedule(&graph, latency, |at| match is_load(&window[at].inst) {
                    true => Priority::First,
                    false => Priority::Usual,
                });
            order.extend(found.into_iter().map(|at| number * WINDOW + at));
        }
        let mut old: Vec<_> = insts.iter().cloned().map(Some).collect();
        func.blocks[block].insts = order.iter().filter_map(|&at| old[at].take()).collect();
        orders[block] = order;
    }
    orders
}

/// Checks a reordered kernel against the one before.
///
/// # Errors
/// The first instruction that is not where it may be.
pub fn check(
    before: &MachFunction,
    after: &MachFunction,
    orders: &Orders,
    registers: &Registers,
) -> Result<(), String> {
    if before.blocks.len() != after.blocks.len() {
        return Err(format!("{} has other blocks", after.name));
    }
    for (block, data) in &before.blocks {
        let (now, order) = (&after.blocks[block].insts, &orders[block]);
        let same = |(&at, inst): (&usize, &InstData<_>)| {
            data.insts.get(at).is_some_and(|was| was.inst == inst.inst)
        };
        if order.len() != now.len() || !order.iter().zip(now).all(same) {
            return Err(format!("{block} of {} has other instructions", after.name));
        }
        let units = |vreg| unit(before, registers, vreg);
        for (number, window) in data.insts.chunks(WINDOW).enumerate() {
            let first = number * WINDOW;
            let own = order.get(first..first + window.len()).unwrap_or_default();
            let own: Vec<usize> = own.iter().map(|&at| at.wrapping_sub(first)).collect();
            schedule::check(window, &own, units, is_fixed)
                .map_err(|what| format!("{block} of {}: {what}", after.name))?;
        }
    }
    Ok(())
}

/// What brings something from memory that is not the thread's own constants.
fn is_load(inst: &Inst<VReg>) -> bool {
    inst.unit() == Unit::Lsu
        && inst.memory_reads().iter().any(|memory| *memory != Memory::Param)
        && inst.memory_writes().is_empty()
}

/// The entries of a register.
fn unit(func: &MachFunction, registers: &Registers, vreg: VReg) -> Range<u32> {
    let entry = u32::from(registers.allocation.entries[vreg]);
    match func.vregs[vreg].class {
        RegClass::Pred => FILE + entry..FILE + entry + 1,
        RegClass::Word => entry..entry + 1,
        RegClass::Wide => entry..entry + 2,
    }
}
