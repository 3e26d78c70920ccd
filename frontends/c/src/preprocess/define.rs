//! Macros: those of the compiler and of the command line, and `#define` (C11, 6.10.3).

use nbcc_base::lexical::shorten;
use nbcc_base::{Diagnostic, Failed, SourceFile, SourceId, Span};
use nbcc_pipeline::ParseOptions;

use super::state::{Macro, Preprocessor};
use super::token::{self, Kind, Token};
use crate::codes;
use crate::names::Name;

impl Preprocessor<'_> {
    /// The macros of the compiler and of the command line.
    pub(super) fn predefine(&mut self, options: &ParseOptions<'_>) -> Result<(), Failed> {
        let own = ["__STDC__=1", "__STDC_VERSION__=201112L", "__STDC_HOSTED__=0", "__NBCC__=1"];
        let given = options.defines.iter().map(String::as_str);
        for text in own.into_iter().chain(given) {
            let (name, value) = text.split_once('=').unwrap_or((text, "1"));
            let is_name = token::single(name) == Some(Kind::Name);
            let is_plain = is_name && !value.contains("/*") && !value.contains('\n');
            if !is_plain {
                let message = format!("`-D {}` defines no name", shorten(text));
                let error = Diagnostic::error(&codes::DIRECTIVE, message);
                return self.diagnostics.fail(error.help("write -D NAME or -D NAME=VALUE"));
            }
            let file = SourceFile::new("-D", value);
            let source = SourceId(u32::MAX);
            let body = token::tokens(source, &file, self.names, self.diagnostics)?;
            let found = Macro { span: None, params: None, variadic: false, body };
            let name = self.names.intern(name);
            self.macros.insert(name, found);
        }
        Ok(())
    }

    pub(super) fn is_defined(&self, name: Name) -> bool {
        self.macros.contains_key(&name) || name == self.words.line || name == self.words.file
    }

    /// What `__LINE__` and `__FILE__` stand for.
    pub(super) fn special(&mut self, token: Token) -> Option<Token> {
        if token.text != self.words.line && token.text != self.words.file {
            return None;
        }
        let file = self.files.get(&token.span.source)?;
        let (kind, text) = if token.text == self.words.line {
            (Kind::Number, file.position(token.span.start).line.to_string())
        } else {
            (Kind::Text, format!("{:?}", file.name))
        };
        Some(Token { kind, text: self.names.intern(&text), ..token })
    }

    /// `#define`: `word` is that, `rest` what stands behind it.
    pub(super) fn define(&mut self, word: Token, rest: &[Token]) {
        let Some(name) = self.only_name(word, rest) else { return };
        let span = rest[0].span;
        if let Some(error) = token::foreign_name(self.names.text(name), span) {
            return self.diagnostics.push(error);
        }
        let refuse = |pre: &mut Self, span: Span, message: String| {
            let error = Diagnostic::error(&codes::DIRECTIVE, message).at(span, "here");
            pre.diagnostics.push(error.help("write `#define NAME(a, b) text`"));
            pre.refused.add(name);
        };
        if name == self.words.defined || name == self.words.rest || self.special(rest[0]).is_some()
        {
            let message = format!("`{}` cannot be defined", self.names.text(name));
            return refuse(self, span, message);
        }
        let mut at = 1;
        let (mut params, mut variadic) = (None, false);
        let opens = rest.get(1).is_some_and(|token| token.text == self.words.open && !token.space);
        if opens {
            let mut list: Vec<Name> = Vec::new();
            at = 2;
            loop {
                let Some(&token) = rest.get(at) else {
                    return refuse(self, span, "the parameters of a macro do not end".into());
                };
                at += 1;
                let text = self.names.text(token.text);
                if text == ")" && list.is_empty() {
                    break;
                }
                match token.kind {
                    Kind::Name if !list.contains(&token.text) => list.push(token.text),
                    Kind::Name => {
                        let message = format!("the parameter `{}` is there twice", shorten(text));
                        return refuse(self, token.span, message);
                    }
                    Kind::Punct if text == "..." => {
                        variadic = true;
                        list.push(self.words.rest);
                    }
                    _ => {
                        let message = format!("`{}` is no parameter of a macro", shorten(text));
                        return refuse(self, token.span, message);
                    }
                }
                let next = rest.get(at).map(|token| self.names.text(token.text));
                at += 1;
                match next {
                    Some(")") => break,
                    Some(",") if !variadic => {}
                    _ => {
                        return refuse(
                            self,
                            token.span,
                            "a `,` or `)` is missing behind this".into(),
                        );
                    }
                }
            }
            params = Some(list);
        }
        let body = rest[at.min(rest.len())..].to_vec();
        let edge = |token: Option<&Token>| {
            token.is_some_and(|token| self.words.paste.contains(&token.text))
        };
        if edge(body.first()) || edge(body.last()) {
            return refuse(self, span, "`##` stands at an end of a macro".into());
        }
        if let Some(bad) = body.iter().enumerate().find(|&(n, token)| {
            let next = body.get(n + 1);
            let names = |list: &Vec<Name>| next.is_some_and(|next| list.contains(&next.text));
            self.words.hash.contains(&token.text)
                && params.as_ref().is_some_and(|list| !names(list))
        }) {
            return refuse(self, bad.1.span, "`#` stands before no parameter".into());
        }
        let found = Macro { span: Some(span), params, variadic, body };
        if let Some(old) = self.macros.get(&name)
            && !same(old, &found)
        {
            let message =
                format!("macro `{}` is defined again with another text", self.names.text(name));
            let warning = Diagnostic::warning(&codes::REDEFINED, message).at(span, "defined again");
            let warning = match old.span {
                Some(first) => warning.and(first, "first defined here"),
                None => warning,
            };
            self.diagnostics.push(warning.help("`#undef` it first, or choose another name"));
        }
        self.macros.insert(name, found);
    }
}

/// Whether two definitions are the same but for where they stand (6.10.3, 2).
fn same(a: &Macro, b: &Macro) -> bool {
    let tokens = a.body.len() == b.body.len()
        && a.body.iter().zip(&b.body).enumerate().all(|(number, (a, b))| {
            a.kind == b.kind && a.text == b.text && (number == 0 || a.space == b.space)
        });
    tokens && a.params == b.params && a.variadic == b.variadic
}
