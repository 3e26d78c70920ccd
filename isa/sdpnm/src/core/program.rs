//! A program for the core, to and from a binary.

use nbcc_isa::container::{Data, TEXT};
use nbcc_isa::machine;
use nbcc_isa::metadata::{expect_only, from_json, to_json};
use nbcc_isa::signature::SIGNATURE;
use nbcc_isa::{
    Code, Container, Imm, Instruction, LoadError, MachineInstruction, Signature, WriteError,
};

use super::memory::{ALIGNMENT, DATA, Frame, MAX_FRAME, argument_offsets};
use super::operands::Class;
use super::ops::Inst;
use super::traps::Trap;
use crate::Machine;

/// The number of the instruction set in binaries.
pub const ISA: u16 = 5;
/// Its version.
pub const VERSION: u16 = 1;
/// The metadata section that says where variables and the frame lie.
pub const FRAME: &str = ".nbcc.frame";
/// The metadata section that holds the table of traps.
pub const TRAPS: &str = ".nbcc.traps";
/// Registers of the core.
pub const REGISTERS: u16 = 32;
/// The register that is zero.
pub const ZERO: u16 = 0;
/// The register that holds the address to return to.
pub const RETURN: u16 = 1;
/// The register that points to the frame.
pub const FRAME_POINTER: u16 = 2;

/// A register of the core.
pub type PhysReg = nbcc_isa::PhysReg<Class>;

/// What a binary holds.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreProgram {
    /// The machine it is for.
    pub machine: Machine,
    /// What the core does, from the first instruction on.
    pub code: Code<Inst<PhysReg>>,
    /// Data and variables with their first contents: `.rodata` and `.data`.
    pub data: Vec<Data>,
    /// What it is called on; an assembled program may not say.
    pub signature: Option<Signature>,
    /// Where variables and the frame lie.
    pub frame: Frame,
    /// What ends a run, in ascending order of the instructions.
    pub traps: Vec<Trap>,
}

impl CoreProgram {
    /// The contents of a `.nbx` file.
    ///
    /// # Errors
    /// An instruction without an encoding, or what [`CoreProgram::from_elf`] would refuse.
    pub fn to_elf(&self) -> Result<Vec<u8>, WriteError> {
        let container = Container {
            isa: ISA,
            version: VERSION,
            machine: machine::to_toml(&self.machine),
            data: self.data.clone(),
            metadata: vec![
                Signature::to_metadata(self.signature.as_slice()),
                (FRAME.to_string(), to_json(&[self.frame])),
                (TRAPS.to_string(), to_json(&self.traps)),
            ],
            ..self.code.to_container()?
        };
        CoreProgram::from_container(&container)?;
        container.to_elf()
    }

    /// Reads a `.nbx` file.
    ///
    /// # Errors
    /// What is wrong with it, with its section and offset.
    pub fn from_elf(file: &[u8]) -> Result<CoreProgram, LoadError> {
        let bytes = <Inst<PhysReg> as MachineInstruction>::BYTES as u32;
        let container = Container::from_elf(file, ISA, VERSION, &[(TEXT, bytes)])?;
        CoreProgram::from_container(&container)
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    /// As [`CoreProgram::from_elf`].
    pub fn from_container(container: &Container) -> Result<CoreProgram, LoadError> {
        expect_only(container, &[SIGNATURE, FRAME, TRAPS])?;
        let code: Code<Inst<PhysReg>> = Code::from_container(container)?;
        code.validate(&[])?;
        code.check_each(|index, inst| fault(&code, index, inst))?;
        let program = CoreProgram {
            machine: Machine::from_toml(&container.machine, &[])?,
            code,
            data: container.data.clone(),
            signature: Signature::all_of(container)?.pop(),
            frame: from_json(container, FRAME)?.pop().unwrap_or_default(),
            traps: from_json(container, TRAPS)?,
        };
        program.check_memory()?;
        program.check_traps()?;
        Ok(program)
    }

    /// Checks that data, variables and the frame lie where data may, and what the frame holds.
    fn check_memory(&self) -> Result<(), LoadError> {
        if self.code.range().bytes > u64::from(DATA) {
            return Err(LoadError::new(TEXT, u64::from(DATA), "the program is too long"));
        }
        let end = self.machine.memory_bytes();
        let inside = |address: u64, bytes: u64| {
            address >= u64::from(DATA)
                && address.is_multiple_of(u64::from(ALIGNMENT))
                && address.checked_add(bytes).is_some_and(|last| last <= end)
        };
        for data in &self.data {
            if !inside(data.address, data.bytes.len() as u64) {
                return Err(LoadError::new(&data.name, 0, "it lies outside of the memory of data"));
            }
        }
        let Frame { zeroed, frame } = self.frame;
        for area in [zeroed, frame].into_iter().filter(|area| area.bytes > 0) {
            if !inside(area.address.into(), area.bytes.into()) {
                let message = "variables lie outside of the memory of data";
                return Err(LoadError::new(FRAME, 0, message));
            }
        }
        if frame.bytes > MAX_FRAME {
            return Err(LoadError::new(FRAME, 0, "the frame is too large"));
        }
        let arguments = self.signature.as_ref().map_or(0, |one| argument_offsets(one).1);
        if arguments > frame.bytes {
            return Err(LoadError::new(FRAME, 0, "the frame has no room for the arguments"));
        }
        Ok(())
    }

    fn check_traps(&self) -> Result<(), LoadError> {
        let fail = |message: &str| Err(LoadError::new(TRAPS, 0, message));
        if self.traps.windows(2).any(|pair| pair[0].at >= pair[1].at) {
            return fail("traps are not in ascending order");
        }
        let fits = |at: &u32| {
            at.is_multiple_of(4)
                && at.checked_add(4).is_some_and(|end| end <= self.frame.frame.bytes)
        };
        for trap in &self.traps {
            if self.code.text.get(trap.at as usize) != Some(&Inst::Ecall {}) {
                return fail("a trap is no call of the environment");
            }
            if !trap.places().iter().all(fits) {
                return fail("a trap reads what lies outside of the frame");
            }
        }
        Ok(())
    }

    /// The trap at an instruction.
    pub fn trap_at(&self, index: u32) -> Option<&Trap> {
        let number = self.traps.binary_search_by_key(&index, |trap| trap.at).ok()?;
        self.traps.get(number)
    }
}

/// What is wrong with an instruction at its place.
fn fault(code: &Code<Inst<PhysReg>>, index: usize, inst: &Inst<PhysReg>) -> Option<String> {
    let own = index as i64 * <Inst<PhysReg> as MachineInstruction>::BYTES as i64;
    let Some(Imm::Value(distance)) = inst.symbolic() else { return None };
    let leads_to = own + i64::from(distance);
    let inside = u64::try_from(leads_to).is_ok_and(|address| code.range().is_place(address));
    (!inside).then(|| format!("it leads to {leads_to:#x}, where no instruction is"))
}
