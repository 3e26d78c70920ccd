//! A reduction in parts: every engine reduces the points of its own tiles by itself; [`Merge`] puts
//! the parts together.
//!
//! Parts that fit the scratchpad are kept there (iPIM paper, section IV-C), as an atom or a word for
//! each element of the result, else in the bank as atoms. An atom has a lane for every fourth point
//! of a row, changed alone, so that points that contribute to the same element do not meet.

use nbcc_ir::{BinaryOp, Builder, IntCond, Op, Terminator, Type, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};
use nbcc_stages::bounds::Interval;
use nbcc_stages::lower::{Access, ExprLowering};

use super::body::{Body, to_word};
use super::combine::Combine;
use super::cx::{KernelCx, Lowering};
use super::gather::linear_index;
use super::loops::{Loops, Point};
use super::math::{plus, times};
use super::nest::start_nest;
use super::parts::Merge;
use super::position::{finish_at, mesh};
use crate::intrinsics::{LD_RF, PE, RD_PGSM, ST_RF, WR_PGSM, id, read, write};
use crate::kernel::Kernel;
use crate::memory;
use crate::plan::{Part, Parts, ReduceStep, busy};

/// Atoms cleared in straight-line code.
const UNROLL: u32 = 8;

/// Lowers a reduction.
pub(crate) fn lower(cx: &mut Lowering<'_>, step: &ReduceStep) -> Vec<Kernel> {
    let plan = cx.plan;
    let target = &plan.buffers[step.target];
    let grid = &step.nest.tiles.grid;
    let team = grid.groups[0] * grid.groups[1] * grid.engines;
    let working = busy(&step.nest.tiles, &step.nest.region, [0, 0]);
    let merge = Merge {
        step,
        target,
        team,
        mask: if team == 32 { u32::MAX } else { (1 << team) - 1 },
        busy: [0, 1].map(|k| working[k].min(mesh(grid)[k])),
        vsm: memory::data_begin(cx.machine).into(),
        combine: Combine::new(step.op, target.element),
    };
    let mut kernels = vec![parts(cx, &merge)];
    kernels.extend(merge.lower(cx));
    kernels
}

/// Every engine reduces the points of its tiles, and packs its parts.
fn parts(cx: &mut Lowering<'_>, merge: &Merge<'_>) -> Kernel {
    let step = merge.step;
    let name = format!("{}.parts", step.nest.name.replace('.', "_"));
    let mut kernel = KernelCx::new(cx, &name);
    let cx: &Lowering<'_> = cx;
    let objects = Loops::objects(cx, &mut kernel, &step.nest, &[]);
    let target = kernel.buffer(cx.plan, step.target);
    let exit = kernel.func.add_block();
    let b = &mut cx.builder(&mut kernel.func);
    let loops = start_nest(b, cx, &step.nest, objects, (cx.full_mask(), exit));
    let store = Store::new(b, merge);
    store.clear(b);
    let pipeline = &cx.plan.pipeline;
    loops.run(b, false, None, &mut |b, points| {
        let [point] = points else { panic!("points of parts go one by one") };
        let mut body = Body::new(&loops, point, None);
        let mut lower = ExprLowering::new(pipeline, LANES as u8);
        let args: Vec<Value> =
            step.args.iter().map(|&arg| lower.lower(b, arg, &mut body)).collect();
        let value = lower.lower(b, step.value, &mut body);
        let value = to_word(b, value, pipeline.ty(step.value));
        let mut conditions: Vec<Value> =
            step.predicates.iter().map(|&p| lower.lower(b, p, &mut body)).collect();
        conditions.extend(guards(b, merge, &loops, point, &mut body));
        let identity = merge.combine.identity(b);
        let value = match conditions.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y)) {
            Some(all) => b.value(Op::Select(all, value, identity)),
            None => value,
        };
        let index = linear_index(b, cx.plan, step.target, target, &args, LANES as u8);
        store.contribute(b, index, value);
    });
    store.pack(b);
    finish_at(b, exit);
    b.terminate(Terminator::Return(vec![]));
    kernel.finish(merge.mask)
}

/// Conditions for a lane to be a point of the domain, where tiles hold others.
fn guards(
    b: &mut Builder<'_>,
    merge: &Merge<'_>,
    loops: &Loops<'_>,
    point: &Point,
    body: &mut Body<'_>,
) -> Vec<Value> {
    let nest = &merge.step.nest;
    let grid = &nest.tiles.grid;
    let vector = Type::I32.with_lanes(LANES as u8);
    let mut all = Vec::new();
    for k in 0..2 {
        let origin = nest.tiles.origin[k];
        let interval = nest.region.get(k).copied().unwrap_or(Interval::new(origin, origin));
        let columns = [grid.strips * grid.engines, grid.rows][k] * grid.groups[k];
        let held = u64::from(columns) * u64::from(nest.tiles.tile[k]) * u64::from(merge.busy[k]);
        if interval.min == origin && u64::from(interval.extent()) == held {
            continue;
        }
        let place = if k == 0 {
            body.dim(b, 0)
        } else {
            let row = loops.row_in_column(b, point);
            let row = b.iadd(row, loops.start[1]);
            b.value(Op::Splat(row, LANES as u8))
        };
        // One comparison: coordinates from the first on, as unsigned numbers.
        let first = b.constant(vector, u64::from(interval.min as u32));
        let offset = b.binary(BinaryOp::Isub, place, first);
        let extent = b.constant(vector, interval.extent().into());
        all.push(b.value(Op::Icmp(IntCond::Ult, offset, extent)));
    }
    all
}

/// The parts of an engine, where it gathers them.
struct Store<'a> {
    merge: &'a Merge<'a>,
    /// How parts are read and written.
    load: &'static str,
    save: &'static str,
    part: Part,
    /// Address of the first part, different in the engines of a group where they share a memory.
    base: Value,
    /// Atoms to clear.
    atoms: u32,
}

impl<'a> Store<'a> {
    fn new(b: &mut Builder<'_>, merge: &'a Merge<'a>) -> Store<'a> {
        let words = merge.target.words();
        match merge.step.parts {
            Parts::Bank(base) => {
                let base = b.i32(base as i32);
                let part = Part::Atom;
                Store { merge, load: LD_RF, save: ST_RF, part, base, atoms: words }
            }
            Parts::Pgsm { base, stride, part } => {
                let pe = id(b, PE);
                let own = times(b, pe, stride.into());
                let base = plus(b, own, base.into());
                let atoms = stride / ATOM_BYTES;
                Store { merge, load: RD_PGSM, save: WR_PGSM, part, base, atoms }
            }
        }
    }

    fn load(&self, b: &mut Builder<'_>, address: Value) -> Value {
        read(b, self.load, address, self.merge.mask, self.merge.combine.ty)
    }

    fn save(&self, b: &mut Builder<'_>, address: Value, value: Value) {
        write(b, self.save, address, value, self.merge.mask);
    }

    fn clear(&self, b: &mut Builder<'_>) {
        let identity = self.merge.combine.identity(b);
        let atoms = self.atoms;
        let unroll = (1..=UNROLL.min(atoms)).rev().find(|n| atoms.is_multiple_of(*n)).unwrap_or(1);
        b.counted_loop("clear", atoms / unroll, |b, counter| {
            let place = times(b, counter, i64::from(unroll * ATOM_BYTES));
            let place = b.iadd(place, self.base);
            for n in 0..unroll {
                let place = plus(b, place, i64::from(n * ATOM_BYTES));
                self.save(b, place, identity);
            }
        });
    }

    /// Combines the lanes of `value` with the parts of the elements that `index` names.
    fn contribute(&self, b: &mut Builder<'_>, index: Value, value: Value) {
        let combine = &self.merge.combine;
        let lanes = LANES as u8;
        if !self.merge.step.scattered {
            let first = b.value(Op::Extract(index, 0));
            let offset = times(b, first, ATOM_BYTES.into());
            let place = b.iadd(offset, self.base);
            let old = self.load(b, place);
            let new = combine.apply(b, old, value);
            return self.save(b, place, new);
        }
        let size = if self.part == Part::Word { ELEMENT_BYTES } else { ATOM_BYTES };
        let amount = b.constant(Type::I32.with_lanes(lanes), size.ilog2().into());
        let offset = b.binary(BinaryOp::Shl, index, amount);
        let base = b.value(Op::Splat(self.base, lanes));
        let place = b.iadd(offset, base);
        let places: Vec<Value> = (0..lanes).map(|l| b.value(Op::Extract(place, l))).collect();
        if self.part == Part::Atom {
            for (lane, place) in (0..lanes).zip(places) {
                let old = self.load(b, place);
                let new = combine.apply(b, old, value);
                let pick = (0..lanes).map(|l| if l == lane { lanes + l } else { l });
                let new = b.value(Op::Shuffle(old, new, pick.collect()));
                self.save(b, place, new);
            }
            return;
        }
        let same = b.func.splat_constant(value);
        let values: Vec<Value> = (0..lanes)
            .map(|l| match same {
                Some(bits) => b.constant(combine.ty.with_lanes(1), bits),
                None => b.value(Op::Extract(value, l)),
            })
            .collect();
        for (value, place) in values.into_iter().zip(places) {
            let old = self.load(b, place);
            let first = b.value(Op::Extract(old, 0));
            let new = combine.apply(b, first, value);
            let new = b.value(Op::Insert(old, new, 0));
            self.save(b, place, new);
        }
    }

    /// Copies the parts to the bank, a word an element.
    fn pack(&self, b: &mut Builder<'_>) {
        let lanes = LANES as u8;
        let combine = &self.merge.combine;
        b.counted_loop("pack", self.merge.step.atoms(self.merge.target), |b, n| {
            let packed = if self.part == Part::Word {
                let offset = times(b, n, ATOM_BYTES.into());
                let place = b.iadd(offset, self.base);
                self.load(b, place)
            } else {
                let offset = times(b, n, i64::from(ATOM_BYTES) * LANES as i64);
                let place = b.iadd(offset, self.base);
                let mut packed = combine.identity(b);
                for element in 0..lanes {
                    let place = plus(b, place, i64::from(element) * i64::from(ATOM_BYTES));
                    let atom = self.load(b, place);
                    let mut sum = b.value(Op::Extract(atom, 0));
                    for lane in 1..lanes {
                        let other = b.value(Op::Extract(atom, lane));
                        sum = combine.apply(b, sum, other);
                    }
                    packed = b.value(Op::Insert(packed, sum, element));
                }
                packed
            };
            let place = times(b, n, ATOM_BYTES.into());
            let place = plus(b, place, self.merge.step.packed.into());
            write(b, ST_RF, place, packed, self.merge.mask);
        });
    }
}
