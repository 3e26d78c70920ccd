//! Where a program spent its time, by source line.

use std::collections::BTreeMap;

use nbcc_isa_ipim::Program;
use nbcc_sim_ipim::simulation::PcProfile;

/// What a source line cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileLine {
    /// The source file; `None` for instructions without a line.
    pub file: Option<String>,
    /// The line, from 1; 0 for instructions without one.
    pub line: u32,
    /// Instructions issued, over all vaults.
    pub instructions: u64,
    /// Cycles of issue, over all vaults.
    pub issue_cycles: u64,
    /// Cycles for which control cores waited to issue its instructions.
    pub stall_cycles: u64,
}

/// Sums the profile of instructions over source lines: those without a line first,
/// then files and lines in ascending order.
pub fn by_line(program: &Program, profile: &[PcProfile]) -> Vec<ProfileLine> {
    let mut lines: BTreeMap<Option<(u32, u32)>, PcProfile> = BTreeMap::new();
    for (index, entry) in profile.iter().enumerate() {
        if *entry == PcProfile::default() {
            continue;
        }
        let row = program.lines.rows.get(index).copied().flatten();
        let sum = lines.entry(row.map(|row| (row.file, row.line))).or_default();
        sum.issued += entry.issued;
        sum.stalled += entry.stalled;
    }
    lines
        .into_iter()
        .map(|(place, sum)| ProfileLine {
            file: place.and_then(|(file, _)| program.lines.files.get(file as usize).cloned()),
            line: place.map_or(0, |(_, line)| line),
            instructions: sum.issued,
            issue_cycles: sum.issued,
            stall_cycles: sum.stalled,
        })
        .collect()
}
