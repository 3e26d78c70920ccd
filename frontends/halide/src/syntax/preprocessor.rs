//! Lines of the preprocessor: `#if` and its like leave parts of a file out.

use std::collections::HashSet;
use std::ops::Range;

/// What such a line asks for.
pub(crate) enum Line {
    /// It was followed.
    Done,
    /// It is not part of the language.
    Refused,
}

/// The conditions around a place of the source.
#[derive(Default)]
pub(crate) struct Conditions<'a> {
    /// Of each `#if` that is open, whether its part is read, and whether one of its parts was.
    open: Vec<(bool, bool)>,
    /// Where each of them stands.
    places: Vec<Range<usize>>,
    defined: HashSet<&'a str>,
}

impl<'a> Conditions<'a> {
    /// Whether what stands here is read.
    pub(crate) fn is_read(&self) -> bool {
        self.open.iter().all(|(is_read, _)| *is_read)
    }

    /// Where an `#if` stands that has no end.
    pub(crate) fn unclosed(&self) -> Option<Range<usize>> {
        self.places.last().cloned()
    }

    /// Follows a line that begins with `#`.
    pub(crate) fn line(&mut self, line: &'a str, place: Range<usize>) -> Line {
        let line = line.trim_start_matches('#').trim();
        let line = line.split("//").next().unwrap_or(line).trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let outside = self.is_read();
        if matches!(word, "if" | "ifdef" | "ifndef") {
            self.places.push(place);
        }
        match word {
            "ifdef" => self.begin(self.defined.contains(rest)),
            "ifndef" => self.begin(!self.defined.contains(rest)),
            "if" => match self.holds(rest) {
                Some(holds) => self.begin(holds),
                None => {
                    self.begin(false);
                    return if outside { Line::Refused } else { Line::Done };
                }
            },
            "else" | "elif" => {
                let holds = if word == "else" { Some(true) } else { self.holds(rest) };
                let Some((is_read, was_read)) = self.open.last_mut() else { return Line::Refused };
                *is_read = !*was_read && holds == Some(true);
                *was_read |= *is_read;
                if holds.is_none() {
                    return Line::Refused;
                }
            }
            "endif" => {
                self.places.pop();
                if self.open.pop().is_none() {
                    return Line::Refused;
                }
            }
            "define" if outside && !rest.contains(char::is_whitespace) => {
                self.defined.insert(rest);
            }
            "undef" if outside => {
                self.defined.remove(rest);
            }
            _ if outside => return Line::Refused,
            _ => {}
        }
        Line::Done
    }

    fn begin(&mut self, holds: bool) {
        self.open.push((holds, holds));
    }

    /// Whether a condition holds, where it is a number or asks for one name.
    fn holds(&self, condition: &str) -> Option<bool> {
        let (negated, condition) = match condition.strip_prefix('!') {
            Some(rest) => (true, rest.trim()),
            None => (false, condition),
        };
        let value = match condition.strip_prefix("defined") {
            Some(name) => {
                let name = name.trim().trim_start_matches('(').trim_end_matches(')').trim();
                let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
                name.bytes().all(is_name).then(|| self.defined.contains(name))?
            }
            None => condition.parse::<i64>().ok()? != 0,
        };
        Some(value != negated)
    }
}
