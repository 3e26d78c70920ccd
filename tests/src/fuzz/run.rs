//! Runs a case both ways and compares. Elements are equal bit for bit, and floats that are no
//! numbers are all one. Where the text says `// inexact`, floats agree to within what the target
//! states of divisions, roots and functions, times the number of operations that a small pipeline
//! has. The interpreter runs the source without its `rfactor`s, which rewrite the pipeline.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_host::{Image as HostImage, RunOptions};
use nbcc_isa_ipim::layout::Role;
use nbcc_pipeline::ParseOptions;
use nbcc_pipeline::{Artifact, Context, NoObserver, OptLevel, PassOptions, Request, Target};
use nbcc_stages::bounds::{default_params, infer, points, resolve_extents, without_limitless};
use nbcc_stages::{ElementType, Image, Input, Pipeline, scalar};
use nbcc_target_ipim::IPIM;

use crate::guard::{Failure, failure, guarded};

/// Elements that all stages of a case may compute together.
const MAX_POINTS: u64 = 60_000;

/// Rounds of all loops of a case: one engine does them all where a stage is not distributed.
const MAX_ROUNDS: u64 = 400_000;

/// Steps of a program that a run waits for.
const MAX_CYCLES: u64 = 400_000_000;

/// The least magnitude that inexact floats are compared at: operands are not larger, whatever is
/// left of them in the output.
const MAGNITUDE: f32 = 1000.0;

/// What a case was, where nothing was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both ways gave the same.
    Same,
    /// The pipeline is not valid; why.
    Skipped(String),
    /// The pipeline is too large to be worth a run; how large.
    Costly(String),
    /// The target said that it does not fit; its message.
    TooLarge(String),
}

struct Setup {
    machine: String,
    /// Extents and seed of each input.
    inputs: BTreeMap<String, (Vec<u32>, u32)>,
    /// Values of parameters, as text.
    params: BTreeMap<String, String>,
    inexact: bool,
    /// How small code is, where that is not asked for from outside.
    code: Option<String>,
}

fn setup(text: &str) -> Result<Setup, String> {
    let mut setup = Setup {
        machine: "ipim-vault".to_string(),
        inputs: BTreeMap::new(),
        params: BTreeMap::new(),
        inexact: text.contains("// inexact"),
        code: None,
    };
    for line in text.lines() {
        if let Some(machine) = line.strip_prefix("// run: machine=") {
            setup.machine = machine.trim().to_string();
        } else if let Some(code) = line.strip_prefix("// code: ") {
            setup.code = Some(code.trim().to_string());
        } else if let Some(rest) = line.strip_prefix("// input ") {
            let fault = || format!("`{line}` is not `// input NAME: WxH seed N`");
            let (name, rest) = rest.split_once(": ").ok_or_else(fault)?;
            let (extent, seed) = rest.split_once(" seed ").ok_or_else(fault)?;
            let extent: Result<Vec<u32>, _> = extent.split('x').map(str::parse).collect();
            let extent = extent.map_err(|_| fault())?;
            let seed = seed.trim().parse().map_err(|_| fault())?;
            setup.inputs.insert(name.to_string(), (extent, seed));
        } else if let Some((name, value)) =
            line.strip_prefix("// param ").and_then(|rest| rest.split_once('='))
        {
            setup.params.insert(name.to_string(), value.trim().to_string());
        }
    }
    Ok(setup)
}

/// The elements of an input: floats are eighths of small numbers.
fn input_image(ty: ElementType, extent: &[u32], seed: u32) -> Image {
    let mut image = Image::zeros(ty, extent);
    let mut state = seed.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    for word in &mut image.data {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *word = match ty {
            ElementType::F32 => (f32::from((state >> 20) as i16 - 2048) / 8.0).to_bits(),
            // Small numbers and extremes are more frequent than in a uniform choice.
            _ if state >> 30 == 0 => scalar::normalize(ty, (state >> 24 & 7).wrapping_sub(2)),
            _ => scalar::normalize(ty, state >> (32 - ty.bits())),
        };
    }
    image
}

fn messages(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let line = |d: &nbcc_base::Diagnostic| {
        let at = d.span.map(|s| sources.start_of(s));
        let at = at.map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
        format!("{at}{} {}: {}\n", d.severity.word(), d.code.code, d.message)
    };
    diagnostics.iter().map(line).collect()
}

struct Reference {
    pipeline: Pipeline,
    sources: SourceMap,
    setup: Setup,
    images: BTreeMap<String, Image>,
    params: BTreeMap<String, u32>,
    outputs: Vec<Image>,
}

fn parse(text: String, sources: &mut SourceMap) -> Result<Pipeline, Outcome> {
    let id = sources.add(SourceFile::new("case.halide".to_string(), text));
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: IPIM.directives(), ..ParseOptions::default() };
    let parsed = nbcc_frontend_halide::parse(id, sources.get(id), &options, &mut diagnostics);
    parsed.map_err(|_| Outcome::Skipped(messages(sources, &diagnostics)))
}

/// The word of a parameter.
fn param_word(ty: ElementType, text: &str) -> Option<u32> {
    Some(match ty {
        ElementType::F32 => text.parse::<f32>().ok()?.to_bits(),
        ElementType::Bool => u32::from(text.parse::<bool>().ok()?),
        _ => scalar::normalize(ty, text.parse::<i64>().ok()? as u32),
    })
}

/// Parses a case and runs it by the interpreter.
fn reference(text: &str) -> Result<Reference, Outcome> {
    let setup = setup(text).map_err(Outcome::Skipped)?;
    let mut sources = SourceMap::default();
    let pipeline = parse(text.to_string(), &mut sources)?;
    let lines = text.split_inclusive('\n').filter(|line| !line.contains(".rfactor("));
    let plain = match text.contains(".rfactor(") {
        true => parse(lines.collect(), &mut sources)?,
        false => pipeline.clone(),
    };
    let mut inputs: SecondaryMap<Input, Image> = SecondaryMap::new();
    let mut given = SecondaryMap::new();
    let mut images = BTreeMap::new();
    for (input, data) in &plain.inputs {
        let Some((extent, seed)) = setup.inputs.get(&data.name) else {
            let why = format!("nothing is said about input `{}`", data.name);
            return Err(Outcome::Skipped(why));
        };
        let image = input_image(data.ty, extent, *seed);
        given[input] = Some(extent.clone());
        inputs[input] = image.clone();
        images.insert(data.name.clone(), image);
    }
    let mut values = default_params(&plain);
    let mut params = BTreeMap::new();
    for (param, data) in &plain.params {
        let Some(value) = setup.params.get(&data.name) else { continue };
        let Some(word) = param_word(data.ty, value) else {
            return Err(Outcome::Skipped(format!("`{value}` is no value of `{}`", data.name)));
        };
        values[param] = Some(word);
        params.insert(data.name.clone(), word);
    }
    let refused = |d| Outcome::Skipped(messages(&sources, &d));
    let extents = resolve_extents(&plain, &given, None, &values).map_err(refused)?;
    let limited = without_limitless(&plain, &extents, &values);
    let bounds = infer(&limited, &extents, &values).map_err(refused)?;
    let total: u64 = bounds.needed(&plain).map(|(_, b)| points(&b.region)).sum();
    let loops = bounds.needed(&plain).flat_map(|(_, b)| b.stages.iter().flatten());
    let rounds = loops.map(|l| points(&l.dims).saturating_mul(points(&l.rvars)));
    let rounds = rounds.fold(0, u64::saturating_add);
    if total > MAX_POINTS || rounds > MAX_ROUNDS {
        return Err(Outcome::Costly(format!("{total} elements, {rounds} rounds of loops")));
    }
    let outputs = nbcc_interp::pipeline::run(&plain, &inputs, &values, &extents.outputs)
        .map_err(|trap| Outcome::Skipped(trap.to_string()))?;
    Ok(Reference { pipeline, sources, setup, images, params, outputs })
}

/// Accesses of banks may pass each other, so that results depend on what is known of them (the
/// reference cases keep their order); `NBCC_CODE` says how small code is.
fn choices(setup: &Setup) -> BTreeMap<String, String> {
    let code = std::env::var("NBCC_CODE").ok().or_else(|| setup.code.clone());
    let code = code.map(|code| ("code".to_string(), code));
    let order = ("memory-order".to_string(), "off".to_string());
    code.into_iter().chain([order]).collect()
}

/// Compiles and runs a case at one level, and compares.
fn check(r: &Reference, level: OptLevel) -> Result<Outcome, Failure> {
    let machine = IPIM.machines().iter().find(|m| m.name == r.setup.machine);
    let machine = machine.ok_or_else(|| failure("setup", "there is no such machine"))?;
    let request = Request {
        machine: machine.text.to_string(),
        machine_name: machine.name.to_string(),
        input_extents: r.images.iter().map(|(n, i)| (n.clone(), i.extent.clone())).collect(),
        params: r.params.clone(),
        choices: choices(&r.setup),
        ..Request::default()
    };
    let passes = PassOptions { level, disabled: vec![], verify_each: true };
    let mut diagnostics = Diagnostics::default();
    let mut remarks = vec![];
    let mut cx = Context {
        sources: &r.sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &passes,
        observer: &mut NoObserver,
    };
    let program = nbcc_pipeline::Program::Stages(r.pipeline.clone());
    let bytes = match IPIM.compile(program, &request, &mut cx) {
        Ok(Artifact::Binary(bytes)) => bytes,
        Ok(Artifact::Text(_)) => return Err(failure("text", "text where a binary was asked for")),
        Err(_) => {
            let all = messages(&r.sources, &diagnostics);
            let codes: Vec<&str> = diagnostics
                .iter()
                .filter(|d| d.severity == nbcc_base::Severity::Error)
                .map(|d| d.code.code)
                .collect();
            if codes == ["E1001"] {
                return Ok(Outcome::TooLarge(all));
            }
            return Err(failure(format!("refused {codes:?}"), all));
        }
    };
    let program =
        nbcc_isa_ipim::Program::from_elf(&bytes).map_err(|e| failure("elf", e.to_string()))?;
    let inputs: BTreeMap<String, HostImage> = program
        .buffers
        .iter()
        .filter(|b| b.role == Role::Input)
        .filter_map(|b| {
            let image = r.images.get(&b.name)?;
            let (extent, words) = (image.extent.clone(), image.data.clone());
            Some((b.name.clone(), HostImage { element: b.element, extent, words }))
        })
        .collect();
    let params: BTreeMap<String, HostImage> = program
        .params
        .iter()
        .filter_map(|p| {
            Some((p.name.clone(), HostImage::scalar(p.element, *r.params.get(&p.name)?)))
        })
        .collect();
    let mut options = RunOptions { timing: false, max_cycles: MAX_CYCLES, ..RunOptions::default() };
    let result = nbcc_host::run(&program, &inputs, &params, &mut options)
        .map_err(|e| failure("fault", e.to_string()))?;
    let outputs: Vec<_> = program.buffers.iter().filter(|b| b.role == Role::Output).collect();
    if outputs.len() != r.outputs.len() {
        let text = format!("{} outputs, not {}", outputs.len(), r.outputs.len());
        return Err(failure("outputs", text));
    }
    for (buffer, wanted) in outputs.into_iter().zip(&r.outputs) {
        let got = &result.outputs[&buffer.name];
        if buffer.min != wanted.min || got.extent != wanted.extent {
            let text =
                format!("`{}` has extent {:?}, not {:?}", buffer.name, got.extent, wanted.extent);
            return Err(failure("extent", text));
        }
        compare(&buffer.name, wanted, &got.words, r.setup.inexact)?;
    }
    Ok(Outcome::Same)
}

fn compare(name: &str, wanted: &Image, got: &[u32], inexact: bool) -> Result<(), Failure> {
    let float = wanted.ty.is_float();
    let largest = wanted.floats().map(f32::abs).filter(|v| v.is_finite()).fold(0.0, f32::max);
    let equal = |w: u32, g: u32| {
        let (x, y) = (f32::from_bits(w), f32::from_bits(g));
        w == g
            || float && x.is_nan() && y.is_nan()
            || float && inexact && (x - y).abs() <= 1e-5 * largest.max(MAGNITUDE)
    };
    let wrong: Vec<usize> =
        (0..wanted.data.len()).filter(|&i| !equal(wanted.data[i], got[i])).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let show = |word: u32| match float {
        true => format!("{:?}", f32::from_bits(word)),
        false => scalar::to_i64(wanted.ty, word).to_string(),
    };
    let mut text = format!("`{name}`: {} of {} differ:", wrong.len(), got.len());
    for &i in wrong.iter().take(6) {
        let mut rest = i;
        let mut at = Vec::new();
        for (&min, &extent) in wanted.min.iter().zip(&wanted.extent) {
            at.push(min + (rest % extent as usize) as i32);
            rest /= extent as usize;
        }
        text += &format!("\n  {at:?}: {}, not {}", show(got[i]), show(wanted.data[i]));
    }
    Err(failure("difference", text))
}

/// Runs a case at the levels given.
pub fn run(text: &str, levels: &[OptLevel]) -> Result<Outcome, Failure> {
    let (text, levels) = (text.to_string(), levels.to_vec());
    guarded(move || {
        let reference = match reference(&text) {
            Ok(reference) => reference,
            Err(outcome) => return Ok(outcome),
        };
        let mut outcome = Outcome::Same;
        for &level in &levels {
            let one = check(&reference, level).map_err(|failure| Failure {
                kind: failure.kind,
                text: format!("at {level:?}: {}", failure.text),
            })?;
            if one != Outcome::Same {
                outcome = one;
            }
        }
        Ok(outcome)
    })
}
