//! A loop on an array, cycle by cycle (isa/sdpnm/src/config/package.rs says what a cycle is).

use nbcc_isa_sdpnm::config::{Opcode, Package, State};

use super::plan::{Flag, Plan, Ring, Step, Word};

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

/// Why a loop came to no end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Early {
    /// There is no such package for the array.
    Package { number: u32 },
    /// It took more cycles than it may.
    Cycles,
    /// An access outside of the shared memory.
    Access { context: u32, cycle: u64, address: u32 },
}

/// What a PE puts out.
#[derive(Clone, Copy, Default)]
struct Output {
    word: u32,
    bit: bool,
}

/// A store, which memory takes at the end of its cycle.
struct Pending {
    address: u32,
    bytes: u32,
    word: u32,
}

struct Run<'a, 'b> {
    parts: &'a mut Parts<'b>,
    now: Vec<Output>,
    next: Vec<Output>,
    registers: Vec<Output>,
    /// The last iteration.
    last: i64,
    states: Vec<State>,
    /// The number of the round modulo each length of rings.
    modulo: Vec<u32>,
    stores: Vec<Pending>,
    /// The words that a cycle accesses.
    words: Vec<u32>,
    export: Option<(u8, u32)>,
}

/// Runs a loop to its end. `ran` counts how often the operation of each context ran.
pub(super) fn run(
    package: &Package,
    plan: &Plan,
    iterations: u32,
    limit: u64,
    parts: &mut Parts<'_>,
    ran: &mut [u64],
) -> Result<Done, Early> {
    let total = package.cycles(iterations);
    let mut done = Done::default();
    let mut run = Run {
        now: vec![Output::default(); parts.pes],
        next: vec![Output::default(); parts.pes],
        registers: vec![Output::default(); plan.registers as usize],
        last: i64::from(iterations) - 1,
        states: vec![State::default(); package.contexts.len()],
        modulo: vec![0; plan.lengths.len()],
        stores: Vec::new(),
        words: Vec::new(),
        export: None,
        parts,
    };
    run.begin(plan);
    let (mut slot, mut round) = (0, 0_i64);
    for cycle in 0..total {
        if done.cycles > limit {
            return Err(Early::Cycles);
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
            for (modulo, length) in run.modulo.iter_mut().zip(&plan.lengths) {
                *modulo = if *modulo + 1 == *length { 0 } else { *modulo + 1 };
            }
        }
    }
    Ok(done)
}

impl Run<'_, '_> {
    /// Outputs and registers as they stand before the first cycle.
    fn begin(&mut self, plan: &Plan) {
        for (slot, steps) in plan.slots.iter().enumerate() {
            for step in steps {
                let Some(number) = step.initial else { continue };
                let word = self.parts.globals[usize::from(number)];
                let output = Output { word, bit: word & 1 == 1 };
                if let Some(ring) = step.keep {
                    self.registers[ring.first as usize..][..ring.length as usize].fill(output);
                }
                if slot + 1 == plan.slots.len() {
                    self.now[usize::from(step.pe)] = output;
                }
            }
        }
    }

    #[inline(always)]
    fn place(&self, ring: &Ring) -> usize {
        let at = self.modulo[usize::from(ring.modulus)] + ring.offset;
        (ring.first + if at >= ring.length { at - ring.length } else { at }) as usize
    }

    #[inline(always)]
    fn word(&self, word: &Word) -> u32 {
        match word {
            Word::Immediate(value) => *value,
            Word::Output(pe) => self.now[usize::from(*pe)].word,
            Word::Ring(ring) => self.registers[self.place(ring)].word,
            Word::Global(number) => self.parts.globals[usize::from(*number)],
        }
    }

    #[inline(always)]
    fn flag(&self, flag: &Flag) -> Option<bool> {
        match flag {
            Flag::None => None,
            Flag::Output(pe) => Some(self.now[usize::from(*pe)].bit),
            Flag::Ring(ring) => Some(self.registers[self.place(ring)].bit),
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
    ) -> Result<(), Early> {
        let mut output = Output::default();
        if iteration < step.first {
            let Some(number) = step.initial else { return Ok(()) };
            let word = self.parts.globals[usize::from(number)];
            output = Output { word, bit: word & 1 == 1 };
        } else if self.flag(&step.condition) != Some(false) {
            ran[step.context as usize] += 1;
            let (in1, in2) = (self.word(&step.in1), self.word(&step.in2));
            (output.word, output.bit) = match step.op {
                Opcode::Load | Opcode::Store => {
                    let word = self.access(step, iteration, cycle, in1, in2)?;
                    (word, word == 0)
                }
                op => {
                    let in3 = self.flag(&step.in3);
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
                self.export = Some((number, output.word));
            }
        }
        if let Some(ring) = &step.keep {
            let at = self.place(ring);
            self.registers[at] = output;
        }
        self.next[usize::from(step.pe)] = output;
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
    ) -> Result<u32, Early> {
        let address = step.memory.address(in1, iteration);
        let bytes = step.memory.width.bytes();
        let end = u64::from(address) + u64::from(bytes);
        if end > self.parts.shared.len() as u64 {
            return Err(Early::Access { context: step.context, cycle, address });
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
            self.parts.globals[usize::from(number)] = word;
        }
        std::mem::swap(&mut self.now, &mut self.next);
        self.next.fill(Output::default());
        stall
    }
}
