//! The loops of a definition at a point of its schedule, and what directives make of them.

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::DirectiveKind;

use super::Target;
use crate::codes;
use crate::elab::member::list;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::PendingDirective;
use crate::pipeline::ops::Spanned;
use crate::value::Value;

impl Elab<'_> {
    /// The loop that an argument names.
    pub(super) fn loop_name(&mut self, arg: &Spanned) -> Result<String> {
        match arg.0 {
            Value::Var(name) | Value::RVarName(name) => Ok(self.names.text(name).to_owned()),
            Value::RVar(rdom, n) => Ok(self.rvar_name(rdom, n)),
            Value::RDom(rdom) if self.hir.rdoms[rdom].dims.len() == 1 => {
                Ok(self.rvar_name(rdom, 0))
            }
            Value::Poison => Err(Failed),
            ref other => {
                let what = other.what();
                self.fail(
                    Diagnostic::error(&codes::ARGUMENT_TYPE, "the name of a loop is needed")
                        .at(arg.1, format!("this is {what}"))
                        .help("loops are named by Vars and by the variables of an RDom"),
                )
            }
        }
    }

    /// Counts the work of looking for a loop by its name.
    fn look_through_loops(&mut self, t: Target, at: Span) -> Result<()> {
        let count = self.definition(t).loops.len() as u64;
        self.work(count, at)
    }

    /// The name of a loop that the definition has.
    pub(super) fn existing(&mut self, t: Target, arg: &Spanned) -> Result<String> {
        let mut name = self.loop_name(arg)?;
        self.look_through_loops(t, arg.1)?;
        if let Some(alias) = self.definition(t).aliases.get(&name) {
            name.clone_from(alias);
        }
        if self.definition(t).loops.contains(&name) {
            return Ok(name);
        }
        let loops = self.definition(t).loops.clone();
        let shown: Vec<String> = loops.iter().map(|l| l.replace('$', ".")).collect();
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let func = self.hir.funcs[t.func].name.clone();
        let what = match t.update {
            None => format!("`{func}`"),
            Some(k) => format!("update {k} of `{func}`"),
        };
        let name = name.replace('$', ".");
        let near = nearest(&name, shown.iter().copied()).map(str::to_owned);
        let has = if shown.is_empty() {
            "it has no loops".to_owned()
        } else {
            format!("its loops are {}", list(&shown))
        };
        let help = match near {
            Some(near) => format!("did you mean `{near}`? {has}"),
            None => has,
        };
        self.fail(
            Diagnostic::error(&codes::UNKNOWN_LOOP, format!("{what} has no loop `{name}`"))
                .at(arg.1, "no such loop")
                .help(help),
        )
    }

    /// The name of a new loop. It may be one of `ending`, the loops that it replaces.
    pub(super) fn fresh(&mut self, t: Target, arg: &Spanned, ending: &[&str]) -> Result<String> {
        let name = self.loop_name(arg)?;
        self.look_through_loops(t, arg.1)?;
        let taken = self.definition(t).loops.contains(&name) && !ending.contains(&name.as_str());
        if !taken {
            return Ok(name);
        }
        let func = self.hir.funcs[t.func].name.clone();
        let free = self.derived_loop(t, &name).replace('$', "_");
        self.fail(
            Diagnostic::error(&codes::LOOP_TAKEN, format!("`{func}` already has a loop `{name}`"))
                .at(arg.1, "a new name is needed here")
                .help(format!("write a name of its own: `{free}`")),
        )
    }

    pub(super) fn repeated<T>(&mut self, name: &str, at: Span) -> Result<T> {
        self.fail(
            Diagnostic::error(&codes::LOOP_TAKEN, format!("the loop `{name}` stands twice"))
                .at(at, "the second time")
                .help("name each loop once"),
        )
    }

    /// A size of at least 1.
    pub(super) fn size(&mut self, arg: &Spanned, directive: &str) -> Result<i64> {
        let n = self.constant_int(arg, &format!("a size of `{directive}`"))?;
        if n >= 1 {
            return Ok(i64::from(n));
        }
        self.fail(
            Diagnostic::error(&codes::DIRECTIVE_SIZE, format!("`{directive}` with a size of {n}"))
                .at(arg.1, "must be at least 1")
                .help(crate::helps::AT_LEAST_ONE),
        )
    }

    pub(super) fn split(
        &mut self,
        t: Target,
        old: &Spanned,
        outer: &Spanned,
        inner: &Spanned,
        factor: i64,
    ) -> Result<()> {
        let old = self.existing(t, old)?;
        let outer_name = self.fresh(t, outer, &[&old])?;
        let inner_name = self.fresh(t, inner, &[&old])?;
        if outer_name == inner_name {
            return self.repeated(&inner_name, inner.1);
        }
        self.record_split(t, &old, &outer_name, &inner_name);
        self.add(t, DirectiveKind::Split { old, outer: outer_name, inner: inner_name, factor });
        Ok(())
    }

    pub(super) fn record_split(&mut self, t: Target, old: &str, outer: &str, inner: &str) {
        let loops = &mut self.definition(t).loops;
        if let Some(n) = loops.iter().position(|l| l == old) {
            outer.clone_into(&mut loops[n]);
            loops.insert(n, inner.to_owned());
        }
    }

    /// A name for a loop that the source does not name.
    pub(super) fn derived_loop(&mut self, t: Target, base: &str) -> String {
        let loops = &self.definition(t).loops;
        let mut name = format!("{base}_in");
        let mut number = 1;
        while loops.contains(&name) {
            name = format!("{base}_in{number}");
            number += 1;
        }
        name
    }

    /// `fuse(inner, outer, fused)`.
    pub(super) fn fuse(&mut self, t: Target, args: &[Spanned]) -> Result<()> {
        self.take("fuse", args, 3, t.span)?;
        let inner = self.existing(t, &args[0])?;
        let outer = self.existing(t, &args[1])?;
        if inner == outer {
            return self.repeated(&inner, args[1].1);
        }
        let fused = self.fresh(t, &args[2], &[&inner, &outer])?;
        let loops = &mut self.definition(t).loops;
        if let Some(n) = loops.iter().position(|l| *l == inner) {
            loops[n].clone_from(&fused);
        }
        loops.retain(|l| *l != outer || *l == fused);
        self.add(t, DirectiveKind::Fuse { inner, outer, fused });
        Ok(())
    }

    /// `reorder(x, y, ...)`, of loops or a list of them.
    pub(super) fn reorder_loops(&mut self, t: Target, args: &[Spanned]) -> Result<()> {
        let args = match args {
            [(Value::List(list), _)] => list.to_vec(),
            args => args.to_vec(),
        };
        if args.is_empty() {
            return self.fail(
                Diagnostic::error(&codes::ARGUMENT_COUNT, "`reorder` needs the loops to order")
                    .at(t.span, "no loops given")
                    .help("write `reorder(x, y)`, innermost first"),
            );
        }
        let mut order = Vec::new();
        for arg in &args {
            let var = self.existing(t, arg)?;
            if order.contains(&var) {
                return self.repeated(&var, arg.1);
            }
            order.push(var);
        }
        self.reorder(t, order);
        Ok(())
    }

    /// `vectorize`, `unroll` and `parallel`: how a loop runs.
    pub(super) fn mark_loop(&mut self, t: Target, text: &str, args: &[Spanned]) -> Result<()> {
        let args = self.without_tail(args);
        if args.is_empty() || args.len() > 2 {
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("`{text}` takes a loop and perhaps a number"),
                )
                .at(t.span, format!("{} given", count(args.len(), "argument")))
                .help(format!("write `{text}(x)` or `{text}(x, 4)`")),
            );
        }
        let var = self.existing(t, &args[0])?;
        let n = match args.get(1) {
            Some(n) => Some(self.size(n, text)?),
            None => None,
        };
        match (text, n) {
            ("vectorize", width) => self.add(t, DirectiveKind::Vectorize { var, width }),
            ("unroll", factor) => self.add(t, DirectiveKind::Unroll { var, factor }),
            (_, None) => self.add(t, DirectiveKind::Parallel(var)),
            (_, Some(factor)) => {
                // As in Halide: the blocks run in parallel under the loop's name.
                let inner = self.derived_loop(t, &var);
                self.record_split(t, &var, &var, &inner);
                let outer = var.clone();
                self.add(t, DirectiveKind::Split { old: var.clone(), outer, inner, factor });
                self.add(t, DirectiveKind::Parallel(var));
            }
        }
        Ok(())
    }

    pub(super) fn reorder(&mut self, t: Target, order: Vec<String>) {
        let loops = &mut self.definition(t).loops;
        let places: Vec<usize> = (0..loops.len()).filter(|&i| order.contains(&loops[i])).collect();
        for (place, name) in places.into_iter().zip(&order) {
            loops[place].clone_from(name);
        }
        self.add(t, DirectiveKind::Reorder(order));
    }

    pub(super) fn tile(&mut self, t: Target, args: &[Spanned]) -> Result<()> {
        let args = self.without_tail(args);
        let lists: Option<Vec<Vec<Spanned>>> = args
            .iter()
            .map(|arg| match &arg.0 {
                Value::List(list) => Some(list.to_vec()),
                _ => None,
            })
            .collect();
        let groups = match (lists, args.as_slice()) {
            (Some(lists), _) => lists,
            (None, [_, _, _, _, _, _] | [_, _, _, _, _, _, _, _]) => {
                args.chunks(2).map(<[Spanned]>::to_vec).collect()
            }
            _ => return self.tile_usage(t, args.len()),
        };
        let (old, outer, inner, sizes) = match groups.as_slice() {
            [old, inner, sizes] => (old, old, inner, sizes),
            [old, outer, inner, sizes] => (old, outer, inner, sizes),
            _ => return self.tile_usage(t, args.len()),
        };
        let count = old.len();
        if count == 0 || [outer, inner, sizes].iter().any(|list| list.len() != count) {
            return self.tile_usage(t, args.len());
        }
        let sizes = sizes.iter().map(|size| self.size(size, "tile")).collect::<Result<Vec<_>>>()?;
        for (k, &size) in sizes.iter().enumerate() {
            self.split(t, &old[k], &outer[k], &inner[k], size)?;
        }
        let mut order = Vec::new();
        for arg in inner.iter().chain(outer) {
            order.push(self.existing(t, arg)?);
        }
        self.reorder(t, order);
        Ok(())
    }

    fn tile_usage<T>(&mut self, t: Target, given: usize) -> Result<T> {
        self.fail(
            Diagnostic::error(&codes::ARGUMENT_COUNT, "wrong number of arguments for `tile`")
                .at(t.span, format!("{} given", count(given, "argument")))
                .help("write `tile(x, y, xi, yi, 8, 8)`, `tile(x, y, xo, yo, xi, yi, 8, 8)` or `tile({x, y}, {xi, yi}, {8, 8})`"),
        )
    }

    pub(super) fn bound(
        &mut self,
        t: Target,
        var: &Spanned,
        min: &Spanned,
        extent: &Spanned,
        estimate: bool,
    ) -> Result<()> {
        let name = self.loop_name(var)?;
        let vars: Vec<String> =
            self.hir.funcs[t.func].vars.iter().map(|v| self.names.text(*v).to_owned()).collect();
        if !vars.contains(&name) {
            let func = self.hir.funcs[t.func].name.clone();
            let shown: Vec<&str> = vars.iter().map(String::as_str).collect();
            return self.fail(
                Diagnostic::error(
                    &codes::UNKNOWN_LOOP,
                    format!("`{func}` has no dimension `{name}`"),
                )
                .at(var.1, "no such dimension")
                .help(format!("its dimensions are {}", list(&shown))),
            );
        }
        let min = self.bound_expr(min, "a bound")?;
        let extent_node = self.bound_expr(extent, "a bound")?;
        if let Some(n) = self.hir.constant(extent_node)
            && n < 1
        {
            return self.fail(
                Diagnostic::error(&codes::DIRECTIVE_SIZE, format!("an extent of {n}"))
                    .at(extent.1, "must be at least 1")
                    .help(crate::helps::AT_LEAST_ONE),
            );
        }
        self.add_pending(
            t,
            PendingDirective::Bound { var: name, min, extent: extent_node, estimate },
        );
        Ok(())
    }
}
