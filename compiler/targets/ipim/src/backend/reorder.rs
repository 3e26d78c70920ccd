//! Instruction reordering (paper 001, section V-C, Algorithm 1) of kernels that have registers,
//! and the memory-order edges that go before it.
//!
//! The control core issues in order, so an instruction that must wait holds up all behind it: for
//! registers that are still to be read or written, and for the scratchpads, until the instructions
//! before have retired; not for banks, whose requests reach them in order.
//!
//! `req` may pass the stores of its own vault: kernels request only what was complete before they
//! began.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa::{Instruction, RegisterClass};
use nbcc_isa_ipim::{Inst, Machine, Memory, RegClass, Unit};
use nbcc_mach::dependence::{Dependence, DependenceGraph, Edge};
use nbcc_mach::regalloc::Allocation;
use nbcc_mach::{InstData, VReg, schedule};

use super::code::{MachFunction, Orders};

/// More entries than a register file has.
const FILE: u32 = 1 << 16;

/// Reorders the instructions of each block. With `memory_order`, accesses to an object of the bank
/// stay in the order of the program, which goes along its rows, and stand apart by what banks take
/// for one, so that the queue of requests does not fill. Those of different objects, which lie in
/// different rows, may pass each other: loads are better together than between stores.
pub fn run(
    func: &mut MachFunction,
    registers: &Allocation,
    machine: &Machine,
    memory_order: bool,
) -> Orders {
    let mut orders = Orders::new();
    let blocks: Vec<_> = func.blocks.keys().collect();
    for block in blocks {
        let insts = &func.blocks[block].insts;
        let mut graph = DependenceGraph::new(insts, |vreg| unit(func, registers, vreg), is_fixed);
        if memory_order {
            let mut streams: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
            for at in (0..insts.len()).filter(|&at| insts[at].inst.unit() == Unit::Bank) {
                let object = insts[at].access_of(Memory::Bank).and_then(|access| access.object);
                streams.entry(object).or_default().push(at);
            }
            streams.into_values().for_each(|stream| graph.keep_order(stream.into_iter()));
        }
        let latency = |from: usize, edge: &Edge| latency(insts, from, edge, machine);
        let order = schedule::list_schedule(&graph, latency, |at| is_load(&insts[at].inst));
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
    registers: &Allocation,
) -> Result<(), String> {
    if before.blocks.len() != after.blocks.len() {
        return Err(format!("{} has other blocks", after.name));
    }
    for (block, data) in &before.blocks {
        if data.successors != after.blocks[block].successors {
            return Err(format!("{block} of {} goes on elsewhere", after.name));
        }
        let now = &after.blocks[block].insts;
        let order = &orders[block];
        let same = |(&at, inst): (&usize, &InstData<_>)| {
            data.insts.get(at).is_some_and(|was| was.inst == inst.inst)
        };
        if order.len() != now.len() || !order.iter().zip(now).all(same) {
            return Err(format!("{block} of {} has other instructions", after.name));
        }
        let units = |vreg| unit(before, registers, vreg);
        schedule::check(&data.insts, order, units, is_fixed)
            .map_err(|what| format!("{block} of {}: {what}", after.name))?;
    }
    Ok(())
}

/// What brings something from a bank.
fn is_load(inst: &Inst<VReg>) -> bool {
    matches!(inst, Inst::LdRf { .. } | Inst::LdPgsm { .. } | Inst::Req { .. })
}

/// How many cycles after an instruction the one that depends on it can issue.
fn latency(insts: &[InstData<Inst<VReg>>], from: usize, edge: &Edge, machine: &Machine) -> u32 {
    let [inst, next] = [from, edge.to].map(|at| &insts[at].inst);
    // A row is not always open.
    let row = if is_load(inst) { machine.dram.t_rcd } else { 0 };
    let retires = || machine.latency.t_tsv + row + machine.latency(inst.unit(), inst.latency());
    let touches = |inst: &Inst<VReg>, memory| {
        inst.memory_reads().contains(&memory) || inst.memory_writes().contains(&memory)
    };
    let scratchpad = [Memory::Pgsm, Memory::Vsm];
    match edge.kind {
        Dependence::True | Dependence::Anti | Dependence::Output => retires(),
        Dependence::Memory if scratchpad.iter().any(|&m| touches(inst, m) && touches(next, m)) => {
            retires()
        }
        // Each engine of a group has its turn at the commands of the controller.
        Dependence::Memory | Dependence::Order => machine.hierarchy.pes.max(machine.dram.t_ccd),
        Dependence::Control => 1,
    }
}

/// The entry of a register, among those of all files.
fn unit(func: &MachFunction, registers: &Allocation, vreg: VReg) -> Range<u32> {
    let class = func.vregs[vreg].class;
    let file = RegClass::ALL.iter().position(|&c| c == class).unwrap_or(0) as u32;
    let entry = file * FILE + u32::from(registers.entries[vreg]);
    entry..entry + 1
}

/// What nothing moves over.
fn is_fixed(inst: &Inst<VReg>) -> bool {
    inst.is_branch() || matches!(inst, Inst::Sync { .. })
}
