//! The directives that a schedule by default consists of.

use crate::plan::NOWHERE;
use nbcc_base::Span;
use nbcc_stages::{
    Directive, DirectiveArg, DirectiveKind, Func, FuncData, Pipeline, are_loops_named,
};

/// Adds a directive that no source has.
pub(super) fn direct(pipeline: &mut Pipeline, func: Func, kind: DirectiveKind) {
    pipeline.funcs[func].schedule.directives.push(Directive { kind, span: Span::default() });
}

/// Adds the directive of tiles of that size. Where the source has split the loops that it names or made one
/// of them, it comes before, as what is split then are loops over tiles; but not where something is
/// computed inside of what the source has made.
pub(super) fn direct_tile(pipeline: &mut Pipeline, func: Func, tile: [u32; 2]) {
    let kind = tile_directive(&pipeline.funcs[func], tile);
    let data = &pipeline.funcs[func];
    let is_tiled = |name: &String| data.vars.iter().take(2).any(|var| var == name);
    let remakes = |directive: &Directive| match &directive.kind {
        DirectiveKind::Split { old, .. } => is_tiled(old),
        DirectiveKind::Fuse { inner, outer, .. } => is_tiled(inner) || is_tiled(outer),
        _ => false,
    };
    if data.schedule.directives.iter().any(remakes) && !are_loops_named(pipeline, func) {
        let directive = Directive { kind, span: Span::default() };
        pipeline.funcs[func].schedule.directives.insert(0, directive);
    } else {
        direct(pipeline, func, kind);
    }
}

/// Whether a directive of a Func makes a loop of that name.
fn is_made(data: &FuncData, name: &str) -> bool {
    data.schedule.directives.iter().any(|directive| match &directive.kind {
        DirectiveKind::Split { outer, inner, .. } => outer == name || inner == name,
        DirectiveKind::Fuse { fused, .. } => fused == name,
        _ => false,
    })
}

/// The names of the loops over the elements of a tile, in a schedule of nothing else.
pub fn inner_names(data: &FuncData) -> Vec<String> {
    names(data, |_| false)
}

/// The same beside the loops that the source makes.
fn names_beside(data: &FuncData) -> Vec<String> {
    names(data, |name| is_made(data, name))
}

fn names(data: &FuncData, is_taken: impl Fn(&str) -> bool) -> Vec<String> {
    let inner = |var: &String| {
        let mut name = format!("{var}i");
        while data.vars.contains(&name) || is_taken(&name) {
            name.push('i');
        }
        name
    };
    data.vars.iter().take(2).filter(|var| *var != NOWHERE).map(inner).collect()
}

/// The `ipim_tile` that asks for tiles of that size.
fn tile_directive(data: &FuncData, tile: [u32; 2]) -> DirectiveKind {
    let outer = data.vars.iter().take(2).cloned();
    let names = outer.chain(names_beside(data)).map(DirectiveArg::Var);
    let dims = data.vars.len().min(2);
    let sizes = tile.iter().take(dims).map(|&n| DirectiveArg::Int(n.into()));
    DirectiveKind::Target { name: "ipim_tile", args: names.chain(sizes).collect() }
}

/// The `load_pgsm` that stages all that a Func reads.
pub(super) fn staging_directive(data: &FuncData) -> DirectiveKind {
    let args = names_beside(data).into_iter().map(DirectiveArg::Var).collect();
    DirectiveKind::Target { name: "load_pgsm", args }
}

#[cfg(test)]
mod tests {
    use nbcc_stages::build::Build;

    use super::*;
    use crate::plan::schedule::scheduled_tile;

    /// `f(x, y)` with `y` split as sources do.
    fn split() -> (Build, Func) {
        let mut b = Build::new();
        let one = b.float(1.0);
        let f = b.func("f", &["x", "y"], one);
        let [old, outer, inner] = ["y", "yo", "yi"].map(String::from);
        b.directive(f, DirectiveKind::Split { old, outer, inner, factor: 16 });
        (b, f)
    }

    #[test]
    fn tiles_are_of_the_size_that_was_chosen_where_the_source_splits_loops() {
        let (mut b, f) = split();
        direct_tile(&mut b.pipeline, f, [8, 4]);
        assert_eq!(scheduled_tile(&b.pipeline, f).map(|(tile, _)| tile), Some([8, 4]));
        assert_eq!(names_beside(&b.pipeline.funcs[f]), ["xi", "yii"]);
    }

    #[test]
    fn loops_in_which_something_is_computed_stay() {
        let (mut b, f) = split();
        let one = b.float(1.0);
        let g = b.func("g", &["x", "y"], one);
        b.directive(g, DirectiveKind::ComputeAt { func: f, var: "yo".into() });
        direct_tile(&mut b.pipeline, f, [8, 4]);
        let first = &b.pipeline.funcs[f].schedule.directives[0].kind;
        assert!(matches!(first, DirectiveKind::Split { .. }), "{first:?}");
    }
}
