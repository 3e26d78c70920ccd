//! Where values of places are: in variables or in memory; reading, writing and initialising them.

use nbcc_base::Span;
use nbcc_ir::{Op, Type, Value};

use super::build::ir_type;
use super::objects::Holder;
use super::ssa::Var;
use super::state::{Lower, Object, Offset, Pointer, PointerVars, Val, Variable, Which};
use crate::sema::tree::{Defined, Expr, ExprKind, Init, Place, PlaceKind};
use crate::types::{Kind, Ty, Types};

/// Where a place is.
#[derive(Clone, Debug)]
pub(super) enum Located {
    Values(Vec<Var>),
    Pointer(PointerVars),
    Memory(Pointer),
}

impl Lower<'_> {
    /// The variable of the innermost function.
    pub(super) fn local(&mut self, local: u32) -> Variable {
        let frame = self.frames.last().expect("a function is lowered");
        if let Some(variable) = &frame.variables[local as usize] {
            return variable.clone();
        }
        let data = &self.program.functions[frame.function].locals[local as usize];
        let name = self.names.text(data.name).to_string();
        let mut variable = self.make_variable(data.ty, data.in_memory, &name);
        if let (Variable::Pointer(vars), true) = (&mut variable, data.is_restrict) {
            vars.promise = self.local_promise(local);
        }
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
            Variable::Pointer(vars) => Located::Pointer(vars),
            Variable::Memory(number) => Located::Memory(whole(number)),
        }
    }

    fn global(&mut self, number: usize) -> Located {
        let program = self.program;
        let data = &program.globals[number];
        if data.defined == Defined::No {
            self.refuse_undefined(data.name);
        }
        let variable = match &self.globals[number] {
            Some(variable) => variable.clone(),
            None if data.in_memory => {
                let name = self.names.text(data.name).to_string();
                let name = if data.name.0 == 0 { "text".to_string() } else { name };
                let is_const = !data.written && self.is_table(number);
                let object = self.allocate(data.ty, &name, 1, Holder::Module { is_const });
                if let (0, Some(mem)) = (data.name.0, self.mem_of(object)) {
                    self.objects[object as usize] = Object::Text(mem);
                }
                for (&leaf, &value) in &data.values {
                    self.set_initial(object, data.ty, leaf, value);
                }
                Variable::Memory(object)
            }
            None => {
                let mut variable = self.make_variable(data.ty, false, "");
                if let (Variable::Pointer(vars), true) = (&mut variable, data.is_restrict) {
                    vars.promise = self.global_promise(number);
                }
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
                    &Variable::Pointer(PointerVars { object, at, origin, promise }) => {
                        let pointer = match &data.pointer {
                            Some(pointer) => self.static_pointer(pointer),
                            None => whole(0),
                        };
                        let number = self.object_value(pointer.object);
                        let place = self.first_constant(Type::I32, pointer.at.constant);
                        self.write(object, number);
                        self.write(at, place);
                        if let Some(origin) = origin {
                            let first = self.first_origin(promise);
                            self.write(origin, first);
                        }
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
            Variable::Pointer(vars) => Located::Pointer(vars),
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
    pub(super) fn first_constant(&mut self, ty: Type, value: i64) -> Value {
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
                    self.check_variable(vars[0]);
                    Val::Int(parts.remove(0))
                }
            }
            Located::Pointer(vars) => Val::Pointer(self.held(*vars)),
            Located::Memory(pointer) => self.load_value(*pointer, ty),
        }
    }

    /// What a pointer holds.
    pub(super) fn held(&mut self, vars: PointerVars) -> Pointer {
        let (object, at) = (self.read(vars.object), self.read(vars.at));
        let origin = vars.origin.map(|origin| self.read(origin));
        Pointer { object: self.object_of(object), at: self.offset_of(at), origin }
    }

    pub(super) fn set(&mut self, to: &Located, ty: Ty, value: &Val) {
        match (to, value) {
            (Located::Values(vars), Val::Int(value)) => self.write(vars[0], *value),
            (Located::Values(vars), Val::Parts(parts)) => {
                for (&var, &part) in vars.iter().zip(parts) {
                    self.write(var, part);
                }
            }
            (&Located::Pointer(vars), Val::Pointer(pointer)) => {
                let number = self.object_value(pointer.object);
                let place = self.offset_value(pointer.at);
                self.write(vars.object, number);
                self.write(vars.at, place);
                if let Some(origin) = vars.origin {
                    let of = self.origin_under(pointer.origin, vars.promise);
                    self.write(origin, of);
                }
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
                let Some(init) = init else {
                    if let Which::Known(number) = pointer.object {
                        self.forget(number, self.numbers_of(ty));
                    }
                    return;
                };
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
                    if init.is_none() {
                        self.mark_variable(var, false);
                    }
                }
            }
            Located::Pointer(..) => {
                let value = match init.and_then(|init| init.values.values().next()) {
                    Some(value) => self.expr(value),
                    None => Val::Pointer(whole(0)),
                };
                self.promise_begins(&to, span);
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
                        let (at, _) = self.scalar_at(to, ty, leaf + number);
                        self.transfer(at, source, ir_type(int));
                    }
                }
                Val::Void | Val::Pointer(_) => {}
            }
        }
    }
}

/// A pointer to the first scalar of an object.
pub(super) fn whole(number: u32) -> Pointer {
    Pointer { object: Which::Known(number), at: Offset::default(), origin: None }
}

/// The values of an initialiser, where all are constants.
fn constants(init: &Init) -> Option<Vec<(u64, i64)>> {
    let constant = |(&at, value): (&u64, &Expr)| match value.kind {
        ExprKind::Const(value) => Some((at, value)),
        _ => None,
    };
    init.values.iter().map(constant).collect()
}
