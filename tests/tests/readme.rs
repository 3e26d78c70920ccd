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

/// What README.md says the first command prints is what it prints. `NBCC_BLESS=1` writes it down.
#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md");
    let (head, rest) = readme.split_once("and prints\n\n```\n").expect("what it prints");
    let (shown, tail) = rest.split_once("```\n").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    let examples = folder.path().join("examples/ipim");
    std::fs::create_dir_all(&examples).expect("a folder");
    for name in ["blur.halide", "blur.in.png"] {
        let from = root().join("examples/ipim").join(name);
        std::fs::copy(from, examples.join(name)).expect("a copy");
    }
    let line = "nbcc run examples/ipim/blur.halide";
    let nbcc = command::command(env!("CARGO_BIN_EXE_nbcc-under-test"), line, folder.path());
    let printed = command::run(nbcc).expect("nbcc runs").stdout;
    if shown != printed && std::env::var_os("NBCC_BLESS").is_some() {
        let text = format!("{head}and prints\n\n```\n{printed}```\n{tail}");
        std::fs::write(&path, text).expect("README.md");
        return;
    }
    assert!(shown == printed, "README.md shows\n{shown}\ninstead of\n{printed}");
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

/// A page that names a source file names one that there is: from the root, or from a crate's folder.
#[test]
fn the_files_that_pages_name_exist() {
    let files: Vec<String> = ["compiler", "frontends", "isa", "runtime-sim", "tests", "examples"]
        .iter()
        .flat_map(|folder| nbcc_tests::sources(&root().join(folder)))
        .map(|path| path.strip_prefix(root()).expect("in the repository").display().to_string())
        .collect();
    let mut pages = nbcc_tests::files_in(&root().join("docs"), "md");
    pages.extend(["ARCHITECTURE.md", "README.md", "tests/README.md"].map(|page| root().join(page)));
    let mut count = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        for name in text.split('`').skip(1).step_by(2) {
            let is_path = name.contains('/') && name.ends_with(".rs") && !name.contains(['<', '*']);
            if !is_path || name.contains(char::is_whitespace) {
                continue;
            }
            count += 1;
            let exists = files.iter().any(|file| {
                file.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            });
            assert!(exists, "{} names {name}", page.display());
        }
    }
    assert!(count > 20, "{count} names of files");
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
