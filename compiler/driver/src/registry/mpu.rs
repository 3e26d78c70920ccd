//! MPU: programs of kernels, and the simulated machine that runs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use nbcc_isa::LoadError;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_isa_mpu::{Kernel, Machine, Program, asm, program};
use nbcc_sim_mpu::{Counters, Device, FaultKind, Launch, LaunchError, Module, RunOptions};

use super::{GridRunner, Runner, TargetEntry};
use crate::simulate::{
    Argument, DescribedGrids, GridRan, GridRequest, KernelParam, KernelSpec, ProfileLine, RunError,
};

/// MPU with its tools.
pub const ENTRY: TargetEntry = TargetEntry {
    target: &nbcc_target_mpu::MPU,
    machine,
    isa: program::ISA,
    assembly: asm::NAME,
    disassemble: asm::disassemble_elf,
    assemble: asm::assemble_elf,
    runner: Runner::Grids(GridRunner { describe, launch }),
};

fn machine(text: &str, overrides: &[Override]) -> Result<Vec<Entry>, MachineError> {
    Ok(Machine::from_toml(text, overrides)?.list(text))
}

fn describe(binary: &[u8]) -> Result<DescribedGrids, LoadError> {
    let program = Program::from_elf(binary)?;
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
    Ok(DescribedGrids { machine: program.machine.name.clone(), kernels: kernels.collect() })
}

fn launch(binary: &[u8], request: GridRequest<'_>) -> GridRan {
    let mut ran = GridRan::default();
    ran.failure = run(binary, request, &mut ran).err();
    ran
}

fn refused(error: impl ToString) -> RunError {
    RunError::Refused(error.to_string())
}

fn run(binary: &[u8], request: GridRequest<'_>, ran: &mut GridRan) -> Result<(), RunError> {
    let program = Arc::new(Program::from_elf(binary).map_err(RunError::Binary)?);
    let mut device = Device::new(program.machine.clone(), Device::MEMORY_LIMIT);
    let module = device.load(Arc::clone(&program)).map_err(refused)?;
    for (name, bytes) in &request.symbols {
        let Some((address, size)) = module.symbol(name) else {
            return Err(RunError::Refused(format!("the program has no variable `{name}`")));
        };
        if bytes.len() as u64 > size {
            let given = bytes.len();
            let message = format!("{given} bytes are given for `{name}`, which has {size}");
            return Err(RunError::Refused(message));
        }
        device.write(address, bytes).map_err(refused)?;
    }
    let mut addresses = Vec::new();
    for bytes in &request.buffers {
        let address = device.memory().allocate(bytes.len() as u64, false).map_err(refused)?;
        device.write(address, bytes).map_err(refused)?;
        addresses.push(address);
    }
    let mut total: Option<Counters> = None;
    let mut left = request.max_cycles.unwrap_or(RunOptions::default().max_cycles);
    for asked in &request.launches {
        let Some(kernel) = program.kernel(&asked.kernel) else {
            return Err(RunError::Refused(format!("there is no kernel `{}`", asked.kernel)));
        };
        let launch = Launch {
            kernel: &asked.kernel,
            grid: asked.grid,
            block: asked.block,
            dynamic_shared: asked.dynamic_shared_bytes,
            params: &params(kernel, &asked.args, &addresses),
        };
        let options = RunOptions { max_cycles: left };
        let counters =
            device.launch(&module, &launch, &options, &mut ran.printed).map_err(error)?;
        left = left.saturating_sub(counters.cycles);
        match &mut total {
            Some(total) => total.add(&counters),
            None => total = Some(counters),
        }
    }
    for (bytes, address) in request.buffers.iter().zip(addresses) {
        let mut read = vec![0; bytes.len()];
        device.read(address, &mut read).map_err(refused)?;
        ran.buffers.push(read);
    }
    if let Some(total) = total {
        ran.instructions = total.instructions();
        ran.profile = profile(&module, &total);
        ran.statistics = (!request.fast).then(|| total.statistics(&program));
    }
    Ok(())
}

/// The bytes of a kernel's parameters.
fn params(kernel: &Kernel, args: &[Argument], addresses: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; kernel.param_bytes as usize];
    for (param, arg) in kernel.params.iter().zip(args) {
        let at = &mut bytes[param.offset as usize..][..param.size as usize];
        match arg {
            Argument::Bytes(value) => at.copy_from_slice(value),
            Argument::Buffer(number) => at.copy_from_slice(&addresses[*number].to_le_bytes()),
        }
    }
    bytes
}

fn error(error: LaunchError) -> RunError {
    match error {
        LaunchError::Fault(fault) => match fault.kind {
            FaultKind::CycleLimit(_) => RunError::OutOfCycles(fault.to_string()),
            _ => RunError::Fault(fault.to_string()),
        },
        other => RunError::Refused(other.to_string()),
    }
}

/// Instructions issued of each source line.
fn profile(module: &Module, counters: &Counters) -> Vec<ProfileLine> {
    let mut lines: BTreeMap<Option<(String, u32)>, u64> = BTreeMap::new();
    let program = module.program();
    for (index, issued) in counters.issued.iter().enumerate() {
        let row = program.lines.rows.get(index).copied().flatten();
        let place = row.map(|row| (program.lines.files[row.file as usize].clone(), row.line));
        *lines.entry(place).or_default() += issued;
    }
    let line = |(place, instructions)| ProfileLine {
        place,
        instructions,
        issue_cycles: instructions,
        stall_cycles: 0,
    };
    lines.into_iter().map(line).collect()
}
