//! The contest of schedules ([`defaults::contest`]) among programs: each is what the rest of the passes makes
//! of a schedule.

use nbcc_base::Failed;
use nbcc_pipeline::{Context, run_rest};
use nbcc_stages::Pipeline;

use crate::backend::code::MachineKernel;
use crate::estimate;
use crate::kernel::Size;
use crate::pipeline::PASSES;
use crate::plan::schedule::defaults::contest::{Compiled, contest};
use crate::plan::schedule::defaults::{Found, Trial};
use crate::state::Compilation;

/// Compiles the most promising schedules and keeps the one whose code is estimated to take least. Code is
/// to be fast for that, first of all.
pub fn compare_schedules(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let Some(mut found) = state.found.take() else { return Ok(()) };
    let Found { pipeline, sites, .. } = &found;
    let trial = Trial { pipeline, extents: &state.extents, machine: &state.machine, sites };
    // Where code had to be small, that of the next schedule will have to be, too.
    let mut configuration = state.configuration.clone();
    let compile = |pipeline: &Pipeline| {
        let (pipeline, configuration) = (pipeline.clone(), &mut configuration);
        let new = Compilation { pipeline, configuration: configuration.clone(), ..state.clone() };
        let compiled = compile(new, cx)?;
        *configuration = compiled.configuration.of_similar();
        Some(measure(&compiled))
    };
    if state.first.size == Size::Fast
        && !found.is_settled()
        && let Some(won) = contest(&found, &trial, compile)
    {
        found.keep(won);
        state.pipeline = found.choice.apply(&found.pipeline, &found.sites);
    }
    state.found = Some(found);
    Ok(())
}

/// The program that a pipeline with a schedule becomes, if it fits the machine.
fn compile(mut state: Compilation, cx: &Context<'_>) -> Option<Compilation> {
    run_rest(PASSES, "inline", &mut state, cx.sources, cx.passes).ok()?;
    Some(state)
}

/// How long a program takes, and how large it is.
fn measure(program: &Compilation) -> Compiled {
    let count = |kernel: &MachineKernel| kernel.code.func.len() as u64;
    let instructions = program.selected.iter().map(count).sum();
    let cycles = estimate::of_steps(program).iter().map(|taken| taken.cost.cycles()).sum();
    Compiled { cycles, instructions }
}
