//! Kernels in instructions: over virtual registers, with what allocation and emission need to know
//! beside them, and the constants of a program.

use std::collections::{BTreeMap, HashMap};

use cranelift_entity::SecondaryMap;
use nbcc_isa::Imm;
use nbcc_isa_ipim::{
    ATOM_BYTES, CompOp, Inst, IntOp, Mode, RESERVED_ADDR_REGS, RegClass, SimbMask, VecMask,
};
use nbcc_mach::regalloc::Allocation;
use nbcc_mach::schedule::Orders;
use nbcc_mach::split::Split;
use nbcc_mach::{Block, VReg};

/// Control registers that hold the place of the vault.
pub const RESERVED_CTRL_REGS: u16 = 4;

/// A kernel over virtual registers.
pub type MachFunction = nbcc_mach::Function<Inst<VReg>>;

/// How the value of a register is rematerialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// From the constant at this bank address.
    Pool(u32),
    /// It is zero in every lane.
    Zero,
    /// The control core sets it.
    Set(Imm),
}

/// A selected kernel.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The instructions.
    pub func: MachFunction,
    /// Registers that hold constants.
    pub recipes: BTreeMap<VReg, Recipe>,
    /// How often each block runs when the kernel runs once, at most.
    pub runs: SecondaryMap<Block, u64>,
    /// The engines that run it.
    pub mask: SimbMask,
    /// Its arguments, if it is called.
    pub args: Option<Args>,
}

/// A kernel in instructions.
#[derive(Clone, Debug)]
pub struct MachineKernel {
    /// The instructions.
    pub code: Selected,
    /// Its instructions before live ranges were split, and what was done, for the check of that.
    pub unsplit: Option<(MachFunction, Split)>,
    /// Its instructions before they were first reordered, and where they were, for the check of that.
    pub unscheduled: Option<(MachFunction, Orders)>,
    /// Its registers, once they are allocated.
    pub registers: Option<Allocation>,
    /// Its instructions before they had registers, for the check of the allocation.
    pub unallocated: Option<MachFunction>,
    /// Its instructions before they were reordered, and where they were, for the check of that.
    pub unordered: Option<(MachFunction, Orders)>,
}

/// The arguments of a kernel that is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// How many addresses there are: each has an entry of AddrRF and one of CtrlRF.
    pub addresses: u16,
    /// Which merged constant parameters the control core reads: each has an entry of CtrlRF behind
    /// the addresses.
    pub constants: Vec<u16>,
}

impl Args {
    /// The CtrlRF entry of the address to return to. The next one is for the jump.
    pub fn return_entry(&self) -> u16 {
        first_arg(RegClass::Ctrl) + self.addresses + self.constants.len() as u16
    }

    /// The CtrlRF entry of a merged constant parameter, if the control core reads it.
    pub fn entry(&self, constant: u16) -> Option<u16> {
        let place = self.constants.iter().position(|&n| n == constant)? as u16;
        Some(first_arg(RegClass::Ctrl) + self.addresses + place)
    }
}

/// The entry of the first argument of a kernel that is called, in AddrRF and in CtrlRF; the others
/// follow.
pub fn first_arg(class: RegClass) -> u16 {
    if class == RegClass::Addr { RESERVED_ADDR_REGS } else { RESERVED_CTRL_REGS }
}

/// Constants in every bank, an atom each, from address 0.
#[derive(Clone, Debug, Default)]
pub struct LiteralPool {
    /// The atoms.
    pub atoms: Vec<[u32; 4]>,
    places: HashMap<[u32; 4], u32>,
}

impl LiteralPool {
    /// The bank address of a constant.
    pub fn address(&mut self, atom: [u32; 4]) -> u32 {
        let next = self.atoms.len() as u32 * ATOM_BYTES;
        *self.places.entry(atom).or_insert_with(|| {
            self.atoms.push(atom);
            next
        })
    }
}

/// Target and source of an instruction that only copies.
pub fn copy(inst: &Inst<VReg>) -> Option<(VReg, VReg)> {
    match *inst {
        Inst::Comp {
            op: CompOp::Int(IntOp::Or),
            mode: Mode::Vv,
            dst,
            src1,
            src2,
            vec_mask,
            ..
        } if src1 == src2 && vec_mask == VecMask::ALL => Some((dst, src1)),
        Inst::CalcArf { op: IntOp::Or, dst, src1, src2, .. }
        | Inst::CalcCrf { op: IntOp::Or, dst, src1, src2 }
            if src1 == src2 =>
        {
            Some((dst, src1))
        }
        _ => None,
    }
}
