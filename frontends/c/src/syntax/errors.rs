//! What is said of a syntax error, and what is done about it: the tokens around the one that the
//! grammar does not take say what was meant more often than the list of those that it takes.

use std::collections::HashSet;

use lalrpop_util::ParseError;
use nbcc_base::{Diagnostic, Span};

use super::brackets::begins_statement;
use super::repair::Repair;
use super::scopes::Scopes;
use super::token::{Token, Tokens, behind};
use crate::codes;
use crate::names::{Name, Names};
use crate::preprocess::{Uses, headers};
use crate::syntax::ast::{Op, Word};

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

const UNEXPECTED: &str = "this is not expected here";
const OUTSIDE: &str = "a statement outside of functions";

/// The error for a token that a macro has too much, as people write it who define variables.
pub(super) fn extra_of_macro(
    stray: Token,
    span: Span,
    uses: &Uses,
    names: &Names,
) -> Option<Diagnostic> {
    let found = uses.get(&span)?;
    let extra = match (stray, found.extra?) {
        (Token::Assign, extra @ "the `=`") | (Token::Semicolon, extra @ "the `;`") => extra,
        _ => return None,
    };
    let name = names.text(found.name);
    let label = format!("has {extra} of the macro in it");
    let help = format!("remove {extra} from `#define {name}`");
    Some(syntax(span, UNEXPECTED, &label, help))
}

/// What is known of the tokens of a file.
pub(super) struct Source<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) spans: &'a [Span],
    pub(super) firsts: &'a [bool],
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

/// The type of a width and sign that is spelled in another way: `u8`, `int_32`, `uint16`.
fn of_width(name: &str) -> Option<&'static str> {
    let short: String = name.to_ascii_lowercase().chars().filter(|&c| c != '_').collect();
    let short = short.strip_suffix('t').unwrap_or(&short);
    let width = short.trim_start_matches(|c: char| !c.is_ascii_digit());
    let is_signed = match &short[..short.len() - width.len()] {
        "i" | "s" | "int" | "sint" => true,
        "u" | "uint" => false,
        _ => return None,
    };
    let mut widths = OF_HEADERS.into_iter().filter(|known| known.starts_with('u') != is_signed);
    widths.find(|known| known.trim_matches(|c: char| !c.is_ascii_digit()) == width)
}

/// The error for a name that stands where a type does.
pub(crate) fn unknown_type(name: &str, span: Span) -> Diagnostic {
    let words = ["int", "char", "short", "long", "unsigned", "void"];
    let help = if is_pointer_as_integer(name) {
        "pointers are no integers here: keep an index into the array, a `ptrdiff_t`".to_string()
    } else if let Some(header) = headers::declaring(name) {
        format!("write `#include <{header}>`")
    } else {
        let near = of_width(name)
            .or_else(|| nbcc_base::nearest(name, OF_HEADERS.into_iter().chain(words)));
        match near {
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

fn syntax(span: Span, message: &str, label: &str, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(&codes::SYNTAX, message).at(span, label).help(help)
}

impl<'a> Source<'a> {
    pub(super) fn new(tokens: &'a Tokens, names: &'a Names, uses: &'a Uses) -> Source<'a> {
        let Tokens { kinds, spans, firsts } = tokens;
        Source { tokens: kinds, spans, firsts, names, uses }
    }

    /// What is wrong at a token where others are expected, and how to go on.
    pub(super) fn explain(
        &self,
        at: usize,
        expected: &[String],
        scopes: &Scopes,
    ) -> (Diagnostic, Repair) {
        let has = |what: &str| expected.iter().any(|e| e.trim_matches('"') == what);
        if let Some(known) = self.given_macro(at) {
            return known;
        }
        if let Some((error, stray)) = self.in_macro(at) {
            return (error, Repair::Replace(stray..stray + 1, Vec::new()));
        }
        if let Some(brace) = self.behind_type(at) {
            return (open_type(self.spans[brace]), Repair::Insert(brace + 1, Token::Semicolon));
        }
        let Some(&span) = self.spans.get(at) else {
            let error = Diagnostic::error(&codes::SYNTAX, "the file ends within a declaration");
            let error = match self.spans.last() {
                Some(&last) => error.at(last, "the last of it"),
                None => error,
            };
            return (error.help("complete it, or remove it"), Repair::Erase);
        };
        let known = self.outside(at, span);
        let known = known.or_else(|| self.operator(at)).or_else(|| self.word_as_name(at, expected));
        if let Some(known) = known {
            return known;
        }
        if let (Some(Token::Name(before)), Token::Name(name)) =
            (self.before(at, 1), self.tokens[at])
            && before == name
            && (has(";") || !has(","))
        {
            let message = format!("`{}` is there twice", self.names.text(name));
            let error = syntax(span, &message, "the second", "remove one of the two");
            return (error, Repair::Replace(at..at + 1, Vec::new()));
        }
        let wants_type = has("type") && !has("integer");
        let unknown = self.type_at(at, wants_type, has("operator"), has(")"));
        let is_of_header =
            unknown.is_some_and(|(name, _)| is_type_of_header(self.names.text(name)));
        if let Some((name, number)) = unknown
            && scopes.is_tag(name)
        {
            let text = self.names.text(name);
            let error = unknown_type(text, self.spans[number]);
            let help = format!("write `struct {text}`: it is a tag");
            return (error.help(help), Repair::Tag(number, name));
        }
        if !is_of_header && let Some(known) = self.misspelt(at, wants_type, scopes) {
            return known;
        }
        if let Some((name, number)) = unknown {
            let error = unknown_type(self.names.text(name), self.spans[number]);
            return (error, Repair::Type(name));
        }
        if let Some(known) =
            self.in_type(at, has("type")).or_else(|| self.without_colon(at, has(":")))
        {
            return known;
        }
        if let Some(diagnostic) = self.stray_else(at) {
            return (diagnostic, Repair::Replace(at..at + 1, Vec::new()));
        }
        if self.in_short_for(at) {
            let help = "the three parts of a `for` have `;` between them: \
                        `for (i = 0; i < n; i++)`";
            return (syntax(span, UNEXPECTED, "unexpected", help), Repair::Erase);
        }
        if let Some(known) = self.equals(at, has("=")) {
            return known;
        }
        let declares = matches!(
            self.tokens[at],
            Token::Word(_) | Token::Const | Token::Struct | Token::Enum | Token::Static
        );
        if declares && has("integer") && !has("operator") && has(";") {
            let help = match self.before(at, 1) {
                Some(Token::Colon) => "put braces around what stands behind the label, or a `;`",
                _ => "put it into braces",
            };
            let error = syntax(span, "a declaration is no statement", "a declaration", help);
            return (error, Repair::Insert(at, Token::Semicolon));
        }
        if self.lacks_semicolon(at, expected) {
            let place = self.gap(at);
            let error = syntax(place, "a `;` is missing here", "behind this", "write `;`");
            return (error, Repair::Insert(at, Token::Semicolon));
        }
        let begins_value = matches!(
            self.tokens[at],
            Token::Name(_)
                | Token::Int(_)
                | Token::Char(_)
                | Token::Text(_)
                | Token::Word(_)
                | Token::Const
                | Token::Struct
                | Token::Enum
        );
        if has(",") && !has(";") && begins_value {
            let place = self.gap(at);
            let help = if has("operator") { "write `,`, or an operator" } else { "write `,`" };
            let error = syntax(place, "a `,` is missing here", "behind this", help);
            return (error, Repair::Insert(at, Token::Comma));
        }
        let word = match self.before(at, 1) {
            Some(Token::If) => Some("if"),
            Some(Token::While) => Some("while"),
            Some(Token::For) => Some("for"),
            Some(Token::Switch) => Some("switch"),
            _ => None,
        };
        if let Some(word) = word.filter(|_| expected.len() == 1 && has("(")) {
            let message = format!("a `(` is missing behind `{word}`");
            let help = format!("put what stands behind it into parentheses: `{word} (...)`");
            return (syntax(span, &message, "not in parentheses", help), Repair::Erase);
        }
        if self.tokens[at] == Token::Semicolon
            && let Some(open) = self.open_at(at)
            && self.before(open, 1) == Some(Token::For)
        {
            let help = "leave it out: the three parts of a `for` have two `;` between them";
            let error = syntax(span, "a `;` too many", "behind the third part", help);
            return (error, Repair::Replace(at..at + 1, Vec::new()));
        }
        let help = if has(";") && has("=") && begins_value {
            "a `,` or a `;` may be missing before this".to_string()
        } else if has(";") && begins_value {
            "a `;` may be missing before this".to_string()
        } else if has("name") && !has("integer") {
            let help = "write the name of what is declared or meant";
            return (syntax(span, "a name is expected here", "no name", help), Repair::Erase);
        } else if let [only] = expected {
            let message = format!("{} is expected here", only.replace('"', "`"));
            let help = "complete what stands before, or leave it out";
            return (syntax(span, &message, "something else", help), Repair::Erase);
        } else if expected.len() <= 3 {
            format!("expected {}", expected.join(" or ").replace('"', "`"))
        } else if has("integer") {
            let message = "an expression is expected here";
            let help = "write the value, or leave out the operator before it";
            return (syntax(span, message, "no value", help), Repair::Erase);
        } else {
            "leave it out, or complete what stands before".to_string()
        };
        (syntax(span, UNEXPECTED, "unexpected", help), Repair::Erase)
    }

    /// Whether a token stands in parentheses or brackets that were closed because nothing closed them,
    /// or is where that was done.
    pub(super) fn in_closed(&self, at: usize, closed: &HashSet<Span>) -> bool {
        let Some(span) = self.spans.get(at) else { return true };
        let mut open = self.open_at(at);
        while let Some(number) = open.filter(|&number| self.tokens[number] != Token::OpenBrace) {
            if closed.contains(&self.spans[number]) {
                return true;
            }
            open = self.open_at(number);
        }
        span.start == span.end
    }

    /// The place before a token where another one is missing.
    fn gap(&self, at: usize) -> Span {
        let before = self.spans[at - 1];
        // Both come from one macro: where it is used.
        if before == self.spans[at] { before } else { behind(before) }
    }

    /// Whether nothing but a `;` is missing before a token: it is the first of its line, or begins or
    /// ends something.
    pub(super) fn lacks_semicolon(&self, at: usize, expected: &[String]) -> bool {
        let takes = expected.iter().any(|word| word.trim_matches('"') == ";");
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
        let in_declarator = !expected.iter().any(|word| word.trim_matches('"') == ",");
        let is_first = self.firsts.get(at).is_some_and(|&first| first);
        at > 0
            && takes
            && (begins || is_first && !continues)
            && !(in_declarator && self.tokens[at - 1] == Token::Semicolon)
    }

    /// The error for what stands outside of functions and is no declaration.
    fn outside(&self, at: usize, span: Span) -> Option<(Diagnostic, Repair)> {
        if at > 1 {
            return None;
        }
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

    /// The name at or before a token that stands where a type does.
    fn type_at(
        &self,
        at: usize,
        wants_type: bool,
        in_value: bool,
        closes: bool,
    ) -> Option<(Name, usize)> {
        let found = match (self.before(at, 1), self.tokens[at]) {
            // `foo x;`, `foo *x`: the first name is no type.
            (Some(Token::Name(name)), Token::Name(_) | Token::Star)
                if self.may_be_type(at - 1, in_value, closes)
                    && !(in_value
                        && self.firsts[at]
                        && !is_type_of_header(self.names.text(name))) =>
            {
                at - 1
            }
            (_, Token::Name(_)) if wants_type => at,
            _ => self.cast(at)?,
        };
        match self.tokens[found] {
            Token::Name(name) => Some((name, found)),
            _ => None,
        }
    }

    /// The error for what stands in the parentheses of a type, or for a type without them.
    fn in_type(&self, at: usize, takes_type: bool) -> Option<(Diagnostic, Repair)> {
        let span = self.spans[at];
        let (before, second) = (self.before(at, 1)?, self.before(at, 2));
        match (self.tokens[at], before) {
            (Token::Word(_) | Token::Struct, Token::Sizeof) => {
                let help = "write `sizeof(int)`";
                let message = "`sizeof` of a type without parentheses";
                Some((syntax(span, message, "a type", help), Repair::Erase))
            }
            (Token::Word(_), Token::Comma) if self.in_call_of(at, "va_arg") => {
                let help = "give the function all its parameters, or an array";
                let message = "functions with `...` are not supported";
                let error = Diagnostic::error(&codes::VARIADIC, message);
                Some((error.at(span, "reads one of any number").help(help), Repair::Erase))
            }
            (Token::Word(_), Token::Open) if matches!(second, Some(Token::Name(_))) => {
                let help = "a function is called with values: write the value, or a cast of it";
                Some((syntax(span, "a type is given to a function", "a type", help), Repair::Erase))
            }
            (Token::Word(_), _) if self.tokens.get(at + 1) == Some(&Token::Open) && !takes_type => {
                let help = "write a cast as `(int)n`";
                Some((syntax(span, "a type stands before a value", "a type", help), Repair::Erase))
            }
            (Token::Name(_), Token::Word(_)) if second == Some(Token::Open) => {
                let help = "a cast has nothing but the type in its parentheses: `(int)n`";
                Some((
                    syntax(span, "a name stands in a cast", "no part of a type", help),
                    Repair::Erase,
                ))
            }
            (Token::Ampersand, Token::Word(_) | Token::TypeName(_)) => {
                let help = "declare a pointer with `*`, and give it an address";
                let error = syntax(span, "there are no references in C", "no pointer", help);
                Some((error, Repair::Replace(at..at + 1, vec![Token::Star])))
            }
            _ => None,
        }
    }

    /// The error for another operator where a declaration has its `=`.
    fn equals(&self, at: usize, takes: bool) -> Option<(Diagnostic, Repair)> {
        let (wrong, end) = match (self.tokens[at], self.tokens.get(at + 1)) {
            (Token::Op(Op::Eq), _) => ("==", at + 1),
            (Token::Colon, Some(Token::Assign)) => (":=", at + 2),
            _ => return None,
        };
        let message = format!("`{wrong}` gives a variable no value");
        let error = syntax(self.spans[at], &message, "not `=`", "write `=`");
        takes.then(|| (error, Repair::Replace(at..end, vec![Token::Assign])))
    }

    /// Whether a token stands in the arguments of a function of a name.
    fn in_call_of(&self, at: usize, name: &str) -> bool {
        let called = self.open_at(at).and_then(|open| self.before(open, 1));
        matches!(called, Some(Token::Name(called)) if self.names.text(called) == name)
    }

    /// The error for a label, or a choice, without its `:`.
    fn without_colon(&self, at: usize, takes: bool) -> Option<(Diagnostic, Repair)> {
        if !takes {
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

    /// Whether a name may stand for a type where it stands.
    fn may_be_type(&self, at: usize, in_value: bool, closes: bool) -> bool {
        match self.before(at, 1) {
            None => true,
            Some(Token::Open) if self.before(at, 2) == Some(Token::For) => true,
            Some(Token::Open | Token::Comma) => !in_value && closes,
            Some(Token::OpenBrace) => in_value,
            Some(before) => matches!(
                before,
                Token::Semicolon
                    | Token::CloseBrace
                    | Token::Close
                    | Token::Else
                    | Token::Do
                    | Token::Colon
                    | Token::Const
                    | Token::Static
                    | Token::Storage(_)
                    | Token::Inline
                    | Token::Restrict
                    | Token::Pragma(_)
            ),
        }
    }

    /// What closes the bracket that a token opens.
    fn close_of(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (open..self.tokens.len()).find(|&number| {
            match self.tokens[number] {
                Token::Open | Token::OpenBrace | Token::OpenIndex => depth += 1,
                Token::Close | Token::CloseBrace | Token::CloseIndex => depth -= 1,
                _ => {}
            }
            depth == 0
        })
    }

    /// The token that stands so many before another.
    pub(super) fn before(&self, at: usize, count: usize) -> Option<Token> {
        self.tokens.get(at.checked_sub(count)?).copied()
    }

    /// The innermost bracket that is open before a token.
    pub(super) fn open_at(&self, at: usize) -> Option<usize> {
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
    fn in_macro(&self, at: usize) -> Option<(Diagnostic, usize)> {
        let numbers = [Some(at), at.checked_sub(1)];
        numbers.into_iter().flatten().find_map(|number| {
            let stray = *self.tokens.get(number)?;
            let error = extra_of_macro(stray, self.spans[number], self.uses, self.names)?;
            Some((error, number))
        })
    }

    /// The error for a name that the command line replaces where the source declares it.
    fn given_macro(&self, at: usize) -> Option<(Diagnostic, Repair)> {
        let numbers = [Some(at), at.checked_sub(1)];
        let (number, name) = numbers.into_iter().flatten().find_map(|number| {
            let found = self.uses.get(self.spans.get(number)?)?;
            let is_own = self.names.text(found.name).starts_with("__");
            (found.definition.is_none() && !is_own).then_some((number, found.name))
        })?;
        let span = self.spans[number];
        let same = |&number: &usize| self.spans[number] == span;
        let start = (0..number).rev().take_while(same).last().unwrap_or(number);
        let end = (number..self.spans.len()).take_while(same).last().unwrap_or(number) + 1;
        let text = self.names.text(name);
        let message = format!("`{text}` is a macro of the command line, and no name here");
        let error = syntax(span, &message, "replaced by what `-D` says", "");
        let help = format!("give a scalar with `--param {text}=VALUE`, not with `-D {text}=VALUE`");
        Some((error.help(help), Repair::Replace(start..end, vec![Token::Name(name)])))
    }

    /// The brace of a type that no `;` ends before what follows.
    fn behind_type(&self, at: usize) -> Option<usize> {
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
        opens_type.then_some(brace)
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
