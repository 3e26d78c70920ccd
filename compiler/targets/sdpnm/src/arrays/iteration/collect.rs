//! The loads and stores of a loop that is built, and in which order they must run.

use std::collections::BTreeSet;

use nbcc_ir::{Extent, Op, Value};
use nbcc_isa_sdpnm::config::Opcode;

use super::body::Order;
use super::build::{Builder, Building};
use crate::arrays::facts::access::{Access, Distance, Subscript, apart};
use crate::arrays::facts::evolution::Evolution;

/// Bytes of an element of two words.
pub(super) const LONG_BYTES: u32 = 8;

/// What words of a nest grow by less than.
const MAX_GROWTH: i32 = 1 << 29;

/// Iterations of an innermost loop from which on a nest runs whose walks come back that late.
pub(crate) const MIN_INNER_ITERATIONS: u32 = 8;

/// Questions how far accesses are apart at most.
const MOST_ASKED: usize = 6;

/// How often the innermost loop runs, if two accesses follow the same walk, which comes back to an element only
/// after as many iterations.
fn returning(a: &Subscript, b: &Subscript) -> Option<Value> {
    let (Subscript::Linear(a), Subscript::Linear(b)) = (a, b) else { return None };
    let ((one, x), (other, y)) = (a.walk.as_ref()?, b.walk.as_ref()?);
    let is_same = one == other && x == y && one.is_apart;
    is_same.then(|| one.counts.first().copied())?
}

impl Builder<'_> {
    /// Finds all accesses of the loop.
    pub(super) fn collect_accesses(&mut self) -> Building<()> {
        let (func, shape) = (self.func, self.shape);
        let mut unknown = Vec::new();
        for &block in &shape.blocks {
            for &inst in &func.blocks[block].insts {
                let (mem, subscripts, is_store) = match &func.insts[inst].op {
                    Op::Load(ty, mem, subscripts) if !ty.is_vector() => (*mem, subscripts, false),
                    Op::Store(mem, subscripts, _) => (*mem, subscripts, true),
                    op if op.effect() == nbcc_ir::Effect::Pure => continue,
                    &Op::Binary(op, _, by)
                        if let Some(result) = func.result(inst)
                            && self.divides(block, op, result, by) =>
                    {
                        continue;
                    }
                    _ => return self.refuse("divisions, calls and the like"),
                };
                let bytes = self.reachable(mem)?;
                let &[index] = &subscripts[..] else {
                    return self.refuse("accesses with several subscripts");
                };
                // Whether the ends of a nest are inside is asked in words.
                let is_near = |evolution: &Evolution| {
                    let trips = self.evolutions.trips().unwrap_or(u32::MAX);
                    evolution.is_linear()
                        || evolution.walk.is_some()
                        || evolution.reach(trips).is_some_and(|(least, most)| {
                            least > -i64::from(MAX_GROWTH) && most < i64::from(MAX_GROWTH)
                        })
                };
                let is_watched = self.may_watch(mem) && self.is_guarded(block, index, mem);
                let evolution = self.evolutions.in_nest(index).filter(is_near);
                let subscript = match evolution.filter(|_| !is_watched) {
                    Some(evolution) => Subscript::Linear(evolution),
                    None => match func.mems[mem].extents[0] {
                        Extent::Fixed(count)
                            if self.ranges.fits(index, 0, i64::from(count) - 1) =>
                        {
                            Subscript::Inside(index)
                        }
                        _ if is_watched || !is_store && self.may_watch(mem) => {
                            Subscript::Watched(index)
                        }
                        _ if let Some(limits) = self.limits(index) => {
                            match self.may_watch(mem) && !self.surely(&limits, mem) {
                                true => Subscript::Watched(index),
                                false => Subscript::Limited(index, limits),
                            }
                        }
                        _ if is_store && self.may_watch(mem) => Subscript::Watched(index),
                        _ => {
                            unknown.push(self.accesses.len());
                            Subscript::Watched(index)
                        }
                    },
                };
                let of = Access {
                    inst,
                    block,
                    mem,
                    subscript,
                    bytes,
                    is_high: false,
                    is_store,
                    node: None,
                };
                let high = (bytes == LONG_BYTES).then(|| Access { is_high: true, ..of.clone() });
                self.accesses.extend([Some(of), high].into_iter().flatten());
            }
        }
        for number in 0..self.accesses.len() {
            match self.followed(number) {
                Some(of) => self.accesses[number].subscript = Subscript::Followed(of),
                None if unknown.contains(&number) => {
                    let name = &func.mems[self.accesses[number].mem].name;
                    return Err(format!(
                        "which element of `{name}` it takes is known on the way only, and might be \
                         outside"
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Puts stores and what might touch the same elements in the order of the source.
    pub(super) fn order(&mut self) -> Building<()> {
        let mut orders = Vec::new();
        let mut counts = BTreeSet::new();
        let mut asked = Vec::new();
        for (number, b) in self.accesses.iter().enumerate() {
            let Some(to) = b.node else { continue };
            for a in &self.accesses[..number] {
                let Some(from) = a.node else { continue };
                if a.mem != b.mem || !(a.is_store || b.is_store) {
                    continue;
                }
                let mut add = |from: usize, to: usize, distance: i64, more: u32| {
                    if let Ok(distance) = u32::try_from(distance) {
                        orders.push(Order { from, to, distance, more });
                    }
                };
                match a.distance_to(b) {
                    Distance::Never => {}
                    // The walk comes back no sooner.
                    Distance::Any if let Some(count) = returning(&a.subscript, &b.subscript) => {
                        counts.insert(count);
                        add(from, to, 0, 0);
                        add(to, from, MIN_INNER_ITERATIONS.into(), 0);
                    }
                    Distance::Any
                        if let Some(of) =
                            apart(&a.subscript, &b.subscript, MIN_INNER_ITERATIONS) =>
                    {
                        if !asked.contains(&of) {
                            asked.push(of);
                        }
                        add(from, to, 0, 0);
                        add(to, from, 1, MIN_INNER_ITERATIONS - 1);
                    }
                    Distance::Any | Distance::Always => {
                        add(from, to, 0, 0);
                        add(to, from, 1, 0);
                    }
                    Distance::After(distance) if distance >= 0 => add(from, to, distance, 0),
                    Distance::After(distance) => add(to, from, -distance, 0),
                }
            }
            // A store that may come back to where it was before.
            let stays = matches!(b.distance_to(b), Distance::Any | Distance::Always);
            if b.is_store && stays {
                orders.push(Order { from: to, to, distance: 1, more: 0 });
            }
        }
        if asked.len() > MOST_ASKED {
            asked.clear();
            orders.iter_mut().for_each(|order: &mut Order| order.more = 0);
        }
        orders.sort();
        orders.dedup();
        // What data says already, and the order of an operation with its own next run.
        let edges = self.body.edges();
        orders.retain(|o| {
            let is_known =
                edges.iter().any(|e| (e.from, e.to) == (o.from, o.to) && e.distance <= o.distance);
            !is_known && o.from != o.to
        });
        debug_assert!(orders.iter().all(|o| {
            [o.from, o.to]
                .iter()
                .all(|&n| matches!(self.body.nodes[n].op, Opcode::Load | Opcode::Store))
        }));
        self.body.orders = orders;
        self.counts = counts.into_iter().collect();
        self.apart = asked;
        Ok(())
    }
}
