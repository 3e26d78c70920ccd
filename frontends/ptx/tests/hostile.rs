//! Sources made to harm: the answer is a diagnostic or a module, in bounded time and memory and on
//! an ordinary stack.

mod common;

use std::fmt::Write as _;

use common::diagnose;
use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_ptx::{parse, read};
use proptest::prelude::*;

/// The first lines of a file.
const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

const MANY: usize = 1_000_000;

/// The codes of the errors of a text, in order.
fn errors(text: &str) -> Vec<&'static str> {
    nbcc_testing::errors(&diagnose(&SourceFile::new("hostile.ptx", text)))
}

/// Reads a text to the end of the frontend.
fn answer(text: &str) {
    let file = SourceFile::new("hostile.ptx", text);
    let mut diagnostics = Diagnostics::default();
    let result = parse(SourceId(0), &file, &mut diagnostics);
    assert_eq!(result.is_err(), diagnostics.has_errors(), "refused without an error");
}

/// The errors of a body.
fn body_errors(body: &str) -> Vec<&'static str> {
    errors(&format!("{HEADER}.entry k() {{\n{body}\nret;\n}}\n"))
}

const NONE: [&str; 0] = [];

#[test]
fn blocks_do_not_nest_without_end() {
    let nested = |depth: usize| {
        let open = "{ .reg .b32 x, %r<1>; ".repeat(depth);
        format!(".reg .b32 %r<5>;\n{open} mov.b32 %r1, 1; {}", "}".repeat(depth))
    };
    assert_eq!(body_errors(&nested(256)), NONE);
    assert_eq!(body_errors(&nested(257)), ["E2006"]);
    assert_eq!(body_errors(&nested(MANY)), ["E2006"]);
    assert_eq!(body_errors(&"{".repeat(MANY)), ["E2006"]);
    assert_eq!(body_errors(&"{".repeat(100)), ["E2007"]);
    assert_eq!(errors(&format!("{HEADER}{}", "}".repeat(MANY))).len(), 20);
    assert_eq!(errors(&format!("{HEADER}{}", "{".repeat(MANY))), ["E2008"]);
}

#[test]
fn initializers_and_expressions_do_not_nest_without_end() {
    let braces = |open: usize, close: usize| {
        format!("{HEADER}.global .b32 a[1] = {}1{};", "{".repeat(open), "}".repeat(close))
    };
    assert_eq!(errors(&braces(MANY, MANY)), ["E2029"]);
    assert_eq!(errors(&braces(MANY, 0)), ["E2008"]);
    for (open, close) in [("(", ")"), ("-", ""), ("!", ""), ("~ ", ""), ("1 ? 1 : ", "")] {
        let text = format!(".reg .b32 a; mov.b32 a, {}1{};", open.repeat(MANY), close.repeat(MANY));
        assert_eq!(body_errors(&text), ["E2006"], "{open}");
    }
    let sum = format!(".reg .b32 a; mov.b32 a, 1{};", " + 1".repeat(MANY));
    assert_eq!(body_errors(&sum), NONE);
    let vector = format!(".reg .b64 a; mov.b64 a, {};", "{".repeat(MANY));
    assert_eq!(body_errors(&vector), ["E2008", "E2006"]);
}

#[test]
fn ranges_of_registers_cost_nothing() {
    assert_eq!(body_errors(".reg .b32 %r<4294967295>;\nmov.b32 %r4294967294, 1;"), NONE);
    assert_eq!(body_errors(".reg .b32 %r<1000000000>;\nmov.b32 %r1000000000, 1;"), ["E2020"]);
    let mut text = ".reg .b32 %r<100000>;\n".to_owned();
    for i in 0..100_000 {
        writeln!(text, "mov.b32 %r{i}, 1;").unwrap();
    }
    assert_eq!(body_errors(&text), NONE);
    let mut text = String::new();
    for i in 0..100_000 {
        writeln!(text, ".reg .b32 %a{i}, b{i}<7>;").unwrap();
    }
    assert_eq!(body_errors(&text), NONE);
    assert_eq!(body_errors("T: .branchtargets L<4294967295>;\nL0:"), ["E2020"]);
    let number = "9".repeat(MANY);
    assert_eq!(body_errors(&format!("mov.b32 %r{number}, 1;")), ["E2020"]);
    assert_eq!(body_errors(&format!(".reg .b32 %r<5>; mov.b32 %r1, {number};")), ["E2004"]);
}

#[test]
fn variables_cost_no_more_than_their_values() {
    let text = format!("{HEADER}.global .b8 a[1099511627776] = {{1}};");
    let file = SourceFile::new("big.ptx", text);
    let mut diagnostics = Diagnostics::default();
    let resolved = read(SourceId(0), &file, &mut diagnostics).expect("accepted");
    let variable = resolved.variables.values().next().expect("a variable");
    assert_eq!(variable.bytes, Some(1 << 40));
    assert_eq!(variable.initial.as_ref().expect("contents").bytes, [1]);
    let rows = format!("{HEADER}.global .b8 a[3][500000000] = {{{{1}}, {{2}}}};");
    let file = SourceFile::new("rows.ptx", rows);
    let resolved = read(SourceId(0), &file, &mut diagnostics).expect("accepted");
    let variable = resolved.variables.values().next().expect("a variable");
    assert_eq!(variable.initial.as_ref().expect("contents").bytes, [1, 2]);
    let mut many = HEADER.to_owned();
    for i in 0..1000 {
        writeln!(many, ".global .b8 a{i}[2][100000000] = {{{{1}}, {{1}}}};").unwrap();
    }
    assert_eq!(errors(&many), NONE);
}

#[test]
fn what_is_no_text_is_refused() {
    assert_eq!(errors(""), ["E2012"]);
    assert_eq!(errors(" \t\r\n// nothing\n/* at all */"), ["E2012"]);
    assert_eq!(errors("\0")[0], "E2001");
    assert_eq!(errors(&"\0".repeat(MANY)).len(), 20);
    assert_eq!(errors(&"/*".repeat(MANY)), ["E2002"]);
    assert_eq!(errors(&format!("\"{}", "x".repeat(MANY))), ["E2003"]);
    assert_eq!(errors(&"x".repeat(MANY)), ["E2012"]);
    assert_eq!(errors("\x7fELF\x02\x01\x01")[0], "E2001");
}

#[test]
fn ten_megabytes_are_read() {
    let mut text = format!("{HEADER}.entry k() {{\n.reg .f32 %f<100>;\n.reg .b64 %rd<4>;\n");
    while text.len() < 10_000_000 {
        text.push_str("fma.rn.f32 %f1, %f2, 0f3F800000, %f4; // comment\n");
        text.push_str("ld.global.v2.f32 {%f5, %f6}, [%rd1+16];\n");
    }
    text.push_str("ret;\n}\n");
    assert_eq!(errors(&text), NONE);
    let list = format!("{HEADER}.global .b8 a[] = {{{}0}};", "12, ".repeat(MANY));
    assert_eq!(errors(&list), NONE);
    assert_eq!(errors(&format!("{HEADER}{}", "alpha beta ; ".repeat(MANY / 5))), ["E2008"]);
    // Names are reported once.
    assert_eq!(body_errors(&"alpha beta ; ".repeat(MANY / 5)), ["E2020"]);
    assert_eq!(body_errors(&"add.s32 a, b, c;\n".repeat(MANY / 5)).len(), 3);
    assert_eq!(body_errors(&"L: ".repeat(MANY / 5)).len(), 50);
    assert_eq!(body_errors(&".reg .b32 a;\n".repeat(MANY / 5)).len(), 50);
    for nothing in ["# 1\n", "//\n", "/**/", " \n\t", "// a\n /* b */ # 3\n"] {
        let text = format!("{HEADER}{}", nothing.repeat(MANY / 5));
        assert_eq!(errors(&text).len(), if nothing.ends_with("# 3\n") { 20 } else { 0 });
    }
}

#[test]
fn a_ptx_file_that_is_too_large() {
    assert_eq!(errors(&" ".repeat((256 << 20) + 1)), ["E2009"]);
}

const SMALL: &str = r#".version 8.0
.target sm_80, debug
.address_size 64
.file 1 "a.cu", 12, 34
# 1 "a.cu"
.global .align 4 .b8 table[2][2] = {{1, 2}, {3}};
.visible .global .u64 pointers[3] = {table, generic(table), table+2};
.global .u8 bytes[] = {0xFF(table), 0xFF00(table), 0xFF(generic(table)+4), -1, 255};
.const .v4 .f32 vector = {1.5, 0f3F800000, -2.5, 0d3FF0000000000000};
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 result) outside(.param .b64 a);
.extern .func (.param .b32 result) callee(.param .b32 a, .param .align 8 .b8 s[12]);
.func (.reg .b32 q) other(.reg .b32 a) { mov.b32 q, a; ret; }
.visible .entry k(.param .u64 .ptr .global .align 16 pointer, .param .b32 n)
.maxntid 256, 1, 1
.minnctapersm 2 .pragma "nounroll";
{
    .reg .pred p, q;
    .reg .b32 %r<5>, x, y;
    .reg .b64 %rd<5>;
    .reg .v2 .f32 v;
    .loc 1 3 4
    .loc 1 5 6, function_name $s+0, inlined_at 1 3 4
    ld.param.u64 %rd1, [pointer+0];
    mov.u32 %r3, (1 << 4) | 3 * -2 ? WARP_SZ : 0b101U; /* c */
    setp.lt.and.s32 p|q, %r1, %r2, !p;
    @!p ld.global.v2.f32 {v.x, v.y}, [%rd1+-8];
T:  .branchtargets A, B, C<2>;
proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[12]);
F:  .calltargets other;
    brx.idx %r1, T;
A: C0: C1: {
        .param .b32 a;
        call.uni (a), %rd2, (a, a), proto;
        call (x), other, (y);
    }
B:  ret;
}
.func g();
.func h() { trap; }
.alias g, h;
.section .debug_str {
$s: .b8 102, 0
    .b32 $s+4
    .b64 .debug_info
}
"#;

#[test]
fn every_prefix_is_answered() {
    assert_eq!(errors(SMALL), NONE);
    for end in 0..SMALL.len() {
        answer(&SMALL[..end]);
    }
}

proptest! {
    #![proptest_config(nbcc_testing::cases(2500))]

    #[test]
    fn damaged_files_are_answered(text in nbcc_testing::damaged(SMALL, "_.%$")) {
        answer(&text);
    }
}
