//! Inlining of every call, callees first: the machine has no call instruction, and a return address
//! would differ between the threads of a warp. What is called in several places is there several
//! times, which a budget bounds.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{
    Block, BlockCall, Func, Function, Inst, Module, Op, Terminator, Type, Value, ValueDef,
};

/// The most instructions that a kernel may have after inlining.
pub const BUDGET: usize = 1 << 20;

/// Why calls were not inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InlineError {
    /// A function that calls itself, maybe through others.
    Recursion(Func),
    /// A function that would become larger than the budget.
    TooLarge(Func),
}

/// Inlines all calls in the functions that kernels reach.
///
/// # Errors
/// A call that cannot be inlined.
pub fn run(module: &mut Module) -> Result<u32, InlineError> {
    let mut inlined = 0;
    for func in callees_first(module)? {
        inlined += inline_into(module, func)?;
    }
    Ok(inlined)
}

/// The functions that kernels reach, each behind those that it calls.
fn callees_first(module: &Module) -> Result<Vec<Func>, InlineError> {
    #[derive(Clone, Copy, PartialEq, Default)]
    enum State {
        #[default]
        New,
        Open,
        Done,
    }
    let mut state: SecondaryMap<Func, State> = SecondaryMap::new();
    let mut order = Vec::new();
    let kernels = module.functions.iter().filter(|(_, func)| func.kernel.is_some());
    for (kernel, _) in kernels {
        if state[kernel] != State::New {
            continue;
        }
        state[kernel] = State::Open;
        let mut stack = vec![(kernel, callees(&module.functions[kernel]))];
        while let Some((func, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(callee) => match state[callee] {
                    State::Done => {}
                    State::Open => return Err(InlineError::Recursion(callee)),
                    State::New => {
                        state[callee] = State::Open;
                        stack.push((callee, callees(&module.functions[callee])));
                    }
                },
                None => {
                    state[*func] = State::Done;
                    order.push(*func);
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

fn callees(func: &Function) -> Vec<Func> {
    let mut found = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            if let Op::Call(callee, _) = func.insts[inst].op {
                found.push(callee);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn inline_into(module: &mut Module, id: Func) -> Result<u32, InlineError> {
    let is_call = |func: &Function, inst: Inst| matches!(func.insts[inst].op, Op::Call(..));
    let mut size = module.functions[id].inst_count();
    for callee in calls(&module.functions[id]) {
        size += module.functions[callee].inst_count();
        if size > BUDGET {
            return Err(InlineError::TooLarge(id));
        }
    }
    let mut func = std::mem::replace(
        &mut module.functions[id],
        Function::new("", nbcc_ir::ExecutionModel::Grid),
    );
    let mut count = 0;
    let mut layout = Vec::with_capacity(func.layout.len());
    for block in func.layout.clone() {
        // From the last call to the first, so that each instruction moves once.
        let mut pieces = Vec::new();
        while let Some(at) = func.blocks[block].insts.iter().rposition(|&inst| is_call(&func, inst))
        {
            pieces.push(inline_call(&mut func, block, at, &module.functions));
            count += 1;
        }
        layout.push(block);
        layout.extend(pieces.into_iter().rev().flatten());
    }
    func.layout = layout;
    module.functions[id] = func;
    Ok(count)
}

/// The callee of each call, one by one.
fn calls(func: &Function) -> Vec<Func> {
    let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    let callee = |&inst: &Inst| match func.insts[inst].op {
        Op::Call(callee, _) => Some(callee),
        _ => None,
    };
    insts.filter_map(callee).collect()
}

/// Replaces the call at a place of a block; the new blocks, the one behind the call last.
fn inline_call(
    func: &mut Function,
    block: Block,
    at: usize,
    functions: &cranelift_entity::PrimaryMap<Func, Function>,
) -> Vec<Block> {
    let tail = func.blocks[block].insts.split_off(at + 1);
    let call = func.blocks[block].insts.pop().unwrap_or_else(|| panic!("no call in {block}"));
    let Op::Call(callee, args) = func.insts[call].op.clone() else {
        panic!("{call} is no call");
    };
    let span = func.insts[call].span;
    let behind = func.add_block();
    func.blocks[behind].insts = tail;
    func.blocks[behind].terminator = func.blocks[block].terminator.take();
    func.blocks[behind].span = func.blocks[block].span;
    // The results of the call are what the ways out of the callee bring.
    let results = std::mem::take(&mut func.insts[call].results);
    for (number, &result) in results.iter().enumerate() {
        func.values[result].def = ValueDef::Param(behind, number as u32);
    }
    func.blocks[behind].params = results;
    func.insts[call].op = Op::Const(Type::I1, nbcc_ir::Constant::Splat(0));
    let (entry, mut blocks) = copy_body(func, &functions[callee], behind);
    func.blocks[block].terminator = Some(Terminator::Jump(BlockCall { block: entry, args }));
    func.blocks[block].span = span;
    blocks.push(behind);
    blocks
}

/// Copies the blocks of a callee; returns lead to `behind`.
fn copy_body(func: &mut Function, callee: &Function, behind: Block) -> (Block, Vec<Block>) {
    let mut block_of: BTreeMap<Block, Block> = BTreeMap::new();
    let mut value_of: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut blocks = Vec::new();
    for &old in &callee.layout {
        let new = func.add_block();
        block_of.insert(old, new);
        blocks.push(new);
        let data = &callee.blocks[old];
        func.blocks[new].loop_info = data.loop_info.clone();
        func.blocks[new].span = data.span;
        for &param in &data.params {
            value_of[param] = Some(func.add_param(new, callee.ty(param)));
        }
        for &inst in &data.insts {
            let inst = &callee.insts[inst];
            let types: Vec<Type> = inst.results.iter().map(|&v| callee.ty(v)).collect();
            let copy = func.make_inst(inst.op.clone(), &types, inst.span);
            for (&result, &new) in inst.results.iter().zip(&func.insts[copy].results) {
                value_of[result] = Some(new);
            }
            func.blocks[new].insts.push(copy);
        }
    }
    let value = |old: Value| value_of[old].unwrap_or_else(|| panic!("{old} has no copy"));
    for (&old, &new) in callee.layout.iter().zip(&blocks) {
        for number in 0..func.blocks[new].insts.len() {
            let inst = func.blocks[new].insts[number];
            func.insts[inst].op.for_each_arg_mut(|arg| *arg = value(*arg));
        }
        let mut terminator = callee.terminator(old).clone();
        terminator.for_each_arg_mut(|arg| *arg = value(*arg));
        for to in terminator.successors_mut() {
            to.block = block_of[&to.block];
        }
        if let Terminator::Return(args) = terminator {
            terminator = Terminator::Jump(BlockCall { block: behind, args });
        }
        func.blocks[new].terminator = Some(terminator);
    }
    (block_of[&callee.entry()], blocks)
}
