//! Forms that kernels have: filters, complex products, matrices, searches, recurrences, histograms,
//! buffers that are exchanged, states; with random arrays, types, distances and operators.

use super::generate::Generator;
use super::heads::Head;
use super::model::{Expr, Statement, TYPES};
use super::subscripts::{Counter, Range};

/// Functions that values and statements call.
pub(super) const HELPERS: [(&str, &str); 5] = [
    (
        "sat8",
        "static int32_t sat8(int64_t v) { return v < -128 ? -128 : v > 127 ? 127 : (int32_t)v; }",
    ),
    (
        "sat16",
        "static int16_t sat16(int32_t v)\n{\n    if (v > 32767) return 32767;\n    if (v < -32768) return \
         -32768;\n    return (int16_t)v;\n}",
    ),
    (
        "mix",
        "static int32_t mix(int32_t a, int64_t b) { return (a << 3) ^ (int32_t)(b >> 5) ^ a; }",
    ),
    (
        "sumdiff",
        "static int32_t sumdiff(const int16_t *a, const int16_t *b, int n)\n{\n    int32_t s = 0;\n    \
         for (int i = 0; i < n; i++) s += a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];\n    return s;\n}",
    ),
    (
        "axpy",
        "static void axpy(int32_t *y, const int32_t *x, int n, int32_t k)\n{\n    for (int i = 0; i < n; i++) \
         y[i] += k * x[i];\n}",
    ),
];

fn line<const N: usize>(text: impl Into<String>, operands: [Expr; N]) -> Statement {
    Statement::Line(Expr::op(text, operands))
}

fn name(text: &str) -> Expr {
    Expr::leaf(text)
}

impl Generator {
    /// A loop from 0 that counts up.
    fn upward(&mut self, most: i64) -> Head {
        let (bound, range) = loop {
            let (bound, range) = self.bound();
            if range.high <= most {
                break (bound, range);
            }
            if self.random.percent(40) {
                break self.few(most.clamp(1, 8));
            }
        };
        self.counted(bound, range)
    }

    fn few(&mut self, most: i64) -> (Expr, Range) {
        let count = self.random.between(1, most);
        (Expr::leaf(count.to_string()), Range::exactly(count))
    }

    fn counted(&mut self, bound: Expr, range: Range) -> Head {
        let name = self.name("i");
        let ty = self.random.pick(&["int", "int", "int", "int32_t", "int64_t", "int16_t"]);
        let below = range.plus(-1);
        Head {
            before: None,
            head: Expr::op(format!("for ({ty} {name} = 0; {name} < $; {name}++)"), [bound]),
            first: None,
            last: None,
            tail: None,
            alone: format!("{ty} {name} = 0;"),
            counter: Counter { name, range: Range { low: 0, high: below.high.max(0), ..below } },
            trips: range.high.max(0),
            continues: true,
        }
    }

    /// A form that kernels have; another statement where its arrays are missing.
    pub fn idiom(&mut self) -> Vec<Statement> {
        let made = match self.random.below(20) {
            0..=2 => self.filter(),
            3 | 4 => self.complex(),
            5 | 6 => self.matrix(),
            7 => self.best(),
            8 => self.first(),
            9 | 10 => self.recurrence(),
            11 => self.histogram(),
            12 => self.delays(),
            13 => self.compaction(),
            14 => self.exchanged(),
            15 => self.passes(),
            16 => self.bits(),
            17 => self.states(),
            18 => self.substitution(),
            _ => self.calls(),
        };
        made.unwrap_or_else(|| self.nest(2))
    }

    /// Sums of products of a window, with coefficients that may be the same from both ends.
    fn filter(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let factors = self.plain(false)?;
        let taps = self.random.between(2, 9);
        let head = self.upward(100);
        let i = head.counter.clone();
        let room = self.reaches(from, i.range.plus(taps))
            && self.reaches(factors, Range::new(0, taps - 1))
            && self.reaches(into, i.range);
        if !room {
            return None;
        }
        let (x, h) = (self.arrays[from].name.clone(), self.arrays[factors].name.clone());
        let y = self.arrays[into].name.clone();
        let sum = self.name("s");
        let ty = self.random.pick(&["int32_t", "int32_t", "int64_t", "uint32_t", "int16_t"]);
        let is_symmetric = self.random.percent(40);
        let is_written_out = self.random.percent(35);
        let first = self.random.pick(&["0", "1 << 7", "0"]);
        let shift = self.random.below(16);
        let casts = self.random.pick(&["", "(int16_t)", "(int32_t)"]);
        let op = self.random.pick(&["=", "=", "+="]);
        let last = taps - 1;
        Some(vec![self.inside(head, |this| {
            let i = name(&i.name);
            let mut body = vec![line(format!("{ty} {sum} = $;"), [name(first)])];
            if is_written_out {
                for tap in 0..taps {
                    let products = match is_symmetric {
                        true => format!("{h}[{tap}] * ({x}[$ + {tap}] + {x}[$ + {}])", last - tap),
                        false => format!("{h}[{tap}] * {x}[$ + {tap}]"),
                    };
                    let operands =
                        if is_symmetric { vec![i.clone(), i.clone()] } else { vec![i.clone()] };
                    body.push(Statement::Line(Expr::Op(format!("{sum} += {products};"), operands)));
                }
            } else {
                let count = if is_symmetric { (taps + 1) / 2 } else { taps };
                let head = this.counted(Expr::leaf(count.to_string()), Range::exactly(count));
                let k = name(&head.counter.name);
                let product = match is_symmetric {
                    true => Expr::op(
                        format!("{sum} += {h}[$] * ({x}[$ + $] + {x}[$ + {last} - $]);"),
                        [k.clone(), i.clone(), k.clone(), i.clone(), k],
                    ),
                    false => Expr::op(
                        format!("{sum} += {h}[$] * {x}[$ + $];"),
                        [k.clone(), i.clone(), k],
                    ),
                };
                body.push(this.inside(head, |_| vec![Statement::Line(product)]));
            }
            body.push(line(format!("{y}[$] {op} {casts}({sum} >> {shift});"), [i]));
            body
        })])
    }

    /// Complex products of pairs of elements, conjugate or not, summed or not.
    fn complex(&mut self) -> Option<Vec<Statement>> {
        let (one, two, into) = (self.plain(false)?, self.plain(false)?, self.plain(true)?);
        let head = self.upward(100);
        let i = head.counter.clone();
        let pairs = Range::new(0, 2 * i.range.high + 1);
        if !self.reaches(one, pairs) || !self.reaches(two, pairs) || !self.reaches(into, pairs) {
            return None;
        }
        let [a, b, y] = [one, two, into].map(|array| self.arrays[array].name.clone());
        let signs = self.random.pick(&[("-", "+"), ("+", "-"), ("+", "+")]);
        let shift = self.random.below(16);
        let is_summed = self.random.percent(50);
        let ty = self.random.pick(&["int32_t", "int32_t", "int64_t", "uint32_t"]);
        let (re, im) = (self.name("s"), self.name("s"));
        let i_name = name(&i.name);
        let (plus, minus) =
            (format!("{a}[2 * $] * {b}[2 * $]"), format!("{a}[2 * $ + 1] * {b}[2 * $ + 1]"));
        let (left, right) =
            (format!("{a}[2 * $] * {b}[2 * $ + 1]"), format!("{a}[2 * $ + 1] * {b}[2 * $]"));
        let four = || [(); 4].map(|()| i_name.clone());
        let mut lines = Vec::new();
        let op = if is_summed { "+=" } else { "=" };
        let declared = |first: &str| [line(format!("{ty} {re} = {first}, {im} = 0;"), [])];
        lines.extend(declared("0"));
        let body = vec![
            line(format!("{re} {op} ({plus} {} {minus}) >> {shift};", signs.0), four()),
            line(format!("{im} {op} ({left} {} {right}) >> {shift};", signs.1), four()),
        ];
        let store = vec![
            line(format!("{y}[2 * $] = {re};"), [i_name.clone()]),
            line(format!("{y}[2 * $ + 1] = {im};"), [i_name.clone()]),
        ];
        let stores = !is_summed || self.random.percent(40);
        lines.push(self.inside(head, |_| if stores { [body, store].concat() } else { body }));
        if is_summed {
            let place = self.variable_to_write();
            lines.push(line(format!("$ ^= {re} + {im} * 3;"), [place]));
        }
        Some(lines)
    }

    /// Rows times columns.
    fn matrix(&mut self) -> Option<Vec<Statement>> {
        let (one, two, into) = (self.plain(false)?, self.plain(false)?, self.plain(true)?);
        let [rows, columns, inner] = [(); 3].map(|()| self.random.between(1, 8));
        let fits = self.reaches(one, Range::new(0, rows * inner - 1))
            && self.reaches(two, Range::new(0, inner * columns - 1))
            && self.reaches(into, Range::new(0, rows * columns - 1));
        if !fits {
            return None;
        }
        let [a, b, y] = [one, two, into].map(|array| self.arrays[array].name.clone());
        let heads = [rows, columns, inner]
            .map(|count| self.counted(Expr::leaf(count.to_string()), Range::exactly(count)));
        let [i, j, k] = heads.each_ref().map(|head| name(&head.counter.name));
        let [outer, middle, innermost] = heads;
        let at = format!("{y}[$ * {columns} + $]");
        let sum = self.name("s");
        let is_kept = self.random.percent(60);
        let is_transposed = self.random.percent(25) && columns == inner;
        let second = if is_transposed {
            format!("{b}[$ * {inner} + $]")
        } else {
            format!("{b}[$ * {columns} + $]")
        };
        let (first_of_two, second_of_two) =
            if is_transposed { (j.clone(), k.clone()) } else { (k.clone(), j.clone()) };
        let product = [i.clone(), k, first_of_two, second_of_two];
        let shift = self.random.pick(&[0, 0, 3, 15]);
        Some(vec![self.inside(outer, |this| {
            vec![this.inside(middle, |this| {
                let mut body = Vec::new();
                if is_kept {
                    body.push(line(format!("int32_t {sum} = 0;"), []));
                    let product =
                        line(format!("{sum} += {a}[$ * {inner} + $] * {second};"), product);
                    body.push(this.inside(innermost, |_| vec![product]));
                    body.push(line(format!("{at} = {sum} >> {shift};"), [i, j]));
                } else {
                    let [x, z, v, w] = product;
                    let operands = [i, j, x, z, v, w];
                    let product =
                        line(format!("{at} += {a}[$ * {inner} + $] * {second};"), operands);
                    body.push(this.inside(innermost, |_| vec![product]));
                }
                body
            })]
        })])
    }

    /// The greatest or least element and where it is.
    fn best(&mut self) -> Option<Vec<Statement>> {
        let from = self.plain(false)?;
        let head = self.upward(100);
        let range = head.counter.range;
        if !self.reaches(from, range.plus(1)) {
            return None;
        }
        let (x, i) = (self.arrays[from].name.clone(), name(&head.counter.name));
        let (best, at) = (self.name("s"), self.name("s"));
        let op = self.random.pick(&["<", ">", "<=", ">="]);
        let ty = TYPES[self.arrays[from].ty].0;
        let mut lines = vec![line(format!("{ty} {best} = {x}[0]; int {at} = 0;"), [])];
        let condition = Expr::op(format!("{x}[$] {op} {best}"), [i.clone()]);
        let then =
            vec![line(format!("{best} = {x}[$];"), [i.clone()]), line(format!("{at} = $;"), [i])];
        lines.push(self.inside(head, |_| vec![Statement::If(condition, then, vec![])]));
        let place = self.variable_to_write();
        lines.push(line(format!("$ += {best} + {at} * 5;"), [place]));
        Some(lines)
    }

    /// The first element that is something, found in several ways.
    fn first(&mut self) -> Option<Vec<Statement>> {
        let from = self.plain(false)?;
        let head = self.upward(100);
        if !self.reaches(from, head.counter.range) {
            return None;
        }
        let (x, i) = (self.arrays[from].name.clone(), name(&head.counter.name));
        let at = self.name("s");
        let value = self.constant();
        let condition = Expr::op(format!("{x}[$] > $"), [i.clone(), value]);
        let place = self.variable_to_write();
        let then = match self.random.below(3) {
            0 => vec![line(format!("{at} = $;"), [i.clone()]), line("break;", [])],
            1 => vec![line(format!("if ({at} < 0) {at} = $;"), [i.clone()])],
            _ => vec![line(format!("{at} = $ + 1;"), [i.clone()]), line("break;", [])],
        };
        let counts = self.random.percent(40);
        let looped = self.inside(head, |_| {
            let mut body = vec![Statement::If(condition, then, vec![])];
            if counts {
                body.push(line(format!("$ += {x}[$];"), [place.clone(), i]));
            }
            body
        });
        Some(vec![
            line(format!("int {at} = -1;"), []),
            looped,
            line(format!("$ += {at};"), [place]),
        ])
    }

    /// Elements that depend on those some elements before.
    fn recurrence(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let head = self.upward(100);
        let range = head.counter.range;
        let distance = self.random.between(1, 8);
        if !self.reaches(from, range) || !self.reaches(into, range.plus(distance)) {
            return None;
        }
        let (x, y) = (self.arrays[from].name.clone(), self.arrays[into].name.clone());
        let i = || name(&head.counter.name);
        let other = self.random.between(0, distance);
        let text = match self.random.below(5) {
            0 => format!("{y}[$ + {distance}] = {x}[$] + {y}[$];"),
            1 => format!("{y}[$ + {distance}] = {x}[$] + (({y}[$] * 3) >> 2) - {y}[$ + {other}];"),
            2 => format!("{y}[$] = {x}[$] - {y}[$ + {distance}];"),
            3 => format!("{y}[$ + {distance}] ^= {y}[$] + {x}[$];"),
            _ => format!("{y}[$ + {other}] = {y}[$ + {distance}] + {x}[$];"),
        };
        let operands = vec![i(); text.matches('$').count()];
        let sum = self.variable_to_write();
        let prefix = line(format!("$ += {x}[$];"), [sum.clone(), i()]);
        let store = line(format!("{y}[$] = $;"), [i(), sum]);
        let is_prefix = self.random.percent(35);
        let body = match is_prefix {
            true => vec![prefix, store],
            false => vec![Statement::Line(Expr::Op(text, operands))],
        };
        Some(vec![self.inside(head, |_| body)])
    }

    /// Counts of what elements are.
    fn histogram(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let head = self.upward(100);
        let mask = self.random.pick(&[3, 7, 15, 31]);
        let room =
            self.reaches(from, head.counter.range) && self.reaches(into, Range::new(0, mask));
        if !room {
            return None;
        }
        let (x, y) = (self.arrays[from].name.clone(), self.arrays[into].name.clone());
        let i = name(&head.counter.name);
        let by =
            self.random.pick(&["++", " += 3", " ^= 5", " = i"]).replace('i', &head.counter.name);
        let step = line(format!("{y}[{x}[$] & {mask}]{by};"), [i]);
        Some(vec![self.inside(head, |_| vec![step])])
    }

    /// A line of delays that moves on in each iteration.
    fn delays(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let head = self.upward(70);
        if !self.reaches(from, head.counter.range) || !self.reaches(into, head.counter.range) {
            return None;
        }
        let (x, y) = (self.arrays[from].name.clone(), self.arrays[into].name.clone());
        let (i, line_of, k) = (name(&head.counter.name), self.name("d"), self.name("i"));
        let length = self.random.between(2, 7);
        let ty = self.random.pick(&["int32_t", "int16_t", "int64_t", "uint8_t"]);
        let sum = self.name("s");
        let is_ring = self.random.percent(30);
        let declared = match is_ring {
            true => format!("{ty} {line_of}[{length}] = {{0}}; int at{line_of} = 0;"),
            false => format!("{ty} {line_of}[{length}] = {{0}};"),
        };
        let shift = match is_ring {
            true => vec![
                line(format!("{line_of}[at{line_of}] = {x}[$];"), [i.clone()]),
                line(
                    format!("at{line_of} = at{line_of} + 1 == {length} ? 0 : at{line_of} + 1;"),
                    [],
                ),
            ],
            false => vec![
                line(
                    format!(
                        "for (int {k} = {length} - 1; {k} > 0; {k}--) {line_of}[{k}] = {line_of}[{k} - 1];"
                    ),
                    [],
                ),
                line(format!("{line_of}[0] = {x}[$];"), [i.clone()]),
            ],
        };
        let rest = vec![
            line(format!("int32_t {sum} = 0;"), []),
            line(
                format!(
                    "for (int {k} = 0; {k} < {length}; {k}++) {sum} += {line_of}[{k}] * ({k} + 1);"
                ),
                [],
            ),
            line(format!("{y}[$] = {sum};"), [i]),
        ];
        let looped = self.inside(head, |_| [shift, rest].concat());
        Some(vec![line(declared, []), looped])
    }

    /// What is written to where a count stands that goes up sometimes.
    fn compaction(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let head = self.upward(100);
        let range = Range::new(0, head.counter.range.high);
        if !self.reaches(from, head.counter.range) || !self.reaches(into, range) {
            return None;
        }
        let (x, y) = (self.arrays[from].name.clone(), self.arrays[into].name.clone());
        let (i, count) = (name(&head.counter.name), self.name("s"));
        let condition =
            Expr::op(format!("{x}[$] {}", self.random.pick(&["> 0", "& 1", "!= 3"])), [i.clone()]);
        let text = self.random.pick(&["Y[S++] = X[$];", "Y[S] = X[$] + 1; S += 1;"]);
        let text = text.replace('Y', &y).replace('X', &x).replace('S', &count);
        let then = vec![line(text, [i])];
        let looped = self.inside(head, |_| vec![Statement::If(condition, then, vec![])]);
        let place = self.variable_to_write();
        Some(vec![
            line(format!("int {count} = 0;"), []),
            looped,
            line(format!("$ += {count};"), [place]),
        ])
    }

    /// Rounds over two buffers whose pointers are exchanged.
    fn exchanged(&mut self) -> Option<Vec<Statement>> {
        let from = self.plain(false)?;
        let length = self.random.between(3, 24);
        if !self.reaches(from, Range::new(0, length - 1)) {
            return None;
        }
        let x = self.arrays[from].name.clone();
        let ty = self.random.pick(&["int32_t", "int16_t", "uint16_t"]);
        let [one, two, p, q, k, r] = ["e", "e", "p", "p", "i", "p"].map(|letter| self.name(letter));
        let head = self.upward(9);
        let first = format!("for (int {k} = 0; {k} < {length}; {k}++) {one}[{k}] = {x}[{k}];");
        let round = match self.random.below(2) {
            0 => format!(
                "for (int {k} = 1; {k} < {length} - 1; {k}++) {q}[{k}] = ({p}[{k} - 1] + 2 * {p}[{k}] + {p}[{k} + 1]) >> 2;"
            ),
            _ => format!(
                "for (int {k} = 0; {k} < {length} - 2; {k}++) {q}[{k}] = {p}[{k} + 2] ^ {p}[{k}];"
            ),
        };
        let exchange = format!("{ty} *{r} = {p}; {p} = {q}; {q} = {r};");
        let looped = self.inside(head, |_| vec![line(round, []), line(exchange, [])]);
        let place = self.variable_to_write();
        Some(vec![
            line(
                format!(
                    "{ty} {one}[{length}], {two}[{length}] = {{0}}, *{p} = {one}, *{q} = {two};"
                ),
                [],
            ),
            line(first, []),
            looped,
            line(
                format!("for (int {k} = 0; {k} < {length}; {k}++) $ = $ * 3 + {p}[{k}];"),
                [place.clone(), place],
            ),
        ])
    }

    /// Passes that exchange neighbours.
    fn passes(&mut self) -> Option<Vec<Statement>> {
        let into = self.plain(true)?;
        let length = self.random.between(2, 12);
        if !self.reaches(into, Range::new(0, length)) {
            return None;
        }
        let (y, ty) = (self.arrays[into].name.clone(), TYPES[self.arrays[into].ty].0);
        let [i, j, kept] = ["i", "i", "r"].map(|letter| self.name(letter));
        let bound = self.random.pick(&["LEN - 1 - I", "LEN - 1"]);
        let bound = bound.replace("LEN", &length.to_string()).replace('I', &i);
        let text = match self.random.below(2) {
            0 => format!(
                "for (int {i} = 0; {i} < {length}; {i}++) for (int {j} = 0; {j} < {bound}; {j}++) if ({y}[{j}] > \
                 {y}[{j} + 1]) {{ {ty} {kept} = {y}[{j}]; {y}[{j}] = {y}[{j} + 1]; {y}[{j} + 1] = {kept}; }}"
            ),
            _ => format!(
                "for (int {i} = 1; {i} < {length}; {i}++) {{ {ty} {kept} = {y}[{i}]; int {j} = {i} - 1; while \
                 ({j} >= 0 && {y}[{j}] > {kept}) {{ {y}[{j} + 1] = {y}[{j}]; {j}--; }} {y}[{j} + 1] = {kept}; }}"
            ),
        };
        Some(vec![line(text, [])])
    }

    /// Loops over the bits of elements.
    fn bits(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let head = self.upward(40);
        if !self.reaches(from, head.counter.range) || !self.reaches(into, head.counter.range) {
            return None;
        }
        let (x, y) = (self.arrays[from].name.clone(), self.arrays[into].name.clone());
        let (i, value, k) = (name(&head.counter.name), self.name("r"), self.name("i"));
        let count = self.name("r");
        let text = self.random.pick(&[
            "while (V) { V &= V - 1; C++; }",
            "while (V != 0) { C += V & 1; V >>= 1; }",
            "for (int K = 0; K < 8; K++) V = V & 1 ? (V >> 1) ^ 0xedb88320u : V >> 1; C = V;",
            "for (int K = 0; K < 8; K++) { C = C << 1 | (V & 1); V >>= 1; }",
            "do { C++; V /= 10; } while (V);",
            "uint32_t K = 12; while (K != 0) { uint32_t Kx = V % K; V = K; K = Kx; } C = V;",
        ]);
        let text = text.replace('V', &value).replace('C', &count).replace('K', &k);
        let body = vec![
            line(format!("uint32_t {value} = {x}[$], {count} = 0;"), [i.clone()]),
            line(text, []),
            line(format!("{y}[$] = {count};"), [i]),
        ];
        Some(vec![self.inside(head, |_| body)])
    }

    /// A machine of states that elements drive.
    fn states(&mut self) -> Option<Vec<Statement>> {
        let from = self.plain(false)?;
        let head = self.upward(100);
        if !self.reaches(from, head.counter.range) {
            return None;
        }
        let (x, i, state) =
            (self.arrays[from].name.clone(), name(&head.counter.name), self.name("r"));
        let count = self.variable_to_write();
        let ways = (0..3).map(|way| {
            let next = (way + 1) % 3;
            let go = Statement::If(
                Expr::op(format!("{x}[$] > {}", 7 * way - 5), [i.clone()]),
                vec![line(format!("{state} = {next};"), [])],
                if way == 1 { vec![line("$++;", [count.clone()])] } else { vec![] },
            );
            (format!("case {way}"), vec![go, line("break;", [])])
        });
        let ways: Vec<(String, Vec<Statement>)> = ways.collect();
        let switch = Statement::Switch(name(&state), ways);
        let looped = self.inside(head, |_| vec![switch]);
        Some(vec![
            line(format!("int {state} = 0;"), []),
            looped,
            line(format!("$ += {state};"), [count]),
        ])
    }

    /// Rows that take back what earlier rows give, as triangular systems are solved.
    fn substitution(&mut self) -> Option<Vec<Statement>> {
        let (from, into) = (self.plain(false)?, self.plain(true)?);
        let length = self.random.between(1, 9);
        let reach = Range::new(0, length * length - 1);
        if !self.reaches(from, reach) || !self.reaches(into, Range::new(0, length - 1)) {
            return None;
        }
        let (x, y) = (self.arrays[from].name.clone(), self.arrays[into].name.clone());
        let [i, j, sum] = ["i", "i", "s"].map(|letter| self.name(letter));
        let shift = self.random.below(6);
        let text = format!(
            "for (int {i} = 0; {i} < {length}; {i}++) {{ int32_t {sum} = {y}[{i}]; for (int {j} = 0; {j} < {i}; \
             {j}++) {sum} -= {x}[{i} * {length} + {j}] * {y}[{j}] >> {shift}; {y}[{i}] = {sum}; }}"
        );
        Some(vec![line(text, [])])
    }

    /// Functions that take rows, of arrays that may be the same.
    fn calls(&mut self) -> Option<Vec<Statement>> {
        let of = |this: &mut Generator, ty: usize, is_written: bool| {
            let found = this.plain(is_written)?;
            (this.arrays[found].ty == ty).then_some(found)
        };
        let length = self.random.between(0, 24);
        let offsets = [(); 2].map(|()| self.random.between(0, 6));
        let place = self.variable_to_write();
        if let (Some(a), Some(b)) = (of(self, 2, false), of(self, 2, false)) {
            let room = [a, b]
                .into_iter()
                .zip(offsets)
                .all(|(array, offset)| self.reaches(array, Range::new(offset, offset + length)));
            let [a, b] = [a, b].map(|array| self.arrays[array].name.clone());
            let text =
                format!("$ += sumdiff({a} + {}, &{b}[{}], {length});", offsets[0], offsets[1]);
            return room.then(|| vec![line(text, [place])]);
        }
        let (y, x) = (of(self, 4, true)?, of(self, 4, false)?);
        let room = [y, x]
            .into_iter()
            .zip(offsets)
            .all(|(array, offset)| self.reaches(array, Range::new(offset, offset + length)));
        let [y, x] = [y, x].map(|array| self.arrays[array].name.clone());
        let k = self.value(1);
        let text = format!("axpy({y} + {}, {x} + {}, {length}, $);", offsets[0], offsets[1]);
        room.then(|| vec![line(text, [k])])
    }
}
