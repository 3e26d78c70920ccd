//! Where an engine and its group are in the grid of tiles, and the vaults that have nothing to do.

use nbcc_ir::{BinaryOp, Block, BlockCall, Builder, IntCond, Op, Terminator, Value};
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::layout::Grid;

use super::math::{div_rem, plus, times};
use crate::intrinsics::{CHIP, PE, PG, VAULT, VAULT_COLUMN, VAULT_ROW, id};

/// Where an engine is; every value differs between engines or vaults.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The engine's number in its group.
    pub pe: Value,
    /// Column of the group in its vault.
    pub group_x: Value,
    /// Row of the group in its vault.
    pub group_y: Value,
    /// Column of the vault among all vaults.
    pub vault_x: Value,
    /// Row of the vault among all vaults.
    pub vault_y: Value,
}

/// Computes where the engine is, in its address registers.
pub fn position(b: &mut Builder<'_>, grid: &Grid) -> Position {
    let pe = id(b, PE);
    let pg = id(b, PG);
    let vault = id(b, VAULT);
    let chip = id(b, CHIP);
    let (group_y, group_x) = div_rem(b, pg, grid.groups[0], 1 << 10);
    let (vault_row, vault_column) = div_rem(b, vault, grid.vaults[0], 1 << 10);
    let (chip_row, chip_column) = div_rem(b, chip, grid.cubes[0], 1 << 10);
    let cube_x = times(b, chip_column, grid.vaults[0].into());
    let cube_y = times(b, chip_row, grid.vaults[1].into());
    let vault_x = b.iadd(cube_x, vault_column);
    let vault_y = b.iadd(cube_y, vault_row);
    Position { pe, group_x, group_y, vault_x, vault_y }
}

impl Position {
    /// Column and row of the group among all groups.
    pub fn group(&self, b: &mut Builder<'_>, grid: &Grid) -> (Value, Value) {
        let x = times(b, self.vault_x, grid.groups[0].into());
        let y = times(b, self.vault_y, grid.groups[1].into());
        (b.iadd(x, self.group_x), b.iadd(y, self.group_y))
    }
}

/// `coordinate = origin + group * size`, the first coordinate of a group's region.
pub fn group_start(b: &mut Builder<'_>, group: Value, size: i64, origin: i64) -> Value {
    let offset = times(b, group, size);
    plus(b, offset, origin)
}

/// Columns and rows of the mesh of all vaults that tiles go to.
pub fn mesh(grid: &Grid) -> [u32; 2] {
    [0, 1].map(|k| grid.cubes[k] * grid.vaults[k])
}

/// Columns and rows of the mesh of all vaults of a machine.
pub fn mesh_of(machine: &Machine) -> [u32; 2] {
    let (cubes, vaults) = (machine.cube_mesh(), machine.vault_mesh());
    [0, 1].map(|k| cubes[k] * vaults[k])
}

/// Column (0) or row (1) of the vault among those that tiles go to, as the control core knows it.
/// Vaults that stand in one row or one column of the grid, whatever their mesh is, are counted through.
pub fn vault_along(b: &mut Builder<'_>, grid: &Grid, k: usize) -> Value {
    let line = match mesh(grid) {
        [1, 1] => None,
        [_, 1] => Some(0),
        [1, _] => Some(1),
        _ => None,
    };
    let Some(line) = line else { return id(b, [VAULT_COLUMN, VAULT_ROW][k]) };
    if k != line {
        return b.i32(0);
    }
    let (chip, vault) = (id(b, CHIP), id(b, VAULT));
    let before = times(b, chip, grid.vaults[line].into());
    b.iadd(before, vault)
}

/// Lets vaults that are not among the first `columns` and `rows` of a grid go on behind `exit`.
pub fn skip_idle_of(b: &mut Builder<'_>, busy: [u32; 2], grid: &Grid, exit: Block) {
    for (k, (count, total)) in busy.into_iter().zip(mesh(grid)).enumerate() {
        if count < total || b.keeps_identities() {
            let place = vault_along(b, grid, k);
            skip_behind(b, place, count, exit);
        }
    }
}

/// Goes on behind `exit` where a place is not among the first `count`.
pub fn skip_behind(b: &mut Builder<'_>, place: Value, count: u32, exit: Block) {
    let count = b.i32(count as i32);
    let busy = b.value(Op::Icmp(IntCond::Slt, place, count));
    let then = b.func.add_block();
    let to = |block| BlockCall { block, args: vec![] };
    b.terminate(Terminator::Branch(busy, to(then), to(exit)));
    b.switch_to(then);
}

/// Lets vaults beyond the first `columns` and `rows` of the mesh go on behind `exit`. The mesh has
/// `mesh` columns and rows; what needs no test is not tested.
pub fn skip_idle(b: &mut Builder<'_>, [columns, rows]: [u32; 2], mesh: [u32; 2], exit: Block) {
    for (count, total, name) in [(columns, mesh[0], VAULT_COLUMN), (rows, mesh[1], VAULT_ROW)] {
        if count >= total && !b.keeps_identities() {
            continue;
        }
        let place = id(b, name);
        skip_behind(b, place, count, exit);
    }
}

/// Starts an `exit` block: what every vault runs at the end.
pub fn finish_at(b: &mut Builder<'_>, exit: Block) {
    b.jump(exit, vec![]);
    // The exit was made first; it stands last.
    b.func.layout.retain(|&block| block != exit);
    b.func.layout.push(exit);
    b.switch_to(exit);
}

/// Uniform test: whether any of the conditions (`i32`, negative where true) holds.
pub fn any_negative(b: &mut Builder<'_>, conditions: &[Value]) -> Value {
    let mut all = conditions[0];
    for &c in &conditions[1..] {
        all = b.binary(BinaryOp::Or, all, c);
    }
    // The sign as a bit: where the conditions do not change in a loop, it is found outside.
    let (bits, zero) = (b.i32(31), b.i32(0));
    let sign = b.binary(BinaryOp::Lshr, all, bits);
    b.value(Op::Icmp(IntCond::Ne, sign, zero))
}
