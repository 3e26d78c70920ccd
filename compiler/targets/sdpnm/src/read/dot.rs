//! Graphs in dot: statements of the parser become nodes and edges.

use std::borrow::Cow;

use lalrpop_util::ParseError;
use logos::Logos;
use nbcc_base::lexical::{open_comment, shorten, unexpected_character};
use nbcc_base::{Diagnostic, Failed};

use super::Builder;
pub(crate) use super::Place;
use super::grammar::FileParser;
use super::token::{LexError, Token};
use crate::codes;

/// Subgraphs within each other.
const MAX_NESTING: usize = 256;

/// What default attributes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node,
    Edge,
}

/// An attribute by the places of its key and value.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) key: Place,
    pub(crate) value: Option<Place>,
}

/// A statement by the places of its ids.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// Attributes of what follows.
    Default(Kind, Vec<Attribute>),
    /// A node.
    Node(Place, Vec<Attribute>),
    /// Edges from each id to the next.
    Edges(Vec<Place>, Vec<Attribute>),
    /// Something about the drawing.
    Nothing,
}

type Spanned = (usize, Token, usize);

/// Reads a file.
pub(super) fn read(text: &str, builder: &mut Builder<'_>) -> Result<(), Failed> {
    let tokens = lex(text, builder)?;
    let (name, statements) = match FileParser::new().parse(tokens.iter().copied()) {
        Ok(parsed) => parsed,
        Err(error) => return syntax_error(text, &error, builder),
    };
    builder.graph.name = name.map(|place| id(text, &place).into_owned()).unwrap_or_default();
    let mut defaults = (None, None);
    for statement in statements {
        match statement {
            Statement::Nothing => {}
            Statement::Default(Kind::Node, attributes) => {
                defaults.0 = operation(text, &attributes).or(defaults.0.take());
            }
            Statement::Default(Kind::Edge, attributes) => {
                defaults.1 = distance(text, &attributes, builder).or(defaults.1);
            }
            Statement::Node(place, attributes) => {
                let op =
                    operation(text, &attributes).or_else(|| defaults.0.clone()).unwrap_or_default();
                builder.declare(&id(text, &place), op.into_owned(), &place)?;
            }
            Statement::Edges(chain, attributes) => {
                let distance = distance(text, &attributes, builder).or(defaults.1).unwrap_or(0);
                for ends in chain.windows(2) {
                    let from = builder.node(&id(text, &ends[0]), &ends[0])?;
                    let to = builder.node(&id(text, &ends[1]), &ends[1])?;
                    builder.edge(from, to, distance, &(ends[0].start..ends[1].end))?;
                }
            }
        }
    }
    Ok(())
}

/// The text of an id: quotes off, `\"` and line breaks in it resolved.
fn id<'a>(text: &'a str, place: &Place) -> Cow<'a, str> {
    let raw = &text[place.clone()];
    match raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) {
        Some(inner) if inner.contains('\\') => {
            inner.replace("\\\"", "\"").replace("\\\r\n", "").replace("\\\n", "").into()
        }
        Some(inner) => inner.into(),
        None => raw.into(),
    }
}

/// The value of the last attribute of that name.
fn attribute<'a>(attributes: &'a [Attribute], text: &str, name: &str) -> Option<&'a Place> {
    let of_name = attributes.iter().rev().find(|a| id(text, &a.key) == name);
    of_name.and_then(|a| a.value.as_ref())
}

/// `op`, or `label` where there is none.
fn operation<'a>(text: &'a str, attributes: &[Attribute]) -> Option<Cow<'a, str>> {
    let op = attribute(attributes, text, "op").or_else(|| attribute(attributes, text, "label"));
    op.map(|place| id(text, place))
}

fn distance(text: &str, attributes: &[Attribute], builder: &mut Builder<'_>) -> Option<u32> {
    let place = attribute(attributes, text, "dist")?;
    Some(builder.distance(&id(text, place), place))
}

/// The tokens of a file; its lines that begin with `#` are left out.
fn lex(text: &str, builder: &mut Builder<'_>) -> Result<Vec<Spanned>, Failed> {
    let mut tokens = Vec::new();
    let mut depth = 0usize;
    let mut lexer = Token::lexer(text);
    while let Some(token) = lexer.next() {
        let place = lexer.span();
        match token {
            Ok(Token::Open) => depth += 1,
            Ok(Token::Close) => depth = depth.saturating_sub(1),
            Ok(_) => {}
            Err(LexError::Character) if text[place.start..].starts_with('#') => {
                let line_start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
                if text[line_start..place.start].trim().is_empty() {
                    let end = text[place.end..].find('\n').unwrap_or(text.len() - place.end);
                    lexer.bump(end);
                    continue;
                }
                let error = unexpected_character(&codes::SYNTAX, builder.source, text, place.start);
                return builder.diagnostics.fail(error);
            }
            Err(error) => {
                let error = lex_error(text, error, &place, builder);
                return builder.diagnostics.fail(error);
            }
        }
        if depth > MAX_NESTING {
            let message = format!("subgraphs nest deeper than {MAX_NESTING}");
            let error = builder.syntax(message, &place, "one too many");
            return builder.diagnostics.fail(error.help("take the subgraphs apart"));
        }
        if let Ok(token) = token {
            tokens.push((place.start, token, place.end));
        }
    }
    Ok(tokens)
}

fn lex_error(text: &str, error: LexError, place: &Place, builder: &Builder<'_>) -> Diagnostic {
    let start = place.start..place.start + 1;
    match error {
        LexError::Character => {
            unexpected_character(&codes::SYNTAX, builder.source, text, place.start)
        }
        LexError::Comment => open_comment(&codes::SYNTAX, builder.source, place.start),
        LexError::Text => builder
            .syntax("a text that does not end".into(), &start, "starts here")
            .help("close it with `\"`"),
        LexError::Html => builder
            .syntax("an HTML text that does not end".into(), &start, "starts here")
            .help("close it with `>`"),
    }
}

fn syntax_error<T>(
    text: &str,
    error: &ParseError<usize, Token, ()>,
    builder: &mut Builder<'_>,
) -> Result<T, Failed> {
    let (place, token, expected) = match error {
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            (*start..*end, Some(*token), expected.as_slice())
        }
        ParseError::UnrecognizedEof { location, expected } => {
            (*location..*location, None, expected.as_slice())
        }
        ParseError::ExtraToken { token: (start, token, end) } => {
            (*start..*end, Some(*token), &[][..])
        }
        ParseError::InvalidToken { location } => (*location..*location, None, &[][..]),
        ParseError::User { .. } => (0..0, None, &[][..]),
    };
    let word = shorten(&text[place.clone()]);
    let (message, label) = match token {
        Some(_) => (format!("unexpected `{word}`"), "unexpected here"),
        None => ("the file ends within the graph".to_owned(), "ends here"),
    };
    let is_undirected = matches!(token, Some(Token::Line))
        || (matches!(token, Some(Token::Graph)) && expected.iter().any(|e| e == "\"digraph\""));
    let help = if is_undirected {
        "values flow in one direction: write `digraph` and `->`".to_owned()
    } else if expected.is_empty() {
        "a file holds one graph, `digraph NAME { .. }`".to_owned()
    } else {
        let mut names: Vec<String> = expected.iter().map(|e| e.replace('"', "`")).collect();
        names.truncate(8);
        format!("expected here: {}", names.join(", "))
    };
    let error = builder.syntax(message, &place, label);
    builder.diagnostics.fail(error.help(help))
}
