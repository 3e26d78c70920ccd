//! Tests of the command as files: command lines, and what each prints.
//!
//! ```text
//! $ nbcc interp a.halide          a command; further ones may follow
//! --- stdout                      what it prints, with the wildcards of `pattern`;
//! out: 4x1 float32 -> [..]        no section: nothing
//! --- stderr
//! --- exit 1                      its exit code; no section: 0
//! --- file a.halide               a file that is there before the commands run
//! Func out(x, y) = x;
//! ```
//!
//! Lines before the first command that begin with `#` say what is tested. Commands run one after
//! another in a new folder that has `examples`, `fixtures` and `machines` (of the DRAM model) in it.
//! With `NBCC_BLESS=1` what does not match is replaced by what was printed.

use std::fmt::Write;
use std::path::Path;

use crate::command::{self, Outcome};
use crate::{pattern, root};

/// A test file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The lines before the first command.
    pub about: String,
    /// The commands, in order.
    pub steps: Vec<Step>,
    /// Files by name.
    pub files: Vec<(String, String)>,
}

/// A command and what it should do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command line.
    pub line: String,
    /// Its exit code.
    pub exit: i32,
    /// What it prints to stdout.
    pub stdout: String,
    /// What it prints to stderr.
    pub stderr: String,
}

enum Section {
    About,
    Stdout,
    Stderr,
    File,
    None,
}

/// Reads a test file.
pub fn parse(text: &str) -> Result<Case, String> {
    let mut case = Case::default();
    let mut section = Section::About;
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| Err(format!("line {}: {what}", number + 1));
        if let Some(command) = line.strip_prefix("$ ") {
            case.steps.push(Step {
                line: command.to_string(),
                exit: 0,
                stdout: String::new(),
                stderr: String::new(),
            });
            section = Section::None;
            continue;
        }
        if let Some(title) = line.strip_prefix("--- ") {
            let (word, rest) = title.split_once(' ').unwrap_or((title, ""));
            section = match (word, case.steps.last_mut()) {
                ("stdout", Some(_)) => Section::Stdout,
                ("stderr", Some(_)) => Section::Stderr,
                ("exit", Some(step)) => {
                    let Ok(code) = rest.parse() else { return wrong("no exit code") };
                    step.exit = code;
                    Section::None
                }
                ("file", _) => {
                    case.files.push((rest.to_string(), String::new()));
                    Section::File
                }
                _ => return wrong("no such section"),
            };
            continue;
        }
        let into = match (&section, case.steps.last_mut(), case.files.last_mut()) {
            (Section::About, ..) => &mut case.about,
            (Section::Stdout, Some(step), _) => &mut step.stdout,
            (Section::Stderr, Some(step), _) => &mut step.stderr,
            (Section::File, _, Some((_, contents))) => contents,
            _ if line.is_empty() => continue,
            _ => return wrong("text outside a section"),
        };
        into.push_str(line);
        into.push('\n');
    }
    if case.steps.is_empty() { Err("it has no command".into()) } else { Ok(case) }
}

/// The text of a test file.
pub fn print(case: &Case) -> String {
    let mut text = case.about.clone();
    for step in &case.steps {
        let _ = writeln!(text, "$ {}", step.line);
        for (title, body) in [("stdout", &step.stdout), ("stderr", &step.stderr)] {
            if !body.is_empty() {
                let _ = writeln!(text, "--- {title}\n{}", body.trim_end_matches('\n'));
            }
        }
        if step.exit != 0 {
            let _ = writeln!(text, "--- exit {}", step.exit);
        }
    }
    for (name, contents) in &case.files {
        let _ = write!(text, "--- file {name}\n{contents}");
    }
    text
}

/// Runs a test file with the `nbcc` given. `Err` says what differs; with `NBCC_BLESS=1` the file
/// is brought up to date instead.
pub fn check(path: &Path, nbcc: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut case = parse(&text)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    furnish(folder.path())?;
    for (name, contents) in &case.files {
        let path = folder.path().join(name);
        let parent = path.parent().unwrap_or(folder.path());
        std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        std::fs::write(path, contents).map_err(|error| error.to_string())?;
    }
    let mut differences = String::new();
    for step in &mut case.steps {
        let outcome = command::run(command::command(nbcc, &step.line, folder.path()))?;
        let found = compare(step, &outcome);
        if !found.is_empty() {
            let _ = writeln!(differences, "$ {}\n{found}", step.line);
        }
        bless(step, &outcome);
        if let Some(error) = helpless(&outcome.stderr) {
            return Err(format!("$ {}\nno help: {error}", step.line));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    if std::env::var_os("NBCC_BLESS").is_some() {
        return std::fs::write(path, print(&case)).map_err(|error| error.to_string());
    }
    Err(format!("{differences}NBCC_BLESS=1 writes what is printed into {}", path.display()))
}

/// The first error that does not say what to do.
fn helpless(stderr: &str) -> Option<&str> {
    let begins = |line: &str| line.starts_with("[E") || line.starts_with("[W");
    let mut open = None;
    for line in stderr.lines() {
        if begins(line) {
            if open.is_some() {
                return open;
            }
            open = Some(line).filter(|line| line.starts_with("[E"));
        } else if line.contains("help: ") || line.contains("Help: ") {
            open = None;
        }
    }
    open
}

/// Puts into a folder what commands may read.
pub fn furnish(folder: &Path) -> Result<(), String> {
    let links = [
        ("examples", "examples"),
        ("fixtures", "tests/fixtures"),
        ("machines", "runtime-sim/dram/machines"),
    ];
    for (name, from) in links {
        link(&root().join(from), &folder.join(name)).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(from, to)
}

fn compare(step: &Step, outcome: &Outcome) -> String {
    let mut found = String::new();
    if outcome.code != Some(step.exit) {
        let _ = writeln!(found, "exit {:?} instead of {}", outcome.code, step.exit);
    }
    let texts =
        [("stdout", &step.stdout, &outcome.stdout), ("stderr", &step.stderr, &outcome.stderr)];
    for (name, expected, printed) in texts {
        if !pattern::matches(expected, printed) {
            let diff = similar::TextDiff::from_lines(expected.as_str(), printed.as_str());
            let _ =
                writeln!(found, "{name}:\n{}", diff.unified_diff().header("expected", "printed"));
        }
    }
    found
}

/// Takes over what was printed where it does not match.
fn bless(step: &mut Step, outcome: &Outcome) {
    step.exit = outcome.code.unwrap_or(-1);
    for (expected, printed) in
        [(&mut step.stdout, &outcome.stdout), (&mut step.stderr, &outcome.stderr)]
    {
        if !pattern::matches(expected, printed) {
            *expected = printed.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_printed() {
        let text = "# About.\n$ nbcc a\n--- stdout\none\n\ntwo\n--- exit 1\n$ nbcc b\n--- stderr\nx\n\
                    --- file a.halide\nFunc f;\n";
        let case = parse(text).unwrap();
        assert_eq!(case.steps[0].stdout, "one\n\ntwo\n");
        assert_eq!((case.steps[0].exit, case.steps[1].exit), (1, 0));
        assert_eq!(case.files, [("a.halide".to_string(), "Func f;\n".to_string())]);
        assert_eq!(print(&case), text);
        assert!(parse("--- stdout\n").is_err());
        assert!(parse("# nothing\n").is_err());
    }
}
