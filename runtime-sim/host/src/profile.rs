//! Where a program spent its time: by source line, and by function.

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

/// What a function cost, without those that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFunction {
    /// Its name; `None` for instructions outside of all functions.
    pub name: Option<String>,
    /// Instructions issued, over all vaults.
    pub instructions: u64,
    /// Cycles of issue, over all vaults.
    pub issue_cycles: u64,
    /// Cycles for which control cores waited to issue its instructions.
    pub stall_cycles: u64,
}

/// Sums the profile of instructions over functions, in the order of their places: what belongs
/// to none comes first. Functions that nothing ran are left out.
pub fn by_function(program: &Program, profile: &[PcProfile]) -> Vec<ProfileFunction> {
    let mut owners: Vec<Option<usize>> = vec![None; profile.len()];
    for (id, symbol) in program.symbols.iter().enumerate() {
        let Some(length) = symbol.function else { continue };
        let instructions = owners.iter_mut().skip(symbol.index as usize).take(length as usize);
        instructions.for_each(|owner| *owner = Some(id));
    }
    let mut functions: BTreeMap<Option<(u32, usize)>, PcProfile> = BTreeMap::new();
    for (entry, owner) in profile.iter().zip(owners) {
        let place = owner.map(|id| (program.symbols[id].index, id));
        let sum = functions.entry(place).or_default();
        sum.issued += entry.issued;
        sum.stalled += entry.stalled;
    }
    functions
        .into_iter()
        .filter(|(_, sum)| *sum != PcProfile::default())
        .map(|(place, sum)| ProfileFunction {
            name: place.map(|(_, id)| program.symbols[id].name.clone()),
            instructions: sum.issued,
            issue_cycles: sum.issued,
            stall_cycles: sum.stalled,
        })
        .collect()
}
