//! Where vaults begin loops in which they ask others: those that do the same in the same order would all ask
//! one after the other, whose port answers an atom in a few cycles while the others have nothing to do. Each
//! begins with another round, and goes around.

use nbcc_ir::{BinaryOp, Builder, Value};
use nbcc_isa_ipim::layout::{Layout, Tiled};

use super::math::{div_rem, plus, times};
use super::position::position;
use super::redistribute::{Batch, Copy};
use crate::intrinsics::{CHIP, VAULT, id};
use crate::plan::{busy, holders};

/// Instructions of the control core in which it makes a request, and finds its part of an owner.
const REQUEST: u32 = 6;

/// With which rounds of two loops, one in the other, a vault begins; all with the first by default.
#[derive(Clone, Copy, Default)]
pub(super) struct Stagger {
    /// Of each loop that does not begin with its first round, that round and how many there are.
    outer: Option<(Value, u32)>,
    inner: Option<(Value, u32)>,
}

impl Stagger {
    /// Number `number` of `all` vaults begins that part of the way through `outer` rounds of `inner` each.
    fn new(b: &mut Builder<'_>, number: Value, all: u32, [outer, inner]: [u32; 2]) -> Stagger {
        let rounds = outer.saturating_mul(inner);
        if all < 2 || rounds < 2 {
            return Stagger::default();
        }
        let part = times(b, number, rounds.into());
        let (first, _) = div_rem(b, part, all, all.saturating_mul(rounds));
        let (before, rest) = div_rem(b, first, inner, rounds);
        Stagger {
            outer: (outer > 1).then_some((before, outer)),
            inner: (inner > 1).then_some((rest, inner)),
        }
    }

    /// The round of the outer loop that is done as number `round`.
    pub fn outer(&self, b: &mut Builder<'_>, round: Value) -> Value {
        around(b, round, self.outer)
    }

    /// The round of the inner loop that is done as number `round`.
    pub fn inner(&self, b: &mut Builder<'_>, round: Value) -> Value {
        around(b, round, self.inner)
    }
}

/// A round counted from the first on, and around.
fn around(b: &mut Builder<'_>, round: Value, from: Option<(Value, u32)>) -> Value {
    let Some((first, rounds)) = from else { return round };
    let from_end = plus(b, first, -i64::from(rounds));
    let beyond = b.iadd(round, from_end);
    let bits = b.i32(31);
    let before_end = b.binary(BinaryOp::Lshr, beyond, bits);
    let back = times(b, before_end, rounds.into());
    b.iadd(beyond, back)
}

impl Copy<'_> {
    /// Copies that are whole in banks: all vaults take the same rows, in so many turns. Rows of few lie
    /// behind each other in open rows.
    pub(super) fn stagger_turns(&self, b: &mut Builder<'_>, turns: u32) -> Stagger {
        let vaults = self.machine.vaults();
        let spread = vaults > 1 && 2 * holders(self.machine, self.from) >= vaults;
        if !spread || self.to.layout != Layout::Replicated {
            return Stagger::default();
        }
        let (chip, vault) = (id(b, CHIP), id(b, VAULT));
        let before = times(b, chip, self.machine.hierarchy.vaults.into());
        let number = b.iadd(before, vault);
        Stagger::new(b, number, vaults, [turns, 1])
    }

    /// Parts of a copy that vaults of a cube hand each other, so many.
    pub(super) fn stagger_parts(&self, b: &mut Builder<'_>, parts: u32) -> Stagger {
        let vault = id(b, VAULT);
        Stagger::new(b, vault, self.machine.hierarchy.vaults, [parts, 1])
    }

    /// Tiles whose rows are rows of the source: the vaults beside each other take columns of the same rows.
    pub(super) fn stagger_rows(
        &self,
        b: &mut Builder<'_>,
        tiled: &Tiled,
        batch: &Batch,
    ) -> Stagger {
        let in_order = self.order.get(1).is_none_or(|place| *place == Some(1));
        match self.columns_and_rows() {
            Some([columns, rows]) if in_order && rows > 1 => {
                self.stagger_columns(b, tiled, columns, [batch.turns, batch.rows])
            }
            _ => Stagger::default(),
        }
    }

    /// Tiles whose columns are planes of the source, of which an atom lies in one bank: the vaults beside
    /// each other take elements of the same atoms.
    pub(super) fn stagger_atoms(
        &self,
        b: &mut Builder<'_>,
        tiled: &Tiled,
        rounds: [u32; 2],
    ) -> Stagger {
        match self.columns_and_rows() {
            Some([columns, _]) if self.column_step().is_some() && columns > 1 => {
                self.stagger_columns(b, tiled, 1, rounds)
            }
            _ => Stagger::default(),
        }
    }

    /// Columns and rows of vaults that hold tiles of the source.
    fn columns_and_rows(&self) -> Option<[u32; 2]> {
        match &self.from.layout {
            Layout::Tiled(tiled) => Some(busy(tiled, &self.from.region, [0, 0])),
            _ => None,
        }
    }

    /// Vaults beside each other, which ask so few at a time, unless these answer as fast as they ask.
    fn stagger_columns(
        &self,
        b: &mut Builder<'_>,
        tiled: &Tiled,
        asked: u32,
        rounds: [u32; 2],
    ) -> Stagger {
        let reach = [self.to.reach_x[0], tiled.ghost_rows[0]];
        let [asking, _] = busy(tiled, &self.to.region, reach);
        let answer = self.machine.network.flits(self.machine.memory.atom_bytes);
        if asking.saturating_mul(answer) <= asked.saturating_mul(REQUEST) {
            return Stagger::default();
        }
        // Engines have to know where it begins, too.
        let column = position(b, &tiled.grid).vault_x;
        Stagger::new(b, column, asking, rounds)
    }
}
