//! What a frontend and a target are.

use nbcc_base::{CodeInfo, Diagnostics, Failed, SourceFile, SourceId};
use nbcc_stages::DirectiveInfo;

use crate::{Context, PassInfo, Request};

/// What a frontend makes of a source file.
#[derive(Clone, Debug)]
pub enum Program {
    /// An image pipeline.
    Stages(nbcc_stages::Pipeline),
    /// Functions of the shared IR.
    Ir(nbcc_ir::Module),
}

/// A source language.
pub trait Frontend: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// One sentence on it.
    fn about(&self) -> &'static str;
    /// The extension of its files, without the dot.
    fn extension(&self) -> &'static str;
    /// The target compiled for where none is named.
    fn default_target(&self) -> &'static str;
    /// The diagnostic codes it reports.
    fn codes(&self) -> Vec<&'static CodeInfo>;
    /// Reads a source file. `directives` are those that the target adds to the language, `params` the
    /// names and values that the command line gives to parameters.
    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        directives: &[DirectiveInfo],
        params: &[(String, String)],
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

/// What a compilation produces.
#[derive(Clone, Debug)]
pub enum Artifact {
    /// The contents of a `.nbx` file.
    Binary(Vec<u8>),
    /// Text of the form that was asked for.
    Text(String),
}

/// A machine that programs are compiled for.
pub trait Target: Sync {
    /// Its name, as in `--target NAME`.
    fn name(&self) -> &'static str;
    /// One sentence on it.
    fn about(&self) -> &'static str;
    /// Directives that it adds to schedules.
    fn directives(&self) -> &'static [DirectiveInfo];
    /// The machines that come with it; the first is the default.
    fn machines(&self) -> &'static [MachineInfo];
    /// What `-X` takes.
    fn choices(&self) -> &'static [Choice];
    /// Its passes, in order.
    fn passes(&self) -> Vec<PassInfo>;
    /// The diagnostic codes it reports.
    fn codes(&self) -> Vec<&'static CodeInfo>;
    /// Compiles a program.
    fn compile(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Artifact, Failed>;
    /// Explains a program: per stage, the schedule in the source language ready to paste, where
    /// data lives, what moves and what it costs.
    fn explain(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<String, Failed>;
}
