//! Puts the markers of candidates into a program: instructions are inserted, and all that names
//! instructions follows.

use nbcc_isa::Imm;
use nbcc_isa_simt::{INSTRUCTION_BYTES, Op, Program};

use crate::offload::Range;

/// Where instructions are once markers stand before the ranges, which are in order and share no
/// instruction.
pub struct Places<'a> {
    ranges: &'a [Range],
}

impl<'a> Places<'a> {
    /// Of these ranges, by their instructions in the whole text.
    pub fn new(ranges: &'a [Range]) -> Places<'a> {
        Places { ranges }
    }

    /// Where an instruction is.
    pub fn of(&self, at: u32) -> u32 {
        at + self.ranges.partition_point(|range| range.first <= at) as u32
    }

    /// Where control that comes to an instruction goes first: to the marker before it, if it is the
    /// first of a range and control does not come from there.
    pub fn entered(&self, from: Option<u32>, to: u32) -> u32 {
        let range = self.ranges.binary_search_by_key(&to, |range| range.first);
        let passes_marker = range.is_ok_and(|number| {
            let Range { first, last } = self.ranges[number];
            from.is_none_or(|from| !(first..=last).contains(&from))
        });
        self.of(to) - u32::from(passes_marker)
    }
}

/// The program with `region N` before the first instruction of range N.
pub fn insert(program: &Program, ranges: &[Range]) -> Program {
    let places = Places::new(ranges);
    let mut marked = program.clone();
    let code = &mut marked.code;
    code.text.clear();
    code.lines.rows.clear();
    for (at, inst) in program.code.text.iter().enumerate() {
        let row = program.code.lines.rows.get(at);
        if let Ok(number) = ranges.binary_search_by_key(&(at as u32), |range| range.first) {
            code.text.push(Op::Region { number: number as u32 }.into());
            code.lines.rows.extend(row);
        }
        let mut inst = *inst;
        if let Op::Bra { target, reconverge } = &mut inst.op {
            for place in [target, reconverge] {
                let Imm::Value(address) = place else { continue };
                if *address >= 0 {
                    let to = *address as u32 / INSTRUCTION_BYTES;
                    let to = places.entered(Some(at as u32), to);
                    *address = (to * INSTRUCTION_BYTES) as i32;
                }
            }
        }
        code.text.push(inst);
        code.lines.rows.extend(row);
    }
    for at in &mut code.relocations {
        *at = places.of(*at);
    }
    for symbol in &mut code.symbols {
        let end = symbol.function.map(|count| places.entered(None, symbol.index + count));
        symbol.index = places.entered(None, symbol.index);
        symbol.function = end.map(|end| end - symbol.index);
    }
    for kernel in &mut marked.kernels {
        let end = places.entered(None, kernel.entry + kernel.instructions);
        kernel.entry = places.entered(None, kernel.entry);
        kernel.instructions = end - kernel.entry;
    }
    marked
}
