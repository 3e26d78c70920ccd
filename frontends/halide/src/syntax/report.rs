//! How syntax errors are told.

use lalrpop_util::ParseError;
use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Diagnostics, SourceFile, SourceId, Span};

use crate::codes;
use crate::syntax::ast::{Op, TypeWord};
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
    let span = Span { source, start, end };
    if let Some(diagnostic) = unsupported(source, file, &tokens[..before], token, span) {
        diagnostics.push(diagnostic);
        return start;
    }
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
    let text = shorten(&file.text[start as usize..end as usize]);
    let diagnostic = match token {
        Some(Token::Foreign) => Diagnostic::error(
            &codes::FOREIGN,
            format!(
                "`{text}` is not supported: the compile-time language has loops, `if` and functions"
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
        (Token::Op(Op::Mul), [.., (_, Token::Type(_) | Token::Greater, _)]) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "a pointer is not supported")
                .at(span, "makes a pointer")
                .help("leave out the `*`: Funcs, inputs and arrays are handles already"),
        ),
        (_, [.., (from, Token::Name, to), (_, Token::Open, _), (_, Token::Type(_), _)])
            if file.text[*from as usize..*to as usize].starts_with("Halide") =>
        {
            Some(
                Diagnostic::error(&codes::UNSUPPORTED, "a function of another language is not supported")
                    .at(Span { source, start: *from, end: *to }, "declares one")
                    .help("write the function here: `Expr twice(Expr x) { return 2 * x; }`"),
            )
        }
        (Token::Name, [.., (_, Token::GeneratorParam, _), (_, Token::Less, _)]) => {
            let name = shorten(&file.text[span.start as usize..span.end as usize]);
            Some(
                Diagnostic::error(&codes::UNSUPPORTED, format!("the type `{name}` is not supported"))
                    .at(span, "not a type of constants")
                    .help("a constant is an `int`, `bool`, `float`, `Type`, `std::string` or an `enum` of the file"),
            )
        }
        (Token::Using | Token::Typedef | Token::Template, tokens) if starts_statement(tokens) => Some(
            Diagnostic::error(&codes::UNSUPPORTED, "this name of a type is not supported")
                .at(span, "neither one type nor a function of any")
                .help("write the type itself where its name would stand"),
        ),
        (Token::Text, [.., (from, Token::Name, to)])
            if &file.text[*from as usize..*to as usize] == "extern" =>
        {
            Some(
                Diagnostic::error(&codes::UNSUPPORTED, "what another file defines is not known")
                    .at(Span { source, start: *from, end: *to }, "declared elsewhere")
                    .help("write it into this file"),
            )
        }
        _ => None,
    }
}
