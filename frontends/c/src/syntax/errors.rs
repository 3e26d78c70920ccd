//! What is said of a syntax error, and what is done about it: the tokens around the one that the
//! grammar does not take say what was meant more often than the list of those that it takes.

use lalrpop_util::ParseError;
use nbcc_base::Diagnostic;

use super::brackets::begins_statement;
use super::repair::Repair;
use super::scopes::Scopes;
use super::source::{Known, Source, Stray, UNEXPECTED, syntax, takes};
use super::token::Token;
use crate::codes;
use crate::syntax::ast::{Op, Word};

const OUTSIDE: &str = "a statement outside of functions";

/// The number of the token that the grammar does not take, of so many, and what it takes there.
pub(super) fn place(error: &ParseError<u32, Token, ()>, count: usize) -> (usize, &[String]) {
    match error {
        ParseError::UnrecognizedToken { token: (at, ..), expected } => (*at as usize, expected),
        ParseError::UnrecognizedEof { expected, .. } => (count, expected),
        ParseError::ExtraToken { .. }
        | ParseError::InvalidToken { .. }
        | ParseError::User { .. } => {
            unreachable!("the grammar ends at the end of the file and its actions do not fail")
        }
    }
}

fn begins_value(token: Token) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::Int(_)
            | Token::Char(_)
            | Token::Text(_)
            | Token::Word(_)
            | Token::Const
            | Token::Struct
            | Token::Enum
    )
}

impl Source<'_> {
    /// What may be meant, in the order in which it is asked for. From `end` on there is a
    /// token.
    const CASES: [fn(&Self, &Stray<'_>) -> Option<Known>; 21] = [
        Self::given_macro,
        Self::in_macro,
        Self::behind_type,
        Self::end,
        Self::outside,
        Self::operator,
        Self::word_as_name,
        Self::twice,
        Self::bare_tag,
        Self::misspelt,
        Self::no_type,
        Self::in_type,
        Self::without_colon,
        Self::stray_else,
        Self::short_for,
        Self::equals,
        Self::declaration,
        Self::without_semicolon,
        Self::without_comma,
        Self::without_parenthesis,
        Self::long_for,
    ];

    /// What is wrong at a token where others are expected, and how to go on.
    pub(super) fn explain(&self, at: usize, expected: &[String], scopes: &Scopes) -> Known {
        let stray = Stray { at, expected, scopes };
        let known = Self::CASES.iter().find_map(|case| case(self, &stray));
        known.unwrap_or_else(|| self.unexpected(&stray))
    }

    /// The error where the file ends too early.
    fn end(&self, stray: &Stray<'_>) -> Option<Known> {
        if stray.at < self.spans.len() {
            return None;
        }
        let error = Diagnostic::error(&codes::SYNTAX, "the file ends within a declaration");
        let error = match self.spans.last() {
            Some(&last) => error.at(last, "the last of it"),
            None => error,
        };
        Some((error.help("complete it, or remove it"), Repair::Erase))
    }

    /// The error for what stands outside of functions and is no declaration.
    fn outside(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        if at > 1 {
            return None;
        }
        let span = self.spans[at];
        if at == 0 && self.tokens[0] == Token::OpenBrace {
            let help = "remove the `;` before it if this is the body of a function";
            let message = "braces outside of functions";
            return Some((syntax(span, message, "of no function", help), Repair::Erase));
        }
        let Token::Name(name) = self.tokens[0] else {
            let starts = at == 0 && begins_statement(self.tokens);
            let error = || syntax(span, OUTSIDE, "no declaration", "put it into a function");
            return starts.then(|| (error(), Repair::Erase));
        };
        match self.tokens.get(1)? {
            Token::Open => {
                let close = self.close_of(1)?;
                let name = self.names.text(name);
                if self.tokens.get(close + 1) != Some(&Token::OpenBrace) {
                    let help = "put a call into a function; a declaration begins with a type";
                    return Some((syntax(self.spans[0], OUTSIDE, "no type", help), Repair::Erase));
                }
                let message = format!("the function `{name}` has no type");
                let help = format!("write the type of its result: `int {name}(...)`, or `void`");
                let error = syntax(self.spans[0], &message, "no type before it", help);
                Some((error, Repair::Insert(0, Token::Word(Word::Int))))
            }
            _ if begins_statement(self.tokens) => {
                let help = "put it into a function; a declaration begins with a type";
                Some((syntax(self.spans[0], OUTSIDE, "no type", help), Repair::Erase))
            }
            _ => None,
        }
    }

    /// The error for a name that is there a second time.
    fn twice(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        let (Token::Name(before), Token::Name(name)) = (self.before(at, 1)?, self.tokens[at])
        else {
            return None;
        };
        if before != name || !stray.takes(";") && stray.takes(",") {
            return None;
        }
        let message = format!("`{}` is there twice", self.names.text(name));
        let error = syntax(self.spans[at], &message, "the second", "remove one of the two");
        Some((error, Repair::Replace(at..at + 1, Vec::new())))
    }

    /// The error for a label, or a choice, without its `:`.
    fn without_colon(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        if !stray.takes(":") {
            return None;
        }
        let ends = |&number: &usize| {
            matches!(
                self.tokens[number],
                Token::Semicolon
                    | Token::OpenBrace
                    | Token::CloseBrace
                    | Token::Colon
                    | Token::Case
                    | Token::Default
                    | Token::Question
            )
        };
        let before = (0..at).rev().find(ends)?;
        match (self.tokens[before], self.tokens[at]) {
            (Token::Case | Token::Default, Token::Semicolon) => {
                let error =
                    syntax(self.spans[at], "a label ends in `:`", "not in this", "write `:`");
                Some((error, Repair::Replace(at..at + 1, vec![Token::Colon])))
            }
            (Token::Case | Token::Default, _) => {
                let place = self.gap(at);
                let error = syntax(place, "a `:` is missing here", "behind this", "write `:`");
                Some((error, Repair::Insert(at, Token::Colon)))
            }
            (Token::Question, _) => {
                let help = "a choice has two values: `condition ? a : b`";
                let message = "the `:` of a choice is missing";
                let error = syntax(self.spans[at], message, "no second value", help);
                Some((error.and(self.spans[before], "the choice"), Repair::Erase))
            }
            _ => None,
        }
    }

    /// The error for an `else` that belongs to no `if`.
    fn stray_else(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
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
        let error = error.at(self.spans[at], "belongs to no `if`").help(help);
        Some((error, Repair::Replace(at..at + 1, Vec::new())))
    }

    /// The error for a `for` that has fewer than three parts.
    fn short_for(&self, stray: &Stray<'_>) -> Option<Known> {
        let help = "the three parts of a `for` have `;` between them: \
                    `for (i = 0; i < n; i++)`";
        let error = || syntax(self.spans[stray.at], UNEXPECTED, "unexpected", help);
        self.in_short_for(stray.at).then(|| (error(), Repair::Erase))
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

    /// The error for another operator where a declaration has its `=`.
    fn equals(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        let (wrong, end) = match (self.tokens[at], self.tokens.get(at + 1)) {
            (Token::Op(Op::Eq), _) => ("==", at + 1),
            (Token::Colon, Some(Token::Assign)) => (":=", at + 2),
            _ => return None,
        };
        let message = format!("`{wrong}` gives a variable no value");
        let error = syntax(self.spans[at], &message, "not `=`", "write `=`");
        stray.takes("=").then(|| (error, Repair::Replace(at..end, vec![Token::Assign])))
    }

    /// The error for a declaration where only a statement may stand.
    fn declaration(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        let declares = matches!(
            self.tokens[at],
            Token::Word(_) | Token::Const | Token::Struct | Token::Enum | Token::Static
        );
        let in_statement = stray.takes("integer") && !stray.takes("operator") && stray.takes(";");
        if !declares || !in_statement {
            return None;
        }
        let help = match self.before(at, 1) {
            Some(Token::Colon) => "put braces around what stands behind the label, or a `;`",
            _ => "put it into braces",
        };
        let message = "a declaration is no statement";
        let error = syntax(self.spans[at], message, "a declaration", help);
        Some((error, Repair::Insert(at, Token::Semicolon)))
    }

    /// The error for a statement or declaration that no `;` ends.
    fn without_semicolon(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        if !self.lacks_semicolon(at, stray.expected) {
            return None;
        }
        let error = syntax(self.gap(at), "a `;` is missing here", "behind this", "write `;`");
        Some((error, Repair::Insert(at, Token::Semicolon)))
    }

    /// Whether nothing but a `;` is missing before a token: it is the first of its line, or begins or
    /// ends something.
    pub(super) fn lacks_semicolon(&self, at: usize, expected: &[String]) -> bool {
        let begins = matches!(
            self.tokens.get(at),
            Some(
                Token::CloseBrace
                    | Token::Return
                    | Token::If
                    | Token::Else
                    | Token::For
                    | Token::While
            ) | Some(Token::Do | Token::Switch | Token::Case | Token::Default | Token::Break)
                | Some(
                    Token::Continue | Token::Goto | Token::Word(_) | Token::Static | Token::Const
                )
                | Some(Token::Struct | Token::Enum | Token::Storage(_))
        );
        let continues = matches!(
            self.tokens.get(at),
            None | Some(Token::Op(_) | Token::Assign | Token::AssignOp(_) | Token::Colon)
                | Some(
                    Token::Close | Token::CloseIndex | Token::Dot | Token::Arrow | Token::Question
                )
        );
        let in_declarator = !takes(expected, ",");
        let is_first = self.firsts.get(at).is_some_and(|&first| first);
        at > 0
            && takes(expected, ";")
            && (begins || is_first && !continues)
            && !(in_declarator && self.tokens[at - 1] == Token::Semicolon)
    }

    /// The error for a list without a `,`.
    fn without_comma(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        if !stray.takes(",") || stray.takes(";") || !begins_value(self.tokens[at]) {
            return None;
        }
        let help = if stray.takes("operator") { "write `,`, or an operator" } else { "write `,`" };
        let error = syntax(self.gap(at), "a `,` is missing here", "behind this", help);
        Some((error, Repair::Insert(at, Token::Comma)))
    }

    /// The error for a condition without its parentheses.
    fn without_parenthesis(&self, stray: &Stray<'_>) -> Option<Known> {
        let word = match self.before(stray.at, 1)? {
            Token::If => "if",
            Token::While => "while",
            Token::For => "for",
            Token::Switch => "switch",
            _ => return None,
        };
        if stray.expected.len() != 1 || !stray.takes("(") {
            return None;
        }
        let message = format!("a `(` is missing behind `{word}`");
        let help = format!("put what stands behind it into parentheses: `{word} (...)`");
        let error = syntax(self.spans[stray.at], &message, "not in parentheses", help);
        Some((error, Repair::Erase))
    }

    /// The error for a `for` that has more than three parts.
    fn long_for(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        let open = self.open_at(at)?;
        if self.tokens[at] != Token::Semicolon || self.before(open, 1) != Some(Token::For) {
            return None;
        }
        let help = "leave it out: the three parts of a `for` have two `;` between them";
        let error = syntax(self.spans[at], "a `;` too many", "behind the third part", help);
        Some((error, Repair::Replace(at..at + 1, Vec::new())))
    }

    /// The error where nothing is known but what the grammar takes.
    fn unexpected(&self, stray: &Stray<'_>) -> Known {
        let (span, expected) = (self.spans[stray.at], stray.expected);
        let begins_value = begins_value(self.tokens[stray.at]);
        let help = if stray.takes(";") && stray.takes("=") && begins_value {
            "a `,` or a `;` may be missing before this".to_string()
        } else if stray.takes(";") && begins_value {
            "a `;` may be missing before this".to_string()
        } else if stray.takes("name") && !stray.takes("integer") {
            let help = "write the name of what is declared or meant";
            return (syntax(span, "a name is expected here", "no name", help), Repair::Erase);
        } else if let [only] = expected {
            let message = format!("{} is expected here", only.replace('"', "`"));
            let help = "complete what stands before, or leave it out";
            return (syntax(span, &message, "something else", help), Repair::Erase);
        } else if expected.len() <= 3 {
            format!("expected {}", expected.join(" or ").replace('"', "`"))
        } else if stray.takes("integer") {
            let message = "an expression is expected here";
            let help = "write the value, or leave out the operator before it";
            return (syntax(span, message, "no value", help), Repair::Erase);
        } else {
            "leave it out, or complete what stands before".to_string()
        };
        (syntax(span, UNEXPECTED, "unexpected", help), Repair::Erase)
    }
}
