//! Metadata sections of the container that hold lists, as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::container::Container;
use crate::error::LoadError;

/// A list as JSON, an item a line.
pub fn to_json<T: Serialize>(items: &[T]) -> Vec<u8> {
    let mut out = String::from("[");
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&serde_json::to_string(item).expect("metadata has text keys"));
    }
    out.push_str(if items.is_empty() { "]\n" } else { "\n]\n" });
    out.into_bytes()
}

/// The list in a metadata section; empty where the section is missing.
///
/// # Errors
/// What is no such list, with its offset in the section.
pub fn from_json<T: DeserializeOwned>(
    container: &Container,
    name: &str,
) -> Result<Vec<T>, LoadError> {
    let Some((_, bytes)) = container.metadata.iter().find(|(known, _)| known == name) else {
        return Ok(Vec::new());
    };
    list(name, bytes)
}

/// The list that these bytes of a metadata section are.
///
/// # Errors
/// As [`from_json`].
pub fn list<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<Vec<T>, LoadError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
        let offset = before + error.column().saturating_sub(1);
        LoadError::new(name, offset as u64, error.to_string())
    })
}

/// Checks that there are no metadata sections but the known ones.
///
/// # Errors
/// The first other one.
pub fn expect_only(container: &Container, known: &[&str]) -> Result<(), LoadError> {
    let mut names = container.metadata.iter().map(|(name, _)| name.as_str());
    match names.find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(LoadError::new(name, 0, "unknown section")),
    }
}
