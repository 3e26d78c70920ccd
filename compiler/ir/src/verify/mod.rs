//! The contract of the IR, and its check.
//!
//! What every function keeps:
//!
//! Structure
//! - The layout holds each block at most once; the first is the entry, which no edge leads to.
//! - Every block of the layout has a terminator, and its successors are in the layout.
//! - An instruction stands at one place of one block at most. Its results, and the parameters of a
//!   block, are values that name it as their origin under the right number.
//! - An edge gives an argument of the right type for each parameter of its target.
//! - Information on a loop stands only on the header of a loop: the target of an edge from a block
//!   that it dominates. (Everything dominates a block that the entry does not reach.) What counts its
//!   rounds is an integer parameter of the header.
//!
//! Dominance
//! - Every use is dominated by the definition of its value. In blocks that the entry does not
//!   reach it is enough that the value is defined in the layout.
//!
//! Types
//! - Types have 1 to 16 lanes. Constants have the bits of their type only, and one value in all
//!   lanes or as many as there are lanes.
//! - Integer operations take integers (`i1` is one), float operations floats. Both operands of an
//!   operation have its result's type; comparisons and the condition of a select are `i1` with as
//!   many lanes as the operands.
//! - Conversions keep the number of lanes and change the width in the direction they are named
//!   for; a bitcast keeps the width.
//! - Lane numbers are in range. `splat` and the inserted operand of `insert` are scalars.
//! - A branch is on an `i1`, a switch on an integer scalar. A return gives the function's results.
//! - A call gives the callee's parameters and takes its results, where the module is known.
//!
//! Memory
//! - Memory objects of a function have names of their own, and 1 to 2^31-1 elements along each
//!   dimension, fewer than 2^63 together. An extent that is a parameter of the entry block, or an
//!   expression of some, is made of integers; it is known where the function runs. One that is given
//!   belongs to an object that the caller gives.
//! - A memory object that is a data object of the module has its space, fixed extents, and no more
//!   bytes than it. One that the caller gives is an array of the function's interface.
//! - An access to a memory object has one `i32` scalar subscript for each dimension and the type
//!   of its elements; more than one lane needs a dimension.
//! - A raw address is an `i32` or `i64` scalar.
//! - The spaces `param` and `const` are only read.
//!
//! Interfaces
//! - Only a sequential function has one. Its scalars are the parameters of the entry block, in order
//!   and of their types, its arrays all memory objects that the caller gives, with their names and
//!   types, its result that of the function. Names of parameters differ.
//!
//! Grids
//! - Grid operations have modifiers that go together, and operands and results of their signature.
//!   Those that are no arithmetic stand in functions of the model `grid`, as does `exit`.
//! - Kernels are functions of the model `grid` without parameters and results. Their parameters lie
//!   one behind the other in the space `param`, aligned, with names of their own.
//! - Data objects of a module have names of their own, a space that is global, const, shared or
//!   local, and an alignment that is a power of two. Only those of global and const have contents,
//!   not more than their size; relocations are within the size, in order, do not overlap and name
//!   what exists. Dynamic ones are shared.
//!
//! What is not checked here: that the control flow of an `engines` function is the same in all
//! engines depends on what the target's intrinsics return (`uniformity` in the analyses).

use std::collections::BTreeMap;
use std::fmt;

use cranelift_entity::SecondaryMap;

use crate::{
    Block, BlockCall, Cfg, Constant, ConvertOp, Counter, DataObject, Dominators, ExecutionModel,
    Extent, Function, Inst, Mem, Module, Op, Positions, Scalar, SimtOp, Space, Storage, Terminator,
    Type, Value, ValueDef,
};

mod kernel;

/// The most lanes a type has.
pub const MAX_LANES: u8 = 16;

/// A breach of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierError {
    /// The function's name.
    pub function: String,
    /// The value, instruction, block or memory object at fault.
    pub entity: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for VerifierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}: {}: {}", self.function, self.entity, self.message)
    }
}

impl std::error::Error for VerifierError {}

/// Checks every function of a module, and that their names differ.
pub fn verify_module(module: &Module) -> Vec<VerifierError> {
    let mut errors = Vec::new();
    kernel::check_objects(module, &mut errors);
    let mut names = BTreeMap::new();
    for (id, func) in &module.functions {
        errors.extend(verify_function(func, Some(module)));
        kernel::check(func, &mut errors);
        kernel::check_interface(func, &mut errors);
        if let Some(first) = names.insert(&func.name, id) {
            errors.push(VerifierError {
                function: func.name.clone(),
                entity: id.to_string(),
                message: format!("has the name of {first}"),
            });
        }
    }
    errors
}

/// Checks a function. Calls are checked against the callee where the module is given. An empty
/// list means that the function keeps the contract.
pub fn verify_function(func: &Function, module: Option<&Module>) -> Vec<VerifierError> {
    let mut verifier = Verifier { func, module, errors: Vec::new() };
    if func.layout.is_empty() {
        verifier.error("layout", "has no entry");
    }
    verifier.structure();
    // What follows relies on references that lead somewhere.
    if verifier.errors.is_empty() {
        verifier.mems();
        verifier.types();
        verifier.dominance();
    }
    verifier.errors
}

struct Verifier<'a> {
    func: &'a Function,
    module: Option<&'a Module>,
    errors: Vec<VerifierError>,
}

impl Verifier<'_> {
    fn error(&mut self, entity: impl fmt::Display, message: impl Into<String>) {
        self.errors.push(VerifierError {
            function: self.func.name.clone(),
            entity: entity.to_string(),
            message: message.into(),
        });
    }

    /// How an instruction is called in messages: by its result, if it has one.
    fn name(&self, inst: Inst) -> String {
        match self.func.result(inst) {
            Some(value) => value.to_string(),
            None => inst.to_string(),
        }
    }

    fn structure(&mut self) {
        let func = self.func;
        let mut in_layout: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &block in &func.layout {
            if func.blocks.get(block).is_none() {
                return self.error(block, "is in the layout but does not exist");
            }
            if std::mem::replace(&mut in_layout[block], true) {
                self.error(block, "stands in the layout twice");
            }
        }
        let mut placed: SecondaryMap<Inst, bool> = SecondaryMap::new();
        for &block in &func.layout {
            let data = &func.blocks[block];
            for (number, &param) in data.params.iter().enumerate() {
                self.origin(block, param, ValueDef::Param(block, number as u32));
            }
            for &inst in &data.insts {
                let Some(inst_data) = func.insts.get(inst) else {
                    self.error(block, format!("holds {inst}, which does not exist"));
                    continue;
                };
                if std::mem::replace(&mut placed[inst], true) {
                    let name = self.name(inst);
                    self.error(name, "stands in the blocks twice");
                }
                for (number, &result) in inst_data.results.iter().enumerate() {
                    self.origin(inst, result, ValueDef::Result(inst, number as u32));
                }
                inst_data.op.for_each_arg(|value| self.exists(inst, value));
                let mems = match &inst_data.op {
                    Op::Load(_, mem, _) | Op::Store(mem, ..) => std::slice::from_ref(mem),
                    Op::Intrinsic(call) => &call.mems,
                    _ => &[],
                };
                for &mem in mems {
                    if func.mems.get(mem).is_none() {
                        let name = self.name(inst);
                        self.error(name, format!("names {mem}, which does not exist"));
                    }
                }
            }
            let Some(terminator) = &data.terminator else {
                self.error(block, "has no terminator");
                continue;
            };
            terminator.for_each_arg(|value| self.exists(block, value));
            for to in terminator.successors() {
                if func.blocks.get(to.block).is_none() || !in_layout[to.block] {
                    self.error(block, format!("goes on in {}, not in the layout", to.block));
                } else if to.block == func.entry() {
                    self.error(block, "goes on in the entry");
                }
            }
        }
    }

    fn origin(&mut self, holder: impl fmt::Display, value: Value, def: ValueDef) {
        match self.func.values.get(value) {
            None => self.error(holder, format!("defines {value}, which does not exist")),
            Some(data) if data.def != def => {
                self.error(value, format!("is defined by {holder} but names another origin"));
            }
            Some(_) => {}
        }
    }

    fn exists(&mut self, user: impl fmt::Display, value: Value) {
        if self.func.values.get(value).is_none() {
            self.error(user, format!("uses {value}, which does not exist"));
        }
    }

    fn mems(&mut self) {
        let mut names = BTreeMap::new();
        for (mem, data) in &self.func.mems {
            if let Some(first) = names.insert(&data.name, mem) {
                self.error(mem, format!("has the name %{} of {first}", data.name));
            }
            let mut size = Some(1i64);
            for extent in &data.extents {
                match *extent {
                    Extent::Fixed(n) if n == 0 || n > i32::MAX as u32 => {
                        self.error(mem, "has an extent that is not between 1 and 2147483647");
                    }
                    Extent::Fixed(n) => size = size.and_then(|size| size.checked_mul(n.into())),
                    Extent::Param(number) if !self.is_integer_param(number) => {
                        self.error(mem, format!("has the extent param {number}, no integer"));
                    }
                    Extent::Expr(ref expr) => {
                        if let Some(number) = expr.params().find(|&n| !self.is_integer_param(n)) {
                            self.error(mem, format!("has an extent of param {number}, no integer"));
                        }
                    }
                    Extent::Given if data.storage != Storage::Param => {
                        self.error(mem, "has a given extent and is given by nobody");
                    }
                    Extent::Param(_) | Extent::Given => {}
                }
            }
            let Some(size) = size else {
                self.error(mem, "has 2^63 elements or more");
                continue;
            };
            if let Storage::Object(object) = data.storage {
                let bytes = size.checked_mul(i64::from(data.element.bytes()));
                let fits = |object: &DataObject| {
                    data.fixed_extents().is_some()
                        && data.space == object.space
                        && bytes.is_some_and(|bytes| bytes as u64 <= object.size)
                };
                if !self.module.is_none_or(|m| m.objects.get(object).is_some_and(fits)) {
                    self.error(mem, format!("does not fit into {object}"));
                }
            }
        }
    }

    /// Whether the parameter of that number of the entry block is an integer.
    fn is_integer_param(&self, number: u32) -> bool {
        let params = &self.func.blocks[self.func.entry()].params;
        params.get(number as usize).is_some_and(|&param| is_integer_scalar(self.func.ty(param)))
    }

    fn lanes(&mut self, entity: impl fmt::Display, ty: Type) {
        if ty.lanes == 0 || ty.lanes > MAX_LANES {
            self.error(entity, format!("has {} lanes, not 1 to {MAX_LANES}", ty.lanes));
        }
    }

    fn types(&mut self) {
        let func = self.func;
        for &ty in &func.results {
            self.lanes("result", ty);
        }
        for &block in &func.layout {
            let data = &func.blocks[block];
            for &param in &data.params {
                self.lanes(param, func.ty(param));
            }
            for &inst in &data.insts {
                let results = &func.insts[inst].results;
                for &result in results {
                    self.lanes(result, func.ty(result));
                }
                let types: Vec<Type> = results.iter().map(|&r| func.ty(r)).collect();
                if let Err(message) = self.op(&func.insts[inst].op, &types) {
                    let name = self.name(inst);
                    self.error(name, message);
                }
            }
            self.terminator(block, func.terminator(block));
        }
    }

    fn terminator(&mut self, block: Block, terminator: &Terminator) {
        let func = self.func;
        match terminator {
            Terminator::Branch(cond, ..) if func.ty(*cond) != Type::I1 => {
                self.error(block, format!("branches on {cond}: {}", func.ty(*cond)));
            }
            Terminator::Exit if func.model != ExecutionModel::Grid => {
                self.error(block, "ends a thread where there are none");
            }
            Terminator::Switch(value, ..) if !is_integer_scalar(func.ty(*value)) => {
                self.error(block, format!("switches on {value}: {}", func.ty(*value)));
            }
            Terminator::Return(values) => {
                let types: Vec<Type> = values.iter().map(|&v| func.ty(v)).collect();
                if types != func.results {
                    self.error(block, format!("returns {types:?}, not {:?}", func.results));
                }
            }
            _ => {}
        }
        for BlockCall { block: to, args } in terminator.successors() {
            let params = &func.blocks[*to].params;
            if args.len() != params.len() {
                let counts = format!("{} arguments for the {}", args.len(), params.len());
                self.error(block, format!("gives {counts} parameters of {to}"));
                continue;
            }
            for (&arg, &param) in args.iter().zip(params) {
                let (given, wanted) = (func.ty(arg), func.ty(param));
                if given != wanted {
                    self.error(block, format!("gives {arg}: {given} for {param}: {wanted}"));
                }
            }
        }
    }

    /// Checks the operands of an operation, and its results against them.
    fn op(&self, op: &Op, results: &[Type]) -> Result<(), String> {
        let func = self.func;
        let ty = |value: &Value| func.ty(*value);
        let same = |a: &Value, b: &Value| {
            ensure(ty(a) == ty(b), || format!("{a}: {} and {b}: {} differ", ty(a), ty(b)))
        };
        let class = |a: &Value, float: bool| {
            let word = if float { "float" } else { "integer" };
            ensure(ty(a).is_float() == float, || format!("{a}: {} is no {word}", ty(a)))
        };
        let scalar =
            |a: &Value| ensure(!ty(a).is_vector(), || format!("{a}: {} is no scalar", ty(a)));
        match op {
            Op::Const(ty, constant) => check_constant(*ty, constant)?,
            Op::Unary(op, a) => class(a, op.is_float())?,
            Op::Binary(op, a, b) => {
                class(a, op.is_float())?;
                same(a, b)?;
            }
            Op::Fma(a, b, c) | Op::MulAdd(a, b, c) => {
                class(a, true)?;
                same(a, b)?;
                same(a, c)?;
            }
            Op::Icmp(_, a, b) => {
                class(a, false)?;
                same(a, b)?;
            }
            Op::Fcmp(_, a, b) => {
                class(a, true)?;
                same(a, b)?;
            }
            Op::Select(cond, a, b) => {
                same(a, b)?;
                let wanted = ty(a).with_scalar(Scalar::I1);
                ensure(ty(cond) == wanted, || format!("{cond}: {} is no {wanted}", ty(cond)))?;
            }
            Op::Convert(op, a, to) => {
                ensure(convertible(*op, ty(a), *to), || {
                    format!("{} does not lead from {} to {to}", op.name(), ty(a))
                })?;
            }
            Op::Splat(a, _) => scalar(a)?,
            Op::Extract(a, lane) => check_lane(*lane, ty(a).lanes)?,
            Op::Insert(a, b, lane) => {
                check_lane(*lane, ty(a).lanes)?;
                scalar(b)?;
                let (vector, element) = (ty(a), ty(b));
                ensure(vector.scalar == element.scalar, || {
                    format!("{b}: {element} is no element of {a}: {vector}")
                })?;
            }
            Op::Shuffle(a, b, lanes) => {
                same(a, b)?;
                ensure((1..=MAX_LANES as usize).contains(&lanes.len()), || {
                    format!("picks {} lanes", lanes.len())
                })?;
                for &lane in lanes {
                    check_lane(lane, ty(a).lanes.saturating_mul(2))?;
                }
            }
            Op::Load(loaded, mem, subscripts) => self.access(*mem, subscripts, *loaded)?,
            Op::Store(mem, subscripts, value) => {
                self.access(*mem, subscripts, ty(value))?;
                writable(func.mems[*mem].space)?;
            }
            Op::LoadRaw(_, _, address, _) => check_address(ty(address))?,
            Op::StoreRaw(space, address, _, _) => {
                check_address(ty(address))?;
                writable(*space)?;
            }
            Op::Call(callee, args) => {
                let Some(module) = self.module else { return Ok(()) };
                let Some(callee) = module.functions.get(*callee) else {
                    return Err(format!("calls {callee}, which does not exist"));
                };
                let params = callee.layout.first().map_or(&[][..], |&b| &callee.blocks[b].params);
                let given: Vec<Type> = args.iter().map(ty).collect();
                let wanted: Vec<Type> = params.iter().map(|&p| callee.ty(p)).collect();
                ensure(given == wanted, || format!("gives {given:?} for {wanted:?}"))?;
                return ensure(results == callee.results, || {
                    format!("takes {results:?}, not {:?}", callee.results)
                });
            }
            Op::Intrinsic(_) => {}
            Op::Simt(op, args) => return self.simt(op, args, results),
        }
        let wanted = func.result_types(op);
        ensure(results == wanted, || format!("has results {results:?}, not {wanted:?}"))
    }

    fn simt(&self, op: &SimtOp, args: &[Value], results: &[Type]) -> Result<(), String> {
        let signature = op.signature().map_err(|message| format!("{op}: {message}"))?;
        let given: Vec<Type> = args.iter().map(|&arg| self.func.ty(arg)).collect();
        ensure(given == signature.operands, || {
            format!("{op} has operands {given:?}, not {:?}", signature.operands)
        })?;
        ensure(results == signature.results, || {
            format!("{op} has results {results:?}, not {:?}", signature.results)
        })?;
        ensure(op.is_arithmetic() || self.func.model == ExecutionModel::Grid, || {
            format!("{op} stands in no function of the model grid")
        })?;
        if let (SimtOp::Address(object), Some(module)) = (op, self.module) {
            ensure(module.objects.get(*object).is_some(), || format!("{object} does not exist"))?;
        }
        Ok(())
    }

    fn access(&self, mem: Mem, subscripts: &[Value], ty: Type) -> Result<(), String> {
        let data = &self.func.mems[mem];
        let (given, wanted) = (subscripts.len(), data.extents.len());
        ensure(given == wanted, || {
            format!("has {given} subscripts for the {wanted} dimensions of %{}", data.name)
        })?;
        for &subscript in subscripts {
            let ty = self.func.ty(subscript);
            ensure(ty == Type::I32, || format!("has the subscript {subscript}: {ty}, no i32"))?;
        }
        ensure(ty.scalar == data.element, || {
            format!("accesses %{}, of {}, as {ty}", data.name, data.element)
        })?;
        ensure(!ty.is_vector() || wanted > 0, || {
            format!("accesses %{}, a single element, as {ty}", data.name)
        })
    }

    fn dominance(&mut self) {
        let func = self.func;
        let (dominators, positions) = (Dominators::new(func), Positions::new(func));
        let mut in_layout: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &block in &func.layout {
            in_layout[block] = true;
        }
        let fault = |value: Value, block: Block, number: u32| {
            if !positions.defining_block(func, value).is_some_and(|block| in_layout[block]) {
                Some(format!("uses {value}, which no block defines"))
            } else if !positions.is_available(func, &dominators, value, (block, number)) {
                Some(format!("uses {value}, whose definition does not dominate it"))
            } else {
                None
            }
        };
        let mut wrong = Vec::new();
        for &block in &func.layout {
            let data = &func.blocks[block];
            for (number, &inst) in data.insts.iter().enumerate() {
                func.insts[inst].op.for_each_arg(|value| {
                    let message = fault(value, block, number as u32);
                    wrong.extend(message.map(|message| (self.name(inst), message)));
                });
            }
            let number = data.insts.len() as u32;
            func.terminator(block).for_each_arg(|value| {
                let message = fault(value, block, number);
                wrong.extend(message.map(|message| (block.to_string(), message)));
            });
        }
        for (user, message) in wrong {
            self.error(user, message);
        }
        let cfg = Cfg::new(func);
        for &block in &func.layout {
            let back = |&from: &Block| dominators.dominates(block, from);
            let is_header = cfg.predecessors(block).iter().any(back);
            let Some(info) = &func.blocks[block].loop_info else { continue };
            if !is_header {
                self.error(block, "has loop information but heads no loop");
            }
            let counts = |counter: Counter| {
                func.blocks[block].params.contains(&counter.value)
                    && is_integer_scalar(func.ty(counter.value))
            };
            if !info.counter.is_none_or(counts) {
                self.error(block, "is counted by what is no integer parameter of it");
            }
        }
    }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn is_integer_scalar(ty: Type) -> bool {
    !ty.is_float() && !ty.is_vector()
}

fn check_constant(ty: Type, constant: &Constant) -> Result<(), String> {
    let lanes = match constant {
        Constant::Splat(bits) => std::slice::from_ref(bits),
        Constant::Lanes(lanes) => {
            ensure(lanes.len() == usize::from(ty.lanes), || {
                format!("is a constant of {} lanes for {ty}", lanes.len())
            })?;
            lanes
        }
    };
    let unused = !(u64::MAX >> (64 - ty.scalar.bits()));
    match lanes.iter().find(|&&bits| bits & unused != 0) {
        Some(bits) => Err(format!("is the constant {bits:#x}, too wide for {ty}")),
        None => Ok(()),
    }
}

fn check_lane(lane: u8, lanes: u8) -> Result<(), String> {
    ensure(lane < lanes, || format!("names lane {lane} of {lanes}"))
}

fn check_address(ty: Type) -> Result<(), String> {
    ensure(matches!(ty, Type::I32 | Type::I64), || format!("has an address of type {ty}"))
}

fn writable(space: Space) -> Result<(), String> {
    ensure(!matches!(space, Space::Param | Space::Const), || format!("writes to {space}"))
}

fn convertible(op: ConvertOp, from: Type, to: Type) -> bool {
    let (a, b) = (from.scalar, to.scalar);
    from.lanes == to.lanes
        && match op {
            ConvertOp::Truncate => !a.is_float() && !b.is_float() && b.bits() < a.bits(),
            ConvertOp::ZeroExtend | ConvertOp::SignExtend => {
                !a.is_float() && !b.is_float() && b.bits() > a.bits()
            }
            ConvertOp::FloatToSigned | ConvertOp::FloatToUnsigned => a.is_float() && !b.is_float(),
            ConvertOp::SignedToFloat | ConvertOp::UnsignedToFloat => !a.is_float() && b.is_float(),
            ConvertOp::FloatToFloat => a.is_float() && b.is_float() && a != b,
            ConvertOp::Bitcast => a.bits() == b.bits() && a != b,
        }
}
