//! A machine of words, pairs of words and flags: its instructions, what they compute, how its
//! registers are spilled, and random functions of them.

use std::collections::BTreeMap;
use std::ops::Range;

use cranelift_entity::EntityRef;
use nbcc_isa::{Instruction, RegisterClass};
use nbcc_mach::regalloc::{Home, Insertion, Policy, Pressure, RegisterFile, Spiller, Transfer};
use nbcc_mach::{Block, BlockData, Function, InstData, VReg};
use nbcc_testing::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Flag,
    Word,
    Wide,
}

impl RegisterClass for Class {
    const ALL: &'static [Class] = &[Class::Flag, Class::Word, Class::Wide];
    fn name(self) -> &'static str {
        ["flags", "words", "pairs"][self as usize]
    }
    fn prefix(self) -> &'static str {
        ["f", "w", "p"][self as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Alu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    Short,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    Any,
}

nbcc_isa::isa! {
    /// What the machine does. A name that ends in `D` is of pairs, one in `F` of flags.
    pub enum Inst<R>;
    bits 64;
    class Class;
    unit Unit;
    latency Time;
    memory Memory;
    category Category;

    /// A constant word.
    0x01 Set "set" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        value: u32 = immediate() @ 32..64,
    }

    /// A constant pair.
    0x02 SetD "set_d" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Wide) @ 8..16,
        value: u32 = immediate() @ 32..64,
    }

    /// A new value of a word, from outside.
    0x03 Read "read" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
    }

    /// Mixes two words.
    0x04 Mix "mix" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// Mixes a word into a pair.
    0x05 MixD "mix_d" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = updates(Wide) @ 8..16,
        a: R = reads(Word) @ 16..24,
    }

    /// A pair of two words.
    0x06 Pack "pack" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Wide) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// The words of a pair.
    0x07 Unpack "unpack" [Any, Alu, Time::Short] reads [] writes [] {
        low: R = writes(Word) @ 8..16,
        high: R = writes(Word) @ 16..24,
        a: R = reads(Wide) @ 24..32,
    }

    /// Whether a word is odd.
    0x08 Odd "odd" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Flag) @ 8..16,
        a: R = reads(Word) @ 16..24,
    }

    /// Changes a word where a flag is set.
    0x09 When "when" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = updates(Word) @ 8..16,
        flag: R = reads(Flag) @ 16..24,
    }

    /// Copies a word.
    0x0a Move "move" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        src: R = reads(Word) @ 16..24,
    }

    /// Copies a pair.
    0x0b MoveD "move_d" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Wide) @ 8..16,
        src: R = reads(Wide) @ 16..24,
    }

    /// Copies a flag.
    0x0e MoveF "move_f" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Flag) @ 8..16,
        src: R = reads(Flag) @ 16..24,
    }

    /// A flag as a word.
    0x0c Keep "keep" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        src: R = reads(Flag) @ 16..24,
    }

    /// Whether a word is not zero.
    0x0d Test "test" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Flag) @ 8..16,
        src: R = reads(Word) @ 16..24,
    }

    /// Loads a word.
    0x10 Load "load" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        slot: u32 = immediate() @ 32..64,
    }

    /// Loads a pair.
    0x11 LoadD "load_d" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Wide) @ 8..16,
        slot: u32 = immediate() @ 32..64,
    }

    /// Stores a word.
    0x12 Store "store" [Any, Alu, Time::Short] reads [] writes [] {
        src: R = reads(Word) @ 8..16,
        slot: u32 = immediate() @ 32..64,
    }

    /// Stores a pair.
    0x13 StoreD "store_d" [Any, Alu, Time::Short] reads [] writes [] {
        src: R = reads(Wide) @ 8..16,
        slot: u32 = immediate() @ 32..64,
    }

    /// Shows a word.
    0x14 Show "show" [Any, Alu, Time::Short] reads [] writes [] {
        src: R = reads(Word) @ 8..16,
    }
}

pub type Toy = Inst<VReg>;

/// Bytes of a word in memory.
pub const WORD: u32 = 4;

/// The files of a machine. The first word of the second one is not given to anybody.
pub fn files(words: u16, flags: u16, policy: Policy, relieve: bool) -> [RegisterFile<Class>; 2] {
    let file = |classes, entries: Range<u16>| {
        let limit = entries.len() as u32;
        let pressure = relieve.then_some(Pressure { limit, relieved: limit - 1 });
        RegisterFile { classes, bank: 0, entries, policy, pressure }
    };
    [file(&[(Class::Flag, 1)], 0..flags), file(&[(Class::Word, 1), (Class::Wide, 2)], 1..words + 1)]
}

/// Spills flags to words, and words to memory.
pub struct ToySpiller {
    slots: Range<u32>,
    constants: BTreeMap<VReg, Toy>,
}

impl ToySpiller {
    pub fn new(slots: Range<u32>) -> ToySpiller {
        ToySpiller { slots, constants: BTreeMap::new() }
    }
}

pub fn transfer(inst: &Toy) -> Option<Transfer<VReg>> {
    Some(match *inst {
        Inst::Move { dst: to, src: from }
        | Inst::MoveD { dst: to, src: from }
        | Inst::MoveF { dst: to, src: from } => Transfer::Copy { to, from },
        Inst::Keep { dst: to, src: from } => Transfer::Encode { to, from },
        Inst::Test { dst: to, src: from } => Transfer::Decode { to, from },
        Inst::Set { dst: to, .. } | Inst::SetD { dst: to, .. } => Transfer::Constant { to },
        Inst::Load { dst: to, slot: address } | Inst::LoadD { dst: to, slot: address } => {
            Transfer::Load { to, address }
        }
        Inst::Store { src: from, slot: address } | Inst::StoreD { src: from, slot: address } => {
            Transfer::Store { from, address }
        }
        _ => return None,
    })
}

impl Spiller<Toy> for ToySpiller {
    type Recipe = Toy;

    fn copy(&self, inst: &Toy) -> Option<(VReg, VReg)> {
        match transfer(inst) {
            Some(Transfer::Copy { to, from }) => Some((to, from)),
            _ => None,
        }
    }

    fn inspect(&mut self, func: &Function<Toy>) {
        let mut written: BTreeMap<VReg, u32> = BTreeMap::new();
        self.constants.clear();
        for inst in func.blocks.values().flat_map(|data| &data.insts).map(|data| data.inst) {
            for def in Function::uses_and_defs(&inst).1 {
                *written.entry(def).or_default() += 1;
                if let Some(Transfer::Constant { to }) = transfer(&inst) {
                    self.constants.insert(to, inst);
                }
            }
        }
        self.constants.retain(|vreg, _| written[vreg] == 1);
    }

    fn recipe(&self, vreg: VReg) -> Option<Toy> {
        self.constants.get(&vreg).copied()
    }

    fn home(&mut self, func: &mut Function<Toy>, vreg: VReg) -> Option<Home<Toy>> {
        let bytes = match func.vregs[vreg].class {
            Class::Flag => return Some(Home::Register(func.vreg(Class::Word))),
            Class::Word => WORD,
            Class::Wide => 2 * WORD,
        };
        let slot = self.slots.start;
        self.slots.start = slot + bytes;
        (self.slots.start <= self.slots.end).then_some(Home::Memory(slot))
    }

    fn reload(&self, home: Home<Toy>, dst: VReg, out: &mut Insertion<'_, Toy>) {
        let wide = out.class(dst) == Class::Wide;
        out.push(match home {
            Home::Recipe(inst) => inst.map_regs(|_| dst),
            Home::Register(src) => Inst::Test { dst, src },
            Home::Memory(slot) if wide => Inst::LoadD { dst, slot },
            Home::Memory(slot) => Inst::Load { dst, slot },
        });
    }

    fn store(&self, home: Home<Toy>, src: VReg, out: &mut Insertion<'_, Toy>) {
        let wide = out.class(src) == Class::Wide;
        out.push(match home {
            Home::Recipe(_) => unreachable!("constants are written once"),
            Home::Register(dst) => Inst::Keep { dst, src },
            Home::Memory(slot) if wide => Inst::StoreD { src, slot },
            Home::Memory(slot) => Inst::Store { src, slot },
        });
    }
}

/// A function of one block.
pub fn straight(mut func: Function<Toy>, insts: impl IntoIterator<Item = Toy>) -> Function<Toy> {
    let insts = insts.into_iter().map(|inst| InstData::new(inst, None)).collect();
    func.blocks.push(BlockData { insts, successors: vec![], loop_depth: 0 });
    func
}

/// A random function. Every register is written in the first block, but for one that the machine
/// provides.
pub fn generate(random: &mut Rng) -> Function<Toy> {
    let mut func: Function<Toy> = Function::new("toy");
    let provided = func.fixed(Class::Word, 2);
    let mut several = |random: &mut Rng, class, most| -> Vec<VReg> {
        (0..=random.below(most)).map(|_| func.vreg(class)).collect()
    };
    let words = several(random, Class::Word, 9);
    let wides = several(random, Class::Wide, 4);
    let flags = several(random, Class::Flag, 5);
    let readable: Vec<VReg> = words.iter().copied().chain([provided]).collect();
    let count = 1 + random.below(6);
    for number in 0..count {
        let mut insts: Vec<Toy> = Vec::new();
        if number == 0 {
            for &dst in &words {
                insts.push(match random.one_in(2) {
                    true => Inst::Set { dst, value: random.below(3) as u32 },
                    false => Inst::Read { dst },
                });
            }
            insts.extend(wides.iter().map(|&dst| Inst::SetD { dst, value: 7 }));
            insts.extend(flags.iter().map(|&dst| Inst::Odd { dst, a: words[0] }));
        }
        for _ in 0..random.below(14) {
            let dst = *random.pick(&words);
            let [a, b] = [(); 2].map(|()| *random.pick(&readable));
            let [wide, other] = [(); 2].map(|()| *random.pick(&wides));
            let flag = *random.pick(&flags);
            insts.push(match random.below(13) {
                0 => Inst::Set { dst, value: random.below(3) as u32 },
                1 => Inst::Read { dst },
                2 => Inst::Mix { dst, a, b },
                3 => Inst::MixD { dst: wide, a },
                4 => Inst::Pack { dst: wide, a, b },
                5 if a != dst && a != provided => Inst::Unpack { low: dst, high: a, a: wide },
                6 => Inst::Odd { dst: flag, a },
                7 => Inst::When { dst, flag },
                8 => Inst::Move { dst, src: a },
                9 => Inst::MoveD { dst: other, src: wide },
                10 => Inst::MoveF { dst: *random.pick(&flags), src: flag },
                _ => Inst::Show { src: a },
            });
        }
        insts.extend(readable.iter().map(|&src| Inst::Show { src }));
        func.blocks.push(BlockData {
            insts: insts.into_iter().map(|inst| InstData::new(inst, None)).collect(),
            successors: (0..random.below(3))
                .map(|_| Block::from_u32(random.below(count) as u32))
                .collect(),
            loop_depth: random.below(3) as u32,
        });
    }
    func
}

/// What a function shows along a path. A register has its parts in `place(register, part)`.
pub fn run<P: Ord>(func: &Function<Toy>, path: u64, place: impl Fn(VReg, u16) -> P) -> Vec<u32> {
    let mut path = Rng::new(path);
    let mut outside = Rng::new(1);
    let mut held: BTreeMap<P, u32> = BTreeMap::new();
    let mut memory: BTreeMap<u32, u32> = BTreeMap::new();
    let mut shown = Vec::new();
    for (vreg, _) in func.vregs.iter().filter(|(_, data)| data.fixed.is_some()) {
        held.insert(place(vreg, 0), 1234);
    }
    let mix = |a: u32, b: u32| a.rotate_left(5).wrapping_mul(31) ^ b;
    let mut block = Block::new(0);
    for _ in 0..20 {
        for InstData { inst, .. } in &func.blocks[block].insts {
            let get = |vreg, part| held.get(&place(vreg, part)).copied().unwrap_or(u32::MAX);
            let load = |at| memory.get(&at).copied().unwrap_or(u32::MAX);
            let results = match *inst {
                Inst::Set { dst, value } => vec![(dst, 0, value)],
                Inst::SetD { dst, value } => vec![(dst, 0, value), (dst, 1, !value)],
                Inst::Read { dst } => vec![(dst, 0, outside.bits() as u32)],
                Inst::Mix { dst, a, b } => vec![(dst, 0, mix(get(a, 0), get(b, 0)))],
                Inst::MixD { dst, a } => {
                    [0, 1].map(|part| (dst, part, mix(get(dst, part), get(a, 0)))).to_vec()
                }
                Inst::Pack { dst, a, b } => vec![(dst, 0, get(a, 0)), (dst, 1, get(b, 0))],
                Inst::Unpack { low, high, a } => vec![(low, 0, get(a, 0)), (high, 0, get(a, 1))],
                Inst::Odd { dst, a } => vec![(dst, 0, get(a, 0) & 1)],
                Inst::When { dst, flag } => {
                    vec![(dst, 0, get(dst, 0).wrapping_add(get(flag, 0)))]
                }
                Inst::Move { dst, src } | Inst::MoveF { dst, src } | Inst::Keep { dst, src } => {
                    vec![(dst, 0, get(src, 0))]
                }
                Inst::Test { dst, src } => vec![(dst, 0, u32::from(get(src, 0) != 0))],
                Inst::MoveD { dst, src } => vec![(dst, 0, get(src, 0)), (dst, 1, get(src, 1))],
                Inst::Load { dst, slot } => vec![(dst, 0, load(slot))],
                Inst::LoadD { dst, slot } => {
                    vec![(dst, 0, load(slot)), (dst, 1, load(slot + WORD))]
                }
                Inst::Store { src, slot } => {
                    memory.insert(slot, get(src, 0));
                    vec![]
                }
                Inst::StoreD { src, slot } => {
                    let parts = [get(src, 0), get(src, 1)];
                    memory.extend([(slot, parts[0]), (slot + WORD, parts[1])]);
                    vec![]
                }
                Inst::Show { src } => {
                    shown.push(get(src, 0));
                    vec![]
                }
            };
            held.extend(results.into_iter().map(|(vreg, part, value)| (place(vreg, part), value)));
        }
        let next = &func.blocks[block].successors;
        if next.is_empty() {
            break;
        }
        block = *path.pick(next);
    }
    shown
}
