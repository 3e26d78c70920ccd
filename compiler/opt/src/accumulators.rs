//! What is computed in words and cut off to 8 or 16 bits again needs no sign above what it is computed of: sums,
//! differences, bitwise operations and shifts to the left have low bits that take low bits only (demanded bits).
//! C makes such words of `sum += x` with a narrow sum. Accumulators that a loop cuts off in each iteration become
//! words, and what extends them goes.

use std::collections::BTreeSet;
use std::slice;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use nbcc_analysis::sign_extend;
use nbcc_ir::{
    BinaryOp, Block, Cfg, Constant, ConvertOp, Function, Op, Replacements, Terminator, Type,
    UnaryOp, Value, ValueDef,
};
use petgraph::unionfind::UnionFind;

/// Operations between a sum and what it is cut off to at most.
const MAX_OPERATIONS: usize = 64;

/// Makes words of them.
pub fn run(func: &mut Function) -> bool {
    let widened = widen(func);
    let demanded = demanded(func);
    let mut replacements = Replacements::new();
    for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
        let Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, narrow, ty) =
            func.insts[inst].op
        else {
            continue;
        };
        let extended = func.insts[inst].results[0];
        if let Some(&Op::Convert(ConvertOp::Truncate, word, _)) = func.def_op(narrow)
            && func.ty(word) == ty
            && demanded[extended] <= func.ty(narrow).scalar.bits()
        {
            replacements.replace(extended, word);
        }
    }
    let changed = !replacements.is_empty();
    replacements.apply(func);
    widened || changed
}

/// How many low bits of each value anybody asks for.
fn demanded(func: &Function) -> SecondaryMap<Value, u32> {
    let mut demanded: SecondaryMap<Value, u32> = SecondaryMap::new();
    let ask = |demanded: &mut SecondaryMap<Value, u32>, value: Value, bits: u32| {
        let is_more = bits > demanded[value];
        if is_more {
            demanded[value] = bits;
        }
        is_more
    };
    let mut changes = true;
    while std::mem::take(&mut changes) {
        for &block in func.layout.iter().rev() {
            for call in func.terminator(block).successors() {
                for (&arg, &param) in call.args.iter().zip(&func.blocks[call.block].params) {
                    let bits = demanded[param];
                    changes |= ask(&mut demanded, arg, bits);
                }
            }
            let whole = match func.terminator(block) {
                Terminator::Branch(value, ..) | Terminator::Switch(value, ..) => {
                    slice::from_ref(value)
                }
                Terminator::Return(values) => values,
                _ => &[],
            };
            for &value in whole {
                changes |= ask(&mut demanded, value, u32::MAX);
            }
            for &inst in func.blocks[block].insts.iter().rev() {
                let op = &func.insts[inst].op;
                let (low, bits) = match *op {
                    Op::Convert(ConvertOp::Truncate, a, to) => (vec![a], to.scalar.bits()),
                    _ => (
                        low_bits_of(func, op),
                        func.result(inst).map_or(0, |value| demanded[value]),
                    ),
                };
                op.for_each_arg(|arg| {
                    let bits = if low.contains(&arg) { bits } else { u32::MAX };
                    changes |= ask(&mut demanded, arg, bits);
                });
            }
        }
    }
    demanded
}

/// What a word is computed of, as far as its low bits need no others.
struct Computed {
    /// Narrow values that are extended.
    extended: Vec<Value>,
    /// Whether it takes anything else but constants.
    has_others: bool,
}

impl Computed {
    /// Of a word that is cut off to `to`.
    fn new(func: &Function, word: Value, to: Type) -> Computed {
        let mut found = Computed { extended: vec![], has_others: false };
        let mut work = vec![word];
        for _ in 0..MAX_OPERATIONS {
            let Some(value) = work.pop() else { break };
            match func.def_op(value) {
                Some(&Op::Convert(ConvertOp::SignExtend | ConvertOp::ZeroExtend, narrow, _))
                    if func.ty(narrow) == to =>
                {
                    found.extended.push(narrow);
                }
                Some(Op::Const(..)) => {}
                Some(op) if !low_bits_of(func, op).is_empty() => work.extend(low_bits_of(func, op)),
                _ => found.has_others = true,
            }
        }
        found
    }
}

/// The operands of which the low bits of a result take no other bits; none where it is not so.
fn low_bits_of(func: &Function, op: &Op) -> Vec<Value> {
    use BinaryOp::*;
    match *op {
        Op::Binary(Iadd | Isub | And | Or | Xor, a, b) => vec![a, b],
        Op::Binary(Shl, a, by) if func.splat_constant(by).is_some_and(|by| by < 32) => vec![a],
        Op::Unary(UnaryOp::Ineg | UnaryOp::Not, a) => vec![a],
        Op::Select(_, a, b) => vec![a, b],
        _ => vec![],
    }
}

/// Makes words of narrow block parameters that go from one to the next, and of which a loop computes one of the
/// next iteration by adding to it.
fn widen(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let entry = func.entry();
    let is_narrow = |value: Value| matches!(func.ty(value), Type::I8 | Type::I16);
    let param = |value: Value| match func.values[value].def {
        ValueDef::Param(block, _) if block != entry && is_narrow(value) => Some(value),
        _ => None,
    };
    let mut together = UnionFind::<u32>::new(func.values.len());
    let mut adds: Vec<Value> = Vec::new();
    let mut stay: BTreeSet<Value> = BTreeSet::new();
    for &block in func.layout.iter().filter(|&&block| cfg.is_reachable(block)) {
        let info = func.blocks[block].loop_info.as_ref();
        stay.extend(info.and_then(|info| info.counter).map(|counter| counter.value));
        let calls = func.terminator(block).successors();
        for call in &calls {
            let params = &func.blocks[call.block].params;
            let is_twice = calls.iter().filter(|to| to.block == call.block).count() > 1;
            for (&to, &arg) in params.iter().zip(&call.args) {
                if param(to).is_none() {
                    continue;
                }
                if is_twice {
                    stay.insert(to);
                }
                if let Some(from) = param(arg).filter(|&from| func.ty(from) == func.ty(to)) {
                    together.union(from.as_u32(), to.as_u32());
                }
                let Some(&Op::Convert(ConvertOp::Truncate, word, ty)) = func.def_op(arg) else {
                    continue;
                };
                if func.ty(word) != Type::I32 {
                    continue;
                }
                let Computed { extended, has_others } = Computed::new(func, word, ty);
                let has_others = has_others || extended.iter().any(|&of| param(of).is_none());
                for from in extended.into_iter().filter_map(param) {
                    together.union(from.as_u32(), to.as_u32());
                    if has_others {
                        adds.push(to);
                    }
                }
            }
        }
    }
    let stay: BTreeSet<u32> = stay.iter().map(|value| together.find(value.as_u32())).collect();
    let mut wide: BTreeSet<u32> = adds.iter().map(|value| together.find(value.as_u32())).collect();
    wide.retain(|web| !stay.contains(web));
    let blocks = func.layout.iter().filter(|&&block| cfg.is_reachable(block));
    let params: Vec<(Block, Value)> = blocks
        .flat_map(|&block| func.blocks[block].params.iter().map(move |&value| (block, value)))
        .filter(|&(_, value)| {
            param(value).is_some() && wide.contains(&together.find(value.as_u32()))
        })
        .collect();
    make_words(func, &cfg, &params);
    !params.is_empty()
}

/// Makes a word of each of these parameters of blocks, which is cut off where the block begins.
fn make_words(func: &mut Function, cfg: &Cfg, params: &[(Block, Value)]) {
    let mut words: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    for &(block, param) in params {
        words[param] = func.add_param(block, Type::I32).into();
    }
    let mut replacements = Replacements::new();
    for &(block, param) in params {
        let ValueDef::Param(_, number) = func.values[param].def else { continue };
        let from: BTreeSet<Block> = cfg.predecessors(block).iter().copied().collect();
        for from in from {
            let calls = func.terminator(from).successors();
            let Some(call) = calls.into_iter().find(|call| call.block == block) else { continue };
            let arg = call.args[number as usize];
            let word = words[arg].expand().unwrap_or_else(|| word_of(func, from, arg));
            for to in func.blocks[from].terminator.iter_mut().flat_map(Terminator::successors_mut) {
                if to.block == block {
                    to.args.push(word);
                }
            }
        }
        let Some(word) = words[param].expand() else { continue };
        let (ty, span) = (func.ty(param), func.blocks[block].span);
        let cut = func.make_inst(Op::Convert(ConvertOp::Truncate, word, ty), &[ty], span);
        func.blocks[block].insts.insert(0, cut);
        replacements.replace(param, func.insts[cut].results[0]);
    }
    replacements.apply(func);
    func.remove_params(|value| words[value].is_some());
}

/// A word with a narrow value below, where a block ends.
fn word_of(func: &mut Function, block: Block, narrow: Value) -> Value {
    if let Some(&Op::Convert(ConvertOp::Truncate, word, _)) = func.def_op(narrow)
        && func.ty(word) == Type::I32
    {
        return word;
    }
    let op = match func.splat_constant(narrow) {
        Some(bits) => {
            let word = sign_extend(func.ty(narrow).scalar, bits) as u64 & u64::from(u32::MAX);
            Op::Const(Type::I32, Constant::Splat(word))
        }
        None => Op::Convert(ConvertOp::SignExtend, narrow, Type::I32),
    };
    let inst = func.make_inst(op, &[Type::I32], func.blocks[block].span);
    func.blocks[block].insts.push(inst);
    func.insts[inst].results[0]
}
