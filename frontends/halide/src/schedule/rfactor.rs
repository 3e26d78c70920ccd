//! `rfactor`: an associative update becomes an intermediate Func of partial results and an update
//! that combines them, as Halide's `Stage::rfactor` does it. The stage graph then holds two
//! ordinary Funcs, so everything after this sees the order of operations that was asked for.
//!
//! For `f(a) = f(a) op e` over `r`, with reduction variables `p` kept as new Vars `v`:
//! `intm(x, v) = identity`, then `intm(a[p := v], v) op= e[p := v]` over the variables that are
//! left, then `f(x) = f(x) op intm(x, p)` over those that are kept.

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{BinaryOp, CompareOp, DirectiveKind, ElementType};

use crate::codes;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{
    DefinitionInfo, DirectiveInfo, FuncId, Node, NodeKind, PendingDirective, RDomId, RDomInfo,
};
use crate::pipeline::ops::Spanned;
use crate::pipeline::rewrite::Replacement;
use crate::syntax::ast::Symbol;
use crate::value::Value;

/// A loop over (a part of) a reduction variable.
#[derive(Clone)]
struct Dimension {
    name: String,
    min: Node,
    extent: Node,
}

/// How the values of an update combine.
enum Combination {
    /// Each by an operation of its own with a new value.
    Separate(Vec<(BinaryOp, Node)>),
    /// All at once, where the value at `key` is better: `select(e cmp f[key], new, f)`.
    Best { op: CompareOp, key: usize, values: Vec<Node> },
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
        let name = self.hir.funcs[func].name.clone();
        let Some(k) = update else {
            return self.fail(
                Diagnostic::error(&codes::NOT_REDUCTION, "`rfactor` applies to an update")
                    .at(span, "applied to the Func itself")
                    .help(format!("write `{name}.update().rfactor(...)`")),
            );
        };
        let pairs = self.rfactor_pairs(args, span)?;
        let definition = &self.hir.funcs[func].updates[k as usize];
        let (old_args, old_values, rdom, at) =
            (definition.args.clone(), definition.values.clone(), definition.rdom, definition.span);
        let Some(rdom) = rdom else {
            return self.fail(
                Diagnostic::error(&codes::NOT_REDUCTION, "`rfactor` needs an update over an RDom")
                    .at(span, "this update has none")
                    .and(at, "the update")
                    .help("write the update over an RDom first, as in `f(x) += g(r.x);`"),
            );
        };
        let combination = self.combination(func, &old_args, &old_values, at, span)?;

        // The loops over the domain as scheduled so far, and its variables in terms of them.
        let (dims, values, guards, kept_schedule) = self.dimensions_of(func, k, rdom, span)?;
        let mut kept: Vec<usize> = Vec::new();
        for (rvar, _) in &pairs {
            let loop_name = self.loop_text(rvar)?;
            let loop_name = self.alias(func, k, &loop_name);
            match dims.iter().position(|d| d.name == loop_name) {
                Some(n) if !kept.contains(&n) => kept.push(n),
                Some(_) => {
                    return self.fail(
                        Diagnostic::error(&codes::LOOP_TAKEN, "a loop stands twice in `rfactor`")
                            .at(rvar.1, "the second time")
                            .help("name each loop once"),
                    );
                }
                None => {
                    let names: Vec<String> =
                        dims.iter().map(|d| d.name.replace('$', ".")).collect();
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
        let mut vars = self.hir.funcs[func].vars.clone();
        for (_, var) in &pairs {
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
                let text = self.names.text(symbol).to_owned();
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
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("`rfactor` would need a Func of {} dimensions", vars.len()),
                )
                .at(span, format!("at most {} are supported", crate::elab::decl::MAX_DIMENSIONS))
                .help(crate::helps::FEWER_DIMENSIONS),
            );
        }

        // The domains: what is left for the intermediate Func, what is kept for the merging.
        let domain = self.hir.rdoms[rdom].name.clone();
        let left: Vec<usize> = (0..dims.len()).filter(|n| !kept.contains(n)).collect();
        let inner_rdom = self.domain(&format!("{domain}_inner"), &dims, &left, span);
        // The merging goes over the kept loops in the order in which they stood.
        let mut outer_order = kept.clone();
        outer_order.sort_unstable();
        let outer_rdom = self.domain(&format!("{domain}_outer"), &dims, &outer_order, span);

        // Loops as expressions of the intermediate Func: kept ones are its new Vars.
        let own_vars = self.hir.funcs[func].vars.clone();
        let inner_loop = |e: &mut Self, n: usize| -> Result<Node> {
            match left.iter().position(|&l| l == n) {
                Some(i) => {
                    let rdom = inner_rdom.expect("a domain of the loops that are left");
                    Ok(e.hir.push(NodeKind::RVar(rdom, i as u32), ElementType::I32, span))
                }
                None => {
                    let i = kept.iter().position(|&l| l == n).expect("a loop is kept or left");
                    // Vars of an intermediate Func count from zero only if the domain does.
                    let var = Value::Var(vars[own_vars.len() + i]);
                    e.expr_of(&var, span)
                }
            }
        };
        let mut loops = Replacement::new();
        for n in 0..dims.len() {
            loops.insert((rdom, n as u32), inner_loop(self, n)?);
        }
        let mut inside = Replacement::new();
        for (n, &value) in values.iter().enumerate() {
            inside.insert((rdom, n as u32), self.replace(value, &loops, span)?);
        }
        let predicates = self.hir.rdoms[rdom].predicates.clone();
        let mut conditions = Vec::new();
        for p in predicates {
            conditions.push(self.replace(p, &inside, span)?);
        }
        for g in guards {
            conditions.push(self.replace(g, &loops, span)?);
        }

        // The intermediate Func.
        let types = self.hir.funcs[func].types.clone();
        let intermediate = self.new_func(&format!("{name}_intm"), span);
        self.hir.funcs[intermediate].anonymous = true;
        let identities = self.identities(&combination, &types, span);
        self.record_pure(intermediate, vars.clone(), identities, span)?;
        let mut inner_args = Vec::new();
        for &a in &old_args {
            inner_args.push(self.replace(a, &inside, span)?);
        }
        for &v in &vars[own_vars.len()..] {
            inner_args.push(self.expr_of(&Value::Var(v), span)?);
        }
        let inner_values = match &combination {
            Combination::Separate(list) => {
                let mut new = Vec::new();
                for &(_, e) in list {
                    new.push(self.replace(e, &inside, span)?);
                }
                new
            }
            Combination::Best { values, .. } => {
                let mut new = Vec::new();
                for &e in values {
                    new.push(self.replace(e, &inside, span)?);
                }
                new
            }
        };
        let results =
            self.combine(&combination, intermediate, &inner_args, &inner_values, &types, at);
        let results = match inner_rdom {
            Some(rdom) => {
                self.hir.rdoms[rdom].predicates = conditions;
                results
            }
            // Without a domain the condition chooses between the new value and the old one.
            None => self.guarded(intermediate, &inner_args, results, &conditions, &types, at),
        };
        self.record_update(intermediate, inner_args, results, inner_rdom, at, at)?;
        if let Some(inner) = inner_rdom {
            let names: Vec<(String, String)> = left
                .iter()
                .enumerate()
                .map(|(i, &n)| (dims[n].name.clone(), self.rvar_name(inner, i as u32)))
                .collect();
            let update = self.hir.funcs[intermediate].updates.last_mut().expect("just recorded");
            update.aliases.extend(names);
        }

        // The merging update. Coordinates that ran over the domain now run over everything.
        let mut merge_args = Vec::new();
        for (&a, &v) in old_args.iter().zip(&own_vars) {
            merge_args.push(if self.mentions(a, rdom, span)? {
                self.expr_of(&Value::Var(v), span)?
            } else {
                a
            });
        }
        let outer_rdom = outer_rdom.expect("at least one loop is kept");
        let mut call_args = merge_args.clone();
        for &n in &kept {
            let i = outer_order.iter().position(|&l| l == n).expect("it is a kept loop");
            let kind = NodeKind::RVar(outer_rdom, i as u32);
            call_args.push(self.hir.push(kind, ElementType::I32, span));
        }
        let call_args: Box<[Node]> = call_args.into();
        let partial: Vec<Node> = types
            .iter()
            .enumerate()
            .map(|(i, &ty)| {
                let kind = NodeKind::Call(intermediate, i as u32, call_args.clone());
                self.hir.push(kind, ty, at)
            })
            .collect();
        let merged = self.combine(&combination, func, &merge_args, &partial, &types, at);
        let aliases: Vec<(String, String)> = outer_order
            .iter()
            .enumerate()
            .map(|(i, &n)| (dims[n].name.clone(), self.rvar_name(outer_rdom, i as u32)))
            .collect();
        self.replace_update(func, k, merge_args, merged, outer_rdom, kept_schedule, aliases);
        let mut names = Vec::new();
        for (rvar, var) in &pairs {
            names.push((self.loop_text(rvar)?, self.loop_text(var)?));
        }
        let kind = PendingDirective::Ready(DirectiveKind::Rfactor(names));
        let update = &mut self.hir.funcs[func].updates[k as usize];
        update.schedule.push(DirectiveInfo { kind, span });
        self.hir.funcs[intermediate].frozen = Some(at);
        Ok(Value::Func(intermediate))
    }

    fn rfactor_pairs(&mut self, args: &[Spanned], span: Span) -> Result<Vec<(Spanned, Spanned)>> {
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

    /// How the update combines old and new values; an error unless that is associative.
    fn combination(
        &mut self,
        func: FuncId,
        args: &[Node],
        values: &[Node],
        at: Span,
        span: Span,
    ) -> Result<Combination> {
        let mut separate = Vec::new();
        for (k, &value) in values.iter().enumerate() {
            let NodeKind::Binary(op, a, b) = self.hir.nodes[value].kind else { break };
            let associative = matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Mul
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
            );
            if !associative {
                break;
            }
            let new = if self.is_own(func, k, args, a, at)? {
                b
            } else if self.is_own(func, k, args, b, at)? {
                a
            } else {
                break;
            };
            if self.calls_own(func, new, at)? {
                break;
            }
            separate.push((op, new));
        }
        if separate.len() == values.len() {
            return Ok(Combination::Separate(separate));
        }
        if let Some(best) = self.best(func, args, values, at)? {
            return Ok(best);
        }
        self.fail(
            Diagnostic::error(&codes::NOT_REDUCTION, "`rfactor` needs an associative update")
                .at(span, "the order of this reduction cannot be changed")
                .and(at, "the update")
                .help("sums, products, `min`, `max`, `&`, `|`, `^` of the Func and a value that does not refer to it"),
        )
    }

    /// Whether a node is the Func's value `k` at the coordinates of the left side.
    fn is_own(&mut self, func: FuncId, k: usize, args: &[Node], n: Node, at: Span) -> Result<bool> {
        let NodeKind::Call(f, value, own) = &self.hir.nodes[n].kind else { return Ok(false) };
        if *f != func || *value as usize != k {
            return Ok(false);
        }
        let own = own.clone();
        for (&a, &b) in own.iter().zip(args) {
            if !self.same(a, b, at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn calls_own(&mut self, func: FuncId, root: Node, at: Span) -> Result<bool> {
        let mut found = false;
        self.walk(&[root], at, |e, n| {
            found |= matches!(e.hir.nodes[n].kind, NodeKind::Call(f, _, _) if f == func);
            Ok(())
        })?;
        Ok(found)
    }

    /// `select(e > f[key], new, f)` for every value, with `e` the new value at `key`: what
    /// `argmax` and `argmin` do.
    fn best(
        &mut self,
        func: FuncId,
        args: &[Node],
        values: &[Node],
        at: Span,
    ) -> Result<Option<Combination>> {
        let mut new = Vec::new();
        let mut condition = None;
        for (k, &value) in values.iter().enumerate() {
            let NodeKind::Select(c, yes, no) = self.hir.nodes[value].kind else { return Ok(None) };
            if !self.is_own(func, k, args, no, at)? || self.calls_own(func, yes, at)? {
                return Ok(None);
            }
            match condition {
                Some(first) if !self.same(first, c, at)? => return Ok(None),
                _ => condition = Some(c),
            }
            new.push(yes);
        }
        let Some(condition) = condition else { return Ok(None) };
        let NodeKind::Compare(op, a, b) = self.hir.nodes[condition].kind else { return Ok(None) };
        for (k, &e) in new.iter().enumerate() {
            let (left, right) =
                (self.is_own(func, k, args, b, at)?, self.is_own(func, k, args, a, at)?);
            let (other, op) = match (left, right, op) {
                (true, _, CompareOp::Lt | CompareOp::Gt) => (a, op),
                (_, true, CompareOp::Lt) => (b, CompareOp::Gt),
                (_, true, CompareOp::Gt) => (b, CompareOp::Lt),
                _ => continue,
            };
            if self.same(e, other, at)? {
                return Ok(Some(Combination::Best { op, key: k, values: new }));
            }
        }
        Ok(None)
    }

    fn identities(&mut self, c: &Combination, types: &[ElementType], span: Span) -> Vec<Node> {
        types
            .iter()
            .enumerate()
            .map(|(k, &ty)| match c {
                Combination::Separate(list) => match list[k].0 {
                    BinaryOp::Mul => self.hir.int(1, ty, span),
                    BinaryOp::Min => self.greatest(ty, span),
                    BinaryOp::Max => self.least(ty, span),
                    // All bits set; for Bool, true.
                    BinaryOp::And if ty.is_signed() => self.hir.int(-1, ty, span),
                    BinaryOp::And => self.greatest(ty, span),
                    _ => self.hir.int(0, ty, span),
                },
                Combination::Best { op: CompareOp::Gt, key, .. } if *key == k => {
                    self.least(ty, span)
                }
                Combination::Best { key, .. } if *key == k => self.greatest(ty, span),
                Combination::Best { .. } => self.hir.int(0, ty, span),
            })
            .collect()
    }

    fn own_values(
        &mut self,
        func: FuncId,
        args: &[Node],
        types: &[ElementType],
        at: Span,
    ) -> Vec<Node> {
        types
            .iter()
            .enumerate()
            .map(|(k, &ty)| self.hir.push(NodeKind::Call(func, k as u32, args.into()), ty, at))
            .collect()
    }

    /// The values of `func` at `args` combined with new ones.
    fn combine(
        &mut self,
        c: &Combination,
        func: FuncId,
        args: &[Node],
        new: &[Node],
        types: &[ElementType],
        at: Span,
    ) -> Vec<Node> {
        let own = self.own_values(func, args, types, at);
        match c {
            Combination::Separate(list) => list
                .iter()
                .zip(own.iter().zip(new))
                .map(|((op, _), (&a, &b))| self.op(*op, a, b, at))
                .collect(),
            Combination::Best { op, key, .. } => {
                let better = self.compare(*op, new[*key], own[*key], at);
                own.iter().zip(new).map(|(&a, &b)| self.choose(better, b, a, at)).collect()
            }
        }
    }

    fn guarded(
        &mut self,
        func: FuncId,
        args: &[Node],
        values: Vec<Node>,
        conditions: &[Node],
        types: &[ElementType],
        at: Span,
    ) -> Vec<Node> {
        let Some((&first, rest)) = conditions.split_first() else { return values };
        let mut condition = first;
        for &c in rest {
            condition = self.op(BinaryOp::And, condition, c, at);
        }
        let own = self.own_values(func, args, types, at);
        values.into_iter().zip(own).map(|(v, o)| self.choose(condition, v, o, at)).collect()
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

    fn loop_text(&mut self, value: &Spanned) -> Result<String> {
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

    /// The loops over a domain after the directives given so far, innermost first; the domain's
    /// variables in terms of these loops (loop `n` written as variable `n` of the domain); guards
    /// where a split does not divide; and the directives that are not consumed by this.
    #[allow(clippy::type_complexity)]
    fn dimensions_of(
        &mut self,
        func: FuncId,
        k: u32,
        rdom: RDomId,
        span: Span,
    ) -> Result<(Vec<Dimension>, Vec<Node>, Vec<Node>, Vec<usize>)> {
        let bounds = self.hir.rdoms[rdom].dims.clone();
        let mut loops: Vec<Dimension> = Vec::new();
        // Every loop that ever was, by name, with its value where it was split or fused.
        let mut values: Vec<(String, Option<Node>)> = Vec::new();
        for (n, &(min, extent)) in bounds.iter().enumerate() {
            let name = self.rvar_name(rdom, n as u32);
            values.push((name.clone(), None));
            loops.push(Dimension { name, min, extent });
        }
        let directives: Vec<DirectiveKind> = self.hir.funcs[func].updates[k as usize]
            .schedule
            .iter()
            .map(|d| match &d.kind {
                PendingDirective::Ready(kind) => kind.clone(),
                _ => DirectiveKind::ComputeInline,
            })
            .collect();
        // Steps are undone in reverse to express variables by the loops that are left.
        enum Step {
            Split { old: String, outer: String, inner: String, factor: Node, min: Node },
            Fuse { inner: Dimension, outer: Dimension, fused: String },
        }
        let mut steps = Vec::new();
        let mut guarded = Vec::new();
        let mut kept = Vec::new();
        for (i, kind) in directives.iter().enumerate() {
            match kind {
                DirectiveKind::Split { old, outer, inner, factor } => {
                    let Some(n) = loops.iter().position(|l| l.name == *old) else {
                        kept.push(i);
                        continue;
                    };
                    let Dimension { min, extent, .. } = loops[n].clone();
                    let zero = self.hir.int(0, ElementType::I32, span);
                    let size = self.hir.int(*factor, ElementType::I32, span);
                    let blocks = match self.hir.constant(extent) {
                        Some(e) => self.hir.int(
                            (e + factor - 1).div_euclid(*factor),
                            ElementType::I32,
                            span,
                        ),
                        None => {
                            let more = self.hir.int(factor - 1, ElementType::I32, span);
                            let sum = self.op(BinaryOp::Add, extent, more, span);
                            self.op(BinaryOp::Div, sum, size, span)
                        }
                    };
                    if self.hir.constant(extent).is_none_or(|e| e % factor != 0) {
                        guarded.push((old.clone(), min, extent, steps.len()));
                    }
                    loops[n] = Dimension { name: outer.clone(), min: zero, extent: blocks };
                    loops.insert(n, Dimension { name: inner.clone(), min: zero, extent: size });
                    steps.push(Step::Split {
                        old: old.clone(),
                        outer: outer.clone(),
                        inner: inner.clone(),
                        factor: size,
                        min,
                    });
                }
                DirectiveKind::Fuse { inner, outer, fused } => {
                    let a = loops.iter().position(|l| l.name == *inner);
                    let b = loops.iter().position(|l| l.name == *outer);
                    let (Some(a), Some(b)) = (a, b) else {
                        kept.push(i);
                        continue;
                    };
                    let (x, y) = (loops[a].clone(), loops[b].clone());
                    let zero = self.hir.int(0, ElementType::I32, span);
                    let extent = self.op(BinaryOp::Mul, x.extent, y.extent, span);
                    loops[a] = Dimension { name: fused.clone(), min: zero, extent };
                    loops.remove(b);
                    steps.push(Step::Fuse { inner: x, outer: y, fused: fused.clone() });
                }
                DirectiveKind::Reorder(order) => {
                    let places: Vec<usize> =
                        (0..loops.len()).filter(|&p| order.contains(&loops[p].name)).collect();
                    let named: Vec<Dimension> = order
                        .iter()
                        .filter_map(|o| loops.iter().find(|l| l.name == *o).cloned())
                        .collect();
                    if named.len() < order.len() {
                        kept.push(i);
                    }
                    for (place, dimension) in places.into_iter().zip(named) {
                        loops[place] = dimension;
                    }
                }
                _ => kept.push(i),
            }
        }
        if loops.len() > 4 {
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("`rfactor` of {} loops", loops.len()),
                )
                .at(span, "at most 4 loops over an RDom are supported")
                .help("fuse some of them, or leave out a `split`"),
            );
        }
        let mut known: std::collections::HashMap<String, Node> = loops
            .iter()
            .enumerate()
            .map(|(n, l)| (l.name.clone(), n))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(name, n)| {
                let kind = NodeKind::RVar(rdom, n as u32);
                (name, self.hir.push(kind, ElementType::I32, span))
            })
            .collect();
        let mut guards = Vec::new();
        for (number, step) in steps.iter().enumerate().rev() {
            match step {
                Step::Split { old, outer, inner, factor, min } => {
                    let base = self.op(BinaryOp::Mul, known[outer], *factor, span);
                    let mut value = self.op(BinaryOp::Add, base, known[inner], span);
                    if self.hir.constant(*min) != Some(0) {
                        value = self.op(BinaryOp::Add, value, *min, span);
                    }
                    if let Some((_, min, extent, _)) = guarded.iter().find(|g| g.3 == number) {
                        let end = self.op(BinaryOp::Add, *min, *extent, span);
                        guards.push(self.compare(CompareOp::Lt, value, end, span));
                        // What the rounds beyond the domain read counts as much as what others
                        // read, though nothing comes of it: they read the last point.
                        let one = self.hir.int(1, ElementType::I32, span);
                        let last = self.op(BinaryOp::Sub, end, one, span);
                        value = self.op(BinaryOp::Min, value, last, span);
                    }
                    known.insert(old.clone(), value);
                }
                Step::Fuse { inner, outer, fused } => {
                    let both = known[fused];
                    let mut x = self.op(BinaryOp::Mod, both, inner.extent, span);
                    let mut y = self.op(BinaryOp::Div, both, inner.extent, span);
                    if self.hir.constant(inner.min) != Some(0) {
                        x = self.op(BinaryOp::Add, x, inner.min, span);
                    }
                    if self.hir.constant(outer.min) != Some(0) {
                        y = self.op(BinaryOp::Add, y, outer.min, span);
                    }
                    known.insert(inner.name.clone(), x);
                    known.insert(outer.name.clone(), y);
                }
            }
        }
        let variables = (0..bounds.len() as u32).map(|n| known[&self.rvar_name(rdom, n)]).collect();
        Ok((loops, variables, guards, kept))
    }

    #[allow(clippy::too_many_arguments)]
    fn replace_update(
        &mut self,
        func: FuncId,
        k: u32,
        args: Vec<Node>,
        values: Vec<Node>,
        rdom: RDomId,
        kept: Vec<usize>,
        aliases: Vec<(String, String)>,
    ) {
        let vars: Vec<Symbol> = self.hir.funcs[func].vars.clone();
        let mut loops: Vec<String> =
            (0..self.hir.rdoms[rdom].dims.len() as u32).map(|n| self.rvar_name(rdom, n)).collect();
        for (&a, &v) in args.iter().zip(&vars) {
            if matches!(self.hir.nodes[a].kind, NodeKind::Var(n) if n == v) {
                loops.push(self.names.text(v).to_owned());
            }
        }
        let update = &mut self.hir.funcs[func].updates[k as usize];
        let span = update.span;
        let mut number = 0;
        let mut schedule = std::mem::take(&mut update.schedule);
        schedule.retain(|_| {
            number += 1;
            kept.contains(&(number - 1))
        });
        *update = DefinitionInfo {
            args,
            values,
            rdom: Some(rdom),
            span,
            schedule,
            loops,
            aliases: aliases.into_iter().collect(),
        };
    }
}
