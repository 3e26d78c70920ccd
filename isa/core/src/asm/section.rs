//! What a target says of its assembly: names, machines, and the type of each text section.

use std::fmt;

use crate::instruction::{EncodeError, Imm, MachineInstruction};
use crate::program::word_of;
use crate::text::{Cursor, LabelNames, SyntaxError};

/// What assembly files of a target say of it.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// The name after `.isa`.
    pub name: &'static str,
    /// The number in the ELF header.
    pub isa: u16,
    /// The version in the ELF header.
    pub version: u16,
    /// Machines that `.machine` names, with their descriptions.
    pub machines: Vec<(&'static str, String)>,
    /// The text sections that programs may have, `.text` first.
    pub text: Vec<TextType>,
}

/// The instructions of a text section: how many bytes one has, and who reads its bytes and text.
#[derive(Clone, Copy, Debug)]
pub struct TextType {
    /// `.text` or `.text.NAME`.
    pub section: &'static str,
    /// Bytes of an instruction.
    pub instruction_bytes: u32,
    /// Reads so many bytes, or says what is wrong with them.
    pub decode: fn(&[u8]) -> Result<BoxedInstruction, String>,
    /// Reads the text of an instruction, which begins with a letter.
    pub parse: fn(&mut Cursor<'_>) -> Result<BoxedInstruction, SyntaxError>,
}

impl TextType {
    /// Instructions of a table in that section.
    pub fn of<I: MachineInstruction + 'static>(section: &'static str) -> TextType {
        TextType {
            section,
            instruction_bytes: I::BYTES as u32,
            decode: |bytes| match I::decode(word_of(bytes)) {
                Ok(inst) => Ok(Box::new(inst)),
                Err(error) => Err(error.to_string()),
            },
            parse: |cursor| Ok(Box::new(I::parse_text(cursor)?)),
        }
    }
}

/// An instruction of the type of its section.
pub type BoxedInstruction = Box<dyn TextInstruction>;

/// What printing and reading assembly ask of an instruction of any type and size.
pub trait TextInstruction {
    /// Writes the text, with `labels` naming the labels.
    ///
    /// # Errors
    /// Those of `f`.
    fn write_text(&self, f: &mut dyn fmt::Write, labels: &dyn LabelNames) -> fmt::Result;
    /// Whether its immediates that may be addresses of labels are distances from its own.
    fn is_relative(&self) -> bool {
        false
    }
    /// Calls `f` for each immediate that may be the address of a label, in the order of the text.
    fn for_each_symbolic_mut(&mut self, f: &mut dyn FnMut(&mut Imm));
    /// The bytes, as many as the type of its section says.
    ///
    /// # Errors
    /// A value that has no encoding, or a label that has no address yet.
    fn encode(&self) -> Result<Vec<u8>, EncodeError>;
}

impl<I: MachineInstruction> TextInstruction for I {
    fn write_text(&self, f: &mut dyn fmt::Write, labels: &dyn LabelNames) -> fmt::Result {
        MachineInstruction::write_text(self, f, labels)
    }

    fn is_relative(&self) -> bool {
        crate::instruction::Instruction::is_relative(self)
    }

    fn for_each_symbolic_mut(&mut self, f: &mut dyn FnMut(&mut Imm)) {
        crate::instruction::Instruction::for_each_symbolic_mut(self, f);
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Ok(MachineInstruction::encode(self)?.to_le_bytes()[..I::BYTES].to_vec())
    }
}
