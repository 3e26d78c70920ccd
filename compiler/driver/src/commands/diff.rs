//! `nbcc diff`: what passes changed, side by side.

use std::fmt::Write;

use anstyle::Style;
use nbcc_base::Diagnostic;
use nbcc_pipeline::{Observer, PassRecord};
use similar::{ChangeTag, DiffTag, TextDiff};

use crate::cli::DiffArgs;
use crate::session::{Session, Stop};
use crate::style::{BOLD, DIM, GREEN, RED};
use crate::{codes, compile, console, observe};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Keeps every record.
#[derive(Default)]
struct Recorder {
    records: Vec<PassRecord>,
}

impl Observer for Recorder {
    fn wants_dumps(&self) -> bool {
        true
    }

    fn pass(&mut self, record: PassRecord) {
        self.records.push(record);
    }
}

/// Runs the command.
pub fn diff(session: &mut Session, args: &DiffArgs) -> Result<(), Stop> {
    let tools = compile::tools(
        session,
        &args.source,
        &args.target.language,
        args.target.target.as_deref(),
    )?;
    let (entry, size) = (tools.entry, args.known.size.as_ref());
    for name in [&args.pass, &args.from, &args.to].into_iter().flatten() {
        compile::known_pass(session, entry, name)?;
    }
    let passes = compile::pass_options(session, entry, &args.passes)?;
    let mut request = compile::request(session, entry, &args.target, size)?;
    let program = compile::parse_constants(session, &args.source, tools, &args.known.param)?;
    request.input_extents = compile::input_extents(session, &program, &args.known.input, size)?;
    let mut recorder = Recorder::default();
    let (artifact, _) = compile::compile(session, entry, program, &request, &passes, &mut recorder);
    let records = select(session, args, recorder.records)?;
    let width = console::width();
    let mut text = String::new();
    for record in &records {
        show(record, width, args.pass.is_some() || args.from.is_some(), &mut text);
    }
    session.flush();
    console::print(&text);
    artifact.map(|_| ())
}

/// The records that the options ask for; `--from P --to Q` makes one of several.
fn select(
    session: &mut Session,
    args: &DiffArgs,
    records: Vec<PassRecord>,
) -> Result<Vec<PassRecord>, Stop> {
    let find = |session: &mut Session, name: &str| {
        records.iter().position(|record| record.pass.name == name).ok_or_else(|| {
            let message = format!("pass `{name}` did not run");
            let help = "it runs at a higher level, or is left out by --disable-pass";
            session.usage(Diagnostic::error(&codes::COMMAND_LINE, message).help(help))
        })
    };
    if let Some(name) = &args.pass {
        find(session, name)?;
        return Ok(records.into_iter().filter(|record| record.pass.name == name).collect());
    }
    if let (Some(from), Some(to)) = (&args.from, &args.to) {
        let (first, last) = (find(session, from)?, find(session, to)?);
        if first > last {
            let message = format!("pass `{from}` runs after pass `{to}`");
            let help = format!("the other way round: `--from {to} --to {from}`");
            let error = Diagnostic::error(&codes::COMMAND_LINE, message).help(help);
            return Err(session.usage(error));
        }
        let mut record = records[first].clone();
        record.after = records[last].after.clone();
        return Ok(vec![record]);
    }
    Ok(records)
}

/// A record's functions, those that changed. A pass that changed nothing has a line that says so.
fn show(record: &PassRecord, width: usize, is_only: bool, out: &mut String) {
    let pairs = observe::pairs(record);
    let changed: Vec<_> = pairs.iter().filter(|(_, before, after)| before != after).collect();
    let name = record.pass.name;
    if changed.is_empty() {
        let _ = writeln!(out, "{DIM}== {name}: no change =={DIM:#}");
        return;
    }
    let _ = writeln!(out, "{BOLD}== {name} =={BOLD:#} {}", record.pass.about);
    for (function, before, after) in changed {
        if pairs.len() > 1 || is_only {
            let _ = writeln!(out, "{BOLD}{function}{BOLD:#}");
        }
        match (before.is_empty(), after.is_empty()) {
            (true, _) => one_sided(after, GREEN, '+', out),
            (_, true) => one_sided(before, RED, '-', out),
            _ => side_by_side(before, after, width, out),
        }
    }
}

/// A function that is only there before, or only after.
fn one_sided(text: &str, style: Style, mark: char, out: &mut String) {
    for line in text.lines() {
        let _ = writeln!(out, "{style}{mark} {line}{style:#}");
    }
}

/// Two texts in columns: removed lines red on the left, added ones green on the right, a line that
/// became another opposite to it with the differing words in bold.
fn side_by_side(before: &str, after: &str, width: usize, out: &mut String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let longest = old.iter().chain(&new).map(|line| line.chars().count()).max().unwrap_or(0);
    let column = ((width - 3) / 2).min(longest).max(8);
    let diff = TextDiff::from_slices(&old, &new);
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            let _ = writeln!(out, "{DIM}{:<column$} : ...{DIM:#}", "...");
        }
        for op in group {
            let (left, right) = (&old[op.old_range()], &new[op.new_range()]);
            for row in 0..left.len().max(right.len()) {
                let (l, r) = (left.get(row).copied(), right.get(row).copied());
                if op.tag() == DiffTag::Equal {
                    let plain = |line: Option<&str>| {
                        cut(line.unwrap_or_default(), column, &[], Style::new())
                    };
                    let _ = writeln!(out, "{} | {}", plain(l), plain(r).trim_end());
                    continue;
                }
                let (bold_left, bold_right) = match (l, r) {
                    (Some(l), Some(r)) => words_that_differ(l, r),
                    _ => (vec![], vec![]),
                };
                let mark = match (l, r) {
                    (Some(_), Some(_)) => '~',
                    (Some(_), None) => '<',
                    _ => '>',
                };
                let left = cut(l.unwrap_or_default(), column, &bold_left, RED);
                let right = cut(r.unwrap_or_default(), column, &bold_right, GREEN);
                let right = if r.is_some() { right.trim_end() } else { "" };
                let _ = writeln!(out, "{RED}{left}{RED:#} {mark} {GREEN}{right}{GREEN:#}");
            }
        }
    }
}

/// Which characters of two lines are in words that the other does not have.
fn words_that_differ(left: &str, right: &str) -> (Vec<bool>, Vec<bool>) {
    let diff = TextDiff::from_words(left, right);
    let (mut bold_left, mut bold_right) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let count = change.value().chars().count();
        match change.tag() {
            ChangeTag::Equal => {
                bold_left.extend(std::iter::repeat_n(false, count));
                bold_right.extend(std::iter::repeat_n(false, count));
            }
            ChangeTag::Delete => bold_left.extend(std::iter::repeat_n(true, count)),
            ChangeTag::Insert => bold_right.extend(std::iter::repeat_n(true, count)),
        }
    }
    (bold_left, bold_right)
}

/// A line in a column of that many characters, filled up or cut short, some characters bold; it
/// stands in `style`.
fn cut(line: &str, column: usize, bold: &[bool], style: Style) -> String {
    let count = line.chars().count();
    let keep = if count > column { column - 1 } else { count };
    let mut text = String::new();
    let mut is_bold = false;
    for (index, c) in line.chars().take(keep).enumerate() {
        let wants = bold.get(index).copied().unwrap_or(false);
        if wants != is_bold {
            // Bold alone cannot be ended: everything is, and begins anew.
            let next = if wants { style.bold() } else { style };
            let _ = write!(text, "{style:#}{next}");
            is_bold = wants;
        }
        text.push(if c == '\t' { ' ' } else { c });
    }
    if is_bold {
        let _ = write!(text, "{style:#}{style}");
    }
    if count > column {
        text.push('…');
    }
    text.extend(std::iter::repeat_n(' ', column.saturating_sub(count)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(before: &str, after: &str, width: usize) -> String {
        let mut out = String::new();
        side_by_side(before, after, width, &mut out);
        anstream::adapter::strip_str(&out).to_string()
    }

    #[test]
    fn changed_lines_stand_opposite() {
        let text = plain("a\nb = 1\nc\n", "a\nb = 2\nc\nd\n", 80);
        assert_eq!(
            text,
            "\
a        | a
b = 1    ~ b = 2
c        | c
         > d
"
        );
    }

    #[test]
    fn distant_lines_are_left_out_and_long_ones_cut() {
        let lines: Vec<String> = (0..20).map(|n| format!("line number {n}")).collect();
        let before = lines.join("\n");
        let after = before.replace("number 0", "number x").replace("number 19", "number y");
        let text = plain(&before, &after, 23);
        assert_eq!(text.lines().count(), 4 + 1 + 4, "{text}");
        assert_eq!(text.lines().next(), Some("line numb… ~ line numb…"));
    }
}
