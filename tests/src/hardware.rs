//! What a GPU computed of the forms of `tests/hardware`; its README says what each file holds.

use std::collections::HashMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::conformance::{float, unit};
use crate::forms::{Form, RECORDS, members, size, stride};
use crate::pattern;
use crate::root;

/// Records of which values are kept, of forms that are approximations.
const KEPT: usize = 64;

fn read(name: &str) -> Vec<u8> {
    let path = root().join("tests/hardware").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a file of `tests/hardware` without comments. Panics where it cannot be read.
pub fn lines(name: &str) -> Vec<String> {
    let text = String::from_utf8(read(name)).expect("text");
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect()
}

/// What is kept of a run on a GPU.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Digests of all results, and of the results with one NaN for all where that differs.
    digests: HashMap<String, Vec<String>>,
    /// Results of approximations.
    values: HashMap<String, Vec<u8>>,
    /// Forms that may differ so much: a pattern, the measure, and the distance.
    close: Vec<(String, String, f64)>,
    /// Forms that differ.
    differ: Vec<String>,
}

impl Kept {
    /// Reads the files. Panics where they cannot be read.
    pub fn read() -> Kept {
        let columns = |line: &String| -> Vec<String> {
            line.split(" | ").map(|column| column.trim().to_string()).collect()
        };
        let forms: Vec<Form> = lines("forms.txt").iter().map(|l| Form::read(l)).collect();
        let kept = lines("h100.txt");
        assert_eq!(forms.len(), kept.len(), "a line for each form");
        let close: Vec<_> = lines("close.txt")
            .iter()
            .map(columns)
            .map(|c| (c[0].clone(), c[1].clone(), c[2].parse().expect("a number")))
            .collect();
        let differ = lines("differ.txt").iter().map(|line| columns(line)[0].clone()).collect();
        let mut digests = HashMap::new();
        let mut values = HashMap::new();
        let all = read("h100.bin");
        let mut at = 0;
        for (form, line) in forms.iter().zip(kept) {
            let words: Vec<String> = line.split(' ').map(str::to_string).collect();
            if words[0] == "-" {
                continue;
            }
            if words[0] == "=" {
                let bytes = KEPT * stride(&form.results);
                values.insert(form.line.clone(), all[at..at + bytes].to_vec());
                at += bytes;
            } else {
                digests.insert(form.line.clone(), words);
            }
        }
        assert_eq!(at, all.len(), "all values have their forms");
        Kept { digests, values, close, differ }
    }

    /// Compares results of a form with those kept.
    pub fn check(&self, form: &Form, inputs: &[u8], got: &[u8]) -> Result<(), String> {
        if let Some(values) = self.values.get(&form.line) {
            let close = self.close.iter().find(|(p, ..)| pattern::matches(p, form.code()));
            let (_, measure, most) = close.ok_or("no distance is given")?;
            return distances(form, measure, inputs, got, values, *most);
        }
        let Some(digests) = self.digests.get(&form.line) else { return Ok(()) };
        if digests[0] == digest(got) || digests.last() == Some(&digest(&one_nan(form, got))) {
            return Ok(());
        }
        match self.differ.iter().any(|p| pattern::matches(p, form.code())) {
            true => Ok(()),
            false => Err("other results than the GPU's".into()),
        }
    }
}

/// The first 8 bytes of the SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The format of a float, or of each of a pair.
fn format_of(ty: &str) -> Option<&str> {
    let format = if ty == "tf32" { "f32" } else { ty.strip_suffix("x2").unwrap_or(ty) };
    matches!(format, "f16" | "bf16" | "f32" | "f64").then_some(format)
}

fn bytes_of(format: &str) -> usize {
    match format {
        "f16" | "bf16" => 2,
        "f32" => 4,
        _ => 8,
    }
}

/// The results with all bits set for each NaN.
fn one_nan(form: &Form, results: &[u8]) -> Vec<u8> {
    let mut results = results.to_vec();
    for record in results.chunks_mut(stride(&form.results)) {
        for (ty, at) in members(&form.results) {
            let Some(format) = format_of(ty) else { continue };
            for part in record[at..at + size(ty)].chunks_mut(bytes_of(format)) {
                if float(format, part).is_nan() {
                    part.fill(0xff);
                }
            }
        }
    }
    results
}

/// Whether floats are no farther from those wanted than that: in units in the last place (`ulp`), in their
/// size (`relative`), in it or in one where that is more (`either`), absolutely where the operand is within
/// a turn of the circle (`circle`). NaNs and infinities have to be the same.
fn distances(
    form: &Form,
    measure: &str,
    inputs: &[u8],
    got: &[u8],
    wanted: &[u8],
    most: f64,
) -> Result<(), String> {
    let records = got.chunks(stride(&form.results)).zip(wanted.chunks(stride(&form.results)));
    let inputs = inputs.chunks(stride(&form.operands));
    for (record, ((got, wanted), input)) in records.zip(inputs).enumerate() {
        if measure == "circle" && float("f32", &input[..4]).abs() > std::f64::consts::TAU {
            continue;
        }
        for (ty, at) in members(&form.results) {
            let format = format_of(ty).ok_or("no float")?;
            let width = bytes_of(format);
            let parts = got[at..at + size(ty)].chunks(width).zip(wanted[at..].chunks(width));
            for (g, w) in parts.map(|(g, w)| (float(format, g), float(format, w))) {
                let measured = match measure {
                    "ulp" => unit(format, w),
                    "relative" => w.abs(),
                    "either" => w.abs().max(1.0),
                    _ => 1.0,
                };
                let same = g == w || (g.is_nan() && w.is_nan());
                if !same && (!g.is_finite() || !w.is_finite() || (g - w).abs() > most * measured) {
                    return Err(format!("record {record}: {g:e} instead of {w:e}"));
                }
            }
        }
    }
    Ok(())
}

/// All that `record.py` wrote of the forms.
#[derive(Clone, Debug)]
pub struct Recorded {
    places: HashMap<String, (usize, usize)>,
    data: Vec<u8>,
}

impl Recorded {
    /// Reads a folder. Panics where it cannot.
    pub fn read(folder: &Path) -> Recorded {
        #[derive(serde::Deserialize)]
        struct Line {
            form: Option<String>,
            at: Option<usize>,
            size: Option<usize>,
        }
        let index = std::fs::read_to_string(folder.join("forms.jsonl")).expect("an index");
        let mut places = HashMap::new();
        for line in index.lines() {
            let line: Line = serde_json::from_str(line).expect("a line of the index");
            if let (Some(form), Some(at), Some(size)) = (line.form, line.at, line.size) {
                places.insert(form, (at, size));
            }
        }
        Recorded { places, data: std::fs::read(folder.join("forms.bin")).expect("the data") }
    }

    /// What a GPU computed where that differs from `got`, with operands: the first few records.
    pub fn show(&self, form: &Form, inputs: &[u8], got: &[u8]) -> String {
        let Some(&(at, size)) = self.places.get(&form.line) else { return String::new() };
        let (stride, in_stride) = (stride(&form.results), stride(&form.operands));
        let wanted = &self.data[at..at + size];
        let mut lines = String::new();
        let mut count = 0;
        for record in 0..RECORDS {
            let (g, w) = (&got[record * stride..][..stride], &wanted[record * stride..][..stride]);
            if g == w {
                continue;
            }
            count += 1;
            if count <= 6 {
                let operands = &inputs[record * in_stride..][..in_stride];
                let words = |types: &[String], record: &[u8]| {
                    let words = members(types)
                        .map(|(ty, at)| hex(&record[at..at + crate::forms::size(ty)]));
                    words.collect::<Vec<_>>().join(" ")
                };
                lines += &format!(
                    "\n    {}: {} here, {} there",
                    words(&form.operands, operands),
                    words(&form.results, g),
                    words(&form.results, w)
                );
            }
        }
        format!("\n    {count} of {RECORDS} records{lines}")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}
