//! Syntax errors of types: names that are none, types where none can be, and types without an end.

use nbcc_base::{Diagnostic, Span};

use super::repair::Repair;
use super::source::{Known, Source, Stray, syntax};
use super::token::Token;
use crate::codes;
use crate::names::Name;
use crate::preprocess::headers;

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

impl Source<'_> {
    /// The error for a tag without its `struct`.
    pub(super) fn bare_tag(&self, stray: &Stray<'_>) -> Option<Known> {
        let (name, number) = self.type_at(stray)?;
        if !stray.scopes.is_tag(name) {
            return None;
        }
        let text = self.names.text(name);
        let error = unknown_type(text, self.spans[number]);
        let help = format!("write `struct {text}`: it is a tag");
        Some((error.help(help), Repair::Tag(number, name)))
    }

    /// The error for a name that stands where a type does.
    pub(super) fn no_type(&self, stray: &Stray<'_>) -> Option<Known> {
        let (name, number) = self.type_at(stray)?;
        let error = unknown_type(self.names.text(name), self.spans[number]);
        Some((error, Repair::Type(name)))
    }

    /// The name at or before a token that stands where a type does.
    pub(super) fn type_at(&self, stray: &Stray<'_>) -> Option<(Name, usize)> {
        let (at, in_value) = (stray.at, stray.takes("operator"));
        let found = match (self.before(at, 1), self.tokens[at]) {
            // `foo x;`, `foo *x`: the first name is no type.
            (Some(Token::Name(name)), Token::Name(_) | Token::Star)
                if self.may_be_type(at - 1, in_value, stray.takes(")"))
                    && !(in_value
                        && self.firsts[at]
                        && !is_type_of_header(self.names.text(name))) =>
            {
                at - 1
            }
            (_, Token::Name(_)) if stray.wants_type() => at,
            _ => self.cast(at)?,
        };
        match self.tokens[found] {
            Token::Name(name) => Some((name, found)),
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

    /// The error for what stands in the parentheses of a type, or for a type without them.
    pub(super) fn in_type(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
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
            (Token::Word(_), _)
                if self.tokens.get(at + 1) == Some(&Token::Open) && !stray.takes("type") =>
            {
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

    /// Whether a token stands in the arguments of a function of a name.
    fn in_call_of(&self, at: usize, name: &str) -> bool {
        let called = self.open_at(at).and_then(|open| self.before(open, 1));
        matches!(called, Some(Token::Name(called)) if self.names.text(called) == name)
    }

    /// The error for a type that no `;` ends before what follows.
    pub(super) fn behind_type(&self, stray: &Stray<'_>) -> Option<Known> {
        let brace = self.brace_of_type(stray.at)?;
        let repair = Repair::Insert(brace + 1, Token::Semicolon);
        Some((open_type(self.spans[brace]), repair))
    }

    fn brace_of_type(&self, at: usize) -> Option<usize> {
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
}
