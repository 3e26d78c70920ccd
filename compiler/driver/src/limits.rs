//! Runs that come to a limit of memory or of steps: what is said of it, and what to do.

use nbcc_base::Diagnostic;

use crate::codes;

/// Steps that the interpreter may take, to check a run, for each cycle that the machine may take:
/// a few for each lane of all engines or cores of the largest machine.
const STEPS_A_CYCLE: u64 = 1 << 16;

/// Steps that the interpreter may take to check a run of up to `max_cycles` cycles; no more than
/// `most`.
pub fn check_steps(max_cycles: Option<u64>, most: u64) -> u64 {
    max_cycles.map_or(most, |cycles| cycles.saturating_mul(STEPS_A_CYCLE).min(most))
}

/// What to do where memory is short.
pub const LESS_MEMORY: &str = "use smaller images or buffers, or allow more memory (`ulimit -v`)";

/// The system has no memory for something.
pub fn no_memory(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(&codes::NO_MEMORY, message).help(LESS_MEMORY)
}

/// What to do where the interpreter came to its limit.
pub const MORE_STEPS: &str = "give it more with `interp --max-steps N`, or `run --max-cycles N`";

/// The interpreter came to its limit.
pub fn out_of_steps(message: String) -> Diagnostic {
    Diagnostic::error(&codes::OUT_OF_CYCLES, message).help(MORE_STEPS)
}
