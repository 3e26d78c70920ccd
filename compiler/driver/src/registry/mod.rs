//! The frontends and targets there are. Nothing else in this crate names one.

mod cuda;
mod frontends;
mod ipim;
mod mpu;

use std::path::Path;

use nbcc_isa::LoadError;
use nbcc_isa::asm::AsmError;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_pipeline::{Frontend, MachineInfo, Target};

use crate::simulate::{Described, DescribedGrids, GridRan, GridRequest, Ran, RunError, RunRequest};

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
}

/// What runs binaries, by the kind of program that a target takes.
pub enum Runner {
    /// Image pipelines, from images to images.
    Images(ImageRunner),
    /// Kernels, launched on grids over buffers.
    Grids(GridRunner),
}

/// Runs image pipelines.
pub struct ImageRunner {
    /// What a binary says of itself.
    pub describe: fn(&[u8]) -> Result<Described, LoadError>,
    /// Runs a binary on its machine.
    pub run: fn(&[u8], RunRequest<'_>) -> Result<Ran, RunError>,
}

/// Runs kernels.
pub struct GridRunner {
    /// What a binary says of itself.
    pub describe: fn(&[u8]) -> Result<DescribedGrids, LoadError>,
    /// Launches kernels of a binary on its machine.
    pub launch: fn(&[u8], GridRequest<'_>) -> GridRan,
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

/// The languages that other compilers translate.
pub static TRANSLATORS: &[Translator] = &[cuda::CUDA];

/// The source languages.
pub static FRONTENDS: &[&dyn Frontend] = &[&frontends::Halide, &frontends::Ptx];

/// A language that nbcc is to read one day.
pub struct PlannedLanguage {
    /// What `-x` calls it.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The extension of its files.
    pub extension: &'static str,
}

/// The languages without a frontend, named so that a message can say so.
pub static PLANNED: &[PlannedLanguage] =
    &[PlannedLanguage { name: "c", title: "C", extension: "c" }];

/// The targets.
pub static TARGETS: &[TargetEntry] = &[ipim::ENTRY, mpu::ENTRY];

/// A picture for whoever has none: that of the example, which a crate cannot reach.
pub static PICTURE: &[u8] = include_bytes!("../../data/picture.png");

/// The target of that name.
pub fn target(name: &str) -> Option<&'static TargetEntry> {
    TARGETS.iter().find(|entry| entry.target.name() == name)
}

/// The target whose binaries have that instruction set.
pub fn by_isa(isa: u16) -> Option<&'static TargetEntry> {
    TARGETS.iter().find(|entry| entry.isa == isa)
}

/// The frontend for files of that extension.
pub fn frontend(extension: &str) -> Option<&'static dyn Frontend> {
    FRONTENDS.iter().copied().find(|frontend| frontend.extension() == extension)
}

/// The translator for files of that extension.
pub fn translator(extension: &str) -> Option<&'static Translator> {
    TRANSLATORS.iter().find(|translator| translator.extension == extension)
}

/// The frontend of that name.
pub fn frontend_named(name: &str) -> Option<&'static dyn Frontend> {
    FRONTENDS.iter().copied().find(|frontend| frontend.name() == name)
}

/// The machine of that name that comes with a target.
pub fn machine(name: &str) -> Option<(&'static TargetEntry, &'static MachineInfo)> {
    TARGETS.iter().find_map(|entry| {
        let info = entry.target.machines().iter().find(|machine| machine.name == name)?;
        Some((entry, info))
    })
}
