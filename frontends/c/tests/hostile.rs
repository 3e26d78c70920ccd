//! Sources that people do not write: each is answered in bounded time (seconds, of an optimised build), without a panic, by errors
//! or by a program.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

fn answered(name: &str, text: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let (_, said) = common::parse(Path::new("/nowhere/example.c"), text, None);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(60), "{name} took {took:?}");
    said.iter().map(|diagnostic| diagnostic.code.code).collect()
}

fn refused(name: &str, text: &str) {
    let codes = answered(name, text);
    assert!(!codes.is_empty(), "{name} is taken");
}

#[test]
fn deep_nesting_is_an_error() {
    const DEEP: usize = 1_000_000;
    let value = |open: &str, close: &str| {
        format!("int f(int a) {{ return {}a{}; }}", open.repeat(DEEP), close.repeat(DEEP))
    };
    refused("parentheses", &value("(", ")"));
    refused("brackets", &value("a[", "]"));
    refused("minus", &value("- ", ""));
    refused("not", &value("!", ""));
    refused("casts", &value("(int)", ""));
    refused("choices", &value("a ? 1 : ", ""));
    refused("sums", &value("a + ", ""));
    refused("assignments", &value("a = ", ""));
    refused("commas", &value("a, ", ""));
    refused("members", &value("", ".x"));
    refused("blocks", &format!("int f(void) {{ {} }}", "{".repeat(DEEP)));
    refused("ifs", &format!("int f(int a) {{ {} return 1; }}", "if (a) ".repeat(DEEP)));
    refused("elses", &format!("int f(int a) {{ {} ; return 1; }}", "if (a) ; else ".repeat(DEEP)));
    refused("loops", &format!("int f(int a) {{ {} ; return 1; }}", "while (a) ".repeat(DEEP)));
    refused("pointers", &format!("int f(int {} a) {{ return 1; }}", "*".repeat(DEEP)));
    refused("arrays", &format!("int f(void) {{ int a{}; return 1; }}", "[1]".repeat(DEEP)));
    refused("conditions", &"#if 1\n".repeat(DEEP));
    refused("#if", &format!("#if {}1\n#endif\n", "(".repeat(DEEP)));
    refused("#if minus", &format!("#if {}1\n#endif\nint f(void);", "-".repeat(DEEP)));
    refused("structures", &format!("{} int a; {}", "struct { ".repeat(DEEP), "};".repeat(DEEP)));
}

#[test]
fn macro_bombs_are_an_error() {
    let mut bomb = String::from("#define A0 1\n");
    for n in 1..100 {
        bomb.push_str(&format!("#define A{n} A{0} A{0}\n", n - 1));
    }
    refused("doubling", &format!("{bomb}int f(void) {{ return A99; }}"));
    let mut chain = String::from("#define A0 1\n");
    for n in 1..1000 {
        chain.push_str(&format!("#define A{n} A{}\n", n - 1));
    }
    refused("chain", &format!("{chain}int f(void) {{ return A999; }}"));
    let twice = "#define T(x) x x\n";
    let calls = format!("{}1{}", "T(".repeat(40), ")".repeat(40));
    refused("arguments", &format!("{twice}int f(void) {{ return {calls}; }}"));
    // Each argument would be kept by all uses around it.
    let calls = format!("{}1{}", "F(".repeat(1_000_000), ")".repeat(1_000_000));
    for body in ["x", "x(x)"] {
        refused("nested", &format!("#define F(x) {body}\nint f(void) {{ return {calls}; }}"));
    }
    let calls = format!("{}{}1{}", "F(".repeat(250), "1+".repeat(500_000), ")".repeat(250));
    refused("kept", &format!("#define F(x) x\nint f(void) {{ return {calls}; }}"));
    refused("unended", "#define F(x) x\nint f(void) { return F(1; }");
    refused("joined", "#define J(a, b) a ## b\nint f(void) { return J(1, +); }");
}

#[test]
fn odd_bytes_are_an_error() {
    refused("NUL", "int f(void) { return 1; }\0");
    refused("control", "int f(void) { return \u{7}1; }");
    refused("unclosed text", "char *f = \"abc\nint g;");
    refused("unclosed comment", "int f(void) { return 1; } /*");
    refused("empty", "");
    refused("blanks", " \n\n\t");
    refused("backslashes", &"\\\n".repeat(100_000));
    refused("quotes", &"'".repeat(100_000));
}

#[test]
fn megabytes_are_read() {
    let digits = "1".repeat(1 << 20);
    refused("a long number", &format!("int f(void) {{ return {digits}; }}"));
    let name = "n".repeat(1 << 20);
    refused("a long name", &format!("int f(void) {{ return {name}; }}"));
    let text = "a".repeat(1 << 20);
    assert!(
        answered("a long text", &format!("int f(void) {{ return \"{text}\"[5]; }}")).is_empty()
    );
    let table = "12345,".repeat(200_000);
    let table = format!("static const int t[] = {{ {table} }};\nint f(int i) {{ return t[i]; }}");
    assert!(answered("a long table", &table).is_empty());
    refused("much source", &" ".repeat((16 << 20) + 1));
    let many = "int f(int a) { return a; }\n".repeat(50_000);
    refused("functions of one name", &many);
    let statements = "a++;".repeat(100_000);
    assert!(
        answered("statements", &format!("int f(int a) {{ {statements} return a; }}")).is_empty()
    );
}

#[test]
fn calls_that_grow_without_end_are_an_error() {
    let mut text = String::from("static int g0(int a) { return a + 1; }\n");
    for n in 1..40 {
        text.push_str(&format!("static int g{n}(int a) {{ return g{0}(g{0}(a)); }}\n", n - 1));
    }
    refused("doubling calls", &format!("{text}int f(int a) {{ return g39(a); }}"));
    let mut sums = String::from("static int g0(int a) { return a; }\n");
    for n in 1..40 {
        let called = n - 1;
        sums.push_str(&format!(
            "static int g{n}(int a) {{ return g{called}(a) + g{called}(a + 1); }}\n"
        ));
    }
    // They are counted, not inlined until they are too many.
    assert_eq!(
        answered("doubling sums", &format!("{sums}int f(int a) {{ return g39(a); }}")),
        ["E3012"]
    );
    assert!(answered("some calls", &format!("{sums}int f(int a) {{ return g9(a); }}")).is_empty());
    refused("a large array", "static int a[1 << 30];\nint f(int i) { return a[i]; }");
    refused(
        "a larger array",
        "static char a[1L << 62][1 << 20];\nint f(int i) { return a[i][0]; }",
    );
    refused("a far element", "static int a[] = { [1L << 40] = 1 };\nint f(int i) { return a[i]; }");
    refused(
        "a large structure",
        "struct s { int a[1 << 29], b[1 << 29], c[1 << 29]; } x;\nint f(int i) { return x.a[i]; }",
    );
}

#[test]
fn errors_without_end_are_bounded() {
    let many = |text: &str| text.repeat(100_000);
    let bounded = |name: &str, text: String| {
        let count = answered(name, &text).len();
        assert!((1..=100).contains(&count), "{name}: {count} errors");
    };
    bounded("braces", many("}"));
    bounded("parentheses", format!("int f(void) {{ return 1{}; }}", many(")")));
    bounded("statements", format!("int f(int a) {{ {} return a; }}", many("a = 1 + ; ")));
    bounded("functions", many("int f(int a) { return a + ; }\n"));
    bounded("cases", format!("int f(int a) {{ switch (a) {{ {} }} }}", many("case 1 a = 2;")));
    bounded("members", format!("struct s {{ {} }};", many("int x y;")));
    bounded("elements", format!("int t[] = {{ {} }};", many("1 2,")));
    bounded("names", many("a "));
    bounded("conditions", many("#if 1 +\n#endif\n"));
    bounded("directives", many("#else\n"));
    // Each is looked for up to the end of the file.
    bounded("uses", format!("#define F(x) x\n{}", many("int g = F(1;\n")));
    let calls = (0..50_000).map(|n| format!("int g{n}(int n) {{ return h{n}(n); }}\n"));
    bounded("unknown names", calls.collect());
}
