//! Machine descriptions: TOML files that are read into a machine's struct without
//! silent defaults, changed by `--set KEY=VALUE`, listed with their comments, and
//! identified by a hash.

use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use nbcc_base::nearest;

/// What is wrong with a machine description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MachineError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The bytes of the TOML text that are at fault; `None` where an override is, or
    /// the description as a whole.
    pub span: Option<Range<usize>>,
    /// The key at fault, as `group.key`, where one is.
    pub key: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl MachineError {
    /// An error about `key`, which is `group.key`.
    pub fn at_key(key: impl Into<String>, message: impl Into<String>) -> Self {
        MachineError { message: message.into(), span: None, key: Some(key.into()), help: None }
    }

    /// Says what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points at the key's value in `text`, if it stands there.
    pub fn locate(mut self, text: &str) -> Self {
        if self.span.is_none()
            && let Some(key) = &self.key
        {
            self.span = entries(text).into_iter().find(|e| e.key == *key).map(|e| e.value_span);
        }
        self
    }
}

/// A `--set KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The key, as `group.key`.
    pub key: String,
    /// The value, as TOML; text need not be quoted.
    pub value: String,
}

impl Override {
    /// Reads `KEY=VALUE`.
    ///
    /// # Errors
    /// No `=`, or nothing before it.
    pub fn parse(text: &str) -> Result<Override, MachineError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Override { key: key.trim().into(), value: value.trim().into() })
            }
            _ => Err(MachineError {
                message: format!("`{text}` is not of the form KEY=VALUE"),
                span: None,
                key: None,
                help: Some("write for example `dram.tRCD=16`".into()),
            }),
        }
    }
}

/// Reads a machine description, applies overrides, and checks the values by `validate`.
///
/// # Errors
/// TOML that does not parse, unknown, missing or ill-typed keys, overrides of unknown keys or of
/// another type, and what `validate` says. What is not an override's fault has its place in `text`.
pub fn load<T: DeserializeOwned + Serialize>(
    text: &str,
    overrides: &[Override],
    validate: impl FnOnce(&T) -> Result<(), MachineError>,
) -> Result<T, MachineError> {
    let machine = read(text, overrides)?;
    validate(&machine).map_err(|error| {
        let overridden = overrides.iter().any(|change| Some(&change.key) == error.key.as_ref());
        if overridden { error } else { error.locate(text) }
    })?;
    Ok(machine)
}

fn read<T: DeserializeOwned + Serialize>(
    text: &str,
    overrides: &[Override],
) -> Result<T, MachineError> {
    let machine: T = toml::from_str(text).map_err(|error| MachineError {
        message: one_line(error.message()),
        span: error.span(),
        key: None,
        help: None,
    })?;
    if overrides.is_empty() {
        return Ok(machine);
    }
    let mut table = to_table(&machine);
    for change in overrides {
        apply(&mut table, change)?;
        // After each, so that a value that the struct refuses is blamed on its key.
        if let Err(error) = table.clone().try_into::<T>() {
            return Err(MachineError::at_key(
                &change.key,
                format!("cannot set `{}`: {}", change.key, one_line(error.message())),
            ));
        }
    }
    table.try_into::<T>().map_err(|error| MachineError {
        message: one_line(error.message()),
        span: None,
        key: None,
        help: None,
    })
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn to_table<T: Serialize>(machine: &T) -> Table {
    Table::try_from(machine).expect("a machine is a table of numbers, texts and flags")
}

fn apply(table: &mut Table, change: &Override) -> Result<(), MachineError> {
    let keys = flatten(table);
    let Some((_, old)) = keys.iter().find(|(key, _)| *key == change.key) else {
        let error = MachineError::at_key(&change.key, format!("unknown key `{}`", change.key));
        return Err(match nearest_key(&change.key, keys.iter().map(|(key, _)| key.as_str())) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error.with_help("`nbcc targets --machine NAME` lists the keys"),
        });
    };
    let wrong = |expected: &str| {
        MachineError::at_key(
            &change.key,
            format!("`{}` takes {expected}, not `{}`", change.key, change.value),
        )
    };
    let value = parse_value(&change.value);
    let new = match (old, value) {
        (Value::Integer(_), Some(Value::Integer(n))) => Value::Integer(n),
        (Value::Integer(_), _) => return Err(wrong("an integer")),
        (Value::Float(_), Some(Value::Float(x))) => Value::Float(x),
        (Value::Float(_), Some(Value::Integer(n))) => Value::Float(n as f64),
        (Value::Float(_), _) => return Err(wrong("a number")),
        (Value::Boolean(_), Some(Value::Boolean(b))) => Value::Boolean(b),
        (Value::Boolean(_), _) => return Err(wrong("`true` or `false`")),
        (Value::String(_), Some(Value::String(s))) => Value::String(s),
        (Value::String(_), None) => Value::String(change.value.clone()),
        (Value::Array(_), Some(Value::Array(list))) => Value::Array(list),
        _ => return Err(wrong("a value of another type")),
    };
    let mut path: Vec<&str> = change.key.split('.').collect();
    let last = path.pop().unwrap_or_default();
    let mut group = table;
    for name in path {
        group = match group.get_mut(name) {
            Some(Value::Table(inner)) => inner,
            _ => return Err(wrong("a value in a group")),
        };
    }
    group.insert(last.to_owned(), new);
    Ok(())
}

/// The value of `text` as TOML; `None` where it is none (unquoted text).
fn parse_value(text: &str) -> Option<Value> {
    if text.contains('\n') {
        return None;
    }
    let mut table: Table = toml::from_str(&format!("value = {text}")).ok()?;
    if table.len() == 1 { table.remove("value") } else { None }
}

/// The keys of a table as `group.key`, in alphabetical order.
fn flatten(table: &Table) -> Vec<(String, Value)> {
    fn walk(table: &Table, prefix: &str, out: &mut Vec<(String, Value)>) {
        for (name, value) in table {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                Value::Table(inner) => walk(inner, &key, out),
                _ => out.push((key, value.clone())),
            }
        }
    }
    let mut out = Vec::new();
    walk(table, "", &mut out);
    out
}

/// The key meant by `key`: close in spelling, or the one that has it as its last part.
fn nearest_key<'a>(key: &str, keys: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let last = |k: &'a str| k.rsplit('.').next().unwrap_or(k);
    let wanted = key.rsplit('.').next().unwrap_or(key);
    nearest(key, keys.clone())
        .or_else(|| keys.clone().find(|k| last(k).eq_ignore_ascii_case(wanted)))
        .or_else(|| {
            let near = nearest(wanted, keys.clone().map(last))?;
            keys.clone().find(|k| last(k) == near)
        })
}

/// The machine as TOML text without comments, the same for equal machines.
pub fn to_toml<T: Serialize>(machine: &T) -> String {
    toml::to_string(machine).expect("a machine is a table of numbers, texts and flags")
}

/// The first 16 hexadecimal digits of the SHA-256 of [`to_toml`].
pub fn hash<T: Serialize>(machine: &T) -> String {
    hash_of(&to_toml(machine))
}

/// The first 16 hexadecimal digits of the SHA-256 of a text that [`to_toml`] gave.
pub fn hash_of(toml: &str) -> String {
    let digest = Sha256::digest(toml.as_bytes());
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A key of a machine description, for listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key, as `group.key`.
    pub key: String,
    /// The value, as TOML.
    pub value: String,
    /// The comment that stands beside or above it.
    pub comment: String,
    /// Where the value stands in the text.
    pub value_span: Range<usize>,
}

/// The keys of `machine` in the order of `text`, which it was read from, with the
/// comments that stand there.
pub fn list<T: Serialize>(machine: &T, text: &str) -> Vec<Entry> {
    let written = entries(text);
    let mut keys = flatten(&to_table(machine));
    keys.sort_by_key(|(key, _)| {
        written.iter().position(|e| e.key == *key).unwrap_or(written.len())
    });
    keys.into_iter()
        .map(|(key, value)| {
            let found = written.iter().find(|e| e.key == key);
            Entry {
                value: value.to_string(),
                comment: found.map(|e| e.comment.clone()).unwrap_or_default(),
                value_span: found.map(|e| e.value_span.clone()).unwrap_or_default(),
                key,
            }
        })
        .collect()
}

/// The keys of a TOML text that has one `key = value # comment` a line.
fn entries(text: &str) -> Vec<Entry> {
    let mut out = Vec::new();
    let mut group = String::new();
    let mut above = String::new();
    let mut offset = 0;
    for full in text.split_inclusive('\n') {
        let line = full.trim();
        if let Some(comment) = line.strip_prefix('#') {
            if !above.is_empty() {
                above.push(' ');
            }
            above.push_str(comment.trim());
        } else if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            group = format!("{}.", name.trim());
            above.clear();
        } else if let Some((key, rest)) = full.split_once('=') {
            let hash_at = comment_start(rest);
            let value = rest[..hash_at].trim();
            let beside = rest[hash_at..].trim().trim_start_matches('#').trim();
            let indent = rest.len() - rest.trim_start().len();
            let start = offset + key.len() + 1 + indent;
            out.push(Entry {
                key: format!("{group}{}", key.trim()),
                value: value.to_owned(),
                comment: if beside.is_empty() { std::mem::take(&mut above) } else { beside.into() },
                value_span: start..start + value.len(),
            });
            above.clear();
        } else {
            above.clear();
        }
        offset += full.len();
    }
    out
}

/// Where the comment of `rest` begins: the first `#` outside of quotes, or its end.
fn comment_start(rest: &str) -> usize {
    let mut quote = None;
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            (None, '#') => return at,
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), c) if q == c => quote = None,
            _ => {}
        }
    }
    rest.len()
}

/// The TOML text of that name among the machines of a target, given as names and texts.
pub fn built_in_text(
    machines: &[(&'static str, &'static str)],
    name: &str,
) -> Option<&'static str> {
    machines.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Checks that the `name` of a machine can stand in tables and files.
///
/// # Errors
/// It cannot.
pub fn check_name(name: &str) -> Result<(), MachineError> {
    if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
        let message = "`name` must have 1 to 64 printable characters";
        return Err(MachineError::at_key("name", message));
    }
    Ok(())
}

/// Checks that `value` of `key` is a multiple of `multiple`.
///
/// # Errors
/// It is not.
pub fn check_multiple(key: &str, value: u32, multiple: u32) -> Result<(), MachineError> {
    if value.is_multiple_of(multiple) {
        return Ok(());
    }
    let message = format!("`{key}` is {value}, which is no multiple of {multiple}");
    Err(MachineError::at_key(key, message))
}

/// Checks that `count` things, of key `of`, are whole rows of a mesh of `columns`, of key `key`.
///
/// # Errors
/// They are not.
pub fn check_mesh(key: &str, columns: u32, of: &str, count: u32) -> Result<(), MachineError> {
    if count.is_multiple_of(columns) {
        return Ok(());
    }
    Err(MachineError::at_key(key, format!("`{key}` is {columns}: no whole mesh"))
        .with_help(format!("it must divide `{of}`, which is {count}")))
}

/// Checks that `value` of `key` lies between `least` and `most`.
///
/// # Errors
/// It does not.
pub fn check_range<N>(key: &str, value: N, least: N, most: N) -> Result<(), MachineError>
where
    N: PartialOrd + std::fmt::Display,
{
    if value >= least && value <= most {
        return Ok(());
    }
    Err(MachineError::at_key(key, format!("`{key}` is {value}, out of range"))
        .with_help(format!("it must lie between {least} and {most}")))
}

/// Checks that a machine has no more memory on its chips than can be simulated: each part is the bytes
/// of all its copies, with the key that says how large a copy is; `what` names all parts together.
///
/// # Errors
/// They are more than `most`; the largest part is blamed.
pub fn check_on_chip(what: &str, parts: &[(&str, u64)], most: u64) -> Result<(), MachineError> {
    let total = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.1));
    if total <= most {
        return Ok(());
    }
    let (key, bytes) = parts.iter().max_by_key(|part| part.1).copied().unwrap_or_default();
    let message = format!("the machine has {total} bytes of {what}, {bytes} of them of `{key}`");
    Err(MachineError::at_key(key, message).with_help(format!(
        "make it smaller, or have less of it: together they must not exceed {most}"
    )))
}

/// Bytes that a machine may have on its chips where memory is taken as a program needs it.
pub const MAX_ON_CHIP_BYTES: u64 = 2 << 30;

/// Bytes that an entry of a table, a row buffer or the place of a warp counts as: a simulator keeps as
/// much of each.
pub const ENTRY_BYTES: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Toy {
        name: String,
        dram: ToyDram,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ToyDram {
        #[serde(rename = "tRCD")]
        t_rcd: u32,
        refresh: bool,
        energy: f64,
    }

    const TEXT: &str = "name = \"toy\" # a \"name\"\n\n[dram]\n# Row to column.\n# From a table.\n\
                        tRCD = 14\nrefresh = true # ne # xt\nenergy = 0.5\n";

    fn set(text: &str) -> Result<Toy, MachineError> {
        read(TEXT, &[Override::parse(text).unwrap()])
    }

    #[test]
    fn overrides_are_typed() {
        assert_eq!(set("dram.tRCD=16").unwrap().dram.t_rcd, 16);
        assert_eq!(set("dram.energy = 2").unwrap().dram.energy, 2.0);
        assert_eq!(set("name=other toy").unwrap().name, "other toy");
        let error = set("dram.tRCD=1.5").unwrap_err();
        assert_eq!(error.message, "`dram.tRCD` takes an integer, not `1.5`");
        assert!(set("dram.tRCD=-1").unwrap_err().message.contains("cannot set `dram.tRCD`"));
        assert!(set("dram.refresh=1").is_err());
        assert!(set("dram=1").is_err());
        assert!(Override::parse("dram.tRCD").is_err());
    }

    #[test]
    fn unknown_keys_have_suggestions() {
        for wrong in ["dram.tRCd=1", "tRCD=1", "dran.tRCDD=1"] {
            assert_eq!(set(wrong).unwrap_err().help.unwrap(), "did you mean `dram.tRCD`?");
        }
    }

    #[test]
    fn errors_have_spans() {
        let error = read::<Toy>(&TEXT.replace("refresh", "refersh"), &[]).unwrap_err();
        assert_eq!(&TEXT[error.span.unwrap()], "refresh");
        let located = MachineError::at_key("dram.energy", "bad").locate(TEXT);
        assert_eq!(&TEXT[located.span.unwrap()], "0.5");
    }

    #[test]
    fn lists_comments_and_hashes() {
        let toy: Toy = read(TEXT, &[]).unwrap();
        let list = list(&toy, TEXT);
        let rows: Vec<_> =
            list.iter().map(|e| (&e.key[..], &e.value[..], &e.comment[..])).collect();
        assert_eq!(rows[0], ("name", "\"toy\"", "a \"name\""));
        assert!(rows.contains(&("dram.tRCD", "14", "Row to column. From a table.")));
        assert!(rows.contains(&("dram.refresh", "true", "ne # xt")));
        assert_eq!(hash(&toy), hash(&read::<Toy>(&to_toml(&toy), &[]).unwrap()));
        assert_ne!(hash(&toy), hash(&set("dram.tRCD=15").unwrap()));
    }
}
