//! Inlining of every call: the machine has no call instruction, and a return address would differ
//! between the threads of a warp. What is called in several places is there several times, which a
//! budget bounds. Kernels alone change: what a callee calls is copied with it, so that the time is
//! that of the size of the result however deep calls are nested.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
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

/// Inlines all calls in kernels; how many calls there are in the functions that they reach.
///
/// # Errors
/// A call that cannot be inlined.
pub fn run(module: &mut Module) -> Result<u32, InlineError> {
    let mut inlined = 0;
    // Instructions of each function with what it calls.
    let mut size: SecondaryMap<Func, usize> = SecondaryMap::new();
    let order = callees_first(module)?;
    for &id in &order {
        let func = &module.functions[id];
        let calls = calls(func);
        let mut all = func.inst_count();
        for &callee in &calls {
            all += size[callee];
            if all > BUDGET {
                return Err(InlineError::TooLarge(id));
            }
        }
        size[id] = all - calls.len();
        inlined += calls.len() as u32;
    }
    for id in order {
        if module.functions[id].kernel.is_some() {
            inline_into(module, id);
        }
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

fn inline_into(module: &mut Module, id: Func) {
    let is_call = |func: &Function, inst: Inst| matches!(func.insts[inst].op, Op::Call(..));
    let mut func = std::mem::replace(
        &mut module.functions[id],
        Function::new("", nbcc_ir::ExecutionModel::Grid),
    );
    let mut layout = Vec::with_capacity(func.layout.len());
    for block in func.layout.clone() {
        // From the last call to the first, so that each instruction moves once.
        let mut pieces = Vec::new();
        while let Some(at) = func.blocks[block].insts.iter().rposition(|&inst| is_call(&func, inst))
        {
            pieces.push(inline_call(&mut func, block, at, &module.functions));
        }
        layout.push(block);
        layout.extend(pieces.into_iter().rev().flatten());
    }
    func.layout = layout;
    module.functions[id] = func;
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
    functions: &PrimaryMap<Func, Function>,
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
    let (entry, mut blocks) = copy_body(func, functions, callee, behind);
    func.blocks[block].terminator = Some(Terminator::Jump(BlockCall { block: entry, args }));
    func.blocks[block].span = span;
    blocks.push(behind);
    blocks
}

/// The copy of a function, while it is made.
struct Copy<'a> {
    callee: &'a Function,
    block_of: BTreeMap<Block, Block>,
    value_of: SecondaryMap<Value, Option<Value>>,
    /// What is copied next: the number of a block in the layout and of an instruction there.
    next: (usize, usize),
    /// The copies of instructions, which have the callee's operands until all are there.
    insts: Vec<Inst>,
    /// How copied blocks end, in the callee's values.
    ends: Vec<(Block, End)>,
}

enum End {
    /// As the callee's block does.
    Same(Terminator),
    /// In a call whose callee's copy begins there.
    Call(Block, Vec<Value>),
}

impl<'a> Copy<'a> {
    fn new(callee: &'a Function) -> Copy<'a> {
        let (block_of, value_of) = (BTreeMap::new(), SecondaryMap::new());
        Copy { callee, block_of, value_of, next: (0, 0), insts: Vec::new(), ends: Vec::new() }
    }

    /// Gives operands and ends of blocks the values of the copy; returns lead to `behind`.
    fn finish(self, func: &mut Function, behind: Block) {
        let value = |old: Value| self.value_of[old].unwrap_or_else(|| panic!("{old} has no copy"));
        for inst in self.insts {
            func.insts[inst].op.for_each_arg_mut(|arg| *arg = value(*arg));
        }
        for (block, end) in self.ends {
            let terminator = match end {
                End::Call(entry, mut args) => {
                    args.iter_mut().for_each(|arg| *arg = value(*arg));
                    Terminator::Jump(BlockCall { block: entry, args })
                }
                End::Same(mut terminator) => {
                    terminator.for_each_arg_mut(|arg| *arg = value(*arg));
                    for to in terminator.successors_mut() {
                        to.block = self.block_of[&to.block];
                    }
                    match terminator {
                        Terminator::Return(args) => {
                            Terminator::Jump(BlockCall { block: behind, args })
                        }
                        other => other,
                    }
                }
            };
            func.blocks[block].terminator = Some(terminator);
        }
    }
}

/// Copies the blocks of a callee with what it calls, in their order; returns lead to `behind`.
fn copy_body(
    func: &mut Function,
    functions: &PrimaryMap<Func, Function>,
    callee: Func,
    behind: Block,
) -> (Block, Vec<Block>) {
    let mut blocks = Vec::new();
    let mut open = vec![Copy::new(&functions[callee])];
    while let Some(copy) = open.last_mut() {
        let callee = copy.callee;
        let Some(&old) = callee.layout.get(copy.next.0) else {
            let done = open.pop().expect("a copy");
            let Some(caller) = open.last_mut() else {
                let entry = done.block_of[&done.callee.entry()];
                done.finish(func, behind);
                return (entry, blocks);
            };
            // The caller goes on in a block whose parameters are the results of the call.
            let back = func.add_block();
            blocks.push(back);
            let (block, inst) = caller.next;
            let call = caller.callee.blocks[caller.callee.layout[block]].insts[inst - 1];
            for &result in &caller.callee.insts[call].results {
                let param = func.add_param(back, caller.callee.ty(result));
                caller.value_of[result] = Some(param);
            }
            done.finish(func, back);
            continue;
        };
        let data = &callee.blocks[old];
        if copy.next.1 == 0 && !copy.block_of.contains_key(&old) {
            let new = func.add_block();
            copy.block_of.insert(old, new);
            blocks.push(new);
            func.blocks[new].loop_info = data.loop_info.clone();
            func.blocks[new].cold = data.cold;
            for &param in &data.params {
                copy.value_of[param] = Some(func.add_param(new, callee.ty(param)));
            }
        }
        let new = *blocks.last().expect("a block to copy to");
        let mut called = None;
        while let Some(&inst) = data.insts.get(copy.next.1) {
            copy.next.1 += 1;
            let inst = &callee.insts[inst];
            if let Op::Call(next, args) = &inst.op {
                called = Some((*next, args.clone(), inst.span));
                break;
            }
            let types: Vec<Type> = inst.results.iter().map(|&v| callee.ty(v)).collect();
            let made = func.make_inst(inst.op.clone(), &types, inst.span);
            for (&result, &new) in inst.results.iter().zip(&func.insts[made].results) {
                copy.value_of[result] = Some(new);
            }
            func.blocks[new].insts.push(made);
            copy.insts.push(made);
        }
        match called {
            Some((next, args, span)) => {
                // The entry of the next copy is the next block that is made.
                let entry = Block::new(func.blocks.len());
                copy.ends.push((new, End::Call(entry, args)));
                func.blocks[new].span = span;
                open.push(Copy::new(&functions[next]));
            }
            None => {
                copy.ends.push((new, End::Same(callee.terminator(old).clone())));
                func.blocks[new].span = data.span;
                copy.next = (copy.next.0 + 1, 0);
            }
        }
    }
    unreachable!("the last copy returns")
}
