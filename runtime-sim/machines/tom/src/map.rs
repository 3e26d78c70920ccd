//! Which line lies in which stack, and how that is learnt (section 4.3): allocations that candidates
//! access go by the best pair of bits, all others by the baseline mapping.
//!
//! What is known is kept from launch to launch of a program. The first launch of each kernel with
//! candidates is watched until a share of its instances is over. In the first of these data is read over
//! the way to the host until then, and nothing is offloaded; later only what is watched is not.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use nbcc_isa_tom::Machine;
use nbcc_isa_tom::address::StackBits;
use nbcc_isa_tom::layout::{Layout, Mapping, Place};
use nbcc_sim_engine::{Company, Cycle};
use nbcc_sim_simt::memory::{FIRST_ADDRESS, Memory};

use crate::analyzer::{self, Analyzer};
use crate::coherence::Faults;
use crate::policy::Experience;

/// Lines and their places.
#[derive(Clone, Debug)]
pub struct Map {
    layout: Layout,
    /// First line and the one behind the last of ranges by a mapping of their own, in order.
    ranges: Vec<(u64, u64, Mapping)>,
}

impl Map {
    /// All by the baseline mapping.
    pub fn new(machine: &Machine) -> Map {
        Map { layout: Layout::new(machine), ranges: Vec::new() }
    }

    /// The mapping of a line.
    #[inline]
    fn of(&self, line: u64) -> Mapping {
        let at = self.ranges.partition_point(|(first, ..)| *first <= line);
        match at.checked_sub(1).map(|at| self.ranges[at]) {
            Some((_, end, mapping)) if line < end => mapping,
            _ => Mapping::Baseline,
        }
    }

    /// Where a line lies.
    #[inline]
    pub fn place(&self, line: u64) -> Place {
        self.layout.place(self.of(line), line)
    }

    /// The stack of a line.
    #[inline]
    pub fn stack(&self, line: u64) -> u32 {
        self.layout.stack(self.of(line), line)
    }

    /// The address of a line from the begin of memory.
    pub fn address(&self, line: u64) -> u64 {
        self.layout.address(line)
    }

    /// The number of the line of an address.
    #[inline]
    pub fn line(&self, address: u64) -> u64 {
        self.layout.line(address.wrapping_sub(FIRST_ADDRESS))
    }
}

/// What is known of the mapping of a program, from launch to launch.
#[derive(Debug, Default)]
pub struct Session {
    /// The instances that were seen.
    analyzer: Option<Analyzer>,
    /// Instances seen, over all launches.
    seen: u64,
    /// Begins of the allocations that candidates access.
    marked: BTreeSet<u64>,
    /// The pair of bits, once it is known.
    pub bits: Option<StackBits>,
    /// Kernels whose instances were seen.
    learnt: BTreeSet<String>,
    /// Whether data was copied to the stacks.
    copied: bool,
    /// Every instance is seen, none is offloaded: to find the best pair of a whole run.
    pub watches_all: bool,
    /// The pair is known from another run.
    is_given: bool,
    /// Whether a second thread of the host is worth it.
    pub company: Company,
    /// Events that a timeline of a launch keeps; none makes no timeline.
    pub trace_events: Option<usize>,
    /// What is left out of coherence, in tests.
    pub faults: Faults,
    /// By candidate: how long its instances took lately.
    experience: Vec<Experience>,
    /// By kernel: the share of its last launch in which each link was in use, to and from each stack.
    pub links: BTreeMap<String, Vec<[f64; 2]>>,
    /// By candidate: of four instances so many go, whatever the policy.
    pub quarters: Option<Vec<u8>>,
}

impl Session {
    /// A run that only watches where instances go.
    pub fn watching() -> Session {
        Session { watches_all: true, copied: true, ..Session::default() }
    }

    /// What a run that watched all instances knows, for another one of the same launches.
    pub fn given(self) -> Session {
        let scores = self.analyzer.as_ref().map(|analyzer| analyzer.scores(u64::MAX));
        let bits = scores.filter(|_| self.seen > 0).and_then(|scores| analyzer::best(&scores));
        Session { bits, marked: self.marked, copied: true, is_given: true, ..Session::default() }
    }

    /// What a run that watched all instances knows, for one under a pair of bits, or the baseline's map, in
    /// which these quarters of the instances of each candidate go.
    pub fn assigned(&self, bits: Option<StackBits>, quarters: Vec<u8>) -> Session {
        Session {
            bits,
            marked: self.marked.clone(),
            copied: true,
            is_given: true,
            quarters: Some(quarters),
            ..Session::default()
        }
    }

    /// How long instances of a candidate took lately.
    pub fn experience(&self, candidate: u32) -> Experience {
        self.experience.get(candidate as usize).copied().unwrap_or_default()
    }

    /// The same, to take more.
    pub fn experience_mut(&mut self, candidate: u32) -> &mut Experience {
        let at = candidate as usize;
        if self.experience.len() <= at {
            self.experience.resize(at + 1, Experience::default());
        }
        &mut self.experience[at]
    }

    /// Of four instances of a candidate so many go, where that is given.
    pub fn quarters_of(&self, candidate: u32) -> u8 {
        let given = self.quarters.as_ref().and_then(|all| all.get(candidate as usize));
        given.copied().unwrap_or_default()
    }

    /// The map as it is known.
    pub fn map(&self, machine: &Machine, memory: &Memory) -> Map {
        let mut map = Map::new(machine);
        let Some(bits) = self.bits else { return map };
        for (base, size) in memory.allocations() {
            if self.marked.contains(&base) {
                let first = map.line(base);
                let end = map.line(base.saturating_add(size.max(1) - 1)) + 1;
                map.ranges.push((first, end, Mapping::Bits(bits)));
            }
        }
        map
    }

    /// What is to be learnt of a launch, if anything. `instances` is how many are expected; `may_wait` says
    /// whether its blocks may wait for each other.
    pub fn learning(
        &mut self,
        machine: &Machine,
        kernel: &str,
        instances: u64,
        may_wait: bool,
    ) -> Option<Learning> {
        if self.is_given || machine.stack.count < 2 || instances == 0 {
            return None;
        }
        if !self.watches_all && !self.learnt.insert(kernel.to_string()) {
            return None;
        }
        let analyzer = self.analyzer.take();
        let wanted = match self.watches_all {
            true => u64::MAX,
            false => analyzer::learned(machine.map.learn_share, instances),
        };
        Some(Learning {
            analyzer: analyzer.unwrap_or_else(|| Analyzer::new(machine.mappings())),
            wanted,
            over: 0,
            begun: 0,
            next: self.seen,
            marked: std::mem::take(&mut self.marked),
            entries: machine.map.entries as usize,
            blocks: 0,
            from_host: !self.copied,
            patience: (may_wait && !self.copied).then(Patience::default),
        })
    }

    /// Takes what was learnt; the pair of bits is chosen of it.
    pub fn take(&mut self, learning: Learning) {
        self.seen = learning.next;
        self.marked = learning.marked;
        self.copied = true;
        if self.seen > 0 {
            self.bits = analyzer::best(&learning.analyzer.scores(u64::MAX));
        }
        self.analyzer = Some(learning.analyzer);
    }
}

/// A launch while it is watched.
#[derive(Debug)]
pub struct Learning {
    analyzer: Analyzer,
    /// Instances that are to be over.
    pub wanted: u64,
    /// Those that are.
    pub over: u64,
    /// Those that have begun.
    begun: u64,
    next: u64,
    marked: BTreeSet<u64>,
    /// Allocations that the table holds.
    entries: usize,
    /// Blocks that are over.
    blocks: u64,
    /// Whether data is still in the host's memory.
    pub from_host: bool,
    /// What is known of blocks that may wait for those which have not started.
    patience: Option<Patience>,
}

/// Cycles without progress after which blocks are taken to wait for others: hundreds of accesses of the
/// host's memory one after another.
const PATIENCE: Cycle = 1 << 20;

/// Whether blocks get anywhere.
#[derive(Debug, Default)]
struct Patience {
    /// Lines that were accessed.
    lines: HashSet<u64>,
    /// The last progress that was seen, and when.
    last: (u64, Cycle),
}

impl Learning {
    /// The number of another instance that is watched, which is not offloaded. Once data is in the stacks
    /// only as many are watched as are wanted.
    pub fn begin(&mut self) -> Option<u64> {
        if !self.from_host && self.begun >= self.wanted {
            return None;
        }
        self.begun += 1;
        self.next += 1;
        Some(self.next - 1)
    }

    /// An instance accesses a line, by its address from the begin of memory.
    pub fn access(&mut self, instance: u64, address: u64, memory: &Memory) {
        self.analyzer.access(instance, address);
        let all = memory.allocation_of(address.wrapping_add(FIRST_ADDRESS));
        if let Some((base, _)) = all
            && !self.marked.contains(&base)
            && memory.allocations().take(self.entries).any(|(known, _)| known == base)
        {
            self.marked.insert(base);
        }
    }

    /// Lines are accessed, in a candidate or elsewhere.
    pub fn reach(&mut self, lines: impl Iterator<Item = u64>) {
        if let Some(patience) = &mut self.patience {
            patience.lines.extend(lines);
        }
    }

    /// Whether blocks that may wait for others get nowhere: for long no instance has begun or ended, no
    /// block ended, and no line was accessed for the first time. It is asked in the order of time.
    pub fn is_stuck(&mut self, now: Cycle) -> bool {
        let Some(patience) = &mut self.patience else { return false };
        let progress = self.begun + self.over + self.blocks + patience.lines.len() as u64;
        if progress != patience.last.0 {
            patience.last = (progress, now);
        }
        now - patience.last.1 >= PATIENCE
    }

    /// A block is over. Once all that were to bring the instances are, no more are waited for.
    pub fn block_over(&mut self, started: u64) {
        self.blocks += 1;
        if self.blocks >= started {
            self.wanted = self.wanted.min(self.over);
        }
    }

    /// Whether enough was seen.
    pub fn is_over(&self) -> bool {
        self.over >= self.wanted
    }
}
