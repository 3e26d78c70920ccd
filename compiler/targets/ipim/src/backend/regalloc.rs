//! The register files of iPIM (iPIM paper, section V-C) and where values are kept that find no
//! register: in the engine's own bank, address registers through a vector register. Constants are
//! rematerialised instead. The control core's registers cannot be kept in a bank: only constants of
//! it can leave their register.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa_ipim::{ATOM_BYTES, Addr, Inst, Machine, RESERVED_ADDR_REGS, RegClass, SimbMask};
use nbcc_mach::VReg;
use nbcc_mach::regalloc::{
    self, Allocation, Home, Insertion, Policy, RegisterFile, Shortage, Slots, Spiller, Transfer,
};
use nbcc_mach::rename;

use super::code::{Args, MachFunction, RESERVED_CTRL_REGS, Recipe, Selected, copy};
use super::provenance;
use super::times::Times;
use crate::memory::BANK_RESERVED;

/// The files in the order in which they are allocated. Address registers are spilled through vector
/// registers, so these come last.
pub const FILES: [RegClass; 3] = [RegClass::Ctrl, RegClass::Addr, RegClass::Data];

/// The register files of a kernel: entries behind the reserved ones, the arguments and the address
/// to return to.
pub fn files(
    machine: &Machine,
    policy: Policy,
    args: Option<&Args>,
) -> [RegisterFile<RegClass>; 3] {
    let ctrl = args.map_or(RESERVED_CTRL_REGS, |args| args.return_entry() + 1);
    let addr = RESERVED_ADDR_REGS + args.map_or(0, |args| args.addresses);
    let registers = &machine.registers;
    let file = |classes, first, count: u32| RegisterFile {
        bank: 0,
        classes,
        entries: first..count as u16,
        policy,
        pressure: None,
    };
    [
        file(&[(RegClass::Ctrl, 1)], ctrl, registers.ctrl),
        file(&[(RegClass::Addr, 1)], addr, registers.addr),
        file(&[(RegClass::Data, 1)], 0, registers.data),
    ]
}

/// Gives every register of a kernel an entry. Spilled values go to `slots` of the bank.
///
/// # Errors
/// A register file that is too small for what has to be in it at once, or no room for spilled
/// values.
pub fn allocate(
    kernel: &mut Selected,
    machine: &Machine,
    policy: Policy,
    slots: Range<u32>,
) -> Result<Allocation, Shortage> {
    let files = files(machine, policy, kernel.args.as_ref());
    let mut spiller = BankSpiller { recipes: &kernel.recipes, simb_mask: kernel.mask, free: slots };
    regalloc::allocate(&mut kernel.func, &files, &mut spiller, true)
}

/// What the control core's registers are too few for, if they are: the first file alone.
pub fn control_shortage(kernel: &Selected, machine: &Machine, policy: Policy) -> Option<Shortage> {
    let files = files(machine, policy, kernel.args.as_ref());
    let mut spiller = BankSpiller { recipes: &kernel.recipes, simb_mask: kernel.mask, free: 0..0 };
    regalloc::allocate(&mut kernel.func.clone(), &files[..1], &mut spiller, true).err()
}

/// Gives the registers of each block those entries that have rested longest.
pub fn rename(kernel: &Selected, machine: &Machine, allocation: &mut Allocation) -> u32 {
    let files = files(machine, Policy::Spread, kernel.args.as_ref());
    rename::rename(&kernel.func, &files, &Times(machine), allocation)
}

/// Checks the registers of a kernel against its instructions before it had any.
///
/// # Errors
/// The first difference.
pub fn check(
    before: &MachFunction,
    kernel: &Selected,
    allocation: &Allocation,
    machine: &Machine,
    slots: Range<u32>,
) -> Result<(), String> {
    let files = files(machine, Policy::Min, kernel.args.as_ref());
    let slots = Slots { range: slots, unit: ATOM_BYTES };
    let transfer = |inst: &Inst<VReg>| match inst.simb_mask() {
        // What some engines do not execute moves nothing of theirs.
        Some(mask) if mask != kernel.mask => None,
        _ => transfer(inst, &slots.range),
    };
    regalloc::check(before, &kernel.func, allocation, &files, &slots, transfer)
}

/// The least number of instructions that a kernel has once it has registers: copies may go away.
pub fn least_insts(kernel: &Selected) -> usize {
    let insts = kernel.func.blocks.values().flat_map(|block| &block.insts);
    insts.filter(|inst| copy(&inst.inst).is_none()).count()
}

/// What an instruction moves. The reserved part of a bank holds, beside `slots`, what does not change
/// while a kernel runs: literals and parameters.
pub fn transfer(inst: &Inst<VReg>, slots: &Range<u32>) -> Option<Transfer<VReg>> {
    if let Some((to, from)) = copy(inst) {
        return Some(Transfer::Copy { to, from });
    }
    Some(match *inst {
        Inst::MovDrf { arf: from, drf: to, .. } => Transfer::Encode { to, from },
        Inst::MovArf { arf: to, drf: from, .. } => Transfer::Decode { to, from },
        Inst::SetiCrf { dst: to, .. } | Inst::Reset { drf: to, .. } => Transfer::Constant { to },
        Inst::LdRf { dram: Addr::Direct(address), drf: to, .. } if slots.contains(&address) => {
            Transfer::Load { to, address }
        }
        Inst::LdRf { dram: Addr::Direct(address), drf: to, .. } if address < BANK_RESERVED => {
            Transfer::Constant { to }
        }
        Inst::StRf { dram: Addr::Direct(address), drf: from, .. } => {
            Transfer::Store { from, address }
        }
        _ => return None,
    })
}

/// Spills to the bank of each engine.
struct BankSpiller<'a> {
    recipes: &'a BTreeMap<VReg, Recipe>,
    simb_mask: SimbMask,
    /// Addresses that are free; taken from the end.
    free: Range<u32>,
}

impl Spiller<Inst<VReg>> for BankSpiller<'_> {
    type Recipe = Recipe;

    fn copy(&self, inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
        copy(inst)
    }

    /// A constant stays by itself, so that it can be rematerialised.
    fn coalesces(&self, _: VReg, from: VReg) -> bool {
        !self.recipes.contains_key(&from)
    }

    fn recipe(&self, vreg: VReg) -> Option<Recipe> {
        self.recipes.get(&vreg).copied()
    }

    fn spills(&self, func: &MachFunction, vreg: VReg) -> bool {
        func.vregs[vreg].class != RegClass::Ctrl || self.recipes.contains_key(&vreg)
    }

    fn home(&mut self, _: &mut MachFunction, _: VReg) -> Option<Home<Recipe>> {
        let slot = self.free.end.checked_sub(ATOM_BYTES)?;
        self.free.end = slot;
        (slot >= self.free.start).then_some(Home::Memory(slot))
    }

    fn reload(&self, home: Home<Recipe>, to: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        let simb_mask = self.simb_mask;
        let (address, access) = match home {
            Home::Recipe(Recipe::Set(imm)) => return out.push(Inst::SetiCrf { dst: to, imm }),
            Home::Recipe(Recipe::Zero) => return out.push(Inst::Reset { drf: to, simb_mask }),
            Home::Recipe(Recipe::Pool(address)) => (address, provenance::invariant()),
            Home::Memory(slot) => (slot, provenance::slot(slot)),
            Home::Register(_) => unreachable!("nothing is kept in registers of another file"),
        };
        let dram = Addr::Direct(address);
        if out.class(to) == RegClass::Data {
            return out.push_access(Inst::LdRf { dram, drf: to, simb_mask }, access);
        }
        let drf = out.scratch(RegClass::Data);
        out.push_access(Inst::LdRf { dram, drf, simb_mask }, access);
        out.push(Inst::MovArf { arf: to, drf, simb_mask });
    }

    fn store(&self, home: Home<Recipe>, from: VReg, out: &mut Insertion<'_, Inst<VReg>>) {
        let Home::Memory(slot) = home else { unreachable!("constants are written once") };
        let simb_mask = self.simb_mask;
        let mut drf = from;
        if out.class(from) == RegClass::Addr {
            drf = out.scratch(RegClass::Data);
            out.push(Inst::MovDrf { arf: from, drf, simb_mask });
        }
        let inst = Inst::StRf { dram: Addr::Direct(slot), drf, simb_mask };
        out.push_access(inst, provenance::slot(slot));
    }
}
