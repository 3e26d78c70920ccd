//! The groups of a vault, and how little of them has to be simulated.
//!
//! Instructions are broadcast, and a buffer has the same addresses in every bank, so
//! the controllers of a vault mostly see the same requests in the same cycles. Groups
//! that have seen the same form a class, and a class is simulated once. A class is
//! split when its groups' requests differ, and classes are joined again when their
//! controllers have the same requests and behave alike. Results are those of simulating every group.

use std::sync::Arc;

use nbcc_sim_dram::{Command, Completion, Issued, Model, Request, Stats};
use nbcc_sim_engine::Cycle;

use crate::alu::Words;
use crate::group::Group;

/// Groups that have seen the same requests.
#[derive(Clone, Debug)]
struct Class {
    group: Group,
    /// Bit i for group i.
    members: u32,
    /// What of the controller's counters is in the totals.
    counted: Stats,
}

/// Counters of all controllers of a vault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramTotals {
    /// Requests accepted.
    pub requests: u64,
    /// Columns read.
    pub reads: u64,
    /// Columns written.
    pub writes: u64,
    /// Requests that found their row open.
    pub hits: u64,
    /// Requests that found no row open.
    pub misses: u64,
    /// Requests that found another row open.
    pub conflicts: u64,
    /// Rows opened.
    pub activates: u64,
    /// Rows closed.
    pub precharges: u64,
    /// Refreshes of a group.
    pub refreshes: u64,
    /// Commands of any kind.
    pub commands: u64,
    /// Cycles in which a request waited for a command.
    pub busy: u64,
}

impl DramTotals {
    /// Adds what `times` controllers counted between two states of their counters.
    fn add_between(&mut self, before: &Stats, after: &Stats, times: u64) {
        let of = |field: fn(&Stats) -> u64| times * (field(after) - field(before));
        self.requests += of(|stats| stats.requests);
        self.reads += of(Stats::column_reads);
        self.writes += of(Stats::column_writes);
        self.hits += of(|stats| stats.hits);
        self.misses += of(|stats| stats.misses);
        self.conflicts += of(|stats| stats.conflicts);
        self.activates += of(|stats| stats.commands.of(Command::Activate));
        self.precharges += of(|stats| stats.rows_closed);
        self.refreshes += of(|stats| stats.commands.of(Command::Refresh));
        self.commands += of(|stats| stats.commands.total());
        self.busy += of(|stats| stats.busy_cycles);
    }

    /// Adds those of another vault.
    pub fn add(&mut self, other: &DramTotals) {
        self.requests += other.requests;
        self.reads += other.reads;
        self.writes += other.writes;
        self.hits += other.hits;
        self.misses += other.misses;
        self.conflicts += other.conflicts;
        self.activates += other.activates;
        self.precharges += other.precharges;
        self.refreshes += other.refreshes;
        self.commands += other.commands;
        self.busy += other.busy;
    }
}

/// The groups of a vault.
#[derive(Clone, Debug)]
pub struct Groups {
    classes: Vec<Class>,
    /// The class of each group.
    class_of: Vec<u8>,
    /// Engines of a group.
    pes: u32,
    totals: DramTotals,
}

/// A class came out of another; what the old one still has to do the new one has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The old class.
    pub from: usize,
    /// The new one.
    pub to: usize,
}

fn bits(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |bit| mask >> bit & 1 != 0)
}

impl Groups {
    /// `count` idle groups of `pes` engines, in one class or in one each.
    pub fn new(count: u32, pes: u32, model: &Arc<Model>, together: bool) -> Groups {
        let class =
            |members| Class { group: Group::new(model), members, counted: Stats::default() };
        let (classes, class_of) = if together {
            (vec![class(u32::MAX >> (32 - count))], vec![0; count as usize])
        } else {
            ((0..count).map(|group| class(1 << group)).collect(), (0..count as u8).collect())
        };
        Groups { classes, class_of, pes, totals: DramTotals::default() }
    }

    /// Number of classes. They are numbered from 0.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// The class of a group.
    pub fn class_of(&self, group: u32) -> usize {
        usize::from(self.class_of[group as usize])
    }

    /// The groups of a class.
    pub fn members(&self, class: usize) -> impl Iterator<Item = u32> + use<> {
        bits(self.classes[class].members)
    }

    /// The first group of a class.
    pub fn first(&self, class: usize) -> u32 {
        self.classes[class].members.trailing_zeros()
    }

    /// Splits classes until a bank access of the engines of `mask` at `addresses` is
    /// the same for all groups of a class. Calls `note` for each split.
    pub fn part(&mut self, mask: u32, addresses: &Words, mut note: impl FnMut(Split)) {
        let mut class = 0;
        while class < self.classes.len() {
            let first = self.first(class);
            let differ =
                self.members(class).filter(|group| !self.alike(first, *group, mask, addresses));
            let differ = differ.fold(0, |groups, group| groups | 1 << group);
            if differ != 0 {
                note(self.split(class, differ));
            }
            class += 1;
        }
    }

    fn alike(&self, a: u32, b: u32, mask: u32, addresses: &Words) -> bool {
        let of = |group: u32| u64::from(mask) >> (group * self.pes) & ((1 << self.pes) - 1);
        a == b
            || of(a) == of(b)
                && (0..self.pes).all(|pe| {
                    let address = |group: u32| addresses[(group * self.pes + pe) as usize];
                    of(a) >> pe & 1 == 0 || address(a) == address(b)
                })
    }

    /// Gives a group a class of its own, if it shares one.
    pub fn isolate(&mut self, group: u32, note: impl FnOnce(Split)) {
        let class = self.class_of(group);
        if self.classes[class].members != 1 << group {
            note(self.split(class, 1 << group));
        }
    }

    fn split(&mut self, from: usize, members: u32) -> Split {
        self.count(from);
        let to = self.classes.len();
        let old = &mut self.classes[from];
        old.members &= !members;
        let new = Class { members, ..old.clone() };
        self.classes.push(new);
        for group in bits(members) {
            self.class_of[group as usize] = to as u8;
        }
        Split { from, to }
    }

    /// The cycle up to which everything is done of the class that has come furthest.
    pub fn latest(&self) -> Cycle {
        self.classes.iter().map(|class| class.group.now()).max().unwrap_or(0)
    }

    /// Joins classes that have come equally far and behave alike, also in what they still have to
    /// do. Calls `note` with the number of each class that is no more: those behind it are one less
    /// from then on.
    pub fn join(&mut self, mut note: impl FnMut(usize)) {
        let mut at = 0;
        while at < self.classes.len() {
            let alike = |other: &Class| other.group.is_equivalent(&self.classes[at].group);
            let Some(same) = self.classes[..at].iter().position(alike) else {
                at += 1;
                continue;
            };
            self.count(at);
            self.count(same);
            let class = self.classes.remove(at);
            self.classes[same].members |= class.members;
            note(at);
        }
        for (number, class) in self.classes.iter().enumerate() {
            for group in bits(class.members) {
                self.class_of[group as usize] = number as u8;
            }
        }
    }

    /// Announces a request to all groups of a class; see [`Group::push`].
    #[inline]
    pub fn push(&mut self, class: usize, time: Cycle, local: bool, request: Request) {
        self.classes[class].group.push(time, local, request);
    }

    /// See [`Group::next_event`].
    #[inline]
    pub fn next_event(&mut self, class: usize) -> Option<Cycle> {
        self.classes[class].group.next_event()
    }

    /// The earliest of [`Groups::next_event`] over all classes.
    pub fn next_event_of_any(&mut self) -> Option<Cycle> {
        self.classes.iter_mut().filter_map(|class| class.group.next_event()).min()
    }

    /// See [`Group::advance`].
    #[inline]
    pub fn advance(&mut self, class: usize, until: Cycle, done: &mut Vec<Completion>) {
        self.classes[class].group.advance(until, done);
    }

    /// Starts to log commands.
    pub fn enable_log(&mut self) {
        self.classes.iter_mut().for_each(|class| class.group.enable_log());
    }

    /// The commands of a class logged since the last call.
    pub fn take_log(&mut self, class: usize) -> Vec<Issued> {
        self.classes[class].group.take_log()
    }

    /// Brings the counters of a class to the totals.
    fn count(&mut self, class: usize) {
        let class = &mut self.classes[class];
        let times = u64::from(class.members.count_ones());
        let stats = class.group.stats();
        self.totals.add_between(&class.counted, stats, times);
        class.counted = stats.clone();
    }

    /// Counters of all controllers so far.
    pub fn totals(&mut self) -> DramTotals {
        (0..self.classes.len()).for_each(|class| self.count(class));
        self.totals
    }
}
