//! The contract of the stage graph, checked.
//!
//! - Operands precede their users in the arena; entities exist.
//! - Types: the operands of an operation and of a comparison have one type (of a shift, one
//!   width), the operation's value has it too; conditions are Bool; coordinates are `I32`;
//!   functions are of floats; literals lie in the range of their type.
//! - A load has as many coordinates as its input has dimensions and the input's type; a call has
//!   as many as the Func has Vars and the type of the value it names.
//! - A Func calls only Funcs before it, and itself in updates. There it names every dimension that
//!   is pure in that update at its own position, unchanged.
//! - A pure definition uses dimensions of its own Func and no reduction variables. An update uses
//!   the dimensions that its left side names at their own positions, and the variables of its own
//!   reduction domain.
//! - A reduction domain has one to four dimensions, whose bounds read nothing.
//! - Each Func has at least one value, each definition one for each of the Func's types, and each
//!   update a coordinate for each Var.

use cranelift_entity::EntityRef;
use nbcc_base::Span;

use crate::scalar::intrinsic_arity;
use crate::{
    BinaryOp, ElementType, Expr, ExprKind, Func, Literal, Pipeline, RDom, UnaryOp, Walker,
};

/// A violation of the contract: a fault of the compiler, not of the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct VerifyError {
    /// What is wrong, with the entities concerned.
    pub message: String,
    /// The source it came from.
    pub span: Span,
}

/// No more errors than this are collected.
const MAX_ERRORS: usize = 20;

/// Checks a pipeline against the contract in this module's header.
pub fn verify(pipeline: &Pipeline) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { pipeline, errors: Vec::new(), walker: Walker::default() };
    verifier.exprs();
    if verifier.errors.is_empty() {
        verifier.rdoms();
        for func in pipeline.funcs.keys() {
            verifier.func(func);
        }
        for &output in &pipeline.outputs {
            if !pipeline.funcs.is_valid(output) {
                verifier.report(Span::default(), format!("output {output:?} does not exist"));
            }
        }
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    pipeline: &'a Pipeline,
    errors: Vec<VerifyError>,
    walker: Walker,
}

impl Verifier<'_> {
    fn report(&mut self, span: Span, message: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(VerifyError { message, span });
        }
    }

    fn exprs(&mut self) {
        let p = self.pipeline;
        for (expr, data) in &p.exprs {
            let mut ordered = true;
            data.kind.each_operand(|operand| ordered &= operand < expr);
            if !ordered {
                self.report(data.span, format!("{expr:?} comes before one of its operands"));
                continue;
            }
            if let Err(what) = well_typed(p, expr) {
                self.report(data.span, format!("{expr:?} ({:?}): {what}", data.kind));
            }
        }
    }

    fn rdoms(&mut self) {
        let p = self.pipeline;
        for (rdom, data) in &p.rdoms {
            if data.dims.is_empty() || data.dims.len() > 4 {
                self.report(data.span, format!("{rdom:?} has {} dimensions", data.dims.len()));
            }
            let bounds: Vec<Expr> = data.dims.iter().flat_map(|&(min, n)| [min, n]).collect();
            if bounds.iter().any(|&e| p.ty(e) != ElementType::I32) {
                self.report(data.span, format!("{rdom:?} has a bound that is not int32"));
            }
            for expr in self.walker.reachable(p, bounds) {
                if matches!(
                    p.exprs[expr].kind,
                    ExprKind::Load(..) | ExprKind::Call(..) | ExprKind::Dim(_) | ExprKind::RVar(..)
                ) {
                    self.report(data.span, format!("{rdom:?} has a bound that reads {expr:?}"));
                }
            }
            if data.predicates.iter().any(|&e| p.ty(e) != ElementType::Bool) {
                self.report(data.span, format!("{rdom:?} has a condition that is not bool"));
            }
        }
    }

    fn func(&mut self, func: Func) {
        let p = self.pipeline;
        let data = &p.funcs[func];
        if data.types.is_empty() {
            self.report(data.span, format!("{func:?} has no value"));
        }
        if data.pure.is_none() && data.updates.is_empty() {
            self.report(data.span, format!("{func:?} has no definition"));
        }
        if let Some(pure) = &data.pure {
            self.values(func, &pure.values, pure.span);
            let all: Vec<bool> = vec![true; data.vars.len()];
            self.uses(func, &pure.values, &all, None, false);
        }
        for update in &data.updates {
            self.values(func, &update.values, update.span);
            if update.args.len() != data.vars.len() {
                let count = update.args.len();
                self.report(update.span, format!("{func:?} is updated at {count} coordinates"));
                continue;
            }
            if update.args.iter().any(|&a| p.ty(a) != ElementType::I32) {
                self.report(update.span, format!("{func:?} is updated at a coordinate not int32"));
            }
            let pure: Vec<bool> = (0..data.vars.len()).map(|d| update.is_pure_dim(p, d)).collect();
            let roots: Vec<Expr> = update.roots(p).collect();
            self.uses(func, &roots, &pure, update.rdom, true);
        }
    }

    fn values(&mut self, func: Func, values: &[Expr], span: Span) {
        let types: Vec<ElementType> = values.iter().map(|&v| self.pipeline.ty(v)).collect();
        if types != self.pipeline.funcs[func].types {
            self.report(span, format!("{func:?} is defined with values of types {types:?}"));
        }
    }

    /// What the expressions of a stage may use: the dimensions in `pure`, the variables of `rdom`.
    fn uses(
        &mut self,
        func: Func,
        roots: &[Expr],
        pure: &[bool],
        rdom: Option<RDom>,
        update: bool,
    ) {
        let p = self.pipeline;
        for expr in self.walker.reachable(p, roots.iter().copied()) {
            let data = &p.exprs[expr];
            let fault = match &data.kind {
                ExprKind::Dim(n) if pure.get(*n as usize) != Some(&true) => {
                    Some(format!("dimension {n}, which is no loop there"))
                }
                ExprKind::RVar(r, n)
                    if rdom != Some(*r) || *n as usize >= p.rdoms[*r].dims.len() =>
                {
                    Some(format!("variable {n} of {r:?}"))
                }
                ExprKind::Call(callee, ..) if *callee > func => Some(format!("{callee:?}, later")),
                ExprKind::Call(callee, ..) if *callee == func && !update => {
                    Some("itself".to_string())
                }
                ExprKind::Call(callee, _, args) if *callee == func => (0..args.len())
                    .find(|&d| pure[d] && p.exprs[args[d]].kind != ExprKind::Dim(d as u32))
                    .map(|d| format!("itself elsewhere along its pure dimension {d}")),
                _ => None,
            };
            if let Some(fault) = fault {
                self.report(data.span, format!("{func:?} uses {fault} ({expr:?})"));
            }
        }
    }
}

fn well_typed(p: &Pipeline, expr: Expr) -> Result<(), String> {
    let data = &p.exprs[expr];
    let ty = data.ty;
    let of = |e: Expr| p.exprs[e].ty;
    let want = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_string()) };
    let same = |a: ElementType, b: ElementType| want(a == b, "types differ");
    let i32_args = |args: &[Expr]| {
        want(args.iter().all(|&a| of(a) == ElementType::I32), "a coordinate is not int32")
    };
    match &data.kind {
        ExprKind::Literal(Literal::Float(_)) => want(ty.is_float(), "a float literal of no float"),
        ExprKind::Literal(Literal::Int(value)) => {
            want(!ty.is_float() && ty.wrap(*value) == *value, "a literal out of range")
        }
        ExprKind::Dim(_) => same(ty, ElementType::I32),
        ExprKind::RVar(rdom, _) => {
            want(p.rdoms.is_valid(*rdom), "no such reduction domain")?;
            same(ty, ElementType::I32)
        }
        ExprKind::Param(param) => {
            want(p.params.is_valid(*param), "no such parameter")?;
            same(ty, p.params[*param].ty)
        }
        ExprKind::InputExtent(input, d) => {
            want(p.inputs.is_valid(*input) && *d < p.inputs[*input].dims, "no such dimension")?;
            same(ty, ElementType::I32)
        }
        ExprKind::Load(input, args) => {
            want(p.inputs.is_valid(*input), "no such input")?;
            want(args.len() == p.inputs[*input].dims as usize, "wrong number of coordinates")?;
            i32_args(args)?;
            same(ty, p.inputs[*input].ty)
        }
        ExprKind::Call(func, k, args) => {
            want(func.index() < p.funcs.len(), "no such func")?;
            let callee = &p.funcs[*func];
            want(args.len() == callee.vars.len(), "wrong number of coordinates")?;
            i32_args(args)?;
            want(callee.types.get(*k as usize) == Some(&ty), "not the type of that value")
        }
        ExprKind::Unary(op, a) => match op {
            UnaryOp::Not => want(ty == ElementType::Bool && of(*a) == ty, "not of a bool"),
            UnaryOp::Abs => want(
                of(*a).bits() == ty.bits()
                    && !(ty.is_signed())
                    && of(*a).is_float() == ty.is_float(),
                "abs of the wrong type",
            ),
            UnaryOp::Neg => same(ty, of(*a)),
            UnaryOp::BitNot => want(ty == of(*a) && !ty.is_float(), "bits of a float"),
        },
        ExprKind::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr), a, b) => {
            want(!ty.is_float() && !of(*b).is_float(), &format!("{op:?} of floats"))?;
            want(of(*b).bits() == ty.bits(), "widths differ")?;
            same(ty, of(*a))
        }
        ExprKind::Binary(op, a, b) => {
            let bits = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
            want(!(bits && ty.is_float()), "bits of floats")?;
            same(of(*a), of(*b))?;
            same(ty, of(*a))
        }
        ExprKind::Compare(_, a, b) => {
            same(of(*a), of(*b))?;
            same(ty, ElementType::Bool)
        }
        ExprKind::Select(c, a, b) => {
            same(of(*c), ElementType::Bool)?;
            same(of(*a), of(*b))?;
            same(ty, of(*a))
        }
        ExprKind::Cast(_) => Ok(()),
        ExprKind::Reinterpret(a) => want(of(*a).bits() == ty.bits(), "widths differ"),
        ExprKind::Intrinsic(op, args) => {
            want(args.len() == intrinsic_arity(*op), "wrong number of operands")?;
            want(ty.is_float() && args.iter().all(|&a| of(a).is_float()), "not of floats")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Build;

    fn messages(b: &Build) -> Vec<String> {
        verify(&b.pipeline).err().into_iter().flatten().map(|e| e.message).collect()
    }

    #[test]
    fn a_shifted_self_read_along_a_pure_dimension_is_refused() {
        let mut b = Build::new();
        let (x, one) = (b.dim(0), b.int(1));
        let f = b.func("f", &["x"], one);
        let next = b.add(x, one);
        let read = b.call(f, &[next]);
        b.update(f, &[x], &[read], None);
        assert_eq!(messages(&b), ["func0 uses itself elsewhere along its pure dimension 0 (e3)"]);
    }

    #[test]
    fn types_and_scopes_are_checked() {
        let mut b = Build::new();
        let (x, half) = (b.dim(0), b.float(0.5));
        b.add(x, half);
        assert_eq!(messages(&b), ["e2 (Binary(Add, e0, e1)): types differ"]);

        let mut b = Build::new();
        let y = b.dim(1);
        b.func("f", &["x"], y);
        assert_eq!(messages(&b), ["func0 uses dimension 1, which is no loop there (e0)"]);

        let mut b = Build::new();
        let r = b.rdom("r", &[(0, 4)]);
        let rx = b.rvar(r, 0);
        b.func("f", &["x"], rx);
        assert_eq!(messages(&b), ["func0 uses variable 0 of rdom0 (e2)"]);
    }

    /// A pipeline with something of every kind; its numbers are those that the damages below name.
    fn whole() -> Pipeline {
        let mut b = Build::new();
        let input = b.input("in", 2);
        let r = b.rdom("r", &[(0, 4)]);
        let (x, y, rx) = (b.dim(0), b.dim(1), b.rvar(r, 0));
        let pixel = b.load(input, &[x, y]);
        let f = b.func("f", &["x", "y"], pixel);
        let count = b.cast(ElementType::I32, pixel);
        let pair = b.tuple("g", &["x", "y"], &[pixel, count]);
        let (first, second) = (b.call_value(pair, 0, &[x, rx]), b.call_value(pair, 1, &[x, rx]));
        b.update(pair, &[x, rx], &[first, second], Some(r));
        let read = b.call(f, &[x, y]);
        let out = b.func("out", &["x", "y"], read);
        b.pipeline.outputs = vec![out];
        b.pipeline
    }

    #[test]
    fn every_damage_is_found() {
        assert_eq!(verify(&whole()), Ok(()));
        type Damage = fn(&mut Pipeline);
        fn expr(p: &Pipeline, wanted: impl Fn(&ExprKind) -> bool) -> Expr {
            let found = p.exprs.iter().find(|(_, data)| wanted(&data.kind));
            found.map(|(expr, _)| expr).expect("the pipeline has one")
        }
        fn func(p: &Pipeline, name: &str) -> Func {
            let found = p.funcs.iter().find(|(_, data)| data.name == name);
            found.map(|(func, _)| func).expect("the pipeline has one")
        }
        fn load(p: &mut Pipeline) -> &mut crate::ExprData {
            let load = expr(p, |kind| matches!(kind, ExprKind::Load(..)));
            &mut p.exprs[load]
        }
        fn call<'a>(p: &'a mut Pipeline, name: &str) -> &'a mut crate::ExprData {
            let callee = func(p, name);
            let call = expr(p, |kind| matches!(kind, ExprKind::Call(func, ..) if *func == callee));
            &mut p.exprs[call]
        }
        let damages: &[(Damage, &str)] = &[
            (|p| load(p).kind = ExprKind::Unary(UnaryOp::Neg, Expr::new(99)), "before one of its"),
            (|p| load(p).ty = ElementType::U8, "types differ"),
            (
                |p| {
                    let ExprKind::Load(_, args) = &mut load(p).kind else { unreachable!() };
                    args.pop();
                },
                "wrong number of coordinates",
            ),
            (
                |p| {
                    let ExprKind::Load(input, _) = &mut load(p).kind else { unreachable!() };
                    *input = crate::Input::new(7);
                },
                "no such input",
            ),
            (|p| call(p, "f").ty = ElementType::I32, "not the type of that value"),
            (
                |p| {
                    let ExprKind::Call(_, value, _) = &mut call(p, "f").kind else {
                        unreachable!()
                    };
                    *value = 1;
                },
                "not the type of that value",
            ),
            (
                |p| {
                    let later = func(p, "out");
                    let ExprKind::Call(func, ..) = &mut call(p, "f").kind else { unreachable!() };
                    *func = later;
                },
                "func2 uses itself",
            ),
            (
                |p| {
                    let later = func(p, "out");
                    let ExprKind::Call(func, ..) = &mut call(p, "g").kind else { unreachable!() };
                    *func = later;
                },
                "func1 uses func2, later",
            ),
            (|p| p.rdoms[RDom::new(0)].dims.clear(), "rdom0 has 0 dimensions"),
            (
                |p| {
                    let pixel = expr(p, |kind| matches!(kind, ExprKind::Load(..)));
                    p.rdoms[RDom::new(0)].dims[0].1 = pixel;
                },
                "rdom0 has a bound that is not int32",
            ),
            (
                |p| {
                    let x = expr(p, |kind| matches!(kind, ExprKind::Dim(0)));
                    p.rdoms[RDom::new(0)].dims[0].1 = x;
                },
                "rdom0 has a bound that reads",
            ),
            (
                |p| {
                    let x = expr(p, |kind| matches!(kind, ExprKind::Dim(0)));
                    p.rdoms[RDom::new(0)].predicates.push(x);
                },
                "rdom0 has a condition that is not bool",
            ),
            (|p| p.funcs[Func::new(0)].pure = None, "func0 has no definition"),
            (|p| p.funcs[Func::new(0)].types.clear(), "not the type of that value"),
            (|p| p.funcs[Func::new(2)].types[0] = ElementType::U8, "func2 is defined with values"),
            (
                |p| _ = p.funcs[Func::new(1)].updates[0].values.pop(),
                "func1 is defined with values of types",
            ),
            (
                |p| _ = p.funcs[Func::new(1)].updates[0].args.pop(),
                "func1 is updated at 1 coordinates",
            ),
            (
                |p| {
                    let pixel = expr(p, |kind| matches!(kind, ExprKind::Load(..)));
                    p.funcs[Func::new(1)].updates[0].args[1] = pixel;
                },
                "func1 is updated at a coordinate not int32",
            ),
            (|p| p.funcs[Func::new(1)].updates[0].rdom = None, "func1 uses variable 0 of rdom0"),
            (|p| p.outputs[0] = Func::new(5), "output func5 does not exist"),
        ];
        for (damage, wanted) in damages {
            let mut pipeline = whole();
            damage(&mut pipeline);
            let errors = verify(&pipeline).err().unwrap_or_default();
            let said: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            assert!(said.iter().any(|said| said.contains(wanted)), "{wanted}: {said:?}");
        }
    }
}
