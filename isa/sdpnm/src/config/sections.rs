//! Packages in a binary: their contexts, package by package, are the text section [`SECTION`]; what
//! each says as a whole is an item of [`PACKAGES`]. A function symbol for each package names its
//! contexts for readers; nothing is read from it.

use std::collections::BTreeSet;

use nbcc_isa::container::{Symbol, SymbolKind};
use nbcc_isa::metadata::{from_json, to_json};
use nbcc_isa::text::is_label_name;
use nbcc_isa::{Container, LoadError, TextSection, TextSymbol, WriteError};
use serde::{Deserialize, Serialize};

use super::encode::{BYTES, decode, encode};
use super::package::{Package, Placed};
use super::text::SECTION;

/// The metadata section that holds packages without their contexts.
pub const PACKAGES: &str = ".nbcc.packages";

/// The address of the first context: behind the largest memory that a machine has.
pub const ADDRESS: u32 = 0xf800_0000;

/// A package without its contexts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    array: u8,
    ii: u16,
    mii: u16,
    rings: Vec<(u16, Vec<u8>)>,
    /// How many contexts.
    contexts: u32,
}

/// A label that says what the package of a number is called and that is not taken.
fn label(name: &str, number: usize, taken: &mut BTreeSet<String>) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' };
    let mut label: String = name.chars().map(word).collect();
    if !is_label_name(&label) {
        label.insert(0, '_');
    }
    if taken.contains(&label) {
        label = format!("{label}${number}");
    }
    while !taken.insert(label.clone()) {
        label.push('_');
    }
    label
}

/// The text section and the metadata of packages; `symbols` are those of the core.
///
/// # Errors
/// A context without an encoding.
pub(crate) fn write(
    packages: &[Package],
    symbols: &[TextSymbol],
) -> Result<(TextSection, (String, Vec<u8>)), WriteError> {
    let mut section = TextSection {
        name: SECTION.to_string(),
        address: ADDRESS.into(),
        instruction_bytes: BYTES as u32,
        ..TextSection::default()
    };
    let mut taken = symbols.iter().map(|symbol| symbol.name.clone()).collect();
    let mut headers = Vec::new();
    for (number, package) in packages.iter().enumerate() {
        section.symbols.push(Symbol {
            name: label(&package.name, number, &mut taken),
            kind: SymbolKind::Function,
            address: section.address + section.bytes.len() as u64,
            size: (package.contexts.len() * BYTES) as u64,
        });
        for placed in &package.contexts {
            section.bytes.extend(encode(placed)?);
            section.rows.push(placed.line);
        }
        headers.push(Header {
            name: package.name.clone(),
            array: package.array,
            ii: package.ii,
            mii: package.mii,
            rings: package.rings.clone(),
            contexts: package.contexts.len() as u32,
        });
    }
    if section.rows.iter().all(Option::is_none) {
        section.rows.clear();
    }
    Ok((section, (PACKAGES.to_string(), to_json(&headers))))
}

/// The packages of a binary. [`Package::check`] is the caller's.
///
/// # Errors
/// What is no context, or not of one package, with its section and offset.
pub(crate) fn read(container: &Container) -> Result<Vec<Package>, LoadError> {
    let headers: Vec<Header> = from_json(container, PACKAGES)?;
    let section = container.text.iter().find(|section| section.name == SECTION);
    let (bytes, rows) = section.map_or((&[][..], &[][..]), |s| (s.bytes.as_slice(), &s.rows[..]));
    let (chunks, rest) = bytes.as_chunks::<BYTES>();
    let relocated = section.is_some_and(|section| !section.relocations.is_empty());
    if !rest.is_empty() || relocated {
        return Err(LoadError::new(SECTION, 0, "it is not made of contexts"));
    }
    if !rows.is_empty() && rows.len() != chunks.len() {
        return Err(LoadError::new(".debug_line", 0, "not one line a context"));
    }
    let context = |index: usize| -> Result<Placed, LoadError> {
        let meaning = |field| {
            let message = format!("{field} of the context means nothing");
            LoadError::new(SECTION, (index * BYTES) as u64, message)
        };
        let line = rows.get(index).copied().flatten();
        Ok(Placed { line, ..decode(&chunks[index]).map_err(meaning)? })
    };
    let mut packages = Vec::new();
    let mut at = 0_usize;
    for header in headers {
        let end = at.checked_add(header.contexts as usize).filter(|end| *end <= chunks.len());
        let Some(end) = end else {
            let message = format!("the packages have more contexts than {SECTION}");
            return Err(LoadError::new(PACKAGES, 0, message));
        };
        packages.push(Package {
            name: header.name,
            array: header.array,
            ii: header.ii,
            mii: header.mii,
            rings: header.rings,
            contexts: (at..end).map(context).collect::<Result<_, _>>()?,
        });
        at = end;
    }
    if at < chunks.len() {
        let message = "contexts that are of no package";
        return Err(LoadError::new(SECTION, (at * BYTES) as u64, message));
    }
    Ok(packages)
}
