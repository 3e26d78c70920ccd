//! The registers of the core, and where values are kept that find none: in the frame. Constants of
//! one instruction, addresses and arguments are made again instead.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa_sdpnm::core::memory::BIAS;
use nbcc_isa_sdpnm::core::program::{FRAME_POINTER, REGISTERS};
use nbcc_isa_sdpnm::core::{Class, I12, Inst};
use nbcc_mach::VReg;
use nbcc_mach::regalloc::{
    self, Allocation, Home, Insertion, Policy, Pressure, RegisterFile, Shortage, Slots, Spiller,
    Transfer,
};

use super::MachFunction;
use super::select::{Recipe, Selected, frame_offset};

/// The register file: all but those that are zero, lead back and point to the frame.
fn file() -> RegisterFile<Class> {
    let entries = FRAME_POINTER + 1..REGISTERS;
    let count = entries.len() as u32;
    RegisterFile {
        bank: 0,
        classes: &[(Class::X, 1)],
        entries,
        policy: Policy::Min,
        // Instructions that reload and store need some of their own.
        pressure: Some(Pressure { limit: count, relieved: count - 3 }),
    }
}

/// Gives every register of a function an entry. Spilled values go to these places of the frame.
///
/// # Errors
/// No room for spilled values.
pub fn allocate(
    selected: &mut Selected,
    slots: &Range<u32>,
    coalescing: bool,
) -> Result<Allocation, Shortage> {
    let mut spiller = FrameSpiller {
        recipes: selected.recipes.clone(),
        zero: selected.zero,
        frame: selected.frame,
        free: slots.clone(),
    };
    regalloc::allocate(&mut selected.func, &[file()], &mut spiller, coalescing)
}

/// Checks the registers of a function against its instructions before it had any. The frame holds
/// spilled values in `slots`, and arguments before them.
///
/// # Errors
/// The first difference.
pub fn check(
    before: &MachFunction,
    selected: &Selected,
    allocation: &Allocation,
    slots: &Range<u32>,
) -> Result<(), String> {
    let places = Slots { range: slots.clone(), unit: 4 };
    let transfer = |inst: &Inst<VReg>| transfer(inst, selected, slots);
    regalloc::check(before, &selected.func, allocation, &[file()], &places, transfer)
}

/// Target and source of an instruction that only copies.
fn copy(inst: &Inst<VReg>, zero: VReg) -> Option<(VReg, VReg)> {
    match *inst {
        Inst::Addi { dst, a, imm: I12(0) } if a != zero => Some((dst, a)),
        _ => None,
    }
}

/// What an instruction moves.
fn transfer(inst: &Inst<VReg>, selected: &Selected, slots: &Range<u32>) -> Option<Transfer<VReg>> {
    if let Some((to, from)) = copy(inst, selected.zero) {
        return Some(Transfer::Copy { to, from });
    }
    let place = |offset: I12| (offset.0 + BIAS as i32) as u32;
    match *inst {
        Inst::Addi { dst: to, a, .. } if a == selected.zero => Some(Transfer::Constant { to }),
        Inst::Lui { dst: to, .. } => Some(Transfer::Constant { to }),
        Inst::Lw { dst: to, offset, base } if base == selected.frame => {
            match slots.contains(&place(offset)) {
                true => Some(Transfer::Load { to, address: place(offset) }),
                // Arguments stay as they are.
                false => Some(Transfer::Constant { to }),
            }
        }
        Inst::Sw { src: from, offset, base }
            if base == selected.frame && slots.contains(&place(offset)) =>
        {
            Some(Transfer::Store { from, address: place(offset) })
        }
        _ => None,
    }
}

/// Spills to the frame.
struct FrameSpiller {
    recipes: BTreeMap<VReg, Recipe>,
    zero: VReg,
    frame: VReg,
    free: Range<u32>,
}

impl Spiller<Inst<VReg>> for FrameSpiller {
    type Recipe = Recipe;

    fn copy(&self, inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
        copy(inst, self.zero)
    }

    /// What can be made again stays by itself.
    fn coalesces(&self, to: VReg, from: VReg) -> bool {
        !self.recipes.contains_key(&from) && !self.recipes.contains_key(&to)
    }

    fn recipe(&self, vreg: VReg) -> Option<Recipe> {
        self.recipes.get(&vreg).copied()
    }

    fn weight(&self, vreg: VReg) -> f64 {
        match self.recipes.get(&vreg) {
            Some(Recipe::Small(_) | Recipe::Upper(_)) => 0.5,
            _ => 1.0,
        }
    }

    fn home(&mut self, _: &mut MachFunction, _: VReg) -> Option<Home<Recipe>> {
        let slot = self.free.start;
        self.free.start += 4;
        (self.free.start <= self.free.end).then_some(Home::Memory(slot))
    }

    fn reload(&self, home: Home<Recipe>, to: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        out.push(match home {
            Home::Recipe(Recipe::Small(value)) => {
                Inst::Addi { dst: to, a: self.zero, imm: I12(value) }
            }
            Home::Recipe(Recipe::Upper(upper)) => Inst::Lui { dst: to, upper },
            Home::Recipe(Recipe::Frame(offset)) | Home::Memory(offset) => {
                Inst::Lw { dst: to, offset: frame_offset(offset), base: self.frame }
            }
            Home::Register(_) => unreachable!("there is one register file"),
        });
    }

    fn store(&self, home: Home<Recipe>, from: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        let Home::Memory(slot) = home else { unreachable!("constants are written once") };
        out.push(Inst::Sw { src: from, offset: frame_offset(slot), base: self.frame });
    }
}
