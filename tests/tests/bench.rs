//! `nbcc bench`: the suites that come with it are whole, and a program that fails does not hide the others.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// Runs a command in a folder: its exit code and what it wrote.
fn nbcc(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let done =
        Command::new(NBCC).args(arguments).current_dir(folder).output().expect("nbcc starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry k(.param .u64 to, .param .u64 at)\n{\n    .reg .b64 %rd<4>;\n    .reg .b32 %r;\n    \
    ld.param.u64 %rd1, [to];\n    ld.param.u64 %rd2, [at];\n    add.u64 %rd3, %rd1, %rd2;\n    \
    mov.u32 %r, 7;\n    st.global.u32 [%rd3], %r;\n    ret;\n}\n";

/// A program that stores within its buffer, and one that does not.
const SUITE: &str = "title = 't'\ntarget = 'mpu'\n[[variant]]\nname = 'a'\nmachine = 'mpu-core'\n\
    [[program]]\nname = 'bad'\nsource = 'k.ptx'\nbuffers = { x = { type = 'u32', shape = [4] } }\n\
    launch = [{ grid = [1], block = [1], args = ['buffer x', 'u64 4096'] }]\n\
    [[program]]\nname = 'good'\nsource = 'k.ptx'\nbuffers = { x = { type = 'u32', shape = [4] } }\n\
    launch = [{ grid = [1], block = [1], args = ['buffer x', 'u64 4'] }]\n\
    [[figure]]\nname = 'instructions'\nvalue = 'instructions'\n";

#[test]
fn a_workload_that_fails_has_rows_that_say_so() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), PTX).expect("a file");
    std::fs::write(folder.path().join("s.toml"), SUITE).expect("a file");
    let (code, out, err) = nbcc(folder.path(), &["bench", "s.toml", "--json"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("E4202") && err.contains("E4231"), "{err}");
    let data: Value = serde_json::from_str(&out).expect("JSON");
    let row = |workload: &str| {
        let rows = data["figures"].as_array().expect("rows").iter();
        rows.clone().find(|row| row["workload"] == workload).expect("a row").clone()
    };
    assert_eq!((&row("bad")["measured"], &row("bad")["note"]), (&Value::Null, &"failed".into()));
    assert!(row("good")["measured"].as_f64().is_some_and(|count| count > 1.0));
    assert_eq!(row("mean")["measured"].as_f64(), row("good")["measured"].as_f64());
}

/// What does not depend on the computer is the same on any number of threads.
#[test]
fn figures_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let on = |threads: &str| {
        let figures = ["--figure", "annotated / hardware", "--figure", "energy tsv"];
        let chosen = ["--workload", "maxp", "--workload", "knn"];
        let run = ["bench", "mpu", "--quick", "--json", "--threads", threads];
        let (code, out, err) = nbcc(folder.path(), &[&run[..], &figures, &chosen].concat());
        assert_eq!(code, Some(0), "{err}");
        let data: Value = serde_json::from_str(&out).expect("JSON");
        data["figures"].clone()
    };
    let one = on("1");
    assert_eq!(one.as_array().map(Vec::len), Some(6));
    assert_eq!(one, on("2"));
    assert_eq!(one, on("3"));
}

/// A suite of TOM's with one program, small.
const STACKED: &str = "title = 't'\ntarget = 'tom'\n[[variant]]\nname = 'a'\nmachine = 'tom-baseline'\n\
    [[variant]]\nname = 'b'\nmachine = 'tom'\nchoices = { offload = 'controlled', map = 'baseline' }\n\
    regret = 'regret b'\n\
    [[program]]\nname = 'sp'\nsource = 'sp.ptx'\nquick = { n = 4 }\nsmall = { n = 2 }\n\
    [program.buffers]\nout = { type = 'f32', shape = ['n'] }\n\
    x = { type = 'f32', shape = ['n', 8192], value = 'random(-1, 1)' }\n\
    [[program.launch]]\ngrid = ['n']\nblock = [256]\n\
    args = ['buffer out', 'buffer x', 'buffer x', 'i32 n', 'i32 8192']\n\
    [[figure]]\nname = 'speedup'\nvalue = 'cycles / cycles@b'\n";

/// Every choice is tried, and every policy is compared with the best of them.
#[test]
fn policies_meet_the_best_choice() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.toml"), STACKED).expect("a file");
    std::fs::copy(nbcc_tests::root().join("examples/tom/sp.ptx"), folder.path().join("sp.ptx"))
        .expect("a file");
    let on = |threads: &str| {
        let run = ["bench", "s.toml", "--tournament", "--quick", "--json", "--threads", threads];
        let (code, out, err) = nbcc(folder.path(), &run);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out).expect("JSON")
    };
    let data = on("2");
    assert_eq!(data, on("1"));
    let oracle = &data["programs"][0]["oracle"];
    let best = oracle["cycles"].as_u64().expect("cycles");
    assert!(oracle["quarters"].as_array().is_some_and(|all| !all.is_empty()));
    let policies = data["policies"].as_array().expect("rows");
    assert_eq!(policies.len(), 12);
    for row in policies {
        let cycles = row["programs"][0]["cycles"].as_u64().expect("cycles");
        let regret = cycles as f64 / best as f64 - 1.0;
        assert!((row["worst_regret"].as_f64().expect("a number") - regret).abs() < 1e-9, "{row}");
        assert_eq!(row["worst_regret"], row["mean_regret"]);
    }
    let of_b =
        policies.iter().find(|row| row["policy"] == "controlled" && row["map"] == "baseline");
    let mean = &of_b.expect("a row")["mean_regret"];
    for (number, workload) in ["sp", "mean"].into_iter().enumerate() {
        let figure = &data["figures"][number];
        assert_eq!(
            (&figure["figure"], &figure["workload"]),
            (&"regret b".into(), &workload.into())
        );
        assert_eq!(&figure["measured"], mean);
    }
    // What is always offloaded is one of the choices that were tried.
    let always = policies.iter().find(|row| row["policy"] == "always" && row["map"] == "baseline");
    assert!(always.expect("a row")["worst_regret"].as_f64().is_some_and(|regret| regret >= 0.0));

    let (code, _, err) =
        nbcc(folder.path(), &["bench", "mpu", "--tournament", "--workload", "maxp"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("no variant of the suite has policies of offloading"), "{err}");
}

/// Where every program failed, nothing is written.
#[test]
fn figures_that_nothing_has_are_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), PTX).expect("a file");
    std::fs::write(folder.path().join("s.toml"), SUITE).expect("a file");
    for (workload, is_kept) in [("bad", false), ("good", true)] {
        let run =
            ["bench", "s.toml", "--workload", workload, "--stats", "s.json", "--plot", "s.svg"];
        let (code, _, err) = nbcc(folder.path(), &run);
        assert_eq!(code, Some(i32::from(!is_kept)), "{err}");
        for file in ["s.json", "s.svg"] {
            assert_eq!(folder.path().join(file).exists(), is_kept, "{workload}: {file}");
        }
    }
}
