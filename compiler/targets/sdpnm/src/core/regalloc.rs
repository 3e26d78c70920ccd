//! The registers of the core, and where values are kept that find none: in the frame, behind its
//! first page by way of a register with the address. Constants of one instruction, addresses and
//! arguments are rematerialised instead.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa_sdpnm::core::memory::{BIAS, PAGE};
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

/// Gives every register of a function an entry. Spilled values go to the places of `slots` in the
/// frame, which begins at `address`; the end of those that are taken.
///
/// # Errors
/// No room for spilled values.
pub fn allocate(
    selected: &mut Selected,
    address: u32,
    slots: &Range<u32>,
    coalescing: bool,
) -> Result<(Allocation, u32), Shortage> {
    let mut spiller = FrameSpiller {
        recipes: selected.recipes.clone(),
        zero: selected.zero,
        frame: selected.frame,
        address,
        free: slots.clone(),
    };
    let done = regalloc::allocate(&mut selected.func, &[file()], &mut spiller, coalescing)?;
    Ok((done, spiller.free.start))
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
    address: u32,
    slots: &Range<u32>,
) -> Result<(), String> {
    let places = Slots { range: slots.clone(), unit: 4 };
    let pages = pages(&selected.func);
    let transfer = |inst: &Inst<VReg>| transfer(inst, selected, &pages, address, slots);
    regalloc::check(before, &selected.func, allocation, &[file()], &places, transfer)
}

/// Target and source of an instruction that only copies.
fn copy(inst: &Inst<VReg>, zero: VReg) -> Option<(VReg, VReg)> {
    match *inst {
        Inst::Addi { dst, a, imm: I12(0) } if a != zero => Some((dst, a)),
        _ => None,
    }
}

/// What `lui` puts into registers that nothing else writes.
fn pages(func: &MachFunction) -> BTreeMap<VReg, Option<u32>> {
    let mut pages = BTreeMap::new();
    for data in func.blocks.values().flat_map(|block| &block.insts) {
        for made in MachFunction::uses_and_defs(&data.inst).1 {
            let page = match data.inst {
                Inst::Lui { upper, .. } => Some(upper << 12),
                _ => None,
            };
            let known = pages.entry(made).or_insert(page);
            *known = known.filter(|known| page == Some(*known));
        }
    }
    pages
}

/// What an instruction moves, by places in the frame.
fn transfer(
    inst: &Inst<VReg>,
    selected: &Selected,
    pages: &BTreeMap<VReg, Option<u32>>,
    address: u32,
    slots: &Range<u32>,
) -> Option<Transfer<VReg>> {
    if let Some((to, from)) = copy(inst, selected.zero) {
        return Some(Transfer::Copy { to, from });
    }
    let place = |base: VReg, offset: I12| {
        if base == selected.frame {
            return Some((offset.0 + BIAS as i32) as u32);
        }
        let page = pages.get(&base).copied().flatten()?;
        page.wrapping_add(offset.0 as u32).checked_sub(address)
    };
    let slot = |base, offset| place(base, offset).filter(|place| slots.contains(place));
    match *inst {
        Inst::Addi { dst: to, a, .. } if a == selected.zero => Some(Transfer::Constant { to }),
        Inst::Lui { dst: to, .. } => Some(Transfer::Constant { to }),
        Inst::Lw { dst: to, offset, base } => match slot(base, offset) {
            Some(address) => Some(Transfer::Load { to, address }),
            // Arguments stay as they are.
            None => (base == selected.frame).then_some(Transfer::Constant { to }),
        },
        Inst::Sw { src: from, offset, base } => {
            slot(base, offset).map(|address| Transfer::Store { from, address })
        }
        _ => None,
    }
}

/// Spills to the frame.
struct FrameSpiller {
    recipes: BTreeMap<VReg, Recipe>,
    zero: VReg,
    frame: VReg,
    /// The address of the frame.
    address: u32,
    free: Range<u32>,
}

impl FrameSpiller {
    /// A register and an offset that reach a place in the frame.
    fn reach(&self, place: u32, out: &mut Insertion<'_, Inst<VReg>>) -> (VReg, I12) {
        if place < PAGE {
            return (self.frame, frame_offset(place));
        }
        let address = self.address + place;
        let upper = (address + PAGE / 2) / PAGE;
        let base = out.scratch(Class::X);
        out.push(Inst::Lui { dst: base, upper });
        (base, I12(address.wrapping_sub(upper * PAGE) as i32))
    }
}

impl Spiller<Inst<VReg>> for FrameSpiller {
    type Recipe = Recipe;

    fn copy(&self, inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
        copy(inst, self.zero)
    }

    /// What can be rematerialised stays by itself.
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
        let inst = match home {
            Home::Recipe(Recipe::Small(value)) => {
                Inst::Addi { dst: to, a: self.zero, imm: I12(value) }
            }
            Home::Recipe(Recipe::Upper(upper)) => Inst::Lui { dst: to, upper },
            Home::Recipe(Recipe::Frame(offset)) | Home::Memory(offset) => {
                let (base, offset) = self.reach(offset, out);
                Inst::Lw { dst: to, offset, base }
            }
            Home::Register(_) => unreachable!("there is one register file"),
        };
        out.push(inst);
    }

    fn store(&self, home: Home<Recipe>, from: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        let Home::Memory(slot) = home else { unreachable!("constants are written once") };
        let (base, offset) = self.reach(slot, out);
        out.push(Inst::Sw { src: from, offset, base });
    }
}
