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

use crate::choices::machine_of;
use crate::table::Candidates;

/// Guards what small branches of every kernel lead to, so that its loads come together with others.
pub fn predicate(state: &mut Compilation<Candidates>, _: &mut Context<'_>) -> Result<(), Failed> {
    for selected in state.kernels.iter_mut().filter_map(|kernel| kernel.selected.as_mut()) {
        predicate::run(&mut selected.func);
    }
    Ok(())
}

/// Reorders the instructions of every kernel, so that most is asked for at a time: by more warps, or by
/// each of fewer ones. No more values are kept in local memory for it.
pub fn run(state: &mut Compilation<Candidates>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let machine = machine_of(state);
    let coalescing = cx.passes.level >= OptLevel::O1;
    for kernel in &mut state.kernels {
        let banks = kernel.banks(&state.machine.limits);
        let local = kernel.frame.local_bytes;
        let Some(selected) = &mut kernel.selected else { continue };
        // What local memory takes with spilled values, and trips a cycle.
        let judge = |func: &MachFunction| {
            let given = regalloc::allocate(&mut func.clone(), &banks, local, coalescing).ok()?;
            let warps = warps(given.words(), &machine);
            Some((given.local_bytes, f64::from(warps) / duration(func, &machine)))
        };
        let Some((bytes, mut most)) = judge(&selected.func) else { continue };
        let program = selected.func.clone();
        for words in sizes(&machine) {
            let mut func = program.clone();
            let orders = schedule::before_allocation(&mut func, words, |i| latency(i, &machine));
            if cx.passes.verify_each
                && let Err(what) = schedule::check(&program, &func, &orders, None)
            {
                panic!("{what}");
            }
            let Some((kept, pace)) = judge(&func) else { continue };
            if kept <= bytes && pace > most {
                (selected.func, most) = (func, pace);
            }
        }
    }
    Ok(())
}

/// Numbers of registers that orders are made for: with as many, each number of blocks fits on a
/// multiprocessor.
fn sizes(machine: &Machine) -> impl Iterator<Item = u32> {
    let sm = &machine.sm;
    let most = |blocks: u32| sm.registers / sm.lanes / (BLOCK * blocks);
    let numbers = (1..=(sm.warps / BLOCK).max(1)).rev().map(most);
    numbers.map(|words| words.min(sm.thread_registers).saturating_sub(SPARE))
}

/// Registers that an order does not show: entries between pairs, and values that move.
const SPARE: u32 = 3;

/// Warps of a block, mostly: a multiprocessor holds whole blocks.
const BLOCK: u32 = 8;

/// Warps on a multiprocessor of threads with so many registers.
fn warps(words: u32, machine: &Machine) -> u32 {
    let sm = &machine.sm;
    let warps = (sm.registers / sm.lanes / words.max(1)).min(sm.warps);
    (warps - warps % BLOCK).max(1)
}

/// Cycles that a warp alone takes for every block once, those in loops more often.
fn duration(func: &MachFunction, machine: &Machine) -> f64 {
    let mut total = 1.0;
    let mut there = vec![0u64; func.vregs.len()];
    let at = |vreg: &VReg| vreg.as_u32() as usize;
    let mut clock = 0u64;
    for data in func.blocks.values() {
        let begin = clock;
        for inst in &data.insts {
            let (uses, defs) = MachFunction::uses_and_defs(&inst.inst);
            let ready = uses.iter().chain(&defs).map(|vreg| there[at(vreg)]).max();
            clock = ready.unwrap_or(0).max(clock + 1);
            let done = clock + u64::from(latency(&inst.inst, machine));
            defs.iter().for_each(|def| there[at(def)] = done);
        }
        total += (clock - begin) as f64 * LOOP.powi(data.loop_depth.min(8) as i32);
    }
    total
}

/// How often a loop runs, for all that is known.
const LOOP: f64 = 10.0;

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
    fn whole_blocks_fit() {
        let machine = Machine::built_in("tom");
        let of = |words| warps(words, &machine);
        assert_eq!(sizes(&machine).collect::<Vec<_>>(), [18, 22, 29, 39, 60, 60]);
        assert_eq!([of(0), of(21), of(22), of(42), of(43), of(63)], [48, 48, 40, 24, 16, 16]);
    }
}
