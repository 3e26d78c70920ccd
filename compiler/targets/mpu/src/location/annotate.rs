//! Location annotation: Algorithm 1 of the paper (section V-B). Every register gets a label, near,
//! far or both, first by the roles that loads, stores and branches give it, then backward from what
//! is computed to what it is computed from; instructions follow their destinations.
//!
//! Where this differs from the pseudo-code as printed, and why:
//! - A store's address is far and its value near, as the text of the section has it; the pseudo-code
//!   calls the address a destination.
//! - Predicates are far, which the text says and the pseudo-code leaves out.
//! - A label that is not known does not spread: the comparison of the pseudo-code would make every
//!   source of an unlabelled destination both. The text speaks of known destinations only.
//! - Labels join (unknown, then near or far, then both) until nothing changes, so that the result does
//!   not depend on the order of instructions, as it does where the first label wins.
//! - Loads, stores and branches keep what their roles gave: a loaded value says nothing of its address.
//! - An instruction whose destination is both or unknown gets no hint: the hardware decides by where
//!   its sources are (its third policy). The pseudo-code gives it a label that no hint can say.
//! - Where shared memory is far, so are its addresses and values.

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;
use nbcc_isa_mpu::location::{Near, Rule, Side, for_each_operand, rule};
use nbcc_isa_simt::{Category, Hint, Inst, RegClass, Unit};
use nbcc_mach::VReg;
use nbcc_simt::backend::select::MachFunction;

use super::model::side_of;

/// What is known of where a register is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// Nothing.
    #[default]
    Unknown,
    /// Near the banks.
    Near,
    /// In the subcore.
    Far,
    /// On both sides.
    Both,
}

impl Label {
    /// What is known of something of which both labels hold.
    fn join(self, other: Label) -> Label {
        match (self, other) {
            (Label::Unknown, label) | (label, Label::Unknown) => label,
            _ if self == other => self,
            _ => Label::Both,
        }
    }

    fn of(side: Side) -> Label {
        match side {
            Side::Near => Label::Near,
            Side::Far => Label::Far,
        }
    }
}

/// The labels of registers.
pub type Labels = SecondaryMap<VReg, Label>;

/// Labels every register of a function.
pub fn label(func: &MachFunction, near: Near) -> Labels {
    let mut labels = Labels::new();
    let insts = || func.blocks.values().flat_map(|data| &data.insts).map(|data| &data.inst);
    for inst in insts() {
        seed(inst, near, &mut labels);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for data in func.blocks.values().rev() {
            for inst in data.insts.iter().rev().map(|data| &data.inst) {
                changed |= spread(inst, &mut labels);
            }
        }
    }
    labels
}

/// The labels that the role of an instruction gives.
fn seed(inst: &Inst<VReg>, near: Near, labels: &mut Labels) {
    let control = inst.op.unit() == Unit::Control;
    let rule = rule(inst, near);
    let atomic = inst.category() == Category::Atomic;
    let access = inst.op.unit() == Unit::Lsu && (atomic || rule != Rule::At(Side::Far));
    let shared = inst.op.space() == Some(nbcc_isa_simt::operands::Space::Shared);
    let by_role = control || access || shared;
    let at = side_of(rule, Side::Near);
    for_each_operand(inst, at, near, |operand, side| {
        let value = rule == Rule::SplitByHint && side == at;
        if operand.class == RegClass::Pred || by_role && !value {
            let label = &mut labels[*operand.reg];
            let side = if operand.class == RegClass::Pred { Side::Far } else { side };
            *label = label.join(Label::of(side));
        }
    });
}

/// Labels the sources of an instruction as its destinations; whether that was new.
fn spread(inst: &Inst<VReg>, labels: &mut Labels) -> bool {
    if matches!(inst.op.unit(), Unit::Lsu | Unit::Control) {
        return false;
    }
    let label = of_destinations(inst, labels);
    if label == Label::Unknown {
        return false;
    }
    let mut changed = false;
    let mut guard = inst.guard.is_some();
    inst.for_each_operand(|operand| {
        if !std::mem::take(&mut guard) && operand.role.reads() {
            let known = &mut labels[*operand.reg];
            let joined = known.join(label);
            changed |= std::mem::replace(known, joined) != joined;
        }
    });
    changed
}

fn of_destinations(inst: &Inst<VReg>, labels: &Labels) -> Label {
    let mut label = Label::Unknown;
    inst.for_each_operand(|operand| {
        if operand.role.writes() {
            label = label.join(labels[*operand.reg]);
        }
    });
    label
}

/// The hint of an instruction whose side is to be chosen: that of its destinations or, of a store,
/// of its values.
pub fn hint(inst: &Inst<VReg>, near: Near, labels: &Labels) -> Hint {
    let mut label = of_destinations(inst, labels);
    if rule(inst, near) == Rule::SplitByHint {
        for_each_operand(inst, Side::Near, near, |operand, side| {
            if side == Side::Near {
                label = label.join(labels[*operand.reg]);
            }
        });
    }
    match label {
        Label::Near => Hint::Near,
        Label::Far => Hint::Far,
        Label::Unknown | Label::Both => Hint::None,
    }
}
