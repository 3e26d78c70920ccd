//! Statistics of a run: named, typed, documented values.
//!
//! A value's name is a dotted path: `dram.hits` is the member `hits` of the object
//! `dram` in the JSON form, and a line of section `dram` in the table. Names, units
//! and descriptions are stated once, in `const` tables of [`Definition`]s, from
//! which docs/statistics.md is checked.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// What a statistic is: stated once, in a table of the machine that counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Dotted path.
    pub key: &'static str,
    /// Unit, with the clock domain where it is a time.
    pub unit: &'static str,
    /// What is counted, in one sentence.
    pub about: &'static str,
}

/// A row of a table of definitions.
pub const fn row(key: &'static str, unit: &'static str, about: &'static str) -> Definition {
    Definition { key, unit, about }
}

/// Tables one after another, with `N` rows in all: what machines count in common is said once.
///
/// # Panics
/// When there are more or fewer rows.
pub const fn concat<const N: usize>(tables: &[&[Definition]]) -> [Definition; N] {
    let mut out = [row("", "", ""); N];
    let (mut at, mut table) = (0, 0);
    while table < tables.len() {
        let mut index = 0;
        while index < tables[table].len() {
            out[at] = tables[table][index];
            at += 1;
            index += 1;
        }
        table += 1;
    }
    assert!(at == N, "another number of rows");
    out
}

/// A part of a whole; none of nothing is 0.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The definitions as a Markdown table, as docs/statistics.md has it.
pub fn markdown(definitions: &[Definition]) -> String {
    let mut out = String::from("| key | unit | what |\n| --- | --- | --- |\n");
    for Definition { key, unit, about } in definitions {
        let _ = writeln!(out, "| `{key}` | {unit} | {about} |");
    }
    out
}

/// The value of a statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// There is none in this run.
    None,
    /// A number of events, bytes or cycles.
    Count(u64),
    /// A ratio or an energy; never NaN or infinite.
    Real(f64),
    /// A name.
    Text(String),
    /// A value an instance, in the order of their numbers.
    List(Vec<Value>),
}

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Count(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Real(if value.is_finite() { value } else { 0.0 })
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::None => serializer.serialize_none(),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Real(real) => serializer.serialize_f64(*real),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(list) => {
                let mut sequence = serializer.serialize_seq(Some(list.len()))?;
                for value in list {
                    sequence.serialize_element(value)?;
                }
                sequence.end()
            }
        }
    }
}

/// A statistic of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// What it is.
    pub definition: &'static Definition,
    /// Its value.
    pub value: Value,
}

/// The statistics of a run, in the order of their table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    values: BTreeMap<&'static str, Value>,
    definitions: &'static [Definition],
}

impl Statistics {
    /// Statistics of the given table, without values.
    pub fn new(definitions: &'static [Definition]) -> Statistics {
        Statistics { values: BTreeMap::new(), definitions }
    }

    /// Sets a value.
    ///
    /// # Panics
    /// When no definition has that key.
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        assert!(
            self.definitions.iter().any(|definition| definition.key == key),
            "statistic {key} has no definition"
        );
        self.values.insert(key, value.into());
    }

    /// The value with this key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// The count with this key; 0 when there is none.
    pub fn count(&self, key: &str) -> u64 {
        match self.values.get(key) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        }
    }

    /// The number with this key; 0 when there is none.
    pub fn real(&self, key: &str) -> f64 {
        match self.values.get(key) {
            Some(Value::Count(count)) => *count as f64,
            Some(Value::Real(real)) => *real,
            _ => 0.0,
        }
    }

    /// Every statistic that has a value, in the order of the definitions.
    pub fn iter(&self) -> impl Iterator<Item = Statistic> + '_ {
        self.definitions.iter().filter_map(|definition| {
            let value = self.values.get(definition.key)?.clone();
            Some(Statistic { definition, value })
        })
    }

    /// The JSON form: one object, dotted keys nested, members in the order of the
    /// definitions.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.tree()).expect("keys are strings");
        text.push('\n');
        text
    }

    /// A table for people. Lists are left out, and so are values that are zero.
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        let shown: Vec<Statistic> = self.iter().filter(|s| is_shown(&s.value)).collect();
        let width = shown.iter().map(|s| last_part(s.definition.key).len()).max().unwrap_or(0);
        let mut section = "";
        for statistic in &shown {
            let key = statistic.definition.key;
            let (of, name) = key.rsplit_once('.').unwrap_or(("", key));
            if of != section {
                section = of;
                let _ = writeln!(text, "{of}");
            }
            let indent = if of.is_empty() { "" } else { "  " };
            let unit = statistic.definition.unit;
            let unit = if unit == "-" { "" } else { unit };
            let fill = width + 2 - indent.len();
            let value = display(&statistic.value);
            let _ = writeln!(text, "{indent}{name:fill$} {value:>18} {unit}");
        }
        text
    }

    fn tree(&self) -> Tree {
        let mut root = Tree::Object(Vec::new());
        for statistic in self.iter() {
            root.insert(statistic.definition.key, statistic.value);
        }
        root
    }
}

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tree().serialize(serializer)
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_table())
    }
}

fn last_part(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

fn is_shown(value: &Value) -> bool {
    match value {
        Value::Count(count) => *count != 0,
        Value::Real(real) => *real != 0.0,
        Value::Text(_) => true,
        Value::List(_) | Value::None => false,
    }
}

/// Digits in groups of three, reals with four decimals at most.
fn display(value: &Value) -> String {
    match value {
        Value::Count(count) => grouped(&count.to_string()),
        Value::Real(real) if real.abs() >= 1000.0 => grouped(&format!("{real:.0}")),
        Value::Real(real) => format!("{real:.4}"),
        Value::Text(text) => text.clone(),
        Value::List(_) | Value::None => String::new(),
    }
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// The JSON form before it is written.
enum Tree {
    Leaf(Value),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn insert(&mut self, path: &str, value: Value) {
        let Tree::Object(members) = self else {
            panic!("statistic {path} lies inside another statistic");
        };
        let (first, rest) = match path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        let at = members.iter().position(|(name, _)| name == first);
        match (at, rest) {
            (Some(at), Some(rest)) => members[at].1.insert(rest, value),
            (Some(_), None) => panic!("statistic {path} is there twice"),
            (None, Some(rest)) => {
                let mut object = Tree::Object(Vec::new());
                object.insert(rest, value);
                members.push((first.to_owned(), object));
            }
            (None, None) => members.push((first.to_owned(), Tree::Leaf(value))),
        }
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Leaf(value) => value.serialize(serializer),
            Tree::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, tree) in members {
                    map.serialize_entry(name, tree)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Definition] = &[
        row("cycles", "cycles", "Length of the run."),
        row("machine.name", "-", "Name of the machine."),
        row("dram.hits", "requests", "Requests that found their row open."),
        row("dram.rate", "-", "Share of hits."),
        row("core.issued", "instructions", "Issued, a core."),
    ];

    fn sample() -> Statistics {
        let mut statistics = Statistics::new(TABLE);
        statistics.set("core.issued", Value::List(vec![Value::Count(1), Value::Count(2)]));
        statistics.set("dram.rate", 0.25);
        statistics.set("dram.hits", 1234567);
        statistics.set("cycles", 10);
        statistics.set("machine.name", "small");
        statistics
    }

    #[test]
    fn json_nests_dotted_keys_in_the_order_of_the_table() {
        let json = serde_json::to_string(&sample()).unwrap();
        assert_eq!(
            json,
            r#"{"cycles":10,"machine":{"name":"small"},"dram":{"hits":1234567,"rate":0.25},"core":{"issued":[1,2]}}"#
        );
    }

    #[test]
    fn table_has_sections_and_units() {
        let table = sample().to_table();
        let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["cycles", "10", "cycles"]);
        assert_eq!(lines[3], "dram");
        assert!(lines[4].ends_with("1_234_567 requests"), "{}", lines[4]);
    }

    #[test]
    #[should_panic(expected = "statistic nothing has no definition")]
    fn undefined_statistics_are_refused() {
        sample().set("nothing", 1);
    }

    #[test]
    fn non_finite_numbers_never_reach_the_file() {
        assert_eq!(Value::from(f64::NAN), Value::Real(0.0));
    }
}
