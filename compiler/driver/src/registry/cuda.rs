//! CUDA C++ by way of a compiler that is installed: what it makes is PTX.
//!
//! The first of these that is there: the program that the environment variable `NBCC_CUDA` names,
//! which gets the file and writes PTX to its standard output (NVRTC, which is a library, comes in
//! this way); `nvcc` and `clang++`, on the `PATH` or where CUDA and LLVM are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Translation, Translator};

/// The translator of `.cu` files.
pub const CUDA: Translator = Translator {
    extension: "cu",
    to: "ptx",
    translate,
    help: "install nvcc (CUDA) or clang++ with its NVPTX target, or name a program in NBCC_CUDA that \
           writes PTX to its standard output; or make PTX elsewhere, with `nvcc -ptx FILE.cu` or \
           NVRTC, and give that",
};

/// Where compilers are installed beside the `PATH`.
const NVCC: [&str; 2] = ["/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"];

fn translate(source: &Path) -> Result<String, Translation> {
    if let Some(program) = std::env::var_os("NBCC_CUDA").filter(|program| !program.is_empty()) {
        let output = Command::new(&program).arg(source).output();
        return finished(&program.to_string_lossy(), output, |output| Ok(output.stdout));
    }
    let folder = tempfile::tempdir().map_err(|error| Translation::Failed {
        program: "nbcc".into(),
        message: error.to_string(),
    })?;
    let ptx = folder.path().join("out.ptx");
    let (program, mut command) = if let Some(nvcc) = nvcc() {
        let mut command = Command::new(&nvcc);
        command.args(["-ptx", "-lineinfo", "-o"]).arg(&ptx).arg(source);
        (nvcc, command)
    } else if let Some(clang) = on_path("clang++") {
        let mut command = Command::new(&clang);
        command.args(["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-O2", "-S"]);
        command.arg("-gline-tables-only").arg("-o").arg(&ptx).arg(source);
        (clang, command)
    } else {
        return Err(Translation::NoProgram);
    };
    let program = program.display().to_string();
    finished(&program, command.output(), |_| std::fs::read(&ptx))
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
