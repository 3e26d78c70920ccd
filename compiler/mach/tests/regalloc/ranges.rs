//! Splitting of live ranges, and renaming within blocks.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_mach::regalloc::{Allocation, Policy, RegisterFile, Slots, allocate, check};
use nbcc_mach::rename::{Timing, rename};
use nbcc_mach::split::{Split, SplitKind, Splitter, split};
use nbcc_mach::{Block, BlockData, Function, InstData, VReg};
use nbcc_testing::Rng;

use crate::toy::{Class, Inst, Toy, ToySpiller, WORD, generate, run, straight, transfer};

/// What is shown is read slowly.
struct Slow;

impl Timing<Toy> for Slow {
    fn latency(&self, inst: &Toy) -> u32 {
        if matches!(inst, Inst::Show { .. }) { 100 } else { 2 }
    }

    fn served(&self, inst: &Toy) -> Option<(usize, u32)> {
        matches!(inst, Inst::Show { .. }).then_some((0, 3))
    }
}

/// A file for each class, so that each value takes one entry of it, but for pairs.
fn files(words: u16, flags: u16) -> [RegisterFile<Class>; 3] {
    let file = |classes, entries| RegisterFile {
        classes,
        bank: 0,
        entries,
        policy: Policy::Spread,
        pressure: None,
    };
    [
        file(&[(Class::Flag, 1)], 0..flags),
        file(&[(Class::Word, 1)], 1..words + 1),
        file(&[(Class::Wide, 2)], 0..8),
    ]
}

#[test]
fn renamed_registers_hold_what_they_held() {
    let mut changed = 0;
    for seed in 0..2000 {
        let mut random = Rng::new(seed);
        let before = generate(&mut random);
        let files = files(5 + random.below(12) as u16, 2 + random.below(4) as u16);
        let slots = Slots { range: 16..16 + 60 * WORD, unit: WORD };
        let mut spiller = ToySpiller::new(slots.range.clone());
        let mut after = before.clone();
        let done = allocate(&mut after, &files, &mut spiller, !random.one_in(4));
        let mut allocation = done.unwrap_or_else(|shortage| panic!("seed {seed}: {shortage:?}"));
        changed += rename(&after, &files, &Slow, &mut allocation);
        let checked = check(&before, &after, &allocation, &files, &slots, transfer);
        assert_eq!(checked, Ok(()), "seed {seed}");
        let place = |vreg: VReg, part| {
            let data = &after.vregs[vreg];
            (data.class, data.fixed.unwrap_or(allocation.entries[vreg]) + part)
        };
        for path in 0..8 {
            let shown = run(&before, path, |vreg, part| (vreg, part));
            assert_eq!(shown, run(&after, path, place), "seed {seed}, path {path}");
        }
    }
    assert!(changed > 1000, "{changed} registers were renamed");
}

/// Values that are made and gone at once take turns among few entries; that of a slow read rests.
#[test]
fn an_entry_that_is_read_slowly_rests() {
    let mut func: Function<Toy> = Function::new("rest");
    let slow: Vec<VReg> = (0..2).map(|_| func.vreg(Class::Word)).collect();
    let quick: Vec<VReg> = (0..9).map(|_| func.vreg(Class::Word)).collect();
    let mut insts: Vec<Toy> = Vec::new();
    for &word in &slow {
        insts.extend([Inst::Read { dst: word }, Inst::Show { src: word }]);
    }
    insts.extend(quick.iter().map(|&dst| Inst::Read { dst }));
    let mut func = straight(func, insts);
    let files = files(5, 2);
    let mut allocation =
        allocate(&mut func, &files, &mut ToySpiller::new(0..0), true).expect("they fit");
    let reused = |allocation: &Allocation| {
        let same =
            |q: &&VReg| slow.iter().any(|&s| allocation.entries[s] == allocation.entries[**q]);
        quick.iter().filter(same).count()
    };
    assert!(reused(&allocation) > 0);
    assert!(rename(&func, &files, &Slow, &mut allocation) > 0);
    assert_eq!(reused(&allocation), 0);
}

/// Moves flags to words, and makes constants again.
struct ToySplitter {
    constants: BTreeMap<VReg, Toy>,
    /// Cycles in which an instruction that shows nothing holds its registers.
    latency: u32,
}

impl ToySplitter {
    fn new(func: &Function<Toy>, latency: u32) -> ToySplitter {
        let mut writes: SecondaryMap<VReg, u32> = SecondaryMap::new();
        let mut constants = BTreeMap::new();
        for data in func.blocks.values().flat_map(|block| &block.insts) {
            Function::uses_and_defs(&data.inst).1.into_iter().for_each(|def| writes[def] += 1);
            if let Inst::Set { dst, .. } = data.inst {
                constants.insert(dst, data.inst);
            }
        }
        constants.retain(|&vreg, _| writes[vreg] == 1);
        ToySplitter { constants, latency }
    }
}

impl Splitter<Toy> for ToySplitter {
    fn latency(&self, inst: &Toy) -> u32 {
        Slow.latency(inst).max(self.latency)
    }

    fn served(&self, _: &Toy) -> Option<(usize, u32)> {
        None
    }

    fn runs(&self, func: &Function<Toy>, block: Block) -> f64 {
        10f64.powi(func.blocks[block].loop_depth as i32)
    }

    fn split_kind(&self, func: &Function<Toy>, vreg: VReg) -> Option<SplitKind> {
        match func.vregs[vreg].class {
            Class::Flag => Some(SplitKind::Moved { file: 1, source: None }),
            Class::Word => self.constants.contains_key(&vreg).then_some(SplitKind::Rematerialised),
            Class::Wide => None,
        }
    }

    fn bring(&mut self, func: &mut Function<Toy>, vreg: VReg, home: Option<VReg>) -> (Toy, VReg) {
        let dst = func.vreg(func.vregs[vreg].class);
        let inst = match (home, self.constants.get(&vreg)) {
            (Some(src), _) => Inst::Test { dst, src },
            (None, Some(Inst::Set { value, .. })) => Inst::Set { dst, value: *value },
            (None, other) => panic!("{vreg} is {other:?}"),
        };
        (inst, dst)
    }

    fn home(&mut self, func: &mut Function<Toy>, _: VReg) -> VReg {
        func.vreg(Class::Word)
    }

    fn put(&mut self, home: VReg, from: VReg) -> Toy {
        Inst::Keep { dst: home, src: from }
    }
}

/// Checks a split function as an allocation in which every register has entries of its own.
fn check_split(before: &Function<Toy>, after: &Function<Toy>, done: &Split) -> Result<(), String> {
    let mut entries = SecondaryMap::new();
    for (vreg, data) in &after.vregs {
        entries[vreg] = data.fixed.unwrap_or(16 + 2 * vreg.as_u32() as u16);
    }
    let allocation = Allocation {
        entries,
        used: vec![0; 3],
        spilled: 0,
        moved: 0,
        rematerialised: 0,
        coalesced: 0,
        origins: done.origins.clone(),
    };
    let mut files = files(1, 1);
    files.iter_mut().for_each(|file| file.entries = 16..u16::MAX);
    let slots = Slots { range: 0..0, unit: WORD };
    check(before, after, &allocation, &files, &slots, transfer)
}

#[test]
fn split_functions_compute_what_they_computed() {
    let (mut moved, mut rematerialised, mut damaged) = (0, 0, 0);
    for seed in 0..5000 {
        let mut random = Rng::new(seed);
        let before = generate(&mut random);
        let mut after = before.clone();
        // Where words are scarce constants go, where there are many flags move to them.
        let are_many = random.one_in(2);
        let words = if are_many { 400 } else { 3 + random.below(6) as u32 };
        let latency = if are_many { 100 } else { 2 };
        let counts = [random.below(4) as u32, words, 4];
        let files = [(Class::Flag, counts[0]), (Class::Word, counts[1]), (Class::Wide, counts[2])];
        let done = split(&mut after, &files, &mut ToySplitter::new(&before, latency));
        assert_eq!(check_split(&before, &after, &done), Ok(()), "seed {seed}");
        for path in 0..8 {
            let shown = run(&before, path, |vreg, part| (vreg, part));
            assert_eq!(shown, run(&after, path, |vreg, part| (vreg, part)), "seed {seed}, {path}");
        }
        moved += done.moved;
        rematerialised += done.rematerialised;
        // Something that was brought is another value.
        for (block, data) in after.blocks.iter_mut() {
            for (data, origin) in data.insts.iter_mut().zip(&done.origins[block]) {
                if let (Inst::Set { value, .. }, None) = (&mut data.inst, origin) {
                    *value += 5;
                }
            }
        }
        damaged += u32::from(check_split(&before, &after, &done).is_err());
    }
    assert!(moved > 100 && rematerialised > 100, "{moved} moved, {rematerialised} rematerialised");
    assert!(damaged > 100, "{damaged} damages were found");
}

/// Where registers suffice, nothing changes.
#[test]
fn nothing_is_split_without_need() {
    for seed in 0..200 {
        let before = generate(&mut Rng::new(seed));
        let mut after = before.clone();
        let files = [(Class::Flag, 4000), (Class::Word, 4000), (Class::Wide, 4000)];
        let done = split(&mut after, &files, &mut ToySplitter::new(&before, 2));
        assert_eq!((done.moved, done.rematerialised), (0, 0), "seed {seed}");
    }
}

/// The first of many values too many is worth leaving out, though there are too many without it, too.
#[test]
fn far_too_many_values_are_split() {
    let mut before: Function<Toy> = Function::new("many");
    let constants: Vec<VReg> = (0..20).map(|_| before.vreg(Class::Word)).collect();
    let own: Vec<VReg> = (0..10).map(|_| before.vreg(Class::Word)).collect();
    let set = constants.iter().zip(0..).map(|(&dst, value)| Inst::Set { dst, value });
    let shown = own.iter().flat_map(|&word| [Inst::Read { dst: word }, Inst::Show { src: word }]);
    let late = constants.iter().map(|&src| Inst::Show { src });
    let loops: [(Vec<Toy>, &[u32], u32); 3] =
        [(set.collect(), &[1], 0), (shown.collect(), &[1, 2], 1), (late.collect(), &[], 0)];
    for (insts, successors, loop_depth) in loops {
        let insts = insts.into_iter().map(|inst| InstData::new(inst, None)).collect();
        let successors = successors.iter().map(|&n| Block::from_u32(n)).collect();
        before.blocks.push(BlockData { insts, successors, loop_depth });
    }
    let mut after = before.clone();
    let files = [(Class::Flag, 4), (Class::Word, 8), (Class::Wide, 4)];
    let done = split(&mut after, &files, &mut ToySplitter::new(&before, 2));
    assert_eq!(check_split(&before, &after, &done), Ok(()));
    assert!(done.rematerialised > 12, "{} of 20 do not live through the loop", done.rematerialised);
}
