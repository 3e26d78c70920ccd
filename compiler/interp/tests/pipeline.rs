//! The interpreter on pipelines built by hand, against what they mean written out in Rust.

use cranelift_entity::SecondaryMap;
use nbcc_interp::pipeline::{Trap, run};
use nbcc_stages::bounds::{Interval, Region, default_params};
use nbcc_stages::build::Build;
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Expr, ExprKind, Image, Input, Literal};

fn region(extents: &[(i32, i32)]) -> Region {
    extents.iter().map(|&(min, max)| Interval::new(min, max)).collect()
}

fn execute(b: &Build, images: &[(Input, Image)], outputs: &[Region]) -> Result<Vec<Image>, Trap> {
    let mut inputs: SecondaryMap<Input, Image> = SecondaryMap::new();
    for (input, image) in images {
        inputs[*input] = image.clone();
    }
    run(&b.pipeline, &inputs, &default_params(&b.pipeline), outputs)
}

fn picture(width: u32, height: u32) -> Image {
    let values: Vec<f32> =
        (0..width * height).map(|i| (i.wrapping_mul(2654435761) >> 8) as f32 / 65536.0).collect();
    Image::from_f32(&[width, height], &values)
}

/// `(in(x-1, y) + in(x, y) + in(x+1, y)) / 3` in both directions, of an input that was never
/// declared.
#[test]
fn blur_rounds_each_operation_once() {
    let (w, h) = (37i32, 13i32);
    let mut b = Build::new();
    let input = b.input("in", 2);
    b.pipeline.inputs[input].repeat_edge = true;
    let (x, y) = (b.dim(0), b.dim(1));
    let (one, three) = (b.int(1), b.float(3.0));
    let (left, right) = (b.binary(BinaryOp::Sub, x, one), b.add(x, one));
    let (above, below) = (b.binary(BinaryOp::Sub, y, one), b.add(y, one));
    let taps = [b.load(input, &[left, y]), b.load(input, &[x, y]), b.load(input, &[right, y])];
    let sum = b.add(taps[0], taps[1]);
    let sum = b.add(sum, taps[2]);
    let third = b.binary(BinaryOp::Div, sum, three);
    let blurx = b.func("blurx", &["x", "y"], third);
    let taps = [b.call(blurx, &[x, above]), b.call(blurx, &[x, y]), b.call(blurx, &[x, below])];
    let sum = b.add(taps[0], taps[1]);
    let sum = b.add(sum, taps[2]);
    let third = b.binary(BinaryOp::Div, sum, three);
    let out = b.func("out", &["x", "y"], third);
    b.pipeline.outputs.push(out);

    let image = picture(w as u32, h as u32);
    let result =
        execute(&b, &[(input, image.clone())], &[region(&[(0, w - 1), (0, h - 1)])]).unwrap();
    let at = |x: i32, y: i32| {
        f32::from_bits(image.get(&[x.clamp(0, w - 1), y.clamp(0, h - 1)]).unwrap())
    };
    let blurx = |x: i32, y: i32| (at(x - 1, y) + at(x, y) + at(x + 1, y)) / 3.0;
    for y in 0..h {
        for x in 0..w {
            let expected = (blurx(x, y - 1) + blurx(x, y) + blurx(x, y + 1)) / 3.0;
            assert_eq!(result[0].get(&[x, y]), Some(expected.to_bits()), "at {x}, {y}");
        }
    }
}

#[test]
fn histogram_counts() {
    let mut b = Build::new();
    let input = b.typed_input("in", ElementType::U8, 2);
    let r = b.rdom("r", &[(0, 50), (0, 40)]);
    let zero = b.int(0);
    let hist = b.func("hist", &["i"], zero);
    let (rx, ry) = (b.rvar(r, 0), b.rvar(r, 1));
    let load = b.load(input, &[rx, ry]);
    let bin = b.cast(ElementType::I32, load);
    let (old, one) = (b.call(hist, &[bin]), b.int(1));
    let new = b.add(old, one);
    b.update(hist, &[bin], &[new], Some(r));
    b.pipeline.outputs.push(hist);

    let mut image = Image::zeros(ElementType::U8, &[50, 40]);
    for (i, word) in image.data.iter_mut().enumerate() {
        *word = (i * i % 251) as u32;
    }
    let result = execute(&b, &[(input, image.clone())], &[region(&[(0, 255)])]).unwrap();
    let mut expected = vec![0u32; 256];
    image.data.iter().for_each(|&w| expected[w as usize] += 1);
    assert_eq!(result[0].data, expected);
}

/// `f(x, y) = in(x, y); f(r, y) = f(r - 1, y) + in(r, y)`: each point sees the ones before it.
#[test]
fn scans_run_in_order() {
    let mut b = Build::new();
    let input = b.input("in", 2);
    let (x, y) = (b.dim(0), b.dim(1));
    let value = b.load(input, &[x, y]);
    let f = b.func("f", &["x", "y"], value);
    let r = b.rdom("r", &[(1, 8)]);
    let (rx, one) = (b.rvar(r, 0), b.int(1));
    let before = b.binary(BinaryOp::Sub, rx, one);
    let (old, here) = (b.call(f, &[before, y]), b.load(input, &[rx, y]));
    let new = b.add(old, here);
    b.update(f, &[rx, y], &[new], Some(r));
    b.pipeline.outputs.push(f);

    let image = picture(9, 3);
    let result = execute(&b, &[(input, image.clone())], &[region(&[(0, 8), (0, 2)])]).unwrap();
    for y in 0..3 {
        let mut sum = f32::from_bits(image.get(&[0, y]).unwrap());
        for x in 0..9 {
            if x > 0 {
                sum += f32::from_bits(image.get(&[x, y]).unwrap());
            }
            assert_eq!(result[0].get(&[x, y]), Some(sum.to_bits()));
        }
    }
}

/// Both values of a tuple are computed before either is stored: the Fibonacci numbers.
#[test]
fn tuples_are_stored_together() {
    let mut b = Build::new();
    let (zero, one) = (b.int(0), b.int(1));
    let f = b.tuple("f", &[], &[zero, one]);
    let r = b.rdom("r", &[(0, 10)]);
    let (first, second) = (b.call_value(f, 0, &[]), b.call_value(f, 1, &[]));
    let next = b.add(first, second);
    b.update(f, &[], &[second, next], Some(r));
    b.pipeline.outputs.push(f);
    let result = execute(&b, &[], &[region(&[])]).unwrap();
    assert_eq!((result[0].data[0], result[1].data[0]), (55, 89));
}

/// Points that fail a condition are not computed, so what they would read does not matter.
#[test]
fn conditions_guard_accesses() {
    let mut b = Build::new();
    let input = b.input("in", 1);
    let zero = b.float(0.0);
    let f = b.func("f", &["x"], zero);
    let r = b.rdom("r", &[(-5, 20)]);
    let (x, rx) = (b.dim(0), b.rvar(r, 0));
    let at = b.add(x, rx);
    let (low, high) = (b.int(0), b.int(7));
    let conditions = [b.compare(CompareOp::Ge, at, low), b.compare(CompareOp::Le, at, high)];
    b.pipeline.rdoms[r].predicates = conditions.to_vec();
    let at = b.clamp(at, 0, 7);
    let (old, value) = (b.call(f, &[x]), b.load(input, &[at]));
    let new = b.add(old, value);
    b.update(f, &[x], &[new], Some(r));
    b.pipeline.outputs.push(f);
    let image = Image::from_f32(&[8], &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);
    let result = execute(&b, &[(input, image)], &[region(&[(0, 11)])]).unwrap();
    let expected: Vec<f32> = (0..12)
        .map(|x: i32| {
            (-5..15).filter(|r| (0..8).contains(&(x + r))).map(|r| (1 << (x + r)) as f32).sum()
        })
        .collect();
    assert_eq!(result[0].floats().collect::<Vec<_>>(), expected);
}

#[test]
fn reading_a_declared_input_outside_is_refused() {
    let mut b = Build::new();
    let input = b.input("in", 1);
    let (x, one) = (b.dim(0), b.int(1));
    let at = b.add(x, one);
    let value = b.load(input, &[at]);
    let f = b.func("f", &["x"], value);
    b.pipeline.outputs.push(f);
    let image = Image::from_f32(&[8], &[0.0; 8]);
    let trap = execute(&b, &[(input, image.clone())], &[region(&[(0, 7)])]).unwrap_err();
    assert_eq!(
        trap.to_string(),
        "`in` is read outside its extent: it is 8, and all its reads together need [1..=8]"
    );
    assert!(execute(&b, &[(input, image)], &[region(&[(-1, 6)])]).is_ok());
}

/// An index that is computed from what is not a number has no bounds: the access is caught.
#[test]
fn an_index_from_no_number_traps() {
    let mut b = Build::new();
    let input = b.input("in", 1);
    let x = b.dim(0);
    let value = b.load(input, &[x]);
    let (low, high) = (b.float(0.0), b.float(3.0));
    // Limits as first operands: the comparison that fails leaves what is not a number.
    let most = b.binary(BinaryOp::Min, high, value);
    let both = b.binary(BinaryOp::Max, low, most);
    let index = b.cast(ElementType::I32, both);
    let table = b.func("table", &["i"], x);
    let read = b.call(table, &[index]);
    let f = b.func("f", &["x"], read);
    b.pipeline.outputs.push(f);
    let good = Image::from_f32(&[3], &[7.5, -2.0, 1.5]);
    let result = execute(&b, &[(input, good)], &[region(&[(0, 2)])]).unwrap();
    assert_eq!(result[0].data, [3, 0, 1]);
    let bad = Image::from_f32(&[3], &[0.0, f32::NAN, 1.0]);
    let trap = execute(&b, &[(input, bad)], &[region(&[(0, 2)])]).unwrap_err();
    let Trap::Access { func, point, accessed, .. } = trap else { panic!("{trap}") };
    assert_eq!((func.as_str(), point, accessed.as_str()), ("f", vec![1], "table"));
}

#[test]
fn regions_are_limited_before_they_are_allocated() {
    let mut b = Build::new();
    let x = b.dim(0);
    let f = b.func("f", &["x", "y"], x);
    b.pipeline.outputs.push(f);
    let trap = execute(&b, &[], &[region(&[(0, 32767), (0, 32766)])]).unwrap_err();
    assert!(matches!(trap, Trap::TooLarge { .. }), "{trap}");
}

/// Every operation on every type, one element at a time as `scalar` defines it.
#[test]
fn rows_agree_with_single_elements() {
    use nbcc_stages::scalar;
    let types = [
        ElementType::U8,
        ElementType::U16,
        ElementType::U32,
        ElementType::I8,
        ElementType::I16,
        ElementType::I32,
        ElementType::F32,
    ];
    let ops = [
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
        BinaryOp::Shl,
        BinaryOp::Shr,
    ];
    for ty in types {
        let words: Vec<u32> = (0..40u32)
            .flat_map(|i| [i.wrapping_mul(0x9e37_79b9), i, 0u32.wrapping_sub(i)])
            .map(|w| {
                if ty.is_float() {
                    (w as i32 as f32 / 7.0).to_bits()
                } else {
                    scalar::normalize(ty, w)
                }
            })
            .collect();
        let count = words.len() as u32;
        for op in ops {
            if ty.is_float() && matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                continue;
            }
            let mut b = Build::new();
            let input = b.typed_input("in", ty, 1);
            let (x, seven) = (b.dim(0), b.int(7));
            let limit = b.int(count as i32);
            let other = b.mul(x, seven);
            let other = b.binary(BinaryOp::Mod, other, limit);
            let (p, q) = (b.load(input, &[x]), b.load(input, &[other]));
            let value: Expr = b.binary(op, p, q);
            let f = b.func("f", &["x"], value);
            b.pipeline.outputs.push(f);
            let mut image = Image::zeros(ty, &[count]);
            image.data.clone_from(&words);
            let last = count as i32 - 1;
            let result = execute(&b, &[(input, image)], &[region(&[(0, last)])]).unwrap();
            for i in 0..count as usize {
                let (p, q) = (words[i], words[i * 7 % count as usize]);
                let expected = scalar::binary(op, ty, ty, p, q);
                let got = result[0].data[i];
                let both_nan = ty.is_float()
                    && f32::from_bits(got).is_nan()
                    && f32::from_bits(expected).is_nan();
                assert!(got == expected || both_nan, "{op:?} {ty} {p:#x} {q:#x}: {got:#x}");
            }
        }
    }
}

/// A Func with updates alone starts as zeros, and parameters and extents are values.
#[test]
fn parameters_and_extents_are_values() {
    let mut b = Build::new();
    let input = b.input("in", 1);
    let param = b.pipeline.params.push(nbcc_stages::ParamData {
        name: "alpha".to_string(),
        ty: ElementType::I32,
        default: Some(Literal::Int(5)),
        span: Default::default(),
    });
    let alpha = b.expr(ExprKind::Param(param), ElementType::I32);
    let width = b.expr(ExprKind::InputExtent(input, 0), ElementType::I32);
    let product = b.mul(alpha, width);
    let f = b.func("f", &["x"], product);
    b.pipeline.funcs[f].pure = None;
    let r = b.rdom("r", &[(1, 2)]);
    let rx = b.rvar(r, 0);
    b.update(f, &[rx], &[product], Some(r));
    b.pipeline.outputs.push(f);
    let image = Image::from_f32(&[3], &[0.0; 3]);
    let result = execute(&b, &[(input, image)], &[region(&[(0, 3)])]).unwrap();
    assert_eq!(result[0].data, [0, 15, 15, 0]);
}
