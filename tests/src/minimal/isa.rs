//! Tally's instructions, its machine, and what its programs hold.

use nbcc_isa::asm::{self, AsmError, Dialect, TextType};
use nbcc_isa::container::TEXT;
use nbcc_isa::machine::{self, MachineError, Override, check_range};
use nbcc_isa::metadata::expect_only;
use nbcc_isa::signature::SIGNATURE;
use nbcc_isa::{
    Code, Container, Imm, Instruction, LoadError, MachineInstruction, RegisterClass, Signature,
    WriteError,
};
use serde::{Deserialize, Serialize};

/// The number of the instruction set in binaries.
pub const ISA: u16 = 900;
/// Its name in assembly.
pub const NAME: &str = "tally";
/// Registers of the machine.
pub const REGISTERS: u16 = 8;
const VERSION: u16 = 1;

/// There is one register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// 32 bits.
    Word,
}

impl RegisterClass for Class {
    const ALL: &'static [Class] = &[Class::Word];
    fn name(self) -> &'static str {
        "registers"
    }
    fn prefix(self) -> &'static str {
        "r"
    }
}

/// What executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The only unit.
    Core,
}

/// How long a result takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// A cycle.
    One,
    /// As long as a load.
    Load,
}

/// What instructions read and write beside registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The memory.
    Data,
}

/// What statistics count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Computation and control.
    Compute,
    /// Loads and stores.
    Access,
}

nbcc_isa::isa! {
    /// What Tally does.
    pub enum Inst<R>;
    bits 64;
    class Class;
    unit Unit;
    latency Latency;
    memory Memory;
    category Category;

    /// A constant.
    0x01 Set "set" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        value: u32 = immediate() @ 32..64,
    }

    /// A scalar argument of the call.
    0x02 Arg "arg" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        number: u32 = immediate() @ 32..64,
    }

    /// A copy.
    0x03 Move "move" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        src: R = reads(Word) @ 16..24,
    }

    /// A sum.
    0x04 Add "add" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// A difference.
    0x05 Sub "sub" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// A product.
    0x06 Mul "mul" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// 1 where the first is less, signed, else 0.
    0x07 Less "less" [Compute, Core, Latency::One] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// Loads an element of an array, which is an argument.
    0x08 Load "load" [Access, Core, Latency::Load] reads [Data] writes [] {
        dst: R = writes(Word) @ 8..16,
        index: R = reads(Word) @ 16..24,
        array: u32 = immediate() @ 32..64,
    }

    /// Stores an element of an array, which is an argument.
    0x09 Store "store" [Access, Core, Latency::One] reads [] writes [Data] {
        src: R = reads(Word) @ 8..16,
        index: R = reads(Word) @ 16..24,
        array: u32 = immediate() @ 32..64,
    }

    /// Goes on elsewhere.
    0x0a Jump "jump" [Compute, Core, Latency::One] reads [] writes [] {
        to: Imm = symbolic() @ 32..64,
    }

    /// Goes on elsewhere where a register is not zero.
    0x0b Branch "branch" [Compute, Core, Latency::One] reads [] writes [] {
        on: R = reads(Word) @ 8..16,
        to: Imm = symbolic() @ 32..64,
    }

    /// Ends the call with a result.
    0x0c Return "return" [Compute, Core, Latency::One] reads [] writes [] {
        value: R = reads(Word) @ 8..16,
    }
}

/// A register of the machine.
pub type PhysReg = nbcc_isa::PhysReg<Class>;

/// The machine that comes with the target.
pub const TOML: &str = "\
name = \"tally\"
load_cycles = 4       # invented, as the machine is
";

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What statistics call it.
    pub name: String,
    /// Cycles that a load takes.
    pub load_cycles: u32,
}

impl Machine {
    /// Reads a description.
    pub fn from_toml(text: &str, overrides: &[Override]) -> Result<Machine, MachineError> {
        machine::load(text, overrides, |machine: &Machine| {
            check_range("load_cycles", machine.load_cycles, 1, 1000)
        })
    }
}

/// What a binary holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The machine it is for.
    pub machine: Machine,
    /// What it does, from the first instruction on.
    pub code: Code<Inst<PhysReg>>,
    /// What it is called on; an assembled program does not say.
    pub signature: Option<Signature>,
}

impl Program {
    /// The contents of a `.nbx` file.
    pub fn to_elf(&self) -> Result<Vec<u8>, WriteError> {
        let container = Container {
            isa: ISA,
            version: VERSION,
            machine: machine::to_toml(&self.machine),
            metadata: vec![Signature::to_metadata(self.signature.as_slice())],
            ..self.code.to_container()?
        };
        Program::from_container(&container)?;
        container.to_elf()
    }

    /// Reads a `.nbx` file.
    pub fn from_elf(file: &[u8]) -> Result<Program, LoadError> {
        let bytes = <Inst<PhysReg> as MachineInstruction>::BYTES as u32;
        Program::from_container(&Container::from_elf(file, ISA, VERSION, &[(TEXT, bytes)])?)
    }

    fn from_container(container: &Container) -> Result<Program, LoadError> {
        expect_only(container, &[SIGNATURE])?;
        let code = Code::from_container(container)?;
        code.validate(&[])?;
        let is_register = |register: &PhysReg| register.index < REGISTERS;
        code.check_each(|_, inst: &Inst<PhysReg>| {
            let mut fits = true;
            inst.for_each_operand(|operand| fits &= is_register(operand.reg));
            (!fits).then(|| "a register that the machine lacks".to_string())
        })?;
        Ok(Program {
            machine: Machine::from_toml(&container.machine, &[])?,
            code,
            signature: Signature::all_of(container)?.pop(),
        })
    }
}

fn dialect() -> Dialect {
    Dialect {
        name: NAME,
        isa: ISA,
        version: VERSION,
        machines: vec![("tally", TOML.to_string())],
        text: vec![TextType::of::<Inst<PhysReg>>(TEXT)],
    }
}

/// The text of a `.nbx` file.
pub fn disassemble(file: &[u8]) -> Result<String, LoadError> {
    asm::disassemble_elf(file, &dialect(), Program::from_container)
}

/// The `.nbx` file of a text.
pub fn assemble(text: &str) -> Result<Vec<u8>, Vec<AsmError>> {
    let program = asm::assemble_program(text, &dialect(), Program::from_container)?;
    program.to_elf().map_err(|error| vec![AsmError::of_file(error.to_string())])
}
