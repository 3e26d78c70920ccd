//! Expressions as IR.
//!
//! Every value takes 32 bits a lane: floats are `f32`, truth values `i1`, and integers `i32` that
//! hold a value of their type, sign- or zero-extended. An operation on a narrower type computes in
//! 32 bits and brings the result back into range.

use foldhash::{HashMap, HashMapExt};
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp as IrBinary, Builder, ConvertOp, FloatCond, IntCond, Op, Type, UnaryOp as IrUnary,
    Value,
};

use crate::{
    BinaryOp, CompareOp, ElementType, Expr, ExprKind, Intrinsic, Literal, Param, Pipeline, RDom,
    UnaryOp, Walker,
};

/// How the leaves of an expression are reached. Values have as many lanes as the lowering.
pub trait Access {
    /// The coordinate along a dimension of the Func being defined.
    fn dim(&mut self, b: &mut Builder<'_>, dim: u32) -> Value;
    /// A variable of a reduction domain.
    fn rvar(&mut self, b: &mut Builder<'_>, rdom: RDom, dim: u32) -> Value;
    /// A scalar parameter, of [`ir_type`] for its type.
    fn param(&mut self, b: &mut Builder<'_>, param: Param) -> Value;
    /// An element of an input or a Func: `expr` is an [`ExprKind::Load`] or [`ExprKind::Call`].
    /// Its coordinates can be lowered with `lower`.
    fn element(&mut self, b: &mut Builder<'_>, expr: Expr, lower: &mut ExprLowering<'_>) -> Value;
}

/// The IR type of a value of an element type.
pub fn ir_type(ty: ElementType, lanes: u8) -> Type {
    let scalar = match ty {
        ElementType::Bool => Type::I1,
        ElementType::F32 => Type::F32,
        _ => Type::I32,
    };
    scalar.with_lanes(lanes)
}

/// Lowers expressions at one point of a program, each at most once.
#[derive(Clone, Debug)]
pub struct ExprLowering<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// Lanes of every value.
    pub lanes: u8,
    done: HashMap<Expr, Value>,
    walker: Walker,
}

impl<'a> ExprLowering<'a> {
    /// A lowering to values of `lanes` lanes.
    pub fn new(pipeline: &'a Pipeline, lanes: u8) -> ExprLowering<'a> {
        ExprLowering { pipeline, lanes, done: HashMap::new(), walker: Walker::default() }
    }

    /// Lowers an expression and what it needs.
    pub fn lower(&mut self, b: &mut Builder<'_>, root: Expr, access: &mut dyn Access) -> Value {
        // The coordinates of elements are left to `access`, which may want them in another form.
        let mut stack = vec![(root, false)];
        while let Some((expr, ready)) = stack.pop() {
            if self.done.contains_key(&expr) {
                continue;
            }
            let kind = &self.pipeline.exprs[expr].kind;
            let leaf = matches!(kind, ExprKind::Load(..) | ExprKind::Call(..));
            if ready || leaf {
                let value = self.one(b, expr, access);
                self.done.insert(expr, value);
            } else {
                stack.push((expr, true));
                kind.each_operand(|operand| stack.push((operand, false)));
            }
        }
        self.done[&root]
    }

    /// Every expression reachable from `roots`, operands first.
    pub fn reachable(&mut self, roots: impl IntoIterator<Item = Expr>) -> Vec<Expr> {
        self.walker.reachable(self.pipeline, roots)
    }

    fn one(&mut self, b: &mut Builder<'_>, expr: Expr, access: &mut dyn Access) -> Value {
        let data = &self.pipeline.exprs[expr];
        let span: Span = data.span;
        b.set_span(Some(span));
        let ty = data.ty;
        let get = |e: &Expr| self.done[e];
        let type_of = |e: &Expr| self.pipeline.exprs[*e].ty;
        match &data.kind {
            ExprKind::Literal(literal) => self.literal(b, ty, *literal),
            ExprKind::Dim(n) => access.dim(b, *n),
            ExprKind::RVar(rdom, n) => access.rvar(b, *rdom, *n),
            ExprKind::Param(param) => access.param(b, *param),
            ExprKind::InputExtent(..) => panic!("{expr}: extents are literals before lowering"),
            ExprKind::Load(..) | ExprKind::Call(..) => access.element(b, expr, self),
            ExprKind::Unary(op, a) => self.unary(b, *op, ty, type_of(a), get(a)),
            ExprKind::Binary(op, x, y) => {
                self.binary(b, *op, ty, (get(x), get(y)), type_of(y).is_signed())
            }
            ExprKind::Compare(op, x, y) => compare(b, *op, type_of(x), get(x), get(y)),
            ExprKind::Select(c, x, y) => select(b, get(c), get(x), get(y)),
            ExprKind::Cast(a) => self.cast(b, type_of(a), ty, get(a)),
            ExprKind::Reinterpret(a) => {
                let value = get(a);
                let to = ir_type(ty, self.lanes);
                if b.func.ty(value) == to {
                    return wrap(b, ty, value);
                }
                b.convert(ConvertOp::Bitcast, value, to)
            }
            ExprKind::Intrinsic(op, args) => {
                let args: Vec<Value> = args.iter().map(get).collect();
                self.intrinsic(b, *op, &args)
            }
        }
    }

    /// An integer with that value in each lane.
    pub fn int(&self, b: &mut Builder<'_>, value: i64) -> Value {
        b.constant(Type::I32.with_lanes(self.lanes), u64::from(value as u32))
    }

    fn float(&self, b: &mut Builder<'_>, value: f32) -> Value {
        b.constant(Type::F32.with_lanes(self.lanes), u64::from(value.to_bits()))
    }

    fn literal(&self, b: &mut Builder<'_>, ty: ElementType, literal: Literal) -> Value {
        match literal {
            Literal::Float(bits) => self.float(b, f32::from_bits(bits)),
            Literal::Int(value) if ty == ElementType::Bool => {
                b.constant(Type::I1.with_lanes(self.lanes), value as u64 & 1)
            }
            Literal::Int(value) => self.int(b, value),
        }
    }

    fn unary(
        &self,
        b: &mut Builder<'_>,
        op: UnaryOp,
        ty: ElementType,
        from: ElementType,
        a: Value,
    ) -> Value {
        match op {
            UnaryOp::Neg if ty.is_float() => {
                let zero = self.float(b, 0.0);
                b.binary(IrBinary::Fsub, zero, a)
            }
            UnaryOp::Neg => {
                let negated = b.unary(IrUnary::Ineg, a);
                wrap(b, ty, negated)
            }
            UnaryOp::Not => b.unary(IrUnary::Not, a),
            UnaryOp::BitNot => {
                let not = b.unary(IrUnary::Not, a);
                wrap(b, ty, not)
            }
            UnaryOp::Abs if ty.is_float() => b.unary(IrUnary::Fabs, a),
            UnaryOp::Abs if !from.is_signed() => a,
            UnaryOp::Abs => {
                let zero = self.int(b, 0);
                let negative = b.value(Op::Icmp(IntCond::Slt, a, zero));
                let negated = b.unary(IrUnary::Ineg, a);
                select(b, negative, negated, a)
            }
        }
    }

    fn binary(
        &self,
        b: &mut Builder<'_>,
        op: BinaryOp,
        ty: ElementType,
        (x, y): (Value, Value),
        amount_signed: bool,
    ) -> Value {
        if ty.is_float() {
            let op = match op {
                BinaryOp::Add => IrBinary::Fadd,
                BinaryOp::Sub => IrBinary::Fsub,
                BinaryOp::Mul => IrBinary::Fmul,
                BinaryOp::Div => IrBinary::Fdiv,
                BinaryOp::Mod => IrBinary::Fmod,
                BinaryOp::Min => IrBinary::Fmin,
                BinaryOp::Max => IrBinary::Fmax,
                _ => panic!("{op:?} of floats: the frontend lets none through"),
            };
            return b.binary(op, x, y);
        }
        let unsigned32 = ty == ElementType::U32;
        let simple = match op {
            BinaryOp::Add => IrBinary::Iadd,
            BinaryOp::Sub => IrBinary::Isub,
            BinaryOp::Mul => IrBinary::Imul,
            BinaryOp::Div | BinaryOp::Mod if unsigned32 => return self.divide_u32(b, op, x, y),
            BinaryOp::Div => IrBinary::DivEuclid,
            BinaryOp::Mod => IrBinary::ModEuclid,
            BinaryOp::Min if ty == ElementType::Bool => IrBinary::And,
            BinaryOp::Max if ty == ElementType::Bool => IrBinary::Or,
            BinaryOp::Min if unsigned32 => IrBinary::Umin,
            BinaryOp::Max if unsigned32 => IrBinary::Umax,
            BinaryOp::Min => IrBinary::Smin,
            BinaryOp::Max => IrBinary::Smax,
            BinaryOp::And => IrBinary::And,
            BinaryOp::Or => IrBinary::Or,
            BinaryOp::Xor => IrBinary::Xor,
            BinaryOp::Shl | BinaryOp::Shr => {
                let shifted = self.shift(b, op, ty, (x, y), amount_signed);
                return wrap(b, ty, shifted);
            }
        };
        let value = b.binary(simple, x, y);
        wrap(b, ty, value)
    }

    /// Unsigned division of full words, where dividing by zero gives zero.
    fn divide_u32(&self, b: &mut Builder<'_>, op: BinaryOp, x: Value, y: Value) -> Value {
        let zero = self.int(b, 0);
        let one = self.int(b, 1);
        let by_zero = b.value(Op::Icmp(IntCond::Eq, y, zero));
        let divisor = select(b, by_zero, one, y);
        let op = if op == BinaryOp::Div { IrBinary::Udiv } else { IrBinary::Urem };
        let quotient = b.binary(op, x, divisor);
        select(b, by_zero, zero, quotient)
    }

    fn shift(
        &self,
        b: &mut Builder<'_>,
        op: BinaryOp,
        ty: ElementType,
        (x, amount): (Value, Value),
        amount_signed: bool,
    ) -> Value {
        let right = if ty.is_signed() { IrBinary::Ashr } else { IrBinary::Lshr };
        let (forward, backward) = match op {
            BinaryOp::Shl => (IrBinary::Shl, right),
            _ => (right, IrBinary::Shl),
        };
        let constant = b.func.splat_constant(amount).map(|bits| bits as u32 as i32);
        match constant {
            Some(n) if n >= 0 || !amount_signed => return b.binary(forward, x, amount),
            None if !amount_signed => return b.binary(forward, x, amount),
            _ => {}
        }
        let zero = self.int(b, 0);
        let negative = b.value(Op::Icmp(IntCond::Slt, amount, zero));
        let opposite = b.unary(IrUnary::Ineg, amount);
        let there = b.binary(forward, x, amount);
        let back = b.binary(backward, x, opposite);
        select(b, negative, back, there)
    }

    fn cast(&self, b: &mut Builder<'_>, from: ElementType, to: ElementType, a: Value) -> Value {
        let int = Type::I32.with_lanes(self.lanes);
        let float = Type::F32.with_lanes(self.lanes);
        match (from, to) {
            _ if from == to => a,
            (_, ElementType::Bool) => {
                let whole = match from {
                    ElementType::F32 => b.convert(ConvertOp::FloatToSigned, a, int),
                    _ => a,
                };
                let (one, zero) = (self.int(b, 1), self.int(b, 0));
                let lowest = b.binary(IrBinary::And, whole, one);
                b.value(Op::Icmp(IntCond::Ne, lowest, zero))
            }
            (ElementType::Bool, ElementType::F32) => {
                let one = self.float(b, 1.0);
                let zero = self.float(b, 0.0);
                select(b, a, one, zero)
            }
            (ElementType::Bool, _) => b.convert(ConvertOp::ZeroExtend, a, int),
            (ElementType::F32, ElementType::U32) => b.convert(ConvertOp::FloatToUnsigned, a, int),
            (ElementType::F32, _) => {
                let value = b.convert(ConvertOp::FloatToSigned, a, int);
                wrap(b, to, value)
            }
            (ElementType::U32, ElementType::F32) => b.convert(ConvertOp::UnsignedToFloat, a, float),
            (_, ElementType::F32) => b.convert(ConvertOp::SignedToFloat, a, float),
            _ => wrap(b, to, a),
        }
    }

    fn intrinsic(&self, b: &mut Builder<'_>, op: Intrinsic, args: &[Value]) -> Value {
        let op = match op {
            Intrinsic::Floor => IrUnary::Floor,
            Intrinsic::Ceil => IrUnary::Ceil,
            Intrinsic::Round => IrUnary::Nearest,
            Intrinsic::Trunc => IrUnary::Trunc,
            Intrinsic::Sqrt => IrUnary::Sqrt,
            Intrinsic::Exp | Intrinsic::FastExp => IrUnary::Exp,
            Intrinsic::Log | Intrinsic::FastLog => IrUnary::Log,
            Intrinsic::Sin => IrUnary::Sin,
            Intrinsic::Cos => IrUnary::Cos,
            Intrinsic::Tan => IrUnary::Tan,
            Intrinsic::Asin => IrUnary::Asin,
            Intrinsic::Acos => IrUnary::Acos,
            Intrinsic::Atan => IrUnary::Atan,
            Intrinsic::Sinh => IrUnary::Sinh,
            Intrinsic::Cosh => IrUnary::Cosh,
            Intrinsic::Tanh => IrUnary::Tanh,
            Intrinsic::Pow | Intrinsic::FastPow => {
                return b.binary(IrBinary::Pow, args[0], args[1]);
            }
            Intrinsic::Atan2 => return b.binary(IrBinary::Atan2, args[0], args[1]),
            Intrinsic::FastInverse | Intrinsic::FastInverseSqrt => {
                let one = self.float(b, 1.0);
                let root = match op {
                    Intrinsic::FastInverse => args[0],
                    _ => b.unary(IrUnary::Sqrt, args[0]),
                };
                return b.binary(IrBinary::Fdiv, one, root);
            }
        };
        b.unary(op, args[0])
    }
}

/// Brings the low bits of a 32-bit integer into the range of its type; other values are in theirs.
pub fn wrap(b: &mut Builder<'_>, ty: ElementType, value: Value) -> Value {
    let bits = match ty {
        ElementType::U8 | ElementType::U16 | ElementType::I8 | ElementType::I16 => ty.bits(),
        _ => return value,
    };
    let lanes = b.func.ty(value).lanes;
    let int = |b: &mut Builder<'_>, n: u64| b.constant(Type::I32.with_lanes(lanes), n);
    if ty.is_signed() {
        let amount = int(b, u64::from(32 - bits));
        let high = b.binary(IrBinary::Shl, value, amount);
        b.binary(IrBinary::Ashr, high, amount)
    } else {
        let mask = int(b, (1 << bits) - 1);
        b.binary(IrBinary::And, value, mask)
    }
}

fn select(b: &mut Builder<'_>, condition: Value, then: Value, other: Value) -> Value {
    b.value(Op::Select(condition, then, other))
}

fn compare(b: &mut Builder<'_>, op: CompareOp, ty: ElementType, x: Value, y: Value) -> Value {
    if ty.is_float() {
        // What is not less is greater or equal, also where it is no number.
        let (cond, opposite) = match op {
            CompareOp::Eq => (FloatCond::Eq, false),
            CompareOp::Ne => (FloatCond::Ne, false),
            CompareOp::Lt => (FloatCond::Lt, false),
            CompareOp::Le => (FloatCond::Gt, true),
            CompareOp::Gt => (FloatCond::Gt, false),
            CompareOp::Ge => (FloatCond::Lt, true),
        };
        let holds = b.value(Op::Fcmp(cond, x, y));
        return if opposite { b.unary(IrUnary::Not, holds) } else { holds };
    }
    let unsigned = matches!(ty, ElementType::U32 | ElementType::Bool);
    let cond = match (op, unsigned) {
        (CompareOp::Eq, _) => IntCond::Eq,
        (CompareOp::Ne, _) => IntCond::Ne,
        (CompareOp::Lt, false) => IntCond::Slt,
        (CompareOp::Le, false) => IntCond::Sle,
        (CompareOp::Gt, false) => IntCond::Sgt,
        (CompareOp::Ge, false) => IntCond::Sge,
        (CompareOp::Lt, true) => IntCond::Ult,
        (CompareOp::Le, true) => IntCond::Ule,
        (CompareOp::Gt, true) => IntCond::Ugt,
        (CompareOp::Ge, true) => IntCond::Uge,
    };
    b.value(Op::Icmp(cond, x, y))
}
