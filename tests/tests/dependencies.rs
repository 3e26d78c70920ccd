//! Who may import whom, as ARCHITECTURE.md says: read from `cargo metadata`, compared with the
//! table here. A crate may import what its line names and whatever those may import.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_tests::root;

/// A folder and what it may import. `*` is the name of a target, the same on both sides; the line of a
/// folder's own name comes before one with `*`.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("compiler/base", &[]),
    ("compiler/ir", &["compiler/base"]),
    ("compiler/analysis", &["compiler/ir"]),
    ("compiler/testing", &["compiler/ir"]),
    ("compiler/stages", &["compiler/analysis"]),
    ("compiler/opt", &["compiler/analysis"]),
    ("compiler/placement", &["compiler/base"]),
    ("compiler/interp", &["compiler/analysis", "compiler/stages"]),
    ("compiler/mach", &["isa/core"]),
    (
        "compiler/pipeline",
        &["compiler/opt", "compiler/placement", "compiler/mach", "compiler/stages"],
    ),
    ("compiler/simt", &["compiler/pipeline", "isa/simt"]),
    ("compiler/targets/*", &["compiler/pipeline", "compiler/simt", "isa/*"]),
    ("frontends/*", &["compiler/pipeline"]),
    ("isa/core", &["compiler/base"]),
    ("isa/simt", &["isa/core"]),
    ("isa/*", &["isa/core", "isa/simt"]),
    ("runtime-sim/engine", &[]),
    ("runtime-sim/dram", &["runtime-sim/engine", "isa/core"]),
    ("runtime-sim/network", &["runtime-sim/engine"]),
    ("runtime-sim/simt", &["runtime-sim/engine", "isa/simt"]),
    (
        "runtime-sim/machines/*",
        &[
            "runtime-sim/engine",
            "runtime-sim/dram",
            "runtime-sim/network",
            "runtime-sim/simt",
            "isa/*",
        ],
    ),
];

/// Sees every machine: those of targets, and the functional one of a kind of targets.
const HOST: &str = "runtime-sim/host";
/// Crates that import anything.
const UNBOUNDED: &[&str] = &["compiler/driver", "tests"];

/// Libraries that only the driver uses.
const DRIVER_ONLY: &[&str] = &[
    "clap",
    "clap_complete",
    "clap_mangen",
    "ariadne",
    "anyhow",
    "indicatif",
    "anstream",
    "anstyle",
];

struct Package {
    /// From the repository's root.
    folder: String,
    /// Ordinary and build dependencies in this workspace, by folder.
    imports: Vec<String>,
    /// Ordinary dependencies from elsewhere, by name.
    libraries: Vec<String>,
}

fn packages() -> Vec<Package> {
    let root = root();
    let from_root = |path: &str| {
        let path = std::path::Path::new(path);
        path.strip_prefix(&root).expect("a folder of the repository").display().to_string()
    };
    nbcc_tests::packages()
        .iter()
        .map(|package| {
            let manifest = package["manifest_path"].as_str().expect("a path");
            let folder = from_root(manifest.trim_end_matches("/Cargo.toml"));
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let ordinary = dependencies.iter().filter(|d| d["kind"].as_str() != Some("dev"));
            let (inside, outside): (Vec<_>, Vec<_>) = ordinary.partition(|d| d["path"].is_string());
            Package {
                folder,
                imports: inside.iter().filter_map(|d| d["path"].as_str()).map(from_root).collect(),
                libraries: outside
                    .iter()
                    .filter_map(|d| d["name"].as_str())
                    .map(String::from)
                    .collect(),
            }
        })
        .collect()
}

/// The line of the table for a folder, with its target's name put in.
fn line(folder: &str) -> Option<Vec<String>> {
    if let Some((_, may)) = MAY_IMPORT.iter().find(|(of, _)| *of == folder) {
        return Some(may.iter().map(ToString::to_string).collect());
    }
    let (parent, name) = folder.rsplit_once('/')?;
    let (_, may) = MAY_IMPORT.iter().find(|(of, _)| *of == format!("{parent}/*"))?;
    Some(may.iter().map(|m| m.replace('*', name)).collect())
}

/// Everything that a folder may import.
fn closure(folder: &str, all: &BTreeMap<String, Package>) -> BTreeSet<String> {
    let mut todo = if folder == HOST {
        let machine =
            |f: &&String| f.starts_with("runtime-sim/machines/") || *f == "runtime-sim/simt";
        all.keys().filter(machine).cloned().collect()
    } else {
        line(folder).unwrap_or_else(|| panic!("{folder} is not in the table"))
    };
    let mut may = BTreeSet::new();
    while let Some(next) = todo.pop() {
        if all.contains_key(&next) && may.insert(next.clone()) {
            todo.extend(line(&next).unwrap_or_else(|| panic!("{next} is not in the table")));
        }
    }
    may
}

#[test]
fn crates_import_only_what_the_architecture_allows() {
    let all: BTreeMap<String, Package> =
        packages().into_iter().map(|p| (p.folder.clone(), p)).collect();
    assert!(all.len() > 15, "cargo metadata lists the workspace");
    let mut wrong = Vec::new();
    for (folder, package) in &all {
        if UNBOUNDED.contains(&folder.as_str()) {
            continue;
        }
        let may = closure(folder, &all);
        for import in &package.imports {
            if !may.contains(import) {
                wrong.push(format!("{folder} imports {import}"));
            }
        }
        for library in &package.libraries {
            if DRIVER_ONLY.contains(&library.as_str()) {
                wrong.push(format!("{folder} uses {library}, which is for the driver"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a kind of targets shares stands in rooms of one name, in three places. A target of the kind
/// uses them; another one, which has instructions of its own, none of them.
#[test]
fn targets_of_a_kind_share_its_rooms() {
    let all: BTreeMap<String, Package> =
        packages().into_iter().map(|p| (p.folder.clone(), p)).collect();
    let imports = |folder: &str, what: &str| {
        all.get(folder).is_some_and(|package| package.imports.iter().any(|import| import == what))
    };
    let targets = all.keys().filter_map(|folder| folder.strip_prefix("compiler/targets/"));
    let mut of_the_kind = 0;
    for target in targets {
        let isa = imports(&format!("isa/{target}"), "isa/simt");
        let compiler = imports(&format!("compiler/targets/{target}"), "compiler/simt");
        assert_eq!(
            isa, compiler,
            "{target}: instructions of SIMT machines, but not their compiler"
        );
        let machine = format!("runtime-sim/machines/{target}");
        assert!(isa || !imports(&machine, "runtime-sim/simt"), "{target} runs warps of its own");
        of_the_kind += u32::from(isa);
    }
    assert!(of_the_kind > 0);
}

/// Folders whose sources may name targets.
const MAY_NAME_TARGETS: &[&str] = &["compiler/targets", "runtime-sim/machines", "runtime-sim/host"];

#[test]
fn shared_crates_name_no_target() {
    let targets: Vec<String> = packages()
        .iter()
        .filter_map(|p| p.folder.strip_prefix("compiler/targets/").map(String::from))
        .collect();
    assert!(!targets.is_empty());
    let mut wrong = Vec::new();
    for package in packages() {
        let folder = &package.folder;
        let own = targets.iter().any(|target| *folder == format!("isa/{target}"));
        let shared = folder.starts_with("compiler/")
            || folder.starts_with("frontends/")
            || folder.starts_with("isa/")
            || folder.starts_with("runtime-sim/");
        if own || !shared || MAY_NAME_TARGETS.iter().any(|may| folder.starts_with(may)) {
            continue;
        }
        for source in nbcc_tests::sources(&root().join(folder).join("src")) {
            let text = std::fs::read_to_string(&source).expect("a source");
            let path = source.display().to_string();
            if path.contains("/driver/src/registry/") {
                continue;
            }
            for (number, line) in text.lines().enumerate() {
                // A comment may name the paper that an algorithm comes from.
                let code = line.split("//").next().unwrap_or_default();
                let words = code.split(|c: char| !c.is_ascii_alphanumeric());
                let named = words.filter(|w| targets.iter().any(|t| t.eq_ignore_ascii_case(w)));
                if let Some(name) = named.into_iter().next() {
                    wrong.push(format!("{path}:{} names {name}", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
