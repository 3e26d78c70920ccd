//! Assignments: definitions of Funcs, and new values of variables and elements.

use nbcc_base::{Diagnostic, Failed, Span};

use crate::codes;
use crate::elab::{Elab, ElementKind, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::{ExprId, ExprKind, Op, TypeWord};
use crate::value::{ArrayId, Value};

impl Elab<'_> {
    /// `target = value` and `target op= value`.
    pub(crate) fn assign(
        &mut self,
        op: Option<Op>,
        target: ExprId,
        value: ExprId,
        span: Span,
    ) -> Result<()> {
        match &self.ast.exprs[target].kind {
            ExprKind::Call(callee, args) => {
                let (callee_value, callee_span) = match self.ast.exprs[*callee].kind {
                    ExprKind::Name(_) => self.spanned(*callee)?,
                    _ => self.settled(*callee)?,
                };
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

    /// The value of an expression that says what is assigned to. Where it fails, it is not known what
    /// lacks its value.
    fn settled(&mut self, id: ExprId) -> Result<Spanned> {
        let result = self.spanned(id);
        self.aborted |= result.is_err();
        result
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

    /// The new value of element `n` of an array.
    fn element_value(
        &mut self,
        op: Option<Op>,
        (array, n): (ArrayId, usize),
        value: ExprId,
        at: Span,
        span: Span,
    ) -> Result<Value> {
        let value = self.spanned(value)?;
        let old = self.arrays[array.0 as usize].get(n).cloned().unwrap_or(Value::Poison);
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
        let ElementKind { word, c_type, is_const } = self.array_kinds[array.0 as usize];
        if is_const {
            return self.fail(
                Diagnostic::error(&codes::NOT_ASSIGNABLE, "a const cannot be assigned to")
                    .at(at, "is const")
                    .help(crate::helps::NOT_CONST),
            );
        }
        let new = self.convert(word, c_type, &(new, value.1))?;
        if let (Some(Value::Func(output)), Value::Func(func)) =
            (self.arrays[array.0 as usize].get(n), &new)
            && self.hir.outputs.contains(output)
        {
            self.replace_output(*output, *func, span)?;
        }
        Ok(new)
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
        let index = self.settled(index)?;
        let at = base_span.to(index.1);
        match base {
            Value::Array(id) => {
                let n = self.array_index(id, &index)?;
                let new = self.element_value(op, (id, n), value, at, span);
                // What gives the value may make the array shorter.
                if let Some(element) = self.arrays[id.0 as usize].get_mut(n) {
                    *element = new.as_ref().map_or(Value::Poison, Value::clone);
                }
                new.map(|_| ())
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

    pub(crate) fn step_variable(&mut self, op: Op, target: ExprId, span: Span) -> Result<()> {
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
}
