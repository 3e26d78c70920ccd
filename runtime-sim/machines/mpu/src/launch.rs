//! A timed launch, as a host asks for it.

use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::layout::Layout;
use nbcc_sim_dram::{Banks, DramConfig, Model};
use nbcc_sim_engine::{Progress, Trace};
use nbcc_sim_simt::machine::context::{Context, State};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::timing::occupancy::{Occupancy, Resource, occupancy};
use nbcc_sim_simt::{Counters, Device, LANES, Launch, LaunchError, Module, RunOptions};

use crate::core::{Env, warps_of};
use crate::measures::Measures;
use crate::plan::{Plan, registers_by_side};
use crate::system::System;

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
    let model = model(&machine).map_err(wrong)?;
    let mut measures = Measures::default();
    let mut trace = None;
    let mut counters = device.launch_by(module, launch, output, |context, state| {
        (measures, trace) = run(&machine, &model, context, state, options, trace_events, progress)?;
        Ok(())
    })?;
    counters.finish(measures.cycles);
    Ok(Timing { counters, measures, trace })
}

/// The controller of a near-bank unit.
fn model(machine: &Machine) -> Result<std::sync::Arc<Model>, String> {
    let banks = Banks {
        count: machine.hierarchy.banks,
        bytes: machine.memory.bank_bytes,
        access_bytes: machine.memory.bank_io_bytes,
        row_buffers: machine.memory.row_buffers,
    };
    let config = DramConfig::beside_banks(&machine.dram, banks);
    Model::new(&config).map_err(|error| error.to_string())
}

/// Blocks of a launch that a core holds.
fn resident(machine: &Machine, context: &Context<'_>) -> Occupancy {
    let (c, kernel) = (&machine.core, context.kernel);
    let text = &context.program.code.text;
    let text = &text[kernel.entry as usize..(kernel.entry + kernel.instructions) as usize];
    let [far, near] = registers_by_side(machine, text);
    // Warp w of a block is on subcore w modulo their number.
    let warps = u64::from(warps_of(context).div_ceil(machine.hierarchy.subcores));
    let line = 4 * LANES as u64;
    let file = |bytes: u32| u64::from(bytes) / line;
    let shared = u64::from(kernel.shared_bytes) + u64::from(context.dynamic_shared);
    let of = |name, has: u64, takes: u64| Resource { name, has, takes };
    occupancy(&[
        of("warps", c.subcore_warps.into(), warps),
        of("blocks", c.core_blocks.into(), 1),
        of("shared memory", machine.memory.shared_bytes.into(), shared),
        of("far registers", file(machine.registers.far_bytes), warps * u64::from(far)),
        of("near registers", file(machine.registers.near_bytes), warps * u64::from(near)),
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
        layout: Layout::new(machine),
        context,
        plans: &plans,
        blocks: held.blocks,
        max_cycles: options.max_cycles,
    };
    let mut trace = trace_events.map(|limit| timeline(machine, limit));
    // A timeline is written in the order of cores.
    let threads = if trace.is_some() { 1 } else { options.threads };
    let mut system = System::new(&env, model, state.counters, threads);
    let cycles = system.run(&env, state, trace.as_mut(), progress)?;
    let mut measures = Measures::new(text.len());
    measures.cycles = cycles;
    measures.occupancy = (held.blocks, held.limit);
    system.count(machine, state.counters, &mut measures);
    Ok((measures, trace.map(|(trace, _)| trace)))
}

/// A timeline with a group a core, and in it a lane a subcore.
fn timeline(machine: &Machine, limit: usize) -> (Trace, Vec<nbcc_sim_engine::Lane>) {
    let mut trace = Trace::new(limit);
    let mut lanes = Vec::new();
    for core in 0..machine.cores() {
        let group = format!("core {core}");
        for subcore in 0..machine.hierarchy.subcores {
            lanes.push(trace.lane(&group, &format!("subcore {subcore}")));
        }
    }
    (trace, lanes)
}
