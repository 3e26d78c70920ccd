//! What kernels that differ in constants only have in common.

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_ir::{
    BinaryOp, Block, Constant, Function, Inst, LoopInfo, Op, Scalar, Terminator, Type, Value,
};

use crate::kernel::Kernel;

/// A constant of a function, where it is made.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Where it is made.
    pub inst: Inst,
    /// Its lanes; one value in all of them for a scalar.
    pub atom: [u32; 4],
}

/// All of a kernel but its name and its constants. Values and blocks are counted in order.
#[derive(PartialEq, Eq, Hash)]
pub struct Shape {
    mask: u32,
    blocks: Vec<BlockShape>,
}

#[derive(PartialEq, Eq, Hash)]
struct BlockShape {
    params: Vec<Type>,
    ops: Vec<Op>,
    terminator: Terminator,
    /// What counts the rounds of the loop that it heads adds in each, if it heads one.
    loop_step: Option<Option<i64>>,
}

/// What stands for any constant: no word has such bits.
const ANY_CONSTANT: Constant = Constant::Splat(u64::MAX);

/// The shape of a kernel, and the constants it leaves out, in order.
pub fn shape_of(kernel: &Kernel) -> (Shape, Vec<Site>) {
    let func = &kernel.func;
    let fixed = fixed_constants(func);
    let mut values: SecondaryMap<Value, Value> = SecondaryMap::with_default(Value::new(0));
    let mut blocks: SecondaryMap<Block, Block> = SecondaryMap::with_default(Block::new(0));
    let mut next = 0;
    let mut count = |value: Value| {
        values[value] = Value::new(next);
        next += 1;
    };
    for (k, &block) in func.layout.iter().enumerate() {
        blocks[block] = Block::new(k);
        func.blocks[block].params.iter().copied().for_each(&mut count);
        for &inst in &func.blocks[block].insts {
            func.result(inst).into_iter().for_each(&mut count);
        }
    }
    let mut constants = Vec::new();
    let shape = |&block: &Block| {
        let data = &func.blocks[block];
        let ops = data.insts.iter().map(|&inst| {
            let op = &func.insts[inst].op;
            match (op, func.result(inst)) {
                (Op::Const(ty, constant), Some(value)) if is_word(*ty) && !fixed[value] => {
                    constants.push(Site { inst, atom: atom(constant) });
                    Op::Const(*ty, ANY_CONSTANT)
                }
                _ => without_objects(op.clone().map_args(|value| values[value])),
            }
        });
        let ops = ops.collect();
        let mut terminator = func.terminator(block).clone();
        terminator.for_each_arg_mut(|value| *value = values[*value]);
        for to in terminator.successors_mut() {
            to.block = blocks[to.block];
        }
        let params = data.params.iter().map(|&param| func.ty(param)).collect();
        let step = |info: &LoopInfo| info.counter.map(|counter| counter.step);
        BlockShape { params, ops, terminator, loop_step: data.loop_info.as_ref().map(step) }
    };
    let blocks = func.layout.iter().map(shape).collect();
    (Shape { mask: kernel.mask, blocks }, constants)
}

/// An operation as what it does: its addresses say where.
fn without_objects(mut op: Op) -> Op {
    if let Op::Intrinsic(call) = &mut op {
        call.mems.clear();
    }
    op
}

fn is_word(ty: Type) -> bool {
    matches!(ty.scalar, Scalar::I32 | Scalar::F32)
}

fn atom(constant: &Constant) -> [u32; 4] {
    match constant {
        Constant::Splat(bits) => [*bits as u32; 4],
        Constant::Lanes(lanes) => std::array::from_fn(|l| lanes[l % lanes.len()] as u32),
    }
}

/// Constants that some operation is easier to express by: as a divisor, for example.
fn fixed_constants(func: &Function) -> SecondaryMap<Value, bool> {
    use BinaryOp::{
        And, Ashr, Fadd, Fmax, Fmin, Fmul, Fsub, Iadd, Imul, Isub, Lshr, Or, Shl, Smax, Smin, Umax,
        Umin, Xor,
    };
    let mut fixed: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            let any = match op {
                Op::Binary(op, ..) => {
                    matches!(
                        op,
                        Iadd | Isub
                            | Imul
                            | And
                            | Or
                            | Xor
                            | Shl
                            | Lshr
                            | Ashr
                            | Smin
                            | Smax
                            | Umin
                    ) || matches!(op, Umax | Fadd | Fsub | Fmul | Fmin | Fmax)
                }
                Op::Icmp(..) | Op::Fcmp(..) | Op::Select(..) | Op::MulAdd(..) => true,
                Op::Splat(..) | Op::Insert(..) | Op::Shuffle(..) | Op::Intrinsic(_) => true,
                _ => false,
            };
            if !any {
                op.for_each_arg(|value| fixed[value] = true);
            }
        }
    }
    fixed
}
