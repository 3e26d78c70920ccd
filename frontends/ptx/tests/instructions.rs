//! What is said of instructions that are wrong: the example of every code, and messages word for
//! word.

use nbcc_base::{Diagnostic, Diagnostics, SourceFile, SourceId};
use nbcc_frontend_ptx::check::codes;
use nbcc_frontend_ptx::forms;
use nbcc_frontend_ptx::parse;

fn diagnose(text: String) -> Vec<Diagnostic> {
    let file = SourceFile::new("test.ptx", text);
    let mut diagnostics = Diagnostics::default();
    let _ = parse(SourceId(0), &file, &mut diagnostics);
    diagnostics.take()
}

#[test]
fn every_example_triggers_its_code() {
    for code in codes::ALL.iter().filter(|code| code.by_test.is_none()) {
        let found = diagnose(code.example.to_string());
        let found: Vec<&str> = found.iter().map(|d| d.code.code).collect();
        assert_eq!(found, [code.code], "{}", code.example);
    }
}

#[test]
fn codes_are_stated_once() {
    let mut list: Vec<&str> = codes::ALL.iter().map(|code| code.code).collect();
    list.sort_unstable();
    assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn every_row_of_the_table_can_be_read() {
    let patterns = forms::patterns();
    assert!(patterns.len() > 250);
    for pattern in patterns {
        // Operands refer to types that every instruction of the form has.
        let types = pattern.slots.iter().filter(|slot| slot.types).count();
        let optional = pattern.slots.iter().any(|slot| slot.types && slot.optional);
        assert!(!optional, "{}: a type may be missing", pattern.row.pattern);
        for operand in &pattern.operands {
            use forms::OperandKind::*;
            if let Value(ty) | Result(ty) | ResultAndMaybePredicate(ty) | ResultAndPredicate(ty) =
                operand.kind
                && let forms::TypeRef::Number(n) | forms::TypeRef::Wide(n) = ty
            {
                assert!(usize::from(n) < types, "{}: type {n}", pattern.row.pattern);
            }
        }
    }
}

/// The messages for a body: message, label, help.
fn messages(body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 16 .b8 g[64];\n\
         .shared .align 16 .b8 s[64];\n.entry k(.param .u64 p)\n{{\n.reg .pred %p<5>;\n\
         .reg .b16 %h<5>;\n.reg .b32 %r<5>;\n.reg .u32 %u<5>;\n.reg .f32 %f<5>;\n\
         .reg .b64 %rd<5>;\n{body}\nret;\n}}\n"
    );
    let found = diagnose(text);
    let text = |d: &Diagnostic| {
        let label = d.labels.first().map_or("", |label| &label.text);
        format!("{} | {label} | {}", d.message, d.help.as_deref().unwrap_or(""))
    };
    found.iter().map(text).collect()
}

#[test]
fn messages_say_what_is_wrong_and_what_to_do() {
    let cases = [
        (
            "addd.u32 %r1, %r2, %r3;",
            "there is no instruction `addd` | unknown | check its \
             spelling; docs/language-ptx.md lists the instructions",
        ),
        (
            "add.u33 %r1, %r2, %r3;",
            "`add` has no modifier `.u33` | unknown modifier | leave it \
             out, or check its spelling; docs/language-ptx.md lists the instructions",
        ),
        (
            "fma.f32 %f1, %f2, %f3, %f4;",
            "`fma.f32` lacks a modifier | incomplete | add one of `.rn`, `.rz`, `.rm`, `.rp`",
        ),
        (
            "add.ftz.f64 %rd1, %rd2, %rd3;",
            "`.f64` does not fit the other modifiers of `add.ftz.f64` | there is no such form | \
             leave it out, or change the others; docs/language-ptx.md lists the forms",
        ),
        (
            "add.u32 %r1, %f2, %r3;",
            "`add.u32` takes .u32 here, not .f32 | `%f2` is of type .f32 | \
             move the bits with `mov.b32` first",
        ),
        (
            "add.u32 %r1, %rd2, %r3;",
            "`add.u32` takes .u32 here, not .b64 | `%rd2` is of type .b64 | \
             convert with `cvt` to .u32 first",
        ),
        (
            "ld.global.u32 %h1, [%rd1];",
            "`ld.global.u32` takes .u32 here, not .b16 | `%h1` is of type .b16 | \
             use a register of at least 32 bits",
        ),
        (
            "@%r1 ret;",
            "the guard `%r1` is not a predicate | this register is of type .b32 | \
             compare with `setp` into a register of type .pred",
        ),
        (
            "mul.f32 %f1, %f2, 2;",
            "`mul.f32` takes .f32 here, not an integer | this is an integer | \
             write it with a point, or as 0f and 8 hexadecimal digits",
        ),
        (
            "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
            "`ld.global.v4.u32` takes 4 elements here | 2 given | write 4 elements between the \
             braces",
        ),
        (
            "ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];",
            "`ld.global.v4.b64` accesses 256 bits | vectors have up to 128 bits, in global memory \
             of sm_100 256 | split the access in two",
        ),
        (
            "ld.shared.u32 %r1, [g];",
            "`ld.shared.u32` accesses the state space .shared | `g` is in .global | name the \
             space `.global` in the instruction",
        ),
        (
            "add.u32 %r1, %tid.x, 1;",
            "`add.u32` cannot read special registers | a special register | read it with `mov` \
             into a register of its size; vectors by element, as `%tid.x`",
        ),
        (
            "mov.u32 %r1, %clock64;",
            "`%clock64` does not fit .u32 | 64 bits wide | read it with `mov` into a register of \
             its size; vectors by element, as `%tid.x`",
        ),
        (
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];",
            "`tex.1d.v4.f32.s32` is not supported yet | not supported | compute it with other \
             instructions; docs/language-ptx.md lists what is supported",
        ),
        (
            "bar.sync 0, 33;",
            "number out of range in `bar.sync` | the number of threads is a multiple of 32 | \
             write a number that the instruction takes, or hold it in a register",
        ),
        (
            "vote.ballot.b32 %r1, %p1;",
            "`vote.ballot.b32` is gone on sm_70 and later | it does not name the lanes that take \
             part | use the form with `.sync` and a mask of lanes",
        ),
        (
            "add.rn.bf16x2 %r1, %r2, %r3;",
            "`add.rn.bf16x2` needs sm_90 or later | not on sm_80 | state `.target sm_90` or later",
        ),
        ("add.u32 %r1, %r2;", "`add.u32` takes 3 operands | 2 given | write 3 operands"),
    ];
    for (body, wanted) in cases {
        // The later version comes first where both are too low.
        let found = messages(body);
        assert_eq!(found, [wanted], "{body}");
        assert!(!found[0].ends_with("| "), "{body}: no help");
    }
}

/// `ptxas` takes conversions of `.f16` from files of any version, as of the generators that state an old
/// one (Halide), and arithmetic of them from PTX 4.2 on.
#[test]
fn conversions_of_halves_are_older_than_their_arithmetic() {
    let text = |body: &str| {
        format!(
            ".version 4.0\n.target sm_50\n.address_size 64\n.entry k() {{\n.reg .b16 %h<3>;\n\
             .reg .f32 %f<2>;\n.reg .f64 %d<2>;\n{body}\nret;\n}}\n"
        )
    };
    let conversions = "cvt.f32.f16 %f1, %h1;\ncvt.ftz.f32.f16 %f1, %h1;\ncvt.rn.f16.f32 %h1, %f1;\n\
                       cvt.rz.sat.f16.f32 %h1, %f1;\ncvt.f64.f16 %d1, %h1;\ncvt.rn.f16.f64 %h1, %d1;\n\
                       cvt.f16.f16 %h1, %h2;\ncvt.rni.f16.f16 %h1, %h2;\n";
    assert!(diagnose(text(conversions)).is_empty());
    let found = diagnose(text("add.f16 %h1, %h1, %h2;"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "`add.f16` needs PTX 4.2");
}

#[test]
fn fragments_have_the_registers_that_their_matrices_need() {
    let mma = |d, a, b, c| {
        format!("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c};")
    };
    let (sums, pair) = ("{%f1, %f2, %f3, %f4}", "{%r1, %r2}");
    let text = "`mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32`";
    assert!(messages(&mma(sums, pair, "{%r3}", sums)).is_empty());
    assert!(messages(&mma("{%r1, %r2, %r3, %r4}", pair, "{%r3}", sums)).is_empty());
    let cases = [
        (mma(sums, pair, "%r3", sums), "needs registers in braces here"),
        (mma(sums, pair, pair, sums), "takes 1 element here"),
        (mma(sums, "{%r1}", "{%r3}", sums), "takes 2 elements here"),
        (mma(sums, pair, "{%f1}", sums), "takes .f16x2 here, not .f32"),
        (mma(sums, pair, "{7}", sums), "needs a register here"),
        (mma(sums, pair, "{%r3}", "{%f1, %f2}"), "takes 4 elements here"),
    ];
    for (body, message) in cases {
        let found = messages(&body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].starts_with(&format!("{text} {message}")), "{body}: {found:?}");
    }
}

#[test]
fn instructions_that_are_not_supported_are_named() {
    let bodies = [
        "wmma.load.a.sync.aligned.row.m16n16k16.local.f16 {%r1, %r2}, [%rd1];",
        "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r3, %r4}, {%r1, %r2}, %r0, 0;",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1}, {%r1}, {%r2}, {%f1};",
        "wgmma.fence.sync.aligned;",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};",
        "cp.async.bulk.commit_group;",
        "cp.async.mbarrier.arrive.shared.b64 [%rd1];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%rd1], [%rd2], 16;",
        "mbarrier.init.shared.b64 [%rd1], 32;",
        "suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];",
        "fence.proxy.async;",
        "mapa.u64 %rd1, %rd2, 0;",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%rd1], %r1, [%rd2];",
        "mov.u32 %r1, %clusterid.x;",
        "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;",
    ];
    for body in bodies {
        let found = messages(body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].contains("is not supported yet"), "{body}: {found:?}");
    }
}

#[test]
fn instructions_are_checked_whatever_else_is_wrong() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
                .func f(.param .b32 a) {\n.reg .b32 %r<3>;\nadd.s32 %r1, %r2\n\
                addd.s32 %r1, %r2, 1;\nmov.u32 %r1, nothing;\nret;\n\
                .entry k() {\n.param .b32 a;\ncall f, (a);\nadd.u33 a, a, a;\nret;\n}\n";
    let found = diagnose(text.to_string());
    let found: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
    let expected = [
        "unexpected `addd`",
        "`.entry` in a function",
        "`nothing` is not declared",
        "there is no instruction `addd`",
        "`add` has no modifier `.u33`",
    ];
    assert_eq!(found, expected);
}
