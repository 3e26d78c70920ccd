//! Dead code elimination: what writes, ends the run or decides where it goes on is needed, and
//! what computes its operands; all other instructions and block parameters are removed, also those
//! that only feed each other around a loop (Cytron et al., "Efficiently Computing Static Single
//! Assignment Form", TOPLAS 1991, section 7.1, with all control flow kept).

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Block, Cfg, Function, Terminator, Value, ValueDef};

use crate::effects::has_to_stay;

/// Removes dead instructions and block parameters.
pub fn run(func: &mut Function) -> bool {
    let needed = needed_values(func);
    let mut changed = false;
    for i in 0..func.layout.len() {
        let block = func.layout[i];
        let mut insts = std::mem::take(&mut func.blocks[block].insts);
        let before = insts.len();
        insts.retain(|&inst| {
            let data = &func.insts[inst];
            has_to_stay(func, &data.op) || data.results.iter().any(|&r| needed[r])
        });
        changed |= insts.len() != before;
        func.blocks[block].insts = insts;
    }
    let entry = func.entry();
    let dead_param = |func: &Function, block: Block| {
        block != entry && func.blocks[block].params.iter().any(|&p| !needed[p])
    };
    if func.layout.iter().any(|&block| dead_param(func, block)) {
        func.remove_params(|param| !needed[param]);
        changed = true;
    }
    changed
}

fn needed_values(func: &Function) -> SecondaryMap<Value, bool> {
    let cfg = Cfg::new(func);
    let mut needed: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(func.values.len());
    let mut work = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = &func.insts[inst].op;
            if has_to_stay(func, op) {
                op.for_each_arg(|value| work.push(value));
            }
        }
        match func.terminator(block) {
            Terminator::Branch(value, ..) | Terminator::Switch(value, ..) => work.push(*value),
            Terminator::Return(values) => work.extend(values),
            Terminator::Jump(_) | Terminator::Trap(_) | Terminator::Exit => {}
        }
    }
    work.extend(&func.blocks[func.entry()].params);
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut needed[value], true) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) => func.insts[inst].op.for_each_arg(|v| work.push(v)),
            ValueDef::Param(block, number) => {
                // Predecessors with several edges stand there several times: once is enough.
                let mut last = None;
                for &from in cfg.predecessors(block) {
                    if last.replace(from) == Some(from) {
                        continue;
                    }
                    let edges = func.terminator(from).successors();
                    let edges = edges.into_iter().filter(|to| to.block == block);
                    work.extend(edges.map(|to| to.args[number as usize]));
                }
            }
        }
    }
    needed
}
