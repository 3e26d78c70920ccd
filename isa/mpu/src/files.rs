//! Which registers have an entry in which register file: near ones in that of the near-bank unit, far
//! ones in that of the subcore, those of both sides in both (section V-B: registers annotated as
//! different locations do not share a physical register). The section `.nbcc.files` of a program says
//! it, an entry a kernel; where it is missing, what instructions may do with registers says it. How
//! many warps a core holds follows from it.

use nbcc_isa::LoadError;
use nbcc_isa::metadata::to_json;
use nbcc_isa_simt::{Inst, Kernel, LANES, PhysReg, Program, RegClass};
use serde::{Deserialize, Serialize};

use crate::Machine;
use crate::location::{Near, Side, Spread, spread};

/// The name of the section.
pub const SECTION: &str = ".nbcc.files";
/// Bytes of a bit for each register that instructions can name.
const BYTES: usize = 32;

/// The registers of each file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// In the near register file: a bit a 32-bit register, R0 in the lowest bit of the first.
    pub near: [u8; BYTES],
    /// In the far register file.
    pub far: [u8; BYTES],
}

impl Files {
    /// The registers of a side.
    pub fn of(&self, side: Side) -> &[u8; BYTES] {
        match side {
            Side::Far => &self.far,
            Side::Near => &self.near,
        }
    }

    /// Gives a register an entry; whether it had none.
    pub fn insert(&mut self, side: Side, register: u16) -> bool {
        let file = match side {
            Side::Far => &mut self.far,
            Side::Near => &mut self.near,
        };
        let Some(byte) = file.get_mut(usize::from(register / 8)) else { return false };
        let before = *byte;
        *byte |= 1 << (register % 8);
        *byte != before
    }

    /// Whether a register has an entry.
    pub fn contains(&self, side: Side, register: u16) -> bool {
        let byte = self.of(side).get(usize::from(register / 8));
        byte.is_some_and(|byte| byte >> (register % 8) & 1 != 0)
    }

    /// Entries of a warp in the file of a side, lines of a word a thread.
    pub fn entries(&self, side: Side) -> u32 {
        self.of(side).iter().map(|byte| byte.count_ones()).sum()
    }

    /// The warps that a subcore has room for in its register files.
    pub fn warps(&self, machine: &Machine) -> u32 {
        let fits = |side| entries_of(machine, side).checked_div(self.entries(side));
        let files = Side::ALL.into_iter().filter_map(fits);
        files.min().unwrap_or(u32::MAX).min(machine.core.subcore_warps)
    }

    /// What instructions may do with registers.
    pub fn of_instructions<'a>(
        insts: impl Iterator<Item = &'a Inst<PhysReg>> + Clone,
        near: Near,
    ) -> Files {
        let mut files = Files::default();
        spread(insts, near, &mut files);
        files
    }
}

/// Entries of the register file of a side, lines of a word a thread.
pub fn entries_of(machine: &Machine, side: Side) -> u32 {
    let bytes = match side {
        Side::Far => machine.registers.far_bytes,
        Side::Near => machine.registers.near_bytes,
    };
    bytes / (4 * LANES as u32)
}

impl Spread<PhysReg> for Files {
    fn is_near(&self, reg: &PhysReg) -> bool {
        reg.class != RegClass::Pred && self.contains(Side::Near, reg.index)
    }

    fn mark(&mut self, class: RegClass, reg: &PhysReg, side: Side) -> bool {
        match class {
            RegClass::Pred => false,
            RegClass::Word => self.insert(side, reg.index),
            RegClass::Wide => {
                let low = self.insert(side, reg.index);
                self.insert(side, reg.index + 1) || low
            }
        }
    }
}

fn instructions<'a>(
    program: &'a Program,
    kernel: &Kernel,
) -> impl Iterator<Item = &'a Inst<PhysReg>> + Clone {
    let range = kernel.entry as usize..(kernel.entry + kernel.instructions) as usize;
    program.code.text[range].iter()
}

/// An entry of the section: registers from the first up to one less than the last, by file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    near: Vec<[u16; 2]>,
    far: Vec<[u16; 2]>,
}

impl From<&Files> for Record {
    fn from(files: &Files) -> Record {
        let ranges = |side| {
            let mut ranges: Vec<[u16; 2]> = Vec::new();
            for register in (0..256).filter(|&register| files.contains(side, register)) {
                match ranges.last_mut() {
                    Some([_, end]) if *end == register => *end += 1,
                    _ => ranges.push([register, register + 1]),
                }
            }
            ranges
        };
        Record { near: ranges(Side::Near), far: ranges(Side::Far) }
    }
}

impl From<&Record> for Files {
    fn from(record: &Record) -> Files {
        let mut files = Files::default();
        for (side, ranges) in [(Side::Near, &record.near), (Side::Far, &record.far)] {
            for &[first, end] in ranges {
                for register in first..end.min(256) {
                    files.insert(side, register);
                }
            }
        }
        files
    }
}

/// The section of kernels.
pub fn section(kernels: &[Files]) -> (String, Vec<u8>) {
    let records: Vec<Record> = kernels.iter().map(Record::from).collect();
    (SECTION.to_string(), to_json(&records))
}

/// The register files of every kernel.
///
/// # Errors
/// A section that is none.
pub fn of_program(program: &Program, near: Near) -> Result<Vec<Files>, LoadError> {
    let Some((_, bytes)) = program.sections.iter().find(|(name, _)| name == SECTION) else {
        let of = |kernel| Files::of_instructions(instructions(program, kernel), near);
        return Ok(program.kernels.iter().map(of).collect());
    };
    let records: Vec<Record> = serde_json::from_slice(bytes)
        .map_err(|error| LoadError::new(SECTION, 0, error.to_string()))?;
    if records.len() != program.kernels.len() {
        let (has, kernels) = (records.len(), program.kernels.len());
        let message = format!("{has} entries for {kernels} kernels");
        return Err(LoadError::new(SECTION, 0, message));
    }
    Ok(records.iter().map(Files::from).collect())
}

/// Checks that every register has an entry on each side at which an instruction may read or write
/// it: nothing near reads what is only far, and the other way round.
///
/// # Errors
/// The first register that has none.
pub fn check(program: &Program) -> Result<(), LoadError> {
    if !program.sections.iter().any(|(name, _)| name == SECTION) {
        return Ok(());
    }
    let near = Near::of(&Machine::from_toml(&program.machine.toml, &[])?);
    for (kernel, said) in program.kernels.iter().zip(of_program(program, near)?) {
        let needed = Files::of_instructions(instructions(program, kernel), near);
        for side in Side::ALL {
            let missing =
                |&register: &u16| needed.contains(side, register) && !said.contains(side, register);
            if let Some(register) = (0..256).find(missing) {
                let name = kernel.name.escape_debug();
                let message =
                    format!("R{register} of `{name}` is used {side}, where it has no entry");
                return Err(LoadError::new(SECTION, 0, message));
            }
        }
    }
    Ok(())
}
