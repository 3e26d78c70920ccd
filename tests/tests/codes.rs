//! Every diagnostic code is explained, and its example triggers it.

use std::collections::BTreeSet;

use nbcc_base::CodeInfo;
use nbcc_tests::{case, command, files_in, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

#[test]
fn codes_are_explained_once() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    let codes = nbcc::codes::all();
    assert!(codes.len() > 20);
    for info in codes {
        let digits = info.code.strip_prefix(['E', 'W']).unwrap_or_default();
        if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            wrong.push(format!("{} is not E or W and four digits", info.code));
        }
        if !seen.insert(info.code) {
            wrong.push(format!("{} is there twice", info.code));
        }
        if info.title.is_empty() || info.title.ends_with('.') || info.explanation.len() < 20 {
            wrong.push(format!("{} has no title without a full stop, or no text", info.code));
        }
        if info.example.is_empty() == info.by_test.is_none() {
            wrong.push(format!("{} needs either an example or the name of a test", info.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the example of a code; what is wrong with it.
fn run_example(info: &CodeInfo) -> Result<(), String> {
    let (first, rest) = info.example.split_once('\n').unwrap_or((info.example, ""));
    let line = first.trim_start_matches(['/', '#']).trim();
    let file = command::words(line).into_iter().find(|word| word.starts_with("example."));
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    case::furnish(folder.path())?;
    if let Some(file) = file {
        let path = folder.path().join(file.split(':').next().unwrap_or_default());
        std::fs::write(path, rest).map_err(|error| error.to_string())?;
    }
    let mut command = command::command(NBCC, line, folder.path());
    command.args(["--message-format", "json"]);
    let outcome = command::run(command)?;
    let diagnostics = outcome.stderr.lines().map(serde_json::from_str::<serde_json::Value>);
    let diagnostics: Vec<_> = diagnostics.filter_map(Result::ok).collect();
    let Some(reported) = diagnostics.iter().find(|d| d["code"] == info.code) else {
        return Err(format!("exit {:?}\n{}", outcome.code, outcome.stderr));
    };
    match reported["severity"] == "error" && reported["help"].is_null() {
        true => Err(format!("no help\n{}", outcome.stderr)),
        false => Ok(()),
    }
}

#[test]
fn examples_trigger_their_codes() {
    let mut wrong = Vec::new();
    for info in nbcc::codes::all().iter().filter(|info| !info.example.is_empty()) {
        if let Err(what) = run_example(info) {
            wrong.push(format!("{}: {what}", info.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tests_named_by_codes_exist() {
    let mut folders = vec![root()];
    let mut tests = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            if entry.path().is_dir() && !hidden && name != "target" {
                folders.push(entry.path());
            }
        }
        for file in files_in(&folder, "rs") {
            tests.push_str(&std::fs::read_to_string(file).expect("a source"));
        }
    }
    for info in nbcc::codes::all() {
        if let Some(name) = info.by_test {
            assert!(tests.contains(&format!("fn {name}(")), "{}: no test {name}", info.code);
        }
    }
}
