//! What a frontend and a target are.

use std::fmt::Debug;
use std::sync::Arc;

use nbcc_analysis::listing::Listing;
use nbcc_base::{CodeInfo, Diagnostics, Failed, SourceFile, SourceId};
use nbcc_stages::DirectiveInfo;

use crate::{Artifact, Context, PassInfo, Request};

/// What a frontend makes of a source file.
#[derive(Clone, Debug)]
pub enum Program {
    /// An image pipeline.
    Stages(nbcc_stages::Pipeline),
    /// Kernels, which hosts launch on grids of threads, and what they call.
    Grids(Grids),
    /// A function that a host calls once, on arrays and scalars, and what it calls.
    Function(nbcc_ir::Module, nbcc_ir::Func),
}

/// Kernels and what they call.
#[derive(Clone, Debug, Default)]
pub struct Grids {
    /// The functions.
    pub module: nbcc_ir::Module,
    /// The kernels as the source has them, in its order, where it is a language of instructions and
    /// registers: for targets whose decisions are about code as it is written.
    pub listings: Vec<Listing>,
}

impl From<nbcc_ir::Module> for Grids {
    fn from(module: nbcc_ir::Module) -> Grids {
        Grids { module, listings: Vec::new() }
    }
}

impl Program {
    /// What kind of program it is.
    pub fn kind(&self) -> ProgramKind {
        match self {
            Program::Stages(_) => ProgramKind::Stages,
            Program::Grids(_) => ProgramKind::Grids,
            Program::Function(..) => ProgramKind::Function,
        }
    }
}

/// The kinds of programs. Each has one runtime and one way through the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgramKind {
    /// [`Program::Stages`].
    Stages,
    /// [`Program::Grids`].
    Grids,
    /// [`Program::Function`].
    Function,
}

impl ProgramKind {
    /// What people call a program of this kind, and several.
    pub fn titles(self) -> [&'static str; 2] {
        match self {
            ProgramKind::Stages => ["an image pipeline", "image pipelines"],
            ProgramKind::Grids => ["a grid program", "grid programs"],
            ProgramKind::Function => ["a sequential program", "sequential programs"],
        }
    }
}

/// What a frontend is told beside the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions<'a> {
    /// Directives that the target adds to schedules.
    pub directives: &'a [DirectiveInfo],
    /// Names and values that the command line gives to parameters.
    pub params: &'a [(String, String)],
    /// The function to call, where the command line names one.
    pub entry: Option<&'a str>,
    /// What the command line defines for a preprocessor: `NAME` or `NAME=VALUE`.
    pub defines: &'a [String],
    /// Whether reads of what nothing was written to end the run.
    pub checked: bool,
    /// Where further files come from, for languages that include some.
    pub includes: Option<&'a dyn Includes>,
}

/// The files that a source includes. Each is known under a number afterwards, as the source is.
pub trait Includes: Debug + Sync {
    /// The file that a text in quotes (or `angled`, in angle brackets) names in the file `from`.
    ///
    /// # Errors
    /// Why there is none.
    fn open(
        &self,
        from: SourceId,
        name: &str,
        angled: bool,
    ) -> Result<(SourceId, Arc<SourceFile>), NotIncluded>;
    /// Makes a text of the frontend's own a file among the others.
    fn add(&self, file: SourceFile) -> (SourceId, Arc<SourceFile>);
}

/// Why a file is not included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotIncluded {
    /// There is none.
    NotFound,
    /// It cannot be read: why.
    Unreadable(String),
}

/// A source language.
pub trait Frontend: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// One sentence on it.
    fn about(&self) -> &'static str;
    /// The extension of its files, without the dot.
    fn extension(&self) -> &'static str;
    /// What its files are.
    fn kind(&self) -> ProgramKind;
    /// The diagnostic codes it reports.
    fn codes(&self) -> Vec<&'static CodeInfo>;
    /// Reads a source file into a program of [`Frontend::kind`]. Spans refer to `id`. Errors,
    /// warnings and notes go to `diagnostics`; `Err` means that at least one of them is an error.
    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        options: &ParseOptions<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed>;
}

/// A choice that a target offers with `-X KEY=VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The key.
    pub key: &'static str,
    /// The values, the default first. Empty where any value is taken.
    pub values: &'static [&'static str],
    /// One sentence on it.
    pub about: &'static str,
}

/// The names of a table, as the values of a choice.
pub const fn names<const N: usize, T>(rows: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut row = 0;
    while row < N {
        names[row] = rows[row].0;
        row += 1;
    }
    names
}

/// A machine description that comes with a target.
#[derive(Clone, Copy, Debug)]
pub struct MachineInfo {
    /// Its name, as in `--machine NAME`.
    pub name: &'static str,
    /// One sentence on it.
    pub about: &'static str,
    /// The description, TOML.
    pub text: &'static str,
}

impl MachineInfo {
    /// The machines of a target, of their names and texts and a sentence on each.
    pub const fn all<const N: usize>(
        machines: &[(&'static str, &'static str)],
        about: [&'static str; N],
    ) -> [MachineInfo; N] {
        assert!(machines.len() == N, "a sentence on each machine");
        let mut all = [MachineInfo { name: "", about: "", text: "" }; N];
        let mut k = 0;
        while k < N {
            let (name, text) = machines[k];
            all[k] = MachineInfo { name, about: about[k], text };
            k += 1;
        }
        all
    }
}

/// What a target reports of programs, by `--emit NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is, as a title.
    pub about: &'static str,
}

/// A machine that programs are compiled for.
pub trait Target: Sync {
    /// Its name, as in `--target NAME`.
    fn name(&self) -> &'static str;
    /// One sentence on it.
    fn about(&self) -> &'static str;
    /// Directives that it adds to schedules.
    fn directives(&self) -> &'static [DirectiveInfo] {
        &[]
    }
    /// The machines that come with it; the first is the default.
    fn machines(&self) -> &'static [MachineInfo];
    /// What `-X` takes.
    fn choices(&self) -> &'static [Choice] {
        &[]
    }
    /// What it reports of programs besides remarks.
    fn reports(&self) -> Vec<ReportInfo> {
        Vec::new()
    }
    /// Whether it compiles for what [`Request::profile`] says of a run.
    fn uses_profiles(&self) -> bool {
        false
    }
    /// The kind of programs that it compiles.
    fn accepts(&self) -> ProgramKind;
    /// Its passes, in order.
    fn passes(&self) -> Vec<PassInfo>;
    /// The diagnostic codes it reports.
    fn codes(&self) -> Vec<&'static CodeInfo>;
    /// Compiles a program. Panics where it is of another kind than [`Target::accepts`] says, or a
    /// report is asked for that is none of [`Target::reports`].
    fn compile(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Artifact, Failed>;
    /// Explains a program: per stage, the schedule in the source language ready to paste, where
    /// data lives, what moves and what it costs. Panics as [`Target::compile`] does.
    fn explain(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<String, Failed>;
}
