//! Updates that write to computed planes of a tile: along x and y every point keeps to itself, the
//! other coordinates are any expressions, as in a histogram for each tile of an image.
//!
//! Values go through the bank at every point of the reduction domain, since the next one may read
//! or write any plane, but for those that a scan reads a few rounds after it has stored them. Points
//! of a vector have planes of their own: each lane is changed in the atom of its plane.

use nbcc_ir::{BinaryOp, Builder, IntCond, Mem, Op, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::lower::ExprLowering;
use nbcc_stages::{ElementType, Expr, Update};

use super::body::{Body, Plane, reduce_loops, to_word, within, word_type};
use super::math::plus;
use crate::plan::{Recurrence, inner_index};

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

impl Body<'_> {
    /// Subscripts of the point in an object of its Func, but along x and y with these coordinates.
    fn planes(
        &mut self,
        b: &mut Builder<'_>,
        mem: Mem,
        args: &[Expr],
        lower: &mut ExprLowering<'_>,
    ) -> Planes {
        let plan = self.loops.cx.plan;
        let id = self.loops.mems.iter().find(|(_, m)| **m == mem).map(|(id, _)| *id);
        let region = &plan.buffers[id.expect("targets have objects")].region;
        let mut start = self.own_place(b, mem);
        start.truncate(3);
        let mut inner = Vec::new();
        for (&arg, interval) in args.iter().zip(region).skip(2) {
            let first = i64::from(interval.min);
            inner.push(match plan.forms[arg].as_ref().and_then(inner_index) {
                Some(index) => Plane::Same(self.inner_subscript(b, index, first, None)),
                None => {
                    let index = lower.lower(b, arg, self);
                    Plane::Lanes(within(b, index, first, interval.extent()))
                }
            });
        }
        Planes { mem, start, inner }
    }

    /// Four elements of the Func itself, in the tile's columns but in any plane.
    pub(super) fn own_planes(
        &mut self,
        b: &mut Builder<'_>,
        mem: Mem,
        args: &[Expr],
        lower: &mut ExprLowering<'_>,
    ) -> Value {
        let planes = self.planes(b, mem, args, lower);
        if planes.are_one() {
            return planes.load(b, 0);
        }
        (1..WIDTH).fold(planes.load(b, 0), |all, lane| {
            let atom = planes.load(b, lane);
            with_lane(b, all, atom, lane)
        })
    }
}

/// `all` with one lane of `other`.
pub(super) fn with_lane(b: &mut Builder<'_>, all: Value, other: Value, lane: u8) -> Value {
    let pick = (0..WIDTH).map(|l| if l == lane { WIDTH + l } else { l });
    b.value(Op::Shuffle(all, other, pick.collect()))
}

/// Where the elements of a vector lie: in the same columns of a row, each in a plane.
struct Planes {
    mem: Mem,
    /// Subscripts along x, of the row and of the tile column.
    start: Vec<Value>,
    inner: Vec<Plane>,
}

impl Planes {
    /// Whether all lanes have the same plane.
    fn are_one(&self) -> bool {
        self.inner.iter().all(|plane| matches!(plane, Plane::Same(_)))
    }

    /// Subscripts of the atom in the plane of a lane.
    fn place(&self, b: &mut Builder<'_>, lane: u8) -> Vec<Value> {
        let mut place = self.start.clone();
        for plane in &self.inner {
            place.push(match plane {
                Plane::Same(value) => *value,
                Plane::Lanes(vector) => b.value(Op::Extract(*vector, lane)),
            });
        }
        place
    }

    /// The atom in the plane of a lane.
    fn load(&self, b: &mut Builder<'_>, lane: u8) -> Value {
        let place = self.place(b, lane);
        let element = b.func.mems[self.mem].element;
        b.load(nbcc_ir::Type { scalar: element, lanes: WIDTH }, self.mem, place)
    }

    /// Stores words, those for which the condition does not hold as they were. Where lanes have planes
    /// of their own, the atom of each gets the words of all lanes with the same plane: no lane has to
    /// wait for what another has stored.
    fn store(&self, b: &mut Builder<'_>, word: Value, condition: Option<Value>) {
        let one = self.are_one();
        let lanes = if one { 1 } else { WIDTH };
        let conditions: Vec<Option<Value>> = (0..lanes)
            .map(|lane| {
                let same = self.inner.iter().filter_map(|plane| same_plane(b, plane, lane));
                let all: Vec<Value> = same.chain(condition).collect();
                all.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y))
            })
            .collect();
        let news: Vec<Value> = (0..lanes)
            .zip(conditions)
            .map(|(lane, condition)| match condition {
                Some(condition) => {
                    let old = self.load(b, lane);
                    b.value(Op::Select(condition, word, old))
                }
                None => word,
            })
            .collect();
        for (lane, new) in (0..lanes).zip(news) {
            let place = self.place(b, lane);
            b.store(self.mem, place, new);
        }
    }
}

/// Which lanes have the same plane as one of them, where not all have.
fn same_plane(b: &mut Builder<'_>, plane: &Plane, lane: u8) -> Option<Value> {
    let Plane::Lanes(vector) = plane else { return None };
    let own = b.value(Op::Extract(*vector, lane));
    let own = b.value(Op::Splat(own, WIDTH));
    Some(b.value(Op::Icmp(IntCond::Eq, *vector, own)))
}

/// What a scan has stored in the rounds before the one at hand.
pub(super) struct Scanned {
    recurrence: Recurrence,
    /// By rounds ago, the last first: the words of all values.
    words: Vec<Vec<Value>>,
}

impl Body<'_> {
    /// The element of one of its own values at coordinates, where a round before stored it.
    pub(super) fn scanned(&self, value: usize, args: &[Expr]) -> Option<Value> {
        let scanned = self.scanned.as_ref()?;
        let ago = scanned.recurrence.ago(self.loops.cx.plan, args)?;
        Some(scanned.words[ago as usize - 1][value])
    }

    /// One round of a reduction domain: stores words, and gives them.
    fn update_plane(
        &mut self,
        b: &mut Builder<'_>,
        update: &Update,
        types: &[ElementType],
    ) -> Vec<Value> {
        let pipeline = &self.loops.cx.plan.pipeline;
        let (_, mems) = self.own.expect("only updates write to planes");
        let predicates = update.rdom.map_or(&[][..], |rdom| &pipeline.rdoms[rdom].predicates);
        let mut lower = ExprLowering::new(pipeline, WIDTH);
        let values: Vec<Value> = update.values.iter().map(|&v| lower.lower(b, v, self)).collect();
        let conditions: Vec<Value> = predicates.iter().map(|&p| lower.lower(b, p, self)).collect();
        let condition = conditions.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y));
        let planes: Vec<Planes> =
            mems.iter().map(|&mem| self.planes(b, mem, &update.args, &mut lower)).collect();
        b.set_span(Some(update.span));
        let values = values.into_iter().zip(types);
        let words: Vec<Value> = values.map(|(value, &ty)| to_word(b, value, ty)).collect();
        for ((planes, &word), &ty) in planes.iter().zip(&words).zip(types) {
            debug_assert_eq!(b.func.ty(word), word_type(ty, WIDTH));
            planes.store(b, word, condition);
        }
        words
    }
}

/// The innermost loop of a scan, of so many rounds from a variable's least value on, which keeps what it
/// stores in registers for as long as it is read: that of all bodies.
fn scan(
    b: &mut Builder<'_>,
    bodies: &mut [Body<'_>],
    update: &Update,
    types: &[ElementType],
    (recurrence, (rounds, min)): (&Recurrence, (u32, i32)),
) {
    let (_, mems) = bodies[0].own.expect("only updates write to planes");
    let mut first = Vec::new();
    for body in &mut *bodies {
        let mut lower = ExprLowering::new(&body.loops.cx.plan.pipeline, WIDTH);
        for ago in 1..=recurrence.rounds as i32 {
            body.rvars[0] = b.i32(min - ago);
            for &mem in mems {
                let planes = body.planes(b, mem, &update.args, &mut lower);
                first.push(planes.load(b, 0));
            }
        }
    }
    let each = first.len() / bodies.len();
    b.carried_loop("r0", rounds, first, |b, counter, words| {
        let mut all = Vec::new();
        for (body, words) in bodies.iter_mut().zip(words.chunks(each)) {
            body.rvars[0] = plus(b, counter, min.into());
            let before: Vec<Vec<Value>> = words.chunks(mems.len()).map(<[Value]>::to_vec).collect();
            let kept = &words[..words.len() - mems.len()];
            body.scanned = Some(Scanned { recurrence: recurrence.clone(), words: before });
            all.extend(body.update_plane(b, update, types));
            all.extend(kept);
            body.scanned = None;
        }
        all
    });
}

/// Lowers an update of computed planes at the points of vectors; where it is a scan, with its
/// recurrence.
pub(crate) fn update_planes(
    b: &mut Builder<'_>,
    bodies: &mut [Body<'_>],
    update: &Update,
    types: &[ElementType],
    recurrence: Option<Recurrence>,
) {
    let rdom = bodies[0].loops.nest.rdom.clone();
    let intervals = rdom.iter().flat_map(|(_, intervals)| intervals);
    let trips: Vec<(u32, i32)> = intervals.map(|i| (i.extent(), i.min)).collect();
    bodies.iter_mut().for_each(|body| body.planes = true);
    let Some(recurrence) = recurrence else {
        return drop(reduce_loops(b, bodies, &trips, trips.len(), vec![], &mut |b, bodies, _| {
            for body in bodies {
                body.update_plane(b, update, types);
            }
            vec![]
        }));
    };
    // The loop of the first variable keeps what it stores: it runs once here.
    let mut outer = trips.clone();
    outer[0].0 = 1;
    reduce_loops(b, bodies, &outer, trips.len(), vec![], &mut |b, bodies, _| {
        scan(b, bodies, update, types, (&recurrence, trips[0]));
        vec![]
    });
}
