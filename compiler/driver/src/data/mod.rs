//! What programs read and write: images in files (which form an extension means, the size that is
//! taken), buffers, arguments of functions.

pub mod arguments;
pub mod arrays;
pub mod gather;
pub mod inputs;
pub mod names;
pub mod npy;
pub mod outputs;
pub mod params;
mod picture;
mod raw;
mod structures;

use std::path::{Path, PathBuf};

use crate::streams;

/// The most elements of an image.
const MAX_ELEMENTS: u64 = 1 << 27;

/// A form that images have in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// NumPy's array format.
    Npy,
    /// Portable Network Graphics.
    Png,
    /// Netpbm: grey or colour by what the file says; to be written as the extension says.
    Pnm { colour: bool },
    /// Elements in memory order, little endian, the first dimension fastest.
    Raw,
}

/// The extensions of [`Form::of`], in the order in which files beside a source are looked for.
const EXTENSIONS: &[&str] = &["npy", "png", "pgm", "ppm"];

impl Form {
    /// The form that a path's extension means.
    fn of(path: &Path) -> Option<Form> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "npy" => Some(Form::Npy),
            "png" => Some(Form::Png),
            "pgm" => Some(Form::Pnm { colour: false }),
            "ppm" | "pnm" => Some(Form::Pnm { colour: true }),
            "bin" | "raw" => Some(Form::Raw),
            _ => None,
        }
    }

    /// The form that an output gets: a stream has no extension, and `.npy` holds any image.
    fn of_output(path: &Path) -> Option<Form> {
        Form::of(path).or_else(|| streams::is_stream(path).then_some(Form::Npy))
    }

    /// The form of what comes from standard input, by how it begins.
    fn of_bytes(bytes: &[u8]) -> Option<Form> {
        match bytes {
            _ if bytes.starts_with(npy::MAGIC) => Some(Form::Npy),
            _ if bytes.starts_with(b"\x89PNG") => Some(Form::Png),
            [b'P', b'2' | b'3' | b'5' | b'6', ..] => Some(Form::Pnm { colour: false }),
            _ => None,
        }
    }
}

/// The name of an image on the command line: a path and, for raw data, `:WxHxC`.
fn split_extents(name: &str) -> (PathBuf, Option<Vec<u32>>) {
    if let Some((path, extents)) = name.rsplit_once(':')
        && let Ok(extents) = crate::cli::extents(extents)
    {
        return (PathBuf::from(path), Some(extents.0));
    }
    (PathBuf::from(name), None)
}

/// The number of elements of an image, `None` where it is more than is taken.
fn count(extent: &[u32]) -> Option<usize> {
    let mut product = 1u64;
    for &n in extent {
        product = product.checked_mul(u64::from(n))?;
    }
    (product <= MAX_ELEMENTS).then_some(product as usize)
}

/// The number of elements of an image, where it is not more than is taken and there is memory to
/// read it and to convert it.
fn room_for(extent: &[u32]) -> Option<usize> {
    // A sample of a picture, the element that it becomes, and a copy of that where it is turned.
    const BYTES: u64 = 16;
    count(extent).filter(|&count| nbcc_base::has_room(BYTES * count as u64))
}

/// Extents as people write them, `640x480`.
pub fn by(extent: &[u32]) -> String {
    extent.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}
