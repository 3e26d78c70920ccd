//! The intermediate Func: partial results over the loops that are left.

use nbcc_stages::ElementType;

use super::combination::Combination;
use super::dimensions::Dimensions;
use super::{Original, Parts};
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{FuncId, Node, NodeKind, RDomId};
use crate::pipeline::rewrite::Replacement;
use crate::syntax::ast::Symbol;
use crate::value::Value;

impl Elab<'_> {
    /// Makes the Func of `vars`, whose update goes over `domain`.
    pub(super) fn intermediate(
        &mut self,
        original: &Original,
        dimensions: &Dimensions,
        parts: &Parts,
        vars: &[Symbol],
        domain: Option<RDomId>,
    ) -> Result<FuncId> {
        let Original { types, combination, .. } = original;
        let (at, span) = (original.at, original.span);
        let added = &vars[original.vars.len()..];
        let (inside, conditions) = self.substituted(original, dimensions, parts, added, domain)?;

        let intermediate = self.new_func(&format!("{}_intm", original.name), span);
        self.hir.funcs[intermediate].anonymous = true;
        let identities = self.identities(combination, types, span);
        self.record_pure(intermediate, vars.to_vec(), identities, span)?;
        let mut args = Vec::new();
        for &a in &original.args {
            args.push(self.replace(a, &inside, span)?);
        }
        for &v in added {
            args.push(self.expr_of(&Value::Var(v), span)?);
        }
        let new: Vec<Node> = match combination {
            Combination::Separate(list) => list.iter().map(|&(_, e)| e).collect(),
            Combination::Best { values, .. } => values.clone(),
        };
        let mut values = Vec::new();
        for e in new {
            values.push(self.replace(e, &inside, span)?);
        }
        let results = self.combine(combination, intermediate, &args, &values, types, at);
        let results = match domain {
            Some(rdom) => {
                self.hir.rdoms[rdom].predicates = conditions;
                results
            }
            // Without a domain the condition chooses between the new value and the old one.
            None => self.guarded(intermediate, &args, results, &conditions, types, at),
        };
        self.record_update(intermediate, args, results, domain, at, at)?;
        if let Some(rdom) = domain {
            let name = |(i, &n): (usize, &usize)| {
                (dimensions.loops[n].name.clone(), self.rvar_name(rdom, i as u32))
            };
            let names: Vec<(String, String)> = parts.left.iter().enumerate().map(name).collect();
            let update = self.hir.funcs[intermediate].updates.last_mut().expect("just recorded");
            update.aliases.extend(names);
        }
        Ok(intermediate)
    }

    /// What the variables of the update's domain are inside of the intermediate Func, where kept
    /// loops are its new Vars `added`, and the conditions under which it is updated.
    fn substituted(
        &mut self,
        original: &Original,
        dimensions: &Dimensions,
        parts: &Parts,
        added: &[Symbol],
        domain: Option<RDomId>,
    ) -> Result<(Replacement, Vec<Node>)> {
        let (rdom, span) = (original.rdom, original.span);
        let mut loops = Replacement::new();
        for n in 0..dimensions.loops.len() {
            let value = match parts.left.iter().position(|&l| l == n) {
                Some(i) => {
                    let domain = domain.expect("a domain of the loops that are left");
                    self.hir.push(NodeKind::RVar(domain, i as u32), ElementType::I32, span)
                }
                None => {
                    let i = parts.kept.iter().position(|&l| l == n);
                    // Vars of an intermediate Func count from zero only if the domain does.
                    let var = Value::Var(added[i.expect("a loop is kept or left")]);
                    self.expr_of(&var, span)?
                }
            };
            loops.insert((rdom, n as u32), value);
        }
        let mut inside = Replacement::new();
        for (n, &value) in dimensions.variables.iter().enumerate() {
            inside.insert((rdom, n as u32), self.replace(value, &loops, span)?);
        }
        let predicates = self.hir.rdoms[rdom].predicates.clone();
        let mut conditions = Vec::new();
        for p in predicates {
            conditions.push(self.replace(p, &inside, span)?);
        }
        for &g in &dimensions.guards {
            conditions.push(self.replace(g, &loops, span)?);
        }
        Ok((inside, conditions))
    }
}
