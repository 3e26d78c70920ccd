//! Shared by the tests: a generator of random numbers, the seven canonical traces,
//! random machines.
#![allow(dead_code, missing_docs)]

use nbcc_sim_dram::{
    DataPath, DramConfig, Kind, PagePolicy, QueueKind, RefreshPolicy, Request, Scheduler,
    SlotRelease, machine, parse_machine,
};

/// xorshift64*, upper 31 bits.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        let mut x = self.0;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        x.wrapping_mul(2_685_821_657_736_338_717) >> 33
    }

    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    pub fn range(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// The reference machine without refresh, with settings.
pub fn reference(settings: &[&str]) -> DramConfig {
    let mut config = parse_machine(machine::REFERENCE, settings).expect("the reference machine");
    config.refresh = RefreshPolicy::None;
    config
}

pub const TRACES: [&str; 7] = [
    "a_seq1bank",
    "b_pingpong",
    "c_rand16",
    "d_mixed2r1w",
    "e_seq16bank",
    "f_rr16bank",
    "g_actstorm",
];

/// A canonical trace: 16 banks, 128 columns a row, 65536 rows.
pub fn trace(name: &str, n: u32) -> Vec<Request> {
    const COLS: u32 = 128;
    const ROWS: u32 = 65536;
    const BANKS: u32 = 16;
    let mut random = Rng(match name {
        "d_mixed2r1w" => 0xD1B5_4A32_D192_ED03,
        _ => 0x9E37_79B9_7F4A_7C15,
    });
    let mut anywhere = || {
        let bank = random.below(BANKS);
        let row = random.below(ROWS);
        (bank, row, random.below(COLS))
    };
    (0..n)
        .map(|i| {
            let (bank, row, column) = match name {
                "a_seq1bank" => (0, i / COLS, i % COLS),
                "b_pingpong" => (0, (i & 1) + 2 * (i / (2 * COLS)), (i / 2) % COLS),
                "c_rand16" | "d_mixed2r1w" => anywhere(),
                "e_seq16bank" => ((i / COLS) % BANKS, i / (COLS * BANKS), i % COLS),
                "f_rr16bank" => (i % BANKS, i / (BANKS * COLS), (i / BANKS) % COLS),
                "g_actstorm" => (i % BANKS, (i / BANKS) % ROWS, 0),
                _ => panic!("no trace {name}"),
            };
            let kind = if name == "d_mixed2r1w" && i % 3 == 2 { Kind::Write } else { Kind::Read };
            Request { id: u64::from(i), kind, bank, row, column }
        })
        .collect()
}

/// A machine with timing, organisation and policies drawn at random.
pub fn random_machine(random: &mut Rng) -> DramConfig {
    let bank_groups = random.pick(&[1, 2, 4]);
    let t_ras = random.range(5, 50);
    let t_rp = random.range(2, 20);
    let t_cl = random.range(2, 20);
    let config = DramConfig {
        t_ck_ns: 1.0,
        banks: bank_groups * random.range(1, 4),
        bank_groups,
        rows: 64,
        columns_per_row: 8,
        row_buffers: random.pick(&[1, 1, 2, 4]),
        t_rcd: random.range(2, 20),
        t_cl,
        t_cwl: random.range(0, t_cl),
        t_bl: random.range(1, 4),
        t_ccd_s: random.range(1, 4),
        t_ccd_l: random.range(1, 8),
        t_rtp: random.range(1, 10),
        t_rp,
        t_ras,
        t_rc: t_ras + t_rp + random.below(4),
        t_wr: random.range(0, 20),
        t_wtr_s: random.range(0, 8),
        t_wtr_l: random.range(0, 12),
        t_rtw_gap: random.range(0, 3),
        t_rrd_s: random.range(1, 8),
        t_rrd_l: random.range(1, 10),
        t_faw: random.range(4, 40),
        t_rfc: random.range(20, 200),
        t_refi: random.range(400, 1200),
        scheduler: random.pick(&[Scheduler::Fcfs, Scheduler::FrFcfs, Scheduler::FrFcfsRowHit]),
        page_policy: random.pick(&[PagePolicy::Open, PagePolicy::Open, PagePolicy::Closed]),
        refresh: random.pick(&[
            RefreshPolicy::AllBank,
            RefreshPolicy::AllBank,
            RefreshPolicy::None,
        ]),
        data_path: random.pick(&[DataPath::Shared, DataPath::PerBank]),
        queue: random.pick(&[QueueKind::Split, QueueKind::Unified]),
        read_queue_size: random.range(1, 32),
        write_queue_size: random.range(1, 32),
        write_drain_high_percent: random.range(50, 100),
        write_drain_low_percent: random.range(0, 50),
        slot_release: random.pick(&[SlotRelease::Activate, SlotRelease::Column]),
        write_forwarding: random.below(2) == 0,
    };
    config.validate().expect("ranges are chosen so that any draw is valid");
    config
}

/// A request to one of few addresses, so that hits, conflicts and orderings of
/// reads and writes to one address are frequent.
pub fn random_request(random: &mut Rng, config: &DramConfig, id: u64, writes_in_8: u32) -> Request {
    Request {
        id,
        kind: if random.below(8) < writes_in_8 { Kind::Write } else { Kind::Read },
        bank: random.below(config.banks),
        row: random.below(rows_in_use(id)),
        column: random.below(4),
    }
}

/// Stretches of 64 requests stay within 2, 3 or 8 rows of a bank.
fn rows_in_use(id: u64) -> u32 {
    [2, 3, 8][(id / 64 % 3) as usize]
}
