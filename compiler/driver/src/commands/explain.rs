//! `nbcc explain`: a diagnostic code, a word of the table that follows a run, or the decisions taken for a
//! program or for a line of it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use nbcc_base::{CodeInfo, Diagnostic, SourceMap};
use nbcc_pipeline::NoObserver;
use nbcc_placement::alike::lines;
use nbcc_placement::{Remark, RemarkKind};

use crate::cli::ExplainArgs;
use crate::session::{Session, Stop};
use crate::style::{BOLD, CYAN, GREEN, YELLOW};
use crate::{codes, compile, console, files, profile, registry};
use nbcc_base::nearest;

/// Runs the command.
pub fn explain(session: &mut Session, args: &ExplainArgs) -> Result<(), Stop> {
    let Some(what) = &args.what else {
        console::print(&list());
        return Ok(());
    };
    if is_code(what) {
        return explain_code(session, what);
    }
    if !Path::new(what).exists()
        && let Some(text) = meaning(what)
    {
        console::print(&text);
        return Ok(());
    }
    if !what.contains(['.', '/', ':', '\\']) && what != "-" && !Path::new(what).exists() {
        return Err(no_meaning(session, what));
    }
    let (path, line) = split_line(session, what)?;
    let tools =
        compile::tools(session, &path, &args.target.language, args.target.target.as_deref())?;
    let size = args.known.size.as_ref();
    let passes = compile::pass_options(session, tools.entry, &args.passes)?;
    let mut request = compile::request(session, tools.entry, &args.target, size)?;
    let program = compile::parse_constants(session, &path, tools, &args.known.param)?;
    if let (Some(line), Some(file)) = (line, session.sources.files().first())
        && file.line(line).is_none()
    {
        let last = file.text.lines().count();
        let message = format!("`{}` has no line {line}, its last is {last}", file.name);
        let help = format!("name a line from 1 to {last}, or leave it out to read about the file");
        return Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)));
    }
    request.input_extents = compile::input_extents(session, &program, &args.known.input, size)?;
    profile::warn_of_another(session, request.profile.as_ref());
    let target = tools.entry.target;
    let (text, remarks) = compile::with_context(session, &passes, &mut NoObserver, |cx| {
        target.explain(program, &request, cx)
    });
    let text = text?;
    let shown = match line {
        None if text.ends_with('\n') => text,
        None => text + "\n",
        Some(line) => remarks_of_line(&remarks, &session.sources, line),
    };
    session.flush();
    console::print(&shown);
    Ok(())
}

/// `E0123` or `W4107`, or what is too long or short for one: never the name of a file that is there.
fn is_code(what: &str) -> bool {
    let mut chars = what.chars();
    chars.next().is_some_and(|c| matches!(c, 'E' | 'W' | 'e' | 'w'))
        && what.len() > 1
        && chars.all(|c| c.is_ascii_digit())
        && !Path::new(what).exists()
}

/// A word that is nothing that can be explained.
fn no_meaning(session: &mut Session, what: &str) -> Stop {
    let message = format!("there is no file, diagnostic code or word of a run's table `{what}`");
    let keys = || registry::get().targets.iter().flat_map(|entry| entry.report.statistics);
    let words: Vec<&str> = keys()
        .flat_map(|definition| {
            [definition.key, definition.key.rsplit('.').next().unwrap_or_default()]
        })
        .collect();
    let languages = registry::get().languages.iter();
    let mut sources =
        languages.map(|one| PathBuf::from(format!("{what}.{}", one.frontend.extension())));
    let source = sources.find(|file| file.is_file());
    let help = match (source.or_else(|| files::similar(Path::new(what))), nearest(what, words)) {
        (Some(file), _) => format!("did you mean `nbcc explain {}`?", file.display()),
        (_, Some(word)) => format!("did you mean `nbcc explain {word}`?"),
        _ => "write FILE, FILE:LINE, a code such as E4001 (`--list` lists all), or a word of the table that \
              follows a run"
            .to_string(),
    };
    session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
}

/// A path and the line behind a last colon; a column behind that, as compilers print it, says no more.
fn split_line(session: &mut Session, what: &str) -> Result<(PathBuf, Option<u32>), Stop> {
    let Some((path, line)) = what.rsplit_once(':').filter(|_| !Path::new(what).exists()) else {
        return Ok((what.into(), None));
    };
    if !Path::new(path).exists()
        && let (Ok(_), Some((file, number))) = (line.parse::<u32>(), path.rsplit_once(':'))
        && let Ok(number) = number.parse()
    {
        return Ok((file.into(), Some(number)));
    }
    match line.parse() {
        Ok(line) => Ok((path.into(), Some(line))),
        Err(_) if Path::new(path).is_file() => {
            let message = format!("`{line}` is no line of `{path}`");
            let help = format!("write the number of a line, as in {path}:1, or leave it out");
            Err(session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help)))
        }
        Err(_) => Ok((what.into(), None)),
    }
}

fn explain_code(session: &mut Session, code: &str) -> Result<(), Stop> {
    let all = codes::all();
    let code = code.to_ascii_uppercase();
    if let Some(info) = all.iter().find(|info| info.code == code) {
        console::print(&code_text(info));
        return Ok(());
    }
    let mut error =
        Diagnostic::error(&codes::COMMAND_LINE, format!("there is no diagnostic code {code}"));
    let near = nearest(&code, all.iter().map(|info| info.code));
    error = error.help(match near {
        Some(near) => format!("did you mean {near}? `nbcc explain --list` lists all"),
        None => "`nbcc explain --list` lists all codes".to_string(),
    });
    Err(session.usage(error))
}

/// What a word of the table that follows a run means, or the key of a statistic, for each target that has
/// it: a line each.
fn meaning(what: &str) -> Option<String> {
    let word = what.trim().to_lowercase().replace(' ', "_");
    let is_it = |key: &str| {
        key == word || key.split_once('.').is_some_and(|(_, name)| name.replace('.', "_") == word)
    };
    let mut text = String::new();
    for entry in registry::get().targets {
        let mut about = "";
        for definition in entry.report.statistics {
            if definition.about != "As above." {
                about = definition.about;
            }
            if is_it(definition.key) {
                let (target, key, unit) = (entry.target.name(), definition.key, definition.unit);
                let _ = writeln!(text, "{target}: {BOLD}{key}{BOLD:#} ({unit}): {about}");
            }
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Every code with its title, a line each.
fn list() -> String {
    let line = |info: &&CodeInfo| format!("{BOLD}{}{BOLD:#}  {}\n", info.code, info.title);
    codes::all().iter().map(line).collect()
}

fn code_text(info: &CodeInfo) -> String {
    let mut text =
        format!("{BOLD}{}: {}{BOLD:#}\n\n{}\n", info.code, info.title, wrap(info.explanation));
    let mut lines = info.example.lines();
    if let Some(usage) = lines.next() {
        let _ = writeln!(text, "\nAn example:\n");
        let command = usage.trim_start_matches("//").trim();
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
        let _ = writeln!(text, "    $ {command}");
    }
    text
}

/// Text in lines of 80 columns; a line break in it stays one, and words stay whole.
fn wrap(text: &str) -> String {
    let options = textwrap::Options::new(80).break_words(false);
    let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}

/// The remarks about a source line, under that line.
fn remarks_of_line(remarks: &[Remark], sources: &SourceMap, line: u32) -> String {
    let Some(file) = sources.files().first() else { return String::new() };
    let mut text =
        format!("{}:{line}: {}\n", file.name, file.line(line).unwrap_or_default().trim());
    let placed = remarks.iter().filter_map(|remark| Some((remark, lines_of(remark, sources)?)));
    let here = placed.clone().filter(|(_, (first, last))| (*first..=*last).contains(&line));
    let here: Vec<String> = here.map(|(remark, _)| remark_text(remark)).collect();
    if here.is_empty() {
        text.push_str("  no pass says anything about this line");
        let others: BTreeSet<u32> = placed.map(|(_, (first, _))| first).collect();
        let others: Vec<String> = others.iter().map(u32::to_string).collect();
        if !others.is_empty() {
            let _ = write!(text, "; there is something to read about {}", others.join(", "));
        }
        text.push('\n');
    }
    for line in lines(&here) {
        let indent = if line.ends_with(" times:") { "  " } else { "" };
        let _ = writeln!(text, "{indent}{line}");
    }
    text
}

/// The first and the last line of the source that a remark is about.
fn lines_of(remark: &Remark, sources: &SourceMap) -> Option<(u32, u32)> {
    let span = remark.span?;
    let last = sources.get(span.source).position(span.end.max(span.start + 1) - 1).line;
    Some((sources.start_of(span).line, last))
}

/// A remark for people: who says what of whom, and on what further terms.
pub fn remark_text(remark: &Remark) -> String {
    let (style, mark) = match remark.kind {
        RemarkKind::Passed => (GREEN, '+'),
        RemarkKind::Missed => (YELLOW, '-'),
        RemarkKind::Analysis => (CYAN, '='),
    };
    let mut text = format!(
        "  {style}{mark}{style:#} {} ({}): {}\n",
        remark.function, remark.pass, remark.message
    );
    let width = remark.terms.iter().map(|term| term.name.len()).max().unwrap_or(0);
    for term in &remark.terms {
        let _ = writeln!(text, "      {:<width$}  {}", term.name, term.value);
    }
    text
}
