//! Which names are types where a token is read: `T * x;` declares `x` where `T` is a typedef, and
//! multiplies where it is not. The lexer asks while the parser tells, so that a name is a type from
//! its declarator on, to the end of its block (C11, 6.2.1).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::names::Name;
use crate::syntax::token::Token;

/// The names of the blocks that are open.
#[derive(Debug)]
pub(crate) struct Scopes {
    /// Whether each name is a type, for each block.
    blocks: Vec<HashMap<Name, bool>>,
    /// Parameters that are declared before the block of their function opens.
    pending: Vec<Name>,
    /// The tags of structures, wherever they stand.
    tags: HashSet<Name>,
}

impl Scopes {
    pub(crate) fn new(tokens: &[Token]) -> Scopes {
        let tag = |pair: &[Token]| match pair {
            [Token::Struct, Token::Name(name)] => Some(*name),
            _ => None,
        };
        let tags = tokens.windows(2).filter_map(tag).collect();
        Scopes { blocks: vec![HashMap::new()], pending: Vec::new(), tags }
    }

    /// Whether a name is the tag of a structure.
    pub(crate) fn is_tag(&self, name: Name) -> bool {
        self.tags.contains(&name)
    }

    /// Declares a name in the innermost block.
    pub(crate) fn declare(&mut self, name: Name, is_type: bool) {
        let known = self.is_type(name);
        if let Some(block) = self.blocks.last_mut().filter(|_| is_type || known) {
            block.insert(name, is_type);
        }
    }

    /// Declares a parameter: it belongs to the block that opens next, if one does.
    pub(crate) fn declare_param(&mut self, name: Name) {
        if self.is_type(name) {
            self.pending.push(name);
        }
    }

    pub(crate) fn open(&mut self) {
        self.blocks.push(HashMap::new());
    }

    pub(crate) fn close(&mut self) {
        if self.blocks.len() > 1 {
            self.blocks.pop();
        }
    }

    /// Whether a name is one of a type.
    pub(crate) fn is_type(&self, name: Name) -> bool {
        self.blocks.iter().rev().find_map(|block| block.get(&name)).copied().unwrap_or(false)
    }

    /// The names of types in the file.
    pub(crate) fn types(&self) -> impl Iterator<Item = Name> {
        self.blocks[0].iter().filter(|&(_, &is_type)| is_type).map(|(&name, _)| name)
    }

    /// Leaves all blocks: what follows stands outside of functions.
    pub(crate) fn leave_all(&mut self) {
        self.blocks.truncate(1);
        self.pending.clear();
    }
}

/// The tokens that the parser reads.
pub(crate) struct TokenStream<'a> {
    tokens: &'a [Token],
    at: usize,
    scopes: &'a RefCell<Scopes>,
    /// Whether a type was read, so that the next name is declared, whatever it was before.
    after_type: bool,
    before: Option<Token>,
    /// Whether each open brace belongs to a structure or enumeration.
    braces: Vec<bool>,
}

impl<'a> TokenStream<'a> {
    pub(crate) fn new(tokens: &'a [Token], scopes: &'a RefCell<Scopes>) -> TokenStream<'a> {
        TokenStream { tokens, at: 0, scopes, after_type: false, before: None, braces: Vec::new() }
    }
}

impl Iterator for TokenStream<'_> {
    type Item = Result<(u32, Token, u32), ()>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut token = *self.tokens.get(self.at)?;
        let at = self.at as u32;
        let tag = matches!(self.before, Some(Token::Struct | Token::Enum));
        let member = matches!(self.before, Some(Token::Dot | Token::Arrow));
        match token {
            Token::Name(_) if tag => self.after_type = true,
            Token::Name(name) => {
                let is_type = !member && !self.after_type && self.scopes.borrow().is_type(name);
                if is_type {
                    token = Token::TypeName(name);
                }
                self.after_type = is_type;
            }
            Token::Word(_) => self.after_type = true,
            Token::Const | Token::Restrict | Token::Static | Token::Storage(_) | Token::Inline => {}
            Token::OpenBrace => {
                let two_before = self.at.checked_sub(2).map(|at| self.tokens[at]);
                let named = matches!(two_before, Some(Token::Struct | Token::Enum));
                self.braces.push(tag || named);
                let mut scopes = self.scopes.borrow_mut();
                let pending = std::mem::take(&mut scopes.pending);
                scopes.blocks.push(pending.into_iter().map(|name| (name, false)).collect());
                self.after_type = false;
            }
            Token::CloseBrace => {
                self.after_type = self.braces.pop().unwrap_or(false);
                self.scopes.borrow_mut().close();
            }
            Token::Semicolon => {
                self.after_type = false;
                self.scopes.borrow_mut().pending.clear();
            }
            // `int *T` declares `T`.
            Token::Star if self.after_type => {}
            _ => self.after_type = false,
        }
        self.before = Some(token);
        self.at += 1;
        Some(Ok((at, token, at + 1)))
    }
}
