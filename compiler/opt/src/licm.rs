//! Loop-invariant code motion: pure instructions whose operands come from outside of a loop move
//! to its preheader, as far out as their operands allow (Aho, Lam, Sethi, Ullman, "Compilers",
//! section 9.5). Pure instructions never trap, so they may run where the loop's body does not.
//! A load moves only from the header, which every entry into the loop runs at once, and only where
//! nothing in the loop writes what it reads. Of a sequential function, which an access outside of an
//! object ends, none moves in front of what stays and may end the run as well: what ends it first is
//! the same.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use std::cell::OnceCell;

use nbcc_analysis::{Loop, LoopForest, ValueRanges};
use nbcc_ir::{
    Block, Cfg, Dominators, Effect, ExecutionModel, Extent, Function, Inst, Mem, Op, Positions,
    Space, Value,
};

use crate::effects::effect;

/// Moves all invariant instructions.
pub fn run(func: &mut Function) -> bool {
    run_where(func, |_, _| true)
}

/// Moves the invariant instructions that `allow` agrees to: a target may rather have a constant
/// where it is used than in a register all the time.
pub fn run_where(func: &mut Function, allow: impl Fn(&Function, Inst) -> bool) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    if forest.loops.is_empty() {
        return false;
    }
    let is_sequential = func.model == ExecutionModel::Sequential;
    let writes = loop_writes(func, &forest);
    let positions = Positions::new(func);
    // The innermost loop around each value's definition, where that is no more its block's.
    let mut moved_to: SecondaryMap<Inst, Option<Option<Loop>>> = SecondaryMap::new();
    let mut hoisted: PrimaryMap<Loop, Vec<Inst>> = forest.loops.values().map(|_| vec![]).collect();
    let mut kept: Vec<(Block, Vec<Inst>)> = Vec::new();
    let ranges = OnceCell::new();
    let may_end = |inst: Inst| is_sequential && may_end(func, &func.insts[inst].op, &ranges);
    for block in cfg.reverse_postorder() {
        let Some(innermost) = forest.innermost(block) else { continue };
        let mut insts = func.blocks[block].insts.clone();
        let mut may_have_ended = false;
        insts.retain(|&inst| {
            let op = &func.insts[inst].op;
            let is_load = match effect(func, op) {
                Effect::Pure => false,
                Effect::Read if matches!(op, Op::Load(..)) => true,
                _ => {
                    may_have_ended = may_have_ended || may_end(inst);
                    return true;
                }
            };
            if !allow(func, inst) {
                may_have_ended = may_have_ended || is_load && may_end(inst);
                return true;
            }
            let home = |value: Value| match func.def_inst(value).and_then(|i| moved_to[i]) {
                Some(home) => home,
                None => {
                    positions.defining_block(func, value).and_then(|block| forest.innermost(block))
                }
            };
            let is_invariant = |l: Loop| {
                let mut invariant = true;
                op.for_each_arg(|value| invariant &= !is_inside(&forest, l, home(value)));
                invariant && (!is_load || load_may_move(func, &forest, &writes, l, block, op))
            };
            let mut target = None;
            let mut at = Some(innermost);
            while let Some(l) = at.filter(|&l| is_invariant(l)) {
                target = Some(l);
                at = forest.loops[l].parent;
                if is_load {
                    break;
                }
            }
            let target = target.filter(|_| !(is_load && may_have_ended && may_end(inst)));
            let Some(l) = target else {
                may_have_ended = may_have_ended || is_load && may_end(inst);
                return true;
            };
            moved_to[inst] = Some(forest.loops[l].parent);
            hoisted[l].push(inst);
            false
        });
        kept.push((block, insts));
    }
    drop(ranges);
    for (block, insts) in kept {
        func.blocks[block].insts = insts;
    }
    let mut changed = false;
    for (l, insts) in hoisted {
        if insts.is_empty() {
            continue;
        }
        let header = forest.loops[l].header;
        let preheader = func.preheader(&cfg, header, |block| forest.contains(l, block));
        let preheader =
            preheader.unwrap_or_else(|| panic!("{header} is reachable but not entered"));
        func.blocks[preheader].insts.extend(insts);
        changed = true;
    }
    changed
}

/// Whether an operation may end the run.
fn may_end<'a>(func: &'a Function, op: &Op, ranges: &OnceCell<ValueRanges<'a>>) -> bool {
    let (Op::Load(_, mem, subscripts) | Op::Store(mem, subscripts, _)) = op else {
        return effect(func, op) != Effect::Pure;
    };
    let ranges = ranges.get_or_init(|| ValueRanges::new(func));
    let is_inside = |(&subscript, extent): (&Value, &Extent)| match *extent {
        Extent::Fixed(count) => ranges.fits(subscript, 0, i64::from(count) - 1),
        _ => false,
    };
    !subscripts.iter().zip(&func.mems[*mem].extents).all(is_inside)
}

/// Whether a place whose innermost loop is `at` is in loop `l`.
fn is_inside(forest: &LoopForest, l: Loop, at: Option<Loop>) -> bool {
    at.is_some_and(|at| forest.contains(l, forest.loops[at].header))
}

/// What a loop writes.
#[derive(Clone, Default)]
struct Writes {
    all: bool,
    mems: Vec<Mem>,
}

fn loop_writes(func: &Function, forest: &LoopForest) -> PrimaryMap<Loop, Writes> {
    let mut writes: PrimaryMap<Loop, Writes> =
        forest.loops.values().map(|_| Writes::default()).collect();
    for &block in &func.layout {
        let mut at = forest.innermost(block);
        let mut here = Writes::default();
        for &inst in &func.blocks[block].insts {
            match &func.insts[inst].op {
                Op::Store(mem, ..) => here.mems.push(*mem),
                Op::Call(..) => here.all = true,
                Op::Intrinsic(call) => here.all |= call.effect == Effect::Write,
                Op::Simt(op, _) => here.all |= op.effect() == Effect::Write,
                _ => {}
            }
        }
        while let Some(l) = at {
            writes[l].all |= here.all;
            writes[l].mems.extend(&here.mems);
            at = forest.loops[l].parent;
        }
    }
    for writes in writes.values_mut() {
        writes.mems.sort();
        writes.mems.dedup();
    }
    writes
}

fn load_may_move(
    func: &Function,
    forest: &LoopForest,
    writes: &PrimaryMap<Loop, Writes>,
    l: Loop,
    block: Block,
    op: &Op,
) -> bool {
    let Op::Load(_, mem, _) = op else { return false };
    let read_only = matches!(func.mems[*mem].space, Space::Param | Space::Const);
    let unwritten = !writes[l].all && writes[l].mems.binary_search(mem).is_err();
    forest.loops[l].header == block && (read_only || unwritten)
}
