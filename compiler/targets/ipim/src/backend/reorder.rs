//! Instruction reordering (iPIM paper, section V-C, Algorithm 1) of kernels, before they have registers
//! and with them, and the memory-order edges that go before it.
//!
//! The control core issues in order, so an instruction that must wait holds up all behind it: for
//! registers that are still to be read or written, and for the scratchpads, until the instructions
//! before have retired; not for banks, whose requests reach them in order.
//!
//! `req` may pass the stores of its own vault: kernels request only what was complete before they
//! began.

use std::collections::BTreeMap;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_isa::{Instruction, RegisterClass};
use nbcc_isa_ipim::{Addr, Inst, Machine, Memory, RegClass, Unit};
use nbcc_mach::dependence::{Dependence, DependenceGraph, Edge};
use nbcc_mach::liveness::Liveness;
use nbcc_mach::prepass::{self, Pressure};
use nbcc_mach::regalloc::{Allocation, RegisterFile};
use nbcc_mach::rows::Rows;
use nbcc_mach::schedule::{self, Hazards, Orders, Priority};
use nbcc_mach::{Block, InstData, VReg};

use super::code::{MachFunction, copy};

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
    each_block(func, |func, block| {
        let insts = &func.blocks[block].insts;
        let units = |vreg| unit(func, registers, vreg);
        let graph = graph(insts, units, memory_order);
        let latency = |from: usize, edge: &Edge| latency(insts, from, edge, machine);
        let priorities = priorities(insts, &graph, machine);
        let mut hazards = hazards(insts, machine);
        if memory_order {
            hazards.rows = rows(insts, &graph, machine);
        }
        schedule::list_schedule_with(&graph, latency, |at| priorities[at], &hazards)
    })
}

/// The same before there are registers, with their number in view: `files` are those of the kernel.
pub fn run_before_allocation(
    func: &mut MachFunction,
    runs: &SecondaryMap<Block, u64>,
    files: &[RegisterFile<RegClass>],
    machine: &Machine,
    memory_order: bool,
) -> Orders {
    let live = Liveness::new(func);
    let hottest = hottest(func, runs);
    let limit = |file: &RegisterFile<RegClass>| {
        // Some are for what is live in other blocks only, and for reloads.
        let entries = file.entries.len() as u32;
        (file.classes[0].0, entries - entries / 8)
    };
    let limits: Vec<_> = files.iter().map(limit).collect();
    each_block(func, |func, block| {
        let places = behind_readers(&func.blocks[block].insts);
        let insts: Vec<InstData<Inst<VReg>>> =
            places.iter().map(|&at| func.blocks[block].insts[at].clone()).collect();
        let insts = &insts[..];
        let mut graph = graph(insts, |vreg| vreg.as_u32()..vreg.as_u32() + 1, memory_order);
        prepass::keep_copies(&mut graph, insts, copy);
        let latency = |from: usize, edge: &Edge| latency(insts, from, edge, machine);
        // What only blocks access that run less leaves DataRF for a block that needs all of it.
        let stays = |live: &[VReg]| -> Vec<VReg> {
            let stays = |vreg: &&VReg| {
                func.vregs[**vreg].class != RegClass::Data || hottest[**vreg] >= runs[block]
            };
            live.iter().filter(stays).copied().collect()
        };
        let pressure = Pressure {
            class: &|vreg| {
                let data = &func.vregs[vreg];
                data.fixed.is_none().then_some((data.class, 1))
            },
            limits: &limits,
            live: (&stays(&live.live_in[block]), &stays(&live.live_out[block])),
        };
        let priorities = priorities(insts, &graph, machine);
        let mut hazards = hazards(insts, machine);
        if memory_order {
            hazards.rows = rows(insts, &graph, machine);
        }
        let order =
            prepass::schedule(insts, &graph, latency, |at| priorities[at], &hazards, &pressure);
        order.into_iter().map(|at| places[at]).collect()
    })
}

/// How often the block runs that accesses a register and runs most.
fn hottest(func: &MachFunction, runs: &SecondaryMap<Block, u64>) -> SecondaryMap<VReg, u64> {
    let mut hottest: SecondaryMap<VReg, u64> = SecondaryMap::new();
    for (block, data) in &func.blocks {
        for inst in &data.insts {
            inst.inst.for_each_operand(|operand| {
                let most = &mut hottest[*operand.reg];
                *most = (*most).max(runs[block]);
            });
        }
    }
    hottest
}

/// Puts the instructions of each block in the order that `order` gives.
fn each_block(
    func: &mut MachFunction,
    mut order: impl FnMut(&MachFunction, Block) -> Vec<usize>,
) -> Orders {
    let mut orders = Orders::new();
    let blocks: Vec<_> = func.blocks.keys().collect();
    for block in blocks {
        let order = order(func, block);
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut old: Vec<_> = insts.into_iter().map(Some).collect();
        func.blocks[block].insts = order.iter().filter_map(|&at| old[at].take()).collect();
        orders[block] = order;
    }
    orders
}

/// The dependence graph of a block, with the edges of the memory order.
fn graph(
    insts: &[InstData<Inst<VReg>>],
    units: impl Fn(VReg) -> Range<u32>,
    memory_order: bool,
) -> DependenceGraph {
    // How long an access holds up others is the same for all of an opcode ([`latency`]).
    let mut graph = DependenceGraph::reduced(insts, units, is_fixed, |inst| Some(inst.opcode()));
    if memory_order {
        // Of an object that is changed in place, loads need not wait until what is before them is stored.
        let mut streams: BTreeMap<(Option<u32>, bool), Vec<usize>> = BTreeMap::new();
        for at in (0..insts.len()).filter(|&at| insts[at].inst.unit() == Unit::Bank) {
            let object = insts[at].access_of(Memory::Bank).and_then(|access| access.object);
            streams.entry((object, is_load(&insts[at].inst))).or_default().push(at);
        }
        streams.into_values().for_each(|stream| graph.keep_order(stream.into_iter()));
    }
    graph
}

/// The instructions of a block in an order in which what is copied to another register is made behind
/// what reads that, where it can be: a counter goes on when it was compared.
fn behind_readers(insts: &[InstData<Inst<VReg>>]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..insts.len()).collect();
    for (at, data) in insts.iter().enumerate() {
        let Some((to, from)) = copy(&data.inst) else { continue };
        let accesses = |other: usize, vreg: VReg, writes: bool| {
            let mut any = false;
            insts[other].inst.for_each_operand(|operand| {
                let role = operand.role;
                any |= *operand.reg == vreg && if writes { role.writes() } else { role.reads() };
            });
            any
        };
        let Some(made) = (0..at).rev().find(|&other| accesses(other, from, true)) else { continue };
        let Some(last) = (made + 1..at).rev().find(|&other| accesses(other, to, false)) else {
            continue;
        };
        let (uses, defs) = MachFunction::uses_and_defs(&insts[made].inst);
        let meets = |other: usize| {
            uses.iter().any(|&vreg| accesses(other, vreg, true))
                || defs.iter().any(|&vreg| accesses(other, vreg, false))
                || defs.iter().any(|&vreg| accesses(other, vreg, true))
        };
        let place = |other: usize| places.iter().position(|&place| place == other);
        let (Some(from), Some(behind)) = (place(made), place(last)) else { continue };
        let is_sum = matches!(insts[made].inst.unit(), Unit::Control | Unit::IntAlu | Unit::Simd);
        if is_sum
            && !is_fixed(&insts[made].inst)
            && from < behind
            && !places[from + 1..=behind].iter().any(|&other| meets(other))
        {
            places[from..=behind].rotate_left(1);
        }
    }
    places
}

/// Checks a reordered kernel against the one before; `registers` are there if they were then.
///
/// # Errors
/// The first instruction that is not where it may be.
pub fn check(
    before: &MachFunction,
    after: &MachFunction,
    orders: &Orders,
    registers: Option<&Allocation>,
) -> Result<(), String> {
    let units = |vreg: VReg| match registers {
        Some(registers) => unit(before, registers, vreg),
        None => vreg.as_u32()..vreg.as_u32() + 1,
    };
    schedule::check_function(before, after, orders, usize::MAX, units, is_fixed)
}

/// Loads come first. Where banks take longer than the control core, stores to them and what makes their
/// addresses come last: each change between loads and stores is one between rows.
fn priorities(
    insts: &[InstData<Inst<VReg>>],
    graph: &DependenceGraph,
    machine: &Machine,
) -> Vec<Priority> {
    let mut priorities = vec![Priority::Usual; insts.len()];
    let count = |unit| insts.iter().filter(|data| data.inst.unit() == unit).count();
    let banks_are_slow = count(Unit::Bank) * machine.hierarchy.pes as usize > insts.len();
    for at in (0..insts.len()).rev() {
        let mut readers = graph.successors[at].iter().filter(|e| e.kind == Dependence::True);
        let last = |edge: &Edge| priorities[edge.to] == Priority::Last;
        let only_last = readers.clone().next().is_some() && readers.all(last);
        priorities[at] = match insts[at].inst {
            ref inst if is_load(inst) => Priority::First,
            Inst::StRf { .. } if banks_are_slow => Priority::Last,
            Inst::CalcArf { .. } if only_last => Priority::Last,
            _ => Priority::Usual,
        };
    }
    priorities
}

/// Where in banks an access goes, as far as that tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// To the row of that number.
    Number(u32),
    /// To one of those objects.
    Objects(u32),
}

impl Row {
    fn of(data: &InstData<Inst<VReg>>, row_bytes: u32) -> Option<Row> {
        match data.inst {
            Inst::LdRf { dram: Addr::Direct(address), .. }
            | Inst::StRf { dram: Addr::Direct(address), .. } => {
                Some(Row::Number(address / row_bytes))
            }
            _ => data.access_of(Memory::Bank)?.rows.map(Row::Objects),
        }
    }
}

/// What brings something from a bank.
fn is_load(inst: &Inst<VReg>) -> bool {
    matches!(inst, Inst::LdRf { .. } | Inst::LdPgsm { .. } | Inst::Req { .. })
}

/// How many cycles after its issue an instruction holds its registers no longer.
pub fn retires(inst: &Inst<VReg>, machine: &Machine) -> u32 {
    // A row is not always open.
    let row = if is_load(inst) { machine.dram.t_rcd } else { 0 };
    machine.latency.t_tsv + row + machine.latency(inst.unit(), inst.latency())
}

/// How many cycles after an instruction the one that depends on it can issue.
fn latency(insts: &[InstData<Inst<VReg>>], from: usize, edge: &Edge, machine: &Machine) -> u32 {
    let [inst, next] = [from, edge.to].map(|at| &insts[at].inst);
    // Each engine of a group has its turn at the commands of the controller.
    let bank = machine.hierarchy.pes.max(machine.dram.t_ccd);
    let both = |memory| touches(inst, memory) && touches(next, memory);
    match edge.kind {
        Dependence::True | Dependence::Anti | Dependence::Output => retires(inst, machine),
        Dependence::Memory if both(Memory::Pgsm) || both(Memory::Vsm) => {
            let waits = [Memory::Pgsm, Memory::Vsm]
                .into_iter()
                .any(|memory| both(memory) && scratchpad_waits(inst, next, memory, machine));
            match waits {
                true => retires(inst, machine),
                false if both(Memory::Bank) => bank,
                false => 1,
            }
        }
        Dependence::Memory | Dependence::Order => bank,
        Dependence::Control => 1,
    }
}

/// What accesses to scratchpads wait for, each as a whole, wherever they go.
fn hazards(insts: &[InstData<Inst<VReg>>], machine: &Machine) -> Hazards {
    let memories = [Memory::Pgsm, Memory::Vsm];
    let mut hazards = Hazards::default();
    let mut examples: Vec<&Inst<VReg>> = Vec::new();
    for data in insts {
        let inst = &data.inst;
        let kind = memories.iter().any(|&memory| touches(inst, memory)).then(|| {
            let known = examples.iter().position(|known| known.opcode() == inst.opcode());
            known.unwrap_or_else(|| {
                examples.push(inst);
                examples.len() - 1
            })
        });
        hazards.kinds.push(kind.map(|kind| (kind, retires(inst, machine))));
    }
    let waits = |next: &Inst<VReg>, inst: &Inst<VReg>| {
        memories.iter().any(|&memory| {
            let both = touches(inst, memory) && touches(next, memory);
            both && scratchpad_waits(inst, next, memory, machine)
        })
    };
    let waits_for =
        |next| (0..examples.len()).filter(|&kind| waits(next, examples[kind])).collect();
    hazards.waits_for = examples.iter().map(|&next| waits_for(next)).collect();
    hazards
}

/// What a block accesses of banks: a row for each object, or for each number of one where addresses stand
/// in instructions.
fn rows(insts: &[InstData<Inst<VReg>>], graph: &DependenceGraph, machine: &Machine) -> Rows {
    let dram = &machine.dram;
    let mut known: Vec<(Option<Row>, bool)> = Vec::new();
    let mut rows = Rows {
        served: machine.hierarchy.pes.max(dram.t_ccd),
        turn: [dram.t_rtp, dram.t_cwl + dram.t_bl + dram.t_wr]
            .map(|closable| closable + dram.t_rp + dram.t_rcd),
        back: dram.t_cwl + dram.t_bl + dram.t_wtr_l,
        ..Rows::default()
    };
    let mut numbers: Vec<Option<Row>> = Vec::new();
    for data in insts {
        let of_bank = data.inst.unit() == Unit::Bank;
        rows.streams.push(of_bank.then(|| {
            let row = Row::of(data, dram.row_bytes);
            let stream = (row, data.inst.memory_writes().contains(&Memory::Bank));
            known.iter().position(|known| *known == stream).unwrap_or_else(|| {
                let number = numbers.iter().position(|known| *known == row);
                let number = number.unwrap_or_else(|| {
                    numbers.push(row);
                    numbers.len() - 1
                });
                rows.rows.push((number, stream.1));
                known.push(stream);
                known.len() - 1
            })
        }));
    }
    rows.addresses = vec![None; insts.len()];
    for at in (0..insts.len()).rev() {
        if insts[at].inst.unit() != Unit::IntAlu {
            continue;
        }
        let readers = graph.successors[at].iter().filter(|e| e.kind == Dependence::True);
        let mut streams = readers.map(|e| rows.streams[e.to].or(rows.addresses[e.to]));
        let first = streams.next().flatten();
        rows.addresses[at] = first.filter(|_| streams.all(|stream| stream == first));
    }
    rows
}

/// Whether an instruction accesses a memory.
pub fn touches(inst: &Inst<VReg>, memory: Memory) -> bool {
    inst.memory_reads().contains(&memory) || inst.memory_writes().contains(&memory)
}

/// Whether an access of a scratchpad has to wait until one before it has retired, of which one writes
/// (docs/machine-ipim.md, "The control core").
pub fn scratchpad_waits(
    inst: &Inst<VReg>,
    next: &Inst<VReg>,
    memory: Memory,
    machine: &Machine,
) -> bool {
    let ports = memory == Memory::Pgsm && machine.memory.pgsm_ports > 1;
    let writes = |inst: &Inst<VReg>| inst.memory_writes().contains(&memory);
    let from_bank = |inst: &Inst<VReg>| inst.memory_reads().contains(&Memory::Bank);
    match (writes(inst), writes(next)) {
        (true, false) => true,
        (false, _) => !ports,
        // What comes from a bank takes longer than what does not.
        (true, true) => inst.opcode() != next.opcode() && !(ports && from_bank(next)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use nbcc_isa_ipim::IntOp;

    /// A counter that goes on, is compared with something, and is copied.
    fn places(compared: usize) -> Vec<usize> {
        let v = VReg::from_u32;
        let values = [0, 1].map(v);
        let calc = |op, dst, src1, src2| Inst::CalcCrf { op, dst, src1, src2 };
        let insts = [
            calc(IntOp::Add, values[1], values[0], v(2)),
            calc(IntOp::Sub, v(3), values[compared], v(4)),
            calc(IntOp::Or, values[0], values[1], values[1]),
        ];
        behind_readers(&insts.map(|inst| InstData::new(inst, None)))
    }

    #[test]
    fn counters_go_on_behind_what_reads_them() {
        assert_eq!(places(0), [1, 0, 2]);
        assert_eq!(places(1), [0, 1, 2]);
    }
}
