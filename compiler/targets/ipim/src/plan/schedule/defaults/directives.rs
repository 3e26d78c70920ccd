//! The directives that a schedule by default consists of.

use crate::plan::NOWHERE;
use nbcc_base::Span;
use nbcc_stages::{Directive, DirectiveArg, DirectiveKind, Func, FuncData, Pipeline};

/// Adds a directive that no source has.
pub(super) fn direct(pipeline: &mut Pipeline, func: Func, kind: DirectiveKind) {
    pipeline.funcs[func].schedule.directives.push(Directive { kind, span: Span::default() });
}

/// The names of the loops over the elements of a tile.
pub fn inner_names(data: &FuncData) -> Vec<String> {
    let inner = |var: &String| {
        let mut name = format!("{var}i");
        while data.vars.contains(&name) {
            name.push('i');
        }
        name
    };
    data.vars.iter().take(2).filter(|var| *var != NOWHERE).map(inner).collect()
}

/// The `ipim_tile` that asks for tiles of that size.
pub(super) fn tile_directive(data: &FuncData, tile: [u32; 2]) -> DirectiveKind {
    let outer = data.vars.iter().take(2).cloned();
    let names = outer.chain(inner_names(data)).map(DirectiveArg::Var);
    let dims = data.vars.len().min(2);
    let sizes = tile.iter().take(dims).map(|&n| DirectiveArg::Int(n.into()));
    DirectiveKind::Target { name: "ipim_tile", args: names.chain(sizes).collect() }
}

/// The `load_pgsm` that stages all that a Func reads.
pub(super) fn staging_directive(data: &FuncData) -> DirectiveKind {
    let args = inner_names(data).into_iter().map(DirectiveArg::Var).collect();
    DirectiveKind::Target { name: "load_pgsm", args }
}
