//! The sweep over ends against all ranges tried one by one.

use nbcc_analysis::listing::{Effect, Facts, Input, Line, Listing, Meaning, Number, Operand, Reg};
use nbcc_isa_tom::{Machine, cost};

use super::*;

fn random(seed: u64) -> Listing {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let count = 6 + next(22);
    let registers = 3 + next(6);
    let mut code: Vec<Line> = Vec::new();
    for at in 0..count {
        let mut line = Line { falls: true, keeps: next(8) == 0, ..Line::default() };
        for _ in 0..next(3) {
            line.reads.push(Reg::from_u32(next(registers) as u32));
        }
        line.reads.sort_unstable();
        line.reads.dedup();
        match next(10) {
            0..=2 => line.effect = Effect::Store,
            3..=5 => {
                line.effect = Effect::Load;
                line.writes.push(Reg::from_u32(next(registers) as u32));
            }
            6 => {
                line.meaning = Meaning::Copy(Operand::Number(Number::Bits(next(2))));
                line.writes.push(Reg::from_u32(next(registers) as u32));
            }
            7 => {
                let to =
                    if next(8) == 0 { next(count) } else { at + 1 + next((count - at).min(6)) };
                line.targets.push(to as u32);
                line.falls = next(3) > 0;
            }
            8 => line.inputs.push(Input::from_u32(next(3) as u32)),
            _ if next(6) == 0 => line.effect = Effect::Atomic,
            _ => line.writes.push(Reg::from_u32(next(registers) as u32)),
        }
        code.push(line);
    }
    code.push(Line { effect: Effect::Leave, ..Line::default() });
    Listing { name: "k".into(), code, registers: registers as u32, inputs: 3 }
}

/// What a set of ranges saves, in quarters of a word; how many they are; their instructions.
type Worth = (i64, i64, i64);

/// The worth of the best set, with every range judged by itself.
fn best(facts: &Facts<'_>, cost: &Cost, barred: &[bool]) -> Worth {
    let code = &facts.listing.code;
    let mut best: Vec<Worth> = vec![(0, 0, 0)];
    for last in 0..code.len() {
        let mut here = best[last];
        for first in (0..=last).rev() {
            let range = Range { first: first as u32, last: last as u32 };
            let is_barred = barred[first..=last].iter().any(|&barred| barred);
            if is_barred || limits::of_range(facts, range).is_some() {
                continue;
            }
            let lines = &code[first..=last];
            let count = |effect| lines.iter().filter(|line| line.effect == effect).count() as u64;
            let live = facts.live_sets(range.first, range.last);
            let amounts = amounts(&live, count(Effect::Load), count(Effect::Store));
            let saved = (-4.0 * cost::traffic(cost, &amounts, 1).total()) as i64;
            if saved > 0 {
                let (sum, ranges, instructions) = best[first];
                let size = (last - first + 1) as i64;
                here = here.max((sum + saved, ranges - 1, instructions - size));
            }
        }
        best.push(here);
    }
    best[code.len()]
}

#[test]
fn the_ranges_found_are_the_best() {
    let cost = Machine::built_in("tom").cost;
    let mut with_ranges = 0;
    for seed in 1..4000 {
        let listing = random(seed);
        let facts = Facts::new(&listing);
        let barred: Vec<bool> = (0..listing.code.len())
            .map(|at| {
                let line = &listing.code[at];
                limits::of_effect(line.effect).is_some()
                    || line.targets.iter().any(|&to| to as usize <= at)
            })
            .collect();
        let ranges = blocks::find(&facts, &cost, &barred);
        let mut worth: Worth = (0, 0, 0);
        for range in &ranges {
            assert_eq!(limits::of_range(&facts, *range), None, "seed {seed}: {range:?}");
            let lines = &listing.code[range.first as usize..=range.last as usize];
            let count = |effect| lines.iter().filter(|line| line.effect == effect).count() as u64;
            let live = facts.live_sets(range.first, range.last);
            let amounts = amounts(&live, count(Effect::Load), count(Effect::Store));
            worth.0 += (-4.0 * cost::traffic(&cost, &amounts, 1).total()) as i64;
            worth.1 -= 1;
            worth.2 -= lines.len() as i64;
        }
        assert_eq!(worth, best(&facts, &cost, &barred), "seed {seed}: {ranges:?}");
        with_ranges += usize::from(!ranges.is_empty());
    }
    assert!(with_ranges > 1000, "{with_ranges}");
}

#[test]
fn a_straight_line_of_twenty_thousand_is_one_range() {
    let mut code = Vec::new();
    for at in 0..20_000u32 {
        let mut line = Line { falls: true, ..Line::default() };
        line.reads.push(Reg::from_u32(at % 7));
        match at % 3 {
            0 => line.effect = Effect::Store,
            _ => line.writes.push(Reg::from_u32(7 + at % 5)),
        }
        code.push(line);
    }
    code.push(Line { effect: Effect::Leave, ..Line::default() });
    let listing = Listing { name: "k".into(), code, registers: 12, inputs: 0 };
    let found = find(&listing, &Machine::built_in("tom").cost);
    assert_eq!(found.candidates.len(), 1);
    assert_eq!(found.candidates[0].amounts.stores, 6667);
}
