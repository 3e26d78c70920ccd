//! Vectors for single instructions: `tests/conformance/README.md` says what the manifest holds.

use std::path::PathBuf;

use crate::root;

/// A kernel, its operand records and the results expected of it.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Vector {
    /// The PTX file.
    pub ptx: String,
    /// The kernel.
    pub kernel: String,
    /// The instruction with its modifiers.
    pub form: String,
    /// Records.
    pub count: u32,
    /// Sizes of blocks to launch with.
    pub blocks: Vec<u32>,
    /// Where the operands are.
    #[serde(rename = "in")]
    pub input: Part,
    /// Where the expected results are.
    #[serde(rename = "out")]
    pub output: Part,
    /// Types of the members of a result.
    pub out_types: Vec<String>,
    /// Bytes of a result.
    pub out_stride: usize,
    /// How each member is compared.
    pub compare: Vec<Compare>,
}

/// A part of the file of records.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Part {
    offset: usize,
    bytes: usize,
}

/// How a member of a result is compared.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    kind: String,
    max: Option<f64>,
    relative: Option<f64>,
    absolute: Option<f64>,
    format: Option<String>,
    nan: Option<String>,
}

/// A PTX file with its records.
#[derive(Clone, Debug)]
pub struct Family {
    /// The PTX file.
    pub path: PathBuf,
    /// Its kernels.
    pub vectors: Vec<Vector>,
    records: Vec<u8>,
}

impl Family {
    /// Bytes of a part of the records.
    pub fn part(&self, part: &Part) -> &[u8] {
        &self.records[part.offset..part.offset + part.bytes]
    }
}

/// Every family. Panics where the files cannot be read.
pub fn families() -> Vec<Family> {
    let folder = root().join("tests/conformance");
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let manifest = String::from_utf8(read("manifest.jsonl")).expect("the manifest is text");
    let mut families: Vec<Family> = Vec::new();
    for line in manifest.lines() {
        let vector: Vector =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let path = folder.join(&vector.ptx);
        match families.iter_mut().find(|family| family.path == path) {
            Some(family) => family.vectors.push(vector),
            None => {
                let records = read(&vector.ptx.replace(".ptx", ".bin"));
                families.push(Family { path, vectors: vec![vector], records });
            }
        }
    }
    families
}

impl Vector {
    /// Compares results with those expected; what is wrong, with the operands.
    pub fn check(&self, family: &Family, got: &[u8]) -> Result<(), String> {
        let wanted = family.part(&self.output);
        let operands = family.part(&self.input);
        let in_stride = operands.len() / self.count as usize;
        let mut wrong = 0;
        let mut first = String::new();
        for record in 0..self.count as usize {
            let mut at = record * self.out_stride;
            for (ty, compare) in self.out_types.iter().zip(&self.compare) {
                let size = size_of(ty);
                at = at.next_multiple_of(size);
                let (g, w) = (&got[at..at + size], &wanted[at..at + size]);
                at += size;
                if compare.agrees(ty, g, w) {
                    continue;
                }
                wrong += 1;
                if first.is_empty() {
                    let operands = &operands[record * in_stride..][..in_stride];
                    first = format!(
                        "record {record}, {ty}: 0x{} instead of 0x{}, operands {}",
                        hex(g),
                        hex(w),
                        operands.chunks(4).map(hex).collect::<Vec<_>>().join(" ")
                    );
                }
            }
        }
        if wrong == 0 {
            return Ok(());
        }
        Err(format!("{} (kernel {}): {wrong} wrong, {first}", self.form, self.kernel))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of a member. A predicate is a word.
fn size_of(ty: &str) -> usize {
    match ty {
        "pred" | "f16x2" | "bf16x2" | "u16x2" | "s16x2" => 4,
        "bf16" => 2,
        "f32x2" => 8,
        _ => ty[1..].parse::<usize>().map_or(4, |bits| bits / 8),
    }
}

/// A float of a format, as binary64.
pub(crate) fn float(format: &str, bytes: &[u8]) -> f64 {
    let word = bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    match format {
        "f16" => nbcc_ir::f16_to_f64(word as u16),
        "bf16" => f32::from_bits((word as u32) << 16).into(),
        "f32" => f32::from_bits(word as u32).into(),
        _ => f64::from_bits(word),
    }
}

/// The unit in the last place of a finite value in a format.
pub(crate) fn unit(format: &str, value: f64) -> f64 {
    let (digits, least) = match format {
        "f16" => (10, -14),
        "bf16" => (7, -126),
        "f32" => (23, -126),
        _ => (52, -1022),
    };
    let exponent = match value == 0.0 {
        true => least,
        false => ((value.abs().to_bits() >> 52) as i32 - 1023).max(least),
    };
    2f64.powi(exponent - digits)
}

impl Compare {
    fn agrees(&self, ty: &str, got: &[u8], wanted: &[u8]) -> bool {
        if got == wanted {
            return true;
        }
        let Some(format) = &self.format else { return false };
        let halves = if ty.ends_with("x2") { 2 } else { 1 };
        let size = got.len() / halves;
        got.chunks(size).zip(wanted.chunks(size)).all(|(g, w)| self.close(format, g, w))
    }

    fn close(&self, format: &str, got: &[u8], wanted: &[u8]) -> bool {
        let (g, w) = (float(format, got), float(format, wanted));
        if got == wanted || (self.nan.is_some() && g.is_nan() && w.is_nan()) {
            return true;
        }
        if self.kind == "exact" || !g.is_finite() || !w.is_finite() {
            return false;
        }
        if w == 0.0 && !matches!(&*self.kind, "absolute" | "either") {
            return g == 0.0;
        }
        let distance = (g - w).abs();
        let unit = unit(format, w);
        let max = self.max.unwrap_or(0.0);
        match &*self.kind {
            "relative" => distance <= max * w.abs() + unit,
            "absolute" => distance <= max + unit,
            "either" => {
                let relative = self.relative.unwrap_or(0.0) * w.abs();
                distance <= relative + unit || distance <= self.absolute.unwrap_or(0.0) + unit
            }
            "ulp" => distance <= max * unit,
            _ => false,
        }
    }
}
