//! Ghost zones: every group receives the elements around its region from the groups that own them
//! (paper 001, sections IV-D and IV-E): within a vault through the vault's scratchpad, from other
//! vaults by `req` into the same place, so that one code reads both.
//!
//! A ghost element lies in the bank of the engine with the same number as its owner, in the column
//! and row it would have if the group's region went on. For a neighbour `(dx, dy)` groups away a
//! unit of exchange is one atom of each engine: every group writes its own atoms to its slot in the
//! scratchpad, `req` fills the slots of groups of other vaults, and every group reads the slot of
//! its neighbour.

use std::collections::BTreeMap;

use nbcc_ir::{Block, BlockCall, Builder, Effect, IntCond, Mem, Op, Terminator, Type, Value};
use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{ATOM_BYTES, INSTRUCTION_BYTES, LANES, Machine};

use super::cx::{KernelCx, Lowering};
use super::math::{div_rem, plus, times};
use super::position::{Position, finish_at, position, skip_idle_of, vault_along};
use super::window::piece_mask;
use crate::intrinsics::{LD_RF, RD_VSM, REQ, ST_RF, WR_VSM, base, call, read, write};
use crate::kernel::{Kernel, Size};
use crate::plan::{BufferId, BufferPlan, Columns, Plan, Rows, Step, parts_of, used};

/// Atoms exchanged together, so that their latencies overlap: what is read of a scratchpad waits for
/// all that is written to it.
const BATCH: u32 = 8;
/// The same where the exchanges of a program take a small part of the instruction memory.
const LARGE_BATCHES: [u32; 2] = [32, 16];
/// That part.
const PART: u32 = 6;
/// The same where code has to be small.
const COMPACT_BATCH: u32 = 2;
/// Instructions that move an atom by way of the vault's scratchpad, and those of a request.
const MOVE: u32 = 10;
const REQUEST: u32 = 3;

/// How many atoms the exchanges of a plan move together.
pub(crate) fn batch(plan: &Plan, machine: &Machine, size: Size) -> u32 {
    match size {
        Size::Fast => {}
        Size::Merged => return BATCH,
        Size::Compact | Size::Smallest => return COMPACT_BATCH,
    }
    let exchanged = |step: &Step| match step {
        Step::Exchange(buffer) => Some(&plan.buffers[*buffer]),
        _ => None,
    };
    // Atoms of each part, and instructions for one of them.
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for buffer in plan.steps.iter().filter_map(exchanged) {
        let grid = &buffer.tiled().grid;
        for ((dx, dy), list) in parts_of(buffer, buffer.tiled()) {
            let [x, y] = grid.groups;
            let [inner_x, inner_y] = [(x, dx), (y, dy)]
                .map(|(groups, d)| groups.saturating_sub(d.unsigned_abs() as u32));
            let remote = x * y - inner_x * inner_y;
            for (columns, rows) in list {
                let mask = piece_mask(machine.full_mask(), grid.engines, columns.engine);
                let engines = (0..grid.engines).filter(|pe| mask >> pe & 1 == 1).count() as u32;
                parts.push((columns.atoms * rows.count, MOVE + REQUEST * remote * engines));
            }
        }
    }
    let room = plan.vsm_data / INSTRUCTION_BYTES / PART;
    let instructions = |batch: u32| -> u64 {
        parts.iter().map(|&(atoms, each)| u64::from(atoms.min(batch)) * u64::from(each)).sum()
    };
    let fits = |&batch: &u32| instructions(batch) <= u64::from(room);
    LARGE_BATCHES.into_iter().find(fits).unwrap_or(BATCH)
}

/// Lowers the exchange of a buffer's ghost zones. `None` where there is nothing to exchange.
pub(crate) fn lower(cx: &mut Lowering<'_>, id: BufferId) -> Option<Kernel> {
    let plan = cx.plan;
    let buffer = &plan.buffers[id];
    let tiled = buffer.tiled();
    let parts = parts_of(buffer, tiled);
    if parts.is_empty() {
        return None;
    }
    let computed = buffer.role != Some(nbcc_isa_ipim::layout::Role::Input);
    let phase = (computed && cx.several_vaults()).then(|| cx.next_phase());
    let mut kernel = KernelCx::new(cx, &format!("{}.ghosts", buffer.name.replace('.', "_")));
    kernel.sync = phase;
    let mem = kernel.buffer(plan, id);
    let cx: &Lowering<'_> = cx;
    let exit = kernel.func.add_block();
    let b = &mut cx.builder(&mut kernel.func);
    let grid = &tiled.grid;
    let busy = [0, 1].map(|k| {
        let size = [grid.strips * grid.engines, grid.rows][k] * tiled.tile[k] * grid.groups[k];
        let last = buffer.region.get(k).map_or(0, |i| i64::from(i.max));
        // Ghost zones of the vault behind the last element may be read too.
        let reach = [buffer.reach_x[0], tiled.ghost_rows[0]][k];
        used(tiled.origin[k].into(), size.into(), last + i64::from(reach))
    });
    skip_idle_of(b, busy, grid, exit);
    let exchange = Exchange { cx, buffer, mem, tiled, position: position(b, grid) };
    for ((dx, dy), list) in &parts {
        exchange.neighbour(b, (*dx, *dy), list);
    }
    finish_at(b, exit);
    b.terminate(Terminator::Return(vec![]));
    Some(kernel.finish(cx.full_mask()))
}

struct Exchange<'a> {
    cx: &'a Lowering<'a>,
    buffer: &'a BufferPlan,
    mem: Mem,
    tiled: &'a Tiled,
    position: Position,
}

impl Exchange<'_> {
    /// Slots of the groups of the vault and of the neighbours they read: columns, rows, and the
    /// slot of the vault's first group.
    fn slots(&self, (dx, dy): (i64, i64)) -> ([i64; 2], [i64; 2]) {
        let groups = self.tiled.grid.groups.map(i64::from);
        let size = [groups[0] + dx.abs(), groups[1] + dy.abs()];
        (size, [(-dx).max(0), (-dy).max(0)])
    }

    /// Bytes of all slots for one atom of each engine.
    fn slot_bytes(&self) -> i64 {
        i64::from(self.tiled.grid.engines * ATOM_BYTES)
    }

    fn neighbour(&self, b: &mut Builder<'_>, d: (i64, i64), parts: &[(Columns, Rows)]) {
        let (size, own) = self.slots(d);
        let unit = size[0] * size[1] * self.slot_bytes();
        let room = i64::from(self.cx.machine.memory.vsm_bytes - self.cx.plan.vsm_data);
        let batch = (room / unit).clamp(1, self.cx.batch.into()) as u32;
        // Byte address of this group's slot and of its neighbour's.
        let row = times(b, self.position.group_y, size[0] * self.slot_bytes());
        let column = times(b, self.position.group_x, self.slot_bytes());
        let engine = times(b, self.position.pe, ATOM_BYTES.into());
        let slot = b.iadd(row, column);
        let slot = b.iadd(slot, engine);
        let vsm = i64::from(self.cx.plan.vsm_data);
        let own_slot = plus(b, slot, vsm + (own[1] * size[0] + own[0]) * self.slot_bytes());
        let their = (own[1] + d.1) * size[0] + own[0] + d.0;
        let their_slot = plus(b, slot, vsm + their * self.slot_bytes());
        let remote = self.remote_vaults(b, d);
        for (columns, rows) in parts {
            let inner: u32 = self.buffer.inner_extents().iter().product();
            b.counted_loop("plane", inner, |b, plane| {
                b.counted_loop("strip", columns.strips, |b, strip| {
                    self.run(
                        b,
                        d,
                        (columns, rows),
                        (plane, strip),
                        (own_slot, their_slot),
                        &remote,
                        (unit, batch),
                    );
                });
            });
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        b: &mut Builder<'_>,
        (dx, dy): (i64, i64),
        (columns, rows): (&Columns, &Rows),
        (plane, strip): (Value, Value),
        (own_slot, their_slot): (Value, Value),
        remote: &[RemoteVault],
        (unit, batch): (i64, u32),
    ) {
        let tiled = self.tiled;
        let grid = &tiled.grid;
        let mask = piece_mask(self.cx.full_mask(), grid.engines, columns.engine);
        let to_source = -dx * i64::from(grid.strips) * i64::from(tiled.column_stride_bytes())
            - dy * i64::from(grid.rows * tiled.tile[1]) * i64::from(tiled.row_pitch_bytes());
        // The rows of a run of atoms follow each other: `atoms` of one row, then the next row.
        // Every turn has as many rows, so that none beyond the last is touched.
        let most = (batch / columns.atoms).clamp(1, rows.count);
        let rows_a_batch = (1..=most).rev().find(|n| rows.count.is_multiple_of(*n)).unwrap_or(1);
        let turns = rows.count / rows_a_batch;
        let start = base(b, self.mem);
        let first = tiled.offset_bytes(0, columns.strip as i32, rows.first as i32, columns.first);
        let start = plus(b, start, first);
        let plane = times(b, plane, tiled.inner_stride_bytes().into());
        let strip = times(b, strip, tiled.column_stride_bytes().into());
        let offset = b.iadd(plane, strip);
        b.counted_loop("rows", turns, |b, turn| {
            let advance = i64::from(rows_a_batch) * i64::from(tiled.row_pitch_bytes());
            let step = times(b, turn, advance);
            let there = b.iadd(offset, step);
            let there = b.iadd(there, start);
            let mut done = 0;
            let all: Vec<i64> = (0..rows_a_batch)
                .flat_map(|r| (0..columns.atoms).map(move |a| (r, a)))
                .map(|(r, a)| i64::from(r * tiled.row_pitch_bytes()) + i64::from(a * ATOM_BYTES))
                .collect();
            while done < all.len() {
                let some = &all[done..(done + batch as usize).min(all.len())];
                self.batch(b, there, some, mask, to_source, (own_slot, their_slot), remote, unit);
                done += some.len();
            }
        });
    }

    #[allow(clippy::too_many_arguments)]
    fn batch(
        &self,
        b: &mut Builder<'_>,
        there: Value,
        atoms: &[i64],
        mask: u32,
        to_source: i64,
        (own_slot, their_slot): (Value, Value),
        remote: &[RemoteVault],
        unit: i64,
    ) {
        let scalar = super::cx::scalar(self.buffer.element);
        let vector = Type { scalar, lanes: LANES as u8 };
        let mut values = Vec::new();
        for &atom in atoms {
            let address = plus(b, there, atom + to_source);
            values.push(read(b, LD_RF, address, mask, vector));
        }
        for (k, &value) in values.iter().enumerate() {
            let slot = plus(b, own_slot, k as i64 * unit);
            write(b, WR_VSM, slot, value, mask);
        }
        for vault in remote {
            vault.fetch(b, there, atoms, mask, to_source, unit, self);
        }
        let mut values = Vec::new();
        for k in 0..atoms.len() {
            let slot = plus(b, their_slot, k as i64 * unit);
            values.push(read(b, RD_VSM, slot, mask, vector));
        }
        for (&atom, &value) in atoms.iter().zip(&values) {
            let address = plus(b, there, atom);
            write(b, ST_RF, address, value, mask);
        }
    }

    /// The vaults that hold neighbours of this vault's groups, but itself.
    fn remote_vaults(&self, b: &mut Builder<'_>, d: (i64, i64)) -> Vec<RemoteVault> {
        let grid = &self.tiled.grid;
        let groups = grid.groups.map(i64::from);
        let (size, own) = self.slots(d);
        let mut vaults: BTreeMap<(i64, i64), Vec<(u32, i64)>> = BTreeMap::new();
        for y in 0..groups[1] {
            for x in 0..groups[0] {
                let (nx, ny) = (x + d.0, y + d.1);
                let vault = (nx.div_euclid(groups[0]), ny.div_euclid(groups[1]));
                if vault == (0, 0) {
                    continue;
                }
                let pg = ny.rem_euclid(groups[1]) * groups[0] + nx.rem_euclid(groups[0]);
                let slot = (ny + own[1]) * size[0] + nx + own[0];
                vaults.entry(vault).or_default().push((pg as u32, slot));
            }
        }
        let mesh = [grid.cubes[0] * grid.vaults[0], grid.cubes[1] * grid.vaults[1]];
        let away = |(vx, vy): (i64, i64)| vx.abs() < mesh[0].into() && vy.abs() < mesh[1].into();
        vaults
            .into_iter()
            .filter(|(offset, _)| away(*offset))
            .map(|(offset, slots)| RemoteVault::new(b, grid, offset, slots))
            .collect()
    }
}

/// Another vault at a fixed distance in the mesh, as the control core sees it.
struct RemoteVault {
    chip: Value,
    vault: Value,
    /// Negative where there is no vault at that distance.
    exists: Value,
    /// Group in that vault, and slot here.
    slots: Vec<(u32, i64)>,
}

impl RemoteVault {
    fn new(
        b: &mut Builder<'_>,
        grid: &nbcc_isa_ipim::layout::Grid,
        (dx, dy): (i64, i64),
        slots: Vec<(u32, i64)>,
    ) -> RemoteVault {
        let mesh = [grid.cubes[0] * grid.vaults[0], grid.cubes[1] * grid.vaults[1]];
        let x = vault_along(b, grid, 0);
        let y = vault_along(b, grid, 1);
        let x = plus(b, x, dx);
        let y = plus(b, y, dy);
        // Negative where a coordinate is negative or behind the last.
        let mut missing = b.binary(nbcc_ir::BinaryOp::Or, x, y);
        for (coordinate, count) in [(x, mesh[0]), (y, mesh[1])] {
            let last = b.i32(count as i32 - 1);
            let behind = b.binary(nbcc_ir::BinaryOp::Isub, last, coordinate);
            missing = b.binary(nbcc_ir::BinaryOp::Or, missing, behind);
        }
        let (chip, vault) = vault_id(b, grid, x, y);
        RemoteVault { chip, vault, exists: missing, slots }
    }

    #[allow(clippy::too_many_arguments)]
    fn fetch(
        &self,
        b: &mut Builder<'_>,
        there: Value,
        atoms: &[i64],
        mask: u32,
        to_source: i64,
        unit: i64,
        exchange: &Exchange<'_>,
    ) {
        let zero = b.i32(0);
        let exists = b.value(Op::Icmp(IntCond::Sge, self.exists, zero));
        let [fetch, join]: [Block; 2] = std::array::from_fn(|_| b.func.add_block());
        let to = |block| BlockCall { block, args: vec![] };
        b.terminate(Terminator::Branch(exists, to(fetch), to(join)));
        b.switch_to(fetch);
        let engines = (0..exchange.tiled.grid.engines).filter(|pe| mask >> pe & 1 == 1);
        let engines: Vec<u32> = engines.collect();
        let requests = |b: &mut Builder<'_>, pg: Value, pe: Value, to: Value| {
            for (k, &atom) in atoms.iter().enumerate() {
                let address = plus(b, there, atom + to_source);
                let to = plus(b, to, k as i64 * unit);
                let args = vec![self.chip, self.vault, pg, pe, address, to];
                call(b, REQ, Effect::Write, args, vec![], None);
            }
        };
        let vsm = i64::from(exchange.cx.plan.vsm_data);
        if exchange.cx.size < Size::Smallest {
            for &(pg, slot) in &self.slots {
                for &pe in &engines {
                    let to = vsm + slot * exchange.slot_bytes() + i64::from(pe * ATOM_BYTES);
                    let [pg, pe, to] = [i64::from(pg), pe.into(), to].map(|n| b.i32(n as i32));
                    requests(b, pg, pe, to);
                }
            }
        } else {
            let slot = i64::from(engines[0] * ATOM_BYTES) + vsm;
            self.each_slot(b, |b, pg, number| {
                let first = times(b, number, exchange.slot_bytes());
                let first = plus(b, first, slot);
                b.counted_loop("engine", engines.len() as u32, |b, counter| {
                    let offset = times(b, counter, ATOM_BYTES.into());
                    let to = b.iadd(first, offset);
                    let pe = plus(b, counter, engines[0].into());
                    requests(b, pg, pe, to);
                });
            });
        }
        b.jump(join, vec![]);
        b.func.layout.retain(|&block| block != join);
        b.func.layout.push(join);
        b.switch_to(join);
    }

    /// Loops over the groups and their slots, which are those of a rectangle of groups, row by row.
    fn each_slot(&self, b: &mut Builder<'_>, mut body: impl FnMut(&mut Builder<'_>, Value, Value)) {
        let (first_pg, first_slot) = self.slots[0];
        let next = |(pg, slot): (u32, i64)| (pg + 1, slot + 1);
        let row = self.slots.windows(2).position(|two| two[1] != next(two[0]));
        let columns = row.map_or(self.slots.len(), |last| last + 1);
        let (pg, slot) = self.slots.get(columns).copied().unwrap_or(self.slots[0]);
        let pitch = [i64::from(pg) - i64::from(first_pg), slot - first_slot];
        b.counted_loop("row", (self.slots.len() / columns) as u32, |b, y| {
            let [pg, slot] = pitch.map(|pitch| times(b, y, pitch));
            let pg = plus(b, pg, first_pg.into());
            let slot = plus(b, slot, first_slot);
            b.counted_loop("column", columns as u32, |b, x| {
                let pg = b.iadd(pg, x);
                let slot = b.iadd(slot, x);
                body(b, pg, slot);
            });
        });
    }
}

/// Cube and vault id of the vault at a place of the mesh of all vaults.
pub(crate) fn vault_id(
    b: &mut Builder<'_>,
    grid: &nbcc_isa_ipim::layout::Grid,
    x: Value,
    y: Value,
) -> (Value, Value) {
    // Places outside the mesh are never used; they only have to stay small.
    let small = b.i32(0xfff);
    let x = b.binary(nbcc_ir::BinaryOp::And, x, small);
    let y = b.binary(nbcc_ir::BinaryOp::And, y, small);
    let (cube_x, vault_x) = div_rem(b, x, grid.vaults[0], 0xfff);
    let (cube_y, vault_y) = div_rem(b, y, grid.vaults[1], 0xfff);
    let cubes = times(b, cube_y, grid.cubes[0].into());
    let vaults = times(b, vault_y, grid.vaults[0].into());
    (b.iadd(cubes, cube_x), b.iadd(vaults, vault_x))
}
