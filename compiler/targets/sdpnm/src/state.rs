//! What the passes work on: a function, then its instructions, then a program.

use std::collections::BTreeSet;
use std::sync::Arc;

use nbcc_ir::{Block, Func, Module, PrintOptions, print_function, verify_module};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_mach::regalloc::Allocation;
use nbcc_pipeline::{Attempt, Dump, State};

use crate::arrays::facts::sources::Sources;
use crate::arrays::loops::collapse::{MOST_OPERATIONS, Made};
use crate::arrays::loops::flatten::Unrolled;
use crate::arrays::loops::strips::Strips;
use crate::arrays::{Arrays, Decision};
use crate::core::MachFunction;
use crate::core::objects::Objects;
use crate::core::regalloc;
use crate::core::select::Selected;
use crate::map::mappers::Mapper;
use crate::map::memory::Memory;

/// What differs from attempt to attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The headers of loops inside of others that are not unrolled.
    pub rolled: BTreeSet<Block>,
    /// Those that are, since no array runs them either.
    pub unrolled: BTreeSet<Block>,
    /// The headers of loops that do not go through their objects in strips.
    pub unstripped: BTreeSet<Block>,
    /// Whether loops are merged.
    pub merges: bool,
    /// Whether nests are collapsed.
    pub collapses: bool,
    /// The headers of pairs of loops that are not merged.
    pub unmerged: BTreeSet<[Block; 2]>,
    /// Operations of a loop that is made of a nest at most.
    pub operations: usize,
    /// The headers of the outer loops of nests that are not collapsed.
    pub uncollapsed: BTreeSet<Block>,
}

impl Configuration {
    /// Whether the same is tried with loops inside of others.
    pub fn unrolls_as(&self, other: &Configuration) -> bool {
        self.rolled == other.rolled
    }

    /// Whether the same is tried with strips.
    pub fn strips_as(&self, other: &Configuration) -> bool {
        self.unrolls_as(other) && self.unstripped == other.unstripped
    }

    /// Whether the same is tried with loops that stand one behind the other.
    pub fn merges_as(&self, other: &Configuration) -> bool {
        self.strips_as(other) && self.merges == other.merges && self.unmerged == other.unmerged
    }
}

/// The compilation state.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The module as it stands.
    pub module: Module,
    /// The function that hosts call.
    pub func: Func,
    /// The machine.
    pub machine: Machine,
    /// Who maps loops on arrays; `None` where none are mapped.
    pub mapper: Option<&'static Mapper>,
    /// Mappings of this attempt and those before.
    pub memory: Arc<Memory>,
    /// Whether several arrays may share a loop.
    pub splits: bool,
    /// Whether loops with control flow inside may be on arrays.
    pub hyperblocks: bool,
    /// Whether recurrences of sums are made shorter.
    pub reassociates: bool,
    /// Whether arrays do several iterations of a loop at a time.
    pub jams: bool,
    /// Whether nests whose trips are known at run time only get versions that are one loop.
    pub chains: bool,
    /// What this attempt does.
    pub configuration: Configuration,
    /// The loops that were unrolled inside of others.
    pub flattened: Vec<Unrolled>,
    /// The loops that go through objects in strips.
    pub strips: Vec<Strips>,
    /// The headers of loops that were made of two, with those of the two.
    pub merged: Vec<(Block, [Block; 2])>,
    /// The loops that were made of nests.
    pub collapsed: Vec<Made>,
    /// The loops of the source.
    pub sources: Sources,
    /// Those that were loops of their own before some were joined.
    pub heads: BTreeSet<usize>,
    /// What loops on arrays need.
    pub arrays: Arrays,
    /// Whether it is known what became of loops.
    pub is_decided: bool,
    /// What became of each loop.
    pub decisions: Vec<Decision>,
    /// Where memory objects lie.
    pub objects: Objects,
    /// Its instructions, once they are selected.
    pub selected: Option<Selected>,
    /// Its registers, once they are allocated.
    pub allocation: Option<Allocation>,
    /// Its instructions before they had registers, from the allocation to its check.
    pub unallocated: Option<MachFunction>,
    /// The program.
    pub program: Option<CoreProgram>,
}

impl Compilation {
    /// A function of which nothing is known yet.
    pub fn new(
        module: Module,
        func: Func,
        machine: Machine,
        mapper: Option<&'static Mapper>,
    ) -> Compilation {
        let sources = Sources::new(&module.loops);
        Compilation {
            module,
            func,
            machine,
            mapper,
            memory: Arc::default(),
            splits: true,
            hyperblocks: true,
            reassociates: false,
            jams: false,
            chains: false,
            configuration: Configuration {
                rolled: BTreeSet::new(),
                unrolled: BTreeSet::new(),
                unstripped: BTreeSet::new(),
                merges: true,
                collapses: true,
                operations: MOST_OPERATIONS,
                unmerged: BTreeSet::new(),
                uncollapsed: BTreeSet::new(),
            },
            flattened: Vec::new(),
            strips: Vec::new(),
            merged: Vec::new(),
            collapsed: Vec::new(),
            sources,
            heads: BTreeSet::new(),
            arrays: Arrays::default(),
            is_decided: false,
            decisions: Vec::new(),
            objects: Objects::default(),
            selected: None,
            allocation: None,
            unallocated: None,
            program: None,
        }
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
        let func = &self.module.functions[self.func];
        let text = match (&self.selected, &self.allocation) {
            (Some(selected), Some(done)) => selected.func.text(|vreg| done.entries[vreg]),
            (Some(selected), None) => selected.func.text(|vreg| vreg.as_u32() as u16),
            (None, _) => {
                let options =
                    PrintOptions { module: Some(&self.module), ..PrintOptions::default() };
                print_function(func, &options)
            }
        };
        vec![Dump { function: func.name.clone(), text }]
    }

    fn verify(&self) -> Result<(), String> {
        if let (Some(selected), Some(allocation), Some(before)) =
            (&self.selected, &self.allocation, &self.unallocated)
        {
            let address = self.objects.frame.frame.address;
            regalloc::check(before, selected, allocation, address, &self.objects.slots)?;
        }
        match verify_module(&self.module).first() {
            Some(error) => Err(error.to_string()),
            None => Ok(()),
        }
    }
}
