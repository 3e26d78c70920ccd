//! What became of loops, and why, in words of the source.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_base::{SourceMap, Span};
use nbcc_ir::Block;
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::Opcode;
use nbcc_mach::emit::source_place;

use crate::map::mii::{Mii, Resource};

/// What became of a loop.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The block that it begins with.
    pub header: Block,
    /// Where it is in the source.
    pub span: Option<Span>,
    /// Loops around it, itself included.
    pub depth: u32,
    /// What the core takes for an iteration, in cycles.
    pub core_cycles: u32,
    /// Where it went, or why it stays.
    pub place: Result<OnArray, String>,
    /// The loop of the source that it is, by its number in [`crate::arrays::facts::sources::Sources`].
    pub own: Option<usize>,
    /// The loops of the source of which something is in it; none where there is a loop inside.
    pub parts: BTreeSet<usize>,
    /// What else is known of it.
    pub notes: Notes,
}

/// What is found out about a loop on the way.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Why pragmas are not followed, by their names.
    pub unmet: BTreeMap<&'static str, String>,
    /// What else could have become of it, in words.
    pub others: Vec<String>,
}

/// A loop on an array.
#[derive(Clone, Debug)]
pub struct OnArray {
    /// The numbers of the arrays that share it.
    pub arrays: Vec<u8>,
    /// The numbers of its packages.
    pub packages: std::ops::Range<u32>,
    /// The interval.
    pub ii: u32,
    /// The shortest that is asked for.
    pub least_ii: u32,
    /// Its bounds.
    pub mii: Mii,
    /// Whether no shorter interval exists.
    pub is_proved: bool,
    /// Iterations of the source that are one on the array.
    pub times: u32,
    /// Operations of an iteration.
    pub operations: usize,
    /// Where recurrences of sums were made shorter.
    pub shortened: Option<Shortened>,
    /// Whether another mapper did it than was asked, for which it is too much.
    pub instead: bool,
    /// Those that hand values on.
    pub routes: usize,
    /// From how many iterations on the array runs it.
    pub least: u32,
    /// The operations of a cycle of dependences that gives the interval, and where they come from.
    pub cycle: Vec<(Opcode, Option<Span>)>,
    /// Whether nothing else reads what the operations of that cycle compute.
    pub is_private: bool,
    /// Where and when each operation runs, by PEs and slots.
    pub places: Vec<At>,
}

/// What became of the recurrences of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Shortened {
    /// The interval that they asked for before.
    pub rec_mii: u32,
    /// Operations of an iteration now.
    pub operations: usize,
}

/// Where and when an operation runs.
#[derive(Clone, Debug)]
pub struct At {
    /// What it does; `None` where it only hands on what another one did.
    pub op: Option<Opcode>,
    /// Where it comes from.
    pub span: Option<Span>,
    /// Row and column of its PE.
    pub pe: (u32, u32),
    /// The slot of the interval.
    pub slot: u16,
    /// The stage of the pipeline.
    pub stage: u16,
}

/// Steps of a recurrence that are named at most.
const MOST_STEPS: usize = 8;

impl OnArray {
    /// The arrays in words.
    pub fn names(&self, machine: &Machine) -> String {
        let names = self.arrays.iter().map(|&array| machine.array_name(array.into()));
        let names: Vec<String> = names.map(|name| name.to_string()).collect();
        match &names[..] {
            [one] => one.clone(),
            all => format!("{}, a part each,", all.join(", ")),
        }
    }

    /// What starts each interval, in words.
    pub fn iterations(&self) -> String {
        match self.times {
            1 => "an iteration".to_string(),
            times => format!("{times} iterations at a time"),
        }
    }

    /// What holds the interval where it is, in words.
    pub fn why(&self, sources: &SourceMap) -> String {
        let held = match self.is_recurrence() {
            true => format!("held by the recurrence {}", self.recurrence(sources)),
            false => {
                let limit = self.mii.limit;
                let [takes, what] = limit.resource.words();
                format!("held by {} {takes} on {} {what}", limit.uses, limit.capacity)
            }
        };
        if self.ii > self.mii.mii && self.ii == self.least_ii {
            return format!("as `ii({})` asks: {} is {held}", self.ii, self.mii.mii);
        }
        match (self.ii > self.mii.mii, self.is_proved) {
            (false, _) => held,
            (true, true) => {
                format!("{} is {held}, but shorter ones are proved impossible", self.mii.mii)
            }
            (true, false) => {
                let mii = self.mii.mii;
                format!("the least possible is {mii}, {held}, which the mapper did not reach")
            }
        }
    }

    /// Whether recurrences hold the interval.
    fn is_recurrence(&self) -> bool {
        self.mii.rec >= self.mii.res && self.mii.rec > 0
    }

    /// The cycle that gives RecMII, line by line of the source.
    fn recurrence(&self, sources: &SourceMap) -> String {
        let mut steps: Vec<(String, Vec<(&str, usize)>)> = Vec::new();
        for &(op, span) in &self.cycle {
            let place = span.and_then(|span| place(sources, span)).unwrap_or_else(|| "?".into());
            if steps.last().is_none_or(|step| step.0 != place) {
                steps.push((place, vec![]));
            }
            let ops = &mut steps.last_mut().expect("one is there").1;
            match ops.last_mut() {
                Some((last, times)) if *last == op.mnemonic() => *times += 1,
                _ => ops.push((op.mnemonic(), 1)),
            }
        }
        // A cycle begins anywhere: what ends on the line that it began on belongs there.
        if steps.len() > 1 && steps.first().map(|step| &step.0) == steps.last().map(|step| &step.0)
        {
            let (_, mut ops) = steps.pop().expect("there are several");
            let first = &mut steps[0].1;
            if let (Some(last), Some(next)) = (ops.last_mut(), first.first())
                && last.0 == next.0
            {
                last.1 += next.1;
                first.remove(0);
            }
            ops.append(first);
            steps[0].1 = ops;
        }
        let several = |&(op, times): &(&str, usize)| match times {
            1 => op.to_string(),
            times => format!("{times} {op}"),
        };
        let text = |(place, ops): &(String, Vec<(&str, usize)>)| {
            let ops: Vec<String> = ops.iter().map(several).collect();
            format!("{place} ({})", ops.join(", "))
        };
        let mut all: Vec<String> = steps.iter().take(MOST_STEPS).map(text).collect();
        if steps.len() > MOST_STEPS {
            all.push(format!("{} more", steps.len() - MOST_STEPS));
        }
        if steps.len() > 1 {
            all.push(steps[0].0.clone());
        }
        let over = match self.mii.cycle_distance {
            1 => String::new(),
            distance => format!(" over {distance} iterations"),
        };
        format!("{}{over}", all.join(" -> "))
    }

    /// What would lower the interval, in words; `None` where a cycle an iteration is the least there is.
    pub fn lower(&self) -> Option<String> {
        if self.ii > self.mii.mii && self.ii == self.least_ii {
            return Some("no pragma that asks for it".into());
        }
        if self.ii > self.mii.mii {
            return Some(match self.is_proved {
                true => "fewer operations, or values that fewer operations read".into(),
                false => "a longer search: `nbcc map` has a time limit, `-X mapper=sat` searches otherwise"
                    .into(),
            });
        }
        let lower = self.mii.lower()?;
        let of_cycle = lower.cycle.map(|(length, distance)| {
            let most = self.mii.cycle_distance;
            let have = self.cycle.len();
            let by = format!("{length} operations in that recurrence, which has {have}");
            let split = match self.splits() {
                true => format!(
                    "an accumulator split in {}, which are put together behind the loop",
                    distance.div_ceil(most.max(1))
                ),
                false => format!("a value of {distance} iterations before in place of {most}"),
            };
            let other = match (self.is_memory(), self.is_associative()) {
                (true, _) => "; it goes through memory: keep the element in a variable",
                (false, true) if self.shortened.is_some() => {
                    "; sums are put together otherwise already"
                }
                (false, true) => "; another order of its sums, where nobody reads those in between",
                (false, false) => "; no other order of them, which are of several kinds",
            };
            format!("at most {by}, or {split}{other}")
        });
        let of_limits = lower.limits.iter().map(|&(resource, uses, capacity)| {
            let [takes, what] = resource.words();
            let more = match resource {
                Resource::Memory => ", as where neighbours are one word",
                Resource::Pe => "",
            };
            format!("at most {uses} {takes} an iteration{more}, or {capacity} {what}")
        });
        let all: Vec<String> = of_cycle.into_iter().chain(of_limits).collect();
        Some(format!("{} would take {}", lower.ii, all.join("; and ")))
    }

    /// Whether the cycle goes from a store to a load.
    fn is_memory(&self) -> bool {
        self.cycle.iter().any(|(op, _)| *op == Opcode::Store)
    }

    /// Whether all of the cycle may be done in any order.
    fn is_associative(&self) -> bool {
        let family = |op: &Opcode| match op {
            Opcode::Add | Opcode::Sub => Some(Opcode::Add),
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Cmp => Some(*op),
            _ => None,
        };
        let mut all = self.cycle.iter().map(|(op, _)| family(op));
        let first = all.next().flatten();
        first.is_some() && all.all(|other| other == first)
    }

    /// Whether several sums may take turns in place of one: nobody asks for what they are on the way.
    fn splits(&self) -> bool {
        self.is_associative() && self.is_private
    }
}

/// File and line of a span, where the file is known.
pub fn place(sources: &SourceMap, span: Span) -> Option<String> {
    let at = source_place(sources, span)?;
    let name = at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file);
    Some(format!("{name}:{}", at.line))
}

/// The line of a span; 0 where its file is not known.
pub fn line(sources: &SourceMap, span: Span) -> u32 {
    source_place(sources, span).map_or(0, |at| at.line)
}
