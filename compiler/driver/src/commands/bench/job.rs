//! One program of a suite under one variant, or interpreted: compiled, run, measured.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use nbcc_base::{Diagnostic, SourceFile};
use nbcc_host::function::{Bound, GivenArray};
use nbcc_pipeline::{Artifact, Grids, NoObserver, Program, Request};
use nbcc_placement::Remark;
use nbcc_sim_engine::{Progress, Statistics, Value};
use nbcc_stages::Image;

use super::suite::{self, Checked, Numbers, Size, Variant};
use super::{elements, launches};
use crate::cli::{DataArgs, Extents, LanguageArgs, PassArgs, TargetArgs};
use crate::commands::run;
use crate::compile::{self, Tools};
use crate::data::inputs::{Loaded, Origin};
use crate::data::{arguments, by, gather, inputs};
use crate::kinds::functions::FunctionRequest;
use crate::kinds::grids::{Contents, GridLaunch, GridRequest};
use crate::kinds::images::ImageRequest;
use crate::kinds::{Measured, RunOptions};
use crate::launch::{self, file::Plan, kernels_of, oracle};
use crate::registry::Runner;
use crate::session::{Session, Stop};
use crate::{calls, check, codes, pipelines};

/// The source of a program.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it lies, or is said to lie.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// What is done with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Compiled and run as the variant of that number says.
    Variant(usize),
    /// Run on the reference interpreter.
    Interpreted,
}

/// What a program leaves behind.
pub enum Outputs {
    /// Images by name.
    Images(Vec<(String, Image)>),
    /// Buffers or arrays by name; a result is one of eight bytes.
    Bytes(Vec<(String, Vec<u8>)>),
}

/// What came of a job.
pub struct Outcome {
    /// What was measured, by name.
    pub values: BTreeMap<String, Value>,
    /// What is left behind.
    pub outputs: Outputs,
}

/// A compiled program of kernels with all that its launches need.
pub struct Prepared {
    /// The binary.
    pub binary: Vec<u8>,
    /// Contents of module variables, by name.
    pub symbols: Vec<(String, Vec<u8>)>,
    /// Contents of the buffers.
    pub buffers: Vec<Contents>,
    /// The launches.
    pub launches: Vec<GridLaunch>,
}

/// A job.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The suite.
    pub checked: &'a Checked,
    /// Its file's name and text.
    pub file: &'a SourceFile,
    /// Which of its programs.
    pub program: &'a suite::Program,
    /// The program's source.
    pub source: &'a Source,
    /// What is done.
    pub how: How,
    /// How large it is run.
    pub size: Size,
    /// Threads to simulate with.
    pub threads: usize,
}

/// Instructions or operations that the interpreter takes at most.
const MAX_STEPS: u64 = 1 << 40;

impl Job<'_> {
    /// Shows the suite's file to a session that has seen nothing yet.
    pub fn open(&self, session: &mut Session) {
        let suite = session.sources.add(self.file.clone());
        assert_eq!(suite, self.checked.source, "a session has the suite's file first");
    }

    /// A program of kernels, compiled as a variant says, with all that its launches need. The session has
    /// seen the suite's file.
    ///
    /// # Panics
    /// It is no program of kernels.
    pub fn prepared(&self, session: &mut Session, variant: &Variant) -> Result<Prepared, Stop> {
        let suite = self.checked.source;
        let name = self.source.path.display().to_string();
        let id = session.sources.add(SourceFile::new(name, self.source.text.clone()));
        let target = &self.checked.suite.target;
        let path = &self.source.path;
        let language = LanguageArgs::default();
        let tools = compile::tools(session, path, &language, Some(target))?;
        let program = compile::parse_source(session, id, path, tools.reader, &[])?;
        let names = self.program.names(self.size).clone();
        let mut plan =
            launches::plan(&mut Numbers { session, source: suite, names }, self.program)?;
        let Program::Grids(mut grids) = program else { panic!("a program of kernels") };
        let launches = launch::resolve(session, suite, &plan, &kernels_of(&grids.module))?;
        launch::bound_blocks(&mut grids.module, &launches);
        let program = Program::Grids(grids);
        let (binary, _) = self.compile(session, tools, variant, program, |_| ())?;
        let buffers = plan.take_contents();
        let symbols = plan.symbols.iter().map(|s| (s.name.clone(), s.bytes.clone())).collect();
        Ok(Prepared { binary, symbols, buffers, launches })
    }

    /// Does it. The session has seen nothing yet.
    pub fn run(&self, session: &mut Session) -> Result<Outcome, Stop> {
        self.open(session);
        let suite = self.checked.source;
        let name = self.source.path.display().to_string();
        let id = session.sources.add(SourceFile::new(name, self.source.text.clone()));
        let target = &self.checked.suite.target;
        let language = LanguageArgs { entry: self.program.entry.clone(), ..Default::default() };
        let tools = compile::tools(session, &self.source.path, &language, Some(target))?;
        let names = self.program.names(self.size).clone();
        let mut numbers = Numbers { session, source: suite, names };
        let data = data(&mut numbers, self.program)?;
        let params = match tools.entry.runner {
            Runner::Images(_) => &data.param[..],
            Runner::Grids(_) | Runner::Function(_) => &[],
        };
        let path = &self.source.path;
        let program = compile::parse_source(session, id, path, tools.reader, params)?;
        let names = self.program.names(self.size).clone();
        let mut numbers = Numbers { session, source: suite, names };
        match program {
            Program::Grids(grids) => {
                let plan = launches::plan(&mut numbers, self.program)?;
                self.grids(session, tools, grids, plan)
            }
            Program::Stages(pipeline) => {
                let specs = inputs::of_pipeline(&pipeline);
                let mut loaded = BTreeMap::new();
                for spec in &specs {
                    let image = image(&mut numbers, self.program, spec)?;
                    loaded.insert(spec.name.clone(), image);
                }
                let gathered = gather::complete(session, &pipeline, &data, loaded, path)?;
                self.images(session, tools, pipeline, &data, gathered)
            }
            Program::Function(mut module, func) => {
                let signature = nbcc_pipeline::signature(&module.functions[func]);
                let mut arrays = BTreeMap::new();
                for (name, buffer) in &self.program.buffers {
                    let elements = elements::of(&mut numbers, name, buffer)?;
                    let shape = elements.shape.iter().map(|&n| n.into()).collect();
                    let array = GivenArray { ty: elements.ty, shape, bytes: elements.bytes() };
                    arrays.insert(name.clone(), array);
                }
                let bound = arguments::bound(session, &signature, &data.param, arrays)?;
                compile::specialise(session, &mut module, func, &data.param)?;
                self.function(session, tools, Program::Function(module, func), bound)
            }
        }
    }

    fn variant(&self) -> Option<&Variant> {
        match self.how {
            How::Variant(number) => Some(&self.checked.suite.variants[number]),
            How::Interpreted => None,
        }
    }

    /// The binary of a program, with what is known of its compilation.
    fn compile(
        &self,
        session: &mut Session,
        tools: Tools<'_>,
        variant: &Variant,
        program: Program,
        fill: impl FnOnce(&mut Request),
    ) -> Result<(Vec<u8>, BTreeMap<String, Value>), Stop> {
        let entry = tools.entry;
        let plain = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let target = TargetArgs {
            machine: variant.machine.clone(),
            set: variant.set.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
            choice: variant.choices.clone().into_iter().collect(),
            ..TargetArgs::default()
        };
        let level = variant.level.map(|level| level.to_string());
        let disable_pass = variant.disable.clone();
        let passes = PassArgs { level, disable_pass, ..PassArgs::default() };
        let passes = compile::pass_options(session, entry, &passes)?;
        let mut request = compile::request(session, entry, &target, None)?;
        fill(&mut request);
        let start = Instant::now();
        let (artifact, remarks) = compile::in_context(session, &passes, &mut NoObserver, |cx| {
            entry.target.compile(program, &request, cx)
        });
        let seconds = start.elapsed().as_secs_f64();
        let Artifact::Binary(binary) = artifact? else {
            panic!("target {} made text of a request for a binary", entry.target.name());
        };
        let mut values = of_remarks(&remarks);
        values.insert("host.compile_seconds".into(), seconds.into());
        Ok((binary, values))
    }

    fn grids(
        &self,
        session: &mut Session,
        tools: Tools<'_>,
        mut grids: Grids,
        mut plan: Plan,
    ) -> Result<Outcome, Stop> {
        let buffers = plan.take_contents();
        let suite = self.checked.source;
        let launches = launch::resolve(session, suite, &plan, &kernels_of(&grids.module))?;
        let Some(variant) = self.variant() else {
            let module = &grids.module;
            let ran = oracle::launch(session, module, &plan, buffers, &launches, MAX_STEPS)?;
            return Ok(Outcome { values: BTreeMap::new(), outputs: named(&plan, ran.buffers) });
        };
        let Runner::Grids(runner) = &tools.entry.runner else { panic!("a runner of kernels") };
        launch::bound_blocks(&mut grids.module, &launches);
        let program = Program::Grids(grids);
        let (binary, values) = self.compile(session, tools, variant, program, |_| ())?;
        let path = &self.source.path;
        let mut ran = self.timed(|options| {
            let symbols = plan.symbols.iter().map(|s| (s.name.clone(), s.bytes.clone())).collect();
            (runner.launch)(&binary, GridRequest { symbols, buffers, launches, options })
        });
        if let Some(error) = ran.1.failure.take() {
            return Err(run::failed(session, path, error));
        }
        let (seconds, ran) = ran;
        let outputs = named(&plan, ran.buffers);
        Ok(Outcome { values: self.values(values, &ran.measured, seconds), outputs })
    }

    fn images(
        &self,
        session: &mut Session,
        tools: Tools<'_>,
        pipeline: nbcc_stages::Pipeline,
        data: &DataArgs,
        gathered: gather::Gathered,
    ) -> Result<Outcome, Stop> {
        let specs = crate::data::outputs::of_pipeline(&pipeline);
        let names = |images: Vec<Image>| {
            Outputs::Images(specs.iter().map(|spec| spec.name.clone()).zip(images).collect())
        };
        let Some(variant) = self.variant() else {
            let images = gather::images(&pipeline, &gathered.inputs);
            let regions = &gathered.extents.outputs;
            let params = &gathered.params;
            let images =
                nbcc_interp::pipeline::run_within(&pipeline, &images, params, regions, MAX_STEPS)
                    .map_err(|trap| pipelines::report(session, trap))?;
            return Ok(Outcome { values: BTreeMap::new(), outputs: names(images) });
        };
        let Runner::Images(runner) = &tools.entry.runner else { panic!("a runner of images") };
        let params = run::images::words(&pipeline, &gathered);
        let program = Program::Stages(pipeline);
        let (binary, values) = self.compile(session, tools, variant, program, |request| {
            let extents = gathered.inputs.iter();
            request.input_extents =
                extents.map(|(name, input)| (name.clone(), input.image.extent.clone())).collect();
            request.params = params.clone();
            request.size = data.size.as_ref().map(|size| size.0.clone()).unwrap_or_default();
        })?;
        let inputs = gathered.inputs.into_iter().map(|(name, input)| (name, input.image)).collect();
        let (seconds, ran) =
            self.timed(|options| (runner.run)(&binary, ImageRequest { inputs, params, options }));
        let ran = ran.map_err(|error| run::failed(session, &self.source.path, error))?;
        let outputs = names(ran.outputs);
        Ok(Outcome { values: self.values(values, &ran.measured, seconds), outputs })
    }

    fn function(
        &self,
        session: &mut Session,
        tools: Tools<'_>,
        program: Program,
        arguments: Bound,
    ) -> Result<Outcome, Stop> {
        let Program::Function(module, func) = &program else { panic!("a function") };
        let signature = nbcc_pipeline::signature(&module.functions[*func]);
        let left = |arrays: Vec<Vec<u8>>, result: Option<u64>| {
            let params = signature.params.iter().filter(|param| param.array.is_some());
            let mut all: Vec<(String, Vec<u8>)> =
                params.map(|param| param.name.clone()).zip(arrays).collect();
            all.extend(result.map(|bits| ("return".to_string(), bits.to_le_bytes().to_vec())));
            Outputs::Bytes(all)
        };
        let Some(variant) = self.variant() else {
            let called = calls::interpret(module, *func, &arguments, MAX_STEPS)
                .map_err(|trap| calls::report(session, &trap))?;
            let outputs = left(called.arrays, called.result);
            return Ok(Outcome { values: BTreeMap::new(), outputs });
        };
        let Runner::Function(runner) = &tools.entry.runner else { panic!("a runner of functions") };
        let (binary, values) = self.compile(session, tools, variant, program.clone(), |_| ())?;
        let arguments = &arguments;
        let (seconds, ran) =
            self.timed(|options| (runner.call)(&binary, FunctionRequest { arguments, options }));
        let ran = ran.map_err(|error| run::failed(session, &self.source.path, error))?;
        let values = self.values(values, &ran.measured, seconds);
        Ok(Outcome { values, outputs: left(ran.arrays, ran.result) })
    }

    /// Runs something, and says how many seconds it took.
    fn timed<T>(&self, work: impl FnOnce(RunOptions<'_>) -> T) -> (f64, T) {
        let progress: &mut dyn FnMut(Progress) = &mut |_| ();
        let threads = self.threads;
        let options = RunOptions { fast: false, max_cycles: None, trace: false, threads, progress };
        let start = Instant::now();
        let result = work(options);
        (start.elapsed().as_secs_f64(), result)
    }

    /// All that formulas may name.
    fn values(
        &self,
        mut values: BTreeMap<String, Value>,
        measured: &Measured,
        seconds: f64,
    ) -> BTreeMap<String, Value> {
        let all = measured.statistics.iter().flat_map(Statistics::iter);
        values.extend(all.map(|s| (s.definition.key.to_string(), s.value)));
        values.insert("host.run_seconds".into(), seconds.into());
        let names = self.program.names(self.size).iter();
        values.extend(names.map(|(name, value)| (format!("size.{name}"), (*value).into())));
        values
    }
}

/// The buffers of a plan by their names.
fn named(plan: &Plan, buffers: Vec<Vec<u8>>) -> Outputs {
    let names = plan.buffers.iter().map(|buffer| buffer.name.clone());
    Outputs::Bytes(names.zip(buffers).collect())
}

/// Parameters and extents as the command line would give them.
fn data(numbers: &mut Numbers<'_>, program: &suite::Program) -> Result<DataArgs, Stop> {
    let mut data = DataArgs::default();
    for (name, value) in &program.params {
        let formula = numbers.formula(value)?;
        let number = numbers.real(&formula, value.span())?;
        data.param.push((name.clone(), number.to_string()));
    }
    let mut size = Vec::new();
    for extent in &program.size {
        size.push(numbers.integer(extent, "an extent", (1, i32::MAX as u32))?);
    }
    data.size = (!size.is_empty()).then_some(Extents(size));
    Ok(data)
}

/// The image that a suite has for an input.
fn image(
    numbers: &mut Numbers<'_>,
    program: &suite::Program,
    spec: &crate::kinds::images::InputSpec,
) -> Result<Loaded, Stop> {
    let name = &spec.name;
    let Some(buffer) = program.buffers.get(name) else {
        let message = format!("program `{}` has no data for input `{name}`", program.name);
        let help = format!("add {name} = {{ type = .., shape = [..], value = .. }} to its buffers");
        return Err(numbers.fault(0..0, message, &help));
    };
    let elements = elements::of(numbers, name, buffer)?;
    let dims = elements.shape.len();
    if dims != spec.dims as usize {
        let message = format!("input `{name}` has {} dimensions, not {dims}", spec.dims);
        return Err(numbers.fault(buffer.ty.span(), message, "the slowest extent comes first"));
    }
    let Some(image) = elements.image(spec.ty) else {
        let message = format!("input `{name}` takes elements {}", spec.ty);
        let help = format!("write type = \"{}\"", elements::scalar_of(spec.ty).name());
        return Err(numbers.fault(buffer.ty.span(), message, &help));
    };
    Ok(Loaded { image, from: Origin::File("the suite".into()) })
}

/// The terms of remarks that are numbers, averaged over what the remarks are about:
/// `remark.NAME.TERM`.
fn of_remarks(remarks: &[Remark]) -> BTreeMap<String, Value> {
    let mut sums: BTreeMap<String, (f64, u32)> = BTreeMap::new();
    for remark in remarks {
        for term in remark.all_terms() {
            let end = term.value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')));
            if let Ok(number) = term.value[..end.unwrap_or(term.value.len())].parse::<f64>() {
                let sum = sums.entry(format!("remark.{}.{}", remark.name, term.name)).or_default();
                *sum = (sum.0 + number, sum.1 + 1);
            }
        }
    }
    sums.into_iter().map(|(name, (sum, count))| (name, (sum / f64::from(count)).into())).collect()
}

/// How the outputs of one run differ from those of another, if they do.
pub fn compare(outputs: &Outputs, reference: &Outputs) -> Result<(), String> {
    match (outputs, reference) {
        (Outputs::Images(is), Outputs::Images(should)) => {
            for ((name, is), (_, should)) in is.iter().zip(should) {
                if is.ty != should.ty || is.extent != should.extent {
                    let (is, should) = (by(&is.extent), by(&should.extent));
                    return Err(format!("`{name}` is {is} instead of {should}"));
                }
                check::compare(is, should).verdict(name)?;
            }
            Ok(())
        }
        (Outputs::Bytes(is), Outputs::Bytes(should)) => {
            is.iter().zip(should).try_for_each(|((name, is), (_, should))| {
                check::compare_bytes(is, should, "the first's")
                    .map_err(|what| format!("`{name}` {what}"))
            })
        }
        _ => Err("the outputs are of another kind".into()),
    }
}

/// Reports outputs that differ.
pub fn report_difference(session: &mut Session, program: &str, how: &str, what: &str) -> Stop {
    let message = format!("program `{program}`, {how}: {what}");
    session.fail(Diagnostic::error(&codes::CHECK_FAILED, message).help(check::WHAT_NEXT))
}
