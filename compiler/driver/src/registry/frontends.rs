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
        params: &[(String, String)],
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        let options = Options { directives, params };
        nbcc_frontend_halide::parse(id, file, &options, diagnostics).map(Program::Stages)
    }
}

/// Kernels in PTX.
pub struct Ptx;

impl Frontend for Ptx {
    fn name(&self) -> &'static str {
        "ptx"
    }

    fn about(&self) -> &'static str {
        "kernels in PTX, as CUDA compilers emit them"
    }

    fn extension(&self) -> &'static str {
        "ptx"
    }

    fn default_target(&self) -> &'static str {
        "mpu"
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        nbcc_frontend_ptx::all_codes()
    }

    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        _directives: &[DirectiveInfo],
        _params: &[(String, String)],
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        nbcc_frontend_ptx::parse(id, file, &nbcc_frontend_ptx::Options::default(), diagnostics)
            .map(Program::Ir)
    }
}
