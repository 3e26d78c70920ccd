//! A SIMB program: what a `.nbx` file for iPIM holds, decoded and checked. The only
//! thing that passes from the compiler to the simulator.

use nbcc_isa::container::{Data, Symbol, SymbolKind, TEXT};
use nbcc_isa::metadata::{expect_only, from_json, to_json};
use nbcc_isa::program::repeated;
use nbcc_isa::{Code, Container, Imm, Instruction, LoadError, WriteError};
use serde::{Deserialize, Serialize};

use crate::layout::{Buffer, Element};
use crate::machine::Machine;
use crate::operands::{PhysReg, RESERVED_ADDR_REGS, RegClass};
use crate::ops::Inst;
use crate::{ATOM_BYTES, INSTRUCTION_BYTES};

/// The number of the instruction set in the ELF header.
pub const ISA: u16 = 1;
/// The version of its encoding and of the metadata.
pub const VERSION: u16 = 1;
/// Where bank addresses begin in the ELF file's addresses; those of `.text` are below.
pub const BANK_BASE: u64 = 1 << 32;

const BUFFERS: &str = ".nbcc.buffers";
const PARAMS: &str = ".nbcc.params";
const PROLOGUE: &str = ".nbcc.prologue";

/// A program for a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The machine that it was compiled for.
    pub machine: Machine,
    /// The instructions with their names and source lines.
    pub code: Code<Inst<PhysReg>>,
    /// What the loader sets for each vault.
    pub prologue: Vec<Patch>,
    /// Constants.
    pub rodata: Rodata,
    /// Inputs, outputs and image parameters.
    pub buffers: Vec<Buffer>,
    /// Scalar parameters.
    pub params: Vec<Param>,
}

/// A `seti_crf` whose immediate the loader replaces for each vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The index of the instruction.
    pub index: u32,
    /// What it is to hold.
    pub coordinate: Coordinate,
}

/// A coordinate of a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coordinate {
    /// The id of its cube.
    Chip,
    /// Its id in its cube.
    Vault,
    /// Its column among the vaults of the whole machine.
    Column,
    /// Its row among the vaults of the whole machine.
    Row,
}

/// Constants, written by the host to every bank before the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rodata {
    /// The byte address in every bank, a multiple of 16.
    pub address: u32,
    /// The bytes, a multiple of 16 of them.
    pub bytes: Vec<u8>,
}

/// A scalar parameter. The host writes its value to all four words of an atom of
/// every bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// The name in the source.
    pub name: String,
    /// Its type.
    pub element: Element,
    /// The byte address of the atom, a multiple of 16.
    pub address: u32,
    /// The word to write where the user gives no value; `None` where one must be given.
    pub default: Option<u32>,
}

impl Coordinate {
    /// The value for vault `vault` of cube `cube`.
    pub fn of(self, machine: &Machine, cube: u32, vault: u32) -> u32 {
        let [cube_columns, _] = machine.cube_mesh();
        let [vault_columns, vault_rows] = machine.vault_mesh();
        match self {
            Coordinate::Chip => cube,
            Coordinate::Vault => vault,
            Coordinate::Column => cube % cube_columns * vault_columns + vault % vault_columns,
            Coordinate::Row => cube / cube_columns * vault_rows + vault / vault_columns,
        }
    }
}

impl Program {
    /// The program with the prologue set for vault `vault` of cube `cube`.
    pub fn text_for(&self, cube: u32, vault: u32) -> Vec<Inst<PhysReg>> {
        let mut text = self.code.text.clone();
        for patch in &self.prologue {
            if let Some(imm) = text[patch.index as usize].symbolic_mut() {
                let value = patch.coordinate.of(&self.machine, cube, vault);
                *imm = Imm::Value(value as i32);
            }
        }
        text
    }

    /// The program as an ELF file.
    ///
    /// # Errors
    /// Instructions without an encoding, or what [`Program::validate`] says.
    pub fn to_elf(&self) -> Result<Vec<u8>, WriteError> {
        self.to_container()?.to_elf()
    }

    /// Reads an ELF file.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn from_elf(file: &[u8]) -> Result<Program, LoadError> {
        let container = Container::from_elf(file, ISA, VERSION, &[(TEXT, INSTRUCTION_BYTES)])?;
        Program::from_container(&container)
    }

    /// The contents of the ELF file.
    ///
    /// # Errors
    /// As [`Program::to_elf`].
    pub fn to_container(&self) -> Result<Container, WriteError> {
        self.validate()?;
        let mut container = self.code.to_container()?;
        for buffer in &self.buffers {
            container.objects.push(Symbol {
                name: buffer.name.clone(),
                kind: SymbolKind::Object,
                address: BANK_BASE + u64::from(buffer.base),
                size: buffer.size_bytes(),
            });
        }
        for param in &self.params {
            container.objects.push(Symbol {
                name: param.name.clone(),
                kind: SymbolKind::Object,
                address: BANK_BASE + u64::from(param.address),
                size: u64::from(ATOM_BYTES),
            });
        }
        if !self.rodata.bytes.is_empty() {
            container.data.push(Data {
                name: ".rodata".into(),
                address: BANK_BASE + u64::from(self.rodata.address),
                bytes: self.rodata.bytes.clone(),
            });
        }
        Ok(Container {
            isa: ISA,
            version: VERSION,
            machine: self.machine.to_toml(),
            metadata: vec![
                (BUFFERS.into(), to_json(&self.buffers)),
                (PARAMS.into(), to_json(&self.params)),
                (PROLOGUE.into(), to_json(&self.prologue)),
            ],
            ..container
        })
    }

    /// Decodes and checks the contents of an ELF file.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn from_container(container: &Container) -> Result<Program, LoadError> {
        let machine = Machine::from_toml(&container.machine, &[])?;
        let code = Code::from_container(container)?;
        let mut rodata = Rodata::default();
        for data in &container.data {
            if data.name != ".rodata" {
                return Err(LoadError::new(
                    &data.name,
                    0,
                    "programs for iPIM have no such section",
                ));
            }
            let address = data.address.checked_sub(BANK_BASE).and_then(|a| u32::try_from(a).ok());
            let Some(address) = address else {
                return Err(LoadError::new(&data.name, 0, "the address is not in a bank"));
            };
            if !data.bytes.is_empty() {
                rodata = Rodata { address, bytes: data.bytes.clone() };
            }
        }
        expect_only(container, &[BUFFERS, PARAMS, PROLOGUE])?;
        let program = Program {
            machine,
            code,
            prologue: from_json(container, PROLOGUE)?,
            rodata,
            buffers: from_json(container, BUFFERS)?,
            params: from_json(container, PARAMS)?,
        };
        program.validate()?;
        Ok(program)
    }

    /// Checks that registers, masks, relocations, buffers and parameters fit the machine
    /// and each other, so that the simulator may index by them. Addresses that only
    /// running the program shows to be wrong end the run.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn validate(&self) -> Result<(), LoadError> {
        self.machine.validate()?;
        self.code.check_each(|_, inst| self.instruction_fault(inst))?;
        self.code.validate(&[])?;
        self.validate_prologue()?;

        let r = &self.rodata;
        let end = u64::from(r.address) + r.bytes.len() as u64;
        let bank = u64::from(self.machine.memory.bank_bytes);
        if !r.address.is_multiple_of(ATOM_BYTES)
            || !r.bytes.len().is_multiple_of(ATOM_BYTES as usize)
            || end > bank
        {
            return Err(LoadError::new(
                ".rodata",
                0,
                "the constants are not whole atoms of a bank",
            ));
        }
        let mut names: Vec<&str> = Vec::new();
        for buffer in &self.buffers {
            buffer
                .validate(&self.machine)
                .map_err(|error| LoadError::new(BUFFERS, 0, error.to_string()))?;
            names.push(&buffer.name);
        }
        for param in &self.params {
            let fail = |message: &str| {
                let message = format!("parameter `{}`: {message}", param.name.escape_debug());
                Err(LoadError::new(PARAMS, 0, message))
            };
            if param.name.is_empty()
                || param.name.len() > 256
                || param.name.chars().any(char::is_control)
            {
                return fail("the name must have 1 to 256 printable characters");
            }
            let end = u64::from(param.address) + u64::from(ATOM_BYTES);
            if !param.address.is_multiple_of(ATOM_BYTES) || end > bank {
                return fail("the address is not that of an atom of a bank");
            }
            names.push(&param.name);
        }
        match repeated(&mut names) {
            None => Ok(()),
            Some(name) => {
                let message = format!("two buffers or parameters are called `{name}`");
                Err(LoadError::new(BUFFERS, 0, message))
            }
        }
    }

    fn validate_prologue(&self) -> Result<(), LoadError> {
        for (at, patch) in self.prologue.iter().enumerate() {
            let fail = |message: &str| Err(LoadError::new(PROLOGUE, at as u64, message));
            match self.code.text.get(patch.index as usize) {
                Some(Inst::SetiCrf { .. }) => {}
                _ => return fail("the prologue names what is no `seti_crf`"),
            }
            if self.code.relocations.binary_search(&patch.index).is_ok() {
                return fail("the prologue names a `seti_crf` of a label");
            }
        }
        Ok(())
    }

    /// What is wrong with an instruction on this machine.
    fn instruction_fault(&self, inst: &Inst<PhysReg>) -> Option<String> {
        let machine = &self.machine;
        let mut fault = None;
        inst.for_each_operand(|operand| {
            let reg = operand.reg;
            let entries = match operand.class {
                RegClass::Ctrl => machine.registers.ctrl,
                RegClass::Addr => machine.registers.addr,
                RegClass::Data => machine.registers.data,
            };
            if reg.class != operand.class {
                fault = Some(format!("{reg} is in the wrong register file"));
            } else if u32::from(reg.index) >= entries {
                fault = Some(format!("{reg} is beyond the {entries} entries of its register file"));
            } else if operand.class == RegClass::Addr
                && operand.role.writes()
                && reg.index < RESERVED_ADDR_REGS
            {
                fault = Some(format!("{reg} holds an id and cannot be written"));
            }
        });
        if let Some(mask) = inst.simb_mask()
            && mask.0 & !machine.full_mask() != 0
        {
            fault = Some(format!("the mask names more than {} engines", machine.engines()));
        }
        if let Some(Imm::Label(_)) = inst.symbolic() {
            fault = Some("a label without an address".into());
        }
        fault
    }
}
