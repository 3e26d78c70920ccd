//! Outputs of which more is computed than was asked for, by updates that write beyond or for
//! consumers in the pipeline: the part that was asked for becomes a stage of its own.

use nbcc_base::Span;
use nbcc_stages::bounds::{Bounds, Extents};
use nbcc_stages::{Definition, DirectiveKind, ElementType, Expr, ExprKind, FuncData, Pipeline};

/// The pipeline with a copying stage for each such output; `None` where there is none.
pub fn crop_outputs(pipeline: &Pipeline, extents: &Extents, bounds: &Bounds) -> Option<Pipeline> {
    let mut new = pipeline.clone();
    let mut any = false;
    for k in 0..new.outputs.len() {
        let func = new.outputs[k];
        if bounds.region(func) == Some(&extents.outputs[k][..]) {
            continue;
        }
        any = true;
        let data = new.funcs[func].clone();
        let span = data.span;
        let dims = 0..data.vars.len() as u32;
        let args: Vec<Expr> =
            dims.map(|d| new.expr(ExprKind::Dim(d), ElementType::I32, span)).collect();
        let value = |(n, &ty): (usize, &ElementType)| {
            new.expr(ExprKind::Call(func, n as u32, args.clone()), ty, span)
        };
        let values = data.types.iter().enumerate().map(value).collect();
        let whole = &mut new.funcs[func];
        whole.name = format!("{}.whole", data.name);
        // It says what is wanted of the output.
        whole.schedule.directives.retain(|d| !matches!(d.kind, DirectiveKind::Bound { .. }));
        // The part lies in the tiles of the whole.
        let mut schedule = data.schedule.clone();
        schedule.directives.retain(|d| matches!(d.kind, DirectiveKind::Target { .. }));
        schedule.directives.iter_mut().for_each(|d| d.span = Span::default());
        new.outputs[k] = new.funcs.push(FuncData {
            pure: Some(Definition { values, span }),
            updates: vec![],
            schedule,
            ..data
        });
    }
    any.then_some(new)
}
