//! README.md and the check that runs for every change agree, and the page on tests names them all.

use nbcc_tests::{command, root};

#[test]
fn the_commands_of_the_readme_are_checked() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect(name);
    let (readme, check) = (read("README.md"), read(".ci/run"));
    let commands: Vec<&str> =
        readme.lines().filter_map(|line| line.strip_prefix("$ cargo ")).collect();
    assert!(commands.len() >= 2, "README.md shows its two commands as `$ cargo ...`");
    for command in &commands[..2] {
        assert!(check.contains(command.trim()), ".ci/run does not run `cargo {command}`");
    }
}

/// What stands as `nbcc ...` in the block behind "In `examples/ipim`:" runs there.
#[test]
fn the_other_commands_of_the_readme_run() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let (_, block) = readme.split_once("In `examples/ipim`:\n\n```\n").expect("the block");
    let (block, _) = block.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["blur.halide", "blur.in.png"] {
        let from = root().join("examples/ipim").join(name);
        std::fs::copy(from, folder.path().join(name)).expect("a copy");
    }
    let mut count = 0;
    for line in block.lines().filter(|line| line.starts_with("nbcc ")) {
        let (command, _) = line.split_once("   ").unwrap_or((line, ""));
        let nbcc = command::command(env!("CARGO_BIN_EXE_nbcc-under-test"), command, folder.path());
        let outcome = command::run(nbcc).expect("nbcc runs");
        assert_eq!(outcome.code, Some(0), "{command}: {}", outcome.stderr);
        count += 1;
    }
    assert!(count >= 8, "{count} commands");
}

#[test]
fn the_files_that_the_readme_links_exist() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    for link in readme.split("](").skip(1) {
        let path = link.split([')', '#']).next().unwrap_or_default();
        if !path.is_empty() && !path.contains("://") {
            assert!(root().join(path).exists(), "README.md links to {path}");
        }
    }
}

#[test]
fn the_page_on_tests_names_folders_and_binaries() {
    let tests = root().join("tests");
    let page = std::fs::read_to_string(tests.join("README.md")).expect("tests/README.md");
    let entries = std::fs::read_dir(&tests).expect("tests");
    let folders = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    let own = ["tests"];
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let named = page.contains(&format!("`{name}/"));
        assert!(named || own.contains(&name.as_str()), "tests/README.md does not name {name}/");
    }
    for binary in nbcc_tests::files_in(&tests.join("tests"), "rs") {
        let name = binary.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(page.contains(&format!("\n| `{name}` |")), "tests/README.md does not name {name}");
    }
}
