//! Instruction scheduling before registers are given, with their number in view: a warp issues in order and
//! waits for what it loaded where it is first needed, so that what it asks for together takes the time of
//! one access. A multiprocessor in a stack has 48 warps and no others to go on with: what it moves is what
//! these ask for at a time.

use nbcc_base::Failed;
use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Inst, Unit};
use nbcc_isa_tom::Machine;
use nbcc_mach::VReg;
use nbcc_pipeline::{Context, OptLevel};
use nbcc_simt::Compilation;
use nbcc_simt::backend::select::MachFunction;
use nbcc_simt::backend::{predicate, regalloc, schedule};

use crate::machine_of;
use crate::table::Candidates;

/// Guards what small branches of every kernel lead to, so that its loads come together with others.
pub fn predicate(state: &mut Compilation<Candidates>, _: &mut Context<'_>) -> Result<(), Failed> {
    for selected in state.kernels.iter_mut().filter_map(|kernel| kernel.selected.as_mut()) {
        predicate::run(&mut selected.func);
    }
    Ok(())
}

/// Reorders the instructions of every kernel, as far as no fewer warps fit on a multiprocessor for it and no
/// more values are kept in local memory.
pub fn run(state: &mut Compilation<Candidates>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let machine = machine_of(state);
    let coalescing = cx.passes.level >= OptLevel::O1;
    for kernel in &mut state.kernels {
        let banks = kernel.banks(&state.machine.limits);
        let local = kernel.frame.local_bytes;
        let Some(selected) = &mut kernel.selected else { continue };
        let registers = |func: &MachFunction| {
            let given = regalloc::allocate(&mut func.clone(), &banks, local, coalescing).ok();
            given.map(|given| (given.words(), given.local_bytes))
        };
        let Some((needed, bytes)) = registers(&selected.func) else { continue };
        let share = share(needed, &machine);
        for fewer in FEWER {
            let words = share.saturating_sub(fewer);
            let mut func = selected.func.clone();
            let orders = schedule::before_allocation(&mut func, words, |i| latency(i, &machine));
            if cx.passes.verify_each
                && let Err(what) = schedule::check(&selected.func, &func, &orders, None)
            {
                panic!("{what}");
            }
            if registers(&func).is_some_and(|given| given.0 <= share && given.1 <= bytes) {
                selected.func = func;
                break;
            }
        }
    }
    Ok(())
}

/// Of the registers of a thread, so many are left to what an order does not show: entries between pairs, and
/// values that move. Each is tried.
const FEWER: [u32; 3] = [2, 6, 14];

/// Warps of a block, mostly: a multiprocessor holds whole blocks.
const BLOCK: u32 = 8;

/// Registers that a thread may have where a kernel needs `words`, so that as many blocks fit on a
/// multiprocessor.
fn share(words: u32, machine: &Machine) -> u32 {
    let sm = &machine.sm;
    let file = sm.registers / sm.lanes;
    let warps = (file / words.max(1)).min(sm.warps);
    let warps = (warps - warps % BLOCK).max(BLOCK.min(sm.warps));
    (file / warps.max(1)).min(sm.thread_registers)
}

/// Cycles from the start of an instruction until its result is there.
fn latency(inst: &Inst<VReg>, machine: &Machine) -> u32 {
    let own = machine.latency.of(inst.latency()) + machine.pipeline.register;
    match inst.op.unit() {
        Unit::Lsu => match inst.op.space() {
            Some(Space::Shared | Space::Param) => own + machine.pipeline.shared,
            _ => own + ACCESS,
        },
        _ => own,
    }
}

/// Cycles of an access of memory (section 4.2).
const ACCESS: u32 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_taken_as_long_as_no_warp_goes() {
        let machine = Machine::built_in("tom");
        // 48 warps have 21 each, 24 have 42, 16 all that a thread may have.
        assert_eq!(share(0, &machine), 21);
        assert_eq!(share(21, &machine), 21);
        assert_eq!(share(22, &machine), 25);
        assert_eq!(share(42, &machine), 42);
        assert_eq!(share(43, &machine), 63);
    }
}
