//! Every reference case, through the frontend and the interpreter.

use cranelift_entity::SecondaryMap;
use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_base::{Diagnostics, SourceFile, SourceId, SourceMap};
use nbcc_pipeline::ParseOptions;
use nbcc_stages::bounds::{default_params, resolve_extents};
use nbcc_stages::{DirectiveInfo, ElementType, Image, Input, ParamKind, Pipeline, scalar, verify};
use nbcc_tests::reference::{Case, cases, compare, input_image};

/// The directives that the sources use beyond Halide's.
const DIRECTIVES: &[DirectiveInfo] = &[
    DirectiveInfo {
        name: "ipim_tile",
        forms: &[
            &[
                ParamKind::Var,
                ParamKind::Var,
                ParamKind::NewVar,
                ParamKind::NewVar,
                ParamKind::Size,
                ParamKind::Size,
            ],
            &[ParamKind::Var, ParamKind::NewVar, ParamKind::Size],
        ],
        usage: "ipim_tile(x, y, xi, yi, W, H)",
        about: "tiles and distributes",
    },
    DirectiveInfo {
        name: "load_pgsm",
        forms: &[&[ParamKind::Vars]],
        usage: "load_pgsm(xi, yi)",
        about: "stages what is read",
    },
];

fn describe(source: &SourceFile, diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for d in diagnostics.iter() {
        let place = d.span.map_or_else(String::new, |span| {
            let at = source.position(span.start);
            format!("{}:{}:{}: ", source.name, at.line, at.column)
        });
        let labels: Vec<&str> = d.labels.iter().map(|l| l.text.as_str()).collect();
        text += &format!(
            "\n{place}{} {}: {} [{}] help: {}",
            d.severity.word(),
            d.code.code,
            d.message,
            labels.join("; "),
            d.help.as_deref().unwrap_or("-")
        );
    }
    text
}

fn parse(case: &Case) -> Result<(Pipeline, SourceFile), Failed> {
    let path = nbcc_tests::root().join(&case.halide);
    let text = std::fs::read_to_string(path)?;
    let file = SourceFile::new(case.halide.clone(), text);
    let mut map = SourceMap::default();
    let id: SourceId = map.add(file.clone());
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: DIRECTIVES, ..ParseOptions::default() };
    match nbcc_frontend_halide::parse(id, &file, &options, &mut diagnostics) {
        Ok(pipeline) => Ok((pipeline, file)),
        Err(_) => Err(describe(&file, &diagnostics).into()),
    }
}

fn run_case(case: &Case) -> Result<(), Failed> {
    let (pipeline, file) = parse(case)?;
    if let Err(errors) = verify(&pipeline) {
        return Err(format!("the stage graph is malformed: {}", errors[0]).into());
    }
    let mut inputs: SecondaryMap<Input, Image> = SecondaryMap::new();
    let mut given = SecondaryMap::new();
    for spec in &case.inputs {
        let found = pipeline.inputs.iter().find(|(_, data)| data.name == spec.name);
        let Some((input, _)) = found else {
            return Err(format!("there is no input `{}`", spec.name).into());
        };
        given[input] = Some(spec.extent.clone());
        inputs[input] = input_image(spec);
    }
    let mut params = default_params(&pipeline);
    for (name, value) in &case.params {
        let found = pipeline.params.iter().find(|(_, data)| data.name == *name);
        let Some((param, data)) = found else {
            return Err(format!("there is no parameter `{name}`").into());
        };
        let word = match (data.ty, value) {
            (ElementType::Bool, value) if value.is_boolean() => value.as_bool() == Some(true),
            (ElementType::F32, value) => {
                params[param] = value.as_f64().map(|v| (v as f32).to_bits());
                continue;
            }
            (ty, value) => {
                params[param] = value.as_i64().map(|v| scalar::normalize(ty, v as u32));
                continue;
            }
        };
        params[param] = Some(word.into());
    }
    let extents = resolve_extents(&pipeline, &given, case.size.as_deref(), &params)
        .map_err(|d| describe(&file, &d))?;
    let images = nbcc_interp::pipeline::run(&pipeline, &inputs, &params, &extents.outputs)
        .map_err(|trap| match trap {
            nbcc_interp::pipeline::Trap::Bounds(d) => describe(&file, &d),
            trap => trap.to_string(),
        })?;
    Ok(compare(case, &images)?)
}

fn main() {
    let arguments = Arguments::from_args();
    let trials = cases()
        .into_iter()
        .map(|case| Trial::test(case.name.clone(), move || run_case(&case)))
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
