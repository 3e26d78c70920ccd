//! What a controller counts.

use nbcc_sim_engine::Cycle;
use serde::Serialize;

use crate::command::Command;

/// Commands issued, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CommandCounts {
    /// Activates: each opens one row.
    #[serde(rename = "ACT")]
    pub activates: u64,
    /// Precharges of one row buffer.
    #[serde(rename = "PRE")]
    pub precharges: u64,
    /// Precharges of the whole channel.
    #[serde(rename = "PREA")]
    pub precharge_alls: u64,
    /// Reads without auto-precharge.
    #[serde(rename = "RD")]
    pub reads: u64,
    /// Writes without auto-precharge.
    #[serde(rename = "WR")]
    pub writes: u64,
    /// Reads with auto-precharge.
    #[serde(rename = "RDA")]
    pub read_autos: u64,
    /// Writes with auto-precharge.
    #[serde(rename = "WRA")]
    pub write_autos: u64,
    /// Refreshes of all banks.
    #[serde(rename = "REF")]
    pub refreshes: u64,
}

impl CommandCounts {
    #[inline]
    pub(crate) fn add(&mut self, command: Command) {
        *match command {
            Command::Activate => &mut self.activates,
            Command::Precharge => &mut self.precharges,
            Command::PrechargeAll => &mut self.precharge_alls,
            Command::Read => &mut self.reads,
            Command::Write => &mut self.writes,
            Command::ReadAuto => &mut self.read_autos,
            Command::WriteAuto => &mut self.write_autos,
            Command::Refresh => &mut self.refreshes,
        } += 1;
    }

    /// All commands: cycles in which the command bus was busy.
    pub fn total(&self) -> u64 {
        self.activates
            + self.precharges
            + self.precharge_alls
            + self.reads
            + self.writes
            + self.read_autos
            + self.write_autos
            + self.refreshes
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
    /// Rows closed, by whatever command: with `commands.activates`, what
    /// activation energy is counted from.
    pub rows_closed: u64,
    /// Cycles in which a request waited for a command.
    pub busy_cycles: Cycle,
}

impl Stats {
    /// Column reads: what read energy is counted from.
    pub fn column_reads(&self) -> u64 {
        self.commands.reads + self.commands.read_autos
    }

    /// Column writes: what write energy is counted from.
    pub fn column_writes(&self) -> u64 {
        self.commands.writes + self.commands.write_autos
    }
}
