//! What comes of names: registers, scopes, labels, initial values, locations. And every file of the
//! corpus is read.

use std::path::{Path, PathBuf};

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_ptx::read;
use nbcc_frontend_ptx::resolved::*;

const HEADER: &str = ".version 8.3\n.target sm_80\n.address_size 64\n";

/// Resolves a text that has to be right.
fn with<R>(text: &str, look: impl FnOnce(&Resolved<'_>) -> R) -> R {
    let file = SourceFile::new("test.ptx", format!("{HEADER}{text}"));
    let mut diagnostics = Diagnostics::default();
    let resolved = read(SourceId(0), &file, &mut diagnostics);
    let messages: Vec<_> = diagnostics.iter().map(|d| d.message.clone()).collect();
    look(&resolved.unwrap_or_else(|_| panic!("{text}: {messages:?}")))
}

/// The contents of the variable `a`.
fn initial(declaration: &str) -> Initial {
    with(declaration, |module| {
        let named = |v: &&Variable| module.names.text(v.name) == "a";
        let variable = module.variables.values().find(named).expect("the variable a");
        variable.initial.clone().expect("contents")
    })
}

/// The bytes of the variable `a` in hexadecimal.
fn bytes(declaration: &str) -> String {
    initial(declaration).bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The value of a constant expression.
fn value(expression: &str) -> u64 {
    let bytes = initial(&format!(".global .b64 a = {expression};")).bytes;
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[test]
fn constant_expressions_are_folded() {
    // Each was compared with the data that ptxas 12.9 writes.
    for (expression, expected) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 + 3 << 1 & 6 ^ 1 | 8", 11),
        ("-1 >> 1", u64::MAX),
        ("-1U >> 1", u64::MAX >> 1),
        ("1 << 65", 2),
        ("1 << -1", 1 << 63),
        ("-1 < 1U", 0),
        ("-1 < 1", 1),
        ("7 / -2", -3i64 as u64),
        ("7U / -2", 0),
        ("-7 % 3", 0),
        ("(-8 % 3) - 10 >> 1", 0x7fff_ffff_ffff_fffc),
        ("~0 >> 1", u64::MAX >> 1),
        ("(-1 | 0) >> 1", u64::MAX),
        ("(!0 - 5) >> 1", -2i64 as u64),
        ("((1 && 2) - 5) >> 1", -2i64 as u64),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 0 ? 3 : 4", 4),
        ("(1 ? -2 : 3U) >> 1", u64::MAX),
        ("(.u64)-5 >> 1", 0x7fff_ffff_ffff_fffd),
        ("(.s64)5U - 6 >> 1", u64::MAX),
        ("0x8000000000000000 >> 63", 1),
        ("-9223372036854775808 >> 1", 1 << 62),
        ("9223372036854775807 + 1 >> 1", 0xc000_0000_0000_0000),
        ("WARP_SZ - 40 >> 1", -4i64 as u64),
        ("0777", 511),
        ("0b1010", 10),
        ("0X1fU", 31),
        ("1.5 * 2.0", 3.0f64.to_bits()),
        ("(1.5 < 2.5)", 1),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn initial_values_are_laid_out() {
    for (declaration, expected) in [
        (".global .b8 a[3] = {257, -1, 255};", "01ffff"),
        (".global .b8 a[2][3] = {{1}, {2, 3}};", "010203"),
        (".global .b8 a[2][2][2] = {{{1}, {2, 3}}, {{}, {4}}};", "01020304"),
        (".global .v2 .u16 a[2] = {{1, 2}, {3, 4}};", "0100020003000400"),
        (".global .v4 .f32 a = {1.5, -0.0, 0f3F800000, 2.0};", "0000c03f000000800000803f00000040"),
        (".global .f32 a = 0d3FF8000000000000;", "0000c03f"),
        (".global .f64 a = 1.5;", "000000000000f83f"),
        (".global .f64 a = 0f3FC00000;", "0000c03f00000000"),
        (".global .b16 a = 1.1;", "9a99"),
        (".global .b16 a = 0f3F801234;", "3412"),
        (".global .b32 a = 1.5;", "0000c03f"),
        (".global .b128 a = -1;", "ffffffffffffffff0000000000000000"),
        (".const .align 8 .u32 a[] = {1, 2};", "0100000002000000"),
        (".global .f32 a = 3.4028236e38;", "0000807f"),
    ] {
        assert_eq!(bytes(declaration), expected, "{declaration}");
    }
}

#[test]
fn addresses_become_relocations() {
    let contents = initial(
        ".global .b32 x[4];\n.func f() { ret; }\n\
         .global .u64 a[4] = {7, x+8, generic(x)+-4, f};",
    );
    assert_eq!(contents.bytes.len(), 32);
    let described: Vec<_> = contents
        .relocations
        .iter()
        .map(|r| (r.offset, r.width, r.generic, r.addend, r.shift))
        .collect();
    assert_eq!(described, [(8, 8, false, 8, 0), (16, 8, true, -4, 0), (24, 8, false, 0, 0)]);
    assert!(matches!(contents.relocations[2].target, RelocationTarget::Function(_)));
    let contents = initial(
        ".global .b32 x;\n.global .u8 a[3] = {0xFF(x), 0xFF00(x), 0xFF0000(generic(x)+1)};",
    );
    let described: Vec<_> = contents
        .relocations
        .iter()
        .map(|r| (r.offset, r.width, r.generic, r.addend, r.shift))
        .collect();
    assert_eq!(described, [(0, 1, false, 0, 0), (1, 1, false, 0, 8), (2, 1, true, 1, 16)]);
}

#[test]
fn sizes_and_alignments() {
    with(
        ".global .b32 a;\n.global .v4 .f32 b[3];\n.extern .shared .align 16 .b8 c[];\n\
         .global .align 1 .u64 d[2][3];\n.extern .const .b32 e[4];\n\
         .extern .global .f32 f[];\n.visible .global .align 8 .f32 f[2];",
        |module| {
            let sizes: Vec<_> =
                module.variables.values().map(|v| (v.bytes, v.align, v.array)).collect();
            assert_eq!(
                sizes,
                [
                    (Some(4), 4, false),
                    (Some(48), 16, true),
                    (None, 16, true),
                    (Some(48), 1, true),
                    (Some(16), 4, true),
                    (Some(8), 8, true),
                ]
            );
        },
    );
}

/// The registers that the instructions of the first function name, in order: name and type.
fn registers(body: &str) -> Vec<(String, ScalarType)> {
    with(&format!(".entry k() {{ {body} }}"), |module| {
        let function = module.functions.values().next().expect("a function");
        let body = function.body.as_ref().expect("a body");
        let mut found = Vec::new();
        for item in &body.items {
            let BodyItem::Instruction(instruction) = item else { continue };
            for operand in &instruction.operands {
                if let OperandKind::Register(register) = operand.kind {
                    let register = &body.registers[register];
                    found.push((module.names.text(register.name).to_owned(), register.ty));
                }
            }
        }
        found
    })
}

#[test]
fn inner_blocks_hide_registers() {
    use ScalarType::*;
    let types = |body: &str| registers(body).into_iter().map(|(_, ty)| ty).collect::<Vec<_>>();
    // An inner range, an inner register, and the outer ones again, used before and only after.
    assert_eq!(
        types(
            ".reg .b32 %r<9>; mov.b32 %r1, 0; { .reg .b64 %r<2>; mov.b64 %r1, 0; mov.b32 %r2, 0; }
             mov.b32 %r1, 0;"
        ),
        [B32, B64, B32, B32]
    );
    assert_eq!(
        types(".reg .b32 %r<9>; { .reg .b64 %r1; mov.b64 %r1, 0; } mov.b32 %r1, 0;"),
        [B64, B32]
    );
    assert_eq!(
        types(
            ".reg .b32 %r1; { .reg .b64 %r<9>; mov.b64 %r1, 0; { mov.b64 %r1, 0; } }
             mov.b32 %r1, 0;"
        ),
        [B64, B64, B32]
    );
    // One register of a range, whichever block names it first.
    let same = registers(".reg .b32 %r<9>; { mov.b32 %r3, 0; } { mov.b32 %r3, 0; } ret;");
    assert_eq!(same.len(), 2);
    with(".entry k() { .reg .b32 %r<9>; { mov.b32 %r3, 0; } mov.b32 %r3, 0; }", |module| {
        let body = module.functions.values().next().and_then(|f| f.body.as_ref());
        assert_eq!(body.expect("a body").registers.len(), 1);
    });
}

#[test]
fn labels_belong_to_their_block() {
    with(".entry k() { { L: bra L; } { bra L; { L: bra L; } L: } bra L; L: ret; }", |module| {
        let function = module.functions.values().next().expect("a function");
        let body = function.body.as_ref().expect("a body");
        let mut targets = Vec::new();
        for item in &body.items {
            if let BodyItem::Instruction(instruction) = item
                && let Some(operand) = instruction.operands.first()
                && let OperandKind::Label(label) = operand.kind
            {
                targets.push(label.as_u32());
            }
        }
        assert_eq!(targets, [0, 2, 1, 3]);
        for (label, data) in body.labels.iter() {
            assert!(
                matches!(body.items[data.item], BodyItem::Label(l) if l == label),
                "{label} stands where its number says"
            );
        }
    });
}

#[test]
fn locations_name_inlined_functions() {
    with(
        ".file 1 \"a b.cu\"\n.file 2 \"c\\\"d\"\n.entry k() {\n.loc 1 5 3\nret;\n\
         .loc 2 7 0, function_name $strings+2, inlined_at 1 5 3\nL: ret; }\n\
         .section .debug_str {\n.b8 1\n$strings:\n.b8 97, 0, 102, 111\n.b8 111, 0\n}\n",
        |module| {
            assert_eq!(module.files[&1], "a b.cu");
            assert_eq!(module.files[&2], "c\"d");
            let function = module.functions.values().next().expect("a function");
            let locs = &function.body.as_ref().expect("a body").locs;
            assert_eq!(locs.len(), 2);
            assert_eq!((locs[0].0, locs[0].1.file, locs[0].1.line, locs[0].1.column), (0, 1, 5, 3));
            assert_eq!((locs[1].0, locs[1].1.line), (1, 7));
            assert_eq!(locs[1].1.function.as_deref(), Some("foo"));
            assert_eq!(locs[1].1.inlined_at, Some((1, 5, 3)));
        },
    );
}

#[test]
fn forms_are_one_however_they_are_written() {
    with(".entry k() { .reg .b32 a; add.s32 a, a, a; add .s32 a, a, a; add.u32 a, a, a; }", |m| {
        let names: Vec<Vec<&str>> = m
            .forms
            .values()
            .map(|f| {
                let modifiers = f.modifiers.iter().map(|&s| m.names.text(s));
                std::iter::once(m.names.text(f.opcode)).chain(modifiers).collect()
            })
            .collect();
        assert_eq!(names, [["add", "s32"], ["add", "u32"]]);
    });
}

#[test]
fn calls_and_tables() {
    with(
        ".func (.param .b32 r) f(.param .b32 a) { ret; }\n\
         .func g() { ret; }\n.func h();\n.alias h, g;\n\
         .entry k() { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
         T: .branchtargets A<2>, B;\n C: .calltargets g, h;\n\
         P: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;\n\
         call (%r1), f, (%r2); call g; call %rd1, C; call.uni (_), %rd1, (5), P;\n\
         brx.idx %r1, T; A0: A1: B: ret; }",
        |module| {
            let mut functions = module.functions.values();
            assert!(functions.next().is_some_and(|f| f.returns.len() == 1 && f.params.len() == 1));
            let alias = functions.nth(1).and_then(|f| f.alias).expect("an alias");
            assert_eq!(module.names.text(module.functions[alias].name), "g");
            let body = functions.next().and_then(|f| f.body.as_ref()).expect("a body");
            let kinds: Vec<String> = body
                .tables
                .values()
                .map(|t| match &t.kind {
                    TableKind::Prototype { returns, params, noreturn } => {
                        format!("{} {} {noreturn}", returns.len(), params.len())
                    }
                    TableKind::CallTargets(list) => format!("{} functions", list.len()),
                    TableKind::BranchTargets(list) => format!("{} labels", list.len()),
                })
                .collect();
            assert_eq!(kinds, ["3 labels", "2 functions", "1 1 true"]);
            let calls: Vec<_> = body
                .items
                .iter()
                .filter_map(|item| match item {
                    BodyItem::Call(call) => Some((
                        call.returns.len(),
                        call.arguments.len(),
                        matches!(call.callee, Callee::Register(..)),
                    )),
                    _ => None,
                })
                .collect();
            assert_eq!(calls, [(1, 1, false), (0, 0, false), (0, 0, true), (1, 1, true)]);
        },
    );
}

fn ptx_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            ptx_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "ptx") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_of_the_corpus_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut files = Vec::new();
    for folder in ["cuda", "conformance"] {
        ptx_files(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 60, "the corpus is there");
    for path in files {
        let text = std::fs::read_to_string(&path).expect("text");
        let file = SourceFile::new(path.display().to_string(), text);
        let mut diagnostics = Diagnostics::default();
        let result = read(SourceId(0), &file, &mut diagnostics);
        let first = diagnostics.iter().next();
        assert!(result.is_ok() && first.is_none(), "{}: {first:?}", path.display());
    }
}
