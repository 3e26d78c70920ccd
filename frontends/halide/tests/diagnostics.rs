//! The diagnostics of the frontend, file by file: each file in `tests/frontend-halide/` ends with what
//! is expected of it, as `nbcc_testing` tells. `NBCC_BLESS=1` writes down what is reported now.

mod common;

use std::path::{Path, PathBuf};

use common::{parse_file, parse_text};
use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Severity, SourceFile};
use nbcc_frontend_halide::codes;
use nbcc_stages::bounds::{default_params, infer, resolve_extents};
use nbcc_testing::{
    check_all_are_made, check_codes_have_files, check_examples, check_files, report,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn folder() -> PathBuf {
    root().join("tests/frontend-halide")
}

/// What the frontend reports, then what is found when the extents that the first line gives, as in
/// `// --size 8x8 --input in=8x8x3 --param n=4`, become bounds.
fn diagnose_bounds(file: &SourceFile) -> Diagnostics {
    let (pipeline, mut diagnostics) = parse_file(file);
    let Some(pipeline) = pipeline else { return diagnostics };
    let numbers = |text: &str| -> Vec<u32> {
        text.split('x').map(|n| n.parse().expect("a number")).collect()
    };
    let mut size = None;
    let mut given = SecondaryMap::new();
    let mut params = default_params(&pipeline);
    let options = file.line(1).and_then(|line| line.strip_prefix("// ")).unwrap_or_default();
    let words: Vec<&str> = options.split(' ').collect();
    for pair in words.chunks_exact(2) {
        let named = || pair[1].split_once('=').expect("NAME=VALUE");
        match pair[0] {
            "--size" => size = Some(numbers(pair[1])),
            "--input" => {
                let (name, extent) = named();
                let input = pipeline.inputs.iter().find(|(_, data)| data.name == name);
                given[input.expect("an input").0] = Some(numbers(extent));
            }
            "--param" => {
                let (name, value) = named();
                let param = pipeline.params.iter().find(|(_, data)| data.name == name);
                params[param.expect("a parameter").0] = Some(value.parse().expect("a number"));
            }
            other => panic!("{}: {other}", file.name),
        }
    }
    let found = resolve_extents(&pipeline, &given, size.as_deref(), &params).and_then(|extents| {
        infer(&pipeline, &extents, &params)?;
        nbcc_stages::inline(&pipeline)
    });
    for diagnostic in found.err().unwrap_or_default().take() {
        diagnostics.push(diagnostic);
    }
    diagnostics
}

/// The diagnostics of files that are too large to be written down.
fn diagnose_too_large() -> Vec<Diagnostic> {
    let files = [
        (
            " ".repeat((64 << 20) + 1),
            "//~ E0109 1:1-1:1 error: the file is too large\n\
             //~     label 1:1-1:1: 67108865 bytes, of 67108864 at most\n\
             //~     help: make several pipelines of it, each in a file of its own\n",
        ),
        (
            ";".repeat(4_000_001),
            "//~ E0109 1:1-1:1 error: the file is too large\n\
             //~     label 1:1-1:1: 4000001 tokens, of 4000000 at most\n\
             //~     help: make several pipelines of it, each in a file of its own\n",
        ),
        (
            "ImageParam in(Float(32), 1);\nExpr e = in(x);\n\
             for (int i = 0; i < 5000; i++) e = e + 1;\n\
             Func f[5000];\nfor (int i = 0; i < 5000; i++) f[i](x) = e;\nFunc out(x) = f[0](x);\n"
                .to_owned(),
            "//~ E0130 5:1-5:31 error: the expressions of the file are too large\n\
             //~     label 5:1-5:31: too many operations are built or visited in here\n\
             //~     help: define a Func for a part that is used often\n",
        ),
        (
            "ImageParam in(Float(32), 1);\nExpr e = in(x);\n\
             for (int i = 0; i < 1500; i++) e = e + 1;\nFunc f[2000];\nf[0](x) = 0;\n\
             for (int i = 1; i < 2000; i++) f[i](x) = e + f[i - 1](x);\nFunc out(x) = f[1999](x);\n"
                .to_owned(),
            "//~ E0130 6:32-6:57 error: the expressions of the file are too large\n\
             //~     label 6:32-6:57: more than 5000000 operations up to here\n\
             //~     help: define a Func for a part that is used often\n",
        ),
    ];
    let mut all = Vec::new();
    for (text, expected) in files {
        let (_, mut diagnostics, file) = parse_text("large.halide", &text);
        assert_eq!(report(&file, &diagnostics), expected);
        all.extend(diagnostics.take());
    }
    all
}

#[test]
fn every_file_is_diagnosed_as_it_says() {
    let mut found = check_files(&folder(), "halide", |file| parse_file(file).1);
    found.extend(check_files(&folder().join("bounds"), "halide", diagnose_bounds));
    found.extend(diagnose_too_large());
    let helpless = |d: &&Diagnostic| d.severity == Severity::Error && d.help.is_none();
    let helpless: Vec<&str> = found.iter().filter(helpless).map(|d| d.message.as_str()).collect();
    assert!(helpless.is_empty(), "errors that do not say what to do: {helpless:#?}");
    let sources = ["frontends/halide/src", "compiler/stages/src", "compiler/base/src/lexical.rs"];
    check_all_are_made(&root(), &sources, &found);
}

#[test]
fn every_code_has_a_file() {
    check_codes_have_files(codes::ALL, &folder(), "halide");
}

#[test]
fn every_example_triggers_its_code() {
    check_examples(codes::ALL, &("0100"..="0399"), |file| parse_file(file).1);
}

#[test]
fn the_page_of_the_language_lists_every_directive() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language-halide.md");
    let page = std::fs::read_to_string(page).unwrap();
    for directive in nbcc_frontend_halide::DIRECTIVES {
        let row = format!("| `{}` | {} |", directive.usage, directive.about);
        assert!(page.contains(&row), "docs/language-halide.md lacks the row\n{row}");
    }
}

#[test]
fn the_examples_on_the_page_of_the_language_are_accepted() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language-halide.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> = page.split("```\n").skip(1).step_by(2).collect();
    let sources: Vec<&str> = blocks.into_iter().filter(|b| b.contains("Func ")).collect();
    let mut found = 0;
    for source in sources.iter().filter(|s| !s.contains("declarator")) {
        let (_, diagnostics, file) = parse_text("page.halide", source);
        assert!(!diagnostics.has_errors(), "{source}\n{}", report(&file, &diagnostics));
        found += 1;
    }
    assert!(found >= 2, "the page has examples");
}
