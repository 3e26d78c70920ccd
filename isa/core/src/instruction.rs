//! What every generated instruction set has in common: operand roles, register
//! classes, and the trait through which generic code (dependence graphs, liveness,
//! register allocation, assembler) sees an instruction.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;

use crate::text::{Cursor, Field, LabelNames, SyntaxError};

/// What an instruction does to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Reads the register.
    Use,
    /// Writes the whole register.
    Def,
    /// Reads and writes it: an accumulator, or a write of some lanes only.
    UseDef,
}

impl Role {
    /// Whether the old value matters.
    pub fn reads(self) -> bool {
        self != Role::Def
    }

    /// Whether the register has a new value afterwards.
    pub fn writes(self) -> bool {
        self != Role::Use
    }
}

/// A register operand of an instruction; `R` is `&Reg` or `&mut Reg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand<C, R> {
    /// What happens to it.
    pub role: Role,
    /// The register file that it belongs to.
    pub class: C,
    /// The register.
    pub reg: R,
}

/// The register files of an instruction set.
pub trait RegisterClass: Copy + Eq + Ord + Hash + Debug + Send + Sync + 'static {
    /// Every class, in the order of their encoding in tables.
    const ALL: &'static [Self];
    /// The name of the register file, as in the instruction set's reference page.
    fn name(self) -> &'static str;
    /// What register names of the class begin with.
    fn prefix(self) -> &'static str;
}

/// An entry of a register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PhysReg<C> {
    /// The register file.
    pub class: C,
    /// The entry in it.
    pub index: u16,
}

impl<C: RegisterClass> PhysReg<C> {
    /// The entry `index` of the file `class`.
    pub fn new(class: C, index: u16) -> Self {
        PhysReg { class, index }
    }
}

impl<C: RegisterClass> Display for PhysReg<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.prefix(), self.index)
    }
}

/// An instruction over registers of some kind, virtual or physical. Implemented by
/// the `isa!` table.
pub trait Instruction: Sized {
    /// The register type.
    type Reg;
    /// The register files.
    type Class: RegisterClass;
    /// The functional units.
    type Unit: Copy + Eq + Debug;
    /// The latency classes.
    type Latency: Copy + Eq + Debug;
    /// The memories.
    type Memory: Copy + Eq + Debug + 'static;
    /// The categories that statistics are broken down by.
    type Category: Copy + Eq + Debug;
    /// The same instruction over registers `S`.
    type With<S>;

    /// The low byte of what the encoding has beside its fields: the number of the instruction, where
    /// the opcode is there.
    fn opcode(&self) -> u8;
    /// The first word of its text, without suffixes.
    fn mnemonic(&self) -> &'static str;
    /// The unit that executes it.
    fn unit(&self) -> Self::Unit;
    /// The latency class.
    fn latency(&self) -> Self::Latency;
    /// The category.
    fn category(&self) -> Self::Category;
    /// The memories that it reads.
    fn memory_reads(&self) -> &'static [Self::Memory];
    /// The memories that it writes.
    fn memory_writes(&self) -> &'static [Self::Memory];
    /// Calls `f` for each register operand, in the order of the text.
    fn for_each_operand<'a>(&'a self, f: impl FnMut(Operand<Self::Class, &'a Self::Reg>));
    /// The same, with the registers open to change.
    fn for_each_operand_mut<'a>(
        &'a mut self,
        f: impl FnMut(Operand<Self::Class, &'a mut Self::Reg>),
    );
    /// The instruction with each register replaced.
    fn map_regs<S>(&self, f: impl FnMut(Operand<Self::Class, &Self::Reg>) -> S) -> Self::With<S>;
    /// Whether its immediates that may be addresses of labels are distances from its own.
    fn is_relative(&self) -> bool {
        false
    }
    /// The first immediate that may be the address of a label, if the row has one.
    fn symbolic(&self) -> Option<Imm>;
    /// The same, to be changed.
    fn symbolic_mut(&mut self) -> Option<&mut Imm>;
    /// Calls `f` for each immediate that may be the address of a label, in the order of
    /// the text.
    fn for_each_symbolic_mut(&mut self, f: impl FnMut(&mut Imm));
}

/// An instruction of a binary: physical registers, an encoding, a text.
pub trait MachineInstruction: Instruction + Clone + PartialEq + Debug {
    /// Bytes of an instruction.
    const BYTES: usize;
    /// The rows of the table.
    const ROWS: &'static [crate::row::Row];

    /// The encoding, little endian in the low `BYTES` bytes.
    ///
    /// # Errors
    /// A value that its field cannot hold, a register of another class, or a label
    /// that has no address yet.
    fn encode(&self) -> Result<u128, EncodeError>;

    /// Reads an encoding.
    ///
    /// # Errors
    /// An unknown opcode, a reserved bit that is set, or a field without a meaning.
    fn decode(word: u128) -> Result<Self, DecodeError>;

    /// Writes the text, with `labels` naming the labels.
    fn write_text(&self, f: &mut dyn fmt::Write, labels: &dyn LabelNames) -> fmt::Result;

    /// Reads the text of one instruction.
    ///
    /// # Errors
    /// A syntax error with its place in the line.
    fn parse_text(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError>;
}

/// A 32-bit immediate that may stand for the address of a label. A decoded binary
/// holds values only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Imm {
    /// The value itself.
    Value(i32),
    /// The address of a label, by its number; replaced by a value before encoding.
    Label(u32),
}

impl Field for Imm {
    fn to_bits(&self) -> Option<u64> {
        match self {
            Imm::Value(value) => Some(u64::from(*value as u32)),
            Imm::Label(_) => None,
        }
    }
    fn from_bits(bits: u64) -> Option<Self> {
        u32::try_from(bits).ok().map(|bits| Imm::Value(bits as i32))
    }
    fn write(&self, f: &mut dyn fmt::Write, labels: &dyn LabelNames) -> fmt::Result {
        match self {
            Imm::Value(value) => write!(f, "{value}"),
            Imm::Label(id) => match labels.label_name(*id) {
                Some(name) => f.write_str(name),
                None => write!(f, "L{id}"),
            },
        }
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        if let Some(name) = cursor.name() {
            return Ok(Imm::Label(cursor.label(name)));
        }
        let value = cursor.number_in("the value", i32::MIN.into(), u32::MAX.into())?;
        Ok(Imm::Value(value as u32 as i32))
    }
}

/// An operand that is either a number or a register, told apart by a bit of the
/// encoding. `Self::With<S>` is the same over registers `S`.
pub trait RegOrImm: Sized {
    /// The register type.
    type Reg;
    /// The number, or the register.
    fn split(&self) -> Result<u32, &Self::Reg>;
    /// The register, to be changed.
    fn reg_mut(&mut self) -> Option<&mut Self::Reg>;
    /// The operand that is a number.
    fn from_imm(value: u32) -> Self;
    /// The operand that is a register.
    fn from_reg(reg: Self::Reg) -> Self;
    /// What the text has before and after it.
    const BRACKETS: [&'static str; 2];
}

/// Why an instruction has no encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The value needs more bits than the field has.
    #[error("`{field}` of `{mnemonic}` does not fit {bits} bits: {value:#x}")]
    DoesNotFit {
        /// The instruction.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
        /// The width of the field.
        bits: u32,
        /// The value.
        value: u64,
    },
    /// The register belongs to another file.
    #[error("`{field}` of `{mnemonic}` is a register of another file: {register}")]
    WrongClass {
        /// The instruction.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
        /// The register.
        register: String,
    },
    /// The label has no address.
    #[error("`{field}` of `{mnemonic}` is a label, which has no address yet")]
    Unresolved {
        /// The instruction.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
    },
}

/// Why bits are no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No row has this opcode.
    #[error("unknown opcode {0:#04x}")]
    UnknownOpcode(u8),
    /// A bit that no field covers is set.
    #[error("reserved bits of `{mnemonic}` are set: {bits:#034x}")]
    Reserved {
        /// The instruction.
        mnemonic: &'static str,
        /// The bits.
        bits: u128,
    },
    /// The field's value has no meaning.
    #[error("`{field}` of `{mnemonic}` has no meaning: {value:#x}")]
    BadField {
        /// The instruction.
        mnemonic: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
    },
}
