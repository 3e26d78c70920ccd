//! A second machine: a loop by the words of isa/sdpnm/src/config alone, with every value of every
//! iteration kept by name. Slow, and without time.

use std::collections::BTreeMap;

use nbcc_isa_sdpnm::Array;
use nbcc_isa_sdpnm::config::{Bit, Opcode, Package, Placed, Source, State};

/// Memory and global registers of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub shared: Vec<u8>,
    pub globals: Vec<u32>,
}

struct Naive<'a> {
    array: &'a Array,
    /// What PEs put out, by PE and the cycle in which it stands there.
    outputs: BTreeMap<(usize, i64), (u32, bool)>,
    /// What rings got, by PE, ring and iteration.
    kept: BTreeMap<(u16, u8, i64), (u32, bool)>,
    /// What rings held before.
    filled: BTreeMap<(u16, u8), u32>,
    states: BTreeMap<(u16, u16), State>,
}

/// Runs a loop whose first iteration has that number for memory; `None` where an access leaves it.
pub fn run(
    package: &Package,
    array: &Array,
    (first, iterations): (u32, u32),
    contents: &mut Contents,
) -> Option<()> {
    let mut naive = Naive {
        array,
        outputs: BTreeMap::new(),
        kept: BTreeMap::new(),
        filled: BTreeMap::new(),
        states: BTreeMap::new(),
    };
    let ii = i64::from(package.ii);
    for placed in &package.contexts {
        let control = placed.context.control;
        if let Some(number) = control.initial {
            let word = contents.globals[usize::from(number)];
            if let Some(ring) = control.keep {
                naive.filled.insert((placed.pe, ring), word);
            }
            if i64::from(placed.slot) == ii - 1 {
                naive.outputs.insert((placed.pe.into(), 0), (word, word % 2 == 1));
            }
        }
    }
    // When each operation of each iteration runs, from the first cycle on.
    let mut agenda: BTreeMap<i64, Vec<(i64, &Placed)>> = BTreeMap::new();
    for placed in package.contexts.iter().filter(|_| iterations > 0) {
        let stage = i64::from(placed.context.control.stage);
        for iteration in -stage..i64::from(iterations) {
            let cycle = (iteration + stage) * ii + i64::from(placed.slot);
            agenda.entry(cycle).or_default().push((iteration, placed));
        }
    }
    for (cycle, mut list) in agenda {
        list.sort_by_key(|(_, placed)| placed.pe);
        let before = contents.clone();
        for (iteration, placed) in list {
            let Placed { pe, slot, context, .. } = *placed;
            let control = context.control;
            let mut out = (0, false);
            if iteration < -i64::from(control.ahead) {
                let Some(number) = control.initial else { continue };
                let word = before.globals[usize::from(number)];
                out = (word, word % 2 == 1);
            } else if naive.bit(control.condition, pe, iteration, cycle) != Some(false) {
                let word = |source| naive.word(source, pe, iteration, cycle, &before);
                let (in1, in2) = (word(context.in1), word(context.in2));
                let in3 = naive.bit(context.in3, pe, iteration, cycle);
                let (memory, width) = (context.memory, context.memory.width);
                let moved = i64::from(memory.offset)
                    + i64::from(memory.stride) * (i64::from(first) + iteration);
                let address = (i64::from(in1) + moved).rem_euclid(1 << 32) as usize;
                let bytes = width.bytes() as usize;
                out = match context.op {
                    Opcode::Load => {
                        let found = before.shared.get(address..address + bytes)?;
                        let raw = (0..bytes).map(|at| u32::from(found[at]) << (8 * at)).sum();
                        (width.extend(raw), width.extend(raw) == 0)
                    }
                    Opcode::Store => {
                        let to = contents.shared.get_mut(address..address + bytes)?;
                        (0..bytes).for_each(|at| to[at] = (in2 >> (8 * at)) as u8);
                        (in2, in2 == 0)
                    }
                    op => {
                        let state = naive.states.entry((pe, slot)).or_default();
                        op.evaluate(&context.options, in1, in2, in3, state)
                    }
                };
                let is_last = iteration == i64::from(iterations) - 1;
                if let Some(number) = control.export.filter(|_| is_last) {
                    contents.globals[usize::from(number)] = out.0;
                }
            }
            if let Some(ring) = control.keep {
                naive.kept.insert((pe, ring, iteration), out);
            }
            naive.outputs.insert((pe.into(), cycle + 1), out);
        }
    }
    Some(())
}

impl Naive<'_> {
    fn output(&self, pe: u16, (r, c): (i8, i8), cycle: i64) -> (u32, bool) {
        let (row, column) = self.array.position(pe.into());
        let (row, column) = (row as i32 + i32::from(r), column as i32 + i32::from(c));
        let from = self.array.pe(row as u32, column as u32);
        self.outputs.get(&(from, cycle)).copied().unwrap_or_default()
    }

    fn ring(&self, pe: u16, ring: u8, iteration: i64) -> (u32, bool) {
        let filled = self.filled.get(&(pe, ring)).map(|&word| (word, word % 2 == 1));
        self.kept.get(&(pe, ring, iteration)).copied().or(filled).unwrap_or_default()
    }

    fn word(&self, source: Source, pe: u16, iteration: i64, cycle: i64, before: &Contents) -> u32 {
        match source {
            Source::None => 0,
            Source::Immediate(value) => value as u32,
            Source::Output(r, c) => self.output(pe, (r, c), cycle).0,
            Source::Register { ring, ago } => self.ring(pe, ring, iteration - i64::from(ago)).0,
            Source::Global(number) => before.globals[usize::from(number)],
        }
    }

    fn bit(&self, bit: Bit, pe: u16, iteration: i64, cycle: i64) -> Option<bool> {
        match bit {
            Bit::None => None,
            Bit::Output(r, c) => Some(self.output(pe, (r, c), cycle).1),
            Bit::Register { ring, ago } => Some(self.ring(pe, ring, iteration - i64::from(ago)).1),
        }
    }
}
