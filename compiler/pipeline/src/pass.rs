//! Passes as data.

use std::convert::Infallible;

use nbcc_base::Failed;
use nbcc_placement::Remark;

use crate::context::Context;
use crate::observer::{Dump, PassInfo};
use crate::request::OptLevel;

/// Something that holds of a compilation state, such as "in SSA" or "registers assigned". A pass
/// names the facts it needs and those it makes or breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fact(pub &'static str);

/// What a pass does to the compilation state `S`, which is compiled under a configuration `C`.
pub enum Run<S, C> {
    /// It ends, or fails after an error was reported.
    Once(fn(&mut S, &mut Context<'_>) -> Result<(), Failed>),
    /// It may also ask for another attempt.
    Attempt(fn(&mut S, &mut Context<'_>) -> Result<(), Stop<C>>),
}

/// Why a pass did not end.
#[derive(Debug)]
pub enum Stop<C> {
    /// An error was reported.
    Failed,
    /// The program is to be compiled under another configuration.
    Retry(Box<Retry<C>>),
}

impl<C> Stop<C> {
    /// Asks for another attempt. A remark says why, if the user is to know.
    pub fn retry(configuration: C, remark: Option<Remark>) -> Stop<C> {
        Stop::Retry(Box::new(Retry { configuration, remark }))
    }
}

impl<C> From<Failed> for Stop<C> {
    fn from(_: Failed) -> Stop<C> {
        Stop::Failed
    }
}

/// What another attempt is to do.
#[derive(Debug)]
pub struct Retry<C> {
    /// The configuration to compile under, which no attempt has had.
    pub configuration: C,
    /// Why. It is shown if the program that is kept has something of that configuration.
    pub remark: Option<Remark>,
}

/// One pass of a target's pipeline over the compilation state `S`. The passes of targets that make
/// one attempt only have no configuration.
pub struct PassDesc<S: 'static, C: 'static = Infallible> {
    /// Its name, as in `--disable-pass NAME`.
    pub name: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    /// The lowest level it runs at.
    pub level: OptLevel,
    /// Whether a program is still right without it.
    pub optional: bool,
    /// The pass itself.
    pub run: Run<S, C>,
    /// What must hold before.
    pub requires: &'static [Fact],
    /// What holds afterwards.
    pub establishes: &'static [Fact],
    /// What no longer holds afterwards.
    pub invalidates: &'static [Fact],
    /// Whether all passes before this one do the same under two configurations. The state before
    /// such a pass is kept, and another attempt begins with the last of them where that is so.
    pub resume: Option<fn(&C, &C) -> bool>,
}

/// A pass that runs at every level and cannot be left out.
pub const fn pass<S, C>(
    name: &'static str,
    about: &'static str,
    run: fn(&mut S, &mut Context<'_>) -> Result<(), Failed>,
    requires: &'static [Fact],
    establishes: &'static [Fact],
) -> PassDesc<S, C> {
    needed(name, about, Run::Once(run), requires, establishes)
}

/// A pass that may ask for another attempt. It runs at every level and cannot be left out.
pub const fn attempt<S, C>(
    name: &'static str,
    about: &'static str,
    run: fn(&mut S, &mut Context<'_>) -> Result<(), Stop<C>>,
    requires: &'static [Fact],
    establishes: &'static [Fact],
) -> PassDesc<S, C> {
    needed(name, about, Run::Attempt(run), requires, establishes)
}

const fn needed<S, C>(
    name: &'static str,
    about: &'static str,
    run: Run<S, C>,
    requires: &'static [Fact],
    establishes: &'static [Fact],
) -> PassDesc<S, C> {
    PassDesc {
        name,
        about,
        level: OptLevel::O0,
        optional: false,
        run,
        requires,
        establishes,
        invalidates: &[],
        resume: None,
    }
}

/// A pass that runs from a level on and can be left out: it establishes nothing.
pub const fn optional<S, C>(
    name: &'static str,
    about: &'static str,
    level: OptLevel,
    run: fn(&mut S, &mut Context<'_>) -> Result<(), Failed>,
    requires: &'static [Fact],
) -> PassDesc<S, C> {
    pass(name, about, run, requires, &[]).optional_from(level)
}

/// The passes before the one of that name. Panics where there is none.
pub fn before<'a, S, C>(passes: &'a [PassDesc<S, C>], name: &str) -> &'a [PassDesc<S, C>] {
    let end = passes.iter().position(|pass| pass.name == name);
    &passes[..end.unwrap_or_else(|| panic!("there is no pass {name}"))]
}

impl<S, C> PassDesc<S, C> {
    /// The same pass, with which another attempt may begin: the state before it is kept. `same` says
    /// whether all passes before do the same under two configurations.
    pub const fn resuming(self, same: fn(&C, &C) -> bool) -> PassDesc<S, C> {
        PassDesc { resume: Some(same), ..self }
    }

    /// The same pass from a level on. It can be left out.
    pub const fn optional_from(self, level: OptLevel) -> PassDesc<S, C> {
        PassDesc { level, optional: true, ..self }
    }

    /// What `--print-passes` shows.
    pub fn info(&self) -> PassInfo {
        PassInfo { name: self.name, about: self.about, level: self.level, optional: self.optional }
    }
}

/// What passes work on that may ask for another attempt.
pub trait Attempt: State + Clone {
    /// What differs from attempt to attempt.
    type Configuration: Clone + PartialEq + std::fmt::Debug;
    /// The configuration of this attempt.
    fn configuration(&self) -> &Self::Configuration;
    /// Changes the configuration of a state before any pass has read what is changed.
    fn configure(&mut self, configuration: Self::Configuration);
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
