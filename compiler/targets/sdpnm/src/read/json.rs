//! Graphs in JSON. Values stay raw until they are looked at, since where they stand in the text says
//! where to point.

use std::borrow::Cow;

use nbcc_base::Failed;
use nbcc_base::lexical::shorten;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Builder, Place};

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    nodes: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    edges: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct NodeObject<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow, default)]
    op: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct EdgeObject<'a> {
    #[serde(borrow)]
    from: &'a RawValue,
    #[serde(borrow)]
    to: &'a RawValue,
    #[serde(borrow, default)]
    dist: Option<&'a RawValue>,
}

/// Reads a file.
pub(super) fn read(text: &str, builder: &mut Builder<'_>) -> Result<(), Failed> {
    let file: File<'_> = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => return broken(text, &(0..text.len()), &error, builder),
    };
    builder.graph.name = file.name.map(Cow::into_owned).unwrap_or_default();
    for raw in file.nodes {
        let place = place_of(text, raw);
        let node: NodeObject<'_> = match serde_json::from_str(raw.get()) {
            Ok(node) => node,
            Err(error) => return broken(text, &place, &error, builder),
        };
        let id = string(text, node.id, builder)?;
        let op = node.op.map(|op| string(text, op, builder)).transpose()?;
        builder.declare(&id, op.unwrap_or_default().into_owned(), &place_of(text, node.id))?;
    }
    for raw in file.edges {
        let place = place_of(text, raw);
        let edge: EdgeObject<'_> = match serde_json::from_str(raw.get()) {
            Ok(edge) => edge,
            Err(error) => return broken(text, &place, &error, builder),
        };
        let from = string(text, edge.from, builder)?;
        let to = string(text, edge.to, builder)?;
        let from = builder.known(&from, &place_of(text, edge.from));
        let to = builder.known(&to, &place_of(text, edge.to));
        let distance = edge.dist.map_or(0, |d| builder.distance(d.get(), &place_of(text, d)));
        if let (Some(from), Some(to)) = (from, to) {
            builder.edge(from, to, distance, &place)?;
        }
    }
    Ok(())
}

/// Where a value stands: a raw value is a piece of the text.
fn place_of(text: &str, raw: &RawValue) -> Place {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.get().len()
}

/// A string; a number is taken as it is written.
fn string<'a>(
    text: &str,
    raw: &'a RawValue,
    builder: &mut Builder<'_>,
) -> Result<Cow<'a, str>, Failed> {
    if raw.get().starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return Ok(raw.get().into());
    }
    serde_json::from_str(raw.get()).map_err(|_| {
        let message = format!("`{}` is not a text", shorten(raw.get()));
        let error = builder.syntax(message, &place_of(text, raw), "a text belongs here");
        builder.diagnostics.push(error.help("write it in double quotes"));
        Failed
    })
}

/// What the reader says, at the place in `within` that it names.
fn broken<T>(
    text: &str,
    within: &Place,
    error: &serde_json::Error,
    builder: &mut Builder<'_>,
) -> Result<T, Failed> {
    // Lines and columns count from the beginning of the piece that was read; a column in bytes.
    let piece = &text[within.clone()];
    let lines = piece.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = within.start + lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let at = text.floor_char_boundary(at.min(text.len()));
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let error = builder.syntax(format!("not a graph in JSON: {message}"), &(at..end), "here");
    let help = "a graph is {\"name\": .., \"nodes\": [{\"id\": .., \"op\": ..}], \"edges\": \
                [{\"from\": .., \"to\": .., \"dist\": ..}]}";
    builder.diagnostics.fail(error.help(help))
}
