//! How often loops run: loops that count. The latch is the only way out and branches on a comparison
//! of a value that an addition makes each time round (an induction variable) with one that stays as
//! it is (Aho, Lam, Sethi, Ullman, "Compilers", section 9.6, over registers instead of expressions).

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

/// Rounds that are counted one by one where no formula says their number.
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
            NumberType::F32 => {
                let of = |bits: u64| f32::from_bits(bits as u32);
                let (step, bound) = (of(self.step), of(self.bound));
                let step = if self.subtracts { -step } else { step };
                self.walk(of(self.initial), |x| x + step, |x| self.goes_on(x.partial_cmp(&bound)))
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
        let wrap = |value: i128| -> i128 {
            let unsigned = (value as u128) & (u128::MAX >> (128 - bits));
            let is_signed = matches!(self.compared, NumberType::Signed(_));
            if is_signed && unsigned >> (bits - 1) & 1 == 1 {
                unsigned as i128 - (1 << bits)
            } else {
                unsigned as i128
            }
        };
        // A step is the least number in size that does the same.
        let step = wrap_signed(i128::from(self.step), bits);
        let step = if self.subtracts { -step } else { step };
        let bound = wrap(i128::from(self.bound));
        let first = wrap(i128::from(self.initial) + if self.stepped { step } else { 0 });
        let order = |x: i128| self.goes_on(Some(x.cmp(&bound)));
        // Without wrapping the relation changes at most twice: where the value passes the bound.
        if step != 0 {
            let passes = (bound - first) / step;
            for candidate in [0, passes - 1, passes, passes + 1] {
                let at = |k: i128| first + k * step;
                let fits = |k: i128| wrap(at(k)) == at(k);
                if candidate < 0 || !fits(candidate) {
                    continue;
                }
                let stays = |k: i128| order(at(k));
                if !stays(candidate) && (candidate == 0 || (stays(0) && stays(candidate - 1))) {
                    return u64::try_from(candidate + 1).ok();
                }
            }
        }
        let mut value = first;
        for round in 1..=ROUNDS {
            if !order(value) {
                return Some(round);
            }
            value = wrap(value + step);
        }
        None
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
    fn goes_on(&self, order: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering;
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

/// The number of least size that is the same modulo `2^bits`.
fn wrap_signed(value: i128, bits: u32) -> i128 {
    let unsigned = (value as u128) & (u128::MAX >> (128 - bits));
    if unsigned >> (bits - 1) & 1 == 1 { unsigned as i128 - (1 << bits) } else { unsigned as i128 }
}
