//! The condition of a loop whose trips are known where it is entered (section 3.1.3, the second case):
//! the registers that the number of trips is made of, and the least number that pays. Found in the
//! instructions of a loop, and evaluated by the hardware at its begin.

use nbcc_isa_simt::operands::{IntOp, IntTest, Source, WideOp};
use nbcc_isa_simt::{Op, PhysReg, RegClass};

use super::code::KernelCode;
use super::webs::Webs;

/// A loop goes on as long as `initial + trips * step` is in this relation to the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The register that the induction variable is in where the loop is entered.
    pub initial: PhysReg,
    /// What is added in each trip.
    pub step: Term,
    /// Whether it is subtracted instead.
    pub subtracts: bool,
    /// Whether the variable is compared after the step of its trip, not before it.
    pub stepped: bool,
    /// What the variable is compared with.
    pub bound: Term,
    /// The relation in which the loop goes on. All three are of 64 bits if the variable is.
    pub relation: IntTest,
    /// The trips from which offloading saves.
    pub threshold: u64,
}

/// A value of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// In a register.
    Register(PhysReg),
    /// This one, sign-extended where it is of 64 bits.
    Number(u32),
}

/// Trips that are counted one by one; conditions ask for no more.
const MOST_TRIPS: u64 = 1 << 20;

impl Condition {
    /// Whether the values are of 64 bits.
    pub fn is_wide(&self) -> bool {
        self.initial.class == RegClass::Wide
    }

    /// The registers that are read to decide.
    pub fn registers(&self) -> impl Iterator<Item = PhysReg> + use<> {
        let register = |term| match term {
            Term::Register(reg) => Some(reg),
            Term::Number(_) => None,
        };
        [Some(self.initial), register(self.step), register(self.bound)].into_iter().flatten()
    }

    /// Whether the loop makes as many trips as the threshold asks for, in one thread; `value` gives
    /// the registers at the begin, 64 bits of a pair.
    pub fn holds(&self, value: impl Fn(PhysReg) -> u64) -> bool {
        // The loop is entered, so that it makes one trip; each further one needs the relation.
        let wanted = self.threshold.saturating_sub(1);
        let mut trips = self.trips_from(value);
        (0..wanted).all(|_| trips.goes_on())
    }

    /// The trips that the loop makes in one thread; `None` for more than are counted, as of a loop
    /// without end.
    pub fn trips(&self, value: impl Fn(PhysReg) -> u64) -> Option<u64> {
        let mut trips = self.trips_from(value);
        trips.straight().or_else(|| (1..=MOST_TRIPS).find(|_| !trips.goes_on()))
    }

    fn trips_from(&self, value: impl Fn(PhysReg) -> u64) -> Walk {
        let is_wide = self.is_wide();
        let of = |term| match term {
            Term::Register(reg) => value(reg),
            Term::Number(number) => number as i32 as i64 as u64,
        };
        let step = of(self.step);
        let step = if self.subtracts { step.wrapping_neg() } else { step };
        let first = value(self.initial).wrapping_add(if self.stepped { step } else { 0 });
        Walk { at: first, step, bound: of(self.bound), relation: self.relation, is_wide }
    }
}

/// A variable on its way to its bound.
struct Walk {
    at: u64,
    step: u64,
    bound: u64,
    relation: IntTest,
    is_wide: bool,
}

impl Walk {
    /// The trips, where the variable meets its bound before it leaves the numbers of its type.
    fn straight(&self) -> Option<u64> {
        use IntTest::*;
        let bits = if self.is_wide { 64 } else { 32 };
        let is_signed = matches!(self.relation, Eq | Ne | LtS | LeS | GtS | GeS);
        let number = |value: u64| -> i128 {
            let value = i128::from(value) & ((1 << bits) - 1);
            if is_signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
        };
        let step = i128::from(self.step) & ((1 << bits) - 1);
        let step = if step >> (bits - 1) == 1 { step - (1 << bits) } else { step };
        let (mut first, mut bound, mut step) = (number(self.at), number(self.bound), step);
        let (lowest, highest) = match is_signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        let (mut lowest, mut highest) = (lowest, highest);
        if matches!(self.relation, GtS | GeS | GtU | GeU) {
            // The same among the numbers of the other sign.
            (first, bound, step) = (-first, -bound, -step);
            (lowest, highest) = (-highest, -lowest);
        }
        let more = match self.relation {
            Eq => i128::from(first == bound && step != 0),
            Ne if step == 0 => return (first == bound).then_some(1),
            Ne => {
                let far = bound - first;
                if far % step != 0 || far / step < 0 {
                    return None;
                }
                far / step
            }
            LtS | LtU | GtS | GtU if first >= bound => 0,
            LeS | LeU | GeS | GeU if first > bound => 0,
            _ if step <= 0 => return None,
            LtS | LtU | GtS | GtU => (bound - first + step - 1) / step,
            LeS | LeU | GeS | GeU => (bound - first) / step + 1,
        };
        let last = first + more * step;
        let is_eq = self.relation == Eq;
        if first == bound && is_eq && step == 0 || !is_eq && !(lowest..=highest).contains(&last) {
            return None;
        }
        u64::try_from(more + 1).ok()
    }

    /// Whether another trip follows, to which the variable goes on.
    fn goes_on(&mut self) -> bool {
        let (a, b) = match self.is_wide {
            true => (self.at, self.bound),
            false => (u64::from(self.at as u32), u64::from(self.bound as u32)),
        };
        let (x, y) = match self.is_wide {
            true => (a as i64, b as i64),
            false => (i64::from(a as i32), i64::from(b as i32)),
        };
        self.at = self.at.wrapping_add(self.step);
        match self.relation {
            IntTest::Eq => a == b,
            IntTest::Ne => a != b,
            IntTest::LtS => x < y,
            IntTest::LeS => x <= y,
            IntTest::GtS => x > y,
            IntTest::GeS => x >= y,
            IntTest::LtU => a < b,
            IntTest::LeU => a <= b,
            IntTest::GtU => a > b,
            IntTest::GeU => a >= b,
        }
    }
}

/// The relation that holds where this one does not.
fn complement(test: IntTest) -> IntTest {
    match test {
        IntTest::Eq => IntTest::Ne,
        IntTest::Ne => IntTest::Eq,
        IntTest::LtS => IntTest::GeS,
        IntTest::LeS => IntTest::GtS,
        IntTest::GtS => IntTest::LeS,
        IntTest::GeS => IntTest::LtS,
        IntTest::LtU => IntTest::GeU,
        IntTest::LeU => IntTest::GtU,
        IntTest::GtU => IntTest::LeU,
        IntTest::GeU => IntTest::LtU,
    }
}

/// The relation with its operands exchanged.
fn mirrored(test: IntTest) -> IntTest {
    match test {
        IntTest::Eq | IntTest::Ne => test,
        IntTest::LtS => IntTest::GtS,
        IntTest::LeS => IntTest::GeS,
        IntTest::GtS => IntTest::LtS,
        IntTest::GeS => IntTest::LeS,
        IntTest::LtU => IntTest::GtU,
        IntTest::LeU => IntTest::GeU,
        IntTest::GtU => IntTest::LtU,
        IntTest::GeU => IntTest::LeU,
    }
}

/// The condition of the loop that is the instructions from `begin` up to the one before `end`, with a
/// threshold of 1; `None` where its trips are not a matter of one addition a trip and of values that
/// it does not change. The range is entered at its begin and left to its end only.
pub fn condition(code: &KernelCode<'_>, webs: &Webs, begin: u32, end: u32) -> Option<Condition> {
    let latch = end - 1;
    let of_latch = code.at(latch);
    let guard = of_latch.guard?;
    if code.target(latch) != Some(begin) {
        return None;
    }
    let others = (begin..latch).any(|at| {
        let target = code.target(at);
        target == Some(begin) || target == Some(end)
    });
    let search = Search { code, webs, begin, end, latch };
    let test = search.only_write(webs.read(latch, guard.reg)?)?;
    if others || !search.once_a_trip(test) {
        return None;
    }
    let (relation, operands) = match code.at(test).op {
        Op::Cmp { test, a, b, .. } | Op::CmpWide { test, a, b, .. } => {
            (test, [term(b), Term::Register(a)])
        }
        _ => return None,
    };
    let [right, left] = operands;
    let relation = if guard.negated { complement(relation) } else { relation };
    let sides = [(left, right, relation), (right, left, mirrored(relation))];
    sides.into_iter().find_map(|(variable, bound, relation)| {
        let Term::Register(variable) = variable else { return None };
        let induction = search.induction(variable, test)?;
        search.is_invariant(bound, test).then_some(Condition {
            initial: induction.initial,
            step: induction.step,
            subtracts: induction.subtracts,
            stepped: induction.stepped,
            bound,
            relation,
            threshold: 1,
        })
    })
}

fn term(source: Source<PhysReg>) -> Term {
    match source {
        Source::Imm(number) => Term::Number(number),
        Source::Reg(reg) => Term::Register(reg),
    }
}

/// A variable that grows by the same in each trip.
struct Induction {
    initial: PhysReg,
    step: Term,
    subtracts: bool,
    stepped: bool,
}

struct Search<'a> {
    code: &'a KernelCode<'a>,
    webs: &'a Webs,
    begin: u32,
    end: u32,
    latch: u32,
}

/// Copies and additions that are followed to find a variable.
const LINKS: usize = 64;

impl Search<'_> {
    fn range(&self) -> (u32, u32) {
        (self.begin, self.end)
    }

    /// The one instruction that writes a web, if it always does and writes nothing else.
    fn only_write(&self, web: u32) -> Option<u32> {
        let mut writes =
            (self.begin..self.end).filter(|&at| self.webs.writes(at).any(|other| other == web));
        let at = writes.next()?;
        let is_whole = self.webs.writes(at).all(|other| other == web);
        let always = is_whole && self.code.at(at).guard.is_none();
        (writes.next().is_none() && always).then_some(at)
    }

    /// Whether an instruction runs exactly once in each trip.
    fn once_a_trip(&self, at: u32) -> bool {
        self.code.dominates(self.range(), at, self.latch)
            && !self.code.leads(self.range(), at, at, self.begin)
    }

    /// Whether what an instruction reads is the same in each trip.
    fn is_invariant(&self, term: Term, reader: u32) -> bool {
        let Term::Register(reg) = term else { return true };
        let Some(web) = self.webs.read(reader, reg) else { return false };
        !(self.begin..self.end).any(|at| self.webs.writes(at).any(|other| other == web))
    }

    /// The variable whose value `reg` is where `reader` reads it: backward through copies and one
    /// addition, through the trip before, to the register that carried the value from there.
    fn induction(&self, reg: PhysReg, reader: u32) -> Option<Induction> {
        let (mut reg, mut reader) = (reg, reader);
        let mut added: Vec<(Term, bool)> = Vec::new();
        let mut carried: Option<(PhysReg, usize)> = None;
        for _ in 0..LINKS {
            let write = self.only_write(self.webs.read(reader, reg)?)?;
            if !self.once_a_trip(write) {
                return None;
            }
            let is_before = write != reader && self.code.dominates(self.range(), write, reader);
            if !is_before {
                match carried {
                    None => carried = Some((reg, added.len())),
                    Some((initial, before)) => {
                        let one = added.len() == before + 1 && initial == reg && before <= 1;
                        let (step, subtracts) = *added.last()?;
                        let same = added.iter().all(|&other| other == (step, subtracts));
                        let stepped = before == 1;
                        return (one && same).then_some(Induction {
                            initial,
                            step,
                            subtracts,
                            stepped,
                        });
                    }
                }
            }
            let (to, (next, step)) = match self.code.at(write).op {
                Op::Mov { dst, src: Source::Reg(from) } | Op::MovWide { dst, src: from } => {
                    (dst, (from, None))
                }
                Op::Int { op: op @ (IntOp::Add | IntOp::Sub), dst, a, b } => {
                    (dst, self.addition(write, a, term(b), op == IntOp::Sub)?)
                }
                Op::IntWide { op: op @ (WideOp::Add | WideOp::Sub), dst, a, b } => {
                    (dst, self.addition(write, a, term(b), op == WideOp::Sub)?)
                }
                _ => return None,
            };
            // A half of a register grows otherwise than the whole.
            if to != reg {
                return None;
            }
            added.extend(step);
            (reg, reader) = (next, write);
        }
        None
    }

    /// The variable of an addition, and what is added to it.
    fn addition(
        &self,
        at: u32,
        a: PhysReg,
        b: Term,
        subtracts: bool,
    ) -> Option<(PhysReg, Option<(Term, bool)>)> {
        if self.is_invariant(b, at) {
            return Some((a, Some((b, subtracts))));
        }
        match b {
            Term::Register(variable) if !subtracts && self.is_invariant(Term::Register(a), at) => {
                Some((variable, Some((Term::Register(a), false))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula against counting, over small and extreme numbers of all relations.
    #[test]
    fn trips_are_those_that_are_counted() {
        let word = |index| PhysReg::new(RegClass::Word, index);
        let wide = |index| PhysReg::new(RegClass::Wide, index);
        let numbers =
            [0, 1, 2, 7, 10, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0xffff_fffd, u32::MAX];
        let steps = [0, 1, 3, 0x4000_0000, 0xffff_fffe, u32::MAX];
        let mut counted = 0;
        for relation in IntTest::ALL.iter().copied() {
            for (is_wide, subtracts, stepped) in
                [(false, false, false), (false, true, true), (true, false, true)]
            {
                let initial = if is_wide { wide(0) } else { word(0) };
                for (first, bound, step) in numbers.iter().flat_map(|&first| {
                    numbers.iter().flat_map(move |&bound| steps.map(|step| (first, bound, step)))
                }) {
                    let condition = Condition {
                        initial,
                        step: Term::Number(step),
                        subtracts,
                        stepped,
                        bound: Term::Number(bound),
                        relation,
                        threshold: 1,
                    };
                    let value = |_| i64::from(first as i32) as u64;
                    let mut walk = condition.trips_from(value);
                    let slow = (1..=100).find(|_| !walk.goes_on());
                    match slow {
                        Some(_) => assert_eq!(condition.trips(value), slow, "{condition:?}"),
                        None => {
                            let straight = condition.trips_from(value).straight();
                            assert!(straight.is_none_or(|found| found > 100), "{condition:?}");
                        }
                    }
                    for threshold in 1..=101 {
                        let enough = slow.is_none_or(|trips| trips >= threshold);
                        let holds = Condition { threshold, ..condition }.holds(value);
                        assert_eq!(holds, enough, "{condition:?} from {first:#x}");
                    }
                    counted += usize::from(slow.is_some());
                }
            }
        }
        assert!(counted > 5000, "{counted}");
    }
}
