//! A vault of a stack: the banks with their controller, and the through-silicon vias that bring lines
//! to the logic layer and back.

use std::sync::Arc;

use nbcc_isa_tom::Machine;
use nbcc_isa_tom::layout::Place;
use nbcc_sim_dram::{Banks, Completion, DataPath, DramConfig, Kind, Model, Port, Request};
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::timing::calendar::Calendar;

use crate::clock::{Clock, Time};

/// How the banks of a machine's vaults behave: they share the vault's data path.
///
/// # Errors
/// What the DRAM model says of them.
pub fn model(machine: &Machine) -> Result<Arc<Model>, String> {
    let bytes = u32::try_from(machine.bank_bytes()).map_err(|error| error.to_string())?;
    let access_bytes = machine.burst_bytes();
    let banks = Banks { count: machine.stack.banks, bytes, access_bytes, row_buffers: 1 };
    let mut config = DramConfig::beside_banks(&machine.dram, banks);
    config.data_path = DataPath::Shared;
    Model::new(&config).map_err(|error| error.to_string())
}

/// What is the same for all vaults of a machine.
#[derive(Clone, Copy, Debug)]
pub struct VaultTiming {
    /// The clock of the banks.
    pub dram: Clock,
    /// The clock of the vias.
    pub tsv: Clock,
    /// Bytes that they move a cycle.
    pub tsv_bytes: u32,
    /// Accesses of the banks that make a line.
    pub line_bursts: u32,
}

impl VaultTiming {
    /// Of a machine: its vias move a bit each a cycle, and as many cycles as the bandwidth asks for.
    pub fn new(machine: &Machine) -> VaultTiming {
        let bytes = machine.stack.vault_tsvs.div_ceil(8);
        let bandwidth = machine.stack.internal_bandwidth / f64::from(machine.stack.vaults);
        VaultTiming {
            dram: Clock::cycle_of(machine.dram.t_ck),
            tsv: Clock::gigahertz(bandwidth / f64::from(bytes)),
            tsv_bytes: bytes,
            line_bursts: machine.line_bursts(),
        }
    }
}

/// A vault.
#[derive(Debug)]
pub struct Vault {
    banks: Port,
    tsvs: Calendar,
    /// When something happens in the banks next.
    next: Cycle,
    /// Bytes that crossed the vias.
    pub tsv_bytes: u64,
    /// Cycles of the vias in which something did.
    pub tsv_cycles: u64,
}

impl Vault {
    /// Idle banks.
    pub fn new(model: &Arc<Model>) -> Vault {
        Vault {
            banks: Port::new(model),
            tsvs: Calendar::new(1),
            next: NEVER,
            tsv_bytes: 0,
            tsv_cycles: 0,
        }
    }

    /// The banks' counters.
    pub fn banks(&self) -> &nbcc_sim_dram::Stats {
        self.banks.stats()
    }

    /// Moves bytes over the vias from a time on; when all are there.
    pub fn cross(&mut self, timing: &VaultTiming, at: Time, bytes: u32) -> Time {
        let cycles = bytes.div_ceil(timing.tsv_bytes).max(1);
        self.tsv_bytes += u64::from(bytes);
        self.tsv_cycles += u64::from(cycles);
        timing.tsv.time(self.tsvs.take(timing.tsv.cycle(at), cycles))
    }

    /// Asks the banks at a time for the parts of a line, each a request of its own. A cycle of theirs to
    /// be looked at, if that is sooner than was known.
    pub fn ask(
        &mut self,
        timing: &VaultTiming,
        at: Time,
        id: u32,
        kind: Kind,
        place: Place,
        bursts: u32,
    ) -> Option<Cycle> {
        let cycle = timing.dram.cycle(at).max(self.banks.now());
        for burst in (0..timing.line_bursts).filter(|burst| bursts >> burst & 1 == 1) {
            let column = place.column * timing.line_bursts + burst;
            let Place { bank, row, .. } = place;
            self.banks.push(cycle, false, Request { id: id.into(), kind, bank, row, column });
        }
        self.look()
    }

    /// Goes on to a cycle of the banks, if that is the one that was announced last: what they have
    /// served, and the next cycle.
    pub fn advance(
        &mut self,
        timing: &VaultTiming,
        cycle: Cycle,
        done: &mut Vec<Completion>,
    ) -> Option<Cycle> {
        if cycle != self.next {
            return None;
        }
        self.banks.advance(cycle, done);
        self.tsvs.forget(timing.tsv.cycle(timing.dram.time(cycle)).saturating_sub(1));
        self.next = NEVER;
        self.look()
    }

    fn look(&mut self) -> Option<Cycle> {
        let next = self.banks.next_event()?;
        if next < self.next {
            self.next = next;
            return Some(next);
        }
        None
    }

    /// Goes on to the end of a launch.
    pub fn finish(&mut self, cycle: Cycle, done: &mut Vec<Completion>) {
        if cycle > self.banks.now() {
            self.banks.advance(cycle, done);
        }
    }
}
