//! What a host sees of a machine: memory, loaded programs, launches.

use std::sync::Arc;

pub use crate::memory::OutOfMemory;
use crate::memory::{AccessError, Memory};
use nbcc_isa_simt::{Kernel, Machine, ObjectSpace, Program};
use nbcc_sim_engine::Progress;

use crate::machine::context::{Context, State};
use crate::machine::fault::Fault;
use crate::machine::launch::Launch;
use crate::machine::parallel::{self, Kept};
use crate::machine::statistics::Counters;
use crate::machine::view::View;

/// A machine with its memory.
#[derive(Debug)]
pub struct Device {
    machine: Machine,
    memory: Memory,
    launches: u64,
    kept: Kept,
}

/// A program that a device has loaded: its variables have addresses.
#[derive(Clone, Debug)]
pub struct Module {
    program: Arc<Program>,
    objects: Vec<u64>,
}

/// What bounds a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Cycles of a core after which it is given up.
    pub max_cycles: u64,
    /// Threads of the host that it may run on; what happens does not depend on them.
    pub threads: usize,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { max_cycles: 1_000_000_000, threads: 1 }
    }
}

/// Why a launch did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The program has no such kernel.
    #[error("there is no kernel `{name}`{}", that_it_has(.known))]
    UnknownKernel {
        /// The name given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A grid without blocks, or with too many.
    #[error("a grid of {} is not possible: each dimension is at least 1, x up to 2147483647, y and z up to 65535", shape(.0))]
    Grid([u32; 3]),
    /// A block without threads, or with too many.
    #[error("a block of {} is not possible: {reason}", shape(.block))]
    Block {
        /// Its threads.
        block: [u32; 3],
        /// Why.
        reason: String,
    },
    /// More shared memory than a core has.
    #[error(
        "{wanted} bytes of shared memory are wanted (static {fixed}, dynamic {dynamic}), but a core has {limit}"
    )]
    Shared {
        /// Both together.
        wanted: u64,
        /// That of the kernel.
        fixed: u32,
        /// That of the launch.
        dynamic: u32,
        /// That of the machine.
        limit: u32,
    },
    /// The parameters have another size.
    #[error("the parameters have {found} bytes, but kernel `{kernel}` takes {expected}")]
    Params {
        /// The kernel.
        kernel: String,
        /// Its bytes.
        expected: u32,
        /// The bytes given.
        found: usize,
    },
    /// The machine is described so that its time cannot be simulated.
    #[error("the machine cannot be simulated: {0}")]
    Machine(String),
    /// The program did what the machine cannot do.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

/// Why a program cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The program is wrong.
    #[error("the program is not valid: {0}")]
    Program(#[from] nbcc_isa::LoadError),
    /// It is for another target.
    #[error("the program is for {compiled}, not for {found}")]
    Target {
        /// That of the program.
        compiled: &'static str,
        /// This one.
        found: &'static str,
    },
    /// It is for another machine.
    #[error("the program was compiled for the machine `{compiled}`, not for `{found}`")]
    Machine {
        /// That of the program.
        compiled: String,
        /// This one.
        found: String,
    },
    /// Its data does not fit.
    #[error("the data of the program: {0}")]
    Memory(#[from] OutOfMemory),
}

fn that_it_has(names: &[String]) -> String {
    if names.is_empty() {
        return ": the program has none".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!(", there is {}", names.join(", "))
}

fn shape([x, y, z]: &[u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}

/// The longest grid along y and z, as CUDA has it.
const MAX_GRID: u32 = 65535;
/// The longest block along z, as CUDA has it.
const MAX_BLOCK_Z: u32 = 64;

impl Module {
    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The address and size of a variable of the program.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let index = self.program.objects.iter().position(|object| object.name == name)?;
        Some((self.objects[index], self.program.objects[index].size))
    }

    fn kernel(&self, name: &str) -> Result<&Kernel, LaunchError> {
        self.program.kernel(name).ok_or_else(|| LaunchError::UnknownKernel {
            name: name.to_owned(),
            known: self.program.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        })
    }
}

impl Device {
    /// A machine whose memory may take `memory_limit` bytes of the host's, and no more than it
    /// has.
    pub fn new(machine: Machine, memory_limit: u64) -> Device {
        let limit = memory_limit.min(machine.limits.memory_bytes);
        Device { memory: Memory::new(limit), machine, launches: 0, kept: Kept::default() }
    }

    /// Bytes that its memory may take of the host's when nothing else is said.
    pub const MEMORY_LIMIT: u64 = 8 << 30;

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Its memory.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Loads a program: places its variables and writes their contents.
    ///
    /// # Errors
    /// It is not valid, for another machine, or too large.
    pub fn load(&mut self, program: Arc<Program>) -> Result<Module, LoadError> {
        program.validate()?;
        let [compiled, found] = [program.machine.isa, self.machine.isa];
        if compiled != found {
            return Err(LoadError::Target { compiled: compiled.title, found: found.title });
        }
        if program.machine != self.machine {
            return Err(LoadError::Machine {
                compiled: program.machine.name.clone(),
                found: self.machine.name.clone(),
            });
        }
        let mut objects = Vec::new();
        for object in &program.objects {
            let address = self.memory.allocate(object.size, object.space == ObjectSpace::Const)?;
            objects.push(address);
        }
        for (object, &address) in program.objects.iter().zip(&objects) {
            let valid = "a valid object lies in its allocation";
            let bytes = self.memory.host_slice(address, object.size).expect(valid);
            bytes[..object.initial.len()].copy_from_slice(&object.initial);
            for relocation in &object.relocations {
                let target = objects[relocation.object as usize] as i64;
                let value = target.wrapping_add(relocation.addend) as u64 >> relocation.shift;
                let place = &mut bytes[relocation.offset as usize..];
                let count = relocation.bytes as usize;
                place[..count].copy_from_slice(&value.to_le_bytes()[..count]);
            }
        }
        Ok(Module { program, objects })
    }

    /// Takes the memory of a program's variables back.
    pub fn unload(&mut self, module: Module) {
        for address in module.objects {
            self.memory.free(address);
        }
    }

    /// Copies to memory.
    ///
    /// # Errors
    /// The place is not in one allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        self.memory.host_slice(address, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    /// Copies from memory.
    ///
    /// # Errors
    /// The place is not in one allocation.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
        bytes.copy_from_slice(self.memory.host_slice(address, bytes.len() as u64)?);
        Ok(())
    }

    /// Runs a kernel to its end. What the program prints is added to `output`, also where it ends
    /// in a fault.
    ///
    /// # Errors
    /// A launch that the machine or the kernel does not allow, and faults of the program.
    pub fn launch(
        &mut self,
        module: &Module,
        launch: &Launch<'_>,
        options: &RunOptions,
        output: &mut Vec<u8>,
    ) -> Result<Counters, LaunchError> {
        self.launch_watched(module, launch, options, output, &mut |_| ())
    }

    /// Runs a kernel as [`Device::launch`] does, and says now and then how far it has come.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch_watched(
        &mut self,
        module: &Module,
        launch: &Launch<'_>,
        options: &RunOptions,
        output: &mut Vec<u8>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Counters, LaunchError> {
        let mut kept = std::mem::take(&mut self.kept);
        let ran = self.launch_by(module, launch, output, |context, state| {
            parallel::run(context, state, options, &mut kept, progress)?;
            let cycles = state.counters.cores.iter().copied().max().unwrap_or(0);
            state.counters.finish(cycles);
            Ok(())
        });
        self.kept = kept;
        ran
    }

    /// Checks a launch and has `run` run it, which may say when what happens. Cycles are for it to
    /// count.
    ///
    /// # Errors
    /// As [`Device::launch`], and the fault that `run` ends in.
    pub fn launch_by(
        &mut self,
        module: &Module,
        launch: &Launch<'_>,
        output: &mut Vec<u8>,
        run: impl FnOnce(&Context<'_>, &mut State<'_>) -> Result<(), Box<Fault>>,
    ) -> Result<Counters, LaunchError> {
        let kernel = module.kernel(launch.kernel)?;
        self.check(kernel, launch)?;
        self.launches += 1;
        let context = Context {
            program: &module.program,
            kernel,
            objects: &module.objects,
            grid: launch.grid,
            block: launch.block,
            params: launch.params,
            dynamic_shared: launch.dynamic_shared,
            number: self.launches,
        };
        let mut counters = Counters::new(&module.program, launch);
        let memory = View::Whole(&mut self.memory);
        let mut state = State { memory, counters: &mut counters, output, near: 0 };
        run(&context, &mut state)?;
        Ok(counters)
    }

    fn check(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<(), LaunchError> {
        let [x, y, z] = launch.grid;
        if x == 0 || y == 0 || z == 0 || x > i32::MAX as u32 || y > MAX_GRID || z > MAX_GRID {
            return Err(LaunchError::Grid(launch.grid));
        }
        let block = launch.block;
        let fail = |reason: String| Err(LaunchError::Block { block, reason });
        let threads = block.iter().fold(1_u64, |n, d| n.saturating_mul(u64::from(*d)));
        let most = self.machine.limits.block_threads;
        if threads == 0 {
            return fail("each dimension is at least 1".into());
        }
        if threads > u64::from(most) {
            return fail(format!("it has {threads} threads, more than the {most} of a core"));
        }
        if block[2] > MAX_BLOCK_Z {
            return fail(format!("z is at most {MAX_BLOCK_Z}"));
        }
        if let Some(required) = kernel.required_block
            && required != block
        {
            return fail(format!(
                "kernel `{}` must be launched with blocks of {}",
                kernel.name,
                shape(&required)
            ));
        }
        if let Some(bound) = kernel.max_block {
            let most = bound.iter().fold(1_u64, |n, d| n.saturating_mul(u64::from(*d)));
            if threads > most {
                return fail(format!("kernel `{}` takes at most {most} threads", kernel.name));
            }
        }
        let wanted = u64::from(kernel.shared_bytes) + u64::from(launch.dynamic_shared);
        let limit = self.machine.limits.shared_bytes;
        if wanted > u64::from(limit) {
            let (fixed, dynamic) = (kernel.shared_bytes, launch.dynamic_shared);
            return Err(LaunchError::Shared { wanted, fixed, dynamic, limit });
        }
        if launch.params.len() != kernel.param_bytes as usize {
            return Err(LaunchError::Params {
                kernel: kernel.name.clone(),
                expected: kernel.param_bytes,
                found: launch.params.len(),
            });
        }
        Ok(())
    }
}
