//! What file-driven tests share: files that end with the diagnostics expected of them, examples
//! of codes, and sources made to harm.
//!
//! ```text
//! //~ E0123 3:5-3:9 error: the message
//! //~     label 3:5-3:9: what is said of the place
//! //~     help: what to do
//! ```
//!
//! With `NBCC_BLESS=1`, [`check_files`] writes down what is reported now. [`check_results`] does the
//! same for texts that are made of texts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Severity, SourceFile, Span};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, RngSeed};

const MARK: &str = "//~";

/// The codes of the errors, in order.
pub fn errors(diagnostics: &Diagnostics) -> Vec<&'static str> {
    diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code.code).collect()
}

fn place(file: &SourceFile, span: Span) -> String {
    let (a, b) = (file.position(span.start), file.position(span.end));
    format!("{}:{}-{}:{}", a.line, a.column, b.line, b.column)
}

/// Diagnostics as the expectations in this module's header. Panics on one without a place.
pub fn report(file: &SourceFile, diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for d in diagnostics.iter() {
        let Some(span) = d.span else { panic!("{}: without a place: {}", file.name, d.message) };
        let place_of_all = place(file, span);
        let severity = d.severity.word();
        writeln!(out, "{MARK} {} {place_of_all} {severity}: {}", d.code.code, d.message).unwrap();
        for label in &d.labels {
            writeln!(out, "{MARK}     label {}: {}", place(file, label.span), label.text).unwrap();
        }
        if let Some(help) = &d.help {
            writeln!(out, "{MARK}     help: {help}").unwrap();
        }
    }
    out
}

/// The files of a folder that have this extension, sorted.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut list = entries(folder);
    list.retain(|path| path.extension().is_some_and(|e| e == extension));
    list.sort();
    list
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// The source and the expectations at its end.
fn parts(text: &str) -> (&str, &str) {
    let at = match text.find(&format!("\n{MARK}")) {
        Some(at) => at + 1,
        None if text.starts_with(MARK) => 0,
        None => text.len(),
    };
    text.split_at(at)
}

/// Each file of the folder is diagnosed as it says at its end. Gives all that was reported.
pub fn check_files(
    folder: &Path,
    extension: &str,
    mut diagnose: impl FnMut(&SourceFile) -> Diagnostics,
) -> Vec<Diagnostic> {
    let bless = std::env::var_os("NBCC_BLESS").is_some();
    let mut failures = String::new();
    let mut all = Vec::new();
    for path in files(folder, extension) {
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let (source, expected) = parts(&text);
        let file = SourceFile::new(&name, source);
        let mut diagnostics = diagnose(&file);
        let found = report(&file, &diagnostics);
        all.extend(diagnostics.take());
        if found == expected {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{source}{found}")).expect("written");
        } else {
            writeln!(failures, "{name}: expected\n{expected}found\n{found}").unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
    all
}

/// The line of a file behind which stands what is expected of it.
const EXPECT: &str = "; expect:\n";

/// Each file of the folder is a text, a line `; expect:`, and what `result` makes of the text. With
/// `NBCC_BLESS=1` the expected parts are written anew.
pub fn check_results(folder: &Path, extension: &str, mut result: impl FnMut(&str) -> String) {
    let bless = std::env::var_os("NBCC_BLESS").is_some();
    let mut failures = String::new();
    let paths = files(folder, extension);
    assert!(!paths.is_empty(), "{folder:?} has no file .{extension}");
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a text");
        let (input, expected) = text.split_once(EXPECT).unwrap_or((&text, ""));
        let found = match catch_unwind(AssertUnwindSafe(|| result(input))) {
            Ok(found) => found,
            Err(panic) => {
                eprintln!("in {}:", path.display());
                resume_unwind(panic);
            }
        };
        if found == expected {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{input}{EXPECT}{found}")).expect("written");
        } else {
            writeln!(failures, "{}: expected\n{expected}found\n{found}", path.display()).unwrap();
        }
    }
    assert!(failures.is_empty(), "NBCC_BLESS=1 accepts these:\n{failures}");
}

/// Codes are unique and in their range, each that has an example is reported of it, and each that
/// has not names its test.
pub fn check_examples(
    codes: &[&CodeInfo],
    range: &RangeInclusive<&str>,
    mut diagnose: impl FnMut(&SourceFile) -> Diagnostics,
) {
    let mut seen = BTreeSet::new();
    for code in codes {
        assert!(seen.insert(code.code), "{} stands twice", code.code);
        assert!(range.contains(&&code.code[1..]), "{} is outside its range", code.code);
        assert!(!code.explanation.contains("  "), "{}: {}", code.code, code.explanation);
        if code.by_test.is_some() {
            continue;
        }
        let file = SourceFile::new("example", code.example);
        let diagnostics = diagnose(&file);
        let found = diagnostics.iter().any(|d| d.code.code == code.code);
        assert!(found, "the example of {} gives\n{}", code.code, report(&file, &diagnostics));
    }
}

/// Each code that has an example is also expected of a file.
pub fn check_codes_have_files(codes: &[&CodeInfo], folder: &Path, extension: &str) {
    let mut seen = BTreeSet::new();
    for path in files(folder, extension) {
        let text = std::fs::read_to_string(&path).expect("a text");
        let lines = text.lines().filter_map(|line| line.strip_prefix(MARK)?.strip_prefix(' '));
        seen.extend(lines.filter_map(|line| line.split(' ').next()).map(String::from));
    }
    let has_none = |code: &&&CodeInfo| code.by_test.is_none() && !seen.contains(code.code);
    let missing: Vec<&str> = codes.iter().filter(has_none).map(|code| code.code).collect();
    assert!(missing.is_empty(), "codes without a file in {folder:?}: {missing:?}");
}

/// Every line of the sources that makes a diagnostic made one of `made`. `sources` are files and
/// folders below `root`, which is the folder of the workspace.
pub fn check_all_are_made(root: &Path, sources: &[&str], made: &[Diagnostic]) {
    let made: BTreeSet<(&str, u32)> =
        made.iter().map(|d| (d.made_at.file(), d.made_at.line())).collect();
    let mut missing = Vec::new();
    let mut todo: Vec<PathBuf> = sources.iter().map(|source| root.join(source)).collect();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(entries(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy();
        for (number, line) in (1..).zip(text.lines()) {
            let makes = ["error", "warning", "note"]
                .iter()
                .any(|severity| line.contains(&format!("Diagnostic::{severity}(")));
            if makes && !made.contains(&(&name, number)) {
                missing.push(format!("{name}:{number}"));
            }
        }
    }
    missing.sort();
    assert!(missing.is_empty(), "nothing expects the diagnostics of {missing:#?}");
}

/// The words of a text (letters, digits and `others`) and the characters between them.
fn tokens<'a>(text: &'a str, others: &str) -> Vec<&'a str> {
    let mut list = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        let end =
            if word(c) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        list.push(&rest[..end]);
        rest = &rest[end..];
    }
    list
}

/// What a source becomes by accident: tokens swapped, dropped, repeated and shuffled, bytes changed,
/// the end missing. Names are made of letters, digits and `others`.
pub fn damaged(text: &'static str, others: &str) -> impl Strategy<Value = String> + use<> {
    let index = any::<Index>;
    let list = tokens(text, others);
    let swapped = {
        let list = list.clone();
        prop::collection::vec((index(), index()), 1..4).prop_map(move |swaps| {
            let mut list = list.clone();
            let count = list.len();
            for (a, b) in swaps {
                list.swap(a.index(count), b.index(count));
            }
            list.concat()
        })
    };
    let edited = {
        let list = list.clone();
        prop::collection::vec((index(), any::<bool>()), 1..6).prop_map(move |edits| {
            let mut list = list.clone();
            for (at, twice) in edits {
                let at = at.index(list.len());
                if twice {
                    list.insert(at, list[at]);
                } else {
                    list.remove(at);
                }
            }
            list.concat()
        })
    };
    let picked = prop::collection::vec(index(), 0..80).prop_map(move |picks| {
        picks.iter().map(|at| list[at.index(list.len())]).collect::<Vec<_>>().join(" ")
    });
    let byte = prop_oneof![9 => 0u8..128, 1 => any::<u8>()];
    let changed = prop::collection::vec((index(), byte), 1..5).prop_map(move |edits| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    prop_oneof![swapped, edited, picked, changed, any::<String>()]
}

/// Random cases, the same in every run.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::default()
    }
}
