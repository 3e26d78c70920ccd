//! From the typed tree to the shared IR: one sequential function, everything that it calls inlined.
//!
//! A scalar whose address is not taken is a value. Everything else lies in memory objects of one
//! dimension, subscripted by scalars: `a[i][j]` of `int a[n][m]` is `%a[i * m + j]`, since C lets a
//! row be left within its array. Structures whose scalars are of one type lie in one object, others
//! in one for each member. A pointer is two values: the number of its object, and the number of the
//! scalar in it. Which object it is, is mostly known; where not, [`pointers`] chooses among those
//! that it may be.
//!
//! The state is here, what is done with it in the files below, which own the types of its parts: both
//! name each other.

mod access;
mod checked;
mod expr;
mod extents;
mod interface;
mod library;
mod objects;
mod place;
mod pointers;
mod promises;
mod ssa;
mod stmt;

use std::collections::{HashMap, HashSet};

use nbcc_base::{Diagnostic, Diagnostics, Failed, Span};
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, ExecutionModel, Func, Function, IntCond, Mem,
    Module, Op, Terminator, Type, Value,
};

use self::objects::{Object, Variable};
use self::ssa::{Ssa, Var};
use crate::codes;
use crate::names::{Name, Names};
use crate::sema::tree::Program;
use crate::types::{Int, Types};

/// Instructions of a program at most, when everything that is called is inlined.
const MAX_INSTRUCTIONS: usize = 500_000;

/// Calls of a program at most, each of which takes blocks and variables of its own. They are counted
/// before anything is inlined: their number may double from function to function.
const MAX_CALLS: u64 = 100_000;

/// A pointer: which object, and which scalar of it.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    object: Which,
    at: Offset,
    /// Which promises it was made under, where these are checked and there may be any.
    origin: Option<Value>,
}

/// Which object a pointer points into.
#[derive(Clone, Copy, Debug)]
enum Which {
    /// The one of that number; 0 is null.
    Known(u32),
    /// What a value says.
    Value(Value),
}

/// A number of scalars: a value, if there is one, and a constant.
#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    value: Option<Value>,
    constant: i64,
}

/// The value of an expression.
#[derive(Clone, Debug)]
enum Val {
    Void,
    Int(Value),
    Pointer(Pointer),
    /// The scalars of a structure.
    Parts(Vec<Value>),
    /// A structure in memory.
    At(Pointer),
}

/// A call that is inlined.
struct Frame {
    /// Number of the function.
    function: usize,
    /// Its variables; made when they are first met.
    variables: Vec<Option<Variable>>,
    /// Where it goes on when it returns, and what the result is put into.
    returns_to: Block,
    result: Option<Variable>,
    /// Where `break` and `continue` lead.
    breaks: Vec<Block>,
    continues: Vec<Block>,
    /// The blocks of labels of cases.
    labels: HashMap<u32, Block>,
    /// How many loops are around.
    loops: u32,
}

/// The function that is built.
struct Lower<'a> {
    program: &'a Program,
    types: &'a mut Types,
    names: &'a Names,
    diagnostics: &'a mut Diagnostics,
    module: Module,
    func: Function,
    ssa: Ssa,
    block: Block,
    span: Option<Span>,
    frames: Vec<Frame>,
    globals: Vec<Option<Variable>>,
    /// The objects by their numbers; number 0 is null.
    objects: Vec<Object>,
    /// Constants of the entry block that say which object a pointer points into.
    numbers: HashMap<u32, Value>,
    mem_names: HashMap<String, u32>,
    /// What was written to, where reads of what was not end the run.
    written: Option<checked::Written>,
    /// What `restrict` pointers promise, where that is checked.
    promises: Option<promises::Promises>,
    too_large: bool,
    /// The loops that the module knows.
    loops: HashSet<Span>,
    /// Names without a definition, or of functions without a value, that are reported.
    refused: HashSet<Name>,
}

/// Makes the IR of a function of the program, and what it calls. Where it is `checked`, the function
/// ends the run when it reads what nothing was written to, and asks whether `restrict` pointers keep
/// their promises.
pub(crate) fn lower(
    program: &Program,
    entry: usize,
    checked: bool,
    types: &mut Types,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Result<(Module, Func), Failed> {
    let name = names.text(program.functions[entry].name);
    let calls = program.functions[entry].inlined_calls;
    if calls > MAX_CALLS {
        let message = format!("`{name}` makes more than {MAX_CALLS} calls, which are all inlined");
        let error = Diagnostic::error(&codes::LIMIT, message);
        let error = error.at(program.functions[entry].span, "with what it calls");
        return diagnostics.fail(error.help("call fewer functions from each other, in loops"));
    }
    let func = Function::new(name, ExecutionModel::Sequential);
    let block = func.entry();
    let mut lower = Lower {
        program,
        types,
        names,
        diagnostics,
        module: Module::default(),
        func,
        ssa: Ssa::default(),
        block,
        span: None,
        frames: Vec::new(),
        globals: program.globals.iter().map(|_| None).collect(),
        objects: vec![Object::Null],
        numbers: HashMap::new(),
        mem_names: HashMap::new(),
        written: checked.then(checked::Written::default),
        promises: checked.then(promises::Promises::default),
        too_large: false,
        loops: HashSet::new(),
        refused: HashSet::new(),
    };
    lower.entry(entry)?;
    if lower.too_large || !lower.refused.is_empty() {
        return Err(Failed);
    }
    let Lower { mut module, mut func, objects, written, .. } = lower;
    clean(&mut func);
    pointers::resolve(&mut func, &objects, &written.unwrap_or_default().objects);
    clean(&mut func);
    // Limits of subscripts that are never reached: counted by a loop with bounds, masked, narrow.
    nbcc_opt::ranges::run(&mut func);
    clean(&mut func);
    let func = module.functions.push(func);
    Ok((module, func))
}

/// What building leaves behind is removed: parameters that stand for one value, constants that
/// fold, blocks that nothing reaches.
fn clean(func: &mut Function) {
    nbcc_opt::unreachable::run(func);
    for _ in 0..8 {
        let mut changed = nbcc_opt::params::run(func);
        changed |= nbcc_opt::fold::run(func);
        changed |= nbcc_opt::simplify_cfg::run(func);
        changed |= nbcc_opt::dce::run(func);
        if !changed {
            break;
        }
    }
}

/// The IR's type of values of an integer type.
fn ir_type(int: Int) -> Type {
    match int.bits() {
        8 => Type::I8,
        16 => Type::I16,
        32 => Type::I32,
        _ => Type::I64,
    }
}

impl Lower<'_> {
    fn op(&mut self, op: Op) -> Option<Value> {
        let types = self.func.result_types(&op);
        let inst = self.func.make_inst(op, &types, self.span);
        self.func.blocks[self.block].insts.push(inst);
        if self.func.insts.len() > MAX_INSTRUCTIONS && !self.too_large {
            self.too_large = true;
            let message =
                format!("more than {MAX_INSTRUCTIONS} instructions with all calls inlined");
            let error = Diagnostic::error(&codes::LIMIT, message);
            let error = error.at(self.span.unwrap_or_default(), "with this");
            self.diagnostics.push(error.help("call fewer functions from each other, in loops"));
        }
        self.func.result(inst)
    }

    fn value(&mut self, op: Op) -> Value {
        match self.op(op) {
            Some(value) => value,
            None => unreachable!("an operation with a result"),
        }
    }

    fn constant(&mut self, ty: Type, value: i64) -> Value {
        let bits = value as u64 & (u64::MAX >> (64 - ty.scalar.bits()));
        self.value(Op::Const(ty, Constant::Splat(bits)))
    }

    fn i32(&mut self, value: i64) -> Value {
        self.constant(Type::I32, value)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.value(Op::Binary(op, a, b))
    }

    fn compare(&mut self, cond: IntCond, a: Value, b: Value) -> Value {
        self.value(Op::Icmp(cond, a, b))
    }

    fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        self.value(Op::Select(condition, a, b))
    }

    /// A value of an integer type as one of another width.
    fn widen(&mut self, value: Value, signed: bool, to: Type) -> Value {
        let from = self.func.ty(value);
        let (a, b) = (from.scalar.bits(), to.scalar.bits());
        let op = match a.cmp(&b) {
            std::cmp::Ordering::Equal => return value,
            std::cmp::Ordering::Greater => ConvertOp::Truncate,
            std::cmp::Ordering::Less if signed => ConvertOp::SignExtend,
            std::cmp::Ordering::Less => ConvertOp::ZeroExtend,
        };
        self.value(Op::Convert(op, value, to))
    }

    fn terminate(&mut self, terminator: Terminator) {
        self.ssa.leads(self.block, &terminator);
        let data = &mut self.func.blocks[self.block];
        data.terminator = Some(terminator);
        data.span = self.span;
    }

    fn jump(&mut self, to: Block) {
        self.terminate(Terminator::Jump(BlockCall { block: to, args: vec![] }));
    }

    fn branch(&mut self, condition: Value, then: Block, other: Block) {
        let to = |block| BlockCall { block, args: vec![] };
        self.terminate(Terminator::Branch(condition, to(then), to(other)));
    }

    fn new_block(&mut self) -> Block {
        self.func.add_block()
    }

    /// Goes on in a block that nothing else leads to from now on.
    fn start(&mut self, block: Block) {
        self.ssa.seal(&mut self.func, block);
        self.block = block;
    }

    /// Ends the run; what follows is never reached.
    fn trap(&mut self, message: String) {
        self.terminate(Terminator::Trap(message));
        let after = self.new_block();
        self.start(after);
    }

    fn read(&mut self, var: Var) -> Value {
        self.ssa.read(&mut self.func, self.block, var)
    }

    fn write(&mut self, var: Var, value: Value) {
        self.ssa.write(self.block, var, value);
        self.mark_variable(var, true);
    }

    /// Refuses what is needed and only declared.
    fn refuse_undefined(&mut self, name: Name) {
        if self.refused.insert(name) {
            let message = format!("`{}` is declared and never defined", self.names.text(name));
            let error = Diagnostic::error(&codes::UNDEFINED, message);
            let error = error.at(self.span.unwrap_or_default(), "needed here");
            self.diagnostics.push(error.help("define it in this file, or in one that is included"));
        }
    }

    /// The memory object of a number; `None` for null and for numbers of whole structures.
    fn mem_of(&self, number: u32) -> Option<Mem> {
        match self.objects.get(number as usize) {
            Some(Object::Memory(mem) | Object::Text(mem)) => Some(*mem),
            _ => None,
        }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is lowered")
    }
}
