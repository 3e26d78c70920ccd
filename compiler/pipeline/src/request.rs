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
    /// `--profile-use`, for a target that [`uses_profiles`](crate::Target::uses_profiles).
    pub profile: Option<LineCounts>,
}

/// How often source lines were executed when a program ran: by the file, without its folder, and the
/// line, from 1, the most executions of one instruction of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCounts(BTreeMap<String, BTreeMap<u32, u64>>);

impl LineCounts {
    /// Adds what is known of a line.
    pub fn add(&mut self, file: &str, line: u32, executed: u64) {
        let lines = self.0.entry(without_folder(file).to_string()).or_default();
        let known = lines.entry(line).or_default();
        *known = executed.max(*known);
    }

    /// How often a line was executed; `None` where nothing is known of it.
    pub fn get(&self, file: &str, line: u32) -> Option<u64> {
        self.0.get(without_folder(file))?.get(&line).copied()
    }

    /// Whether anything is known of a file of so many lines.
    pub fn is_about(&self, file: &str, lines: u32) -> bool {
        self.0
            .get(without_folder(file))
            .is_some_and(|known| known.range(1..=lines).next().is_some())
    }
}

fn without_folder(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
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
