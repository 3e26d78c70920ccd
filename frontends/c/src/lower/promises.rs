//! Checked programs: what `restrict` pointers promise (C11, 6.7.3.1). While the block of such a pointer
//! runs, from its declaration on, an element that is reached through it and stored to is reached
//! through it only, or through pointers made of it. Every pointer carries its origin along, every
//! access where a promise holds says what it reaches, and the interpreter counts
//! ([`nbcc_ir::promise`]).
//!
//! The parameters of the function that hosts call promise nothing: each array has memory of its own.

use nbcc_base::Span;
use nbcc_ir::{Effect, IntrinsicCall, Op, Type, Value, promise};

use super::place::Located;
use super::state::{Lower, Pointer, Promise, Promises};

impl Lower<'_> {
    /// The pointers of the file promise something as long as the program runs.
    pub(super) fn promises_of_file(&mut self) {
        let program = self.program;
        let Some(promises) = &mut self.promises else { return };
        for (number, global) in program.globals.iter().enumerate() {
            if global.is_restrict && self.types.is_pointer(global.ty) {
                let promise = promises.add();
                promises.of_file.push((number, promise));
                promises.here.push(promise);
            }
        }
    }

    pub(super) fn global_promise(&self, number: usize) -> Option<Promise> {
        let all = &self.promises.as_ref()?.of_file;
        all.iter().find(|(of, _)| *of == number).map(|&(_, promise)| promise)
    }

    /// The promise of a new variable of the innermost function.
    pub(super) fn local_promise(&mut self, local: u32) -> Option<Promise> {
        if let [entry] = &self.frames[..] {
            let mut params = self.program.functions[entry.function].params.iter();
            if params.any(|param| param.local == local) {
                return None;
            }
        }
        self.promises.as_mut().map(Promises::add)
    }

    /// How many promises hold here.
    pub(super) fn promises_here(&self) -> usize {
        self.promises.as_ref().map_or(0, |promises| promises.here.len())
    }

    /// A block ends at whose start so many promises held.
    pub(super) fn promises_end(&mut self, outer: usize) {
        if let Some(promises) = &mut self.promises {
            promises.here.truncate(outer);
        }
    }

    /// A pointer that was just declared promises something from here on.
    pub(super) fn promise_begins(&mut self, of: &Located, declared: Span) {
        let &Located::Pointer(vars) = of else { return };
        let (Some(promise), Some(promises)) = (vars.promise, &mut self.promises) else { return };
        promises.here.push(promise);
        let outer = self.span.replace(declared);
        self.op(intrinsic(promise::BEGIN, vec![], vec![promise.into()], None));
        self.span = outer;
    }

    /// A pointer to what is given to a function of the library that promises something of it.
    pub(super) fn promised(&mut self, pointer: Pointer) -> Pointer {
        let Some(promises) = &mut self.promises else { return pointer };
        let promise = promises.add();
        promises.here.push(promise);
        self.op(intrinsic(promise::BEGIN, vec![], vec![promise.into()], None));
        let origin = self.origin_under(pointer.origin, Some(promise));
        Pointer { origin: Some(origin), ..pointer }
    }

    /// The origin of a pointer that is put into a variable.
    pub(super) fn origin_under(
        &mut self,
        origin: Option<Value>,
        promise: Option<Promise>,
    ) -> Value {
        let of = origin.unwrap_or_else(|| self.i32(0));
        match promise {
            None => of,
            Some(promise) => self.value(made_under(of, promise)),
        }
    }

    /// The same at the start of the function, for a pointer of the file.
    pub(super) fn first_origin(&mut self, promise: Option<Promise>) -> Value {
        let Some(promise) = promise else { return self.first_constant(Type::I32, 0) };
        let none = self.first_constant(Type::I32, 0);
        let inst = self.func.make_inst(made_under(none, promise), &[Type::I32], None);
        let entry = self.func.entry();
        self.func.blocks[entry].insts.insert(1, inst);
        self.func.insts[inst].results[0]
    }

    /// An element is reached.
    pub(super) fn reach(&mut self, at: Pointer, is_store: bool) {
        let Some(promises) = self.promises.as_ref().filter(|all| !all.here.is_empty()) else {
            return;
        };
        let mut imms = vec![i64::from(is_store)];
        imms.extend(promises.here.iter().map(|&promise| i64::from(promise)));
        let origin = at.origin.unwrap_or_else(|| self.i32(0));
        let object = self.object_value(at.object);
        let element = self.offset_value(at.at);
        // [`pointers`](super::pointers) says which memory object it is, once that is known.
        self.op(intrinsic(promise::REACH, vec![origin, object, element], imms, None));
    }
}

fn made_under(of: Value, promise: Promise) -> Op {
    intrinsic(promise::ORIGIN, vec![of], vec![promise.into()], Some(Type::I32))
}

fn intrinsic(name: &'static str, args: Vec<Value>, imms: Vec<i64>, result: Option<Type>) -> Op {
    Op::Intrinsic(IntrinsicCall { name, effect: Effect::Write, args, mems: vec![], imms, result })
}
