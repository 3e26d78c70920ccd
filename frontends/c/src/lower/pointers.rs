//! Which object each access through a pointer reaches. While a function is built this is not known
//! where pointers of several ways meet; such accesses are intrinsics on the number of the object.
//! Afterwards all numbers that a value may be are found by following it through parameters of blocks
//! and selections, and the access becomes one of that object, or a choice among several.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_ir::{
    Block, BlockCall, Cfg, Function, Inst, IntCond, Mem, Op, Terminator, Type, Value, ValueDef,
    promise,
};

use super::state::Object;

pub(super) const LOAD: &str = "pointer.load";
pub(super) const STORE: &str = "pointer.store";
/// The same for whether something was written to an element.
pub(super) const LOAD_WRITTEN: &str = "written.load";
pub(super) const STORE_WRITTEN: &str = "written.store";
pub(super) const NULL: &str = "a null pointer is used";
pub(super) const TEXT: &str = "a character of a text between quotes is written";
pub(super) const DIFFERENT: &str = "pointers into different objects are compared or subtracted";

/// What an access reaches where a pointer points into an object.
#[derive(Clone, Copy)]
enum Reached {
    Mem(Mem),
    /// Nothing is there, and reads give 1.
    Nothing,
    /// The run ends.
    Refused,
}

/// Makes every access through a pointer one of a memory object. Objects whose elements all hold
/// values have none that says so.
pub(super) fn resolve(func: &mut Function, objects: &[Object], written: &BTreeMap<u32, Mem>) {
    let feeds = arguments(func);
    let mut known: BTreeMap<Value, BTreeSet<u32>> = BTreeMap::new();
    for number in 0.. {
        let Some(&block) = func.layout.get(number) else { return };
        let insts = func.blocks[block].insts.clone();
        for (at, inst) in insts.into_iter().enumerate() {
            let Op::Intrinsic(call) = &func.insts[inst].op else { continue };
            if call.name == promise::REACH {
                let object = call.args[1];
                let all = known.entry(object).or_insert_with(|| numbers(func, &feeds, object));
                let only = all.first().filter(|_| all.len() == 1);
                if let (Some(Object::Memory(mem) | Object::Text(mem)), Op::Intrinsic(call)) =
                    (only.and_then(|&n| objects.get(n as usize)), &mut func.insts[inst].op)
                {
                    call.mems = vec![*mem];
                }
                continue;
            }
            let data = call.name == LOAD || call.name == STORE;
            if !data && call.name != LOAD_WRITTEN && call.name != STORE_WRITTEN {
                continue;
            }
            let object = call.args[0];
            let all = known.entry(object).or_insert_with(|| numbers(func, &feeds, object)).clone();
            let is_store = call.name == STORE;
            let mems: Vec<(u32, Reached)> = all
                .iter()
                .filter_map(|&number| match objects.get(number as usize) {
                    Some(Object::Text(_)) if is_store => Some((number, Reached::Refused)),
                    Some(Object::Memory(mem) | Object::Text(mem)) if data => {
                        Some((number, Reached::Mem(*mem)))
                    }
                    Some(Object::Memory(_) | Object::Text(_)) => {
                        let truths = written.get(&number);
                        Some((number, truths.map_or(Reached::Nothing, |&mem| Reached::Mem(mem))))
                    }
                    _ => None,
                })
                .collect();
            if let (&[(_, Reached::Mem(mem))], 1) = (&mems[..], all.len()) {
                func.insts[inst].op = access(&func.insts[inst].op, mem);
                continue;
            }
            choose(func, block, at, inst, object, &mems);
            // The rest of the block is a new one behind it.
            break;
        }
    }
}

/// The arguments that each parameter of a block gets.
fn arguments(func: &Function) -> BTreeMap<Value, Vec<Value>> {
    let mut feeds: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    for block in Cfg::new(func).reverse_postorder() {
        for to in func.terminator(block).successors() {
            for (&arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                feeds.entry(param).or_default().push(arg);
            }
        }
    }
    feeds
}

/// The numbers that a value may be.
fn numbers(func: &Function, feeds: &BTreeMap<Value, Vec<Value>>, value: Value) -> BTreeSet<u32> {
    let (mut todo, mut seen, mut found) = (vec![(value, 0_u32)], BTreeSet::new(), BTreeSet::new());
    while let Some((value, plus)) = todo.pop() {
        if !seen.insert((value, plus)) {
            continue;
        }
        if let Some(bits) = func.splat_constant(value) {
            // Null has no members: it stays null.
            found.insert(if bits == 0 { 0 } else { bits as u32 + plus });
            continue;
        }
        match (func.values[value].def, func.def_op(value)) {
            (ValueDef::Param(..), _) => {
                todo.extend(feeds.get(&value).into_iter().flatten().map(|&arg| (arg, plus)));
            }
            (_, Some(Op::Select(_, a, b))) => todo.extend([(*a, plus), (*b, plus)]),
            (_, Some(Op::Binary(_, a, b))) => {
                let delta = func.splat_constant(*b).unwrap_or(0) as u32;
                todo.push((*a, plus + delta));
            }
            _ => {}
        }
    }
    found
}

/// The access to a memory object that an intrinsic stands for.
fn access(op: &Op, mem: Mem) -> Op {
    match op {
        Op::Intrinsic(call) => match (call.result, &call.args[..]) {
            (Some(ty), [_, at]) => Op::Load(ty, mem, vec![*at]),
            (_, [_, at, value]) => Op::Store(mem, vec![*at], *value),
            _ => unreachable!("an access through a pointer"),
        },
        _ => unreachable!("an access through a pointer"),
    }
}

/// Splits a block at an access, and chooses among objects there.
fn choose(
    func: &mut Function,
    block: Block,
    at: usize,
    inst: Inst,
    object: Value,
    mems: &[(u32, Reached)],
) {
    let span = func.insts[inst].span;
    let old = func.insts[inst].op.clone();
    let after = func.add_block();
    let rest = func.blocks[block].insts.split_off(at);
    func.blocks[after].insts = rest[1..].to_vec();
    func.blocks[after].terminator = func.blocks[block].terminator.take();
    func.blocks[after].span = func.blocks[block].span;
    let result = func.result(inst);
    if let Some(result) = result {
        // The result becomes a parameter of what follows.
        func.insts[inst].results.clear();
        let number = func.blocks[after].params.len() as u32;
        func.blocks[after].params.push(result);
        func.values[result].def = ValueDef::Param(after, number);
    }
    let types: Vec<Type> = result.map(|result| func.ty(result)).into_iter().collect();
    let mut from = block;
    for &(number, mem) in mems {
        let (here, next) = (func.add_block(), func.add_block());
        let bits = nbcc_ir::Constant::Splat(number.into());
        let wanted = func.make_inst(Op::Const(Type::I32, bits), &[Type::I32], span);
        let wanted_value = func.insts[wanted].results[0];
        let test = Op::Icmp(IntCond::Eq, object, wanted_value);
        let test = func.make_inst(test, &[Type::I1], span);
        let is = func.insts[test].results[0];
        func.blocks[from].insts.extend([wanted, test]);
        let to = |block| BlockCall { block, args: vec![] };
        func.blocks[from].terminator = Some(Terminator::Branch(is, to(here), to(next)));
        func.blocks[from].span = span;
        let op = match (mem, types.first()) {
            (Reached::Mem(mem), _) => Some(access(&old, mem)),
            (Reached::Nothing, Some(&ty)) => Some(Op::Const(ty, nbcc_ir::Constant::Splat(1))),
            (Reached::Nothing | Reached::Refused, _) => None,
        };
        let made = op.map(|op| func.make_inst(op, &types, span));
        func.blocks[here].insts.extend(made);
        let args = made.map(|made| func.insts[made].results.clone()).unwrap_or_default();
        func.blocks[here].terminator = Some(match mem {
            Reached::Refused => Terminator::Trap(TEXT.to_string()),
            _ => Terminator::Jump(BlockCall { block: after, args }),
        });
        func.blocks[here].span = span;
        from = next;
    }
    func.blocks[from].terminator = Some(Terminator::Trap(NULL.to_string()));
    func.blocks[from].span = span;
}
