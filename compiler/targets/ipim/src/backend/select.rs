//! Instruction selection: kernels in the shared IR become SIMB instructions over virtual registers.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_analysis::liveness::Liveness;
use nbcc_analysis::loops::LoopForest;
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Cfg, Constant, ConvertOp, Dominators, Effect, Function, IntCond,
    IntrinsicCall, Op, Terminator, Value,
};
use nbcc_isa::Imm;
use nbcc_isa_ipim::{
    Addr, CompOp, FloatOp, Inst, IntOp, Memory, Mode, RegClass, SimbMask, Source, VecMask,
};
use nbcc_mach::{Block as MBlock, BlockData, InstData, MemoryAccess, VReg, copies};
use nbcc_placement::Origin;

use super::code::{Args, LiteralPool, MachFunction, Recipe, Selected, first_arg};
use super::{provenance, scalars};
use crate::intrinsics::*;
use crate::kernel::Kernel;
use crate::memory;
use crate::passes::frequency::{block_runs, cold};
use crate::passes::place::{Places, immediate};

/// A block that runs so many times finds the addresses to which it jumps in registers.
const MIN_RUNS: u64 = 4;

/// Selects instructions for a kernel whose operations are all legal.
pub fn select(kernel: &Kernel, places: Places, pool: &mut LiteralPool) -> Selected {
    let func = &kernel.func;
    let cfg = Cfg::new(func);
    let dominators = Dominators::new(func);
    let forest = LoopForest::new(&cfg, &dominators);
    let liveness = Liveness::new(func, &cfg);
    let args = kernel.args.as_ref().map(|args| Args {
        addresses: args.len() as u16,
        constants: constants_in_ctrl(func, &places),
    });
    let mut select = Select {
        kernel,
        func,
        out: MachFunction::new(func.name.clone()),
        regs: BTreeMap::new(),
        blocks: SecondaryMap::with_default(MBlock::from_u32(0)),
        splits: BTreeMap::new(),
        labels: BTreeMap::new(),
        keeps_labels: !requests(func),
        read: scalars::read(func, &places),
        places,
        pool,
        recipes: BTreeMap::new(),
        mask: SimbMask(kernel.mask),
        args,
        runs: SecondaryMap::new(),
        at: MBlock::from_u32(0),
        span: kernel.place,
        place: kernel.place,
        zero: None,
    };
    let layout = cold_behind(func, &dominators);
    select.make_blocks(&layout, &forest, &liveness);
    select.make_params();
    for &block in &layout {
        select.block(block);
    }
    select.set_labels();
    Selected {
        func: select.out,
        recipes: select.recipes,
        runs: select.runs,
        mask: select.mask,
        args: select.args,
    }
}

/// The order in which blocks are laid out: those that run rarely behind the others, but before the
/// last one, in which a kernel ends.
fn cold_behind(func: &Function, dominators: &Dominators) -> Vec<Block> {
    let is_cold = cold(func, dominators);
    let Some((&last, others)) = func.layout.split_last() else { return vec![] };
    let (cold, mut order): (Vec<Block>, Vec<Block>) =
        others.iter().copied().partition(|&block| is_cold(block));
    order.extend(cold);
    order.push(last);
    order
}

/// Whether a function asks other vaults for anything.
pub(crate) fn requests(func: &Function) -> bool {
    let mut insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    insts.any(|&inst| match &func.insts[inst].op {
        Op::Intrinsic(call) => call.name == REQ,
        _ => false,
    })
}

/// The merged constant parameters that the control core reads.
fn constants_in_ctrl(func: &Function, places: &Places) -> Vec<u16> {
    let mut found = BTreeSet::new();
    for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
        if let (Op::Intrinsic(call), Some(value)) = (&func.insts[inst].op, func.result(inst))
            && call.name == PASSED
            && places.has(value, RegClass::Ctrl)
        {
            found.insert(call.imms[0] as u16);
        }
    }
    found.into_iter().collect()
}

struct Select<'a> {
    kernel: &'a Kernel,
    func: &'a Function,
    places: Places,
    out: MachFunction,
    regs: BTreeMap<(Value, RegClass), VReg>,
    blocks: SecondaryMap<Block, MBlock>,
    /// Blocks on the edge to the given successor of a block, where copies stand.
    splits: BTreeMap<(Block, usize), MBlock>,
    /// Registers with the addresses of blocks to which something jumps often.
    labels: BTreeMap<MBlock, VReg>,
    /// Whether there are: requests under way need all control registers there are.
    keeps_labels: bool,
    /// The values that are read as they are.
    read: BTreeSet<Value>,
    pool: &'a mut LiteralPool,
    recipes: BTreeMap<VReg, Recipe>,
    /// How often each block runs, at most.
    runs: SecondaryMap<MBlock, u64>,
    mask: SimbMask,
    args: Option<Args>,
    at: MBlock,
    span: Option<Span>,
    /// The source of what has none of its own.
    place: Option<Span>,
    zero: Option<VReg>,
}

impl Select<'_> {
    fn make_blocks(&mut self, layout: &[Block], forest: &LoopForest, liveness: &Liveness) {
        let runs = block_runs(self.func);
        for &block in layout {
            let depth = forest.depth(block);
            self.blocks[block] = self.new_block(depth, runs[block]);
            let terminator = self.func.terminator(block);
            let Terminator::Branch(..) = terminator else { continue };
            for (k, to) in terminator.successors().iter().enumerate() {
                if !to.args.is_empty() && !self.copies_before(terminator, k, liveness) {
                    let split = self.new_block(depth, runs[block]);
                    self.splits.insert((block, k), split);
                }
            }
        }
    }

    fn new_block(&mut self, loop_depth: u32, runs: u64) -> MBlock {
        let block =
            self.out.blocks.push(BlockData { insts: vec![], successors: vec![], loop_depth });
        self.runs[block] = runs;
        block
    }

    /// Whether the copies for successor `k` may stand before the branch: nothing on the other way
    /// reads what they overwrite.
    fn copies_before(&self, terminator: &Terminator, k: usize, liveness: &Liveness) -> bool {
        let successors = terminator.successors();
        let params = &self.func.blocks[successors[k].block].params;
        successors.iter().enumerate().all(|(other, to)| {
            other == k
                || (to.args.is_empty()
                    && to.block != successors[k].block
                    && params.iter().all(|p| !liveness.live_in(to.block).contains(p)))
        })
    }

    fn make_params(&mut self) {
        for &block in &self.func.layout {
            for &param in &self.func.blocks[block].params {
                for place in self.places.places(param) {
                    let vreg = self.out.vreg(place);
                    self.regs.insert((param, place), vreg);
                }
            }
        }
    }

    fn emit(&mut self, inst: Inst<VReg>) {
        self.emit_access(inst, vec![]);
    }

    fn emit_access(&mut self, inst: Inst<VReg>, accesses: Vec<MemoryAccess<Memory>>) {
        let data = InstData { inst, span: self.span, accesses };
        self.out.blocks[self.at].insts.push(data);
    }

    fn reg(&self, value: Value, place: RegClass) -> VReg {
        match self.regs.get(&(value, place)) {
            Some(&vreg) => vreg,
            None => panic!("{value} of {} has no register in {place}", self.func.name),
        }
    }

    fn block(&mut self, block: Block) {
        self.at = self.blocks[block];
        self.span = self.place;
        for k in 0..self.func.blocks[block].params.len() {
            let param = self.func.blocks[block].params[k];
            self.copy_from_home(param);
        }
        for k in 0..self.func.blocks[block].insts.len() {
            let inst = self.func.blocks[block].insts[k];
            self.span = self.func.insts[inst].span.or(self.place);
            let op = &self.func.insts[inst].op;
            let result = self.func.result(inst);
            self.inst(op, result);
        }
        self.span = self.func.blocks[block].span.or(self.place);
        self.terminator(block);
    }

    /// Copies a value that is in its home register to where else it is wanted on engines.
    fn copy_from_home(&mut self, value: Value) {
        let (Some(home), Some(copy)) = (self.places.home(value), copy_of(&self.places, value))
        else {
            return;
        };
        let from = self.reg(value, home);
        let to = *self.regs.entry((value, copy)).or_insert_with(|| self.out.vreg(copy));
        let simb_mask = self.mask;
        self.emit(match copy {
            RegClass::Data => Inst::MovDrf { arf: from, drf: to, simb_mask },
            _ => Inst::MovArf { arf: to, drf: from, simb_mask },
        });
    }

    fn define(&mut self, value: Value, place: RegClass) -> VReg {
        let vreg = self.out.vreg(place);
        self.regs.insert((value, place), vreg);
        vreg
    }

    fn inst(&mut self, op: &Op, result: Option<Value>) {
        if op.effect() == Effect::Pure && result.is_none_or(|r| self.places.home(r).is_none()) {
            return;
        }
        match op {
            Op::Const(_, constant) => {
                let value = result.expect("constants have a value");
                for place in self.places.places(value).collect::<Vec<_>>() {
                    let reg = self.define(value, place);
                    self.constant(reg, place, constant);
                }
                return;
            }
            Op::Intrinsic(call) if call.name == LD_CONST => {
                let address = call.imms[0] as u32;
                let drf = self.define(result.expect("constants have a value"), RegClass::Data);
                self.recipes.insert(drf, Recipe::Pool(address));
                let inst = Inst::LdRf { dram: Addr::Direct(address), drf, simb_mask: self.mask };
                self.emit_access(inst, vec![provenance::invariant()]);
            }
            Op::Intrinsic(call) if call.name == PASSED => {
                self.constant_parameter(
                    call.imms[0] as u16,
                    result.expect("parameters have a value"),
                );
                return;
            }
            Op::Intrinsic(call) if call.effect == Effect::Pure => {
                self.id(call, result.expect("ids have a value"));
            }
            Op::Intrinsic(call) => self.effect(op, call, result),
            _ => {
                let value = result.unwrap_or_else(|| panic!("{op:?} was to be made explicit"));
                if self.places.has(value, RegClass::Ctrl) {
                    self.scalar(op, value, RegClass::Ctrl);
                }
                match self.places.home(value) {
                    Some(RegClass::Addr) => self.scalar(op, value, RegClass::Addr),
                    Some(RegClass::Data) => self.data(op, value),
                    Some(RegClass::Ctrl) | None => {}
                }
            }
        }
        if let Some(value) = result {
            self.copy_from_home(value);
        }
    }

    fn constant(&mut self, reg: VReg, place: RegClass, constant: &Constant) {
        let atom = match constant {
            Constant::Splat(bits) => [*bits as u32; 4],
            Constant::Lanes(lanes) => std::array::from_fn(|l| lanes[l % lanes.len()] as u32),
        };
        let simb_mask = self.mask;
        match place {
            RegClass::Ctrl => {
                let imm = Imm::Value(atom[0] as i32);
                self.recipes.insert(reg, Recipe::Set(imm));
                self.emit(Inst::SetiCrf { dst: reg, imm });
            }
            RegClass::Addr => {
                let address = self.pool.address([atom[0]; 4]);
                self.take_from_bank(reg, place, address);
            }
            RegClass::Data if atom == [0; 4] => {
                self.recipes.insert(reg, Recipe::Zero);
                self.emit(Inst::Reset { drf: reg, simb_mask });
            }
            RegClass::Data => {
                let address = self.pool.address(atom);
                self.take_from_bank(reg, place, address);
            }
        }
    }

    /// Takes what does not change from an atom of the bank.
    fn take_from_bank(&mut self, reg: VReg, place: RegClass, address: u32) {
        let (dram, simb_mask) = (Addr::Direct(address), self.mask);
        self.recipes.insert(reg, Recipe::Pool(address));
        let accesses = vec![provenance::invariant()];
        if place == RegClass::Data {
            return self.emit_access(Inst::LdRf { dram, drf: reg, simb_mask }, accesses);
        }
        let drf = self.out.vreg(RegClass::Data);
        self.emit_access(Inst::LdRf { dram, drf, simb_mask }, accesses);
        self.emit(Inst::MovArf { arf: reg, drf, simb_mask });
    }

    /// A merged constant parameter of the kernel.
    fn constant_parameter(&mut self, number: u16, value: Value) {
        for place in self.places.places(value).collect::<Vec<_>>() {
            if place != RegClass::Ctrl {
                let reg = self.define(value, place);
                self.take_from_bank(reg, place, memory::constant(number));
                continue;
            }
            let entry = self.args.as_ref().and_then(|args| args.entry(number));
            let entry = entry.unwrap_or_else(|| panic!("constant {number} is in no register"));
            let fixed = self.out.fixed(RegClass::Ctrl, entry);
            self.regs.insert((value, RegClass::Ctrl), fixed);
        }
    }

    /// Ids stand in reserved registers.
    fn id(&mut self, call: &IntrinsicCall, value: Value) {
        for place in self.places.places(value).collect::<Vec<_>>() {
            let entry = match (call.name, place) {
                (PE, RegClass::Addr) => 0,
                (PG, RegClass::Addr) => 1,
                (VAULT, RegClass::Addr) => 2,
                (CHIP, RegClass::Addr) => 3,
                (CHIP, RegClass::Ctrl) => 0,
                (VAULT, RegClass::Ctrl) => 1,
                (VAULT_COLUMN, RegClass::Ctrl) => 2,
                (VAULT_ROW, RegClass::Ctrl) => 3,
                (ARG, RegClass::Addr | RegClass::Ctrl) => first_arg(place) + call.imms[0] as u16,
                (_, RegClass::Data) => continue,
                (name, place) => panic!("{name} is not in {place}"),
            };
            let fixed = self.out.fixed(place, entry);
            self.regs.insert((value, place), fixed);
        }
    }

    /// Integer arithmetic in CtrlRF or AddrRF.
    fn scalar(&mut self, op: &Op, value: Value, place: RegClass) {
        let Op::Binary(op, x, y) = op else { panic!("{op:?} is not computed in {place}") };
        let op = int_op(*op).unwrap_or_else(|| panic!("{op:?} is not legal"));
        let (src1, src2) = (self.reg(*x, place), self.reg(*y, place));
        let dst = self.define(value, place);
        self.calc(place, op, dst, src1, src2);
    }

    fn calc(&mut self, place: RegClass, op: IntOp, dst: VReg, src1: VReg, src2: VReg) {
        let simb_mask = self.mask;
        self.emit(match place {
            RegClass::Ctrl => Inst::CalcCrf { op, dst, src1, src2 },
            _ => Inst::CalcArf { op, dst, src1, src2, simb_mask },
        });
    }

    fn comp(&mut self, op: CompOp, mode: Mode, dst: VReg, [src1, src2]: [VReg; 2], vec: VecMask) {
        let simb_mask = self.mask;
        self.emit(Inst::Comp { op, mode, dst, src1, src2, vec_mask: vec, simb_mask });
    }

    fn copy(&mut self, place: RegClass, dst: VReg, src: VReg) {
        match place {
            RegClass::Data => {
                self.comp(CompOp::Int(IntOp::Or), Mode::Vv, dst, [src, src], VecMask::ALL);
            }
            _ => self.calc(place, IntOp::Or, dst, src, src),
        }
    }

    /// A register that is zero in every lane.
    fn zero(&mut self) -> VReg {
        if let Some(zero) = self.zero {
            return zero;
        }
        let zero = self.out.vreg(RegClass::Data);
        let entry = self.blocks[self.func.entry()];
        let inst = Inst::Reset { drf: zero, simb_mask: self.mask };
        self.out.blocks[entry].insts.insert(0, InstData::new(inst, self.place));
        self.recipes.insert(zero, Recipe::Zero);
        self.zero = Some(zero);
        zero
    }

    /// The registers of the factors or terms of an operation on lanes, and how it takes the first.
    fn sources(&self, op: &Op, vectors: [Value; 2]) -> (Mode, [VReg; 2]) {
        let (mode, values) = match scalars::operands(self.func, &self.places, op) {
            Some(values) => (Mode::Sv, values),
            None => (Mode::Vv, vectors),
        };
        (mode, values.map(|value| self.reg(value, RegClass::Data)))
    }

    /// Arithmetic on lanes.
    fn data(&mut self, op: &Op, value: Value) {
        let get = |this: &Self, v: Value| this.reg(v, RegClass::Data);
        let or = CompOp::Int(IntOp::Or);
        match op {
            Op::Splat(..) if !self.read.contains(&value) => {}
            Op::Binary(of, x, y) => {
                let comp = comp_op(*of).unwrap_or_else(|| panic!("{of:?} is not legal"));
                let (mode, sources) = self.sources(op, [*x, *y]);
                let dst = self.define(value, RegClass::Data);
                self.comp(comp, mode, dst, sources, VecMask::ALL);
            }
            Op::MulAdd(x, y, z) => {
                let float = self.func.ty(value).is_float();
                let mac = if float { CompOp::Float(FloatOp::Mac) } else { CompOp::Int(IntOp::Mac) };
                let ((mode, sources), sum) = (self.sources(op, [*x, *y]), get(self, *z));
                let dst = self.define(value, RegClass::Data);
                self.copy(RegClass::Data, dst, sum);
                self.comp(mac, mode, dst, sources, VecMask::ALL);
            }
            Op::Convert(ConvertOp::Bitcast, x, _) => {
                let same = get(self, *x);
                self.regs.insert((value, RegClass::Data), same);
            }
            Op::Extract(x, 0) => {
                let same = get(self, *x);
                self.regs.insert((value, RegClass::Data), same);
            }
            Op::Splat(x, _) => {
                let simb_mask = self.mask;
                if self.places.home(*x) == Some(RegClass::Addr) {
                    let arf = self.reg(*x, RegClass::Addr);
                    let drf = self.define(value, RegClass::Data);
                    self.emit(Inst::MovDrf { arf, drf, simb_mask });
                } else {
                    let (lane, zero) = (get(self, *x), self.zero());
                    let dst = self.define(value, RegClass::Data);
                    self.comp(or, Mode::Sv, dst, [lane, zero], VecMask::ALL);
                }
            }
            Op::Insert(vector, scalar, lane) => {
                let (vector, scalar) = (get(self, *vector), get(self, *scalar));
                let zero = self.zero();
                let dst = self.define(value, RegClass::Data);
                self.copy(RegClass::Data, dst, vector);
                self.comp(or, Mode::Sv, dst, [scalar, zero], VecMask::new(1 << lane));
            }
            Op::Shuffle(x, y, lanes) => {
                let blend = lanes.iter().enumerate().all(|(l, &p)| usize::from(p) % 4 == l);
                assert!(blend, "{value}: lanes move in {op:?}");
                let mask = lanes.iter().enumerate().filter(|(_, p)| **p >= 4);
                let mask = mask.fold(0, |m, (l, _)| m | 1 << l);
                let (x, y) = (get(self, *x), get(self, *y));
                let dst = self.define(value, RegClass::Data);
                self.copy(RegClass::Data, dst, x);
                self.comp(or, Mode::Vv, dst, [y, y], VecMask::new(mask));
            }
            other => panic!("{value} of {}: {other:?} is not legal", self.func.name),
        }
    }

    /// Accesses of memories, requests.
    fn effect(&mut self, op: &Op, call: &IntrinsicCall, result: Option<Value>) {
        let simb_mask = SimbMask(call.imms.first().copied().unwrap_or(0) as u32);
        let address = |this: &Self, k: usize| {
            if immediate(this.func, op, k, call.args[k]) {
                Addr::Direct(this.func.splat_constant(call.args[k]).unwrap_or(0) as u32)
            } else {
                Addr::Indirect(this.reg(call.args[k], RegClass::Addr))
            }
        };
        let field = |this: &Self, k: usize| {
            if immediate(this.func, op, k, call.args[k]) {
                Source::Imm(this.func.splat_constant(call.args[k]).unwrap_or(0) as u32)
            } else {
                Source::Ctrl(this.reg(call.args[k], RegClass::Ctrl))
            }
        };
        let data = |this: &Self, k: usize| this.reg(call.args[k], RegClass::Data);
        let inst = match call.name {
            REQ => Inst::Req {
                chip: field(self, 0),
                vault: field(self, 1),
                pg: field(self, 2),
                pe: field(self, 3),
                dram: field(self, 4),
                vsm: field(self, 5),
            },
            LD_PGSM => Inst::LdPgsm { dram: address(self, 0), pgsm: address(self, 1), simb_mask },
            ST_PGSM => Inst::StPgsm { dram: address(self, 0), pgsm: address(self, 1), simb_mask },
            ST_RF => Inst::StRf { dram: address(self, 0), drf: data(self, 1), simb_mask },
            WR_PGSM => Inst::WrPgsm { pgsm: address(self, 0), drf: data(self, 1), simb_mask },
            WR_VSM => Inst::WrVsm { vsm: address(self, 0), drf: data(self, 1), simb_mask },
            LD_RF | RD_PGSM | RD_VSM => {
                let at = address(self, 0);
                let drf = self.define(result.expect("reads have a value"), RegClass::Data);
                match call.name {
                    LD_RF => Inst::LdRf { dram: at, drf, simb_mask },
                    RD_PGSM => Inst::RdPgsm { pgsm: at, drf, simb_mask },
                    _ => Inst::RdVsm { vsm: at, drf, simb_mask },
                }
            }
            other => panic!("{other} has no instruction"),
        };
        let memories: &[Memory] = match call.name {
            LD_PGSM | ST_PGSM => &[Memory::Bank, Memory::Pgsm],
            LD_RF | ST_RF => &[Memory::Bank],
            RD_PGSM | WR_PGSM => &[Memory::Pgsm],
            // What other vaults and engines do there is not known.
            _ => &[],
        };
        let known = memories.iter().enumerate().map(|(k, &memory)| {
            provenance::access(self.kernel, memory, call.mems.get(k).copied(), call.args[k])
        });
        let accesses = known.collect();
        self.emit_access(inst, accesses);
    }

    fn terminator(&mut self, block: Block) {
        match self.func.terminator(block) {
            Terminator::Return(_) => {
                // A kernel goes on with what follows it.
                let last = self.func.layout.last() == Some(&block);
                assert!(last, "{block} of {} returns before the end", self.func.name);
                if let Some(args) = &self.args {
                    let target = self.out.fixed(RegClass::Ctrl, args.return_entry());
                    self.emit(Inst::Jump { target });
                }
            }
            Terminator::Jump(to) => {
                self.copies(to);
                self.go(self.blocks[to.block], true);
            }
            Terminator::Branch(condition, then, other) => {
                let Some(Op::Icmp(cond, x, y)) = self.func.def_op(*condition) else {
                    panic!("{block} branches on no comparison")
                };
                let cond = self.condition(*cond, *x, *y);
                let mut targets = [self.blocks[then.block], self.blocks[other.block]];
                for (k, to) in [then, other].into_iter().enumerate() {
                    match self.splits.get(&(block, k)) {
                        Some(&split) => targets[k] = split,
                        None => self.copies(to),
                    }
                }
                let target = self.label(targets[0]);
                self.emit(Inst::CJump { cond, target });
                self.out.blocks[self.at].successors.push(targets[0]);
                self.go(targets[1], true);
                for (k, to) in [then, other].into_iter().enumerate() {
                    if let Some(&split) = self.splits.get(&(block, k)) {
                        self.at = split;
                        self.copies(to);
                        self.go(self.blocks[to.block], true);
                    }
                }
            }
            other => panic!("{block} ends in {other:?}"),
        }
    }

    /// A control register with the address of a block: what jumps often finds it in a register.
    fn label(&mut self, block: MBlock) -> VReg {
        let imm = Imm::Label(block.as_u32());
        if self.keeps_labels && self.runs[self.at] >= MIN_RUNS {
            return *self.labels.entry(block).or_insert_with(|| {
                let dst = self.out.vreg(RegClass::Ctrl);
                self.recipes.insert(dst, Recipe::Set(imm));
                dst
            });
        }
        let dst = self.out.vreg(RegClass::Ctrl);
        self.emit(Inst::SetiCrf { dst, imm });
        dst
    }

    /// Sets the labels that are kept in registers where the kernel begins.
    fn set_labels(&mut self) {
        let set = |(&block, &dst): (&MBlock, &VReg)| {
            let inst = Inst::SetiCrf { dst, imm: Imm::Label(block.as_u32()) };
            InstData { inst, span: self.place, accesses: vec![] }
        };
        let all: Vec<_> = self.labels.iter().map(set).collect();
        self.out.blocks[MBlock::from_u32(0)].insts.splice(0..0, all);
    }

    /// Goes on in a block: by falling through where it is the next.
    fn go(&mut self, block: MBlock, falls: bool) {
        if !(falls && block.as_u32() == self.at.as_u32() + 1) {
            let target = self.label(block);
            self.emit(Inst::Jump { target });
        }
        self.out.blocks[self.at].successors.push(block);
    }

    /// A control register that is not zero where the comparison holds.
    fn condition(&mut self, cond: IntCond, x: Value, y: Value) -> VReg {
        let to_zero = self.func.splat_constant(y) == Some(0);
        let (x, y) = (self.reg(x, RegClass::Ctrl), self.reg(y, RegClass::Ctrl));
        let op = |this: &mut Self, op: IntOp, a: VReg, b: VReg| {
            let dst = this.out.vreg(RegClass::Ctrl);
            this.calc(RegClass::Ctrl, op, dst, a, b);
            dst
        };
        let set = |this: &mut Self, n: i32| {
            let dst = this.out.vreg(RegClass::Ctrl);
            this.emit(Inst::SetiCrf { dst, imm: Imm::Value(n) });
            dst
        };
        // The sign of x - y, also where the difference leaves 32 bits.
        let less = |this: &mut Self, x: VReg, y: VReg| {
            let difference = op(this, IntOp::Sub, x, y);
            let signs = op(this, IntOp::Xor, x, y);
            let changed = op(this, IntOp::Xor, difference, x);
            let wrapped = op(this, IntOp::And, signs, changed);
            let sign = op(this, IntOp::Xor, difference, wrapped);
            let amount = set(this, 31);
            op(this, IntOp::Shr, sign, amount)
        };
        let not = |this: &mut Self, bit: VReg| {
            let one = set(this, 1);
            op(this, IntOp::Xor, bit, one)
        };
        let flip = |this: &mut Self, v: VReg| {
            let sign = set(this, i32::MIN);
            op(this, IntOp::Xor, v, sign)
        };
        match cond {
            IntCond::Ne if to_zero => x,
            IntCond::Ne => op(self, IntOp::Sub, x, y),
            IntCond::Slt | IntCond::Sge if to_zero => {
                let amount = set(self, 31);
                let bit = op(self, IntOp::Shr, x, amount);
                if cond == IntCond::Slt { bit } else { not(self, bit) }
            }
            IntCond::Eq => {
                let difference = op(self, IntOp::Sub, x, y);
                let zero = set(self, 0);
                let negated = op(self, IntOp::Sub, zero, difference);
                let either = op(self, IntOp::Or, difference, negated);
                let amount = set(self, 31);
                let differs = op(self, IntOp::Shr, either, amount);
                not(self, differs)
            }
            IntCond::Slt => less(self, x, y),
            IntCond::Sgt => less(self, y, x),
            IntCond::Sge => {
                let bit = less(self, x, y);
                not(self, bit)
            }
            IntCond::Sle => {
                let bit = less(self, y, x);
                not(self, bit)
            }
            IntCond::Ult | IntCond::Ule | IntCond::Ugt | IntCond::Uge => {
                let (x, y) = (flip(self, x), flip(self, y));
                let swapped = matches!(cond, IntCond::Ugt | IntCond::Ule);
                let bit = if swapped { less(self, y, x) } else { less(self, x, y) };
                if matches!(cond, IntCond::Ule | IntCond::Uge) { not(self, bit) } else { bit }
            }
        }
    }

    /// The copies of block arguments to parameters, all at once.
    fn copies(&mut self, to: &BlockCall) {
        let params = &self.func.blocks[to.block].params;
        let mut moves = Vec::new();
        for (&param, &arg) in params.iter().zip(&to.args) {
            for (place, origin) in self.places.all(param) {
                // A copy is made from home at the start of the block.
                if origin == Origin::Copied {
                    continue;
                }
                moves.push((self.reg(param, place), self.reg(arg, place)));
            }
        }
        let out = &mut self.out;
        for (dst, src) in copies::sequence(&moves, |like| out.vreg(out.vregs[like].class)) {
            self.copy(self.out.vregs[dst].class, dst, src);
        }
    }
}

/// The register file of engines that a value is copied to.
fn copy_of(places: &Places, value: Value) -> Option<RegClass> {
    let mut copies = places.all(value).filter(|&(_, origin)| origin == Origin::Copied);
    copies.next().map(|(place, _)| place)
}

fn int_op(op: BinaryOp) -> Option<IntOp> {
    Some(match op {
        BinaryOp::Iadd => IntOp::Add,
        BinaryOp::Isub => IntOp::Sub,
        BinaryOp::Imul => IntOp::Mul,
        BinaryOp::And => IntOp::And,
        BinaryOp::Or => IntOp::Or,
        BinaryOp::Xor => IntOp::Xor,
        BinaryOp::Shl => IntOp::Shl,
        BinaryOp::Lshr => IntOp::Shr,
        BinaryOp::Ashr => IntOp::Sra,
        _ => return None,
    })
}

fn comp_op(op: BinaryOp) -> Option<CompOp> {
    Some(match op {
        BinaryOp::Fadd => CompOp::Float(FloatOp::Add),
        BinaryOp::Fsub => CompOp::Float(FloatOp::Sub),
        BinaryOp::Fmul => CompOp::Float(FloatOp::Mul),
        other => CompOp::Int(int_op(other)?),
    })
}
