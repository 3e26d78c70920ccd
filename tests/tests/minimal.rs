//! The smallest frontend and target (`src/minimal`), by the command: a program from source to result
//! and back, and what does not fit.

use std::path::Path;

use nbcc_tests::command::{Outcome, command, run};
use nbcc_tests::root;

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-minimal");

const SOURCE: &str = "blend(n, k, a[n], b[n]): b =\n  a + b * k - 1\n";

fn nbcc(line: &str, folder: &Path) -> Outcome {
    run(command(NBCC, line, folder)).expect("the command runs")
}

/// What a command prints that succeeds.
fn said(line: &str, folder: &Path) -> String {
    let outcome = nbcc(line, folder);
    assert_eq!(outcome.code, Some(0), "{line}\n{}", outcome.stderr);
    outcome.stdout
}

/// What a command reports that is refused.
fn refused(line: &str, folder: &Path) -> String {
    let outcome = nbcc(line, folder);
    assert!(matches!(outcome.code, Some(1 | 2)), "{line}\n{}", outcome.stdout);
    outcome.stderr
}

fn array(shape: &str, elements: &[i32]) -> Vec<u8> {
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({shape}), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    file.extend((length as u16).to_le_bytes());
    file.extend(format!("{header:<0$}\n", length - 1).bytes());
    file.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
    file
}

/// A folder with a program and its arrays.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("blend.tally", SOURCE.as_bytes().to_vec()),
        ("a.npy", array("4,", &[1, 2, 3, i32::MAX])),
        ("b.npy", array("4,", &[10, 20, 30, 40])),
    ];
    for (name, contents) in files {
        std::fs::write(folder.path().join(name), contents).expect(name);
    }
    folder
}

const DATA: &str = "--param n=4 --param k=-2 --input a=a.npy --input b=b.npy";

fn results() -> Vec<u8> {
    let element = |a: i32, b: i32| a.wrapping_add(b).wrapping_mul(-2).wrapping_sub(1);
    array("4,", &[element(1, 10), element(2, 20), element(3, 30), element(i32::MAX, 40)])
}

#[test]
fn a_program_goes_from_source_to_result() {
    let folder = folder();
    let path = folder.path();
    let text = said(&format!("nbcc run blend.tally {DATA} --check --stats s.json --profile"), path);
    assert!(text.contains("check: b equals the interpreter's, 16 bytes"), "{text}");
    assert!(text.contains("check: the result equals the interpreter's"), "{text}");
    assert!(text.contains("blend.tally:1"), "{text}");
    let written = || std::fs::read(path.join("blend.b.npy")).expect("an output");
    assert_eq!(written(), results());
    let stats = std::fs::read_to_string(path.join("s.json")).expect("statistics");
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(stats["target"], "tally");
    let parts = [&stats["core"]["issue_cycles"], &stats["stall"]["load"]];
    let sum: u64 = parts.iter().filter_map(|part| part.as_u64()).sum();
    assert_eq!(stats["cycles"].as_u64(), Some(sum));

    std::fs::remove_file(path.join("blend.b.npy")).expect("an output");
    said("nbcc blend.tally", path);
    said(&format!("nbcc run blend.nbx {DATA} --output return=sum.npy"), path);
    assert_eq!(written(), results());
    let sum = std::fs::read(path.join("sum.npy")).expect("the result");
    let elements = results()[128..].chunks(4).fold(0_i32, |sum, word| {
        sum.wrapping_add(i32::from_le_bytes(word.try_into().expect("a word")))
    });
    assert_eq!(sum, array("", &[elements]));
    said(&format!("nbcc interp blend.tally {DATA}"), path);
    assert_eq!(written(), results());
}

#[test]
fn every_command_knows_the_target() {
    let folder = folder();
    let path = folder.path();
    assert!(said("nbcc targets", path).starts_with("tally: "));
    assert!(said("nbcc targets --machine tally", path).contains("load_cycles = 4"));
    assert!(said("nbcc blend.tally --emit ir", path).contains("array %b: s32\n"));
    assert!(said("nbcc --print-passes -x tally", path).contains("allocate"));
    assert!(said("nbcc explain E9001", path).contains("E9001"));
    said("nbcc blend.tally", path);
    let listing = said("nbcc objdump blend.nbx", path);
    std::fs::write(path.join("again.s"), &listing).expect("a file");
    said("nbcc as again.s", path);
    assert_eq!(said("nbcc objdump again.nbx", path), listing);
    let slow = said(&format!("nbcc run blend.tally {DATA} --set load_cycles=100"), path);
    assert_ne!(slow, said(&format!("nbcc run blend.tally {DATA}"), path));
}

#[test]
fn a_mistake_has_a_place() {
    let folder = folder();
    std::fs::write(folder.path().join("wrong.tally"), "f(n, a[n]): a = a + c\n").expect("a file");
    let error = refused("nbcc wrong.tally --message-format short", folder.path());
    assert!(
        error.starts_with("wrong.tally:1:21: error: `c` is no number and no parameter"),
        "{error}"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = folder();
    let path = folder.path();
    let data = "--param n=4 --param k=1";
    for (line, what) in [
        ("nbcc run blend.tally --param k=1".to_string(), "parameter `n` (i32) has no value"),
        (format!("nbcc run blend.tally {data} --param m=1"), "no parameter `m`"),
        ("nbcc run blend.tally --param n=-1 --param k=1".into(), "`a` has -1 elements"),
        ("nbcc run blend.tally --param n=x --param k=1".into(), "`x` is no value"),
        (
            "nbcc run blend.tally --param n=3 --param k=1 --input a=a.npy".into(),
            "`a` is [4], and the function takes [3]",
        ),
        (format!("nbcc run blend.tally {data} --input c=a.npy"), "no input `c`"),
        (format!("nbcc run blend.tally {data} --output a=x.npy"), "no output `a`"),
        (format!("nbcc run blend.tally {data} --size 4x4"), "--size means nothing here"),
        (format!("nbcc run blend.tally {data} --launch l.toml"), "--launch means nothing here"),
        (format!("nbcc run blend.tally {data} --trace t.json"), "keeps no timeline"),
        (format!("nbcc run blend.tally {data} --max-cycles 10"), "more than 10 cycles"),
        (format!("nbcc run blend.tally {data} --set load_cycles=0"), "load_cycles"),
    ] {
        let error = refused(&line, path);
        assert!(error.contains(what), "{line}\n{error}");
    }
    let (many, sum): (String, String) =
        ('c'..'k').map(|name| (format!("{name}, "), format!(" + {name}"))).unzip();
    std::fs::write(path.join("many.tally"), format!("f(n, {many}a[n]): a = a{sum}\n"))
        .expect("a file");
    assert!(refused("nbcc many.tally", path).contains("more than 8 registers"));
}

#[test]
fn arrays_may_be_empty() {
    let folder = folder();
    said("nbcc run blend.tally --param n=0 --param k=1 --check", folder.path());
    let written = std::fs::read(folder.path().join("blend.b.npy")).expect("an output");
    assert_eq!(written, array("0,", &[]));
}

/// The pages name every file that one adds.
#[test]
fn the_pages_go_through_every_file() {
    let page = |name: &str| std::fs::read_to_string(root().join("docs").join(name)).expect(name);
    let pages = page("adding-a-target.md") + &page("adding-a-frontend.md");
    for file in nbcc_tests::sources(&root().join("tests/src/minimal")) {
        let name = file.strip_prefix(root()).expect("in the repository").display().to_string();
        assert!(pages.contains(&name), "no page goes through {name}");
    }
}
