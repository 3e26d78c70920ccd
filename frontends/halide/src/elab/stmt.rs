//! Statements of the compile-time language, and calls of its functions.

use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::{Elab, Result, Slot};
use crate::pipeline::hir::NodeKind;
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{
    DeclKind, ExprId, ExprKind, ForHead, Function, Op, Parameter, RangeHead, StmtId, StmtKind,
    TypeWord,
};
use crate::value::Value;
use crate::value::constant;
use crate::value::types::{CType, c_type};

/// How a statement ends.
pub(crate) enum Flow {
    /// The next one follows.
    Next,
    /// The function returns.
    Return(Spanned),
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
                self.class(class)?;
                Ok(Flow::Next)
            }
            StmtKind::Block(list) => self.deeper(span, |e| {
                e.enter();
                let mut flow = Flow::Next;
                for &s in list.iter() {
                    flow = e.statement(s)?;
                    if matches!(flow, Flow::Return(_)) {
                        break;
                    }
                }
                e.leave();
                Ok(flow)
            }),
            StmtKind::If(..) => self.conditional(id),
            StmtKind::For(head, body) => self.deeper(span, |e| e.for_loop(span, head, *body)),
            StmtKind::ForEach(head, body) => self.deeper(span, |e| e.for_each(span, head, *body)),
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
                if e.constant_condition(*condition)? {
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
            if matches!(result, Flow::Return(_)) {
                break;
            }
            for &s in &head.steps {
                self.statement(s)?;
            }
        }
        self.running.pop();
        self.leave();
        Ok(result)
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
            if matches!(result, Flow::Return(_)) {
                break;
            }
        }
        self.running.pop();
        Ok(result)
    }

    /// A condition of the compile-time language.
    pub(crate) fn constant_condition(&mut self, id: ExprId) -> Result<bool> {
        let (value, span) = self.spanned(id)?;
        if value.is_number() {
            return Ok(constant::truth(&value));
        }
        self.not_constant(&value, span, "a condition")
    }

    pub(crate) fn not_constant<T>(&mut self, value: &Value, span: Span, what: &str) -> Result<T> {
        if matches!(value, Value::Poison) {
            return Err(Failed);
        }
        let help = match value {
            Value::Expr(node) if !self.depends_on_pixels(*node, span)? => {
                "extents of inputs and parameters are known only when the program runs"
            }
            Value::Expr(_) | Value::Var(_) | Value::RVar(..) => {
                "a value that differs between pixels is chosen with `select`"
            }
            _ => "write a number or a const",
        };
        self.fail(
            Diagnostic::error(
                &codes::NOT_CONSTANT,
                format!("{what} must be known at compile time"),
            )
            .at(span, format!("this is {}", value.what()))
            .help(help),
        )
    }

    fn depends_on_pixels(&mut self, node: crate::pipeline::hir::Node, at: Span) -> Result<bool> {
        let mut depends = false;
        self.walk(&[node], at, |e, n| {
            depends |= matches!(
                e.hir.nodes[n].kind,
                NodeKind::Var(_) | NodeKind::RVar(..) | NodeKind::Load(..) | NodeKind::Call(..)
            );
            Ok(())
        })?;
        Ok(depends)
    }

    /// An `int` that is known at compile time.
    pub(crate) fn constant_int(&mut self, value: &Spanned, what: &str) -> Result<i32> {
        match value.0 {
            Value::Bool(b) => Ok(i32::from(b)),
            Value::Int(n) => match i32::try_from(n) {
                Ok(n) => Ok(n),
                Err(_) => self.fail(
                    Diagnostic::error(&codes::NUMBER, format!("{n} is too large for an int"))
                        .at(value.1, "an int holds -2147483648 to 2147483647")
                        .help(crate::helps::SMALLER_INT),
                ),
            },
            Value::Float(_) | Value::Double(_) => self.fail(
                Diagnostic::error(&codes::NOT_CONSTANT, format!("{what} must be an int"))
                    .at(value.1, format!("this is {}", value.0.what()))
                    .help("convert it: `(int)(...)`"),
            ),
            _ => self.not_constant(&value.0, value.1, what),
        }
    }

    fn expression_statement(&mut self, id: ExprId) -> Result<()> {
        let (value, span) = self.spanned(id)?;
        match &self.ast.exprs[id].kind {
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

    /// `target = value` and `target op= value`.
    fn assign(&mut self, op: Option<Op>, target: ExprId, value: ExprId, span: Span) -> Result<()> {
        match &self.ast.exprs[target].kind {
            ExprKind::Call(callee, args) => {
                let (callee_value, callee_span) = self.spanned(*callee)?;
                match callee_value {
                    Value::Func(func) => {
                        let left = self.ast.exprs[target].span;
                        let result = self.define_from(func, args, op, value, (left, span));
                        if result.is_err() {
                            self.hir.funcs[func].poisoned = true;
                        }
                        result
                    }
                    Value::Poison => Err(Failed),
                    Value::Input(input) => {
                        let name = self.hir.inputs[input].name.clone();
                        self.fail(
                            Diagnostic::error(
                                &codes::NOT_ASSIGNABLE,
                                format!("the input `{name}` cannot be defined"),
                            )
                            .at(callee_span, "an input image")
                            .help("define a Func: `Func f(x, y) = ...`"),
                        )
                    }
                    other => {
                        let what = other.what();
                        self.fail(
                            Diagnostic::error(
                                &codes::NOT_ASSIGNABLE,
                                format!("{what} cannot be defined"),
                            )
                            .at(callee_span, format!("this is {what}"))
                            .help("only a Func has definitions"),
                        )
                    }
                }
            }
            ExprKind::Name(name) => {
                let name = *name;
                let at = self.ast.exprs[target].span;
                let Some(slot) = self.lookup(name) else {
                    let text = self.names.text(name).to_owned();
                    return self.unknown_name(&text, at);
                };
                let result = self.assign_slot(slot, op, value, at, span);
                if result.is_err() {
                    self.slots[slot].value = Value::Poison;
                }
                result
            }
            ExprKind::Index(array, index) => self.assign_element(op, *array, *index, value, span),
            ExprKind::Member(object, _)
                if matches!(self.spanned(*object)?.0, Value::Unfollowed) =>
            {
                Ok(())
            }
            _ => {
                let at = self.ast.exprs[target].span;
                self.fail(
                    Diagnostic::error(&codes::NOT_ASSIGNABLE, "this cannot be assigned to")
                        .at(at, "neither a variable nor a Func at some coordinates")
                        .help("write a variable, or a Func with its coordinates, on the left"),
                )
            }
        }
    }

    fn assign_slot(
        &mut self,
        slot: usize,
        op: Option<Op>,
        value: ExprId,
        at: Span,
        span: Span,
    ) -> Result<()> {
        let value = self.spanned(value)?;
        self.check_assignable(slot, at)?;
        let old = self.slots[slot].value.clone();
        let (word, c_type) = (self.slots[slot].word, self.slots[slot].c_type);
        let new = match op {
            None => value.0,
            Some(op) => self.compound(op, &(old, at), &value, at, span)?,
        };
        let new = self.convert(word, c_type, &(new, value.1))?;
        if let (Value::Func(output), Value::Func(func)) = (&self.slots[slot].value, &new)
            && self.hir.outputs.contains(output)
        {
            self.replace_output(*output, *func, span)?;
        }
        self.slots[slot].value = new;
        Ok(())
    }

    /// `a op= b`: on expressions, the right side is converted to the left one's type.
    fn compound(
        &mut self,
        op: Op,
        a: &Spanned,
        b: &Spanned,
        at: Span,
        span: Span,
    ) -> Result<Value> {
        if let Value::Expr(node) = a.0 {
            if !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div) {
                return self.fail(
                    Diagnostic::error(
                        &codes::OPERAND_TYPES,
                        format!("`{}=` is not defined on an Expr", op.text()),
                    )
                    .at(at, "this is an Expr")
                    .help(format!("write `e = e {} ...`", op.text())),
                );
            }
            let right = self.expr_of(&b.0, b.1)?;
            let right = self.cast(self.hir.ty(node), right, b.1);
            return self.arithmetic(op, node, right, true, span).map(Value::Expr);
        }
        self.binary(op, at, a, b, span)
    }

    fn check_assignable(&mut self, slot: usize, at: Span) -> Result<()> {
        let slot = &self.slots[slot];
        if slot.is_const {
            let declared = slot.span;
            return self.fail(
                Diagnostic::error(&codes::NOT_ASSIGNABLE, "a const cannot be assigned to")
                    .at(at, "is const")
                    .and(declared, "declared here")
                    .help(crate::helps::NOT_CONST),
            );
        }
        let fixed = matches!(slot.value, Value::Array(_))
            || matches!(slot.word, TypeWord::ImageParam | TypeWord::Var | TypeWord::RVar);
        if fixed {
            let what = slot.value.what();
            return self.fail(
                Diagnostic::error(&codes::NOT_ASSIGNABLE, format!("{what} cannot be assigned to"))
                    .at(at, format!("this is {what}"))
                    .help(crate::helps::fixed(&slot.value)),
            );
        }
        Ok(())
    }

    fn assign_element(
        &mut self,
        op: Option<Op>,
        array: ExprId,
        index: ExprId,
        value: ExprId,
        span: Span,
    ) -> Result<()> {
        if let ExprKind::Call(callee, args) = &self.ast.exprs[array].kind {
            let callee_value = self.spanned(*callee)?;
            if let Value::Func(func) = callee_value.0 {
                let index = self.spanned(index)?;
                let left = self.ast.exprs[array].span;
                let result = self.define_element(func, args, &index, op, value, (left, span));
                if result.is_err() {
                    self.hir.funcs[func].poisoned = true;
                }
                return result;
            }
        }
        let (base, base_span) = self.spanned(array)?;
        let index = self.spanned(index)?;
        let at = base_span.to(index.1);
        match base {
            Value::Array(id) => {
                let n = self.array_index(id, &index)?;
                let value = self.spanned(value)?;
                let old = self.arrays[id.0 as usize][n].clone();
                if matches!(old, Value::Array(_)) {
                    return self.fail(
                        Diagnostic::error(&codes::NOT_ASSIGNABLE, "an array cannot be assigned to")
                            .at(at, "this is an array")
                            .help("assign its elements one by one: `a[0][0] = ...;`"),
                    );
                }
                let new = match op {
                    None => value.0,
                    Some(op) => self.compound(op, &(old, at), &value, at, span)?,
                };
                let (word, c_type, is_const) = self.array_types[id.0 as usize];
                if is_const {
                    return self.fail(
                        Diagnostic::error(&codes::NOT_ASSIGNABLE, "a const cannot be assigned to")
                            .at(at, "is const")
                            .help(crate::helps::NOT_CONST),
                    );
                }
                let new = self.convert(word, c_type, &(new, value.1))?;
                self.arrays[id.0 as usize][n] = new;
                Ok(())
            }
            Value::Tuple(nodes) if matches!(self.ast.exprs[array].kind, ExprKind::Name(_)) => {
                let ExprKind::Name(name) = self.ast.exprs[array].kind else {
                    unreachable!("matched above")
                };
                let slot = self.lookup(name).expect("the Tuple has a slot");
                self.check_assignable(slot, base_span)?;
                let n = self.tuple_index(nodes.len(), &index)?;
                let value = self.spanned(value)?;
                let new = match op {
                    None => value.0,
                    Some(op) => {
                        self.compound(op, &(Value::Expr(nodes[n]), at), &value, at, span)?
                    }
                };
                let mut nodes = nodes.to_vec();
                nodes[n] = self.expr_of(&new, value.1)?;
                self.slots[slot].value = Value::Tuple(nodes.into());
                Ok(())
            }
            Value::Poison => Err(Failed),
            other => {
                let what = other.what();
                self.fail(
                    Diagnostic::error(&codes::NOT_ASSIGNABLE, "this cannot be assigned to")
                        .at(at, format!("an element of {what}"))
                        .help("declare an array for what changes: `int a[3];`"),
                )
            }
        }
    }

    fn step_variable(&mut self, op: Op, target: ExprId, span: Span) -> Result<()> {
        let at = self.ast.exprs[target].span;
        let help = match self.ast.exprs[target].kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Call(..) => {
                format!("write `{} {}= 1`", self.text(at), op.text())
            }
            _ => "count in a variable: `int n = 0;`".to_owned(),
        };
        let slot = match self.ast.exprs[target].kind {
            ExprKind::Name(name) => self.lookup(name),
            _ => None,
        };
        match slot {
            Some(slot) if self.slots[slot].value.is_number() => {
                self.check_assignable(slot, at)?;
                let old = self.slots[slot].value.clone();
                let new = self.binary(op, span, &(old, at), &(Value::Int(1), span), span)?;
                self.slots[slot].value = new;
                Ok(())
            }
            Some(slot) if matches!(self.slots[slot].value, Value::Poison) => Err(Failed),
            _ => self.fail(
                Diagnostic::error(
                    &codes::NOT_ASSIGNABLE,
                    "`++` and `--` need a variable that holds a number",
                )
                .at(span, "not such a variable")
                .help(help),
            ),
        }
    }

    /// Calls a function of the file.
    pub(crate) fn call_function(
        &mut self,
        function: &Function,
        args: &[Spanned],
        span: Span,
    ) -> Result<Value> {
        self.step(1, span)?;
        let parameters = &function.parameters;
        let name = self.names.text(function.name.name).to_owned();
        let mut args = args.to_vec();
        for parameter in parameters.iter().skip(args.len()) {
            let Some(default) = parameter.default else { break };
            args.push(self.spanned(default)?);
        }
        if args.len() != parameters.len() {
            let (want, got) = (parameters.len(), args.len());
            let names: Vec<&str> =
                parameters.iter().map(|p| self.names.text(p.name.name)).collect();
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("`{name}` takes {}, not {got}", count(want, "argument")),
                )
                .at(span, format!("{} given", count(got, "argument")))
                .and(function.name.span, "declared here")
                .help(format!("write `{name}({})`", names.join(", "))),
            );
        }
        self.deeper(span, |e| {
            let mut values = Vec::new();
            for (parameter, arg) in parameters.iter().zip(&args) {
                values.push(e.parameter_value(parameter, arg)?);
            }
            let saved = e.enter_frame();
            for (parameter, value) in parameters.iter().zip(values) {
                let slot = Slot {
                    value,
                    word: parameter.ty.word,
                    c_type: e.c_type_of(parameter.ty)?,
                    // Only handles are passed by reference: what they stand for can change, not
                    // which it is.
                    is_const: parameter.is_const || parameter.by_reference,
                    span: parameter.name.span,
                };
                e.declare(parameter.name, slot)?;
            }
            e.running.push((span, 0));
            let flow = e.statement(function.body)?;
            e.running.pop();
            e.leave_frame(saved);
            let result = match function.result {
                DeclKind::Plain(ty) => ty,
                DeclKind::Vector(_) => {
                    return match flow {
                        Flow::Return((value @ Value::Array(_), _)) => Ok(value),
                        Flow::Return((_, at)) => e.fail(no_result(&name, at)),
                        Flow::Next => e.fail(no_result(&name, function.name.span)),
                    };
                }
                _ => {
                    return e.fail(
                        Diagnostic::error(
                            &codes::FUNCTION_TYPE,
                            "a function cannot return this type",
                        )
                        .at(function.name.span, "not of a type of the compile-time language")
                        .help("return a Func or an Expr"),
                    );
                }
            };
            match flow {
                Flow::Return((Value::Void, _)) | Flow::Next if result.word == TypeWord::Void => {
                    Ok(Value::Void)
                }
                Flow::Return((Value::Void, at)) => e.fail(no_result(&name, at)),
                Flow::Next => e.fail(no_result(&name, function.name.span)),
                Flow::Return((_, at)) if result.word == TypeWord::Void => e.fail(
                    Diagnostic::error(&codes::RETURN, "a void function returns no value")
                        .at(at, "returned here")
                        .and(result.span, "is void")
                        .help("write the type of the value instead of `void`, or `return;`"),
                ),
                Flow::Return(value) => {
                    let c_type = e.c_type_of(result)?;
                    e.convert(result.word, c_type, &value)
                }
            }
        })
    }

    fn parameter_value(&mut self, parameter: &Parameter, arg: &Spanned) -> Result<Value> {
        let text = self.names.text(parameter.name.name).to_owned();
        if parameter.by_reference
            && !parameter.is_const
            && !is_handle(parameter.ty.word)
            && !parameter.is_array
        {
            let end = parameter.name.span;
            return self.fail(
                Diagnostic::error(
                    &codes::UNSUPPORTED,
                    format!("`{text}` is passed by reference, which is not supported"),
                )
                .at(parameter.ty.span.to(end), "a reference that is not const")
                .help(format!(
                    "pass it by value and return the new one: `{} {text}`",
                    self.text(parameter.ty.span)
                )),
            );
        }
        if parameter.is_array != matches!(arg.0, Value::Array(_)) {
            let want = if parameter.is_array { "an array" } else { "a single value" };
            let what = arg.0.what();
            return self.fail(
                Diagnostic::error(&codes::ARGUMENT_TYPE, format!("`{text}` must be {want}"))
                    .at(arg.1, format!("this is {what}"))
                    .and(parameter.name.span, "declared here")
                    .help(match parameter.is_array {
                        true => "pass an array, or declare the parameter without `[]`",
                        false => "pass one of its elements: `[0]`",
                    }),
            );
        }
        if parameter.is_array {
            return Ok(arg.0.clone());
        }
        let c_type = self.c_type_of(parameter.ty)?;
        self.convert(parameter.ty.word, c_type, arg)
    }

    /// The C type that a type word stands for, where it does.
    pub(crate) fn c_type_of(&mut self, ty: crate::syntax::ast::TypeName) -> Result<Option<CType>> {
        if ty.word != TypeWord::C {
            return Ok(None);
        }
        match c_type(self.text(ty.span)) {
            CType::Refused(what) => {
                let name = self.text(ty.span);
                self.fail(refused(name, what, ty.span))
            }
            other => Ok(Some(other)),
        }
    }
}

/// Whether a variable of the type stands for something else that it does not hold itself.
pub(crate) fn is_handle(word: TypeWord) -> bool {
    matches!(
        word,
        TypeWord::Func
            | TypeWord::Var
            | TypeWord::RVar
            | TypeWord::RDom
            | TypeWord::ImageParam
            | TypeWord::Target
    )
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

fn no_result(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&codes::RETURN, format!("`{name}` ends without a value"))
        .at(span, "no value is returned here")
        .help("end it with `return ...;`")
}
