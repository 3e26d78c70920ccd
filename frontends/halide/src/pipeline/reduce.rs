//! Inline reductions: `sum`, `product`, `maximum`, `minimum`, `argmax` and `argmin` become a Func of
//! their own over the free Vars of the expression, with one update, as in Halide.

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType};

use crate::codes;
use crate::elab::decl::MAX_DIMENSIONS;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{FuncId, Node, NodeKind, RDomId};
use crate::pipeline::ops::Spanned;
use crate::pipeline::rewrite::Replacement;
use crate::syntax::ast::Symbol;
use crate::value::Value;

/// What is made of all the values of an expression over a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Maximum,
    Minimum,
    /// The greatest value, behind the coordinates of the first such one.
    Argmax,
    /// The least value, behind the coordinates of the first such one.
    Argmin,
}

impl Reduction {
    const ALL: [(&str, Reduction); 6] = [
        ("sum", Reduction::Sum),
        ("product", Reduction::Product),
        ("maximum", Reduction::Maximum),
        ("minimum", Reduction::Minimum),
        ("argmax", Reduction::Argmax),
        ("argmin", Reduction::Argmin),
    ];

    /// The reduction of a name.
    pub(crate) fn named(name: &str) -> Option<Reduction> {
        Reduction::ALL.iter().find(|(known, _)| *known == name).map(|&(_, reduction)| reduction)
    }

    fn name(self) -> &'static str {
        Reduction::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// Whether it gives coordinates too.
    fn gives_place(self) -> bool {
        matches!(self, Reduction::Argmax | Reduction::Argmin)
    }

    /// The value that it begins with.
    fn start(self, elab: &mut Elab<'_>, ty: ElementType, span: Span) -> Node {
        match self {
            Reduction::Sum => elab.hir.int(0, ty, span),
            Reduction::Product => elab.hir.int(1, ty, span),
            Reduction::Maximum | Reduction::Argmax => elab.least(ty, span),
            Reduction::Minimum | Reduction::Argmin => elab.greatest(ty, span),
        }
    }
}

/// Free Vars and reduction domains with the place of their first use.
type Free = (Vec<(Symbol, Span)>, Vec<(RDomId, Span)>);

/// What a reduction is given.
struct Operands<'a> {
    /// The Func to define, or the name of a new one.
    func: Option<FuncId>,
    func_name: &'a str,
    rdom: Option<RDomId>,
    value: &'a Spanned,
}

/// The dimensions of the Func that a reduction becomes.
struct Dimensions {
    vars: Vec<Symbol>,
    /// The coordinates at which it is read where the reduction stands.
    read_at: Vec<Node>,
    /// The Vars that stand for reduction variables of other domains.
    replaced: Replacement,
}

/// The Func that a reduction becomes.
struct Made {
    func: FuncId,
    types: Vec<ElementType>,
    span: Span,
}

impl Made {
    /// Its value `k` at some coordinates.
    fn value(&self, elab: &mut Elab<'_>, k: usize, at: &[Node]) -> Node {
        elab.hir.push(NodeKind::Call(self.func, k as u32, at.into()), self.types[k], self.span)
    }
}

impl Elab<'_> {
    /// `name(e)` or `name(rdom, e)`, perhaps with a name in quotes for the Func.
    pub(crate) fn reduction(
        &mut self,
        reduction: Reduction,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        let given = self.reduction_operands(reduction, args, span)?;
        let e = self.expr_of(&given.value.0, given.value.1)?;
        let (free, rdoms) = self.free(&[e], span)?;
        let rdom = match given.rdom {
            Some(rdom) => rdom,
            None => self.only_domain(reduction, &rdoms, given.value.1)?,
        };
        let Dimensions { vars, read_at, replaced } =
            self.reduction_dimensions(reduction, e, rdom, free, span)?;
        let e = if replaced.is_empty() { e } else { self.replace(e, &replaced, span)? };
        let ty = self.hir.ty(e);
        let func = match given.func {
            Some(func) => func,
            None => {
                let func = self.new_func(given.func_name, span);
                self.hir.funcs[func].anonymous = true;
                func
            }
        };
        let mut own = Vec::new();
        for &v in &vars {
            own.push(self.expr_of(&Value::Var(v), span)?);
        }
        let start = reduction.start(self, ty, span);
        let mut starts = Vec::new();
        if reduction.gives_place() {
            for _ in 0..self.hir.rdoms[rdom].dims.len() {
                starts.push(self.hir.int(0, ElementType::I32, span));
            }
        }
        starts.push(start);
        let types: Vec<ElementType> = starts.iter().map(|&s| self.hir.ty(s)).collect();
        self.check_declared(func, &vars, &starts, span, span)?;
        self.record_pure(func, vars, starts, span)?;
        let made = Made { func, types, span };
        let values = self.updated(reduction, e, rdom, &made, &own)?;
        // As of any update, the domain is that of the variables in it: without one it runs once, whatever
        // domain is named.
        let runs = reduction.gives_place() || rdoms.iter().any(|(used, _)| *used == rdom);
        self.record_update(func, own, values, runs.then_some(rdom), span, span)?;
        let results: Vec<Node> =
            (0..made.types.len()).map(|k| made.value(self, k, &read_at)).collect();
        Ok(match results.as_slice() {
            [one] => Value::Expr(*one),
            _ => Value::Tuple(results.into()),
        })
    }

    /// Tells the arguments apart.
    fn reduction_operands<'a>(
        &mut self,
        reduction: Reduction,
        args: &'a [Spanned],
        span: Span,
    ) -> Result<Operands<'a>> {
        let name = reduction.name();
        let (func_name, args) = match args {
            [args @ .., (Value::Text(text), _)] => (&**text, args),
            _ => (name, args),
        };
        let (func, args) = match args {
            [args @ .., (Value::Func(func), at)] if !args.is_empty() => {
                let info = &self.hir.funcs[*func];
                if info.poisoned {
                    return Err(Failed);
                }
                if info.pure.is_some() {
                    let taken = info.name.clone();
                    return self.fail(
                        Diagnostic::error(
                            &codes::REDECLARED,
                            format!("`{taken}` is defined already"),
                        )
                        .at(*at, format!("`{name}` would define it"))
                        .help("give a Func without a definition, or a name in quotes"),
                    );
                }
                (Some(*func), args)
            }
            _ => (None, args),
        };
        let (rdom, value) = match args {
            [value] => (None, value),
            [(Value::RDom(rdom), _), value] => (Some(*rdom), value),
            _ => {
                return self.fail(
                    Diagnostic::error(
                        &codes::ARGUMENT_COUNT,
                        format!("wrong arguments for `{name}`"),
                    )
                    .at(span, "takes an expression, or an RDom and an expression")
                    .help(format!("write `{name}(e)` or `{name}(r, e)`")),
                );
            }
        };
        Ok(Operands { func, func_name, rdom, value })
    }

    /// The domain of an expression, where none is named.
    fn only_domain(
        &mut self,
        reduction: Reduction,
        rdoms: &[(RDomId, Span)],
        at: Span,
    ) -> Result<RDomId> {
        let name = reduction.name();
        match rdoms {
            [(one, _)] => Ok(*one),
            [] => self.fail(
                Diagnostic::error(
                    &codes::NO_RDOM,
                    format!("`{name}` of an expression without an RDom"),
                )
                .at(at, "no reduction variable in here")
                .help("use the variables of an RDom in it, or name it first: `sum(r, e)`"),
            ),
            [_, (_, second), ..] => self.fail(
                Diagnostic::error(&codes::TWO_RDOMS, format!("`{name}` over two RDoms"))
                    .at(*second, "of a second RDom")
                    .help(format!("say which one to reduce over: `{name}(r, e)`")),
            ),
        }
    }

    /// The free Vars of `e` and of the predicates of its domain; reduction variables of other domains
    /// are coordinates of the new Func as well.
    fn reduction_dimensions(
        &mut self,
        reduction: Reduction,
        e: Node,
        rdom: RDomId,
        mut free: Vec<(Symbol, Span)>,
        span: Span,
    ) -> Result<Dimensions> {
        let predicates = self.hir.rdoms[rdom].predicates.clone();
        let (more, _) = self.free(&predicates, span)?;
        for (v, at) in more {
            if !free.iter().any(|(known, _)| *known == v) {
                free.push((v, at));
            }
        }
        let mut outer = Vec::new();
        self.walk(&[e], span, |elab, n| {
            if let NodeKind::RVar(r, k) = elab.hir.nodes[n].kind
                && r != rdom
                && !outer.contains(&(r, k))
            {
                outer.push((r, k));
            }
            Ok(())
        })?;
        let mut vars: Vec<Symbol> = free.iter().map(|(v, _)| *v).collect();
        let mut read_at: Vec<Node> = Vec::new();
        for &(v, at) in &free {
            read_at.push(self.expr_of(&Value::Var(v), at)?);
        }
        let mut replaced = Replacement::new();
        for (r, k) in outer {
            let base = self.rvar_name(r, k).replace('$', "_");
            let mut fresh = self.names.intern(&base);
            let mut number = 1;
            while vars.contains(&fresh) {
                fresh = self.names.intern(&format!("{base}{number}"));
                number += 1;
            }
            let var = self.expr_of(&Value::Var(fresh), span)?;
            replaced.insert((r, k), var);
            vars.push(fresh);
            read_at.push(self.expr_of(&Value::RVar(r, k), span)?);
        }
        if vars.len() > MAX_DIMENSIONS as usize {
            let name = reduction.name();
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("`{name}` would need a Func of {} dimensions", vars.len()),
                )
                .at(span, format!("at most {MAX_DIMENSIONS} are supported"))
                .help(crate::helps::FEWER_DIMENSIONS),
            );
        }
        Ok(Dimensions { vars, read_at, replaced })
    }

    /// What the update gives the Func at its coordinates `own`, for one more value `e`.
    fn updated(
        &mut self,
        reduction: Reduction,
        e: Node,
        rdom: RDomId,
        made: &Made,
        own: &[Node],
    ) -> Result<Vec<Node>> {
        let combined = |elab: &mut Self, op: BinaryOp| {
            let old = made.value(elab, 0, own);
            Ok(vec![elab.op(op, old, e, made.span)])
        };
        let is_better = match reduction {
            Reduction::Sum => return combined(self, BinaryOp::Add),
            Reduction::Product => return combined(self, BinaryOp::Mul),
            Reduction::Maximum => return combined(self, BinaryOp::Max),
            Reduction::Minimum => return combined(self, BinaryOp::Min),
            Reduction::Argmax => CompareOp::Gt,
            Reduction::Argmin => CompareOp::Lt,
        };
        let dims = made.types.len() - 1;
        let best = made.value(self, dims, own);
        let better = self.compare(is_better, e, best, made.span);
        let mut values = Vec::new();
        for k in 0..dims {
            let rvar = self.expr_of(&Value::RVar(rdom, k as u32), made.span)?;
            let old = made.value(self, k, own);
            values.push(self.choose(better, rvar, old, made.span));
        }
        values.push(self.choose(better, e, best, made.span));
        Ok(values)
    }

    /// Free Vars and reduction domains of expressions, in the order in which they are met.
    fn free(&mut self, roots: &[Node], at: Span) -> Result<Free> {
        let mut vars: Vec<(Symbol, Span)> = Vec::new();
        let mut rdoms: Vec<(RDomId, Span)> = Vec::new();
        self.walk(roots, at, |e, n| {
            let data = &e.hir.nodes[n];
            match data.kind {
                NodeKind::Var(v) if !vars.iter().any(|(known, _)| *known == v) => {
                    vars.push((v, data.span));
                }
                NodeKind::RVar(r, _) if !rdoms.iter().any(|(d, _)| *d == r) => {
                    rdoms.push((r, data.span));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok((vars, rdoms))
    }
}
