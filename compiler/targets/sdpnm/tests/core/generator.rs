//! Random C functions on arrays of all integer types that use as many instructions of the core as they
//! can: expressions with every operator, loops, branches, switches, pointers, local arrays.

use std::fmt::Write;

use nbcc_testing::Rng;

/// Elements of every array; subscripts are masked.
pub const ELEMENTS: u32 = 16;

/// Types by their C names, with their bits; the ones with `u` are unsigned.
pub const TYPES: [(&str, u32); 8] = [
    ("int8_t", 8),
    ("uint8_t", 8),
    ("int16_t", 16),
    ("uint16_t", 16),
    ("int32_t", 32),
    ("uint32_t", 32),
    ("int64_t", 64),
    ("uint64_t", 64),
];

/// A function under way.
struct Generator<'a> {
    rng: &'a mut Rng,
    text: String,
    depth: usize,
    /// Variables that may be read, and which of them may be written.
    names: Vec<(String, bool)>,
    counter: u32,
}

/// A C function `f` of a scalar `n`, an array `a0` to `a7` of each type and a result of 64 bits.
pub fn function(rng: &mut Rng) -> String {
    let mut generator = Generator { rng, text: String::new(), depth: 1, names: vec![], counter: 0 };
    generator.text.push_str("#include <stdint.h>\n");
    generator.tables();
    generator.text.push_str("int64_t f(int32_t n");
    for (number, (ty, _)) in TYPES.iter().enumerate() {
        let _ = write!(generator.text, ", {ty} a{number}[{ELEMENTS}]");
    }
    generator.text.push_str(")\n{\n");
    generator.names.push(("n".into(), false));
    generator.line(&format!("int32_t l[{ELEMENTS}] = {{0}};"));
    generator.line("int32_t *p = l;");
    for number in 0..4 {
        let (ty, _) = TYPES[generator.pick(TYPES.len())];
        let value = generator.expression(2);
        generator.line(&format!("{ty} v{number} = {value};"));
        generator.names.push((format!("v{number}"), true));
    }
    generator.block(3, 6);
    generator.line("int64_t sum = 0;");
    generator.line(&format!("for (int k = 0; k < {ELEMENTS}; k++) sum = sum * 31 + l[k];"));
    let names: Vec<String> = generator.names.iter().map(|(name, _)| name.clone()).collect();
    for name in names {
        generator.line(&format!("sum = sum * 31 + (int64_t){name};"));
    }
    generator.line("return sum;");
    generator.text.push_str("}\n");
    generator.text
}

impl Generator<'_> {
    fn pick(&mut self, count: usize) -> usize {
        self.rng.below(count as u64) as usize
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 * self.depth);
    }

    fn tables(&mut self) {
        let values: Vec<String> = (0..ELEMENTS)
            .map(|_| (self.rng.below(1 << 16) as i64 - (1 << 15)).to_string())
            .collect();
        let list = values.join(", ");
        let _ = writeln!(self.text, "static const int32_t table[{ELEMENTS}] = {{ {list} }};");
        let _ = writeln!(self.text, "static int64_t state = {};", values[0]);
    }

    fn constant(&mut self) -> String {
        let value = match self.pick(5) {
            0 => self.rng.below(4) as i64,
            1 => self.rng.below(64) as i64,
            2 => -(self.rng.below(1 << 12) as i64),
            3 => self.rng.below(1 << 31) as i64,
            _ => return format!("{:#x}ull", self.rng.below(u64::MAX)),
        };
        format!("({value})")
    }

    fn element(&mut self) -> String {
        let index = self.index();
        match self.pick(4) {
            0 => format!("table[{index}]"),
            1 => format!("l[{index}]"),
            2 => format!("p[{index}]"),
            _ => format!("a{}[{index}]", self.pick(TYPES.len())),
        }
    }

    fn index(&mut self) -> String {
        match self.pick(3) {
            0 => self.rng.below(ELEMENTS.into()).to_string(),
            _ => {
                let value = self.expression(1);
                format!("({value}) & {}", ELEMENTS - 1)
            }
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.pick(8) == 0 {
            return match self.pick(4) {
                0 => self.constant(),
                1 if depth > 0 => self.element(),
                2 => "state".into(),
                _ => {
                    let all = self.names.len();
                    if all == 0 {
                        self.constant()
                    } else {
                        {
                            let at = self.pick(all);
                            self.names[at].0.clone()
                        }
                    }
                }
            };
        }
        let a = self.expression(depth - 1);
        match self.pick(14) {
            0..=4 => {
                let b = self.expression(depth - 1);
                let op = ["+", "-", "*", "&", "|", "^"][self.pick(6)];
                format!("({a} {op} {b})")
            }
            5 => {
                let b = self.expression(depth - 1);
                let op = ["/", "%"][self.pick(2)];
                let (low, sign) = (self.rng.below(4) + 1, ["", "-"][self.pick(2)]);
                // Neither 0 nor -1, also where it is a great unsigned number.
                let more = if sign == "-" { low + 1 } else { low };
                format!("({a} {op} ({sign}(int64_t)(({b} & 0xffff) + {more})))")
            }
            6 => {
                let b = self.expression(depth - 1);
                let divisor = ["(uint32_t)", "(int32_t)", "(uint64_t)"][self.pick(3)];
                let op = ["/", "%"][self.pick(2)];
                format!("({divisor}({a}) {op} ({divisor}(({b}) & 0x7fff) + 2))")
            }
            7 | 8 => {
                let b = self.expression(depth - 1);
                let op = ["<<", ">>"][self.pick(2)];
                let (ty, bits) = TYPES[4 + self.pick(4)];
                match self.pick(2) {
                    0 => format!("(({ty})({a}) {op} (({b}) & {}))", bits - 1),
                    _ => format!("(({ty})({a}) {op} {})", self.rng.below(bits.into())),
                }
            }
            9 => {
                let b = self.expression(depth - 1);
                let op = ["<", "<=", ">", ">=", "==", "!=", "&&", "||"][self.pick(8)];
                format!("({a} {op} {b})")
            }
            10 => {
                let (b, c) = (self.expression(depth - 1), self.expression(depth - 1));
                format!("({a} ? {b} : {c})")
            }
            11 => format!("({}{a})", ["-", "~", "!", "+"][self.pick(4)]),
            _ => {
                let (ty, _) = TYPES[self.pick(TYPES.len())];
                format!("(({ty}){a})")
            }
        }
    }

    fn place(&mut self) -> String {
        let written: Vec<String> =
            self.names.iter().filter(|(_, may)| *may).map(|(name, _)| name.clone()).collect();
        let index = self.index();
        match self.pick(4) {
            0 if !written.is_empty() => written[self.pick(written.len())].clone(),
            1 => format!("l[{index}]"),
            2 => format!("p[{index}]"),
            3 if self.pick(4) == 0 => "state".into(),
            _ => format!("a{}[{index}]", self.pick(TYPES.len())),
        }
    }

    fn block(&mut self, depth: u32, count: u64) {
        for _ in 0..=self.rng.below(count) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        if depth == 0 || self.pick(2) == 0 {
            let (place, value) = (self.place(), self.expression(3));
            let op = ["=", "+=", "-=", "*=", "^=", "|=", "&="][self.pick(7)];
            return self.line(&format!("{place} {op} {value};"));
        }
        match self.pick(6) {
            0 | 1 => {
                let cond = self.expression(2);
                self.line(&format!("if ({cond}) {{"));
                self.nested(depth);
                if self.pick(2) == 0 {
                    self.line("} else {");
                    self.nested(depth);
                }
                self.line("}");
            }
            2 | 3 => {
                let name = format!("i{}", self.counter);
                self.counter += 1;
                let trips = self.rng.below(6);
                let (ty, _) = TYPES[self.pick(TYPES.len())];
                self.line(&format!("for ({ty} {name} = 0; {name} < {trips}; {name}++) {{"));
                self.names.push((name, false));
                self.nested(depth);
                if self.pick(3) == 0 {
                    let cond = self.expression(1);
                    let leave = ["break", "continue"][self.pick(2)];
                    self.line(&format!("    if ({cond}) {leave};"));
                }
                self.names.pop();
                self.line("}");
            }
            4 => {
                let value = self.expression(2);
                self.line(&format!("switch (({value}) & 7) {{"));
                for case in 0..self.rng.below(6) {
                    self.line(&format!("case {case}:"));
                    self.nested(depth);
                    if self.pick(4) > 0 {
                        self.line("    break;");
                    }
                }
                self.line("default:");
                self.nested(depth);
                self.line("}");
            }
            _ => {
                let cond = self.expression(1);
                self.line(&format!("p = ({cond}) ? l : a4;"));
            }
        }
    }

    fn nested(&mut self, depth: u32) {
        self.depth += 1;
        self.block(depth - 1, 3);
        self.depth -= 1;
    }
}
