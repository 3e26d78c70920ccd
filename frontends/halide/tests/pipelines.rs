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

#[test]
fn the_file_names_its_output_whatever_functions_call_their_funcs() {
    let shift = "Func shift(Func f) { Func out; out(x, y) = f(x + 1, y); return out; }\n";
    let name = |rest: &str| {
        let (pipeline, ..) =
            parse_text("test.halide", &format!("Func g(x, y) = x;\n{shift}{rest}"));
        let pipeline = pipeline.expect("it is valid");
        assert_eq!(pipeline.outputs.len(), 1);
        pipeline.funcs[pipeline.outputs[0]].name.clone()
    };
    assert_eq!(name("Func h = shift(g); Func out; out(x, y) = h(x, y) + 1;"), "out");
    assert_eq!(name("Func out = shift(shift(g));"), "out");
    assert_eq!(name("Func output(x, y) = shift(g)(x, y); Func late(x, y) = x;"), "output");
}
