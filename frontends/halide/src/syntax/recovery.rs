//! What of a file with syntax errors can still be read. The statement at fault is taken out and the
//! rest is parsed again, so that one mistake hides no other; the names that the statement may have
//! set are known, so that their absence is not a mistake of its own.

use std::ops::Range;

use crate::syntax::token::Token;

/// A token with its first and last offset.
pub(crate) type Spanned = (u32, Token, u32);

/// Where statements begin and end.
pub(crate) struct Structure {
    /// For each bracket the number of its partner, for one that is not closed the number of tokens,
    /// for other tokens 0.
    partner: Vec<usize>,
    /// Whether a token is the opening brace of a list of statements or members.
    block: Vec<bool>,
}

impl Structure {
    /// Reads tokens whose brackets match but for some at the borders, where statements were taken out.
    pub(crate) fn new(tokens: &[Spanned]) -> Structure {
        let mut partner = vec![0; tokens.len()];
        let mut block = vec![false; tokens.len()];
        let mut open = Vec::new();
        for (i, token) in tokens.iter().enumerate() {
            match token.1 {
                Token::Open | Token::OpenIndex | Token::OpenBrace => {
                    block[i] = token.1 == Token::OpenBrace && opens_block(tokens, &block, i);
                    open.push(i);
                }
                Token::Close | Token::CloseIndex | Token::CloseBrace => {
                    if let Some(first) = open.pop() {
                        partner[first] = i;
                        partner[i] = first;
                    }
                }
                _ => {}
            }
        }
        for unclosed in open {
            partner[unclosed] = tokens.len();
        }
        Structure { partner, block }
    }

    /// The bracket that closes the one at `open`.
    pub(crate) fn partner(&self, open: usize) -> usize {
        self.partner[open]
    }

    /// The tokens of the innermost statement that has token `at`, which may be the end of the file
    /// or of the block that the statement stands in. It is empty where nothing stands there.
    pub(crate) fn statement(&self, tokens: &[Spanned], at: usize) -> Range<usize> {
        let mut block = 0..tokens.len();
        let mut first = 0;
        loop {
            let (statement, inner) = self.next(tokens, first, block.end);
            if let Some(inner) = inner.into_iter().find(|b| b.start < at && at <= b.end) {
                let body = inner.start + 1..inner.end;
                if !body.is_empty() && (at < inner.end || !self.is_complete(tokens, &body)) {
                    first = body.start;
                    block = body;
                    continue;
                }
                return statement;
            }
            if at < statement.end || statement.end >= block.end {
                return statement;
            }
            first = statement.end;
        }
    }

    /// Whether a block ends with a complete statement.
    fn is_complete(&self, tokens: &[Spanned], body: &Range<usize>) -> bool {
        let last = body.end - 1;
        match tokens[last].1 {
            Token::Semicolon => true,
            Token::CloseBrace => self.block[self.partner[last]],
            _ => false,
        }
    }

    /// The statement that begins at `first`, and the blocks right inside it.
    fn next(
        &self,
        tokens: &[Spanned],
        first: usize,
        end: usize,
    ) -> (Range<usize>, Vec<Range<usize>>) {
        let mut blocks = Vec::new();
        let mut i = first;
        while i < end {
            match tokens[i].1 {
                Token::Semicolon => {
                    i += 1;
                    if i < end && tokens[i].1 == Token::Else {
                        continue;
                    }
                    return (first..i, blocks);
                }
                Token::OpenBrace if self.block[i] => {
                    let close = self.partner[i];
                    blocks.push(i..close);
                    i = close + 1;
                    match tokens.get(i).map(|t| t.1) {
                        Some(Token::Else) if i < end => {}
                        Some(Token::Semicolon) if i < end => return (first..i + 1, blocks),
                        _ => return (first..i.min(end), blocks),
                    }
                }
                Token::Open | Token::OpenIndex | Token::OpenBrace => i = self.partner[i] + 1,
                _ => i += 1,
            }
        }
        (first..end, blocks)
    }
}

/// Whether the brace at `i` opens statements or members: what stands before it tells, where the
/// brace is no list of values.
pub(crate) fn opens_block(tokens: &[Spanned], block: &[bool], i: usize) -> bool {
    let before = |k: usize| i.checked_sub(k).map(|n| tokens[n].1);
    match before(1) {
        None
        | Some(
            Token::Close
            | Token::Else
            | Token::Namespace
            | Token::Semicolon
            | Token::CloseBrace
            | Token::Colon
            | Token::Const
            | Token::Override
            | Token::Greater,
        ) => true,
        Some(Token::OpenBrace) => block[i - 1],
        Some(Token::Name) => {
            matches!(before(2), Some(Token::Class | Token::Access | Token::Namespace))
        }
        _ => false,
    }
}

/// The tokens of the names that a statement may have set: those that it declares, defines or gives
/// a value. Of a function or class it is the one name; what is inside is its own.
pub(crate) fn names_set(tokens: &[Spanned]) -> Vec<Spanned> {
    let brace = tokens.iter().position(|t| t.1 == Token::OpenBrace).unwrap_or(tokens.len());
    let head = &tokens[..brace];
    let starts =
        |t: Token| matches!(t, Token::Type(_) | Token::Class | Token::Greater | Token::Ampersand);
    let is_name = |t: &&Spanned| t.1 == Token::Name;
    let declares = head.first().is_some_and(|t| {
        matches!(t.1, Token::Type(_) | Token::Const | Token::Static | Token::Class)
    });
    if brace < tokens.len() && declares && !head.iter().any(|t| matches!(t.1, Token::Assign)) {
        return head.iter().find(is_name).copied().into_iter().collect();
    }
    let mut names = Vec::new();
    let mut depth = 0i64;
    let mut before = None;
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1).map(|t| t.1);
        let at_start = match before {
            None => true,
            Some(Token::Semicolon | Token::OpenBrace | Token::CloseBrace | Token::Close) => true,
            Some(Token::Comma) => depth == 0,
            Some(before) => starts(before),
        };
        let is_set = matches!(next, Some(Token::Assign | Token::AssignOp(_) | Token::Step(_)));
        if token.1 == Token::Name && (at_start || is_set) {
            names.push(*token);
        }
        match token.1 {
            Token::Open | Token::OpenIndex => depth += 1,
            Token::Close | Token::CloseIndex => depth -= 1,
            _ => {}
        }
        before = Some(token.1);
    }
    names
}
