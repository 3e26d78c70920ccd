//! What is known of an instruction before it runs: its registers, where it may execute, its times.

use nbcc_isa::Instruction;
use nbcc_isa_mpu::location::{self, Near, Side};
use nbcc_isa_mpu::{Machine, must_be_far};
use nbcc_isa_simt::operands::{Order, Space};
use nbcc_isa_simt::{Category, Inst, Op, PREDICATES, PhysReg, Unit};
use nbcc_sim_simt::timing::operands::{Operands, is_predicate, reads};

/// What an instruction is to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Computes, on either side unless it is fixed.
    Compute,
    /// Is computed by the special function unit.
    Special,
    /// Goes elsewhere, or ends threads.
    Branch,
    /// Waits for other warps of the block.
    Barrier,
    /// Waits for memory.
    Fence,
    /// Accesses memory.
    Access(Space),
}

/// What is known of an instruction.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it is.
    pub kind: Kind,
    /// Where it executes whatever else is said.
    pub fixed: Option<Side>,
    /// Where the compiler wants it.
    pub hint: Option<Side>,
    /// Where what it loads is written, and where it stores from if a near-bank unit does it by itself.
    pub values: Side,
    /// Its registers.
    pub registers: Operands,
    /// Cycles of its unit.
    pub latency: u32,
    /// Cycles in which its operands are collected: all, and those beside the address.
    pub collect: [u32; 2],
    /// Bytes of memory of a thread.
    pub bytes: u32,
    /// Whether memory is written, and nothing read.
    pub store: bool,
    /// Whether memory is read and written in one step.
    pub atomic: bool,
    /// Whether it may take what the remote cache holds.
    pub weak: bool,
    /// Whether it is to be executed in its order with those of all other cores: it changes what they
    /// see at once, or what it loads may be used before a window is over.
    pub alone: bool,
    /// What it is called.
    pub mnemonic: &'static str,
}

impl Plan {
    /// The plan of an instruction.
    pub fn new(machine: &Machine, inst: &Inst<PhysReg>) -> Plan {
        let kind = match (&inst.op, inst.unit()) {
            (Op::Fence { .. }, _) => Kind::Fence,
            (op, Unit::Lsu) => match op.space() {
                Some(space) => Kind::Access(space),
                None => Kind::Compute,
            },
            (_, Unit::Sfu) => Kind::Special,
            (_, Unit::Sync) => Kind::Barrier,
            (op, Unit::Control) => match op {
                Op::Bra { .. } | Op::Exit {} => Kind::Branch,
                _ => Kind::Compute,
            },
            (_, Unit::Alu | Unit::Lanes | Unit::Host) => Kind::Compute,
        };
        let fixed = match kind {
            _ if machine.features.process_on_base_die => Some(Side::Far),
            Kind::Access(Space::Shared) if machine.memory.near_shared => Some(Side::Near),
            _ if must_be_far(inst) => Some(Side::Far),
            _ => None,
        };
        let registers = Operands::new(inst);
        // A bank of a file gives a line an access.
        let collect = [&registers.sources, registers.values()]
            .map(|read| reads(read, machine.registers.banks) * machine.latency.register);
        Plan {
            kind,
            fixed,
            hint: Side::of(inst.hint),
            values: match machine.features.process_on_base_die {
                true => Side::Far,
                false => location::side(inst, Near::of(machine)).unwrap_or(Side::Far),
            },
            registers,
            latency: machine.latency(inst.unit(), inst.latency()),
            collect,
            bytes: inst.op.access_bytes(),
            store: inst.category() == Category::Memory && inst.op.memory_reads().is_empty(),
            atomic: inst.category() == Category::Atomic,
            weak: inst.op.order().is_none_or(|order| order == Order::Weak),
            alone: match kind {
                Kind::Access(Space::Generic) => true,
                Kind::Access(Space::Global | Space::Const) => inst.category() == Category::Atomic,
                _ => inst.unit() == Unit::Host,
            },
            mnemonic: inst.op.mnemonic(),
        }
    }
}

/// The 32-bit registers that the warps of a kernel may hold in the file of each side, far first: those
/// that an instruction which may execute there reads or writes.
pub fn registers_by_side(machine: &Machine, text: &[Inst<PhysReg>]) -> [u32; 2] {
    let mut used = [[false; 256]; 2];
    let mut mark = |sides: &[Side], registers: &[u16]| {
        for &side in sides {
            for &register in registers.iter().filter(|register| !is_predicate(**register)) {
                used[side as usize][usize::from(register - PREDICATES)] = true;
            }
        }
    };
    const BOTH: [Side; 2] = [Side::Far, Side::Near];
    for inst in text {
        let plan = Plan::new(machine, inst);
        match plan.kind {
            Kind::Access(Space::Global | Space::Const | Space::Local | Space::Generic)
                if !plan.atomic && !machine.features.process_on_base_die =>
            {
                mark(&[Side::Far], plan.registers.addresses());
                // A store that is not offloaded takes its values through the far side.
                mark(&[plan.values], plan.registers.values());
                mark(&[plan.values], &plan.registers.destinations);
            }
            _ => {
                let side = plan.fixed.or(plan.hint);
                let sides = side.as_ref().map_or(&BOTH[..], std::slice::from_ref);
                mark(sides, &plan.registers.sources);
                mark(sides, &plan.registers.destinations);
            }
        }
    }
    used.map(|side| side.iter().filter(|used| **used).count() as u32)
}
