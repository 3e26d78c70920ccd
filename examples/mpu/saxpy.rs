//! A host program: `y = a * x + y` on the MPU machine, as in Listing 1 of its paper.
//!
//! `cargo run --release -p nbcc-host --example saxpy` runs the kernel in `saxpy.s`; with the name
//! of a `.nbx` file that `nbcc` made of PTX behind it (`-- saxpy.nbx`) it runs that one.

use std::error::Error;

use nbcc_host::device::{Arg, Config, Device};
use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::{Program, asm};

const N: u32 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let program = match std::env::args().nth(1) {
        Some(path) => Program::from_elf(&ISA, &std::fs::read(path)?)?,
        None => asm::assemble(&ISA, include_str!("saxpy.s")).map_err(|errors| errors[0].clone())?,
    };
    let mut device = Device::new(&program.machine);
    let module = device.load(program)?;

    // Memory on the device, and the input.
    let host_x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let host_y = vec![1.0_f32; N as usize];
    let x = device.upload(&host_x)?;
    let y = device.upload(&host_y)?;

    let threads = 256;
    let config = Config::linear(N.div_ceil(threads), threads);
    let args = [Arg::U32(N), Arg::F32(2.0), Arg::Pointer(x), Arg::Pointer(y)];
    let event = device.launch(&module, "saxpy", config, &args)?;

    // The result, and what it took.
    let result: Vec<f32> = device.download(y, N as usize)?;
    for (i, value) in result.iter().enumerate() {
        assert_eq!(*value, 2.0 * i as f32 + 1.0, "y[{i}]");
    }
    println!("saxpy of {N} elements: {} warp instructions", event.instructions);
    print!("{}", event.statistics);
    Ok(())
}
