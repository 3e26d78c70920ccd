//! Kernels from assembly on machines with changed parameters, launched in time.

use std::sync::Arc;

use nbcc_isa::machine::Override;
use nbcc_isa_simt::asm::assemble;
use nbcc_isa_simt::{Kernel, Program};
use nbcc_isa_tom::{ISA, Machine};
use nbcc_sim_engine::Statistics;
use nbcc_sim_simt::{Device, Launch, LaunchError, Module, RunOptions};
use nbcc_sim_tom::{Session, Timing, collect, launch};

/// A program of one kernel `test` with 32 bytes of parameters.
pub fn program(machine: &str, changes: &[(&str, &str)], text: &str) -> Program {
    let text = format!(
        ".isa tom 1\n.machine {machine}\n.section .text\n.file 1 \"test.cu\"\n{text}\n\
         .section .nbcc.messages\n    .ascii \"[]\"\n"
    );
    let mut program = assemble(&ISA, &text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let changes: Vec<Override> = changes
        .iter()
        .map(|(key, value)| Override { key: (*key).into(), value: (*value).into() })
        .collect();
    let toml = Machine::built_in_text(machine).expect("a machine");
    program.machine = Machine::from_toml(toml, &changes).unwrap().as_simt();
    program.kernels = vec![Kernel {
        name: "test".into(),
        entry: 0,
        instructions: program.code.text.len() as u32,
        registers: 32,
        shared_bytes: 16384,
        local_bytes: 64,
        param_bytes: 32,
        ..Kernel::default()
    }];
    program
}

/// A device with a program and a buffer, whose address is the first parameter.
pub struct Bench {
    pub device: Device,
    pub module: Module,
    pub buffer: u64,
    pub max_cycles: u64,
    pub threads: usize,
    pub session: Session,
}

impl Bench {
    /// A kernel on the baseline, whose banks are never refreshed.
    pub fn new(text: &str) -> Bench {
        Bench::with("tom-baseline", &[("dram.refresh", "false")], text)
    }

    pub fn with(machine: &str, changes: &[(&str, &str)], text: &str) -> Bench {
        let program = program(machine, changes, text);
        let mut device = Device::new(program.machine.clone(), 1 << 26);
        let module = device.load(Arc::new(program)).unwrap();
        let buffer = device.memory().allocate(1 << 22, false).unwrap();
        let session = Session::default();
        Bench { device, module, buffer, max_cycles: 10_000_000, threads: 1, session }
    }

    pub fn launch(&mut self, grid: u32, block: u32) -> Result<Timing, LaunchError> {
        let mut params = [0; 32];
        params[..8].copy_from_slice(&self.buffer.to_le_bytes());
        let asked = Launch {
            kernel: "test",
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared: 0,
            params: &params,
        };
        let (max_cycles, threads) = (self.max_cycles, self.threads);
        let options = RunOptions { max_cycles, threads };
        let (module, device) = (&self.module, &mut self.device);
        launch(device, module, &asked, &options, &mut self.session, &mut Vec::new(), &mut |_| ())
    }

    pub fn run(&mut self, grid: u32, block: u32) -> Timing {
        self.launch(grid, block).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn cycles(&mut self, grid: u32, block: u32) -> u64 {
        self.run(grid, block).measures.cycles
    }

    pub fn statistics(&self, timing: &Timing) -> Statistics {
        let program = self.module.program();
        let machine = Machine::from_toml(&program.machine.toml, &[]).unwrap();
        collect(&machine, program, &timing.counters, &timing.measures)
    }

    /// What the buffer holds.
    pub fn words(&mut self, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.device.read(self.buffer, &mut bytes).unwrap();
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// Cycles of one warp.
pub fn alone(text: &str) -> u64 {
    Bench::new(text).cycles(1, 32)
}

/// `count` instructions, with `n` for their numbers.
pub fn repeat(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

/// The address of the thread's word, in D2; its number in R0.
pub const PLACE: &str = "
    sreg.tid_x R0
    sreg.ctaid_x R1
    sreg.ntid_x R4
    int3.mad R0, R1, R4, R0
    ld64.param.weak D2, [0x0], 0
    mad_wide.u D2, R0, 4, D2
";
