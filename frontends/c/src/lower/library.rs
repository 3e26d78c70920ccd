//! The functions of the library that are provided, and loops over elements that copy and clear.

use nbcc_base::Diagnostic;
use nbcc_ir::{BinaryOp, IntCond, Op, Type, UnaryOp, Value};

use super::build::ir_type;
use super::state::{Lower, Offset, Pointer, Val};
use crate::codes;
use crate::sema::tree::{Expr, ExprKind, Library};
use crate::types::{Int, Kind, Layout, Len, Ty, Types};

/// So many scalars are copied one by one, more in a loop.
const UNROLLED: u64 = 16;

impl Lower<'_> {
    pub(super) fn library(&mut self, function: Library, args: &[Expr], ty: Ty) -> Val {
        match function {
            Library::Abs => {
                let value = self.int(&args[0]);
                let zero = self.constant(self.func.ty(value), 0);
                let negative = self.compare(IntCond::Slt, value, zero);
                let negated = self.value(Op::Unary(UnaryOp::Ineg, value));
                let int = self.int_of(ty);
                debug_assert!(int.is_signed());
                Val::Int(self.select(negative, negated, value))
            }
            Library::Memset => self.memset(args),
            Library::Memcpy | Library::Memmove => self.memmove(function, args),
            Library::Memcmp => self.memcmp(args),
        }
    }

    /// The scalars that the bytes of a function are made of.
    fn bytes_of(&mut self, pointer: &Expr) -> Option<Int> {
        let of = self.pointee(pointer)?;
        match self.types.layout(of) {
            Layout::Uniform(int, _) => Some(int),
            Layout::Mixed => {
                let message = "the bytes of a structure with members of several types";
                let error = Diagnostic::error(&codes::MEMORY_FUNCTION, message);
                let error = error.at(pointer.span, "not one type of numbers");
                self.diagnostics.push(error.help("copy the structures in a loop: `a[i] = b[i]`"));
                self.too_large = true;
                None
            }
        }
    }

    fn pointee(&self, pointer: &Expr) -> Option<Ty> {
        let mut inner = pointer;
        while let ExprKind::Repoint(next) = &inner.kind {
            inner = next;
        }
        let of = self.types.pointee(inner.ty)?.ty;
        (of != Types::VOID).then_some(of)
    }

    /// The structure of members of several types that a pointer points to, or an array of it, and its
    /// bytes.
    fn mixed(&self, pointer: &Expr) -> Option<(Ty, i64)> {
        let mut of = self.pointee(pointer)?;
        while let Kind::Array(element, _) = self.types.kind(of) {
            of = element.ty;
        }
        let bytes = self.types.size(of).filter(|_| self.types.layout(of) == Layout::Mixed)?;
        Some((of, i64::try_from(bytes).ok()?))
    }

    /// How many scalars some bytes are; the run ends where they are no whole number.
    fn scalars_of(&mut self, bytes: &Expr, int: Int) -> Value {
        self.count_of(bytes, i64::from(int.bits() / 8))
    }

    /// How many elements of a size some bytes are; the run ends where they are no whole number.
    fn count_of(&mut self, bytes: &Expr, size: i64) -> Value {
        let bytes = self.int(bytes);
        let bytes = self.widen(bytes, false, Type::I64);
        let most = self.constant(Type::I64, i64::from(i32::MAX) * size);
        let bytes = self.binary(BinaryOp::Umin, bytes, most);
        if size == 1 {
            return self.widen(bytes, false, Type::I32);
        }
        let width = self.constant(Type::I64, size);
        let rest = self.binary(BinaryOp::Urem, bytes, width);
        let is_part = self.is_set(rest);
        let [part, whole] = [(); 2].map(|()| self.new_block());
        self.branch(is_part, part, whole);
        self.start(part);
        self.terminate(nbcc_ir::Terminator::Trap("a part of an element is copied or set".into()));
        self.start(whole);
        let count = self.binary(BinaryOp::Udiv, bytes, width);
        self.widen(count, false, Type::I32)
    }

    fn memset(&mut self, args: &[Expr]) -> Val {
        let to = self.pointer(&args[0]);
        let byte = self.int(&args[1]);
        if let Some((ty, bytes)) = self.mixed(&args[0]) {
            let byte = self.widen(byte, true, Type::I8);
            let count = self.count_of(&args[2], bytes);
            self.each("memset", count, |lower, number| {
                let at = lower.add(to.at, Offset { value: Some(number), constant: 0 });
                lower.fill(Pointer { at, ..to }, ty, byte);
            });
            return Val::Pointer(to);
        }
        let Some(int) = self.bytes_of(&args[0]) else { return Val::Pointer(to) };
        let byte = self.widen(byte, true, Type::I8);
        let value = self.repeated(byte, int);
        let count = self.scalars_of(&args[2], int);
        self.each("memset", count, |lower, number| {
            let at = lower.add(to.at, Offset { value: Some(number), constant: 0 });
            lower.store(Pointer { at, ..to }, value);
        });
        Val::Pointer(to)
    }

    /// The scalar whose bytes are all that one.
    fn repeated(&mut self, byte: Value, int: Int) -> Value {
        let value = self.widen(byte, false, ir_type(int));
        if int.bits() == 8 {
            return value;
        }
        let ones = self.constant(ir_type(int), 0x0101_0101_0101_0101);
        self.binary(BinaryOp::Imul, value, ones)
    }

    /// Makes every byte of a value that one.
    fn fill(&mut self, to: Pointer, ty: Ty, byte: Value) {
        match (self.types.layout(ty), self.types.kind(ty)) {
            (Layout::Uniform(int, leaves), _) => {
                let value = self.repeated(byte, int);
                self.span_of(leaves, |lower, at| {
                    let at = lower.add(to.at, at);
                    lower.store(Pointer { at, ..to }, value);
                });
            }
            (_, Kind::Array(of, Len::Fixed(count))) => {
                let unit = self.unit(of.ty);
                self.span_of(count, |lower, at| {
                    let at = lower.scaled(at, unit);
                    let at = lower.add(to.at, at);
                    lower.fill(Pointer { at, ..to }, of.ty, byte);
                });
            }
            _ => {
                for (number, (_, of)) in self.fields(ty).into_iter().enumerate() {
                    let member = self.member_of(to, ty, number);
                    self.fill(member, of, byte);
                }
            }
        }
    }

    fn memmove(&mut self, function: Library, args: &[Expr]) -> Val {
        let (to, from) = (self.pointer(&args[0]), self.pointer(&args[1]));
        if let Some((ty, bytes)) = self.mixed(&args[0])
            && self.mixed(&args[1]) == Some((ty, bytes))
        {
            let count = self.count_of(&args[2], bytes);
            self.moved(function, to, from, count, |lower, target, source| {
                lower.copy(target, source, ty);
            });
            return Val::Pointer(to);
        }
        let (Some(a), Some(b)) = (self.bytes_of(&args[0]), self.bytes_of(&args[1])) else {
            return Val::Pointer(to);
        };
        if a.bits() != b.bits() {
            self.regrouped(function, (to, a), (from, b), &args[2]);
            return Val::Pointer(to);
        }
        let count = self.scalars_of(&args[2], a);
        self.moved(function, to, from, count, |lower, target, source| {
            lower.transfer(target, source, ir_type(a));
        });
        Val::Pointer(to)
    }

    /// Copies elements one by one, from the last to the first where they may lie over each other.
    fn moved(
        &mut self,
        function: Library,
        to: Pointer,
        from: Pointer,
        count: Value,
        one: impl FnOnce(&mut Self, Pointer, Pointer),
    ) {
        let outer = self.promises_here();
        let (to, from) = match function {
            Library::Memcpy => (self.promised(to), self.promised(from)),
            _ => (to, from),
        };
        let backwards = (function == Library::Memmove).then(|| {
            let (x, y) = (self.offset_value(to.at), self.offset_value(from.at));
            self.compare(IntCond::Sgt, x, y)
        });
        self.each("memcpy", count, |lower, number| {
            let mut number = number;
            if let Some(backwards) = backwards {
                let minus_one = lower.i32(-1);
                let last = lower.binary(BinaryOp::Iadd, count, minus_one);
                let other = lower.binary(BinaryOp::Isub, last, number);
                number = lower.select(backwards, other, number);
            }
            let number = Offset { value: Some(number), constant: 0 };
            let source = Pointer { at: lower.add(from.at, number), ..from };
            let target = Pointer { at: lower.add(to.at, number), ..to };
            one(lower, target, source);
        });
        self.promises_end(outer);
    }

    /// Copies between scalars of two sizes: each of the larger ones is several of the smaller ones, the
    /// lowest first. Objects of two types do not lie over each other.
    fn regrouped(
        &mut self,
        function: Library,
        (to, target): (Pointer, Int),
        (from, source): (Pointer, Int),
        bytes: &Expr,
    ) {
        let is_joined = target.bits() > source.bits();
        let (whole, part) = if is_joined { (target, source) } else { (source, target) };
        let (whole_ty, part_ty) = (ir_type(whole), ir_type(part));
        let pieces = u64::from(whole.bits() / part.bits());
        let count = self.scalars_of(bytes, whole);
        let outer = self.promises_here();
        let (to, from) = match function {
            Library::Memcpy => (self.promised(to), self.promised(from)),
            _ => (to, from),
        };
        self.each("memcpy", count, |lower, number| {
            let at = Offset { value: Some(number), constant: 0 };
            let first = lower.scaled(at, pieces);
            let place = |lower: &mut Self, of: Pointer, at: Offset, constant: u64| {
                let at = lower.add(at, Offset { value: None, constant: constant as i64 });
                Pointer { at: lower.add(of.at, at), ..of }
            };
            let by = |lower: &mut Self, piece: u64| {
                lower.constant(whole_ty, (piece * u64::from(part.bits())) as i64)
            };
            let mut joined = match is_joined {
                true => lower.constant(whole_ty, 0),
                false => {
                    let source = place(lower, from, at, 0);
                    lower.load(source, whole_ty)
                }
            };
            for piece in 0..pieces {
                let by = by(lower, piece);
                if is_joined {
                    let source = place(lower, from, first, piece);
                    let value = lower.load(source, part_ty);
                    let value = lower.widen(value, false, whole_ty);
                    let value = lower.binary(BinaryOp::Shl, value, by);
                    joined = lower.binary(BinaryOp::Or, joined, value);
                } else {
                    let value = lower.binary(BinaryOp::Lshr, joined, by);
                    let value = lower.widen(value, false, part_ty);
                    let target = place(lower, to, first, piece);
                    lower.store(target, value);
                }
            }
            if is_joined {
                let target = place(lower, to, at, 0);
                lower.store(target, joined);
            }
        });
        self.promises_end(outer);
    }

    fn different_sizes(&mut self, arg: &Expr) {
        let message = "the bytes of elements of another size";
        let error = Diagnostic::error(&codes::MEMORY_FUNCTION, message);
        let error = error.at(arg.span, "another size than the first argument's");
        self.diagnostics
            .push(error.help("take the elements apart with shifts and masks in a loop"));
        self.too_large = true;
    }

    /// The difference of the first bytes that differ, as the C library of x86-64 gives it.
    fn memcmp(&mut self, args: &[Expr]) -> Val {
        let (a, b) = (self.pointer(&args[0]), self.pointer(&args[1]));
        let (Some(x), Some(y)) = (self.bytes_of(&args[0]), self.bytes_of(&args[1])) else {
            return Val::Int(self.i32(0));
        };
        if x.bits() != y.bits() {
            self.different_sizes(&args[1]);
            return Val::Int(self.i32(0));
        }
        let ty = ir_type(x);
        let count = self.scalars_of(&args[2], x);
        let result = self.ssa.variable(Type::I32);
        let zero = self.i32(0);
        self.write(result, zero);
        let end = self.new_block();
        self.each("memcmp", count, |lower, number| {
            let number = Offset { value: Some(number), constant: 0 };
            let at = lower.add(a.at, number);
            let left = lower.load(Pointer { at, ..a }, ty);
            let at = lower.add(b.at, number);
            let right = lower.load(Pointer { at, ..b }, ty);
            let [found, next] = [(); 2].map(|()| lower.new_block());
            let differ = lower.compare(IntCond::Ne, left, right);
            lower.branch(differ, found, next);
            lower.start(found);
            let (mut left, mut right) = (left, right);
            for _ in 1..x.bits() / 8 {
                // The lowest byte comes first.
                let mask = lower.constant(ty, 0xff);
                let (p, q) = (
                    lower.binary(BinaryOp::And, left, mask),
                    lower.binary(BinaryOp::And, right, mask),
                );
                let same = lower.compare(IntCond::Eq, p, q);
                let eight = lower.constant(ty, 8);
                let shifted = lower.binary(BinaryOp::Lshr, left, eight);
                left = lower.select(same, shifted, left);
                let shifted = lower.binary(BinaryOp::Lshr, right, eight);
                right = lower.select(same, shifted, right);
            }
            let (left, right) =
                (lower.widen(left, false, Type::I32), lower.widen(right, false, Type::I32));
            let mask = lower.i32(0xff);
            let (left, right) =
                (lower.binary(BinaryOp::And, left, mask), lower.binary(BinaryOp::And, right, mask));
            let difference = lower.binary(BinaryOp::Isub, left, right);
            lower.write(result, difference);
            lower.jump(end);
            lower.start(next);
        });
        self.jump(end);
        self.start(end);
        Val::Int(self.read(result))
    }

    /// A loop over the numbers below a count.
    pub(super) fn each(&mut self, name: &str, count: Value, body: impl FnOnce(&mut Self, Value)) {
        let var = self.ssa.variable(Type::I32);
        let zero = self.i32(0);
        self.write(var, zero);
        let [header, exit] = [(); 2].map(|()| self.new_block());
        let some = self.compare(IntCond::Slt, zero, count);
        self.branch(some, header, exit);
        self.block = header;
        let number = self.read(var);
        let counter = nbcc_ir::Counter { value: number, step: 1 };
        body(self, number);
        let one = self.i32(1);
        let next = self.binary(BinaryOp::Iadd, number, one);
        self.write(var, next);
        let again = self.compare(IntCond::Slt, next, count);
        self.branch(again, header, exit);
        self.ssa.seal(&mut self.func, header);
        let trips = self.func.splat_constant(count).filter(|&trips| trips > 0);
        self.func.blocks[header].loop_info =
            Some(nbcc_ir::LoopInfo { name: name.into(), trips, counter: Some(counter) });
        self.start(exit);
    }

    /// Copies a structure or array.
    pub(super) fn copy(&mut self, to: Pointer, from: Pointer, ty: Ty) {
        match (self.types.layout(ty), self.types.kind(ty)) {
            (Layout::Uniform(int, leaves), _) => {
                self.span_of(leaves, |lower, at| {
                    let source = Pointer { at: lower.add(from.at, at), ..from };
                    let target = Pointer { at: lower.add(to.at, at), ..to };
                    lower.transfer(target, source, ir_type(int));
                });
            }
            (_, Kind::Array(of, Len::Fixed(count))) => {
                let unit = self.unit(of.ty);
                self.span_of(count, |lower, at| {
                    let at = lower.scaled(at, unit);
                    let source = Pointer { at: lower.add(from.at, at), ..from };
                    let target = Pointer { at: lower.add(to.at, at), ..to };
                    lower.copy(target, source, of.ty);
                });
            }
            _ => {
                for (number, (_, of)) in self.fields(ty).into_iter().enumerate() {
                    let source = self.member_of(from, ty, number);
                    let target = self.member_of(to, ty, number);
                    self.copy(target, source, of);
                }
            }
        }
    }

    /// Does something for each number below a count.
    fn span_of(&mut self, count: u64, mut body: impl FnMut(&mut Self, Offset)) {
        if count <= UNROLLED {
            for constant in 0..count as i64 {
                body(self, Offset { value: None, constant });
            }
            return;
        }
        let count = self.i32(count as i64);
        self.each("copy", count, |lower, number| {
            body(lower, Offset { value: Some(number), constant: 0 });
        });
    }

    /// Makes the scalars of an object zero but for some, given by the first and their number.
    pub(super) fn clear(&mut self, to: Pointer, ty: Ty, but: &[(u64, u64)]) {
        let leaves = self.types.leaves(ty);
        let given: u64 = but.iter().map(|&(_, count)| count).sum();
        let loops = leaves - given.min(leaves) > UNROLLED;
        match self.types.layout(ty) {
            Layout::Uniform(int, _) if loops => {
                let zero = self.constant(ir_type(int), 0);
                let count = self.i32(leaves as i64);
                self.each("clear", count, |lower, number| {
                    let at = lower.add(to.at, Offset { value: Some(number), constant: 0 });
                    lower.store(Pointer { at, ..to }, zero);
                });
            }
            _ if loops && matches!(self.types.kind(ty), Kind::Array(..)) => {
                let Kind::Array(of, Len::Fixed(count)) = self.types.kind(ty) else { return };
                let count = self.i32(count as i64);
                let unit = self.unit(of.ty);
                self.each("clear", count, |lower, number| {
                    let at = lower.scaled(Offset { value: Some(number), constant: 0 }, unit);
                    let at = lower.add(to.at, at);
                    lower.clear(Pointer { at, ..to }, of.ty, &[]);
                });
            }
            _ if loops => {
                for (number, (_, of)) in self.fields(ty).into_iter().enumerate() {
                    let member = self.member_of(to, ty, number);
                    self.clear(member, of, &[]);
                }
            }
            _ => {
                let mut leaf = 0;
                for &(from, count) in but.iter().chain([&(leaves, 0)]) {
                    while leaf < from.min(leaves) {
                        let (at, int) = self.scalar_at(to, ty, leaf);
                        let zero = self.constant(ir_type(int), 0);
                        self.store(at, zero);
                        leaf += 1;
                    }
                    leaf = leaf.max(from + count);
                }
            }
        }
    }
}
