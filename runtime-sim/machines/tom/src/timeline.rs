//! The timeline of a launch: a lane a multiprocessor, a link, a vault. Its unit is a cycle of the
//! multiprocessors.

use nbcc_isa_tom::Machine;
use nbcc_isa_tom::layout::Place;
use nbcc_sim_engine::{Cycle, Lane, Trace};

use crate::clock::{Clock, Time};
use crate::vault::VaultTiming;

/// The timeline with its lanes.
#[derive(Debug)]
pub struct Timeline {
    trace: Trace,
    clock: Clock,
    sms: Vec<Lane>,
    /// To and from each stack.
    links: Vec<[Lane; 2]>,
    /// Blocks that each stack runs.
    blocks: Vec<Lane>,
    /// Vaults of each stack.
    vaults: Vec<Vec<Lane>>,
}

impl Timeline {
    /// A timeline that keeps so many events.
    pub fn new(machine: &Machine, limit: usize) -> Timeline {
        let mut trace = Trace::new(limit);
        let sms = (0..machine.sms())
            .map(|sm| match sm.checked_sub(machine.gpu.sms) {
                None => {
                    let cluster = sm / machine.gpu.cluster_sms;
                    trace.lane(&format!("cluster {cluster}"), &format!("multiprocessor {sm}"))
                }
                Some(number) => {
                    let stack = number / machine.stack.sms.max(1);
                    trace.lane(&format!("stack {stack}"), &format!("multiprocessor {sm}"))
                }
            })
            .collect();
        let links = (0..machine.stack.count)
            .map(|stack| {
                ["TX", "RX"].map(|way| trace.lane("links", &format!("{way} of stack {stack}")))
            })
            .collect();
        let blocks = (0..machine.stack.count)
            .map(|stack| trace.lane(&format!("stack {stack}"), "offloaded blocks"))
            .collect();
        let vaults = (0..machine.stack.count)
            .map(|stack| {
                (0..machine.stack.vaults)
                    .map(|vault| trace.lane(&format!("stack {stack}"), &format!("vault {vault}")))
                    .collect()
            })
            .collect();
        Timeline { trace, clock: Clock::gigahertz(machine.gpu.clock), sms, links, blocks, vaults }
    }

    /// An instruction issues.
    pub fn issue(&mut self, sm: u32, name: &'static str, now: Cycle, pc: u32) {
        self.trace.push(self.sms[sm as usize], name, now, 1, pc.into());
    }

    /// A block of a candidate from its marker to its acknowledgment.
    pub fn offload(&mut self, stack: u32, candidate: u32, from: Cycle, to: Cycle) {
        let lane = self.blocks[stack as usize];
        self.trace.push(lane, "offload", from, (to - from).max(1), candidate.into());
    }

    /// A packet on the link to (0) or from (1) a stack.
    pub fn link(&mut self, stack: usize, way: usize, name: &'static str, from: Time, to: Time) {
        self.span(self.links[stack][way], name, from, to, 0);
    }

    /// A request comes to a vault.
    pub fn vault(&mut self, place: Place, name: &'static str, at: Time, timing: VaultTiming) {
        let lane = self.vaults[place.stack as usize][place.vault as usize];
        self.span(lane, name, at, at + timing.dram.period, place.row.into());
    }

    fn span(&mut self, lane: Lane, name: &'static str, from: Time, to: Time, detail: u64) {
        let (start, end) = (from / self.clock.period, to.div_ceil(self.clock.period));
        self.trace.push(lane, name, start, (end - start).max(1), detail);
    }

    /// What it holds.
    pub fn into_trace(self) -> Trace {
        self.trace
    }
}
