//! A run without timing: each vault runs to its next `sync` or its end, one after
//! the other.
//!
//! Programs whose vaults communicate through `sync` alone, as they must, compute the
//! same here as with timing.

use nbcc_isa_ipim::{INSTRUCTION_BYTES, Machine};

use crate::code::{Code, Step};
use crate::fault::{Fault, FaultKind};
use crate::vault::{Next, Vault};

/// Where a vault stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Sync(u32),
    End,
}

/// What a run without timing counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions, over all vaults.
    pub instructions: u64,
}

/// Runs all vaults to their end. `limit` bounds the instructions of each vault;
/// `progress` is called with the instructions so far whenever a vault has come to a `sync`.
///
/// # Errors
/// The first fault of the first vault that has one.
pub fn run(
    code: &Code,
    machine: &Machine,
    vaults: &mut [Vault],
    limit: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Counts, Fault> {
    let mut pcs = vec![0; vaults.len()];
    let mut issued = vec![0; vaults.len()];
    let mut stops = vec![Stop::End; vaults.len()];
    loop {
        for vault in 0..vaults.len() {
            let stop =
                run_vault(code, machine, vaults, vault, &mut pcs[vault], &mut issued[vault], limit);
            stops[vault] = stop.map_err(|kind| Fault {
                vault: vault as u32,
                pc: pcs[vault] * INSTRUCTION_BYTES,
                cycle: None,
                kind,
            })?;
            progress(issued.iter().sum());
        }
        if stops.iter().all(|stop| *stop == Stop::End) {
            return Ok(Counts { instructions: issued.iter().sum() });
        }
        check_barrier(&stops).map_err(|(vault, kind)| Fault {
            vault,
            pc: (pcs[vault as usize] - 1) * INSTRUCTION_BYTES,
            cycle: None,
            kind,
        })?;
    }
}

/// Whether all vaults wait at the same phase; else the first that waits in vain.
fn check_barrier(stops: &[Stop]) -> Result<(), (u32, FaultKind)> {
    let waiting = stops.iter().enumerate().find_map(|(vault, stop)| match stop {
        Stop::Sync(phase) => Some((vault as u32, *phase)),
        Stop::End => None,
    });
    let Some((vault, phase)) = waiting else { return Ok(()) };
    for (other, stop) in stops.iter().enumerate() {
        let other = other as u32;
        match stop {
            Stop::End => return Err((vault, FaultKind::Deadlock { phase, ended: other })),
            Stop::Sync(other_phase) if *other_phase != phase => {
                let other_phase = *other_phase;
                return Err((vault, FaultKind::SyncMismatch { phase, other, other_phase }));
            }
            Stop::Sync(_) => {}
        }
    }
    Ok(())
}

fn run_vault(
    code: &Code,
    machine: &Machine,
    vaults: &mut [Vault],
    index: usize,
    pc: &mut u32,
    issued: &mut u64,
    limit: u64,
) -> Result<Stop, FaultKind> {
    loop {
        let Some(step) = code.steps.get(*pc as usize) else { return Ok(Stop::End) };
        if *issued >= limit {
            return Err(FaultKind::Limit { limit, unit: "instructions" });
        }
        let vault = &mut vaults[index];
        let next = match step {
            Step::Run(inst) => vault.execute(inst)?,
            Step::Place { dst, coordinate } => {
                vault.set_place(*dst, *coordinate, machine);
                Next::Fall
            }
            Step::Fault(kind) => return Err(kind.clone()),
        };
        *issued += 1;
        *pc += 1;
        match next {
            Next::Fall => {}
            Next::Jump(target) => *pc = target,
            Next::Fetch(fetch) => {
                let from = &vaults[fetch.bank.vault as usize].banks;
                let atom = from.read(fetch.bank.engine as usize, fetch.address);
                vaults[index].receive(fetch.vsm, atom);
            }
            Next::Sync(phase) => return Ok(Stop::Sync(phase)),
        }
    }
}
