//! CUDA C++ by way of a compiler that is installed: what it makes is PTX.
//!
//! The first of these that is there: the program that the environment variable `NBCC_CUDA` names,
//! which gets the file and writes PTX to its standard output; `nvcc`, on the `PATH` or where CUDA is
//! installed; NVRTC, a library, by way of `python3`, since it comes as a Python package; `clang++`,
//! with a few declarations of ours where it finds no CUDA.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Translation, Translator};

/// The translator of `.cu` files.
pub const CUDA: Translator = Translator {
    extension: "cu",
    to: "ptx",
    translate,
    help: "install nvcc (CUDA), NVRTC (`pip install nvidia-cuda-nvrtc-cu12`) or clang++ with its NVPTX \
           target, or name a program in NBCC_CUDA that writes PTX to its standard output; or make PTX \
           elsewhere, with `nvcc -ptx FILE.cu`, and give that",
};

/// Where compilers are installed beside the `PATH`.
const NVCC: [&str; 2] = ["/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"];

fn translate(source: &Path) -> Result<String, Translation> {
    if let Some(program) = std::env::var_os("NBCC_CUDA").filter(|program| !program.is_empty()) {
        let output = Command::new(&program).arg(source).output();
        return finished(&program.to_string_lossy(), output, |output| Ok(output.stdout));
    }
    let folder = tempfile::tempdir().map_err(|error| own_failure(&error))?;
    if let Some(nvcc) = nvcc() {
        let ptx = folder.path().join("out.ptx");
        let mut command = Command::new(&nvcc);
        command.args(["-ptx", "-lineinfo", "-o"]).arg(&ptx).arg(source);
        let program = nvcc.display().to_string();
        return finished(&program, command.output(), |_| std::fs::read(&ptx));
    }
    if let Some(python) = on_path("python3") {
        let output = Command::new(&python).args(["-c", NVRTC]).arg(source).output();
        let has_none = |output: &Output| output.status.code() == Some(WITHOUT_NVRTC);
        if !output.as_ref().is_ok_and(has_none) {
            let program = format!("{} (NVRTC)", python.display());
            return finished(&program, output, |output| Ok(output.stdout));
        }
    }
    match on_path("clang++") {
        Some(clang) => by_clang(&clang, source, folder.path()),
        None => Err(Translation::NoProgram),
    }
}

/// Prints the PTX that NVRTC makes of a file.
const NVRTC: &str = include_str!("../../data/nvrtc.py");

/// How [`NVRTC`] ends where there is none.
const WITHOUT_NVRTC: i32 = 3;

/// Declares what kernels need, for clang without CUDA.
const DECLARATIONS: &str = include_str!("../../data/cuda.h");

/// What sources include that needs no more than [`DECLARATIONS`].
const HEADERS: [&str; 3] = ["cuda_runtime.h", "cuda.h", "device_launch_parameters.h"];

/// By clang, with the CUDA that it finds, else with the declarations that we have.
fn by_clang(clang: &Path, source: &Path, folder: &Path) -> Result<String, Translation> {
    let ptx = folder.join("out.ptx");
    let program = clang.display().to_string();
    let command = || {
        let mut command = Command::new(clang);
        command.args(["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-O2", "-S"]);
        command.arg("-gline-tables-only").arg("-o").arg(&ptx).arg(source);
        command
    };
    let output = command().output();
    let lacks_cuda = |output: &Output| {
        let said = String::from_utf8_lossy(&output.stderr);
        !output.status.success() && said.contains("cannot find CUDA installation")
    };
    if !output.as_ref().is_ok_and(lacks_cuda) {
        return finished(&program, output, |_| std::fs::read(&ptx));
    }
    for name in HEADERS {
        std::fs::write(folder.join(name), DECLARATIONS).map_err(|error| own_failure(&error))?;
    }
    let mut command = command();
    command.args(["-nocudainc", "-nocudalib", "-include"]).arg(folder.join(HEADERS[0]));
    command.arg("-idirafter").arg(folder);
    // Which version of PTX it is follows from the installation, where there is one.
    command.args(["-Xclang", "-target-feature", "-Xclang", "+ptx63"]);
    let program = program + " (without CUDA's headers and mathematical functions)";
    finished(&program, command.output(), |_| std::fs::read(&ptx))
}

fn own_failure(error: &std::io::Error) -> Translation {
    Translation::Failed { program: "nbcc".into(), message: error.to_string() }
}

/// What a program made, if it ended well.
fn finished(
    program: &str,
    output: std::io::Result<Output>,
    made: impl FnOnce(Output) -> std::io::Result<Vec<u8>>,
) -> Result<String, Translation> {
    let failed = |message: String| Translation::Failed { program: program.to_string(), message };
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        let said = if said.is_empty() { output.status.to_string() } else { said };
        return Err(failed(said));
    }
    let text = made(output).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(text).map_err(|_| failed("what it made is no text".to_string()))
}

fn nvcc() -> Option<PathBuf> {
    let named = std::env::var_os("CUDA_PATH").map(|path| Path::new(&path).join("bin/nvcc"));
    let installed = named.into_iter().chain(NVCC.iter().map(PathBuf::from));
    on_path("nvcc").or_else(|| installed.into_iter().find(|path| path.is_file()))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
