//! What a target states of its instruction set and of its machines, as data: all that compiler,
//! assembler, loader and functional machine need to know of it. It and `program.rs` name each other:
//! a program is for a machine of an instruction set, which checks what its programs hold of their own.

use std::fmt;

use nbcc_isa::LoadError;
use nbcc_isa::machine::{MachineError, Override, hash_of};

use crate::inst::{Hint, Inst};
use crate::operands::PhysReg;
use crate::ops::OPTIONAL;
use crate::program::Program;

/// An instruction set: the shared one, as one target has it. Two are equal if their numbers are.
pub struct Isa {
    /// The name in assembly files and statistics: that of the target.
    pub name: &'static str,
    /// What messages call the machine.
    pub title: &'static str,
    /// The number in the ELF header, which no other instruction set has.
    pub number: u16,
    /// The version of its encoding and of the metadata.
    pub version: u16,
    /// The opcodes of the optional instructions that it has, see [`OPTIONAL`].
    pub optional: &'static [u8],
    /// The hints that it has, besides none.
    pub hints: &'static [Hint],
    /// Names of the metadata sections that its programs have of their own; they begin with `.nbcc.`.
    pub sections: &'static [&'static str],
    /// Checks what a valid program has in these sections, whatever wrote it.
    pub check: fn(&Program) -> Result<(), LoadError>,
    /// The built-in machines: name and TOML text.
    pub machines: &'static [(&'static str, &'static str)],
    /// Reads a machine description and applies overrides.
    pub read: fn(&str, &[Override]) -> Result<Machine, MachineError>,
}

impl Isa {
    /// What is wrong with an instruction that this set does not have.
    pub fn fault(&self, inst: &Inst<PhysReg>) -> Option<String> {
        use nbcc_isa::Instruction;
        let opcode = inst.opcode();
        if opcode >= OPTIONAL && !self.optional.contains(&opcode) {
            return Some(format!("{} has no such instruction", self.title));
        }
        if inst.hint != Hint::None && !self.hints.contains(&inst.hint) {
            return Some(format!("{} has no such hint", self.title));
        }
        None
    }

    /// A built-in machine.
    ///
    /// # Panics
    /// `name` is not one of [`Isa::machines`].
    pub fn built_in(&self, name: &str) -> Machine {
        let text = nbcc_isa::machine::built_in_text(self.machines, name);
        (self.read)(text.expect("the name of a built-in machine"), &[])
            .expect("built-in machines are valid")
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Isa({} {})", self.name, self.version)
    }
}

impl PartialEq for Isa {
    fn eq(&self, other: &Isa) -> bool {
        self.number == other.number
    }
}

impl Eq for Isa {}

/// A machine as programs see it. What else its description says, only its own target reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The instruction set that it executes.
    pub isa: &'static Isa,
    /// What statistics call it.
    pub name: String,
    /// The description, the same text for equal machines.
    pub toml: String,
    /// What programs may take.
    pub limits: Limits,
}

impl Machine {
    /// 16 hexadecimal digits that identify the machine.
    pub fn hash(&self) -> String {
        hash_of(&self.toml)
    }
}

/// What programs may take of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Cores of the whole machine.
    pub cores: u32,
    /// Warps that a core holds.
    pub core_warps: u32,
    /// Blocks that a core holds.
    pub core_blocks: u32,
    /// Threads of a block.
    pub block_threads: u32,
    /// 32-bit registers of a thread; 256 at most.
    pub registers: u32,
    /// Bytes of shared memory of a core.
    pub shared_bytes: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Bytes of the parameters of a kernel.
    pub param_bytes: u32,
    /// Bytes of global memory.
    pub memory_bytes: u64,
}
