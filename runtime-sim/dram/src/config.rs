//! Parameters of a DRAM channel and its controller, and which combinations of
//! them make sense. The keys are those of a machine file (`machine.rs`).

use serde::{Deserialize, Serialize};

/// Which request may issue a command next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Commands are issued for the oldest unfinished request only.
    Fcfs,
    /// First ready: the oldest request whose next command may issue now
    /// (Rixner et al., ISCA 2000).
    FrFcfs,
    /// As `FrFcfs`, but no request closes a row that an older request still hits.
    FrFcfsRowHit,
}

/// When an open row is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PagePolicy {
    /// Only when another row of the same row buffer, or a refresh, needs it.
    Open,
    /// With the column access after which no queued request hits it
    /// (auto-precharge).
    Closed,
}

/// How requests wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueKind {
    /// A read queue and a write queue; writes are drained in batches.
    Split,
    /// One queue of `read_queue_size` for both.
    Unified,
}

/// When a request gives its queue slot back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotRelease {
    /// At its activate, if it needs one (it then waits in a place per bank), or
    /// else at its column command. Ramulator 2.1 does so.
    Activate,
    /// At its column command.
    Column,
}

/// How far column commands disturb each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPath {
    /// Banks share one data bus: tBL, tCCD, tWTR and the read-to-write gap hold
    /// across the channel, their `_L` forms within a bank group.
    Shared,
    /// Every bank has a data path of its own (a processor beside it): the same
    /// constraints hold within a bank only.
    PerBank,
}

/// What is refreshed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefreshPolicy {
    /// All banks at once, every tREFI, for tRFC.
    AllBank,
    /// Never.
    None,
}

/// A DRAM channel with its controller. Times are in cycles of tCK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Length of a cycle, ns.
    #[serde(rename = "tCK_ns")]
    pub t_ck_ns: f64,
    /// Banks of the channel. Bank `b` is in group `b % bank_groups`.
    pub banks: u32,
    /// Bank groups of the channel; divides `banks`.
    pub bank_groups: u32,
    /// Rows of a bank.
    pub rows: u32,
    /// Columns (bursts) of a row.
    pub columns_per_row: u32,
    /// Row buffers of a bank that can be activated at once; row `r` uses buffer
    /// `r % row_buffers`.
    pub row_buffers: u32,

    /// Activate to column command, same row.
    #[serde(rename = "tRCD")]
    pub t_rcd: u32,
    /// Read command to first data.
    #[serde(rename = "tCL")]
    pub t_cl: u32,
    /// Write command to first data.
    #[serde(rename = "tCWL")]
    pub t_cwl: u32,
    /// Length of a burst on the data path.
    #[serde(rename = "tBL")]
    pub t_bl: u32,
    /// Column command to column command of the same direction, any group.
    #[serde(rename = "tCCD_S")]
    pub t_ccd_s: u32,
    /// The same within a bank group.
    #[serde(rename = "tCCD_L")]
    pub t_ccd_l: u32,
    /// Read to precharge, same row.
    #[serde(rename = "tRTP")]
    pub t_rtp: u32,
    /// Precharge to activate, same row buffer.
    #[serde(rename = "tRP")]
    pub t_rp: u32,
    /// Activate to precharge, same row.
    #[serde(rename = "tRAS")]
    pub t_ras: u32,
    /// Activate to activate, same row buffer.
    #[serde(rename = "tRC")]
    pub t_rc: u32,
    /// End of write data to precharge, same row.
    #[serde(rename = "tWR")]
    pub t_wr: u32,
    /// End of write data to read command, any group.
    #[serde(rename = "tWTR_S")]
    pub t_wtr_s: u32,
    /// The same within a bank group.
    #[serde(rename = "tWTR_L")]
    pub t_wtr_l: u32,
    /// Idle cycles of the data path between read data and write data.
    #[serde(rename = "tRTW_gap")]
    pub t_rtw_gap: u32,
    /// Activate to activate, any group.
    #[serde(rename = "tRRD_S")]
    pub t_rrd_s: u32,
    /// The same within a bank group.
    #[serde(rename = "tRRD_L")]
    pub t_rrd_l: u32,
    /// Window that holds at most four activates of the channel.
    #[serde(rename = "tFAW")]
    pub t_faw: u32,
    /// Length of a refresh.
    #[serde(rename = "tRFC")]
    pub t_rfc: u32,
    /// Interval between refreshes.
    #[serde(rename = "tREFI")]
    pub t_refi: u32,

    /// Scheduling policy.
    pub scheduler: Scheduler,
    /// Page policy.
    pub page_policy: PagePolicy,
    /// Refresh policy.
    pub refresh: RefreshPolicy,
    /// Reach of column-command constraints.
    pub data_path: DataPath,
    /// One queue or two.
    pub queue: QueueKind,
    /// Slots for reads, or for all requests when unified.
    pub read_queue_size: u32,
    /// Slots for writes (split queues).
    pub write_queue_size: u32,
    /// Writes are drained once more than this share of their queue is taken
    /// (split queues), percent.
    pub write_drain_high_percent: u32,
    /// Draining stops once less than this share is taken and a read waits
    /// (split queues), percent.
    pub write_drain_low_percent: u32,
    /// When a queue slot is free again.
    pub slot_release: SlotRelease,
    /// Whether a read takes its data from a queued write to its address, and a
    /// write replaces one (split queues).
    pub write_forwarding: bool,
}

/// Two keys of a configuration contradict each other, or one is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct ConfigError {
    /// The key, as a machine file spells it.
    pub key: &'static str,
    /// What is wrong with its value.
    pub problem: String,
}

/// Longest latency accepted, cycles: keeps sums far from overflow.
const LATENCY_MAX: u32 = 1 << 20;
/// Row buffers of a channel, bounded because controllers allocate them.
const ROW_BUFFERS_MAX: u32 = 1 << 14;
/// Queue slots, bounded because controllers allocate them.
const QUEUE_MAX: u32 = 1 << 10;

impl DramConfig {
    /// Read command to the end of its data.
    pub fn read_latency(&self) -> u32 {
        self.t_cl + self.t_bl
    }

    /// Read command to write command: read data, a gap, write data.
    pub fn read_to_write(&self) -> u32 {
        (self.t_cl + self.t_bl + self.t_rtw_gap).saturating_sub(self.t_cwl)
    }

    /// Write command to read command, any group.
    pub fn write_to_read_s(&self) -> u32 {
        self.t_cwl + self.t_bl + self.t_wtr_s
    }

    /// Write command to read command within a bank group.
    pub fn write_to_read_l(&self) -> u32 {
        self.t_cwl + self.t_bl + self.t_wtr_l
    }

    /// Write command to precharge of the same row.
    pub fn write_to_pre(&self) -> u32 {
        self.t_cwl + self.t_bl + self.t_wr
    }

    /// Longest time from the tick at which a refresh is due to the first activate
    /// after it, when no request holds an activated row: a bound on the share of
    /// time that refreshes take.
    fn refresh_occupancy(&self) -> u32 {
        let column = self.t_rtp.max(self.write_to_pre());
        self.t_ras.max(self.t_rc).max(self.t_rcd + column) + self.t_rp + self.t_rfc
    }

    /// Checks ranges and the relations between keys.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let bad = |key, problem: &str| Err(ConfigError { key, problem: problem.to_owned() });
        let limit = |key, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(ConfigError {
                key,
                problem: format!("is {value}, but must be from {low} to {high}"),
            })
        };
        if !(self.t_ck_ns.is_finite() && self.t_ck_ns > 0.0) {
            return bad("tCK_ns", "must be a positive number of nanoseconds");
        }
        limit("banks", self.banks, 1, ROW_BUFFERS_MAX)?;
        limit("bank_groups", self.bank_groups, 1, self.banks)?;
        if !self.banks.is_multiple_of(self.bank_groups) {
            return bad("bank_groups", "must divide `banks`");
        }
        limit("rows", self.rows, 1, u32::MAX - 1)?;
        limit("columns_per_row", self.columns_per_row, 1, u32::MAX)?;
        limit("row_buffers", self.row_buffers, 1, ROW_BUFFERS_MAX)?;
        if self.banks * self.row_buffers > ROW_BUFFERS_MAX {
            return bad("row_buffers", "times `banks` is more than 16384");
        }
        let latencies = [
            ("tRCD", self.t_rcd),
            ("tCL", self.t_cl),
            ("tBL", self.t_bl),
            ("tCCD_S", self.t_ccd_s),
            ("tCCD_L", self.t_ccd_l),
            ("tRTP", self.t_rtp),
            ("tRP", self.t_rp),
            ("tRAS", self.t_ras),
            ("tRC", self.t_rc),
            ("tRRD_S", self.t_rrd_s),
            ("tRRD_L", self.t_rrd_l),
            ("tFAW", self.t_faw),
            ("tRFC", self.t_rfc),
            ("tREFI", self.t_refi),
        ];
        for (key, value) in latencies {
            limit(key, value, 1, LATENCY_MAX)?;
        }
        let may_be_zero = [
            ("tCWL", self.t_cwl),
            ("tWR", self.t_wr),
            ("tWTR_S", self.t_wtr_s),
            ("tWTR_L", self.t_wtr_l),
            ("tRTW_gap", self.t_rtw_gap),
        ];
        for (key, value) in may_be_zero {
            limit(key, value, 0, LATENCY_MAX)?;
        }
        if self.refresh == RefreshPolicy::AllBank && self.t_refi <= self.refresh_occupancy() {
            return Err(ConfigError {
                key: "tREFI",
                problem: format!(
                    "is {}, but closing the rows and refreshing take up to {}: no time is left for requests",
                    self.t_refi,
                    self.refresh_occupancy()
                ),
            });
        }
        limit("read_queue_size", self.read_queue_size, 1, QUEUE_MAX)?;
        limit("write_queue_size", self.write_queue_size, 1, QUEUE_MAX)?;
        limit("write_drain_high_percent", self.write_drain_high_percent, 0, 100)?;
        limit(
            "write_drain_low_percent",
            self.write_drain_low_percent,
            0,
            self.write_drain_high_percent,
        )
    }
}
