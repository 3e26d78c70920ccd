//! The frontends and targets there are. Nothing else in this crate names one.
//!
//! What this crate is built with is [`BUILT_IN`]; a program that brings a frontend or a target of
//! its own gives its list to [`crate::main_with`].

pub mod arrays;
mod cuda;
mod ipim;
mod mpu;
mod sdpnm;
mod simt;
mod suites;
mod tom;

use std::path::Path;
use std::sync::OnceLock;

use nbcc_base::CodeInfo;
use nbcc_isa::LoadError;
use nbcc_isa::asm::AsmError;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_pipeline::{Frontend, MachineInfo, ProgramKind, Target};
use nbcc_sim_engine::Definition;

use crate::kinds::functions::FunctionRunner;
use crate::kinds::grids::GridRunner;
use crate::kinds::images::ImageRunner;

/// What programs can be read and compiled for.
pub struct Registry {
    /// The suites of benchmarks that `bench` knows by name.
    pub suites: &'static [BundledSuite],
    /// The source languages.
    pub languages: &'static [Language],
    /// The languages that other compilers translate.
    pub translators: &'static [Translator],
    /// The targets.
    pub targets: &'static [TargetEntry],
}

/// The frontends and targets of this repository.
pub static BUILT_IN: Registry = Registry {
    suites: suites::ALL,
    languages: &[
        Language { frontend: &nbcc_frontend_halide::Halide, target: "ipim", headers: &[] },
        Language { frontend: &nbcc_frontend_ptx::Ptx, target: "mpu", headers: &[] },
        Language { frontend: &nbcc_frontend_c::C, target: "sdpnm", headers: C_HEADERS },
    ],
    translators: &[cuda::CUDA],
    targets: &[ipim::ENTRY, mpu::ENTRY, tom::ENTRY, sdpnm::ENTRY],
};

/// The headers of C that come with targets.
const C_HEADERS: &[(&str, &str)] = &[("nbcc/sdpnm.h", include_str!("../../include/nbcc/sdpnm.h"))];

/// The target whose machines have memory stacks, its mappings of addresses to them, the analyzer that
/// chooses among them, and its policies of offloading with what a tournament of them runs.
pub use tom::{
    ENTRY as STACKED, POLICIES, analyzer, mappings as stack_mappings, tournament, trace,
};

/// The registry of this process: command lines are read, and codes explained, by one.
static REGISTRY: OnceLock<&'static Registry> = OnceLock::new();

/// Makes a registry that of the process. `Err` with it where there is another one already.
pub fn set(registry: &'static Registry) -> Result<(), &'static Registry> {
    REGISTRY.set(registry)
}

/// The registry of the process: [`BUILT_IN`] where none was set.
pub fn get() -> &'static Registry {
    REGISTRY.get_or_init(|| &BUILT_IN)
}

/// A suite of benchmarks that comes with its sources.
pub struct BundledSuite {
    /// What `bench` calls it.
    pub name: &'static str,
    /// The suite's file.
    pub text: &'static str,
    /// The sources of its programs: name and text.
    pub sources: &'static [(&'static str, &'static str)],
}

/// A source language.
pub struct Language {
    /// What reads it.
    pub frontend: &'static dyn Frontend,
    /// The target compiled for where none is named. It may be one that there is not yet: then files
    /// are read and interpreted only.
    pub target: &'static str,
    /// Files that sources may include: name and text.
    pub headers: &'static [(&'static str, &'static str)],
}

/// A target with the tools that go with it.
pub struct TargetEntry {
    /// The compiler's side.
    pub target: &'static dyn Target,
    /// Reads a machine description with changes applied; its parameters in the order of the text.
    pub machine: fn(text: &str, overrides: &[Override]) -> Result<Vec<Entry>, MachineError>,
    /// The number of its instruction set in the header of a binary.
    pub isa: u16,
    /// The name of its instruction set in assembly.
    pub assembly: &'static str,
    /// The assembly of a binary.
    pub disassemble: fn(&[u8]) -> Result<String, LoadError>,
    /// The binary of an assembly file.
    pub assemble: fn(&str) -> Result<Vec<u8>, Vec<AsmError>>,
    /// What runs its binaries.
    pub runner: Runner,
    /// How its runs are reported.
    pub report: RunReport,
}

/// What runs binaries, by the kind of program that a target takes.
pub enum Runner {
    /// Image pipelines, from images to images.
    Images(ImageRunner),
    /// Kernels, launched on grids over buffers.
    Grids(GridRunner),
    /// Functions, called on arrays and scalars.
    Function(FunctionRunner),
}

impl Runner {
    /// The kind of programs that it runs.
    pub fn kind(&self) -> ProgramKind {
        match self {
            Runner::Images(_) => ProgramKind::Stages,
            Runner::Grids(_) => ProgramKind::Grids,
            Runner::Function(_) => ProgramKind::Function,
        }
    }
}

/// How the runs of a machine are reported.
#[derive(Clone, Copy, Debug)]
pub struct RunReport {
    /// What the machine calls that which issues instructions.
    pub core: &'static str,
    /// What it calls what is issued, in the plural.
    pub instructions: &'static str,
    /// What is to be said of its cycles, if anything.
    pub note: Option<&'static str>,
    /// Whether it keeps a timeline.
    pub has_trace: bool,
    /// What its statistics mean.
    pub statistics: &'static [Definition],
}

/// A language that another compiler turns into one of ours.
pub struct Translator {
    /// The extension of its files.
    pub extension: &'static str,
    /// The extension of what it becomes.
    pub to: &'static str,
    /// The text that a file becomes.
    pub translate: fn(&Path) -> Result<String, Translation>,
    /// What to do where there is no such compiler.
    pub help: &'static str,
}

/// Why a file was not translated.
#[derive(Debug)]
pub enum Translation {
    /// There is no program for it.
    NoProgram,
    /// The program did not make anything of it.
    Failed {
        /// Which.
        program: String,
        /// What it said.
        message: String,
    },
}

impl Registry {
    /// The target of that name.
    pub fn target(&self, name: &str) -> Option<&'static TargetEntry> {
        self.targets.iter().find(|entry| entry.target.name() == name)
    }

    /// The target whose binaries have that instruction set.
    pub fn by_isa(&self, isa: u16) -> Option<&'static TargetEntry> {
        self.targets.iter().find(|entry| entry.isa == isa)
    }

    /// The language of files of that extension.
    pub fn language(&self, extension: &str) -> Option<&'static Language> {
        self.languages.iter().find(|language| language.frontend.extension() == extension)
    }

    /// The language of that name.
    pub fn language_named(&self, name: &str) -> Option<&'static Language> {
        self.languages.iter().find(|language| language.frontend.name() == name)
    }

    /// The translator for files of that extension.
    pub fn translator(&self, extension: &str) -> Option<&'static Translator> {
        self.translators.iter().find(|translator| translator.extension == extension)
    }

    /// The machine of that name that comes with a target.
    pub fn machine(&self, name: &str) -> Option<(&'static TargetEntry, &'static MachineInfo)> {
        self.targets.iter().find_map(|entry| {
            let info = entry.target.machines().iter().find(|machine| machine.name == name)?;
            Some((entry, info))
        })
    }

    /// The codes that frontends and targets report.
    pub fn codes(&self) -> impl Iterator<Item = &'static CodeInfo> {
        let frontends = self.languages.iter().flat_map(|language| language.frontend.codes());
        frontends.chain(self.targets.iter().flat_map(|entry| entry.target.codes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_and_targets_are_of_one_kind() {
        for entry in BUILT_IN.targets {
            assert_eq!(entry.runner.kind(), entry.target.accepts(), "{}", entry.target.name());
        }
        for Language { frontend, target, .. } in BUILT_IN.languages {
            let Some(entry) = BUILT_IN.target(target) else { continue };
            assert_eq!(frontend.kind(), entry.target.accepts(), "{}", frontend.name());
        }
    }
}
