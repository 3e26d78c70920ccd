//! Passes as data, and the runner.

use std::time::{Duration, Instant};

use nbcc_base::Failed;

use crate::{Context, OptLevel};

/// Something that holds of a compilation state, such as "in SSA" or "registers assigned". A pass
/// names the facts it needs and those it makes or breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fact(pub &'static str);

/// What a pass does to the compilation state `S`. `Err` after an error was reported.
pub type Run<S> = fn(&mut S, &mut Context<'_>) -> Result<(), Failed>;

/// One pass of a target's pipeline over the compilation state `S`.
pub struct PassDesc<S: 'static> {
    /// Its name, as in `--disable-pass NAME`.
    pub name: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    /// The lowest level it runs at.
    pub level: OptLevel,
    /// Whether a program is still right without it.
    pub optional: bool,
    /// The pass itself.
    pub run: Run<S>,
    /// What must hold before.
    pub requires: &'static [Fact],
    /// What holds afterwards.
    pub establishes: &'static [Fact],
    /// What no longer holds afterwards.
    pub invalidates: &'static [Fact],
}

/// A pass that runs at every level and cannot be left out.
pub const fn pass<S>(
    name: &'static str,
    about: &'static str,
    run: Run<S>,
    requires: &'static [Fact],
    establishes: &'static [Fact],
) -> PassDesc<S> {
    let level = OptLevel::O0;
    PassDesc { name, about, level, optional: false, run, requires, establishes, invalidates: &[] }
}

/// A pass that runs from a level on and can be left out: it establishes nothing.
pub const fn optional<S>(
    name: &'static str,
    about: &'static str,
    level: OptLevel,
    run: Run<S>,
    requires: &'static [Fact],
) -> PassDesc<S> {
    PassDesc { level, optional: true, ..pass(name, about, run, requires, &[]) }
}

/// The passes before the one of that name. Panics where there is none.
pub fn before<'a, S>(passes: &'a [PassDesc<S>], name: &str) -> &'a [PassDesc<S>] {
    let end = passes.iter().position(|pass| pass.name == name);
    &passes[..end.unwrap_or_else(|| panic!("there is no pass {name}"))]
}

/// What `--print-passes` shows of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Its name.
    pub name: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    /// The lowest level it runs at.
    pub level: OptLevel,
    /// Whether a program is still right without it.
    pub optional: bool,
}

impl<S> PassDesc<S> {
    /// What `--print-passes` shows.
    pub fn info(&self) -> PassInfo {
        PassInfo { name: self.name, about: self.about, level: self.level, optional: self.optional }
    }
}

/// What passes work on.
pub trait State {
    /// The present form as text, one entry a function, `define ... {` to a lone `}`.
    fn dumps(&self) -> Vec<Dump>;
    /// The present form as one text.
    fn text(&self) -> String {
        self.dumps().into_iter().map(|dump| dump.text).collect()
    }
    /// Checks everything that holds of the present form; says what is broken.
    fn verify(&self) -> Result<(), String>;
}

/// The text of one function at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The function's name.
    pub function: String,
    /// Its text.
    pub text: String,
}

/// What happened in one pass.
#[derive(Clone, Debug)]
pub struct PassRecord {
    /// The pass.
    pub pass: PassInfo,
    /// The state before; empty unless the observer wants dumps.
    pub before: Vec<Dump>,
    /// The state after; empty unless the observer wants dumps.
    pub after: Vec<Dump>,
    /// Time spent in the pass alone.
    pub elapsed: Duration,
}

/// Watches passes run.
pub trait Observer {
    /// Whether records should hold dumps.
    fn wants_dumps(&self) -> bool {
        false
    }
    /// Called after each pass.
    fn pass(&mut self, record: PassRecord);
}

/// Watches nothing.
#[derive(Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn pass(&mut self, _: PassRecord) {}
}

/// Runs the passes that the options ask for, in order.
///
/// A pass whose level is above the asked one, or that is disabled, is left out. Panics where a
/// pass requires a fact that nothing before it established: the list is wrong then, not the input.
pub fn run_passes<S: State>(
    passes: &[PassDesc<S>],
    state: &mut S,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    run_passes_from(passes, 0, state, cx)
}

/// Runs the passes from number `first` on, on a state on which those before have run.
pub fn run_passes_from<S: State>(
    passes: &[PassDesc<S>],
    first: usize,
    state: &mut S,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    let mut facts: Vec<Fact> = Vec::new();
    for (number, pass) in passes.iter().enumerate() {
        let disabled = cx.passes.disabled.iter().any(|name| name == pass.name);
        if pass.level > cx.passes.level || (disabled && pass.optional) {
            continue;
        }
        if number < first {
            facts.retain(|fact| !pass.invalidates.contains(fact));
            facts.extend(pass.establishes);
            continue;
        }
        for fact in pass.requires {
            assert!(facts.contains(fact), "pass {} needs {fact:?}", pass.name);
        }
        let wants_dumps = cx.observer.wants_dumps();
        let before = if wants_dumps { state.dumps() } else { vec![] };
        let start = Instant::now();
        (pass.run)(state, cx)?;
        let elapsed = start.elapsed();
        facts.retain(|fact| !pass.invalidates.contains(fact));
        facts.extend(pass.establishes);
        let after = if wants_dumps { state.dumps() } else { vec![] };
        cx.observer.pass(PassRecord { pass: pass.info(), before, after, elapsed });
        if cx.passes.verify_each
            && let Err(what) = state.verify()
        {
            panic!("after pass {}: {what}", pass.name);
        }
    }
    Ok(())
}
