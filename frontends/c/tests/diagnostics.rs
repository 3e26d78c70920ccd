//! What the frontend says of sources: the examples of its codes, places within macros and included
//! files, and several errors of one file.

mod common;

use std::path::Path;

use nbcc_base::{Diagnostic, Severity};
use nbcc_frontend_c::C;
use nbcc_pipeline::Frontend;

fn said(text: &str) -> Vec<Diagnostic> {
    common::parse(Path::new("/nowhere/example.c"), text, None).1
}

fn codes(text: &str) -> Vec<&'static str> {
    said(text).iter().map(|diagnostic| diagnostic.code.code).collect()
}

#[test]
fn examples_of_codes_trigger_them() {
    let mut wrong = Vec::new();
    for info in C.codes() {
        let (_, text) = info.example.split_once('\n').expect("a command line");
        // A file that includes itself is one for the driver, which has files.
        let text = text
            .replace("#include \"example.c\"\n", "#if 1\n")
            .replace("#if 1\nint f(void) { return 1; }\n", &nested());
        let found = codes(&text);
        if !found.contains(&info.code) {
            wrong.push(format!("{}: {found:?}", info.code));
        }
        for diagnostic in said(&text) {
            if diagnostic.severity == Severity::Error && diagnostic.help.is_none() {
                wrong.push(format!("{}: no help", info.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Parentheses that nest too deep.
fn nested() -> String {
    format!("int f(void) {{ return {}1{}; }}\n", "(".repeat(300), ")".repeat(300))
}

#[test]
fn several_errors_of_a_file_are_reported() {
    let text = "int f(int a) { return b; }\nint g(int a) { return a +; }\nint h(int a) { float x; return c; }\n";
    assert_eq!(codes(text), ["E3051", "E3050", "E3020", "E3051"]);
}

#[test]
fn an_error_in_a_macro_stands_where_it_is_used() {
    let text = "#define BAD(x) ((x) + missing)\nint f(int a) { return BAD(a); }\n";
    let all = said(text);
    let [error] = &all[..] else { panic!("{all:?}") };
    let span = error.span.expect("a place");
    assert_eq!(&text[span.start as usize..span.end as usize], "BAD");
    let definition = error.labels.iter().find(|label| label.text.contains("defined here"));
    let definition = definition.expect("the definition").span;
    assert_eq!(&text[definition.start as usize..definition.end as usize], "BAD");
}

#[test]
fn an_error_in_a_header_names_the_line_that_includes_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-headers");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("broken.h"), "static int g(void) { return missing; }\n")
        .expect("a file");
    let text = "\n#include \"broken.h\"\nint f(void) { return g(); }\n";
    let (_, all) = common::parse(&folder.join("main.c"), text, None);
    let [error] = &all[..] else { panic!("{all:?}") };
    assert_eq!(error.span.expect("a place").source.0, 1);
    let label = error.labels.iter().find(|label| label.text == "included here").expect("where");
    assert_eq!(label.span.source.0, 0);
    assert_eq!(label.span.start, 10);
}

/// Sources that each have exactly these diagnostics.
#[test]
fn what_is_wrong_is_named() {
    let cases: &[(&str, &[&str])] = &[
        ("int f(int a[4]) { return a[-1]; }", &["E3063"]),
        ("int f(int a[4]) { return a[4]; }", &["E3063"]),
        ("int f(int a[4]) { return 4[a]; }", &["E3063"]),
        ("int f(int a[4]) { return &a[4] - a; }", &[]),
        ("int f(int a[4], int b[8]) { return &a[b[8]] - a; }", &["E3063"]),
        ("int f(int a[4]) { a++; return a[-1]; }", &[]),
        ("int f(int a[4]) { return a[3] + (a + 2)[2]; }", &["E3063"]),
        ("static int g(int a[4]) { return a[4]; } int f(int a[8]) { return g(a); }", &[]),
        ("int f(int a[2][3]) { return a[2][0]; }", &["E3063"]),
        ("int f(int a[2][3]) { return a[0][5]; }", &[]),
        ("int f(int a[2][3]) { return a[1][3]; }", &["E3063"]),
        ("int f(int n, int a[n]) { return a[-1]; }", &[]),
        ("int f(int n, int a[n][3]) { return a[0][7]; }", &[]),
        ("int f(void) { int a[2][3] = {{0}}; return a[0][6]; }", &["E3063"]),
        ("int f(void) { int a[2][3] = {{0}}; return a[1][-4]; }", &["E3063"]),
        ("int f(void) { int a[2][3] = {{0}}; return a[1][-3]; }", &[]),
        ("int f(void) { int a[2][3] = {{0}}; return &a[2][0] - &a[0][6]; }", &[]),
        ("int f(int i) { int a[2][3] = {{0}}; return a[i][7]; }", &[]),
        (
            "struct s { int a[3], b; }; int f(void) { struct s x = {{1}}; return x.a[3]; }",
            &["E3063"],
        ),
        ("struct s { int a[3]; }; int f(struct s x[2]) { return x[0].a[2]; }", &[]),
        ("struct s { int a[3]; }; int f(struct s x[2]) { return x[2].a[0]; }", &["E3063"]),
        ("int f(void) { return \"abc\"[3]; }", &[]),
        ("int f(void) { return \"abc\"[5]; }", &["E3063"]),
        ("int f(void) { int a[2][3] = {{0}}; return a[0][5]; }", &[]),
        ("int f(void) { int a[2][3] = {{0}}; return a[2][0]; }", &["E3063"]),
        ("int f(int n) { return n ? 1 / (n - n) : 0; }", &[]),
        ("int f(int n) { return 0 ? 1 / 0 : n; }", &[]),
        ("int f(int n) { return sizeof(1 / 0) + n; }", &[]),
        ("int f(int n) { const int c = 1; c = n; return c; }", &["E3055"]),
        ("int f(const int *p, int *q) { q = p; return *q; }", &["E3055"]),
        ("int f(int *p) { return *(long *)p; }", &["E3036"]),
        ("int f(int *p) { return (int)p; }", &["E3036"]),
        ("int f(int *p) { int *q = 5; return *q; }", &["E3036"]),
        ("int f(int n) { return g(n); }", &["E3051"]),
        ("int f(int n) { return memcpy(n); }", &["E3051"]),
        ("int f(int n) { void *p = malloc(n); return 0; }", &["E3027"]),
        (
            "static int g(int n); int f(int n) { return n ? g(n - 1) : 0; } static int g(int n) { return f(n); }",
            &["E3025"],
        ),
        ("int f(int n) { int n = 2; return n; }", &["E3058"]),
        ("int f(int n) { { int n = 2; return n; } }", &[]),
        ("int f(int n) { n++; continue; }", &["E3059", "W3073"]),
        ("int f(int n) { if (n) return 1; }", &["W3073"]),
        ("int f(int n) { }", &["E3056", "W3073"]),
        ("int f(int n) { while (1) { if (n++ > 5) return n; } }", &[]),
        ("int f(int n) { for (;;) { if (n++ > 5) break; } }", &["E3056", "W3073"]),
        ("int f(int n) { switch (n) { case 0: return 1; default: return 2; } }", &[]),
        ("int f(int n) { switch (n) { case 0: return 1; } }", &["W3073"]),
        ("int f(int n) { do { return n; } while (0); }", &[]),
        ("#include <assert.h>\nint f(int n) { if (n) return n; assert(0); }", &[]),
        ("static int g(int *p) { *p = 3; } int f(int n) { g(&n); return n; }", &["W3073"]),
        ("static int g(int *p) { *p = 3; } int f(int n) { return g(&n); }", &["W3073", "E3056"]),
        ("int f(void)[3]; int g(int n) { return n; }", &["E3053"]),
        ("int f(void)[3] { } int g(int n) { return n; }", &["E3053"]),
        ("int f(void)(void); int g(int n) { return n; }", &["E3053"]),
        ("int f(int n) { switch (n) { case n: return 1; } return n; }", &["E3064"]),
        ("int f(int n) { int *a[3]; return n; }", &["E3038"]),
        ("int f(int **p) { return **p; }", &["E3037"]),
        ("struct s { int a; }; int f(struct s *p) { return p.a; }", &["E3067"]),
        ("struct s { int a; }; int f(struct s *p) { return p->b; }", &["E3067"]),
        ("int f(int n) { struct t x; return n; }", &["E3060"]),
        ("int f(int n) { int a[] = { 1, 2, 3 }; return a[n]; }", &[]),
        ("int f(int n) { int a[2] = { [2] = 1 }; return a[n]; }", &["E3063"]),
        ("int f(int n) { char a[2] = \"abc\"; return a[n]; }", &["E3065"]),
        ("void g(void) {} int f(int n) { return g(); }", &["E3053"]),
        ("int f(int n) { return n = 1 ? 2 : 3 = n; }", &["E3066"]),
        ("int f(int n) { if (n) return 1; else return 2; n++; }", &[]),
        ("typedef int t; int f(t t) { return t * t; }", &[]),
        ("enum e { A, A }; int f(void) { return A; }", &["E3058"]),
        ("int f(void) { return _Alignof(struct missing); }", &[]),
        ("int f(int n) { return n; } int f(int m) { return m; }", &["E3058"]),
        ("int a; long a; int f(int n) { return n; }", &["E3058"]),
        ("int f(int n) { extern int x[]; return n; }", &[]),
        ("int f(int n) { extern int x[]; return x[n]; }", &["E3072"]),
        ("extern int x; int f(int n) { return n + x; }", &["E3072"]),
        ("extern int x; int f(int n) { return n + sizeof x; }", &[]),
        ("int f(int n) { extern int x = 3; return n + x; }", &["E3065"]),
        ("int x(int n) { return n; } int f(int n) { extern int x; return n; }", &["E3058"]),
        ("int x; int f(int n) { extern long x; return n; }", &["E3058"]),
        ("int x = 0; int x = 0; int f(int n) { return n + x; }", &["E3058"]),
        ("static int g(int n); int f(int n) { return g(n) + g(1); }", &["E3072"]),
        ("int g(int n); static int h(int n) { return g(n); } int f(int n) { return n; }", &[]),
        ("static int g(); int f(int n) { return g(n); } static int g(int x) { return x; }", &[]),
        (
            "static int g(); int f(int n) { return g(n); } static int g(long x) { return x; }",
            &["E3053"],
        ),
        (
            "static int g(); int f(int n) { return g(n, 1); } static int g(int x) { return x; }",
            &["E3054"],
        ),
        (
            "static int g(); int f(int n) { return g(); } static int g(int x) { return x; }",
            &["E3054"],
        ),
        (
            "static int g(); int f(int *p) { return g(p); } static int g(int x) { return x; }",
            &["E3053"],
        ),
        (
            "static int g(); int f(int *p) { return g(p); } static int g(const int *x) { return *x; }",
            &[],
        ),
        (
            "static void h(void) {} static int g(); int f(int n) { return g(h()); } static int g() { return 1; }",
            &["E3053"],
        ),
        ("static int g(); int f(int n) { return g(n); }", &["E3072"]),
        ("static int g() { return 3; } int f(int n) { return g(n, n); }", &[]),
        ("static int g(void) { return 3; } int f(int n) { return g(n); }", &["E3054"]),
        (
            "static int g(); static int g(int x); int f(int n) { return g(n, 1); } static int g(int x) { return x; }",
            &["E3054"],
        ),
        (
            "static int g(int x); static int g(); int f(int n) { return g(n, 1); } static int g(int x) { return x; }",
            &["E3054"],
        ),
        (
            "static int g(); static int g(char x) { return x; } int f(int n) { return g(n); }",
            &["E3058"],
        ),
        ("static int g(char x); static int g(); int f(int n) { return n; }", &["E3058"]),
        (
            "static int g(int x); static int g() { return 1; } int f(int n) { return n; }",
            &["E3058"],
        ),
        (
            "static int g() { return 1; } static int g(int x); int f(int n) { return n; }",
            &["E3058"],
        ),
        (
            "static int g(void); static int g(int x) { return x; } int f(int n) { return n; }",
            &["E3058"],
        ),
        ("#define M(n) \\ \t\n (n + 1)\nint f(int n) { return M(n); }", &["W3014"]),
        ("// joined \\ \r\nint g(\nint f(int n) { return n; }", &["W3014"]),
        ("int f(int n) { return n \\ + 1; }", &["E3001"]),
        ("int f(int n) { if (0) return 5 / 0; return n; }", &[]),
        ("int f(int a[4]) { if (0) return a[10]; else return a[4]; }", &["E3063"]),
        ("int f(int a[4]) { if (1) return a[1]; else return a[4]; }", &[]),
        ("int f(int n) { int a[4] = { 0 }; if (sizeof a > 99) a[24] = 1; return a[n]; }", &[]),
        ("int f(int a[4]) { while (0) a[4] = 1; for (; 0; a[5]++) a[6]++; return 1; }", &[]),
        ("int f(int a[4]) { do a[4] = 1; while (0); return 1; }", &["E3063"]),
        ("int f(int a[4]) { for (a[4] = 0; 0;) ; return 1; }", &["E3063"]),
        ("int f(int a[4]) { if (0) if (a[0]) a[5] = 1; else { a[4] = 1; } return 1; }", &[]),
        (
            "int f(int a[4], int n) { switch (n) { if (0) { case 1: a[4] = 1; } } return 1; }",
            &["E3063"],
        ),
        (
            "int f(int a[4], int n) { switch (n) { default: break; a[4] = 1; } return 1; }",
            &["W3071"],
        ),
        (
            "int f(int a[4], int n) { switch (n) { break; case 1: a[4] = 1; } return 1; }",
            &["E3063"],
        ),
        ("int f(int a[4]) { return 1; a[4] = 1; }", &["W3071"]),
        ("int f(int a[4]) { for (;;) { if (a[0]) break; } a[4] = 1; return 1; }", &["E3063"]),
        ("int f(int a[4], int n) { if (0) switch (n) { case 1: a[4] = 1; } return 1; }", &[]),
        ("int f(int a[4]) { return a[0] && a[4]; }", &["E3063"]),
        ("x = 5; int f(int n) { return n; }", &["E3050"]),
        ("int f(int n) { é = 1; return n; }", &["E3001"]),
        ("int f(int n) { return n; } }", &["E3050"]),
        ("int f(int n) { return 1.5f * n; }", &["E3020"]),
        ("__attribute__((noinline, __unused__)) int f(int n) { return n; }", &["W3011", "W3011"]),
        ("__attribute__((section(\"a,b\"))) int f(int n) { return n; }", &["W3011"]),
        ("__attribute__((aligned(16))) int f(int n) { return n; }", &["E3044"]),
        ("typedef int w __attribute__((mode(DI))); int f(w n) { return n; }", &["E3044"]),
        ("int f(int n) { switch (n) { case 1 ... 7: return 1; } return 0; }", &["E3045"]),
        ("int f(int n) { return ({ int x = n; x + 1; }); }", &["E3045"]),
        ("int f(int n) { return n ?: 4; }", &["E3045"]),
        ("int f(int n) { return u'a' + n; }", &["E3045"]),
        ("int f(int n) { return L\"ab\"[n]; }", &["E3045"]),
        ("int f(int n) { int a[3] = { [0 ... 2] = 1 }; return a[n]; }", &["E3045"]),
        ("int f(int n) { int g(int x) { return x; } return n; }", &["E3045"]),
        ("int f(int n) { const char *s = __func__; return n; }", &["E3045"]),
        ("int f(int n) { return sizeof(int[4294967296][4294967296]) + n; }", &["E3012"]),
        ("int f(int n) { char *s = \"abc\"; return s[n]; }", &[]),
        ("int g(int n, const int a[n][n]); int f(int n) { return n; }", &[]),
        ("int g(int n, int [n][n]), h(int n, int (*a)[n + 1]); int f(int n) { return n; }", &[]),
        ("int g(int a[*][*]), h(int [const *], int [*]); int f(int n) { return n; }", &[]),
        ("int f(int n, int a[n][n]); int f(int n, int a[n][n]) { return a[1][2]; }", &[]),
        ("int f(int n, int a[*][4]); int f(int n, int a[n][n]) { return a[1][2]; }", &[]),
        ("int f(int a[7][3]); int f(int a[2][3]) { return a[1][2]; }", &[]),
        ("int f(int a[2][4]); int f(int a[2][3]) { return a[1][2]; }", &["E3058"]),
        ("int f(int n, long a[n][n]); int f(int n, int a[n][n]) { return n; }", &["E3058"]),
        ("int g(int a[3][m]); int f(int n) { return n; }", &["E3051"]),
        ("int g(int a[3][-1]); int f(int n) { return n; }", &["E3061"]),
        ("int g(int a[][]); int f(int n) { return n; }", &["E3060"]),
        ("int f(int n, int a[*][*]) { return n; }", &["E3026", "E3026"]),
        ("int f(int n) { int a[*]; return n; }", &["E3026"]),
        ("__attribute__(()) int f(int n) { return __extension__ (n + 1); }", &["W3011"]),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = codes(text);
        if found != *expected {
            wrong.push(format!("{text}\n  {found:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first error of a source: its code, the text at its place, its message and help.
fn first(text: &str) -> [String; 4] {
    let error = said(text).into_iter().find(|said| said.severity == Severity::Error);
    let error = error.unwrap_or_else(|| panic!("{text} is taken"));
    let span = error.span.expect("a place");
    let place = text[span.start as usize..].lines().next().unwrap_or_default().to_string();
    [error.code.code.to_string(), place, error.message, error.help.unwrap_or_default()]
}

/// Sources with a slip each, and what is said of it: code, what begins at the place, a part of the
/// message or of the help.
#[test]
fn slips_are_named_where_they_are() {
    let headers = "include <stdint.h>";
    let cases: &[(&str, &str, &str, &str)] = &[
        ("int f(int a) { return (int)(uint8_t)a; }", "E3052", "uint8_t)a", headers),
        ("int f(int a) { return (uint8_t)a; }", "E3052", "uint8_t)a", headers),
        ("int f(int a) { return (uint8_t)(a); }", "E3052", "uint8_t)(a)", headers),
        ("int f(int a) { return (uint8_t)-a; }", "E3052", "uint8_t)-a", headers),
        ("int f(int a) { return (uint8_t)7; }", "E3052", "uint8_t)7", headers),
        ("int f(int *a) { return *(foo *)a; }", "E3052", "foo *)a", "there is no type `foo`"),
        ("int f(int a) { return sizeof(int64_t) + a; }", "E3052", "int64_t) +", headers),
        ("int f(int a) { return (intptr_t)a; }", "E3052", "intptr_t)a", "pointers are no integers"),
        ("intptr_t f(int a) { return a; }", "E3052", "intptr_t f", "pointers are no integers"),
        ("int f(int a) { return f(a) a; }", "E3050", "a; }", "a `;` may be missing"),
        ("int f(int a) { if (a { return 1; } return 2; }", "E3050", "(a {", "close it with `)`"),
        ("int f(int n) { int x = (n + 1; return x; }", "E3050", "(n + 1;", "close it with `)`"),
        ("int f(int a[4], int n) { return a[n; }", "E3050", "[n;", "close it with `]`"),
        ("int f(int a[4], int n) { return (a[n) + 1; }", "E3050", "[n)", "close it with `]`"),
        (
            "int f(int n) { int i; for (i = 0; i < n; i++ { n--; } return n; }",
            "E3050",
            "(i = 0; i < n; i++ {",
            "close it with `)`",
        ),
        ("int f(int n) { if (n) { n++; return n; }", "E3050", "{ if", "close it with `}`"),
        ("int f(int n) { return n); }", "E3050", "); }", "remove it, or open it before"),
        (
            "int f(int n) { for (int i = 0, i < n, i++) n--; return n; }",
            "E3050",
            "< n, i++",
            "`;` between them",
        ),
        (
            "int f(int n) { int i; for (i = 0, i < n, i++) n--; return n; }",
            "E3050",
            ") n--",
            "`;` between",
        ),
        ("int f(int n) { for (int i = 0; i < n) n--; return n; }", "E3050", ") n--", "`;` between"),
        (
            "void f(int n, int o[n])\n{\n#pragma nbcc aray(NPEA)\n\n    for (int i = 0; i < n; i++) o[i] = i;\n}",
            "E3013",
            "pragma nbcc aray(NPEA)",
            "`#pragma nbcc aray ( NPEA )` is not known",
        ),
        ("int f(int n) { case 1: return n; }", "E3059", "1: return", "`case` outside of a switch"),
        (
            "static int g(int n) { return n; }\nint f(int n) { return g(n, n); }",
            "E3054",
            "g(n, n)",
            "`g` takes 1 argument and is given 2",
        ),
        ("struct s { int a; }\nint f(int n) { return n; }", "E3050", "}", "a `;` is missing"),
        (
            "struct s { int a; }\nstatic int f(int n) { return n; }",
            "E3050",
            "}",
            "a `;` is missing",
        ),
        (
            "struct s { int a; }\nstruct t { int b; };\nint f(int n) { return n; }",
            "E3050",
            "}",
            "a `;` is missing",
        ),
        ("enum e { A, B }\nvoid f(int n) { n++; }", "E3050", "}", "a `;` is missing"),
        (
            "typedef int t;\nstruct s { int a; }\nt f(int n) { return n; }",
            "E3050",
            "}",
            "a `;` is missing",
        ),
        ("int f(int n) { return n; }\nstruct s { int a; }", "E3050", "}", "a `;` is missing"),
        ("int f(int n) { else n++; return n; }", "E3050", "else", "an `else` without its `if`"),
        ("int f(int n) { if (n) n++; n--; else n = 3; return n; }", "E3050", "else", "put several"),
        (
            "int f(int n) { if (n) { n++; }; else n = 3; return n; }",
            "E3050",
            "else",
            "remove the `;`",
        ),
        (
            "int f(int n) { if (n) n++ else n = 3; return n; }",
            "E3050",
            " else",
            "a `;` is missing here",
        ),
        (
            "#define N = 16\nint f(void) { return N; }",
            "E3050",
            "N; }",
            "remove the `=` from `#define N`",
        ),
        (
            "#define N 16;\nint f(int a[99]) { return a[N]; }",
            "E3050",
            "N]",
            "remove the `;` from `#define N`",
        ),
        (
            "#define N 16;\nint f(int n) { for (int i = 0; i < N; i++) n--; return n; }",
            "E3050",
            "N; i++",
            "remove the `;` from `#define N`",
        ),
    ];
    let mut wrong = Vec::new();
    for &(text, code, place, part) in cases {
        let [found, at, message, help] = first(text);
        let says = message.contains(part) || help.contains(part);
        if found != code || !at.starts_with(place) || !says {
            wrong.push(format!("{text}\n  {found} at `{at}`: {message}; {help}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
