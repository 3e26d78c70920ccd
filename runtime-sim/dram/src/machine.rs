//! Machine files: a [`DramConfig`] as TOML, and settings that change single keys
//! of it. Every key of the device's timing and size must be there, and no key may
//! that is not known; the commented reference is [`REFERENCE`], and what else a file
//! leaves out is as it says.

use std::ops::Range;

use toml::Table;
use toml::de::DeTable;

use crate::config::DramConfig;

/// The machine file that ships with this crate, `machines/reference.toml`.
pub const REFERENCE: &str = include_str!("../machines/reference.toml");

/// What a file may leave out: how the controller works, and what most devices do not have.
const MAY_BE_MISSING: [&str; 13] = [
    "row_buffers",
    "tRTW_gap",
    "scheduler",
    "page_policy",
    "refresh",
    "data_path",
    "queue",
    "read_queue_size",
    "write_queue_size",
    "write_drain_high_percent",
    "write_drain_low_percent",
    "slot_release",
    "write_forwarding",
];

/// The keys that a machine file leaves out, with the values they have then.
pub fn left_out(text: &str) -> Vec<(&'static str, toml::Value)> {
    let (Ok(table), Ok(reference)) =
        (toml::from_str::<Table>(text), toml::from_str::<Table>(REFERENCE))
    else {
        return Vec::new();
    };
    let missing = MAY_BE_MISSING.into_iter().filter(|&key| !table.contains_key(key));
    missing.filter_map(|key| Some((key, reference.get(key)?.clone()))).collect()
}

/// A place in a text, for people and for renderers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The bytes meant.
    pub span: Range<usize>,
}

impl Place {
    /// The place of some bytes of a text.
    pub fn of(text: &str, span: Range<usize>) -> Place {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span,
        }
    }
}

/// A machine file or a setting is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// In the text of the file.
    #[error("{}:{}: {message}", place.line, place.column)]
    File {
        /// Where.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// In a setting.
    #[error("`{setting}`: {message}")]
    Setting {
        /// The setting as given.
        setting: String,
        /// What is wrong.
        message: String,
    },
}

/// Reads a machine file and applies settings of the form `KEY=VALUE` in their
/// order; a value is TOML, or a bare word for a string.
///
/// # Errors
/// Broken TOML, an unknown key, one that is missing and may not be, a value of the wrong type or out of
/// range, keys that contradict each other.
pub fn parse_machine<S: AsRef<str>>(
    text: &str,
    settings: &[S],
) -> Result<DramConfig, MachineError> {
    let in_file = |error: toml::de::Error| MachineError::File {
        place: Place::of(text, error.span().unwrap_or(0..0)),
        message: error.message().trim_end().to_owned(),
    };
    // Behind the text, so that places in it stay what they are.
    let mut whole = text.to_owned();
    for (key, value) in left_out(text) {
        whole.push_str(&format!("\n{key} = {value}"));
    }
    let mut config: DramConfig = toml::from_str(&whole).map_err(in_file)?;
    let mut table: Table = toml::from_str(&whole).map_err(in_file)?;

    let mut set_by = Vec::new();
    for setting in settings {
        let setting = setting.as_ref();
        let in_setting =
            |message: String| MachineError::Setting { setting: setting.to_owned(), message };
        let (key, value) =
            setting.split_once('=').ok_or_else(|| in_setting("expected KEY=VALUE".to_owned()))?;
        let key = key.trim();
        let entry = table
            .get_mut(key)
            .ok_or_else(|| in_setting(format!("a DRAM machine has no key `{key}`")))?;
        *entry = parse_value(value.trim());
        config = table
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| in_setting(error.message().trim_end().to_owned()))?;
        set_by.push((key, setting));
    }

    config.validate().map_err(|error| {
        match set_by.iter().rev().find(|(key, _)| *key == error.key) {
            Some((_, setting)) => {
                MachineError::Setting { setting: (*setting).to_owned(), message: error.to_string() }
            }
            None => MachineError::File {
                place: Place::of(text, key_span(text, error.key)),
                message: error.to_string(),
            },
        }
    })?;
    Ok(config)
}

fn parse_value(text: &str) -> toml::Value {
    toml::from_str::<Table>(&format!("value = {text}"))
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

/// The bytes of a top-level key.
fn key_span(text: &str, key: &str) -> Range<usize> {
    DeTable::parse(text)
        .ok()
        .and_then(|table| {
            let found = table.get_ref().keys().find(|k| k.get_ref() == key);
            found.map(|k| k.span())
        })
        .unwrap_or(0..0)
}
