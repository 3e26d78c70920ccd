//! Random pipelines: no access leaves what bounds inference gave, inlining and specialising change
//! nothing, and every element is what a plain recursive evaluation says.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_interp::pipeline::run;
use nbcc_stages::bounds::{Extents, Interval, Region, default_params, infer, points};
use nbcc_stages::build::Build;
use nbcc_stages::{
    BinaryOp, CompareOp, ElementType, Expr, ExprKind, Func, Image, Input, Pipeline, RDom, UnaryOp,
    Walker, inline, scalar, specialize, verify,
};
use proptest::prelude::*;

/// Choices drawn from a list, so that a failure shrinks; zeros when the list is used up.
struct Choices {
    list: Vec<u16>,
    at: usize,
}

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        let choice = self.list.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        choice as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const TYPES: [ElementType; 4] =
    [ElementType::I32, ElementType::U8, ElementType::I16, ElementType::F32];

const INTEGER_OPS: [BinaryOp; 12] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::Div,
    BinaryOp::Mod,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
];

const COMPARISONS: [CompareOp; 3] = [CompareOp::Lt, CompareOp::Eq, CompareOp::Ge];

struct Generator {
    b: Build,
    choices: Choices,
    inputs: Vec<Input>,
    funcs: Vec<Func>,
}

impl Generator {
    /// An expression of a type, over the dimensions and the reduction variables in scope.
    fn expr(&mut self, ty: ElementType, rdom: Option<RDom>, depth: u32) -> Expr {
        let kinds = if depth == 0 { 3 } else { 10 };
        match self.choices.below(kinds) {
            0 => {
                let n = self.choices.below(2) as u32;
                let dim = self.b.dim(n);
                self.convert(ty, dim)
            }
            1 => match rdom {
                Some(rdom) => {
                    let rvar = self.b.rvar(rdom, 0);
                    self.convert(ty, rvar)
                }
                None => {
                    let c = self.b.int(5);
                    self.convert(ty, c)
                }
            },
            2 => {
                let value = self.choices.below(12) as i32 - 4;
                let c = self.b.int(value);
                self.convert(ty, c)
            }
            3..=5 => {
                let other = self.choices.pick(&TYPES);
                let read = self.read(rdom, depth - 1);
                let read = self.convert(other, read);
                self.convert(ty, read)
            }
            6 => {
                let condition = self.condition(rdom, depth - 1);
                let (a, b) = (self.expr(ty, rdom, depth - 1), self.expr(ty, rdom, depth - 1));
                self.b.expr(ExprKind::Select(condition, a, b), ty)
            }
            7 => {
                let a = self.expr(ty, rdom, depth - 1);
                self.b.expr(ExprKind::Unary(UnaryOp::Neg, a), ty)
            }
            _ => {
                let ops = if ty.is_float() { &INTEGER_OPS[..5] } else { &INTEGER_OPS[..] };
                let op = self.choices.pick(ops);
                let (a, b) = (self.expr(ty, rdom, depth - 1), self.expr(ty, rdom, depth - 1));
                self.b.binary(op, a, b)
            }
        }
    }

    fn convert(&mut self, ty: ElementType, expr: Expr) -> Expr {
        if self.b.pipeline.ty(expr) == ty { expr } else { self.b.cast(ty, expr) }
    }

    fn condition(&mut self, rdom: Option<RDom>, depth: u32) -> Expr {
        let ty = self.choices.pick(&TYPES);
        let op = self.choices.pick(&COMPARISONS);
        let (a, b) = (self.expr(ty, rdom, depth), self.expr(ty, rdom, depth));
        self.b.compare(op, a, b)
    }

    fn index(&mut self, rdom: Option<RDom>, depth: u32) -> Expr {
        let index = self.expr(ElementType::I32, rdom, depth);
        match self.choices.below(3) {
            0 => index,
            1 => self.b.clamp(index, -3, 9),
            _ => {
                let eight = self.b.int(8);
                self.b.binary(BinaryOp::Mod, index, eight)
            }
        }
    }

    fn read(&mut self, rdom: Option<RDom>, depth: u32) -> Expr {
        let at = [self.index(rdom, depth), self.index(rdom, depth)];
        if self.funcs.is_empty() || self.choices.below(4) == 0 {
            let input = self.choices.pick(&self.inputs);
            self.b.load(input, &at)
        } else {
            let func = self.funcs[self.choices.below(self.funcs.len())];
            self.b.call(func, &at)
        }
    }

    fn func(&mut self, n: usize) {
        let ty = self.choices.pick(&TYPES);
        let value = self.expr(ty, None, 3);
        let func = self.b.func(&format!("f{n}"), &["x", "y"], value);
        if self.choices.below(3) == 0 {
            self.update(func, ty);
        }
        self.funcs.push(func);
    }

    /// `f(x, y)`, `f(r, y)` or `f(index, y)` becomes something of itself and of a new value.
    fn update(&mut self, func: Func, ty: ElementType) {
        let bounds = (self.choices.below(4) as i32 - 2, self.choices.below(4) as i32);
        let r = self.b.rdom("r", &[bounds]);
        let (x, y) = (self.b.dim(0), self.b.dim(1));
        let place = match self.choices.below(3) {
            0 => x,
            1 => self.b.rvar(r, 0),
            // The left side has no loop over `x` then, so the index has none either.
            _ => {
                let rvar = self.b.rvar(r, 0);
                let at = self.b.add(rvar, y);
                let input = self.inputs[0];
                let read = self.b.load(input, &[at, y]);
                let index = self.convert(ElementType::I32, read);
                self.b.clamp(index, -2, 5)
            }
        };
        let pure = self.b.pipeline.exprs[place].kind == ExprKind::Dim(0);
        if self.choices.below(3) == 0 {
            let two = self.b.int(2);
            let rvar = self.b.rvar(r, 0);
            let condition = self.b.compare(CompareOp::Lt, rvar, two);
            self.b.pipeline.rdoms[r].predicates.push(condition);
            if pure {
                let condition = self.condition(Some(r), 1);
                self.b.pipeline.rdoms[r].predicates.push(condition);
            }
        }
        let old = self.b.call(func, &[place, y]);
        let value = if pure {
            self.expr(ty, Some(r), 2)
        } else {
            let rvar = self.b.rvar(r, 0);
            self.convert(ty, rvar)
        };
        let op = self.choices.pick(&[BinaryOp::Add, BinaryOp::Max, BinaryOp::Sub]);
        let new = self.b.binary(op, old, value);
        self.b.update(func, &[place, y], &[new], Some(r));
    }
}

fn generate(list: Vec<u16>) -> Build {
    let mut g = Generator {
        b: Build::new(),
        choices: Choices { list, at: 0 },
        inputs: Vec::new(),
        funcs: Vec::new(),
    };
    for (name, ty) in [("a", ElementType::U8), ("b", ElementType::F32)] {
        let input = g.b.typed_input(name, ty, 2);
        g.b.pipeline.inputs[input].repeat_edge = true;
        g.inputs.push(input);
    }
    let count = 1 + g.choices.below(4);
    for n in 0..count {
        g.func(n);
    }
    g.b.pipeline.outputs.push(g.funcs[count - 1]);
    g.b
}

/// What a Func without updates is at a point, by plain recursion.
struct Plain<'a> {
    p: &'a Pipeline,
    inputs: &'a SecondaryMap<Input, Image>,
    known: BTreeMap<(Func, Vec<i32>), u32>,
}

impl Plain<'_> {
    fn at(&mut self, func: Func, point: &[i32]) -> u32 {
        if let Some(&word) = self.known.get(&(func, point.to_vec())) {
            return word;
        }
        let p = self.p;
        let value = p.funcs[func].pure.as_ref().unwrap().values[0];
        let mut words: BTreeMap<Expr, u32> = BTreeMap::new();
        for e in Walker::once(p, [value]) {
            let data = &p.exprs[e];
            let of = |e: &Expr| words[e];
            let word = match &data.kind {
                ExprKind::Literal(literal) => scalar::literal_word(data.ty, *literal),
                ExprKind::Dim(n) => point[*n as usize] as u32,
                ExprKind::Load(input, args) => {
                    let image = &self.inputs[*input];
                    let at: Vec<i32> = args
                        .iter()
                        .zip(&image.extent)
                        .map(|(a, &extent)| (of(a) as i32).clamp(0, extent as i32 - 1))
                        .collect();
                    image.get(&at).unwrap()
                }
                ExprKind::Call(callee, _, args) => {
                    let at: Vec<i32> = args.iter().map(|a| of(a) as i32).collect();
                    self.at(*callee, &at)
                }
                ExprKind::Unary(op, a) => scalar::unary(*op, data.ty, p.ty(*a), of(a)),
                ExprKind::Binary(op, a, b) => scalar::binary(*op, data.ty, p.ty(*b), of(a), of(b)),
                ExprKind::Compare(op, a, b) => scalar::compare(*op, p.ty(*a), of(a), of(b)).into(),
                ExprKind::Select(c, a, b) => {
                    if of(c) != 0 {
                        of(a)
                    } else {
                        of(b)
                    }
                }
                ExprKind::Cast(a) => scalar::cast(data.ty, p.ty(*a), of(a)),
                kind => panic!("{kind:?} was not generated"),
            };
            words.insert(e, word);
        }
        self.known.insert((func, point.to_vec()), words[&value]);
        words[&value]
    }
}

/// Equal, where floats that are no numbers are all one.
fn same(a: &Image, b: &Image) -> bool {
    a.ty == b.ty
        && a.data.len() == b.data.len()
        && a.data.iter().zip(&b.data).all(|(&x, &y)| {
            x == y || (a.ty.is_float() && f32::from_bits(x).is_nan() && f32::from_bits(y).is_nan())
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn bounds_hold_and_rewriting_changes_nothing(
        list in prop::collection::vec(any::<u16>(), 20..200)
    ) {
        let b = generate(list);
        let p = &b.pipeline;
        if let Err(errors) = verify(p) {
            panic!("{}", errors[0]);
        }
        let mut inputs: SecondaryMap<Input, Image> = SecondaryMap::new();
        let mut extents = Extents::default();
        for (input, data) in &p.inputs {
            let mut image = Image::zeros(data.ty, &[7, 5]);
            for (i, word) in image.data.iter_mut().enumerate() {
                let mixed = (i as u32).wrapping_mul(0x9e37_79b9) >> 24;
                *word = if data.ty.is_float() { (mixed as f32 / 16.0).to_bits() } else { mixed };
            }
            extents.inputs[input] = image.extent.clone();
            inputs[input] = image;
        }
        let output: Region = vec![Interval::new(-1, 6), Interval::new(0, 3)];
        extents.outputs.push(output.clone());
        let params = default_params(p);
        let Ok(bounds) = infer(p, &extents, &params) else { return Ok(()) };
        let total: u64 = bounds.needed(p).map(|(_, computed)| points(&computed.region)).sum();
        prop_assume!(total < 30_000);

        let images = match run(p, &inputs, &params, std::slice::from_ref(&output)) {
            Ok(images) => images,
            Err(trap) => panic!("{trap}"),
        };
        let special = specialize(p, &extents.inputs, &params);
        prop_assert!(verify(&special).is_ok());
        let again = run(&special, &inputs, &params, std::slice::from_ref(&output)).unwrap();
        prop_assert!(same(&images[0], &again[0]), "specialising changed the result");
        let inlined = inline(p).unwrap();
        prop_assert!(verify(&inlined).is_ok());
        let again = run(&inlined, &inputs, &params, std::slice::from_ref(&output)).unwrap();
        prop_assert!(same(&images[0], &again[0]), "inlining changed the result");

        if p.funcs.values().all(|f| f.updates.is_empty()) {
            let mut plain = Plain { p, inputs: &inputs, known: BTreeMap::new() };
            let mut expected = Image::over(images[0].ty, &output);
            let (width, out) = (output[0].extent() as usize, Func::new(p.funcs.len() - 1));
            for (i, word) in expected.data.iter_mut().enumerate() {
                let point = [output[0].min + (i % width) as i32, output[1].min + (i / width) as i32];
                *word = plain.at(out, &point);
            }
            prop_assert!(same(&images[0], &expected), "an element differs");
        }
    }
}
