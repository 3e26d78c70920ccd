//! The contents of buffers as suites state them: a formula of the coordinates, with random numbers that
//! depend on nothing but the buffer's name and the element.

use nbcc_isa::ScalarType;
use nbcc_stages::{ElementType, Image};

use super::suite::{Buffer, Numbers};
use crate::data::arrays;
use crate::limits;
use crate::session::Stop;

/// Bytes of a buffer at most.
const MAX_BYTES: u64 = 1 << 30;

/// What a buffer holds.
pub struct Elements {
    /// The type of an element.
    pub ty: ScalarType,
    /// Elements along each dimension, the slowest first.
    pub shape: Vec<u32>,
    /// Their values; `None` for zeros.
    pub values: Option<Vec<f64>>,
}

/// Coordinates by name, the fastest first.
const COORDINATES: [&str; 4] = ["x", "y", "z", "w"];

/// The contents of a buffer.
pub fn of(numbers: &mut Numbers<'_>, name: &str, buffer: &Buffer) -> Result<Elements, Stop> {
    let ty = numbers.scalar(buffer.ty.get_ref(), buffer.ty.span())?;
    let mut shape = Vec::new();
    for extent in &buffer.shape {
        shape.push(numbers.integer(extent, "an extent", (1, i32::MAX as u32))?);
    }
    let at = buffer.ty.span();
    if shape.is_empty() || shape.len() > COORDINATES.len() {
        let help = "a shape has one to four extents, the slowest first";
        return Err(numbers.fault(at, format!("buffer `{name}` has no such shape"), help));
    }
    let count = shape.iter().try_fold(1u64, |all, &n| all.checked_mul(n.into()));
    let bytes = count.and_then(|count| count.checked_mul(ty.bytes().into()));
    let Some(count) = count.filter(|_| bytes.is_some_and(|bytes| bytes <= MAX_BYTES)) else {
        let message = format!("buffer `{name}` has more than {MAX_BYTES} bytes");
        return Err(numbers.fault(at, message, "make its extents smaller"));
    };
    let Some(value) = &buffer.value else { return Ok(Elements { ty, shape, values: None }) };
    // The values, and what they become.
    if !nbcc_base::has_room(16 * count) {
        let message = format!("there is no memory for the {count} elements of buffer `{name}`");
        return Err(numbers.session.fail(limits::no_memory(message)));
    }
    let formula = numbers.formula(value)?;
    let zeros: Vec<(&str, f64)> =
        COORDINATES[..shape.len()].iter().copied().chain(["i"]).map(|name| (name, 0.0)).collect();
    let mut names = numbers.values(&formula, value.span(), &zeros)?;
    let places = |name: &str| formula.names.iter().position(|known| known.key == name);
    let coordinates: Vec<Option<usize>> =
        COORDINATES[..shape.len()].iter().map(|name| places(name)).collect();
    let number = places("i");
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut values = Vec::with_capacity(count as usize);
    let mut stack = Vec::new();
    let mut at = [0u32; COORDINATES.len()];
    for i in 0..count {
        for (coordinate, place) in at.iter().zip(&coordinates) {
            if let Some(place) = place {
                names[*place] = f64::from(*coordinate);
            }
        }
        if let Some(place) = number {
            names[place] = i as f64;
        }
        let mut state = splitmix(seed.wrapping_add(i));
        let value = formula.value(&names, &mut stack, || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            // 53 bits, as many as a number holds.
            (splitmix(state) >> 11) as f64 / (1u64 << 53) as f64
        });
        if !value.is_finite() {
            let message = format!("element {i} of buffer `{name}` is {value}");
            let help =
                "the formula divides by zero, or takes the root or logarithm of what has none";
            let span = buffer.value.as_ref().map_or(0..0, toml::Spanned::span);
            return Err(numbers.fault(span, message, help));
        }
        values.push(value);
        for (coordinate, extent) in at.iter_mut().zip(shape.iter().rev()) {
            *coordinate += 1;
            if *coordinate < *extent {
                break;
            }
            *coordinate = 0;
        }
    }
    Ok(Elements { ty, shape, values: Some(values) })
}

/// The output of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) for a state.
fn splitmix(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A number as a type has it, in the low bytes of the result: floats rounded, integers cut to whole
/// ones and to the range.
pub fn bits(ty: ScalarType, value: f64) -> u64 {
    match ty.range() {
        Some((low, high)) => (value as i128).clamp(low, high) as u64,
        None => {
            let bytes = arrays::float_bytes(ty, value).expect("a type without a range is a float");
            bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
        }
    }
}

/// The type of the elements of an image.
pub fn scalar_of(ty: ElementType) -> ScalarType {
    match ty {
        ElementType::Bool => ScalarType::Bool,
        ElementType::U8 => ScalarType::U8,
        ElementType::U16 => ScalarType::U16,
        ElementType::U32 => ScalarType::U32,
        ElementType::I8 => ScalarType::I8,
        ElementType::I16 => ScalarType::I16,
        ElementType::I32 => ScalarType::I32,
        ElementType::F32 => ScalarType::F32,
    }
}

impl Elements {
    /// How many bytes they are.
    pub fn size(&self) -> u64 {
        let count: u64 = self.shape.iter().map(|&n| u64::from(n)).product();
        count * u64::from(self.ty.bytes())
    }

    /// The bytes, little endian.
    pub fn bytes(&self) -> Vec<u8> {
        let Some(values) = &self.values else { return vec![0; self.size() as usize] };
        let size = self.ty.bytes() as usize;
        let mut bytes = Vec::with_capacity(values.len() * size);
        match self.ty {
            ScalarType::F32 => {
                values.iter().for_each(|v| bytes.extend_from_slice(&(*v as f32).to_le_bytes()));
            }
            ty => values.iter().for_each(|v| {
                bytes.extend_from_slice(&bits(ty, *v).to_le_bytes()[..size]);
            }),
        }
        bytes
    }

    /// The same as an image of that type, whose extents stand the other way round; `None` where it
    /// takes elements of another type.
    pub fn image(&self, ty: ElementType) -> Option<Image> {
        if scalar_of(ty) != self.ty {
            return None;
        }
        let extent: Vec<u32> = self.shape.iter().rev().copied().collect();
        let mut image = Image::zeros(ty, &extent);
        if let Some(values) = &self.values {
            for (word, value) in image.data.iter_mut().zip(values) {
                *word = bits(self.ty, *value) as u32;
            }
        }
        Some(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_their_types() {
        assert_eq!(bits(ScalarType::F32, 1.5), u64::from(1.5f32.to_bits()));
        assert_eq!(bits(ScalarType::I8, -3.7), -3i64 as u64);
        assert_eq!(bits(ScalarType::U8, 300.0), 255);
        assert_eq!(bits(ScalarType::U64, 1e30), u64::MAX);
        let elements =
            Elements { ty: ScalarType::I16, shape: vec![2], values: Some(vec![-1.0, 258.0]) };
        assert_eq!((elements.bytes(), elements.size()), (vec![255, 255, 2, 1], 4));
    }
}
