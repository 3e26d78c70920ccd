//! How large images are: the extents of inputs and outputs, fixed before anything is inferred.
//!
//! Along each dimension an output's extent is, in this order: what its `bound` says; `--size`; the
//! first input's, where that has the dimension; what `set_estimate` says. An input's is that of
//! its data; without data, its `set_estimate`; else that of the first output that has the
//! dimension; else `--size`. A `bound` may name an input's extent, so both are resolved in turns
//! until nothing more becomes known. What is still unknown then is an error.

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_base::{Diagnostic, Diagnostics, Span};

use crate::{DirectiveKind, Expr, Func, Input, InputData, Pipeline, codes};

use super::env::Env;
use super::eval::{Evaluator, ParamValues};
use super::interval::{Interval, MAX_COORDINATE, MAX_POINTS, Region, points, unbounded};

/// The extents of a pipeline's inputs and the regions of its outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// The number of elements along each dimension of each input; coordinates start at zero.
    pub inputs: SecondaryMap<Input, Vec<u32>>,
    /// The region of each output, in the order of [`Pipeline::outputs`].
    pub outputs: Vec<Region>,
}

struct Resolution<'a> {
    pipeline: &'a Pipeline,
    size: &'a [u32],
    params: &'a ParamValues,
    inputs: SecondaryMap<Input, Vec<Option<u32>>>,
    outputs: Vec<Vec<Option<Interval>>>,
    diagnostics: Diagnostics,
}

/// Resolves all extents. `given` holds the extents of the inputs whose data is given, `size` the
/// numbers of `--size` in the order of the dimensions. Errors name the dimension that has no
/// extent, a `bound` that is not constant, an image that is empty or too large.
pub fn resolve_extents(
    pipeline: &Pipeline,
    given: &SecondaryMap<Input, Option<Vec<u32>>>,
    size: Option<&[u32]>,
    params: &ParamValues,
) -> Result<Extents, Diagnostics> {
    let mut this = Resolution {
        pipeline,
        size: size.unwrap_or(&[]),
        params,
        inputs: SecondaryMap::new(),
        outputs: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    this.start_inputs(given);
    for &output in &pipeline.outputs {
        this.outputs.push(vec![None; pipeline.funcs[output].vars.len()]);
    }
    loop {
        let before = this.unknown();
        this.turn_of_outputs();
        this.turn_of_inputs();
        if this.unknown() == before {
            break;
        }
    }
    this.finish()
}

impl Resolution<'_> {
    fn start_inputs(&mut self, given: &SecondaryMap<Input, Option<Vec<u32>>>) {
        for (input, data) in &self.pipeline.inputs {
            let dims = data.dims as usize;
            self.inputs[input] = match &given[input] {
                Some(extent) if extent.len() == dims => {
                    self.check_fixed(data, extent);
                    extent.iter().copied().map(Some).collect()
                }
                Some(extent) => {
                    let message = format!(
                        "the image for `{}` has {} dimensions, where {dims} are declared",
                        data.name,
                        extent.len()
                    );
                    self.diagnostics.push(
                        Diagnostic::error(&codes::INPUT_EXTENT, message)
                            .at(data.span, format!("declared with {dims} dimensions"))
                            .help(format!("give an image of {dims} dimensions")),
                    );
                    vec![Some(1); dims]
                }
                None => (0..dims).map(|d| data.expected_extent(d)).collect(),
            };
        }
    }

    /// An image has the extents that the source fixes with `set_bounds`.
    fn check_fixed(&mut self, data: &InputData, given: &[u32]) {
        for (d, (fixed, &given)) in data.fixed.iter().zip(given).enumerate() {
            if let Some((extent, at)) = *fixed
                && extent != given
            {
                let message = format!(
                    "the image for `{}` has an extent of {given} along dimension {d}, not {extent}",
                    data.name
                );
                self.diagnostics.push(
                    Diagnostic::error(&codes::INPUT_EXTENT, message)
                        .at(at, "the only extent that it may have")
                        .help(format!(
                            "give an image of extent {extent}, or change the bounds in the source"
                        )),
                );
            }
        }
    }

    fn unknown(&self) -> usize {
        let inputs = self.pipeline.inputs.keys().flat_map(|i| &self.inputs[i]);
        let outputs = self.outputs.iter().flatten();
        inputs.filter(|e| e.is_none()).count() + outputs.filter(|i| i.is_none()).count()
    }

    /// The extents known so far, of each input up to the first dimension that is not.
    fn known(&self) -> SecondaryMap<Input, Vec<u32>> {
        let mut known = SecondaryMap::new();
        for input in self.pipeline.inputs.keys() {
            known[input] = self.inputs[input].iter().map_while(|e| *e).collect();
        }
        known
    }

    fn turn_of_outputs(&mut self) {
        let known = self.known();
        let mut evaluator = Evaluator::new(self.pipeline, &known, self.params);
        let mut constant = |e: Expr| evaluator.range(e, &Env::default()).single();
        let first = (!self.pipeline.inputs.is_empty()).then(|| Input::new(0));
        for (&output, intervals) in self.pipeline.outputs.iter().zip(&mut self.outputs) {
            for (d, slot) in intervals.iter_mut().enumerate() {
                if slot.is_some() {
                    continue;
                }
                *slot = match bound_of(self.pipeline, output, d, false) {
                    Some((min, extent)) => interval(constant(min), constant(extent)),
                    None => self
                        .size
                        .get(d)
                        .or_else(|| known[first?].get(d))
                        .map(|&extent| Interval::from_extent(0, extent))
                        .or_else(|| {
                            let (min, extent) = bound_of(self.pipeline, output, d, true)?;
                            interval(constant(min), constant(extent))
                        }),
                };
            }
        }
    }

    fn turn_of_inputs(&mut self) {
        for input in self.pipeline.inputs.keys() {
            for d in 0..self.inputs[input].len() {
                if self.inputs[input][d].is_none() {
                    let output = self.outputs.iter().find_map(|o| o.get(d).copied().flatten());
                    let end = output.map(|i| (i64::from(i.max) + 1).clamp(1, i64::from(i32::MAX)));
                    self.inputs[input][d] =
                        end.map(|e| e as u32).or_else(|| self.size.get(d).copied());
                }
            }
        }
    }

    fn finish(mut self) -> Result<Extents, Diagnostics> {
        let pipeline = self.pipeline;
        let mut extents = Extents::default();
        for (&output, intervals) in pipeline.outputs.iter().zip(&self.outputs) {
            let mut region = Region::new();
            for (d, known) in intervals.iter().enumerate() {
                match known {
                    Some(interval) => region.push(*interval),
                    None => {
                        let diagnostic = unknown_output(pipeline, output, d);
                        self.diagnostics.push(diagnostic);
                    }
                }
            }
            let data = &pipeline.funcs[output];
            if let Some(d) = region.iter().position(|i| i.is_empty()) {
                let message =
                    format!("the output `{}` has no element along `{}`", data.name, data.vars[d]);
                self.diagnostics.push(
                    Diagnostic::error(&codes::OUTPUT_EXTENT, message)
                        .at(data.span, "empty")
                        .help("ask for at least one element with `bound` or --size"),
                );
            } else if points(&region) > MAX_POINTS {
                let message =
                    format!("the output `{}` has more than {MAX_POINTS} elements", data.name);
                self.diagnostics.push(
                    Diagnostic::error(&codes::REGION_TOO_LARGE, message)
                        .at(data.span, "too large")
                        .help("ask for fewer elements with `bound`, --size or smaller inputs"),
                );
            } else if let Some(d) = unbounded(&region) {
                let fixed = bound_of(pipeline, output, d, false)
                    .or_else(|| bound_of(pipeline, output, d, true));
                let at = fixed.map_or(data.span, |(min, _)| pipeline.exprs[min].span);
                self.diagnostics.push(far(&data.name, &data.vars[d], region[d], at));
            }
            extents.outputs.push(region);
        }
        // An input without an extent follows from an output without one: one message is enough.
        for (input, data) in &pipeline.inputs {
            let known: Vec<u32> = self.inputs[input].iter().map_while(|e| *e).collect();
            if known.len() < self.inputs[input].len() && !self.diagnostics.has_errors() {
                let message = format!(
                    "the extent of the input `{}` along dimension {} is not known",
                    data.name,
                    known.len()
                );
                self.diagnostics.push(
                    Diagnostic::error(&codes::INPUT_EXTENT, message)
                        .at(data.span, "no data is given for it")
                        .help(format!(
                            "give its data with `--input {name}=FILE`, or an estimate with `{name}.dim({d}).set_estimate(0, N)`",
                            name = data.name,
                            d = known.len()
                        )),
                );
            }
            let elements = known.iter().fold(1, |n: u64, &e| n.saturating_mul(u64::from(e)));
            if elements > MAX_POINTS {
                let message =
                    format!("the input `{}` has more than {MAX_POINTS} elements", data.name);
                self.diagnostics.push(
                    Diagnostic::error(&codes::REGION_TOO_LARGE, message)
                        .at(data.span, "too large")
                        .help("ask for fewer elements with `bound`, --size or smaller inputs"),
                );
            }
            extents.inputs[input] = known;
        }
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok(extents) }
    }
}

fn interval(min: Option<i64>, extent: Option<i64>) -> Option<Interval> {
    let (min, extent) = (min?, extent?);
    let min = min.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    Some(Interval::from_extent(min, extent.clamp(0, i64::from(u32::MAX)) as u32))
}

/// The minimum and extent that the last `bound` (or `set_estimate`) gives for a dimension.
fn bound_of(pipeline: &Pipeline, func: Func, d: usize, estimate: bool) -> Option<(Expr, Expr)> {
    let data = &pipeline.funcs[func];
    data.schedule.directives.iter().rev().find_map(|directive| match &directive.kind {
        DirectiveKind::Bound { var, min, extent } if !estimate && *var == data.vars[d] => {
            Some((*min, *extent))
        }
        DirectiveKind::SetEstimate { var, min, extent } if estimate && *var == data.vars[d] => {
            Some((*min, *extent))
        }
        _ => None,
    })
}

/// A Func whose coordinates are so large that sums of them wrap.
pub(super) fn far(name: &str, var: &str, interval: Interval, at: Span) -> Diagnostic {
    let message = format!(
        "`{name}` is computed over {var} = {interval}: coordinates may be {MAX_COORDINATE} at most, \
         and as much below zero"
    );
    Diagnostic::error(&codes::BOUND, message).at(at, "too far from zero").help(
        "let the Func begin near zero, and add the distance where it computes with its coordinates",
    )
}

fn unknown_output(pipeline: &Pipeline, output: Func, d: usize) -> Diagnostic {
    let data = &pipeline.funcs[output];
    let var = &data.vars[d];
    if let Some((min, _)) = bound_of(pipeline, output, d, false) {
        let message = format!("the bound of `{}` along `{var}` is not a constant", data.name);
        return Diagnostic::error(&codes::BOUND, message)
            .at(pipeline.exprs[min].span, "depends on an extent or a parameter that is not known")
            .help("give the parameter a default or its value with --param, the input its data with --input");
    }
    let example = ["64", "64x64", "64x64x3"].get(d).copied().unwrap_or("64x64x3x3");
    let message = format!("the extent of the output `{}` along `{var}` is not known", data.name);
    Diagnostic::error(&codes::OUTPUT_EXTENT, message)
        .at(data.span, format!("dimension {d}, `{var}`, has no extent"))
        .help(format!(
            "give it on the command line, as in `--size {example}`, or in the source, as in `{}.bound({var}, 0, 64)`",
            data.name
        ))
}
