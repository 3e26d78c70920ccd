//! All multiprocessors with what is behind them. Time goes on in windows that are so short that what one
//! of them asks for is answered behind its end at the earliest: multiprocessors are simulated one after
//! the other in each, then memory, which is exact, and everything happens in one order.

use nbcc_sim_dram::Model;
use nbcc_sim_engine::{Cycle, Progress};
use nbcc_sim_simt::machine::fault::Fault;
use nbcc_sim_simt::timing::NEVER;

use crate::clock::Time;
use crate::memory::Memory;
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
        System {
            sms: (0..count).map(|number| Sm::new(number, env)).collect(),
            memory: Memory::new(env.machine, model),
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
        self.first_blocks(env, shared);
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
            if env.clock.cycle(now) >= env.max_cycles
                && let Some(fault) = self.sms.iter().find_map(|sm| sm.out_of_cycles(env))
            {
                return Err(fault);
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
                self.sms[index].receive(&answer);
                self.next[index] = self.next[index].min(answer.cycle);
            }
            now = end;
            windows += 1;
            if windows.is_multiple_of(REPORT) {
                report(env.clock.cycle(now), shared, progress);
            }
        }
        let end = self.sms.iter().map(|sm| sm.end).max().unwrap_or(0);
        self.sms.iter_mut().for_each(|sm| sm.finish(end));
        self.memory.finish(env.clock.time(end));
        report(end, shared, progress);
        Ok(end)
    }

    /// Blocks go to the multiprocessors of the GPU in turn until all are full.
    fn first_blocks(&mut self, env: &Env<'_, '_>, shared: &mut Shared<'_, '_>) {
        let gpu = env.machine.gpu.sms as usize;
        loop {
            let mut started = false;
            for sm in &mut self.sms[..gpu] {
                started |= sm.start_block(0, env, shared);
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
