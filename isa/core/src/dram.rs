//! The part of a machine description that says how its DRAM behaves; machines with
//! banks share it. Times are in cycles of the machine's clock (tCK ns each).

use serde::{Deserialize, Serialize};

use crate::machine::{MachineError, check_range};

/// What happens to a row after an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PagePolicy {
    /// It stays open.
    Open,
    /// It is closed once no queued request wants it.
    Close,
}

/// The order in which queued requests are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// First come, first served.
    Fcfs,
    /// First ready, first come, first served.
    FrFcfs,
}

/// DRAM timing, geometry and policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Nanoseconds of a cycle.
    #[serde(rename = "tCK")]
    pub t_ck: f64,
    /// Activate to read or write.
    #[serde(rename = "tRCD")]
    pub t_rcd: u32,
    /// Read to read, or write to write, of a bank or data bus.
    #[serde(rename = "tCCD")]
    pub t_ccd: u32,
    /// Read to precharge.
    #[serde(rename = "tRTP")]
    pub t_rtp: u32,
    /// Precharge to activate.
    #[serde(rename = "tRP")]
    pub t_rp: u32,
    /// Activate to precharge.
    #[serde(rename = "tRAS")]
    pub t_ras: u32,
    /// Activate to activate of another bank group.
    #[serde(rename = "tRRD_S")]
    pub t_rrd_s: u32,
    /// Activate to activate of the same bank group.
    #[serde(rename = "tRRD_L")]
    pub t_rrd_l: u32,
    /// The window in which at most four activates may issue.
    #[serde(rename = "tFAW")]
    pub t_faw: u32,
    /// Read command to data.
    #[serde(rename = "tCL")]
    pub t_cl: u32,
    /// Write command to data.
    #[serde(rename = "tCWL")]
    pub t_cwl: u32,
    /// Cycles of data of an access.
    #[serde(rename = "tBL")]
    pub t_bl: u32,
    /// End of write data to precharge.
    #[serde(rename = "tWR")]
    pub t_wr: u32,
    /// End of write data to read of another bank group.
    #[serde(rename = "tWTR_S")]
    pub t_wtr_s: u32,
    /// End of write data to read of the same bank group.
    #[serde(rename = "tWTR_L")]
    pub t_wtr_l: u32,
    /// Cycles of a refresh.
    #[serde(rename = "tRFC")]
    pub t_rfc: u32,
    /// Cycles between refreshes.
    #[serde(rename = "tREFI")]
    pub t_refi: u32,
    /// Whether the controller refreshes at all.
    pub refresh: bool,
    /// Bank groups among the banks of a controller.
    pub bank_groups: u32,
    /// Bytes of a row buffer.
    pub row_bytes: u32,
    /// Entries of the controller's request queue.
    pub request_queue: u32,
    /// What happens to a row after an access.
    pub page_policy: PagePolicy,
    /// The order of service.
    pub scheduler: Scheduler,
}

impl Dram {
    /// Checks every value for its range; `banks` is the number a controller serves,
    /// `bank_bytes` the size of each and `atom_bytes` that of an access.
    ///
    /// # Errors
    /// The first value that is out of range, by its key under `dram`.
    pub fn validate(
        &self,
        banks: u32,
        bank_bytes: u32,
        atom_bytes: u32,
    ) -> Result<(), MachineError> {
        if !(self.t_ck > 0.0 && self.t_ck <= 1000.0) {
            return Err(MachineError::at_key(
                "dram.tCK",
                format!("`dram.tCK` is {}, out of range", self.t_ck),
            )
            .with_help("it must lie above 0 and up to 1000"));
        }
        let times = [
            ("tRCD", self.t_rcd),
            ("tCCD", self.t_ccd),
            ("tRTP", self.t_rtp),
            ("tRP", self.t_rp),
            ("tRAS", self.t_ras),
            ("tRRD_S", self.t_rrd_s),
            ("tRRD_L", self.t_rrd_l),
            ("tFAW", self.t_faw),
            ("tCL", self.t_cl),
            ("tCWL", self.t_cwl),
            ("tBL", self.t_bl),
            ("tWR", self.t_wr),
            ("tWTR_S", self.t_wtr_s),
            ("tWTR_L", self.t_wtr_l),
        ];
        for (name, value) in times {
            check_range(&format!("dram.{name}"), value, 1, 10_000)?;
        }
        check_range("dram.tRFC", self.t_rfc, 1, 1_000_000)?;
        check_range("dram.tREFI", self.t_refi, 1, 100_000_000)?;
        // Between refreshes there must be time for a row to be opened, used and closed.
        let row_cycle = self.t_ras + self.t_rp + self.t_cwl + self.t_bl + self.t_wr + self.t_rcd;
        let least = u64::from(self.t_rfc) + 2 * u64::from(row_cycle);
        if self.refresh && u64::from(self.t_refi) < least {
            return Err(MachineError::at_key(
                "dram.tREFI",
                format!(
                    "`dram.tREFI` is {}: refresh would leave no time for accesses",
                    self.t_refi
                ),
            )
            .with_help(format!("with these timings it must be at least {least}")));
        }
        check_range("dram.bank_groups", self.bank_groups, 1, banks)?;
        if !banks.is_multiple_of(self.bank_groups) {
            return Err(MachineError::at_key(
                "dram.bank_groups",
                format!(
                    "`dram.bank_groups` is {}, which does not divide {banks} banks",
                    self.bank_groups
                ),
            ));
        }
        check_range("dram.row_bytes", self.row_bytes, atom_bytes, bank_bytes)?;
        if !bank_bytes.is_multiple_of(self.row_bytes) || !self.row_bytes.is_multiple_of(atom_bytes)
        {
            return Err(MachineError::at_key(
                "dram.row_bytes",
                format!(
                    "`dram.row_bytes` is {}: rows must divide a bank of {bank_bytes} bytes and hold \
                     whole accesses of {atom_bytes}",
                    self.row_bytes
                ),
            ));
        }
        check_range("dram.request_queue", self.request_queue, 1, 4096)
    }
}
