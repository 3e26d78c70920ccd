//! Which parameters a program is compiled for. Extents of images and the regions of stages are
//! fixed when a pipeline is compiled, so a parameter that they depend on is a constant of the
//! program; all others are set when it runs.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::Diagnostics;
use nbcc_stages::bounds::{Extents, ParamValues, default_params, infer, resolve_extents};
use nbcc_stages::{Input, Pipeline};

/// The values of parameters: those given, else their defaults.
pub fn values(pipeline: &Pipeline, given: &BTreeMap<String, u32>) -> ParamValues {
    let mut values = default_params(pipeline);
    for (param, data) in &pipeline.params {
        if let Some(&word) = given.get(&data.name) {
            values[param] = Some(word);
        }
    }
    values
}

/// The extents of a pipeline, and the values of those parameters that they or the bounds of its
/// stages depend on. `inputs` and `size` are as [`resolve_extents`] takes them.
pub fn fix(
    pipeline: &Pipeline,
    inputs: &SecondaryMap<Input, Option<Vec<u32>>>,
    size: Option<&[u32]>,
    values: &ParamValues,
) -> Result<(Extents, ParamValues), Diagnostics> {
    let extents = |params: &ParamValues| resolve_extents(pipeline, inputs, size, params);
    let follows = |params: &ParamValues| {
        extents(params).is_ok_and(|extents| infer(pipeline, &extents, params).is_ok())
    };
    let none = ParamValues::new();
    if pipeline.params.is_empty() || follows(&none) || !follows(values) {
        // What does not follow from all of them is reported by the passes that need it.
        return Ok((extents(&none).or_else(|_| extents(values))?, none));
    }
    let mut fixed = values.clone();
    for param in pipeline.params.keys() {
        let value = fixed[param].take();
        if !follows(&fixed) {
            fixed[param] = value;
        }
    }
    Ok((extents(&fixed)?, fixed))
}
