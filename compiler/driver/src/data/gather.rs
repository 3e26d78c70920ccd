//! Everything a pipeline needs before it runs: its inputs, parameters and extents.

use std::collections::BTreeMap;
use std::path::Path;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics};
use nbcc_stages::bounds::{Extents, ParamValues, Region, default_params, resolve_extents};
use nbcc_stages::scalar::literal_word;
use nbcc_stages::{DirectiveKind, Image, Input, Pipeline};

use super::{by, inputs, params};
use crate::cli::DataArgs;
use crate::codes;
use crate::session::{Session, Stop};

/// The data for one run of a pipeline.
pub struct Gathered {
    /// The inputs by name, and where they came from.
    pub inputs: BTreeMap<String, inputs::Loaded>,
    /// The parameters, as words.
    pub params: ParamValues,
    /// All extents.
    pub extents: Extents,
}

/// Gathers the data for a pipeline whose source is `program`.
pub fn gather(
    session: &mut Session,
    pipeline: &Pipeline,
    args: &DataArgs,
    program: &Path,
) -> Result<Gathered, Stop> {
    let specs = inputs::of_pipeline(pipeline);
    let mut inputs = inputs::given(session, &specs, &args.input)?;
    inputs::add_beside(session, &specs, &mut inputs, program)?;
    complete(session, pipeline, args, inputs, program)
}

/// Gathers what there is to know beside these inputs; the bundled picture stands in for others.
pub fn complete(
    session: &mut Session,
    pipeline: &Pipeline,
    args: &DataArgs,
    mut inputs: BTreeMap<String, inputs::Loaded>,
    program: &Path,
) -> Result<Gathered, Stop> {
    let params = parameters(session, pipeline, &args.param)?;
    let mut specs = inputs::of_pipeline(pipeline);
    let size = args.size.as_ref().map(|size| &size.0[..]);
    let extents = |inputs: &BTreeMap<String, inputs::Loaded>| {
        let images = inputs.iter().map(|(name, input)| (name.clone(), input.image.extent.clone()));
        resolve_extents(pipeline, &by_input(pipeline, &images.collect()), size, &params)
    };
    // A picture that stands in takes the extents that follow from everything else.
    if let Ok(known) = extents(&inputs) {
        for (input, spec) in pipeline.inputs.keys().zip(&mut specs) {
            spec.extent = Some(known.inputs[input].clone());
        }
    }
    inputs::add_bundled(session, &specs, &mut inputs, program)?;
    let extents = extents(&inputs).map_err(|found| report(session, found))?;
    tell_overruled(session, pipeline, &extents, size.unwrap_or_default());
    for (param, data) in &pipeline.params {
        if params[param].is_none() {
            let message = format!("parameter `{}` has no value", data.name);
            let error = Diagnostic::error(&codes::NO_PARAM, message)
                .at(data.span, "declared without a default")
                .help(format!("set it with --param {}=VALUE", data.name));
            return Err(session.fail(error));
        }
    }
    Ok(Gathered { inputs, params, extents })
}

/// The images of a pipeline, by input.
pub fn images(
    pipeline: &Pipeline,
    loaded: &BTreeMap<String, inputs::Loaded>,
) -> SecondaryMap<Input, Image> {
    let mut images = SecondaryMap::new();
    for (input, data) in &pipeline.inputs {
        images[input] = loaded[&data.name].image.clone();
    }
    images
}

/// The parameters: those that the command line sets, else their defaults, where there are any.
fn parameters(
    session: &mut Session,
    pipeline: &Pipeline,
    args: &[(String, String)],
) -> Result<ParamValues, Stop> {
    let known: Vec<_> = pipeline.params.values().map(|p| (p.name.clone(), p.ty)).collect();
    let constant = |(name, _): &&(String, String)| pipeline.constants.contains(name);
    let args: Vec<_> = args.iter().filter(|arg| !constant(arg)).cloned().collect();
    let set = params::read(session, &known, &args)?;
    let mut values = default_params(pipeline);
    for (param, data) in &pipeline.params {
        if let Some(literal) = set.get(&data.name) {
            values[param] = Some(literal_word(data.ty, *literal));
        }
    }
    Ok(values)
}

fn by_input(
    pipeline: &Pipeline,
    extents: &BTreeMap<String, Vec<u32>>,
) -> SecondaryMap<Input, Option<Vec<u32>>> {
    let mut map = SecondaryMap::new();
    for (input, data) in &pipeline.inputs {
        map[input] = extents.get(&data.name).cloned();
    }
    map
}

fn report(session: &mut Session, found: Diagnostics) -> Stop {
    for diagnostic in found.iter() {
        session.diagnostics.push(diagnostic.clone());
    }
    Stop::Failed
}

/// Notes an extent that the command line asks for where nothing has it.
fn tell_overruled(session: &mut Session, pipeline: &Pipeline, extents: &Extents, size: &[u32]) {
    for (d, &asked) in size.iter().enumerate() {
        let mut outputs = pipeline.outputs.iter().zip(&extents.outputs);
        let has = |region: &Region| region.get(d).is_some_and(|i| i.extent() == asked);
        let inputs = extents.inputs.values();
        if outputs.clone().any(|(_, region)| has(region))
            || inputs.into_iter().any(|extent| extent.get(d) == Some(&asked))
        {
            continue;
        }
        let Some((&func, region)) = outputs.find(|(_, region)| region.len() > d) else {
            let message = format!("--size says {asked} along dimension {d}, which no output has");
            let note = Diagnostic::note(&codes::SIZE_UNUSED, message);
            session.diagnostics.push(note.help("leave it out, or give the output that dimension"));
            break;
        };
        let data = &pipeline.funcs[func];
        let (name, var, extent) = (&data.name, &data.vars[d], region[d].extent());
        let message =
            format!("--size says {asked} along `{var}`, but the bound of `{name}` {extent}");
        let is_bound =
            |kind: &DirectiveKind| matches!(kind, DirectiveKind::Bound { var: v, .. } if v == var);
        let bound = data.schedule.directives.iter().rev().find(|d| is_bound(&d.kind));
        let note = Diagnostic::note(&codes::SIZE_UNUSED, message);
        session.diagnostics.push(note.at_some(bound.map(|bound| bound.span), "this counts"));
    }
}

/// The extents of inputs to compile for: those given; where these, `--size` and the source leave
/// something open, 1024 along x and y and 3 along the third dimension, with a note.
pub fn extents_to_compile_for(
    session: &mut Session,
    pipeline: &Pipeline,
    mut given: BTreeMap<String, Vec<u32>>,
    size: &[u32],
) -> BTreeMap<String, Vec<u32>> {
    let resolved = |given: &BTreeMap<String, Vec<u32>>| {
        let size = (!size.is_empty()).then_some(size);
        let given = by_input(pipeline, given);
        resolve_extents(pipeline, &given, size, &default_params(pipeline))
    };
    if let Ok(extents) = resolved(&given) {
        tell_overruled(session, pipeline, &extents, size);
        return given;
    }
    for data in pipeline.inputs.values() {
        if given.contains_key(&data.name) {
            continue;
        }
        let extent: Vec<u32> = (0..data.dims as usize)
            .map(|d| match data.expected_extent(d) {
                Some(extent) if extent > 0 => extent,
                _ if d < 2 => 1024,
                _ => 3,
            })
            .collect();
        let message = format!("compiled for input `{}` of {}", data.name, by(&extent));
        session.diagnostics.push(
            Diagnostic::note(&codes::DEFAULT_EXTENT, message)
                .help("give --size WxH or --input NAME=FILE for another size"),
        );
        given.insert(data.name.clone(), extent);
    }
    given
}
