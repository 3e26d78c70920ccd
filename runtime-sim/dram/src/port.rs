//! The way to a controller: requests that are on their way to it, or wait for a place in its queue.

use std::collections::VecDeque;
use std::sync::Arc;

use nbcc_sim_engine::Cycle;

use crate::controller::{Completion, Controller, Issued, Request};
use crate::standard::Model;
use crate::stats::Stats;

/// A request on its way to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrival {
    time: Cycle,
    /// Of arrivals at one time those that are not local come first.
    local: bool,
    request: Request,
}

/// The banks of a controller.
#[derive(Clone, Debug)]
pub struct Port {
    controller: Controller,
    arrivals: VecDeque<Arrival>,
}

impl Port {
    /// Idle banks.
    pub fn new(model: &Arc<Model>) -> Port {
        Port { controller: Controller::with_model(model.clone()), arrivals: VecDeque::new() }
    }

    /// Counters of the controller.
    pub fn stats(&self) -> &Stats {
        self.controller.stats()
    }

    /// Whether this port and another, at the same cycle and with the same requests, behave
    /// alike from now on.
    pub fn is_equivalent(&self, other: &Port) -> bool {
        self.arrivals == other.arrivals && self.controller.is_equivalent(&other.controller)
    }

    /// The cycle up to which everything is done.
    pub fn now(&self) -> Cycle {
        self.controller.now()
    }

    /// Starts to log commands.
    pub fn enable_log(&mut self) {
        self.controller.enable_log();
    }

    /// The commands logged since the last call.
    pub fn take_log(&mut self) -> Vec<Issued> {
        self.controller.take_log()
    }

    /// Announces a request that comes to the controller at `time`, which lies after
    /// everything that [`Port::advance`] was told.
    pub fn push(&mut self, time: Cycle, local: bool, request: Request) {
        debug_assert!(time >= self.controller.now(), "a request for {time} comes too late");
        let key = (time, local);
        let behind = self.arrivals.iter().rposition(|other| (other.time, other.local) <= key);
        let at = behind.map_or(0, |index| index + 1);
        self.arrivals.insert(at, Arrival { time, local, request });
    }

    /// The next cycle at which something happens here, if nothing else is announced.
    #[inline]
    pub fn next_event(&mut self) -> Option<Cycle> {
        let event = self.controller.next_event();
        match self.arrivals.front() {
            // An arrival waits for an event while the queue is full.
            Some(arrival) if self.controller.has_room(arrival.request.kind) => {
                let time = arrival.time.max(self.controller.now());
                Some(event.map_or(time, |event| event.min(time)))
            }
            _ => event,
        }
    }

    /// Does everything up to and including cycle `until`.
    pub fn advance(&mut self, until: Cycle, done: &mut Vec<Completion>) {
        while let Some(arrival) = self.arrivals.front() {
            let time = arrival.time.max(self.controller.now());
            if time > until {
                break;
            }
            self.controller.advance(time, done);
            if self.controller.has_room(arrival.request.kind) {
                let taken = self.controller.try_enqueue(time, arrival.request);
                debug_assert!(taken, "a controller with room takes a request");
                self.arrivals.pop_front();
                continue;
            }
            match self.controller.next_event() {
                Some(event) if event <= until => self.controller.advance(event, done),
                _ => break,
            }
        }
        if until > self.controller.now() {
            self.controller.advance(until, done);
        }
    }
}
