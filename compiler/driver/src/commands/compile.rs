//! `nbcc [compile] INPUT`: from source to binary, or to the text of a form on the way.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use nbcc_base::Diagnostic;
use nbcc_pipeline::{Artifact, Emit, Grids, OptLevel, Program, ReportInfo};

use crate::cli::{CompileArgs, EmitForm};
use crate::observe::Watcher;
use crate::session::{Session, Stop};
use crate::{codes, compile, console, files, records, registry, streams};

/// An error for a report that a target does not have.
fn no_report(session: &mut Session, entry: &registry::TargetEntry, report: ReportInfo) -> Stop {
    let (target, name) = (entry.target.name(), report.name);
    let having = registry::get().targets.iter().find(|e| e.target.reports().contains(&report));
    let message = format!("target {target} has no report `{name}`");
    let diagnostic = Diagnostic::error(&codes::COMMAND_LINE, message);
    session.usage(match having {
        Some(other) => diagnostic.help(format!("it is one of --target {}", other.target.name())),
        None => diagnostic,
    })
}

/// Runs the command.
pub fn compile(session: &mut Session, args: &CompileArgs) -> Result<(), Stop> {
    if args.print_passes {
        return print_passes(session, args);
    }
    let Some(source) = &args.source else { return Err(Stop::Usage) };
    let form = args.form();
    let out = args.out.clone().or_else(|| match form {
        EmitForm::Bin => Some(files::named_after(source, "nbx")),
        EmitForm::Asm if args.assembly => Some(files::named_after(source, "s")),
        _ => None,
    });
    let record = opt_record(out.as_deref(), source);
    let record = args.passes.fsave_optimization_record.then_some(record);
    for path in [&out, &record].into_iter().flatten() {
        files::check_output(session, path)?;
    }
    if form == EmitForm::Ir
        && let Some(text) = untargeted_ir(session, args, source)?
    {
        return files::write(session, out.as_deref().unwrap_or(Path::new("-")), text.as_bytes());
    }
    let tools =
        compile::tools(session, source, &args.target.language, args.target.target.as_deref())?;
    if let EmitForm::Report(report) = form
        && !tools.entry.target.reports().contains(&report)
    {
        return Err(no_report(session, tools.entry, report));
    }
    let size = args.known.size.as_ref();
    let passes = compile::pass_options(session, tools.entry, &args.passes)?;
    let mut request = compile::request(session, tools.entry, &args.target, size)?;
    let program = compile::parse_constants(session, source, tools, &args.known.param)?;
    request.input_extents = compile::input_extents(session, &program, &args.known.input, size)?;
    request.emit = match form {
        EmitForm::Bin => Emit::Binary,
        EmitForm::Asm => Emit::Asm,
        EmitForm::Ir => Emit::Ir,
        EmitForm::Stages => Emit::Stages,
        EmitForm::MachineIr => Emit::MachineIr,
        EmitForm::Remarks => Emit::Remarks,
        EmitForm::Report(report) => Emit::Report(report.name),
    };
    let mut watcher = Watcher::new(&args.passes);
    let (artifact, remarks) =
        compile::compile(session, tools.entry, program, &request, &passes, &mut watcher);
    watcher.finish();
    let artifact = artifact?;
    if let Some(record) = &record {
        let text = records::yaml(&remarks, &session.sources);
        files::write(session, record, text.as_bytes())?;
    }
    let bytes = match artifact {
        _ if form == EmitForm::Remarks => records::yaml(&remarks, &session.sources).into_bytes(),
        Artifact::Binary(bytes) => bytes,
        Artifact::Text(mut text) => {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.into_bytes()
        }
    };
    files::write(session, out.as_deref().unwrap_or(Path::new("-")), &bytes)
}

/// The IR of a program for which there is no target yet.
fn untargeted_ir(
    session: &mut Session,
    args: &CompileArgs,
    source: &Path,
) -> Result<Option<String>, Stop> {
    let target = args.target.target.as_deref();
    let reader = compile::reader(session, source, &args.target.language, target)?;
    if reader.entry.is_some() {
        return Ok(None);
    }
    let program = compile::parse(session, source, reader, &args.known.param)?;
    session.flush();
    Ok(match program {
        Program::Grids(Grids { module, .. }) | Program::Function(module, _) => {
            Some(module.to_string())
        }
        Program::Stages(_) => None,
    })
}

/// Where the optimisation record goes: `<stem>.opt.yaml` beside a named output, else after the
/// source in the current folder.
pub fn opt_record(out: Option<&Path>, source: &Path) -> PathBuf {
    let out = out.filter(|out| !streams::is_standard(out));
    let name = files::named_after(out.unwrap_or(source), "opt.yaml");
    match out {
        Some(out) => out.with_file_name(name),
        None => name,
    }
}

/// Lists a target's passes: the named target's, the source's, or those of every target.
fn print_passes(session: &mut Session, args: &CompileArgs) -> Result<(), Stop> {
    let registry = registry::get();
    let named = args.target.language.language.as_deref();
    let by_name = named.and_then(|name| registry.language_named(name));
    let by_source = || registry.language(args.source.as_ref()?.extension()?.to_str()?);
    let by_source = by_name.or_else(by_source).map(|language| language.target);
    let entries: Vec<_> = match args.target.target.as_deref().or(by_source) {
        Some(name) => vec![compile::target_entry(session, name)?],
        None => registry.targets.iter().collect(),
    };
    let mut text = String::new();
    for entry in entries {
        let passes = entry.target.passes();
        let width = passes.iter().map(|pass| pass.name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "passes of target {}, in order:", entry.target.name());
        for pass in passes {
            let level = match pass.level {
                OptLevel::O0 => "-O0",
                OptLevel::O1 => "-O1",
                OptLevel::O2 => "-O2",
            };
            let kind = if pass.optional { "optional" } else { "needed  " };
            let _ = writeln!(text, "  {:<width$}  {level}  {kind}  {}", pass.name, pass.about);
        }
    }
    console::print(&text);
    Ok(())
}
