//! Checking: names are looked up, types are computed, conversions are written out (C11, 6.2 to 6.9).
//! What the language refuses is reported where it stands, and read on behind it.

mod calls;
mod decl;
mod declarator;
mod ends;
mod expr;
mod function;
mod index;
mod init;
mod operators;
mod place;
mod stmt;
pub(crate) mod tree;
mod unknown;

use std::collections::{HashMap, HashSet};

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Span};

use crate::codes;
use crate::names::{Name, Names, Refused};
use crate::sema::tree::{Expr, ExprKind, Function, Global, Local, Program};
use crate::syntax::ast::Item;
use crate::types::{Qual, Ty, Types};

/// Bytes of variables that live as long as the program.
pub(crate) const MAX_STATIC: u64 = 1 << 30;

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol {
    Local(u32),
    Global(usize),
    Function(usize),
    Typedef(Qual),
    Constant(i64, Ty),
}

/// The names of a block.
#[derive(Debug, Default)]
struct Scope {
    symbols: HashMap<Name, (Symbol, Span)>,
    tags: HashMap<Name, Ty>,
}

/// What is known of the function that is read.
#[derive(Debug, Default)]
struct Current {
    number: Option<usize>,
    locals: Vec<Local>,
    extents: Vec<(u32, Expr)>,
    calls: Vec<(usize, Span)>,
    result: Option<Ty>,
    returns_value: bool,
    /// Parameters that are declared as arrays of so many elements.
    arrays: Vec<(u32, u64)>,
    /// What is said of indices of parameters that nothing else is assigned to, where it is called first.
    beyond: Vec<(u32, Diagnostic)>,
    /// Loops and switches around.
    loops: u32,
    switches: Vec<Switch>,
}

/// A switch that is read.
#[derive(Debug, Default)]
struct Switch {
    ty: Option<Ty>,
    cases: Vec<(i64, u32, Span)>,
    default: Option<(u32, Span)>,
    /// Whether no way leads to it.
    unreached: bool,
}

/// A call of a function before anything was said of its parameters: the function, the types of what it is
/// given, with their places, and the place of the call.
type LooseCall = (usize, Vec<(Ty, Span)>, Span);

/// The checker.
pub(crate) struct Sema<'a> {
    names: &'a Names,
    refused: &'a mut Refused,
    diagnostics: &'a mut Diagnostics,
    pub(crate) types: Types,
    scopes: Vec<Scope>,
    functions: Vec<Function>,
    globals: Vec<Global>,
    /// The variables of the file by their names, those too that only blocks declare (6.2.2).
    linked: HashMap<Name, (usize, Span)>,
    current: Current,
    /// Whether what is read is never evaluated.
    dead: u32,
    /// Whether no way leads to the statement that is read.
    unreached: bool,
    /// Whether the address of what is read is taken.
    takes_address: bool,
    labels: u32,
    /// What pragmas before the loop that comes ask for.
    wishes: Vec<(String, String)>,
    static_bytes: u64,
    /// Calls of functions before anything was said of their parameters, and what they give.
    loose: Vec<LooseCall>,
    /// What the file and the blocks that are open declare behind what is read, innermost last.
    later: Vec<HashMap<Name, Span>>,
    /// The names of which it was said in this function that they mean nothing.
    told: HashSet<Name>,
    /// Whether a pointer to a function was refused, so that functions as values are what follows.
    function_pointers: bool,
    /// Whether a function with `...` was refused, so that what reads its arguments is what follows.
    variadic: bool,
}

/// Checks a translation unit.
pub(crate) fn check(
    items: Vec<Item>,
    names: &Names,
    refused: &mut Refused,
    diagnostics: &mut Diagnostics,
) -> (Program, Types) {
    let mut sema = Sema {
        names,
        refused,
        diagnostics,
        types: Types::new(),
        scopes: vec![Scope::default()],
        functions: Vec::new(),
        globals: Vec::new(),
        linked: HashMap::new(),
        current: Current::default(),
        dead: 0,
        unreached: false,
        takes_address: false,
        labels: 0,
        wishes: Vec::new(),
        static_bytes: 0,
        loose: Vec::new(),
        later: Vec::new(),
        told: HashSet::new(),
        function_pointers: false,
        variadic: false,
    };
    sema.later.push(unknown::declared_by(&items));
    for item in items {
        sema.item(item);
    }
    sema.complete_tentative();
    sema.check_loose();
    sema.no_recursion();
    (Program { functions: sema.functions, globals: sema.globals }, sema.types)
}

impl Sema<'_> {
    #[track_caller]
    fn error(
        &mut self,
        code: &'static CodeInfo,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.diagnostics.push(Diagnostic::error(code, message).at(span, label).help(help));
    }

    fn text(&self, ty: Ty) -> String {
        format!("`{}`", self.types.text(ty, self.names).trim_end())
    }

    fn name(&self, name: Name) -> &str {
        self.names.text(name)
    }

    fn bad(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Bad, ty: Types::ERROR, span }
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Function { specs, declarator, body, span } => {
                self.function(&specs, declarator, body, span);
            }
            Item::Declaration(declaration) => {
                self.declaration(declaration, &mut Vec::new());
            }
            Item::StaticAssert(condition, text, span) => {
                self.static_assert(&condition, &text, span)
            }
        }
    }

    /// Whether what is read is never evaluated: what would be wrong with it then is not.
    fn is_skipped(&self) -> bool {
        self.dead > 0 || self.unreached
    }

    fn lookup(&self, name: Name) -> Option<Symbol> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.symbols.get(&name));
        found.map(|&(symbol, _)| symbol)
    }

    /// Declares a name in the innermost scope; what it meant there before, if it meant something.
    fn declare(&mut self, name: Name, symbol: Symbol, span: Span) -> Option<(Symbol, Span)> {
        self.scopes.last_mut()?.symbols.insert(name, (symbol, span))
    }

    fn duplicate(&mut self, name: Name, span: Span, first: Span) {
        let message = format!("`{}` is defined twice", self.name(name));
        let error = Diagnostic::error(&codes::DUPLICATE, message).at(span, "defined again");
        let error = error.and(first, "first defined here");
        self.diagnostics.push(error.help("remove one, or choose another name"));
    }

    fn static_assert(&mut self, condition: &crate::syntax::ast::Expr, text: &[u8], span: Span) {
        let value = self.constant(condition);
        if value == Some(0) {
            let said = String::from_utf8_lossy(text);
            let message = if said.is_empty() {
                "a static assertion fails".to_string()
            } else {
                format!("a static assertion fails: {said}")
            };
            let span = condition.span.to(span);
            self.error(&codes::STATIC_ASSERT, span, message, "is 0", "make the condition true");
        }
    }

    /// Adds a variable to the function that is read.
    fn add_local(&mut self, name: Name, ty: Ty, span: Span) -> u32 {
        let in_memory = self.has_array(ty);
        let (is_const, is_restrict) = (false, false);
        let local = Local { name, ty, in_memory, written: 0, is_const, is_restrict, span };
        self.current.locals.push(local);
        self.current.locals.len() as u32 - 1
    }

    /// Whether a value of the type has an array in it.
    fn has_array(&self, ty: Ty) -> bool {
        let sums = self.types.sums(ty);
        sums.has_array || sums.leaves > 64
    }

    /// Refuses functions that call themselves, with the cycle of calls, and counts what others call.
    fn no_recursion(&mut self) {
        // Depth first; a function is 1 while its calls are followed and 2 when they are done.
        let mut state = vec![0_u8; self.functions.len()];
        for root in 0..self.functions.len() {
            let mut stack = vec![(root, 0_usize)];
            if state[root] != 0 {
                continue;
            }
            state[root] = 1;
            while let Some(top) = stack.last_mut() {
                let (function, next) = *top;
                let Some(&(callee, span)) = self.functions[function].calls.get(next) else {
                    state[function] = 2;
                    let calls = self.functions[function].calls.iter();
                    let all = calls
                        .map(|&(callee, _)| self.functions[callee].inlined_calls.saturating_add(1));
                    self.functions[function].inlined_calls = all.fold(0, u64::saturating_add);
                    stack.pop();
                    continue;
                };
                top.1 += 1;
                match state[callee] {
                    0 => {
                        state[callee] = 1;
                        stack.push((callee, 0));
                    }
                    1 => {
                        let from = stack.iter().position(|&(f, _)| f == callee).unwrap_or(0);
                        let path: Vec<String> = stack[from..]
                            .iter()
                            .map(|&(f, _)| f)
                            .chain([callee])
                            .map(|f| format!("`{}`", self.names.text(self.functions[f].name)))
                            .collect();
                        let message = format!("recursion: {}", path.join(" calls "));
                        let help = "write a loop; there is no stack of calls";
                        self.error(&codes::RECURSION, span, message, "closes the cycle", help);
                    }
                    _ => {}
                }
            }
        }
    }
}
