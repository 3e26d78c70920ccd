//! Short functions in which constants, equal expressions and accesses to one element meet often.

use nbcc_ir::{
    BinaryOp, Constant, ConvertOp, Effect, FloatCond, IntCond, IntrinsicCall, Mem, Op, Scalar,
    Terminator, Type, UnaryOp, Value,
};

use crate::generator::Generator;

impl Generator {
    /// A value seen by who runs the function.
    fn observe(&mut self, value: Value) {
        let ty = self.func.ty(value);
        if ty.is_vector() {
            let lane = self.rng.below(u64::from(ty.lanes)) as u8;
            let lane = self.emit_value(Op::Extract(value, lane));
            return self.observe(lane);
        }
        if ty.is_float() {
            let op = ConvertOp::FloatToFloat;
            let single = match ty {
                Type::F32 => value,
                _ => self.emit_value(Op::Convert(op, value, Type::F32)),
            };
            if ty.scalar == Scalar::F64 {
                let rounded = self.emit_value(Op::Convert(op, single, ty));
                let rest = self.emit_value(Op::Binary(BinaryOp::Fsub, value, rounded));
                let rest = self.emit_value(Op::Convert(op, rest, Type::F32));
                let at = self.i32(0);
                self.emit(Op::Store(Mem::from_u32(2), vec![at], rest));
            }
            let at = 1 + self.rng.below(31) as i32;
            let at = self.i32(at);
            self.emit(Op::Store(Mem::from_u32(2), vec![at], single));
            return;
        }
        let word = match ty.scalar.bits() {
            64 => self.emit_value(Op::Convert(ConvertOp::Truncate, value, Type::I32)),
            32 => value,
            _ => self.emit_value(Op::Convert(ConvertOp::SignExtend, value, Type::I32)),
        };
        self.emit(Op::Intrinsic(IntrinsicCall {
            name: "test.log",
            effect: Effect::Write,
            args: vec![word],
            mems: vec![],
            imms: vec![],
            result: None,
        }));
    }

    /// A value of the type made from a parameter, or a constant.
    fn seed_value(&mut self, ty: Type) -> Value {
        let word = self.func.blocks[self.func.entry()].params[self.rng.below(2) as usize];
        if ty.is_float() && self.rng.one_in(2) {
            // Lanes of the vector may be zeros, infinities and subnormals.
            let vector = self.func.blocks[self.func.entry()].params[3];
            let lane = self.rng.below(4) as u8;
            let mut scalar = self.emit_value(Op::Extract(vector, lane));
            if ty.scalar != Scalar::F32 {
                let op = ConvertOp::FloatToFloat;
                scalar = self.emit_value(Op::Convert(op, scalar, ty.with_lanes(1)));
            }
            return self.emit_lanes(scalar, ty.lanes);
        }
        let op = match (ty.is_float(), ty.scalar.bits()) {
            (true, _) => ConvertOp::SignedToFloat,
            (false, 64) => ConvertOp::SignExtend,
            (false, 32) => return self.emit_lanes(word, ty.lanes),
            (false, _) => ConvertOp::Truncate,
        };
        let scalar = self.emit_value(Op::Convert(op, word, ty.with_lanes(1)));
        self.emit_lanes(scalar, ty.lanes)
    }

    fn emit_lanes(&mut self, scalar: Value, lanes: u8) -> Value {
        if lanes == 1 { scalar } else { self.emit_value(Op::Splat(scalar, lanes)) }
    }

    /// A constant, or one of the last values of that type.
    fn dense_value(&mut self, ty: Type) -> Value {
        if self.rng.one_in(2) {
            return self.constant(ty);
        }
        self.value(ty)
    }

    fn dense_operation(&mut self, integer: Type, float: Type) -> Option<Value> {
        let ty = *self.rng.pick(&[integer, integer, float]);
        let a = self.value(ty);
        Some(match self.rng.below(14) {
            0..=4 => {
                let traps = [BinaryOp::Sdiv, BinaryOp::Udiv, BinaryOp::Srem, BinaryOp::Urem];
                let ops = BinaryOp::ALL.iter().copied();
                let ops: Vec<BinaryOp> = ops.filter(|op| op.is_float() == ty.is_float()).collect();
                let op = *self.rng.pick(&ops);
                let b = if traps.contains(&op) {
                    let bits = *self.rng.pick(&[1, 2, 3, 4, 7]);
                    if ty.scalar == Scalar::I1 {
                        return None;
                    }
                    self.emit_value(Op::Const(ty, Constant::Splat(bits)))
                } else {
                    self.dense_value(ty)
                };
                let (a, b) =
                    if self.rng.one_in(4) && !traps.contains(&op) { (b, a) } else { (a, b) };
                self.emit_value(Op::Binary(op, a, b))
            }
            5 => {
                let ops = [UnaryOp::Ineg, UnaryOp::Not, UnaryOp::Fneg, UnaryOp::Fabs];
                let half = if ty.is_float() { &ops[2..] } else { &ops[..2] };
                let op = *self.rng.pick(half);
                self.emit_value(Op::Unary(op, a))
            }
            6 | 7 => {
                let b = self.dense_value(ty);
                let (a, b) = if self.rng.one_in(3) { (b, a) } else { (a, b) };
                let truth = self.emit_value(if ty.is_float() {
                    Op::Fcmp(FloatCond::Lt, a, b)
                } else {
                    let conds = [IntCond::Eq, IntCond::Slt, IntCond::Ule, IntCond::Sge];
                    let number = self.func.insts.len() % conds.len();
                    Op::Icmp(conds[number], a, b)
                });
                if self.rng.one_in(3) {
                    self.observe(truth);
                }
                let not = self.rng.one_in(3);
                let truth =
                    if not { self.emit_value(Op::Unary(UnaryOp::Not, truth)) } else { truth };
                let (a, b) = (self.value(ty), self.dense_value(ty));
                self.emit_value(Op::Select(truth, a, b))
            }
            8 => {
                // There and back through a wider or narrower type.
                let wide = Type::I64.with_lanes(ty.lanes);
                if ty.is_float() || ty.scalar == Scalar::I64 {
                    return None;
                }
                let ops = [ConvertOp::ZeroExtend, ConvertOp::SignExtend];
                let (first, second) = (*self.rng.pick(&ops), *self.rng.pick(&ops));
                let small = ty.with_scalar(Scalar::I1);
                let a = match ty.scalar {
                    Scalar::I1 => a,
                    _ => self.emit_value(Op::Convert(ConvertOp::Truncate, a, small)),
                };
                let middle = ty.with_scalar(Scalar::I16);
                let a = self.emit_value(Op::Convert(first, a, middle));
                let a = self.emit_value(Op::Convert(second, a, wide));
                self.emit_value(Op::Convert(ConvertOp::Truncate, a, ty))
            }
            9 => {
                let wide = ty.with_lanes(4);
                let vector = if ty.is_vector() { a } else { self.emit_value(Op::Splat(a, 4)) };
                let scalar = self.dense_value(ty.with_lanes(1));
                let lane = self.rng.below(4) as u8;
                let vector = self.emit_value(Op::Insert(vector, scalar, lane));
                let lanes = (0..4).map(|_| self.rng.below(8) as u8).collect();
                let other = self.dense_value(wide);
                let lanes = if self.rng.one_in(3) { vec![0, 1, 2, 3] } else { lanes };
                let vector = self.emit_value(Op::Shuffle(vector, other, lanes));
                if ty.is_vector() { vector } else { self.emit_value(Op::Extract(vector, lane)) }
            }
            10..=12 => {
                // Three elements, two of them at known places.
                let at = match self.rng.below(3) {
                    0 => {
                        let word = self.func.blocks[self.func.entry()].params[0];
                        let mask = self.i32(3);
                        self.emit_value(Op::Binary(BinaryOp::And, word, mask))
                    }
                    n => self.i32(n as i32),
                };
                if self.rng.one_in(2) {
                    let value = self.value(Type::I32);
                    self.emit(Op::Store(Mem::from_u32(0), vec![at], value));
                    return None;
                }
                let loaded = self.emit_value(Op::Load(Type::I32, Mem::from_u32(0), vec![at]));
                self.observe(loaded);
                loaded
            }
            _ => {
                if !ty.is_float() {
                    return None;
                }
                let (b, c) = (self.dense_value(ty), self.dense_value(ty));
                let fused = self.rng.one_in(3);
                self.emit_value(if fused { Op::Fma(a, b, c) } else { Op::MulAdd(a, b, c) })
            }
        })
    }

    /// Addresses of neighbours: `(counter + constant) * pitch + base`.
    fn stencil(&mut self) {
        let counter = self.func.blocks[self.block].params[0];
        let base = self.func.blocks[self.func.entry()].params[1];
        for _ in 0..self.rng.below(4) {
            let (offset, pitch) = (self.rng.below(3) as i32 - 1, 4 + self.rng.below(2) as i32);
            let (offset, pitch) = (self.i32(offset), self.i32(pitch));
            let row = self.emit_value(Op::Binary(BinaryOp::Iadd, counter, offset));
            let start = self.emit_value(Op::Binary(BinaryOp::Imul, row, pitch));
            let sum = self.emit_value(Op::Binary(BinaryOp::Iadd, start, base));
            self.observe(sum);
        }
    }

    pub(super) fn dense(&mut self) {
        let lanes = *self.rng.pick(&[1, 1, 1, 4]);
        let integer =
            *self.rng.pick(&[Scalar::I1, Scalar::I8, Scalar::I32, Scalar::I32, Scalar::I64]);
        let float = *self.rng.pick(&[Scalar::F16, Scalar::F32, Scalar::F32, Scalar::F64]);
        let (integer, float) = (Type { scalar: integer, lanes }, Type { scalar: float, lanes });
        for ty in [integer, float] {
            self.seed_value(ty);
            self.seed_value(ty);
        }
        let in_loop = self.rng.one_in(3);
        if in_loop {
            let (header, _, entry) = self.loop_header(&[integer], Some(3));
            self.terminate(Terminator::Jump(Generator::call(header, entry)));
            let scope = self.pool.len();
            self.enter(header, scope);
        }
        if in_loop {
            self.stencil();
        }
        for _ in 0..4 + self.rng.below(12) {
            let value = self.dense_operation(integer, float);
            if let Some(value) = value.filter(|_| !self.rng.one_in(3)) {
                self.observe(value);
            }
        }
        if in_loop {
            let header = self.block;
            let counter = self.func.blocks[header].params[0];
            let (one, limit) = (self.i32(1), self.i32(3));
            let next = self.emit_value(Op::Binary(BinaryOp::Iadd, counter, one));
            let cond = self.emit_value(Op::Icmp(IntCond::Slt, next, limit));
            let carried = self.value(integer);
            let exit = self.block_of(&[]);
            let back = Generator::call(header, vec![next, carried]);
            self.terminate(Terminator::Branch(cond, back, Generator::call(exit, vec![])));
            let scope = self.pool.len();
            self.enter(exit, scope);
        }
    }
}
