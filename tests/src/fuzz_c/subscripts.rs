//! Arrays, and subscripts that are inside of them: each says how far it reaches, and extents are made of
//! what was reached in the end.

use super::generate::Generator;
use super::model::Expr;

/// A value that is at most so much more than a scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub scalar: usize,
    pub plus: i64,
}

/// What a value can be, over all runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub low: i64,
    pub high: i64,
    pub reach: Option<Reach>,
}

/// A variable of a loop.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub name: String,
    pub range: Range,
}

/// Where the extent of a dimension comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    /// A number that is known in the end.
    Numeric,
    /// A scalar, and a number that is known in the end.
    Scalar(usize),
    /// That number.
    Fixed(i64),
}

/// How far a dimension is reached.
#[derive(Clone, Debug)]
pub(super) struct Dimension {
    pub style: Style,
    /// The greatest subscript.
    pub most: i64,
    /// What the greatest is more than the scalar.
    pub plus: i64,
}

/// An affine value: its text without its constant, which is `plus`.
#[derive(Clone, Debug)]
pub(super) struct Affine {
    pub terms: Expr,
    pub range: Range,
    pub plus: i64,
}

/// An array.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub name: String,
    pub ty: usize,
    pub is_written: bool,
    pub is_param: bool,
    /// The name of the structure that its elements are.
    pub structure: Option<String>,
    pub members: Vec<String>,
    pub dimensions: Vec<Dimension>,
    /// What subscripts of it were made of, with how many loops were around.
    pub bases: Vec<(usize, Vec<Affine>)>,
}

/// A pointer into arrays, and the subscripts that it may stand at.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub name: String,
    pub targets: Vec<usize>,
    pub low: i64,
    pub high: i64,
    pub is_written: bool,
}

impl Dimension {
    pub fn new(style: Style) -> Dimension {
        Dimension { style, most: -1, plus: -1 }
    }

    /// Whether a subscript can be inside, after the dimension grew.
    fn takes(&self, range: Range) -> bool {
        match self.style {
            Style::Numeric => range.high < 600,
            Style::Fixed(extent) => range.high < extent,
            Style::Scalar(number) => {
                range.high <= 15 || range.reach.is_some_and(|reach| reach.scalar == number)
            }
        }
    }

    fn record(&mut self, range: Range) {
        self.most = self.most.max(range.high);
        if let Style::Scalar(number) = self.style {
            self.plus = self.plus.max(match range.reach {
                Some(reach) if reach.scalar == number => reach.plus,
                _ => range.high,
            });
        }
    }
}

impl Range {
    pub fn exactly(value: i64) -> Range {
        Range { low: value, high: value, reach: None }
    }

    pub fn new(low: i64, high: i64) -> Range {
        Range { low, high: high.max(low), reach: None }
    }

    pub fn plus(self, plus: i64) -> Range {
        let reach = self.reach.map(|reach| Reach { plus: reach.plus + plus, ..reach });
        Range { low: self.low + plus, high: self.high + plus, reach }
    }
}

impl Stored {
    pub fn own(name: &str, ty: usize, dimension: Dimension, dimensions: usize) -> Stored {
        Stored {
            name: name.into(),
            ty,
            is_written: true,
            is_param: false,
            structure: None,
            members: vec![],
            dimensions: vec![dimension; dimensions],
            bases: vec![],
        }
    }

    fn is_plain(&self) -> bool {
        self.members.is_empty() && self.dimensions.len() == 1
    }
}

impl Affine {
    /// Its value as a text.
    pub fn expr(&self) -> Expr {
        match self.plus {
            0 => self.terms.clone(),
            plus @ 1.. => Expr::op(format!("$ + {plus}"), [self.terms.clone()]),
            minus => Expr::op(format!("$ - {}", -minus), [self.terms.clone()]),
        }
    }

    fn whole(&self) -> Range {
        self.range.plus(self.plus)
    }
}

impl Generator {
    /// A random counter of the loops around, more often an inner one.
    fn counter(&mut self) -> Option<Counter> {
        let mut counters = self.counters.iter().rev();
        let inner = counters.next()?.clone();
        let rest: Vec<Counter> = counters.cloned().collect();
        match self.random.percent(35) && !rest.is_empty() {
            true => Some(rest[self.random.below(rest.len())].clone()),
            false => Some(inner),
        }
    }

    /// An affine value of counters, not below 0.
    pub fn affine(&mut self) -> Affine {
        let Some(counter) = self.counter() else {
            let plus = self.random.between(0, 5);
            return Affine { terms: Expr::leaf("0"), range: Range::exactly(0), plus };
        };
        let (name, range) = (Expr::leaf(&counter.name), counter.range);
        let other = self.counter().filter(|other| other.name != counter.name);
        let distance = self.scalars.iter().position(|scalar| scalar.is_distance);
        let (terms, range) = match (self.random.below(24), other) {
            (0 | 1, _) => {
                let by = self.random.between(2, 4);
                let range = Range::new(range.low * by, range.high * by);
                (Expr::op(format!("{by} * $"), [name]), range)
            }
            (2..=4, Some(other)) => {
                let sum = Range::new(range.low + other.range.low, range.high + other.range.high);
                (Expr::op("$ + $", [name, Expr::leaf(other.name)]), sum)
            }
            (5..=9, Some(other)) => {
                let by = match self.random.below(4) {
                    0 => (range.high + 1).max(1),
                    _ => self.random.between(1, 9),
                };
                let scaled = (other.range.low * by, other.range.high * by);
                let sum = Range::new(range.low + scaled.0, range.high + scaled.1);
                (Expr::op(format!("$ * {by} + $"), [Expr::leaf(other.name), name]), sum)
            }
            (10 | 11, _) => {
                let from = range.high;
                (Expr::op(format!("{from} - $"), [name]), Range::new(0, from - range.low))
            }
            (12, _) if range.low >= 0 => {
                let range = Range::new(range.low / 2, range.high / 2);
                (Expr::op(self.random.pick(&["$ / 2", "($ >> 1)"]), [name]), range)
            }
            (13, _) => {
                let range = Range::new(range.low - 1, range.high + 1);
                (Expr::op("($ ^ 1)", [name]), range)
            }
            (14..=16, _) if distance.is_some() => {
                let scalar = &self.scalars[distance.unwrap_or(0)];
                let (least, most) = (scalar.least, scalar.most);
                let distance = Expr::leaf(&scalar.name);
                match self.random.percent(60) {
                    true => {
                        let sum = Range::new(range.low - most, range.high - least);
                        (Expr::op("$ - $", [name, distance]), sum)
                    }
                    false => {
                        let sum = Range::new(range.low + least, range.high + most);
                        (Expr::op("$ + $", [name, distance]), sum)
                    }
                }
            }
            _ => (name, range),
        };
        let plus = match self.random.below(3) {
            0 => self.random.between(-4, 8),
            _ => 0,
        };
        Affine { terms, range, plus: plus.max(-range.low) }
    }

    /// A subscript that stays inside when it is taken modulo something.
    fn wrapped(&mut self, most: i64) -> (Expr, Range) {
        let is_subscript = std::mem::replace(&mut self.is_subscript, true);
        let value = self.value(1);
        self.is_subscript = is_subscript;
        match self.random.below(3) {
            0 => {
                let by = self.random.between(1, most.max(1));
                let by = by.min(most);
                (Expr::op(format!("(uint32_t)($) % {by}u"), [value]), Range::new(0, by - 1))
            }
            1 => {
                let most = most.min(32) - 1;
                let text = format!("($ < 0 ? 0 : $ > {most} ? {most} : $)");
                (Expr::op(text, [value.clone(), value.clone(), value]), Range::new(0, most))
            }
            _ => {
                let mut mask = 1;
                while mask * 2 <= most.min(32) {
                    mask *= 2;
                }
                (Expr::op(format!("($) & {}", mask - 1), [value]), Range::new(0, mask - 1))
            }
        }
    }

    /// Subscripts of an array; how far it reaches grows with them.
    fn subscripts(&mut self, array: usize) -> Vec<Expr> {
        let depth = self.counters.len();
        let dimensions = self.arrays[array].dimensions.len();
        let known = self.arrays[array].bases.iter().rev().find(|(of, _)| *of == depth);
        let again = known.map(|(_, bases)| bases.clone());
        let again = again.filter(|_| self.random.percent(65));
        let mut used = Vec::new();
        let mut texts = Vec::new();
        for number in 0..dimensions {
            let mut affine = match &again {
                Some(bases) => bases[number].clone(),
                None => self.affine(),
            };
            if again.is_some() {
                let by =
                    self.random.pick(&[0, 0, 0, 1, 1, -1, -1, 2, -2, 3, -3, 4, -5, 6, -7, 8, -8]);
                affine.plus = (affine.plus + by).max(-affine.range.low);
            }
            let dimension = &self.arrays[array].dimensions[number];
            let is_short = number > 0 && affine.whole().high > 60;
            if !dimension.takes(affine.whole()) || is_short || self.random.percent(6) {
                let most = match dimension.style {
                    Style::Fixed(extent) => extent,
                    _ => 16,
                };
                // Only what is affine is used again.
                used.clear();
                let (text, range) = self.wrapped(most);
                self.arrays[array].dimensions[number].record(range);
                texts.push(text);
                continue;
            }
            self.arrays[array].dimensions[number].record(affine.whole());
            texts.push(affine.expr());
            used.push(affine);
        }
        if used.len() == dimensions {
            self.arrays[array].bases.push((depth, used));
        }
        texts
    }

    /// An element of an array, or of what a pointer points into.
    pub fn element(&mut self, is_written: bool) -> Expr {
        let pointers: Vec<usize> = (0..self.pointers.len())
            .filter(|&p| !is_written || self.pointers[p].is_written)
            .collect();
        if !pointers.is_empty() && self.random.percent(30) {
            let pointer = self.random.pick(&pointers);
            if let Some(element) = self.pointed(pointer) {
                return element;
            }
        }
        let arrays: Vec<usize> =
            (0..self.arrays.len()).filter(|&a| self.arrays[a].is_written || !is_written).collect();
        let array = self.random.pick(&arrays);
        self.element_of(array)
    }

    /// An element of that array.
    pub fn element_of(&mut self, array: usize) -> Expr {
        let subscripts = self.subscripts(array);
        let Stored { name, members, .. } = &self.arrays[array];
        let mut text = format!("{name}{}", "[$]".repeat(subscripts.len()));
        if !members.is_empty() {
            let member = members[self.random.below(members.len())].clone();
            text = format!("{text}.{member}");
        }
        Expr::Op(text, subscripts)
    }

    /// An element of what a pointer points into, if a subscript is found that is inside.
    fn pointed(&mut self, number: usize) -> Option<Expr> {
        let mut affine = self.affine();
        let Pointer { name, targets, low, high, .. } = self.pointers[number].clone();
        let reach = affine.whole().plus(high);
        // One that stands behind the first element may look back.
        if self.random.percent(25) {
            affine.plus -= self.random.between(0, low.max(0));
        }
        let fits = targets.iter().all(|&target| self.arrays[target].dimensions[0].takes(reach));
        if !fits {
            return None;
        }
        for target in targets {
            self.arrays[target].dimensions[0].record(reach);
        }
        Some(Expr::op(format!("{name}[$]"), [affine.expr()]))
    }

    /// Makes room for subscripts up to that range, if there can be.
    pub fn reaches(&mut self, array: usize, range: Range) -> bool {
        let stored = &mut self.arrays[array];
        let fits = stored.is_plain() && range.low >= 0 && stored.dimensions[0].takes(range);
        if fits {
            stored.dimensions[0].record(range);
        }
        fits
    }

    /// A plain array of one dimension, one that is written if that is asked.
    pub fn plain(&mut self, is_written: bool) -> Option<usize> {
        let fits = |array: &Stored| {
            array.is_plain()
                && (array.is_written || !is_written)
                && !matches!(array.dimensions[0].style, Style::Fixed(_))
        };
        let found: Vec<usize> = (0..self.arrays.len()).filter(|&a| fits(&self.arrays[a])).collect();
        (!found.is_empty()).then(|| self.random.pick(&found))
    }
}
