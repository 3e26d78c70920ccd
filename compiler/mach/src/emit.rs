//! The code of a program as it is put together: instructions with their registers, labels that are
//! numbered over the whole program, names, source lines. What stands where is the target's.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_base::{SourceMap, Span};
use nbcc_isa::{
    Code, Imm, Instruction, LineTable, MachineInstruction, PhysReg, SourceLine, TextSymbol,
    resolve_labels,
};

use crate::{Function, VReg};

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// Where a span begins; `None` where its source is not there.
pub fn source_place(sources: &SourceMap, span: Span) -> Option<SourcePlace> {
    if span.source.0 as usize >= sources.files().len() {
        return None;
    }
    let at = sources.start_of(span);
    let file = sources.get(span.source).name.clone();
    Some(SourcePlace { file, line: at.line, column: at.column })
}

/// Code in the making.
pub struct CodeBuilder<'a, M> {
    text: Vec<M>,
    symbols: Vec<TextSymbol>,
    /// The instruction at which each label stands, once it does.
    labels: Vec<Option<u32>>,
    place_of: &'a dyn Fn(Span) -> Option<SourcePlace>,
    files: Vec<String>,
    file_numbers: BTreeMap<String, u32>,
    lines: Vec<Option<SourceLine>>,
    /// The line of the last span, which many instructions share.
    last: Option<(Span, Option<SourceLine>)>,
}

/// A function that has been put into code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The label of its first block; those of the others follow.
    pub labels: u32,
    /// The blocks that its instructions name, with the instructions where they begin.
    pub targets: Vec<(u32, u32)>,
}

impl<'a, M: MachineInstruction> CodeBuilder<'a, M> {
    /// No code yet. `place_of` finds source lines.
    pub fn new(place_of: &'a dyn Fn(Span) -> Option<SourcePlace>) -> CodeBuilder<'a, M> {
        CodeBuilder {
            text: Vec::new(),
            symbols: Vec::new(),
            labels: Vec::new(),
            place_of,
            files: Vec::new(),
            file_numbers: BTreeMap::new(),
            lines: Vec::new(),
            last: None,
        }
    }

    /// The number of the next instruction.
    pub fn here(&self) -> u32 {
        self.text.len() as u32
    }

    /// Adds an instruction; labels in it are those of the program.
    pub fn push(&mut self, inst: M, span: Option<Span>) {
        self.text.push(inst);
        let line = span.and_then(|span| match self.last {
            Some((last, line)) if last == span => line,
            _ => {
                let line = self.line(span);
                self.last = Some((span, line));
                line
            }
        });
        self.lines.push(line);
    }

    fn line(&mut self, span: Span) -> Option<SourceLine> {
        let SourcePlace { file, line, column } = (self.place_of)(span)?;
        let file = *self.file_numbers.entry(file).or_insert_with_key(|name| {
            self.files.push(name.clone());
            self.files.len() as u32 - 1
        });
        Some(SourceLine { file, line, column })
    }

    /// A label that is yet to be placed.
    pub fn label(&mut self) -> u32 {
        self.labels.push(None);
        self.labels.len() as u32 - 1
    }

    /// Puts a label before the next instruction.
    pub fn place(&mut self, label: u32) {
        self.labels[label as usize] = Some(self.here());
    }

    /// Names an instruction.
    pub fn name(&mut self, name: String, index: u32) {
        self.symbols.push(TextSymbol { name, index, function: None });
    }

    /// Names the instructions from `first` on.
    pub fn name_function(&mut self, name: String, first: u32) {
        let function = Some(self.here() - first);
        self.symbols.push(TextSymbol { name, index: first, function });
    }

    /// Adds the instructions of a function with the registers that it was given.
    pub fn function<I>(&mut self, func: &Function<I>, entries: &SecondaryMap<VReg, u16>) -> Placed
    where
        I: Instruction<Reg = VReg, With<PhysReg<<I as Instruction>::Class>> = M>,
    {
        let labels = self.labels.len() as u32;
        self.labels.resize(self.labels.len() + func.blocks.len(), None);
        let mut targets = BTreeSet::new();
        for (block, data) in &func.blocks {
            self.place(labels + block.as_u32());
            for inst in &data.insts {
                let mut physical = inst
                    .inst
                    .map_regs(|operand| PhysReg::new(operand.class, entries[*operand.reg]));
                physical.for_each_symbolic_mut(|imm| {
                    if let Imm::Label(label) = imm {
                        targets.insert(*label);
                        *label += labels;
                    }
                });
                self.push(physical, inst.span);
            }
        }
        let start = |block: u32| self.labels[(labels + block) as usize].expect("a placed block");
        let targets = targets.into_iter().map(|block| (block, start(block))).collect();
        Placed { labels, targets }
    }

    /// The code, with labels replaced by addresses.
    ///
    /// # Panics
    /// A label that an instruction names stands nowhere.
    pub fn finish(mut self) -> Code<M> {
        let place = |label: u32| self.labels.get(label as usize).copied().flatten();
        let relocations = resolve_labels(&mut self.text, place)
            .unwrap_or_else(|label| panic!("label {label} stands nowhere"));
        let lines = match self.lines.iter().all(Option::is_none) {
            true => LineTable::default(),
            false => LineTable { files: self.files, rows: self.lines },
        };
        Code { text: self.text, symbols: self.symbols, relocations, lines, ..Code::default() }
    }
}
