//! CUDA C++ goes through a compiler that is installed; here scripts stand in for it.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nbcc_tests::command::{self, Outcome};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

/// A kernel that writes 7, what a compiler would have made of it, and its launch.
fn furnish(folder: &Path) {
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\
               .visible .entry _ZN2ns5sevenIiEEvPT_(.param .u64 p)\n{\n\
               .reg .b64 %p;\nld.param.u64 %p, [p];\nst.global.u32 [%p], 7;\nret;\n}\n";
    let launch = "kernel = \"ns::seven\"\ngrid = 1\nblock = 1\n\
                  arg = [{ buffer = \"p\", bytes = 4 }]\n[[read]]\nbuffer = \"p\"\nfile = \"p.bin\"\n";
    for (name, text) in
        [("k.cu", "// ...\n"), ("made.ptx", ptx), ("k.toml", launch), ("other.cu", "")]
    {
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

fn script(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")).expect("a script");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its rights");
}

/// Runs with nothing on the `PATH` but a folder.
fn run(folder: &Path, line: &str, path: &str) -> Outcome {
    let mut command = command::command(NBCC, line, folder);
    command.env("PATH", folder.join(path)).env_remove("CUDA_PATH");
    if !line.starts_with("NBCC_CUDA") {
        command.env_remove("NBCC_CUDA");
    }
    command::run(command).expect("nbcc runs")
}

#[test]
fn cuda_is_compiled_by_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    furnish(folder);
    script(folder, "compile", "test -f \"$1\" && cat made.ptx");
    let with_output = "while [ $# -gt 1 ]; do\n  [ \"$1\" = -o ] && out=$2\n  shift\ndone\n\
                       test -f \"$1\" && cp made.ptx \"$out\"";
    for (place, name) in [("cuda", "nvcc"), ("llvm", "clang++")] {
        std::fs::create_dir(folder.join(place)).expect("a folder");
        script(&folder.join(place), name, with_output);
    }
    for (line, path) in [
        ("NBCC_CUDA=./compile nbcc run k.cu --check", "none"),
        ("nbcc run k.cu", "cuda"),
        ("nbcc interp k.cu", "llvm"),
    ] {
        let outcome = run(folder, line, path);
        assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
        assert_eq!(std::fs::read(folder.join("p.bin")).expect("what was read"), [7, 0, 0, 0]);
        std::fs::remove_file(folder.join("p.bin")).expect("removed");
    }
    // A Python without NVRTC leaves it to clang, which knows no CUDA and gets our declarations.
    std::fs::create_dir(folder.join("bare")).expect("a folder");
    script(&folder.join("bare"), "python3", "exit 3");
    let bare = format!(
        "case \"$*\" in\n  *-nocudainc*cuda_runtime.h*) ;;\n  *) echo 'clang: error: cannot find CUDA \
         installation' >&2; exit 1 ;;\nesac\n{with_output}"
    );
    let bare = bare.replace("test -f \"$1\"", "true");
    script(&folder.join("bare"), "clang++", &bare);
    std::fs::create_dir(folder.join("nvrtc")).expect("a folder");
    script(&folder.join("nvrtc"), "python3", "test \"$1\" = -c && test -f \"$3\" && cat made.ptx");
    script(&folder.join("nvrtc"), "clang++", "exit 1");
    for path in ["bare", "nvrtc"] {
        let outcome = run(folder, "nbcc run k.cu", path);
        assert_eq!(outcome.code, Some(0), "{path}: {}", outcome.stderr);
        std::fs::remove_file(folder.join("p.bin")).expect("removed");
    }
    let outcome = run(folder, "NBCC_CUDA=./compile nbcc k.cu", "none");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(folder.join("k.nbx").is_file());
}

#[test]
fn cuda_needs_a_compiler() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    furnish(folder);
    script(folder, "fails", "echo 'k.cu(3): no such type' >&2; exit 2");
    let outcome = run(folder, "NBCC_CUDA=./fails nbcc run k.cu", "none");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("[E4221]") && outcome.stderr.contains("k.cu(3): no such type"));
    let outcome = run(folder, "NBCC_CUDA=./not-there nbcc run k.cu", "none");
    assert!(outcome.stderr.contains("[E4221]"), "{}", outcome.stderr);
    let outcome = run(folder, "NBCC_CUDA=./fails nbcc run missing.cu", "none");
    assert!(outcome.stderr.contains("there is no such file"), "{}", outcome.stderr);

    let installed = ["/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"];
    if installed.iter().all(|path| !Path::new(path).is_file()) {
        let outcome = run(folder, "nbcc run k.cu", "none");
        assert_eq!(outcome.code, Some(1));
        assert!(outcome.stderr.contains("[E4220]"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("nvcc -ptx"), "{}", outcome.stderr);
    }
}
