//! Modules, functions and what they are made of.

use cranelift_entity::PrimaryMap;
use nbcc_base::Span;
use nbcc_base::extent::{ExtentExpr, Step};

use crate::{
    Block, DataObject, Func, Inst, Interface, Kernel, LineMarks, Mem, Object, Op, Scalar,
    SourceLoop, Space, Terminator, Type, Value,
};

/// The functions and data objects of one source file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The functions.
    pub functions: PrimaryMap<Func, Function>,
    /// Variables with an address, used by functions of the model `grid`.
    pub objects: PrimaryMap<Object, DataObject>,
    /// Where the source says that it comes from. No part of the text form.
    pub lines: LineMarks,
    /// The loops of the source, where a frontend tells of them. No part of the text form.
    pub loops: Vec<SourceLoop>,
}

/// Who runs a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExecutionModel {
    /// One thread of a grid (SIMT).
    Grid,
    /// One engine of a machine (SPMD): control flow is the same in all of them.
    Engines,
    /// A single thread.
    Sequential,
}

/// A function: memory objects and a control-flow graph. Parameters are those of the entry block.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, without the `@`.
    pub name: String,
    /// Who runs it.
    pub model: ExecutionModel,
    /// What hosts need to launch it, where it is a kernel.
    pub kernel: Option<Kernel>,
    /// What hosts need to call it, where it is a sequential function that they call.
    pub interface: Option<Interface>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// Memory objects.
    pub mems: PrimaryMap<Mem, MemData>,
    /// Every instruction that was made, also those in no block any more.
    pub insts: PrimaryMap<Inst, InstData>,
    /// Every value that was made.
    pub values: PrimaryMap<Value, ValueData>,
    /// Every block that was made.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The blocks in order; the first is the entry.
    pub layout: Vec<Block>,
}

/// A memory object: an array with a size a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemData {
    /// Its name, without the `%`.
    pub name: String,
    /// The type of its elements.
    pub element: Scalar,
    /// Elements along each dimension, the fastest first.
    pub extents: Vec<Extent>,
    /// What it belongs to.
    pub space: Space,
    /// Who holds its elements.
    pub storage: Storage,
}

/// Elements along a dimension of a memory object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// So many.
    Fixed(u32),
    /// As many as the parameter of the entry block of that number says, an integer.
    Param(u32),
    /// As many as this says, of parameters of the entry block.
    Expr(ExtentExpr),
    /// As many as the caller gives.
    Given,
}

impl Extent {
    /// So many. Memory objects have no fixed extent of 0 and none of more than 31 bits: such a number
    /// is an expression, for whoever binds arguments to refuse or to take.
    pub fn constant(count: i64) -> Extent {
        match u32::try_from(count) {
            Ok(count) if count > 0 && count <= i32::MAX as u32 => Extent::Fixed(count),
            _ => Extent::Expr(ExtentExpr::new(vec![Step::Const(count)]).expect("one value")),
        }
    }
}

/// Who holds the elements of a memory object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    /// The machine, under the object's name; where the space is local, each call of the function.
    #[default]
    Own,
    /// The caller: the function's [`Interface`] has an array parameter of that name.
    Param,
    /// The module: it is this data object.
    Object(Object),
}

impl MemData {
    /// An object of fixed extents, the fastest first, that the machine or the call holds.
    pub fn new(name: impl Into<String>, element: Scalar, extents: &[u32], space: Space) -> MemData {
        let extents = extents.iter().copied().map(Extent::Fixed).collect();
        MemData { name: name.into(), element, extents, space, storage: Storage::Own }
    }

    /// Its extents, where all of them are fixed.
    pub fn fixed_extents(&self) -> Option<Vec<u32>> {
        let fixed = |extent: &Extent| match extent {
            Extent::Fixed(count) => Some(*count),
            Extent::Param(_) | Extent::Expr(_) | Extent::Given => None,
        };
        self.extents.iter().map(fixed).collect()
    }
}

/// An instruction in place.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Its results: none or one; a call may have several.
    pub results: Vec<Value>,
    /// The source it comes from.
    pub span: Option<Span>,
}

/// A value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub def: ValueDef,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// The result of that number of an instruction.
    Result(Inst, u32),
    /// The parameter of that number of a block.
    Param(Block, u32),
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// Its parameters.
    pub params: Vec<Value>,
    /// Its instructions, in order.
    pub insts: Vec<Inst>,
    /// How it ends. A block under construction has none yet; the verifier asks for one.
    pub terminator: Option<Terminator>,
    /// What is known of the loop that it heads, if it heads one.
    pub loop_info: Option<LoopInfo>,
    /// Whether it runs rarely beside what branches to it, and what it dominates with it: such code
    /// stands out of the way of the rest.
    pub cold: bool,
    /// The source that the terminator comes from.
    pub span: Option<Span>,
}

/// What is known of a loop, on its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopInfo {
    /// The source's name for its variable.
    pub name: String,
    /// How often the body runs, where that is constant.
    pub trips: Option<u64>,
    /// What counts its rounds, where that is known.
    pub counter: Option<Counter>,
}

/// A value that grows by as much each round of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// The parameter of the loop's header, an integer.
    pub value: Value,
    /// What every branch back to the header adds to it, wrapping.
    pub step: i64,
}

impl Function {
    /// A function with an empty entry block.
    pub fn new(name: impl Into<String>, model: ExecutionModel) -> Function {
        let mut function = Function {
            name: name.into(),
            model,
            kernel: None,
            interface: None,
            results: Vec::new(),
            mems: PrimaryMap::new(),
            insts: PrimaryMap::new(),
            values: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
        };
        function.add_block();
        function
    }

    /// The entry block.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// Where a function begins in the source: at its first instruction that comes from there.
    pub fn first_span(&self) -> Option<Span> {
        let insts = self.layout.iter().flat_map(|&block| &self.blocks[block].insts);
        insts.filter_map(|&inst| self.insts[inst].span).next()
    }

    /// Adds an empty block at the end of the layout.
    pub fn add_block(&mut self) -> Block {
        let block = self.blocks.push(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            terminator: None,
            loop_info: None,
            cold: false,
            span: None,
        });
        self.layout.push(block);
        block
    }

    /// Adds a parameter to a block.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let number = self.blocks[block].params.len() as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(block, number) });
        self.blocks[block].params.push(value);
        value
    }

    /// Makes an instruction that is in no block yet, with results of the given types.
    pub fn make_inst(&mut self, op: Op, types: &[Type], span: Option<Span>) -> Inst {
        let inst = self.insts.push(InstData { op, results: Vec::new(), span });
        for (number, &ty) in types.iter().enumerate() {
            let def = ValueDef::Result(inst, number as u32);
            let value = self.values.push(ValueData { ty, def });
            self.insts[inst].results.push(value);
        }
        inst
    }

    /// The only result of an instruction, if it has one.
    pub fn result(&self, inst: Inst) -> Option<Value> {
        self.insts[inst].results.first().copied()
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The instruction that makes a value; `None` for a block parameter.
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// The operation that makes a value; `None` for a block parameter.
    pub fn def_op(&self, value: Value) -> Option<&Op> {
        self.def_inst(value).map(|inst| &self.insts[inst].op)
    }

    /// The bits of a value that is a constant with the same bits in every lane.
    pub fn splat_constant(&self, value: Value) -> Option<u64> {
        match self.def_op(value)? {
            Op::Const(_, crate::Constant::Splat(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// The terminator of a block. Panics where the block is under construction.
    pub fn terminator(&self, block: Block) -> &Terminator {
        match &self.blocks[block].terminator {
            Some(terminator) => terminator,
            None => panic!("{block} of {} has no terminator", self.name),
        }
    }

    /// The types an operation's results have. A call's come from its callee: none here;
    /// nor has a grid operation whose modifiers do not fit together.
    pub fn result_types(&self, op: &Op) -> Vec<Type> {
        match op {
            Op::Const(ty, _) | Op::Load(ty, ..) | Op::LoadRaw(ty, ..) | Op::Convert(_, _, ty) => {
                vec![*ty]
            }
            Op::Unary(_, a) | Op::Binary(_, a, _) | Op::Insert(a, ..) => vec![self.ty(*a)],
            Op::Fma(a, ..) | Op::MulAdd(a, ..) => vec![self.ty(*a)],
            Op::Icmp(_, a, _) | Op::Fcmp(_, a, _) => vec![self.ty(*a).with_scalar(Scalar::I1)],
            Op::Select(_, a, _) => vec![self.ty(*a)],
            Op::Splat(a, lanes) => vec![self.ty(*a).with_lanes(*lanes)],
            Op::Extract(a, _) => vec![self.ty(*a).with_lanes(1)],
            Op::Shuffle(a, _, lanes) => vec![self.ty(*a).with_lanes(lanes.len() as u8)],
            Op::Intrinsic(call) => call.result.into_iter().collect(),
            Op::Simt(op, _) => op.signature().map(|s| s.results).unwrap_or_default(),
            Op::Store(..) | Op::StoreRaw(..) | Op::Call(..) => vec![],
        }
    }
}
