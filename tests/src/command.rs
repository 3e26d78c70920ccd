//! Running a command line in a folder of its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did and the system has such.
    pub signal: Option<i32>,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Outcome {
        Outcome {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            #[cfg(unix)]
            signal: std::os::unix::process::ExitStatusExt::signal(&output.status),
            #[cfg(not(unix))]
            signal: None,
        }
    }
}

/// The words of a command line: separated by blanks, quotes around words with blanks in them.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A command that is to run in `folder`, without colours and without a terminal. `line` is `nbcc`
/// and its arguments, after settings of the environment as in `NO_COLOR=1 nbcc ...`.
///
/// # Panics
/// Where the line does not name `nbcc`.
pub fn command(nbcc: &str, line: &str, folder: &Path) -> Command {
    let words = words(line);
    let at = words.iter().position(|word| !word.contains('=')).unwrap_or(words.len());
    assert_eq!(words.get(at).map(String::as_str), Some("nbcc"), "in `{line}`");
    let mut command = Command::new(nbcc);
    command.current_dir(folder).args(&words[at + 1..]).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command.env("COLUMNS", "100");
    for setting in &words[..at] {
        if let Some((name, value)) = setting.split_once('=') {
            command.env(name, value);
        }
    }
    command
}

/// Runs a command; `Err` after two minutes.
pub fn run(mut command: Command) -> Result<Outcome, String> {
    const LIMIT: Duration = Duration::from_secs(120);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| error.to_string())?;
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(LIMIT) {
        Ok(output) => Ok(output.map_err(|error| error.to_string())?.into()),
        Err(_) => {
            let _ = Command::new("kill").arg(id.to_string()).status();
            Err(format!("it still ran after {} seconds", LIMIT.as_secs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(words("a  'b c'd \"\" e"), ["a", "b cd", "", "e"]);
        assert!(words("  ").is_empty());
    }
}
