//! A reduction in parts: every engine reduces the points of its own tiles into an atom for each
//! element of the result, a lane for every fourth point of a row; then the engines of a vault, the
//! vaults, and the result itself are combined.
//!
//! A lane of an atom is changed alone, so that points of one row that contribute to the same
//! element do not meet (the histogram of paper 001: the mask of lanes is part of an instruction).

use cranelift_entity::EntityRef;
use nbcc_ir::{BinaryOp, Builder, Effect, IntCond, Op, Terminator, Type, Value};
use nbcc_isa_ipim::layout::Element;
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};
use nbcc_stages::bounds::Interval;
use nbcc_stages::lower::{Access, ExprLowering};
use nbcc_stages::{BinaryOp as StageOp, ExprKind, Walker};

use super::body::{Body, linear_index, to_word};
use super::exchange::vault_id;
use super::math::{div_rem, plus, times};
use super::nest::{Loops, Point, start_nest};
use super::position::{busy, finish_at, mesh, skip_idle};
use super::{Kernel, KernelCx, Lowering};
use crate::intrinsics::{LD_RF, PE, PG, RD_VSM, REQ, ST_RF, WR_VSM, call, id, read, write};
use crate::plan::{BufferPlan, ReduceStep};

/// Lowers a reduction.
pub(crate) fn lower(cx: &mut Lowering<'_>, step: &ReduceStep) -> Vec<Kernel> {
    let plan = cx.plan;
    let target = &plan.buffers[step.target];
    let grid = &step.nest.tiles.grid;
    let team = grid.groups[0] * grid.groups[1] * grid.engines;
    let words = target.words();
    let merge = Merge {
        step,
        target,
        team,
        mask: if team == 32 { u32::MAX } else { (1 << team) - 1 },
        words,
        chunks: words.div_ceil(team),
        busy: busy(&step.nest.tiles, &step.nest.region, [0, 0]),
        vsm: i64::from(plan.vsm_data),
        room: cx.machine.memory.vsm_bytes - plan.vsm_data,
        combine: Combine::new(step.op, target.element),
    };
    let mut kernels = vec![merge.parts(cx), merge.within_vaults(cx)];
    let vaults = [0, 1].map(|k| merge.busy[k].min(mesh(grid)[k]));
    if vaults != [1, 1] {
        kernels.push(merge.over_vaults(cx, vaults));
    }
    kernels.push(merge.into_target(cx));
    kernels
}

/// How contributions combine: the operation on words, and the word that changes nothing.
struct Combine {
    op: BinaryOp,
    identity: u32,
    element: Element,
    ty: Type,
}

impl Combine {
    fn new(op: StageOp, element: Element) -> Combine {
        let float = element == Element::F32;
        let bits = match element {
            Element::I8 | Element::U8 => 8,
            Element::I16 | Element::U16 => 16,
            _ => 32,
        };
        let signed = matches!(element, Element::I8 | Element::I16 | Element::I32);
        let greatest =
            if signed { i32::MAX as u32 >> (32 - bits) } else { u32::MAX >> (32 - bits) };
        let least = if signed { (i32::MIN >> (32 - bits)) as u32 } else { 0 };
        let whole = element == Element::U32;
        let (op, identity) = match op {
            StageOp::Add => (BinaryOp::Iadd, 0),
            StageOp::Min if float => (BinaryOp::Fmin, f32::INFINITY.to_bits()),
            StageOp::Max if float => (BinaryOp::Fmax, f32::NEG_INFINITY.to_bits()),
            StageOp::Min if element == Element::Bool => (BinaryOp::And, 1),
            StageOp::Max if element == Element::Bool => (BinaryOp::Or, 0),
            StageOp::Min if whole => (BinaryOp::Umin, greatest),
            StageOp::Max if whole => (BinaryOp::Umax, 0),
            StageOp::Min => (BinaryOp::Smin, greatest),
            StageOp::Max => (BinaryOp::Smax, least),
            StageOp::And => (BinaryOp::And, u32::MAX),
            StageOp::Or => (BinaryOp::Or, 0),
            StageOp::Xor => (BinaryOp::Xor, 0),
            other => panic!("{other:?} does not reduce in parts"),
        };
        Combine { op, identity, element, ty: super::vector(element) }
    }

    fn identity(&self, b: &mut Builder<'_>) -> Value {
        b.constant(self.ty, self.identity.into())
    }

    fn apply(&self, b: &mut Builder<'_>, x: Value, y: Value) -> Value {
        b.binary(self.op, x, y)
    }

    /// Brings sums back into the range of a narrow type.
    fn wrap(&self, b: &mut Builder<'_>, value: Value) -> Value {
        let (bits, signed) = match self.element {
            Element::U8 => (8, false),
            Element::U16 => (16, false),
            Element::I8 => (8, true),
            Element::I16 => (16, true),
            _ => return value,
        };
        if self.op != BinaryOp::Iadd {
            return value;
        }
        if signed {
            let amount = b.constant(self.ty, 32 - bits);
            let high = b.binary(BinaryOp::Shl, value, amount);
            b.binary(BinaryOp::Ashr, high, amount)
        } else {
            let mask = b.constant(self.ty, (1 << bits) - 1);
            b.binary(BinaryOp::And, value, mask)
        }
    }
}

struct Merge<'a> {
    step: &'a ReduceStep,
    target: &'a BufferPlan,
    /// Engines of a vault that have tiles, and their mask.
    team: u32,
    mask: u32,
    /// Elements of the target's storage, and chunks of as many as the team has engines.
    words: u32,
    chunks: u32,
    /// Columns and rows of vaults that have points.
    busy: [u32; 2],
    /// Where data lies in the vault's scratchpad, and bytes there.
    vsm: i64,
    room: u32,
    combine: Combine,
}

impl Merge<'_> {
    fn atom(&self) -> i64 {
        ATOM_BYTES.into()
    }

    fn load(&self, b: &mut Builder<'_>, address: Value, mask: u32) -> Value {
        read(b, LD_RF, address, mask, self.combine.ty)
    }

    /// The engine's number in its vault.
    fn number(&self, b: &mut Builder<'_>) -> Value {
        let pg = id(b, PG);
        let pe = id(b, PE);
        let groups = times(b, pg, self.step.nest.tiles.grid.engines.into());
        b.iadd(groups, pe)
    }

    /// A kernel for the first `vaults` columns and rows of vaults.
    fn kernel(
        &self,
        cx: &mut Lowering<'_>,
        name: &str,
        phase: Option<u32>,
        vaults: [u32; 2],
        body: impl FnOnce(&mut Builder<'_>),
    ) -> Kernel {
        let name = format!("{}.{name}", self.step.nest.name.replace('.', "_"));
        let mut kernel = KernelCx::new(cx, &name);
        kernel.sync = phase;
        let exit = kernel.func.add_block();
        let entry = kernel.func.entry();
        let b = &mut Builder::at(&mut kernel.func, entry);
        skip_idle(b, vaults, mesh(&self.step.nest.tiles.grid), exit);
        body(b);
        finish_at(b, exit);
        b.terminate(Terminator::Return(vec![]));
        kernel.finish(self.mask)
    }

    /// Every engine reduces the points of its tiles.
    fn parts(&self, cx: &mut Lowering<'_>) -> Kernel {
        let step = self.step;
        let name = format!("{}.parts", step.nest.name.replace('.', "_"));
        let mut kernel = KernelCx::new(cx, &name);
        let cx: &Lowering<'_> = cx;
        let objects = Loops::objects(cx, &mut kernel, &step.nest, &[]);
        let target = kernel.buffer(cx.plan, step.target);
        let exit = kernel.func.add_block();
        let entry = kernel.func.entry();
        let b = &mut Builder::at(&mut kernel.func, entry);
        let loops = start_nest(b, cx, &step.nest, objects, exit);
        b.counted_loop("clear", self.chunks, |b, chunk| {
            let place = times(b, chunk, self.atom() * i64::from(self.team));
            let place = plus(b, place, step.parts.into());
            let identity = self.combine.identity(b);
            for n in 0..self.team {
                let place = plus(b, place, i64::from(n) * self.atom());
                write(b, ST_RF, place, identity, self.mask);
            }
        });
        let pipeline = &cx.plan.pipeline;
        let reachable = Walker::default().reachable(pipeline, step.args.iter().copied());
        let mut spread = vec![false; pipeline.exprs.len()];
        for expr in reachable {
            let kind = &pipeline.exprs[expr].kind;
            let mut varies = *kind == ExprKind::Dim(0);
            kind.each_operand(|operand| varies |= spread[operand.index()]);
            spread[expr.index()] = varies;
        }
        let one_element = !step.args.iter().any(|arg| spread[arg.index()]);
        loops.run(b, false, &mut |b, point| {
            let mut body = Body::new(&loops, point, None);
            let mut lower = ExprLowering::new(pipeline, LANES as u8);
            let args: Vec<Value> =
                step.args.iter().map(|&arg| lower.lower(b, arg, &mut body)).collect();
            let value = lower.lower(b, step.value, &mut body);
            let value = to_word(b, value, pipeline.ty(step.value));
            let mut conditions: Vec<Value> =
                step.predicates.iter().map(|&p| lower.lower(b, p, &mut body)).collect();
            conditions.extend(self.guards(b, &loops, point, &mut body));
            let identity = self.combine.identity(b);
            let value = match conditions.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y)) {
                Some(all) => b.value(Op::Select(all, value, identity)),
                None => value,
            };
            let index = linear_index(b, cx.plan, step.target, target, &args, LANES as u8);
            self.contribute(b, index, value, one_element);
        });
        finish_at(b, exit);
        b.terminate(Terminator::Return(vec![]));
        kernel.finish(self.mask)
    }

    /// Conditions for a lane to be a point of the domain, where tiles hold others.
    fn guards(
        &self,
        b: &mut Builder<'_>,
        loops: &Loops<'_>,
        point: &Point,
        body: &mut Body<'_>,
    ) -> Vec<Value> {
        let nest = &self.step.nest;
        let grid = &nest.tiles.grid;
        let vector = Type::I32.with_lanes(LANES as u8);
        let mut all = Vec::new();
        for k in 0..2 {
            let interval = nest.region.get(k).copied();
            let interval =
                interval.unwrap_or(Interval::new(nest.tiles.origin[k], nest.tiles.origin[k]));
            let columns = [grid.strips * grid.engines, grid.rows][k] * grid.groups[k];
            let held = u64::from(columns) * u64::from(nest.tiles.tile[k]) * u64::from(self.busy[k]);
            if interval.min == nest.tiles.origin[k] && u64::from(interval.extent()) == held {
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

    /// Combines the lanes of `value` with those of the atoms of the elements that `index` names.
    fn contribute(&self, b: &mut Builder<'_>, index: Value, value: Value, one_element: bool) {
        let lanes = LANES as u8;
        for lane in 0..if one_element { 1 } else { lanes } {
            let element = b.value(Op::Extract(index, lane));
            let place = times(b, element, self.atom());
            let place = plus(b, place, self.step.parts.into());
            let old = self.load(b, place, self.mask);
            let mut new = self.combine.apply(b, old, value);
            if !one_element {
                let pick = (0..lanes).map(|l| if l == lane { lanes + l } else { l });
                new = b.value(Op::Shuffle(old, new, pick.collect()));
            }
            write(b, ST_RF, place, new, self.mask);
        }
    }

    /// The engines of each vault combine their parts: of every chunk of elements, each engine those
    /// of one element.
    fn within_vaults(&self, cx: &mut Lowering<'_>) -> Kernel {
        self.kernel(cx, "merge", None, self.busy, |b| {
            let number = self.number(b);
            let own = times(b, number, self.atom() * i64::from(self.team));
            let own = plus(b, own, self.vsm);
            let column = times(b, number, self.atom());
            let column = plus(b, column, self.vsm);
            b.counted_loop("chunk", self.chunks, |b, chunk| {
                let parts = times(b, chunk, self.atom() * i64::from(self.team));
                let parts = plus(b, parts, self.step.parts.into());
                for n in 0..self.team {
                    let offset = i64::from(n) * self.atom();
                    let from = plus(b, parts, offset);
                    let value = self.load(b, from, self.mask);
                    let to = plus(b, own, offset);
                    write(b, WR_VSM, to, value, self.mask);
                }
                let mut sum = None;
                for n in 0..self.team {
                    let from = plus(b, column, i64::from(n * self.team) * self.atom());
                    let value = read(b, RD_VSM, from, self.mask, self.combine.ty);
                    sum = Some(match sum {
                        None => value,
                        Some(sum) => self.combine.apply(b, sum, value),
                    });
                }
                let sum = self.fold_lanes(b, sum.expect("a team has engines"));
                self.store_sum(b, chunk, sum);
            });
        })
    }

    fn store_sum(&self, b: &mut Builder<'_>, chunk: Value, sum: Value) {
        let place = times(b, chunk, self.atom());
        let place = plus(b, place, self.step.sums.into());
        write(b, ST_RF, place, sum, self.mask);
    }

    /// All lanes combined, in every lane.
    fn fold_lanes(&self, b: &mut Builder<'_>, value: Value) -> Value {
        let mut sum = b.value(Op::Extract(value, 0));
        for lane in 1..LANES as u8 {
            let other = b.value(Op::Extract(value, lane));
            sum = self.combine.apply(b, sum, other);
        }
        b.value(Op::Splat(sum, LANES as u8))
    }

    /// The first vault combines the sums of all vaults.
    fn over_vaults(&self, cx: &mut Lowering<'_>, vaults: [u32; 2]) -> Kernel {
        let phase = Some(cx.next_phase());
        let grid = &self.step.nest.tiles.grid;
        let bytes = self.team * ATOM_BYTES;
        let fits = |n: u32| n.checked_mul(bytes).is_some_and(|all| all <= self.room);
        // Vaults whose sums are requested together: all, or a row of them, or one.
        let all = vaults[0] * vaults[1];
        let batch = [all, vaults[0], 1].into_iter().find(|&n| fits(n)).expect("one vault fits");
        self.kernel(cx, "sums", phase, [1, 1], |b| {
            let number = self.number(b);
            let own = times(b, number, self.atom());
            let own = plus(b, own, self.vsm);
            b.counted_loop("chunk", self.chunks, |b, chunk| {
                let from = times(b, chunk, self.atom());
                let from = plus(b, from, self.step.sums.into());
                let identity = self.combine.identity(b);
                let sums =
                    b.carried_loop("vaults", all / batch, vec![identity], |b, turn, sums| {
                        let first = times(b, turn, batch.into());
                        b.counted_loop("fetch", batch, |b, n| {
                            let vault = b.iadd(first, n);
                            let (y, x) = div_rem(b, vault, vaults[0], 1 << 12);
                            let (chip, vault) = vault_id(b, grid, x, y);
                            let slot = times(b, n, bytes.into());
                            let slot = plus(b, slot, self.vsm);
                            for engine in 0..self.team {
                                let pg = b.i32((engine / grid.engines) as i32);
                                let pe = b.i32((engine % grid.engines) as i32);
                                let to = plus(b, slot, i64::from(engine) * self.atom());
                                let args = vec![chip, vault, pg, pe, from, to];
                                call(b, REQ, Effect::Write, args, vec![], None);
                            }
                        });
                        b.carried_loop("add", batch, sums.to_vec(), |b, n, sums| {
                            let slot = times(b, n, bytes.into());
                            let slot = b.iadd(slot, own);
                            let value = read(b, RD_VSM, slot, self.mask, self.combine.ty);
                            vec![self.combine.apply(b, sums[0], value)]
                        })
                    });
                self.store_sum(b, chunk, sums[0]);
            });
        })
    }

    /// The first vault packs the sums; its first engine combines them with the target.
    fn into_target(&self, cx: &mut Lowering<'_>) -> Kernel {
        let lanes = LANES as u32;
        // Chunks that are packed together: whole atoms of elements, and room for the last write.
        let most = (self.room - ATOM_BYTES) / (self.team * ELEMENT_BYTES) / lanes * lanes;
        let block = most.min(self.chunks);
        let blocks = self.words / (block * self.team);
        let left = self.words - blocks * block * self.team;
        self.kernel(cx, "result", None, [1, 1], |b| {
            if blocks > 0 {
                b.counted_loop("block", blocks, |b, number| {
                    let first = times(b, number, block.into());
                    self.pack(b, first, block, block * self.team / lanes);
                });
            }
            if left > 0 {
                let first = b.i32((blocks * block) as i32);
                self.pack(b, first, left.div_ceil(self.team), left / lanes);
            }
        })
    }

    /// Combines the sums of `chunks` chunks with the `atoms` atoms of the target that they are of.
    fn pack(&self, b: &mut Builder<'_>, first: Value, chunks: u32, atoms: u32) {
        let number = self.number(b);
        let own = times(b, number, ELEMENT_BYTES.into());
        let own = plus(b, own, self.vsm);
        b.counted_loop("pack", chunks, |b, n| {
            let chunk = b.iadd(first, n);
            let from = times(b, chunk, self.atom());
            let from = plus(b, from, self.step.sums.into());
            let sum = self.load(b, from, self.mask);
            // Engines write in order: of each atom the first word stays, the next engine's write
            // covers the others.
            let place = times(b, n, i64::from(self.team * ELEMENT_BYTES));
            let place = b.iadd(place, own);
            write(b, WR_VSM, place, sum, self.mask);
        });
        let base = times(b, first, i64::from(self.team * ELEMENT_BYTES));
        let base = plus(b, base, self.target.base.into());
        b.counted_loop("combine", atoms, |b, n| {
            let offset = times(b, n, self.atom());
            let slot = plus(b, offset, self.vsm);
            let sums = read(b, RD_VSM, slot, 1, self.combine.ty);
            let place = b.iadd(base, offset);
            let old = self.load(b, place, 1);
            let new = self.combine.apply(b, old, sums);
            let new = self.combine.wrap(b, new);
            write(b, ST_RF, place, new, 1);
        });
    }
}
