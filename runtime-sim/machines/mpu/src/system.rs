//! All cores of the machine with the network between them. Time goes on in windows that are so short
//! that what a core sends within one reaches nobody before its end: cores are simulated one after the
//! other in each, which is exact, and everything happens in one order; [`crate::parts`] does that on
//! several threads.

use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};

use nbcc_isa_mpu::Machine;
use nbcc_sim_dram::Model;
use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Company, Cycle, Lane, NEVER, Progress, Team, Trace};
use nbcc_sim_network::mesh::{Delivery, MeshConfig, Network, NetworkStats, Packet};
use nbcc_sim_simt::Counters;
use nbcc_sim_simt::machine::context::State;
use nbcc_sim_simt::machine::fault::Fault;

use crate::answers::Message;
use crate::core::{Env, Outgoing};
use crate::measures::Measures;
use crate::parts::{Common, Part, Parts, WORTH};

/// The machine while a launch runs.
pub struct System {
    parts: Parts,
    between: Between,
}

/// What is between cores.
struct Between {
    network: Network,
    /// What has come out of it ahead of time.
    early: VecDeque<Delivery>,
    /// The first cycle of what it did ahead of time.
    ahead: Option<Cycle>,
    /// All before this cycle is done.
    until: Cycle,
    messages: Slab<Message>,
    /// Packets that were sent: what is sent in one cycle goes in this order.
    sent: u64,
    /// Ticks of routers a cycle.
    rate: Cycle,
}

/// The network of a machine; its time is counted in ticks of routers.
fn mesh(machine: &Machine) -> MeshConfig {
    let (h, n) = (&machine.hierarchy, &machine.network);
    // Links tick as often as routers, or carry as much more a tick.
    let link = |bytes: u32| (bytes * n.link_rate / n.router_rate).max(1);
    MeshConfig {
        cubes: [h.processor_columns, h.processors / h.processor_columns],
        nodes: [h.core_columns, h.cores / h.core_columns],
        hop: n.router_ticks.into(),
        serial_hop: n.router_ticks.into(),
        flit_bytes: link(n.on_chip_bytes),
        serial_bytes: link(n.off_chip_bytes),
        queue_flits: n.queue_flits,
    }
}

/// Windows between two reports of progress.
const REPORT: u64 = 1 << 12;

impl System {
    /// Idle cores, to be simulated on so many threads.
    pub fn new(
        env: &Env<'_, '_>,
        model: &Arc<Model>,
        counters: &Counters,
        threads: usize,
    ) -> System {
        let loads_wait = {
            // From an issue until what is loaded may be used: see [`Core::memory_access`].
            let latency = &env.machine.latency;
            1 + Cycle::from(latency.register) + Cycle::from(latency.coalesce)
        };
        let blocks: u64 = env.context.grid.iter().map(|n| u64::from(*n)).product();
        let alone = loads_wait < window(env.machine) || blocks < WORTH as u64;
        let threads = if alone { 1 } else { threads };
        System {
            parts: Parts::new(env, model, counters, threads),
            between: Between {
                network: Network::new(mesh(env.machine)),
                early: VecDeque::new(),
                ahead: None,
                until: 0,
                messages: Slab::new(),
                sent: 0,
                rate: env.machine.network.router_rate.into(),
            },
        }
    }

    /// Runs all blocks; the cycles that they take.
    ///
    /// # Errors
    /// The first fault.
    pub fn run(
        &mut self,
        env: &Env<'_, '_>,
        state: &mut State<'_>,
        trace: Option<&mut (Trace, Vec<Lane>)>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Cycle, Box<Fault>> {
        let (parts, between) = (&self.parts, &mut self.between);
        let common = Common::new(state.memory.whole(), state.output, trace);
        let workers = parts.threads - 1;
        let team = Team::new(workers);
        std::thread::scope(|scope| {
            let _lead = team.lead();
            for worker in 0..workers {
                let (team, common) = (&team, &common);
                scope.spawn(move || {
                    team.work(worker, |end| parts.go_ahead(worker + 1, end, env, common))
                });
            }
            windows(parts, between, &team, env, &common, progress)
        })
    }

    /// Adds what was counted.
    pub fn count(self, machine: &Machine, counters: &mut Counters, measures: &mut Measures) {
        for part in self.parts.into_inner() {
            counters.take_part(&part.counters);
            measures.profile.add(&part.profile);
            part.cores.iter().for_each(|core| measures.take_core(core));
        }
        let stats: NetworkStats = self.between.network.stats();
        measures.take_network(stats, machine.network.router_rate);
    }
}

/// Goes from window to window.
fn windows(
    parts: &Parts,
    between: &mut Between,
    team: &Team,
    env: &Env<'_, '_>,
    common: &Common<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Cycle, Box<Fault>> {
    let mut all = parts.lock();
    all.iter_mut().for_each(|part| part.start(env, common));
    let window = window(env.machine);
    let (mut now, mut windows) = (0, 0_u64);
    let mut company = Company::default();
    loop {
        let packet = between.next_event();
        let first = all.iter().map(|part| part.next_event()).fold(packet, Cycle::min);
        if first == NEVER {
            break;
        }
        now = first.max(now);
        if now >= env.max_cycles
            && let Some(fault) =
                all.iter().flat_map(|part| &part.cores).find_map(|core| core.out_of_cycles(env))
        {
            return Err(fault);
        }
        between.deliver(now, env, &mut all, parts.each);
        let end = now.saturating_add(window);
        if parts.are_busy(&all, end) && company.is_worth() {
            drop(all);
            parts.begin();
            let own = || {
                between.go_ahead(now, end, env.machine);
                parts.go_ahead(0, end, env, common);
            };
            let help = team.round(end, own, |_| ());
            all = parts.lock();
            company.helped(help);
            parts.settle(&mut all, end, env, common, |core, out| between.send(core, out))?;
        } else {
            for part in &mut all {
                part.run(end, env, common, |core, out| between.send(core, out))?;
            }
        }
        now = end;
        windows += 1;
        if windows.is_multiple_of(REPORT) {
            report(now, &all, progress);
        }
    }
    let end = all.iter().flat_map(|part| &part.cores).map(|core| core.end).max().unwrap_or(0);
    all.iter_mut().flat_map(|part| &mut part.cores).for_each(|core| core.finish(end));
    report(end, &all, progress);
    Ok(end)
}

impl Between {
    /// When something happens next.
    fn next_event(&self) -> Cycle {
        let next = || self.network.next_event().map_or(NEVER, |tick| tick / self.rate);
        self.ahead.unwrap_or_else(next)
    }

    /// Does what happens in the network in a window before what cores send in it can enter.
    fn go_ahead(&mut self, now: Cycle, end: Cycle, machine: &Machine) {
        let until = end.min(now + sent_after(machine));
        self.until = until;
        let next = self.next_event();
        if next < until {
            self.ahead = Some(next);
            while let Some(delivery) = self.network.step(until * self.rate) {
                self.early.push_back(delivery);
            }
        }
    }

    /// What leaves the network before a tick.
    fn step(&mut self, until: Cycle) -> Option<Delivery> {
        match self.early.front() {
            Some(delivery) if delivery.left < until => self.early.pop_front(),
            Some(_) => None,
            None => self.network.step(until),
        }
    }

    /// Hands cores what comes out of the network up to a cycle.
    fn deliver(
        &mut self,
        now: Cycle,
        env: &Env<'_, '_>,
        all: &mut [MutexGuard<'_, Part>],
        each: usize,
    ) {
        (self.ahead, self.until) = (None, self.until.max(now));
        while let Some(delivery) = self.step(now * self.rate) {
            let message = self.messages.remove(delivery.packet.tag as u32);
            let to = delivery.packet.destination as usize;
            let time = (delivery.time + 1).div_ceil(self.rate)
                + Cycle::from(env.machine.latency.interface);
            all[to / each].receive(to % each, time.max(now), message);
        }
    }

    /// Hands what a core sends to the network.
    fn send(&mut self, core: u32, out: &mut dyn Iterator<Item = Outgoing>) {
        for out in out {
            debug_assert!(self.until <= out.time, "{out:?} comes behind {}", self.until);
            self.sent += 1;
            let packet = Packet {
                source: core,
                destination: out.to,
                bytes: out.bytes,
                rank: self.sent,
                tag: self.messages.insert(out.message).into(),
            };
            self.network.inject(out.time * self.rate, packet);
        }
    }
}

/// Cycles from what makes a core send until it does, at least: an instruction issues, or TSVs bring what a
/// bank answers; and the interface needs time.
fn sent_after(machine: &Machine) -> Cycle {
    1 + Cycle::from(machine.latency.interface)
}

/// The length of a window. A packet that the network has not looked at by its begin leaves its last
/// router no sooner than a hop later, and its interface needs time as well. A core alone has nobody
/// to notice, but is to be asked now and then.
fn window(machine: &Machine) -> Cycle {
    if machine.cores() == 1 {
        return 1 << 10;
    }
    let n = &machine.network;
    Cycle::from(n.router_ticks / n.router_rate + machine.latency.interface)
}

fn report(now: Cycle, all: &[MutexGuard<'_, Part>], progress: &mut dyn FnMut(Progress)) {
    let started = all.iter().map(|part| part.dispatch.started()).sum();
    progress(Progress {
        cycles: now,
        instructions: all.iter().flat_map(|part| &part.counters.cores).sum(),
        blocks: Some((started, all[0].dispatch.total())),
    });
}
