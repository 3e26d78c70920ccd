//! Recurrences of several sums an iteration, which become shorter, with what is fused and handed on
//! beside: random loops against the interpreter, and the intervals that come out.

use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::config::{Opcode, Package};
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, setting};
use crate::machine::{compile, compile_without};

/// Elements of each array.
const ELEMENTS: u32 = 64;

/// The arrays: type, sign and bits.
const ARRAYS: [(&str, char, u32); 4] = [
    ("const int16_t", 's', 16),
    ("const int16_t", 's', 16),
    ("int32_t", 's', 32),
    ("int8_t", 's', 8),
];

fn term(rng: &mut Rng) -> String {
    let of = rng.below(2);
    match rng.below(11) {
        0 => format!("a{of}[i + {}] * {}", rng.below(9), rng.below(80) as i64 - 40),
        1 => format!("(-(a0[i + {}] * a1[i]) >> {})", rng.below(4), 1 + rng.below(15)),
        2 => format!("-(a0[i] * a1[(p >> {}) & 31])", 20 + rng.below(8)),
        3 => format!("a{of}[((p >> 27) + {}) & 31]", rng.below(20)),
        4 => format!("(int16_t)(a0[i] * a1[p >> 27] >> {})", 10 + rng.below(6)),
        5 => format!("line[i + {}] * a{of}[{}]", rng.below(8), rng.below(40)),
        6 => format!("wide[i + {}]", rng.below(8)),
        7 => "n".into(),
        8 => format!("{}", rng.below(2000) as i64 - 1000),
        _ => format!("a{of}[i + {}]", rng.below(9)),
    }
}

/// Several operations of a kind that change a variable, some of which others see in between.
fn chain(rng: &mut Rng, of: &str, other: &str) -> String {
    let mut text = String::new();
    let kind = rng.below(8);
    for _ in 0..2 + rng.below(6) {
        if rng.below(4) == 0 {
            let _ = write!(text, " if ({} > {})", term(rng), rng.below(200) as i64 - 100);
        }
        let term = term(rng);
        let _ = match kind {
            0 => write!(text, " {of} ^= {term};"),
            1 => write!(text, " {of} = {of} < {term} ? {of} : {term};"),
            2 => write!(text, " {of} = {term} > {of} ? {term} : {of};"),
            3 if rng.below(2) == 0 => write!(text, " {of} = {term} - {of};"),
            _ if rng.below(3) == 0 => write!(text, " {of} -= {term};"),
            _ => write!(text, " {of} += {term};"),
        };
        let _ = match rng.below(5) {
            0 => write!(text, " {other} += {of};"),
            1 => write!(text, " a2[i + {}] = {of};", rng.below(4)),
            2 => write!(text, " {other} -= {of} >> 3;"),
            _ => Ok(()),
        };
    }
    text
}

fn function(body: &str) -> String {
    let mut text = String::from(
        "#include <stdint.h>\nstatic int16_t line[80];\nstatic int32_t wide[80];\nint f(int n",
    );
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text + &format!(
        ")\n{{\n    int32_t s = n, t = 7, u = 5;\n    uint32_t p = 12345;\n{body}    return s ^ t ^ u ^ p;\n}}\n"
    )
}

fn source(rng: &mut Rng) -> String {
    let mut body = String::new();
    for _ in 0..1 + rng.below(2) {
        let _ = writeln!(body, "    for (int i = 0; i < {}; i++) {{", 16 + rng.below(32));
        let names = [["s", "t"], ["t", "u"], ["u", "s"]];
        for of in &names[..1 + rng.below(3) as usize] {
            let _ = writeln!(body, "       {}", chain(rng, of[0], of[1]));
        }
        if rng.below(2) == 0 {
            let _ = writeln!(body, "        line[i + {}] = {};", 4 + rng.below(6), term(rng));
        }
        if rng.below(3) == 0 {
            let _ = writeln!(body, "        wide[i + {}] = s;", 4 + rng.below(6));
        }
        let _ = writeln!(body, "        p += {}u;\n    }}", rng.below(1 << 31));
    }
    function(&body)
}

/// The packages of a function with and without the pass, an iteration at a time, which leave behind what
/// the function leaves on the interpreter.
fn agreed(source: &str, seed: u64) -> Result<[Vec<Package>; 2], String> {
    let (module, func) = common::compile(Path::new("sums.c"), source, Some("f"))?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    let whole = compile(&module, func, OptLevel::O2)?;
    let with = compile_without("jam", &module, func)?;
    let without = compile_without("jam,reassociate", &module, func)?;
    for program in [&whole, &with, &without] {
        compared((&module, func), program, &[seed % 45], &arrays)?;
    }
    Ok([with.packages, without.packages])
}

fn intervals(packages: &[Package]) -> Vec<u16> {
    packages.iter().map(|package| package.ii).collect()
}

#[test]
fn random_recurrences_are_what_they_mean() {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 40));
    let (mut wrong, mut shorter, mut longer) = (Vec::new(), 0, 0);
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok([with, without]) if with.len() == without.len() => {
                let pairs = || intervals(&with).into_iter().zip(intervals(&without));
                shorter += u64::from(pairs().any(|(with, without)| with < without));
                longer += u64::from(pairs().any(|(with, without)| with > without));
            }
            Ok(_) => {}
            Err(what) => wrong.push(format!("seed {seed}: {what}\n{source}")),
        }
    }
    let shown = wrong[..wrong.len().min(3)].join("\n");
    assert!(wrong.is_empty(), "{} of {cases} are wrong\n{shown}", wrong.len());
    assert!(shorter * 8 >= cases, "{shorter} of {cases} have a shorter interval");
    assert_eq!(longer, 0, "intervals that are longer");
}

/// The interval of the only loop of a function with and without the pass.
fn shortened(body: &str) -> [u16; 2] {
    let source = function(&format!("for (int i = 0; i < 40; i++) {{ {body} }}\n"));
    agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}")).map(|packages| {
        let [package] = &packages[..] else { panic!("{} loops on arrays", packages.len()) };
        package.ii
    })
}

#[test]
fn recurrences_of_sums_are_as_short_as_resources_allow() {
    for (body, expected) in [
        ("s += a0[i]; s += a1[i]; s -= a0[i + 1]; s += a1[i + 2];", [1, 4]),
        // What others see in between stays.
        ("s += a0[i]; t ^= s; s += a1[i]; t ^= s; s -= a0[i + 1]; a2[i] = s;", [1, 3]),
        ("s -= a0[i]; s -= a1[i]; s -= a0[i + 1];", [1, 3]),
        ("s ^= a0[i]; s ^= a1[i]; s ^= a0[i + 1];", [1, 3]),
        // One law at a time.
        ("s ^= a0[i]; s += a1[i]; s ^= a0[i + 1]; s += a1[i + 1];", [4, 4]),
        // Subtracted from: the sign of what came before changes.
        ("s = a0[i] - s; s = a1[i] - s;", [2, 2]),
        // The bit that says how two words compare is no sum.
        ("s += a0[i]; s += s > 90 ? -50 : 3; s += a1[i];", [4, 5]),
        // What is added on some ways only is zero on the others.
        ("if (a0[i] > 3) s += a1[i]; if (a1[i] > 5) s -= a0[i];", [1, 4]),
        ("if (a0[i] > 3) if (a1[i] > 9) s ^= a0[i + 1]; s ^= a1[i];", [1, 4]),
        // A choice around two sums stays.
        ("if (a0[i] > 3) { s ^= a1[i]; if (a0[i] > 9) s ^= a0[i + 1]; }", [2, 4]),
        ("s = a0[i] > 3 ? s : s | a1[i]; if (a1[i] > 5) s |= 16;", [1, 4]),
        ("if (a0[i] > 3) s &= a1[i] | 7; if (a0[i] > 5) s &= a0[i + 1] | 3;", [1, 4]),
        // Nothing that is added to it makes what is subtracted from.
        ("if (a0[i] > 3) s = a1[i] - s;", [2, 2]),
    ] {
        assert_eq!(shortened(body), expected, "{body}");
    }
}

/// How many contexts of each of these operations the only loop of a function has.
fn counts(body: &str, ops: &[Opcode]) -> Vec<usize> {
    let source = function(&format!("for (int i = 0; i < 40; i++) {{ {body} }}\n"));
    let [packages, _] = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
    let [package] = &packages[..] else { panic!("{} loops on arrays", packages.len()) };
    let count = |&op| package.contexts.iter().filter(|placed| placed.context.op == op).count();
    ops.iter().map(count).collect()
}

#[test]
fn products_with_constants_and_negated_ones_are_one_operation() {
    use Opcode::{Cmsub, LSftS, MultS, RFa, Sub};
    for (body, ops, expected) in [
        ("a2[i] = a0[i] * 7 + n;", vec![MultS, RFa], vec![0, 1]),
        ("a2[i] = n - a0[i] * 7;", vec![MultS, RFa, Sub], vec![0, 1, 0]),
        ("a2[i] = a0[(p >> 27) & 31]; p += 99999999u;", vec![LSftS, RFa], vec![0, 1]),
        ("a2[i] = -(a0[i] * a1[i]) >> 15;", vec![Cmsub, MultS, Sub], vec![1, 0, 0]),
        ("a2[i] = -(a0[i] * a1[i]);", vec![Cmsub, MultS, Sub], vec![1, 0, 0]),
        // Who else reads the factors needs their signs.
        ("a2[i] = -(a0[i] * a1[i]) + (a0[i] ^ a1[i]);", vec![Cmsub, MultS], vec![0, 1]),
        // The product is needed itself.
        ("s = a0[i] * a1[i]; a2[i] = -s;", vec![Cmsub, MultS, Sub], vec![0, 1, 1]),
    ] {
        assert_eq!(counts(body, &ops), expected, "{body}");
    }
}

#[test]
fn what_begins_as_zero_is_handed_on_however_long() {
    use Opcode::{Load, Store};
    for (body, expected) in [
        ("line[i + 9] = a0[i]; a2[i] = line[i] * 3 + line[i + 4] + line[i + 9];", [1, 1]),
        ("line[i + 7] = a0[i]; a2[i] = line[i] + line[i + 1];", [1, 1]),
        // Another store to the same elements.
        ("line[i + 9] = a0[i]; line[40] = 3; a2[i] = line[i] + line[i + 4];", [3, 3]),
        // Not in each iteration.
        ("if (a0[i] > 5) line[i + 9] = a0[i]; a2[i] = line[i] + line[i + 4];", [2, 2]),
    ] {
        assert_eq!(counts(body, &[Load, Store]), expected, "{body}");
    }
}
