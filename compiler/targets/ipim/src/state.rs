//! What the passes work on: a pipeline, then its plan, then kernels in IR, then in instructions,
//! then a program.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use nbcc_ir::{PrintOptions, print_function, verify_function};
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::program::Program;
use nbcc_mach::regalloc::Policy;
use nbcc_pipeline::{Attempt, Dump, State, Stop};
use nbcc_placement::Placement;
use nbcc_stages::Pipeline;
use nbcc_stages::bounds::{Bounds, Extents, ParamValues};

use crate::backend::code::{LiteralPool, MachineKernel};
use crate::backend::{regalloc, reorder, split};
use crate::configuration::{Configuration, Excess, Transforms};
use crate::kernel::{Kernel, KernelCall};
use crate::memory;
use crate::passes::place::{self, Places};
use crate::plan::schedule::defaults::{Found, Rule, budget};
use crate::plan::{Finding, Jam, Plan};

/// The compilation state.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The pipeline as it stands.
    pub pipeline: Pipeline,
    /// The machine.
    pub machine: Machine,
    /// How registers are chosen.
    pub policy: Policy,
    /// Whether instructions are reordered.
    pub reorder: bool,
    /// Whether accesses to an object keep their order when instructions are reordered.
    pub memory_order: bool,
    /// How Funcs without a schedule get one.
    pub rule: Rule,
    /// Extents given for inputs, by name, and for outputs.
    pub given: (BTreeMap<String, Vec<u32>>, Vec<u32>),
    /// Parameters given, by name.
    pub params: BTreeMap<String, u32>,
    /// Those that the program is for, because bounds depend on them.
    pub fixed: ParamValues,
    /// How large images are.
    pub extents: Extents,
    /// Whether updates have become part of definitions.
    pub updates_unrolled: bool,
    /// What the search for a schedule found, if there was one.
    pub found: Option<Found>,
    /// The pipeline with its schedule, before anything is inlined.
    pub scheduled: Option<Pipeline>,
    /// Where everything is computed.
    pub bounds: Option<Bounds>,
    /// The plan.
    pub plan: Option<Plan>,
    /// What was decided and found out before the plan.
    pub findings: Vec<Finding>,
    /// The configuration of the first attempt.
    pub first: Configuration,
    /// That of this one.
    pub configuration: Configuration,
    /// The steps, by their numbers, in which vectors can be computed together.
    pub jams: BTreeMap<usize, Jam>,
    /// Kernels in IR.
    pub kernels: Vec<Kernel>,
    /// Which kernel runs when.
    pub calls: Vec<KernelCall>,
    /// Which transforms that take registers have run.
    pub transforms: Transforms,
    /// The kernels whose loops over few tiles stand in full, or could.
    pub complete: BTreeSet<usize>,
    /// Where the values of each kernel live, once that is decided.
    pub places: Vec<Places>,
    /// Constants.
    pub pool: LiteralPool,
    /// Kernels in instructions, with their registers once they are allocated.
    pub selected: Vec<MachineKernel>,
    /// The program.
    pub program: Option<Program>,
}

impl Compilation {
    /// The next configuration, of a smaller program: of smaller code, then with less inlined.
    fn smaller(&self, excess: Excess) -> Option<Configuration> {
        if let Some(untried) = self.configuration.untried() {
            return Some(untried);
        }
        if let Some(loops) = self.with_loops_of_updates() {
            return Some(loops);
        }
        // Without unrolling nothing is smaller where there was no room for it.
        let code = || self.configuration.smaller(excess, self.transforms.unroll);
        match excess {
            Excess::FarKernel => self.inlining_less().or_else(code),
            Excess::Program | Excess::Kernel => code().or_else(|| self.inlining_less()),
        }
    }

    /// The first configuration with the next smaller inlining budget.
    pub fn inlining_less(&self) -> Option<Configuration> {
        let scheduled = self.scheduled.as_ref()?;
        let budget = self.configuration.inlining_budget;
        let smaller = budget::smaller(scheduled, &self.extents, budget)?;
        Some(self.inlining_within(smaller))
    }

    /// The first configuration with that inlining budget.
    pub fn inlining_within(&self, inlining_budget: u64) -> Configuration {
        let unroll_updates = self.configuration.unroll_updates;
        Configuration { inlining_budget, unroll_updates, ..self.first.clone() }
    }

    /// The first configuration in which all updates stay loops, where that is another one.
    fn with_loops_of_updates(&self) -> Option<Configuration> {
        let any = self.configuration.unroll_updates && self.updates_unrolled;
        any.then(|| Configuration { unroll_updates: false, ..self.first.clone() })
    }

    /// Asks for another attempt. The user is told why, unless passes will tell.
    pub fn retry(&self, new: Configuration) -> Stop<Configuration> {
        // The line that stands for the whole program: the definition of its first output.
        let output = self.pipeline.outputs.first();
        let program = output.map(|&output| self.pipeline.funcs[output].span);
        let why = || self.configuration.why_not(&new, program);
        let why = self.configuration.same_plan(&new).then(why);
        Stop::retry(new, why)
    }

    /// Asks for an attempt at a smaller program, if there is one to make.
    ///
    /// # Errors
    /// That other attempt.
    pub fn retry_smaller(&self, excess: Excess) -> Result<(), Stop<Configuration>> {
        self.smaller(excess).map_or(Ok(()), |new| Err(self.retry(new)))
    }

    /// Where spilled values lie in each bank.
    pub fn slots(&self) -> Range<u32> {
        memory::slots(self.plan().params.len())
    }

    /// The plan. Panics before the pass that makes it.
    pub fn plan(&self) -> &Plan {
        self.plan.as_ref().expect("kernels are made from a plan")
    }
}

impl Attempt for Compilation {
    type Configuration = Configuration;

    fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    fn configure(&mut self, configuration: Configuration) {
        self.configuration = configuration;
    }
}

impl State for Compilation {
    fn dumps(&self) -> Vec<Dump> {
        if !self.selected.is_empty() {
            let text = |kernel: &MachineKernel| match &kernel.registers {
                Some(registers) => kernel.code.func.text(|v| registers.entries[v]),
                None => kernel.code.func.text(|v| v.as_u32() as u16),
            };
            return self
                .selected
                .iter()
                .map(|k| Dump { function: k.code.func.name.clone(), text: text(k) })
                .collect();
        }
        if !self.kernels.is_empty() {
            let text = |(k, kernel): (usize, &Kernel)| {
                let places = self.places.get(k).map(Placement::annotation);
                let place = |v| places.as_ref().and_then(|text| text(v));
                let annotations: [nbcc_ir::Annotation<'_>; 1] = [&place];
                let options = PrintOptions { annotations: &annotations, ..Default::default() };
                let text = print_function(&kernel.func, &options);
                Dump { function: kernel.func.name.clone(), text }
            };
            return self.kernels.iter().enumerate().map(text).collect();
        }
        // A plan has Funcs and orders of its own.
        let (pipeline, bounds) = match &self.plan {
            Some(plan) => (&*plan.pipeline, Some(&*plan.bounds)),
            None => (&self.pipeline, self.bounds.as_ref()),
        };
        let text = nbcc_stages::print::print(pipeline, bounds);
        vec![Dump { function: pipeline.name.clone(), text }]
    }

    fn verify(&self) -> Result<(), String> {
        for kernel in &self.selected {
            if let Some((before, done)) = &kernel.unsplit {
                split::check(before, &kernel.code, done)?;
            }
            if let Some((before, orders)) = &kernel.unscheduled {
                reorder::check(before, &kernel.code.func, orders, None)?;
            }
            if let (Some(before), Some(registers)) = (&kernel.unallocated, &kernel.registers) {
                let slots = self.slots();
                regalloc::check(before, &kernel.code, registers, &self.machine, slots)?;
            }
            if let (Some((before, orders)), Some(registers)) =
                (&kernel.unordered, &kernel.registers)
            {
                reorder::check(before, &kernel.code.func, orders, Some(registers))?;
            }
        }
        if !self.selected.is_empty() {
            return Ok(());
        }
        for kernel in &self.kernels {
            if let Some(error) = verify_function(&kernel.func, None).first() {
                return Err(error.to_string());
            }
        }
        for (kernel, places) in self.kernels.iter().zip(&self.places) {
            place::verify(&kernel.func, places)?;
        }
        Ok(())
    }
}
