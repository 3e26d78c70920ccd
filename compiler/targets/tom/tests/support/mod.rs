//! From the text of a kernel to its binary.

use nbcc_base::{Diagnostics, SourceFile, SourceId, SourceMap};
use nbcc_ir::{parse_module, verify_module};
use nbcc_isa::Override;
use nbcc_isa_simt::Program;
use nbcc_isa_tom::ISA;
use nbcc_pipeline::{
    Artifact, Context, NoObserver, OptLevel, PassOptions, Program as Source, Request, Target,
};
use nbcc_placement::Remark;
use nbcc_target_tom::TOM;

/// A program and what was remarked on offloading, for a machine by its number.
pub fn compile_text(
    text: &str,
    machine: usize,
    level: OptLevel,
    set: &[(&str, &str)],
) -> (Program, Vec<Remark>) {
    let mut sources = SourceMap::default();
    sources.add(SourceFile::new("k.nbir", text));
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, &[], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}"));
    assert_eq!(verify_module(&module), []);
    let overrides = set
        .iter()
        .map(|(key, value)| Override { key: (*key).to_string(), value: (*value).to_string() });
    let request = Request {
        machine: TOM.machines()[machine].text.to_string(),
        overrides: overrides.collect(),
        ..Request::default()
    };
    let passes = PassOptions { level, disabled: vec![], verify_each: true };
    let mut remarks = Vec::new();
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &passes,
        observer: &mut NoObserver,
    };
    let done = TOM.compile(Source::Grids(module.into()), &request, &mut cx);
    let done = done.unwrap_or_else(|_| panic!("{diagnostics:?}"));
    let Artifact::Binary(binary) = done else { panic!("a binary was asked for") };
    remarks.retain(|remark| remark.pass == "offload");
    (Program::from_elf(&ISA, &binary).unwrap(), remarks)
}
