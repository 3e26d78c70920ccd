//! Random instructions, loops, branches and graphs.

use cranelift_entity::SecondaryMap;
use nbcc_base::{SourceId, Span};
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, Counter, Dominators, Effect, ExecutionModel,
    FloatCond, Function, IntCond, IntrinsicCall, LoopInfo, Mem, MemData, Op, Scalar, Space,
    Terminator, Type, UnaryOp, Value, f64_to_f16,
};

use crate::Rng;

/// Values that may go wrong more easily than others.
fn edge_case(rng: &mut Rng, scalar: Scalar) -> u64 {
    let mask = u64::MAX >> (64 - scalar.bits());
    let floats = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -7.25, 1e-40, 1e30, f64::INFINITY, 0.1];
    match scalar {
        Scalar::F16 => u64::from(f64_to_f16(*rng.pick(&floats))),
        Scalar::F32 => u64::from((*rng.pick(&floats) as f32).to_bits()),
        Scalar::F64 => rng.pick(&floats).to_bits(),
        _ => {
            let bits = scalar.bits();
            let integers =
                [0, 1, u64::MAX, 2, 3, 4, 8, 31, 32, 1 << (bits - 1), mask >> 1, rng.bits()];
            *rng.pick(&integers) & mask
        }
    }
}

const TYPES: &[Type] = &[
    Type::I32,
    Type::I32,
    Type::I32,
    Type::F32,
    Type::F32,
    Type::I1,
    Type::I64,
    Type { scalar: Scalar::I8, lanes: 1 },
    Type { scalar: Scalar::F16, lanes: 1 },
    Type { scalar: Scalar::F64, lanes: 1 },
    Type { scalar: Scalar::F32, lanes: 4 },
    Type { scalar: Scalar::I32, lanes: 4 },
    Type { scalar: Scalar::I1, lanes: 4 },
];

const F32X4: Type = Type { scalar: Scalar::F32, lanes: 4 };

pub(super) struct Generator {
    pub(super) rng: Rng,
    pub(super) func: Function,
    pub(super) block: Block,
    /// Values that are available at the end of the current block.
    pub(super) pool: Vec<Value>,
    loops: u32,
    /// The counters of all loops so far.
    counters: Vec<Value>,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Generator {
        let mut func = Function::new(format!("random{seed}"), ExecutionModel::Engines);
        func.results = vec![Type::I32, Type::F32, F32X4];
        for (name, element, extents, space) in [
            ("a", Scalar::I32, &[16][..], Space::Global),
            ("b", Scalar::F32, &[8, 4], Space::Shared),
            ("c", Scalar::F32, &[32], Space::Local),
        ] {
            func.mems.push(MemData::new(name, element, extents, space));
        }
        let block = func.entry();
        let pool = [Type::I32, Type::I32, Type::F32, F32X4]
            .into_iter()
            .map(|ty| func.add_param(block, ty))
            .collect();
        Generator { rng: Rng::new(seed), func, block, pool, loops: 0, counters: vec![] }
    }

    pub(super) fn emit(&mut self, op: Op) -> Option<Value> {
        let number = self.func.insts.len();
        let span = (!number.is_multiple_of(3)).then(|| Span::new(SourceId(0), number, number + 1));
        let types = self.func.result_types(&op);
        let inst = self.func.make_inst(op, &types, span);
        self.func.blocks[self.block].insts.push(inst);
        let result = self.func.result(inst);
        self.pool.extend(result);
        result
    }

    pub(super) fn emit_value(&mut self, op: Op) -> Value {
        self.emit(op).expect("the operation has a result")
    }

    pub(super) fn constant(&mut self, ty: Type) -> Value {
        let rng = &mut self.rng;
        let constant = if ty.is_vector() && rng.one_in(2) {
            Constant::Lanes((0..ty.lanes).map(|_| edge_case(rng, ty.scalar)).collect())
        } else {
            Constant::Splat(edge_case(rng, ty.scalar))
        };
        self.emit_value(Op::Const(ty, constant))
    }

    pub(super) fn i32(&mut self, value: i32) -> Value {
        self.emit_value(Op::Const(Type::I32, Constant::Splat(u64::from(value as u32))))
    }

    /// A value of that type that is available here.
    pub(super) fn value(&mut self, ty: Type) -> Value {
        let known: Vec<Value> =
            self.pool.iter().copied().filter(|&v| self.func.ty(v) == ty).collect();
        if known.is_empty() || self.rng.one_in(6) {
            return self.constant(ty);
        }
        // Late values more often, so that long chains arise.
        let first = if self.rng.one_in(2) { known.len().saturating_sub(3) } else { 0 };
        *self.rng.pick(&known[first..])
    }

    /// A subscript below `extent`, a power of two, at which `lanes` elements fit.
    fn subscript(&mut self, extent: u32, lanes: u8) -> Value {
        let value = self.value(Type::I32);
        if self.rng.one_in(40) {
            return value;
        }
        let mask = self.i32((extent - 1) as i32 & !(i32::from(lanes) - 1));
        let base = self.emit_value(Op::Binary(BinaryOp::And, value, mask));
        if lanes == 1 && self.rng.one_in(3) {
            let half = self.i32(extent as i32 / 2 - 1);
            let low = self.emit_value(Op::Binary(BinaryOp::And, base, half));
            let offset = self.rng.below(u64::from(extent) / 2);
            let offset = self.i32(offset as i32);
            return self.emit_value(Op::Binary(BinaryOp::Iadd, low, offset));
        }
        base
    }

    fn access(&mut self) {
        let mem = Mem::from_u32(self.rng.below(3) as u32);
        let data = &self.func.mems[mem];
        let (element, extents) = (data.element, data.fixed_extents().expect("fixed extents"));
        let lanes = if self.rng.one_in(2) { 4 } else { 1 };
        let ty = Type { scalar: element, lanes };
        let mut subscripts = Vec::new();
        for (dim, &extent) in extents.iter().enumerate() {
            subscripts.push(self.subscript(extent, if dim == 0 { lanes } else { 1 }));
        }
        if self.rng.one_in(2) {
            self.emit(Op::Load(ty, mem, subscripts));
        } else {
            let value = self.value(ty);
            self.emit(Op::Store(mem, subscripts, value));
        }
    }

    fn conversion(&mut self) {
        let from = *self.rng.pick(TYPES);
        let to = self.rng.pick(TYPES).with_lanes(from.lanes);
        let op = match (from.is_float(), to.is_float()) {
            (false, false) if to.scalar.bits() < from.scalar.bits() => ConvertOp::Truncate,
            (false, false) if to.scalar.bits() == from.scalar.bits() => return,
            (false, false) => *self.rng.pick(&[ConvertOp::ZeroExtend, ConvertOp::SignExtend]),
            (false, true) if from.scalar.bits() == to.scalar.bits() && self.rng.one_in(3) => {
                ConvertOp::Bitcast
            }
            (false, true) => {
                *self.rng.pick(&[ConvertOp::SignedToFloat, ConvertOp::UnsignedToFloat])
            }
            (true, false) => {
                *self.rng.pick(&[ConvertOp::FloatToSigned, ConvertOp::FloatToUnsigned])
            }
            (true, true) if from == to => return,
            (true, true) => ConvertOp::FloatToFloat,
        };
        let value = self.value(from);
        self.emit(Op::Convert(op, value, to));
    }

    fn intrinsic(&mut self) {
        let (name, effect, count, imms, result) = match self.rng.below(4) {
            0 => ("test.id", Effect::Pure, 0, vec![], Some(Type::I32)),
            1 => ("test.log", Effect::Write, 1, vec![], None),
            _ => ("test.mix", Effect::Pure, 2, vec![self.rng.below(3) as i64], Some(Type::I32)),
        };
        let args = (0..count).map(|_| self.value(Type::I32)).collect();
        self.emit(Op::Intrinsic(IntrinsicCall { name, effect, args, mems: vec![], imms, result }));
    }

    /// A linear expression in the counter of a loop around, as addresses are.
    fn address(&mut self) {
        let known: Vec<Value> =
            self.counters.iter().copied().filter(|v| self.pool.contains(v)).collect();
        if known.is_empty() {
            return;
        }
        let mut sum = *self.rng.pick(&known);
        for _ in 0..=self.rng.below(3) {
            sum = match self.rng.below(4) {
                0 => {
                    let offset = self.rng.below(4) as i32 - 1;
                    let offset = self.i32(offset);
                    self.emit_value(Op::Binary(BinaryOp::Iadd, sum, offset))
                }
                1 => {
                    let value = self.value(Type::I32);
                    let op = *self.rng.pick(&[BinaryOp::Iadd, BinaryOp::Isub]);
                    self.emit_value(Op::Binary(op, value, sum))
                }
                _ => {
                    let factor = *self.rng.pick(&[3, 4, -2, 66]);
                    let factor = self.i32(factor);
                    self.emit_value(Op::Binary(BinaryOp::Imul, sum, factor))
                }
            };
        }
        if self.rng.one_in(2) {
            let name = "test.log";
            let (args, effect) = (vec![sum], Effect::Write);
            let (mems, imms) = (vec![], vec![]);
            self.emit(Op::Intrinsic(IntrinsicCall {
                name,
                effect,
                args,
                mems,
                imms,
                result: None,
            }));
        }
    }

    fn instruction(&mut self) {
        if !self.counters.is_empty() && self.rng.one_in(6) {
            return self.address();
        }
        let ty = *self.rng.pick(TYPES);
        match self.rng.below(16) {
            0..=5 => {
                let class: Vec<BinaryOp> = BinaryOp::ALL
                    .iter()
                    .copied()
                    .filter(|op| op.is_float() == ty.is_float())
                    .collect();
                let op = *self.rng.pick(&class);
                // Half of the operations are those that addresses are made of.
                let op = if !ty.is_float() && self.rng.one_in(2) {
                    *self.rng.pick(&[BinaryOp::Iadd, BinaryOp::Imul, BinaryOp::Isub])
                } else {
                    op
                };
                let (a, b) = (self.value(ty), self.value(ty));
                if matches!(op, BinaryOp::Sdiv | BinaryOp::Udiv | BinaryOp::Srem | BinaryOp::Urem) {
                    // A divisor that is no zero and, seen as signed, positive.
                    let two = self.emit_value(Op::Const(
                        ty,
                        Constant::Splat(if ty.scalar == Scalar::I1 { return } else { 2 }),
                    ));
                    let positive = self.emit_value(Op::Binary(BinaryOp::Lshr, b, two));
                    let one = self.emit_value(Op::Const(ty, Constant::Splat(1)));
                    let b = self.emit_value(Op::Binary(BinaryOp::Or, positive, one));
                    self.emit(Op::Binary(op, a, b));
                } else {
                    self.emit(Op::Binary(op, a, b));
                }
            }
            6 => {
                let class: Vec<UnaryOp> = UnaryOp::ALL
                    .iter()
                    .copied()
                    .filter(|op| op.is_float() == ty.is_float())
                    .collect();
                let op = *self.rng.pick(&class);
                let a = self.value(ty);
                self.emit(Op::Unary(op, a));
            }
            7 => {
                let (a, b) = (self.value(ty), self.value(ty));
                let op = if ty.is_float() {
                    Op::Fcmp(*self.rng.pick(FloatCond::ALL), a, b)
                } else {
                    Op::Icmp(*self.rng.pick(IntCond::ALL), a, b)
                };
                self.emit(op);
            }
            8 => {
                let cond = self.value(ty.with_scalar(Scalar::I1));
                let (a, b) = (self.value(ty), self.value(ty));
                self.emit(Op::Select(cond, a, b));
            }
            9 => self.conversion(),
            10 => {
                let float = *self.rng.pick(&[Type::F32, F32X4]);
                let (a, b, c) = (self.value(float), self.value(float), self.value(float));
                let fused = self.rng.one_in(2);
                self.emit(if fused { Op::Fma(a, b, c) } else { Op::MulAdd(a, b, c) });
            }
            11 => {
                let scalar = ty.with_lanes(1);
                let lane = self.rng.below(4) as u8;
                let vector = *self.rng.pick(&[F32X4, Type::I32.with_lanes(4)]);
                match self.rng.below(4) {
                    0 if scalar == Type::I32 || scalar == Type::F32 || scalar == Type::I1 => {
                        let a = self.value(scalar);
                        self.emit(Op::Splat(a, 4));
                    }
                    1 => {
                        let a = self.value(vector);
                        self.emit(Op::Extract(a, lane));
                    }
                    2 => {
                        let (a, b) = (self.value(vector), self.value(vector.with_lanes(1)));
                        self.emit(Op::Insert(a, b, lane));
                    }
                    _ => {
                        let (a, b) = (self.value(vector), self.value(vector));
                        let lanes = (0..4).map(|_| self.rng.below(8) as u8).collect();
                        self.emit(Op::Shuffle(a, b, lanes));
                    }
                }
            }
            12 | 13 => self.access(),
            14 => self.intrinsic(),
            _ => {
                self.constant(ty);
            }
        }
    }

    fn instructions(&mut self, most: u64) {
        for _ in 0..self.rng.below(most + 1) {
            self.instruction();
        }
    }

    pub(super) fn call(block: Block, args: Vec<Value>) -> BlockCall {
        BlockCall { block, args }
    }

    pub(super) fn terminate(&mut self, terminator: Terminator) {
        let number = self.func.insts.len();
        let data = &mut self.func.blocks[self.block];
        data.terminator = Some(terminator);
        data.span = Some(Span::new(SourceId(0), number, number));
    }

    /// Goes on in another block with the first `scope` values of the pool.
    pub(super) fn enter(&mut self, block: Block, scope: usize) {
        self.block = block;
        self.pool.truncate(scope);
        self.pool.extend(self.func.blocks[block].params.iter());
        // The layout follows the order in which blocks are filled.
        self.func.layout.retain(|&b| b != block);
        self.func.layout.push(block);
    }

    fn random_types(&mut self, most: u64) -> Vec<Type> {
        (0..self.rng.below(most + 1)).map(|_| *self.rng.pick(TYPES)).collect()
    }

    pub(super) fn block_of(&mut self, types: &[Type]) -> Block {
        let block = self.func.add_block();
        for &ty in types {
            self.func.add_param(block, ty);
        }
        block
    }

    pub(super) fn args(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    pub(super) fn region(&mut self, depth: u32) {
        for _ in 0..=self.rng.below(3) {
            self.instructions(8);
            if depth == 0 {
                continue;
            }
            match self.rng.below(5) {
                0 | 1 => self.counted_loop(depth - 1),
                2 => self.while_loop(depth - 1),
                3 => self.branches(depth - 1),
                _ => {}
            }
        }
    }

    fn branches(&mut self, depth: u32) {
        let types = self.random_types(2);
        let join = self.block_of(&types);
        let arms = 2 + self.rng.below(2) as usize;
        let blocks: Vec<Block> = (0..arms).map(|_| self.block_of(&[])).collect();
        let to = |i: usize| Generator::call(blocks[i], vec![]);
        let guarded = (arms == 2 && self.rng.one_in(2)).then(|| self.value(Type::I32));
        let terminator = if let Some(value) = guarded {
            let extent = self.i32(16);
            let cond = self.emit_value(Op::Icmp(IntCond::Ult, value, extent));
            Terminator::Branch(cond, to(0), to(1))
        } else if arms == 2 {
            let cond = self.value(Type::I1);
            Terminator::Branch(cond, to(0), to(1))
        } else {
            let value = self.value(Type::I32);
            Terminator::Switch(value, vec![to(0), to(1)], to(2))
        };
        let scope = self.pool.len();
        self.terminate(terminator);
        for &block in &blocks {
            self.enter(block, scope);
            if let Some(value) = guarded.filter(|_| block == blocks[0]) {
                self.emit(Op::Load(Type::I32, Mem::from_u32(0), vec![value]));
            }
            self.region(depth);
            if self.rng.one_in(12) {
                self.terminate(Terminator::Trap("the arm that traps".to_string()));
            } else {
                let args = self.args(&types);
                self.terminate(Terminator::Jump(Generator::call(join, args)));
            }
        }
        self.enter(join, scope);
    }

    pub(super) fn loop_header(
        &mut self,
        types: &[Type],
        trips: Option<u64>,
    ) -> (Block, Value, Vec<Value>) {
        let header = self.func.add_block();
        let counter = self.func.add_param(header, Type::I32);
        for &ty in types {
            self.func.add_param(header, ty);
        }
        let name = format!("i{}", self.loops);
        self.loops += 1;
        self.func.blocks[header].loop_info = Some(LoopInfo { name, trips, counter: None });
        self.counters.push(counter);
        let first = self.i32(0);
        let mut entry = vec![first];
        entry.extend(self.args(types));
        (header, counter, entry)
    }

    /// The next value of a loop's counter, which the header knows from here on.
    fn count(&mut self, header: Block, counter: Value, step: i32) -> Value {
        if let Some(info) = &mut self.func.blocks[header].loop_info {
            info.counter = Some(Counter { value: counter, step: step.into() });
        }
        let step = self.i32(step);
        self.emit_value(Op::Binary(BinaryOp::Iadd, counter, step))
    }

    /// A loop that tests its condition at the end.
    fn counted_loop(&mut self, depth: u32) {
        let types = self.random_types(2);
        let known = self.rng.one_in(2);
        let trips = 1 + self.rng.below(5) as i32;
        // Where it ends when the counter is the limit, that has to be one that the counter meets.
        let meets = !known && self.rng.one_in(2);
        let limit = if known {
            self.i32(trips)
        } else {
            let mask = self.i32(if meets { 7 } else { 3 });
            let value = self.value(Type::I32);
            let limit = self.emit_value(Op::Binary(BinaryOp::And, value, mask));
            let one = self.i32(i32::from(meets));
            self.emit_value(Op::Binary(BinaryOp::Iadd, limit, one))
        };
        let (header, counter, entry) = self.loop_header(&types, known.then_some(trips as u64));
        self.terminate(Terminator::Jump(Generator::call(header, entry)));
        let scope = self.pool.len();
        self.enter(header, scope);
        self.region(depth);
        let next = self.count(header, counter, 1);
        let mut again = vec![next];
        again.extend(self.args(&types));
        let goes_on = if meets { IntCond::Ne } else { IntCond::Slt };
        let cond = self.emit_value(Op::Icmp(goes_on, next, limit));
        let exit = self.block_of(&[]);
        let back = Generator::call(header, again);
        self.terminate(Terminator::Branch(cond, back, Generator::call(exit, vec![])));
        let scope = self.pool.len();
        self.enter(exit, scope);
    }

    /// A loop that tests its condition at the start.
    fn while_loop(&mut self, depth: u32) {
        let types = self.random_types(2);
        let (value, mask) = (self.value(Type::I32), self.i32(3));
        let limit = self.emit_value(Op::Binary(BinaryOp::And, value, mask));
        let (header, counter, entry) = self.loop_header(&types, None);
        let scope = self.pool.len();
        self.terminate(Terminator::Jump(Generator::call(header, entry)));
        self.enter(header, scope);
        self.instructions(3);
        let cond = self.emit_value(Op::Icmp(IntCond::Slt, counter, limit));
        let out = self.random_types(1);
        let exit = self.block_of(&out);
        let body = self.block_of(&[]);
        let args = self.args(&out);
        let stay = Generator::call(body, vec![]);
        self.terminate(Terminator::Branch(cond, stay, Generator::call(exit, args)));
        let scope = self.pool.len();
        self.enter(body, scope);
        self.region(depth);
        let step = 1 + self.rng.below(2) as i32;
        let mut again = vec![self.count(header, counter, step)];
        again.extend(self.args(&types));
        self.terminate(Terminator::Jump(Generator::call(header, again)));
        self.enter(exit, scope);
    }

    pub(super) fn finish(&mut self) {
        let types = self.func.results.clone();
        let values = self.args(&types);
        self.terminate(Terminator::Return(values));
    }

    pub(super) fn graph(&mut self) {
        let count = 1 + self.rng.below(12);
        let mut blocks = vec![self.block];
        for _ in 0..count {
            let types = self.random_types(3);
            blocks.push(self.block_of(&types));
        }
        // Edges first, arguments when every block is filled. Conditions are set later too.
        let placeholder = self.func.blocks[self.block].params[0];
        for &block in &blocks {
            let rng = &mut self.rng;
            let mut to = || Generator::call(*rng.pick(&blocks[1..]), vec![]);
            let (a, b, c) = (to(), to(), to());
            self.block = block;
            let terminator = match self.rng.below(8) {
                0 | 1 => Terminator::Jump(a),
                2..=4 => Terminator::Branch(placeholder, a, b),
                5 => Terminator::Switch(placeholder, vec![a, b], c),
                6 => Terminator::Return(vec![]),
                _ => Terminator::Trap("an end".to_string()),
            };
            self.terminate(terminator);
        }
        let dominators = Dominators::new(&self.func);
        let mut pools: SecondaryMap<Block, Vec<Value>> = SecondaryMap::new();
        let unreachable = blocks.iter().copied().filter(|&b| !dominators.is_reachable(b));
        let order: Vec<Block> = dominators.preorder().chain(unreachable).collect();
        for &block in &order {
            self.pool = dominators.immediate(block).map_or(vec![], |b| pools[b].clone());
            self.pool.extend(self.func.blocks[block].params.iter());
            self.block = block;
            self.instructions(6);
            pools[block] = std::mem::take(&mut self.pool);
        }
        for &block in &order {
            self.block = block;
            self.pool = std::mem::take(&mut pools[block]);
            let mut terminator = self.func.terminator(block).clone();
            match &mut terminator {
                Terminator::Branch(cond, ..) => *cond = self.value(Type::I1),
                Terminator::Switch(value, ..) => *value = self.value(Type::I32),
                Terminator::Return(values) => {
                    let types = self.func.results.clone();
                    *values = self.args(&types);
                }
                _ => {}
            }
            for to in terminator.successors_mut() {
                let params = self.func.blocks[to.block].params.clone();
                let types: Vec<Type> = params.iter().map(|&p| self.func.ty(p)).collect();
                to.args = self.args(&types);
            }
            self.terminate(terminator);
        }
    }
}
