//! Sources made to harm: the answer is a diagnostic or a stage graph, in bounded time and memory
//! and on an ordinary stack.

mod common;

use common::parse_text;

use proptest::prelude::*;

/// The codes of the errors of a text, in order.
fn errors(text: &str) -> Vec<&'static str> {
    nbcc_testing::errors(&parse_text("hostile.halide", text).1)
}

/// The text at the first error.
fn blamed(text: &str) -> String {
    let (_, diagnostics, file) = parse_text("hostile.halide", text);
    let first = diagnostics.iter().find(|d| d.severity == nbcc_base::Severity::Error);
    let span = first.expect("an error").span.expect("a place");
    file.text[span.start as usize..span.end as usize].to_owned()
}

const MANY: usize = 1_000_000;

#[test]
fn brackets_nested_a_million_deep_are_refused() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("(", "")] {
        let text = format!("Func out(x, y) = {}in(x, y){};", open.repeat(MANY), close.repeat(MANY));
        assert_eq!(errors(&text), ["E0106"], "{open}");
    }
    let text = format!("{}Func out(x, y) = in(x, y);{}", "{".repeat(MANY), "}".repeat(MANY));
    assert_eq!(errors(&text), ["E0106"]);
}

#[test]
fn nesting_without_brackets_is_bounded_too() {
    for (repeated, end) in [("if (true) ", ";"), ("for (int i = 0; i < 1; i++) ", ";")] {
        let text = format!("Func out(x, y) = in(x, y);\n{}{end}", repeated.repeat(MANY / 10));
        assert_eq!(errors(&text), ["E0106"], "{repeated}");
    }
    let text =
        format!("const int n = {}1;\nFunc out(x, y) = in(x, y);", "true ? 1 : ".repeat(MANY / 10));
    assert_eq!(errors(&text), Vec::<&str>::new());
    let text =
        format!("const int n = {}1;\nFunc out(x, y) = in(x, y);", "false ? 1 : ".repeat(MANY / 10));
    assert_eq!(errors(&text), ["E0106"]);
}

#[test]
fn long_flat_expressions_and_chains_are_no_nesting() {
    let sum = format!("Func out(x, y) = in(x, y){};", " + in(x, y)".repeat(20_000));
    assert_eq!(errors(&sum), Vec::<&str>::new());
    let prefix = format!("Func out(x, y) = {}in(x, y);", "-".repeat(50_001).replace("--", "- "));
    assert_eq!(errors(&prefix), Vec::<&str>::new());
    let chain = format!("Func out(x, y) = in(x, y);\nout{};", ".compute_root()".repeat(20_000));
    assert_eq!(errors(&chain), Vec::<&str>::new());
    let branches = format!("if (false) {{}}{}", " else if (false) {}".repeat(20_000));
    assert_eq!(errors(&format!("Func out(x, y) = in(x, y);\n{branches}")), Vec::<&str>::new());
}

#[test]
fn endless_loops_are_stopped_at_the_loop() {
    let text =
        "Expr e = 0.0f;\nfor (int i = 0; i < 1000000000000; i++) e += 1.0f;\nFunc out(x) = e;";
    assert_eq!(errors(text), ["E0130"]);
    assert_eq!(blamed(text), "for (int i = 0; i < 1000000000000; i++)");
    let text = "for (;true;) {}\nFunc out(x) = in(x);";
    assert_eq!(errors(text), ["E0130"]);
    let nested = "for (int i = 0; i < 3; i++) for (int j = 0; j >= 0; ) {}\nFunc out(x) = in(x);";
    assert_eq!(blamed(nested), "for (int j = 0; j >= 0; )");
    let calls = "int f(int n) { for (int i = 0; i < n; i++) {} return n; }\n\
                 for (int i = 0; i < 100; i++) { f(100000); }\nFunc out(x) = in(x);";
    assert_eq!(blamed(calls), "for (int i = 0; i < n; i++)");
}

#[test]
fn recursion_without_end_is_stopped() {
    let text = "int f(int n) { return f(n + 1); }\nconst int n = f(0);\nFunc out(x) = in(x);";
    assert_eq!(errors(text), ["E0106"]);
    let text =
        "int f(int n) { return f(n + 1) + f(n + 2); }\nconst int n = f(0);\nFunc out(x) = in(x);";
    assert_eq!(errors(text), ["E0106"]);
    // 2^40 calls that are not deep.
    let text = "int f(int n) { if (n == 0) return 0; return f(n - 1) + f(n - 1); }\n\
                const int n = f(40);\nFunc out(x) = in(x);";
    assert_eq!(errors(text), ["E0130"]);
}

#[test]
fn growth_is_bounded() {
    for text in [
        "Func f[1000000000];\nFunc out(x) = in(x);",
        "int f[1000][1000][1000];\nFunc out(x) = in(x);",
        // Expressions are shared, so doubling costs nothing until it is looked at.
        "Expr e = 1.0f;\nfor (int i = 0; i < 900000; i++) { e = e + e; }\nfor (int i = 0; i < 1000; i++) { \
         Func f; f(x) = e; }\nFunc out(x) = e;",
    ] {
        assert_eq!(errors(text), ["E0130"], "{text}");
    }
    let shared = "Expr e = in(x);\nfor (int i = 0; i < 1000; i++) { e = e + e; }\nFunc out(x) = e;";
    assert_eq!(errors(shared), Vec::<&str>::new());
}

#[test]
fn many_names_are_looked_up_in_bounded_time() {
    let many = |count: usize, line: &str| -> String {
        (0..count).map(|n| line.replace('#', &n.to_string())).collect()
    };
    let inputs = many(50_000, "ImageParam in#(Float(32), 2);\nParam<float> p# = 1.0f;\n");
    assert_eq!(errors(&format!("{inputs}Func out(x, y) = in0(x, y) * p0;")), Vec::<&str>::new());
    let implicit = many(50_000, "Func func#(x) = fun#(x);\n");
    assert_eq!(errors(&format!("{implicit}Func out(x) = func0(x);")), ["E0121"; 100]);
    let known = many(50_000, "Func known#(x) = x;\n");
    let unknown = many(2_000, "Func f#(x) = knows#;\n");
    assert_eq!(errors(&format!("{known}{unknown}")), ["E0120"; 100]);
    let splits = many(20_000, "out.split(x, x, x#, 2);\n");
    assert_eq!(errors(&format!("Func out(x) = in(x);\n{splits}")), ["E0130"]);
}

#[test]
fn names_of_types_are_read_in_bounded_time() {
    let out = "Func out(x, y) = in(x, y);\n";
    let accepted = [
        "template<typename T> Expr f#(T a) { return cast<T>(a); }\n",
        "typedef int Type#;\nType# n# = 3;\n",
        "using std::vector;\n",
        "enum E# { A#, B# };\nE# e# = A#;\n",
        "HALIDE_REGISTER_GENERATOR(Blur<float>, blur#)\n",
        "#if 0\n#else\n#endif\n",
    ];
    for line in accepted {
        let many: String = (0..50_000)
            .map(|n| match line.starts_with("#if") {
                true => line.to_owned(),
                false => line.replace('#', &n.to_string()),
            })
            .collect();
        assert_eq!(errors(&format!("{many}{out}")), Vec::<&str>::new(), "{line}");
    }
    let open = [
        "template<",
        "using ",
        "map<",
        "const map<",
        "typedef ",
        "enum ",
        "class A<",
        "[=](",
        "switch (x) {",
    ];
    for part in open {
        let found = errors(&format!("{}{out}", part.repeat(300_000)));
        assert!((1..=20).contains(&found.len()), "{part}: {found:?}");
    }
    let generators: String = (0..20_000)
        .map(|n| format!("class G{n} : public Generator<G{n}> {{ Output<Func> o; void generate() {{ o(x) = {n}; }} }};\n"))
        .collect();
    assert_eq!(errors(&generators), Vec::<&str>::new());
    let arms: String = (0..50_000).map(|n| format!("case {n}: f(x) += {n};\n")).collect();
    let switch =
        format!("Func f(x) = 0;\nfor (int i = 0; i < 50000; i++) {{ switch (i) {{ {arms} }} }}");
    assert_eq!(errors(&switch), ["E0130"]);
    let closures = "int n = 0;\nfor (int i = 0; i < 100000; i++) { auto f = [=](int k) { return k; }; n = f(i); }\n";
    assert_eq!(errors(&format!("{closures}{out}")), ["E0130"]);
    let nested = format!("auto f = {}1{};\n{out}", "[] { return ".repeat(5000), "; }".repeat(5000));
    assert_eq!(errors(&nested), ["E0106"]);
}

#[test]
fn what_is_no_text_is_refused() {
    assert_eq!(errors("Func out(x, y) = in(x, y);\0")[0], "E0100");
    assert_eq!(errors(&"\0".repeat(MANY))[0], "E0100");
    assert_eq!(errors("Func out(x, y) = in(x, y); /* the end"), ["E0102"]);
    // `/*/*/` is a comment, so that a `*` stands behind it.
    assert_eq!(errors(&"/*".repeat(MANY)), ["E0102", "E0110"]);
    assert_eq!(errors(&format!("\"{}", "x".repeat(MANY))), ["E0103"]);
    assert_eq!(errors(""), ["E0192"]);
    assert_eq!(errors(" \t\r\n// nothing\n/* at all */"), ["E0192"]);
}

#[test]
fn ten_megabytes_are_read() {
    let line = "Func f(x, y) = in(x, y) * 2.0f; // a line of the text\n";
    let mut text = String::new();
    let mut number = 0;
    while text.len() < 10_000_000 {
        text.push_str(&line.replace("f(x", &format!("f{number}(x")));
        number += 1;
    }
    assert_eq!(errors(&text), Vec::<&str>::new());
    let garbage = "alpha beta gamma ; ".repeat(10_000_000 / 19);
    assert!((1..=20).contains(&errors(&garbage).len()));
    assert!(errors(&"x".repeat(10_000_000)).len() <= 2);
    assert!(errors(&"9".repeat(10_000_000)).len() <= 2);
    assert_eq!(errors(&"é".repeat(5_000_000)), ["E0101"]);
    for nothing in ["/**/", "//\n", "/* \n */ //\n\t", "Halide::"] {
        let text = format!("{}Func out(x, y) = in(x, y);", nothing.repeat(MANY));
        assert_eq!(errors(&text), Vec::<&str>::new());
    }
}

#[test]
fn too_many_operations_are_refused() {
    let minus = format!("Func out(x) = {}x;", "- ".repeat(3_900_000));
    assert_eq!(errors(&minus), ["E0130"]);
}

#[test]
fn warnings_do_not_end_elaboration() {
    let ignored = "p.set_range(0.0f, 1.0f);\n".repeat(1001);
    let text = format!("Param<float> p = 1.0f;\n{ignored}Func out(x) = p * x;");
    assert_eq!(errors(&text), Vec::<&str>::new());
}

const SMALL: &str = "\
ImageParam in(UInt(8), 2);
Param<float> gain = 1.5f;
Func blur(Func f, int n) {
    Func b;
    RDom r(-n, 2 * n + 1);
    r.where(r.x != 0);
    b(x, y) = sum(f(x + r.x, y)) / n;
    return b;
}
Func level[3];
level[0](x, y) = cast<float>(in(x, y)) * gain;
for (int i = 1; i < 3; i++) level[i] = blur(level[i - 1], i);
RDom h(0, in.width(), 0, in.height());
Func hist(i) = 0;
hist(in(h.x, h.y)) += 1;
Func pair(x, y) = {level[2](x, y), hist(clamp(x, 0, 255))};
Func edge = BoundaryConditions::mirror_image(in);
Output<Buffer<float, 2>> out;
out(x, y) = select(pair(x, y)[0] > 0.5f, pair(x, y)[0], edge(x, y) / 255.0f);
out.bound(x, 0, 64).compute_root().ipim_tile(x, y, xi, yi, 8, 8).vectorize(xi, 4);
hist.update(0).unroll(h.x, 2);
Func part = hist.update().rfactor(h.y, row);
";

const GENERATOR: &str = "\
#ifdef NEVER
#else
enum class Way { Fast, Slow = 3 };
#endif
std::map<std::string, Way> ways() { return {{\"fast\", Way::Fast}, {\"slow\", Way::Slow}}; }
template<typename T, int N>
Expr scaled(T value) { return cast<T>(value) * N; }
template<class T>
class Wide : public Generator<Wide<T>> {
public:
    using Base = Generator<Wide<T>>;
    GeneratorParam<Way> way{\"way\", Way::Slow, ways()};
    Input<Buffer<T, 1>[2]> in{\"in\"};
    Input<float[2]> gains{\"gains\", 1.0f};
    Output<Func[]> out{\"out\", Float(32), 1};
    void generate() {
        out.resize(2);
        auto twice = [&](Expr e) -> Expr { return e * gains[0]; };
        int n = sizeof(T);
        while (true) { n++; if (n > 4) break; else continue; }
        switch (way) { case Way::Fast: n = 1; break; case Way::Slow: default: n += 2; }
        assert(n == 7) << \"so many\";
        out[0](x) = twice(in[0](x)) + scaled<float, 3>(gains[1]) + n;
        Func f(x) = out[0](x);
        out[1] = f;
        schedule = [=]() { out[0].compute_root(); };
    }
    std::function<void()> schedule;
    Var x;
};
HALIDE_REGISTER_GENERATOR(Wide<float>, wide)
HALIDE_REGISTER_GENERATOR((Wide<double>), wide_double)
";

#[test]
fn every_prefix_is_answered() {
    for text in [SMALL, GENERATOR] {
        assert_eq!(errors(text), Vec::<&str>::new());
        for end in 0..text.len() {
            errors(&text[..end]);
        }
    }
}

proptest! {
    #![proptest_config(nbcc_testing::cases(2000))]

    #[test]
    fn damaged_programs_are_answered(text in nbcc_testing::damaged(SMALL, "_")) {
        errors(&text);
    }

    #[test]
    fn damaged_generators_are_answered(text in nbcc_testing::damaged(GENERATOR, "_")) {
        errors(&text);
    }
}
