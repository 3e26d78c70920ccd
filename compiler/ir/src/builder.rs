//! Building functions: a cursor at the end of a block.

use nbcc_base::Span;

use crate::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, Counter, Function, IntCond, LoopInfo, Mem, Op,
    Terminator, Type, UnaryOp, Value,
};

/// Appends instructions to the current block of a function.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The function being built.
    pub func: &'a mut Function,
    block: Block,
    span: Option<Span>,
    keeps_identities: bool,
}

impl<'a> Builder<'a> {
    /// A builder at the end of `block`.
    pub fn at(func: &'a mut Function, block: Block) -> Builder<'a> {
        Builder { func, block, span: None, keeps_identities: false }
    }

    /// Whether sums with 0, products by 1 and loops of one trip are built like any others, so that
    /// functions that differ in constants only have the same instructions.
    pub fn keeps_identities(&self) -> bool {
        self.keeps_identities
    }

    /// Says whether such identities are built, from here on. They are not, unless this says so.
    pub fn keep_identities(&mut self, keep: bool) {
        self.keeps_identities = keep;
    }

    /// The block instructions go to.
    pub fn block(&self) -> Block {
        self.block
    }

    /// Goes on at the end of another block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    /// The source that instructions come from, from here on.
    pub fn set_span(&mut self, span: Option<Span>) {
        self.span = span;
    }

    /// Appends an instruction; its only result, if it has one.
    pub fn op(&mut self, op: Op) -> Option<Value> {
        let types = self.func.result_types(&op);
        let inst = self.func.make_inst(op, &types, self.span);
        self.func.blocks[self.block].insts.push(inst);
        self.func.result(inst)
    }

    /// Appends an instruction that has a result. Panics where it has none.
    pub fn value(&mut self, op: Op) -> Value {
        let what = format!("{op:?}");
        self.op(op).unwrap_or_else(|| panic!("{what} has no result"))
    }

    /// A constant with these bits in every lane.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.value(Op::Const(ty, Constant::Splat(bits)))
    }

    /// A 32-bit integer.
    pub fn i32(&mut self, value: i32) -> Value {
        self.constant(Type::I32, u64::from(value as u32))
    }

    /// A binary32 float.
    pub fn f32(&mut self, value: f32) -> Value {
        self.constant(Type::F32, u64::from(value.to_bits()))
    }

    /// An operation of one operand.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        self.value(Op::Unary(op, a))
    }

    /// An operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.value(Op::Binary(op, a, b))
    }

    /// Integer sum.
    pub fn iadd(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Iadd, a, b)
    }

    /// Integer sum with a constant.
    pub fn iadd_imm(&mut self, a: Value, b: i32) -> Value {
        if b == 0 && !self.keeps_identities {
            return a;
        }
        let b = self.i32(b);
        self.iadd(a, b)
    }

    /// Integer product.
    pub fn imul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Imul, a, b)
    }

    /// Integer product with a constant.
    pub fn imul_imm(&mut self, a: Value, b: i32) -> Value {
        if b == 1 && !self.keeps_identities {
            return a;
        }
        let b = self.i32(b);
        self.imul(a, b)
    }

    /// A conversion.
    pub fn convert(&mut self, op: ConvertOp, a: Value, to: Type) -> Value {
        self.value(Op::Convert(op, a, to))
    }

    /// An element, or a vector of consecutive ones, of a memory object.
    pub fn load(&mut self, ty: Type, mem: Mem, subscripts: Vec<Value>) -> Value {
        self.value(Op::Load(ty, mem, subscripts))
    }

    /// Stores to a memory object.
    pub fn store(&mut self, mem: Mem, subscripts: Vec<Value>, value: Value) {
        self.op(Op::Store(mem, subscripts, value));
    }

    /// Ends the block.
    pub fn terminate(&mut self, terminator: Terminator) {
        let block = &mut self.func.blocks[self.block];
        block.terminator = Some(terminator);
        block.span = self.span;
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, block: Block, args: Vec<Value>) {
        self.terminate(Terminator::Jump(BlockCall { block, args }));
    }

    /// A loop `for name in 0..trips` that runs at least once: calls `body` with the counter and
    /// goes on behind the loop. `trips` must be at least 1; a loop of one trip is no loop, unless
    /// identities are kept.
    pub fn counted_loop(
        &mut self,
        name: &str,
        trips: u32,
        body: impl FnOnce(&mut Builder<'_>, Value),
    ) {
        self.carried_loop(name, trips, vec![], |b, counter, _| {
            body(b, counter);
            vec![]
        });
    }

    /// The same with values carried from one trip to the next: `body` gets the counter and the
    /// values, and gives the next values; the last ones are the result.
    pub fn carried_loop(
        &mut self,
        name: &str,
        trips: u32,
        first: Vec<Value>,
        body: impl FnOnce(&mut Builder<'_>, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        assert!(trips > 0, "loop {name} of {} runs never", self.func.name);
        let zero = self.i32(0);
        if trips == 1 && !self.keeps_identities {
            return body(self, zero, &first);
        }
        let header = self.func.add_block();
        let exit = self.func.add_block();
        let counter = self.func.add_param(header, Type::I32);
        let types: Vec<Type> = first.iter().map(|&v| self.func.ty(v)).collect();
        let carried: Vec<Value> = types.iter().map(|&ty| self.func.add_param(header, ty)).collect();
        let counts = Some(Counter { value: counter, step: 1 });
        let info =
            LoopInfo { name: name.to_string(), trips: Some(u64::from(trips)), counter: counts };
        self.func.blocks[header].loop_info = Some(info);
        self.jump(header, std::iter::once(zero).chain(first).collect());
        self.switch_to(header);
        let next_values = body(self, counter, &carried);
        let next = self.iadd_imm(counter, 1);
        let limit = self.i32(trips as i32);
        let again = self.value(Op::Icmp(IntCond::Ne, next, limit));
        let results = next_values.clone();
        let back = std::iter::once(next).chain(next_values).collect();
        let to = |block, args| BlockCall { block, args };
        self.terminate(Terminator::Branch(again, to(header, back), to(exit, vec![])));
        self.move_to_end(exit);
        self.switch_to(exit);
        results
    }

    fn move_to_end(&mut self, block: Block) {
        self.func.layout.retain(|&b| b != block);
        self.func.layout.push(block);
    }
}
