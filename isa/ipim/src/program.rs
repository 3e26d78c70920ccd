//! A SIMB program: what a `.nbx` file for iPIM holds, decoded and checked. The only
//! thing that passes from the compiler to the simulator.

use nbcc_isa::asm::{decode_text, encode_text, is_label_name};
use nbcc_isa::container::{Data, Symbol, SymbolKind, TARGET_NOTE, WriteError};
use nbcc_isa::{Container, Imm, Instruction, LineTable, LoadError};
use serde::de::DeserializeOwned;
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
    /// The instructions; the byte address of one is its index times 16.
    pub text: Vec<Inst<PhysReg>>,
    /// Functions and labels in `text`. A file is read in the order of their places,
    /// functions before labels, then of their names.
    pub symbols: Vec<TextSymbol>,
    /// Indices of the instructions whose immediate is the address of an instruction, in
    /// ascending order.
    pub relocations: Vec<u32>,
    /// What the loader sets for each vault.
    pub prologue: Vec<Patch>,
    /// Source lines.
    pub lines: LineTable,
    /// Constants.
    pub rodata: Rodata,
    /// Inputs, outputs and image parameters.
    pub buffers: Vec<Buffer>,
    /// Scalar parameters.
    pub params: Vec<Param>,
}

/// A name in `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSymbol {
    /// The name; letters, digits, `_` and `$`.
    pub name: String,
    /// The index of the instruction.
    pub index: u32,
    /// The number of instructions of a function; `None` for a label.
    pub function: Option<u32>,
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

/// Replaces labels by addresses and returns the relocations; `index_of` says at which
/// instruction a label stands.
///
/// # Errors
/// The first label that stands nowhere.
pub fn resolve_labels(
    text: &mut [Inst<PhysReg>],
    mut index_of: impl FnMut(u32) -> Option<u32>,
) -> Result<Vec<u32>, u32> {
    let mut relocations = Vec::new();
    for (at, inst) in text.iter_mut().enumerate() {
        if let Some(imm) = inst.symbolic_mut()
            && let Imm::Label(label) = *imm
        {
            let index = index_of(label).ok_or(label)?;
            *imm = Imm::Value((index * INSTRUCTION_BYTES) as i32);
            relocations.push(at as u32);
        }
    }
    Ok(relocations)
}

impl Program {
    /// The program with the prologue set for vault `vault` of cube `cube`.
    pub fn text_for(&self, cube: u32, vault: u32) -> Vec<Inst<PhysReg>> {
        let mut text = self.text.clone();
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
        let container = Container::from_elf(file, ISA, VERSION, INSTRUCTION_BYTES)?;
        Program::from_container(&container)
    }

    /// The contents of the ELF file.
    ///
    /// # Errors
    /// As [`Program::to_elf`].
    pub fn to_container(&self) -> Result<Container, WriteError> {
        self.validate().map_err(|error| WriteError(error.to_string()))?;
        let text = encode_text(&self.text).map_err(|error| WriteError(error.to_string()))?;
        let byte = |index: u32| u64::from(index) * u64::from(INSTRUCTION_BYTES);
        let mut symbols: Vec<Symbol> = Vec::new();
        for symbol in &self.symbols {
            symbols.push(Symbol {
                name: symbol.name.clone(),
                kind: match symbol.function {
                    Some(_) => SymbolKind::Function,
                    None => SymbolKind::Label,
                },
                address: byte(symbol.index),
                size: byte(symbol.function.unwrap_or(0)),
            });
        }
        for buffer in &self.buffers {
            symbols.push(Symbol {
                name: buffer.name.clone(),
                kind: SymbolKind::Object,
                address: BANK_BASE + u64::from(buffer.base),
                size: buffer.size_bytes(),
            });
        }
        for param in &self.params {
            symbols.push(Symbol {
                name: param.name.clone(),
                kind: SymbolKind::Object,
                address: BANK_BASE + u64::from(param.address),
                size: u64::from(ATOM_BYTES),
            });
        }
        let mut data = Vec::new();
        if !self.rodata.bytes.is_empty() {
            data.push(Data {
                name: ".rodata".into(),
                address: BANK_BASE + u64::from(self.rodata.address),
                bytes: self.rodata.bytes.clone(),
            });
        }
        Ok(Container {
            isa: ISA,
            version: VERSION,
            instruction_bytes: INSTRUCTION_BYTES,
            text,
            data,
            symbols,
            machine: self.machine.to_toml(),
            relocations: self.relocations.iter().map(|index| byte(*index) as u32).collect(),
            metadata: vec![
                (BUFFERS.into(), to_json(&self.buffers)),
                (PARAMS.into(), to_json(&self.params)),
                (PROLOGUE.into(), to_json(&self.prologue)),
            ],
            lines: self.lines.clone(),
        })
    }

    /// Decodes and checks the contents of an ELF file.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn from_container(container: &Container) -> Result<Program, LoadError> {
        let note = TARGET_NOTE.0;
        let machine = Machine::from_toml(&container.machine, &[]).map_err(|error| {
            let offset = error.span.as_ref().map_or(0, |span| span.start as u64);
            LoadError::new(note, offset, error.message)
        })?;
        let text = decode_text(&container.text)?;
        let instruction = |offset: u64, what: &str| {
            if offset.is_multiple_of(u64::from(INSTRUCTION_BYTES)) {
                Ok((offset / u64::from(INSTRUCTION_BYTES)) as u32)
            } else {
                let message = format!("{what} is not at an instruction");
                Err(LoadError::new(".text", offset, message))
            }
        };
        let mut symbols = Vec::new();
        for symbol in &container.symbols {
            let index = instruction(symbol.address, "a symbol");
            symbols.push(match symbol.kind {
                // Those of buffers and parameters say nothing new.
                SymbolKind::Object => continue,
                SymbolKind::Label => {
                    TextSymbol { name: symbol.name.clone(), index: index?, function: None }
                }
                SymbolKind::Function => TextSymbol {
                    name: symbol.name.clone(),
                    index: index?,
                    function: Some(instruction(symbol.size, "the end of a function")?),
                },
            });
        }
        // ELF puts local symbols first, whatever the order was.
        symbols.sort_by(|a, b| {
            (a.index, a.function.is_none(), &a.name).cmp(&(b.index, b.function.is_none(), &b.name))
        });
        let relocations = container.relocations.iter();
        let relocations: Result<Vec<u32>, LoadError> =
            relocations.map(|at| instruction(u64::from(*at), "a relocation")).collect();

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
        let known = [BUFFERS, PARAMS, PROLOGUE];
        if let Some((name, _)) =
            container.metadata.iter().find(|(name, _)| !known.contains(&name.as_str()))
        {
            return Err(LoadError::new(name, 0, "unknown section"));
        }
        let program = Program {
            machine,
            text,
            symbols,
            relocations: relocations?,
            prologue: from_json(container, PROLOGUE)?,
            lines: container.lines.clone(),
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
        self.machine.validate().map_err(|error| LoadError::new(TARGET_NOTE.0, 0, error.message))?;
        let text_bytes = self.text.len() as u64 * u64::from(INSTRUCTION_BYTES);
        if text_bytes > i32::MAX as u64 {
            return Err(LoadError::new(".text", 0, "the program is too long"));
        }
        for (index, inst) in self.text.iter().enumerate() {
            if let Some(message) = self.instruction_fault(inst) {
                let offset = index as u64 * u64::from(INSTRUCTION_BYTES);
                return Err(LoadError::new(".text", offset, format!("`{inst}`: {message}")));
            }
        }
        self.validate_text_tables(text_bytes)?;

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
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("two buffers or parameters are called `{}`", pair[0]);
            return Err(LoadError::new(BUFFERS, 0, message));
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

    fn validate_text_tables(&self, text_bytes: u64) -> Result<(), LoadError> {
        let mut names: Vec<&str> = Vec::new();
        for symbol in &self.symbols {
            let end = u64::from(symbol.index) + u64::from(symbol.function.unwrap_or(0));
            if !is_label_name(&symbol.name) || end > self.text.len() as u64 {
                let name = symbol.name.escape_debug();
                let message = format!("`{name}` is no proper label or beyond the end of .text");
                return Err(LoadError::new(".symtab", 0, message));
            }
            names.push(&symbol.name);
        }
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("two labels are called `{}`", pair[0]);
            return Err(LoadError::new(".symtab", 0, message));
        }
        let mut last = None;
        for index in &self.relocations {
            let offset = u64::from(*index) * u64::from(INSTRUCTION_BYTES);
            let fail = |message: &str| Err(LoadError::new(".text", offset, message));
            if last.is_some_and(|last| last >= *index) {
                return fail("relocations are not in ascending order");
            }
            last = Some(*index);
            match self.text.get(*index as usize).and_then(|inst| inst.symbolic()) {
                Some(Imm::Value(value))
                    if u64::from(value as u32) <= text_bytes
                        && (value as u32).is_multiple_of(INSTRUCTION_BYTES) => {}
                _ => return fail("a relocation of what is no address of an instruction"),
            }
        }
        for (at, patch) in self.prologue.iter().enumerate() {
            let fail = |message: &str| Err(LoadError::new(PROLOGUE, at as u64, message));
            match self.text.get(patch.index as usize) {
                Some(Inst::SetiCrf { .. }) => {}
                _ => return fail("the prologue names what is no `seti_crf`"),
            }
            if self.relocations.binary_search(&patch.index).is_ok() {
                return fail("the prologue names a `seti_crf` of a label");
            }
        }
        let rows = self.lines.rows.len();
        if rows != 0 && rows != self.text.len() {
            return Err(LoadError::new(".debug_line", 0, "not one line an instruction"));
        }
        Ok(())
    }

    /// The source line of an instruction, with the file's name.
    pub fn line(&self, index: usize) -> Option<(&str, u32, u32)> {
        let row = self.lines.rows.get(index).copied().flatten()?;
        let file = self.lines.files.get(row.file as usize)?;
        Some((file, row.line, row.column))
    }
}

/// A list as JSON, an item a line.
fn to_json<T: Serialize>(items: &[T]) -> Vec<u8> {
    let mut out = String::from("[");
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&serde_json::to_string(item).expect("metadata has text keys"));
    }
    out.push_str(if items.is_empty() { "]\n" } else { "\n]\n" });
    out.into_bytes()
}

/// The list in a metadata section; empty where the section is missing.
fn from_json<T: DeserializeOwned>(container: &Container, name: &str) -> Result<Vec<T>, LoadError> {
    let Some((_, bytes)) = container.metadata.iter().find(|(known, _)| known == name) else {
        return Ok(Vec::new());
    };
    serde_json::from_slice(bytes).map_err(|error| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
        let offset = before + error.column().saturating_sub(1);
        LoadError::new(name, offset as u64, error.to_string())
    })
}
