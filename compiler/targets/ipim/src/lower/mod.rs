//! Kernels of a plan in the shared IR: one function a kernel, run by every engine of a vault in
//! lockstep. Control flow depends on constants, loop counters and the place of the vault only.

mod body;
mod border;
mod combine;
mod cx;
mod edges;
mod excerpt;
mod exchange;
mod fetch;
mod gather;
mod home;
mod kept;
mod loops;
mod math;
mod nest;
mod parts;
mod patch;
mod planes;
mod point;
mod position;
mod redistribute;
mod reduce;
mod remote;
mod serial;
mod source;
mod stagger;
mod tables;
mod transpose;
mod whole;
mod window;

use std::collections::BTreeMap;

use nbcc_isa_ipim::Machine;

use self::cx::Lowering;
use crate::kernel::{Kernel, Size};
use crate::plan::{Jam, Plan, Step};

/// Lowers every step of a plan.
pub fn lower(plan: &Plan, machine: &Machine) -> Vec<Kernel> {
    lower_to(plan, machine, Size::Fast, &BTreeMap::new())
}

/// Lowers every step of a plan to code of that size. In steps of `jammed`, by their numbers, vectors are
/// computed together.
pub fn lower_to(
    plan: &Plan,
    machine: &Machine,
    size: Size,
    jammed: &BTreeMap<usize, Jam>,
) -> Vec<Kernel> {
    let batch = exchange::batch(plan, machine, size);
    let mut cx = Lowering { plan, machine, size, jammed, batch, phase: 0, used: 0 };
    let mut kernels = Vec::new();
    for (number, step) in plan.steps.iter().enumerate() {
        let before = kernels.len();
        match step {
            Step::Exchange(buffer) => kernels.extend(exchange::lower(&mut cx, *buffer)),
            Step::Tiles(step) => kernels.push(nest::lower_tiles(&mut cx, number, step)),
            Step::Redistribute { from, to, order, clamp } => {
                kernels.extend(redistribute::lower(&mut cx, [*from, *to], order, clamp));
            }
            Step::Reduce(step) => kernels.extend(reduce::lower(&mut cx, step)),
            Step::Serial(step) => kernels.push(serial::lower(&mut cx, step)),
        }
        let place = source::of_step(plan, number);
        for kernel in &mut kernels[before..] {
            (kernel.step, kernel.place) = (number, place);
        }
    }
    for (number, kernel) in kernels.iter_mut().enumerate() {
        kernel.func.name = format!("k{number}.{}", kernel.func.name);
    }
    kernels
}
