//! Registers that hold one and the same constant whenever an instruction is reached: backward from
//! there to every write that may have been the last, each of which must copy that constant. Halves of a
//! register of 64 bits are no registers of their own, as in a source: what is made of them by itself is
//! not followed.

use std::collections::HashSet;

use nbcc_isa_simt::operands::Source;
use nbcc_isa_simt::{Op, PhysReg, RegClass};

use super::code::KernelCode;
use super::webs::Webs;

/// A register and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// A 32-bit register or a predicate.
    pub reg: PhysReg,
    /// What it holds.
    pub held: Held,
}

/// What a 32-bit register or a predicate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Held {
    /// These bits; 0 or 1 of a predicate.
    Bits(u32),
    /// A half of the address of a data object.
    Address {
        /// The number of the object.
        object: u32,
        /// What is added to its address.
        offset: i32,
        /// Whether it is the upper half.
        upper: bool,
    },
}

/// Instructions that are looked at for one constant. One that is further away is not found.
const STEPS: usize = 1 << 16;

/// What a 32-bit register or a predicate holds whenever `at` is reached from outside of the
/// instructions from `at` to the one before `end`; from anywhere if they are none. `before` is what
/// [`predecessors`] gives.
pub fn constant(
    code: &KernelCode<'_>,
    webs: &Webs,
    before: &[Vec<u32>],
    reg: PhysReg,
    (begin, end): (u32, u32),
) -> Option<Held> {
    let mut found = None;
    // Ways meet, going backward, where control comes from one of several places or parts: elsewhere
    // nothing is looked at twice.
    let mut seen: HashSet<(u32, PhysReg)> = HashSet::new();
    let mut steps = 0;
    let mut work = vec![(begin, reg, true)];
    while let Some((at, reg, is_first)) = work.pop() {
        steps += 1;
        if steps > STEPS {
            return None;
        }
        // Before the first instruction a register holds nothing known.
        if at == code.entry {
            return None;
        }
        let ways = &before[(at - code.entry) as usize];
        for &from in ways.iter().filter(|from| !is_first || !(begin..end).contains(*from)) {
            let source = match written(code, webs, from, reg) {
                Written::Not => Some(reg),
                Written::Constant(held) => {
                    if *found.get_or_insert(held) != held {
                        return None;
                    }
                    None
                }
                Written::Copy(source) => Some(source),
                Written::Other => return None,
            };
            // Threads that a guarded instruction is not for keep what was there.
            let kept = code.at(from).guard.map(|_| reg);
            for reg in source.into_iter().chain(kept) {
                let may_meet = ways.len() > 1 || code.at(from).is_branch();
                if !may_meet || seen.insert((from, reg)) {
                    work.push((from, reg, false));
                }
            }
        }
    }
    found
}

/// The instructions that each of a kernel may follow.
pub fn predecessors(code: &KernelCode<'_>) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); (code.end - code.entry) as usize];
    for at in code.entry..code.end {
        for to in code.successors(at) {
            before[(to - code.entry) as usize].push(at);
        }
    }
    before
}

enum Written {
    Not,
    Constant(Held),
    Copy(PhysReg),
    Other,
}

/// What an instruction does to a 32-bit register or a predicate.
fn written(code: &KernelCode<'_>, webs: &Webs, at: u32, reg: PhysReg) -> Written {
    if !code.accesses(at).1.touches(reg) {
        return Written::Not;
    }
    let half = |pair: PhysReg| reg.index - pair.index;
    let is_wide = |web: Option<u32>| web.is_some_and(|web| webs.is_wide(web));
    let op = &code.at(at).op;
    let is_half_written = is_wide(webs.written(at, reg));
    match *op {
        Op::MovWide { dst, src } => {
            Written::Copy(PhysReg::new(RegClass::Word, src.index + half(dst)))
        }
        Op::MovBits { dst, bits } => {
            Written::Constant(Held::Bits((bits.0 >> (32 * half(dst))) as u32))
        }
        Op::Addr { dst, object, offset } => {
            let upper = half(dst) == 1;
            Written::Constant(Held::Address { object, offset: offset.0, upper })
        }
        _ if is_half_written => Written::Other,
        Op::Mov { src: Source::Imm(bits), .. } => Written::Constant(Held::Bits(bits)),
        Op::Mov { src: Source::Reg(from), .. } | Op::PredMov { src: from, .. } => {
            if is_wide(webs.read(at, from)) { Written::Other } else { Written::Copy(from) }
        }
        Op::PredSet { value, .. } => Written::Constant(Held::Bits(value & 1)),
        _ => Written::Other,
    }
}
