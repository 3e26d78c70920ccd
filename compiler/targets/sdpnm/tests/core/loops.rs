//! Random loops on arrays: C functions of loops with dependences of several distances, narrow types,
//! branches, reductions and aliases of one array, divided and on the core alone, against the
//! interpreter. Many of them must come to run on an array.

use std::fmt::Write;
use std::path::Path;

use nbcc_interp::function::{self, Given, TrapKind};
use nbcc_ir::{Func, IntType, Module};
use nbcc_isa_sdpnm::config::{Opcode, Package};
use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::{Artifact, Emit, OptLevel};
use nbcc_sim_sdpnm::{Fault, Stopped};
use nbcc_testing::Rng;

use crate::common;
use crate::common::runs::{Array, Random};
use crate::machine::{compile, compile_for, compile_without, run};

/// Elements of each array.
const ELEMENTS: u32 = 48;

/// The arrays: type, sign and bits.
const ARRAYS: [(&str, char, u32); 6] = [
    ("int32_t", 's', 32),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
    ("uint16_t", 'u', 16),
    ("int8_t", 's', 8),
    ("uint8_t", 'u', 8),
];

fn pick<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u64) as usize]
}

/// An element near that of the counter.
fn element(rng: &mut Rng) -> String {
    let array = rng.below(ARRAYS.len() as u64);
    let at = match rng.below(10) {
        0 => "2 * i".to_string(),
        1 => format!("{}", rng.below(ELEMENTS.into())),
        2 => "n".to_string(),
        _ => format!("i + {}", rng.below(5)),
    };
    format!("a{array}[{at}]")
}

fn expression(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return match rng.below(8) {
            0 => "i".to_string(),
            1 => "n".to_string(),
            2 => format!("{}", rng.below(200) as i64 - 100),
            3 => "@s".to_string(),
            4 => "@t".to_string(),
            5 => "70000".to_string(),
            _ => element(rng),
        };
    }
    let (a, b) = (expression(rng, depth - 1), expression(rng, depth - 1));
    match rng.below(12) {
        0 => format!("({a} * {b})"),
        1 => format!("({a} >> {})", rng.below(16)),
        2 => format!("({a} << {})", rng.below(8)),
        3 => format!("({a} < {b} ? {b} : {a})"),
        4 => format!("({} ? {a} : {b})", condition(rng, 0)),
        5 => format!("(int16_t)({a})"),
        6 => format!("((uint32_t)({a}) >> {})", rng.below(31)),
        7 => format!("({a} {} {b})", pick(rng, &["&", "|", "^"])),
        8 => format!("(uint8_t)({a})"),
        9 => format!("((({a}) * ({b})) >> {})", 1 + rng.below(15)),
        _ => format!("({a} {} {b})", pick(rng, &["+", "-"])),
    }
}

fn condition(rng: &mut Rng, depth: u32) -> String {
    let (a, b) = (expression(rng, depth), expression(rng, depth));
    let one = format!("{a} {} {b}", pick(rng, &["<", "<=", ">", ">=", "==", "!="]));
    match rng.below(5) {
        0 => format!("({one} && {} != 3)", expression(rng, 0)),
        1 => format!("({one} || {} > 5)", expression(rng, 0)),
        2 => format!("((uint32_t){a} < (uint32_t){b})"),
        _ => one,
    }
}

fn statement(rng: &mut Rng, depth: u32) -> String {
    let depth_of_value = 1 + rng.below(2) as u32;
    let value = expression(rng, depth_of_value);
    match rng.below(11) {
        0 => {
            let products = (0..2 + rng.below(4)).map(|tap| {
                let sign = pick(rng, &["+", "+", "-"]);
                let factor = match rng.below(4) {
                    0 => format!("{}", rng.below(90) as i64 - 45),
                    1 => format!("a2[{} - i]", 40 - tap),
                    _ => format!("a2[{tap} + 3]"),
                };
                format!(" {sign} a2[i + {tap}] * {factor}")
            });
            let products: String = products.collect();
            format!("{} = {value}{products};", element(rng))
        }
        1 => format!("@s += {value};"),
        2 => format!("@t = {value};"),
        3 => format!("@s = {value};"),
        4 if depth > 0 => {
            let (then, other) = (statement(rng, depth - 1), statement(rng, depth - 1));
            format!("if ({}) {{ {then} }} else {{ {other} }}", condition(rng, 1))
        }
        5 if depth > 0 => {
            let then = statement(rng, depth - 1);
            format!("if ({}) {{ {then} }}", condition(rng, 0))
        }
        6 => format!("{} += {value};", element(rng)),
        7 if depth > 0 => {
            let arms = (0..5 + rng.below(5)).map(|case| {
                let end = pick(rng, &["break;", "break;", ""]);
                format!("case {case}: {} {end} ", statement(rng, 0))
            });
            let arms: String = arms.collect();
            format!("switch ({value} & 7) {{ {arms}default: {} }}", statement(rng, 0))
        }
        _ => format!("{} = {value};", element(rng)),
    }
}

/// A function of a loop or two, the second sometimes as long as the first or twice as long, and with
/// sums of its own.
fn source(rng: &mut Rng) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text.push_str(")\n{\n    int32_t s = n, t = 7, u = 5, v = n;\n");
    let rounds = 8 + rng.below(7);
    for (is_second, sums) in [(false, ["s", "t"]), (true, ["u", "v"])] {
        if is_second && rng.below(3) == 0 {
            break;
        }
        let (first, kind) = (rng.below(3), rng.below(12));
        let head = match kind {
            6.. => {
                let times = if kind < 9 { 1 } else { 2 };
                format!("for (int i = {first}; i < {}; i++)", first + times * rounds)
            }
            0 => format!("for (int i = {}; i >= {first}; i--)", 20 + rng.below(8)),
            1 => format!("for (unsigned i = {first}; i < (unsigned)(n & 31); i += 3)"),
            2 => format!("for (long i = {first}; i < n % 40; i++)"),
            3 => format!("for (int i = {first}; i <= {}; i += 2)", 20 + rng.below(26)),
            _ => format!("for (int i = {first}; i < {}; i++)", 18 + rng.below(8)),
        };
        let _ = writeln!(text, "    {head} {{");
        let sums = if rng.below(4) == 0 { ["s", "t"] } else { sums };
        for _ in 0..1 + rng.below(4) {
            let line = statement(rng, 1).replace("@s", sums[0]).replace("@t", sums[1]);
            let _ = writeln!(text, "        {line}");
        }
        text.push_str("    }\n");
    }
    text + "    return s ^ t ^ u ^ v;\n}\n"
}

/// Arrays of so many elements of each of the types, as parameters behind others.
pub fn parameters(types: &[(&str, char, u32)], elements: u32) -> String {
    let numbered = types.iter().enumerate();
    numbered.map(|(number, (ty, ..))| format!(", {ty} a{number}[{elements}]")).collect()
}

/// A function of a body, on two numbers and such arrays, that counts in `t` what it gives.
pub fn with_body(types: &[(&str, char, u32)], elements: u32, body: &str) -> String {
    let parameters = parameters(types, elements);
    format!(
        "#include <stdint.h>\nint f(int n, int m{parameters}) {{ int t = 0; {body} return t; }}"
    )
}

/// Arrays of so many elements of each of the types, filled at random.
pub fn filled(types: &[(&str, char, u32)], elements: u32, seed: u64) -> Vec<Array> {
    let array = |(number, &(_, sign, bits)): (usize, &(&str, char, u32))| {
        let mut random = Random(seed + number as u64);
        Array {
            name: format!("a{number}"),
            ty: IntType::from_name(&format!("{sign}{bits}")).expect("a type"),
            extents: vec![elements],
            bytes: random.fill(elements.into(), bits as usize / 8, sign == 's', -1),
        }
    };
    types.iter().enumerate().map(array).collect()
}

fn arrays(seed: u64) -> Vec<Array> {
    filled(&ARRAYS, ELEMENTS, seed)
}

/// Whether a program of a function leaves behind what the function leaves on the interpreter.
pub fn compared(
    (module, func): (&Module, Func),
    program: &CoreProgram,
    scalars: &[u64],
    arrays: &[Array],
) -> Result<(), String> {
    let given: Vec<Given<'_>> = arrays
        .iter()
        .map(|array| Given { extents: array.extents.clone(), bytes: &array.bytes })
        .collect();
    let should = function::call(module, func, scalars, &given, &Default::default());
    match (should, run(program, scalars, arrays)) {
        (Ok(should), Ok(ran)) => {
            let is = (ran.returned.result, ran.returned.arrays);
            let should = (should.result, should.arrays);
            if is != should {
                let number = is.1.iter().zip(&should.1).position(|(is, should)| is != should);
                let (is, should) = (is.0, should.0);
                return Err(format!("{is:x?} for {should:x?}, array {number:?}"));
            }
            Ok(())
        }
        // What ends the run does so on both.
        (Err(trap), Err(Fault::Trap { what, .. })) => match is_same_end(&trap.kind, &what) {
            true => Ok(()),
            false => Err(format!("the interpreter ended with {trap}, not with {what:?}")),
        },
        (Err(trap), Ok(_)) => Err(format!("the interpreter ended with {trap}")),
        (_, Err(fault)) => Err(format!("{fault:?}")),
    }
}

fn is_same_end(should: &TrapKind, is: &Stopped) -> bool {
    match (should, is) {
        (
            TrapKind::OutOfBounds { mem, subscripts, extents },
            Stopped::Outside { name, subscripts: at, extents: of },
        ) => (mem, subscripts, extents) == (name, at, of),
        (TrapKind::OutOfBounds { .. }, _) | (_, Stopped::Outside { .. }) => false,
        _ => true,
    }
}

/// The program of a function that does what the function does on the interpreter, for several scalars.
pub fn agreed_for<const N: usize>(
    source: &str,
    scalars: impl IntoIterator<Item = [u64; N]>,
    arrays: &[Array],
) -> Result<CoreProgram, String> {
    let (module, func) = common::compile(Path::new("f.c"), source, Some("f"))?;
    let program = compile(&module, func, OptLevel::O2)?;
    for scalars in scalars {
        compared((&module, func), &program, &scalars, arrays)
            .map_err(|what| format!("{scalars:?}: {what}"))?;
    }
    Ok(program)
}

/// Whether an array ran something of a function, which left behind what it leaves on the interpreter.
fn agreed(source: &str, seed: u64) -> Result<bool, String> {
    let program = agreed_for(source, [[seed % 45]], &arrays(seed))?;
    Ok(!program.packages.is_empty())
}

pub fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Random programs that agree with the interpreter; one of `share` comes to an array at least.
pub fn random_programs(
    source: impl Fn(&mut Rng) -> String,
    agreed: impl Fn(&str, u64) -> Result<CoreProgram, String>,
    share: u64,
) {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 40));
    let mut on_array = 0;
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok(program) => on_array += u64::from(!program.packages.is_empty()),
            Err(what) => panic!("seed {seed}: {what}\n{source}"),
        }
    }
    assert!(on_array * share >= cases, "only {on_array} of {cases} came to an array");
}

#[test]
fn random_loops_do_on_arrays_what_they_mean() {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 60));
    let mut on_array = 0;
    let mut wrong = Vec::new();
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok(ran) => on_array += u64::from(ran),
            Err(what) => wrong.push(format!("seed {seed}: {what}\n{source}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {cases} are wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
    assert!(on_array * 4 >= cases, "{on_array} of {cases} came to an array");
}

/// The program of a function that does on the machine what it does on the interpreter, for arguments
/// from 0 on, an iteration at a time, and the loads and stores of each of its loops on arrays.
fn accesses(source: &str, arguments: u64) -> Vec<[usize; 2]> {
    let (module, func) = common::compile(Path::new("loops.c"), source, Some("f")).expect("C");
    let program = compile_without("jam", &module, func).expect("a program");
    for n in 0..arguments {
        let arrays = arrays(n);
        let given: Vec<Given<'_>> = arrays
            .iter()
            .map(|array| Given { extents: array.extents.clone(), bytes: &array.bytes })
            .collect();
        let should = function::call(&module, func, &[n], &given, &Default::default());
        let (should, ran) =
            (should.expect("no trap"), run(&program, &[n], &arrays).expect("it runs"));
        let is = (ran.returned.result, ran.returned.arrays);
        assert_eq!(is, (should.result, should.arrays), "for {n}\n{source}");
    }
    let count = |package: &Package, op: Opcode| {
        package.contexts.iter().filter(|placed| placed.context.op == op).count()
    };
    let of = |package| [count(package, Opcode::Load), count(package, Opcode::Store)];
    program.packages.iter().map(of).collect()
}

/// A function with these statements in it, of which arrays are parameters.
fn function_of(body: &str) -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text + &format!(")\n{{\n    int s = 0;\n    {body}\n    return s;\n}}\n")
}

/// A loop for as many iterations as arguments say.
fn loop_of(body: &str) -> String {
    function_of(&format!("for (int i = 0; i < n; i++) {{ {body} }}"))
}

#[test]
fn loads_hand_their_elements_on() {
    for (body, expected) in [
        ("a1[i] = a0[i] + a0[i + 1] * 3 + a0[i + 2] + a0[i + 3];", [1, 1]),
        ("a1[i] = a0[30 - i] - a0[29 - i] * 5 + a0[28 - i];", [1, 1]),
        ("a1[i] = a2[i] * a2[i + 1] - a2[i + 2];", [1, 1]),
        // Steps of two: odd and even elements are two families.
        ("a1[i] = a0[2 * i] + a0[2 * i + 1] + a0[2 * i + 2] + a0[2 * i + 3];", [2, 1]),
        // Under a condition as well.
        ("if (a4[i] > 0) s += a0[i]; else s -= a0[i + 2];", [2, 0]),
    ] {
        assert_eq!(accesses(&loop_of(body), 18), [expected], "{body}");
    }
}

#[test]
fn elements_that_are_stored_in_between_are_loaded_again() {
    for (body, expected) in [
        // Stored behind all loads of the element: they agree. Before: the first load finds it.
        ("s += a0[i] * 5 + a0[i + 1] + a0[i + 2]; a0[i] = s;", [1, 1]),
        ("a0[i + 2] = a1[i] + 3; s += a0[i] ^ a0[i + 1];", [2, 1]),
        // In between, always or under a condition.
        ("s += a0[i] * 5 + a0[i + 2]; a0[i + 1] = s;", [1, 1]),
        ("s += a0[i] * 5 + a0[i + 2]; if (s & 1) a0[i + 1] = s;", [2, 1]),
        ("s += a0[i] * 5 + a0[i + 1]; a0[a5[i] & 31] = s;", [3, 1]),
    ] {
        assert_eq!(accesses(&loop_of(body), 18), [expected], "{body}");
    }
}

#[test]
fn stored_values_are_handed_on() {
    for (body, expected) in [
        ("a0[i + 1] = a0[i] + a1[i];", [1, 1]),
        // Narrow ones are what a load would make of them.
        ("a2[i + 1] = a2[i] * 3 + 7;", [0, 1]),
        ("a5[i + 1] = a5[i] * 3 - 7;", [0, 1]),
        ("a2[i] = a1[i]; s += a2[i] * 3;", [1, 1]),
        ("a3[i] = a1[i]; s += a3[i] * 3;", [1, 1]),
        // Not where the store may not run.
        ("if (a1[i] > 0) a0[i + 1] = a0[i] + 5;", [2, 1]),
    ] {
        assert_eq!(accesses(&loop_of(body), 18), [expected], "{body}");
    }
}

/// A function whose first iterations look at nothing before them, each known by another question.
fn bordered(guard: &str, back: u32) -> String {
    function_of(&format!(
        "for (int y = 0; y < 6; y++) for (int x = 0; x < 7; x++)
         a0[y * 7 + x] = a1[y * 7 + x] + ({guard} ? a0[y * 7 + x - {back}] : n);"
    ))
}

#[test]
fn iterations_that_look_at_nothing_before_them_stand_before_their_loop() {
    for (guard, back) in
        [("y > 0", 7), ("y", 7), ("y - 1 >= 0", 7), ("!(y == 0)", 7), ("y > 0 && x > 0", 8)]
    {
        let source = bordered(guard, back);
        let (module, func) = common::compile(Path::new("loop.c"), &source, Some("f")).unwrap();
        let program = compile(&module, func, OptLevel::O2).unwrap();
        let arrays = arrays(5);
        compared((&module, func), &program, &[3], &arrays)
            .unwrap_or_else(|what| panic!("{what}\n{source}"));
        let ran = run(&program, &[3], &arrays).expect("it runs");
        assert!(ran.statistics.count("arrays.starts") > 0, "{source}");
    }
    // What is outside ends the run where it did.
    let source = bordered("y < 2", 7);
    let (module, func) = common::compile(Path::new("loop.c"), &source, Some("f")).unwrap();
    let program = compile(&module, func, OptLevel::O2).unwrap();
    compared((&module, func), &program, &[3], &arrays(5)).unwrap();
}

#[test]
fn what_is_only_in_order_is_mapped_all_the_same() {
    // A network that sorts eight, of which each access is in order with many others.
    let network = [
        (0, 1),
        (2, 3),
        (4, 5),
        (6, 7),
        (0, 2),
        (1, 3),
        (4, 6),
        (5, 7),
        (1, 2),
        (5, 6),
        (0, 4),
        (3, 7),
        (1, 5),
        (2, 6),
        (1, 4),
        (3, 6),
        (2, 4),
        (3, 5),
        (3, 4),
    ];
    let step = |(a, b)| {
        format!(
            "if (a0[8 * i + {a}] > a0[8 * i + {b}]) {{ int32_t t = a0[8 * i + {a}]; a0[8 * i + {a}] = a0[8 * i + {b}]; a0[8 * i + {b}] = t; }}\n"
        )
    };
    let steps: String = network.map(step).concat();
    assert_eq!(accesses(&loop_of(&steps), 7).len(), 1);
}

#[test]
fn factors_side_by_side_are_loaded_at_once() {
    for (body, expected) in [
        ("a1[i] = 7 + a2[i] * a2[40] + a2[i + 1] * a2[41];", [1, 1]),
        ("a1[i] = a2[2 * i] * a2[2 * i] - a2[2 * i + 1] * a2[2 * i + 1];", [1, 1]),
        ("a1[i] = a2[30 - i] * a2[41] + a2[31 - i] * a2[40] + a2[29 - i] * 5;", [1, 1]),
        // Results are found behind what is put together.
        ("a1[i] = a2[i] * a2[40] + a2[i + 1] * a2[41]; s += a0[i];", [2, 1]),
        // Each by itself, as halves of one load.
        ("a1[i] = (a2[2 * i] * 3 >> 2) ^ (a2[2 * i + 1] * 5 >> 1);", [1, 1]),
        // What is stored in between is loaded by itself, what follows the store at once.
        ("a1[i] = a2[i] * 3; a2[a5[i] & 31] = i; s += a2[i] * 3 + a2[i + 1] * 5;", [3, 2]),
    ] {
        assert_eq!(accesses(&loop_of(body), 18), [expected], "{body}");
    }
}

#[test]
fn loops_that_feed_each_other_are_merged() {
    let (first, second) = ("for (int i = 0; i < 20; i++)", "for (int j = 0; j < 20; j++)");
    for (body, expected) in [
        // One array is read an element later, one not at all but by the second loop.
        (format!("{first} a1[i] = a0[i] * 3; {second} s += a1[j];"), vec![[1, 1]]),
        (
            format!("static int t[20]; {first} t[i] = a0[i] * 3; {second} a1[j] = t[j] + n;"),
            vec![[1, 1]],
        ),
        (
            format!("int t[90]; {first} t[i] = a0[i]; for (int j = 1; j < 21; j++) s += t[j - 1];"),
            vec![[1, 0]],
        ),
        // Twice as often as the other.
        (
            "for (int i = 0; i < 40; i++) a1[i] = a0[i] + 1;
             for (int j = 0; j < 20; j++) a2[j] = a1[2 * j] - a1[2 * j + 1];"
                .to_string(),
            vec![[2, 3]],
        ),
        (
            "for (int i = 0; i < 20; i++) a1[i] = a0[i] + 1;
             for (int j = 0; j < 40; j++) a2[j] = a0[j];"
                .to_string(),
            vec![[3, 3]],
        ),
        // What is loaded between them is loaded before, where the first does not store to it.
        (
            format!("{first} a1[i] = a0[i] * 3; int c = a5[3]; {second} s += a1[j] * c;"),
            vec![[1, 1]],
        ),
        (
            format!("{first} a1[i] = a0[i] * 3; int c = a1[3]; {second} s += a1[j] * c;"),
            vec![[1, 1], [1, 0]],
        ),
        // What the first makes and the second changes, before it or behind it.
        (format!("{first} a1[i] = a0[i]; {second} a1[j + 1] = a0[j + 1] + 9;"), vec![[1, 1]; 2]),
        (format!("{first} a1[i + 1] = a0[i]; {second} a1[j] = a0[j + 1] + 9;"), vec![[1, 2]]),
        // The second needs what only the whole first one makes.
        (format!("{first} a1[i] = a0[i]; {second} s += a1[j + 1];"), vec![[1, 1], [1, 0]]),
        (format!("{first} s += a0[i]; {second} a1[j] = a0[j] * s;"), vec![[1, 0], [1, 1]]),
        // What may end the run stays where it is.
        (format!("{first} a1[i] = a0[i]; {second} s += a1[j] + a0[j + n];"), vec![[1, 1], [2, 0]]),
    ] {
        assert_eq!(accesses(&function_of(&body), 4), expected, "{body}");
    }
}

/// Loops of the shape of the paper's Algorithms 1 and 2: one hands values to the next, which hands some
/// to itself.
const MIXER: &str = "
void mixer(const int phase[3], int cic_sin_add[8], int cic_cos_add[8], int out[8])
{
    for (int i = 0; i < 3; i++) {
        cic_sin_add[i + 4] = phase[i] * 3;
        cic_cos_add[i + 4] = phase[i] - 2;
    }
    for (int i = 0; i < 3; i++) {
        cic_sin_add[i + 5] = cic_sin_add[i + 4] + (cic_sin_add[i + 5] << 2);
        out[i] = cic_cos_add[i + 4];
    }
}
";

#[test]
fn dependences_are_listed_as_in_the_paper() {
    let (module, func) = common::compile(Path::new("mixer.c"), MIXER, None).expect("a function");
    let listing = compile_for(&module, func, OptLevel::O2, Emit::Report("ddg"));
    let Ok(Artifact::Text(listing)) = listing else { panic!("{listing:?}") };
    let last = listing.split("--- innerloop = 2 ---").last().expect("a part");
    let expected = "
L1.I1 store5 -> L1.I2 load1 (cic_sin_add + 6)
SM -> L1.I2 load2 (cic_sin_add + 7)
L0.I2 store5 -> L1.I2 load6 (cic_cos_add + 6)
";
    assert_eq!(last.trim(), expected.trim(), "{listing}");
    for line in [
        "### loop0 ###",
        "--- innerloop = 1 ---",
        "load1, shl3 -> iadd4",
        "L0.I0 store3 -> L1.I0 load1 (cic_sin_add + 4)",
        "L0.I1 store3 -> L1.I0 load2 (cic_sin_add + 5)",
        "SM -> L0.I1 load1 (phase + 1)",
    ] {
        assert!(listing.lines().any(|other| other == line), "{line} is missing\n{listing}");
    }
}

/// An element whose number is a sum of the counters `r`, `c` and, in a nest of three, `p`, of as many
/// iterations.
fn element_of_nest(rng: &mut Rng, trips: &[u64]) -> String {
    let mut room = u64::from(ELEMENTS) - 1;
    let mut terms = Vec::new();
    for (counter, &trips) in ["c", "r", "p"].iter().zip(trips) {
        let most = (room / (trips - 1)).min(12);
        let factor = if *counter == "c" { most.min(1 + rng.below(2)) } else { rng.below(most + 1) };
        room -= factor * (trips - 1);
        terms.push(match rng.below(5) {
            0 => format!("{factor} * ({} - {counter})", trips - 1),
            _ => format!("{factor} * {counter}"),
        });
    }
    let array = rng.below(ARRAYS.len() as u64);
    format!("a{array}[{} + {}]", terms.join(" + "), rng.below(room + 1))
}

/// A function of a nest of two or three loops, of which the inner one is long enough to stay.
fn nest(rng: &mut Rng) -> String {
    let trips = [14 + rng.below(20), 2 + rng.below(4), 2 + rng.below(2)];
    let trips = &trips[..2 + rng.below(2) as usize];
    let mut text = function_of("@");
    let mut body = String::from("int t = n;\n");
    if let [.., planes] = trips
        && trips.len() == 3
    {
        let _ = writeln!(body, "for (int p = 0; p < {planes}; p++)");
    }
    let _ = writeln!(body, "for (int r = 0; r < {}; r++) {{", trips[1]);
    let before = match rng.below(3) {
        0 => format!("a1[{} + r]", rng.below(40)),
        1 => "r * 5 - n".to_string(),
        _ => "n".to_string(),
    };
    let _ = writeln!(body, "int b = {before};\nfor (int c = 0; c < {}; c++) {{", trips[0]);
    for _ in 0..2 + rng.below(3) {
        let parts: Vec<String> = (0..3 + rng.below(8))
            .map(|_| match rng.below(8) {
                0 => "b".to_string(),
                1 => "c".to_string(),
                2 => "(r ^ 3)".to_string(),
                3 => format!("({} >> 2)", element_of_nest(rng, trips)),
                4 => format!("({} < b ? b : 9)", element_of_nest(rng, trips)),
                _ => element_of_nest(rng, trips),
            })
            .collect();
        let value = parts.join([" + ", " - ", " * "][rng.below(3) as usize]);
        let _ = match rng.below(5) {
            0 => writeln!(body, "s += {value};"),
            1 => writeln!(body, "t ^= {value};"),
            2 => writeln!(body, "if (({value}) & 1) {} = t;", element_of_nest(rng, trips)),
            _ => writeln!(body, "{} = {value};", element_of_nest(rng, trips)),
        };
    }
    body.push_str("}\n");
    if rng.below(4) == 0 {
        body.push_str("t += b;\n");
    }
    body.push_str("}\ns ^= t;\n");
    text = text.replace('@', &body);
    text
}

#[test]
fn random_nests_do_on_arrays_what_they_mean() {
    let (mut wrong, mut on_array) = (Vec::new(), 0);
    let cases = setting("NBCC_FUZZ_CASES", 30);
    let first = setting("NBCC_FUZZ_SEED", 1);
    for seed in first..first + cases {
        let source = nest(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok(ran) => on_array += u64::from(ran),
            Err(what) => wrong.push(format!("seed {seed}: {what}\n{source}")),
        }
    }
    let shown = wrong[..wrong.len().min(3)].join("\n");
    assert!(wrong.is_empty(), "{} of {cases} are wrong\n{shown}", wrong.len());
    assert!(on_array * 4 >= cases, "{on_array} of {cases} came to an array");
}

/// How often the only loop on arrays of a function is started, be it in parts.
fn starts(body: &str) -> u64 {
    let source = function_of(body);
    let (module, func) = common::compile(Path::new("loops.c"), &source, Some("f")).expect("C");
    assert_eq!(agreed(&source, 3), Ok(true), "{source}");
    let program = compile(&module, func, OptLevel::O2).expect("a program");
    let ran = run(&program, &[3], &arrays(3)).expect("it runs");
    ran.statistics.count("arrays.starts") / program.packages.len() as u64
}

#[test]
fn nests_start_an_array_once() {
    // Too long to be unrolled.
    let long = "a0[c + r] * a3[c + 17] + a2[c + 5] * a3[c] - a4[c + 2 * r] * a5[40 - c]";
    let inner = |value: &str| format!("for (int c = 0; c < 30; c++) {{ {value} }}");
    let nest = |body: &str| format!("for (int r = 0; r < 5; r++) {{ {body} }}");
    for (body, expected) in [
        (nest(&inner(&format!("a1[c + 3 * r] = {long};"))), 1),
        (nest(&inner(&format!("s += {long};"))), 1),
        // What is loaded before the inner loop, and not stored to.
        (nest(&format!("int b = a5[r];{}", inner(&format!("s += {long} + b;")))), 1),
        // What a row leaves in memory, the next ones may load.
        (nest(&format!("int b = 0; {} a0[r] = b;", inner(&format!("b += {long};")))), 5),
        // What is loaded in each row may have been stored to.
        (nest(&format!("int b = a1[r]; {}", inner(&format!("a1[c] = {long} + b;")))), 5),
    ] {
        assert_eq!(starts(&body), expected, "{body}");
    }
}

#[test]
fn loops_that_are_too_much_unrolled_are_not() {
    // What an iteration stores the next one may load: all of them take 80 cycles one after the other.
    let body =
        "for (int k = 0; k < 3; k++) for (int i = 0; i < 3; i++) for (int j = 0; j < 16; j++) {
        int32_t way = a0[i * 16 + k] + a0[k * 16 + j];
        if (way < a0[i * 16 + j]) a0[i * 16 + j] = way;
    }";
    assert!(starts(body) > 0);
    // Here no array runs the inner loop either, which is unrolled after all.
    let body = "for (int i = 0; i < 3; i++) for (int j = 0; j < 12; j++) {
        a0[i * 12 + j] = a0[i * 12 + j] / (a1[j] | 1);
    }";
    assert_eq!(agreed(&function_of(body), 3), Ok(false));
}

#[test]
fn two_branches_behind_each_other_are_conditions() {
    let body = "int v = a0[i]; v = v < 0 ? v >> 3 : v; v >>= 2;
                a4[i] = v > 127 ? 127 : v < -128 ? -128 : v;";
    assert_eq!(accesses(&loop_of(body), 30).len(), 1);
}
