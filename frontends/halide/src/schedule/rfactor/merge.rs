//! The update that combines the partial results.

use nbcc_stages::ElementType;

use super::dimensions::Dimensions;
use super::{Original, Parts};
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{DefinitionInfo, FuncId, Node, NodeKind, RDomId};
use crate::syntax::ast::Symbol;
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
        let name = |(i, &n): (usize, &usize)| {
            (dimensions.loops[n].name.clone(), self.rvar_name(domain, i as u32))
        };
        let aliases: Vec<(String, String)> = parts.merged.iter().enumerate().map(name).collect();
        self.replace_update(*func, *number, args, merged, domain, dimensions.schedule, aliases);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn replace_update(
        &mut self,
        func: FuncId,
        k: u32,
        args: Vec<Node>,
        values: Vec<Node>,
        rdom: RDomId,
        kept: Vec<usize>,
        aliases: Vec<(String, String)>,
    ) {
        let vars: Vec<Symbol> = self.hir.funcs[func].vars.clone();
        let mut loops: Vec<String> =
            (0..self.hir.rdoms[rdom].dims.len() as u32).map(|n| self.rvar_name(rdom, n)).collect();
        for (&a, &v) in args.iter().zip(&vars) {
            if matches!(self.hir.nodes[a].kind, NodeKind::Var(n) if n == v) {
                loops.push(self.names.text(v).to_owned());
            }
        }
        let update = &mut self.hir.funcs[func].updates[k as usize];
        let span = update.span;
        let mut number = 0;
        let mut schedule = std::mem::take(&mut update.schedule);
        schedule.retain(|_| {
            number += 1;
            kept.contains(&(number - 1))
        });
        *update = DefinitionInfo {
            args,
            values,
            rdom: Some(rdom),
            span,
            schedule,
            loops,
            aliases: aliases.into_iter().collect(),
        };
    }
}
