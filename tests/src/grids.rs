//! Kernels from source to results, by the interpreter and by compiler and simulator.

use nbcc::kinds::grids::{Argument, Contents, GridLaunch, GridRequest, Repeat};
use nbcc::kinds::{RunError, RunOptions};
use nbcc::registry::{self, Runner};
use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_interp::grid::{self, GridMemory, Limits};
use nbcc_ir::Module;
use nbcc_pipeline::{OptLevel, Program};
use nbcc_placement::Remark;

use crate::builds::Build;
use crate::said;

/// A launch of a kernel whose parameters are addresses, and a number behind them if there is one.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// What the buffers hold before.
    pub buffers: Vec<Vec<u8>>,
    /// The last parameter.
    pub scalar: Option<u32>,
}

/// A PTX file that was read.
pub struct Source {
    sources: SourceMap,
    /// What it means.
    pub module: Module,
}

impl Source {
    /// Reads PTX; what is wrong with it otherwise.
    pub fn read(text: &str) -> Result<Source, String> {
        let mut sources = SourceMap::default();
        let id = sources.add(SourceFile::new("kernel.ptx", text));
        let mut diagnostics = Diagnostics::default();
        match nbcc_frontend_ptx::parse(id, sources.get(id), &mut diagnostics) {
            Ok(module) => Ok(Source { sources, module }),
            Err(_) => Err(said(&sources, &diagnostics)),
        }
    }

    /// Compiles for the MPU, verifying after each pass; what is wrong otherwise.
    pub fn compile(&self, level: OptLevel) -> Result<Vec<u8>, String> {
        self.compile_for(&Build::new("mpu", level), &mut vec![])
    }

    /// Compiles for a target; what is wrong otherwise.
    pub fn compile_for(
        &self,
        build: &Build<'_>,
        remarks: &mut Vec<Remark>,
    ) -> Result<Vec<u8>, String> {
        let program = Program::Grids(self.module.clone().into());
        build.compile(&self.sources, program, remarks)
    }

    /// The buffers after a launch on the interpreter, or why it has none.
    pub fn interpret(&self, launch: &Launch, steps: u64) -> Result<Vec<Vec<u8>>, String> {
        let mut memory = GridMemory::new(&self.module).map_err(|kind| kind.to_string())?;
        let mut functions = self.module.functions.iter();
        let kernel = functions.find(|(_, function)| function.name == launch.kernel);
        let (kernel, _) = kernel.ok_or_else(|| format!("there is no {}", launch.kernel))?;
        let addresses: Vec<u64> =
            launch.buffers.iter().map(|buffer| memory.allocate_with(buffer.clone())).collect();
        let mut params: Vec<u8> = addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
        params.extend(launch.scalar.into_iter().flat_map(u32::to_le_bytes));
        let asked = grid::Launch {
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            dynamic_shared_bytes: 0,
            params,
        };
        let limits = Limits { steps, ..Limits::default() };
        grid::launch(&self.module, kernel, &asked, &mut memory, &limits, &mut |_| {})
            .map_err(|fault| fault.to_string())?;
        Ok(addresses.iter().map(|&address| memory.bytes(address).to_vec()).collect())
    }
}

/// The buffers after a launch of a binary on its simulated machine, in time or not, or why it has none.
pub fn simulate(
    binary: &[u8],
    launch: &Launch,
    cycles: u64,
    timed: bool,
) -> Result<Vec<Vec<u8>>, String> {
    let (isa, _) = nbcc_isa::load::identify(binary).map_err(|error| error.to_string())?;
    let runner = match registry::BUILT_IN.by_isa(isa).map(|entry| &entry.runner) {
        Some(Runner::Grids(runner)) => runner,
        _ => return Err("there is no target that runs kernels".into()),
    };
    let buffers = (0..launch.buffers.len()).map(|number| Argument::Buffer(number, 0));
    let scalar = launch.scalar.map(|scalar| Argument::Bytes(scalar.to_le_bytes().to_vec()));
    let request = GridRequest {
        symbols: vec![],
        buffers: launch.buffers.iter().cloned().map(Contents::Bytes).collect(),
        launches: vec![GridLaunch {
            kernel: launch.kernel.clone(),
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            dynamic_shared_bytes: 0,
            args: buffers.chain(scalar).collect(),
            repeat: Repeat { times: 1, until: None },
            at: None,
            until_at: None,
        }],
        options: RunOptions {
            fast: !timed,
            max_cycles: Some(cycles),
            trace: false,
            threads: 1,
            progress: &mut |_| {},
        },
    };
    let ran = (runner.launch)(binary, request);
    match ran.failure {
        None => Ok(ran.buffers),
        Some(RunError::Binary(error)) => Err(error.to_string()),
        Some(
            RunError::Refused(why)
            | RunError::Memory(why)
            | RunError::Launch(why, _)
            | RunError::Endless(why, _)
            | RunError::OutOfCycles(why, _)
            | RunError::Fault(why, _),
        ) => Err(why),
        Some(RunError::Trap(trap, _)) => Err(format!("{trap:?}")),
        Some(RunError::Symbol(name, size)) => Err(format!("`{name}`, of {size:?} bytes")),
    }
}
