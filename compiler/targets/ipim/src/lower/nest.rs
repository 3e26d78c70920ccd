//! The loops of a stage computed tile by tile (iPIM paper, Fig. 3): strips and rows of tiles of the
//! engine's group, inner dimensions, blocks of rows; windows are filled once a block.

use nbcc_ir::{BinaryOp, Builder, Mem, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::Expr;

use super::body::{Body, lower_values};
use super::cx::{KernelCx, Lowering};
use super::kept::update_kept;
use super::loops::{BlockOfRows, Loops, Objects, Point, own_place};
use super::math::{plus, times};
use super::planes::update_planes;
use super::position::{finish_at, group_start, position, skip_idle_of};
use super::tables::fill_tables;
use super::window::{fill_columns, fill_rows, loads_to_fill};
use crate::kernel::{Kernel, Size};
use crate::plan::{Jam, Nest, Stage, TileStep, in_place, kept_planes, recurrence, used};

/// Rounds of a loop for which it is worth it that the first one fills windows by itself.
const MIN_ROUNDS: u32 = 4;

/// The loops over tiles, around all others.
const TILES: usize = 2;

/// A loop around points.
struct Level {
    name: String,
    trips: u32,
}

impl Loops<'_> {
    /// All loops around `body`, which computes the points of a vector, or of several together.
    ///
    /// Where its loads fit the registers, a round of the innermost loop ends with filling windows for
    /// the next one: what it computes of what it has read needs windows no longer, and can stand
    /// behind that (`passes/sink.rs`).
    pub fn run(
        &self,
        b: &mut Builder<'_>,
        unroll: bool,
        jam: Option<Jam>,
        body: &mut dyn FnMut(&mut Builder<'_>, &[Point]),
    ) {
        let planes = jam.map_or(1, |jam| jam.planes);
        let levels = self.levels(planes);
        let ahead = self.filled_ahead(&levels);
        self.level(b, (&levels, ahead), &mut vec![], &mut |b, rows| {
            self.points(b, &rows, unroll, jam, body);
        });
    }

    /// How many loops are around what fills windows.
    fn filled_at(&self, levels: &[Level]) -> usize {
        match self.nest.filled_from() {
            2 => levels.len(),
            from => {
                let cut = self.nest.cut().is_some_and(|(dim, _)| dim >= from);
                TILES + self.nest.region.len().max(2) - from + usize::from(cut)
            }
        }
    }

    /// Which loop goes from slice to slice of tables, if there is one.
    fn cut_at(&self) -> Option<usize> {
        let (dim, _) = self.nest.cut()?;
        Some(TILES + self.nest.region.len() - 1 - dim)
    }

    /// The loop that fills windows for its next round, if there is one.
    fn filled_ahead(&self, levels: &[Level]) -> Option<usize> {
        let innermost = levels.iter().rposition(|level| level.trips > 1)?;
        if innermost >= self.filled_at(levels) {
            return None;
        }
        // The first round of each loop fills its own; each load has two addresses while it is under way.
        let often = levels[innermost].trips >= MIN_ROUNDS;
        let loads = loads_to_fill(self);
        let fits = loads > 0 && 2 * loads <= self.cx.machine.registers.addr / 2;
        (self.cx.size == Size::Fast && often && fits).then_some(innermost)
    }

    /// The loops around a block of rows, the outermost first; so many planes along dimension 2 are one round.
    fn levels(&self, planes: u32) -> Vec<Level> {
        let nest = self.nest;
        let grid = &nest.tiles.grid;
        let level = |name: &str, trips| Level { name: name.to_string(), trips };
        let mut levels = vec![level("strip", grid.strips), level("row", grid.rows)];
        // Dimension 2 runs fastest: the last dimension is the outermost loop.
        for (d, interval) in nest.region.iter().enumerate().skip(2).rev() {
            let cut = nest.cut().filter(|(dim, _)| *dim == d);
            let rounds = cut.map_or(interval.extent(), |(_, planes)| planes);
            levels.extend(cut.map(|_| level("slice", interval.extent() / rounds)));
            levels.push(level(&format!("d{d}"), if d == 2 { rounds / planes } else { rounds }));
        }
        levels.push(level("block", nest.tiles.tile[1] / nest.block_rows));
        levels
    }

    /// The loops that `counters` does not count yet; `ahead` is the one that fills windows for its next
    /// round.
    fn level(
        &self,
        b: &mut Builder<'_>,
        (levels, ahead): (&[Level], Option<usize>),
        counters: &mut Vec<Value>,
        each: &mut dyn FnMut(&mut Builder<'_>, BlockOfRows),
    ) {
        let depth = counters.len();
        // Windows hold the same in all rounds of the other loops.
        let rows = |b: &mut Builder<'_>, counters: &[Value]| {
            let mut all = counters.to_vec();
            all.resize_with(levels.len(), || b.i32(0));
            self.block_of_rows(b, levels, &all)
        };
        if let Some(at) = self.cut_at()
            && depth == at + 1
        {
            let first = self.first_of_slice(b, counters[at]);
            fill_tables(b, self, Some(first));
        }
        if depth == self.filled_at(levels) {
            let rows = rows(b, counters);
            if ahead.is_none() {
                fill_rows(b, self, &rows, None);
            }
            fill_columns(b, self, &rows);
        }
        let Some(Level { name, trips }) = levels.get(depth) else {
            let rows = self.block_of_rows(b, levels, counters);
            return each(b, rows);
        };
        let round = |b: &mut Builder<'_>, counters: &[Value], counter: Value| {
            rows(b, &[counters, &[counter]].concat())
        };
        let ahead_here = ahead == Some(depth);
        if ahead_here {
            let zero = b.i32(0);
            let first = round(b, counters, zero);
            fill_rows(b, self, &first, None);
        }
        b.counted_loop(name, *trips, |b, counter| {
            counters.push(counter);
            self.level(b, (levels, ahead), counters, each);
            counters.pop();
            if ahead_here {
                let next = plus(b, counter, 1);
                let before_last = b.i32(*trips as i32 - 2);
                let none = b.binary(BinaryOp::Isub, before_last, counter);
                let next = round(b, counters, next);
                fill_rows(b, self, &next, Some(none));
            }
        });
    }

    /// A block of rows by the counters of the loops around it.
    fn block_of_rows(
        &self,
        b: &mut Builder<'_>,
        levels: &[Level],
        counters: &[Value],
    ) -> BlockOfRows {
        let mut counters = counters.to_vec();
        let slice = self.cut_at().map(|at| {
            let slice = counters.remove(at);
            let before = times(b, slice, levels[at + 1].trips.into());
            counters[at] = b.iadd(before, counters[at]);
            self.first_of_slice(b, slice)
        });
        let [strip, row, inner @ .., block] = &counters[..] else {
            panic!("{} loops around a block of rows", counters.len())
        };
        let inner = inner.iter().rev().copied().collect();
        BlockOfRows { strip: *strip, row: *row, inner, slice, block: *block }
    }

    /// The first plane of a slice.
    fn first_of_slice(&self, b: &mut Builder<'_>, slice: Value) -> Value {
        let planes = self.nest.cut().map_or(1, |(_, planes)| planes);
        times(b, slice, planes.into())
    }

    /// The loops inside a block of rows.
    fn points(
        &self,
        b: &mut Builder<'_>,
        at: &BlockOfRows,
        unroll: bool,
        jam: Option<Jam>,
        body: &mut dyn FnMut(&mut Builder<'_>, &[Point]),
    ) {
        let nest = self.nest;
        let [ux, uy] = nest.unroll;
        let vectors = nest.tiles.tile[0] / LANES as u32;
        if let Some(Jam { steps: [along_x, along_y], planes, vectors: most }) = jam {
            let plane = |b: &mut Builder<'_>, number: u32| {
                let mut at = at.clone();
                if let Some(counter) = at.inner.first_mut() {
                    let first = times(b, *counter, planes.into());
                    *counter = plus(b, first, number.into());
                }
                at
            };
            let planes: Vec<BlockOfRows> = (0..planes).map(|number| plane(b, number)).collect();
            b.counted_loop("y", nest.block_rows / uy / along_y, |b, y| {
                b.counted_loop("x", vectors / ux / along_x, |b, x| {
                    let mut points = Vec::new();
                    for row in 0..along_y {
                        let y = times(b, y, along_y.into());
                        let y = plus(b, y, row.into());
                        for (group, y_step, x_step) in steps(along_x, uy, ux) {
                            let x = times(b, x, along_x.into());
                            let x = plus(b, x, group.into());
                            let of_plane =
                                |at: &BlockOfRows| Point { at: at.clone(), y, x, y_step, x_step };
                            points.extend(planes.iter().map(of_plane));
                        }
                    }
                    for points in points.chunks(most as usize) {
                        body(b, points);
                    }
                    b.set_span(None);
                });
            });
            return;
        }
        b.counted_loop("y", nest.block_rows / uy, |b, y| {
            let whole_row = unroll && vectors / ux <= 2;
            let (trips, repeat) = if whole_row { (1, vectors / ux) } else { (vectors / ux, 1) };
            b.counted_loop("x", trips, |b, x| {
                for (group, y_step, x_step) in steps(repeat, uy, ux) {
                    let x = plus(b, x, group.into());
                    let point = Point { at: at.clone(), y, x, y_step, x_step };
                    body(b, std::slice::from_ref(&point));
                    // The loops around it are the stage's.
                    b.set_span(None);
                }
            });
        });
    }
}

fn steps(repeat: u32, uy: u32, ux: u32) -> Vec<(u32, u32, u32)> {
    let mut all = Vec::new();
    for y in 0..uy {
        for group in 0..repeat {
            for x in 0..ux {
                all.push((group, y, x));
            }
        }
    }
    all
}

/// The start of a kernel over the tiles of a nest, which engines of `mask` run: idle vaults skip it.
pub(crate) fn start_nest<'a>(
    b: &mut Builder<'_>,
    cx: &'a Lowering<'a>,
    nest: &'a Nest,
    objects: Objects,
    (mask, exit): (u32, nbcc_ir::Block),
) -> Loops<'a> {
    let tiles = &nest.tiles;
    let grid = &tiles.grid;
    let group = [
        i64::from(grid.strips * grid.engines) * i64::from(tiles.tile[0]),
        i64::from(grid.rows) * i64::from(tiles.tile[1]),
    ];
    let busy = [0, 1].map(|k| {
        let last = nest.region.get(k).map_or(0, |i| i64::from(i.max));
        used(tiles.origin[k].into(), group[k] * i64::from(grid.groups[k]), last)
    });
    skip_idle_of(b, busy, grid, exit);
    let position = position(b, grid);
    let (group_x, group_y) = position.group(b, grid);
    let start = [
        group_start(b, group_x, group[0], tiles.origin[0].into()),
        group_start(b, group_y, group[1], tiles.origin[1].into()),
    ];
    let Objects { mems, windows, tables } = objects;
    Loops { cx, nest, mems, windows, tables, mask, position, start }
}

/// Lowers a stage computed tile by tile: that step of the plan.
pub(crate) fn lower_tiles(cx: &mut Lowering<'_>, number: usize, step: &TileStep) -> Kernel {
    let mut kernel = KernelCx::new(cx, &step.nest.name);
    let cx: &Lowering<'_> = cx;
    let objects = Loops::objects(cx, &mut kernel, &step.nest, &step.targets);
    let exit = kernel.func.add_block();
    let mut b = cx.builder(&mut kernel.func);
    let mask = cx.mask_of(&step.nest.tiles, &step.nest.region, [0, 0]);
    let loops = start_nest(&mut b, cx, &step.nest, objects, (mask, exit));
    let targets: Vec<Mem> = step.targets.iter().map(|id| loops.mems[id]).collect();
    fill_tables(&mut b, &loops, None);
    let jammed = cx.jammed.get(&number).copied();
    loops.run(&mut b, cx.size <= Size::Merged, jammed, &mut |b, points| {
        store_points(b, &loops, step, &targets, points)
    });
    finish_at(&mut b, exit);
    b.terminate(nbcc_ir::Terminator::Return(vec![]));
    kernel.finish(mask)
}

/// Computes and stores vectors, together.
fn store_points(
    b: &mut Builder<'_>,
    loops: &Loops<'_>,
    step: &TileStep,
    targets: &[Mem],
    points: &[Point],
) {
    let pipeline = &loops.cx.plan.pipeline;
    let data = &pipeline.funcs[step.func];
    let (values, span): (Vec<Expr>, _) = match step.stage {
        Stage::Pure => {
            let pure = data.pure.as_ref().expect("a pure stage has a definition");
            (pure.values.clone(), pure.span)
        }
        Stage::Update(k) => (data.updates[k].values.clone(), data.updates[k].span),
    };
    let body = |point| Body::new(loops, point, Some((step.func, targets)));
    let mut bodies: Vec<Body<'_>> = points.iter().map(body).collect();
    if let Stage::Update(k) = step.stage
        && !in_place(pipeline, step.func, k)
    {
        let (plan, machine) = (loops.cx.plan, loops.cx.machine);
        if let Some(kept) = kept_planes(plan, machine, step.func, k) {
            let [body] = &mut bodies[..] else { panic!("points that keep planes go one by one") };
            return update_kept(b, body, &data.updates[k], &data.types, &kept);
        }
        let carried = recurrence(plan, step.func, k);
        return update_planes(b, &mut bodies, &data.updates[k], &data.types, carried);
    }
    let results = lower_values(b, &mut bodies, &values);
    b.set_span(Some(span));
    for (point, results) in points.iter().zip(results) {
        let stores = targets.iter().zip(&step.targets).zip(results).zip(&data.types);
        for (((&mem, &target), value), &ty) in stores {
            let word = super::body::to_word(b, value, ty);
            let place = own_place(b, loops, point, target);
            b.store(mem, place, word);
        }
    }
}
