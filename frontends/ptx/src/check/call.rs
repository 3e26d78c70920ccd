//! Checks of calls against the function or prototype that is called.

use nbcc_base::{Diagnostic, Span};

use super::types::{bits, fits};
use super::{Checker, Class, class, codes};
use crate::ast::StateSpace;
use crate::resolved::{
    Call, Callee, Constant, FunctionId, Operand, OperandKind, ScalarType, TableKind, Variable,
    VariableId,
};

/// Functions of CUDA's runtime that come with the machine.
const RUNTIME: &[&str] = &["vprintf", "__assertfail"];
/// Those of the heap. Destructors of classes with virtual functions call `free` even where nothing
/// is ever allocated, so that they are accepted, and end the run where they are reached.
const HEAP: &[&str] = &["malloc", "free"];

impl Checker<'_, '_> {
    /// Checks a call.
    pub(super) fn call(&mut self, call: &Call) -> Option<()> {
        let guard = call.guard.map_or(Some(()), |guard| self.guard(guard));
        self.form(call.form, call.form_span)?;
        match call.callee {
            Callee::Function(function) => {
                let data = &self.module.functions[function];
                let name = self.module.names.text(data.name);
                if data.entry {
                    return self.fail(
                        Diagnostic::error(
                            &codes::CALLEE,
                            format!("the kernel `{name}` cannot be called"),
                        )
                        .at(call.callee_span, "a kernel")
                        .help("kernels are launched from the host; move the code into a `.func`"),
                    );
                }
                if self.module.doubtful.contains(&data.name) {
                    return guard;
                }
                self.defined(function, call.callee_span)?;
                let variables = |list: &[crate::resolved::Parameter]| {
                    list.iter().map(|p| p.variable()).collect::<Vec<VariableId>>()
                };
                let (returns, params) = (variables(&data.returns), variables(&data.params));
                self.lists(call, &returns, &params, data.span)?;
            }
            Callee::Register(reg, table) => {
                let register = self.register(reg);
                let integer = matches!(class(register.ty), Class::Integer | Class::Bits);
                if !integer || bits(register.ty) < 32 {
                    let name = self.module.names.text(register.name);
                    return self.fail(
                        Diagnostic::error(&codes::CALL, format!("`{name}` holds no address"))
                            .at(call.callee_span, format!("of type .{}", register.ty.name()))
                            .help(
                                "load the address of a function into a register of \
                                 type `.b64`, and call through that",
                            ),
                    );
                }
                match &self.body.tables[table].kind {
                    TableKind::Prototype { returns, params, .. } => {
                        let span = self.body.tables[table].span;
                        let (returns, params) = (returns.clone(), params.clone());
                        self.lists(call, &returns, &params, span)?;
                    }
                    TableKind::CallTargets(targets) => {
                        for &(function, span) in targets {
                            self.defined(function, span)?;
                        }
                        if let Some(&(first, span)) = targets.first()
                            && !self.module.doubtful.contains(&self.module.functions[first].name)
                        {
                            let data = &self.module.functions[first];
                            let returns: Vec<_> =
                                data.returns.iter().map(|p| p.variable()).collect();
                            let params: Vec<_> = data.params.iter().map(|p| p.variable()).collect();
                            self.lists(call, &returns, &params, span)?;
                        }
                    }
                    TableKind::BranchTargets(_) => {
                        return self.fail(
                            Diagnostic::error(&codes::CALL, "the call names a list of labels")
                                .at(call.span, "a prototype or a list of functions is needed")
                                .help("name the label of a `.callprototype` or `.calltargets`"),
                        );
                    }
                }
            }
        }
        guard
    }

    /// That a function has a body, under its own name or that of which it is an alias.
    fn defined(&mut self, function: FunctionId, span: Span) -> Option<()> {
        let data = &self.module.functions[function];
        let real = data.alias.unwrap_or(function);
        let name = self.module.names.text(data.name);
        if self.module.functions[real].body.is_some()
            || RUNTIME.contains(&name)
            || self.module.doubtful.contains(&data.name)
        {
            return Some(());
        }
        if HEAP.contains(&name) {
            self.diagnostics.push(
                Diagnostic::warning(&codes::HEAP, format!("there is no heap for `{name}`"))
                    .at(span, "the run ends if it comes here"),
            );
            return Some(());
        }
        self.fail(
            Diagnostic::error(&codes::CALLEE, format!("the function `{name}` has no body"))
                .at(span, "called here")
                .and(data.span, "declared here")
                .help("define it in this file; there is no linking"),
        )
    }

    /// That the address of a function is known.
    pub(super) fn function_address(&mut self, function: FunctionId, span: Span) -> Option<()> {
        let data = &self.module.functions[function];
        let real = data.alias.unwrap_or(function);
        if self.module.functions[real].body.is_some() || self.module.doubtful.contains(&data.name) {
            return Some(());
        }
        let name = self.module.names.text(data.name);
        self.fail(
            Diagnostic::error(&codes::TARGET, format!("the function `{name}` has no body"))
                .at(span, "its address is taken here")
                .help("define it in this file; there is no linking"),
        )
    }

    fn lists(
        &mut self,
        call: &Call,
        returns: &[VariableId],
        params: &[VariableId],
        declared: Span,
    ) -> Option<()> {
        self.list(call, &call.returns, returns, ("result", "results"), declared)?;
        self.list(call, &call.arguments, params, ("argument", "arguments"), declared)
    }

    fn list(
        &mut self,
        call: &Call,
        given: &[Operand],
        wanted: &[VariableId],
        (one, many): (&str, &str),
        declared: Span,
    ) -> Option<()> {
        if given.len() != wanted.len() {
            let word = if wanted.len() == 1 { one } else { many };
            return self.fail(
                Diagnostic::error(
                    &codes::CALL,
                    format!("the call has {} {many} for {} {word}", given.len(), wanted.len()),
                )
                .at(call.span, format!("{} {many} here", given.len()))
                .and(declared, "what is called")
                .help(format!("give {} {word}", wanted.len())),
            );
        }
        for (operand, &formal) in given.iter().zip(wanted) {
            let formal = &self.module.variables[formal];
            if let Err(label) = self.passes(operand, formal, one == "result") {
                return self.fail(
                    Diagnostic::error(&codes::CALL, format!("{one} of a wrong type in a call"))
                        .at(operand.span, label)
                        .and(formal.span, "what is called takes this")
                        .help("move it into a register or `.param` variable of that type first"),
                );
            }
        }
        Some(())
    }

    /// Whether an operand fits a parameter or result.
    fn passes(&self, operand: &Operand, formal: &Variable, result: bool) -> Result<(), String> {
        let scalar = !formal.array && formal.vector == 1;
        match &operand.kind {
            OperandKind::Variable(variable, 0) => {
                let given = &self.module.variables[*variable];
                if given.space != StateSpace::Param {
                    return Err(format!("in .{}, not .param", given.space.name()));
                }
                if given.bytes != formal.bytes {
                    let bytes = |n: Option<u64>| n.map_or("unknown".into(), |n| n.to_string());
                    let (a, b) = (bytes(given.bytes), bytes(formal.bytes));
                    return Err(format!("of {a} bytes, not {b}"));
                }
                if given.align != formal.align {
                    return Err(format!("aligned to {}, not {}", given.align, formal.align));
                }
                let kinds = (given.array || given.vector > 1) != scalar;
                if !kinds || (scalar && !agree(given.scalar, formal.scalar)) {
                    return Err(format!("of type .{}", given.scalar.name()));
                }
                Ok(())
            }
            OperandKind::Register(reg)
                if !formal.array && (formal.vector > 1 || self.register(*reg).vector > 1) =>
            {
                let register = self.register(*reg);
                let given = u64::from(register.vector) * u64::from(bits(register.ty) / 8);
                if register.ty == ScalarType::Pred || Some(given) != formal.bytes {
                    let wanted = formal.bytes.unwrap_or(0);
                    return Err(format!("of {given} bytes, not {wanted}"));
                }
                Ok(())
            }
            OperandKind::Register(reg) | OperandKind::Component(reg, _) => {
                let ty = self.register(*reg).ty;
                if !scalar || !(fits(ty, formal.scalar) || fits_wider(ty, formal.scalar)) {
                    return Err(format!("of type .{}", ty.name()));
                }
                Ok(())
            }
            OperandKind::Constant(Constant::Int { .. })
                if !result && formal.vector > 1 && formal.bytes <= Some(8) =>
            {
                Ok(())
            }
            OperandKind::Constant(constant) if !result => {
                let integer = matches!(constant, Constant::Int { .. });
                let float = class(formal.scalar) == Class::Float;
                if scalar && (integer != float || class(formal.scalar) == Class::Bits) {
                    Ok(())
                } else {
                    Err("a number of another kind".to_string())
                }
            }
            OperandKind::Sink if result => Ok(()),
            _ => Err("a variable in .param or a register is needed".to_string()),
        }
    }
}

fn agree(a: ScalarType, b: ScalarType) -> bool {
    fits(a, b)
}

/// Parameters of 8 bits go through wider registers.
fn fits_wider(register: ScalarType, formal: ScalarType) -> bool {
    bits(formal) == 8 && matches!(class(register), Class::Integer | Class::Bits)
}
