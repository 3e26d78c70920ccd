//! The same program, data and machine give the same bytes, whatever the number of threads.

use nbcc_tests::{case, command, kernels, root};

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

/// Runs the kernels of a folder on one thread and on others: what they write, print and count, and how they
/// fail, is the same; how many there are.
fn run_kernels(target: &str, folder: &str, options: &str, others: &[u32]) -> usize {
    let folder = root().join(folder);
    let cases = kernels::cases(&folder);
    for case in &cases {
        let place = tempfile::tempdir().expect("a folder");
        let launch = kernels::prepare(place.path(), &folder, case).expect("a launch file");
        let run = |line: &str| {
            command::run(command::command(NBCC, line, place.path())).expect("nbcc runs")
        };
        let source = folder.join(&case.ptx[0].file);
        let compiled =
            run(&format!("nbcc compile {} --target {target} -o k.nbx", source.display()));
        assert_eq!(compiled.code, Some(0), "{}: {}", case.name, compiled.stderr);
        let run = |threads: u32| {
            let outcome = run(&format!(
                "NBCC_THREADS={threads} nbcc run k.nbx {options} --max-cycles 1000000 --launch {} \
                 --stats stats.json",
                launch.display()
            ));
            let read = |name: &str| std::fs::read(place.path().join(name)).ok();
            let output = |buffer: &str| read(&format!("{}.{buffer}.out.npy", case.name));
            let outputs: Vec<_> = case.outputs.iter().map(|of| output(&of.buffer)).collect();
            (outcome, read("stats.json"), outputs)
        };
        let one = run(1);
        for &threads in others {
            assert!(run(threads) == one, "{}: {threads} threads give something else", case.name);
        }
    }
    cases.len()
}

#[test]
fn kernels_do_not_depend_on_threads() {
    let folders = [("mpu", "tests/cuda"), ("mpu", "examples/mpu"), ("tom", "examples/tom")];
    let count: usize =
        folders.iter().map(|(target, folder)| run_kernels(target, folder, "--fast", &[2, 3])).sum();
    assert!(count > 100, "{count} cases");
}

#[test]
fn kernels_with_time_do_not_depend_on_threads() {
    for (target, folder) in [("mpu", "examples/mpu"), ("tom", "examples/tom")] {
        assert!(run_kernels(target, folder, "", &[2]) >= 10);
    }
}
