//! The examples and the pipelines of the test collection are accepted without warnings that speak
//! of mistakes, and give stage graphs that keep their contract.

mod common;

use std::path::{Path, PathBuf};

use common::parse_text;

fn sources(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut list: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "halide"))
        .collect();
    list.sort();
    list
}

#[test]
fn every_pipeline_gives_a_stage_graph() {
    let mut list = sources("examples/ipim");
    assert!(list.len() >= 6, "the examples are there");
    list.extend(sources("tests/pipelines"));
    let mut failures = Vec::new();
    for path in list {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let (_, diagnostics, file) = parse_text(&name, &text);
        for d in diagnostics.iter() {
            let at = file.position(d.span.unwrap_or_default().start);
            let line = format!(
                "{}:{}:{}: {} {}: {}",
                file.name,
                at.line,
                at.column,
                d.code.code,
                d.severity.word(),
                d.message
            );
            if d.severity == nbcc_base::Severity::Error {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
