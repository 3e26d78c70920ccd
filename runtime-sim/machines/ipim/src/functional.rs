//! A run without timing: vaults run apart from each other, to their next `sync`, their end, or the
//! first use of what they have asked other vaults for; then all get what they asked for, and go on.
//!
//! Programs whose vaults communicate through `sync` alone, as they must, compute the
//! same here as with timing. What others compute does not depend on threads either.

use nbcc_isa::Instruction;
use nbcc_isa_ipim::{INSTRUCTION_BYTES, Inst, Machine, Memory};
use rayon::prelude::*;

use crate::code::{Code, Step};
use crate::fault::{Fault, FaultKind};
use crate::vault::{Fetch, Next, Vault};

/// Where a vault stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// Before what it needs, if anything, has come; then it goes on.
    Fetch,
    Sync(u32),
    End,
}

/// A control core.
#[derive(Clone, Debug)]
struct Core {
    pc: u32,
    issued: u64,
    stop: Stop,
    fault: Option<Box<FaultKind>>,
    /// What it has asked for, in the order of the program.
    fetches: Vec<Fetch>,
}

/// What a run without timing counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions, over all vaults.
    pub instructions: u64,
}

/// Runs all vaults to their end, on `threads` threads. `limit` bounds the instructions of each vault;
/// `progress` is called with the instructions so far whenever all vaults have stopped.
///
/// # Errors
/// The first fault of the first vault that has one.
pub fn run(
    code: &Code,
    machine: &Machine,
    vaults: &mut [Vault],
    limit: u64,
    threads: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<Counts, Fault> {
    let uses: Vec<bool> = code.steps.iter().map(uses_scratchpad).collect();
    let start = Core { pc: 0, issued: 0, stop: Stop::Fetch, fault: None, fetches: Vec::new() };
    let mut cores = vec![start; vaults.len()];
    let pool = (threads > 1)
        .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok())
        .flatten();
    loop {
        let one = |(core, vault): (&mut Core, &mut Vault)| {
            if core.stop == Stop::Fetch {
                core.run(code, &uses, machine, vault, limit);
            }
        };
        match &pool {
            Some(pool) => pool.install(|| cores.par_iter_mut().zip(&mut *vaults).for_each(one)),
            None => cores.iter_mut().zip(&mut *vaults).for_each(one),
        }
        let fault = |vault: usize, pc: u32, kind| {
            let (vault, pc) = (vault as u32, pc * INSTRUCTION_BYTES);
            Err(Fault { vault, pc, cycle: None, kind })
        };
        for (vault, core) in cores.iter_mut().enumerate() {
            if let Some(kind) = core.fault.take() {
                return fault(vault, core.pc, *kind);
            }
            for fetch in core.fetches.drain(..) {
                let from = &vaults[fetch.bank.vault as usize].banks;
                let atom = from.read(fetch.bank.engine as usize, fetch.address);
                vaults[vault].receive(fetch.vsm, atom);
            }
        }
        let instructions = cores.iter().map(|core| core.issued).sum();
        progress(instructions);
        if cores.iter().all(|core| core.stop == Stop::End) {
            return Ok(Counts { instructions });
        }
        if cores.iter().all(|core| core.stop != Stop::Fetch) {
            if let Err((vault, kind)) = check_barrier(&cores) {
                return fault(vault, cores[vault].pc - 1, kind);
            }
            cores.iter_mut().for_each(|core| core.stop = Stop::Fetch);
        }
    }
}

/// Whether an instruction reads or writes the vault's scratchpad other than by asking for something.
fn uses_scratchpad(step: &Step) -> bool {
    let Step::Run(inst) = step else { return false };
    !matches!(inst, Inst::Req { .. })
        && (inst.memory_reads().contains(&Memory::Vsm)
            || inst.memory_writes().contains(&Memory::Vsm))
}

/// Whether all vaults wait at the same phase; else the first that waits in vain.
fn check_barrier(cores: &[Core]) -> Result<(), (usize, FaultKind)> {
    let waiting = cores.iter().enumerate().find_map(|(vault, core)| match core.stop {
        Stop::Sync(phase) => Some((vault, phase)),
        _ => None,
    });
    let Some((vault, phase)) = waiting else { return Ok(()) };
    for (other, core) in cores.iter().enumerate() {
        let other = other as u32;
        match core.stop {
            Stop::End => return Err((vault, FaultKind::Deadlock { phase, ended: other })),
            Stop::Sync(other_phase) if other_phase != phase => {
                return Err((vault, FaultKind::SyncMismatch { phase, other, other_phase }));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Core {
    /// Runs until the core stops or has a fault.
    fn run(
        &mut self,
        code: &Code,
        uses: &[bool],
        machine: &Machine,
        vault: &mut Vault,
        limit: u64,
    ) {
        let stop = loop {
            let at = self.pc as usize;
            let Some(step) = code.steps.get(at) else { break Ok(Stop::End) };
            if uses[at] && !self.fetches.is_empty() {
                break Ok(Stop::Fetch);
            }
            if self.issued >= limit {
                break Err(Box::new(FaultKind::Limit { limit, unit: "instructions" }));
            }
            let next = match step {
                Step::Run(inst) => vault.execute(inst),
                Step::Place { dst, coordinate } => {
                    vault.set_place(*dst, *coordinate, machine);
                    Ok(Next::Fall)
                }
                Step::Fault(kind) => Err(Box::new(kind.clone())),
            };
            let mut to = self.pc + 1;
            match next {
                Ok(Next::Fall) => {}
                Ok(Next::Jump(target)) => to = target,
                Ok(Next::Fetch) if vault.fetch.bank.vault != vault.id => {
                    self.fetches.push(vault.fetch);
                }
                // What it asks of itself it gets at once, but not before what it asked for before.
                Ok(Next::Fetch) if !self.fetches.is_empty() => break Ok(Stop::Fetch),
                Ok(Next::Fetch) => {
                    let fetch = vault.fetch;
                    let atom = vault.banks.read(fetch.bank.engine as usize, fetch.address);
                    vault.receive(fetch.vsm, atom);
                }
                Ok(Next::Sync(phase)) => {
                    self.issued += 1;
                    self.pc = to;
                    break Ok(Stop::Sync(phase));
                }
                Err(kind) => break Err(kind),
            }
            self.issued += 1;
            self.pc = to;
        };
        match stop {
            Ok(stop) => self.stop = stop,
            Err(kind) => self.fault = Some(kind),
        }
    }
}
