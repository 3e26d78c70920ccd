//! Definitions of Funcs: pure ones and updates, with the rules of Halide's `Func` and `Function`.

use std::collections::BTreeMap;

use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{DefinitionInfo, FuncId, Node, NodeKind, RDomId};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{ExprId, Op, Symbol};
use crate::value::Value;
use crate::value::types::c_name;

/// What [`Elab::survey`] finds below the values of a definition.
#[derive(Default)]
struct Survey {
    /// Vars with the place of their first use.
    vars: Vec<(Symbol, Span)>,
    rdoms: Vec<(RDomId, Span)>,
    calls: Vec<FuncId>,
    /// Calls of the Func itself.
    own: Vec<Node>,
}

/// Where a definition stands.
#[derive(Clone, Copy)]
struct Places {
    left: Span,
    right: Span,
    whole: Span,
}

impl Elab<'_> {
    /// `func(args) = value` or `func(args) op= value` as it stands in the source; the spans are those of
    /// the left side and of the whole.
    pub(crate) fn define_from(
        &mut self,
        func: FuncId,
        args: &[ExprId],
        op: Option<Op>,
        value: ExprId,
        (left, span): (Span, Span),
    ) -> Result<()> {
        let args: Vec<Spanned> = args.iter().map(|&a| self.spanned(a)).collect::<Result<_>>()?;
        let outer = self.defining.replace(func);
        let value = self.spanned(value);
        self.defining = outer;
        self.define(func, &args, op, value?, (left, span))
    }

    /// The same with values.
    pub(crate) fn define(
        &mut self,
        func: FuncId,
        args: &[Spanned],
        op: Option<Op>,
        (value, at): Spanned,
        (left, span): (Span, Span),
    ) -> Result<()> {
        let values: Vec<Spanned> = match value {
            Value::List(list) => list.to_vec(),
            Value::Tuple(nodes) => nodes.iter().map(|&n| (Value::Expr(n), at)).collect(),
            other => vec![(other, at)],
        };
        if values.is_empty() {
            return self.fail(
                Diagnostic::error(&codes::VALUE_COUNT, "a definition needs a value")
                    .at(at, "an empty list")
                    .help("write a value: `f(x, y) = 0;`"),
            );
        }
        if self.hir.funcs[func].poisoned {
            return Err(Failed);
        }
        match (self.hir.funcs[func].pure.is_some(), op) {
            (false, None) => self.pure(func, args, &values, left, at, span),
            (_, op) => {
                self.update(func, args, op, &values, Places { left, right: at, whole: span })
            }
        }
    }

    /// `func(args)[index] = value`: an update of one value of a Tuple.
    pub(crate) fn define_element(
        &mut self,
        func: FuncId,
        args: &[ExprId],
        index: &Spanned,
        op: Option<Op>,
        value: ExprId,
        (left, span): (Span, Span),
    ) -> Result<()> {
        let at = index.1;
        let args: Vec<Spanned> = args.iter().map(|&a| self.spanned(a)).collect::<Result<_>>()?;
        let (own, value) = (self.call_func(func, at, &args, left)?, self.spanned(value)?);
        let Value::Tuple(own) = own else {
            return self.fail(
                Diagnostic::error(
                    &codes::NOT_INDEXED,
                    "a Func of one value has no values to choose from",
                )
                .at(at, "leave out the index")
                .help("leave out the index"),
            );
        };
        let n = self.tuple_index(own.len(), index)?;
        let mut values: Vec<Spanned> = own.iter().map(|&o| (Value::Expr(o), left)).collect();
        let new = match op {
            None => value.0,
            Some(op) => self.binary(op, span, &values[n], &(value.0, value.1), span)?,
        };
        values[n] = (new, value.1);
        self.update(func, &args, None, &values, Places { left, right: value.1, whole: span })
    }

    /// The Vars on the left of a first definition, with `_` standing for `implicit` Vars.
    fn left_vars(
        &mut self,
        func: FuncId,
        args: &[Spanned],
        implicit: usize,
        pure: bool,
        span: Span,
    ) -> Result<Vec<Symbol>> {
        let mut vars: Vec<Symbol> = Vec::new();
        for (i, (value, at)) in args.iter().enumerate() {
            match value {
                v if self.is_placeholder(v) => {
                    for k in 0..implicit {
                        vars.push(self.implicit_var(k));
                    }
                }
                Value::Var(name) => {
                    if vars.contains(name) {
                        if !pure {
                            vars.push(self.names.intern(&format!("d{i}")));
                            continue;
                        }
                        let text = self.names.text(*name).to_owned();
                        return self.fail(
                            Diagnostic::error(
                                &codes::LEFT_SIDE,
                                format!("`{text}` stands twice on the left side"),
                            )
                            .at(*at, "the second one")
                            .help("use a Var of its own for each dimension"),
                        );
                    }
                    vars.push(*name);
                }
                Value::Poison => return Err(Failed),
                other if pure => {
                    let what = match other {
                        Value::Expr(_) => "an expression",
                        other => other.what(),
                    };
                    let name = self.hir.funcs[func].name.clone();
                    return self.fail(
                        Diagnostic::error(
                            &codes::LEFT_SIDE,
                            format!("`{name}` must be defined at every point first"),
                        )
                        .at(*at, format!("this is {what}, not a Var"))
                        .help(format!(
                            "give it a value for Vars before this update: `{name}({}) = 0;`",
                            ["x", "x, y", "x, y, c", "x, y, c, n"][(args.len() - 1).min(3)]
                        )),
                    );
                }
                _ => vars.push(self.names.intern(&format!("d{i}"))),
            }
        }
        if vars.len() > crate::elab::decl::MAX_DIMENSIONS as usize {
            let n = vars.len();
            return self.fail(
                Diagnostic::error(&codes::DIMENSIONS, format!("a Func cannot have {n} dimensions"))
                    .at(
                        span,
                        format!("at most {} are supported", crate::elab::decl::MAX_DIMENSIONS),
                    )
                    .help(crate::helps::FEWER_DIMENSIONS),
            );
        }
        Ok(vars)
    }

    /// How many implicit Vars (`_0`, `_1`, ...) the values use.
    fn implicit_count(&self, survey: &Survey) -> usize {
        let number = |(name, _): &(Symbol, Span)| {
            let text = self.names.text(*name);
            text.strip_prefix('_').and_then(|n| n.parse::<usize>().ok()).map(|n| n + 1)
        };
        survey.vars.iter().filter_map(number).max().unwrap_or(0)
    }

    fn pure(
        &mut self,
        func: FuncId,
        args: &[Spanned],
        values: &[Spanned],
        left: Span,
        right: Span,
        span: Span,
    ) -> Result<()> {
        let nodes: Vec<Node> =
            values.iter().map(|(v, at)| self.expr_of(v, *at)).collect::<Result<_>>()?;
        let survey = self.survey(func, &nodes, span)?;
        let implicit = self.implicit_count(&survey);
        let vars = self.left_vars(func, args, implicit, true, span)?;
        if let Some((_, at)) = survey.rdoms.first() {
            return self.fail(
                Diagnostic::error(&codes::RDOM_IN_PURE, "a reduction variable in a pure definition")
                    .at(*at, "runs over an RDom")
                    .help("reduce over it with `sum`, `product`, `maximum` or `minimum`, or write an update"),
            );
        }
        self.known_vars(&survey, &vars)?;
        self.check_declared(func, &vars, &nodes, left, right)?;
        self.record_pure(func, vars, nodes, span)?;
        self.freeze(func, &survey, span);
        Ok(())
    }

    /// Every Var used stands on the left.
    fn known_vars(&mut self, survey: &Survey, vars: &[Symbol]) -> Result<()> {
        let unknown = survey.vars.iter().find(|(name, _)| !vars.contains(name));
        let Some(&(name, at)) = unknown else { return Ok(()) };
        let text = self.names.text(name).to_owned();
        let left: Vec<&str> = vars.iter().map(|v| self.names.text(*v)).collect();
        let help = if left.is_empty() {
            "the left side has no Vars".to_owned()
        } else {
            format!("the left side has {}", crate::elab::member::list(&left))
        };
        self.fail(
            Diagnostic::error(
                &codes::FREE_VAR,
                format!("`{text}` is used on the right side but does not stand on the left"),
            )
            .at(at, "no coordinate of the Func that is defined")
            .help(help),
        )
    }

    /// `output = f`: the Func becomes the output, under the output's name.
    pub(crate) fn replace_output(
        &mut self,
        output: FuncId,
        func: FuncId,
        span: Span,
    ) -> Result<()> {
        if func == output {
            return Ok(());
        }
        let name = self.hir.funcs[output].name.clone();
        let problem = if self.hir.funcs[output].pure.is_some() {
            Some(("is defined already", "only an output without a definition can be assigned to"))
        } else if self.hir.funcs[func].pure.is_none() {
            Some(("is set to a Func without a definition", "define the Func first"))
        } else if self.hir.outputs.contains(&func) {
            Some(("is set to another output", "define it: `output(x, y) = f(x, y)`"))
        } else {
            None
        };
        if self.hir.funcs[func].poisoned {
            return Err(Failed);
        }
        if let Some((what, help)) = problem {
            return self.fail(
                Diagnostic::error(&codes::NOT_ASSIGNABLE, format!("the output `{name}` {what}"))
                    .at(span, "not possible")
                    .help(help),
            );
        }
        let info = &self.hir.funcs[func];
        let (vars, values) = (info.vars.clone(), info.pure.as_ref().map(|p| p.values.clone()));
        let declared = self.hir.funcs[output].declared;
        let own = std::mem::replace(&mut self.hir.funcs[func].declared, declared);
        debug_assert!(own.is_none(), "only outputs are declared with a type");
        let own_name = std::mem::replace(&mut self.hir.funcs[func].name, name);
        let fits = self.check_declared(func, &vars, &values.unwrap_or_default(), span, span);
        if fits.is_err() {
            // It may fit another output.
            self.hir.funcs[func].declared = None;
            self.hir.funcs[func].name = own_name;
            return fits;
        }
        // The name stays with what is computed; nothing can define the declared Func any more.
        self.hir.funcs[output].poisoned = true;
        for slot in &mut self.hir.outputs {
            if *slot == output {
                *slot = func;
            }
        }
        Ok(())
    }

    /// An output is defined with the type and the dimensions with which it was declared.
    pub(crate) fn check_declared(
        &mut self,
        func: FuncId,
        vars: &[Symbol],
        values: &[Node],
        left: Span,
        right: Span,
    ) -> Result<()> {
        let types: Vec<_> = values.iter().map(|&v| self.hir.ty(v)).collect();
        if let Some(declared) = self.hir.funcs[func].declared {
            let name = self.hir.funcs[func].name.clone();
            let found = vars.len() as u32;
            if let Some(ty) = declared.ty
                && (types.len() != 1 || types[0] != ty)
            {
                let is = match types.as_slice() {
                    [ty] => c_name(*ty).to_owned(),
                    _ => format!("a Tuple of {}", types.len()),
                };
                return self.fail(
                    Diagnostic::error(
                        &codes::OUTPUT_TYPE,
                        format!(
                            "the output `{name}` is declared as {} but defined as {is}",
                            c_name(ty)
                        ),
                    )
                    .at(right, format!("has type {is}"))
                    .and(declared.span, "declared here")
                    .help(format!("convert the value: `cast<{}>(...)`", c_name(ty))),
                );
            }
            if declared.dims != 0 && declared.dims != found {
                return self.fail(
                    Diagnostic::error(
                        &codes::OUTPUT_TYPE,
                        format!(
                            "the output `{name}` is declared with {} but defined with {found}",
                            count(declared.dims as usize, "dimension")
                        ),
                    )
                    .at(left, format!("has {}", count(found as usize, "dimension")))
                    .and(declared.span, "declared here")
                    .help(crate::helps::declare_output(
                        declared.ty.or(types.first().copied()),
                        vars.len(),
                    )),
                );
            }
        }
        Ok(())
    }

    /// Enters a pure definition whose parts are known to fit together.
    pub(crate) fn record_pure(
        &mut self,
        func: FuncId,
        vars: Vec<Symbol>,
        values: Vec<Node>,
        span: Span,
    ) -> Result<()> {
        let types: Vec<_> = values.iter().map(|&v| self.hir.ty(v)).collect();
        let loops = vars.iter().map(|v| self.names.text(*v).to_owned()).collect();
        let mut args = Vec::with_capacity(vars.len());
        for &v in &vars {
            args.push(self.expr_of(&Value::Var(v), span)?);
        }
        self.definitions += 1;
        let number = self.definitions;
        let info = &mut self.hir.funcs[func];
        info.vars = vars;
        info.types = types;
        info.first = info.first.min(number);
        info.last = number;
        info.pure = Some(DefinitionInfo {
            args,
            values,
            rdom: None,
            span,
            schedule: Vec::new(),
            loops,
            aliases: BTreeMap::new(),
        });
        Ok(())
    }

    fn update(
        &mut self,
        func: FuncId,
        args: &[Spanned],
        op: Option<Op>,
        values: &[Spanned],
        places: Places,
    ) -> Result<()> {
        let Places { left, right, whole: span } = places;
        let name = self.hir.funcs[func].name.clone();
        if let Some(op) = op
            && !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div)
        {
            return self.fail(
                Diagnostic::error(
                    &codes::OPERAND_TYPES,
                    format!("`{}=` is not defined on a Func", op.text()),
                )
                .at(left, "only `+=`, `-=`, `*=` and `/=` are")
                .help(format!("write `{name}(...) = {name}(...) {} ...`", op.text())),
            );
        }
        if let Some(user) = self.hir.funcs[func].frozen {
            return self.fail(
                Diagnostic::error(
                    &codes::FROZEN,
                    format!("`{name}` is updated after it was used by another Func"),
                )
                .at(left, "too late for an update")
                .and(user, "used here")
                .help("move the update before that definition"),
            );
        }
        if self.hir.funcs[func].pure.is_none() {
            self.base_case(func, args, op, values, places)?;
        }
        let vars = self.hir.funcs[func].vars.clone();
        let nodes = self.coordinates(&name, vars.len(), args, left)?;
        let types = self.hir.funcs[func].types.clone();
        if values.len() != types.len() {
            return self.fail(
                Diagnostic::error(
                    &codes::VALUE_COUNT,
                    format!(
                        "`{name}` has {}, but the update gives {}",
                        count(types.len(), "value"),
                        values.len()
                    ),
                )
                .at(right, format!("{} here", count(values.len(), "value")))
                .help(match types.len() {
                    1 => "write one value".to_owned(),
                    n => format!(
                        "write {n} values in a list, or update one of them: `f(x)[0] = ...`"
                    ),
                }),
            );
        }
        let mut results = Vec::new();
        for (k, (value, at)) in values.iter().enumerate() {
            let value = (value.clone(), *at);
            let node = match (op, &value.0) {
                (Some(op), _) => {
                    let own = NodeKind::Call(func, k as u32, nodes.clone().into());
                    let own = self.hir.push(own, types[k], left);
                    let sum = self.binary(op, span, &(Value::Expr(own), left), &value, span)?;
                    self.expr_of(&sum, span)?
                }
                (None, Value::Int(n)) => self.coerce(*n, types[k], *at)?,
                (None, v) => self.expr_of(v, *at)?,
            };
            let ty = self.hir.ty(node);
            if ty != types[k] {
                return self.fail(
                    Diagnostic::error(
                        &codes::UPDATE_TYPE,
                        format!(
                            "`{name}` has values of type {}, the update gives {}",
                            c_name(types[k]),
                            c_name(ty)
                        ),
                    )
                    .at(*at, format!("makes the value {}", c_name(ty)))
                    .help(format!("convert it: `cast<{}>(...)`", c_name(types[k]))),
                );
            }
            let node = if self.undefs.is_empty() {
                node
            } else {
                let own = NodeKind::Call(func, k as u32, nodes.clone().into());
                let own = self.hir.push(own, types[k], left);
                self.keep_old(node, own, *at)?
            };
            results.push(node);
        }
        self.record_update(func, nodes, results, None, left, span)
    }

    /// The value of an update where `undef` may be chosen, which leaves the old value as it is.
    fn keep_old(&mut self, value: Node, old: Node, at: Span) -> Result<Node> {
        if self.undefs.contains(&value) {
            return Ok(old);
        }
        let NodeKind::Select(condition, yes, no) = self.hir.nodes[value].kind else {
            return Ok(value);
        };
        self.work(1, at)?;
        self.deeper(at, |e| {
            let (new_yes, new_no) = (e.keep_old(yes, old, at)?, e.keep_old(no, old, at)?);
            if (new_yes, new_no) == (yes, no) {
                return Ok(value);
            }
            Ok(e.choose(condition, new_yes, new_no, at))
        })
    }

    /// The pure definition that `f(...) op= e` implies where there is none: 0 for sums, 1 for
    /// products.
    fn base_case(
        &mut self,
        func: FuncId,
        args: &[Spanned],
        op: Option<Op>,
        values: &[Spanned],
        places: Places,
    ) -> Result<()> {
        let Places { left, right, whole: span } = places;
        let nodes: Vec<Node> =
            values.iter().map(|(v, at)| self.expr_of(v, *at)).collect::<Result<_>>()?;
        let survey = self.survey(func, &nodes, span)?;
        let implicit = self.implicit_count(&survey);
        let vars = self.left_vars(func, args, implicit, false, span)?;
        let start = i64::from(matches!(op, Some(Op::Mul | Op::Div)));
        self.check_declared(func, &vars, &nodes, left, right)?;
        let starts = nodes
            .iter()
            .map(|&n| {
                let ty = self.hir.ty(n);
                self.hir.int(start, ty, span)
            })
            .collect();
        self.record_pure(func, vars, starts, span)
    }

    /// Checks and enters an update. An `explicit` domain is run over even where nothing names it.
    pub(crate) fn record_update(
        &mut self,
        func: FuncId,
        args: Vec<Node>,
        values: Vec<Node>,
        explicit: Option<RDomId>,
        left: Span,
        span: Span,
    ) -> Result<()> {
        let vars = self.hir.funcs[func].vars.clone();
        let is_pure: Vec<bool> = args
            .iter()
            .zip(&vars)
            .map(|(&a, v)| matches!(self.hir.nodes[a].kind, NodeKind::Var(n) if n == *v))
            .collect();
        let mut roots = args.clone();
        roots.extend(&values);
        let mut survey = self.survey(func, &roots, span)?;
        if let Some(rdom) = explicit {
            survey.rdoms.retain(|(r, _)| *r != rdom);
            survey.rdoms.insert(0, (rdom, span));
        }
        if let [(first, _), (_, second), ..] = survey.rdoms.as_slice() {
            let (declared, second) = (self.hir.rdoms[*first].span, *second);
            return self.fail(
                Diagnostic::error(&codes::TWO_RDOMS, "an update runs over one RDom only")
                    .at(second, "of a second RDom")
                    .and(declared, "the first one")
                    .help("make one RDom of more dimensions"),
            );
        }
        let rdom = survey.rdoms.first().map(|(r, _)| *r);
        if let Some(rdom) = rdom {
            let predicates = self.hir.rdoms[rdom].predicates.clone();
            let more = self.survey(func, &predicates, span)?;
            survey.vars.extend(more.vars);
            survey.calls.extend(more.calls);
            survey.own.extend(more.own);
        }
        let pure: Vec<_> =
            vars.iter().zip(&is_pure).filter(|(_, p)| **p).map(|(v, _)| *v).collect();
        self.misplaced_var(func, &args, &is_pure)?;
        self.known_vars(&survey, &pure)?;
        for &own in &survey.own {
            let NodeKind::Call(_, _, own_args) = &self.hir.nodes[own].kind else { continue };
            let matches = own_args.iter().zip(&vars).zip(&is_pure).all(|((&a, v), pure)| {
                !pure || matches!(self.hir.nodes[a].kind, NodeKind::Var(n) if n == *v)
            });
            if !matches {
                let at = self.hir.nodes[own].span;
                let names: Vec<&str> = pure.iter().map(|v| self.names.text(*v)).collect();
                let help = format!(
                    "it must have {} where the left side has {}, or run over an RDom",
                    crate::elab::member::list(&names),
                    if names.len() == 1 { "it" } else { "them" }
                );
                return self.fail(
                    Diagnostic::error(
                        &codes::SELF_REFERENCE,
                        "the update refers to other points along a dimension that has no order",
                    )
                    .at(at, "at other coordinates than the left side")
                    .help(help),
                );
            }
        }
        if rdom.is_none() && survey.own.is_empty() && is_pure.iter().all(|&p| p) {
            let name = self.hir.funcs[func].name.clone();
            let first = self.hir.funcs[func].pure.as_ref().map_or(span, |p| p.span);
            self.report(
                Diagnostic::warning(
                    &codes::HIDDEN_DEFINITION,
                    format!("this update of `{name}` hides its earlier definition"),
                )
                .at(left, "replaces every value")
                .and(first, "hidden definition"),
            );
        }
        let mut loops: Vec<String> = pure.iter().map(|v| self.names.text(*v).to_owned()).collect();
        if let Some(rdom) = rdom {
            let count = self.hir.rdoms[rdom].dims.len() as u32;
            loops.splice(0..0, (0..count).map(|n| self.rvar_name(rdom, n)));
            self.hir.rdoms[rdom].used.get_or_insert(span);
        }
        self.freeze(func, &survey, span);
        self.definitions += 1;
        let number = self.definitions;
        let info = &mut self.hir.funcs[func];
        info.first = info.first.min(number);
        info.last = number;
        info.updates.push(DefinitionInfo {
            args,
            values,
            rdom,
            span,
            schedule: Vec::new(),
            loops,
            aliases: BTreeMap::new(),
        });
        Ok(())
    }

    /// A Var alone on the left side of an update is that of the dimension at its place.
    fn misplaced_var(&mut self, func: FuncId, args: &[Node], is_pure: &[bool]) -> Result<()> {
        let vars = self.hir.funcs[func].vars.clone();
        let pure: Vec<Symbol> =
            vars.iter().zip(is_pure).filter(|(_, p)| **p).map(|(v, _)| *v).collect();
        for ((&arg, &own), &pure_here) in args.iter().zip(&vars).zip(is_pure) {
            let NodeKind::Var(name) = self.hir.nodes[arg].kind else { continue };
            if pure_here || pure.contains(&name) {
                continue;
            }
            let (func_name, at) = (self.hir.funcs[func].name.clone(), self.hir.nodes[arg].span);
            let (found, want) = (self.names.text(name).to_owned(), self.names.text(own).to_owned());
            return self.fail(
                Diagnostic::error(
                    &codes::FREE_VAR,
                    format!("`{found}` is not the Var with which this dimension of `{func_name}` is defined"),
                )
                .at(at, format!("`{want}` in the definition"))
                .help("an update names a dimension by the Var of the definition, or has an expression in its place"),
            );
        }
        Ok(())
    }

    /// The loop name of a reduction variable.
    pub(crate) fn rvar_name(&self, rdom: RDomId, n: u32) -> String {
        format!("{}${}", self.hir.rdoms[rdom].name, ["x", "y", "z", "w"][n as usize])
    }

    fn survey(&mut self, func: FuncId, roots: &[Node], at: Span) -> Result<Survey> {
        let mut survey = Survey::default();
        self.walk(roots, at, |e, node| {
            let data = &e.hir.nodes[node];
            match &data.kind {
                NodeKind::Var(name) if !survey.vars.iter().any(|(v, _)| v == name) => {
                    survey.vars.push((*name, data.span));
                }
                NodeKind::RVar(rdom, _) if !survey.rdoms.iter().any(|(r, _)| r == rdom) => {
                    survey.rdoms.push((*rdom, data.span));
                }
                NodeKind::Call(callee, _, _) if *callee == func => survey.own.push(node),
                NodeKind::Call(callee, _, _) => survey.calls.push(*callee),
                _ => {}
            }
            Ok(())
        })?;
        Ok(survey)
    }

    fn freeze(&mut self, func: FuncId, survey: &Survey, span: Span) {
        for &callee in &survey.calls {
            if callee != func {
                self.hir.funcs[callee].frozen.get_or_insert(span);
            }
        }
    }

    /// `rdom.where(condition)`.
    pub(crate) fn rdom_where(
        &mut self,
        rdom: RDomId,
        condition: &Spanned,
        span: Span,
    ) -> Result<()> {
        if let Some(used) = self.hir.rdoms[rdom].used {
            return self.fail(
                Diagnostic::error(
                    &codes::LATE_WHERE,
                    "an RDom takes no condition after it was used in a definition",
                )
                .at(span, "too late")
                .and(used, "used here")
                .help("move the condition before that definition"),
            );
        }
        let node = self.condition(condition)?;
        let mut other = None;
        self.walk(&[node], span, |e, n| {
            if let NodeKind::RVar(r, _) = e.hir.nodes[n].kind
                && r != rdom
            {
                other.get_or_insert(e.hir.nodes[n].span);
            }
            Ok(())
        })?;
        if let Some(at) = other {
            return self.fail(
                Diagnostic::error(&codes::TWO_RDOMS, "a condition on an RDom names another RDom")
                    .at(at, "of another RDom")
                    .help("make one RDom of both: `RDom r(0, 3, 0, 3);`"),
            );
        }
        self.hir.rdoms[rdom].predicates.push(node);
        Ok(())
    }
}
