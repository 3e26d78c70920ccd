//! Updates at planes that data decides, of which there are few, as in the grid of a bilateral filter:
//! all planes of a point stay in registers while the reduction domain runs, and each round changes the
//! one that it selects. Through the bank, a round would wait for what the one before has stored.

use nbcc_isa_ipim::Machine;
use nbcc_stages::bounds::{AffineVar, Env, Evaluator, ParamValues, points};
use nbcc_stages::{BinaryOp, ElementType, Expr, ExprKind, Func, Pipeline, Walker};

use super::access::{Source, accesses};
use super::modes::same;
use super::reads::inner_index;
use super::{Plan, Stage};

/// Planes of an update that stay in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPlanes {
    /// The dimension along which data decides.
    pub dim: usize,
    /// The first plane.
    pub first: i32,
    /// How many they are, at most 32.
    pub count: u32,
    /// How each value changes.
    pub changes: Vec<Change>,
}

/// How a round changes a value of the plane that it selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// By an operation with this expression, for which zero changes nothing (what a float is added to is
    /// what its opposite is subtracted from).
    By(BinaryOp, Expr),
    /// As the expression of the update says.
    Any,
}

/// The most expressions between the value before and that after a round: they are computed for each plane.
const MOST_OWN: usize = 4;

/// The planes of update `k` of a Func computed tile by tile that are kept, if they can be.
pub fn kept_planes(plan: &Plan, machine: &Machine, func: Func, k: usize) -> Option<KeptPlanes> {
    let Plan { pipeline, bounds, forms, .. } = plan;
    let update = &pipeline.funcs[func].updates[k];
    let rdom = update.rdom?;
    let mut decided = None;
    for (d, &arg) in update.args.iter().enumerate().skip(2) {
        match forms[arg].as_ref().and_then(inner_index) {
            Some(index) => {
                let moves = index.terms.keys().any(|var| matches!(var, AffineVar::RVar(..)));
                if moves {
                    return None;
                }
            }
            None if decided.is_some() => return None,
            None => decided = Some((d, arg)),
        }
    }
    let (dim, deciding) = decided?;
    let own = accesses(pipeline, func, Stage::Update(k));
    let mut own = own.iter().filter(|access| access.source == Source::Func(func));
    let predicates = &pipeline.rdoms[rdom].predicates;
    if !own.all(|access| same(pipeline, &access.args, &update.args))
        || predicates.iter().any(|&p| !own_users(pipeline, func, p).is_empty())
    {
        return None;
    }
    let all = bounds.funcs[func].as_ref()?;
    let loops = all.stages[k + 1].as_ref()?;
    let mut env = Env::over(&loops.dims);
    env.rvars.extend((0..).zip(&loops.rvars).map(|(n, &interval)| ((rdom, n), interval)));
    let params = ParamValues::new();
    let mut evaluator = Evaluator::new(pipeline, &plan.extents.inputs, &params);
    let (low, high) = evaluator.range(deciding, &env).ints();
    let held = all.region[dim];
    let there = i64::from(held.min) <= low && high <= i64::from(held.max);
    let count = u32::try_from(high - low + 1).ok().filter(|&count| there && count <= 32)?;
    let values = update.values.len() as u32;
    let fits = count * values <= machine.registers.data / 8 * 3;
    if !fits || points(&loops.rvars) < u64::from(count) {
        return None;
    }
    let types = &pipeline.funcs[func].types;
    let changes = |narrow: bool| -> Option<Vec<Change>> {
        let values = update.values.iter().zip(types).enumerate();
        let changes =
            values.map(|(v, (&value, &ty))| change(pipeline, func, (v, value), (ty, narrow)));
        changes.collect()
    };
    // Where nothing else reads them, narrow integers are brought into their range at the end.
    let alone = changes(true)?.iter().all(|change| *change != Change::Any);
    Some(KeptPlanes { dim, first: low as i32, count, changes: changes(alone)? })
}

/// How a value changes; `None` where that is too much to compute for each plane.
fn change(
    pipeline: &Pipeline,
    func: Func,
    (number, value): (usize, Expr),
    (ty, narrow): (ElementType, bool),
) -> Option<Change> {
    let users = own_users(pipeline, func, value);
    if users.len() > MOST_OWN {
        return None;
    }
    let is_own = |e: Expr| matches!(&pipeline.exprs[e].kind, ExprKind::Call(of, v, _) if *of == func && *v as usize == number);
    let free = |e: Expr| own_users(pipeline, func, e).is_empty();
    let whole_word = match ty {
        ElementType::F32 | ElementType::I32 | ElementType::U32 => true,
        ElementType::Bool => false,
        _ => narrow,
    };
    let by = match pipeline.exprs[value].kind {
        ExprKind::Binary(op, a, b) if whole_word => match op {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if is_own(a) && free(b) => Some((op, b)),
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if is_own(b) && free(a) => Some((op, a)),
            BinaryOp::Sub if is_own(a) && free(b) => Some((op, b)),
            _ => None,
        },
        _ => None,
    };
    Some(by.map_or(Change::Any, |(op, expr)| Change::By(op, expr)))
}

/// What in an expression depends on elements of a Func, and these.
pub fn own_users(pipeline: &Pipeline, func: Func, root: Expr) -> Vec<Expr> {
    let mut users: Vec<Expr> = Vec::new();
    for e in Walker::once(pipeline, [root]) {
        let kind = &pipeline.exprs[e].kind;
        let mut depends = matches!(kind, ExprKind::Call(of, ..) if *of == func);
        kind.each_operand(|operand| depends |= users.contains(&operand));
        if depends {
            users.push(e);
        }
    }
    users
}
