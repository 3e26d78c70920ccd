//! A machine's description of its DRAM as the controller of a group of banks takes it.

use nbcc_isa::dram::{self, Dram};

use crate::config::{
    DataPath, DramConfig, PagePolicy, QueueKind, RefreshPolicy, Scheduler, SlotRelease,
};

/// The banks of a controller, which descriptions state elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banks {
    /// How many there are.
    pub count: u32,
    /// Bytes of each.
    pub bytes: u32,
    /// Bytes of an access.
    pub access_bytes: u32,
    /// Row buffers of a bank that can be activated at once.
    pub row_buffers: u32,
}

impl DramConfig {
    /// The controller of banks beside which something computes: each has a data path of its own, and
    /// one queue holds reads and writes.
    pub fn beside_banks(dram: &Dram, banks: Banks) -> DramConfig {
        DramConfig {
            t_ck_ns: dram.t_ck,
            banks: banks.count,
            bank_groups: dram.bank_groups,
            rows: banks.bytes / dram.row_bytes,
            columns_per_row: dram.row_bytes / banks.access_bytes,
            row_buffers: banks.row_buffers,
            t_rcd: dram.t_rcd,
            t_cl: dram.t_cl,
            t_cwl: dram.t_cwl,
            t_bl: dram.t_bl,
            t_ccd_s: dram.t_ccd,
            t_ccd_l: dram.t_ccd,
            t_rtp: dram.t_rtp,
            t_rp: dram.t_rp,
            t_ras: dram.t_ras,
            t_rc: dram.t_ras + dram.t_rp,
            t_wr: dram.t_wr,
            t_wtr_s: dram.t_wtr_s,
            t_wtr_l: dram.t_wtr_l,
            t_rtw_gap: 0,
            t_rrd_s: dram.t_rrd_s,
            t_rrd_l: dram.t_rrd_l,
            t_faw: dram.t_faw,
            t_rfc: dram.t_rfc,
            t_refi: dram.t_refi,
            scheduler: match dram.scheduler {
                dram::Scheduler::Fcfs => Scheduler::Fcfs,
                dram::Scheduler::FrFcfs => Scheduler::FrFcfsRowHit,
            },
            page_policy: match dram.page_policy {
                dram::PagePolicy::Open => PagePolicy::Open,
                dram::PagePolicy::Close => PagePolicy::Closed,
            },
            refresh: match dram.refresh {
                true => RefreshPolicy::AllBank,
                false => RefreshPolicy::None,
            },
            data_path: DataPath::PerBank,
            queue: QueueKind::Unified,
            read_queue_size: dram.request_queue,
            // A unified queue has no write queue; the value is not used.
            write_queue_size: 1,
            write_drain_high_percent: 0,
            write_drain_low_percent: 0,
            slot_release: SlotRelease::Column,
            write_forwarding: false,
        }
    }
}
