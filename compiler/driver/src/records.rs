//! Remarks as LLVM's optimisation records, YAML, one document a remark.

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
    let _ = writeln!(text, "  - String: {}", quoted(&remark.message));
    for (name, value) in &remark.terms {
        let _ = writeln!(text, "  - {}: {}", quoted(name), quoted(value));
    }
    text.push_str("...\n");
    text
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
            message: "it says \"no\"".into(),
            terms: vec![("bytes moved".into(), "12".into())],
        };
        assert_eq!(
            yaml(&[remark], &sources),
            "--- !Missed\nPass: distribute\nName: NotTiled\n\
             DebugLoc: { File: \"a.halide\", Line: 1, Column: 6 }\nFunction: \"f\"\nArgs:\n  \
             - String: \"it says \\\"no\\\"\"\n  - \"bytes moved\": \"12\"\n...\n"
        );
    }
}
