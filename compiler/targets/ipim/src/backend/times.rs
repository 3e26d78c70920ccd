//! What the backend knows of the time that instructions hold registers (`nbcc_mach::split`,
//! `nbcc_mach::rename`).

use nbcc_isa::Instruction;
use nbcc_isa_ipim::{Addr, Inst, Machine, SimbMask, Unit};
use nbcc_mach::VReg;
use nbcc_mach::rename::Timing;

use super::reorder::retires;

/// How long instructions of a machine hold registers, and what serves them.
pub struct Times<'a>(pub &'a Machine);

impl Timing<Inst<VReg>> for Times<'_> {
    fn latency(&self, inst: &Inst<VReg>) -> u32 {
        let machine = self.0;
        // Requests of other vaults have other rows of the bank opened.
        let remote = match inst.unit() {
            Unit::Network => self.way() + machine.dram.t_ras + machine.dram.t_rp,
            _ => 0,
        };
        // Where another row is open, that is closed first.
        let row = if inst.unit() == Unit::Bank { machine.dram.t_rp } else { 0 };
        retires(inst, machine) + remote + row
    }

    fn served(&self, inst: &Inst<VReg>) -> Option<(usize, u32)> {
        match inst.unit() {
            Unit::Bank => Some((0, self.group(inst).max(self.0.dram.t_ccd))),
            Unit::Vsm => Some((1, self.transfers(inst))),
            _ => None,
        }
    }
}

impl Times<'_> {
    /// Cycles in which a request goes half of the way across the mesh, and its answer back.
    pub fn way(&self) -> u32 {
        let hierarchy = &self.0.hierarchy;
        let columns = hierarchy.vault_columns;
        (columns + hierarchy.vaults / columns) * self.0.network.t_noc
    }

    /// Engines of a group that execute an instruction, the most of any.
    fn group(&self, inst: &Inst<VReg>) -> u32 {
        let pes = self.0.hierarchy.pes;
        let SimbMask(mask) = inst.simb_mask().unwrap_or(SimbMask(0));
        let of = |pg: u32| (0..pes).filter(|pe| mask >> (pg * pes + pe) & 1 == 1).count() as u32;
        (0..self.0.hierarchy.pgs).map(of).max().unwrap_or(0)
    }

    /// Transfers over the TSVs for an access to the vault's scratchpad.
    fn transfers(&self, inst: &Inst<VReg>) -> u32 {
        match inst {
            Inst::RdVsm { vsm: Addr::Direct(_), .. } => 1,
            _ => inst.simb_mask().map_or(1, |SimbMask(mask)| mask.count_ones()),
        }
    }
}
