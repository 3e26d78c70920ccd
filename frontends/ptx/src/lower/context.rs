//! What lowering an instruction works on: the function under construction, the values that
//! variables have at this point, and how operands are read and results written.

use std::collections::{BTreeMap, HashMap};

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, DataObject, Function, Inst, IntCond, Object,
    Op, SimtOp, Space, Terminator, Type, Value, function_address,
};

use super::plan::Plan;
use super::types::{register_type, same_size_integer};
use crate::ast::ScalarType;
use crate::check::is_signed;
use crate::forms::Matched;
use crate::resolved::{
    self, Body, FunctionId, Guard, Operand, OperandKind, RegId, Variable, VariableId,
};

/// A variable of the SSA construction: a register or an element of one, the carry flag, or a scalar
/// in `.param` space.
pub type Var = u32;

/// Where a variable of `.param` space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A parameter of the kernel, at this offset of the space `param`.
    Kernel(u32),
    /// A value.
    Scalar(Var),
    /// In local memory.
    Object(Object),
    /// In local memory, where this value points.
    Pointer(Var),
}

/// Lowers one function.
pub struct Lowerer<'a> {
    /// The module's part.
    pub plan: &'a Plan<'a>,
    /// Which function.
    pub id: FunctionId,
    /// Its body.
    pub body: &'a Body,
    /// What is built.
    pub func: Function,
    /// The block that instructions are added to.
    pub block: Block,
    /// The blocks made for the basic block at hand, in order.
    pub owned: Vec<Block>,
    /// The source of instructions.
    pub span: Option<Span>,
    /// The types of variables.
    pub types: Vec<Type>,
    /// The first variable of each register.
    pub first: SecondaryMap<RegId, Var>,
    /// The carry flag.
    pub carry: Var,
    /// Where variables in `.param` space are.
    pub homes: SecondaryMap<VariableId, Option<Home>>,
    /// The values that variables have here; none: zero.
    pub current: Vec<PackedOption<Value>>,
    /// What `current` held before, for the way back up the dominator tree.
    pub undo: Vec<(Var, PackedOption<Value>)>,
    /// Results of the instruction at hand.
    pub pending: Vec<(Var, Value)>,
    /// Constants and addresses of the block at hand.
    constants: HashMap<(Type, u64), Value>,
    addresses: HashMap<Object, Value>,
    /// Zeros for what was never written: they stand at the head of the entry.
    pub zeros: BTreeMap<Type, Value>,
    /// Their instructions.
    pub prelude: Vec<Inst>,
    /// Data objects of the module's functions.
    pub objects: &'a mut Vec<DataObject>,
}

impl<'a> Lowerer<'a> {
    /// A lowerer that has nothing but an empty function.
    pub fn new(
        plan: &'a Plan<'a>,
        id: FunctionId,
        body: &'a Body,
        func: Function,
        objects: &'a mut Vec<DataObject>,
    ) -> Lowerer<'a> {
        let block = func.entry();
        Lowerer {
            plan,
            id,
            body,
            func,
            block,
            owned: Vec::new(),
            span: None,
            types: Vec::new(),
            first: SecondaryMap::new(),
            carry: 0,
            homes: SecondaryMap::new(),
            current: Vec::new(),
            undo: Vec::new(),
            pending: Vec::new(),
            constants: HashMap::new(),
            addresses: HashMap::new(),
            zeros: BTreeMap::new(),
            prelude: Vec::new(),
            objects,
        }
    }

    /// Adds a variable.
    pub fn new_variable(&mut self, ty: Type) -> Var {
        self.types.push(ty);
        self.current.push(None.into());
        self.types.len() as Var - 1
    }

    /// Goes on in another block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
        self.constants.clear();
        self.addresses.clear();
    }

    /// A new block, of the basic block at hand.
    pub fn new_block(&mut self) -> Block {
        let block = self.func.add_block();
        self.owned.push(block);
        block
    }

    /// Adds an instruction; its results.
    pub fn push(&mut self, op: Op, types: &[Type]) -> Inst {
        let inst = self.func.make_inst(op, types, self.span);
        self.func.blocks[self.block].insts.push(inst);
        inst
    }

    /// Adds an instruction with one result.
    pub fn value(&mut self, op: Op, ty: Type) -> Value {
        let inst = self.push(op, &[ty]);
        self.func.insts[inst].results[0]
    }

    /// Adds a grid operation with one result of that type.
    pub fn simt(&mut self, op: SimtOp, args: Vec<Value>, ty: Type) -> Value {
        self.value(Op::Simt(op, args), ty)
    }

    /// Adds a grid operation without a result.
    pub fn effect(&mut self, op: SimtOp, args: Vec<Value>) {
        self.push(Op::Simt(op, args), &[]);
    }

    /// A constant. Bits beyond the type are dropped.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & (u64::MAX >> (64 - ty.scalar.bits()));
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        let value = self.value(Op::Const(ty, Constant::Splat(bits)), ty);
        self.constants.insert((ty, bits), value);
        value
    }

    /// A 32-bit constant.
    pub fn i32(&mut self, bits: u32) -> Value {
        self.constant(Type::I32, u64::from(bits))
    }

    /// The address of an object in its own space.
    pub fn address_of(&mut self, object: Object) -> Value {
        if let Some(&value) = self.addresses.get(&object) {
            return value;
        }
        let value = self.simt(SimtOp::Address(object), vec![], Type::I64);
        self.addresses.insert(object, value);
        value
    }

    /// An operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.value(Op::Binary(op, a, b), ty)
    }

    /// An integer comparison.
    pub fn icmp(&mut self, cond: IntCond, a: Value, b: Value) -> Value {
        self.value(Op::Icmp(cond, a, b), Type::I1)
    }

    /// A choice.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        let ty = self.func.ty(a);
        self.value(Op::Select(cond, a, b), ty)
    }

    /// The opposite of a predicate.
    pub fn not(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        self.value(Op::Unary(nbcc_ir::UnaryOp::Not, value), ty)
    }

    /// The same bits, cut or extended to another width, as another type.
    pub fn fit(&mut self, value: Value, to: Type, signed: bool) -> Value {
        let from = self.func.ty(value);
        if from == to {
            return value;
        }
        let (from_bits, to_bits) = (from.scalar.bits(), to.scalar.bits());
        if from_bits == to_bits {
            return self.value(Op::Convert(ConvertOp::Bitcast, value, to), to);
        }
        let mut value = value;
        if from.is_float() {
            let integer = same_size_integer(from);
            value = self.value(Op::Convert(ConvertOp::Bitcast, value, integer), integer);
        }
        let integer = same_size_integer(to);
        let op = match (from_bits > to_bits, signed) {
            (true, _) => ConvertOp::Truncate,
            (false, true) => ConvertOp::SignExtend,
            (false, false) => ConvertOp::ZeroExtend,
        };
        value = self.value(Op::Convert(op, value, integer), integer);
        if to.is_float() {
            value = self.value(Op::Convert(ConvertOp::Bitcast, value, to), to);
        }
        value
    }

    /// The zero of a type, made at the head of the entry, where it is available everywhere.
    fn zero(&mut self, ty: Type) -> Value {
        if let Some(&value) = self.zeros.get(&ty) {
            return value;
        }
        let inst = self.func.make_inst(Op::Const(ty, Constant::Splat(0)), &[ty], None);
        self.prelude.push(inst);
        let value = self.func.insts[inst].results[0];
        self.zeros.insert(ty, value);
        value
    }

    /// What a variable holds here. A register that was never written holds zero.
    pub fn get(&mut self, var: Var) -> Value {
        match self.current[var as usize].expand() {
            Some(value) => value,
            None => self.zero(self.types[var as usize]),
        }
    }

    /// What a variable holds from here on.
    pub fn set(&mut self, var: Var, value: Value) {
        debug_assert_eq!(self.func.ty(value), self.types[var as usize]);
        let old = std::mem::replace(&mut self.current[var as usize], Some(value).into());
        self.undo.push((var, old));
    }

    /// The variable of a register operand.
    pub fn variable_of(&self, operand: &Operand) -> Option<Var> {
        match operand.kind {
            OperandKind::Register(reg) => Some(self.first[reg]),
            OperandKind::Component(reg, element) => Some(self.first[reg] + u32::from(element)),
            OperandKind::Selected(reg, _) => Some(self.first[reg]),
            _ => None,
        }
    }

    /// The variables of a register operand, of all its elements where it is a vector.
    pub fn variables_of(&self, operand: &Operand) -> std::ops::Range<Var> {
        let Some(first) = self.variable_of(operand) else { return 0..0 };
        let count = match operand.kind {
            OperandKind::Register(reg) => self.body.registers[reg].vector,
            _ => 1,
        };
        first..first + u32::from(count)
    }

    /// The declaration of a variable in memory.
    pub fn declaration(&self, variable: VariableId) -> &'a Variable {
        &self.plan.module.variables[variable]
    }

    /// Whether the guard of an instruction holds.
    pub fn guard(&mut self, guard: Guard) -> Value {
        let value = self.get(self.first[guard.register]);
        if guard.negated { self.not(value) } else { value }
    }

    /// An operand, read as a type.
    pub fn read(&mut self, operand: &Operand, ty: ScalarType) -> Value {
        let to = register_type(ty);
        match &operand.kind {
            OperandKind::Register(_) | OperandKind::Component(..) => {
                let var = self.variable_of(operand).expect("a register");
                let value = self.get(var);
                self.fit(value, to, is_signed(ty))
            }
            OperandKind::Constant(constant) => self.number(*constant, to),
            // The fourth element of positions and extents is zero.
            OperandKind::Special(_, Some(3)) => self.constant(to, 0),
            OperandKind::Special(name, element) => {
                let name = self.plan.module.names.text(*name);
                let reg = crate::check::special_register(name, *element).expect("checked");
                let value = self.simt(SimtOp::Special(reg), vec![], reg.ty());
                self.fit(value, to, false)
            }
            OperandKind::Function(function) => {
                let func = self.plan.function(*function).expect("checked");
                self.constant(to, function_address(func))
            }
            OperandKind::Variable(variable, offset) => {
                let value = self.variable_address(*variable, *offset);
                self.fit(value, to, false)
            }
            OperandKind::Vector(elements) if elements.len() == 1 => self.read(&elements[0], ty),
            _ => panic!("an operand that was not checked"),
        }
    }

    /// A number as a type. Floats are rounded to binary32 where one is wanted.
    pub fn number(&mut self, constant: resolved::Constant, ty: Type) -> Value {
        let bits = match constant {
            resolved::Constant::Int { bits, .. } => bits,
            resolved::Constant::F32(bits) if ty.scalar.bits() == 64 => {
                f64::from(f32::from_bits(bits)).to_bits()
            }
            resolved::Constant::F32(bits) => u64::from(bits),
            resolved::Constant::F64(bits) if ty.scalar.bits() == 64 => bits,
            resolved::Constant::F64(bits) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        };
        self.constant(ty, bits)
    }

    /// The address of a variable in its own space.
    pub fn variable_address(&mut self, variable: VariableId, offset: i64) -> Value {
        let base = match self.homes[variable] {
            Some(Home::Kernel(at)) => {
                return self.constant(Type::I64, (i64::from(at).wrapping_add(offset)) as u64);
            }
            Some(Home::Pointer(var)) => self.get(var),
            Some(Home::Object(object)) => self.address_of(object),
            Some(Home::Scalar(_)) => panic!("{variable} is a value and has no address"),
            None => match self.plan.objects[variable].expand() {
                Some(object) => self.address_of(object),
                // An opaque variable or one that is defined nowhere: reported already.
                None => self.constant(Type::I64, 0),
            },
        };
        if offset == 0 {
            return base;
        }
        let offset = self.constant(Type::I64, offset as u64);
        self.binary(BinaryOp::Iadd, base, offset)
    }

    /// A predicate as a source.
    pub fn read_predicate(&mut self, operand: &Operand) -> Value {
        match &operand.kind {
            OperandKind::Not(inner) => {
                let value = self.read_predicate(inner);
                self.not(value)
            }
            OperandKind::Constant(resolved::Constant::Int { bits, .. }) => {
                self.constant(Type::I1, u64::from(*bits != 0))
            }
            _ => {
                let var = self.variable_of(operand).expect("a predicate");
                self.get(var)
            }
        }
    }

    /// Writes a result of a type. A wider register is extended, with the sign of a signed type.
    pub fn write(&mut self, operand: &Operand, ty: ScalarType, value: Value) {
        let operand = match &operand.kind {
            OperandKind::Vector(elements) if elements.len() == 1 => &elements[0],
            _ => operand,
        };
        let Some(var) = self.variable_of(operand) else { return };
        let value = self.fit(value, self.types[var as usize], is_signed(ty));
        self.pending.push((var, value));
    }

    /// Writes a predicate, or drops it.
    pub fn write_predicate(&mut self, operand: &Operand, value: Value) {
        if let Some(var) = self.variable_of(operand) {
            self.pending.push((var, value));
        }
    }

    /// Writes the carry flag.
    pub fn write_carry(&mut self, value: Value) {
        self.pending.push((self.carry, value));
    }

    /// Makes the results of an instruction those of the variables.
    pub fn commit(&mut self) {
        for (var, value) in std::mem::take(&mut self.pending) {
            self.set(var, value);
        }
    }

    /// The same, where a guard is true.
    pub fn commit_selected(&mut self, guard: Value) {
        for (var, value) in std::mem::take(&mut self.pending) {
            let old = self.get(var);
            let value = self.select(guard, value, old);
            self.set(var, value);
        }
    }

    /// Runs `body` only where a guard is true, and goes on behind it with its results.
    pub fn conditional(&mut self, guard: Value, body: impl FnOnce(&mut Self)) {
        let (from, then) = (self.block, self.new_block());
        self.switch_to(then);
        body(self);
        let mut results: Vec<(Var, Value)> = Vec::new();
        for (var, value) in std::mem::take(&mut self.pending) {
            results.retain(|&(other, _)| other != var);
            results.push((var, value));
        }
        let last = self.block;
        let join = self.new_block();
        let news = results.iter().map(|&(_, value)| value).collect();
        self.end(last, Terminator::Jump(BlockCall { block: join, args: news }));
        self.switch_to(from);
        let olds: Vec<Value> = results.iter().map(|&(var, _)| self.get(var)).collect();
        let then = BlockCall { block: then, args: vec![] };
        let other = BlockCall { block: join, args: olds };
        self.end(from, Terminator::Branch(guard, then, other));
        self.switch_to(join);
        for (var, _) in results {
            let param = self.func.add_param(join, self.types[var as usize]);
            self.set(var, param);
        }
    }

    /// Ends a block.
    pub fn end(&mut self, block: Block, terminator: Terminator) {
        let data = &mut self.func.blocks[block];
        data.terminator = Some(terminator);
        data.span = self.span;
    }

    /// The type that the pattern of operand `n` of a form gives.
    pub fn operand_type(&self, matched: &Matched, n: usize) -> ScalarType {
        use crate::forms::OperandKind as Kind;
        match matched.pattern.operands[n].kind {
            Kind::Value(ty)
            | Kind::Result(ty)
            | Kind::ResultAndMaybePredicate(ty)
            | Kind::ResultAndPredicate(ty) => crate::forms::type_of(&matched.types, ty),
            _ => ScalarType::Pred,
        }
    }

    /// The space that generic addresses of a parameter space are in.
    pub fn parameter_space(&self) -> Space {
        if self.plan.module.functions[self.id].entry { Space::Param } else { Space::Local }
    }
}
