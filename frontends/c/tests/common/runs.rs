//! Runs of kernels: the arguments that a line `// run:` says, filled as tests/c/reference.py does, and
//! what a run prints.

#![allow(dead_code)]

use std::fmt::Write;

use nbcc_ir::{IntType, Interface, NumType};

/// The numbers that fill arrays, as in tests/c/reference.py.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    pub fn fill(&mut self, count: u64, bytes: usize, signed: bool, limit: i64) -> Vec<u8> {
        let mut all = Vec::new();
        for _ in 0..count {
            let low = self.next();
            let value = low ^ self.next() << 31;
            let value = match limit {
                ..0 => value as i64,
                _ if signed => (value % (2 * limit as u64 + 1)) as i64 - limit,
                _ => (value % (limit as u64 + 1)) as i64,
            };
            all.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
        all
    }
}

/// An array as a run gives it.
pub struct Array {
    pub name: String,
    pub ty: IntType,
    /// The slowest dimension first.
    pub extents: Vec<u32>,
    pub bytes: Vec<u8>,
}

pub fn shown(ty: IntType, bytes: &[u8]) -> String {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    let unused = 64 - 8 * bytes.len() as u32;
    match ty {
        IntType::U8 | IntType::U16 | IntType::U32 | IntType::U64 => bits.to_string(),
        _ => (((bits << unused) as i64) >> unused).to_string(),
    }
}

fn array(name: &str, value: &str, seed: u64) -> Array {
    let (ty, rest) = value.split_once('[').expect("an array");
    let (extents, fill) = rest.split_once(']').expect("an array");
    let bits: usize = ty.trim_start_matches(['u', 'i', 'n', 't']).parse().expect("a type");
    let signed = !ty.starts_with('u');
    let name_of_type = format!("{}{bits}", if signed { 's' } else { 'u' });
    let extents: Vec<u32> = extents
        .split(',')
        .filter(|e| !e.is_empty())
        .map(|e| e.parse().expect("a number"))
        .collect();
    let count: u64 = extents.iter().map(|&e| u64::from(e)).product();
    let bytes = match fill {
        "=0" => vec![0; count as usize * bits / 8],
        _ => {
            let limit = fill.strip_prefix('%').map_or(-1, |limit| limit.parse().expect("a limit"));
            Random(seed).fill(count, bits / 8, signed, limit)
        }
    };
    let ty = IntType::from_name(&name_of_type).expect("a type");
    Array { name: name.to_string(), ty, extents, bytes }
}

/// The arguments of a run, split at commas outside of brackets.
fn arguments(text: &str) -> Vec<(String, String)> {
    let mut depth = 0;
    let split = text.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    let pair = |part: &str| {
        let (name, value) = part.trim().split_once('=').expect("NAME=VALUE");
        (name.to_string(), value.to_string())
    };
    split.filter(|part| !part.trim().is_empty()).map(pair).collect()
}

/// What a run is called on: the bits of scalars, and arrays, in the order of the parameters.
pub fn given(interface: &Interface, number: u64, text: &str) -> (Vec<u64>, Vec<Array>) {
    let (mut scalars, mut arrays) = (Vec::new(), Vec::new());
    for (index, (name, value)) in arguments(text).into_iter().enumerate() {
        if value.contains('[') {
            arrays.push(array(&name, &value, number * 1000 + index as u64));
        } else {
            scalars.push(value.parse::<i128>().expect("a number") as u64);
        }
    }
    let masks = interface
        .params
        .iter()
        .filter(|param| param.array.is_none())
        .map(|param| u64::MAX >> (64 - param.ty.ty().scalar.bits()));
    let scalars: Vec<u64> = scalars.iter().zip(masks).map(|(bits, mask)| bits & mask).collect();
    (scalars, arrays)
}

/// What a run prints: its result, and what arrays hold.
pub fn print(
    interface: &Interface,
    number: u64,
    result: Option<u64>,
    arrays: &[Array],
    contents: &[Vec<u8>],
) -> String {
    let mut out = format!("run {number}\n");
    if let (Some(bits), Some(NumType::Int(ty))) = (result, interface.result) {
        let bytes = ty.ty().scalar.bytes() as usize;
        let _ = writeln!(out, "return {}", shown(ty, &bits.to_le_bytes()[..bytes]));
    }
    for (array, bytes) in arrays.iter().zip(contents) {
        let width = array.ty.ty().scalar.bytes() as usize;
        let all: Vec<String> = bytes.chunks(width).map(|word| shown(array.ty, word)).collect();
        let space = if all.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{}{space}{}", array.name, all.join(" "));
    }
    out
}

/// The runs of a source: number, function, arguments.
pub fn runs(text: &str) -> impl Iterator<Item = (u64, &str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("// run: "));
    (1..).zip(lines).map(|(number, line)| {
        let (function, rest) = line.split_once('(').expect("a call");
        (number, function, rest.trim_end().strip_suffix(')').expect("a call"))
    })
}
