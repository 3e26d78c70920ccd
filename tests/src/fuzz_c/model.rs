//! A random C program as data: parameters with the arguments of its runs, what stands before the
//! function, a tree of statements; and its text, which says in lines `// run:` what it is called on, as
//! the kernels of `tests/c` do.

use std::fmt::Write;

/// The types of integers: the name in C, signedness, bits.
pub const TYPES: [(&str, bool, u32); 8] = [
    ("int8_t", true, 8),
    ("uint8_t", false, 8),
    ("int16_t", true, 16),
    ("uint16_t", false, 16),
    ("int32_t", true, 32),
    ("uint32_t", false, 32),
    ("int64_t", true, 64),
    ("uint64_t", false, 64),
];

/// A program: a function `f` and what it is called on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Whether all of it has a meaning in C, so that another compiler can be asked.
    pub is_defined: bool,
    /// What stands before the function: structures, tables, variables, functions.
    pub items: Vec<Item>,
    /// The type of the result.
    pub result: &'static str,
    /// Scalars with their types.
    pub scalars: Vec<(String, &'static str)>,
    /// Array parameters, behind the scalars.
    pub arrays: Vec<Array>,
    /// The values of the scalars in each run.
    pub runs: Vec<Vec<i64>>,
    /// The body.
    pub body: Vec<Statement>,
}

/// A declaration at file scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it declares.
    pub name: String,
    /// The declaration.
    pub text: String,
}

/// An array parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// The index of the type of its elements, or of the members of the structures that these are.
    pub ty: usize,
    /// The structure that its elements are, and how many members that has.
    pub structure: Option<(String, u32)>,
    /// Whether it is only read.
    pub is_const: bool,
    /// The slowest dimension first.
    pub extents: Vec<Extent>,
    /// What its elements are not beyond, if there is such a number.
    pub limit: Option<u32>,
}

/// An extent: `plus`, or that many more than a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The number of the scalar.
    pub scalar: Option<usize>,
    /// What is added.
    pub plus: i64,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A name or a number.
    Leaf(String),
    /// A text with `$` where the operands are, which may be replaced by other values.
    Op(String, Vec<Expr>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Without control flow: a text with `$` where expressions are.
    Line(Expr),
    /// A condition and both sides.
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// A loop.
    Loop(Box<Loop>),
    /// Labels with what stands behind them.
    Switch(Expr, Vec<(String, Vec<Statement>)>),
}

/// A loop. What it counts in is declared by what stands before it or in its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// A line before it, if there is one.
    pub before: Option<Expr>,
    /// `for (...)` and the like.
    pub head: Expr,
    /// The body.
    pub body: Vec<Statement>,
    /// A line at the end of the body, if there is one.
    pub last: Option<Expr>,
    /// What follows the brace.
    pub tail: Option<Expr>,
    /// What declares the names of `before` and `head` where the body stands alone.
    pub alone: Option<String>,
}

impl Expr {
    /// A name or a number.
    pub fn leaf(text: impl Into<String>) -> Expr {
        Expr::Leaf(text.into())
    }

    /// An operation.
    pub fn op<const N: usize>(text: impl Into<String>, operands: [Expr; N]) -> Expr {
        Expr::Op(text.into(), operands.into())
    }

    /// Its text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Expr::Leaf(text) => out.push_str(text),
            Expr::Op(text, operands) => {
                let mut parts = text.split('$');
                out.push_str(parts.next().unwrap_or_default());
                for (operand, part) in operands.iter().zip(parts) {
                    operand.write(out);
                    out.push_str(part);
                }
            }
        }
    }
}

impl Program {
    /// The value of an extent in a run.
    fn extent(extent: Extent, scalars: &[i64]) -> i64 {
        extent.plus + extent.scalar.map_or(0, |number| scalars[number])
    }

    /// A call as a line `// run:` says it.
    fn call(&self, scalars: &[i64]) -> String {
        let mut parts: Vec<String> =
            self.scalars.iter().zip(scalars).map(|((name, _), v)| format!("{name}={v}")).collect();
        for array in &self.arrays {
            let extents = array.extents.iter().map(|&e| Program::extent(e, scalars).to_string());
            let members = array.structure.iter().map(|(_, members)| members.to_string());
            let extents: Vec<String> = extents.chain(members).collect();
            let limit = array.limit.map_or(String::new(), |limit| format!("%{limit}"));
            let (ty, ..) = TYPES[array.ty];
            let ty = ty.trim_end_matches("_t");
            parts.push(format!("{}={ty}[{}]{limit}", array.name, extents.join(",")));
        }
        format!("f({})", parts.join(", "))
    }

    /// The C source.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for scalars in &self.runs {
            let _ = writeln!(text, "// run: {}", self.call(scalars));
        }
        text.push_str("#include <stdint.h>\n");
        for item in &self.items {
            let _ = writeln!(text, "{}", item.text);
        }
        let mut params: Vec<String> =
            self.scalars.iter().map(|(name, ty)| format!("{ty} {name}")).collect();
        params.extend(self.arrays.iter().map(|array| self.parameter(array)));
        let params = if params.is_empty() { "void".into() } else { params.join(", ") };
        let _ = writeln!(text, "{} f({params})\n{{", self.result);
        let mut writer = Writer { text, depth: 1 };
        writer.statements(&self.body);
        writer.text + "}\n"
    }

    /// Leaves out the items whose names nothing has.
    pub fn drop_unused_items(&mut self) {
        let items = std::mem::take(&mut self.items);
        let text = self.text();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: std::collections::BTreeSet<&str> = text.split(|c| !is_part(c)).collect();
        self.items = items.into_iter().filter(|item| words.contains(item.name.as_str())).collect();
    }

    fn parameter(&self, array: &Array) -> String {
        let constant = if array.is_const { "const " } else { "" };
        let ty = match &array.structure {
            Some((name, _)) => format!("struct {name}"),
            None => TYPES[array.ty].0.to_string(),
        };
        let extents = array.extents.iter().map(|extent| match extent.scalar {
            None => format!("[{}]", extent.plus),
            Some(number) if extent.plus == 0 => format!("[{}]", self.scalars[number].0),
            Some(number) => format!("[{} + {}]", self.scalars[number].0, extent.plus),
        });
        format!("{constant}{ty} {}{}", array.name, extents.collect::<String>())
    }
}

struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * self.depth);
    }

    fn nested(&mut self, statements: &[Statement]) {
        self.depth += 1;
        self.statements(statements);
        self.depth -= 1;
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Line(line) => self.line(&line.text()),
                Statement::If(condition, then, other) => {
                    self.line(&format!("if ({}) {{", condition.text()));
                    self.nested(then);
                    if !other.is_empty() {
                        self.line("} else {");
                        self.nested(other);
                    }
                    self.line("}");
                }
                Statement::Loop(inner) => self.repeat(inner),
                Statement::Switch(value, ways) => {
                    self.line(&format!("switch ({}) {{", value.text()));
                    for (label, body) in ways {
                        self.line(&format!("{label}: {{"));
                        self.nested(body);
                        self.line("}");
                    }
                    self.line("}");
                }
            }
        }
    }

    fn repeat(&mut self, inner: &Loop) {
        if let Some(before) = &inner.before {
            self.line(&before.text());
        }
        self.line(&format!("{} {{", inner.head.text()));
        self.nested(&inner.body);
        self.depth += 1;
        if let Some(last) = &inner.last {
            self.line(&last.text());
        }
        self.depth -= 1;
        match &inner.tail {
            Some(tail) => self.line(&format!("}} {}", tail.text())),
            None => self.line("}"),
        }
    }
}
