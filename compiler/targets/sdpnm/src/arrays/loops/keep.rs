//! What a loop adds to in memory goes through it as a value (scalar replacement: Callahan, Carr, Kennedy,
//! "Improving register allocation for subscripted variables", PLDI 1990): of `c[j] += x` in an inner loop,
//! the element is loaded before it and stored behind it.

use nbcc_analysis::{LoopForest, ValueRanges};
use nbcc_ir::{
    Block, BlockCall, Builder, Cfg, Dominators, Effect, Extent, Function, Inst, Mem, Op, Storage,
    Terminator, Value,
};

use crate::arrays::facts::shape::Shape;

/// Keeps elements as values in all innermost loops that add to them; whether there are some.
pub fn run(func: &mut Function) -> bool {
    let mut changed = false;
    while let Some(kept) = find(func, None) {
        keep(func, &kept);
        changed = true;
    }
    changed
}

/// The same in one loop, of which all accesses are inside wherever it runs.
pub fn run_inside(func: &mut Function, header: Block) -> bool {
    let mut changed = false;
    while let Some(kept) = find(func, Some(header)) {
        keep(func, &kept);
        changed = true;
    }
    changed
}

/// An element that a loop loads and stores in each iteration.
struct Kept {
    shape: Shape,
    mem: Mem,
    index: Value,
    load: Inst,
    store: Inst,
    /// What is stored to it last before the loop, by nobody's leave.
    before: Option<(Block, Inst)>,
}

fn find(func: &Function, of: Option<Block>) -> Option<Kept> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let ranges = ValueRanges::new(func);
    forest.loops.keys().find_map(|l| {
        let shape = Shape::new(func, &cfg, &forest, l).ok()?;
        if of.is_some_and(|header| header != shape.header) {
            return None;
        }
        let insts =
            || shape.blocks.iter().flat_map(|&block| func.blocks[block].insts.iter().copied());
        let is_plain = |inst: Inst| match &func.insts[inst].op {
            Op::Load(..) | Op::Store(..) => true,
            op => op.effect() == Effect::Pure,
        };
        if !insts().all(is_plain) {
            return None;
        }
        insts().find_map(|load| {
            let Op::Load(ty, mem, subscripts) = &func.insts[load].op else { return None };
            let (&[index], mem) = (&subscripts[..], *mem) else { return None };
            let touched: Vec<Inst> = insts().filter(|&inst| touches(func, inst, mem)).collect();
            let &[first, store] = &touched[..] else { return None };
            let is_store = matches!(&func.insts[store].op,
                Op::Store(to, at, _) if *to == mem && at[..] == [index]);
            let is_inside = match func.mems[mem].extents[..] {
                _ if of.is_some() => true,
                [Extent::Fixed(count)] => ranges.fits(index, 0, i64::from(count) - 1),
                _ => false,
            };
            let fits = first == load
                && is_store
                && !ty.is_vector()
                && !shape.defines(func, index)
                && is_inside
                && [load, store].iter().all(|&inst| is_always(func, &shape, inst));
            fits.then(|| {
                let before = stored_before(func, &shape, mem, index);
                Kept { shape: shape.clone(), mem, index, load, store, before }
            })
        })
    })
}

/// Whether an instruction loads or stores elements of an object.
fn touches(func: &Function, inst: Inst, mem: Mem) -> bool {
    let storage = func.mems[mem].storage;
    let is_it = |other: Mem| {
        let is_object = matches!(storage, Storage::Object(_));
        other == mem || is_object && func.mems[other].storage == storage
    };
    match &func.insts[inst].op {
        Op::Load(_, other, _) | Op::Store(other, ..) => is_it(*other),
        op => op.effect() != Effect::Pure,
    }
}

/// Whether each iteration runs an instruction.
fn is_always(func: &Function, shape: &Shape, inst: Inst) -> bool {
    let mut blocks = shape.blocks.iter().copied();
    let home = blocks.find(|&block| func.blocks[block].insts.contains(&inst));
    home.is_some_and(|home| shape.is_passed(func, shape.header, home))
}

/// The store to the element on the way to the loop, behind which nothing looks at the object.
fn stored_before(func: &Function, shape: &Shape, mem: Mem, index: Value) -> Option<(Block, Inst)> {
    let block = shape.preheader;
    let mut insts = func.blocks[block].insts.iter().rev().copied();
    let inst = insts.find(|&inst| touches(func, inst, mem))?;
    match &func.insts[inst].op {
        Op::Store(to, at, _) if *to == mem && at[..] == [index] => Some((block, inst)),
        _ => None,
    }
}

fn keep(func: &mut Function, kept: &Kept) {
    let Kept { shape, mem, index, load, store, before } = kept;
    let old = func.insts[*load].results[0];
    let ty = func.ty(old);
    let first = match *before {
        Some((block, inst)) => {
            func.blocks[block].insts.retain(|&other| other != inst);
            match func.insts[inst].op {
                Op::Store(_, _, value) => value,
                _ => unreachable!("it is a store"),
            }
        }
        None => {
            let mut b = Builder::at(func, shape.preheader);
            b.set_span(shape.span);
            b.load(ty, *mem, vec![*index])
        }
    };
    let Op::Store(_, _, last) = func.insts[*store].op else { unreachable!("it is a store") };
    let param = func.add_param(shape.header, ty);
    for &block in &shape.blocks {
        func.blocks[block].insts.retain(|inst| inst != load && inst != store);
    }
    let last = if last == old { param } else { last };
    let behind = func.add_block();
    func.blocks[behind].span = shape.span;
    let exit = shape.exit.clone();
    let mut b = Builder::at(func, behind);
    b.set_span(shape.span);
    b.store(*mem, vec![*index], last);
    func.blocks[behind].terminator = Some(Terminator::Jump(exit));
    if let Some(Terminator::Jump(to)) = &mut func.blocks[shape.preheader].terminator {
        to.args.push(first);
    }
    if let Some(terminator) = &mut func.blocks[shape.latch].terminator {
        for to in terminator.successors_mut() {
            if to.block == shape.header {
                to.args.push(last);
            } else {
                *to = BlockCall { block: behind, args: vec![] };
            }
        }
    }
    let mut names = nbcc_ir::Replacements::new();
    names.replace(old, param);
    names.apply(func);
}
