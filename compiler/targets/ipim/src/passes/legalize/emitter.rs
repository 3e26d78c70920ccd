//! Emits operations in the place of another: folds constants, drops operations that change
//! nothing, and gives the same value for the same operation within a block.

use cranelift_entity::SecondaryMap;
use foldhash::{HashMap, HashMapExt};
use nbcc_analysis::evaluate;
use nbcc_ir::{
    BinaryOp, Block, Builder, Constant, ConvertOp, Effect, Function, Op, Type, UnaryOp, Value,
};

use super::facts::{Facts, Floats, Interval};
use super::truth::{mask_constant, mask_type};

/// The sign bit of a float.
pub const SIGN: i32 = i32::MIN;

/// What is known across the operations of a function.
#[derive(Debug)]
pub struct State {
    block: Option<Block>,
    emitted: HashMap<Op, Value>,
    facts: Facts,
    /// Floats that were rounded to integers: how, and from what.
    rounded: SecondaryMap<Value, Option<(UnaryOp, Value)>>,
    /// Signed integers that floats were converted to: from what.
    converted: SecondaryMap<Value, Option<Value>>,
}

impl State {
    /// The state at the start of a function.
    pub fn new(func: &Function) -> State {
        State {
            block: None,
            emitted: HashMap::new(),
            facts: Facts::new(func),
            rounded: SecondaryMap::new(),
            converted: SecondaryMap::new(),
        }
    }
}

/// A mask, all ones or zero in each lane, or the opposite of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The mask.
    pub value: Value,
    /// Whether its opposite is meant.
    pub inverted: bool,
}

impl Mask {
    /// The mask itself.
    pub fn plain(value: Value) -> Mask {
        Mask { value, inverted: false }
    }

    /// The opposite.
    pub fn opposite(self) -> Mask {
        Mask { inverted: !self.inverted, ..self }
    }
}

/// Emits operations whose operands have as many lanes as those of the operation they replace.
pub struct Emitter<'e, 'f> {
    b: &'e mut Builder<'f>,
    state: &'e mut State,
    lanes: u8,
}

impl<'e, 'f> Emitter<'e, 'f> {
    /// An emitter of operations in the place of `op`.
    pub fn new(b: &'e mut Builder<'f>, state: &'e mut State, op: &Op) -> Emitter<'e, 'f> {
        if state.block != Some(b.block()) {
            state.block = Some(b.block());
            state.emitted.clear();
        }
        let lanes = match (op, op.args().first()) {
            (Op::Const(ty, _), _) => ty.lanes,
            (_, Some(&a)) => b.func.ty(a).lanes,
            (_, None) => 1,
        };
        Emitter { b, state, lanes }
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.b.func.ty(value)
    }

    /// Whether values are scalars. Scalar integers may be addresses, which only integer operations
    /// can compute.
    pub fn is_scalar(&self) -> bool {
        self.lanes == 1
    }

    /// The operation that makes a value.
    pub fn def(&self, value: Value) -> Option<&Op> {
        self.b.func.def_op(value)
    }

    /// The bits of a value that is the same constant in every lane.
    pub fn constant(&self, value: Value) -> Option<u32> {
        self.b.func.splat_constant(value).map(|bits| bits as u32)
    }

    /// A value that is the same constant in every lane, as a signed integer.
    pub fn int_constant(&self, value: Value) -> Option<i32> {
        self.constant(value).map(|bits| bits as i32)
    }

    /// A value that is the same constant in every lane, as a float.
    pub fn float_constant(&self, value: Value) -> Option<f32> {
        self.constant(value).map(f32::from_bits)
    }

    /// Where an `i32` lies.
    pub fn interval(&self, value: Value) -> Interval {
        self.state.facts.interval(self.b.func, value)
    }

    /// Where an `f32` lies.
    pub fn floats(&self, value: Value) -> Floats {
        self.state.facts.floats(self.b.func, value)
    }

    /// Keeps what the replaced operation tells about the value in its place.
    pub fn learn(&mut self, op: &Op, value: Value) {
        self.state.facts.learn(self.b.func, op, value);
        if let Op::Unary(op, from) = *op
            && matches!(op, UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Nearest | UnaryOp::Trunc)
            // An integral constant is what it is rounded to.
            && value != from
        {
            self.state.rounded[value] = Some((op, from));
        }
        if let Op::Convert(ConvertOp::FloatToSigned, from, _) = *op {
            self.state.converted[value] = Some(from);
        }
    }

    /// The float that a signed integer was converted from.
    pub fn converted(&self, value: Value) -> Option<Value> {
        self.state.converted[value]
    }

    /// How a float was rounded to an integer, and from what.
    pub fn rounded(&self, value: Value) -> Option<(UnaryOp, Value)> {
        self.state.rounded[value]
    }

    /// Keeps that an integer lies in an interval.
    pub fn assume(&mut self, value: Value, interval: Interval) {
        self.state.facts.assume(self.b.func, value, interval);
    }

    /// Keeps the value range of an integer, which holds in the lanes that matter.
    pub fn value_range(&mut self, value: Value, interval: Interval) {
        self.state.facts.value_range(self.b.func, value, interval);
    }

    /// The same integer as a value without a value range: itself, or seen through a float.
    pub fn without_value_range(&mut self, value: Value) -> Value {
        if !self.state.facts.has_value_range(value) {
            return value;
        }
        let int = self.type_of(value);
        let float = int.with_scalar(nbcc_ir::Scalar::F32);
        let float = self.b.value(Op::Convert(ConvertOp::Bitcast, value, float));
        self.b.value(Op::Convert(ConvertOp::Bitcast, float, int))
    }

    /// Emits a pure operation that SIMB has.
    pub fn op(&mut self, op: Op) -> Value {
        let op = match op {
            Op::Const(ty, constant) if mask_type(ty) != ty => {
                Op::Const(mask_type(ty), mask_constant(&constant))
            }
            op => op,
        };
        assert!(op.effect() == Effect::Pure, "{op:?} has an effect");
        if let Some(same) = self.unchanged(&op) {
            return same;
        }
        let op = self.folded(op);
        if let Some(&value) = self.state.emitted.get(&op) {
            return value;
        }
        let value = self.b.value(op.clone());
        self.state.emitted.insert(op, value);
        value
    }

    /// The operand that an operation gives unchanged.
    fn unchanged(&mut self, op: &Op) -> Option<Value> {
        match op {
            Op::Binary(op, a, b) => {
                let (x, y) = (self.int_constant(*a), self.int_constant(*b));
                match op {
                    BinaryOp::Iadd | BinaryOp::Or | BinaryOp::Xor if x == Some(0) => Some(*b),
                    BinaryOp::Iadd
                    | BinaryOp::Isub
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Lshr
                    | BinaryOp::Ashr
                        if y == Some(0) =>
                    {
                        Some(*a)
                    }
                    BinaryOp::And if x == Some(-1) || y == Some(0) || a == b => Some(*b),
                    BinaryOp::And if y == Some(-1) || x == Some(0) => Some(*a),
                    BinaryOp::Or if a == b => Some(*a),
                    BinaryOp::Fmul if y == Some(1.0f32.to_bits() as i32) => Some(*a),
                    BinaryOp::Fmul if x == Some(1.0f32.to_bits() as i32) => Some(*b),
                    BinaryOp::Imul if x == Some(1) || y == Some(0) => Some(*b),
                    BinaryOp::Imul if y == Some(1) || x == Some(0) => Some(*a),
                    BinaryOp::Xor if y == Some(-1) => match self.def(*a) {
                        Some(Op::Binary(BinaryOp::Xor, inner, ones))
                            if self.int_constant(*ones) == Some(-1) =>
                        {
                            Some(*inner)
                        }
                        _ => None,
                    },
                    _ => None,
                }
            }
            Op::Convert(ConvertOp::Bitcast, a, to) => match self.def(*a) {
                Some(Op::Convert(ConvertOp::Bitcast, inner, _))
                    if self.b.func.ty(*inner) == *to =>
                {
                    Some(*inner)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A constant instead of an operation on constants.
    fn folded(&self, op: Op) -> Op {
        let func = &*self.b.func;
        let constant = |v: Value| match func.def_op(v) {
            Some(Op::Const(ty, constant)) => Some(nbcc_analysis::Lanes::constant(*ty, constant)),
            _ => None,
        };
        let args = op.args();
        if args.is_empty() || !args.iter().all(|&v| constant(v).is_some()) {
            return op;
        }
        let result = evaluate(&op, |v| constant(v).expect("every operand is a constant"));
        match result {
            Some(Ok(lanes)) => Op::Const(lanes.ty(), lanes.to_constant()),
            _ => op,
        }
    }

    /// An integer in every lane.
    pub fn int(&mut self, n: i32) -> Value {
        let ty = Type::I32.with_lanes(self.lanes);
        self.op(Op::Const(ty, Constant::Splat(u64::from(n as u32))))
    }

    /// A float in every lane.
    pub fn float(&mut self, x: f32) -> Value {
        let ty = Type::F32.with_lanes(self.lanes);
        self.op(Op::Const(ty, Constant::Splat(u64::from(x.to_bits()))))
    }

    /// An operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.op(Op::Binary(op, a, b))
    }

    /// Integer sum.
    pub fn iadd(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Iadd, a, b)
    }

    /// Integer sum with a constant.
    pub fn iadd_int(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.iadd(a, n)
    }

    /// Integer difference.
    pub fn isub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Isub, a, b)
    }

    /// A constant less an integer.
    pub fn int_isub(&mut self, n: i32, a: Value) -> Value {
        let n = self.int(n);
        self.isub(n, a)
    }

    /// Integer product, low half.
    pub fn imul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Imul, a, b)
    }

    /// Integer product with a constant.
    pub fn imul_int(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.imul(a, n)
    }

    /// Bitwise and.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::And, a, b)
    }

    /// Bitwise and with a constant.
    pub fn and_int(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.and(a, n)
    }

    /// Bitwise or.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Or, a, b)
    }

    /// Bitwise or with a constant.
    pub fn or_int(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.or(a, n)
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Xor, a, b)
    }

    /// Bitwise exclusive or with a constant.
    pub fn xor_int(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.xor(a, n)
    }

    /// Bitwise not.
    pub fn not(&mut self, a: Value) -> Value {
        self.xor_int(a, -1)
    }

    /// Shift left by a constant.
    pub fn shl(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.binary(BinaryOp::Shl, a, n)
    }

    /// Logical shift right by a constant.
    pub fn lshr(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.binary(BinaryOp::Lshr, a, n)
    }

    /// Arithmetic shift right by a constant.
    pub fn ashr(&mut self, a: Value, n: i32) -> Value {
        let n = self.int(n);
        self.binary(BinaryOp::Ashr, a, n)
    }

    /// The sign of an integer in all its bits.
    pub fn sign(&mut self, a: Value) -> Value {
        self.ashr(a, 31)
    }

    /// Float sum.
    pub fn fadd(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Fadd, a, b)
    }

    /// Float difference.
    pub fn fsub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Fsub, a, b)
    }

    /// Float product.
    pub fn fmul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Fmul, a, b)
    }

    /// Float product with a constant.
    pub fn fmul_float(&mut self, a: Value, x: f32) -> Value {
        let x = self.float(x);
        self.fmul(a, x)
    }

    /// Product, rounded, plus the third, rounded.
    pub fn mac(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.op(Op::MulAdd(a, b, c))
    }

    /// The bits of a float.
    pub fn bits(&mut self, a: Value) -> Value {
        let to = Type::I32.with_lanes(self.lanes);
        if self.type_of(a) == to { a } else { self.op(Op::Convert(ConvertOp::Bitcast, a, to)) }
    }

    /// The float with these bits.
    pub fn float_of(&mut self, a: Value) -> Value {
        let to = Type::F32.with_lanes(self.lanes);
        if self.type_of(a) == to { a } else { self.op(Op::Convert(ConvertOp::Bitcast, a, to)) }
    }

    /// The same float, but +0 for -0.
    pub fn without_negative_zero(&mut self, a: Value) -> Value {
        if !self.floats(a).negative_zero {
            return a;
        }
        let zero = self.float(0.0);
        self.fadd(a, zero)
    }

    /// The float with its sign changed.
    pub fn fneg(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        let bits = self.xor_int(bits, SIGN);
        self.float_of(bits)
    }

    /// The float without its sign.
    pub fn fabs(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        let bits = self.and_int(bits, !SIGN);
        self.float_of(bits)
    }

    /// The sign of a float in all bits of an integer.
    pub fn fsign(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        self.sign(bits)
    }

    /// A mask as a value: one operation where it is inverted.
    pub fn mask_value(&mut self, mask: Mask) -> Value {
        if mask.inverted { self.not(mask.value) } else { mask.value }
    }

    /// A value that is a mask, seen through an inversion.
    pub fn mask_of(&self, value: Value) -> Mask {
        match self.def(value) {
            Some(Op::Binary(BinaryOp::Xor, inner, ones))
                if self.int_constant(*ones) == Some(-1) =>
            {
                Mask { value: *inner, inverted: true }
            }
            _ => Mask::plain(value),
        }
    }
}
