//! Compiling a program as the driver does, for a target by its name.

use nbcc::registry;
use nbcc_base::{Diagnostics, SourceMap};
use nbcc_isa::Override;
use nbcc_pipeline::{Artifact, Context, NoObserver, OptLevel, PassOptions, Program, Request};
use nbcc_placement::Remark;

use crate::said;

/// What a program is compiled for.
#[derive(Clone, Debug)]
pub struct Build<'a> {
    /// The target's name.
    pub target: &'a str,
    /// The number of one of its machines, modulo how many it has.
    pub machine: usize,
    /// Changes of that.
    pub overrides: Vec<Override>,
    /// What is chosen of what the target offers.
    pub choices: &'a [(&'a str, &'a str)],
    /// How passes run.
    pub passes: PassOptions,
}

impl Build<'_> {
    /// A target's first machine as it is, with every pass verified.
    pub fn new(target: &str, level: OptLevel) -> Build<'_> {
        let passes = PassOptions { level, disabled: vec![], verify_each: true };
        Build { target, machine: 0, overrides: vec![], choices: &[], passes }
    }

    /// Compiles a program; what is wrong otherwise.
    pub fn compile(
        &self,
        sources: &SourceMap,
        program: Program,
        remarks: &mut Vec<Remark>,
    ) -> Result<Vec<u8>, String> {
        let target = registry::BUILT_IN.target(self.target).ok_or("there is no target")?.target;
        let machine = target.machines()[self.machine % target.machines().len()];
        let choice = |&(key, value): &(&str, &str)| (key.to_string(), value.to_string());
        let request = Request {
            machine: machine.text.to_string(),
            machine_name: machine.name.to_string(),
            overrides: self.overrides.clone(),
            choices: self.choices.iter().map(choice).collect(),
            ..Request::default()
        };
        let mut diagnostics = Diagnostics::default();
        let mut cx = Context {
            sources,
            diagnostics: &mut diagnostics,
            remarks,
            passes: &self.passes,
            observer: &mut NoObserver,
        };
        match target.compile(program, &request, &mut cx) {
            Ok(Artifact::Binary(binary)) => Ok(binary),
            Ok(Artifact::Text(_)) => Err("text where a binary was asked for".into()),
            Err(_) => Err(said(sources, &diagnostics)),
        }
    }
}
