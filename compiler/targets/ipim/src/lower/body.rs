//! The innermost body of a nest: expressions over four points of a row at once, and how elements
//! of other images are reached from there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use nbcc_ir::{BinaryOp, Builder, ConvertOp, Effect, IntCond, Mem, Op, Scalar, Type, Value};
use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::Element;
use nbcc_stages::bounds::{Affine, AffineVar, Interval};
use nbcc_stages::lower::{Access, ExprLowering};
use nbcc_stages::{ElementType, Expr, ExprKind, Func, Param, RDom};

use super::edges::inside;
use super::loops::{Loops, Point, own_place};
use super::math::{less_mask, plus, ramp, times};
use super::planes::{Scanned, with_lane};
use crate::intrinsics::{PARAM, PGSM, RANGE, at_most, call};
use crate::plan::{InnerIndex, Periodic, TiledIndex, varies_along};

/// Lanes of a vector.
const WIDTH: u8 = LANES as u8;

/// The body of a nest at one point.
pub(crate) struct Body<'a> {
    pub(super) loops: &'a Loops<'a>,
    pub(super) point: &'a Point,
    /// The Func being updated and the objects of its values.
    pub(super) own: Option<(Func, &'a [Mem])>,
    /// The values that its own calls have, once a reduction has begun.
    pub(super) carried: Option<Vec<Value>>,
    /// Whether its own calls read planes other than that of the point.
    pub(super) planes: bool,
    /// What a scan has stored in the rounds before.
    pub(super) scanned: Option<Scanned>,
    /// The variables of the reduction domain.
    pub(super) rvars: Vec<Value>,
    /// What all lanes have in common, where rounds share it.
    pub(super) shared: Shared,
}

/// An access, the row that it is for, the plane, if that matters, and the round, if not all.
pub(super) type SharedKey = (Expr, (Value, u32), Option<Value>, Option<u8>);

/// Elements that are the same in all lanes, of which several rounds of the innermost loop, one behind the
/// other in an atom, or vectors of one row have use.
#[derive(Clone, Default)]
pub(super) struct Shared {
    /// The first value of the variable that the loop runs over, and which of four rounds it is.
    pub(super) rounds: Option<(Value, u8)>,
    /// The scalars of rounds, and atoms.
    pub(super) known: Rc<RefCell<BTreeMap<SharedKey, Value>>>,
}

impl<'a> Body<'a> {
    pub fn new(loops: &'a Loops<'a>, point: &'a Point, own: Option<(Func, &'a [Mem])>) -> Body<'a> {
        Body {
            loops,
            point,
            own,
            carried: None,
            planes: false,
            scanned: None,
            rvars: vec![],
            shared: Shared::default(),
        }
    }

    /// An index along a tiled dimension without the part that depends on the lane or the step:
    /// what loop counters add. `step` is elements of the consumer a counted group.
    fn counted(
        &self,
        b: &mut Builder<'_>,
        index: &TiledIndex,
        counter: Value,
        group: i64,
    ) -> Value {
        let own = times(b, counter, index.own.step * group / index.period());
        self.with_repeating(b, own, &index.others)
    }

    /// A sum to which repeating functions of variables are added.
    fn with_repeating(
        &self,
        b: &mut Builder<'_>,
        mut sum: Value,
        others: &[(AffineVar, Periodic)],
    ) -> Value {
        for (var, of) in others {
            let value = match *var {
                AffineVar::RVar(_, n) => self.rvars[n as usize],
                AffineVar::Dim(n) => self.coordinate(b, n),
            };
            let term = repeating(b, value, of, self.loops.nest.interval(*var));
            sum = b.iadd(sum, term);
        }
        sum
    }

    /// Four elements of a source that is distributed like the nest.
    fn tiled(
        &mut self,
        b: &mut Builder<'_>,
        (expr, args): (Expr, &[Expr]),
        number: usize,
        lower: &mut ExprLowering<'_>,
    ) -> Value {
        let plan = self.loops.cx.plan;
        let nest = self.loops.nest;
        let read = &nest.reads[number];
        let buffer = &plan.buffers[read.buffer];
        let element = buffer.element;
        let args = read.places(args);
        let index = |k: usize| match args.get(k).copied().flatten() {
            Some(arg) => (plan.forms.tiled(&plan.pipeline, arg, k as u32))
                .unwrap_or_else(|| panic!("{expr} is not tiled")),
            None => Rc::new(TiledIndex::one_to_one()),
        };
        let (ix, iy) = (index(0), index(1));
        let x_group = i64::from(nest.unroll[0]) * LANES as i64;
        let x = self.counted(b, &ix, self.point.x, x_group);
        let y = self.counted(b, &iy, self.point.y, nest.unroll[1].into());
        let y_step = iy.own.at(self.point.y_step.into());
        let y = plus(b, y, y_step);
        let first = i64::from(self.point.x_step) * LANES as i64;
        let lanes = [0, 1, 2, 3].map(|l| ix.own.at(first + l));
        let mut inner = Vec::new();
        for (k, &arg) in args.iter().enumerate().skip(2) {
            let arg = arg.expect("only a second place may be no dimension");
            let first = i64::from(buffer.region[k].min);
            let windowed = read.window.is_some();
            let start = if windowed { read.inner_reach[k - 2].0 } else { first };
            let dimension = read.dimension(k).expect("only a second place may be no dimension");
            let index = plan.inner(read.source, dimension, arg);
            let interval = |var: AffineVar| nest.interval(var);
            inner.push(match index.and_then(|index| index.over(&interval)) {
                Some(InnerIndex { of, others, limits }) => {
                    // A window holds what its base selects, beyond limits too.
                    let base = windowed.then(|| &read.inner_base[k - 2]);
                    let plane = self.inner_subscript(b, &of, start, base);
                    let plane = self.with_repeating(b, plane, &others);
                    let repeats = windowed && read.inner_limits[k - 2].is_some();
                    let held = buffer.region[k];
                    let limits = limits.filter(|_| !repeats).map(|of| of.held(held, start));
                    Plane::Same(limits.map_or(plane, |of| inside(b, plane, of)))
                }
                None => {
                    let index = lower.lower(b, arg, self);
                    let planes = within(b, index, start, buffer.region[k].extent());
                    match varies_along(&plan.pipeline, &[arg], 0) {
                        true => Plane::Lanes(planes),
                        false => Plane::Same(b.value(Op::Extract(planes, 0))),
                    }
                }
            });
        }
        let (mem, x, mut rest) = match (&read.window, self.loops.windows[number]) {
            (Some(window), Some(mem)) => {
                let own = times(b, self.loops.position.pe, buffer.tiled().tile[0].into());
                let x = b.iadd(x, own);
                (mem, plus(b, x, window.left.into()), vec![plus(b, y, window.top.into())])
            }
            _ => {
                let tiled = buffer.tiled();
                let block = iy.ratio.of(nest.block_rows.into()).expect("blocks are whole");
                let tile = times(b, self.point.at.row, tiled.tile[1].into());
                let blocks = times(b, self.point.at.block, block);
                let y = b.iadd(y, tile);
                let y = b.iadd(y, blocks);
                let row = plus(b, y, tiled.ghost_rows[0].into());
                let column = plus(b, self.point.at.strip, tiled.ghost_columns[0].into());
                (self.loops.mems[&read.buffer], x, vec![row, column])
            }
        };
        if inner.iter().any(|plane| matches!(plane, Plane::Lanes(_))) {
            return load_planes(b, element, mem, (x, lanes), (&rest, &inner));
        }
        rest.extend(inner.iter().map(|plane| match plane {
            Plane::Same(value) | Plane::Lanes(value) => *value,
        }));
        load_lanes(b, element, mem, x, lanes, &rest)
    }

    /// The subscript along an inner dimension of a buffer, or of a window on what `base` selects, that
    /// begins at `start`.
    pub(super) fn inner_subscript(
        &self,
        b: &mut Builder<'_>,
        index: &Affine,
        start: i64,
        base: Option<&Affine>,
    ) -> Value {
        let mut constant = index.constant - start;
        let mut sum = b.i32(0);
        for (var, &c) in &index.terms {
            let value = match var {
                AffineVar::RVar(_, n) => self.rvars[*n as usize],
                AffineVar::Dim(_) if base.is_some_and(|base| base.terms.contains_key(var)) => {
                    continue;
                }
                AffineVar::Dim(n) => {
                    let d = *n as usize;
                    constant += c * i64::from(self.loops.nest.region[d].min);
                    self.point.at.inner[d - 2]
                }
            };
            let term = times(b, value, c);
            sum = b.iadd(sum, term);
        }
        plus(b, sum, constant)
    }

    /// The subscripts of the point in the object of one of the values of its Func.
    pub(super) fn own_place(&self, b: &mut Builder<'_>, mem: Mem) -> Vec<Value> {
        let id = self.loops.mems.iter().find(|(_, m)| **m == mem).map(|(id, _)| *id);
        own_place(b, self.loops, self.point, id.expect("targets have objects"))
    }

    /// The coordinate of the first lane along a dimension.
    pub(super) fn coordinate(&self, b: &mut Builder<'_>, dim: u32) -> Value {
        let loops = self.loops;
        match dim {
            0 => {
                let width = loops.nest.tiles.tile[0];
                let strip = loops.strip_start(b, self.point.at.strip, loops.start[0], width);
                let tile = times(b, loops.position.pe, width.into());
                let start = b.iadd(strip, tile);
                let in_tile = loops.x_in_tile(b, self.point);
                b.iadd(start, in_tile)
            }
            1 => {
                let row = loops.row_in_column(b, self.point);
                b.iadd(row, loops.start[1])
            }
            n => {
                let min = loops.nest.region[n as usize].min;
                plus(b, self.point.at.inner[n as usize - 2], min.into())
            }
        }
    }
}

impl Access for Body<'_> {
    fn dim(&mut self, b: &mut Builder<'_>, dim: u32) -> Value {
        let first = self.coordinate(b, dim);
        let first = b.value(Op::Splat(first, WIDTH));
        if dim > 0 {
            return first;
        }
        let lanes = ramp(b, WIDTH);
        b.iadd(first, lanes)
    }

    fn rvar(&mut self, b: &mut Builder<'_>, _: RDom, dim: u32) -> Value {
        b.value(Op::Splat(self.rvars[dim as usize], WIDTH))
    }

    fn param(&mut self, b: &mut Builder<'_>, param: Param) -> Value {
        let ty = self.loops.cx.plan.pipeline.params[param].ty;
        param_value(b, param, ty, WIDTH)
    }

    fn element(&mut self, b: &mut Builder<'_>, expr: Expr, lower: &mut ExprLowering<'_>) -> Value {
        let data = &lower.pipeline.exprs[expr];
        let (args, own) = match &data.kind {
            ExprKind::Load(_, args) => (args.clone(), None),
            ExprKind::Call(func, value, args) => {
                let own = self.own.filter(|(own, _)| own == func);
                (args.clone(), own.map(|(_, mems)| (*value as usize, mems)))
            }
            other => panic!("{other:?} is no element"),
        };
        let ty = data.ty;
        let word = if let Some((value, mems)) = own {
            if let Some(carried) = &self.carried {
                return carried[value];
            }
            if let Some(word) = self.scanned(value, &args) {
                word
            } else if self.planes {
                self.own_planes(b, mems[value], &args, lower)
            } else {
                let place = self.own_place(b, mems[value]);
                b.load(word_type(ty, WIDTH), mems[value], place)
            }
        } else if let Some(&number) = self.loops.nest.read_of.get(&expr) {
            match self.loops.nest.reads[number].patched {
                true => self.patched(b, (expr, &args), number, lower),
                false => self.tiled(b, (expr, &args), number, lower),
            }
        } else {
            let id = self.loops.nest.copy_of[&expr];
            let input = match data.kind {
                ExprKind::Load(input, _) => Some(input),
                _ => None,
            };
            self.copied(b, id, (expr, input), &args, lower)
        };
        from_word(b, word, ty)
    }
}

/// Lowers the values of a stage at points; a reduction domain runs as loops that carry those of all.
pub(crate) fn lower_values(
    b: &mut Builder<'_>,
    bodies: &mut [Body<'_>],
    values: &[Expr],
) -> Vec<Vec<Value>> {
    let loops = bodies[0].loops;
    let pipeline = &loops.cx.plan.pipeline;
    let Some((rdom, intervals)) = &loops.nest.rdom else {
        let each = bodies.iter_mut().map(|body| {
            let mut lower = ExprLowering::new(pipeline, WIDTH);
            values.iter().map(|&v| lower.lower(b, v, body)).collect()
        });
        return each.collect();
    };
    let (func, mems) = bodies[0].own.expect("only updates have a reduction domain");
    let types = &pipeline.funcs[func].types;
    let mut first: Vec<Value> = Vec::new();
    for body in &*bodies {
        for (&ty, &mem) in types.iter().zip(mems) {
            let place = body.own_place(b, mem);
            let word = b.load(word_type(ty, WIDTH), mem, place);
            first.push(from_word(b, word, ty));
        }
    }
    let trips: Vec<(u32, i32)> = intervals.iter().map(|i| (i.extent(), i.min)).collect();
    let shared = Shared::default();
    let picks = bodies.len() > 1 && bodies[0].picks(trips[0].0);
    for body in &mut *bodies {
        let rounds = picks.then(|| (b.i32(0), 0));
        body.shared = Shared { rounds, ..shared.clone() };
    }
    let last = reduce_loops(b, bodies, &trips, trips.len(), first, &mut |b, bodies, old| {
        let mut all = Vec::new();
        for (body, old) in bodies.iter_mut().zip(old.chunks(types.len())) {
            let mut lower = ExprLowering::new(pipeline, WIDTH);
            body.carried = Some(old.to_vec());
            let new: Vec<Value> = values.iter().map(|&v| lower.lower(b, v, body)).collect();
            let conditions: Vec<Value> =
                pipeline.rdoms[*rdom].predicates.iter().map(|&p| lower.lower(b, p, body)).collect();
            all.extend(select_where(b, conditions, new, old));
        }
        all
    });
    last.chunks(types.len()).map(<[Value]>::to_vec).collect()
}

/// New values where all of some conditions hold, else the old ones.
pub(super) fn select_where(
    b: &mut Builder<'_>,
    conditions: Vec<Value>,
    new: Vec<Value>,
    old: &[Value],
) -> Vec<Value> {
    let Some(all) = conditions.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y)) else {
        return new;
    };
    new.into_iter().zip(old).map(|(new, &old)| b.value(Op::Select(all, new, old))).collect()
}

pub(super) type Step<'s> =
    dyn FnMut(&mut Builder<'_>, &mut [Body<'_>], &[Value]) -> Vec<Value> + 's;

/// Loops over reduction variables, the first fastest, that carry values of all bodies.
pub(super) fn reduce_loops(
    b: &mut Builder<'_>,
    bodies: &mut [Body<'_>],
    trips: &[(u32, i32)],
    depth: usize,
    values: Vec<Value>,
    step: &mut Step<'_>,
) -> Vec<Value> {
    if depth == 0 {
        return step(b, bodies, &values);
    }
    let (count, min) = trips[depth - 1];
    let picks = depth == 1 && bodies[0].shared.rounds.is_some();
    let rounds = if picks { LANES as u32 } else { 1 };
    b.carried_loop(&format!("r{}", depth - 1), count / rounds, values, |b, counter, values| {
        let counter = if rounds > 1 { times(b, counter, rounds.into()) } else { counter };
        let first = plus(b, counter, min.into());
        let mut values = values.to_vec();
        for round in 0..rounds {
            let value = plus(b, first, round.into());
            for body in &mut *bodies {
                if body.rvars.len() < trips.len() {
                    body.rvars.resize(trips.len(), value);
                }
                body.rvars[depth - 1] = value;
                if rounds > 1 {
                    body.shared.rounds = Some((first, round as u8));
                }
                if round == 0 {
                    body.shared.known.borrow_mut().clear();
                }
            }
            values = reduce_loops(b, bodies, trips, depth - 1, values, step);
        }
        values
    })
}

/// The type of a word of a buffer that holds such elements.
pub(crate) fn word_type(ty: ElementType, lanes: u8) -> Type {
    let scalar = if ty.is_float() { Scalar::F32 } else { Scalar::I32 };
    Type { scalar, lanes }
}

/// A value from the word that a buffer holds: one that lies in the range of its type.
pub(crate) fn from_word(b: &mut Builder<'_>, word: Value, ty: ElementType) -> Value {
    let limits = match ty {
        ElementType::Bool => vec![0, 1],
        ElementType::U8 => vec![0, u8::MAX.into()],
        ElementType::I8 => vec![i8::MIN.into(), i8::MAX.into()],
        ElementType::U16 => vec![0, u16::MAX.into()],
        ElementType::I16 => vec![i16::MIN.into(), i16::MAX.into()],
        ElementType::U32 | ElementType::I32 | ElementType::F32 => return word,
    };
    let known = call(b, RANGE, Effect::Pure, vec![word], limits, Some(b.func.ty(word)));
    let word = known.expect("ranges have a value");
    if ty != ElementType::Bool {
        return word;
    }
    let zero = b.constant(b.func.ty(word), 0);
    b.value(Op::Icmp(IntCond::Ne, word, zero))
}

/// The word that a buffer holds for a value.
pub(crate) fn to_word(b: &mut Builder<'_>, value: Value, ty: ElementType) -> Value {
    if ty != ElementType::Bool {
        return value;
    }
    let lanes = b.func.ty(value).lanes;
    b.convert(ConvertOp::ZeroExtend, value, Type::I32.with_lanes(lanes))
}

/// A scalar parameter in every lane.
pub(crate) fn param_value(b: &mut Builder<'_>, param: Param, ty: ElementType, lanes: u8) -> Value {
    let word = word_type(ty, lanes);
    let number = i64::from(param.as_u32());
    let value = call(b, PARAM, Effect::Pure, vec![], vec![number, lanes.into()], Some(word));
    from_word(b, value.expect("parameters have a value"), ty)
}

/// A repeating function of a value that lies in an interval.
fn repeating(b: &mut Builder<'_>, value: Value, of: &Periodic, within: Interval) -> Value {
    let period = of.table.len() as i32;
    if period == 1 {
        let product = times(b, value, of.step);
        return plus(b, product, of.table[0]);
    }
    let (mut sum, rest) = if 0 <= within.min && within.max < period && !b.keeps_identities() {
        (b.i32(0), value)
    } else {
        let divisor = b.i32(period);
        let quotient = b.binary(BinaryOp::DivEuclid, value, divisor);
        let rest = b.binary(BinaryOp::ModEuclid, value, divisor);
        (times(b, quotient, of.step), rest)
    };
    // Each place in the period adds what its function does beyond the place before.
    for (place, pair) in of.table.windows(2).enumerate() {
        if pair[0] != pair[1] {
            let before = b.i32(place as i32);
            let reached = less_mask(b, before, rest);
            let more = b.i32((pair[1] - pair[0]) as i32);
            let more = b.binary(BinaryOp::And, more, reached);
            sum = b.iadd(sum, more);
        }
    }
    plus(b, sum, of.table[0])
}

/// A subscript along an inner dimension.
pub(super) enum Plane {
    /// The same in every lane.
    Same(Value),
    /// One a lane.
    Lanes(Value),
}

/// `index - start`, brought into `0..count`: lanes that hold no point may select any plane.
pub(super) fn within(b: &mut Builder<'_>, index: Value, start: i64, count: u32) -> Value {
    let int = b.func.ty(index);
    let mut local = index;
    if start != 0 {
        let start = b.constant(int, u64::from(start as u32));
        local = b.binary(BinaryOp::Isub, index, start);
    }
    let last = b.constant(int, u64::from(count - 1));
    at_most(b, local, last)
}

/// Four elements, each of a plane of its own. Where four may be read at once, what a lane wants is
/// read into that lane.
fn load_planes(
    b: &mut Builder<'_>,
    element: Element,
    mem: Mem,
    (x, lanes): (Value, [i64; 4]),
    (rest, inner): (&[Value], &[Plane]),
) -> Value {
    let scalar = super::cx::scalar(element);
    let mut value: Option<Value> = None;
    for (lane, shift) in (0u8..).zip(lanes) {
        let begin = shift - i64::from(lane);
        // Banks are read in atoms, scratchpads from any word on.
        let together = b.func.mems[mem].space == PGSM || begin % LANES as i64 == 0;
        let mut place = vec![plus(b, x, if together { begin } else { shift })];
        place.extend(rest);
        for plane in inner {
            place.push(match plane {
                Plane::Same(value) => *value,
                Plane::Lanes(vector) => b.value(Op::Extract(*vector, lane)),
            });
        }
        let ty = Type { scalar, lanes: if together { WIDTH } else { 1 } };
        let loaded = b.load(ty, mem, place);
        value = Some(match value {
            None if together => loaded,
            None => b.value(Op::Splat(loaded, WIDTH)),
            Some(old) if together => with_lane(b, old, loaded, lane),
            Some(old) => b.value(Op::Insert(old, loaded, lane)),
        });
    }
    value.expect("there are lanes")
}

/// Four elements of a row at fixed distances from `x`: one load where they are consecutive or
/// all the same, else one load for each group of lanes that a load can put in place.
pub(super) fn load_lanes(
    b: &mut Builder<'_>,
    element: Element,
    mem: Mem,
    x: Value,
    lanes: [i64; 4],
    rest: &[Value],
) -> Value {
    let scalar = super::cx::scalar(element);
    let vector = Type { scalar, lanes: WIDTH };
    let at = |b: &mut Builder<'_>, shift: i64| {
        let mut subscripts = vec![plus(b, x, shift)];
        subscripts.extend(rest);
        subscripts
    };
    if lanes.iter().all(|&l| l == lanes[0]) {
        let place = at(b, lanes[0]);
        let one = b.load(vector.with_lanes(1), mem, place);
        return b.value(Op::Splat(one, WIDTH));
    }
    // A load that begins at `k` puts element `k + l` into lane `l`.
    let begins: Vec<i64> = lanes.iter().enumerate().map(|(l, &o)| o - l as i64).collect();
    let mut value: Option<Value> = None;
    for k in 0..WIDTH as usize {
        if begins[..k].contains(&begins[k]) {
            continue;
        }
        let place = at(b, begins[k]);
        let loaded = b.load(vector, mem, place);
        value = Some(match value {
            None => loaded,
            Some(old) => {
                let pick = (0..WIDTH)
                    .map(|l| if begins[usize::from(l)] == begins[k] { WIDTH + l } else { l });
                b.value(Op::Shuffle(old, loaded, pick.collect()))
            }
        });
    }
    value.expect("there are lanes")
}
