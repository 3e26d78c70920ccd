//! Preprocessing tokens (C11, 6.4) of a file, with trigraphs replaced and lines joined that end in a
//! backslash (5.1.1.2, phases 1 and 2). Spans are those of the file as it stands.

use logos::Logos;
use nbcc_base::lexical;
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};

use crate::codes;
use crate::names::{Name, Names};

/// Tokens of a file at most: what is made of them fits the memory of a small machine.
pub(crate) const MAX_TOKENS: usize = 4_000_000;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    Char,
    Text,
    Punct,
    /// The words of a `#pragma nbcc`, as one text.
    Pragma,
    /// What was reported already, in the place of an expression.
    Bad,
    /// What starts no token: a stray character, an open text.
    Other,
}

/// A preprocessing token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: Name,
    /// Where it stands; what a macro makes stands where the macro is used.
    pub(crate) span: Span,
    /// Whether white space stands before it.
    pub(crate) space: bool,
    /// Whether it is the first of its line.
    pub(crate) first: bool,
    /// Whether it names a macro that is not to be expanded any more (6.10.3.4).
    pub(crate) frozen: bool,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    #[regex(r"[ \t\r\f\x0b]+")]
    #[regex(r"//[^\n]*", allow_greedy = true)]
    Blank,
    #[token("\n")]
    Line,
    #[token("/*", comment)]
    Comment,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", priority = 20)]
    // Refused later, by `foreign_name`.
    #[regex(r"[A-Za-z_\p{L}][A-Za-z0-9_$\p{L}\p{M}\p{N}]*")]
    Name,
    #[regex(r"\.?[0-9]([eEpP][+-]|[A-Za-z0-9_.])*")]
    Number,
    #[regex(r"(L|u|U)?'([^'\\\n]|\\[^\n])*'")]
    Char,
    #[regex(r#"(L|u|U|u8)?"([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[regex(r"\.\.\.|->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\*=|/=|%=|\+=|-=|&=|\^=|\|=|##")]
    #[regex(r"[\[\](){}.&*+\-~!/%<>^|?:;=,#]")]
    #[regex(r"<:|:>|<%|%>|%:|%:%:")]
    Punct,
}

/// What a digraph stands for (6.4.6); other texts as they are.
pub(crate) fn spelled(text: &str) -> &str {
    match text {
        "<:" => "[",
        ":>" => "]",
        "<%" => "{",
        "%>" => "}",
        _ => text,
    }
}

/// What the trigraph stands for with which a text begins (5.2.1.1).
fn trigraph(text: &str) -> Option<char> {
    Some(match text.strip_prefix("??")?.chars().next()? {
        '=' => '#',
        '/' => '\\',
        '\'' => '^',
        '(' => '[',
        ')' => ']',
        '!' => '|',
        '<' => '{',
        '>' => '}',
        '-' => '~',
        _ => return None,
    })
}

/// Whether the comment ends.
fn comment(lexer: &mut logos::Lexer<'_, Raw>) -> bool {
    let end = lexer.remainder().find("*/");
    lexer.bump(end.map_or(lexer.remainder().len(), |end| end + 2));
    end.is_some()
}

/// The bytes of a trigraph.
const TRIGRAPH: usize = 3;

/// A text without trigraphs and the line breaks behind a backslash, and where they stood.
struct Spliced {
    text: String,
    /// From that byte of `text` on, so many bytes were left out before.
    gaps: Vec<(usize, usize)>,
    /// The bytes of `text` that were trigraphs.
    trigraphs: Vec<usize>,
    /// Where blanks stand between a backslash and the line break that it joins, in the file.
    blanks: Vec<usize>,
}

impl Spliced {
    fn new(text: &str) -> Spliced {
        let mut spliced = Spliced {
            text: String::with_capacity(text.len()),
            gaps: Vec::new(),
            trigraphs: Vec::new(),
            blanks: Vec::new(),
        };
        let mut rest = text;
        let mut left_out = 0;
        while let Some(at) = rest.find(['\\', '?']) {
            spliced.text.push_str(&rest[..at]);
            rest = &rest[at..];
            let meant = trigraph(rest);
            let width = if meant.is_some() { TRIGRAPH } else { 1 };
            let after = &rest[width..];
            // Blanks before the line break are no reason not to join lines: so gcc has it.
            let line = after.trim_start_matches([' ', '\t', '\x0b', '\x0c', '\r']);
            let joins = meant.unwrap_or(rest.as_bytes()[0].into()) == '\\';
            let line_break =
                if joins && line.starts_with('\n') { after.len() - line.len() + 1 } else { 0 };
            if line_break > 0 {
                if !matches!(&after[..line_break], "\n" | "\r\n") {
                    spliced.blanks.push(text.len() - after.len());
                }
                left_out += width + line_break;
            } else if let Some(meant) = meant {
                left_out += width - 1;
                spliced.trigraphs.push(spliced.text.len());
                spliced.text.push(meant);
            } else {
                spliced.text.push_str(&rest[..width]);
                rest = after;
                continue;
            }
            spliced.gaps.push((spliced.text.len(), left_out));
            rest = &after[line_break..];
        }
        spliced.text.push_str(rest);
        spliced
    }

    fn offset(&self, at: usize) -> usize {
        let gap = self.gaps.partition_point(|&(from, _)| from <= at);
        at + gap.checked_sub(1).map_or(0, |gap| self.gaps[gap].1)
    }

    /// The end of a token whose last byte is before `at`.
    fn end(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |last| {
            let is_trigraph = self.trigraphs.binary_search(&last).is_ok();
            self.offset(last) + if is_trigraph { TRIGRAPH } else { 1 }
        })
    }
}

/// The tokens of a file.
pub(crate) fn tokens(
    source: SourceId,
    file: &SourceFile,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Token>, Failed> {
    let spliced = Spliced::new(&file.text);
    for &at in &spliced.blanks {
        let message = "blanks between a backslash and the end of the line";
        let warning = Diagnostic::warning(&codes::BLANKS, message);
        let span = Span::new(source, at - 1, at);
        let warning = warning.at(span, "joins the next line all the same");
        diagnostics.push(warning.help("remove the blanks, or the backslash if the line is to end"));
    }
    let mut list = Vec::new();
    let (mut space, mut first) = (false, true);
    let mut lexer = Raw::lexer(&spliced.text);
    while let Some(raw) = lexer.next() {
        let range = lexer.span();
        let span = Span::new(source, spliced.offset(range.start), spliced.end(range.end));
        let kind = match raw {
            Ok(Raw::Blank | Raw::Comment) => {
                space = true;
                continue;
            }
            Ok(Raw::Line) => {
                (space, first) = (true, true);
                continue;
            }
            Ok(Raw::Name) => Kind::Name,
            Ok(Raw::Number) => Kind::Number,
            Ok(Raw::Char) => Kind::Char,
            Ok(Raw::Text) => Kind::Text,
            Ok(Raw::Punct) => Kind::Punct,
            Err(()) if lexer.slice().starts_with("/*") => {
                let at = span.start as usize;
                return diagnostics.fail(lexical::open_comment(&codes::COMMENT, source, at));
            }
            Err(()) => Kind::Other,
        };
        if list.len() == MAX_TOKENS {
            let error = Diagnostic::error(&codes::LIMIT, format!("more than {MAX_TOKENS} tokens"));
            let error = error.at(span, "one too many");
            return diagnostics.fail(error.help("make several files of it"));
        }
        let text = names.intern(lexer.slice());
        list.push(Token { kind, text, span, space, first, frozen: false });
        (space, first) = (false, false);
    }
    Ok(list)
}

/// The error for a name that has other letters than C's.
pub(crate) fn foreign_name(text: &str, span: Span) -> Option<Diagnostic> {
    let strange = text.chars().find(|&c| !c.is_ascii() || c == '$')?;
    let text = lexical::shorten(text);
    let message = match strange {
        '$' => format!("the name `{text}` has a `$`"),
        _ => format!("the name `{text}` has letters outside ASCII"),
    };
    let error = Diagnostic::error(&codes::CHARACTER, message);
    let error = error.at(span, format!("`{strange}` is not for names"));
    Some(error.help("names are made of a to z, A to Z, 0 to 9 and _"))
}

/// The kind of a text that is one token; `None` where it is none, or several.
pub(crate) fn single(text: &str) -> Option<Kind> {
    let mut lexer = Raw::lexer(text);
    let kind = match lexer.next()? {
        Ok(Raw::Name) => Kind::Name,
        Ok(Raw::Number) => Kind::Number,
        Ok(Raw::Char) => Kind::Char,
        Ok(Raw::Text) => Kind::Text,
        Ok(Raw::Punct) => Kind::Punct,
        _ => return None,
    };
    lexer.remainder().is_empty().then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigraphs_and_line_breaks_leave_the_spans_of_the_file() {
        let text = "??(a??/\nb ??!??/\r\n??!\\\n\"??/x41???=?\\\n?=\"??) // c ??/\nd\n'??'' ??- e";
        let file = SourceFile::new("f", text);
        let (mut names, mut diagnostics) = (Names::default(), Diagnostics::default());
        let source = SourceId(0);
        let list = tokens(source, &file, &mut names, &mut diagnostics).expect("tokens");
        let found: Vec<(&str, &str)> = list
            .iter()
            .map(|token| {
                (names.text(token.text), &text[token.span.start as usize..token.span.end as usize])
            })
            .collect();
        let expected = [
            ("[", "??("),
            ("ab", "a??/\nb"),
            ("||", "??!??/\r\n??!"),
            ("\"\\x41?#??=\"", "\"??/x41???=?\\\n?=\""),
            ("]", "??)"),
            ("'^'", "'??''"),
            ("~", "??-"),
            ("e", "e"),
        ];
        assert_eq!(found, expected);
    }
}
