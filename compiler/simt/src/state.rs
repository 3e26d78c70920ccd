//! What the passes work on: a module, then its kernels in instructions, then a program.

use nbcc_analysis::listing::Listing;
use nbcc_base::Span;
use nbcc_ir::{Func, Module, PrintOptions, print_function, verify_module};
use nbcc_isa_simt::{Machine, Program};
use nbcc_pipeline::{Dump, State};

use crate::backend::provenance::Origins;
use crate::backend::regalloc::{Registers, check};
use crate::backend::select::{MachFunction, Messages, Selected};
use crate::passes::objects::Frame;

/// A kernel on its way.
#[derive(Debug)]
pub struct KernelState {
    /// Its function.
    pub func: Func,
    /// What it takes of memories.
    pub frame: Frame,
    /// The objects that its accesses reach.
    pub origins: Origins,
    /// Its instructions, once they are selected.
    pub selected: Option<Selected>,
    /// Its registers, once they are allocated.
    pub registers: Option<Registers>,
    /// Its instructions before they had registers, from the allocation to its check.
    pub unallocated: Option<MachFunction>,
}

/// The compilation state; `own` is what a target adds to it.
#[derive(Debug)]
pub struct Compilation<X = ()> {
    /// The module as it stands.
    pub module: Module,
    /// The kernels as the source has them, if it is a language of instructions and registers.
    pub listings: Vec<Listing>,
    /// The machine.
    pub machine: Machine,
    /// Its kernels.
    pub kernels: Vec<KernelState>,
    /// Messages of traps.
    pub messages: Messages,
    /// The program.
    pub program: Option<Program>,
    /// What the target keeps from one pass to another.
    pub own: X,
}

impl<X> Compilation<X> {
    /// Where the instructions of the program come from, in their order.
    pub fn spans(&self) -> Vec<Option<Span>> {
        let selected = self.kernels.iter().filter_map(|kernel| kernel.selected.as_ref());
        let blocks = selected.flat_map(|selected| selected.func.blocks.values());
        blocks.flat_map(|block| block.insts.iter().map(|inst| inst.span)).collect()
    }
}

impl<X> State for Compilation<X> {
    fn dumps(&self) -> Vec<Dump> {
        let dump = |kernel: &KernelState| {
            let func = &self.module.functions[kernel.func];
            let text = match (&kernel.selected, &kernel.registers) {
                (Some(selected), Some(done)) => selected.func.text(|v| done.allocation.entries[v]),
                (Some(selected), None) => selected.func.text(|v| v.as_u32() as u16),
                (None, _) => {
                    let options =
                        PrintOptions { module: Some(&self.module), ..PrintOptions::default() };
                    print_function(func, &options)
                }
            };
            Dump { function: func.name.clone(), text }
        };
        self.kernels.iter().map(dump).collect()
    }

    fn verify(&self) -> Result<(), String> {
        for kernel in &self.kernels {
            if let (Some(selected), Some(registers), Some(before)) =
                (&kernel.selected, &kernel.registers, &kernel.unallocated)
            {
                let local = kernel.frame.local_bytes;
                check(before, &selected.func, registers, &self.machine.limits, local)?;
            }
        }
        match verify_module(&self.module).first() {
            Some(error) => Err(error.to_string()),
            None => Ok(()),
        }
    }
}
