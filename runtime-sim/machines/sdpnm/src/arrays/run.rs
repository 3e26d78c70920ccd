//! A loop on an array, cycle by cycle (isa/sdpnm/src/config/package.rs says what a cycle is).

use nbcc_isa_sdpnm::config::{Opcode, Package, State};

use super::plan::{OUTPUT, Plan, RINGS, Ring, Step, Word};

/// What an array has beside its PEs while a loop runs.
pub(super) struct Parts<'a> {
    pub shared: &'a mut [u8],
    pub globals: &'a mut [u32],
    pub banks: u32,
    pub pes: usize,
}

/// What a loop did.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// Cycles, stalls included.
    pub cycles: u64,
    /// Cycles in which accesses waited for a bank of the shared memory.
    pub conflicts: u64,
}

/// Why a loop is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Abort {
    /// There is no such package for the array.
    Package { number: u32 },
    /// It took more cycles than it may.
    Cycles,
    /// An access outside of the shared memory.
    Access { context: u32, cycle: u64, address: u32 },
}

/// A store, which memory takes at the end of its cycle.
struct Pending {
    address: u32,
    bytes: u32,
    word: u32,
}

struct Run<'a, 'b> {
    parts: &'a mut Parts<'b>,
    /// [`Plan::values`] as they are now.
    values: Vec<u32>,
    /// The bit that goes with each word.
    bits: Vec<bool>,
    /// The last iteration.
    last: i64,
    /// The number of the first one for loads and stores.
    first: i64,
    /// The index of the first global register.
    globals: usize,
    states: Vec<State>,
    /// What is added to the places of words: by [`Word::moves`], nothing, the side of the outputs of the
    /// last cycle, the number of the round modulo each length of rings.
    moved: Vec<u32>,
    /// The index of the output of the first PE of this cycle.
    next: usize,
    stores: Vec<Pending>,
    /// The words that a cycle accesses.
    words: Vec<u32>,
    export: Option<(u8, u32)>,
}

/// Runs a loop to its end, of so many iterations from a number on. `ran` counts how often the operation
/// of each context ran.
pub(super) fn run(
    package: &Package,
    plan: &Plan,
    (first, iterations): (u32, u32),
    limit: u64,
    parts: &mut Parts<'_>,
    ran: &mut [u64],
) -> Result<Done, Abort> {
    let total = package.cycles(iterations);
    let mut done = Done::default();
    let mut run = Run {
        values: plan.values.clone(),
        bits: vec![false; plan.values.len()],
        last: i64::from(iterations) - 1,
        first: first.into(),
        globals: plan.globals,
        states: vec![State::default(); package.contexts.len()],
        moved: vec![0; usize::from(RINGS) + plan.lengths.len()],
        next: parts.pes,
        stores: Vec::new(),
        words: Vec::new(),
        export: None,
        parts,
    };
    run.begin(plan);
    let (mut slot, mut round) = (0, 0_i64);
    for cycle in 0..total {
        if done.cycles > limit {
            return Err(Abort::Cycles);
        }
        for step in &plan.slots[slot] {
            let iteration = round - step.stage;
            if iteration < i64::from(iterations) {
                run.step(step, iteration, cycle, ran)?;
            }
        }
        let stall = run.end_of_cycle();
        done.conflicts += stall;
        done.cycles += 1 + stall;
        slot += 1;
        if slot == plan.slots.len() {
            slot = 0;
            round += 1;
            let moved = run.moved.iter_mut().skip(usize::from(RINGS));
            for (modulo, length) in moved.zip(&plan.lengths) {
                *modulo = if *modulo + 1 == *length { 0 } else { *modulo + 1 };
            }
        }
    }
    let Run { values, parts, globals, .. } = run;
    parts.globals.copy_from_slice(&values[globals..][..parts.globals.len()]);
    Ok(done)
}

impl Run<'_, '_> {
    /// Words as they stand before the first cycle.
    fn begin(&mut self, plan: &Plan) {
        let globals = &mut self.values[self.globals..][..self.parts.globals.len()];
        globals.copy_from_slice(self.parts.globals);
        for (slot, steps) in plan.slots.iter().enumerate() {
            for step in steps {
                let Some(number) = step.initial else { continue };
                let word = self.values[self.globals + usize::from(number)];
                if let Some(ring) = step.keep {
                    let all = ring.first as usize..(ring.first + 2 * ring.length) as usize;
                    self.values[all.clone()].fill(word);
                    self.bits[all].fill(word & 1 == 1);
                }
                if slot + 1 == plan.slots.len() {
                    self.values[usize::from(step.pe)] = word;
                    self.bits[usize::from(step.pe)] = word & 1 == 1;
                }
            }
        }
    }

    #[inline(always)]
    fn place(&self, word: Word) -> usize {
        word.base.wrapping_add(self.moved[usize::from(word.moves)]) as usize
    }

    #[inline(always)]
    fn word(&self, word: Word) -> u32 {
        self.values[self.place(word)]
    }

    #[inline(always)]
    fn bit(&self, word: Option<Word>) -> Option<bool> {
        word.map(|word| self.bits[self.place(word)])
    }

    #[inline(always)]
    fn keep(&mut self, ring: &Ring, word: u32, bit: bool) {
        let at = self.moved[usize::from(RINGS + ring.modulus)].wrapping_add(ring.offset);
        let at = if at >= ring.length { at.wrapping_sub(ring.length) } else { at };
        let at = ring.first.wrapping_add(at);
        for at in [at, at.wrapping_add(ring.length)] {
            self.values[at as usize] = word;
            self.bits[at as usize] = bit;
        }
    }

    /// What a PE does in a cycle; memory and global registers take it at the end of the cycle.
    #[inline(always)]
    fn step(
        &mut self,
        step: &Step,
        iteration: i64,
        cycle: u64,
        ran: &mut [u64],
    ) -> Result<(), Abort> {
        let (mut word, mut bit) = (0, false);
        if iteration < step.first {
            let Some(number) = step.initial else { return Ok(()) };
            word = self.values[self.globals + usize::from(number)];
            bit = word & 1 == 1;
        } else if self.bit(step.condition) != Some(false) {
            ran[step.context as usize] += 1;
            let (in1, in2) = (self.word(step.in1), self.word(step.in2));
            (word, bit) = match step.op {
                Opcode::Load | Opcode::Store => {
                    let word = self.access(step, iteration, cycle, in1, in2)?;
                    (word, word == 0)
                }
                op => {
                    let in3 = self.bit(step.in3);
                    op.evaluate(
                        &step.options,
                        in1,
                        in2,
                        in3,
                        &mut self.states[step.context as usize],
                    )
                }
            };
            if let Some(number) = step.export.filter(|_| iteration == self.last) {
                self.export = Some((number, word));
            }
        }
        if let Some(ring) = &step.keep {
            self.keep(ring, word, bit);
        }
        let at = self.next + usize::from(step.pe);
        self.values[at] = word;
        self.bits[at] = bit;
        Ok(())
    }

    /// A load or a store; the word that it puts out.
    fn access(
        &mut self,
        step: &Step,
        iteration: i64,
        cycle: u64,
        in1: u32,
        in2: u32,
    ) -> Result<u32, Abort> {
        let address = step.memory.address(in1, self.first + iteration);
        let bytes = step.memory.width.bytes();
        let end = u64::from(address) + u64::from(bytes);
        if end > self.parts.shared.len() as u64 {
            return Err(Abort::Access { context: step.context, cycle, address });
        }
        self.words.push(address / 4);
        let last = (address + bytes - 1) / 4;
        if last != address / 4 {
            self.words.push(last);
        }
        if step.op == Opcode::Store {
            self.stores.push(Pending { address, bytes, word: in2 });
            return Ok(in2);
        }
        let from = &self.parts.shared[address as usize..];
        let mut raw = [0; 4];
        raw[..bytes as usize].copy_from_slice(&from[..bytes as usize]);
        Ok(step.memory.width.extend(u32::from_le_bytes(raw)))
    }

    /// Memory and global registers change, outputs become those of the last cycle; for how many
    /// cycles accesses wait for banks. Accesses of one word are one access.
    #[inline(always)]
    fn end_of_cycle(&mut self) -> u64 {
        let mut stall = 0;
        if self.words.len() > 1 {
            self.words.sort_unstable();
            self.words.dedup();
            let banks = self.parts.banks;
            let mut most = 1;
            let mut of_bank = [0_u16; 256];
            for word in &self.words {
                let count = &mut of_bank[(word % banks) as usize];
                *count += 1;
                most = most.max(*count);
            }
            stall = u64::from(most) - 1;
        }
        self.words.clear();
        for Pending { address, bytes, word } in self.stores.drain(..) {
            let to = &mut self.parts.shared[address as usize..][..bytes as usize];
            to.copy_from_slice(&word.to_le_bytes()[..bytes as usize]);
        }
        if let Some((number, word)) = self.export.take() {
            self.values[self.globals + usize::from(number)] = word;
        }
        let pes = self.parts.pes;
        self.moved[usize::from(OUTPUT)] = self.next as u32;
        self.next = pes - self.next;
        self.values[self.next..][..pes].fill(0);
        self.bits[self.next..][..pes].fill(false);
        stall
    }
}
