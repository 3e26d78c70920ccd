//! The loops of a stage as its schedule asks for them, innermost first; and the tile that
//! `ipim_tile` asks for.

use nbcc_base::Span;
use nbcc_stages::bounds::Interval;
use nbcc_stages::{Directive, DirectiveArg, DirectiveKind, ExprKind, Func, Literal, Pipeline};

use super::super::Stage;
use super::stages::{schedule_of, shown};

/// What a loop runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// A pure dimension.
    Dim(usize),
    /// A variable of the update's reduction domain.
    RVar(u32),
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its name.
    pub name: String,
    /// What it runs over: several where loops were fused.
    pub axes: Vec<Axis>,
    /// Elements along the axis from one round to the next; `None` of a fused loop.
    pub stride: Option<i64>,
    /// Rounds, where the schedule or the domain says.
    pub extent: Option<i64>,
    /// `parallel`, `vectorized` and the like.
    pub how: Vec<String>,
    /// Whether it runs over the elements of a tile that `ipim_tile` made.
    pub in_tile: bool,
}

/// The names of a domain's variables.
const RVARS: [&str; 4] = ["x", "y", "z", "w"];

impl Loop {
    fn new(name: String, axis: Axis, extent: Option<i64>) -> Loop {
        Loop { name, axes: vec![axis], stride: Some(1), extent, how: vec![], in_tile: false }
    }

    /// The pure dimension it runs over, if nothing else.
    pub fn dim(&self) -> Option<usize> {
        match self.axes[..] {
            [Axis::Dim(d)] => Some(d),
            _ => None,
        }
    }

    /// The head of the loop, as in a listing.
    pub fn text(&self) -> String {
        let how: String = self.how.iter().map(|h| format!("{h} ")).collect();
        let range = self.extent.map_or(String::new(), |n| format!(" in 0..{n}"));
        format!("{how}for {}{range}", shown(&self.name))
    }
}

/// The loops of a stage before its schedule, innermost first: in an update those of the domain
/// first.
fn unscheduled(pipeline: &Pipeline, func: Func, stage: Stage) -> Vec<Loop> {
    let data = &pipeline.funcs[func];
    let mut loops = Vec::new();
    if let Stage::Update(k) = stage
        && let Some(rdom) = data.updates[k].rdom
    {
        let rdom = &pipeline.rdoms[rdom];
        for (n, (&(_, extent), var)) in rdom.dims.iter().zip(RVARS).enumerate() {
            let extent = match pipeline.exprs[extent].kind {
                ExprKind::Literal(Literal::Int(extent)) => Some(extent),
                _ => None,
            };
            let name = format!("{}${var}", rdom.name);
            loops.push(Loop::new(name, Axis::RVar(n as u32), extent));
        }
    }
    for (d, var) in data.vars.iter().enumerate() {
        let pure = match stage {
            Stage::Pure => true,
            Stage::Update(k) => data.updates[k].is_pure_dim(pipeline, d),
        };
        if pure {
            loops.push(Loop::new(var.clone(), Axis::Dim(d), None));
        }
    }
    loops
}

/// The loops of a stage, innermost first.
pub fn loops_of(pipeline: &Pipeline, func: Func, stage: Stage) -> Vec<Loop> {
    let mut loops = unscheduled(pipeline, func, stage);
    for directive in &schedule_of(pipeline, func, stage).directives {
        apply(&mut loops, &directive.kind);
    }
    loops
}

/// Calls `visit` with each directive and the loops as they are before it, then gives the loops at
/// the end.
pub fn each_directive(
    pipeline: &Pipeline,
    func: Func,
    stage: Stage,
    mut visit: impl FnMut(&[Loop], &Directive),
) -> Vec<Loop> {
    let mut loops = unscheduled(pipeline, func, stage);
    for directive in &schedule_of(pipeline, func, stage).directives {
        visit(&loops, directive);
        apply(&mut loops, &directive.kind);
    }
    loops
}

/// The place of a loop.
pub fn find(loops: &[Loop], name: &str) -> Option<usize> {
    loops.iter().position(|l| l.name == name)
}

fn split(loops: &mut Vec<Loop>, old: &str, outer: &str, inner: &str, factor: i64) {
    let Some(at) = find(loops, old) else { return };
    let whole = loops[at].clone();
    loops[at] = Loop {
        name: outer.to_string(),
        stride: whole.stride.and_then(|s| s.checked_mul(factor)),
        extent: whole.extent.map(|n| (n + factor - 1) / factor),
        ..whole.clone()
    };
    loops.insert(at, Loop { name: inner.to_string(), extent: Some(factor), ..whole });
}

fn apply(loops: &mut Vec<Loop>, kind: &DirectiveKind) {
    match kind {
        DirectiveKind::Split { old, outer, inner, factor } => {
            split(loops, old, outer, inner, *factor);
        }
        DirectiveKind::Fuse { inner, outer, fused } => {
            let (Some(a), Some(b)) = (find(loops, inner), find(loops, outer)) else { return };
            let mut axes = loops[a].axes.clone();
            axes.extend(&loops[b].axes);
            let extent = loops[a].extent.zip(loops[b].extent);
            let extent = extent.and_then(|(m, n)| m.checked_mul(n));
            let name = fused.clone();
            loops[a] = Loop { name, axes, stride: None, extent, how: vec![], in_tile: false };
            loops.remove(b);
        }
        DirectiveKind::Reorder(order) => {
            let places: Vec<usize> =
                (0..loops.len()).filter(|&n| order.contains(&loops[n].name)).collect();
            let named: Vec<Loop> =
                order.iter().filter_map(|o| Some(loops[find(loops, o)?].clone())).collect();
            for (place, l) in places.into_iter().zip(named) {
                loops[place] = l;
            }
        }
        DirectiveKind::Vectorize { var, width } => mark(loops, var, "vectorized", *width),
        DirectiveKind::Unroll { var, factor } => mark(loops, var, "unrolled", *factor),
        DirectiveKind::Parallel(var) => mark(loops, var, "parallel", None),
        DirectiveKind::Target { name: "ipim_tile", args } => {
            let Some(tile) = TileArgs::of(args) else { return };
            let mut inner = Vec::new();
            for (old, new, size) in tile.0 {
                let Some(at) = find(loops, &old) else { continue };
                let whole = loops[at].clone();
                loops[at].stride = whole.stride.and_then(|s| s.checked_mul(size));
                loops[at].extent = whole.extent.map(|n| (n + size - 1) / size);
                inner.push(Loop { name: new, extent: Some(size), in_tile: true, ..whole });
            }
            loops.splice(0..0, inner);
        }
        _ => {}
    }
}

fn mark(loops: &mut [Loop], var: &str, word: &str, number: Option<i64>) {
    if let Some(at) = find(loops, var) {
        loops[at].how.push(match number {
            Some(n) => format!("{word}({n})"),
            None => word.to_string(),
        });
    }
}

/// The arguments of `ipim_tile`: loop, new inner loop, size.
struct TileArgs(Vec<(String, String, i64)>);

impl TileArgs {
    fn of(args: &[DirectiveArg]) -> Option<TileArgs> {
        let var = |n: usize| match args.get(n) {
            Some(DirectiveArg::Var(name)) => Some(name.clone()),
            _ => None,
        };
        let size = |n: usize| match args.get(n) {
            Some(DirectiveArg::Int(n)) => Some(*n),
            _ => None,
        };
        match args.len() {
            3 => Some(TileArgs(vec![(var(0)?, var(1)?, size(2)?)])),
            6 => Some(TileArgs(vec![(var(0)?, var(2)?, size(4)?), (var(1)?, var(3)?, size(5)?)])),
            _ => None,
        }
    }
}

/// The widest and highest tile; larger ones are cut to it.
pub const MAX_TILE: u32 = 4096;

/// Width of the tiles where only a height is asked for.
const DEFAULT_WIDTH: u32 = 16;

/// The tile that an `ipim_tile` asks for with these loops before it; `None` where it names loops
/// that are not of the first two dimensions.
fn tile_of(loops: &[Loop], args: &[DirectiveArg]) -> Option<[u32; 2]> {
    let mut sizes = [None; 2];
    for (old, _, size) in TileArgs::of(args)?.0 {
        let l = &loops[find(loops, &old)?];
        let dim = l.dim().filter(|&d| d < 2)?;
        let size = u32::try_from(l.stride?.saturating_mul(size)).unwrap_or(u32::MAX);
        if sizes[dim].replace(size).is_some() {
            return None;
        }
    }
    Some([sizes[0].unwrap_or(DEFAULT_WIDTH), sizes[1].unwrap_or(1)])
}

/// The tile that the schedule of a Func asks for, and the directive that does: the first
/// `ipim_tile` over its first two dimensions.
pub fn scheduled_tile(pipeline: &Pipeline, func: Func) -> Option<([u32; 2], Span)> {
    let mut found = None;
    each_directive(pipeline, func, Stage::Pure, |loops, directive| {
        if let DirectiveKind::Target { name: "ipim_tile", args } = &directive.kind
            && found.is_none()
        {
            found = tile_of(loops, args).map(|tile| (tile, directive.span));
        }
    });
    found
}

/// A tile without what reaches over the region that is computed: a tile larger than all of it does
/// the same as one that just holds it. Up to a power of two, so that the tiles of stages whose
/// regions differ by what they read around a point stay alike.
pub fn within(tile: [u32; 2], region: &[Interval]) -> [u32; 2] {
    let room = |k: usize| {
        let extent = region.get(k).map_or(1, |i| i.extent().max(1));
        extent.checked_next_power_of_two().unwrap_or(extent)
    };
    [0, 1].map(|k| tile[k].min(room(k)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbcc_stages::build::Build;

    fn directive(b: &mut Build, f: Func, name: &'static str, vars: &[&str], sizes: &[i64]) {
        let vars = vars.iter().map(|v| DirectiveArg::Var(v.to_string()));
        let args = vars.chain(sizes.iter().map(|&n| DirectiveArg::Int(n))).collect();
        b.directive(f, DirectiveKind::Target { name, args });
    }

    fn build() -> (Build, Func) {
        let mut b = Build::new();
        let one = b.float(1.0);
        let f = b.func("f", &["x", "y", "c"], one);
        (b, f)
    }

    fn listing(b: &Build, f: Func) -> Vec<String> {
        loops_of(&b.pipeline, f, Stage::Pure).iter().rev().map(Loop::text).collect()
    }

    #[test]
    fn loops_follow_the_schedule() {
        let (mut b, f) = build();
        directive(&mut b, f, "ipim_tile", &["x", "y", "xi", "yi"], &[16, 8]);
        let split = |old: &str, outer: &str, inner: &str, factor| DirectiveKind::Split {
            old: old.to_string(),
            outer: outer.to_string(),
            inner: inner.to_string(),
            factor,
        };
        b.directive(f, split("xi", "xm", "xv", 4));
        b.directive(f, DirectiveKind::Vectorize { var: "xv".to_string(), width: None });
        b.directive(f, DirectiveKind::Reorder(vec!["c".to_string(), "y".to_string()]));
        b.directive(
            f,
            DirectiveKind::Fuse {
                inner: "xm".to_string(),
                outer: "yi".to_string(),
                fused: "t".to_string(),
            },
        );
        assert_eq!(
            listing(&b, f),
            ["for y", "for c", "for x", "for t in 0..32", "vectorized for xv in 0..4"]
        );
        assert_eq!(scheduled_tile(&b.pipeline, f).unwrap().0, [16, 8]);
    }

    #[test]
    fn tiles_are_of_the_first_two_dimensions_however_written() {
        let (mut b, f) = build();
        directive(&mut b, f, "ipim_tile", &["c", "ci"], &[3]);
        directive(&mut b, f, "ipim_tile", &["y", "x", "yi", "xi"], &[4, 32]);
        directive(&mut b, f, "ipim_tile", &["x", "y", "xo", "yo"], &[2, 2]);
        assert_eq!(scheduled_tile(&b.pipeline, f).unwrap().0, [32, 4]);

        let (mut b, f) = build();
        let var = |s: &str| s.to_string();
        let (old, outer, inner) = (var("x"), var("xo"), var("xs"));
        b.directive(f, DirectiveKind::Split { old, outer, inner, factor: 8 });
        directive(&mut b, f, "ipim_tile", &["xo", "xi"], &[4]);
        assert_eq!(scheduled_tile(&b.pipeline, f).unwrap().0, [32, 1]);

        let (mut b, f) = build();
        directive(&mut b, f, "ipim_tile", &["x", "xi"], &[1 << 40]);
        assert_eq!(scheduled_tile(&b.pipeline, f).unwrap().0, [u32::MAX, 1]);
    }

    #[test]
    fn tiles_end_where_what_is_computed_does() {
        let region = [Interval::new(0, 60), Interval::new(-1, 36)];
        assert_eq!(within([128, 4096], &region), [64, 64]);
        assert_eq!(within([48, 3], &region), [48, 3]);
        assert_eq!(within([8, 8], &region[..1]), [8, 1]);
        assert_eq!(within([u32::MAX, 8], &[Interval::new(5, 5); 2]), [1, 1]);
    }
}
