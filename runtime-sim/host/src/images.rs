//! The runtime of image pipelines: it copies inputs to banks, starts the machine and copies outputs
//! back.
//!
//! Names, extents and element types must be those that the program was compiled for.
//! Where an element lies is what the layout in the program says
//! ([`nbcc_isa_ipim::Buffer::locate`]); each element of an input is written to exactly
//! one bank.

use std::collections::BTreeMap;

use nbcc_isa::SourceLine;
use nbcc_isa_ipim::layout::Role;
use nbcc_isa_ipim::{Element, INSTRUCTION_BYTES, Layout, Program};
use nbcc_sim_engine::{Statistics, Trace};
use nbcc_sim_ipim::fault::{Fault, FaultKind};
use nbcc_sim_ipim::simulation::{RunOptions, SetupError, Simulation};

use crate::image::Image;
use crate::profile::{Cost, Profile};
use crate::transfer;

/// What a run leaves behind.
#[derive(Debug)]
pub struct RunResult {
    /// The output buffers by name.
    pub outputs: BTreeMap<String, Image>,
    /// Instructions issued, over all vaults.
    pub instructions: u64,
    /// Length of the run; 0 without timing.
    pub cycles: u64,
    /// What was measured; `None` without timing.
    pub statistics: Option<Statistics>,
    /// Where cycles went; empty without timing.
    pub profile: Profile,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
}

/// Why a run did not produce outputs.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The program has no input or parameter of that name.
    #[error("the program has no {what} `{name}`{}", that_it_has(.known))]
    Unknown {
        /// `input` or `parameter`.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// An input or a parameter without a default was not given.
    #[error("the {what} `{name}` is not given")]
    Missing {
        /// `input` or `parameter`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The extents are not those that the program was compiled for.
    #[error("`{name}` is {}, but the program was compiled for {}", shape(.found), shape(.expected))]
    Extent {
        /// The input.
        name: String,
        /// What the program holds, innermost first.
        expected: Vec<u32>,
        /// What was given.
        found: Vec<u32>,
    },
    /// The elements are of another type.
    #[error("`{name}` holds {}, but the program was compiled for {}", found.name(), expected.name())]
    Element {
        /// The input.
        name: String,
        /// What the program holds.
        expected: Element,
        /// What was given.
        found: Element,
    },
    /// The number of words is not the product of the extents.
    #[error("`{name}` has {found} words, not the {expected} of its extents")]
    Words {
        /// The input.
        name: String,
        /// The product of the extents.
        expected: u64,
        /// The words given.
        found: u64,
    },
    /// Outputs are too large to be collected.
    #[error("the outputs have {elements} elements, more than the {limit} that are collected")]
    OutputsTooLarge {
        /// Their elements.
        elements: u64,
        /// The bound.
        limit: u64,
    },
    /// The host has no memory for the outputs.
    #[error("the outputs take {bytes} bytes, for which the host has no memory")]
    Memory {
        /// The bytes.
        bytes: u64,
    },
    /// The program and its metadata contradict each other.
    #[error("the program is not valid: {0}")]
    Program(#[from] nbcc_isa::LoadError),
    /// The program cannot be simulated.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The inputs do not fit the memory that the simulator may take.
    #[error("loading `{name}`: {kind}")]
    Load {
        /// The buffer.
        name: String,
        /// The bound.
        kind: FaultKind,
    },
    /// The program did what the machine cannot do.
    #[error("{fault}{}", at_line(.line))]
    Fault {
        /// What and where.
        fault: Fault,
        /// The source file and line of the instruction, if known.
        line: Option<(String, SourceLine)>,
    },
}

fn that_it_has(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(", it has {}", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))
}

fn shape(extent: &[u32]) -> String {
    if extent.is_empty() {
        return "a scalar".to_owned();
    }
    extent.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

fn at_line(line: &Option<(String, SourceLine)>) -> String {
    match line {
        Some((file, line)) => format!(" ({file}:{})", line.line),
        None => String::new(),
    }
}

/// Elements of all outputs that are collected.
const MAX_OUTPUT_ELEMENTS: u64 = 1 << 28;

/// Runs a program on its machine. `inputs` are images by name; `params` are images of
/// array parameters and scalars (without extents) of scalar parameters, which may be
/// left out where they have a default.
///
/// # Errors
/// Inputs that are not the program's, a program that is not valid, or a run that ends
/// in a fault.
pub fn run(
    program: &Program,
    inputs: &BTreeMap<String, Image>,
    params: &BTreeMap<String, Image>,
    options: &mut RunOptions<'_>,
) -> Result<RunResult, HostError> {
    program.validate()?;
    check_names(program, inputs, params)?;
    let outputs = program.buffers.iter().filter(|buffer| buffer.role == Role::Output);
    let elements = outputs.fold(0_u64, |sum, buffer| sum.saturating_add(buffer.elements()));
    if elements > MAX_OUTPUT_ELEMENTS {
        return Err(HostError::OutputsTooLarge { elements, limit: MAX_OUTPUT_ELEMENTS });
    }

    // Outputs are collected at the end, when it is late to find that there is no room.
    let bytes = 4 * elements;
    if !nbcc_base::has_room(bytes) {
        return Err(HostError::Memory { bytes });
    }
    let shared = transfer::shared_image(program, params)?;
    let mut simulation = Simulation::new(program, shared, options.memory_limit)?;
    for buffer in &program.buffers {
        let image = match (buffer.role, &buffer.layout) {
            (Role::Input, _) => &inputs[&buffer.name],
            (Role::Param, Layout::Replicated) | (Role::Output, _) => continue,
            (Role::Param, _) => &params[&buffer.name],
        };
        transfer::scatter(&mut simulation, buffer, image, options.threads)
            .map_err(|kind| HostError::Load { name: buffer.name.clone(), kind })?;
    }

    let fault = |fault: Fault| {
        let line = program.code.lines.line((fault.pc / INSTRUCTION_BYTES) as usize);
        let line = line.map(|(file, line)| (file.to_owned(), line));
        HostError::Fault { fault, line }
    };
    let (instructions, timing) = if options.timing {
        let timing = simulation.run_timed(options).map_err(fault)?;
        (timing.profile.iter().map(|entry| entry.issued).sum(), Some(timing))
    } else {
        (simulation.run_functional(options).map_err(fault)?, None)
    };

    let outputs = program
        .buffers
        .iter()
        .filter(|buffer| buffer.role == Role::Output)
        .map(|buffer| (buffer.name.clone(), transfer::gather(&simulation, buffer, options.threads)))
        .collect();
    let mut result = RunResult {
        outputs,
        instructions,
        cycles: 0,
        statistics: None,
        profile: Profile::default(),
        trace: None,
    };
    if let Some(timing) = timing {
        result.cycles = timing.cycles;
        let cost = |entry: &nbcc_sim_ipim::simulation::PcProfile| Cost {
            issued: entry.issued,
            stalled: entry.stalled,
        };
        let costs: Vec<Cost> = timing.profile.iter().map(cost).collect();
        result.profile = Profile::new(&program.code, &costs);
        result.statistics = Some(timing.statistics);
        result.trace = timing.trace;
    }
    Ok(result)
}

fn check_names(
    program: &Program,
    inputs: &BTreeMap<String, Image>,
    params: &BTreeMap<String, Image>,
) -> Result<(), HostError> {
    for (role, what, images) in [(Role::Input, "input", inputs), (Role::Param, "parameter", params)]
    {
        let buffers = || program.buffers.iter().filter(|buffer| buffer.role == role);
        let scalars = || program.params.iter().filter(|_| role == Role::Param);
        for (name, image) in images {
            if let Some(buffer) = buffers().find(|buffer| buffer.name == *name) {
                image.check(name, buffer.element, buffer.image())?;
            } else if let Some(param) = scalars().find(|param| param.name == *name) {
                image.check(name, param.element, &[])?;
            } else {
                let known = buffers().map(|buffer| buffer.name.clone());
                let known = known.chain(scalars().map(|param| param.name.clone())).collect();
                return Err(HostError::Unknown { what, name: name.clone(), known });
            }
        }
        let required = buffers().map(|buffer| &buffer.name);
        let required = required
            .chain(scalars().filter(|param| param.default.is_none()).map(|param| &param.name));
        for name in required {
            if !images.contains_key(name) {
                return Err(HostError::Missing { what, name: name.clone() });
            }
        }
    }
    Ok(())
}
