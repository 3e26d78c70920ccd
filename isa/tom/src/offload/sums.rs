//! What an entry costs and saves, counted in the binary: that its tag and its trips are those that the
//! cost of offloading gives (section 3.1.1).

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa::Instruction;
use nbcc_isa_simt::operands::{Base, Space, Special, SpecialWide};
use nbcc_isa_simt::{Category, Op};

use super::check::Checker;
use super::{Entry, Tag};
use crate::cost::{self, Amounts};
use crate::machine::Cost;

/// What is wrong with the sums of an entry whose registers are right: inputs, the trips that it counts
/// on or asks for, whether it pays, and its tag.
pub fn fault(checker: &Checker<'_>, entry: &Entry, cost: &Cost) -> Option<String> {
    let (begin, end) = (entry.begin, entry.end);
    let inputs = inputs(checker, begin, end);
    if entry.inputs != inputs {
        return Some(format!(
            "it reads {inputs} parameters and special registers, not {}",
            entry.inputs
        ));
    }
    let amounts = amounts(checker, entry);
    let trips = match (static_trips(checker, begin, end), entry.condition) {
        (Some(trips), None) => trips,
        (Some(trips), Some(_)) => {
            return Some(format!("it has a condition, but always makes {trips} trips"));
        }
        (None, None) if checker.condition(begin, end).is_none() => 1,
        (None, condition) => {
            let said = condition.map_or(1, |condition| condition.threshold);
            match cost::threshold(cost, &amounts) {
                Some(least) if least == said => least,
                Some(least) => {
                    return Some(format!("it pays from {least} trips on, not from {said}"));
                }
                None => return Some("it never pays".into()),
            }
        }
    };
    if entry.trips != trips {
        return Some(format!("it is made for {trips} trips, not {}", entry.trips));
    }
    let traffic = cost::traffic(cost, &amounts, trips);
    if !traffic.pays() {
        return Some(format!("it does not pay: {} words more are moved", traffic.total()));
    }
    let tag = Tag { tx: traffic.tx < 0.0, rx: traffic.rx < 0.0 };
    (entry.tag != tag).then(|| {
        format!(
            "its tag does not follow from {} words to memory and {} back",
            traffic.tx, traffic.rx
        )
    })
}

/// The registers that an entry moves, and the accesses of a trip.
fn amounts(checker: &Checker<'_>, entry: &Entry) -> Amounts {
    let (begin, end) = (entry.begin, entry.end);
    let (loads, stores) = accesses(checker, begin, end);
    Amounts {
        registers_in: checker.webs.count_of(&entry.live_in, begin) + u64::from(entry.inputs),
        registers_out: checker.webs.count_of(&entry.live_out, end),
        loads,
        stores,
    }
}

/// The trips of the loop that a range is, if all of its numbers are known.
fn static_trips(checker: &Checker<'_>, begin: u32, end: u32) -> Option<u64> {
    let condition = checker.condition(begin, end)?;
    let mut values = Vec::new();
    for reg in condition.registers() {
        values.push((reg, checker.number_at_entry(reg, begin, end)?));
    }
    condition.trips(|reg| values.iter().find(|(known, _)| *known == reg).map_or(0, |(_, v)| *v))
}

/// Parameters and special registers that a range reads, each once.
fn inputs(checker: &Checker<'_>, begin: u32, end: u32) -> u32 {
    let mut params: BTreeSet<(u32, i32)> = BTreeSet::new();
    let mut params_at: BTreeSet<(u32, i32)> = BTreeSet::new();
    let mut special: BTreeSet<Special> = BTreeSet::new();
    let mut wide: BTreeSet<SpecialWide> = BTreeSet::new();
    for at in begin..end {
        match &checker.code.at(at).op {
            Op::Sreg { special: read, .. } => {
                special.insert(*read);
            }
            Op::SregWide { special: read, .. } => {
                wide.insert(*read);
            }
            op if op.space() == Some(Space::Param) => match op.address() {
                Some((&Base::Imm(base), offset)) => {
                    params.insert((base, offset.0));
                }
                Some((&Base::Reg(reg), offset)) => {
                    let web = checker.webs.read(at, reg).expect("it is read");
                    params_at.insert((web, offset.0));
                }
                None => {}
            },
            _ => {}
        }
    }
    (params.len() + params_at.len() + special.len() + wide.len()) as u32
}

/// Loads and stores of a range in one trip: those of a loop inside as often as it runs, if that is
/// known.
fn accesses(checker: &Checker<'_>, begin: u32, end: u32) -> (u64, u64) {
    let loops = inner_loops(checker, begin, end);
    let (mut loads, mut stores) = (0u64, 0u64);
    for at in begin..end {
        let inst = checker.code.at(at);
        let counts = matches!(inst.op.space(), Some(Space::Global | Space::Local | Space::Generic));
        if inst.category() != Category::Memory || !counts {
            continue;
        }
        let holding = loops.iter().filter(|inner| inner.body.contains(&at));
        let times = holding.fold(1u64, |times, inner| times.saturating_mul(inner.trips));
        let sum = if inst.memory_writes().is_empty() { &mut loads } else { &mut stores };
        *sum = sum.saturating_add(times);
    }
    (loads, stores)
}

struct InnerLoop {
    body: BTreeSet<u32>,
    trips: u64,
}

/// The natural loops in a range, but for that which begins with it.
fn inner_loops(checker: &Checker<'_>, begin: u32, end: u32) -> Vec<InnerLoop> {
    let code = &checker.code;
    let mut latches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for at in begin..end {
        if let Some(header) = code.target(at)
            && (begin + 1..=at).contains(&header)
            && code.dominates((begin, end), header, at)
        {
            latches.entry(header).or_default().push(at);
        }
    }
    let mut loops = Vec::new();
    for (header, mut work) in latches {
        let last = work[work.len() - 1];
        let mut body: BTreeSet<u32> = [header].into();
        while let Some(at) = work.pop() {
            if body.insert(at) {
                work.extend(checker.before(at));
            }
        }
        let is_range = body.len() as u32 == last + 1 - header;
        let is_confined = is_range && checker.flow_fault(header, last + 1, header + 1).is_none();
        let trips = is_confined.then(|| static_trips(checker, header, last + 1)).flatten();
        loops.push(InnerLoop { body, trips: trips.unwrap_or(1) });
    }
    loops
}
