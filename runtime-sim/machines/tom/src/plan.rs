//! What is known of an instruction before it runs: its registers, its unit, its times.

use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::{Order, Space};
use nbcc_isa_simt::{Category, Inst, Op, PhysReg, RegClass, Unit};
use nbcc_isa_tom::Machine;
use nbcc_isa_tom::offload::{Condition, OffloadTable};
use nbcc_sim_simt::timing::operands::{Operands, number as number_of, reads};

/// What an instruction is to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Computes in the units of its scheduler.
    Compute,
    /// Computes in the special function unit.
    Special,
    /// Goes elsewhere, or ends threads.
    Branch,
    /// Waits for other warps of the block.
    Barrier,
    /// Waits for memory.
    Fence,
    /// Accesses memory.
    Access(Space),
    /// Begins the candidate of that number.
    Region(u32),
}

/// What is known of an instruction.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it is.
    pub kind: Kind,
    /// Its registers.
    pub registers: Operands,
    /// Cycles until its operands are there.
    pub collect: u32,
    /// Cycles from its begin in the unit to its result.
    pub latency: u32,
    /// Cycles until the next one may begin there.
    pub interval: u32,
    /// Bytes of memory of a thread.
    pub bytes: u32,
    /// Whether memory is written, and nothing read.
    pub store: bool,
    /// Whether memory is read and written in one step.
    pub atomic: bool,
    /// Whether it may take what a private cache holds.
    pub weak: bool,
    /// What it is called.
    pub mnemonic: &'static str,
}

impl Plan {
    /// The plan of an instruction in a program with these candidates: the condition of one is read with
    /// its marker.
    pub fn in_table(machine: &Machine, inst: &Inst<PhysReg>, table: &OffloadTable) -> Plan {
        let mut plan = Plan::new(machine, inst);
        if let Kind::Region(number) = plan.kind
            && let Some(entry) = table.entries.get(number as usize)
        {
            let mut waits = Vec::new();
            for reg in entry.condition.iter().flat_map(Condition::registers) {
                let count = if reg.class == RegClass::Wide { 2 } else { 1 };
                waits.extend((0..count).map(|part| number_of(reg.class, reg.index + part)));
            }
            plan.registers.waits = waits.into();
        }
        plan
    }

    /// The plan of an instruction.
    pub fn new(machine: &Machine, inst: &Inst<PhysReg>) -> Plan {
        let kind = match (&inst.op, inst.unit()) {
            (Op::Fence { .. }, _) => Kind::Fence,
            (Op::Region { number }, _) => Kind::Region(*number),
            (op, Unit::Lsu) => op.space().map_or(Kind::Compute, Kind::Access),
            (_, Unit::Sfu) => Kind::Special,
            (_, Unit::Sync) => Kind::Barrier,
            (Op::Bra { .. } | Op::Exit {}, Unit::Control) => Kind::Branch,
            (_, Unit::Control | Unit::Alu | Unit::Lanes | Unit::Host) => Kind::Compute,
        };
        let registers = Operands::new(inst);
        Plan {
            kind,
            collect: reads(&registers.sources, machine.pipeline.register_banks)
                * machine.pipeline.register,
            registers,
            latency: machine.latency.of(inst.latency()),
            interval: machine.interval.of(inst.latency()),
            bytes: inst.op.access_bytes(),
            store: inst.category() == Category::Memory && inst.op.memory_reads().is_empty(),
            atomic: inst.category() == Category::Atomic,
            weak: inst.op.order().is_none_or(|order| order == Order::Weak),
            mnemonic: inst.op.mnemonic(),
        }
    }
}
