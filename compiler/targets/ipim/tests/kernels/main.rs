//! The front half of the backend against the interpreter: the kernels of pipelines, still in IR,
//! are run by a plain machine.

mod vaults;

use cranelift_entity::SecondaryMap;
use libtest_mimic::{Arguments, Failed, Trial};
use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_ir::verify_function;
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::layout::Role;
use nbcc_pipeline::{ParseOptions, Target};
use nbcc_stages::bounds::{Extents, default_params, infer};
use nbcc_stages::{ElementType, Image, Input, Pipeline};
use nbcc_target_ipim::kernel::{Kernel, KernelCall, Size};
use nbcc_target_ipim::passes::share::share;
use nbcc_target_ipim::plan::schedule::defaults::budget;
use nbcc_target_ipim::{IPIM, lower, parameters, plan};
use vaults::Vaults;

/// A case of the reference manifest: the pipeline, extents of inputs by name, extent of outputs.
struct Case {
    name: String,
    halide: String,
    inputs: Vec<(String, Vec<u32>)>,
    params: Vec<(String, f64)>,
    size: Option<Vec<u32>>,
}

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn cases() -> Vec<Case> {
    let path = root().join("tests/references/manifest.jsonl");
    let text = std::fs::read_to_string(path).expect("the manifest is there");
    let case = |line: &str| {
        let json: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let extent = |value: &serde_json::Value| -> Vec<u32> {
            value.as_array().expect("extents").iter().map(|n| n.as_u64().unwrap() as u32).collect()
        };
        let string = |value: &serde_json::Value| value.as_str().expect("a string").to_string();
        let inputs = json["inputs"].as_array().expect("inputs");
        Case {
            name: string(&json["case"]),
            halide: string(&json["halide"]),
            inputs: inputs.iter().map(|i| (string(&i["name"]), extent(&i["extent"]))).collect(),
            params: json["params"]
                .as_object()
                .expect("parameters")
                .iter()
                .map(|(k, v)| (k.clone(), v.as_f64().expect("a number")))
                .collect(),
            size: json["size"].is_array().then(|| extent(&json["size"])),
        }
    };
    text.lines().filter(|l| !l.trim().is_empty()).map(case).collect()
}

fn parse(case: &Case) -> Result<Pipeline, Failed> {
    let text = std::fs::read_to_string(root().join(&case.halide))?;
    let file = SourceFile::new(case.halide.clone(), text);
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: IPIM.directives(), ..ParseOptions::default() };
    nbcc_frontend_halide::parse(SourceId::default(), &file, &options, &mut diagnostics)
        .map_err(|_| Failed::from(format!("{:?}", diagnostics.iter().next())))
}

fn noise(n: u32) -> u32 {
    let n = (n ^ n >> 16).wrapping_mul(0x7feb_352d);
    let n = (n ^ n >> 15).wrapping_mul(0x846c_a68b);
    n ^ n >> 16
}

fn image(ty: ElementType, extent: &[u32], seed: u32) -> Image {
    let mut image = Image::zeros(ty, extent);
    for (n, word) in image.data.iter_mut().enumerate() {
        let bits = noise(n as u32 + seed * 0x1000_0001);
        *word = match ty {
            ElementType::F32 => ((bits >> 8) as f32 / 16_777_216.0).to_bits(),
            ElementType::Bool => bits & 1,
            ty => ty.wrap(bits.into()) as u32,
        };
    }
    image
}

fn run(case: &Case, machine: &Machine, descending: bool) -> Result<(), Failed> {
    let original = parse(case)?;
    let mut params = default_params(&original);
    for (param, data) in &original.params {
        if let Some((_, value)) = case.params.iter().find(|(name, _)| *name == data.name) {
            params[param] = Some(match data.ty {
                ElementType::F32 => (*value as f32).to_bits(),
                ty => ty.wrap(*value as i64) as u32,
            });
        }
    }
    let mut given: SecondaryMap<Input, Option<Vec<u32>>> = SecondaryMap::new();
    let mut images: SecondaryMap<Input, Image> = SecondaryMap::new();
    for (input, data) in &original.inputs {
        let (_, extent) = case
            .inputs
            .iter()
            .find(|(name, _)| *name == data.name)
            .ok_or_else(|| format!("no extent for {}", data.name))?;
        given[input] = Some(extent.clone());
        images[input] = image(data.ty, extent, 1 + input.as_u32());
    }
    let message = |mut d: Diagnostics| {
        let all: Vec<String> = d.take().into_iter().map(|d| d.message).collect();
        Failed::from(all.join("; "))
    };
    let (extents, fixed) =
        parameters::fix(&original, &given, case.size.as_deref(), &params).map_err(message)?;
    let pipeline = nbcc_stages::specialize(&original, &extents.inputs, &fixed);
    let pipeline = inline(&pipeline, &extents).map_err(message)?;
    let bounds = infer(&pipeline, &extents, &fixed).map_err(message)?;
    let made = plan::make_plan(pipeline, &extents, bounds, machine);
    let plan = made.map_err(|e| e.message)?;
    let kernels = if descending { smallest(&plan, machine) } else { lower::lower(&plan, machine) };
    for kernel in &kernels {
        if let Some(error) = verify_function(&kernel.func, None).first() {
            return Err(error.to_string().into());
        }
    }
    let words: Vec<u32> =
        plan.pipeline.params.keys().map(|p| params[p].unwrap_or_default()).collect();
    let mut vaults = Vaults::new(machine, plan.bank_end + 64, &words);
    for (input, _) in &original.inputs {
        let Some(id) = plan.inputs[input] else { continue };
        let buffer = plan.buffers[id].to_buffer(Role::Input);
        buffer.validate(machine)?;
        each(&images[input], |at, word| {
            // Of an input that is a part of its image others have none.
            let place = buffer.locate(&buffer.counted(at));
            assert!(place.is_some() || !buffer.part_of.is_empty(), "{at:?} has no place");
            let Some(place) = place else { return Ok(()) };
            for place in vaults::places(machine, &buffer.layout, place) {
                *vaults.word(&place) = word;
            }
            Ok(())
        })?;
    }
    vaults.run(&kernels, descending);
    let expected = nbcc_interp::pipeline::run(&original, &images, &params, &extents.outputs)
        .map_err(|e| e.to_string())?;
    let ids = plan.pipeline.outputs.iter().flat_map(|&func| plan.funcs[func].iter());
    for (&id, expected) in ids.zip(&expected) {
        let buffer = plan.buffers[id].to_buffer(Role::Output);
        buffer.validate(machine)?;
        let mut wrong = 0;
        let mut first = None;
        each(expected, |at, word| {
            let place = buffer.locate(at).ok_or_else(|| format!("{at:?} has no place"))?;
            let found = *vaults.word(&place);
            let nan = |w: u32| expected.ty == ElementType::F32 && f32::from_bits(w).is_nan();
            if found != word && !(nan(found) && nan(word)) {
                wrong += 1;
                first.get_or_insert((at.to_vec(), found, word));
            }
            Ok(())
        })?;
        if let Some((at, found, word)) = first {
            let all = expected.data.len();
            let (f, w) = (f32::from_bits(found), f32::from_bits(word));
            return Err(format!(
                "{wrong} of {all} elements of {} are wrong, the first at {at:?}: {found:#x} ({f}) \
                 instead of {word:#x} ({w})",
                buffer.name
            )
            .into());
        }
    }
    Ok(())
}

/// Inlines within the first budget that suffices, as attempts do.
fn inline(pipeline: &Pipeline, extents: &Extents) -> Result<Pipeline, Diagnostics> {
    let mut limit = budget::UNLIMITED;
    loop {
        let inlined = budget::inline(pipeline, extents, limit);
        match budget::instead(&inlined, pipeline, extents, limit) {
            Some(smaller) => limit = smaller,
            None => return inlined.map(|(new, _)| new),
        }
    }
}

/// Kernels of the smallest size, those that are shared once for each time they run.
fn smallest(plan: &plan::Plan, machine: &Machine) -> Vec<Kernel> {
    let kernels = lower::lower_to(plan, machine, Size::Smallest, &Default::default());
    let (kernels, calls) = share(kernels, machine);
    let run = |call: &KernelCall| {
        let mut kernel = kernels[call.kernel].clone();
        kernel.sync = call.sync;
        for (mem, &base) in kernel.args.take().unwrap_or_default().into_iter().zip(&call.bases) {
            kernel.mem_base[mem] = base;
        }
        kernel
    };
    calls.iter().map(run).collect()
}

/// Visits the elements of an image, with their coordinates.
fn each(image: &Image, mut f: impl FnMut(&[i32], u32) -> Result<(), String>) -> Result<(), Failed> {
    let mut at = image.min.clone();
    for &word in &image.data {
        f(&at, word)?;
        for (c, (min, extent)) in at.iter_mut().zip(image.min.iter().zip(&image.extent)) {
            *c += 1;
            if *c < min + *extent as i32 {
                break;
            }
            *c = *min;
        }
    }
    Ok(())
}

/// Machines small enough for images of a few tiles to reach over the borders of their vaults.
fn machines() -> Vec<(&'static str, Machine)> {
    let make = |keys: &[(&str, u32)]| {
        let text = Machine::built_in_text("ipim").expect("ipim is built in");
        let overrides: Vec<nbcc_isa::Override> = keys
            .iter()
            .map(|(key, value)| nbcc_isa::Override {
                key: key.to_string(),
                value: value.to_string(),
            })
            .collect();
        Machine::from_toml(text, &overrides).expect("a valid machine")
    };
    let h = |key: &'static str| key;
    vec![
        (
            "vault",
            make(&[
                (h("hierarchy.cubes"), 1),
                ("hierarchy.cube_columns", 1),
                ("hierarchy.vaults", 1),
                ("hierarchy.vault_columns", 1),
            ]),
        ),
        (
            "cubes",
            make(&[
                ("hierarchy.cubes", 2),
                ("hierarchy.cube_columns", 2),
                ("hierarchy.vaults", 4),
                ("hierarchy.vault_columns", 2),
                ("hierarchy.pgs", 2),
            ]),
        ),
    ]
}

fn main() {
    let args = Arguments::from_args();
    let mut trials = Vec::new();
    for (number, (machine_name, machine)) in machines().into_iter().enumerate() {
        for (case_number, case) in cases().into_iter().enumerate() {
            let largest = case.inputs.iter().map(|(_, e)| e.iter().product::<u32>()).max();
            if largest.unwrap_or(0) > 10_000 || case.name.contains("32x32") {
                continue;
            }
            let machine = machine.clone();
            trials.push(Trial::test(format!("{}@{machine_name}", case.name), move || {
                run(&case, &machine, false)?;
                // The smallest code on the machines in turn.
                if (number + case_number).is_multiple_of(2) {
                    run(&case, &machine, true)?
                }
                Ok(())
            }));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}
