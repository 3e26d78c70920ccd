//! The diagnostics of syntax and declarations, file by file: each file in `tests/frontend-ptx/` ends
//! with what is expected of it, in comments:
//!
//! ```text
//! //~ E2020 3:5-3:9 error: the message
//! //~     label 3:5-3:9: what is said of the place
//! //~     help: what to do
//! ```
//!
//! `NBCC_BLESS=1` writes down what is reported now.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use common::diagnose;
use nbcc_base::{Diagnostics, SourceFile, Span};
use nbcc_frontend_ptx::codes;

const MARK: &str = "//~";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frontend-ptx");
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "ptx"))
        .collect();
    list.sort();
    list
}

fn place(file: &SourceFile, span: Span) -> String {
    let (a, b) = (file.position(span.start), file.position(span.end));
    format!("{}:{}-{}:{}", a.line, a.column, b.line, b.column)
}

fn report(file: &SourceFile, diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for d in diagnostics.iter() {
        let span = d.span.expect("every diagnostic of this crate has a place");
        writeln!(
            out,
            "{MARK} {} {} {}: {}",
            d.code.code,
            place(file, span),
            d.severity.word(),
            d.message
        )
        .unwrap();
        for label in &d.labels {
            writeln!(out, "{MARK}     label {}: {}", place(file, label.span), label.text).unwrap();
        }
        if let Some(help) = &d.help {
            writeln!(out, "{MARK}     help: {help}").unwrap();
        }
    }
    out
}

/// The source and the expectations at its end.
fn parts(text: &str) -> (&str, &str) {
    let at = match text.find(&format!("\n{MARK}")) {
        Some(at) => at + 1,
        None => text.len(),
    };
    text.split_at(at)
}

#[test]
fn every_file_is_diagnosed_as_it_says() {
    let bless = std::env::var_os("NBCC_BLESS").is_some();
    let mut failures = String::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (source, expected) = parts(&text);
        let file = SourceFile::new(&name, source);
        let found = report(&file, &diagnose(&file));
        if found == expected {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{source}{found}")).unwrap();
        } else {
            writeln!(failures, "{name}: expected\n{expected}found\n{found}").unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn every_code_has_a_file() {
    let mut seen = BTreeSet::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let codes = text.lines().filter_map(|l| l.strip_prefix("//~ ")).map(|l| l[..5].to_owned());
        seen.extend(codes.filter(|c| !c.starts_with(' ')));
    }
    let missing: Vec<_> = codes::ALL
        .iter()
        .filter(|c| c.by_test.is_none() && !seen.contains(c.code))
        .map(|c| c.code)
        .collect();
    assert!(missing.is_empty(), "codes without a file in tests/frontend-ptx: {missing:?}");
}

#[test]
fn every_example_triggers_its_code() {
    let mut codes_seen = BTreeSet::new();
    for code in codes::ALL {
        assert!(codes_seen.insert(code.code), "{} stands twice", code.code);
        let range = ("E2001"..="E2049").contains(&code.code);
        assert!(range, "{} is outside this range", code.code);
        assert!(!code.explanation.contains("  "), "{}: {}", code.code, code.explanation);
        if code.by_test.is_some() {
            continue;
        }
        let file = SourceFile::new("example.ptx", code.example);
        let diagnostics = diagnose(&file);
        assert!(
            diagnostics.iter().any(|d| d.code.code == code.code),
            "the example of {} gives\n{}",
            code.code,
            report(&file, &diagnostics)
        );
    }
}
