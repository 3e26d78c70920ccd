//! What loops over tiles cost, and stages on one engine.

use nbcc_isa_ipim::LANES;
use nbcc_stages::{Expr, Walker};

use super::body::{Body, Issue};
use super::operations::Last;
use super::{Cost, Estimate};
use crate::plan::{
    Nest, Parts, Read, ReduceStep, SerialStep, Stage, TileStep, in_place, kept_planes, recurrence,
    stage_roots,
};

/// Instructions before the loops of a kernel: where the engine is, and constants of its loops.
const POSITION: u64 = 12;

/// Constants to find the corners of an engine's boxes.
const CORNERS: u64 = 40;

/// AddrRF entries that loops and positions take.
const TAKEN: u64 = 14;

/// Cycles in which an engine overwrites the columns of a row of a window that lie beyond a limit.
const COLUMNS_BEYOND: u64 = 60;

impl Estimate<'_> {
    pub(super) fn tiles(&self, step: &TileStep, walker: &mut Walker) -> Cost {
        let pipeline = &self.plan.pipeline;
        let roots = stage_roots(pipeline, step.func, step.stage);
        let values: Vec<Expr> = match step.stage {
            Stage::Pure => roots,
            Stage::Update(k) => {
                let update = &pipeline.funcs[step.func].updates[k];
                let predicates = update.rdom.map_or(&[][..], |r| &pipeline.rdoms[r].predicates);
                update.values.iter().chain(predicates).copied().collect()
            }
        };
        let carried = step.nest.rdom.is_some();
        let local = match step.stage {
            Stage::Update(k) => in_place(pipeline, step.func, k),
            Stage::Pure => true,
        };
        let scans = match step.stage {
            Stage::Update(k) => recurrence(self.plan, step.func, k).is_some(),
            Stage::Pure => false,
        };
        let kept = match step.stage {
            Stage::Update(k) if !local => kept_planes(self.plan, self.machine, step.func, k),
            _ => None,
        };
        let own = match step.stage {
            Stage::Pure => None,
            Stage::Update(_) => Some((step.func, carried && (local || kept.is_some()))),
        };
        let mut sum = Body::default();
        for x_step in 0..step.nest.unroll[0] {
            let mut issue = Issue::new(self.plan, &self.times, Some(&step.nest), own, x_step);
            if let Some((_, intervals)) = &step.nest.rdom {
                let extents = intervals.iter().map(|i| u64::from(i.extent()));
                let rounds = extents.fold(1, u64::saturating_mul);
                issue.values(walker, &values);
                let mut each = issue.end();
                each.cycles += self.times.jump + each.of_row;
                // A scan that reads what is in registers waits for no store.
                if let Some(kept) = &kept {
                    let selected = u64::from(kept.count) * (2 + 2 * values.len() as u64);
                    each.cycles += selected;
                    each.instructions += selected;
                } else if !local && !scans {
                    each.cycles += self.times.bank + self.times.write_row;
                }
                each.cycles = each.cycles.saturating_mul(rounds.max(1));
                let planes = kept.as_ref().map_or(1, |kept| u64::from(kept.count));
                each.cycles = each.cycles.saturating_add(2 * planes * self.times.bank);
                add(&mut sum, each);
            } else {
                let ready = issue.values(walker, &values);
                for &target in &step.targets {
                    issue.store(target, ready);
                }
                add(&mut sum, issue.end());
            }
        }
        self.nest(&step.nest, sum)
    }

    /// The loops of a nest around bodies: one for each vector that is computed together.
    fn nest(&self, nest: &Nest, body: Body) -> Cost {
        let t = &self.times;
        let grid = &nest.tiles.grid;
        let [ux, uy] = nest.unroll.map(u64::from);
        let [width, height] = nest.tiles.tile.map(u64::from);
        let rows = u64::from(nest.block_rows);
        let planes: u64 = nest.region.iter().skip(2).map(|i| u64::from(i.extent())).product();
        let tiles = u64::from(grid.strips) * u64::from(grid.rows) * planes;
        let vectors = width / LANES as u64;
        let trips = (vectors / ux).max(1);
        // Up to two groups of vectors stand in a row's body, without a loop.
        let jumps = if trips <= 2 { 0 } else { trips * t.jump };
        let repeat = if trips <= 2 { trips } else { 1 };
        // Addresses that do not find an AddrRF entry are rematerialised each time.
        let offsets = body.offsets * repeat * uy;
        let free = u64::from(self.machine.registers.addr).saturating_sub(TAKEN);
        let spilled = offsets.saturating_sub(free);
        let literals = body.literals.saturating_sub(u64::from(self.machine.registers.data) / 2);
        let again = (spilled * t.constant + literals * t.bank) / (repeat * uy).max(1);
        let around = jumps + body.of_row * t.add / 2 + t.jump;
        let row = trips.saturating_mul(body.cycles.saturating_add(again)).saturating_add(around);
        let fills = self.fills(nest);
        let blocks = height / rows.max(1);
        let filling = fills.cycles() + if blocks > 1 { t.jump } else { 0 };
        let around = tiles.saturating_mul(2 * t.jump);
        let compute = rows.saturating_mul(row);
        let (tables, slices) = self.tables_filled(nest);
        // Slices are filled anew for some planes of each tile.
        let cuts = nest.cut().map_or(0, |(_, planes)| tiles / u64::from(planes));
        Cost {
            setup: (POSITION + offsets.min(free) + fills.setup) * t.constant + tables,
            windows: (tiles.saturating_mul(blocks).saturating_mul(filling))
                .saturating_add(cuts.saturating_mul(slices + t.jump)),
            compute: tiles.saturating_mul(blocks).saturating_mul(compute).saturating_add(around),
            moves: 0,
            code: 2 * POSITION + body.instructions * repeat * uy + 2 * offsets + fills.code + 40,
        }
    }

    /// Filling the windows of a block of rows. `setup` counts constants.
    fn fills(&self, nest: &Nest) -> Cost {
        let mut sum = Cost::default();
        for read in &nest.reads {
            sum += self.fill(nest, read);
        }
        if sum.windows > 0 {
            // The first read of a window waits until it is filled.
            sum.windows += self.times.bank + self.times.row;
        }
        Cost { setup: sum.setup, windows: sum.windows, code: sum.code, ..Cost::default() }
    }

    /// Cycles in which tables are brought to the scratchpads: once, and for each slice.
    fn tables_filled(&self, nest: &Nest) -> (u64, u64) {
        let engines = nest.tiles.grid.engines;
        let mut cycles = (0, 0);
        for table in nest.tables.values() {
            let each = u64::from((table.words / LANES as u32).div_ceil(engines));
            let all = each * (self.times.address + 2).max(self.times.bank_step) + self.times.bank;
            *(if table.slice.is_some() { &mut cycles.1 } else { &mut cycles.0 }) += all;
        }
        cycles
    }

    fn fill(&self, nest: &Nest, read: &Read) -> Cost {
        let Some(window) = &read.window else { return Cost::default() };
        let t = &self.times;
        let lanes = LANES as u64;
        let width = read.ratio[0].of(nest.tiles.tile[0].into()).unwrap_or(4) as u64;
        let left = u64::from((-read.reach[0].0).max(0) as u32).div_ceil(lanes);
        let right = u64::from(window.right).div_ceil(lanes);
        let atoms = width / lanes + left + right;
        let planes: u64 = read.inner_reach.iter().map(|(a, b)| (b - a + 1) as u64).product();
        let rows = u64::from(window.rows) * planes;
        // Two addresses and a load each; the load waits for its addresses.
        let atom = (t.address + 2).max(t.bank_step);
        // Rows are brought inside as addresses; engines overwrite columns beyond a limit, a row each.
        let lines = rows.div_ceil(u64::from(nest.tiles.grid.engines));
        let columns = if read.limits[0].is_some() { lines * COLUMNS_BEYOND } else { 0 };
        let edges = if read.limits == [None, None] { 0 } else { 30 + columns };
        Cost {
            setup: 2 * atoms + if read.patched { CORNERS } else { 0 },
            windows: rows * (atoms * atom + t.jump + 4) + t.row + edges,
            code: (3 * atoms + 12) * if edges > 0 { 3 } else { 1 },
            ..Cost::default()
        }
    }

    pub(super) fn reduce(&self, step: &ReduceStep, walker: &mut Walker) -> Cost {
        let t = &self.times;
        let mut issue = Issue::new(self.plan, &self.times, Some(&step.nest), None, 0);
        let roots: Vec<Expr> =
            step.args.iter().chain([&step.value]).chain(&step.predicates).copied().collect();
        let ready = issue.values(walker, &roots);
        // Each lane's part is read, combined and written by itself.
        let access = match step.parts {
            Parts::Bank(_) => 2 * t.bank,
            Parts::Pgsm { .. } => 2 * t.pgsm,
        };
        let rounds = if step.scattered { LANES as u64 } else { 1 };
        for _ in 0..rounds {
            let address = issue.run(5, ready, Last::Add) + t.transfer + t.pgsm;
            issue.run(3, address + access, Last::Add);
        }
        let mut cost = self.nest(&step.nest, issue.end());
        cost += self.merge(step);
        cost
    }

    pub(super) fn serial(&self, step: &SerialStep, walker: &mut Walker) -> Cost {
        let t = &self.times;
        let pipeline = &self.plan.pipeline;
        let data = &pipeline.funcs[step.func];
        let Some(bounds) = &self.plan.bounds.funcs[step.func] else { return Cost::default() };
        let (number, pure) = match step.stage {
            Stage::Pure => (0, vec![true; data.vars.len()]),
            Stage::Update(k) => {
                let update = &data.updates[k];
                let named = |d| update.is_pure_dim(pipeline, d);
                (k + 1, (0..update.args.len()).map(named).collect())
            }
        };
        let Some(loops) = &bounds.stages[number] else { return Cost::default() };
        let row = pure.first() == Some(&true);
        let extents = loops.dims.iter().zip(pure).filter(|(_, named)| *named).map(|(i, _)| i);
        let points =
            extents.chain(&loops.rvars).fold(1u64, |n, i| n.saturating_mul(u64::from(i.extent())));
        let roots = stage_roots(pipeline, step.func, step.stage);
        let mut issue = Issue::new(self.plan, t, None, None, 0);
        let ready = issue.values(walker, &roots);
        let stored = issue.run(6, ready, Last::Add) + t.bank + t.pgsm;
        issue.run(2, stored, Last::Logic);
        let body = issue.end();
        // Points of a row are computed together where the row is a dimension of the stage.
        let together = if row { LANES as u64 } else { 1 };
        let each = body.cycles + body.of_row + t.jump;
        Cost {
            setup: POSITION * t.constant + self.barrier(),
            compute: points.div_ceil(together).saturating_mul(each),
            code: body.instructions + body.of_row + 40,
            ..Cost::default()
        }
    }

    /// A barrier, where there is more than one vault.
    pub(super) fn barrier(&self) -> u64 {
        if self.machine.vaults() > 1 { self.times.barrier } else { 0 }
    }
}

fn add(sum: &mut Body, each: Body) {
    sum.cycles = sum.cycles.saturating_add(each.cycles);
    sum.instructions += each.instructions;
    sum.of_row += each.of_row;
    sum.offsets += each.offsets;
    sum.literals = sum.literals.max(each.literals);
}
