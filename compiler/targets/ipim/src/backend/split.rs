//! Which values of a kernel need no register between their uses (`nbcc_mach::split`). Constants of the
//! control core are rematerialised by one instruction. AddrRF is the scarce file: what addresses are made
//! of lies in DataRF, one instruction away.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_isa::Instruction;
use nbcc_isa_ipim::{Inst, Machine, RESERVED_ADDR_REGS, RegClass, SimbMask};
use nbcc_mach::regalloc::{self, Allocation, Policy, RegisterFile, Slots};
use nbcc_mach::rename::Timing;
use nbcc_mach::split::{self, Split, SplitKind, Splitter};
use nbcc_mach::{Block, VReg};

use super::code::{MachFunction, RESERVED_CTRL_REGS, Recipe, Selected};
use super::regalloc::{FILES, files, transfer};
use super::times::Times;

/// Splits the live ranges of a kernel where registers limit it.
pub fn run(kernel: &mut Selected, machine: &Machine) -> Split {
    let files = files(machine, Policy::Spread, kernel.args.as_ref());
    let entries: Vec<(RegClass, u32)> =
        FILES.iter().zip(&files).map(|(&class, file)| (class, file.entries.len() as u32)).collect();
    let mut splitter = KernelSplitter {
        machine,
        sources: sources(&kernel.func),
        recipes: &mut kernel.recipes,
        runs: &kernel.runs,
        simb_mask: kernel.mask,
    };
    split::split(&mut kernel.func, &entries, &mut splitter)
}

/// Checks a split kernel against the one before: every register has an entry of its own.
///
/// # Errors
/// The first difference.
pub fn check(before: &MachFunction, kernel: &Selected, split: &Split) -> Result<(), String> {
    // Entries behind those that are fixed.
    let first = RESERVED_ADDR_REGS.max(RESERVED_CTRL_REGS) + 256;
    let Ok(count) = u16::try_from(kernel.func.vregs.len() + usize::from(first)) else {
        return Ok(());
    };
    let mut entries = SecondaryMap::new();
    for (vreg, data) in &kernel.func.vregs {
        entries[vreg] = data.fixed.unwrap_or(first + vreg.as_u32() as u16);
    }
    let allocation = Allocation {
        entries,
        used: vec![0; FILES.len()],
        spilled: 0,
        moved: 0,
        rematerialised: 0,
        coalesced: 0,
        origins: split.origins.clone(),
    };
    let file = |classes| RegisterFile {
        classes,
        bank: 0,
        entries: first..count,
        policy: Policy::Min,
        pressure: None,
    };
    let files =
        [file(&[(RegClass::Ctrl, 1)]), file(&[(RegClass::Addr, 1)]), file(&[(RegClass::Data, 1)])];
    let none = Slots { range: 0..0, unit: nbcc_isa_ipim::ATOM_BYTES };
    let moves = |inst: &Inst<VReg>| match inst.simb_mask() {
        Some(mask) if mask != kernel.mask => None,
        _ => transfer(inst, &none.range),
    };
    regalloc::check(before, &kernel.func, &allocation, &files, &none, moves)
}

/// The registers that are written once, by a copy from a vector register that is written once.
fn sources(func: &MachFunction) -> BTreeMap<VReg, VReg> {
    let mut writes: SecondaryMap<VReg, u32> = SecondaryMap::new();
    let mut sources = BTreeMap::new();
    for data in func.blocks.values().flat_map(|block| &block.insts) {
        data.inst.for_each_operand(|operand| {
            writes[*operand.reg] += u32::from(operand.role.writes());
        });
        if let Inst::MovArf { arf, drf, .. } = data.inst {
            sources.insert(arf, drf);
        }
    }
    sources.retain(|&arf, &mut drf| writes[arf] == 1 && writes[drf] == 1);
    sources
}

struct KernelSplitter<'a> {
    machine: &'a Machine,
    sources: BTreeMap<VReg, VReg>,
    recipes: &'a mut BTreeMap<VReg, Recipe>,
    runs: &'a SecondaryMap<Block, u64>,
    simb_mask: SimbMask,
}

impl Splitter<Inst<VReg>> for KernelSplitter<'_> {
    fn latency(&self, inst: &Inst<VReg>) -> u32 {
        Times(self.machine).latency(inst)
    }

    fn served(&self, inst: &Inst<VReg>) -> Option<(usize, u32)> {
        Times(self.machine).served(inst)
    }

    fn runs(&self, _: &MachFunction, block: Block) -> f64 {
        self.runs[block] as f64
    }

    fn split_kind(&self, func: &MachFunction, vreg: VReg) -> Option<SplitKind> {
        match func.vregs[vreg].class {
            _ if func.vregs[vreg].fixed.is_some() => None,
            RegClass::Ctrl => {
                let recipe = self.recipes.get(&vreg);
                matches!(recipe, Some(Recipe::Set(_))).then_some(SplitKind::Rematerialised)
            }
            RegClass::Addr => {
                Some(SplitKind::Moved { file: 2, source: self.sources.get(&vreg).copied() })
            }
            RegClass::Data => None,
        }
    }

    fn bring(
        &mut self,
        func: &mut MachFunction,
        vreg: VReg,
        home: Option<VReg>,
    ) -> (Inst<VReg>, VReg) {
        let to = func.vreg(func.vregs[vreg].class);
        let recipe = self.recipes.get(&vreg).copied();
        self.recipes.extend(recipe.map(|recipe| (to, recipe)));
        let inst = match (home, recipe) {
            (Some(drf), _) => Inst::MovArf { arf: to, drf, simb_mask: self.simb_mask },
            (None, Some(Recipe::Set(imm))) => Inst::SetiCrf { dst: to, imm },
            (None, _) => unreachable!("{vreg} has no home"),
        };
        (inst, to)
    }

    fn home(&mut self, func: &mut MachFunction, _: VReg) -> VReg {
        func.vreg(RegClass::Data)
    }

    fn put(&mut self, home: VReg, from: VReg) -> Inst<VReg> {
        Inst::MovDrf { arf: from, drf: home, simb_mask: self.simb_mask }
    }
}
