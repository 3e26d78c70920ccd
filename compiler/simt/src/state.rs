//! What the passes work on: a module, then its kernels in instructions, then a program.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_analysis::listing::Listing;
use nbcc_base::Span;
use nbcc_ir::{Func, Module, PrintOptions, print_function, verify_module};
use nbcc_isa_simt::{Limits, Machine, Program};
use nbcc_mach::VReg;
use nbcc_pipeline::{Dump, LineCounts, State};

use crate::backend::banks::Banks;
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
    /// The banks of registers; `None` where the register file is one.
    pub banks: Option<Banks>,
    /// What dumps say behind instructions that write a register.
    pub notes: SecondaryMap<VReg, Option<String>>,
    /// What the target found out or decided, by title, for `explain`.
    pub findings: Vec<(&'static str, String)>,
    /// Its registers, once they are allocated.
    pub registers: Option<Registers>,
    /// Its instructions before they had registers, from the allocation to its check.
    pub unallocated: Option<MachFunction>,
}

impl KernelState {
    /// A kernel of which nothing is known yet.
    pub fn new(func: Func) -> KernelState {
        KernelState {
            func,
            frame: Frame::default(),
            origins: Origins::new(),
            selected: None,
            banks: None,
            notes: SecondaryMap::new(),
            findings: Vec::new(),
            registers: None,
            unallocated: None,
        }
    }

    /// Its banks of registers.
    pub fn banks(&self, limits: &Limits) -> Banks {
        self.banks.clone().unwrap_or_else(|| Banks::one(limits.registers))
    }
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
    /// What was chosen of what the target offers.
    pub choices: BTreeMap<String, String>,
    /// How often source lines were executed in a run, if that is known.
    pub profile: Option<LineCounts>,
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
            let note = |vreg| kernel.notes[vreg].clone();
            let text = match (&kernel.selected, &kernel.registers) {
                (Some(selected), Some(done)) => {
                    selected.func.text_with(|v| done.allocation.entries[v], note)
                }
                (Some(selected), None) => selected.func.text_with(|v| v.as_u32() as u16, note),
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
                let banks = kernel.banks(&self.machine.limits);
                check(before, &selected.func, registers, &banks, local)?;
            }
        }
        match verify_module(&self.module).first() {
            Some(error) => Err(error.to_string()),
            None => Ok(()),
        }
    }
}
