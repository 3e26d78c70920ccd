//! Copies to buffers that lie whole in banks, the same in many: a round of rows is requested into the
//! vault's scratchpad, from which all engines take it.
//!
//! An atom whose place stands in the instruction is read once and broadcast, where places from AddrRF
//! are served an engine at a time (docs/machine-ipim.md; paper, section IV-E: groups share the TSVs). So
//! a round is small where many take the same, and its places are fixed.

use std::iter;

use nbcc_ir::{Block, Builder, Value};
use nbcc_isa_ipim::{ATOM_BYTES, ELEMENT_BYTES, LANES};

use super::fetch::Run;
use super::home::{Affine, Home};
use super::math::{div_rem, min, plus, times};
use super::position::skip_behind;
use super::redistribute::{Batch, Copy, REQUESTS, UNROLL};
use crate::intrinsics::{VAULT, base, id};
use crate::plan::greatest_divisor;

/// Atoms of a round whose places are fixed: what is read and stored without a loop. A row comes as a
/// whole, if it has no more than twice as many: where it is cut, each atom's owner has to be found.
const BROADCAST: u32 = 64;

/// Engines for which that is worth it: each round waits for its requests.
const ENGINES: u32 = 8;

/// What vaults take of a copy, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// All of them everything, from where it lies.
    All,
    /// The first of each cube everything.
    First,
    /// The vaults of a cube take turns at the rounds.
    Own,
    /// All of them everything, each round from the vault of the cube that has it.
    Each,
}

/// How a copy goes through the scratchpad.
pub(super) struct Rounds {
    /// Bytes that a round takes at most.
    pub(super) room: u32,
    /// Whether the places of a round are fixed.
    fixed: bool,
}

/// Where the rows of a round lie in the scratchpad.
pub(super) struct Slots {
    pub(super) rows: u32,
    pub(super) row_bytes: u32,
    /// Bytes before what is taken of a row.
    pub(super) begin: i64,
}

/// How a copy of rows is cut into rounds.
struct Cut {
    rounds: Rounds,
    /// Atoms of a row, those of them that are taken at once, and how often.
    atoms: u32,
    most: u32,
    chunks: u32,
    /// How those of a row are requested, and the bytes that they take in the scratchpad.
    run: Run,
    row_bytes: u32,
    batch: Batch,
    /// Planes whose rows come together.
    together: u32,
}

impl Copy<'_> {
    /// The rounds of a copy that the engines of `mask` take alike, of so many `rows` of `atoms` atoms.
    pub(super) fn rounds(&self, mask: u32, rows: u32, atoms: u32) -> Rounds {
        let whole = atoms <= 2 * BROADCAST;
        let fixed = self.unroll == REQUESTS
            && mask.count_ones() >= ENGINES
            && (whole || rows * self.planes() == 1);
        let atoms = if whole { atoms.max(BROADCAST) } else { BROADCAST };
        let most = if fixed { atoms * ATOM_BYTES } else { self.room };
        Rounds { room: most.min(self.room), fixed }
    }

    /// Takes `atoms` atoms of each row of a round, for the engines of a mask, to where `bank` says.
    pub(super) fn take_rows(
        &self,
        b: &mut Builder<'_>,
        rounds: &Rounds,
        slots: &Slots,
        (atoms, mask): (u32, u32),
        bank: impl Fn(&mut Builder<'_>, Value) -> Value,
    ) {
        let first = self.vsm + slots.begin;
        if !rounds.fixed {
            b.counted_loop("take", slots.rows, |b, r| {
                let bank = bank(b, r);
                let slot = times(b, r, slots.row_bytes.into());
                let slot = plus(b, slot, first);
                self.take(b, (slot, bank), atoms, mask, |_, value, _| value);
            });
            return;
        }
        for r in 0..slots.rows {
            let number = b.i32(r as i32);
            let bank = bank(b, number);
            for begin in (0..atoms).step_by(UNROLL as usize) {
                let skipped = begin * ATOM_BYTES;
                let slot = b.i32((first + i64::from(r * slots.row_bytes + skipped)) as i32);
                let bank = plus(b, bank, skipped.into());
                let part = UNROLL.min(atoms - begin);
                self.take(b, (slot, bank), part, mask, |_, value, _| value);
            }
        }
    }

    /// How a copy of rows is cut into rounds: alike in both kernels of a copy by parts, wherever each takes rows
    /// from, as the second has to know which vault has what.
    fn cut(&self, mask: u32) -> Cut {
        let homes = || iter::once(&self.home).chain(&self.other);
        let span = self.to.span(0);
        let first = |home: &Home<'_>| home.atom_of(i64::from(span.min));
        let atoms = span.extent().div_ceil(LANES as u32);
        // Atoms of the copy that are taken at once; misaligned ones are parts of one more.
        let more = u32::from(homes().any(|home| first(home).1 != 0));
        let height = self.to.span(1).extent();
        let rounds = self.rounds(mask, height, atoms + more);
        let room = rounds.room / ATOM_BYTES;
        let most = (room - more).min(atoms);
        let chunks = atoms.div_ceil(most);
        // The last chunk begins so that it ends with the row.
        let factors = if chunks > 1 { &[1][..] } else { &[] };
        // Whole tiles of the source may be a little more than what is taken.
        let all = self.room / ATOM_BYTES;
        let run_from =
            |home| Run::new(home, (first(home).0, factors), most + more, self.unroll, all);
        let longest = homes().map(|home| run_from(home).atoms).max().expect("there is one home");
        let row_bytes = longest * ATOM_BYTES;
        let batch = Batch::new(height, row_bytes, rounds.room);
        // Each round waits for its requests: small planes come several at a time.
        let small = batch.turns == 1 && chunks == 1;
        let most_planes = if small { rounds.room / (height * row_bytes) } else { 1 };
        let together = greatest_divisor(self.planes(), most_planes);
        let run = run_from(&self.home);
        Cut { rounds, atoms, most, chunks, run, row_bytes, batch, together }
    }

    /// Copies to buffers that are whole in banks, row by row. Vaults without a share go on behind `exit`.
    pub(super) fn to_whole(&self, b: &mut Builder<'_>, mask: u32, share: Share, exit: Block) {
        let Cut { rounds, atoms, most, chunks, run, row_bytes, batch, together } = self.cut(mask);
        let (first, shift) = self.home.atom_of(i64::from(self.to.span(0).min));
        let height = self.to.span(1).extent();
        let pitch = i64::from(atoms * ATOM_BYTES);
        let round =
            |b: &mut Builder<'_>, [plane, turn, chunk]: [Value; 3], vault: Option<Value>| {
                let first_plane = times(b, plane, together.into());
                let start = times(b, chunk, most.into());
                let start = if most * chunks == atoms && !b.keeps_identities() {
                    start
                } else {
                    let last = b.i32((atoms - most) as i32);
                    min(b, start, last)
                };
                b.counted_loop("planes", together, |b, number| {
                    let plane = b.iadd(first_plane, number);
                    let before = times(b, number, (batch.rows * row_bytes).into());
                    b.counted_loop("fetch", batch.rows, |b, r| {
                        let y = batch.row(b, turn, r);
                        let y = plus(b, y, self.limits[1].0);
                        let slot = times(b, r, row_bytes.into());
                        let slot = b.iadd(slot, before);
                        let slot = plus(b, slot, self.vsm);
                        let row = self.home.row(b, plane, y);
                        let row = match vault {
                            Some(vault) => row.in_vault(vault),
                            None => row,
                        };
                        let terms = if chunks > 1 { vec![(start, 1)] } else { vec![] };
                        let first = Affine { constant: first, terms };
                        run.fetch(b, &self.home, &row, &first, slot, self.unroll);
                    });
                });
                let lead = i64::from(run.lead * ATOM_BYTES);
                let begin = lead + shift * i64::from(ELEMENT_BYTES);
                let slots = Slots { rows: together * batch.rows, row_bytes, begin };
                self.take_rows(b, &rounds, &slots, (most, mask), |b, r| {
                    // The rows of planes that come together follow each other.
                    let y = if together > 1 { r } else { batch.row(b, turn, r) };
                    let rows = times(b, first_plane, height.into());
                    let row = b.iadd(rows, y);
                    let row = times(b, row, pitch);
                    let skipped = times(b, start, ATOM_BYTES.into());
                    let bank = b.iadd(row, skipped);
                    let base = base(b, self.into);
                    b.iadd(bank, base)
                });
            };
        let planes = self.planes() / together;
        let all = planes * batch.turns * chunks;
        // A round by its number.
        let numbered = |b: &mut Builder<'_>, number: Value, vault: Option<Value>| {
            let (rest, chunk) = div_rem(b, number, chunks, all);
            let (plane, turn) = div_rem(b, rest, batch.turns, all);
            round(b, [plane, turn, chunk], vault);
        };
        let vaults = self.machine.hierarchy.vaults;
        match share {
            Share::All | Share::First => {
                let stagger = self.stagger_turns(b, batch.turns);
                b.counted_loop("plane", planes, |b, plane| {
                    b.counted_loop("rows", batch.turns, |b, turn| {
                        let turn = stagger.outer(b, turn);
                        b.counted_loop("chunk", chunks, |b, chunk| {
                            round(b, [plane, turn, chunk], None);
                        });
                    });
                });
            }
            Share::Own => {
                let vault = id(b, VAULT);
                if all < vaults || b.keeps_identities() {
                    skip_behind(b, vault, all.min(vaults), exit);
                }
                b.counted_loop("own", all.div_ceil(vaults), |b, k| {
                    let before = times(b, k, vaults.into());
                    let number = b.iadd(before, vault);
                    let inside = all < vaults || all.is_multiple_of(vaults);
                    let number = if inside && !b.keeps_identities() {
                        number
                    } else {
                        let last = b.i32(all as i32 - 1);
                        min(b, number, last)
                    };
                    numbered(b, number, None);
                });
            }
            Share::Each => {
                let stagger = self.stagger_parts(b, all);
                b.counted_loop("part", all, |b, k| {
                    let number = stagger.outer(b, k);
                    let (_, owner) = div_rem(b, number, vaults, all);
                    numbered(b, number, Some(owner));
                });
            }
        }
    }
}
