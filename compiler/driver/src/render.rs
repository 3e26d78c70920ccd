//! Diagnostics as people read them, with excerpts of the source drawn by ariadne, and as JSON
//! lines.

use std::collections::BTreeMap;
use std::fmt::Write;

use ariadne::{Cache, Color, Config, IndexType, Report, ReportKind, Source};
use nbcc_base::{Diagnostic, Severity, SourceFile, SourceId, SourceMap, Span};
use serde_json::{Value, json};

use crate::style::{CYAN, RED, YELLOW};

/// Lines longer than this are not drawn: the excerpt would fill the screen.
const LONGEST_LINE: usize = 400;

/// All of them for a terminal, with colour codes.
pub fn human(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut excerpts = Excerpts { sources, prepared: BTreeMap::new() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        let drawn = diagnostic.span.and_then(|span| draw(diagnostic, span, &mut excerpts));
        text.push_str(&drawn.unwrap_or_else(|| plain(diagnostic, sources)));
    }
    text
}

fn color(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Note => Color::Cyan,
    }
}

/// A report with an excerpt; `None` where there is no room for one.
fn draw(diagnostic: &Diagnostic, span: Span, excerpts: &mut Excerpts) -> Option<String> {
    let color = color(diagnostic.severity);
    let mut labels = Vec::new();
    for (index, label) in diagnostic.labels.iter().enumerate() {
        let place = excerpts.place(label.span)?;
        let color = if index == 0 { color } else { Color::Blue };
        labels.push((place, &label.text, color));
    }
    if labels.is_empty() {
        return None;
    }
    // ariadne draws a file anew wherever a label stands above the one before it.
    labels.sort_by_key(|((source, range), ..)| (*source != span.source, *source, range.end));
    let config = Config::default().with_index_type(IndexType::Byte);
    let mut report =
        Report::build(ReportKind::Custom(diagnostic.severity.word(), color), excerpts.place(span)?)
            .with_config(config)
            .with_code(diagnostic.code.code)
            .with_message(&diagnostic.message);
    for (place, text, color) in labels {
        report.add_label(ariadne::Label::new(place).with_message(text).with_color(color));
    }
    if let Some(help) = &diagnostic.help {
        report.set_help(help);
    }
    let mut bytes = Vec::new();
    report.finish().write(excerpts, &mut bytes).ok()?;
    let drawn = String::from_utf8(bytes).ok()?;
    Some(drawn.lines().flat_map(|line| [line.trim_end(), "\n"]).collect())
}

/// A report in words alone.
fn plain(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let style = match diagnostic.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => CYAN,
    };
    let word = diagnostic.severity.word();
    let mut text = format!(
        "{style}[{}] {word}:{style:#} {}\n",
        diagnostic.code.code,
        printable(&diagnostic.message)
    );
    let mut line = |head: &str, body: &str| {
        let body =
            printable(body).replace('\n', &format!("\n{:width$}", "", width = 6 + head.len()));
        let _ = writeln!(text, "    {head}: {body}");
    };
    if let Some(span) = diagnostic.span {
        let at = sources.start_of(span);
        line("at", &format!("{}:{}:{}", sources.get(span.source).name, at.line, at.column));
    } else if let Some(file) = &diagnostic.file
        && !diagnostic.message.contains(file.as_str())
    {
        line("in", file);
    }
    for label in &diagnostic.labels {
        let at = sources.start_of(label.span);
        line(&format!("line {}", at.line), &label.text);
    }
    if let Some(help) = &diagnostic.help {
        line("help", help);
    }
    text
}

/// Text without characters that would move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '?' } else { c }).collect()
}

/// The files as ariadne sees them, prepared when first needed.
struct Excerpts<'a> {
    sources: &'a SourceMap,
    prepared: BTreeMap<SourceId, Source<String>>,
}

impl Excerpts<'_> {
    /// A span as ariadne takes it: inside the file, at character boundaries, not ending in a line
    /// break. `None` where its lines are too long to be drawn.
    fn place(&self, span: Span) -> Option<(SourceId, std::ops::Range<usize>)> {
        let text = &self.sources.get(span.source).text;
        let start = text.floor_char_boundary((span.start as usize).min(text.len()));
        let end = text.ceil_char_boundary((span.end as usize).clamp(start, text.len()));
        let end = start + text[start..end].trim_end_matches(['\n', '\r']).len();
        let fits = |at: usize| {
            let before = text[..at].bytes().rev().take(LONGEST_LINE).any(|b| b == b'\n');
            let after = text[at..].bytes().take(LONGEST_LINE).any(|b| b == b'\n');
            (before || at < LONGEST_LINE) && (after || text.len() - at < LONGEST_LINE)
        };
        (fits(start) && fits(end)).then_some((span.source, start..end))
    }
}

impl Cache<SourceId> for Excerpts<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &SourceId) -> Result<&Source<String>, impl std::fmt::Debug> {
        let sources = self.sources;
        Ok::<_, String>(
            self.prepared.entry(*id).or_insert_with(|| Source::from(drawable(sources.get(*id)))),
        )
    }

    fn display<'b>(&self, id: &'b SourceId) -> Option<impl std::fmt::Display + 'b> {
        Some(printable(&self.sources.get(*id).name))
    }
}

/// The text of a file with the same number of bytes and lines, but nothing in it that ariadne
/// takes for a line break where we do not, or that would move a terminal's cursor. A last line
/// that is empty gets a space, so that there is something to point at.
fn drawable(file: &SourceFile) -> String {
    let mut text: String = file
        .text
        .chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            // Two and three bytes, like what they replace.
            '\u{80}'..='\u{9f}' => '·',
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    if text.is_empty() || text.ends_with('\n') {
        text.push(' ');
    }
    text
}

/// All of them, one line each, as compilers print them and editors read them:
/// `FILE:LINE:COLUMN: error: TEXT [CODE]`.
pub fn short(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let line = |diagnostic: &Diagnostic| {
        let place = match (diagnostic.span, &diagnostic.file) {
            (Some(span), _) => {
                let at = sources.start_of(span);
                format!("{}:{}:{}", sources.get(span.source).name, at.line, at.column)
            }
            (None, Some(file)) => file.clone(),
            (None, None) => "nbcc".into(),
        };
        let (word, code) = (diagnostic.severity.word(), diagnostic.code.code);
        let mut message = diagnostic.message.clone();
        if let Some(help) = &diagnostic.help {
            let _ = write!(message, "; {help}");
        }
        let one_line = printable(&message).replace('\n', " ");
        format!("{}: {word}: {one_line} [{code}]\n", printable(&place).replace('\n', " "))
    };
    diagnostics.iter().map(line).collect()
}

/// All of them as JSON, one object a line.
pub fn json(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|d| format!("{}\n", object(d, sources))).collect()
}

fn object(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let mut object = place(label.span, sources);
            object["text"] = json!(label.text);
            object
        })
        .collect();
    let mut object = match diagnostic.span {
        Some(span) => place(span, sources),
        None => json!({
            "file": diagnostic.file, "line": null, "column": null,
            "end_line": null, "end_column": null,
        }),
    };
    object["code"] = json!(diagnostic.code.code);
    object["severity"] = json!(diagnostic.severity.word());
    object["message"] = json!(diagnostic.message);
    object["labels"] = json!(labels);
    object["help"] = json!(diagnostic.help);
    object
}

/// Where a span begins and ends; the end column is one past its last character.
fn place(span: Span, sources: &SourceMap) -> Value {
    let file = sources.get(span.source);
    let (start, end) = (file.position(span.start), file.position(span.end));
    json!({
        "file": file.name, "line": start.line, "column": start.column,
        "end_line": end.line, "end_column": end.column,
    })
}

#[cfg(test)]
mod tests {
    use nbcc_base::CodeInfo;

    use super::*;

    static CODE: CodeInfo =
        CodeInfo { code: "E9999", title: "t", explanation: "e", example: "", by_test: None };

    fn without_color(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn sources(text: &str) -> (SourceMap, SourceId) {
        let mut sources = SourceMap::default();
        let id = sources.add(SourceFile::new("a.halide", text));
        (sources, id)
    }

    #[test]
    fn labels_far_apart_stay_in_one_frame() {
        let lines: String = (1..=40).map(|n| format!("Func f{n}(x) = x;\n")).collect();
        let (sources, id) = sources(&lines);
        let at = |name: &str| {
            let start = lines.find(name).unwrap_or_default();
            Span::new(id, start, start + name.len())
        };
        let error = Diagnostic::error(&CODE, "`f38` is not `f2`")
            .at(at("f38"), "this one")
            .and(at("f2("), "and the other")
            .help("use the same");
        let text = without_color(&human(&[error], &sources));
        assert_eq!(
            text,
            "\
[E9999] error: `f38` is not `f2`
    ╭─[ a.halide:38:6 ]
    │
  2 │ Func f2(x) = x;
    │      ─┬─
    │       ╰─── and the other
    │
 38 │ Func f38(x) = x;
    │      ─┬─
    │       ╰─── this one
    │
    │ Help: use the same
────╯
"
        );
    }

    #[test]
    fn any_span_of_any_text_is_drawn() {
        let texts = ["", "\n", "aé\r\n\u{2028}\u{85}\x0c\x1b[2J\n", "a\n\nb \t\n", "\u{202e}x"];
        for text in texts {
            let (sources, id) = sources(text);
            for start in 0..=text.len() + 2 {
                for end in start..=text.len() + 2 {
                    let error =
                        Diagnostic::error(&CODE, "m").at(Span::new(id, start, end), "label");
                    let drawn = without_color(&human(std::slice::from_ref(&error), &sources));
                    assert!(drawn.contains("label"), "{text:?} {start}..{end}: {drawn}");
                    let line = sources.files()[0].position(start as u32).line;
                    assert!(drawn.contains(&format!("a.halide:{line}:")), "{drawn}");
                    assert!(!drawn.contains(['\x1b', '\x0c', '\u{202e}']), "{drawn:?}");
                    assert!(json(&[error], &sources).starts_with('{'));
                }
            }
        }
    }

    #[test]
    fn short_messages_are_a_line_each() {
        let (sources, id) = sources("a\nbc\n");
        let diagnostics = [
            Diagnostic::error(&CODE, "two\nlines").at(Span::new(id, 3, 4), "here").help("stop"),
            Diagnostic::warning(&CODE, "m").in_file("a.png"),
            Diagnostic::note(&CODE, "n"),
        ];
        assert_eq!(
            short(&diagnostics, &sources),
            "a.halide:2:2: error: two lines; stop [E9999]\na.png: warning: m [E9999]\n\
             nbcc: note: n [E9999]\n"
        );
    }

    #[test]
    fn a_very_long_line_is_not_drawn() {
        let (sources, id) = sources(&"x ".repeat(5000));
        let error = Diagnostic::error(&CODE, "m").at(Span::new(id, 4000, 4001), "here");
        let text = without_color(&human(&[error], &sources));
        assert_eq!(text, "[E9999] error: m\n    at: a.halide:1:4001\n    line 1: here\n");
    }
}
