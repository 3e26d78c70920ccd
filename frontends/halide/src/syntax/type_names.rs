//! What C++ decides by declarations before it parses: which names are types. Names that `using`,
//! `typedef`, `enum` and `template` make stand for types become type tokens, and what only makes names
//! known (`using`, registrations of generators) is taken out.

use std::collections::{HashMap, HashSet};

use crate::syntax::ast::TypeWord;
use crate::syntax::recovery::Spanned;
use crate::syntax::token::Token;

/// A generator that is registered under a name.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) class: String,
    pub(crate) name: String,
    /// What stands for the parameters of its template.
    arguments: Vec<Spanned>,
}

/// What the tokens say of types.
#[derive(Debug, Default)]
pub(crate) struct TypeNames {
    /// The C types that names stand for, by the first byte of each use.
    pub(crate) aliases: HashMap<u32, String>,
    /// The parameters of templates of functions, by the first byte of what follows them.
    pub(crate) templates: HashMap<u32, Vec<(u32, u32)>>,
    pub(crate) registered: Vec<Registered>,
}

/// A type that a name stands for: its word, and its name in C.
#[derive(Clone, Debug)]
struct Meaning {
    word: TypeWord,
    c_name: Option<String>,
}

/// How many tokens a list in `<>`, a `using` or the head of a function may have.
const MAX_TOKENS: usize = 200;

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Spanned>,
    out: Vec<Spanned>,
    /// Names with what they mean, up to a byte.
    known: HashMap<&'a str, Vec<(u32, Meaning)>>,
    /// The registrations of each class, by number.
    classes: HashMap<String, Vec<usize>>,
    /// Functions that take types or numbers in `<>`.
    functions: HashSet<&'a str>,
    names: TypeNames,
}

/// Reads and replaces tokens. `generator` is the one that was asked for.
pub(crate) fn read(text: &str, tokens: &mut Vec<Spanned>, generator: Option<&str>) -> TypeNames {
    let mut reader = Reader {
        text,
        tokens: std::mem::take(tokens),
        out: Vec::new(),
        known: HashMap::new(),
        classes: HashMap::new(),
        functions: HashSet::new(),
        names: TypeNames::default(),
    };
    reader.registrations();
    let mut i = 0;
    while i < reader.tokens.len() {
        i = reader.token(i, generator);
    }
    mark_templates(text, &mut reader.out, &reader.functions);
    *tokens = reader.out;
    reader.names
}

impl<'a> Reader<'a> {
    fn at(&self, i: usize) -> Option<Token> {
        self.tokens.get(i).map(|t| t.1)
    }

    fn word(&self, i: usize) -> &'a str {
        self.tokens.get(i).map_or("", |t| &self.text[t.0 as usize..t.2 as usize])
    }

    /// The number of the token that closes the bracket or `<` at `open`; of a `<` only a near one.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0i32;
        let reach = if self.at(open) == Some(Token::Less) { MAX_TOKENS } else { usize::MAX };
        for (i, token) in self.tokens.iter().enumerate().skip(open).take(reach) {
            depth += match (self.at(open)?, token.1) {
                (Token::Less, Token::Less) => 1,
                (Token::Less, Token::Greater) => -1,
                (Token::Less, Token::ShiftRight) => -2,
                (Token::Less, Token::Semicolon | Token::OpenBrace) => return None,
                (Token::Open, Token::Open) | (Token::OpenBrace, Token::OpenBrace) => 1,
                (Token::Open, Token::Close) | (Token::OpenBrace, Token::CloseBrace) => -1,
                _ => 0,
            };
            if depth <= 0 {
                return Some(i);
            }
        }
        None
    }

    /// The next token of a kind from `from` on, if it is near.
    fn next(&self, from: usize, token: Token) -> Option<usize> {
        (from..self.tokens.len()).take(MAX_TOKENS).find(|&k| self.at(k) == Some(token))
    }

    /// Takes out `HALIDE_REGISTER_GENERATOR(Class, name)` and the like.
    fn registrations(&mut self) {
        let mut kept = Vec::with_capacity(self.tokens.len());
        let mut i = 0;
        while i < self.tokens.len() {
            match self.registration(i) {
                Some((end, registered)) => {
                    let number = self.names.registered.len();
                    self.classes.entry(registered.class.clone()).or_default().push(number);
                    self.names.registered.push(registered);
                    i = end + 1;
                }
                None => {
                    kept.push(self.tokens[i]);
                    i += 1;
                }
            }
        }
        self.tokens = kept;
    }

    fn registration(&self, i: usize) -> Option<(usize, Registered)> {
        if self.at(i) != Some(Token::Register) || self.at(i + 1) != Some(Token::Open) {
            return None;
        }
        let end = self.close(i + 1)?;
        let is_class =
            |&k: &usize| self.at(k) == Some(Token::Name) && self.at(k + 1) != Some(Token::Path);
        let class = (i..end).find(is_class)?;
        let mut next = class + 1;
        let mut arguments = Vec::new();
        if self.at(next) == Some(Token::Less) {
            let close = self.close(next)?;
            let list = &self.tokens[next + 1..close];
            arguments = list.iter().filter(|t| t.1 != Token::Comma).copied().collect();
            next = close + 1;
        }
        let comma = (next..end).find(|&k| self.at(k) == Some(Token::Comma))?;
        let name = self.word(comma + 1).to_owned();
        Some((end, Registered { class: self.word(class).to_owned(), name, arguments }))
    }

    fn know(&mut self, name: &'a str, until: u32, meaning: Meaning) {
        self.known.entry(name).or_default().push((until, meaning));
    }

    /// Reads what begins at token `i`; gives where the next begins.
    fn token(&mut self, i: usize, generator: Option<&str>) -> usize {
        let token = self.tokens[i];
        match token.1 {
            Token::Using | Token::Typedef => {
                if let Some(next) = self.alias(i) {
                    return next;
                }
            }
            Token::Enum => {
                let name = i + 1 + usize::from(self.at(i + 1) == Some(Token::Class));
                self.out.extend(&self.tokens[i..name]);
                if self.at(name) == Some(Token::Name) {
                    let meaning = Meaning { word: TypeWord::C, c_name: Some("int".to_owned()) };
                    self.know(self.word(name), u32::MAX, meaning);
                    self.out.push(self.tokens[name]);
                    return name + 1;
                }
                return name;
            }
            Token::Template if self.at(i + 1) == Some(Token::Less) => {
                if let Some(close) = self.close(i + 1) {
                    return self.template(i + 2, close, generator);
                }
            }
            Token::Class => return self.class(i),
            Token::Type(TypeWord::C)
                if self.word(i) == "char"
                    && self.word(i + 1) == "*"
                    && i + 2 < self.tokens.len() =>
            {
                self.out.push((token.0, Token::Type(TypeWord::Text), token.2));
                return i + 2;
            }
            Token::Name if self.begins_declaration() && self.at(i + 1) == Some(Token::Less) => {
                if matches!(self.word(i), "map" | "function")
                    && let Some(close) = self.close(i + 1)
                {
                    let end = self.tokens[close].2;
                    self.out.push((token.0, Token::Type(TypeWord::Auto), end));
                    return close + 1;
                }
            }
            Token::Name if self.word(i) == "this" && self.at(i + 1) == Some(Token::Arrow) => {
                return i + 2 + usize::from(self.at(i + 2) == Some(Token::Template));
            }
            Token::Name if self.at(i + 1) != Some(Token::Path) => {
                let meaning = self.known.get_mut(self.word(i)).and_then(|meanings| {
                    while meanings.last().is_some_and(|(until, _)| *until <= token.0) {
                        meanings.pop();
                    }
                    meanings.last().cloned()
                });
                let after = self.out.last().map(|t| t.1);
                if let Some((_, meaning)) = meaning
                    && after != Some(Token::Dot)
                {
                    self.out.push((token.0, Token::Type(meaning.word), token.2));
                    if let Some(name) = &meaning.c_name {
                        self.names.aliases.insert(token.0, name.clone());
                    }
                    return i + 1;
                }
            }
            _ => {}
        }
        self.out.push(token);
        i + 1
    }

    /// Whether a declaration may begin after what was read.
    fn begins_declaration(&self) -> bool {
        let last = self.out.last().map(|t| t.1);
        matches!(
            last,
            None | Some(
                Token::Semicolon
                    | Token::OpenBrace
                    | Token::CloseBrace
                    | Token::Colon
                    | Token::Const
                    | Token::Static
            )
        )
    }

    /// `using name = type;` and `typedef type name;` are known, other `using`s left out.
    fn alias(&mut self, i: usize) -> Option<usize> {
        let end = self.next(i, Token::Semicolon)?;
        let (name, ty) = match self.at(i) {
            Some(Token::Using) if self.at(i + 2) == Some(Token::Assign) => (i + 1, i + 3),
            Some(Token::Using) => {
                let brace = |k: usize| matches!(self.at(k), Some(Token::OpenBrace | Token::Open));
                return (!(i..end).any(brace)).then_some(end + 1);
            }
            _ => (i + 2, i + 1),
        };
        // The class that a generator of a template is derived from.
        if self.word(ty) == "Generator" {
            return Some(end + 1);
        }
        let Some(Token::Type(word)) = self.at(ty) else { return None };
        if end != i + if ty > name { 4 } else { 3 } {
            return None;
        }
        let c_name = (word == TypeWord::C).then(|| self.word(ty).to_owned());
        self.know(self.word(name), u32::MAX, Meaning { word, c_name });
        Some(end + 1)
    }

    /// A template with parameters from token `first` to `close`.
    fn template(&mut self, first: usize, close: usize, generator: Option<&str>) -> usize {
        let next = close + 1;
        if self.at(next) == Some(Token::Using) {
            let end = self.next(next, Token::Semicolon);
            return end.map_or(next, |end| end + 1);
        }
        let body = self.next(next, Token::OpenBrace);
        let until = body.and_then(|body| self.close(body)).map_or(u32::MAX, |k| self.tokens[k].2);
        let class = (self.at(next) == Some(Token::Class)).then(|| self.word(next + 1));
        let arguments: Vec<Spanned> = match class {
            Some(class) => {
                let numbers = self.classes.get(class).map_or(&[][..], Vec::as_slice);
                let mut of_class = numbers.iter().map(|&n| &self.names.registered[n]);
                let asked = of_class.clone().find(|r| Some(r.name.as_str()) == generator);
                asked.or_else(|| of_class.next()).map_or(Vec::new(), |r| r.arguments.clone())
            }
            None => Vec::new(),
        };
        let mut parameters = Vec::new();
        let mut number = 0;
        for k in first..close {
            let is_type = matches!(self.at(k), Some(Token::Typename | Token::Class));
            let is_value = matches!(self.at(k), Some(Token::Type(_)));
            if !(is_type || is_value) || self.at(k + 1) != Some(Token::Name) {
                continue;
            }
            let name = self.tokens[k + 1];
            parameters.push((name.0, name.2));
            if is_type {
                let given = arguments.get(number).copied();
                let meaning = match given {
                    Some((from, Token::Type(word), to)) => {
                        let c_name = &self.text[from as usize..to as usize];
                        Meaning { word, c_name: (word == TypeWord::C).then(|| c_name.to_owned()) }
                    }
                    _ => Meaning { word: TypeWord::Parameter, c_name: None },
                };
                self.know(self.word(k + 1), until, meaning);
            }
            number += 1;
        }
        if class.is_none() {
            if let Some(open) = (next..self.tokens.len()).find(|&k| self.at(k) == Some(Token::Open))
            {
                self.functions.insert(self.word(open - 1));
            }
            if let Some(token) = self.tokens.get(next) {
                self.names.templates.insert(token.0, parameters);
            }
        }
        next
    }

    /// The head of a class, without what its base has in `<>`.
    fn class(&mut self, i: usize) -> usize {
        let mut k = i;
        while let Some(&token) = self.tokens.get(k) {
            match token.1 {
                Token::OpenBrace | Token::Semicolon => break,
                Token::Less => match self.close(k) {
                    Some(close) => k = close,
                    None => self.out.push(token),
                },
                _ => self.out.push(token),
            }
            k += 1;
        }
        k
    }
}

/// Tells the `<` of a call with types, as in `undef<float>()`, from the operator.
fn mark_templates(text: &str, tokens: &mut [Spanned], functions: &HashSet<&str>) {
    for i in 0..tokens.len().saturating_sub(4) {
        if tokens[i].1 != Token::Name || tokens[i + 1].1 != Token::Less {
            continue;
        }
        let name = &text[tokens[i].0 as usize..tokens[i].2 as usize];
        let takes =
            |t: Token| matches!(t, Token::Type(_)) || t == Token::Int && functions.contains(name);
        let mut end = i + 2;
        while end + 1 < tokens.len() && takes(tokens[end].1) && tokens[end + 1].1 == Token::Comma {
            end += 2;
        }
        if end + 2 < tokens.len()
            && takes(tokens[end].1)
            && tokens[end + 1].1 == Token::Greater
            && tokens[end + 2].1 == Token::Open
        {
            tokens[i + 1].1 = Token::TemplateOpen;
        }
    }
}
