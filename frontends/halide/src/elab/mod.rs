//! Elaboration: runs the compile-time language and collects the pipeline that it builds. This
//! file holds the state, scopes and bounds; statements, expressions, definitions and schedules
//! have files of their own, which add methods to the state and own the types of its parts: this file
//! and they name each other.
//!
//! An error ends the statement in which it occurs, and the rounds of loops and the calls around it
//! once their bodies are checked; the names which that statement would have set are poisoned, and
//! uses of poisoned names are not reported again.

mod assign;
mod calls;
mod casts;
mod class;
mod constants;
pub(crate) mod decl;
mod expr;
mod functions;
pub(crate) mod member;
mod names;
pub(crate) mod stmt;

use std::collections::{HashMap, HashSet};

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Failed, SourceFile, SourceId, Span};
use nbcc_pipeline::ParseOptions;
use nbcc_stages::DirectiveInfo;

use crate::codes;
use crate::elab::decl::io_arrays::OutputArray;
use crate::elab::stmt::{Flow, outside_loop};
use crate::pipeline::hir::{FuncId, FuncInfo, Hir, Node};
use crate::schedule::directives::DIRECTIVES;
use crate::syntax::ast::{Ast, Names, StmtId, Symbol, TypeWord};
use crate::syntax::limits::too_deep;
use crate::syntax::scan::{Facts, scan};
use crate::syntax::{Read, TypeNames};
use crate::value::types::CType;
use crate::value::{ArrayId, Value};

/// Elaboration ends with an error after this many steps: loop rounds, calls, array elements and
/// statements in loops and functions.
pub(crate) const MAX_STEPS: u64 = 1_000_000;

/// Nodes of expressions that may be built and looked at.
pub(crate) const MAX_WORK: u64 = 20_000_000;

/// Nodes of expressions that may exist at once.
pub(crate) const MAX_NODES: usize = 5_000_000;

/// How deep statements and expressions may nest while they are elaborated, with the functions
/// that they call.
pub(crate) const MAX_DEPTH: u32 = 1000;

/// After this many errors elaboration ends: no more are kept.
const MAX_ERRORS: usize = Diagnostics::MAX;

/// The parameter of the command line that chooses among several generators of a file.
pub(crate) const GENERATOR_PARAM: &str = "generator";

/// The Func of the first of these names is the output of a file that declares none.
pub(crate) const OUTPUTS: [&str; 2] = ["out", "output"];

pub(crate) type Result<T> = std::result::Result<T, Failed>;

/// A variable of the compile-time language.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) value: Value,
    /// What it was declared as; of a C type also its name.
    pub(crate) word: TypeWord,
    pub(crate) c_type: Option<CType>,
    pub(crate) is_const: bool,
    pub(crate) span: Span,
}

/// What the elements of an array were declared as.
#[derive(Clone, Copy)]
pub(crate) struct ElementKind {
    pub(crate) word: TypeWord,
    /// Of a C type, which.
    pub(crate) c_type: Option<CType>,
    pub(crate) is_const: bool,
}

/// Where elaboration stands.
pub(crate) struct Checkpoint {
    scopes: usize,
    frame: usize,
    depth: u32,
    running: usize,
    defining: Option<FuncId>,
}

/// The state of elaboration.
pub(crate) struct Elab<'a> {
    pub(crate) ast: &'a Ast,
    pub(crate) source: SourceId,
    pub(crate) file: &'a SourceFile,
    pub(crate) names: Names,
    pub(crate) types: TypeNames,
    pub(crate) directives: &'a [DirectiveInfo],
    /// Values that the command line gives, by name.
    pub(crate) params: &'a [(String, String)],
    /// Whether statements were left out that could not be read.
    unread: bool,
    /// Names that a statement with a syntax error may have set.
    pub(crate) lost: HashSet<Symbol>,
    pub(crate) diagnostics: &'a mut Diagnostics,
    errors: usize,
    reported: HashSet<(&'static str, Span)>,
    pub(crate) facts: Facts,
    pub(crate) hir: Hir,
    pub(crate) slots: Vec<Slot>,
    /// Innermost last; the first is the file's, the second a generator's.
    pub(crate) scopes: Vec<HashMap<Symbol, usize>>,
    /// How many of the first scopes every function sees.
    pub(crate) base: usize,
    /// The names of the bodies of a generator's functions that Halide calls.
    pub(crate) entry_scopes: Vec<HashMap<Symbol, usize>>,
    /// Whether such a body runs.
    pub(crate) in_entry: bool,
    /// The names of the parameters that are constants.
    pub(crate) constants: Vec<String>,
    /// The generator that is elaborated.
    pub(crate) generator: Option<StmtId>,
    /// Where the scopes of the function that runs begin.
    frame: usize,
    pub(crate) arrays: Vec<Vec<Value>>,
    pub(crate) array_kinds: Vec<ElementKind>,
    /// The arrays of outputs.
    pub(crate) output_arrays: HashMap<ArrayId, OutputArray>,
    pub(crate) functions: HashMap<Symbol, StmtId>,
    /// The inputs that are not declared, and their first uses.
    pub(crate) implicit_inputs: Vec<(Symbol, nbcc_stages::Input, Span)>,
    /// Where inputs and parameters were declared, by name.
    pub(crate) io_names: HashMap<String, Span>,
    /// The Func that stands for an input image where one is needed.
    pub(crate) input_funcs: HashMap<nbcc_stages::Input, FuncId>,
    /// Names of Funcs in use, with the number of the last copy.
    func_names: HashMap<String, u32>,
    /// The Func whose definition's right side is being read.
    pub(crate) defining: Option<FuncId>,
    /// Definitions made so far.
    pub(crate) definitions: u32,
    /// Statements were left out because of an error: later names may lack their values.
    pub(crate) aborted: bool,
    /// Calls nest too deep: all of them fail.
    too_deep: bool,
    steps: u64,
    work: u64,
    pub(crate) depth: u32,
    /// The loops and calls that run, innermost last, with the rounds that they have made.
    pub(crate) running: Vec<(Span, u64)>,
    /// The values that `undef` made.
    pub(crate) undefs: HashSet<Node>,
    marks: SecondaryMap<Node, u32>,
    mark: u32,
}

impl<'a> Elab<'a> {
    pub(crate) fn new(
        source: SourceId,
        file: &'a SourceFile,
        ast: &'a Ast,
        read: Read,
        options: &ParseOptions<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> Elab<'a> {
        let Read { names, types, errors, lost } = read;
        let facts = scan(ast, &names, &lost, |name| {
            DIRECTIVES.iter().any(|d| d.name == name)
                || options.directives.iter().any(|d| d.name == name)
        });
        Elab {
            ast,
            source,
            file,
            names,
            types,
            directives: options.directives,
            params: options.params,
            unread: errors > 0,
            lost,
            diagnostics,
            errors,
            reported: HashSet::new(),
            facts,
            hir: Hir::default(),
            slots: Vec::new(),
            scopes: vec![HashMap::new()],
            base: 1,
            entry_scopes: Vec::new(),
            in_entry: false,
            constants: Vec::new(),
            generator: None,
            frame: 0,
            arrays: Vec::new(),
            array_kinds: Vec::new(),
            output_arrays: HashMap::new(),
            functions: HashMap::new(),
            implicit_inputs: Vec::new(),
            io_names: HashMap::new(),
            input_funcs: HashMap::new(),
            func_names: HashMap::new(),
            defining: None,
            definitions: 0,
            aborted: false,
            too_deep: false,
            steps: 0,
            work: 0,
            depth: 0,
            running: Vec::new(),
            undefs: HashSet::new(),
            marks: SecondaryMap::new(),
            mark: 0,
        }
    }

    /// Runs the file.
    pub(crate) fn run(&mut self) {
        let ast = self.ast;
        self.know_functions(&ast.items);
        if self.choose_generator().is_err() {
            return;
        }
        self.items(&ast.items);
    }

    /// Runs statements one by one, each whatever happens in those before it.
    pub(crate) fn items(&mut self, items: &[StmtId]) -> Flow {
        for &item in items {
            if self.exhausted() {
                break;
            }
            match self.attempt(item) {
                Ok(Flow::Next) => {}
                Ok(Flow::Break(at) | Flow::Continue(at)) => self.report(outside_loop(at)),
                Ok(returned) => return returned,
                Err(Failed) => self.too_deep = false,
            }
        }
        Flow::Next
    }

    /// Runs the statements of a block, each whatever happens in those before it; fails where one
    /// does.
    pub(crate) fn block(&mut self, statements: &[StmtId]) -> Result<Flow> {
        let mut failed = false;
        for &statement in statements {
            match self.attempt(statement) {
                Ok(Flow::Next) => {}
                Ok(_) if failed => break,
                Ok(returned) => return Ok(returned),
                // Functions that call themselves would fail again in every call.
                Err(Failed) if self.too_deep || self.exhausted() => return Err(Failed),
                Err(Failed) => failed = true,
            }
        }
        if failed { Err(Failed) } else { Ok(Flow::Next) }
    }

    /// Runs a statement; where it fails, elaboration can go on after it.
    fn attempt(&mut self, id: StmtId) -> Result<Flow> {
        let checkpoint = self.checkpoint();
        let result = self.statement(id);
        if result.is_err() {
            assert!(self.has_errors(), "{id:?} fails without an error");
            self.restore(&checkpoint);
        }
        result
    }

    /// Whether an error was reported.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Reports a diagnostic, once for a code and place.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == nbcc_base::Severity::Error;
        let key = (diagnostic.code.code, diagnostic.span.unwrap_or_default());
        if self.reported.insert(key) {
            self.errors += usize::from(is_error);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports an error and fails.
    pub(crate) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    /// How a type is called in C.
    pub(crate) fn type_text(&self, span: Span) -> &str {
        self.types.aliases.get(&span.start).map_or_else(|| self.text(span), String::as_str)
    }

    /// The source text of a span.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        self.file.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Counts steps of elaboration; fails when there were too many.
    pub(crate) fn step(&mut self, count: u64, at: Span) -> Result<()> {
        self.steps = self.steps.saturating_add(count);
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        if self.unread {
            // A loop may lack the statement that ends it.
            return Err(Failed);
        }
        let at = self.busiest(at);
        self.fail(
            Diagnostic::error(&codes::STEPS, "the file takes too many steps to elaborate")
                .at(at, format!("more than {MAX_STEPS} steps in here"))
                .help("loops and functions of the compile-time language only build the pipeline; loops over pixels are written as a Func over Vars or an RDom"),
        )
    }

    /// The loop that has made most rounds among those that run, else the outermost call.
    fn busiest(&self, at: Span) -> Span {
        let most = self.running.iter().map(|r| r.1).max().unwrap_or(0);
        self.running.iter().find(|r| r.1 == most).map_or(at, |r| r.0)
    }

    /// Whether the bound on steps, work or errors was exceeded.
    pub(crate) fn exhausted(&self) -> bool {
        self.steps > MAX_STEPS || self.work > MAX_WORK || self.errors > MAX_ERRORS
    }

    /// Counts nodes of expressions that are built or looked at.
    pub(crate) fn work(&mut self, count: u64, at: Span) -> Result<()> {
        self.work = self.work.saturating_add(count);
        if self.work <= MAX_WORK && self.hir.nodes.len() <= MAX_NODES {
            return Ok(());
        }
        self.work = MAX_WORK + 1;
        let at = self.busiest(at);
        self.fail(
            Diagnostic::error(&codes::STEPS, "the expressions of the file are too large")
                .at(at, "too many operations are built or visited in here")
                .help("define a Func for a part that is used often"),
        )
    }

    /// Runs `body` one level deeper.
    pub(crate) fn deeper<T>(
        &mut self,
        at: Span,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return match self.running.last() {
                Some(&(call, _)) if self.frame > 0 => self.fail(
                    too_deep(call, MAX_DEPTH)
                        .help("functions that call themselves or each other must come to an end"),
                ),
                _ => self.fail(too_deep(at, MAX_DEPTH)),
            };
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    /// Opens a scope.
    pub(crate) fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Closes the innermost scope.
    pub(crate) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// What [`Elab::restore`] needs to go on after an error.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            scopes: self.scopes.len(),
            frame: self.frame,
            depth: self.depth,
            running: self.running.len(),
            defining: self.defining,
        }
    }

    /// Leaves the scopes, loops and functions in which an error occurred.
    pub(crate) fn restore(&mut self, to: &Checkpoint) {
        self.aborted |= self.running.len() > to.running;
        self.scopes.truncate(to.scopes);
        self.base = self.base.min(to.scopes);
        self.frame = to.frame;
        self.depth = to.depth;
        self.running.truncate(to.running);
        self.defining = to.defining;
    }

    /// Opens the scopes of a function's body, hiding those of its caller; gives what
    /// [`Elab::leave_frame`] needs.
    pub(crate) fn enter_frame(&mut self) -> (usize, usize) {
        let saved = (self.frame, self.scopes.len());
        self.frame = self.scopes.len();
        self.enter();
        saved
    }

    /// Back to the caller's scopes.
    pub(crate) fn leave_frame(&mut self, saved: (usize, usize)) {
        self.frame = saved.0;
        self.scopes.truncate(saved.1);
    }

    /// The scopes of the function that runs, or of the file.
    pub(crate) fn local_scopes(&self) -> impl Iterator<Item = &HashMap<Symbol, usize>> {
        self.scopes[self.frame..].iter()
    }

    /// The scopes whose names are those of the program: the file's, a generator's, and those of its
    /// functions that Halide calls.
    pub(crate) fn file_scopes(&self) -> impl Iterator<Item = &HashMap<Symbol, usize>> {
        self.scopes[..self.base.min(self.scopes.len())].iter().chain(&self.entry_scopes)
    }

    /// The Func that a variable of the program holds.
    pub(crate) fn file_func(&self, name: &str) -> Option<FuncId> {
        let name = self.names.known(name)?;
        let slot = self.file_scopes().find_map(|scope| scope.get(&name).copied())?;
        match self.slots[slot].value {
            Value::Func(func) => Some(func),
            _ => None,
        }
    }

    /// The slot of a name.
    pub(crate) fn lookup(&self, name: Symbol) -> Option<usize> {
        self.scopes[self.frame..]
            .iter()
            .rev()
            .chain(self.scopes[..self.base].iter().rev())
            .find_map(|scope| scope.get(&name).copied())
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: crate::syntax::ast::Ident, slot: Slot) -> Result<usize> {
        let scope = self.scopes.last().expect("the file's scope is always open");
        if let Some(&other) = scope.get(&name.name) {
            let first = self.slots[other].span;
            let text = self.names.text(name.name).to_owned();
            return self.fail(
                Diagnostic::error(&codes::REDECLARED, format!("`{text}` is declared twice"))
                    .at(name.span, "declared again here")
                    .and(first, "first declared here")
                    .help("leave out the type to give an existing name a new value or definition"),
            );
        }
        let number = self.slots.len();
        self.slots.push(slot);
        self.scopes.last_mut().expect("a scope is open").insert(name.name, number);
        Ok(number)
    }

    /// The names that could have been meant where `name` is not known.
    pub(crate) fn known_names(&self) -> Vec<&str> {
        let mut list: Vec<(usize, &str)> = self.scopes[self.frame..]
            .iter()
            .rev()
            .chain(self.scopes[..self.base].iter().rev())
            .flat_map(|s| s.iter().map(|(name, slot)| (*slot, self.names.text(*name))))
            .collect();
        list.sort_unstable();
        list.into_iter().map(|(_, name)| name).collect()
    }

    /// Adds an array.
    pub(crate) fn new_array(&mut self, values: Vec<Value>, kind: ElementKind) -> ArrayId {
        self.arrays.push(values);
        self.array_kinds.push(kind);
        ArrayId(self.arrays.len() as u32 - 1)
    }

    /// A new Func; a name that is taken gets a number.
    pub(crate) fn new_func(&mut self, name: &str, span: Span) -> FuncId {
        let name = match self.running.is_empty() {
            true => self.unique(name),
            // The plain name is kept for the file's own output.
            false if OUTPUTS.contains(&name) => self.unique(&format!("{name}$1")),
            false => self.unique(name),
        };
        self.hir.funcs.push(FuncInfo {
            name,
            span,
            vars: Vec::new(),
            types: Vec::new(),
            pure: None,
            updates: Vec::new(),
            frozen: None,
            first: u32::MAX,
            last: 0,
            declared: None,
            poisoned: false,
            anonymous: false,
            local: !self.running.is_empty(),
        })
    }

    fn unique(&mut self, base: &str) -> String {
        if let Some(count) = self.func_names.get(base).copied() {
            for number in count + 1.. {
                let name = format!("{base}${number}");
                if !self.func_names.contains_key(&name) {
                    self.func_names.insert(base.to_owned(), number);
                    self.func_names.insert(name.clone(), 0);
                    return name;
                }
            }
        }
        self.func_names.insert(base.to_owned(), 0);
        base.to_owned()
    }

    /// Visits each expression below `roots` once, parents before some of their operands. `visit`
    /// says whether to go on below a node.
    pub(crate) fn walk(
        &mut self,
        roots: &[Node],
        at: Span,
        mut visit: impl FnMut(&mut Self, Node) -> Result<()>,
    ) -> Result<()> {
        self.mark += 1;
        let mark = self.mark;
        let mut stack: Vec<Node> = roots.iter().rev().copied().collect();
        while let Some(node) = stack.pop() {
            if self.marks[node] == mark {
                continue;
            }
            self.marks[node] = mark;
            self.work(1, at)?;
            visit(self, node)?;
            let first = stack.len();
            self.hir.nodes[node].operands(|n| stack.push(n));
            stack[first..].reverse();
        }
        Ok(())
    }
}
