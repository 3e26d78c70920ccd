//! Remarks as LLVM's optimisation records, YAML, one document a remark. What reads them wants LLVM's
//! own shape (a tag a document, the location in one line, `...` at the end), which serialisers of YAML
//! do not write; scalars are JSON strings, which YAML reads.

use std::fmt::Write;

use nbcc_base::SourceMap;
use nbcc_placement::{Remark, RemarkKind};

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

/// The message cut at the values in it, since viewers show the values of all arguments one after
/// another; terms that it does not mention follow in parentheses.
fn arguments(remark: &Remark) -> Vec<(String, String)> {
    let string = |text: &str| ("String".to_string(), text.to_string());
    let mut all = Vec::new();
    let mut rest = remark.message.as_str();
    let mut unsaid = Vec::new();
    for (name, value) in &remark.terms {
        let Some(at) = find_word(rest, value) else {
            unsaid.push((name, value));
            continue;
        };
        if at > 0 {
            all.push(string(&rest[..at]));
        }
        all.push((key(name), value.clone()));
        rest = &rest[at + value.len()..];
    }
    let mut text = rest.to_string();
    for (number, (name, value)) in unsaid.iter().enumerate() {
        let between = if number == 0 { " (" } else { ", " };
        all.push(string(&format!("{text}{between}{}: ", words(name))));
        all.push((key(name), (*value).clone()));
        text = String::new();
    }
    if !unsaid.is_empty() {
        text.push(')');
    }
    if !text.is_empty() {
        all.push(string(&text));
    }
    all
}

/// Where a value stands in a text by itself, not as a part of a word or number.
fn find_word(text: &str, value: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let alone = |at: usize| {
        let (before, after) = (&text[..at], &text[at + value.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    };
    let mut places = text.match_indices(value).map(|(at, _)| at);
    places.find(|&at| !value.is_empty() && alone(at))
}

/// A name in CamelCase, or one of several words, as words of a sentence.
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

/// The name of a term as the key of an argument, in CamelCase, as LLVM's are.
fn key(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| [word[..1].to_ascii_uppercase(), word[1..].to_string()]).collect()
}

/// A scalar in double quotes, as both YAML and JSON read it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use nbcc_base::{SourceFile, Span};

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
            message: "it moves 12 of 112 bytes, \"no\"".into(),
            terms: vec![("bytes moved".into(), "12".into()), ("Cycles".into(), "3".into())],
        };
        assert_eq!(
            yaml(&[remark], &sources),
            "--- !Missed\nPass: distribute\nName: NotTiled\n\
             DebugLoc: { File: \"a.halide\", Line: 1, Column: 6 }\nFunction: \"f\"\nArgs:\n  \
             - String: \"it moves \"\n  - BytesMoved: \"12\"\n  \
             - String: \" of 112 bytes, \\\"no\\\" (cycles: \"\n  - Cycles: \"3\"\n  \
             - String: \")\"\n...\n"
        );
    }
}
