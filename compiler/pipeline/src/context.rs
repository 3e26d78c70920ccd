//! What a pass can reach beside the state.

use nbcc_base::{Diagnostics, SourceMap};
use nbcc_placement::Remark;

use crate::observer::Observer;
use crate::request::PassOptions;

/// What a pass reaches beside the state.
pub struct Context<'a> {
    /// The source files.
    pub sources: &'a SourceMap,
    /// Where faults are reported.
    pub diagnostics: &'a mut Diagnostics,
    /// Where decisions are explained.
    pub remarks: &'a mut Vec<Remark>,
    /// What is asked of the passes.
    pub passes: &'a PassOptions,
    /// Who watches.
    pub observer: &'a mut dyn Observer,
}
