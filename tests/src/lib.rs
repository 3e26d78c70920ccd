//! What tests over the whole workspace share: running the command, and comparing what it prints
//! with files that say what it should.

pub mod builds;
pub mod case;
pub mod command;
pub mod conformance;
pub mod forms;
pub mod fuzz;
pub mod fuzz_c;
pub mod fuzz_inputs;
pub mod fuzz_kernels;
pub mod fuzzing;
pub mod grids;
pub mod guard;
pub mod hardware;
pub mod images;
pub mod kernels;
pub mod minimal;
pub mod pattern;
pub mod reference;

use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostics, SourceMap};

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The files directly in a folder, with that extension, sorted. Panics where it cannot be read.
pub fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

/// Every source file below a folder, sorted.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = files_in(folder, "rs");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for folder in entries.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        found.extend(sources(&folder));
    }
    found.sort();
    found
}

/// What `cargo metadata` says of each crate of the workspace.
pub fn packages() -> Vec<serde_json::Value> {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// What was reported, a line each: place, severity, code, message.
pub fn said(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let line = |d: &nbcc_base::Diagnostic| {
        let at = d.span.map(|s| sources.start_of(s));
        let at = at.map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
        format!("{at}{} {}: {}", d.severity.word(), d.code.code, d.message)
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}
