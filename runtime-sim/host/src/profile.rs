//! Where a program spent its time: by function, and by source line.

use std::collections::BTreeMap;

use nbcc_isa::{Code, LineTable, SourceLine, TextSymbol};

/// What the parts of a program cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Functions in the order of their places, instructions outside of all first. Functions that
    /// nothing ran are left out.
    pub functions: Vec<ProfileFunction>,
    /// Files and lines in ascending order, instructions without a line first.
    pub lines: Vec<ProfileLine>,
}

/// What instructions cost, over all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Instructions issued, and cycles of issue.
    pub issued: u64,
    /// Cycles for which cores waited to issue them.
    pub stalled: u64,
}

/// What a function cost, without those that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFunction {
    /// Its name; `None` for instructions outside of all functions.
    pub name: Option<String>,
    /// What it cost.
    pub cost: Cost,
}

/// What a source line cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileLine {
    /// The source file and the line, from 1; `None` for instructions without one.
    pub place: Option<(String, u32)>,
    /// What it cost.
    pub cost: Cost,
    /// How often the one of its instructions was issued that was issued most.
    pub executed: u64,
}

impl Profile {
    /// Sums what each instruction of a program cost, in their order.
    pub fn new<I>(code: &Code<I>, costs: &[Cost]) -> Profile {
        Profile { functions: by_function(&code.symbols, costs), lines: by_line(&code.lines, costs) }
    }

    /// Adds operations beside the code, of lines in these files, each with how often it ran.
    pub fn add_operations(
        &mut self,
        files: &[String],
        operations: impl Iterator<Item = (Option<SourceLine>, u64)>,
    ) {
        let number = |name: &String| files.iter().position(|known| known == name);
        let mut sums: BTreeMap<Option<(usize, u32)>, (Cost, u64)> = BTreeMap::new();
        for ProfileLine { place, cost, executed } in &self.lines {
            let key = place.as_ref().and_then(|(file, line)| Some((number(file)?, *line)));
            sums.insert(key, (*cost, *executed));
        }
        for (line, runs) in operations.filter(|(_, runs)| *runs > 0) {
            let key = line.map(|line| (line.file as usize, line.line));
            let (cost, executed) = sums.entry(key).or_default();
            cost.issued += runs;
            *executed = runs.max(*executed);
        }
        let place = |(file, line): (usize, u32)| Some((files.get(file)?.clone(), line));
        let line = |(key, (cost, executed)): (Option<_>, _)| ProfileLine {
            place: key.and_then(place),
            cost,
            executed,
        };
        self.lines = sums.into_iter().map(line).collect();
    }
}

/// Sums costs under a key of each instruction, in the order of keys, each with the most issues of one
/// instruction.
fn sums<K: Ord>(costs: &[Cost], key: impl Fn(usize) -> K) -> BTreeMap<K, (Cost, u64)> {
    let mut sums: BTreeMap<K, (Cost, u64)> = BTreeMap::new();
    for (index, cost) in costs.iter().enumerate().filter(|(_, cost)| **cost != Cost::default()) {
        let (sum, executed) = sums.entry(key(index)).or_default();
        sum.issued += cost.issued;
        sum.stalled += cost.stalled;
        *executed = cost.issued.max(*executed);
    }
    sums
}

fn by_line(lines: &LineTable, costs: &[Cost]) -> Vec<ProfileLine> {
    let row = |index| lines.rows.get(index).copied().flatten();
    let name = |(file, line)| Some((lines.files.get(file as usize).cloned()?, line));
    sums(costs, |index| row(index).map(|row| (row.file, row.line)))
        .into_iter()
        .map(|(place, (cost, executed))| ProfileLine {
            place: place.and_then(name),
            cost,
            executed,
        })
        .collect()
}

fn by_function(symbols: &[TextSymbol], costs: &[Cost]) -> Vec<ProfileFunction> {
    let mut owners: Vec<Option<(u32, usize)>> = vec![None; costs.len()];
    for (id, symbol) in symbols.iter().enumerate() {
        let Some(length) = symbol.function else { continue };
        let instructions = owners.iter_mut().skip(symbol.index as usize).take(length as usize);
        instructions.for_each(|owner| *owner = Some((symbol.index, id)));
    }
    sums(costs, |index| owners[index])
        .into_iter()
        .map(|(owner, (cost, _))| ProfileFunction {
            name: owner.map(|(_, id)| symbols[id].name.clone()),
            cost,
        })
        .collect()
}
