//! Formulas of suites: sizes, elements of inputs, figures. Arithmetic on numbers in the precedence of C,
//! over names that whoever evaluates it knows.
//!
//! A name is letters, digits, `_` and dots, and may say of which variant it is: `cycles@all-far`.

use std::fmt;

/// A formula, as steps of a stack machine: elements of inputs are many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formula {
    /// The names that it reads, each once.
    pub names: Vec<Name>,
    steps: Vec<Step>,
}

/// A name in a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// What is read.
    pub key: String,
    /// Of which variant, where it says so.
    pub variant: Option<String>,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        self.variant.as_ref().map_or(Ok(()), |variant| write!(f, "@{variant}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Number(f64),
    Name(usize),
    Negate,
    Binary(Binary),
    Call(Function),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Binary operators with their precedence, longer ones first.
const OPERATORS: [(&str, u8, Binary); 11] = [
    ("==", 0, Binary::Eq),
    ("!=", 0, Binary::Ne),
    ("<=", 1, Binary::Le),
    (">=", 1, Binary::Ge),
    ("<", 1, Binary::Lt),
    (">", 1, Binary::Gt),
    ("+", 2, Binary::Add),
    ("-", 2, Binary::Sub),
    ("*", 3, Binary::Mul),
    ("/", 3, Binary::Div),
    ("%", 3, Binary::Rem),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Floor,
    Ceil,
    Abs,
    Sqrt,
    Log,
    Exp,
    Sin,
    Cos,
    Random,
}

/// Functions by name, with the number of their arguments.
const FUNCTIONS: [(&str, usize, Function); 11] = [
    ("min", 2, Function::Min),
    ("max", 2, Function::Max),
    ("floor", 1, Function::Floor),
    ("ceil", 1, Function::Ceil),
    ("abs", 1, Function::Abs),
    ("sqrt", 1, Function::Sqrt),
    ("log", 1, Function::Log),
    ("exp", 1, Function::Exp),
    ("sin", 1, Function::Sin),
    ("cos", 1, Function::Cos),
    ("random", 2, Function::Random),
];

/// What is wrong with a formula, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The byte.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// Brackets and signs inside of each other at most.
const MAX_NESTING: usize = 64;

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// What is no formula, and where.
    pub fn parse(text: &str) -> Result<Formula, Mistake> {
        let mut parser = Parser { text, at: 0, depth: 0, formula: Formula::default() };
        parser.expression(0)?;
        match parser.rest().chars().next() {
            None => Ok(parser.formula),
            Some(c) => Err(parser.mistake(format!("`{c}` stands where the formula should end"))),
        }
    }

    /// Whether it draws random numbers.
    pub fn is_random(&self) -> bool {
        self.steps.contains(&Step::Call(Function::Random))
    }

    /// Its value, where `names` are the values of [`Formula::names`]; `random` gives numbers from 0 up
    /// to 1. `stack` is room that is used again.
    pub fn value(
        &self,
        names: &[f64],
        stack: &mut Vec<f64>,
        mut random: impl FnMut() -> f64,
    ) -> f64 {
        stack.clear();
        for step in &self.steps {
            let value = match *step {
                Step::Number(number) => number,
                Step::Name(index) => names[index],
                Step::Negate => -pop(stack),
                Step::Binary(operation) => {
                    let (b, a) = (pop(stack), pop(stack));
                    operation.of(a, b)
                }
                Step::Call(function) => match function {
                    Function::Min | Function::Max | Function::Random => {
                        let (b, a) = (pop(stack), pop(stack));
                        match function {
                            Function::Min => a.min(b),
                            Function::Max => a.max(b),
                            _ => a + (b - a) * random(),
                        }
                    }
                    _ => function.of(pop(stack)),
                },
            };
            stack.push(value);
        }
        pop(stack)
    }
}

fn pop(stack: &mut Vec<f64>) -> f64 {
    stack.pop().expect("steps of a formula leave what they take")
}

impl Binary {
    fn of(self, a: f64, b: f64) -> f64 {
        let truth = |is: bool| f64::from(u8::from(is));
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Rem => a % b,
            Binary::Eq => truth(a == b),
            Binary::Ne => truth(a != b),
            Binary::Lt => truth(a < b),
            Binary::Le => truth(a <= b),
            Binary::Gt => truth(a > b),
            Binary::Ge => truth(a >= b),
        }
    }
}

impl Function {
    fn of(self, a: f64) -> f64 {
        match self {
            Function::Floor => a.floor(),
            Function::Ceil => a.ceil(),
            Function::Abs => a.abs(),
            Function::Sqrt => a.sqrt(),
            Function::Log => a.ln(),
            Function::Exp => a.exp(),
            Function::Sin => a.sin(),
            Function::Cos => a.cos(),
            Function::Min | Function::Max | Function::Random => panic!("it has two arguments"),
        }
    }
}

/// Precedence climbing.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    formula: Formula,
}

impl<'t> Parser<'t> {
    /// What is left, blanks skipped.
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn mistake(&self, message: String) -> Mistake {
        Mistake { at: self.at, message }
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), Mistake> {
        match self.take(word) {
            true => Ok(()),
            false => Err(self.mistake(format!("`{word}` is missing here"))),
        }
    }

    fn expression(&mut self, least: u8) -> Result<(), Mistake> {
        self.operand()?;
        loop {
            let rest = self.rest();
            let found = OPERATORS.iter().find(|(word, ..)| rest.starts_with(word));
            let Some(&(word, precedence, operation)) = found.filter(|row| row.1 >= least) else {
                return Ok(());
            };
            self.at += word.len();
            self.expression(precedence + 1)?;
            self.formula.steps.push(Step::Binary(operation));
        }
    }

    fn operand(&mut self) -> Result<(), Mistake> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.mistake(format!("brackets and signs are {MAX_NESTING} deep at most")));
        }
        let rest = self.rest();
        match rest.chars().next() {
            Some('-') => {
                self.at += 1;
                self.operand()?;
                self.formula.steps.push(Step::Negate);
            }
            Some('(') => {
                self.at += 1;
                self.expression(0)?;
                self.expect(")")?;
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(rest)?,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.word(rest)?,
            Some(c) => return Err(self.mistake(format!("`{c}` is neither number nor name"))),
            None => return Err(self.mistake("the formula ends here too soon".into())),
        }
        self.depth -= 1;
        Ok(())
    }

    fn number(&mut self, rest: &str) -> Result<(), Mistake> {
        let bytes = rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let c = bytes[end];
            let sign = matches!(c, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
            if !(c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E') || end > 0 && sign) {
                break;
            }
            end += 1;
        }
        let number = rest[..end].parse().ok().filter(|number: &f64| number.is_finite());
        let wrong = || self.mistake(format!("`{}` is no number", &rest[..end]));
        let number = number.ok_or_else(wrong)?;
        self.at += end;
        self.formula.steps.push(Step::Number(number));
        Ok(())
    }

    fn word(&mut self, rest: &str) -> Result<(), Mistake> {
        let until = |text: &str, part: fn(char) -> bool| {
            text.find(|c: char| !part(c)).unwrap_or(text.len())
        };
        let end = until(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        let key = &rest[..end];
        let begin = self.at;
        self.at += end;
        if self.rest().starts_with('(') {
            let Some(&(_, count, function)) = FUNCTIONS.iter().find(|(name, ..)| *name == key)
            else {
                let known: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
                let message = format!("`{key}` is no function: there are {}", known.join(", "));
                return Err(Mistake { at: begin, message });
            };
            self.expect("(")?;
            for index in 0..count {
                if index > 0 {
                    self.expect(",")?;
                }
                self.expression(0)?;
            }
            self.expect(")")?;
            self.formula.steps.push(Step::Call(function));
            return Ok(());
        }
        let mut variant = None;
        if self.text[self.at..].starts_with('@') {
            let behind = &self.text[self.at + 1..];
            let end = until(behind, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            if end == 0 {
                return Err(self.mistake("a variant stands behind `@`".into()));
            }
            variant = Some(behind[..end].to_string());
            self.at += 1 + end;
        }
        let name = Name { key: key.to_string(), variant };
        let names = &mut self.formula.names;
        let index = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        self.formula.steps.push(Step::Name(index));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let formula = Formula::parse(text).expect(text);
        let values: Vec<f64> = formula.names.iter().map(|name| name.key.len() as f64).collect();
        formula.value(&values, &mut Vec::new(), || 0.5)
    }

    #[test]
    fn arithmetic_is_c_s() {
        let cases = [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("7 - 2 - 1", 4.0),
            ("16 / 4 / 2", 2.0),
            ("-2 * -3", 6.0),
            ("--2", 2.0),
            ("7 % 4", 3.0),
            ("1 + 1 == 2", 1.0),
            ("3 < 2", 0.0),
            ("3 >= 2 != 0", 1.0),
            ("min(3, max(1, 2)) + ceil(0.5) + floor(1.5)", 4.0),
            ("random(2, 4)", 3.0),
            ("1e3 + 2.5e-1 + .5", 1000.75),
            ("one + three.four", 13.0),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn names_say_their_variant() {
        let formula =
            Formula::parse("cycles@all-far / cycles + cycles@all-far").expect("it is one");
        let names: Vec<String> = formula.names.iter().map(Name::to_string).collect();
        assert_eq!(names, ["cycles@all-far", "cycles"]);
        assert_eq!(formula.value(&[6.0, 2.0], &mut Vec::new(), || 0.0), 9.0);
    }

    #[test]
    fn mistakes_have_their_place() {
        let cases = [
            ("", 0),
            ("1 +", 3),
            ("1 2", 2),
            ("(1", 2),
            ("nothing(1)", 0),
            ("min(1)", 5),
            ("a@", 1),
            ("1..2", 0),
            ("1 $ 2", 2),
            ("1e", 0),
            ("é", 0),
        ];
        for (text, at) in cases {
            assert_eq!(Formula::parse(text).expect_err(text).at, at, "{text}");
        }
        assert!(Formula::parse(&"(".repeat(1_000_000)).is_err());
        assert!(Formula::parse(&"-".repeat(1_000_000)).is_err());
    }
}
