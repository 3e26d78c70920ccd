//! Results of Ramulator 2.1 for the canonical traces, 200000 requests each, without
//! refresh (`data/ramulator_norefresh.csv`): open loop (window 0) under its two
//! schedulers, and one request outstanding (window 1).

mod common;

use common::{reference, trace};
use nbcc_sim_dram::replay;

#[test]
fn equal_to_ramulator() {
    let mut rows = 0;
    for line in include_str!("data/ramulator_norefresh.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [scheduler, window, name, finish_cycle, latency, counts] = fields[..] else {
            panic!("six fields: {line}");
        };
        let config = reference(&[match scheduler {
            "FRFCFS" => "scheduler=fr-fcfs",
            "FRFCFSRowHit" => "scheduler=fr-fcfs-row-hit",
            other => panic!("no scheduler {other}"),
        }]);
        let window = window.parse().expect("a window");
        let result = replay(&config, &trace(name, 200_000), window).expect("a valid machine");
        assert_eq!(result.finish_cycle.to_string(), finish_cycle, "{line}");
        let counted = format!("{}/{}/{}", result.hits, result.misses, result.conflicts);
        assert_eq!(counted, counts, "{line}");
        let latency: f64 = latency.parse().expect("a latency");
        assert_eq!(
            format!("{:.3}", result.average_read_latency),
            format!("{latency:.3}"),
            "{line}"
        );
        rows += 1;
    }
    assert_eq!(rows, 21);
}
