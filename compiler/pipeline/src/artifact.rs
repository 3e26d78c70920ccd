//! What a compilation produces, and which passes make it.

use nbcc_isa::{LoadError, WriteError};

use crate::pass::{PassDesc, State, before};
use crate::request::Emit;

/// What a compilation produces.
#[derive(Clone, Debug)]
pub enum Artifact {
    /// The contents of a `.nbx` file.
    Binary(Vec<u8>),
    /// Text of the form that was asked for.
    Text(String),
}

impl Emit {
    /// Those of a target's passes that make this: `select` is the first that leaves the shared IR,
    /// `allocate` the first behind which registers are no longer virtual.
    pub fn passes<S, C>(self, all: &[PassDesc<S, C>]) -> &[PassDesc<S, C>] {
        match self {
            Emit::Stages | Emit::Ir => before(all, "select"),
            Emit::MachineIr => before(all, "allocate"),
            Emit::Binary | Emit::Asm | Emit::Remarks | Emit::Report(_) => all,
        }
    }

    /// What was made of a state by those passes: its text, or the binary that `elf` makes. Panics
    /// where a report is asked for, which is the target's own to write.
    ///
    /// # Errors
    /// That the program does not fit the binary format, and why.
    pub fn artifact(
        self,
        state: &impl State,
        elf: impl FnOnce() -> Result<Vec<u8>, WriteError>,
        disassemble: impl FnOnce(&[u8]) -> Result<String, LoadError>,
    ) -> Result<Artifact, String> {
        let unfit = |why: String| format!("the program does not fit the binary format: {why}");
        let elf = || elf().map_err(|error| unfit(error.to_string()));
        match self {
            Emit::Stages | Emit::Ir | Emit::MachineIr => Ok(Artifact::Text(state.text())),
            Emit::Remarks => Ok(Artifact::Text(String::new())),
            Emit::Report(name) => panic!("{name} is no report of this target"),
            Emit::Asm => {
                disassemble(&elf()?).map(Artifact::Text).map_err(|error| unfit(error.to_string()))
            }
            Emit::Binary => elf().map(Artifact::Binary),
        }
    }
}
