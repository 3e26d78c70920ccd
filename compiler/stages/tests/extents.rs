//! Where extents come from, and what bounds inference says of directives, domains and inputs.

use cranelift_entity::SecondaryMap;
use nbcc_base::{CodeInfo, Diagnostics};
use nbcc_stages::bounds::{
    Bounds, Extents, Interval, Region, default_params, infer, resolve_extents,
};
use nbcc_stages::build::Build;
use nbcc_stages::{
    BinaryOp, CompareOp, DirectiveKind, ElementType, Expr, ExprKind, Func, Input, ParamData, codes,
};

fn resolve(
    b: &Build,
    given: &[(Input, &[u32])],
    size: Option<&[u32]>,
) -> Result<Extents, Diagnostics> {
    let mut extents: SecondaryMap<Input, Option<Vec<u32>>> = SecondaryMap::new();
    for (input, extent) in given {
        extents[*input] = Some(extent.to_vec());
    }
    resolve_extents(&b.pipeline, &extents, size, &default_params(&b.pipeline))
}

fn first(diagnostics: Diagnostics) -> (&'static CodeInfo, String, String) {
    let first = diagnostics.iter().next().expect("a diagnostic");
    (first.code, first.message.clone(), first.help.clone().unwrap_or_default())
}

fn region(intervals: &[(i32, i32)]) -> Region {
    intervals.iter().map(|&(min, max)| Interval::new(min, max)).collect()
}

/// An input and an output of as many dimensions, which reads nothing outside.
fn copy(dims: u32) -> (Build, Input, Func) {
    let mut b = Build::new();
    let input = b.input("in", dims);
    let at: Vec<Expr> = (0..dims).map(|d| b.dim(d)).collect();
    let value = b.load(input, &at);
    let out = b.func("out", &["x", "y", "c"][..dims as usize], value);
    b.pipeline.outputs.push(out);
    (b, input, out)
}

fn bound(b: &mut Build, func: Func, var: &str, min: Expr, extent: Expr) {
    b.directive(func, DirectiveKind::Bound { var: var.to_string(), min, extent });
}

#[test]
fn each_dimension_takes_the_first_source_that_has_it() {
    let (mut b, input, out) = copy(3);
    let (zero, two, three, nine) = (b.int(0), b.int(2), b.int(3), b.int(9));
    bound(&mut b, out, "c", two, three);
    b.directive(out, DirectiveKind::SetEstimate { var: "x".to_string(), min: zero, extent: nine });

    let all = resolve(&b, &[(input, &[40, 30, 8])], Some(&[20])).unwrap();
    assert_eq!(all.outputs, [region(&[(0, 19), (0, 29), (2, 4)])]);
    assert_eq!(all.inputs[input], [40, 30, 8]);

    let without_size = resolve(&b, &[(input, &[40, 30, 8])], None).unwrap();
    assert_eq!(without_size.outputs, [region(&[(0, 39), (0, 29), (2, 4)])]);

    // Without data the input is as large as the output, up to its last coordinate.
    let without_data = resolve(&b, &[], Some(&[7, 6])).unwrap();
    assert_eq!(without_data.outputs, [region(&[(0, 6), (0, 5), (2, 4)])]);
    assert_eq!(without_data.inputs[input], [7, 6, 5]);

    // The estimate is the last resort, and says nothing of `y`.
    let (code, message, help) = first(resolve(&b, &[], None).unwrap_err());
    assert_eq!(code, &codes::OUTPUT_EXTENT);
    assert_eq!(message, "the extent of the output `out` along `y` is not known");
    assert_eq!(
        help,
        "give it on the command line, as in `--size 64x64`, or in the source, as in `out.bound(y, 0, 64)`"
    );
}

#[test]
fn a_bound_may_name_the_extent_of_an_input() {
    let (mut b, input, out) = copy(2);
    let width = b.expr(ExprKind::InputExtent(input, 0), ElementType::I32);
    let (zero, two) = (b.int(0), b.int(2));
    let half = b.binary(BinaryOp::Div, width, two);
    bound(&mut b, out, "x", zero, half);
    let given = resolve(&b, &[(input, &[41, 5])], None).unwrap();
    assert_eq!(given.outputs, [region(&[(0, 19), (0, 4)])]);
    // Without data the input's width is what --size says.
    let deduced = resolve(&b, &[], Some(&[16, 4])).unwrap();
    assert_eq!(deduced.inputs[input], [16, 4]);
    assert_eq!(deduced.outputs, [region(&[(0, 7), (0, 3)])]);
    let (code, ..) = first(resolve(&b, &[], None).unwrap_err());
    assert_eq!(code, &codes::BOUND);
    // Half of a picture one pixel wide has no pixel.
    let (code, message, _) = first(resolve(&b, &[(input, &[1, 5])], None).unwrap_err());
    assert_eq!(code, &codes::OUTPUT_EXTENT);
    assert_eq!(message, "the output `out` has no element along `x`");
}

#[test]
fn an_input_of_more_dimensions_needs_data() {
    let mut b = Build::new();
    let input = b.input("in", 3);
    let (x, y, zero) = (b.dim(0), b.dim(1), b.int(0));
    let value = b.load(input, &[x, y, zero]);
    let out = b.func("out", &["x", "y"], value);
    b.pipeline.outputs.push(out);
    let (code, message, _) = first(resolve(&b, &[], Some(&[8, 8])).unwrap_err());
    assert_eq!(code, &codes::INPUT_EXTENT);
    assert_eq!(message, "the extent of the input `in` along dimension 2 is not known");
    b.pipeline.inputs[input].estimates = vec![None, None, Some((0, 3))];
    assert_eq!(resolve(&b, &[], Some(&[8, 8])).unwrap().inputs[input], [8, 8, 3]);
    let (code, message, _) = first(resolve(&b, &[(input, &[8, 8])], None).unwrap_err());
    assert_eq!(code, &codes::INPUT_EXTENT);
    assert_eq!(message, "the image for `in` has 2 dimensions, where 3 are declared");
}

fn bounds_of(b: &Build, outputs: &[Region], extent: &[u32]) -> Result<Bounds, Diagnostics> {
    let mut extents = Extents { inputs: SecondaryMap::new(), outputs: outputs.to_vec() };
    for input in b.pipeline.inputs.keys() {
        extents.inputs[input] = extent.to_vec();
    }
    infer(&b.pipeline, &extents, &default_params(&b.pipeline))
}

#[test]
fn a_bound_of_an_inner_func_is_its_region() {
    let build = |extent: i32| {
        let mut b = Build::new();
        let x = b.dim(0);
        let f = b.func("f", &["x"], x);
        let (zero, extent) = (b.int(0), b.int(extent));
        bound(&mut b, f, "x", zero, extent);
        let value = b.call(f, &[x]);
        let out = b.func("out", &["x"], value);
        b.pipeline.outputs.push(out);
        (b, f)
    };
    let (b, f) = build(64);
    let bounds = bounds_of(&b, &[region(&[(3, 9)])], &[]).unwrap();
    assert_eq!(bounds.region(f), Some(&region(&[(0, 63)])[..]));
    let (b, _) = build(8);
    let (code, message, _) = first(bounds_of(&b, &[region(&[(3, 9)])], &[]).unwrap_err());
    assert_eq!(code, &codes::BOUND);
    assert_eq!(message, "`f` is needed over x = 3..=9, which its bound 0..=7 does not cover");
}

/// The conditions of a domain narrow it as Halide narrows it: nothing outside the input is read.
#[test]
fn affine_conditions_narrow_a_domain() {
    let mut b = Build::new();
    let input = b.input("in", 1);
    let zero = b.float(0.0);
    let f = b.func("f", &["x"], zero);
    let r = b.rdom("r", &[(-2, 14)]);
    let (x, rx) = (b.dim(0), b.rvar(r, 0));
    let at = b.add(x, rx);
    let (low, high) = (b.int(0), b.int(10));
    let (p, q) = (b.compare(CompareOp::Ge, at, low), b.compare(CompareOp::Lt, at, high));
    let both = b.expr(ExprKind::Binary(BinaryOp::And, p, q), ElementType::Bool);
    b.pipeline.rdoms[r].predicates.push(both);
    let (old, value) = (b.call(f, &[x]), b.load(input, &[rx]));
    let new = b.add(old, value);
    b.update(f, &[x], &[new], Some(r));
    b.pipeline.outputs.push(f);
    // At x = 3 the conditions leave -2..=6 of -2..=11.
    let bounds = bounds_of(&b, &[region(&[(3, 3)])], &[20]);
    let (code, message, _) = first(bounds.unwrap_err());
    assert_eq!(code, &codes::INPUT_OUTSIDE);
    assert!(message.ends_with("need [-2..=6]"), "{message}");
    // At -12 and below nothing is left, so the update never runs and reads nothing.
    let bounds = bounds_of(&b, &[region(&[(-13, -12)])], &[20]).unwrap();
    assert_eq!(bounds.funcs[f].as_ref().unwrap().stages[1], None);
    assert_eq!(bounds.inputs[input], None);
}

/// What an update writes outside everyone's reads is stored, but the definition is not computed
/// there.
#[test]
fn writes_widen_the_storage_only() {
    let mut b = Build::new();
    let input = b.input("in", 1);
    let x = b.dim(0);
    let value = b.load(input, &[x]);
    let f = b.func("f", &["x"], value);
    let r = b.rdom("r", &[(0, 20)]);
    let (rx, one) = (b.rvar(r, 0), b.float(1.0));
    b.update(f, &[rx], &[one], Some(r));
    b.pipeline.outputs.push(f);
    let bounds = bounds_of(&b, &[region(&[(0, 4)])], &[5]).unwrap();
    let computed = bounds.funcs[f].as_ref().unwrap();
    assert_eq!(computed.region, region(&[(0, 19)]));
    assert_eq!(computed.stages[0].as_ref().unwrap().dims, region(&[(0, 4)]));
}

/// The type of the data bounds an index; without a bound the access is named.
#[test]
fn data_bounds_an_index_by_its_type() {
    let build = |ty: ElementType| {
        let mut b = Build::new();
        let input = b.typed_input("in", ty, 1);
        let x = b.dim(0);
        let table = b.func("table", &["i"], x);
        let load = b.load(input, &[x]);
        let index = b.cast(ElementType::I32, load);
        let value = b.call(table, &[index]);
        let out = b.func("out", &["x"], value);
        b.pipeline.outputs.push(out);
        (b, table)
    };
    let (b, table) = build(ElementType::U8);
    let bounds = bounds_of(&b, &[region(&[(0, 4)])], &[5]).unwrap();
    assert_eq!(bounds.region(table), Some(&region(&[(0, 255)])[..]));
    for ty in [ElementType::I32, ElementType::U32, ElementType::F32] {
        let (b, _) = build(ty);
        let (code, message, help) = first(bounds_of(&b, &[region(&[(0, 4)])], &[5]).unwrap_err());
        assert_eq!(code, &codes::UNBOUNDED);
        assert_eq!(message, "`table` is read at a coordinate without a limit");
        assert_eq!(help, "limit the coordinate with `clamp(index, low, high)`");
    }
}

/// The value of a Func that serves as an index is bounded over what is read of it.
#[test]
fn the_values_of_funcs_bound_an_index() {
    let mut b = Build::new();
    let (x, three) = (b.dim(0), b.int(3));
    let shifted = b.add(x, three);
    let index = b.func("index", &["x"], shifted);
    let table = b.func("table", &["i"], x);
    let at = b.call(index, &[shifted]);
    let value = b.call(table, &[at]);
    let out = b.func("out", &["x"], value);
    b.pipeline.outputs.push(out);
    let bounds = bounds_of(&b, &[region(&[(0, 4)])], &[]).unwrap();
    assert_eq!(bounds.region(table), Some(&region(&[(6, 10)])[..]));
    assert_eq!(bounds.region(index), Some(&region(&[(3, 7)])[..]));
}

/// Deep chains of Funcs as indices are answered within the budget, if less sharply.
#[test]
fn chains_of_indices_end() {
    let mut b = Build::new();
    let (x, one, seven) = (b.dim(0), b.int(1), b.int(7));
    let mut last = b.func("f0", &["x"], x);
    for n in 1..200 {
        let next = b.add(x, one);
        let (p, q) = (b.call(last, &[x]), b.call(last, &[next]));
        let sum = b.add(p, q);
        let value = b.binary(BinaryOp::Mod, sum, seven);
        last = b.func(&format!("f{n}"), &["x"], value);
    }
    let table = b.func("table", &["i"], x);
    let at = b.call(last, &[x]);
    let value = b.call(table, &[at]);
    let out = b.func("out", &["x"], value);
    b.pipeline.outputs.push(out);
    let bounds = bounds_of(&b, &[region(&[(0, 4)])], &[]).unwrap();
    assert_eq!(bounds.region(table), Some(&region(&[(0, 6)])[..]));
}

#[test]
fn regions_have_limits() {
    let (b, input, _) = copy(2);
    let (code, ..) = first(resolve(&b, &[(input, &[1 << 16, 1 << 16])], None).unwrap_err());
    assert_eq!(code, &codes::REGION_TOO_LARGE);

    let mut b = Build::new();
    let input = b.typed_input("in", ElementType::U16, 1);
    let x = b.dim(0);
    let table = b.func("table", &["i", "j"], x);
    let load = b.load(input, &[x]);
    let index = b.cast(ElementType::I32, load);
    let value = b.call(table, &[index, index]);
    let out = b.func("out", &["x"], value);
    b.pipeline.outputs.push(out);
    let (code, ..) = first(bounds_of(&b, &[region(&[(0, 4)])], &[5]).unwrap_err());
    assert_eq!(code, &codes::REGION_TOO_LARGE);
}

#[test]
fn a_domain_needs_a_known_extent() {
    let mut b = Build::new();
    let n = b.pipeline.params.push(ParamData {
        name: "n".to_string(),
        ty: ElementType::I32,
        default: None,
        span: Default::default(),
    });
    let zero = b.int(0);
    let f = b.func("f", &["x"], zero);
    let r = b.rdom("r", &[(0, 1)]);
    let extent = b.expr(ExprKind::Param(n), ElementType::I32);
    b.pipeline.rdoms[r].dims[0].1 = extent;
    let (x, rx) = (b.dim(0), b.rvar(r, 0));
    b.update(f, &[x], &[rx], Some(r));
    b.pipeline.outputs.push(f);
    let (code, ..) = first(bounds_of(&b, &[region(&[(0, 4)])], &[]).unwrap_err());
    assert_eq!(code, &codes::RDOM_EXTENT);
}

/// `select(x < 0, 0, x)` is a maximum, also where the selected value is written out again, and a
/// reflection counts only where its condition lets it be chosen.
#[test]
fn selections_are_bounded_where_they_are_chosen() {
    let read = |index: &dyn Fn(&mut Build) -> Expr| {
        let mut b = Build::new();
        let table = b.dim(0);
        let table = b.func("table", &["i"], table);
        let at = index(&mut b);
        let value = b.call(table, &[at]);
        let out = b.func("out", &["x", "y"], value);
        b.pipeline.outputs.push(out);
        let bounds = bounds_of(&b, &[region(&[(-4, 12), (0, 7)])], &[]).unwrap();
        bounds.region(table).unwrap()[0]
    };
    let select = |b: &mut Build, op, p, q, yes, no| {
        let condition = b.compare(op, p, q);
        b.expr(ExprKind::Select(condition, yes, no), ElementType::I32)
    };
    let raised = read(&|b| {
        let (x, zero) = (b.dim(0), b.int(0));
        select(b, CompareOp::Lt, x, zero, zero, x)
    });
    assert_eq!(raised, Interval::new(0, 12));
    let of_products = read(&|b| {
        let product = |b: &mut Build| {
            let (x, y) = (b.dim(0), b.dim(1));
            b.mul(x, y)
        };
        let (p, q, five) = (product(b), product(b), b.int(5));
        select(b, CompareOp::Ge, p, five, five, q)
    });
    assert_eq!(of_products, Interval::new(-28, 5));
    let reflected = read(&|b| {
        let (x, nine, twice) = (b.dim(0), b.int(9), b.int(19));
        let back = b.binary(BinaryOp::Sub, twice, x);
        select(b, CompareOp::Gt, x, nine, back, x)
    });
    assert_eq!(reflected, Interval::new(-4, 9));
}
