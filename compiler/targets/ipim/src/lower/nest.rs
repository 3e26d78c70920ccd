//! The loops of a stage computed tile by tile (paper 001, Fig. 3): strips and rows of tiles of the
//! engine's group, inner dimensions, blocks of rows; windows are filled once a block.

use std::collections::BTreeMap;

use nbcc_ir::{Builder, Mem, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::Expr;

use super::body::{Body, lower_values};
use super::cx::{KernelCx, Lowering};
use super::loops::{Loops, Point, own_place};
use super::math::plus;
use super::planes::update_planes;
use super::position::{finish_at, group_start, position, skip_idle_of};
use super::window::fill_windows;
use crate::kernel::{Kernel, Size};
use crate::plan::{BufferId, Nest, Stage, TileStep, in_place, used};

impl Loops<'_> {
    /// All loops around `body`.
    pub fn run(
        &self,
        b: &mut Builder<'_>,
        unroll: bool,
        body: &mut dyn FnMut(&mut Builder<'_>, &Point),
    ) {
        let grid = &self.nest.tiles.grid;
        b.counted_loop("strip", grid.strips, |b, strip| {
            b.counted_loop("row", grid.rows, |b, row| {
                self.inner(b, (strip, row), &mut vec![], unroll, body);
            });
        });
    }

    fn inner(
        &self,
        b: &mut Builder<'_>,
        at: (Value, Value),
        inner: &mut Vec<Value>,
        unroll: bool,
        body: &mut dyn FnMut(&mut Builder<'_>, &Point),
    ) {
        // Dimension 2 runs fastest: the last dimension is the outermost loop.
        let dims = self.nest.region.len().saturating_sub(2);
        if inner.len() == dims {
            let mut counters = inner.clone();
            counters.reverse();
            return self.blocks(b, at, &counters, unroll, body);
        }
        let d = self.nest.region.len() - 1 - inner.len();
        b.counted_loop(&format!("d{d}"), self.nest.region[d].extent(), |b, counter| {
            inner.push(counter);
            self.inner(b, at, inner, unroll, body);
            inner.pop();
        });
    }

    fn blocks(
        &self,
        b: &mut Builder<'_>,
        (strip, row): (Value, Value),
        inner: &[Value],
        unroll: bool,
        body: &mut dyn FnMut(&mut Builder<'_>, &Point),
    ) {
        let nest = self.nest;
        let [ux, uy] = nest.unroll;
        let vectors = nest.tiles.tile[0] / LANES as u32;
        b.counted_loop("block", nest.tiles.tile[1] / nest.block_rows, |b, block| {
            fill_windows(b, self, strip, row, inner, block);
            b.counted_loop("y", nest.block_rows / uy, |b, y| {
                let whole_row = unroll && vectors / ux <= 2;
                let (trips, repeat) = if whole_row { (1, vectors / ux) } else { (vectors / ux, 1) };
                b.counted_loop("x", trips, |b, x| {
                    for (group, y_step, x_step) in steps(repeat, uy, ux) {
                        let x = plus(b, x, group.into());
                        let inner = inner.to_vec();
                        let point = Point { strip, row, inner, block, y, x, y_step, x_step };
                        body(b, &point);
                        // The loops around it are the stage's.
                        b.set_span(None);
                    }
                });
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

/// The start of a kernel over the tiles of a nest: idle vaults skip it.
pub(crate) fn start_nest<'a>(
    b: &mut Builder<'_>,
    cx: &'a Lowering<'a>,
    nest: &'a Nest,
    objects: (BTreeMap<BufferId, Mem>, Vec<Option<Mem>>),
    exit: nbcc_ir::Block,
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
    let (mems, windows) = objects;
    Loops { cx, nest, mems, windows, position, start }
}

/// Lowers a stage computed tile by tile.
pub(crate) fn lower_tiles(cx: &mut Lowering<'_>, step: &TileStep) -> Kernel {
    let mut kernel = KernelCx::new(cx, &step.nest.name);
    let cx: &Lowering<'_> = cx;
    let objects = Loops::objects(cx, &mut kernel, &step.nest, &step.targets);
    let exit = kernel.func.add_block();
    let mut b = cx.builder(&mut kernel.func);
    let loops = start_nest(&mut b, cx, &step.nest, objects, exit);
    let targets: Vec<Mem> = step.targets.iter().map(|id| loops.mems[id]).collect();
    loops.run(&mut b, cx.size <= Size::Merged, &mut |b, point| {
        store_point(b, &loops, step, &targets, point)
    });
    finish_at(&mut b, exit);
    b.terminate(nbcc_ir::Terminator::Return(vec![]));
    kernel.finish(cx.full_mask())
}

/// Computes and stores one vector.
fn store_point(
    b: &mut Builder<'_>,
    loops: &Loops<'_>,
    step: &TileStep,
    targets: &[Mem],
    point: &Point,
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
    let body = Body::new(loops, point, Some((step.func, targets)));
    if let Stage::Update(k) = step.stage
        && !in_place(pipeline, step.func, k)
    {
        return update_planes(b, body, &data.updates[k], &data.types);
    }
    let results = lower_values(b, body, &values);
    b.set_span(Some(span));
    let stores = targets.iter().zip(&step.targets).zip(results).zip(&data.types);
    for (((&mem, &target), value), &ty) in stores {
        let word = super::body::to_word(b, value, ty);
        let place = own_place(b, loops, point, target);
        b.store(mem, place, word);
    }
}
