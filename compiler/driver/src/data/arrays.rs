//! Buffers of a device in files: `.npy` arrays of any element type, and raw bytes.

use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_ir::f64_to_f16;
use nbcc_isa::ScalarType;

use super::npy;
use crate::session::{Session, Stop};
use crate::{codes, files, streams};

/// The bytes of a number as a float of that type; `None` for other types.
pub fn float_bytes(ty: ScalarType, value: f64) -> Option<Vec<u8>> {
    match ty {
        ScalarType::F16 => Some(f64_to_f16(value).to_le_bytes().to_vec()),
        ScalarType::F32 => Some((value as f32).to_le_bytes().to_vec()),
        ScalarType::F64 => Some(value.to_le_bytes().to_vec()),
        _ => None,
    }
}

/// NumPy's name of a type, little endian.
pub fn descr(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool => "|b1",
        ScalarType::I8 => "|i1",
        ScalarType::I16 => "<i2",
        ScalarType::I32 => "<i4",
        ScalarType::I64 => "<i8",
        ScalarType::U8 => "|u1",
        ScalarType::U16 => "<u2",
        ScalarType::U32 => "<u4",
        ScalarType::U64 => "<u8",
        ScalarType::F16 => "<f2",
        ScalarType::F32 => "<f4",
        ScalarType::F64 => "<f8",
    }
}

/// A form that a buffer has in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayForm {
    /// Its bytes.
    Raw,
    /// NumPy's array format, elements in C order.
    Npy {
        /// The type of the elements.
        scalar: ScalarType,
        /// The shape, the slowest dimension first.
        shape: Vec<u64>,
    },
}

/// The contents of a file, and the form that they have there: the elements of an `.npy` array in C
/// order and little endian, else its bytes.
pub fn read(session: &mut Session, path: &Path) -> Result<(Vec<u8>, ArrayForm), Stop> {
    let bytes = files::read(session, path, files::MAX_DATA)?;
    let is_npy = match streams::is_standard(path) {
        true => bytes.starts_with(npy::MAGIC),
        false => path.extension().is_some_and(|extension| extension == "npy"),
    };
    if !is_npy {
        return Ok((bytes, ArrayForm::Raw));
    }
    let array = npy::numbers(bytes).map_err(|what| {
        let name = path.display().to_string();
        let message = format!("`{name}` is no array of numbers: {what}");
        let error = Diagnostic::error(&codes::BROKEN_DATA, message).in_file(name);
        session.fail(error.help("write it with numpy.save; raw bytes have another extension"))
    })?;
    let scalar = ScalarType::ALL.into_iter().find(|&ty| descr(ty)[1..] == array.ty);
    let form = match scalar {
        Some(scalar) => ArrayForm::Npy { scalar, shape: array.shape },
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
            files::write_parts(session, path, &[&npy::header(descr(*scalar), shape), bytes])
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
        assert_eq!(ScalarType::I8.range(), Some((-128, 127)));
        assert_eq!(ScalarType::U64.range(), Some((0, i128::from(u64::MAX))));
        assert_eq!(float_bytes(ScalarType::F16, 1.0).unwrap(), [0, 0x3c]);
        assert_eq!(unhex("00 fF"), Some(vec![0, 255]));
        assert_eq!(unhex("0"), None);
        assert_eq!(unhex("0g"), None);
    }
}
