//! List scheduling before registers are allocated, with their number in view: Goodman, Hsu, "Code
//! Scheduling and Register Allocation in Large Basic Blocks", ICS 1988 (integrated prepass
//! scheduling). While registers are free, what has the longest way goes first, loads before all; once a
//! file is full, nothing that takes more of it goes until it is half empty again, so that loads come
//! in batches, and then what they were for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use nbcc_isa::Instruction;

use crate::dependence::{DependenceGraph, Edge};
use crate::list::{Hazards, Issued, Priority, Ready, Timed, as_urgent};
use crate::{InstData, VReg};

/// Of those that are ready, so many are looked at.
const MAX_CANDIDATES: usize = 48;

/// How far before its turn in the program an instruction may come, in instructions: each is tried, and
/// what takes least time is taken. Where a block computes the same of many values, a short way ahead
/// keeps as many of them under way as there are registers for.
const WINDOWS: [usize; 4] = [usize::MAX, 256, 128, 64];

/// The same where accesses stay in the open row of a memory: how far ahead says how many of a row there
/// are registers for, beside those of the others that are read with them.
const ROW_WINDOWS: [usize; 7] = [usize::MAX, 256, 192, 128, 96, 64, 48];

/// Of the cycles of an order, the part that another one has to save.
const MIN_SAVED_PART: u32 = 16;

/// How many times as far what is to come first may come.
const EARLY_WINDOWS: usize = 2;

/// What of registers matters to the order of a block.
pub struct Pressure<'a, C> {
    /// The class of a register and how many entries it takes; `None` for one that is not counted.
    pub class: &'a dyn Fn(VReg) -> Option<(C, u32)>,
    /// The most entries of each class that may be live at once.
    pub limits: &'a [(C, u32)],
    /// The registers that are live at the start of the block, and at its end.
    pub live: (&'a [VReg], &'a [VReg]),
}

/// An order of the instructions of a block in which few wait and few registers are live at once:
/// no more than the limits, or than in the program's order where that is above. `latency`, `priority`
/// and `hazards` are those of [`crate::schedule::list_schedule_with`].
pub fn schedule<I: Instruction<Reg = VReg>>(
    insts: &[InstData<I>],
    graph: &DependenceGraph,
    latency: impl Fn(usize, &Edge) -> u32,
    priority: impl Fn(usize) -> Priority,
    hazards: &Hazards,
    pressure: &Pressure<'_, I::Class>,
) -> Vec<usize> {
    let shorter = |window: &usize| *window == usize::MAX || *window < insts.len();
    let anyhow = WINDOWS.iter().copied().filter(shorter).map(|window| (window, false));
    let rows = if hazards.rows.several() { &ROW_WINDOWS[..] } else { &[] };
    let in_rows = rows.iter().copied().filter(shorter).map(|window| (window, true));
    let graph = Timed::new(graph, latency);
    let live = Live::new(insts, pressure);
    let orders =
        anyhow.chain(in_rows).map(|ahead| within(ahead, &graph, &priority, hazards, live.clone()));
    // The times are estimates: a shorter way ahead has to save something.
    let best = orders.reduce(
        |best, other| if other.1 < best.1 - best.1 / MIN_SAVED_PART { other } else { best },
    );
    best.map(|(order, _)| order).unwrap_or_default()
}

/// What is copied to another register at the end of a block stays behind what reads that: the copy
/// can go away then. `copy` gives the registers of an instruction that copies: to, from.
pub fn keep_copies<I: Instruction<Reg = VReg>>(
    graph: &mut DependenceGraph,
    insts: &[InstData<I>],
    copy: impl Fn(&I) -> Option<(VReg, VReg)>,
) {
    let mut readers: BTreeMap<VReg, Vec<usize>> = BTreeMap::new();
    let mut writer: BTreeMap<VReg, usize> = BTreeMap::new();
    for (at, data) in insts.iter().enumerate() {
        if let Some((to, from)) = copy(&data.inst)
            && let (Some(readers), Some(&made)) = (readers.get(&to), writer.get(&from))
            && readers.iter().all(|&reader| reader <= made)
        {
            for &reader in readers.iter().filter(|&&reader| reader < made) {
                graph.keep_order([reader, made].into_iter());
            }
        }
        data.inst.for_each_operand(|operand| {
            if operand.role.reads() {
                readers.entry(*operand.reg).or_default().push(at);
            }
            if operand.role.writes() {
                writer.insert(*operand.reg, at);
            }
        });
    }
}

/// An order in which no instruction comes further than `window` before its turn, whose accesses stay in the
/// open row of a memory or do not, and the cycles that it takes.
fn within(
    (window, stay): (usize, bool),
    graph: &Timed<'_>,
    priority: impl Fn(usize) -> Priority,
    hazards: &Hazards,
    mut live: Live,
) -> (Vec<usize>, u32) {
    let height = &graph.heights;
    let mut issued = Issued::none(graph, &priority, hazards);
    // By what is to come first: the priority, the longest way to the end, the program.
    let mut ready = Ready::new();
    let mut in_order: BTreeSet<usize> = BTreeSet::new();
    // Ready, but too far ahead of the first instruction that is left: what is to come first, and others.
    let mut ahead: [BTreeSet<usize>; 2] = Default::default();
    let reaches = [window.saturating_mul(EARLY_WINDOWS), window];
    let mut is_issued = vec![false; height.len()];
    let mut first = 0;
    let mut gave_up = false;
    while !issued.is_all() {
        while let Some(at) = issued.arrival() {
            issued.row.goes(at);
            ahead[usize::from(priority(at) > Priority::First)].insert(at);
        }
        for (ahead, reach) in ahead.iter_mut().zip(reaches) {
            while let Some(at) = ahead.first().copied().filter(|at| at - first < reach) {
                ahead.remove(&at);
                issued.row.comes(at);
                ready.insert((priority(at), Reverse(height[at]), at));
                in_order.insert(at);
            }
        }
        let (row, next) = (&issued.row, issued.next());
        let usual = || {
            let ready = ready.iter();
            let now = |&&(priority, ..): &&(Priority, _, _)| {
                priority < Priority::Last || issued.coming == 0
            };
            ready.take_while(now).map(|&(.., at)| at)
        };
        let mut fits = None;
        let mut holds = stay && row.holds();
        if holds {
            // What accesses the open row goes on as long as there are any registers.
            let open = ready.iter().map(|&(.., at)| at).filter(|&at| row.is_open(at));
            fits = open.take(MAX_CANDIDATES).find(|&at| live.takes(at));
            let here = || usual().filter(|&at| !row.leads_away(at)).take(MAX_CANDIDATES);
            fits = fits.or_else(|| here().find(|&at| live.fits(at)));
            let turn = in_order.iter().copied().filter(|&at| !row.leads_away(at));
            let turn =
                || turn.clone().filter(|&at| priority(at) < Priority::Last).take(MAX_CANDIDATES);
            fits = fits.or_else(|| turn().find(|&at| live.takes(at)));
            let away = || usual().filter(|&at| !row.turns(at)).take(MAX_CANDIDATES);
            fits = fits.or_else(|| away().find(|&at| live.fits(at)));
            holds =
                fits.is_some() || next.is_some_and(|cycle| cycle <= issued.clock + row.patience());
        }
        if !holds {
            fits = usual().take(MAX_CANDIDATES).find(|&at| live.fits(at));
            let may =
                |at: &usize| priority(*at) < Priority::Last || live.is_full() || issued.coming == 0;
            let in_turn: Vec<usize> = match fits {
                Some(_) => vec![],
                None => in_order.iter().copied().filter(may).take(MAX_CANDIDATES).collect(),
            };
            fits = fits.or_else(|| in_turn.into_iter().find(|&at| live.fits(at)));
        }
        if let Some(at) = fits
            && stay
            && row.turns(at)
        {
            let others = as_urgent(&ready, at, row.patience()).filter(|&at| live.takes(at));
            fits = row.shortest(others).or(fits);
        }
        let at = match (fits, next) {
            (Some(at), _) => at,
            (None, Some(cycle)) => {
                issued.clock = cycle;
                continue;
            }
            // What is to free registers needs some first; more than there are, maybe.
            (None, None) if !gave_up && live.give_up() => {
                gave_up = true;
                continue;
            }
            (None, None) => in_order.first().copied().expect("something is ready"),
        };
        ready.remove(&(priority(at), Reverse(height[at]), at));
        in_order.remove(&at);
        if !issued.issue(at) {
            continue;
        }
        live.issue(at);
        gave_up = false;
        is_issued[at] = true;
        first += is_issued[first..].iter().take_while(|issued| **issued).count();
    }
    issued.order()
}

/// A register of the block.
#[derive(Clone, Copy, Default)]
struct State {
    class: usize,
    /// Entries that it takes.
    entries: u32,
    /// Reads that are still to come, the one behind the block included.
    reads: u32,
    live: bool,
}

/// The registers that are live while a block is put in order.
#[derive(Clone)]
struct Live {
    states: Vec<State>,
    /// The registers that each instruction reads, each once for each operand, and writes.
    reads: Rc<[Vec<usize>]>,
    writes: Rc<[Vec<usize>]>,
    now: Vec<u32>,
    limits: Vec<u32>,
    /// Of each class, those that are live from the start to the end: no order frees them.
    through: Vec<u32>,
    /// Whether a class was full and is not half empty yet.
    full: Vec<bool>,
}

impl Live {
    fn new<I: Instruction<Reg = VReg>>(
        insts: &[InstData<I>],
        pressure: &Pressure<'_, I::Class>,
    ) -> Live {
        let mut numbers: BTreeMap<VReg, usize> = BTreeMap::new();
        let mut states: Vec<State> = Vec::new();
        let mut number = |states: &mut Vec<State>, vreg: VReg| {
            let (class, entries) = (pressure.class)(vreg)?;
            let class = pressure.limits.iter().position(|&(other, _)| other == class)?;
            Some(*numbers.entry(vreg).or_insert_with(|| {
                states.push(State { class, entries, ..State::default() });
                states.len() - 1
            }))
        };
        let mut reads = vec![Vec::new(); insts.len()];
        let mut writes = vec![Vec::new(); insts.len()];
        for (at, data) in insts.iter().enumerate() {
            data.inst.for_each_operand(|operand| {
                let Some(n) = number(&mut states, *operand.reg) else { return };
                if operand.role.reads() {
                    reads[at].push(n);
                    states[n].reads += 1;
                }
                if operand.role.writes() {
                    writes[at].push(n);
                }
            });
        }
        let mut now = vec![0; pressure.limits.len()];
        for &vreg in pressure.live.0 {
            if let Some(n) = number(&mut states, vreg) {
                states[n].live = true;
                now[states[n].class] += states[n].entries;
            }
        }
        let mut through = vec![0; pressure.limits.len()];
        for &vreg in pressure.live.1 {
            if let Some(n) = number(&mut states, vreg) {
                states[n].reads += 1;
                through[states[n].class] += if states[n].live { states[n].entries } else { 0 };
            }
        }
        let limits = pressure.limits.iter().map(|&(_, limit)| limit).collect();
        let full = vec![false; pressure.limits.len()];
        let [reads, writes] = [reads, writes].map(Rc::from);
        Live { states, reads, writes, now, limits, through, full }
    }

    /// How many entries of a class more are live once an instruction has issued.
    fn change(&self, at: usize, class: usize) -> i32 {
        let mut change = 0;
        for (k, &n) in self.reads[at].iter().enumerate() {
            let state = self.states[n];
            let again = self.reads[at][..k].contains(&n);
            let own = self.reads[at].iter().filter(|&&other| other == n).count() as u32;
            if state.class == class && !again && state.reads == own && state.live {
                change -= state.entries as i32;
            }
        }
        for &n in &self.writes[at] {
            let state = self.states[n];
            let read_too = self.reads[at].contains(&n);
            if state.class == class && !state.live && !read_too {
                change += state.entries as i32;
            }
        }
        change
    }

    /// Whether there are registers for an instruction, though a class may have been full.
    fn takes(&self, at: usize) -> bool {
        (0..self.limits.len()).all(|class| {
            let change = self.change(at, class);
            change <= 0 || self.now[class] + change as u32 <= self.limits[class]
        })
    }

    /// Whether an instruction takes no more registers than there are.
    fn fits(&mut self, at: usize) -> bool {
        (0..self.limits.len()).all(|class| {
            let change = self.change(at, class);
            if change <= 0 {
                return true;
            }
            let fits = !self.full[class] && self.now[class] + change as u32 <= self.limits[class];
            self.full[class] |= !fits;
            fits
        })
    }

    /// Whether a class was full and is not half empty yet.
    fn is_full(&self) -> bool {
        self.full.contains(&true)
    }

    /// Classes that were full take what they can again; whether there was one that can.
    fn give_up(&mut self) -> bool {
        let mut any = false;
        for class in 0..self.limits.len() {
            any |= self.full[class] && self.now[class] < self.limits[class];
            self.full[class] = false;
        }
        any
    }

    fn issue(&mut self, at: usize) {
        for k in 0..self.reads[at].len() {
            let state = &mut self.states[self.reads[at][k]];
            state.reads -= 1;
            if state.reads == 0 && state.live {
                state.live = false;
                self.now[state.class] -= state.entries;
            }
        }
        for k in 0..self.writes[at].len() {
            let state = &mut self.states[self.writes[at][k]];
            if state.reads > 0 && !state.live {
                state.live = true;
                self.now[state.class] += state.entries;
            }
        }
        for class in 0..self.limits.len() {
            let [now, limit, through] = [&self.now, &self.limits, &self.through].map(|n| n[class]);
            self.full[class] &= now > through + limit.saturating_sub(through) / 2;
        }
    }
}
