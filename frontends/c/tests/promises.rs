//! What `restrict` pointers promise is checked in checked programs: an element that is stored to and
//! reached through one is reached by nothing else while its block runs.

mod common;

use std::path::Path;

use nbcc_interp::function::{Given, Options, Trap, TrapKind, call};

/// Runs the last function of a source on its `n` and on arrays of 8 zeros.
fn run(text: &str, n: u64) -> Result<(), Trap> {
    let (module, func) =
        common::compile_as(Path::new("/nowhere/f.c"), text, Some("f"), true).expect("a program");
    let interface = module.functions[func].interface.as_ref().expect("an interface");
    let arrays = interface.params.iter().filter(|param| param.array.is_some());
    let arrays: Vec<Given<'_>> =
        arrays.map(|_| Given { extents: vec![8], bytes: &[0; 32] }).collect();
    call(&module, func, &[n], &arrays, &Options::default()).map(|_| ())
}

/// A broken promise: the element, the text of the access that broke it, that of the other one, and
/// whether the former was made under the promise.
#[track_caller]
fn broken(text: &str, element: (&str, usize), here: &str, there: &str, under: bool) {
    let trap = run(text, 8).expect_err("a broken promise");
    let TrapKind::Promise { element: found, is_under, other, .. } = *trap.kind else {
        panic!("{trap}")
    };
    let of = |span: Option<nbcc_base::Span>| {
        let span = span.expect("a place");
        &text[span.start as usize..span.end as usize]
    };
    assert_eq!(found.expect("an element"), (element.0.to_string(), element.1));
    assert_eq!((of(trap.span), of(other), is_under), (here, there, under));
}

#[test]
fn parameters_that_overlap_break_their_promise() {
    let text = "static void next(int n, int *restrict a, const int *restrict b) {\n\
                for (int i = 0; i + 1 < n; i++) a[i + 1] = b[i] + 1; }\n\
                void f(int n, int x[8]) { next(n, x, x); }\n";
    broken(text, ("x", 1), "b[i]", "a[i + 1] = b[i] + 1", false);
    run(text, 2).expect("no element is reached twice");
}

#[test]
fn a_promise_of_an_array_in_brackets_is_one() {
    let text = "static void add(int y[restrict], const int x[static restrict 4]) { y[0] += x[0]; }\n\
                void f(int n, int a[8]) { add(a, a + 1); add(a, a); }\n";
    broken(text, ("a", 0), "y[0] += x[0]", "x[0]", true);
}

#[test]
fn a_name_of_the_same_array_breaks_a_promise() {
    let text = "static int t[8];\ntypedef int *restrict vec;\n\
                static int inc(vec y) { y[3] += 1; return t[3]; }\n\
                int f(int n) { return inc(t); }\n";
    broken(text, ("t", 3), "t[3]", "y[3] += 1", false);
}

#[test]
fn pointers_of_blocks_and_of_the_file_promise_something_too() {
    let text = "int f(int n, int x[8]) { int *restrict q = x; q[1] = 3; return x[1]; }\n";
    broken(text, ("x", 1), "x[1]", "q[1] = 3", false);
    let text = "static int t[8];\nstatic int *restrict g = t;\n\
                int f(int n) { g[1] = n; return t[1]; }\n";
    broken(text, ("t", 1), "t[1]", "g[1] = n", false);
}

#[test]
fn a_pointer_that_is_chosen_at_run_time_has_an_origin() {
    let text = "static int *pick(int *p, int *q, int k) { return k ? p : q; }\n\
                static void add(int *restrict y, int *z, int k) {\n\
                int *w = pick(y, z, k); w[0] = 1; z[0] += 1; }\n\
                void f(int n, int a[8], int b[8]) { add(b, a, n); add(a, a, 0); add(a, a, n); }\n";
    broken(text, ("a", 0), "z[0] += 1", "w[0] = 1", false);
}

#[test]
fn memcpy_promises_that_nothing_overlaps() {
    let text = "#include <string.h>\n\
                void f(int n, int a[8]) { memcpy(a + 4, a, 16); memcpy(a + 1, a, 16); }\n";
    let trap = run(text, 8).expect_err("a broken promise");
    assert!(matches!(*trap.kind, TrapKind::Promise { .. }), "{trap}");
    run(&text.replace("memcpy(a + 1", "memmove(a + 1"), 8).expect("memmove may");
}

#[test]
fn promises_that_are_kept_are_no_fault() {
    let text = "static int t[8];\n\
        static void add(int n, int *restrict a, const int *restrict b) {\n\
        for (int i = 0; i < n; i++) a[i] += b[i]; }\n\
        static void halves(int n, int *restrict a) {\n\
        add(n / 2, a, a + n / 2); int *q = a; q[0] = 1; a[0]++; }\n\
        static int both(const int *restrict a, const int *restrict b) { return a[0] + b[0]; }\n\
        static void each(int n, int *restrict a) {\n\
        for (int i = 0; i < n; i++) { int *restrict p = a + i; *p++ += 1; } a[0] = 3; }\n\
        int f(int n, int x[8], int y[8]) {\n\
        halves(n, x); add(n, x, y); add(n, y, x); each(n, x);\n\
        for (int r = 0; r < 3; r++) {\n\
            int *restrict p = x, *restrict q = y;\n\
            for (int i = 0; i < n; i++) p[i] = q[i];\n\
            { int *restrict s = p; s[0] = 1; }\n\
            p[0]++;\n\
        }\n\
        for (int r = 0; r < 3; r++) { int *restrict p = y, *restrict q = x; p[r] = q[r]; }\n\
        { int *restrict z = x; z[1] = 4; z = y; z[1] = 5; }\n\
        x[0] = both(x, x);\n\
        return both(t, t) + x[1]; }\n";
    run(text, 8).expect("nothing wrong");
}
