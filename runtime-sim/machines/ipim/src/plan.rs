//! What the control core must know of each instruction before it issues it: the
//! registers and memories it uses, the unit it goes to, and its latencies, summed
//! from Table III of the iPIM paper.
//!
//! All of it is worked out once for a program, so that issuing costs lookups only.

use nbcc_isa::Instruction;
use nbcc_isa_ipim::{ATOM_BYTES, Addr, Inst, Latency, Machine, RegClass};

use crate::code::{Code, Step};

/// Entries of the scoreboard: three register files of up to 128.
pub const SCOREBOARD: usize = 3 * 128;
/// No register.
const NO_REGISTER: u16 = u16::MAX;

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

/// An instruction as the issue logic sees it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Where it goes.
    pub route: Route,
    /// Scoreboard entries that it reads, then [`NO_REGISTER`].
    reads: [u16; 6],
    /// The scoreboard entry that it writes, or [`NO_REGISTER`].
    write: u16,
    /// Whether it takes a control slot of the TSVs.
    pub broadcast: bool,
    /// Its opcode.
    pub opcode: u8,
    /// Memories that are ordered as a whole.
    pub pgsm: Access,
    /// When it is at its engine's port of the group's scratchpad, where there is one to read and one
    /// to write.
    pub port: Option<Port>,
    /// As `pgsm`, for the vault's scratchpad.
    pub vsm: Access,
    /// Engines that execute it.
    pub mask: u32,
}

/// When an access takes its port of a scratchpad, in cycles from its issue; those of loads from banks
/// are the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The access begins.
    pub begins: u32,
    /// It is over.
    pub ends: u32,
}

/// What an instruction does to a scratchpad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    None,
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl Plan {
    /// Scoreboard entries that it reads.
    #[inline]
    pub fn reads(&self) -> impl Iterator<Item = usize> {
        self.reads.into_iter().take_while(|entry| *entry != NO_REGISTER).map(usize::from)
    }

    /// The scoreboard entry that it writes.
    #[inline]
    pub fn write(&self) -> Option<usize> {
        (self.write != NO_REGISTER).then_some(usize::from(self.write))
    }

    /// Whether a later instruction must wait for this one because of a register or a
    /// scratchpad.
    pub fn delays(&self, later: &Plan) -> bool {
        let true_or_output = self.write().is_some_and(|entry| {
            later.write() == Some(entry) || later.reads().any(|read| read == entry)
        });
        let anti = later.write().is_some_and(|entry| self.reads().any(|read| read == entry));
        true_or_output
            || anti
            || self.orders(later, self.pgsm, later.pgsm)
            || self.orders(later, self.vsm, later.vsm)
    }

    fn orders(&self, later: &Plan, first: Access, second: Access) -> bool {
        match (first, second) {
            (Access::Write, Access::Read) => true,
            (Access::Read, Access::Write) => self.port.is_none(),
            (Access::Write, Access::Write) => self.opcode != later.opcode,
            _ => false,
        }
    }
}

/// The scoreboard entry of a register.
fn scoreboard_entry(class: RegClass, index: u8) -> u16 {
    let file = match class {
        RegClass::Addr => 0,
        RegClass::Data => 128,
        RegClass::Ctrl => 256,
    };
    // Register numbers are below 128: a machine has no more.
    file + u16::from(index)
}

/// Slots of the TSVs that 16 bytes take.
pub fn slots_of_atom(machine: &Machine) -> u32 {
    ATOM_BYTES.div_ceil(machine.network.tsv_bytes)
}

/// The plans of a program, one an instruction; those whose execution is a fault have
/// a plan that no cycle is spent on.
pub fn plan(code: &Code, machine: &Machine) -> Vec<Plan> {
    code.steps.iter().map(|step| plan_step(step, machine)).collect()
}

fn plan_step(step: &Step, machine: &Machine) -> Plan {
    let control = machine.control.t_ctrl;
    let mut plan = Plan {
        route: Route::Fixed { latency: control },
        reads: [NO_REGISTER; 6],
        write: NO_REGISTER,
        broadcast: false,
        opcode: 0,
        pgsm: Access::None,
        port: None,
        vsm: Access::None,
        mask: 0,
    };
    match step {
        Step::Fault(_) => {}
        Step::Place { dst, .. } => plan.write = scoreboard_entry(RegClass::Ctrl, *dst),
        Step::Run(inst) => plan_inst(inst, machine, &mut plan),
    }
    plan
}

fn plan_inst(inst: &Inst<u8>, machine: &Machine, plan: &mut Plan) {
    let mut reads = 0;
    inst.for_each_operand(|operand| {
        let entry = scoreboard_entry(operand.class, *operand.reg);
        if operand.role.reads() {
            plan.reads[reads] = entry;
            reads += 1;
        }
        if operand.role.writes() {
            plan.write = entry;
        }
    });
    plan.opcode = inst.opcode();
    plan.mask = inst.simb_mask().map_or(0, |mask| mask.0);
    plan.broadcast = inst.simb_mask().is_some() && !machine.features.process_on_base_die;
    let atom_slots = slots_of_atom(machine);
    let slots = plan.mask.count_ones() * atom_slots;

    let l = &machine.latency;
    let tsv = if machine.features.process_on_base_die { 0 } else { l.t_tsv };
    let addr = |address: &Addr<u8>| match address {
        Addr::Direct(_) => 0,
        Addr::Indirect(_) => l.t_addr_rf,
    };
    let write_data = machine.dram.t_cwl + machine.dram.t_bl;
    // On the base die, what a bank reads comes over the TSVs.
    let read_up = if machine.features.process_on_base_die { l.t_tsv } else { 0 };
    let fixed = |latency: u32| Route::Fixed { latency };
    let port = |begins: u32| {
        let ends = begins + l.t_pgsm;
        (machine.memory.pgsm_ports > 1).then_some(Port { begins, ends })
    };
    plan.route = match inst {
        Inst::Comp { .. } | Inst::CalcArf { .. } => {
            fixed(tsv + machine.latency(inst.unit(), inst.latency()))
        }
        Inst::MovDrf { .. } | Inst::MovArf { .. } | Inst::Reset { .. } => {
            fixed(tsv + machine.latency(inst.unit(), inst.latency()))
        }
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
        Inst::LdPgsm { dram, pgsm, .. } => {
            plan.pgsm = Access::Write;
            let before = tsv + addr(dram).max(addr(pgsm));
            let read = machine.dram.t_cl + machine.dram.t_bl;
            plan.port = port(before + read + read_up + l.t_pe_bus);
            Route::Bank { write: false, before, after: read_up + l.t_pe_bus + l.t_pgsm }
        }
        Inst::StPgsm { dram, pgsm, .. } => {
            plan.pgsm = Access::Read;
            plan.port = port(tsv + addr(dram).max(addr(pgsm)));
            Route::Bank {
                write: true,
                before: tsv + addr(dram).max(addr(pgsm)) + l.t_pgsm + l.t_pe_bus,
                after: write_data,
            }
        }
        Inst::RdPgsm { pgsm, .. } => {
            plan.pgsm = Access::Read;
            plan.port = port(tsv + addr(pgsm));
            fixed(tsv + addr(pgsm) + machine.latency(inst.unit(), Latency::Pgsm))
        }
        Inst::WrPgsm { pgsm, .. } => {
            plan.pgsm = Access::Write;
            // The address and the data come out of their register files together.
            let begins = tsv + addr(pgsm).max(l.t_data_rf) + l.t_pe_bus;
            plan.port = port(begins);
            fixed(begins + l.t_pgsm)
        }
        Inst::RdVsm { vsm, .. } => {
            plan.vsm = Access::Read;
            match vsm {
                // The control core reads the scratchpad and broadcasts the atom.
                Addr::Direct(_) => {
                    Route::Vsm { slots: atom_slots, before: l.t_vsm, after: tsv + l.t_data_rf }
                }
                // Addresses come down first.
                Addr::Indirect(_) => Route::Vsm {
                    slots,
                    before: tsv + l.t_addr_rf + tsv + l.t_vsm,
                    after: tsv + l.t_data_rf,
                },
            }
        }
        Inst::WrVsm { vsm, .. } => {
            plan.vsm = Access::Write;
            let registers = addr(vsm).max(l.t_data_rf);
            Route::Vsm { slots, before: tsv + registers, after: tsv + l.t_vsm }
        }
        Inst::SetiVsm { .. } => {
            plan.vsm = Access::Write;
            fixed(l.t_vsm)
        }
        Inst::Req { .. } => {
            plan.vsm = Access::Write;
            Route::Fetch
        }
        Inst::Jump { .. } | Inst::CJump { .. } | Inst::CalcCrf { .. } | Inst::SetiCrf { .. } => {
            fixed(machine.control.t_ctrl)
        }
        Inst::Sync { .. } => Route::Sync,
    };
    // An instruction for no engine is broadcast and done.
    if inst.simb_mask().is_some() && plan.mask == 0 {
        plan.route = fixed(tsv.max(1));
    }
}
