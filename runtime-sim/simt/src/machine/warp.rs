//! A warp: registers of 32 threads, and where they are.

use crate::paths::Paths;
use crate::sparse::Sparse;
use crate::{LANES, Mask, Words};
use nbcc_isa_simt::PREDICATES;
use nbcc_isa_simt::operands::{Base, Source};
use nbcc_isa_simt::{Guard, Kernel, PhysReg, RegClass};

use crate::machine::pending::Pending;

/// A 64-bit register of a warp.
pub type Wides = [u64; LANES];

/// All lanes.
pub const ALL: Mask = Mask::MAX;

/// Registers that one access may fill.
pub const MAX_REGISTERS: usize = 8;

/// How far the local memories of two threads are from each other: no access straddles pages.
pub fn local_stride(bytes: u32) -> u64 {
    u64::from(bytes).next_multiple_of(4 * MAX_REGISTERS as u64)
}

/// The local memories of a warp's threads, each of so many bytes.
fn local_memory(bytes: u32) -> Sparse {
    Sparse::new(local_stride(bytes) * LANES as u64)
}

/// The state of a warp.
#[derive(Debug)]
pub struct Warp {
    /// Its number in its block.
    pub number: usize,
    /// Where its threads are.
    pub paths: Paths,
    /// Lanes that wait for others of the warp.
    pub pending: Vec<Pending>,
    /// Local memory, one thread after another.
    pub local: Sparse,
    /// Whether it has read what other threads may write: it may wait for them.
    pub polls: bool,
    words: Vec<Words>,
    predicates: [Mask; PREDICATES as usize],
}

impl Warp {
    /// A warp at the entry of a kernel, with its first `threads` lanes.
    pub fn new(number: usize, kernel: &Kernel, threads: u32) -> Warp {
        let mask = if threads >= 32 { ALL } else { (1 << threads) - 1 };
        Warp {
            number,
            paths: Paths::new(kernel.entry, mask),
            pending: Vec::new(),
            local: local_memory(kernel.local_bytes),
            polls: false,
            words: vec![[0; LANES]; kernel.registers as usize],
            predicates: [0; PREDICATES as usize],
        }
    }

    /// A warp that runs a part of this one apart from it: the lanes of `mask` at `pc`. Its registers hold
    /// what nobody should rely on, its local memory is still to be moved.
    pub fn visitor(&self, pc: u32, mask: Mask) -> Warp {
        /// Neither a small number nor an address.
        const NOTHING: u32 = 0xdead_beef;
        Warp {
            number: self.number,
            paths: Paths::new(pc, mask),
            pending: Vec::new(),
            local: Sparse::default(),
            polls: false,
            words: vec![[NOTHING; LANES]; self.words.len()],
            predicates: [NOTHING; PREDICATES as usize],
        }
    }

    /// Takes a 32-bit register or a predicate from a warp of the same kernel, in the lanes of `mask`.
    pub fn take_register(&mut self, from: &Warp, reg: PhysReg, mask: Mask) {
        match reg.class {
            RegClass::Pred => self.set_predicate(reg, mask, from.predicate(reg)),
            RegClass::Word | RegClass::Wide => self.set_word(reg, mask, from.word(reg)),
        }
    }

    /// The lanes of `mask` for which a guard holds.
    #[inline(always)]
    pub fn guarded(&self, guard: &Option<Guard<PhysReg>>, mask: Mask) -> Mask {
        match guard {
            None => mask,
            Some(guard) => {
                let holds = self.predicates[guard.reg.index as usize];
                mask & if guard.negated { !holds } else { holds }
            }
        }
    }

    /// A 32-bit register.
    #[inline(always)]
    pub fn word(&self, reg: PhysReg) -> &Words {
        &self.words[reg.index as usize]
    }

    /// A number or a 32-bit register.
    #[inline(always)]
    pub fn source(&self, source: &Source<PhysReg>) -> Words {
        match source {
            Source::Imm(value) => [*value; LANES],
            Source::Reg(reg) => *self.word(*reg),
        }
    }

    /// A 64-bit register.
    #[inline(always)]
    pub fn wide(&self, reg: PhysReg) -> Wides {
        let index = reg.index as usize;
        let (low, high) = (&self.words[index], &self.words[index + 1]);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        }
        out
    }

    /// A 64-bit register, or a number that is sign-extended.
    #[inline(always)]
    pub fn wide_source(&self, source: &Source<PhysReg>) -> Wides {
        match source {
            Source::Imm(value) => [*value as i32 as i64 as u64; LANES],
            Source::Reg(reg) => self.wide(*reg),
        }
    }

    /// A binary64, or the upper half of one.
    #[inline(always)]
    pub fn double_source(&self, source: &Source<PhysReg>) -> Wides {
        match source {
            Source::Imm(value) => [u64::from(*value) << 32; LANES],
            Source::Reg(reg) => self.wide(*reg),
        }
    }

    /// The addresses of an access.
    #[inline(always)]
    pub fn addresses(&self, base: &Base<PhysReg>, offset: i32) -> Wides {
        let offset = i64::from(offset) as u64;
        let mut out = match base {
            Base::Imm(value) => [u64::from(*value); LANES],
            Base::Reg(reg) => self.wide(*reg),
        };
        for address in &mut out {
            *address = address.wrapping_add(offset);
        }
        out
    }

    /// A predicate.
    #[inline(always)]
    pub fn predicate(&self, reg: PhysReg) -> Mask {
        self.predicates[reg.index as usize]
    }

    /// Sets a 32-bit register in the lanes of `mask`.
    #[inline(always)]
    pub fn set_word(&mut self, reg: PhysReg, mask: Mask, value: &Words) {
        write_lanes(&mut self.words[reg.index as usize], mask, value);
    }

    /// Sets a 64-bit register in the lanes of `mask`.
    #[inline(always)]
    pub fn set_wide(&mut self, reg: PhysReg, mask: Mask, value: &Wides) {
        let mut low = [0; LANES];
        let mut high = [0; LANES];
        for lane in 0..LANES {
            low[lane] = value[lane] as u32;
            high[lane] = (value[lane] >> 32) as u32;
        }
        let index = reg.index as usize;
        write_lanes(&mut self.words[index], mask, &low);
        write_lanes(&mut self.words[index + 1], mask, &high);
    }

    /// Sets a predicate in the lanes of `mask`.
    #[inline(always)]
    pub fn set_predicate(&mut self, reg: PhysReg, mask: Mask, value: Mask) {
        let old = &mut self.predicates[reg.index as usize];
        *old = *old & !mask | value & mask;
    }
}

#[inline(always)]
fn write_lanes(into: &mut Words, mask: Mask, value: &Words) {
    if mask == ALL {
        *into = *value;
        return;
    }
    for lane in 0..LANES {
        let take = (mask >> lane & 1).wrapping_neg();
        into[lane] = into[lane] & !take | value[lane] & take;
    }
}
