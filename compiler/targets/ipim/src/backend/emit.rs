//! Kernels with their registers become a program: the prologue that tells each vault its place,
//! kernels that are called, then the others and the calls in order; labels, line table, constants.
//!
//! A call sets the arguments in the register files where the kernel wants them, and the address to
//! return to. No register holds anything from one kernel to the next. Numbers that engines want are
//! put into atoms of their banks, unless they are there from the call before.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_base::{SourceMap, Span};
use nbcc_isa::{Code, Imm, Instruction, LineTable, SourceLine, TextSymbol, resolve_labels};
use nbcc_isa_ipim::layout::Buffer;
use nbcc_isa_ipim::program::{Coordinate, Param, Patch, Program, Rodata};
use nbcc_isa_ipim::{Addr, Inst, Machine, PhysReg, RegClass, SimbMask};
use nbcc_mach::VReg;

use super::select::{Args, LiteralPool, Selected, first_arg, number_address};
use crate::lower::share::Turn;

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
    kernels: &[(&Selected, &SecondaryMap<VReg, u16>)],
    turns: &[Turn],
    pool: &mut LiteralPool,
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
    let mut starts = BTreeMap::new();
    if kernels.iter().any(|(kernel, _)| kernel.args.is_some()) {
        let main = out.label();
        let target = PhysReg::new(RegClass::Ctrl, first_arg(RegClass::Ctrl));
        out.push(Inst::SetiCrf { dst: target, imm: Imm::Label(main) }, None, sources);
        out.push(Inst::Jump { target }, None, sources);
        for (number, &(kernel, entries)) in kernels.iter().enumerate() {
            if kernel.args.is_some() {
                starts.insert(number, out.kernel(number, kernel, entries, sources));
            }
        }
        out.place(main, "main".to_string());
    }
    for (number, turn) in turns.iter().enumerate() {
        if let Some(phase) = turn.sync {
            out.push(Inst::Sync { phase }, turn.place, sources);
        }
        let (kernel, entries) = kernels[turn.kernel];
        match starts.get(&turn.kernel) {
            Some(&start) => out.call(number, turn, (kernel, start), pool, machine, sources),
            None => _ = out.kernel(turn.kernel, kernel, entries, sources),
        }
    }
    let Text { mut text, symbols, prologue, lines, labels, .. } = out;
    let relocations = resolve_labels(&mut text, |label| labels.get(&label).copied())
        .unwrap_or_else(|label| panic!("label {label} stands nowhere"));
    let bytes = pool.atoms.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    Program {
        machine: machine.clone(),
        code: Code { text, symbols, relocations, lines },
        prologue,
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
    next_label: u32,
    /// What the engines of a mask have at an address of their banks.
    atoms: BTreeMap<u32, ([u32; 4], SimbMask)>,
}

/// A name as symbols have it.
fn symbol(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

impl Text {
    /// A label that is yet to be placed.
    fn label(&mut self) -> u32 {
        self.next_label += 1;
        self.next_label - 1
    }

    /// Puts a label here.
    fn place(&mut self, label: u32, name: String) {
        let index = self.text.len() as u32;
        self.labels.insert(label, index);
        self.symbols.push(TextSymbol { name, index, function: None });
    }

    fn function(&mut self, name: &str, first: u32) {
        let count = self.text.len() as u32 - first;
        if count > 0 {
            let name = symbol(name);
            self.symbols.push(TextSymbol { name, index: first, function: Some(count) });
        }
    }

    /// Calls a kernel that begins at label `start`.
    fn call(
        &mut self,
        number: usize,
        turn: &Turn,
        (kernel, start): (&Selected, u32),
        pool: &mut LiteralPool,
        machine: &Machine,
        sources: &SourceMap,
    ) {
        let first = self.text.len() as u32;
        let args = kernel.args.as_ref().expect("a kernel that is called has arguments");
        let mut read = BTreeSet::new();
        for inst in kernel.func.blocks.values().flat_map(|block| &block.insts) {
            inst.inst.for_each_operand(|o| {
                read.extend(kernel.func.vregs[*o.reg].fixed.map(|entry| (o.class, entry)));
            });
        }
        for (arg, &base) in (0..).zip(&turn.bases) {
            let [ctrl, addr] =
                [RegClass::Ctrl, RegClass::Addr].map(|class| (class, first_arg(class) + arg));
            if read.contains(&ctrl) {
                let (dst, imm) = (PhysReg::new(ctrl.0, ctrl.1), Imm::Value(base as i32));
                self.push(Inst::SetiCrf { dst, imm }, turn.place, sources);
            }
            if read.contains(&addr) {
                let (arf, drf) = (PhysReg::new(addr.0, addr.1), PhysReg::new(RegClass::Data, arg));
                let dram = Addr::Direct(pool.address([base; 4]));
                let simb_mask = kernel.mask;
                self.push(Inst::LdRf { dram, drf, simb_mask }, turn.place, sources);
                self.push(Inst::MovArf { arf, drf, simb_mask }, turn.place, sources);
            }
        }
        self.numbers(turn, (kernel, args), pool, machine, sources);
        let back = self.label();
        let dst = PhysReg::new(RegClass::Ctrl, args.return_entry());
        self.push(Inst::SetiCrf { dst, imm: Imm::Label(back) }, turn.place, sources);
        let target = PhysReg::new(RegClass::Ctrl, args.return_entry() + 1);
        self.push(Inst::SetiCrf { dst: target, imm: Imm::Label(start) }, turn.place, sources);
        self.push(Inst::Jump { target }, turn.place, sources);
        self.function(&turn.name, first);
        self.place(back, format!("R{number}"));
    }

    /// Hands over numbers: in control registers, and in atoms of banks.
    fn numbers(
        &mut self,
        turn: &Turn,
        (kernel, args): (&Selected, &Args),
        pool: &mut LiteralPool,
        machine: &Machine,
        sources: &SourceMap,
    ) {
        let simb_mask = kernel.mask;
        let mut read = BTreeSet::new();
        for inst in kernel.func.blocks.values().flat_map(|block| &block.insts) {
            if let Inst::LdRf { dram: Addr::Direct(address), .. } = inst.inst {
                read.insert(address);
            }
        }
        let mut stores = Vec::new();
        for (number, &atom) in (0..).zip(&turn.numbers) {
            if let Some(entry) = args.entry(number) {
                let dst = PhysReg::new(RegClass::Ctrl, entry);
                let imm = Imm::Value(atom[0] as i32);
                self.push(Inst::SetiCrf { dst, imm }, turn.place, sources);
            }
            let to = number_address(number);
            let now = (atom, simb_mask);
            if read.contains(&to) && self.atoms.insert(to, now) != Some(now) {
                stores.push((Addr::Direct(pool.address(atom)), Addr::Direct(to)));
            }
        }
        // All are loaded before the first is stored, so that none waits for one alone.
        for some in stores.chunks(machine.registers.data as usize) {
            let registers = || (0..).map(|entry| PhysReg::new(RegClass::Data, entry));
            for (&(dram, _), drf) in some.iter().zip(registers()) {
                self.push(Inst::LdRf { dram, drf, simb_mask }, turn.place, sources);
            }
            for (&(_, dram), drf) in some.iter().zip(registers()) {
                self.push(Inst::StRf { dram, drf, simb_mask }, turn.place, sources);
            }
        }
    }

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

    /// Puts a kernel here; returns the label of its start.
    fn kernel(
        &mut self,
        number: usize,
        kernel: &Selected,
        entries: &SecondaryMap<VReg, u16>,
        sources: &SourceMap,
    ) -> u32 {
        let func = &kernel.func;
        let first = self.text.len() as u32;
        // Numbers of labels go on from those of the kernels before.
        let base = self.next_label;
        self.next_label += func.blocks.len() as u32;
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
        self.function(&func.name, first);
        if kernel.args.is_some() {
            targets.push(0);
        }
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let index = self.labels[&(base + target)];
            let name = format!("L{number}_{target}");
            self.symbols.push(TextSymbol { name, index, function: None });
        }
        base
    }
}
