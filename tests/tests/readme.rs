//! README.md and the check that runs for every change agree, and the page on tests names them all.

use nbcc_tests::root;

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
