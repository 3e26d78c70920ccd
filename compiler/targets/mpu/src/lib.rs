//! The MPU backend: grids of threads on cores with near-bank units (paper 000). It is the backend
//! that SIMT targets share, on MPU's machine.

mod pipeline;

use nbcc_isa_mpu::ISA;
use nbcc_isa_mpu::machine::BUILT_IN;
use nbcc_pipeline::MachineInfo;
use nbcc_simt::Simt;

const MACHINES: [MachineInfo; BUILT_IN.len()] = MachineInfo::all(
    BUILT_IN,
    [
        "MPU as evaluated: 8 processors of 16 cores",
        "one core",
        "four cores, on two processors",
        "shared memory on the base die",
        "one activated row buffer a bank",
        "two activated row buffers a bank",
        "all that computes on the base die",
    ],
);

/// The MPU target.
pub static MPU: Simt = Simt {
    isa: &ISA,
    about: "MPU: grids of threads on cores with near-bank units",
    machines: &MACHINES,
    choices: &[],
    reports: &[],
    passes: pipeline::PASSES,
    codes: &[],
};
