//! What is said of broken sources, file by file: each file in `tests/frontend-c/` ends with what is
//! expected of it, as `nbcc_testing` tells. `NBCC_BLESS=1` writes down what is reported now.

mod common;

use std::path::Path;

use nbcc_base::{Diagnostics, Severity, SourceFile};
use nbcc_testing::check_files;

fn diagnose(file: &SourceFile) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let (program, said) = common::parse(Path::new(&file.name), &file.text, None);
    said.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
    assert!(program.is_none() && diagnostics.has_errors(), "{}: is taken", file.name);
    diagnostics
}

#[test]
fn every_file_is_diagnosed_as_it_says() {
    let all = check_files(&common::root().join("tests/frontend-c"), "c", diagnose);
    let errors = all.iter().filter(|said| said.severity == Severity::Error);
    let helpless: Vec<&str> =
        errors.filter(|said| said.help.is_none()).map(|said| said.message.as_str()).collect();
    assert!(helpless.is_empty(), "errors that do not say what to do: {helpless:#?}");
}
