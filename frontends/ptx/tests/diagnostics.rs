//! The diagnostics of syntax and declarations, file by file: each file in `tests/frontend-ptx/` ends
//! with what is expected of it, as `nbcc_testing` tells. `NBCC_BLESS=1` writes down what is
//! reported now.

mod common;

use std::path::{Path, PathBuf};

use common::diagnose;
use nbcc_base::Severity;
use nbcc_frontend_ptx::codes;
use nbcc_testing::{check_codes_have_files, check_examples, check_files};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frontend-ptx")
}

#[test]
fn every_file_is_diagnosed_as_it_says() {
    let all = check_files(&folder(), "ptx", diagnose);
    let errors = all.iter().filter(|d| d.severity == Severity::Error);
    let helpless: Vec<&str> =
        errors.filter(|d| d.help.is_none()).map(|d| d.message.as_str()).collect();
    assert!(helpless.is_empty(), "errors that do not say what to do: {helpless:#?}");
}

#[test]
fn every_code_has_a_file() {
    check_codes_have_files(codes::ALL, &folder(), "ptx");
}

#[test]
fn every_example_triggers_its_code() {
    check_examples(codes::ALL, &("2001"..="2049"), diagnose);
}
