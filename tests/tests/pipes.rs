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

/// On a terminal, long work says what it is and how far it has come; none of it stays.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_progress() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "Func out(x, y) = sqrt(x * 0.5f + y);\n";
    std::fs::write(folder.path().join("root.halide"), source).expect("a file");
    let line = "run root.halide --size 64x64 --machine ipim-vault --check";
    // Part of util-linux; elsewhere there is nothing to ask.
    let mut terminal = std::process::Command::new("script");
    terminal
        .args(["-qec", &format!("{NBCC} {line}"), "/dev/null"])
        .current_dir(folder.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null());
    let Ok(shown) = command::run(terminal) else { return };
    assert_eq!(shown.code, Some(0), "{}", shown.stdout);
    let plain = command::command(NBCC, &format!("nbcc {line}"), folder.path());
    let plain = command::run(plain).expect("nbcc runs");
    for what in ["compiling", "interpreting"] {
        assert!(shown.stdout.contains(what), "{}", shown.stdout);
        assert!(!plain.stdout.contains(what) && !plain.stderr.contains(what), "{}", plain.stderr);
    }
    // Behind the last line that was cleared there is the report alone.
    let (_, kept) = shown.stdout.rsplit_once("\x1b[2K").expect("something is cleared");
    assert!(kept.contains(" cycles") && !kept.contains("interpreting"), "{kept}");
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

/// Pipes with a name are read to their end and written to, and nothing is renamed over them.
#[cfg(unix)]
#[test]
fn pipes_with_names_are_files() {
    use std::os::unix::fs::FileTypeExt;

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("half.halide"), "Func out(x, y) = in(x, y) * 0.5f;\n").expect("a file");
    for name in ["in.pgm", "out.pgm"] {
        let made = std::process::Command::new("mkfifo").arg(path(name)).status();
        assert!(made.expect("mkfifo runs").success());
    }
    let from = path("in.pgm");
    let writer = std::thread::spawn(move || std::fs::write(from, "P2 2 2 9\n9 0\n0 9\n"));
    let to = path("out.pgm");
    let reader = std::thread::spawn(move || std::fs::read(to));
    let line = "nbcc run half.halide --input in=in.pgm --output out=out.pgm --fast";
    let line = format!("{line} --machine ipim-vault --stats /dev/stdout");
    let outcome = command::run(command::command(NBCC, &line, folder.path())).expect("nbcc runs");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("\"schema_version\""), "{}", outcome.stdout);
    writer.join().expect("no panic").expect("written");
    let written = reader.join().expect("no panic").expect("read");
    assert_eq!(written, b"P5\n2 2\n255\n\x80\0\0\x80");
    let kind = std::fs::metadata(path("out.pgm")).expect("it is there").file_type();
    assert!(kind.is_fifo());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 3);
}

/// `-` is a stream, of arrays with their types and extents; what else is said goes to the other one.
#[test]
fn data_comes_from_stdin_and_goes_to_stdout() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("twice.halide", "ImageParam in(UInt(8), 2); Func out(x, y) = in(x, y) * 2;\n")
        .expect("a file");
    write("next.c", "void next(unsigned char a[2][2]) { a[1][1]++; }\n").expect("a file");
    let run = |line: &str, given: &[u8]| {
        let mut command = command::command(NBCC, line, folder.path());
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().expect("nbcc starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, given).expect("it is read");
        drop(stdin);
        let output = child.wait_with_output().expect("nbcc ends");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{line}: {text}");
        assert!(text.contains(" -> -"), "{line}: {text}");
        output.stdout
    };
    let elements = |array: &[u8], expected: [u8; 4]| {
        let text = String::from_utf8_lossy(array);
        assert!(array.starts_with(b"\x93NUMPY") && text.contains("(2, 2)"), "{text}");
        assert_eq!(array[array.len() - 4..], expected, "{text}");
    };
    let line = "nbcc interp twice.halide --input in=- --output out=-";
    let twice = run(line, b"P5 2 2 255\n\x01\x02\x03\x04");
    elements(&twice, [2, 4, 6, 8]);
    elements(&run(line, &twice), [4, 8, 12, 16]);
    elements(&run(&line.replace("in=-", "in=-:2x2"), &[5, 6, 7, 8]), [10, 12, 14, 16]);
    elements(&run("nbcc run next.c --input a=- --output a=-", &twice), [2, 4, 6, 9]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

/// A run that is ended while it writes leaves nothing in the folder: what is not whole has no name.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_killed_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "Func out(x, y) = x + y;\n";
    std::fs::write(folder.path().join("sum.halide"), source).expect("a file");
    let limited = |blocks: &str| {
        let mut shell = std::process::Command::new("sh");
        // A signal ends the process that writes more than so many blocks to a file.
        let line = format!("ulimit -f {blocks}; exec \"$0\" interp sum.halide --size 128x128");
        shell.current_dir(folder.path()).args(["-c", &line]).arg(NBCC);
        command::run(shell).expect("nbcc runs").code
    };
    let files = || std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!((limited("8"), files()), (None, 1));
    assert_eq!((limited("unlimited"), files()), (Some(0), 2));
    assert_eq!((limited("8"), files()), (None, 2));
}
