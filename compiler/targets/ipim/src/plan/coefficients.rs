//! The order of dimensions of inputs that are the same at all points of a tile, such as the weights of a
//! layer: banks hold them whole. What the loops over a reduction domain run along comes first, the innermost
//! loop's first of all, so that an atom serves four rounds (`lower/gather.rs`); then what loops over inner
//! dimensions decide, so that a table holds a few planes at a time (`plan/slices.rs`), as of the channel that is
//! computed. `filter(c, r.y, r.z, r.x)` is kept as if it were `filter(r.x, r.y, r.z, c)`.

use std::collections::BTreeMap;

use nbcc_stages::bounds::Bounds;
use nbcc_stages::{Expr, ExprKind, Input, Pipeline, Walker};

use super::access::{Source, accesses};
use super::order::{Order, Orders, is_plain, stages};

/// What decides a coordinate, outermost last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decided {
    /// A variable of the domain, by its number.
    ByDomain(u32),
    /// Nothing: it is a constant, as that of a domain that is unrolled.
    Fixed,
    /// An inner dimension of the reader, by its place.
    ByInner(usize),
}

/// The orders of inputs of which all lanes always read the same element, where Funcs have these orders: of those
/// that have none, if all who read one agree and it is not the source's.
pub fn coefficients(pipeline: &Pipeline, bounds: &Bounds, orders: &Orders) -> Orders {
    let mut found: BTreeMap<Input, Option<Order>> = BTreeMap::new();
    for (func, _) in bounds.needed(pipeline) {
        let own = orders.get(&Source::Func(func));
        for access in stages(pipeline, func).flat_map(|stage| accesses(pipeline, func, stage)) {
            let Source::Input(input) = access.source else { continue };
            let decided = access.args.iter().map(|&arg| decided(pipeline, own, arg));
            let order = decided.collect::<Option<Vec<Decided>>>().map(|decided| {
                let mut places: Vec<usize> = (0..decided.len()).collect();
                places.sort_by_key(|&k| decided[k]);
                places.into_iter().map(Some).collect::<Order>()
            });
            let all = found.entry(input).or_insert_with(|| order.clone());
            if *all != order {
                *all = None;
            }
        }
    }
    let given = |input: Input| orders.contains_key(&Source::Input(input));
    let of_inputs = found.into_iter().filter(|(input, _)| !given(*input));
    let named = of_inputs.filter_map(|(input, order)| Some((Source::Input(input), order?)));
    named.filter(|(_, order)| !is_plain(order)).collect()
}

/// What decides a coordinate in a Func of that order. `None` where a dimension that is tiled or data does.
fn decided(pipeline: &Pipeline, own: Option<&Order>, arg: Expr) -> Option<Decided> {
    let mut least = None;
    for e in Walker::once(pipeline, [arg]) {
        let by = match &pipeline.exprs[e].kind {
            ExprKind::Dim(d) => {
                let dim = Some(*d as usize);
                let place = own.map_or(*d as usize, |order| {
                    order.iter().position(|at| *at == dim).expect("every dimension has a place")
                });
                Decided::ByInner(place)
            }
            ExprKind::RVar(_, k) => Decided::ByDomain(*k),
            ExprKind::Load(..) | ExprKind::Call(..) => return None,
            _ => continue,
        };
        if matches!(by, Decided::ByInner(0 | 1)) {
            return None;
        }
        least = Some(least.map_or(by, |least: Decided| least.min(by)));
    }
    Some(least.unwrap_or(Decided::Fixed))
}
