//! What an entry costs and saves, counted in the binary: that its tag and its trips are those that the
//! cost of offloading gives (section 3.1.1).

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa::{Instruction, LoadError};
use nbcc_isa_simt::operands::{Base, Space, Special, SpecialWide};
use nbcc_isa_simt::{Category, Op, Program};

use super::check::Checker;
use super::record::SECTION;
use super::{Entry, OffloadTable, Tag};
use crate::Machine;
use crate::cost::{self, Amounts};
use crate::machine::Cost;

/// Proves a table with its sums: what [`super::check`] asks for, and that the registers sent are
/// exactly those that are needed, tags and trips follow from the equations, and every entry pays.
///
/// # Errors
/// The first entry of which that is not so, with the reason.
pub fn prove(program: &Program) -> Result<(), LoadError> {
    super::check(program)?;
    let table = OffloadTable::of(program)?;
    let machine = Machine::from_toml(&program.machine.toml, &[])?;
    let mut checkers: BTreeMap<u32, Checker<'_>> = BTreeMap::new();
    for (number, entry) in table.entries.iter().enumerate() {
        let kernel = entry.kernel;
        let checker = checkers.entry(kernel).or_insert_with(|| Checker::new(program, kernel));
        if let Some(reason) = sums_fault(checker, entry, &machine.cost) {
            let kernel = &program.kernels[entry.kernel as usize].name;
            let message =
                format!("entry {number}, of kernel `{}`: {reason}", kernel.escape_debug());
            return Err(LoadError::new(SECTION, 0, message));
        }
    }
    Ok(())
}

/// What is wrong with the sums of an entry.
pub fn sums_fault(checker: &Checker<'_>, entry: &Entry, cost: &Cost) -> Option<String> {
    let (begin, end) = (entry.begin, entry.end);
    let out = checker.registers_out(begin, end);
    if let Some(reg) = entry.live_out.without(&out).iter().next() {
        return Some(format!(
            "{reg} comes back, though it is not written in it or not read behind it"
        ));
    }
    let needed = checker.registers_in(begin, end, &out);
    if let Some(reg) = entry.live_in.without(&needed).iter().next() {
        return Some(format!("{reg} is sent, though it is not needed"));
    }
    let inputs = inputs(checker, begin, end);
    if entry.inputs != inputs {
        return Some(format!(
            "it reads {inputs} parameters and special registers, not {}",
            entry.inputs
        ));
    }
    if let Some(reason) = trips_fault(checker, entry, cost) {
        return Some(reason);
    }
    let trips = match entry.condition {
        Some(condition) => condition.threshold,
        None => static_trips(checker, begin, end).unwrap_or(1),
    };
    if entry.trips != trips {
        return Some(format!("it is made for {trips} trips, not {}", entry.trips));
    }
    let traffic = cost::traffic(cost, &amounts(checker, entry), trips);
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

/// What is wrong with the trips from which an entry is said to pay: a condition has the least of them, and a
/// loop whose trips are known when it is entered has a condition unless it pays at once.
pub(super) fn trips_fault(checker: &Checker<'_>, entry: &Entry, cost: &Cost) -> Option<String> {
    let (begin, end) = (entry.begin, entry.end);
    let said = match entry.condition {
        Some(condition) => condition.threshold,
        None if checker.condition(begin, end).is_none() => return None,
        None if static_trips(checker, begin, end).is_some() => return None,
        None => 1,
    };
    match cost::threshold(cost, &amounts(checker, entry)) {
        Some(least) if least == said => None,
        Some(least) => Some(format!("it pays from {least} trips on, not from {said}")),
        None => Some("it never pays".into()),
    }
}

/// The registers that an entry has to move, and the accesses of a trip.
fn amounts(checker: &Checker<'_>, entry: &Entry) -> Amounts {
    let (begin, end) = (entry.begin, entry.end);
    let (loads, stores) = accesses(checker, begin, end);
    let out = entry.live_out.and(&checker.registers_out(begin, end));
    let sent = entry.live_in.and(&checker.registers_in(begin, end, &out));
    Amounts {
        registers_in: checker.webs.count_of(&sent, begin) + u64::from(inputs(checker, begin, end)),
        registers_out: checker.webs.count_of(&out, end),
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
            op if op.space() == Some(Space::Param) => {
                if let Some((&Base::Imm(base), offset)) = op.address() {
                    params.insert((base, offset.0));
                }
            }
            _ => {}
        }
    }
    (params.len() + special.len() + wide.len()) as u32
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
