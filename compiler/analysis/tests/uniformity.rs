//! The uniformity analysis against one that walks the region of every branch anew, and its work on
//! functions that grow.

use std::collections::BTreeSet;

use cranelift_entity::EntityRef;
use nbcc_analysis::{LoopForest, PostDominators, Uniformity};
use nbcc_ir::cfg::successors;
use nbcc_ir::{
    Block, BlockCall, Cfg, Dominators, ExecutionModel, Function, Inst, Op, Positions, Terminator,
    Type, Value,
};
use nbcc_testing::{dense_function, graph_function, structured_function};

fn is_source(func: &Function, inst: Inst) -> bool {
    match &func.insts[inst].op {
        Op::Load(..) => true,
        Op::Intrinsic(call) => call.name == "test.id",
        _ => false,
    }
}

/// The blocks to which arms of a branch lead up to a block, the branch itself where they come back
/// to it. Ways through one block or one arm are left out.
fn reached(
    func: &Function,
    branch: Block,
    end: Option<Block>,
    without: Option<Block>,
    without_arm: Option<usize>,
) -> BTreeSet<Block> {
    let mut found = BTreeSet::new();
    let arms = successors(func, branch).into_iter().enumerate();
    let mut work: Vec<Block> =
        arms.filter(|(arm, _)| Some(*arm) != without_arm).map(|(_, block)| block).collect();
    while let Some(block) = work.pop() {
        let goes_on = Some(block) != without && found.insert(block);
        if goes_on && Some(block) != end && block != branch {
            work.extend(successors(func, block));
        }
    }
    found
}

/// The joins of a branch: to which two ways lead that share nothing, since they are reached without
/// any other block and without any arm (Menger's theorem). And the blocks of its region.
fn region(
    func: &Function,
    branch: Block,
    end: Option<Block>,
) -> (BTreeSet<Block>, BTreeSet<Block>) {
    let all = reached(func, branch, end, None, None);
    let mut joins = all.clone();
    joins.remove(&branch);
    for arm in 0..successors(func, branch).len() {
        let rest = reached(func, branch, end, None, Some(arm));
        joins.retain(|block| rest.contains(block));
    }
    for &other in all.iter().filter(|&&other| other != branch) {
        let rest = reached(func, branch, end, Some(other), None);
        joins.retain(|block| *block == other || rest.contains(block));
    }
    let region = all.into_iter().filter(|&block| Some(block) != end).collect();
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
            let (joins, region) = region(func, branch, end);
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
    let (mut divergent, mut irreducible) = (0, 0);
    for seed in 0..400 {
        for func in [structured_function(seed), graph_function(seed), dense_function(seed)] {
            let cfg = Cfg::new(&func);
            let forest = LoopForest::new(&cfg, &Dominators::new(&func));
            let facts = Uniformity::new(&func, &cfg, |inst| is_source(&func, inst), &[]);
            let expected = reference(&func, &cfg);
            let positions = Positions::new(&func);
            for value in func.values.keys() {
                let home = positions.defining_block(&func, value);
                if home.is_some_and(|home| cfg.is_reachable(home)) {
                    let found = !facts.is_uniform(value);
                    assert_eq!(found, expected.contains(&value), "seed {seed}: {value}\n{func}");
                }
            }
            divergent += expected.len();
            irreducible += usize::from(!forest.irreducible.is_empty());
        }
    }
    assert!(divergent > 5000 && irreducible > 20, "{divergent} {irreducible}");
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
        func.add_block();
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
    let shapes: [(&str, Shape); 10] = [
        ("early exits", |n| generated(n, |k| [n + 1, k + 1], [], n + 1)),
        ("parts of a condition", |n| {
            generated(n, |k| [n + 2, k + 1], [(n + 1, n + 3), (n + 2, n + 3)], n + 3)
        }),
        ("ways out of a loop", |n| generated(n, |k| [n + 2, k + 1], [(n + 1, 1)], n + 2)),
        ("ways back in a loop", |n| generated(n, |k| [1, k + 1], [], n + 1)),
        ("ways back and out of a loop", |n| {
            generated(n, |k| [if k % 2 == 0 { 1 } else { n + 2 }, k + 1], [(n + 1, 1)], n + 2)
        }),
        ("ways past the next part", |n| {
            generated(n, |k| [k + 1, k + 2], [(n + 1, n + 3), (n + 2, n + 3)], n + 3)
        }),
        ("ways past the next part behind a block", |n| {
            let parts = (1..=n).map(|k| (n + 2 + k, k + 1));
            let jumps = parts.chain([(n + 1, n + 2), (n + 2, 2 * n + 3)]);
            generated(n, |k| [k + 2, n + 2 + k], jumps, 2 * n + 3)
        }),
        ("a nest of loops", |n| {
            let heads = (1..n).map(|k| (k, k + 1));
            let ways = |k| if k < n { [k + 1, k + 1] } else { [2 * n - k, k + 1] };
            generated(2 * n - 1, ways, heads, 2 * n)
        }),
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
