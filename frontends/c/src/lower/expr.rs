//! Expressions, from left to right.

use nbcc_base::Span;
use nbcc_ir::{BinaryOp, Block, IntCond, Op, Terminator, Type, UnaryOp, Value};

use super::objects::{Holder, Variable};
use super::ssa::Var;
use super::{Frame, Lower, Offset, Pointer, Val, Which, ir_type, pointers};
use crate::sema::tree::{Arith, Compare, Expr, ExprKind, Init, Place, PlaceKind};
use crate::types::{Int, Kind, Ty, Types};

/// Scalars of a structure at most that are carried as values.
pub(super) const MAX_PARTS: u64 = 64;

/// Where a place is.
#[derive(Clone, Debug)]
pub(super) enum Located {
    Values(Vec<Var>),
    Pointer(Var, Var),
    Memory(Pointer),
}

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
            ExprKind::Null => {
                Val::Pointer(Pointer { object: Which::Known(0), at: Offset::default() })
            }
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
                self.expr(a);
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
            ExprKind::Call(number, args) => self.call(*number, args, span),
            ExprKind::Library(function, args) => self.library(*function, args, ty),
            ExprKind::AssertFail(text) => {
                self.trap(format!("the assertion `{text}` fails"));
                Val::Void
            }
        }
    }

    /// An integer of one type as one of another.
    pub(super) fn converted(&mut self, value: Value, from: Int, to: Int) -> Value {
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
                    let to = result.get_or_insert_with(|| {
                        Located::Pointer(self.ssa.variable(Type::I32), self.ssa.variable(Type::I32))
                    });
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
            (&Located::Pointer(object, at), false) => {
                let (object, at) = (self.read(object), self.read(at));
                let (object, at) = (self.object_of(object), self.offset_of(at));
                Val::At(Pointer { object, at })
            }
            _ => self.get(&result, ty),
        }
    }

    /// The variable of the innermost function.
    fn local(&mut self, local: u32) -> Variable {
        let frame = self.frames.last().expect("a function is lowered");
        if let Some(variable) = &frame.variables[local as usize] {
            return variable.clone();
        }
        let data = &self.program.functions[frame.function].locals[local as usize];
        let name = self.names.text(data.name).to_string();
        let variable = self.make_variable(data.ty, data.in_memory, &name);
        self.frame().variables[local as usize] = Some(variable.clone());
        variable
    }

    /// What an extent that is a variable holds, as a number of 32 bits.
    pub(super) fn extent_value(&mut self, local: u32) -> Value {
        let of = self.located(local);
        let Val::Int(value) = self.get(&of, Types::LONG) else { return self.i32(0) };
        self.widen(value, true, Type::I32)
    }

    pub(super) fn located(&mut self, local: u32) -> Located {
        match self.local(local) {
            Variable::Values(vars) => Located::Values(vars),
            Variable::Pointer(object, at) => Located::Pointer(object, at),
            Variable::Memory(number) => Located::Memory(whole(number)),
        }
    }

    fn global(&mut self, number: usize) -> Located {
        let program = self.program;
        let data = &program.globals[number];
        let variable = match &self.globals[number] {
            Some(variable) => variable.clone(),
            None if data.in_memory => {
                let name = self.names.text(data.name).to_string();
                let name = if data.name.0 == 0 { "text".to_string() } else { name };
                let is_const = !data.written && self.is_table(number);
                let object = self.allocate(data.ty, &name, 1, Holder::Module { is_const });
                for (&leaf, &value) in &data.values {
                    self.set_initial(object, data.ty, leaf, value);
                }
                Variable::Memory(object)
            }
            None => {
                let variable = self.make_variable(data.ty, false, "");
                let block = std::mem::replace(&mut self.block, self.func.entry());
                match &variable {
                    Variable::Values(vars) => {
                        for (leaf, &var) in vars.iter().enumerate() {
                            let value = data.values.get(&(leaf as u64)).copied().unwrap_or(0);
                            let ty = self.ssa_type(var);
                            let value = self.first_constant(ty, value);
                            self.write(var, value);
                        }
                    }
                    Variable::Pointer(object, at) => {
                        let pointer = match &data.pointer {
                            Some(pointer) => self.static_pointer(pointer),
                            None => whole(0),
                        };
                        let number = self.object_value(pointer.object);
                        let place = self.first_constant(Type::I32, pointer.at.constant);
                        self.write(*object, number);
                        self.write(*at, place);
                    }
                    Variable::Memory(_) => {}
                }
                self.block = block;
                variable
            }
        };
        self.globals[number] = Some(variable.clone());
        match variable {
            Variable::Values(vars) => Located::Values(vars),
            Variable::Pointer(object, at) => Located::Pointer(object, at),
            Variable::Memory(number) => Located::Memory(whole(number)),
        }
    }

    /// Whether nothing may write a variable in memory: its elements are `const`.
    fn is_table(&self, number: usize) -> bool {
        let data = &self.program.globals[number];
        let mut ty = data.ty;
        let mut is_const = data.is_const;
        while let Kind::Array(of, _) = self.types.kind(ty) {
            is_const |= of.is_const;
            ty = of.ty;
        }
        is_const
    }

    fn ssa_type(&mut self, var: Var) -> Type {
        self.ssa.type_of(var)
    }

    /// A constant at the start of the function.
    fn first_constant(&mut self, ty: Type, value: i64) -> Value {
        let bits = value as u64 & (u64::MAX >> (64 - ty.scalar.bits()));
        let constant = Op::Const(ty, nbcc_ir::Constant::Splat(bits));
        let inst = self.func.make_inst(constant, &[ty], None);
        let entry = self.func.entry();
        self.func.blocks[entry].insts.insert(0, inst);
        self.func.insts[inst].results[0]
    }

    /// A pointer that is known before the program runs.
    fn static_pointer(&mut self, expr: &Expr) -> Pointer {
        match self.expr(expr) {
            Val::Pointer(pointer) => pointer,
            _ => whole(0),
        }
    }

    fn set_initial(&mut self, object: u32, ty: Ty, leaf: u64, value: i64) {
        let (at, int) = self.scalar_at(whole(object), ty, leaf);
        let Which::Known(number) = at.object else { return };
        let Some(mem) = self.mem_of(number) else { return };
        let nbcc_ir::Storage::Object(object) = self.func.mems[mem].storage else { return };
        let bytes = int.bits() as usize / 8;
        let data = &mut self.module.objects[object].bytes;
        let start = at.at.constant as usize * bytes;
        if data.len() < start + bytes {
            data.resize(start + bytes, 0);
        }
        data[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }

    pub(super) fn place(&mut self, place: &Place) -> Located {
        match &place.kind {
            PlaceKind::Bad => unreachable!("a program with errors is not lowered"),
            PlaceKind::Local(local) => self.located(*local),
            PlaceKind::Global(number) => self.global(*number),
            PlaceKind::Deref(pointer) => Located::Memory(self.pointer(pointer)),
            PlaceKind::Index(inner, index) => {
                let of = self.place(inner);
                let int = self.int_of(index.ty);
                let index = self.int(index);
                self.span = Some(place.span);
                let Located::Memory(pointer) = of else { unreachable!("an array lies in memory") };
                let moved = self.elements(index, int, place.ty, false);
                Located::Memory(Pointer { at: self.add(pointer.at, moved), ..pointer })
            }
            PlaceKind::Member(inner, number) => match self.place(inner) {
                Located::Values(vars) => {
                    let members = self.types.members(inner.ty).unwrap_or_default();
                    let before = members[..*number].iter();
                    let start: u64 = before.map(|member| self.types.leaves(member.of.ty)).sum();
                    let count = self.types.leaves(place.ty);
                    Located::Values(vars[start as usize..(start + count) as usize].to_vec())
                }
                Located::Memory(pointer) => {
                    Located::Memory(self.member_of(pointer, inner.ty, *number))
                }
                Located::Pointer(..) => unreachable!("a pointer has no members"),
            },
            PlaceKind::Literal(local, init) => {
                self.initialise(*local, Some(init));
                self.located(*local)
            }
            PlaceKind::Temporary(local, value) => {
                let value = self.expr(value);
                let to = self.located(*local);
                self.set(&to, place.ty, &value);
                to
            }
        }
    }

    pub(super) fn get(&mut self, from: &Located, ty: Ty) -> Val {
        match from {
            Located::Values(vars) => {
                let mut parts: Vec<Value> = vars.iter().map(|&var| self.read(var)).collect();
                if self.types.members(ty).is_some() {
                    Val::Parts(parts)
                } else {
                    Val::Int(parts.remove(0))
                }
            }
            Located::Pointer(object, at) => {
                let (object, at) = (self.read(*object), self.read(*at));
                let (object, at) = (self.object_of(object), self.offset_of(at));
                Val::Pointer(Pointer { object, at })
            }
            Located::Memory(pointer) => self.load_value(*pointer, ty),
        }
    }

    pub(super) fn set(&mut self, to: &Located, ty: Ty, value: &Val) {
        match (to, value) {
            (Located::Values(vars), Val::Int(value)) => self.write(vars[0], *value),
            (Located::Values(vars), Val::Parts(parts)) => {
                for (&var, &part) in vars.iter().zip(parts) {
                    self.write(var, part);
                }
            }
            (&Located::Pointer(object, at), Val::Pointer(pointer)) => {
                let number = self.object_value(pointer.object);
                let place = self.offset_value(pointer.at);
                self.write(object, number);
                self.write(at, place);
            }
            (Located::Memory(pointer), value) => self.store_value(*pointer, ty, value),
            _ => {}
        }
    }

    /// A variable comes into being.
    pub(super) fn initialise(&mut self, local: u32, init: Option<&Init>) {
        let number = self.frame().function;
        let program = self.program;
        let data = &program.functions[number].locals[local as usize];
        let (ty, span) = (data.ty, data.span);
        if let (Some(init), None, true) =
            (init, &self.frame().variables[local as usize], data.in_memory)
            && let Some(values) = constants(init)
            && self.is_const_array(ty)
        {
            // A table that nothing writes is one for all calls.
            let name = self.names.text(data.name).to_string();
            let object = self.allocate(ty, &name, 1, Holder::Module { is_const: true });
            for (leaf, value) in values {
                self.set_initial(object, ty, leaf, value);
            }
            self.frame().variables[local as usize] = Some(Variable::Memory(object));
            return;
        }
        let to = self.located(local);
        match &to {
            Located::Memory(pointer) => {
                let Some(init) = init else { return };
                if let Located::Memory(Pointer { object: Which::Known(number), .. }) = to
                    && let Some(mem) = self.mem_of(number)
                    && let nbcc_ir::Storage::Object(_) = self.func.mems[mem].storage
                {
                    return;
                }
                self.init_memory(*pointer, ty, init, span);
            }
            Located::Values(vars) => {
                let vars = vars.clone();
                let zeros: Vec<Type> = vars.iter().map(|&var| self.ssa_type(var)).collect();
                let mut parts: Vec<Option<Value>> = vec![None; vars.len()];
                for (&leaf, value) in init.iter().flat_map(|init| &init.values) {
                    match self.expr(value) {
                        Val::Int(value) => parts[leaf as usize] = Some(value),
                        Val::Parts(inner) => {
                            for (at, value) in inner.into_iter().enumerate() {
                                parts[leaf as usize + at] = Some(value);
                            }
                        }
                        _ => {}
                    }
                }
                for ((var, part), zero) in vars.into_iter().zip(parts).zip(zeros) {
                    let value = match part {
                        Some(value) => value,
                        None => self.constant(zero, 0),
                    };
                    self.write(var, value);
                }
            }
            Located::Pointer(..) => {
                let value = match init.and_then(|init| init.values.values().next()) {
                    Some(value) => self.expr(value),
                    None => Val::Pointer(whole(0)),
                };
                self.set(&to, ty, &value);
            }
        }
    }

    fn is_const_array(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::Array(of, _) => of.is_const || self.is_const_array(of.ty),
            _ => false,
        }
    }

    fn init_memory(&mut self, to: Pointer, ty: Ty, init: &Init, span: Span) {
        let leaves = self.types.leaves(ty);
        let given: u64 = init.values.values().map(|value| self.types.leaves(value.ty)).sum();
        self.span = Some(span);
        if given < leaves {
            self.clear(
                to,
                ty,
                &init
                    .values
                    .iter()
                    .map(|(&at, value)| (at, self.types.leaves(value.ty)))
                    .collect::<Vec<_>>(),
            );
        }
        for (&leaf, value) in &init.values {
            let of = value.ty;
            match self.expr(value) {
                Val::Int(value) => {
                    let (at, _) = self.scalar_at(to, ty, leaf);
                    self.store(at, value);
                }
                Val::Parts(parts) => {
                    for (number, part) in parts.into_iter().enumerate() {
                        let (at, _) = self.scalar_at(to, ty, leaf + number as u64);
                        self.store(at, part);
                    }
                }
                Val::At(from) => {
                    for number in 0..self.types.leaves(of) {
                        let (source, int) = self.scalar_at(from, of, number);
                        let value = self.load(source, ir_type(int));
                        let (at, _) = self.scalar_at(to, ty, leaf + number);
                        self.store(at, value);
                    }
                }
                Val::Void | Val::Pointer(_) => {}
            }
        }
    }

    /// Inlines a call.
    fn call(&mut self, number: usize, args: &[Expr], span: Span) -> Val {
        let args: Vec<Val> = args.iter().map(|arg| self.expr(arg)).collect();
        self.span = Some(span);
        if self.too_large {
            // What is left out is reported already.
            return self.nothing(self.program.functions[number].result);
        }
        self.inlined(number, args)
    }

    fn nothing(&mut self, ty: Ty) -> Val {
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

    /// The body of a function on arguments, and its result.
    pub(super) fn inlined(&mut self, number: usize, args: Vec<Val>) -> Val {
        let program = self.program;
        let function = &program.functions[number];
        let returns_to = self.new_block();
        let ty = function.result;
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
        for (param, value) in function.params.iter().zip(&args) {
            let to = self.located(param.local);
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
        } else {
            let name = self.names.text(function.name);
            let message = format!("`{name}` ends without the value that is used");
            self.terminate(Terminator::Trap(message));
        }
        self.start(returns_to);
        self.frames.pop();
        match result {
            None => Val::Void,
            Some(Variable::Values(vars)) => self.get(&Located::Values(vars), ty),
            Some(Variable::Pointer(object, at)) => self.get(&Located::Pointer(object, at), ty),
            Some(Variable::Memory(number)) => Val::At(whole(number)),
        }
    }

    pub(super) fn has_array(&self, ty: Ty) -> bool {
        self.types.sums(ty).has_array
    }
}

/// A pointer to the first scalar of an object.
pub(super) fn whole(number: u32) -> Pointer {
    Pointer { object: Which::Known(number), at: Offset::default() }
}

/// The values of an initialiser, where all are constants.
fn constants(init: &Init) -> Option<Vec<(u64, i64)>> {
    let constant = |(&at, value): (&u64, &Expr)| match value.kind {
        ExprKind::Const(value) => Some((at, value)),
        _ => None,
    };
    init.values.iter().map(constant).collect()
}
