//! What is seen of long work on a terminal: how far it has come and since when it runs. Nothing in
//! a pipe.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use nbcc_sim_engine::Progress;

use crate::{console, report};

/// The time between two pictures.
const TICK: Duration = Duration::from_millis(120);

/// Does work that says how far it has come.
pub fn watched<T>(work: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
    let Some(bar) = bar() else { return work(&mut |_| ()) };
    let mut shown = Instant::now();
    let result = work(&mut |now| {
        // Simulators report far more often than anybody reads.
        if shown.elapsed() >= TICK {
            shown = Instant::now();
            bar.set_message(text(now));
        }
    });
    bar.finish_and_clear();
    result
}

/// Does work of which nothing is known but what it is.
pub fn waited<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let bar = bar();
    if let Some(bar) = &bar {
        bar.set_message(what);
    }
    let result = work();
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    result
}

/// Work in steps that have names, seen from several threads.
pub struct Steps {
    bar: Option<ProgressBar>,
    done: AtomicU64,
    all: u64,
}

impl Steps {
    /// So many steps, none of them done.
    pub fn new(all: u64) -> Steps {
        Steps { bar: bar(), done: AtomicU64::new(0), all }
    }

    /// One begins.
    pub fn begin(&self, name: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} of {}: {name}", self.done.load(Relaxed), self.all));
        }
    }

    /// One is done.
    pub fn done(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    /// All are done.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A line that moves; none where nobody watches.
fn bar() -> Option<ProgressBar> {
    if !console::is_watched() {
        return None;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    Some(bar)
}

fn text(now: Progress) -> String {
    let mut parts = Vec::new();
    if let Some((done, all)) = now.blocks {
        let (done, all) = (report::grouped(done), report::grouped(all));
        parts.push(format!("{done} of {all} blocks"));
    }
    if now.cycles > 0 {
        parts.push(format!("{} cycles", report::grouped(now.cycles)));
    }
    parts.push(format!("{} instructions", report::grouped(now.instructions)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_what_the_machine_counts() {
        let now = Progress { cycles: 65536, instructions: 1234, blocks: None };
        assert_eq!(text(now), "65,536 cycles, 1,234 instructions");
        let now = Progress { blocks: Some((3, 1000)), ..now };
        assert_eq!(text(now), "3 of 1,000 blocks, 65,536 cycles, 1,234 instructions");
        let now = Progress { cycles: 0, blocks: None, ..now };
        assert_eq!(text(now), "1,234 instructions");
    }
}
