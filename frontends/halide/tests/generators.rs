//! Generators compute what the same statements compute without a class, and a help that shows code
//! shows code that works.

mod common;
#[path = "common/run.rs"]
mod run;

use std::path::Path;

use common::{parse_file, parse_text};
use nbcc_base::{Diagnostic, SourceFile};
use nbcc_testing::files;
use run::run;

fn same(a: &str, b: &str) {
    let run = |text| {
        let (pipeline, ..) = parse_text("test.halide", text);
        let dims = pipeline.map_or(0, |p| p.funcs[p.outputs[0]].vars.len());
        run(text, &[24; 16], &[16; 16][..dims])
    };
    let (x, y) = (run(a), run(b));
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter().zip(&y) {
        assert_eq!((x.ty, &x.data), (y.ty, &y.data), "{a}\n{b}");
    }
}

fn generator(members: &str, generate: &str, schedule: &str) -> String {
    format!(
        "#include \"Halide.h\"\nusing namespace Halide;\nnamespace {{\n\
         class Tested : public Generator<Tested> {{\npublic:\n{members}\n\
         void generate() {{\n{generate}\n}}\nvoid schedule() {{\n{schedule}\n}}\n\
         private:\n  Var x{{\"x\"}}, y{{\"y\"}};\n}};\n}}\nHALIDE_REGISTER_GENERATOR(Tested, tested)\n"
    )
}

#[test]
fn a_generator_computes_what_its_statements_compute() {
    let members = "GeneratorParam<int> taps{\"taps\", 5};\n\
         Input<Buffer<int16_t>> image{\"image\", 2};\nOutput<Buffer<int32_t>> result{\"result\", 2};\n\
         Func rows{\"rows\"};\n\
         Func column_sum(Func f, int n = 2) { Func s; RDom r(0, n); s(x, y) = sum(cast<int32_t>(f(x, y + r))); return s; }";
    let generate = "rows(x, y) = cast<int32_t>(image(x, y)) * taps - image(x + 1, y);\n\
         Func twice = column_sum(rows);\nresult(x, y) = twice(x, y) ^ column_sum(rows, taps)(x, y);";
    let schedule = "rows.compute_root().vectorize(x, natural_vector_size<int32_t>());\n\
         if (get_target().has_gpu_feature()) { Var i, j; result.gpu_tile(x, y, i, j, 8, 8); }\n\
         result.specialize(image.width() > 8).parallel(y);";
    let plain = "ImageParam image(Int(16), 2);\nconst int taps = 5;\nFunc rows;\n\
         rows(x, y) = cast<int32_t>(image(x, y)) * taps - image(x + 1, y);\n\
         RDom r(0, 2), s(0, 5);\n\
         Func a(x, y) = sum(rows(x, y + r)), b(x, y) = sum(rows(x, y + s));\n\
         Func result(x, y) = a(x, y) ^ b(x, y);\n";
    same(&generator(members, generate, schedule), plain);
}

#[test]
fn undef_keeps_what_was_there() {
    let head = "ImageParam in(Int(32), 2);\nFunc f(x, y) = in(x, y);\n";
    let end = "Func out(x, y) = f(x, y);\n";
    let with = "f(x, y) = select(in(x, y) % 3 == 0, undef<int32_t>(), in(x, y) % 3 == 1, 7, undef<int32_t>());\n";
    let without = "f(x, y) = select(in(x, y) % 3 == 1, 7, f(x, y));\n";
    same(&format!("{head}{with}{end}"), &format!("{head}{without}{end}"));
    same(
        "ImageParam in(Int(32), 1);\nFunc f(x) = undef<int32_t>();\nf(x) = in(x);\nFunc out(x) = f(x);\n",
        "ImageParam in(Int(32), 1);\nFunc out(x) = in(x);\n",
    );
}

#[test]
fn lists_and_vectors_run_in_order() {
    let vectors = "ImageParam in(Int(32), 1);\nstd::vector<Func> steps;\nFunc first(x) = in(x);\n\
         steps.push_back(first);\n\
         for (int n : {4, 2, 1}) { Func s; s(x) = steps.back()(x + n) * 3 + n; steps.push_back(s); }\n\
         Func total(x) = 0;\nfor (Func f : steps) { Func t; t(x) = total(x) + f(x); total = t; }\n\
         Func out(x) = total(x) + cast<int32_t>(steps.size());\n";
    let plain = "ImageParam in(Int(32), 1);\nFunc a(x) = in(x);\nFunc b(x) = a(x + 4) * 3 + 4;\n\
         Func c(x) = b(x + 2) * 3 + 2;\nFunc d(x) = c(x + 1) * 3 + 1;\n\
         Func out(x) = a(x) + b(x) + c(x) + d(x) + 4;\n";
    same(vectors, plain);
}

#[test]
fn a_reduction_is_computed_in_the_func_that_is_named() {
    same(
        "ImageParam in(Int(32), 2);\nRDom r(0, 3);\nFunc s;\n\
         Func out(x, y) = sum(r, in(x + r, y), s) + 1;\ns.compute_root();\n",
        "ImageParam in(Int(32), 2);\nRDom r(0, 3);\nFunc out(x, y) = sum(in(x + r, y)) + 1;\n",
    );
}

/// A source with the code that the help of a diagnostic names, where it names an edit.
fn edited(file: &SourceFile, diagnostic: &Diagnostic) -> Option<String> {
    let help = diagnostic.help.as_ref()?;
    let span = diagnostic.span?;
    let (start, end) = (span.start as usize, span.end as usize);
    let code = |lead: &str| {
        let (_, rest) = help.split_once(lead)?;
        rest.split_once('`').map(|(code, _)| code)
    };
    let text = &file.text;
    if let Some(declaration) = code("declare it: `") {
        return Some(format!("{declaration}\n{text}"));
    }
    if let Some(name) = code("did you mean `") {
        return Some(format!("{}{name}{}", &text[..start], &text[end..]));
    }
    None
}

/// Whether a diagnostic still stands at a place on some line.
fn stands(file: &SourceFile, list: &[(String, u32)], d: &Diagnostic, moved: u32) -> bool {
    let line = file.position(d.span.expect("a place").start).line + moved;
    list.iter().any(|(message, at)| *message == d.message && *at == line)
}

#[test]
fn what_a_help_names_works() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frontend-halide");
    let mut tried = 0;
    for path in files(&folder, "halide") {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.lines().filter(|l| !l.starts_with("//~")).collect::<Vec<_>>().join("\n");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = SourceFile::new(&name, text);
        let (_, diagnostics) = parse_file(&file);
        for diagnostic in diagnostics.iter() {
            let Some(new) = edited(&file, diagnostic) else { continue };
            let moved = (new.lines().count() - file.text.lines().count()) as u32;
            let (_, after, new_file) = parse_text(&name, &new);
            let list: Vec<(String, u32)> = after
                .iter()
                .map(|d| {
                    (d.message.clone(), new_file.position(d.span.unwrap_or_default().start).line)
                })
                .collect();
            assert!(
                !stands(&file, &list, diagnostic, moved),
                "{name}: {} stands after its help `{:?}`",
                diagnostic.message,
                diagnostic.help
            );
            let syntax = |d: &&Diagnostic| matches!(d.code.code, "E0107" | "E0110");
            let before = diagnostics.iter().filter(syntax).count();
            assert!(after.iter().filter(syntax).count() <= before, "{name}: {:?}", diagnostic.help);
            tried += 1;
        }
    }
    assert!(tried >= 20, "only {tried} helps name an edit");
}

#[test]
fn the_help_of_an_undeclared_input_gives_the_same_pipeline() {
    let text = "Func wide(x, y) = in(x - 9, y) + in(x + 9, y - 5);\nFunc out(x, y) = wide(x, y);\n";
    let (_, diagnostics, file) = parse_text("blur.halide", text);
    let [warning] = &diagnostics.iter().collect::<Vec<_>>()[..] else { panic!("one warning") };
    let declared = edited(&file, warning).expect("it names an edit");
    same(text, &declared);
}
