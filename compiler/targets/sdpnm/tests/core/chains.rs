//! Nests whose trips are known at run time only, as one loop: random ones against the interpreter, how
//! often arrays are started, and what stays as it is.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::OptLevel;
use nbcc_testing::Rng;

use crate::common;
use crate::loops::{compared, filled, parameters, setting};
use crate::machine::{compile, compile_without, run};

/// Elements of each array.
const ELEMENTS: u32 = 2048;

/// The arrays: type, sign and bits.
const ARRAYS: [(&str, char, u32); 5] = [
    ("const int16_t", 's', 16),
    ("const int8_t", 's', 8),
    ("const uint8_t", 'u', 8),
    ("int32_t", 's', 32),
    ("int16_t", 's', 16),
];

/// What loops run to, by their parameters.
const LIMITS: [&str; 8] = ["n", "m", "k", "n", "m", "k + 1", "n - 1", "k * k"];

fn subscript(rng: &mut Rng, counters: &[&str]) -> String {
    let mut text = format!("{}", 400 + rng.below(4));
    for counter in counters {
        let factor = ["1", "1", "w", "m", "n", "2", "w * k", "(n + 2)", "-1", "0"];
        let factor = factor[rng.below(10) as usize];
        let _ = write!(text, " + {counter} * {factor}");
    }
    text
}

fn value(rng: &mut Rng, counters: &[&str], depth: u32) -> String {
    let array = if rng.below(6) == 0 { 3 + rng.below(2) } else { rng.below(3) };
    let element = format!("a{array}[{}]", subscript(rng, counters));
    if depth == 0 {
        return element;
    }
    let mut other = || value(rng, counters, depth - 1);
    let (one, two) = (other(), other());
    match rng.below(8) {
        0 => format!("({one} > {two} ? {one} : {two})"),
        1 => format!("({one} >> {})", rng.below(9)),
        2 => format!("({one} - {two} * {})", counters[rng.below(counters.len() as u64) as usize]),
        3 => element,
        _ => format!("{one} * {two}"),
    }
}

/// A function of a nest of two to four loops.
fn source(rng: &mut Rng) -> String {
    let counters = &["y", "x", "i", "j"][..2 + rng.below(3) as usize];
    let sums = rng.below(counters.len() as u64) as usize;
    let mut text = function();
    let mut close = String::new();
    for (level, counter) in counters.iter().enumerate() {
        let limit = LIMITS[rng.below(8) as usize];
        let step = [1, 1, 1, 1, 2][rng.below(5) as usize];
        let _ = match rng.below(10) {
            0 => writeln!(
                text,
                "for (int {counter} = {limit}; {counter} > 0; {counter} -= {step}) {{"
            ),
            1 => writeln!(text, "for (long {counter} = 0; {counter} < {limit}; {counter}++) {{"),
            _ => writeln!(
                text,
                "for (int {counter} = 0; {counter} < {limit}; {counter} += {step}) {{"
            ),
        };
        let known = &counters[..=level];
        if level == sums {
            let first = if rng.below(2) == 0 { "0".into() } else { value(rng, known, 0) };
            let _ = writeln!(text, "int32_t s = {first};");
            let to = format!("a{}[{}]", 3 + rng.below(2), subscript(rng, known));
            close = match rng.below(5) {
                0 => format!("{to} += s;\n}}\n{close}"),
                1 => format!("if (s & 1) {to} = s;\n}}\n{close}"),
                2 => format!("t += s;\n}}\n{close}"),
                _ => format!("{to} = s >> 3;\n}}\n{close}"),
            };
        } else {
            close = format!("}}\n{close}");
        }
    }
    let more = value(rng, counters, 1);
    let _ = match rng.below(8) {
        0 => writeln!(text, "if ({more} > s) s = {more};"),
        1 => writeln!(text, "s -= {more}; a3[{}] = s;", subscript(rng, counters)),
        2 => writeln!(text, "a4[{}] += {more};", subscript(rng, &counters[..counters.len() - 1])),
        _ => writeln!(text, "s += {more};"),
    };
    text + &close + "return t;\n}\n"
}

fn function() -> String {
    let mut text = String::from("#include <stdint.h>\nint f(int n, int m, int k, int w");
    text.push_str(&parameters(&ARRAYS, ELEMENTS));
    text + ")\n{\nint t = n;\n"
}

/// Compares a program for several numbers of iterations, among them none and one.
fn agreed(source: &str, seed: u64) -> Result<CoreProgram, String> {
    let (module, func) = common::compile(Path::new("chains.c"), source, Some("f"))?;
    let arrays = filled(&ARRAYS, ELEMENTS, seed);
    let program = compile(&module, func, OptLevel::O2)?;
    let mut rng = Rng::new(seed);
    let mut some = || 2 + rng.below(7);
    let random = [some(), some(), some(), some() + 4];
    for scalars in [[6, 5, 3, 9], [1, 4, 1, 3], [5, 1, 2, 1], [0, 3, 2, 4], [4, 0, 1, 2], random] {
        compared((&module, func), &program, &scalars, &arrays)
            .map_err(|what| format!("{scalars:?}: {what}"))?;
    }
    if seed.is_multiple_of(8) {
        let alone = compile_without("collapse", &module, func)?;
        compared((&module, func), &alone, &random, &arrays)?;
    }
    Ok(program)
}

/// How often arrays are started.
fn starts(program: &CoreProgram, scalars: [u64; 4]) -> u64 {
    let ran = run(program, &scalars, &filled(&ARRAYS, ELEMENTS, 3)).expect("it runs");
    ran.statistics.count("arrays.starts")
}

#[test]
fn random_nests_of_any_trips_do_what_they_mean() {
    let (first, cases) = (setting("NBCC_FUZZ_SEED", 1), setting("NBCC_FUZZ_CASES", 24));
    let mut once = 0;
    for seed in first..first + cases {
        let source = source(&mut Rng::new(seed));
        match agreed(&source, seed) {
            Ok(program) => once += u64::from(starts(&program, [9, 8, 4, 11]) == 1),
            Err(what) => panic!("seed {seed}: {what}\n{source}"),
        }
    }
    assert!(once * 3 >= cases, "only {once} of {cases} nests start an array once");
}

fn nest(body: &str) -> String {
    format!("{}{body}\nreturn t;\n}}\n", function())
}

#[test]
fn nests_of_any_trips_start_an_array_once() {
    for body in [
        // A product of matrices, a filter of rows and columns.
        "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) { int s = 0;
         for (int i = 0; i < k; i++) s += a0[y * k + i] * a1[i * m + x]; a3[y * m + x] = s; }",
        "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) { int s = 1 << 4;
         for (int i = 0; i < k; i++) for (int j = 0; j < k; j++)
         s += a0[(y + i) * (m + k - 1) + x + j] * a1[i * k + j]; a4[y * m + x] = s >> 5; }",
        // Sums in memory, sums of words of 32 bits, and no sums.
        "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++)
         for (int i = 0; i < k; i++) a3[y * m + x] += a0[y * k + i] * a1[i * m + x];",
        "for (int y = 0; y < n; y++) { int s = n; for (int x = 0; x < m; x++) s += a2[y * w + x]; t ^= s; }",
        "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) a4[y * w + x] = a0[y * w + x] + x * y;",
        // Backwards, with steps, and with counters of 64 bits.
        "for (int y = n - 1; y >= 0; y--) for (int x = 0; x < m; x += 2) a4[y * w + x] = a0[x * w + y];",
    ] {
        let source = nest(body);
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        assert_eq!(starts(&program, [6, 6, 4, 13]), 1, "{source}");
        // Where a loop does not run, none is started.
        assert_eq!(starts(&program, [9, 0, 4, 11]), 0, "{source}");
    }
}

/// Several arrays share what is long enough, in as many parts as there are rows; what rows hand on is not shared.
#[test]
fn several_arrays_share_nests_of_any_trips() {
    let sum = "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) { int s = 3;
         for (int i = 0; i < k; i++) s += a0[y * k + i] * a1[i * m + x]; a3[y * m + x] = s; }";
    let halves = "for (int y = 0; y < n; y++) { int s = 0, t = 0; for (int x = 0; x < m * k; x++) {
         s += a0[y + x] * a1[x]; t -= a0[y + x + 3] * a2[x]; } a4[2 * y] = s; a4[2 * y + 1] = t >> 4; }";
    let whole =
        "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) for (int i = 0; i < k; i++)
         a3[(y * m + x) * k + i + 2] = a0[y + x] * i + a1[x * k + i];";
    let computed = "for (int y = 0; y < n; y++) { int s = 0; for (int x = 0; x < m * k; x++)
         s += a0[a2[x]] * a1[x + y]; a3[y] = s; }";
    let borders = "for (int y = 0; y < n; y++) for (int x = 0; x < m * k; x++)
         a4[y * m * k + x] = y > 0 ? a0[(y - 1) * m * k + x] + y * x : x;";
    // Gaps between rows, at the end of the array, and in rows; rows that lie over each other, one behind another
    // store, a store under a condition, a sum of all, and a row that the next one reads.
    let gaps =
        "for (int y = 0; y < n; y++) for (int x = 0; x < m * k; x++) a4[y * 100 + x] = a0[x] + y;";
    let to_the_end =
        "for (int y = 0; y < n; y++) for (int i = 0; i < 4; i++) for (int x = 0; x < m + 10; x++)
         a4[y * w + 2048 + x - (n - 1) * w - m - 10] = a0[x] + y + i;";
    let in_rows = "for (int y = 0; y < n; y++) for (int x = 0; x < m * k - 51; x++)
         { a4[y * w + 2 * x] = a0[x] + y; a4[y * w + 2 * x + 3] = x; }";
    let over =
        "for (int y = 0; y < n; y++) for (int x = 0; x < m * k; x++) a4[y * 50 + x] = a0[x] + y;";
    let behind = format!("a4[7] = n; {gaps}");
    let chosen = "for (int y = 0; y < n; y++) for (int x = 0; x < m * k; x++)
         if (a0[x + y] > 5) a3[y * 100 + x] = a0[x] + y;";
    let some = "for (int y = 0; y < n; y++) { int s = 0; for (int x = 0; x < m * k; x++)
         s += a0[y * w + x]; if (s & 1) a3[y] = s; }";
    let all = "for (int y = 0; y < n; y++) { for (int x = 0; x < m * k; x++) t += a0[y * w + x]; a3[y] = t; }";
    let last = "for (int y = 1; y < n; y++) { int s = 0; for (int x = 0; x < m * k; x++)
         s += a0[x]; a3[y] = a3[y - 1] + s; }";
    for (body, count) in [
        (sum, 4),
        (halves, 4),
        (whole, 4),
        (computed, 4),
        (gaps, 4),
        (to_the_end, 4),
        (in_rows, 4),
        (over, 1),
        (&behind, 1),
        (chosen, 4),
        (some, 4),
        (all, 1),
        (last, 13),
        (borders, 4),
    ] {
        let source = nest(body);
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let (module, func) = common::compile(Path::new("chains.c"), &source, Some("f")).unwrap();
        let arrays = filled(&ARRAYS, ELEMENTS, 3);
        for rows in [4, 5, 7, 14] {
            let scalars = [rows, 10, 10, 100];
            compared((&module, func), &program, &scalars, &arrays)
                .unwrap_or_else(|what| panic!("{what}, {rows} rows\n{source}"));
        }
        assert_eq!(starts(&program, [14, 10, 10, 100]), count, "{source}");
        // Fewer rows than arrays.
        let fewer = if count == 13 { 2 } else { 1 };
        assert_eq!(starts(&program, [3, 10, 10, 100]), fewer, "{source}");
    }
}

/// Several arrays share a nest that changes elements of an array, as they were before the call, and where
/// each iteration of the outermost loop has its own.
#[test]
fn several_arrays_share_nests_that_change_an_array() {
    let sum = "for (int y = 0; y < n; y++) for (int i = 0; i < k; i++) for (int x = 0; x < m; x++)
         a3[y * m + x] += a0[y * k + i] * a1[i * m + x];";
    let rows = "for (int y = 0; y < n; y++) for (int x = 0; x < m * k; x++)
         a4[y * m * k + x] = a4[y * m * k + x] * 3 + a0[x] * y;";
    let pairs =
        "for (int y = 0; y < n; y++) for (int i = 0; i < k; i++) for (int x = 0; x < m; x++) {
         a3[2 * (y * m + x)] += a0[y + i]; a3[2 * (y * m + x) + 1] ^= a1[x + i]; }";
    // Stored to before, behind, in a loop around; rows that lie over each other, and what others look at.
    let before = format!("a3[2] = t; {sum}");
    let behind = format!("{sum} a3[2] += t; t += a3[1];");
    let twice = format!("for (int q = 0; q < 2; q++) {sum}");
    let over = "for (int y = 0; y < n; y++) for (int i = 0; i < k; i++) for (int x = 0; x < m; x++)
         a3[y + x] += a0[y * k + i] * a1[i * m + x];";
    let other = "for (int y = 0; y < n; y++) for (int x = 0; x < m * k; x++)
         a4[y * m * k + x] = a4[y * m * k + x] * 3 + a4[x + 1] * y;";
    for (body, arrays) in [
        (sum, 4),
        (rows, 4),
        (pairs, 4),
        (&before, 1),
        (&behind, 4),
        (&twice, 1),
        (over, 1),
        (other, 1),
    ] {
        let source = nest(body);
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let (module, func) = common::compile(Path::new("chains.c"), &source, Some("f")).unwrap();
        let given = filled(&ARRAYS, ELEMENTS, 3);
        for rows in [4, 5, 7, 14] {
            let scalars = [rows, 10, 10, 100];
            compared((&module, func), &program, &scalars, &given)
                .unwrap_or_else(|what| panic!("{what}, {rows} rows\n{source}"));
        }
        let used: BTreeSet<u8> = program.packages.iter().map(|package| package.array).collect();
        assert_eq!(used.len(), arrays, "{source}");
    }
}

/// What an inner loop adds to in memory, element by element, waits for no store where the loop is long.
#[test]
fn elements_that_come_back_late_are_not_waited_for() {
    for body in [
        "for (int y = 0; y < n; y++) for (int i = 0; i < k; i++) for (int x = 0; x < m; x++)
         a3[y * m + x] += a0[y * k + i] * a1[i * m + x];",
        "for (int i = 0; i < k; i++) for (int x = 0; x < m; x++) a3[x] += a0[i] * a1[x + i];",
        "for (int y = 0; y < n; y++) for (int i = 0; i < k; i++) for (int x = 0; x < m; x++)
         a3[y * w + x] += a0[y * k + i] * a1[i * m + x];",
    ] {
        let source = nest(body);
        let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        let (module, func) = common::compile(Path::new("chains.c"), &source, Some("f")).unwrap();
        let arrays = filled(&ARRAYS, ELEMENTS, 3);
        for m in [1, 2, 7, 8, 9, 16] {
            for w in [0, 1, m, 20] {
                compared((&module, func), &program, &[9, m, 5, w], &arrays)
                    .unwrap_or_else(|what| panic!("{what}, m {m}, w {w}\n{source}"));
            }
        }
    }
    let source = nest(
        "for (int y = 0; y < n; y++) for (int i = 0; i < k; i++) for (int x = 0; x < m; x++)
         a3[y * m + x] += a0[y * k + i] * a1[i * m + x];",
    );
    let program = agreed(&source, 3).unwrap();
    assert_eq!(starts(&program, [9, 8, 5, 0]), 1);
}

/// An access outside of its array ends the run where it did.
#[test]
fn what_ends_the_run_ends_it_at_the_same_place() {
    let body = "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) a4[y * w + x] = a0[x] + t;";
    let (module, func) = common::compile(Path::new("chains.c"), &nest(body), Some("f")).unwrap();
    let program = compile(&module, func, OptLevel::O2).unwrap();
    let arrays = filled(&ARRAYS, ELEMENTS, 3);
    for w in [100, 256, 257, 1 << 20, (1 << 32) - 1] {
        compared((&module, func), &program, &[9, 8, 4, w], &arrays).unwrap();
    }
}

/// Of two accesses that are both outside the first one ends the run, whether or not loops around do not
/// change the second.
#[test]
fn the_first_access_outside_ends_the_run() {
    for order in
        ["s -= a0[w * y + i + 7] * n; t += a1[i * w];", "t += a1[i * w]; s -= a0[w * y + i];"]
    {
        let body = format!(
            "for (int y = 1; y < k; y++) {{ int s = 0;
             for (int x = 1; x < n + 1; x++) for (int i = 0; i < 5; i++) {{ {order} }}
             a3[y] = s; }}"
        );
        let source = nest(&body);
        let (module, func) = common::compile(Path::new("chains.c"), &source, Some("f")).unwrap();
        let arrays = filled(&ARRAYS, ELEMENTS, 3);
        for passes in ["", "flatten", "arrays"] {
            let program = compile_without(passes, &module, func).unwrap();
            for w in [3, 300, 600, 2041, 4000] {
                let scalars = [1, 5, 8, w];
                let same = compared((&module, func), &program, &scalars, &arrays);
                same.unwrap_or_else(|what| panic!("{what}, w {w}, without `{passes}`\n{source}"));
            }
        }
    }
}

/// Counters and subscripts of 64 bits are words where they are small enough, and end the run where not.
#[test]
fn subscripts_of_64_bits_are_walks() {
    let body = "for (unsigned long y = 0; y < (unsigned long)n; y++)
        for (unsigned long x = 0; x < (unsigned long)m; x++)
        a3[y * (unsigned long)w + x] = a0[x * k + y] + a1[(long)(y - x) + k];";
    let source = nest(body);
    let program = agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
    assert_eq!(starts(&program, [9, 9, 12, 11]), 1);
    // What is no word is none, and what was extended without its sign.
    for subscript in ["(4294967295ul + x) * k", "(unsigned)(y - 1) + x + 1", "4294967297ul * x + y"]
    {
        let source = nest(&format!(
            "for (int y = 0; y < n; y++) for (unsigned long x = 0; x < (unsigned long)m; x++)
             a3[y * m + x] = a0[{subscript}];"
        ));
        let single = nest(&format!(
            "for (unsigned long x = 0; x < (unsigned long)m; x++) {{ int y = k; a3[x] = a0[{subscript}]; }}"
        ));
        for source in [source, single] {
            agreed(&source, 3).unwrap_or_else(|what| panic!("{what}\n{source}"));
        }
    }
    let (module, func) = common::compile(Path::new("chains.c"), &source, Some("f")).unwrap();
    let arrays = filled(&ARRAYS, ELEMENTS, 3);
    for (k, w) in [(8, 11), (7, 11), (300, 9), (8, 256), (8, 1 << 31), (8, 0xffff_ffff)] {
        compared((&module, func), &program, &[9, 9, k, w], &arrays).unwrap();
    }
}

/// What turns over with loops is known of single iterations only.
#[test]
fn iterations_of_such_a_nest_stay_apart() {
    let body = "int32_t b[8][8];
        for (int i = 0; i < k; i++) {
            for (int u = 0; u < 8; u++) for (int x = 0; x < 8; x++) {
                int32_t s = 0;
                for (int j = 0; j < 8; j++) s += a0[u * 8 + j] * a1[i * 64 + j * 8 + x];
                b[u][x] = s >> 8;
            }
            for (int u = 0; u < 8; u++) for (int v = 0; v < 8; v++) {
                int32_t s = 0;
                for (int j = 0; j < 8; j++) s += b[u][j] * a0[v * 8 + j];
                a4[i * 64 + u * 8 + v] = s >> 14;
            }
        }";
    agreed(&nest(body), 3).unwrap();
}

/// Quotients by constants are products and shifts, whatever signs there are.
#[test]
fn quotients_by_constants_are_quotients() {
    let body = "for (int i = 0; i < 300; i++) {
        int v = a0[i] >> 1;
        a3[i] = v / 9 + v % 7 * 100 + a0[i] / 8 + a3[i] % 16 + a2[i] / 3 + a1[i] / 25;
        a4[i] = (uint16_t)a0[i] / 4u + (unsigned)a3[i] % 32u;
    }";
    agreed(&nest(body), 3).unwrap();
    assert_eq!(starts(&agreed(&nest(body), 5).unwrap(), [1, 1, 1, 1]), 1);
}
