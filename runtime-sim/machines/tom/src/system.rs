//! All multiprocessors with what is behind them. Time goes on in windows that are so short that what one
//! of them asks for is answered behind its end at the earliest: multiprocessors are simulated one after
//! the other in each, then memory, which is exact, and everything happens in one order. What is asked for in
//! a window only comes to the ports of clusters in it, so that a second thread does what is behind these
//! beside multiprocessors, and in the next one what was asked for.

use std::sync::{Arc, Mutex};

use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Cycle, NEVER, Progress, Team};
use nbcc_sim_simt::machine::fault::Fault;

use crate::clock::Time;
use crate::map::Learning;
use crate::memory::Memory;
use crate::message::{Answer, Ask, Request};
use crate::monitor::Monitor;
use crate::report;
use crate::residents::Resident;
use crate::sm::{Env, Shared, Sm};
use crate::timeline::Timeline;

/// The machine while a launch runs.
pub struct System {
    sms: Sms,
    behind: Mutex<Behind>,
    threads: usize,
}

/// The multiprocessors.
struct Sms {
    /// Those of the GPU first.
    all: Vec<Sm>,
    /// When something happens next, by multiprocessor, in cycles.
    next: Vec<Cycle>,
    /// What they have asked for in a window.
    asked: Vec<Request>,
}

/// What is behind them.
struct Behind {
    memory: Memory,
    /// What it has answered in a window.
    answers: Vec<Answer>,
    /// What was asked for before this time, and it does not know yet.
    asked: Vec<Request>,
    until: Time,
    /// Lines of the shared cache that are not valid any more, as well.
    dropped: Vec<u64>,
}

/// Windows between two reports of progress.
const REPORT: u64 = 1 << 12;
/// Requests on their way that are worth another thread in a window.
const WORTH: usize = 12;

const LOCK: &str = "a thread that simulates has panicked";

impl System {
    /// Idle multiprocessors, to be simulated on so many threads.
    pub fn new(env: &Env<'_, '_>, model: &Arc<Model>, threads: usize) -> System {
        let count = env.machine.sms();
        let mut memory = Memory::new(env.machine, model);
        if env.policy.is_ideal {
            memory.idealise();
        }
        System {
            sms: Sms {
                all: (0..count).map(|number| Sm::new(number, env)).collect(),
                next: vec![NEVER; count as usize],
                asked: Vec::new(),
            },
            behind: Mutex::new(Behind {
                memory,
                answers: Vec::new(),
                asked: Vec::new(),
                until: 0,
                dropped: Vec::new(),
            }),
            threads,
        }
    }

    /// What is behind the multiprocessors.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.behind.get_mut().expect(LOCK).memory
    }

    /// The multiprocessors, those of the GPU first.
    pub fn sms(&self) -> &[Sm] {
        &self.sms.all
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
        // A timeline is written in the order of multiprocessors and memory.
        let helps = self.threads > 1 && shared.timeline.is_none() && self.memory().part();
        let (sms, behind) = (&mut self.sms, &self.behind);
        let team = Team::new(helps.into());
        std::thread::scope(|scope| {
            let _lead = team.lead();
            if helps {
                scope.spawn(|| team.work(0, |end| behind.lock().expect(LOCK).go_ahead(end)));
            }
            windows(sms, behind, helps.then_some(&team), env, shared, progress)
        })
    }
}

impl Behind {
    /// Requests on their way.
    fn in_flight(&self) -> usize {
        self.memory.in_flight() + self.asked.len()
    }

    /// Knows all that was asked for.
    fn settle(&mut self, timeline: &mut Option<Timeline>) {
        self.dropped.drain(..).for_each(|line| self.memory.drop_line(line));
        self.asked.drain(..).for_each(|request| self.memory.ask(request));
        self.memory.run(self.until, &mut self.answers, timeline);
    }

    /// Does what there is to do in a window whatever is asked for in it.
    fn go_ahead(&mut self, end: Time) {
        self.settle(&mut None);
        self.memory.go_ahead(end, &mut self.answers);
    }
}

/// Goes from window to window.
fn windows(
    sms: &mut Sms,
    behind: &Mutex<Behind>,
    team: Option<&Team>,
    env: &Env<'_, '_>,
    shared: &mut Shared<'_, '_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Cycle, Box<Fault>> {
    sms.first_blocks(0, env, shared);
    let mut monitor = Monitor::new(env);
    let mut held = behind.lock().expect(LOCK);
    let window = held.memory.window();
    let (mut now, mut number): (Time, u64) = (0, 0);
    let mut company = std::mem::take(&mut shared.session.company);
    loop {
        let next = env.clock.time(sms.next.iter().copied().fold(NEVER, Cycle::min));
        if next > now && held.memory.next_behind_ports() > now {
            held.settle(&mut shared.timeline);
            let first = next.min(held.memory.next_event());
            if first == NEVER {
                break;
            }
            now = first.max(now);
        }
        monitor.look(now, &held.memory, shared);
        if env.clock.cycle(now) >= env.max_cycles {
            let stopped = |resident: &Resident| resident.block.out_of_cycles(env.max_cycles);
            if let Some(fault) = report::unfinished(&sms.all, env, shared, stopped) {
                return Err(fault);
            }
        }
        let end = now.saturating_add(window);
        let until = env.clock.cycle(end);
        match team {
            Some(team) if held.in_flight() >= WORTH && company.is_worth() => {
                drop(held);
                let mut ran = Ok(());
                let own = || ran = sms.run(until, env, shared);
                let go_ahead = |_| behind.lock().expect(LOCK).go_ahead(end);
                company.helped(team.round(end, own, go_ahead));
                held = behind.lock().expect(LOCK);
                ran?;
            }
            Some(_) => {
                held.go_ahead(end);
                sms.run(until, env, shared)?;
            }
            None => sms.run(until, env, shared)?,
        }
        held.until = end;
        std::mem::swap(&mut held.asked, &mut sms.asked);
        if team.is_none() {
            held.settle(&mut shared.timeline);
        }
        let Behind { answers, dropped, .. } = &mut *held;
        for answer in answers.drain(..) {
            debug_assert!(until <= answer.cycle, "{answer:?} comes to cycles before {until}");
            if answer.ask == Ask::Return && env.is_coherent && !shared.faults.keeps_lines {
                // The shared cache is the GPU's, too.
                let task = shared.tasks.get(answer.token).expect("a task");
                dropped.extend(&task.written);
            }
            sms.receive(&answer);
        }
        now = end;
        let cycle = env.clock.cycle(now);
        let comes = shared.dispatch.started() < shared.dispatch.total();
        let ends =
            |learning: &mut Learning| learning.is_over() || comes && learning.is_stuck(cycle);
        if shared.learning.as_mut().is_some_and(ends) {
            stop_learning(cycle, sms, &mut held, env, shared);
        }
        number += 1;
        if number.is_multiple_of(REPORT) {
            report(env.clock.cycle(now), shared, progress);
        }
    }
    let stopped = |resident: &Resident| resident.block.stalled();
    if let Some(fault) = report::unfinished(&sms.all, env, shared, stopped) {
        return Err(fault);
    }
    let end = sms.all.iter().map(|sm| sm.end).max().unwrap_or(0);
    if shared.learning.is_some() {
        stop_learning(end, sms, &mut held, env, shared);
    }
    sms.all.iter_mut().for_each(|sm| sm.finish(end));
    held.memory.finish(env.clock.time(end));
    shared.session.company = company;
    report(end, shared, progress);
    Ok(end)
}

/// Enough was learnt, or the blocks that have started wait for others: data is copied by the mapping that
/// was found, and execution goes on. The copy is not counted: without learning it would have been made
/// before the launch.
fn stop_learning(
    now: Cycle,
    sms: &mut Sms,
    behind: &mut Behind,
    env: &Env<'_, '_>,
    shared: &mut Shared<'_, '_>,
) {
    behind.settle(&mut shared.timeline);
    let memory = &mut behind.memory;
    let Some(learning) = shared.learning.take() else { return };
    let learning_from_host = learning.from_host;
    shared.session.take(learning);
    if !shared.session.watches_all {
        shared.map = shared.session.map(env.machine, shared.state.memory.whole());
        memory.map = shared.map.clone();
    }
    memory.use_host(env.machine, false);
    if learning_from_host {
        shared.learn_cycles = now;
    }
    shared.gate = u64::MAX;
    sms.first_blocks(now, env, shared);
}

impl Sms {
    /// Runs them one after another up to the end of a window.
    fn run(
        &mut self,
        until: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Box<Fault>> {
        for (sm, next) in self.all.iter_mut().zip(&mut self.next) {
            if *next < until {
                *next = sm.run(until, env, shared)?;
                self.asked.append(&mut sm.out);
            }
        }
        Ok(())
    }

    /// Memory answers.
    fn receive(&mut self, answer: &Answer) {
        let index = answer.sm as usize;
        self.all[index].receive(answer);
        self.next[index] = self.next[index].min(answer.cycle);
    }

    /// Blocks go to the multiprocessors of the GPU in turn until all are full.
    fn first_blocks(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        let gpu = env.machine.gpu.sms as usize;
        loop {
            let mut started = false;
            for sm in &mut self.all[..gpu] {
                started |= sm.start_block(now, env, shared);
            }
            if !started {
                break;
            }
        }
        for (sm, next) in self.all.iter_mut().zip(&mut self.next) {
            *next = sm.next_event();
        }
    }
}

fn report(now: Cycle, shared: &Shared<'_, '_>, progress: &mut dyn FnMut(Progress)) {
    progress(Progress {
        cycles: now,
        instructions: shared.state.counters.cores.iter().sum(),
        blocks: Some((shared.dispatch.started(), shared.dispatch.total())),
    });
}
