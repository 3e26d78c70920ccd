//! What a run prints: which data, where cycles and energy went, which lines took them.

use std::fmt::Write;

use nbcc_base::SourceMap;
use nbcc_sim_engine::Statistics;

use crate::simulate::ProfileLine;

/// The cycles of each source line, the costliest first, with its text where it is known.
pub fn profile(lines: &[ProfileLine], sources: &SourceMap) -> String {
    let cost = |line: &ProfileLine| line.issue_cycles + line.stall_cycles;
    let total: u64 = lines.iter().map(cost).sum();
    let mut sorted: Vec<&ProfileLine> = lines.iter().filter(|line| cost(line) > 0).collect();
    sorted.sort_by_key(|line| std::cmp::Reverse(cost(line)));
    let mut text = format!(
        "\n{:>6} {:>14} {:>14} {:>14}  source line\n",
        "share", "instructions", "issue cycles", "stall cycles"
    );
    for line in sorted {
        let share = 100.0 * cost(line) as f64 / total.max(1) as f64;
        let place = match &line.place {
            Some((file, number)) => {
                let known = sources.files().iter().find(|source| source.name == *file);
                let source = known.and_then(|source| source.line(*number)).unwrap_or_default();
                format!("{file}:{number}  {}", source.trim())
            }
            None => "(no line)".to_string(),
        };
        let _ = writeln!(
            text,
            "{share:>5.1}% {:>14} {:>14} {:>14}  {place}",
            line.instructions, line.issue_cycles, line.stall_cycles
        );
    }
    text
}

/// The statistics for people.
pub fn statistics(statistics: &Statistics) -> String {
    format!("\n{}", statistics.to_table())
}
