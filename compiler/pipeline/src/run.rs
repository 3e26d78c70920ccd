//! The runner of passes, and the driver of attempts.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use nbcc_base::{Diagnostics, Failed, SourceMap};
use nbcc_placement::Remark;

use crate::context::Context;
use crate::observer::{NoObserver, Observer, PassRecord};
use crate::pass::{Attempt, Fact, PassDesc, Run, State, Stop, before};
use crate::request::PassOptions;

/// Runs the passes that the options ask for, in order.
///
/// A pass whose level is above the asked one, or that is disabled, is left out. Panics where a
/// pass requires a fact that nothing before it established: the list is wrong then, not the input.
///
/// # Errors
/// Those that a pass reported.
pub fn run_passes<S: State>(
    passes: &[PassDesc<S, Infallible>],
    state: &mut S,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    let mut facts = Vec::new();
    let dumps = cx.observer.wants_dumps();
    let options = cx.passes;
    for pass in passes.iter().filter(|pass| is_asked_for(pass, options)) {
        let record = match run_pass(pass, state, &mut facts, dumps, cx) {
            Ok(record) => record,
            Err(Stop::Failed) => return Err(Failed),
            Err(Stop::Retry(retry)) => match retry.configuration {},
        };
        cx.observer.pass(record);
        verify(pass, state, cx);
    }
    Ok(())
}

/// Runs the passes that the options ask for, in order, until an attempt ends: where a pass asks for
/// another configuration, all of them run under that, from the last pass on before which nothing
/// is different ([`PassDesc::resume`]).
///
/// Records and remarks are those of the attempt that is kept; then come the remarks that say why
/// others were not. A pass asks for other attempts before it reports anything.
///
/// Panics as [`run_passes`] does, and where a pass asks for a configuration for the second time or
/// stands before all passes that an attempt can begin with.
///
/// # Errors
/// Those that a pass of the last attempt reported.
pub fn run_attempts<S: Attempt>(
    passes: &[PassDesc<S, S::Configuration>],
    state: &mut S,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    attempts(passes, 0, state, cx)
}

/// The same from the pass of that name on, of a state that is before it, unseen: nobody learns of records,
/// remarks and faults.
///
/// # Errors
/// A pass reported something, or asked for an attempt that begins before that pass.
pub fn run_rest<S: Attempt>(
    passes: &[PassDesc<S, S::Configuration>],
    name: &str,
    state: &mut S,
    sources: &SourceMap,
    options: &PassOptions,
) -> Result<(), Failed> {
    let first = before(passes, name).len();
    let (mut diagnostics, mut remarks) = (Diagnostics::default(), vec![]);
    let mut unseen = Context {
        sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: options,
        observer: &mut NoObserver,
    };
    attempts(passes, first, state, &mut unseen)
}

/// Runs attempts from a pass on. Facts are those of the passes before.
fn attempts<S: Attempt>(
    passes: &[PassDesc<S, S::Configuration>],
    first: usize,
    state: &mut S,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    let dumps = cx.observer.wants_dumps();
    let mut records = Records { kept: vec![], not_kept: Duration::ZERO, observer: cx.observer };
    let cx = &mut Context {
        sources: cx.sources,
        diagnostics: cx.diagnostics,
        remarks: cx.remarks,
        passes: cx.passes,
        observer: &mut NoObserver,
    };
    let mut points: Vec<Point<S>> = Vec::new();
    let mut tried = vec![state.configuration().clone()];
    let mut facts = Vec::new();
    for pass in passes[..first].iter().filter(|pass| is_asked_for(pass, cx.passes)) {
        change_facts(&mut facts, pass);
    }
    let mut number = first;
    let ended = loop {
        let Some(pass) = passes.get(number) else { break Ok(()) };
        if !is_asked_for(pass, cx.passes) {
            number += 1;
            continue;
        }
        if pass.resume.is_some() && points.last().is_none_or(|point| point.pass < number) {
            points.push(Point {
                pass: number,
                state: state.clone(),
                facts: facts.clone(),
                remarks: cx.remarks.len(),
                records: records.kept.len(),
                why: vec![],
            });
        }
        let start = Instant::now();
        let retry = match run_pass(pass, state, &mut facts, dumps, cx) {
            Ok(record) => {
                records.kept.push(record);
                verify(pass, state, cx);
                number += 1;
                continue;
            }
            Err(Stop::Failed) => break Err(Failed),
            Err(Stop::Retry(retry)) => retry,
        };
        records.not_kept += start.elapsed();
        let new = retry.configuration;
        assert!(!tried.contains(&new), "pass {} asks for {new:?} again", pass.name);
        let same = |point: &Point<S>| {
            passes[point.pass].resume.is_some_and(|same| same(state.configuration(), &new))
        };
        let last = points.iter().rposition(same);
        if last.is_none() && first > 0 {
            break Err(Failed);
        }
        let last = last.unwrap_or_else(|| panic!("nothing to resume at before {}", pass.name));
        points.truncate(last + 1);
        let point = &mut points[last];
        point.why.extend(retry.remark);
        *state = point.state.clone();
        state.configure(new.clone());
        facts.clone_from(&point.facts);
        cx.remarks.truncate(point.remarks);
        records.drop_from(point.records);
        number = point.pass;
        tried.push(new);
    };
    cx.remarks.extend(points.into_iter().flat_map(|point| point.why));
    ended
}

/// What an attempt can begin with.
struct Point<S> {
    /// The number of the next pass.
    pass: usize,
    /// The state before it.
    state: S,
    /// What holds of the state.
    facts: Vec<Fact>,
    /// How many remarks there were.
    remarks: usize,
    /// How many records there were.
    records: usize,
    /// Why attempts that began here were made.
    why: Vec<Remark>,
}

/// Records of the attempt that is made, which the observer gets once it is kept, also where a pass
/// panics.
struct Records<'a> {
    kept: Vec<PassRecord>,
    /// Time of passes whose records were dropped.
    not_kept: Duration,
    observer: &'a mut dyn Observer,
}

impl Records<'_> {
    fn drop_from(&mut self, first: usize) {
        self.not_kept += self.kept.drain(first..).map(|record| record.elapsed).sum::<Duration>();
    }
}

impl Drop for Records<'_> {
    fn drop(&mut self) {
        self.kept.drain(..).for_each(|record| self.observer.pass(record));
        if self.not_kept > Duration::ZERO {
            self.observer.not_kept(self.not_kept);
        }
    }
}

fn is_asked_for<S, C>(pass: &PassDesc<S, C>, options: &PassOptions) -> bool {
    let disabled = || options.disabled.iter().any(|name| name == pass.name);
    pass.level <= options.level && !(pass.optional && disabled())
}

/// Runs one pass. `facts` are those that hold.
fn run_pass<S: State, C>(
    pass: &PassDesc<S, C>,
    state: &mut S,
    facts: &mut Vec<Fact>,
    dumps: bool,
    cx: &mut Context<'_>,
) -> Result<PassRecord, Stop<C>> {
    for fact in pass.requires {
        assert!(facts.contains(fact), "pass {} needs {fact:?}", pass.name);
    }
    let before = if dumps { state.dumps() } else { vec![] };
    let start = Instant::now();
    match pass.run {
        Run::Once(run) => run(state, cx)?,
        Run::Attempt(run) => run(state, cx)?,
    }
    let elapsed = start.elapsed();
    change_facts(facts, pass);
    let after = if dumps { state.dumps() } else { vec![] };
    Ok(PassRecord { pass: pass.info(), before, after, elapsed })
}

/// What holds behind a pass.
fn change_facts<S, C>(facts: &mut Vec<Fact>, pass: &PassDesc<S, C>) {
    facts.retain(|fact| !pass.invalidates.contains(fact));
    facts.extend(pass.establishes);
}

/// Panics where the state is broken and that is asked for.
fn verify<S: State, C>(pass: &PassDesc<S, C>, state: &S, cx: &Context<'_>) {
    if cx.passes.verify_each
        && let Err(what) = state.verify()
    {
        panic!("after pass {}: {what}", pass.name);
    }
}
