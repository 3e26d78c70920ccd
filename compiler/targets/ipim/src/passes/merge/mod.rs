//! Kernels that differ in constants only become one, which is called and has these constants as
//! parameters: levels of a pyramid differ in the extents, strides and addresses of their buffers, and
//! all code of a program has to fit the vault's instruction memory.
//!
//! This is function merging by parameters (as of LLVM's MergeFunctions and its successors that
//! take constants as arguments): functions are the same where all their blocks, instructions and
//! edges are, constants apart. What has the same value in all of them stays a constant; constants
//! that go together through all of them are one parameter, and where there are many, what is linear in
//! another is computed from it. Kernels of one shape that still differ in more than there
//! are registers for become several.

mod constants;
mod shape;
#[cfg(test)]
mod tests;
mod work;

use std::collections::HashMap;

use cranelift_entity::{EntitySet, SecondaryMap};
use nbcc_ir::{Block, Function, Terminator, Value};
use nbcc_opt::{fold, params};

use self::constants::{Constants, Source, control_values, counts, differing, replace};
use self::shape::{Shape, Site, shape_of};
use self::work::{busiest, work};
use crate::kernel::{Kernel, KernelCall, MAX_CONSTANTS};

/// Merges kernels, each of which is called once. The control core reads at most `most` of the
/// constants that are parameters of a kernel, each of which takes it a register. Kernels of about `room`
/// instructions in all stay apart, although they could be merged: those that run most.
pub fn merge(
    kernels: Vec<Kernel>,
    calls: Vec<KernelCall>,
    most: usize,
    room: usize,
) -> (Vec<Kernel>, Vec<KernelCall>) {
    let mut calls = calls;
    let mut groups: Vec<Group> = Vec::new();
    let mut open: HashMap<Shape, Vec<usize>> = HashMap::new();
    let shapes: Vec<(Shape, Vec<Site>)> = kernels.iter().map(shape_of).collect();
    let mut alike: HashMap<&Shape, usize> = HashMap::new();
    for (shape, _) in &shapes {
        *alike.entry(shape).or_default() += 1;
    }
    let several = (0..kernels.len()).filter(|&number| alike[&shapes[number].0] > 1);
    let apart = busiest(&kernels, &several.collect::<Vec<_>>(), room);
    for (number, (shape, constants)) in shapes.into_iter().enumerate() {
        let kernel = &kernels[number];
        if apart.contains(&number) {
            let control = EntitySet::new();
            groups.push(Group { members: vec![(number, constants)], control });
            continue;
        }
        let alike = open.entry(shape).or_default();
        let found = alike.iter().copied().find(|&g| groups[g].fits(&constants, &kernels, most));
        match found {
            Some(group) => groups[group].members.push((number, constants)),
            None => {
                alike.push(groups.len());
                let control = control_values(&kernel.func);
                groups.push(Group { members: vec![(number, constants)], control });
            }
        }
    }
    let mut merged = Vec::new();
    for group in groups {
        group.kernels(&kernels, most, &mut merged, &mut calls);
    }
    for kernel in &mut merged {
        simplify(&mut kernel.func);
    }
    (merged, calls)
}

/// Kernels that can be one.
struct Group {
    /// Their numbers, and the constants of each.
    members: Vec<(usize, Vec<Site>)>,
    /// What the control core reads in the first.
    control: EntitySet<Value>,
}

impl Group {
    /// The constants that are not the same in all members, and in another kernel that may join.
    fn differing(&self, kernels: &[Kernel], more: Option<&[Site]>, most: usize) -> Vec<Constants> {
        let lists: Vec<&[Site]> =
            self.members.iter().map(|(_, list)| &list[..]).chain(more).collect();
        differing(&kernels[self.members[0].0].func, &self.control, &lists, most)
    }

    /// Whether a kernel of the same shape can join.
    fn fits(&self, constants: &[Site], kernels: &[Kernel], most: usize) -> bool {
        let func = &kernels[self.members[0].0].func;
        let all = self.differing(kernels, Some(constants), most);
        let (passed, read) = counts(func, &self.control, &all);
        passed <= MAX_CONSTANTS && read <= most
    }

    /// Makes the kernels of a group: one where that is less code, else all.
    fn kernels(
        self,
        kernels: &[Kernel],
        most: usize,
        merged: &mut Vec<Kernel>,
        calls: &mut [KernelCall],
    ) {
        let members = self.members.len();
        let first = &kernels[self.members[0].0];
        let all = self.differing(kernels, None, most);
        // A parameter takes up to five instructions of a call, and there are the jumps.
        let (body, call) = (first.func.inst_count(), 5 * all.len() + 4);
        if members == 1 || (members - 1) * body <= members * call {
            for (number, _) in self.members {
                calls[number].kernel = merged.len();
                merged.push(Kernel { sync: None, ..kernels[number].clone() });
            }
            return;
        }
        // Which objects are disjoint, and what is an engine's own, may differ from call to call.
        let mut kernel = Kernel {
            sync: None,
            args: Some(vec![]),
            scratch: vec![],
            beside: SecondaryMap::new(),
            objects: SecondaryMap::new(),
            neighbours: SecondaryMap::new(),
            ..first.clone()
        };
        let name = kernel.func.name.split_once('.').map_or("", |(_, name)| name).to_string();
        kernel.func.name = format!("shared{}.{name}", merged.len());
        replace(&mut kernel.func, &all);
        let trips = self.members.iter().map(|(number, _)| trips_of(&kernels[*number].func));
        forget_trips(&mut kernel.func, &trips.collect::<Vec<_>>());
        let passed = all.iter().filter(|c| matches!(c.source, Source::Passed(_)));
        let passed: Vec<&Constants> = passed.collect();
        let of_all = work(&kernel.func);
        for (k, &(number, _)) in self.members.iter().enumerate() {
            calls[number].kernel = merged.len();
            calls[number].merged = Some((work(&kernels[number].func), of_all));
            calls[number].constants = passed.iter().map(|constants| constants.values[k]).collect();
        }
        merged.push(kernel);
    }
}

/// How often each loop of a function runs.
fn trips_of(func: &Function) -> Vec<Option<u64>> {
    let trips = |&block: &Block| func.blocks[block].loop_info.as_ref().and_then(|info| info.trips);
    func.layout.iter().map(trips).collect()
}

/// Keeps of what is known of loops what holds in all functions.
fn forget_trips(func: &mut Function, all: &[Vec<Option<u64>>]) {
    for (k, &block) in func.layout.iter().enumerate() {
        if let Some(info) = &mut func.blocks[block].loop_info
            && all.iter().any(|trips| trips[k] != info.trips)
        {
            info.trips = None;
        }
    }
}

/// Simplifies what was written out for the sake of the shape: loops of one trip, sums with zero,
/// products by one.
fn simplify(func: &mut Function) {
    let mut once: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &block in &func.layout {
        if func.blocks[block].loop_info.as_ref().is_some_and(|info| info.trips == Some(1)) {
            func.blocks[block].loop_info = None;
            once[block] = true;
        }
    }
    let mut after: SecondaryMap<Block, bool> = SecondaryMap::new();
    for block in func.layout.clone() {
        after[block] = true;
        let Some(Terminator::Branch(_, again, exit)) = &func.blocks[block].terminator else {
            continue;
        };
        // The edge that goes back is the one to a header that stands before.
        if once[again.block] && after[again.block] {
            func.blocks[block].terminator = Some(Terminator::Jump(exit.clone()));
        }
    }
    params::run(func);
    fold::run(func);
}
