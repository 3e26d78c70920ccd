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
use std::rc::Rc;

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
                let atoms = columns.atoms * rows.count * columns.strips;
                parts.push((atoms, MOVE + REQUEST * remote * engines));
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
    let mut small = Vec::new();
    for (&d, list) in &parts {
        let is_small = |&&(columns, rows): &&(Columns, Rows)| {
            cx.size == Size::Fast && exchange.is_small(d, &columns, &rows)
        };
        small.extend(list.iter().filter(is_small).map(|&(columns, rows)| (d, columns, rows)));
        let large: Vec<_> = list.iter().filter(|part| !is_small(part)).collect();
        if large.is_empty() {
            continue;
        }
        let way = Rc::new(exchange.way(b, d));
        large.into_iter().for_each(|(columns, rows)| exchange.part(b, &way, (columns, rows)));
    }
    exchange.together(b, &small);
    finish_at(b, exit);
    b.terminate(Terminator::Return(vec![]));
    Some(kernel.finish(cx.full_mask()))
}

/// The greatest divisor of `n` up to `most`, 1 at least.
fn greatest_divisor(n: u32, most: u32) -> u32 {
    (1..=most).rev().find(|&k| n.is_multiple_of(k)).unwrap_or(1)
}

/// What is the same for all that comes from neighbours in one direction.
struct Way {
    /// Byte addresses in the scratchpad of this group's slot and of its neighbour's.
    own_slot: Value,
    their_slot: Value,
    remote: Vec<RemoteVault>,
    /// Bytes of the slots for an atom of each engine.
    unit: i64,
    /// Atoms that are exchanged together at most.
    batch: u32,
    /// From an address in the ghost zone to that of the element in its owner's bank.
    to_source: i64,
}

/// Atoms that are exchanged together.
struct Turn {
    way: Rc<Way>,
    /// The address in the ghost zone that they are counted from.
    there: Value,
    /// Bytes from there.
    atoms: Vec<i64>,
    /// The engines that have them.
    mask: u32,
    /// Bytes from the start of the scratchpad's data to their slots.
    place: i64,
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

    /// Bytes of the scratchpad for what is exchanged.
    fn room(&self) -> i64 {
        i64::from(self.cx.machine.memory.vsm_bytes - self.cx.plan.vsm_data)
    }

    /// Bytes of the slots for an atom of each engine, and how many atoms are exchanged together at most.
    fn unit_and_batch(&self, d: (i64, i64)) -> (i64, u32) {
        let (size, _) = self.slots(d);
        let unit = size[0] * size[1] * self.slot_bytes();
        (unit, (self.room() / unit).clamp(1, self.cx.batch.into()) as u32)
    }

    /// What is the same for all that comes from neighbours `d` groups away.
    fn way(&self, b: &mut Builder<'_>, d: (i64, i64)) -> Way {
        let (size, own) = self.slots(d);
        let (unit, batch) = self.unit_and_batch(d);
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
        let (tiled, grid) = (self.tiled, &self.tiled.grid);
        let to_source = -d.0 * i64::from(grid.strips) * i64::from(tiled.column_stride_bytes())
            - d.1 * i64::from(grid.rows * tiled.tile[1]) * i64::from(tiled.row_pitch_bytes());
        Way { own_slot, their_slot, remote, unit, batch, to_source }
    }

    fn mask(&self, columns: &Columns) -> u32 {
        piece_mask(self.cx.full_mask(), self.tiled.grid.engines, columns.engine)
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

    /// Whether all of a part can be exchanged at once.
    fn is_small(&self, d: (i64, i64), columns: &Columns, rows: &Rows) -> bool {
        let (_, batch) = self.unit_and_batch(d);
        self.planes() == 1 && columns.strips * columns.atoms * rows.count <= batch
    }

    /// Exchanges small parts, with all neighbours at once as far as there is room in the scratchpad and
    /// among the registers of the control core: whatever their number, the scratchpad is waited for
    /// once.
    fn together(&self, b: &mut Builder<'_>, parts: &[((i64, i64), Columns, Rows)]) {
        let registers = self.cx.machine.registers.ctrl as usize / 2;
        let (mut turns, mut count, mut place): (Vec<Turn>, usize, i64) = (vec![], 0, 0);
        let mut known: Option<((i64, i64), Rc<Way>)> = None;
        let mut held = 0;
        for &(d, columns, rows) in parts {
            let atoms = self.atoms(&columns, columns.strips, rows.count);
            let bytes = self.unit_and_batch(d).0 * atoms.len() as i64;
            let is_full = count + atoms.len() > self.cx.batch as usize
                || place + bytes > self.room()
                || held >= registers;
            if is_full {
                self.batch(b, &turns);
                (turns, count, place, known, held) = (vec![], 0, 0, None, 0);
            }
            let way = match known.take().filter(|(of, _)| *of == d) {
                Some((_, way)) => way,
                None => Rc::new(self.way(b, d)),
            };
            // A vault's place in the mesh, and whether there is one, for each; an address for each part.
            held += 1 + 3 * way.remote.len();
            known = Some((d, way.clone()));
            count += atoms.len();
            let there = self.start(b, &columns, &rows);
            turns.push(Turn { way, there, atoms, mask: self.mask(&columns), place });
            place += bytes;
        }
        self.batch(b, &turns);
    }

    /// Exchanges a part in as many turns as it takes.
    fn part(&self, b: &mut Builder<'_>, way: &Rc<Way>, (columns, rows): (&Columns, &Rows)) {
        let tiled = self.tiled;
        // Strips of few atoms are exchanged together.
        let most = (way.batch / (columns.atoms * rows.count)).clamp(1, columns.strips);
        let strips = greatest_divisor(columns.strips, most);
        // Every turn has as many rows, so that none beyond the last is touched.
        let most = (way.batch / columns.atoms).clamp(1, rows.count);
        let rows_a_turn = greatest_divisor(rows.count, most);
        let mask = self.mask(columns);
        b.counted_loop("plane", self.planes(), |b, plane| {
            b.counted_loop("strip", columns.strips / strips, |b, strip| {
                let start = self.start(b, columns, rows);
                let plane = times(b, plane, tiled.inner_stride_bytes().into());
                let stride = i64::from(strips) * i64::from(tiled.column_stride_bytes());
                let strip = times(b, strip, stride);
                let offset = b.iadd(plane, strip);
                b.counted_loop("rows", rows.count / rows_a_turn, |b, turn| {
                    let advance = i64::from(rows_a_turn) * i64::from(tiled.row_pitch_bytes());
                    let step = times(b, turn, advance);
                    let there = b.iadd(offset, step);
                    let there = b.iadd(there, start);
                    let all = self.atoms(columns, strips, rows_a_turn);
                    for atoms in all.chunks(way.batch as usize) {
                        let atoms = atoms.to_vec();
                        let way = way.clone();
                        self.batch(b, &[Turn { way, there, atoms, mask, place: 0 }]);
                    }
                });
            });
        });
    }

    fn batch(&self, b: &mut Builder<'_>, turns: &[Turn]) {
        let scalar = super::cx::scalar(self.buffer.element);
        let vector = Type { scalar, lanes: LANES as u8 };
        let mut values = Vec::new();
        for Turn { way, there, atoms, mask, .. } in turns {
            for atom in atoms {
                let address = plus(b, *there, atom + way.to_source);
                values.push(read(b, LD_RF, address, *mask, vector));
            }
        }
        let mut values = values.into_iter();
        for Turn { way, atoms, mask, place, .. } in turns {
            for (k, value) in (0..atoms.len()).zip(&mut values) {
                let slot = plus(b, way.own_slot, place + k as i64 * way.unit);
                write(b, WR_VSM, slot, value, *mask);
            }
        }
        for turn in turns {
            turn.way.remote.iter().for_each(|vault| vault.fetch(b, turn, self));
        }
        let mut values = Vec::new();
        for Turn { way, atoms, mask, place, .. } in turns {
            for k in 0..atoms.len() {
                let slot = plus(b, way.their_slot, place + k as i64 * way.unit);
                values.push(read(b, RD_VSM, slot, *mask, vector));
            }
        }
        let mut values = values.into_iter();
        for Turn { there, atoms, mask, .. } in turns {
            for (atom, value) in atoms.iter().zip(&mut values) {
                let address = plus(b, *there, *atom);
                write(b, ST_RF, address, value, *mask);
            }
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

    fn fetch(&self, b: &mut Builder<'_>, turn: &Turn, exchange: &Exchange<'_>) {
        let &Turn { ref way, there, ref atoms, mask, place } = turn;
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
                let address = plus(b, there, atom + way.to_source);
                let to = plus(b, to, k as i64 * way.unit);
                let args = vec![self.chip, self.vault, pg, pe, address, to];
                call(b, REQ, Effect::Write, args, vec![], None);
            }
        };
        let vsm = i64::from(exchange.cx.plan.vsm_data) + place;
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
