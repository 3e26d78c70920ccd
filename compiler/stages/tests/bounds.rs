//! Bounds inference against brute force: every point is visited, every access observed.

use std::collections::BTreeMap;

use nbcc_stages::bounds::{
    Bounds, Env, Evaluator, Extents, Interval, Region, affine_of, default_params, infer,
};
use nbcc_stages::build::Build;
use nbcc_stages::{BinaryOp, CompareOp, Expr, ExprKind, Func, Pipeline, Update, Walker, scalar};
use proptest::prelude::*;

/// An index over two dimensions and one reduction variable.
#[derive(Clone, Debug)]
enum Index {
    Dim(u32),
    RVar,
    Const(i32),
    Sum(Box<Index>, Box<Index>),
    Difference(Box<Index>, Box<Index>),
    Times(Box<Index>, i32),
    Op(BinaryOp, Box<Index>, Box<Index>),
    Select(CompareOp, Box<[Index; 4]>),
}

impl Index {
    /// The index as an expression; `rdom` where there is one, else its variable counts as 3.
    fn build(&self, b: &mut Build, rdom: Option<nbcc_stages::RDom>) -> Expr {
        match self {
            Index::Dim(n) => b.dim(*n),
            Index::RVar => match rdom {
                Some(rdom) => b.rvar(rdom, 0),
                None => b.int(3),
            },
            Index::Const(c) => b.int(*c),
            Index::Sum(p, q) => {
                let (p, q) = (p.build(b, rdom), q.build(b, rdom));
                b.add(p, q)
            }
            Index::Difference(p, q) => {
                let (p, q) = (p.build(b, rdom), q.build(b, rdom));
                b.binary(BinaryOp::Sub, p, q)
            }
            Index::Times(p, c) => {
                let (p, c) = (p.build(b, rdom), b.int(*c));
                b.mul(p, c)
            }
            Index::Op(op, p, q) => {
                let (p, q) = (p.build(b, rdom), q.build(b, rdom));
                b.binary(*op, p, q)
            }
            Index::Select(op, parts) => {
                let [p, q, s, t] = parts.each_ref().map(|part| part.build(b, rdom));
                let condition = b.compare(*op, p, q);
                b.expr(ExprKind::Select(condition, s, t), nbcc_stages::ElementType::I32)
            }
        }
    }
}

fn leaf() -> impl Strategy<Value = Index> {
    prop_oneof![
        (0..2u32).prop_map(Index::Dim),
        Just(Index::RVar),
        (-4..5i32).prop_map(Index::Const),
    ]
}

fn affine() -> impl Strategy<Value = Index> {
    leaf().prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(p, q)| Index::Sum(p.into(), q.into())),
            (inner.clone(), inner.clone()).prop_map(|(p, q)| Index::Difference(p.into(), q.into())),
            (inner, -3..4i32).prop_map(|(p, c)| Index::Times(p.into(), c)),
        ]
    })
}

fn any_index() -> impl Strategy<Value = Index> {
    leaf().prop_recursive(4, 12, 4, |inner| {
        let op = prop::sample::select(vec![
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Mod,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
        ]);
        let compare = prop::sample::select(vec![CompareOp::Lt, CompareOp::Eq, CompareOp::Ge]);
        prop_oneof![
            (op, inner.clone(), inner.clone()).prop_map(|(op, p, q)| Index::Op(
                op,
                p.into(),
                q.into()
            )),
            (compare, prop::array::uniform4(inner))
                .prop_map(|(op, parts)| Index::Select(op, Box::new(parts))),
        ]
    })
}

/// `f`, read by `g` at two places, read by an update of `out` at another.
fn pipeline(places: &[[Index; 2]; 3]) -> Build {
    let mut b = Build::new();
    let zero = b.int(0);
    let f = b.func("f", &["x", "y"], zero);
    let read = |b: &mut Build, func: Func, at: &[Index; 2], rdom| {
        let at = [at[0].build(b, rdom), at[1].build(b, rdom)];
        b.call(func, &at)
    };
    let (p, q) = (read(&mut b, f, &places[0], None), read(&mut b, f, &places[1], None));
    let sum = b.add(p, q);
    let g = b.func("g", &["x", "y"], sum);
    let out = b.func("out", &["x", "y"], zero);
    let r = b.rdom("r", &[(-1, 4)]);
    let (x, y) = (b.dim(0), b.dim(1));
    let value = read(&mut b, g, &places[2], Some(r));
    b.update(out, &[x, y], &[value], Some(r));
    b.pipeline.outputs.push(out);
    b
}

/// What an expression without reads is at a point.
fn value_at(p: &Pipeline, expr: Expr, dims: &[i32], rvars: &[i32]) -> i32 {
    let mut words: BTreeMap<Expr, u32> = BTreeMap::new();
    for e in Walker::once(p, [expr]) {
        let data = &p.exprs[e];
        let of = |e: &Expr| words[e];
        let word = match &data.kind {
            ExprKind::Literal(literal) => scalar::literal_word(data.ty, *literal),
            ExprKind::Dim(n) => dims[*n as usize] as u32,
            ExprKind::RVar(_, n) => rvars[*n as usize] as u32,
            ExprKind::Binary(op, a, b) => scalar::binary(*op, data.ty, data.ty, of(a), of(b)),
            ExprKind::Compare(op, a, b) => scalar::compare(*op, p.ty(*a), of(a), of(b)).into(),
            ExprKind::Select(c, a, b) => {
                if of(c) != 0 {
                    of(a)
                } else {
                    of(b)
                }
            }
            kind => panic!("{kind:?} in an index"),
        };
        words.insert(e, word);
    }
    words[&expr] as i32
}

fn each_point(region: &[Interval], mut visit: impl FnMut(&[i32])) {
    let mut at: Vec<i32> = region.iter().map(|i| i.min).collect();
    loop {
        visit(&at);
        let Some(d) = (0..at.len()).find(|&d| at[d] < region[d].max) else { return };
        for (c, interval) in at.iter_mut().zip(region).take(d) {
            *c = interval.min;
        }
        at[d] += 1;
    }
}

/// The hull of what a stage of `func` reads of each Func, over all points of its loops.
fn observe(
    p: &Pipeline,
    roots: &[Expr],
    dims: &[Interval],
    rvars: &[Interval],
    hulls: &mut BTreeMap<Func, Region>,
) {
    for expr in Walker::once(p, roots.iter().copied()) {
        let ExprKind::Call(callee, _, args) = &p.exprs[expr].kind else { continue };
        let all: Region = dims.iter().chain(rvars).copied().collect();
        each_point(&all, |at| {
            let (dims, rvars) = at.split_at(dims.len());
            let point = args.iter().map(|&a| {
                let c = value_at(p, a, dims, rvars);
                Interval::new(c, c)
            });
            let point: Region = point.collect();
            let hull = hulls.entry(*callee).or_insert_with(|| point.clone());
            for (have, want) in hull.iter_mut().zip(point) {
                *have = have.union(want);
            }
        });
    }
}

fn output() -> Region {
    vec![Interval::new(-2, 5), Interval::new(0, 3)]
}

fn inferred(p: &Pipeline) -> Option<Bounds> {
    let extents = Extents { inputs: Default::default(), outputs: vec![output()] };
    infer(p, &extents, &default_params(p)).ok()
}

/// The hull of the observed accesses of each Func, given its consumers' inferred regions.
fn observed(p: &Pipeline, bounds: &Bounds) -> BTreeMap<Func, Region> {
    let mut hulls = BTreeMap::new();
    for (func, computed) in bounds.needed(p) {
        if let Some(pure) = &p.funcs[func].pure {
            observe(p, &pure.values, &computed.stages[0].as_ref().unwrap().dims, &[], &mut hulls);
        }
        for (update, loops) in p.funcs[func].updates.iter().zip(&computed.stages[1..]) {
            let roots: Vec<Expr> = Update::roots(update, p).collect();
            let loops = loops.as_ref().unwrap();
            observe(p, &roots, &loops.dims, &loops.rvars, &mut hulls);
        }
    }
    hulls
}

fn points_of(region: &[Interval]) -> u64 {
    nbcc_stages::bounds::points(region)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn affine_accesses_are_exact(
        places in prop::array::uniform3(prop::array::uniform2(affine()))
    ) {
        let b = pipeline(&places);
        let p = &b.pipeline;
        let bounds = inferred(p).unwrap();
        let g = p.funcs.keys().nth(1).unwrap();
        prop_assume!(points_of(bounds.region(g).unwrap()) < 20_000);
        for (func, hull) in observed(p, &bounds) {
            prop_assert_eq!(bounds.region(func).unwrap(), &hull[..]);
        }
    }

    #[test]
    fn every_access_is_covered(
        places in prop::array::uniform3(prop::array::uniform2(any_index()))
    ) {
        let b = pipeline(&places);
        let p = &b.pipeline;
        let Some(bounds) = inferred(p) else { return Ok(()) };
        let g = p.funcs.keys().nth(1).unwrap();
        prop_assume!(points_of(bounds.region(g).unwrap()) < 5_000);
        for (func, hull) in observed(p, &bounds) {
            for (have, want) in bounds.region(func).unwrap().iter().zip(&hull) {
                prop_assert!(have.contains(*want), "{have} does not cover {want}");
            }
        }
    }

    /// `in(x - x % 2)` and the like: quotients and remainders of one variable are exact in sums.
    #[test]
    fn sums_of_quotients_are_exact(
        parts in prop::collection::vec((0..2u32, 0..3usize, -3..4i32, 1..5i32, -3..4i32), 1..5),
        x in -6..7i32,
        y in -6..7i32,
    ) {
        let mut b = Build::new();
        let mut sum = b.int(0);
        for &(dim, kind, factor, divisor, offset) in &parts {
            let (v, o, d, f) = (b.dim(dim), b.int(offset), b.int(divisor), b.int(factor));
            let shifted = b.add(v, o);
            let part = match kind {
                0 => v,
                1 => b.binary(BinaryOp::Div, shifted, d),
                _ => b.binary(BinaryOp::Mod, shifted, d),
            };
            let part = b.mul(part, f);
            sum = b.add(sum, part);
        }
        let p = &b.pipeline;
        let (extents, params) = Default::default();
        let region = [Interval::new(x, x + 8), Interval::new(y, y + 5)];
        let range = Evaluator::new(p, &extents, &params).range(sum, &Env::over(&region)).ints();
        let mut values = Vec::new();
        each_point(&region, |at| values.push(i64::from(value_at(p, sum, at, &[]))));
        let hull = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        prop_assert_eq!(range, hull);
    }

    #[test]
    fn ranges_and_forms_hold_at_every_point(index in any_index(), x in -6..7i32, y in -6..7i32) {
        let mut b = Build::new();
        let expr = index.build(&mut b, None);
        let p = &b.pipeline;
        let (extents, params) = Default::default();
        let region = [Interval::new(x, x + 3), Interval::new(y, y + 2)];
        let mut evaluator = Evaluator::new(p, &extents, &params);
        let (low, high) = evaluator.range(expr, &Env::over(&region)).ints();
        let form = affine_of(p, expr);
        each_point(&region, |at| {
            let value = i64::from(value_at(p, expr, at, &[]));
            assert!(low <= value && value <= high, "{value} outside {low}..={high}");
            if let Some(form) = &form {
                let here = form.range(|var| match var {
                    nbcc_stages::bounds::AffineVar::Dim(n) => {
                        Interval::new(at[n as usize], at[n as usize])
                    }
                    var => panic!("{var:?} in an index of dimensions"),
                });
                assert_eq!(here, (i128::from(value), i128::from(value)), "{form:?}");
            }
        });
    }
}

#[test]
fn a_chain_of_stencils_grows_at_every_stage() {
    let mut b = Build::new();
    let input = b.input("in", 2);
    b.pipeline.inputs[input].repeat_edge = true;
    let mut last: Option<Func> = None;
    for n in 0..32 {
        let (x, y, two) = (b.dim(0), b.dim(1), b.int(2));
        let (left, up) = (b.binary(BinaryOp::Sub, x, two), b.binary(BinaryOp::Sub, y, two));
        let (right, down) = (b.add(x, two), b.add(y, two));
        let taps = [[left, up], [right, down]].map(|at| match last {
            Some(f) => b.call(f, &at),
            None => b.load(input, &at),
        });
        let sum = b.add(taps[0], taps[1]);
        last = Some(b.func(&format!("s{n}"), &["x", "y"], sum));
    }
    b.pipeline.outputs.extend(last);
    let bounds = inferred(&b.pipeline).unwrap();
    assert_eq!(bounds.inputs[input], Some(vec![Interval::new(-66, 69), Interval::new(-64, 67)]));
    let first = b.pipeline.funcs.keys().next().unwrap();
    assert_eq!(bounds.region(first), Some(&[Interval::new(-64, 67), Interval::new(-62, 65)][..]));
}
