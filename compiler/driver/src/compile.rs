//! From a source file and options to what a target makes of them: the steps that `compile`, `run`,
//! `diff` and `explain` share.

use std::collections::BTreeMap;
use std::path::Path;

use nbcc_base::{Diagnostic, SourceFile, SourceId};
use nbcc_ir::{Func, Module};
use nbcc_pipeline::{
    Artifact, Context, Emit, Observer, OptLevel, ParseOptions, PassOptions, Program, Request,
    signature,
};
use nbcc_placement::Remark;
use nbcc_stages::Pipeline;

use crate::cli::{Extents, LanguageArgs, PassArgs, TargetArgs};
use crate::data::{arguments, gather, inputs, names, params};
use crate::included::Included;
use crate::kind::{self, Kind};
use crate::kinds::images::InputSpec;
use crate::progress::waited;
use crate::registry::{Language, TargetEntry, Translation, Translator};
use crate::session::{Session, Stop};
use crate::{codes, files, machine, profile, registry, streams};
use nbcc_base::nearest;

/// What a source file is read with.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The source's language.
    pub language: &'static Language,
    /// What translates the file into it, if it is in another.
    pub translator: Option<&'static Translator>,
    /// The target that is named, else the language's own, if there is one yet.
    pub entry: Option<&'static TargetEntry>,
    /// What the command line says of the source.
    pub args: &'a LanguageArgs,
    /// Whether reads of what nothing was written to end the run.
    pub checked: bool,
}

/// What a compilation goes through.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// What the source is read with.
    pub reader: Reader<'a>,
    /// The target that is named, else the language's own.
    pub entry: &'static TargetEntry,
}

/// What a source file is compiled with.
pub fn tools<'a>(
    session: &mut Session,
    path: &Path,
    language: &'a LanguageArgs,
    target: Option<&str>,
) -> Result<Tools<'a>, Stop> {
    let reader = reader(session, path, language, target)?;
    match reader.entry {
        Some(entry) => Ok(Tools { reader, entry }),
        None => {
            let file = files::display_name(path);
            let name = reader.language.frontend.name();
            let message = format!("there is no target for `{file}` (language {name}) yet");
            let help = "`nbcc interp` runs it on the interpreter, `--emit ir` shows its IR";
            let error = Diagnostic::error(&codes::UNKNOWN_KIND, message).in_file(file);
            Err(session.fail(error.help(help)))
        }
    }
}

/// What a source file is read with, whether or not there is a target to compile it for.
pub fn reader<'a>(
    session: &mut Session,
    path: &Path,
    args: &'a LanguageArgs,
    target: Option<&str>,
) -> Result<Reader<'a>, Stop> {
    let (language, translator) = language_of(session, path, args)?;
    let Language { frontend, target: usual, .. } = language;
    let entry = match target {
        Some(name) => Some(target_entry(session, name)?),
        None => registry::get().target(usual),
    };
    let reader = Reader { language, translator, entry, args, checked: false };
    let Some(entry) = entry else { return Ok(reader) };
    let (is, takes) = (frontend.kind(), entry.target.accepts());
    if is != takes {
        let (file, target) = (files::display_name(path), entry.target.name());
        let ([is, _], [_, takes]) = (is.titles(), takes.titles());
        let message = format!("`{file}` is {is}, and target {target} takes {takes}");
        let help = "leave --target out: each language has a target of its own";
        let error = Diagnostic::error(&codes::UNKNOWN_KIND, message).in_file(file);
        return Err(session.fail(error.help(help)));
    }
    Ok(reader)
}

/// Reads and parses a source file, with the values that the command line gives to parameters.
pub fn parse(
    session: &mut Session,
    path: &Path,
    reader: Reader<'_>,
    params: &[(String, String)],
) -> Result<Program, Stop> {
    let id = read(session, path, reader)?;
    parse_source(session, id, path, reader, params)
}

/// The same once more, for a run in which reads of what nothing was written to end it.
pub fn parse_checked(
    session: &mut Session,
    path: &Path,
    reader: Reader<'_>,
    params: &[(String, String)],
) -> Result<Program, Stop> {
    // What there is to say was said when it was read first.
    let said = session.diagnostics.take();
    let program = parse(session, path, Reader { checked: true, ..reader }, params);
    if program.is_ok() {
        session.diagnostics.take();
    }
    said.into_iter().for_each(|diagnostic| session.diagnostics.push(diagnostic));
    program
}

/// Reads a source file, translated where it is in another language.
pub fn read(session: &mut Session, path: &Path, reader: Reader<'_>) -> Result<SourceId, Stop> {
    match reader.translator {
        Some(translator) => translated(session, path, translator),
        None => files::read_source(session, path),
    }
}

/// Parses a source that has been read; `path` is where what it includes is looked for.
pub fn parse_source(
    session: &mut Session,
    id: SourceId,
    path: &Path,
    reader: Reader<'_>,
    params: &[(String, String)],
) -> Result<Program, Stop> {
    let Language { frontend, headers, .. } = reader.language;
    let included = Included::new(&session.sources, path, &reader.args.include, headers);
    let options = ParseOptions {
        directives: reader.entry.map(|entry| entry.target.directives()).unwrap_or_default(),
        params,
        entry: reader.args.entry.as_deref(),
        defines: &reader.args.define,
        checked: reader.checked,
        includes: Some(&included),
    };
    let file = session.sources.get(id);
    let program = frontend.parse(id, file, &options, &mut session.diagnostics);
    for file in included.files() {
        session.sources.add(file);
    }
    let program = program?;
    session.diagnostics.check()?;
    let (kind, name) = (frontend.kind(), frontend.name());
    assert_eq!(program.kind(), kind, "what frontend {name} makes");
    Ok(program)
}

/// Has another compiler translate a file into a language of ours.
fn translated(
    session: &mut Session,
    path: &Path,
    translator: &Translator,
) -> Result<SourceId, Stop> {
    // What cannot be read is reported as for any other file.
    files::read_text(session, path)?;
    let name = path.display().to_string();
    let text = (translator.translate)(path).map_err(|what| {
        let error = match what {
            Translation::NoProgram => {
                let message = format!("there is no compiler for `{name}`");
                Diagnostic::error(&codes::NO_TRANSLATOR, message).help(translator.help)
            }
            Translation::Failed { program, message } => {
                let message = format!("`{program}` does not compile `{name}`: {message}");
                let help = "mend the source, or install what it lacks: headers of CUDA come with \
                            nvidia-cuda-runtime-cu12 or CUDA itself";
                Diagnostic::error(&codes::TRANSLATOR_FAILED, message).help(help)
            }
        };
        session.fail(error.in_file(name.clone()))
    })?;
    let shown = path.with_extension(translator.to).display().to_string();
    Ok(session.sources.add(SourceFile::new(shown, text)))
}

/// The language that is named, else the one that the file's name says, and what translates the file
/// into it, if it is in another.
fn language_of(
    session: &mut Session,
    path: &Path,
    language: &LanguageArgs,
) -> Result<(&'static Language, Option<&'static Translator>), Stop> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let registry = registry::get();
    let translator = match &language.language {
        Some(_) => None,
        None => registry.translator(&extension),
    };
    let found = match (&language.language, translator) {
        (Some(name), _) => registry.language_named(name),
        (None, Some(translator)) => registry.language(translator.to),
        (None, None) => registry.language(&extension),
    };
    if let Some(found) = found {
        return Ok((found, translator));
    }
    let file = files::display_name(path);
    if !streams::is_standard(path) && !path.exists() {
        files::read(session, path, 0)?;
    }
    let own = registry.languages.iter().map(|Language { frontend, .. }| {
        format!("`-x {}` (.{})", frontend.name(), frontend.extension())
    });
    let others = registry.translators.iter().map(|t| format!(".{}", t.extension));
    let known: Vec<String> = own.chain(others).collect();
    let (message, help) = match kind::of(session, path) {
        Kind::Binary => (
            format!("`{file}` is a binary, not a source file"),
            "`nbcc run` runs it, `nbcc objdump` shows it; sources are".to_string(),
        ),
        Kind::Assembly => (
            format!("`{file}` is assembly, not a source file"),
            "`nbcc as` assembles it, `nbcc run` runs it; sources are".to_string(),
        ),
        Kind::Source => {
            let message = match streams::is_standard(path) {
                true => "standard input has no name that says its language".to_string(),
                false => format!("`{file}` is no source file by its name"),
            };
            let is_for = match &*extension {
                "dot" | "json" => "`nbcc map` places graphs; ",
                "npy" | "png" | "pgm" | "ppm" | "bin" => {
                    "data is given to a program with --input NAME=FILE; "
                }
                "toml" => {
                    "a launch file is given to a program with --launch, a machine file with --machine; "
                }
                _ => "",
            };
            (message, format!("{is_for}name the language, or the file after it:"))
        }
    };
    let error = Diagnostic::error(&codes::UNKNOWN_KIND, message).in_file(file);
    Err(session.fail(error.help(format!("{help} {}", known.join(", ")))))
}

/// The target of that name.
pub fn target_entry(session: &mut Session, name: &str) -> Result<&'static TargetEntry, Stop> {
    registry::get().target(name).ok_or_else(|| {
        let names: Vec<&str> = registry::get().targets.iter().map(|t| t.target.name()).collect();
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", names.join(", ")),
        };
        session.usage(
            Diagnostic::error(&codes::COMMAND_LINE, format!("there is no target `{name}`"))
                .help(help),
        )
    })
}

/// Reads and parses a source file to compile it for data that is not known yet. Of a pipeline, the
/// values given for parameters become what these have where a run gives none, and what bounds that
/// depend on them are for; the scalars of a function that are given become constants.
pub fn parse_constants(
    session: &mut Session,
    path: &Path,
    tools: Tools<'_>,
    params: &[(String, String)],
) -> Result<Program, Stop> {
    let mut program = parse(session, path, tools.reader, params)?;
    match &mut program {
        Program::Stages(pipeline) => give_defaults(session, pipeline, params)?,
        Program::Grids(_) => {
            if let Some((name, _)) = params.first() {
                let error = names::unknown("parameter", name, std::iter::empty());
                return Err(session.usage(error));
            }
        }
        Program::Function(module, func) => specialise(session, module, *func, params)?,
    }
    Ok(program)
}

/// Makes values of the command line, but for those of constants, the defaults of parameters.
fn give_defaults(
    session: &mut Session,
    pipeline: &mut Pipeline,
    args: &[(String, String)],
) -> Result<(), Stop> {
    let known: Vec<_> = pipeline.params.values().map(|data| (data.name.clone(), data.ty)).collect();
    let names = pipeline.constants.iter().chain(known.iter().map(|(name, _)| name));
    names::check(session, "parameter", names.map(String::as_str), args)?;
    let constant = |name: &String| pipeline.constants.contains(name);
    let args: Vec<_> = args.iter().filter(|(name, _)| !constant(name)).cloned().collect();
    let values = params::read(session, &known, &args)?;
    for param in pipeline.params.keys().collect::<Vec<_>>() {
        let data = &mut pipeline.params[param];
        data.default = values.get(&data.name).copied().or(data.default);
    }
    Ok(())
}

/// Makes constants of the scalars of a function that the command line gives.
pub fn specialise(
    session: &mut Session,
    module: &mut Module,
    func: Func,
    params: &[(String, String)],
) -> Result<(), Stop> {
    let func = &mut module.functions[func];
    let bits = arguments::scalars(session, &signature(func), params)?;
    nbcc_ir::specialise(func, &bits);
    Ok(())
}

/// The inputs that a program declares.
pub fn inputs_of(program: &Program) -> Vec<InputSpec> {
    match program {
        Program::Stages(pipeline) => inputs::of_pipeline(pipeline),
        Program::Grids(_) | Program::Function(..) => Vec::new(),
    }
}

/// The extents of inputs to compile for, after `--input`, `--size` and the source.
pub fn input_extents(
    session: &mut Session,
    program: &Program,
    args: &[(String, String)],
    size: Option<&Extents>,
) -> Result<BTreeMap<String, Vec<u32>>, Stop> {
    let given = inputs::given(session, &inputs_of(program), args)?;
    let given = given.into_iter().map(|(name, input)| (name, input.image.extent)).collect();
    Ok(match program {
        Program::Stages(pipeline) => {
            let size = size.map(|size| &size.0[..]).unwrap_or_default();
            gather::extents_to_compile_for(session, pipeline, given, size)
        }
        Program::Grids(_) | Program::Function(..) => given,
    })
}

/// What to ask of the target, checked against what it offers. The extents of inputs are to be
/// filled in.
pub fn request(
    session: &mut Session,
    entry: &TargetEntry,
    args: &TargetArgs,
    size: Option<&Extents>,
) -> Result<Request, Stop> {
    let machine = machine::resolve(session, entry, args.machine.as_deref(), &args.set)?;
    Ok(Request {
        machine: machine.text,
        machine_name: machine.name,
        overrides: machine.overrides,
        choices: choices(session, entry, &args.choice)?,
        emit: Emit::Binary,
        input_extents: BTreeMap::new(),
        size: size.map(|size| size.0.clone()).unwrap_or_default(),
        params: BTreeMap::new(),
        profile: profile::to_use(session, entry, args)?,
    })
}

/// `-X` options, checked. A key with a list of values takes only those.
fn choices(
    session: &mut Session,
    entry: &TargetEntry,
    args: &[(String, String)],
) -> Result<BTreeMap<String, String>, Stop> {
    let offered = entry.target.choices();
    let mut chosen = BTreeMap::new();
    for (key, value) in args {
        let target = entry.target.name();
        let Some(choice) = offered.iter().find(|choice| choice.key == key) else {
            let names: Vec<&str> = offered.iter().map(|choice| choice.key).collect();
            let help = match nearest(key, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "it has no choices".to_string(),
                None => format!("there are: {}", names.join(", ")),
            };
            let message = format!("target {target} has no choice `{key}`");
            let error = Diagnostic::error(&codes::COMMAND_LINE, message).help(help);
            return Err(session.usage(error));
        };
        if !choice.values.is_empty() && !choice.values.contains(&value.as_str()) {
            let message = format!("`{value}` is no value of -X {key}");
            let help = format!("there are: {}", choice.values.join(", "));
            let error = Diagnostic::error(&codes::COMMAND_LINE, message).help(help);
            return Err(session.usage(error));
        }
        chosen.insert(key.clone(), value.clone());
    }
    Ok(chosen)
}

/// How passes are to run; an unknown or indispensable pass cannot be left out.
pub fn pass_options(
    session: &mut Session,
    entry: &TargetEntry,
    args: &PassArgs,
) -> Result<PassOptions, Stop> {
    for name in &args.disable_pass {
        let pass = known_pass(session, entry, name)?;
        if !pass.optional {
            let message = format!("pass `{name}` cannot be left out: programs need it");
            let optional: Vec<&str> = entry
                .target
                .passes()
                .iter()
                .filter(|pass| pass.optional)
                .map(|pass| pass.name)
                .collect();
            let help = format!("these can: {}", optional.join(", "));
            let error = Diagnostic::error(&codes::COMMAND_LINE, message).help(help);
            return Err(session.usage(error));
        }
    }
    Ok(PassOptions {
        level: match args.level.as_deref() {
            Some("0") => OptLevel::O0,
            Some("1") => OptLevel::O1,
            _ => OptLevel::O2,
        },
        disabled: args.disable_pass.clone(),
        verify_each: args.verify_each,
    })
}

/// The pass of that name, or an error with the nearest.
pub fn known_pass(
    session: &mut Session,
    entry: &TargetEntry,
    name: &str,
) -> Result<nbcc_pipeline::PassInfo, Stop> {
    let passes = entry.target.passes();
    if let Some(pass) = passes.iter().find(|pass| pass.name == name) {
        return Ok(*pass);
    }
    let names = passes.iter().map(|pass| pass.name);
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "--print-passes lists them".to_string(),
    };
    let message = format!("target {} has no pass `{name}`", entry.target.name());
    Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)))
}

/// Runs a target's compiler. The remarks come back whether or not it succeeds.
pub fn compile(
    session: &mut Session,
    entry: &TargetEntry,
    program: Program,
    request: &Request,
    passes: &PassOptions,
    observer: &mut dyn Observer,
) -> (Result<Artifact, Stop>, Vec<Remark>) {
    profile::warn_of_another(session, request.profile.as_ref());
    with_context(session, passes, observer, |cx| entry.target.compile(program, request, cx))
}

/// Does something that needs a pass's surroundings.
pub fn with_context<T>(
    session: &mut Session,
    passes: &PassOptions,
    observer: &mut dyn Observer,
    work: impl FnOnce(&mut Context<'_>) -> Result<T, nbcc_base::Failed>,
) -> (Result<T, Stop>, Vec<Remark>) {
    // Dumps go where progress would be shown.
    match observer.wants_dumps() {
        true => in_context(session, passes, observer, work),
        false => waited("compiling", || in_context(session, passes, observer, work)),
    }
}

/// As [`with_context`], without a picture of progress.
pub fn in_context<T>(
    session: &mut Session,
    passes: &PassOptions,
    observer: &mut dyn Observer,
    work: impl FnOnce(&mut Context<'_>) -> Result<T, nbcc_base::Failed>,
) -> (Result<T, Stop>, Vec<Remark>) {
    let mut remarks = Vec::new();
    let mut cx = Context {
        sources: &session.sources,
        diagnostics: &mut session.diagnostics,
        remarks: &mut remarks,
        passes,
        observer,
    };
    let result = work(&mut cx).map_err(Stop::from);
    // An error that was reported counts, whatever came back.
    let result = result.and_then(|value| match session.diagnostics.check() {
        Ok(()) => Ok(value),
        Err(failed) => Err(failed.into()),
    });
    (result, remarks)
}
