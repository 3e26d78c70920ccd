//! Instruction selection: a function of the IR to the core's instructions over virtual registers, one
//! operation at a time (maximal munch over the definitions of operands where that saves instructions).

mod access;
mod control;
mod control_words;
mod values;
mod wide;
mod word;

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_analysis::{LoopForest, ValueRanges};
use nbcc_base::Span;
use nbcc_ir::{Cfg, Dominators, Function, Mem, Op, Type, Value};
use nbcc_isa::Instruction;
use nbcc_isa_sdpnm::core::program::{FRAME_POINTER, RETURN, ZERO};
use nbcc_isa_sdpnm::core::{Class, Inst, TrapKind};
use nbcc_mach::{Block, BlockData, InstData, VReg};

use super::MachFunction;
use super::objects::Objects;
use crate::narrow::{Upper, signed_loads};

/// A function in the core's instructions.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The instructions.
    pub func: MachFunction,
    /// Registers that are rematerialised more cheaply than they are kept.
    pub recipes: BTreeMap<VReg, Recipe>,
    /// The blocks that end the run, by their last instruction, and what they say.
    pub traps: Vec<(Block, TrapKind)>,
    /// The register that is zero.
    pub zero: VReg,
    /// The register that points to the frame.
    pub frame: VReg,
}

/// How a value is made in one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// A constant of 12 bits.
    Small(i32),
    /// A constant whose low 12 bits are zero: the others.
    Upper(u32),
    /// What lies there in the frame, which nothing changes.
    Frame(u32),
}

/// What the core has no instruction for.
#[derive(Clone, Debug)]
pub struct Unsupported {
    /// What it is.
    pub what: String,
    /// Where it is used.
    pub span: Option<Span>,
}

type Selecting<T> = Result<T, Unsupported>;

/// Selects instructions.
///
/// # Errors
/// The first operation that the core has no instructions for.
pub fn select(ir: &Function, objects: &Objects) -> Selecting<Selected> {
    let mut func = MachFunction::new(&ir.name);
    let zero = func.fixed(Class::X, ZERO);
    let frame = func.fixed(Class::X, FRAME_POINTER);
    let link = func.fixed(Class::X, RETURN);
    let (cfg, dominators) = (Cfg::new(ir), Dominators::new(ir));
    let forest = LoopForest::new(&cfg, &dominators);
    let mut selector = Selector {
        ir,
        objects,
        dominators,
        ranges: ValueRanges::new(ir),
        func,
        zero,
        frame,
        link,
        at: Block::from_u32(0),
        ir_at: ir.entry(),
        span: None,
        depth: 0,
        order: Vec::new(),
        values: SecondaryMap::new(),
        upper: SecondaryMap::new(),
        signed_loads: signed_loads(ir),
        bases: SecondaryMap::new(),
        counts: BTreeMap::new(),
        checked: BTreeMap::new(),
        addresses: BTreeMap::new(),
        prologue: Vec::new(),
        recipes: BTreeMap::new(),
        traps: Vec::new(),
    };
    let blocks: Vec<nbcc_ir::Block> = cfg.reverse_postorder().collect();
    // What runs rarely counts as if it stood in few loops.
    let depth = |block: nbcc_ir::Block| match ir.blocks[block].cold {
        true => forest.depth(block).min(COLD_DEPTH),
        false => forest.depth(block),
    };
    let mut starts = SecondaryMap::new();
    for &block in &blocks {
        starts[block] = Some(selector.new_block(depth(block)));
        for &param in &ir.blocks[block].params {
            let regs = selector.fresh(ir.ty(param));
            selector.values[param] = Some(regs);
        }
    }
    for &block in &ir.layout {
        // What nothing reaches has no code.
        let Some(start) = starts[block] else { continue };
        selector.block(block, start, depth(block), &starts)?;
    }
    Ok(selector.finish())
}

struct Selector<'a> {
    ir: &'a Function,
    objects: &'a Objects,
    dominators: Dominators,
    /// What values can be: where a subscript is inside in any case, nothing is compared.
    ranges: ValueRanges<'a>,
    func: MachFunction,
    zero: VReg,
    frame: VReg,
    link: VReg,
    /// Where instructions go.
    at: Block,
    ir_at: nbcc_ir::Block,
    span: Option<Span>,
    depth: u32,
    /// The blocks in the order of the code, those behind it aside.
    order: Vec<Block>,
    /// The registers of values: the low word, and the high one of 64 bits.
    values: SecondaryMap<Value, Option<[VReg; 2]>>,
    /// What is known of the bits above narrow values.
    upper: SecondaryMap<Value, Upper>,
    /// Narrow loads that are sign extended.
    signed_loads: SecondaryMap<Value, bool>,
    /// Registers that hold the address of an object.
    bases: SecondaryMap<Mem, Option<VReg>>,
    /// Registers that hold extents: by object and dimension, or the number of all elements.
    counts: BTreeMap<(Mem, Option<usize>), VReg>,
    /// The blocks in which subscripts of objects were found inside.
    checked: BTreeMap<(Mem, Vec<Value>), Vec<nbcc_ir::Block>>,
    /// The addresses of elements that the block at hand has computed.
    addresses: BTreeMap<(Mem, Vec<Value>), (VReg, i32)>,
    /// What is made at the start of the function for all of it.
    prologue: Vec<InstData<Inst<VReg>>>,
    recipes: BTreeMap<VReg, Recipe>,
    traps: Vec<(Block, TrapKind)>,
}

impl Selector<'_> {
    fn new_block(&mut self, loop_depth: u32) -> Block {
        let data = BlockData { insts: vec![], successors: vec![], loop_depth };
        self.func.blocks.push(data)
    }

    fn block(
        &mut self,
        block: nbcc_ir::Block,
        start: Block,
        depth: u32,
        starts: &SecondaryMap<nbcc_ir::Block, Option<Block>>,
    ) -> Selecting<()> {
        (self.at, self.ir_at, self.depth) = (start, block, depth);
        self.order.push(start);
        self.addresses.clear();
        let ir = self.ir;
        if block == ir.entry() {
            self.scalars();
        }
        for &inst in &ir.blocks[block].insts {
            self.span = ir.insts[inst].span;
            self.inst(inst)?;
        }
        self.span = ir.blocks[block].span;
        self.terminator(ir.terminator(block), starts)
    }

    /// The scalar arguments, from the frame.
    fn scalars(&mut self) {
        let params = self.ir.blocks[self.ir.entry()].params.clone();
        for (param, &offset) in params.into_iter().zip(&self.objects.scalars) {
            let regs = self.regs(param);
            let words = if self.is_wide(param) { 2 } else { 1 };
            for (word, dst) in regs.into_iter().enumerate().take(words) {
                self.load_frame(dst, offset + 4 * word as u32);
            }
            // Hosts write zeros above.
            self.upper[param] = Upper::Zeros;
        }
    }

    /// Loads an argument into a register of its own, which then need not be kept.
    fn load_frame(&mut self, dst: VReg, offset: u32) {
        self.emit(Inst::Lw { dst, offset: frame_offset(offset), base: self.frame });
        self.recipes.insert(dst, Recipe::Frame(offset));
    }

    fn inst(&mut self, inst: nbcc_ir::Inst) -> Selecting<()> {
        let ir = self.ir;
        let data = &ir.insts[inst];
        let wide = data.results.iter().any(|&value| self.is_wide(value));
        let result = data.results.first().copied();
        for &value in &data.results {
            self.check_type(ir.ty(value))?;
        }
        match (&data.op, result) {
            (Op::Const(ty, nbcc_ir::Constant::Splat(bits)), Some(result)) => {
                self.constant(result, *ty, *bits);
            }
            (Op::Load(_, mem, subscripts), Some(result)) => self.load(result, *mem, subscripts)?,
            (Op::Store(mem, subscripts, value), None) => self.store(*mem, subscripts, *value)?,
            (Op::Unary(op, a), Some(result)) if wide => self.wide_unary(*op, *a, result)?,
            (Op::Unary(op, a), Some(result)) => self.unary(*op, *a, result)?,
            (Op::Binary(op, a, b), Some(result)) if wide => {
                self.wide_binary(*op, *a, *b, result)?
            }
            (Op::Binary(op, a, b), Some(result)) => self.binary(*op, *a, *b, result)?,
            (Op::Icmp(cond, a, b), Some(result)) => {
                let truth = self.compare(*cond, *a, *b);
                self.set(result, truth);
            }
            (Op::Select(cond, a, b), Some(result)) => self.select(*cond, *a, *b, result),
            (Op::Convert(op, a, to), Some(result)) => self.convert(*op, *a, *to, result)?,
            (Op::Intrinsic(call), result) => self.intrinsic(call, result)?,
            (op, _) => return self.refuse(format!("the operation {}", name_of(op))),
        }
        Ok(())
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Selecting<T> {
        Err(Unsupported { what: what.into(), span: self.span })
    }

    fn check_type(&self, ty: Type) -> Selecting<()> {
        match ty.is_float() || ty.is_vector() {
            true => self.refuse(format!("values of type {ty}")),
            false => Ok(()),
        }
    }

    /// Puts blocks in their last order, and removes what nothing uses.
    fn finish(mut self) -> Selected {
        let entry = self.order[0];
        let first = std::mem::take(&mut self.prologue);
        self.func.blocks[entry].insts.splice(0..0, first);
        let behind = self.traps.iter().map(|(block, _)| *block);
        let order: Vec<Block> = self.order.iter().copied().chain(behind).collect();
        let mut places = SecondaryMap::new();
        for (place, &block) in order.iter().enumerate() {
            places[block] = place as u32;
        }
        let mut old = std::mem::take(&mut self.func.blocks);
        for &block in &order {
            let empty = BlockData { insts: vec![], successors: vec![], loop_depth: 0 };
            let mut data = std::mem::replace(&mut old[block], empty);
            for to in &mut data.successors {
                *to = Block::from_u32(places[*to]);
            }
            for inst in &mut data.insts {
                inst.inst.for_each_symbolic_mut(|imm| {
                    if let nbcc_isa::Imm::Label(label) = imm {
                        *label = places[Block::from_u32(*label)];
                    }
                });
            }
            self.func.blocks.push(data);
        }
        for (block, _) in &mut self.traps {
            *block = Block::from_u32(places[*block]);
        }
        remove_unused(&mut self.func);
        let Selector { func, recipes, traps, zero, frame, .. } = self;
        Selected { func, recipes, traps, zero, frame }
    }
}

/// In how many loops what runs rarely counts to be at most: the inner ones of many are mostly short.
const COLD_DEPTH: u32 = 2;

/// The offset from the register that points to the frame.
pub fn frame_offset(offset: u32) -> nbcc_isa_sdpnm::core::I12 {
    nbcc_isa_sdpnm::core::I12(offset as i32 - nbcc_isa_sdpnm::core::memory::BIAS as i32)
}

/// The name of an operation that there is no code for.
fn name_of(op: &Op) -> String {
    match op {
        Op::Unary(op, _) => format!("{op:?}"),
        Op::Binary(op, ..) => format!("{op:?}"),
        Op::Convert(op, ..) => format!("{op:?}"),
        Op::Call(..) => "call".to_string(),
        Op::Intrinsic(call) => format!("\"{}\"", call.name),
        Op::LoadRaw(..) | Op::StoreRaw(..) => "on raw memory".to_string(),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_string(),
    }
}

/// Whether an instruction does nothing but write its register.
fn is_pure(inst: &Inst<VReg>) -> bool {
    use nbcc_isa_sdpnm::core::Category;
    matches!(inst.category(), Category::Integer | Category::Multiplication)
        || matches!(
            inst,
            Inst::Lb { .. }
                | Inst::Lbu { .. }
                | Inst::Lh { .. }
                | Inst::Lhu { .. }
                | Inst::Lw { .. }
        )
}

/// Removes instructions whose results nothing uses.
fn remove_unused(func: &mut MachFunction) {
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::new();
    for data in func.blocks.values().flat_map(|block| &block.insts) {
        for used in MachFunction::uses_and_defs(&data.inst).0 {
            uses[used] += 1;
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in func.blocks.values_mut() {
            // Backwards, since what is used stands before.
            let mut kept = Vec::with_capacity(block.insts.len());
            for data in std::mem::take(&mut block.insts).into_iter().rev() {
                let (used, made) = MachFunction::uses_and_defs(&data.inst);
                if is_pure(&data.inst) && made.iter().all(|&vreg| uses[vreg] == 0) {
                    used.iter().for_each(|&vreg| uses[vreg] -= 1);
                    changed = true;
                } else {
                    kept.push(data);
                }
            }
            kept.reverse();
            block.insts = kept;
        }
    }
}
