//! Facts against their definitions, over random listings, and trip counts of loops written out.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn reg(number: u32) -> Reg {
    Reg::from_u32(number)
}

fn line(reads: &[u32], writes: &[u32]) -> Line {
    Line {
        reads: reads.iter().map(|&r| reg(r)).collect(),
        writes: writes.iter().map(|&r| reg(r)).collect(),
        falls: true,
        ..Line::default()
    }
}

fn set(to: u32, bits: u64) -> Line {
    let meaning = Meaning::Copy(Operand::Number(Number::Bits(bits)));
    Line { meaning, ..line(&[], &[to]) }
}

fn copy(to: u32, from: u32) -> Line {
    Line { meaning: Meaning::Copy(Operand::Reg(reg(from))), ..line(&[from], &[to]) }
}

fn add(to: u32, from: u32, step: Operand, ty: NumberType) -> Line {
    let mut reads = vec![from];
    if let Operand::Reg(step) = step {
        reads.push(step.as_u32());
    }
    let operands = [Operand::Reg(reg(from)), step];
    Line { meaning: Meaning::Add { operands, subtracts: false, ty }, ..line(&reads, &[to]) }
}

fn compare(to: u32, a: u32, b: Operand, relation: Relation, ty: NumberType) -> Line {
    let mut reads = vec![a];
    if let Operand::Reg(b) = b {
        reads.push(b.as_u32());
    }
    let operands = [Operand::Reg(reg(a)), b];
    let meaning = Meaning::Compare { operands, relation: Some(relation), ty };
    Line { meaning, ..line(&reads, &[to]) }
}

fn branch(predicate: u32, to: u32) -> Line {
    Line {
        targets: vec![to],
        keeps: true,
        meaning: Meaning::Branch { predicate: reg(predicate), negated: false },
        ..line(&[predicate], &[])
    }
}

fn leave() -> Line {
    Line { falls: false, effect: Effect::Leave, ..Line::default() }
}

fn listing(code: Vec<Line>) -> Listing {
    let registers = code
        .iter()
        .flat_map(|line| line.reads.iter().chain(&line.writes))
        .map(|reg| reg.as_u32() + 1)
        .max();
    Listing { name: "k".into(), code, registers: registers.unwrap_or(0), inputs: 0 }
}

fn only_loop(code: Vec<Line>) -> Trips {
    let listing = listing(code);
    let facts = Facts::new(&listing);
    let loops = facts.flow.loops();
    assert_eq!(loops.len(), 1, "{loops:?}");
    trips(&facts, &loops[0])
}

const U32: NumberType = NumberType::Unsigned(32);
const S32: NumberType = NumberType::Signed(32);

fn bits(number: i64) -> Operand {
    Operand::Number(Number::Bits(u64::from(number as u32)))
}

/// `do { i += step } while (i RELATION bound)` from `first` on.
fn counts(first: i64, step: i64, relation: Relation, bound: i64, ty: NumberType) -> Trips {
    only_loop(vec![
        set(0, u64::from(first as u32)),
        add(0, 0, bits(step), ty),
        compare(1, 0, bits(bound), relation, ty),
        branch(1, 1),
        leave(),
    ])
}

#[test]
fn counted_loops_run_as_often_as_they_do() {
    use Relation::*;
    // Against plain counting, with wrapping.
    for ty in [U32, S32] {
        for (first, step) in [(0, 1), (7, -1), (5, 3), (-9, 4), (100, -7), (2_147_483_640, 3)] {
            for bound in [0, 1, 8, 10, 64, -1, -20, 2_147_483_647] {
                for relation in [Eq, Ne, Lt, Le, Gt, Ge] {
                    let value = |x: i64| match ty {
                        NumberType::Signed(_) => i64::from(x as i32),
                        _ => i64::from(x as u32),
                    };
                    let goes_on = |x: i64| {
                        let (x, y) = (value(x), value(bound));
                        match relation {
                            Eq => x == y,
                            Ne => x != y,
                            Lt => x < y,
                            Le => x <= y,
                            Gt => x > y,
                            Ge => x >= y,
                        }
                    };
                    let (mut x, mut rounds) = (first, 0_u64);
                    let expected = loop {
                        x = value(x + step);
                        rounds += 1;
                        if !goes_on(x) {
                            break Some(rounds);
                        }
                        if rounds == 1 << 12 {
                            break None;
                        }
                    };
                    let found = counts(first, step, relation, bound, ty);
                    let case = format!("{first} by {step} {relation:?} {bound} {ty:?}");
                    match expected {
                        Some(rounds) => assert_eq!(found, Trips::Static(rounds), "{case}"),
                        // Too long to count here; not too long for a formula.
                        None => assert!(
                            matches!(found, Trips::Unknown)
                                || matches!(found, Trips::Static(n) if n > 1 << 12),
                            "{case}: {found:?}"
                        ),
                    }
                }
            }
        }
    }
    assert_eq!(counts(0, 1, Lt, 1_000_000_000, S32), Trips::Static(1_000_000_000));
}

#[test]
fn the_variable_may_be_compared_before_its_step_and_through_copies() {
    // The old value is compared: one round more.
    let before = only_loop(vec![
        set(0, 0),
        compare(1, 0, bits(10), Relation::Lt, S32),
        add(0, 0, bits(1), S32),
        branch(1, 1),
        leave(),
    ]);
    assert_eq!(before, Trips::Static(11));
    let copied = only_loop(vec![
        set(0, 0),
        add(2, 0, bits(2), S32),
        copy(0, 2),
        compare(1, 2, bits(10), Relation::Lt, S32),
        branch(1, 1),
        leave(),
    ]);
    assert_eq!(copied, Trips::Static(5));
    // A step in a register that the loop does not write, a bound that is not known.
    let step = Operand::Reg(reg(4));
    let by_register = |known: bool| {
        only_loop(vec![
            set(0, 0),
            if known { set(4, 2) } else { line(&[], &[4]) },
            add(0, 0, step, S32),
            compare(1, 0, bits(10), Relation::Lt, S32),
            branch(1, 2),
            leave(),
        ])
    };
    assert_eq!((by_register(true), by_register(false)), (Trips::Static(5), Trips::Runtime));
}

#[test]
fn what_does_not_count_is_unknown() {
    let unknown = |middle: Vec<Line>| {
        let mut code = vec![set(0, 0)];
        code.extend(middle);
        code.extend([compare(1, 0, bits(10), Relation::Lt, S32), branch(1, 1), leave()]);
        assert_eq!(only_loop(code), Trips::Unknown);
    };
    unknown(vec![line(&[0], &[0])]);
    unknown(vec![add(0, 0, bits(1), S32), add(0, 0, bits(1), S32)]);
    unknown(vec![Line { keeps: true, ..add(0, 0, bits(1), S32) }]);
    // A value that comes back in the second round after.
    unknown(vec![copy(0, 2), copy(2, 3), add(3, 0, bits(1), S32)]);
    // A second way out.
    unknown(vec![add(0, 0, bits(1), S32), branch(2, 5)]);
}

/// A small random listing: mostly forward branches.
fn random(seed: u64) -> Listing {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let count = 4 + next(14);
    let mut code: Vec<Line> = (0..count)
        .map(|at| {
            let mut line = match next(8) {
                0 => set(next(5) as u32, next(2)),
                1 => copy(next(5) as u32, next(5) as u32),
                2 | 3 => branch(
                    next(5) as u32,
                    if next(6) == 0 { next(count) } else { at + 1 + next(count - at) } as u32,
                ),
                _ => line(&[next(5) as u32, next(5) as u32], &[next(5) as u32]),
            };
            line.keeps |= next(4) == 0;
            line.reads.dedup();
            line
        })
        .collect();
    code.push(leave());
    Listing { registers: 5, ..listing(code) }
}

/// Registers that a range needs when those it leaves are needed behind it: liveness in the range
/// alone, as the definition says.
fn needed(facts: &Facts<'_>, first: u32, last: u32, out: &[Reg]) -> BTreeSet<Reg> {
    let count = (last - first + 2) as usize;
    let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); count];
    live[count - 1] = out.iter().copied().collect();
    loop {
        let before = live.clone();
        for at in (first..=last).rev() {
            let line = &facts.listing.code[at as usize];
            let mut here: BTreeSet<Reg> = BTreeSet::new();
            for &to in &facts.flow.successors[at as usize] {
                here.extend(&live[(to - first) as usize]);
            }
            if !line.keeps {
                line.writes.iter().for_each(|reg| {
                    here.remove(reg);
                });
            }
            here.extend(&line.reads);
            live[(at - first) as usize] = here;
        }
        if live == before {
            return live.swap_remove(0);
        }
    }
}

/// What registers hold before each instruction on every way to it: the greatest solution, instruction
/// by instruction and for all registers.
fn held(listing: &Listing, flow: &Flow) -> Vec<Option<BTreeMap<Reg, Number>>> {
    let mut before = vec![None; listing.code.len()];
    before[0] = Some(BTreeMap::new());
    loop {
        let last = before.clone();
        for (at, line) in listing.code.iter().enumerate() {
            let Some(mut known) = before[at].clone() else { continue };
            constants::step(line, &mut known);
            for &to in &flow.successors[at] {
                let there = before[to as usize].get_or_insert_with(|| known.clone());
                there.retain(|reg, number| known.get(reg) == Some(number));
            }
        }
        if before == last {
            return before;
        }
    }
}

#[test]
fn what_live_registers_hold_is_known() {
    let mut seen = 0;
    for seed in 1..3000 {
        let listing = random(seed);
        let facts = Facts::new(&listing);
        for (at, known) in (0..).zip(held(&listing, &facts.flow)) {
            for reg in facts.live.before(&listing, &facts.flow, at) {
                let expected = known.as_ref().and_then(|known| known.get(&reg).copied());
                let number = facts.constants.number(&listing, &facts.flow, reg, at);
                assert!(number == expected || known.is_none(), "seed {seed}: {reg} at {at}");
                seen += u32::from(number.is_some());
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn ranges_need_what_liveness_inside_them_says() {
    let mut seen = 0;
    for seed in 1..3000 {
        let listing = random(seed);
        let facts = Facts::new(&listing);
        let count = listing.code.len() as u32 - 1;
        for first in 0..count {
            // Also where nothing leads to.
            let known = facts.constants.before(&listing, &facts.flow, first);
            for number in 0..5 {
                let reg = reg(number);
                let one = facts.constants.number(&listing, &facts.flow, reg, first);
                assert_eq!(one, known.get(&reg).copied(), "seed {seed}: {reg} at {first}");
            }
            for last in first..count {
                let inside = first..=last;
                let is_confined = inside.clone().all(|at| {
                    let flow = &facts.flow;
                    flow.is_reachable(at)
                        && flow.successors[at as usize]
                            .iter()
                            .all(|to| (first..=last + 1).contains(to))
                        && (at == first
                            || flow.predecessors[at as usize].iter().all(|p| inside.contains(p)))
                });
                if !is_confined {
                    continue;
                }
                seen += 1;
                let live = facts.live_sets(first, last);
                let writes: BTreeSet<Reg> = inside
                    .flat_map(|at| listing.code[at as usize].writes.iter().copied())
                    .collect();
                let expected: Vec<Reg> = needed(&facts, first, last, &live.registers_out)
                    .into_iter()
                    .filter(|reg| facts.may_be_written(*reg, first))
                    .filter(|reg| writes.contains(reg) || !known.contains_key(reg))
                    .collect();
                assert_eq!(live.registers_in, expected, "seed {seed}: {first}..={last}");
            }
        }
    }
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn loops_without_end_leave_nothing() {
    let jump = |to: u32| Line { targets: vec![to], falls: false, ..Line::default() };
    // r0 is written in a loop without end, and lives past it on another way.
    let code = vec![set(0, 1), branch(1, 4), line(&[0], &[0]), jump(2), line(&[0], &[]), leave()];
    let listing = listing(code);
    let live = Facts::new(&listing).live_sets(2, 3);
    assert_eq!((live.registers_in, live.registers_out), (vec![reg(0)], vec![]));
    // Within a range that is left on another way: only what leaves it counts.
    let code = vec![
        line(&[], &[0]),
        branch(1, 4),
        line(&[], &[0]),
        jump(2),
        line(&[], &[2]),
        line(&[0, 2], &[]),
        leave(),
    ];
    let listing = self::listing(code);
    let live = Facts::new(&listing).live_sets(1, 4);
    assert_eq!((live.registers_in, live.registers_out), (vec![], vec![reg(2)]));
}

#[test]
fn a_copy_in_some_threads_of_what_all_hold_is_a_constant() {
    let some = |line: Line| Line { keeps: true, ..line };
    for (other, expected) in [(7, Some(Number::Bits(7))), (8, None)] {
        let code = vec![set(0, 7), set(1, other), some(copy(0, 1)), line(&[0], &[]), leave()];
        let listing = listing(code);
        let facts = Facts::new(&listing);
        assert_eq!(facts.constants.number(&listing, &facts.flow, reg(0), 3), expected);
    }
    // One after the other, and through one that all threads make.
    let code = vec![
        set(0, 7),
        set(1, 7),
        some(copy(1, 0)),
        set(2, 7),
        some(copy(2, 1)),
        copy(3, 2),
        some(set(3, 7)),
        line(&[3], &[]),
        leave(),
    ];
    let listing = listing(code);
    let facts = Facts::new(&listing);
    let number = |reg, at| facts.constants.number(&listing, &facts.flow, reg, at);
    assert_eq!(number(reg(3), 7), Some(Number::Bits(7)));
    for at in 1..8 {
        let known = facts.constants.before(&listing, &facts.flow, at);
        for n in 0..4 {
            assert_eq!(number(reg(n), at), known.get(&reg(n)).copied(), "r{n} before {at}");
        }
    }
}
