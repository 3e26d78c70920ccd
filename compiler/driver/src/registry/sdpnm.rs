//! SDPNM: functions of C on its core, and the simulated machine that runs them.

use nbcc_host::function::Returned;
use nbcc_host::sdpnm::call as call_on;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_isa::signature::SIGNATURE;
use nbcc_isa::{LoadError, SourceLine};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::core::{CoreProgram, asm, program};
use nbcc_sim_sdpnm::{Fault, Options, Stopped};

use super::{RunReport, Runner, TargetEntry};
use crate::kinds::functions::{
    FunctionProgram, FunctionRan, FunctionRequest, FunctionRunner, Trap,
};
use crate::kinds::{Measured, Place, RunError};

/// SDPNM with its tools.
pub const ENTRY: TargetEntry = TargetEntry {
    target: &nbcc_target_sdpnm::SDPNM,
    machine,
    isa: program::ISA,
    assembly: asm::NAME,
    disassemble: asm::disassemble_elf,
    assemble: asm::assemble_elf,
    runner: Runner::Function(FunctionRunner { describe, call }),
    report: RunReport {
        core: "core",
        instructions: "instructions",
        note: None,
        has_trace: true,
        statistics: nbcc_sim_sdpnm::DEFINITIONS,
    },
};

/// Events that a timeline keeps: what viewers still open.
const TRACE_EVENTS: usize = 4_000_000;

fn machine(text: &str, overrides: &[Override]) -> Result<Vec<Entry>, MachineError> {
    Ok(nbcc_isa::machine::list(&Machine::from_toml(text, overrides)?, text))
}

fn describe(binary: &[u8]) -> Result<FunctionProgram, LoadError> {
    described(&CoreProgram::from_elf(binary)?)
}

fn described(program: &CoreProgram) -> Result<FunctionProgram, LoadError> {
    let missing = || LoadError::new(SIGNATURE, 0, "there is no signature");
    let signature = program.signature.clone().ok_or_else(missing)?;
    Ok(FunctionProgram { machine: program.machine.name.clone(), signature })
}

fn call(binary: &[u8], request: FunctionRequest<'_, '_>) -> Result<FunctionRan, RunError> {
    let program = CoreProgram::from_elf(binary).map_err(RunError::Binary)?;
    described(&program).map_err(RunError::Binary)?;
    let asked = request.options;
    let mut options = Options {
        max_cycles: asked.cycles(),
        trace_events: asked.trace.then_some(TRACE_EVENTS),
        progress: asked.progress,
    };
    let ran = call_on(&program, request.arguments, &mut options);
    let ran = ran.map_err(|fault| error(&program, fault))?;
    let Returned { result, arrays } = ran.returned;
    Ok(FunctionRan {
        arrays,
        result,
        measured: Measured {
            instructions: ran.instructions,
            statistics: (!asked.fast).then_some(ran.statistics),
            profile: ran.profile,
            trace: ran.trace,
            cycle_ns: program.machine.cycle_ns(),
        },
    })
}

/// Where an instruction comes from.
fn place(program: &CoreProgram, at: Option<u32>) -> Option<Place> {
    let row = program.code.lines.rows.get(at? as usize).copied().flatten();
    source_place(program, row)
}

fn source_place(program: &CoreProgram, row: Option<SourceLine>) -> Option<Place> {
    let row = row?;
    let file = program.code.lines.files.get(row.file as usize)?.clone();
    Some(Place { file, line: row.line, column: row.column })
}

fn error(program: &CoreProgram, fault: Fault) -> RunError {
    let place = match &fault {
        Fault::Array { line, .. } => source_place(program, *line),
        _ => place(program, fault.at()),
    };
    let text = match &place {
        Some(place) => format!("{fault}, at {}:{}", place.file, place.line),
        None => fault.to_string(),
    };
    match fault {
        Fault::Trap { what, .. } => {
            let trap = match what {
                Stopped::Message(message) => Trap::Message(message),
                Stopped::Outside { name, subscripts, extents } => {
                    Trap::Outside { name, subscripts, extents }
                }
                Stopped::Division => Trap::Division,
            };
            RunError::Trap(trap, place)
        }
        Fault::Cycles { .. } => RunError::OutOfCycles(text, place),
        Fault::Full { .. } | Fault::Banks { .. } => RunError::Refused(text),
        Fault::HostMemory { .. } => RunError::Memory(text),
        Fault::Access { .. }
        | Fault::Jump { .. }
        | Fault::Environment { .. }
        | Fault::Package { .. }
        | Fault::Array { .. } => RunError::Fault(text, place),
    }
}
