//! A package as it runs: operands resolved to places, slot by slot.

use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{Bit, Control, Memory, Opcode, Options, Package, Source};

/// Where a word lies: all words that an array computes with are one table, [`Plan::values`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// The index, less what [`Word::moves`] adds to it.
    pub base: u32,
    /// The index in [`Plan::lengths`] of what moves the place from round to round, behind
    /// [`FIXED`] and [`OUTPUT`].
    pub moves: u16,
}

/// [`Word::moves`] of what stays where it is.
pub(super) const FIXED: u16 = 0;
/// [`Word::moves`] of outputs, which change sides each cycle.
pub(super) const OUTPUT: u16 = 1;
/// [`Word::moves`] of rings of the first length.
pub(super) const RINGS: u16 = 2;

/// Where a result is kept. A ring of n registers stands twice in the table, so that n words from any of
/// its registers on are the whole ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// The index of its first register.
    pub first: u32,
    /// How many registers it has.
    pub length: u32,
    /// The index in [`Plan::lengths`] of the length.
    pub modulus: u16,
    /// What is added to the number of the round, modulo the length, to get the register.
    pub offset: u32,
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
    /// The word whose bit it takes.
    pub in3: Option<Word>,
    pub memory: Memory,
    /// The word whose bit says whether it runs.
    pub condition: Option<Word>,
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
    /// The table of words before the first cycle: outputs of two cycles, global registers, constants,
    /// rings. Global registers and rings are zero.
    pub values: Vec<u32>,
    /// The index of the first global register.
    pub globals: usize,
    /// The lengths of rings that there are, each once.
    pub lengths: Vec<u32>,
}

impl Plan {
    /// The plan of a package that is checked.
    pub fn new(package: &Package, machine: &Machine) -> Plan {
        let pes = machine.array.pes();
        let globals = 2 * pes;
        let mut plan = Plan {
            slots: vec![Vec::new(); usize::from(package.ii)],
            values: vec![0; globals + machine.control.globals as usize],
            globals,
            lengths: Vec::new(),
        };
        // Where the rings of each PE are.
        let mut bases: Vec<(u16, u32)> = Vec::new();
        for (pe, rings) in &package.rings {
            bases.push((*pe, plan.values.len() as u32));
            let registers: usize = rings.iter().map(|&length| 2 * usize::from(length)).sum();
            plan.values.resize(plan.values.len() + registers, 0);
        }
        for (index, placed) in package.contexts.iter().enumerate() {
            let context = &placed.context;
            let Control { stage, ahead, initial, keep, export, condition } = context.control;
            let rings = package.rings_of(placed.pe);
            let base = bases.iter().find(|(pe, _)| *pe == placed.pe).map_or(0, |(_, base)| *base);
            let ring = |lengths: &mut Vec<u32>, number: u8, ago: u8| {
                let number = usize::from(number);
                let length = u32::from(rings[number]);
                let before: u32 = rings[..number].iter().map(|&length| u32::from(length)).sum();
                let behind = u32::from(stage) + u32::from(ago);
                let known = lengths.iter().position(|other| *other == length);
                let modulus = known.unwrap_or_else(|| {
                    lengths.push(length);
                    lengths.len() - 1
                }) as u16;
                let offset = (length - behind % length) % length;
                Ring { first: base + 2 * before, length, modulus, offset }
            };
            let array = &machine.array;
            let (row, column) = array.position(placed.pe.into());
            let pe_at = |r: i8, c: i8| {
                let (row, column) = (row as i32 + i32::from(r), column as i32 + i32::from(c));
                array.pe(row as u32, column as u32) as u16
            };
            let of_ring = |lengths: &mut Vec<u32>, number: u8, ago: u8| {
                let ring = ring(lengths, number, ago);
                Word { base: ring.first + ring.offset, moves: RINGS + ring.modulus }
            };
            let Plan { values, lengths, .. } = &mut plan;
            let mut word = |source: Source| match source {
                Source::None | Source::Immediate(_) => {
                    let value = if let Source::Immediate(value) = source { value } else { 0 };
                    values.push(value as u32);
                    Word { base: values.len() as u32 - 1, moves: FIXED }
                }
                Source::Output(r, c) => Word { base: pe_at(r, c).into(), moves: OUTPUT },
                Source::Register { ring, ago } => of_ring(lengths, ring, ago),
                Source::Global(number) => {
                    Word { base: globals as u32 + u32::from(number), moves: FIXED }
                }
            };
            let (in1, in2) = (word(context.in1), word(context.in2));
            let mut bit = |bit: Bit| match bit {
                Bit::None => None,
                Bit::Output(r, c) => Some(word(Source::Output(r, c))),
                Bit::Register { ring, ago } => Some(word(Source::Register { ring, ago })),
            };
            let (in3, condition) = (bit(context.in3), bit(condition));
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
                keep: keep.map(|number| ring(lengths, number, 0)),
                export,
            };
            plan.slots[usize::from(placed.slot)].push(step);
        }
        plan
    }
}
