//! Walking a TOML document with a place for every complaint.

use std::ops::Range;

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, SourceId, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::codes;
use crate::session::{Session, Stop};

/// A document that is being read.
pub struct Document<'s> {
    /// Where complaints go.
    pub session: &'s mut Session,
    /// The document.
    pub source: SourceId,
}

impl Document<'_> {
    /// A range of the document, among all sources.
    pub fn span(&self, at: Range<usize>) -> Span {
        Span::new(self.source, at.start, at.end)
    }

    /// A complaint about a range of the document.
    pub fn fault(&mut self, at: Range<usize>, message: String, label: &str, help: &str) -> Stop {
        let error = Diagnostic::error(&codes::BROKEN_LAUNCH, message).at(self.span(at), label);
        self.session.fail(error.help(help))
    }

    /// Parses the text.
    pub fn parse<'t>(&mut self, text: &'t str) -> Result<Spanned<DeTable<'t>>, Stop> {
        DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let message = format!("the launch file is no TOML: {}", error.message());
            let help = "a launch file has lines `KEY = VALUE` under [[launch]], [[arg]] and \
                        [[read]], with texts in quotes";
            self.fault(at, message, "here", help)
        })
    }

    /// Refuses keys that are not in the list.
    pub fn check_keys(&mut self, table: &DeTable<'_>, known: &[&str]) -> Result<(), Stop> {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let help = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}", known.join(", ")),
                };
                let message = format!("`{name}` is no key here");
                return Err(self.fault(key.span(), message, "not known", &help));
            }
        }
        Ok(())
    }

    /// A value as a string.
    pub fn string(&mut self, value: &Spanned<DeValue<'_>>, what: &str) -> Result<String, Stop> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong(value.span(), what, "a string", other)),
        }
    }

    /// A value as an integer in a range.
    pub fn integer(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        what: &str,
        low: i128,
        high: i128,
    ) -> Result<i128, Stop> {
        let DeValue::Integer(number) = value.get_ref() else {
            return Err(self.wrong(value.span(), what, "an integer", value.get_ref()));
        };
        let parsed = i128::from_str_radix(number.as_str(), number.radix()).ok();
        parsed.filter(|number| (low..=high).contains(number)).ok_or_else(|| {
            let message = format!("{what} is out of range");
            let help = format!("give a number from {low} to {high}");
            self.fault(value.span(), message, "not in the range", &help)
        })
    }

    /// A value as a number with a fraction; integers are taken too.
    pub fn real(&mut self, value: &Spanned<DeValue<'_>>, what: &str) -> Result<f64, Stop> {
        let text = match value.get_ref() {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            other => return Err(self.wrong(value.span(), what, "a number", other)),
        };
        text.parse().map_err(|_| {
            let help = format!("write it as in `{what} = 2.5`");
            self.fault(value.span(), format!("{what} is no number"), "not a number", &help)
        })
    }

    /// A value as a table.
    pub fn table<'v, 't>(
        &mut self,
        value: &'v Spanned<DeValue<'t>>,
        what: &str,
    ) -> Result<&'v DeTable<'t>, Stop> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            other => Err(self.wrong(value.span(), what, "a table", other)),
        }
    }

    /// The elements of an array; none where the key is missing.
    pub fn array<'v, 't>(
        &mut self,
        table: &'v DeTable<'t>,
        key: &str,
    ) -> Result<Vec<&'v Spanned<DeValue<'t>>>, Stop> {
        match table.get(key) {
            None => Ok(Vec::new()),
            Some(value) => match value.get_ref() {
                DeValue::Array(values) => Ok(values.iter().collect()),
                other => Err(self.wrong(value.span(), key, "an array", other)),
            },
        }
    }

    fn wrong(&mut self, at: Range<usize>, what: &str, wanted: &str, is: &DeValue<'_>) -> Stop {
        let message = format!("`{what}` must be {wanted}");
        let number = match is {
            DeValue::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        };
        let example = match wanted {
            "an integer" | "a number" if number.is_some() => {
                format!("{what} = {}", number.unwrap_or_default())
            }
            "a string" => format!("{what} = \"...\""),
            "an array" if matches!(what, "symbol" | "launch" | "arg" | "read") => {
                format!("[[{what}]]")
            }
            "an array" => format!("{what} = [1, 2]"),
            "a table" => format!("[[{what}]]"),
            "a number" => format!("{what} = 2.5"),
            _ => format!("{what} = 1"),
        };
        let help = format!("write it as in `{example}`");
        self.fault(at, message, &format!("this is {}", kind(is)), &help)
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
