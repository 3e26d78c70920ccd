//! What a range must not hold to run beside memory (TOM paper, section 3.1.4).

use nbcc_analysis::listing::{Effect, Facts};

use super::found::Range;

/// Why a loop is no candidate. Of several the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It lies in a loop that is one.
    InsideCandidate,
    /// Control enters it elsewhere than at its begin, or leaves it elsewhere than behind its end.
    ControlFlow,
    /// Shared memory, which stacks do not reach.
    Shared,
    /// Atomic operations.
    Atomic,
    /// Barriers, fences, exchange between the threads of a warp.
    Synchronization,
    /// Loads and stores with an order of their own.
    OrderedAccess,
    /// Calls.
    Call,
    /// Registers that differ from multiprocessor to multiprocessor, or from time to time.
    SpecialRegister,
    /// It would move as much as it saves, or more.
    NoBenefit,
}

impl Reason {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Reason::InsideCandidate => "inside-candidate",
            Reason::ControlFlow => "control-flow",
            Reason::Shared => "shared",
            Reason::Atomic => "atomic",
            Reason::Synchronization => "synchronization",
            Reason::OrderedAccess => "ordered-access",
            Reason::Call => "call",
            Reason::SpecialRegister => "special-register",
            Reason::NoBenefit => "no-benefit",
        }
    }
}

/// Why an instruction may be in no range.
pub fn of_effect(effect: Effect) -> Option<Reason> {
    match effect {
        Effect::Leave => Some(Reason::ControlFlow),
        Effect::Shared => Some(Reason::Shared),
        Effect::Atomic => Some(Reason::Atomic),
        Effect::Synchronisation => Some(Reason::Synchronization),
        Effect::Ordered => Some(Reason::OrderedAccess),
        Effect::Call => Some(Reason::Call),
        Effect::ProcessorState => Some(Reason::SpecialRegister),
        Effect::Load | Effect::Store | Effect::None => None,
    }
}

/// Why a range may not run beside memory, and the first instruction that makes it so.
pub fn of_range(facts: &Facts<'_>, range: Range) -> Option<(Reason, u32)> {
    let Range { first, last } = range;
    let strays = (first..=last).find(|&at| {
        let line = &facts.listing.code[at as usize];
        let stays = |to: &u32| (first..=last + 1).contains(to);
        let entered = &facts.flow.predecessors[at as usize];
        let leaves_function = line.falls && at as usize + 1 == facts.listing.code.len();
        let is_confined = !leaves_function
            && line.targets.iter().all(stays)
            && (at == first || entered.iter().all(|from| (first..=last).contains(from)));
        !is_confined
    });
    if let Some(at) = strays {
        return Some((Reason::ControlFlow, at));
    }
    let effects = (first..=last).filter_map(|at| {
        let reason = of_effect(facts.listing.code[at as usize].effect)?;
        Some((reason, at))
    });
    effects.min()
}
