//! The registers of an instruction by their numbers in scoreboards: predicates first, then 32-bit
//! registers, of which a 64-bit one takes two.

use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::Base;
use nbcc_isa_simt::{Inst, PREDICATES, PhysReg, RegClass};

/// What an instruction reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Registers that it reads besides the guard: those of the address first.
    pub sources: Box<[u16]>,
    /// How many of them make the address.
    pub address: usize,
    /// The register of the guard.
    pub guard: Option<u16>,
    /// Registers that it waits for: sources and guard.
    pub waits: Box<[u16]>,
    /// Registers that it writes.
    pub destinations: Box<[u16]>,
}

/// The number of a register: predicates first.
pub fn number(class: RegClass, index: u16) -> u16 {
    if class == RegClass::Pred { index } else { PREDICATES + index }
}

/// Whether that number is a predicate's.
pub fn is_predicate(register: u16) -> bool {
    register < PREDICATES
}

/// Registers of a scoreboard for threads that have so many 32-bit registers.
pub fn count(registers: u32) -> usize {
    usize::from(PREDICATES) + registers as usize
}

fn push(registers: &mut Vec<u16>, reg: &PhysReg) {
    let width = if reg.class == RegClass::Wide { 2 } else { 1 };
    for part in 0..width {
        let register = number(reg.class, reg.index + part);
        if !registers.contains(&register) {
            registers.push(register);
        }
    }
}

/// Times that a file of `banks` banks, each of which gives a register of a warp at a time, is asked for
/// these registers; one at least.
pub fn reads(registers: &[u16], banks: u32) -> u32 {
    let mut asked = [0_u32; 64];
    let banks = (banks as usize).clamp(1, asked.len());
    for &register in registers.iter().filter(|register| !is_predicate(**register)) {
        asked[usize::from(register - PREDICATES) % banks] += 1;
    }
    asked.into_iter().max().unwrap_or(0).max(1)
}

impl Operands {
    /// Those of an instruction.
    pub fn new(inst: &Inst<PhysReg>) -> Operands {
        let (mut sources, mut others, mut destinations) = (Vec::new(), Vec::new(), Vec::new());
        if let Some((Base::Reg(base), _)) = inst.op.address() {
            push(&mut sources, base);
        }
        inst.op.for_each_operand(|operand| {
            if operand.role.reads() {
                push(&mut others, operand.reg);
            }
            if operand.role.writes() {
                push(&mut destinations, operand.reg);
            }
        });
        let address = sources.len();
        others.retain(|register| !sources[..address].contains(register));
        sources.append(&mut others);
        let guard = inst.guard.as_ref().map(|guard| number(RegClass::Pred, guard.reg.index));
        let mut waits = sources.clone();
        waits.extend(guard.filter(|guard| !sources.contains(guard)));
        Operands {
            sources: sources.into(),
            address,
            guard,
            waits: waits.into(),
            destinations: destinations.into(),
        }
    }

    /// The registers that make the address.
    pub fn addresses(&self) -> &[u16] {
        &self.sources[..self.address]
    }

    /// The registers that it reads besides.
    pub fn values(&self) -> &[u16] {
        &self.sources[self.address..]
    }

    /// 32-bit registers of a warp that it reads and that it writes.
    pub fn lines(&self) -> [u64; 2] {
        let words = |registers: &[u16]| registers.iter().filter(|r| !is_predicate(**r)).count();
        [words(&self.sources) as u64, words(&self.destinations) as u64]
    }
}
