//! The examples and the pipelines of the test collection are accepted without warnings that speak
//! of mistakes, and give stage graphs that keep their contract.

use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_halide::{Options, parse};
use nbcc_stages::{DirectiveInfo, ParamKind};

use ParamKind::{NewVar, Size, Var, Vars};

const DIRECTIVES: &[DirectiveInfo] = &[
    DirectiveInfo {
        name: "ipim_tile",
        forms: &[&[Var, Var, NewVar, NewVar, Size, Size], &[Var, NewVar, Size]],
        usage: "ipim_tile(x, y, xi, yi, W, H)",
        about: "Tiles.",
    },
    DirectiveInfo {
        name: "load_pgsm",
        forms: &[&[Vars]],
        usage: "load_pgsm(xi, yi)",
        about: "Stages.",
    },
];

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
        let file = SourceFile::new(path.to_string_lossy(), text);
        let mut diagnostics = Diagnostics::default();
        let options = Options { directives: DIRECTIVES };
        let result = parse(SourceId(0), &file, &options, &mut diagnostics);
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
            println!("{line}");
            if d.severity == nbcc_base::Severity::Error {
                failures.push(line);
            }
        }
        if let Ok(pipeline) = result {
            if let Err(errors) = nbcc_stages::verify(&pipeline) {
                failures.extend(errors.iter().map(|e| format!("{}: {e}", file.name)));
            }
            println!("{}", nbcc_stages::print::print(&pipeline, None));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
