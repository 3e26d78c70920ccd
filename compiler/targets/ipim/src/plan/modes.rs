//! How each stage is computed: tile by tile, in parts, or on one engine.

use std::rc::Rc;

use nbcc_isa_ipim::Machine;
use nbcc_stages::bounds::{Bounds, IndexForm, Interval, Region};
use nbcc_stages::{BinaryOp, ElementType, Expr, ExprKind, Func, Pipeline, Update, Walker};

use super::access::{Access, Source, accesses, accesses_of};
use super::copies::{in_parts, most_copied};
use super::forms::Forms;
use super::inner::InnerIndex;
use super::order::{Order, is_plain, with_first};
use super::reads::{Ratio, TiledIndex};
use super::{Stage, stage_roots};

/// An access whose indices let it be served tile by tile.
#[derive(Clone, Debug)]
pub struct TiledAccess {
    /// Along x and y. A dimension that the producer or the consumer lacks is one to one.
    pub index: [Rc<TiledIndex>; 2],
    /// Along further dimensions; `None` where any plane may be meant, as when data decides.
    pub inner: Vec<Option<InnerIndex>>,
    /// The dimension of the producer at each place, where it is read in another order than its own.
    pub order: Order,
}

impl TiledAccess {
    /// The ratios along x and y.
    pub fn ratio(&self) -> [Ratio; 2] {
        [self.index[0].ratio, self.index[1].ratio]
    }
}

/// Reads an access as one served tile by tile, for a consumer with `dims` dimensions.
pub fn tiled_access(
    pipeline: &Pipeline,
    forms: &Forms,
    args: &[Expr],
    dims: usize,
) -> Option<TiledAccess> {
    let tiled = dims.min(2);
    if args.len().min(2) != tiled || tiled == 0 {
        return None;
    }
    let index = |k: usize| match args.get(k) {
        Some(&arg) => forms.tiled(pipeline, arg, k as u32),
        None => Some(Rc::new(TiledIndex::one_to_one())),
    };
    let index = [index(0)?, index(1)?];
    let inner = |&arg: &Expr| InnerIndex::of(pipeline, forms, arg);
    let inner = args.iter().skip(2).map(inner).collect();
    Some(TiledAccess { index, inner, order: Order::new() })
}

/// Reads an access as one that a copy of the producer with its dimensions in another order serves
/// tile by tile, as of a transposed image: those that run along the tiled dimensions of the consumer
/// first. A `flat` consumer has one element along its second.
pub fn permuted_access(
    pipeline: &Pipeline,
    forms: &Forms,
    args: &[Expr],
    flat: bool,
) -> Option<TiledAccess> {
    let along = |k: u32, other: Option<usize>| {
        let others = (0..args.len()).filter(|&d| Some(d) != other);
        let mut found = others.filter_map(|d| {
            let index = forms.tiled(pipeline, args[d], k)?;
            let mirrored = index.limits.is_some_and(|of| of.sums().is_some());
            (!mirrored && index.around.is_none()).then_some((d, index))
        });
        found.next()
    };
    let (x, along_x) = along(0, None)?;
    let (first, along_y) = match along(1, Some(x)) {
        Some((y, index)) => (vec![x, y], index),
        None if flat => (vec![x], Rc::new(TiledIndex::one_to_one())),
        None => return None,
    };
    let order = with_first(&first, args.len());
    if is_plain(&order) {
        return None;
    }
    let inner = order.iter().skip(2).flatten();
    let inner: Option<Vec<Option<InnerIndex>>> =
        inner.map(|&d| Some(Some(InnerIndex::of(pipeline, forms, args[d])?))).collect();
    Some(TiledAccess { index: [along_x, along_y], inner: inner?, order })
}

/// How a Func's stages are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All of them tile by tile.
    Tiled,
    /// On one engine, but for updates that are reduced in parts; and why.
    Single(String),
}

/// Decides how a Func is computed. `follows` says of an access of a stage whether what a tile reads lies
/// in a box that follows the tile.
pub fn mode_of(
    pipeline: &Pipeline,
    bounds: &Bounds,
    forms: &Forms,
    machine: &Machine,
    func: Func,
    follows: impl Fn(Stage, &Access) -> bool,
) -> Mode {
    let data = &pipeline.funcs[func];
    if data.vars.is_empty() {
        return Mode::Single("it has no dimensions to distribute".to_string());
    }
    let stages = std::iter::once(Stage::Pure).chain((0..data.updates.len()).map(Stage::Update));
    for stage in stages {
        if let Stage::Update(k) = stage {
            let update = &data.updates[k];
            let other = (0..update.args.len().min(2)).find(|&d| !update.is_pure_dim(pipeline, d));
            if let Some(d) = other {
                let var = &data.vars[d];
                return Mode::Single(match &forms[update.args[d]] {
                    Some(IndexForm::Affine(affine)) if affine.terms.is_empty() => {
                        format!("update {k} writes at one place along `{var}`, not at each")
                    }
                    Some(IndexForm::Affine(_)) => format!(
                        "update {k} runs along `{var}` in steps of its own, not tile by tile"
                    ),
                    _ => format!("update {k} writes to computed places along `{var}`"),
                });
            }
            let own = accesses(pipeline, func, stage).into_iter();
            let mut own = own.filter(|access| access.source == Source::Func(func));
            if own.any(|a| !a.args.iter().take(2).enumerate().all(|arg| is_dim(pipeline, arg))) {
                return Mode::Single("an update reads other points of its own Func".into());
            }
        }
        for access in forms.foreign(pipeline, func, stage).iter() {
            let tiled = tiled_access(pipeline, forms, &access.args, data.vars.len());
            let count = elements(bounds, access.source);
            let most = most_copied(machine);
            let flat = bounds.region(func).is_some_and(is_flat);
            let permuted = || permuted_access(pipeline, forms, &access.args, flat).is_some();
            let anywhere = tiled.is_none() && !in_parts(pipeline, machine, access);
            if anywhere && count > most && !permuted() && !follows(stage, access) {
                return Mode::Single(format!(
                    "a tile of it reads no tile of `{}`, of which {count} elements are too many \
                     to be whole in every bank ({most} are the most)",
                    source_name(pipeline, access.source)
                ));
            }
        }
    }
    Mode::Tiled
}

/// Whether a region has one element along its second dimension, if any.
pub(super) fn is_flat(region: &[Interval]) -> bool {
    region.get(1).is_none_or(|second| second.extent() == 1)
}

/// Whether a coordinate is the dimension of its own position.
fn is_dim(pipeline: &Pipeline, (d, &arg): (usize, &Expr)) -> bool {
    pipeline.exprs[arg].kind == ExprKind::Dim(d as u32)
}

/// Whether update `k` of a Func computed tile by tile reads and writes its own Func at the point
/// itself only, so that values need not be stored before the last point of the reduction domain.
pub fn in_place(pipeline: &Pipeline, func: Func, k: usize) -> bool {
    let own = |args: &[Expr]| args.iter().enumerate().all(|arg| is_dim(pipeline, arg));
    let reads = accesses(pipeline, func, Stage::Update(k));
    own(&pipeline.funcs[func].updates[k].args)
        && reads.iter().all(|access| access.source != Source::Func(func) || own(&access.args))
}

/// The name of a source.
pub fn source_name(pipeline: &Pipeline, source: Source) -> &str {
    match source {
        Source::Input(input) => &pipeline.inputs[input].name,
        Source::Func(func) => &pipeline.funcs[func].name,
    }
}

/// The number of elements of a source that are read.
pub(super) fn elements(bounds: &Bounds, source: Source) -> u64 {
    let region = match source {
        Source::Input(input) => bounds.inputs[input].as_deref(),
        Source::Func(func) => bounds.region(func),
    };
    region.map_or(0, nbcc_stages::bounds::points)
}

/// An update that can be reduced in parts, rewritten so that the variables of its domain, then the
/// dimensions of its Func that it runs along, are the dimensions of a nest.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The dimensions of its Func that it runs along.
    pub along: Vec<u32>,
    /// Whether the first two dimensions of the nest change places, as those of an image that it reads have.
    pub turned: bool,
    /// The element that a point contributes to.
    pub args: Vec<Expr>,
    /// What it contributes.
    pub value: Expr,
    /// Conditions.
    pub predicates: Vec<Expr>,
    /// How contributions combine.
    pub op: BinaryOp,
}

impl Reduction {
    /// The intervals of the dimensions of the nest of update `k` of a Func. `None` where it never runs.
    pub(super) fn region(&self, bounds: &Bounds, func: Func, k: usize) -> Option<Region> {
        let loops = bounds.funcs[func].as_ref()?.stages[k + 1].as_ref()?;
        let along = self.along.iter().map(|&d| loops.dims[d as usize]);
        let mut region: Region = loops.rvars.iter().copied().chain(along).collect();
        if self.turned {
            region.swap(0, 1);
        }
        (!loops.rvars.is_empty()).then_some(region)
    }
}

/// Whether an expression is value `k` of a Func where an update of it writes.
pub(super) fn is_own(
    pipeline: &Pipeline,
    (func, k): (Func, usize),
    update: &Update,
    e: Expr,
) -> bool {
    match &pipeline.exprs[e].kind {
        ExprKind::Call(callee, value, args) => {
            *callee == func && *value as usize == k && same(pipeline, args, &update.args)
        }
        _ => false,
    }
}

/// How an update combines value `k` of its Func with what it contributes at a point, and that; `None` where
/// it does anything else, or the order of contributions matters.
pub(super) fn combined(
    pipeline: &Pipeline,
    func: Func,
    update: &Update,
    k: usize,
) -> Option<(BinaryOp, Expr)> {
    let ty = pipeline.funcs[func].types[k];
    let ExprKind::Binary(op, x, y) = pipeline.exprs[update.values[k]].kind else { return None };
    let value = match [x, y].map(|e| is_own(pipeline, (func, k), update, e)) {
        [true, _] => y,
        [false, true] => x,
        _ => return None,
    };
    let exact = match op {
        BinaryOp::Add => !ty.is_float() && ty != ElementType::Bool,
        BinaryOp::Min | BinaryOp::Max => true,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
        _ => false,
    };
    exact.then_some((op, value))
}

/// Finds out whether update `k` of a Func is `f(args) = f(args) op e`, with an `op` for which the
/// order of contributions does not matter, over a reduction domain. Adds the rewritten expressions to
/// the pipeline.
pub fn reduction(pipeline: &mut Pipeline, func: Func, k: usize) -> Option<Reduction> {
    let data = &pipeline.funcs[func];
    let update = data.updates[k].clone();
    let rdom = update.rdom?;
    if data.types.len() != 1 {
        return None;
    }
    let (op, value) = combined(pipeline, func, &update, 0)?;
    let predicates = pipeline.rdoms[rdom].predicates.clone();
    let mut roots = update.args.clone();
    roots.push(value);
    roots.extend(&predicates);
    let reachable = Walker::once(pipeline, roots.iter().copied());
    let mut along = Vec::new();
    for &e in &reachable {
        match &pipeline.exprs[e].kind {
            ExprKind::Dim(d) => along.push(*d),
            ExprKind::Call(f, ..) if *f == func => return None,
            _ => {}
        }
    }
    along.sort_unstable();
    along.dedup();
    if !along.iter().all(|&d| update.is_pure_dim(pipeline, d as usize)) {
        return None;
    }
    let variables = pipeline.rdoms[rdom].dims.len() as u32;
    // The dimension of the nest that a variable is.
    let place_of = |kind: &ExprKind| match *kind {
        ExprKind::RVar(r, n) if r == rdom => Some(n),
        ExprKind::Dim(d) => along.binary_search(&d).ok().map(|place| variables + place as u32),
        _ => None,
    };
    // Whether rows of an image that is read run along a dimension of the nest.
    let begins_along = |dim: u32| {
        let arg = |access: &Access| {
            let first = Walker::once(pipeline, access.args.first().copied());
            let places = first.iter().filter_map(|&e| place_of(&pipeline.exprs[e].kind));
            access.args.len() > 1 && places.eq([dim])
        };
        accesses_of(pipeline, roots.iter().copied()).iter().any(arg)
    };
    // Lanes that contribute to different elements would take turns.
    let of_element = Walker::once(pipeline, update.args.iter().copied());
    let contributes = |&e: &Expr| place_of(&pipeline.exprs[e].kind) == Some(1);
    let turned = begins_along(1) && !begins_along(0) && !of_element.iter().any(contributes);
    let new = pipeline.rewritten(roots, |_, _, kind, _| match place_of(&kind) {
        Some(place) if turned && place < 2 => ExprKind::Dim(1 - place),
        Some(place) => ExprKind::Dim(place),
        None => kind,
    });
    let renamed = |list: &[Expr]| list.iter().map(|e| new[e]).collect::<Vec<_>>();
    Some(Reduction {
        along: along.clone(),
        turned,
        args: renamed(&update.args),
        value: new[&value],
        predicates: renamed(&predicates),
        op,
    })
}

/// Whether two lists of expressions are the same expressions, or equal ones.
pub(super) fn same(pipeline: &Pipeline, a: &[Expr], b: &[Expr]) -> bool {
    let mut stack: Vec<(Expr, Expr)> = a.iter().copied().zip(b.iter().copied()).collect();
    let mut seen = std::collections::BTreeSet::new();
    while let Some((x, y)) = stack.pop() {
        if x == y || !seen.insert((x, y)) {
            continue;
        }
        let (x, y) = (&pipeline.exprs[x], &pipeline.exprs[y]);
        let shape = |kind: &ExprKind| kind.map_operands(|_| a[0]);
        if x.ty != y.ty || shape(&x.kind) != shape(&y.kind) {
            return false;
        }
        let operands = |kind: &ExprKind| {
            let mut list = vec![];
            kind.each_operand(|e| list.push(e));
            list
        };
        stack.extend(operands(&x.kind).into_iter().zip(operands(&y.kind)));
    }
    true
}

/// Everything a stage reads but its own Func.
pub fn foreign_accesses(pipeline: &Pipeline, func: Func, stage: Stage) -> Vec<Access> {
    let mut list = accesses(pipeline, func, stage);
    list.retain(|a| a.source != Source::Func(func));
    list
}

/// Whether a stage evaluates anything at all.
pub fn has_stage(pipeline: &Pipeline, func: Func, stage: Stage) -> bool {
    !stage_roots(pipeline, func, stage).is_empty()
}
