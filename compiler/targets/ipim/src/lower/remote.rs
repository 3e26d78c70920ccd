//! What control cores ask of other vaults while ghost zones are filled.

use nbcc_ir::{Block, BlockCall, Builder, Effect, IntCond, Op, Terminator, Value};
use nbcc_isa_ipim::ATOM_BYTES;
use nbcc_isa_ipim::layout::{Grid, Tiled};

use super::cx::Lowering;
use super::exchange::Turn;
use super::math::{div_rem, plus, times};
use super::position::vault_along;
use crate::intrinsics::{REQ, call};
use crate::kernel::Size;
use crate::memory;

/// Another vault at a fixed distance in the mesh, as the control core sees it.
pub(super) struct RemoteVault {
    chip: Value,
    vault: Value,
    /// Negative where there is no vault at that distance.
    exists: Value,
    /// Group in that vault, and slot here.
    slots: Vec<(u32, i64)>,
}

impl RemoteVault {
    pub(super) fn new(
        b: &mut Builder<'_>,
        grid: &Grid,
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

    /// Requests what groups of the vault read of its groups, where the vault exists.
    pub(super) fn fetch(&self, b: &mut Builder<'_>, turn: &Turn, cx: &Lowering<'_>, tiled: &Tiled) {
        let &Turn { there, ref atoms, to_source, mask, place, advance, slot, unit } = turn;
        let zero = b.i32(0);
        let exists = b.value(Op::Icmp(IntCond::Sge, self.exists, zero));
        let [fetch, join]: [Block; 2] = std::array::from_fn(|_| b.func.add_block());
        let to = |block| BlockCall { block, args: vec![] };
        b.terminate(Terminator::Branch(exists, to(fetch), to(join)));
        b.switch_to(fetch);
        let engines = (0..tiled.grid.engines).filter(|pe| mask >> pe & 1 == 1);
        let engines: Vec<u32> = engines.collect();
        let requests = |b: &mut Builder<'_>, pg: Value, pe: Value, to: Value| {
            for (k, &atom) in atoms.iter().enumerate() {
                let address = plus(b, there, atom + to_source);
                let to = plus(b, to, k as i64 * unit);
                let args = vec![self.chip, self.vault, pg, pe, address, to];
                call(b, REQ, Effect::Write, args, vec![], None);
            }
        };
        let vsm = i64::from(memory::data_begin(cx.machine)) + place;
        if cx.size < Size::Smallest {
            for &(pg, number) in &self.slots {
                for &pe in &engines {
                    let of_engine = i64::from((pe - engines[0]) * ATOM_BYTES);
                    let to = plus(b, advance, vsm + number * slot + of_engine);
                    let [pg, pe] = [pg, pe].map(|n| b.i32(n as i32));
                    requests(b, pg, pe, to);
                }
            }
        } else {
            self.each_slot(b, |b, pg, number| {
                let first = times(b, number, slot);
                let first = plus(b, first, vsm);
                let first = b.iadd(first, advance);
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
pub(crate) fn vault_id(b: &mut Builder<'_>, grid: &Grid, x: Value, y: Value) -> (Value, Value) {
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
