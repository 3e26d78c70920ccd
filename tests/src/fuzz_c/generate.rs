//! A random program from a seed: what it declares, and pieces one after another, each a nest of loops or
//! a form that kernels have.

use super::model::{Array, Expr, Extent, Item, Program, Statement, TYPES};
use super::subscripts::{Counter, Dimension, Pointer, Range, Reach, Stored, Style};
use crate::fuzz::random::Random;

/// Iterations of a nest at most, for the largest arguments.
pub(super) const WORK: i64 = 1_500;

/// The numbers that runs have for lengths.
const LENGTHS: [i64; 16] = [2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 48, 70];

/// A scalar variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub is_written: bool,
}

/// A scalar parameter and what it is in the runs.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub name: String,
    pub ty: &'static str,
    pub least: i64,
    pub most: i64,
    /// Whether loops go by it.
    pub is_length: bool,
    /// Whether it is a distance between elements.
    pub is_distance: bool,
}

/// A program under way.
pub(super) struct Generator {
    pub random: Random,
    pub is_defined: bool,
    pub items: Vec<Item>,
    pub scalars: Vec<Scalar>,
    pub arrays: Vec<Stored>,
    pub counters: Vec<Counter>,
    pub variables: Vec<Variable>,
    pub pointers: Vec<Pointer>,
    /// Iterations of the loops around, for the largest arguments.
    pub work: i64,
    /// Loops of the nest so far.
    pub loops: usize,
    /// Whether `continue` goes on with the next iteration of the innermost loop.
    pub continues: bool,
    /// Whether a value is for a subscript, in which no other element is.
    pub is_subscript: bool,
    numbers: usize,
}

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let is_defined = random.percent(88);
    // Extents of some are too small.
    let is_outside = random.percent(if is_defined { 9 } else { 40 });
    let mut generator = Generator {
        random,
        is_defined,
        items: vec![],
        scalars: vec![],
        arrays: vec![],
        counters: vec![],
        variables: vec![],
        pointers: vec![],
        work: 1,
        loops: 0,
        continues: false,
        is_subscript: false,
        numbers: 0,
    };
    let runs = generator.parameters();
    generator.declare_arrays();
    let mut body = generator.declare_variables();
    for _ in 0..generator.random.pick(&[1, 1, 2, 2, 2, 3, 3, 4]) {
        generator.loops = 0;
        body.extend(generator.piece());
    }
    body.extend(generator.end());
    generator.finish(runs, body, is_outside)
}

impl Generator {
    /// A name that nothing has.
    pub fn name(&mut self, letter: &str) -> String {
        self.numbers += 1;
        format!("{letter}{}", self.numbers)
    }

    /// Scalars; their values in each run.
    fn parameters(&mut self) -> Vec<Vec<i64>> {
        let mut kinds = vec![(0, "n")];
        let more = [(40, 0, "m"), (25, 1, "d"), (45, 2, "k"), (15, 2, "q")];
        for (percent, kind, name) in more {
            if self.random.percent(percent) {
                kinds.push((kind, name));
            }
        }
        let count = self.random.pick(&[2, 3, 3]);
        let mut runs = vec![vec![]; count];
        for (kind, name) in kinds {
            for (number, run) in runs.iter_mut().enumerate() {
                let random = &mut self.random;
                run.push(match (kind, number) {
                    (0, 1) => random.pick(&[0, 1, 1, 2, 3]),
                    (0, _) => random.pick(&LENGTHS),
                    (1, _) => random.between(0, 8),
                    _ => match random.below(4) {
                        0 => random.pick(&[0, 1, -1, 127, 255, 32767, -32768, 65535]),
                        1 => random.between(-20, 20),
                        _ => random.between(-1000, 100_000),
                    },
                });
            }
            let of = runs.iter().map(|run| run[run.len() - 1]);
            let (least, most) = (of.clone().min().unwrap_or(0), of.max().unwrap_or(0));
            let ty = match kind {
                0 | 1 => self.random.pick(&["int", "int", "int", "int32_t", "int64_t", "int16_t"]),
                _ => self
                    .random
                    .pick(&["int", "int32_t", "int64_t", "uint32_t", "int16_t", "uint8_t"]),
            };
            // What does not fit the type is refused.
            let ty = match ty {
                "uint32_t" if least < 0 => "int32_t",
                "int16_t" | "uint8_t" if kind == 2 && (least < -32768 || most > 32767) => "int",
                "uint8_t" if least < 0 || most > 255 => "int16_t",
                ty => ty,
            };
            let (is_length, is_distance) = (kind == 0, kind == 1);
            let name = name.to_string();
            self.scalars.push(Scalar { name, ty, least, most, is_length, is_distance });
        }
        runs
    }

    fn declare_arrays(&mut self) {
        const ELEMENTS: [usize; 16] = [0, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5, 6, 6, 7, 1];
        let lengths: Vec<usize> =
            (0..self.scalars.len()).filter(|&s| self.scalars[s].is_length).collect();
        let inputs = self.random.between(1, 3) as usize;
        let outputs = self.random.between(1, 2) as usize;
        for number in 0..inputs + outputs {
            let is_const = number < inputs;
            let dimensions = if self.random.percent(15) { 2 } else { 1 };
            let members = if dimensions == 1 && self.random.percent(12) {
                let all = ["re", "im", "x"];
                let members = &all[..self.random.pick(&[2, 2, 3])];
                members.iter().map(ToString::to_string).collect()
            } else {
                vec![]
            };
            let style = match dimensions {
                1 if self.random.percent(35) => Style::Scalar(self.random.pick(&lengths)),
                _ => Style::Numeric,
            };
            let ty = self.random.pick(&ELEMENTS);
            let name = if is_const { ["a", "b", "c"][number] } else { ["x", "y"][number - inputs] };
            let structure = (!members.is_empty()).then(|| self.structure(&members, ty));
            self.arrays.push(Stored {
                name: name.into(),
                ty,
                is_written: !is_const,
                is_param: true,
                structure,
                members,
                dimensions: vec![Dimension::new(style); dimensions],
                bases: vec![],
            });
        }
        for (percent, is_static) in [(45, false), (25, true)] {
            if !self.random.percent(percent) {
                continue;
            }
            let (name, ty) = (if is_static { "g" } else { "l" }, self.random.pick(&ELEMENTS));
            let dimensions = if self.random.percent(15) { 2 } else { 1 };
            self.arrays.push(Stored::own(name, ty, Dimension::new(Style::Numeric), dimensions));
        }
        if self.random.percent(45) {
            let (ty, extent) =
                (self.random.pick(&ELEMENTS), self.random.pick(&[2, 4, 5, 7, 8, 16, 32]));
            let (least, most) = range_of(ty);
            let values = (0..extent)
                .map(|_| self.random.between(least.max(-30_000), most.min(30_000)).to_string());
            let list = values.collect::<Vec<_>>().join(", ");
            let text = format!("static const {} t[{extent}] = {{ {list} }};", TYPES[ty].0);
            self.items.push(Item { name: "t".into(), text });
            let table = Dimension::new(Style::Fixed(extent));
            self.arrays.push(Stored { is_written: false, ..Stored::own("t", ty, table, 1) });
        }
    }

    /// Declares a structure of members of one type; its name.
    fn structure(&mut self, members: &[String], ty: usize) -> String {
        let name = self.name("s");
        let text = format!("struct {name} {{ {} {}; }};", TYPES[ty].0, members.join(", "));
        self.items.push(Item { name: name.clone(), text });
        name
    }

    fn declare_variables(&mut self) -> Vec<Statement> {
        let mut lines = Vec::new();
        for name in ["u", "v", "w"] {
            if name != "u" && self.random.percent(50) {
                continue;
            }
            let ty = self.random.pick(&["int", "int", "int32_t", "int64_t", "uint32_t", "int16_t"]);
            let value = self.random.pick(&["0", "0", "1", "-7", "1 << 14", "n"]);
            lines.push(Statement::Line(Expr::op(format!("{ty} {name} = $;"), [Expr::leaf(value)])));
            self.variables.push(Variable { name: name.into(), is_written: true });
        }
        if self.random.percent(15) {
            let ty = self.random.pick(&["int32_t", "uint16_t", "int64_t"]);
            let text = format!("static {ty} state = {};", self.random.between(-9, 900));
            self.items.push(Item { name: "state".into(), text });
            self.variables.push(Variable { name: "state".into(), is_written: true });
        }
        lines
    }

    /// Makes a result of what is left in arrays that the caller does not see.
    fn end(&mut self) -> Vec<Statement> {
        let mut lines = Vec::new();
        let own = |array: &&Stored| !array.is_param && array.is_written;
        let own: Vec<Stored> = self.arrays.iter().filter(own).cloned().collect();
        for array in own.into_iter().filter(|array| array.dimensions[0].most >= 0) {
            if self.random.percent(15) {
                continue;
            }
            let counter = self.name("z");
            let mut at = format!("[{counter}]");
            if array.dimensions.len() == 2 {
                at = format!("[{counter}][0]");
            }
            let most = array.dimensions[0].most;
            let line = format!("u = u * 31 + {}{at};", array.name);
            lines.push(Statement::Loop(Box::new(super::model::Loop {
                before: None,
                head: Expr::leaf(format!(
                    "for (int {counter} = 0; {counter} <= {most}; {counter}++)"
                )),
                body: vec![Statement::Line(Expr::leaf(line))],
                last: None,
                tail: None,
                alone: Some(format!("int {counter} = 0;")),
            })));
        }
        let names = self.variables.iter().map(|variable| Expr::leaf(&variable.name));
        let sum = names.reduce(|sum, name| Expr::op("($ * 31 + $)", [sum, name]));
        let sum = sum.unwrap_or(Expr::leaf("0"));
        lines.push(Statement::Line(Expr::op("return $;", [sum])));
        lines
    }

    fn finish(mut self, runs: Vec<Vec<i64>>, body: Vec<Statement>, is_outside: bool) -> Program {
        let mut declared = Vec::new();
        let mut arrays = Vec::new();
        for stored in std::mem::take(&mut self.arrays) {
            let slack = self.random.pick(&[0, 0, 0, 1, 5]);
            let cut =
                if is_outside && self.random.percent(50) { self.random.between(1, 4) } else { 0 };
            let extents = stored.dimensions.iter().map(|dimension| match dimension.style {
                Style::Numeric => {
                    let plus = (dimension.most + 1 + slack - cut).max(1);
                    Extent { scalar: None, plus }
                }
                Style::Scalar(number) => {
                    let plus = (dimension.plus + 1 + slack - cut).max(0);
                    Extent { scalar: Some(number), plus }
                }
                Style::Fixed(extent) => Extent { scalar: None, plus: extent },
            });
            let extents: Vec<Extent> = extents.collect();
            let dimensions: String = extents.iter().map(|e| format!("[{}]", e.plus)).collect();
            let (ty, ..) = TYPES[stored.ty];
            match (stored.is_param, stored.name.as_str()) {
                (true, name) => arrays.push(Array {
                    name: name.into(),
                    ty: stored.ty,
                    structure: stored.structure.map(|of| (of, stored.members.len() as u32)),
                    is_const: !stored.is_written,
                    extents,
                    limit: match self.random.below(3) {
                        0 => None,
                        1 => Some(
                            self.random.pick(&[1, 3, 15, 100]).min(range_of(stored.ty).1 as u32),
                        ),
                        _ => Some(
                            self.random.pick(&[100, 2000, 32767]).min(range_of(stored.ty).1 as u32),
                        ),
                    },
                }),
                (false, "l") => {
                    let first = self.random.pick(&["0", "1, 2, 3", "-5"]);
                    let first = if extents[0].plus < 3 || extents.len() > 1 { "0" } else { first };
                    let first = if extents.len() > 1 { "{ 0 }" } else { first };
                    declared.push(Statement::Line(Expr::leaf(format!(
                        "{ty} l{dimensions} = {{ {first} }};"
                    ))));
                }
                (false, "g") => {
                    let text = format!("static {ty} g{dimensions};");
                    self.items.push(Item { name: "g".into(), text });
                }
                _ => {}
            }
        }
        declared.extend(body);
        let helpers = super::idioms::HELPERS
            .map(|(name, text)| Item { name: name.into(), text: text.into() });
        self.items.extend(helpers);
        let mut program = Program {
            is_defined: self.is_defined,
            items: self.items,
            result: self.random.pick(&["int64_t", "int64_t", "int32_t", "uint32_t", "int16_t"]),
            scalars: self.scalars.into_iter().map(|scalar| (scalar.name, scalar.ty)).collect(),
            arrays,
            runs,
            body: declared,
        };
        program.drop_unused_items();
        program
    }

    /// What a scalar can be.
    pub fn range_of_scalar(&self, number: usize) -> Range {
        let scalar = &self.scalars[number];
        let reach = Some(Reach { scalar: number, plus: 0 });
        Range { low: scalar.least, high: scalar.most, reach }
    }
}

/// The least and the greatest number of a type, of those that fit a word.
pub(super) fn range_of(ty: usize) -> (i64, i64) {
    let (_, is_signed, bits) = TYPES[ty];
    match (is_signed, bits.min(32)) {
        (true, bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (false, bits) => (0, (1 << bits) - 1),
    }
}
