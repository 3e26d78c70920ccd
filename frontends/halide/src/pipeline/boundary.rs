//! `BoundaryConditions`: Funcs that read an image at coordinates brought into its extent. The
//! values are those of Halide's functions of the same names; coordinates are computed with as few
//! operations as intervals of bounds inference can follow.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType, Input};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{FuncId, Node, NodeKind};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Symbol;
use crate::value::Value;

/// The names of the functions.
pub(crate) const BOUNDARIES: [&str; 5] =
    ["repeat_edge", "constant_exterior", "repeat_image", "mirror_image", "mirror_interior"];

const I32: ElementType = ElementType::I32;

impl Elab<'_> {
    /// The Func that stands for an input where a Func is needed.
    pub(crate) fn input_func(&mut self, input: Input, span: Span) -> FuncId {
        if let Some(&func) = self.input_funcs.get(&input) {
            return func;
        }
        let data = &self.hir.inputs[input];
        let (name, dims, ty) = (format!("{}_im", data.name), data.dims, data.ty);
        let func = self.new_func(&name, span);
        self.hir.funcs[func].anonymous = true;
        let vars: Vec<Symbol> = (0..dims as usize).map(|k| self.implicit_var(k)).collect();
        let coordinates: Vec<Node> =
            vars.iter().map(|&v| self.hir.push(NodeKind::Var(v), I32, span)).collect();
        let load = self.hir.push(NodeKind::Load(input, coordinates.into()), ty, span);
        let recorded = self.record_pure(func, vars, vec![load], span);
        debug_assert!(recorded.is_ok(), "a Func without a declared type takes any definition");
        self.input_funcs.insert(input, func);
        func
    }

    /// `BoundaryConditions::name(source, ...)`.
    pub(crate) fn boundary(
        &mut self,
        name: &str,
        at: Span,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let fixed = if name == "constant_exterior" { 2 } else { 1 };
        let flat = self.flat_bounds(args, fixed);
        let args = flat.as_deref().unwrap_or(args);
        if args.len() < fixed || args.len() > fixed + 1 {
            let usage = if fixed == 2 { "f, value" } else { "f" };
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("wrong number of arguments for `{name}`"),
                )
                .at(span, format!("{} given", crate::elab::stmt::count(args.len(), "argument")))
                .help(format!(
                    "write `{name}({usage})` or `{name}({usage}, {{{{0, w}}, {{0, h}}}})`"
                )),
            );
        }
        let source = &args[0];
        let (vars, types): (Vec<Symbol>, Vec<ElementType>) = match source.0 {
            Value::Input(input) => {
                let dims = self.hir.inputs[input].dims as usize;
                let ty = self.hir.inputs[input].ty;
                ((0..dims).map(|k| self.implicit_var(k)).collect(), vec![ty])
            }
            Value::Func(func) => {
                if self.hir.funcs[func].poisoned {
                    return Err(nbcc_base::Failed);
                }
                if self.hir.funcs[func].pure.is_none() {
                    let name = self.hir.funcs[func].name.clone();
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNDEFINED_FUNC,
                            format!("`{name}` is used before it is defined"),
                        )
                        .at(source.1, "has no definition yet")
                        .help(crate::helps::define_first(&name)),
                    );
                }
                (self.hir.funcs[func].vars.clone(), self.hir.funcs[func].types.clone())
            }
            ref other => {
                let what = other.what();
                return self.fail(
                    Diagnostic::error(
                        &codes::ARGUMENT_TYPE,
                        format!("`{name}` needs an image or a Func"),
                    )
                    .at(source.1, format!("this is {what}"))
                    .help(format!("write `{name}(in)`, with an input or a Func")),
                );
            }
        };
        let bounds = self.boundary_bounds(name, source, args.get(fixed), vars.len(), at)?;
        let func = self.new_func(name, span);
        self.hir.funcs[func].anonymous = true;
        let mut outside: Option<Node> = None;
        let mut coordinates = Vec::new();
        for (dim, &var) in vars.iter().enumerate() {
            let x = self.hir.push(NodeKind::Var(var), I32, span);
            let Some(Some((min, extent))) = bounds.get(dim).copied() else {
                coordinates.push(x);
                continue;
            };
            if name == "constant_exterior" {
                let end = self.sum(min, extent, span);
                let below = self.compare(CompareOp::Lt, x, min, span);
                let above = self.compare(CompareOp::Ge, x, end, span);
                let out = self.op(BinaryOp::Or, below, above, span);
                outside = Some(match outside {
                    None => out,
                    Some(other) => self.op(BinaryOp::Or, other, out, span),
                });
            }
            coordinates.push(self.inside(name, x, min, extent, span));
        }
        let coordinates: Box<[Node]> = coordinates.into();
        let mut values = Vec::new();
        for (k, &ty) in types.iter().enumerate() {
            let kind = match source.0 {
                Value::Input(input) => NodeKind::Load(input, coordinates.clone()),
                Value::Func(f) => NodeKind::Call(f, k as u32, coordinates.clone()),
                _ => unreachable!("the source was checked"),
            };
            values.push(self.hir.push(kind, ty, span));
        }
        if let Some(outside) = outside {
            let constants: Vec<Spanned> = match &args[1].0 {
                Value::Tuple(nodes) => nodes.iter().map(|&n| (Value::Expr(n), args[1].1)).collect(),
                Value::List(list) => list.to_vec(),
                _ => vec![args[1].clone()],
            };
            if constants.len() != values.len() {
                return self.fail(
                    Diagnostic::error(
                        &codes::VALUE_COUNT,
                        "one value is needed for each value of the Func",
                    )
                    .at(args[1].1, format!("{} for {}", constants.len(), values.len()))
                    .help("write them as a list: `{0, 1}`"),
                );
            }
            for (value, constant) in values.iter_mut().zip(&constants) {
                let node = self.expr_of(&constant.0, constant.1)?;
                self.same_for_all_pixels(node, constant.1, "the value outside", true)?;
                *value = self.select_values(
                    outside,
                    constant,
                    &(Value::Expr(*value), source.1),
                    name,
                    span,
                )?;
            }
        }
        if let Value::Func(f) = source.0 {
            self.hir.funcs[f].frozen.get_or_insert(span);
        }
        self.record_pure(func, vars, values, span)?;
        Ok(Value::Func(func))
    }

    /// The arguments with one list of bounds, where minima and extents follow each other without
    /// brackets.
    fn flat_bounds(&self, args: &[Spanned], fixed: usize) -> Option<Vec<Spanned>> {
        let bounds = args.get(fixed..)?;
        let plain = |(value, _): &Spanned| !matches!(value, Value::List(_));
        if bounds.is_empty() || bounds.len() % 2 != 0 || !bounds.iter().all(plain) {
            return None;
        }
        let pair = |p: &[Spanned]| (Value::List(p.into()), p[0].1.to(p[1].1));
        let pairs: Vec<Spanned> = bounds.chunks(2).map(pair).collect();
        let span = bounds[0].1.to(bounds[bounds.len() - 1].1);
        let list = (Value::List(pairs.into()), span);
        Some(args[..fixed].iter().cloned().chain([list]).collect())
    }

    /// Minimum and extent of each dimension; `None` where it is unbounded.
    fn boundary_bounds(
        &mut self,
        name: &str,
        source: &Spanned,
        list: Option<&Spanned>,
        dims: usize,
        at: Span,
    ) -> Result<Vec<Option<(Node, Node)>>> {
        let Some(list) = list else {
            let Value::Input(input) = source.0 else {
                return self.fail(
                    Diagnostic::error(
                        &codes::BOUNDS_LIST,
                        format!("`{name}` of a Func needs its bounds"),
                    )
                    .at(at, "a Func has no extent of its own")
                    .help(format!("write `{name}(f, {{{{0, w}}, {{0, h}}}})`")),
                );
            };
            return Ok((0..dims as u32)
                .map(|dim| {
                    let min = self.hir.int(0, I32, source.1);
                    let extent = self.hir.push(NodeKind::InputExtent(input, dim), I32, source.1);
                    Some((min, extent))
                })
                .collect());
        };
        let mut bounds = Vec::new();
        for (min, extent) in self.bounds_list(list, dims)? {
            bounds.push(match (&min.0, &extent.0) {
                (Value::NoExpr, Value::NoExpr) => None,
                _ => {
                    Some((self.bound_expr(&min, "a bound")?, self.bound_expr(&extent, "a bound")?))
                }
            });
        }
        Ok(bounds)
    }

    fn sum(&mut self, a: Node, b: Node, span: Span) -> Node {
        match (self.hir.constant(a), self.hir.constant(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.op(BinaryOp::Add, a, b, span),
        }
    }

    fn difference(&mut self, a: Node, b: Node, span: Span) -> Node {
        if self.hir.constant(b) == Some(0) { a } else { self.op(BinaryOp::Sub, a, b, span) }
    }

    /// The coordinate at which the image is read for `x`.
    fn inside(&mut self, name: &str, x: Node, min: Node, extent: Node, span: Span) -> Node {
        let one = self.hir.int(1, I32, span);
        let two = self.hir.int(2, I32, span);
        let last = self.op(BinaryOp::Sub, extent, one, span);
        let offset = self.difference(x, min, span);
        let from_zero = match name {
            "repeat_image" => self.op(BinaryOp::Mod, offset, extent, span),
            "mirror_image" => {
                // Of period twice the extent; the second half counts down.
                let period = self.op(BinaryOp::Mul, two, extent, span);
                let phase = self.op(BinaryOp::Mod, offset, period, span);
                let top = self.op(BinaryOp::Sub, period, one, span);
                let mirrored = self.op(BinaryOp::Sub, top, phase, span);
                let folded = self.op(BinaryOp::Min, phase, mirrored, span);
                self.op(BinaryOp::Min, folded, last, span)
            }
            "mirror_interior" => {
                // The edges are not repeated, so the period is two elements shorter.
                let period = self.op(BinaryOp::Mul, two, last, span);
                let phase = self.op(BinaryOp::Mod, offset, period, span);
                let mirrored = self.op(BinaryOp::Sub, period, phase, span);
                let folded = self.op(BinaryOp::Min, phase, mirrored, span);
                self.op(BinaryOp::Min, folded, last, span)
            }
            _ => {
                let end = self.sum(min, last, span);
                let low = self.op(BinaryOp::Min, x, end, span);
                return self.op(BinaryOp::Max, low, min, span);
            }
        };
        self.sum(from_zero, min, span)
    }
}
