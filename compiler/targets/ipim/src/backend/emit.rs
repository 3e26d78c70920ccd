//! Kernels with their registers become a program: the prologue that tells each vault its place,
//! kernels that are called, then the others and the calls in order; labels, line table, constants.
//!
//! A call sets the arguments in the register files where the kernel wants them, and the address to
//! return to. No register holds anything from one kernel to the next. Merged constants that engines
//! want are put into atoms of their banks, unless they are there from the call before.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_base::{SourceMap, Span};
use nbcc_isa::{Imm, Instruction};
use nbcc_isa_ipim::layout::Buffer;
use nbcc_isa_ipim::program::{Coordinate, Param, Patch, Program, Rodata};
use nbcc_isa_ipim::{Addr, Inst, Machine, PhysReg, RegClass, SimbMask};
use nbcc_mach::VReg;
use nbcc_mach::emit::{CodeBuilder, source_place};

use super::code::{Args, LiteralPool, Selected, first_arg};
use crate::kernel::KernelCall;
use crate::memory;

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
    calls: &[KernelCall],
    pool: &mut LiteralPool,
    data: Data,
    machine: &Machine,
    sources: &SourceMap,
) -> Program {
    let place_of = |span| source_place(sources, span);
    let mut out =
        Text { code: CodeBuilder::new(&place_of), prologue: Vec::new(), atoms: BTreeMap::new() };
    for (entry, coordinate) in PLACE.into_iter().enumerate() {
        out.prologue.push(Patch { index: entry as u32, coordinate });
        let dst = PhysReg::new(RegClass::Ctrl, entry as u16);
        out.push(Inst::SetiCrf { dst, imm: Imm::Value(0) }, None);
    }
    let mut starts = BTreeMap::new();
    if kernels.iter().any(|(kernel, _)| kernel.args.is_some()) {
        let main = out.code.label();
        let target = PhysReg::new(RegClass::Ctrl, first_arg(RegClass::Ctrl));
        out.push(Inst::SetiCrf { dst: target, imm: Imm::Label(main) }, None);
        out.push(Inst::Jump { target }, None);
        for (number, &(kernel, entries)) in kernels.iter().enumerate() {
            if kernel.args.is_some() {
                starts.insert(number, out.kernel(number, kernel, entries));
            }
        }
        out.place(main, "main".to_string());
    }
    for (number, call) in calls.iter().enumerate() {
        if let Some(phase) = call.sync {
            out.push(Inst::Sync { phase }, call.place);
        }
        let (kernel, entries) = kernels[call.kernel];
        match starts.get(&call.kernel) {
            Some(&start) => out.call(number, call, (kernel, start), pool, machine),
            None => _ = out.kernel(call.kernel, kernel, entries),
        }
    }
    let bytes = pool.atoms.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    Program {
        machine: machine.clone(),
        code: out.code.finish(),
        prologue: out.prologue,
        rodata: Rodata { address: 0, bytes },
        buffers: data.buffers,
        params: data.params,
    }
}

struct Text<'a> {
    code: CodeBuilder<'a, Inst<PhysReg>>,
    prologue: Vec<Patch>,
    /// What the engines of a mask have at an address of their banks.
    atoms: BTreeMap<u32, ([u32; 4], SimbMask)>,
}

/// A name as symbols have it.
fn symbol(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

impl Text<'_> {
    fn push(&mut self, inst: Inst<PhysReg>, span: Option<Span>) {
        self.code.push(inst, span);
    }

    /// Puts a label here.
    fn place(&mut self, label: u32, name: String) {
        self.code.place(label);
        self.code.name(name, self.code.here());
    }

    fn function(&mut self, name: &str, first: u32) {
        if self.code.here() > first {
            self.code.name_function(symbol(name), first);
        }
    }

    /// Calls a kernel that begins at label `start`.
    fn call(
        &mut self,
        number: usize,
        call: &KernelCall,
        (kernel, start): (&Selected, u32),
        pool: &mut LiteralPool,
        machine: &Machine,
    ) {
        let first = self.code.here();
        let args = kernel.args.as_ref().expect("a kernel that is called has arguments");
        let mut read = BTreeSet::new();
        for inst in kernel.func.blocks.values().flat_map(|block| &block.insts) {
            inst.inst.for_each_operand(|o| {
                read.extend(kernel.func.vregs[*o.reg].fixed.map(|entry| (o.class, entry)));
            });
        }
        for (arg, &base) in (0..).zip(&call.bases) {
            let [ctrl, addr] =
                [RegClass::Ctrl, RegClass::Addr].map(|class| (class, first_arg(class) + arg));
            if read.contains(&ctrl) {
                let (dst, imm) = (PhysReg::new(ctrl.0, ctrl.1), Imm::Value(base as i32));
                self.push(Inst::SetiCrf { dst, imm }, call.place);
            }
            if read.contains(&addr) {
                let (arf, drf) = (PhysReg::new(addr.0, addr.1), PhysReg::new(RegClass::Data, arg));
                let dram = Addr::Direct(pool.address([base; 4]));
                let simb_mask = kernel.mask;
                self.push(Inst::LdRf { dram, drf, simb_mask }, call.place);
                self.push(Inst::MovArf { arf, drf, simb_mask }, call.place);
            }
        }
        self.constants(call, (kernel, args), pool, machine);
        let back = self.code.label();
        let dst = PhysReg::new(RegClass::Ctrl, args.return_entry());
        self.push(Inst::SetiCrf { dst, imm: Imm::Label(back) }, call.place);
        let target = PhysReg::new(RegClass::Ctrl, args.return_entry() + 1);
        self.push(Inst::SetiCrf { dst: target, imm: Imm::Label(start) }, call.place);
        self.push(Inst::Jump { target }, call.place);
        self.function(&call.name, first);
        self.place(back, format!("R{number}"));
    }

    /// Hands over merged constants: in control registers, and in atoms of banks.
    fn constants(
        &mut self,
        call: &KernelCall,
        (kernel, args): (&Selected, &Args),
        pool: &mut LiteralPool,
        machine: &Machine,
    ) {
        let simb_mask = kernel.mask;
        let mut read = BTreeSet::new();
        for inst in kernel.func.blocks.values().flat_map(|block| &block.insts) {
            if let Inst::LdRf { dram: Addr::Direct(address), .. } = inst.inst {
                read.insert(address);
            }
        }
        let mut stores = Vec::new();
        for (number, &atom) in (0..).zip(&call.constants) {
            if let Some(entry) = args.entry(number) {
                let dst = PhysReg::new(RegClass::Ctrl, entry);
                let imm = Imm::Value(atom[0] as i32);
                self.push(Inst::SetiCrf { dst, imm }, call.place);
            }
            let to = memory::constant(number);
            let now = (atom, simb_mask);
            if read.contains(&to) && self.atoms.insert(to, now) != Some(now) {
                stores.push((Addr::Direct(pool.address(atom)), Addr::Direct(to)));
            }
        }
        // All are loaded before the first is stored, so that none waits for one alone.
        for some in stores.chunks(machine.registers.data as usize) {
            let registers = || (0..).map(|entry| PhysReg::new(RegClass::Data, entry));
            for (&(dram, _), drf) in some.iter().zip(registers()) {
                self.push(Inst::LdRf { dram, drf, simb_mask }, call.place);
            }
            for (&(_, dram), drf) in some.iter().zip(registers()) {
                self.push(Inst::StRf { dram, drf, simb_mask }, call.place);
            }
        }
    }

    /// Puts a kernel here; returns the label of its start.
    fn kernel(
        &mut self,
        number: usize,
        kernel: &Selected,
        entries: &SecondaryMap<VReg, u16>,
    ) -> u32 {
        let first = self.code.here();
        let mut placed = self.code.function(&kernel.func, entries);
        self.function(&kernel.func.name, first);
        if kernel.args.is_some() && placed.targets.first().is_none_or(|&(block, _)| block > 0) {
            placed.targets.insert(0, (0, first));
        }
        for (block, index) in placed.targets {
            self.code.name(format!("L{number}_{block}"), index);
        }
        placed.labels
    }
}
