//! All cores of the machine with the network between them. Time goes on in windows that are so short
//! that what a core sends within one reaches nobody before its end: cores are simulated one after the
//! other in each, which is exact, and everything happens in one order.

use std::sync::Arc;

use nbcc_isa_mpu::Machine;
use nbcc_sim_dram::Model;
use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Cycle, Progress};
use nbcc_sim_network::mesh::{MeshConfig, Network, Packet};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::timing::NEVER;

use crate::answers::Message;
use crate::core::{Core, Env, Shared};

/// The machine while a launch runs.
pub struct System {
    /// The cores, by their numbers.
    pub cores: Vec<Core>,
    /// What is between them.
    pub network: Network,
    messages: Slab<Message>,
    /// When something happens next, by core.
    next: Vec<Cycle>,
    /// Packets that were sent: what is sent in one cycle goes in this order.
    sent: u64,
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

/// Cycles between two reports of progress.
const REPORT: u64 = 1 << 12;

impl System {
    /// Idle cores.
    pub fn new(env: &Env<'_, '_>, model: &Arc<Model>) -> System {
        let count = env.machine.cores();
        System {
            cores: (0..count).map(|number| Core::new(number, env, model)).collect(),
            network: Network::new(mesh(env.machine)),
            messages: Slab::new(),
            next: vec![NEVER; count as usize],
            sent: 0,
        }
    }

    /// Runs all blocks; the cycles that they take.
    ///
    /// # Errors
    /// The first fault.
    pub fn run(
        &mut self,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Cycle, Box<Fault>> {
        for (core, next) in self.cores.iter_mut().zip(&mut self.next) {
            core.start_blocks(0, env, shared);
            *next = core.next_event();
        }
        let rate = Cycle::from(env.machine.network.router_rate);
        let window = window(env.machine);
        let (mut now, mut windows) = (0, 0_u64);
        loop {
            let packet = self.network.next_event().map_or(NEVER, |tick| tick / rate);
            let first = self.next.iter().copied().fold(packet, Cycle::min);
            if first == NEVER {
                break;
            }
            now = first.max(now);
            if now >= env.max_cycles
                && let Some(fault) = self.cores.iter().find_map(|core| core.out_of_cycles(env))
            {
                return Err(fault);
            }
            while let Some(delivery) = self.network.step(now * rate) {
                let message = self.messages.remove(delivery.packet.tag as u32);
                let to = delivery.packet.destination as usize;
                let time =
                    (delivery.time + 1).div_ceil(rate) + Cycle::from(env.machine.latency.interface);
                self.cores[to].receive(time.max(now), message);
                self.next[to] = self.next[to].min(time.max(now));
            }
            let end = now.saturating_add(window);
            for number in 0..self.cores.len() {
                if self.next[number] < end {
                    self.next[number] = self.cores[number].run(end, env, shared)?;
                    self.send(number, rate);
                }
            }
            now = end;
            windows += 1;
            if windows.is_multiple_of(REPORT) {
                report(now, shared, progress);
            }
        }
        let end = self.cores.iter().map(|core| core.end).max().unwrap_or(0);
        self.cores.iter_mut().for_each(|core| core.finish(end));
        report(end, shared, progress);
        Ok(end)
    }

    /// Hands what a core sends to the network.
    fn send(&mut self, number: usize, rate: Cycle) {
        for out in std::mem::take(&mut self.cores[number].out) {
            self.sent += 1;
            let packet = Packet {
                source: number as u32,
                destination: out.to,
                bytes: out.bytes,
                rank: self.sent,
                tag: self.messages.insert(out.message).into(),
            };
            self.network.inject(out.time * rate, packet);
        }
    }
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

fn report(now: Cycle, shared: &Shared<'_, '_>, progress: &mut dyn FnMut(Progress)) {
    progress(Progress {
        cycles: now,
        instructions: shared.state.counters.cores.iter().sum(),
        blocks: Some((shared.dispatch.started(), shared.dispatch.total())),
    });
}
