//! Elements of buffers that banks hold as one piece, whole images or excerpts, at any place in
//! them: an element a lane, or fewer accesses where lanes lie together.

use nbcc_ir::{BinaryOp, Builder, Mem, Op, Type, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::bounds::{AffineVar, IndexForm, Interval};
use nbcc_stages::lower::{Access, ExprLowering};
use nbcc_stages::{Expr, ExprKind, Input, Param, RDom};

use super::body::{Body, SharedKey, param_value};
use super::excerpt::local;
use super::loops::Point;
use super::math::plus;
use super::tables::{begin_of, look_up};
use crate::intrinsics::{at_most, extents};
use crate::plan::{BufferId, Plan, Spread, spread, varies_along};

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

impl Body<'_> {
    /// Four elements of a copy that each bank holds in one piece, anywhere in it.
    pub(super) fn copied(
        &mut self,
        b: &mut Builder<'_>,
        id: BufferId,
        (expr, input): (Expr, Option<Input>),
        args: &[Expr],
        lower: &mut ExprLowering<'_>,
    ) -> Value {
        let plan = self.loops.cx.plan;
        let mem = self.loops.mems[&id];
        let repeated = |k: usize| input.and_then(|input| plan.repeated(input, k));
        // The first of consecutive lanes may be no point, and lie before what the bank holds.
        let on_ring = plan.buffers[id].excerpt.as_ref().is_some_and(|e| e.wraps(0));
        let spread = match spread(&plan.pipeline, &plan.forms, args) {
            Spread::Consecutive if repeated(0).is_some() => Spread::Anywhere,
            Spread::Consecutive if on_ring && !self.begins_atom(id, args[0]) => Spread::Anywhere,
            spread => spread,
        };
        if spread == Spread::Anywhere {
            let coordinates: Vec<Value> =
                args.iter().map(|&arg| lower.lower(b, arg, self)).collect();
            let coordinates = self.in_copy(b, id, repeated, coordinates);
            if let Some(&table) = self.loops.tables.get(&id) {
                let index = self.in_table(b, id, mem, &coordinates, WIDTH);
                return look_up(b, table, index, 0);
            }
            return gather(b, plan, id, mem, &coordinates, WIDTH);
        }
        if spread == Spread::Same
            && let Some((begin, round)) = self.shared.rounds
            && self.along_atoms(id, expr, args)
        {
            let key = self.shared_key(expr, None);
            let known = self.shared.known.borrow().get(&key).copied();
            let atom = known.unwrap_or_else(|| {
                let own = std::mem::replace(&mut self.rvars[0], begin);
                let mut scalars = ExprLowering::new(&plan.pipeline, 1);
                let mut first = First(self);
                let coordinates =
                    args.iter().map(|&arg| scalars.lower(b, arg, &mut first)).collect();
                let coordinates = self.in_copy(b, id, repeated, coordinates);
                self.rvars[0] = own;
                whole_atom(b, plan, id, mem, &coordinates)
            });
            self.shared.known.borrow_mut().insert(key, atom);
            let one = b.value(Op::Extract(atom, round));
            return b.value(Op::Splat(one, WIDTH));
        }
        let mut scalars = ExprLowering::new(&plan.pipeline, 1);
        let mut first = First(self);
        let coordinates = args.iter().map(|&arg| scalars.lower(b, arg, &mut first)).collect();
        let coordinates = self.in_copy(b, id, repeated, coordinates);
        if spread == Spread::Same {
            if let Some(&table) = self.loops.tables.get(&id) {
                let index = self.in_table(b, id, mem, &coordinates, 1);
                let ty = Type { scalar: super::cx::scalar(plan.buffers[id].element), lanes: 1 };
                let zero = b.i32(0);
                let one = b.load(ty, table, vec![zero, index]);
                return b.value(Op::Splat(one, WIDTH));
            }
            let round = self.shared.rounds.map_or(0, |(_, round)| round);
            let key = self.shared_key(expr, Some(round));
            let known = self.shared.known.borrow().get(&key).copied();
            let one = known.unwrap_or_else(|| gather(b, plan, id, mem, &coordinates, 1));
            self.shared.known.borrow_mut().insert(key, one);
            return b.value(Op::Splat(one, WIDTH));
        }
        if self.begins_atom(id, args[0]) {
            return whole_atom(b, plan, id, mem, &coordinates);
        }
        let (index, last) = unlimited_index(b, plan, id, mem, &coordinates, 1);
        let before = LANES as i64 - 1;
        let index = plus(b, index, before);
        let last = b.i32((last + before) as i32);
        let index = at_most(b, index, last);
        let index = plus(b, index, -before);
        let ty = Type { scalar: super::cx::scalar(plan.buffers[id].element), lanes: WIDTH };
        let place = numbered(b, mem, index);
        b.load(ty, mem, place)
    }

    /// The number in a table of the element at coordinates of the copy, limited to the table.
    fn in_table(
        &self,
        b: &mut Builder<'_>,
        id: BufferId,
        mem: Mem,
        coordinates: &[Value],
        lanes: u8,
    ) -> Value {
        let table = &self.loops.nest.tables[&id];
        let (mut index, _) = unlimited_index(b, self.loops.cx.plan, id, mem, coordinates, lanes);
        if let Some((slice, plane)) = table.slice.as_ref().zip(self.point.at.slice) {
            let begin = begin_of(b, slice, plane);
            let begin = if lanes == 1 { begin } else { b.value(Op::Splat(begin, lanes)) };
            index = b.binary(BinaryOp::Isub, index, begin);
        }
        let last = b.constant(Type::I32.with_lanes(lanes), u64::from(table.words - 1));
        at_most(b, index, last)
    }

    /// Coordinates of a source as those in a copy of it.
    fn in_copy(
        &self,
        b: &mut Builder<'_>,
        id: BufferId,
        repeated: impl Fn(usize) -> Option<Interval>,
        coordinates: Vec<Value>,
    ) -> Vec<Value> {
        let excerpt = &self.loops.cx.plan.buffers[id].excerpt;
        let one = |(k, value)| {
            let value = limited(b, repeated(k), value);
            match excerpt {
                Some(excerpt) if k < 2 => local(b, excerpt, k, &self.loops.position, value),
                _ => value,
            }
        };
        coordinates.into_iter().enumerate().map(one).collect()
    }

    /// What an access reads that all lanes have in common: in that round, or in four.
    fn shared_key(&self, expr: Expr, round: Option<u8>) -> SharedKey {
        let Point { at, y, y_step, .. } = self.point;
        let varies = varies_along(&self.loops.cx.plan.pipeline, &[expr], 2);
        let plane = at.inner.first().copied().filter(|_| varies);
        (expr, (*y, *y_step), plane, round)
    }

    /// Whether rounds of the innermost loop over a domain go in fours, for the sake of what all lanes read
    /// alike: then the elements of four rounds are an atom.
    pub(super) fn picks(&self, count: u32) -> bool {
        let plan = self.loops.cx.plan;
        let nest = self.loops.nest;
        let mut read = nest.copy_of.iter().filter(|(_, id)| !self.loops.tables.contains_key(*id));
        let along = |(&expr, &id): (&Expr, &BufferId)| {
            let (ExprKind::Load(_, args) | ExprKind::Call(_, _, args)) =
                &plan.pipeline.exprs[expr].kind
            else {
                return false;
            };
            let same = spread(&plan.pipeline, &plan.forms, args) == Spread::Same;
            same && self.along_atoms(id, expr, args)
        };
        count.is_multiple_of(LANES as u32) && read.any(along)
    }

    /// Whether what an access reads in four rounds of the innermost loop, the first of them that of the
    /// domain's first point or a multiple of four after it, is an atom of a copy.
    fn along_atoms(&self, id: BufferId, expr: Expr, args: &[Expr]) -> bool {
        let plan = self.loops.cx.plan;
        let Some((rdom, intervals)) = &self.loops.nest.rdom else { return false };
        let input = match plan.pipeline.exprs[expr].kind {
            ExprKind::Load(input, _) => Some(input),
            _ => None,
        };
        if input.is_some_and(|input| plan.repeated(input, 0).is_some()) {
            return false;
        }
        let fastest = AffineVar::RVar(*rdom, 0);
        let moves = |&arg: &Expr| match plan.forms[arg].as_ref().and_then(IndexForm::as_affine) {
            Some(form) => form.terms.contains_key(&fastest),
            None => true,
        };
        let Some(form) = plan.forms[args[0]].as_ref().and_then(IndexForm::as_affine) else {
            return false;
        };
        let whole = |n: i64| n % LANES as i64 == 0;
        let others = form.terms.iter().filter(|(var, _)| **var != fastest);
        let origin = self.first_of(id);
        form.terms.get(&fastest) == Some(&1)
            && others.into_iter().all(|(_, &c)| whole(c))
            && whole(form.constant + i64::from(intervals[0].min) - i64::from(origin))
            && !args[1..].iter().any(moves)
    }

    /// The coordinate along x of the first element of an atom of a copy.
    fn first_of(&self, id: BufferId) -> i32 {
        let buffer = &self.loops.cx.plan.buffers[id];
        match &buffer.excerpt {
            Some(excerpt) => excerpt.along[0].ring.origin,
            None => buffer.region[0].min,
        }
    }

    /// Whether four consecutive elements at a coordinate along x are an atom of the copy, at every
    /// point of the nest.
    fn begins_atom(&self, id: BufferId, x: Expr) -> bool {
        let plan = self.loops.cx.plan;
        let origin = self.first_of(id);
        let Some(form) = plan.forms[x].as_ref().and_then(IndexForm::as_affine) else {
            return false;
        };
        let whole = |n: i64| n % LANES as i64 == 0;
        let first = i64::from(self.loops.nest.tiles.origin[0]) + form.constant;
        form.terms.iter().all(|(&var, &c)| var == AffineVar::Dim(0) || whole(c))
            && whole(first - i64::from(origin))
    }
}

/// The atom of a copy that begins at coordinates.
fn whole_atom(
    b: &mut Builder<'_>,
    plan: &Plan,
    id: BufferId,
    mem: Mem,
    coordinates: &[Value],
) -> Value {
    let (index, last) = unlimited_index(b, plan, id, mem, coordinates, 1);
    let last = b.i32(last as i32);
    let index = at_most(b, index, last);
    let whole = b.i32(-(LANES as i32));
    let index = b.binary(BinaryOp::And, index, whole);
    let ty = Type { scalar: super::cx::scalar(plan.buffers[id].element), lanes: WIDTH };
    let place = numbered(b, mem, index);
    b.load(ty, mem, place)
}

/// The first lane of a body, as scalars.
pub(super) struct First<'a, 'b>(pub(super) &'a Body<'b>);

impl Access for First<'_, '_> {
    fn dim(&mut self, b: &mut Builder<'_>, dim: u32) -> Value {
        self.0.coordinate(b, dim)
    }

    fn rvar(&mut self, _: &mut Builder<'_>, _: RDom, dim: u32) -> Value {
        self.0.rvars[dim as usize]
    }

    fn param(&mut self, b: &mut Builder<'_>, param: Param) -> Value {
        let ty = self.0.loops.cx.plan.pipeline.params[param].ty;
        param_value(b, param, ty, 1)
    }

    fn element(&mut self, _: &mut Builder<'_>, expr: Expr, _: &mut ExprLowering<'_>) -> Value {
        panic!("{expr} is no coordinate that loop counters decide")
    }
}

/// A coordinate, limited to an interval where there is one.
pub(crate) fn limited(b: &mut Builder<'_>, to: Option<Interval>, value: Value) -> Value {
    let Some(Interval { min, max }) = to else { return value };
    let ty = b.func.ty(value);
    let [first, last] = [min, max].map(|end| b.constant(ty, u64::from(end as u32)));
    let low = b.binary(BinaryOp::Smin, value, last);
    b.binary(BinaryOp::Smax, low, first)
}

/// Elements anywhere in a buffer that lies whole in the bank. Coordinates that are out of range
/// (in lanes that hold no point of the stage) are brought into the buffer's storage.
pub(crate) fn gather(
    b: &mut Builder<'_>,
    plan: &Plan,
    id: BufferId,
    mem: Mem,
    coordinates: &[Value],
    lanes: u8,
) -> Value {
    let buffer = &plan.buffers[id];
    let index = linear_index(b, plan, id, mem, coordinates, lanes);
    let scalar = super::cx::scalar(buffer.element);
    let ty = Type { scalar, lanes: 1 };
    let element = |b: &mut Builder<'_>, index: Value| {
        let place = numbered(b, mem, index);
        b.load(ty, mem, place)
    };
    if lanes == 1 {
        return element(b, index);
    }
    let mut value: Option<Value> = None;
    for lane in 0..lanes {
        let at = b.value(Op::Extract(index, lane));
        let loaded = element(b, at);
        value = Some(match value {
            None => b.value(Op::Splat(loaded, lanes)),
            Some(old) => b.value(Op::Insert(old, loaded, lane)),
        });
    }
    value.expect("there are lanes")
}

/// The subscripts of the element with a number as [`linear_index`] gives it.
pub(crate) fn numbered(b: &mut Builder<'_>, mem: Mem, index: Value) -> Vec<Value> {
    let mut subscripts = vec![b.i32(0); b.func.mems[mem].extents.len()];
    subscripts[0] = index;
    subscripts
}

/// The number of an element in a buffer that lies whole in the bank, limited to its storage.
pub(crate) fn linear_index(
    b: &mut Builder<'_>,
    plan: &Plan,
    id: BufferId,
    mem: Mem,
    coordinates: &[Value],
    lanes: u8,
) -> Value {
    let (index, last) = unlimited_index(b, plan, id, mem, coordinates, lanes);
    let last = b.constant(Type::I32.with_lanes(lanes), last as u64);
    at_most(b, index, last)
}

/// The number of an element in a buffer that lies whole in the bank, and that of the last element.
fn unlimited_index(
    b: &mut Builder<'_>,
    plan: &Plan,
    id: BufferId,
    mem: Mem,
    coordinates: &[Value],
    lanes: u8,
) -> (Value, i64) {
    let buffer = &plan.buffers[id];
    let extents = extents(&b.func.mems[mem]);
    let int = Type::I32.with_lanes(lanes);
    let constant = |b: &mut Builder<'_>, n: i64| b.constant(int, u64::from(n as u32));
    let mut index = constant(b, 0);
    let mut stride = 1i64;
    let mut offset = 0i64;
    for (d, &coordinate) in coordinates.iter().enumerate() {
        let factor = constant(b, stride);
        let term = if stride == 1 { coordinate } else { b.imul(coordinate, factor) };
        index = if d == 0 { term } else { b.iadd(index, term) };
        offset += i64::from(buffer.region[d].min) * stride;
        stride *= i64::from(extents[d]);
    }
    if offset != 0 {
        let offset = constant(b, -offset);
        index = b.iadd(index, offset);
    }
    (index, (stride - 1).max(0))
}
