//! All multiprocessors with what is behind them. Time goes on in windows that are so short that what one
//! of them asks for is answered behind its end at the earliest: multiprocessors are simulated one after
//! the other in each, then memory, which is exact, and everything happens in one order.

use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Cycle, Progress};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::timing::NEVER;

use crate::clock::Time;
use crate::map::Learning;
use crate::memory::Memory;
use crate::message::Ask;
use crate::monitor::Monitor;
use crate::report;
use crate::residents::Resident;
use crate::sm::{Env, Shared, Sm};

/// The machine while a launch runs.
pub struct System {
    /// The multiprocessors, those of the GPU first.
    pub sms: Vec<Sm>,
    /// What is behind them.
    pub memory: Memory,
    /// When something happens next, by multiprocessor, in cycles.
    next: Vec<Cycle>,
}

/// Windows between two reports of progress.
const REPORT: u64 = 1 << 12;

impl System {
    /// Idle multiprocessors.
    pub fn new(env: &Env<'_, '_>, model: &std::sync::Arc<Model>) -> System {
        let count = env.machine.sms();
        let mut memory = Memory::new(env.machine, model);
        if env.policy.is_ideal {
            memory.idealise();
        }
        System {
            sms: (0..count).map(|number| Sm::new(number, env)).collect(),
            memory,
            next: vec![NEVER; count as usize],
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
        self.first_blocks(0, env, shared);
        let mut monitor = Monitor::new(env);
        let window = self.memory.window();
        let mut answers = Vec::new();
        let (mut now, mut windows): (Time, u64) = (0, 0);
        loop {
            let first = self.next.iter().copied().fold(NEVER, Cycle::min);
            let first = env.clock.time(first).min(self.memory.next_event());
            if first == NEVER {
                break;
            }
            now = first.max(now);
            monitor.look(now, &self.memory, shared);
            if env.clock.cycle(now) >= env.max_cycles {
                let stopped = |resident: &Resident| resident.block.out_of_cycles(env.max_cycles);
                if let Some(fault) = report::unfinished(&self.sms, env, shared, stopped) {
                    return Err(fault);
                }
            }
            let end = now.saturating_add(window);
            let until = env.clock.cycle(end);
            for (sm, next) in self.sms.iter_mut().zip(&mut self.next) {
                if *next < until {
                    *next = sm.run(until, env, shared)?;
                    sm.out.drain(..).for_each(|request| self.memory.ask(request));
                }
            }
            self.memory.run(end, &mut answers, &mut shared.timeline);
            for answer in answers.drain(..) {
                let index = answer.sm as usize;
                debug_assert!(until <= answer.cycle, "{answer:?} comes to cycles before {until}");
                if answer.ask == Ask::Return && env.is_coherent && !shared.faults.keeps_lines {
                    // The shared cache is the GPU's, too.
                    let task = shared.tasks.get(answer.token).expect("a task");
                    task.written.iter().for_each(|line| self.memory.drop_line(*line));
                }
                self.sms[index].receive(&answer);
                self.next[index] = self.next[index].min(answer.cycle);
            }
            now = end;
            if shared.learning.as_ref().is_some_and(Learning::is_over) {
                self.stop_learning(env.clock.cycle(now), env, shared);
            }
            windows += 1;
            if windows.is_multiple_of(REPORT) {
                report(env.clock.cycle(now), shared, progress);
            }
        }
        let stopped = |resident: &Resident| resident.block.stalled();
        if let Some(fault) = report::unfinished(&self.sms, env, shared, stopped) {
            return Err(fault);
        }
        let end = self.sms.iter().map(|sm| sm.end).max().unwrap_or(0);
        if shared.learning.is_some() {
            self.stop_learning(end, env, shared);
        }
        self.sms.iter_mut().for_each(|sm| sm.finish(end));
        self.memory.finish(env.clock.time(end));
        report(end, shared, progress);
        Ok(end)
    }

    /// Enough was learnt: data is copied by the mapping that was found, and execution goes on. The copy
    /// is not counted: without learning it would have been made before the launch.
    fn stop_learning(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        let Some(learning) = shared.learning.take() else { return };
        let learning_from_host = learning.from_host;
        shared.session.take(learning);
        if !shared.session.watches_all {
            shared.map = shared.session.map(env.machine, shared.state.memory.whole());
            self.memory.map = shared.map.clone();
        }
        self.memory.use_host(env.machine, false);
        if learning_from_host {
            shared.learn_cycles = now;
        }
        shared.gate = u64::MAX;
        self.first_blocks(now, env, shared);
    }

    /// Blocks go to the multiprocessors of the GPU in turn until all are full.
    fn first_blocks(&mut self, now: Cycle, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        let gpu = env.machine.gpu.sms as usize;
        loop {
            let mut started = false;
            for sm in &mut self.sms[..gpu] {
                started |= sm.start_block(now, env, shared);
            }
            if !started {
                break;
            }
        }
        for (sm, next) in self.sms.iter_mut().zip(&mut self.next) {
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
