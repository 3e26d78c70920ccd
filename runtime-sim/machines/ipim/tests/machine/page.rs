//! docs/statistics.md lists every statistic. `NBCC_BLESS=1` writes the list.

use std::path::Path;

use nbcc_sim_ipim::simulation::RunOptions;
use nbcc_sim_ipim::statistics::DEFINITIONS;

use crate::support::{program, small_cubes, try_time};

const BEGIN: &str = "<!-- ipim, made from the definitions: begin -->\n";
const END: &str = "<!-- ipim, made from the definitions: end -->\n";

#[test]
fn the_page_lists_every_statistic() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/statistics.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let rows: Vec<String> = DEFINITIONS.iter().map(|row| row.table_row()).collect();
    let rows = rows.join("\n");
    let expected =
        format!("{head}{BEGIN}\n| key | unit | what |\n| --- | --- | --- |\n{rows}\n\n{END}{tail}");
    if page != expected && std::env::var_os("NBCC_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/statistics.md is out of step; NBCC_BLESS=1 writes it");
}

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
