//! Pipelines of the references from source to outputs, by compiler and simulated machine.

use std::collections::BTreeMap;

use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_host::{Image as HostImage, RunOptions, RunResult};
use nbcc_isa::Override;
use nbcc_isa_ipim::Program;
use nbcc_isa_ipim::layout::Role;
use nbcc_pipeline::ParseOptions;
use nbcc_pipeline::{Artifact, Context, NoObserver, PassOptions, Request, Target};
use nbcc_placement::Remark;
use nbcc_stages::bounds::Interval;
use nbcc_stages::{ElementType, Image};
use nbcc_target_ipim::IPIM;

use crate::reference::{Case, input_image};
use crate::said;

/// What a case is compiled for.
#[derive(Clone, Debug, Default)]
pub struct For {
    /// The name of the machine.
    pub machine: String,
    /// `--set KEY=VALUE`.
    pub overrides: Vec<Override>,
    /// `-X KEY=VALUE`.
    pub choices: BTreeMap<String, String>,
    /// How the passes run.
    pub passes: PassOptions,
}

/// Compiles a case; what is wrong otherwise.
pub fn compile(case: &Case, asked: &For) -> Result<Program, String> {
    compile_for(case, asked, &mut vec![])
}

/// The same, with the remarks of the passes.
pub fn compile_for(case: &Case, asked: &For, remarks: &mut Vec<Remark>) -> Result<Program, String> {
    let text = std::fs::read_to_string(crate::root().join(&case.halide))
        .map_err(|error| format!("{}: {error}", case.halide))?;
    let mut sources = SourceMap::default();
    let id = sources.add(SourceFile::new(case.halide.clone(), text));
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: IPIM.directives(), ..ParseOptions::default() };
    let parsed = nbcc_frontend_halide::parse(id, sources.get(id), &options, &mut diagnostics);
    let Ok(pipeline) = parsed else { return Err(said(&sources, &diagnostics)) };
    let word = |p: &nbcc_stages::ParamData| {
        Some((p.name.clone(), param_word(p.ty, case.params.get(&p.name)?)))
    };
    let params = pipeline.params.values().filter_map(word).collect();
    let machine = IPIM.machines().iter().find(|m| m.name == asked.machine);
    let machine = machine.ok_or_else(|| format!("there is no machine {}", asked.machine))?;
    let request = Request {
        machine: machine.text.to_string(),
        machine_name: machine.name.to_string(),
        overrides: asked.overrides.clone(),
        input_extents: case.inputs.iter().map(|i| (i.name.clone(), i.extent.clone())).collect(),
        size: case.size.clone().unwrap_or_default(),
        choices: asked.choices.clone(),
        params,
        ..Request::default()
    };
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks,
        passes: &asked.passes,
        observer: &mut NoObserver,
    };
    match IPIM.compile(nbcc_pipeline::Program::Stages(pipeline), &request, &mut cx) {
        Ok(Artifact::Binary(bytes)) => Program::from_elf(&bytes).map_err(|e| e.to_string()),
        Ok(Artifact::Text(_)) => Err("text where a binary was asked for".into()),
        Err(_) => Err(said(&sources, &diagnostics)),
    }
}

/// Runs a case's program on its inputs and parameters; why it does not end otherwise.
pub fn run(
    case: &Case,
    program: &Program,
    options: &mut RunOptions<'_>,
) -> Result<RunResult, String> {
    let element = |name: &str| program.buffers.iter().find(|b| b.name == name).map(|b| b.element);
    let host_image =
        |element, image: Image| HostImage { element, extent: image.extent, words: image.data };
    let inputs = case
        .inputs
        .iter()
        .filter_map(|spec| {
            let element = element(&spec.name)?;
            Some((spec.name.clone(), host_image(element, input_image(spec))))
        })
        .collect::<BTreeMap<_, _>>();
    let mut params = BTreeMap::new();
    for (name, value) in &case.params {
        // A parameter that bounds depend on was fixed when the program was compiled.
        let Some(param) = program.params.iter().find(|p| p.name == *name) else { continue };
        let words = vec![param_word(element_type(param.element), value)];
        params.insert(name.clone(), HostImage { element: param.element, extent: vec![], words });
    }
    nbcc_host::run(program, &inputs, &params, options).map_err(|error| error.to_string())
}

/// The images of a program's outputs, in order.
pub fn outputs(program: &Program, result: &RunResult) -> Vec<Image> {
    let buffers = program.buffers.iter().filter(|b| b.role == Role::Output);
    let image = |b: &nbcc_isa_ipim::Buffer| {
        let sides = b.min.iter().zip(&b.extent);
        let region: Vec<Interval> =
            sides.map(|(&min, &extent)| Interval::from_extent(min, extent)).collect();
        let mut image = Image::over(element_type(b.element), &region);
        image.data.clone_from(&result.outputs[&b.name].words);
        image
    };
    buffers.map(image).collect()
}

fn param_word(ty: ElementType, value: &serde_json::Value) -> u32 {
    match ty {
        ElementType::F32 => (value.as_f64().unwrap_or(0.0) as f32).to_bits(),
        ElementType::Bool => {
            u32::from(value.as_bool().unwrap_or(value.as_i64().is_some_and(|n| n != 0)))
        }
        _ => value.as_i64().unwrap_or(0) as u32,
    }
}

fn element_type(element: nbcc_isa_ipim::Element) -> ElementType {
    crate::reference::element_type(element.name())
}
