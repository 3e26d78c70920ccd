//! The arguments of `rfactor`: loops that are kept, each with a Var of the intermediate Func.

use nbcc_base::{Diagnostic, Failed, Span};

use super::Original;
use super::dimensions::Dimension;
use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::FuncId;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Symbol;
use crate::value::Value;

impl Elab<'_> {
    pub(super) fn rfactor_pairs(
        &mut self,
        args: &[Spanned],
        span: Span,
    ) -> Result<Vec<(Spanned, Spanned)>> {
        let mut pairs = Vec::new();
        match args {
            [(Value::List(list), _)] => {
                for (item, _) in list.iter() {
                    match item {
                        Value::List(pair) if pair.len() == 2 => {
                            pairs.push((pair[0].clone(), pair[1].clone()));
                        }
                        _ => pairs.clear(),
                    }
                }
                if pairs.len() != list.len() {
                    pairs.clear();
                }
            }
            [rvar, var] => pairs.push((rvar.clone(), var.clone())),
            _ => {}
        }
        if pairs.is_empty() {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    "`rfactor` takes a reduction variable and a new Var",
                )
                .at(span, "other arguments given")
                .help("write `rfactor(r.y, v)` or `rfactor({{r.x, u}, {r.y, v}})`"),
            );
        }
        Ok(pairs)
    }

    /// The numbers of the loops that are named, in that order.
    pub(super) fn kept_loops(
        &mut self,
        original: &Original,
        loops: &[Dimension],
        pairs: &[(Spanned, Spanned)],
    ) -> Result<Vec<usize>> {
        let mut kept: Vec<usize> = Vec::new();
        for (rvar, _) in pairs {
            let loop_name = self.loop_text(rvar)?;
            let loop_name = self.alias(original.func, original.number, &loop_name);
            match loops.iter().position(|l| l.name == loop_name) {
                Some(n) if !kept.contains(&n) => kept.push(n),
                Some(_) => {
                    return self.fail(
                        Diagnostic::error(&codes::LOOP_TAKEN, "a loop stands twice in `rfactor`")
                            .at(rvar.1, "the second time")
                            .help("name each loop once"),
                    );
                }
                None => {
                    let name = &original.name;
                    let names: Vec<String> =
                        loops.iter().map(|l| l.name.replace('$', ".")).collect();
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNKNOWN_LOOP,
                            format!("the update of `{name}` does not reduce over this loop"),
                        )
                        .at(rvar.1, "not a loop over its RDom")
                        .help(format!("it reduces over {}", crate::elab::member::list(&names))),
                    );
                }
            }
        }
        Ok(kept)
    }

    /// The dimensions of the intermediate Func: those of the Func, then the new Vars.
    pub(super) fn intermediate_vars(
        &mut self,
        original: &Original,
        pairs: &[(Spanned, Spanned)],
    ) -> Result<Vec<Symbol>> {
        let mut vars = original.vars.clone();
        for (_, var) in pairs {
            let Value::Var(symbol) = var.0 else {
                let what = var.0.what();
                return self.fail(
                    Diagnostic::error(
                        &codes::ARGUMENT_TYPE,
                        "`rfactor` takes a reduction variable and a new Var",
                    )
                    .at(var.1, format!("this is {what}"))
                    .help(crate::helps::RFACTOR),
                );
            };
            if vars.contains(&symbol) {
                let (name, text) = (&original.name, self.names.text(symbol).to_owned());
                return self.fail(
                    Diagnostic::error(
                        &codes::LOOP_TAKEN,
                        format!("`{name}` already has a dimension `{text}`"),
                    )
                    .at(var.1, "a new Var is needed here")
                    .help("write a Var of another name"),
                );
            }
            vars.push(symbol);
        }
        if vars.len() > crate::elab::decl::MAX_DIMENSIONS as usize {
            let most = crate::elab::decl::MAX_DIMENSIONS;
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("`rfactor` would need a Func of {} dimensions", vars.len()),
                )
                .at(original.span, format!("at most {most} are supported"))
                .help(crate::helps::FEWER_DIMENSIONS),
            );
        }
        Ok(vars)
    }

    pub(super) fn loop_text(&mut self, value: &Spanned) -> Result<String> {
        match value.0 {
            Value::RVar(rdom, n) => Ok(self.rvar_name(rdom, n)),
            Value::RDom(rdom) if self.hir.rdoms[rdom].dims.len() == 1 => {
                Ok(self.rvar_name(rdom, 0))
            }
            Value::Var(name) | Value::RVarName(name) => Ok(self.names.text(name).to_owned()),
            Value::Poison => Err(Failed),
            ref other => {
                let what = other.what();
                self.fail(
                    Diagnostic::error(
                        &codes::ARGUMENT_TYPE,
                        "`rfactor` takes a reduction variable and a new Var",
                    )
                    .at(value.1, format!("this is {what}"))
                    .help(crate::helps::RFACTOR),
                )
            }
        }
    }

    fn alias(&self, func: FuncId, k: u32, name: &str) -> String {
        let aliases = &self.hir.funcs[func].updates[k as usize].aliases;
        aliases.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}
