//! A timed launch, as a host asks for it.

use nbcc_isa_tom::Machine;
use nbcc_isa_tom::layout::Layout;
use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Progress, Trace};
use nbcc_sim_simt::machine::context::{Context, State};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::timing::dispatch::Dispatch;
use nbcc_sim_simt::timing::occupancy::{Occupancy, Resource, occupancy};
use nbcc_sim_simt::{Counters, Device, LANES, Launch, LaunchError, Module, RunOptions};

use crate::clock::Clock;
use crate::measures::{Measures, Profile};
use crate::plan::Plan;
use crate::sm::{Env, Shared, warps_of};
use crate::system::System;
use crate::timeline::Timeline;
use crate::vault;

/// What a timed launch leaves behind.
#[derive(Debug)]
pub struct Timing {
    /// What was executed.
    pub counters: Counters,
    /// What it took.
    pub measures: Measures,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
}

/// Runs a kernel to its end on the machine that its program was compiled for. `trace_events` is how
/// many events a timeline keeps; none makes no timeline.
///
/// # Errors
/// As [`Device::launch`], and a machine whose banks the DRAM model refuses.
pub fn launch(
    device: &mut Device,
    module: &Module,
    launch: &Launch<'_>,
    options: &RunOptions,
    trace_events: Option<usize>,
    output: &mut Vec<u8>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Timing, LaunchError> {
    let wrong = |error: String| LaunchError::Machine(error);
    let machine = Machine::from_toml(&module.program().machine.toml, &[])
        .map_err(|error| wrong(error.to_string()))?;
    let model = vault::model(&machine).map_err(wrong)?;
    let mut measures = Measures::default();
    let mut trace = None;
    let mut counters = device.launch_by(module, launch, output, |context, state| {
        (measures, trace) = run(&machine, &model, context, state, options, trace_events, progress)?;
        Ok(())
    })?;
    counters.finish(measures.cycles);
    Ok(Timing { counters, measures, trace })
}

/// Blocks of a launch that a multiprocessor holds.
fn resident(machine: &Machine, context: &Context<'_>) -> Occupancy {
    let sm = &machine.sm;
    let warps = u64::from(warps_of(context));
    let registers = warps * LANES as u64 * u64::from(context.kernel.registers);
    let shared = u64::from(context.kernel.shared_bytes) + u64::from(context.dynamic_shared);
    let of = |name, has: u32, takes: u64| Resource { name, has: has.into(), takes };
    occupancy(&[
        of("warps", sm.warps, warps),
        of("blocks", sm.blocks, 1),
        of("shared memory", sm.shared_bytes, shared),
        of("registers", sm.registers, registers),
    ])
}

fn run(
    machine: &Machine,
    model: &std::sync::Arc<Model>,
    context: &Context<'_>,
    state: &mut State<'_>,
    options: &RunOptions,
    trace_events: Option<usize>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Measures, Option<Trace>), Box<Fault>> {
    let kernel = context.kernel;
    let text = &context.program.code.text;
    let range = kernel.entry as usize..(kernel.entry + kernel.instructions) as usize;
    let plans: Vec<Plan> = text[range].iter().map(|inst| Plan::new(machine, inst)).collect();
    let held = resident(machine, context);
    let env = Env {
        machine,
        clock: Clock::gigahertz(machine.gpu.clock),
        layout: Layout::new(machine),
        context,
        plans: &plans,
        blocks: held.blocks,
        max_cycles: options.max_cycles,
    };
    let mut shared = Shared {
        state,
        dispatch: Dispatch::new(context.grid, 1),
        profile: Profile::new(text.len()),
        timeline: trace_events.map(|limit| Timeline::new(machine, limit)),
    };
    let mut system = System::new(&env, model);
    let cycles = system.run(&env, &mut shared, progress)?;
    let mut measures = Measures::new(text.len());
    measures.cycles = cycles;
    measures.time = env.clock.time(cycles);
    measures.profile = shared.profile;
    measures.occupancy = (held.blocks, held.limit);
    system.sms.iter().for_each(|sm| measures.take_sm(sm));
    measures.memory = system.memory.counts;
    Ok((measures, shared.timeline.map(Timeline::into_trace)))
}
