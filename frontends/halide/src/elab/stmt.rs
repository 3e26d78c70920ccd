//! Statements of the compile-time language, and calls of its functions.

use nbcc_base::{Diagnostic, Span};

use crate::codes;
use crate::elab::{Elab, Result, Slot};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{
    Arm, DeclKind, ExprId, ExprKind, ForHead, Ident, RangeHead, StmtId, StmtKind, TypeWord,
};
use crate::value::Value;
use crate::value::types::{CType, c_type};

/// How a statement ends.
pub(crate) enum Flow {
    /// The next one follows.
    Next,
    /// The loop or `switch` ends.
    Break(Span),
    /// The next round of the loop follows.
    Continue(Span),
    /// The function returns.
    Return(Spanned),
}

/// The error for a `break` or `continue` that ends nothing.
pub(crate) fn outside_loop(at: Span) -> Diagnostic {
    Diagnostic::error(&codes::FOREIGN, "`break` and `continue` stand in loops and `switch`")
        .at(at, "ends nothing here")
        .help("leave it out")
}

impl Elab<'_> {
    /// Runs a statement.
    pub(crate) fn statement(&mut self, id: StmtId) -> Result<Flow> {
        let node = &self.ast.stmts[id];
        let span = node.span;
        if !self.running.is_empty() {
            self.step(1, span)?;
        }
        match &node.kind {
            StmtKind::Empty => Ok(Flow::Next),
            StmtKind::Function(function) => {
                let name = function.name;
                let first = self.functions[&name.name];
                if first == id {
                    return Ok(Flow::Next);
                }
                let StmtKind::Function(other) = &self.ast.stmts[first].kind else {
                    unreachable!("functions hold functions")
                };
                let text = self.names.text(name.name).to_owned();
                self.fail(
                    Diagnostic::error(&codes::REDECLARED, format!("`{text}` is declared twice"))
                        .at(name.span, "declared again here")
                        .and(other.name.span, "first declared here")
                        .help("leave one of them out, or give it another name"),
                )
            }
            StmtKind::Expr(e) => {
                self.expression_statement(*e)?;
                Ok(Flow::Next)
            }
            StmtKind::Assign(op, target, value) => {
                self.assign(*op, *target, *value, span)?;
                Ok(Flow::Next)
            }
            StmtKind::Step(op, target) => {
                self.step_variable(*op, *target, span)?;
                Ok(Flow::Next)
            }
            StmtKind::Decl(d) => {
                self.declaration(d)?;
                Ok(Flow::Next)
            }
            StmtKind::Class(class) => {
                self.class(id, class)?;
                Ok(Flow::Next)
            }
            StmtKind::Block(list) => self.deeper(span, |e| {
                e.enter();
                let flow = e.block(list)?;
                e.leave();
                Ok(flow)
            }),
            StmtKind::Break => Ok(Flow::Break(span)),
            StmtKind::Continue => Ok(Flow::Continue(span)),
            StmtKind::Enum(list) => {
                self.enumeration(list)?;
                Ok(Flow::Next)
            }
            StmtKind::Switch(value, arms) => {
                let result = self.deeper(span, |e| e.switch(*value, arms));
                self.aborted |= result.is_err();
                result
            }
            StmtKind::If(..) => self.conditional(id),
            StmtKind::For(head, body) => {
                let result = self.deeper(span, |e| e.for_loop(span, head, *body));
                self.aborted |= result.is_err();
                result
            }
            StmtKind::ForEach(head, body) => {
                let result = self.deeper(span, |e| e.for_each(span, head, *body));
                self.aborted |= result.is_err();
                result
            }
            StmtKind::Return(value) => {
                if self.running.is_empty() && !self.in_entry {
                    return self.fail(
                        Diagnostic::error(&codes::RETURN, "`return` outside a function")
                            .at(span, "there is nothing to return from")
                            .help("the result of a file is its output Func: see `Output`"),
                    );
                }
                let value = match value {
                    Some(e) => self.spanned(*e)?,
                    None => (Value::Void, span),
                };
                Ok(Flow::Return(value))
            }
        }
    }

    fn conditional(&mut self, mut id: StmtId) -> Result<Flow> {
        let span = self.ast.stmts[id].span;
        self.deeper(span, |e| {
            while let StmtKind::If(condition, yes, no) = &e.ast.stmts[id].kind {
                let holds = e.constant_condition(*condition);
                e.aborted |= holds.is_err();
                if holds? {
                    return e.scoped(*yes);
                }
                match no {
                    Some(no) => id = *no,
                    None => return Ok(Flow::Next),
                }
            }
            e.scoped(id)
        })
    }

    fn scoped(&mut self, id: StmtId) -> Result<Flow> {
        self.enter();
        let flow = self.statement(id)?;
        self.leave();
        Ok(flow)
    }

    /// `enum`: constants that count.
    fn enumeration(&mut self, list: &[(Ident, Option<ExprId>)]) -> Result<()> {
        let mut next = 0;
        for &(name, value) in list {
            if let Some(value) = value {
                let value = self.spanned(value)?;
                next = i64::from(self.constant_int(&value, "the value of an enumerator")?);
            }
            let slot = Slot {
                value: Value::Int(next),
                word: TypeWord::C,
                c_type: None,
                is_const: true,
                span: name.span,
            };
            self.declare(name, slot)?;
            next += 1;
        }
        Ok(())
    }

    /// `switch`: the statements from the label that has the value, else from `default`.
    fn switch(&mut self, value: ExprId, arms: &[Arm]) -> Result<Flow> {
        let value = self.spanned(value)?;
        self.step(arms.len() as u64, value.1)?;
        let value = self.constant_int(&value, "the value of a `switch`")?;
        let mut first = None;
        for (k, arm) in arms.iter().enumerate() {
            match arm {
                Arm::Label(None) if first.is_none() => first = Some(k),
                Arm::Label(Some(label)) => {
                    let label = self.spanned(*label)?;
                    if self.constant_int(&label, "a label of a `switch`")? == value {
                        first = Some(k);
                        break;
                    }
                }
                _ => {}
            }
        }
        let Some(first) = first else { return Ok(Flow::Next) };
        let statements: Vec<StmtId> = arms[first..]
            .iter()
            .filter_map(|arm| match arm {
                Arm::Statement(s) => Some(*s),
                Arm::Label(_) => None,
            })
            .collect();
        self.enter();
        let flow = self.block(&statements)?;
        self.leave();
        Ok(match flow {
            Flow::Break(_) => Flow::Next,
            flow => flow,
        })
    }

    fn for_loop(&mut self, span: Span, head: &ForHead, body: StmtId) -> Result<Flow> {
        self.enter();
        if let Some(init) = head.init {
            self.statement(init)?;
        }
        self.running.push((span, 0));
        let mut result = Flow::Next;
        loop {
            if let Some(condition) = head.condition
                && !self.constant_condition(condition)?
            {
                break;
            }
            if let Some(running) = self.running.last_mut() {
                running.1 += 1;
            }
            self.step(1, span)?;
            result = self.scoped(body)?;
            if matches!(result, Flow::Return(_) | Flow::Break(_)) {
                break;
            }
            for &s in &head.steps {
                self.statement(s)?;
            }
        }
        self.running.pop();
        self.leave();
        Ok(after_loop(result))
    }

    /// `for (T name : list)`: the elements in order.
    fn for_each(&mut self, span: Span, head: &RangeHead, body: StmtId) -> Result<Flow> {
        let list = self.spanned(head.list)?;
        let values: Vec<Spanned> = match &list.0 {
            Value::List(values) => values.to_vec(),
            Value::Array(id) => {
                self.arrays[id.0 as usize].iter().map(|v| (v.clone(), list.1)).collect()
            }
            other => {
                let what = other.what();
                return self.fail(
                    Diagnostic::error(
                        &codes::ARGUMENT_TYPE,
                        "a `for` runs over the elements of an array or a list",
                    )
                    .at(list.1, format!("this is {what}"))
                    .help("write an array or a list: `for (int i : {1, 2, 4})`"),
                );
            }
        };
        let DeclKind::Plain(ty) = head.kind else {
            return self.fail(
                Diagnostic::error(&codes::DECLARATION, "elements are not of this type")
                    .at(head.name.span, "declared here")
                    .help("write `auto`, `Func`, `Expr`, `int` or the like"),
            );
        };
        let c_type = self.c_type_of(ty)?;
        self.running.push((span, 0));
        let mut result = Flow::Next;
        for value in &values {
            self.step(1, span)?;
            self.enter();
            let value = self.convert(ty.word, c_type, value)?;
            let slot = Slot { value, word: ty.word, c_type, is_const: false, span: head.name.span };
            self.declare(head.name, slot)?;
            result = self.scoped(body)?;
            self.leave();
            if matches!(result, Flow::Return(_) | Flow::Break(_)) {
                break;
            }
        }
        self.running.pop();
        Ok(after_loop(result))
    }

    fn expression_statement(&mut self, id: ExprId) -> Result<()> {
        let (value, span) = self.spanned(id)?;
        match &self.ast.exprs[id].kind {
            _ if matches!(value, Value::Void) => Ok(()),
            ExprKind::Call(..) if !matches!(value, Value::Expr(_) | Value::Tuple(_)) => Ok(()),
            _ => {
                self.report(
                    Diagnostic::warning(
                        &codes::UNUSED_VALUE,
                        "the value of this statement is not used",
                    )
                    .at(span, format!("computes {}", value.what())),
                );
                Ok(())
            }
        }
    }

    /// What a parameter of a template stands for in the call that runs.
    fn parameter_type(&self, ty: crate::syntax::ast::TypeName) -> Option<CType> {
        let slot = self.lookup(self.names.known(self.text(ty.span))?)?;
        match self.slots[slot].value {
            Value::Type(element) => Some(CType::Element(element)),
            _ => None,
        }
    }

    /// The C type that a type word stands for, where it does.
    pub(crate) fn c_type_of(&mut self, ty: crate::syntax::ast::TypeName) -> Result<Option<CType>> {
        match ty.word {
            TypeWord::C => {}
            TypeWord::Parameter => return Ok(self.parameter_type(ty)),
            _ => return Ok(None),
        }
        match c_type(self.type_text(ty.span)) {
            CType::Refused(what) => {
                let name = self.text(ty.span);
                self.fail(refused(name, what, ty.span))
            }
            other => Ok(Some(other)),
        }
    }
}

/// `3 arguments`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The error for a type that the language does not have.
pub(crate) fn refused(name: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::TYPE_SIZE, format!("the type `{name}` is not supported"))
        .at(span, format!("{what} are not supported"))
        .help("types are float, bool, and signed and unsigned integers of 8, 16 and 32 bits")
}

/// The error for a definition of a Func that was never declared.
pub(crate) fn undeclared(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::UNKNOWN_NAME, format!("`{name}` is not declared"))
        .at(span, "defined here without a declaration")
        .help(format!("declare it: `Func {name};`, or write `Func` before this definition"))
}

/// How a loop ends whose last round ended like this.
fn after_loop(round: Flow) -> Flow {
    match round {
        Flow::Break(_) | Flow::Continue(_) => Flow::Next,
        flow => flow,
    }
}
