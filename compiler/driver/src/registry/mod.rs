//! The frontends and targets there are. Nothing else in this crate names one.

mod frontends;
mod ipim;

use nbcc_isa::LoadError;
use nbcc_isa::asm::AsmError;
use nbcc_isa::machine::{Entry, MachineError, Override};
use nbcc_pipeline::{Frontend, MachineInfo, Target};

use crate::simulate::{Described, Ran, RunError, RunRequest};

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
    /// What a binary says of itself.
    pub describe: fn(&[u8]) -> Result<Described, LoadError>,
    /// Runs a binary on its machine.
    pub run: fn(&[u8], RunRequest<'_>) -> Result<Ran, RunError>,
}

/// The source languages.
pub static FRONTENDS: &[&dyn Frontend] = &[&frontends::Halide];

/// The targets.
pub static TARGETS: &[TargetEntry] = &[ipim::ENTRY];

/// A picture for whoever has none.
pub static PICTURE: &[u8] = include_bytes!("../../../../examples/ipim/blur.in.png");

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

/// The machine of that name that comes with a target.
pub fn machine(name: &str) -> Option<(&'static TargetEntry, &'static MachineInfo)> {
    TARGETS.iter().find_map(|entry| {
        let info = entry.target.machines().iter().find(|machine| machine.name == name)?;
        Some((entry, info))
    })
}
