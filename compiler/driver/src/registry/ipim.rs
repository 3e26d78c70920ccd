//! iPIM: SIMB binaries, and the simulated machine that runs them.

use std::collections::BTreeMap;

use nbcc_host::{FaultKind, HostError, Image as HostImage, RunOptions};
use nbcc_isa::LoadError;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_isa_ipim::layout::Role;
use nbcc_isa_ipim::{Element, Machine, Program, asm, program};
use nbcc_stages::{ElementType, Image};
use nbcc_target_ipim::plan::element;

use super::{RunReport, Runner, TargetEntry};
use crate::kinds::images::{
    ImageProgram, ImageRan, ImageRequest, ImageRunner, InputSpec, OutputSpec, ParamSpec,
};
use crate::kinds::{Measured, Place, RunError};

/// iPIM with its tools.
pub const ENTRY: TargetEntry = TargetEntry {
    target: &nbcc_target_ipim::IPIM,
    machine,
    isa: program::ISA,
    assembly: asm::NAME,
    disassemble: asm::disassemble_elf,
    assemble: asm::assemble_elf,
    runner: Runner::Images(ImageRunner { describe, run }),
    report: RunReport {
        core: "control core",
        instructions: "instructions",
        note: None,
        has_trace: true,
        statistics: nbcc_sim_ipim::statistics::DEFINITIONS,
    },
};

/// Events that a timeline keeps: what viewers still open.
const TRACE_EVENTS: usize = 4_000_000;

fn machine(text: &str, overrides: &[Override]) -> Result<Vec<Entry>, MachineError> {
    Ok(Machine::from_toml(text, overrides)?.list(text))
}

fn element_type(element: Element) -> ElementType {
    match element {
        Element::Bool => ElementType::Bool,
        Element::U8 => ElementType::U8,
        Element::U16 => ElementType::U16,
        Element::U32 => ElementType::U32,
        Element::I8 => ElementType::I8,
        Element::I16 => ElementType::I16,
        Element::I32 => ElementType::I32,
        Element::F32 => ElementType::F32,
    }
}

fn describe(binary: &[u8]) -> Result<ImageProgram, LoadError> {
    let program = Program::from_elf(binary)?;
    let of_role = |role| program.buffers.iter().filter(move |buffer| buffer.role == role);
    Ok(ImageProgram {
        machine: program.machine.name.clone(),
        inputs: of_role(Role::Input)
            .map(|buffer| InputSpec {
                name: buffer.name.clone(),
                ty: element_type(buffer.element),
                dims: buffer.extent.len() as u32,
                extent: Some(buffer.image().to_vec()),
            })
            .collect(),
        outputs: of_role(Role::Output)
            .map(|buffer| OutputSpec {
                name: buffer.name.clone(),
                ty: element_type(buffer.element),
                dims: buffer.extent.len(),
            })
            .collect(),
        params: program
            .params
            .iter()
            .map(|param| ParamSpec {
                name: param.name.clone(),
                ty: element_type(param.element),
                is_required: param.default.is_none(),
            })
            .collect(),
    })
}

fn run(binary: &[u8], request: ImageRequest<'_>) -> Result<ImageRan, RunError> {
    let program = Program::from_elf(binary).map_err(RunError::Binary)?;
    // A program has only those inputs and parameters of its source that it reads.
    let is_read = |name: &str| {
        program.buffers.iter().any(|buffer| buffer.role == Role::Input && buffer.name == name)
    };
    let inputs: BTreeMap<String, HostImage> = request
        .inputs
        .into_iter()
        .filter(|(name, _)| is_read(name))
        .map(|(name, image)| {
            let element = element(image.ty);
            (name, HostImage { element, extent: image.extent, words: image.data })
        })
        .collect();
    let type_of = |name: &str| program.params.iter().find(|param| param.name == name);
    let params: BTreeMap<String, HostImage> = request
        .params
        .into_iter()
        .filter_map(|(name, word)| {
            let element = type_of(&name)?.element;
            Some((name, HostImage::scalar(element, word)))
        })
        .collect();
    let asked = request.options;
    let mut options = RunOptions {
        timing: !asked.fast,
        max_cycles: asked.cycles(),
        threads: asked.threads,
        trace_events: asked.trace.then_some(TRACE_EVENTS),
        progress: Some(asked.progress),
        ..RunOptions::default()
    };
    let mut result = nbcc_host::run(&program, &inputs, &params, &mut options).map_err(error)?;
    let outputs = program.buffers.iter().filter(|buffer| buffer.role == Role::Output);
    Ok(ImageRan {
        outputs: outputs
            .filter_map(|buffer| result.outputs.remove(&buffer.name))
            .map(|image| Image {
                ty: element_type(image.element),
                min: vec![0; image.extent.len()],
                extent: image.extent,
                data: image.words,
            })
            .collect(),
        measured: Measured {
            instructions: result.instructions,
            statistics: result.statistics,
            profile: result.profile,
            trace: result.trace,
            cycle_ns: program.machine.dram.t_ck,
        },
    })
}

fn error(error: HostError) -> RunError {
    let text = error.to_string();
    let place = match &error {
        HostError::Fault { line, .. } => {
            line.as_ref().map(|(file, at)| Place::of((file.as_str(), *at)))
        }
        _ => None,
    };
    match error {
        HostError::Program(error) => RunError::Binary(error),
        HostError::Memory { .. } | HostError::Load { kind: FaultKind::HostMemory, .. } => {
            RunError::Memory(text)
        }
        HostError::Fault { fault, .. } => match fault.kind {
            FaultKind::HostMemory => RunError::Memory(text),
            FaultKind::Limit { .. } => RunError::OutOfCycles(text, place),
            _ => RunError::Fault(text, place),
        },
        _ => RunError::Refused(text),
    }
}
