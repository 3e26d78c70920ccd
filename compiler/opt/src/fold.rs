//! Constant folding and algebraic simplification, one pass in reverse postorder: operands are
//! simplified before what uses them. Rules for floats keep every bit of every result, infinities,
//! signed zeros and subnormals included.

use nbcc_analysis::{Lanes, decode, encode, evaluate, sign_extend};
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Cfg, Constant, ConvertOp, Function, Inst, IntCond, Op,
    Replacements, Scalar, Terminator, Type, UnaryOp, Value,
};

use crate::loop_info;

/// Folds and simplifies; branches on constants become jumps.
pub fn run(func: &mut Function) -> bool {
    let order: Vec<Block> = Cfg::new(func).reverse_postorder().collect();
    let mut folder = Folder {
        func,
        replacements: Replacements::new(),
        insts: Vec::new(),
        span: None,
        changed: false,
    };
    let mut edges_changed = false;
    for block in order {
        let insts = std::mem::take(&mut folder.func.blocks[block].insts);
        for inst in insts {
            folder.inst(inst);
        }
        folder.func.blocks[block].insts = std::mem::take(&mut folder.insts);
        edges_changed |= folder.terminator(block);
    }
    let Folder { mut replacements, changed, .. } = folder;
    replacements.apply(func);
    if edges_changed {
        loop_info::drop_stale(func);
    }
    changed || edges_changed
}

/// What an operation turns into.
enum Simpler {
    Value(Value),
    Op(Op),
}

struct Folder<'a> {
    func: &'a mut Function,
    replacements: Replacements,
    /// The instructions of the block that is being rebuilt.
    insts: Vec<Inst>,
    /// The source of the instruction that is being simplified.
    span: Option<Span>,
    changed: bool,
}

impl Folder<'_> {
    fn inst(&mut self, inst: Inst) {
        let mut op = std::mem::replace(
            &mut self.func.insts[inst].op,
            Op::Const(Type::I1, Constant::Splat(0)),
        );
        op.for_each_arg_mut(|v| *v = self.replacements.resolve(*v));
        let Some(value) = self.func.result(inst).filter(|_| !matches!(op, Op::Call(..))) else {
            self.func.insts[inst].op = op;
            self.insts.push(inst);
            return;
        };
        self.span = self.func.insts[inst].span;
        let ty = self.func.ty(value);
        // Each rule makes the operation simpler, so that there is an end.
        while let Some(simpler) = self.simplify(&op, ty) {
            self.changed = true;
            match simpler {
                Simpler::Op(simpler) => op = simpler,
                Simpler::Value(same) => {
                    self.replacements.replace(value, same);
                    self.func.insts[inst].op = op;
                    return;
                }
            }
        }
        self.func.insts[inst].op = op;
        self.insts.push(inst);
    }

    fn terminator(&mut self, block: Block) -> bool {
        let terminator = self.func.terminator(block);
        let mut resolve = |value: &Value| self.replacements.resolve(*value);
        let new = match terminator {
            Terminator::Branch(cond, then, other) => {
                let cond = resolve(cond);
                if let Some(bits) = self.func.splat_constant(cond) {
                    Terminator::Jump(if bits != 0 { then.clone() } else { other.clone() })
                } else if let Some(Op::Unary(UnaryOp::Not, a)) = self.func.def_op(cond) {
                    Terminator::Branch(*a, other.clone(), then.clone())
                } else {
                    return false;
                }
            }
            Terminator::Switch(value, cases, default) => {
                let Some(bits) = self.func.splat_constant(resolve(value)) else { return false };
                let case = usize::try_from(bits).ok().and_then(|n| cases.get(n));
                let to: &BlockCall = case.unwrap_or(default);
                Terminator::Jump(to.clone())
            }
            _ => return false,
        };
        self.func.blocks[block].terminator = Some(new);
        true
    }

    /// A constant before the instruction that is being simplified.
    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & (u64::MAX >> (64 - ty.scalar.bits()));
        self.emit(Op::Const(ty, Constant::Splat(bits)), ty)
    }

    fn emit(&mut self, op: Op, ty: Type) -> Value {
        let inst = self.func.make_inst(op, &[ty], self.span);
        self.insts.push(inst);
        self.func.insts[inst].results[0]
    }

    /// The bits of a value that is the same constant in every lane.
    fn splat(&self, value: Value) -> Option<u64> {
        self.func.splat_constant(value)
    }

    fn def(&self, value: Value) -> Option<&Op> {
        self.func.def_op(value)
    }

    fn is_constant(&self, value: Value) -> bool {
        matches!(self.def(value), Some(Op::Const(..)))
    }

    fn simplify(&mut self, op: &Op, ty: Type) -> Option<Simpler> {
        if let Op::Const(ty, constant @ Constant::Lanes(_)) = op {
            let simpler = Lanes::constant(*ty, constant).to_constant();
            return (simpler != *constant).then_some(Simpler::Op(Op::Const(*ty, simpler)));
        }
        if let Some(folded) = self.fold(op) {
            return Some(Simpler::Op(folded));
        }
        match op {
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Binary(op, a, b) if op.is_float() => self.float_binary(*op, *a, *b),
            Op::Binary(op, a, b) => self.integer_binary(*op, *a, *b, ty),
            Op::Fma(a, b, c) | Op::MulAdd(a, b, c) => self.multiply_add(*a, *b, *c),
            Op::Icmp(cond, a, b) => self.icmp(*cond, *a, *b, ty),
            Op::Fcmp(cond, a, b) if self.is_constant(*a) && !self.is_constant(*b) => {
                Some(Simpler::Op(Op::Fcmp(cond.swapped(), *b, *a)))
            }
            Op::Select(cond, a, b) => self.select(*cond, *a, *b, ty),
            Op::Convert(op, a, to) => self.convert(*op, *a, *to),
            Op::Splat(a, 1) => Some(Simpler::Value(*a)),
            Op::Extract(a, lane) => self.extract(*a, *lane),
            Op::Insert(a, b, _) if !self.func.ty(*a).is_vector() => Some(Simpler::Value(*b)),
            Op::Shuffle(a, b, lanes) => self.shuffle(*a, *b, lanes),
            _ => None,
        }
    }

    /// The constant that an operation on constants gives; none where it would trap.
    fn fold(&self, op: &Op) -> Option<Op> {
        let mut known = !matches!(op, Op::Const(..));
        op.for_each_arg(|value| known &= self.is_constant(value));
        if !known || matches!(op, Op::Load(..) | Op::Intrinsic(_) | Op::LoadRaw(..)) {
            return None;
        }
        let get = |value: Value| match self.def(value) {
            Some(Op::Const(ty, constant)) => Lanes::constant(*ty, constant),
            _ => unreachable!("{value} is a constant"),
        };
        let result = evaluate(op, get)?.ok()?;
        Some(Op::Const(result.ty(), result.to_constant()))
    }

    fn unary(&self, op: UnaryOp, a: Value) -> Option<Simpler> {
        let Some(&Op::Unary(inner, x)) = self.def(a) else {
            return match (op, self.def(a)) {
                (UnaryOp::Not, Some(&Op::Icmp(cond, x, y))) => {
                    Some(Simpler::Op(Op::Icmp(cond.negated(), x, y)))
                }
                _ => None,
            };
        };
        match (op, inner) {
            (UnaryOp::Ineg, UnaryOp::Ineg)
            | (UnaryOp::Not, UnaryOp::Not)
            | (UnaryOp::Fneg, UnaryOp::Fneg) => Some(Simpler::Value(x)),
            (UnaryOp::Fabs, UnaryOp::Fabs) => Some(Simpler::Value(a)),
            (UnaryOp::Fabs, UnaryOp::Fneg) => Some(Simpler::Op(Op::Unary(UnaryOp::Fabs, x))),
            _ => None,
        }
    }

    fn integer_binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: Type) -> Option<Simpler> {
        use BinaryOp::*;
        if op.is_commutative() && self.is_constant(a) && !self.is_constant(b) {
            return Some(Simpler::Op(Op::Binary(op, b, a)));
        }
        let width = ty.scalar.bits();
        let ones = u64::MAX >> (64 - width);
        if a == b {
            match op {
                Isub | Xor => return Some(self.zero(ty)),
                And | Or | Smin | Smax | Umin | Umax => return Some(Simpler::Value(a)),
                _ => {}
            }
        }
        let Some(bits) = self.splat(b) else {
            return match op {
                Isub if self.splat(a) == Some(0) => Some(Simpler::Op(Op::Unary(UnaryOp::Ineg, b))),
                Iadd => match self.def(b) {
                    Some(&Op::Unary(UnaryOp::Ineg, x)) => Some(Simpler::Op(Op::Binary(Isub, a, x))),
                    _ => None,
                },
                Isub => match self.def(b) {
                    Some(&Op::Unary(UnaryOp::Ineg, x)) => Some(Simpler::Op(Op::Binary(Iadd, a, x))),
                    _ => None,
                },
                _ => None,
            };
        };
        let signed = sign_extend(ty.scalar, bits);
        let least = 1u64 << (width - 1);
        let power = bits.is_power_of_two().then(|| u64::from(bits.trailing_zeros()));
        // As a signed divisor: the least integer is no power of two.
        let positive_power = power.filter(|_| signed > 0);
        match op {
            Iadd | Isub | Or | Xor | Shl | Lshr | Ashr if bits == 0 => {
                return Some(Simpler::Value(a));
            }
            Imul | And | DivEuclid | ModEuclid | Umin if bits == 0 => return Some(self.zero(ty)),
            Umax if bits == 0 => return Some(Simpler::Value(a)),
            Imul if bits == 1 => return Some(Simpler::Value(a)),
            And | Umin if bits == ones => return Some(Simpler::Value(a)),
            Or | Umax if bits == ones => return Some(Simpler::Value(b)),
            Smin if bits == ones >> 1 => return Some(Simpler::Value(a)),
            Smax if bits == ones >> 1 => return Some(Simpler::Value(b)),
            Smin if bits == least => return Some(Simpler::Value(b)),
            Smax if bits == least => return Some(Simpler::Value(a)),
            Xor if bits == ones => return Some(Simpler::Op(Op::Unary(UnaryOp::Not, a))),
            Imul if bits == ones => return Some(Simpler::Op(Op::Unary(UnaryOp::Ineg, a))),
            DivEuclid if bits == ones => return Some(Simpler::Op(Op::Unary(UnaryOp::Ineg, a))),
            ModEuclid if bits == ones => return Some(self.zero(ty)),
            Sdiv | Udiv | DivEuclid if signed == 1 => return Some(Simpler::Value(a)),
            Srem | Urem | ModEuclid if signed == 1 => return Some(self.zero(ty)),
            Shl | Lshr if bits >= u64::from(width) => return Some(self.zero(ty)),
            Ashr if bits >= u64::from(width) => {
                let most = self.constant(ty, u64::from(width - 1));
                return Some(Simpler::Op(Op::Binary(Ashr, a, most)));
            }
            DivEuclid if positive_power.is_some() => {
                let amount = self.constant(ty, positive_power.unwrap_or(0));
                return Some(Simpler::Op(Op::Binary(Ashr, a, amount)));
            }
            Udiv if power.is_some() => {
                let amount = self.constant(ty, power.unwrap_or(0));
                return Some(Simpler::Op(Op::Binary(Lshr, a, amount)));
            }
            ModEuclid if positive_power.is_some() => {
                let mask = self.constant(ty, bits - 1);
                return Some(Simpler::Op(Op::Binary(And, a, mask)));
            }
            Urem if power.is_some() => {
                let mask = self.constant(ty, bits - 1);
                return Some(Simpler::Op(Op::Binary(And, a, mask)));
            }
            // One form for sums with a constant, so that they join.
            Isub => {
                let negated = self.constant(ty, bits.wrapping_neg());
                return Some(Simpler::Op(Op::Binary(Iadd, a, negated)));
            }
            _ => {}
        }
        self.reassociate(op, a, bits, ty)
    }

    fn zero(&mut self, ty: Type) -> Simpler {
        Simpler::Op(Op::Const(ty, Constant::Splat(0)))
    }

    /// Two operations with constants in a row become one.
    fn reassociate(&mut self, op: BinaryOp, a: Value, bits: u64, ty: Type) -> Option<Simpler> {
        use BinaryOp::*;
        let &Op::Binary(inner, x, y) = self.def(a)? else { return None };
        let width = u64::from(ty.scalar.bits());
        let bits_of = |value: Value| self.splat(value);
        if inner == Isub && op == Iadd && bits_of(x).is_some() && bits_of(y).is_none() {
            // (c - y) + bits
            let sum = self.constant(ty, bits_of(x)?.wrapping_add(bits));
            return Some(Simpler::Op(Op::Binary(Isub, sum, y)));
        }
        let before = bits_of(y)?;
        if inner != op {
            return None;
        }
        let both = match op {
            Iadd => before.wrapping_add(bits),
            Imul => before.wrapping_mul(bits),
            And => before & bits,
            Or => before | bits,
            Xor => before ^ bits,
            Umin => before.min(bits),
            Umax => before.max(bits),
            Smin | Smax => {
                let (p, q) = (sign_extend(ty.scalar, before), sign_extend(ty.scalar, bits));
                (if op == Smin { p.min(q) } else { p.max(q) }) as u64
            }
            // Amounts of the width and more were replaced, so that the sum does not overflow 64
            // bits; it must not overflow the type either.
            Shl | Lshr | Ashr if before < width && before + bits < width => before + bits,
            _ => return None,
        };
        let both = self.constant(ty, both);
        Some(Simpler::Op(Op::Binary(op, x, both)))
    }

    /// The value of a float that is the same constant in every lane.
    fn float(&self, value: Value) -> Option<f64> {
        let scalar = self.func.ty(value).scalar;
        self.splat(value).filter(|_| scalar.is_float()).map(|bits| decode(scalar, bits))
    }

    /// Whether a float constant is this zero.
    fn is_zero(&self, value: Value, negative: bool) -> bool {
        self.float(value).is_some_and(|x| x == 0.0 && x.is_sign_negative() == negative)
    }

    fn float_binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Simpler> {
        use BinaryOp::*;
        if op.is_commutative() && self.is_constant(a) && !self.is_constant(b) {
            return Some(Simpler::Op(Op::Binary(op, b, a)));
        }
        if a == b && matches!(op, Fmin | Fmax) {
            return Some(Simpler::Value(a));
        }
        match op {
            // x + -0 and x - +0 are x for each x; x + +0 is not, for x = -0.
            Fadd if self.is_zero(b, true) => return Some(Simpler::Value(a)),
            Fsub if self.is_zero(b, false) => return Some(Simpler::Value(a)),
            Fmul | Fdiv if self.float(b) == Some(1.0) => return Some(Simpler::Value(a)),
            Fmul | Fdiv if self.float(b) == Some(-1.0) => {
                return Some(Simpler::Op(Op::Unary(UnaryOp::Fneg, a)));
            }
            Fadd => {
                if let Some(&Op::Unary(UnaryOp::Fneg, x)) = self.def(b) {
                    return Some(Simpler::Op(Op::Binary(Fsub, a, x)));
                }
            }
            Fsub => {
                if let Some(&Op::Unary(UnaryOp::Fneg, x)) = self.def(b) {
                    return Some(Simpler::Op(Op::Binary(Fadd, a, x)));
                }
            }
            Fdiv => {
                let (ty, divisor) = (self.func.ty(b), self.float(b)?);
                let bits = exact_reciprocal(ty.scalar, divisor)?;
                let reciprocal = self.constant(ty, bits);
                return Some(Simpler::Op(Op::Binary(Fmul, a, reciprocal)));
            }
            _ => {}
        }
        None
    }

    fn multiply_add(&self, a: Value, b: Value, c: Value) -> Option<Simpler> {
        // One times x is x, so that only the sum rounds; a product plus -0 is the product.
        if self.float(a) == Some(1.0) {
            return Some(Simpler::Op(Op::Binary(BinaryOp::Fadd, b, c)));
        }
        if self.float(b) == Some(1.0) {
            return Some(Simpler::Op(Op::Binary(BinaryOp::Fadd, a, c)));
        }
        if self.is_zero(c, true) {
            return Some(Simpler::Op(Op::Binary(BinaryOp::Fmul, a, b)));
        }
        None
    }

    fn icmp(&mut self, cond: IntCond, a: Value, b: Value, ty: Type) -> Option<Simpler> {
        use IntCond::*;
        if a == b {
            let holds = matches!(cond, Eq | Sle | Sge | Ule | Uge);
            return Some(Simpler::Op(Op::Const(ty, Constant::Splat(u64::from(holds)))));
        }
        if self.is_constant(a) && !self.is_constant(b) {
            return Some(Simpler::Op(Op::Icmp(cond.swapped(), b, a)));
        }
        let bits = self.splat(b)?;
        let operand = self.func.ty(b);
        let ones = u64::MAX >> (64 - operand.scalar.bits());
        let least = 1u64 << (operand.scalar.bits() - 1);
        let holds = match cond {
            Ult if bits == 0 => false,
            Uge if bits == 0 => true,
            Ugt if bits == ones => false,
            Ule if bits == ones => true,
            Slt if bits == least => false,
            Sge if bits == least => true,
            Sgt if bits == ones >> 1 => false,
            Sle if bits == ones >> 1 => true,
            Eq | Ne => return self.equal(cond, a, bits, operand),
            _ => return None,
        };
        Some(Simpler::Op(Op::Const(ty, Constant::Splat(u64::from(holds)))))
    }

    /// Comparison for equality of `a` with a constant.
    fn equal(&mut self, cond: IntCond, a: Value, bits: u64, ty: Type) -> Option<Simpler> {
        if ty.scalar == Scalar::I1 {
            let same = (cond == IntCond::Eq) == (bits == 1);
            return Some(if same {
                Simpler::Value(a)
            } else {
                Simpler::Op(Op::Unary(UnaryOp::Not, a))
            });
        }
        // Both are one to one, wrapping or not.
        let (x, rest) = match *self.def(a)? {
            Op::Binary(BinaryOp::Iadd, x, y) => (x, bits.wrapping_sub(self.splat(y)?)),
            Op::Binary(BinaryOp::Xor, x, y) => (x, bits ^ self.splat(y)?),
            Op::Unary(UnaryOp::Ineg, x) => (x, bits.wrapping_neg()),
            _ => return None,
        };
        let rest = self.constant(ty, rest);
        Some(Simpler::Op(Op::Icmp(cond, x, rest)))
    }

    fn select(&self, cond: Value, a: Value, b: Value, ty: Type) -> Option<Simpler> {
        if a == b {
            return Some(Simpler::Value(a));
        }
        if let Some(bits) = self.splat(cond) {
            return Some(Simpler::Value(if bits != 0 { a } else { b }));
        }
        if ty.scalar == Scalar::I1 {
            match (self.splat(a), self.splat(b)) {
                (Some(1), Some(0)) => return Some(Simpler::Value(cond)),
                (Some(0), Some(1)) => return Some(Simpler::Op(Op::Unary(UnaryOp::Not, cond))),
                _ => {}
            }
        }
        match self.def(cond) {
            Some(&Op::Unary(UnaryOp::Not, x)) => Some(Simpler::Op(Op::Select(x, b, a))),
            _ => None,
        }
    }

    fn convert(&self, op: ConvertOp, a: Value, to: Type) -> Option<Simpler> {
        use ConvertOp::*;
        let &Op::Convert(inner, x, _) = self.def(a)? else { return None };
        let (from, bits) = (self.func.ty(x), to.scalar.bits());
        let simpler = match (op, inner) {
            (Bitcast, Bitcast) if from == to => return Some(Simpler::Value(x)),
            (Bitcast | ZeroExtend | SignExtend | Truncate, _) if inner == op => op,
            // An extended sign bit is zero.
            (SignExtend, ZeroExtend) => ZeroExtend,
            (Truncate, ZeroExtend | SignExtend) => match bits.cmp(&from.scalar.bits()) {
                std::cmp::Ordering::Equal => return Some(Simpler::Value(x)),
                std::cmp::Ordering::Less => Truncate,
                std::cmp::Ordering::Greater => inner,
            },
            _ => return None,
        };
        Some(Simpler::Op(Op::Convert(simpler, x, to)))
    }

    fn extract(&mut self, a: Value, lane: u8) -> Option<Simpler> {
        match self.def(a)?.clone() {
            Op::Splat(x, _) => Some(Simpler::Value(x)),
            Op::Insert(_, x, at) if at == lane => Some(Simpler::Value(x)),
            Op::Insert(x, _, _) => Some(Simpler::Op(Op::Extract(x, lane))),
            Op::Shuffle(x, y, lanes) => {
                let count = self.func.ty(x).lanes;
                let from = lanes[usize::from(lane)];
                let (vector, lane) = if from < count { (x, from) } else { (y, from - count) };
                if self.func.ty(vector).is_vector() {
                    Some(Simpler::Op(Op::Extract(vector, lane)))
                } else {
                    Some(Simpler::Value(vector))
                }
            }
            _ => None,
        }
    }

    fn shuffle(&self, a: Value, b: Value, lanes: &[u8]) -> Option<Simpler> {
        let count = self.func.ty(a).lanes;
        let from = |start: u8| {
            let mut expected = (0..count).map(|n| n + start);
            lanes.len() == usize::from(count) && lanes.iter().all(|&n| expected.next() == Some(n))
        };
        if from(0) {
            return Some(Simpler::Value(a));
        }
        if from(count) {
            return Some(Simpler::Value(b));
        }
        if let Some(Op::Splat(x, _)) = self.def(a)
            && lanes.iter().all(|&n| n < count)
        {
            return Some(Simpler::Op(Op::Splat(*x, lanes.len() as u8)));
        }
        None
    }
}

/// The bits of 1/x where that is exact, so that a product with it is the quotient by x, bit for
/// bit: for powers of two whose reciprocal the type holds.
fn exact_reciprocal(scalar: Scalar, x: f64) -> Option<u64> {
    let reciprocal = 1.0 / x;
    let power_of_two = x.is_normal() && x.to_bits() << 12 == 0;
    let bits = encode(scalar, reciprocal);
    let exact = power_of_two && reciprocal.is_finite() && decode(scalar, bits) == reciprocal;
    (exact && reciprocal != 0.0).then_some(bits)
}
