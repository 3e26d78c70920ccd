//! Pipelines run by the interpreter.

use cranelift_entity::SecondaryMap;
use nbcc_stages::bounds::{default_params, resolve_extents};
use nbcc_stages::{ElementType, Image, Input};

use crate::common::parse_text;

/// Runs a pipeline on inputs of the given extent, as far as they have dimensions, with elements that
/// cover the range of their types, for outputs of the extent `size`.
pub fn run(text: &str, extent: &[u32], size: &[u32]) -> Vec<Image> {
    let (pipeline, diagnostics, _) = parse_text("test.halide", text);
    let messages: Vec<&String> = diagnostics.iter().map(|d| &d.message).collect();
    let pipeline = pipeline.unwrap_or_else(|| panic!("{messages:?}\n{text}"));
    let mut inputs: SecondaryMap<Input, Image> = SecondaryMap::new();
    let mut given = SecondaryMap::new();
    for (input, data) in &pipeline.inputs {
        let extent = &extent[..data.dims as usize];
        let mut image = Image::zeros(data.ty, extent);
        for (n, word) in image.data.iter_mut().enumerate() {
            let n = (n as u32).wrapping_add(1).wrapping_mul(2_654_435_769);
            *word = match data.ty {
                ElementType::F32 => ((n >> 8) as f32 / 65536.0 - 100.0).to_bits(),
                ty => nbcc_stages::scalar::normalize(ty, n >> 16),
            };
        }
        given[input] = Some(extent.to_vec());
        inputs[input] = image;
    }
    let params = default_params(&pipeline);
    let extents = resolve_extents(&pipeline, &given, Some(size), &params).expect("extents");
    nbcc_interp::pipeline::run(&pipeline, &inputs, &params, &extents.outputs)
        .unwrap_or_else(|trap| panic!("{trap}\n{text}"))
}
