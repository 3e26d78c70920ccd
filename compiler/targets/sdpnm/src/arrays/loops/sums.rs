//! Sums of an inner loop begin at zero, so that accumulators can hold them: what they began with is added
//! behind the loop.

use std::collections::BTreeSet;

use nbcc_ir::{BinaryOp, Block, Builder, Function, Op, Terminator, Type, Value};

use super::nest::{Carried, Nest};

/// Lets sums that the inner loop of a nest begins anew start at zero.
pub fn begin_at_zero(func: &mut Function, nest: &Nest) {
    for number in 0..nest.within.len() {
        let (first, last) = (nest.inner.entry_args[number], nest.inner.back_args[number]);
        let is_zero = func.splat_constant(first) == Some(0);
        let is_word = func.ty(first) == Type::I32;
        if nest.within[number] != Carried::Own || is_zero || !is_word || !is_sum(func, nest, number)
        {
            continue;
        }
        let zero = Builder::at(func, nest.inner.preheader).i32(0);
        if let Some(Terminator::Jump(to)) = &mut func.blocks[nest.inner.preheader].terminator {
            to.args[number] = zero;
        }
        let whole = Builder::at(func, nest.inner.latch).iadd(last, first);
        let inside: BTreeSet<Block> = nest.inner.blocks.iter().copied().collect();
        let rename = |value: &mut Value| {
            if *value == last {
                *value = whole;
            }
        };
        for block in func.layout.clone() {
            if !inside.contains(&block) {
                func.rename_in(block, rename);
            }
        }
        if let Some(terminator) = &mut func.blocks[nest.inner.latch].terminator {
            for to in terminator.successors_mut() {
                if to.block != nest.inner.header {
                    to.args.iter_mut().for_each(rename);
                }
            }
        }
    }
}

/// Whether the inner loop does nothing with what it carries there but add and subtract.
fn is_sum(func: &Function, nest: &Nest, number: usize) -> bool {
    let (header, end) = (nest.inner.header, nest.inner.back_args[number]);
    let mut value = func.blocks[header].params[number];
    while value != end {
        let Some(next) = only_reader(func, nest, value) else { return false };
        value = next;
    }
    // Nobody else in the loop reads the whole.
    let way_back = |value: Value| {
        let mut times = 0;
        for &block in &nest.inner.blocks {
            for &inst in &func.blocks[block].insts {
                times += func.insts[inst].op.args().iter().filter(|arg| **arg == value).count();
            }
            let terminator = func.terminator(block);
            if block != nest.inner.latch {
                terminator.for_each_arg(|arg| times += usize::from(arg == value));
                continue;
            }
            let back = terminator.successors().into_iter().filter(|to| to.block == header);
            times += back.flat_map(|to| &to.args).filter(|arg| **arg == value).count();
        }
        times
    };
    way_back(end) == 1
}

/// The sum that alone reads a value in the inner loop.
fn only_reader(func: &Function, nest: &Nest, value: Value) -> Option<Value> {
    let mut found = None;
    let mut times = 0;
    for &block in func.layout.iter() {
        let is_inside = nest.inner.blocks.contains(&block);
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            let reads = op.args().iter().filter(|arg| **arg == value).count();
            times += reads;
            if reads > 0 && is_inside {
                found = match *op {
                    Op::Binary(BinaryOp::Iadd, a, b) if a == value || b == value => {
                        func.result(inst)
                    }
                    Op::Binary(BinaryOp::Isub, a, _) if a == value => func.result(inst),
                    _ => return None,
                };
            }
        }
        func.terminator(block).for_each_arg(|arg| times += usize::from(arg == value));
    }
    found.filter(|_| times == 1)
}
