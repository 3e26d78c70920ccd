//! Each fact against its definition, on random functions and on random graphs.

use std::collections::BTreeSet;

use nbcc_analysis::{
    Access, Affine, AffineForms, Distances, Lanes, Liveness, Loop, LoopForest, MAX_TERMS, Overlap,
    PostDominators, distances, endless_representatives, evaluate, overlap,
};
use nbcc_ir::cfg::successors;
use nbcc_ir::{
    BinaryOp, Block, Builder, Cfg, Dominators, ExecutionModel, Function, Inst, Mem, Op, Positions,
    Terminator, Type, UnaryOp, Value, ValueDef,
};
use nbcc_testing::{Rng, graph_function, structured_function};

/// The blocks that a path from `from` visits (itself included) without entering `avoid`.
fn reach(func: &Function, from: Block, avoid: Option<Block>) -> BTreeSet<Block> {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) != avoid && seen.insert(block) {
            work.extend(successors(func, block));
        }
    }
    seen
}

/// Definitions by search take cubic time and more: small graphs only.
fn functions() -> impl Iterator<Item = (u64, Function)> {
    (0..400)
        .flat_map(|seed| [(seed, graph_function(seed)), (seed, structured_function(seed))])
        .filter(|(_, func)| func.layout.len() <= 20)
}

#[test]
fn post_dominators_are_on_every_path_to_the_exit() {
    let mut endless = 0;
    for (seed, func) in functions() {
        let post = PostDominators::new(&func);
        // A component that nothing leaves: each of its blocks reaches exactly the component.
        let mut ends: BTreeSet<Block> = BTreeSet::new();
        for &block in &func.layout {
            let reached = reach(&func, block, None);
            if successors(&func, block).is_empty() {
                ends.insert(block);
            } else if reached.iter().all(|&b| reach(&func, b, None) == reached) {
                endless += 1;
                ends.insert(*func.layout.iter().find(|b| reached.contains(b)).unwrap());
            }
        }
        let found: BTreeSet<Block> = endless_representatives(&func).into_iter().collect();
        let loops: BTreeSet<Block> =
            ends.iter().copied().filter(|&b| !successors(&func, b).is_empty()).collect();
        assert_eq!(found, loops, "seed {seed}");

        let dominates = |a: Block, b: Block| {
            a == b || reach(&func, b, Some(a)).intersection(&ends).next().is_none()
        };
        for &b in &func.layout {
            for &a in &func.layout {
                let expected = dominates(a, b);
                assert_eq!(post.post_dominates(a, b), expected, "seed {seed}: {a} of {b}\n{func}");
            }
            // The strict post-dominator that all others post-dominate.
            let strict: Vec<Block> =
                func.layout.iter().copied().filter(|&a| a != b && dominates(a, b)).collect();
            let nearest = strict.iter().copied().find(|&a| strict.iter().all(|&c| dominates(c, a)));
            assert_eq!(post.immediate(b), nearest, "seed {seed}: {b}\n{func}");
        }
    }
    assert!(endless > 100, "endless loops are rare: {endless}");
}

#[test]
fn natural_loops_are_what_reaches_a_latch_without_the_header() {
    let mut irreducible = 0;
    for (seed, func) in functions() {
        let (cfg, dominators) = (Cfg::new(&func), Dominators::new(&func));
        let forest = LoopForest::new(&cfg, &dominators);
        let reachable: Vec<Block> = cfg.reverse_postorder().collect();
        let mut headers = BTreeSet::new();
        for &header in &reachable {
            let latches: BTreeSet<Block> = reachable
                .iter()
                .copied()
                .filter(|&b| successors(&func, b).contains(&header))
                .filter(|&b| dominators.dominates(header, b))
                .collect();
            if latches.is_empty() {
                assert_eq!(forest.headed_by(header), None, "seed {seed}");
                continue;
            }
            headers.insert(header);
            let Some(l) = forest.headed_by(header) else { panic!("seed {seed}: {header}\n{func}") };
            let mut body: BTreeSet<Block> = reachable
                .iter()
                .copied()
                .filter(|&b| !reach(&func, b, Some(header)).is_disjoint(&latches))
                .collect();
            body.insert(header);
            let data = &forest.loops[l];
            assert_eq!(data.own[0], header);
            assert_eq!(forest.blocks(l).into_iter().collect::<BTreeSet<_>>(), body, "seed {seed}");
            assert_eq!(data.latches, latches.into_iter().collect::<Vec<_>>());
            for &block in &func.layout {
                assert_eq!(forest.contains(l, block), body.contains(&block), "seed {seed}");
            }
            let exits = forest.exits(&func, l);
            assert!(exits.iter().all(|(a, b)| body.contains(a) && !body.contains(b)));
        }
        assert_eq!(forest.loops.len(), headers.len());
        for (l, data) in &forest.loops {
            // The smallest other loop around it.
            let blocks = forest.blocks(l);
            let inside = |m: Loop| blocks.iter().all(|&b| forest.contains(m, b));
            let around: Vec<Loop> = forest.loops.keys().filter(|&m| m != l && inside(m)).collect();
            let parent = around.iter().copied().min_by_key(|&m| forest.blocks(m).len());
            assert_eq!(data.parent, parent, "seed {seed}");
            assert_eq!(data.depth as usize, around.len() + 1);
        }
        irreducible += forest.irreducible.len();
        for &(from, to) in &forest.irreducible {
            assert!(successors(&func, from).contains(&to) && !dominators.dominates(to, from));
        }
    }
    assert!(irreducible > 50, "irreducible edges are rare: {irreducible}");
}

#[test]
fn a_value_is_live_where_a_path_leads_to_a_use() {
    for (seed, func) in functions() {
        let (cfg, positions) = (Cfg::new(&func), Positions::new(&func));
        let live = Liveness::new(&func, &cfg);
        let uses = |block: Block, value: Value| {
            let data = &func.blocks[block];
            let in_inst = |inst: &Inst| func.insts[*inst].op.args().contains(&value);
            data.insts.iter().any(in_inst) || func.terminator(block).args().contains(&value)
        };
        for value in func.values.keys() {
            let Some(home) = positions.defining_block(&func, value) else { continue };
            let users: BTreeSet<Block> =
                func.layout.iter().copied().filter(|&b| b != home && uses(b, value)).collect();
            for &block in &func.layout {
                let expected =
                    block != home && !reach(&func, block, Some(home)).is_disjoint(&users);
                assert_eq!(live.live_in(block).contains(&value), expected, "seed {seed}: {value}");
            }
        }
        for &block in &func.layout {
            let to = successors(&func, block);
            let out: BTreeSet<Value> =
                to.iter().flat_map(|&b| live.live_in(b).iter().copied()).collect();
            assert_eq!(live.live_out(block), out.into_iter().collect::<Vec<_>>());
            assert!(live.live_in(block).is_sorted());
        }
    }
}

/// A straight line of operations that linear forms are made of, and a few others.
fn straight_line(rng: &mut Rng) -> Function {
    let mut func = Function::new("line", ExecutionModel::Sequential);
    let entry = func.entry();
    let mut pool: Vec<Value> = (0..3).map(|_| func.add_param(entry, Type::I32)).collect();
    let mut builder = Builder::at(&mut func, entry);
    for _ in 0..30 {
        let (a, b) = (*rng.pick(&pool), *rng.pick(&pool));
        let factor = *rng.pick(&[0, 1, -1, 3, 32, i32::MIN, 7]);
        let value = match rng.below(9) {
            0..=2 => builder.iadd(a, b),
            3 => builder.binary(BinaryOp::Isub, a, b),
            4 => builder.imul(a, b),
            5 => builder.imul_imm(a, factor),
            6 => {
                let amount = builder.i32(factor);
                builder.binary(*rng.pick(&[BinaryOp::Shl, BinaryOp::Xor]), a, amount)
            }
            7 => builder.unary(UnaryOp::Ineg, a),
            _ => builder.i32(factor),
        };
        pool.push(value);
    }
    builder.terminate(Terminator::Return(vec![]));
    func
}

#[test]
fn linear_forms_have_the_value_they_stand_for() {
    let mut longer = 0;
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let func = straight_line(&mut rng);
        let forms = AffineForms::new(&func, &Cfg::new(&func));
        let mut values: Vec<Lanes> = Vec::new();
        for (value, data) in &func.values {
            let result = match data.def {
                ValueDef::Param(..) => Lanes::i32(rng.bits() as i32),
                ValueDef::Result(inst, _) => {
                    let get = |v: Value| values[v.as_u32() as usize];
                    evaluate(&func.insts[inst].op, get).unwrap().unwrap()
                }
            };
            values.push(result);
            let get = |value: Value| values[value.as_u32() as usize].as_i64() as i32;
            let form = forms.get(value);
            longer += usize::from(form.terms.len() > 1);
            assert!(form.terms.len() <= MAX_TERMS);
            assert!(form.terms.is_sorted() && form.terms.iter().all(|t| t.1 != 0));
            assert_eq!(form.evaluate(get), get(value), "seed {seed}: {value} is {form:?}\n{func}");
        }
    }
    assert!(longer > 5000, "forms of several terms are rare: {longer}");
}

fn symbol(number: u32) -> Value {
    Value::from_u32(number)
}

fn access(subscripts: &[Affine], lanes: u8) -> Access {
    let (inst, mem) = (Inst::from_u32(0), Mem::from_u32(0));
    Access { inst, mem, subscripts: subscripts.to_vec(), lanes, is_store: false }
}

fn random_form(rng: &mut Rng, symbols: u64) -> Affine {
    let coefficient = |rng: &mut Rng| *rng.pick(&[0, 0, 1, 1, 2, -1, 4, 6, -8]);
    let mut form = Affine::constant(rng.below(13) as i32 - 6);
    for number in 0..symbols {
        form = form.plus(&Affine::symbol(symbol(number as u32)), coefficient(rng));
    }
    form
}

/// Whether two accesses overlap where their first elements have these subscripts.
fn touch(a: &Access, at: &[i32], b: &Access, bt: &[i32]) -> bool {
    let (x, y) = (i64::from(at[0]), i64::from(bt[0]));
    let first = x < y + i64::from(b.lanes) && y < x + i64::from(a.lanes);
    first && at[1..] == bt[1..]
}

#[test]
fn overlaps_are_those_of_the_elements() {
    let mut counts = [0; 3];
    for seed in 0..6_000 {
        let mut rng = Rng::new(seed);
        let dims = 1 + rng.below(2);
        let lanes = |rng: &mut Rng| *rng.pick(&[1, 1, 2, 4]);
        let mut make = || {
            let forms: Vec<Affine> = (0..dims).map(|_| random_form(&mut rng, 2)).collect();
            access(&forms, lanes(&mut rng))
        };
        let a = make();
        let mut b = make();
        if seed % 3 != 0 {
            // The same symbols with other constants.
            let moved =
                a.subscripts.iter().map(|s| s.plus(&Affine::constant(1), seed as i32 % 7 - 3));
            b.subscripts = moved.collect();
        }
        let found = overlap(&a, &b);
        counts[found as usize] += 1;
        for x in -3..4 {
            for y in -3..4 {
                let values = [x, y];
                let at = |access: &Access| -> Vec<i32> {
                    let get = |v: Value| values[v.as_u32() as usize];
                    access.subscripts.iter().map(|s| s.evaluate(get)).collect()
                };
                let touches = touch(&a, &at(&a), &b, &at(&b));
                match found {
                    Overlap::Never => assert!(!touches, "seed {seed}"),
                    Overlap::Always => assert!(touches, "seed {seed}"),
                    Overlap::Maybe => {}
                }
            }
        }
    }
    assert!(counts.iter().all(|&n| n > 300), "{counts:?}");
}

#[test]
fn distances_are_those_between_overlapping_iterations() {
    let (mut lists, mut any) = (0, 0);
    for seed in 0..6_000 {
        let mut rng = Rng::new(seed);
        let dims = 1 + rng.below(2);
        // Symbol 0 is the counter, 1 is invariant, 2 changes in another way.
        let symbols = 2 + u64::from(rng.one_in(5));
        let lanes = |rng: &mut Rng| *rng.pick(&[1, 1, 2, 4]);
        let mut make = || {
            let forms: Vec<Affine> = (0..dims).map(|_| random_form(&mut rng, symbols)).collect();
            access(&forms, lanes(&mut rng))
        };
        let a = make();
        let mut b = make();
        if seed % 3 != 0 {
            let moved =
                a.subscripts.iter().map(|s| s.plus(&Affine::constant(1), seed as i32 % 7 - 3));
            b.subscripts = moved.collect();
        }
        let step = *rng.pick(&[1, 1, 2, -1, 3]);
        let trips = 7u64;
        let found = distances(&a, &b, symbol(0), step, trips, |v| v == symbol(1));
        let mut real = BTreeSet::new();
        for i in 0..trips as i32 {
            for j in 0..trips as i32 {
                for k in 0..49 {
                    let values = |iteration: i32, other: i32| [5 + iteration * step, k % 7, other];
                    let at = |access: &Access, values: [i32; 3]| -> Vec<i32> {
                        let get = |v: Value| values[v.as_u32() as usize];
                        access.subscripts.iter().map(|s| s.evaluate(get)).collect()
                    };
                    let (x, y) = (at(&a, values(i, 3 * i)), at(&b, values(j, k / 7)));
                    if touch(&a, &x, &b, &y) {
                        real.insert(i64::from(j - i));
                    }
                }
            }
        }
        match found {
            Distances::Any => any += 1,
            Distances::Only(list) => {
                lists += usize::from(!list.is_empty());
                assert!(real.iter().all(|n| list.contains(n)), "seed {seed}: {real:?} {list:?}");
                // With one symbol that is known, the list is exact.
                let known = [&a, &b].iter().all(|access| {
                    let terms = access.subscripts.iter().flat_map(|s| &s.terms);
                    terms.into_iter().all(|&(v, _)| v == symbol(0))
                });
                if known {
                    assert_eq!(list, real.into_iter().collect::<Vec<_>>(), "seed {seed}");
                }
            }
        }
    }
    assert!(lists > 300 && any > 300, "{lists} {any}");
}

#[test]
fn distances_hold_modulo_the_width() {
    // 2^31 * i: every second iteration meets again, though the difference of the forms is never 0.
    let far = access(&[Affine { terms: vec![(symbol(0), i32::MIN)], constant: 0 }], 1);
    assert_eq!(distances(&far, &far, symbol(0), 1, 8, |_| true), Distances::Any);
    let i = access(&[Affine::symbol(symbol(0))], 1);
    let next = access(&[Affine::symbol(symbol(0)).plus(&Affine::constant(1), 1)], 1);
    let back = distances(&next, &i, symbol(0), 1, 1 << 20, |_| true);
    assert_eq!(back, Distances::Only(vec![1]));
    assert_eq!(distances(&i, &next, symbol(0), -1, 9, |_| true), Distances::Only(vec![1]));
    // Even and odd elements never meet, whatever the symbols are.
    let even = access(&[Affine::symbol(symbol(7)).times(2)], 1);
    let odd = access(&[Affine::symbol(symbol(8)).times(4).plus(&Affine::constant(1), 1)], 1);
    assert_eq!(distances(&even, &odd, symbol(0), 1, 8, |_| false), Distances::Only(vec![]));
    assert_eq!(overlap(&even, &odd), Overlap::Never);
}

#[test]
fn accesses_have_the_forms_of_their_subscripts() {
    let func = structured_function(11);
    let cfg = Cfg::new(&func);
    let forms = AffineForms::new(&func, &cfg);
    let mut found = 0;
    for (inst, data) in &func.insts {
        let access = Access::of(&func, &forms, inst);
        assert_eq!(access.is_some(), matches!(data.op, Op::Load(..) | Op::Store(..)));
        let Some(access) = access else { continue };
        found += 1;
        assert_eq!(access.subscripts.len(), func.mems[access.mem].extents.len());
        assert_eq!(access.is_store, matches!(data.op, Op::Store(..)));
        assert!(access.subscripts.iter().flat_map(|s| &s.terms).all(|&(v, _)| {
            func.ty(v) == Type::I32
                && matches!(func.values[v].def, ValueDef::Param(..) | ValueDef::Result(..))
        }));
    }
    assert!(found > 0);
}
