//! The preprocessor (C11, 6.10): directives, conditions, headers and macros, on tokens that keep
//! their spans. What a macro makes stands where the outermost macro is used, so that diagnostics and
//! source locations point at text that the user wrote; [`Preprocessed`] knows the definitions.

mod condition;
mod define;
mod directive;
mod expand;
mod group;
pub(crate) mod headers;
mod include;
mod state;
pub(crate) mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use nbcc_base::{Diagnostic, Diagnostics, Failed, Severity, SourceFile, SourceId, Span};
use nbcc_pipeline::ParseOptions;

pub(crate) use self::expand::BLANK;
use self::group::Group;
use self::state::{MAX_ERRORS, Preprocessor};
pub(crate) use self::state::{Use, Uses};
use self::token::{Kind, Token};
use crate::codes;
use crate::names::{Names, Refused};

/// Bytes of source.
const MAX_SOURCE: usize = 16 << 20;

/// The tokens of a translation unit.
#[derive(Debug)]
pub(crate) struct Preprocessed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) uses: Uses,
    /// Where files are included.
    pub(crate) included: BTreeMap<SourceId, Span>,
}

/// Preprocesses a file. It failed where what there is of the tokens says nothing of the program.
pub(crate) fn preprocess(
    source: SourceId,
    file: &SourceFile,
    options: &ParseOptions<'_>,
    names: &mut Names,
    refused: &mut Refused,
    diagnostics: &mut Diagnostics,
) -> (Preprocessed, Result<(), Failed>) {
    let mut preprocessor = Preprocessor::new(options.includes, names, refused, diagnostics);
    let result = preprocessor.predefine(options);
    let result = result.and_then(|()| preprocessor.file(source, &Arc::new(file.clone())));
    let Preprocessor { out, uses, included, incomplete, .. } = preprocessor;
    let result = if incomplete { Err(Failed) } else { result };
    (Preprocessed { tokens: out, uses, included }, result)
}

impl Preprocessor<'_> {
    fn file(&mut self, source: SourceId, file: &Arc<SourceFile>) -> Result<(), Failed> {
        self.bytes += file.text.len();
        if self.bytes > MAX_SOURCE {
            let error = Diagnostic::error(&codes::LIMIT, "more than 16 MiB of source");
            let error = error.at(Span::new(source, 0, 0), "with this file");
            return self.diagnostics.fail(error.help("read large tables as input arrays"));
        }
        self.files.insert(source, file.clone());
        let tokens = token::tokens(source, file, self.names, self.diagnostics)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut text: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let line = at..tokens[at + 1..]
                .iter()
                .position(|token| token.first)
                .map_or(tokens.len(), |n| at + 1 + n);
            at = line.end;
            let line = &tokens[line];
            let reads = groups.iter().all(|group| group.reads);
            if !self.words.hash.contains(&line[0].text) || line[0].kind != Kind::Punct {
                if reads {
                    text.extend_from_slice(line);
                }
                continue;
            }
            let ready = std::mem::take(&mut text);
            self.text(ready)?;
            self.directive(line, file, &mut groups)?;
            let errors = self.diagnostics.iter().filter(|said| said.severity == Severity::Error);
            if errors.count() >= MAX_ERRORS {
                return Err(Failed);
            }
        }
        self.text(text)?;
        if let Some(group) = groups.last() {
            let error = Diagnostic::error(&codes::DIRECTIVE, "a condition that does not end");
            let error = error.at(group.span, "begins here").help("close it with `#endif`");
            self.diagnostics.push(error);
            self.incomplete |= groups.iter().any(|group| !group.reads);
        }
        Ok(())
    }

    /// Lines that are no directives.
    fn text(&mut self, tokens: Vec<Token>) -> Result<(), Failed> {
        if tokens.is_empty() {
            return Ok(());
        }
        let tokens = self.expand(tokens, 0)?;
        if self.out.len() + tokens.len() > token::MAX_TOKENS {
            let message = format!("more than {} tokens", token::MAX_TOKENS);
            let error = Diagnostic::error(&codes::LIMIT, message).at(tokens[0].span, "with these");
            return self.diagnostics.fail(error.help("make several files of it"));
        }
        self.out.extend(tokens);
        Ok(())
    }
}
