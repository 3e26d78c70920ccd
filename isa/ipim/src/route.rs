//! The way of an instruction from its issue to its retirement, in cycles: sums over Table III of the
//! iPIM paper (docs/machine-ipim.md).

use nbcc_isa::Instruction;

use crate::{ATOM_BYTES, Addr, Inst, Latency, Machine};

/// Where an instruction goes when it has issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Retires a fixed time after its issue.
    Fixed {
        /// From issue to retirement.
        latency: u32,
    },
    /// To the banks of the engines.
    Bank {
        /// Whether it writes them.
        write: bool,
        /// From issue to the controllers.
        before: u32,
        /// From a controller's completion to retirement.
        after: u32,
    },
    /// Transfers between the vault's scratchpad and the engines.
    Vsm {
        /// Slots of its port.
        slots: u32,
        /// From issue until the first slot can be used.
        before: u32,
        /// From the last slot to retirement.
        after: u32,
    },
    /// A request to another vault.
    Fetch,
    /// Waits for all vaults.
    Sync,
}

impl Route {
    /// The way of an instruction that some engine executes, if engines execute it.
    pub fn of<R: Copy>(inst: &Inst<R>, machine: &Machine) -> Route {
        let l = &machine.latency;
        let on_base_die = machine.features.process_on_base_die;
        let tsv = if on_base_die { 0 } else { l.t_tsv };
        let write_data = machine.dram.t_cwl + machine.dram.t_bl;
        // On the base die, what a bank reads comes over the TSVs.
        let read_up = if on_base_die { l.t_tsv } else { 0 };
        let fixed = |latency: u32| Route::Fixed { latency };
        let addr = |address: &Addr<R>| match address {
            Addr::Direct(_) => 0,
            Addr::Indirect(_) => l.t_addr_rf,
        };
        match inst {
            Inst::Comp { .. }
            | Inst::CalcArf { .. }
            | Inst::MovDrf { .. }
            | Inst::MovArf { .. }
            | Inst::Reset { .. } => fixed(tsv + machine.latency(inst.unit(), inst.latency())),
            Inst::LdRf { dram, .. } => Route::Bank {
                write: false,
                before: tsv + addr(dram),
                after: read_up + l.t_pe_bus + l.t_data_rf,
            },
            Inst::StRf { dram, .. } => Route::Bank {
                write: true,
                before: tsv + addr(dram).max(l.t_data_rf) + l.t_pe_bus,
                after: write_data,
            },
            Inst::LdPgsm { dram, pgsm, .. } => Route::Bank {
                write: false,
                before: tsv + addr(dram).max(addr(pgsm)),
                after: read_up + l.t_pe_bus + l.t_pgsm,
            },
            Inst::StPgsm { dram, pgsm, .. } => Route::Bank {
                write: true,
                before: tsv + addr(dram).max(addr(pgsm)) + l.t_pgsm + l.t_pe_bus,
                after: write_data,
            },
            Inst::RdPgsm { pgsm, .. } => {
                fixed(tsv + addr(pgsm) + machine.latency(inst.unit(), Latency::Pgsm))
            }
            Inst::WrPgsm { pgsm, .. } => {
                // The address and the data come out of their register files together.
                fixed(tsv + addr(pgsm).max(l.t_data_rf) + l.t_pe_bus + l.t_pgsm)
            }
            Inst::RdVsm { vsm, .. } => match vsm {
                // The control core reads the scratchpad and broadcasts the atom.
                Addr::Direct(_) => Route::Vsm {
                    slots: slots_of_atom(machine),
                    before: l.t_vsm,
                    after: tsv + l.t_data_rf,
                },
                // Addresses come down first.
                Addr::Indirect(_) => Route::Vsm {
                    slots: slots(inst, machine),
                    before: tsv + l.t_addr_rf + tsv + l.t_vsm,
                    after: tsv + l.t_data_rf,
                },
            },
            Inst::WrVsm { vsm, .. } => Route::Vsm {
                slots: slots(inst, machine),
                before: tsv + addr(vsm).max(l.t_data_rf),
                after: tsv + l.t_vsm,
            },
            Inst::SetiVsm { .. } => fixed(l.t_vsm),
            Inst::Req { .. } => Route::Fetch,
            Inst::Jump { .. }
            | Inst::CJump { .. }
            | Inst::CalcCrf { .. }
            | Inst::SetiCrf { .. } => fixed(machine.control.t_ctrl),
            Inst::Sync { .. } => Route::Sync,
        }
    }
}

/// Slots of the TSVs that 16 bytes take.
pub fn slots_of_atom(machine: &Machine) -> u32 {
    ATOM_BYTES.div_ceil(machine.network.tsv_bytes)
}

/// Slots of the TSVs that an atom an engine takes.
fn slots<R>(inst: &Inst<R>, machine: &Machine) -> u32 {
    let engines = inst.simb_mask().map_or(0, |mask| mask.0.count_ones());
    engines * slots_of_atom(machine)
}
