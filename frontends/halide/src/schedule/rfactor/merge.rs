//! The update that combines the partial results.

use nbcc_stages::ElementType;

use super::dimensions::Dimensions;
use super::{Original, Parts};
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{DefinitionInfo, FuncId, Node, NodeKind, RDomId};
use crate::value::Value;

impl Elab<'_> {
    /// Replaces the update by one over `domain`, that of the loops that are kept. Coordinates that
    /// ran over the domain now run over everything.
    pub(super) fn merge(
        &mut self,
        original: &Original,
        dimensions: Dimensions,
        parts: &Parts,
        intermediate: FuncId,
        domain: RDomId,
    ) -> Result<()> {
        let Original { func, number, types, .. } = original;
        let (at, span) = (original.at, original.span);
        let mut args = Vec::new();
        for (&a, &v) in original.args.iter().zip(&original.vars) {
            args.push(if self.mentions(a, original.rdom, span)? {
                self.expr_of(&Value::Var(v), span)?
            } else {
                a
            });
        }
        let mut call_args = args.clone();
        for &n in &parts.kept {
            let i = parts.merged.iter().position(|&l| l == n).expect("it is a kept loop");
            let kind = NodeKind::RVar(domain, i as u32);
            call_args.push(self.hir.push(kind, ElementType::I32, span));
        }
        let call_args: Box<[Node]> = call_args.into();
        let partial: Vec<Node> = types
            .iter()
            .enumerate()
            .map(|(i, &ty)| {
                let kind = NodeKind::Call(intermediate, i as u32, call_args.clone());
                self.hir.push(kind, ty, at)
            })
            .collect();
        let merged = self.combine(&original.combination, *func, &args, &partial, types, at);
        let mut loops: Vec<String> =
            (0..parts.merged.len() as u32).map(|n| self.rvar_name(domain, n)).collect();
        let alias = |(&n, new): (&usize, &String)| (dimensions.loops[n].name.clone(), new.clone());
        let aliases = parts.merged.iter().zip(&loops).map(alias).collect();
        for (&a, &v) in args.iter().zip(&original.vars) {
            if matches!(self.hir.nodes[a].kind, NodeKind::Var(n) if n == v) {
                loops.push(self.names.text(v).to_owned());
            }
        }
        let update = &mut self.hir.funcs[*func].updates[*number as usize];
        let given = std::mem::take(&mut update.schedule).into_iter().enumerate();
        let schedule = given.filter(|(n, _)| dimensions.schedule.contains(n));
        *update = DefinitionInfo {
            args,
            values: merged,
            rdom: Some(domain),
            span: update.span,
            schedule: schedule.map(|(_, directive)| directive).collect(),
            loops,
            aliases,
        };
        Ok(())
    }
}
