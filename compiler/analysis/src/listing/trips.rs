//! How often loops run: loops that count. The latch is the only way out and branches on a comparison
//! of a value that an addition makes each time round (an induction variable) with one that stays as
//! it is (Aho, Lam, Sethi, Ullman, "Compilers", section 9.6, over registers instead of expressions).

use std::cmp::Ordering;

use super::{
    Effect, Facts, Line, Meaning, NaturalLoop, Number, NumberType, Operand, Reg, Relation,
};

/// How often the latch of a loop runs, each time that the loop is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trips {
    /// That often.
    Static(u64),
    /// It is determined where the loop is entered.
    Runtime,
    /// It is found while the loop runs.
    Unknown,
}

/// Rounds of a loop over floats, which are counted one by one.
const ROUNDS: u64 = 1 << 20;

/// How often a loop runs.
pub fn trips(facts: &Facts<'_>, natural: &NaturalLoop) -> Trips {
    counted(facts, natural).unwrap_or(Trips::Unknown)
}

/// `None` where the loop does not count.
fn counted(facts: &Facts<'_>, natural: &NaturalLoop) -> Option<Trips> {
    let search = Search { facts, natural, latch: *natural.latches.first()? };
    let [latch] = natural.latches[..] else { return None };
    let leaves = natural.body.iter().filter(|&&at| {
        let successors = &facts.flow.successors[at as usize];
        let line = &facts.listing.code[at as usize];
        let falls_out = line.falls && at as usize + 1 == facts.listing.code.len();
        falls_out
            || line.effect == Effect::Leave
            || successors.iter().any(|&to| !natural.contains(to))
    });
    if !leaves.eq([&latch]) {
        return None;
    }
    let Meaning::Branch { predicate, negated } = facts.listing.code[latch as usize].meaning else {
        return None;
    };
    let test = search.only_write(predicate)?;
    let line = &facts.listing.code[test as usize];
    let Meaning::Compare { operands, relation, ty } = line.meaning else { return None };
    // The predicate is that of this round only if the comparison comes before the latch in each.
    if !search.once_a_round(test) {
        return None;
    }
    let is_complement = line.writes.iter().position(|&reg| reg == predicate) == Some(1);
    let exits_to_next = !facts.listing.code[latch as usize].targets.contains(&natural.header);
    let holds = !(negated ^ is_complement ^ exits_to_next);
    let (side, induction) = operands.iter().enumerate().find_map(|(side, operand)| {
        let Operand::Reg(reg) = *operand else { return None };
        Some((side, search.induction(reg, test)?))
    })?;
    let bound = search.invariant(operands[1 - side])?;
    let number = |value: Invariant| match value {
        Invariant::Number(number) => Some(number),
        Invariant::Value => None,
    };
    let numbers = (number(induction.initial), number(induction.step), number(bound));
    let (Some(initial), Some(step), Some(bound)) = numbers else { return Some(Trips::Runtime) };
    let (Number::Bits(initial), Number::Bits(step), Number::Bits(bound)) = (initial, step, bound)
    else {
        return Some(Trips::Runtime);
    };
    let count = Count {
        initial,
        step,
        bound,
        subtracts: induction.subtracts,
        stepped: induction.stepped,
        ty: induction.ty,
        compared: ty,
        relation: relation?,
        swapped: side == 1,
        holds,
    };
    Some(count.rounds().map_or(Trips::Unknown, Trips::Static))
}

/// A value that a loop does not change.
#[derive(Clone, Copy, Debug)]
enum Invariant {
    Number(Number),
    Value,
}

#[derive(Debug)]
struct Induction {
    initial: Invariant,
    step: Invariant,
    subtracts: bool,
    ty: NumberType,
    /// Whether the first value that is asked for has the step in it already.
    stepped: bool,
}

struct Search<'a> {
    facts: &'a Facts<'a>,
    natural: &'a NaturalLoop,
    latch: u32,
}

impl Search<'_> {
    fn line(&self, at: u32) -> &Line {
        &self.facts.listing.code[at as usize]
    }

    /// The one instruction of the loop that writes a register, if it always writes it.
    fn only_write(&self, reg: Reg) -> Option<u32> {
        let mut writes =
            self.natural.body.iter().filter(|&&at| self.line(at).writes.contains(&reg));
        let (first, more) = (*writes.next()?, writes.next());
        (more.is_none() && !self.line(first).keeps).then_some(first)
    }

    /// Whether an instruction runs exactly once in each round: on every way to the latch, and in no
    /// loop inside.
    fn once_a_round(&self, at: u32) -> bool {
        let flow = &self.facts.flow;
        if !flow.dominates(at, self.latch) {
            return false;
        }
        // Is there a way from it to itself that does not pass the header?
        let mut stack = flow.successors[at as usize].clone();
        let mut seen = std::collections::BTreeSet::new();
        while let Some(next) = stack.pop() {
            if next == self.natural.header || !self.natural.contains(next) || !seen.insert(next) {
                continue;
            }
            if next == at {
                return false;
            }
            stack.extend(&flow.successors[next as usize]);
        }
        true
    }

    /// Whether, in a round, `a` runs before `b`, both of which run once.
    fn before(&self, a: u32, b: u32) -> bool {
        a != b && self.facts.flow.dominates(a, b)
    }

    /// What an operand is that the loop does not write.
    fn invariant(&self, operand: Operand) -> Option<Invariant> {
        match operand {
            Operand::Number(number) => Some(Invariant::Number(number)),
            Operand::Reg(reg) => {
                let is_written =
                    self.natural.body.iter().any(|&at| self.line(at).writes.contains(&reg));
                (!is_written).then(|| self.at_entry(reg))
            }
        }
    }

    /// What a register holds where the loop is entered.
    fn at_entry(&self, reg: Reg) -> Invariant {
        let facts = self.facts;
        let entries = facts.flow.predecessors[self.natural.header as usize]
            .iter()
            .filter(|&&from| !self.natural.contains(from));
        let mut number = None;
        let mut all = entries.map(|&from| {
            let mut known = facts.constants.before(facts.listing, &facts.flow, from);
            super::constants::step(self.line(from), &mut known);
            known.get(&reg).copied()
        });
        if self.natural.header == 0 {
            return Invariant::Value;
        }
        if let Some(Some(first)) = all.next()
            && all.all(|other| other == Some(first))
        {
            number = Some(first);
        }
        number.map_or(Invariant::Value, Invariant::Number)
    }

    /// The induction variable whose value `reg` is where `reader` reads it: backward from there
    /// through copies and one addition, round after round, to a register met before.
    fn induction(&self, reg: Reg, reader: u32) -> Option<Induction> {
        let (mut reg, mut reader) = (reg, reader);
        let mut additions: Vec<u32> = Vec::new();
        // Registers that came into this round from the last one, with how many additions there were
        // on the way to them.
        let mut carried: Vec<(Reg, usize)> = Vec::new();
        for _ in 0..=2 * self.natural.body.len() {
            let write = self.only_write(reg)?;
            if !self.once_a_round(write) {
                return None;
            }
            if !self.before(write, reader) {
                if let Some(&(first, before)) = carried.first() {
                    // A value that takes several rounds to come back is several variables.
                    // Nor is one the variable that is it plus something else.
                    let is_one = first == reg && additions.len() == before + 1;
                    let is_itself = before == 0 || before == 1 && additions[0] == additions[1];
                    return (is_one && is_itself)
                        .then(|| self.variable(reg, additions[before], before == 1))
                        .flatten();
                }
                carried.push((reg, additions.len()));
            }
            let from = match &self.line(write).meaning {
                Meaning::Copy(from) => *from,
                Meaning::Add { operands, subtracts, .. } => {
                    additions.push(write);
                    let is_step = |operand| self.invariant(operand).is_some();
                    match operands {
                        [from, step] if is_step(*step) => *from,
                        [step, from] if !subtracts && is_step(*step) => *from,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            let Operand::Reg(next) = from else { return None };
            (reg, reader) = (next, write);
        }
        None
    }

    /// The variable that enters the loop in `reg` and grows by the addition at `at`.
    fn variable(&self, reg: Reg, at: u32, stepped: bool) -> Option<Induction> {
        let Meaning::Add { operands, subtracts, ty } = self.line(at).meaning else { return None };
        let step = operands.iter().rev().find_map(|&operand| self.invariant(operand))?;
        Some(Induction { initial: self.at_entry(reg), step, subtracts, ty, stepped })
    }
}

/// A loop all of whose numbers are known.
struct Count {
    initial: u64,
    step: u64,
    bound: u64,
    subtracts: bool,
    stepped: bool,
    ty: NumberType,
    compared: NumberType,
    relation: Relation,
    /// Whether the bound is the first operand of the comparison.
    swapped: bool,
    /// Whether the loop goes on where the relation holds.
    holds: bool,
}

impl Count {
    /// The number of rounds; `None` where it is beyond what is counted, as of a loop without end.
    fn rounds(&self) -> Option<u64> {
        match self.ty {
            NumberType::Signed(bits) | NumberType::Unsigned(bits) => self.integers(bits),
            NumberType::F32 | NumberType::FlushedF32 => {
                let flushed = |x: f32, ty| match ty {
                    NumberType::FlushedF32 if x.is_subnormal() => 0.0,
                    _ => x,
                };
                let of = |bits: u64| f32::from_bits(bits as u32);
                let step = if self.subtracts { -of(self.step) } else { of(self.step) };
                let bound = flushed(of(self.bound), self.compared);
                let next = |x| flushed(flushed(x, self.ty) + flushed(step, self.ty), self.ty);
                self.walk(of(self.initial), next, |x| {
                    self.goes_on(flushed(x, self.compared).partial_cmp(&bound))
                })
            }
            NumberType::F64 => {
                let (step, bound) = (f64::from_bits(self.step), f64::from_bits(self.bound));
                let step = if self.subtracts { -step } else { step };
                let first = f64::from_bits(self.initial);
                self.walk(first, |x| x + step, |x| self.goes_on(x.partial_cmp(&bound)))
            }
            NumberType::Other => None,
        }
    }

    fn integers(&self, bits: u32) -> Option<u64> {
        let all = 1_u128 << bits;
        // Numbers in their order, from the least one on.
        let least = if matches!(self.compared, NumberType::Signed(_)) { all / 2 } else { 0 };
        let place = |number: u64| (u128::from(number) + least) % all;
        let step = u128::from(self.step) % all;
        let step = if self.subtracts { (all - step) % all } else { step };
        let first = (place(self.initial) + if self.stepped { step } else { 0 }) % all;
        let bound = place(self.bound);
        // The places at which the loop ends: a range, around the end maybe.
        let ends = [Ordering::Less, Ordering::Equal, Ordering::Greater]
            .map(|order| !self.goes_on(Some(order)));
        let (from, to) = match ends {
            [false, false, false] => return None,
            [true, true, true] => (first, first),
            [true, false, false] => (0, bound.checked_sub(1)?),
            [true, true, false] => (0, bound),
            [false, true, false] => (bound, bound),
            [false, true, true] => (bound, all - 1),
            [false, false, true] if bound == all - 1 => return None,
            [false, false, true] => (bound + 1, all - 1),
            [true, false, true] => ((bound + 1) % all, (bound + all - 1) % all),
        };
        let behind = |place: u128| (place + all - first) % all;
        let (from, to) = (behind(from), behind(to));
        let rounds = if from > to { 0 } else { least_multiple(step, all, from, to)? };
        u64::try_from(rounds + 1).ok()
    }

    fn walk<T: Copy>(
        &self,
        first: T,
        next: impl Fn(T) -> T,
        goes_on: impl Fn(T) -> bool,
    ) -> Option<u64> {
        let mut value = if self.stepped { next(first) } else { first };
        for round in 1..=ROUNDS {
            if !goes_on(value) {
                return Some(round);
            }
            value = next(value);
        }
        None
    }

    /// Whether the loop goes on where the variable is in this order to the bound; `None` for a NaN.
    fn goes_on(&self, order: Option<Ordering>) -> bool {
        let order = if self.swapped { order.map(Ordering::reverse) } else { order };
        let holds = match self.relation {
            Relation::Eq => order == Some(Ordering::Equal),
            Relation::Ne => order != Some(Ordering::Equal),
            Relation::Lt => order == Some(Ordering::Less),
            Relation::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Relation::Gt => order == Some(Ordering::Greater),
            Relation::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        };
        holds == self.holds
    }
}

/// The least `k` for which `k` times a number lies in a range modulo `all`, which is at most 2^64: by the
/// steps of Euclid's algorithm. Where no multiple below `all` lies in the range, one that went around it `j`
/// times does, for which `j` times `all` lies in a range modulo the number.
fn least_multiple(number: u128, all: u128, from: u128, to: u128) -> Option<u128> {
    if from == 0 {
        return Some(0);
    }
    if number == 0 {
        return None;
    }
    let below = from.div_ceil(number);
    if below * number <= to {
        return Some(below);
    }
    let before = |place: u128| (number - place % number) % number;
    let around = least_multiple(all % number, number, before(to), before(from))?;
    Some((from + all * around).div_ceil(number))
}

#[cfg(test)]
mod tests {
    use nbcc_testing::Rng;

    use super::*;

    /// Rounds as they are, one by one; `None` where the variable comes back without an end.
    fn walked(count: &Count, bits: u32) -> Option<u64> {
        let mask = (1_u64 << bits) - 1;
        let number = |x: u64| match count.compared {
            NumberType::Signed(_) => ((x << (64 - bits)) as i64 >> (64 - bits)) as i128,
            _ => i128::from(x),
        };
        let step = if count.subtracts { count.step.wrapping_neg() } else { count.step };
        let mut value = count.initial;
        if count.stepped {
            value = value.wrapping_add(step) & mask;
        }
        for round in 1..=mask + 2 {
            if !count.goes_on(Some(number(value).cmp(&number(count.bound)))) {
                return Some(round);
            }
            value = value.wrapping_add(step) & mask;
        }
        None
    }

    #[test]
    fn rounds_of_integers_are_those_that_run() {
        use Relation::*;
        let mut random = Rng::new(7);
        for _ in 0..20_000 {
            let bits = 2 + random.below(7) as u32;
            let mut number = || random.below(1 << bits);
            let (initial, step, bound) = (number(), number(), number());
            let ty = NumberType::Signed(bits);
            let compared = if random.one_in(2) { ty } else { NumberType::Unsigned(bits) };
            let relation = *random.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
            let [subtracts, stepped, swapped, holds] = [(); 4].map(|()| random.one_in(2));
            #[rustfmt::skip]
            let count =
                Count { initial, step, bound, subtracts, stepped, ty, compared, relation, swapped, holds };
            let is = count.rounds();
            assert_eq!(
                is,
                walked(&count, bits),
                "{initial} {step} {bound} {relation:?} {compared:?} {subtracts} {stepped} {swapped} {holds}"
            );
        }
    }

    #[test]
    fn wrapping_rounds_of_wide_integers_are_counted() {
        let rounds = |bits, initial, step, bound| {
            let ty = NumberType::Signed(bits);
            let (subtracts, stepped, swapped, holds) = (false, true, false, true);
            let relation = Relation::Ne;
            let compared = ty;
            #[rustfmt::skip]
            let count =
                Count { initial, step, bound, subtracts, stepped, ty, compared, relation, swapped, holds };
            count.rounds()
        };
        assert_eq!(rounds(32, 9, 1, 4), Some(4_294_967_291));
        assert_eq!(rounds(64, 9, 1, 4), Some(u64::MAX - 4));
        assert_eq!(rounds(32, 0, 2, 1), None);
        assert_eq!(rounds(64, 0, 3, 1), Some(12_297_829_382_473_034_411));
    }
}
