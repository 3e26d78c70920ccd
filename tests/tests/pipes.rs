//! What a terminal or a shell does to the command.

use std::process::Stdio;

use nbcc_tests::{case, command};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in ["nbcc --help", "nbcc targets", "nbcc explain E4001"] {
        let mut command = command::command(NBCC, line, folder.path());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("nbcc starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("nbcc ends");
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    }
}

#[test]
fn colour_follows_the_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    case::furnish(folder.path()).expect("a folder");
    let colored = |line: &str| {
        let outcome = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
        assert_eq!(outcome.code, Some(1), "{line}: {}", outcome.stderr);
        outcome.stderr.contains('\x1b')
    };
    assert!(!colored("nbcc interp missing.halide"));
    assert!(colored("CLICOLOR_FORCE=1 nbcc interp missing.halide"));
    assert!(!colored("CLICOLOR_FORCE=1 NO_COLOR=1 nbcc interp missing.halide"));
}
