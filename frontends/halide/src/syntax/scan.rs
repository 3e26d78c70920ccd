//! What has to be known of a whole file before its first statement is elaborated: whether it
//! declares an input, which names it declares, which undeclared names stand as arguments of
//! definitions and directives (they are Vars), and with how many arguments each name is called.

use std::collections::{HashMap, HashSet};

use nbcc_base::Span;
use nbcc_base::nearest;

use crate::pipeline::builtins::names::NAMES;
use crate::syntax::ast::{
    Ast, DeclKind, ExprId, ExprKind, Init, Names, StmtKind, Symbol, TypeWord,
};

/// Images that a file may leave undeclared: where more names are unknown, it is none of them.
const MOST_IMAGES: usize = 16;

/// Facts about a file.
#[derive(Default)]
pub(crate) struct Facts {
    /// Whether an input image is declared anywhere.
    pub(crate) has_input: bool,
    /// Every name that is declared anywhere.
    pub(crate) declared: HashSet<Symbol>,
    /// The names that are input images without being declared.
    pub(crate) images: Vec<Symbol>,
    /// Names that stand alone as an argument of a definition or a directive.
    pub(crate) vars: HashSet<Symbol>,
    /// For each name called: the number of arguments of its first call without `_`.
    pub(crate) calls: HashMap<Symbol, (usize, Span)>,
    /// Names that stand on the left of a definition without being declared there.
    pub(crate) defined: HashSet<Symbol>,
}

/// Reads the whole tree. `is_directive` tells the names of schedule directives; `lost` are names that
/// a statement that could not be read may have declared.
pub(crate) fn scan(
    ast: &Ast,
    spelling: &Names,
    lost: &HashSet<Symbol>,
    is_directive: impl Fn(&str) -> bool,
) -> Facts {
    let mut facts = Facts::default();
    let mut called: Vec<Symbol> = Vec::new();
    let mut funcs: Vec<Symbol> = Vec::new();
    // Calls whose value nothing uses: no image is read like that.
    let mut orders: HashSet<Symbol> = HashSet::new();
    for node in ast.exprs.values() {
        if let ExprKind::Lambda(lambda) = &node.kind {
            facts.declared.extend(lambda.function.parameters.iter().map(|p| p.name.name));
        }
        let ExprKind::Call(callee, args) = &node.kind else { continue };
        match &ast.exprs[*callee].kind {
            ExprKind::Member(_, name) if is_directive(spelling.text(name.name)) => {
                names(ast, args, &mut facts.vars);
            }
            ExprKind::Name(name) => {
                called.push(*name);
                let placeholder = args.iter().any(
                    |&a| matches!(ast.exprs[a].kind, ExprKind::Name(n) if spelling.text(n) == "_"),
                );
                if !placeholder {
                    facts.calls.entry(*name).or_insert((args.len(), node.span));
                }
            }
            _ => {}
        }
    }
    for node in ast.stmts.values() {
        match &node.kind {
            StmtKind::Expr(e) => {
                if let ExprKind::Call(callee, _) = ast.exprs[*e].kind
                    && let ExprKind::Name(name) = ast.exprs[callee].kind
                {
                    orders.insert(name);
                }
            }
            StmtKind::Assign(_, target, _) => {
                if let ExprKind::Call(callee, args) = &ast.exprs[*target].kind {
                    names(ast, args, &mut facts.vars);
                    if let ExprKind::Name(name) = ast.exprs[*callee].kind {
                        facts.defined.insert(name);
                    }
                }
            }
            StmtKind::Decl(declaration) => {
                let (kind, declarators) = (&declaration.kind, &declaration.declarators);
                let word = match kind {
                    DeclKind::Plain(ty) => Some(ty.word),
                    _ => None,
                };
                facts.has_input |= word == Some(TypeWord::ImageParam)
                    || match kind {
                        DeclKind::InputBuffer(..) => true,
                        DeclKind::Scalar(ty) => ty.word == TypeWord::Func,
                        _ => false,
                    };
                for declarator in declarators {
                    facts.declared.insert(declarator.name.name);
                    if word == Some(TypeWord::Func) {
                        funcs.push(declarator.name.name);
                    }
                    if let Init::Definition(args, _) = &declarator.init {
                        names(ast, args, &mut facts.vars);
                    }
                }
            }
            StmtKind::Function(function) => {
                facts.declared.insert(function.name.name);
                funcs.push(function.name.name);
                facts.declared.extend(function.parameters.iter().map(|p| p.name.name));
                facts.declared.extend(function.types.iter().map(|name| name.name));
            }
            StmtKind::Enum(list) => facts.declared.extend(list.iter().map(|(name, _)| name.name)),
            StmtKind::ForEach(head, _) => {
                facts.declared.insert(head.name.name);
            }
            _ => {}
        }
    }
    let known = |name: &Symbol| {
        facts.declared.contains(name)
            || facts.defined.contains(name)
            || lost.contains(name)
            || crate::pipeline::builtins::names::provides(spelling.text(*name))
    };
    called.retain(|name| !known(name));
    let mut seen = HashSet::new();
    called.retain(|name| seen.insert(*name));
    if !facts.has_input && called.len() <= MOST_IMAGES {
        let is_image = |name: &Symbol| {
            !orders.contains(name)
                && facts.calls.contains_key(name)
                && !is_slip(spelling.text(*name), funcs.iter().map(|&f| spelling.text(f)))
        };
        facts.images = called.into_iter().filter(is_image).collect();
    }
    facts
}

/// Whether an undeclared name is rather a Func or a function with its name misspelt than an image:
/// names that go on where the other ends, as `input` and `input_f`, belong together.
fn is_slip<'a>(name: &str, funcs: impl Iterator<Item = &'a str>) -> bool {
    const SHORTEST: usize = 4;
    let other = |f: &&str| !f.starts_with(name) && !name.starts_with(f);
    name.len() >= SHORTEST && nearest(name, funcs.chain(NAMES).filter(other)).is_some()
}

fn names(ast: &Ast, args: &[ExprId], vars: &mut HashSet<Symbol>) {
    let mut stack = args.to_vec();
    while let Some(arg) = stack.pop() {
        match &ast.exprs[arg].kind {
            ExprKind::Name(name) => {
                vars.insert(*name);
            }
            ExprKind::List(list) => stack.extend(list),
            _ => {}
        }
    }
}
