//! Every file in `tests/cli/` is a test of the command; see `nbcc_tests::case`.

use libtest_mimic::{Arguments, Trial};
use nbcc_tests::{case, files_in, root};

fn main() {
    let trials = files_in(&root().join("tests/cli"), "txt")
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || {
                Ok(case::check(&path, env!("CARGO_BIN_EXE_nbcc-under-test"))?)
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
