//! The uniformity analysis against one that walks the region of every branch anew, and its work on
//! functions that grow.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntityRef;
use nbcc_analysis::{LoopForest, PostDominators, Uniformity};
use nbcc_ir::cfg::successors;
use nbcc_ir::testing::{graph_function, structured_function};
use nbcc_ir::{
    Block, BlockCall, Cfg, Dominators, ExecutionModel, Function, Inst, Op, Positions, Terminator,
    Type, Value,
};

fn is_source(func: &Function, inst: Inst) -> bool {
    match &func.insts[inst].op {
        Op::Load(..) => true,
        Op::Intrinsic(call) => call.name == "test.id",
        _ => false,
    }
}

/// The joins of a branch and the blocks of its region, itself where paths come back to it: each arm is a label that goes from
/// block to block in reverse postorder.
fn region(
    func: &Function,
    cfg: &Cfg,
    branch: Block,
    end: Option<Block>,
) -> (BTreeSet<Block>, BTreeSet<Block>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Label {
        Arm(usize),
        Join(Block),
    }
    let mut of: BTreeMap<Block, Label> = BTreeMap::new();
    let (mut joins, mut work) = (BTreeSet::new(), BTreeSet::new());
    let mut arrive = |of: &mut BTreeMap<Block, Label>, work: &mut BTreeSet<_>, block, label| {
        let new = match of.get(&block) {
            None => label,
            Some(&old) if old == label || !joins.insert(block) => return,
            Some(_) => Label::Join(block),
        };
        of.insert(block, new);
        work.insert((cfg.position(block), block));
    };
    for (arm, block) in successors(func, branch).into_iter().enumerate() {
        arrive(&mut of, &mut work, block, Label::Arm(arm));
    }
    while let Some((_, block)) = work.pop_first() {
        if Some(block) != end && block != branch {
            for to in successors(func, block) {
                let label = of[&block];
                arrive(&mut of, &mut work, to, label);
            }
        }
    }
    joins.remove(&branch);
    let region = of.into_keys().filter(|&block| Some(block) != end).collect();
    (joins, region)
}

/// The divergent values, by definition.
fn reference(func: &Function, cfg: &Cfg) -> BTreeSet<Value> {
    let (post, positions) = (PostDominators::new(func), Positions::new(func));
    let mut divergent: BTreeSet<Value> = BTreeSet::new();
    loop {
        let before = divergent.len();
        let mut branches = Vec::new();
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                let mut depends = is_source(func, inst);
                func.insts[inst].op.for_each_arg(|arg| depends |= divergent.contains(&arg));
                if depends {
                    divergent.extend(&func.insts[inst].results);
                }
            }
            let terminator = func.terminator(block);
            for to in terminator.successors() {
                for (arg, &param) in to.args.iter().zip(&func.blocks[to.block].params) {
                    if divergent.contains(arg) {
                        divergent.insert(param);
                    }
                }
            }
            if let Terminator::Branch(cond, ..) | Terminator::Switch(cond, ..) = terminator
                && divergent.contains(cond)
                && cfg.is_reachable(block)
            {
                branches.push(block);
            }
        }
        for branch in branches {
            let end = post.immediate(branch);
            let (joins, region) = region(func, cfg, branch, end);
            for join in joins {
                for (number, &param) in func.blocks[join].params.iter().enumerate() {
                    let from = cfg.predecessors(join).iter();
                    let to = from.flat_map(|&from| func.terminator(from).successors());
                    let args: BTreeSet<Value> =
                        to.filter(|to| to.block == join).map(|to| to.args[number]).collect();
                    if args.len() > 1 {
                        divergent.insert(param);
                    }
                }
            }
            if !region.contains(&branch) {
                continue;
            }
            let mut cycle = BTreeSet::from([branch]);
            let mut work = vec![branch];
            while let Some(block) = work.pop() {
                for &from in cfg.predecessors(block) {
                    if region.contains(&from) && cycle.insert(from) {
                        work.push(from);
                    }
                }
            }
            let inside = |value: Value| {
                positions.defining_block(func, value).is_some_and(|home| cycle.contains(&home))
            };
            for &block in func.layout.iter().filter(|block| !cycle.contains(block)) {
                let data = &func.blocks[block];
                let mut escape = |value: Value| {
                    if inside(value) {
                        divergent.insert(value);
                    }
                };
                for &inst in &data.insts {
                    func.insts[inst].op.for_each_arg(&mut escape);
                }
                func.terminator(block).for_each_arg(&mut escape);
            }
            for &block in &cycle {
                for to in func.terminator(block).successors() {
                    let params = &func.blocks[to.block].params;
                    let carried = to.args.iter().zip(params).filter(|(arg, _)| inside(**arg));
                    if !cycle.contains(&to.block) {
                        divergent.extend(carried.map(|(_, &param)| param));
                    }
                }
            }
        }
        if divergent.len() == before {
            return divergent;
        }
    }
}

#[test]
fn short_walks_find_what_whole_regions_hold() {
    let (mut equal, mut irreducible) = (0, 0);
    for seed in 0..400 {
        for func in [structured_function(seed), graph_function(seed)] {
            let cfg = Cfg::new(&func);
            let forest = LoopForest::new(&cfg, &Dominators::new(&func));
            let facts = Uniformity::new(&func, &cfg, |inst| is_source(&func, inst), &[]);
            let expected = reference(&func, &cfg);
            let reachable = |value: Value| {
                let home = Positions::new(&func).defining_block(&func, value);
                home.is_some_and(|home| cfg.is_reachable(home))
            };
            for value in func.values.keys() {
                let is_divergent = !facts.is_uniform(value);
                if is_divergent == expected.contains(&value) || !reachable(value) {
                    continue;
                }
                // Where cycles have several entries, whole regions may hold a join too many.
                assert!(
                    !forest.irreducible.is_empty() && !is_divergent,
                    "seed {seed}: {value} is divergent: {is_divergent}\n{func}"
                );
                irreducible += 1;
            }
            equal += expected.len();
        }
    }
    assert!(equal > 5000 && irreducible < equal / 100, "{equal} {irreducible}");
}

/// A function whose blocks 1 to `count` branch by its parameter as `ways` says; others jump, and
/// the last one returns.
fn generated(
    count: usize,
    ways: impl Fn(usize) -> [usize; 2],
    jumps: impl IntoIterator<Item = (usize, usize)>,
    last: usize,
) -> Function {
    let mut func = Function::new("f", ExecutionModel::Grid);
    let condition = func.add_param(func.entry(), Type::I1);
    while func.blocks.len() <= last {
        let block = func.add_block();
        func.layout.push(block);
    }
    let to = |block: usize| BlockCall { block: Block::new(block), args: Vec::new() };
    let mut end = |block: usize, terminator| {
        func.blocks[Block::new(block)].terminator = Some(terminator);
    };
    end(0, Terminator::Jump(to(1)));
    for block in 1..=count {
        let [then, other] = ways(block).map(to);
        end(block, Terminator::Branch(condition, then, other));
    }
    for (from, next) in jumps {
        end(from, Terminator::Jump(to(next)));
    }
    end(last, Terminator::Return(Vec::new()));
    func
}

/// Work grows as the function does, wherever the branches lead: no region is walked again for each
/// branch inside it.
#[test]
fn work_is_linear_in_divergent_branches() {
    type Shape = fn(usize) -> Function;
    let shapes: [(&str, Shape); 5] = [
        ("early exits", |n| generated(n, |k| [n + 1, k + 1], [], n + 1)),
        ("parts of a condition", |n| {
            generated(n, |k| [n + 2, k + 1], [(n + 1, n + 3), (n + 2, n + 3)], n + 3)
        }),
        ("ways out of a loop", |n| generated(n, |k| [n + 2, k + 1], [(n + 1, 1)], n + 2)),
        ("a nest", |n| {
            let joins = (n + 1..=2 * n + 1).map(|block| (block, block + 1));
            generated(n, |k| [k + 1, 2 * n + 2 - k], joins, 2 * n + 2)
        }),
        ("a nest of alternatives", |n| {
            let joins = (n + 1..=2 * n + 1).map(|block| (block, block + 1));
            let others = (1..=n).map(|k| (2 * n + 2 + k, 2 * n + 2 - k));
            let ways = |k| [k + 1, 2 * n + 2 + k];
            let jumps = joins.chain(others).chain([(2 * n + 2, 3 * n + 3)]);
            generated(n, ways, jumps, 3 * n + 3)
        }),
    ];
    for (name, shape) in shapes {
        let steps = |size: usize| {
            let func = shape(size);
            let condition = func.blocks[func.entry()].params[0];
            let facts = Uniformity::new(&func, &Cfg::new(&func), |_| false, &[condition]);
            // The last one may have one way only.
            assert!(facts.divergent_branches().count() >= size - 1, "{name}");
            facts.steps()
        };
        let (small, large) = (steps(500), steps(4000));
        assert!(large < 9 * small && large < 40 * 4000, "{name}: {small} and {large} steps");
    }
}
