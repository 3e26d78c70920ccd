//! Instruction scheduling of kernels, for machines that issue the instructions of a warp in order: a list
//! schedule of each block over the dependences of `dependence.rs`, before values have registers
//! (`nbcc_mach::prepass`) or, between entries of register files, when they do (`nbcc_mach::schedule`). How
//! long something takes, a target says.

use std::collections::BTreeSet;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::Source;
use nbcc_isa_simt::{Inst, Memory, Op, PREDICATES, RegClass, Unit};
use nbcc_mach::dependence::{Dependence, DependenceGraph, Edge};
use nbcc_mach::liveness::Liveness;
use nbcc_mach::prepass::{self, Pressure};
use nbcc_mach::schedule::{self, Hazards, Orders, Priority};
use nbcc_mach::{Block, InstData, VReg};

use super::dependence::is_fixed;
use super::regalloc::Registers;
use super::select::MachFunction;

/// More entries than a register file has; those of predicates are numbered from here.
const FILE: u32 = 1 << 16;

/// Instructions that are scheduled together; longer blocks are cut, so that time stays in proportion.
const WINDOW: usize = 1024;

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
            let found = schedule::list_schedule(
                &graph,
                |from, edge| waits(&window[from].inst, edge, &latency),
                |at| priority(&window[at].inst),
            );
            order.extend(found.into_iter().map(|at| number * WINDOW + at));
        }
        reorder(func, block, &order);
        orders[block] = order;
    }
    orders
}

/// The same before values have registers: no more words of them are live at once than `words`, or than in
/// the order of the program.
pub fn before_allocation(
    func: &mut MachFunction,
    words: u32,
    latency: impl Fn(&Inst<VReg>) -> u32,
) -> Orders {
    let live = Liveness::new(func);
    let limits = [(RegClass::Pred, PREDICATES.into()), (RegClass::Word, words)];
    let mut orders = Orders::new();
    let entered = entered(func);
    for block in func.blocks.keys().collect::<Vec<_>>() {
        let on_edges = copies_on_edges(func, &live, &entered, block);
        let insts = &func.blocks[block].insts;
        let class = |vreg: VReg| Some(file_of(func.vregs[vreg].class));
        let mut behind: BTreeSet<VReg> = live.live_out[block].iter().copied().collect();
        let mut windows = Vec::new();
        for (number, window) in insts.chunks(WINDOW).enumerate().rev() {
            let before = live_before(window, &behind);
            let as_list = |live: &BTreeSet<VReg>| live.iter().copied().collect::<Vec<_>>();
            let pressure = Pressure {
                class: &class,
                limits: &limits,
                live: (&as_list(&before), &as_list(&behind)),
            };
            let own = |vreg: VReg| vreg.as_u32()..vreg.as_u32() + 1;
            let mut graph = DependenceGraph::new(window, own, is_fixed);
            if number == (insts.len() - 1) / WINDOW {
                let mut with_edges = window.to_vec();
                with_edges.extend_from_slice(&on_edges);
                prepass::keep_copies(&mut graph, &with_edges, copy);
            } else {
                prepass::keep_copies(&mut graph, window, copy);
            }
            let found = prepass::schedule(
                window,
                &graph,
                |from, edge| waits(&window[from].inst, edge, &latency),
                |at| priority(&window[at].inst),
                &Hazards::default(),
                &pressure,
            );
            windows.push(found.into_iter().map(|at| number * WINDOW + at).collect::<Vec<_>>());
            behind = before;
        }
        let order: Vec<usize> = windows.into_iter().rev().flatten().collect();
        reorder(func, block, &order);
        orders[block] = order;
    }
    orders
}

/// How many edges lead to each block.
fn entered(func: &MachFunction) -> SecondaryMap<Block, u32> {
    let mut entered = SecondaryMap::new();
    for to in func.blocks.values().flat_map(|data| &data.successors) {
        entered[*to] += 1;
    }
    entered
}

/// The copies on the edges from a block, of registers that nothing else needs behind it: of what has not
/// been copied before on the same edge.
fn copies_on_edges(
    func: &MachFunction,
    live: &Liveness,
    entered: &SecondaryMap<Block, u32>,
    block: Block,
) -> Vec<InstData<Inst<VReg>>> {
    let mut copies: Vec<InstData<Inst<VReg>>> = Vec::new();
    let mut written = BTreeSet::new();
    for &edge in func.blocks[block].successors.iter().filter(|&&to| entered[to] == 1) {
        for data in &func.blocks[edge].insts {
            let Some((to, from)) = copy(&data.inst) else { break };
            if !written.contains(&from) && !live.live_out[block].contains(&to) {
                copies.push(data.clone());
            }
            written.insert(to);
        }
    }
    copies
}

/// What is live before instructions behind which something is.
fn live_before(insts: &[InstData<Inst<VReg>>], behind: &BTreeSet<VReg>) -> BTreeSet<VReg> {
    let mut live = behind.clone();
    for inst in insts.iter().rev() {
        let (uses, defs) = MachFunction::uses_and_defs(&inst.inst);
        live.retain(|vreg| !defs.contains(vreg));
        live.extend(uses);
    }
    live
}

/// The file of a class of registers, and the entries that one takes there.
fn file_of(class: RegClass) -> (RegClass, u32) {
    match class {
        RegClass::Pred => (RegClass::Pred, 1),
        RegClass::Word => (RegClass::Word, 1),
        RegClass::Wide => (RegClass::Word, 2),
    }
}

/// The registers of an instruction that copies: to, from.
fn copy(inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
    match inst.op {
        _ if inst.guard.is_some() => None,
        Op::Mov { dst, src: Source::Reg(src) }
        | Op::MovWide { dst, src }
        | Op::PredMov { dst, src } => Some((dst, src)),
        _ => None,
    }
}

/// Cycles after an instruction until the one at the end of an edge can issue.
fn waits(inst: &Inst<VReg>, edge: &Edge, latency: impl Fn(&Inst<VReg>) -> u32) -> u32 {
    match edge.kind {
        Dependence::True => latency(inst).max(1),
        // What is written again is written later, and accesses keep their order.
        Dependence::Anti | Dependence::Output | Dependence::Memory => 1,
        Dependence::Order | Dependence::Control => 1,
    }
}

fn priority(inst: &Inst<VReg>) -> Priority {
    if is_load(inst) { Priority::First } else { Priority::Usual }
}

/// Puts the instructions of a block in an order.
fn reorder(func: &mut MachFunction, block: Block, order: &[usize]) {
    let mut old: Vec<_> = func.blocks[block].insts.drain(..).map(Some).collect();
    func.blocks[block].insts = order.iter().filter_map(|&at| old[at].take()).collect();
}

/// Checks a reordered kernel against the one before. Without registers, values are told apart as they are.
///
/// # Errors
/// The first instruction that is not where it may be.
pub fn check(
    before: &MachFunction,
    after: &MachFunction,
    orders: &Orders,
    registers: Option<&Registers>,
) -> Result<(), String> {
    let units = |vreg: VReg| match registers {
        Some(registers) => unit(before, registers, vreg),
        None => vreg.as_u32()..vreg.as_u32() + 1,
    };
    schedule::check_function(before, after, orders, WINDOW, units, is_fixed)
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
