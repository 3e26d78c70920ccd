//! A package as it runs: operands resolved to places, slot by slot.

use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{Bit, Control, Memory, Opcode, Options, Package, Source};

/// Where a word comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    /// A constant.
    Immediate(u32),
    /// What a PE put out in the cycle before.
    Output(u16),
    /// A value of a ring.
    Ring(Ring),
    /// A global register.
    Global(u8),
}

/// Where a bit comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flag {
    /// Nothing is connected.
    None,
    /// The bit that a PE put out in the cycle before.
    Output(u16),
    /// The low bit of a value of a ring.
    Ring(Ring),
}

/// A value of a ring, as the operation sees it in its iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// The first register of the ring, of all registers of the array.
    pub first: u32,
    /// How many registers it has.
    pub length: u32,
    /// What is added to the number of the round, modulo the length, to get the register.
    pub offset: u32,
    /// The index in [`Plan::lengths`] of the length.
    pub modulus: u16,
}

/// An operation in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub pe: u16,
    /// The index of the context in the package.
    pub context: u32,
    pub op: Opcode,
    pub options: Options,
    pub in1: Word,
    pub in2: Word,
    pub in3: Flag,
    pub memory: Memory,
    pub condition: Flag,
    pub stage: i64,
    /// The first iteration in which it runs.
    pub first: i64,
    pub initial: Option<u8>,
    pub keep: Option<Ring>,
    pub export: Option<u8>,
}

/// A package, resolved.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The operations of each slot, in ascending order of their PEs.
    pub slots: Vec<Vec<Step>>,
    /// Own registers of all PEs.
    pub registers: u32,
    /// The lengths of rings that there are, each once.
    pub lengths: Vec<u32>,
}

impl Plan {
    /// The plan of a package that is checked.
    pub fn new(package: &Package, machine: &Machine) -> Plan {
        let mut plan = Plan {
            slots: vec![Vec::new(); usize::from(package.ii)],
            registers: 0,
            lengths: Vec::new(),
        };
        let mut bases: Vec<(u16, u32)> = Vec::new();
        for (pe, rings) in &package.rings {
            bases.push((*pe, plan.registers));
            plan.registers += rings.iter().map(|&length| u32::from(length)).sum::<u32>();
        }
        for (index, placed) in package.contexts.iter().enumerate() {
            let context = &placed.context;
            let Control { stage, ahead, initial, keep, export, condition } = context.control;
            let rings = package.rings_of(placed.pe);
            let base = bases.iter().find(|(pe, _)| *pe == placed.pe).map_or(0, |(_, base)| *base);
            let mut ring = |number: u8, ago: u8| {
                let number = usize::from(number);
                let length = u32::from(rings[number]);
                let before: u32 = rings[..number].iter().map(|&length| u32::from(length)).sum();
                let behind = u32::from(stage) + u32::from(ago);
                let known = plan.lengths.iter().position(|other| *other == length);
                let modulus = known.unwrap_or_else(|| {
                    plan.lengths.push(length);
                    plan.lengths.len() - 1
                }) as u16;
                let offset = (length - behind % length) % length;
                Ring { first: base + before, length, offset, modulus }
            };
            let array = &machine.array;
            let (row, column) = array.position(placed.pe.into());
            let pe_at = |r: i8, c: i8| {
                let (row, column) = (row as i32 + i32::from(r), column as i32 + i32::from(c));
                array.pe(row as u32, column as u32) as u16
            };
            let mut word = |source: Source| match source {
                Source::None => Word::Immediate(0),
                Source::Immediate(value) => Word::Immediate(value as u32),
                Source::Output(r, c) => Word::Output(pe_at(r, c)),
                Source::Register { ring: number, ago } => Word::Ring(ring(number, ago)),
                Source::Global(number) => Word::Global(number),
            };
            let (in1, in2) = (word(context.in1), word(context.in2));
            let mut flag = |bit: Bit| match bit {
                Bit::None => Flag::None,
                Bit::Output(r, c) => Flag::Output(pe_at(r, c)),
                Bit::Register { ring: number, ago } => Flag::Ring(ring(number, ago)),
            };
            let (in3, condition) = (flag(context.in3), flag(condition));
            let step = Step {
                pe: placed.pe,
                context: index as u32,
                op: context.op,
                options: context.options,
                in1,
                in2,
                in3,
                memory: context.memory,
                condition,
                stage: stage.into(),
                first: -i64::from(ahead),
                initial,
                keep: keep.map(|number| ring(number, 0)),
                export,
            };
            plan.slots[usize::from(placed.slot)].push(step);
        }
        plan
    }
}
