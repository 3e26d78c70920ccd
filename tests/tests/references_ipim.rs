//! Every reference case, compiled for iPIM and run on the simulated machine: one vault, one cube,
//! eight cubes.
//!
//! `NBCC_LEVELS=0,2` and `NBCC_MACHINES=ipim-vault,ipim` choose others than the default, and
//! `NBCC_CODE=smallest` how small code is.

use std::collections::BTreeMap;

use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_frontend_halide::Options;
use nbcc_host::{Image as HostImage, RunOptions};
use nbcc_isa_ipim::Program;
use nbcc_isa_ipim::layout::Role;
use nbcc_pipeline::{Artifact, Context, NoObserver, OptLevel, PassOptions, Request, Target};
use nbcc_stages::bounds::Interval;
use nbcc_stages::{ElementType, Image};
use nbcc_target_ipim::IPIM;
use nbcc_tests::reference::{Case, cases, compare, input_image};

/// Steps of a program that a test waits for.
const MAX_CYCLES: u64 = 2_000_000_000;

/// Pipelines that the target refuses today, and with which code.
const REFUSED: &[(&str, &str)] = &[];

fn errors(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let line = |d: &nbcc_base::Diagnostic| {
        let at = d.span.map(|s| sources.start_of(s));
        let at = at.map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
        format!("\n{at}{} {}: {}", d.severity.word(), d.code.code, d.message)
    };
    diagnostics.iter().map(line).collect()
}

fn compile(case: &Case, machine: &str, level: OptLevel) -> Result<Program, Failed> {
    let text = std::fs::read_to_string(nbcc_tests::root().join(&case.halide))?;
    let mut sources = SourceMap::default();
    let id = sources.add(SourceFile::new(case.halide.clone(), text));
    let mut diagnostics = Diagnostics::default();
    let options = Options { directives: IPIM.directives() };
    let parsed = nbcc_frontend_halide::parse(id, sources.get(id), &options, &mut diagnostics);
    let Ok(pipeline) = parsed else { return Err(errors(&sources, &diagnostics).into()) };
    let word = |p: &nbcc_stages::ParamData| {
        Some((p.name.clone(), param_word(p.ty, case.params.get(&p.name)?)))
    };
    let params = pipeline.params.values().filter_map(word).collect();
    let machine = IPIM.machines().iter().find(|m| m.name == machine);
    let machine = machine.ok_or("there is no such machine")?;
    let request = Request {
        machine: machine.text.to_string(),
        machine_name: machine.name.to_string(),
        input_extents: case.inputs.iter().map(|i| (i.name.clone(), i.extent.clone())).collect(),
        size: case.size.clone().unwrap_or_default(),
        choices: std::env::var("NBCC_CODE")
            .map(|code| ("code".to_string(), code))
            .into_iter()
            .collect(),
        params,
        ..Request::default()
    };
    let passes = PassOptions { level, disabled: vec![], verify_each: true };
    let mut remarks = vec![];
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &passes,
        observer: &mut NoObserver,
    };
    match IPIM.compile(nbcc_pipeline::Program::Stages(pipeline), &request, &mut cx) {
        Ok(Artifact::Binary(bytes)) => Ok(Program::from_elf(&bytes)?),
        Ok(Artifact::Text(_)) => Err("text where a binary was asked for".into()),
        Err(_) => Err(errors(&sources, &diagnostics).into()),
    }
}

fn host_image(element: nbcc_isa_ipim::Element, image: Image) -> HostImage {
    HostImage { element, extent: image.extent, words: image.data }
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
    nbcc_tests::reference::element_type(element.name())
}

fn run_case(case: &Case, machine: &str, level: OptLevel) -> Result<(), Failed> {
    let refused = REFUSED.iter().find(|(name, _)| case.name.starts_with(name));
    let program = match (compile(case, machine, level), refused) {
        (Ok(program), None) => program,
        (Err(error), None) => return Err(error),
        (Ok(_), Some((name, _))) => return Err(format!("{name} is not refused any more").into()),
        (Err(error), Some((_, code))) => {
            let said = error.message().is_some_and(|m| m.contains(code));
            return if said { Ok(()) } else { Err(error) };
        }
    };
    let element = |name: &str| program.buffers.iter().find(|b| b.name == name).map(|b| b.element);
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
    let mut options = RunOptions { timing: false, max_cycles: MAX_CYCLES, ..RunOptions::default() };
    let result = nbcc_host::run(&program, &inputs, &params, &mut options)?;
    let images: Vec<Image> = program
        .buffers
        .iter()
        .filter(|b| b.role == Role::Output)
        .map(|b| {
            let region: Vec<Interval> = b
                .min
                .iter()
                .zip(&b.extent)
                .map(|(&min, &extent)| Interval::from_extent(min, extent))
                .collect();
            let mut image = Image::over(element_type(b.element), &region);
            image.data.clone_from(&result.outputs[&b.name].words);
            image
        })
        .collect();
    Ok(compare(case, &images)?)
}

fn chosen(variable: &str, default: &[&str]) -> Vec<String> {
    match std::env::var(variable) {
        Ok(list) => list.split(',').map(str::to_string).collect(),
        Err(_) => default.iter().map(|s| s.to_string()).collect(),
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let machines = chosen("NBCC_MACHINES", &["ipim-vault", "ipim-cube", "ipim"]);
    let levels = chosen("NBCC_LEVELS", &["2"]);
    let mut trials = Vec::new();
    for case in cases() {
        for machine in &machines {
            for level in &levels {
                let (case, machine) = (case.clone(), machine.clone());
                let name = format!("{}::{machine}::O{level}", case.name);
                let level = match level.as_str() {
                    "0" => OptLevel::O0,
                    "1" => OptLevel::O1,
                    _ => OptLevel::O2,
                };
                trials.push(Trial::test(name, move || run_case(&case, &machine, level)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
