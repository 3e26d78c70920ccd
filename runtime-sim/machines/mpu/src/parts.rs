//! The cores in parts for several threads, and what of a window they do at the same time.
//!
//! In a window no core notices another but by memory, in which cores see each other in the order of
//! their numbers. So all go ahead on what memory was before the window: what they store goes to a log
//! each, what they load is noted, and before an instruction that has to see all (an atomic operation, a
//! generic access, a load behind a store of its own, a call of the host) a core stops. Then they are
//! gone through one after another: what was loaded is loaded again if a core before may have stored
//! there, which is in time since nothing uses it within the window; the log is done; who stopped goes
//! on. So all is as if they had been simulated one after another, whatever the threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Cycle, Lane, NEVER, Trace};
use nbcc_sim_simt::Counters;
use nbcc_sim_simt::machine::context::State;
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::machine::view::{Log, View};
use nbcc_sim_simt::memory::Memory;
use nbcc_sim_simt::timing::dispatch::Dispatch;

use crate::answers::Message;
use crate::core::{Came, Core, Env, Outgoing, Shared};
use crate::measures::Profile;

/// Cores that are worth another thread in a window.
pub const WORTH: usize = 12;
/// Parts for each thread, since none knows how long the others take.
const SHARES: usize = 8;

/// What all parts share.
pub struct Common<'a> {
    memory: RwLock<&'a mut Memory>,
    rest: Mutex<Rest<'a>>,
}

/// What is only changed in the order of cores.
struct Rest<'a> {
    output: &'a mut Vec<u8>,
    trace: Option<&'a mut (Trace, Vec<Lane>)>,
}

impl<'a> Common<'a> {
    /// Memory, what the program prints, the timeline with lanes of all subcores.
    pub fn new(
        memory: &'a mut Memory,
        output: &'a mut Vec<u8>,
        trace: Option<&'a mut (Trace, Vec<Lane>)>,
    ) -> Common<'a> {
        let rest = Mutex::new(Rest { output, trace });
        Common { memory: RwLock::new(memory), rest }
    }
}

/// Cores with neighbouring numbers.
pub struct Part {
    /// The cores.
    pub cores: Vec<Core>,
    /// When something happens next, by core.
    next: Vec<Cycle>,
    /// What has come to them and they have not received: to which, when.
    incoming: Vec<(u32, Cycle, Message)>,
    /// How they went ahead in a window.
    ahead: Vec<Ahead>,
    /// What those have sent in it that nothing stopped.
    out: Vec<Outgoing>,
    /// What is counted of them.
    pub counters: Counters,
    /// The same by instruction.
    pub profile: Profile,
    /// Their blocks that are still to be started.
    pub dispatch: Dispatch,
    /// The allocation that was used last.
    near: usize,
}

/// How a core went ahead: what is to be looked at afterwards, without the core itself, which is in the
/// caches of who simulated it.
#[derive(Default)]
struct Ahead {
    /// How far it has come, if it went.
    came: Option<Result<Came, Box<Fault>>>,
    /// First and last byte of what it has loaded.
    loaded: Option<[u64; 2]>,
    /// What it has stored.
    log: Log,
    /// Where what it has sent ends, nothing stopping it.
    sent: usize,
}

/// All of them.
pub struct Parts {
    parts: Vec<Mutex<Part>>,
    /// Whether each is begun in a window.
    begun: Vec<AtomicBool>,
    /// Threads that simulate.
    pub threads: usize,
    /// Cores of each but the last.
    pub each: usize,
}

const LOCK: &str = "a thread that simulates has panicked";

impl Part {
    /// Gives cores what they change together.
    fn with<T>(
        &mut self,
        view: View<'_>,
        rest: Option<&mut Rest<'_>>,
        run: impl FnOnce(&mut [Core], &mut [Cycle], &mut Shared<'_, '_>) -> T,
    ) -> T {
        let nothing = &mut Vec::new();
        let (output, trace) = match rest {
            Some(rest) => (&mut *rest.output, rest.trace.as_deref_mut()),
            None => (nothing, None),
        };
        let state = State { memory: view, counters: &mut self.counters, output, near: self.near };
        let (dispatch, profile) = (&mut self.dispatch, &mut self.profile);
        let mut shared = Shared { state, dispatch, profile, trace };
        let result = run(&mut self.cores, &mut self.next, &mut shared);
        self.near = shared.state.near;
        result
    }

    /// The same with all of memory.
    fn with_all<T>(
        &mut self,
        common: &Common<'_>,
        run: impl FnOnce(&mut [Core], &mut [Cycle], &mut Shared<'_, '_>) -> T,
    ) -> T {
        let mut memory = common.memory.write().expect(LOCK);
        let mut rest = common.rest.lock().expect(LOCK);
        self.with(View::Whole(&mut memory), Some(&mut rest), run)
    }

    /// Starts the first blocks.
    pub fn start(&mut self, env: &Env<'_, '_>, common: &Common<'_>) {
        self.with_all(common, |cores, next, shared| {
            for (core, next) in cores.iter_mut().zip(next) {
                core.start_blocks(0, env, shared);
                *next = core.next_event();
            }
        });
    }

    /// When something happens next.
    pub fn next_event(&self) -> Cycle {
        self.next.iter().copied().fold(NEVER, Cycle::min)
    }

    /// Something comes to a core at a cycle.
    pub fn receive(&mut self, core: usize, time: Cycle, message: Message) {
        self.incoming.push((core as u32, time, message));
        self.next[core] = self.next[core].min(time);
    }

    /// Hands cores what has come to them.
    fn hand_over(&mut self) {
        for (core, time, message) in self.incoming.drain(..) {
            self.cores[core as usize].receive(time, message);
        }
    }

    /// Runs cores one after another up to the end of a window; `send` takes what each sends.
    ///
    /// # Errors
    /// The first fault.
    pub fn run(
        &mut self,
        end: Cycle,
        env: &Env<'_, '_>,
        common: &Common<'_>,
        mut send: impl FnMut(u32, &mut dyn Iterator<Item = Outgoing>),
    ) -> Result<(), Box<Fault>> {
        self.hand_over();
        self.with_all(common, |cores, next, shared| {
            for (core, next) in cores.iter_mut().zip(next) {
                if *next < end {
                    *next = through(core.run(end, env, shared)?);
                    send(core.number, &mut core.out.drain(..));
                }
            }
            Ok(())
        })
    }

    /// Runs the cores of a part as far as they can go on what memory was before the window.
    fn go_ahead(part: &Mutex<Part>, end: Cycle, env: &Env<'_, '_>, common: &Common<'_>) {
        let (mut part, memory) = (part.lock().expect(LOCK), common.memory.read().expect(LOCK));
        part.hand_over();
        for number in 0..part.cores.len() {
            if part.next[number] >= end {
                continue;
            }
            let mut log = std::mem::take(&mut part.ahead[number].log);
            let view = View::Before(&memory, &mut log);
            let came = part.with(view, None, |cores, _, shared| {
                cores[number].loaded.clear();
                cores[number].run(end, env, shared)
            });
            let Part { cores, ahead, out, .. } = &mut *part;
            let core = &mut cores[number];
            if matches!(came, Ok(Came::Through(_))) {
                out.append(&mut core.out);
            }
            let ranges = core.loaded.iter().map(|load| load.range);
            let loaded = ranges.reduce(|sum, range| [sum[0].min(range[0]), sum[1].max(range[1])]);
            ahead[number] = Ahead { came: Some(came), loaded, log, sent: out.len() };
        }
    }
}

/// The next event of a core that nothing stops.
fn through(came: Came) -> Cycle {
    match came {
        Came::Through(next) => next,
        Came::Before(cycle) => panic!("a core that sees all memory stops at cycle {cycle}"),
    }
}

/// Memory that was stored to in a window.
#[derive(Default)]
struct Stored {
    all: bool,
    /// First and last byte, a core each.
    ranges: Vec<(u64, u64)>,
}

impl Stored {
    fn meets(&self, [first, last]: [u64; 2]) -> bool {
        self.all || self.ranges.iter().any(|range| range.0 <= last && first <= range.1)
    }
}

impl Parts {
    /// Idle cores, in parts for so many threads.
    pub fn new(
        env: &Env<'_, '_>,
        model: &Arc<Model>,
        counters: &Counters,
        threads: usize,
    ) -> Parts {
        let count = env.machine.cores() as usize;
        let threads = threads.clamp(1, count);
        let shares = if threads == 1 { 1 } else { threads * SHARES };
        let each = count.div_ceil(shares.min(count));
        let numbers: Vec<u32> = (0..count as u32).collect();
        let text = env.context.program.code.text.len();
        let part = |numbers: &[u32]| Part {
            cores: numbers.iter().map(|&number| Core::new(number, env, model)).collect(),
            next: vec![NEVER; numbers.len()],
            incoming: Vec::new(),
            ahead: numbers.iter().map(|_| Ahead::default()).collect(),
            out: Vec::new(),
            counters: counters.clone(),
            profile: Profile::new(text),
            dispatch: Dispatch::new(env.context.grid, count as u32),
            near: 0,
        };
        Parts {
            parts: numbers.chunks(each).map(|part_of| Mutex::new(part(part_of))).collect(),
            begun: numbers.chunks(each).map(|_| AtomicBool::new(false)).collect(),
            threads,
            each,
        }
    }

    /// Before threads go ahead in a window.
    pub fn begin(&self) {
        self.begun.iter().for_each(|begun| begun.store(false, Ordering::Relaxed));
    }

    /// What a thread does in a window: the parts that are its own, since its caches may hold them, then
    /// what others have not come to, the last ones first.
    pub fn go_ahead(&self, thread: usize, end: Cycle, env: &Env<'_, '_>, common: &Common<'_>) {
        let count = self.parts.len();
        let first = |thread: usize| thread * count / self.threads;
        for number in (first(thread)..first(thread + 1)).chain((0..count).rev()) {
            if !self.begun[number].swap(true, Ordering::Relaxed) {
                Part::go_ahead(&self.parts[number], end, env, common);
            }
        }
    }

    /// All of them, in their order.
    pub fn lock(&self) -> Vec<MutexGuard<'_, Part>> {
        self.parts.iter().map(|part| part.lock().expect(LOCK)).collect()
    }

    /// All of them, when threads are gone.
    pub fn into_inner(self) -> impl Iterator<Item = Part> {
        self.parts.into_iter().map(|part| part.into_inner().expect(LOCK))
    }

    /// Whether a window has so much to do that threads are worth it.
    pub fn are_busy(&self, all: &[MutexGuard<'_, Part>], end: Cycle) -> bool {
        let cores = |part: &MutexGuard<'_, Part>| part.next.iter().filter(|at| **at < end).count();
        self.threads > 1 && all.iter().map(cores).sum::<usize>() >= WORTH
    }

    /// Ends a window in which all have gone ahead.
    ///
    /// # Errors
    /// The first fault, in the order of cores.
    pub fn settle(
        &self,
        all: &mut [MutexGuard<'_, Part>],
        end: Cycle,
        env: &Env<'_, '_>,
        common: &Common<'_>,
        mut send: impl FnMut(u32, &mut dyn Iterator<Item = Outgoing>),
    ) -> Result<(), Box<Fault>> {
        let mut memory = common.memory.write().expect(LOCK);
        let mut rest = common.rest.lock().expect(LOCK);
        let mut stored = Stored::default();
        for part in all {
            let part = &mut **part;
            let first = part.cores[0].number;
            let mut sent = 0;
            let mut all_out = std::mem::take(&mut part.out);
            let mut out = all_out.drain(..);
            for number in 0..part.cores.len() {
                let Some(came) = part.ahead[number].came.take() else { continue };
                let loaded = part.ahead[number].loaded;
                if loaded.is_some_and(|range| stored.meets(range)) {
                    let loaded = std::mem::take(&mut part.cores[number].loaded);
                    for load in loaded.iter().filter(|load| stored.meets(load.range)) {
                        part.with(View::Whole(&mut memory), None, |cores, _, shared| {
                            cores[number].load_again(load, env, shared)
                        })?;
                    }
                    part.cores[number].loaded = loaded;
                }
                let Ahead { log, sent: until, .. } = &mut part.ahead[number];
                if let Some(range) = log.range() {
                    stored.ranges.push(range);
                    log.apply(&mut memory, &mut part.near);
                }
                send(first + number as u32, &mut out.by_ref().take(*until - sent));
                sent = *until;
                part.next[number] = match came? {
                    Came::Through(next) => next,
                    Came::Before(_) => {
                        stored.all = true;
                        let view = View::Whole(&mut memory);
                        let next =
                            through(part.with(view, Some(&mut rest), |cores, _, shared| {
                                cores[number].run(end, env, shared)
                            })?);
                        send(first + number as u32, &mut part.cores[number].out.drain(..));
                        next
                    }
                };
            }
            drop(out);
            part.out = all_out;
        }
        Ok(())
    }
}
