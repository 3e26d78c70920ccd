//! Programs far beyond what a machine holds are refused before time and memory go into them.

use nbcc_tests::command;

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

#[test]
fn programs_far_beyond_the_instruction_memory() {
    let repeated = |n: usize, line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    let read = |k| format!(" + in(x + {k}, y)");
    let cases = [
        // Operations.
        format!("Func out(x, y) = in(x, y){};\n", repeated(40_000, &read)),
        // Kernels.
        format!(
            "Func out(x, y) = in(x, y);\n{}",
            repeated(20_000, &|k| { format!("out({}, y) += {k}.0f;\n", k % 8) })
        ),
        // Instructions of one kernel.
        format!("Func out(x, y) = in(x, y){};\n", " * x + y".repeat(30_000)),
        // Parameters.
        repeated(2000, &|k| format!("Param<float> p{k} = 1.0f;\n"))
            + "Func out(x, y) = in(x, y) * p7;\n",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for source in cases {
        std::fs::write(folder.path().join("large.halide"), &source).expect("a file");
        let line = "nbcc large.halide --machine ipim-vault --size 8x8 -o large.nbx";
        let outcome = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
        let start: String = source.chars().take(60).collect();
        assert_eq!(outcome.code, Some(1), "{start}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("[E1001] error: the p"), "{start}: {}", outcome.stderr);
        assert!(!folder.path().join("large.nbx").exists(), "{start}");
    }
}
