//! What is mutated: files of this repository, and binaries and assembly that the command makes of
//! some of them.

use std::path::Path;

use crate::command::{command, run};
use crate::{files_in, root};

/// Kernels with a launch file and its data.
#[derive(Debug)]
pub struct Kernel {
    /// The source.
    pub ptx: Vec<u8>,
    /// The launch file.
    pub launch: Vec<u8>,
    /// The files that it names.
    pub data: Vec<(String, Vec<u8>)>,
}

/// A binary and its disassembly.
#[derive(Debug)]
pub struct Program {
    /// The binary.
    pub binary: Vec<u8>,
    /// Its assembly.
    pub assembly: Vec<u8>,
    /// The launch file and its data, if it has kernels.
    pub kernel: Option<usize>,
}

/// Unchanged files, of each kind.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Image pipelines.
    pub pipelines: Vec<Vec<u8>>,
    /// PTX without a launch.
    pub modules: Vec<Vec<u8>>,
    /// PTX with a launch.
    pub kernels: Vec<Kernel>,
    /// Binaries.
    pub programs: Vec<Program>,
    /// Machine files, with the target.
    pub machines: Vec<(&'static str, Vec<u8>)>,
    /// DRAM machine files.
    pub memories: Vec<Vec<u8>>,
    /// Pictures, with their extension.
    pub pictures: Vec<(&'static str, Vec<u8>)>,
    /// Traces of DRAM requests.
    pub traces: Vec<Vec<u8>>,
}

/// Sources from which binaries are made.
const COMPILED: [&str; 6] = [
    "examples/ipim/brighten.halide",
    "examples/ipim/histogram.halide",
    "tests/pipelines/lookup_table.halide",
    "tests/pipelines/image_extents.halide",
    "tests/pipelines/boundaries_far.halide",
    "tests/pipelines/fir_1d.halide",
];

/// Kernels of `tests/cuda` that run for a short time on little data.
const LAUNCHED: [&str; 16] = [
    "assertion",
    "barrier_deadlock",
    "big_switch",
    "bitonic_sort",
    "double_math",
    "generic_pointers",
    "inline_ptx",
    "last_block",
    "named_barriers",
    "printing",
    "reduce_shared",
    "shared_overrun",
    "struct_params",
    "vecadd",
    "virtual_calls",
    "warp_redux",
];

/// Larger ones are slow to mutate and to compile, and hold nothing else.
const LARGEST: usize = 16 << 10;

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

fn all(folders: &[&str], extension: &str) -> Vec<Vec<u8>> {
    let paths = folders.iter().flat_map(|folder| files_in(&root().join(folder), extension));
    paths.map(|path| read(&path)).filter(|file| file.len() <= LARGEST).collect()
}

/// The files below `folder` that a launch file names before what is read back.
fn data(folder: &Path, launch: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = String::from_utf8_lossy(launch);
    let inputs = text.split("[[read]]").next().unwrap_or_default();
    let mut names: Vec<&str> = inputs.split('"').filter(|n| folder.join(n).is_file()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name.to_string(), read(&folder.join(name)))).collect()
}

fn kernel(folder: &Path, name: &str) -> Kernel {
    let launch = read(&folder.join(format!("{name}.toml")));
    let data = data(folder, &launch);
    Kernel { ptx: read(&folder.join(format!("{name}.ptx"))), launch, data }
}

/// Compiles a source and disassembles what comes out.
fn program(nbcc: &str, name: &str, source: &[u8], kernel: Option<usize>) -> Program {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
    let path = folder.path().join(name);
    std::fs::write(&path, source).unwrap_or_else(|error| panic!("{name}: {error}"));
    let machine = if kernel.is_none() { "--machine ipim-vault --size 9x7" } else { "" };
    let compile = format!("nbcc {name} {machine} -o a.nbx");
    for line in [compile.as_str(), "nbcc objdump a.nbx -o a.s"] {
        let outcome = run(command(nbcc, line, folder.path()));
        assert!(outcome.as_ref().is_ok_and(|o| o.code == Some(0)), "{name}: {line}: {outcome:?}");
    }
    let made = |name: &str| read(&folder.path().join(name));
    Program { binary: made("a.nbx"), assembly: made("a.s"), kernel }
}

/// Requests in the order in which a convolution makes them.
fn trace() -> Vec<u8> {
    let request = |i: usize| {
        let kind = if i.is_multiple_of(3) { 'W' } else { 'R' };
        format!("{kind} {} {} {}\n", i % 16, i * 7 % 50, i * 13 % 128)
    };
    (0..60).map(request).collect::<String>().into_bytes()
}

impl Corpus {
    /// Reads the files and runs `nbcc`. Panics where that is not possible.
    pub fn new(nbcc: &str) -> Corpus {
        let root = root();
        let pipelines = all(
            &["examples/ipim", "tests/pipelines", "tests/fuzz", "tests/frontend-halide"],
            "halide",
        );
        let modules = all(&["tests/frontend-ptx", "tests/conformance", "tests/cuda"], "ptx");
        let cuda = root.join("tests/cuda");
        let mut kernels: Vec<Kernel> = LAUNCHED.iter().map(|name| kernel(&cuda, name)).collect();
        kernels.push(kernel(&root.join("examples/mpu"), "saxpy"));
        let mut programs: Vec<Program> = COMPILED
            .iter()
            .map(|path| program(nbcc, "a.halide", &read(&root.join(path)), None))
            .collect();
        let compiled = kernels.iter().enumerate().step_by(3);
        programs.extend(compiled.map(|(at, k)| program(nbcc, "a.ptx", &k.ptx, Some(at))));
        let mut machines = Vec::new();
        for target in ["ipim", "mpu"] {
            let folder = root.join("isa").join(target).join("machines");
            let files = files_in(&folder, "toml");
            machines.extend(files.iter().map(|path| (target, read(path))));
        }
        let mut pictures = vec![
            ("pgm", b"P5\n# grey\n5 3\n255\n0123456789abcde".to_vec()),
            ("pgm", b"P2\n3 2\n65535\n1 2 3\n4 5 65535\n".to_vec()),
            ("ppm", b"P6 2 2 255\n012345678901".to_vec()),
            ("ppm", b"P3 2 1 15 1 2 3 4 5 15".to_vec()),
            ("bin", (0..48).collect()),
        ];
        let fixtures = root.join("tests/fixtures");
        for extension in ["png", "npy"] {
            let files = files_in(&fixtures, extension);
            pictures.extend(files.iter().map(|path| (extension, read(path))));
        }
        Corpus {
            pipelines,
            modules,
            kernels,
            programs,
            machines,
            memories: vec![read(&root.join("runtime-sim/dram/machines/reference.toml"))],
            pictures,
            traces: vec![trace(), b"R 0 0 0\n# one\nW 15 65535 127\n".to_vec()],
        }
    }
}
