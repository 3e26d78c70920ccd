//! All vaults and the network in time: a conservative parallel simulation.
//!
//! Vaults run apart from each other up to a horizon before which no message can
//! reach them. Then what they sent goes into the network, the network moves up to the
//! earliest cycle at which anything else can be sent, and what it delivers opens the
//! next horizon. Everything follows from the program and the machine: the order in
//! which vaults run, and on how many threads, is not visible in the results.
//!
//! `sync` is a barrier by the master-slave protocol of section IV.D of the iPIM
//! paper: a message to the master vault on arrival, one from it to every vault when
//! all have come.

use std::sync::Arc;

use nbcc_isa_ipim::{ATOM_BYTES, Machine};
use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Cycle, Progress, Trace};
use nbcc_sim_network::{MeshConfig, Network, Packet};
use rayon::prelude::*;

use crate::fault::{Fault, FaultKind};
use crate::timed::{Context, Message, State, TimedVault};
use crate::vault::{Fetch, Vault};
use nbcc_sim_engine::slab::Slab;

/// Vaults run at most this far before faults are looked at and progress is reported.
pub const WINDOW: Cycle = 1 << 16;
/// Windows of fewer cycles over all vaults are not worth waking other threads.
const PARALLEL_WORK: Cycle = 1024;

/// A message in the network.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Request { from: u32, fetch: Fetch, pending: u32 },
    Response { to: u32, pending: u32 },
    Arrive,
    Proceed,
}

/// Bounds and reports of a run.
pub struct Control<'a> {
    /// Cycles after which the run is given up.
    pub max_cycles: Cycle,
    /// Threads that simulate vaults.
    pub threads: usize,
    /// The longest time for which vaults run apart, [`WINDOW`] unless a test wants to
    /// know that it does not matter.
    pub window: Cycle,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// All vaults and the network.
pub struct System<'a> {
    cx: &'a Context<'a>,
    /// The vaults, by their global numbers.
    pub vaults: Vec<TimedVault>,
    /// What connects them.
    pub network: Network,
    flights: Slab<Flight>,
    /// `req`s whose data has not come.
    fetches: u64,
    /// Requests in the network.
    requests: u64,
    /// Vaults whose arrival at a `sync` the master has seen.
    arrived: u32,
    /// Cycles before this one are simulated.
    now: Cycle,
}

impl<'a> System<'a> {
    /// A machine at cycle 0. `trace_events` bounds the events of all vaults together.
    pub fn new(
        vaults: Vec<Vault>,
        cx: &'a Context<'a>,
        model: &Arc<Model>,
        trace_events: Option<usize>,
    ) -> System<'a> {
        let machine = cx.machine;
        let events = trace_events.map(|limit| limit.div_ceil(vaults.len().max(1)));
        let vaults =
            vaults.into_iter().map(|vault| TimedVault::new(vault, cx, model, events)).collect();
        System {
            cx,
            vaults,
            network: Network::new(mesh_config(machine)),
            flights: Slab::new(),
            fetches: 0,
            requests: 0,
            arrived: 0,
            now: 0,
        }
    }

    /// Runs the program to its end and returns the number of cycles.
    ///
    /// # Errors
    /// The first fault, by cycle and vault.
    pub fn run(&mut self, control: &mut Control<'_>) -> Result<Cycle, Fault> {
        let pool = match control.threads {
            0 | 1 => None,
            threads => rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok(),
        };
        let (max_cycles, window) = (control.max_cycles, control.window);
        let mut horizon = self.horizon(Cycle::MAX, window).min(max_cycles.saturating_add(1));
        loop {
            let report = self.now + WINDOW;
            let cycles = match &pool {
                // What runs in the pool hands work to its other threads without waiting for one.
                Some(pool) => {
                    pool.install(|| self.run_to(report, &mut horizon, max_cycles, window, true))?
                }
                None => self.run_to(report, &mut horizon, max_cycles, window, false)?,
            };
            let instructions = self.instructions();
            (control.progress)(Progress { cycles: self.now, instructions, blocks: None });
            if let Some(cycles) = cycles {
                return Ok(cycles);
            }
        }
    }

    fn hop(&self) -> Cycle {
        Cycle::from(self.cx.machine.network.t_noc)
    }

    /// Runs up to cycle `report` or a little further, the first time up to `horizon`. Returns the number of
    /// cycles if the program has come to its end.
    fn run_to(
        &mut self,
        report: Cycle,
        horizon: &mut Cycle,
        max_cycles: Cycle,
        window: Cycle,
        parallel: bool,
    ) -> Result<Option<Cycle>, Fault> {
        let limit = max_cycles.saturating_add(1);
        loop {
            self.run_vaults(*horizon, parallel);
            self.check_faults()?;
            self.send();
            self.now = *horizon;

            if self.vaults.iter().all(|vault| vault.state == State::Ended) {
                let cycles = self.vaults.iter().map(TimedVault::clock).max().unwrap_or(0);
                if cycles > max_cycles {
                    return Err(self.limit_fault(max_cycles));
                }
                self.vaults.iter_mut().for_each(|vault| vault.finish(cycles));
                return Ok(Some(cycles));
            }
            let send_bound = if self.vaults.iter().all(|vault| vault.state != State::Running) {
                self.check_barrier()?;
                self.pass_barrier();
                Cycle::MAX
            } else {
                self.move_network()
            };
            if self.now >= limit {
                return Err(self.limit_fault(max_cycles));
            }
            *horizon = self.horizon(send_bound, window).min(limit);
            if self.now >= report {
                return Ok(None);
            }
        }
    }

    fn instructions(&self) -> u64 {
        self.vaults.iter().flat_map(|vault| &vault.issued).sum()
    }

    fn run_vaults(&mut self, horizon: Cycle, parallel: bool) {
        let cx = self.cx;
        let run = |vault: &mut TimedVault| {
            if vault.wakes() < horizon {
                vault.run(horizon, cx);
            }
        };
        let work = (horizon - self.now).saturating_mul(self.vaults.len() as Cycle);
        if parallel && work >= PARALLEL_WORK {
            self.vaults.par_iter_mut().for_each(run);
        } else {
            self.vaults.iter_mut().for_each(run);
        }
    }

    fn check_faults(&mut self) -> Result<(), Fault> {
        let faults = self.vaults.iter_mut().filter_map(|vault| vault.fault.take());
        match faults.min_by_key(|fault| (fault.cycle, fault.vault)) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// The fault of the first vault that has not ended in time.
    fn limit_fault(&self, limit: Cycle) -> Fault {
        let late = |vault: &&TimedVault| vault.state != State::Ended || vault.clock() > limit;
        let vault = self.vaults.iter().find(late).expect("a vault that is late");
        let kind = FaultKind::Limit { limit, unit: "cycles" };
        Fault { vault: vault.vault.id, pc: vault.pc_bytes(), cycle: Some(limit), kind }
    }

    /// Puts what vaults have sent into the network. What a request asks for is copied
    /// now: nothing that reads it can have issued, and only a race could have changed it.
    fn send(&mut self) {
        let header = self.cx.machine.network.packet_header;
        let master = self.cx.machine.network.sync_master;
        for source in 0..self.vaults.len() as u32 {
            let mut outbox = std::mem::take(&mut self.vaults[source as usize].outbox);
            for (time, message) in outbox.drain(..) {
                // A core sends one message a cycle; answers follow in the order of
                // their requests, whenever they became known.
                let (flight, destination, bytes, rank) = match message {
                    Message::Request { fetch, pending } => {
                        self.fetches += 1;
                        self.requests += 1;
                        let target = fetch.bank.vault;
                        if target != source {
                            let banks = &self.vaults[target as usize].vault.banks;
                            let atom = banks.read(fetch.bank.engine as usize, fetch.address);
                            self.vaults[source as usize].vault.receive(fetch.vsm, atom);
                        }
                        (Flight::Request { from: source, fetch, pending }, target, header, 0)
                    }
                    Message::Response { to, pending, number } => {
                        let bytes = header + ATOM_BYTES;
                        (Flight::Response { to, pending }, to, bytes, 1 + number)
                    }
                    Message::Arrive => (Flight::Arrive, master, header, 0),
                };
                let tag = u64::from(self.flights.insert(flight));
                let bytes = bytes.max(1);
                self.network.inject(time, Packet { source, destination, bytes, rank, tag });
            }
            self.vaults[source as usize].outbox = outbox;
        }
    }

    /// The earliest cycle at which a request that is being served, or has not arrived
    /// yet, can be answered, given the cycle at which it can be there.
    fn answer(&self, arrival: Cycle) -> Cycle {
        let machine = self.cx.machine;
        let l = &machine.latency;
        let read = machine.dram.t_cl + machine.dram.t_bl;
        arrival + Cycle::from(read + l.t_pe_bus + l.t_tsv + l.t_vsm)
    }

    /// Moves the network up to the earliest cycle at which anything can be sent, and
    /// returns that cycle.
    fn move_network(&mut self) -> Cycle {
        let hop = self.hop();
        // Nothing is sent before `now` any more. What was on its way to a barrier while no
        // request was has waited; it must not pass for a request that is to be answered.
        while let Some(delivery) = self.network.step(self.now) {
            self.deliver(delivery.time, delivery.packet);
        }
        let mut bound = Cycle::MAX;
        for vault in &self.vaults {
            let [_, message] = vault.next_messages(self.now, self.cx);
            bound = bound.min(message);
            if vault.serves_remotes() {
                bound = bound.min(self.answer(self.now));
            }
        }
        if self.requests > 0
            && let Some(event) = self.network.next_event()
        {
            bound = bound.min(self.answer(event + hop));
        }
        while let Some(delivery) = self.network.step(bound) {
            self.deliver(delivery.time, delivery.packet);
            // Who waited for a response may send something now.
            let to = &self.vaults[delivery.packet.destination as usize];
            let [_, message] = to.next_messages(self.now, self.cx);
            bound = bound.min(message);
        }
        bound
    }

    fn deliver(&mut self, time: Cycle, packet: Packet) {
        let to = &mut self.vaults[packet.destination as usize];
        match self.flights.remove(packet.tag as u32) {
            Flight::Request { from, fetch, pending } => {
                self.requests -= 1;
                to.receive_request(time, from, pending, &fetch, self.cx);
            }
            Flight::Response { to, pending } => {
                self.fetches -= 1;
                self.vaults[to as usize].receive_response(time, pending, self.cx);
            }
            Flight::Arrive => {
                self.arrived += 1;
                if self.arrived as usize == self.vaults.len() {
                    self.arrived = 0;
                    self.send_proceed(time);
                }
            }
            Flight::Proceed => to.proceed(time, self.cx),
        }
    }

    fn send_proceed(&mut self, time: Cycle) {
        let bytes = self.cx.machine.network.packet_header.max(1);
        let source = self.cx.machine.network.sync_master;
        for destination in 0..self.vaults.len() as u32 {
            let tag = u64::from(self.flights.insert(Flight::Proceed));
            let rank = u64::from(destination);
            self.network.inject(time, Packet { source, destination, bytes, rank, tag });
        }
    }

    /// The cycle before which no further message can reach a vault, when none is sent
    /// before `send_bound`.
    fn horizon(&self, send_bound: Cycle, window: Cycle) -> Cycle {
        let hop = self.hop();
        // A message takes a hop into the network and one out of it.
        let earliest = if self.fetches > 0 {
            let in_flight = self.network.next_event().map_or(Cycle::MAX, |event| event + hop);
            send_bound.saturating_add(2 * hop).min(in_flight)
        } else {
            // Only requests matter then: a `sync` does not reach a core that runs.
            let requests =
                self.vaults.iter().map(|vault| vault.next_messages(self.now, self.cx)[0]);
            requests.min().unwrap_or(Cycle::MAX).saturating_add(2 * hop)
        };
        debug_assert!(earliest > self.now, "no cycle can be simulated after {}", self.now);
        earliest.min(self.now + window)
    }

    /// Whether all vaults wait at the same phase, given that none runs.
    fn check_barrier(&self) -> Result<(), Fault> {
        let fault = |vault: &TimedVault, kind| {
            let (cycle, pc) = (Some(vault.clock()), vault.pc_bytes());
            // The core has gone past the `sync` that it waits at.
            let pc = pc - nbcc_isa_ipim::INSTRUCTION_BYTES;
            Err(Fault { vault: vault.vault.id, pc, cycle, kind })
        };
        let mut waiting = self.vaults.iter().filter_map(|vault| match vault.state {
            State::Waiting(phase) => Some((vault, phase)),
            _ => None,
        });
        let (first, phase) = waiting.next().expect("a vault that waits");
        for other in &self.vaults {
            let id = other.vault.id;
            match other.state {
                State::Ended => return fault(first, FaultKind::Deadlock { phase, ended: id }),
                State::Waiting(other_phase) if other_phase != phase => {
                    let kind = FaultKind::SyncMismatch { phase, other: id, other_phase };
                    return fault(first, kind);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Moves the network until all vaults run again.
    fn pass_barrier(&mut self) {
        while let Some(delivery) = self.network.step(Cycle::MAX) {
            self.deliver(delivery.time, delivery.packet);
        }
        // Nobody did anything after coming to the barrier, so time goes on from the
        // first vault to leave it, wherever the window ended.
        let clocks = self.vaults.iter().map(TimedVault::clock);
        self.now = clocks.min().unwrap_or(self.now);
    }

    /// The timelines of all vaults in one.
    pub fn take_trace(&mut self, limit: usize) -> Trace {
        let mut trace = Trace::new(limit);
        for vault in &mut self.vaults {
            if let Some(timeline) = vault.take_timeline() {
                trace.append(timeline.into_trace());
            }
        }
        trace
    }
}

fn mesh_config(machine: &Machine) -> MeshConfig {
    let n = &machine.network;
    // Hops between cubes are shorter than a cycle; a router takes one at least.
    let serial_hop = (n.t_serdes / machine.dram.t_ck).ceil().max(1.0) as Cycle;
    MeshConfig {
        cubes: machine.cube_mesh(),
        nodes: machine.vault_mesh(),
        hop: Cycle::from(n.t_noc),
        serial_hop,
        flit_bytes: n.noc_bytes,
        serial_bytes: n.serdes_bytes,
        queue_flits: n.router_queue,
    }
}
