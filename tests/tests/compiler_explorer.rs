//! What Compiler Explorer makes of the command, without a plugin of its own: its filters and
//! readers, restated here as rules (docs/compiler-explorer.md says them in words), are applied to
//! what `nbcc` prints when it is called as Compiler Explorer calls a compiler.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use nbcc_tests::{command, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// Sources with what they are for: stencils with ghosts and kernels that are shared, guards and
/// branches, names with a dollar sign.
const SOURCES: &[(&str, &str)] = &[
    ("halide", "examples/ipim/blur.halide"),
    ("halide", "tests/pipelines/func_arrays.halide"),
    ("ptx", "examples/mpu/saxpy.ptx"),
    ("ptx", "tests/cuda/bucket_sort.ptx"),
];

/// Runs a command line in a folder that holds the source as `example.cpp`; stdout and stderr.
fn nbcc(folder: &Path, line: &str) -> (String, String) {
    let outcome = command::run(command::command(NBCC, line, folder)).expect("nbcc runs");
    assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
    (outcome.stdout, outcome.stderr)
}

/// A folder with a source under the name that Compiler Explorer gives every file.
fn folder_of(source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(root().join(source), folder.path().join("example.cpp")).expect(source);
    folder
}

fn compiled(folder: &Path, language: &str, options: &str) -> (String, String) {
    let size = if language == "halide" { "--size 96x64" } else { "" };
    nbcc(folder, &format!("nbcc -g -o output.s -S -x {language} {size} {options} example.cpp"))
}

/// A line of the default view, with the line of the source that it is linked to.
#[derive(Debug)]
struct Row {
    text: String,
    source: Option<u32>,
}

/// The name that a label at the beginning of a line defines.
fn label(line: &str) -> Option<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || "_$.@".contains(c);
    let (name, _) = line.split_once(':')?;
    (!name.is_empty() && name.chars().all(word)).then_some(name)
}

/// The words of a line that may be labels; one that begins with a dollar sign is one only where the
/// file defines such a label.
fn words(line: &str, dollars: bool) -> impl Iterator<Item = &str> {
    let word = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
    let words = line.split(move |c| !word(c));
    words
        .map(move |word| {
            word.trim_start_matches(|c: char| c.is_ascii_digit() || (c == '$' && !dollars))
        })
        .filter(|word| !word.is_empty())
}

/// Whether a line has an instruction: it begins with a letter, comments aside.
fn has_opcode(line: &str) -> bool {
    let code = line.split(['#', ';']).next().unwrap_or_default();
    code.trim_start().starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The view with the filters on that are on by default: comments, directives, labels without uses.
fn default_view(asm: &str) -> Vec<Row> {
    let dollars = asm.lines().any(|l| l.starts_with('$') && label(l).is_some());
    let mut used = BTreeSet::new();
    for line in asm.lines() {
        let directive = line.trim_start();
        let is_function = directive.starts_with(".type") && directive.contains("@function");
        let code = line.split(['#', ';']).next().unwrap_or_default();
        if is_function || (has_opcode(line) && label(line).is_none()) {
            used.extend(words(if is_function { line } else { code }, dollars));
        }
    }
    let mut rows = Vec::new();
    let mut source = None;
    let mut under_label = false;
    for line in asm.lines().filter(|line| !line.trim().is_empty()) {
        let text = line.trim_start();
        if let Some(place) = text.strip_prefix(".loc ") {
            let numbers: Vec<u32> = place.split(' ').filter_map(|n| n.parse().ok()).collect();
            // One of two numbers is not understood, and the place before it stays.
            if let [_, line, _] = numbers[..] {
                source = (line > 0).then_some(line);
            }
        }
        if [".text", ".data", ".section", ".cfi_endproc"].iter().any(|end| line.contains(end)) {
            (source, under_label) = (None, false);
        }
        let name = label(line);
        if name.is_none() && (text.starts_with(['#', '@', ';']) || text.starts_with("//")) {
            continue;
        }
        let is_data = [".ascii", ".word", ".byte"].iter().any(|data| text.starts_with(data));
        match name {
            Some(name) if !used.contains(name) => {
                under_label = false;
                continue;
            }
            Some(_) => under_label = true,
            None if text.starts_with('.') && !(is_data && under_label) => continue,
            None => {}
        }
        let source = source.filter(|_| has_opcode(line));
        rows.push(Row { text: line.to_string(), source });
    }
    rows
}

#[test]
fn the_default_view_has_every_instruction_with_its_labels_and_lines() {
    for &(language, source) in SOURCES {
        let folder = folder_of(source);
        compiled(folder.path(), language, "");
        let asm = std::fs::read_to_string(folder.path().join("output.s")).expect("assembly");
        let rows = default_view(&asm);
        // Everything in .text that is neither label nor directive.
        let (_, text) = asm.split_once(".section .text\n").expect("text");
        let text = text.split("\n.section ").next().unwrap_or_default();
        let instructions: Vec<&str> =
            text.lines().filter(|l| l.starts_with("    ") && !l.trim().is_empty()).collect();
        assert!(instructions.len() > 10, "{source}");
        let shown: Vec<&str> =
            rows.iter().map(|r| r.text.as_str()).filter(|l| label(l).is_none()).collect();
        assert_eq!(shown, instructions, "{source}");
        let labels: BTreeSet<&str> = rows.iter().filter_map(|r| label(&r.text)).collect();
        let functions: Vec<&str> = asm
            .lines()
            .filter_map(|l| l.strip_prefix(".type ")?.split_once(',').map(|(name, _)| name))
            .collect();
        assert!(!functions.is_empty(), "{source}");
        for function in functions {
            assert!(labels.contains(function), "{source}: {function}");
        }
        let defined: BTreeSet<&str> = text.lines().filter_map(label).collect();
        for line in &instructions {
            let code = line.split('#').next().unwrap_or_default();
            for word in words(code, true).filter(|word| defined.contains(word)) {
                assert!(labels.contains(word), "{source}: `{line}` leads to `{word}`");
            }
        }
        let lines = std::fs::read_to_string(folder.path().join("example.cpp")).expect("a source");
        let last = lines.lines().count() as u32;
        let linked: Vec<u32> = rows.iter().filter_map(|row| row.source).collect();
        assert!(linked.len() * 2 > instructions.len(), "{source}: {} lines", linked.len());
        assert!(linked.iter().all(|line| (1..=last).contains(line)), "{source}");
        assert!(asm.contains(".file 1 \"example.cpp\""), "{source}");
        if language == "ptx" {
            assert!(shown.iter().any(|l| l.trim_start().starts_with("if ")), "{source}: guards");
        }
    }
}

/// Takes the dumps of a header apart: names of functions with their lines.
fn functions_of<'a>(header: &str, lines: &[&'a str]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut open = false;
    for &line in lines {
        if let Some(head) = line.strip_prefix("define ") {
            assert!(!open, "{header}: `{line}` in a function");
            let (kind, rest) = head.split_once(" @").unwrap_or_else(|| panic!("{header}: {line}"));
            assert!(!kind.is_empty());
            let name = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap_or_default(),
                None => rest.split('(').next().unwrap_or_default(),
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            assert!(rest.starts_with('"') || name.chars().all(plain), "{header}: {line}");
            assert!(all.iter().all(|(other, _)| *other != name), "{header}: two `{name}`");
            all.push((name, vec![line]));
            open = true;
        } else if line.trim() == "}" {
            assert!(open, "{header}: a brace outside of a function");
            open = false;
        } else if let (true, Some((_, lines))) = (open, all.last_mut()) {
            lines.push(line);
        }
    }
    assert!(!open, "{header}: a function without end");
    all
}

#[test]
fn dumps_of_passes_are_read_in_pairs() {
    // What Compiler Explorer passes once `--help` and LLVM's help list these options.
    let options = "-mllvm --print-before-all -mllvm --print-after-all";
    let dollar = "examples/mpu/saxpy.ptx";
    for &(language, source) in SOURCES.iter().chain([&("ptx", dollar)]) {
        let folder = folder_of(source);
        if source == dollar {
            let path = folder.path().join("example.cpp");
            let text = std::fs::read_to_string(&path).expect("a source");
            std::fs::write(&path, text.replace("saxpy", "_Z5saxpy$1")).expect("a source");
        }
        let (_, stderr) = compiled(folder.path(), language, options);
        let lines: Vec<&str> = stderr.lines().collect();
        let is_header = |l: &&str| l.starts_with("; *** IR Dump ") && l.ends_with(" ***");
        let starts: Vec<usize> = (0..lines.len()).filter(|&k| is_header(&lines[k])).collect();
        assert!(starts.len() > 10, "{source}");
        let mut last: Vec<(String, String)> = Vec::new();
        for (k, &start) in starts.iter().enumerate() {
            let end = starts.get(k + 1).copied().unwrap_or(lines.len());
            let header = lines[start].trim_matches([';', ' ', '*']);
            for (name, _) in functions_of(header, &lines[start + 1..end]) {
                // A dump after a pass comes next to the one before it.
                if let Some(after) = header.strip_prefix("IR Dump After ")
                    && let Some((_, before)) = last.iter().find(|(other, _)| other == name)
                    && let Some(before) = before.strip_prefix("IR Dump Before ")
                {
                    assert_eq!(before, after, "{source}: {name}");
                }
                last.retain(|(other, _)| other != name);
                last.push((name.to_string(), header.to_string()));
            }
        }
    }
}

#[test]
fn help_lists_options_where_they_are_looked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = |text: &str, option: &str| {
        text.lines().any(|line| {
            let Some(rest) = line.strip_prefix("  ").filter(|l| l.starts_with(option)) else {
                return false;
            };
            let about = rest.split_once("  ").map_or("", |(_, about)| about.trim_start());
            about.starts_with(|c: char| c.is_ascii_uppercase())
        })
    };
    let (help, _) = nbcc(folder.path(), "nbcc --help");
    for option in ["-fsave-optimization-record", "-mllvm", "-S", "-x", "-print-after-all", "-o"] {
        assert!(listed(&help, option), "{option}: {help}");
    }
    let (hidden, _) = nbcc(folder.path(), "nbcc -mllvm --help-list-hidden -x c++ /dev/null -c");
    for option in ["--print-before-all", "--print-after-all"] {
        assert!(listed(&hidden, option), "{option}: {hidden}");
    }
}

#[test]
fn remarks_have_places_and_read_as_sentences() {
    // Kernels that the compiler made, and calls that it inlined, have places too.
    let more = [
        ("halide", "examples/ipim/local_laplacian.halide"),
        ("halide", "examples/ipim/histogram.halide"),
        ("ptx", "tests/cuda/device_calls.ptx"),
    ];
    for &(language, source) in SOURCES.iter().chain(&more) {
        let folder = folder_of(source);
        compiled(folder.path(), language, "-fsave-optimization-record");
        let record =
            std::fs::read_to_string(folder.path().join("output.opt.yaml")).expect("a record");
        let documents: Vec<&str> = record.split("--- ").skip(1).collect();
        assert!(!documents.is_empty(), "{source}");
        for document in documents {
            assert!(document.contains("DebugLoc: { File: \"example.cpp\", Line: "), "{document}");
            assert!(document.ends_with("\n...\n"), "{document}");
            let (_, args) = document.split_once("Args:\n").expect("arguments");
            let shown: String = args
                .lines()
                .filter_map(|line| line.strip_prefix("  - ")?.split_once(": "))
                .map(|(_, value)| serde_json::from_str::<String>(value).expect(value))
                .collect();
            // Values stand between words.
            let open = shown.matches('(').count();
            assert_eq!(open, shown.matches(')').count(), "{shown}");
            assert!(!shown.contains("  ") && !shown.ends_with(' '), "{shown}");
        }
    }
}

#[test]
fn what_is_called_like_assembly_runs_by_its_content() {
    let folder = folder_of("examples/ipim/blur.halide");
    let at = folder.path();
    // As the executor builds: no -S, options for a linker, and an output that is called `.s`.
    let build = "-L./lib -Wl,-rpath,./lib -x halide --size 32x32 example.cpp";
    nbcc(at, &format!("nbcc -g -o output.s {build}"));
    let text = std::fs::read(at.join("output.s")).expect("an output");
    assert!(text.starts_with(b".isa simb"), "the name says assembly");
    nbcc(at, &format!("nbcc -g -c -o program.s {build}"));
    let binary = std::fs::read(at.join("program.s")).expect("an output");
    assert!(binary.starts_with(b"\x7fELF"), "-c says binary");
    for program in ["output.s", "program.s"] {
        let (stdout, _) = nbcc(
            at,
            &format!("nbcc run {program} --fast --output {0}={program}.npy", output_of(at)),
        );
        assert!(stdout.contains("instructions, no timing"), "{stdout}");
    }
    let outputs =
        ["output.s.npy", "program.s.npy"].map(|name| std::fs::read(at.join(name)).expect(name));
    assert!(outputs[0] == outputs[1], "the assembly does what the binary does");
}

/// The name of the one output of the source.
fn output_of(folder: &Path) -> String {
    let (stdout, _) = nbcc(folder, "nbcc interp -x halide example.cpp --size 8x8");
    let line = stdout.lines().find(|line| line.contains("->")).expect("an output");
    line.split(':').next().unwrap_or_default().to_string()
}

#[test]
fn a_source_may_come_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let feed = |line: &str, bytes: &[u8]| {
        let mut command = command::command(NBCC, line, folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("nbcc starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output().expect("nbcc ends");
        let _ = writer.join();
        (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let source = b"Func out(x, y) = x + y;\n";
    let (code, asm, _) = feed("nbcc - -x halide --size 16x16 -S -o -", source);
    assert_eq!(code, Some(0));
    assert!(String::from_utf8_lossy(&asm).contains(".file 1 \"<stdin>\""));
    let (code, binary, _) = feed("nbcc -x halide --size 16x16 -o - -", source);
    assert_eq!(code, Some(0));
    assert!(binary.starts_with(b"\x7fELF"));
    for program in [&asm, &binary] {
        let (code, stdout, stderr) = feed("nbcc run - --fast", program);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(String::from_utf8_lossy(&stdout).contains("-> stdin"));
    }
    assert_eq!(feed("nbcc -x halide --size 16x16 -", source).0, Some(0));
    assert!(folder.path().join("stdin.nbx").is_file());
    let (code, _, stderr) = feed("nbcc -", source);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("[E4004]") && stderr.contains("-x halide"), "{stderr}");
    let (code, _, stderr) = feed("nbcc -x ptx - --message-format short", b"nonsense");
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("<stdin>:1:1: error: "), "{stderr}");
    assert_eq!(stderr.lines().count(), stderr.matches(": error: ").count(), "{stderr}");
}
