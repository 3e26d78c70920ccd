//! Kernels with their registers become a program: text in order, labels, line table, constants,
//! the prologue that tells each vault its place.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::{SourceMap, Span};
use nbcc_isa::{Imm, Instruction, LineTable, SourceLine};
use nbcc_isa_ipim::layout::Buffer;
use nbcc_isa_ipim::program::{
    Coordinate, Param, Patch, Program, Rodata, TextSymbol, resolve_labels,
};
use nbcc_isa_ipim::{Inst, Machine, PhysReg, RegClass};
use nbcc_mach::VReg;

use super::select::{LiteralPool, Selected};

/// What the control core's first registers are set to before a program runs.
const PLACE: [Coordinate; 4] =
    [Coordinate::Chip, Coordinate::Vault, Coordinate::Column, Coordinate::Row];

/// What a program has beside its kernels.
#[derive(Clone, Debug)]
pub struct Data {
    /// Buffers that the host fills or reads.
    pub buffers: Vec<Buffer>,
    /// Scalar parameters.
    pub params: Vec<Param>,
}

/// Puts a program together.
pub fn emit(
    kernels: &[(Selected, SecondaryMap<VReg, u16>)],
    pool: &LiteralPool,
    data: Data,
    machine: &Machine,
    sources: &SourceMap,
) -> Program {
    let mut out = Text::default();
    for (entry, coordinate) in PLACE.into_iter().enumerate() {
        out.prologue.push(Patch { index: entry as u32, coordinate });
        let dst = PhysReg::new(RegClass::Ctrl, entry as u16);
        out.push(Inst::SetiCrf { dst, imm: Imm::Value(0) }, None, sources);
    }
    for (number, (kernel, entries)) in kernels.iter().enumerate() {
        out.kernel(number as u32, kernel, entries, sources);
    }
    let Text { mut text, symbols, prologue, lines, labels } = out;
    let relocations = resolve_labels(&mut text, |label| labels.get(&label).copied())
        .unwrap_or_else(|label| panic!("label {label} stands nowhere"));
    let bytes = pool.atoms.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    Program {
        machine: machine.clone(),
        text,
        symbols,
        relocations,
        prologue,
        lines,
        rodata: Rodata { address: 0, bytes },
        buffers: data.buffers,
        params: data.params,
    }
}

#[derive(Default)]
struct Text {
    text: Vec<Inst<PhysReg>>,
    symbols: Vec<TextSymbol>,
    prologue: Vec<Patch>,
    lines: LineTable,
    /// Index of the instruction of each label; labels are numbered over the whole program.
    labels: BTreeMap<u32, u32>,
}

impl Text {
    fn push(&mut self, inst: Inst<PhysReg>, span: Option<Span>, sources: &SourceMap) {
        self.text.push(inst);
        let line = span.map(|span| {
            let name = &sources.get(span.source).name;
            let known = self.lines.files.iter().position(|f| f == name);
            let file = known.unwrap_or_else(|| {
                self.lines.files.push(name.clone());
                self.lines.files.len() - 1
            });
            let at = sources.start_of(span);
            SourceLine { file: file as u32, line: at.line, column: at.column }
        });
        self.lines.rows.push(line);
    }

    fn kernel(
        &mut self,
        number: u32,
        kernel: &Selected,
        entries: &SecondaryMap<VReg, u16>,
        sources: &SourceMap,
    ) {
        let func = &kernel.func;
        let first = self.text.len() as u32;
        let name = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        // Numbers of labels go on from those of the kernels before.
        let base = self.labels.last_key_value().map_or(0, |(last, _)| last + 1);
        let mut targets = Vec::new();
        for (block, data) in func.blocks.iter() {
            let index = self.text.len() as u32;
            self.labels.insert(base + block.as_u32(), index);
            for inst in &data.insts {
                if let Some(Imm::Label(target)) = inst.inst.symbolic() {
                    targets.push(target);
                }
                let mut physical: Inst<PhysReg> =
                    inst.inst.map_regs(|o| PhysReg::new(o.class, entries[*o.reg]));
                if let Some(imm) = physical.symbolic_mut()
                    && let Imm::Label(label) = imm
                {
                    *label += base;
                }
                self.push(physical, inst.span, sources);
            }
        }
        let count = self.text.len() as u32 - first;
        if count > 0 {
            let function =
                TextSymbol { name: name(&func.name), index: first, function: Some(count) };
            self.symbols.push(function);
        }
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let index = self.labels[&(base + target)];
            let name = format!("L{number}_{target}");
            self.symbols.push(TextSymbol { name, index, function: None });
        }
    }
}
