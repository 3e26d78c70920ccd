//! What runs kernels on the machine of any SIMT target.

use nbcc_host::device::{
    Arg, Config, Device, DeviceError, DevicePointer, FaultKind, LaunchError, LoadError,
    OutOfMemory, RunOptions,
};
use nbcc_host::timing::{Ran, Session};
use nbcc_isa_simt::{Isa, Program};

use crate::kinds::grids::{
    Argument, Contents, GridLaunch, GridProgram, GridRan, GridRequest, KernelParam, KernelSpec,
};
use crate::kinds::{Measured, Place, RunError};

/// Events that a timeline keeps.
const TRACE_EVENTS: usize = 2_000_000;

/// What a binary of that instruction set says of itself.
pub fn describe(isa: &'static Isa, binary: &[u8]) -> Result<GridProgram, nbcc_isa::LoadError> {
    let program = Program::from_elf(isa, binary)?;
    let kernels = program.kernels.iter().map(|kernel| KernelSpec {
        name: kernel.name.clone(),
        params: kernel
            .params
            .iter()
            .map(|param| KernelParam {
                name: param.name.clone(),
                bytes: param.size,
                type_name: param.ty.name().to_string(),
            })
            .collect(),
    });
    Ok(GridProgram { machine: program.machine.name.clone(), kernels: kernels.collect() })
}

/// Launches kernels of a binary of that instruction set.
pub fn launch(isa: &'static Isa, binary: &[u8], request: GridRequest<'_>) -> GridRan {
    launch_in(isa, binary, request, &mut Session::default())
}

/// Launches them with what is known from elsewhere of the program in time; what is known of it then is
/// left in `session`.
pub fn launch_in(
    isa: &'static Isa,
    binary: &[u8],
    request: GridRequest<'_>,
    session: &mut Session,
) -> GridRan {
    let mut ran = GridRan::default();
    ran.failure = run(isa, binary, request, session, &mut ran).err();
    ran
}

fn run(
    isa: &'static Isa,
    binary: &[u8],
    request: GridRequest<'_>,
    session: &mut Session,
    ran: &mut GridRan,
) -> Result<(), RunError> {
    let program = Program::from_elf(isa, binary).map_err(RunError::Binary)?;
    let mut device = Device::new(&program.machine);
    device.timed = !request.options.fast;
    device.session = std::mem::take(session);
    device.session.trace_events = request.options.trace.then_some(TRACE_EVENTS);
    let module = device.load(program).map_err(error)?;
    for (name, bytes) in &request.symbols {
        let found = device.symbol(&module, name);
        let (pointer, size) = found.map_err(|_| RunError::Symbol(name.clone(), None))?;
        if bytes.len() as u64 > size {
            return Err(RunError::Symbol(name.clone(), Some(size)));
        }
        device.copy_to(pointer, bytes).map_err(error)?;
    }
    let mut pointers = Vec::new();
    for contents in request.buffers {
        let pointer = match contents {
            Contents::Zeros(size) => device.alloc(size),
            Contents::Bytes(bytes) => device.adopt(bytes),
        };
        pointers.push(pointer.map_err(error)?);
    }
    let mut total: Option<Ran> = None;
    let mut left = request.options.cycles();
    let mut launches = request.launches.iter();
    let mut again: Option<(&GridLaunch, u32)> = None;
    while let Some((asked, times)) =
        again.take().or_else(|| launches.next().map(|asked| (asked, asked.repeat.times)))
    {
        device.options = RunOptions { max_cycles: left, threads: request.options.threads };
        let config = Config {
            grid: asked.grid,
            block: asked.block,
            dynamic_shared: asked.dynamic_shared_bytes,
        };
        let args: Vec<Arg> = asked.args.iter().map(|arg| argument(arg, &pointers)).collect();
        let progress = &mut *request.options.progress;
        let event = match device.launch_watched(&module, &asked.kernel, config, &args, progress) {
            Ok(event) => event,
            Err(failure) => {
                if let DeviceError::Launch { output, .. } = &failure {
                    ran.printed.extend_from_slice(output);
                }
                return Err(failed(failure, module.program(), asked));
            }
        };
        ran.printed.extend_from_slice(&event.output);
        left = left.saturating_sub(event.cycles);
        match &mut total {
            Some(total) => total.add(&event.ran),
            None => total = Some(event.ran),
        }
        again = Some((asked, times - 1)).filter(|&(_, times)| times > 0);
        if let Some((buffer, offset)) = asked.repeat.until {
            let mut word = [0; 4];
            let at = DevicePointer(pointers[buffer].0 + offset);
            device.copy_from(at, &mut word).map_err(error)?;
            if word == [0; 4] {
                again = None;
            } else if again.is_none() {
                let message = asked.repeat.endless(&asked.kernel);
                return Err(RunError::Endless(message, asked.until_at));
            }
        }
    }
    *session = std::mem::take(&mut device.session);
    for pointer in pointers {
        ran.buffers.push(device.take(pointer).map_err(error)?);
    }
    if let Some(total) = total {
        let statistics = || total.statistics(module.program());
        ran.measured = Measured {
            instructions: total.counters.instructions(),
            statistics: (!request.options.fast).then(statistics),
            profile: total.profile(module.program()),
            cycle_ns: total.cycle_ns(),
            trace: total.trace,
        };
    }
    Ok(())
}

/// An argument for the runtime. Launch files are checked against the kernels before; an address
/// may also be the contents of a structure, so it goes as bytes.
fn argument(asked: &Argument, pointers: &[DevicePointer]) -> Arg {
    Arg::Bytes(match asked {
        Argument::Bytes(bytes) => bytes.clone(),
        Argument::Buffer(number, offset) => (pointers[*number].0 + offset).to_le_bytes().to_vec(),
    })
}

/// Why a launch of a program's kernel came to no end.
fn failed(failure: DeviceError, program: &Program, asked: &GridLaunch) -> RunError {
    let text = failure.to_string();
    let fault = match failure {
        DeviceError::Launch { error: LaunchError::Fault(fault), .. } => fault,
        DeviceError::Launch { .. } => return RunError::Launch(text, asked.at),
        _ => return error(failure),
    };
    let place = program.code.lines.line(fault.instruction as usize).map(Place::of);
    match fault.kind {
        FaultKind::CycleLimit(_) => RunError::OutOfCycles(text, place),
        _ => RunError::Fault(text, place),
    }
}

fn error(error: DeviceError) -> RunError {
    let text = error.to_string();
    match error {
        DeviceError::HostMemory { .. } => RunError::Memory(text),
        DeviceError::Load(LoadError::Memory(OutOfMemory::Host { .. })) => RunError::Memory(text),
        _ => RunError::Refused(text),
    }
}
