//! The runtime of a machine with kernels, as Listing 1 of the MPU paper shows it and as users of
//! CUDA expect it: memory on the device, copies, launches by name, events with statistics.
//!
//! ```text
//! let mut device = Device::new(&program.machine);
//! let module = device.load(program)?;
//! let x = device.upload(&host_x)?;
//! let y = device.alloc(4 * n)?;
//! let event = device.launch(&module, "scale", Config::linear(blocks, 256), &[
//!     Arg::Pointer(x), Arg::Pointer(y), Arg::F32(2.5), Arg::I32(n),
//! ])?;
//! let result: Vec<f32> = device.download(y, n)?;
//! ```

use std::sync::Arc;

use nbcc_isa_simt::{Kernel, Machine, ParamType, Program};
use nbcc_sim_engine::{Progress, Statistics};
use nbcc_sim_simt::machine::device::Device as Simulated;
pub use nbcc_sim_simt::machine::device::OutOfMemory;
pub use nbcc_sim_simt::machine::fault::{Fault, FaultKind};
pub use nbcc_sim_simt::{Counters, LaunchError, LoadError, Module, RunOptions};

use crate::timing::{self, Ran};

/// An address in the memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevicePointer(pub u64);

impl DevicePointer {
    /// The address so many bytes further.
    pub fn offset(self, bytes: u64) -> DevicePointer {
        DevicePointer(self.0.wrapping_add(bytes))
    }
}

/// A number that can be copied to a device.
pub trait Element: Copy {
    /// Bytes of one.
    const BYTES: usize;
    /// Adds its bytes, little endian.
    fn put(self, out: &mut Vec<u8>);
    /// Reads it from [`Element::BYTES`] bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($ty:ty),+) => { $(
        impl Element for $ty {
            const BYTES: usize = size_of::<$ty>();
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                <$ty>::from_le_bytes(bytes.try_into().expect("bytes of one element"))
            }
        }
    )+ };
}

element!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// 8 bits, unsigned.
    U8(u8),
    /// 16 bits, unsigned.
    U16(u16),
    /// 32 bits, unsigned.
    U32(u32),
    /// 64 bits, unsigned.
    U64(u64),
    /// 8 bits, signed.
    I8(i8),
    /// 16 bits, signed.
    I16(i16),
    /// 32 bits, signed.
    I32(i32),
    /// 64 bits, signed.
    I64(i64),
    /// IEEE binary16, by its bits.
    F16(u16),
    /// IEEE binary32.
    F32(f32),
    /// IEEE binary64.
    F64(f64),
    /// An address on the device.
    Pointer(DevicePointer),
    /// Bytes as they are: a structure, or any parameter of that size.
    Bytes(Vec<u8>),
}

impl Arg {
    fn name(&self) -> &'static str {
        match self {
            Arg::U8(_) => "u8",
            Arg::U16(_) => "u16",
            Arg::U32(_) => "u32",
            Arg::U64(_) => "u64",
            Arg::I8(_) => "i8",
            Arg::I16(_) => "i16",
            Arg::I32(_) => "i32",
            Arg::I64(_) => "i64",
            Arg::F16(_) => "f16",
            Arg::F32(_) => "f32",
            Arg::F64(_) => "f64",
            Arg::Pointer(_) => "a pointer",
            Arg::Bytes(_) => "bytes",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::U8(x) => x.to_le_bytes().to_vec(),
            Arg::U16(x) | Arg::F16(x) => x.to_le_bytes().to_vec(),
            Arg::U32(x) => x.to_le_bytes().to_vec(),
            Arg::U64(x) | Arg::Pointer(DevicePointer(x)) => x.to_le_bytes().to_vec(),
            Arg::I8(x) => x.to_le_bytes().to_vec(),
            Arg::I16(x) => x.to_le_bytes().to_vec(),
            Arg::I32(x) => x.to_le_bytes().to_vec(),
            Arg::I64(x) => x.to_le_bytes().to_vec(),
            Arg::F32(x) => x.to_le_bytes().to_vec(),
            Arg::F64(x) => x.to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.clone(),
        }
    }

    /// Whether it can be a parameter of that type and size. Signs are not told apart: compilers
    /// write them into PTX or not.
    fn fits(&self, ty: ParamType, size: u32) -> bool {
        use ParamType::*;
        match self {
            Arg::Bytes(bytes) => bytes.len() == size as usize,
            Arg::U8(_) | Arg::I8(_) => matches!(ty, U8 | S8 | B8),
            Arg::U16(_) | Arg::I16(_) => matches!(ty, U16 | S16 | B16),
            Arg::U32(_) | Arg::I32(_) => matches!(ty, U32 | S32 | B32),
            Arg::U64(_) | Arg::I64(_) | Arg::Pointer(_) => matches!(ty, U64 | S64 | B64),
            Arg::F16(_) => matches!(ty, F16 | B16),
            Arg::F32(_) => matches!(ty, F32 | B32),
            Arg::F64(_) => matches!(ty, F64 | B64),
        }
    }
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Blocks of the grid along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
}

impl Config {
    /// A row of blocks, each a row of threads.
    pub fn linear(blocks: u32, threads: u32) -> Config {
        Config { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamic_shared: 0 }
    }
}

/// A launch that has ended.
#[derive(Debug)]
pub struct Event {
    /// What was measured.
    pub statistics: Statistics,
    /// Cycles: see docs/fidelity.md for what they are.
    pub cycles: u64,
    /// Warp instructions.
    pub instructions: u64,
    /// What the kernel printed: bytes, since nothing makes them text.
    pub output: Vec<u8>,
    /// What is known of it besides.
    pub ran: Ran,
}

/// Why a call of the runtime failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The program cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is not so much memory.
    #[error("allocating {bytes} bytes: only {free} are free")]
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
        /// Bytes that are left.
        free: u64,
    },
    /// The host has not so much memory.
    #[error("allocating {bytes} bytes: the host has no memory for them")]
    HostMemory {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// The address is not that of an allocation.
    #[error("{0:#x} is not the address of an allocation")]
    NotAllocated(u64),
    /// A copy reaches beyond its buffer.
    #[error("{what} of {bytes} bytes at {address:#x}: {reason}")]
    Copy {
        /// `copy to the device`, `copy from the device` or `memset`.
        what: &'static str,
        /// The address.
        address: u64,
        /// The bytes.
        bytes: u64,
        /// Why.
        reason: String,
    },
    /// Another number of arguments than the kernel has parameters.
    #[error("kernel `{kernel}` takes {expected} arguments{}, but {found} are given", listed(.params))]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Its parameters.
        expected: usize,
        /// The arguments given.
        found: usize,
        /// The types of the parameters.
        params: Vec<String>,
    },
    /// An argument of another type than its parameter.
    #[error(
        "argument {index} of kernel `{kernel}` is {found}, but parameter `{name}` is {expected}"
    )]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// The number of the argument, from 0.
        index: usize,
        /// The parameter.
        name: String,
        /// Its type.
        expected: String,
        /// That of the argument.
        found: String,
    },
    /// The launch is not possible, or the kernel ended in a fault.
    #[error("{error}")]
    Launch {
        /// Why.
        error: LaunchError,
        /// What the kernel printed before.
        output: Vec<u8>,
    },
    /// The program has no variable of that name.
    #[error("the program has no variable `{0}`")]
    UnknownSymbol(String),
}

impl From<OutOfMemory> for DeviceError {
    fn from(error: OutOfMemory) -> DeviceError {
        match error {
            OutOfMemory::Machine { wanted, free, .. } => {
                DeviceError::OutOfMemory { bytes: wanted, free }
            }
            OutOfMemory::Host { wanted } => DeviceError::HostMemory { bytes: wanted },
        }
    }
}

fn listed(params: &[String]) -> String {
    if params.is_empty() { String::new() } else { format!(" ({})", params.join(", ")) }
}

/// A device with its memory.
#[derive(Debug)]
pub struct Device {
    simulated: Simulated,
    /// What bounds launches.
    pub options: RunOptions,
    /// Whether time is simulated, where the machine has a model of it: by default not.
    pub timed: bool,
    /// What the model of time keeps from launch to launch.
    pub session: timing::Session,
}

impl Device {
    /// A machine that takes no more than [`Simulated::MEMORY_LIMIT`] bytes of the host's memory.
    pub fn new(machine: &Machine) -> Device {
        Device::with_memory(machine, Simulated::MEMORY_LIMIT)
    }

    /// A machine that takes no more than `limit` bytes of the host's memory.
    pub fn with_memory(machine: &Machine, limit: u64) -> Device {
        Device {
            simulated: Simulated::new(machine.clone(), limit),
            options: RunOptions::default(),
            timed: false,
            session: timing::Session::default(),
        }
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        self.simulated.machine()
    }

    /// Loads a program.
    ///
    /// # Errors
    /// It is not valid, for another machine, or its data does not fit.
    pub fn load(&mut self, program: impl Into<Arc<Program>>) -> Result<Module, DeviceError> {
        Ok(self.simulated.load(program.into())?)
    }

    /// Loads a `.nbx` file.
    ///
    /// # Errors
    /// What is wrong with the file, and as [`Device::load`].
    pub fn load_elf(&mut self, file: &[u8]) -> Result<Module, DeviceError> {
        let program = Program::from_elf(self.machine().isa, file).map_err(LoadError::from)?;
        self.load(program)
    }

    /// Allocates zeroed memory.
    ///
    /// # Errors
    /// There is not so much left.
    pub fn alloc(&mut self, bytes: u64) -> Result<DevicePointer, DeviceError> {
        let allocated = self.simulated.memory().allocate(bytes, false);
        allocated.map(DevicePointer).map_err(DeviceError::from)
    }

    /// Allocates memory that holds these bytes, without a copy of them.
    ///
    /// # Errors
    /// There is not so much left.
    pub fn adopt(&mut self, bytes: Vec<u8>) -> Result<DevicePointer, DeviceError> {
        let allocated = self.simulated.memory().adopt(bytes);
        allocated.map(DevicePointer).map_err(DeviceError::from)
    }

    /// Frees an allocation and gives its contents, without a copy of them.
    ///
    /// # Errors
    /// It is none.
    pub fn take(&mut self, pointer: DevicePointer) -> Result<Vec<u8>, DeviceError> {
        let found = self.simulated.memory().take(pointer.0);
        found.ok_or(DeviceError::NotAllocated(pointer.0))
    }

    /// Frees an allocation.
    ///
    /// # Errors
    /// It is none.
    pub fn free(&mut self, pointer: DevicePointer) -> Result<(), DeviceError> {
        if self.simulated.memory().free(pointer.0) {
            return Ok(());
        }
        Err(DeviceError::NotAllocated(pointer.0))
    }

    fn copy_error(&mut self, what: &'static str, address: u64, bytes: u64) -> DeviceError {
        let reason = match self.simulated.memory().allocation_of(address) {
            Some((base, size)) => {
                format!("the buffer has {size} bytes, {} from there", size - (address - base))
            }
            None => "there is no buffer".to_owned(),
        };
        DeviceError::Copy { what, address, bytes, reason }
    }

    /// Copies bytes to the device.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn copy_to(&mut self, to: DevicePointer, bytes: &[u8]) -> Result<(), DeviceError> {
        self.simulated
            .write(to.0, bytes)
            .map_err(|_| self.copy_error("copy to the device", to.0, bytes.len() as u64))
    }

    /// Copies bytes from the device.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn copy_from(&mut self, from: DevicePointer, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.simulated
            .read(from.0, bytes)
            .map_err(|_| self.copy_error("copy from the device", from.0, bytes.len() as u64))
    }

    /// Sets bytes on the device.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn memset(&mut self, at: DevicePointer, value: u8, bytes: u64) -> Result<(), DeviceError> {
        match self.simulated.memory().host_slice(at.0, bytes) {
            Ok(slice) => {
                slice.fill(value);
                Ok(())
            }
            Err(_) => Err(self.copy_error("memset", at.0, bytes)),
        }
    }

    /// Allocates memory for numbers and copies them there.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn upload<T: Element>(&mut self, values: &[T]) -> Result<DevicePointer, DeviceError> {
        let mut bytes = Vec::with_capacity(values.len() * T::BYTES);
        values.iter().for_each(|value| value.put(&mut bytes));
        let pointer = self.alloc(bytes.len() as u64)?;
        self.copy_to(pointer, &bytes)?;
        Ok(pointer)
    }

    /// Copies numbers from the device.
    ///
    /// # Errors
    /// As [`Device::copy_from`].
    pub fn download<T: Element>(
        &mut self,
        from: DevicePointer,
        count: usize,
    ) -> Result<Vec<T>, DeviceError> {
        let bytes = (count as u64).saturating_mul(T::BYTES as u64);
        match self.simulated.memory().host_slice(from.0, bytes) {
            Ok(slice) => Ok(slice.chunks_exact(T::BYTES).map(T::get).collect()),
            Err(_) => Err(self.copy_error("copy from the device", from.0, bytes)),
        }
    }

    /// The address and size of a variable of a program.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn symbol(&self, module: &Module, name: &str) -> Result<(DevicePointer, u64), DeviceError> {
        let (address, size) =
            module.symbol(name).ok_or_else(|| DeviceError::UnknownSymbol(name.to_owned()))?;
        Ok((DevicePointer(address), size))
    }

    /// Launches a kernel and waits for its end.
    ///
    /// # Errors
    /// No such kernel, arguments that are not its parameters, a grid or block that is not
    /// possible, or a fault of the kernel.
    pub fn launch(
        &mut self,
        module: &Module,
        kernel: &str,
        config: Config,
        args: &[Arg],
    ) -> Result<Event, DeviceError> {
        self.launch_watched(module, kernel, config, args, &mut |_| ())
    }

    /// Launches a kernel as [`Device::launch`] does, and says now and then how far it has come.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch_watched(
        &mut self,
        module: &Module,
        kernel: &str,
        config: Config,
        args: &[Arg],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Event, DeviceError> {
        // A kernel that is not there is reported by the launch.
        let params = match module.program().kernel(kernel) {
            Some(found) => parameters(found, args)?,
            None => Vec::new(),
        };
        let launch = nbcc_sim_simt::Launch {
            kernel,
            grid: config.grid,
            block: config.block,
            dynamic_shared: config.dynamic_shared,
            params: &params,
        };
        let mut output = Vec::new();
        let (options, simulated) = (&self.options, &mut self.simulated);
        let out = &mut output;
        let ran = if self.timed && timing::has_timing(simulated.machine().isa) {
            let session = &mut self.session;
            timing::launch(simulated, module, &launch, options, session, out, progress)
        } else {
            let ran = simulated.launch_watched(module, &launch, options, out, progress);
            ran.map(|counters| Ran { counters, timed: None, trace: None })
        };
        match ran {
            Ok(ran) => Ok(Event {
                statistics: ran.statistics(module.program()),
                cycles: ran.counters.cycles,
                instructions: ran.counters.instructions(),
                output,
                ran,
            }),
            Err(error) => Err(DeviceError::Launch { error, output }),
        }
    }
}

/// The parameters of a kernel as they lie in memory.
fn parameters(kernel: &Kernel, args: &[Arg]) -> Result<Vec<u8>, DeviceError> {
    let describe = |ty: ParamType, size: u32| match ty {
        ParamType::Bytes => format!("a structure of {size} bytes"),
        scalar => scalar.name().to_owned(),
    };
    if args.len() != kernel.params.len() {
        return Err(DeviceError::ArgumentCount {
            kernel: kernel.name.clone(),
            expected: kernel.params.len(),
            found: args.len(),
            params: kernel.params.iter().map(|p| describe(p.ty, p.size)).collect(),
        });
    }
    let mut out = vec![0; kernel.param_bytes as usize];
    for (index, (arg, param)) in args.iter().zip(&kernel.params).enumerate() {
        if !arg.fits(param.ty, param.size) {
            let found = match arg {
                Arg::Bytes(bytes) => format!("{} bytes", bytes.len()),
                other => other.name().to_owned(),
            };
            return Err(DeviceError::ArgumentType {
                kernel: kernel.name.clone(),
                index,
                name: param.name.clone(),
                expected: describe(param.ty, param.size),
                found,
            });
        }
        let bytes = arg.bytes();
        out[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    Ok(out)
}
