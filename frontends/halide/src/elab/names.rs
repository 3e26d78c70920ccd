//! Names: variables, implicit Vars, and the input that a file need not declare.

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{ElementType, InputData};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::ops::Spanned;
use crate::syntax::ast::Symbol;
use crate::value::Value;

impl Elab<'_> {
    /// The value of a name.
    pub(crate) fn name_value(&mut self, name: Symbol, span: Span) -> Result<Value> {
        if let Some(slot) = self.lookup(name) {
            return match &self.slots[slot].value {
                Value::Poison => Err(Failed),
                value => Ok(value.clone()),
            };
        }
        let text = self.names.text(name).to_owned();
        match text.as_str() {
            "M_PI" => return Ok(Value::Double(std::f64::consts::PI)),
            // What generators of the first kind ask.
            "auto_schedule" if self.generator.is_some() => return Ok(Value::Bool(false)),
            "target" if self.generator.is_some() => return Ok(Value::Target),
            "_" => return Ok(Value::Var(name)),
            _ => {}
        }
        let implicit = text.strip_prefix('_').is_some_and(|n| {
            !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit())
        });
        if self.facts.vars.contains(&name) || implicit {
            return Ok(Value::Var(name));
        }
        if let Some(input) = self.implicit_input(name, &[], span)? {
            return Ok(Value::Input(input));
        }
        self.unknown_name(&text, span)
    }

    /// Whether a name may be missing because what declares it failed.
    pub(crate) fn may_be_lost(&self, name: Symbol) -> bool {
        self.lost.contains(&name) || self.aborted && self.facts.declared.contains(&name)
    }

    /// The error for a name that is not known.
    pub(crate) fn unknown_name<T>(&mut self, text: &str, span: Span) -> Result<T> {
        let symbol = self.names.intern(text);
        if self.may_be_lost(symbol) {
            return Err(Failed);
        }
        if self.facts.defined.contains(&symbol) && !self.facts.declared.contains(&symbol) {
            return self.fail(crate::elab::stmt::undeclared(text, span));
        }
        let elsewhere = self.facts.declared.contains(&symbol);
        let diagnostic = if elsewhere {
            Diagnostic::error(&codes::UNKNOWN_NAME, format!("`{text}` is not declared here"))
                .at(span, "declared elsewhere, or only later")
        } else {
            Diagnostic::error(&codes::UNKNOWN_NAME, format!("`{text}` is not declared"))
                .at(span, "not a known name")
        };
        let help = match nearest(text, self.known_names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if elsewhere => "move its declaration before this, out of the block or function \
                                  that it stands in"
                .to_owned(),
            None => format!("declare it: `const int {text} = 1;`, or a `Param<float>`"),
        };
        self.fail(diagnostic.help(help))
    }

    /// The input that an undeclared name stands for where it is used as an image is.
    pub(crate) fn implicit_input(
        &mut self,
        name: Symbol,
        args: &[Spanned],
        span: Span,
    ) -> Result<Option<nbcc_stages::Input>> {
        if !self.facts.images.contains(&name) || !args.iter().all(is_coordinate) {
            return Ok(None);
        }
        if let Some(&(_, input, _)) = self.implicit_inputs.iter().find(|(of, ..)| *of == name) {
            return Ok(Some(input));
        }
        let Some(&(dims, call)) = self.facts.calls.get(&name) else { return Ok(None) };
        if dims == 0 {
            return Ok(None);
        }
        let text = self.names.text(name).to_owned();
        if dims > crate::elab::decl::MAX_DIMENSIONS as usize {
            return self.fail(
                Diagnostic::error(
                    &codes::DIMENSIONS,
                    format!("an input image cannot have {dims} dimensions"),
                )
                .at(call, format!("from 1 to {} are supported", crate::elab::decl::MAX_DIMENSIONS))
                .help(crate::helps::FEWER_DIMENSIONS),
            );
        }
        let input = self.hir.inputs.push(InputData {
            name: text,
            ty: ElementType::F32,
            dims: dims as u32,
            repeat_edge: true,
            estimates: vec![None; dims],
            fixed: vec![None; dims],
            span,
        });
        self.implicit_inputs.push((name, input, span));
        Ok(Some(input))
    }

    /// Warns of the inputs that are not declared.
    pub(crate) fn tell_implicit_inputs(&mut self) {
        for (_, input, span) in std::mem::take(&mut self.implicit_inputs) {
            let data = &self.hir.inputs[input];
            let (name, dims) = (data.name.clone(), data.dims as usize);
            self.report(
                Diagnostic::warning(
                    &codes::IMPLICIT_INPUT,
                    format!(
                        "`{name}` is not declared: it is an input image of float with {}",
                        count(dims, "dimension")
                    ),
                )
                .at(span, "an input, read with its edges repeated")
                .help(declare_input(&name, dims)),
            );
        }
    }
}

/// How an image that a file uses without a declaration is declared, with its edges repeated.
pub(crate) fn declare_input(name: &str, dims: usize) -> String {
    format!(
        "declare it: `ImageParam {name}_image(Float(32), {dims}, \"{name}\"); \
         Func {name} = BoundaryConditions::repeat_edge({name}_image);`"
    )
}

/// Whether an argument can be a coordinate of an image.
pub(crate) fn is_coordinate(arg: &Spanned) -> bool {
    matches!(
        arg.0,
        Value::Int(_) | Value::Expr(_) | Value::Var(_) | Value::RVar(..) | Value::RDom(_)
    )
}
