//! Passes on image pipelines, up to the plan.

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Failed};
use nbcc_isa_ipim::layout::{MAX_COUNT, MAX_DIMENSIONS};
use nbcc_pipeline::{Context, Stop};
use nbcc_placement::{Message, Remark, RemarkKind};
use nbcc_stages::bounds::{Extents, ParamValues, infer};
use nbcc_stages::{Coordinates, ElementType, Freed, Func, Pipeline, Unrolled};

use crate::codes;
use crate::configuration::Configuration;
use crate::memory::{self, MAX_PARAMS};
use crate::outputs::crop_outputs;
use crate::parameters;
use crate::plan::schedule::defaults::{Found, budget};
use crate::plan::{Finding, FindingKind, is_by_line, make_plan, remarks, schedule};
use crate::state::Compilation;

/// Reports what the stages found.
fn report<T>(result: Result<T, Diagnostics>, cx: &mut Context<'_>) -> Result<T, Failed> {
    result.map_err(|mut found| {
        for diagnostic in found.take() {
            cx.diagnostics.push(diagnostic);
        }
        Failed
    })
}

/// Fixes extents and the parameters that bounds depend on.
pub fn extents(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let mut given = SecondaryMap::new();
    for (input, data) in &state.pipeline.inputs {
        given[input] = state.given.0.get(&data.name).cloned();
    }
    let size = (!state.given.1.is_empty()).then_some(&state.given.1[..]);
    let values = parameters::values(&state.pipeline, &state.params);
    let found = parameters::fix(&state.pipeline, &given, size, &values);
    (state.extents, state.fixed) = report(found, cx)?;
    for (param, data) in &state.pipeline.params {
        let Some(word) = state.fixed[param] else { continue };
        let (param, value) = (data.name.clone(), shown(data.ty, word));
        let kind = FindingKind::FixedParameter { param, value };
        state.findings.push(Finding { about: String::new(), span: Some(data.span), kind });
    }
    cx.remarks.extend(state.findings.iter().map(Finding::remark));
    let extents = &state.extents.inputs;
    state.pipeline = nbcc_stages::specialize(&state.pipeline, extents, &state.fixed);
    Ok(())
}

/// A value of a type.
fn shown(ty: ElementType, word: u32) -> String {
    match ty.is_float() {
        true => format!("{:?}", f32::from_bits(word)),
        false => nbcc_stages::scalar::to_i64(ty, word).to_string(),
    }
}

/// Refuses directives that no loop nest can follow.
pub fn check_schedule(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    report(schedule::check(&state.pipeline), cx)
}

/// Expressions that the updates of a Func may come to that become part of its definition. Of more, what is
/// loaded for one point and read again by the next ones does not stay in registers: sums of 5 x 5 elements
/// take 0.4 of the cycles of a loop, of 7 x 7 with weights 1.2, of 9 x 9 1.1 (docs/performance-ipim.md).
pub const UNROLLED_UPDATES: u64 = 300;

/// Unrolls updates over few points, if there is room for that.
pub fn unroll_updates(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    // What has no bounds is reported where they are needed.
    let bounds = infer(&state.pipeline, &state.extents, &ParamValues::new()).ok();
    let by_line = |func: Func| {
        let region = bounds.as_ref().and_then(|bounds| bounds.region(func));
        region.is_some_and(|region| is_by_line(&state.pipeline, region, &state.machine, func))
    };
    let (pipeline, unrolled) =
        nbcc_stages::unroll_updates(&state.pipeline, UNROLLED_UPDATES, &by_line);
    let room = state.configuration.unroll_updates;
    let remark = |Unrolled { func, updates, points }: &Unrolled| {
        let data = &pipeline.funcs[*func];
        let (kind, name, what) = match room {
            true => (RemarkKind::Passed, "Unrolled", " updates are part of the definition, "),
            false => (
                RemarkKind::Missed,
                "NotUnrolled",
                " updates stay loops, since the program is too large: ",
            ),
        };
        Remark {
            kind,
            pass: "unroll-updates",
            name,
            function: data.name.clone(),
            span: Some(data.span),
            message: Message::of_value("Updates", *updates)
                .text(what)
                .value("Points", *points)
                .text(" points one after the other"),
            terms: vec![],
        }
    };
    cx.remarks.extend(unrolled.iter().map(remark));
    if room {
        let of_updates =
            |of: &Unrolled| schedule::settle_unrolled(&state.pipeline, of.func, cx.sources);
        let findings: Vec<Finding> = unrolled.iter().flat_map(of_updates).collect();
        cx.remarks.extend(findings.iter().map(Finding::remark));
        state.findings.extend(findings);
        state.pipeline = pipeline;
        state.updates_unrolled = !unrolled.is_empty();
    }
    Ok(())
}

/// Puts dimensions in the place of variables of domains where that is the same, so that they are distributed.
pub fn free_variables(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    // What has no bounds is reported where they are needed.
    let Ok(bounds) = infer(&state.pipeline, &state.extents, &ParamValues::new()) else {
        return Ok(());
    };
    let (pipeline, freed) = nbcc_stages::free_variables(&state.pipeline, &bounds);
    let remark = |&Freed { func, update, dim }: &Freed| {
        let data = &pipeline.funcs[func];
        Remark {
            kind: RemarkKind::Passed,
            pass: "free-variables",
            name: "Freed",
            function: data.name.clone(),
            span: Some(data.updates[update].span),
            message: Message::of_value("Update", update)
                .text(": each ")
                .value("Dimension", data.vars[dim].clone())
                .text(" is updated by itself, in any order"),
            terms: vec![],
        }
    };
    cx.remarks.extend(freed.iter().map(remark));
    state.pipeline = pipeline;
    Ok(())
}

/// Makes coordinates of integers that are made of floats.
pub fn integer_coordinates(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let Ok(bounds) = infer(&state.pipeline, &state.extents, &ParamValues::new()) else {
        return Ok(());
    };
    let (pipeline, found) = nbcc_stages::integer_coordinates(&state.pipeline, &bounds);
    let remark = |&Coordinates { func, count }: &Coordinates| {
        let data = &pipeline.funcs[func];
        Remark {
            kind: RemarkKind::Passed,
            pass: "integer-coordinates",
            name: "Integers",
            function: data.name.clone(),
            span: Some(data.span),
            message: Message::of_value("Coordinates", count).text(
                " coordinates that are made of floats are quotients of integers at all points",
            ),
            terms: vec![],
        }
    };
    cx.remarks.extend(found.iter().map(remark));
    state.pipeline = pipeline;
    Ok(())
}

/// Gives a schedule to what has none, unless it was found already.
pub fn defaults(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let (extents, machine) = (&state.extents, &state.machine);
    if let Some(found) = &state.found {
        state.pipeline = found.choice.apply(&found.pipeline, &found.sites);
        return Ok(());
    }
    let scheduled =
        schedule::defaults::schedule(&state.pipeline, extents, machine, state.rule, cx.sources);
    (state.pipeline, state.found) = scheduled;
    Ok(())
}

/// Inlines what has no loops of its own, within the budget.
pub fn inline(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Stop<Configuration>> {
    let decided = state.found.as_ref().map(Found::findings).unwrap_or_default();
    cx.remarks.extend(decided.iter().map(Finding::remark));
    state.findings.extend(decided);
    let budget = state.configuration.inlining_budget;
    let inlined = budget::inline(&state.pipeline, &state.extents, budget);
    state.scheduled = Some(state.pipeline.clone());
    let instead = budget::instead(&inlined, &state.pipeline, &state.extents, budget);
    if let Some(smaller) = instead {
        return Err(Stop::retry(state.inlining_within(smaller), None));
    }
    let (pipeline, findings) = report(inlined, cx)?;
    state.pipeline = pipeline;
    cx.remarks.extend(findings.iter().map(Finding::remark));
    state.findings.extend(findings);
    Ok(())
}

/// Infers where everything is computed.
pub fn bounds(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let found = infer(&state.pipeline, &state.extents, &ParamValues::new());
    let mut found = report(found, cx)?;
    if let Some(cropped) = crop_outputs(&state.pipeline, &state.extents, &found) {
        state.pipeline = cropped;
        found = report(infer(&state.pipeline, &state.extents, &ParamValues::new()), cx)?;
    }
    state.bounds = Some(found);
    Ok(())
}

/// Refuses images that the layout of buffers has no room to describe.
fn check_images(
    pipeline: &Pipeline,
    extents: &Extents,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failed> {
    let inputs = pipeline
        .inputs
        .iter()
        .map(|(input, data)| (&data.name, data.span, extents.inputs[input].to_vec()));
    let outputs = pipeline.outputs.iter().zip(&extents.outputs).map(|(&func, region)| {
        let data = &pipeline.funcs[func];
        (&data.name, data.span, region.iter().map(|interval| interval.extent()).collect())
    });
    for (name, span, extent) in inputs.chain(outputs) {
        let message = if extent.len() > MAX_DIMENSIONS {
            format!("`{name}` has {} dimensions; {MAX_DIMENSIONS} are the most", extent.len())
        } else if let Some(n) = extent.iter().find(|&&n| n > MAX_COUNT) {
            format!("`{name}` has {n} elements along a dimension; {MAX_COUNT} are the most")
        } else {
            continue;
        };
        let error = Diagnostic::error(&codes::TOO_LARGE, message).at(span, "this image");
        let help = "make dimensions one, as in `f(x, y + H * c)`, or images smaller";
        return diagnostics.fail(error.help(help));
    }
    Ok(())
}

/// Makes the plan.
pub fn distribute(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    check_images(&state.pipeline, &state.extents, cx.diagnostics)?;
    let bounds = state.bounds.clone().expect("bounds come first");
    let pipeline = state.pipeline.clone();
    match make_plan(pipeline, &state.extents, bounds, &state.machine) {
        Ok(mut plan) => {
            let count = plan.pipeline.params.len() as u32;
            if count > MAX_PARAMS {
                let message =
                    format!("the pipeline has {count} parameters; {MAX_PARAMS} are the most");
                let error = Diagnostic::error(&codes::TOO_LARGE, message)
                    .help("make constants of some: `const int` in place of `Param<int>`");
                let first = plan.pipeline.params.values().nth(MAX_PARAMS as usize);
                let span = first.map(|param| param.span);
                return cx.diagnostics.fail(error.at_some(span, "the first beyond"));
            }
            plan.params = (0..count).map(memory::param).collect();
            plan.findings.extend(schedule::settle(&plan, cx.sources));
            cx.remarks.extend(plan.findings.iter().map(Finding::remark));
            cx.remarks.extend(remarks(&plan, &state.machine, cx.sources));
            plan.findings.splice(..0, state.findings.iter().cloned());
            state.plan = Some(plan);
            Ok(())
        }
        Err(error) => {
            let diagnostic = Diagnostic::error(&codes::TOO_LARGE, error.message)
                .at_some(error.span, "has no room")
                .help("use a machine with more vaults, smaller tiles or smaller images");
            cx.diagnostics.fail(diagnostic)
        }
    }
}
