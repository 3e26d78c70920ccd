//! Instruction selection: a kernel in IR, without calls, becomes instructions over virtual
//! registers. A value has a register for each of its lanes: a predicate for `i1`, a word for up to
//! 32 bits (the bits above a narrow value say nothing), a pair for 64. Constants are made where
//! they are used, as immediates where they fit.
//!
//! Branches carry the immediate post-dominator of their block where threads of a warp may part
//! there, else nothing. Arguments of blocks are copied on their edges, all at once.

mod arith;
mod atomic;
mod control;
mod convert;
mod float;
mod integer;
mod lanes;
mod memory;
mod simt;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cranelift_entity::{PrimaryMap, SecondaryMap};
use nbcc_analysis::{PostDominators, Uniformity, is_grid_source, loop_order};
use nbcc_base::Span;
use nbcc_ir::{BinaryOp, Block, Cfg, Constant, Function, Module, Object, Op, Scalar, Space, Value};
use nbcc_isa_simt::operands::{Bits64, Source};
use nbcc_isa_simt::{Inst, Memory, Op as MachOp, RegClass};
use nbcc_mach::{InstData, MemoryAccess, VReg};

use super::provenance::{self, Origins};

/// A function of instructions over virtual registers.
pub type MachFunction = nbcc_mach::Function<Inst<VReg>>;

/// A kernel after selection.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The instructions.
    pub func: MachFunction,
    /// The block of the IR that each block is of; `None` where arguments are handed on between two.
    pub blocks: PrimaryMap<nbcc_mach::Block, Option<Block>>,
    /// The value that each register holds a lane of, where it is one of the IR's.
    pub values: SecondaryMap<VReg, Option<Value>>,
    /// Branches on which the threads of a warp may part, and those on which they do not.
    pub branches: [u32; 2],
}

/// What selection cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is.
    pub what: String,
    /// Where it comes from.
    pub span: Option<Span>,
}

/// A field of the machine with the name that the IR gives it.
macro_rules! same_name {
    ($($function:ident: $from:ty => $to:ty;)*) => {
        $(fn $function(from: $from) -> $to {
            let found = <$to>::ALL.iter().copied().find(|to| to.name() == from.name());
            found.unwrap_or_else(|| panic!("the machine has no {}", from.name()))
        })*
    };
}

use same_name;

type Result<T> = std::result::Result<T, String>;

/// Messages of traps, shared by the kernels of a program.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Messages {
    fn number(&mut self, message: &str) -> u32 {
        if let Some(&number) = self.numbers.get(message) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(message.to_string());
        self.numbers.insert(message.to_string(), number);
        number
    }

    /// The messages, by their numbers.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// Selects the instructions of a kernel.
///
/// # Errors
/// An operation that the machine has not.
pub fn select(
    module: &Module,
    func: &Function,
    origins: &Origins,
    messages: &mut Messages,
) -> std::result::Result<Selected, Unsupported> {
    let cfg = Cfg::new(func);
    let post = PostDominators::new(func);
    let uniformity = Uniformity::new(func, &cfg, |inst| is_grid_source(&func.insts[inst].op), &[]);
    let mut selector = Selector::new(module, func, origins, messages, post, uniformity);
    let order = loop_order(func, &cfg);
    selector.depths(&cfg);
    for &block in &order {
        let main = selector.new_block(selector.depth[block]);
        selector.block_of[block] = Some(main);
        for &param in &func.blocks[block].params {
            let regs = selector.fresh(func.ty(param));
            selector.regs[param] = regs;
        }
    }
    for &block in &order {
        selector.block(block)?;
    }
    let branches = selector.branches;
    let mut values: SecondaryMap<VReg, Option<Value>> = SecondaryMap::new();
    for (value, regs) in selector.regs.iter() {
        for &reg in regs {
            if values[reg].is_none() {
                values[reg] = Some(value);
            }
        }
    }
    let mut begun: SecondaryMap<nbcc_mach::Block, Option<Block>> = SecondaryMap::new();
    for (block, main) in selector.block_of.iter() {
        if let Some(main) = *main {
            begun[main] = Some(block);
        }
    }
    let blocks = selector.layout.iter().map(|&placed| begun[placed]).collect();
    Ok(Selected { func: selector.finish(), blocks, values, branches })
}

/// The numbers that a program gives the objects of a module which lie in global memory.
pub fn object_numbers(module: &Module) -> SecondaryMap<Object, u32> {
    let mut numbers = SecondaryMap::new();
    let placed = |space: Space| matches!(space, Space::Global | Space::Const);
    let all = module.objects.iter().filter(|(_, object)| placed(object.space));
    for (number, (id, _)) in all.enumerate() {
        numbers[id] = number as u32;
    }
    numbers
}

struct Selector<'a> {
    module: &'a Module,
    /// The number of each object in the program.
    numbers: SecondaryMap<Object, u32>,
    ir: &'a Function,
    origins: &'a Origins,
    messages: &'a mut Messages,
    post: PostDominators,
    uniformity: Uniformity,
    branches: [u32; 2],
    /// How often each value is used.
    uses: SecondaryMap<Value, u32>,
    depth: SecondaryMap<Block, u32>,
    /// The depth of the block that makes each value.
    made_at: SecondaryMap<Value, u32>,
    /// What loops count on with: sums with a parameter that are the parameter of the next trip.
    increments: HashSet<Value>,
    out: MachFunction,
    /// Blocks of the output in the order in which they are to stand.
    layout: Vec<nbcc_mach::Block>,
    block_of: SecondaryMap<Block, Option<nbcc_mach::Block>>,
    /// The register of each lane of a value.
    regs: SecondaryMap<Value, Vec<VReg>>,
    /// Constants that the current block has in registers.
    constants: HashMap<(RegClass, u64), VReg>,
    current: nbcc_mach::Block,
    span: Option<Span>,
    /// What is known of the access of the instruction that is selected.
    accesses: Vec<MemoryAccess<Memory>>,
}

/// Sums with a parameter of a block that are that parameter when the block is entered again.
fn increments(ir: &Function) -> HashSet<Value> {
    let mut found = HashSet::new();
    for &block in &ir.layout {
        for to in ir.terminator(block).successors() {
            for (&param, &arg) in ir.blocks[to.block].params.iter().zip(&to.args) {
                if let Some(&Op::Binary(BinaryOp::Iadd, a, b)) = ir.def_op(arg)
                    && (a == param || b == param)
                {
                    found.insert(arg);
                }
            }
        }
    }
    found
}

/// The class of a scalar's register.
pub(super) fn class_of(scalar: Scalar) -> RegClass {
    match scalar.bits() {
        1 => RegClass::Pred,
        64 => RegClass::Wide,
        _ => RegClass::Word,
    }
}

impl<'a> Selector<'a> {
    fn new(
        module: &'a Module,
        ir: &'a Function,
        origins: &'a Origins,
        messages: &'a mut Messages,
        post: PostDominators,
        uniformity: Uniformity,
    ) -> Selector<'a> {
        Selector {
            module,
            numbers: object_numbers(module),
            ir,
            origins,
            messages,
            post,
            uniformity,
            branches: [0; 2],
            uses: ir.use_counts(),
            depth: SecondaryMap::new(),
            made_at: SecondaryMap::new(),
            increments: increments(ir),
            out: MachFunction::new(ir.name.clone()),
            layout: Vec::new(),
            block_of: SecondaryMap::new(),
            regs: SecondaryMap::new(),
            constants: HashMap::new(),
            current: nbcc_mach::Block::from_u32(0),
            span: None,
            accesses: Vec::new(),
        }
    }

    fn depths(&mut self, cfg: &Cfg) {
        let forest = nbcc_analysis::LoopForest::new(cfg, &nbcc_ir::Dominators::new(self.ir));
        for &block in &self.ir.layout {
            let depth = forest.innermost(block).map_or(0, |l| forest.loops[l].depth);
            self.depth[block] = depth;
            for &inst in &self.ir.blocks[block].insts {
                for &result in &self.ir.insts[inst].results {
                    self.made_at[result] = depth;
                }
            }
        }
    }

    /// Whether a product becomes part of the only sum that it is for: not in a loop that finds it made.
    fn is_fused(&self, product: Value) -> bool {
        let here = self.out.blocks[self.current].loop_depth;
        self.uses[product] == 1 && self.made_at[product] >= here
    }

    fn block(&mut self, block: Block) -> std::result::Result<(), Unsupported> {
        let Some(main) = self.block_of[block] else { return Ok(()) };
        self.start(main);
        let ir = self.ir;
        for &inst in &ir.blocks[block].insts {
            let data = &ir.insts[inst];
            self.span = data.span;
            self.accesses = provenance::accesses(ir, self.origins, inst);
            let done = self.inst(&data.op, &data.results);
            done.map_err(|what| Unsupported { what, span: data.span })?;
        }
        self.span = ir.blocks[block].span;
        self.accesses.clear();
        self.terminator(block).map_err(|what| Unsupported { what, span: self.span })
    }

    fn inst(&mut self, op: &Op, results: &[Value]) -> Result<()> {
        match op {
            Op::Const(..) => Ok(()),
            Op::LoadRaw(ty, space, address, offset) => {
                self.load(*ty, *space, *address, *offset, None, None, results[0])
            }
            Op::StoreRaw(space, address, offset, value) => {
                self.store(*space, *address, *offset, *value, None, None)
            }
            Op::Simt(op, args) => self.simt(op, args, results),
            Op::Call(..) | Op::Intrinsic(_) | Op::Load(..) | Op::Store(..) => {
                Err(format!("{op:?} is no operation of a kernel"))
            }
            _ => self.plain(op, results[0]),
        }
    }

    /// A block that is not placed yet.
    fn new_block(&mut self, loop_depth: u32) -> nbcc_mach::Block {
        let data = nbcc_mach::BlockData { insts: Vec::new(), successors: Vec::new(), loop_depth };
        self.out.blocks.push(data)
    }

    /// Places a block behind the others, and goes on in it.
    fn start(&mut self, block: nbcc_mach::Block) {
        self.layout.push(block);
        self.current = block;
        self.constants.clear();
    }

    fn push(&mut self, op: MachOp<VReg>) {
        self.push_inst(Inst::from(op));
    }

    fn push_inst(&mut self, inst: Inst<VReg>) {
        let mut data = InstData::new(inst, self.span);
        if data.inst.op.space().is_some() {
            data.accesses = std::mem::take(&mut self.accesses);
        }
        self.out.blocks[self.current].insts.push(data);
    }

    fn word(&mut self) -> VReg {
        self.out.vreg(RegClass::Word)
    }

    fn wide(&mut self) -> VReg {
        self.out.vreg(RegClass::Wide)
    }

    fn pred(&mut self) -> VReg {
        self.out.vreg(RegClass::Pred)
    }

    /// New registers for the lanes of a type.
    fn fresh(&mut self, ty: nbcc_ir::Type) -> Vec<VReg> {
        (0..ty.lanes).map(|_| self.out.vreg(class_of(ty.scalar))).collect()
    }

    /// The bits of a lane of a constant.
    fn constant(&self, value: Value, lane: usize) -> Option<u64> {
        match self.ir.def_op(value)? {
            Op::Const(_, Constant::Splat(bits)) => Some(*bits),
            Op::Const(_, Constant::Lanes(lanes)) => lanes.get(lane).copied(),
            _ => None,
        }
    }

    /// A register that holds a constant, made anew once a block.
    fn materialize(&mut self, class: RegClass, bits: u64) -> VReg {
        if let Some(&known) = self.constants.get(&(class, bits)) {
            return known;
        }
        let dst = self.out.vreg(class);
        self.set(class, dst, bits);
        self.constants.insert((class, bits), dst);
        dst
    }

    /// Sets a register to a constant.
    fn set(&mut self, class: RegClass, dst: VReg, bits: u64) {
        self.push(match class {
            RegClass::Word => MachOp::Mov { dst, src: Source::Imm(bits as u32) },
            RegClass::Wide => MachOp::MovBits { dst, bits: Bits64(bits) },
            RegClass::Pred => MachOp::PredSet { dst, value: (bits & 1) as u32 },
        });
    }

    /// The register of a lane.
    fn lane(&mut self, value: Value, lane: usize) -> VReg {
        if let Some(bits) = self.constant(value, lane) {
            return self.materialize(class_of(self.ir.ty(value).scalar), bits);
        }
        self.regs[value][lane]
    }

    /// The register of a scalar.
    fn reg(&mut self, value: Value) -> VReg {
        self.lane(value, 0)
    }

    /// A lane as a source: a number where it is one that fits.
    fn source(&mut self, value: Value, lane: usize) -> Source<VReg> {
        let scalar = self.ir.ty(value).scalar;
        if let Some(bits) = self.constant(value, lane) {
            let fits = match scalar {
                Scalar::F64 => (bits as u32 == 0).then_some((bits >> 32) as u32),
                Scalar::I64 => (bits as i32 as i64 as u64 == bits).then_some(bits as u32),
                Scalar::I1 => None,
                _ => Some(bits as u32),
            };
            if let Some(number) = fits {
                return Source::Imm(number);
            }
        }
        Source::Reg(self.lane(value, lane))
    }

    /// A lane as a source of an instruction that knows no floats: 64 bits are an integer to it.
    fn bits_source(&mut self, value: Value, lane: usize) -> Source<VReg> {
        match self.constant(value, lane) {
            Some(bits) if self.ir.ty(value).scalar == Scalar::F64 => {
                match bits as i32 as i64 as u64 == bits {
                    true => Source::Imm(bits as u32),
                    false => Source::Reg(self.lane(value, lane)),
                }
            }
            _ => self.source(value, lane),
        }
    }

    /// A scalar as a source whose field has fewer bits than a register.
    fn small_source(&mut self, value: Value, bits: u32) -> Source<VReg> {
        match self.constant(value, 0) {
            Some(number) if number >> bits == 0 => Source::Imm(number as u32),
            _ => Source::Reg(self.reg(value)),
        }
    }

    /// A new register of the class of a lane of a result, which is to hold it.
    fn result(&mut self, value: Value) -> VReg {
        let reg = self.out.vreg(class_of(self.ir.ty(value).scalar));
        self.regs[value].push(reg);
        reg
    }

    /// Says that the lanes of a value are these registers.
    fn alias(&mut self, value: Value, regs: Vec<VReg>) {
        self.regs[value] = regs;
    }

    /// All lanes of a value in registers.
    fn lanes(&mut self, value: Value) -> Vec<VReg> {
        (0..usize::from(self.ir.ty(value).lanes)).map(|lane| self.lane(value, lane)).collect()
    }

    /// The register that guards an instruction, and whether it does where it is false.
    fn guard(&mut self, value: Value) -> (VReg, bool) {
        if let Some(&Op::Unary(nbcc_ir::UnaryOp::Not, inner)) = self.ir.def_op(value) {
            return (self.reg(inner), true);
        }
        (self.reg(value), false)
    }

    /// Renumbers blocks in the order of their layout, and removes what nothing reads.
    fn finish(mut self) -> MachFunction {
        control::renumber(&mut self.out, &self.layout);
        remove_unused(&mut self.out);
        self.out
    }
}

/// Removes instructions without effect whose results nothing reads.
fn remove_unused(func: &mut MachFunction) {
    use nbcc_isa::Instruction;
    use nbcc_isa_simt::Category;
    let mut reads: SecondaryMap<VReg, u32> = SecondaryMap::new();
    let mut definers: BTreeMap<VReg, Vec<(nbcc_mach::Block, usize)>> = BTreeMap::new();
    let removable = |inst: &Inst<VReg>| {
        matches!(
            inst.category(),
            Category::Integer | Category::Float | Category::Move | Category::Predicate
        )
    };
    for (block, data) in &func.blocks {
        for (at, inst) in data.insts.iter().enumerate() {
            inst.inst.for_each_operand(|operand| {
                if operand.role.reads() {
                    reads[*operand.reg] += 1;
                }
                if operand.role.writes() {
                    definers.entry(*operand.reg).or_default().push((block, at));
                }
            });
        }
    }
    let mut dead: SecondaryMap<nbcc_mach::Block, BTreeSet<usize>> = SecondaryMap::new();
    let mut work: Vec<(nbcc_mach::Block, usize)> = Vec::new();
    for (&vreg, places) in &definers {
        if reads[vreg] == 0 {
            work.extend(places);
        }
    }
    while let Some((block, at)) = work.pop() {
        let inst = &func.blocks[block].insts[at].inst;
        let (uses, defs) = MachFunction::uses_and_defs(inst);
        let needed = defs.iter().any(|&def| reads[def] > 0);
        if needed || !removable(inst) || !dead[block].insert(at) {
            continue;
        }
        for used in uses {
            reads[used] -= 1;
            if reads[used] == 0
                && let Some(places) = definers.get(&used)
            {
                work.extend(places);
            }
        }
    }
    let blocks: Vec<_> = func.blocks.keys().collect();
    for block in blocks {
        let gone = &dead[block];
        if gone.is_empty() {
            continue;
        }
        let mut at = 0;
        func.blocks[block].insts.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
}
