//! What became of each loop of the source, those that are no loop of their own any more among them, and of
//! what pragmas ask for it.

use nbcc_base::{SourceMap, Span};
use nbcc_placement::{Message, Remark, RemarkKind};

use super::decision::{Decision, OnArray, line};
use super::remarks::About;
use crate::arrays::facts::sources::{Site, Wishes};
use crate::state::Compilation;

/// What became of a loop.
#[derive(Clone, Copy, Debug)]
pub enum Fate<'a> {
    /// It is a loop: the first one that it is, where a function stands there several times.
    Loop(&'a Decision),
    /// It is part of another one.
    Part(&'a Decision, How),
    /// Nothing of it is in a loop that is compiled.
    Gone,
}

/// How a loop is part of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It stood behind it, or in front of it.
    Merged,
    /// It stood around it, or inside of it.
    Collapsed,
    /// Its iterations stand one behind the other in it.
    Unrolled,
}

impl How {
    /// The name of the remark, and what was done, before the number of a line.
    fn words(self) -> [&'static str; 3] {
        match self {
            How::Merged => ["merge", "LoopMerged", "merged into the loop of line "],
            How::Collapsed => ["collapse", "LoopCollapsed", "one loop with that of line "],
            How::Unrolled => ["flatten", "LoopUnrolled", "unrolled in the loop of line "],
        }
    }
}

/// What became of each loop of the source, in order of their places.
pub fn all(state: &Compilation) -> Vec<(usize, Fate<'_>)> {
    let loops = &state.sources.loops;
    let mut order: Vec<usize> = (0..loops.len()).collect();
    order.sort_by_key(|&n| (loops[n].span.source.0, loops[n].span.start));
    order.into_iter().map(|n| (n, fate(state, n))).collect()
}

fn fate(state: &Compilation, n: usize) -> Fate<'_> {
    let decisions = &state.decisions;
    if let Some(own) = decisions.iter().find(|decision| decision.own == Some(n)) {
        return Fate::Loop(own);
    }
    let Some(within) = decisions.iter().find(|decision| decision.parts.contains(&n)) else {
        // Of a loop around others nothing may be left but that they begin again.
        let inside = |of: &&Decision| of.own.is_some_and(|own| state.sources.is_within(own, n));
        let inside = decisions.iter().find(inside).filter(|_| state.heads.contains(&n));
        return inside.map_or(Fate::Gone, |inside| Fate::Part(inside, How::Collapsed));
    };
    let is_nest = within
        .own
        .is_some_and(|own| state.sources.is_within(own, n) || state.sources.is_within(n, own));
    let how = match (state.heads.contains(&n), is_nest) {
        (false, _) => How::Unrolled,
        (true, true) => How::Collapsed,
        (true, false) => How::Merged,
    };
    Fate::Part(within, how)
}

/// What became of a loop that is no loop of its own, in words.
pub fn text(state: &Compilation, fate: Fate<'_>, sources: &SourceMap) -> Option<String> {
    match fate {
        Fate::Loop(_) => None,
        Fate::Gone => {
            Some("no loop is left of it: its iterations stand one behind the other".into())
        }
        Fate::Part(within, how) => {
            let line = within.span.map_or(0, |span| line(sources, span));
            let [.., words] = how.words();
            let place = match &within.place {
                Ok(on) => format!("on {}", on.names(&state.machine).trim_end_matches(',')),
                Err(_) => "on the core".to_string(),
            };
            Some(format!("{words}{line}, {place}"))
        }
    }
}

/// Says of loops that are no loops of their own where they are, and whether pragmas are followed.
pub fn remarks(state: &Compilation, about: About<'_>) -> Vec<Remark> {
    let mut found = Vec::new();
    for (n, fate) in all(state) {
        let span = state.sources.loops[n].span;
        let span = Span { end: span.start + 1, ..span };
        if state.mapper.is_some() {
            found.extend(place(state, fate, span, about));
        }
        found.extend(pragmas(state, n, fate, span, about));
    }
    found
}

/// Where a loop is of which nothing else speaks on its first line.
fn place(state: &Compilation, fate: Fate<'_>, span: Span, about: About<'_>) -> Option<Remark> {
    let at = |of: &Decision| of.span.map(|span| (span.source, line(about.sources, span)));
    let message = match fate {
        Fate::Loop(own) if at(own) == Some((span.source, line(about.sources, span))) => {
            return None;
        }
        Fate::Loop(own) => {
            let (_, line) = at(own)?;
            Message::of("what is said of this loop stands at line ").value("Line", line)
        }
        _ => {
            let what = text(state, fate, about.sources)?;
            Message::of("this loop: ").value("Place", what)
        }
    };
    let [pass, name, _] = match fate {
        Fate::Part(_, how) => how.words(),
        Fate::Loop(_) => ["arrays", "LoopElsewhere", ""],
        Fate::Gone => ["flatten", "LoopGone", ""],
    };
    Some(about.remark(pass, name, span, message))
}

/// What a pragma asks for, whether that is followed, and why not.
fn pragmas(
    state: &Compilation,
    n: usize,
    fate: Fate<'_>,
    span: Span,
    about: About<'_>,
) -> Vec<Remark> {
    let Wishes { site, unroll, ii } = state.sources.own(n);
    let wishes = [
        site.map(|site| (format!("array({})", site.name()), sited(state, n, site))),
        unroll.map(|times| (format!("unroll({times})"), unrolled(fate, times))),
        ii.map(|ii| (format!("ii({ii})"), at_interval(fate, ii))),
    ];
    let remark = |(pragma, done): (String, Result<(), String>)| {
        let message = Message::of("`#pragma nbcc ").value("Pragma", pragma);
        let (kind, name, message) = match done {
            Ok(()) => (RemarkKind::Passed, "Followed", message.text("` is followed")),
            Err(why) => {
                let message = message.text("` is not followed: ").value("Reason", why);
                (RemarkKind::Missed, "NotFollowed", message)
            }
        };
        Remark { kind, ..about.remark("arrays", name, span, message) }
    };
    wishes.into_iter().flatten().map(remark).collect()
}

/// What pragmas are answered where a loop is gone.
const GONE: &str = "no loop is left of it";

/// Whether a loop and those inside of it run where that is asked, or why not.
fn sited(state: &Compilation, n: usize, site: Site) -> Result<(), String> {
    let is_of = |decision: &&Decision| {
        let own = decision.own.is_some_and(|own| state.sources.is_within(own, n));
        let mut parts = decision.parts.iter();
        own || parts.any(|&part| state.sources.is_within(part, n))
    };
    // Of a nest the loops without others inside count.
    let all: Vec<&Decision> = state.decisions.iter().filter(is_of).collect();
    let innermost: Vec<&Decision> =
        all.iter().copied().filter(|decision| !decision.parts.is_empty()).collect();
    let counted = if innermost.is_empty() { all } else { innermost };
    if state.mapper.is_none() {
        return match site {
            Site::Core => Ok(()),
            Site::Array(_) => Err("everything runs on the core".into()),
        };
    }
    if counted.is_empty() && site != Site::Core {
        return Err(GONE.into());
    }
    counted.into_iter().try_for_each(|decision| match (site, &decision.place) {
        (Site::Core, Err(_)) => Ok(()),
        (Site::Core, Ok(_)) => Err("it is part of a loop on an array".into()),
        (Site::Array(_), Err(why)) => Err(why.clone()),
        (Site::Array(kind), Ok(on)) => {
            let kinds = &state.machine.arrays.kinds;
            let is_there = on.arrays.iter().all(|&array| kinds[usize::from(array)] == kind);
            let why = || decision.notes.unmet.get("array").cloned();
            let other = || "another loop of which it is a part is elsewhere".to_string();
            is_there.then_some(()).ok_or_else(|| why().unwrap_or_else(other))
        }
    })
}

/// The loop on an array that a loop is, or why there is none.
fn placed(fate: Fate<'_>) -> Result<(&Decision, &OnArray), String> {
    match fate {
        Fate::Loop(decision) | Fate::Part(decision, How::Merged | How::Collapsed) => {
            match &decision.place {
                Ok(on) => Ok((decision, on)),
                Err(why) => Err(format!("the loop stays on the core: {why}")),
            }
        }
        Fate::Part(_, How::Unrolled) => Err("it is unrolled as a whole".into()),
        Fate::Gone => Err(GONE.into()),
    }
}

fn unrolled(fate: Fate<'_>, times: u32) -> Result<(), String> {
    // Only loops of as many iterations vanish that way.
    if matches!(fate, Fate::Part(_, How::Unrolled) | Fate::Gone) {
        return Ok(());
    }
    match placed(fate) {
        Err(_) if times == 1 => Ok(()),
        Err(why) => Err(why),
        Ok((_, on)) if on.times == times => Ok(()),
        Ok((decision, on)) => {
            let other = || match on.times {
                1 => "one iteration at a time is as good".to_string(),
                other => format!("{other} iterations are one"),
            };
            Err(decision.notes.unmet.get("unroll").cloned().unwrap_or_else(other))
        }
    }
}

fn at_interval(fate: Fate<'_>, ii: u32) -> Result<(), String> {
    let (_, on) = placed(fate)?;
    match on.ii {
        found if found == ii => Ok(()),
        _ if on.mii.mii > ii => Err(format!("the least possible is {}", on.mii.mii)),
        found => Err(format!("the mapper found none before {found}")),
    }
}
