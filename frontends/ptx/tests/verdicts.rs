//! Mutated PTX: what `ptxas` refuses is refused here, and what it accepts is accepted or named as
//! unsupported. The mutants and its verdicts are in `tests/conformance/verdicts.jsonl` (see the
//! README there); `compare_ptxas.py` beside this file makes others.

use std::collections::BTreeMap;
use std::path::Path;

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_ptx::{check, codes, parse};
use serde_json::Value;

/// Mutants that are refused although `ptxas` accepts them, by the start of the message, and why.
const STRICTER: [(&str, &str); 3] = [
    ("cannot read special registers", "the manual lets only mov and cvt read special registers"),
    ("takes .u32 here, not .f32", "elements of a vector agree in size only, by an oversight"),
    ("is out of range", "numbers of more than 64 bits are cut off without a word"),
];

#[test]
fn mutants_are_judged_as_ptxas_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let lines = std::fs::read_to_string(folder.join("verdicts.jsonl")).expect("the verdicts");
    let mut sources: BTreeMap<String, Vec<char>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines.lines() {
        let mutant: Value = serde_json::from_str(line).expect("JSON");
        let path = mutant["file"].as_str().expect("a path");
        let source = sources.entry(path.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(folder.join(path)).expect("a source");
            text.chars().collect()
        });
        let place = |key: &str| mutant[key].as_u64().expect("a place") as usize;
        let mut text: String = source[..place("start")].iter().collect();
        text.push_str(mutant["text"].as_str().expect("a text"));
        text.extend(&source[place("end")..]);
        let file = SourceFile::new(path, text);
        let mut diagnostics = Diagnostics::default();
        let accepted = parse(SourceId(0), &file, &mut diagnostics).is_ok();
        count += 1;
        let first = diagnostics.iter().next();
        let message = first.map_or("", |d| d.message.as_str());
        let known = first.is_some_and(|d| {
            d.code == &check::codes::UNSUPPORTED
                || d.code == &codes::UNSUPPORTED
                || STRICTER.iter().any(|(part, _)| message.contains(part))
        });
        if accepted != mutant["accepted"].as_bool().expect("a verdict") && !known {
            let theirs = mutant["message"].as_str().unwrap_or_default();
            wrong.push(format!("{path} {}: ptxas {theirs:?}, here {message:?}", mutant["start"]));
        }
    }
    assert!(count > 1000, "the mutants are there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
