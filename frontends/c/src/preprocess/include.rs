//! `#include` (C11, 6.10.2): files beside the including one, those of `-I`, and the headers that the
//! compiler has.

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Failed, SourceFile, Span, nearest};
use nbcc_pipeline::NotIncluded;

use super::headers;
use super::state::Preprocessor;
use super::token::{Kind, Token};
use crate::codes;

/// Levels of files that include each other.
const MAX_INCLUDES: usize = 64;

/// Headers of the C library that there are not, without those of types alone.
const REFUSED: [&str; 18] = [
    "stdio.h",
    "math.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "locale.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdatomic.h",
    "tgmath.h",
    "threads.h",
    "time.h",
    "wchar.h",
    "wctype.h",
];

/// What these headers declare that is no function of the library that [`crate::sema`] knows.
const THEIRS: [&str; 24] = [
    "FILE",
    "EOF",
    "stdin",
    "stdout",
    "stderr",
    "va_list",
    "I",
    "M_PI",
    "M_E",
    "NAN",
    "INFINITY",
    "errno",
    "FLT_MAX",
    "DBL_MAX",
    "FLT_EPSILON",
    "DBL_EPSILON",
    "jmp_buf",
    "sig_atomic_t",
    "atomic_int",
    "thrd_t",
    "mtx_t",
    "time_t",
    "clock_t",
    "CLOCKS_PER_SEC",
];

/// How an `#include` names its file.
struct Named {
    name: String,
    angled: bool,
    span: Span,
    /// Whether the way in which it does was reported.
    reported: bool,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, word: Token, rest: &[Token]) -> Result<(), Failed> {
        let mut tokens = rest.to_vec();
        if tokens
            .first()
            .is_some_and(|token| token.kind == Kind::Name && self.macros.contains_key(&token.text))
        {
            tokens = self.expand(tokens, 0)?;
        }
        let Some(Named { name, angled, span, reported }) = self.named(word, &tokens) else {
            self.incomplete = true;
            return Ok(());
        };
        if self.depth == MAX_INCLUDES {
            let error = Diagnostic::error(&codes::LIMIT, "files included too deep");
            let error = error.at(span, format!("more than {MAX_INCLUDES} within each other"));
            let help = "does a header include itself? Begin it with `#pragma once`";
            return self.diagnostics.fail(error.help(help));
        }
        let found = match self.includes {
            Some(includes) => includes.open(word.span.source, &name, angled),
            None => Err(NotIncluded::NotFound),
        };
        let (source, file) = match found {
            Ok(found) => found,
            Err(why) => {
                let own = match (headers::text(&name), angled) {
                    (None, true) => self.no_header(&name, span, reported),
                    (own, _) => own.map(|text| (name.as_str(), text)),
                };
                match own.zip(self.includes) {
                    Some(((name, text), includes)) => {
                        includes.add(SourceFile::new(format!("<{name}>"), text))
                    }
                    None if angled => return Ok(()),
                    None => {
                        self.no_file(&name, &why, span, reported);
                        return Ok(());
                    }
                }
            }
        };
        if self.once.contains(&file.name) {
            return Ok(());
        }
        self.included.insert(source, span);
        self.depth += 1;
        self.file(source, &file)?;
        self.depth -= 1;
        Ok(())
    }

    /// The file that is named; reported where none is.
    fn named(&mut self, word: Token, tokens: &[Token]) -> Option<Named> {
        let texts: Vec<&str> = tokens.iter().map(|token| self.names.text(token.text)).collect();
        let first = tokens.first().map(|token| token.kind);
        let last = tokens.last().map_or(word.span, |token| token.span);
        let span = tokens.first().map_or(word.span, |first| first.span.to(last));
        let end = match (first, texts.iter().position(|&text| text == ">")) {
            (Some(Kind::Text), _) => Some(1),
            (_, Some(end)) if texts[0] == "<" => Some(end + 1),
            _ => None,
        };
        let named_by = end.map(|end| (end, texts[..end].concat()));
        if let Some((end, spelled)) = named_by.filter(|(_, spelled)| spelled.len() > 2) {
            let name = spelled[1..spelled.len() - 1].to_string();
            if let Some(more) = tokens.get(end) {
                let message = "what stands behind the name of the file is ignored";
                let warning = Diagnostic::warning(&codes::IGNORED, message);
                let help = "remove it, or put it on a line of its own";
                self.diagnostics.push(warning.at(more.span.to(last), "ignored").help(help));
            }
            let span = tokens[0].span.to(tokens[end - 1].span);
            return Some(Named { name, angled: first != Some(Kind::Text), span, reported: false });
        }
        let (name, angled, help) = match (first, &texts[..]) {
            (_, ["<", ">", ..]) => {
                (String::new(), false, "write `#include <stdint.h>`".to_string())
            }
            (_, ["<", inside @ ..]) if !inside.is_empty() => {
                (inside.concat(), true, "close the name with `>`".to_string())
            }
            (Some(Kind::Other), [text, ..]) if text.starts_with('"') => {
                let name = text.trim_matches(['"', '>', ' ']).to_string();
                (name, false, "close the name with `\"`".to_string())
            }
            (Some(Kind::Name), _) => {
                let name = texts.concat();
                let angled = headers::text(&name).is_some();
                let shown = shorten(&name);
                let help = if angled {
                    format!("write `#include <{shown}>`")
                } else {
                    format!("write `#include \"{shown}\"`")
                };
                (name, angled, help)
            }
            _ => (String::new(), false, "write `#include \"file.h\"`".to_string()),
        };
        let message = "`#include` without a file";
        let error = Diagnostic::error(&codes::DIRECTIVE, message).at(span, "no name of a file");
        self.diagnostics.push(error.help(help));
        (!name.is_empty()).then_some(Named { name, angled, span, reported: true })
    }

    /// Reports that there is no header of a name. That which was meant, with its text.
    fn no_header(
        &mut self,
        name: &str,
        span: Span,
        reported: bool,
    ) -> Option<(&'static str, &'static str)> {
        let near = nearest(name, headers::ALL).or_else(|| {
            let whole = format!("{name}.h");
            headers::ALL.into_iter().find(|known| *known == whole)
        });
        let near = near.filter(|_| !REFUSED.contains(&name));
        let near = near.and_then(|near| headers::ALL.into_iter().find(|known| *known == near));
        if REFUSED.contains(&name) {
            for theirs in THEIRS {
                let name = self.names.intern(theirs);
                self.refused.add(name);
            }
        } else if near.is_none() {
            self.refused.any = true;
        }
        if !reported {
            let message = format!("there is no header <{}>", shorten(name));
            let error = Diagnostic::error(&codes::NO_HEADER, message).at(span, "not known");
            let help = match near {
                Some(near) => format!("did you mean <{near}>?"),
                None => "there are <stdint.h>, <stdbool.h>, <stddef.h>, <limits.h>, <stdlib.h>, \
                         <string.h> and <assert.h>"
                    .to_string(),
            };
            self.diagnostics.push(error.help(help));
        }
        near.and_then(|near| Some((near, headers::text(near)?)))
    }

    fn no_file(&mut self, name: &str, why: &NotIncluded, span: Span, reported: bool) {
        self.incomplete = true;
        if reported {
            return;
        }
        let why = match why {
            NotIncluded::NotFound => "there is no such file",
            NotIncluded::Unreadable(why) => why.as_str(),
        };
        let message = format!("cannot include \"{}\": {why}", shorten(name));
        let error = Diagnostic::error(&codes::NO_FILE, message).at(span, "not read");
        self.diagnostics.push(error.help("name a file beside this one, or its folder with -I"));
    }
}
