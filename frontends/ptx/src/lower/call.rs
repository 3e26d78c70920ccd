//! Calls. A call through a pointer compares it with every function that it may mean.

use nbcc_ir::{BlockCall, Func, IntCond, Op, SimtOp, Terminator, Type, Value, function_address};

use super::context::{Home, Lowerer, Var};
use super::passing::{Passing, passing};
use super::types::{register_type, same_size_integer};
use crate::resolved::{Call, Callee, FunctionId, Operand, OperandKind, TableKind, VariableId};

/// A result of a call that is returned in values.
struct Target {
    /// How many values.
    count: u8,
    place: Place,
}

/// Where such a result goes.
enum Place {
    /// To variables of as many bits together; to none where it is dropped.
    Variables(Vec<Var>),
    /// To a variable in local memory.
    Memory(VariableId),
}

impl Lowerer<'_> {
    pub(super) fn call(&mut self, call: &Call) {
        self.span = Some(call.span);
        match call.guard {
            None => {
                self.call_body(call);
                self.commit();
            }
            Some(guard) => {
                let guard = self.guard(guard);
                self.conditional(guard, |this| this.call_body(call));
            }
        }
    }

    fn call_body(&mut self, call: &Call) {
        match call.callee {
            Callee::Function(function) => {
                let data = &self.plan.module.functions[function];
                if self.plan.function(function).is_none() {
                    return self.runtime(call, self.plan.module.names.text(data.name));
                }
                let returns: Vec<VariableId> = data.returns.iter().map(|p| p.variable()).collect();
                let params: Vec<VariableId> = data.params.iter().map(|p| p.variable()).collect();
                let (args, types, targets) = self.prepare(call, &returns, &params);
                let func = self.plan.function(function).expect("a body");
                let results = self.call_one(func, args, &types);
                self.take(&targets, results);
            }
            Callee::Register(reg, table) => {
                let (returns, params) = match &self.body.tables[table].kind {
                    TableKind::Prototype { returns, params, .. } => {
                        (returns.clone(), params.clone())
                    }
                    TableKind::CallTargets(list) => {
                        let Some(&(first, _)) = list.first() else { return };
                        let data = &self.plan.module.functions[first];
                        (
                            data.returns.iter().map(|p| p.variable()).collect(),
                            data.params.iter().map(|p| p.variable()).collect(),
                        )
                    }
                    TableKind::BranchTargets(_) => panic!("a call through a list of labels"),
                };
                let candidates = self.plan.candidates(self.id, table);
                let (args, types, targets) = self.prepare(call, &returns, &params);
                let pointer = self.get(self.first[reg]);
                let pointer = self.fit(pointer, Type::I64, false);
                self.call_any(pointer, &candidates, args, &types, &targets);
            }
        }
    }

    /// The arguments of a call, the types of its results, and where these go.
    fn prepare(
        &mut self,
        call: &Call,
        returns: &[VariableId],
        params: &[VariableId],
    ) -> (Vec<Value>, Vec<Type>, Vec<Target>) {
        let (mut args, mut types, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for (operand, &formal) in call.returns.iter().zip(returns) {
            match passing(self.declaration(formal)) {
                Passing::Memory => args.push(self.memory_argument(operand, formal)),
                Passing::Values(ty, count) => {
                    types.extend(std::iter::repeat_n(ty, usize::from(count)));
                    targets.push(Target { count, place: self.result_place(operand) });
                }
            }
        }
        for (operand, &formal) in call.arguments.iter().zip(params) {
            match passing(self.declaration(formal)) {
                Passing::Memory => args.push(self.memory_argument(operand, formal)),
                Passing::Values(ty, count) => {
                    let values = self.argument(operand, formal, ty);
                    args.extend(self.reshape(values, &vec![ty; usize::from(count)]));
                }
            }
        }
        (args, types, targets)
    }

    /// The values of an argument that is passed in values, as the caller has them.
    fn argument(&mut self, operand: &Operand, formal: VariableId, ty: Type) -> Vec<Value> {
        match &operand.kind {
            OperandKind::Variable(variable, _) => match self.homes[*variable] {
                Some(Home::Scalar(var)) => vec![self.get(var)],
                _ => {
                    let address = self.variable_address(*variable, 0);
                    vec![self.value(Op::LoadRaw(ty, nbcc_ir::Space::Local, address, 0), ty)]
                }
            },
            OperandKind::Constant(constant) => {
                let formal = self.declaration(formal);
                let whole = match formal.vector {
                    1 => register_type(formal.scalar),
                    _ => Type::I64,
                };
                vec![self.number(*constant, whole)]
            }
            _ => self.variables_of(operand).map(|var| self.get(var)).collect(),
        }
    }

    /// The same bits in values of other types: as many of as many bits, or each made of several,
    /// the first lowest, or taken apart.
    fn reshape(&mut self, values: Vec<Value>, types: &[Type]) -> Vec<Value> {
        let mut shaped = Vec::with_capacity(types.len());
        if values.len() >= types.len() {
            let each = values.len() / types.len();
            for (parts, &ty) in values.chunks(each).zip(types) {
                let whole = if each == 1 { parts[0] } else { self.join(parts, ty) };
                shaped.push(self.fit(whole, ty, false));
            }
        } else {
            let each = types.len() / values.len();
            for (&whole, types) in values.iter().zip(types.chunks(each)) {
                let integer = same_size_integer(self.func.ty(whole));
                let whole = self.fit(whole, integer, false);
                for (number, &ty) in types.iter().enumerate() {
                    let part = self.part(whole, number, same_size_integer(ty));
                    shaped.push(self.fit(part, ty, false));
                }
            }
        }
        shaped
    }

    fn memory_argument(&mut self, operand: &Operand, formal: VariableId) -> Value {
        match operand.kind {
            OperandKind::Variable(variable, _) => self.variable_address(variable, 0),
            // A result that is dropped is written to where nobody looks.
            _ => {
                let object = self.local_object(formal);
                self.address_of(object)
            }
        }
    }

    /// Where a result goes that is returned in values.
    fn result_place(&self, operand: &Operand) -> Place {
        match operand.kind {
            OperandKind::Variable(variable, _) => match self.homes[variable] {
                Some(Home::Scalar(var)) => Place::Variables(vec![var]),
                _ => Place::Memory(variable),
            },
            _ => Place::Variables(self.variables_of(operand).collect()),
        }
    }

    fn call_one(&mut self, func: Func, args: Vec<Value>, types: &[Type]) -> Vec<Value> {
        let inst = self.push(Op::Call(func, args), types);
        self.func.insts[inst].results.clone()
    }

    /// Gives results to their variables, and stores those that lie in memory.
    fn take(&mut self, targets: &[Target], results: Vec<Value>) {
        let mut results = results.into_iter();
        for target in targets {
            let values: Vec<Value> = results.by_ref().take(usize::from(target.count)).collect();
            match &target.place {
                Place::Variables(vars) if vars.is_empty() => {}
                Place::Variables(vars) => {
                    let types: Vec<Type> = vars.iter().map(|&v| self.types[v as usize]).collect();
                    let values = self.reshape(values, &types);
                    self.pending.extend(vars.iter().copied().zip(values));
                }
                &Place::Memory(variable) => {
                    let address = self.variable_address(variable, 0);
                    self.push(Op::StoreRaw(nbcc_ir::Space::Local, address, 0, values[0]), &[]);
                }
            }
        }
    }

    /// A call of whichever function a pointer means.
    fn call_any(
        &mut self,
        pointer: Value,
        candidates: &[FunctionId],
        args: Vec<Value>,
        types: &[Type],
        targets: &[Target],
    ) {
        let join = self.func.add_block();
        for &candidate in candidates {
            let func = self.plan.function(candidate).expect("a body");
            let address = self.constant(Type::I64, function_address(func));
            let is_it = self.icmp(IntCond::Eq, pointer, address);
            let (here, then, next) = (self.block, self.new_block(), self.new_block());
            let to = |block| BlockCall { block, args: vec![] };
            self.end(here, Terminator::Branch(is_it, to(then), to(next)));
            self.switch_to(then);
            let results = self.call_one(func, args.clone(), types);
            self.end(then, Terminator::Jump(BlockCall { block: join, args: results }));
            self.switch_to(next);
        }
        let message = "call through a pointer to no function of the right type";
        self.end(self.block, Terminator::Trap(message.to_string()));
        self.owned.push(join);
        let results = types.iter().map(|&ty| self.func.add_param(join, ty)).collect();
        self.switch_to(join);
        self.take(targets, results);
    }

    /// Ends the run. What follows is not reached, but lowered all the same.
    fn no_heap(&mut self, call: &Call, name: &str) {
        let message = format!("`{name}` was called: there is no heap on the device");
        self.end(self.block, Terminator::Trap(message));
        let next = self.new_block();
        self.switch_to(next);
        for operand in &call.returns {
            let home = match operand.kind {
                OperandKind::Variable(variable, _) => self.homes[variable],
                _ => self.variable_of(operand).map(Home::Scalar),
            };
            if let Some(Home::Scalar(var)) = home {
                let zero = self.constant(self.types[var as usize], 0);
                self.pending.push((var, zero));
            }
        }
    }

    /// The functions that come with the machine.
    fn runtime(&mut self, call: &Call, name: &str) {
        if !matches!(name, "vprintf" | "__assertfail") {
            return self.no_heap(call, name);
        }
        let mut args = Vec::with_capacity(call.arguments.len());
        for operand in &call.arguments {
            let value = match &operand.kind {
                OperandKind::Variable(variable, _) => match self.homes[*variable] {
                    Some(Home::Scalar(var)) => self.get(var),
                    _ => {
                        let bytes = self.declaration(*variable).bytes;
                        let ty = if bytes == Some(4) { Type::I32 } else { Type::I64 };
                        let address = self.variable_address(*variable, 0);
                        self.value(Op::LoadRaw(ty, nbcc_ir::Space::Local, address, 0), ty)
                    }
                },
                OperandKind::Constant(constant) => self.number(*constant, Type::I64),
                _ => {
                    let var = self.variable_of(operand).expect("an argument");
                    self.get(var)
                }
            };
            let integer = same_size_integer(self.func.ty(value));
            args.push(self.fit(value, integer, false));
        }
        let wanted: &[Type] = match name {
            "vprintf" => &[Type::I64, Type::I64],
            _ => &[Type::I64, Type::I64, Type::I32, Type::I64, Type::I64],
        };
        let args: Vec<Value> = wanted
            .iter()
            .enumerate()
            .map(|(number, &ty)| match args.get(number) {
                Some(&value) => self.fit(value, ty, false),
                None => self.constant(ty, 0),
            })
            .collect();
        if name != "vprintf" {
            return self.effect(SimtOp::AssertFail, args);
        }
        let result = self.simt(SimtOp::Vprintf, args, Type::I32);
        let Some(operand) = call.returns.first() else { return };
        let target = Target { count: 1, place: self.result_place(operand) };
        self.take(&[target], vec![result]);
    }
}
