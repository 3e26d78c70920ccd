//! Loops that count in other ways than by a word that is compared at their end: each does what the
//! interpreter says, on an array where its counter does not wrap, and on the core where it may.

use std::path::Path;

use nbcc_isa_sdpnm::core::CoreProgram;
use nbcc_pipeline::OptLevel;

use crate::common;
use crate::loops::{compared, filled, parameters};
use crate::machine::{compile, run};

const ELEMENTS: u32 = 400;

const ARRAYS: [(&str, char, u32); 2] = [("const int16_t", 's', 16), ("int32_t", 's', 32)];

fn agreed(body: &str) -> CoreProgram {
    let parameters = parameters(&ARRAYS, ELEMENTS);
    let source = format!(
        "#include <stdint.h>\nint f(int n{parameters})\n{{\n    int s = 0;\n    {body}\n    return s;\n}}\n"
    );
    let (module, func) = common::compile(Path::new("spellings.c"), &source, Some("f"))
        .unwrap_or_else(|e| panic!("{e}"));
    let program = compile(&module, func, OptLevel::O2).unwrap_or_else(|e| panic!("{e}\n{source}"));
    for n in [0_u64, 1, 2, 7, 199, 400, 401, 0xffff_ffff] {
        compared((&module, func), &program, &[n], &filled(&ARRAYS, ELEMENTS, n))
            .unwrap_or_else(|what| panic!("{n}: {what}\n{source}"));
    }
    program
}

#[test]
fn other_spellings_of_loops_run_on_arrays() {
    for body in [
        "for (int i = 0; ; i++) { if (i >= n) break; a1[i] = a0[i] * 3 + 1; }",
        "int i = 0; for (;;) { if (i >= n) break; a1[i] = a0[i] * 3 + 1; i++; } s = i;",
        "int i = 0; while (1) { if (n <= i) break; s += a0[i]; i += 1; } a1[0] = i;",
        "for (int16_t i = 0; i < 400; i++) a1[i] = a0[i] * 3 + n;",
        "for (uint8_t i = 0; i < 200; i++) { a1[i] = a0[i] * 3 + n; s += i; }",
        "for (int8_t i = 100; i >= 0; i--) s += a0[i] * n;",
        "for (uint16_t i = 300; i > 0; i--) s += a0[i] * n;",
        "uint8_t k = 200; while (k--) s += a0[k] * n;",
        "for (uint8_t i = 0; i != 255; i++) { s += a0[i] * n; a1[i] = (int8_t)i; }",
        "uint16_t k = n; while (k--) s += a0[s & 63]; s = s * 3 + k;",
        "uint16_t k = n; while (k > 0) { s += a0[k & 255]; k--; } s = s * 3 + k;",
        "uint16_t k = n; while (--k) s += a0[s & 63]; s = s * 3 + k;",
        "uint16_t k = n; int o = 0; do { s += a0[o++ & 63]; } while (--k); s = s * 3 + k;",
        "uint8_t k = n; int o = 0; do { s += a0[o++]; } while (--k > 0); s = s * 3 + k;",
        "for (int16_t i = n - 1; i >= 0; i--) a1[i] = a0[i] ^ n;",
        "uint16_t o = 0; for (int i = 0; i < 150; i++) { a1[o++] = a0[i] + n; a1[o++] = i; } s = o;",
        "uint16_t o = 0; for (int st = 1; st < 4000000; st += st >> 3 | 1) { a1[o++] = a0[o & 15] + st; } s = o;",
        "uint8_t o = 200; for (int i = 0; i < 100; i++) { o -= 2; a1[o + 1] = a0[i] * n; } s = o;",
        "int w = a0[0] & 15; for (int i = 0; i + w <= n; i++) a1[i] = a0[i + w - 1] - a0[i];",
        "int w = a0[0]; for (int i = n; i - w > 3; i -= 2) s += a0[i & 255];",
        "for (int k = 1; k < 9; k++) for (int i = 0; i + 2 * k <= n; i++) s += a0[i + k] * a0[i];",
        "for (int i = 0; i < n; i++) { uint32_t v = a0[i] * a0[i], r = 0, bit = 1u << 30;
         while (bit) { if (v >= r + bit) { v -= r + bit; r = (r >> 1) + bit; } else r >>= 1; bit >>= 2; }
         a1[i] = r; }",
        "for (int i = 0; i < n; i++) switch (a0[i] & 7) { case 0: a1[i] = n; break; case 1: s++; case 2: a1[i] = s;
         break; case 3: s ^= a0[i]; break; case 5: continue; case 6: a1[i] = a0[i] * n; default: s--; }",
        "int to = 0; for (int i = 0; i < n; i++) switch (to) { case 0: if (a0[i] < 9) to = 1; else if (a0[i] > 99) to = 4;
         break; case 1: to = a0[i] & 3; break; case 2: s++; to = 0; break; case 3: to = a0[i] > n ? 2 : 4; break;
         case 4: if (a0[i] == 5) to = 0; break; }",
    ] {
        assert!(!agreed(body).packages.is_empty(), "{body}");
    }
}

/// Of a nest that is one loop nobody knows here that its accesses are inside, so that no array would ever be started:
/// its loops are tried one by one.
#[test]
fn what_is_never_started_is_tried_otherwise() {
    let body = "static int16_t b[2][64];
        for (int i = 0; i < 64; i++) b[0][i] = a0[i];
        for (int t = 0; t < 40; t++)
            for (int i = 1; i < 63; i++) b[(t + 1) & 1][i] = (b[t & 1][i - 1] + b[t & 1][i + 1]) >> 1;
        for (int i = 0; i < 64; i++) a1[i] = b[0][i];";
    let program = agreed(body);
    let ran = run(&program, &[0], &filled(&ARRAYS, ELEMENTS, 3)).expect("a run");
    assert!(ran.statistics.count("arrays.starts") > 40, "{}", ran.statistics.count("cycles"));
}

#[test]
fn other_spellings_of_loops_do_what_they_mean() {
    for body in [
        // Counters that wrap until something else ends the loop.
        "for (uint8_t i = 0; i < 300; i++) { a1[i] += a0[i]; if (++s > 1000) break; }",
        "for (int8_t i = 0; i < 128; i++) { a1[9] += i; if (++s > 999) break; }",
        "for (uint8_t i = 9; i >= 0; i--) { s += i; if (s > 9999) break; }",
        "for (int8_t i = 0; i != -3; i++) s += i * n;",
        "for (uint8_t i = 3; i != 2; i++) s += a0[i];",
        "for (uint8_t i = 0; i <= 254; i++) s += a0[i];",
        "for (uint8_t i = 0; i < 250; i += 3) s += a0[i];",
        "for (int16_t i = 0; i < n; i++) { s += i; if (s > 99999) break; }",
        "uint8_t k = n; while (k--) s += a0[k]; s = s * 3 + k;",
        "uint8_t k = n; do { s = s * 3 + k; a1[k] += s; } while (--k);",
        "uint8_t o = 56; for (int i = 0; i < 100; i++) { a1[o++] = i; a1[o++] += a0[i] + n; } s = o;",
        "int8_t o = 100; for (int i = 0; i < 100; i++) { a1[(uint8_t)o] += i; o += 3; } s = o;",
        "uint8_t k = n; do { s = s * 3 + k; a1[k] += s; } while (--k > 1);",
        "int8_t k = n; do { s = s * 3 + k; } while (--k > 0);",
        "int8_t k = n; do { s = s * 3 + k; } while (++k < 100);",
        "uint8_t k = n; while (k != 3) { s = s * 3 + k; k--; }",
        "uint8_t k = n; while (k > 3) { s = s * 3 + k; k -= 3; } s = s * 3 + k;",
        "uint8_t k = n; while (k >= 3) { s = s * 3 + k; k -= 3; } s = s * 3 + k;",
        "uint16_t k = n; while (k--) { s = s * 3 + k; if (s == 5) break; } s += k;",
        "int8_t i = 0; do { s += i; i += 50; } while (i > 0); s += i;",
        "unsigned bit = 1; while (bit) { s += a0[bit & 63]; bit <<= 3; } s += bit;",
        "for (int st = 1; st < 400; st *= 3) s += a0[st];",
        "for (int st = 4; st; st >>= 1) for (int k = 0; k < 8; k++) if (!(k & st)) a1[k] += a1[k | st];",
        "for (int i = 0; ; i++) { if (i >= n || i >= 400) break; if (a0[i] == n) { s = i; break; } s += a0[i]; }",
        "int i = 0, j = 0; for (;;) { j = i * 2; if (i >= 9) break; s += j; i++; } s += j * 100 + i;",
        "for (int r = 0; ; r++) { if (r == 5) break; for (int i = 0; ; i++) { if (i == r) break; s += a0[i] * r; } }",
        "for (;;) { if (a0[s & 63] < 0) break; s++; if (s > 60) break; }",
    ] {
        agreed(body);
    }
}
