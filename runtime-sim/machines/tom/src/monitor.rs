//! The channel busy monitor (section 4.1): which links to and from stacks were in use for more than a
//! share of the last cycles.

use crate::clock::Time;
use crate::memory::Memory;
use crate::sm::{Env, Shared};

/// How much a channel was in use lately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The share of the time.
    pub share: f64,
    /// The same over some of the monitor's windows: where warps run in step, they load in one and store in
    /// another.
    pub mean: f64,
    /// Whether that is more than the machine's threshold.
    pub is_busy: bool,
}

/// The monitor.
#[derive(Debug)]
pub struct Monitor {
    /// How long it looks.
    window: Time,
    /// The share from which a link is busy.
    threshold: f64,
    /// When it looked last.
    since: Time,
    /// What it saw then, by stack, to and from it.
    seen: Vec<[Time; 2]>,
    /// How many windows it saw, [`MEMORY`] at most.
    looks: u32,
    /// Loads of the GPU that its shared cache and stacks had answered then.
    loads: [u64; 2],
}

/// Windows that a mean is over, the later ones counting more.
const MEMORY: u32 = 8;

impl Monitor {
    /// One that has seen nothing.
    pub fn new(env: &Env<'_, '_>) -> Monitor {
        Monitor {
            window: env.clock.time(env.machine.offload.busy_window.into()),
            threshold: env.machine.offload.busy_threshold,
            since: 0,
            seen: vec![[0; 2]; env.machine.stack.count as usize],
            looks: 0,
            loads: [0; 2],
        }
    }

    /// Says anew which links are busy, once it is time.
    pub fn look(&mut self, now: Time, memory: &Memory, shared: &mut Shared<'_, '_>) {
        let took = now - self.since;
        if took < self.window {
            return;
        }
        self.since = now;
        self.looks = (self.looks + 1).min(MEMORY);
        let loads = memory.loads;
        let [near, far] = [0, 1].map(|at| (loads[at] - self.loads[at]) as f64);
        if near + far > 0.0 {
            shared.misses += (far / (near + far) - shared.misses) / f64::from(self.looks);
        }
        self.loads = loads;
        for (stack, (seen, busy)) in self.seen.iter_mut().zip(&mut shared.links).enumerate() {
            let now = memory.link_use(stack, now);
            for way in 0..2 {
                let share = (now[way] - seen[way].min(now[way])) as f64 / took as f64;
                let before = busy[way].mean;
                let mean = before + (share - before) / f64::from(self.looks);
                busy[way] = Load { share, mean, is_busy: share > self.threshold };
            }
            *seen = now;
        }
    }
}
