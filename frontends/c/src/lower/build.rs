//! Operations and blocks at the place that lowering has come to.

use nbcc_base::Diagnostic;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Constant, ConvertOp, IntCond, Op, Terminator, Type, Value,
};

use super::ssa::Var;
use super::state::Lower;
use crate::codes;
use crate::names::Name;
use crate::types::Int;

/// Instructions of a program at most, when everything that is called is inlined.
const MAX_INSTRUCTIONS: usize = 500_000;

/// The IR's type of values of an integer type.
pub(super) fn ir_type(int: Int) -> Type {
    match int.bits() {
        8 => Type::I8,
        16 => Type::I16,
        32 => Type::I32,
        _ => Type::I64,
    }
}

impl Lower<'_> {
    /// An operation at the end of the block; its result.
    pub(super) fn op(&mut self, op: Op) -> Option<Value> {
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

    /// The result of an operation that has one.
    pub(super) fn value(&mut self, op: Op) -> Value {
        match self.op(op) {
            Some(value) => value,
            None => unreachable!("an operation with a result"),
        }
    }

    pub(super) fn constant(&mut self, ty: Type, value: i64) -> Value {
        let bits = value as u64 & (u64::MAX >> (64 - ty.scalar.bits()));
        self.value(Op::Const(ty, Constant::Splat(bits)))
    }

    pub(super) fn i32(&mut self, value: i64) -> Value {
        self.constant(Type::I32, value)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.value(Op::Binary(op, a, b))
    }

    pub(super) fn compare(&mut self, cond: IntCond, a: Value, b: Value) -> Value {
        self.value(Op::Icmp(cond, a, b))
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        self.value(Op::Select(condition, a, b))
    }

    /// A value of an integer type as one of another width.
    pub(super) fn widen(&mut self, value: Value, signed: bool, to: Type) -> Value {
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

    pub(super) fn terminate(&mut self, terminator: Terminator) {
        self.ssa.leads(self.block, &terminator);
        let data = &mut self.func.blocks[self.block];
        data.terminator = Some(terminator);
        data.span = self.span;
    }

    pub(super) fn jump(&mut self, to: Block) {
        self.terminate(Terminator::Jump(BlockCall { block: to, args: vec![] }));
    }

    pub(super) fn branch(&mut self, condition: Value, then: Block, other: Block) {
        let to = |block| BlockCall { block, args: vec![] };
        self.terminate(Terminator::Branch(condition, to(then), to(other)));
    }

    pub(super) fn new_block(&mut self) -> Block {
        self.func.add_block()
    }

    /// Goes on in a block that nothing else leads to from now on.
    pub(super) fn start(&mut self, block: Block) {
        self.ssa.seal(&mut self.func, block);
        self.block = block;
    }

    /// Ends the run; what follows is never reached.
    pub(super) fn trap(&mut self, message: String) {
        self.terminate(Terminator::Trap(message));
        let after = self.new_block();
        self.start(after);
    }

    pub(super) fn read(&mut self, var: Var) -> Value {
        self.ssa.read(&mut self.func, self.block, var)
    }

    pub(super) fn write(&mut self, var: Var, value: Value) {
        self.ssa.write(self.block, var, value);
        self.mark_variable(var, true);
    }

    /// Refuses what is needed and only declared.
    pub(super) fn refuse_undefined(&mut self, name: Name) {
        if self.refused.insert(name) {
            let message = format!("`{}` is declared and never defined", self.names.text(name));
            let error = Diagnostic::error(&codes::UNDEFINED, message);
            let error = error.at(self.span.unwrap_or_default(), "needed here");
            self.diagnostics.push(error.help("define it in this file, or in one that is included"));
        }
    }
}
