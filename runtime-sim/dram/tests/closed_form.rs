//! With one request outstanding and no refresh there is no freedom of scheduling:
//! every right model gives the same cycles. This file computes them in closed form,
//! request by request, and compares.

mod common;

use std::collections::HashMap;

use common::{Rng, TRACES, reference, trace};
use nbcc_sim_dram::{Cycle, DramConfig, Kind, Replay, Request, replay};

#[derive(Debug, Default, PartialEq)]
struct Expected {
    finish_cycle: Cycle,
    hits: u64,
    misses: u64,
    conflicts: u64,
    read_latency_sum: Cycle,
}

/// Greedy: each command of a request at the first cycle that all earlier ones allow.
fn closed_form(c: &DramConfig, requests: &[Request]) -> Expected {
    let t = |latency: u32| Cycle::from(latency);
    let write_end = c.t_cwl + c.t_bl;
    let mut open: HashMap<u32, u32> = HashMap::new();
    let mut activated: HashMap<u32, Cycle> = HashMap::new();
    let mut column_to_pre: HashMap<u32, Cycle> = HashMap::new();
    let mut activates: Vec<Cycle> = Vec::new();
    let mut group_activate: HashMap<u32, Cycle> = HashMap::new();
    let mut group_write: HashMap<u32, Cycle> = HashMap::new();
    let mut last_read: Option<Cycle> = None;
    let mut last_write: Option<Cycle> = None;
    let mut now = 0;
    let mut expected = Expected::default();

    for request in requests {
        let (bank, group) = (request.bank, request.bank % c.bank_groups);
        let arrival = now;
        let mut column = now + 1;
        if open.get(&bank) == Some(&request.row) {
            expected.hits += 1;
        } else {
            let mut act = now + 1;
            if open.contains_key(&bank) {
                expected.conflicts += 1;
                let pre = act.max(activated[&bank] + t(c.t_ras)).max(column_to_pre[&bank]);
                act = pre + t(c.t_rp);
            } else {
                expected.misses += 1;
            }
            if let Some(last) = activates.last() {
                act = act.max(last + t(c.t_rrd_s));
            }
            if let Some(last) = group_activate.get(&group) {
                act = act.max(last + t(c.t_rrd_l));
            }
            if let Some(at) = activates.len().checked_sub(4) {
                act = act.max(activates[at] + t(c.t_faw));
            }
            activates.push(act);
            group_activate.insert(group, act);
            activated.insert(bank, act);
            open.insert(bank, request.row);
            column_to_pre.remove(&bank);
            column = act + t(c.t_rcd);
        }
        let mut after = |earlier: Option<Cycle>, latency: u32| {
            if let Some(earlier) = earlier {
                column = column.max(earlier + t(latency));
            }
        };
        let to_pre;
        if request.kind == Kind::Read {
            after(last_read, c.t_ccd_s);
            after(last_write, write_end + c.t_wtr_s);
            after(group_write.get(&group).copied(), write_end + c.t_wtr_l);
            last_read = Some(column);
            to_pre = column + t(c.t_rtp);
            now = column + t(c.t_cl + c.t_bl);
            expected.read_latency_sum += now - arrival;
        } else {
            after(last_write, c.t_ccd_s.max(c.t_bl));
            after(last_read, (c.t_cl + c.t_bl + c.t_rtw_gap).saturating_sub(c.t_cwl));
            last_write = Some(column);
            group_write.insert(group, column);
            to_pre = column + t(write_end + c.t_wr);
            now = column;
        }
        let pre = column_to_pre.entry(bank).or_default();
        *pre = to_pre.max(*pre);
    }
    expected.finish_cycle = now;
    expected
}

fn compare(config: &DramConfig, requests: &[Request], what: &str) -> Replay {
    let expected = closed_form(config, requests);
    let result = replay(config, requests, 1).expect("a valid machine");
    let reads = requests.iter().filter(|r| r.kind == Kind::Read).count();
    let got = Expected {
        finish_cycle: result.finish_cycle,
        hits: result.hits,
        misses: result.misses,
        conflicts: result.conflicts,
        read_latency_sum: (result.average_read_latency * reads as f64).round() as Cycle,
    };
    assert_eq!(got, expected, "{what}, {config:?}");
    assert_eq!(result.requests, requests.len() as u64, "{what}");
    result
}

#[test]
fn canonical_traces() {
    for scheduler in ["scheduler=fcfs", "scheduler=fr-fcfs", "scheduler=fr-fcfs-row-hit"] {
        let config = reference(&[scheduler]);
        for name in TRACES {
            compare(&config, &trace(name, 200_000), name);
        }
    }
}

/// What two other models say of the mixed trace.
#[test]
fn mixed_trace() {
    let result = compare(&reference(&[]), &trace("d_mixed2r1w", 200_000), "mixed");
    assert_eq!(result.finish_cycle, 8_036_264);
    assert_eq!(format!("{:.3}", result.average_read_latency), "45.712");
    assert_eq!((result.hits, result.misses, result.conflicts), (1, 16, 199_983));
}

#[test]
fn random_parameters() {
    let mut random = Rng(0x5eed);
    for case in 0..1000 {
        let mut c = reference(&[]);
        c.bank_groups = random.pick(&[1, 2, 4, 4, 8, 16]);
        c.t_rcd = random.range(1, 40);
        c.t_cl = random.range(2, 30);
        c.t_bl = random.range(1, 8);
        c.t_cwl = random.range(0, 30);
        c.t_ccd_s = random.range(1, c.t_cl + c.t_bl);
        c.t_ccd_l = c.t_ccd_s;
        c.t_rtp = random.range(1, 40);
        c.t_rp = random.range(1, 40);
        c.t_ras = random.range(1, 90);
        c.t_rc = c.t_ras + c.t_rp;
        c.t_wr = random.range(0, 40);
        c.t_wtr_s = random.range(0, 20);
        c.t_wtr_l = random.range(0, 20);
        c.t_rtw_gap = random.range(0, 5);
        c.t_rrd_s = random.range(1, 60);
        c.t_rrd_l = random.range(1, 80);
        c.t_faw = random.range(1, 300);
        c.scheduler = random.pick(&[
            nbcc_sim_dram::Scheduler::Fcfs,
            nbcc_sim_dram::Scheduler::FrFcfs,
            nbcc_sim_dram::Scheduler::FrFcfsRowHit,
        ]);
        c.validate().expect("a valid machine");
        for name in TRACES {
            compare(&c, &trace(name, 160), &format!("set {case}, {name}"));
        }
    }
}
