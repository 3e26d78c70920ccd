//! Programs from assembly, and a device that runs them.

use std::sync::Arc;

use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::asm::assemble;
use nbcc_isa_simt::{Kernel, ObjectSpace, Program};
use nbcc_sim_simt::{Counters, Device, Launch, LaunchError, Module, RunOptions};

/// A program of one kernel `test` with 32 bytes of parameters. Its variable 0 is `table`, constant
/// data with 64 bytes 0, 1, ...; a `.loc` of file 1 is one of `test.cu`.
pub fn program(text: &str) -> Program {
    let text = format!(".isa mpu 1\n.machine mpu\n.section .text\n.file 1 \"test.cu\"\n{text}\n");
    // The variable has to be there when `addr` is checked.
    let objects = concat!(
        ".section .data 0x100000000\n    .word 0x03020100, 0x07060504\n",
        ".section .nbcc.objects\n    .ascii \"[{\\\"name\\\":\\\"table\\\",\\\"space\\\":\\\"const\\\",",
        "\\\"align\\\":4,\\\"size\\\":64,\\\"at\\\":0,\\\"initial\\\":8}]\"\n",
        ".section .nbcc.messages\n    .ascii \"[\\\"no way\\\"]\"\n"
    );
    let mut program =
        assemble(&ISA, &(text + objects)).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(program.objects[0].space, ObjectSpace::Const);
    program.kernels = vec![Kernel {
        name: "test".into(),
        entry: 0,
        instructions: program.code.text.len() as u32,
        registers: 64,
        shared_bytes: 1024,
        local_bytes: 64,
        param_bytes: 32,
        ..Kernel::default()
    }];
    program
}

/// A device with a program, and a buffer whose address is the first parameter.
pub struct Bench {
    pub device: Device,
    pub module: Module,
    pub buffer: u64,
    pub output: Vec<u8>,
    pub max_cycles: u64,
    pub threads: usize,
    /// How often the last launch said how far it is.
    pub reports: u64,
}

impl Bench {
    pub fn new(text: &str) -> Bench {
        Bench::with(program(text), 4096)
    }

    pub fn with(program: Program, bytes: u64) -> Bench {
        let mut device = Device::new(ISA.built_in("mpu"), 1 << 24);
        let module = device.load(Arc::new(program)).unwrap();
        let buffer = device.memory().allocate(bytes, false).unwrap();
        Bench {
            device,
            module,
            buffer,
            output: Vec::new(),
            max_cycles: 1_000_000,
            threads: 1,
            reports: 0,
        }
    }

    pub fn launch(&mut self, grid: u32, block: u32) -> Result<Counters, LaunchError> {
        let mut params = [0; 32];
        params[..8].copy_from_slice(&self.buffer.to_le_bytes());
        let launch = Launch {
            kernel: "test",
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared: 0,
            params: &params,
        };
        let options = RunOptions { max_cycles: self.max_cycles, threads: self.threads };
        self.reports = 0;
        let reports = &mut self.reports;
        let mut count = |_| *reports += 1;
        let output = &mut self.output;
        self.device.launch_watched(&self.module, &launch, &options, output, &mut count)
    }

    pub fn run(&mut self, grid: u32, block: u32) -> Counters {
        self.launch(grid, block).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn words(&mut self, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.device.read(self.buffer, &mut bytes).unwrap();
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// The message of the fault that a launch ends in.
    pub fn fault(&mut self, grid: u32, block: u32) -> String {
        match self.launch(grid, block) {
            Err(LaunchError::Fault(fault)) => fault.to_string(),
            other => panic!("no fault, but {other:?}"),
        }
    }
}

/// The place of each thread in the buffer, in D2; its number in R0.
pub const PLACE: &str = "
    sreg.tid_x R0
    sreg.ctaid_x R1
    sreg.ntid_x R4
    int3.mad R0, R1, R4, R0
    ld64.param.weak D2, [0x0], 0
    mad_wide.u D2, R0, 4, D2
";

/// Instructions with the place in D2 before them, and a store of R10 behind.
pub fn stored(text: &str) -> String {
    format!("{PLACE}\n{text}\n    st.global.b32.weak [D2], 0, R10\n    exit\n")
}
