//! What a run prints: which data, where cycles and energy went, which lines took them.
//!
//! Tables here and elsewhere in the driver are laid out by the widths of `format!`: their columns are
//! few and known, one stands beside another, and they neither wrap nor have rules, which is what
//! libraries for tables are for.

use std::fmt::Write;

use nbcc_base::SourceMap;
use nbcc_sim_engine::{Statistics, Value};

use crate::console;
use crate::style::BOLD;
use nbcc_host::{Cost, Profile, ProfileLine};

/// The cycles of each function, in the order of the program, and of each source line, the
/// costliest first, with its text where it is known.
pub fn profile(profile: &Profile, sources: &SourceMap) -> String {
    let functions = profile.functions.iter().map(|function| {
        (function.cost, function.name.clone().unwrap_or_else(|| "(no function)".to_string()))
    });
    let mut lines: Vec<&ProfileLine> = profile.lines.iter().collect();
    lines.sort_by_key(|line| std::cmp::Reverse(cycles(line.cost)));
    let lines = lines.into_iter().map(|line| (line.cost, line_text(line, sources)));
    costs("function", functions.collect()) + &costs("source line", lines.collect())
}

/// What became of the instances of each candidate for offloading: a row each, with the cycles that one
/// took on either side. Reads the lists of the group `candidate`; nothing where a machine has none.
pub fn candidates(statistics: &Statistics) -> String {
    const COLUMNS: [(&str, &str); 7] = [
        ("line", "candidate.line"),
        ("considered", "candidate.considered"),
        ("offloaded", "candidate.instances"),
        ("learning", "candidate.refused_learning"),
        ("condition", "candidate.refused_condition"),
        ("channel", "candidate.refused_channel"),
        ("warps", "candidate.refused_warps"),
    ];
    let list = |key: &str| match statistics.get(key)? {
        Value::List(all) => Some(all.iter().map(count_of).collect::<Vec<u64>>()),
        _ => None,
    };
    let columns: Vec<Vec<u64>> = COLUMNS.iter().filter_map(|(_, key)| list(key)).collect();
    let times = ["candidate.away_cycles", "candidate.stayed_cycles"].map(list);
    let (7, [Some(away), Some(stayed)]) = (columns.len(), times) else { return String::new() };
    if away.is_empty() {
        return String::new();
    }
    let mut text = "\n".to_string();
    for (name, _) in COLUMNS {
        let _ = write!(text, "{name:>11}");
    }
    text.push_str("  cycles there, here\n");
    for number in 0..away.len() {
        for column in &columns {
            let _ = write!(text, "{:>11}", column[number]);
        }
        let (considered, gone) = (columns[1][number], columns[2][number]);
        let each = |cycles: u64, instances: u64| match instances {
            0 => "-".to_string(),
            _ => grouped(cycles / instances),
        };
        let here = each(stayed[number], considered - gone.min(considered));
        let _ = writeln!(text, "  {}, {here}", each(away[number], gone));
    }
    text
}

fn count_of(value: &Value) -> u64 {
    match value {
        Value::Count(count) => *count,
        _ => 0,
    }
}

fn cycles(cost: Cost) -> u64 {
    cost.issued + cost.stalled
}

fn line_text(line: &ProfileLine, sources: &SourceMap) -> String {
    let Some((file, number)) = &line.place else { return "(no line)".to_string() };
    let known = sources.files().iter().find(|source| source.name == *file);
    let source = known.and_then(|source| source.line(*number)).unwrap_or_default();
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    format!("{file}:{number}  {}", source.trim())
}

/// A table of what cost something, with shares in all of them.
fn costs(heading: &str, rows: Vec<(Cost, String)>) -> String {
    let total: u64 = rows.iter().map(|(cost, _)| cycles(*cost)).sum();
    let mut text = format!(
        "\n{:>6} {:>12} {:>12} {:>12}  {heading}\n",
        "share", "instructions", "issue", "stall"
    );
    let width = console::width();
    for (cost, what) in rows.into_iter().filter(|(cost, _)| cycles(*cost) > 0) {
        let share = 100.0 * cycles(cost) as f64 / total.max(1) as f64;
        let issued = grouped(cost.issued);
        let row = format!(
            "{share:>5.1}% {issued:>12} {issued:>12} {:>12}  {what}",
            grouped(cost.stalled)
        );
        text.extend(row.chars().take(width));
        text.push('\n');
    }
    text
}

/// Where cycles and energy went. Reads the groups that machines' statistics have: `core` and
/// `stall` (cycles of the cores), `category` (instructions), `energy` and `utilisation`; a machine
/// without one of them has no such section. `core` is what the machine calls what issues
/// instructions.
pub fn table(statistics: &Statistics, core: &str) -> String {
    let has = |key: &str| statistics.iter().any(|statistic| statistic.definition.key == key);
    let mut left = Vec::new();
    if has("core.issue_cycles") {
        let mut cycles = group(statistics, "stall");
        cycles.push(("issue".into(), statistics.real("core.issue_cycles")));
        left.extend(section(&format!("cycles of {core}s"), "", cycles, None));
        left.push(String::new());
    }
    let categories = group(statistics, "category");
    if !categories.is_empty() {
        left.extend(section("instructions", "", categories, None));
    }

    let mut right = Vec::new();
    let mut energy_total = String::new();
    // A machine without an energy model says zero.
    if has("energy_pj") && statistics.real("energy_pj") > 0.0 {
        let (unit, scale) = energy_unit(statistics.real("energy_pj"));
        right.extend(section("energy", unit, group(statistics, "energy"), Some(scale)));
        right.push(String::new());
        let total = statistics.real("energy_pj") / scale;
        energy_total = format!(", {BOLD}{total:.1} {unit}{BOLD:#}");
    }
    let busy = group(statistics, "utilisation");
    if !busy.is_empty() {
        right.extend(utilisation(busy));
    }

    let time = match has("time_ns") {
        true => format!(" ({})", time(statistics.real("time_ns"))),
        false => String::new(),
    };
    let mut text = format!(
        "\n{BOLD}{} cycles{BOLD:#}{time}, {} instructions on {} of {} {core}s (IPC {:.3})\
         {energy_total}\n\n",
        grouped(statistics.count("cycles")),
        grouped(statistics.count("instructions")),
        statistics.count("core.active"),
        statistics.count("core.count"),
        statistics.real("ipc"),
    );
    left.resize(left.len().max(right.len()), String::new());
    right.resize(left.len(), String::new());
    for (left, right) in left.iter().zip(&right) {
        let fill = COLUMN.saturating_sub(left.chars().count());
        let line = format!("{left}{:fill$}{right}", "");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    text.push_str(&instances(statistics, "loop"));
    text
}

/// Statistics of a group that are lists, as a table with a row an element and a column a statistic;
/// nothing where there are none.
fn instances(statistics: &Statistics, group: &str) -> String {
    let mut columns: Vec<Vec<String>> = Vec::new();
    for statistic in statistics.iter() {
        let name = statistic.definition.key.strip_prefix(group).and_then(|k| k.strip_prefix('.'));
        let (Some(name), Value::List(list)) = (name, &statistic.value) else { continue };
        let shown = list.iter().map(|value| match value {
            Value::Count(count) => grouped(*count),
            Value::Real(real) => format!("{real:.3}"),
            Value::Text(text) => text.clone(),
            Value::List(_) | Value::None => "-".to_string(),
        });
        columns.push(std::iter::once(name.replace('_', " ")).chain(shown).collect());
    }
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let mut text = String::new();
    for row in (0..rows).filter(|_| rows > 1) {
        let mut line = String::new();
        for column in &columns {
            let width = column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
            let _ = write!(line, "{:>width$}  ", column[row]);
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if rows > 1 {
        text.push('\n');
    }
    text
}

/// Characters of the left column.
const COLUMN: usize = 44;

/// Characters of a bar that stands for all.
const BAR: f64 = 10.0;

/// The values of a group, by name with blanks.
fn group(statistics: &Statistics, name: &str) -> Vec<(String, f64)> {
    statistics
        .iter()
        .filter_map(|statistic| {
            let key = statistic.definition.key;
            let rest = key.strip_prefix(name)?.strip_prefix('.')?;
            Some((rest.replace(['_', '.'], " "), statistics.real(key)))
        })
        .collect()
}

/// Values with their shares, the greatest first; what is below 0.05 % is left out. With a scale
/// the values stand there too, divided by it.
fn section(title: &str, unit: &str, rows: Vec<(String, f64)>, scale: Option<f64>) -> Vec<String> {
    let total: f64 = rows.iter().map(|(_, value)| value).sum();
    let mut rows: Vec<_> = rows.into_iter().filter(|(_, value)| *value >= 0.0005 * total).collect();
    rows.retain(|(_, value)| *value > 0.0);
    rows.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut lines = vec![match scale {
        Some(_) => format!("{title:<20}{unit:>9}"),
        None => title.to_string(),
    }];
    for (name, value) in rows {
        let share = value / total;
        let value = scale.map(|scale| format!("{:>9.1}", value / scale)).unwrap_or_default();
        lines.push(format!("  {name:<18}{value}  {:5.1} %  {}", 100.0 * share, bar(share)));
    }
    lines
}

/// How busy units were, in the order of the statistics.
fn utilisation(rows: Vec<(String, f64)>) -> Vec<String> {
    let rows = rows.into_iter().filter(|(_, share)| *share >= 0.0005);
    let line = |(name, share): (String, f64)| {
        format!("  {name:<18}{:9}  {:5.1} %  {}", "", 100.0 * share, bar(share))
    };
    std::iter::once("utilisation".to_string()).chain(rows.map(line)).collect()
}

/// A bar in eighths of a character.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * BAR * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

/// A unit that gives an energy few digits, and its picojoules.
fn energy_unit(picojoules: f64) -> (&'static str, f64) {
    match picojoules {
        e if e < 1e4 => ("pJ", 1.0),
        e if e < 1e7 => ("nJ", 1e3),
        e if e < 1e10 => ("µJ", 1e6),
        _ => ("mJ", 1e9),
    }
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e4 => format!("{t:.0} ns"),
        t if t < 1e7 => format!("{:.2} µs", t / 1e3),
        t => format!("{:.2} ms", t / 1e6),
    }
}

/// A number in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use nbcc_sim_engine::Definition;
    use nbcc_sim_engine::statistics::row;

    use super::*;

    const TABLE: &[Definition] = &[
        row("cycles", "cycles", "Length."),
        row("energy_pj", "pJ", "Energy."),
        row("core.count", "cores", "Cores."),
        row("core.active", "cores", "Cores that did work."),
        row("core.issue_cycles", "cycles", "Issue."),
        row("stall.true_dependence", "cycles", "Stalls."),
        row("stall.never", "cycles", "Stalls."),
        row("energy.bank_read", "pJ", "Reads."),
        row("utilisation.bank", "-", "Busy."),
    ];

    #[test]
    fn each_candidate_has_a_row() {
        const COUNTS: &[Definition] = &[
            row("candidate.line", "-", "Line."),
            row("candidate.considered", "instances", "All."),
            row("candidate.instances", "instances", "Gone."),
            row("candidate.refused_learning", "instances", "Stayed."),
            row("candidate.refused_condition", "instances", "Stayed."),
            row("candidate.refused_channel", "instances", "Stayed."),
            row("candidate.refused_warps", "instances", "Stayed."),
            row("candidate.away_cycles", "cycles", "There."),
            row("candidate.stayed_cycles", "cycles", "Here."),
        ];
        assert_eq!(candidates(&Statistics::new(TABLE)), "");
        let mut statistics = Statistics::new(COUNTS);
        for (definition, values) in COUNTS.iter().zip([
            [7, 9],
            [4, 2],
            [3, 0],
            [0, 0],
            [1, 0],
            [0, 0],
            [0, 2],
            [3000, 0],
            [500, 20],
        ]) {
            let values = values.map(|value: u64| Value::Count(value)).to_vec();
            statistics.set(definition.key, Value::List(values));
        }
        let text = candidates(&statistics);
        let rows: Vec<Vec<&str>> =
            text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["7", "4", "3", "0", "1", "0", "0", "1,000,", "500"]);
        assert_eq!(rows[1], ["9", "2", "0", "0", "0", "0", "2", "-,", "10"]);
    }

    #[test]
    fn shares_stand_beside_each_other() {
        let mut statistics = Statistics::new(TABLE);
        statistics.set("cycles", 1234);
        statistics.set("core.count", 2);
        statistics.set("core.active", 1);
        statistics.set("core.issue_cycles", 250);
        statistics.set("stall.true_dependence", 750);
        statistics.set("stall.never", 0);
        statistics.set("energy_pj", 2e6);
        statistics.set("energy.bank_read", 2e6);
        statistics.set("utilisation.bank", 0.5);
        let text = anstream::adapter::strip_str(&table(&statistics, "control core")).to_string();
        assert_eq!(
            text,
            "
1,234 cycles, 0 instructions on 1 of 2 control cores (IPC 0.000), 2000.0 nJ

cycles of control cores                     energy                     nJ
  true dependence      75.0 %  ███████▌       bank read            2000.0  100.0 %  ██████████
  issue                25.0 %  ██▌
                                            utilisation
                                              bank                          50.0 %  █████

"
        );
    }
}
