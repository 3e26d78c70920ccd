//! A program: what a `.nbx` file for a SIMT machine holds, decoded and checked. The only thing that
//! passes from the compiler to the simulator.

use nbcc_isa::container::{Data, Symbol, SymbolKind, TEXT};
use nbcc_isa::metadata::{expect_only, from_json, to_json};
use nbcc_isa::program::repeated;
use nbcc_isa::{Code, Container, Imm, Instruction, LoadError, WriteError};
use serde::{Deserialize, Serialize};

use crate::INSTRUCTION_BYTES;
use crate::inst::Inst;
use crate::isa::{Isa, Machine};
use crate::operands::{NO_RECONVERGENCE, PREDICATES, PhysReg, RegClass, Space};
use crate::ops::Op;

/// Where the initial contents of data objects begin in the ELF file's addresses.
pub const DATA_BASE: u64 = 1 << 32;

const KERNELS: &str = ".nbcc.kernels";
const OBJECTS: &str = ".nbcc.objects";
const MESSAGES: &str = ".nbcc.messages";

/// A program for a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The machine that it was compiled for.
    pub machine: Machine,
    /// The instructions with their names (those of kernels among them) and source lines.
    pub code: Code<Inst<PhysReg>>,
    /// What can be launched, in the order of the source.
    pub kernels: Vec<Kernel>,
    /// Variables of the module, which `addr` names by their number.
    pub objects: Vec<Object>,
    /// What `trap` says, by number.
    pub messages: Vec<String>,
    /// Sections of the target by their names, which are among [`Isa::sections`]; [`Isa::check`] knows
    /// what they hold.
    pub sections: Vec<(String, Vec<u8>)>,
}

/// A kernel: a part of `text` that a grid of threads runs from its first instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The name in the source.
    pub name: String,
    /// The index of its first instruction.
    pub entry: u32,
    /// How many instructions it has; branches stay among them, and the last one does not go on.
    pub instructions: u32,
    /// 32-bit registers of a thread: R0 up to one less.
    pub registers: u32,
    /// Bytes of static shared memory, a multiple of 16; dynamic shared memory begins behind.
    pub shared_bytes: u32,
    /// Bytes of local memory of a thread, a multiple of 16.
    pub local_bytes: u32,
    /// Parameters by offset.
    pub params: Vec<Param>,
    /// Bytes of all parameters.
    pub param_bytes: u32,
    /// The most threads of a block along x, y and z, if the source says so (`.maxntid`: only
    /// their product counts).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_block: Option<[u32; 3]>,
    /// The one size of block that it runs with, if the source says so (`.reqntid`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_block: Option<[u32; 3]>,
    /// Blocks that a core should hold (`.minnctapersm`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_blocks: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// The name in the source.
    pub name: String,
    /// Byte offset in the space `param`.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: ParamType,
}

/// The type of a parameter. Pointers are `u64` or `b64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
    /// 8 bits, signed.
    S8,
    /// 16 bits, signed.
    S16,
    /// 32 bits, signed.
    S32,
    /// 64 bits, signed.
    S64,
    /// 8 bits.
    B8,
    /// 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// IEEE binary16.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// An array of bytes: a structure.
    Bytes,
}

impl ParamType {
    /// Bytes of a scalar; `None` for an array.
    pub fn bytes(self) -> Option<u32> {
        use ParamType::*;
        match self {
            U8 | S8 | B8 => Some(1),
            U16 | S16 | B16 | F16 => Some(2),
            U32 | S32 | B32 | F32 => Some(4),
            U64 | S64 | B64 | F64 => Some(8),
            Bytes => None,
        }
    }

    /// The name in PTX; `struct` for an array of bytes.
    pub fn name(self) -> &'static str {
        use ParamType::*;
        match self {
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            S8 => "s8",
            S16 => "s16",
            S32 => "s32",
            S64 => "s64",
            B8 => "b8",
            B16 => "b16",
            B32 => "b32",
            B64 => "b64",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
            Bytes => "struct",
        }
    }
}

/// Where a data object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectSpace {
    /// Threads may write it.
    Global,
    /// They may not.
    Const,
}

/// A variable of the module. The loader gives it an address when the program is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The name in the source.
    pub name: String,
    /// Where it lies.
    pub space: ObjectSpace,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Bytes.
    pub size: u64,
    /// The first bytes; the rest are zero.
    pub initial: Vec<u8>,
    /// Addresses that the loader adds to the contents.
    pub relocations: Vec<Relocation>,
}

/// A place in a data object that holds the address of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relocation {
    /// Byte offset of the place.
    pub offset: u64,
    /// Bytes of the place: 1, 2, 4 or 8.
    pub bytes: u32,
    /// The address is shifted right by so many bits.
    #[serde(default)]
    pub shift: u32,
    /// The number of the object.
    pub object: u32,
    /// What is added to its address.
    #[serde(default)]
    pub addend: i64,
}

/// What the metadata says of an object; its initial contents are in `.data`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectRecord {
    name: String,
    space: ObjectSpace,
    align: u32,
    size: u64,
    at: u64,
    initial: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    relocations: Vec<Relocation>,
}

/// The most bytes that all data objects may have.
const MAX_DATA_BYTES: u64 = 1 << 34;

impl Program {
    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
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
    pub fn from_elf(isa: &'static Isa, file: &[u8]) -> Result<Program, LoadError> {
        let container =
            Container::from_elf(file, isa.number, isa.version, &[(TEXT, INSTRUCTION_BYTES)])?;
        Program::from_container(isa, &container)
    }

    /// The contents of the ELF file.
    ///
    /// # Errors
    /// As [`Program::to_elf`].
    pub fn to_container(&self) -> Result<Container, WriteError> {
        self.validate()?;
        let mut container = self.code.to_container()?;
        let mut bytes = Vec::new();
        let mut records = Vec::new();
        for object in &self.objects {
            bytes.resize(bytes.len().next_multiple_of(16), 0);
            let at = bytes.len() as u64;
            bytes.extend_from_slice(&object.initial);
            records.push(ObjectRecord {
                name: object.name.clone(),
                space: object.space,
                align: object.align,
                size: object.size,
                at,
                initial: object.initial.len() as u64,
                relocations: object.relocations.clone(),
            });
            if !object.initial.is_empty() && object.name.len() <= 256 {
                container.objects.push(Symbol {
                    name: object.name.clone(),
                    kind: SymbolKind::Object,
                    address: DATA_BASE + at,
                    size: object.initial.len() as u64,
                });
            }
        }
        if !bytes.is_empty() {
            container.data.push(Data { name: ".data".into(), address: DATA_BASE, bytes });
        }
        let mut metadata = vec![
            (KERNELS.into(), to_json(&self.kernels)),
            (OBJECTS.into(), to_json(&records)),
            (MESSAGES.into(), to_json(&self.messages)),
        ];
        metadata.extend(self.sections.iter().cloned());
        Ok(Container {
            isa: self.machine.isa.number,
            version: self.machine.isa.version,
            machine: self.machine.toml.clone(),
            metadata,
            ..container
        })
    }

    /// Decodes and checks the contents of an ELF file.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn from_container(isa: &'static Isa, container: &Container) -> Result<Program, LoadError> {
        let machine = (isa.read)(&container.machine, &[])?;
        let code = Code::from_container(container)?;
        let mut data: &[u8] = &[];
        for section in &container.data {
            if section.name != ".data" || section.address != DATA_BASE {
                let message = format!("programs for {} have no such section", isa.title);
                return Err(LoadError::new(&section.name, 0, message));
            }
            data = &section.bytes;
        }
        let known: Vec<&str> =
            [KERNELS, OBJECTS, MESSAGES].iter().chain(isa.sections).copied().collect();
        expect_only(container, &known)?;
        let own = |(name, _): &&(String, Vec<u8>)| isa.sections.contains(&name.as_str());
        let sections = container.metadata.iter().filter(own).cloned().collect();
        let mut objects = Vec::new();
        // Objects share no bytes, so that they take no more memory than the file.
        let mut passed = 0;
        for record in from_json::<ObjectRecord>(container, OBJECTS)? {
            let end = record.at.checked_add(record.initial).filter(|end| *end <= data.len() as u64);
            let Some(end) = end.filter(|_| record.at >= passed) else {
                let name = record.name.escape_debug();
                let message = format!("the contents of `{name}` are not in .data");
                return Err(LoadError::new(OBJECTS, 0, message));
            };
            passed = end;
            objects.push(Object {
                name: record.name,
                space: record.space,
                align: record.align,
                size: record.size,
                initial: data[record.at as usize..end as usize].to_vec(),
                relocations: record.relocations,
            });
        }
        let program = Program {
            machine,
            code,
            kernels: from_json(container, KERNELS)?,
            objects,
            messages: from_json(container, MESSAGES)?,
            sections,
        };
        program.validate()?;
        Ok(program)
    }

    /// Checks that instructions, kernels and objects fit the machine and each other, so that the
    /// simulator may index by them. Addresses that only running the program shows to be wrong
    /// end the run.
    ///
    /// # Errors
    /// What is wrong, with its section and offset.
    pub fn validate(&self) -> Result<(), LoadError> {
        self.code.validate(&[])?;
        let isa = self.machine.isa;
        if let Some((name, _)) =
            self.sections.iter().find(|(name, _)| !isa.sections.contains(&name.as_str()))
        {
            let message = format!("programs for {} have no such section", isa.title);
            return Err(LoadError::new(name, 0, message));
        }
        let mut owner: Vec<Option<u32>> = vec![None; self.code.text.len()];
        let mut names = Vec::new();
        for (number, kernel) in self.kernels.iter().enumerate() {
            self.validate_kernel(kernel)?;
            names.push(kernel.name.as_str());
            let range = kernel.entry as usize..(kernel.entry + kernel.instructions) as usize;
            for place in &mut owner[range] {
                if place.replace(number as u32).is_some() {
                    return Err(kernel_error(kernel, "its instructions are another's as well"));
                }
            }
        }
        if let Some(name) = repeated(&mut names) {
            let message = format!("two kernels are called `{}`", name.escape_debug());
            return Err(LoadError::new(KERNELS, 0, message));
        }
        self.code.check_each(|index, inst| {
            let kernel = owner[index].map(|number| &self.kernels[number as usize]);
            self.instruction_fault(inst, kernel)
        })?;
        self.validate_objects()?;
        (isa.check)(self)
    }

    fn validate_kernel(&self, kernel: &Kernel) -> Result<(), LoadError> {
        let fail = |message: &str| Err(kernel_error(kernel, message));
        let limits = &self.machine.limits;
        if !is_name(&kernel.name) {
            return fail("the name must have one character or more, and printable ones only");
        }
        let end = u64::from(kernel.entry) + u64::from(kernel.instructions);
        if kernel.instructions == 0 || end > self.code.text.len() as u64 {
            return fail("its instructions are not in .text");
        }
        let last = &self.code.text[end as usize - 1];
        if last.guard.is_some() || !last.is_branch() {
            return fail("its last instruction goes on behind it");
        }
        if kernel.registers > limits.registers {
            return fail("it has more registers than a thread of the machine");
        }
        if kernel.shared_bytes > limits.shared_bytes || !kernel.shared_bytes.is_multiple_of(16) {
            return fail("its shared memory is no multiple of 16 or more than a core has");
        }
        if kernel.local_bytes > limits.local_bytes || !kernel.local_bytes.is_multiple_of(16) {
            return fail("its local memory is no multiple of 16 or more than a thread may have");
        }
        if kernel.param_bytes > limits.param_bytes {
            return fail("its parameters take too many bytes");
        }
        let mut passed = 0;
        for param in &kernel.params {
            let end = u64::from(param.offset) + u64::from(param.size);
            let right = param.align.is_power_of_two()
                && param.align <= 4096
                && param.offset.is_multiple_of(param.align)
                && u64::from(param.offset) >= passed
                && end <= u64::from(kernel.param_bytes)
                && param.ty.bytes().is_none_or(|bytes| bytes == param.size);
            if !right {
                let name = param.name.escape_debug();
                return fail(&format!("parameter `{name}` overlaps or has no proper size"));
            }
            passed = end;
        }
        for block in [kernel.max_block, kernel.required_block].into_iter().flatten() {
            if block.iter().any(|n| !(1..=1 << 16).contains(n)) {
                return fail("a bound of its blocks is out of range");
            }
        }
        Ok(())
    }

    /// What is wrong with an instruction of a kernel on this machine.
    fn instruction_fault(&self, inst: &Inst<PhysReg>, kernel: Option<&Kernel>) -> Option<String> {
        let words = kernel.map_or(self.machine.limits.registers, |kernel| kernel.registers);
        let mut fault = None;
        inst.for_each_operand(|operand| {
            let reg = operand.reg;
            let (entries, last) = match operand.class {
                RegClass::Word => (words, u32::from(reg.index)),
                RegClass::Wide => (words, u32::from(reg.index) + 1),
                RegClass::Pred => (u32::from(PREDICATES), u32::from(reg.index)),
            };
            if reg.class != operand.class {
                fault = Some(format!("{reg} is in the wrong register file"));
            } else if last >= entries {
                fault = Some(format!("{reg} is beyond the {entries} registers that there are"));
            } else if operand.class == RegClass::Wide && !reg.index.is_multiple_of(2) {
                fault = Some(format!("{reg} is no pair: its number is odd"));
            }
        });
        if fault.is_some() {
            return fault;
        }
        match inst.op {
            Op::Bra { target, reconverge } => {
                let (Imm::Value(target), Imm::Value(reconverge)) = (target, reconverge) else {
                    return Some("a label without an address".into());
                };
                let inside = |address: i32| {
                    let index = address as u32 / INSTRUCTION_BYTES;
                    (address as u32).is_multiple_of(INSTRUCTION_BYTES)
                        && kernel.is_none_or(|kernel| {
                            (kernel.entry..kernel.entry + kernel.instructions).contains(&index)
                        })
                        && (index as usize) < self.code.text.len()
                };
                if !inside(target) || (reconverge != NO_RECONVERGENCE && !inside(reconverge)) {
                    return Some("it goes on outside of its kernel".into());
                }
            }
            Op::Addr { object, .. } if object as usize >= self.objects.len() => {
                return Some(format!("there is no data object {object}"));
            }
            Op::Trap { message } if message as usize >= self.messages.len() => {
                return Some(format!("there is no message {message}"));
            }
            _ => {}
        }
        if let Some(space @ (Space::Const | Space::Param)) = inst.op.space()
            && !inst.op.memory_writes().is_empty()
        {
            return Some(format!("the space {} cannot be written", space.name()));
        }
        conversion_fault(&inst.op).or_else(|| self.machine.isa.fault(inst))
    }

    fn validate_objects(&self) -> Result<(), LoadError> {
        let mut names = Vec::new();
        let mut total = 0_u64;
        for object in &self.objects {
            let fail = |message: &str| {
                let message = format!("`{}`: {message}", object.name.escape_debug());
                Err(LoadError::new(OBJECTS, 0, message))
            };
            if !is_name(&object.name) {
                return fail("the name must have one character or more, and printable ones only");
            }
            total = total.saturating_add(object.size);
            if total > MAX_DATA_BYTES {
                return fail("the data takes too many bytes");
            }
            if !object.align.is_power_of_two() || object.align > 1 << 16 {
                return fail("the alignment is no power of two up to 65536");
            }
            if object.initial.len() as u64 > object.size {
                return fail("it has more contents than bytes");
            }
            for relocation in &object.relocations {
                let end = relocation.offset.checked_add(u64::from(relocation.bytes));
                if ![1, 2, 4, 8].contains(&relocation.bytes)
                    || relocation.shift > 63
                    || end.is_none_or(|end| end > object.size)
                    || relocation.object as usize >= self.objects.len()
                {
                    return fail("a relocation is outside of it or of no object");
                }
            }
            names.push(object.name.as_str());
        }
        match repeated(&mut names) {
            None => Ok(()),
            Some(name) => {
                let message = format!("two objects are called `{}`", name.escape_debug());
                Err(LoadError::new(OBJECTS, 0, message))
            }
        }
    }
}

/// A conversion whose types do not have the widths of its registers.
fn conversion_fault<R>(op: &Op<R>) -> Option<String> {
    let (to, from, wide_to, wide_from) = match op {
        Op::Cvt { to, from, .. } => (to, from, false, false),
        Op::CvtWiden { to, from, .. } => (to, from, true, false),
        Op::CvtNarrow { to, from, .. } => (to, from, false, true),
        Op::CvtWide { to, from, .. } => (to, from, true, true),
        _ => return None,
    };
    let wrong = (to.bits() == 64) != wide_to || (from.bits() == 64) != wide_from;
    wrong.then(|| "a type has another width than its register".into())
}

fn kernel_error(kernel: &Kernel, message: &str) -> LoadError {
    let name: String = kernel.name.escape_debug().take(80).collect();
    LoadError::new(KERNELS, 0, format!("kernel `{name}`: {message}"))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(char::is_control)
}
