//! Words that are misspelt, or are those of another language, and operators in the wrong order.

use nbcc_base::{Diagnostic, nearest};

use super::repair::Repair;
use super::source::{Known, Source, Stray};
use super::token::{Token, keyword};
use super::type_errors::{is_type_of_header, unknown_type};
use crate::codes;
use crate::names::Name;
use crate::syntax::ast::Op;

/// The words of statements that stand before what the grammar does not expect behind a name.
const OF_STATEMENTS: [&str; 11] =
    ["return", "if", "else", "for", "while", "do", "switch", "case", "goto", "sizeof", "typedef"];

/// The words of types and declarations.
const OF_TYPES: [&str; 15] = [
    "typedef", "int", "char", "short", "long", "unsigned", "signed", "void", "const", "static",
    "struct", "enum", "inline", "extern", "restrict",
];

/// Words of C++ and of languages that look like C.
const OTHERS: [&str; 20] = [
    "begin",
    "catch",
    "class",
    "constexpr",
    "def",
    "delete",
    "end",
    "fn",
    "function",
    "let",
    "namespace",
    "new",
    "nullptr",
    "private",
    "public",
    "template",
    "try",
    "using",
    "var",
    "virtual",
];

impl Source<'_> {
    /// The error for a word that is misspelt before or at a token, and what was meant.
    pub(super) fn misspelt(&self, stray: &Stray<'_>) -> Option<Known> {
        let &Stray { at, scopes, .. } = stray;
        let of_header = |(name, _): (Name, usize)| is_type_of_header(self.names.text(name));
        if self.type_at(stray).is_some_and(of_header) {
            return None;
        }
        let name = |number: usize| match self.tokens.get(number)? {
            Token::Name(name) if !scopes.is_type(*name) => Some(self.names.text(*name)),
            _ => None,
        };
        let begins = |number: usize| {
            number == 0
                || matches!(
                    self.tokens[number - 1],
                    Token::Semicolon
                        | Token::OpenBrace
                        | Token::CloseBrace
                        | Token::Close
                        | Token::Colon
                        | Token::Else
                        | Token::Do
                        | Token::Word(_)
                        | Token::Const
                        | Token::Static
                        | Token::Storage(_)
                        | Token::Inline
                        | Token::Pragma(_)
                )
        };
        let before = at.checked_sub(1);
        // `retrun x`, `unsigned itn x`, `whiel (n) n--`, `fro (int i ...`.
        let head = before.and_then(|before| match self.tokens[before] {
            Token::Close => self.open_at(before)?.checked_sub(1),
            Token::Open => before.checked_sub(1),
            _ => None,
        });
        for (number, is_head) in [(before, false), (head, true), (Some(at), false)] {
            let Some(number) = number else { continue };
            let Some(text) = name(number) else { continue };
            let in_parentheses = matches!(
                number.checked_sub(1).map(|before| self.tokens[before]),
                Some(Token::Open | Token::Comma)
            );
            if let Some(found) = self.other_word(text, number) {
                return Some(found);
            }
            let types = scopes.types().map(|name| self.names.text(name));
            let mut types: Vec<&str> = types.filter(|_| !is_head).collect();
            types.sort_unstable();
            let words: Vec<&str> = match number == at {
                true if stray.wants_type() => OF_TYPES.into_iter().chain(types).collect(),
                // Nothing is known of what should stand here but that it is no name.
                true => vec!["else", "while"],
                false if begins(number) => {
                    let types = OF_TYPES.into_iter().filter(|_| !is_head).chain(types);
                    OF_STATEMENTS.into_iter().chain(types).collect()
                }
                false if in_parentheses && !is_head => OF_TYPES.into_iter().chain(types).collect(),
                false => continue,
            };
            let near = |word: &&str| word.len().abs_diff(text.len()) <= 1;
            let Some(near) = nearest(text, words.into_iter().filter(near)) else { continue };
            let span = self.spans[number];
            let (error, meant) = match keyword(near) {
                Some(meant) => {
                    let message = format!("`{text}` is no word of the language");
                    let error = Diagnostic::error(&codes::SYNTAX, message);
                    (error.at(span, "not known"), meant)
                }
                None => {
                    let meant = scopes.types().find(|&name| self.names.text(name) == near)?;
                    (unknown_type(text, span), Token::Name(meant))
                }
            };
            let repair = Repair::Replace(number..number + 1, vec![meant]);
            return Some((error.help(format!("did you mean `{near}`?")), repair));
        }
        None
    }

    /// The error for a word of another language.
    fn other_word(&self, text: &str, number: usize) -> Option<Known> {
        let (help, with) = match text {
            "and" => ("write `&&`", vec![Token::Op(Op::LogAnd)]),
            "or" => ("write `||`", vec![Token::Op(Op::LogOr)]),
            "not" => ("write `!`", vec![Token::Not]),
            "elif" | "elsif" | "elseif" => ("write `else if`", vec![Token::Else, Token::If]),
            "complex" => ("use a structure of two integers", vec![]),
            "then" => ("leave it out: the statement stands behind the condition", vec![]),
            _ if OTHERS.contains(&text) => {
                let message = format!("`{text}` is a word of another language");
                let error = Diagnostic::error(&codes::SYNTAX, message);
                let error = error.at(self.spans[number], "not C");
                return Some((error.help("write it in C11"), Repair::Erase));
            }
            _ => return None,
        };
        let (code, message) = match text {
            "complex" => (&codes::FLOAT, "complex types are not supported".to_string()),
            _ => (&codes::SYNTAX, format!("`{text}` is a word of another language")),
        };
        let error = Diagnostic::error(code, message).at(self.spans[number], "not C");
        Some((error.help(help), Repair::Replace(number..number + 1, with)))
    }

    /// The error for an operator whose characters are in another order, or of another language.
    pub(super) fn operator(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        let first = at.checked_sub(1)?;
        let (a, b) = (self.tokens[first], *self.tokens.get(at)?);
        let arith = match a {
            Token::Plus => Some(("+", Op::Add)),
            Token::Minus => Some(("-", Op::Sub)),
            Token::Star => Some(("*", Op::Mul)),
            Token::Ampersand => Some(("&", Op::And)),
            Token::Op(Op::Or) => Some(("|", Op::Or)),
            Token::Op(Op::Div) => Some(("/", Op::Div)),
            _ => None,
        };
        if let (Some((text, op)), Token::Assign) = (arith, b)
            && !self.uses.contains_key(&self.spans[at])
        {
            let message = format!("`{text} =` are two operators");
            let error = Diagnostic::error(&codes::SYNTAX, message);
            let error = error.at(self.spans[first].to(self.spans[at]), "not one");
            let with = vec![Token::AssignOp(op)];
            let help = format!("write `{text}=`, without a blank");
            return Some((error.help(help), Repair::Replace(first..at + 1, with)));
        }
        let (wrong, right, meant) = match (a, b) {
            (Token::Assign, Token::Op(Op::Gt)) => ("=>", ">=", Op::Ge),
            (Token::Assign, Token::Op(Op::Lt)) => ("=<", "<=", Op::Le),
            (Token::Op(Op::Lt), Token::Op(Op::Gt)) => ("<>", "!=", Op::Ne),
            (Token::Op(Op::Eq), Token::Assign) => ("===", "==", Op::Eq),
            (Token::Op(Op::Ne), Token::Assign) => ("!==", "!=", Op::Ne),
            (Token::Op(Op::Xor), Token::Op(Op::Xor)) => {
                ("^^", "!=` between truth values, or `^", Op::Ne)
            }
            _ => return None,
        };
        let (a, b) = (self.spans[first], self.spans[at]);
        if a.source != b.source || a.end != b.start {
            return None;
        }
        let error = Diagnostic::error(&codes::SYNTAX, format!("there is no operator `{wrong}`"));
        let error = error.at(a.to(b), "no operator").help(format!("write `{right}`"));
        Some((error, Repair::Replace(first..at + 1, vec![Token::Op(meant)])))
    }

    /// The error for a word of the language that stands where a name is declared.
    pub(super) fn word_as_name(&self, stray: &Stray<'_>) -> Option<Known> {
        let at = stray.at;
        let declares = matches!(
            self.before(at, 1)?,
            Token::Word(_) | Token::Star | Token::Comma | Token::Const
        );
        let word = match self.tokens.get(at)? {
            Token::If => "if",
            Token::Else => "else",
            Token::For => "for",
            Token::While => "while",
            Token::Do => "do",
            Token::Switch => "switch",
            Token::Case => "case",
            Token::Default => "default",
            Token::Break => "break",
            Token::Continue => "continue",
            Token::Return => "return",
            Token::Goto => "goto",
            _ => return None,
        };
        if !declares || !stray.takes("name") || self.firsts[at] {
            return None;
        }
        let message = format!("`{word}` is a word of the language and no name");
        let error = Diagnostic::error(&codes::SYNTAX, message).at(self.spans[at], "not a name");
        Some((error.help("choose another name"), Repair::Erase))
    }
}
