//! What is shown of passes while they run: dumps as LLVM prints them, so that viewers of LLVM's
//! dumps read ours, and the time each pass took.

use std::fmt::Write;
use std::time::Duration;

use anstyle::Style;
use nbcc_pipeline::{Dump, Observer, PassRecord};
use similar::TextDiff;

use crate::cli::PassArgs;
use crate::console;
use crate::style::{GREEN, RED};

/// Prints what the options ask for.
#[derive(Debug, Default)]
pub struct Watcher {
    dumps: bool,
    changed: Option<Changed>,
    times: Option<Vec<(&'static str, Duration)>>,
}

/// What `--print-changed` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    /// The program after each pass that changed it.
    Whole,
    /// How it differs.
    Diff,
}

impl Watcher {
    /// A watcher for these options.
    pub fn new(args: &PassArgs) -> Watcher {
        Watcher {
            dumps: args.print_after_all || args.print_before_all,
            changed: args.print_changed.as_deref().map(|form| match form {
                "diff" => Changed::Diff,
                _ => Changed::Whole,
            }),
            times: args.time_passes.then(Vec::new),
        }
    }

    /// Prints what is printed at the end.
    pub fn finish(&self) {
        if let Some(times) = &self.times {
            console::error_text(&time_table(times));
        }
    }
}

impl Observer for Watcher {
    fn wants_dumps(&self) -> bool {
        self.dumps || self.changed.is_some()
    }

    fn pass(&mut self, record: PassRecord) {
        let name = record.pass.name;
        if let Some(times) = &mut self.times {
            times.push((name, record.elapsed));
        }
        if self.dumps {
            let mut text = dump_text("Before", name, &record.before);
            text.push_str(&dump_text("After", name, &record.after));
            console::error_text(&text);
        }
        match self.changed {
            Some(Changed::Whole) => console::error_text(&changed_text(&record)),
            Some(Changed::Diff) => console::error_text(&diff_text(&record)),
            None => {}
        }
    }

    fn not_kept(&mut self, elapsed: Duration) {
        if let Some(times) = &mut self.times {
            times.push(("attempts not kept", elapsed));
        }
    }
}

/// The line above the dump of a function, or instead of it.
fn header(when: &str, pass: &str, function: &str, is_omitted: bool) -> String {
    let omitted = if is_omitted { "omitted because no change " } else { "" };
    format!("; *** IR Dump {when} {pass} on {function} {omitted}***\n")
}

/// Dumps under their headers.
fn dump_text(when: &str, pass: &str, dumps: &[Dump]) -> String {
    dumps
        .iter()
        .map(|dump| {
            let text = dump.text.trim_end_matches('\n');
            format!("{}{text}\n", header(when, pass, &dump.function, false))
        })
        .collect()
}

/// The functions of a record before and after: those of the same name side by side, in the order
/// in which they stand; a function that came or went has nothing on the other side.
pub fn pairs(record: &PassRecord) -> Vec<(&str, &str, &str)> {
    let find = |dumps: &[Dump], name: &str| dumps.iter().position(|d| d.function == name);
    let mut pairs: Vec<(&str, &str, &str)> = Vec::new();
    for dump in &record.before {
        let after = find(&record.after, &dump.function).map_or("", |i| &record.after[i].text);
        pairs.push((&dump.function, &dump.text, after));
    }
    for dump in &record.after {
        if find(&record.before, &dump.function).is_none() {
            pairs.push((&dump.function, "", &dump.text));
        }
    }
    pairs
}

fn changed_text(record: &PassRecord) -> String {
    let name = record.pass.name;
    let mut text = String::new();
    for (function, before, after) in pairs(record) {
        text.push_str(&header("After", name, function, before == after));
        if before != after {
            let _ = writeln!(text, "{}", after.trim_end_matches('\n'));
        }
    }
    text
}

fn diff_text(record: &PassRecord) -> String {
    let name = record.pass.name;
    let mut text = String::new();
    for (function, before, after) in pairs(record) {
        text.push_str(&header("After", name, function, before == after));
        let diff = TextDiff::from_lines(before, after);
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            for change in hunk.iter_changes() {
                let (sign, style) = match change.tag() {
                    similar::ChangeTag::Delete => ('-', RED),
                    similar::ChangeTag::Insert => ('+', GREEN),
                    similar::ChangeTag::Equal => (' ', Style::new()),
                };
                let line = change.value().trim_end_matches('\n');
                let _ = writeln!(text, "{style}{sign}{line}{style:#}");
            }
        }
    }
    text
}

/// A line a pass, in the order they ran, and their sum.
fn time_table(times: &[(&str, Duration)]) -> String {
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    let width = times.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("total".len());
    let mut text = format!("{:<width$}  {:>10}  {:>6}\n", "pass", "ms", "share");
    let mut line = |name: &str, time: Duration| {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        let ms = time.as_secs_f64() * 1e3;
        let _ = writeln!(text, "{name:<width$}  {ms:>10.3}  {share:>5.1}%");
    };
    for (name, time) in times {
        line(name, *time);
    }
    line("total", total);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_in_the_order_of_the_passes() {
        let times = [("extents", Duration::from_micros(1500)), ("emit", Duration::from_millis(6))];
        assert_eq!(
            time_table(&times),
            "pass             ms   share\nextents       1.500   20.0%\nemit          6.000   80.0%\n\
             total         7.500  100.0%\n"
        );
        assert!(time_table(&[]).ends_with("0.000    0.0%\n"));
    }
}
