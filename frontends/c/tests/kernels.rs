//! Kernels compared with gcc: each `// run:` of tests/c/NAME.c on the interpreter prints what
//! tests/c/NAME.out holds, which tests/c/reference.py made with gcc.

mod common;

use std::fmt::Write;
use std::path::Path;

use nbcc_interp::function::{Given, Options, call};
use nbcc_ir::{Func, IntType, Module, NumType, verify_module};

/// The numbers that fill arrays, as in tests/c/reference.py.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn fill(&mut self, count: u64, bytes: usize, signed: bool, limit: i64) -> Vec<u8> {
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
struct Array {
    name: String,
    ty: IntType,
    extents: Vec<u32>,
    bytes: Vec<u8>,
}

fn shown(ty: IntType, bytes: &[u8]) -> String {
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

fn run(module: &Module, func: Func, number: u64, text: &str, out: &mut String) {
    let function = &module.functions[func];
    let interface = function.interface.as_ref().expect("an interface");
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
    let given: Vec<Given<'_>> = arrays
        .iter()
        .map(|array| Given {
            extents: array.extents.iter().rev().copied().collect(),
            bytes: &array.bytes,
        })
        .collect();
    let called = call(module, func, &scalars, &given, &Options::default());
    let called = called.unwrap_or_else(|trap| panic!("{trap}, at {:?}", trap.span));
    let _ = writeln!(out, "run {number}");
    if let (Some(bits), Some(NumType::Int(ty))) = (called.result, interface.result) {
        let bytes = ty.ty().scalar.bytes() as usize;
        let _ = writeln!(out, "return {}", shown(ty, &bits.to_le_bytes()[..bytes]));
    }
    for (array, bytes) in arrays.iter().zip(&called.arrays) {
        let width = array.ty.ty().scalar.bytes() as usize;
        let all: Vec<String> = bytes.chunks(width).map(|word| shown(array.ty, word)).collect();
        let space = if all.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{}{space}{}", array.name, all.join(" "));
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a source");
    let mut out = String::new();
    let runs = text.lines().filter_map(|line| line.strip_prefix("// run: "));
    for (number, line) in runs.enumerate() {
        let (function, rest) = line.split_once('(').expect("a call");
        let args = rest.trim_end().strip_suffix(')').expect("a call");
        let (module, func) = common::compile(path, &text, Some(function))?;
        let wrong = verify_module(&module);
        if !wrong.is_empty() {
            return Err(format!("{wrong:?}\n{module}"));
        }
        // The text form says everything.
        let printed = module.to_string();
        let again = common::read_ir(&printed);
        if again != printed {
            return Err(format!("the IR reads back as\n{again}\ninstead of\n{printed}"));
        }
        run(&module, func, number as u64 + 1, args, &mut out);
    }
    let expected = path.with_extension("out");
    let expected =
        std::fs::read_to_string(&expected).map_err(|e| format!("{e}: run reference.py"))?;
    match out == expected {
        true => Ok(()),
        false => Err(format!("is\n{out}\nand with gcc\n{expected}")),
    }
}

#[test]
fn kernels_do_what_gcc_makes_them_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the kernels")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    paths.sort();
    let only = std::env::var("NBCC_CASE").ok();
    let mut wrong = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let result = std::panic::catch_unwind(|| check(path));
        let result = result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
        });
        if let Err(what) = result {
            wrong.push(format!("{name}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), paths.len(), wrong.join("\n"));
}
