//! A suite as data: programs with their inputs and sizes, the variants under which they are compiled
//! and run, and the figures that are made of what was measured. docs/bench.md describes the format.

use std::collections::BTreeMap;
use std::ops::Range;

use nbcc_base::{Diagnostic, SourceId, Span, nearest};
use nbcc_isa::ScalarType;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::formula::{Formula, Mistake};
use crate::codes;
use crate::session::{Session, Stop};

/// What a suite's file holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// What it is about.
    pub title: String,
    /// The target that its programs are compiled for.
    pub target: String,
    /// The group of statistics whose greatest says what limits a program.
    #[serde(default)]
    pub limit: Option<String>,
    /// Whether outputs of `--quick` are compared with the reference interpreter's.
    #[serde(default)]
    pub interpret_quick: bool,
    /// The programs, in the order in which they are shown.
    #[serde(rename = "program")]
    pub programs: Vec<Program>,
    /// The variants; the outputs of the others are compared with those of the first.
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
    /// The figures, in the order in which they are shown.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// A program of a suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// What figures call it.
    pub name: String,
    /// Its source file.
    pub source: String,
    /// The function that is called, where the source has several.
    #[serde(default)]
    pub entry: Option<String>,
    /// Names with their values under `--quick`.
    #[serde(default)]
    pub quick: BTreeMap<String, f64>,
    /// The same, else.
    #[serde(default)]
    pub whole: BTreeMap<String, f64>,
    /// The same for `--tournament`, those of `quick` where there are none.
    #[serde(default)]
    pub small: BTreeMap<String, f64>,
    /// Extents of the outputs where the source does not fix them.
    #[serde(default)]
    pub size: Vec<Spanned<Value>>,
    /// Scalar parameters.
    #[serde(default)]
    pub params: BTreeMap<String, Spanned<Value>>,
    /// Variables of the module and what they hold before the first launch.
    #[serde(default)]
    pub symbols: BTreeMap<String, Buffer>,
    /// Buffers of kernels, inputs of pipelines, arrays of functions.
    #[serde(default)]
    pub buffers: BTreeMap<String, Buffer>,
    /// The launches of kernels, in order.
    #[serde(default, rename = "launch")]
    pub launches: Vec<Launch>,
}

/// How large programs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For a tournament, which runs them hundreds of times.
    Small,
    /// For `--quick`.
    Quick,
    /// Else.
    Whole,
}

/// Memory and what it holds in the beginning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// The type of its elements.
    #[serde(rename = "type")]
    pub ty: Spanned<String>,
    /// Elements along each dimension, the slowest first.
    pub shape: Vec<Spanned<Value>>,
    /// Each element, by its coordinates `x` (the fastest), `y`, `z`, `w` and its number `i`; zeros
    /// where it is not there.
    #[serde(default)]
    pub value: Option<Spanned<Value>>,
}

/// A launch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The kernel; the only one of the program where none is named.
    #[serde(default)]
    pub kernel: Option<String>,
    /// Blocks in each dimension.
    pub grid: Vec<Spanned<Value>>,
    /// Threads of a block in each dimension.
    pub block: Vec<Spanned<Value>>,
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub dynamic_shared_bytes: Option<Spanned<Value>>,
    /// The arguments: `TYPE FORMULA`, or `buffer NAME`, `buffer NAME + FORMULA`.
    #[serde(default)]
    pub args: Vec<Spanned<String>>,
    /// Names that count from 0 up to what is said here: the launch comes for each of their values.
    #[serde(default, rename = "for")]
    pub each: BTreeMap<String, Spanned<Value>>,
    /// How often it comes, one after the other.
    #[serde(default)]
    pub repeat: Option<Spanned<Value>>,
    /// A buffer, whose first word ends the repetition when it is zero.
    #[serde(default)]
    pub until: Option<Spanned<String>>,
}

/// How programs are compiled, and for what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What formulas call it.
    pub name: String,
    /// The machine; the target's first where none is named.
    #[serde(default)]
    pub machine: Option<String>,
    /// What `-X` says.
    #[serde(default)]
    pub choices: BTreeMap<String, String>,
    /// What `--set` says.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// The optimisation level, 2 where none is named.
    #[serde(default)]
    pub level: Option<u8>,
    /// Passes that are left out.
    #[serde(default)]
    pub disable: Vec<String>,
    /// The figure of `--tournament` that says how many more cycles its policy takes than the best choice.
    #[serde(default)]
    pub regret: Option<String>,
}

/// A figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What scripts and people know it by.
    pub name: String,
    /// Where the paper has it, and what it is.
    #[serde(default)]
    pub about: String,
    /// Its formula over statistics; of the first variant where none is named.
    pub value: Spanned<String>,
    /// How it is averaged over the programs.
    #[serde(default)]
    pub mean: Mean,
    /// The programs that have it; all where none is named.
    #[serde(default)]
    pub programs: Vec<Spanned<String>>,
    /// A statistic that is a list of names: the figure is there for each of them, and statistics that
    /// are lists give their elements.
    #[serde(default)]
    pub each: Option<Spanned<String>>,
    /// What the paper has, by program, or as `mean`.
    #[serde(default)]
    pub paper: BTreeMap<String, f64>,
}

/// Averages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mean {
    /// Of ratios.
    #[default]
    Geometric,
    /// Of shares and rates.
    Arithmetic,
    /// There is none.
    None,
}

/// A suite with the place that mistakes in it are shown at.
pub struct Checked {
    /// Its data.
    pub suite: Suite,
    /// Its file.
    pub source: SourceId,
}

/// The name under which rows of means stand.
pub const MEAN: &str = "mean";

/// Programs, variants and figures of a suite at most, each.
const MAX_ENTRIES: usize = 1000;

/// Reads a suite, and checks what can be known without running anything.
pub fn read(session: &mut Session, source: SourceId) -> Result<Checked, Stop> {
    let text = session.sources.get(source).text.clone();
    let suite: Suite = toml::from_str(&text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        let (message, help) = crate::machine::without_list(error.message().to_string());
        let help = help.unwrap_or_else(|| FORMAT.to_string());
        fault(session, source, at, format!("the suite cannot be read: {message}"), &help)
    })?;
    let checked = Checked { suite, source };
    check(session, &checked)?;
    Ok(checked)
}

const FORMAT: &str = "a suite has `title`, `target`, [[program]], [[variant]] and [[figure]]: \
                      docs/bench.md describes them";

/// A complaint about a range of a suite.
pub fn fault(
    session: &mut Session,
    source: SourceId,
    at: Range<usize>,
    message: String,
    help: &str,
) -> Stop {
    let span = Span::new(source, at.start, at.end);
    session.fail(Diagnostic::error(&codes::BROKEN_SUITE, message).at(span, "here").help(help))
}

/// Names stand once, and all that is named is there.
fn check(session: &mut Session, checked: &Checked) -> Result<(), Stop> {
    let Checked { suite, source } = checked;
    let source = *source;
    let mut fail = |at: Range<usize>, message: String, help: String| -> Result<(), Stop> {
        Err(fault(session, source, at, message, &help))
    };
    let programs: Vec<&str> = suite.programs.iter().map(|p| p.name.as_str()).collect();
    let variants: Vec<&str> = suite.variants.iter().map(|v| v.name.as_str()).collect();
    let figures: Vec<&str> = suite.figures.iter().map(|f| f.name.as_str()).collect();
    for (what, names) in [("program", &programs), ("variant", &variants), ("figure", &figures)] {
        if names.is_empty() || names.len() > MAX_ENTRIES {
            let message = format!("a suite has from 1 to {MAX_ENTRIES} {what}s");
            return fail(0..0, message, format!("add [[{what}]]s, or leave some out"));
        }
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) || what == "program" && *name == MEAN {
                let message = format!("{what} `{name}` is there twice");
                let taken = format!("`{name}` is the name of the rows of means");
                let message = if *name == MEAN { taken } else { message };
                return fail(0..0, message, "give each a name of its own".into());
            }
        }
    }
    for figure in &suite.figures {
        for program in &figure.programs {
            if !programs.contains(&program.get_ref().as_str()) {
                let message = format!("there is no program `{}`", program.get_ref());
                let near = nearest(program.get_ref(), programs.iter().copied());
                return fail(program.span(), message, did_you_mean(near, &programs));
            }
        }
        for name in figure.paper.keys() {
            if name != MEAN && figure.each.is_none() && !programs.contains(&name.as_str()) {
                let message = format!("figure `{}` has a value for `{name}`", figure.name);
                let near = nearest(name, programs.iter().copied());
                return fail(figure.value.span(), message, did_you_mean(near, &programs));
            }
        }
        let formula = match Formula::parse(figure.value.get_ref()) {
            Ok(formula) => formula,
            Err(mistake) => {
                let at = within(&figure.value.span(), &mistake);
                return fail(at, mistake.message, FORMULA.into());
            }
        };
        if formula.is_random() {
            let message = "a figure is not drawn by chance".to_string();
            return fail(figure.value.span(), message, FORMULA.into());
        }
        for variant in formula.names.iter().filter_map(|name| name.variant.as_deref()) {
            if !variants.contains(&variant) {
                let message = format!("there is no variant `{variant}`");
                let near = nearest(variant, variants.iter().copied());
                return fail(figure.value.span(), message, did_you_mean(near, &variants));
            }
        }
    }
    Ok(())
}

fn did_you_mean(near: Option<&str>, all: &[&str]) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", all.join(", ")),
    }
}

/// What a formula is made of.
pub const FORMULA: &str = "a formula is made of numbers, names, `NAME@VARIANT`, + - * / %, comparisons, \
                           brackets, min, max, floor, ceil, abs, sqrt, log, exp, sin, cos, and for \
                           elements random(LOW, HIGH)";

/// The place of a mistake in a quoted formula.
pub fn within(quoted: &Range<usize>, mistake: &Mistake) -> Range<usize> {
    let at = (quoted.start + 1 + mistake.at).min(quoted.end.saturating_sub(1));
    at..at + 1
}

impl Program {
    /// The values of its names at a size.
    pub fn names(&self, size: Size) -> &BTreeMap<String, f64> {
        match size {
            Size::Small if !self.small.is_empty() => &self.small,
            Size::Small | Size::Quick => &self.quick,
            Size::Whole => &self.whole,
        }
    }
}

impl Figure {
    /// Its formula.
    ///
    /// # Panics
    /// It is none: that was checked when the suite was read.
    pub fn formula(&self) -> Formula {
        Formula::parse(self.value.get_ref()).expect("a suite that was checked")
    }

    /// Whether a program has it.
    pub fn has(&self, program: &str) -> bool {
        self.programs.is_empty() || self.programs.iter().any(|name| name.get_ref() == program)
    }
}

/// Values of formulas in a suite, with complaints about them.
pub struct Numbers<'a> {
    /// Where complaints go.
    pub session: &'a mut Session,
    /// The suite's file.
    pub source: SourceId,
    /// The names that formulas may use.
    pub names: BTreeMap<String, f64>,
}

impl Numbers<'_> {
    /// The formula that stands there: a text, or a number.
    pub fn formula(&mut self, value: &Spanned<Value>) -> Result<Formula, Stop> {
        let at = value.span();
        match value.get_ref() {
            Value::String(text) => self.parse(text, at, 0),
            Value::Integer(number) => self.parse(&number.to_string(), at, 0),
            Value::Float(number) => self.parse(&format!("{number:?}"), at, 0),
            Value::Boolean(is) => self.parse(&u8::from(*is).to_string(), at, 0),
            _ => Err(self.fault(at, "this is neither number nor formula".into(), FORMULA)),
        }
    }

    /// The formula of a text that begins `skip` bytes behind the quote of `at`.
    pub fn parse(&mut self, text: &str, at: Range<usize>, skip: usize) -> Result<Formula, Stop> {
        Formula::parse(text).map_err(|mistake| {
            let mistake = Mistake { at: mistake.at + skip, ..mistake };
            self.fault(within(&at, &mistake), mistake.message.clone(), FORMULA)
        })
    }

    /// The values of the names of a formula; `more` are names beside those of the program.
    pub fn values(
        &mut self,
        formula: &Formula,
        at: Range<usize>,
        more: &[(&str, f64)],
    ) -> Result<Vec<f64>, Stop> {
        let mut values = Vec::new();
        for name in &formula.names {
            let more = more.iter().find(|(known, _)| *known == name.key).map(|(_, value)| *value);
            let found = more.or_else(|| self.names.get(&name.key).copied());
            match found.filter(|_| name.variant.is_none()) {
                Some(value) => values.push(value),
                None => {
                    let message = format!("`{name}` has no value here");
                    let near = nearest(&name.key, self.names.keys().map(String::as_str));
                    let help = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "give it a value in `quick` and `whole` of the program".into(),
                    };
                    return Err(self.fault(at, message, &help));
                }
            }
        }
        Ok(values)
    }

    /// The value of a formula.
    pub fn real(&mut self, formula: &Formula, at: Range<usize>) -> Result<f64, Stop> {
        let values = self.values(formula, at.clone(), &[])?;
        let value = formula.value(&values, &mut Vec::new(), || 0.0);
        if formula.is_random() || !value.is_finite() {
            let message = "this has no value".to_string();
            return Err(self.fault(at, message, "it is drawn by chance, or divides by zero"));
        }
        Ok(value)
    }

    /// The value of a formula that is to be an integer in a range.
    pub fn integer(
        &mut self,
        value: &Spanned<Value>,
        what: &str,
        (low, high): (u32, u32),
    ) -> Result<u32, Stop> {
        let formula = self.formula(value)?;
        let number = self.real(&formula, value.span())?;
        if number.fract() != 0.0 || number < f64::from(low) || number > f64::from(high) {
            let message = format!("{what} is {number}");
            let help =
                format!("it is to be an integer from {low} to {high}: floor() and ceil() round");
            return Err(self.fault(value.span(), message, &help));
        }
        Ok(number as u32)
    }

    /// The type of that name.
    pub fn scalar(&mut self, name: &str, at: Range<usize>) -> Result<ScalarType, Stop> {
        ScalarType::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = ScalarType::ALL.iter().map(|ty| ty.name()).collect();
            let message = format!("`{name}` is no type");
            self.fault(at, message, &format!("there are: {}", names.join(", ")))
        })
    }

    /// A complaint.
    pub fn fault(&mut self, at: Range<usize>, message: String, help: &str) -> Stop {
        fault(self.session, self.source, at, message, help)
    }
}
