//! Forms of `tests/hardware`: one instruction, or a few, as kernels with operands, as
//! `tests/hardware/forms.py` makes them for a GPU. Its README says what a line holds.

use std::fmt::Write;

use nbcc_testing::Rng;

use crate::grids::Launch;

/// Records that each form is given.
pub const RECORDS: usize = 512;

/// Threads of a block.
const BLOCK: usize = 128;

/// What stands before the kernels.
pub const HEADER: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// A line of `forms.txt`.
#[derive(Clone, Debug)]
pub struct Form {
    /// The line.
    pub line: String,
    /// Types of the results.
    pub results: Vec<String>,
    /// Types of the operands.
    pub operands: Vec<String>,
    code: String,
}

impl Form {
    /// Reads a line. Panics where it is none.
    pub fn read(line: &str) -> Form {
        let (types, code) = line.split_once(" | ").expect("types and code");
        let (results, operands) = types.split_once(" =").expect("results and operands");
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect();
        Form {
            line: line.into(),
            results: words(results),
            operands: words(operands),
            code: code.into(),
        }
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The opcode of its first instruction.
    pub fn opcode(&self) -> &str {
        self.code.split(['.', ' ']).next().unwrap_or_default()
    }

    /// The kernel `(in, out)`, of which each thread takes one record.
    pub fn kernel(&self, name: &str) -> String {
        let mut text = format!(
            ".visible .entry {name}(.param .u64 in, .param .u64 out)\n{{\n\t.reg .b32 %i, %x, %y;\n\
             \t.reg .b64 %in, %out;\n\t.reg .pred %p, %q;\n"
        );
        for (letter, types) in [('a', &self.operands), ('r', &self.results)] {
            for (number, ty) in types.iter().enumerate() {
                let kind = match ty.as_str() {
                    "pred" => "pred".to_string(),
                    _ => format!("b{}", 8 * size(ty)),
                };
                let _ = writeln!(text, "\t.reg .{kind} %{letter}{number};");
            }
        }
        let _ = write!(
            text,
            "\tmov.u32 %x, %ctaid.x;\n\tmov.u32 %y, %ntid.x;\n\tmov.u32 %i, %tid.x;\n\
             \tmad.lo.u32 %i, %x, %y, %i;\n\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\
             \tcvta.to.global.u64 %in, %in;\n\tcvta.to.global.u64 %out, %out;\n\
             \tmad.wide.u32 %in, %i, {}, %in;\n\tmad.wide.u32 %out, %i, {}, %out;\n",
            stride(&self.operands),
            stride(&self.results)
        );
        for (number, (ty, at)) in members(&self.operands).enumerate() {
            let _ = match ty {
                "pred" => writeln!(
                    text,
                    "\tld.global.b32 %x, [%in+{at}];\n\tsetp.ne.u32 %a{number}, %x, 0;"
                ),
                _ => writeln!(text, "\tld.global.b{} %a{number}, [%in+{at}];", 8 * size(ty)),
            };
        }
        let _ = writeln!(text, "\t{}", self.code.replace("; ", ";\n\t"));
        for (number, (ty, at)) in members(&self.results).enumerate() {
            let _ = match ty {
                "pred" => writeln!(
                    text,
                    "\tselp.b32 %x, 1, 0, %r{number};\n\tst.global.b32 [%out+{at}], %x;"
                ),
                _ => writeln!(text, "\tst.global.b{} [%out+{at}], %r{number};", 8 * size(ty)),
            };
        }
        text.push_str("\tret;\n}\n");
        text
    }

    /// The operands of all records. Other salts give others.
    pub fn inputs(&self, records: usize, salt: u64) -> Vec<u8> {
        let mut rng = Rng::new(fnv(&self.line) ^ salt);
        let mut data = Vec::new();
        for _ in 0..records {
            let start = data.len();
            // The value before of each kind.
            let mut last: Vec<(String, u64)> = Vec::new();
            for (ty, at) in members(&self.operands) {
                data.resize(start + at, 0);
                let value = match ty.strip_suffix("x2") {
                    Some(half) => {
                        let low = value(&mut rng, half, before(&last, half));
                        let high = value(&mut rng, half, Some(low));
                        keep(&mut last, half, low);
                        low | high << 16
                    }
                    None => {
                        let kind = kind(ty);
                        let value = value(&mut rng, ty, before(&last, &kind));
                        keep(&mut last, &kind, value);
                        value
                    }
                };
                data.extend(&value.to_le_bytes()[..size(ty)]);
            }
            data.resize(start + stride(&self.operands), 0);
        }
        data
    }

    /// A launch of its kernel on these operands.
    pub fn launch(&self, name: &str, inputs: Vec<u8>, records: usize) -> Launch {
        Launch {
            kernel: name.into(),
            grid: (records / BLOCK.min(records)) as u32,
            block: BLOCK.min(records) as u32,
            buffers: vec![inputs, vec![0; records * stride(&self.results)]],
            scalar: None,
        }
    }
}

fn before(last: &[(String, u64)], kind: &str) -> Option<u64> {
    last.iter().find(|(of, _)| of == kind).map(|&(_, value)| value)
}

fn keep(last: &mut Vec<(String, u64)>, kind: &str, value: u64) {
    last.retain(|(of, _)| of != kind);
    last.push((kind.into(), value));
}

/// Bytes of the register of a type, and of its place in memory: a predicate is a word, and bytes are in
/// registers of 32 bits.
pub fn size(ty: &str) -> usize {
    match ty {
        "pred" | "tf32" => 4,
        "bf16" => 2,
        _ if ty.ends_with("x2") => 4,
        _ => match ty[1..].parse::<usize>() {
            Ok(8) => 4,
            Ok(bits) => bits / 8,
            Err(_) => panic!("`{ty}` is no type"),
        },
    }
}

/// The members of a record with their places.
pub fn members(types: &[String]) -> impl Iterator<Item = (&str, usize)> {
    types.iter().scan(0usize, |at, ty| {
        let place = at.next_multiple_of(size(ty));
        *at = place + size(ty);
        Some((ty.as_str(), place))
    })
}

/// Bytes of a record.
pub fn stride(types: &[String]) -> usize {
    let end = members(types).last().map_or(0, |(ty, at)| at + size(ty));
    end.next_multiple_of(8)
}

/// Types whose values are alike: floats by format, integers by width.
fn kind(ty: &str) -> String {
    match ty {
        "pred" | "f16" | "bf16" | "f32" | "f64" => ty.into(),
        _ => format!("{}", 8 * size(ty)),
    }
}

/// FNV-1a, of 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// A value of a type; `last` is the one before of the same kind, if there is one.
fn value(rng: &mut Rng, ty: &str, last: Option<u64>) -> u64 {
    let (choice, more) = (rng.bits(), rng.bits());
    match ty {
        "pred" => more & 1,
        "f16" => float(10, 5, choice, more, last),
        "bf16" => float(7, 8, choice, more, last),
        "f32" => float(23, 8, choice, more, last),
        "f64" => float(52, 11, choice, more, last),
        _ => integer(8 * size(ty) as u64, choice, more, last),
    }
}

/// The value before, or one beside it.
fn near(last: u64, choice: u64, more: u64) -> u64 {
    last.wrapping_add((more % 5).wrapping_sub(2).wrapping_mul(choice >> 8 & 1))
}

fn integer(bits: u64, choice: u64, more: u64, last: Option<u64>) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let half = mask >> 1;
    let table = [
        0,
        1,
        2,
        mask,
        mask - 1,
        half,
        half + 1,
        half - 1,
        0x80,
        0xff,
        0x7f,
        0x8000,
        0xffff,
        0x7fff,
        31,
        32,
        33,
        63,
        64,
        bits,
        bits - 1,
        0x00ff_00ff,
        0x8080_8080,
        0x7f_ffff,
    ];
    let value = match (choice % 16, last) {
        (0..4, _) => table[(more % table.len() as u64) as usize],
        (4..7, _) => (more % 80).wrapping_sub(8),
        (7, _) => 1 << (more % bits),
        (8..10, Some(last)) => near(last, choice, more),
        (..13, _) => more >> ((choice >> 8) % bits),
        _ => more,
    };
    value & mask
}

fn float(mantissa: u64, exponent: u64, choice: u64, more: u64, last: Option<u64>) -> u64 {
    let ones = (1u64 << exponent) - 1;
    let bias = ones >> 1;
    let fraction = (1u64 << mantissa) - 1;
    let infinity = ones << mantissa;
    let top = mantissa + exponent;
    let value = match (choice % 16, last) {
        (0..4, _) => {
            let one = bias << mantissa;
            let quiet = infinity | (fraction + 1) >> 1;
            let mut table = vec![
                0,
                1,
                fraction,
                fraction + 1,
                fraction + 2,
                infinity - 1,
                infinity,
                infinity + 1,
                infinity | fraction,
                quiet,
                quiet | 5,
                one,
                one + 1,
                one - 1,
                (bias + 1) << mantissa,
                (bias - 1) << mantissa,
                fraction >> 1,
                one | fraction,
                one | (fraction + 1) >> 1,
                (bias + mantissa) << mantissa | 1,
            ];
            let powers = |list: &'static [u64]| list.iter().filter(move |&&e| e <= bias);
            table.extend(powers(&[7, 8, 15]).map(|e| (bias + e) << mantissa));
            let around = |e: &u64| [((bias + e) << mantissa) - 1, (bias + e) << mantissa];
            table.extend(powers(&[31, 32, 63, 64]).flat_map(around));
            table[(more % table.len() as u64) as usize]
        }
        (4..6, Some(last)) => near(last, choice, more) & (infinity | fraction),
        (..9, _) => (bias + (choice >> 8) % 17 - 8) << mantissa | more & fraction,
        // A number of few bits, so that ties and exact results come about.
        (9..11, _) => {
            let shift = (choice >> 16) % (mantissa + 1);
            let power = bias + (choice >> 8) % (mantissa + 4);
            power << mantissa | (more & fraction) >> shift << shift
        }
        (11, _) => ((choice >> 8) % 3) << mantissa | more & fraction,
        _ => return more & (u64::MAX >> (63 - top)),
    };
    value | more >> 63 << top
}
