//! The register allocator and its checker on a toy machine: random functions compute the same
//! before and after allocation, and where an allocation is damaged so that they do not, the checker
//! says so.

mod ranges;
mod toy;

use std::collections::BTreeSet;

use nbcc_mach::regalloc::{
    Allocation, Policy, Pressure, RegisterFile, Shortage, Slots, allocate, check,
};
use nbcc_mach::{Block, Function, InstData, VReg};
use nbcc_testing::Rng;

use toy::{Class, Inst, Toy, ToySpiller, WORD, files, generate, run, straight, transfer};

struct Case {
    before: Function<Toy>,
    after: Function<Toy>,
    allocation: Allocation,
    files: [RegisterFile<Class>; 2],
    slots: Slots,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut random = Rng::new(seed);
        let before = generate(&mut random);
        let policy = *random.pick(&[Policy::Min, Policy::Spread]);
        let (words, flags) = (8 + random.below(8) as u16, 2 + random.below(3) as u16);
        let files = files(words, flags, policy, random.one_in(2));
        let slots = Slots { range: 16..16 + 40 * WORD, unit: WORD };
        let mut spiller = ToySpiller::new(slots.range.clone());
        let mut after = before.clone();
        let allocation = allocate(&mut after, &files, &mut spiller, !random.one_in(4))
            .unwrap_or_else(|shortage| panic!("seed {seed}: {shortage:?}"));
        Case { before, after, allocation, files, slots }
    }

    fn check(&self) -> Result<(), String> {
        let (files, slots) = (&self.files, &self.slots);
        check(&self.before, &self.after, &self.allocation, files, slots, transfer)
    }

    /// Whether the function still computes what it computed, along several paths.
    fn computes(&self) -> bool {
        let place = |vreg: VReg, part| {
            let data = &self.after.vregs[vreg];
            let entry = data.fixed.unwrap_or(self.allocation.entries[vreg]);
            (data.class == Class::Flag, entry + part)
        };
        (0..12).all(|path| {
            run(&self.before, path, |vreg, part| (vreg, part)) == run(&self.after, path, place)
        })
    }

    fn remove(&mut self, block: Block, at: usize) {
        self.after.blocks[block].insts.remove(at);
        self.allocation.origins[block].remove(at);
    }
}

#[test]
fn allocated_functions_compute_what_they_computed() {
    let mut done = [0; 4];
    for seed in 0..3000 {
        let case = Case::random(seed);
        assert_eq!(case.check(), Ok(()), "seed {seed}");
        assert!(case.computes(), "seed {seed}");
        let Allocation { spilled, moved, rematerialised, coalesced, .. } = case.allocation;
        let counts = [spilled, moved, rematerialised, coalesced];
        done.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(done.iter().all(|&sum| sum > 50), "everything happens often: {done:?}");
}

/// A copy goes whose target is spilled: what is stored is its source.
#[test]
fn a_copy_that_goes_before_its_store_is_followed() {
    let mut func: Function<Toy> = Function::new("copy");
    let [a, b] = [(); 2].map(|()| func.vreg(Class::Word));
    let others: Vec<VReg> = (0..4).map(|_| func.vreg(Class::Word)).collect();
    let mut insts = vec![Inst::Read { dst: a }, Inst::Move { dst: b, src: a }];
    insts.extend(others.iter().map(|&dst| Inst::Read { dst }));
    insts.extend([Inst::Show { src: a }; 5]);
    insts.extend(others.iter().map(|&src| Inst::Show { src }));
    insts.push(Inst::Show { src: b });
    let before = straight(func, insts);
    let files = files(4, 2, Policy::Min, true);
    let slots = Slots { range: 0..8 * WORD, unit: WORD };
    let mut after = before.clone();
    let mut spiller = ToySpiller::new(slots.range.clone());
    let allocation = allocate(&mut after, &files, &mut spiller, true).expect("there is room");
    assert!(allocation.spilled > 0 && allocation.coalesced == 1, "{allocation:?}");
    let case = Case { before, after, allocation, files, slots };
    assert_eq!(case.check(), Ok(()));
    assert!(case.computes());
}

/// A copy between registers of many neighbours, which might cost an entry if they were one, goes
/// where they happen to get the same entry.
#[test]
fn a_copy_goes_where_entries_agree() {
    let mut func: Function<Toy> = Function::new("agree");
    let mut fresh = |count| -> Vec<VReg> { (0..count).map(|_| func.vreg(Class::Word)).collect() };
    let [a, b] = [(); 2].map(|()| fresh(1)[0]);
    let mut insts = Vec::new();
    let read = |dst: &VReg| Inst::Read { dst: *dst };
    let show = |src: &VReg| Inst::Show { src: *src };
    // Three values that interfere with each other, with two short ones, and with one side.
    let (before, behind) = (fresh(3), fresh(3));
    insts.extend(before.iter().map(read));
    fresh(2).iter().for_each(|short| insts.extend([read(short), show(short)]));
    insts.push(read(&a));
    insts.extend(before.iter().map(show));
    insts.push(Inst::Move { dst: b, src: a });
    insts.extend(behind.iter().map(read));
    insts.push(show(&b));
    fresh(2).iter().for_each(|short| insts.extend([read(short), show(short)]));
    insts.extend(behind.iter().map(show));
    let before = straight(func, insts);
    let slots = Slots { range: 0..8 * WORD, unit: WORD };
    for policy in [Policy::Min, Policy::Spread] {
        let files = files(4, 2, policy, false);
        let mut after = before.clone();
        let mut spiller = ToySpiller::new(slots.range.clone());
        let allocation = allocate(&mut after, &files, &mut spiller, true).expect("there is room");
        assert_eq!((allocation.spilled, allocation.coalesced), (0, 1), "{allocation:?}");
        let before = before.clone();
        let case = Case { before, after, allocation, files, slots: slots.clone() };
        assert_eq!(case.check(), Ok(()));
        assert!(case.computes());
    }
}

/// Damages an allocation in one way.
fn damage(case: &mut Case, random: &mut Rng) {
    let block = Block::from_u32(random.below(case.after.blocks.len() as u64) as u32);
    let insts = &mut case.after.blocks[block].insts;
    let origins = &mut case.allocation.origins[block];
    let inserted: Vec<usize> = (0..insts.len()).filter(|&at| origins[at].is_none()).collect();
    if inserted.is_empty() || random.one_in(4) {
        // Another entry of the file.
        let vreg = VReg::from_u32(random.below(case.after.vregs.len() as u64) as u32);
        let class = case.after.vregs[vreg].class;
        let file = &case.files[usize::from(class != Class::Flag)];
        let width = if class == Class::Wide { 2 } else { 1 };
        let first = file.entries.start.div_ceil(width);
        let groups = file.entries.end / width - first;
        let entry = (first + random.below(groups.into()) as u16) * width;
        case.allocation.entries[vreg] = entry;
        return;
    }
    let at = *random.pick(&inserted);
    match random.below(3) {
        // A lost reload or store.
        0 => case.remove(block, at),
        // Another slot, another constant.
        1 => match &mut insts[at].inst {
            Inst::Load { slot, .. }
            | Inst::LoadD { slot, .. }
            | Inst::Store { slot, .. }
            | Inst::StoreD { slot, .. } => *slot = (*slot + WORD).min(case.slots.range.end - 8),
            Inst::Set { value, .. } | Inst::SetD { value, .. } => *value += 1,
            _ => {}
        },
        // One too late.
        _ if at + 1 < insts.len() => {
            insts.swap(at, at + 1);
            origins.swap(at, at + 1);
        }
        _ => {}
    }
}

#[test]
fn damages_that_change_what_is_computed_are_found() {
    let (mut found, mut harmless) = (0, 0);
    for seed in 0..3000 {
        let mut case = Case::random(seed % 600);
        damage(&mut case, &mut Rng::new(seed));
        match (case.check(), case.computes()) {
            (Err(_), false) => found += 1,
            (Ok(()), true) => harmless += 1,
            // On a path that was not taken, or for a value that was not there.
            (Err(_), true) => {}
            (Ok(()), false) => panic!("seed {seed}: the damage is not found"),
        }
    }
    assert!(found > 500 && harmless > 100, "{found} found, {harmless} harmless");
}

#[test]
fn lost_new_and_changed_instructions_are_found() {
    let first = Block::from_u32(0);
    let case = || Case::random(3);
    let last = case().after.blocks[first].insts.len() - 1;
    let shown = case().after.blocks[first].insts[last].inst;
    let Inst::Show { src } = shown else { panic!("the last one shows a word") };
    let said = |damage: &dyn Fn(&mut Case)| {
        let mut case = case();
        damage(&mut case);
        case.check().expect_err("the damage is found")
    };
    let lost = said(&|case| case.remove(first, last));
    assert!(lost.contains("is gone"), "{lost}");
    let other = said(&|case| {
        case.after.blocks[first].insts[last].inst = Inst::Store { src, slot: 0 };
    });
    assert!(other.contains("is another instruction"), "{other}");
    let new = said(&|case| {
        case.after.blocks[first].insts.push(InstData::new(shown, None));
        case.allocation.origins[first].push(None);
    });
    assert!(new.contains("does more than move"), "{new}");
    let away = said(&|case| case.after.blocks[first].successors = vec![first; 9]);
    assert!(away.contains("goes on elsewhere"), "{away}");
}

#[test]
fn a_shortage_says_of_what() {
    let mut func: Function<Toy> = Function::new("crowd");
    let all: Vec<VReg> = (0..13).map(|_| func.vreg(Class::Word)).collect();
    let reads = all.iter().map(|&dst| Inst::Read { dst });
    let mut crowd = straight(func, reads.chain(all.iter().map(|&src| Inst::Show { src })));
    let four = files(4, 2, Policy::Min, false);
    let refused = allocate(&mut crowd, &four, &mut ToySpiller::new(0..8 * WORD), true);
    assert_eq!(refused.err(), Some(Shortage::Memory));

    let mut func: Function<Toy> = Function::new("small");
    let [a, b, dst] = [(); 3].map(|()| func.vreg(Class::Word));
    let insts = [
        Inst::Read { dst: a },
        Inst::Read { dst: b },
        Inst::Mix { dst, a, b },
        Inst::Show { src: dst },
    ];
    let one = files(1, 2, Policy::Min, false);
    let mut spiller = ToySpiller::new(0..64 * WORD);
    let refused = allocate(&mut straight(func, insts), &one, &mut spiller, true);
    assert_eq!(refused.err(), Some(Shortage::Registers(1)));
}

/// Where more is live at one place than fits, what is live elsewhere and fits stays; there no more goes than
/// has to, for all that reloads need.
#[test]
fn only_what_does_not_fit_is_spilled() {
    let words = |func: &mut Function<Toy>, count| -> Vec<VReg> {
        (0..count).map(|_| func.vreg(Class::Word)).collect()
    };
    let mut func: Function<Toy> = Function::new("places");
    let few = words(&mut func, 8);
    let many = words(&mut func, 12);
    let read_and_shown = |all: &[VReg]| {
        let reads = all.iter().map(|&dst| Inst::Read { dst });
        let shown = all.iter().map(|&src| Inst::Show { src });
        reads.chain(shown).collect::<Vec<_>>()
    };
    let insts = [read_and_shown(&few), read_and_shown(&many), read_and_shown(&few)].concat();
    let mut func = straight(func, insts);
    let mut files = files(10, 2, Policy::Min, true);
    files[1].pressure = Some(Pressure { limit: 10, relieved: 4 });
    let mut spiller = ToySpiller::new(0..64 * WORD);
    let done = allocate(&mut func, &files, &mut spiller, true).expect("they fit");
    // Two of twelve do not fit, and two more make room for what stores and reloads them.
    assert!((2..=4).contains(&done.spilled), "{} spilled", done.spilled);
    assert!(few.iter().all(|&word| func.blocks.values().all(|data| {
        let shows = |inst: &&InstData<Toy>| inst.inst == Inst::Show { src: word };
        data.insts.iter().filter(shows).count() == 2
    })));
}

/// Words that live across a chain of others make room for it, although each link is used less.
#[test]
fn what_lives_long_is_spilled_rather_than_what_is_used_at_once() {
    let mut func: Function<Toy> = Function::new("toy");
    let long: Vec<VReg> = (0..8).map(|_| func.vreg(Class::Word)).collect();
    let chain: Vec<VReg> = (0..20).map(|_| func.vreg(Class::Word)).collect();
    let mut insts: Vec<Toy> = long.iter().map(|&dst| Inst::Read { dst }).collect();
    insts.push(Inst::Read { dst: chain[0] });
    insts.extend(chain.windows(2).map(|link| Inst::Mix { dst: link[1], a: link[0], b: link[0] }));
    insts.push(Inst::Show { src: chain[19] });
    insts.extend(long.iter().chain(&long).map(|&src| Inst::Show { src }));
    let mut func = straight(func, insts);
    let files = files(8, 2, Policy::Min, true);
    let done = allocate(&mut func, &files, &mut ToySpiller::new(0..400), true).expect("room");
    assert_eq!(done.spilled, 1, "the chain needs one word");
}

#[test]
fn spread_reuses_an_entry_as_late_as_possible() {
    let mut func: Function<Toy> = Function::new("spread");
    let words: Vec<VReg> = (0..8).map(|_| func.vreg(Class::Word)).collect();
    let each = |&word: &VReg| [Inst::Read { dst: word }, Inst::Show { src: word }];
    let func = straight(func, words.iter().flat_map(each));
    for (policy, used) in [(Policy::Min, 1), (Policy::Spread, 6)] {
        let files = files(6, 2, policy, false);
        let mut spiller = ToySpiller::new(0..0);
        let done = allocate(&mut func.clone(), &files, &mut spiller, true).expect("they fit");
        let entries: BTreeSet<u16> = words.iter().map(|&word| done.entries[word]).collect();
        assert_eq!(entries.len(), used);
    }
}
