//! Which variables of domains become dimensions.

use nbcc_stages::bounds::{Extents, Interval, infer};
use nbcc_stages::build::Build;
use nbcc_stages::{DirectiveKind, Freed, Func, RDom, free_variables, verify};

/// `f(x, y) = 0` over 8 x 6 points with the update that `make` adds to it: the dimensions that are freed.
fn freed(domain: &[(i32, i32)], make: impl Fn(&mut Build, Func, RDom)) -> Vec<usize> {
    let mut b = Build::new();
    let zero = b.int(0);
    let f = b.func("f", &["x", "y"], zero);
    let r = b.rdom("r", domain);
    make(&mut b, f, r);
    b.pipeline.outputs.push(f);
    let extents = Extents {
        inputs: Vec::new().into(),
        outputs: vec![vec![Interval::new(0, 7), Interval::new(0, 5)]],
    };
    let bounds = infer(&b.pipeline, &extents, &Default::default()).expect("it has bounds");
    let (after, done) = free_variables(&b.pipeline, &bounds);
    assert_eq!(verify(&after), Ok(()));
    done.iter().map(|&Freed { dim, .. }| dim).collect()
}

/// `f(r.x, r.y) += f(r.x - 1, r.y)`, `own` as it stands on the left.
fn scan(b: &mut Build, f: Func, r: RDom) {
    let (x, y, back) = (b.rvar(r, 0), b.rvar(r, 1), b.int(-1));
    let before = b.add(x, back);
    let (here, there) = (b.call(f, &[x, y]), b.call(f, &[before, y]));
    let sum = b.add(here, there);
    b.update(f, &[x, y], &[sum], Some(r));
}

#[test]
fn what_nothing_goes_through_in_order_is_a_dimension() {
    assert_eq!(freed(&[(1, 7), (0, 6)], scan), [1]);
    // More than what is needed.
    assert_eq!(freed(&[(1, 7), (-1, 9)], scan), [1]);
    // Every point by itself.
    let each = |b: &mut Build, f, r| {
        let (x, y) = (b.rvar(r, 1), b.rvar(r, 0));
        let value = b.mul(x, y);
        b.update(f, &[x, y], &[value], Some(r));
    };
    assert_eq!(freed(&[(0, 6), (0, 8)], each), [0, 1]);
}

#[test]
fn other_variables_stay() {
    // A part of what is needed.
    assert_eq!(freed(&[(1, 7), (1, 5)], scan), []);
    // At two places.
    let diagonal = |b: &mut Build, f, r| {
        let (x, y) = (b.rvar(r, 0), b.rvar(r, 1));
        b.update(f, &[x, x], &[y], Some(r));
    };
    assert_eq!(freed(&[(0, 6), (0, 2)], diagonal), []);
    // With a condition.
    let chosen = |b: &mut Build, f, r| {
        let (y, three) = (b.rvar(r, 1), b.int(3));
        let holds = b.compare(nbcc_stages::CompareOp::Lt, y, three);
        b.pipeline.rdoms[r].predicates.push(holds);
        scan(b, f, r);
    };
    assert_eq!(freed(&[(1, 7), (0, 6)], chosen), []);
    // With a schedule of its loops.
    let scheduled = |b: &mut Build, f, r| {
        scan(b, f, r);
        let parallel = DirectiveKind::Parallel("r$y".into());
        b.directive(f, parallel);
        let data = &mut b.pipeline.funcs[f];
        data.updates[0].schedule = std::mem::take(&mut data.schedule);
    };
    assert_eq!(freed(&[(1, 7), (0, 6)], scheduled), []);
    // Read where it is not.
    let crossed = |b: &mut Build, f, r| {
        let (x, y) = (b.rvar(r, 0), b.rvar(r, 1));
        let (a, c) = (b.clamp(y, 0, 5), b.clamp(x, 0, 5));
        let value = b.call(f, &[a, c]);
        b.update(f, &[x, y], &[value], Some(r));
    };
    assert_eq!(freed(&[(1, 7), (0, 6)], crossed), []);
}
