//! Every crate can be packaged: it says what it is, and takes nothing from outside of its folder.

use std::path::{Component, Path, PathBuf};

use nbcc_tests::{packages, root, sources};

/// The folder of every crate that is published, with what `cargo metadata` says of it.
fn published() -> Vec<(PathBuf, serde_json::Value)> {
    let public = packages().into_iter().filter(|package| package["publish"].is_null());
    let folder = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        manifest.parent().expect("a folder").to_path_buf()
    };
    public.map(|package| (folder(&package), package)).collect()
}

#[test]
fn crates_say_what_they_are() {
    let all = published();
    assert!(all.len() > 20, "cargo metadata lists the workspace");
    for (folder, package) in all {
        for key in ["description", "license", "documentation"] {
            assert!(package[key].is_string(), "{} has no {key}", folder.display());
        }
        for key in ["authors", "keywords", "categories"] {
            let list = package[key].as_array().is_some_and(|list| !list.is_empty());
            assert!(list, "{} has no {key}", folder.display());
        }
        // What it depends on in this workspace has a version, for when the path is gone; what only
        // its tests need is left out then.
        let all = package["dependencies"].as_array().into_iter().flatten();
        for dependency in all.filter(|dependency| dependency["kind"] != "dev") {
            let versioned = dependency["req"].as_str().is_some_and(|req| req != "*");
            assert!(versioned, "{}: {} has no version", folder.display(), dependency["name"]);
        }
    }
}

#[test]
fn crates_include_no_file_from_outside() {
    let mut found = 0;
    for (folder, _) in published() {
        for source in sources(&folder.join("src")) {
            let text = std::fs::read_to_string(&source).expect("a source");
            for macro_name in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
                for rest in text.split(macro_name).skip(1) {
                    let named = rest.split('"').next().unwrap_or_default();
                    let beside = source.parent().expect("a folder");
                    let path = normal(&beside.join(named));
                    assert!(path.starts_with(&folder), "{}: {named}", source.display());
                    found += 1;
                }
            }
        }
    }
    assert!(found > 4, "{found} files are included");
}

#[test]
fn the_bundled_picture_is_the_one_of_the_example() {
    let read = |path: &str| std::fs::read(root().join(path)).expect("a picture");
    let same = read("compiler/driver/data/picture.png") == read("examples/ipim/blur.in.png");
    assert!(same, "the two differ");
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = normal.pop(),
            other => normal.push(other),
        }
    }
    normal
}
