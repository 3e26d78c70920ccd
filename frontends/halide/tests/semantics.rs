//! Pairs of pipelines that must compute the same: the shorter spelling and its expansion, or a
//! reduction and its parts. The interpreter runs both.

mod common;
#[path = "common/run.rs"]
mod run;

use run::run;

/// Both texts give the same images.
fn same(a: &str, b: &str, extent: &[u32], size: &[u32]) {
    let (x, y) = (run(a, extent, size), run(b, extent, size));
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter().zip(&y) {
        assert_eq!(x.ty, y.ty, "{a}\n{b}");
        assert_eq!(x.data, y.data, "{a}\n{b}");
    }
}

#[test]
fn rfactor_changes_no_integer_result() {
    let reductions = [
        ("Func f(x) = 7;", "f(x) += cast<int32_t>(in(r.x, r.y)) * (x + 1);"),
        ("Func f(x) = 7;", "f(x) *= cast<int32_t>(in(r.x, r.y)) | 1;"),
        ("Func f(x) = 200;", "f(x) = min(f(x), in(r.x, r.y) * x);"),
        ("Func f(x) = 3;", "f(x) = max(in(r.x, r.y) - x, f(x));"),
        ("Func f(x) = 0;", "f(x) = f(x) ^ (in(r.x, r.y) + x);"),
        ("Func f(x) = -1;", "f(x) = f(x) & (in(r.x, r.y) | 4660);"),
        ("Func f(x) = 0;", "f(clamp(cast<int32_t>(in(r.x, r.y)), 0, 63)) += 1;"),
        ("Func f(x) = 0;", "f(r.x) += cast<int32_t>(in(r.x, r.y));"),
        ("Func f(x) = 0;", "f(0) += cast<int32_t>(in(r.x, r.y));"),
    ];
    let splits = [
        ".rfactor(r.y, u)",
        ".rfactor(r.x, u)",
        ".rfactor({{r.x, u}, {r.y, v}})",
        ".split(r.x, ro, ri, 4).rfactor(ri, u)",
        ".split(r.x, ro, ri, 4).rfactor(ro, u)",
        ".reorder(r.y, r.x).split(r.y, yo, yi, 3).rfactor({{yo, u}, {r.x, v}})",
        ".fuse(r.x, r.y, all).split(all, o, i, 8).rfactor(i, u)",
        ".split(x, xo, xi, 4).unroll(r.x).rfactor(r.y, u)",
    ];
    let head = "ImageParam in(Int(32), 2);\nRDom r(2, 11, 1, 7);\n";
    for condition in ["", "r.where(r.x + r.y != 9);\n"] {
        for (first, update) in reductions {
            let plain = format!("{head}{condition}{first}\n{update}\nFunc out(x) = f(x);\n");
            for split in splits {
                if split.contains("split(x") && !update.starts_with("f(x)") {
                    continue;
                }
                let parts = format!(
                    "{head}{condition}{first}\n{update}\nFunc out(x) = f(x);\nFunc p = f.update(){split};\np.compute_root();\n"
                );
                same(&plain, &parts, &[16, 16], &[64]);
            }
        }
    }
}

#[test]
fn rfactor_of_the_best_keeps_the_value() {
    let head = "ImageParam in(Int(32), 2);\nRDom r(0, 16, 0, 16);\nFunc f() = Tuple(Int(32).min(), 0, 0);\n\
                Expr e = in(r.x, r.y);\nExpr c = e > f()[0];\n\
                f() = Tuple(select(c, e, f()[0]), select(c, r.x, f()[1]), select(c, r.y, f()[2]));\n";
    let tail =
        "Func out(x) = select(x == 0, f()[0], in(clamp(f()[1], 0, 15), clamp(f()[2], 0, 15)));\n";
    let parts = format!("{head}Func p = f.update().rfactor(r.y, v);\n{tail}");
    same(&format!("{head}{tail}"), &parts, &[16, 16], &[2]);
}

#[test]
fn boundary_conditions_are_their_formulas() {
    let head = "ImageParam in(Int(32), 2);\n";
    let w = "in.width()";
    let formulas = [
        ("repeat_edge(in)", format!("clamp(x, 0, {w} - 1)")),
        ("repeat_image(in)", format!("((x % {w}) + {w}) % {w}")),
        ("mirror_image(in)", {
            let p = format!("(2 * {w})");
            format!("select(x % {p} >= {w}, {p} - 1 - x % {p}, x % {p})")
        }),
        ("mirror_interior(in)", {
            let p = format!("(2 * ({w} - 1))");
            format!("select(x % {p} >= {w}, {p} - x % {p}, x % {p})")
        }),
    ];
    for (call, x) in formulas {
        for shift in [0, 3, 40] {
            let a = format!(
                "{head}Func b = BoundaryConditions::{call};\nFunc out(x, y) = b(x - {shift}, clamp(y, 0, 4));\n"
            );
            let b = format!(
                "{head}Func b(x, y) = in(clamp({x}, 0, {w} - 1), y);\nFunc out(x, y) = b(x - {shift}, clamp(y, 0, 4));\n"
            );
            same(&a, &b, &[7, 5], &[50, 5]);
        }
    }
    let a = "ImageParam in(Int(32), 2);\nFunc b = BoundaryConditions::constant_exterior(in, 9);\n\
             Func out(x, y) = b(x - 3, y - 2);\n";
    let b = "ImageParam in(Int(32), 2);\nFunc b(x, y) = select(x < 0 || x >= in.width() || y < 0 || \
             y >= in.height(), 9, in(clamp(x, 0, in.width() - 1), clamp(y, 0, in.height() - 1)));\n\
             Func out(x, y) = b(x - 3, y - 2);\n";
    same(a, b, &[7, 5], &[15, 10]);
    let list = "ImageParam in(Int(32), 2);\nFunc f(x, y) = in(x, y) * 2;\n\
                Func b = BoundaryConditions::mirror_image(f, {{2, 3}, {Expr(), Expr()}});\n\
                Func out(x, y) = b(x - 4, y);\n";
    let written = "ImageParam in(Int(32), 2);\nFunc f(x, y) = in(x, y) * 2;\n\
                   Func b(x, y) = f(2 + min(2, select((x - 2) % 6 >= 3, 5 - (x - 2) % 6, (x - 2) % 6)), y);\n\
                   Func out(x, y) = b(x - 4, y);\n";
    same(list, written, &[7, 5], &[20, 5]);
    let flat = list.replace("{{2, 3}, {Expr(), Expr()}}", "2, 3, Expr(), Expr()");
    same(&flat, written, &[7, 5], &[20, 5]);
}

#[test]
fn functions_are_their_expansions() {
    let pairs = [
        ("absd(a, b)", "select(a > b, a - b, b - a)", "UInt(8)"),
        ("absd(a, b)", "cast<uint16_t>(select(a > b, a - b, b - a))", "Int(16)"),
        ("abs(a)", "cast<uint32_t>(select(a < 0, 0 - a, a))", "Int(32)"),
        ("abs(a)", "a", "UInt(16)"),
        (
            "div_round_to_zero(a, b)",
            "select((a < 0) != (b < 0), 0 - (0 - a) / b, a / b)",
            "UInt(8)",
        ),
        (
            "div_round_to_zero(a, b) * b + mod_round_to_zero(a, b)",
            "select(b == 0, cast<int32_t>(0), a)",
            "Int(32)",
        ),
        ("saturating_cast<uint8_t>(a)", "cast<uint8_t>(clamp(a, 0, 255))", "Int(16)"),
        ("saturating_cast<int8_t>(a)", "cast<int8_t>(min(a, 127))", "UInt(16)"),
        ("saturating_cast<uint32_t>(a)", "cast<uint32_t>(max(a, 0))", "Int(32)"),
        ("saturating_cast<uint8_t>(a)", "cast<uint8_t>(clamp(a, 0.0f, 255.0f))", "Float(32)"),
        ("pow(a, 5)", "(a * a) * (a * a) * a", "Float(32)"),
        ("pow(a, 2)", "a * a", "UInt(8)"),
        ("mux(a % 3, {a, b, a + b})", "select(a % 3 == 0, a, a % 3 == 1, b, a + b)", "Int(32)"),
        ("-a", "0.0f - a", "Float(32)"),
        ("a % 2.5f", "a - 2.5f * floor(a / 2.5f)", "Float(32)"),
        ("min(a, b, 3)", "min(a, min(b, 3))", "Int(16)"),
        ("a << 3", "a * 8", "UInt(8)"),
        ("a >> -3", "a << 3", "Int(16)"),
        ("lerp(a, b, 0.25f)", "a * (1.0f - 0.25f) + b * 0.25f", "Float(32)"),
        // 64 of 255, rounded to nearest.
        (
            "lerp(a, b, cast<uint8_t>(64))",
            "cast<uint8_t>((cast<int32_t>(a) * 191 + cast<int32_t>(b) * 64 + 127) / 255)",
            "UInt(8)",
        ),
        ("lerp(a, b, 1.0f)", "b", "Int(8)"),
        ("lerp(a, b, cast<uint16_t>(0))", "a", "Int(16)"),
    ];
    for (short, long, ty) in pairs {
        let text = |e: &str| {
            format!(
                "ImageParam in({ty}, 2);\nFunc g(x, y) = in(y, x);\nExpr a = in(x, y), b = g(x, y);\nFunc out(x, y) = {e};\n"
            )
        };
        same(&text(short), &text(long), &[24, 24], &[24, 24]);
    }
}

#[test]
fn reductions_are_updates() {
    let head = "ImageParam in(Int(16), 2);\nRDom r(-1, 3, 0, 2);\nr.where(r.x != r.y);\n";
    let pairs = [
        ("sum(in(x + r.x + 1, y + r.y))", "0", "f(x, y) + in(x + r.x + 1, y + r.y)"),
        ("product(in(x + r.x + 1, y + r.y))", "1", "f(x, y) * in(x + r.x + 1, y + r.y)"),
        ("maximum(in(x + r.x + 1, y + r.y))", "-32768", "max(f(x, y), in(x + r.x + 1, y + r.y))"),
        ("minimum(r, in(x + r.x + 1, y + r.y))", "32767", "min(f(x, y), in(x + r.x + 1, y + r.y))"),
        ("sum(r, in(x, y + r.y))", "0", "f(x, y) + in(x, y + r.y)"),
        // Without a variable of the domain the update runs once, as the real Halide's.
        ("sum(r, in(x, y))", "0", "f(x, y) + in(x, y)"),
        ("product(r, in(x, y))", "1", "f(x, y) * in(x, y)"),
    ];
    for (inline, start, update) in pairs {
        let a = format!("{head}Func out(x, y) = {inline};\n");
        let b = format!(
            "{head}Func f(x, y) = cast<int16_t>({start});\nf(x, y) = {update};\nFunc out(x, y) = f(x, y);\n"
        );
        same(&a, &b, &[12, 12], &[8, 8]);
    }
    // An inner reduction inside an update over another domain.
    let a = "ImageParam in(Int(32), 2);\nRDom r(0, 4), s(0, 3);\nFunc out(x) = 0;\n\
             out(r.x) += sum(s, in(r.x + s.x, 0) * r.x);\n";
    let b = "ImageParam in(Int(32), 2);\nRDom r(0, 4);\nFunc out(x) = 0;\n\
             out(r.x) += (in(r.x, 0) + in(r.x + 1, 0) + in(r.x + 2, 0)) * r.x;\n";
    same(a, b, &[8, 1], &[4]);
    let a = "ImageParam in(UInt(8), 2);\nRDom r(0, 5, 0, 3);\nTuple t = argmax(in(r.x + x, r.y));\n\
             Func out(x) = t[0] + 10 * t[1] + 100 * cast<int32_t>(t[2]);\n";
    let b = "ImageParam in(UInt(8), 2);\nRDom r(0, 5, 0, 3);\nFunc f(x) = Tuple(0, 0, cast<uint8_t>(0));\n\
             Expr c = in(r.x + x, r.y) > f(x)[2];\nf(x) = Tuple(select(c, r.x, f(x)[0]), select(c, r.y, \
             f(x)[1]), select(c, in(r.x + x, r.y), f(x)[2]));\n\
             Func out(x) = f(x)[0] + 10 * f(x)[1] + 100 * cast<int32_t>(f(x)[2]);\n";
    same(a, b, &[12, 3], &[8]);
}

#[test]
fn shorter_spellings_mean_the_longer_ones() {
    let pairs = [
        // One value of a Tuple.
        (
            "Func f(x, y) = {in(x, y), in(y, x)};\nf(x, 0)[1] += 3;\nFunc out(x, y) = f(x, y)[0] - f(x, y)[1];",
            "Func f(x, y) = {in(x, y), in(y, x)};\nf(x, 0) = {f(x, 0)[0], f(x, 0)[1] + 3};\nFunc out(x, y) = f(x, y)[0] - f(x, y)[1];",
        ),
        // Implicit Vars on either side.
        (
            "Func f(x, y) = in(x, y);\nFunc g(_) = f(_) + 1;\nFunc h(y, _) = g(_, y);\nFunc out(x, y) = h(x, y);",
            "Func out(x, y) = in(y, x) + 1;",
        ),
        // Loops and functions of the compile-time language.
        (
            "Expr weigh(Func f, int n, int w[]) { Expr e = 0; for (int i = 0; i < n; i++) e += w[i] * f(x, y); return e; }\n\
             int w[] = {1, 2, 3};\nFunc f(x, y) = in(x, y);\nFunc out(x, y) = weigh(f, 3, w);",
            "Func out(x, y) = in(x, y) * 6;",
        ),
        (
            "Func f[3];\nf[0](x, y) = in(x, y);\nfor (int i = 1; i < 3; ++i) { f[i](x, y) = f[i - 1](x, y) * i; }\nFunc out(x, y) = f[2](x, y);",
            "Func out(x, y) = in(x, y) * 2;",
        ),
        // A Func is a handle.
        (
            "Func f(x, y) = in(x, y);\nFunc g = f;\ng(x, 0) = 5;\nFunc out(x, y) = f(x, y);",
            "Func out(x, y) = select(y == 0, 5, in(x, y));",
        ),
        // A definition that starts with an update.
        (
            "Func f;\nf(x, y) -= in(x, y);\nFunc g;\ng(x, y) *= in(x, y);\nFunc out(x, y) = f(x, y) + 2 * g(x, y);",
            "Func out(x, y) = in(x, y);",
        ),
    ];
    for (a, b) in pairs {
        let head = "ImageParam in(Int(32), 2);\n";
        same(&format!("{head}{a}\n"), &format!("{head}{b}\n"), &[9, 9], &[9, 9]);
    }
}
