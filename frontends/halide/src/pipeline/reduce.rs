//! Inline reductions: `sum`, `product`, `maximum`, `minimum`, `argmax` and `argmin` become a Func of
//! their own over the free Vars of the expression, with one update, as in Halide.

use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{BinaryOp, CompareOp, ElementType};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{Node, NodeKind, RDomId};
use crate::pipeline::ops::Spanned;
use crate::pipeline::rewrite::Replacement;
use crate::syntax::ast::Symbol;
use crate::value::Value;

/// The names of the reductions.
pub(crate) const REDUCTIONS: [&str; 6] =
    ["sum", "product", "maximum", "minimum", "argmax", "argmin"];

/// Free Vars and reduction domains with the place of their first use.
type Free = (Vec<(Symbol, Span)>, Vec<(RDomId, Span)>);

impl Elab<'_> {
    /// `name(e)` or `name(rdom, e)`, perhaps with a name in quotes for the Func.
    pub(crate) fn reduction(&mut self, name: &str, args: &[Spanned], span: Span) -> Result<Value> {
        let mut args: Vec<Spanned> = args.to_vec();
        let mut func_name = name.to_owned();
        if let Some((Value::Text(text), _)) = args.last() {
            func_name = text.to_string();
            args.pop();
        }
        let mut named = None;
        if let [_, .., (Value::Func(func), at)] = args.as_slice() {
            let info = &self.hir.funcs[*func];
            if info.poisoned {
                return Err(nbcc_base::Failed);
            }
            if info.pure.is_some() {
                let (taken, at) = (info.name.clone(), *at);
                return self.fail(
                    Diagnostic::error(&codes::REDECLARED, format!("`{taken}` is defined already"))
                        .at(at, format!("`{name}` would define it"))
                        .help("give a Func without a definition, or a name in quotes"),
                );
            }
            named = Some(*func);
            args.pop();
        }
        let (explicit, value) = match args.as_slice() {
            [value] => (None, value.clone()),
            [(Value::RDom(rdom), _), value] => (Some(*rdom), value.clone()),
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
        let e = self.expr_of(&value.0, value.1)?;
        let (mut free, rdoms) = self.free(&[e], span)?;
        let rdom = match (explicit, rdoms.as_slice()) {
            (Some(rdom), _) => rdom,
            (None, [(one, _)]) => *one,
            (None, []) => {
                return self.fail(
                    Diagnostic::error(
                        &codes::NO_RDOM,
                        format!("`{name}` of an expression without an RDom"),
                    )
                    .at(value.1, "no reduction variable in here")
                    .help("use the variables of an RDom in it, or name it first: `sum(r, e)`"),
                );
            }
            (None, [_, (_, at), ..]) => {
                return self.fail(
                    Diagnostic::error(&codes::TWO_RDOMS, format!("`{name}` over two RDoms"))
                        .at(*at, "of a second RDom")
                        .help(format!("say which one to reduce over: `{name}(r, e)`")),
                );
            }
        };
        // Reduction variables of other domains are coordinates of the new Func.
        let mut replaced = Replacement::new();
        let predicates = self.hir.rdoms[rdom].predicates.clone();
        let (more, _) = self.free(&predicates, span)?;
        for (v, at) in more {
            if !free.iter().any(|(known, _)| *known == v) {
                free.push((v, at));
            }
        }
        let mut vars: Vec<Symbol> = free.iter().map(|(v, _)| *v).collect();
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
        let mut call_args: Vec<Node> = Vec::new();
        for &(v, at) in &free {
            call_args.push(self.expr_of(&Value::Var(v), at)?);
        }
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
            call_args.push(self.expr_of(&Value::RVar(r, k), span)?);
        }
        if vars.len() > crate::elab::decl::MAX_DIMENSIONS as usize {
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("`{name}` would need a Func of {} dimensions", vars.len()),
                )
                .at(span, format!("at most {} are supported", crate::elab::decl::MAX_DIMENSIONS))
                .help(crate::helps::FEWER_DIMENSIONS),
            );
        }
        let e = if replaced.is_empty() { e } else { self.replace(e, &replaced, span)? };
        let ty = self.hir.ty(e);
        let func = match named {
            Some(func) => func,
            None => {
                let func = self.new_func(&func_name, span);
                self.hir.funcs[func].anonymous = true;
                func
            }
        };
        let mut own_args: Vec<Node> = Vec::new();
        for &v in &vars {
            own_args.push(self.expr_of(&Value::Var(v), span)?);
        }
        let start = match name {
            "sum" => self.hir.int(0, ty, span),
            "product" => self.hir.int(1, ty, span),
            "maximum" | "argmax" => self.least(ty, span),
            _ => self.greatest(ty, span),
        };
        let dims = self.hir.rdoms[rdom].dims.len() as u32;
        let arg = name.starts_with("arg");
        let mut starts = Vec::new();
        if arg {
            for _ in 0..dims {
                starts.push(self.hir.int(0, ElementType::I32, span));
            }
        }
        starts.push(start);
        let types: Vec<ElementType> = starts.iter().map(|&s| self.hir.ty(s)).collect();
        self.check_declared(func, &vars, &starts, span, span)?;
        self.record_pure(func, vars, starts, span)?;
        let own = |elab: &mut Self, k: usize| {
            let kind = NodeKind::Call(func, k as u32, own_args.clone().into());
            elab.hir.push(kind, types[k], span)
        };
        let mut values = Vec::new();
        if arg {
            let best = own(self, dims as usize);
            let op = if name == "argmax" { CompareOp::Gt } else { CompareOp::Lt };
            let better = self.compare(op, e, best, span);
            for k in 0..dims {
                let rvar = self.expr_of(&Value::RVar(rdom, k), span)?;
                let old = own(self, k as usize);
                values.push(self.choose(better, rvar, old, span));
            }
            values.push(self.choose(better, e, best, span));
        } else {
            let op = match name {
                "sum" => BinaryOp::Add,
                "product" => BinaryOp::Mul,
                "maximum" => BinaryOp::Max,
                _ => BinaryOp::Min,
            };
            let old = own(self, 0);
            values.push(self.op(op, old, e, span));
        }
        // As of any update, the domain is that of the variables in it: without one it runs once, whatever
        // domain is named.
        let domain = (arg || rdoms.iter().any(|(used, _)| *used == rdom)).then_some(rdom);
        self.record_update(func, own_args.clone(), values, domain, span, span)?;
        let results: Vec<Node> = types
            .iter()
            .enumerate()
            .map(|(k, &ty)| {
                let kind = NodeKind::Call(func, k as u32, call_args.clone().into());
                self.hir.push(kind, ty, span)
            })
            .collect();
        Ok(match results.as_slice() {
            [one] => Value::Expr(*one),
            _ => Value::Tuple(results.into()),
        })
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
