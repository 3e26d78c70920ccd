//! Expressions, from left to right.

use nbcc_base::{Diagnostic, Span};
use nbcc_ir::{BinaryOp, Block, IntCond, Op, Terminator, Type, UnaryOp, Value};

use super::build::ir_type;
use super::place::{Located, whole};
use super::pointers;
use super::state::{Frame, Lower, Offset, Pointer, Val, Variable, Which};
use crate::codes;
use crate::sema::tree::{Arith, Compare, Expr, ExprKind};
use crate::types::{Int, Ty, Types};

/// Scalars of a structure at most that are carried as values.
pub(super) const MAX_PARTS: u64 = 64;

impl Lower<'_> {
    pub(super) fn int_of(&self, ty: Ty) -> Int {
        self.types.as_int(ty).unwrap_or(Int::Int)
    }

    /// The value of an integer expression.
    pub(super) fn int(&mut self, expr: &Expr) -> Value {
        match self.expr(expr) {
            Val::Int(value) => value,
            other => unreachable!("{other:?} is no integer"),
        }
    }

    pub(super) fn pointer(&mut self, expr: &Expr) -> Pointer {
        match self.expr(expr) {
            Val::Pointer(pointer) | Val::At(pointer) => pointer,
            other => unreachable!("{other:?} is no pointer"),
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Val {
        let outer = self.span.replace(expr.span);
        let value = self.expr_inner(expr);
        self.span = outer;
        value
    }

    fn expr_inner(&mut self, expr: &Expr) -> Val {
        let (ty, span) = (expr.ty, expr.span);
        match &expr.kind {
            ExprKind::Bad => unreachable!("a program with errors is not lowered"),
            ExprKind::Const(value) => match self.types.as_int(ty) {
                Some(int) => Val::Int(self.constant(ir_type(int), *value)),
                None => Val::Void,
            },
            ExprKind::Null => Val::Pointer(whole(0)),
            ExprKind::Value(place) => {
                let place_of = self.place(place);
                self.span = Some(span);
                self.get(&place_of, ty)
            }
            ExprKind::Address(place) => match self.place(place) {
                Located::Memory(pointer) => Val::Pointer(pointer),
                other => unreachable!("{other:?} has no address"),
            },
            ExprKind::Repoint(inner) => self.expr(inner),
            ExprKind::Negate(a) => {
                let a = self.int(a);
                Val::Int(self.value(Op::Unary(UnaryOp::Ineg, a)))
            }
            ExprKind::Complement(a) => {
                let a = self.int(a);
                Val::Int(self.value(Op::Unary(UnaryOp::Not, a)))
            }
            ExprKind::Arith(op, a, b) => {
                let int = self.int_of(ty);
                let x = self.int(a);
                let y = self.int(b);
                self.span = Some(span);
                Val::Int(self.arith(*op, int, x, y))
            }
            ExprKind::Not(_)
            | ExprKind::Compare(..)
            | ExprKind::ComparePointers(..)
            | ExprKind::IsSet(_) => {
                let truth = self.truth(expr);
                let int = self.int_of(ty);
                Val::Int(self.widen(truth, false, ir_type(int)))
            }
            ExprKind::And(..) | ExprKind::Or(..) => {
                let [yes, no, end] = [(); 3].map(|()| self.new_block());
                let var = self.ssa.variable(Type::I32);
                self.branch_on(expr, yes, no);
                for (block, value) in [(yes, 1), (no, 0)] {
                    self.start(block);
                    let value = self.i32(value);
                    self.write(var, value);
                    self.jump(end);
                }
                self.start(end);
                Val::Int(self.read(var))
            }
            ExprKind::Convert(inner) => {
                let (from, to) = (self.int_of(inner.ty), self.int_of(ty));
                let value = self.int(inner);
                Val::Int(self.converted(value, from, to))
            }
            ExprKind::Cond(condition, a, b) => self.conditional(condition, a, b, ty),
            ExprKind::Comma(a, b) => {
                self.dropped(a);
                self.expr(b)
            }
            ExprKind::Assign(place, value) => {
                let to = self.place(place);
                let value = self.expr(value);
                self.span = Some(span);
                self.set(&to, place.ty, &value);
                value
            }
            ExprKind::Update { place, op, by, compute, post } => {
                let to = self.place(place);
                let by = self.int(by);
                self.span = Some(span);
                let Val::Int(before) = self.get(&to, ty) else { return Val::Void };
                let (int, wide) = (self.int_of(ty), self.int_of(*compute));
                let wider = self.converted(before, int, wide);
                let after = self.arith(*op, wide, wider, by);
                let after = self.converted(after, wide, int);
                self.set(&to, ty, &Val::Int(after));
                Val::Int(if *post { before } else { after })
            }
            ExprKind::Move { place, by, minus, post } => {
                let to = self.place(place);
                let int = self.int_of(by.ty);
                let by = self.int(by);
                let Val::Pointer(before) = self.get(&to, ty) else { return Val::Void };
                let of = self.types.pointee(ty).map_or(Types::INT, |of| of.ty);
                let moved = self.elements(by, int, of, *minus);
                let after = Pointer { at: self.add(before.at, moved), ..before };
                self.set(&to, ty, &Val::Pointer(after));
                Val::Pointer(if *post { before } else { after })
            }
            ExprKind::Offset(pointer, by, minus) => {
                let pointer = self.pointer(pointer);
                let int = self.int_of(by.ty);
                let by = self.int(by);
                let of = self.types.pointee(ty).map_or(Types::INT, |of| of.ty);
                let moved = self.elements(by, int, of, *minus);
                Val::Pointer(Pointer { at: self.add(pointer.at, moved), ..pointer })
            }
            ExprKind::Distance(a, b) => {
                let of = self.types.pointee(a.ty).map_or(Types::INT, |of| of.ty);
                let (x, y) = (self.pointer(a), self.pointer(b));
                self.span = Some(span);
                self.same_object(x, y);
                let (x, y) = (self.offset_value(x.at), self.offset_value(y.at));
                let mut distance = self.binary(BinaryOp::Isub, x, y);
                match self.stride(of) {
                    Offset { value: None, constant: 1 } => {}
                    stride => {
                        let stride = self.offset_value(stride);
                        distance = self.binary(BinaryOp::Sdiv, distance, stride);
                    }
                }
                Val::Int(self.widen(distance, true, Type::I64))
            }
            ExprKind::Call(number, args) => self.call(*number, args, span, true),
            ExprKind::Library(function, args) => self.library(*function, args, ty),
            ExprKind::AssertFail(text) => {
                self.trap(format!("the assertion `{text}` fails"));
                Val::Void
            }
        }
    }

    /// An integer of one type as one of another.
    fn converted(&mut self, value: Value, from: Int, to: Int) -> Value {
        if to == Int::Bool && from != Int::Bool {
            let truth = self.is_set(value);
            return self.widen(truth, false, Type::I8);
        }
        self.widen(value, from.is_signed(), ir_type(to))
    }

    fn arith(&mut self, op: Arith, int: Int, a: Value, b: Value) -> Value {
        let signed = int.is_signed();
        let op = match op {
            Arith::Add => BinaryOp::Iadd,
            Arith::Sub => BinaryOp::Isub,
            Arith::Mul => BinaryOp::Imul,
            Arith::And => BinaryOp::And,
            Arith::Or => BinaryOp::Or,
            Arith::Xor => BinaryOp::Xor,
            Arith::Div if signed => return self.signed_division(BinaryOp::Sdiv, a, b),
            Arith::Rem if signed => return self.signed_division(BinaryOp::Srem, a, b),
            Arith::Div => BinaryOp::Udiv,
            Arith::Rem => BinaryOp::Urem,
            Arith::Shl | Arith::Shr => {
                // The amount is taken modulo the width.
                let ty = ir_type(int);
                let amount = self.widen(b, false, ty);
                let mask = self.constant(ty, i64::from(int.bits()) - 1);
                let amount = match self.func.splat_constant(amount) {
                    Some(bits) => self.constant(ty, (bits & u64::from(int.bits() - 1)) as i64),
                    None => self.binary(BinaryOp::And, amount, mask),
                };
                let op = match (op, signed) {
                    (Arith::Shl, _) => BinaryOp::Shl,
                    (_, true) => BinaryOp::Ashr,
                    _ => BinaryOp::Lshr,
                };
                return self.binary(op, a, amount);
            }
        };
        self.binary(op, a, b)
    }

    /// A quotient or remainder where the least integer by -1 wraps.
    fn signed_division(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(b);
        let minus_one = u64::MAX >> (64 - ty.scalar.bits());
        if self.func.splat_constant(b).is_some_and(|bits| bits != minus_one) {
            return self.binary(op, a, b);
        }
        let minus = self.constant(ty, -1);
        let is_minus = self.compare(IntCond::Eq, b, minus);
        let one = self.constant(ty, 1);
        let divisor = self.select(is_minus, one, b);
        let result = self.binary(op, a, divisor);
        if op == BinaryOp::Srem {
            // By 1 the remainder is 0 as well.
            return result;
        }
        let negated = self.value(Op::Unary(UnaryOp::Ineg, a));
        self.select(is_minus, negated, result)
    }

    fn int_cond(op: Compare, signed: bool) -> IntCond {
        match (op, signed) {
            (Compare::Eq, _) => IntCond::Eq,
            (Compare::Ne, _) => IntCond::Ne,
            (Compare::Lt, true) => IntCond::Slt,
            (Compare::Le, true) => IntCond::Sle,
            (Compare::Gt, true) => IntCond::Sgt,
            (Compare::Ge, true) => IntCond::Sge,
            (Compare::Lt, false) => IntCond::Ult,
            (Compare::Le, false) => IntCond::Ule,
            (Compare::Gt, false) => IntCond::Ugt,
            (Compare::Ge, false) => IntCond::Uge,
        }
    }

    /// A condition as a truth value.
    pub(super) fn truth(&mut self, expr: &Expr) -> Value {
        let outer = self.span.replace(expr.span);
        let truth = match &expr.kind {
            ExprKind::Compare(op, a, b) => {
                let signed = self.int_of(a.ty).is_signed();
                let (a, b) = (self.int(a), self.int(b));
                self.compare(Self::int_cond(*op, signed), a, b)
            }
            ExprKind::ComparePointers(op, a, b) => {
                let (a, b) = (self.pointer(a), self.pointer(b));
                self.span = Some(expr.span);
                self.compare_pointers(*op, a, b)
            }
            ExprKind::IsSet(a) => {
                let pointer = self.pointer(a);
                match pointer.object {
                    Which::Known(number) => self.constant(Type::I1, i64::from(number != 0)),
                    Which::Value(value) => {
                        let zero = self.i32(0);
                        self.compare(IntCond::Ne, value, zero)
                    }
                }
            }
            ExprKind::Not(a) => {
                let truth = self.truth(a);
                let yes = self.constant(Type::I1, 1);
                self.binary(BinaryOp::Xor, truth, yes)
            }
            _ => {
                let value = self.int(expr);
                self.is_set(value)
            }
        };
        self.span = outer;
        truth
    }

    /// Branches on a condition, operands of `&&` and `||` only where they are asked for.
    pub(super) fn branch_on(&mut self, expr: &Expr, then: Block, other: Block) {
        match &expr.kind {
            ExprKind::And(a, b) => {
                let next = self.new_block();
                self.branch_on(a, next, other);
                self.start(next);
                self.branch_on(b, then, other);
            }
            ExprKind::Or(a, b) => {
                let next = self.new_block();
                self.branch_on(a, then, next);
                self.start(next);
                self.branch_on(b, then, other);
            }
            ExprKind::Not(a) => self.branch_on(a, other, then),
            ExprKind::Const(value) => self.jump(if *value != 0 { then } else { other }),
            _ => {
                let truth = self.truth(expr);
                self.span = Some(expr.span);
                self.branch(truth, then, other);
            }
        }
    }

    fn compare_pointers(&mut self, op: Compare, a: Pointer, b: Pointer) -> Value {
        if !matches!(op, Compare::Eq | Compare::Ne) {
            self.same_object(a, b);
        }
        let (x, y) = (self.offset_value(a.at), self.offset_value(b.at));
        let places = self.compare(Self::int_cond(op, true), x, y);
        let (Compare::Eq | Compare::Ne) = op else { return places };
        let same = match (a.object, b.object) {
            (Which::Known(a), Which::Known(b)) => {
                let holds = (a == b) == (op == Compare::Eq);
                self.constant(Type::I1, i64::from(holds))
            }
            (a, b) => {
                let (a, b) = (self.object_value(a), self.object_value(b));
                self.compare(Self::int_cond(op, false), a, b)
            }
        };
        // Null has no place.
        if matches!(a.object, Which::Known(0)) || matches!(b.object, Which::Known(0)) {
            return same;
        }
        let join = if op == Compare::Eq { BinaryOp::And } else { BinaryOp::Or };
        self.binary(join, same, places)
    }

    /// Ends the run where two pointers are into different objects.
    fn same_object(&mut self, a: Pointer, b: Pointer) {
        match (a.object, b.object) {
            (Which::Known(a), Which::Known(b)) if a == b => {}
            (a, b) => {
                let (a, b) = (self.object_value(a), self.object_value(b));
                let same = self.compare(IntCond::Eq, a, b);
                let [then, other] = [(); 2].map(|()| self.new_block());
                self.branch(same, then, other);
                self.start(other);
                self.terminate(Terminator::Trap(pointers::DIFFERENT.to_string()));
                self.start(then);
            }
        }
    }

    fn conditional(&mut self, condition: &Expr, a: &Expr, b: &Expr, ty: Ty) -> Val {
        let [yes, no, end] = [(); 3].map(|()| self.new_block());
        self.branch_on(condition, yes, no);
        let mut result: Option<Located> = None;
        for (block, arm) in [(yes, a), (no, b)] {
            self.start(block);
            let value = self.expr(arm);
            match &value {
                Val::Void => {}
                Val::Pointer(pointer) | Val::At(pointer) => {
                    let to =
                        result.get_or_insert_with(|| Located::Pointer(self.pointer_vars(None)));
                    let to = to.clone();
                    self.set(&to, ty, &Val::Pointer(*pointer));
                }
                Val::Int(value) => {
                    let of = self.func.ty(*value);
                    let to =
                        result.get_or_insert_with(|| Located::Values(vec![self.ssa.variable(of)]));
                    let to = to.clone();
                    self.set(&to, ty, &Val::Int(*value));
                }
                Val::Parts(parts) => {
                    let types: Vec<Type> = parts.iter().map(|&part| self.func.ty(part)).collect();
                    let to = result.get_or_insert_with(|| {
                        Located::Values(types.iter().map(|&ty| self.ssa.variable(ty)).collect())
                    });
                    let to = to.clone();
                    self.set(&to, ty, &value);
                }
            }
            self.jump(end);
        }
        self.start(end);
        let Some(result) = result else { return Val::Void };
        match (&result, self.types.is_pointer(ty)) {
            (&Located::Pointer(vars), false) => Val::At(self.held(vars)),
            _ => self.get(&result, ty),
        }
    }

    /// An expression whose value nobody uses.
    pub(super) fn dropped(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(number, args) => {
                self.call(*number, args, expr.span, false);
            }
            ExprKind::Comma(a, b) => {
                self.dropped(a);
                self.dropped(b);
            }
            _ => {
                self.expr(expr);
            }
        }
    }

    /// Inlines a call, whose value is used or not.
    fn call(&mut self, number: usize, args: &[Expr], span: Span, is_used: bool) -> Val {
        let args: Vec<Val> = args.iter().map(|arg| self.expr(arg)).collect();
        self.span = Some(span);
        if self.too_large {
            // What is left out is reported already.
            return self.nothing(self.program.functions[number].result);
        }
        let function = &self.program.functions[number];
        if function.body.is_none() {
            self.refuse_undefined(function.name);
            return self.nothing(function.result);
        }
        self.inlined(number, args, is_used.then_some(span))
    }

    pub(super) fn nothing(&mut self, ty: Ty) -> Val {
        if ty == Types::VOID {
            return Val::Void;
        }
        if self.types.is_pointer(ty) {
            return Val::Pointer(whole(0));
        }
        if self.types.leaves(ty) > MAX_PARTS {
            return Val::At(whole(0));
        }
        let mut all = Vec::new();
        self.scalars(ty, &mut all);
        let mut parts: Vec<Value> =
            all.into_iter().map(|int| self.constant(ir_type(int), 0)).collect();
        if self.types.members(ty).is_some() { Val::Parts(parts) } else { Val::Int(parts.remove(0)) }
    }

    /// Refuses that the value of a function is used that gives none.
    fn refuse_valueless(&mut self, number: usize, span: Span) {
        let function = &self.program.functions[number];
        let name = function.name;
        if function.ends && !function.returns_value && self.refused.insert(name) {
            let message = format!("`{}` gives no value", self.names.text(name));
            let error = Diagnostic::error(&codes::RETURN, message).at(span, "a value is used");
            let error = error.and(function.span, "defined without a `return`");
            self.diagnostics.push(error.help("return a value, or make the function `void`"));
        }
    }

    /// The body of a function on arguments, and its result, which is used at `used`.
    pub(super) fn inlined(&mut self, number: usize, args: Vec<Val>, used: Option<Span>) -> Val {
        let program = self.program;
        let function = &program.functions[number];
        let returns_to = self.new_block();
        let ty = function.result;
        if let Some(span) = used.filter(|_| ty != Types::VOID) {
            self.refuse_valueless(number, span);
        }
        let result = (ty != Types::VOID).then(|| {
            let in_memory = self.types.leaves(ty) > MAX_PARTS || self.has_array(ty);
            self.make_variable(ty, in_memory, "result")
        });
        let frame = Frame {
            function: number,
            variables: function.locals.iter().map(|_| None).collect(),
            returns_to,
            result: result.clone(),
            breaks: vec![],
            continues: vec![],
            labels: Default::default(),
            loops: 0,
        };
        self.frames.push(frame);
        let mut waiting = function.extents.iter();
        let outer = self.promises_here();
        for (param, value) in function.params.iter().zip(&args) {
            let to = self.located(param.local);
            self.promise_begins(&to, param.span);
            self.set(&to, param.ty, value);
        }
        // Extents are made of parameters before them, which all have their values now.
        for (local, extent) in waiting.by_ref() {
            let value = self.expr(extent);
            let to = self.located(*local);
            self.set(&to, Types::LONG, &value);
        }
        if let Some(body) = &function.body {
            self.statements(body);
        }
        self.span = Some(function.span);
        if ty == Types::VOID {
            self.jump(returns_to);
        } else if used.is_none() {
            // Only who uses the value asks for one (C11, 6.9.1).
            match (&result, self.nothing(ty)) {
                (Some(Variable::Values(vars)), nothing) => {
                    self.set(&Located::Values(vars.clone()), ty, &nothing);
                }
                (Some(Variable::Pointer(vars)), nothing) => {
                    self.set(&Located::Pointer(*vars), ty, &nothing);
                }
                (Some(Variable::Memory(_)) | None, _) => {}
            }
            self.jump(returns_to);
        } else {
            let name = self.names.text(function.name);
            let message = format!("`{name}` ends without the value that is used");
            self.terminate(Terminator::Trap(message));
        }
        self.start(returns_to);
        self.promises_end(outer);
        self.frames.pop();
        match result {
            None => Val::Void,
            Some(Variable::Values(vars)) => self.get(&Located::Values(vars), ty),
            Some(Variable::Pointer(vars)) => self.get(&Located::Pointer(vars), ty),
            Some(Variable::Memory(number)) => Val::At(whole(number)),
        }
    }

    fn has_array(&self, ty: Ty) -> bool {
        self.types.sums(ty).has_array
    }
}
