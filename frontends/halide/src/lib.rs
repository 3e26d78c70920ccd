//! The frontend of the `.halide` language: a text form of Halide, spelled as Halide C++.
//!
//! | folder | what a file is in it |
//! | --- | --- |
//! | [`syntax`] | from text over tokens and `grammar.lalrpop` to a syntax tree |
//! | [`elab`] | the compile-time language runs: statements, declarations, functions, classes |
//! | [`value`] | what its expressions evaluate to |
//! | [`pipeline`] | what it builds: typed expressions, Funcs, definitions, Halide's functions |
//! | [`schedule`] | directives on what is built |
//! | [`finish`] | from there to the stage graph |
//!
//! What the language means is described in `docs/language-halide.md`; types, promotion and the
//! expansion of functions follow Halide's `IROperator`, `Func` and `BoundaryConditions`.

pub mod codes;
mod elab;
mod finish;
mod helps;
mod pipeline;
mod schedule;
mod syntax;
mod value;

use nbcc_base::{CodeInfo, Diagnostics, Failed, SourceFile, SourceId};
use nbcc_pipeline::{Frontend, ParseOptions, Program, ProgramKind};
use nbcc_stages::Pipeline;
pub use schedule::directives::{DIRECTIVES, DirectiveHelp};

/// Image pipelines in Halide's spelling.
#[derive(Debug)]
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

    fn kind(&self) -> ProgramKind {
        ProgramKind::Stages
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        codes::ALL.to_vec()
    }

    fn parse(
        &self,
        id: SourceId,
        file: &SourceFile,
        options: &ParseOptions<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Program, Failed> {
        parse(id, file, options, diagnostics).map(Program::Stages)
    }
}

/// Reads a file into a stage graph. Spans refer to `source`. Errors, warnings and notes go to
/// `diagnostics`; `Err` means that at least one of them is an error. A `GeneratorParam` that the
/// options name has the value that they give; other names are left alone.
pub fn parse(
    source: SourceId,
    file: &SourceFile,
    options: &ParseOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Pipeline, Failed> {
    let generator = options.params.iter().find(|(name, _)| name == elab::GENERATOR_PARAM);
    let generator = generator.map(|(_, value)| value.as_str());
    let (ast, read) = syntax::parse(source, file, generator, diagnostics)?;
    on_own_stack(|| {
        let mut elab = elab::Elab::new(source, file, &ast, read, options, diagnostics);
        elab.run();
        if elab.has_errors() { Err(Failed) } else { elab.finish(stem(&file.name)) }
    })
}

/// Elaboration recurses as deep as the source nests, within [`elab::MAX_DEPTH`]: it gets a stack on
/// which that fits, whatever the caller's. The caller's it is where the system gives no other.
fn on_own_stack<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    const STACK: usize = 32 << 20;
    let mut body = Some(body);
    let result = std::thread::scope(|scope| {
        let run = || body.take().map(|body| body());
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    result.or_else(|| body.map(|body| body())).expect("it ran on one stack or the other")
}

/// The name of a file without folders and extension.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".halide").unwrap_or(name);
    if name.is_empty() { "pipeline".to_owned() } else { name.to_owned() }
}
