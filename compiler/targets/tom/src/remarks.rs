//! What is said of candidates and of loops that are none: each term of the sum, the reason of a
//! rejection, and what would flip the decision. `nbcc explain K.ptx:LINE` shows it.

use nbcc_analysis::listing::{Line, Listing};
use nbcc_base::text::counted;
use nbcc_base::{SourceMap, Span};
use nbcc_isa_tom::cost::{self, Amounts};
use nbcc_isa_tom::machine::Cost;
use nbcc_placement::{Message, Remark, RemarkKind, Term};

use crate::offload::{Candidate, Iterations, Range, Reason, Rejected};

/// A candidate that is in the table.
pub fn candidate(listing: &Listing, candidate: &Candidate, cost: &Cost) -> Remark {
    let trips = candidate.trips(cost);
    let total = cost::traffic(cost, &candidate.amounts, trips).total();
    let kind = if candidate.iterations.is_some() { "loop" } else { "block" };
    let message = Message::of("the ")
        .value("Kind", kind)
        .text(" may run beside memory: it moves ")
        .value("Saved", -total)
        .text(" words less");
    let mut terms = sum(cost, &candidate.amounts, trips);
    terms.push(match candidate.iterations {
        None => Term::new("Runs", "once"),
        Some(Iterations::Static(trips)) => Term::new("Trips", format!("{trips}, always")),
        Some(Iterations::Runtime) if trips > 1 => {
            Term::new("Trips", format!("known at its begin, and {trips} at least"))
        }
        Some(Iterations::Runtime) => Term::new("Trips", "known at its begin; one is enough"),
        Some(Iterations::Unknown) => Term::new("Trips", "not known; one is enough"),
    });
    let register = f64::from(cost.warp_words);
    let spare = (-total / register).ceil() as i64 - 1;
    terms.push(Term::new("Flips", format!("{} more", counted(spare + 1, "live-in"))));
    if let Some(Iterations::Static(_)) = candidate.iterations
        && let Some(least) = cost::threshold(cost, &candidate.amounts).filter(|&least| least > 1)
    {
        terms.push(Term::new("Flips", format!("fewer than {least} trips")));
    }
    remark(RemarkKind::Passed, "Candidate", listing, candidate.range, message, terms)
}

/// A candidate that is not in the table.
pub fn left_out(listing: &Listing, candidate: &Candidate, why: &str) -> Remark {
    let message = Message::of("the candidate is not in the table: ").value("Why", why);
    remark(RemarkKind::Missed, "LeftOut", listing, candidate.range, message, vec![])
}

/// A loop that is no candidate.
pub fn rejected(
    listing: &Listing,
    rejected: &Rejected,
    cost: &Cost,
    sources: &SourceMap,
) -> Remark {
    let message = Message::of("the loop may not run beside memory: ")
        .value("Reason", rejected.reason.name())
        .text(match rejected.reason {
            Reason::InsideCandidate => ", it lies in a loop that may",
            Reason::ControlFlow => ", control enters or leaves it in its midst",
            Reason::Shared => ", stacks do not reach the shared memory of a block",
            Reason::Atomic => ", stacks have no atomic operations",
            Reason::Synchronization => ", it waits for other threads or orders their accesses",
            Reason::OrderedAccess => ", an access has an order of its own",
            Reason::Call => ", it calls",
            Reason::SpecialRegister => ", it reads what differs between multiprocessors",
            Reason::NoBenefit => ", it would move as much as it saves, or more",
        });
    let mut terms = Vec::new();
    if let Some(place) = rejected.culprit.and_then(|at| listing.code[at as usize].span) {
        let place = sources.start_of(place);
        terms.push(Term::new("Line", place.line));
        terms.push(Term::new("Flips", "the loop without that line"));
    }
    if let Some((amounts, iterations)) = &rejected.sum {
        let trips = match iterations {
            Iterations::Static(trips) => *trips,
            Iterations::Runtime | Iterations::Unknown => 1,
        };
        terms.extend(sum(cost, amounts, trips));
        let total = cost::traffic(cost, amounts, trips).total();
        let fewer = (total / f64::from(cost.warp_words)).floor() as u64 + 1;
        if fewer <= amounts.registers_in {
            terms.push(Term::new("Flips", format!("{} fewer", counted(fewer, "live-in"))));
        }
        match cost::threshold(cost, amounts) {
            None => terms.push(Term::new("Flips", "an access of memory in it")),
            Some(least) if least > trips => {
                let more = least - trips;
                let known = match iterations {
                    Iterations::Unknown => ", were they known where it is entered",
                    _ => "",
                };
                terms.push(Term::new("Flips", format!("{} more{known}", counted(more, "trip"))));
            }
            Some(_) => {}
        }
    }
    remark(RemarkKind::Missed, "Rejected", listing, rejected.range, message, terms)
}

/// The terms of equations (3) and (4), in words.
fn sum(cost: &Cost, amounts: &Amounts, trips: u64) -> Vec<Term> {
    let (load, store) = (cost::load(cost), cost::store(cost));
    let traffic = cost::traffic(cost, amounts, trips);
    let Amounts { registers_in, registers_out, loads, stores } = *amounts;
    let words = cost.warp_words;
    let times = if trips == 1 { String::new() } else { format!(" x {trips} trips") };
    let side = |registers: u64, load: f64, store: f64, total: f64| {
        let sum = format!(
            "{} x {words} - ({} x {load} + {} x {store})",
            counted(registers, "register"),
            counted(loads, "load"),
            counted(stores, "store"),
        );
        format!("{sum}{times} = {total:+} words")
    };
    vec![
        Term::new("ToMemory", side(registers_in, load.tx, store.tx, traffic.tx)),
        Term::new("FromMemory", side(registers_out, load.rx, store.rx, traffic.rx)),
        Term::new("Together", format!("{:+} words", traffic.total())),
    ]
}

/// The source from the first to the last of the instructions of a range.
fn span(lines: &[Line]) -> Option<Span> {
    let spans = || lines.iter().filter_map(|line| line.span);
    let first = spans().min_by_key(|span| span.start)?;
    let end = spans().filter(|span| span.source == first.source).map(|span| span.end).max()?;
    Some(Span { end, ..first })
}

fn remark(
    kind: RemarkKind,
    name: &'static str,
    listing: &Listing,
    range: Range,
    message: Message,
    terms: Vec<Term>,
) -> Remark {
    Remark {
        kind,
        pass: "offload",
        name,
        function: listing.name.clone(),
        span: span(&listing.code[range.first as usize..=range.last as usize]),
        message,
        terms,
    }
}
