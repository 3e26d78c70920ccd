//! Where an instruction executes and where its operands are read and written: far, in a subcore on
//! the base die, or near, in the unit beside the banks. These are the first and second of the three
//! steps of section IV-B1 of the paper; compiler and simulator take them from here.

use std::fmt;

use nbcc_isa::{Instruction, Operand, Role};
use nbcc_isa_simt::operands::{Base, Space};
use nbcc_isa_simt::{Category, Hint, Inst, Op, RegClass, Unit};

use crate::Machine;

/// A side of a core. Its text is what stands behind a value in dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The subcore on the base die.
    Far,
    /// The near-bank unit.
    Near,
}

impl Side {
    /// Both sides.
    pub const ALL: [Side; 2] = [Side::Far, Side::Near];

    /// The name, as in a hint.
    pub fn name(self) -> &'static str {
        match self {
            Side::Far => "far",
            Side::Near => "near",
        }
    }

    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::Far => Side::Near,
            Side::Near => Side::Far,
        }
    }

    /// The hint that asks for this side.
    pub fn hint(self) -> Hint {
        match self {
            Side::Far => Hint::Far,
            Side::Near => Hint::Near,
        }
    }

    /// The side that a hint asks for.
    pub fn of(hint: Hint) -> Option<Side> {
        match hint {
            Hint::None => None,
            Hint::Far => Some(Side::Far),
            Hint::Near => Some(Side::Near),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the hardware says of an instruction by its operation alone: the first policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It executes there, with all operands.
    At(Side),
    /// Its address is read far, by the load-store unit; what it loads and stores is near.
    Split,
    /// Its address is read far; what it loads and stores is where the hint says, near without one.
    SplitByHint,
    /// The hint decides, then where its sources are.
    Free,
}

/// What a machine has beside its banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// Units that compute; without them everything executes far.
    pub compute: bool,
    /// Shared memory.
    pub shared: bool,
}

impl Near {
    /// What this machine has.
    pub fn of(machine: &Machine) -> Near {
        Near { compute: true, shared: machine.memory.near_shared }
    }
}

/// The rule of an instruction.
pub fn rule<R>(inst: &Inst<R>, near: Near) -> Rule {
    if !near.compute {
        return Rule::At(Side::Far);
    }
    match inst.op.unit() {
        Unit::Control | Unit::Sync | Unit::Sfu | Unit::Host | Unit::Lanes => Rule::At(Side::Far),
        Unit::Lsu => match inst.op.space() {
            Some(Space::Shared) if near.shared => Rule::At(Side::Near),
            Some(Space::Shared | Space::Param) => Rule::At(Side::Far),
            _ if inst.category() == Category::Atomic => Rule::At(Side::Far),
            Some(Space::Local | Space::Const) => Rule::SplitByHint,
            _ => Rule::Split,
        },
        Unit::Alu => match inst.op {
            Op::ToGeneric { .. } | Op::FromGeneric { .. } | Op::IsSpace { .. } => {
                Rule::At(Side::Far)
            }
            _ => Rule::Free,
        },
    }
}

/// The side of an instruction by its rule and its hint: where its values are, for an access that
/// has its address on another. `None`: the track table decides.
pub fn side<R>(inst: &Inst<R>, near: Near) -> Option<Side> {
    match rule(inst, near) {
        Rule::At(side) => Some(side),
        Rule::Split => Some(Side::Near),
        Rule::SplitByHint => Some(Side::of(inst.hint).unwrap_or(Side::Near)),
        Rule::Free => Side::of(inst.hint),
    }
}

/// Calls `f` with each operand and the side at which it is read or written, where the instruction
/// is at `side`. The guard is read far, where instructions are issued.
pub fn for_each_operand<'a, R>(
    inst: &'a Inst<R>,
    side: Side,
    near: Near,
    mut f: impl FnMut(Operand<RegClass, &'a R>, Side),
) {
    let split = matches!(rule(inst, near), Rule::Split | Rule::SplitByHint);
    let mut guard = inst.guard.is_some();
    let mut address = split && matches!(inst.op.address(), Some((Base::Reg(_), _)));
    inst.for_each_operand(|operand| {
        if std::mem::take(&mut guard) {
            return f(operand, Side::Far);
        }
        // Of what an access only reads, the address comes first.
        if address && operand.role == Role::Use {
            address = false;
            return f(operand, Side::Far);
        }
        f(operand, side);
    });
}

/// The sides on which an instruction may be: one where rule or hint decide. Where neither does, it
/// may be far, and near if it reads registers and all of them `may_be_near` (the third policy).
pub fn possible_sides<R>(
    inst: &Inst<R>,
    near: Near,
    may_be_near: impl Fn(&R) -> bool,
) -> &'static [Side] {
    match side(inst, near) {
        Some(Side::Far) => &[Side::Far],
        Some(Side::Near) => &[Side::Near],
        None => {
            let (mut reads, mut all) = (0, true);
            let mut guard = inst.guard.is_some();
            inst.for_each_operand(|operand| {
                if !std::mem::take(&mut guard) && operand.role.reads() {
                    reads += 1;
                    all &= operand.class != RegClass::Pred && may_be_near(operand.reg);
                }
            });
            if reads > 0 && all { &Side::ALL } else { &[Side::Far] }
        }
    }
}

/// Where registers may come to be: for each instruction its operands with the sides at which they
/// are read or written, found by going over the instructions until nothing changes. `mark` says
/// whether a register was not known to be at that side.
pub fn spread<'a, R: 'a>(
    insts: impl Iterator<Item = &'a Inst<R>> + Clone,
    near: Near,
    state: &mut impl Spread<R>,
) {
    loop {
        let mut changed = false;
        for inst in insts.clone() {
            for &side in possible_sides(inst, near, |reg| state.is_near(reg)) {
                for_each_operand(inst, side, near, |operand, side| {
                    changed |= state.mark(operand.class, operand.reg, side);
                });
            }
        }
        if !changed {
            return;
        }
    }
}

/// What [`spread`] keeps.
pub trait Spread<R> {
    /// Whether a register may be near.
    fn is_near(&self, reg: &R) -> bool;
    /// A register may be there; whether that is new.
    fn mark(&mut self, class: RegClass, reg: &R, side: Side) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbcc_isa_simt::PhysReg;
    use nbcc_isa_simt::operands::{Access, Offset, Order};

    const BOTH: Near = Near { compute: true, shared: true };

    fn reg(class: RegClass, index: u16) -> PhysReg {
        PhysReg::new(class, index)
    }

    fn places(inst: &Inst<PhysReg>, near: Near) -> Vec<(u16, Side)> {
        let mut found = Vec::new();
        let at = side(inst, near).expect("a side");
        for_each_operand(inst, at, near, |operand, side| {
            found.push((operand.reg.index, side));
        });
        found
    }

    #[test]
    fn addresses_are_far_and_values_near() {
        let (access, order, offset) = (Access::B32, Order::Weak, Offset(0));
        let base = Base::Reg(reg(RegClass::Wide, 4));
        let load =
            |space| Op::Ld { space, access, order, dst: reg(RegClass::Word, 1), base, offset };
        let store =
            |space| Op::St { space, access, order, src: reg(RegClass::Word, 1), base, offset };
        let (near, far) = (Side::Near, Side::Far);
        for space in [Space::Global, Space::Generic] {
            assert_eq!(places(&load(space).into(), BOTH), [(1, near), (4, far)]);
            assert_eq!(places(&store(space).into(), BOTH), [(4, far), (1, near)]);
        }
        assert_eq!(places(&load(Space::Shared).into(), BOTH), [(1, near), (4, near)]);
        assert_eq!(
            places(&load(Space::Shared).into(), Near { shared: false, ..BOTH }),
            [(1, far), (4, far)]
        );
        let mut local: Inst<PhysReg> = store(Space::Local).into();
        assert_eq!(places(&local, BOTH), [(4, far), (1, near)]);
        local.hint = Hint::Far;
        assert_eq!(places(&local, BOTH), [(4, far), (1, far)]);
    }

    #[test]
    fn guards_are_read_far() {
        let op = Op::Mov {
            dst: reg(RegClass::Word, 1),
            src: nbcc_isa_simt::operands::Source::Reg(reg(RegClass::Word, 2)),
        };
        let mut inst = Inst::guarded(op, reg(RegClass::Pred, 3), false);
        assert_eq!(side(&inst, BOTH), None);
        inst.hint = Hint::Near;
        assert_eq!(places(&inst, BOTH), [(3, Side::Far), (1, Side::Near), (2, Side::Near)]);
    }
}
