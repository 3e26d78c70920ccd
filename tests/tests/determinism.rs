//! The same program, data and machine give the same bytes, whatever the number of threads.

use nbcc_tests::{case, command};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

#[test]
fn results_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    case::furnish(folder.path()).expect("a folder");
    let run = |threads: u32| {
        let line = format!(
            "NBCC_THREADS={threads} nbcc run examples/ipim/blur.halide --machine ipim-cube --input \
             in=examples/ipim/small.png --stats stats.json --output out=out.npy"
        );
        let outcome =
            command::run(command::command(NBCC, &line, folder.path())).expect("nbcc runs");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
        (outcome.stdout, read("stats.json"), read("out.npy"))
    };
    let one = run(1);
    for threads in [1, 2, 3, 16] {
        assert!(run(threads) == one, "{threads} threads give something else");
    }
}

#[test]
fn compilation_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    case::furnish(folder.path()).expect("a folder");
    let compile = || {
        let line = "nbcc examples/ipim/interpolate.halide --size 64x64 --emit machine-ir -o out";
        let outcome = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        std::fs::read(folder.path().join("out")).expect("an output")
    };
    assert!(compile() == compile());
}
