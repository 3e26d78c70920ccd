//! The MPU backend: grids of threads on cores with near-bank units (MPU paper). It is the backend
//! that SIMT targets share, on MPU's machine, with what is MPU's own: where each instruction executes
//! and each register lives, near the banks or far from them.

pub mod location;
mod occupancy;
mod pipeline;
mod schedule;

use nbcc_isa_mpu::ISA;
use nbcc_isa_mpu::machine::BUILT_IN;
use nbcc_pipeline::MachineInfo;
use nbcc_simt::Simt;

use location::Locations;

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
pub static MPU: Simt<Locations> = Simt {
    isa: &ISA,
    about: "MPU: grids of threads on cores with near-bank units",
    machines: &MACHINES,
    choices: &[location::CHOICE],
    reports: &[],
    passes: pipeline::PASSES,
    uses_profiles: true,
    codes: &[],
};
