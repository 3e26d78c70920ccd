//! What is asked of a compilation.

use std::collections::BTreeMap;

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed};
use nbcc_isa::{MachineError, Override};

/// `-O0`, `-O1`, `-O2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptLevel {
    /// Plain code.
    O0,
    /// Passes that are cheap and always pay.
    O1,
    /// Everything.
    #[default]
    O2,
}

/// What `--emit` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// The binary.
    #[default]
    Binary,
    /// Assembly.
    Asm,
    /// The shared IR as it goes into instruction selection.
    Ir,
    /// The stage graph with its final schedule.
    Stages,
    /// Target instructions over virtual registers.
    MachineIr,
    /// The remarks.
    Remarks,
    /// The report of that name, one of the target's.
    Report(&'static str),
}

/// What is asked of the passes.
#[derive(Clone, Debug, Default)]
pub struct PassOptions {
    /// The optimisation level.
    pub level: OptLevel,
    /// Optional passes to leave out, by name.
    pub disabled: Vec<String>,
    /// Verify the state after every pass.
    pub verify_each: bool,
}

/// What a target is asked to compile for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The machine description, TOML text with overrides applied by the target.
    pub machine: String,
    /// The machine's name or file, for messages.
    pub machine_name: String,
    /// `--set KEY=VALUE`, in order.
    pub overrides: Vec<Override>,
    /// `-X KEY=VALUE`.
    pub choices: BTreeMap<String, String>,
    /// What to produce.
    pub emit: Emit,
    /// Extents of inputs that are given, by name, the fastest dimension first.
    pub input_extents: BTreeMap<String, Vec<u32>>,
    /// `--size`: the first dimensions of the outputs.
    pub size: Vec<u32>,
    /// Scalar parameters that are given, by name, as words. A target may need them where extents
    /// depend on them.
    pub params: BTreeMap<String, u32>,
}

impl Request {
    /// The machine that `read` makes of the description and what overrides it. What is wrong with
    /// it is reported under `code`.
    pub fn read_machine<M>(
        &self,
        read: impl FnOnce(&str, &[Override]) -> Result<M, MachineError>,
        code: &'static CodeInfo,
        diagnostics: &mut Diagnostics,
    ) -> Result<M, Failed> {
        read(&self.machine, &self.overrides).or_else(|error| {
            let mut diagnostic =
                Diagnostic::error(code, error.message).in_file(self.machine_name.clone());
            diagnostic.help = error.help;
            diagnostics.fail(diagnostic)
        })
    }
}
