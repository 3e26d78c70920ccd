//! What the printer shows of a pipeline with one of everything.

use nbcc_stages::bounds::{Extents, Interval, default_params, infer};
use nbcc_stages::build::Build;
use nbcc_stages::print::print;
use nbcc_stages::{
    BinaryOp, CompareOp, DirectiveArg, DirectiveKind, ElementType, ExprKind, Intrinsic, UnaryOp,
    specialize, verify,
};

fn pipeline() -> Build {
    let mut b = Build::new();
    b.pipeline.name = "sample".to_string();
    let input = b.typed_input("in", ElementType::U8, 2);
    b.pipeline.inputs[input].repeat_edge = true;
    let (x, y, one, two) = (b.dim(0), b.dim(1), b.int(1), b.int(2));
    let left = b.binary(BinaryOp::Sub, x, one);
    let right = b.add(x, one);
    let taps = [left, right].map(|x| b.load(input, &[x, y]));
    let taps = taps.map(|tap| b.cast(ElementType::F32, tap));
    let difference = b.binary(BinaryOp::Sub, taps[0], taps[1]);
    let square = b.mul(difference, difference);
    let root = b.expr(ExprKind::Intrinsic(Intrinsic::Sqrt, vec![square]), ElementType::F32);
    let sum = b.add(x, y);
    let odd = b.binary(BinaryOp::Mod, sum, two);
    let edge = b.tuple("edge", &["x", "y"], &[root, odd]);
    b.directive(edge, DirectiveKind::ComputeRoot);
    b.directive(
        edge,
        DirectiveKind::Target {
            name: "tiles",
            args: vec![DirectiveArg::Var("x".to_string()), DirectiveArg::Int(8)],
        },
    );

    let minus = b.expr(ExprKind::Unary(UnaryOp::Neg, sum), ElementType::I32);
    let out = b.func("out", &["x", "y"], minus);
    let r = b.rdom("r", &[(0, 3), (0, 3)]);
    let width = b.expr(ExprKind::InputExtent(input, 0), ElementType::I32);
    let edges = b.binary(BinaryOp::Sub, width, one);
    b.pipeline.rdoms[r].dims[1].1 = edges;
    let (rx, ry) = (b.rvar(r, 0), b.rvar(r, 1));
    let (p, q) = (b.compare(CompareOp::Le, rx, ry), b.compare(CompareOp::Ne, ry, two));
    let both = b.binary(BinaryOp::And, p, q);
    b.pipeline.rdoms[r].predicates.push(both);
    let at = b.add(x, rx);
    let half = b.binary(BinaryOp::Div, at, two);
    let flag = b.call_value(edge, 1, &[half, ry]);
    let own = b.call(out, &[x, ry]);
    let more = b.add(own, flag);
    let chosen = b.compare(CompareOp::Gt, more, two);
    let value = b.expr(ExprKind::Select(chosen, more, own), ElementType::I32);
    b.update(out, &[x, ry], &[value], Some(r));
    b.directive(out, DirectiveKind::Bound { var: "x".to_string(), min: one, extent: width });
    b.pipeline.outputs.push(out);
    b
}

#[test]
fn a_pipeline_as_built() {
    let b = pipeline();
    verify(&b.pipeline).unwrap();
    insta::assert_snapshot!(print(&b.pipeline, None));
}

#[test]
fn a_pipeline_of_known_extents() {
    let b = pipeline();
    let mut extents = Extents::default();
    let input = b.pipeline.inputs.keys().next().unwrap();
    extents.inputs[input] = vec![10, 6];
    extents.outputs.push(vec![Interval::new(1, 10), Interval::new(0, 5)]);
    let params = default_params(&b.pipeline);
    let p = specialize(&b.pipeline, &extents.inputs, &params);
    verify(&p).unwrap();
    let bounds = infer(&p, &extents, &params).unwrap();
    insta::assert_snapshot!(print(&p, Some(&bounds)));
}
