//! What a package must be for a machine: every number in range, every operand within reach, no more
//! ports, registers and multipliers than there are. Loader and compiler call it; it knows nothing of
//! what a package is to compute.

use super::context::{Bit, Context, Control, Memory, Source};
use super::opcode::{Opcode, Options, Part};
use super::package::{ArrayKind, Package, Placed};
use crate::Machine;

/// What is wrong with a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The index of the context, where one is at fault.
    pub context: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl Opcode {
    /// Whether it takes a second operand.
    pub fn has_in2(self) -> bool {
        use Opcode::*;
        !matches!(
            self,
            Load | Pass | Bitrev | Square | Diff | Sine | Cosine | GainDiff | DiffGain | SumGain
        )
    }

    /// Whether it takes a bit.
    pub fn has_in3(self) -> bool {
        use Opcode::*;
        matches!(self, Pass | Add | Sub | Mux) || self.accumulates()
    }

    /// Whether the bit that it puts out says that its result is zero; `in3` says whether a bit comes in.
    pub fn has_zero_bit(self, in3: bool) -> bool {
        !matches!((self, in3), (Opcode::Add | Opcode::Sub | Opcode::Cmp, _) | (Opcode::Pass, true))
    }

    /// Whether it has accumulators.
    pub fn accumulates(self) -> bool {
        use Opcode::*;
        matches!(self, RFb | CFb | Cmac | Cmsub | Mcca | Mccs)
    }

    /// Whether it takes a port of the shared memory.
    pub fn is_memory(self) -> bool {
        matches!(self, Opcode::Load | Opcode::Store)
    }

    /// Products of 16 x 16 bits that a run of it takes.
    pub fn products(self, options: &Options) -> u32 {
        use Opcode::*;
        match self {
            Square | MultS | Sine | Cosine => 1,
            RFa if options.halves => 2,
            RFa => 1,
            RFb => 2,
            CFa | CFb | CMult | Mcc | Cmac | Cmsub | Mcca | Mccs => 4,
            _ => 0,
        }
    }

    /// The options as far as the operation uses them, the others at their defaults.
    pub fn used(self, options: &Options) -> Options {
        use Opcode::*;
        let scaled = matches!(
            self,
            Bitrev
                | Square
                | MultS
                | RFa
                | CFa
                | CMult
                | Mcc
                | Sine
                | Cosine
                | GainDiff
                | DiffGain
                | SumGain
                | GainAdd
        ) || self.accumulates();
        let filters = matches!(self, RFa | RFb | CFa | CFb);
        let parts = matches!(self, CMult | Mcc) || self.accumulates();
        Options {
            scale: if scaled { options.scale } else { 0 },
            high1: matches!(self, MultS | Cat | Square | RFa) && options.high1,
            high2: matches!(self, MultS | Cat) && options.high2,
            unsigned1: matches!(self, MultS | Cmp) && options.unsigned1,
            unsigned2: self == MultS && options.unsigned2,
            larger: self == Cmp && options.larger,
            halves: matches!(self, RSftS | LSftS | RFa | AddSpl | SubSpl) && options.halves,
            begin: self.accumulates() && options.begin,
            part: if parts { options.part } else { Part::Packed },
            coefficient: if filters { options.coefficient } else { 0 },
        }
    }
}

impl Package {
    /// Checks it against a machine.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, machine: &Machine) -> Result<(), Fault> {
        let whole = |message: String| Fault { context: None, message };
        let Some(&kind) = machine.arrays.kinds.get(usize::from(self.array)) else {
            return Err(whole(format!("there is no array {}", self.array)));
        };
        let array = &machine.array;
        if self.ii == 0 || u32::from(self.ii) > array.contexts {
            let most = array.contexts;
            return Err(whole(format!("the interval is {}, not one of 1 to {most}", self.ii)));
        }
        if self.rings.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err(whole("rings are not in ascending order of their PEs".into()));
        }
        for (pe, rings) in &self.rings {
            let registers: u32 = rings.iter().map(|&length| u32::from(length)).sum();
            if usize::from(*pe) >= array.pes() || registers > array.registers || rings.contains(&0)
            {
                let most = array.registers;
                return Err(whole(format!(
                    "the rings of PE {pe} take {registers} registers, which are {most}, or are empty"
                )));
            }
        }
        let mut slots = vec![Slot::default(); usize::from(self.ii)];
        let mut before = None;
        // Rings that something is kept in, by PE.
        let mut kept: Vec<(u16, u8)> = Vec::new();
        for (index, placed) in self.contexts.iter().enumerate() {
            let fail = |message: String| Err(Fault { context: Some(index), message });
            if usize::from(placed.pe) >= array.pes() || placed.slot >= self.ii {
                return fail("the PE or the slot is out of range".into());
            }
            if before.is_some_and(|before| before >= (placed.pe, placed.slot)) {
                return fail("contexts are not in ascending order of PE and slot".into());
            }
            before = Some((placed.pe, placed.slot));
            if let Err(message) = self.check_context(placed, kind, machine) {
                return fail(message);
            }
            let slot = &mut slots[usize::from(placed.slot)];
            let op = placed.context.op;
            slot.memory += u32::from(op.is_memory());
            slot.sines += u32::from(matches!(op, Opcode::Sine | Opcode::Cosine));
            let Control { stage, export, .. } = placed.context.control;
            if export.is_some() {
                if slot.exports.contains(&stage) {
                    return fail("more than one global register is written in a cycle".into());
                }
                slot.exports.push(stage);
            }
            if slot.memory > array.memory_ports {
                return fail(format!("more than {} loads and stores a cycle", array.memory_ports));
            }
            if kind == ArrayKind::Npea && slot.sines > machine.control.npea_multipliers {
                let most = machine.control.npea_multipliers;
                return fail(format!("more than {most} sines and cosines a cycle"));
            }
            if let Some(ring) = placed.context.control.keep {
                if kept.contains(&(placed.pe, ring)) {
                    return fail(format!("two operations keep results in ring {ring}"));
                }
                // Contexts ascend by PE: what other PEs keep matters no more.
                kept.retain(|(pe, _)| *pe == placed.pe);
                kept.push((placed.pe, ring));
            }
        }
        Ok(())
    }

    fn check_context(
        &self,
        placed: &Placed,
        kind: ArrayKind,
        machine: &Machine,
    ) -> Result<(), String> {
        let Context { op, options, in1, in2, in3, memory, control } = placed.context;
        let array = &machine.array;
        if !kind.has(op) {
            return Err(format!("{} has no `{}`", kind.name(), op.mnemonic()));
        }
        if options.scale > 31 {
            return Err("`scale` is more than 31".into());
        }
        let unused = op.used(&options) != options
            || (!op.has_in2() && in2 != Source::None)
            || (!op.has_in3() && in3 != Bit::None)
            || (!op.is_memory() && memory != Memory::default());
        if unused {
            return Err(format!("`{}` does not use all that is said", op.mnemonic()));
        }
        let (row, column) = array.position(placed.pe.into());
        let output = |r: i8, c: i8| {
            let place = (row.checked_add_signed(r.into()), column.checked_add_signed(c.into()));
            let inside = matches!(place, (Some(r), Some(c)) if r < array.rows && c < array.columns);
            match inside && array.links.offsets().contains(&(r.into(), c.into())) {
                true => Ok(()),
                false => Err(format!("the PE at ({r}, {c}) is not in reach")),
            }
        };
        let rings = self.rings_of(placed.pe);
        let register = |ring: u8, ago: u8| match rings.get(usize::from(ring)) {
            Some(&length) if ago < length => Ok(()),
            Some(length) => Err(format!("ring {ring} has {length} registers, not {ago} and more")),
            None => Err(format!("the PE has no ring {ring}")),
        };
        let global = |number: u8| match u32::from(number) < machine.control.globals {
            true => Ok(()),
            false => Err(format!("there is no global register {number}")),
        };
        for source in [in1, in2] {
            match source {
                Source::None | Source::Immediate(_) => {}
                Source::Output(r, c) => output(r, c)?,
                Source::Register { ring, ago } => register(ring, ago)?,
                Source::Global(number) => global(number)?,
            }
        }
        for bit in [in3, control.condition] {
            match bit {
                Bit::None => {}
                Bit::Output(r, c) => output(r, c)?,
                Bit::Register { ring, ago } => register(ring, ago)?,
            }
        }
        [control.initial, control.export].into_iter().flatten().try_for_each(global)?;
        if let Some(ring) = control.keep {
            register(ring, 0)?;
        }
        if control.ahead > control.stage {
            return Err("it would run before the array starts".into());
        }
        Ok(())
    }
}

/// What is used of an array in a cycle of the interval.
#[derive(Clone, Default)]
struct Slot {
    memory: u32,
    sines: u32,
    /// Stages of those that export.
    exports: Vec<u16>,
}
