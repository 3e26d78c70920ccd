//! Merging the parts of a reduction: the engines of a vault, then the vaults, then the result.
//!
//! Parts are packed by now, a word an element. In chunks of as many atoms as a vault has engines,
//! every engine sums up one atom over the engines of its vault; vaults pass their sums on in
//! groups of four, along x and then along y, so that no vault receives all of them; the first one
//! combines them with the result.

use nbcc_ir::{BinaryOp, Block, BlockCall, Builder, Effect, IntCond, Op, Terminator, Value};
use nbcc_isa_ipim::ATOM_BYTES;

use super::combine::Combine;
use super::cx::{KernelCx, Lowering};
use super::math::{plus, times};
use super::position::{skip_idle_of, vault_along};
use super::remote::vault_id;
use crate::intrinsics::{LD_RF, PE, PG, RD_VSM, REQ, ST_RF, WR_VSM, call, id, read, write};
use crate::kernel::Kernel;
use crate::plan::{BufferPlan, ReduceStep};

/// Vaults whose sums one of them puts together.
const FAN_IN: u32 = 4;

/// The parts of a reduction, packed in each bank.
pub(crate) struct Merge<'a> {
    pub step: &'a ReduceStep,
    pub target: &'a BufferPlan,
    /// Engines of a vault that have tiles, and their mask.
    pub team: u32,
    pub mask: u32,
    /// Columns and rows of vaults that have points.
    pub busy: [u32; 2],
    /// Where data lies in the vault's scratchpad.
    pub vsm: i64,
    pub combine: Combine,
}

/// Vaults that pass their sums on: along x or y, every `stride`th to every `stride * FAN_IN`th.
#[derive(Clone, Copy)]
struct Level {
    along: usize,
    stride: u32,
}

const ATOM: i64 = ATOM_BYTES as i64;

impl Merge<'_> {
    /// Atoms of the packed parts, and chunks of as many as the team has engines.
    fn chunks(&self) -> u32 {
        self.step.atoms(self.target).div_ceil(self.team)
    }

    /// All kernels, in order.
    pub fn lower(&self, cx: &mut Lowering<'_>) -> Vec<Kernel> {
        let mut kernels = vec![self.within_vaults(cx)];
        for along in 0..2 {
            let mut stride = 1;
            while stride < self.busy[along] {
                kernels.push(self.over_vaults(cx, Level { along, stride }));
                stride *= FAN_IN;
            }
        }
        kernels.push(self.finish_target(cx));
        kernels
    }

    /// The engine's number in its vault.
    fn number(&self, b: &mut Builder<'_>) -> Value {
        let pg = id(b, PG);
        let pe = id(b, PE);
        let groups = times(b, pg, self.step.nest.tiles.grid.engines.into());
        b.iadd(groups, pe)
    }

    /// A kernel for the first `vaults` columns and rows of vaults.
    fn kernel(
        &self,
        cx: &mut Lowering<'_>,
        name: &str,
        phase: Option<u32>,
        vaults: [u32; 2],
        body: impl FnOnce(&mut Builder<'_>, Block),
    ) -> Kernel {
        let name = format!("{}.{name}", self.step.nest.name.replace('.', "_"));
        let mut kernel = KernelCx::new(cx, &name);
        kernel.sync = phase;
        let exit = kernel.func.add_block();
        let b = &mut cx.builder(&mut kernel.func);
        skip_idle_of(b, vaults, &self.step.nest.tiles.grid, exit);
        body(b, exit);
        super::position::finish_at(b, exit);
        b.terminate(Terminator::Return(vec![]));
        kernel.finish(self.mask)
    }

    fn load(&self, b: &mut Builder<'_>, address: Value, mask: u32) -> Value {
        read(b, LD_RF, address, mask, self.combine.ty)
    }

    fn receive(&self, b: &mut Builder<'_>, address: Value, mask: u32) -> Value {
        read(b, RD_VSM, address, mask, self.combine.ty)
    }

    /// Where the engine keeps its atom of the vault's sums of a chunk.
    fn sum_place(&self, b: &mut Builder<'_>, chunk: Value) -> Value {
        let place = times(b, chunk, ATOM);
        plus(b, place, self.step.sums.into())
    }

    /// Every engine sums up one atom of each chunk over the engines of its vault.
    fn within_vaults(&self, cx: &mut Lowering<'_>) -> Kernel {
        self.kernel(cx, "merge", None, self.busy, |b, _| {
            let number = self.number(b);
            let own = times(b, number, ATOM * i64::from(self.team));
            let own = plus(b, own, self.vsm);
            let column = times(b, number, ATOM);
            let column = plus(b, column, self.vsm);
            b.counted_loop("chunk", self.chunks(), |b, chunk| {
                let parts = times(b, chunk, ATOM * i64::from(self.team));
                let parts = plus(b, parts, self.step.packed.into());
                for n in 0..i64::from(self.team) {
                    let from = plus(b, parts, n * ATOM);
                    let value = self.load(b, from, self.mask);
                    let to = plus(b, own, n * ATOM);
                    write(b, WR_VSM, to, value, self.mask);
                }
                let sum = (0..self.team).fold(None, |sum, n| {
                    let from = plus(b, column, i64::from(n * self.team) * ATOM);
                    let value = self.receive(b, from, self.mask);
                    Some(sum.map_or(value, |sum| self.combine.apply(b, sum, value)))
                });
                let place = self.sum_place(b, chunk);
                write(b, ST_RF, place, sum.expect("a team has engines"), self.mask);
            });
        })
    }

    /// Some vaults add the sums of the next ones along x or y to their own.
    fn over_vaults(&self, cx: &mut Lowering<'_>, level: Level) -> Kernel {
        let phase = Some(cx.next_phase());
        let Level { along, stride } = level;
        let busy = self.busy[along];
        let last = stride * FAN_IN >= busy;
        // Along x in all rows; then there are sums in the first column only.
        let receivers = if last { 1 } else { busy };
        let vaults = [[receivers, self.busy[1]], [1, receivers]][along];
        self.kernel(cx, "sums", phase, vaults, |b, exit| {
            let own = vault_along(b, &self.step.nest.tiles.grid, along);
            if !last {
                let rest = b.i32((stride * FAN_IN - 1) as i32);
                let rest = b.binary(BinaryOp::And, own, rest);
                let zero = b.i32(0);
                let receives = b.value(Op::Icmp(IntCond::Eq, rest, zero));
                branch(b, receives, exit);
            }
            let others = (FAN_IN - 1).min((busy - 1) / stride);
            let number = self.number(b);
            let slot = times(b, number, ATOM);
            let slot = plus(b, slot, self.vsm);
            let bytes = i64::from(self.team) * ATOM;
            // Where not every receiver has as many vaults to receive from.
            let ragged = !busy.div_ceil(stride).is_multiple_of(others + 1);
            b.counted_loop("chunk", self.chunks(), |b, chunk| {
                let place = self.sum_place(b, chunk);
                let mut sum = self.load(b, place, self.mask);
                if ragged {
                    let identity = self.combine.identity(b);
                    for n in 0..i64::from(others) {
                        let slot = plus(b, slot, n * bytes);
                        write(b, WR_VSM, slot, identity, self.mask);
                    }
                }
                b.counted_loop("vault", others, |b, n| {
                    let offset = times(b, n, stride.into());
                    let offset = plus(b, offset, stride.into());
                    let other = b.iadd(own, offset);
                    let to = times(b, n, bytes);
                    let to = plus(b, to, self.vsm);
                    let join = ragged.then(|| {
                        let count = b.i32(busy as i32);
                        let exists = b.value(Op::Icmp(IntCond::Slt, other, count));
                        let join = b.func.add_block();
                        branch(b, exists, join);
                        join
                    });
                    self.request(b, along, other, place, to);
                    if let Some(join) = join {
                        super::position::finish_at(b, join);
                    }
                });
                for n in 0..i64::from(others) {
                    let slot = plus(b, slot, n * bytes);
                    let value = self.receive(b, slot, self.mask);
                    sum = self.combine.apply(b, sum, value);
                }
                write(b, ST_RF, place, sum, self.mask);
            });
        })
    }

    /// Requests the atom at `from` of every engine of another vault, `other` along x or y.
    fn request(&self, b: &mut Builder<'_>, along: usize, other: Value, from: Value, to: Value) {
        let grid = &self.step.nest.tiles.grid;
        let own = vault_along(b, grid, 1 - along);
        let (x, y) = if along == 0 { (other, own) } else { (own, other) };
        let (chip, vault) = vault_id(b, grid, x, y);
        b.counted_loop("group", self.team / grid.engines, |b, pg| {
            let slots = times(b, pg, ATOM * i64::from(grid.engines));
            let to = b.iadd(to, slots);
            for pe in 0..grid.engines {
                let to = plus(b, to, i64::from(pe) * ATOM);
                let pe = b.i32(pe as i32);
                call(b, REQ, Effect::Write, vec![chip, vault, pg, pe, from, to], vec![], None);
            }
        });
    }

    /// The first vault's first engine combines the sums with the result.
    fn finish_target(&self, cx: &mut Lowering<'_>) -> Kernel {
        let atoms = self.step.atoms(self.target);
        let whole = atoms / self.team;
        self.kernel(cx, "result", None, [1, 1], |b, _| {
            if whole > 0 {
                b.counted_loop("chunk", whole, |b, chunk| self.chunk(b, chunk, self.team));
            }
            if !atoms.is_multiple_of(self.team) {
                let last = b.i32(whole as i32);
                self.chunk(b, last, atoms % self.team);
            }
        })
    }

    /// Combines the first `atoms` atoms of a chunk of sums with those of the target.
    fn chunk(&self, b: &mut Builder<'_>, chunk: Value, atoms: u32) {
        let number = self.number(b);
        let slot = times(b, number, ATOM);
        let slot = plus(b, slot, self.vsm);
        let place = self.sum_place(b, chunk);
        let sum = self.load(b, place, self.mask);
        write(b, WR_VSM, slot, sum, self.mask);
        let first = times(b, chunk, ATOM * i64::from(self.team));
        let first = plus(b, first, self.target.base.into());
        b.counted_loop("atom", atoms, |b, n| {
            let offset = times(b, n, ATOM);
            let slot = plus(b, offset, self.vsm);
            let sums = self.receive(b, slot, 1);
            let place = b.iadd(first, offset);
            let old = self.load(b, place, 1);
            let new = self.combine.apply(b, old, sums);
            let new = self.combine.wrap(b, new);
            write(b, ST_RF, place, new, 1);
        });
    }
}

/// Goes on where the condition holds; else at `otherwise`.
fn branch(b: &mut Builder<'_>, condition: Value, otherwise: Block) {
    let then = b.func.add_block();
    let to = |block| BlockCall { block, args: vec![] };
    b.terminate(Terminator::Branch(condition, to(then), to(otherwise)));
    b.switch_to(then);
}
