//! Request traces: one request a line, `R|W bank row column`, decimal, separated by
//! blanks. Empty lines are skipped.

use crate::config::DramConfig;
use crate::controller::{Kind, Request};
use crate::machine::Place;

/// What is wrong with a line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceProblem {
    /// The first word is neither `R` nor `W`.
    #[error("expected `R` or `W`, found `{0}`")]
    Operation(String),
    /// The line ends too early.
    #[error("the {0} is missing")]
    Missing(&'static str),
    /// A word is not a decimal number of at most 32 bits.
    #[error("the {field} is not a number: `{text}`")]
    Number {
        /// Which field.
        field: &'static str,
        /// What stands there.
        text: String,
    },
    /// The machine has no such bank, row or column.
    #[error("the {field} is {value}, but the machine has {limit}, from 0")]
    OutOfRange {
        /// Which field.
        field: &'static str,
        /// What stands there.
        value: u32,
        /// How many the machine has.
        limit: u32,
    },
    /// Words after the column.
    #[error("unexpected `{0}` after the column")]
    Extra(String),
    /// Bytes that are no UTF-8 text.
    #[error("not UTF-8 text")]
    NotText,
}

/// A broken trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: {problem}", place.line, place.column)]
pub struct TraceError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: TraceProblem,
}

/// A word of the input, shortened for a message.
fn quoted(word: &str) -> String {
    const LONGEST: usize = 40;
    match word.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &word[..at]),
        None => word.to_owned(),
    }
}

/// Parses a trace for a machine; the id of a request is its index.
///
/// # Errors
/// The first broken line, or the first request to a bank, row or column that the
/// machine does not have.
pub fn parse_trace(bytes: &[u8], config: &DramConfig) -> Result<Vec<Request>, TraceError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let valid = std::str::from_utf8(&bytes[..at]).expect("valid up to here");
        TraceError { place: Place::of(valid, at..at + 1), problem: TraceProblem::NotText }
    })?;
    let mut requests = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        if !line.trim().is_empty() {
            let request = parse_line(line, requests.len() as u64, config).map_err(
                |(offset, length, problem)| TraceError {
                    place: Place::of(text, start + offset..start + offset + length),
                    problem,
                },
            )?;
            requests.push(request);
        }
        start += line.len() + 1;
    }
    Ok(requests)
}

type LineError = (usize, usize, TraceProblem);

fn parse_line(line: &str, id: u64, config: &DramConfig) -> Result<Request, LineError> {
    let at = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    let fault = |word: &str, problem| (at(word), word.len(), problem);
    let mut words = line.split_ascii_whitespace();

    let operation = words.next().unwrap_or_default();
    let kind = match operation {
        "R" => Kind::Read,
        "W" => Kind::Write,
        other => {
            return Err(fault(operation, TraceProblem::Operation(quoted(other))));
        }
    };
    let mut field = |field: &'static str, limit: u32| {
        let word = words.next().ok_or((line.trim_end().len(), 0, TraceProblem::Missing(field)))?;
        let digits = word.bytes().all(|b| b.is_ascii_digit());
        let value = match word.parse::<u32>() {
            Ok(value) if digits => value,
            _ => {
                let text = quoted(word);
                return Err(fault(word, TraceProblem::Number { field, text }));
            }
        };
        if value >= limit {
            let problem = TraceProblem::OutOfRange { field, value, limit };
            return Err(fault(word, problem));
        }
        Ok(value)
    };
    let bank = field("bank", config.banks)?;
    let row = field("row", config.rows)?;
    let column = field("column", config.columns_per_row)?;
    if let Some(word) = words.next() {
        return Err(fault(word, TraceProblem::Extra(quoted(word))));
    }
    Ok(Request { id, kind, bank, row, column })
}
