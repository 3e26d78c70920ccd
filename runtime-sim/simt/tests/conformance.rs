//! The vectors of tests/conformance on the machine alone, without a compiler: forms that are one
//! instruction of MPU are written down here as that instruction.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::Kernel;
use nbcc_isa_simt::asm::assemble;
use nbcc_sim_simt::{Device, Launch, RunOptions};
use serde_json::Value;

/// Bytes of a type in a record.
fn bytes_of(ty: &str) -> u32 {
    match ty {
        "pred" => 4,
        _ if ty.ends_with("x2") => 4,
        _ => ty.trim_start_matches(char::is_alphabetic).parse::<u32>().unwrap_or(32) / 8,
    }
}

/// Kernels that do something else than their form says: amounts and masks.
const SPECIAL: &[(&str, &str)] = &[
    ("shr_s32_immediate", "int.sra R10, R20, 62"),
    ("shr_s64_immediate", "shift64.sra D10, D20, 94"),
    ("vadd2_masked", "simd.add.x2 R10, R20, R22, R24, 2"),
    ("vadd4_masked", "simd.add R10, R20, R22, R24, 2"),
];

/// Pairs of binary32, mixed operands and extremes of three: several instructions each.
const OF_SEVERAL_INSTRUCTIONS: &str = "float_pairs.ptx";

/// The instruction of a kernel; `None` where it takes several. Those are tested through the
/// compiler only (`conformance_mpu` of nbcc-tests), and so are results that may differ in their
/// last bits. A result in a register wider than its type takes a second instruction.
fn operation(kernel: &str, form: &str, result: &str) -> Option<String> {
    if let Some((_, special)) = SPECIAL.iter().find(|(name, _)| *name == kernel) {
        return Some((*special).to_owned());
    }
    let op = instruction(form)?;
    Some(match op.strip_prefix("cvt_narrow.").and_then(|rest| rest.split('.').next()) {
        Some(to) if bytes_of(result) == 8 => {
            format!("{op}\n    cvt_widen.{}64.{to}.exact D10, R10", &to[..1])
        }
        _ => op,
    })
}

/// Operands are in R20, R22 and R24, or the pairs that begin there; the result goes to R10, D10
/// or P0.
fn instruction(form: &str) -> Option<String> {
    // Words behind a form say what else the kernel does.
    if form.contains(' ') {
        return None;
    }
    let words: Vec<&str> = form.split('.').collect();
    let (op, rest) = words.split_first()?;
    let last = *rest.last()?;
    let flags = |known: &[&str]| -> String {
        let mut out = String::new();
        for flag in known {
            let word = match *flag {
                "nan" => "NaN",
                "xorsign_abs" => "xorsign",
                word => word,
            };
            if rest.contains(&word) {
                out += &format!(".{flag}");
            }
        }
        out
    };
    let rounding = rest.iter().find(|w| ["rn", "rz", "rm", "rp"].contains(w)).unwrap_or(&"rn");
    let mods = format!("{rounding}{}", flags(&["ftz", "sat", "relu", "nan", "xorsign_abs"]));
    let wide = last == "f64";
    let float = matches!(last, "f16" | "bf16" | "f16x2" | "bf16x2" | "f32" | "f64");
    let joined = rest.iter().any(|word| ["and", "or", "xor"].contains(word));
    let approximate = rest.contains(&"approx") || rest.contains(&"full");
    let two = if wide { "D10, D20, D22" } else { "R10, R20, R22" };
    let one = if wide { "D10, D20" } else { "R10, R20" };
    Some(match *op {
        "add" | "sub" | "mul" | "min" | "max" | "div" if float && !approximate => {
            if wide {
                format!("float64.{op}.{mods} {two}")
            } else {
                format!("float.{op}.{last}.{mods} {two}")
            }
        }
        "fma" | "mad" if float && wide => format!("fma64.{mods} {two}, D24"),
        "fma" | "mad" if float => format!("fma.{last}.{mods} {two}, R24"),
        "rcp" | "sqrt" | "abs" | "neg" if float && !approximate => {
            if wide {
                format!("float1_64.{op}.{mods} {one}")
            } else {
                format!("float1.{op}.{last}.{mods} {one}")
            }
        }
        "copysign" => format!("copysign{} {two}", if wide { "64" } else { "" }),
        "testp" if wide => format!("testp64.{} P0, D20", rest[0]),
        "testp" => format!("testp.{} P0, R20", rest[0]),
        // Those of two comparisons have two results.
        "setp" if float && !last.ends_with("x2") && !joined => {
            let ftz = flags(&["ftz"]);
            if wide {
                format!("fcmp64.{} P0, D20, D22", rest[0])
            } else {
                format!("fcmp.{}.{last}{ftz} P0, R20, R22", rest[0])
            }
        }
        "cvt" if !rest.contains(&"pack") => {
            let [.., to, from] = rest else { return None };
            let rounding = rest
                .iter()
                .find(|w| w.starts_with('r') && w.len() <= 3)
                .filter(|w| **w != "relu")
                .unwrap_or(&"exact");
            let flags = flags(&["ftz", "sat", "relu"]);
            if to.ends_with("x2") {
                return Some(format!("cvt_pack.{to}.{rounding}{flags} R10, R20, R22"));
            }
            let (name, dst, src) = match (bytes_of(to) == 8, bytes_of(from) == 8) {
                (false, false) => ("cvt", "R10", "R20"),
                (true, false) => ("cvt_widen", "D10", "R20"),
                (false, true) => ("cvt_narrow", "R10", "D20"),
                (true, true) => ("cvt_wide", "D10", "D20"),
            };
            format!("{name}.{to}.{from}.{rounding}{flags} {dst}, {src}")
        }
        "popc" | "clz" if last == "b32" => format!("count.{op} R10, R20"),
        "popc" | "clz" => format!("count64.{op} R10, D20"),
        "brev" if last == "b32" => "int1.brev R10, R20".into(),
        "brev" => "int1_64.brev D10, D20".into(),
        "bfind" => {
            let shift = if rest[0] == "shiftamt" { "_shift" } else { "" };
            let (sign, bits) = last.split_at(1);
            let (name, src) = if bits == "64" { ("count64", "D20") } else { ("count", "R20") };
            format!("{name}.bfind{shift}_{sign} R10, {src}")
        }
        "bfe" => {
            let (sign, bits) = last.split_at(1);
            if bits == "64" {
                format!("bfe64.{sign} D10, D20, R22, R24")
            } else {
                format!("int3.bfe_{sign} R10, R20, R22, R24")
            }
        }
        "bfi" if last == "b32" => "bfi R10, R20, R22, R24, R26".into(),
        "bfi" => "bfi64 D10, D20, D22, R24, R26".into(),
        "shf" => format!("int3.shf_{}_{} R10, R20, R22, R24", rest[0], rest[1]),
        "prmt" => {
            let mode = if last == "b32" { "idx" } else { last };
            format!("int3.prmt_{mode} R10, R20, R22, R24")
        }
        "bmsk" => format!("int.bmsk_{} R10, R20, R22", rest[0]),
        "szext" => format!("int.szext_{}_{} R10, R20, R22", rest[0], last.split_at(1).0),
        "fns" => "int3.fns R10, R20, R22, R24".into(),
        "shl" | "shr" if last.ends_with("32") => {
            let op = if last == "s32" { "sra" } else { op };
            format!("int.{op} R10, R20, R22")
        }
        "shl" | "shr" if last.ends_with("64") => {
            let op = if last == "s64" { "sra" } else { op };
            format!("shift64.{op} D10, D20, R22")
        }
        "dp4a" => {
            let sign = |w: &str| w[..1].to_owned();
            format!("int3.dp4a_{}{} R10, R20, R22, R24", sign(rest[0]), sign(rest[1]))
        }
        _ => return simd(op, rest),
    })
}

/// `vadd2.u32.s32.u32.sat` and its like.
fn simd(op: &str, rest: &[&str]) -> Option<String> {
    let op = op.strip_prefix('v')?;
    let lanes = op.chars().last().filter(|c| matches!(c, '2' | '4'))?;
    let (name, _) = op.split_at(op.len() - 1);
    let set = name == "set";
    let (a, b, dst) = if set { (rest[0], rest[1], "u32") } else { (rest[1], rest[2], rest[0]) };
    let name = if set { format!("set{}", rest[2]) } else { name.to_owned() };
    let mut out = format!("simd.{name}");
    let flags = [
        (lanes == '2', "x2"),
        (a == "s32", "as"),
        (b == "s32", "bs"),
        (dst == "s32", "s"),
        (rest.contains(&"sat"), "sat"),
        (rest.contains(&"add"), "add"),
    ];
    for (_, flag) in flags.iter().filter(|(set, _)| *set) {
        out += &format!(".{flag}");
    }
    let mask = if lanes == '2' { 3 } else { 15 };
    Some(format!("{out} R10, R20, R22, R24, {mask}"))
}

fn access(ty: &str, store: bool, register: u32, offset: u32) -> String {
    let (base, name) = if store { ("D4", "st") } else { ("D2", "ld") };
    let bytes = bytes_of(ty);
    let width = match (bytes, ty.starts_with('s')) {
        (1, true) if !store => "s8",
        (1, _) => "u8",
        (2, true) if !store => "s16",
        (2, _) => "u16",
        _ => "b32",
    };
    match (bytes == 8, store) {
        (true, false) => format!("ld64.global.weak D{register}, [{base}], {offset}"),
        (true, true) => format!("st64.global.weak [{base}], {offset}, D{register}"),
        (false, false) => format!("{name}.global.{width}.weak R{register}, [{base}], {offset}"),
        (false, true) => format!("{name}.global.{width}.weak [{base}], {offset}, R{register}"),
    }
}

fn types(line: &Value, key: &str) -> Vec<String> {
    line[key].as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect()
}

/// The byte offsets of members, each aligned to its size.
fn offsets(types: &[String]) -> Vec<u32> {
    let mut at = 0_u32;
    types
        .iter()
        .map(|ty| {
            at = at.next_multiple_of(bytes_of(ty));
            let offset = at;
            at += bytes_of(ty);
            offset
        })
        .collect()
}

fn run(line: &Value, op: &str, records: &[u8]) -> Vec<u8> {
    let number = |key: &str| line[key].as_u64().unwrap() as u32;
    let (ins, outs) = (types(line, "in_types"), types(line, "out_types"));
    let mut text = String::from(".isa mpu 1\n.machine mpu\n.section .text\n    sreg.tid_x R0\n");
    text += "    ld64.param.weak D2, [0x0], 0\n    ld64.param.weak D4, [0x0], 8\n";
    text += &format!("    mad_wide.u D2, R0, {}, D2\n", number("in_stride"));
    text += &format!("    mad_wide.u D4, R0, {}, D4\n", number("out_stride"));
    for (index, (ty, offset)) in ins.iter().zip(offsets(&ins)).enumerate() {
        text += &format!("    {}\n", access(ty, false, 20 + 2 * index as u32, offset));
    }
    text += &format!("    {op}\n");
    if outs[0] == "pred" {
        text += "    p2r R10, P0\n";
    }
    text += &format!("    {}\n    exit\n", access(&outs[0], true, 10, 0));
    let mut program = assemble(&ISA, &text)
        .unwrap_or_else(|errors| panic!("{}: {}\n{text}", line["form"], errors[0]));
    program.kernels = vec![Kernel {
        name: "form".into(),
        instructions: program.code.text.len() as u32,
        registers: 32,
        param_bytes: 16,
        ..Kernel::default()
    }];
    let mut device = Device::new(ISA.built_in("mpu"), 1 << 24);
    let module = device.load(Arc::new(program)).unwrap();
    let input = device.memory().allocate(records.len() as u64, false).unwrap();
    let size = number("count") * number("out_stride");
    let output = device.memory().allocate(size.into(), false).unwrap();
    device.write(input, records).unwrap();
    let params = [input.to_le_bytes(), output.to_le_bytes()].concat();
    let launch = Launch {
        kernel: "form",
        grid: [1, 1, 1],
        block: [number("count"), 1, 1],
        dynamic_shared: 0,
        params: &params,
    };
    device.launch(&module, &launch, &RunOptions::default(), &mut Vec::new()).unwrap();
    let mut found = vec![0; size as usize];
    device.read(output, &mut found).unwrap();
    found
}

fn is_nan(format: &str, bits: u64) -> bool {
    match format {
        "f16" => bits & 0x7fff > 0x7c00,
        "bf16" => bits & 0x7fff > 0x7f80,
        "f32" => bits & 0x7fff_ffff > 0x7f80_0000,
        "f64" => bits & (u64::MAX >> 1) > 0x7ff << 52,
        _ => false,
    }
}

#[test]
fn vectors_of_single_instructions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut forms = 0;
    let mut wrong = Vec::new();
    for line in manifest.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let form = line["form"].as_str().unwrap();
        let outs = types(&line, "out_types");
        let compare = &line["compare"][0];
        let kernel = line["kernel"].as_str().unwrap();
        if line["ptx"] == OF_SEVERAL_INSTRUCTIONS {
            continue;
        }
        let Some(op) = operation(kernel, form, &outs[0]) else { continue };
        let count = line["count"].as_u64().unwrap() as usize;
        // One result, the same to the bit, of one block of threads.
        assert!(outs.len() == 1 && compare["kind"] == "exact" && count <= 1024, "{kernel}");
        let name = line["ptx"].as_str().unwrap().replace(".ptx", ".bin");
        let file =
            files.entry(name.clone()).or_insert_with(|| std::fs::read(folder.join(&name)).unwrap());
        let part = |key: &str| {
            let number = |k: &str| line[key][k].as_u64().unwrap() as usize;
            file[number("offset")..][..number("bytes")].to_vec()
        };
        let (records, wanted) = (part("in"), part("out"));
        let found = run(&line, &op, &records);
        forms += 1;
        let stride = line["out_stride"].as_u64().unwrap() as usize;
        let size = bytes_of(&outs[0]) as usize;
        for index in 0..count {
            let bits = |from: &[u8]| {
                let bytes = &from[index * stride..][..size];
                bytes.iter().rev().fold(0_u64, |all, b| all << 8 | u64::from(*b))
            };
            let (got, want) = (bits(&found), bits(&wanted));
            let format = compare["format"].as_str().unwrap_or(&outs[0]);
            let any = compare["nan"] == "any" && is_nan(format, got) && is_nan(format, want);
            if got != want && !any {
                let input = &records[index * records.len() / count..];
                let input = &input[..records.len() / count];
                wrong.push(format!("{form} (`{op}`) of {input:02x?}: {got:#x}, not {want:#x}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {forms} forms:\n{}", wrong.len(), wrong.join("\n"));
    assert!(forms > 800, "only {forms} forms");
}
