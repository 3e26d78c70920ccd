//! What the control core must know of each instruction before it issues it: the
//! registers and memories it uses, the unit it goes to, and its latencies, summed
//! from Table III of the iPIM paper.
//!
//! All of it is worked out once for a program, so that issuing costs lookups only.

use nbcc_isa::Instruction;
use nbcc_isa_ipim::{Inst, Machine, RegClass, Route};

use crate::code::{Code, Step};

/// Entries of the scoreboard: three register files of up to 128.
pub const SCOREBOARD: usize = 3 * 128;
/// No register.
const NO_REGISTER: u16 = u16::MAX;

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

/// The plans of a program, one an instruction; those whose execution is a fault have
/// a plan that no cycle is spent on.
pub fn plan(code: &Code, machine: &Machine) -> Vec<Plan> {
    code.steps.iter().map(|step| plan_step(step, machine)).collect()
}

fn plan_step(step: &Step, machine: &Machine) -> Plan {
    let mut plan = Plan {
        route: Route::Fixed { latency: machine.control.t_ctrl },
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

    let l = &machine.latency;
    let tsv = if machine.features.process_on_base_die { 0 } else { l.t_tsv };
    plan.route = Route::of(inst, machine);
    (plan.pgsm, plan.vsm) = match inst {
        Inst::LdPgsm { .. } | Inst::WrPgsm { .. } => (Access::Write, Access::None),
        Inst::StPgsm { .. } | Inst::RdPgsm { .. } => (Access::Read, Access::None),
        Inst::WrVsm { .. } | Inst::SetiVsm { .. } | Inst::Req { .. } => {
            (Access::None, Access::Write)
        }
        Inst::RdVsm { .. } => (Access::None, Access::Read),
        _ => (Access::None, Access::None),
    };
    let port = |ends: u32| Port { begins: ends - l.t_pgsm, ends };
    plan.port = match (inst, plan.route) {
        _ if machine.memory.pgsm_ports <= 1 => None,
        (Inst::LdPgsm { .. }, Route::Bank { before, after, .. }) => {
            Some(port(before + machine.dram.t_cl + machine.dram.t_bl + after))
        }
        (Inst::StPgsm { .. }, Route::Bank { before, .. }) => Some(port(before - l.t_pe_bus)),
        (Inst::RdPgsm { .. }, Route::Fixed { latency }) => {
            Some(port(latency - l.t_pe_bus - l.t_data_rf))
        }
        (Inst::WrPgsm { .. }, Route::Fixed { latency }) => Some(port(latency)),
        _ => None,
    };
    // An instruction for no engine is broadcast and done.
    if inst.simb_mask().is_some() && plan.mask == 0 {
        plan.route = Route::Fixed { latency: tsv.max(1) };
    }
}
