//! Bounds inference: the region over which each Func must be computed.
//!
//! Funcs are visited from the last to the first. What the stages of a Func read of the Funcs and
//! inputs before it, over the loops they run, is added to what those must provide. As in Halide
//! (`BoundsInference.cpp`), a consumer depends on every stage of a producer, and a later update's
//! reads of its own Func widen the earlier stages; an update may write outside what anyone reads,
//! which only widens the storage. Conditions of a reduction domain narrow the loops where they are
//! affine, and only inputs that were never declared are clamped.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Span};

use crate::inline::{inline_where, is_inlined};
use crate::{
    BinaryOp, DirectiveKind, ElementType, Expr, ExprKind, Func, Input, Pipeline, RDom, Update,
    Walker, codes,
};

use super::affine::AffineVar;
use super::env::Env;
use super::eval::{Evaluator, ParamValues, to_interval};
use super::extents::Extents;
use super::interval::{Interval, MAX_POINTS, Region, points, region_text, unbounded};
use super::narrow::narrow;
use super::values::Values;

/// The loops of one stage of a Func.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageLoops {
    /// The interval of each dimension. Of an update only those count that its left side names.
    pub dims: Region,
    /// The interval of each variable of the update's reduction domain. Points outside fail a
    /// condition of the domain; points inside may too.
    pub rvars: Vec<Interval>,
}

/// Where a Func is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuncBounds {
    /// Everything that any stage computes: the storage.
    pub region: Region,
    /// The loops of the pure definition, then of each update; `None` for a stage that never runs.
    pub stages: Vec<Option<StageLoops>>,
}

/// Where everything is computed and read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Each Func that is needed.
    pub funcs: SecondaryMap<Func, Option<FuncBounds>>,
    /// The region read of each input that is, before any clamping.
    pub inputs: SecondaryMap<Input, Option<Region>>,
    /// Expressions evaluated to find the values of Funcs that serve as indices.
    pub evaluated: usize,
    /// The Funcs, producers first, where that is not the order in which they were made.
    pub order: Vec<Func>,
}

impl Bounds {
    /// The storage of a Func, `None` where nothing needs it.
    pub fn region(&self, func: Func) -> Option<&[Interval]> {
        self.funcs[func].as_ref().map(|b| b.region.as_slice())
    }

    /// The Funcs that are needed, producers first.
    pub fn needed<'a>(
        &'a self,
        pipeline: &'a Pipeline,
    ) -> impl Iterator<Item = (Func, &'a FuncBounds)> {
        let made = pipeline.funcs.keys().filter(|_| self.order.is_empty());
        made.chain(self.order.iter().copied()).filter_map(|f| Some((f, self.funcs[f].as_ref()?)))
    }
}

/// Infers the bounds of every Func that the outputs need. Params without a value may have any.
/// Errors: an input read outside its extent, an index or a region without a limit, a reduction
/// domain of unknown extent, a `bound` that is too small.
pub fn infer(
    pipeline: &Pipeline,
    extents: &Extents,
    params: &ParamValues,
) -> Result<Bounds, Diagnostics> {
    let mut inference = Inference::of(pipeline, extents, params);
    inference.report_inputs();
    inference.bounds.evaluated = inference.evaluator.spent();
    if inference.diagnostics.has_errors() {
        return Err(inference.diagnostics);
    }
    Ok(inference.bounds)
}

/// Expressions that [`not_whole`] looks at: more is taken for limitless.
const MAX_INLINED: usize = 1 << 16;

/// Funcs that cannot be computed whole: `inlinable` ones that are needed without a limit or over
/// too much, or that read a declared input outside its extent when they are. They are looked for
/// where all others are computed whole.
pub fn not_whole(
    pipeline: &Pipeline,
    extents: &Extents,
    params: &ParamValues,
    inlinable: impl Fn(Func) -> bool,
) -> BTreeSet<Func> {
    let mut found = BTreeSet::new();
    let mut inlined = pipeline.clone();
    loop {
        let faulty = Inference::of(&inlined, extents, params).faulty;
        let before = found.len();
        found.extend(faulty.into_iter().filter(|&func| inlinable(func)));
        if found.len() == before {
            return found;
        }
        match inline_where(pipeline, |func| found.contains(&func)) {
            Ok(next) if next.exprs.len() <= MAX_INLINED => inlined = next,
            // What those read in turn is too much to look at.
            _ => return pipeline.funcs.keys().filter(|&func| inlinable(func)).collect(),
        }
    }
}

/// The pipeline without the Funcs that exist only where they are used, since nothing limits where
/// that is: they are inlined, everything else is as before.
pub fn without_limitless(pipeline: &Pipeline, extents: &Extents, params: &ParamValues) -> Pipeline {
    let limitless = not_whole(pipeline, extents, params, |func| is_inlined(pipeline, func));
    let without = inline_where(pipeline, |func| limitless.contains(&func));
    without.unwrap_or_else(|_| pipeline.clone())
}

/// A region that is needed, and the access that last widened it.
#[derive(Clone)]
struct Needed {
    region: Region,
    cause: Span,
}

/// The first access (in source order) that reads a declared input outside its extent.
#[derive(Clone)]
struct Fault {
    access: Expr,
    span: Span,
    region: Region,
}

/// The way out where a coordinate has no limit because a parameter has no value.
fn give_value(param: &str) -> String {
    format!(
        "it depends on `{param}`, which has no value: give it a default, or --param {param}=VALUE"
    )
}

struct Inference<'a> {
    pipeline: &'a Pipeline,
    extents: &'a Extents,
    evaluator: Evaluator<'a>,
    walker: Walker,
    required: SecondaryMap<Func, Option<Needed>>,
    reads: SecondaryMap<Input, Option<Needed>>,
    faults: SecondaryMap<Input, Option<Fault>>,
    diagnostics: Diagnostics,
    /// Accesses without a limit that were reported.
    unlimited: BTreeSet<(Span, String)>,
    /// Funcs whose own region, or what it makes them read, is refused.
    faulty: BTreeSet<Func>,
    bounds: Bounds,
}

impl Needed {
    fn widen(&mut self, region: &[Interval], cause: Span) {
        for (have, want) in self.region.iter_mut().zip(region) {
            if !have.contains(*want) {
                *have = have.union(*want);
                self.cause = cause;
            }
        }
    }
}

fn merge(into: &mut Option<Needed>, region: Region, cause: Span) {
    match into {
        None => *into = Some(Needed { region, cause }),
        Some(needed) => needed.widen(&region, cause),
    }
}

impl<'a> Inference<'a> {
    /// Everything that the outputs need, but for [`Self::report_inputs`].
    fn of(pipeline: &'a Pipeline, extents: &'a Extents, params: &'a ParamValues) -> Self {
        let mut inference = Inference {
            pipeline,
            extents,
            evaluator: Evaluator::new(pipeline, &extents.inputs, params).with_equal_expressions(),
            walker: Walker::default(),
            required: SecondaryMap::new(),
            reads: SecondaryMap::new(),
            faults: SecondaryMap::new(),
            diagnostics: Diagnostics::default(),
            unlimited: BTreeSet::new(),
            faulty: BTreeSet::new(),
            bounds: Bounds::default(),
        };
        for (&func, region) in pipeline.outputs.iter().zip(&extents.outputs) {
            let span = pipeline.funcs[func].span;
            merge(&mut inference.required[func], region.clone(), span);
        }
        for func in pipeline.funcs.keys().rev() {
            inference.func(func);
        }
        inference
    }

    fn func(&mut self, func: Func) {
        let pipeline = self.pipeline;
        let data = &pipeline.funcs[func];
        let Some(mut needed) = self.required[func].take() else { return };
        if needed.region.iter().any(|i| i.is_empty()) {
            return;
        }
        if !pipeline.outputs.contains(&func) {
            self.apply_bound_directives(func, &mut needed);
        }
        let mut stages = vec![None; data.updates.len() + 1];
        let mut storage = needed.clone();
        for (k, update) in data.updates.iter().enumerate().rev() {
            if let Some(loops) = self.update_loops(update, &needed.region) {
                self.update(func, update, &loops, &mut needed, &mut storage);
                stages[k + 1] = Some(loops);
            }
            if !self.check_size(func, &storage) || !self.check_size(func, &needed) {
                return;
            }
        }
        if !self.check_size(func, &storage) {
            return;
        }
        if let Some(pure) = &data.pure {
            let env = Env::over(&needed.region);
            self.visit(func, (&pure.values, &[]), &env, None);
        }
        storage.widen(&needed.region, needed.cause);
        stages[0] = Some(StageLoops { dims: needed.region, rvars: Vec::new() });
        self.bounds.funcs[func] = Some(FuncBounds { region: storage.region, stages });
    }

    /// An update's reads of its own Func widen `needed`; its writes widen `storage`.
    fn update(
        &mut self,
        func: Func,
        update: &Update,
        loops: &StageLoops,
        needed: &mut Needed,
        storage: &mut Needed,
    ) {
        let env = self.loop_env(update.rdom, loops);
        let mut own = None;
        let roots: Vec<Expr> = update.roots(self.pipeline).collect();
        let values = self.visit(func, (&roots, &update.args), &env, Some(&mut own));
        if let Some(own) = own {
            needed.widen(&own.region, own.cause);
        }
        let written: Region = update.args.iter().map(|&a| to_interval(values.range(a))).collect();
        if let Some(d) = unbounded(&written) {
            self.report_unbounded(
                update.args[d],
                written[d],
                update.span,
                &self.pipeline.funcs[func].name,
                "written",
            );
            return;
        }
        storage.widen(&written, update.span);
        storage.widen(&needed.region, needed.cause);
    }

    fn loop_env(&self, rdom: Option<RDom>, loops: &StageLoops) -> Env {
        let mut env = Env::over(&loops.dims);
        if let Some(rdom) = rdom {
            for (n, &interval) in loops.rvars.iter().enumerate() {
                env.rvars.insert((rdom, n as u32), interval);
            }
        }
        env
    }

    /// The loops of an update over a region of its Func, narrowed by its domain's conditions;
    /// `None` where there is no point.
    fn update_loops(&mut self, update: &Update, region: &[Interval]) -> Option<StageLoops> {
        let mut loops = StageLoops { dims: region.to_vec(), rvars: Vec::new() };
        let Some(rdom) = update.rdom else { return Some(loops) };
        let pipeline = self.pipeline;
        for &(min, extent) in &pipeline.rdoms[rdom].dims {
            let min = self.constant(min, rdom)?;
            let extent = self.constant(extent, rdom)?;
            if extent <= 0 {
                return None;
            }
            let max = (min + extent - 1).min(i64::from(i32::MAX));
            loops.rvars.push(Interval { min: min as i32, max: max as i32 });
        }
        let conditions = conjuncts(pipeline, &pipeline.rdoms[rdom].predicates);
        // Twice, so that a condition between two variables sees the other's narrowed interval.
        for _ in 0..2 {
            let mut env = self.loop_env(Some(rdom), &loops);
            let values = self.evaluator.ranges(conditions.iter().copied(), &env);
            for &condition in &conditions {
                if values.range(condition).single() == Some(0) {
                    return None;
                }
                narrow(pipeline, condition, true, &values, &mut env);
            }
            loops.dims = env.dims.clone();
            for (n, interval) in loops.rvars.iter_mut().enumerate() {
                *interval = env.interval(AffineVar::RVar(rdom, n as u32));
            }
            if loops.dims.iter().chain(&loops.rvars).any(|i| i.is_empty()) {
                return None;
            }
        }
        Some(loops)
    }

    fn constant(&mut self, expr: Expr, rdom: RDom) -> Option<i64> {
        let value = self.evaluator.range(expr, &Env::default()).single();
        if value.is_none() {
            let name = &self.pipeline.rdoms[rdom].name;
            let message = format!("the extent of the reduction domain `{name}` is not known");
            self.diagnostics.push(
                Diagnostic::error(&codes::RDOM_EXTENT, message)
                    .at(self.pipeline.exprs[expr].span, "depends on a parameter without a value")
                    .help("give the parameter a default, or its value with --param"),
            );
        }
        value
    }

    /// Adds what expressions of a Func read to what is required. What an update reads of its own
    /// Func goes to `own`. Returns the ranges of all indices, and of `coordinates`.
    fn visit(
        &mut self,
        reader: Func,
        (roots, coordinates): (&[Expr], &[Expr]),
        env: &Env,
        mut own: Option<&mut Option<Needed>>,
    ) -> Values {
        let pipeline = self.pipeline;
        let all = self.walker.reachable(pipeline, roots.iter().copied());
        let mut indices: Vec<Expr> = coordinates.to_vec();
        for &expr in &all {
            if let ExprKind::Load(_, args) | ExprKind::Call(_, _, args) = &pipeline.exprs[expr].kind
            {
                indices.extend(args);
            }
        }
        let values = self.evaluator.ranges(indices, env);
        for &expr in &all {
            let data = &pipeline.exprs[expr];
            let (ExprKind::Load(_, args) | ExprKind::Call(_, _, args)) = &data.kind else {
                continue;
            };
            let region: Region = args.iter().map(|&a| to_interval(values.range(a))).collect();
            match data.kind {
                ExprKind::Load(input, _) => self.read_input(reader, input, expr, region),
                ExprKind::Call(func, ..) => {
                    if let Some(d) = unbounded(&region) {
                        let name = &pipeline.funcs[func].name;
                        self.report_unbounded(args[d], region[d], data.span, name, "read");
                        self.faulty.insert(func);
                        continue;
                    }
                    match &mut own {
                        Some(needed) if func == reader => merge(needed, region, data.span),
                        _ => merge(&mut self.required[func], region, data.span),
                    }
                }
                _ => {}
            }
        }
        values
    }

    fn read_input(&mut self, reader: Func, input: Input, expr: Expr, region: Region) {
        let span = self.pipeline.exprs[expr].span;
        let inside = region
            .iter()
            .zip(&self.extents.inputs[input])
            .all(|(have, &extent)| Interval::from_extent(0, extent).contains(*have));
        if !inside && !self.pipeline.inputs[input].repeat_edge {
            self.faulty.insert(reader);
            let fault = &mut self.faults[input];
            if fault.as_ref().is_none_or(|f| span < f.span) {
                *fault = Some(Fault { access: expr, span, region: region.clone() });
            }
        }
        merge(&mut self.reads[input], region, span);
    }

    fn report_inputs(&mut self) {
        for (input, data) in &self.pipeline.inputs {
            let Some(needed) = self.reads[input].take() else { continue };
            if let Some(fault) = self.faults[input].take() {
                let extent = &self.extents.inputs[input];
                let size: Vec<String> = extent.iter().map(|e| e.to_string()).collect();
                let name = &data.name;
                let message = format!(
                    "`{name}` is read outside its extent: it is {}, and all its reads together need {}",
                    size.join("x"),
                    region_text(&needed.region)
                );
                let label = if unbounded(&fault.region).is_some() {
                    format!("reads `{name}` at coordinates without a limit")
                } else {
                    format!("reads `{name}` over {}", region_text(&fault.region))
                };
                let mut help = format!(
                    "read `BoundaryConditions::repeat_edge({name})` instead, clamp the coordinates, or compute a smaller output"
                );
                if unbounded(&fault.region).is_some()
                    && let Some(param) = self.without_value(&[fault.access])
                {
                    help = format!("{}; or {help}", give_value(param));
                }
                self.diagnostics.push(
                    Diagnostic::error(&codes::INPUT_OUTSIDE, message)
                        .at(fault.span, label)
                        .help(help),
                );
            }
            self.bounds.inputs[input] = Some(needed.region);
        }
    }

    fn report_unbounded(
        &mut self,
        index: Expr,
        range: Interval,
        access: Span,
        name: &str,
        done: &str,
    ) {
        // Each Func that a loop of the source makes may read at one place.
        if !self.unlimited.insert((access, name.to_string())) {
            return;
        }
        let label = match (range.min, range.max) {
            (i32::MIN, i32::MAX) => "may have any value".to_string(),
            (low, high) => format!("may have any value from {low} to {high}"),
        };
        let message = format!("`{name}` is {done} at a coordinate without a limit");
        let limit = "limit the coordinate with `clamp(index, low, high)`";
        let help = match self.without_value(&[index]) {
            Some(param) => format!("{}; or {limit}", give_value(param)),
            None => limit.to_string(),
        };
        self.diagnostics.push(
            Diagnostic::error(&codes::UNBOUNDED, message)
                .at(self.pipeline.exprs[index].span, label)
                .and(access, format!("`{name}` would have to be computed everywhere"))
                .help(help),
        );
    }

    /// A parameter without a value among what expressions are computed of.
    fn without_value(&mut self, roots: &[Expr]) -> Option<&'a str> {
        let pipeline = self.pipeline;
        let all = self.walker.reachable(pipeline, roots.iter().copied());
        all.into_iter().find_map(|expr| match pipeline.exprs[expr].kind {
            ExprKind::Param(param) if self.evaluator.param(param).is_none() => {
                Some(pipeline.params[param].name.as_str())
            }
            _ => None,
        })
    }

    fn check_size(&mut self, func: Func, needed: &Needed) -> bool {
        let count = points(&needed.region);
        if count <= MAX_POINTS {
            return true;
        }
        self.faulty.insert(func);
        let name = &self.pipeline.funcs[func].name;
        let message = format!(
            "`{name}` would have to be computed over {}: more than {MAX_POINTS} elements",
            region_text(&needed.region)
        );
        self.diagnostics.push(
            Diagnostic::error(&codes::REGION_TOO_LARGE, message)
                .at(needed.cause, "needs the region to be this large")
                .help("limit the coordinates with `clamp(index, low, high)`"),
        );
        false
    }

    /// `bound` on a Func that is no output fixes its region, which must cover what is needed.
    fn apply_bound_directives(&mut self, func: Func, needed: &mut Needed) {
        let data = &self.pipeline.funcs[func];
        for directive in &data.schedule.directives {
            let DirectiveKind::Bound { var, min, extent } = &directive.kind else { continue };
            let Some(d) = data.vars.iter().position(|v| v == var) else { continue };
            let env = Env::default();
            let min = self.evaluator.range(*min, &env).single();
            let extent = self.evaluator.range(*extent, &env).single();
            let (Some(min), Some(extent)) = (min, extent) else {
                self.diagnostics.push(
                    Diagnostic::error(
                        &codes::BOUND,
                        format!("the bound of `{}` along `{var}` is not a constant", data.name),
                    )
                    .at(directive.span, "depends on what is not known")
                    .help("give the parameter a default, or its value with --param"),
                );
                continue;
            };
            let bound =
                Interval::from_extent(min as i32, extent.clamp(0, i64::from(u32::MAX)) as u32);
            let region = &mut needed.region[d];
            if unbounded(&[bound]).is_some() {
                let found = super::extents::far(&data.name, var, bound, directive.span);
                self.diagnostics.push(found);
                continue;
            }
            if bound.contains(*region) {
                *region = bound;
                continue;
            }
            let message = format!(
                "`{}` is needed over {var} = {region}, which its bound {bound} does not cover",
                data.name
            );
            self.diagnostics.push(
                Diagnostic::error(&codes::BOUND, message)
                    .at(directive.span, "too small")
                    .and(needed.cause, "needs more")
                    .help("widen the bound, or clamp the coordinate where the Func is read"),
            );
        }
    }
}

/// The conditions that must all hold, taken apart at `&&`.
fn conjuncts(pipeline: &Pipeline, predicates: &[Expr]) -> Vec<Expr> {
    let mut seen = BTreeSet::new();
    let mut stack = predicates.to_vec();
    while let Some(expr) = stack.pop() {
        if !seen.insert(expr) {
            continue;
        }
        if let ExprKind::Binary(BinaryOp::And, a, b) = pipeline.exprs[expr].kind
            && pipeline.ty(expr) == ElementType::Bool
        {
            stack.extend([a, b]);
        }
    }
    seen.into_iter().collect()
}
