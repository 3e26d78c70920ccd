//! Reduction domains, and what bounds may depend on.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::ElementType;

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{NodeKind, RDomInfo};
use crate::pipeline::ops::Spanned;
use crate::value::Value;

impl Elab<'_> {
    pub(crate) fn rdom(
        &mut self,
        name: String,
        args: &[Spanned],
        span: Span,
        whole: Span,
    ) -> Result<Value> {
        let mut bounds: Vec<(Spanned, Spanned)> = Vec::new();
        match args {
            [(Value::Input(input), at)] => {
                for dim in 0..self.hir.inputs[*input].dims {
                    let extent = NodeKind::InputExtent(*input, dim);
                    let extent = self.hir.push(extent, ElementType::I32, *at);
                    bounds.push(((Value::Int(0), *at), (Value::Expr(extent), *at)));
                }
            }
            [(Value::List(list), at)] => {
                for (item, item_span) in list.iter() {
                    match item {
                        Value::List(pair) if pair.len() == 2 => {
                            bounds.push((pair[0].clone(), pair[1].clone()));
                        }
                        _ => return self.fail(rdom_shape(*item_span)),
                    }
                }
                if list.is_empty() {
                    return self.fail(rdom_shape(*at));
                }
            }
            [] => return self.fail(rdom_shape(whole)),
            list if list.len() % 2 == 0 => {
                for pair in list.chunks(2) {
                    bounds.push((pair[0].clone(), pair[1].clone()));
                }
            }
            _ => return self.fail(rdom_shape(whole)),
        }
        if bounds.len() > 4 {
            let at = bounds[4].0.1.to(bounds[bounds.len() - 1].1.1);
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("an RDom cannot have {} dimensions", bounds.len()),
                )
                .at(at, "at most 4 are supported")
                .help(
                    "join two of them: of `RDom r(0, 12);`, `r.x % 3` and `r.x / 3` run over \
                     3 by 4",
                ),
            );
        }
        let mut dims = Vec::new();
        for (min, extent) in &bounds {
            // As in Halide, bounds of an RDom are converted.
            let as_int = |e: &mut Self, bound: &Spanned| {
                let node = e.expr_of(&bound.0, bound.1)?;
                Ok((Value::Expr(e.cast(ElementType::I32, node, bound.1)), bound.1))
            };
            let (min, extent) = (&as_int(self, min)?, &as_int(self, extent)?);
            let min_node = self.bound_expr(min, "the minimum of an RDom")?;
            let extent_node = self.bound_expr(extent, "the extent of an RDom")?;
            if let Some(n) = self.hir.constant(extent_node)
                && n < 0
            {
                return self.fail(
                    Diagnostic::error(&codes::NEGATIVE_EXTENT, "an RDom with a negative extent")
                        .at(extent.1, format!("this is {n}"))
                        .help("an RDom takes pairs of minimum and extent, not of first and last"),
                );
            }
            dims.push((min_node, extent_node));
        }
        let info = RDomInfo { name, dims, predicates: Vec::new(), span, used: None };
        Ok(Value::RDom(self.hir.rdoms.push(info)))
    }

    /// A bound of an RDom or a dimension: an int that depends on no pixel.
    pub(crate) fn bound_expr(
        &mut self,
        value: &Spanned,
        what: &str,
    ) -> Result<crate::pipeline::hir::Node> {
        let node = self.expr_of(&value.0, value.1)?;
        let node = self.coordinate(node, "a bound")?;
        self.same_for_all_pixels(node, value.1, what, false)?;
        Ok(node)
    }

    /// Fails for an expression that depends on a coordinate, or, unless it `may_load`, on an element.
    pub(crate) fn same_for_all_pixels(
        &mut self,
        node: crate::pipeline::hir::Node,
        at: Span,
        what: &str,
        may_load: bool,
    ) -> Result<()> {
        self.walk(&[node], at, |e, n| {
            let found = match &e.hir.nodes[n].kind {
                NodeKind::Var(_) => "a Var",
                NodeKind::RVar(..) => "a reduction variable",
                NodeKind::Load(..) if !may_load => "an element of an input",
                NodeKind::Call(..) if !may_load => "an element of a Func",
                _ => return Ok(()),
            };
            let at = e.hir.nodes[n].span;
            e.fail(
                Diagnostic::error(
                    &codes::BOUND_DEPENDS,
                    format!("{what} must not depend on {found}"),
                )
                .at(at, format!("this is {found}"))
                .help("it may depend on constants, parameters and the extents of inputs"),
            )
        })
    }
}

fn rdom_shape(span: Span) -> Diagnostic {
    Diagnostic::error(
        &codes::DECLARATION,
        "an RDom takes a minimum and an extent for each dimension",
    )
    .at(span, "not such pairs")
    .help("write `RDom r(0, 3, 0, 3);`")
}
