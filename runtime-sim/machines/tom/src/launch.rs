//! A timed launch, as a host asks for it.

use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{Op, PhysReg};
use nbcc_isa_tom::Machine;
use nbcc_isa_tom::address::StackBits;
use nbcc_isa_tom::offload::OffloadTable;
use nbcc_isa_tom::policy::{self as asked, Mapping};
use nbcc_sim_dram::Model;
use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Progress, Trace};
use nbcc_sim_simt::machine::context::{Context, State};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::machine::polls;
use nbcc_sim_simt::timing::dispatch::Dispatch;
use nbcc_sim_simt::timing::occupancy::{Occupancy, Resource, occupancy};
use nbcc_sim_simt::{Counters, Device, LANES, Launch, LaunchError, Module, RunOptions};

use crate::clock::Clock;
use crate::coherence::Copies;
use crate::map::{Map, Session};
use crate::measures::{Measures, Profile};
use crate::monitor::Load;
use crate::plan::Plan;
use crate::policy::{self, Policy};
use crate::sm::{Env, Shared, warps_of};
use crate::system::System;
use crate::task::CandidateCounts;
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

/// Runs a kernel to its end on the machine that its program was compiled for. `session` is kept from
/// launch to launch of a program.
///
/// # Errors
/// As [`Device::launch`], and a machine whose banks the DRAM model refuses.
pub fn launch(
    device: &mut Device,
    module: &Module,
    launch: &Launch<'_>,
    options: &RunOptions,
    session: &mut Session,
    output: &mut Vec<u8>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Timing, LaunchError> {
    let wrong = |error: String| LaunchError::Machine(error);
    let machine = Machine::from_toml(&module.program().machine.toml, &[])
        .map_err(|error| wrong(error.to_string()))?;
    let model = vault::model(&machine).map_err(wrong)?;
    let program = module.program();
    let table = OffloadTable::of(program).map_err(|error| wrong(error.to_string()))?;
    let asked = asked::Policy::of(program).map_err(|error| wrong(error.to_string()))?;
    let mut policy = policy::of(asked.offload);
    if session.watches_all {
        policy = policy::of("none");
    } else if session.quarters.is_some() {
        policy = policy::QUARTERS;
    }
    let mut measures = Measures::default();
    let mut trace = None;
    let mut counters = device.launch_by(module, launch, output, |context, state| {
        let run = Run { machine: &machine, model: &model, table: &table, policy, maps: asked.map };
        (measures, trace) = run.launch(context, state, options, session, progress)?;
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

/// Whether an instruction may be what a block waits for another one by: it looks at what others change, or
/// makes later accesses do so.
fn may_wait(op: &Op<PhysReg>) -> bool {
    match op {
        Op::Fence { .. } => true,
        op => polls(op) && matches!(op.space(), Some(Space::Global | Space::Generic)),
    }
}

/// Bytes that all links to stacks, or from them, carry in a cycle.
fn link_bytes(env: &Env<'_, '_>) -> f64 {
    // A gigabyte a second is a byte in a million femtoseconds.
    let all = env.machine.link.bandwidth * f64::from(env.machine.stack.count);
    all * env.clock.time(1000) as f64 / 1000.0 / 1e6
}

/// What a launch is run on and by.
struct Run<'a> {
    machine: &'a Machine,
    model: &'a std::sync::Arc<Model>,
    table: &'a OffloadTable,
    policy: Policy,
    maps: Mapping,
}

impl Run<'_> {
    /// Runs it to its end.
    fn launch(
        &self,
        context: &Context<'_>,
        state: &mut State<'_>,
        options: &RunOptions,
        session: &mut Session,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Measures, Option<Trace>), Box<Fault>> {
        let machine = self.machine;
        let kernel = context.kernel;
        let text = &context.program.code.text;
        let range = kernel.entry as usize..(kernel.entry + kernel.instructions) as usize;
        let plan = |inst| Plan::in_table(machine, inst, self.table);
        let plans: Vec<Plan> = text[range.clone()].iter().map(plan).collect();
        let held = resident(machine, context);
        let env = Env {
            machine,
            clock: Clock::gigahertz(machine.gpu.clock),
            table: self.table,
            policy: self.policy,
            context,
            plans: &plans,
            blocks: held.blocks,
            max_cycles: options.max_cycles,
            // Ideally coherence is free as well.
            is_coherent: machine.offload.coherence && !self.policy.is_ideal,
        };
        // Multiprocessors in stacks issue, too, but blocks are not given to them.
        state.counters.cores.resize(machine.sms() as usize, 0);
        let dispatch = Dispatch::new(context.grid, 1);
        let inside = |begin: u32| range.contains(&(begin as usize));
        let own = self.table.entries.iter().filter(|entry| inside(entry.begin)).count() as u64;
        let warps = u64::from(warps_of(context));
        let expected = dispatch.total().saturating_mul(warps).saturating_mul(own);
        let learns = session.watches_all
            || self.maps == Mapping::Transparent && self.policy.decide.is_some();
        let may_wait = text[range.clone()].iter().any(|inst| may_wait(&inst.op));
        let learning =
            if learns { session.learning(machine, &kernel.name, expected, may_wait) } else { None };
        // While data is in the host's memory only as many blocks run as learning takes.
        let gate = match &learning {
            Some(learning) if learning.from_host => {
                learning.wanted.div_ceil((warps * own).max(1)).max(1)
            }
            _ => u64::MAX,
        };
        let map = match self.maps {
            Mapping::Baseline => Map::new(machine),
            Mapping::Transparent | Mapping::Oracle => session.map(machine, state.memory.whole()),
        };
        let stacks = machine.stack.count as usize;
        let faults = session.faults;
        let mut system = System::new(&env, self.model, options.threads);
        system.memory().map = map.clone();
        if learning.as_ref().is_some_and(|learning| learning.from_host) {
            system.memory().use_host(machine, true);
        }
        // As much as lately, until the monitor has seen something. Busy is what it has seen.
        let load = |share| Load { share, mean: share, is_busy: false };
        let links = session
            .links
            .get(&kernel.name)
            .map(|links| links.iter().map(|way| way.map(load)).collect());
        let mut shared = Shared {
            state,
            dispatch,
            profile: Profile::new(text.len()),
            timeline: session.trace_events.map(|limit| Timeline::new(machine, limit)),
            misses: 1.0,
            bandwidth: link_bytes(&env),
            tasks: Slab::new(),
            pending: vec![0; stacks],
            turns: vec![policy::Mean::default(); stacks],
            warps: 0,
            links: links.unwrap_or_else(|| vec![[Load::default(); 2]; stacks]),
            map,
            session,
            learn_cycles: 0,
            learning,
            gate,
            candidates: vec![CandidateCounts::default(); self.table.entries.len()],
            faults,
            copies: (self.policy.decide.is_some() && env.is_coherent).then(|| {
                Copies::new(machine.cache.line_bytes, machine.gpu.sms, machine.sms()).into()
            }),
        };
        let cycles = system.run(&env, &mut shared, progress)?;
        let mut measures = Measures::new(text.len());
        measures.cycles = cycles;
        measures.time = env.clock.time(cycles);
        let share = |used| used as f64 / measures.time.max(1) as f64;
        let mut used = |stack| system.memory().link_use(stack, measures.time).map(share);
        shared.session.links.insert(kernel.name.clone(), (0..stacks).map(&mut used).collect());
        measures.profile = shared.profile;
        measures.occupancy = (held.blocks, held.limit);
        measures.candidates = shared.candidates;
        measures.learn_cycles = shared.learn_cycles;
        measures.bits = match self.maps {
            Mapping::Baseline => None,
            Mapping::Transparent | Mapping::Oracle => shared.session.bits.map(StackBits::pair),
        };
        let cores = &shared.state.counters.cores[machine.gpu.sms as usize..];
        measures.stack_instructions = cores.iter().sum();
        system.sms().iter().for_each(|sm| measures.take_sm(sm));
        measures.memory = std::mem::take(&mut system.memory().counts);
        Ok((measures, shared.timeline.map(Timeline::into_trace)))
    }
}
