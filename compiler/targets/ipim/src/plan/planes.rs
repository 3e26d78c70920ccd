//! Funcs that read planes on which data decides, as a lookup between the brightness levels of a pyramid
//! does, where windows of all planes do not fit the scratchpad: an update for each value that the
//! deciding expression may have. It reads the planes of that value alone, and only points that have it
//! take what it computes. What is computed too often is the price.

use nbcc_stages::bounds::{Bounds, Env, Evaluator, Extents, ParamValues, StageLoops};
use nbcc_stages::{
    BinaryOp, CompareOp, ElementType, Expr, ExprKind, Func, Literal, Pipeline, Schedule, Update,
    Walker,
};

use super::Stage;
use super::access::{Source, accesses};
use super::forms::Forms;
use super::inner::InnerIndex;
use super::modes::same;
use super::split::{at_point, dims};

/// The most updates that a Func gets.
const MAX_PLANES: i64 = 16;

/// A Func and the expression in it that decides on planes.
pub(super) struct Chosen {
    func: Func,
    deciding: Expr,
    /// The least and greatest value of the expression.
    range: (i64, i64),
}

impl Chosen {
    /// Finds the expression that decides on the planes that a Func without updates reads. `None` where
    /// there is none, or it has many values, or planes that it need not have are not there.
    pub(super) fn of(
        pipeline: &Pipeline,
        extents: &Extents,
        bounds: &Bounds,
        func: Func,
    ) -> Option<Chosen> {
        if !pipeline.funcs[func].updates.is_empty() {
            return None;
        }
        let forms = Forms::new(pipeline);
        let mut places = Vec::new();
        for access in accesses(pipeline, func, Stage::Pure) {
            for (d, &arg) in access.args.iter().enumerate().skip(2) {
                if InnerIndex::of(pipeline, &forms, arg).is_none() {
                    places.push((access.source, d, offset_from(pipeline, arg)));
                }
            }
        }
        let &(_, _, (deciding, _)) = places.first()?;
        let params = ParamValues::new();
        let env = Env::over(bounds.region(func)?);
        let range = Evaluator::new(pipeline, &extents.inputs, &params).range(deciding, &env).ints();
        let (low, high) = range;
        if high - low >= MAX_PLANES {
            return None;
        }
        let is_there = |&(source, d, (base, offset)): &(Source, usize, (Expr, i64))| {
            let region = match source {
                Source::Input(input) => bounds.inputs[input].as_deref(),
                Source::Func(func) => bounds.region(func),
            };
            !same(pipeline, &[base], &[deciding])
                || region.and_then(|region| region.get(d)).is_some_and(|planes| {
                    i64::from(planes.min) <= low + offset && high + offset <= i64::from(planes.max)
                })
        };
        places.iter().all(is_there).then_some(Chosen { func, deciding, range })
    }

    /// Makes the definition that of the least value, and an update for each other one.
    pub(super) fn compute_by_plane(&self, pipeline: &mut Pipeline, bounds: &mut Bounds) {
        let &Chosen { func, deciding, range: (low, high) } = self;
        let data = &pipeline.funcs[func];
        let definition = data.pure.clone().expect("what is read is read by the pure definition");
        let (types, span) = (data.types.clone(), definition.span);
        let all = Walker::once(pipeline, definition.values.iter().copied());
        let equal: Vec<Expr> =
            all.into_iter().filter(|&e| same(pipeline, &[e], &[deciding])).collect();
        let literal = |value: i64| ExprKind::Literal(Literal::Int(value));
        for value in low..=high {
            let new = pipeline.rewritten(definition.values.clone(), |_, expr, kind, _| {
                if equal.contains(&expr) { literal(value) } else { kind }
            });
            let values = definition.values.iter().map(|e| new[e]);
            if value == low {
                let values = values.collect();
                pipeline.funcs[func].pure.as_mut().expect("it was there").values = values;
                continue;
            }
            let this = pipeline.expr(literal(value), ElementType::I32, span);
            let is_it = ExprKind::Compare(CompareOp::Eq, deciding, this);
            let is_it = pipeline.expr(is_it, ElementType::Bool, span);
            let values = values.collect::<Vec<_>>().into_iter().enumerate().map(|(v, taken)| {
                let left = at_point(pipeline, func, v, span);
                pipeline.expr(ExprKind::Select(is_it, taken, left), types[v], span)
            });
            let values = values.collect();
            let args = dims(pipeline, func, span);
            let schedule = Schedule::default();
            let update = Update { args, values, rdom: None, schedule, span };
            pipeline.funcs[func].updates.push(update);
            let of_func = bounds.funcs[func].as_mut().expect("it is needed");
            let loops = StageLoops { dims: of_func.region.clone(), rvars: vec![] };
            of_func.stages.push(Some(loops));
        }
    }
}

/// An expression as another one and a constant that is added to it.
fn offset_from(pipeline: &Pipeline, index: Expr) -> (Expr, i64) {
    let constant = |e: Expr| match pipeline.exprs[e].kind {
        ExprKind::Literal(Literal::Int(value)) => Some(value),
        _ => None,
    };
    let (base, offset) = match pipeline.exprs[index].kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => match (constant(a), constant(b)) {
            (_, Some(offset)) => (a, offset),
            (Some(offset), _) => (b, offset),
            _ => return (index, 0),
        },
        ExprKind::Binary(BinaryOp::Sub, a, b) => match constant(b) {
            Some(offset) => (a, -offset),
            None => return (index, 0),
        },
        _ => return (index, 0),
    };
    let (base, more) = offset_from(pipeline, base);
    (base, offset + more)
}
