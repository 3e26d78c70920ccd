//! Statements: nests of loops, branches, assignments to elements and variables.

use super::generate::{Generator, Variable};
use super::heads::Head;
use super::model::{Expr, Loop, Statement, TYPES};
use super::subscripts::Pointer;

impl Generator {
    /// A nest of loops, or a form that kernels have.
    pub fn piece(&mut self) -> Vec<Statement> {
        match self.random.percent(45) {
            true => self.idiom(),
            false => {
                let depth = self.random.pick(&[1, 1, 2, 2, 3]);
                self.nest(depth)
            }
        }
    }

    /// A loop with what is set up before it, `depth` loops deep at most.
    pub fn nest(&mut self, depth: usize) -> Vec<Statement> {
        let mut lines = Vec::new();
        let (variables, pointers) = (self.variables.len(), self.pointers.len());
        if self.random.percent(30) {
            let ty =
                self.random.pick(&["int", "int32_t", "int64_t", "uint32_t", "int16_t", "uint8_t"]);
            let name = self.name("s");
            let first = match self.random.percent(25) {
                true => self.value(1),
                false => Expr::leaf(self.random.pick(&["0", "1", "-5", "1 << 7"])),
            };
            lines.push(Statement::Line(Expr::op(format!("{ty} {name} = $;"), [first])));
            self.variables.push(Variable { name, is_written: true });
        }
        if self.random.percent(20) {
            lines.extend(self.pointer());
        }
        let head = self.head();
        let walker = (self.random.percent(18)).then(|| self.walker(head.trips)).flatten();
        if let Some((declared, _)) = &walker {
            lines.push(declared.clone());
        }
        let walks = walker.map(|(_, walk)| walk);
        let looped = self.inside(head, |this| {
            let mut body = Vec::new();
            let nests = depth > 1 && this.loops < 5;
            if nests && this.random.percent(75) {
                if this.random.percent(45) {
                    body.extend(this.statements(1, 0));
                }
                body.extend(this.nest(depth - 1));
                if this.random.percent(50) {
                    body.extend(this.statements(1, 0));
                }
            } else {
                let count = this.random.pick(&[1, 1, 2, 2, 3]);
                body.extend(this.statements(count, 1));
            }
            if let Some(walk) = walks {
                let at = this.random.below(body.len() + 1);
                // Behind what may go on with the next iteration, it walks less often only.
                body.insert(at, walk);
            }
            body
        });
        lines.push(looped);
        if self.variables.len() > variables && self.random.percent(60) {
            let name = Expr::leaf(&self.variables[self.variables.len() - 1].name);
            let element = self.element(true);
            let text =
                self.random.pick(&["$ = $;", "$ += $;", "$ = $ >> 3;", "$ = (int16_t)($ >> 2);"]);
            lines.push(Statement::Line(Expr::op(text, [element, name])));
        }
        // What is declared at the top of the function goes on to be known.
        if !self.counters.is_empty() {
            self.variables.truncate(variables);
            self.pointers.truncate(pointers);
        }
        lines
    }

    /// A loop with that head.
    pub fn inside(
        &mut self,
        head: Head,
        body: impl FnOnce(&mut Generator) -> Vec<Statement>,
    ) -> Statement {
        let work = self.work;
        self.work *= head.trips.max(1);
        self.loops += 1;
        let continues = std::mem::replace(&mut self.continues, head.continues);
        let (variables, pointers) = (self.variables.len(), self.pointers.len());
        self.counters.push(head.counter);
        let mut body = body(self);
        if let Some(first) = head.first {
            body.insert(0, Statement::Line(first));
        }
        self.counters.pop();
        self.variables.truncate(variables);
        self.pointers.truncate(pointers);
        self.continues = continues;
        self.work = work;
        for stored in &mut self.arrays {
            stored.bases.retain(|(depth, _)| *depth <= self.counters.len());
        }
        Statement::Loop(Box::new(Loop {
            before: head.before,
            head: head.head,
            body,
            last: head.last,
            tail: head.tail,
            alone: Some(head.alone),
        }))
    }

    /// Declares a pointer into one array, or one of two by a condition.
    fn pointer(&mut self) -> Option<Statement> {
        let is_written = self.random.percent(60);
        let target = self.plain(is_written)?;
        let ty = self.arrays[target].ty;
        let is_written = self.arrays[target].is_written;
        let constant = if is_written { "" } else { "const " };
        let others: Vec<usize> = (0..self.arrays.len())
            .filter(|&a| {
                let array = &self.arrays[a];
                let is_plain = array.members.is_empty() && array.dimensions.len() == 1;
                let fits = array.ty == ty && array.is_written == is_written;
                a != target && fits && is_plain && array.name != "t"
            })
            .collect();
        let name = self.name("p");
        let offset = self.random.pick(&[0, 0, 1, 2, 3, 5, 8]);
        let start = format!("{} + {offset}", self.arrays[target].name);
        let (text, operands, targets, low) = match self.random.percent(35) && !others.is_empty() {
            true => {
                let other = self.random.pick(&others);
                let condition = self.condition(1);
                let start = format!("$ ? {start} : {}", self.arrays[other].name);
                (start, vec![condition], vec![target, other], 0)
            }
            false => (start, vec![], vec![target], offset),
        };
        let text = format!("{constant}{} *{name} = {text};", TYPES[ty].0);
        self.pointers.push(Pointer { name, targets, low, high: offset, is_written });
        Some(Statement::Line(Expr::Op(text, operands)))
    }

    /// A pointer that goes one further in each iteration of a loop: its declaration, and how it goes.
    fn walker(&mut self, trips: i64) -> Option<(Statement, Statement)> {
        let is_written = self.random.percent(50);
        let target = self.plain(is_written)?;
        let offset = self.random.pick(&[0, 0, 1, 4]);
        let up = self.random.percent(75);
        let last = offset + trips.max(1) - 1;
        if !self.reaches(target, super::subscripts::Range::new(offset, last)) {
            return None;
        }
        let constant = if self.arrays[target].is_written { "" } else { "const " };
        let name = self.name("p");
        let (array, ty) = (self.arrays[target].name.clone(), TYPES[self.arrays[target].ty].0);
        let start = if up { offset } else { last };
        let declared = Expr::leaf(format!("{constant}{ty} *{name} = {array} + {start};"));
        let step = if up { "++" } else { "--" };
        let walk = match is_written {
            true => {
                let op = self.random.pick(&["=", "=", "+=", "^="]);
                Expr::op(format!("*{name}{step} {op} $;"), [self.value(2)])
            }
            false => {
                let into = self.variable_to_write();
                let op = self.random.pick(&["+=", "+=", "^=", "="]);
                let with = self.random.pick(&["", " * $", " + $"]);
                let operands = if with.is_empty() { vec![into] } else { vec![into, self.value(1)] };
                Expr::Op(format!("$ {op} *{name}{step}{with};"), operands)
            }
        };
        Some((Statement::Line(declared), Statement::Line(walk)))
    }

    /// A variable that may be written.
    pub fn variable_to_write(&mut self) -> Expr {
        let may: Vec<usize> =
            (0..self.variables.len()).filter(|&v| self.variables[v].is_written).collect();
        Expr::leaf(&self.variables[self.random.pick(&may)].name)
    }

    /// Statements of a body, branches so deep at most.
    pub fn statements(&mut self, count: usize, depth: usize) -> Vec<Statement> {
        let variables = self.variables.len();
        let mut lines = Vec::new();
        for _ in 0..count {
            lines.extend(self.statement(depth));
        }
        self.variables.truncate(variables);
        lines
    }

    fn statement(&mut self, depth: usize) -> Vec<Statement> {
        let levels = self.random.between(1, 3) as usize;
        let line = |text: &str, operands: Vec<Expr>| {
            vec![Statement::Line(Expr::Op(text.to_string(), operands))]
        };
        match self.random.below(100) {
            0..=37 => {
                let value = self.value(levels);
                let place = self.element(true);
                let ops = ["=", "=", "=", "=", "+=", "+=", "-=", "^=", "|=", "*=", "&="];
                let op = self.random.pick(&ops);
                line(&format!("$ {op} $;"), vec![place, value])
            }
            38..=59 => {
                let (place, value) = (self.variable_to_write(), self.value(levels));
                let op = self.random.pick(&["+=", "+=", "+=", "+=", "=", "-=", "^=", "|=", "&="]);
                line(&format!("$ {op} $;"), vec![place, value])
            }
            60..=64 => {
                let (value, best) = (self.value(1), self.variable_to_write());
                let op = self.random.pick(&["<", ">", "<=", ">="]);
                let (condition, mut then) = (
                    Expr::op(format!("$ {op} $"), [value.clone(), best.clone()]),
                    line("$ = $;", vec![best, value]),
                );
                if let (true, Some(counter)) = (self.random.percent(50), self.counters.last()) {
                    let at = Expr::leaf(&counter.name);
                    let place = self.variable_to_write();
                    then.extend(line("$ = $;", vec![place, at]));
                }
                vec![Statement::If(condition, then, vec![])]
            }
            65..=76 if depth > 0 => {
                let condition = self.condition(2);
                let count = self.random.pick(&[1, 1, 2]);
                let then = self.statements(count, depth - 1);
                let other =
                    if self.random.percent(40) { self.statements(1, depth - 1) } else { vec![] };
                vec![Statement::If(condition, then, other)]
            }
            77..=80 if !self.counters.is_empty() => {
                let condition = self.condition(1);
                let leave = match self.random.below(8) {
                    0..=3 if self.continues => "continue;",
                    4 => return vec![self.leave(condition)],
                    _ => "break;",
                };
                vec![Statement::If(condition, vec![Statement::Line(Expr::leaf(leave))], vec![])]
            }
            81..=84 if depth > 0 => {
                let value = self.value(1);
                let ways = self.random.between(1, 4);
                let mut all = Vec::new();
                for way in 0..ways {
                    let mut body = self.statements(1, 0);
                    if self.random.percent(75) {
                        body.push(Statement::Line(Expr::leaf("break;")));
                    }
                    all.push((format!("case {way}"), body));
                }
                if self.random.percent(60) {
                    all.push(("default".into(), self.statements(1, 0)));
                }
                vec![Statement::Switch(Expr::op("($) & 3", [value]), all)]
            }
            85..=89 => {
                let (name, value) = (self.name("r"), self.value(levels));
                let (ty, ..) = TYPES[self.random.below(TYPES.len())];
                self.variables.push(Variable { name: name.clone(), is_written: true });
                line(&format!("{ty} {name} = $;"), vec![value])
            }
            90 | 91 => {
                let place = self.element(true);
                line(self.random.pick(&["$++;", "--$;"]), vec![place])
            }
            92 | 93 if self.loops < 6 && self.work < 200 => self.nest(1),
            _ => {
                let value = self.value(2);
                let place = self.element(true);
                line("$ = $;", vec![place, value])
            }
        }
    }

    /// Leaves the function.
    fn leave(&mut self, condition: Expr) -> Statement {
        let value = self.value(1);
        let then = vec![Statement::Line(Expr::op("return $;", [value]))];
        Statement::If(condition, then, vec![])
    }
}
