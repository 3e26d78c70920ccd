//! The source languages as the driver sees them.

use nbcc_base::{CodeInfo, Diagnostics, Failed, SourceFile, SourceId};
use nbcc_frontend_halide::Options;
use nbcc_pipeline::{Frontend, Program};
use nbcc_stages::DirectiveInfo;

/// Image pipelines in Halide's spelling.
pub struct Halide;

impl Frontend for Halide {
    fn name(&self) -> &'static str {
        "halide"
    }

    fn about(&self) -> &'static str {
        "image pipelines, spelled as in Halide C++"
    }

    fn extension(&self) -> &'static str {
        "halide"
    }

    fn default_target(&self) -> &'static str {
        "ipim"
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        nbcc_frontend_halide::codes::ALL.to_vec()
    }

    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        directives: &[DirectiveInfo],
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        let options = Options { directives };
        nbcc_frontend_halide::parse(id, file, &options, diagnostics).map(Program::Stages)
    }
}
