//! Replays a request trace: with an open loop, or with a bounded number of
//! requests outstanding.
//!
//! At most one request is offered a cycle, in the order of the trace, before that
//! cycle's tick. With window 0 it is held back only by a full queue; with window N,
//! also while N requests are unfinished.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use nbcc_sim_engine::Cycle;
use serde::Serialize;

use crate::config::{ConfigError, DramConfig, RefreshPolicy};
use crate::controller::{Controller, Kind, Request};
use crate::machine::{MachineError, parse_machine};
use crate::stats::Stats;
use crate::trace::{TraceError, parse_trace};

/// Result of a replay. `hits + misses + conflicts == requests`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Requests of the trace.
    pub requests: u64,
    /// Cycle at which the last request finished.
    pub finish_cycle: Cycle,
    /// Requests that found their row open.
    pub hits: u64,
    /// Requests that found their row buffer empty.
    pub misses: u64,
    /// Requests that found another row in their row buffer.
    pub conflicts: u64,
    /// Mean over the reads of the cycles from being accepted to the end of their
    /// data; 0 when there are none.
    pub average_read_latency: f64,
    /// All counters of the controller.
    #[serde(skip)]
    pub controller: Stats,
}

/// How to replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Requests outstanding at most; 0 for an open loop.
    pub window: u32,
    /// Leave refresh out, whatever the machine says.
    pub no_refresh: bool,
    /// Settings that change the machine, `KEY=VALUE`.
    pub settings: Vec<String>,
}

/// A replay from files failed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The machine file or a setting is wrong.
    #[error("{}: {error}", path.display())]
    Machine {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: MachineError,
    },
    /// The trace is wrong.
    #[error("{}: {error}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: TraceError,
    },
}

/// Reads a machine file and a trace, and replays it.
///
/// # Errors
/// A file that cannot be read, or the first fault in it.
pub fn replay_files(
    trace: &Path,
    machine: &Path,
    options: &ReplayOptions,
) -> Result<Replay, ReplayError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|source| ReplayError::Read { path: path.to_owned(), source })
    };
    let text = String::from_utf8(read(machine)?).map_err(|error| ReplayError::Read {
        path: machine.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
    })?;
    let mut config = parse_machine(&text, &options.settings)
        .map_err(|error| ReplayError::Machine { path: machine.to_owned(), error })?;
    if options.no_refresh {
        config.refresh = RefreshPolicy::None;
    }
    let requests = parse_trace(&read(trace)?, &config)
        .map_err(|error| ReplayError::Trace { path: trace.to_owned(), error })?;
    Ok(replay(&config, &requests, options.window).expect("a parsed machine is valid"))
}

/// Replays requests on a fresh controller. Their ids are ignored.
///
/// # Errors
/// When the configuration is not valid.
pub fn replay(config: &DramConfig, trace: &[Request], window: u32) -> Result<Replay, ConfigError> {
    Ok(replay_on(&mut Controller::new(config)?, trace, window))
}

/// Replays requests on a fresh controller of the caller's, which may log.
///
/// # Panics
/// When a request names a bank or row that the channel does not have.
pub fn replay_on(controller: &mut Controller, trace: &[Request], window: u32) -> Replay {
    let mut done = Vec::new();
    // Finish times of requests that are decided but not over, for the window.
    let mut running: BinaryHeap<Reverse<Cycle>> = BinaryHeap::new();
    let mut unfinished = 0;
    let mut finish_cycle = 0;
    let mut latency_sum = 0;
    let mut arrivals = Vec::with_capacity(trace.len());
    let mut now = controller.now();

    loop {
        let mut offer_again = false;
        if let Some(request) = trace.get(arrivals.len())
            && (window == 0 || unfinished < window)
        {
            let request = Request { id: arrivals.len() as u64, ..*request };
            if controller.try_enqueue(now, request) {
                arrivals.push(now);
                unfinished += 1;
                offer_again = true;
            }
        }
        let next = if offer_again && (window == 0 || unfinished < window) {
            Some(now + 1)
        } else {
            let over = running.peek().map(|Reverse(finish)| *finish);
            let event = controller.next_event();
            over.into_iter().chain(event).min()
        };
        let Some(next) = next else { break };
        now = next.max(now);

        controller.advance(now, &mut done);
        for completion in done.drain(..) {
            let index = completion.id as usize;
            finish_cycle = finish_cycle.max(completion.finish);
            if trace[index].kind == Kind::Read {
                latency_sum += completion.finish - arrivals[index];
            }
            running.push(Reverse(completion.finish));
        }
        while running.peek().is_some_and(|Reverse(finish)| *finish <= now) {
            running.pop();
            unfinished -= 1;
        }
    }

    let stats = controller.stats().clone();
    Replay {
        requests: stats.requests,
        finish_cycle,
        hits: stats.hits,
        misses: stats.misses,
        conflicts: stats.conflicts,
        average_read_latency: if stats.reads == 0 {
            0.0
        } else {
            latency_sum as f64 / stats.reads as f64
        },
        controller: stats,
    }
}
