//! Buffers of a device in files: `.npy` arrays of any element type, and raw bytes.

use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_ir::f64_to_f16;

use super::npy;
use crate::session::{Session, Stop};
use crate::{codes, files};

/// A scalar type of launch files and arrays.
#[derive(Debug)]
pub struct ScalarType {
    /// Its name in launch files.
    pub name: &'static str,
    /// Bytes of a value.
    pub bytes: usize,
    /// Whether an integer has a sign.
    pub is_signed: bool,
    /// The bytes of a float; `None` for integers.
    pub float: Option<fn(f64) -> Vec<u8>>,
    /// NumPy's name, little endian; `None` where it has none.
    pub descr: Option<&'static str>,
}

impl ScalarType {
    const fn integer(
        name: &'static str,
        bytes: usize,
        is_signed: bool,
        descr: &'static str,
    ) -> ScalarType {
        ScalarType { name, bytes, is_signed, float: None, descr: Some(descr) }
    }

    /// The least and greatest value of an integer type.
    pub fn range(&self) -> (i128, i128) {
        let bits = 8 * self.bytes as u32;
        match self.is_signed {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        }
    }
}

impl PartialEq for ScalarType {
    fn eq(&self, other: &ScalarType) -> bool {
        self.name == other.name
    }
}

/// The scalar types.
pub static SCALARS: [ScalarType; 11] = [
    ScalarType::integer("i8", 1, true, "|i1"),
    ScalarType::integer("i16", 2, true, "<i2"),
    ScalarType::integer("i32", 4, true, "<i4"),
    ScalarType::integer("i64", 8, true, "<i8"),
    ScalarType::integer("u8", 1, false, "|u1"),
    ScalarType::integer("u16", 2, false, "<u2"),
    ScalarType::integer("u32", 4, false, "<u4"),
    ScalarType::integer("u64", 8, false, "<u8"),
    ScalarType {
        name: "f16",
        bytes: 2,
        is_signed: true,
        float: Some(|value| f64_to_f16(value).to_le_bytes().to_vec()),
        descr: Some("<f2"),
    },
    ScalarType {
        name: "f32",
        bytes: 4,
        is_signed: true,
        float: Some(|value| (value as f32).to_le_bytes().to_vec()),
        descr: Some("<f4"),
    },
    ScalarType {
        name: "f64",
        bytes: 8,
        is_signed: true,
        float: Some(|value| value.to_le_bytes().to_vec()),
        descr: Some("<f8"),
    },
];

/// A form that a buffer has in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayForm {
    /// Its bytes.
    Raw,
    /// NumPy's array format, elements in C order.
    Npy {
        /// The type of the elements.
        scalar: &'static ScalarType,
        /// The shape, the slowest dimension first.
        shape: Vec<u64>,
    },
}

/// The contents of a file, and the form that they have there: the elements of an `.npy` array in C
/// order and little endian, else its bytes.
pub fn read(session: &mut Session, path: &Path) -> Result<(Vec<u8>, ArrayForm), Stop> {
    let bytes = files::read(session, path, files::MAX_DATA)?;
    if path.extension().is_none_or(|extension| extension != "npy") {
        return Ok((bytes, ArrayForm::Raw));
    }
    let array = npy::numbers(bytes).map_err(|what| {
        let name = path.display().to_string();
        let message = format!("`{name}` is no array of numbers: {what}");
        let error = Diagnostic::error(&codes::BROKEN_DATA, message).in_file(name);
        session.fail(error.help("write it with numpy.save; raw bytes have another extension"))
    })?;
    let same = |scalar: &&ScalarType| scalar.descr.is_some_and(|d| d[1..] == array.ty);
    let form = match SCALARS.iter().find(same) {
        Some(scalar) => ArrayForm::Npy { scalar, shape: array.shape },
        // Truth values.
        None => ArrayForm::Raw,
    };
    Ok((array.bytes, form))
}

/// Writes the contents of a buffer.
pub fn write(
    session: &mut Session,
    path: &Path,
    form: &ArrayForm,
    bytes: &[u8],
) -> Result<(), Stop> {
    match form {
        ArrayForm::Raw => files::write(session, path, bytes),
        ArrayForm::Npy { scalar, shape } => {
            let descr = scalar.descr.unwrap_or_default();
            files::write_parts(session, path, &[&npy::header(descr, shape), bytes])
        }
    }
}

/// Bytes as pairs of hexadecimal digits, with blanks between bytes allowed.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace() && *c != '_')
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_bytes_of_scalars() {
        let find = |name: &str| SCALARS.iter().find(|s| s.name == name).unwrap();
        assert_eq!(find("i8").range(), (-128, 127));
        assert_eq!(find("u64").range(), (0, i128::from(u64::MAX)));
        assert_eq!(find("f16").float.unwrap()(1.0), [0, 0x3c]);
        assert_eq!(unhex("00 fF"), Some(vec![0, 255]));
        assert_eq!(unhex("0"), None);
        assert_eq!(unhex("0g"), None);
    }
}
