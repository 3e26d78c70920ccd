//! What differs from attempt to attempt where a program does not fit the machine: how it trades
//! time, code and registers.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_base::Span;
use nbcc_isa_ipim::Machine;
use nbcc_placement::{Message, Remark, RemarkKind};

use crate::kernel::Size;
use crate::plan::schedule::defaults::budget::UNLIMITED;

/// How a program trades time, code and registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// How small code is to be.
    pub size: Size,
    /// Whether kernels that are the same are shared.
    pub share: bool,
    /// How much loops are unrolled beyond what their accesses ask for.
    pub unroll: Unrolling,
    /// The steps in which vectors are computed together.
    pub jam: Trial,
    /// The kernels in which loops over few tiles stand in full.
    pub complete: Trial,
    /// The most merged constant parameters of a kernel that the control core reads.
    pub merged_constants: usize,
    /// Whether kernels that run much are not merged.
    pub apart: bool,
    /// Whether updates over few points become part of definitions.
    pub unroll_updates: bool,
    /// Expressions that all uses of a Func computed at each use may come to.
    pub inlining_budget: u64,
    /// What kernels rematerialise for which registers are too few, by their numbers.
    pub rematerialise: BTreeMap<usize, Rematerialise>,
}

/// How much of the room that is left in the instruction memory unrolled loops may take, by an estimate
/// of what operations become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolling {
    /// All.
    All,
    /// A third: the estimate was too low.
    Third,
    /// None.
    None,
}

/// Where a transform is made of which only the estimate of the code tells whether it pays: in which parts of
/// the program, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// In none yet: if it can be made, the program in which it is is compared with this one.
    Open,
    /// In all in which it can be; these are then compared with those in which it is not, which take so many
    /// cycles each.
    Against(Vec<u64>),
    /// In these.
    Only(BTreeSet<usize>),
}

impl Trial {
    /// The trial of nothing.
    pub fn none() -> Trial {
        Trial::Only(BTreeSet::new())
    }

    /// Whether the transform is made in that part, if it can be.
    pub fn made(&self, part: usize) -> bool {
        match self {
            Trial::Open => false,
            Trial::Against(_) => true,
            Trial::Only(parts) => parts.contains(&part),
        }
    }

    /// What to try next, if anything: `parts` are those in which the transform can be made or is, `now` gives
    /// the cycles of each part, and `pays` says of those before and now whether they are worth it.
    pub fn next(
        &self,
        parts: &BTreeSet<usize>,
        now: impl FnOnce() -> Vec<u64>,
        pays: impl Fn(u64, u64) -> bool,
    ) -> Option<Trial> {
        match self {
            _ if parts.is_empty() => None,
            Trial::Open => Some(Trial::Against(now())),
            Trial::Against(before) => {
                let now = now();
                let paying = parts.iter().filter(|&&part| pays(before[part], now[part]));
                let paying: BTreeSet<usize> = paying.copied().collect();
                (paying != *parts).then_some(Trial::Only(paying))
            }
            Trial::Only(_) => None,
        }
    }
}

/// What a kernel rematerialises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rematerialise {
    /// What does not change in a loop, inside of the loop.
    Invariants,
    /// Equal values, too, at each use.
    Everything,
}

/// The transforms of an attempt that take registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transforms {
    /// Equal values are computed once.
    pub cse: bool,
    /// What does not change in a loop is computed before it.
    pub licm: bool,
    /// Loops are unrolled.
    pub unroll: bool,
    /// The instruction memory has no room for what the loops that run most are worth.
    pub starved: bool,
}

impl Transforms {
    /// What a kernel can rematerialise beyond that, for want of registers.
    pub fn more_rematerialised(self, now: Option<Rematerialise>) -> Option<Rematerialise> {
        match now {
            None if self.licm => Some(Rematerialise::Invariants),
            None | Some(Rematerialise::Invariants) if self.cse => Some(Rematerialise::Everything),
            _ => None,
        }
    }
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

impl Configuration {
    /// The configuration to begin with, of code of that size. A quarter of the control registers
    /// may be taken by merged constant parameters.
    pub fn first(size: Size, machine: &Machine) -> Configuration {
        Configuration {
            size,
            share: true,
            unroll: Unrolling::All,
            jam: Trial::Open,
            complete: Trial::Open,
            merged_constants: machine.registers.ctrl as usize / 4,
            apart: true,
            unroll_updates: true,
            inlining_budget: UNLIMITED,
            rematerialise: BTreeMap::new(),
        }
    }

    /// Whether two configurations have the same plan.
    pub fn same_plan(&self, other: &Configuration) -> bool {
        self.inlining_budget == other.inlining_budget && self.same_definitions(other)
    }

    /// Whether two configurations have the same Funcs.
    pub fn same_definitions(&self, other: &Configuration) -> bool {
        self.unroll_updates == other.unroll_updates
    }

    /// Whether two configurations have the same kernels until values share registers.
    pub fn same_kernels(&self, other: &Configuration) -> bool {
        // Of kernels that may be merged, equal values are one from the start.
        let apart = |&(_, most): &(&usize, &Rematerialise)| {
            self.size >= Size::Merged && *most == Rematerialise::Everything
        };
        let kernels = |of: &Configuration| {
            let apart =
                of.rematerialise.iter().filter(apart).map(|(&number, &most)| (number, most));
            let rematerialise = apart.collect();
            let (unroll, complete) = (Unrolling::All, Trial::Open);
            Configuration { unroll, complete, rematerialise, ..of.clone() }
        };
        kernels(self) == kernels(other)
    }

    /// Whether two configurations have the same loops until some may stand in full.
    pub fn same_loops(&self, other: &Configuration) -> bool {
        let loops = |of: &Configuration| Configuration { complete: Trial::Open, ..of.clone() };
        loops(self) == loops(other)
    }

    /// The configuration of a program in which loops over few tiles stand in full as that trial says.
    pub fn complete(&self, complete: Trial) -> Configuration {
        Configuration { complete, ..self.clone() }
    }

    /// The configuration of a program in which vectors are computed together as that trial says.
    pub fn jam(&self, jam: Trial) -> Configuration {
        Configuration { jam, ..self.of_other_kernels() }
    }

    /// The configuration for a program that needs code as small: one of another schedule.
    pub fn of_similar(&self) -> Configuration {
        let (jam, complete) = (Trial::Open, Trial::Open);
        Configuration { jam, complete, ..self.of_other_kernels() }
    }

    /// The configuration without what this one tries for the sake of time: first loops over few tiles that
    /// stand in full, then vectors that are computed together.
    pub fn untried(&self) -> Option<Configuration> {
        let tried = |trial: &Trial| *trial != Trial::Open && *trial != Trial::none();
        if tried(&self.complete) {
            return Some(self.complete(Trial::none()));
        }
        tried(&self.jam).then(|| self.jam(Trial::none()))
    }

    /// The same for other kernels, which do not rematerialise anything yet.
    fn of_other_kernels(&self) -> Configuration {
        Configuration { rematerialise: BTreeMap::new(), ..self.clone() }
    }

    /// The next configuration, of smaller code: with less unrolling, if any loop was unrolled, else
    /// of a smaller size, in which there may be room for that again. Merging does not help where a
    /// kernel alone is too large.
    pub fn smaller(&self, excess: Excess, unrolled: bool) -> Option<Configuration> {
        let other = self.of_other_kernels();
        let less = match self.unroll {
            Unrolling::All => Some(Unrolling::Third),
            Unrolling::Third => Some(Unrolling::None),
            Unrolling::None => None,
        };
        if let Some(unroll) = less.filter(|_| unrolled) {
            return Some(Configuration { unroll, ..other });
        }
        let other = Configuration { unroll: Unrolling::All, ..other };
        if excess != Excess::Program && self.size < Size::Rolled {
            return Some(Configuration { size: Size::Rolled, ..other });
        }
        if self.size == Size::Merged && self.apart {
            return Some(Configuration { apart: false, ..other });
        }
        Some(Configuration { size: self.size.smaller()?, ..other })
    }

    /// The configuration that leaves room for the loops that run most, if this one does not try to: rolled
    /// where it is written, code is so much smaller.
    pub fn with_room(&self) -> Option<Configuration> {
        let rolls = self.size < Size::Rolled && self.unroll == Unrolling::All;
        rolls.then(|| Configuration { size: Size::Rolled, ..self.of_other_kernels() })
    }

    /// The configuration under which kernels have half as many merged constant parameters.
    pub fn with_fewer_merged_constants(&self) -> Configuration {
        let merged_constants = self.merged_constants / 2;
        Configuration { merged_constants, ..self.of_other_kernels() }
    }

    /// The configuration under which no kernels are shared.
    pub fn unshared(&self) -> Configuration {
        Configuration { share: false, ..self.of_other_kernels() }
    }

    /// Why another configuration of the same plan takes the place of this one, which is told of
    /// the program as a whole.
    pub fn why_not(&self, other: &Configuration, program: Option<Span>) -> Remark {
        if self.jam != other.jam {
            let (kind, name, message) = match &other.jam {
                Trial::Only(steps) => (
                    RemarkKind::Missed,
                    "NotJammed",
                    Message::of("vectors are computed together in ")
                        .value("Steps", steps.len())
                        .text(" steps only: the program would be too large, or others slower"),
                ),
                _ => (
                    RemarkKind::Passed,
                    "Jammed",
                    Message::of(
                        "vectors are computed together, in reductions or of several planes",
                    ),
                ),
            };
            let (pass, function) = ("jam", String::new());
            return Remark { kind, pass, name, function, span: program, message, terms: vec![] };
        }
        if self.complete != other.complete {
            let (kind, name, message) = match &other.complete {
                Trial::Only(kernels) => (
                    RemarkKind::Missed,
                    "NotComplete",
                    Message::of("loops over few tiles stand in full in ")
                        .value("Kernels", kernels.len())
                        .text(" kernels only: the program would be too large, or others slower"),
                ),
                _ => (
                    RemarkKind::Passed,
                    "Complete",
                    Message::of("loops over few tiles stand in full"),
                ),
            };
            let (pass, function) = ("unroll-completely", String::new());
            return Remark { kind, pass, name, function, span: program, message, terms: vec![] };
        }
        let (name, message) = match other.size {
            _ if other.merged_constants < self.merged_constants => (
                "FewerMergedConstants",
                "registers are too few for the merged constant parameters of kernels",
            ),
            _ if self.share && !other.share => {
                ("Unshared", "registers are too few for the arguments of shared kernels")
            }
            _ if other.unroll == Unrolling::Third && self.unroll == Unrolling::All => {
                ("LessUnrolled", "the program is too large: fewer loops are unrolled")
            }
            _ if other.unroll == Unrolling::None && self.unroll != Unrolling::None => (
                "NotUnrolled",
                "the program is too large: loops are unrolled only where accesses ask for it",
            ),
            Size::Merged if other.apart => (
                "Merged",
                "the program is too large: kernels that differ in constants and do not run much \
                 are one",
            ),
            Size::Merged => (
                "AllMerged",
                "the program is too large: all kernels that differ in constants are one",
            ),
            Size::Rolled => (
                "Rolled",
                "the program is too large, or leaves no room for the loops that run most: others \
                 are not unrolled when code is written",
            ),
            Size::Smallest => ("Smallest", "the program is too large: requests are made in loops"),
            Size::Fast | Size::Compact => {
                ("Compact", "the program is too large: little is requested or exchanged at once")
            }
        };
        Remark {
            kind: RemarkKind::Missed,
            pass: "emit",
            name,
            function: String::new(),
            span: program,
            message: Message::of(message),
            terms: vec![],
        }
    }
}
