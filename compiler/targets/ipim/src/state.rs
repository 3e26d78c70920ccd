//! What the passes work on: a pipeline, then its plan, then kernels in IR, then in instructions,
//! then a program.

use nbcc_ir::{PrintOptions, print_function, verify_function};
use nbcc_isa_ipim::program::Program;
use nbcc_isa_ipim::{ATOM_BYTES, Machine};
use nbcc_mach::regalloc::{Allocation, Policy};
use nbcc_pipeline::{Dump, State};
use nbcc_stages::Pipeline;
use nbcc_stages::bounds::{Bounds, Extents, ParamValues};

use crate::backend::place::{self, Places};
use crate::backend::regalloc;
use crate::backend::reorder::{self, Orders};
use crate::backend::select::{LiteralPool, MachFunction, Selected};
use crate::lower::share::Turn;
use crate::lower::{Kernel, Size};
use crate::plan::schedule::defaults::Rule;
use crate::plan::schedule::defaults::relief::{self, NO_LIMIT};
use crate::plan::{BANK_RESERVED, Plan};

/// A kernel in instructions.
#[derive(Clone, Debug)]
pub struct MachineKernel {
    /// The instructions.
    pub code: Selected,
    /// Its registers, once they are allocated.
    pub registers: Option<Allocation>,
    /// Its instructions before they had registers, for the check of the allocation.
    pub unallocated: Option<MachFunction>,
    /// Its instructions before they were reordered, and where they were, for the check of that.
    pub unordered: Option<(MachFunction, Orders)>,
}

/// How a program trades time, code and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How small code is to be.
    pub size: Size,
    /// Whether kernels that are the same are shared.
    pub share: bool,
    /// The most numbers that the control core gets for a kernel that stands for several.
    pub numbers: usize,
    /// Whether kernels that run much are not merged.
    pub apart: bool,
    /// Expressions that all uses of a Func computed at each use may come to.
    pub repeated: u64,
}

/// What does not fit the instruction memory, or the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The program.
    Program,
    /// A kernel alone.
    Kernel,
    /// A kernel alone, by so much that smaller code does not help.
    FarKernel,
}

impl Form {
    /// The form to begin with, of code of that size. A quarter of the control registers may be taken
    /// by numbers.
    pub fn first(size: Size, machine: &Machine) -> Form {
        let numbers = machine.registers.ctrl as usize / 4;
        Form { size, share: true, numbers, apart: true, repeated: NO_LIMIT }
    }

    /// The next form, of smaller code. Merging does not help where a kernel alone is too large.
    fn smaller(self, excess: Excess) -> Option<Form> {
        if excess != Excess::Program && self.size < Size::Compact {
            return Some(Form { size: Size::Compact, ..self });
        }
        if self.size == Size::Merged && self.apart {
            return Some(Form { apart: false, ..self });
        }
        Some(Form { size: self.size.smaller()?, ..self })
    }
}

/// The compilation state.
#[derive(Debug)]
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
    pub given: (std::collections::BTreeMap<String, Vec<u32>>, Vec<u32>),
    /// Parameters given, by name.
    pub params: std::collections::BTreeMap<String, u32>,
    /// Those that the program is for, because bounds depend on them.
    pub fixed: ParamValues,
    /// How large images are.
    pub extents: Extents,
    /// The pipeline with its schedule, before anything is inlined.
    pub scheduled: Option<Pipeline>,
    /// Where everything is computed.
    pub bounds: Option<Bounds>,
    /// The plan.
    pub plan: Option<Plan>,
    /// The form to begin with.
    pub first: Form,
    /// How the program is to be made.
    pub form: Form,
    /// The form to try instead, where this one does not fit the machine.
    pub instead: Option<Form>,
    /// Kernels in IR.
    pub kernels: Vec<Kernel>,
    /// Which kernel runs when.
    pub turns: Vec<Turn>,
    /// The same before equal values were made one, and before values were moved out of loops, for
    /// register files too small for that.
    pub plainer: Vec<Vec<Kernel>>,
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
    /// The next form, of smaller programs: of smaller code, then with fewer Funcs repeated.
    pub fn smaller(&self, excess: Excess) -> Option<Form> {
        let code = || self.form.smaller(excess);
        match excess {
            Excess::FarKernel => self.less_repeated().or_else(code),
            Excess::Program | Excess::Kernel => code().or_else(|| self.less_repeated()),
        }
    }

    /// The next form with fewer Funcs repeated.
    fn less_repeated(&self) -> Option<Form> {
        let scheduled = self.scheduled.as_ref()?;
        let repeated = relief::next(scheduled, &self.extents, self.form.repeated)?;
        Some(Form { repeated, ..self.first })
    }

    /// Goes back to the plan, for a program of another form.
    pub fn begin_again(&mut self, form: Form) {
        self.form = form;
        self.instead = None;
        self.kernels.clear();
        self.turns.clear();
        self.plainer.clear();
        self.places.clear();
        self.pool = LiteralPool::default();
        self.selected.clear();
        self.program = None;
    }

    /// The end of what spilled values may take of each bank: behind it lie parameters.
    pub fn slots_end(&self) -> u32 {
        BANK_RESERVED - ATOM_BYTES * self.plan().params.len() as u32
    }

    /// The plan. Panics before the pass that makes it.
    pub fn plan(&self) -> &Plan {
        self.plan.as_ref().expect("kernels are made from a plan")
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
                let places = self.places.get(k);
                let place = |v| places.and_then(|places| places.text(v));
                let annotations: [nbcc_ir::Annotation<'_>; 1] = [&place];
                let options = PrintOptions { annotations: &annotations, ..Default::default() };
                let text = print_function(&kernel.func, &options);
                Dump { function: kernel.func.name.clone(), text }
            };
            return self.kernels.iter().enumerate().map(text).collect();
        }
        let pipeline = self.plan.as_ref().map_or(&self.pipeline, |p| &p.pipeline);
        let text = nbcc_stages::print::print(pipeline, self.bounds.as_ref());
        vec![Dump { function: pipeline.name.clone(), text }]
    }

    fn verify(&self) -> Result<(), String> {
        for kernel in &self.selected {
            if let (Some(before), Some(registers)) = (&kernel.unallocated, &kernel.registers) {
                let end = self.slots_end();
                regalloc::check(before, &kernel.code, registers, &self.machine, end)?;
            }
            if let (Some((before, orders)), Some(registers)) =
                (&kernel.unordered, &kernel.registers)
            {
                reorder::check(before, &kernel.code.func, orders, registers)?;
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
