//! What is said of a syntax error: the tokens around the one that the grammar does not take say what
//! was meant more often than the list of those that it takes.

use lalrpop_util::ParseError;
use nbcc_base::{Diagnostic, Span};

use super::token::Token;
use crate::codes;
use crate::names::Names;
use crate::preprocess::Uses;

/// Types that headers declare.
const OF_HEADERS: [&str; 11] = [
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "size_t",
    "ptrdiff_t",
    "bool",
];

/// What is known of the tokens of a file.
pub(super) struct Source<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) spans: &'a [Span],
    pub(super) names: &'a Names,
    pub(super) uses: &'a Uses,
}

/// Whether a name is that of a type which a header declares or C has for pointers as integers.
pub(crate) fn is_type_of_header(name: &str) -> bool {
    OF_HEADERS.contains(&name) || is_pointer_as_integer(name)
}

fn is_pointer_as_integer(name: &str) -> bool {
    matches!(name, "intptr_t" | "uintptr_t")
}

/// The error for a name that stands where a type does.
pub(crate) fn unknown_type(name: &str, span: Span) -> Diagnostic {
    let words = ["int", "char", "short", "long", "unsigned", "void"];
    let help = if is_pointer_as_integer(name) {
        "pointers are no integers here: keep an index into the array, a `ptrdiff_t`".to_string()
    } else if OF_HEADERS.contains(&name) {
        "include <stdint.h>, <stdbool.h> or <stddef.h>".to_string()
    } else {
        match nbcc_base::nearest(name, OF_HEADERS.into_iter().chain(words)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it with `typedef` before, or write `struct` before its tag".into(),
        }
    };
    let error = Diagnostic::error(&codes::UNKNOWN_TYPE, format!("there is no type `{name}`"));
    error.at(span, "no type").help(help)
}

/// The error for members of a structure, or constants of an enumeration, that no `;` ends.
pub(crate) fn open_type(brace: Span) -> Diagnostic {
    let error = Diagnostic::error(&codes::SYNTAX, "a `;` is missing behind this `}`");
    error.at(brace, "ends a type").help("write `};`, so that what follows is no part of it")
}

impl Source<'_> {
    /// What is wrong, and the number of the token at which it is.
    pub(super) fn explain(&self, error: &ParseError<u32, Token, ()>) -> (Diagnostic, usize) {
        let (at, expected) = match error {
            ParseError::UnrecognizedToken { token: (at, ..), expected } => (*at as usize, expected),
            ParseError::UnrecognizedEof { expected, .. } => (self.tokens.len(), expected),
            ParseError::ExtraToken { .. }
            | ParseError::InvalidToken { .. }
            | ParseError::User { .. } => {
                unreachable!("the grammar ends at the end of the file and its actions do not fail")
            }
        };
        let has = |what: &str| expected.iter().any(|e| e.trim_matches('"') == what);
        let known = self.in_macro(at).or_else(|| self.behind_type(at));
        if let Some(diagnostic) = known {
            return (diagnostic, at);
        }
        let Some(&span) = self.spans.get(at) else {
            let error = Diagnostic::error(&codes::SYNTAX, "the file ends within a declaration");
            let error = match self.spans.last() {
                Some(&last) => error.at(last, "the last of it"),
                None => error,
            };
            return (error.help("complete it, or remove it"), at);
        };
        let unknown = match (self.before(at, 1), self.tokens[at]) {
            // `foo x;`, `foo *x`: the first name is no type.
            (Some(Token::Name(name)), Token::Name(_)) => Some((name, self.spans[at - 1])),
            (_, Token::Name(name)) if has("type") && !has("integer") => Some((name, span)),
            _ => self.cast(at).and_then(|cast| match self.tokens[cast] {
                Token::Name(name) => Some((name, self.spans[cast])),
                _ => None,
            }),
        };
        if let Some((name, span)) = unknown {
            return (unknown_type(self.names.text(name), span), at);
        }
        if let Some(diagnostic) = self.stray_else(at) {
            return (diagnostic, at);
        }
        let error = Diagnostic::error(&codes::SYNTAX, "this is not expected here");
        let help = if self.in_short_for(at) {
            "the three parts of a `for` have `;` between them: `for (i = 0; i < n; i++)`".into()
        } else if has(";") {
            "a `;` may be missing before this".to_string()
        } else if expected.len() <= 3 {
            format!("expected {}", expected.join(" or ").replace('"', "`"))
        } else if has("integer") {
            "an expression is expected".to_string()
        } else {
            "leave it out, or complete what stands before".to_string()
        };
        (error.at(span, "unexpected").help(help), at)
    }

    /// The token that stands so many before another.
    fn before(&self, at: usize, count: usize) -> Option<Token> {
        self.tokens.get(at.checked_sub(count)?).copied()
    }

    /// The innermost bracket that is open before a token.
    fn open_at(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (0..at.min(self.tokens.len())).rev().find(|&number| match self.tokens[number] {
            Token::Close | Token::CloseBrace | Token::CloseIndex => {
                depth += 1;
                false
            }
            Token::Open | Token::OpenBrace | Token::OpenIndex if depth > 0 => {
                depth -= 1;
                false
            }
            Token::Open | Token::OpenBrace | Token::OpenIndex => true,
            _ => false,
        })
    }

    /// The error for a token that a macro has too much, as people write it who define variables.
    fn in_macro(&self, at: usize) -> Option<Diagnostic> {
        let numbers = [Some(at), at.checked_sub(1)];
        let (span, found) = numbers.into_iter().flatten().find_map(|number| {
            let stray = matches!(self.tokens.get(number)?, Token::Assign | Token::Semicolon);
            let span = self.spans.get(number).filter(|_| stray)?;
            Some((*span, self.uses.get(span)?))
        })?;
        let extra = found.extra?;
        let name = self.names.text(found.name);
        let error = Diagnostic::error(&codes::SYNTAX, "this is not expected here");
        let error = error.at(span, format!("has {extra} of the macro in it"));
        Some(error.help(format!("remove {extra} from `#define {name}`")))
    }

    /// The error for a type that no `;` ends before what follows.
    fn behind_type(&self, at: usize) -> Option<Diagnostic> {
        let brace = (1..=2)
            .filter_map(|back| at.checked_sub(back))
            .find(|&number| matches!(self.tokens[number], Token::CloseBrace))?;
        // `struct s { ... } name other`, where the name was meant as a type.
        let is_declared = matches!(self.tokens.get(at), Some(Token::Name(_) | Token::Star));
        let is_name = matches!(self.tokens.get(brace + 1), Some(Token::Name(_)));
        if brace + 2 == at && !(is_name && is_declared) {
            return None;
        }
        let open = self.open_at(brace)?;
        let is_type = |token: Option<Token>| matches!(token, Some(Token::Struct | Token::Enum));
        let tagged = matches!(self.before(open, 1), Some(Token::Name(_)));
        let opens_type = is_type(self.before(open, 1)) || tagged && is_type(self.before(open, 2));
        opens_type.then(|| open_type(self.spans[brace]))
    }

    /// The name in the parentheses of what looks like a cast: `(name) a` or `(name *) a`, not `f(a)`.
    fn cast(&self, at: usize) -> Option<usize> {
        let starts = |token: Option<&Token>| {
            matches!(
                token,
                Some(Token::Name(_) | Token::Int(_) | Token::Char(_) | Token::Text(_))
                    | Some(Token::Open | Token::OpenBrace | Token::Sizeof | Token::Complement)
                    | Some(Token::Not)
            )
        };
        let name = match (self.tokens.get(at), self.before(at, 1)) {
            (Some(Token::Close), Some(Token::Star)) if starts(self.tokens.get(at + 1)) => {
                at.checked_sub(2)?
            }
            (operand, Some(Token::Close)) if starts(operand) => at.checked_sub(2)?,
            _ => return None,
        };
        let is_name = matches!(self.tokens[name], Token::Name(_));
        let is_open = matches!(self.before(name, 1), Some(Token::Open));
        let is_call = matches!(
            self.before(name, 2),
            Some(Token::Name(_) | Token::CloseIndex | Token::If | Token::While | Token::Switch)
        );
        (is_name && is_open && !is_call).then_some(name)
    }

    /// The error for an `else` that belongs to no `if`.
    fn stray_else(&self, at: usize) -> Option<Diagnostic> {
        let before = self.before(at, 1);
        let ended = matches!(before, Some(Token::Semicolon | Token::CloseBrace | Token::OpenBrace));
        if self.tokens[at] != Token::Else || !ended {
            return None;
        }
        let block = matches!(self.before(at, 2), Some(Token::CloseBrace));
        let help = match before {
            Some(Token::Semicolon) if block => "remove the `;` between the `}` and the `else`",
            _ => {
                "it stands behind the one statement of an `if`; put several into braces: \
                 `if (a) { ... } else { ... }`"
            }
        };
        let error = Diagnostic::error(&codes::SYNTAX, "an `else` without its `if`");
        Some(error.at(self.spans[at], "belongs to no `if`").help(help))
    }

    /// Whether a token stands in the parentheses of a `for` that have fewer than two `;`.
    fn in_short_for(&self, at: usize) -> bool {
        let Some(open) = self.open_at(at) else { return false };
        let is_for = matches!(self.before(open, 1), Some(Token::For));
        let (mut depth, mut count) = (0_usize, 0);
        for token in &self.tokens[open + 1..] {
            match token {
                Token::Open | Token::OpenBrace | Token::OpenIndex => depth += 1,
                Token::Close | Token::CloseBrace | Token::CloseIndex if depth == 0 => break,
                Token::Close | Token::CloseBrace | Token::CloseIndex => depth -= 1,
                Token::Semicolon if depth == 0 => count += 1,
                _ => {}
            }
        }
        is_for && count < 2
    }
}
