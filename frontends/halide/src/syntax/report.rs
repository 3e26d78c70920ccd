//! How syntax errors are told.

use lalrpop_util::ParseError;
use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Diagnostics, SourceFile, SourceId, Span};

use crate::codes;
use crate::syntax::ast::TypeWord;
use crate::syntax::recovery::Spanned;
use crate::syntax::token::Token;

/// Reports a syntax error; gives the offset at which it stands.
pub(crate) fn report(
    source: SourceId,
    file: &SourceFile,
    tokens: &[Spanned],
    error: &ParseError<u32, Token, ()>,
    diagnostics: &mut Diagnostics,
) -> u32 {
    let (start, token, end, expected) = match error {
        ParseError::UnrecognizedToken { token: (s, t, e), expected } => {
            (*s, Some(*t), *e, expected)
        }
        ParseError::UnrecognizedEof { location, expected } => {
            (*location, None, *location, expected)
        }
        ParseError::ExtraToken { .. }
        | ParseError::InvalidToken { .. }
        | ParseError::User { .. } => {
            unreachable!("the grammar ends at the end of the file and its actions do not fail")
        }
    };
    if token == Some(Token::Bad) {
        return start;
    }
    let before = tokens.partition_point(|t| t.0 < start);
    if let Some(&(from, Token::Type(token_type), to)) =
        before.checked_sub(1).and_then(|i| tokens.get(i))
        && expected.iter().all(|e| ["\"(\"", "\"{\"", "\"::\""].contains(&e.as_str()))
    {
        // A type in an expression would have to be called.
        let word = &file.text[from as usize..to as usize];
        diagnostics.push(
            Diagnostic::error(&codes::SYNTAX, format!("unexpected type `{word}`"))
                .at(Span { source, start: from, end: to }, "a type cannot stand here")
                .help(crate::helps::type_in_expression(word, token_type == TypeWord::C)),
        );
        return start;
    }
    let span = Span { source, start, end };
    let text = shorten(&file.text[start as usize..end as usize]);
    if let Some(diagnostic) = unsupported(source, file, &tokens[..before], token, span) {
        diagnostics.push(diagnostic);
        return start;
    }
    let diagnostic = match token {
        Some(Token::Foreign) => Diagnostic::error(
            &codes::FOREIGN,
            format!(
                "`{text}` is not supported: the compile-time language has `for`, `if` and functions"
            ),
        )
        .at(span, "not part of the language"),
        Some(Token::Type(_) | Token::Input | Token::Output | Token::Param | Token::Buffer)
            if !expected.iter().any(|e| e == "\";\"" || e == "\"type\"") =>
        {
            Diagnostic::error(&codes::SYNTAX, format!("unexpected type `{text}`"))
                .at(span, "a type cannot stand here")
        }
        Some(_) => Diagnostic::error(&codes::SYNTAX, format!("unexpected `{text}`"))
            .at(span, "unexpected here"),
        None => Diagnostic::error(&codes::SYNTAX, "the file ends within a statement")
            .at(span, "ends here"),
    };
    let has = |what: &str| expected.iter().any(|e| e.trim_matches('"') == what);
    let help = if token == Some(Token::Foreign) {
        crate::helps::foreign(&text).to_owned()
    } else if has(";") {
        "a `;` may be missing before this".to_owned()
    } else if expected.len() <= 3 {
        let list: Vec<String> =
            expected.iter().map(|e| format!("`{}`", e.trim_matches('"'))).collect();
        format!("expected {}", list.join(" or "))
    } else if has("integer") {
        "an expression is expected".to_owned()
    } else if let Some(Token::Type(word)) = token {
        crate::helps::type_in_expression(&text, word == TypeWord::C)
    } else {
        "leave it out, or put an operator or a `,` before it".to_owned()
    };
    diagnostics.push(diagnostic.help(help));
    start
}

/// The error for a form of C++ that the language does not have, where the unexpected token and
/// those before it show one.
fn unsupported(
    source: SourceId,
    file: &SourceFile,
    before: &[Spanned],
    token: Option<Token>,
    span: Span,
) -> Option<Diagnostic> {
    let starts_statement = |tokens: &[Spanned]| {
        let end = tokens.last().map(|t| t.1);
        matches!(end, None | Some(Token::Semicolon | Token::OpenBrace | Token::CloseBrace))
    };
    match (token?, before) {
        (Token::Name, [first @ .., (from, Token::Name, to)]) if starts_statement(first) => {
            let name = shorten(&file.text[*from as usize..*to as usize]);
            let at = Span { source, start: *from, end: *to };
            Some(
                Diagnostic::error(&codes::UNSUPPORTED, format!("the type `{name}` is not supported"))
                    .at(at, "not a type of the language")
                    .help("variables are Func, Var, RVar, Expr, RDom, Tuple, ImageParam, Param, Input, Output, or numbers"),
            )
        }
        (Token::Buffer, tokens) if starts_statement(tokens) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "a `Buffer` of its own is not supported")
                .at(span, "neither an input nor an output")
                .help("declare `Input<Buffer<float, 2>> in;`, or a Func with an update for each value"),
        ),
        (Token::OpenIndex, [.., (_, Token::Assign | Token::Open | Token::Comma, _)]) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "a lambda is not supported")
                .at(span, "begins one")
                .help("write a function: `Expr average(Expr a, Expr b) { return (a + b) / 2; }`"),
        ),
        (Token::OpenIndex, [.., (_, Token::Input | Token::Output, _), (_, Token::Less, _), _])
        | (
            Token::OpenIndex,
            [.., (_, Token::Input | Token::Output, _), (_, Token::Less, _), (_, Token::Buffer, _), (_, Token::Less, _), _, _],
        ) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "an array of inputs or outputs is not supported")
                .at(span, "an array")
                .help("declare each by itself: `Input<Buffer<float, 2>> first;`"),
        ),
        _ => None,
    }
}
