//! Comparing what the simulated machine computed with what the interpreter says it should:
//! integers bit for bit, floats within a relative 1e-5 (absolute where the reference is below 1),
//! which leaves room for what targets may round differently: division, roots, transcendentals.

use nbcc_stages::{ElementType, Image};

/// What to do about a difference between machine and interpreter.
pub const WHAT_NEXT: &str = "this is a fault of nbcc: report it with the program and its data; \
                             at another level (-O0, -O1) it may go away";

/// The same of kernels, whose threads may run in any order.
pub const MAY_BE_ORDER: &str = "what threads get from atomic operations, and which of several writes a \
                                word last, depends on the order in which they run: then both are right. \
                                Otherwise this is a fault of nbcc: report it with the program and its data; \
                                at another level (-O0, -O1) it may go away";

/// The same where all that differs are floats that are close.
pub const MAY_HAVE_GROWN: &str = "divisions, roots and functions like `exp` may differ in the last \
                                  place: a difference of close numbers, or a fraction, shows more of \
                                  that. Without them in the program it is a fault of nbcc";

/// The same where all that differs are integers next to each other.
pub const MAY_HAVE_ROUNDED: &str = "divisions, roots and functions like `exp` may differ in the last \
                                    place, and an integer made of such a float by one. Without them \
                                    in the program it is a fault of nbcc";

/// How far apart floats are at most that may have become so.
const MAX_DIFFERENCE: f64 = 1e-3;

/// Whose results are right.
pub const ORACLE: &str = "the interpreter's";

/// How far floats may be apart, relative to the reference where that is above 1.
const TOLERANCE: f64 = 1e-5;

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements whose bits differ, other than by the sign of zero or the bits of a NaN.
    pub different: usize,
    /// Elements that are further apart than allowed.
    pub wrong: usize,
    /// The coordinates of the first of these, and both values.
    pub first_wrong: Option<(Vec<i32>, String, String)>,
    /// The greatest distance of two floats in units in the last place, and in value, relative as
    /// the tolerance is.
    pub worst_ulp: u32,
    /// The same as a relative error.
    pub worst_relative: f64,
    /// The greatest distance of two integers.
    pub worst_integer: u64,
}

/// Compares an output with its reference. Both have the same type and extents.
pub fn compare(output: &Image, reference: &Image) -> Comparison {
    assert_eq!(output.ty, reference.ty, "types of the same output");
    assert_eq!(output.extent, reference.extent, "extents of the same output");
    let mut found = Comparison {
        elements: output.data.len(),
        different: 0,
        wrong: 0,
        first_wrong: None,
        worst_ulp: 0,
        worst_relative: 0.0,
        worst_integer: 0,
    };
    for (index, (&a, &b)) in output.data.iter().zip(&reference.data).enumerate() {
        if a == b {
            continue;
        }
        if output.ty == ElementType::F32 {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            if x == y || (x.is_nan() && y.is_nan()) {
                continue;
            }
            found.worst_ulp = found.worst_ulp.max(ulps(x, y));
            let relative = relative(x, y);
            found.worst_relative = found.worst_relative.max(relative);
            found.different += 1;
            if relative <= TOLERANCE {
                continue;
            }
        } else {
            let value = |word: u32| match output.ty.is_signed() {
                true => i64::from(word as i32),
                false => i64::from(word),
            };
            found.worst_integer = found.worst_integer.max(value(a).abs_diff(value(b)));
            found.different += 1;
        }
        found.wrong += 1;
        found.first_wrong.get_or_insert_with(|| {
            (coordinates(reference, index), show(output.ty, a), show(output.ty, b))
        });
    }
    found
}

impl Comparison {
    /// What to do about a difference.
    pub fn what_next(&self) -> &'static str {
        let are_close = self.worst_ulp > 0 && self.worst_relative <= MAX_DIFFERENCE;
        match self.worst_integer {
            0 if are_close => MAY_HAVE_GROWN,
            1 => MAY_HAVE_ROUNDED,
            _ => WHAT_NEXT,
        }
    }

    /// What is to be said of output `name`: a line, or the message of an error.
    pub fn verdict(&self, name: &str) -> Result<String, String> {
        let elements = self.elements;
        if let Some((at, is, should)) = &self.first_wrong {
            let at: Vec<String> = at.iter().map(i32::to_string).collect();
            let (wrong, at) = (self.wrong, at.join(", "));
            return Err(format!(
                "{wrong} of {elements} elements of `{name}` are wrong, the first at ({at}): {is} \
                 instead of {should}"
            ));
        }
        Ok(match self.different {
            0 => format!("{name} equals the interpreter's, {elements} elements bit for bit"),
            different => format!(
                "{name} equals the interpreter's within {} ulp ({:.1e}); {different} of \
                 {elements} elements differ",
                self.worst_ulp, self.worst_relative
            ),
        })
    }
}

/// The distance relative to the reference `y` where that is above 1, else absolute.
fn relative(x: f32, y: f32) -> f64 {
    let (x, y) = (f64::from(x), f64::from(y));
    let distance = (x - y).abs() / y.abs().max(1.0);
    if distance.is_nan() { f64::INFINITY } else { distance }
}

/// The number of floats between two, NaN being far from everything.
fn ulps(x: f32, y: f32) -> u32 {
    if x.is_nan() || y.is_nan() {
        return u32::MAX;
    }
    // Floats in their order as integers: negative ones count down from -0.
    let order = |f: f32| {
        let bits = f.to_bits() as i32;
        i64::from(if bits < 0 { i32::MIN - bits } else { bits })
    };
    (order(x) - order(y)).unsigned_abs() as u32
}

fn coordinates(image: &Image, index: usize) -> Vec<i32> {
    let mut rest = index;
    image
        .extent
        .iter()
        .zip(&image.min)
        .map(|(&extent, &min)| {
            let at = rest % extent as usize;
            rest /= extent as usize;
            min + at as i32
        })
        .collect()
}

fn show(ty: ElementType, word: u32) -> String {
    match ty {
        ElementType::F32 => format!("{:?}", f32::from_bits(word)),
        _ if ty.is_signed() => format!("{}", word as i32),
        _ => format!("{word}"),
    }
}

/// Compares memory bit for bit; where it differs first, in words. `whose` it should be.
pub fn compare_bytes(is: &[u8], should: &[u8], whose: &str) -> Result<(), String> {
    if is == should {
        return Ok(());
    }
    if is.len() != should.len() {
        return Err(format!("has {} bytes instead of {}", is.len(), should.len()));
    }
    let differ = || is.iter().zip(should).map(|(is, should)| is != should);
    let count = differ().filter(|differs| *differs).count();
    // Most buffers hold words of 4 bytes: the whole word tells more than the byte.
    let word = differ().position(|differs| differs).unwrap_or(0) / 4 * 4;
    let end = (word + 4).min(is.len());
    let hex = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
    Err(format!(
        "differs from {whose} in {count} of {} bytes, first in the word at byte {word}: \
         0x{} instead of 0x{}",
        is.len(),
        hex(&is[word..end]),
        hex(&should[word..end])
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_may_be_a_little_apart() {
        let reference = Image::from_f32(&[3, 2], &[1.0, 2.0, f32::NAN, 0.0, f32::INFINITY, 4.0]);
        let next = f32::from_bits(1.0f32.to_bits() + 3);
        let near = Image::from_f32(&[3, 2], &[next, 2.0, -f32::NAN, -0.0, f32::INFINITY, 4.0]);
        let found = compare(&near, &reference);
        assert_eq!((found.different, found.wrong, found.worst_ulp), (1, 0, 3));
        let far = Image::from_f32(&[3, 2], &[1.0, 2.0, f32::NAN, 0.0, f32::MAX, 4.1]);
        let found = compare(&far, &reference);
        assert_eq!(found.wrong, 2);
        let first = (vec![1, 1], format!("{:?}", f32::MAX), "inf".to_string());
        assert_eq!(found.first_wrong, Some(first));
        assert_eq!(found.what_next(), WHAT_NEXT);
        let close = Image::from_f32(&[1, 1], &[1.00002]);
        let found = compare(&close, &Image::from_f32(&[1, 1], &[1.0]));
        assert_eq!((found.wrong, found.what_next()), (1, MAY_HAVE_GROWN));
    }

    #[test]
    fn integers_must_be_equal() {
        let mut reference = Image::zeros(ElementType::I8, &[4]);
        let mut output = reference.clone();
        output.data[2] = -1i32 as u32;
        reference.min = vec![10];
        let found = compare(&output, &reference);
        assert_eq!(found.first_wrong, Some((vec![12], "-1".into(), "0".into())));
        assert_eq!(found.what_next(), MAY_HAVE_ROUNDED);
        output.data[0] = 2;
        assert_eq!(compare(&output, &reference).what_next(), WHAT_NEXT);
    }

    #[test]
    fn a_wrong_element_fails_the_check() {
        let reference = Image::zeros(ElementType::U8, &[3, 2]);
        let mut output = reference.clone();
        assert!(compare(&output, &reference).verdict("out").is_ok());
        output.data[4] = 7;
        let error = compare(&output, &reference).verdict("out").unwrap_err();
        assert_eq!(
            error,
            "1 of 6 elements of `out` are wrong, the first at (1, 1): 7 instead of 0"
        );
    }

    #[test]
    fn the_first_word_that_differs_is_named() {
        assert_eq!(compare_bytes(&[1, 2, 3], &[1, 2, 3], ""), Ok(()));
        assert_eq!(
            compare_bytes(&[0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 2], "the interpreter's"),
            Err("differs from the interpreter's in 1 of 6 bytes, first in the word at byte 4: \
                 0x0100 instead of 0x0200"
                .to_string())
        );
        assert!(compare_bytes(&[0], &[], "").is_err());
    }

    #[test]
    fn the_distance_of_floats_crosses_zero() {
        assert_eq!(ulps(0.0, -0.0), 0);
        assert_eq!(ulps(f32::from_bits(1), -f32::from_bits(1)), 2);
        assert_eq!(ulps(1.0, f32::NAN), u32::MAX);
    }
}
