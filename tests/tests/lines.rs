//! Cycles belong to source lines: also those of kernels that move data, and of what surrounds the
//! arithmetic of a stage. Candidates of offloading come in the order of lines.

use nbcc_tests::{case, command, files_in, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// The share of all cycles of each source line, in percent.
fn shares(file: &str) -> Vec<(f64, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    case::furnish(folder.path()).expect("examples");
    let line = format!("nbcc run {file} --size 64x64 --machine ipim-vault --profile");
    let outcome = command::run(command::command(NBCC, &line, folder.path())).expect("it runs");
    assert_eq!(outcome.code, Some(0), "{file}: {}", outcome.stderr);
    let (_, table) = outcome.stdout.split_once("  source line\n").expect("a table of lines");
    let rows = table.lines().take_while(|row| row.contains('%'));
    let row = |row: &str| {
        let (share, rest) = row.trim_start().split_once('%').expect("a share");
        (share.parse().expect("a number"), rest.trim_start().to_string())
    };
    rows.map(row).collect()
}

#[test]
fn cycles_belong_to_lines() {
    let examples = files_in(&root().join("examples/ipim"), "halide");
    for path in examples {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        // Of what is large, one is enough.
        if ["local_laplacian.halide", "stencil_chain.halide", "bilateral_grid.halide"]
            .contains(&name.as_str())
        {
            continue;
        }
        let shares = shares(&format!("examples/ipim/{name}"));
        let nowhere = shares.iter().filter(|(_, line)| line.ends_with("(no line)"));
        let nowhere: f64 = nowhere.map(|(share, _)| share).sum();
        assert!(nowhere < 2.0, "{name}: {nowhere} % of the cycles are on no line");
    }
}

#[test]
fn candidates_come_in_the_order_of_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in files_in(&root().join("examples/tom"), "ptx") {
        for level in ["-O0", "-O1", "-O2"] {
            let line =
                format!("nbcc compile {} --target tom --emit offload {level} -o -", path.display());
            let outcome = command::run(command::command(NBCC, &line, folder.path())).expect("runs");
            let report: serde_json::Value =
                serde_json::from_str(&outcome.stdout).expect("the report is JSON");
            for list in ["candidates", "rejected_loops"] {
                let all = report[list].as_array().expect("a list");
                let of_kernels = all.chunk_by(|a, b| a["kernel"] == b["kernel"]);
                let mut kernels = std::collections::BTreeSet::new();
                for of_kernel in of_kernels {
                    let name = of_kernel[0]["kernel"].to_string();
                    let begins: Vec<u64> =
                        of_kernel.iter().filter_map(|one| one["begin_line"].as_u64()).collect();
                    assert!(begins.is_sorted(), "{line}, {list} of {name}: {begins:?}");
                    assert!(kernels.insert(name), "{line}, {list}: a kernel comes twice");
                }
            }
        }
    }
}
