//! Values: every operator on elements, variables, counters and constants.

use super::generate::Generator;
use super::model::{Expr, TYPES};

/// What numbers of programs are often.
const NUMBERS: [i64; 24] = [
    0,
    1,
    2,
    3,
    5,
    7,
    -1,
    -3,
    8,
    15,
    16,
    100,
    127,
    128,
    255,
    256,
    -128,
    1000,
    32767,
    -32768,
    65535,
    65536,
    123_456,
    0x7fff_ffff,
];

impl Generator {
    /// A constant.
    pub fn constant(&mut self) -> Expr {
        let value = match self.random.below(8) {
            0 => return Expr::leaf(format!("{}u", self.random.between(0, 70_000))),
            1 => return Expr::leaf(format!("{}ll", self.random.between(-99, 1 << 40))),
            2 => 1 << self.random.below(31),
            _ => self.random.pick(&NUMBERS),
        };
        Expr::leaf(if value < 0 { format!("({value})") } else { value.to_string() })
    }

    /// A variable of the program.
    pub fn variable(&mut self) -> Option<Expr> {
        let all = self.variables.len();
        (all > 0).then(|| Expr::leaf(&self.variables[self.random.below(all)].name))
    }

    fn leaf(&mut self) -> Expr {
        match self.random.below(20) {
            0..=10 if !self.is_subscript => self.element(false),
            0..=4 => self.indirect(),
            11..=13 => self.variable().unwrap_or(Expr::leaf("1")),
            14 | 15 if !self.counters.is_empty() => {
                Expr::leaf(&self.counters[self.random.below(self.counters.len())].name)
            }
            16 => Expr::leaf(&self.scalars[self.random.below(self.scalars.len())].name),
            _ => self.constant(),
        }
    }

    /// An element at a counter, for a subscript of another.
    fn indirect(&mut self) -> Expr {
        let counter = self.counters.last().map(|counter| (counter.name.clone(), counter.range));
        let array = self.plain(false);
        match (counter, array) {
            (Some((name, range)), Some(array)) if self.reaches(array, range) => {
                Expr::op(format!("{}[$]", self.arrays[array].name), [Expr::leaf(name)])
            }
            _ => self.constant(),
        }
    }

    /// A value of operations so many levels deep at most.
    pub fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.random.percent(14) {
            return self.leaf();
        }
        let kind = self.random.below(100);
        // What stands several times is small.
        let is_repeated = matches!(kind, 75..=84);
        let a = self.value(if is_repeated { (depth - 1).min(1) } else { depth - 1 });
        if kind < 50 {
            let b = self.value(depth - 1);
            let op = match kind {
                0..=18 => "+",
                19..=28 => "-",
                29..=42 => "*",
                _ => self.random.pick(&["&", "|", "^"]),
            };
            return Expr::op(format!("($ {op} $)"), [a, b]);
        }
        match kind {
            50..=55 => Expr::op(format!("(($) >> {})", self.random.below(16)), [a]),
            56..=58 => Expr::op(format!("(($) << {})", self.random.below(13)), [a]),
            59..=62 => self.shift(a, depth),
            63..=68 => {
                let (c, d) = (self.value(depth - 1), self.value(depth - 1));
                Expr::op("($ ? $ : $)", [self.condition(depth - 1), c, d])
            }
            69..=74 => {
                let (ty, ..) = TYPES[self.random.below(TYPES.len())];
                Expr::op(format!("({ty})($)"), [a])
            }
            75..=79 => {
                let b = self.value(0);
                let op = self.random.pick(&["<", ">", "<=", ">="]);
                Expr::op(format!("($ {op} $ ? $ : $)"), [a.clone(), b.clone(), a, b])
            }
            80..=82 => {
                let (low, high) =
                    self.random.pick(&[(-128, 127), (0, 255), (-32768, 32767), (-9, 9)]);
                let text = format!("($ < {low} ? {low} : $ > {high} ? {high} : $)");
                Expr::op(text, [a.clone(), a.clone(), a])
            }
            83 | 84 => Expr::op("($ < 0 ? -($) : $)", [a.clone(), a.clone(), a]),
            85..=89 => self.division(a, depth),
            90..=92 => Expr::op(format!("({}$)", self.random.pick(&["-", "~", "!"])), [a]),
            93 | 94 => self.condition(depth - 1),
            95..=97 => {
                let helper = self.random.pick(&["sat8", "sat16", "mix", "sat16"]);
                match helper {
                    "mix" => {
                        let b = self.value(depth - 1);
                        Expr::op("mix($, $)", [a, b])
                    }
                    _ => Expr::op(format!("{helper}($)"), [a]),
                }
            }
            _ => {
                let b = self.value(depth - 1);
                let (one, two) = (self.random.pick(&[2, 4]), self.random.pick(&[3, 5]));
                let (one, two) = (TYPES[one].0, TYPES[two].0);
                Expr::op(format!("(({one})($) * ({two})($))"), [a, b])
            }
        }
    }

    fn shift(&mut self, a: Expr, depth: usize) -> Expr {
        let b = self.value(depth - 1);
        let op = self.random.pick(&["<<", ">>"]);
        let (ty, _, bits) = TYPES[self.random.below(4) + 4];
        match self.random.below(3) {
            // A count outside of the width is taken modulo the width.
            0 if !self.is_defined => Expr::op(format!("(($) {op} ($))"), [a, b]),
            _ => Expr::op(format!("(({ty})($) {op} (($) & {}))", bits - 1), [a, b]),
        }
    }

    fn division(&mut self, a: Expr, depth: usize) -> Expr {
        let op = self.random.pick(&["/", "%"]);
        match self.random.below(12) {
            0..=5 => {
                let by = self.random.pick(&[2, 3, 5, 7, 8, 10, -3, 16, 100, 255, 641, 65_536, -7]);
                Expr::op(format!("(($) {op} {by})"), [a])
            }
            6..=8 => {
                let b = self.value(depth - 1);
                Expr::op(format!("(($) {op} ((($) & 15) + 1))"), [a, b])
            }
            9 => {
                let b = self.value(depth - 1);
                let ty = self.random.pick(&["uint32_t", "uint16_t", "uint64_t", "uint8_t"]);
                Expr::op(format!("(($) {op} (({ty})($) | 1u))"), [a, b])
            }
            _ if !self.is_defined => {
                let b = self.varying(depth - 1);
                Expr::op(format!("(($) {op} ($))"), [a, b])
            }
            // May be 0, seldom, and ends the run then.
            10 if self.random.percent(20) => {
                let b = self.varying(depth - 1);
                let mask = self.random.pick(&[31, 255]);
                Expr::op(format!("(($) {op} (($) & {mask}))"), [a, b])
            }
            _ => {
                let scalar = &self.scalars[self.random.below(self.scalars.len())];
                let by = Expr::leaf(&scalar.name);
                match scalar.least {
                    0.. => Expr::op(format!("(($) {op} ($ + 1))"), [a, by]),
                    _ => Expr::op(format!("(($) {op} ($ | 2))"), [a, by]),
                }
            }
        }
    }

    /// A value that is no constant: one of 0 is refused as a divisor.
    fn varying(&mut self, depth: usize) -> Expr {
        let value = self.value(depth);
        let variable = self.variable().unwrap_or(Expr::leaf(&self.scalars[0].name));
        Expr::op("($ ^ $)", [value, variable])
    }

    /// A condition.
    pub fn condition(&mut self, depth: usize) -> Expr {
        let depth = depth.min(2);
        match self.random.below(12) {
            0 if depth > 0 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                Expr::op(format!("($ {} $)", self.random.pick(&["&&", "||"])), [a, b])
            }
            1 => Expr::op(format!("($ & {})", 1 << self.random.below(8)), [self.value(depth)]),
            2 => Expr::op("!$", [self.value(0)]),
            _ => {
                let a = self.value(depth);
                let b = match self.random.percent(50) {
                    true => self.constant(),
                    false => self.value(depth),
                };
                let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                Expr::op(format!("($ {op} $)"), [a, b])
            }
        }
    }
}
