//! What is said of loops: where they run, why, and where and when each of their operations does.

use std::collections::BTreeMap;

use nbcc_base::{SourceMap, Span};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::ArrayKind;
use nbcc_placement::{Message, Remark, RemarkKind, Term};

use super::decision::{At, Decision, OnArray, line};
use crate::map::mappers::{MAPPERS, Mapper};

/// What remarks are about.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The name of the function.
    pub function: &'a str,
    /// The machine.
    pub machine: &'a Machine,
    /// Who was asked to map loops.
    pub mapper: &'static Mapper,
    /// The files that lines are of.
    pub sources: &'a SourceMap,
}

impl About<'_> {
    pub(super) fn remark(
        &self,
        pass: &'static str,
        name: &'static str,
        span: Span,
        message: Message,
    ) -> Remark {
        Remark {
            kind: RemarkKind::Analysis,
            pass,
            name,
            function: self.function.to_string(),
            span: Some(span),
            message,
            terms: vec![],
        }
    }
}

/// Says of every loop where it runs.
pub fn of(decisions: &[Decision], about: About<'_>) -> Vec<Remark> {
    let mut found = Vec::new();
    for decision in decisions {
        let Some(span) = decision.span else { continue };
        match &decision.place {
            Err(why) => {
                let message = Message::of("this loop stays on the core: ").value("Reason", why);
                let said = about.remark("arrays", "LoopOnCore", span, message);
                let mut terms = terms(decision);
                terms.extend(advice(why).map(|advice| Term::new("Moved", advice)));
                terms.extend(others(decision));
                found.push(Remark { terms, ..said });
            }
            Ok(on) => {
                found.push(on_array(decision, on, span, about));
                found.extend(more(on, span, about));
                found.extend(operations(on, span, about));
            }
        }
    }
    found
}

fn terms(decision: &Decision) -> Vec<Term> {
    vec![Term::new("Depth", decision.depth), Term::new("CoreCycles", decision.core_cycles)]
}

/// What else could have become of a loop.
fn others(decision: &Decision) -> impl Iterator<Item = Term> + '_ {
    let mut all: Vec<&String> = Vec::new();
    for other in &decision.notes.others {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all.into_iter().map(|other| Term::new("Considered", other))
}

/// What would move a loop from the core to an array, by the words of why it stays.
fn advice(why: &str) -> Option<&'static str> {
    let of = [
        (
            "there is a loop inside",
            "a constant and small number of iterations of the loop inside, or loops that are counted and stand right inside each other",
        ),
        (
            "nothing counts its iterations",
            "a counter that grows by a constant and is compared with what the loop does not change",
        ),
        ("the number of its iterations", "a counter that grows by a power of two"),
        ("it goes back in more than one place", "one way back to its beginning"),
        ("it has too many branches", "fewer branches inside"),
        (
            "it is left in its middle",
            "a condition in place of what leaves it, or subscripts that nothing loaded decides",
        ),
        (
            "arrays have no operation",
            "sums, products, shifts, comparisons and choices of integers in its place",
        ),
        ("it has too many results", "fewer values that are read behind the loop"),
        ("it needs", "fewer values from before the loop inside of it"),
        (
            "its arrays are larger",
            "arrays of 64 KiB together, or a loop over a part of them at a time",
        ),
        (
            "its accesses can never be shown",
            "subscripts that stay inside if each iteration adds as much as any may",
        ),
        ("too many arrays are used", "fewer arrays in the function"),
        ("an iteration takes", "fewer operations in its recurrences, or fewer loads and stores"),
        ("no mapping", "fewer operations, or two loops in place of one"),
        ("another loop needs", "the same kind of array for all loops that use it"),
        ("there is control flow inside", "-X hyperblocks=on"),
    ];
    if why.contains("and an array is worth starting") {
        return Some("more iterations, as of a loop around it that it is one loop with");
    }
    of.into_iter().find(|(begin, _)| why.starts_with(begin)).map(|(_, advice)| advice)
}

/// Where else a loop could run, kind by kind.
fn elsewhere(on: &OnArray, machine: &Machine) -> Vec<Term> {
    let kinds = [ArrayKind::Npea, ArrayKind::Fpea, ArrayKind::Spea];
    let is_there = |kind| {
        let mut arrays = on.arrays.iter();
        arrays.any(|&array| machine.arrays.kinds[usize::from(array)] == kind)
    };
    let of = |kind: ArrayKind| {
        let lacks = on.places.iter().filter_map(|at| at.op).find(|&op| !kind.has(op));
        let what = match lacks {
            Some(op) => format!("not possible, it has no operation `{}`", op.mnemonic()),
            None => format!("the same interval, {}: it has the same operations and links", on.ii),
        };
        Term::new("Elsewhere", format!("{}: {what}", kind.name()))
    };
    let others = kinds.into_iter().filter(|&kind| machine.arrays.kinds.contains(&kind));
    others.filter(|&kind| !is_there(kind)).map(of).collect()
}

fn on_array(decision: &Decision, on: &OnArray, span: Span, about: About<'_>) -> Remark {
    let message = Message::of("this loop runs on ")
        .value("Array", on.names(about.machine))
        .text(" from ")
        .value("Least", on.least)
        .text(" iterations on: ");
    let message = match on.times {
        1 => message.text("one starts every "),
        times => message.value("Times", times).text(" start every "),
    };
    let message = message
        .value("II", on.ii)
        .text(" cycles, ")
        .value("Why", on.why(about.sources))
        .text("; the core takes about ")
        .value("Core", decision.core_cycles);
    let mut terms = terms(decision);
    terms.extend([
        Term::new("MII", on.mii.mii),
        Term::new("RecMII", on.mii.rec),
        Term::new("ResMII", on.mii.res),
        Term::new("Operations", on.operations),
        Term::new("Routes", on.routes),
    ]);
    terms.extend(on.lower().map(|lower| Term::new("Lower", lower)));
    terms.extend(elsewhere(on, about.machine));
    terms.extend(others(decision));
    Remark { terms, ..about.remark("arrays", "LoopOnArray", span, message) }
}

/// Who mapped a loop, and what was done to its recurrences.
fn more(on: &OnArray, span: Span, about: About<'_>) -> Vec<Remark> {
    let mut found = Vec::new();
    if on.instead {
        let message = Message::of("mapping this loop takes `")
            .value("Mapper", about.mapper.name)
            .text("` more work than there is for a program: `")
            .value("Instead", MAPPERS[0].name)
            .text("` did it");
        let said = about.remark("arrays", "OtherMapper", span, message);
        found.push(Remark { kind: RemarkKind::Missed, ..said });
    }
    if let Some(shortened) = on.shortened {
        let message = Message::of("recurrences of sums here would take ")
            .value("RecMII", shortened.rec_mii)
            .text(
                " cycles an iteration; put together otherwise they take no more than the interval",
            );
        let terms = vec![Term::new("Operations", shortened.operations)];
        let said = about.remark("reassociate", "Shortened", span, message);
        found.push(Remark { terms, ..said });
    }
    found
}

/// Says line by line where and when operations run.
fn operations(on: &OnArray, of: Span, about: About<'_>) -> Vec<Remark> {
    let start = |span: Span| (span.source.0, line(about.sources, span));
    let mut lines: BTreeMap<(u32, u32), Vec<&At>> = BTreeMap::new();
    for at in &on.places {
        if let Some(span) = at.span {
            lines.entry(start(span)).or_default().push(at);
        }
    }
    let cycle = |at: &At| u32::from(at.stage) * on.ii + u32::from(at.slot);
    let term = |at: &At| {
        let (row, column) = at.pe;
        let (name, op) = match at.op {
            Some(op) => ("Operation", op.mnemonic()),
            None => ("Route", "pass"),
        };
        let (slot, stage) = (at.slot, at.stage);
        let cycle = cycle(at);
        Term::new(
            name,
            format!("{op} on PE ({row}, {column}) in cycle {cycle}: slot {slot}, stage {stage}"),
        )
    };
    let remark = |mut all: Vec<&At>| {
        // A statement may begin here and go on for lines: what is said is about its first one.
        all.sort_by_key(|at| (cycle(at), at.pe));
        let span = all[0].span?;
        let count = all.iter().filter(|at| at.op.is_some()).count();
        let message = Message::of("the loop of line ")
            .value("Loop", line(about.sources, of))
            .text(" does ")
            .value("Count", count)
            .text(match count {
                1 => " operation of this line on ",
                _ => " operations of this line on ",
            })
            .value("Array", on.names(about.machine).trim_end_matches(','));
        let terms = all.into_iter().map(term).collect();
        let span = Span { end: span.start + 1, ..span };
        Some(Remark { terms, ..about.remark("arrays", "Operations", span, message) })
    };
    lines.into_values().filter_map(remark).collect()
}
