//! Where a source can schedule a Func: at its end, by a name of the file, or inside of braces,
//! behind the definition, where one statement is for every Func that is made there.

use std::collections::BTreeMap;

use nbcc_base::{SourceMap, Span};
use nbcc_stages::{Func, FuncData, Pipeline};

/// A place where one statement schedules Funcs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The Funcs, all alike.
    pub funcs: Vec<Func>,
    /// What they are called there.
    pub name: String,
    /// The definition behind which the statement stands; `None` for the end of the file.
    pub behind: Option<Span>,
}

/// Every place, in the order of the Funcs. `None` where no source is known. Funcs that have no name
/// anywhere are in none.
pub fn sites(pipeline: &Pipeline, sources: &SourceMap) -> Option<Vec<Site>> {
    let mut found: Vec<Site> = Vec::new();
    let mut inside: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mut braces: Option<Braces> = None;
    for (func, data) in &pipeline.funcs {
        let file = sources.files().get(data.span.source.0 as usize)?;
        let (start, end) = (data.span.start as usize, data.span.end as usize);
        if let Some(name) = pipeline.handles.get(&func) {
            found.push(Site { funcs: vec![func], name: name.clone(), behind: None });
            continue;
        }
        let name = file.text.get(start..end)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named = !name.is_empty() && name.chars().all(plain);
        let braces = braces.get_or_insert_with(|| Braces::of(&file.text));
        if !named || braces.depth(start) == 0 || !declares(&file.text, end) {
            continue;
        }
        let place = (data.span.start, data.span.end);
        match inside.get(&place) {
            Some(&site) => found[site].funcs.push(func),
            None => {
                inside.insert(place, found.len());
                let behind = Some(last_definition(data));
                found.push(Site { funcs: vec![func], name: name.to_owned(), behind });
            }
        }
    }
    Some(found)
}

/// Whether a name that ends there may be that of a Func in a declaration or definition: what
/// follows is no index of an array.
fn declares(text: &str, end: usize) -> bool {
    !text[end..].trim_start().starts_with('[')
}

fn last_definition(data: &FuncData) -> Span {
    let pure = data.pure.as_ref().map_or(data.span, |pure| pure.span);
    data.updates.last().map_or(pure, |update| update.span)
}

/// The braces of a text, comments and strings left out.
struct Braces(Vec<(usize, i64)>);

impl Braces {
    fn of(text: &str) -> Braces {
        let (mut found, mut depth, mut at) = (Vec::new(), 0, 0);
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let skip = match c {
                '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
                '"' => rest[1..].find('"').map_or(rest.len(), |n| n + 2),
                _ => c.len_utf8(),
            };
            at += skip;
            if c == '{' || c == '}' {
                depth += if c == '{' { 1 } else { -1 };
                found.push((at, depth));
            }
        }
        Braces(found)
    }

    /// How many are open at a place.
    fn depth(&self, at: usize) -> i64 {
        let before = self.0.partition_point(|&(place, _)| place <= at);
        before.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::Braces;

    #[test]
    fn braces_in_comments_and_texts_do_not_count() {
        let depth = |text: &str| Braces::of(text).depth(text.len());
        assert_eq!(depth("Func f() { // }\n /* { */ \"{\""), 1);
        assert_eq!(depth("for (;;) { }\n/* é"), 0);
    }
}
