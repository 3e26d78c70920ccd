//! The machine: what instructions do, and how long they take.

use nbcc::kinds::functions::{FunctionProgram, FunctionRan, FunctionRequest};
use nbcc::kinds::{Measured, RunError};
use nbcc_host::function::{Argument, Machine, call as call_on};
use nbcc_host::{Cost, Profile, Statistics};
use nbcc_isa::{Imm, Instruction, LoadError, MachineInstruction};
use nbcc_sim_engine::Definition;
use nbcc_sim_engine::statistics::row;

use super::isa::{Inst, Latency, PhysReg, Program, REGISTERS};

/// What is counted.
/// What its statistics mean.
pub const DEFINITIONS: &[Definition] = &[
    row("schema_version", "-", "Version of this file's form."),
    row("target", "-", "The target."),
    row("machine.name", "-", "The machine."),
    row("cycles", "cycles", "Length of the run."),
    row("instructions", "instructions", "Instructions issued."),
    row("core.count", "cores", "Cores."),
    row("core.active", "cores", "Cores that did work."),
    row("core.issue_cycles", "cycles", "Cycles in which the core issued."),
    row("stall.load", "cycles", "Cycles in which the core waited for a load."),
];

/// What a binary says of itself.
pub fn describe(binary: &[u8]) -> Result<FunctionProgram, LoadError> {
    described(&Program::from_elf(binary)?)
}

fn described(program: &Program) -> Result<FunctionProgram, LoadError> {
    let missing = || LoadError::new(nbcc_isa::signature::SIGNATURE, 0, "there is no signature");
    let signature = program.signature.clone().ok_or_else(missing)?;
    Ok(FunctionProgram { machine: program.machine.name.clone(), signature })
}

/// Calls the function of a binary.
pub fn call(binary: &[u8], request: FunctionRequest<'_, '_>) -> Result<FunctionRan, RunError> {
    let program = Program::from_elf(binary).map_err(RunError::Binary)?;
    let described = described(&program).map_err(RunError::Binary)?;
    let costs = vec![Cost::default(); program.code.text.len()];
    let limit = request.options.cycles();
    let mut core = Core { program: &program, memory: vec![], costs, cycles: 0, limit };
    let returned = call_on(&mut core, &described.signature, request.arguments)?;
    let total = |part: fn(&Cost) -> u64| core.costs.iter().map(part).sum::<u64>();
    let instructions = total(|cost| cost.issued);
    let mut statistics = Statistics::new(DEFINITIONS);
    statistics.set("schema_version", 1);
    statistics.set("target", "tally");
    statistics.set("machine.name", described.machine);
    statistics.set("cycles", core.cycles);
    statistics.set("instructions", instructions);
    statistics.set("core.count", 1);
    statistics.set("core.active", 1);
    statistics.set("core.issue_cycles", instructions);
    statistics.set("stall.load", total(|cost| cost.stalled));
    Ok(FunctionRan {
        arrays: returned.arrays,
        result: returned.result,
        measured: Measured {
            instructions,
            statistics: (!request.options.fast).then_some(statistics),
            profile: Profile::new(&program.code, &core.costs),
            trace: None,
            cycle_ns: 1.0,
        },
    })
}

struct Core<'a> {
    program: &'a Program,
    memory: Vec<u8>,
    costs: Vec<Cost>,
    cycles: u64,
    limit: u64,
}

impl Core<'_> {
    /// An element of an array of words.
    fn element(&mut self, array: u64, index: u32) -> Result<&mut [u8], RunError> {
        let at = array as usize + 4 * index as usize;
        let outside = || RunError::Fault(format!("there is no memory at {at:#x}"), None);
        self.memory.get_mut(at..at + 4).ok_or_else(outside)
    }
}

impl Machine for Core<'_> {
    type Error = RunError;

    fn place(&mut self, bytes: &[u8]) -> Result<u64, RunError> {
        let address = self.memory.len() as u64;
        if address + bytes.len() as u64 > u64::from(u32::MAX) {
            return Err(RunError::Refused("the arrays take more than 4 GiB".into()));
        }
        self.memory.extend_from_slice(bytes);
        Ok(address)
    }

    fn call(&mut self, arguments: &[Argument<'_>]) -> Result<Option<u64>, RunError> {
        let mut registers = [0_u32; REGISTERS as usize];
        let mut at = 0;
        let argument = |number: u32| {
            let missing = || RunError::Fault(format!("there is no argument {number}"), None);
            arguments.get(number as usize).map(|argument| argument.word()).ok_or_else(missing)
        };
        loop {
            let ended = || RunError::Fault(format!("there is no instruction {at}"), None);
            let inst = *self.program.code.text.get(at).ok_or_else(ended)?;
            let wait = match inst.latency() {
                Latency::One => 0,
                Latency::Load => u64::from(self.program.machine.load_cycles) - 1,
            };
            self.costs[at].issued += 1;
            self.costs[at].stalled += wait;
            self.cycles += 1 + wait;
            if self.cycles > self.limit {
                return Err(RunError::OutOfCycles(
                    format!("more than {} cycles", self.limit),
                    None,
                ));
            }
            at += 1;
            let of = |register: PhysReg| registers[usize::from(register.index)];
            let (dst, value) = match inst {
                Inst::Set { dst, value } => (dst, value),
                Inst::Arg { dst, number } => (dst, argument(number)? as u32),
                Inst::Move { dst, src } => (dst, of(src)),
                Inst::Add { dst, a, b } => (dst, of(a).wrapping_add(of(b))),
                Inst::Sub { dst, a, b } => (dst, of(a).wrapping_sub(of(b))),
                Inst::Mul { dst, a, b } => (dst, of(a).wrapping_mul(of(b))),
                Inst::Less { dst, a, b } => (dst, u32::from((of(a) as i32) < of(b) as i32)),
                Inst::Load { dst, index, array } => {
                    let mut word = [0; 4];
                    word.copy_from_slice(self.element(argument(array)?, of(index))?);
                    (dst, u32::from_le_bytes(word))
                }
                Inst::Store { src, index, array } => {
                    let element = self.element(argument(array)?, of(index))?;
                    element.copy_from_slice(&of(src).to_le_bytes());
                    continue;
                }
                Inst::Jump { to } => {
                    at = place(to);
                    continue;
                }
                Inst::Branch { on, to } => {
                    at = if of(on) != 0 { place(to) } else { at };
                    continue;
                }
                Inst::Return { value } => return Ok(Some(of(value).into())),
            };
            registers[usize::from(dst.index)] = value;
        }
    }

    fn read(&self, address: u64, bytes: u64) -> Vec<u8> {
        self.memory[address as usize..(address + bytes) as usize].to_vec()
    }
}

/// The index of the instruction at an address; none is there where it is no address.
fn place(to: Imm) -> usize {
    match to {
        Imm::Value(address) => {
            address as u32 as usize / <Inst<PhysReg> as MachineInstruction>::BYTES
        }
        Imm::Label(_) => usize::MAX,
    }
}
