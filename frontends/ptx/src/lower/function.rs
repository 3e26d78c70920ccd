//! Lowers a function: variables, blocks in the order of the dominator tree, block parameters, and
//! at the end the parameters that somebody uses.

use cranelift_entity::SecondaryMap;
use nbcc_base::Diagnostic;
use nbcc_ir::graph::DominatorTree;
use nbcc_ir::{
    Block, BlockCall, DataObject, ExecutionModel, Function, Kernel, KernelParam, Object, Op, Space,
    Terminator, Type, Value, ValueData, ValueDef,
};

use super::blocks::{self, End, Graph};
use super::context::{Home, Lowerer, Var};
use super::passing::{Passing, passing};
use super::plan::Plan;
use super::ssa::{self, Accesses};
use super::types::{num_type, register_type};
use crate::ast::{ScalarType, StateSpace};
use crate::check::{accessed_space, bits, codes, results, vector_length};
use crate::forms::{Meaning, Modifier};
use crate::resolved::{
    AddressBase, Body, BodyItem, Call, Callee, FunctionId, Instruction, Operand, OperandKind,
    Parameter, Resolved, VariableId,
};

/// More arguments of blocks than this make a function too large.
const ARGUMENTS: usize = 1 << 26;

/// Lowers a function that has a body. Data objects that it needs of its own are added to
/// `objects`. The error is a function that is too large.
pub fn lower<'a>(
    plan: &'a Plan<'a>,
    id: FunctionId,
    body: &'a Body,
    objects: &'a mut Vec<DataObject>,
) -> Result<Function, Box<Diagnostic>> {
    let module = plan.module;
    let data = &module.functions[id];
    let name = module.names.text(data.name);
    let too_large = || {
        let message = format!("the function `{name}` is too large");
        let label = "its registers live across too many branches";
        Box::new(
            Diagnostic::error(&codes::TOO_LARGE, message)
                .at(data.span, label)
                .help("split it into several functions, or use fewer registers at a time"),
        )
    };
    let func = Function::new(name, ExecutionModel::Grid);
    let mut lowerer = Lowerer::new(plan, id, body, func, objects);
    lowerer.variables();
    if data.entry {
        lowerer.func.kernel = Some(kernel(module, id));
    }
    let graph = blocks::split(body, plan.forms).ok_or_else(too_large)?;
    let tree = DominatorTree::new(&graph.successors, graph.root);
    let accesses = lowerer.accesses(&graph, &tree);
    let variables = lowerer.types.len();
    let params = ssa::place(&graph.successors, &tree, graph.root, variables, &accesses)
        .ok_or_else(too_large)?;
    let edges = graph.successors.iter().flatten();
    let arguments: usize = edges.map(|&to| params[to as usize].len()).sum();
    if arguments > ARGUMENTS {
        return Err(too_large());
    }
    lowerer.build(&graph, &tree, params);
    Ok(lowerer.func)
}

/// The head of a kernel: parameters one behind the other, aligned.
fn kernel(module: &Resolved<'_>, id: FunctionId) -> Kernel {
    let function = &module.functions[id];
    let bounds = &function.bounds;
    let mut params = Vec::with_capacity(function.params.len());
    for (&parameter, offset) in function.params.iter().zip(offsets(module, id)) {
        let variable = &module.variables[parameter.variable()];
        let size = u32::try_from(variable.bytes.unwrap_or(0)).unwrap_or(u32::MAX);
        let scalar = !variable.array && variable.vector == 1 && size <= 8;
        let known = scalar && size > 0 && !is_untyped(variable.scalar);
        params.push(KernelParam {
            name: module.names.text(variable.name).to_string(),
            offset,
            size,
            align: variable.align.max(1),
            ty: known.then(|| num_type(variable.scalar)),
        });
    }
    Kernel {
        params,
        max_threads: bounds.max_threads,
        required_threads: bounds.required_threads,
        min_blocks: bounds.min_blocks,
        grid_blocks: None,
    }
}

/// Whether a type says how many bits there are and no more.
fn is_untyped(scalar: ScalarType) -> bool {
    use ScalarType::*;
    matches!(scalar, Pred | B8 | B16 | B32 | B64 | B128)
}

/// The offsets of a kernel's parameters.
fn offsets(module: &Resolved<'_>, id: FunctionId) -> Vec<u32> {
    let mut end = 0u64;
    let mut offsets = Vec::new();
    for parameter in &module.functions[id].params {
        let variable = &module.variables[parameter.variable()];
        let offset = end.next_multiple_of(u64::from(variable.align.max(1)));
        offsets.push(u32::try_from(offset).unwrap_or(u32::MAX));
        end = offset.saturating_add(variable.bytes.unwrap_or(0));
    }
    offsets
}

/// A use or a definition of a variable.
#[derive(Clone, Copy)]
enum Access {
    Use(Var),
    Define(Var),
}

impl Lowerer<'_> {
    /// Numbers the variables, and finds homes for those in `.param` space.
    fn variables(&mut self) {
        for (reg, data) in &self.body.registers {
            let ty = register_type(data.ty);
            self.first[reg] = self.types.len() as Var;
            for _ in 0..data.vector {
                self.new_variable(ty);
            }
        }
        self.carry = self.new_variable(Type::I1);
        let module = self.plan.module;
        let function = &module.functions[self.id];
        let addressed = addressed(self.plan, self.body);
        if function.entry {
            for (parameter, offset) in function.params.iter().zip(offsets(module, self.id)) {
                self.homes[parameter.variable()] = Some(Home::Kernel(offset));
            }
        } else {
            self.signature(&addressed);
        }
        for &variable in &self.body.variables {
            let data = &module.variables[variable];
            if data.space != StateSpace::Param || self.homes[variable].is_some() {
                continue;
            }
            self.homes[variable] = Some(match passing(data) {
                Passing::Values(ty, _) if !addressed[variable] => {
                    Home::Scalar(self.new_variable(ty))
                }
                _ => Home::Object(self.local_object(variable)),
            });
        }
    }

    /// Parameters and results of a function that is no kernel.
    fn signature(&mut self, addressed: &SecondaryMap<VariableId, bool>) {
        let function = &self.plan.module.functions[self.id];
        let entry = self.func.entry();
        for &parameter in &function.returns {
            let variable = parameter.variable();
            match (passing(self.declaration(variable)), parameter) {
                (Passing::Memory, _) => {
                    let var = self.new_variable(Type::I64);
                    self.homes[variable] = Some(Home::Pointer(var));
                    let param = self.func.add_param(entry, Type::I64);
                    self.set(var, param);
                }
                (Passing::Values(ty, _), Parameter::Variable(_)) => {
                    self.func.results.push(ty);
                    self.homes[variable] = Some(if addressed[variable] {
                        Home::Object(self.local_object(variable))
                    } else {
                        Home::Scalar(self.new_variable(ty))
                    });
                }
                (Passing::Values(ty, count), Parameter::Register(..)) => {
                    self.func.results.extend(std::iter::repeat_n(ty, usize::from(count)));
                }
            }
        }
        for &parameter in &function.params {
            let variable = parameter.variable();
            let passing = passing(self.declaration(variable));
            let (ty, count) = match passing {
                Passing::Memory => (Type::I64, 1),
                Passing::Values(ty, count) => (ty, count),
            };
            if let Parameter::Register(_, reg) = parameter {
                for number in 0..u32::from(count) {
                    let param = self.func.add_param(entry, ty);
                    if let Some(reg) = reg {
                        let var = self.first[reg] + number;
                        let value = self.fit(param, self.types[var as usize], false);
                        self.set(var, value);
                    }
                }
                continue;
            }
            let param = self.func.add_param(entry, ty);
            match passing {
                Passing::Memory => {
                    let var = self.new_variable(Type::I64);
                    self.homes[variable] = Some(Home::Pointer(var));
                    self.set(var, param);
                }
                Passing::Values(..) if addressed[variable] => {
                    let object = self.local_object(variable);
                    self.homes[variable] = Some(Home::Object(object));
                    let address = self.address_of(object);
                    self.push(Op::StoreRaw(Space::Local, address, 0, param), &[]);
                }
                Passing::Values(ty, _) => {
                    let var = self.new_variable(ty);
                    self.homes[variable] = Some(Home::Scalar(var));
                    self.set(var, param);
                }
            }
        }
    }

    /// An object in local memory for a variable of `.param` space.
    pub(super) fn local_object(&mut self, variable: VariableId) -> Object {
        let module = self.plan.module;
        let data = &module.variables[variable];
        let function = module.names.text(module.functions[self.id].name);
        let number = self.plan.first_own_object + self.objects.len() as u32;
        self.objects.push(DataObject {
            name: format!("{function}.{}.{number}", module.names.text(data.name)),
            space: Space::Local,
            align: data.align.max(1),
            size: data.bytes.unwrap_or(0),
            dynamic: false,
            bytes: Vec::new(),
            relocations: Vec::new(),
        });
        Object::from_u32(number)
    }

    /// Which blocks define and use which variables.
    fn accesses(&self, graph: &Graph, tree: &DominatorTree) -> Accesses {
        let count = self.types.len();
        let mut accesses = Accesses::default();
        // The number of the last block in which a variable was defined, or used before that.
        let mut defined = vec![u32::MAX; count];
        let mut exposed = vec![u32::MAX; count];
        let entry_defines = (0..count as Var).filter(|&var| self.current[var as usize].is_some());
        accesses.definitions.extend(entry_defines.map(|var| (var, graph.root)));
        if graph.root == 0 {
            for &(var, _) in &accesses.definitions {
                defined[var as usize] = 0;
            }
        }
        let returns = self.return_variables();
        for (number, block) in graph.blocks.iter().enumerate() {
            let number = number as u32;
            if !tree.is_reachable(number) {
                continue;
            }
            let mut note = |access| match access {
                Access::Use(var) => {
                    let at = var as usize;
                    if defined[at] != number && exposed[at] != number {
                        exposed[at] = number;
                        accesses.exposed.push((var, number));
                    }
                }
                Access::Define(var) => {
                    if defined[var as usize] != number {
                        defined[var as usize] = number;
                        accesses.definitions.push((var, number));
                    }
                }
            };
            let last = match block.end_kind {
                End::Fall => block.end,
                End::Instruction(at) => at + 1,
            };
            for item in &self.body.items[block.start..last] {
                match item {
                    BodyItem::Instruction(inst) => self.visit(inst, &returns, &mut note),
                    BodyItem::Call(call) => self.visit_call(call, &mut note),
                    BodyItem::Label(_) => {}
                }
            }
            let is_last = number as usize + 1 == graph.blocks.len();
            if is_last {
                returns.iter().for_each(|&var| note(Access::Use(var)));
            }
        }
        accesses
    }

    fn return_variables(&self) -> Vec<Var> {
        let mut list = Vec::new();
        for &parameter in &self.plan.module.functions[self.id].returns {
            match (parameter, self.homes[parameter.variable()]) {
                (Parameter::Register(_, Some(reg)), _) => {
                    let elements = u32::from(self.body.registers[reg].vector);
                    list.extend(self.first[reg]..self.first[reg] + elements);
                }
                (_, Some(Home::Scalar(var))) => list.push(var),
                _ => {}
            }
        }
        list
    }

    /// Visits the variables that an instruction uses, then those that it defines.
    fn visit(&self, inst: &Instruction, returns: &[Var], note: &mut impl FnMut(Access)) {
        let Some(matched) = &self.plan.forms[inst.form] else {
            panic!("{} was not checked", inst.form)
        };
        let meaning = matched.pattern.row.meaning;
        if let Some(guard) = inst.guard {
            note(Access::Use(self.first[guard.register]));
        }
        let define = |var: Var, note: &mut dyn FnMut(Access)| {
            if inst.guard.is_some() {
                note(Access::Use(var));
            }
            note(Access::Define(var));
        };
        let results = results(inst, matched);
        for (number, operand) in inst.operands.iter().enumerate() {
            let is_store_target = meaning == Meaning::Store && number == 0;
            if !results.contains(&number) {
                self.visit_operand(operand, &mut |var| {
                    if !is_store_target || !self.is_scalar_home(operand) {
                        note(Access::Use(var));
                    }
                });
            }
        }
        match meaning {
            Meaning::Ret => returns.iter().for_each(|&var| note(Access::Use(var))),
            Meaning::AddWithCarry
            | Meaning::SubWithCarry
            | Meaning::MadLoWithCarry
            | Meaning::MadHiWithCarry => note(Access::Use(self.carry)),
            _ => {}
        }
        for &number in &results {
            self.visit_operand(&inst.operands[number], &mut |var| define(var, note));
        }
        if meaning == Meaning::Store && self.is_scalar_home(&inst.operands[0]) {
            self.visit_operand(&inst.operands[0], &mut |var| define(var, note));
        }
        if matched.modifiers.has(Modifier::Cc) {
            define(self.carry, note);
        }
    }

    fn is_scalar_home(&self, operand: &Operand) -> bool {
        match operand.kind {
            OperandKind::Address(AddressBase::Variable(variable), _) => {
                matches!(self.homes[variable], Some(Home::Scalar(_)))
            }
            _ => false,
        }
    }

    fn visit_call(&self, call: &Call, note: &mut impl FnMut(Access)) {
        if let Some(guard) = call.guard {
            note(Access::Use(self.first[guard.register]));
        }
        if let Callee::Register(reg, _) = call.callee {
            note(Access::Use(self.first[reg]));
        }
        for operand in call.arguments.iter() {
            self.visit_operand(operand, &mut |var| note(Access::Use(var)));
        }
        for operand in call.returns.iter() {
            self.visit_operand(operand, &mut |var| {
                if call.guard.is_some() || self.is_pointer_home(operand) {
                    note(Access::Use(var));
                }
                if !self.is_pointer_home(operand) {
                    note(Access::Define(var));
                }
            });
        }
    }

    fn is_pointer_home(&self, operand: &Operand) -> bool {
        match operand.kind {
            OperandKind::Variable(variable, _) => {
                matches!(self.homes[variable], Some(Home::Pointer(_)))
            }
            _ => false,
        }
    }

    /// Visits the variables of an operand. Operands are at most two levels deep.
    fn visit_operand(&self, operand: &Operand, note: &mut dyn FnMut(Var)) {
        match &operand.kind {
            OperandKind::Register(reg) => {
                let first = self.first[*reg];
                let elements = u32::from(self.body.registers[*reg].vector);
                (first..first + elements).for_each(&mut *note);
            }
            OperandKind::Component(..) => {
                let var = self.variable_of(operand).expect("a register");
                note(var);
            }
            OperandKind::Selected(reg, _) | OperandKind::Address(AddressBase::Register(reg), _) => {
                note(self.first[*reg]);
            }
            OperandKind::Address(AddressBase::Variable(variable), _)
            | OperandKind::Variable(variable, _) => {
                if let Some(Home::Scalar(var) | Home::Pointer(var)) = self.homes[*variable] {
                    note(var);
                }
            }
            OperandKind::Vector(elements) => {
                elements.iter().for_each(|element| self.visit_operand(element, note));
            }
            OperandKind::Pair(pair) => pair.iter().for_each(|part| self.visit_operand(part, note)),
            OperandKind::Not(inner) | OperandKind::Negated(inner) => {
                self.visit_operand(inner, note);
            }
            _ => {}
        }
    }

    /// Builds every reachable block, in the order of the dominator tree, and joins them.
    fn build(&mut self, graph: &Graph, tree: &DominatorTree, params: Vec<Vec<Var>>) {
        let count = graph.successors.len();
        let mut heads: Vec<Option<Block>> = vec![None; count];
        let entry = self.func.entry();
        heads[graph.root as usize] = Some(entry);
        for node in 0..count as u32 {
            if tree.is_reachable(node) && node != graph.root {
                heads[node as usize] = Some(self.func.add_block());
            }
        }
        let mut join = Join::new(&self.func, count);
        let mut owned: Vec<Vec<Block>> = vec![Vec::new(); count];
        // What the entry sets stays; below, each node of the tree goes back to its parent's state.
        self.undo.clear();
        let mut path: Vec<(u32, usize)> = Vec::new();
        // The last node with an edge to a node.
        let mut last_from = vec![u32::MAX; count];
        for &node in tree.preorder() {
            let parent = tree.immediate(node);
            while path.last().is_some_and(|&(top, _)| Some(top) != parent) {
                let (_, mark) = path.pop().expect("not empty");
                for (var, old) in self.undo.drain(mark..).rev() {
                    self.current[var as usize] = old;
                }
            }
            path.push((node, self.undo.len()));
            let head = heads[node as usize].expect("reachable");
            self.owned = vec![head];
            if node != graph.root {
                self.switch_to(head);
            }
            for &var in &params[node as usize] {
                let ty = self.types[var as usize];
                // Which number it has is known when those that nobody uses are gone.
                let def = ValueDef::Param(head, 0);
                let value = self.func.values.push(ValueData { ty, def });
                join.params[node as usize].push(value);
                self.set(var, value);
            }
            self.node(graph, node, &heads);
            for &to in &graph.successors[node as usize] {
                let repeated = std::mem::replace(&mut last_from[to as usize], node) == node;
                if params[to as usize].is_empty() || repeated {
                    continue;
                }
                let args = params[to as usize].iter().map(|&var| self.get(var)).collect();
                join.edges.push((node, to, args));
            }
            owned[node as usize] = std::mem::take(&mut self.owned);
        }
        join.finish(&mut self.func, &heads, &owned);
        // The entry comes first, then the blocks in the order of the file.
        let mut layout = Vec::with_capacity(self.func.blocks.len());
        let root = graph.root as usize;
        layout.extend(owned[root].iter().copied());
        for (node, blocks) in owned.iter().enumerate() {
            if node != root {
                layout.extend(blocks.iter().copied());
            }
        }
        self.func.layout = layout;
        let prelude = std::mem::take(&mut self.prelude);
        self.func.blocks[entry].insts.splice(0..0, prelude);
    }

    fn node(&mut self, graph: &Graph, node: u32, heads: &[Option<Block>]) {
        let to = |number: u32| BlockCall {
            block: heads[number as usize].expect("a successor of a reachable block"),
            args: vec![],
        };
        let Some(block) = graph.blocks.get(node as usize) else {
            return self.end(self.block, Terminator::Jump(to(0)));
        };
        for item in &self.body.items[block.start..block.end] {
            match item {
                BodyItem::Instruction(inst) => self.instruction(inst),
                BodyItem::Call(call) => self.call(call),
                BodyItem::Label(_) => {}
            }
        }
        let has_next = node as usize + 1 < graph.blocks.len();
        let at = match block.end_kind {
            End::Fall if has_next => {
                return self.end(self.block, Terminator::Jump(to(node + 1)));
            }
            End::Fall => {
                self.span = Some(self.body.end);
                return self.leave();
            }
            End::Instruction(at) => at,
        };
        let BodyItem::Instruction(inst) = &self.body.items[at] else {
            panic!("item {at} is no instruction")
        };
        self.span = Some(inst.span);
        let meaning = blocks::meaning(self.plan.forms, inst);
        let guard = inst.guard.map(|guard| {
            // Branches turn around instead of negating.
            (self.get(self.first[guard.register]), guard.negated)
        });
        let branch = |this: &mut Self, (cond, negated): (Value, bool), taken: BlockCall| {
            let next = if has_next { to(node + 1) } else { this.leaving_block() };
            let (then, other) = if negated { (next, taken) } else { (taken, next) };
            this.end(this.block, Terminator::Branch(cond, then, other));
        };
        if meaning == Meaning::Bra {
            let OperandKind::Label(label) = inst.operands[0].kind else {
                panic!("a branch without a label")
            };
            let taken = to(graph.label_block[label.as_u32() as usize]);
            return match guard {
                Some(guard) => branch(self, guard, taken),
                None => self.end(self.block, Terminator::Jump(taken)),
            };
        }
        if let Some(guard) = guard {
            let then = self.new_block();
            branch(self, guard, BlockCall { block: then, args: vec![] });
            self.switch_to(then);
        }
        match meaning {
            Meaning::Ret => self.leave(),
            Meaning::Exit => self.end(self.block, Terminator::Exit),
            Meaning::Trap => self.end(self.block, Terminator::Trap("trap".to_string())),
            Meaning::Brx => {
                let index = self.read(&inst.operands[0], ScalarType::U32);
                let labels = blocks::targets(self.body, inst);
                let block_of = |label: crate::resolved::LabelId| {
                    to(graph.label_block[label.as_u32() as usize])
                };
                let cases = labels.into_iter().map(block_of).collect();
                let outside = self.new_block();
                let default = BlockCall { block: outside, args: vec![] };
                self.end(self.block, Terminator::Switch(index, cases, default));
                let message = "brx.idx: the index is beyond the targets".to_string();
                self.end(outside, Terminator::Trap(message));
            }
            other => panic!("{other:?} ends no block"),
        }
    }

    /// A block that leaves the function, behind its last instruction.
    fn leaving_block(&mut self) -> BlockCall {
        let (here, block) = (self.block, self.new_block());
        self.switch_to(block);
        self.leave();
        self.switch_to(here);
        BlockCall { block, args: vec![] }
    }

    /// Returns, with the results of the function.
    fn leave(&mut self) {
        let function = &self.plan.module.functions[self.id];
        let mut results = Vec::new();
        for &parameter in &function.returns {
            let variable = parameter.variable();
            let data = self.declaration(variable);
            let Passing::Values(ty, count) = passing(data) else { continue };
            if let Parameter::Register(_, Some(reg)) = parameter {
                for number in 0..u32::from(count) {
                    let value = self.get(self.first[reg] + number);
                    results.push(self.fit(value, ty, false));
                }
                continue;
            }
            let value = match self.homes[variable] {
                Some(Home::Scalar(var)) => self.get(var),
                Some(Home::Object(object)) => {
                    let address = self.address_of(object);
                    self.value(Op::LoadRaw(ty, Space::Local, address, 0), ty)
                }
                _ => self.constant(ty, 0),
            };
            results.push(value);
        }
        self.end(self.block, Terminator::Return(results));
    }
}

/// Block parameters and the arguments for them, until it is known which are used.
struct Join {
    params: Vec<Vec<Value>>,
    /// From, to, a value for each parameter.
    edges: Vec<(u32, u32, Vec<Value>)>,
    /// Values with greater numbers may be such parameters.
    first: usize,
}

impl Join {
    fn new(func: &Function, count: usize) -> Join {
        Join { params: vec![Vec::new(); count], edges: Vec::new(), first: func.values.len() }
    }

    /// Drops parameters that only lead to parameters, and gives the others their arguments.
    fn finish(mut self, func: &mut Function, heads: &[Option<Block>], owned: &[Vec<Block>]) {
        if self.params.iter().all(Vec::is_empty) {
            return;
        }
        // Node and place of each parameter, by value.
        let mut place: SecondaryMap<Value, Option<(u32, u32)>> = SecondaryMap::new();
        for (node, params) in self.params.iter().enumerate() {
            for (number, &param) in params.iter().enumerate() {
                place[param] = Some((node as u32, number as u32));
            }
        }
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); self.params.len()];
        for (number, (_, to, _)) in self.edges.iter().enumerate() {
            incoming[*to as usize].push(number);
        }
        let mut used: SecondaryMap<Value, bool> = SecondaryMap::new();
        let mut stack = Vec::new();
        let mut touch = |value: Value, stack: &mut Vec<Value>| {
            let is_param = value.as_u32() as usize >= self.first && place[value].is_some();
            if is_param && !std::mem::replace(&mut used[value], true) {
                stack.push(value);
            }
        };
        for &block in owned.iter().flatten() {
            let data = &func.blocks[block];
            for &inst in &data.insts {
                func.insts[inst].op.for_each_arg(|value| touch(value, &mut stack));
            }
            if let Some(terminator) = &data.terminator {
                terminator.for_each_arg(|value| touch(value, &mut stack));
            }
        }
        while let Some(value) = stack.pop() {
            let (node, number) = place[value].expect("a parameter");
            for &edge in &incoming[node as usize] {
                touch(self.edges[edge].2[number as usize], &mut stack);
            }
        }
        let kept: Vec<Vec<usize>> = self
            .params
            .iter()
            .map(|params| (0..params.len()).filter(|&n| used[params[n]]).collect())
            .collect();
        for (node, params) in self.params.iter().enumerate() {
            let Some(head) = heads[node] else { continue };
            for &number in &kept[node] {
                let value = params[number];
                let position = func.blocks[head].params.len() as u32;
                func.values[value].def = ValueDef::Param(head, position);
                func.blocks[head].params.push(value);
            }
        }
        let mut node_of: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
        for (node, head) in heads.iter().enumerate() {
            if let Some(head) = head {
                node_of[*head] = Some(node as u32);
            }
        }
        // Edges stand here node by node; `edge_to` holds the number of that from the node at hand.
        let mut edge_to = vec![(u32::MAX, 0); self.params.len()];
        let mut number = 0;
        while let Some(&(from, ..)) = self.edges.get(number) {
            while let Some((_, to, args)) =
                self.edges.get_mut(number).filter(|&&mut (next, ..)| next == from)
            {
                *args = kept[*to as usize].iter().map(|&n| args[n]).collect();
                edge_to[*to as usize] = (from, number);
                number += 1;
            }
            for &block in &owned[from as usize] {
                let Some(terminator) = &mut func.blocks[block].terminator else { continue };
                for call in terminator.successors_mut() {
                    let Some(to) = node_of[call.block] else { continue };
                    let (node, edge) = edge_to[to as usize];
                    if node == from {
                        call.args.clone_from(&self.edges[edge].2);
                    }
                }
            }
        }
    }
}

/// The variables in `.param` space that are accessed other than as a whole: they live in memory.
fn addressed(plan: &Plan<'_>, body: &Body) -> SecondaryMap<VariableId, bool> {
    let mut found = SecondaryMap::new();
    for item in &body.items {
        let BodyItem::Instruction(inst) = item else { continue };
        for operand in &inst.operands {
            match &operand.kind {
                OperandKind::Variable(variable, _) => found[*variable] = true,
                OperandKind::Address(AddressBase::Variable(variable), offset) => {
                    let data = &plan.module.variables[*variable];
                    if data.space != StateSpace::Param {
                        continue;
                    }
                    let whole = plan.forms[inst.form].as_ref().is_some_and(|matched| {
                        let meaning = matched.pattern.row.meaning;
                        matches!(meaning, Meaning::Load | Meaning::Store)
                            && accessed_space(matched) == Some(StateSpace::Param)
                            && vector_length(matched) == 1
                            && Some(u64::from(bits(matched.types[0]) / 8)) == data.bytes
                            && *offset == 0
                    });
                    found[*variable] |= !whole;
                }
                _ => {}
            }
        }
    }
    found
}
