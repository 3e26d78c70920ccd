//! What has to be known of a whole file before its first statement is elaborated: whether it
//! declares an input, which names it declares, which undeclared names stand as arguments of
//! definitions and directives (they are Vars), and with how many arguments each name is called.

use std::collections::{HashMap, HashSet};

use nbcc_base::Span;

use crate::ast::{Ast, DeclKind, ExprId, ExprKind, Init, Names, StmtKind, Symbol, TypeWord};

/// Facts about a file.
#[derive(Default)]
pub(crate) struct Facts {
    /// Whether an input image is declared anywhere.
    pub(crate) has_input: bool,
    /// Every name that is declared anywhere.
    pub(crate) declared: HashSet<Symbol>,
    /// Names of Funcs declared anywhere, in order, for suggestions.
    pub(crate) funcs: Vec<Symbol>,
    /// Names that stand alone as an argument of a definition or a directive.
    pub(crate) vars: HashSet<Symbol>,
    /// For each name called: the number of arguments of its first call without `_`.
    pub(crate) calls: HashMap<Symbol, (usize, Span)>,
    /// Names that stand on the left of a definition without being declared there.
    pub(crate) defined: HashSet<Symbol>,
}

/// Reads the whole tree. `is_directive` tells the names of schedule directives.
pub(crate) fn scan(ast: &Ast, spelling: &Names, is_directive: impl Fn(&str) -> bool) -> Facts {
    let mut facts = Facts::default();
    for node in ast.exprs.values() {
        let ExprKind::Call(callee, args) = &node.kind else { continue };
        match &ast.exprs[*callee].kind {
            ExprKind::Member(_, name) if is_directive(spelling.text(name.name)) => {
                names(ast, args, &mut facts.vars);
            }
            ExprKind::Name(name) => {
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
                facts.has_input |=
                    matches!(kind, DeclKind::InputBuffer(..)) || word == Some(TypeWord::ImageParam);
                for declarator in declarators {
                    facts.declared.insert(declarator.name.name);
                    if word == Some(TypeWord::Func) {
                        facts.funcs.push(declarator.name.name);
                    }
                    if let Init::Definition(args, _) = &declarator.init {
                        names(ast, args, &mut facts.vars);
                    }
                }
            }
            StmtKind::Function(function) => {
                facts.declared.insert(function.name.name);
                facts.declared.extend(function.parameters.iter().map(|p| p.name.name));
            }
            _ => {}
        }
    }
    facts
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
