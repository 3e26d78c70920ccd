//! Where a program spent its time, by source line.

use std::collections::BTreeMap;

use nbcc_isa::LineTable;

/// What a source line cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileLine {
    /// The source file and the line, from 1; `None` for instructions without one.
    pub place: Option<(String, u32)>,
    /// Instructions issued, over all cores.
    pub instructions: u64,
    /// Cycles of issue, over all cores.
    pub issue_cycles: u64,
    /// Cycles for which cores waited to issue its instructions.
    pub stall_cycles: u64,
}

/// Sums what instructions cost, in their order `[issued, stalled]`, over source lines: those
/// without a line first, then files and lines in ascending order.
pub(crate) fn by_line(
    lines: &LineTable,
    costs: impl IntoIterator<Item = [u64; 2]>,
) -> Vec<ProfileLine> {
    let mut sums: BTreeMap<Option<(u32, u32)>, [u64; 2]> = BTreeMap::new();
    for (index, [issued, stalled]) in costs.into_iter().enumerate() {
        if [issued, stalled] == [0, 0] {
            continue;
        }
        let row = lines.rows.get(index).copied().flatten();
        let sum = sums.entry(row.map(|row| (row.file, row.line))).or_default();
        sum[0] += issued;
        sum[1] += stalled;
    }
    sums.into_iter()
        .map(|(place, [issued, stalled])| ProfileLine {
            place: place
                .and_then(|(file, line)| Some((lines.files.get(file as usize).cloned()?, line))),
            instructions: issued,
            issue_cycles: issued,
            stall_cycles: stalled,
        })
        .collect()
}
