//! Coordinates of floats that become integers mean the same to the interpreter.

use nbcc_interp::pipeline::run;
use nbcc_stages::bounds::{Extents, Interval, ParamValues, infer};
use nbcc_stages::build::Build;
use nbcc_stages::{
    BinaryOp, ElementType, Expr, ExprKind, Intrinsic, Pipeline, UnaryOp, integer_coordinates,
    verify,
};
use nbcc_testing::Rng;

const FACTORS: [f32; 14] =
    [0.5, 1.5, 2.0, 3.0, 0.3, 1.0 / 3.0, 2.0 / 3.0, 0.77, 1.37, -1.0, 0.1, 1.3, 1.0, 17.3];

/// A random coordinate of dimension `dim`, made of floats.
fn coordinate(b: &mut Build, rng: &mut Rng, dim: u32) -> Expr {
    let float = ElementType::F32;
    let x = b.dim(dim);
    let mut value = b.cast(float, x);
    let offset = |rng: &mut Rng| (rng.below(41) as f32 - 20.0) / 4.0;
    for _ in 0..rng.below(3) {
        let by = b.float(offset(rng));
        value = b.add(value, by);
        let factor = b.float(FACTORS[rng.below(FACTORS.len() as u64) as usize]);
        value = match rng.below(4) {
            0 => b.binary(BinaryOp::Div, value, factor),
            _ => b.mul(value, factor),
        };
    }
    let (low, high) = (b.float(offset(rng)), b.float(20.0 + offset(rng)));
    value = match rng.below(6) {
        0 => b.binary(BinaryOp::Min, value, high),
        1 => b.binary(BinaryOp::Max, value, low),
        2 => b.expr(ExprKind::Unary(UnaryOp::Abs, value), float),
        _ => value,
    };
    let rounded = [Intrinsic::Floor, Intrinsic::Ceil, Intrinsic::Round, Intrinsic::Trunc];
    if let Some(&op) = rounded.get(rng.below(5) as usize) {
        value = b.expr(ExprKind::Intrinsic(op, vec![value]), float);
    }
    b.cast(ElementType::I32, value)
}

#[test]
fn integers_are_those_of_floats() {
    let mut rng = Rng::new(5);
    let mut changed = 0;
    for case in 0..600 {
        let mut b = Build::new();
        let [x, y] = [0, 1].map(|dim| coordinate(&mut b, &mut rng, dim));
        // In a Func of its own, which is called at other coordinates.
        let many = b.int(1000);
        let x_many = b.mul(x, many);
        let sum = b.add(x_many, y);
        let inner = b.func("inner", &["x", "y"], sum);
        let (a, c) = (b.dim(0), b.dim(1));
        let back = b.int(3 - rng.below(7) as i32);
        let moved = b.add(a, back);
        let (here, there) = (b.call(inner, &[a, c]), b.call(inner, &[moved, c]));
        let z = coordinate(&mut b, &mut rng, 1);
        let out = b.add(here, there);
        let out = b.binary(BinaryOp::Xor, out, z);
        let out = b.func("out", &["x", "y"], out);
        b.pipeline.outputs.push(out);
        let size = [rng.below(70) as i32, rng.below(20) as i32];
        let first = rng.below(20) as i32 - 10;
        let region = vec![Interval::new(first, first + size[0]), Interval::new(0, size[1])];
        let extents = Extents { inputs: Vec::new().into(), outputs: vec![region.clone()] };
        let bounds = infer(&b.pipeline, &extents, &ParamValues::new()).expect("it has bounds");
        let (after, done) = integer_coordinates(&b.pipeline, &bounds);
        assert_eq!(verify(&after), Ok(()));
        changed += done.iter().map(|of| of.count).sum::<usize>();
        let images = |pipeline: &Pipeline| {
            run(pipeline, &Default::default(), &ParamValues::new(), std::slice::from_ref(&region))
                .expect("nothing traps")
        };
        assert_eq!(images(&b.pipeline), images(&after), "case {case}");
    }
    assert!(changed > 1000, "{changed} coordinates are integers");
}
