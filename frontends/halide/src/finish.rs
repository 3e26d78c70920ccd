//! From the elaborated program to the stage graph: which Funcs are outputs, which are needed for
//! them, their order, and the expressions with Vars as dimensions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use nbcc_base::{Diagnostic, Span};
use nbcc_stages::{
    Definition, Directive, DirectiveKind, Expr, ExprData, ExprKind, Func, FuncData, Pipeline, RDom,
    RDomData, Schedule, Update,
};

use crate::codes;
use crate::elab::{Elab, OUTPUTS, Result};
use crate::pipeline::hir::{
    DefinitionInfo, DirectiveInfo, FuncId, Hir, Node, NodeKind, PendingDirective, RDomId,
};
use crate::syntax::ast::Symbol;
use crate::value::Value;

/// A stage graph has at most this many expressions.
const MAX_EXPRS: usize = crate::elab::MAX_NODES;

impl Elab<'_> {
    /// The stage graph. Called only when no error was reported.
    pub(crate) fn finish(&mut self, name: String) -> Result<Pipeline> {
        self.tell_implicit_inputs();
        let calls = self.calls()?;
        let outputs = self.outputs(&calls)?;
        let mut needed: BTreeSet<FuncId> = BTreeSet::new();
        let mut stack = outputs.clone();
        while let Some(func) = stack.pop() {
            if needed.insert(func) {
                stack.extend(&calls[&func]);
            }
        }
        let unused: Vec<(String, Span)> = self
            .hir
            .funcs
            .iter()
            .filter(|(id, f)| f.pure.is_some() && !f.anonymous && !f.local && !needed.contains(id))
            .map(|(_, f)| (f.name.clone(), f.span))
            .collect();
        for (name, span) in unused {
            self.report(
                Diagnostic::warning(&codes::UNUSED_FUNC, format!("`{name}` is never used"))
                    .at(span, "no output depends on it")
                    .help("declare it as an output to compute it: `Output<Func>`"),
            );
        }
        let order = self.callees_first(&needed, &calls);
        self.levels(&order)?;
        let map: HashMap<FuncId, Func> =
            order.iter().enumerate().map(|(i, &f)| (f, Func::new(i))).collect();
        let mut lower = Lower {
            hir: &self.hir,
            names: &self.names,
            funcs: &map,
            pipeline: Pipeline {
                name,
                exprs: PrimaryMap::new(),
                inputs: self.hir.inputs.clone(),
                params: self.hir.params.clone(),
                constants: self.constants.clone(),
                rdoms: PrimaryMap::new(),
                funcs: PrimaryMap::new(),
                outputs: outputs.iter().map(|f| map[f]).collect(),
                handles: self.handles(&map),
            },
            done: SecondaryMap::new(),
            round: 0,
        };
        for &func in &order {
            if let Err(span) = lower.func(func) {
                return self.fail(
                    Diagnostic::error(&codes::STEPS, "the expressions of the file are too large")
                        .at(span, format!("more than {MAX_EXPRS} operations up to here"))
                        .help("define a Func for a part that is used often"),
                );
            }
        }
        Ok(lower.pipeline)
    }

    /// The first name of the file that each Func can be called by at its end.
    fn handles(&self, funcs: &HashMap<FuncId, Func>) -> BTreeMap<Func, String> {
        let mut names: Vec<(usize, Symbol)> = self
            .file_scopes()
            .flat_map(|scope| scope.iter().map(|(&name, &slot)| (slot, name)))
            .collect();
        names.sort_unstable_by_key(|&(slot, _)| slot);
        let mut handles = BTreeMap::new();
        let mut add = |value: &Value, name: String| {
            if let Value::Func(id) = value
                && let Some(&func) = funcs.get(id)
            {
                handles.entry(func).or_insert(name);
            }
        };
        for (slot, name) in names {
            let name = self.names.text(name);
            match &self.slots[slot].value {
                Value::Array(id) => {
                    for (k, value) in self.arrays[id.0 as usize].iter().enumerate() {
                        add(value, format!("{name}[{k}]"));
                    }
                }
                value => add(value, name.to_owned()),
            }
        }
        handles
    }

    /// The needed Funcs, callees before callers, else in the order of their definitions.
    fn callees_first(
        &self,
        needed: &BTreeSet<FuncId>,
        calls: &HashMap<FuncId, BTreeSet<FuncId>>,
    ) -> Vec<FuncId> {
        let mut waiting: HashMap<FuncId, usize> = HashMap::new();
        let mut callers: HashMap<FuncId, Vec<FuncId>> = HashMap::new();
        let mut ready: BTreeSet<(u32, FuncId)> = BTreeSet::new();
        for &func in needed {
            waiting.insert(func, calls[&func].len());
            if calls[&func].is_empty() {
                ready.insert((self.hir.funcs[func].last, func));
            }
            for &callee in &calls[&func] {
                callers.entry(callee).or_default().push(func);
            }
        }
        let mut order = Vec::with_capacity(needed.len());
        while let Some((_, func)) = ready.pop_first() {
            order.push(func);
            for &caller in callers.get(&func).map_or(&[][..], Vec::as_slice) {
                let left = waiting.get_mut(&caller).expect("every needed Func waits");
                *left -= 1;
                if *left == 0 {
                    ready.insert((self.hir.funcs[caller].last, caller));
                }
            }
        }
        assert_eq!(order.len(), needed.len(), "a Func is complete before another one uses it");
        order
    }

    /// `compute_at` and `store_at` name Funcs of the pipeline.
    fn levels(&mut self, order: &[FuncId]) -> Result<()> {
        let needed: BTreeSet<FuncId> = order.iter().copied().collect();
        let mut wrong = Vec::new();
        for &func in order {
            let info = &self.hir.funcs[func];
            let directives = info.pure.iter().chain(&info.updates).flat_map(|d| &d.schedule);
            for directive in directives {
                if let PendingDirective::ComputeAt(at, _) | PendingDirective::StoreAt(at, _) =
                    &directive.kind
                    && !needed.contains(at)
                {
                    wrong.push((directive.span, self.hir.funcs[*at].name.clone()));
                }
            }
        }
        for (span, name) in &wrong {
            self.report(
                Diagnostic::error(
                    &codes::UNREACHED_LEVEL,
                    format!("`{name}` is not part of the pipeline"),
                )
                .at(*span, format!("no output depends on `{name}`"))
                .help("name a Func that an output depends on, or leave the directive out"),
            );
        }
        if wrong.is_empty() { Ok(()) } else { Err(nbcc_base::Failed) }
    }

    /// The Funcs that each defined Func calls, itself left out.
    fn calls(&mut self) -> Result<HashMap<FuncId, BTreeSet<FuncId>>> {
        let mut calls = HashMap::new();
        let ids: Vec<FuncId> = self.hir.funcs.keys().collect();
        for id in ids {
            let info = &self.hir.funcs[id];
            let Some(pure) = &info.pure else { continue };
            let span = pure.span;
            let mut roots: Vec<Node> = pure.values.clone();
            for update in &info.updates {
                roots.extend(update.args.iter().chain(&update.values));
                if let Some(rdom) = update.rdom {
                    roots.extend(&self.hir.rdoms[rdom].predicates);
                }
            }
            let mut found = BTreeSet::new();
            self.walk(&roots, span, |e, n| {
                if let NodeKind::Call(callee, _, _) = e.hir.nodes[n].kind
                    && callee != id
                {
                    found.insert(callee);
                }
                Ok(())
            })?;
            calls.insert(id, found);
        }
        Ok(calls)
    }

    fn outputs(&mut self, calls: &HashMap<FuncId, BTreeSet<FuncId>>) -> Result<Vec<FuncId>> {
        if !self.hir.outputs.is_empty() {
            let outputs = self.hir.outputs.clone();
            for &func in &outputs {
                let info = &self.hir.funcs[func];
                if info.pure.is_none() {
                    let (name, span) = (info.name.clone(), info.span);
                    return self.fail(
                        Diagnostic::error(
                            &codes::UNDEFINED_OUTPUT,
                            format!("the output `{name}` is never defined"),
                        )
                        .at(span, "declared here")
                        .help(format!("define it: `{name}(x, y) = ...;`")),
                    );
                }
            }
            return Ok(outputs);
        }
        let is_defined = |func: &FuncId| self.hir.funcs[*func].pure.is_some();
        let named = |name: &str| {
            self.hir.funcs.iter().find(|(id, f)| f.name == name && is_defined(id)).map(|(id, _)| id)
        };
        // A variable of the file comes before Funcs that functions gave that name in quotes.
        let held =
            |&name: &&'static str| self.file_func(name).filter(is_defined).map(|func| (func, name));
        if let Some((func, name)) = OUTPUTS.iter().find_map(held) {
            // What a function made has the name that the file gives it.
            if self.hir.funcs[func].local && named(name).is_none() {
                self.hir.funcs[func].name = name.to_owned();
            }
            return Ok(vec![func]);
        }
        if let Some(func) = OUTPUTS.iter().find_map(|name| named(name)) {
            return Ok(vec![func]);
        }
        let called: BTreeSet<FuncId> = calls.values().flatten().copied().collect();
        let last = self
            .hir
            .funcs
            .iter()
            .filter(|(id, f)| f.pure.is_some() && !f.anonymous && !called.contains(id))
            .max_by_key(|(_, f)| f.first)
            .map(|(id, _)| id);
        match last {
            Some(func) => Ok(vec![func]),
            None => {
                let end = self.file.text.len();
                let at = Span { start: end as u32, end: end as u32, source: self.source };
                self.fail(
                    Diagnostic::error(&codes::NO_OUTPUT, "the file defines no Func")
                        .at(at, "nothing to compute")
                        .help("define one: `Func out(x, y) = ...;`"),
                )
            }
        }
    }
}

/// Expressions of one definition in the stage graph's arena.
struct Lower<'a> {
    hir: &'a Hir,
    names: &'a crate::syntax::ast::Names,
    funcs: &'a HashMap<FuncId, Func>,
    pipeline: Pipeline,
    /// Nodes that the current round has lowered.
    done: SecondaryMap<Node, (u32, u32)>,
    round: u32,
}

/// What Vars and reduction variables mean in a definition.
#[derive(Clone, Copy)]
struct Scope<'a> {
    vars: &'a [Symbol],
    rdom: Option<(RDomId, RDom)>,
}

type Lowered<T> = std::result::Result<T, Span>;

impl Lower<'_> {
    fn func(&mut self, id: FuncId) -> Lowered<()> {
        let info = &self.hir.funcs[id];
        let pure = info.pure.as_ref().expect("needed Funcs are defined");
        let scope = Scope { vars: &info.vars, rdom: None };
        self.round += 1;
        let values = self.exprs(&pure.values, scope, pure.span)?;
        let schedule = self.schedule(pure)?;
        let definition = Definition { values, span: pure.span };
        let mut updates = Vec::new();
        for update in &info.updates {
            let rdom = match update.rdom {
                Some(rdom) => Some((rdom, self.rdom(rdom, &info.vars)?)),
                None => None,
            };
            let scope = Scope { vars: &info.vars, rdom };
            self.round += 1;
            let args = self.exprs(&update.args, scope, update.span)?;
            let values = self.exprs(&update.values, scope, update.span)?;
            let schedule = self.schedule(update)?;
            let rdom = rdom.map(|(_, r)| r);
            updates.push(Update { args, values, rdom, schedule, span: update.span });
        }
        self.pipeline.funcs.push(FuncData {
            name: info.name.clone(),
            vars: info.vars.iter().map(|v| self.names.text(*v).to_owned()).collect(),
            types: info.types.clone(),
            pure: Some(definition),
            updates,
            schedule,
            span: info.span,
        });
        Ok(())
    }

    /// A domain for one update: conditions may name the Vars of that update.
    fn rdom(&mut self, id: RDomId, vars: &[Symbol]) -> Lowered<RDom> {
        let info = &self.hir.rdoms[id];
        self.round += 1;
        let none = Scope { vars: &[], rdom: None };
        let mut dims = Vec::new();
        for &(min, extent) in &info.dims {
            let pair = self.exprs(&[min, extent], none, info.span)?;
            dims.push((pair[0], pair[1]));
        }
        let rdom = self.pipeline.rdoms.push(RDomData {
            name: info.name.clone(),
            dims,
            predicates: Vec::new(),
            span: info.span,
        });
        self.round += 1;
        let scope = Scope { vars, rdom: Some((id, rdom)) };
        let predicates = self.exprs(&info.predicates, scope, info.span)?;
        self.pipeline.rdoms[rdom].predicates = predicates;
        Ok(rdom)
    }

    fn schedule(&mut self, definition: &DefinitionInfo) -> Lowered<Schedule> {
        let mut directives = Vec::new();
        for DirectiveInfo { kind, span } in &definition.schedule {
            let kind = match kind {
                PendingDirective::Ready(kind) => kind.clone(),
                PendingDirective::ComputeAt(func, var) => {
                    DirectiveKind::ComputeAt { func: self.funcs[func], var: var.clone() }
                }
                PendingDirective::StoreAt(func, var) => {
                    DirectiveKind::StoreAt { func: self.funcs[func], var: var.clone() }
                }
                PendingDirective::Bound { var, min, extent, estimate } => {
                    self.round += 1;
                    let none = Scope { vars: &[], rdom: None };
                    let pair = self.exprs(&[*min, *extent], none, *span)?;
                    let (var, min, extent) = (var.clone(), pair[0], pair[1]);
                    if *estimate {
                        DirectiveKind::SetEstimate { var, min, extent }
                    } else {
                        DirectiveKind::Bound { var, min, extent }
                    }
                }
            };
            directives.push(Directive { kind, span: *span });
        }
        Ok(Schedule { directives })
    }

    fn exprs(&mut self, roots: &[Node], scope: Scope<'_>, at: Span) -> Lowered<Vec<Expr>> {
        let round = self.round;
        // Operands have lower numbers than what uses them.
        let mut below = BTreeSet::new();
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            if self.done[node].0 != round && below.insert(node) {
                self.hir.nodes[node].operands(|n| stack.push(n));
            }
        }
        if self.pipeline.exprs.len() + below.len() > MAX_EXPRS {
            return Err(at);
        }
        for node in below {
            let expr = self.expr(node, scope);
            self.done[node] = (round, expr.as_u32());
        }
        Ok(roots.iter().map(|&n| self.lowered(n)).collect())
    }

    fn lowered(&self, node: Node) -> Expr {
        debug_assert_eq!(self.done[node].0, self.round, "{node} is lowered");
        Expr::from_u32(self.done[node].1)
    }

    fn expr(&mut self, node: Node, scope: Scope<'_>) -> Expr {
        let data = &self.hir.nodes[node];
        let one = |n: &Node| self.lowered(*n);
        let all = |args: &[Node]| args.iter().map(|&n| self.lowered(n)).collect::<Vec<_>>();
        let kind = match &data.kind {
            NodeKind::Literal(literal) => ExprKind::Literal(*literal),
            NodeKind::Var(name) => {
                let n = scope.vars.iter().position(|v| v == name);
                ExprKind::Dim(n.expect("every Var of a definition stands on its left side") as u32)
            }
            NodeKind::RVar(id, n) => match scope.rdom {
                Some((own, rdom)) if own == *id => ExprKind::RVar(rdom, *n),
                _ => unreachable!("a definition names only its own domain"),
            },
            NodeKind::Param(param) => ExprKind::Param(*param),
            NodeKind::InputExtent(input, dim) => ExprKind::InputExtent(*input, *dim),
            NodeKind::Load(input, args) => ExprKind::Load(*input, all(args)),
            NodeKind::Call(func, k, args) => ExprKind::Call(self.funcs[func], *k, all(args)),
            NodeKind::Unary(op, a) => ExprKind::Unary(*op, one(a)),
            NodeKind::Binary(op, a, b) => ExprKind::Binary(*op, one(a), one(b)),
            NodeKind::Compare(op, a, b) => ExprKind::Compare(*op, one(a), one(b)),
            NodeKind::Select(a, b, c) => ExprKind::Select(one(a), one(b), one(c)),
            NodeKind::Cast(a) => ExprKind::Cast(one(a)),
            NodeKind::Reinterpret(a) => ExprKind::Reinterpret(one(a)),
            NodeKind::Intrinsic(op, args) => ExprKind::Intrinsic(*op, all(args)),
        };
        self.pipeline.exprs.push(ExprData { kind, ty: data.ty, span: data.span })
    }
}
