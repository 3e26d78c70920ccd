//! Running a case in a folder of its own, under limits, and what is to be said of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use nbcc_isa::load;

use crate::command::{self, Outcome};
use crate::guard::{Failure, failure};

use super::generate::Case;

/// Memory that the command may take, in bytes.
const MEMORY: u64 = 1 << 30;

/// Address space that it has beyond that, in bytes: its stack (256 MiB, of which it touches little),
/// the stacks and heaps of a few threads, its code.
const RESERVED: u64 = (256 + 64) << 20;

/// Seconds of processor time that a command may take; programs run for a few thousand cycles.
const SECONDS: u64 = 20;

/// How a command ended that ended well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// 0, 1 or 2.
    pub exit: i32,
    /// The code of the first error, if it has one.
    pub code: Option<String>,
}

/// Runs the commands of a case one after another, until one fails; how the last one ended.
///
/// # Errors
/// One of them did what no command may do.
pub fn run(nbcc: &str, case: &Case) -> Result<Verdict, Failure> {
    let folder = tempfile::tempdir().map_err(|error| failure("no folder", error.to_string()))?;
    write(case, folder.path()).map_err(|error| failure("no file", error.to_string()))?;
    let mut verdict = Verdict::default();
    for words in &case.commands {
        let before = contents(folder.path())?;
        let outcome = command::run(limited(nbcc, words, folder.path()))
            .map_err(|error| failure("time", error))?;
        verdict = judge(&outcome)?;
        // A damaged kernel may race with itself, and differ from the interpreter for that; what the
        // machine made is written all the same. Pipelines do not race.
        let kernel = words.iter().any(|word| word.ends_with(".ptx"));
        let races = kernel && outcome.stderr.contains("[E4204]");
        let exit = if races { 0 } else { verdict.exit };
        look_around(&before, &contents(folder.path())?, exit)?;
        if verdict.exit != 0 {
            break;
        }
    }
    Ok(verdict)
}

/// Writes the files of a case into a folder.
pub fn write(case: &Case, folder: &Path) -> std::io::Result<()> {
    for (name, bytes) in &case.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// The command under limits, which the shell sets. What it prints to stdout may be long, and nobody
/// looks at it.
fn limited(nbcc: &str, words: &[String], folder: &Path) -> Command {
    let script = "ulimit -v $1 && ulimit -t $2 && ulimit -c 0 && shift 2 && exec \"$@\" >/dev/null";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]);
    command.args([((MEMORY + RESERVED) >> 10).to_string(), SECONDS.to_string()]);
    command.arg(nbcc).args(words).current_dir(folder).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    // Heaps and stacks of threads take address space, which the limit counts.
    command.envs([("RAYON_NUM_THREADS", "1"), ("MALLOC_ARENA_MAX", "1"), ("COLUMNS", "100")]);
    command
}

/// What a command did, as its exit code and stderr say.
fn judge(outcome: &Outcome) -> Result<Verdict, Failure> {
    let text = &outcome.stderr;
    let shown: String = text.chars().take(4000).collect();
    let wrong = |kind: String| Err(failure(kind, shown.clone()));
    if let Some((_, rest)) = text.split_once("internal error: ") {
        let place = rest.lines().next().unwrap_or_default();
        // The same fault has different numbers in its message.
        let place = place.rsplit_once('(').map_or(place, |(_, place)| place);
        return wrong(format!("panic at {}", place.trim_end_matches(')')));
    }
    if text.contains("memory allocation of ") {
        return wrong("memory".into());
    }
    let code = first_code(text);
    match (outcome.code, outcome.signal) {
        (Some(0), _) if text.contains("] error: ") || text.contains("\"severity\":\"error\"") => {
            wrong("an error and exit 0".into())
        }
        (Some(0), _) => Ok(Verdict::default()),
        (Some(1), _) if code.is_none() => wrong("exit 1 without a code".into()),
        (Some(2), _) if code.is_none() && !text.contains("error: ") => {
            wrong("exit 2 without a message".into())
        }
        (Some(exit @ (1 | 2)), _) => Ok(Verdict { exit, code }),
        (Some(exit), _) => wrong(format!("exit {exit}")),
        // The processor time is used up.
        (None, Some(9 | 24)) => wrong("time".into()),
        (None, signal) => wrong(format!("signal {}", signal.unwrap_or_default())),
    }
}

/// The first code of an error: `[E4002] error` or its like in JSON.
fn first_code(text: &str) -> Option<String> {
    let starts = ["[E", "\"code\":\"E"];
    let codes = starts.iter().flat_map(|start| text.split(start).skip(1));
    let mut digits = codes.filter_map(|rest| rest.get(..4));
    digits.find(|four| four.bytes().all(|b| b.is_ascii_digit())).map(|four| format!("E{four}"))
}

/// The files of a folder, with their bytes.
fn contents(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let list = || -> std::io::Result<_> {
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let name = entry.file_name().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(entry.path())?);
            }
        }
        Ok(found)
    };
    list().map_err(|error| failure("no folder", error.to_string()))
}

/// What a command left in its folder: nothing if it failed, whole files if not, and what was there
/// before as it was.
fn look_around(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
    exit: i32,
) -> Result<(), Failure> {
    for (name, bytes) in before {
        if after.get(name) != Some(bytes) {
            return Err(failure("a file overwritten", name.clone()));
        }
    }
    for (name, bytes) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        if name.starts_with(".nbcc-") {
            return Err(failure("a temporary file left behind", name.clone()));
        }
        // Remarks are those of the compiler, whatever becomes of the run.
        if exit != 0 && !name.ends_with(".opt.yaml") {
            return Err(failure("a file written though the command failed", name.clone()));
        }
        // A seal over what is sealed changes nothing.
        let mut sealed = bytes.clone();
        if name.ends_with(".nbx") && (load::seal(&mut sealed).is_err() || sealed != *bytes) {
            return Err(failure("a binary that is not whole", name.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: Option<i32>, signal: Option<i32>, stderr: &str) -> Result<i32, String> {
        let outcome = Outcome { stdout: String::new(), stderr: stderr.into(), code, signal };
        judge(&outcome).map(|verdict| verdict.exit).map_err(|failure| failure.kind)
    }

    #[test]
    fn ends_are_told_apart() {
        assert_eq!(kind(Some(0), None, "[W0300] warning: w"), Ok(0));
        assert_eq!(kind(Some(1), None, "[E4002] error: e"), Ok(1));
        assert_eq!(kind(Some(1), None, "{\"code\":\"E4002\",\"severity\":\"error\"}"), Ok(1));
        assert_eq!(kind(Some(2), None, "error: unexpected argument"), Ok(2));
        assert_eq!(kind(Some(0), None, "[E4002] error: e"), Err("an error and exit 0".into()));
        assert_eq!(kind(Some(1), None, "error: e"), Err("exit 1 without a code".into()));
        assert_eq!(kind(Some(101), None, ""), Err("exit 101".into()));
        assert_eq!(kind(None, Some(24), ""), Err("time".into()));
        assert_eq!(kind(None, Some(11), ""), Err("signal 11".into()));
        assert_eq!(
            kind(None, Some(6), "memory allocation of 9 bytes failed"),
            Err("memory".into())
        );
        let panic = "internal error: index 7 (of 3) is out (src/a.rs:12)\nThis is a fault";
        assert_eq!(kind(Some(1), None, panic), Err("panic at src/a.rs:12".into()));
    }

    #[test]
    fn what_is_left_behind_is_seen() {
        let files = |names: &[(&str, &str)]| {
            names.iter().map(|(n, b)| (n.to_string(), b.as_bytes().to_vec())).collect()
        };
        let before = files(&[("a", "1")]);
        let look = |after: &[(&str, &str)], exit| {
            look_around(&before, &files(after), exit).map_err(|failure| failure.kind)
        };
        assert_eq!(look(&[("a", "1"), ("b", "2")], 0), Ok(()));
        assert!(look(&[("a", "1"), ("b", "2")], 1).is_err());
        assert_eq!(look(&[("a", "1"), ("b.opt.yaml", "2")], 1), Ok(()));
        assert!(look(&[("a", "2")], 0).is_err());
        assert!(look(&[], 0).is_err());
        assert!(look(&[("a", "1"), (".nbcc-x", "")], 0).is_err());
        assert!(look(&[("a", "1"), ("b.nbx", "half")], 0).is_err());
    }
}
