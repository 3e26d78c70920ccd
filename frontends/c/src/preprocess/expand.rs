//! Macro expansion (C11, 6.10.3): a stack of token lists, the top of which is read. A macro whose
//! list is on the stack is not expanded, and a name that was met then never is (6.10.3.4).

use std::rc::Rc;

use nbcc_base::text::counted;
use nbcc_base::{Diagnostic, Failed, Span};

use super::state::{MAX_ERRORS, MAX_NESTING, Macro, Preprocessor, Use};
use super::token::{self, Kind, Token};
use crate::codes;
use crate::names::Name;

/// Tokens that macros become.
const MAX_EXPANSION: usize = 1_000_000;

/// The extra of a macro whose parameters are read as its text.
pub(crate) const BLANK: &str = "the blank behind the name";

/// A token list that is read.
struct Level {
    tokens: Rc<[Token]>,
    next: usize,
    /// The macro that it comes from.
    of: Option<Name>,
}

/// The lists that are read, the innermost last.
struct Reader {
    levels: Vec<Level>,
}

impl Preprocessor<'_> {
    fn take(&mut self, reader: &mut Reader) -> Option<Token> {
        loop {
            let level = reader.levels.last_mut()?;
            if let Some(&token) = level.tokens.get(level.next) {
                level.next += 1;
                return Some(token);
            }
            let done = reader.levels.pop();
            if let Some(name) = done.and_then(|level| level.of) {
                self.active.remove(&name);
            }
        }
    }

    /// Whether the next token is `(`. Lists that are at their end are left.
    fn opens(&mut self, reader: &mut Reader) -> bool {
        let next = self.take(reader);
        let opens = next.is_some_and(|token| token.text == self.words.open);
        if next.is_some()
            && let Some(level) = reader.levels.last_mut()
        {
            level.next -= 1;
        }
        opens
    }

    /// Replaces every macro in a list of tokens.
    pub(super) fn expand(
        &mut self,
        tokens: Vec<Token>,
        depth: usize,
    ) -> Result<Vec<Token>, Failed> {
        let mut reader =
            Reader { levels: vec![Level { tokens: tokens.into(), next: 0, of: None }] };
        let mut out = Vec::new();
        // Whether white space stands before macros that became nothing.
        let mut space = false;
        while let Some(mut token) = self.take(&mut reader) {
            token.space |= std::mem::take(&mut space);
            if token.kind != Kind::Name || token.frozen {
                out.push(token);
                continue;
            }
            if let Some(text) = self.special(token) {
                out.push(text);
                continue;
            }
            let Some(found) = self.macros.get(&token.text).cloned() else {
                out.push(token);
                continue;
            };
            if self.active.contains(&token.text) {
                token.frozen = true;
                out.push(token);
                continue;
            }
            if reader.levels.len() + depth > MAX_NESTING {
                return self.too_deep(token);
            }
            let body = match &found.params {
                None => self.substitute(token, &found, &[], depth)?,
                Some(_) if !self.opens(&mut reader) => {
                    out.push(token);
                    continue;
                }
                Some(params) => {
                    let args = self.arguments(&mut reader, token, params.len(), found.variadic)?;
                    let Some(args) = args else {
                        out.push(bad(token));
                        continue;
                    };
                    self.substitute(token, &found, &args, depth)?
                }
            };
            let extra = self.extra(&found);
            let used = Use { name: token.text, definition: found.span, extra };
            self.uses.entry(token.span).or_insert(used);
            self.expanded += body.len();
            if self.expanded > MAX_EXPANSION {
                let error = Diagnostic::error(&codes::LIMIT, "macros become too many tokens");
                let label = format!("more than {MAX_EXPANSION} with this one");
                let error = error.at(token.span, label);
                return self.exhausted(error.help("write a loop or a function instead"));
            }
            space = body.is_empty() && token.space;
            self.active.insert(token.text);
            reader.levels.push(Level { tokens: body.into(), next: 0, of: Some(token.text) });
        }
        Ok(out)
    }

    /// What a definition has that people write who take a macro for a variable or a function.
    fn extra(&self, found: &Macro) -> Option<&'static str> {
        let body = &found.body;
        let is = |token: Option<&Token>, text| {
            token.is_some_and(|token| self.names.text(token.text) == text)
        };
        match () {
            () if is(body.first(), "=") => Some("the `=`"),
            () if found.params.is_none()
                && matches!(body[..], [open, name, ..] if is(Some(&open), "(") && name.kind == Kind::Name)
                && matches!(body.get(2), next if is(next, ")") || is(next, ",")) =>
            {
                Some(BLANK)
            }
            () if is(body.last(), ";") => Some("the `;`"),
            () => None,
        }
    }

    /// The arguments of a use whose `(` is next; `None` where their number is wrong, which is
    /// reported.
    fn arguments(
        &mut self,
        reader: &mut Reader,
        of: Token,
        params: usize,
        variadic: bool,
    ) -> Result<Option<Vec<Vec<Token>>>, Failed> {
        self.take(reader);
        let mut args = vec![Vec::new()];
        let mut commas = Vec::new();
        let mut depth = 0;
        loop {
            let Some(token) = self.take(reader) else {
                self.unended(of, args, &commas, reader);
                // Each is looked for up to the end of the file.
                self.open_uses += 1;
                self.exhausted |= self.open_uses == MAX_ERRORS;
                return if self.exhausted { Err(Failed) } else { Ok(None) };
            };
            let words = &self.words;
            if token.kind == Kind::Punct {
                if token.text == words.open {
                    depth += 1;
                } else if token.text == words.close {
                    if depth == 0 {
                        break;
                    }
                    depth -= 1;
                } else if token.text == words.comma
                    && depth == 0
                    && !(variadic && args.len() == params)
                {
                    args.push(Vec::new());
                    commas.push(token);
                    continue;
                }
            }
            if let Some(last) = args.last_mut() {
                last.push(token);
            }
        }
        if params == 0 && args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        // What stands for `...` may be left out with its comma.
        if variadic && args.len() + 1 == params {
            args.push(Vec::new());
        }
        if args.len() == params {
            return Ok(Some(args));
        }
        let name = self.names.text(of.text);
        let takes = counted(params, "argument");
        let message = format!("macro `{name}` takes {takes} and is given {}", args.len());
        let error = Diagnostic::error(&codes::MACRO, message).at(of.span, "used here");
        self.diagnostics.push(error.help("give an argument for each parameter"));
        Ok(None)
    }

    /// Reports a use of a macro without its `)`. What stands behind the statement is read as if it were
    /// there.
    fn unended(&mut self, of: Token, args: Vec<Vec<Token>>, commas: &[Token], reader: &mut Reader) {
        let name = self.names.text(of.text);
        let error = Diagnostic::error(&codes::MACRO, format!("the use of `{name}` does not end"));
        let error = error.at(of.span, "its arguments begin here");
        self.diagnostics.push(error.help("close its arguments with `)`"));
        let mut taken = Vec::new();
        for (number, arg) in args.into_iter().enumerate() {
            taken.extend(number.checked_sub(1).map(|before| commas[before]));
            taken.extend(arg);
        }
        let ends = |token: &Token| {
            token.kind == Kind::Punct && matches!(self.names.text(token.text), ";" | "{" | "}")
        };
        let end = taken.iter().position(ends).unwrap_or(taken.len());
        let mut rest = taken.split_off(end);
        // The macro is not read again in what it was read in.
        for token in &mut rest {
            token.frozen |= token.span == of.span;
        }
        reader.levels.push(Level { tokens: rest.into(), next: 0, of: None });
    }

    /// Fails for good: there are too many tokens or levels.
    fn exhausted<T>(&mut self, error: Diagnostic) -> Result<T, Failed> {
        self.exhausted = true;
        self.diagnostics.fail(error)
    }

    fn too_deep<T>(&mut self, of: Token) -> Result<T, Failed> {
        let error = Diagnostic::error(&codes::LIMIT, "macros nested too deep");
        let error = error.at(of.span, format!("more than {MAX_NESTING} expansions"));
        self.exhausted(error.help("make the macros use fewer others"))
    }

    fn too_many<T>(&mut self, of: Token) -> Result<T, Failed> {
        let error = Diagnostic::error(&codes::LIMIT, "macros become too many tokens");
        let error = error.at(of.span, "with the arguments of this one");
        self.exhausted(error.help("write a loop or a function instead"))
    }

    /// An argument of a use of a macro, expanded. Each use within it keeps a copy of its own arguments: so
    /// how deep they nest and how many tokens are kept is looked at before.
    fn argument(&mut self, arg: &[Token], of: Token, depth: usize) -> Result<Vec<Token>, Failed> {
        if depth + self.nested(arg) >= MAX_NESTING {
            return self.too_deep(of);
        }
        self.held += arg.len();
        if self.held > 4 * MAX_EXPANSION {
            return self.too_many(of);
        }
        let inner = self.expand(arg.to_vec(), depth + 1)?;
        self.held -= arg.len();
        Ok(inner)
    }

    /// How deep uses of macros stand in the arguments of others.
    fn nested(&self, tokens: &[Token]) -> usize {
        let is_used = |token: &Token| {
            token.kind == Kind::Name
                && !token.frozen
                && !self.active.contains(&token.text)
                && self.macros.get(&token.text).is_some_and(|found| found.params.is_some())
        };
        // Whether each open bracket is that of a use.
        let mut open = Vec::new();
        let (mut uses, mut most) = (0, 0);
        for (at, token) in tokens.iter().enumerate() {
            if token.text == self.words.open {
                let is_use = at > 0 && is_used(&tokens[at - 1]);
                open.push(is_use);
                uses += usize::from(is_use);
                most = most.max(uses);
            } else if token.text == self.words.close {
                uses -= usize::from(open.pop() == Some(true));
            }
        }
        most
    }

    /// The body of a macro with its arguments put in.
    fn substitute(
        &mut self,
        of: Token,
        found: &Macro,
        args: &[Vec<Token>],
        depth: usize,
    ) -> Result<Vec<Token>, Failed> {
        let params = found.params.as_deref().unwrap_or_default();
        let takes_params = found.params.is_some();
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; args.len()];
        let mut out: Vec<Token> = Vec::new();
        // Whether the next operand is joined with the last, and whether that one is empty.
        let (mut joins, mut is_empty) = (false, false);
        // Whether white space stands before operands that are empty.
        let mut space = false;
        let mut at = 0;
        while let Some(&token) = found.body.get(at) {
            let param = |token: &Token| {
                let is_name = token.kind == Kind::Name;
                params.iter().position(|&param| is_name && param == token.text)
            };
            let (hash, paste, comma) = (self.words.hash, self.words.paste, self.words.comma);
            if paste.contains(&token.text) && at > 0 && at + 1 < found.body.len() {
                joins = true;
                at += 1;
                continue;
            }
            at += 1;
            let mut operand = match (found.body.get(at).and_then(param), param(&token)) {
                (Some(number), _) if takes_params && hash.contains(&token.text) => {
                    at += 1;
                    vec![self.quote(&args[number], of.span)]
                }
                (_, Some(number)) => {
                    let next_joins =
                        found.body.get(at).is_some_and(|next| paste.contains(&next.text));
                    let rest = found.variadic && number + 1 == params.len();
                    let after_comma = out.last().is_some_and(|last| last.text == comma);
                    if joins && rest && after_comma {
                        // `, ## __VA_ARGS__` drops the comma where there is nothing behind it.
                        joins = false;
                        if args[number].is_empty() {
                            out.pop();
                        }
                    }
                    if joins || next_joins {
                        args[number].clone()
                    } else {
                        if expanded[number].is_none() {
                            // What an argument holds is expanded by itself, whatever is expanded now.
                            let inner = self.argument(&args[number], of, depth)?;
                            expanded[number] = Some(inner);
                        }
                        expanded[number].clone().unwrap_or_default()
                    }
                }
                _ => vec![Token { span: of.span, ..token }],
            };
            space |= token.space && !joins;
            if let Some(first) = operand.first_mut() {
                first.space = std::mem::take(&mut space);
            }
            self.expanded += operand.len();
            if self.expanded > 4 * MAX_EXPANSION {
                return self.too_many(of);
            }
            let was_empty = operand.is_empty();
            if joins && !is_empty && !was_empty {
                let left = out.pop().unwrap_or(token);
                let joined = self.join(left, operand[0], of.span);
                out.push(joined);
                out.extend_from_slice(&operand[1..]);
                is_empty = false;
            } else {
                is_empty = was_empty && (!joins || is_empty);
                out.extend(operand);
            }
            joins = false;
        }
        for (number, token) in out.iter_mut().enumerate() {
            token.first = number == 0 && of.first;
        }
        if let Some(first) = out.first_mut() {
            first.space = of.space;
        }
        Ok(out)
    }

    /// `#`: the spelling of an argument as a text.
    fn quote(&mut self, arg: &[Token], span: Span) -> Token {
        let mut text = String::from("\"");
        for (number, token) in arg.iter().enumerate() {
            if token.space && number > 0 {
                text.push(' ');
            }
            let spelling = self.names.text(token.text);
            match token.kind {
                Kind::Text | Kind::Char => {
                    for c in spelling.chars() {
                        if matches!(c, '"' | '\\') {
                            text.push('\\');
                        }
                        text.push(c);
                    }
                }
                _ => text.push_str(spelling),
            }
        }
        text.push('"');
        let text = self.names.intern(&text);
        Token { kind: Kind::Text, text, span, space: false, first: false, frozen: false }
    }

    /// `##`: one token of two; what stands for an error where they make none, which is reported.
    fn join(&mut self, left: Token, right: Token, span: Span) -> Token {
        let text = format!("{}{}", self.names.text(left.text), self.names.text(right.text));
        match token::single(&text) {
            Some(kind) => {
                let text = self.names.intern(&text);
                Token { kind, text, span, space: left.space, first: false, frozen: false }
            }
            None => {
                let message = format!("`##` makes `{text}`, which is no token");
                let error = Diagnostic::error(&codes::MACRO, message).at(span, "in this use");
                let help = "join what is one name, number or operator together";
                self.diagnostics.push(error.help(help));
                bad(Token { span, ..left })
            }
        }
    }
}

/// What stands where an error was reported.
fn bad(token: Token) -> Token {
    Token { kind: Kind::Bad, text: Name(0), ..token }
}
