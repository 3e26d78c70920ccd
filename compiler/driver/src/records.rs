//! Remarks as LLVM's optimisation records, YAML, one document a remark. What reads them wants LLVM's
//! own shape (a tag a document, the location in one line, `...` at the end), which serialisers of YAML
//! do not write; scalars are JSON strings, which YAML reads.

use std::fmt::Write;

use nbcc_base::SourceMap;
use nbcc_placement::{Piece, Remark, RemarkKind};

/// The records of all remarks, in their order.
pub fn yaml(remarks: &[Remark], sources: &SourceMap) -> String {
    remarks.iter().map(|remark| document(remark, sources)).collect()
}

fn document(remark: &Remark, sources: &SourceMap) -> String {
    let kind = match remark.kind {
        RemarkKind::Passed => "Passed",
        RemarkKind::Missed => "Missed",
        RemarkKind::Analysis => "Analysis",
    };
    let mut text = format!("--- !{kind}\nPass: {}\nName: {}\n", remark.pass, remark.name);
    if let Some(span) = remark.span {
        let at = sources.start_of(span);
        let file = quoted(&sources.get(span.source).name);
        let _ = writeln!(
            text,
            "DebugLoc: {{ File: {file}, Line: {}, Column: {} }}",
            at.line, at.column
        );
    }
    let _ = writeln!(text, "Function: {}\nArgs:", quoted(&remark.function));
    for (name, value) in arguments(remark) {
        let _ = writeln!(text, "  - {name}: {}", quoted(&value));
    }
    text.push_str("...\n");
    text
}

/// The pieces of the message, as LLVM's records have them: viewers show the values of all arguments
/// one after another. Terms that it does not mention follow in parentheses.
fn arguments(remark: &Remark) -> Vec<(&'static str, String)> {
    let string = |text: String| ("String", text);
    let said = remark.message.pieces().iter().map(|piece| match piece {
        Piece::Text(words) => string(words.clone()),
        Piece::Term(term) => (term.name, term.value.clone()),
    });
    let mut all: Vec<_> = said.collect();
    for (number, term) in remark.terms.iter().enumerate() {
        let between = if number == 0 { " (" } else { ", " };
        all.push(string(format!("{between}{}: ", words(term.name))));
        all.push((term.name, term.value.clone()));
    }
    if !remark.terms.is_empty() {
        all.push(string(")".into()));
    }
    all
}

/// A name in CamelCase as words of a sentence.
fn words(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && text.ends_with(char::is_lowercase) {
            text.push(' ');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// A scalar in double quotes, as both YAML and JSON read it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use nbcc_base::{SourceFile, Span};
    use nbcc_placement::{Message, Term};

    use super::*;

    #[test]
    fn a_remark_is_a_document() {
        let mut sources = SourceMap::default();
        let id = sources.add(SourceFile::new("a.halide", "Func f;\n"));
        let remark = Remark {
            kind: RemarkKind::Missed,
            pass: "distribute",
            name: "NotTiled",
            function: "f".into(),
            span: Some(Span::new(id, 5, 6)),
            message: Message::of("it moves 112 of ")
                .value("BytesMoved", 12)
                .text(" of 112 bytes, ")
                .text("\"no\""),
            terms: vec![Term::new("Cycles", 3), Term::new("OtherCycles", 112)],
        };
        assert_eq!(
            yaml(&[remark], &sources),
            "--- !Missed\nPass: distribute\nName: NotTiled\n\
             DebugLoc: { File: \"a.halide\", Line: 1, Column: 6 }\nFunction: \"f\"\nArgs:\n  \
             - String: \"it moves 112 of \"\n  - BytesMoved: \"12\"\n  \
             - String: \" of 112 bytes, \\\"no\\\"\"\n  - String: \" (cycles: \"\n  \
             - Cycles: \"3\"\n  - String: \", other cycles: \"\n  - OtherCycles: \"112\"\n  \
             - String: \")\"\n...\n"
        );
    }
}
