//! Brackets that do not belong together are reported and mended before the grammar reads them, so
//! that one that is missing says nothing of the rest of the file.

use std::collections::HashSet;

use nbcc_base::{Diagnostic, Diagnostics, Failed, Span, nearest};

use super::macro_errors::extra_of_macro;
use super::source::Source;
use super::token::{Token, Tokens, behind};
use super::{MAX_ERRORS, MAX_NESTING};
use crate::codes;
use crate::names::Names;
use crate::preprocess::Uses;

/// Tokens that the head of a function has at most, where one is looked for.
const MAX_HEAD: usize = 1000;

/// A bracket that is open.
struct Open {
    token: Token,
    span: Span,
    /// The number of its token.
    at: usize,
    /// The `;` that stood in it.
    semicolons: usize,
    /// Whether it holds the values of an initialiser.
    is_init: bool,
}

struct Mender<'a> {
    uses: &'a Uses,
    names: &'a Names,
    out: Tokens,
    open: Vec<Open>,
    said: Vec<Diagnostic>,
    /// The `}` that ended the last function or type of the file.
    last: Option<usize>,
    /// Whether one was closed in this line that was open: what would close it follows.
    follows: bool,
    /// Where those were opened that were closed.
    closed: HashSet<Span>,
}

/// The tokens with all brackets in pairs. What was wrong is reported; then also where those were
/// opened that nothing closed.
pub(super) fn mend(
    tokens: Tokens,
    uses: &Uses,
    names: &Names,
    diagnostics: &mut Diagnostics,
) -> Result<(Tokens, Option<HashSet<Span>>), Failed> {
    let mut ends = Vec::new();
    loop {
        let mut mender = Mender {
            uses,
            names,
            out: Tokens::default(),
            open: Vec::new(),
            said: Vec::new(),
            last: None,
            follows: false,
            closed: HashSet::new(),
        };
        let (result, next) = mender.all(&tokens, &ends);
        // A function that seems to begin within another one says where a `}` is missing.
        if let (Ok(()), Some(next), false) = (result, next, mender.open.is_empty())
            && ends.len() < MAX_ERRORS
        {
            ends.push(next);
            continue;
        }
        mender.close_all(mender.open.len());
        let Mender { out, said, closed, .. } = mender;
        let were_wrong = !said.is_empty();
        said.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
        return result.map(|()| (out, were_wrong.then_some(closed)));
    }
}

impl Mender<'_> {
    /// Reads all tokens. Before those of the numbers `ends` everything is closed. The first function
    /// that begins in another one behind these.
    fn all(&mut self, tokens: &Tokens, ends: &[usize]) -> (Result<(), Failed>, Option<usize>) {
        let mut nested = None;
        for (at, &token) in tokens.kinds.iter().enumerate() {
            if ends.contains(&at) {
                self.close_all(self.open.len());
            } else if nested.is_none()
                && ends.last().is_none_or(|&end| at > end)
                && !self.open.is_empty()
                && begins_function(&tokens.kinds, at)
            {
                nested = Some(at);
            }
            if self.said.len() == MAX_ERRORS || self.token(tokens, at, token).is_err() {
                return (Err(Failed), None);
            }
        }
        (Ok(()), nested)
    }

    fn token(&mut self, tokens: &Tokens, at: usize, token: Token) -> Result<(), Failed> {
        let span = tokens.spans[at];
        self.follows &= !tokens.firsts[at];
        self.body(tokens, at);
        let in_brackets = !matches!(self.top(), None | Some(Token::OpenBrace));
        match token {
            Token::Open | Token::OpenBrace | Token::OpenIndex => {
                if token == Token::OpenBrace && in_brackets && !self.may_open_brace() {
                    self.close_brackets();
                }
                if self.open.len() == MAX_NESTING {
                    let error = Diagnostic::error(&codes::LIMIT, "brackets nested too deep");
                    let error = error.at(span, format!("more than {MAX_NESTING}"));
                    self.said.push(error.help("use variables, functions and loops"));
                    return Err(Failed);
                }
                let at = self.out.kinds.len();
                let is_init = token == Token::OpenBrace
                    && (self.out.kinds.last() == Some(&Token::Assign)
                        || self.open.last().is_some_and(|open| open.is_init));
                self.open.push(Open { token, span, at, semicolons: 0, is_init });
            }
            Token::Semicolon if self.is_between_parameters(tokens, at) => {
                let message = "a `;` between parameters";
                let error = Diagnostic::error(&codes::SYNTAX, message).at(span, "not `,`");
                self.said.push(error.help("write `,`"));
                self.out.push(Token::Comma, span, false);
                return Ok(());
            }
            Token::Semicolon if self.open.last().is_some_and(|open| open.is_init) => {
                while self.open.last().is_some_and(|open| open.is_init) {
                    self.close_all(1);
                }
            }
            Token::Semicolon if in_brackets => {
                if let Some(error) = extra_of_macro(token, span, self.uses, self.names) {
                    self.said.push(error);
                    return Ok(());
                }
                let closes = tokens.kinds.get(at + 1) == Some(&Token::Close);
                while self.top().is_some_and(|token| token != Token::OpenBrace) {
                    let is_head = self.top_is_for();
                    if let Some(open) = self.open.last_mut()
                        && is_head
                        && (open.semicolons < 2 || closes)
                    {
                        open.semicolons += 1;
                        break;
                    }
                    self.close_all(1);
                }
            }
            Token::Return
            | Token::If
            | Token::Else
            | Token::For
            | Token::While
            | Token::Do
            | Token::Switch
            | Token::Case
            | Token::Default
            | Token::Break
            | Token::Continue
            | Token::Goto
                if in_brackets =>
            {
                self.close_brackets();
            }
            Token::Close | Token::CloseIndex => return self.closes(tokens, at, token),
            Token::CloseBrace => {
                if in_brackets {
                    self.close_brackets();
                }
                if self.open.pop().is_none() {
                    return self.one_too_many(span);
                }
                if self.open.is_empty() {
                    self.last = Some(self.out.kinds.len());
                }
            }
            _ => {}
        }
        self.out.push(token, span, tokens.firsts[at]);
        if let Token::If | Token::For | Token::While | Token::Switch = token {
            self.head(tokens, at, token);
        }
        Ok(())
    }

    /// Opens the parentheses of a head that begins without, if they are closed in its line.
    fn head(&mut self, tokens: &Tokens, at: usize, token: Token) {
        let next = at + 1;
        if tokens.kinds.get(next).is_none_or(|&next| next == Token::Open) {
            return;
        }
        let in_line = (next..tokens.kinds.len()).take_while(|&next| !tokens.firsts[next]);
        if !closes_one(&tokens.kinds, in_line.take(MAX_HEAD), Token::Close, true) {
            return;
        }
        let word = match token {
            Token::If => "if",
            Token::For => "for",
            Token::While => "while",
            _ => "switch",
        };
        let error = Diagnostic::error(&codes::SYNTAX, format!("a `(` is missing behind `{word}`"));
        self.said.push(error.at(tokens.spans[next], "not in parentheses").help("write `(`"));
        let span = behind(tokens.spans[at]);
        self.closed.insert(span);
        let number = self.out.kinds.len();
        let token = Token::Open;
        self.open.push(Open { token, span, at: number, semicolons: 0, is_init: false });
        self.out.push_behind(token);
    }

    /// Whether a `;` stands where parameters of a function of the file have a `,` between them.
    fn is_between_parameters(&self, tokens: &Tokens, at: usize) -> bool {
        let [Open { token: Token::Open, at: open, .. }] = self.open[..] else { return false };
        let is_named = open > 0 && matches!(self.out.kinds[open - 1], Token::Name(_));
        let in_line = (at + 1..tokens.kinds.len()).take_while(|&next| !tokens.firsts[next]);
        is_named && closes_one(&tokens.kinds, in_line, Token::Close, false)
    }

    /// Opens the body of a function whose statements begin without a `{`.
    fn body(&mut self, tokens: &Tokens, at: usize) {
        let is_head = self.out.kinds.last() == Some(&Token::Close) && tokens.firsts[at];
        if !self.open.is_empty() || !is_head || !begins_statement(&tokens.kinds[at..]) {
            return;
        }
        let span = behind(self.out.spans[self.out.spans.len() - 1]);
        let message = "the `{` of a function is missing here";
        let error = Diagnostic::error(&codes::SYNTAX, message).at(span, "behind its head");
        self.said.push(error.help("put the statements of the function into braces"));
        let (token, number) = (Token::OpenBrace, self.out.kinds.len());
        self.open.push(Open { token, span, at: number, semicolons: 0, is_init: false });
        self.out.push_behind(token);
    }

    fn top(&self) -> Option<Token> {
        self.open.last().map(|open| open.token)
    }

    /// Whether the innermost bracket is that of a `for`, or of one that is misspelt.
    fn top_is_for(&self) -> bool {
        let before = self.open.last().and_then(|open| open.at.checked_sub(1));
        match before.map(|before| self.out.kinds[before]) {
            Some(Token::For) => true,
            Some(Token::Name(name)) => nearest(self.names.text(name), ["for"]).is_some(),
            _ => false,
        }
    }

    /// Whether a brace may stand in parentheses here: that of a type, a compound literal, or a statement in
    /// an expression.
    fn may_open_brace(&self) -> bool {
        let kinds = &self.out.kinds;
        let before = |back: usize| kinds.len().checked_sub(back).map(|at| kinds[at]);
        let is_type = |token| matches!(token, Some(Token::Struct | Token::Enum));
        match before(1) {
            Some(Token::Open) => true,
            Some(Token::Name(_)) => is_type(before(2)),
            Some(Token::Close) => {
                let source = Source::new(&self.out, self.names, self.uses);
                let open = source.open_at(kinds.len() - 1);
                let head = open.and_then(|open| open.checked_sub(1)).map(|head| kinds[head]);
                !matches!(
                    head,
                    Some(Token::Name(_) | Token::Close | Token::CloseIndex | Token::If)
                        | Some(Token::For | Token::While | Token::Switch)
                )
            }
            token => is_type(token),
        }
    }

    /// `)` or `]`.
    fn closes(&mut self, tokens: &Tokens, at: usize, token: Token) -> Result<(), Failed> {
        let (span, first) = (tokens.spans[at], tokens.firsts[at]);
        let partner = if token == Token::Close { Token::Open } else { Token::OpenIndex };
        let is_brace = |open: &&Open| open.token != Token::OpenBrace;
        let below = self.open.iter().rev().take_while(is_brace);
        let depth = below.map(|open| open.token).position(|open| open == partner);
        match (depth, self.open.last()) {
            (Some(depth), _) => {
                for _ in 0..depth {
                    let Some(open) = self.open.pop() else { break };
                    let error = self.not_closed(&open).and(span, "closes one before it");
                    self.said.push(error);
                    self.closed.insert(open.span);
                    self.out.push_behind(closing(open.token));
                }
                self.open.pop();
                self.out.push(token, span, first);
            }
            (None, _) if self.follows => {}
            // The wrong one of the two, unless the right one comes.
            (None, Some(open))
                if open.token != Token::OpenBrace
                    && !closes_one(
                        &tokens.kinds,
                        (at + 1..tokens.kinds.len()).take(MAX_HEAD),
                        closing(open.token),
                        self.top_is_for(),
                    ) =>
            {
                let open = self.open.pop().expect("it is the last");
                let error = self.not_closed(&open);
                self.said.push(error.and(span, "is another kind of bracket"));
                self.out.push(closing(open.token), span, first);
            }
            (None, _) => {
                let error = Diagnostic::error(&codes::SYNTAX, "a bracket without its partner");
                let error = error.at(span, "closes nothing that is open");
                self.said.push(error.help("remove it, or open it before"));
            }
        }
        Ok(())
    }

    /// A `}` where no `{` is open: mostly, one before it was too many.
    fn one_too_many(&mut self, span: Span) -> Result<(), Failed> {
        let error = Diagnostic::error(&codes::SYNTAX, "a bracket without its partner");
        let mut error = error.at(span, "closes nothing that is open");
        let mut help = "remove it, or open it before";
        if let Some(last) = self.last.filter(|&last| begins_statement(&self.out.kinds[last + 1..]))
        {
            error = error.and(self.out.spans[last], "ends the function already");
            help = "remove one `}`, or open one more with `{`";
            self.out.remove(last);
            self.last = Some(self.out.kinds.len());
            self.out.push(Token::CloseBrace, span, false);
        }
        self.said.push(error.help(help));
        Ok(())
    }

    /// Closes the brackets that are open in the innermost braces.
    fn close_brackets(&mut self) {
        while self.top().is_some_and(|token| token != Token::OpenBrace) {
            self.close_all(1);
        }
    }

    /// Closes the last ones that are open. One error says so.
    fn close_all(&mut self, count: usize) {
        let from = self.open.len() - count;
        // Of one that was put in that was said.
        let given = |open: &&Open| open.span.start < open.span.end;
        if let Some(open) = self.open.get(from).filter(given) {
            let error = self.not_closed(open);
            self.closed.insert(open.span);
            self.said.push(error);
            self.follows = true;
        }
        while self.open.len() > from {
            let Some(open) = self.open.pop() else { break };
            self.out.push_behind(closing(open.token));
        }
    }

    /// The error for a bracket that nothing closes.
    fn not_closed(&self, open: &Open) -> Diagnostic {
        let closing = match open.token {
            Token::OpenBrace => "}",
            Token::OpenIndex => "]",
            _ => ")",
        };
        let error = Diagnostic::error(&codes::SYNTAX, "a bracket that is not closed");
        let error = error.at(open.span, "opened here");
        match self.uses.get(&open.span) {
            Some(found) => {
                let name = self.names.text(found.name);
                error.help(format!("close it with `{closing}` in `#define {name}`, or behind this"))
            }
            None => error.help(format!("close it with `{closing}`")),
        }
    }
}

/// What closes a bracket.
fn closing(open: Token) -> Token {
    match open {
        Token::OpenBrace => Token::CloseBrace,
        Token::OpenIndex => Token::CloseIndex,
        _ => Token::Close,
    }
}

/// Whether one of these tokens closes a bracket that is open before them, within a statement.
fn closes_one(
    tokens: &[Token],
    numbers: impl Iterator<Item = usize>,
    closing: Token,
    in_head: bool,
) -> bool {
    let mut depth = 0_usize;
    for number in numbers {
        match tokens[number] {
            token if token == closing && depth == 0 => return true,
            Token::Open | Token::OpenIndex => depth += 1,
            Token::Close | Token::CloseIndex => depth = depth.saturating_sub(1),
            Token::Semicolon if !in_head => return false,
            Token::OpenBrace | Token::CloseBrace => return false,
            _ => {}
        }
    }
    false
}

/// Whether tokens are a statement, and no declaration.
pub(super) fn begins_statement(tokens: &[Token]) -> bool {
    match tokens {
        [Token::Name(_), next, ..] => matches!(
            next,
            Token::Assign
                | Token::AssignOp(_)
                | Token::Step(_)
                | Token::OpenIndex
                | Token::Open
                | Token::Dot
                | Token::Arrow
        ),
        [Token::Return | Token::If | Token::Else | Token::For | Token::While | Token::Do, ..]
        | [Token::Switch | Token::Break | Token::Continue | Token::Goto | Token::Case, ..]
        | [Token::Default | Token::Step(_), ..] => true,
        _ => false,
    }
}

/// Whether a function with a body begins at a token that stands where a statement may.
fn begins_function(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| tokens[before]);
    if !matches!(before, Some(Token::Semicolon | Token::OpenBrace | Token::CloseBrace)) {
        return false;
    }
    let is_part = |token: &Token| {
        matches!(
            token,
            Token::Word(_)
                | Token::Storage(_)
                | Token::Static
                | Token::Const
                | Token::Inline
                | Token::Struct
                | Token::Enum
                | Token::Star
                | Token::Name(_)
        )
    };
    let head = tokens[at..].iter().take(MAX_HEAD).take_while(|&token| is_part(token)).count();
    let open = at + head;
    let named = head >= 2 && matches!(tokens[open - 1], Token::Name(_));
    if !named || tokens[at] == Token::Star || tokens.get(open) != Some(&Token::Open) {
        return false;
    }
    let mut depth = 0_usize;
    for (number, token) in tokens[open..].iter().enumerate().take(MAX_HEAD) {
        match token {
            Token::Open | Token::OpenIndex => depth += 1,
            Token::Close | Token::CloseIndex => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return tokens.get(open + number + 1) == Some(&Token::OpenBrace);
                }
            }
            Token::Semicolon | Token::OpenBrace | Token::CloseBrace => return false,
            _ => {}
        }
    }
    false
}
