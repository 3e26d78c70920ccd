//! The collection of references made with the real Halide: `tests/references/README.md` says what
//! the manifest holds, how inputs are computed and how outputs are compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use nbcc::data::npy;
use nbcc_stages::{ElementType, Image};
use sha2::{Digest, Sha256};

/// A run of a pipeline and what the real Halide computed in it.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Case {
    /// Its name, unique.
    #[serde(rename = "case")]
    pub name: String,
    /// The source, from the root of the repository.
    pub halide: String,
    /// The input images, in order of declaration.
    pub inputs: Vec<InputSpec>,
    /// Scalar parameters that are set.
    pub params: BTreeMap<String, serde_json::Value>,
    /// What `--size` must be.
    pub size: Option<Vec<u32>>,
    /// How outputs are compared.
    pub tolerance: String,
    /// The outputs, in order.
    pub outputs: Vec<OutputSpec>,
}

/// How an input is computed.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct InputSpec {
    /// Its name.
    pub name: String,
    /// The type of its elements, as in `u8`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its extents, x first.
    pub extent: Vec<u32>,
    /// The seed of its values.
    pub seed: u32,
    /// `uniform`, `special` or `ends`.
    pub values: String,
}

/// What is known of an output.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct OutputSpec {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its extents, x first.
    pub extent: Vec<u32>,
    /// The digest of its bytes.
    pub sha256: String,
    /// A file with every element.
    pub whole: Option<String>,
    /// A file with every `stride`th element.
    pub sample: Option<String>,
    /// The distance of the elements in `sample`.
    pub stride: Option<usize>,
}

/// The folder of the references.
pub fn folder() -> PathBuf {
    crate::root().join("tests/references")
}

/// Every case of the manifest. Panics where it cannot be read.
pub fn cases() -> Vec<Case> {
    let path = folder().join("manifest.jsonl");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect()
}

/// The type that the manifest calls `name`. Panics on another word.
pub fn element_type(name: &str) -> ElementType {
    match name {
        "bool" => ElementType::Bool,
        "u8" => ElementType::U8,
        "u16" => ElementType::U16,
        "u32" => ElementType::U32,
        "i8" => ElementType::I8,
        "i16" => ElementType::I16,
        "i32" => ElementType::I32,
        "f32" => ElementType::F32,
        _ => panic!("the manifest has a type `{name}`"),
    }
}

fn mix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x7FEB_352D);
    h ^= h >> 15;
    h = h.wrapping_mul(0x846C_A68B);
    h ^ (h >> 16)
}

fn hash(x: u32, y: u32, c: u32, seed: u32) -> u32 {
    let c = mix(c.wrapping_add(mix(seed)));
    let y = mix(y.wrapping_add(c));
    mix(x.wrapping_add(y))
}

const SPECIAL_FLOATS: [u32; 32] = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40000000, 0xC0000000, 0x3F000000, 0xBF000000,
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x00800000, 0x80800000, 0x00000001, 0x80000001,
    0x3F7FFFFF, 0x3F800001, 0xBF7FFFFF, 0xBF800001, 0x4B000000, 0xCB000000, 0x4B7FFFFF, 0x4F000000,
    0xCF000000, 0x4EFFFFFF, 0x3FC00000, 0xBFC00000, 0x40200000, 0xC0200000, 0x42F6E979, 0xC2F6E979,
];

const END_FLOATS: [u32; 80] = [
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
    0x1F800000, 0x9F800000, 0x3A83126F, 0xBA83126F, 0x3F000000, 0xBF000000, 0x3F7FFFFF, 0xBF7FFFFF,
    0x3F800000, 0xBF800000, 0x3F800001, 0xBF800001, 0x3FC00000, 0xBFC00000, 0x40000000, 0xC0000000,
    0x40200000, 0xC0200000, 0x40400000, 0xC0400000, 0x40490FDB, 0xC0490FDB, 0x42B1999A, 0xC2B1999A,
    0x42D00000, 0xC2D00000, 0x42FF0000, 0xC2FF0000, 0x43000000, 0xC3000000, 0x437F8000, 0xC37F8000,
    0x43800000, 0xC3800000, 0x46FFFF00, 0xC6FFFF00, 0x47000000, 0xC7000000, 0x477FFF80, 0xC77FFF80,
    0x47800000, 0xC7800000, 0x4AFFFFFF, 0xCAFFFFFF, 0x4B000001, 0xCB000001, 0x4B7FFFFF, 0xCB7FFFFF,
    0x4B800001, 0xCB800001, 0x4EFFFFFF, 0xCEFFFFFF, 0x4F000000, 0xCF000000, 0x4F000001, 0xCF000001,
    0x4F7FFFFF, 0xCF7FFFFF, 0x4F800000, 0xCF800000, 0x4F9502F9, 0xCF9502F9, 0x5F000000, 0xDF000000,
    0x7F000000, 0xFF000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001,
];

const SPECIAL_INTEGERS: [i32; 32] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    7,
    -7,
    127,
    128,
    -128,
    -129,
    255,
    256,
    32767,
    32768,
    -32768,
    -32769,
    65535,
    65536,
    16777215,
    16777216,
    16777217,
    1073741823,
    1073741824,
    2147483646,
    2147483647,
    -2147483647,
    -2147483648,
    1000000007,
    -1000000007,
];

/// The image of an input.
pub fn input_image(spec: &InputSpec) -> Image {
    let ty = element_type(&spec.ty);
    let mut image = Image::zeros(ty, &spec.extent);
    let extent = |d: usize| spec.extent.get(d).copied().unwrap_or(1);
    let mut words = image.data.iter_mut();
    for c in 0..extent(2) {
        for y in 0..extent(1) {
            for x in 0..extent(0) {
                let h = hash(x, y, c, spec.seed);
                let word = match (spec.values.as_str(), ty) {
                    ("ends", ElementType::F32) => {
                        let n = if spec.seed % 2 == 1 { x } else { y };
                        END_FLOATS[n as usize % END_FLOATS.len()]
                    }
                    ("special", ElementType::F32) => SPECIAL_FLOATS[(h >> 27) as usize],
                    ("special", ty) => {
                        let word = SPECIAL_INTEGERS[(h >> 27) as usize] as u32;
                        nbcc_stages::scalar::normalize(ty, word)
                    }
                    (_, ElementType::F32) => ((h >> 8) as f32 / 16777216.0).to_bits(),
                    (_, ty) => nbcc_stages::scalar::normalize(ty, h >> (32 - ty.bits())),
                };
                match words.next() {
                    Some(slot) => *slot = word,
                    None => panic!("input `{}` has more than three dimensions", spec.name),
                }
            }
        }
    }
    image
}

/// The bytes of an image, where every NaN has the same bits.
fn bytes_of(image: &Image) -> Vec<u8> {
    let width = (image.ty.bits() as usize).div_ceil(8);
    let is_nan = |w: u32| image.ty.is_float() && f32::from_bits(w).is_nan();
    let words = image.data.iter().map(|&w| if is_nan(w) { 0x7FC0_0000 } else { w });
    words.flat_map(|w| w.to_le_bytes().into_iter().take(width)).collect()
}

/// The elements of a file of the references, as words.
fn read_npy(path: &Path, ty: ElementType) -> Result<Vec<u32>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let image = npy::read(&bytes, ty).map_err(|e| format!("{}: {e:?}", path.display()))?;
    Ok(image.data)
}

/// Floats in an order in which neighbours are one unit in the last place apart; both zeros are one.
fn ordinal(value: f32) -> i64 {
    let bits = i64::from(value.to_bits() & 0x7fff_ffff);
    if value.is_sign_negative() { -bits } else { bits }
}

/// Whether an element is as close to the reference as `tolerance` asks.
fn close(tolerance: &str, ty: ElementType, got: u32, wanted: u32) -> bool {
    if got == wanted {
        return true;
    }
    let (kind, amount) = tolerance.split_once(':').unwrap_or((tolerance, ""));
    let number = || amount.parse::<f64>().unwrap_or_else(|_| panic!("tolerance `{tolerance}`"));
    if !ty.is_float() {
        let value = |word| nbcc_stages::scalar::to_i64(ty, word);
        return kind == "step" && (value(got) - value(wanted)).abs() as f64 <= number();
    }
    let (g, w) = (f32::from_bits(got), f32::from_bits(wanted));
    if g.is_nan() || w.is_nan() {
        return g.is_nan() && w.is_nan();
    }
    let (wide_g, wide_w) = (f64::from(g), f64::from(w));
    let difference = (wide_g - wide_w).abs();
    match (kind, amount) {
        ("float", "") => difference <= 1e-5 * wide_w.abs().max(0.01),
        ("float", _) => difference <= number() * wide_w.abs().max(1.0),
        ("ulp", _) => (ordinal(g) - ordinal(w)).abs() as f64 <= number(),
        _ => false,
    }
}

fn show(ty: ElementType, word: u32) -> String {
    if ty.is_float() {
        format!("{:?} ({word:#010x})", f32::from_bits(word))
    } else {
        nbcc_stages::scalar::to_i64(ty, word).to_string()
    }
}

/// Compares the images of a case's outputs with the references. The error says which elements
/// differ, at most a few.
pub fn compare(case: &Case, images: &[Image]) -> Result<(), String> {
    if images.len() != case.outputs.len() {
        return Err(format!("{} outputs, not {}", images.len(), case.outputs.len()));
    }
    for (spec, image) in case.outputs.iter().zip(images) {
        let name = &spec.name;
        let ty = element_type(&spec.ty);
        if image.ty != ty || image.extent != spec.extent {
            let (got, extent) = (image.ty, &image.extent);
            return Err(format!("`{name}` is {got} {extent:?}, not {ty} {:?}", spec.extent));
        }
        let digest = Sha256::digest(bytes_of(image));
        let digest = digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        if digest == spec.sha256 {
            continue;
        }
        let (file, stride) = match (&spec.whole, &spec.sample) {
            (Some(whole), _) => (whole, 1),
            (None, Some(sample)) => (sample, spec.stride.unwrap_or(1)),
            (None, None) => return Err(format!("`{name}` has another digest")),
        };
        let wanted = read_npy(&folder().join(file), ty)?;
        let got = image.data.iter().step_by(stride);
        if got.len() != wanted.len() {
            return Err(format!("{file} has {} elements, not {}", wanted.len(), got.len()));
        }
        let mut wrong = got
            .zip(&wanted)
            .enumerate()
            .filter(|(_, (g, w))| !close(&case.tolerance, ty, **g, **w))
            .peekable();
        if wrong.peek().is_none() {
            // Of an exact output only a sample is known here, and it agrees: the digest decides.
            if case.tolerance == "exact" || (!ty.is_float() && !case.tolerance.starts_with("step"))
            {
                return Err(format!("`{name}` differs outside the sample"));
            }
            continue;
        }
        let mut text = format!("`{name}` differs ({}):", case.tolerance);
        let mut count = 0;
        for (i, (&g, &w)) in wrong {
            if count < 4 {
                let mut rest = i * stride;
                let at: Vec<String> = spec
                    .extent
                    .iter()
                    .map(|&e| {
                        let c = rest % e as usize;
                        rest /= e as usize;
                        c.to_string()
                    })
                    .collect();
                let _ =
                    write!(text, "\n  ({}): {}, not {}", at.join(", "), show(ty, g), show(ty, w));
            }
            count += 1;
        }
        let _ = write!(text, "\n  {count} of {} compared", wanted.len());
        return Err(text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_has_the_known_values() {
        assert_eq!(hash(0, 0, 0, 1), 0x4DA9_18EF);
        assert_eq!(hash(3, 5, 2, 7), 0xCA29_4674);
    }

    #[test]
    fn tolerances_have_two_sides() {
        let f = f32::to_bits;
        let ty = ElementType::F32;
        assert!(close("float", ty, f(1.000_005), f(1.0)));
        assert!(!close("float", ty, f(1.000_02), f(1.0)));
        assert!(close("ulp:2", ty, f(1.0) + 2, f(1.0)));
        assert!(!close("ulp:2", ty, f(1.0) + 3, f(1.0)));
        assert!(close("ulp:0", ty, f(-0.0), f(0.0)));
        assert!(!close("exact", ty, f(-0.0), f(0.0)));
        assert!(close("step:1", ElementType::I8, -1i32 as u32, 0));
        assert!(!close("step:1", ElementType::U8, 2, 0));
        assert!(!close("float", ElementType::U8, 2, 1));
    }
}
