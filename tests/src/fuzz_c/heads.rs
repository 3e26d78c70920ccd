//! Loops as programmers count: up, down, in steps, to a difference, in `while` and `do`, left in the
//! middle, in triangles, with counters of all widths.

use super::generate::{Generator, WORK};
use super::model::Expr;
use super::subscripts::{Counter, Range, Reach};

/// How a loop counts.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub before: Option<Expr>,
    pub head: Expr,
    /// What leaves the loop at the start of its body, where the head does not.
    pub first: Option<Expr>,
    pub last: Option<Expr>,
    pub tail: Option<Expr>,
    pub alone: String,
    pub counter: Counter,
    /// Iterations at most.
    pub trips: i64,
    /// Whether `continue` comes by what counts.
    pub continues: bool,
}

impl Generator {
    /// A value that loops end at, and what it can be.
    pub fn bound(&mut self) -> (Expr, Range) {
        let lengths: Vec<usize> =
            (0..self.scalars.len()).filter(|&s| self.scalars[s].is_length).collect();
        let number = self.random.pick(&lengths);
        let (name, range) = (Expr::leaf(&self.scalars[number].name), self.range_of_scalar(number));
        match self.random.below(30) {
            0..=13 => (name, range),
            14 | 15 => {
                let by = self.random.between(1, 3);
                (Expr::op(format!("$ + {by}"), [name]), range.plus(by))
            }
            16..=18 => {
                let by = self.random.between(1, 4);
                (Expr::op(format!("$ - {by}"), [name]), range.plus(-by))
            }
            19 => {
                let text = self.random.pick(&["$ / 2", "($ >> 1)"]);
                (Expr::op(text, [name]), Range::new(range.low / 2, range.high / 2))
            }
            20 if lengths.len() > 1 => {
                let least = Range::new(
                    self.scalars[0].least.min(self.scalars[1].least),
                    self.scalars[0].most.min(self.scalars[1].most),
                );
                let (n, m) = (Expr::leaf(&self.scalars[0].name), Expr::leaf(&self.scalars[1].name));
                (Expr::op("($ < $ ? $ : $)", [n.clone(), m.clone(), n, m]), least)
            }
            21 => {
                let mask = self.random.pick(&[3, 7, 15]);
                let value = self.element(false);
                (Expr::op(format!("(int)($ & {mask})"), [value]), Range::new(0, mask))
            }
            22 if range.high <= 33 => {
                (Expr::op("2 * $", [name]), Range::new(2 * range.low, 2 * range.high))
            }
            _ => {
                let count = self.random.pick(&[0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 20, 24]);
                (Expr::leaf(count.to_string()), Range::exactly(count))
            }
        }
    }

    /// A way to count.
    pub fn head(&mut self) -> Head {
        let (mut bound, mut range) = self.bound();
        let room = WORK / self.work.max(1);
        if range.high > room {
            let count = self.random.between(1, room.clamp(1, 6));
            (bound, range) = (Expr::leaf(count.to_string()), Range::exactly(count));
        }
        let name = self.name("i");
        let outer = self.counters.last().cloned();
        let form = self.random.below(36);
        if let (28..=31, Some(outer)) = (form, outer)
            && outer.range.low >= 0
            && outer.range.high <= room
        {
            return self.triangle(name, outer, bound, range);
        }
        let is_signed = range.low < 0 || matches!(form, 12..=15);
        let ty = self.counter_type(is_signed, range.high);
        let low = match self.random.below(10) {
            0..=6 => 0,
            7 | 8 => 1,
            _ => self.random.between(2, 8),
        };
        // What is below the bound; an empty loop has its least value still.
        let reach = range.reach.map(|reach| Reach { plus: reach.plus - 1, ..reach });
        let upto = |low: i64| Range { low, high: (range.high - 1).max(low), reach };
        let trips = range.high.max(0);
        let mut made = Head {
            before: None,
            head: Expr::leaf(""),
            first: None,
            last: None,
            tail: None,
            alone: format!("{ty} {name} = {low};"),
            counter: Counter { name: name.clone(), range: upto(low) },
            trips,
            continues: true,
        };
        let declared = Some(Expr::leaf(format!("{ty} {name} = {low};")));
        let op = |text: String| Expr::op(text, [bound.clone()]);
        match form {
            8 | 9 => {
                made.head = op(format!("for ({ty} {name} = {low}; {name} <= $; {name}++)"));
                made.counter.range = made.counter.range.plus(1);
                made.counter.range.low = low;
                made.trips += 1;
            }
            10 | 11 => {
                let by = self.random.pick(&[2, 2, 3, 4]);
                made.head = op(format!("for ({ty} {name} = {low}; {name} < $; {name} += {by})"));
                made.trips = trips / by + 1;
            }
            12..=15 => {
                let least = self.random.pick(&[0, 0, 0, 1, 2]);
                made.head = op(format!("for ({ty} {name} = $ - 1; {name} >= {least}; {name}--)"));
                made.counter.range = upto(least);
                made.alone = format!("{ty} {name} = {least};");
            }
            16 | 17 if range.low >= 0 => {
                let ty = self.random.pick(&["unsigned", "int", "uint8_t", "uint64_t"]);
                made.head = op(format!("for ({ty} {name} = $; {name}-- > 0;)"));
                made.counter.range = upto(0);
                made.alone = format!("{ty} {name} = 0;");
            }
            16 | 17 => {
                made.head = op(format!("for (int {name} = $; {name} > 0; {name}--)"));
                made.counter.range = upto(1).plus(1);
                made.counter.range.low = 1;
                made.alone = format!("int {name} = 1;");
            }
            18 | 19 if range.low >= 0 => {
                let step = self.random.pick(&["++", " += 1"]);
                made.head = op(format!("for ({ty} {name} = 0; {name} != $; {name}{step})"));
                made.counter.range = upto(0);
                made.alone = format!("{ty} {name} = 0;");
            }
            20 | 21 => {
                made.before = declared;
                made.head = op(format!("while ({name} < $)"));
                made.last = Some(Expr::leaf(format!("{name}++;")));
                made.continues = false;
            }
            22 => {
                made.before = Some(Expr::leaf(format!("{ty} {name} = {};", low - 1)));
                made.head = op(format!("while (++{name} < $)"));
                if ty.starts_with('u') {
                    made.before = Some(Expr::leaf(format!("int {name} = {};", low - 1)));
                }
            }
            23 | 24 => {
                made.before = declared;
                made.head = Expr::leaf("do");
                made.tail = Some(op(format!("while (++{name} < $);")));
                made.counter.range.reach = None;
                made.counter.range.high = made.counter.range.high.max(low);
                made.trips = trips.max(1);
            }
            25 | 26 => {
                made.before = declared;
                made.head = Expr::leaf("for (;;)");
                made.first = Some(op(format!("if ({name} >= $) break;")));
                made.last = Some(Expr::leaf(format!("{name}++;")));
                made.continues = false;
            }
            27 => {
                let by = self.random.pick(&["*= 2", "<<= 1", "+= i + 1"]).replace('i', &name);
                made.head = op(format!("for (int {name} = 1; {name} < $; {name} {by})"));
                made.counter.range = upto(1);
                made.alone = format!("int {name} = 1;");
                made.trips = 7;
            }
            32 => {
                made.before = declared;
                made.head = op(format!("while ({name} < $)"));
                let value = self.value(1);
                made.last = Some(Expr::op(format!("{name} += 1 + (($) & 1);"), [value]));
                made.continues = false;
            }
            _ => {
                let step = self.random.pick(&["NAME++", "++NAME", "NAME += 1", "NAME++"]);
                let step = step.replace("NAME", &name);
                made.head = op(format!("for ({ty} {name} = {low}; {name} < $; {step})"));
            }
        }
        made
    }

    fn triangle(&mut self, name: String, outer: Counter, bound: Expr, range: Range) -> Head {
        let at = Expr::leaf(&outer.name);
        let below = Range { low: 0, high: (outer.range.high - 1).max(0), reach: None };
        let (head, counts, trips) = match self.random.below(4) {
            0 => {
                let text = format!("for (int {name} = 0; {name} < $; {name}++)");
                (Expr::op(text, [at]), below, outer.range.high)
            }
            1 => {
                let text = format!("for (int {name} = 0; {name} <= $; {name}++)");
                (Expr::op(text, [at]), Range { low: 0, ..outer.range }, outer.range.high + 1)
            }
            2 => {
                let text = format!("for (int {name} = $; {name} < $; {name}++)");
                let reach = range.reach.map(|reach| Reach { plus: reach.plus - 1, ..reach });
                let low = outer.range.low;
                let counts = Range { low, high: (range.high - 1).max(low), reach };
                (Expr::op(text, [at, bound]), counts, range.high)
            }
            _ => {
                let text = format!("for (int {name} = $ - 1; {name} >= 0; {name}--)");
                (Expr::op(text, [at]), below, outer.range.high)
            }
        };
        Head {
            before: None,
            head,
            first: None,
            last: None,
            tail: None,
            alone: format!("int {name} = 0;"),
            counter: Counter { name, range: counts },
            trips: trips.max(0),
            continues: true,
        }
    }

    fn counter_type(&mut self, is_signed: bool, high: i64) -> &'static str {
        let all = [
            "int", "int", "int", "int", "int", "int", "int32_t", "unsigned", "unsigned", "int64_t",
            "int64_t", "uint64_t", "int16_t", "uint16_t", "int8_t", "uint8_t", "uint32_t",
        ];
        match self.random.pick(&all) {
            "int8_t" | "uint8_t" if high > 100 => "int",
            ty if is_signed && ty.starts_with('u') => "int",
            ty => ty,
        }
    }
}
