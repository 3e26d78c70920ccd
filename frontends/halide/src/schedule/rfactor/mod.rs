//! `rfactor`: an associative update becomes an intermediate Func of partial results and an update
//! that combines them, as Halide's `Stage::rfactor` does it. The stage graph then holds two
//! ordinary Funcs, so everything after this sees the order of operations that was asked for.
//!
//! For `f(a) = f(a) op e` over `r`, with reduction variables `p` kept as new Vars `v`:
//! `intm(x, v) = identity`, then `intm(a[p := v], v) op= e[p := v]` over the variables that are
//! left, then `f(x) = f(x) op intm(x, p)` over those that are kept.
//!
//! What is known of the update is put together here, of parts that the steps own which read it: both
//! name each other.

mod arguments;
mod combination;
mod dimensions;
mod intermediate;
mod merge;

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{DirectiveKind, ElementType};

use self::combination::Combination;
use self::dimensions::Dimension;
use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{DirectiveInfo, FuncId, Node, PendingDirective, RDomId, RDomInfo};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Symbol;
use crate::value::Value;

/// The update that is taken apart, as it was.
struct Original {
    func: FuncId,
    /// The number of the update.
    number: u32,
    /// The Func's name, dimensions and types.
    name: String,
    vars: Vec<Symbol>,
    types: Vec<ElementType>,
    /// The coordinates on the update's left side.
    args: Vec<Node>,
    rdom: RDomId,
    combination: Combination,
    /// Where the update is written.
    at: Span,
    /// Where the directive is.
    span: Span,
}

/// Loops over the domain, by their numbers.
struct Parts {
    /// Those that are kept, in the order of the directive's arguments.
    kept: Vec<usize>,
    /// The same, in the order in which they stood, which the merging goes over them in.
    merged: Vec<usize>,
    /// Those of the intermediate Func.
    left: Vec<usize>,
}

impl Elab<'_> {
    /// `func.update(k).rfactor(...)`.
    pub(crate) fn rfactor(
        &mut self,
        func: FuncId,
        update: Option<u32>,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let Some(number) = update else {
            let name = &self.hir.funcs[func].name;
            let help = format!("write `{name}.update().rfactor(...)`");
            return self.fail(
                Diagnostic::error(&codes::NOT_REDUCTION, "`rfactor` applies to an update")
                    .at(span, "applied to the Func itself")
                    .help(help),
            );
        };
        let pairs = self.rfactor_pairs(args, span)?;
        let original = self.original(func, number, span)?;
        let dimensions = self.dimensions_of(&original)?;
        let kept = self.kept_loops(&original, &dimensions.loops, &pairs)?;
        let vars = self.intermediate_vars(&original, &pairs)?;

        let mut merged = kept.clone();
        merged.sort_unstable();
        let left = (0..dimensions.loops.len()).filter(|n| !kept.contains(n)).collect();
        let parts = Parts { kept, merged, left };
        let domain = self.hir.rdoms[original.rdom].name.clone();
        let inner = self.domain(&format!("{domain}_inner"), &dimensions.loops, &parts.left, span);
        let outer = self.domain(&format!("{domain}_outer"), &dimensions.loops, &parts.merged, span);

        let intermediate = self.intermediate(&original, &dimensions, &parts, &vars, inner)?;
        let outer = outer.expect("at least one loop is kept");
        self.merge(&original, dimensions, &parts, intermediate, outer)?;
        let mut names = Vec::new();
        for (rvar, var) in &pairs {
            names.push((self.loop_text(rvar)?, self.loop_text(var)?));
        }
        let kind = PendingDirective::Ready(DirectiveKind::Rfactor(names));
        let update = &mut self.hir.funcs[func].updates[number as usize];
        update.schedule.push(DirectiveInfo { kind, span });
        self.hir.funcs[intermediate].frozen = Some(original.at);
        Ok(Value::Func(intermediate))
    }

    /// The update, which must be an associative one over an RDom.
    fn original(&mut self, func: FuncId, number: u32, span: Span) -> Result<Original> {
        let info = &self.hir.funcs[func];
        let definition = &info.updates[number as usize];
        let (args, values, rdom, at) =
            (definition.args.clone(), definition.values.clone(), definition.rdom, definition.span);
        let (name, vars, types) = (info.name.clone(), info.vars.clone(), info.types.clone());
        let Some(rdom) = rdom else {
            return self.fail(
                Diagnostic::error(&codes::NOT_REDUCTION, "`rfactor` needs an update over an RDom")
                    .at(span, "this update has none")
                    .and(at, "the update")
                    .help("write the update over an RDom first, as in `f(x) += g(r.x);`"),
            );
        };
        let combination = self.combination(func, &args, &values, at, span)?;
        Ok(Original { func, number, name, vars, types, args, rdom, combination, at, span })
    }

    fn domain(
        &mut self,
        name: &str,
        dims: &[Dimension],
        which: &[usize],
        span: Span,
    ) -> Option<RDomId> {
        if which.is_empty() {
            return None;
        }
        let dims = which.iter().map(|&n| (dims[n].min, dims[n].extent)).collect();
        let info = RDomInfo {
            name: name.to_owned(),
            dims,
            predicates: Vec::new(),
            span,
            used: Some(span),
        };
        Some(self.hir.rdoms.push(info))
    }
}
