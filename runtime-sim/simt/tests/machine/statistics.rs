//! What is defined is measured: every statistic of the table has a value.

use nbcc_sim_simt::DEFINITIONS;

use crate::support::{Bench, stored};

#[test]
fn every_statistic_has_a_value_and_sums_hold() {
    let mut bench = Bench::new(&stored("sreg.laneid R10\ncmp.lt_u P0, R10, 4\nif P0 mov R10, 9"));
    let mut counters = bench.run(3, 40);
    counters.add(&bench.run(1, 32));
    let statistics = counters.statistics(bench.module.program());
    let json: serde_json::Value = serde_json::from_str(&statistics.to_json()).unwrap();
    for definition in DEFINITIONS {
        let found = definition.key.split('.').try_fold(&json, |object, name| object.get(name));
        assert!(found.is_some(), "{} has no value", definition.key);
    }
    assert_eq!(json["instructions"], 11 * 7);
    let of_categories = json["category"].as_object().unwrap().values();
    assert_eq!(of_categories.map(|n| n.as_u64().unwrap()).sum::<u64>(), 11 * 7);
    assert_eq!(
        (&json["launches"], &json["blocks"], &json["warps"]),
        (&2.into(), &4.into(), &7.into())
    );
    assert_eq!(json["threads"], 3 * 40 + 32);
    assert_eq!(json["bytes"]["global_written"], 4 * (3 * 40 + 32));
    assert_eq!(json["bytes"]["param_read"], 8 * (3 * 40 + 32));
    // Two warps on each of three cores, then one on the first.
    assert_eq!(json["cycles"], 22 + 11);
}
