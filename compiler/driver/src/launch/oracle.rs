//! Launches on the interpreter.

use nbcc_base::{Diagnostic, Span};
use nbcc_interp::grid::{self, Fault, FaultKind, GridMemory, Limits};
use nbcc_ir::{Kernel, Module};

use super::file::Plan;
use crate::kinds::grids::{Argument, Contents, GridLaunch, GridRan};
use crate::session::{Session, Stop};
use crate::{codes, limits};

/// Runs launches on the interpreter with buffers of these contents, each of `max_steps`
/// instructions of all threads together at most: the buffers and what was printed. What was printed
/// before a fault goes to stdout.
pub fn launch(
    session: &mut Session,
    module: &Module,
    plan: &Plan,
    buffers: Vec<Contents>,
    launches: &[GridLaunch],
    max_steps: u64,
) -> Result<GridRan, Stop> {
    let mut printed = Vec::new();
    let mut memory = match GridMemory::new(module) {
        Ok(memory) => memory,
        Err(kind) => {
            let error = Diagnostic::error(&codes::TRAP, kind.to_string());
            return Err(session.fail(error.help("make the module's variables smaller")));
        }
    };
    for symbol in &plan.symbols {
        let object = module.objects.iter().find(|(_, object)| object.name == symbol.name);
        let Some((object, _)) = object else {
            return Err(super::wrong_symbol(session, symbol, None));
        };
        let address = memory.object(object);
        let bytes = memory.bytes_mut(address);
        if bytes.len() < symbol.bytes.len() {
            let size = bytes.len() as u64;
            return Err(super::wrong_symbol(session, symbol, Some(size)));
        }
        bytes[..symbol.bytes.len()].copy_from_slice(&symbol.bytes);
    }
    let mut addresses = Vec::new();
    for buffer in buffers {
        addresses.push(match buffer {
            Contents::Zeros(size) if !nbcc_base::has_room(size) => {
                let message = format!("a buffer of {size} bytes: there is no memory for it");
                return Err(session.fail(limits::no_memory(message)));
            }
            Contents::Zeros(size) => memory.allocate(size as usize),
            Contents::Bytes(bytes) => memory.allocate_with(bytes),
        });
    }
    for launch in launches {
        let kernel = module.functions.iter().find(|(_, f)| f.name == launch.kernel);
        let Some((func, Some(table))) = kernel.map(|(func, f)| (func, f.kernel.as_ref())) else {
            panic!("kernel {} was found before", launch.kernel);
        };
        let asked = grid::Launch {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            params: params(table, &launch.args, &addresses),
        };
        let limits = Limits { steps: max_steps, ..Limits::default() };
        let mut left = launch.repeat.times;
        while left > 0 {
            left -= 1;
            let mut print = |bytes: &[u8]| printed.extend_from_slice(bytes);
            let ended = grid::launch(module, func, &asked, &mut memory, &limits, &mut print);
            if let Err(fault) = ended {
                crate::console::print_bytes(&printed);
                return Err(report(session, &fault));
            }
            if let Some((buffer, offset)) = launch.repeat.until {
                let word = &memory.bytes(addresses[buffer])[offset as usize..][..4];
                if word == [0; 4] {
                    break;
                }
                if left == 0 {
                    let message = launch.repeat.endless(&launch.kernel);
                    return Err(endless(session, message, launch.until_at));
                }
            }
        }
    }
    Ok(GridRan {
        buffers: addresses.iter().map(|&address| memory.take(address)).collect(),
        printed,
        ..GridRan::default()
    })
}

/// Reports a launch that comes again as often as it may.
pub fn endless(session: &mut Session, message: String, until: Option<Span>) -> Stop {
    let help = "the kernel is to store zero there when nothing is left to do; `repeat` says how often it \
                is launched at most";
    let error = Diagnostic::error(&codes::OUT_OF_CYCLES, message).help(help);
    session.fail(error.at_some(until, "this word"))
}

/// The bytes of a kernel's parameters.
fn params(kernel: &Kernel, args: &[Argument], addresses: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; kernel.params_size() as usize];
    for (param, arg) in kernel.params.iter().zip(args) {
        let at = param.offset as usize..(param.offset + param.size) as usize;
        match arg {
            Argument::Bytes(value) => bytes[at].copy_from_slice(value),
            Argument::Buffer(number, offset) => {
                bytes[at].copy_from_slice(&(addresses[*number] + offset).to_le_bytes());
            }
        }
    }
    bytes
}

fn report(session: &mut Session, fault: &Fault) -> Stop {
    let [bx, by, bz] = fault.block;
    let [tx, ty, tz] = fault.thread;
    let message = format!(
        "kernel `{}`, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): {}",
        fault.kernel, fault.kind
    );
    let help = match *fault.kind {
        FaultKind::OutOfBounds { .. } => {
            "compare the address with where the buffers of the launch file end"
        }
        FaultKind::Misaligned { .. } => "access it in pieces, or at a multiple of its size",
        FaultKind::ReadOnly { .. } => "store to memory that is not `.const` and no parameter",
        FaultKind::StepLimit(_) => limits::MORE_STEPS,
        FaultKind::Deadlock(_) | FaultKind::Synchronization(_) => {
            "let all threads of the block, or all that the mask names, come to the same barrier"
        }
        FaultKind::CallDepth(_) => "use a loop instead of recursion",
        FaultKind::Launch(_) => "launch the kernel as it is declared",
        FaultKind::Trap(_) | FaultKind::Breakpoint | FaultKind::Assertion { .. } => {
            "the program ends itself here: look at the condition that leads to this place"
        }
    };
    let code = match *fault.kind {
        FaultKind::StepLimit(_) => &codes::OUT_OF_CYCLES,
        _ => &codes::TRAP,
    };
    session.fail(Diagnostic::error(code, message).help(help).at_some(fault.span, "here"))
}
