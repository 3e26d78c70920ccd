//! Dependence graphs, list schedules and their checker on a machine of words and two memories:
//! reordered blocks compute the same, and where an order does not, the checker says so.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_isa::{Instruction, RegisterClass};
use nbcc_mach::dependence::{Dependence, DependenceGraph, Edge};
use nbcc_mach::prepass::{self, Pressure};
use nbcc_mach::rows::Rows;
use nbcc_mach::schedule::{Hazards, Priority, check, list_schedule_with};
use nbcc_mach::{AffineAddress, InstData, MemoryAccess, VReg};
use nbcc_testing::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Class {
    Word,
}

impl RegisterClass for Class {
    const ALL: &'static [Class] = &[Class::Word];
    fn name(self) -> &'static str {
        "words"
    }
    fn prefix(self) -> &'static str {
        "w"
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Alu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Short,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Near,
    Far,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Category {
    Any,
}

nbcc_isa::isa! {
    /// What the machine does.
    enum Inst<R>;
    bits 64;
    class Class;
    unit Unit;
    latency Time;
    memory Memory;
    category Category;

    /// Mixes two words into a third.
    0x01 Mix "mix" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = writes(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
        b: R = reads(Word) @ 24..32,
    }

    /// Mixes a word into another.
    0x02 Add "add" [Any, Alu, Time::Short] reads [] writes [] {
        dst: R = updates(Word) @ 8..16,
        a: R = reads(Word) @ 16..24,
    }

    /// Loads from near memory at a word and an offset.
    0x03 Load "load" [Any, Alu, Time::Short] reads [Near] writes [] {
        dst: R = writes(Word) @ 8..16,
        at: R = reads(Word) @ 16..24,
        offset: u32 = immediate() @ 32..64,
    }

    /// Stores to near memory.
    0x04 Store "store" [Any, Alu, Time::Short] reads [] writes [Near] {
        src: R = reads(Word) @ 8..16,
        at: R = reads(Word) @ 16..24,
        offset: u32 = immediate() @ 32..64,
    }

    /// Copies from near to far memory.
    0x05 Send "send" [Any, Alu, Time::Short] reads [Near] writes [Far] {
        at: R = reads(Word) @ 8..16,
        offset: u32 = immediate() @ 32..64,
    }

    /// Nothing may pass it.
    0x06 Wait "wait" [Any, Alu, Time::Short] reads [] writes [] {
        phase: u32 = immediate() @ 32..64,
    }
}

type Toy = Inst<VReg>;

/// Bytes of an access.
const BYTES: u32 = 4;
const WORDS: u32 = 6;

/// Registers 0 and 1 hold addresses and are not written: 0 is the start of one object, 1 somewhere
/// in another one.
fn access(at: VReg, offset: u32, random: &mut Rng) -> MemoryAccess<Memory> {
    MemoryAccess {
        memory: Memory::Near,
        object: (!random.one_in(4)).then_some(at.as_u32()),
        rows: None,
        address: (!random.one_in(4))
            .then(|| AffineAddress::new([(at.as_u32(), 1)].into_iter(), offset)),
        bytes: BYTES,
    }
}

fn block(random: &mut Rng) -> Vec<InstData<Toy>> {
    let mut insts = Vec::new();
    for _ in 0..2 + random.below(18) {
        let [a, b] = [(); 2].map(|()| VReg::from_u32(random.below(WORDS.into()) as u32));
        let dst = VReg::from_u32(2 + random.below(u64::from(WORDS) - 2) as u32);
        let at = VReg::from_u32(random.below(2) as u32);
        let offset = random.below(4) as u32 * BYTES / 2;
        let inst = match random.below(9) {
            0 | 1 => Inst::Mix { dst, a, b },
            2 => Inst::Add { dst, a },
            3 | 4 => Inst::Load { dst, at, offset },
            5 | 6 => Inst::Store { src: a, at, offset },
            7 => Inst::Send { at, offset },
            _ if random.one_in(4) => Inst::Wait { phase: 0 },
            _ => continue,
        };
        let mut data = InstData::new(inst, None);
        if let Inst::Load { .. } | Inst::Store { .. } | Inst::Send { .. } = inst
            && !random.one_in(5)
        {
            data.accesses.push(access(at, offset, random));
        }
        insts.push(data);
    }
    insts
}

/// The registers, both memories, and how often each `wait` was met by how much done.
type Outcome = (BTreeMap<VReg, u32>, BTreeMap<u32, u8>, BTreeMap<u32, u8>, Vec<u32>);

/// What a block leaves when its instructions run in an order.
fn run(insts: &[InstData<Toy>], order: &[usize]) -> Outcome {
    let mut words: BTreeMap<VReg, u32> =
        (0..WORDS).map(|n| (VReg::from_u32(n), 1000 * (n + 1))).collect();
    let (mut near, mut far): (BTreeMap<u32, u8>, BTreeMap<u32, u8>) = Default::default();
    let mut sent = 0;
    let mut waits = Vec::new();
    for (number, &at) in order.iter().enumerate() {
        let get = |vreg: VReg| words[&vreg];
        let bytes = |from: u32| from..from + BYTES;
        match insts[at].inst {
            Inst::Mix { dst, a, b } => {
                let value = get(a).rotate_left(7) ^ get(b).wrapping_mul(5);
                words.insert(dst, value);
            }
            Inst::Add { dst, a } => {
                let value = get(dst).rotate_left(3).wrapping_add(get(a));
                words.insert(dst, value);
            }
            Inst::Load { dst, at, offset } => {
                let byte = |k: u32| near.get(&k).copied().unwrap_or(k as u8);
                let value = bytes(get(at) + offset).fold(0, |sum, k| sum << 8 | u32::from(byte(k)));
                words.insert(dst, value);
            }
            Inst::Store { src, at, offset } => {
                let value = get(src).to_be_bytes();
                near.extend(bytes(get(at) + offset).zip(value));
            }
            Inst::Send { at, offset } => {
                sent += 1;
                let copied: Vec<u8> = bytes(get(at) + offset)
                    .map(|k| near.get(&k).copied().unwrap_or(k as u8))
                    .collect();
                far.extend((BYTES * sent..).zip(copied));
            }
            Inst::Wait { .. } => waits.push(number as u32),
        }
    }
    (words, near, far, waits)
}

fn units(vreg: VReg) -> Range<u32> {
    vreg.as_u32()..vreg.as_u32() + 1
}

fn is_fixed(inst: &Toy) -> bool {
    matches!(inst, Inst::Wait { .. })
}

#[test]
fn reordered_blocks_compute_the_same() {
    let mut moved = 0;
    for seed in 0..2000 {
        let mut random = Rng::new(seed);
        let insts = block(&mut random);
        let program: Vec<usize> = (0..insts.len()).collect();
        let graph = DependenceGraph::new(&insts, units, is_fixed);
        // Any latencies give an order of the graph.
        let latencies: Vec<u32> = insts.iter().map(|_| random.below(12) as u32).collect();
        let priority = |at: usize| match insts[at].inst {
            Inst::Load { .. } => Priority::First,
            Inst::Store { .. } => Priority::Last,
            _ => Priority::Usual,
        };
        let latency = |from: usize, _: &Edge| latencies[from];
        let mut kinds =
            |_| (random.below(3) > 0).then(|| (random.below(3) as usize, random.below(20) as u32));
        let kinds = (0..insts.len()).map(&mut kinds).collect();
        let mut some = |_| (0..3).filter(|_| random.below(2) == 0).collect();
        let waits_for = (0..3).map(&mut some).collect();
        let hazards = Hazards { kinds, waits_for, rows: rows(&insts, &mut random) };
        let listed = list_schedule_with(&graph, latency, priority, &hazards);
        let pressure = Pressure {
            class: &|vreg| Some((Class::Word, 1 + vreg.as_u32() % 2)),
            limits: &[(Class::Word, random.below(8) as u32)],
            live: (&[], &[]),
        };
        let within = prepass::schedule(&insts, &graph, latency, priority, &hazards, &pressure);
        for order in [listed, within] {
            assert_eq!(check(&insts, &order, units, is_fixed), Ok(()), "seed {seed}");
            assert_eq!(run(&insts, &program), run(&insts, &order), "seed {seed}: {order:?}");
            moved += usize::from(order != program);
        }
    }
    assert!(moved > 2000, "{moved}");
}

/// As long as what depends by memory on instructions of a kind waits equally long for all of them, edges
/// that others imply change neither an order nor a time.
#[test]
fn reduced_graphs_have_the_same_schedules() {
    let mut fewer = 0;
    for seed in 0..2000 {
        let mut random = Rng::new(seed);
        let insts = block(&mut random);
        let kind = |inst: &Toy| (!inst.opcode().is_multiple_of(3)).then(|| inst.opcode());
        let whole = DependenceGraph::new(&insts, units, is_fixed);
        let reduced = DependenceGraph::reduced(&insts, units, is_fixed, kind);
        let edges = |graph: &DependenceGraph| graph.successors.iter().flatten().count();
        fewer += edges(&whole) - edges(&reduced);
        let times: Vec<u32> = (0..256).map(|_| random.below(12) as u32).collect();
        let others: Vec<u32> = insts.iter().map(|_| random.below(12) as u32).collect();
        let latency = |from: usize, edge: &Edge| match (edge.kind, kind(&insts[from].inst)) {
            (Dependence::Memory, Some(kind)) => times[usize::from(kind)],
            _ => others[from],
        };
        let hazards = Hazards { rows: rows(&insts, &mut random), ..Hazards::default() };
        let order = |graph| list_schedule_with(graph, latency, |_| Priority::Usual, &hazards);
        assert_eq!(order(&whole), order(&reduced), "seed {seed}");
    }
    assert!(fewer > 2000, "{fewer}");
}

/// Rows of a memory in which some accesses and what makes their addresses take part.
fn rows(insts: &[InstData<Toy>], random: &mut Rng) -> Rows {
    let streams = random.below(4) as usize;
    let mut each = || -> Vec<Option<usize>> {
        let any = |_| Some(random.below(6) as usize).filter(|&stream| stream < streams);
        insts.iter().map(any).collect()
    };
    Rows {
        streams: each(),
        addresses: each(),
        rows: (0..streams).map(|stream| (stream / 2, stream % 2 == 1)).collect(),
        served: 3,
        turn: [20, 30],
        back: 10,
    }
}

/// When the last of instructions that issue in order and take `latency` cycles is done.
fn cycles(insts: &[InstData<Toy>], order: &[usize], latency: u32) -> u32 {
    let mut written: BTreeMap<VReg, u32> = BTreeMap::new();
    let mut clock = 0;
    for &at in order {
        let issue = |clock: u32, vreg: VReg| clock.max(written.get(&vreg).copied().unwrap_or(0));
        let (mut start, mut defs) = (clock, vec![]);
        insts[at].inst.for_each_operand(|operand| {
            start = issue(start, *operand.reg);
            defs.extend(operand.role.writes().then_some(*operand.reg));
        });
        written.extend(defs.into_iter().map(|vreg| (vreg, start + latency)));
        clock = start + 1;
    }
    clock
}

/// The most registers that are live at once, but those that are not written.
fn most_live(insts: &[InstData<Toy>], order: &[usize]) -> usize {
    let mut live: BTreeMap<VReg, ()> = BTreeMap::new();
    let mut most = 0;
    for &at in order.iter().rev() {
        let mut reads = vec![];
        insts[at].inst.for_each_operand(|operand| match operand.role.reads() {
            true => reads.push(*operand.reg),
            false => drop(live.remove(operand.reg)),
        });
        live.extend(reads.into_iter().filter(|vreg| vreg.as_u32() >= WORDS).map(|v| (v, ())));
        most = most.max(live.len());
    }
    most
}

/// A block that computes the same of many values, more than there are registers for at once, keeps as
/// many under way as there are: else they come one after another, and each waits for itself.
#[test]
fn as_many_values_are_under_way_as_there_are_registers_for() {
    let [c, at] = [0, 1].map(VReg::from_u32);
    let mut insts = Vec::new();
    let mut last = WORDS;
    let mut fresh = || {
        last += 1;
        VReg::from_u32(last)
    };
    for value in 0..16 {
        let first = fresh();
        insts.push(Inst::Load { dst: first, at, offset: value * BYTES });
        let mut chain = first;
        for _ in 0..8 {
            let [a, b, sum] = [(); 3].map(|()| fresh());
            insts.push(Inst::Mix { dst: a, a: chain, b: c });
            insts.push(Inst::Mix { dst: b, a: chain, b: first });
            insts.push(Inst::Mix { dst: sum, a, b });
            chain = sum;
        }
        insts.push(Inst::Store { src: chain, at, offset: (16 + value) * BYTES });
    }
    let access = |offset, bytes| MemoryAccess {
        memory: Memory::Near,
        object: Some(0),
        rows: None,
        address: Some(AffineAddress::new([(at.as_u32(), 1)].into_iter(), offset)),
        bytes,
    };
    let insts: Vec<InstData<Toy>> = insts
        .into_iter()
        .map(|inst| {
            let mut data = InstData::new(inst, None);
            if let Inst::Load { offset, .. } | Inst::Store { offset, .. } = inst {
                data.accesses.push(access(offset, BYTES));
            }
            data
        })
        .collect();
    let graph = DependenceGraph::new(&insts, units, is_fixed);
    let limit = 14;
    let pressure = Pressure {
        class: &|vreg| (vreg.as_u32() >= WORDS).then_some((Class::Word, 1)),
        limits: &[(Class::Word, limit)],
        live: (&[], &[]),
    };
    let priority = |at: usize| match insts[at].inst {
        Inst::Load { .. } => Priority::First,
        _ => Priority::Usual,
    };
    let latency = 6;
    let hazards = Hazards::default();
    let order = prepass::schedule(&insts, &graph, |_, _| latency, priority, &hazards, &pressure);
    assert_eq!(check(&insts, &order, units, is_fixed), Ok(()));
    assert!(most_live(&insts, &order) <= limit as usize);
    let taken = cycles(&insts, &order, latency);
    assert!(taken < 2 * insts.len() as u32, "{taken} cycles for {} instructions", insts.len());
}

/// What adds two images to a third: as many of each are loaded, then stored, one behind the other as
/// there are registers for, since each change opens another row.
#[test]
fn accesses_stay_in_the_open_row_while_there_are_registers() {
    let at = VReg::from_u32(0);
    let values = 48;
    let mut insts = Vec::new();
    let mut streams = Vec::new();
    for value in 0..values {
        let [a, b, sum] = [0, 1, 2].map(|k| VReg::from_u32(WORDS + 3 * value + k));
        let mut access = |inst, object: Option<u32>| {
            let mut data = InstData::new(inst, None);
            data.accesses.extend(object.map(|object| MemoryAccess {
                memory: Memory::Near,
                object: Some(object),
                rows: None,
                address: None,
                bytes: BYTES,
            }));
            insts.push(data);
            streams.push(object.map(|object| object as usize));
        };
        let offset = value * BYTES;
        access(Inst::Load { dst: a, at, offset }, Some(0));
        access(Inst::Load { dst: b, at, offset }, Some(1));
        access(Inst::Mix { dst: sum, a, b }, None);
        access(Inst::Store { src: sum, at, offset }, Some(2));
    }
    let mut graph = DependenceGraph::new(&insts, units, is_fixed);
    for object in 0..3 {
        graph.keep_order((0..insts.len()).filter(|&at| streams[at] == Some(object)));
    }
    let limit = 26;
    let pressure = Pressure {
        class: &|vreg| (vreg.as_u32() >= WORDS).then_some((Class::Word, 1)),
        limits: &[(Class::Word, limit)],
        live: (&[], &[]),
    };
    let priority = |at: usize| match insts[at].inst {
        Inst::Load { .. } => Priority::First,
        Inst::Store { .. } => Priority::Last,
        _ => Priority::Usual,
    };
    let latency = |_: usize, edge: &Edge| if edge.kind == Dependence::Order { 4 } else { 20 };
    let rows = Rows {
        streams: streams.clone(),
        addresses: vec![],
        rows: vec![(0, false), (1, false), (2, true)],
        served: 4,
        turn: [30, 50],
        back: 0,
    };
    let hazards = Hazards { rows, ..Hazards::default() };
    let turns = |order: &[usize]| {
        let accesses: Vec<usize> = order.iter().filter_map(|&at| streams[at]).collect();
        accesses.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    let before = prepass::schedule(&insts, &graph, latency, priority, &hazards, &pressure);
    assert_eq!(check(&insts, &before, units, is_fixed), Ok(()));
    assert!(most_live(&insts, &before) <= limit as usize);
    // As many rounds of three rows as values fit registers, if a half of these holds one image.
    let rounds = values.div_ceil(limit / 2) as usize;
    assert!(turns(&before) < 3 * rounds, "{} turns", turns(&before));
    let after = list_schedule_with(&graph, latency, priority, &hazards);
    assert_eq!(check(&insts, &after, units, is_fixed), Ok(()));
    assert!(turns(&after) <= 3, "{} turns", turns(&after));
}

#[test]
fn what_waits_for_others_by_kind_lets_the_rest_pass() {
    let graph = DependenceGraph { successors: vec![vec![]; 3] };
    let order = |waits_for: [Vec<usize>; 2]| {
        let kinds = vec![Some((0, 10)), Some((1, 1)), None];
        let hazards = Hazards { kinds, waits_for: waits_for.to_vec(), ..Hazards::default() };
        list_schedule_with(&graph, |_, _| 1, |_| Priority::Usual, &hazards)
    };
    assert_eq!(order([vec![], vec![]]), [0, 1, 2]);
    assert_eq!(order([vec![], vec![0]]), [0, 2, 1]);
}

#[test]
fn orders_that_change_what_is_computed_are_found() {
    let (mut found, mut same) = (0, 0);
    for seed in 0..4000 {
        let mut random = Rng::new(seed);
        let insts = block(&mut random);
        let program: Vec<usize> = (0..insts.len()).collect();
        let mut order = program.clone();
        if order.len() < 2 {
            continue;
        }
        let at = random.below(order.len() as u64 - 1) as usize;
        let to = at + 1 + random.below((order.len() - at - 1) as u64) as usize;
        let moved = order.remove(at);
        order.insert(to, moved);
        match (check(&insts, &order, units, is_fixed), run(&insts, &program) == run(&insts, &order))
        {
            (Err(_), false) => found += 1,
            (Ok(()), true) => same += 1,
            // What is not known may be the same.
            (Err(_), true) => {}
            (Ok(()), false) => panic!("seed {seed}: {at} moved to {to} is not found"),
        }
    }
    assert!(found > 1000 && same > 200, "{found} found, {same} the same");
    let insts = block(&mut Rng::new(1));
    let twice: Vec<usize> = (0..insts.len()).map(|at| at.min(1)).collect();
    assert!(check(&insts, &twice, units, is_fixed).is_err(), "an instruction twice");
}

/// The edges of a straight block as text: `0 -> 1 True`.
fn edges(insts: &[InstData<Toy>]) -> Vec<String> {
    let graph = DependenceGraph::new(insts, units, is_fixed);
    let all = graph.successors.iter().enumerate();
    all.flat_map(|(from, edges)| {
        edges.iter().map(move |Edge { to, kind }| format!("{from} -> {to} {kind:?}"))
    })
    .collect()
}

#[test]
fn each_dependence_has_its_kind() {
    let r = VReg::from_u32;
    let plain = |insts: &[Toy]| -> Vec<InstData<Toy>> {
        insts.iter().map(|&inst| InstData::new(inst, None)).collect()
    };
    let insts = plain(&[
        Inst::Mix { dst: r(2), a: r(0), b: r(1) },
        Inst::Mix { dst: r(3), a: r(2), b: r(2) },
        Inst::Mix { dst: r(2), a: r(0), b: r(0) },
        Inst::Wait { phase: 1 },
        Inst::Add { dst: r(4), a: r(0) },
    ]);
    assert_eq!(
        edges(&insts),
        [
            "0 -> 1 True",
            "0 -> 2 Output",
            "0 -> 3 Control",
            "1 -> 2 Anti",
            "1 -> 3 Control",
            "2 -> 3 Control",
            "3 -> 4 Control"
        ]
    );
    let store = Inst::Store { src: r(2), at: r(0), offset: 0 };
    let load = Inst::Load { dst: r(3), at: r(1), offset: 0 };
    let mut insts = plain(&[store, load]);
    assert_eq!(edges(&insts), ["0 -> 1 Memory"]);
    // Two objects, then two addresses in one.
    let near = |object, address: u32| MemoryAccess {
        memory: Memory::Near,
        object: Some(object),
        rows: None,
        address: Some(AffineAddress::constant(address)),
        bytes: BYTES,
    };
    for (a, b, apart) in [
        (near(0, 0), near(1, 0), true),
        (near(0, 0), near(0, BYTES), true),
        (near(0, BYTES), near(0, 0), true),
        (near(0, 0), near(0, BYTES - 1), false),
        (near(0, BYTES - 1), near(0, 0), false),
        (near(0, 0), MemoryAccess { object: None, address: None, ..near(0, 0) }, false),
        (near(0, 0), MemoryAccess { object: None, address: None, bytes: 0, ..near(0, 0) }, true),
    ] {
        assert_eq!(a.is_disjoint_from(&b), apart, "{a:?} {b:?}");
        (insts[0].accesses, insts[1].accesses) = (vec![a], vec![b]);
        assert_eq!(edges(&insts).is_empty(), apart);
    }
    let mut graph = DependenceGraph::new(&plain(&[load, load]), units, is_fixed);
    assert_eq!(graph.successors[0], [Edge { to: 1, kind: Dependence::Output }]);
    graph.keep_order([0, 1].into_iter());
    assert!(graph.successors[0].contains(&Edge { to: 1, kind: Dependence::Order }));
}
