//! Kernels that differ in constants only become one, which is called and gets these constants as
//! numbers: levels of a pyramid differ in the extents, strides and addresses of their buffers, and
//! all code of a program has to fit the vault's instruction memory.
//!
//! This is function merging by parameters (as of LLVM's MergeFunctions and its successors that
//! take constants as arguments): functions are the same where all their blocks, instructions and
//! edges are, constants apart. What has the same value in all of them stays a constant; constants
//! that go together through all of them are one number. Kernels of one shape that differ in more
//! numbers than there are registers for become several.

use std::collections::HashMap;

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_ir::{
    BinaryOp, Block, Constant, Effect, Function, Inst, IntrinsicCall, Op, Scalar, Terminator, Type,
    Value,
};
use nbcc_opt::{dce, fold, params};

use crate::intrinsics::PASSED;
use crate::lower::Kernel;
use crate::lower::share::Turn;

/// The most numbers that engines get, an atom of their banks each.
pub const MAX_NUMBERS: usize = 64;

/// Merges kernels that take turns, each once, at the cost of at most `most` scalar numbers a
/// kernel; the control core may need a register for each of them.
pub fn merge(kernels: Vec<Kernel>, turns: Vec<Turn>, most: usize) -> (Vec<Kernel>, Vec<Turn>) {
    let mut turns = turns;
    let mut groups: Vec<Group> = Vec::new();
    let mut open: HashMap<Shape, Vec<usize>> = HashMap::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let (shape, constants) = shape_of(kernel);
        let alike = open.entry(shape).or_default();
        let found = alike.iter().copied().find(|&g| groups[g].fits(&constants, &kernels, most));
        match found {
            Some(group) => groups[group].members.push((number, constants)),
            None => {
                alike.push(groups.len());
                groups.push(Group { members: vec![(number, constants)] });
            }
        }
    }
    let mut merged = Vec::new();
    for group in groups {
        group.kernels(&kernels, &mut merged, &mut turns);
    }
    for kernel in &mut merged {
        simplify(&mut kernel.func);
    }
    (merged, turns)
}

/// A constant of a function: where it is made, and its lanes.
#[derive(Clone, Copy, Debug)]
struct Number {
    inst: Inst,
    atom: [u32; 4],
}

/// Kernels that can be one.
struct Group {
    /// Their numbers, and the constants of each.
    members: Vec<(usize, Vec<Number>)>,
}

impl Group {
    /// What the constants are in the members, those that are not the same in all, each such list
    /// once; with the constants that are so.
    fn numbers(&self, more: Option<&[Number]>) -> Vec<(Vec<[u32; 4]>, Vec<Inst>)> {
        let lists: Vec<&[Number]> =
            self.members.iter().map(|(_, list)| &list[..]).chain(more).collect();
        let mut found: Vec<(Vec<[u32; 4]>, Vec<Inst>)> = Vec::new();
        let mut known: HashMap<Vec<[u32; 4]>, usize> = HashMap::new();
        for k in 0..lists[0].len() {
            let (inst, first) = (lists[0][k].inst, lists[0][k].atom);
            if lists.iter().all(|list| list[k].atom == first) {
                continue;
            }
            let values: Vec<[u32; 4]> = lists.iter().map(|list| list[k].atom).collect();
            let number = *known.entry(values.clone()).or_insert_with(|| {
                found.push((values, Vec::new()));
                found.len() - 1
            });
            found[number].1.push(inst);
        }
        found
    }

    /// Whether a kernel of the same shape can join.
    fn fits(&self, constants: &[Number], kernels: &[Kernel], most: usize) -> bool {
        let func = &kernels[self.members[0].0].func;
        let numbers = self.numbers(Some(constants));
        let scalars = numbers.iter().filter(|(_, insts)| insts.iter().any(|&i| is_scalar(func, i)));
        numbers.len() <= MAX_NUMBERS && scalars.count() <= most
    }

    /// Makes the kernels of a group: one where that is less code, else all.
    fn kernels(self, kernels: &[Kernel], merged: &mut Vec<Kernel>, turns: &mut [Turn]) {
        let members = self.members.len();
        let first = &kernels[self.members[0].0];
        let numbers = self.numbers(None);
        // A number takes up to five instructions of a call, and there are the jumps.
        let (body, call) = (first.func.inst_count(), 5 * numbers.len() + 4);
        if members == 1 || (members - 1) * body <= members * call {
            for (number, _) in self.members {
                turns[number].kernel = merged.len();
                merged.push(Kernel { sync: None, ..kernels[number].clone() });
            }
            return;
        }
        let mut kernel = Kernel { sync: None, args: Some(vec![]), ..first.clone() };
        let name = kernel.func.name.split_once('.').map_or("", |(_, name)| name).to_string();
        kernel.func.name = format!("shared{}.{name}", merged.len());
        for (n, (_, insts)) in numbers.iter().enumerate() {
            for &inst in insts {
                let op = &mut kernel.func.insts[inst].op;
                let Op::Const(ty, _) = *op else { panic!("{inst} is no constant") };
                *op = Op::Intrinsic(IntrinsicCall {
                    name: PASSED,
                    effect: Effect::Pure,
                    args: vec![],
                    mems: vec![],
                    imms: vec![n as i64],
                    result: Some(ty),
                });
            }
        }
        let trips = self.members.iter().map(|(number, _)| trips_of(&kernels[*number].func));
        forget_trips(&mut kernel.func, &trips.collect::<Vec<_>>());
        for (k, &(number, _)) in self.members.iter().enumerate() {
            turns[number].kernel = merged.len();
            turns[number].numbers = numbers.iter().map(|(values, _)| values[k]).collect();
        }
        merged.push(kernel);
    }
}

fn is_scalar(func: &Function, inst: Inst) -> bool {
    matches!(func.insts[inst].op, Op::Const(ty, _) if ty == Type::I32)
}

/// How often each loop of a function runs.
fn trips_of(func: &Function) -> Vec<Option<u64>> {
    let trips = |&block: &Block| func.blocks[block].loop_info.as_ref().and_then(|info| info.trips);
    func.layout.iter().map(trips).collect()
}

/// Keeps of what is known of loops what holds in all functions.
fn forget_trips(func: &mut Function, all: &[Vec<Option<u64>>]) {
    for (k, &block) in func.layout.iter().enumerate() {
        if let Some(info) = &mut func.blocks[block].loop_info
            && all.iter().any(|trips| trips[k] != info.trips)
        {
            info.trips = None;
        }
    }
}

/// All of a kernel but its name and its constants. Values and blocks are counted in order.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    mask: u32,
    blocks: Vec<BlockShape>,
}

#[derive(PartialEq, Eq, Hash)]
struct BlockShape {
    params: Vec<Type>,
    ops: Vec<Op>,
    terminator: Terminator,
    heads_loop: bool,
}

/// What stands for any constant: no word has such bits.
const ANY_NUMBER: Constant = Constant::Splat(u64::MAX);

/// The shape of a kernel, and the constants it leaves out, in order.
fn shape_of(kernel: &Kernel) -> (Shape, Vec<Number>) {
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
                    constants.push(Number { inst, atom: atom(constant) });
                    Op::Const(*ty, ANY_NUMBER)
                }
                _ => op.clone().map_args(|value| values[value]),
            }
        });
        let ops = ops.collect();
        let mut terminator = func.terminator(block).clone();
        terminator.for_each_arg_mut(|value| *value = values[*value]);
        for to in terminator.successors_mut() {
            to.block = blocks[to.block];
        }
        let params = data.params.iter().map(|&param| func.ty(param)).collect();
        BlockShape { params, ops, terminator, heads_loop: data.loop_info.is_some() }
    };
    let blocks = func.layout.iter().map(shape).collect();
    (Shape { mask: kernel.mask, blocks }, constants)
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

/// Simplifies what was written out for the sake of the shape: loops of one trip, sums with zero,
/// products by one.
fn simplify(func: &mut Function) {
    let mut once: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &block in &func.layout {
        if func.blocks[block].loop_info.as_ref().is_some_and(|info| info.trips == Some(1)) {
            func.blocks[block].loop_info = None;
            once[block] = true;
        }
    }
    let mut after: SecondaryMap<Block, bool> = SecondaryMap::new();
    for block in func.layout.clone() {
        after[block] = true;
        let Some(Terminator::Branch(_, again, exit)) = &func.blocks[block].terminator else {
            continue;
        };
        // The edge that goes back is the one to a header that stands before.
        if once[again.block] && after[again.block] {
            func.blocks[block].terminator = Some(Terminator::Jump(exit.clone()));
        }
    }
    params::run(func);
    fold::run(func);
    dce::run(func);
}

#[cfg(test)]
mod tests {
    use nbcc_ir::{Builder, ExecutionModel, print_function, verify_function};

    use super::*;
    use crate::intrinsics::{LD_RF, ST_RF, read, write};
    use crate::lower::share::in_turn;

    /// Adds `step` to `count` atoms from `base` on, or divides by it, many times.
    fn kernel(name: &str, base: i32, count: u32, step: f32, divide: bool) -> Kernel {
        let mut func = Function::new(name, ExecutionModel::Engines);
        let entry = func.entry();
        let mut b = Builder::at(&mut func, entry);
        b.keep_identities(true);
        b.counted_loop("n", count, |b, n| {
            let offset = b.imul_imm(n, 16);
            let address = b.iadd_imm(offset, base);
            let old = read(b, LD_RF, address, 1, Type::F32.with_lanes(4));
            let step = b.constant(Type::F32.with_lanes(4), u64::from(step.to_bits()));
            let op = if divide { BinaryOp::Fdiv } else { BinaryOp::Fadd };
            let new = (0..40).fold(old, |value, _| b.binary(op, value, step));
            write(b, ST_RF, address, new, 1);
        });
        b.terminate(Terminator::Return(vec![]));
        Kernel { func, mem_base: SecondaryMap::new(), mask: 1, sync: None, args: None }
    }

    fn merged(kernels: Vec<Kernel>, most: usize) -> (Vec<Kernel>, Vec<Turn>) {
        let turns = in_turn(&kernels);
        let (merged, turns) = merge(kernels, turns, most);
        for kernel in &merged {
            assert_eq!(verify_function(&kernel.func, None), []);
        }
        (merged, turns)
    }

    /// A kernel with the numbers of a turn in the place of what stands for them.
    fn instance(kernel: &Kernel, turn: &Turn) -> (Shape, Vec<[u32; 4]>) {
        let mut kernel = kernel.clone();
        let func = &mut kernel.func;
        for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
            if let Op::Intrinsic(IntrinsicCall { name: PASSED, imms, result: Some(ty), .. }) =
                &func.insts[inst].op
            {
                let bits = turn.numbers[imms[0] as usize][0];
                func.insts[inst].op = Op::Const(*ty, Constant::Splat(bits.into()));
            }
        }
        simplify(func);
        let (shape, constants) = shape_of(&kernel);
        (shape, constants.iter().map(|number| number.atom).collect())
    }

    #[test]
    fn what_differs_is_passed() {
        let all = vec![
            kernel("a", 0x10000, 7, 1.0, false),
            kernel("b", 0x20000, 9, 1.0, false),
            kernel("c", 0x20000, 9, 2.5, false),
        ];
        let (one, turns) = merged(all.clone(), 8);
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].args, Some(vec![]));
        assert!(turns.iter().all(|turn| turn.kernel == 0 && turn.numbers.len() == 3));
        let trips = |k: &Kernel| {
            k.func.blocks.values().any(|b| b.loop_info.as_ref().is_some_and(|i| i.trips.is_some()))
        };
        assert!(!trips(&one[0]), "the loops run differently often");
        for (kernel, turn) in all.iter().zip(&turns) {
            assert!(instance(kernel, turn) == instance(&one[0], turn), "{turn:?}");
        }
    }

    #[test]
    fn too_many_numbers_make_several_kernels() {
        let all: Vec<Kernel> =
            (0..6).map(|n| kernel("k", 0x10000 + 16 * n, 7 + n as u32, 1.0, false)).collect();
        assert_eq!(merged(all.clone(), 2).0.len(), 1);
        assert_eq!(merged(all.clone(), 1).0.len(), 6);
        assert_eq!(merged(all, 0).1.iter().map(|t| t.numbers.len()).sum::<usize>(), 0);
    }

    #[test]
    fn divisors_stay() {
        let all = vec![kernel("a", 0, 7, 3.0, true), kernel("b", 0, 7, 5.0, true)];
        assert_eq!(merged(all, 8).0.len(), 2);
    }

    #[test]
    fn loops_of_one_trip_go() {
        let (one, _) = merged(vec![kernel("a", 0, 1, 3.0, false)], 8);
        let text = print_function(&one[0].func, &Default::default());
        assert!(!text.contains("branch") && !text.contains("imul"), "{text}");
    }
}
