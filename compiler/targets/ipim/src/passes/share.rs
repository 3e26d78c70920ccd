//! Kernels that differ in nothing but where their buffers lie become one, which is called with the
//! addresses. Stages of a chain and levels of a pyramid make the same kernels over and over, and
//! all code of a program has to fit the vault's instruction memory.

use std::collections::BTreeMap;

use nbcc_ir::{Mem, PrintOptions, print_function};
use nbcc_isa_ipim::{ATOM_BYTES, Machine};

use crate::intrinsics::BANK;
use crate::kernel::{Kernel, KernelCall, calls_in_order};

/// Makes one kernel of those that are the same, and says which runs when.
pub fn share(kernels: Vec<Kernel>, machine: &Machine) -> (Vec<Kernel>, Vec<KernelCall>) {
    let mut calls = calls_in_order(&kernels);
    let mut alike: BTreeMap<(u32, String), Vec<usize>> = BTreeMap::new();
    for (number, kernel) in kernels.iter().enumerate() {
        alike.entry((kernel.mask, text(kernel))).or_default().push(number);
    }
    let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
    groups.sort();
    // A quarter of the registers may be taken by arguments.
    let entries = machine.registers.ctrl.min(machine.registers.addr);
    let mut unique = Vec::new();
    let mut keep = |kernel: &Kernel, args: Option<Vec<Mem>>| {
        let mut kernel = kernel.clone();
        kernel.sync = None;
        if args.is_some() {
            let name = kernel.func.name.split_once('.').map_or("", |(_, name)| name);
            kernel.func.name = format!("shared{}.{name}", unique.len());
        }
        kernel.args = args;
        unique.push(kernel);
        unique.len() - 1
    };
    for group in groups {
        let first = &kernels[group[0]];
        // Objects that lie elsewhere in another kernel of the group.
        let args: Vec<Mem> = first
            .func
            .mems
            .keys()
            .filter(|&m| group.iter().any(|&k| kernels[k].mem_base[m] != first.mem_base[m]))
            .collect();
        if group.len() == 1 || args.len() > entries as usize / 4 {
            for &number in &group {
                calls[number].kernel = keep(&kernels[number], None);
            }
            continue;
        }
        let kernel = keep(first, Some(args.clone()));
        for &number in &group {
            calls[number].kernel = kernel;
            calls[number].bases = args.iter().map(|&m| kernels[number].mem_base[m]).collect();
        }
    }
    (unique, calls)
}

/// All of a kernel but its name, those of its objects, and where its objects in banks lie.
fn text(kernel: &Kernel) -> String {
    let mut func = kernel.func.clone();
    func.name.clear();
    let mut places = String::new();
    for (mem, data) in func.mems.iter_mut() {
        data.name = mem.to_string();
        let base = kernel.mem_base[mem];
        if data.space != BANK {
            places += &format!("{mem} lies at {base}\n");
        } else {
            assert!(base.is_multiple_of(ATOM_BYTES), "{mem} of {} begins in an atom", func.name);
            places += &format!("{} bytes of others beside {mem}\n", kernel.beside[mem]);
        }
    }
    places + &print_function(&func, &PrintOptions::default())
}
