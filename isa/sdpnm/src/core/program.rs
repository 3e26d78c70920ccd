//! A program for the core, to and from a binary.

use nbcc_isa::container::{Data, TEXT};
use nbcc_isa::machine;
use nbcc_isa::metadata::{expect_only, from_json, to_json};
use nbcc_isa::signature::SIGNATURE;
use nbcc_isa::{
    Code, Container, Imm, Instruction, LoadError, MachineInstruction, Signature, WriteError,
};

use super::arrays::MAX_HOMES;
use super::homes::{Home, Homed};
use super::memory::{ALIGNMENT, Area, DATA, Frame, MAX_FRAME, argument_offsets};
use super::operands::Class;
use super::ops::Inst;
use super::traps::Trap;
use crate::Machine;
use crate::config::Package;
use crate::config::encode::BYTES as CONTEXT_BYTES;
use crate::config::sections::{self, PACKAGES};
use crate::config::text::SECTION as ARRAYS_TEXT;

/// The number of the instruction set in binaries.
pub const ISA: u16 = 5;
/// Its version.
pub const VERSION: u16 = 1;
/// The metadata section that says where variables and the frame lie.
pub const FRAME: &str = ".nbcc.frame";
/// The metadata section that holds the table of traps.
pub const TRAPS: &str = ".nbcc.traps";
/// The metadata section that says what lies in shared memories.
pub const HOMES: &str = ".nbcc.homes";
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
    /// The loops on arrays, by the numbers that start them.
    pub packages: Vec<Package>,
    /// What lies in shared memories while it runs.
    pub homes: Vec<Home>,
}

impl CoreProgram {
    /// The contents of a `.nbx` file.
    ///
    /// # Errors
    /// An instruction without an encoding, or what [`CoreProgram::from_elf`] would refuse.
    pub fn to_elf(&self) -> Result<Vec<u8>, WriteError> {
        let mut container = Container {
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
        if !self.packages.is_empty() {
            let (section, headers) = sections::write(&self.packages, &self.code.symbols)?;
            container.text.push(section);
            container.metadata.push(headers);
        }
        if !self.homes.is_empty() {
            container.metadata.push((HOMES.to_string(), to_json(&self.homes)));
        }
        CoreProgram::from_container(&container)?;
        container.to_elf()
    }

    /// Reads a `.nbx` file.
    ///
    /// # Errors
    /// What is wrong with it, with its section and offset.
    pub fn from_elf(file: &[u8]) -> Result<CoreProgram, LoadError> {
        let bytes = <Inst<PhysReg> as MachineInstruction>::BYTES as u32;
        let known = [(TEXT, bytes), (ARRAYS_TEXT, CONTEXT_BYTES as u32)];
        let container = Container::from_elf(file, ISA, VERSION, &known)?;
        CoreProgram::from_container(&container)
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    /// As [`CoreProgram::from_elf`].
    pub fn from_container(container: &Container) -> Result<CoreProgram, LoadError> {
        expect_only(container, &[SIGNATURE, FRAME, TRAPS, PACKAGES, HOMES])?;
        let mut code: Code<Inst<PhysReg>> = Code::from_container(container)?;
        // Contexts may have lines where the core's instructions have none.
        code.lines.files.clone_from(&container.files);
        code.validate(&[])?;
        code.check_each(|index, inst| fault(&code, index, inst))?;
        let program = CoreProgram {
            machine: Machine::from_toml(&container.machine, &[])?,
            code,
            data: container.data.clone(),
            signature: Signature::all_of(container)?.pop(),
            frame: from_json(container, FRAME)?.pop().unwrap_or_default(),
            traps: from_json(container, TRAPS)?,
            packages: sections::read(container)?,
            homes: from_json(container, HOMES)?,
        };
        program.check_memory()?;
        program.check_traps()?;
        program.check_packages()?;
        program.check_homes()?;
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

    fn check_packages(&self) -> Result<(), LoadError> {
        let mut first = 0;
        for package in &self.packages {
            package.check(&self.machine).map_err(|fault| {
                let name = package.name.escape_debug();
                let message = format!("package `{name}`: {}", fault.message);
                match fault.context {
                    None => LoadError::new(PACKAGES, 0, message),
                    Some(index) => {
                        let offset = (first + index) * CONTEXT_BYTES;
                        LoadError::new(ARRAYS_TEXT, offset as u64, message)
                    }
                }
            })?;
            first += package.contexts.len();
        }
        Ok(())
    }

    fn check_homes(&self) -> Result<(), LoadError> {
        let fail = |message: &str| Err(LoadError::new(HOMES, 0, message));
        if self.homes.len() > MAX_HOMES {
            return fail("there are more homes than a control page has bits for");
        }
        let params = self.signature.as_ref().map_or(&[][..], |signature| &signature.params);
        let end = self.machine.memory_bytes();
        // Parameters that have a home, and arrays and their bytes that objects take.
        let mut homed: Vec<u32> = Vec::new();
        let mut taken: Vec<(u8, Area)> = Vec::new();
        for home in &self.homes {
            if usize::from(home.array) >= self.machine.arrays.kinds.len() {
                return fail("a home is in an array that there is not");
            }
            match &home.what {
                Homed::Parameter(number) => {
                    let param = params.get(*number as usize);
                    let Some(array) = param.and_then(|param| param.array.as_ref()) else {
                        return fail("a home is of what is no array parameter");
                    };
                    if homed.contains(number) && !array.is_const {
                        return fail("a parameter that is not const has two homes");
                    }
                    homed.push(*number);
                }
                Homed::Object { from, at } => {
                    let inside = from.address >= DATA
                        && from.end().is_some_and(|last| u64::from(last) <= end)
                        && at.checked_add(from.bytes).is_some_and(|last| {
                            last <= self.machine.shared_bytes() && at.is_multiple_of(ALIGNMENT)
                        });
                    if !inside {
                        return fail("an object or its home lies outside of the memory");
                    }
                    let place = Area { address: *at, bytes: from.bytes };
                    let meets = |(array, other): &(u8, Area)| {
                        *array == home.array
                            && place.address < other.address + other.bytes
                            && other.address < place.address + place.bytes
                    };
                    if taken.iter().any(meets) {
                        return fail("two homes share bytes");
                    }
                    taken.push((home.array, place));
                }
                Homed::Twin { of, .. } => {
                    let other = self.homes.get(*of as usize);
                    let other = other.filter(|other| !matches!(other.what, Homed::Twin { .. }));
                    let Some(other) = other.filter(|other| other.array != home.array) else {
                        return fail("a home is a twin of none in another array");
                    };
                    let is_alike = |one: &&Home| match one.what {
                        Homed::Twin { of, .. } => {
                            self.homes.get(of as usize).is_some_and(|of| of.array == other.array)
                        }
                        _ => false,
                    };
                    let mut beside = self.homes.iter().filter(|one| one.array == home.array);
                    if !beside.all(|one| is_alike(&one)) {
                        return fail("beside a twin there is what may be in its place");
                    }
                }
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
