//! Random packages on the machine and on the naive one: memory and global registers are the same.
//!
//! Readers of rings run when what they read was kept and is not yet overwritten, as in any package that
//! means something: a register holds what it holds, the naive machine every iteration's value.

use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{
    ArrayKind, Bit, Context, Control, Memory, Opcode, Options, Package, Part, Placed, Source, Width,
};
use nbcc_isa_sdpnm::core::arrays::FIRST;
use nbcc_sim_sdpnm::Fault;

use crate::naive::{self, Contents};
use crate::support::*;

/// A linear congruential generator (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % count
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// A ring of a PE: who keeps in it, and when.
#[derive(Clone, Copy)]
struct Kept {
    slot: u16,
    stage: u16,
    length: u8,
}

impl Kept {
    /// How many iterations back a reader at a slot and stage may look; the keeper of iteration i - ago
    /// has run, that of i - ago + length has not.
    fn reach(&self, slot: u16, stage: u16) -> Option<u8> {
        // Keeper's round minus the reader's.
        let late = i64::from(self.stage) - i64::from(stage) + i64::from(self.slot >= slot);
        let least = late.max(0);
        let most = late + i64::from(self.length) - 1;
        (least < i64::from(self.length)).then_some(())?;
        (least <= most).then_some(least.min(i64::from(self.length) - 1) as u8)
    }
}

fn package(random: &mut Random, machine: &Machine) -> Package {
    let number = random.below(5) as u8;
    let kind = machine.arrays.kinds[usize::from(number)];
    let ii = 1 + random.below(4) as u16;
    let ops: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|op| kind.has(*op)).collect();
    let mut contexts: Vec<Placed> = Vec::new();
    let mut rings: Vec<(u16, Vec<u8>)> = Vec::new();
    let mut exports = vec![false; usize::from(ii)];
    let mut sines = vec![0; usize::from(ii)];
    let mut memory_uses = vec![0; usize::from(ii)];
    let exact = random.one_in(2);
    let pes = 1 + random.below(20) as u16;
    for pe in (0..pes).map(|pe| pe * 3 % 64).collect::<std::collections::BTreeSet<u16>>() {
        let mut own: Vec<Kept> = Vec::new();
        // Keepers first, so that all readers know them.
        let slots: Vec<(u16, u16, Option<u8>)> = (0..ii)
            .filter(|_| !random.one_in(4))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|slot| {
                let stage = random.below(4) as u16;
                let keep = (own.len() < 2 && random.one_in(2)).then(|| {
                    own.push(Kept { slot, stage, length: 1 + random.below(4) as u8 });
                    own.len() as u8 - 1
                });
                (slot, stage, keep)
            })
            .collect();
        if !own.is_empty() {
            rings.push((pe, own.iter().map(|kept| kept.length).collect()));
        }
        for (slot, stage, keep) in slots {
            let at = usize::from(slot);
            let mut op = random.of(&ops);
            if op.is_memory() && memory_uses[at] == 16
                || matches!(op, Opcode::Sine | Opcode::Cosine)
                    && kind == ArrayKind::Npea
                    && sines[at] == 2
            {
                op = Opcode::Add;
            }
            memory_uses[at] += u32::from(op.is_memory());
            sines[at] += u32::from(matches!(op, Opcode::Sine | Opcode::Cosine));
            let source = |random: &mut Random| match random.below(6) {
                0 => Source::None,
                1 => Source::Immediate(random.below(1 << 32) as i32),
                2 => Source::Global(random.below(16) as u8),
                3 if !own.is_empty() => {
                    let ring = random.below(own.len() as u64) as u8;
                    match own[usize::from(ring)].reach(slot, stage) {
                        Some(ago) => Source::Register { ring, ago },
                        None => Source::None,
                    }
                }
                _ => output(random, pe),
            };
            let as_bit = |source: Source| match source {
                Source::Output(r, c) => Bit::Output(r, c),
                Source::Register { ring, ago } => Bit::Register { ring, ago },
                _ => Bit::None,
            };
            let (mut in1, in2) = (source(random), source(random));
            let (in3, condition) = (source(random), source(random));
            let mut memory = Memory::default();
            if op.is_memory() {
                // Mostly inside: what is added is small.
                memory.width = random.of(&Width::ALL).1;
                memory.offset = random.below(512) as i32;
                memory.stride = random.below(64) as i32 - 16;
                if exact || !random.one_in(16) {
                    in1 = Source::Immediate(4096 + random.below(256) as i32);
                }
            }
            let export = !exports[at] && random.one_in(6);
            exports[at] |= export;
            let mut flag = || random.one_in(3);
            let options = Options {
                high1: flag(),
                high2: flag(),
                unsigned1: flag(),
                unsigned2: flag(),
                larger: flag(),
                halves: flag(),
                begin: flag(),
                scale: random.below(32) as u8,
                part: random.of(&[Part::Packed, Part::Real, Part::Imaginary]),
                coefficient: random.below(1 << 32) as u32,
            };
            let control = Control {
                stage,
                ahead: random.below(u64::from(stage) + 1) as u16,
                initial: random.one_in(3).then(|| random.below(16) as u8),
                keep,
                export: export.then(|| random.below(16) as u8),
                condition: if random.one_in(4) { as_bit(condition) } else { Bit::None },
            };
            let context = Context {
                op,
                options: op.used(&options),
                in1,
                in2: if op.has_in2() { in2 } else { Source::None },
                in3: if op.has_in3() { as_bit(in3) } else { Bit::None },
                memory,
                control,
            };
            contexts.push(Placed { pe, slot, context, line: None });
        }
    }
    contexts.sort_by_key(|placed| (placed.pe, placed.slot));
    Package { name: "random:1".into(), array: number, ii, mii: 0, rings, contexts }
}

/// An output in reach of a PE of an 8 x 8 array.
fn output(random: &mut Random, pe: u16) -> Source {
    let offsets = nbcc_isa_sdpnm::Links::Sdpnm.offsets();
    loop {
        let (r, c) = random.of(offsets);
        let (row, column) = (i32::from(pe / 8) + r, i32::from(pe % 8) + c);
        if (0..8).contains(&row) && (0..8).contains(&column) {
            return Source::Output(r as i8, c as i8);
        }
    }
}

#[test]
fn machines_agree_on_random_packages() {
    let machine = Machine::built_in("sdpnm");
    let (mut ended, mut left) = (0, 0);
    for seed in 0..1500 {
        let random = &mut Random(seed * 7919 + 17);
        let package = package(random, &machine);
        let iterations = random.below(12) as u32;
        let first = if random.one_in(2) { 0 } else { random.below(9) as u32 };
        let globals: Vec<u32> = (0..16).map(|_| random.below(1 << 32) as u32).collect();
        let array = u32::from(package.array);
        let mut contents = Contents { shared: vec![0; 65536], globals: globals.clone() };
        let mut text = Vec::new();
        for at in 0..64 {
            let word = random.below(1 << 32) as u32;
            contents.shared[4096 + 4 * at as usize..][..4].copy_from_slice(&word.to_le_bytes());
            text.extend(store(window(array, 4096 + 4 * at), word));
        }
        text.extend(store(control(array, FIRST), first));
        text.extend(start(array, 0, iterations, &globals));
        // Exports, behind everything that loops reach.
        for number in 0..16 {
            text.extend(load(control(array, 4 * number)));
            text.extend(set(5, window(array, 0xff00 + 4 * number)));
            text.push(nbcc_isa_sdpnm::core::Inst::Sw {
                src: x(7),
                offset: nbcc_isa_sdpnm::core::I12(0),
                base: x(5),
            });
        }
        let program = program(vec![package.clone()], text);
        let reference = naive::run(&package, &machine.array, (first, iterations), &mut contents);
        match (run(&program), reference) {
            (Ok((_, core)), Some(())) => {
                ended += 1;
                let found = core.read(window(array, 0), 0xff00).unwrap();
                let differs = (0..0xff00).find(|at| found[*at] != contents.shared[*at]);
                assert_eq!(differs, None, "seed {seed}: {package:#?}");
                let exported = words(&core, array, 0xff00, 16);
                assert_eq!(exported, contents.globals, "seed {seed}: {package:#?}");
            }
            (Err(Fault::Array { .. }), None) => left += 1,
            (found, reference) => {
                panic!("seed {seed}: {:?}, {reference:?}: {package:#?}", found.map(|_| ()));
            }
        }
    }
    assert!(ended > 1000 && left > 10, "{ended} ended, {left} left the memory");
}
