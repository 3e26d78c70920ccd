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

/// A device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn text_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    case::furnish(folder.path()).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("example.halide", "Func out(x, y) = x + y;\n").expect("a source");
    write("trace.txt", "R 0 17 4\n").expect("a trace");
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let input = "example.halide --size 16x16";
    let stdout = [
        "nbcc --help".to_string(),
        "nbcc compile --help".to_string(),
        "nbcc --version".to_string(),
        "nbcc -mllvm --help-list-hidden".to_string(),
        "nbcc --print-passes".to_string(),
        "nbcc targets".to_string(),
        "nbcc explain E4001".to_string(),
        format!("nbcc explain {input}"),
        format!("nbcc diff {input}"),
        format!("nbcc interp {input}"),
        format!("nbcc run {input} --fast"),
        format!("nbcc {input} -o -"),
        format!("nbcc {input} --emit asm"),
        format!("nbcc {input} --emit ir"),
        format!("nbcc {input} --emit stages"),
        format!("nbcc {input} --emit machine-ir"),
        format!("nbcc {input} --emit remarks"),
        "nbcc memtrace trace.txt --machine machines/reference.toml".to_string(),
    ];
    for line in &stdout {
        let mut command = command::command(NBCC, line, folder.path());
        let output = command.stdout(full()).stderr(Stdio::piped()).output().expect("nbcc runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {text}");
        assert!(text.contains("[E4003] error: cannot write `standard output`: No space"), "{text}");
    }
    let stderr = [
        "nbcc explain".to_string(),
        "nbcc interp missing.halide".to_string(),
        format!("nbcc {input} -print-after-all"),
        format!("nbcc {input} --print-changed"),
        format!("nbcc {input} --print-changed=diff"),
        format!("nbcc {input} --time-passes"),
    ];
    for (number, line) in stderr.iter().enumerate() {
        let mut command = command::command(NBCC, line, folder.path());
        let output = command.stdout(Stdio::null()).stderr(full()).output().expect("nbcc runs");
        let code = if number == 0 { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{line}");
    }
}
