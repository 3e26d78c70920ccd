//! Compiling a function and calling it on the machine.

use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_host::function::{Bound, BoundArray};
use nbcc_host::sdpnm::{Ran, call};
use nbcc_ir::{Func, Module};
use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_isa_sdpnm::machine::BUILT_IN;
use nbcc_pipeline::{
    Artifact, Context, Emit, NoObserver, OptLevel, PassOptions, Program, Request, Target,
};
use nbcc_sim_sdpnm::{Fault, Options};
use nbcc_target_sdpnm::SDPNM;

use crate::common::runs::Array;

/// The levels that code is tested at.
pub const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

/// What the target makes of a function, or the codes of what it says.
pub fn compile_for(
    module: &Module,
    func: Func,
    level: OptLevel,
    emit: Emit,
) -> Result<Artifact, String> {
    compile_on(BUILT_IN[0].1, module, func, level, emit)
}

/// The same for another machine than the usual one.
pub fn compile_on(
    machine: &str,
    module: &Module,
    func: Func,
    level: OptLevel,
    emit: Emit,
) -> Result<Artifact, String> {
    let passes = PassOptions { level, verify_each: true, ..PassOptions::default() };
    compile_with(machine, module, func, &passes, emit)
}

/// The program of a function that is compiled without some passes, with commas between.
pub fn compile_without(passes: &str, module: &Module, func: Func) -> Result<CoreProgram, String> {
    let disabled = passes.split(',').map(str::to_string).collect();
    let passes = PassOptions { level: OptLevel::O2, disabled, ..PassOptions::default() };
    program(compile_with(BUILT_IN[0].1, module, func, &passes, Emit::Binary)?)
}

fn compile_with(
    machine: &str,
    module: &Module,
    func: Func,
    passes: &PassOptions,
    emit: Emit,
) -> Result<Artifact, String> {
    let mut sources = SourceMap::default();
    sources.add(SourceFile::new("test.c", ""));
    let (mut diagnostics, mut remarks) = (Diagnostics::default(), Vec::new());
    let request = Request {
        machine: machine.to_string(),
        machine_name: BUILT_IN[0].0.to_string(),
        emit,
        ..Request::default()
    };
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes,
        observer: &mut NoObserver,
    };
    let program = Program::Function(module.clone(), func);
    SDPNM.compile(program, &request, &mut cx).map_err(|_| {
        let said = diagnostics.take();
        said.iter().map(|d| format!("{}: {}\n", d.code.code, d.message)).collect()
    })
}

/// The program of a function, read back from its binary.
pub fn compile(module: &Module, func: Func, level: OptLevel) -> Result<CoreProgram, String> {
    program(compile_for(module, func, level, Emit::Binary)?)
}

fn program(artifact: Artifact) -> Result<CoreProgram, String> {
    let Artifact::Binary(binary) = artifact else { return Err("a text".into()) };
    CoreProgram::from_elf(&binary).map_err(|error| error.to_string())
}

/// Calls a program.
pub fn run(program: &CoreProgram, scalars: &[u64], arrays: &[Array]) -> Result<Ran, Fault> {
    run_for(program, scalars, arrays, 1 << 34)
}

/// Calls a program for so many cycles at most.
pub fn run_for(
    program: &CoreProgram,
    scalars: &[u64],
    arrays: &[Array],
    max_cycles: u64,
) -> Result<Ran, Fault> {
    let bound = |array: &Array| BoundArray {
        shape: array.extents.iter().map(|&extent| extent.into()).collect(),
        bytes: array.bytes.clone(),
    };
    let arguments = Bound { scalars: scalars.to_vec(), arrays: arrays.iter().map(bound).collect() };
    let mut options = Options { max_cycles, trace_events: None, progress: &mut |_| {} };
    call(program, &arguments, &mut options)
}
