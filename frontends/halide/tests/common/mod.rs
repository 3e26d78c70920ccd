//! What the tests of the frontend share: directives like those of a target, and parsing of a text.

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_halide::parse;
use nbcc_pipeline::ParseOptions;
use nbcc_stages::{DirectiveInfo, ParamKind, Pipeline};

use ParamKind::{NewVar, Size, Var, Vars};

/// Directives such as a target adds.
pub const DIRECTIVES: &[DirectiveInfo] = &[
    DirectiveInfo {
        name: "ipim_tile",
        forms: &[&[Var, Var, NewVar, NewVar, Size, Size], &[Var, NewVar, Size]],
        usage: "ipim_tile(x, y, xi, yi, W, H)",
        about: "Splits two loops and distributes the tiles.",
    },
    DirectiveInfo {
        name: "load_pgsm",
        forms: &[&[Vars]],
        usage: "load_pgsm(xi, yi)",
        about: "Stages what is read.",
    },
];

/// Parses a text. A stage graph that comes of it keeps its contract.
pub fn parse_text(name: &str, text: &str) -> (Option<Pipeline>, Diagnostics, SourceFile) {
    let file = SourceFile::new(name, text);
    let (pipeline, diagnostics) = parse_file(&file);
    (pipeline, diagnostics, file)
}

/// The parameters that the first line of a file sets, as in `// --param n=4`.
fn params(file: &SourceFile) -> Vec<(String, String)> {
    let options = file.line(1).and_then(|line| line.strip_prefix("// ")).unwrap_or_default();
    let words: Vec<&str> = options.split_whitespace().collect();
    let given = words.windows(2).filter(|pair| pair[0] == "--param");
    given
        .filter_map(|pair| pair[1].split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The same for a file.
pub fn parse_file(file: &SourceFile) -> (Option<Pipeline>, Diagnostics) {
    let name = &file.name;
    let mut diagnostics = Diagnostics::default();
    let params = params(file);
    let options =
        ParseOptions { directives: DIRECTIVES, params: &params, ..ParseOptions::default() };
    let result = parse(SourceId(0), file, &options, &mut diagnostics);
    match &result {
        Ok(pipeline) => {
            assert!(!diagnostics.has_errors(), "a stage graph in spite of errors");
            if let Err(errors) = nbcc_stages::verify(pipeline) {
                panic!("{name}: {errors:?}");
            }
        }
        Err(_) => assert!(diagnostics.has_errors(), "{name}: refused without an error"),
    }
    (result.ok(), diagnostics)
}
