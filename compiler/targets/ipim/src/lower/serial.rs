//! A stage computed on one engine: what cannot be distributed, such as scans, scatters whose order
//! counts, and small tables. Everything it reads and writes lies whole in that engine's bank.
//!
//! Points of a row are computed four at a time where the row is a dimension of the stage and points
//! do not depend on each other; else one at a time, in the order that the language defines: the
//! first variable of the reduction domain fastest, dimensions outside.

use std::collections::BTreeMap;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{BinaryOp, Builder, IntCond, Mem, Op, Terminator, Type, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::bounds::{AffineVar, Interval};
use nbcc_stages::lower::ExprLowering;
use nbcc_stages::{ElementType, Expr, ExprKind, Walker};

use super::body::{from_word, select_where, to_word, word_type};
use super::cx::{KernelCx, Lowering};
use super::gather::{linear_index, numbered};
use super::math::{plus, times};
use super::point::{Point, PointBody, Scanned, Serial};
use super::position::{finish_at, mesh_of, skip_idle};
use crate::intrinsics::at_most;
use crate::kernel::{Kernel, Size};
use crate::plan::{BufferId, Plan, Recurrence, SerialStep, Source, Stage, serial_recurrence};

/// Lowers a stage computed on one engine.
pub(crate) fn lower(cx: &mut Lowering<'_>, step: &SerialStep) -> Kernel {
    let plan = cx.plan;
    let data = &plan.pipeline.funcs[step.func];
    let mut kernel = KernelCx::new(cx, &data.name.replace('.', "_"));
    let ids = step.targets.iter().chain(step.sources.values());
    let mems: BTreeMap<BufferId, Mem> = ids.map(|&id| (id, kernel.buffer(plan, id))).collect();
    let mut serial = Serial::new(plan, step, mems);
    serial.unrolls = cx.size == Size::Fast;
    let exit = kernel.func.add_block();
    let b = &mut cx.builder(&mut kernel.func);
    skip_idle(b, [1, 1], mesh_of(cx.machine), exit);
    serial.run(b);
    finish_at(b, exit);
    b.terminate(Terminator::Return(vec![]));
    kernel.finish(1)
}

/// Expressions of which copies may stand in the code of an innermost loop.
const MOST_EXPRS: usize = 640;

/// What a round of a loop computes at a value of its variable, of what the round before left.
type Round<'r> = dyn FnMut(&mut Builder<'_>, Value, &[Value]) -> Vec<Value> + 'r;

/// Rounds of a loop, one behind the other.
fn in_full(
    b: &mut Builder<'_>,
    range: Range<i32>,
    first: Vec<Value>,
    round: &mut Round<'_>,
) -> Vec<Value> {
    range.fold(first, |values, at| {
        let at = b.i32(at);
        round(b, at, &values)
    })
}

/// A loop around a point.
#[derive(Clone, Copy)]
enum Loop {
    Dim(usize, Interval),
    RVar(usize, Interval),
}

impl<'a> Serial<'a> {
    fn new(plan: &'a Plan, step: &'a SerialStep, mems: BTreeMap<BufferId, Mem>) -> Serial<'a> {
        let pipeline = &plan.pipeline;
        let data = &pipeline.funcs[step.func];
        let bounds = plan.bounds.funcs[step.func].as_ref().expect("only needed Funcs are planned");
        let number = match step.stage {
            Stage::Pure => 0,
            Stage::Update(k) => k + 1,
        };
        let loops = bounds.stages[number].as_ref().expect("a step's stage runs");
        let mut serial = Serial {
            plan,
            step,
            mems,
            varies: SecondaryMap::new(),
            args: vec![None; data.vars.len()],
            values: &[],
            predicates: &[],
            rdom: None,
            loops,
            region: &bounds.region,
            span: data.span,
            lanes: LANES as u8,
            accumulates: false,
            unrolls: false,
        };
        match step.stage {
            Stage::Pure => {
                let pure = data.pure.as_ref().expect("a pure stage has a definition");
                serial.values = &pure.values;
                serial.span = pure.span;
            }
            Stage::Update(k) => {
                let update = &data.updates[k];
                let named = |d: usize| update.is_pure_dim(pipeline, d);
                serial.args =
                    (0..update.args.len()).map(|d| (!named(d)).then_some(update.args[d])).collect();
                serial.values = &update.values;
                serial.rdom = update.rdom;
                serial.predicates =
                    update.rdom.map_or(&[], |rdom| &pipeline.rdoms[rdom].predicates);
                serial.span = update.span;
            }
        }
        let roots = serial.values.iter().chain(serial.predicates).copied();
        let roots = roots.chain(serial.args.iter().flatten().copied());
        let reachable = Walker::once(pipeline, roots);
        for &expr in &reachable {
            let kind = &pipeline.exprs[expr].kind;
            let mut varies = *kind == ExprKind::Dim(0);
            kind.each_operand(|operand| varies |= serial.varies[operand]);
            serial.varies[expr] = varies;
        }
        if !serial.points_are_independent(&reachable) {
            serial.lanes = 1;
        }
        serial.accumulates = serial.is_of_one_element(&reachable);
        serial
    }

    /// Whether all points of the reduction domain read and write one element of the Func, the same for
    /// each point of the dimensions.
    fn is_of_one_element(&self, reachable: &[Expr]) -> bool {
        let pipeline = &self.plan.pipeline;
        let Stage::Update(k) = self.step.stage else { return false };
        let args = &pipeline.funcs[self.step.func].updates[k].args;
        let kind = |expr: Expr| &pipeline.exprs[expr].kind;
        let fixed = |kind: &ExprKind| matches!(kind, ExprKind::Dim(_) | ExprKind::Literal(_));
        let is_own = |of: &[Expr]| of.iter().zip(args).all(|(&one, &own)| kind(one) == kind(own));
        self.rdom.is_some()
            && args.iter().all(|&arg| fixed(kind(arg)))
            && reachable.iter().all(|&expr| match kind(expr) {
                ExprKind::Call(func, _, of) if *func == self.step.func => is_own(of),
                _ => true,
            })
    }

    /// Whether four points of a row can be computed together: the row is a dimension of the stage,
    /// and the stage reads and writes its own Func at most at the point's own place in it.
    fn points_are_independent(&self, reachable: &[Expr]) -> bool {
        let pipeline = &self.plan.pipeline;
        let written = match self.args.split_first() {
            Some((first, rest)) => {
                first.is_none() && rest.iter().flatten().all(|&arg| !self.varies[arg])
            }
            None => self.step.stage == Stage::Pure,
        };
        written
            && reachable.iter().all(|&expr| match &pipeline.exprs[expr].kind {
                ExprKind::Call(func, _, args) if *func == self.step.func => {
                    args.first().is_some_and(|&x| pipeline.exprs[x].kind == ExprKind::Dim(0))
                }
                _ => true,
            })
    }

    fn run(&self, b: &mut Builder<'_>) {
        let dims = self.loops.dims.iter().enumerate().filter(|(d, _)| self.args[*d].is_none());
        let rvars = self.loops.rvars.iter().enumerate();
        let outer = dims.rev().map(|(d, &i)| Loop::Dim(d, i));
        let inner = rvars.rev().map(|(n, &i)| Loop::RVar(n, i));
        let nest: Vec<Loop> = outer.chain(inner).collect();
        let dims = vec![None; self.args.len()];
        let point = Point { lanes: self.lanes, dims, rvars: vec![None; self.loops.rvars.len()] };
        self.nest(b, &nest, point);
    }

    /// First coordinate along x of a row of vectors, where rows are computed in vectors: that of a
    /// whole atom.
    fn first(&self, interval: Interval) -> i32 {
        let begin = interval.min - self.region[0].min;
        interval.min - begin.rem_euclid(LANES as i32)
    }

    fn nest(&self, b: &mut Builder<'_>, nest: &[Loop], point: Point) {
        if self.accumulates && !nest.iter().any(|l| matches!(l, Loop::Dim(..))) {
            return self.accumulate(b, nest, point);
        }
        let Some((first, rest)) = nest.split_first() else {
            self.point(b, &point, None);
            return;
        };
        match *first {
            Loop::RVar(0, interval) if self.scans(interval).is_some() => {
                let recurrence = self.scans(interval).expect("there is one");
                self.scan(b, &recurrence, interval, &point);
            }
            Loop::Dim(0, interval) if self.lanes > 1 => {
                let min = self.first(interval);
                let extent = (interval.max - min + 1) as u32;
                b.counted_loop("d0", extent.div_ceil(LANES as u32), |b, counter| {
                    let offset = times(b, counter, LANES as i64);
                    let value = plus(b, offset, min.into());
                    let mut point = point;
                    point.dims[0] = Some(value);
                    self.nest(b, rest, point);
                });
            }
            Loop::Dim(d, interval) => {
                b.counted_loop(&format!("d{d}"), interval.extent(), |b, counter| {
                    let mut point = point;
                    point.dims[d] = Some(plus(b, counter, interval.min.into()));
                    self.nest(b, rest, point);
                });
            }
            Loop::RVar(0, interval) => {
                self.rounds(b, interval, vec![], &mut |b, value, _| {
                    let mut point = point.clone();
                    point.rvars[0] = Some(value);
                    self.nest(b, rest, point);
                    vec![]
                });
            }
            Loop::RVar(n, interval) => {
                b.counted_loop(&format!("r{n}"), interval.extent(), |b, counter| {
                    let mut point = point;
                    point.rvars[n] = Some(plus(b, counter, interval.min.into()));
                    self.nest(b, rest, point);
                });
            }
        }
    }

    /// The recurrence along the innermost loop, if what it reads before its first round is there.
    fn scans(&self, interval: Interval) -> Option<Recurrence> {
        let Stage::Update(k) = self.step.stage else { return None };
        let found = serial_recurrence(self.plan, self.step.func, k)?;
        (interval.extent() > found.rounds).then_some(found)
    }

    /// The innermost loop of a scan, which keeps what it stores in registers for as long as it is read.
    fn scan(
        &self,
        b: &mut Builder<'_>,
        recurrence: &Recurrence,
        interval: Interval,
        point: &Point,
    ) {
        let types = &self.plan.pipeline.funcs[self.step.func].types;
        let mut first = Vec::new();
        for ago in 1..=recurrence.rounds as i32 {
            let mut point = point.clone();
            point.rvars[0] = Some(b.i32(interval.min - ago));
            let mut lowering = ExprLowering::new(&self.plan.pipeline, self.lanes);
            let mut body = PointBody::new(self, &point, None);
            let place = self.place(b, &mut body, &mut lowering, &point);
            for (id, &ty) in self.step.targets.iter().zip(types) {
                let word = b.load(word_type(ty, self.lanes), self.mems[id], place.clone());
                first.push(from_word(b, word, ty));
            }
        }
        self.rounds(b, interval, first, &mut |b, value, values| {
            let mut point = point.clone();
            point.rvars[0] = Some(value);
            let mut next = self.point(b, &point, Some(Scanned { recurrence, values }));
            next.extend(&values[..values.len() - self.step.targets.len()]);
            next
        });
    }

    /// The innermost loop over a domain, which carries values. Where rounds go along rows, four stand one
    /// behind the other, so that it is known which lanes of which atoms they reach: an atom is loaded
    /// once for all of them, and written once. What is before the first whole atom, and behind the last,
    /// stands around the loop.
    fn rounds(
        &self,
        b: &mut Builder<'_>,
        interval: Interval,
        first: Vec<Value>,
        round: &mut Round<'_>,
    ) -> Vec<Value> {
        let Some(head) = self.before_atoms(interval) else {
            return b.carried_loop("r0", interval.extent(), first, |b, counter, values| {
                let value = plus(b, counter, interval.min.into());
                round(b, value, values)
            });
        };
        let fours = (interval.extent() - head) / LANES as u32;
        let begin = interval.min + head as i32;
        let end = begin + (fours * LANES as u32) as i32;
        let values = in_full(b, interval.min..begin, first, round);
        let values = b.carried_loop("r0", fours, values, |b, counter, values| {
            let at = times(b, counter, LANES as i64);
            (0..LANES as i64).fold(values.to_vec(), |values, k| {
                let at = plus(b, at, i64::from(begin) + k);
                round(b, at, &values)
            })
        });
        in_full(b, end..interval.max + 1, values, round)
    }

    /// Rounds of the innermost loop before the first that begins an atom of what is written, or else of
    /// what is read along rows; none where nothing is, or the rounds are too few or too large.
    fn before_atoms(&self, interval: Interval) -> Option<u32> {
        let pipeline = &self.plan.pipeline;
        let rdom = self.rdom.filter(|_| self.lanes == 1 && self.unrolls)?;
        let lanes = LANES as i64;
        let roots = self.values.iter().chain(self.predicates).copied();
        let reachable = Walker::once(pipeline, roots.chain(self.args.iter().flatten().copied()));
        let target = self.step.targets[0];
        let mut places: Vec<(BufferId, Vec<Expr>)> = Vec::new();
        if self.args.first().is_some_and(Option::is_some) {
            places.push((target, self.args.iter().flatten().copied().collect()));
        }
        for &expr in &reachable {
            match &pipeline.exprs[expr].kind {
                ExprKind::Call(func, _, args) if *func == self.step.func => {
                    places.push((target, args.to_vec()));
                }
                ExprKind::Call(func, value, args) => {
                    let source = (Source::Func(*func), *value);
                    places.push((self.step.sources[&source], args.to_vec()));
                }
                ExprKind::Load(input, args) if self.plan.repeated(*input, 0).is_none() => {
                    places.push((self.step.sources[&(Source::Input(*input), 0)], args.to_vec()));
                }
                _ => {}
            }
        }
        // In which lane the first round is, and in which the next one, where that is known.
        let lane = |(id, args): &(BufferId, Vec<Expr>)| -> Option<(i64, i64)> {
            let known = args.iter().all(|&arg| self.plan.forms[arg].is_some());
            let form = self.plan.forms[*args.first().filter(|_| known)?].as_ref()?.as_affine()?;
            let fastest = AffineVar::RVar(rdom, 0);
            let step = *form.terms.get(&fastest)?;
            let mut others = form.terms.iter().filter(|(var, _)| **var != fastest);
            let whole = others.all(|(_, factor)| factor % lanes == 0);
            let first = form.constant + step * i64::from(interval.min)
                - i64::from(self.plan.buffers[*id].region[0].min);
            (whole && step % lanes != 0).then_some((first.rem_euclid(lanes), step))
        };
        let (first, step) = places.iter().find_map(lane)?;
        let head = match step {
            1 => -first,
            -1 => first + 1,
            _ => 0,
        };
        let head = head.rem_euclid(lanes) as u32;
        let extent = interval.extent();
        let copies = (LANES as u32 + head + extent.checked_sub(head)? % LANES as u32) as usize;
        (extent >= head + LANES as u32 && copies * reachable.len() <= MOST_EXPRS).then_some(head)
    }

    /// Runs the reduction domain over an element that stays in registers.
    fn accumulate(&self, b: &mut Builder<'_>, nest: &[Loop], point: Point) {
        let pipeline = &self.plan.pipeline;
        let mut lowering = ExprLowering::new(pipeline, self.lanes);
        let mut body = PointBody::new(self, &point, None);
        let place = self.place(b, &mut body, &mut lowering, &point);
        b.set_span(Some(self.span));
        let types = &pipeline.funcs[self.step.func].types;
        let targets: Vec<_> = self.step.targets.iter().map(|id| self.mems[id]).zip(types).collect();
        let load = |b: &mut Builder<'_>, &(mem, &ty): &(Mem, &ElementType)| {
            let word = b.load(word_type(ty, self.lanes), mem, place.clone());
            from_word(b, word, ty)
        };
        let first = targets.iter().map(|target| load(b, target)).collect();
        let last = self.accumulated(b, nest, &point, first);
        b.set_span(Some(self.span));
        for ((mem, ty), value) in targets.into_iter().zip(last) {
            let word = to_word(b, value, *ty);
            b.store(mem, place.clone(), word);
        }
    }

    /// The values of an element after loops over variables of the domain.
    fn accumulated(
        &self,
        b: &mut Builder<'_>,
        nest: &[Loop],
        point: &Point,
        values: Vec<Value>,
    ) -> Vec<Value> {
        if let Some((&Loop::RVar(0, interval), rest)) = nest.split_first() {
            return self.rounds(b, interval, values, &mut |b, value, values| {
                let mut point = point.clone();
                point.rvars[0] = Some(value);
                self.accumulated(b, rest, &point, values.to_vec())
            });
        }
        if let Some((&Loop::RVar(n, interval), rest)) = nest.split_first() {
            let name = format!("r{n}");
            return b.carried_loop(&name, interval.extent(), values, |b, counter, values| {
                let mut point = point.clone();
                point.rvars[n] = Some(plus(b, counter, interval.min.into()));
                self.accumulated(b, rest, &point, values.to_vec())
            });
        }
        let mut lowering = ExprLowering::new(&self.plan.pipeline, self.lanes);
        let mut body = PointBody::new(self, point, Some(&values));
        let new: Vec<Value> =
            self.values.iter().map(|&v| lowering.lower(b, v, &mut body)).collect();
        let mut conditions: Vec<Value> =
            self.predicates.iter().map(|&p| lowering.lower(b, p, &mut body)).collect();
        conditions.extend(self.guard(b, point));
        select_where(b, conditions, new, &values)
    }

    /// Computes and stores the values at a point, and gives what it stored.
    fn point(
        &self,
        b: &mut Builder<'_>,
        point: &Point,
        scanned: Option<Scanned<'_>>,
    ) -> Vec<Value> {
        let pipeline = &self.plan.pipeline;
        let mut lowering = ExprLowering::new(pipeline, self.lanes);
        let mut body = PointBody::new(self, point, None);
        body.scanned = scanned;
        let values: Vec<Value> =
            self.values.iter().map(|&v| lowering.lower(b, v, &mut body)).collect();
        let mut conditions: Vec<Value> =
            self.predicates.iter().map(|&p| lowering.lower(b, p, &mut body)).collect();
        conditions.extend(self.guard(b, point));
        let place = self.place(b, &mut body, &mut lowering, point);
        b.set_span(Some(self.span));
        let all = conditions.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y));
        let types = &pipeline.funcs[self.step.func].types;
        let mut stored = Vec::new();
        for ((id, value), &ty) in self.step.targets.iter().zip(values).zip(types) {
            let mem = self.mems[id];
            let value = match all {
                None => value,
                Some(all) => {
                    let old = b.load(word_type(ty, self.lanes), mem, place.clone());
                    let old = from_word(b, old, ty);
                    b.value(Op::Select(all, value, old))
                }
            };
            let word = to_word(b, value, ty);
            b.store(mem, place.clone(), word);
            stored.push(value);
        }
        stored
    }

    /// The lanes of a row of vectors that hold points of the stage, where others hold elements that
    /// the stage must not change.
    fn guard(&self, b: &mut Builder<'_>, point: &Point) -> Option<Value> {
        let x = point.dims.first().copied().flatten()?;
        if self.lanes == 1 || self.step.stage == Stage::Pure {
            return None;
        }
        let (have, held) = (self.loops.dims[0], self.region[0]);
        let covered = (have.max - held.min + 1) % LANES as i32 == 0 || have.max == held.max;
        if self.first(have) == have.min && covered {
            return None;
        }
        let vector = Type::I32.with_lanes(self.lanes);
        let x = b.value(Op::Splat(x, self.lanes));
        let lanes = super::math::ramp(b, self.lanes);
        let x = b.iadd(x, lanes);
        let low = b.constant(vector, u64::from(have.min as u32));
        let high = b.constant(vector, u64::from(have.max as u32));
        let above = b.value(Op::Icmp(IntCond::Sge, x, low));
        let below = b.value(Op::Icmp(IntCond::Sle, x, high));
        Some(b.binary(BinaryOp::And, above, below))
    }

    /// The subscripts of the elements that the point writes.
    fn place(
        &self,
        b: &mut Builder<'_>,
        body: &mut PointBody<'_>,
        lowering: &mut ExprLowering<'_>,
        point: &Point,
    ) -> Vec<Value> {
        let id = self.step.targets[0];
        let mem = self.mems[&id];
        if self.args.is_empty() {
            return vec![b.i32(0)];
        }
        let computed = self.args.iter().flatten().any(|&arg| self.plan.forms[arg].is_none());
        let coordinates: Vec<Value> = (0..self.args.len())
            .map(|d| match self.args[d] {
                None => point.dims[d].expect("dimensions of the stage have loops"),
                Some(arg) if self.lanes > 1 => body.scalar(b, arg),
                Some(arg) => lowering.lower(b, arg, body),
            })
            .collect();
        if !computed {
            return self.subscripts(b, &coordinates);
        }
        if self.lanes == 1 {
            let index = linear_index(b, self.plan, id, mem, &coordinates, 1);
            return numbered(b, mem, index);
        }
        // A row of vectors: its other coordinates are limited to the storage.
        let mut subscripts = self.subscripts(b, &coordinates);
        for (d, subscript) in subscripts.iter_mut().enumerate().skip(1) {
            let last = b.i32(self.region[d].extent() as i32 - 1);
            *subscript = at_most(b, *subscript, last);
        }
        subscripts
    }

    /// Subscripts in the targets for coordinates.
    fn subscripts(&self, b: &mut Builder<'_>, coordinates: &[Value]) -> Vec<Value> {
        let region = self.region.iter().zip(coordinates);
        region.map(|(interval, &c)| plus(b, c, -i64::from(interval.min))).collect()
    }
}
