//! Ghost zones: every group receives the elements around its region from the groups that own them
//! (iPIM paper, sections IV-D and IV-E): within a vault through the vault's scratchpad, from other
//! vaults by `req` into the same place, so that one code reads both.
//!
//! A ghost element lies in the bank of the engine with the same number as its owner, in the column
//! and row it would have if the group's region went on. For a neighbour `(dx, dy)` groups away a
//! unit of exchange is one atom of each engine: every group writes its own atoms to its slot in the
//! scratchpad, `req` fills the slots of groups of other vaults, and every group reads the slot of
//! its neighbour.

use std::collections::BTreeMap;

use nbcc_ir::{Builder, Mem, Terminator, Type, Value};
use nbcc_isa_ipim::layout::Tiled;
use nbcc_isa_ipim::{ATOM_BYTES, LANES, Machine};

use super::border;
use super::cx::{KernelCx, Lowering};
use super::math::{plus, times};
use super::position::{Position, finish_at, position, skip_idle_of};
use super::remote::RemoteVault;
use super::window::piece_mask;
use crate::intrinsics::{LD_RF, RD_VSM, ST_RF, WR_VSM, base, read, write};
use crate::kernel::{Kernel, Size};
use crate::memory;
use crate::plan::{
    BufferId, BufferPlan, Columns, Plan, Rows, Step, fills, greatest_divisor, parts_of, used,
};

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
        Size::Rolled | Size::Compact | Size::Smallest => return COMPACT_BATCH,
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
                let atoms = columns.atoms * rows.count * columns.strips;
                parts.push((atoms, MOVE + REQUEST * remote * engines));
            }
        }
    }
    let room = memory::code_room(machine) / PART;
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
    if !fills(buffer) {
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
        let reach = [buffer.reach_x[0], tiled.ghost_rows[0]][k] + buffer.border_behind()[k];
        used(tiled.origin[k].into(), size.into(), last + i64::from(reach))
    });
    skip_idle_of(b, busy, grid, exit);
    let exchange = Exchange { cx, buffer, mem, tiled, position: position(b, grid) };
    let (mut round, mut place) = (Vec::new(), 0);
    for (&d, list) in &parts {
        for &(columns, rows) in list {
            let part = Part { d, columns, rows, place: 0, whole: false };
            let bytes = exchange.bytes(&part);
            if cx.size > Size::Fast || bytes > exchange.room() {
                exchange.by_turns(b, &part);
                continue;
            }
            if place + bytes > exchange.room() {
                exchange.round(b, &std::mem::take(&mut round));
                place = 0;
            }
            round.push(Part { place, whole: true, ..part });
            place += bytes;
        }
    }
    exchange.round(b, &round);
    border::fill(b, cx, buffer, mem);
    finish_at(b, exit);
    b.terminate(Terminator::Return(vec![]));
    Some(kernel.finish(cx.full_mask()))
}

/// What a neighbour owns of a ghost zone.
#[derive(Clone, Copy)]
struct Part {
    /// Groups to the neighbour, along x and y.
    d: (i64, i64),
    columns: Columns,
    rows: Rows,
    /// Bytes from the start of the scratchpad's data to its slots.
    place: i64,
    /// Whether each of its atoms has slots of its own, not only each of a turn.
    whole: bool,
}

/// Atoms of a part that are exchanged without a loop.
pub(super) struct Turn {
    /// The address in the ghost zone that they are counted from.
    pub there: Value,
    /// Bytes from there.
    pub atoms: Vec<i64>,
    /// From an address in the ghost zone to that of the element in its owner's bank.
    pub to_source: i64,
    /// The engines that have them.
    pub mask: u32,
    /// Bytes from the start of the scratchpad's data to their slots, and bytes beyond that.
    pub place: i64,
    pub advance: Value,
    /// Bytes of a slot, and of all slots for an atom of each engine.
    pub slot: i64,
    pub unit: i64,
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

    /// Bytes of a slot: an atom of each engine that has some of the part.
    fn slot_bytes(&self, columns: &Columns) -> i64 {
        let engines = if columns.engine.is_some() { 1 } else { self.tiled.grid.engines };
        i64::from(engines * ATOM_BYTES)
    }

    /// Bytes of the scratchpad for what is exchanged.
    fn room(&self) -> i64 {
        memory::data_bytes(self.cx.machine).into()
    }

    /// Bytes of all slots for one atom of each engine, and how many atoms are exchanged together at most.
    fn unit_and_batch(&self, part: &Part) -> (i64, u32) {
        let (size, _) = self.slots(part.d);
        let unit = size[0] * size[1] * self.slot_bytes(&part.columns);
        (unit, (self.room() / unit).clamp(1, self.cx.batch.into()) as u32)
    }

    /// Byte addresses in the scratchpad of this group's slot, and of that of its neighbour.
    fn own_and_their_slot(&self, b: &mut Builder<'_>, part: &Part) -> [Value; 2] {
        let (size, own) = self.slots(part.d);
        let bytes = self.slot_bytes(&part.columns);
        let row = times(b, self.position.group_y, size[0] * bytes);
        let column = times(b, self.position.group_x, bytes);
        let mut slot = b.iadd(row, column);
        if part.columns.engine.is_none() {
            let engine = times(b, self.position.pe, ATOM_BYTES.into());
            slot = b.iadd(slot, engine);
        }
        let vsm = i64::from(memory::data_begin(self.cx.machine));
        let own = own[1] * size[0] + own[0];
        let their = own + part.d.1 * size[0] + part.d.0;
        [own, their].map(|number| plus(b, slot, vsm + number * bytes))
    }

    /// From an address in the ghost zone to that of the element in its owner's bank.
    fn to_source(&self, d: (i64, i64)) -> i64 {
        let (tiled, grid) = (self.tiled, &self.tiled.grid);
        -d.0 * i64::from(grid.strips) * i64::from(tiled.column_stride_bytes())
            - d.1 * i64::from(grid.rows * tiled.tile[1]) * i64::from(tiled.row_pitch_bytes())
    }

    /// Bytes of the slots for all atoms of a part.
    fn bytes(&self, part: &Part) -> i64 {
        let (unit, _) = self.unit_and_batch(part);
        let atoms = part.columns.strips * part.columns.atoms * part.rows.count;
        unit * i64::from(atoms) * i64::from(self.planes())
    }

    /// Where the first atom of a part lies.
    fn start(&self, b: &mut Builder<'_>, columns: &Columns, rows: &Rows) -> Value {
        let start = base(b, self.mem);
        let strip = columns.strip as i32;
        plus(b, start, self.tiled.offset_bytes(0, strip, rows.first as i32, columns.first))
    }

    /// How far from the first the atoms of so many strips and rows are: row by row.
    fn atoms(&self, columns: &Columns, strips: u32, rows: u32) -> Vec<i64> {
        let [column, row] = [self.tiled.column_stride_bytes(), self.tiled.row_pitch_bytes()];
        let mut atoms = Vec::new();
        for (strip, row) in (0..strips).flat_map(|s| (0..rows).map(move |r| (s * column, r * row)))
        {
            let first = i64::from(strip) + i64::from(row);
            atoms.extend((0..columns.atoms).map(|atom| first + i64::from(atom * ATOM_BYTES)));
        }
        atoms
    }

    fn planes(&self) -> u32 {
        self.buffer.inner_extents().iter().product()
    }

    /// Does something with a part, in as many turns as it takes.
    fn turns(
        &self,
        b: &mut Builder<'_>,
        part: &Part,
        mut each: impl FnMut(&mut Builder<'_>, Turn),
    ) {
        let Part { d, columns, rows, place, whole } = *part;
        let tiled = self.tiled;
        let (unit, batch) = self.unit_and_batch(part);
        // Strips of few atoms are exchanged together.
        let most = (batch / (columns.atoms * rows.count)).clamp(1, columns.strips);
        let strips = greatest_divisor(columns.strips, most);
        // Every turn has as many rows, so that none beyond the last is touched.
        let most = (batch / columns.atoms).clamp(1, rows.count);
        let rows_a_turn = greatest_divisor(rows.count, most);
        let [strip_turns, row_turns] = [columns.strips / strips, rows.count / rows_a_turn];
        let all = self.atoms(&columns, strips, rows_a_turn);
        let slot = self.slot_bytes(&columns);
        let slots = if whole { unit * all.len() as i64 } else { 0 };
        let mask = piece_mask(self.cx.full_mask(), tiled.grid.engines, columns.engine);
        b.counted_loop("plane", self.planes(), |b, plane| {
            b.counted_loop("strip", strip_turns, |b, strip| {
                let start = self.start(b, &columns, &rows);
                let stride = i64::from(strips) * i64::from(tiled.column_stride_bytes());
                let offset = times(b, plane, tiled.inner_stride_bytes().into());
                let along = times(b, strip, stride);
                let offset = b.iadd(offset, along);
                let before = times(b, plane, slots * i64::from(strip_turns * row_turns));
                let along = times(b, strip, slots * i64::from(row_turns));
                let before = b.iadd(before, along);
                b.counted_loop("rows", row_turns, |b, turn| {
                    let advance = i64::from(rows_a_turn) * i64::from(tiled.row_pitch_bytes());
                    let step = times(b, turn, advance);
                    let there = b.iadd(offset, step);
                    let there = b.iadd(there, start);
                    let step = times(b, turn, slots);
                    let advance = b.iadd(before, step);
                    for (k, atoms) in all.chunks(batch as usize).enumerate() {
                        let chunk = if whole { i64::from(batch) * unit * k as i64 } else { 0 };
                        let to_source = self.to_source(d);
                        let (atoms, place) = (atoms.to_vec(), place + chunk);
                        each(b, Turn { there, atoms, to_source, mask, place, advance, slot, unit });
                    }
                });
            });
        });
    }

    /// Exchanges parts that all have slots: what is asked of other vaults is under way while groups
    /// write what they own, and the scratchpad is waited for once.
    fn round(&self, b: &mut Builder<'_>, parts: &[Part]) {
        for part in parts {
            let remote = self.remote_vaults(b, part);
            self.turns(b, part, |b, turn| {
                remote.iter().for_each(|vault| vault.fetch(b, &turn, self.cx, self.tiled))
            });
        }
        for part in parts {
            let offered = self.offered(part.d);
            if offered == 0 {
                continue;
            }
            let [own, _] = self.own_and_their_slot(b, part);
            self.turns(b, part, |b, turn| self.offer(b, &turn, own, offered));
        }
        for part in parts {
            let [_, their] = self.own_and_their_slot(b, part);
            self.turns(b, part, |b, turn| self.take(b, &turn, their));
        }
    }

    /// Exchanges a part for which there is less room in the scratchpad.
    fn by_turns(&self, b: &mut Builder<'_>, part: &Part) {
        let [own, their] = self.own_and_their_slot(b, part);
        let remote = self.remote_vaults(b, part);
        let offered = self.offered(part.d);
        self.turns(b, part, |b, turn| {
            if offered != 0 {
                self.offer(b, &turn, own, offered);
            }
            remote.iter().for_each(|vault| vault.fetch(b, &turn, self.cx, self.tiled));
            self.take(b, &turn, their);
        });
    }

    /// The address of the slots of the atoms of a turn, from that of the first atom of all.
    fn slots_of(&self, b: &mut Builder<'_>, turn: &Turn, first: Value) -> Vec<Value> {
        let first = b.iadd(first, turn.advance);
        let slot = |k: usize| turn.place + k as i64 * turn.unit;
        (0..turn.atoms.len()).map(|k| plus(b, first, slot(k))).collect()
    }

    /// The engines of groups that have what others of their vault read, which are `d` groups before them.
    fn offered(&self, (dx, dy): (i64, i64)) -> u32 {
        let grid = &self.tiled.grid;
        let [columns, rows] = grid.groups.map(i64::from);
        let is_read = |group: i64| {
            let (x, y) = (group % columns - dx, group / columns - dy);
            (0..columns).contains(&x) && (0..rows).contains(&y)
        };
        let engines = (0..columns * rows * i64::from(grid.engines))
            .filter(|engine| is_read(engine / i64::from(grid.engines)));
        engines.fold(0, |mask, engine| mask | 1 << engine)
    }

    /// Groups write the atoms they own to their slots.
    fn offer(&self, b: &mut Builder<'_>, turn: &Turn, own_slot: Value, engines: u32) {
        let mask = turn.mask & engines;
        let scalar = super::cx::scalar(self.buffer.element);
        let vector = Type { scalar, lanes: LANES as u8 };
        let addresses = turn.atoms.iter().map(|atom| plus(b, turn.there, atom + turn.to_source));
        let addresses: Vec<_> = addresses.collect();
        let values: Vec<_> =
            addresses.into_iter().map(|a| read(b, LD_RF, a, mask, vector)).collect();
        for (slot, value) in self.slots_of(b, turn, own_slot).into_iter().zip(values) {
            write(b, WR_VSM, slot, value, mask);
        }
    }

    /// Every group reads the slots of its neighbour into its ghost zone.
    fn take(&self, b: &mut Builder<'_>, turn: &Turn, their_slot: Value) {
        let scalar = super::cx::scalar(self.buffer.element);
        let vector = Type { scalar, lanes: LANES as u8 };
        let slots = self.slots_of(b, turn, their_slot);
        let values: Vec<_> =
            slots.into_iter().map(|slot| read(b, RD_VSM, slot, turn.mask, vector)).collect();
        for (atom, value) in turn.atoms.iter().zip(values) {
            let address = plus(b, turn.there, *atom);
            write(b, ST_RF, address, value, turn.mask);
        }
    }

    /// The vaults that hold neighbours of this vault's groups, but itself.
    fn remote_vaults(&self, b: &mut Builder<'_>, part: &Part) -> Vec<RemoteVault> {
        let d = part.d;
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
