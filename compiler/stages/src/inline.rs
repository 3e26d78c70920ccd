//! Inlining: calls of Funcs that are computed at each use become their definitions.
//!
//! A substitution is made once for each Func and list of coordinates, and equal expressions are
//! one, so stages that read each other at many places stay polynomial in size.

use std::rc::Rc;

use cranelift_entity::{EntityRef, SecondaryMap};
use foldhash::{HashMap, HashMapExt};
use nbcc_base::{Diagnostic, Diagnostics};

use crate::simplify::{Simplifier, rewrite_roots};
use crate::{DirectiveKind, Expr, ExprKind, Func, Pipeline, Walker, codes};

/// Expressions looked at while inlining; more is refused.
const MAX_WORK: usize = 1 << 20;

/// Whether a Func is computed anew at each use: it has no updates, is no output, and no directive
/// gives it loops of its own.
pub fn is_inlined(pipeline: &Pipeline, func: Func) -> bool {
    let data = &pipeline.funcs[func];
    let own_loops = data.schedule.directives.iter().rev().find_map(|d| match d.kind {
        DirectiveKind::ComputeRoot | DirectiveKind::ComputeAt { .. } => Some(true),
        DirectiveKind::ComputeInline => Some(false),
        _ => None,
    });
    data.pure.is_some()
        && data.updates.is_empty()
        && !pipeline.outputs.contains(&func)
        && own_loops != Some(true)
}

/// A copy of a pipeline without calls of the Funcs that [`is_inlined`] names. They keep their
/// numbers and definitions, but nothing calls them any more. Fails where that makes expressions
/// too many.
pub fn inline(pipeline: &Pipeline) -> Result<Pipeline, Diagnostics> {
    inline_where(pipeline, |func| is_inlined(pipeline, func))
}

/// The same for the Funcs that `chosen` names, none of which may have updates.
pub fn inline_where(
    pipeline: &Pipeline,
    chosen: impl FnMut(Func) -> bool,
) -> Result<Pipeline, Diagnostics> {
    let inlined: Vec<bool> = pipeline.funcs.keys().map(chosen).collect();
    let mut inliner = Inliner {
        pipeline,
        inlined,
        result: Pipeline { exprs: Default::default(), ..pipeline.clone() },
        simplifier: Simplifier::default(),
        walker: Walker::default(),
        bodies: HashMap::new(),
        substituted: HashMap::new(),
        work: MAX_WORK,
    };
    // The definitions of inlined Funcs are copied as they are, everything else is rewritten; an
    // expression may belong to both.
    let mut copied: SecondaryMap<Expr, Option<Expr>> = SecondaryMap::new();
    let mut rewritten: SecondaryMap<Expr, Option<Expr>> = SecondaryMap::new();
    let (mut to_copy, mut to_rewrite) = (Vec::new(), schedule_roots(pipeline));
    for func in pipeline.funcs.keys() {
        let roots = if inliner.inlined[func.index()] { &mut to_copy } else { &mut to_rewrite };
        roots.extend(pipeline.func_roots(func));
    }
    for expr in inliner.walker.reachable(pipeline, to_copy) {
        let data = &pipeline.exprs[expr];
        let kind = data.kind.map_operands(|operand| mapped(&copied, operand));
        copied[expr] = Some(inliner.make(kind, expr));
    }
    for expr in inliner.walker.reachable(pipeline, to_rewrite) {
        let data = &pipeline.exprs[expr];
        let kind = data.kind.map_operands(|operand| mapped(&rewritten, operand));
        rewritten[expr] = Some(match kind {
            ExprKind::Call(func, k, args) if inliner.inlined[func.index()] => {
                inliner.substitute((func, k, args)).ok_or_else(|| {
                    let name = &pipeline.funcs[func].name;
                    let message = format!("inlining `{name}` makes expressions too large");
                    let mut diagnostics = Diagnostics::default();
                    diagnostics.push(
                        Diagnostic::error(&codes::INLINE_TOO_LARGE, message)
                            .at(data.span, format!("`{name}` is computed anew here"))
                            .help(format!("compute it once: `{name}.compute_root();`")),
                    );
                    diagnostics
                })?
            }
            kind => inliner.make(kind, expr),
        });
    }
    let Inliner { mut result, inlined, .. } = inliner;
    rewrite_roots(&mut result, |func, expr| match func {
        Some(func) if inlined[func.index()] => mapped(&copied, expr),
        _ => mapped(&rewritten, expr),
    });
    Ok(result)
}

fn mapped(map: &SecondaryMap<Expr, Option<Expr>>, expr: Expr) -> Expr {
    match map[expr] {
        Some(new) => new,
        None => panic!("{expr:?} was not visited before its user"),
    }
}

/// The expressions of reduction domains and of directives.
fn schedule_roots(pipeline: &Pipeline) -> Vec<Expr> {
    let mut roots = Vec::new();
    rewrite_roots(&mut pipeline.clone(), |func, expr| {
        if func.is_none() {
            roots.push(expr);
        }
        expr
    });
    roots
}

/// A value of a Func at some coordinates of the result.
type Instance = (Func, u32, Vec<Expr>);

struct Inliner<'a> {
    pipeline: &'a Pipeline,
    inlined: Vec<bool>,
    result: Pipeline,
    simplifier: Simplifier,
    walker: Walker,
    bodies: HashMap<(Func, u32), Rc<[Expr]>>,
    substituted: HashMap<Instance, Expr>,
    work: usize,
}

/// An instance half way: the body's expressions up to the length of `new` are made.
struct Frame {
    instance: Instance,
    body: Rc<[Expr]>,
    new: Vec<Expr>,
}

impl Inliner<'_> {
    /// Makes `kind`, which stands for the original expression `expr`.
    fn make(&mut self, kind: ExprKind, expr: Expr) -> Expr {
        let data = &self.pipeline.exprs[expr];
        self.simplifier.make(&mut self.result, kind, data.ty, data.span)
    }

    fn frame(&mut self, instance: Instance) -> Option<Frame> {
        let (func, k, _) = instance;
        let Some(definition) = &self.pipeline.funcs[func].pure else {
            panic!("{func:?} is to be inlined and has no definition");
        };
        let value = definition.values[k as usize];
        let (walker, pipeline) = (&mut self.walker, self.pipeline);
        let body = self
            .bodies
            .entry((func, k))
            .or_insert_with(|| walker.reachable(pipeline, [value]).into())
            .clone();
        self.work = self.work.checked_sub(body.len())?;
        Some(Frame { instance, new: Vec::with_capacity(body.len()), body })
    }

    /// The expression that an instance amounts to. `None` past the limit.
    fn substitute(&mut self, instance: Instance) -> Option<Expr> {
        if let Some(&known) = self.substituted.get(&instance) {
            return Some(known);
        }
        let mut stack = vec![self.frame(instance)?];
        loop {
            let frame = stack.last_mut()?;
            let Some(&expr) = frame.body.get(frame.new.len()) else {
                // Operands precede users, so the value itself is the last of its body.
                let value = *frame.new.last()?;
                self.substituted.insert(stack.pop()?.instance, value);
                if stack.is_empty() {
                    return Some(value);
                }
                continue;
            };
            let of = |operand: Expr| match frame.body.binary_search(&operand) {
                Ok(slot) => frame.new[slot],
                Err(_) => panic!("{operand:?} is missing from a body"),
            };
            let made = match &self.pipeline.exprs[expr].kind {
                ExprKind::Dim(n) => frame.instance.2[*n as usize],
                ExprKind::Call(func, k, args) if self.inlined[func.index()] => {
                    let instance = (*func, *k, args.iter().map(|&a| of(a)).collect());
                    match self.substituted.get(&instance) {
                        Some(&known) => known,
                        None => {
                            let next = self.frame(instance)?;
                            stack.push(next);
                            continue;
                        }
                    }
                }
                kind => {
                    let kind = kind.map_operands(of);
                    let data = &self.pipeline.exprs[expr];
                    self.simplifier.make(&mut self.result, kind, data.ty, data.span)
                }
            };
            frame.new.push(made);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Build;

    /// `f0 = in`, each next the sum of three neighbours of the one before.
    fn chain(stages: usize) -> Build {
        let mut b = Build::new();
        let input = b.input("in", 1);
        let mut last = None;
        for n in 0..stages {
            let taps: Vec<Expr> = (-1..=1)
                .map(|d| {
                    let (x, d) = (b.dim(0), b.int(d));
                    let at = b.add(x, d);
                    match last {
                        None => b.load(input, &[at]),
                        Some(f) => b.call(f, &[at]),
                    }
                })
                .collect();
            let sum = b.add(taps[0], taps[1]);
            let sum = b.add(sum, taps[2]);
            last = Some(b.func(&format!("f{n}"), &["x"], sum));
        }
        b.pipeline.outputs = last.into_iter().collect();
        b
    }

    #[test]
    fn shared_subexpressions_stay_shared() {
        let p = chain(60).pipeline;
        let inlined = inline(&p).unwrap();
        let roots = inlined.func_roots(inlined.outputs[0]);
        let reachable = Walker::once(&inlined, roots);
        // Stage k from the last is computed at 2k + 1 places, two sums each.
        assert!(reachable.len() < 60 * 60 * 3, "{} expressions", reachable.len());
        assert!(
            !reachable.iter().any(|&e| matches!(inlined.exprs[e].kind, ExprKind::Call(..))),
            "a call is left"
        );
    }

    #[test]
    fn inlining_has_a_limit() {
        let error = inline(&chain(2000).pipeline).unwrap_err();
        assert_eq!(error.iter().next().unwrap().code, &codes::INLINE_TOO_LARGE);
    }

    #[test]
    fn compute_root_keeps_a_call() {
        let mut b = chain(2);
        let first = b.pipeline.funcs.keys().next().unwrap();
        b.directive(first, DirectiveKind::ComputeRoot);
        let p = inline(&b.pipeline).unwrap();
        let roots = p.func_roots(p.outputs[0]);
        let calls = Walker::once(&p, roots)
            .into_iter()
            .filter(|&e| matches!(p.exprs[e].kind, ExprKind::Call(..)))
            .count();
        assert_eq!(calls, 3);
    }
}
