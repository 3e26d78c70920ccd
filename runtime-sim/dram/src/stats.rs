//! What a controller counts.

use nbcc_sim_engine::Cycle;
use serde::{Serialize, Serializer};

use crate::command::Command;

/// Commands issued, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts([u64; Command::COUNT]);

impl CommandCounts {
    #[inline]
    pub(crate) fn add(&mut self, command: Command) {
        self.0[command.index()] += 1;
    }

    /// Commands of one kind.
    pub fn of(&self, command: Command) -> u64 {
        self.0[command.index()]
    }

    fn sum(&mut self, other: &CommandCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }

    /// All commands: cycles in which the command bus was busy.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// As a map from the name of a command to its count.
impl Serialize for CommandCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Command::ALL.map(|command| (command.name(), self.of(command))))
    }
}

/// Counters of one controller. Once all requests are served,
/// `hits + misses + conflicts == requests` and `reads + writes == requests`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Requests accepted.
    pub requests: u64,
    /// Of them, reads.
    pub reads: u64,
    /// Of them, writes.
    pub writes: u64,
    /// Requests whose row was open when first served. Includes `forwarded` and
    /// `coalesced`, which need no command.
    pub hits: u64,
    /// Requests whose row buffer was empty when first served.
    pub misses: u64,
    /// Requests whose row buffer held another row when first served.
    pub conflicts: u64,
    /// Reads that took their data from a queued write.
    pub forwarded: u64,
    /// Writes that replaced a queued write.
    pub coalesced: u64,
    /// Requests refused because their queue was full.
    pub rejected: u64,
    /// Commands issued.
    pub commands: CommandCounts,
    /// Rows closed, by whatever command: with the count of ACT, what
    /// activation energy is counted from.
    pub rows_closed: u64,
    /// Cycles in which a request waited for a command.
    pub busy_cycles: Cycle,
}

impl Stats {
    /// Adds those of another controller.
    pub fn add(&mut self, other: &Stats) {
        self.requests += other.requests;
        self.reads += other.reads;
        self.writes += other.writes;
        self.hits += other.hits;
        self.misses += other.misses;
        self.conflicts += other.conflicts;
        self.forwarded += other.forwarded;
        self.coalesced += other.coalesced;
        self.rejected += other.rejected;
        self.rows_closed += other.rows_closed;
        self.busy_cycles += other.busy_cycles;
        self.commands.sum(&other.commands);
    }

    /// Column reads: what read energy is counted from.
    pub fn column_reads(&self) -> u64 {
        self.commands.of(Command::Read) + self.commands.of(Command::ReadAuto)
    }

    /// Column writes: what write energy is counted from.
    pub fn column_writes(&self) -> u64 {
        self.commands.of(Command::Write) + self.commands.of(Command::WriteAuto)
    }
}
