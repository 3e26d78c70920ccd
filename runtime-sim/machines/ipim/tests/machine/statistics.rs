//! What is defined is measured: every statistic of the table has a value.

use nbcc_sim_ipim::simulation::RunOptions;
use nbcc_sim_ipim::statistics::DEFINITIONS;

use crate::support::{program, small_cubes, try_time};

#[test]
fn every_statistic_has_a_value_and_a_place_in_the_file() {
    let program = program(&small_cubes(2), "req 1, 2, 0, 0, 0, 0\nsync 1");
    let statistics = try_time(&program, &mut RunOptions::default()).unwrap().statistics;
    let json: serde_json::Value = serde_json::from_str(&statistics.to_json()).unwrap();
    for definition in DEFINITIONS {
        let found = definition.key.split('.').try_fold(&json, |object, name| object.get(name));
        assert!(found.is_some(), "{} has no value", definition.key);
        assert!(!definition.about.is_empty() && !definition.unit.is_empty());
    }
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["target"], "ipim");
    assert_eq!(json["machine"]["name"], "ipim");
    assert_eq!(json["machine"]["hash"], program.machine.hash());
    assert_eq!(json["core"]["instructions_of"].as_array().unwrap().len(), 8);
}
